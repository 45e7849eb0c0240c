//! The rewriter against classes that contradict themselves: it must not panic, must not take long, and must
//! answer as the format allows: an error for what is no class file, a reason for what cannot be rewritten, or
//! a class that the structural oracle accepts.

use crate::structural::assembler::{Body, ClassBuilder, INT, Type, attribute_names, replace_code};
use crate::structural::listing::op;
use crate::structural::model::{Attribute, Class, Code, Row};
use crate::structural::programs::{Constructor, Statement, class};
use crate::structural::{FORMS, check_outcome, id_of};
use instrument_rewriter::class_file::instruction::Instructions;
use instrument_rewriter::class_file::{ClassFile, CodeAttribute, Tag, find_attribute};
use instrument_rewriter::rewrite::{Choice, ClassRewriter, MethodEvent, Outcome, Reason, Transforms};
use std::time::{Duration, Instant};

/// No class may take longer, even in an unoptimised build on a busy machine; most take milliseconds.
const LONGEST: Duration = Duration::from_secs(5);

/// What became of the methods of a class: its outcome, and the reasons.
fn reasons(bytes: &[u8], form: Transforms) -> Result<(Outcome, Vec<Reason>), String> {
    let started = Instant::now();
    let mut rewriter = ClassRewriter::new(form);
    rewriter.leave_invalid();
    let mut out = Vec::new();
    let outcome = rewriter
        .rewrite(bytes, |method| Choice::Rewrite(id_of(method.index.into())), &mut out)
        .map_err(|error| error.to_string())?;
    assert!(started.elapsed() < LONGEST, "{:?}", started.elapsed());
    if outcome == Outcome::Rewritten {
        Class::parse(&out).unwrap_or_else(|error| panic!("the output is no class: {error}"));
    }
    let skipped = rewriter.reports().iter().filter_map(|report| match report.event {
        MethodEvent::Skipped(reason) => Some(reason),
        _ => None,
    });
    Ok((outcome, skipped.collect()))
}

/// A static `m(I)I` whose code `change` may spoil.
fn spoiled(major: u16, change: impl FnOnce(&mut Code)) -> Vec<u8> {
    let mut builder = ClassBuilder::new("M", major);
    let mut body = Body::new(2, 2);
    let throwable = Type::Object(builder.class("java/lang/Throwable"));
    let (start, end, handler, join) = (body.here(), body.label(), body.label(), body.label());
    body.lines.push((start, 1));
    body.op(&[0x1a]);
    body.branch(0x99, join);
    body.op(&[0x10, 5]);
    body.op(&[0x57]);
    body.place(join);
    body.op(&[0x1a]);
    body.op(&[0xac]);
    body.place(end);
    body.place(handler);
    body.op(&[0x57]);
    body.op(&[0x02]);
    body.op(&[0xac]);
    body.rows.push((start, end, handler, 0));
    body.frame(join, &[INT], &[]);
    body.frame(handler, &[INT], &[throwable]);
    builder.method(9, "m", "(I)I", &body).unwrap();
    let mut class = Class::parse(&builder.build()).unwrap();
    let mut code = Code::parse(&class.methods[0].attributes[0].info).unwrap();
    change(&mut code);
    replace_code(&mut class, 0, &code);
    class.to_bytes()
}

fn only_reason(bytes: &[u8]) -> Option<Reason> {
    let (outcome, reasons) = reasons(bytes, FORMS[2]).unwrap();
    assert!(reasons.len() <= 1);
    assert_eq!(outcome == Outcome::Unchanged, reasons.len() == 1, "{outcome:?} {reasons:?}");
    reasons.first().copied()
}

fn info_of(code: &mut Code, length: impl Fn(&Attribute) -> bool) -> &mut Vec<u8> {
    &mut code.attributes.iter_mut().find(|attribute| length(attribute)).unwrap().info
}

