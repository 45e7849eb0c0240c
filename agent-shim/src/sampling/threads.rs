//! The threads that are sampled: those of the system, whichever Java thread runs on them.

use super::handler;
use super::sampled::Sampled;
use super::words::Words;
use super::{code, signals, timers};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Thread;
use std::time::Duration;

/// Between two looks whether the signal is still ours.
const WATCH: Duration = Duration::from_secs(1);

/// Where the contexts of a thread are, by an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Figures {
    /// What the numbers of its nodes count from.
    Tree(usize),
    /// Its region of counts.
    Counts(usize),
}

/// Where samples of a Java thread go: the address of its region of samples, and its contexts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    region: usize,
    figures: Figures,
    /// Number of the recording: that of an earlier one is not written to any more.
    recording: usize,
}

impl Place {
    pub(super) fn new(region: usize, figures: Figures) -> Place {
        Place { region, figures, recording: RECORDING.load(SeqCst) }
    }

    fn is_written(self) -> bool {
        self.recording == RECORDING.load(SeqCst)
    }
}

/// Recordings that have ended.
static RECORDING: AtomicUsize = AtomicUsize::new(0);

/// A thread that has a timer, if there was one left for it.
#[derive(Debug)]
struct Known {
    sampled: &'static Sampled,
    /// Where samples go while no virtual thread is mounted.
    own: Option<Place>,
}

#[derive(Debug, Default)]
struct Threads {
    known: HashMap<i32, Known>,
    free: Vec<&'static Sampled>,
    /// Looks whether the signal is still ours.
    watcher: Option<Thread>,
}

impl Threads {
    /// The current thread, with a timer from now on.
    fn current(&mut self) -> &mut Known {
        let thread = timers::current_thread();
        self.watch();
        let Threads { known, free, .. } = self;
        known.entry(thread).or_insert_with(|| {
            let sampled = free.pop().unwrap_or_else(|| Box::leak(Box::new(Sampled::new())));
            sampled.random.store(thread as usize | 1 << 20, SeqCst);
            sampled.thread.store(thread, SeqCst);
            timers::start(thread, sampled);
            Known { sampled, own: None }
        })
    }

    /// Has a thread of ours look each second whether the signal is still ours.
    fn watch(&mut self) {
        if self.watcher.is_none() {
            let thread = std::thread::Builder::new().name("instrument".into()).stack_size(64 << 10);
            self.watcher = thread.spawn(watch).ok().map(|handle| handle.thread().clone());
        }
    }

    fn release(&mut self, known: Known, cpu: Option<i64>) -> Option<timers::Event> {
        if let Some(cpu) = cpu {
            handler::end(known.sampled, cpu);
        }
        known.sampled.leave();
        let event = timers::stop(known.sampled);
        known.sampled.thread.store(0, SeqCst);
        self.free.push(known.sampled);
        event
    }
}

static THREADS: Mutex<Option<Threads>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Option<Threads>> {
    THREADS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs as long as threads are sampled.
fn watch() {
    loop {
        std::thread::park_timeout(WATCH);
        let mut threads = lock();
        let Some(threads) = threads.as_mut() else { return };
        if threads.known.is_empty() {
            threads.watcher = None;
            return;
        }
        if signals::is_taken() {
            threads.known.values().for_each(|known| handler::note_taken(known.sampled));
        }
    }
}

/// Samples the current thread into this place.
pub(super) fn begin(place: Place) {
    let mut threads = lock();
    let known = threads.get_or_insert_default().current();
    known.own = Some(place);
    known.go_to(Some(place));
}

/// Samples of the current thread go nowhere until it begins anew.
pub(super) fn leave() {
    let threads = lock();
    if let Some(known) = threads.as_ref().and_then(|threads| threads.known.get(&timers::current_thread())) {
        known.go_to(None);
    }
}

/// Samples of the current thread go there; none: where its own go.
pub(super) fn go_to(place: Option<Place>) {
    let mut threads = lock();
    let threads = threads.get_or_insert_default();
    let place = place.filter(|place| place.is_written());
    // Where nothing is recorded there is no timer.
    if place.is_some() || threads.known.contains_key(&timers::current_thread()) {
        let known = threads.current();
        known.go_to(place.or(known.own));
    }
}

/// The current thread ends.
pub(super) fn end() {
    let mut threads = lock();
    let Some(threads) = threads.as_mut() else { return };
    if let Some(known) = threads.known.remove(&timers::current_thread()) {
        threads.release(known, Some(timers::cpu_time())).into_iter().for_each(timers::close_later);
    }
}

/// No thread is sampled any more: notes the CPU time of each, and waits for handlers that are running. The events are for the caller to close.
pub(super) fn end_all() -> Vec<timers::Event> {
    let mut threads = lock();
    RECORDING.fetch_add(1, SeqCst);
    let Some(threads) = threads.as_mut() else { return Vec::new() };
    if let Some(watcher) = &threads.watcher {
        watcher.unpark();
    }
    let all = std::mem::take(&mut threads.known).into_iter();
    all.filter_map(|(thread, known)| threads.release(known, timers::cpu_time_of(thread))).collect()
}

impl Known {
    fn go_to(&self, place: Option<Place>) {
        let sampled = self.sampled;
        let cpu = timers::cpu_time();
        handler::end(sampled, cpu);
        sampled.leave();
        let Some(place) = place else { return };
        let before = handler::describe(Words(place.region), timers::period(), timers::source(sampled));
        let nodes = match place.figures {
            Figures::Tree(nodes) => nodes,
            Figures::Counts(region) => {
                code::expect_inlined();
                sampled.counts.go_to(Words(region));
                0
            }
        };
        sampled.nodes.store(nodes, SeqCst);
        sampled.began.store(cpu - before, SeqCst);
        // From here on samples count.
        sampled.region.store(place.region, SeqCst);
    }
}
