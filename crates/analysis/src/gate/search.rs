//! One run beside a baseline, context by context: what was there before, and what grew.

use std::collections::{BTreeMap, BTreeSet};

use super::baseline::{Baseline, Context};
use super::figure::{Figure, Range};
use super::ordering::Ordering;
use super::run::{Run, is_method};
use crate::hash::HashMap;

/// The methods' figures that grew, with what they were and are.
pub(super) type Grown = BTreeMap<(String, Figure), (u64, Range)>;

/// Where a context of a run is in the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Was {
    Here(usize),
    /// It was not there.
    Nowhere,
    /// It was left out, or lies below what moves.
    Unknown,
}

/// Looks for the contexts in which something grew.
pub(super) struct Search<'a> {
    baseline: &'a Baseline,
    /// Of each context of the baseline, the index behind the last one below it.
    ends: Vec<usize>,
    /// Whether nothing is missing below it.
    whole: Vec<bool>,
    pub(super) run: &'a Run,
    was: Vec<Was>,
    pub(super) grown: Grown,
    /// Contexts that never moved, of methods that do, and grew.
    alone: BTreeSet<(usize, Figure)>,
    /// Whether a context is judged.
    pub(super) settled: Vec<bool>,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        baseline: &'a Baseline,
        run: &'a Run,
        settled: Vec<bool>,
        others: &[Run],
        grown: Grown,
    ) -> Search<'a> {
        let contexts = &baseline.contexts;
        let mut ends: Vec<usize> = (1..=contexts.len()).collect();
        let mut levels = vec![0usize; contexts.len()];
        for i in 1..contexts.len() {
            levels[i] = levels[contexts[i].parent] + 1;
        }
        let mut whole: Vec<bool> = (0..contexts.len())
            .map(|i| !moves(baseline, i) && baseline.levels.is_none_or(|deepest| levels[i] < deepest))
            .collect();
        for i in (1..contexts.len()).rev() {
            let parent = contexts[i].parent;
            ends[parent] = ends[parent].max(ends[i]);
            whole[parent] &= whole[i];
        }
        let places = baseline.places();
        let mut was = vec![if contexts.is_empty() { Was::Unknown } else { Was::Here(0) }];
        for (i, node) in run.nodes.iter().enumerate().skip(1) {
            was.push(match was[node.parent] {
                Was::Here(parent) => match places.get(&(parent, run.name(i))) {
                    Some(&place) => Was::Here(place),
                    None if moves(baseline, parent) => Was::Unknown,
                    None if baseline.levels.is_some_and(|deepest| levels[parent] >= deepest) => Was::Unknown,
                    None => Was::Nowhere,
                },
                above => above,
            });
        }
        let mut search = Search { baseline, ends, whole, run, was, grown, alone: BTreeSet::new(), settled };
        search.judge_alone(others);
        search
    }

    /// Contexts of methods that move as a whole.
    fn judge_alone(&mut self, others: &[Run]) {
        let mut candidates = Vec::new();
        let ordering = Ordering::of(self.run);
        for i in (1..self.run.nodes.len()).filter(|&i| is_method(self.run.name(i))) {
            let Some(method) = self.baseline.methods.get(self.run.name(i)) else { continue };
            for figure in Figure::ALL {
                let range = method.ranges[figure as usize];
                let more = self.more(i, figure).unwrap_or(0);
                let moved = range.max - range.min + ordering.margin(i, figure);
                if range.value().is_none() && more > moved {
                    candidates.push((i, figure, moved));
                }
            }
        }
        if candidates.is_empty() {
            return;
        }
        let indices: Vec<_> = others.iter().map(children).collect();
        candidates.retain(|&(i, figure, moved)| {
            let before = self.before(i, figure).unwrap_or(u64::MAX);
            let path = self.run.path(i);
            others.iter().zip(&indices).all(|(other, children)| {
                let place = path.iter().try_fold(0, |at, name| children.get(&(at, name.as_str())).copied());
                let now = place.map_or(0, |place| other.nodes[place].figures[figure as usize]);
                now.saturating_sub(before) > moved
            })
        });
        self.alone = candidates.into_iter().map(|(i, figure, _)| (i, figure)).collect();
    }

    /// The calls and other figures of a context before, if that is known.
    pub(super) fn before(&self, node: usize, figure: Figure) -> Option<u64> {
        match self.was[node] {
            Was::Here(0) => None,
            Was::Here(place) => self.baseline.contexts[place].ranges[figure as usize].value(),
            Was::Nowhere => Some(0),
            Was::Unknown => None,
        }
    }

    pub(super) fn now(&self, node: usize, figure: Figure) -> u64 {
        self.run.nodes[node].figures[figure as usize]
    }

    /// By how much a figure of a context grew, if it is known to have grown.
    pub(super) fn more(&self, node: usize, figure: Figure) -> Option<u64> {
        self.now(node, figure).checked_sub(self.before(node, figure)?).filter(|&more| more > 0)
    }

    /// Whether a context was called as often before.
    pub(super) fn is_as_before(&self, node: usize) -> bool {
        self.before(node, Figure::Calls) == Some(self.now(node, Figure::Calls))
    }

    pub(super) fn grew(&self, node: usize, figure: Figure) -> bool {
        let key = (self.run.name(node).to_owned(), figure);
        self.more(node, figure).is_some()
            && (self.grown.contains_key(&key) || self.alone.contains(&(node, figure)))
    }

    /// By how much more often a method is called directly by this one, wherever; none: of some contexts it is not known
    /// how it was.
    pub(super) fn more_of_caller(&self, caller: &str, method: &str) -> Option<u64> {
        let contexts = &self.baseline.contexts;
        let is_whole = self.whole.first().is_some_and(|whole| *whole);
        let of_caller =
            |context: &&Context| context.name == method && contexts[context.parent].name == caller;
        let before = contexts.iter().skip(1).filter(of_caller).map(|context| context.ranges[0].value());
        let before: u64 = before.sum::<Option<u64>>().filter(|_| is_whole)?;
        let is_called =
            |&i: &usize| self.run.name(i) == method && self.run.name(self.run.nodes[i].parent) == caller;
        let now =
            (1..self.run.nodes.len()).filter(is_called).map(|i| self.now(i, Figure::Calls)).sum::<u64>();
        Some(now.saturating_sub(before))
    }

    /// The figure of a method below a context before, if all of it is known.
    pub(super) fn before_below(&self, node: usize, method: &str, figure: Figure) -> Option<u64> {
        let place = match self.was[node] {
            Was::Here(place) if self.whole[place] => place,
            Was::Nowhere => return Some(0),
            _ => return None,
        };
        let below = self.baseline.contexts[place + 1..self.ends[place]].iter();
        below.filter(|c| c.name == method).map(|c| c.ranges[figure as usize].value()).sum()
    }
}

/// Whether what lies below a context moves with it.
fn moves(baseline: &Baseline, context: usize) -> bool {
    let context = &baseline.contexts[context];
    is_method(&context.name) && context.ranges[0].value().is_none()
}

/// Contexts of a run by their caller's index and their name.
fn children(run: &Run) -> HashMap<(usize, &str), usize> {
    run.nodes.iter().enumerate().skip(1).map(|(i, node)| ((node.parent, run.name(i)), i)).collect()
}

#[cfg(test)]
mod tests;
