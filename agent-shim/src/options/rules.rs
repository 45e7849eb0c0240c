//! Which options do not go together, and what goes only with another one.

use super::given::Given;
use instrument_control::keys;
use instrument_control::latency::Kept;
use instrument_control::rules::{self, Spelling};
use instrument_control::word::{LibraryCalls, Record, Transform};
use instrument_rewriter::rewrite::Transforms;

/// # Errors
/// The first rule that is broken, in one sentence.
pub(super) fn check(given: &Given, transforms: Transforms, has_heap: bool) -> Result<(), String> {
    let text = |reason: &str| reason.to_owned();
    first([
        (
            given.heap_all && given.early,
            text(
                "heap-all=on: the virtual machine reports objects from when it is initialised on; leave out early=on",
            ),
        ),
        (
            given.armed && given.early,
            text("early=on is about the start of the program, and armed records nothing then: one of them"),
        ),
        (
            given.probes.is_some() && (given.early || given.armed || given.subgraph),
            text(
                "probes: classes are given calls of your methods as they load, once those can be called; leave out early=on, armed=on \
                 and subgraph=on",
            ),
        ),
    ])?;
    let about_calls = rules::Given {
        transforms: &Transform::list(transforms),
        record: given.record,
        library_calls: given.library_calls,
        native: given.native,
        wraps: false,
    };
    about_calls.check(Spelling::Agent)?;
    if given.native && transforms.bytecodes {
        return Err(text(
            "native=on and transform=bytecodes exclude each other: the wrappers' own instructions would count",
        ));
    }
    of_samples(given, transforms, has_heap)?;
    of_subgraph(given, transforms, has_heap)?;
    Kept::check(&given.latency, given.record, transforms.method_events)
        .map_err(|error| format!("{}: {error}", keys::LATENCY))?;
    match given.untouched.iter().find(|pattern| pattern.contains(['#', '('])) {
        Some(pattern) => Err(format!("no-rewrite={pattern}: it names a method, and whole classes are left")),
        None => Ok(()),
    }
}

fn first<const N: usize>(rules: [(bool, String); N]) -> Result<(), String> {
    match rules.into_iter().find(|(is_broken, _)| *is_broken) {
        Some((_, reason)) => Err(reason),
        None => Ok(()),
    }
}

fn of_samples(given: &Given, transforms: Transforms, has_heap: bool) -> Result<(), String> {
    if given.record != Record::Samples {
        return Ok(());
    }
    let refused = [
        (keys::HEAP, has_heap),
        (keys::ROOT, !given.roots.is_empty()),
        (keys::SUBGRAPH, given.subgraph),
        (keys::TRANSFORM, transforms != Transform::set(&[])),
        (keys::LIBRARY_CALLS, given.library_calls != LibraryCalls::None),
        (keys::NATIVE, given.native),
        (keys::REGION, !given.regions.is_empty()),
        (keys::PROBES, given.probes.is_some()),
        (keys::SUBCLASSES, given.subclasses.is_some()),
        (keys::IDS, given.ids.is_some()),
        (keys::ACCOUNT, given.report.is_some()),
        (keys::DUMP, given.dump.is_some()),
        (keys::NO_REWRITE, !given.untouched.is_empty()),
        (keys::EARLY, given.early),
        (keys::THREADS, given.threads),
    ];
    first(refused.map(|(key, is_given)| {
        let reason = format!(
            "record=samples rewrites nothing and records nothing but samples of stacks: leave out {key}, or record=samples"
        );
        (is_given, reason)
    }))
}

fn of_subgraph(given: &Given, transforms: Transforms, has_heap: bool) -> Result<(), String> {
    if !given.subgraph {
        return Ok(());
    }
    let does_more = has_heap
        || transforms.rmi
        || transforms.has_requests()
        || !given.regions.is_empty()
        || given.early
        || given.native
        || given.library_calls != LibraryCalls::None;
    first([
        (given.record == Record::Trace, "subgraph=on does not go with record=trace".to_owned()),
        (
            does_more,
            "subgraph=on rewrites only what the roots can call: it does not go with heap, transform=rmi, transform=remote-http, \
             transform=remote-grpc, transform=remote-jms, region, early, native and library-calls"
                .to_owned(),
        ),
    ])
}