#[test]
fn code_that_cannot_be_decoded_is_left() {
    type Change = fn(&mut Code);
    let cases: &[(&str, Change)] = &[
        ("no code at all", |c| c.code.clear()),
        ("an unknown opcode", |c| c.code[0] = 0xcb),
        ("a cut-off instruction", |c| *c.code.last_mut().unwrap() = 0x11),
        ("wide in front of nothing", |c| *c.code.last_mut().unwrap() = op::WIDE),
        ("a switch that is cut off", |c| *c.code.last_mut().unwrap() = op::TABLESWITCH),
        ("wide in front of another opcode", |c| c.code[4] = op::WIDE),
        ("a branch into the middle of an instruction", |c| c.code[3] = 4),
        ("a branch in front of the code", |c| c.code[2..4].copy_from_slice(&[0xff, 0x00])),
        ("a branch behind the code", |c| c.code[2..4].copy_from_slice(&[0x7f, 0xff])),
        ("a branch to the end of the code", |c| c.code[3] = c.code.len() as u8 - 1),
    ];
    for (name, change) in cases {
        // Without rows and frames, so that nothing else is wrong.
        let bytes = spoiled(49, |code| {
            code.rows.clear();
            change(code);
        });
        assert_eq!(only_reason(&bytes), Some(Reason::BadCode), "{name}");
    }
}

#[test]
fn hostile_switches_are_left() {
    for (opcode, words) in [
        (op::TABLESWITCH, [0, i32::MIN, i32::MAX]),
        (op::TABLESWITCH, [0, 5, 4]),
        (op::TABLESWITCH, [0, 0, i32::MAX]),
        (op::LOOKUPSWITCH, [0, -1, 0]),
        (op::LOOKUPSWITCH, [0, i32::MAX, 0]),
        (op::LOOKUPSWITCH, [0, 1 << 29, 0]),
    ] {
        let bytes = spoiled(49, |code| {
            code.rows.clear();
            code.code = vec![0x1a, opcode, 0, 0];
            words.iter().for_each(|word: &i32| code.code.extend(word.to_be_bytes()));
        });
        assert_eq!(only_reason(&bytes), Some(Reason::BadCode), "{opcode} {words:?}");
    }
}

#[test]
fn bad_exception_tables_are_left() {
    let code_length = {
        let mut length = 0;
        spoiled(52, |code| length = code.code.len());
        length
    };
    for row in [
        Row { start: 0, end: 0, handler: 9, catch_type: 0 },
        Row { start: 4, end: 1, handler: 9, catch_type: 0 },
        Row { start: 2, end: 7, handler: 9, catch_type: 0 },
        Row { start: 0, end: 5, handler: 9, catch_type: 0 },
        Row { start: 0, end: 7, handler: 5, catch_type: 0 },
        Row { start: 0, end: 7, handler: code_length, catch_type: 0 },
        Row { start: 0, end: code_length + 1, handler: 9, catch_type: 0 },
        Row { start: 0, end: 0xffff, handler: 0xffff, catch_type: 0 },
        Row { start: 0xffff, end: 0xffff, handler: 0, catch_type: 0xffff },
    ] {
        let bytes = spoiled(52, |code| code.rows = vec![row]);
        assert_eq!(only_reason(&bytes), Some(Reason::BadExceptionTable), "{row:?}");
    }
}

/// Legal for the reader though no verifier lets it pass: the method stays consistent. A static `m(I)I` with `max_stack`
/// 1 that returns its argument, and behind that `more`, which only a handler or a frame leads to.
fn shallow(major: u16, is_handler: bool, stack: &[Type], more: &[u8]) -> Vec<u8> {
    let mut builder = ClassBuilder::new("M", major);
    let mut body = Body::new(1, 1);
    let (start, end) = (body.here(), body.label());
    body.op(&[0x1a]);
    body.op(&[0xac]);
    body.place(end);
    more.iter().for_each(|op| body.op(&[*op]));
    if is_handler {
        body.rows.push((start, end, end, 0));
    }
    if major >= 50 {
        body.frame(end, &[INT], stack);
    }
    builder.method(9, "m", "(I)I", &body).unwrap();
    builder.build()
}

