//! What is inserted into small methods that no compiler writes, instruction by instruction: constants of one's own, and
//! new objects whose way to their constructor is found without stack map frames.

use crate::common::classes::{class, code, code_with, implementing, instructions, listing, with_entries};
use instrument_rewriter::class_file::ClassFile;
use instrument_rewriter::remote_methods::RemoteIndex;
use instrument_rewriter::rewrite::{Choice, ClassRewriter, MethodEvent, Note, Outcome, Reason, Transforms};
use instrument_rewriter::transform::own_calls::{Call, Calls, InsertCalls, Method};
use std::sync::Arc;

const RETURN: u8 = 177;

#[derive(Debug)]
struct AtEntry(Vec<Call>);

impl InsertCalls for AtEntry {
    fn insert(&self, _: &Method<'_>, calls: &mut Calls<'_>) {
        for call in &self.0 {
            calls.at_entry(call.clone()).unwrap();
        }
    }
}

fn with_calls(bytes: &[u8], calls: Vec<Call>) -> (ClassRewriter, Outcome, Vec<u8>) {
    let mut rewriter = ClassRewriter::new(Transforms::NONE);
    rewriter.insert_calls(Some(Arc::new(AtEntry(calls))));
    let mut out = Vec::new();
    let outcome = rewriter.rewrite(bytes, |_| Choice::Calls(1), &mut out).unwrap();
    (rewriter, outcome, out)
}

#[test]
fn equal_constants_share_an_entry_of_two_indices() {
    let bytes = class(52, 0x21, &[], &[(8, "m", "()V", code(0, 0, &[RETURN], &[]))]);
    let call = |name| Call::new("Hooks", name).unwrap();
    // The double has the bits of the first long; the second long differs in half a byte; the last but one is the first
    // again.
    let bits = 0x0123_4567_89ab_cdef;
    let calls = vec![
        call("a").with_long(bits).with_long(bits ^ 0x10),
        call("b").with_double(f64::from_bits(bits as u64)),
        call("c").with_long(bits).with_double(f64::from_bits(bits as u64)),
        call("d").with_long(0).with_long(-1).with_long(0),
    ];
    let (_, outcome, out) = with_calls(&bytes, calls);
    assert_eq!(outcome, Outcome::Rewritten);
    let (first, second) = ("ldc2_w long 81985529216486895", "ldc2_w long 81985529216486911");
    let (double, zero) = ("ldc2_w double 3.512700564088504e-303", "ldc2_w long 0");
    let expected = [
        &[first, second, "invokestatic Hooks.a:(JJ)V"][..],
        &[double, "invokestatic Hooks.b:(D)V"],
        &[first, double, "invokestatic Hooks.c:(JD)V"],
        &[zero, "ldc2_w long -1", zero, "invokestatic Hooks.d:(JJJ)V"],
        &["return"],
    ]
    .concat();
    assert_eq!(instructions(&out, "m:()V"), expected);
    let text = listing(&out);
    let of = |kind: &str| text.lines().filter(|line| line.contains(kind)).count();
    assert_eq!((of(" = long "), of(" = double ")), (4, 1), "{text}");
}

#[test]
fn a_wide_constant_takes_the_last_two_indices_of_a_pool() {
    // A call needs 8 entries: owner, its Class, name, descriptor, NameAndType, Methodref, and a Long of two.
    let texts: Vec<String> = (0..65_600).map(|number| number.to_string()).collect();
    let with_room = |room: usize| {
        let base = class(52, 0x21, &[], &[(8, "m", "()V", code(0, 0, &[RETURN], &[]))]);
        let count = usize::from(u16::from_be_bytes([base[8], base[9]]));
        let texts: Vec<&str> = texts[..65_535 - count - room].iter().map(String::as_str).collect();
        let bytes = class(52, 0x21, &texts, &[(8, "m", "()V", code(0, 0, &[RETURN], &[]))]);
        with_calls(&bytes, vec![Call::new("Hooks", "a").unwrap().with_long(7)])
    };
    let (_, outcome, out) = with_room(8);
    assert_eq!(outcome, Outcome::Rewritten);
    assert_eq!(instructions(&out, "m:()V")[0], "ldc2_w long 7");
    let full = MethodEvent::Skipped(Reason::ConstantPoolFull);
    for room in 0..8 {
        let (rewriter, outcome, _) = with_room(room);
        assert_eq!(outcome, Outcome::Unchanged, "{room}");
        assert!(
            rewriter.reports().iter().any(|report| report.event == full),
            "{room}: {:?}",
            rewriter.reports()
        );
    }
}

/// What becomes of `static void m()` of Java 1.4, whose classes have no frames. The index of `A.<init>:()V` is 11.
fn of_java_1_4(body: &[u8]) -> (Vec<String>, Vec<MethodEvent>) {
    with_handlers(body, &[])
}

