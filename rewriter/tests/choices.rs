//! What a caller asks of a method and what it hears of it: choices, notes, calls of its own, and transforms that a method is nothing for.

use crate::common::classes::{class, code, code_with, hooks, implementing, instructions, nops, with_entries};
use instrument_rewriter::class_file::ClassFile;
use instrument_rewriter::rewrite::{Choice, ClassRewriter, MethodEvent, Note, Outcome, Reason, Transforms};
use instrument_rewriter::transform::hooks::Reach;
use instrument_rewriter::transform::own_calls::{Call, Calls, InsertCalls, Method, Placed, Value};
use std::sync::{Arc, Mutex};

const NONE: Transforms = Transforms::NONE;
const METHOD_EVENTS: Transforms = Transforms { method_events: true, ..NONE };
const ARRAYS: Transforms = Transforms { array_allocation: true, ..NONE };
const THREAD_LINKS: Transforms = Transforms { thread_links: true, ..NONE };
const STATIC: u16 = 8;
const RETURN: u8 = 177;
/// `new int[1]`, which nobody keeps.
const ARRAY: [u8; 4] = [4, 188, 10, 87];

/// The Methodref in a class of [`calling`].
const CALLEE: u8 = 14;

/// `class A` with `static void m(..)`, and the Methodref.
fn calling(descriptor: &str, body: &[u8], [owner, name, of_callee]: [&str; 3]) -> Vec<u8> {
    let methods = [(STATIC, "m", descriptor, code(4, 4, body, &[]))];
    let bytes = class(52, 0x21, &[owner, name, of_callee], &methods);
    with_entries(&bytes, &[&[7, 0, 9], &[12, 0, 10, 0, 11], &[10, 0, 12, 0, 13]])
}

/// Of a class with one method.
fn events(rewriter: &ClassRewriter) -> Vec<MethodEvent> {
    rewriter.reports().iter().map(|report| report.event).collect()
}

#[test]
fn a_choice_says_what_is_told_of_a_method() {
    let body = [&ARRAY[..], &[184, 0, CALLEE, RETURN]].concat();
    let bytes = calling("()V", &body, ["Library", "call", "()V"]);
    let both = Transforms { array_allocation: true, ..METHOD_EVENTS };
    let (method, library) = (&["methodEntry", "methodExit", "methodUnwind"], ["libraryEnter", "libraryExit"]);
    let all = [method[0], library[0], library[1], method[1], method[2]];
    let expected: [(Transforms, Choice, &[&str]); 9] = [
        (METHOD_EVENTS, Choice::Rewrite(1), &all),
        (THREAD_LINKS, Choice::Rewrite(1), &library),
        // Nothing that a method calls is told of when it is left itself.
        (METHOD_EVENTS, Choice::Beside, &[]),
        (both, Choice::Beside, &["ArrayAlloc"]),
        (METHOD_EVENTS, Choice::Calls(1), &[]),
        (both, Choice::Calls(1), &["ArrayAlloc"]),
        (ARRAYS, Choice::Calls(1), &["ArrayAlloc"]),
        (METHOD_EVENTS, Choice::Leave, &[]),
        (both, Choice::Leave, &[]),
    ];
    for (transforms, choice, expected) in expected {
        let mut rewriter = ClassRewriter::new(transforms);
        rewriter.record_library_calls([(u16::from(CALLEE), 5)]);
        let mut out = Vec::new();
        let outcome = rewriter.rewrite(&bytes, |_| choice, &mut out).unwrap();
        assert_eq!(outcome == Outcome::Unchanged, expected.is_empty(), "{transforms:?} {choice:?}");
        let shown = if expected.is_empty() { &bytes } else { &out };
        assert_eq!(hooks(shown, "m:()V"), expected, "{transforms:?} {choice:?}");
        let notes = if expected.contains(&"libraryEnter") {
            vec![MethodEvent::Rewritten(Note::LibraryCalls(1))]
        } else {
            vec![]
        };
        assert_eq!(events(&rewriter), notes, "{transforms:?} {choice:?}");
    }
    // Calls are those of one class.
    let mut rewriter = ClassRewriter::new(METHOD_EVENTS);
    rewriter.record_library_calls([(u16::from(CALLEE), 5)]);
    let of = |rewriter: &mut ClassRewriter| {
        let mut out = Vec::new();
        rewriter.rewrite(&bytes, |_| Choice::Rewrite(1), &mut out).unwrap();
        hooks(&out, "m:()V")
    };
    assert_eq!(of(&mut rewriter), all);
    assert_eq!(of(&mut rewriter), method);
}

