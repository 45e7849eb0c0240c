//! How fast traces are replayed, and in how much memory: `cargo bench -p instrument-analysis --bench replay [-- NAME..|big GB [FILE]]`.
//!
//! Each program is written as a trace file, read once to have it in memory, and then read and replayed five times; the best
//! is printed. `big` writes one large trace (and deletes it), replays it once, and prints the peak of memory, too.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use instrument_analysis::replay;
use instrument_trace::{Event, Profile};

mod trace_file;

use trace_file::{Temporary, TraceFile, call, peak, program};

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
