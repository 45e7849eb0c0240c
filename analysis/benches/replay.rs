//! How fast traces are replayed, and in how much memory: `cargo bench -p instrument-analysis --bench replay [-- NAME..|big GB [FILE]]`.
//!
//! Each program is written as a trace file, read once to have it in memory, and then read and replayed five times; the best
//! is printed. `big` writes one large trace (and deletes it), replays it once, and prints the peak of memory, too.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use instrument_analysis::replay;
use instrument_trace::testing::{Script, Writer};
use instrument_trace::{Event, Profile};

const BLOCK: usize = 1 << 20;
/// Events in a block: it has its own header, and that of its only region.
const EVENTS: usize = (BLOCK - 128) / 8;

/// Writes a trace of any length.
struct TraceFile {
    out: BufWriter<File>,
    piece: Vec<u8>,
    pieces: u64,
    clock: u64,
    start: u64,
    events: u64,
}

impl TraceFile {
    fn create(path: &Path) -> TraceFile {
        let mut writer = Writer::new();
        writer.property("record", "trace").trace("main", &Script::new(1000), 1);
        let mut out = BufWriter::new(File::create(path).expect("a file"));
        out.write_all(&writer.finish()).expect("room");
        // The empty piece of the script is number 1.
        TraceFile { out, piece: Vec::new(), pieces: 1, clock: 1000, start: 1000, events: 0 }
    }

    fn event(&mut self, event: Event) {
        let ns = 25 + (self.events & 15);
        self.piece.extend_from_slice(&event.encode(ns).expect("an event").to_le_bytes());
        self.clock += ns;
        self.events += 1;
        if self.piece.len() == 8 * EVENTS {
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.pieces += 1;
        let mut header = [0u64; 16];
        header[0] = u64::from(u32::from_le_bytes(*b"BLOK")) | 1 << 32;
        header[1] = BLOCK as u64;
        header[8] = 10 | 1 << 32;
        header[9] = BLOCK as u64 - 64;
        header[10] = self.pieces;
        header[11] = self.start;
        self.piece.resize(8 * EVENTS, 0);
        for word in header {
            self.out.write_all(&word.to_le_bytes()).expect("room");
        }
        self.out.write_all(&self.piece).expect("room");
        self.piece.clear();
        self.start = self.clock;
    }

    fn finish(mut self) -> u64 {
        self.flush();
        self.out.flush().expect("room");
        self.events
    }
}

/// A small random number generator (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) % end
    }
}

fn call(trace: &mut TraceFile, id: u32, body: impl FnOnce(&mut TraceFile)) {
    trace.event(Event::Entry(id));
    body(trace);
    trace.event(Event::Exit(id));
}

fn leaf_calls(trace: &mut TraceFile, calls: u64) {
    call(trace, 1, |t| (0..calls).for_each(|_| call(t, 2, |_| {})));
}

fn recursion(trace: &mut TraceFile, calls: u64) {
    let depth = 1000;
    for _ in 0..calls / depth {
        (0..depth).for_each(|_| trace.event(Event::Entry(1)));
        (0..depth).for_each(|_| trace.event(Event::Exit(1)));
    }
}

fn fan_out(trace: &mut TraceFile, calls: u64) {
    call(trace, 0, |t| (0..calls).for_each(|i| call(t, 1 + (i % 1000) as u32, |_| {})));
}

