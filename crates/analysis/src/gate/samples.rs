//! Runs of a few contexts, and what is learned and said of them, for tests.

use instrument_names::signature::value_kind;

use super::conditions::Conditions;
use super::outcome::{Finding, Outcome};
use super::print::{Format, write};
use super::run::{Run, is_method};
use super::{Baseline, check};
use crate::model::{Arcflow, Kind, Resource};

/// Paths of methods, ` > ` between them, with calls and allocations.
pub(super) type Contexts<'a> = [(&'a str, u64, u64)];

/// A run of these contexts; figures are in no thread but `main`. A method without a descriptor gets `()V`, and a value
/// none.
pub(super) fn run(contexts: &Contexts) -> Run {
    run_in_threads(&[("main", contexts)])
}

/// The same where each thread has contexts of its own.
pub(super) fn run_in_threads(threads: &[(&str, &Contexts)]) -> Run {
    let allocations = Resource { name: "allocations".into(), unit: String::new() };
    let mut model = Arcflow::new(vec![allocations]);
    for (thread, contexts) in threads {
        let thread = model.consumer(thread);
        let thread = model.child(Arcflow::ROOT, Kind::Thread, thread);
        for (path, calls, made) in *contexts {
            let mut at = thread;
            for name in path.split(" > ") {
                let kind = if is_method(name) { Kind::Method } else { Kind::Link };
                let is_short = is_method(name) && !name.contains('(') && value_kind(name).is_none();
                let name = if is_short { format!("{name}()V") } else { name.to_owned() };
                let consumer = model.consumer(&name);
                at = model.child(at, kind, consumer);
            }
            model.meet(at, *calls);
            model.base_mut(at)[0] += *made as f64;
        }
    }
    let conditions = Conditions { record: "tree".into(), java: "17".into(), selection: String::new() };
    Run::new("run".into(), conditions, &model).unwrap()
}

pub(super) const ORDERS: [(&str, u64, u64); 6] = [
    ("a.Main.main", 1, 0),
    ("a.Main.main > a.OrderService.list", 1, 0),
    ("a.Main.main > a.OrderService.list > a.Connection.prepareStatement", 1, 1),
    ("a.Main.main > a.OrderService.list > a.Connection.prepareStatement > a.Sql.parse", 1, 4),
    ("a.Main.main > a.OrderService.list > a.Item.price", 50, 0),
    ("a.Main.main > a.OrderService.list > a.Item.price > a.Money.of", 50, 50),
];

/// [`ORDERS`] with others added or in place of those of the same path.
pub(super) fn with<'a>(more: &Contexts<'a>) -> Vec<(&'a str, u64, u64)> {
    let mut contexts = ORDERS.to_vec();
    contexts.retain(|(path, ..)| more.iter().all(|(other, ..)| other != path));
    contexts.extend(more);
    contexts
}

/// What is learned from runs.
pub(super) fn learned(runs: &[&Contexts]) -> Baseline {
    let runs: Vec<_> = runs.iter().map(|contexts| run(contexts)).collect();
    let baseline = Baseline::learn(&runs, 1000).unwrap();
    for run in &runs {
        let outcome = check(Some(&baseline), &[], std::slice::from_ref(run));
        assert!(outcome.passes(), "what was learned passes: {outcome:?}");
    }
    baseline
}

/// What is found in a run after others were learned.
pub(super) fn found(before: &[&Contexts], after: &Contexts) -> Vec<Finding> {
    check(Some(&learned(before)), &[], &[run(after)]).findings
}

/// What is said of a run after others were learned.
pub(super) fn said(before: &[&Contexts], after: &Contexts) -> Vec<String> {
    let outcome = check(Some(&learned(before)), &[], &[run(after)]);
    printed(&outcome, Format::Text).lines().map(str::to_owned).collect()
}

pub(super) fn printed(outcome: &Outcome, format: Format) -> String {
    let mut text = Vec::new();
    write(&mut text, outcome, "app", format).unwrap();
    String::from_utf8(text).unwrap()
}
