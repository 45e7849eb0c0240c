//! Records as the words and bytes of the file.

use std::collections::BTreeMap;

use crate::format::{CPU, DEEPER, ESTIMATED, LINK, SAMPLES};
use crate::{ContextDurations, Link, NO_MIN, Tree, TreeAllocation, TreeConsumer, TreeNode};

/// Flags of a tree region, without those that say where the nodes are.
pub fn tree_flags(tree: &Tree) -> u64 {
    let flags = [(tree.sampled, ESTIMATED), (tree.has_samples, SAMPLES), (tree.cpu, CPU)];
    flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).sum()
}

/// A node of a tree whose calls are all timed, or whose times are estimates (flag 8) or samples (flag 32, `has_samples`). `open`: frames that
/// are not on the shadow stack.
pub fn node(node: &TreeNode, open: u64, has_samples: bool) -> [u64; 16] {
    let consumer = match node.consumer {
        TreeConsumer::Method(id) => id + 1,
        TreeConsumer::Link(link) => LINK | link,
        TreeConsumer::Deeper => DEEPER,
    };
    [
        u64::from(node.parent) << 32 | u64::from(consumer),
        node.entries,
        node.closes.exits,
        node.ns,
        node.min.min(NO_MIN),
        node.max,
        node.sum_squares.to_bits(),
        if has_samples { 0 } else { node.timed },
        node.closes.unwinds,
        node.closes.aborted,
        node.closes.unclosed,
        node.unmatched,
        open,
        // CPU time is not recorded where not all calls are timed.
        match has_samples {
            true => node.timed,
            false if node.variance > 0.0 => node.variance.to_bits(),
            false => node.cpu_ns,
        },
        node.samples,
        node.open_ns,
    ]
}

/// The octaves of a context, as a piece has them. Counts that are too large for one octave are in several.
pub fn octaves(node: u32, of: &ContextDurations) -> Vec<u8> {
    let mut records = Vec::new();
    for (failed, histogram) in [(0, &of.returned), (1, &of.failed)] {
        let mut left = histogram.sum().min(u64::MAX.into()) as u64;
        let (least, most) = histogram.range().unwrap_or((u64::MAX >> 1, 0));
        for (octave, mut counts) in histogram.file_octaves() {
            while counts.iter().any(|count| *count > 0) {
                let mut record = [0; 40];
                record[0] = u64::from(node) | ((octave + 1) as u64) << 32 | failed << 40;
                // The sum and what is over are in the first one.
                (record[1], record[2], record[3]) = (std::mem::take(&mut left), least, most);
                record[5] = of.threshold.unwrap_or(0);
                for (bucket, count) in counts.iter_mut().enumerate() {
                    let some = (*count).min(u32::MAX.into());
                    record[8 + bucket / 2] |= some << (32 * (bucket % 2));
                    *count -= some;
                }
                records.push(record);
            }
        }
    }
    if records.is_empty() {
        // That its durations are kept is said, too.
        let mut record = [0; 40];
        (record[0], record[2], record[5]) = (u64::from(node), u64::MAX >> 1, of.threshold.unwrap_or(0));
        records.push(record);
    }
    records[0][4] = of.over;
    words(records.into_iter().flatten())
}

pub fn tree_allocations(all: impl Iterator<Item = TreeAllocation>) -> Vec<u8> {
    words(
        all.flat_map(|made| [u64::from(made.node) << 32 | u64::from(made.class), made.count, made.bytes, 0]),
    )
}

pub fn links(links: impl Iterator<Item = Link>) -> Vec<u8> {
    let pair = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
    words(links.flat_map(|link| {
        [pair(link.number, link.kind.number()), pair(link.node, link.thread), link.clock, 0]
    }))
}

pub fn class_names<S: AsRef<str>>(names: &[(u32, S)]) -> Vec<u8> {
    let mut body = Vec::new();
    for (number, name) in names {
        let name = name.as_ref().as_bytes();
        body.extend_from_slice(&number.to_le_bytes());
        body.extend_from_slice(&(name.len() as u32).to_le_bytes());
        body.extend_from_slice(name);
        body.resize(body.len().next_multiple_of(8), 0);
    }
    body
}

pub fn properties(properties: &BTreeMap<String, String>) -> String {
    let mut text = String::new();
    for (key, value) in properties {
        let value = value.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
        text += &format!("{key}={value}\n");
    }
    text
}

pub fn words(words: impl Iterator<Item = u64>) -> Vec<u8> {
    words.flat_map(u64::to_le_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Histogram;
    use crate::format::OCTAVE;

    #[test]
    fn a_count_that_one_octave_cannot_hold_is_in_two() {
        let mut many = Histogram::default();
        let mut counts = [0; 64];
        counts[7] = u64::from(u32::MAX) + 5;
        many.add_octave(20, counts, 1 << 50, (1_200_000, 1_210_000));
        let durations = ContextDurations { returned: many.clone(), ..ContextDurations::default() };
        let bytes = octaves(3, &durations);
        assert_eq!(bytes.len() as u64, 2 * OCTAVE);
    }
}
