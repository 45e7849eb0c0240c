//! Classes that keep a rule, beside classes that break it by as little as can be.

mod class_file;

use class_file::{ClassFile, Code, Few, Member};
use instrument_verifier::fault::Rule;
use instrument_verifier::format::Jvm;
use instrument_verifier::{Verdict, Verifier};

const OBJECT: Option<&str> = Some("java/lang/Object");
const STATIC: u16 = 9;

fn judged(few: &Few, bytes: &[u8]) -> Option<Rule> {
    let Verdict { faults, assumptions, .. } = Verifier::new(few, Jvm::default()).verify(bytes);
    assert_eq!(assumptions, [""; 0]);
    faults.first().map(|fault| fault.rule)
}

/// What is wrong with a method of this version and code, stack and local variables.
fn method(major: u16, (flags, name, descriptor): (u16, &str, &str), code: Code) -> Option<Rule> {
    let file = ClassFile::new(major);
    judged(&Few::new(), &file.finish("A", OBJECT, &[], &[(flags, name, descriptor, Some(code))]))
}

fn code(max_stack: u16, max_locals: u16, bytes: &[u8]) -> Code {
    Code { max_stack, max_locals, bytes: bytes.to_vec(), ..Code::default() }
}

#[test]
fn values_on_the_stack_move_as_a_whole_and_in_order() {
    for (what, max_stack, bytes, expected) in [
        // Of null, int and float below an int, all of another type than their neighbours.
        ("dup_x2", 4, &[0x01, 0x0b, 0x03, 0x5b, 0x3b, 0x43, 0x4b, 0x3b, 0xb1][..], None),
        ("dup2_x1", 5, &[0x01, 0x0b, 0x03, 0x5d, 0x3b, 0x43, 0x4b, 0x3b, 0x43, 0xb1], None),
        ("dup2_x2", 6, &[0x01, 0x03, 0x0b, 0x04, 0x5e, 0x3b, 0x43, 0x3b, 0x4b, 0x3b, 0x43, 0xb1], None),
        ("swap", 2, &[0x01, 0x03, 0x5f, 0x4b, 0x3b, 0xb1], None),
        (
            "dup_x2 in another order",
            4,
            &[0x01, 0x0b, 0x03, 0x5b, 0x3b, 0x4b, 0x43, 0x3b, 0xb1],
            Some(Rule::StackType),
        ),
        ("half of a long", 2, &[0x09, 0x57, 0xb1], Some(Rule::StackType)),
        ("two halves that do not belong together", 3, &[0x03, 0x09, 0x5a, 0xb1], Some(Rule::StackType)),
        ("a long without room", 1, &[0x09, 0xb1], Some(Rule::StackOverflow)),
        ("a long with room", 2, &[0x09, 0x58, 0xb1], None),
        (
            "a long in the place of half another",
            2,
            &[0x09, 0x3f, 0x03, 0x3c, 0x1e, 0x58, 0xb1],
            Some(Rule::LocalType),
        ),
        ("nothing", 1, &[0x57, 0xb1], Some(Rule::StackUnderflow)),
        ("no end", 1, &[0x03, 0x57], Some(Rule::FallsOffCode)),
    ] {
        assert_eq!(method(52, (STATIC, "m", "()V"), code(max_stack, 2, bytes)), expected, "{what}");
    }
}

/// The arguments are `String[]`, `long[][]` and `int[]`.
#[test]
fn elements_of_arrays_have_their_types() {
    let run = |bytes: &[u8]| method(52, (STATIC, "m", "([Ljava/lang/String;[[J[I)V"), code(4, 3, bytes));
    // An element that is an array of long: an element of it is a long.
    assert_eq!(run(&[0x2b, 0x03, 0x32, 0x03, 0x2f, 0x58, 0xb1]), None);
    assert_eq!(run(&[0x2a, 0x03, 0x32, 0x03, 0x2f, 0x58, 0xb1]), Some(Rule::StackType));
    assert_eq!(run(&[0x2c, 0x03, 0x2e, 0x57, 0xb1]), None);
    assert_eq!(run(&[0x2c, 0x03, 0x32, 0x57, 0xb1]), Some(Rule::StackType));
    assert_eq!(run(&[0x2a, 0xbe, 0x57, 0xb1]), None);
    assert_eq!(run(&[0x01, 0xbe, 0x57, 0xb1]), None);
    assert_eq!(run(&[0x03, 0xbe, 0x57, 0xb1]), Some(Rule::StackType));
}