/// The same with an exception table.
fn with_handlers(body: &[u8], rows: &[[u16; 4]]) -> (Vec<String>, Vec<MethodEvent>) {
    // Behind the entries of `class`: 7 m, 8 ()V, 9 <init>.
    let bytes = class(48, 0x21, &["<init>"], &[(8, "m", "()V", code_with(400, body, rows, &[]))]);
    let bytes = with_entries(&bytes, &[&[12, 0, 9, 0, 8], &[10, 0, 4, 0, 10]]);
    let mut rewriter = ClassRewriter::new(Transforms { allocation: true, ..Transforms::NONE });
    let mut out = Vec::new();
    let outcome = rewriter.rewrite(&bytes, |_| Choice::Rewrite(1), &mut out).unwrap();
    let shown = if outcome == Outcome::Rewritten { &out } else { &bytes };
    (instructions(shown, "m:()V"), rewriter.reports().iter().map(|report| report.event).collect())
}

const NEW: [u8; 3] = [187, 0, 4];
const INIT: [u8; 3] = [183, 0, 11];
const DUP: u8 = 89;
const POP: u8 = 87;
const PROBE: [&str; 2] =
    ["dup", "invokestatic instrument/runtime/HeapProxy.ObjectAlloc:(Ljava/lang/Object;)V"];

/// Where the probe stands: behind the constructor call, if it stands anywhere.
fn has_probe(instructions: &[String]) -> bool {
    let probes: Vec<usize> =
        (0..instructions.len()).filter(|&at| instructions[at].contains("ObjectAlloc")).collect();
    for &at in &probes {
        assert!(instructions[at - 2].starts_with("invokespecial A.<init>"), "{instructions:?}");
        assert_eq!(&instructions[at - 1..=at], PROBE, "{instructions:?}");
    }
    assert!(probes.len() <= 1, "{instructions:?}");
    probes.len() == 1
}

#[test]
fn new_objects_are_followed_through_locals_without_frames() {
    let to_local: [(&str, &[u8], &[u8]); 4] = [
        ("astore_1", &[76], &[43]),
        ("astore 5", &[58, 5], &[25, 5]),
        ("wide astore 300", &[196, 58, 1, 44], &[196, 25, 1, 44]),
        ("astore_3", &[78], &[45]),
    ];
    for (how, store, load) in to_local {
        // A copy stays on the stack, and the one that was stored is constructed.
        let body = [&NEW[..], &[DUP], store, load, &INIT, &[POP, RETURN]].concat();
        let (now, events) = of_java_1_4(&body);
        assert!(has_probe(&now), "{how}: {now:?} {events:?}");
        // Another local is another value: which object is constructed cannot be known.
        let body = [&NEW[..], &[DUP], store, &[42], &INIT, &[POP, RETURN]].concat();
        let (now, events) = of_java_1_4(&body);
        assert!(!has_probe(&now), "{how}: {now:?} {events:?}");
        // No copy is left: nothing can be handed over.
        let body = [&NEW[..], store, load, &INIT, &[RETURN]].concat();
        let (now, events) = of_java_1_4(&body);
        assert!(!has_probe(&now), "{how}: {now:?}");
        let untracked = MethodEvent::Rewritten(Note::UntrackedAllocations(1));
        assert_eq!(events, [MethodEvent::Unchanged, untracked], "{how}");
    }
}

#[test]
fn a_number_ends_what_a_local_held() {
    // What is stored: constant, store.
    let numbers: [(&str, &[u8]); 6] = [
        ("istore_1", &[3, 60]),
        ("istore 1", &[3, 54, 1]),
        ("lstore_0, which takes 1 as well", &[9, 63]),
        ("lstore_1", &[9, 64]),
        ("dstore 0", &[14, 57, 0]),
        ("wide fstore 1", &[11, 196, 56, 0, 1]),
    ];
    for (how, number) in numbers {
        let body = [&NEW[..], &[DUP, 76], number, &[43], &INIT, &[POP, RETURN]].concat();
        let (now, events) = of_java_1_4(&body);
        assert!(!has_probe(&now), "{how}: {now:?} {events:?}");
    }
    // Beside it.
    for (how, number) in [
        ("istore_0", &[3, 59][..]),
        ("lstore_2", &[9, 65]),
        ("istore 2", &[3, 54, 2]),
        ("fstore_2", &[11, 69]),
    ] {
        let body = [&NEW[..], &[DUP, 76], number, &[43], &INIT, &[POP, RETURN]].concat();
        let (now, events) = of_java_1_4(&body);
        assert!(has_probe(&now), "{how}: {now:?} {events:?}");
    }
}

