//! Sums of threads in the profile, as [`instrument_trace`] describes them (kinds 2, 8, 21 and 26). They are written into memory that the recorder
//! has mapped and given out, word by word, so that the file is right whenever the process is killed.

use super::super::timers::FLAG_TAKEN;
use crate::jvmti::{Global, Jni};
use crate::recording::recorder::Recorder;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

const ENDED: u64 = 2;
const TREE: u64 = 8;
const TREE_NODES: u64 = 21;
const THREAD_SAMPLES: u64 = 26;
const HEADER: usize = 64;
const THREAD_REGION: usize = 256;
const SAMPLES_REGION: usize = 128;
const NODE: usize = 128;
const NAME_ROOM: usize = 96;
/// Flags of a tree: its nodes are in pieces, its times are samples.
const TREE_FLAGS: u64 = 4 | 32;
/// The shortest of no calls.
const NO_MIN: u64 = i64::MAX as u64;

// Words.
const DATA_AT: usize = 2;
const THREADS: usize = 6;
const NAME: usize = 12;
const NAME_LENGTH: usize = 24;
const FLAGS: usize = 3;
const PIECES_AT: usize = 4;
const FIRST: usize = 2;
const NEXT: usize = 3;
const PERIOD: usize = 2;
const SOURCE: usize = 3;
const SQUARES: usize = 4;
const CPU: usize = 9;
const IN_NO_CALL: usize = 11;
const UNKNOWN: usize = 12;
const IN_MACHINE: usize = 13;
const HANDLER: usize = 14;
const NODE_MIN: usize = 4;
const NODE_SAMPLES: usize = 14;

/// From the number of a node to that of the next one.
const NODE_UNITS: u32 = 2;
/// Nodes of a piece.
const LEAST_PIECE: usize = 30;
const MOST_PIECE: usize = 4094;
/// Contexts that a sum may have.
const MOST_NODES: usize = 1 << 20;

/// A piece of the file.
struct Region {
    words: &'static [AtomicU64],
    /// Where in the file it is.
    offset: u64,
    /// Keeps the mapping.
    kept: Global,
}

impl Region {
    /// None: there is no room.
    fn new(recorder: &Recorder, jni: Jni<'_>, bytes: usize) -> Option<Region> {
        let kept = recorder.region(jni, bytes)?;
        let buffer = jni.object(&kept);
        // SAFETY: nobody uses the words after `kept` was given back.
        let words = unsafe { jni.words(&buffer) }.filter(|words| words.len() * 8 >= bytes)?;
        let offset = words[2].swap(0, SeqCst);
        Some(Region { words, offset, kept })
    }

    fn put(&self, word: usize, value: u64) {
        self.words[word].store(value, Relaxed);
    }

    fn add(&self, word: usize, more: u64) {
        self.words[word].store(self.words[word].load(Relaxed).wrapping_add(more), Relaxed);
    }

    /// Makes it visible to readers.
    fn publish(&self, kind: u64, owner: u64) {
        self.words[0].store(owner << 32 | kind, SeqCst);
    }
}

/// The samples of the threads of a pool.
pub(super) struct Sum {
    header: Region,
    tree: Region,
    samples: Region,
    pieces: Vec<Region>,
    /// Where each node is: its piece, its words there.
    nodes: Vec<(u32, u32)>,
    /// Nodes that the last piece has room for.
    room: usize,
    children: HashMap<(u32, u32), u32>,
}