#[test]
fn stacks_deeper_than_max_stack_are_left() {
    let [pop, pop2, load, ret] = [0x57, 0x58, 0x1a, 0xac];
    for (bytes, is_valid) in [
        (shallow(52, false, &[INT], &[pop, load, ret]), true),
        (shallow(52, false, &[INT, INT], &[pop2, load, ret]), false),
        (shallow(52, false, &[Type::Simple(4)], &[pop2, load, ret]), false),
        (shallow(52, false, &[INT], &[load, pop2, load, ret]), false),
        (shallow(49, true, &[], &[pop, load, ret]), true),
        (shallow(49, true, &[], &[load, pop2, load, ret]), false),
        // Nothing leads there, so the old verifier does not look at it.
        (shallow(49, false, &[], &[load, load, pop2, load, ret]), true),
        (spoiled(52, |code| code.max_stack = 1), true),
        (spoiled(52, |code| code.max_stack = 0), false),
        (spoiled(49, |code| code.max_stack = 0), false),
    ] {
        let right = if is_valid { Outcome::Rewritten } else { Outcome::Skipped(Reason::BadMaxStack) };
        assert_eq!(reasons(&bytes, FORMS[0]).unwrap().0, right, "{bytes:?}");
    }
}

#[test]
fn classes_that_need_frames_and_have_none_are_left() {
    let of = |major: u16, code: &[&[u8]], has_handler: bool| {
        let mut builder = ClassBuilder::new("M", major);
        let mut body = Body::new(1, 1);
        let start = body.here();
        code.iter().for_each(|instruction| body.op(instruction));
        let end = body.here();
        body.op(&[0x1a]);
        body.op(&[0xac]);
        if has_handler {
            body.rows.push((start, end, end, 0));
        }
        builder.method(9, "m", "(I)I", &body).unwrap();
        reasons(&builder.build(), FORMS[0]).unwrap().0
    };
    let (branch, end): (&[&[u8]], &[&[u8]]) = (&[&[0x1a], &[0x99, 0, 4], &[0]], &[&[0x1a], &[0xac]]);
    for (code, needs) in [(branch, true), (end, true), (&[&[0][..]][..], false)] {
        for major in [49, 51, 52, 69] {
            let left = Outcome::Skipped(Reason::MissingStackMap);
            let right = if needs && major > 50 { left } else { Outcome::Rewritten };
            assert_eq!(of(major, code, false), right, "{major} {code:?}");
        }
    }
    assert_eq!(of(52, &[&[0]], true), Outcome::Skipped(Reason::MissingStackMap));
}

