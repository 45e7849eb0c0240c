//! Lays out a profile file.

use std::collections::BTreeMap;
use std::fmt::Display;

use crate::remote;
use crate::script::{Recorded, Script};
use instrument_trace::encode;
use instrument_trace::format::*;
use instrument_trace::{
    Connection, Event, Frame, JavaThread, Link, RegionTiming, RemoteCall, ThreadSamples, Tree,
    TreeAllocation, TreeNode, Wait, WaitKind, WorstCall,
};

/// Id + 1 in the frame of a link.
const LINK_FRAME: u32 = 0x7fff_ffff;

/// Words of a thread region beside its name.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThreadFacts {
    /// Clock at the first event.
    pub start: u64,
    /// Clock when it was first seen to have ended.
    pub end: u64,
    /// Link that started it.
    pub link: u32,
    /// ns that the recorder took.
    pub pause: u64,
    /// Events dropped.
    pub dropped: u64,
    /// Flags of the region.
    pub flags: u64,
}

/// The biography of an object. Times and threads that do not matter are left 0.
#[derive(Debug, Clone, Copy, Default)]
pub struct Life {
    /// Class number.
    pub class: u32,
    /// Ordinal of the thread that made it.
    pub thread: u32,
    pub context: u32,
    /// Its bytes, a multiple of 8.
    pub bytes: u64,
    /// Collections that had ended when it was made.
    pub born: u32,
    /// Collections that had ended when it was found to be gone.
    pub gone: Option<u32>,
    /// Clock when it was made.
    pub clock: u64,
}

/// Writes a profile: one copy of the runtime, one block.
#[derive(Debug, Clone)]
pub struct Writer {
    data: Vec<u8>,
    properties: BTreeMap<String, String>,
    threads: u32,
    /// Nodes in a piece of a tree; 0: they are in the region of the tree.
    piece: usize,
}

impl Default for Writer {
    fn default() -> Self {
        Writer::new()
    }
}

impl Writer {
    /// A file without regions: process 1, started at 1 ms and clock 1,000.
    pub fn new() -> Writer {
        let mut data = vec![0; (FILE_HEADER + HEADER) as usize];
        data[..8].copy_from_slice(&MAGIC);
        let mut writer = Writer { data, properties: BTreeMap::new(), threads: 0, piece: 0 };
        writer.word(8, u64::from(OLDEST_VERSION) | FILE_HEADER << 32);
        writer.word(24, 1);
        writer.word(32, 1);
        writer.word(56, 1);
        writer.word(64, 1000);
        writer
    }

    /// Sets a word of the file.
    pub fn word(&mut self, offset: u64, value: u64) -> &mut Writer {
        self.data[offset as usize..offset as usize + 8].copy_from_slice(&value.to_le_bytes());
        self
    }

    /// A word of the file.
    pub fn get(&self, offset: u64) -> u64 {
        u64::from_le_bytes(self.data[offset as usize..offset as usize + 8].try_into().expect("a word"))
    }

    /// Sets the clock at the beat and at the beginning of the shutdown.
    pub fn clocks(&mut self, beat: u64, shutdown: u64) -> &mut Writer {
        self.word(72, beat).word(80, shutdown)
    }

    /// Adds what a calibration that can be trusted found: ns of a call's probes inside and outside.
    pub fn calibrated(&mut self, inner: f64, outer: f64) -> &mut Writer {
        self.property("calibration.inner", inner).property("calibration.outer", outer);
        self.property("calibration.rounds", 100).property("calibration.rounds.least", 20)
    }

    /// Adds a property.
    pub fn property(&mut self, key: &str, value: impl Display) -> &mut Writer {
        self.properties.insert(key.into(), value.to_string());
        self
    }

    /// Adds a region: words 16 to 64 of its header, and its body. Returns its file offset.
    pub fn region(&mut self, kind: u32, owner: u32, header: &[u64], body: &[u8]) -> u64 {
        let offset = self.data.len() as u64;
        self.data.extend_from_slice(&kind.to_le_bytes());
        self.data.extend_from_slice(&owner.to_le_bytes());
        let length = (HEADER + body.len() as u64).next_multiple_of(HEADER);
        self.data.extend_from_slice(&length.to_le_bytes());
        for i in 0..6 {
            self.data.extend_from_slice(&header.get(i).copied().unwrap_or(0).to_le_bytes());
        }
        self.data.extend_from_slice(body);
        self.data.resize((offset + length) as usize, 0);
        offset
    }

