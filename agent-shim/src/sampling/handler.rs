//! What the signal handler does. It allocates nothing, locks nothing, and can meet the recorder and the virtual machine in any state.

use super::code::{self, Code};
use super::counts::Context;
use super::sampled::Sampled;
use super::signals;
use super::stacks;
use super::timers;
use super::words::Words;
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};

// Words of a region of samples: see `instrument_trace`, kind 26.
const PERIOD: usize = 2;
const SOURCE: usize = 3;
const MARK: usize = 8;
const CPU: usize = 9;
const IN_PROBES: usize = 10;
const IN_NO_CALL: usize = 11;
const UNKNOWN: usize = 12;
const IN_MACHINE: usize = 13;
const HANDLER: usize = 14;
const PAUSED: usize = 15;
/// Word of a node.
const NODE_SAMPLES: usize = 14;
/// Bytes that the numbers of nodes count in.
const LOG_UNIT: usize = 6;

// Bits of a mark, as in `Samples.java`.
const MARK_PROBE: u64 = 1 << 63;
const MARK_LOST: u64 = 1 << 62;
/// The largest number of a node.
const MARK_NODE: u64 = (1 << 25) - 1;

static IS_PAUSED: AtomicBool = AtomicBool::new(false);
/// Where the virtual machine's own code lies.
static MACHINE: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// Writes that samples of a thread are missing.
pub(super) fn note_taken(sampled: &Sampled) {
    let region = Words(sampled.region.load(SeqCst));
    if region.0 != 0 {
        region.put(SOURCE, region.get(SOURCE) | timers::FLAG_TAKEN);
    }
}

/// Writes the CPU time when samples go there no longer, and that samples are missing if another handler has the signal.
pub(super) fn end(sampled: &Sampled, cpu: i64) {
    note_cpu(sampled, cpu);
    if signals::is_taken() {
        note_taken(sampled);
    }
}

/// Writes how a thread is sampled. The CPU time that the region has already, ns: of a virtual thread that was mounted before.
pub(super) fn describe(region: Words, period: u64, source: u64) -> i64 {
    region.put(PERIOD, period);
    region.put(SOURCE, source | region.get(SOURCE) & timers::FLAG_TAKEN);
    region.get(CPU) as i64
}

/// Writes the CPU time that a thread has used since its first event.
pub(super) fn note_cpu(sampled: &Sampled, cpu: i64) {
    let region = sampled.region.load(SeqCst);
    if region != 0 {
        Words(region).put(CPU, (cpu - sampled.began.load(SeqCst)).max(0) as u64);
    }
}

/// Whether samples are of what is not recorded.
pub(super) fn pause(on: bool) {
    IS_PAUSED.store(on, SeqCst);
}

/// Finds the virtual machine's code.
pub(super) fn prepare() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    if let Some(range) = maps.lines().find_map(machine_code) {
        MACHINE[0].store(range.start, SeqCst);
        MACHINE[1].store(range.end, SeqCst);
    }
}

/// The range of a line of `/proc/PID/maps`, if it is the code of the virtual machine.
fn machine_code(line: &str) -> Option<Range<usize>> {
    let (range, rest) = line.split_once(' ')?;
    if !rest.starts_with("r-xp") || !rest.ends_with("/libjvm.so") {
        return None;
    }
    let (start, end) = range.split_once('-')?;
    Some(usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?)
}

/// Whether an address is in the virtual machine's own code.
fn is_machine(address: usize) -> bool {
    (MACHINE[0].load(Relaxed)..MACHINE[1].load(Relaxed)).contains(&address)
}

/// What a timer calls, in the thread that it is about.
pub(super) extern "C" fn on_sample(_: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: it is this thread's, and there.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *errno };
    // SAFETY: these are what the kernel passed in.
    let (found, address) = unsafe { (timers::sampled_of(info), address_of(context)) };
    if let Some((sampled, periods)) = found
        // One that was on its way when its thread ended.
        && sampled.thread.load(SeqCst) == timers::current_thread()
    {
        sampled.busy.store(true, SeqCst);
        let region = sampled.region.load(SeqCst);
        if sampled.serial.load(SeqCst) != 0 {
            if !IS_PAUSED.load(Relaxed) {
                // SAFETY: this is what the kernel passed in.
                unsafe { stacks::take(sampled, periods, (address, is_machine(address)), context) };
            }
        } else if region != 0 {
            let periods = if sampled.event.load(Relaxed) < 0 && timers::go_to_event(sampled) {
                let region = Words(region);
                describe(region, timers::period(), timers::source(sampled));
                // What came before this signal, which is the only one of that time.
                let before = timers::cpu_time() - sampled.began.load(Relaxed) - region.get(CPU) as i64;
                (before.max(0) as u64).div_ceil(timers::period()).max(1)
            } else {
                periods
            };
            count(sampled, Words(region), address, periods);
        }
        sampled.busy.store(false, SeqCst);
    }
    // SAFETY: as above.
    unsafe { *errno = before };
}

