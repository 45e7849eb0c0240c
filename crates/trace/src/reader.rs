//! The reader: a profile as threads and their figures. It never fails on what follows the file header; what it cannot
//! read it notes as [`Damage`].
//!
//! 1. walk the blocks and regions;
//! 2. finish the moves that valid journals describe;
//! 3. read the regions of each copy: names, id maps, properties, links, timings, collections, contexts, Java threads; note where objects and waits are;
//! 4. read each thread region and, through its pointers, its counts or tree and its allocations;
//! 5. add what is left of threads that were being folded to the ended ones;
//! 6. hand the pieces of traces to their threads.

mod threads;

use std::collections::{HashMap, HashSet};

use crate::bytes::Bytes;
use crate::error::{Damage, Error};
use crate::facts::Copy;
use crate::format::*;
use crate::heap::{ObjectPiece, read_collections};
use crate::holder::{Holder, HolderPath, HolderSearch, SearchEnd};
use crate::line;
use crate::link::{Link, LinkKind};
use crate::pause::Pause;
use crate::profile::Profile;
use crate::region_timing::{Passage, RegionTiming};
use crate::regions::{Region, walk};
use crate::remote::{Connection, RemoteCalls};
use crate::seal;
use crate::selection::SelectionChange;
use crate::source::Source;
use crate::thread::{Piece, Thread, ThreadKind};
use crate::thread_samples::ThreadSamples;
use crate::tree_region::Numbers;
use crate::untimed::Methods;
use crate::wait::{WaitPiece, read_java_threads};
use crate::worst_call::WorstCall;

/// The largest id map or list of properties that is read.
const LARGEST_DATA: u64 = 1 << 28;

/// What is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parts {
    All,
    /// Not what threads did, nor what ids stand for.
    Facts,
}

pub(crate) fn read(source: &dyn Source, parts: Parts) -> Result<Profile, Error> {
    let mut bytes = Bytes::new(source)?;
    let profile = read_bytes(&mut bytes, parts);
    if let Some(error) = bytes.error() {
        return Err(error.into());
    }
    let mut profile = profile?;
    if parts == Parts::All {
        // It is said first: nothing else that is found is certain.
        profile.damage.splice(..0, seal::check(source)?);
    }
    Ok(profile)
}

fn read_bytes(bytes: &mut Bytes<'_>, parts: Parts) -> Result<Profile, Error> {
    let magic = bytes.data(0, 8);
    if magic != MAGIC[..magic.len()] || magic.is_empty() {
        return Err(Error::NotAProfile);
    }
    if bytes.size() < FILE_HEADER {
        return Err(Error::NoHeader { length: bytes.size() });
    }
    let version = bytes.u32(8);
    if !(OLDEST_VERSION..=VERSION).contains(&version) {
        return Err(Error::Version { version });
    }
    let mut profile = Profile {
        pid: bytes.u64(24),
        nonce: bytes.u64(16),
        length: bytes.u64(40),
        is_cut: bytes.size() < bytes.u64(40),
        start_ms: bytes.u64(32),
        dropped: bytes.u64(48),
        start_clock: bytes.u64(64),
        beat_clock: bytes.u64(72),
        shutdown_clock: bytes.u64(80),
        ..Profile::default()
    };
    let places = walk(bytes, bytes.u64(40), &mut profile.damage);
    for region in places.regions.iter().filter(|r| r.kind == ENDED) {
        let [valid, target, value, source] = bytes.words(region.offset + 64);
        if valid == 1 {
            bytes.change(source, 0);
            bytes.change(target, value);
        }
    }
    let by_offset = places.regions.iter().map(|r| (r.offset, *r)).collect();
    let mut reader = Reader {
        bytes,
        places: by_offset,
        used: HashSet::new(),
        maps: HashSet::new(),
        numbers: HashMap::new(),
        folding: Vec::new(),
        methods: Methods::default(),
        untimed: HashMap::new(),
        context_room: HashMap::new(),
        samples: HashMap::new(),
        profile: &mut profile,
    };
    for region in places.regions.iter().filter(|r| r.kind == CONTEXTS) {
        *reader.context_room.entry(region.copy).or_default() += (region.length - HEADER) / 8;
    }
    let is_left_out = |kind: u32| {
        parts == Parts::Facts && [THREAD, ENDED, ID_MAP, THREAD_SAMPLES, WORST_CALL].contains(&kind)
    };
    for region in places.regions.iter().filter(|region| !is_left_out(region.kind)) {
        reader.region(region);
    }
    reader.estimate_untimed();
    reader.number_links();
    reader.hand_out_samples();
    reader.finish_folding();
    reader.profile.threads.iter_mut().for_each(Thread::derive_exits);
    reader.hand_out(places.pieces);
    profile.threads.sort_by_key(|t| (t.copy, t.ordinal));
    profile.collections.sort_by_key(|c| (c.copy, c.number));
    profile.collections.dedup_by_key(|c| (c.copy, c.number));
    profile.objects.sort_by_key(|piece| (piece.copy, piece.first));
    profile.java_threads.sort_by_key(|t| (t.copy, t.number));
    profile.java_threads.dedup_by_key(|t| (t.copy, t.number));
    profile.regions.sort_by_key(|r| (r.copy, r.number, r.thread));
    profile.connections.sort_by_key(|c| (c.copy, c.number));
    if let Some(offset) = bytes.garbled() {
        let reason = "it is not UTF-8".into();
        profile.damage.push(Damage { offset, structure: "text", reason });
    }
    Ok(profile)
}

