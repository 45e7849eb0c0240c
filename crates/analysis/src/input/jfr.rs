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
//! `[truncated]`. A context was met as often as the first resource that the recording has tells. `jdk.MethodTrace` has the caller on top of its stack, and `jdk.MethodTiming` counts on from chunk to chunk: neither is read.

mod chunk;

use super::folded::TRUNCATED;
use super::{Error, Remarks, UNKNOWN};
use crate::hash::HashMap;
use crate::model::{Arcflow, Consumer, Kind, NodeId, Resource};
pub(super) use chunk::MAGIC;
use chunk::{Chunk, Value};
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
    // Events, by which of them they are and their context.
    let mut met: HashMap<(usize, NodeId), u64> = HashMap::default();
    let damaged = |why: &str| Error::Recording(why.to_owned());
    while let Some(chunk) = Chunk::read(&mut reader)? {
        let chunk = chunk.map_err(damaged)?;
        let mut stacks = Stacks::new(&chunk);
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
            let (node, stack) = stacks.place(event, thread, &mut model);
            remarks.cut += u64::from(stack.is_cut);
            remarks.unknown += stack.unknown;
            *met.entry((which, node)).or_default() += 1;
            model.base_mut(node)[which] += value * scale;
        });
        visited.map_err(damaged)?;
    }
    let totals = model.cum();
    let measured: Vec<usize> = (0..EVENTS.len()).filter(|&i| totals[i] > 0.0).collect();
    let Some(first) = measured.first() else {
        let names: Vec<_> = EVENTS.iter().map(|(name, ..)| *name).collect();
        return Err(Error::Recording(format!("it has none of {}", names.join(", "))));
    };
    // Those of another kind are other events.
    for ((_, node), n) in met.into_iter().filter(|((which, _), _)| which == first) {
        model.meet(node, n);
    }
    Ok((model.with_resources(&measured), remarks))
}

/// The stacks of a chunk.
struct Stacks<'a> {
    chunk: &'a Chunk,
    /// By number.
    stacks: HashMap<i64, Stack>,
    methods: HashMap<i64, Option<Consumer>>,
    threads: HashMap<i64, Consumer>,
}

/// Frames, the outermost first.
#[derive(Debug, Clone, Default)]
struct Stack {
    frames: Vec<Consumer>,
    /// Whether the outermost are missing.
    is_cut: bool,
    /// How many have no name.
    unknown: u64,
}

impl<'a> Stacks<'a> {
    fn new(chunk: &'a Chunk) -> Self {
        let (stacks, methods, threads) = (HashMap::default(), HashMap::default(), HashMap::default());
        Self { chunk, stacks, methods, threads }
    }

    /// The context of an event, and its stack.
    fn place(&mut self, event: &Value, thread: &str, model: &mut Arcflow) -> (NodeId, &Stack) {
        let consumer = self.thread(event, thread, model);
        let mut node = model.child(Arcflow::ROOT, Kind::Thread, consumer);
        // None: the event has no stack.
        let key = self.chunk.key(event, "stackTrace").unwrap_or_default();
        if !self.stacks.contains_key(&key) {
            let stack = self.stack(event, model);
            self.stacks.insert(key, stack);
        }
        let stack = &self.stacks[&key];
        for &consumer in &stack.frames {
            node = model.child(node, Kind::Method, consumer);
        }
        (node, stack)
    }

    fn thread(&mut self, event: &Value, field: &str, model: &mut Arcflow) -> Consumer {
        let chunk = self.chunk;
        let key = chunk.key(event, field);
        if let Some(&known) = key.and_then(|key| self.threads.get(&key)) {
            return known;
        }
        let thread = chunk.field(event, field);
        let names = ["javaName", "osName"]
            .map(|name| chunk.text(thread.as_ref()?, name).filter(|name| !name.is_empty()));
        let consumer = model.consumer(names.iter().flatten().next().map_or("(no name)", String::as_str));
        self.threads.extend(key.map(|key| (key, consumer)));
        consumer
    }

    fn stack(&mut self, event: &Value, model: &mut Arcflow) -> Stack {
        let chunk = self.chunk;
        let Some(stack) = chunk.field(event, "stackTrace") else { return Stack::default() };
        let frames = match chunk.field(&stack, "frames") {
            Some(Value::List(frames)) => frames,
            _ => Vec::new(),
        };
        let is_cut = chunk.number(&stack, "truncated") == Some(1);
        let mut read = Stack { frames: Vec::new(), is_cut, unknown: 0 };
        read.frames.extend(is_cut.then(|| model.consumer(TRUNCATED)));
        for frame in frames.into_iter().rev() {
            let method = self.method(frame, model);
            read.unknown += u64::from(method.is_none());
            read.frames.push(method.unwrap_or_else(|| model.consumer(UNKNOWN)));
        }
        read
    }

    /// None: it has no name.
    fn method(&mut self, frame: Value, model: &mut Arcflow) -> Option<Consumer> {
        let chunk = self.chunk;
        let frame = chunk.resolved(frame)?;
        let key = chunk.key(&frame, "method")?;
        let name = || method(chunk, &frame).map(|name| model.consumer(&name));
        *self.methods.entry(key).or_insert_with(name)
    }
}

/// As profiles name methods: `com.acme.Shop.price(I)J`.
fn method(chunk: &Chunk, frame: &Value) -> Option<String> {
    let method = chunk.field(frame, "method")?;
    let class = chunk.text(&chunk.field(&method, "type")?, "name")?.replace('/', ".");
    let (name, descriptor) = (chunk.text(&method, "name")?, chunk.text(&method, "descriptor")?);
    Some(format!("{class}.{name}{descriptor}"))
}