    /// Adds an id map: gzip data.
    pub fn id_map(&mut self, gzip: &[u8]) -> &mut Writer {
        self.region(ID_MAP, 0, &[gzip.len() as u64], gzip);
        self
    }

    /// Adds class names, by class number.
    pub fn class_names(&mut self, names: &[(u32, &str)]) -> &mut Writer {
        self.region(CLASS_NAMES, 0, &[], &encode::class_names(names));
        self
    }

    /// Adds a thread that points to these regions. Returns its file offset.
    pub fn thread(&mut self, name: &str, facts: &ThreadFacts, figures: u64, allocations: u64) -> u64 {
        self.threads += 1;
        let mut body = name.as_bytes()[..name.len().min(THREAD_NAME_ROOM as usize)].to_vec();
        body.resize(THREAD_NAME_ROOM as usize, 0);
        for word in [facts.start, facts.end, facts.link.into(), facts.pause] {
            body.extend_from_slice(&word.to_le_bytes());
        }
        let header = [figures, allocations, facts.dropped, facts.flags, name.len() as u64];
        self.region(THREAD, self.threads, &header, &body)
    }

    /// Adds a thread that recorded a script as a tree. Returns its ordinal.
    pub fn tree(&mut self, name: &str, script: &Script) -> u32 {
        let recorded = script.record();
        let Recorded { pause, dropped, .. } = recorded;
        let facts = ThreadFacts { start: script.start, pause, dropped, ..ThreadFacts::default() };
        self.recorded(name, &facts, &recorded)
    }

    /// Adds a thread that recorded a script with samples, and timed only the calls of the methods `timed`. What `samples` met beside its
    /// contexts is added to what the script has of that. Returns its ordinal.
    pub fn samples(&mut self, name: &str, script: &Script, timed: &[u32], samples: &ThreadSamples) -> u32 {
        let recorded = script.record_samples(timed);
        let Recorded { pause, dropped, .. } = recorded;
        let facts = ThreadFacts { start: script.start, pause, dropped, ..ThreadFacts::default() };
        let owner = self.recorded(name, &facts, &recorded);
        let in_no_call = samples.in_no_call + recorded.in_no_call;
        self.thread_samples(owner, &ThreadSamples { in_no_call, ..*samples });
        owner
    }

    /// Adds the samples of a thread that its contexts do not have.
    pub fn thread_samples(&mut self, owner: u32, samples: &ThreadSamples) -> &mut Writer {
        let (header, body) = samples.encode();
        self.region(THREAD_SAMPLES, owner, &header, &encode::words(body.into_iter()));
        self
    }

    /// Adds a thread with any tree. Returns its ordinal.
    pub fn recorded(&mut self, name: &str, facts: &ThreadFacts, recorded: &Recorded) -> u32 {
        let owner = self.threads + 1;
        let tree = self.tree_region(owner, &recorded.tree, &recorded.stack, recorded.last_event);
        let allocations = self.allocations_region(owner, &recorded.allocations);
        let thread = self.thread(name, facts, tree, allocations);
        self.bytecodes(owner, thread, &recorded.tree);
        owner
    }

    /// Adds the sum of `threads` threads that ended. Returns the file offset of its region.
    pub fn ended(&mut self, threads: u64, recorded: &Recorded) -> u64 {
        let tree = self.tree_region(0, &recorded.tree, &[], 0);
        let allocations = self.allocations_region(0, &recorded.allocations);
        let mut body = vec![0; (THREAD_REGION - HEADER) as usize];
        body[152..160].copy_from_slice(&recorded.pause.to_le_bytes());
        let thread = self.region(ENDED, 0, &[tree, allocations, recorded.dropped, 0, threads], &body);
        self.bytecodes(0, thread, &recorded.tree);
        thread
    }

