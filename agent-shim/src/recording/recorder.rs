//! The Java side of the agent: `instrument.runtime.Agent`, which lies on the boot path.

use crate::jvmti::{Global, Jni, MethodId, Object, StaticMethod, Value};
use crate::recording::clock::{self, Pair};
use std::sync::{Mutex, PoisonError};

/// What Java code has to find of a thread's stack: 80 KiB that HotSpot keeps for native code, 16 of guard pages, 48 to run in.
const STACK: usize = 144 << 10;

/// Whether this thread has stack enough to call Java code.
pub(crate) fn has_stack() -> bool {
    stacker::remaining_stack().is_none_or(|bytes| bytes >= STACK)
}

/// What the recorder has to know of a class before it can run.
pub(crate) struct News {
    /// The part of the id map that nobody has yet.
    pub(crate) map: Option<Vec<u8>>,
    /// Ids of root methods.
    pub(crate) roots: Vec<u32>,
    /// Ids of methods whose durations are kept, with thresholds in ns.
    pub(crate) kept: Vec<(u32, u64)>,
}

/// A change of what is recorded, by its number in the profile.
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
pub(crate) enum Action {
    Exclude = 1,
    Include = 2,
    AddRoots = 3,
    RemoveRoots = 4,
}

fn big_endian(ids: &[u32]) -> Vec<u8> {
    ids.iter().flat_map(|id| id.to_be_bytes()).collect()
}

/// Methods whose durations are kept, as the recorder takes them.
fn with_thresholds(methods: &[(u32, u64)]) -> Vec<u8> {
    let bytes = |(id, threshold): &(u32, u64)| id.to_be_bytes().into_iter().chain(threshold.to_be_bytes());
    methods.iter().flat_map(bytes).collect()
}

/// A call that began before the recording.
#[derive(Debug)]
pub(crate) struct OpenCall {
    /// Frames below it.
    pub(crate) place: usize,
    /// Its method, as probes name it.
    pub(crate) id: u32,
    /// Its method, as the virtual machine names it.
    pub(crate) method: MethodId,
    /// No call that begins now has this name.
    pub(crate) apart: bool,
}

/// The class of the recorder that the agent calls.
pub(crate) const CLASS: &str = "instrument/runtime/Agent";

/// The recorder, once its class can be called.
pub(crate) struct Recorder {
    id_map: StaticMethod,
    roots: StaticMethod,
    kept: StaticMethod,
    kept_late: StaticMethod,
    remove_roots: StaticMethod,
    missed: StaticMethod,
    properties: StaticMethod,
    holders: StaticMethod,
    selection_change: StaticMethod,
    profile: StaticMethod,
    refusal: StaticMethod,
    configure: StaticMethod,
    begin: StaticMethod,
    stop: StaticMethod,
    entered: StaticMethod,
    thread: StaticMethod,
    began: StaticMethod,
    running: StaticMethod,
    running_known: StaticMethod,
    region: StaticMethod,
    sampled: StaticMethod,
    /// Pieces of the id map that it did not take yet.
    waiting: Mutex<Vec<Vec<u8>>>,
}

