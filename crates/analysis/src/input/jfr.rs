//! Recordings of Java Flight Recorder: stacks of samples, by thread.
//!
//! | event | resource |
//! |---|---|
//! | `jdk.ExecutionSample` | `execution-samples`: of threads in Java code, up to eight at a time |
//! | `jdk.CPUTimeSample` | `cpu-time-samples`: of all threads, by their CPU time |
//! | `jdk.ObjectAllocationSample` | `sampled-bytes`: what was allocated since the thread's sample before |
//! | `jdk.JavaMonitorEnter` | `monitor-enter` in ns, above the threshold of the recording |
//!
//! Stacks are cut off behind 64 frames unless the recording says otherwise (`stackdepth`), and the outermost are missing then: these stand below
//! `[truncated]`. `jdk.MethodTrace` has the caller on top of its stack, and `jdk.MethodTiming` counts on from chunk to chunk: neither is read.

mod chunk;

use super::folded::TRUNCATED;
use super::{Error, Remarks};
use crate::hash::HashMap;
use crate::model::{Arcflow, Kind, NodeId, Resource};
use chunk::{Chunk, MAGIC, Value};
use std::io::BufRead;

/// An event that is read: its name, its resource and the unit, its thread, and what it counts: a number of it, or itself.
const EVENTS: [(&str, &str, &str, &str, Option<&str>); 4] = [
    ("jdk.ExecutionSample", "execution-samples", "", "sampledThread", None),
    ("jdk.CPUTimeSample", "cpu-time-samples", "", "eventThread", None),
    ("jdk.ObjectAllocationSample", "sampled-bytes", "bytes", "eventThread", Some("weight")),
    ("jdk.JavaMonitorEnter", "monitor-enter", "ns", "eventThread", Some("duration")),
];
/// Samples that could not be taken.
const LOST: &str = "jdk.CPUTimeSamplesLost";

/// Whether an input that begins so is a recording.
pub(super) fn begins(start: &[u8]) -> bool {
    start.starts_with(MAGIC)
}

/// Reads a recording.
///
/// # Errors
/// It cannot be read, or has none of the events.
pub fn read(mut reader: impl BufRead) -> Result<(Arcflow, Remarks), Error> {
    let resource = |(_, name, unit, ..): &(&str, &str, &str, &str, Option<&str>)| Resource {
        name: (*name).into(),
        unit: (*unit).into(),
    };
    let mut model = Arcflow::new(EVENTS.iter().map(resource).collect());
    model.consumers = "frames".into();
    model.occurrences = "events".into();
    let mut remarks = Remarks::default();
    let damaged = |why: &str| Error::Recording(why.to_owned());
    while let Some(chunk) = Chunk::read(&mut reader)? {
        let chunk = chunk.map_err(damaged)?;
        let mut stacks = Stacks { chunk: &chunk, stacks: HashMap::default(), methods: HashMap::default() };
        let wants = |name: &str| match name {
            LOST => Some(EVENTS.len()),
            _ => EVENTS.iter().position(|(event, ..)| *event == name),
        };
        let visited = chunk.visit(wants, |which, event| {
            let Some((.., unit, thread, counted)) = EVENTS.get(which) else {
                remarks.lost += chunk.number(event, "lostSamples").unwrap_or(0).max(0) as u64;
                return;
            };
            let value = match counted {
                None => 1.0,
                Some(counted) => chunk.number(event, counted).unwrap_or(0).max(0) as f64,
            };
            let scale = if *unit == "ns" { 1e9 / chunk.ticks_per_second.max(1) as f64 } else { 1.0 };
            let (node, is_cut) = stacks.place(event, thread, &mut model);
            remarks.cut += u64::from(is_cut);
            model.meet(node, 1);
            model.base_mut(node)[which] += value * scale;
        });
        visited.map_err(damaged)?;
    }
    let totals = model.cum();
    let measured: Vec<usize> = (0..EVENTS.len()).filter(|&i| totals[i] > 0.0).collect();
    if measured.is_empty() {
        let names: Vec<_> = EVENTS.iter().map(|(name, ..)| *name).collect();
        return Err(Error::Recording(format!("it has none of {}", names.join(", "))));
    }
    Ok((model.with_resources(&measured), remarks))
}

/// The stacks of a chunk.
struct Stacks<'a> {
    chunk: &'a Chunk,
    /// Names of the frames by number, the outermost first, and whether some are missing.
    stacks: HashMap<i64, (Vec<String>, bool)>,
    methods: HashMap<i64, String>,
}

impl Stacks<'_> {
    /// The context of an event.
    fn place(&mut self, event: &Value, thread: &str, model: &mut Arcflow) -> (NodeId, bool) {
        let chunk = self.chunk;
        let thread = chunk.field(event, thread);
        let names = ["javaName", "osName"]
            .map(|name| chunk.text(thread.as_ref()?, name).filter(|name| !name.is_empty()));
        let thread = names.into_iter().flatten().next().unwrap_or_else(|| "(no name)".to_owned());
        let consumer = model.consumer(&thread);
        let mut node = model.child(Arcflow::ROOT, Kind::Thread, consumer);
        let Some(key) = chunk.key(event, "stackTrace") else { return (node, false) };
        if !self.stacks.contains_key(&key) {
            let stack = self.stack(event);
            self.stacks.insert(key, stack);
        }
        let (frames, is_cut) = &self.stacks[&key];
        for name in is_cut.then_some(TRUNCATED).into_iter().chain(frames.iter().map(String::as_str)) {
            let consumer = model.consumer(name);
            node = model.child(node, Kind::Method, consumer);
        }
        (node, *is_cut)
    }

    fn stack(&mut self, event: &Value) -> (Vec<String>, bool) {
        let chunk = self.chunk;
        let Some(stack) = chunk.field(event, "stackTrace") else { return (Vec::new(), false) };
        let frames = match chunk.field(&stack, "frames") {
            Some(Value::List(frames)) => frames,
            _ => Vec::new(),
        };
        let names = frames.into_iter().rev().filter_map(|frame| {
            let frame = chunk.resolved(frame)?;
            let key = chunk.key(&frame, "method")?;
            let name = self
                .methods
                .entry(key)
                .or_insert_with(|| method(chunk, &frame).unwrap_or_else(|| "[unknown]".into()));
            Some(name.clone())
        });
        (names.collect(), chunk.number(&stack, "truncated") == Some(1))
    }
}

/// As profiles name methods: `com.acme.Shop.price(I)J`.
fn method(chunk: &Chunk, frame: &Value) -> Option<String> {
    let method = chunk.field(frame, "method")?;
    let class = chunk.text(&chunk.field(&method, "type")?, "name")?.replace('/', ".");
    let (name, descriptor) = (chunk.text(&method, "name")?, chunk.text(&method, "descriptor")?);
    Some(format!("{class}.{name}{descriptor}"))
}
