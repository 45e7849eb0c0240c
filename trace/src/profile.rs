//! The reader: a profile as threads, methods and allocations. It never fails on what follows the file header; what it
//! cannot read it notes as [`Damage`].
//!
//! 1. walk the blocks and regions;
//! 2. finish the moves that valid journals describe;
//! 3. read the regions of each copy: names, id maps, properties;
//! 4. read each thread region and, through its pointers, its counts and allocations.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::bytes::Bytes;
use crate::error::{Damage, Error};
use crate::format::*;
use crate::regions::{Region, walk};

/// One profile file.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    /// Process id, as the process saw it; 0: unknown.
    pub pid: u64,
    /// Start of recording, in ms since 1970-01-01 UTC.
    pub start_ms: u64,
    /// Events dropped by threads that have no region.
    pub dropped: u64,
    /// Copies of the runtime, by their numbers.
    pub copies: BTreeMap<u32, Copy>,
    /// Threads in the order of their first events, and what is left of ended ones.
    pub threads: Vec<Thread>,
    /// Region kinds that this reader does not know, and how many of each it skipped.
    pub skipped: BTreeMap<u32, u32>,
    /// What could not be read.
    pub damage: Vec<Damage>,
}

/// What one copy of the runtime wrote for itself. Method ids and class numbers have a meaning only within a copy.
#[derive(Debug, Clone, Default)]
pub struct Copy {
    /// Id maps as they were in the jars: gzip data. Equal ones are given once.
    pub id_maps: Vec<Vec<u8>>,
    /// Class names by class number.
    pub class_names: HashMap<u32, String>,
    /// Facts about the process, such as `java.version`.
    pub properties: BTreeMap<String, String>,
}

/// Whose figures a [`Thread`] has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadKind {
    /// One thread.
    Thread,
    /// The sum of this many threads that ended.
    Ended(u64),
}

/// The figures of a thread.
#[derive(Debug, Clone)]
pub struct Thread {
    /// Copy of the runtime that recorded it.
    pub copy: u32,
    /// Number of the thread among those of its copy, from 1; 0 for ended ones.
    pub ordinal: u32,
    /// One thread or many.
    pub kind: ThreadKind,
    /// Name at the first event; empty for ended ones.
    pub name: String,
    /// Events not recorded.
    pub dropped: u64,
    /// Recording stopped before the thread ended.
    pub stopped: bool,
    /// The process ended while the shadow stack was being repaired: the law need not hold here.
    pub in_transition: bool,
    /// Shadow stack, outermost frame first.
    pub stack: Vec<Frame>,
    /// Counts by method id.
    pub methods: BTreeMap<u32, Method>,
    /// Objects and arrays made.
    pub allocations: Vec<Allocation>,
}

/// A frame that was open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// Method id.
    pub id: u32,
    /// A constructor whose super() or this() has not returned.
    pub pending: bool,
}

/// How a method's frames were closed, and events that fitted none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Closes {
    /// Normal returns.
    pub exits: u64,
    /// Exceptions that left the method.
    pub unwinds: u64,
    /// Constructors whose super() or this() threw.
    pub orphans: u64,
    /// Frames whose end was not seen.
    pub lost: u64,
}

/// The counts of a method.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Method {
    /// Calls.
    pub entries: u64,
    /// Ends of calls.
    pub closes: Closes,
    /// Events that fitted no frame; not part of the law.
    pub stray: u64,
    /// Frames still open, counted on the shadow stack (and, for threads that ended, when they did), never derived from
    /// the other counts.
    pub open: u64,
}

impl Closes {
    /// All closed frames.
    pub fn total(&self) -> u64 {
        self.exits.saturating_add(self.unwinds).saturating_add(self.orphans).saturating_add(self.lost)
    }
}

impl Method {
    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &Method) {
        let sum = |a: &mut u64, b: u64| *a = a.saturating_add(b);
        sum(&mut self.entries, other.entries);
        sum(&mut self.closes.exits, other.closes.exits);
        sum(&mut self.closes.unwinds, other.closes.unwinds);
        sum(&mut self.closes.orphans, other.closes.orphans);
        sum(&mut self.closes.lost, other.closes.lost);
        sum(&mut self.stray, other.stray);
        sum(&mut self.open, other.open);
    }

    /// Entries minus everything that an entry can have become; 0 if the law holds.
    pub fn balance(&self) -> i128 {
        i128::from(self.entries) - i128::from(self.closes.total()) - i128::from(self.open)
    }
}

/// Objects or arrays of a class made under one method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocation {
    /// Method on top of the shadow stack.
    pub method: Option<u32>,
    /// Number of the class in [`Copy::class_names`].
    pub class: u32,
    /// How many.
    pub count: u64,
}

