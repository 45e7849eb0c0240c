//! The calls of a method that took longest, and some that were drawn at random, each with what it did.

use crate::bytes::Bytes;
use crate::format::{HEADER, WORST_DRAWN, WORST_FAILED, WORST_NODE, WORST_PART};
use crate::method::Closes;
use crate::regions::Region;
use crate::tree::{Tree, TreeNode};
use crate::tree_region::consumer;

/// One of the calls of a method that took longest, or one that was drawn at random. All that it did is among the figures of its thread, too.
#[derive(Debug, Clone, PartialEq)]
pub struct WorstCall {
    /// Copy of the runtime that recorded it.
    pub copy: u32,
    /// Ordinal of the thread.
    pub thread: u32,
    /// Id of the method.
    pub id: u32,
    /// How long it took, less what the recorder took for itself, ns.
    pub ns: u64,
    /// The clock at its end.
    pub end: u64,
    /// An exception left it.
    pub has_failed: bool,
    /// Not all that it did is in the tree.
    pub is_part: bool,
    /// It was drawn at random, however long it took.
    pub is_drawn: bool,
    /// What it did: node 1 is the method. Nodes have entries, exits and unwinds, samples, and ns where these are known.
    pub tree: Tree,
}

impl WorstCall {
    /// Reads a region; an error says where and why not.
    pub(crate) fn read(bytes: &Bytes<'_>, region: &Region) -> Result<WorstCall, (u64, String)> {
        let [method, ns, end, count] = bytes.words(region.offset + 16);
        let Some(id) = (method as u32 & !crate::format::LINK).checked_sub(1) else {
            return Err((region.offset, "it has no method".into()));
        };
        if count == 0 || count > region.length.saturating_sub(HEADER) / WORST_NODE {
            return Err((region.offset, "it is cut off".into()));
        }
        let mut tree = Tree::default();
        for number in 1..=count {
            let at = region.offset + HEADER + (number - 1) * WORST_NODE;
            let [key, entries, exits, ns, samples] = bytes.words(at);
            let caller = key >> 32;
            let of = consumer(key as u32).filter(|_| caller < number && (caller == 0) == (number == 1));
            let of = of.ok_or_else(|| (at, "it has no consumer, or no caller in front of it".to_owned()))?;
            let closes = Closes { exits, unwinds: entries.saturating_sub(exits), ..Closes::default() };
            tree.nodes.push(TreeNode { entries, closes, ns, samples, ..TreeNode::new(of, caller as u32) });
        }
        Ok(WorstCall {
            copy: region.copy,
            thread: region.owner,
            id,
            ns,
            end,
            has_failed: method & WORST_FAILED != 0,
            is_part: method & WORST_PART != 0,
            is_drawn: method & WORST_DRAWN != 0,
            tree,
        })
    }
}
