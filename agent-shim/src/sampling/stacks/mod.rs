//! `record=samples`: nothing is rewritten, and the stacks of all threads are sampled, by their CPU time or by another event.
//!
//! 1. [`begin`] has the virtual machine make the ids of all methods, of those that are loaded later too ([`class_prepare`]): a handler cannot.
//!    It gives every thread a timer ([`threads`]).
//! 2. The signal handler walks the stack into a slot of a [`ring`] ([`walk`]).
//! 3. A thread of ours empties the ring ten times a second, before classes are unloaded: it finds out what the methods are called ([`names`]) and adds the sample to
//!    a calling context tree ([`file`]), which lies in the mapped profile: a kill loses what is in the ring.
//! 4. Where time is sampled, the same thread looks at those that wait ([`wall`]), which get no signal.
//!
//! Threads whose names differ in their last number are one sum ([`pool`]).

mod anchor;
mod callers;
mod file;
mod java_threads;
mod names;
mod pool;
mod ring;
mod tasks;
mod threads;
mod walk;
mod wall;

pub(super) use walk::take;

use super::{code, signals, timers};
use crate::jvmti::{Callbacks, Environment, Event, Jni, Jvmti, Object};
use crate::recording::recorder::Recorder;
use crate::talk::contained;
use file::Sum;
use instrument_control::word::{SampleEvent, SampledEvent};
use instrument_names::word::Word;
use instrument_rewriter::filter::Filter;
use java_threads::{distance, name_of, names_by_environment};
use names::Names;
use ring::{Ring, Slot};
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use threads::About;
use wall::{Arrived, Looks};

/// Between two looks into the ring.
const APART: Duration = Duration::from_millis(100);
/// Between two looks at the threads and their CPU time.
const LOOK: Duration = Duration::from_secs(1);
/// Slots for samples, of 16 KiB, for what the processors get in ten times [`APART`]: at least so many and at most so many. Those that are never
/// used have no memory.
const SLOTS: (u64, u64) = (2048, 8192);
/// Of a second, in ns, a little less: no multiple of a millisecond, in which programs do things.
const SECOND: u64 = 997_000_000;

static CALLBACKS: Callbacks = Callbacks {
    thread_start: Some(thread_start),
    thread_end: Some(thread_end),
    class_load: Some(class_load),
    class_prepare: Some(class_prepare),
    ..Callbacks::NONE
};
const EVENTS: [Event; 4] = [Event::ClassLoad, Event::ClassPrepare, Event::ThreadStart, Event::ThreadEnd];

static ENVIRONMENT: OnceLock<Jvmti<'static>> = OnceLock::new();
static STATE: Mutex<Option<State>> = Mutex::new(None);
static CHANGED: Condvar = Condvar::new();
/// Number of the recording, odd while it goes on.
static RECORDING: AtomicU32 = AtomicU32::new(0);
/// Threads that wait are looked at.
static LOOKS: AtomicBool = AtomicBool::new(false);

#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// Samples in a second of a thread's CPU time or, where time is sampled, of its life.
    pub(crate) rate: u32,
    pub(crate) sampled: SampledEvent,
    /// Which frames are recorded.
    pub(crate) filter: Filter,
}

/// A recording.
struct State {
    recorder: &'static Recorder,
    ring: &'static Ring,
    names: Names,
    /// At threads that wait, where time is sampled.
    looks: Option<Looks>,
    sums: Vec<Sum>,
    /// Sums by pool.
    pools: HashMap<String, usize>,
    /// Sums by serial number of the thread.
    of_threads: HashMap<u32, usize>,
    /// The last look into the ring, and that at the threads.
    read: Instant,
    looked: Instant,
    lost: u64,
    /// Threads that could not be sampled, as the profile says.
    without: u64,
    period: u64,
    source: u64,
}

