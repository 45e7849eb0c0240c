//! Values that were not there when a baseline was learned: the text of a statement, an address, a file.
//!
//! A method that is new is no finding, and what it calls more often is. A value calls nothing, so a new one would never
//! be found; but that a text differs is no growth. A new value was there 0 times if its caller has more values of this
//! kind than before, and the program has.

use std::collections::{BTreeMap, BTreeSet};

use instrument_names::signature::value_kind;

use super::baseline::Baseline;
use super::run::Run;

/// The new values of a run that are judged.
pub(super) fn judged<'r>(baseline: &Baseline, run: &'r Run) -> BTreeSet<&'r str> {
    let is_new = |name: &str| !baseline.methods.contains_key(name);
    if !run.names.iter().any(|name| value_kind(name).is_some() && is_new(name)) {
        return BTreeSet::new();
    }
    let mut of_program: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for (name, method) in &baseline.methods {
        if let Some(kind) = value_kind(name) {
            of_program.entry(kind).or_default()[0] += method.ranges[0].max;
        }
    }
    // By kind and caller.
    let mut of_callers: BTreeMap<(&str, &str), [u64; 2]> = BTreeMap::new();
    for context in baseline.contexts.iter().skip(1) {
        if let Some(kind) = value_kind(&context.name) {
            let caller = baseline.contexts[context.parent].name.as_str();
            of_callers.entry((kind, caller)).or_default()[0] += context.ranges[0].max;
        }
    }
    // The nearest one that was there: a new method in between makes no difference.
    let caller = |node: usize| {
        let mut above = run.chain(node).skip(1).map(|at| run.name(at));
        above.find(|name| !is_new(name)).unwrap_or_default()
    };
    let values: Vec<(&str, usize)> =
        (1..run.nodes.len()).filter_map(|node| Some((value_kind(run.name(node))?, node))).collect();
    for &(kind, node) in &values {
        let calls = run.nodes[node].figures[0];
        of_program.entry(kind).or_default()[1] += calls;
        of_callers.entry((kind, caller(node))).or_default()[1] += calls;
    }
    // Where deeper contexts are not in the baseline, callers had these at least: who has no more than that did not
    // grow.
    let grew = |[before, now]: [u64; 2]| now > before;
    let is_judged = |&&(kind, node): &&(&str, usize)| {
        is_new(run.name(node)) && grew(of_program[kind]) && grew(of_callers[&(kind, caller(node))])
    };
    values.iter().filter(is_judged).map(|&(_, node)| run.name(node)).collect()
}

#[cfg(test)]
mod tests;