struct Reader<'a, 'b> {
    bytes: &'b Bytes<'a>,
    places: HashMap<u64, Region>,
    /// Regions that a thread has claimed: bounds the work on a file that points to one many times.
    used: HashSet<u64>,
    /// Id maps seen, with their copies.
    maps: HashSet<(u32, Vec<u8>)>,
    /// What the numbers of nodes mean, by copy and thread, where they are not those of the tree.
    numbers: HashMap<(u32, u32), Numbers>,
    /// Threads that were being folded: their figures are partly here and partly in a sum of ended threads, with this ordinal.
    folding: Vec<(Thread, u32)>,
    /// What calls took, for contexts of which none was timed.
    methods: Methods,
    /// Indexes of these, by copy and thread.
    untimed: HashMap<(u32, u32), Vec<u32>>,
    /// Contexts for which there is room, by copy: bounds what a wrong number can ask for.
    context_room: HashMap<u32, u64>,
    /// By copy and ordinal of the thread, with the offset of their region.
    samples: HashMap<(u32, u32), (u64, ThreadSamples)>,
    profile: &'b mut Profile,
}

impl Reader<'_, '_> {
    fn damage(&mut self, offset: u64, structure: &'static str, reason: impl Into<String>) {
        self.profile.damage.push(Damage { offset, structure, reason: reason.into() });
    }

    fn copy(&mut self, number: u32) -> &mut Copy {
        self.profile.copies.entry(number).or_default()
    }

    fn region(&mut self, region: &Region) {
        match region.kind {
            THREAD | ENDED => self.thread(region),
            // Read through the thread that points to them.
            COUNTS | ALLOCATIONS | TREE | TREE_ALLOCATIONS | TREE_NODES | DURATIONS | BYTECODES => {}
            CLASS_NAMES => self.class_names(region),
            ID_MAP => {
                if let Some(data) = self.data(region, "id map")
                    && self.maps.insert((region.copy, data.clone()))
                {
                    self.copy(region.copy).id_maps.push(data);
                }
            }
            PROPERTIES => {
                if let Some(data) = self.data(region, "properties") {
                    let text = self.bytes.text(region.offset + HEADER, data.len() as u64);
                    let lines = text.lines().filter_map(|l| l.split_once('='));
                    let properties = lines.map(|(k, v)| (k.to_owned(), unescape(v)));
                    self.copy(region.copy).properties.extend(properties);
                }
            }
            LINKS => self.links(region),
            REGION_TIMINGS => self.region_timings(region),
            COLLECTIONS => {
                read_collections(self.bytes, region, &mut self.profile.collections, &mut self.profile.damage);
            }
            JAVA_THREADS => read_java_threads(self.bytes, region, &mut self.profile.java_threads),
            WAITS => self.profile.waits.push(WaitPiece::new(region)),
            OBJECTS => self.profile.objects.push(ObjectPiece::new(self.bytes, region)),
            CONTEXTS => {
                let room = self.context_room.get(&region.copy).copied().unwrap_or(0);
                let contexts = &mut self.profile.copies.entry(region.copy).or_default().contexts;
                contexts.read(self.bytes, region, room, &mut self.profile.damage);
            }
            CONNECTIONS => self.connections(region),
            REMOTE_CALLS => self.remote_calls(region),
            PAUSES => self.pauses(region),
            HOLDERS => self.holders(region),
            SELECTION_CHANGES => self.selection_change(region),
            LINES => self.lines(region),
            THREAD_SAMPLES => self.thread_samples(region),
            WORST_CALL => match WorstCall::read(self.bytes, region) {
                Ok(call) if call.is_drawn => self.profile.drawn_calls.push(call),
                Ok(call) => self.profile.worst_calls.push(call),
                Err((at, reason)) => self.damage(at, "worst call", reason),
            },
            kind => *self.profile.skipped.entry(kind).or_default() += 1,
        }
    }