/// A sample as it was read, with its contexts not found yet.
struct Read {
    serial: u32,
    periods: u64,
    /// The squares of what each of the samples counts for, added up.
    squares: u64,
    handler: u64,
    in_machine: bool,
    /// Ids of frames, outermost first; none: it is not known which.
    path: Option<Vec<u32>>,
}

impl Read {
    /// Of a thread that waits.
    fn waiting(serial: u32, path: Option<Vec<u32>>, periods: u64, squares: u64) -> Read {
        Read { serial, periods, squares, handler: 0, in_machine: false, path }
    }
}

impl Wanted {
    /// What lies between two samples of a thread.
    fn period(&self) -> u64 {
        match self.sampled.event {
            event if event.is_time() => SECOND / u64::from(self.rate.max(1)),
            _ => self.sampled.period(),
        }
    }
}

/// Whether this virtual machine, a `JavaVM*`, and the kernel can do it. Before the machine is initialised, too.
pub(crate) fn check(machine: *mut c_void, sampled: SampledEvent) -> Result<(), String> {
    timers::can_sample(of_timers(sampled.event))?;
    walk::prepare(machine)
}

/// What timers sample: threads that run, where that is time.
fn of_timers(event: SampleEvent) -> SampleEvent {
    if event.is_time() { SampleEvent::Cpu } else { event }
}

/// Begins. The sampler was prepared, and the profile is there. `has_replaced`: code of the program may run that was replaced.
///
/// # Errors
/// Why no stack can be sampled.
pub(crate) fn begin(
    wanted: &Wanted,
    recorder: &'static Recorder,
    environment: fn() -> Result<Jvmti<'static>, String>,
    has_replaced: bool,
    jni: Jni<'_>,
) -> Result<(), String> {
    if let Some(Err(reason)) = super::SAMPLER.get() {
        return Err(format!("record=samples: {reason}"));
    }
    let jvmti = match ENVIRONMENT.get() {
        Some(jvmti) => *jvmti,
        None => {
            let jvmti = environment()?;
            jvmti.set_callbacks(&CALLBACKS).map_err(|error| error.to_string())?;
            *ENVIRONMENT.get_or_init(|| jvmti)
        }
    };
    let (event, period) = (wanted.sampled.event, wanted.period());
    let user_only = timers::choose(of_timers(event), period)?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let slots = (u64::from(wanted.rate) * processors).clamp(SLOTS.0, SLOTS.1);
    // Handlers that come late may look at it: it lasts.
    static RING: OnceLock<Ring> = OnceLock::new();
    let ring = RING.get_or_init(|| Ring::new(slots as u32));
    ring.read(|_| {});
    let state = State {
        recorder,
        ring,
        names: Names::new(wanted.filter.clone()),
        looks: (event == SampleEvent::Wall).then(|| Looks::new(period)),
        sums: Vec::new(),
        pools: HashMap::new(),
        of_threads: HashMap::new(),
        read: Instant::now(),
        looked: Instant::now(),
        lost: 0,
        without: 0,
        period,
        source: timers::usual_source(),
    };
    if event != SampleEvent::Cpu {
        let lines = format!(
            "samples.event={}\nsamples.period={period}\nsamples.user-only={user_only}\n",
            event.word()
        );
        recorder.properties(jni, &lines);
    }
    LOOKS.store(state.looks.is_some(), SeqCst);
    *lock() = Some(state);
    RECORDING.fetch_add(1, SeqCst);
    let started = || {
        for event in EVENTS {
            jvmti.enable(event).map_err(|error| format!("record=samples: {error}"))?;
        }
        prepare_methods(jvmti, has_replaced, jni);
        callers::prepare();
        if let Some(distance) = distance(jvmti, jni) {
            anchor::prepare(walk::find, distance);
        }
        walk::set_ring(Some(ring));
        threads::with(|threads| {
            threads.begin();
            match threads.has_timer() {
                true => Ok(()),
                false if !event.is_time() => Err(format!(
                    "sample-event={}: no thread could be given a perf event; there may be too few descriptors (ulimit -n) or signals (ulimit -i)",
                    event.word()
                )),
                false => Err("record=samples: the kernel gives no timer on the CPU time of threads (timer_create): seccomp may forbid it, or \
                              RLIMIT_SIGPENDING be too small (ulimit -i); record=tree needs none"
                    .to_owned()),
            }
        })?;
        if event == SampleEvent::Wall {
            wall::arrive_all(jvmti, jni)?;
        }
        let thread = recorder.thread(jni).ok_or("record=samples: there is no thread to read samples")?;
        jvmti.run_agent_thread(&thread, main).map_err(|error| format!("record=samples: no thread: {error}"))
    };
    let begun = started();
    if begun.is_err() {
        end(jni, false);
    }
    begun
}

