//! The clock of the probes: the processor's time-stamp counter, scaled to what `System.nanoTime()` shows, which is `CLOCK_MONOTONIC`. A
//! reading costs a third of the virtual machine's own.
//!
//! 1. The counter is used only where Linux itself tells the time by it: the processor says that it runs at one speed in all states
//!    ("invariant TSC"), and the kernel's clock source is that counter, which it goes on watching.
//! 2. A [`Pair`] of readings of both clocks is taken when the agent is loaded, and another when the virtual machine is initialised. The
//!    line through the two is the clock.
//! 3. A reading waits for nothing: the processor may take it some ten ns before what stands in front of it is done, and the counter of
//!    some goes on in steps of 10 ns. Both are the same for an entry as for an exit, and what a pair costs is calibrated with this clock.
//! 4. Its constants never change after that, so all words of a file share one base, and time never runs backwards. What the kernel
//!    corrects of its own clock later is not followed: the recorder writes how much that was when the program ends (`clock.drift`).

use crate::jvmti::Environment;
use rustix::time::{ClockId, clock_gettime};
use std::ffi::c_void;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::time::Duration;

/// The least time between two pairs: a hundred thousand times what a reading is uncertain by.
const LEAST: Duration = Duration::from_millis(10);
/// The narrowest of so many readings is taken.
const READINGS: usize = 40;
/// Bits after the point of ns per tick.
const SHIFT: u32 = 40;
/// Clock sources of Linux that are the counter: on the machine itself, and as KVM's and Hyper-V's guests see it.
const SOURCES: [&str; 3] = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page"];
const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

// The line. Written once, before `ticks` is registered.
static TICKS: AtomicI64 = AtomicI64::new(0);
static NS: AtomicI64 = AtomicI64::new(0);
static NS_PER_TICK: AtomicI64 = AtomicI64::new(0);

/// One moment on both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pair {
    ticks: i64,
    ns: i64,
    /// It may be off by so many ticks.
    uncertain: i64,
}

/// The line through two pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Line {
    ticks: i64,
    ns: i64,
    ns_per_tick: i64,
    /// In parts per million.
    error: f64,
}

impl Line {
    /// None, if no processor runs at such a speed: then one of the clocks is not what it seems.
    fn through(first: Pair, second: Pair) -> Option<Line> {
        let (ticks, ns) = (second.ticks.checked_sub(first.ticks)?, second.ns.checked_sub(first.ns)?);
        // 0.1 to 20 GHz.
        if ns <= 0 || ticks < ns / 10 || ticks > ns.checked_mul(20)? {
            return None;
        }
        let ns_per_tick = i64::try_from((i128::from(ns) << SHIFT) / i128::from(ticks)).ok()?;
        let error = (first.uncertain + second.uncertain) as f64 / ticks as f64 * 1e6;
        Some(Line { ticks: first.ticks, ns: first.ns, ns_per_tick, error })
    }

    /// The time when the counter shows this.
    #[inline(always)]
    fn at(ticks: i64, start: i64, ns: i64, ns_per_tick: i64) -> i64 {
        // 128 bits hold any product of the two.
        ns.wrapping_add(((i128::from(ticks.wrapping_sub(start)) * i128::from(ns_per_tick)) >> SHIFT) as i64)
    }
}

/// The first pair, if the counter can be used; else why it cannot.
pub(crate) fn begin() -> Result<Pair, String> {
    if !counter::is_invariant() {
        return Err("the processor has no counter that runs at one speed".to_owned());
    }
    let source = std::fs::read_to_string(SOURCE).map_err(|error| format!("{SOURCE}: {error}"))?;
    if !SOURCES.contains(&source.trim()) {
        return Err(format!("the system's clock source is {}", source.trim()));
    }
    Ok(pair())
}

/// The second pair, for which it may wait a little: from now on [`ticks`] shows the time. Lines for the profile: which clock it is, and its error.
pub(crate) fn settle(first: Pair) -> Option<String> {
    let least = LEAST.as_nanos() as i64;
    let wait = least - (monotonic() - first.ns).clamp(0, least);
    if wait > 0 {
        std::thread::sleep(Duration::from_nanos(wait as u64));
    }
    let line = Line::through(first, pair())?;
    TICKS.store(line.ticks, Relaxed);
    NS.store(line.ns, Relaxed);
    NS_PER_TICK.store(line.ns_per_tick, Relaxed);
    Some(format!("clock=tsc\nclock.error={:.2}\n", line.error))
}

/// `static native long instrument.runtime.Clock.ticks()`.
pub(crate) extern "system" fn ticks(_jni: Environment, _class: *mut c_void) -> i64 {
    Line::at(counter::read(), TICKS.load(Relaxed), NS.load(Relaxed), NS_PER_TICK.load(Relaxed))
}

