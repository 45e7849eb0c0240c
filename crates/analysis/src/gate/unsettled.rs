//! Which contexts are not judged, since what they depend on moves from run to run.
//!
//! A context is *unsettled* if its calls move. What lies below it may have had equal figures in all runs by chance: a
//! call that one in a thousand calls of a moving method makes comes in one run of many. So contexts below are
//! unsettled, too, but for those that would have moved if they depended on their caller:
//!
//! 1. A context that is called by one whose calls move, between `min` and `max`, and was itself called `n` times in
//!    each run: n / max calls for each call of its caller, so n * (max - min) / max of its calls would have come and
//!    gone with it. Where that is at least [`WOULD_SHOW`], it does not depend on its caller (a pool's threads come and
//!    go, its tasks are the same), and it is settled.
//! 2. Others are as their caller is.
//!
//! Only where it changes from a caller to its callee is kept ([`Unsettled`]): contexts of other runs, new ones
//! included, follow from that.

use std::collections::BTreeMap;

use super::joined::{Context, Joined};
use super::run::{Run, is_method};
use crate::context_key::ContextKey;
use crate::model::Kind;

/// Calls that would have come and gone with a caller: with 3 the chance to see none is 1 in 20 for calls that come by
/// chance.
const WOULD_SHOW: u64 = 3;

/// Contexts at which it changes whether contexts are judged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unsettled {
    /// The name of the context, and whether it is settled where its caller is not; else it is the other way round.
    turns: BTreeMap<ContextKey, (String, bool)>,
}

impl Unsettled {
    /// What is unsettled in these runs, or was `known` to be; with it, of each context whether it is settled.
    pub(super) fn learn(joined: &Joined, known: &Unsettled) -> (Unsettled, Vec<bool>) {
        let contexts = &joined.contexts;
        let mut turns = known.turns.clone();
        let mut keys = vec![ContextKey::ROOT];
        let mut was = vec![true];
        let mut settled = vec![true];
        for context in &contexts[1..] {
            let parent = context.parent;
            let key = below(keys[parent], &context.name);
            let turn = known.turns.get(&key).map(|(_, settled)| *settled);
            let here = turn.unwrap_or(was[parent]);
            // Fewer runs may not show again that it does not depend on its caller.
            let is = match turn {
                Some(true) => context.ranges[0].value().is_some(),
                _ => here && is_settled(context, &contexts[parent], settled[parent]),
            };
            if is == settled[parent] {
                turns.remove(&key);
            } else {
                turns.insert(key, (context.name.clone(), is));
            }
            keys.push(key);
            was.push(here);
            settled.push(is);
        }
        (Unsettled { turns }, settled)
    }

    /// Of each context of a run whether it is settled.
    pub(super) fn of(&self, run: &Run) -> Vec<bool> {
        if self.turns.is_empty() {
            return vec![true; run.nodes.len()];
        }
        let mut keys = vec![ContextKey::ROOT];
        let mut settled = vec![true];
        for (i, node) in run.nodes.iter().enumerate().skip(1) {
            let key = below(keys[node.parent], run.name(i));
            settled.push(self.turns.get(&key).map_or(settled[node.parent], |(_, settled)| *settled));
            keys.push(key);
        }
        settled
    }

    /// As it is written: key, name, and whether it is settled.
    pub(super) fn lines(&self) -> impl Iterator<Item = (&ContextKey, &str, bool)> {
        let mut lines: Vec<_> =
            self.turns.iter().map(|(key, (name, settled))| (key, name.as_str(), *settled)).collect();
        lines.sort_by_key(|(key, name, _)| (*name, **key));
        lines.into_iter()
    }

    /// Adds what was written.
    pub(super) fn add(&mut self, key: ContextKey, name: &str, settled: bool) {
        self.turns.insert(key, (name.to_owned(), settled));
    }
}

/// Whether a context is settled below a caller that is or is not.
fn is_settled(context: &Context, caller: &Context, caller_is: bool) -> bool {
    if !is_method(&context.name) {
        // How often the machine's own work was met is not judged.
        return caller_is;
    }
    let calls = context.ranges[0];
    let above = caller.ranges[0];
    match calls.value() {
        None => false,
        Some(_) if caller_is => true,
        Some(n) => {
            let would_move = u128::from(n) * u128::from(above.max - above.min);
            would_move >= u128::from(WOULD_SHOW) * u128::from(above.max.max(1))
        }
    }
}

fn below(key: ContextKey, name: &str) -> ContextKey {
    key.exact_child(if is_method(name) { Kind::Method } else { Kind::Link }, name)
}

#[cfg(test)]
mod tests;
