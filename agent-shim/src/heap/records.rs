//! Records of a fixed size in the profile, each with a number. The room for them are bodies of regions, which Java code takes
//! from the profile before they are needed and does not give back before nobody writes to them; so records are written from anywhere, without a lock, also where
//! nothing may be called.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

/// Bytes of the body of a region.
const BODY: usize = (1 << 20) - 64;
/// There may be as many regions as its square: 64 GiB.
const MOST: usize = 1 << 8;

/// The body of a region.
type Body = OnceLock<&'static [AtomicU64]>;

/// All records of one kind, `WORDS` words each.
#[derive(Debug)]
pub(crate) struct Records<const WORDS: usize> {
    /// In parts of [`MOST`], each made when it is needed.
    bodies: [OnceLock<Box<[Body]>>; MOST],
    /// Records that there is room for.
    room: AtomicU64,
    /// The last number that was given.
    last: AtomicU64,
    /// Somebody was sent for more room.
    sent: AtomicBool,
}

impl<const WORDS: usize> Records<WORDS> {
    const IN_BODY: u64 = (BODY / 8 / WORDS) as u64;

    pub(crate) fn new() -> Self {
        Records {
            bodies: [const { OnceLock::new() }; MOST],
            room: AtomicU64::new(0),
            last: AtomicU64::new(0),
            sent: AtomicBool::new(false),
        }
    }

    /// The next region, whose first record has the number `first`. False: this is not what was expected.
    pub(crate) fn add(&self, first: u64, body: &'static [AtomicU64]) -> bool {
        let right = first == self.room.load(Relaxed) + 1 && body.len() == BODY / 8;
        let index = (first.wrapping_sub(1) / Self::IN_BODY) as usize;
        let part = self.bodies.get(index / MOST);
        let part = part.map(|part| part.get_or_init(|| (0..MOST).map(|_| Body::new()).collect()));
        let slot = part.map(|part| &part[index % MOST]);
        let added = right && slot.is_some_and(|slot| slot.set(body).is_ok());
        if added {
            self.room.fetch_add(Self::IN_BODY, Release);
            self.sent.store(false, Release);
        }
        added
    }

    /// A number for a new record, from 1; none: there is no room.
    pub(crate) fn take(&self) -> Option<u64> {
        let more = |last| (last < self.room.load(Acquire)).then_some(last + 1);
        self.last.fetch_update(Relaxed, Relaxed, more).ok().map(|last| last + 1)
    }

    /// True for one caller, when half a region is left.
    pub(crate) fn wants_room(&self) -> bool {
        let left = self.room.load(Relaxed).saturating_sub(self.last.load(Relaxed));
        left < Self::IN_BODY / 2 && !self.sent.swap(true, Relaxed)
    }

    /// The words of a record; none: nobody has taken this number.
    pub(crate) fn get(&self, number: u64) -> Option<&[AtomicU64; WORDS]> {
        let index = number.checked_sub(1)?;
        let region = (index / Self::IN_BODY) as usize;
        let body = self.bodies.get(region / MOST)?.get()?[region % MOST].get()?;
        let at = (index % Self::IN_BODY) as usize * WORDS;
        body.get(at..at + WORDS)?.try_into().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body() -> &'static [AtomicU64] {
        (0..BODY / 8).map(|_| AtomicU64::new(0)).collect::<Vec<_>>().leak()
    }

    #[test]
    fn numbers_are_given_while_there_is_room() {
        let records = Records::<4>::new();
        assert!(records.wants_room() && !records.wants_room());
        assert_eq!(records.take(), None);
        assert!(records.get(0).is_none() && records.get(1).is_none());
        let in_body = Records::<4>::IN_BODY;
        assert!(!records.add(2, body()) && !records.add(1, &body()[1..]));
        assert!(records.add(1, body()) && !records.add(1, body()));
        for number in 1..=in_body {
            assert_eq!(records.take(), Some(number));
            records.get(number).unwrap()[3].store(number, Relaxed);
        }
        assert_eq!(records.take(), None);
        assert!(records.wants_room() && records.add(in_body + 1, body()));
        assert_eq!(records.take(), Some(in_body + 1));
        assert_eq!(records.get(in_body).unwrap()[3].load(Relaxed), in_body);
        assert_eq!(records.get(in_body + 1).unwrap()[3].load(Relaxed), 0);
        assert!(records.get(u64::MAX).is_none());
    }
}