/// The clock of the profile, for native code.
pub(crate) fn now() -> i64 {
    let ns_per_tick = NS_PER_TICK.load(Relaxed);
    if ns_per_tick == 0 {
        return monotonic();
    }
    Line::at(counter::read(), TICKS.load(Relaxed), NS.load(Relaxed), ns_per_tick)
}

fn monotonic() -> i64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// The narrowest of some readings of one clock between two of the other.
fn pair() -> Pair {
    let reading = |_| {
        let before = counter::read();
        let ns = monotonic();
        let width = counter::read().wrapping_sub(before).max(0);
        Pair { ticks: before.wrapping_add(width / 2), ns, uncertain: width / 2 + 1 }
    };
    let first = reading(0);
    (1..READINGS)
        .map(reading)
        .fold(first, |best, next| if next.uncertain < best.uncertain { next } else { best })
}

#[cfg(target_arch = "x86_64")]
mod counter {
    use std::arch::x86_64::{__cpuid, _rdtsc};

    /// Processor manuals: leaf 80000007h, EDX bit 8.
    pub(super) fn is_invariant() -> bool {
        const LEAF: u32 = 0x8000_0007;
        __cpuid(0x8000_0000).eax >= LEAF && __cpuid(LEAF).edx & (1 << 8) != 0
    }

    #[inline(always)]
    pub(super) fn read() -> i64 {
        // SAFETY: every processor of this architecture has it, and Linux lets programs read it where it is its clock source.
        unsafe { _rdtsc() as i64 }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod counter {
    pub(super) fn is_invariant() -> bool {
        false
    }

    pub(super) fn read() -> i64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: Line, ticks: i64) -> i64 {
        Line::at(ticks, line.ticks, line.ns, line.ns_per_tick)
    }

    #[test]
    fn the_line_goes_through_both_pairs_and_on_for_years() {
        let first = Pair { ticks: 1 << 50, ns: 77, uncertain: 13 };
        for (ghz, ticks) in [(2.6, 26_000_000), (0.1, 1_000_000), (19.9, 199_000_000)] {
            let second = Pair { ticks: first.ticks + ticks, ns: 77 + 10_000_000, uncertain: 13 };
            let line = Line::through(first, second).unwrap();
            assert!((line.error - 26.0 / ticks as f64 * 1e6).abs() < 1e-9);
            assert_eq!(at(line, first.ticks), 77);
            assert!((at(line, second.ticks) - second.ns).abs() <= 1, "{line:?}");
            // A century, within what 40 bits can say of the speed.
            let century = 100 * 365 * 86_400 * 1_000_000_000_i64;
            if let Some(later) = first.ticks.checked_add((century as f64 * ghz) as i64) {
                assert!(((at(line, later) - century) as f64 / century as f64).abs() < 1e-9, "{line:?}");
            }
            // A processor that is a little behind.
            assert!(at(line, first.ticks - 1000) < 77);
            let mut last = i64::MIN;
            for tick in 0..10_000 {
                let now = at(line, second.ticks + tick);
                assert!(now >= last);
                last = now;
            }
        }
    }

    #[test]
    fn clocks_that_do_not_fit_are_not_used() {
        let first = Pair { ticks: 1000, ns: 1000, uncertain: 1 };
        for (ticks, ns) in [
            (1000, 1000),
            (0, 2000),
            (2000, 0),
            (1099, 2000),
            (30_000, 2000),
            (i64::MIN, 2000),
            (5, i64::MIN),
        ] {
            assert_eq!(Line::through(first, Pair { ticks, ns, uncertain: 1 }), None, "{ticks} {ns}");
        }
    }

    #[test]
    fn it_shows_what_the_system_shows() {
        let Ok(first) = begin() else { return println!("not run: no counter") };
        let said = settle(first).unwrap();
        let error: f64 = said.strip_prefix("clock=tsc\nclock.error=").unwrap().trim().parse().unwrap();
        // Two readings within at least 10 ms.
        assert!(error > 0.0 && error < 10_000.0, "{error}");
        let now = || ticks(std::ptr::null_mut(), std::ptr::null_mut());
        for _ in 0..1000 {
            // In between, whatever comes between; the rates differ by the error at most.
            let (before, shown, after) = (monotonic(), now(), monotonic());
            let slack = 1000 + ((after - first.ns) as f64 * error * 1e-6) as i64;
            assert!(
                before - slack <= shown && shown <= after + slack,
                "{before} {shown} {after}, {error} ppm"
            );
        }
        let mut last = now();
        for _ in 0..100_000 {
            let next = now();
            assert!(next >= last);
            last = next;
        }
    }
}
