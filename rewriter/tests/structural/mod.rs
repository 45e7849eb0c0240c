//! What the structural tests share: a second reading of the class file format, written without a look at the
//! rewriter's, so that a mistake would have to be made twice.
//!
//! | module | what it is responsible for |
//! |---|---|
//! | `model` | class files as owned structures, both ways |
//! | `listing` | instructions: lengths, targets, stack effects |
//! | `flow` | which object a constructor call initialises, by running every path |
//! | `tables` | frames in absolute form, type annotations |
//! | `oracle` | is a rewritten class the original plus exactly what was to be inserted? |
//! | `assembler` | classes from labels, and back: generated programs and seeded faults |
//! | `programs` | random verifiable programs |
//! | `corpus` | classes of the JDK and of jars on this machine |
//! | `jvm` | linking and running classes in a real JVM |

#![allow(dead_code, reason = "each test uses its part")]

pub(crate) mod assembler;
pub(crate) mod corpus;
pub(crate) mod flow;
pub(crate) mod jvm;
pub(crate) mod listing;
pub(crate) mod model;
pub(crate) mod oracle;
pub(crate) mod programs;
pub(crate) mod tables;

use instrument_rewriter::rewrite::{Choice, ClassRewriter, MethodEvent, MethodReport, Outcome, Transforms};

/// All but what is looked at on real machines: what `bytecodes`, `lines`, `values`, `given_tasks`, `references`,
/// `streams`, `reflection`, `remote-http`, `remote-grpc` and `remote-jms` insert is compared with what a JVM executes; `rmi` and `parks` insert into
/// a few classes of the JDK.
pub(crate) const MOST: Transforms = Transforms {
    rmi: false,
    jdbc: false,
    remote_http: false,
    remote_grpc: false,
    remote_jms: false,
    given_tasks: false,
    references: false,
    streams: false,
    http: false,
    files: false,
    parks: false,
    bytecodes: false,
    lines: false,
    reflection: false,
    ..Transforms::ALL
};

/// The forms in which every class is checked.
pub(crate) const FORMS: [Transforms; 5] = [
    Transforms { method_events: true, ..Transforms::NONE },
    Transforms { allocation: true, ..Transforms::NONE },
    MOST,
    Transforms { thread_links: true, hand_over: true, ..Transforms::NONE },
    Transforms { array_allocation: true, object_init: true, ..Transforms::NONE },
];

/// A method id for the method at `index`: every way to push one occurs.
pub(crate) fn id_of(index: usize) -> u32 {
    const IDS: [u32; 9] = [0, 5, 6, 127, 128, 32_767, 32_768, 1_000_003, 40_000_000];
    IDS[index % IDS.len()] + if index % IDS.len() >= 6 { index as u32 } else { 0 }
}

/// Rewrites one class, every method.
pub(crate) fn rewrite(class: &[u8], form: Transforms) -> (Outcome, Vec<u8>, Vec<MethodReport>) {
    let mut rewriter = ClassRewriter::new(form);
    let mut out = Vec::new();
    let outcome = rewriter
        .rewrite(class, |method| Choice::Rewrite(id_of(usize::from(method.index))), &mut out)
        .unwrap_or_else(|error| panic!("{error}"));
    (outcome, out, rewriter.reports().to_vec())
}

/// Rewrites and checks one class; what the oracle saw, or what is wrong.
pub(crate) fn rewrite_and_check(class: &[u8], form: Transforms) -> Result<oracle::Seen, String> {
    let (outcome, out, reports) = rewrite(class, form);
    check_outcome(class, form, outcome, &out, &reports)
}

/// As [`rewrite_and_check`] for a class that was rewritten already.
pub(crate) fn check_outcome(
    class: &[u8],
    form: Transforms,
    outcome: Outcome,
    out: &[u8],
    reports: &[MethodReport],
) -> Result<oracle::Seen, String> {
    let skipped = |index: usize| {
        reports.iter().any(|r| usize::from(r.index) == index && matches!(r.event, MethodEvent::Skipped(_)))
    };
    match outcome {
        Outcome::Rewritten => oracle::check(class, out, form, &id_of, &skipped),
        // Then the class itself must be what it would have become.
        Outcome::Unchanged => oracle::check(class, class, form, &id_of, &skipped),
        Outcome::Skipped(_) => Ok(oracle::Seen::default()),
    }
}