    /// Adds a thread that recorded a script as a trace, in pieces of so many events. Returns its ordinal.
    ///
    /// # Panics
    /// On an event that a trace has no room for.
    pub fn trace(&mut self, name: &str, script: &Script, events_per_piece: usize) -> u32 {
        let (mut pause, mut dropped) = (0, 0);
        for (_, event) in &script.steps {
            match event {
                Event::Pause(ns) => pause += ns,
                Event::Dropped(events) => dropped += events,
                _ => {}
            }
        }
        let facts = ThreadFacts { start: script.start, pause, dropped, ..ThreadFacts::default() };
        let owner = self.threads + 1;
        self.thread(name, &facts, 0, 0);
        let mut clock = script.start;
        let mut number = 0;
        let mut piece: Vec<u8> = Vec::new();
        let mut start = clock;
        for &(now, event) in &script.steps {
            // These do not read the clock: the time before them is that of the next event which does.
            let still = matches!(
                event,
                Event::Made { .. } | Event::Surplus(..) | Event::Pause(_) | Event::Dropped(_)
            );
            let mut ns = if still { 0 } else { now - clock };
            let mut words = Vec::new();
            if ns >= 1 << 34 {
                words.push(Event::Later(ns).encode(0).expect("a wait of less than 36 years"));
                ns = 0;
            }
            words.push(event.encode(ns).expect("an event that has room"));
            for word in words {
                if piece.len() == 8 * events_per_piece {
                    number += 1;
                    self.region(TRACE, owner, &[number, start], &piece);
                    piece.clear();
                    start = clock;
                }
                piece.extend_from_slice(&word.to_le_bytes());
                let (event, ns) = Event::decode(word);
                clock += ns;
                if let Event::Later(ns) | Event::Pause(ns) = event {
                    clock += ns;
                }
            }
        }
        number += 1;
        self.region(TRACE, owner, &[number, start], &piece);
        owner
    }

    /// Adds links.
    pub fn links(&mut self, links: &[Link]) -> &mut Writer {
        let body = encode::links(links.iter().map(|link| Link { node: self.number(link.node), ..*link }));
        self.region(LINKS, 0, &[], &body);
        self
    }

    /// Adds connections.
    pub fn connections(&mut self, connections: &[Connection]) -> &mut Writer {
        let body: Vec<u8> =
            connections.iter().flat_map(remote::connection).flat_map(u64::to_le_bytes).collect();
        self.region(CONNECTIONS, 0, &[], &body);
        self
    }

    /// Adds remote calls; `None` is one that was not finished.
    pub fn remote_calls(&mut self, calls: &[Option<RemoteCall>]) -> &mut Writer {
        let encode = |call: &Option<RemoteCall>| call.as_ref().map_or([0; 16], remote::remote_call);
        let body: Vec<u8> = calls.iter().flat_map(encode).flat_map(u64::to_le_bytes).collect();
        self.region(REMOTE_CALLS, 0, &[], &body);
        self
    }

    /// Adds a search for holders, its data as in the file.
    pub fn holders(&mut self, data: &[u8]) -> &mut Writer {
        self.region(HOLDERS, 0, &[data.len() as u64], data);
        self
    }

    /// Adds a change of the selection, its data as in the file.
    pub fn selection_change(&mut self, data: &[u8]) -> &mut Writer {
        self.region(SELECTION_CHANGES, 0, &[data.len() as u64], data);
        self
    }

    /// Adds the timings of a code region; its ring is as long as the list of its passages.
    pub fn region_timing(&mut self, timing: &RegionTiming) -> &mut Writer {
        let RegionTiming { passages, ns, min, max, left_otherwise, .. } = *timing;
        let length = timing.last.len().next_multiple_of(4);
        let mut body = vec![0; 16 * length];
        let first = passages - timing.last.len() as u64;
        for (number, passage) in (first..).zip(&timing.last) {
            let at = 16 * (number as usize % length);
            body[at..at + 8].copy_from_slice(&passage.clock.to_le_bytes());
            body[at + 8..at + 16].copy_from_slice(&passage.ns.to_le_bytes());
        }
        let header = [u64::from(timing.number), passages, ns, min, max, left_otherwise];
        self.region(REGION_TIMINGS, timing.thread, &header, &body);
        self
    }

    /// Adds collections from number `first` on: clocks at their start and end.
    pub fn collections(&mut self, first: u64, collections: &[(u64, u64)]) -> &mut Writer {
        let words = collections.iter().flat_map(|&(start, end)| [start, end]);
        let body = words.flat_map(u64::to_le_bytes).collect::<Vec<_>>();
        self.region(COLLECTIONS, 0, &[first], &body);
        self
    }