    /// The data of an id map or properties region, if all of it is there.
    fn data(&mut self, region: &Region, structure: &'static str) -> Option<Vec<u8>> {
        let length = self.bytes.u64(region.offset + 16);
        if length > region.length.saturating_sub(HEADER) {
            self.damage(region.offset, structure, "it is cut off");
            return None;
        }
        if length > LARGEST_DATA {
            self.damage(region.offset, structure, format!("{length} bytes are too many"));
            return None;
        }
        Some(self.bytes.data(region.offset + HEADER, length))
    }

    fn class_names(&mut self, region: &Region) {
        let mut at = region.offset + HEADER;
        while at + 8 <= region.end() {
            let number = self.bytes.u32(at);
            let length = u64::from(self.bytes.u32(at + 4));
            if number == 0 {
                break;
            }
            if length > region.end() - at - 8 {
                self.damage(at, "class name", "it is cut off");
                break;
            }
            let name = self.bytes.text(at + 8, length);
            self.copy(region.copy).class_names.insert(number, name);
            at += 8 + length.next_multiple_of(8);
        }
    }

    fn links(&mut self, region: &Region) {
        let mut at = region.offset + HEADER;
        while at + 32 <= region.end() {
            let [number_kind, node_thread, clock, _] = self.bytes.words(at);
            if number_kind == 0 {
                return;
            }
            self.profile.links.push(Link {
                copy: region.copy,
                number: number_kind as u32,
                kind: LinkKind::new((number_kind >> 32) as u32),
                node: node_thread as u32,
                thread: (node_thread >> 32) as u32,
                clock,
            });
            at += 32;
        }
        if at != region.end() {
            self.damage(at, "link", "it is cut off");
        }
    }

    fn connections(&mut self, region: &Region) {
        let mut at = region.offset + HEADER;
        while at + CONNECTION <= region.end() {
            let words = self.bytes.words(at);
            if words[0] == 0 {
                return;
            }
            self.profile.connections.push(Connection::decode(region.copy, &words));
            at += CONNECTION;
        }
        if at != region.end() {
            self.damage(at, "connection", "it is cut off");
        }
    }

    /// Notes where they are; they are read by [`Profile::visit_remote_calls`].
    fn remote_calls(&mut self, region: &Region) {
        let (offset, length) = (region.offset + HEADER, region.length.saturating_sub(HEADER));
        self.profile.remote_calls.push(RemoteCalls { copy: region.copy, offset, length });
    }

    fn region_timings(&mut self, region: &Region) {
        if region.length < HEADER {
            return self.damage(region.offset, "region timings", "it is cut off");
        }
        let [number, passages, ns, min, max, left_otherwise] = self.bytes.words(region.offset + 16);
        let length = (region.length - HEADER) / 16;
        // The ring is as long as its region. If that was cut, what the last passages are cannot be told.
        let first = passages.saturating_sub(length);
        let mut last = Vec::new();
        for passage in first..passages.min(first + length) {
            let [clock, ns] = self.bytes.words(region.offset + HEADER + 16 * (passage % length));
            // A sum of ended threads has none.
            if clock != 0 {
                last.push(Passage { clock, ns });
            }
        }
        self.profile.regions.push(RegionTiming {
            copy: region.copy,
            thread: region.owner,
            number: u32::try_from(number).unwrap_or(u32::MAX),
            passages,
            ns,
            min,
            max,
            left_otherwise,
            last,
        });
    }

    fn pauses(&mut self, region: &Region) {
        let mut at = region.offset + HEADER;
        while at + 16 <= region.end() {
            let [start, end] = self.bytes.words(at);
            if start == 0 {
                return;
            }
            self.profile.pauses.push(Pause { start, end });
            at += 16;
        }
    }

    fn holders(&mut self, region: &Region) {
        let Some(data) = self.data(region, "holders") else { return };
        let word = |at: usize| Some(u32::from_le_bytes(data.get(at..at + 4)?.try_into().ok()?));
        let (Some(end), Some(objects), Some(low), Some(high)) = (word(0), word(4), word(8), word(12)) else {
            return self.damage(region.offset, "holders", "it is cut off");
        };
        let end = match end {
            0 => SearchEnd::Whole,
            2 => SearchEnd::Objects,
            _ => SearchEnd::Time,
        };
        let mut holders = Vec::new();
        let mut at = 16;
        while at < data.len() {
            let words = [0, 4, 8, 12, 16, 20].map(|offset| word(at + offset).unwrap_or(u32::MAX));
            let [class, context, sampled, objects, flags, length] = words;
            let Some(text) = data.get(at + 24..).and_then(|rest| rest.get(..length as usize)) else {
                return self.damage(region.offset, "holders", "it is cut off");
            };
            let steps = || String::from_utf8_lossy(text).split('\n').map(str::to_owned).collect();
            let path = match flags {
                HOLDER_NOT_MET => HolderPath::NotMet,
                HOLDER_OTHERS => HolderPath::Others,
                _ => HolderPath::Steps(steps()),
            };
            holders.push(Holder { class, context, sampled, objects, path });
            at += 24 + text.len().next_multiple_of(8);
        }
        let ns = u64::from(high) << 32 | u64::from(low);
        let search = HolderSearch { copy: region.copy, end, objects, ns, holders };
        self.profile.holder_searches.push(search);
    }

