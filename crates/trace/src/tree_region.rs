//! Reads tree and tree allocations regions.

use std::collections::BTreeMap;

use crate::bytes::Bytes;
use crate::error::Damage;
use crate::format::*;
use crate::method::Closes;
use crate::regions::Region;
use crate::thread::{Frame, Thread, TreeAllocation};
use crate::tree::{NO_MIN, Tree, TreeConsumer, TreeNode};
use crate::untimed::Methods;

/// Room for so many nodes is made at once, whatever a file says.
const MOST_ROOM: u64 = 1 << 20;

/// Which node of a [`Tree`] a number in the file is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// The same.
    #[default]
    Same,
    /// Nodes lie in pieces: index of the first node in [`Tree::nodes`] and how many there are, by the number of the first.
    Pieces(BTreeMap<u32, (u32, u32)>),
}

impl Numbers {
    /// The number in the tree; 0: there is no such node.
    pub(crate) fn of(&self, number: u32) -> u32 {
        let Numbers::Pieces(pieces) = self else { return number };
        let Some((first, (index, count))) = pieces.range(..=number).next_back() else { return 0 };
        let (place, rest) = ((number - first) / NODE_UNITS, (number - first) % NODE_UNITS);
        if rest == 0 && place < *count { index + place + 1 } else { 0 }
    }
}

/// The pieces of nodes that a tree region points to, in order; `part`: the region at an offset, if nobody else has claimed it. A region
/// of the old kind has none.
pub(crate) fn pieces(
    bytes: &Bytes<'_>,
    region: &Region,
    mut part: impl FnMut(u64) -> Option<Region>,
) -> Vec<Region> {
    let [_, flags, mut next] = bytes.words(region.offset + 16);
    let mut pieces = Vec::new();
    while flags & IN_PIECES != 0
        && let Some(piece) = (next != 0).then(|| part(next)).flatten()
    {
        pieces.push(piece);
        next = bytes.u64(piece.offset + 24);
    }
    pieces
}

/// Which calls are timed, and so what some words of a node are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Timing {
    All,
    Sampled,
    /// As in `Sampled`, but the words are what a reader estimates.
    Estimated,
    /// Those of methods that block; times are samples.
    Samples,
    /// As in `Sampled`, of a version that wrote other words.
    Old,
}

/// The nodes of a tree region, or of its pieces.
struct Nodes<'a, 'b> {
    bytes: &'a Bytes<'b>,
    folding: bool,
    timing: Timing,
    /// Some words of the nodes lie elsewhere.
    followers: bool,
    tree: Tree,
    numbers: Numbers,
    methods: &'a mut Methods,
    /// Indexes of nodes without times, which those of other contexts stand for.
    untimed: Vec<u32>,
    /// Nodes with a sum of squares that is none.
    odd: u64,
    /// Nodes whose callers are not in front of them, and where the first one is.
    wild: u64,
    first_wild: u64,
}

impl Nodes<'_, '_> {
    /// Reads the nodes from an offset to the end of a region. The number of the first one; 0: numbers have no gaps.
    fn read(&mut self, mut at: u64, end: u64, first: u32) -> Result<(), (u64, String)> {
        let before = self.tree.nodes.len() as u32;
        while at + NODE <= end {
            let mut word: [u64; 16] = self.bytes.words(at);
            let is_kept = self.followers && word[6] & KEPT != 0;
            if self.followers {
                (word[6], word[11], word[10]) = (word[11], word[10] >> 32, word[10] & u64::from(u32::MAX));
            }
            if word[0] == 0 {
                return Ok(());
            }
            let number = self.tree.nodes.len() as u64 + 1;
            let consumer = consumer(word[0] as u32).filter(|_| number < u64::from(u32::MAX));
            let consumer = consumer.ok_or_else(|| (at, "it has no consumer".to_owned()))?;
            let caller = (word[0] >> 32) as u32;
            if first != 0
                && let Numbers::Pieces(pieces) = &mut self.numbers
            {
                // Callers may be in the same piece.
                pieces.insert(first, (before, number as u32 - 1 - before));
            }
            let mut parent = self.numbers.of(caller);
            if u64::from(parent) >= number || (parent == 0) != (caller == 0) {
                if self.wild == 0 {
                    self.first_wild = at;
                }
                self.wild += 1;
                parent = 0;
            }
            let mut node = node(consumer, parent, &word, self.folding);
            self.odd += u64::from(self.timing != Timing::Old && !is_number(word[6]));
            match self.timing {
                Timing::All => {}
                Timing::Samples => (node.timed, node.samples, node.cpu_ns) = (word[13], word[14], 0),
                Timing::Sampled => {
                    estimate(&mut node, &word);
                    match node.timed {
                        0 if word[14] == NO_HEAD && node.closes.total() > 0 => {
                            self.untimed.push(number as u32 - 1);
                            self.methods.add_untimed(&node);
                        }
                        0 => {}
                        _ => self.methods.add(&node, head(word[14]).err()),
                    }
                }
                Timing::Old => (node.ns, node.min, node.sum_squares) = (0, NO_MIN, 0.0),
                Timing::Estimated => {
                    (node.timed, node.variance, node.cpu_ns) = (word[7], number_of(word[13]), 0);
                    if node.timed > 0 {
                        self.methods.add(&node, None);
                    }
                }
            }
            self.tree.nodes.push(node);
            if is_kept {
                self.tree.durations.entry(number as u32).or_default();
            }
            at += NODE;
        }
        // Regions are not always as long as whole nodes.
        if at + 8 <= end && self.bytes.u64(at) != 0 { Err((at, "it is cut off".into())) } else { Ok(()) }
    }

