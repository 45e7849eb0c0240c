//! How fast biographies become figures, leak suspects and XML: `cargo bench -p instrument-analysis --bench heap`.
//!
//! Each step is timed three times; the best is printed, with objects per second. Where Linux tells it, the time is that of the
//! processor, which does not depend on what else the machine does.

use std::time::Instant;

use instrument_analysis::export::xml;
use instrument_analysis::heap::Process;
use instrument_analysis::heap::leaks;
use instrument_analysis::heap::object_lifetimes::ObjectLifetimes;
use instrument_analysis::heap::table::{By, Filter, table};
use instrument_testing::{Life, ThreadFacts, Writer};
use instrument_trace::Profile;

const OBJECTS: u64 = 4_000_000;
const COLLECTIONS: u64 = 400;
const CLASSES: u64 = 500;
const CONTEXTS: u64 = 4000;

fn main() {
    let data = data();
    let profile = Profile::parse(&data).expect("a profile");
    let mut read = None;
    best("added up by thread, context and class", || {
        read = ObjectLifetimes::read(&profile, &data).expect("memory")
    });
    let biographies = read.expect("objects");
    println!("                             in {} groups", biographies.groups.len());
    let process = Process {
        profile: &profile,
        biographies: Some(&biographies),
        methods: &|_, id| format!("com.acme.Shop{}.method{id}(I)V", id % 20),
        classes: &|_, number| format!("com.acme.Class{number}"),
        threads: &|_, _| true,
    };
    for (by, name) in [(By::Class, "class"), (By::Site, "site"), (By::Context, "context")] {
        best(&format!("table by {name}"), || {
            table(std::slice::from_ref(&process), by, &Filter::default());
        });
    }
    best("leaks looked for", || {
        leaks::find(&process, &data).expect("memory");
    });
    best("as XML", || {
        let process = xml::Process {
            source: &data,
            profile: &profile,
            name: "p",
            host: None,
            classes: process.classes,
        };
        xml::write(&[process], &mut std::io::sink()).expect("memory");
    });
}

fn best(what: &str, mut run: impl FnMut()) {
    let mut seconds = f64::INFINITY;
    for _ in 0..3 {
        let (start, processor) = (Instant::now(), processor());
        run();
        let took = processor.and_then(|before| Some(self::processor()? - before));
        seconds = seconds.min(took.unwrap_or_else(|| start.elapsed().as_secs_f64()));
    }
    println!("{:>10.1} ms  {:>6.1} M/s  {what}", seconds * 1e3, OBJECTS as f64 / seconds / 1e6);
}

/// Seconds that this thread has had a processor.
fn processor() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}

/// Objects of a few classes in most places; nine in ten die with the next collection, one in a hundred stays.
fn data() -> Vec<u8> {
    let mut seed = 1u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % below
    };
    let mut writer = Writer::new();
    for _ in 0..8 {
        writer.thread("worker", &ThreadFacts::default(), 0, 0);
    }
    let contexts: Vec<_> = (0..CONTEXTS as u32).map(|i| (i / 2, Some(i % 900))).collect();
    writer.contexts(1, &contexts);
    writer
        .collections(1, &(1..=COLLECTIONS).map(|k| (k * 1_000_000, k * 1_000_000 + 999)).collect::<Vec<_>>());
    let lives = (0..OBJECTS).map(|i| {
        let born = (i * COLLECTIONS / OBJECTS) as u32;
        let gone = match random(100) {
            0 => None,
            1..10 => Some(born + 1 + random(50) as u32).filter(|&gone| u64::from(gone) <= COLLECTIONS),
            _ => Some(born + 1),
        };
        let context = (random(CONTEXTS) * random(CONTEXTS) / CONTEXTS) as u32;
        Life {
            class: 1 + (u64::from(context) * 7 % CLASSES) as u32 + random(3) as u32,
            thread: 1 + (i / 1000 % 8) as u32,
            context,
            bytes: 16 + 8 * random(10),
            born,
            gone,
            clock: i * COLLECTIONS * 1_000_000 / OBJECTS,
        }
    });
    let lives: Vec<_> = lives.collect();
    for (number, lives) in (1..).step_by(1 << 14).zip(lives.chunks(1 << 14)) {
        writer.objects(number, lives);
    }
    writer.finish()
}
