//! The structural oracle over generated programs, and the same programs in a real JVM: before and after, they
//! link, and print the same results.

use crate::structural::assembler::{Body, ClassBuilder, INT, Item, Target, Type, UNINITIALIZED_THIS};
use crate::structural::listing::op;
use crate::structural::model::Class;
use crate::structural::oracle::Seen;
use crate::structural::programs::{Constructor, Statement, class, constructors, statements};
use crate::structural::{FORMS, MOST, jvm, rewrite, rewrite_and_check};
use instrument_rewriter::region::Region;
use instrument_rewriter::rewrite::{Choice, ClassRewriter, Outcome, RegionReport, Transforms};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};

/// One version of each kind: no frames and `jsr`; frames that may fail over; frames.
const VERSIONS: [u16; 5] = [45, 49, 50, 52, 61];
const BOTH: Transforms = Transforms { method_events: true, allocation: true, ..Transforms::NONE };

fn check_all(bytes: &[u8]) -> Result<Seen, TestCaseError> {
    let mut seen = Seen::default();
    for form in FORMS {
        let checked = rewrite_and_check(bytes, form);
        seen += checked.map_err(|fault| TestCaseError::fail(format!("{form:?}: {fault}")))?;
    }
    Ok(seen)
}

/// A far branch whose distance is just what two bytes hold, or a little less.
fn far() -> impl Strategy<Value = Statement> {
    prop_oneof![
        (32_640u16..32_764).prop_map(Statement::Far),
        (32_640u16..32_740).prop_map(Statement::FarBack)
    ]
}

proptest! {
    #![proptest_config(Config { cases: 192, failure_persistence: None, max_shrink_iters: 150, ..Config::default() })]

    #[test]
    fn short_methods_keep_their_structure(
        version in prop::sample::select(&VERSIONS[..]),
        body in statements(),
        constructor in constructors(),
        construct in statements(),
        wide in any::<bool>(),
    ) {
        let bytes = class("P", version, &body, constructor, &construct, wide).map_err(TestCaseError::fail)?;
        check_all(&bytes)?;
    }
}

proptest! {
    #![proptest_config(Config { cases: 24, failure_persistence: None, max_shrink_iters: 150, ..Config::default() })]

    #[test]
    fn methods_near_a_branch_s_reach_keep_their_structure(
        version in prop::sample::select(&VERSIONS[..]),
        before in statements(),
        far in far(),
        after in statements(),
        inside in any::<bool>(),
    ) {
        let mut body = before;
        // A try range around the trampolines: their frames must fit its handler.
        body.push(if inside { Statement::TryCatch(vec![far], after.clone()) } else { far });
        body.extend(after);
        // Too far for the original: nothing to test.
        if let Ok(bytes) = class("P", version, &body, Constructor::Straight, &[], false) {
            check_all(&bytes)?;
        }
    }

    #[test]
    fn methods_near_the_longest_keep_their_structure(
        version in prop::sample::select(&VERSIONS[..]),
        body in statements(),
        length in 30_000u16..32_000,
        rest in 0u16..2_000,
    ) {
        let mut long = vec![Statement::Pad(length)];
        long.extend(body.clone());
        long.push(Statement::Pad(30_000 + rest));
        long.extend(body);
        if let Ok(bytes) = class("P", version, &long, Constructor::Straight, &[], false) {
            check_all(&bytes)?;
        }
    }
}

/// Programs from a fixed seed, so that a JVM is started twice and not per case.
fn sample(count: usize, prefix: &str) -> Vec<(String, Vec<u8>)> {
    let mut runner = TestRunner::deterministic();
    let mut classes = Vec::new();
    let strategy = (statements(), constructors(), statements(), any::<bool>());
    while classes.len() < count {
        let (body, constructor, construct, wide) = strategy.new_tree(&mut runner).unwrap().current();
        let name = format!("{prefix}{}", classes.len());
        let version = VERSIONS[classes.len() % VERSIONS.len()];
        if let Ok(bytes) = class(&name, version, &body, constructor, &construct, wide) {
            classes.push((name, bytes));
        }
    }
    classes
}

