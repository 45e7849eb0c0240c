//! How it is written what is known of traces: numbers, most of them as differences to the one before.

use std::io::Write;

use instrument_trace::{Closes, Damage, Frame, Profile, Thread, Tree, TreeAllocation, TreeNode};
use rayon::prelude::*;

use super::account::Sum;
use super::index::{Block, Index, Spanning};
use super::levels::Levels;
use super::words::{In, Out};
use crate::replay::{self, Contexts, Found, Key, LinkMade, Place};

/// What is known of a trace.
pub(super) struct Known {
    /// As it is after its trace was replayed.
    pub(super) thread: Thread,
    pub(super) found: Found,
    /// Only if it was wanted.
    pub(super) index: Option<Index>,
}

/// What is known of a trace, to be written.
pub(super) type Keeping<'a> = (&'a Thread, &'a Found, Option<&'a Index>);

/// Writes what is known of the traces of a profile, in the order of its threads. Behind it there is where each begins,
/// and in the last eight bytes where that list does.
pub(super) fn write<W: Write>(out: &mut Out<W>, known: &[Keeping<'_>]) {
    let mut ends = Vec::new();
    for (thread, found, index) in known {
        write_thread(out, thread, found);
        out.number(index.is_some().into());
        if let Some(index) = index {
            write_index(out, index);
        }
        ends.push((thread.copy, thread.ordinal, out.position()));
    }
    let list = out.position();
    out.number(ends.len() as u64);
    for (copy, ordinal, end) in ends {
        [copy.into(), ordinal.into(), end].into_iter().for_each(|number| out.number(number));
    }
    out.bytes(&list.to_le_bytes());
}

/// The same read again, for a profile whose traces were not replayed; none: it is not what was written of this profile,
/// or has no indexes and these are wanted.
pub(super) fn read(bytes: &[u8], profile: &Profile, wants_index: bool) -> Option<Vec<Known>> {
    let (bytes, list) = bytes.split_last_chunk::<8>()?;
    let (bytes, list) = bytes.split_at_checked(usize::try_from(u64::from_le_bytes(*list)).ok()?)?;
    let mut list = In(list);
    let ends =
        list.all(|list| Some((list.small()?, list.small()?, usize::try_from(list.number()?).ok()?)))?;
    let threads: Vec<_> = profile.threads.iter().filter(|thread| replay::is_to_replay(thread)).collect();
    let mut parts = Vec::new();
    let mut start = 0;
    for (thread, (copy, ordinal, end)) in threads.iter().zip(&ends) {
        if (thread.copy, thread.ordinal) != (*copy, *ordinal) {
            return None;
        }
        parts.push((*thread, bytes.get(start..*end)?));
        start = *end;
    }
    if threads.len() != ends.len() || start != bytes.len() {
        return None;
    }
    parts.into_par_iter().map(|(thread, bytes)| read_one(bytes, thread, wants_index)).collect()
}

fn read_one(bytes: &[u8], thread: &Thread, wants_index: bool) -> Option<Known> {
    let mut from = In(bytes);
    let (thread, found) = read_thread(&mut from, thread)?;
    let has_index = from.number()? != 0;
    let index = match (wants_index, has_index) {
        (true, false) => return None,
        (true, true) => Some(read_index(&mut from, &thread, &found)?),
        (false, _) => None,
    };
    let is_read = !wants_index || from.0.is_empty();
    is_read.then_some(Known { thread, found, index })
}

fn write_index<W: Write>(out: &mut Out<W>, index: &Index) {
    let (depth, deeper) = index.contexts.limits();
    [depth as u64, deeper.into()].into_iter().for_each(|number| out.number(number));
    out.number(index.blocks.len() as u64);
    let (mut piece, mut clock) = (0, 0);
    for block in &index.blocks {
        out.number((block.piece - piece) as u64);
        out.number(block.clock - clock);
        (piece, clock) = (block.piece, block.clock);
        out.number(block.bytes);
        out.number(block.open.len() as u64);
        for open in &block.open {
            let place = u64::from(open.place.node) << 1 | u64::from(open.place.is_deep);
            [open.key.bits().into(), place, open.start, open.end]
                .into_iter()
                .for_each(|number| out.number(number));
        }
        out.number(block.sums.len() as u64);
        let mut node = 0;
        for sum in &block.sums {
            [(sum.node - node).into(), sum.calls, sum.ns].into_iter().for_each(|number| out.number(number));
            node = sum.node;
        }
    }
    index.levels.write(out);
    out.number(index.end);
    out.number(index.calls);
    out.number(index.entered.len() as u64);
    for &(link, at) in &index.entered {
        out.number(link.into());
        out.number(at);
    }
}

fn read_index(from: &mut In<'_>, thread: &Thread, found: &Found) -> Option<Index> {
    let depth = usize::try_from(from.number()?).ok()?;
    let contexts = Contexts::of_tree(thread.tree.as_ref()?, (depth, from.small()?))?;
    let (mut piece, mut clock) = (0usize, 0u64);
    let blocks = from.all(|from| {
        piece = piece.checked_add(usize::try_from(from.number()?).ok()?)?;
        clock = clock.checked_add(from.number()?)?;
        let bytes = from.number()?;
        let open = from.all(|from| {
            let (key, place) = (Key::from_bits(from.small()?), from.number()?);
            let place = Place { node: u32::try_from(place >> 1).ok()?, is_deep: place & 1 != 0 };
            Some(Spanning { key, place, start: from.number()?, end: from.number()? })
        })?;
        let mut node = 0u32;
        let sums = from.all(|from| {
            node = node.checked_add(from.small()?)?;
            Some(Sum { node, calls: from.number()?, ns: from.number()? })
        })?;
        Some(Block { piece, clock, open, sums, bytes })
    })?;
    let levels = Levels::read(from)?;
    let (end, calls) = (from.number()?, from.number()?);
    let entered = from.all(|from| Some((from.small()?, from.number()?)))?;
    Some(Index { contexts, blocks, levels, end, calls, made: found.links.clone(), entered })
}

fn write_thread<W: Write>(out: &mut Out<W>, thread: &Thread, found: &Found) {
    [thread.last_event, thread.pause, thread.dropped].into_iter().for_each(|number| out.number(number));
    out.number(thread.stack.len() as u64);
    for frame in &thread.stack {
        let flags = u64::from(frame.pending) | u64::from(frame.link) << 1;
        [flags, frame.id.into(), frame.node.into(), frame.since]
            .into_iter()
            .for_each(|number| out.number(number));
    }
    let nodes = thread.tree.as_ref().map_or(&[][..], |tree| &tree.nodes);
    out.number(nodes.len() as u64);
    for node in nodes {
        out.number(node.parent.into());
        out.number(replay::code(node.consumer).into());
        let Closes { exits, unwinds, aborted, unclosed } = node.closes;
        [node.entries, exits, unwinds, aborted, unclosed, node.unmatched, node.open, node.ns, node.min]
            .into_iter()
            .for_each(|number| out.number(number));
        out.number(node.max);
        // The bits of a float: those in front tell it, many of the others are 0.
        out.number(node.sum_squares.to_bits().swap_bytes());
    }
    out.number(thread.tree_allocations.len() as u64);
    for made in &thread.tree_allocations {
        [made.node.into(), made.class.into(), made.count, made.bytes]
            .into_iter()
            .for_each(|number| out.number(number));
    }
    out.number(found.links.len() as u64);
    for made in &found.links {
        [made.link.into(), made.node.into(), made.clock].into_iter().for_each(|number| out.number(number));
    }
    out.number(found.damage.len() as u64);
    for damage in &found.damage {
        out.number(damage.offset);
        out.text(&damage.reason);
    }
}

fn read_thread(from: &mut In<'_>, thread: &Thread) -> Option<(Thread, Found)> {
    let mut thread = thread.clone();
    (thread.last_event, thread.pause, thread.dropped) = (from.number()?, from.number()?, from.number()?);
    thread.stack = from.all(|from| {
        let flags = from.number()?;
        let (id, node, since) = (from.small()?, from.small()?, from.number()?);
        Some(Frame { id, pending: flags & 1 != 0, link: flags & 2 != 0, node, since })
    })?;
    let nodes = from.all(|from| {
        let (parent, code) = (from.small()?, from.small()?);
        let node = TreeNode::new(replay::consumer(code), parent);
        let entries = from.number()?;
        let (exits, unwinds) = (from.number()?, from.number()?);
        let (aborted, unclosed) = (from.number()?, from.number()?);
        let closes = Closes { exits, unwinds, aborted, unclosed };
        let (unmatched, open, ns) = (from.number()?, from.number()?, from.number()?);
        let (min, max) = (from.number()?, from.number()?);
        let sum_squares = f64::from_bits(from.number()?.swap_bytes());
        Some(TreeNode { entries, closes, unmatched, open, ns, min, max, sum_squares, ..node })
    })?;
    let are_known = (1..).zip(&nodes).all(|(number, node): (u32, _)| node.parent < number);
    if !are_known {
        return None;
    }
    thread.tree = Some(Tree { nodes, ..Tree::default() });
    thread.tree_allocations = from.all(|from| {
        let (node, class) = (from.small()?, from.small()?);
        Some(TreeAllocation { node, class, count: from.number()?, bytes: from.number()? })
    })?;
    thread.sum_up();
    let (copy, ordinal) = (thread.copy, thread.ordinal);
    let links = from.all(|from| {
        let (link, node, clock) = (from.small()?, from.small()?, from.number()?);
        Some(LinkMade { link, copy, thread: ordinal, node, clock })
    })?;
    let damage =
        from.all(|from| Some(Damage { offset: from.number()?, structure: "trace", reason: from.text()? }))?;
    Some((thread, Found { links, damage }))
}