#[test]
fn paths_that_meet_with_two_objects_have_none() {
    // Either way the same local: new, dup, astore_1; 0: ifeq over a nop; aload_1, <init>.
    let same = [&NEW[..], &[DUP, 76, 3, 153, 0, 4, 0, 43], &INIT, &[POP, RETURN]].concat();
    assert!(has_probe(&of_java_1_4(&same).0), "{same:?}");
    // One way null is in the local by then.
    let other = [&NEW[..], &[DUP, 76, 3, 153, 0, 5, 1, 76, 43], &INIT, &[POP, RETURN]].concat();
    assert!(!has_probe(&of_java_1_4(&other).0), "{other:?}");
    // However many ways there are.
    let many = [&[3, 153, 0, 4, 0].repeat(40)[..], &NEW, &[DUP], &INIT, &[POP, RETURN]].concat();
    assert!(has_probe(&of_java_1_4(&many).0), "{many:?}");
    // A handler in which the stack is gone, and code that nothing leads to.
    let dead = [&NEW[..], &[DUP], &INIT, &[POP, RETURN], &NEW, &[DUP], &INIT, &[POP, RETURN]].concat();
    let (now, events) = of_java_1_4(&dead);
    assert!(has_probe(&now), "{now:?} {events:?}");
}

#[test]
fn handlers_know_what_locals_hold_wherever_an_exception_is_thrown() {
    const NULL: u8 = 1;
    // new, dup, astore_1; 5: nop, and what is in the range; the handler: pop, a copy of the local, <init>.
    let of = |body: &[u8], from, to| {
        let front = [&NEW[..], &[DUP, 76, 0], body, &[RETURN]].concat();
        let handler = front.len() as u16;
        let code = [&front[..], &[POP, 43, DUP], &INIT, &[POP, RETURN]].concat();
        has_probe(&with_handlers(&code, &[[from, to, handler, 0]]).0)
    };
    // It stays there, or changes behind the range or in front of it.
    assert!(of(&[0, 0], 5, 8));
    assert!(of(&[NULL, 76], 5, 7));
    // The last instruction of the range is the first that no longer has it.
    assert!(!of(&[NULL, 76, 0], 5, 9));
    assert!(!of(&[NULL, 76, 0, 0], 5, 10));
    // There it is gone altogether.
    assert!(!of(&[NULL, 76, 0], 8, 9));
    // What is stored is another local's.
    assert!(of(&[NULL, 77, 0], 5, 9));
}

#[test]
fn a_number_in_the_pool_is_used_again() {
    let methods = [(8, "m", "()V", code(0, 0, &[RETURN], &[]))];
    let numbers = [3_000_000u32, 1_000_000, 2_000_000, 1_000_000, 0];
    let entries: Vec<Vec<u8>> =
        numbers.iter().map(|number| [&[3], &number.to_be_bytes()[..]].concat()).collect();
    let entries: Vec<&[u8]> = entries.iter().map(Vec::as_slice).collect();
    let bytes = with_entries(&class(52, 0x21, &[], &methods), &entries);
    let of = |id| {
        let mut out = Vec::new();
        let mut rewriter = ClassRewriter::new(Transforms { method_events: true, ..Transforms::NONE });
        rewriter.rewrite(&bytes, |_| Choice::Rewrite(id), &mut out).unwrap();
        let text = listing(&out);
        (
            text.lines().filter(|line| line.contains(&format!(" = int {id}"))).count(),
            instructions(&out, "m:()V")[0].clone(),
        )
    };
    assert_eq!(of(1_000_000), (2, "ldc int 1000000".to_owned()));
    for (id, entries) in [(3_000_000, 1), (2_000_000, 1), (500_000, 1), (1_500_000, 1), (9_000_000, 1)] {
        assert_eq!(of(id), (entries, format!("ldc int {id}")));
    }
}

#[test]
fn finalizers_that_only_return_stay() {
    let of = |descriptor, body: &[u8]| {
        let bytes = class(52, 0x21, &[], &[(1, "finalize", descriptor, code(0, 2, body, &[]))]);
        let mut rewriter = ClassRewriter::new(Transforms { method_events: true, ..Transforms::NONE });
        let outcome = rewriter.rewrite(&bytes, |_| Choice::Rewrite(1), &mut Vec::new()).unwrap();
        (outcome, rewriter.reports().iter().map(|report| report.event).collect::<Vec<_>>())
    };
    assert_eq!(
        of("()V", &[RETURN]),
        (Outcome::Unchanged, vec![MethodEvent::Skipped(Reason::EmptyFinalizer)])
    );
    assert_eq!(of("()V", &[0, RETURN]), (Outcome::Rewritten, vec![]));
    assert_eq!(of("(I)V", &[RETURN]), (Outcome::Rewritten, vec![]));
}