fn count(sampled: &Sampled, region: Words, address: usize, periods: u64) {
    // Not the time of day: other threads may have the processor meanwhile.
    let cpu = timers::cpu_time();
    let mark = region.get(MARK);
    let node = mark & MARK_NODE;
    if IS_PAUSED.load(Relaxed) {
        region.add(PAUSED, periods);
        // The CPU time of pauses is nobody's.
        sampled.began.store(cpu - region.get(CPU) as i64, SeqCst);
    } else if is_probe(code::at(address), mark) {
        region.add(IN_PROBES, periods);
    } else if mark & MARK_LOST != 0 {
        region.add(UNKNOWN, periods);
    } else {
        match context(sampled, node as usize) {
            Context::None => region.add(IN_NO_CALL, periods),
            Context::Unknown => region.add(UNKNOWN, periods),
            Context::Samples(word) => {
                word.add(0, periods);
                if is_machine(address) {
                    region.add(IN_MACHINE, periods);
                }
            }
        }
    }
    note_cpu(sampled, cpu);
    timers::vary(sampled);
    region.add(HANDLER, (timers::cpu_time() - cpu).max(0) as u64);
}

/// What runs, by the node of the mark or, where methods are counted, by the shadow stack.
fn context(sampled: &Sampled, node: usize) -> Context {
    match (sampled.nodes.load(Relaxed), node) {
        (0, _) => sampled.counts.current(),
        (_, 0) => Context::None,
        (nodes, _) => Context::Samples(Words(nodes + (node << LOG_UNIT) + 8 * NODE_SAMPLES)),
    }
}

/// Compiled code says by itself whose it is. Elsewhere the mark does: probes in the interpreter, and what probes call of the virtual machine.
fn is_probe(code: Code, mark: u64) -> bool {
    match code {
        Code::Recorder => true,
        Code::Program => false,
        Code::Other => mark & MARK_PROBE != 0,
    }
}

/// Where the processor was.
///
/// # Safety
/// `context` is what the handler was given.
unsafe fn address_of(context: *mut c_void) -> usize {
    // SAFETY: see above.
    unsafe {
        let machine = &(*context.cast::<libc::ucontext_t>()).uc_mcontext;
        #[cfg(target_arch = "x86_64")]
        return machine.gregs[libc::REG_RIP as usize] as usize;
        #[cfg(target_arch = "aarch64")]
        return machine.pc as usize;
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        return 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiled_code_decides_and_elsewhere_the_mark() {
        for (code, mark, probe) in [
            (Code::Recorder, 5, true),
            (Code::Recorder, 5 | MARK_PROBE, true),
            // The mark is set a little early, and taken back a little late.
            (Code::Program, 5 | MARK_PROBE, false),
            (Code::Other, 5, false),
            (Code::Other, 5 | MARK_PROBE, true),
        ] {
            assert_eq!(is_probe(code, mark), probe, "{code:?} {mark:x}");
        }
    }

    #[test]
    fn the_code_of_the_virtual_machine_is_found() {
        let maps = "7f00-7f10 r--p 00000000 fe:00 1 /usr/lib/jvm/lib/server/libjvm.so\n\
            7f10-7fa0 r-xp 00010000 fe:00 1    /usr/lib/jvm/lib/server/libjvm.so\n\
            7fb0-7fc0 r-xp 00000000 fe:00 2    /usr/lib/libc.so.6";
        assert_eq!(maps.lines().find_map(machine_code), Some(0x7f10..0x7fa0));
    }

    #[test]
    fn samples_go_where_the_mark_says() {
        let mut memory = vec![0u64; 16 + 8 * 64];
        let base = memory.as_mut_ptr() as usize;
        let (region, nodes) = (Words(base), Words(base + 128));
        let sampled = Sampled::test(base, base + 128);
        let look = |mark: u64| {
            region.put(MARK, mark);
            count(&sampled, region, 1, 2);
        };
        look(0);
        look(3);
        look(3 | MARK_PROBE);
        look(MARK_LOST);
        assert_eq!(nodes.get((3 << (LOG_UNIT - 3)) + NODE_SAMPLES), 2);
        let words = [IN_PROBES, IN_NO_CALL, UNKNOWN, IN_MACHINE, PAUSED].map(|word| region.get(word));
        assert_eq!(words, [2, 2, 2, 0, 0]);
        assert!(region.get(CPU) > 0 && region.get(HANDLER) > 0);
        pause(true);
        look(3);
        pause(false);
        assert_eq!((region.get(PAUSED), nodes.get((3 << (LOG_UNIT - 3)) + NODE_SAMPLES)), (2, 2));
    }
}