    fn lines(&mut self, region: &Region) {
        let structure = "counts of lines";
        let Some(data) = self.data(region, structure) else { return };
        if let Err(reason) = line::read(&data, &mut self.copy(region.copy).lines) {
            self.damage(region.offset, structure, reason);
        }
    }

    fn selection_change(&mut self, region: &Region) {
        let structure = "change of the selection";
        let Some(data) = self.data(region, structure) else { return };
        match SelectionChange::decode(region.copy, &data) {
            Ok(change) => self.profile.selection_changes.push(change),
            Err(reason) => self.damage(region.offset, structure, reason),
        }
    }

    fn thread_samples(&mut self, region: &Region) {
        if region.length < THREAD_SAMPLES_REGION {
            return self.damage(region.offset, "thread samples", "it is cut off");
        }
        let (header, body) = (region.offset + 16, region.offset + HEADER);
        let samples = ThreadSamples::decode(self.bytes.words(header), self.bytes.words(body));
        let known = self.samples.entry((region.copy, region.owner));
        known.or_insert((region.offset, ThreadSamples::default())).1.add(&samples);
    }

    /// Gives each thread its samples.
    fn hand_out_samples(&mut self) {
        let folding = self.folding.iter_mut().map(|(thread, _)| thread);
        for thread in self.profile.threads.iter_mut().chain(folding) {
            let samples = self.samples.remove(&(thread.copy, thread.ordinal));
            thread.samples = samples.map(|(_, samples)| samples);
        }
        let left = self.samples.values().filter(|(_, of)| of.cpu_ns > 0 || of.outside() > 0);
        if let Some(first) = left.clone().map(|(offset, _)| *offset).min() {
            let reason = format!("the threads of {} regions are not there", left.count());
            self.damage(first, "thread samples", reason);
        }
    }

    fn estimate_untimed(&mut self) {
        for thread in &mut self.profile.threads {
            let (Some(untimed), Some(tree)) =
                (self.untimed.remove(&(thread.copy, thread.ordinal)), &mut thread.tree)
            else {
                continue;
            };
            for index in untimed {
                if let Some(node) = tree.nodes.get_mut(index as usize) {
                    self.methods.estimate(node);
                }
            }
        }
    }

    /// Links name nodes as the file does.
    fn number_links(&mut self) {
        for link in &mut self.profile.links {
            if let Some(numbers) = self.numbers.get(&(link.copy, link.thread)) {
                link.node = numbers.of(link.node);
            }
        }
    }

    fn finish_folding(&mut self) {
        let ended =
            self.profile.threads.iter().enumerate().filter(|(_, t)| matches!(t.kind, ThreadKind::Ended(_)));
        let ended = ended.map(|(i, t)| ((t.copy, t.ordinal), i)).collect::<HashMap<_, _>>();
        for (mut thread, into) in std::mem::take(&mut self.folding) {
            let Some(&sum) = ended.get(&(thread.copy, into)) else {
                self.profile.threads.push(Thread { in_transition: true, ..thread });
                continue;
            };
            thread.measure_open(thread.last_event);
            let numbers = self.profile.threads[sum].absorb(&thread);
            let links = self.profile.links.iter_mut();
            for link in links.filter(|l| (l.copy, l.thread) == (thread.copy, thread.ordinal)) {
                link.thread = into;
                link.node = numbers.get(link.node as usize).copied().unwrap_or(0);
            }
        }
    }

    fn hand_out(&mut self, mut pieces: HashMap<(u32, u32), Vec<Piece>>) {
        for thread in self.profile.threads.iter_mut().filter(|t| t.kind == ThreadKind::Thread) {
            if let Some(mut pieces) = pieces.remove(&(thread.copy, thread.ordinal)) {
                pieces.sort_by_key(|piece| piece.number);
                pieces.shrink_to_fit();
                thread.pieces = pieces;
            }
        }
        let mut left = pieces.into_values().flatten().map(|piece| piece.offset - HEADER).collect::<Vec<_>>();
        left.sort_unstable();
        if let Some(&first) = left.first() {
            self.damage(first, "trace", format!("the threads of {} pieces are not there", left.len()));
        }
    }
}

fn unescape(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('n') => text.push('\n'),
                Some('r') => text.push('\r'),
                Some(other) => text.push(other),
                None => text.push('\\'),
            },
            (c, false) => text.push(c),
        }
    }
    text
}