#[test]
fn keys_of_a_lookupswitch_ascend_and_padding_is_0_in_old_classes() {
    let run = |major: u16, first: u8, padding: u8| {
        let mut bytes = vec![0x03, 0xab, padding, 0, 0, 0, 0, 27, 0, 0, 0, 2];
        bytes.extend([0, 0, 0, first, 0, 0, 0, 27, 0, 0, 0, 5, 0, 0, 0, 27, 0xb1]);
        let frames = (major >= 50).then(|| vec![0, 1, 28]);
        method(major, (STATIC, "m", "()V"), Code { frames, ..code(1, 0, &bytes) })
    };
    for major in [49, 50, 51] {
        assert_eq!(run(major, 4, 0), None, "{major}");
        assert_eq!(run(major, 5, 0), Some(Rule::SwitchOrder), "{major}");
        assert_eq!(run(major, 4, 1), (major < 51).then_some(Rule::Operand), "{major}");
    }
}

/// What is wrong with the constructor of `A`, which has the field `own`, below `Above`, which has `other`.
fn constructor(make: impl Fn(&mut ClassFile) -> Code) -> Option<Rule> {
    let mut few = Few::new();
    few.add(&ClassFile::new(52).finish("Above", OBJECT, &[(1, "other", "I", None)], &[]));
    let mut file = ClassFile::new(52);
    let init = make(&mut file);
    let methods = [(1, "<init>", "()V", Some(init))];
    judged(&few, &file.finish("A", Some("Above"), &[(1, "own", "I", None)], &methods))
}

#[test]
fn constructors_call_one_of_their_own_class_or_of_the_superclass() {
    let call = |class: &'static str, more: &'static [u8]| {
        constructor(|file| {
            let init = file.member(10, [class, "<init>", "()V"]);
            code(3, 1, &[&[0x2a, 0xb7, init[0], init[1]][..], more, &[0xb1]].concat())
        })
    };
    assert_eq!(call("Above", &[]), None);
    assert_eq!(call("A", &[]), None);
    assert_eq!(call("java/lang/Object", &[]), Some(Rule::InitReceiver));
    // Whatever it is, it is initialised then.
    assert_eq!(call("Above", &[0x2a, 0xbe, 0x57]), Some(Rule::StackType));
    assert_eq!(constructor(|_| code(0, 1, &[0xb1])), Some(Rule::ThisUninitialized));
    // On a new object of another class.
    let made = |class: &'static str| {
        constructor(|file| {
            let [above, init] = ["Above", class].map(|class| file.member(10, [class, "<init>", "()V"]));
            let new = file.class("java/lang/String");
            let bytes = [0x2a, 0xb7, above[0], above[1], 0xbb, new[0], new[1], 0xb7, init[0], init[1], 0xb1];
            code(3, 1, &bytes)
        })
    };
    assert_eq!(made("java/lang/String"), None);
    assert_eq!(made("java/lang/Object"), Some(Rule::InitReceiver));
}

#[test]
fn before_super_only_own_fields_may_be_set() {
    let set = |class: &'static str, name: &'static str| {
        constructor(|file| {
            let field = file.member(9, [class, name, "I"]);
            let init = file.member(10, ["Above", "<init>", "()V"]);
            code(3, 1, &[0x2a, 0x03, 0xb5, field[0], field[1], 0x2a, 0xb7, init[0], init[1], 0xb1])
        })
    };
    assert_eq!(set("A", "own"), None);
    assert_eq!(set("A", "other"), Some(Rule::StackType));
    assert_eq!(set("Above", "other"), Some(Rule::StackType));
    assert_eq!(set("Above", "own"), Some(Rule::StackType));
}

/// No frame of a handler fits the call of `super()`: in front of it `this` is not initialised, and behind it it is.
#[test]
fn frames_say_whether_this_is_initialised() {
    let covered = |start: u16, end: u16, locals: &'static [u8]| {
        constructor(|file| {
            let init = file.member(10, ["Above", "<init>", "()V"]);
            let thrown = file.class("java/lang/Throwable");
            // aload_0; invokespecial; 4: return; 5: athrow
            let bytes = [0x2a, 0xb7, init[0], init[1], 0xb1, 0xbf];
            let frame = [&[0, 1, 255, 0, 5, 0, locals.len() as u8][..], locals, &[0, 1, 7], &thrown].concat();
            Code { handlers: vec![[start, end, 5, 0]], frames: Some(frame), ..code(1, 1, &bytes) }
        })
    };
    const UNINITIALIZED_THIS: &[u8] = &[6];
    let mismatch = Some(Rule::FrameMismatch);
    assert_eq!(covered(0, 1, UNINITIALIZED_THIS), None);
    assert_eq!(covered(0, 1, &[]), mismatch);
    assert_eq!(covered(0, 4, UNINITIALIZED_THIS), mismatch);
    assert_eq!(covered(0, 4, &[]), mismatch);
    assert_eq!(covered(1, 4, &[]), mismatch);
    assert_eq!(covered(4, 5, UNINITIALIZED_THIS), mismatch);
    assert_eq!(covered(4, 5, &[]), None);
}