#[test]
fn what_classes_call_is_what_they_reach() {
    let bytes = calling("()V", &[RETURN], ["Library", "call", "()V"]);
    let of = |reach| {
        let mut rewriter = ClassRewriter::new(METHOD_EVENTS);
        rewriter.call(reach);
        let mut out = Vec::new();
        rewriter.rewrite(&bytes, |_| Choice::Rewrite(1), &mut out).unwrap();
        instructions(&out, "m:()V")[1].clone()
    };
    assert_eq!(of(Reach::Direct), "invokestatic instrument/runtime/ProfilerRuntime.methodEntry:(I)V");
    assert_eq!(of(Reach::Boot), "invokestatic java/lang/InstrumentProbes.methodEntry:(I)V");
}

/// Calls `Hooks.entered` under 9 in methods `m`, and keeps what it hears.
#[derive(Debug, Default)]
struct Listening(Mutex<Vec<Vec<(u32, u16)>>>);

impl InsertCalls for Listening {
    fn insert(&self, method: &Method<'_>, calls: &mut Calls<'_>) {
        if method.name == b"m" {
            calls.under(9);
            calls.at_entry(Call::new("Hooks", "entered").unwrap()).unwrap();
        }
    }

    fn inserted(&self, placed: &[Placed]) {
        assert!(placed.iter().all(|placed| placed.absent.is_none()));
        self.0.lock().unwrap().push(placed.iter().map(|placed| (placed.number, placed.method)).collect());
    }
}

#[test]
fn who_inserts_calls_hears_of_them_class_by_class() {
    let listening = Arc::new(Listening::default());
    let mut rewriter = ClassRewriter::new(METHOD_EVENTS);
    rewriter.insert_calls(Some(listening.clone()));
    let mut rewrite = |names: [&str; 3], choice| {
        let methods = names.map(|name| (STATIC, name, "()V", code(0, 0, &[RETURN], &[])));
        rewriter.rewrite(&class(52, 0x21, &[], &methods), |_| choice, &mut Vec::new()).unwrap()
    };
    assert_eq!(rewrite(["a", "m", "b"], Choice::Rewrite(1)), Outcome::Rewritten);
    assert_eq!(rewrite(["a", "b", "c"], Choice::Rewrite(1)), Outcome::Rewritten);
    assert_eq!(rewrite(["a", "b", "m"], Choice::Calls(1)), Outcome::Rewritten);
    assert_eq!(rewrite(["m", "b", "c"], Choice::Beside), Outcome::Unchanged);
    assert_eq!(rewrite(["m", "b", "c"], Choice::Leave), Outcome::Unchanged);
    assert_eq!(*listening.0.lock().unwrap(), [[(9, 1)], [(9, 2)]]);
}

/// Whoever chooses methods chooses whose calls are told of, and not which requests are.
#[test]
fn requests_are_told_of_where_methods_are_not() {
    // Of null, which is popped afterwards.
    let body = [1, 182, 0, CALLEE, 87, RETURN];
    let bytes = calling("()V", &body, ["java/net/URL", "openStream", "()Ljava/io/InputStream;"]);
    let request: &[&str] = &["httpRead", "httpAnswered", "httpFailed"];
    let both = Transforms { remote_http: true, ..METHOD_EVENTS };
    for (transforms, choice, expected) in [
        (both, Choice::Beside, request),
        (both, Choice::Calls(1), request),
        (both, Choice::Leave, &[]),
        (METHOD_EVENTS, Choice::Beside, &[]),
    ] {
        let mut out = Vec::new();
        let outcome = ClassRewriter::new(transforms).rewrite(&bytes, |_| choice, &mut out).unwrap();
        assert_eq!(outcome == Outcome::Unchanged, expected.is_empty(), "{transforms:?} {choice:?}");
        let shown = if expected.is_empty() { &bytes } else { &out };
        assert_eq!(hooks(shown, "m:()V"), expected, "{transforms:?} {choice:?}");
        // Whoever has nothing but the constant pool knows as much.
        assert_eq!(transforms.may_be_beside(&bytes[8..]), transforms.remote_http, "{transforms:?}");
    }
}