/// Every index in the constant pool, the class's names, fields and methods, one after the other led behind the end of
/// the pool.
#[test]
fn constants_behind_the_end_of_the_pool_are_left() {
    let body =
        [Statement::Mix, Statement::NewConditional, Statement::TryCatch(vec![Statement::MaybeThrow], vec![])];
    let sound = class("P", 52, &body, Constructor::Straight, &[], false).unwrap();
    let events = FORMS[0];
    assert_eq!(reasons(&sound, events).unwrap().0, Outcome::Rewritten);
    let parsed = ClassFile::parse(&sound).unwrap();
    let pool = &parsed.pool;
    let mut places: Vec<usize> = Vec::new();
    for index in pool.indices() {
        let at = pool.offset(index).unwrap();
        places.extend(match pool.tag(index).unwrap() {
            Tag::Class | Tag::String | Tag::MethodType => vec![at + 1],
            Tag::Fieldref | Tag::Methodref | Tag::InterfaceMethodref | Tag::NameAndType => {
                vec![at + 1, at + 3]
            }
            _ => vec![],
        });
    }
    // this_class, and name and descriptor of the last method.
    places.push(pool.end() + 2);
    let mut methods = parsed.methods();
    let mut last = None;
    while let Some(method) = methods.next().unwrap() {
        last = Some(method);
    }
    let last = last.unwrap();
    let code = find_attribute(last.attributes(), pool, b"Code").unwrap().unwrap();
    // access_flags, name, descriptor and the number of attributes stand in front of the first attribute.
    let first = last.attributes().next().unwrap().unwrap().offset;
    places.extend([first - 6, first - 4, code.offset]);
    let parsed_code = CodeAttribute::parse(&code).unwrap();
    for instruction in Instructions::new(parsed_code.code) {
        let instruction = instruction.unwrap();
        if matches!(instruction.opcode, 0x13 | 0x14 | 0xb2..=0xbb | 0xbd | 0xc0 | 0xc1 | 0xc5) {
            places.push(parsed_code.code_offset + instruction.pc + 1);
        }
    }
    let ldc = shallow(52, false, &[INT], &[0x57, 0x12, 0xff, 0x57, 0x1a, 0xac]);
    assert_eq!(reasons(&ldc, events).unwrap().0, Outcome::Skipped(Reason::BadConstantIndex));
    assert!(places.len() > 30, "{} places", places.len());
    for place in places {
        let mut bytes = sound.clone();
        bytes[place..place + 2].copy_from_slice(&pool.count().to_be_bytes());
        // A name that is missing may be an error earlier; what must not be is a class with another meaning.
        match reasons(&bytes, events) {
            Err(_) | Ok((Outcome::Skipped(Reason::BadConstantIndex), _)) => {}
            other => panic!("index at {place} (pool ends at {}): {other:?}", pool.end()),
        }
    }
}

#[test]
fn odd_exception_tables_are_rewritten() {
    let end = |code: &Code| code.code.len();
    for change in [
        (|_, code: &mut Code| code.rows[0].handler = 0) as fn(usize, &mut Code),
        |_, code| code.rows[0] = Row { start: 9, end: 12, handler: 9, catch_type: 0 },
        |_, code| code.rows[0] = Row { start: 0, end: 12, handler: 9, catch_type: 0 },
        |end, code| code.rows[0].end = end,
        |_, code| code.rows = vec![code.rows[0]; 40],
        |_, code| code.rows[0].catch_type = 0xffff,
    ] {
        for version in [49, 52] {
            let bytes = spoiled(version, |code| {
                let end = end(code);
                change(end, code);
            });
            for form in FORMS {
                // A handler without a frame of one value has none to copy: then the reason is the frames.
                let (outcome, reasons) = reasons(&bytes, form).unwrap();
                let bad_frames = reasons == [Reason::BadStackMap];
                // The last of them.
                let bad_index = outcome == Outcome::Skipped(Reason::BadConstantIndex);
                assert!(
                    outcome == Outcome::Rewritten || bad_frames || bad_index || !form.method_events,
                    "{outcome:?} {reasons:?}"
                );
            }
        }
    }
}

#[test]
fn bad_frames_are_left() {
    let frames: &[(&str, &[u8])] = &[
        ("nothing", &[]),
        ("a count alone", &[0, 1]),
        ("a count that is too high", &[0xff, 0xff, 0]),
        ("a reserved type", &[0, 1, 200]),
        ("a type cut off", &[0, 1, 64 + 7, 7, 0]),
        ("an unknown verification type", &[0, 1, 64 + 7, 9]),
        ("bytes behind", &[0, 1, 7, 0]),
        ("inside an instruction", &[0, 1, 2]),
        ("behind the code", &[0, 1, 251, 0xff, 0xff]),
        ("far behind the code", &[0, 2, 251, 0xff, 0xff, 251, 0xff, 0xff]),
        ("locals without end", &[0, 1, 255, 0, 7, 0xff, 0xff, 1]),
        ("a new where none is", &[0, 1, 64 + 7, 8, 0, 2]),
        ("a handler's frame with nothing on the stack", &[0, 1, 9]),
    ];
    for (name, info) in frames {
        let bytes = spoiled(52, |code| {
            let at = code.attributes.iter().position(|a| a.info.len() != 6).unwrap();
            code.attributes[at].info = info.to_vec();
        });
        assert_eq!(only_reason(&bytes), Some(Reason::BadStackMap), "{name}");
    }
    let bytes = spoiled(52, |code| {
        let frames = code.attributes.iter().find(|a| a.info.len() != 6).unwrap().clone();
        code.attributes.push(frames);
    });
    assert_eq!(only_reason(&bytes), Some(Reason::BadStackMap), "two tables");
}