    /// Adds contexts from number `first` on: their callers and the ids of their methods; `None` is *deeper*.
    pub fn contexts(&mut self, first: u64, contexts: &[(u32, Option<u32>)]) -> &mut Writer {
        let words = contexts.iter().flat_map(|&(caller, id)| [caller, id.map_or(DEEPER, |id| id + 1)]);
        let body = words.flat_map(u32::to_le_bytes).collect::<Vec<_>>();
        self.region(CONTEXTS, 0, &[first], &body);
        self
    }

    /// Adds biographies from number `first` on.
    pub fn objects(&mut self, first: u64, lives: &[Life]) -> &mut Writer {
        let mut body = Vec::with_capacity(OBJECT as usize * lives.len());
        for life in lives {
            let gone = life.gone.map_or(0, |gone| gone + 1);
            for half in [life.class, life.thread, life.context, life.born, (life.bytes / 8) as u32, gone] {
                body.extend_from_slice(&half.to_le_bytes());
            }
            body.extend_from_slice(&life.clock.to_le_bytes());
        }
        self.region(OBJECTS, 0, &[first], &body);
        self
    }

    /// Adds waits.
    pub fn waits(&mut self, waits: &[Wait]) -> &mut Writer {
        let mut body = Vec::with_capacity(WAIT as usize * waits.len());
        for wait in waits {
            let kind = match wait.kind {
                WaitKind::Contended => 1,
                WaitKind::Waiting => 2,
                WaitKind::Other(other) => other,
            };
            let half = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
            for word in [
                half(kind, wait.thread),
                wait.start,
                wait.end,
                half(wait.monitor, wait.class),
                half(wait.context, wait.owner),
                wait.timeout,
                if wait.timed_out { u64::from(TIMED_OUT) } else { 0 },
                0,
            ] {
                body.extend_from_slice(&word.to_le_bytes());
            }
        }
        self.region(WAITS, 0, &[], &body);
        self
    }

    /// Adds Java threads; their texts are short enough.
    pub fn java_threads(&mut self, threads: &[JavaThread]) -> &mut Writer {
        let mut body = Vec::with_capacity(JAVA_THREAD as usize * threads.len());
        for (thread, end) in threads.iter().zip((1..).map(|n| n * JAVA_THREAD as usize)) {
            let flags =
                if thread.daemon { DAEMON } else { 0 } | if thread.virtual_thread { VIRTUAL } else { 0 };
            let texts = [&thread.name, &thread.group, &thread.group_parent];
            let lengths = texts.iter().rev().fold(0, |all, text| all << 16 | text.len() as u64);
            for word in [
                u64::from(thread.number) | u64::from(thread.ordinal) << 32,
                thread.start,
                thread.end,
                u64::from(thread.starter) | u64::from(flags) << 32,
                lengths,
            ] {
                body.extend_from_slice(&word.to_le_bytes());
            }
            texts.iter().for_each(|text| body.extend_from_slice(text.as_bytes()));
            body.resize(end, 0);
        }
        self.region(JAVA_THREADS, 0, &[], &body);
        self
    }

    /// Adds a tree region. Returns its file offset.
    pub fn tree_region(&mut self, owner: u32, tree: &Tree, stack: &[Frame], last_event: u64) -> u64 {
        let mut body = Vec::new();
        let mut word = |word: u64| body.extend_from_slice(&word.to_le_bytes());
        for frame in stack {
            let id_plus_one = if frame.link { LINK_FRAME } else { frame.id + 1 };
            let node = u64::from(self.number(frame.node));
            word(u64::from(frame.pending) << 63 | u64::from(id_plus_one) << 32 | node);
            word(frame.since);
        }
        // A popped frame, and the free one behind it.
        [0, last_event, 0, 0].into_iter().for_each(&mut word);
        let mut open = vec![0; tree.nodes.len() + 1];
        for frame in stack {
            if let Some(open) = open.get_mut(frame.node as usize) {
                *open += 1;
            }
        }
        let nodes = tree.nodes.iter().zip(&open[1..]).map(|(node, open)| {
            let parent = self.number(node.parent);
            encode::node(&TreeNode { parent, ..*node }, node.open.saturating_sub(*open), tree.has_samples)
        });
        let nodes = nodes.collect::<Vec<_>>();
        let flags = encode::tree_flags(tree);
        let words = 2 * (stack.len() as u64 + 2);
        let kept: Vec<u8> =
            tree.durations.iter().flat_map(|(node, of)| encode::octaves(self.number(*node), of)).collect();
        let durations = if kept.is_empty() { 0 } else { self.region(DURATIONS, owner, &[], &kept) };
        let header = |flags| [words, flags, 0, durations, tree.durations_left_out, tree.recursive];
        if self.piece > 0 {
            let at = self.region(TREE, owner, &header(flags | IN_PIECES), &body);
            self.pieces(owner, at, &nodes);
            at
        } else {
            nodes.into_iter().flatten().for_each(word);
            self.region(TREE, owner, &header(flags), &body)
        }
    }

