//! The biographies of a profile, added up. There may be a thousand million; what is kept is one group for each thread,
//! context and class, and a few figures for each collection.

use std::collections::{BTreeMap, HashSet};

use instrument_trace::{Collection, Error, Object, Profile, Source, ThreadKind};

use super::histogram::Histogram;
use crate::hash::HashMap;

/// What the objects of a group have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Copy of the runtime.
    pub copy: u32,
    /// Ordinal of the thread that made them; 0: those that ended, or are unknown.
    pub thread: u32,
    /// Context; 0: none.
    pub context: u32,
    /// Class number.
    pub class: u32,
}

/// The figures of objects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Figures {
    /// Objects made.
    pub objects: u64,
    pub bytes: u64,
    /// Those that were there to the end.
    pub live: u64,
    pub live_bytes: u64,
    /// Those of them that were made in the later half of the collections, and that a collection has seen.
    pub late: u64,
    /// Their bytes: no leak has grown by more.
    pub late_bytes: u64,
    /// Collections that the others outlived.
    pub outlived: Histogram,
    /// ns from when they were made to the end of the collection that found them gone, or the one before.
    pub ns: Histogram,
}

/// What happened between two collections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Epoch {
    /// Objects made before the next collection ended.
    pub made: u64,
    pub made_bytes: u64,
    /// Objects found to be gone when the one before had ended.
    pub gone: u64,
    pub gone_bytes: u64,
}

/// The collections of a copy of the runtime that ended.
#[derive(Debug, Clone, Default)]
pub struct Ends {
    /// Clock at the end of the first, the second, ..
    clocks: Vec<u64>,
}

/// The biographies of a profile, added up.
#[derive(Debug, Clone, Default)]
pub struct ObjectLifetimes {
    /// The groups, in the order of their keys.
    pub groups: Vec<(Key, Figures)>,
    /// By copy: what happened before the first collection, between the first and the second, .., after the last.
    pub epochs: BTreeMap<u32, Vec<Epoch>>,
    /// Objects made after the last collection: no collection has looked at them.
    pub unseen: u64,
    pub unseen_bytes: u64,
    /// Objects whose biographies speak of collections that the profile does not have.
    pub misdated: u64,
}

impl Ends {
    /// Those of a copy, up to the first that is missing or did not end.
    pub fn new(profile: &Profile, copy: u32) -> Ends {
        let collections = profile.collections_of(copy).iter().zip(1..);
        let ended = collections.take_while(|(c, number)| c.number == *number && c.end != 0);
        Ends { clocks: ended.map(|(collection, _): (&Collection, u32)| collection.end).collect() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.clocks.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.clocks.is_empty()
    }

    /// The clock at the end of the one with this number; `None`: there is none.
    pub fn clock(&self, number: u32) -> Option<u64> {
        self.clocks.get((number as usize).checked_sub(1)?).copied()
    }

    /// Collections before the later half.
    pub fn half(&self) -> usize {
        self.clocks.len() / 2
    }
}

impl Figures {
    /// Objects found to be gone.
    pub fn died(&self) -> u64 {
        self.objects - self.live.min(self.objects)
    }

    /// Adds those of others.
    pub fn merge(&mut self, other: &Figures) {
        let sum = |a: &mut u64, b: u64| *a = a.saturating_add(b);
        sum(&mut self.objects, other.objects);
        sum(&mut self.bytes, other.bytes);
        sum(&mut self.live, other.live);
        sum(&mut self.live_bytes, other.live_bytes);
        sum(&mut self.late, other.late);
        sum(&mut self.late_bytes, other.late_bytes);
        self.outlived.merge(&other.outlived);
        self.ns.merge(&other.ns);
    }

    fn add(&mut self, object: &Object, ends: &Ends) {
        self.objects += 1;
        self.bytes += object.bytes;
        let Some(gone) = object.gone else {
            self.live += 1;
            self.live_bytes += object.bytes;
            if (ends.half()..ends.len()).contains(&(object.born as usize)) {
                self.late += 1;
                self.late_bytes += object.bytes;
            }
            return;
        };
        self.outlived.add(object.outlived().unwrap_or(0).into());
        if let Some(end) = ends.clock(gone)
            && object.clock != 0
        {
            self.ns.add(end.saturating_sub(object.clock));
        }
    }
}

impl ObjectLifetimes {
    /// Reads those of a profile; `None`: it has none.
    ///
    /// # Errors
    /// When the source fails.
    pub fn read(profile: &Profile, source: &impl Source) -> Result<Option<ObjectLifetimes>, Error> {
        if profile.objects.is_empty() {
            return Ok(None);
        }
        let threads = profile.threads.iter().filter(|thread| thread.kind == ThreadKind::Thread);
        let threads = threads.map(|thread| (thread.copy, thread.ordinal)).collect::<HashSet<_>>();
        let mut all = ObjectLifetimes::default();
        let mut places: HashMap<Key, usize> = HashMap::default();
        let mut groups: Vec<(Key, Figures)> = Vec::new();
        for of_copy in profile.objects.chunk_by(|a, b| a.copy == b.copy) {
            let copy = of_copy[0].copy;
            let ends = Ends::new(profile, copy);
            let mut epochs = vec![Epoch::default(); ends.len() + 1];
            // Threads come in runs.
            let mut last = (0, 0);
            let mut visit = |object: &Object| {
                if object.thread != last.0 {
                    let known = threads.contains(&(copy, object.thread));
                    last = (object.thread, if known { object.thread } else { 0 });
                }
                let key = Key { copy, thread: last.1, context: object.context, class: object.class };
                let place = *places.entry(key).or_insert_with(|| {
                    groups.push((key, Figures::default()));
                    groups.len() - 1
                });
                groups[place].1.add(object, &ends);
                all.count(object, &mut epochs);
            };
            of_copy.iter().try_for_each(|piece| piece.for_each(source, &mut visit))?;
            all.epochs.insert(copy, epochs);
        }
        groups.sort_unstable_by_key(|(key, _)| *key);
        all.groups = groups;
        Ok(Some(all))
    }

    fn count(&mut self, object: &Object, epochs: &mut [Epoch]) {
        let last = epochs.len() - 1;
        let (born, gone) = (object.born as usize, object.gone.map(|gone| gone as usize));
        self.misdated += u64::from(born > last || gone.is_some_and(|gone| gone > last || gone < born));
        let epoch = &mut epochs[born.min(last)];
        epoch.made += 1;
        epoch.made_bytes += object.bytes;
        match gone {
            Some(gone) => {
                let epoch = &mut epochs[gone.min(last)];
                epoch.gone += 1;
                epoch.gone_bytes += object.bytes;
            }
            None if born >= last => {
                self.unseen += 1;
                self.unseen_bytes += object.bytes;
            }
            None => {}
        }
    }

    /// What does not fit, in words.
    pub fn remarks(&self) -> Vec<String> {
        let misdated = (self.misdated > 0).then(|| {
            format!("{} objects speak of collections that the profile does not have", self.misdated)
        });
        misdated.into_iter().collect()
    }
}
