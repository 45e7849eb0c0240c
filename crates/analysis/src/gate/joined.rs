//! Methods and contexts of several runs, joined by their names and paths.

use super::figure::{Ranges, fixed, widen};
use super::reason::Reason;
use super::run::Run;
use crate::hash::HashMap;

/// A method of a baseline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Method {
    /// Its figures.
    pub ranges: Ranges,
    /// Why some of them move, if they do.
    pub reason: Option<Reason>,
}

/// A context of a baseline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// Index of its caller's context, lower than its own; of the root 0.
    pub parent: usize,
    /// Name of its last part.
    pub name: String,
    /// Its figures.
    pub ranges: Ranges,
}

/// Contexts of several runs, joined by their paths.
#[derive(Debug, Default)]
pub(super) struct Joined {
    pub(super) contexts: Vec<Context>,
    pub(super) children: HashMap<(usize, String), usize>,
}

impl Joined {
    /// Joins runs; a context that a run does not have has figures of 0 there.
    pub(super) fn new(runs: &[Run]) -> Joined {
        let mut joined = Joined::default();
        joined.contexts.push(Context { parent: 0, name: String::new(), ranges: Ranges::default() });
        for (number, run) in runs.iter().enumerate() {
            let mut seen = vec![false; joined.contexts.len()];
            let mut places = Vec::with_capacity(run.nodes.len());
            places.push(0);
            for (i, node) in run.nodes.iter().enumerate().skip(1) {
                let key = (places[node.parent], run.name(i).to_owned());
                let next = joined.contexts.len();
                let place = *joined.children.entry(key).or_insert_with_key(|(parent, name)| {
                    let mut ranges = fixed(&node.figures);
                    if number > 0 {
                        widen(&mut ranges, &Ranges::default());
                    }
                    joined.contexts.push(Context { parent: *parent, name: name.clone(), ranges });
                    next
                });
                places.push(place);
                if place < seen.len() {
                    seen[place] = true;
                    widen(&mut joined.contexts[place].ranges, &fixed(&node.figures));
                }
            }
            for (context, _) in joined.contexts.iter_mut().zip(&seen).skip(1).filter(|(_, seen)| !**seen) {
                widen(&mut context.ranges, &Ranges::default());
            }
        }
        joined
    }
}
