//! The current method of a thread whose methods are counted: it is on top of the shadow stack, which lies in the profile as `instrument_trace` describes it
//! (kind 3), and its record has a word for samples. For the signal handler: nothing here allocates.
//!
//! Frames are not 0 up to the top, and 0 above. Records come in pages of [`PAGE`] ids that follow each other, in the order in which methods were called
//! first. Where those are is kept, page by page: a sample that misses one looks at the next pages, [`MOST_LOOKS`] at most.

use super::words::Words;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

// Words of the region.
const LENGTH: usize = 1;
const STACK_WORDS: usize = 2;
const STACK: usize = 8;
/// Words of a record, and the one for samples.
const RECORD: usize = 8;
const SAMPLES: usize = 2;
/// Records of a page.
const LOG_PAGE: u32 = 3;
const PAGE: usize = 1 << LOG_PAGE;
const WORD: usize = 8;
/// Pages whose places are kept: those of 32,768 methods whose ids follow each other.
const KEPT: usize = 1 << 12;
/// Pages that one sample looks at, about 10 us if each misses the caches.
const MOST_LOOKS: usize = 128;

#[derive(Debug)]
pub(super) enum Context {
    /// No recorded call.
    None,
    /// A call that has no place in the profile.
    Unknown,
    /// A call whose samples are in this word.
    Samples(Words),
}

/// Where counts of a thread are.
#[derive(Debug, Default)]
pub(super) struct Counts {
    region: AtomicUsize,
    /// Number of a page and 1, and in the lower half that of its first record and 1. Made when a first region comes, 32 KiB that stay with the place
    /// of the thread.
    pages: OnceLock<Box<[AtomicU64]>>,
    /// Number of the page from the region's first one on that is to be looked at next.
    next: AtomicUsize,
}

impl Counts {
    /// The region is another one from now on. No handler looks. What is kept is looked at before it is believed: a region that has grown has its
    /// records in the same order, and a virtual thread comes back to its own.
    pub(super) fn go_to(&self, region: Words) {
        let zeros = || Box::into_raw(vec![0u64; KEPT].into_boxed_slice()) as *mut [AtomicU64];
        // SAFETY: it came from a box; both types are the same in memory.
        self.pages.get_or_init(|| unsafe { Box::from_raw(zeros()) });
        self.region.store(region.0, Relaxed);
    }

    /// The innermost recorded call.
    pub(super) fn current(&self) -> Context {
        let region = Words(self.region.load(Relaxed));
        let words = region.get(STACK_WORDS) as usize;
        let top = depth(|index| region.get(STACK + index), words).checked_sub(1);
        let Some(top) = top else { return Context::None };
        let id = ((region.get(STACK + top) >> 32) as u32 & 0x7fff_ffff).wrapping_sub(1);
        let records = STACK + words;
        match self.record(region, records, id) {
            Some(record) => Context::Samples(Words(region.0 + WORD * (record + SAMPLES))),
            None => Context::Unknown,
        }
    }

    /// The first word of the record of a method; none: it is not known yet.
    fn record(&self, region: Words, records: usize, id: u32) -> Option<usize> {
        let page = id >> LOG_PAGE;
        let end = (region.get(LENGTH) as usize / WORD).saturating_sub(records) / RECORD;
        let id_of = |number: usize| region.get(records + RECORD * number);
        let is_it = |number: usize| number < end && id_of(number) == u64::from(page << LOG_PAGE) + 1;
        let place = |number: usize| Some(records + RECORD * (number + id as usize % PAGE));
        let kept = self.kept(page)?.load(Relaxed);
        match (kept as u32 as usize).checked_sub(1) {
            Some(number) if kept >> 32 == u64::from(page) + 1 && is_it(number) => return place(number),
            _ => {}
        }
        let mut next = self.next.load(Relaxed);
        for _ in 0..MOST_LOOKS {
            let number = next * PAGE;
            let first = if number < end { id_of(number) } else { 0 };
            if first == 0 {
                // Behind the last page: what was kept in the place of another one is looked for anew.
                next = 0;
                continue;
            }
            next += 1;
            let found = (first as u32).wrapping_sub(1) >> LOG_PAGE;
            self.kept(found)?.store((u64::from(found) + 1) << 32 | (number as u64 + 1), Relaxed);
            if found == page {
                self.next.store(next, Relaxed);
                return place(number);
            }
        }
        self.next.store(next, Relaxed);
        None
    }

    fn kept(&self, page: u32) -> Option<&AtomicU64> {
        self.pages.get().map(|pages| &pages[page as usize % KEPT])
    }
}

/// Takes over the samples of a thread's region that has moved, whose records are in the same order: those too that came after it was copied. No handler
/// writes to either.
pub(super) fn carry(from: Words, to: Words) {
    let records = |region: Words| {
        let first = STACK + region.get(STACK_WORDS) as usize;
        (first, (region.get(LENGTH) as usize / WORD).saturating_sub(first) / RECORD)
    };
    let ((old, count), (new, room)) = (records(from), records(to));
    for number in (0..count.min(room)).map(|number| RECORD * number).take_while(|at| from.get(old + at) != 0)
    {
        to.put(new + number + SAMPLES, from.get(old + number + SAMPLES));
    }
}