#[test]
fn a_method_that_is_nothing_for_a_transform_is_not_looked_at() {
    // A handler behind the end of the code: who looks at the method refuses it.
    let looks_at = |transforms: Transforms, class_name: &str, name: &str, body: &[u8]| {
        let info = code_with(4, body, &[[0, 1, 99, 0]], &[]);
        let bytes = class(52, 0x21, &[], &[(STATIC, name, "(Ljava/lang/Object;)V", info)]);
        let bytes = implementing(&bytes, class_name, "java/lang/Runnable");
        let mut rewriter = ClassRewriter::new(transforms);
        let outcome = rewriter.rewrite(&bytes, |_| Choice::Rewrite(1), &mut Vec::new()).unwrap();
        assert_eq!(outcome, Outcome::Unchanged);
        match events(&rewriter)[..] {
            [MethodEvent::Skipped(Reason::BadExceptionTable)] => true,
            [MethodEvent::Unchanged] => false,
            ref other => panic!("{other:?}"),
        }
    };
    const LOCK_SUPPORT: &str = "java/util/concurrent/locks/LockSupport";
    let new = [187, 0, 4, 87, RETURN];
    let array = [&ARRAY[..], &[RETURN]].concat();
    // Who looks at: every method, one with `new`, one that makes an array, a park of LockSupport.
    let expected = [
        (METHOD_EVENTS, [true; 4]),
        (Transforms { lines: true, ..NONE }, [true; 4]),
        (Transforms { allocation: true, ..NONE }, [false, true, true, false]),
        (ARRAYS, [false, false, true, false]),
        (Transforms { parks: true, ..NONE }, [false, false, false, true]),
        (Transforms { bytecodes: true, ..NONE }, [false; 4]),
        (Transforms { object_init: true, ..NONE }, [false; 4]),
        (THREAD_LINKS, [false; 4]),
        (Transforms { hand_over: true, given_tasks: true, ..NONE }, [false; 4]),
        (Transforms { rmi: true, ..NONE }, [false; 4]),
        (Transforms { jdbc: true, http: true, files: true, ..NONE }, [false; 4]),
        (NONE, [false; 4]),
    ];
    for (transforms, expected) in expected {
        let found = [
            looks_at(transforms, "B", "park", &[RETURN]),
            looks_at(transforms, "B", "park", &new),
            looks_at(transforms, "B", "park", &array),
            looks_at(transforms, LOCK_SUPPORT, "park", &[RETURN]),
        ];
        assert_eq!(found, expected, "{transforms:?}");
        assert_eq!(looks_at(transforms, LOCK_SUPPORT, "unpark", &[RETURN]), expected[0], "{transforms:?}");
    }
}

#[test]
fn calls_are_split_by_the_values_that_are_asked_for() {
    let [jdbc, http, files] = [
        Transforms { jdbc: true, ..NONE },
        Transforms { http: true, ..NONE },
        Transforms { files: true, ..NONE },
    ];
    let sql = ["java/sql/Statement", "executeQuery", "(Ljava/lang/String;)Ljava/sql/ResultSet;"];
    let url = ["java/net/URL", "openStream", "()Ljava/io/InputStream;"];
    let path = ["java/nio/file/Files", "delete", "(Ljava/nio/file/Path;)V"];
    let of = |callee: [&str; 3], body: &[u8], transforms| {
        let descriptor = "(Ljava/lang/Object;Ljava/lang/String;)V";
        let bytes = calling(descriptor, body, callee);
        let mut out = Vec::new();
        let outcome =
            ClassRewriter::new(transforms).rewrite(&bytes, |_| Choice::Rewrite(1), &mut out).unwrap();
        let shown = if outcome == Outcome::Rewritten { &out } else { &bytes };
        hooks(shown, &format!("m:{descriptor}"))
    };
    let calls: [([&str; 3], &[u8], &str); 3] = [
        (sql, &[42, 43, 185, 0, CALLEE, 2, 0, 87, RETURN], "statementText"),
        (url, &[42, 182, 0, CALLEE, 87, RETURN], "connectionRead"),
        (path, &[42, 184, 0, CALLEE, RETURN], "fileDeleted"),
    ];
    for (asked, (callee, body, hook)) in calls.into_iter().enumerate() {
        for (index, transforms) in [jdbc, http, files].into_iter().enumerate() {
            let expected = if index == asked { vec![hook, "valueLeft"] } else { vec![] };
            assert_eq!(of(callee, body, transforms), expected, "{callee:?} {transforms:?}");
        }
    }
}

