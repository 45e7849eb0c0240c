//! How long it takes to index a trace, to open it again, and to answer windows of it:
//! `cargo bench -p instrument-analysis --bench index [-- GB [FOLDER [keep]]]`.
//!
//! One large trace is written (and deleted, unless it is to be kept: `bench/view` shows it in a browser), read without an index, read with one that is kept, and opened with what was kept; 100 windows
//! of any width are asked then.

mod trace_file;

use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use instrument_analysis::session::{Request, Session};
use instrument_analysis::timeline::Timeline;
use instrument_analysis::trace_index::Cache;
use trace_file::{Random, Temporary, TraceFile, call, peak, program};

/// Processor time that this process has taken in s, where Linux tells.
fn processor() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    // Memory that was given back does not count for what comes next; not every Linux lets a process ask for that.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let (start, before) = (Instant::now(), processor());
    let done = work();
    let took = processor().zip(before).map_or(0.0, |(after, before)| after - before);
    println!(
        "{what:24} {:>12.3?}   processor time {took:.2} s   peak of memory {:?} MiB",
        start.elapsed(),
        peak()
    );
    done
}

fn main() {
    let arguments = std::env::args().skip(1).filter(|argument| argument != "--bench").collect::<Vec<_>>();
    let gigabytes: f64 = arguments.first().map_or(0.8, |text| text.parse().expect("gigabytes"));
    let folder = arguments.get(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = folder.join(format!("instrument-index-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = Temporary(folder.join("big.iprof"));
    let mut trace = TraceFile::create(&file.0);
    call(&mut trace, 0, |trace| program(trace, 300, 40, (gigabytes * 1e9 / 8.0 / 2.14) as u64));
    println!("{} events", trace.finish());
    // What was just written is not kept.
    let past = SystemTime::now() - Duration::from_secs(60);
    let written = std::fs::OpenOptions::new().append(true).open(&file.0);
    written.and_then(|written| written.set_modified(past)).expect("the file");
    let request = Request { files: vec![file.0.clone()], ..Request::default() };
    timed("read", || drop(Session::read(&request).expect("a profile")));
    let request = Request { cache: Some(Cache::new(folder.join("kept"))), ..request };
    let open = || {
        let session = Session::read_indexed(&request, &|_| ()).expect("a profile");
        let timeline = Timeline::of_session(&session, &request).expect("a timeline");
        (session, timeline)
    };
    timed("read and indexed", || drop(open()));
    let kept = std::fs::read_dir(folder.join("kept")).expect("a folder");
    let bytes: u64 = kept.map(|entry| entry.expect("a file").metadata().expect("a file").len()).sum();
    println!("{bytes} bytes kept");
    let (session, timeline) = timed("opened again", open);
    let mut random = Random(1);
    let mut took: Vec<_> = (0..100)
        .map(|_| {
            let width = (timeline.end >> random.below(30)).max(1);
            let from = random.below(timeline.end - width + 1);
            let start = Instant::now();
            timeline.model(&session.profiles, &[0], (from, from + width)).expect("a window");
            start.elapsed()
        })
        .collect();
    took.sort();
    println!(
        "windows: median {:.3?}, 95 of 100 within {:.3?}, all within {:.3?}",
        took[49], took[94], took[99]
    );
    if arguments.get(2).is_some_and(|word| word == "keep") {
        println!("{}", file.0.display());
        std::mem::forget(file);
    } else {
        let _ = std::fs::remove_dir_all(&folder);
    }
}