/// Programs whose branches no longer reach once something is inserted.
fn far_sample() -> Vec<(String, Vec<u8>)> {
    use Statement::{Add, Far, FarBack, If, Loop, MaybeReturn, MaybeThrow, Mix, NewArray, TryCatch};
    let bodies = [
        vec![Mix, Far(32_800), Mix, NewArray],
        vec![Mix, FarBack(32_800), Mix],
        vec![TryCatch(vec![Far(32_800), MaybeThrow], vec![Add(1)]), Mix],
        vec![If(0, vec![MaybeReturn, Far(32_800)], vec![Add(3)]), Mix, Far(20_000), NewArray],
        vec![Loop(2, vec![Add(1), MaybeThrow, FarBack(32_800)]), Mix],
        vec![MaybeReturn, Far(32_800), MaybeReturn, Far(25_000), Mix],
    ];
    let mut classes = Vec::new();
    for version in VERSIONS {
        for (index, body) in bodies.iter().enumerate() {
            let name = format!("Far{index}V{version}");
            // The largest that still assembles.
            let bytes = (0..400u16).find_map(|less| {
                let shorter: Vec<Statement> = body.iter().map(|statement| shorten(statement, less)).collect();
                class(&name, version, &shorter, Constructor::Straight, &[], false).ok()
            });
            classes.push((name, bytes.expect("one length fits")));
        }
    }
    classes
}

fn shorten(statement: &Statement, less: u16) -> Statement {
    use Statement::{Far, FarBack, If, Loop, TryCatch};
    let all = |body: &[Statement]| body.iter().map(|statement| shorten(statement, less)).collect();
    match statement {
        Far(bytes) => Far(bytes - less),
        FarBack(bytes) => FarBack(bytes - less),
        TryCatch(body, caught) => TryCatch(all(body), caught.clone()),
        Loop(count, body) => Loop(*count, all(body)),
        If(condition, then, otherwise) => If(*condition, all(then), all(otherwise)),
        other => other.clone(),
    }
}

/// Runs the classes before and after; what the JVM prints must be equal.
fn compare_in_a_jvm(classes: &[(String, Vec<u8>)], form: Transforms) -> Seen {
    let mut seen = Seen::default();
    let rewritten: Vec<(String, Vec<u8>)> = classes
        .iter()
        .map(|(name, bytes)| {
            seen += rewrite_and_check(bytes, form).unwrap_or_else(|fault| panic!("{name}: {fault}"));
            let (outcome, out, _) = rewrite(bytes, form);
            (name.clone(), if outcome == Outcome::Rewritten { out } else { bytes.clone() })
        })
        .collect();
    compare_runs(classes, &rewritten);
    seen
}

fn compare_runs(classes: &[(String, Vec<u8>)], rewritten: &[(String, Vec<u8>)]) {
    if !jvm::available() {
        println!("not run: no JDK");
        return;
    }
    let (before, after) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let expected = jvm::run(before.path(), classes, false);
    for (name, _) in classes {
        assert!(expected.contains(&format!("{name} links")), "the original {name} does not link: {expected}");
    }
    let actual = jvm::run(after.path(), rewritten, true);
    for (expected, actual) in expected.lines().zip(actual.lines()) {
        assert_eq!(expected, actual);
    }
    assert_eq!(expected.lines().count(), actual.lines().count(), "{actual}");
}

#[test]
fn generated_programs_run_as_before() {
    let seen = compare_in_a_jvm(&sample(150, "P"), BOTH);
    println!("{seen:?}");
    let counts =
        [seen.exits, seen.supers, seen.landings, seen.unwinds, seen.arrays, seen.objects, seen.frames];
    assert!(counts.iter().all(|count| *count > 0), "{seen:?}");
    assert!(seen.thrown_away > 0 && seen.split_rows > 0 && seen.type_annotations > 0, "{seen:?}");
}

/// Names and bytes.
type Classes = Vec<(String, Vec<u8>)>;

/// Classes whose `run` has a code region somewhere, as they were and rewritten. A region that is refused is tried
/// elsewhere.
fn with_regions(form: Transforms) -> (Classes, Classes) {
    let mut runner = TestRunner::deterministic();
    let strategy = (statements(), constructors(), 0..u32::MAX);
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for round in 0..400 {
        let (body, constructor, mut random) = strategy.new_tree(&mut runner).unwrap().current();
        let name = format!("R{round}");
        let version = VERSIONS[round % VERSIONS.len()];
        let Ok(bytes) = class(&name, version, &body, constructor, &[], false) else { continue };
        for _ in 0..8 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (first, more) = (11 + (random >> 16) % 24, (random >> 24) % 12);
            let region = Region::parse(&format!("{name}:{first}-{}", first + more)).unwrap();
            let mut rewriter = ClassRewriter::with_regions(form, [region].into());
            let mut out = Vec::new();
            rewriter.rewrite(&bytes, |method| Choice::Rewrite(method.index.into()), &mut out).unwrap();
            if let [RegionReport { outcome: Ok(_), .. }] = rewriter.region_reports() {
                before.push((name.clone(), bytes));
                after.push((name, out));
                break;
            }
        }
    }
    (before, after)
}