impl Recorder {
    /// Finds the class, and gives it its clock, if there is one that begins with this pair. `samples`: what the profile says of the sampler,
    /// if there is one.
    pub(crate) fn find(jni: Jni<'_>, clock: Option<Pair>, samples: Option<&str>) -> Option<Recorder> {
        if let Some(first) = clock
            && jni.register_clock("instrument/runtime/Clock", "ticks", clock::ticks)
            && let Some(lines) = clock::settle(first)
        {
            let clock = jni.static_method(CLASS, "clock", "([B)V")?;
            jni.call_with_bytes(&clock, lines.as_bytes()).then_some(())?;
        }
        if let Some(lines) = samples {
            let samples = jni.static_method(CLASS, "samples", "([B)V")?;
            jni.call_with_bytes(&samples, lines.as_bytes()).then_some(())?;
        }
        let id_map = jni.static_method(CLASS, "idMap", "([B)V")?;
        let roots = jni.static_method(CLASS, "roots", "([B)V")?;
        let kept = jni.static_method(CLASS, "kept", "([B)V")?;
        let kept_late = jni.static_method(CLASS, "keptLate", "([B)V")?;
        let remove_roots = jni.static_method(CLASS, "removeRoots", "([B)V")?;
        let missed = jni.static_method(CLASS, "missed", "([B)V")?;
        let properties = jni.static_method(CLASS, "properties", "([B)V")?;
        let holders = jni.static_method(CLASS, "holders", "([B)V")?;
        let selection_change = jni.static_method(CLASS, "selectionChange", "([B)V")?;
        let profile = jni.static_method(CLASS, "profile", "()[B")?;
        let refusal = jni.static_method(CLASS, "refusal", "()[B")?;
        let configure = jni.static_method(CLASS, "configure", "([B)V")?;
        let begin = jni.static_method(CLASS, "begin", "([B)V")?;
        let stop = jni.static_method(CLASS, "stop", "([B)V")?;
        let entered = jni.static_method(CLASS, "entered", "()[B")?;
        let thread = jni.static_method(CLASS, "thread", "()Ljava/lang/Thread;")?;
        let began = jni.static_method(CLASS, "began", "()V")?;
        let running = jni.static_method(CLASS, "running", "(Ljava/lang/Thread;IIJZ)V")?;
        let running_known = jni.static_method(CLASS, "runningKnown", "()V")?;
        let region = jni.static_method(CLASS, "region", "(I)Ljava/nio/ByteBuffer;")?;
        let sampled = jni.static_method(CLASS, "sampled", "([B)V")?;
        Some(Recorder {
            id_map,
            roots,
            kept,
            kept_late,
            remove_roots,
            missed,
            properties,
            holders,
            selection_change,
            profile,
            refusal,
            configure,
            begin,
            stop,
            entered,
            thread,
            began,
            running,
            running_known,
            region,
            sampled,
            waiting: Mutex::default(),
        })
    }

    /// Begins a recording with these settings: lines of KEY=VALUE. `at_once`: before the first event. `by_ours`: this thread is one of ours,
    /// and what it does is not the program's. False: it fails.
    pub(crate) fn begin(&self, jni: Jni<'_>, settings: &str, at_once: bool, by_ours: bool) -> bool {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).clear();
        if !jni.call_with_bytes(&self.configure, settings.as_bytes()) {
            return false;
        }
        if by_ours {
            self.leave_out(jni);
        }
        !at_once || jni.call_with_bytes(&self.begin, &[])
    }

    /// Ends the recording, before the virtual machine does.
    pub(crate) fn stop(&self, jni: Jni<'_>) {
        jni.call_with_bytes(&self.stop, &[]);
    }

    /// Tells what has to be known of a class before it runs. Roots, and methods whose durations are kept, do not wait as the map
    /// does: where the stack is nearly full, what they do is not recorded.
    pub(crate) fn tell(&self, jni: Jni<'_>, news: News) {
        if let Some(map) = news.map {
            self.id_map(jni, map);
        }
        if !news.roots.is_empty() && has_stack() {
            jni.call_with_bytes(&self.roots, &big_endian(&news.roots));
        }
        if !news.kept.is_empty() && has_stack() {
            jni.call_with_bytes(&self.kept, &with_thresholds(&news.kept));
        }
    }

    /// From now on the durations of these methods are kept, with thresholds in ns; they may have been called before.
    pub(crate) fn keep_late(&self, jni: Jni<'_>, methods: &[(u32, u64)]) {
        jni.call_with_bytes(&self.kept_late, &with_thresholds(methods));
    }

    /// Calls of these methods begin no recording from now on.
    pub(crate) fn remove_roots(&self, jni: Jni<'_>, ids: &[u32]) {
        jni.call_with_bytes(&self.remove_roots, &big_endian(ids));
    }

    /// Hands a piece of the id map over, and what has waited before. Where the stack is nearly full it waits for the next class, or the
    /// end: Java code would fail half-way through what it does.
    fn id_map(&self, jni: Jni<'_>, piece: Vec<u8>) {
        // Taken out: what is called may load a class, and come here again.
        let mut pieces = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        pieces.push(piece);
        if has_stack() {
            let taken = pieces.iter().take_while(|piece| jni.call_with_bytes(&self.id_map, piece)).count();
            pieces.drain(..taken);
        }
        if !pieces.is_empty() {
            self.waiting.lock().unwrap_or_else(PoisonError::into_inner).append(&mut pieces);
        }
    }

