//! Reads tree and tree allocations regions.

use crate::bytes::Bytes;
use crate::error::Damage;
use crate::format::*;
use crate::regions::Region;
use crate::thread::{Closes, Frame, Thread, TreeAllocation};
use crate::tree::{NO_MIN, Tree, TreeConsumer, TreeNode};

/// Reads a tree into its thread: the nodes, then the shadow stack, whose frames are open calls of theirs. Frames without a
/// node are counted in [`Thread::methods`]. `folding`: the thread was being added to the ended ones.
pub(crate) fn read(
    bytes: &Bytes<'_>,
    region: &Region,
    folding: bool,
    thread: &mut Thread,
    damage: &mut Vec<Damage>,
) {
    let mut note = |offset: u64, structure: &'static str, reason: String| {
        damage.push(Damage { offset, structure, reason });
    };
    let [words, flags] = bytes.words(region.offset + 16);
    let body = region.offset + HEADER;
    if words > region.length.saturating_sub(HEADER) / 8 {
        return note(region.offset, "tree", "the shadow stack is cut off".into());
    }
    let mut tree = Tree { sampled: flags & SAMPLED != 0, cpu: flags & CPU != 0, nodes: Vec::new() };
    let mut at = body + 8 * words;
    let (mut wild, mut first_wild) = (0u64, 0);
    loop {
        if at + NODE > region.end() {
            // Regions are not always as long as whole nodes.
            if at + 8 <= region.end() && bytes.u64(at) != 0 {
                note(at, "node", "it is cut off".into());
            }
            break;
        }
        let word: [u64; 16] = bytes.words(at);
        if word[0] == 0 {
            break;
        }
        let number = tree.nodes.len() as u64 + 1;
        let Some(consumer) = consumer(word[0] as u32).filter(|_| number < u64::from(u32::MAX)) else {
            note(at, "node", "it has no consumer".into());
            break;
        };
        let mut parent = (word[0] >> 32) as u32;
        if u64::from(parent) >= number {
            if wild == 0 {
                first_wild = at;
            }
            wild += 1;
            parent = 0;
        }
        tree.nodes.push(node(consumer, parent, &word, folding));
        at += NODE;
    }
    if wild > 0 {
        note(first_wild, "node", format!("{wild} nodes have callers that are not in front of them"));
    }

    let mut homeless = 0u64;
    let mut is_open = true;
    for i in 0..words / 2 {
        let [word, clock] = bytes.words(body + 16 * i);
        thread.last_event = thread.last_event.max(clock);
        is_open &= word != 0;
        if !is_open {
            continue;
        }
        let mut frame = Frame {
            id: ((word >> 32) as u32 & 0x7fff_ffff).wrapping_sub(1) & 0x7fff_ffff,
            pending: word >> 63 != 0,
            link: false,
            node: word as u32,
            since: clock,
        };
        if let Some(node) = tree.node_mut(frame.node) {
            node.open = node.open.saturating_add(1);
            match node.consumer {
                TreeConsumer::Method(id) => frame.id = id,
                TreeConsumer::Link(link) => (frame.id, frame.link) = (link, true),
                TreeConsumer::Deeper => {}
            }
        } else {
            homeless += 1;
            frame.node = 0;
            let open = &mut thread.methods.entry(frame.id).or_default().open;
            *open = open.saturating_add(1);
        }
        thread.stack.push(frame);
    }
    if homeless > 0 {
        note(region.offset, "tree", format!("{homeless} frames have no node"));
    }
    thread.tree = Some(tree);
}

fn consumer(word: u32) -> Option<TreeConsumer> {
    match word {
        0 => None,
        DEEPER => Some(TreeConsumer::Deeper),
        link if link & LINK != 0 => Some(TreeConsumer::Link(link & !LINK)),
        id_plus_one => Some(TreeConsumer::Method(id_plus_one - 1)),
    }
}

fn node(consumer: TreeConsumer, parent: u32, word: &[u64; 16], folding: bool) -> TreeNode {
    let sum_squares = f64::from_bits(word[6]);
    TreeNode {
        consumer,
        parent,
        entries: word[1],
        closes: Closes { exits: word[2], unwinds: word[8], orphans: word[9], lost: word[10] },
        stray: word[11],
        open: word[12],
        ns: word[3],
        // One that has been moved to the ended threads is 0.
        min: if folding && word[4] == 0 { NO_MIN } else { word[4] },
        max: word[5],
        sum_squares: if sum_squares.is_finite() { sum_squares } else { 0.0 },
        timed: word[7],
        cpu_ns: word[13],
        head_ns: word[14],
        open_ns: word[15],
    }
}

/// Reads the allocations of a thread whose tree has been read.
pub(crate) fn read_allocations(bytes: &Bytes<'_>, region: &Region, thread: &mut Thread) {
    let mut at = region.offset + HEADER;
    while at + 32 <= region.end() {
        let [class_node, count, size, _] = bytes.words(at);
        if class_node == 0 {
            break;
        }
        let (class, node) = (class_node as u32, (class_node >> 32) as u32);
        thread.tree_allocations.push(TreeAllocation { node, class, count, bytes: size });
        at += 32;
    }
}