/// Before version 50 a StackMapTable is an attribute that nobody knows (JVMS 4.7.4): it stays what it was, whatever is
/// in it.
#[test]
fn frames_of_old_classes_are_not_read() {
    for info in [&[][..], &[0, 1, 200], &[0xff; 9]] {
        let mut bytes = spoiled(52, |code| {
            let at = code.attributes.iter().position(|a| a.info.len() != 6).unwrap();
            code.attributes[at].info = info.to_vec();
        });
        bytes[7] = 49;
        assert_eq!(only_reason(&bytes), None, "{info:?}");
        let mut out = Vec::new();
        let mut rewriter = ClassRewriter::new(FORMS[2]);
        rewriter.rewrite(&bytes, |method| Choice::Rewrite(id_of(method.index.into())), &mut out).unwrap();
        let code = Code::parse(&Class::parse(&out).unwrap().methods[0].attributes[0].info).unwrap();
        assert!(code.attributes.iter().any(|attribute| attribute.info == info), "{info:?}");
    }
}

#[test]
fn lying_debug_tables_stay_what_they_were() {
    for info in [&[][..], &[0], &[0, 1], &[0xff, 0xff, 0, 0, 0, 0], &[0, 1, 0xff, 0xff, 0, 1], &[0, 0, 9]] {
        let bytes = spoiled(52, |code| *info_of(code, |a| a.info.len() == 6) = info.to_vec());
        assert_eq!(only_reason(&bytes), None, "{info:?}");
    }
}

#[test]
fn code_where_none_belongs() {
    let bytes = spoiled(52, |_| ());
    let class = Class::parse(&bytes).unwrap();
    let with = |change: &dyn Fn(&mut Class)| {
        let mut class = class.clone();
        change(&mut class);
        class.to_bytes()
    };
    for flags in [0x0109, 0x0409] {
        let bytes = with(&|class| class.methods[0].flags = flags);
        assert_eq!(only_reason(&bytes), Some(Reason::NoCode));
    }
    // Only the first of two Code attributes counts.
    let twice = with(&|class| {
        let code = class.methods[0].attributes[0].clone();
        class.methods[0].attributes.push(code);
    });
    for form in FORMS {
        let mut rewriter = ClassRewriter::new(form);
        let mut out = Vec::new();
        let outcome = rewriter.rewrite(&twice, |m| Choice::Rewrite(id_of(m.index.into())), &mut out).unwrap();
        check_outcome(&twice, form, outcome, &out, rewriter.reports()).unwrap();
    }
    // A Code attribute of the class, and one inside a Code attribute, are nobody's code.
    let name = attribute_names(&class.pool)["Code"].to_be_bytes();
    let elsewhere = with(&|class| class.tail = [&[0, 1][..], &name, &[0, 0, 0, 0]].concat());
    assert_eq!(only_reason(&elsewhere), None);
    let inside = spoiled(52, |code| {
        let name = u16::from_be_bytes(name);
        code.attributes.push(Attribute { name, info: vec![1, 2, 3] });
    });
    assert_eq!(only_reason(&inside), None);
}