/// Ends, and writes what is left. Nothing happens if it has not begun. `at_death`: the virtual machine ends.
pub(crate) fn end(jni: Jni<'_>, at_death: bool) {
    let events = threads::with(threads::Threads::end_all);
    match at_death {
        // The kernel closes them when the process is gone: the program does not wait for it.
        true => std::mem::forget(events),
        false => events.into_iter().for_each(timers::close_later),
    }
    let mut state = lock();
    let Some(mut last) = state.take() else { return };
    RECORDING.fetch_add(1, SeqCst);
    LOOKS.store(false, SeqCst);
    CHANGED.notify_all();
    if let Some(jvmti) = ENVIRONMENT.get() {
        jni.in_frame(|| last.read(*jvmti, jni, true));
        for event in EVENTS {
            let _ = jvmti.disable(event);
        }
    }
    if last.lost > 0 {
        last.recorder.properties(jni, &format!("samples.lost={}\n", last.lost));
    }
    walk::set_ring(None);
    timers::choose_cpu_time();
    if let Some(looks) = last.looks {
        looks.close(jni);
    }
    last.sums.into_iter().for_each(|sum| sum.close(jni));
}

fn lock() -> MutexGuard<'static, Option<State>> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has the virtual machine make the ids of all methods.
fn prepare_methods(jvmti: Jvmti<'_>, has_replaced: bool, jni: Jni<'_>) {
    if has_replaced {
        // Code that was replaced while it ran is a method of its own, which gets an id when somebody asks for the stack.
        let stacks = jvmti.all_stacks(ring::MOST_FRAMES, jni).unwrap_or_default();
        stacks.into_iter().for_each(|stack| jni.forget(stack.thread));
    }
    for class in jvmti.loaded_classes(jni).unwrap_or_default() {
        // An error while it is not linked: it will be prepared.
        let _ = jvmti.class_methods(&class);
        jni.forget(class);
    }
}

/// # Safety
/// Called by the virtual machine, as the main function of a thread.
unsafe extern "system" fn main(jvmti: Environment, jni: Environment, _: *mut c_void) {
    contained("the reading of samples", || {
        // SAFETY: the environments are valid as long as this thread runs.
        let (jvmti, jni) = unsafe { (Jvmti::new(jvmti), Jni::new(jni)) };
        let recording = RECORDING.load(SeqCst);
        let mut state = lock();
        if let Some(state) = &*state {
            state.recorder.leave_out(jni);
        }
        while RECORDING.load(SeqCst) == recording {
            let Some(now) = &mut *state else { return };
            let apart = now.apart();
            jni.in_frame(|| now.turn(jvmti, jni));
            (state, _) = CHANGED.wait_timeout(state, apart).unwrap_or_else(PoisonError::into_inner);
        }
    });
}

impl State {
    /// How long it is until something is to be done again.
    fn apart(&self) -> Duration {
        self.looks.as_ref().map_or(APART, |_| Duration::from_nanos(self.period).min(APART))
    }