#[test]
fn methods_that_grow_beyond_what_is_compiled_are_noted() {
    let of = |length: usize| {
        let bytes =
            class(52, 0x21, &[], &[(STATIC, "m", "()V", code(0, 0, &nops(length - 1, &[RETURN]), &[]))]);
        let mut rewriter = ClassRewriter::new(METHOD_EVENTS);
        let mut out = Vec::new();
        rewriter.rewrite(&bytes, |_| Choice::Rewrite(1), &mut out).unwrap();
        let new = ClassFile::parse(&out).unwrap();
        let method = new.methods().next().unwrap().unwrap();
        let length = method.code(&new.pool).unwrap().unwrap().code.len();
        (length, events(&rewriter) == [MethodEvent::Rewritten(Note::CrossedHugeMethodLimit)])
    };
    let more = of(100).0 - 100;
    assert!(more > 0 && !of(100).1);
    assert_eq!(of(8_000 - more), (8_000, false));
    assert_eq!(of(8_001 - more), (8_001, true));
    assert_eq!(of(8_000), (8_000 + more, true));
    // It was not compiled before, either.
    assert_eq!(of(8_001), (8_001 + more, false));
}

#[test]
fn attributes_of_code_that_nobody_knows_are_counted() {
    // The names: `A` and `java/lang/Object`.
    let known: (u16, &[u8]) = (2, &[0, 0]);
    for (attributes, note) in [
        (&[known][..], None),
        (&[(3, &[1, 2, 3]), known], Some(1)),
        (&[(3, &[1, 2, 3]), (5, &[]), known, (3, &[])], Some(3)),
    ] {
        let info = code_with(4, &[RETURN], &[], attributes);
        let bytes = class(52, 0x21, &[], &[(STATIC, "m", "()V", info)]);
        let mut rewriter = ClassRewriter::new(METHOD_EVENTS);
        rewriter.rewrite(&bytes, |_| Choice::Rewrite(1), &mut Vec::new()).unwrap();
        let expected = note.map(|count| MethodEvent::Rewritten(Note::UnknownCodeAttributes(count)));
        assert_eq!(events(&rewriter), expected.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn attributes_in_front_of_the_code_stay_in_front_of_it() {
    let bytes = class(52, 0x21, &[], &[(STATIC, "m", "()V", code(0, 0, &[RETURN], &[]))]);
    let at = ClassFile::parse(&bytes).unwrap().methods().next().unwrap().unwrap().span.start + 6;
    // Two attributes, the first of which is called `A`.
    let other = [0, 3, 0, 0, 0, 4, 1, 2, 3, 4];
    let bytes = [&bytes[..at], &[0, 2], &other, &bytes[at + 2..]].concat();
    let mut out = Vec::new();
    let outcome =
        ClassRewriter::new(METHOD_EVENTS).rewrite(&bytes, |_| Choice::Rewrite(1), &mut out).unwrap();
    assert_eq!(outcome, Outcome::Rewritten);
    assert_eq!(hooks(&out, "m:()V"), ["methodEntry", "methodExit"]);
    let at = ClassFile::parse(&out).unwrap().methods().next().unwrap().unwrap().span.start + 6;
    assert_eq!(out[at..at + 12], [&[0, 2][..], &other].concat());
}

/// Calls `Hooks.thrown(Throwable)` where an exception leaves.
#[derive(Debug)]
struct AtThrow;

impl InsertCalls for AtThrow {
    fn insert(&self, _: &Method<'_>, calls: &mut Calls<'_>) {
        let call = Call::new("Hooks", "thrown").unwrap();
        calls.at_throw(call.with_value(Value::Exception, b"Ljava/lang/Throwable;").unwrap()).unwrap();
    }
}

#[test]
fn locals_of_ones_own_come_behind_parameters_that_have_theirs() {
    let of = |flags, max_locals, transforms, inserter: Option<Arc<dyn InsertCalls>>| {
        let body = [&ARRAY[..], &[RETURN]].concat();
        let bytes = class(52, 0x21, &[], &[(flags, "m", "(J)V", code(1, max_locals, &body, &[]))]);
        let mut rewriter = ClassRewriter::new(transforms);
        rewriter.insert_calls(inserter);
        rewriter.rewrite(&bytes, |_| Choice::Rewrite(1), &mut Vec::new()).unwrap();
        events(&rewriter)
    };
    let refused = [MethodEvent::Skipped(Reason::BadCode)];
    for (flags, slots) in [(STATIC, 2), (1, 3)] {
        assert_eq!(of(flags, slots, NONE, Some(Arc::new(AtThrow))), [], "{flags}");
        assert_eq!(of(flags, slots - 1, NONE, Some(Arc::new(AtThrow))), refused, "{flags}");
        // Without locals of one's own nothing is where a parameter may be.
        assert_eq!(of(flags, slots - 1, METHOD_EVENTS, None), [], "{flags}");
    }
}