/// `jsr` and `ret`, which only class files from before version 51 have.
#[test]
fn subroutines_leave_what_they_do_not_set() {
    let run = |bytes: &[u8]| method(49, (STATIC, "m", "(J)V"), code(4, 6, bytes));
    // jsr 7; lload_0; pop2; return; 6: astore 5; VARIED; ret 5
    let with =
        |varied: &[u8]| run(&[&[0xa8, 0, 6, 0x1e, 0x58, 0xb1, 0x3a, 5][..], varied, &[0xa9, 5]].concat());
    assert_eq!(with(&[]), None);
    // It sets another local variable, half of the one that is read behind it, all of it, or one in front of it.
    assert_eq!(with(&[0x03, 0x3e]), None);
    assert_eq!(with(&[0x03, 0x3c]), Some(Rule::LocalType));
    assert_eq!(with(&[0x0a, 0x3f]), None);
    assert_eq!(with(&[0x03, 0x3b]), Some(Rule::LocalType));
    // It calls itself.
    assert_eq!(with(&[0xa8, 0xff, 0xfe]), Some(Rule::Subroutine));
    assert_eq!(run(&[0xa9, 2, 0xb1]), Some(Rule::Subroutine));
}

/// A `long` that a subroutine sets has both halves behind it.
#[test]
fn both_halves_that_a_subroutine_sets_are_known_behind_it() {
    // jsr 7; lload_2; pop2; return; 6: astore 5; lconst_0; lstore_2; ret 5
    let bytes = [0xa8, 0, 6, 0x20, 0x58, 0xb1, 0x3a, 5, 0x09, 0x41, 0xa9, 5];
    assert_eq!(method(49, (STATIC, "m", "()V"), code(4, 6, &bytes)), None);
}

/// In old classes a handler sees the local variables in front of each instruction that it covers, of the first one,
/// too.
#[test]
fn handlers_see_what_was_in_front_of_each_instruction() {
    let run = |start: u16, end: u16| {
        // lconst_0; lstore_0; 2: iconst_0; istore_0; 4: nop; return; 6: pop; lload_0; pop2; return
        let bytes = [0x09, 0x3f, 0x03, 0x3b, 0x00, 0xb1, 0x57, 0x1e, 0x58, 0xb1];
        method(49, (STATIC, "m", "()V"), Code { handlers: vec![[start, end, 6, 0]], ..code(3, 2, &bytes) })
    };
    assert_eq!(run(2, 3), None);
    assert_eq!(run(2, 4), None);
    assert_eq!(run(2, 5), Some(Rule::LocalType));
    assert_eq!(run(1, 3), Some(Rule::LocalType));
    assert_eq!(run(4, 5), Some(Rule::LocalType));
}

#[test]
fn calls_name_what_may_be_called_so() {
    let call = |op: u8, tag: u8, class: &'static str, more: [u8; 2]| {
        let mut few = Few::new();
        for (name, flags) in [("Direct", 0x601), ("Other", 0x601)] {
            let mut file = ClassFile::new(52);
            file.flags = flags;
            few.add(&file.finish(name, OBJECT, &[], &[(1, "run", "(J)V", None)]));
        }
        let mut file = ClassFile::new(52);
        let direct = file.class("Direct");
        file.interfaces.push(direct);
        let member = file.member(tag, [class, "run", "(J)V"]);
        let mut bytes = vec![0x2a, 0x09, op, member[0], member[1]];
        bytes.extend(&more[..if op == 0xb9 { 2 } else { 0 }]);
        bytes.push(0xb1);
        judged(&few, &file.finish("A", OBJECT, &[], &[(1, "m", "()V", Some(code(3, 1, &bytes)))]))
    };
    // invokeinterface has a count of slots, and a 0.
    assert_eq!(call(0xb9, 11, "Direct", [3, 0]), None);
    assert_eq!(call(0xb9, 11, "Direct", [2, 0]), Some(Rule::Operand));
    assert_eq!(call(0xb9, 11, "Direct", [3, 1]), Some(Rule::Operand));
    assert_eq!(call(0xb9, 10, "Direct", [3, 0]), Some(Rule::ConstantKind));
    // invokespecial names a direct superinterface.
    assert_eq!(call(0xb7, 11, "Direct", [0; 2]), None);
    assert_eq!(call(0xb7, 11, "Other", [0; 2]), Some(Rule::SpecialClass));
    assert_eq!(call(0xb7, 10, "A", [0; 2]), None);
    assert_eq!(call(0xb7, 10, "java/lang/String", [0; 2]), Some(Rule::SpecialClass));
    assert_eq!(call(0xb6, 11, "A", [0; 2]), Some(Rule::ConstantKind));
}