/// Calls as programs have them: each method calls a few others, one of them often; some constructors, some exceptions. The
/// `rarer` the other ones, the fewer contexts.
fn program(trace: &mut TraceFile, methods: u32, rarer: u64, calls: u64) {
    let mut random = Random(1);
    let mut stack: Vec<u32> = Vec::new();
    let mut entered = 0;
    while entered < calls || !stack.is_empty() {
        let deeper = entered < calls && random.below(30) as usize >= stack.len() && random.below(5) > 1;
        let caller = stack.last().copied().unwrap_or(0);
        if stack.is_empty() || deeper {
            let choice = if random.below(rarer) == 0 { random.below(6) as u32 } else { 0 };
            let id = (caller.wrapping_mul(7).wrapping_add(choice + 1)) % methods;
            stack.push(id);
            entered += 1;
            if id % 16 == 3 {
                trace.event(Event::ConstructorEntry(id));
                trace.event(Event::SuperReturned(id));
            } else {
                trace.event(Event::Entry(id));
            }
        } else if random.below(200) == 0 {
            stack.pop();
            trace.event(Event::Unwind(caller));
            if let Some(&catcher) = stack.last() {
                trace.event(Event::Caught(catcher));
            }
        } else {
            stack.pop();
            trace.event(Event::Exit(caller));
        }
    }
}

/// Opens and replays a file: time, contexts, calls.
fn read(path: &Path) -> (Duration, usize, u64) {
    let start = Instant::now();
    let file = File::open(path).expect("the file");
    let mut profile = Profile::open(&file).expect("a profile");
    replay::profile(&file, &mut profile).expect("a trace");
    let took = start.elapsed();
    assert!(profile.damage.is_empty() && profile.imbalances().is_empty(), "{:?}", profile.damage);
    let [thread] = &profile.threads[..] else { panic!("one thread") };
    let contexts = thread.tree.as_ref().map_or(0, |tree| tree.nodes.len());
    (took, contexts, thread.methods.values().map(|method| method.entries).sum())
}

fn print(name: &str, events: u64, (took, contexts, calls): (Duration, usize, u64)) {
    let rate = events as f64 / took.as_secs_f64() / 1e6;
    println!(
        "{name:24} {events:>11} events {calls:>11} calls {contexts:>8} contexts {took:>12.3?} {rate:8.1} M/s"
    );
}

/// The peak of this process's memory in MiB, where Linux tells.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? / 1024)
}

/// A file that is deleted in the end.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn main() {
    let arguments = std::env::args().skip(1).filter(|argument| argument != "--bench").collect::<Vec<_>>();
    let folder = std::env::temp_dir();
    if let [big, gigabytes, rest @ ..] = &arguments[..]
        && big == "big"
    {
        let path = rest.first().map_or_else(|| folder.join("instrument-big.iprof"), PathBuf::from);
        let file = Temporary(path);
        let bytes = gigabytes.parse::<f64>().expect("gigabytes") * 1e9;
        let mut trace = TraceFile::create(&file.0);
        program(&mut trace, 300, 40, (bytes / 8.0 / 2.14) as u64);
        let events = trace.finish();
        print("big", events, read(&file.0));
        println!("{} bytes; peak of memory {:?} MiB", file.0.metadata().expect("the file").len(), peak());
        return;
    }
    type Program = (&'static str, fn(&mut TraceFile));
    let programs: [Program; 7] = [
        ("leaf calls", |t| leaf_calls(t, 5_000_000)),
        ("recursion", |t| recursion(t, 5_000_000)),
        ("wide fan-out", |t| fan_out(t, 5_000_000)),
        ("30 methods", |t| program(t, 30, 100, 5_000_000)),
        ("3000 methods", |t| program(t, 3000, 40, 5_000_000)),
        ("many contexts", |t| program(t, 3000, 2, 5_000_000)),
        ("130 methods, like JaViz", |t| program(t, 130, 40, 521_410)),
    ];
    for (name, program) in programs {
        if !arguments.is_empty() && !arguments.iter().any(|argument| name.contains(argument.as_str())) {
            continue;
        }
        let file = Temporary(folder.join(format!("instrument-replay-{}.iprof", std::process::id())));
        let mut trace = TraceFile::create(&file.0);
        program(&mut trace);
        let events = trace.finish();
        let best = (0..5).map(|_| read(&file.0)).min().expect("five");
        print(name, events, best);
    }
    println!("peak of memory {:?} MiB", peak());
}