    fn read_piece(&mut self, piece: &Region) -> Result<(), (u64, String)> {
        let number = self.bytes.u64(piece.offset + 16);
        let Some(first) = u32::try_from(number).ok().filter(|&first| first != 0) else {
            return Err((piece.offset, format!("its number is {number}")));
        };
        let before = self.tree.nodes.len() as u32;
        let result = self.read(piece.offset + HEADER, piece.end(), first);
        if let Numbers::Pieces(pieces) = &mut self.numbers {
            pieces.insert(first, (before, self.tree.nodes.len() as u32 - before));
        }
        result
    }
}

/// Reads a tree into its thread: the nodes, then the shadow stack, whose frames are open calls of theirs. Frames without a
/// node are counted in [`Thread::methods`]. `pieces`: where the nodes are, if not in the region; `folding`: the thread was being added to
/// the ended ones; `methods` learns what calls took. Returns what the numbers of its nodes mean, and the indexes of nodes without times, which
/// those of other contexts stand for.
pub(crate) fn read(
    bytes: &Bytes<'_>,
    region: &Region,
    pieces: &[Region],
    folding: bool,
    thread: &mut Thread,
    methods: &mut Methods,
    damage: &mut Vec<Damage>,
) -> (Numbers, Vec<u32>) {
    let mut note = |offset: u64, structure: &'static str, reason: String| {
        damage.push(Damage { offset, structure, reason });
    };
    let [words, flags] = bytes.words(region.offset + 16);
    let body = region.offset + HEADER;
    if words > region.length.saturating_sub(HEADER) / 8 {
        note(region.offset, "tree", "the shadow stack is cut off".into());
        return (Numbers::Same, Vec::new());
    }
    let timing = match flags {
        flags if flags & SAMPLES != 0 => Timing::Samples,
        flags if flags & ESTIMATED != 0 => Timing::Estimated,
        flags if flags & SAMPLED != 0 && bytes.u32(8) < SAMPLED_VERSION => Timing::Old,
        flags if flags & SAMPLED != 0 => Timing::Sampled,
        _ => Timing::All,
    };
    let room: u64 = pieces.iter().map(|piece| piece.length / NODE).sum();
    let nodes = Vec::with_capacity(room.min(bytes.size() / NODE).min(MOST_ROOM) as usize);
    let has_samples = timing == Timing::Samples;
    let sampled = timing != Timing::All && !has_samples;
    let cpu = flags & CPU != 0 && !has_samples;
    let recursive = bytes.u64(region.offset + TREE_RECURSIVE);
    let tree = Tree { sampled, has_samples, cpu, nodes, recursive, ..Tree::default() };
    if timing == Timing::Old {
        note(
            region.offset,
            "tree",
            "not all calls are timed, in a way that only the version that wrote it can read".into(),
        );
    }
    let in_pieces = flags & IN_PIECES != 0;
    let numbers = if in_pieces { Numbers::Pieces(BTreeMap::new()) } else { Numbers::Same };
    let untimed = Vec::new();
    let followers = flags & FOLLOWERS != 0;
    let mut nodes = Nodes {
        bytes,
        folding,
        timing,
        followers,
        tree,
        numbers,
        methods,
        untimed,
        odd: 0,
        wild: 0,
        first_wild: 0,
    };
    let results = match in_pieces {
        true => pieces.iter().map(|piece| nodes.read_piece(piece)).collect(),
        false => vec![nodes.read(body + 8 * words, region.end(), 0)],
    };
    for (at, reason) in results.into_iter().filter_map(Result::err) {
        note(at, "node", reason);
    }
    let Nodes { mut tree, numbers, untimed, odd, wild, first_wild, .. } = nodes;
    if odd > 0 {
        note(region.offset, "tree", format!("{odd} nodes have sums of squares that are no numbers"));
    }
    if wild > 0 {
        note(first_wild, "node", format!("{wild} nodes have callers that are not in front of them"));
    }

    let homeless = read_stack(bytes, (body, words / 2), &numbers, &mut tree, thread);
    if homeless > 0 {
        note(region.offset, "tree", format!("{homeless} frames have no node"));
    }
    thread.tree = Some(tree);
    (numbers, untimed)
}

