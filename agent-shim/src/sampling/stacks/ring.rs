//! Samples on their way from signal handlers to the thread that reads them: slots that are made beforehand, and two stacks of them, the free and
//! the full ones, which are changed by one compare-and-swap each. A handler never waits.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};

/// Frames of a stack that are looked at, from the innermost one on.
pub(super) const MOST_FRAMES: usize = 1024;

/// `ASGCT_CallFrame`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) line: c_int,
    pub(super) method: usize,
}

/// One sample.
#[repr(C)]
pub(super) struct Slot {
    /// Number of the thread.
    pub(super) serial: u32,
    /// Frames; what is not positive says why there are none.
    pub(super) count: c_int,
    /// Periods that it stands for.
    pub(super) periods: u64,
    /// ns that the handler took.
    pub(super) handler: u64,
    /// The next instruction, where the frames begin with the caller of the compiled method that has it; else 0.
    pub(super) innermost: usize,
    /// The processor was in the virtual machine's own code.
    pub(super) in_machine: bool,
    /// Innermost first.
    pub(super) frames: [Frame; MOST_FRAMES],
}

/// All slots. Pages of slots that were never used have no memory: the slot that became free last is the next one to be used.
pub(super) struct Ring {
    slots: NonNull<UnsafeCell<Slot>>,
    /// What is below a slot in its stack: its number, from 1; 0: nothing.
    below: Box<[AtomicU32]>,
    /// The topmost free slot, and above 32 bits how often one was taken: who was interrupted while he took one sees that it is another one by now.
    free: AtomicU64,
    full: AtomicU32,
}

// SAFETY: a slot is used by who has taken it out of a stack, alone.
unsafe impl Sync for Ring {}
// SAFETY: as above.
unsafe impl Send for Ring {}

/// A slot that is out of both stacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Taken(u32);

impl Ring {
    pub(super) fn new(slots: u32) -> Ring {
        let layout = Ring::layout(slots);
        // SAFETY: it is not empty.
        let memory = unsafe { alloc_zeroed(layout) };
        let Some(memory) = NonNull::new(memory.cast()) else { handle_alloc_error(layout) };
        let below = (0..slots).map(AtomicU32::new).collect();
        Ring { slots: memory, below, free: AtomicU64::new(slots.into()), full: AtomicU32::new(0) }
    }

    #[expect(clippy::expect_used, reason = "no more than 2^32 slots of 16 KiB, where addresses have 64 bits")]
    fn layout(slots: u32) -> Layout {
        Layout::array::<UnsafeCell<Slot>>(slots.max(1) as usize).expect("it fits")
    }

    /// A free slot; none: there is none. For the signal handler.
    pub(super) fn take(&self) -> Option<Taken> {
        let mut top = self.free.load(SeqCst);
        loop {
            let slot = top as u32;
            let below = self.below.get((slot as usize).checked_sub(1)?)?.load(SeqCst);
            let next = ((top >> 32) + 1) << 32 | u64::from(below);
            match self.free.compare_exchange(top, next, SeqCst, SeqCst) {
                Ok(_) => return Some(Taken(slot)),
                Err(now) => top = now,
            }
        }
    }

    /// Where a slot is.
    pub(super) fn at(&self, slot: Taken) -> *mut Slot {
        // SAFETY: numbers of slots come from `take` and `full` alone.
        unsafe { self.slots.add(slot.0 as usize - 1).as_ref().get() }
    }

    /// A slot is full. For the signal handler.
    pub(super) fn put(&self, slot: Taken) {
        let mut top = self.full.load(SeqCst);
        loop {
            self.below[slot.0 as usize - 1].store(top, SeqCst);
            match self.full.compare_exchange(top, slot.0, SeqCst, SeqCst) {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }

    /// Calls `read` with every sample that there is. Only one thread at a time.
    pub(super) fn read(&self, mut read: impl FnMut(&Slot)) {
        let mut slot = self.full.swap(0, SeqCst);
        while slot != 0 {
            let taken = Taken(slot);
            let next = self.below[slot as usize - 1].load(SeqCst);
            // SAFETY: it is out of both stacks, and was written before it was put.
            read(unsafe { &*self.at(taken) });
            self.give_back(taken);
            slot = next;
        }
    }

    fn give_back(&self, slot: Taken) {
        let mut top = self.free.load(SeqCst);
        loop {
            self.below[slot.0 as usize - 1].store(top as u32, SeqCst);
            let next = ((top >> 32) + 1) << 32 | u64::from(slot.0);
            match self.free.compare_exchange(top, next, SeqCst, SeqCst) {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: it was made with this layout, and nobody has a slot any more.
        unsafe { dealloc(self.slots.as_ptr().cast(), Ring::layout(self.below.len() as u32)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn samples_are_read_once_and_a_full_ring_takes_none() {
        let ring = Ring::new(2);
        for serial in [7, 8] {
            let slot = ring.take().unwrap();
            // SAFETY: it was taken.
            unsafe { (*ring.at(slot)).serial = serial };
            ring.put(slot);
        }
        assert_eq!(ring.take(), None);
        let mut serials = Vec::new();
        ring.read(|slot| serials.push(slot.serial));
        ring.read(|slot| serials.push(slot.serial));
        serials.sort_unstable();
        assert_eq!(serials, [7, 8]);
        assert!(ring.take().is_some() && ring.take().is_some() && ring.take().is_none());
    }

    #[test]
    fn no_sample_is_lost_or_read_twice_where_many_threads_write() {
        const EACH: u32 = 20_000;
        let (ring, is_over) = (Ring::new(16), AtomicBool::new(false));
        let mut sum = [0u64; 4];
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..4)
                .map(|writer: u32| {
                    let ring = &ring;
                    scope.spawn(move || {
                        for number in 1..=EACH {
                            let slot = loop {
                                if let Some(slot) = ring.take() {
                                    break slot;
                                }
                                std::thread::yield_now();
                            };
                            // SAFETY: it was taken.
                            unsafe {
                                (*ring.at(slot)).serial = writer;
                                (*ring.at(slot)).periods = number.into();
                            }
                            ring.put(slot);
                        }
                    })
                })
                .collect();
            let reader = scope.spawn(|| {
                let mut sum = [0; 4];
                loop {
                    let last = is_over.load(SeqCst);
                    ring.read(|slot| sum[slot.serial as usize] += slot.periods);
                    if last {
                        return sum;
                    }
                    std::thread::yield_now();
                }
            });
            writers.into_iter().for_each(|writer| writer.join().unwrap());
            is_over.store(true, SeqCst);
            sum = reader.join().unwrap();
        });
        assert_eq!(sum, [u64::from(EACH) * u64::from(EACH + 1) / 2; 4]);
    }
}