#[test]
fn regions_are_left_as_often_as_they_are_entered() {
    for form in [Transforms::NONE, MOST] {
        let (before, after) = with_regions(form);
        assert!(before.len() > 200, "only {} regions were accepted", before.len());
        assert!(before.iter().zip(&after).all(|(before, after)| before != after));
        compare_runs(&before, &after);
    }
}

/// A code region begins at a `new` that a branch leads to, and the new object lives across a branch: what stands for
/// the `new` itself (its type annotation, Uninitialized in a frame) is behind what is inserted in front of it, what
/// stands for the way there (its frame) is not.
#[test]
fn tables_follow_an_instruction_that_a_region_begins_at() {
    const NAME: &str = "BeginsAtNew";
    let mut class = ClassBuilder::new(NAME, 52);
    let object = class.class("java/lang/Object");
    let init = class.method_ref("java/lang/Object", "<init>", "()V");
    let mut body = Body::new(3, 1);
    let (new, join) = (body.label(), body.label());
    let start = body.here();
    body.op(&[0x1a]);
    body.branch(0x99, new);
    body.op(&[0x84, 0, 1]);
    body.place(new);
    body.op2(op::NEW, object);
    body.op(&[op::DUP]);
    body.op(&[0x1a]);
    body.branch(0x99, join);
    body.op(&[0]);
    body.place(join);
    body.op2(op::INVOKESPECIAL, init);
    body.op(&[0x57]);
    let end = body.here();
    body.op(&[0x1a]);
    body.op(&[0xac]);
    body.lines.extend([(start, 1), (new, 2), (end, 3)]);
    body.frame(new, &[INT], &[]);
    body.frame(join, &[INT], &[Type::Uninitialized(new), Type::Uninitialized(new)]);
    body.annotations.push(Target::Offset(0x44, new));
    class.method(9, "run", "(I)I", &body).unwrap();
    let old = class.build();

    for form in [Transforms::NONE, MOST] {
        let region = Region::parse(&format!("{NAME}:2")).unwrap();
        let mut rewriter = ClassRewriter::with_regions(form, [region].into());
        let mut out = Vec::new();
        rewriter.rewrite(&old, |method| Choice::Rewrite(method.index.into()), &mut out).unwrap();
        let reports = rewriter.region_reports();
        assert!(matches!(reports, [RegionReport { outcome: Ok(_), .. }]), "{reports:?}");
        let class = Class::parse(&out).unwrap();
        let rewritten = Body::disassemble(&class, 0).unwrap();
        let at = rewritten.items.iter().position(|i| matches!(i, Item::Op(b) if b[0] == op::NEW)).unwrap();
        let Item::Label(label) = rewritten.items[at - 1] else { panic!("no label in front of the new") };
        assert!(matches!(rewritten.annotations[..], [Target::Offset(0x44, new)] if new == label));
        let uninitialized = [Type::Uninitialized(label); 2];
        assert!(
            rewritten.frames.iter().any(|frame| frame.2.starts_with(&uninitialized)),
            "{:?}",
            rewritten.frames
        );
        // The branch leads to the frame, and both to what is inserted: a number and the call.
        let branched = rewritten.items.iter().find_map(|item| match item {
            Item::Branch(0x99, label) => Some(*label),
            _ => None,
        });
        let inserted =
            rewritten.items.iter().position(|item| Some(item) == branched.map(Item::Label).as_ref()).unwrap();
        assert!(matches!(&rewritten.items[inserted + 3], Item::Op(call) if call[0] == op::INVOKESTATIC));
        assert_eq!(inserted + 5, at, "{:?}", rewritten.items);
        assert!(rewritten.frames.iter().any(|frame| Some(frame.0) == branched && frame.2.is_empty()));
        compare_runs(&[(NAME.to_owned(), old.clone())], &[(NAME.to_owned(), out)]);
    }
}