#[test]
fn the_one_constructor_that_calls_no_other_tells_of_every_object() {
    let methods = |name| {
        [(1, name, "()V", code(0, 1, &[RETURN], &[])), (1, "other", "()V", code(0, 1, &[RETURN], &[]))]
    };
    let of = |name, super_class| {
        let mut bytes = class(52, 0x21, &[], &methods(name));
        let at = ClassFile::parse(&bytes).unwrap().pool.end() + 4;
        bytes[at + 1] = super_class;
        let mut out = Vec::new();
        let mut rewriter = ClassRewriter::new(Transforms { object_init: true, ..Transforms::NONE });
        let outcome = rewriter.rewrite(&bytes, |_| Choice::Rewrite(1), &mut out).unwrap();
        (outcome, out)
    };
    let (outcome, out) = of("<init>", 0);
    assert_eq!(outcome, Outcome::Rewritten);
    let told = [
        "aload_0",
        "invokestatic instrument/runtime/HeapProxy.EarlyObjectAlloc:(Ljava/lang/Object;)V",
        "return",
    ];
    assert_eq!(instructions(&out, "<init>:()V"), told);
    assert_eq!(instructions(&out, "other:()V"), ["return"]);
    assert_eq!(of("<init>", 6).0, Outcome::Unchanged);
    assert_eq!(of("init", 0).0, Outcome::Unchanged);
}

#[test]
fn constants_behind_the_end_of_the_pool_are_refused() {
    let methods = [(8, "m", "()V", code(0, 0, &[RETURN], &[]))];
    let plain = class(52, 0x21, &[], &methods);
    // The entry itself is the last one: `count` is behind the end.
    let count = u16::from_be_bytes([plain[8], plain[9]]) + 1;
    let of = |front: &[u8], index: u16, behind: &[u8]| {
        let bytes = with_entries(&plain, &[&[front, &index.to_be_bytes(), behind].concat()]);
        let mut rewriter = ClassRewriter::new(Transforms { method_events: true, ..Transforms::NONE });
        rewriter.leave_invalid();
        rewriter.rewrite(&bytes, |_| Choice::Rewrite(1), &mut Vec::new()).unwrap()
    };
    let pairs = [9, 10, 11, 12].map(|tag| [(vec![tag], &[0, 1][..]), (vec![tag, 0, 1], &[][..])]).concat();
    let singles = [7, 8, 16, 19, 20].map(|tag| (vec![tag], &[][..]));
    let others = [(vec![15, 1], &[][..]), (vec![17, 255, 255], &[]), (vec![18, 255, 255], &[])];
    for (front, behind) in pairs.into_iter().chain(singles).chain(others) {
        assert_eq!(of(&front, count - 1, behind), Outcome::Rewritten, "{front:?}");
        assert_eq!(of(&front, count, behind), Outcome::Skipped(Reason::BadConstantIndex), "{front:?}");
    }
}

#[test]
fn public_methods_that_a_remote_interface_declares_tell_of_their_calls() {
    let body = || code(0, 1, &[RETURN], &[]);
    let declared = [(0x401, "ping", "()V", body()), (0x401, "pong", "()V", body())];
    let interface = implementing(&class(52, 0x601, &[], &declared), "Service", "java/rmi/Remote");
    let of = |transforms, flags, name, descriptor| {
        let bytes =
            implementing(&class(52, 0x21, &[], &[(flags, name, descriptor, body())]), "Server", "Service");
        let mut index = RemoteIndex::default();
        for class in [&interface, &bytes] {
            index.add(&ClassFile::parse(class).unwrap()).unwrap();
        }
        let mut rewriter = ClassRewriter::new(transforms);
        rewriter.set_remote_methods(Some(Arc::new(index.resolve().expect("a remote interface"))));
        let mut out = Vec::new();
        let outcome = rewriter.rewrite(&bytes, |_| Choice::Rewrite(1), &mut out).unwrap();
        assert_eq!(outcome == Outcome::Rewritten, listing(out_or(&bytes, &out)).contains("RmiMarkers"));
        outcome
    };
    let rmi = Transforms { rmi: true, ..Transforms::NONE };
    assert_eq!(of(rmi, 1, "ping", "()V"), Outcome::Rewritten);
    assert_eq!(of(rmi, 0x21, "pong", "()V"), Outcome::Rewritten);
    // Nobody calls these from elsewhere: not public, static, of another name or descriptor.
    for (flags, name, descriptor) in
        [(0, "ping", "()V"), (2, "ping", "()V"), (9, "ping", "()V"), (1, "ping", "(I)V"), (1, "pang", "()V")]
    {
        assert_eq!(of(rmi, flags, name, descriptor), Outcome::Unchanged, "{flags} {name}{descriptor}");
    }
    assert_eq!(of(Transforms::NONE, 1, "ping", "()V"), Outcome::Unchanged);
}

fn out_or<'a>(bytes: &'a [u8], out: &'a [u8]) -> &'a [u8] {
    if out.is_empty() { bytes } else { out }
}