/// Reads the shadow stack: so many frames from an offset, each an open call of its node. How many have none.
fn read_stack(
    bytes: &Bytes<'_>,
    (at, frames): (u64, u64),
    numbers: &Numbers,
    tree: &mut Tree,
    thread: &mut Thread,
) -> u64 {
    let mut homeless = 0u64;
    let mut is_open = true;
    for i in 0..frames {
        let [word, clock] = bytes.words(at + 16 * i);
        thread.last_event = thread.last_event.max(clock);
        is_open &= word != 0;
        if !is_open {
            continue;
        }
        let mut frame = Frame {
            id: ((word >> 32) as u32 & 0x7fff_ffff).wrapping_sub(1) & 0x7fff_ffff,
            pending: word >> 63 != 0,
            link: false,
            node: numbers.of(word as u32),
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
    homeless
}

pub(crate) fn consumer(word: u32) -> Option<TreeConsumer> {
    match word {
        0 => None,
        DEEPER => Some(TreeConsumer::Deeper),
        link if link & LINK != 0 => Some(TreeConsumer::Link(link & !LINK)),
        id_plus_one => Some(TreeConsumer::Method(id_plus_one - 1)),
    }
}

fn node(consumer: TreeConsumer, parent: u32, word: &[u64; 16], folding: bool) -> TreeNode {
    TreeNode {
        consumer,
        parent,
        entries: word[1],
        closes: Closes { exits: word[2], unwinds: word[8], aborted: word[9], unclosed: word[10] },
        unmatched: word[11],
        open: word[12],
        ns: word[3],
        // One that has been moved to the ended threads is 0.
        min: if folding && word[4] == 0 { NO_MIN } else { word[4] },
        max: word[5],
        sum_squares: number_of(word[6]),
        timed: 0,
        samples: 0,
        cpu_ns: word[13],
        variance: 0.0,
        open_ns: word[15],
        bytecodes: 0,
    }
}

/// A sum of squares; damaged ones count as none.
fn number_of(word: u64) -> f64 {
    if is_number(word) { f64::from_bits(word) } else { 0.0 }
}

fn is_number(word: u64) -> bool {
    let number = f64::from_bits(word);
    number.is_finite() && number >= 0.0
}

/// The times of a node of a thread that times some calls: the head, what the timed calls stand for, and those since the last of
/// these, which are taken to be like them.
fn estimate(node: &mut TreeNode, word: &[u64; 16]) {
    let [timed, covered, variance] = [word[12], word[13], word[15]];
    let (head, first) = head(word[14]).map_or((0, 0), |head| (head, HEAD));
    (node.open, node.open_ns, node.cpu_ns) = (0, 0, 0);
    (node.timed, node.variance) = (timed, number_of(variance));
    let calls = covered as f64;
    let mut rest = node.ns as f64;
    let since = node.closes.total().saturating_sub(covered) as f64;
    if since > 0.0 && covered > 0 {
        // Calls after the head are like each other, and not like the head: no part of their spread is the difference to it.
        let (ns, squares, calls) = if covered > first {
            let squares = if first > 0 { (head as f64).powi(2) / first as f64 } else { 0.0 };
            (rest, node.sum_squares - squares, calls - first as f64)
        } else {
            (head as f64, node.sum_squares, calls)
        };
        let mean = ns / calls;
        let spread = (squares / calls - mean * mean).max(0.0);
        rest += since * mean;
        node.sum_squares += since * (mean * mean + spread);
        node.variance += spread * since * (1.0 + since / (timed as f64).max(1.0));
    }
    node.ns = head.saturating_add(rest.round() as u64);
}

/// What stands in a node that has no head, none of its calls being timed.
const NO_HEAD: u64 = u64::MAX;

/// ns of a node's head; if it has none, of the first call that was timed.
fn head(word: u64) -> Result<u64, u64> {
    if (word as i64) < 0 { Err(!word) } else { Ok(word) }
}

/// Reads the allocations of a thread whose tree has been read.
pub(crate) fn read_allocations(bytes: &Bytes<'_>, region: &Region, numbers: &Numbers, thread: &mut Thread) {
    let mut at = region.offset + HEADER;
    while at + 32 <= region.end() {
        let [class_node, count, size, _] = bytes.words(at);
        if class_node == 0 {
            break;
        }
        let (class, node) = (class_node as u32, numbers.of((class_node >> 32) as u32));
        let is_there = node == 0 || thread.tree.as_ref().is_some_and(|tree| tree.node(node).is_some());
        thread.homeless += u64::from(!is_there || (node == 0) != (class_node >> 32 == 0));
        thread.tree_allocations.push(TreeAllocation { node, class, count, bytes: size });
        at += 32;
    }
}

/// Reads how many instructions were executed, of a thread whose tree or counts have been read.
pub(crate) fn read_bytecodes(bytes: &Bytes<'_>, region: &Region, numbers: &Numbers, thread: &mut Thread) {
    for at in (region.offset + HEADER..region.end().saturating_sub(15)).step_by(16) {
        let [key, count] = bytes.words(at);
        if key == 0 {
            continue;
        }
        let key = u32::try_from(key).unwrap_or(u32::MAX);
        let sum = match &mut thread.tree {
            Some(tree) => tree.node_mut(numbers.of(key)).map(|node| &mut node.bytecodes),
            None => thread.methods.get_mut(&(key - 1)).map(|method| &mut method.bytecodes),
        };
        match sum {
            Some(sum) => *sum = sum.saturating_add(count),
            None => thread.homeless += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_no_node_of_a_piece_has_is_no_node() {
        let numbers = Numbers::Pieces(BTreeMap::from([(10, (5, 2)), (40, (0, 5))]));
        let second = 10 + NODE_UNITS;
        let all = [9, 10, 10 + 1, second, second + NODE_UNITS, 40, 40 + 5 * NODE_UNITS];
        assert_eq!(all.map(|number| numbers.of(number)), [0, 6, 0, 7, 0, 1, 0]);
        assert_eq!(Numbers::Same.of(9), 9);
    }

    /// The word that leads to the first piece has another meaning there.
    #[test]
    fn a_region_of_the_old_kind_has_no_pieces() {
        let region = |offset| Region { kind: TREE, owner: 1, copy: 1, offset, length: HEADER };
        for (flags, expected) in [(SAMPLED, 0), (SAMPLED | IN_PIECES, 1)] {
            let words: [u64; 16] = std::array::from_fn(|at| match at {
                3 => flags,
                4 => 64,
                _ => 0,
            });
            let data: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
            let found = pieces(&Bytes::new(&data).unwrap(), &region(0), |at| Some(region(at)));
            assert_eq!(found.iter().map(|piece| piece.offset).collect::<Vec<_>>(), vec![64; expected]);
        }
    }

    #[test]
    fn calls_since_the_last_timed_one_are_like_those_before() {
        // The head: 16 calls of 100 ns. Then 2 timed calls of 20 and 30 ns, which stand for 10 each; 4 more calls have ended.
        let squares = 16.0 * 100.0 * 100.0 + 10.0 * (400.0 + 900.0);
        let mut word = [0; 16];
        (word[1], word[2], word[3], word[6]) = (40, 40, 500, f64::to_bits(squares));
        (word[7], word[12], word[13], word[14], word[15]) = (50, 18, 36, 1600, f64::to_bits(90.0));
        let mut node = node(TreeConsumer::Method(1), 0, &word, false);
        estimate(&mut node, &word);
        assert_eq!((node.ns, node.timed, node.open), (1600 + 500 + 4 * 25, 18, 0));
        assert!(node.variance > 90.0 && node.sum_squares > squares);
        word[2] = 36;
        let mut node = super::node(TreeConsumer::Method(1), 0, &word, false);
        estimate(&mut node, &word);
        assert_eq!((node.ns, node.variance, node.sum_squares), (2100, 90.0, squares));
        // Without a head all calls are like those that were timed.
        (word[12], word[13], word[14]) = (2, 20, !20);
        let mut node = super::node(TreeConsumer::Method(1), 0, &word, false);
        estimate(&mut node, &word);
        assert_eq!((node.ns, node.timed), (500 + 16 * 25, 2));
    }
}