/// A method for which the law does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Imbalance {
    /// Index in [`Profile::threads`].
    pub thread: usize,
    /// Method id.
    pub id: u32,
    /// Its counts.
    pub method: Method,
}

impl Profile {
    /// Reads a profile. Memory is bounded by the size of `data`.
    ///
    /// # Errors
    /// Only when the file header is missing, cut, or of another version; whatever follows it may be cut or wrong.
    pub fn parse(data: &[u8]) -> Result<Profile, Error> {
        let mut bytes = Bytes::new(data);
        let magic = bytes.slice(0, 8);
        if magic != &MAGIC[..magic.len()] || magic.is_empty() {
            return Err(Error::NotAProfile);
        }
        if bytes.len() < FILE_HEADER {
            return Err(Error::NoHeader { length: data.len() });
        }
        let version = bytes.u32(8);
        if version != VERSION {
            return Err(Error::Version { version });
        }
        let mut profile = Profile {
            pid: bytes.u64(24),
            start_ms: bytes.u64(32),
            dropped: bytes.u64(48),
            ..Profile::default()
        };
        let regions = walk(&bytes, &mut profile.damage);
        for region in regions.iter().filter(|r| r.kind == ENDED) {
            if bytes.u64(region.offset + 64) == 1 {
                let [target, value, source] = [72, 80, 88].map(|i| bytes.u64(region.offset + i));
                bytes.change(source, 0);
                bytes.change(target, value);
            }
        }
        let places = regions.iter().map(|r| (r.offset, *r)).collect::<HashMap<_, _>>();
        let mut reader = Reader {
            bytes: &bytes,
            places: &places,
            used: HashSet::new(),
            maps: HashSet::new(),
            folding: Vec::new(),
            profile: &mut profile,
        };
        for region in &regions {
            reader.region(region);
        }
        reader.finish_folding();
        profile.threads.sort_by_key(|t| (t.copy, t.ordinal));
        Ok(profile)
    }

    /// Methods for which the law does not hold in some thread. An event that was being written when the process ended is
    /// no violation: see [`Profile::in_flight`].
    pub fn imbalances(&self) -> Vec<Imbalance> {
        self.unbalanced().filter(|i| !self.is_in_flight(i)).collect()
    }

    /// Events that were being written when the process ended: at most one for each thread.
    pub fn in_flight(&self) -> usize {
        self.unbalanced().filter(|i| self.is_in_flight(i)).count()
    }

    fn unbalanced(&self) -> impl Iterator<Item = Imbalance> + '_ {
        let threads = self.threads.iter().enumerate().filter(|(_, t)| !t.in_transition);
        threads.flat_map(|(thread, t)| {
            let methods = t.methods.iter().filter(|(_, m)| m.balance() != 0);
            methods.map(move |(&id, &method)| Imbalance { thread, id, method })
        })
    }

    fn is_in_flight(&self, imbalance: &Imbalance) -> bool {
        let top = self.threads[imbalance.thread].stack.last();
        imbalance.method.balance() == -1 && top.is_some_and(|frame| frame.id == imbalance.id)
    }
}

