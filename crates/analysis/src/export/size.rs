//! How large an export becomes whose rows are whole stacks: it grows with the contexts times their depth, with the
//! square of the depth where a program recurses. That is estimated before anything is written.

use crate::model::{Arcflow, Kind, NodeId};
use std::collections::HashMap;

/// What is written without a question.
const ALWAYS: u64 = 64 << 20;
/// And so many times the size of the profiles.
const TIMES: u64 = 3;
/// Of a row beside its stack, about: what a figure takes.
pub(super) const FIGURE: u64 = 12;

/// Whether an export of so many bytes is much larger than the profiles that it is made of.
pub(super) fn is_large(size: u64, profiles: u64) -> bool {
    size > ALWAYS.max(profiles.saturating_mul(TIMES))
}

/// Bytes of stacks, about: a row for each context that `has_row`, with `frame` bytes for each context on its way and
/// `row` beside.
pub(super) fn stacks(
    model: &Arcflow,
    has_row: impl Fn(NodeId) -> bool,
    frame: impl Fn(&str) -> usize,
    row: u64,
) -> u64 {
    let (mut frames, mut all) = (HashMap::new(), 0u64);
    let mut ways = vec![0u64; model.nodes().len()];
    // A context comes behind its caller.
    for id in model.ids().filter(|&id| id != Arcflow::ROOT) {
        let node = model.node(id);
        let own = *frames.entry(node.consumer).or_insert_with(|| frame(model.name(node.consumer)) as u64);
        let way = ways[node.parent.0 as usize].saturating_add(own);
        ways[id.0 as usize] = way;
        if node.kind != Kind::Process && has_row(id) {
            all = all.saturating_add(way).saturating_add(row);
        }
    }
    all
}

/// How many consumers there are, at least one.
pub(super) fn consumers(model: &Arcflow) -> u32 {
    model.nodes().iter().map(|node| node.consumer.0 + 1).max().unwrap_or(1)
}
