//! Records as the words and bytes of the file.

use std::collections::BTreeMap;

use crate::format::{CPU, DEEPER, ESTIMATED, LINK, SAMPLES};
use crate::{Link, NO_MIN, Tree, TreeAllocation, TreeConsumer, TreeNode};

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