/// A class `A` with this method below `p.Above`, which has another one: whether it overrides a final one.
#[test]
fn final_methods_that_are_seen_are_not_overridden() {
    let [public, private, protected, fixed, last] = [1, 2, 4, 8, 16];
    let run = |above: &str, above_flags: u16, name: &str, flags: u16| {
        let mut few = Few::new();
        let body = || Some(code(0, 2, &[0xb1]));
        few.add(&ClassFile::new(52).finish(above, OBJECT, &[], &[(above_flags, "m", "()V", body())]));
        let bytes = ClassFile::new(52).finish(name, Some(above), &[], &[(flags, "m", "()V", body())]);
        judged(&few, &bytes)
    };
    for (above, above_flags, name, flags, is_right) in [
        ("p/Above", public | last, "A", public, false),
        ("p/Above", protected | last, "A", public, false),
        ("p/Above", public, "A", public, true),
        ("p/Above", public | last, "A", private, true),
        ("p/Above", public | last | fixed, "A", public, true),
        ("p/Above", private | last, "p/A", public, true),
        ("p/Above", last, "A", public, true),
        ("p/Above", last, "p/A", public, false),
    ] {
        let expected = (!is_right).then_some(Rule::FinalMethod);
        assert_eq!(
            run(above, above_flags, name, flags),
            expected,
            "{above_flags:#x} by {flags:#x} of {name}"
        );
    }
}

#[test]
fn superclasses_are_seen_open_and_permit_it() {
    let run = |above: &str, flags: u16, name: &str, permitted: Option<&str>| {
        let mut few = Few::new();
        let mut file = ClassFile::new(61);
        file.flags = flags;
        if let Some(permitted) = permitted {
            let index = file.class(permitted);
            let attribute = file.utf8("PermittedSubclasses");
            file.attributes.push((attribute, [&[0, 1][..], &index].concat()));
        }
        few.add(&file.finish(above, OBJECT, &[], &[]));
        judged(&few, &ClassFile::new(61).finish(name, Some(above), &[], &[]))
    };
    assert_eq!(run("p/Above", 0x21, "A", None), None);
    assert_eq!(run("p/Above", 0x31, "A", None), Some(Rule::SuperIsFinal));
    assert_eq!(run("p/Above", 0x601, "A", None), Some(Rule::SuperIsInterface));
    assert_eq!(run("p/Above", 0x20, "A", None), Some(Rule::SuperAccess));
    assert_eq!(run("p/Above", 0x20, "p/A", None), None);
    assert_eq!(run("p/Above", 0x21, "A", Some("A")), None);
    assert_eq!(run("p/Above", 0x21, "A", Some("B")), Some(Rule::NotPermitted));
    assert_eq!(run("A", 0x21, "A", None), Some(Rule::Circularity));
}

#[test]
fn members_have_flags_and_as_many_arguments_as_there_is_room_for() {
    let with =
        |member: Member<'_>| judged(&Few::new(), &ClassFile::new(52).finish("A", OBJECT, &[], &[member]));
    let arguments = |flags: u16, count: usize| {
        let descriptor = format!("({})V", "I".repeat(count));
        with((flags, "m", &descriptor, Some(code(0, 256, &[0xb1]))))
    };
    assert_eq!([arguments(9, 255), arguments(1, 254)], [None, None]);
    assert_eq!([arguments(9, 256), arguments(1, 255)], [Some(Rule::Arguments); 2]);
    for (flags, expected) in [
        (1, None),
        (3, Some(Rule::MethodFlags)),
        (5, Some(Rule::MethodFlags)),
        (6, Some(Rule::MethodFlags)),
        (0x11, None),
    ] {
        assert_eq!(with((flags, "m", "()V", Some(code(0, 1, &[0xb1])))), expected, "{flags:#x}");
    }
    assert_eq!(with((0x401, "m", "()V", Some(code(0, 1, &[0xb1])))), Some(Rule::CodeUnexpected));
    assert_eq!(with((1, "m", "()V", None)), Some(Rule::CodeAbsent));
}