/// A subroutine that two bytes just reach, until something is inserted: forward, and backward.
#[test]
fn widened_subroutine_calls_run_as_before() {
    let mut classes = Vec::new();
    for (version, backward) in [(45, false), (49, false), (49, true)] {
        let name = format!("Subroutine{version}{backward}");
        let mut class = ClassBuilder::new(&name, version);
        let mut body = Body::new(2, 2);
        let (subroutine, main) = (body.label(), body.label());
        let called = |body: &mut Body| {
            body.place(subroutine);
            body.op(&[0x4c]);
            body.op(&[0x84, 0, 7]);
            body.op(&[0xa9, 1]);
        };
        if backward {
            body.branch(op::GOTO_W, main);
            called(&mut body);
            // What returns here gets longer by an exit call.
            body.op(&[0x1a]);
            body.op(&[0xac]);
            (0..32_758).for_each(|_| body.op(&[0]));
        }
        body.place(main);
        body.branch(op::JSR, subroutine);
        body.op(&[0x1a]);
        body.op(&[0xac]);
        if !backward {
            (0..32_761).for_each(|_| body.op(&[0]));
            called(&mut body);
        }
        class.method(9, "run", "(I)I", &body).unwrap();
        classes.push((name, class.build()));
    }
    let seen = compare_in_a_jvm(&classes, FORMS[0]);
    assert_eq!(seen.widened, 3, "{seen:?}");
}

#[test]
fn far_branches_run_as_before() {
    let seen = compare_in_a_jvm(&far_sample(), BOTH);
    println!("{seen:?}");
    assert!(seen.trampolines >= 20, "{seen:?}");
}

/// A conditional branch too far to reach, and the only place for its trampoline inside a range whose handler
/// knows more locals than the branch's target.
fn trampoline_in_a_range(name: &str, version: u16) -> Vec<u8> {
    let mut class = ClassBuilder::new(name, version);
    let throwable = Type::Object(class.class("java/lang/Throwable"));
    let mut body = Body::new(3, 2);
    let (far, inside, handler) = (body.label(), body.label(), body.label());
    body.op(&[0x1a]);
    body.branch(0x99, far);
    body.op(&[0x04]);
    body.op(&[0x3c]);
    let start = body.here();
    body.op(&[0x1a]);
    body.branch(0x9a, inside);
    body.op(&[0x1b]);
    body.op(&[0xac]);
    body.place(inside);
    (0..32_747).for_each(|_| body.op(&[0]));
    body.op(&[0x04]);
    body.op(&[0x1a]);
    body.op(&[0x05]);
    body.op(&[0x64]);
    body.op(&[0x6c]);
    body.op(&[0xac]);
    let end = body.here();
    body.rows.push((start, end, handler, 0));
    body.place(handler);
    body.op(&[0x57]);
    body.op(&[0x1b]);
    body.op(&[0xac]);
    body.place(far);
    body.op(&[0x02]);
    body.op(&[0xac]);
    if version >= 50 {
        body.frame(inside, &[INT, INT], &[]);
        body.frame(handler, &[INT, INT], &[throwable]);
        body.frame(far, &[INT], &[]);
    }
    class.method(9, "run", "(I)I", &body).unwrap();
    class.build()
}

/// A method with a trampoline, and a branch to a return: its frame describes what is inserted in front of the return.
fn trampoline_and_a_branch_to_a_return(name: &str, version: u16) -> Vec<u8> {
    let mut class = ClassBuilder::new(name, version);
    let mut body = Body::new(2, 1);
    let (far, inside, returned) = (body.label(), body.label(), body.label());
    body.op(&[0x1a]);
    body.branch(0x99, far);
    body.op(&[0x1a]);
    body.branch(0x9a, inside);
    body.op(&[0x1a]);
    body.op(&[0x1a]);
    body.branch(0x9b, returned);
    body.op(&[0x57]);
    body.op(&[0x04]);
    body.place(returned);
    body.op(&[0xac]);
    body.place(inside);
    (0..32_745).for_each(|_| body.op(&[0]));
    body.op(&[0x1a]);
    body.op(&[0xac]);
    body.place(far);
    body.op(&[0x02]);
    body.op(&[0xac]);
    if version >= 50 {
        body.frame(returned, &[INT], &[INT]);
        body.frame(inside, &[INT], &[]);
        body.frame(far, &[INT], &[]);
    }
    class.method(9, "run", "(I)I", &body).unwrap();
    class.build()
}

