//! The current method of a thread whose methods are counted: it is on top of the shadow stack, which lies in the profile as `instrument_trace` describes it
//! (kind 3), and its record has a word for samples. For the signal handler: nothing here allocates.
//!
//! Frames are not 0 up to the top, and 0 above. Records come in pages of [`PAGE`] ids that follow each other, in the order in which methods were called
//! first; what was found is kept, since most samples meet few methods.

use super::words::Words;
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
/// Pages whose places are kept.
const KEPT: usize = 256;

/// What runs.
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
#[derive(Debug)]
pub(super) struct Counts {
    region: AtomicUsize,
    /// Number of a page and 1, and in the lower half that of its first record and 1.
    pages: [AtomicU64; KEPT],
}

impl Default for Counts {
    fn default() -> Counts {
        Counts { region: AtomicUsize::new(0), pages: [const { AtomicU64::new(0) }; KEPT] }
    }
}

impl Counts {
    /// The region is another one from now on. No handler looks. What is kept is looked at before it is believed: a region that has grown has its
    /// records in the same order, and a virtual thread comes back to its own.
    pub(super) fn go_to(&self, region: Words) {
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

    /// The first word of the record of a method.
    fn record(&self, region: Words, records: usize, id: u32) -> Option<usize> {
        let page = id >> LOG_PAGE;
        let kept = &self.pages[page as usize % KEPT];
        let known = kept.load(Relaxed);
        let is_first = u64::from(page << LOG_PAGE) + 1;
        let end = (region.get(LENGTH) as usize / WORD).saturating_sub(records) / RECORD;
        let id_of = |number: usize| region.get(records + RECORD * number);
        let is_it = |number: usize| number < end && id_of(number) == is_first;
        let first = match (known as u32 as usize).checked_sub(1) {
            Some(number) if known >> 32 == u64::from(page) + 1 && is_it(number) => number,
            _ => {
                let pages = (0..end).step_by(PAGE).take_while(|&number| id_of(number) != 0);
                let first = pages.into_iter().find(|&number| id_of(number) == is_first)?;
                kept.store((u64::from(page) + 1) << 32 | (first as u64 + 1), Relaxed);
                first
            }
        };
        Some(records + RECORD * (first + id as usize % PAGE))
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
}
