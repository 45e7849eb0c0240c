//! When things happened, told by the collections that had ended. The clock of an object and the number of collections
//! at its birth are not read in one moment: the number decides, and the clock is moved to the nearest moment that goes
//! with it.

use instrument_trace::{Object, Profile};

use crate::heap::object_lifetimes::Ends;

/// When an event is told: by collections that have ended, by clock, and of those of the same moment by rank and number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment {
    pub(super) phase: u32,
    pub(super) clock: u64,
    pub(super) rank: u8,
    pub(super) number: u64,
}

/// The time between collections.
pub(super) struct Phases {
    pub(super) copy: u32,
    /// The clock when recording began: what says to be earlier is told there.
    first: u64,
    /// Clocks at the ends of collections; none is before the one in front of it.
    ends: Vec<u64>,
    /// The last moment that is known.
    pub(super) last: u64,
}

impl Phases {
    // Of the same moment, in this order.
    pub(super) const THREAD: u8 = 0;
    pub(super) const MADE: u8 = 1;
    pub(super) const WAITED: u8 = 2;
    pub(super) const WAIT: u8 = 3;
    pub(super) const THREAD_END: u8 = 4;
    pub(super) const COLLECTION: u8 = 5;
    pub(super) const GONE: u8 = 6;
    pub(super) const COLLECTED: u8 = 7;

    pub(super) fn new(profile: &Profile, copy: u32) -> Phases {
        let ends = Ends::new(profile, copy);
        let first = profile.start_clock;
        let mut latest = first;
        let ends = (1..=ends.len() as u32).filter_map(|number| ends.clock(number));
        let ends = ends.map(|end| {
            latest = end.max(latest);
            latest
        });
        let ends = ends.collect::<Vec<_>>();
        let threads = profile.threads.iter().map(|thread| thread.last_event.max(thread.end));
        let java = profile.java_threads.iter().map(|thread| thread.start.max(thread.end));
        let collections = profile.collections.iter().map(|collection| collection.start.max(collection.end));
        let known = threads.chain(java).chain(collections).max().unwrap_or(0);
        let last = known.max(profile.start_clock).max(profile.beat_clock).max(profile.shutdown_clock);
        Phases { copy, first, ends, last }
    }

    /// Collections that ended.
    pub(super) fn count(&self) -> u32 {
        self.ends.len() as u32
    }

    /// The clock at the end of a collection.
    fn end(&self, number: u32) -> Option<u64> {
        self.ends.get((number as usize).checked_sub(1)?).copied()
    }

    /// A moment by its clock.
    pub(super) fn moment(&self, clock: u64, rank: u8, number: u64) -> Moment {
        let clock = clock.max(self.first);
        let phase = self.ends.partition_point(|&end| end <= clock) as u32;
        Moment { phase, clock, rank, number }
    }

    /// When an object was made.
    pub(super) fn birth(&self, object: &Object) -> Moment {
        let phase = object.born.min(self.count());
        let from = self.end(phase).unwrap_or(self.first);
        let clock = object.clock.max(from).min(self.end(phase + 1).unwrap_or(u64::MAX));
        Moment { phase, clock, rank: Self::MADE, number: object.number }
    }

    /// When an object was found to be gone: at the end of the collection that ended last, within its phase.
    pub(super) fn death(&self, object: &Object) -> Option<Moment> {
        let gone = object.gone?;
        let birth = self.birth(object);
        // Gone before it was made, or in a collection that is not known to have ended: as soon as can be.
        let number = gone.max(birth.phase + 1);
        let (phase, clock) = match self.end(number) {
            Some(end) => (number - 1, end),
            None => (self.count(), self.last.max(birth.clock)),
        };
        Some(Moment { phase, clock, rank: Self::GONE, number: object.number })
    }

    /// When a collection began, and when it ended.
    pub(super) fn collection(&self, number: u32, start: u64) -> (Moment, Option<Moment>) {
        let end = self.end(number);
        let phase = (number.saturating_sub(1)).min(self.count());
        let from = self.end(phase).unwrap_or(self.first);
        let clock = start.max(from).min(end.unwrap_or(u64::MAX));
        let number = u64::from(number);
        let begun = Moment { phase, clock, rank: Self::COLLECTION, number };
        (begun, end.map(|clock| Moment { phase, clock, rank: Self::COLLECTED, number }))
    }
}