impl Sum {
    /// The sum of this ordinal. None: the file has no room.
    pub(super) fn new(recorder: &Recorder, jni: Jni<'_>, ordinal: u64, name: &str) -> Option<Sum> {
        let region = |bytes| Region::new(recorder, jni, bytes);
        let sum = Sum {
            header: region(THREAD_REGION)?,
            tree: region(HEADER)?,
            samples: region(SAMPLES_REGION)?,
            pieces: Vec::new(),
            nodes: Vec::new(),
            room: 0,
            children: HashMap::new(),
        };
        let mut length = name.len().min(NAME_ROOM);
        while !name.is_char_boundary(length) {
            length -= 1;
        }
        let mut text = [0; NAME_ROOM];
        text[..length].copy_from_slice(&name.as_bytes()[..length]);
        for (word, bytes) in text.chunks_exact(8).enumerate() {
            sum.header
                .put(NAME + word, bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        }
        sum.header.put(NAME_LENGTH, length as u64);
        sum.header.put(DATA_AT, sum.tree.offset);
        sum.tree.put(FLAGS, TREE_FLAGS);
        sum.tree.publish(TREE, ordinal);
        sum.samples.publish(THREAD_SAMPLES, ordinal);
        sum.header.publish(ENDED, ordinal);
        Some(sum)
    }

    /// What makes the samples, and how often.
    pub(super) fn describe(&self, period: u64, source: u64) {
        self.samples.put(PERIOD, period);
        self.samples.put(SOURCE, source);
    }

    /// Samples are missing: somebody else has the signal.
    pub(super) fn note_taken(&self) {
        self.samples.put(SOURCE, self.samples.words[SOURCE].load(Relaxed) | FLAG_TAKEN);
    }

    /// One thread more belongs to it.
    pub(super) fn add_thread(&self) {
        self.header.add(THREADS, 1);
    }

    /// Threads of it have used so much more of what is sampled: ns of CPU time, or events.
    pub(super) fn add_used(&self, more: u64) {
        self.samples.add(CPU, more);
    }

    /// The context of a method under another one, 0 being none. None: there is no room.
    pub(super) fn child(&mut self, recorder: &Recorder, jni: Jni<'_>, parent: u32, id: u32) -> Option<u32> {
        if let Some(node) = self.children.get(&(parent, id)) {
            return Some(*node);
        }
        if self.room == 0 {
            self.grow(recorder, jni)?;
        }
        let piece = self.pieces.len() - 1;
        let region = &self.pieces[piece];
        let room = (region.words.len() * 8 - HEADER) / NODE;
        let at = (HEADER + (room - self.room) * NODE) / 8;
        region.put(at + NODE_MIN, NO_MIN);
        // Last: it is what readers see a node by.
        let number = |node: u32| node * NODE_UNITS;
        region.words[at].store(u64::from(number(parent)) << 32 | u64::from(id + 1), SeqCst);
        self.room -= 1;
        self.nodes.push((piece as u32, at as u32));
        let node = self.nodes.len() as u32;
        self.children.insert((parent, id), node);
        Some(node)
    }

    fn grow(&mut self, recorder: &Recorder, jni: Jni<'_>) -> Option<()> {
        if self.nodes.len() >= MOST_NODES {
            return None;
        }
        let room = (self.nodes.len() / 4).clamp(LEAST_PIECE, MOST_PIECE);
        let piece = Region::new(recorder, jni, HEADER + room * NODE)?;
        let owner = self.header.words[0].load(Relaxed) >> 32;
        piece.put(FIRST, (self.nodes.len() as u64 + 1) * u64::from(NODE_UNITS));
        piece.publish(TREE_NODES, owner);
        match self.pieces.last() {
            Some(last) => last.put(NEXT, piece.offset),
            None => self.tree.put(PIECES_AT, piece.offset),
        }
        self.room = (piece.words.len() * 8 - HEADER) / NODE;
        self.pieces.push(piece);
        Some(())
    }

    /// Samples met a context; 0: none that is recorded; none: it is not known which. `squares`: those of what each counts for.
    pub(super) fn add(&self, node: Option<u32>, (periods, squares): (u64, u64), in_machine: bool) {
        self.samples.add(SQUARES, squares);
        match node {
            None => self.samples.add(UNKNOWN, periods),
            Some(0) => self.samples.add(IN_NO_CALL, periods),
            Some(node) => {
                let (piece, at) = self.nodes[node as usize - 1];
                self.pieces[piece as usize].add(at as usize + NODE_SAMPLES, periods);
                if in_machine {
                    self.samples.add(IN_MACHINE, periods);
                }
            }
        }
    }

    /// The sampler took so many ns.
    pub(super) fn add_handler(&self, more: u64) {
        self.samples.add(HANDLER, more);
    }

    /// The recording is over.
    pub(super) fn close(self, jni: Jni<'_>) {
        for region in [self.header, self.tree, self.samples].into_iter().chain(self.pieces) {
            jni.forget_global(region.kept);
        }
    }
}