    /// The ids of the methods that were entered for the first time since this was called; the first call has them kept.
    pub(crate) fn entered(&self, jni: Jni<'_>) -> Vec<u32> {
        let bytes = jni.call_for_bytes(&self.entered).unwrap_or_default();
        bytes.chunks_exact(4).map(|id| u32::from_be_bytes([id[0], id[1], id[2], id[3]])).collect()
    }

    /// A thread of ours that was not started.
    pub(crate) fn thread(&self, jni: Jni<'_>) -> Option<Global> {
        jni.call_for_object(&self.thread)
    }

    /// Such a thread has begun: what it does is not the program's.
    pub(crate) fn leave_out(&self, jni: Jni<'_>) {
        jni.call(&self.began, &[]);
    }

    /// Calls are open on the stack of a thread, outermost first.
    pub(crate) fn running(&self, jni: Jni<'_>, thread: &Object<'_>, calls: &[OpenCall]) {
        for call in calls {
            let (place, id) = (Value::Int(call.place as i32), Value::Int(call.id as i32));
            let (method, apart) = (Value::Long(call.method.number()), Value::Boolean(call.apart));
            jni.call(&self.running, &[Value::Thread(thread), place, id, method, apart]);
        }
        jni.call(&self.running_known, &[]);
    }

    /// Where the profile is; none: it was not begun.
    pub(crate) fn profile(&self, jni: Jni<'_>) -> Option<String> {
        let path = jni.call_for_bytes(&self.profile)?;
        String::from_utf8(path).ok().filter(|path| !path.is_empty())
    }

    /// Why it was not begun.
    pub(crate) fn refusal(&self, jni: Jni<'_>) -> String {
        String::from_utf8(jni.call_for_bytes(&self.refusal).unwrap_or_default()).unwrap_or_default()
    }

    /// Memory of the profile: see `Agent.region`. None: there is no room.
    pub(crate) fn region(&self, jni: Jni<'_>, bytes: usize) -> Option<Global> {
        let bytes = Value::Int(i32::try_from(bytes).ok()?);
        jni.call_for_global(&self.region, "Ljava/nio/ByteBuffer;", &[bytes])
    }

    /// Writes a piece of the id map for methods that were sampled.
    pub(crate) fn sampled(&self, jni: Jni<'_>, map: &[u8]) {
        jni.call_with_bytes(&self.sampled, map);
    }

    /// Writes who holds objects that may leak.
    pub(crate) fn holders(&self, jni: Jni<'_>, data: &[u8]) {
        jni.call_with_bytes(&self.holders, data);
    }

    /// Writes that methods were excluded or included now, or roots added or removed, by these patterns.
    pub(crate) fn selection_change(&self, jni: Jni<'_>, action: Action, ids: &[u32], patterns: &[String]) {
        let action = action as u32;
        let mut data = vec![0; 8];
        let words = [action, ids.len() as u32].into_iter().chain(ids.iter().copied());
        data.extend(words.flat_map(u32::to_le_bytes));
        data.extend(patterns.join("\n").into_bytes());
        jni.call_with_bytes(&self.selection_change, &data);
    }

    /// Writes what the agent itself has to say, as lines of KEY=VALUE.
    pub(crate) fn properties(&self, jni: Jni<'_>, lines: &str) {
        jni.call_with_bytes(&self.properties, lines.as_bytes());
    }

    /// Writes what is left, before the end. `missed`: roots that match nothing that was rewritten now; it may have been earlier.
    /// `properties`: what the agent itself has to say, as lines of KEY=VALUE.
    pub(crate) fn finish(&self, jni: Jni<'_>, missed: &[String], properties: &str) {
        self.id_map(jni, Vec::new());
        self.properties(jni, properties);
        if !missed.is_empty() {
            jni.call_with_bytes(&self.missed, missed.join("\n").as_bytes());
        }
    }
}