    /// Looks at threads that wait, and at the ring now and then.
    fn turn(&mut self, jvmti: Jvmti<'_>, jni: Jni<'_>) {
        if let Some(looks) = &mut self.looks {
            looks.look(jvmti, jni, &mut self.names);
        }
        if self.looks.is_none() || self.read.elapsed() >= APART {
            self.read = Instant::now();
            self.read(jvmti, jni, false);
        }
    }

    /// Reads the ring, and now and then, or at the end, how much threads have used of what is sampled.
    fn read(&mut self, jvmti: Jvmti<'_>, jni: Jni<'_>, is_last: bool) {
        let looks = is_last || self.looked.elapsed() >= LOOK;
        let mut about: Vec<About> = Vec::new();
        let without = threads::with(|threads| {
            if looks && !is_last {
                threads.look();
            }
            // Those that have ended have all their samples in the ring.
            threads.each(|thread| {
                about.push(thread.clone());
                if looks || thread.ended.is_some() {
                    thread.used = 0;
                }
            });
            threads.without()
        });
        if without > self.without {
            self.without = without;
            self.recorder.properties(jni, &format!("samples.without={without}\n"));
        }
        if looks {
            self.looked = Instant::now();
        }
        let mut samples = self.waited(jni, &mut about, looks);
        let (ring, names) = (self.ring, &mut self.names);
        ring.read(|slot| samples.push(read(names, jvmti, jni, slot)));
        // Before the contexts that name them.
        if let Some(map) = self.names.take_new() {
            self.recorder.sampled(jni, &map);
        }
        let mut java_names = None;
        let by_serial: HashMap<u32, &About> = about.iter().map(|about| (about.serial, about)).collect();
        let wanted = samples.iter().map(|sample| sample.serial);
        let spenders = about
            .iter()
            .filter(|about| about.lost > 0 || about.used > 0 && (looks || about.ended.is_some()))
            .map(|about| about.serial);
        for serial in wanted.chain(spenders) {
            if let Some(about) = by_serial.get(&serial).filter(|_| !self.of_threads.contains_key(&serial)) {
                if about.name.is_none() && about.jni > 1 && java_names.is_none() {
                    java_names = Some(names_by_environment(jvmti, jni));
                }
                self.join(jni, serial, name_of(about, java_names.as_ref()));
            }
        }
        for sample in samples {
            let Some(sum) = self.of_threads.get(&sample.serial) else { continue };
            let sum = &mut self.sums[*sum];
            let mut node = sample.path.as_ref().map(|_| 0);
            for id in sample.path.iter().flatten() {
                node = node.and_then(|node| sum.child(self.recorder, jni, node, *id));
            }
            sum.add(node, (sample.periods, sample.squares), sample.in_machine);
            sum.add_handler(sample.handler);
        }
        for about in &about {
            if let Some(sum) = self.of_threads.get(&about.serial) {
                let sum = &self.sums[*sum];
                if looks || about.ended.is_some() {
                    sum.add_used(about.used);
                }
                // It is not known what they met.
                sum.add(None, (about.lost, about.lost), false);
                self.lost += about.lost;
            }
            if about.ended.is_some() {
                self.of_threads.remove(&about.serial);
            }
        }
        if looks && signals::is_taken() {
            self.sums.iter().for_each(Sum::note_taken);
        }
    }

    /// The samples of threads that waited. `about` gets the time of their lives beside their CPU time, of threads that have ended and, if it is time
    /// for that, of all.
    fn waited(&mut self, jni: Jni<'_>, about: &mut [About], of_all: bool) -> Vec<Read> {
        let Some(looks) = &mut self.looks else { return Vec::new() };
        for thread in &mut *about {
            if let Some(at) = thread.ended {
                thread.used += looks.end(jni, thread.serial, at, thread.seen);
            }
        }
        if of_all {
            let beside = looks.catch_up();
            about.iter_mut().for_each(|thread| thread.used += beside.get(&thread.serial).unwrap_or(&0));
        }
        looks.take()
    }