    /// Adds one of the calls that took longest of a method.
    pub fn worst_call(&mut self, call: &WorstCall) -> &mut Writer {
        let flags = [call.has_failed, call.is_part, call.is_drawn].map(u64::from);
        let method = u64::from(call.id + 1) | flags[0] << 32 | flags[1] << 33 | flags[2] << 34;
        let header = [method, call.ns, call.end, call.tree.nodes.len() as u64];
        let nodes = call.tree.nodes.iter().map(|node| (encode::node(node, 0, false), node.samples));
        let words = nodes.flat_map(|(word, samples)| [word[0], word[1], word[2], word[3], samples]);
        self.region(WORST_CALL, call.thread, &header, &encode::words(words));
        self
    }

    /// From here on the nodes of trees are in pieces of so many, as they are since version 2. Later pieces have lower numbers.
    pub fn in_pieces(&mut self, nodes: usize) -> &mut Writer {
        self.piece = nodes;
        self.word(8, u64::from(PIECES_VERSION) | FILE_HEADER << 32)
    }

    /// The number in the file of a node of a tree.
    fn number(&self, node: u32) -> u32 {
        match (node as usize).checked_sub(1) {
            Some(index) if self.piece > 0 => {
                100_000 - 100 * (index / self.piece) as u32 + NODE_UNITS * (index % self.piece) as u32
            }
            _ => node,
        }
    }

    /// Adds the nodes of a tree behind its region, and leads the region to them.
    fn pieces(&mut self, owner: u32, tree: u64, nodes: &[[u64; 16]]) {
        let mut leads = tree + 32;
        for (i, piece) in nodes.chunks(self.piece).enumerate() {
            let body = piece.as_flattened().iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
            let first = self.number((i * self.piece) as u32 + 1);
            let at = self.region(TREE_NODES, owner, &[u64::from(first)], &body);
            self.word(leads, at);
            leads = at + 24;
        }
    }

    /// Adds what the nodes of a tree executed, if they did, and leads its thread there. Places that are not used lie between.
    fn bytecodes(&mut self, owner: u32, thread: u64, tree: &Tree) {
        let mut body = Vec::new();
        for (node, number) in tree.nodes.iter().zip(1..).filter(|(node, _)| node.bytecodes > 0) {
            for word in [0, 0, u64::from(self.number(number)), node.bytecodes] {
                body.extend_from_slice(&word.to_le_bytes());
            }
        }
        if !body.is_empty() {
            let at = self.region(BYTECODES, owner, &[], &body);
            self.word(thread + 56, at);
        }
    }

    fn allocations_region(&mut self, owner: u32, allocations: &[TreeAllocation]) -> u64 {
        if allocations.is_empty() {
            return 0;
        }
        let made = allocations.iter().map(|made| TreeAllocation { node: self.number(made.node), ..*made });
        let body = encode::tree_allocations(made);
        self.region(TREE_ALLOCATIONS, owner, &[], &body)
    }

    /// The file.
    pub fn finish(mut self) -> Vec<u8> {
        let text = encode::properties(&self.properties);
        if !text.is_empty() {
            self.region(PROPERTIES, 0, &[text.len() as u64], text.as_bytes());
        }
        let end = (self.data.len() as u64 + HEADER).next_multiple_of(PAGE);
        self.data.resize(end as usize, 0);
        self.word(40, end);
        self.word(FILE_HEADER, u64::from(BLOCK) | 1 << 32);
        self.word(FILE_HEADER + 8, end - FILE_HEADER);
        self.data
    }
}