struct Reader<'a, 'b> {
    bytes: &'b Bytes<'a>,
    places: &'b HashMap<u64, Region>,
    /// Counts and allocations regions that a thread has claimed: bounds the work on a file that points to one many times.
    used: HashSet<u64>,
    /// Id maps seen, with their copies.
    maps: HashSet<(u32, &'a [u8])>,
    /// Threads that were being folded: their figures are partly here and partly in the ended threads of their copy.
    folding: Vec<Thread>,
    profile: &'b mut Profile,
}

impl<'a> Reader<'a, '_> {
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
            COUNTS | ALLOCATIONS => {}
            CLASS_NAMES => self.class_names(region),
            ID_MAP => {
                if let Some(data) = self.data(region, "id map")
                    && self.maps.insert((region.copy, data))
                {
                    self.copy(region.copy).id_maps.push(data.to_vec());
                }
            }
            PROPERTIES => {
                if let Some(data) = self.data(region, "properties") {
                    let text = String::from_utf8_lossy(data);
                    let lines = text.lines().filter_map(|l| l.split_once('='));
                    let properties = lines.map(|(k, v)| (k.to_owned(), unescape(v))).collect::<Vec<_>>();
                    self.copy(region.copy).properties.extend(properties);
                }
            }
            kind => *self.profile.skipped.entry(kind).or_default() += 1,
        }
    }

    /// The data of an id map or properties region, if all of it is there.
    fn data(&mut self, region: &Region, structure: &'static str) -> Option<&'a [u8]> {
        let length = self.bytes.u64(region.offset + 16);
        if length > region.length.saturating_sub(HEADER) {
            self.damage(region.offset, structure, "it is cut off");
            return None;
        }
        Some(self.bytes.slice(region.offset + HEADER, length))
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

    fn thread(&mut self, region: &Region) {
        let at = region.offset;
        if region.length < THREAD_NAME + THREAD_NAME_ROOM {
            return self.damage(at, "thread", "it is cut off");
        }
        let flags = self.bytes.u64(at + 40);
        let extra = self.bytes.u64(at + 48);
        let name = if region.kind == THREAD { extra.min(THREAD_NAME_ROOM) } else { 0 };
        let mut thread = Thread {
            copy: region.copy,
            ordinal: region.owner,
            kind: if region.kind == THREAD { ThreadKind::Thread } else { ThreadKind::Ended(extra) },
            name: self.bytes.text(at + THREAD_NAME, name),
            dropped: self.bytes.u64(at + 32),
            stopped: flags & STOPPED != 0,
            in_transition: flags & REPAIRING != 0,
            stack: Vec::new(),
            methods: BTreeMap::new(),
            allocations: Vec::new(),
        };
        let (counts, allocations) = (self.bytes.u64(at + 16), self.bytes.u64(at + 24));
        if let Some(counts) = self.part(at, counts, COUNTS, "counts") {
            self.counts(&counts, &mut thread);
        }
        if allocations != 0
            && let Some(allocations) = self.part(at, allocations, ALLOCATIONS, "allocations")
        {
            self.allocations(&allocations, &mut thread);
        }
        if flags & FOLDING != 0 {
            self.folding.push(thread);
        } else {
            self.profile.threads.push(thread);
        }
    }

    fn finish_folding(&mut self) {
        let ended =
            self.profile.threads.iter().enumerate().filter(|(_, t)| matches!(t.kind, ThreadKind::Ended(_)));
        let ended = ended.map(|(i, t)| (t.copy, i)).collect::<HashMap<_, _>>();
        for thread in std::mem::take(&mut self.folding) {
            let Some(&sum) = ended.get(&thread.copy) else {
                self.profile.threads.push(Thread { in_transition: true, ..thread });
                continue;
            };
            let sum = &mut self.profile.threads[sum];
            for (id, method) in &thread.methods {
                sum.methods.entry(*id).or_default().add(method);
            }
            sum.allocations.extend(&thread.allocations);
            sum.dropped = sum.dropped.saturating_add(thread.dropped);
        }
    }

    /// The region that a thread points to.
    fn part(&mut self, thread: u64, offset: u64, kind: u32, structure: &'static str) -> Option<Region> {
        let Some(&region) = self.places.get(&offset).filter(|r| r.kind == kind) else {
            self.damage(thread, structure, format!("there is no such region at {offset:#x}"));
            return None;
        };
        if !self.used.insert(offset) {
            self.damage(thread, structure, format!("the region at {offset:#x} has another owner"));
            return None;
        }
        Some(region)
    }

    fn counts(&mut self, region: &Region, thread: &mut Thread) {
        let words = self.bytes.u64(region.offset + 16);
        let body = region.offset + HEADER;
        if words > (region.length - HEADER) / 8 {
            return self.damage(region.offset, "counts", "the shadow stack is cut off");
        }
        for i in 0..words {
            let frame = self.bytes.u64(body + 8 * i);
            let id_plus_one = (frame >> 32) as u32 & 0x7fff_ffff;
            if id_plus_one == 0 {
                break;
            }
            let id = id_plus_one - 1;
            thread.stack.push(Frame { id, pending: frame >> 63 != 0 });
            thread.methods.entry(id).or_default().open += 1;
        }
        let mut at = body + 8 * words;
        while at + RECORD <= region.end() {
            let word = |i: u64| self.bytes.u64(at + 8 * i);
            let id_plus_one = word(0);
            if id_plus_one == 0 {
                return;
            }
            let Some(id) = u32::try_from(id_plus_one - 1).ok().filter(|&id| id < 0x7fff_ffff) else {
                return self.damage(at, "record", format!("method id {}", id_plus_one - 1));
            };
            let closes = Closes { exits: word(2), unwinds: word(3), orphans: word(4), lost: word(5) };
            let method = Method { entries: word(1), closes, stray: word(6), open: word(7) };
            thread.methods.entry(id).or_default().add(&method);
            at += RECORD;
        }
        if at != region.end() {
            self.damage(at, "record", "it is cut off");
        }
    }

    fn allocations(&mut self, region: &Region, thread: &mut Thread) {
        let mut at = region.offset + HEADER;
        while at + 16 <= region.end() && self.bytes.u64(at) != 0 {
            let method = self.bytes.u32(at + 4).checked_sub(1);
            let (class, count) = (self.bytes.u32(at), self.bytes.u64(at + 8));
            thread.allocations.push(Allocation { method, class, count });
            at += 16;
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