/// How many frames there are in a stack of so many words.
fn depth(frame: impl Fn(usize) -> u64, words: usize) -> usize {
    let (mut low, mut high) = (0, words);
    while low < high {
        let middle = low + (high - low) / 2;
        if frame(middle) == 0 {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frames_of_a_stack_are_counted() {
        for words in [0, 1, 2, 7, 56, 1000] {
            for frames in 0..=words {
                assert_eq!(depth(|index| u64::from(index < frames), words), frames, "of {words} words");
            }
        }
    }

    #[test]
    fn samples_go_to_the_record_of_the_topmost_frame() {
        // A stack of 4 words, and the pages of ids 16 to 23 and 0 to 7.
        let mut region = vec![0u64; STACK + 4 + 3 * PAGE * RECORD];
        region[LENGTH] = 8 * region.len() as u64;
        region[STACK_WORDS] = 4;
        let record = |number: usize| STACK + 4 + RECORD * number;
        for (number, id) in (16..24).chain(0..8).enumerate() {
            region[record(number)] = id + 1;
        }
        let words = Words(region.as_mut_ptr() as usize);
        let counts = Counts::default();
        counts.go_to(words);
        let push = |index: usize, frame: u64| words.put(STACK + index, frame);
        let sample = || {
            if let Context::Samples(word) = counts.current() {
                word.add(0, 1);
            }
        };
        assert!(matches!(counts.current(), Context::None));
        push(0, 4 << 32);
        sample();
        // A constructor that is pending.
        push(1, 1 << 63 | 18 << 32);
        sample();
        sample();
        push(2, 100 << 32);
        assert!(matches!(counts.current(), Context::Unknown));
        push(2, 0);
        push(1, 0);
        sample();
        let samples = |number| words.get(record(number) + SAMPLES);
        assert_eq!((samples(8 + 3), samples(1)), (2, 2));
        assert_eq!((0..16).map(samples).sum::<u64>(), 4);
        // Another region at the same place, with the pages the other way round.
        for (number, id) in (0..8).chain(16..24).enumerate() {
            words.put(record(number), id + 1);
        }
        sample();
        assert_eq!((samples(3), samples(8 + 3)), (1, 2));
    }

    /// A region without frames but one, and with so many pages of records; the ids of the first one, and so on.
    fn region(pages: impl Iterator<Item = u64>) -> Vec<u64> {
        let mut region = vec![0u64; STACK + 4];
        region[STACK_WORDS] = 4;
        for page in pages {
            for id in 8 * page..8 * page + 8 {
                region.extend([id + 1, 0, 0, 0, 0, 0, 0, 0]);
            }
        }
        region[LENGTH] = 8 * region.len() as u64;
        region
    }

    #[test]
    fn a_sample_looks_at_few_pages_and_the_next_one_goes_on_there() {
        const PAGES: u64 = 2500;
        // As methods are called first: in no order.
        let mut region = region((0..PAGES).map(|page| page * 7 % PAGES));
        let words = Words(region.as_mut_ptr() as usize);
        let counts = Counts::default();
        counts.go_to(words);
        let mut unknown = 0;
        for round in 0..2 {
            for id in (0..8 * PAGES).step_by(5) {
                words.put(STACK, (id + 1) << 32);
                match counts.current() {
                    Context::Samples(word) => {
                        assert_eq!(Words(word.0 - 8 * SAMPLES).get(0), id + 1);
                        word.add(0, 1);
                    }
                    Context::Unknown => unknown += 1,
                    Context::None => panic!("{id}"),
                }
            }
            // Each page was looked at once.
            assert!(unknown <= (PAGES as usize).div_ceil(MOST_LOOKS), "{unknown} in round {round}");
        }
        // A method that has no record yet ends the search, too.
        words.put(STACK, (8 * PAGES + 1) << 32);
        assert!(matches!(counts.current(), Context::Unknown));
    }

    #[test]
    fn pages_that_share_a_place_are_both_found() {
        let mut region = region([0, KEPT as u64, 1].into_iter());
        let words = Words(region.as_mut_ptr() as usize);
        let counts = Counts::default();
        counts.go_to(words);
        for id in [3, 8 * KEPT as u64 + 3, 9, 3, 8 * KEPT as u64 + 3] {
            words.put(STACK, (id + 1) << 32);
            let Context::Samples(word) = counts.current() else { panic!("{id}") };
            assert_eq!(Words(word.0 - 8 * SAMPLES).get(0), id + 1);
        }
    }

    #[test]
    fn samples_that_came_after_the_copy_move_with_the_region() {
        let mut old = region(0..2);
        let mut new = old.clone();
        let mut larger = region(0..3);
        let [old, new, larger] =
            [&mut old, &mut new, &mut larger].map(|region| Words(region.as_mut_ptr() as usize));
        let at = |number: usize| STACK + 4 + RECORD * number + SAMPLES;
        old.put(at(3), 5);
        old.put(at(15), 1);
        for to in [new, larger] {
            carry(old, to);
            assert_eq!((to.get(at(3)), to.get(at(4)), to.get(at(15))), (5, 0, 1));
        }
    }
}