/// As the one in a range, in a constructor: the trampoline's target has `this` uninitialised, the code around it has
/// not.
fn trampoline_before_super(name: &str, version: u16) -> Vec<u8> {
    let mut class = ClassBuilder::new(name, version);
    let this = Type::Object(class.class(name));
    let super_init = class.method_ref("java/lang/Object", "<init>", "()V");
    let mut body = Body::new(2, 2);
    let (far, inside, after) = (body.label(), body.label(), body.label());
    body.op(&[0x1b]);
    body.branch(0x99, far);
    body.op(&[0x2a]);
    body.op2(op::INVOKESPECIAL, super_init);
    body.op(&[0x1b]);
    body.branch(0x9a, inside);
    body.branch(op::GOTO, after);
    body.place(inside);
    (0..32_747).for_each(|_| body.op(&[0]));
    body.place(after);
    body.op(&[0]);
    body.op(&[0xb1]);
    body.place(far);
    body.op(&[0x2a]);
    body.op2(op::INVOKESPECIAL, super_init);
    body.op(&[0xb1]);
    if version >= 50 {
        body.frame(inside, &[this, INT], &[]);
        body.frame(after, &[this, INT], &[]);
        body.frame(far, &[UNINITIALIZED_THIS, INT], &[]);
    }
    class.method(1, "<init>", "(I)V", &body).unwrap();
    let init = class.method_ref(name, "<init>", "(I)V");
    let mut run = Body::new(3, 1);
    let class_entry = class.class(name);
    run.op2(op::NEW, class_entry);
    run.op(&[0x1a]);
    run.op2(op::INVOKESPECIAL, init);
    run.op(&[0x1a]);
    run.op(&[0xac]);
    class.method(9, "run", "(I)I", &run).unwrap();
    class.build()
}

#[test]
fn trampolines_lie_outside_of_ranges() {
    let mut classes = Vec::new();
    for version in VERSIONS {
        let name = format!("InRange{version}");
        classes.push((name.clone(), trampoline_in_a_range(&name, version)));
        let name = format!("ToReturn{version}");
        classes.push((name.clone(), trampoline_and_a_branch_to_a_return(&name, version)));
        let name = format!("BeforeSuper{version}");
        classes.push((name.clone(), trampoline_before_super(&name, version)));
    }
    // These classes start nothing.
    for form in FORMS.into_iter().filter(|form| form.method_events || form.allocation) {
        let seen = compare_in_a_jvm(&classes, form);
        let expected = if form.method_events { 3 * VERSIONS.len() as u64 } else { 0 };
        assert_eq!(seen.trampolines, expected, "{seen:?}");
    }
}

/// Branches from one place to targets of their own, forward and back, with one place for all trampolines.
fn trampolines_side_by_side(name: &str, version: u16) -> Vec<u8> {
    let mut class = ClassBuilder::new(name, version);
    let mut body = Body::new(2, 2);
    let (first, back, inside) = (body.label(), body.label(), body.label());
    let far: Vec<usize> = (0..4).map(|_| body.label()).collect();
    body.op(&[0x03]);
    body.op(&[0x3c]);
    body.branch(op::GOTO, first);
    // Reached from far behind, at most once.
    body.place(back);
    body.op(&[0x84, 1, 1]);
    body.place(first);
    for (value, label) in far.iter().enumerate() {
        body.op(&[0x1a]);
        body.op(&[0x03 + value as u8]);
        body.branch(0x9f, *label);
    }
    body.op(&[0x1a]);
    body.branch(0x9b, inside);
    body.op(&[0x1b]);
    body.op(&[0xac]);
    body.place(inside);
    for _ in 0..8 {
        body.op(&[0x03]);
        body.op(&[op::NEWARRAY, 10]);
        body.op(&[0x57]);
    }
    // The last branch back just reaches, and none will behind the probes of the arrays.
    (0..32_680).for_each(|_| body.op(&[0]));
    body.op(&[0x02]);
    body.op(&[0xac]);
    for (value, label) in far.iter().enumerate() {
        body.place(*label);
        body.op(&[0x1b]);
        body.branch(0x99, back);
        body.op(&[0x10, 40 + value as u8]);
        body.op(&[0xac]);
    }
    if version >= 50 {
        for label in far.into_iter().chain([first, back, inside]) {
            body.frame(label, &[INT, INT], &[]);
        }
    }
    class.method(9, "run", "(I)I", &body).unwrap();
    class.build()
}

#[test]
fn several_trampolines_share_a_place() {
    let name = |version: &u16| format!("Side{version}");
    let classes: Vec<_> =
        VERSIONS.iter().map(|v| (name(v), trampolines_side_by_side(&name(v), *v))).collect();
    let seen = compare_in_a_jvm(&classes, BOTH);
    assert!(seen.trampolines >= 6 * VERSIONS.len() as u64, "{seen:?}");
}

/// A handler behind the method for code in front of `super()`.
#[test]
fn a_handler_for_code_before_super_is_not_covered() {
    for version in VERSIONS {
        let bytes = class("P", version, &[], Constructor::CaughtBefore, &[], false).unwrap();
        let seen = check_all(&bytes).unwrap();
        assert_eq!((seen.supers, seen.unfollowed), (6, 0), "{seen:?}");
    }
}