    /// A thread belongs to the sum of its pool.
    fn join(&mut self, jni: Jni<'_>, serial: u32, name: &str) {
        let pool = pool::of(name, self.pools.len());
        let sum = match self.pools.get(&pool) {
            Some(sum) => *sum,
            None => {
                let ordinal = self.sums.len() as u64 + 1;
                let Some(sum) = Sum::new(self.recorder, jni, ordinal, &pool) else { return };
                sum.describe(self.period, self.source);
                self.sums.push(sum);
                self.pools.insert(pool, self.sums.len() - 1);
                self.sums.len() - 1
            }
        };
        self.sums[sum].add_thread();
        self.of_threads.insert(serial, sum);
    }
}

/// What a slot says.
fn read(names: &mut Names, jvmti: Jvmti<'_>, jni: Jni<'_>, slot: &Slot) -> Read {
    let count = usize::try_from(slot.count).unwrap_or(0);
    let path = match walk::failure(slot.count).filter(|_| count == 0) {
        Some(reason) => Vec::from_iter(names.row(&format!("(walk failed: {reason})"))),
        None => {
            let innermost = code::method_at(slot.innermost).filter(|_| count > 0);
            let methods = innermost.into_iter().chain(slot.frames[..count].iter().map(|frame| frame.method));
            path(names, jvmti, jni, methods, count)
        }
    };
    let Slot { serial, periods, handler, in_machine, .. } = *slot;
    Read { serial, periods, squares: periods * periods, handler, in_machine, path: Some(path) }
}

/// The frames of a stack, outermost first. `methods`: innermost first; `count`: frames that were looked at.
fn path(
    names: &mut Names,
    jvmti: Jvmti<'_>,
    jni: Jni<'_>,
    methods: impl Iterator<Item = usize>,
    count: usize,
) -> Vec<u32> {
    let mut path: Vec<u32> = methods.filter_map(|method| names.of(jvmti, jni, method)).collect();
    if count == ring::MOST_FRAMES {
        path.extend(names.row("(callers beyond 1024 frames)"));
    }
    path.reverse();
    path
}

/// # Safety
/// Called by the virtual machine, in the thread that begins.
unsafe extern "system" fn thread_start(jvmti: Environment, jni: Environment, thread: *mut c_void) {
    contained("the start of a thread", || {
        // SAFETY: the environments and the reference are valid during this call.
        let (jvmti, jni, thread) = unsafe { (Jvmti::new(jvmti), Jni::new(jni), Object::new(thread)) };
        let name = jvmti.thread_info(&thread, jni).map(|info| info.name).unwrap_or_default();
        let serial = threads::with(|threads| threads.began(name, jni.address()));
        if let Some(serial) = serial.filter(|_| LOOKS.load(SeqCst)) {
            let (task, at, cpu) = (timers::current_thread(), Instant::now(), timers::cpu_time());
            let arrived = jni.global(&thread).map(|thread| Arrived { serial, task, thread, at, cpu });
            arrived.into_iter().for_each(wall::arrive);
        }
    });
}

/// # Safety
/// Called by the virtual machine, in the thread that ends.
unsafe extern "system" fn thread_end(_: Environment, _: Environment, _: *mut c_void) {
    contained("the end of a thread", || threads::with(threads::Threads::current_ended));
}

/// The stacks of a virtual machine that tells of no classes are not walked.
///
/// # Safety
/// Called by the virtual machine.
unsafe extern "system" fn class_load(_: Environment, _: Environment, _: *mut c_void, _: *mut c_void) {}

/// # Safety
/// Called by the virtual machine, in the thread that prepares a class.
unsafe extern "system" fn class_prepare(
    jvmti: Environment,
    _: Environment,
    _: *mut c_void,
    class: *mut c_void,
) {
    // SAFETY: the environment and the reference are valid during this call.
    let (jvmti, class) = unsafe { (Jvmti::new(jvmti), Object::new(class)) };
    let _ = jvmti.class_methods(&class);
}
