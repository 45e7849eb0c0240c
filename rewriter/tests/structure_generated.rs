//! The structural oracle over generated programs, and the same programs in a real JVM: before and after, they
//! link, and print the same results.

mod structural;

use instrument_rewriter::rewrite::{MethodEvent, Outcome, SkipReason, Transforms};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use structural::assembler::{Body, ClassBuilder, INT, Type};
use structural::listing::op;
use structural::oracle::Seen;
use structural::programs::{Constructor, Statement, class, constructors, statements};
use structural::{FORMS, jvm, rewrite, rewrite_and_check};

/// One version of each kind: no frames and `jsr`; frames that may fail over; frames.
const VERSIONS: [u16; 5] = [45, 49, 50, 52, 61];
const BOTH: Transforms = Transforms { method_events: true, allocation: true };

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
    #![proptest_config(Config { cases: 192, failure_persistence: None, ..Config::default() })]

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
    #![proptest_config(Config { cases: 24, failure_persistence: None, ..Config::default() })]

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
        vec![Mix, Far(32_764), Mix, NewArray],
        vec![Mix, FarBack(32_700), Mix],
        vec![TryCatch(vec![Far(32_760), MaybeThrow], vec![Add(1)]), Mix],
        vec![If(0, vec![MaybeReturn, Far(32_700)], vec![Add(3)]), Mix, Far(20_000), NewArray],
        vec![Loop(2, vec![Add(1), MaybeThrow, FarBack(32_650)]), Mix],
        vec![MaybeReturn, Far(32_764), MaybeReturn, Far(25_000), Mix],
    ];
    let mut classes = Vec::new();
    for version in VERSIONS {
        for (index, body) in bodies.iter().enumerate() {
            let name = format!("Far{index}V{version}");
            // The largest that still assembles.
            let bytes = (0..200u16).find_map(|less| {
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
    if !jvm::available() {
        println!("not run: no JDK");
        return seen;
    }
    let (before, after) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let expected = jvm::run(before.path(), classes, false);
    for (name, _) in classes {
        assert!(expected.contains(&format!("{name} links")), "the original {name} does not link: {expected}");
    }
    let actual = jvm::run(after.path(), &rewritten, form.method_events);
    for (expected, actual) in expected.lines().zip(actual.lines()) {
        assert_eq!(expected, actual);
    }
    assert_eq!(expected.lines().count(), actual.lines().count(), "{actual}");
    seen
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

#[test]
fn far_branches_run_as_before() {
    let seen = compare_in_a_jvm(&far_sample(), BOTH);
    println!("{seen:?}");
    assert!(seen.trampolines >= 20, "{seen:?}");
}