#[test]
fn lying_lengths_are_errors_or_reasons() {
    let bytes = spoiled(52, |_| ());
    // Cut off anywhere: no class file.
    for length in 0..bytes.len() {
        assert!(reasons(&bytes[..length], FORMS[2]).is_err(), "{length} bytes");
    }
    assert!(reasons(&[&bytes[..], &[0]].concat(), FORMS[2]).is_err());
    // Every byte, as small and as large as it gets, and one more and one less.
    for at in 0..bytes.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff, bytes[at].wrapping_add(1), bytes[at].wrapping_sub(1)] {
            let mut mutant = bytes.clone();
            mutant[at] = value;
            for form in FORMS {
                let _ = reasons(&mutant, form);
            }
        }
    }
}

/// The same with a class that has a bit of everything, and pairs of bytes.
#[test]
fn mutants_of_a_rich_class() {
    use Statement::*;
    let body = [
        TableSwitch(vec![vec![Add(1)]]),
        TryCatch(vec![MaybeThrow], vec![NewArray]),
        SelfCovering(vec![MaybeReturn]),
        NewConditional,
        NewThrownAway(true),
    ];
    for version in [49, 52] {
        let bytes = class("P", version, &body, Constructor::TwoSites, &[], false).unwrap();
        let mut seed = 0x2545_f491_4f6c_dd1du64;
        let mut random = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed as usize
        };
        let mut accepted = 0;
        for _ in 0..6_000 {
            let mut mutant = bytes.clone();
            for _ in 0..1 + random() % 3 {
                let at = random() % mutant.len();
                mutant[at] = [0, 0xff, 0x80, random() as u8, mutant[at] ^ 1 << (random() % 8)][random() % 5];
            }
            accepted += usize::from(reasons(&mutant, FORMS[random() % FORMS.len()]).is_ok());
        }
        assert!(accepted > 1_000, "{accepted} of 6,000 mutants were still class files");
    }
}

#[test]
fn a_pool_that_ends_inside_an_entry_is_no_class() {
    let class = Class::parse(&spoiled(52, |_| ())).unwrap();
    // A Long as the last entry would take the index of the first one that is appended.
    let mut long = class.clone();
    long.pool.bytes.extend([5, 0, 0, 0, 0, 0, 0, 0, 0]);
    long.pool.count += 1;
    assert!(reasons(&long.to_bytes(), FORMS[2]).is_err());
    long.pool.count += 1;
    assert!(reasons(&long.to_bytes(), FORMS[2]).is_ok());
}

#[test]
fn limits_of_the_format() {
    // The pool: full at 65,535. Three forms need different numbers of entries.
    let class = Class::parse(&spoiled(52, |_| ())).unwrap();
    for room in 0..20u16 {
        let mut full = class.clone();
        while full.pool.count < 65_535 - room {
            full.pool.bytes.extend([3, 0, 0, 0, 9]);
            full.pool.count += 1;
        }
        let bytes = full.to_bytes();
        let (outcome, reasons) = reasons(&bytes, FORMS[0]).unwrap();
        match outcome {
            Outcome::Rewritten => assert!(room >= 10),
            _ => assert_eq!(reasons, [Reason::ConstantPoolFull], "{room}"),
        }
    }
    let deep = spoiled(52, |code| code.max_stack = 65_535);
    assert_eq!(only_reason(&deep), Some(Reason::MaxStack));
    let rows = spoiled(52, |code| code.rows = vec![code.rows[0]; 65_535]);
    assert_eq!(only_reason(&rows), Some(Reason::ExceptionTableFull));

    // The code: entry and exit need 8 bytes, the unwind handler 5.
    let long = |length: usize| {
        spoiled(49, |code| {
            code.rows.clear();
            code.code = vec![0; length - 2];
            code.code.extend([0x1a, 0xac]);
        })
    };
    for length in 65_400..=65_535 {
        let reason = only_reason(&long(length));
        let fits = length + 4 + 4 + 5 <= 65_535;
        assert_eq!(reason, (!fits).then_some(Reason::MethodTooLarge), "{length}");
    }
    assert_eq!(only_reason(&long(65_536)), Some(Reason::MethodTooLarge));
    assert_eq!(only_reason(&long(200_000)), Some(Reason::MethodTooLarge));
}