/// A row of the exception table covers an instruction, ends with one or with the code, and catches what is thrown.
#[test]
fn rows_of_the_exception_table_name_instructions() {
    let run = |row: [u16; 3], catches: &str| {
        let mut file = ClassFile::new(49);
        let index = u16::from_be_bytes(file.class(catches));
        // sipush 0; pop; return; 5: pop; return
        let bytes = [0x11, 0, 0, 0x57, 0xb1, 0x57, 0xb1];
        let handlers = vec![[row[0], row[1], row[2], index]];
        let code = Code { handlers, ..code(1, 0, &bytes) };
        judged(&Few::new(), &file.finish("A", OBJECT, &[], &[(STATIC, "m", "()V", Some(code))]))
    };
    for (row, is_right) in [
        ([0, 3, 5], true),
        ([0, 7, 5], true),
        ([0, 8, 5], false),
        ([0, 2, 5], false),
        ([1, 3, 5], false),
        ([3, 3, 5], false),
        ([0, 3, 1], false),
        ([0, 3, 7], false),
    ] {
        let found = run(row, "java/lang/Exception");
        assert_eq!(found, (!is_right).then_some(Rule::ExceptionTable), "{row:?}");
    }
    assert_eq!(run([0, 3, 5], "java/lang/String"), Some(Rule::CatchType));
}

#[test]
fn fields_of_arrays_are_none() {
    let read = |class: &str| {
        let mut file = ClassFile::new(52);
        let field = file.member(9, [class, "length", "I"]);
        let code = code(1, 1, &[0x2a, 0xb4, field[0], field[1], 0x57, 0xb1]);
        let descriptor = format!("({})V", if class == "A" { "LA;" } else { class });
        judged(&Few::new(), &file.finish("A", OBJECT, &[], &[(STATIC, "m", &descriptor, Some(code))]))
    };
    assert_eq!(read("A"), None);
    assert_eq!(read("[I"), Some(Rule::Operand));
}

/// A class initialiser has no `this`, whatever its flags are; the constructor of `Object` calls no other.
#[test]
fn this_is_there_and_initialised_where_it_can_be() {
    let initializer = |flags: u16| method(50, (flags, "<clinit>", "()V"), code(1, 1, &[0x2a, 0x57, 0xb1]));
    assert_eq!([initializer(8), initializer(0)], [Some(Rule::LocalType); 2]);
    let init = (1, "<init>", "()V", Some(code(1, 1, &[0xb1])));
    let object = ClassFile::new(52).finish("java/lang/Object", None, &[], std::slice::from_ref(&init));
    assert_eq!(judged(&Few::new(), &object), None);
    assert_eq!(
        judged(&Few::new(), &ClassFile::new(52).finish("A", OBJECT, &[], &[init])),
        Some(Rule::ThisUninitialized)
    );
}

/// In old classes a way on which `super()` was not called may come last to where the constructor returns.
#[test]
fn no_way_through_a_constructor_leads_past_super() {
    let run = |calls_super: bool| {
        let mut file = ClassFile::new(49);
        let init = file.member(10, ["java/lang/Object", "<init>", "()V"]);
        // iload_1; ifeq 9; aload_0; invokespecial; 8: return; 9: OTHER; goto 8
        let mut bytes = vec![0x1b, 0x99, 0, 8, 0x2a, 0xb7, init[0], init[1], 0xb1];
        bytes.extend(match calls_super {
            true => vec![0x2a, 0xb7, init[0], init[1], 0xa7, 0xff, 0xfb],
            false => vec![0xa7, 0xff, 0xff],
        });
        let init = (1, "<init>", "(I)V", Some(code(1, 2, &bytes)));
        judged(&Few::new(), &file.finish("A", OBJECT, &[], &[init]))
    };
    assert_eq!([run(true), run(false)], [None, Some(Rule::ThisUninitialized)]);
}

#[test]
fn constants_name_bootstrap_methods_that_are_there() {
    let run = |number: u8| {
        let mut file = ClassFile::new(52);
        let method = file.member(10, ["A", "m", "()V"]);
        let handle = file.add(&[&[15, 6][..], &method].concat());
        let pair = [file.utf8("x"), file.utf8("()V")].concat();
        let pair = file.add(&[&[12][..], &pair].concat());
        file.add(&[&[18, 0, number][..], &pair].concat());
        let name = file.utf8("BootstrapMethods");
        file.attributes.push((name, [&[0, 1][..], &handle, &[0, 0]].concat()));
        judged(&Few::new(), &file.finish("A", OBJECT, &[], &[]))
    };
    assert_eq!([run(0), run(1)], [None, Some(Rule::BootstrapMethods)]);
}
