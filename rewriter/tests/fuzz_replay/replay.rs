//! Runs a check on mutants, always the same ones, and judges panics, time and memory.

#![allow(dead_code, reason = "each test crate uses a part")]

use std::panic::{RefUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Values that are at the edge of something.
pub(crate) const INTERESTING: [u32; 14] =
    [0, 1, 2, 3, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

/// The longest that any input may take.
const HANG: Duration = Duration::from_secs(1);

/// One replay at a time: memory is measured for the process.
static ALONE: Mutex<()> = Mutex::new(());

/// Numbers that look random (xorshift64*).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// An edge, anything, or something near `old`.
    pub(crate) fn value(&mut self, old: u32) -> u32 {
        match self.below(3) {
            0 => self.next() as u32,
            1 => INTERESTING[self.below(INTERESTING.len())],
            _ => old.wrapping_add_signed([1, -1][self.below(2)]),
        }
    }
}

/// Runs `check` on what `mutant` makes, `runs` times (or as often as `FUZZ_REPLAY_RUNS` says). At least every
/// `sound`th mutant has to be something that `check` takes: mutants that nobody reads test nothing.
pub(crate) fn replay(
    what: &str,
    runs: usize,
    sound: usize,
    mut mutant: impl FnMut(&mut Random, usize) -> Vec<u8>,
    check: impl Fn(&[u8]) -> bool + RefUnwindSafe,
) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let runs = std::env::var("FUZZ_REPLAY_RUNS").map_or(runs, |runs| runs.parse().expect("a number"));
    // Starts the measurement of VmHWM anew; where that cannot be, it includes what was before.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let before = memory("VmRSS:");
    let mut random = Random(0x1234_5678_9abc_def1);
    let (mut taken, mut largest, mut slowest) = (0, 0, Duration::ZERO);
    for run in 0..runs {
        let bytes = mutant(&mut random, run);
        largest = largest.max(bytes.len());
        // On a busy machine anything may take long once.
        let mut fastest = Duration::MAX;
        for _ in 0..3 {
            let start = Instant::now();
            let result = catch_unwind(|| check(&bytes));
            fastest = fastest.min(start.elapsed());
            if result.is_err() || (fastest >= HANG / 2 && fastest < HANG) {
                println!("{what} {run} took {fastest:?}");
            }
            let Ok(is_taken) = result else {
                let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{what}-{run}"));
                std::fs::write(&file, &bytes).expect("writes the mutant");
                panic!("{what} {run} panics; see {}", file.display());
            };
            if fastest < HANG {
                taken += usize::from(is_taken);
                break;
            }
        }
        assert!(fastest < HANG, "{what} {run} took {fastest:?}");
        slowest = slowest.max(fastest);
    }
    let used = memory("VmHWM:").zip(before).map(|(after, before)| after.saturating_sub(before));
    println!("{what}: {taken} of {runs} were taken; the slowest took {slowest:?}; {used:?} bytes");
    assert!(taken * sound >= runs, "{what}: only {taken} of {runs} were taken");
    let limit = (64 << 20) + 20 * largest;
    assert!(used.is_none_or(|used| used < limit), "{what}: {used:?} bytes of memory");
}

/// A figure of this process's memory, in bytes, where Linux tells.
fn memory(name: &str) -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<usize>().ok().map(|kilobytes| kilobytes * 1024)
}