/// Large tables that make a naive loop over pairs take minutes.
#[test]
fn large_tables_take_no_time() {
    // Every pc a handler of its own.
    let bytes = spoiled(49, |code| {
        code.code = vec![0; 60_000];
        code.code.push(0xb1);
        let row = |pc| Row { start: pc, end: pc + 1, handler: pc, catch_type: 0 };
        code.rows = (0..60_000).map(row).collect();
    });
    for form in FORMS {
        assert!(reasons(&bytes, form).is_ok());
    }
    // Rows that all cover everything, in a version whose values are followed along every path.
    let bytes = spoiled(49, |code| {
        code.code = vec![0xbb, 0, 1, 0x57];
        code.code.resize(30_000, 0);
        code.code.push(0xb1);
        let row = |pc| Row { start: 0, end: 30_001, handler: pc, catch_type: 0 };
        code.rows = (10_000..12_500).map(row).collect();
    });
    for form in FORMS {
        let allocates = form.allocation.then_some(Reason::UnknownReceiver);
        assert_eq!(reasons(&bytes, form).unwrap().1.first().copied(), allocates);
    }
    // Every conditional branch needs a trampoline, and there are many places for one.
    let mut builder = ClassBuilder::new("T", 52);
    let mut body = Body::new(1, 1);
    let far = body.label();
    let mut places = Vec::new();
    for _ in 0..3_000 {
        body.op(&[0x1a]);
        body.branch(0x99, far);
    }
    for _ in 0..5_000 {
        body.op(&[0xb1]);
        places.push(body.here());
    }
    while body.size() < 32_760 {
        body.op(&[0]);
    }
    body.place(far);
    body.op(&[0xb1]);
    for place in places.into_iter().chain([far]) {
        body.frame(place, &[INT], &[]);
    }
    builder.method(9, "m", "(I)V", &body).unwrap();
    let bytes = builder.build();
    for form in FORMS {
        assert!(reasons(&bytes, form).is_ok());
    }
}

/// Many frames that inherit many locals: what they spell out together exceeds any memory.
#[test]
fn inherited_locals_take_no_memory() {
    let mut info = (30_001u16).to_be_bytes().to_vec();
    info.extend([255, 0, 0, 0xea, 0x60]);
    info.extend(vec![6; 60_000]);
    info.extend([0, 0]);
    info.extend(vec![0; 30_000]);
    let bytes = spoiled(52, |code| {
        code.rows.clear();
        code.max_locals = 65_535;
        code.code = vec![0; 40_000];
        code.code.extend([0xbb, 0, 1, 0x57, 0x1a, 0xac]);
        let at = code.attributes.iter().position(|a| a.info.len() != 6).unwrap();
        code.attributes[at].info = info.clone();
    });
    for form in FORMS {
        assert!(reasons(&bytes, form).is_ok());
    }
}

/// What another version calls has a name in the runtime's package, or is the class that agents define.
#[test]
fn classes_that_another_version_rewrote_are_left_alone() {
    for (name, left) in [
        ("instrument/runtime/ProbesOfLater", true),
        ("instrument/runtime/later/Probes", true),
        ("java/lang/InstrumentProbes", true),
        ("java/lang/InstrumentProbe", false),
        ("instrument/runtimes/Probes", false),
    ] {
        let mut builder = ClassBuilder::new("M", 52);
        let probe = builder.method_ref(name, "probe", "()V");
        let mut body = Body::new(0, 0);
        body.op2(op::INVOKESTATIC, probe);
        body.op(&[0xb1]);
        builder.method(9, "m", "()V", &body).unwrap();
        let (outcome, _) = reasons(&builder.build(), Transforms::ALL).unwrap();
        let refused = Outcome::Skipped(Reason::AlreadyInstrumented);
        assert_eq!(outcome, if left { refused } else { Outcome::Rewritten }, "{name}");
    }
}
