//! With `subgraph=on` only what the roots can call is rewritten: a [`CallGraph`] over the classes that are loaded.
//!
//! 1. [`waves::begin`] sends every class of the program through the load hook once, which looks at the bytes and changes nothing; then those that
//!    have selected methods once more, which rewrites these. That makes two stops of the virtual machine.
//! 2. A class that loads later is added, and rewritten as it loads.
//! 3. A thread asks the recorder which methods were entered. What these call is rewritten in waves, each with methods ahead of what was
//!    entered, in proportion to that: one retransformation for all of it, and twice as long a pause behind each.
//! 4. What a call by reflection is about to call [is rewritten before it is made](reflected).
//! 5. Roots are [added and removed](change) on request.
//! 6. When nothing new was entered for a while, the methods that were only ahead get their own code again.

pub(crate) mod change;
mod reflected;
mod rounds;
pub(crate) mod waves;

use instrument_control::answer;
use instrument_names::pattern::MethodQuery;
use instrument_rewriter::call_graph::{CallGraph, Counts};
use rounds::Rounds;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// So many methods are rewritten ahead of those that were entered, or [`AHEAD_OF_EACH`] for each of these if that is more.
const AHEAD: usize = 512;
const AHEAD_OF_EACH: usize = 2;
/// The longest time that the thread is waited for at the end.
const TO_END: Duration = Duration::from_secs(1);

/// What can be called, and what is still to be rewritten of that.
pub(crate) struct Subgraph {
    state: Mutex<State>,
    /// The hook looks at classes, and rewrites none.
    looking: AtomicBool,
    /// Held by whoever changes what is to be rewritten, until that is done.
    wave: Mutex<()>,
    thread: Mutex<Thread>,
    woken: Condvar,
    rounds: Rounds,
}

#[derive(Default)]
struct State {
    graph: CallGraph,
    /// Classes that are loaded, with methods that were selected since they were rewritten.
    changed: HashSet<Vec<u8>>,
    /// How many classes above others were not loaded, or not linked.
    not_found: usize,
    hull: Counts,
    /// When it began, and the time from then until methods were added the last time.
    start: Option<Instant>,
    settled: Duration,
    /// Retransformations, the first look among them.
    stops: u32,
    longest: Duration,
}

#[derive(Default, PartialEq, Eq)]
enum Thread {
    #[default]
    None,
    Runs,
    /// It is to look at once.
    Hurries,
    /// It is to end.
    Ends,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    /// What the roots and entered methods call is to be rewritten.
    fn grow(&mut self) {
        let ahead = AHEAD.max(AHEAD_OF_EACH * self.graph.counts().entered);
        let changed = self.graph.grow(ahead);
        self.changed.extend(changed);
    }
}

impl Subgraph {
    /// The graph of these roots, without classes.
    pub(crate) fn new(roots: Vec<MethodQuery>) -> Subgraph {
        let state = State { graph: CallGraph::new(roots), ..State::default() };
        Subgraph {
            state: Mutex::new(state),
            looking: AtomicBool::new(false),
            wave: Mutex::default(),
            thread: Mutex::default(),
            woken: Condvar::new(),
            rounds: Rounds::default(),
        }
    }

    /// A class is in the load hook: whether any of its methods is to be rewritten.
    pub(crate) fn wants(&self, name: &[u8], class: &[u8]) -> bool {
        let mut state = lock(&self.state);
        // The rewriter finds the same fault, and leaves the class.
        if state.graph.add(class).is_err() || self.looking.load(Relaxed) {
            return false;
        }
        state.grow();
        state.changed.remove(name);
        state.graph.selects_of(name)
    }

    /// Whether a method is to be rewritten.
    pub(crate) fn selects(&self, class: &[u8], name: &[u8], descriptor: &[u8]) -> bool {
        lock(&self.state).graph.selects(class, name, descriptor)
    }

    /// What is rewritten so far.
    pub(crate) fn answer(&self) -> answer::Subgraph {
        let state = lock(&self.state);
        let counts = state.graph.counts();
        answer::Subgraph {
            classes: counts.classes,
            rewritten_classes: counts.selected_classes,
            methods: counts.selected,
            callbacks: counts.callbacks,
            hull_classes: state.hull.selected_classes,
            hull_methods: state.hull.selected,
        }
    }

    /// The same as properties of the profile.
    pub(crate) fn properties(&self) -> String {
        let answer = self.answer();
        let state = lock(&self.state);
        format!(
            "subgraph.classes={}\nsubgraph.methods={}\nsubgraph.called={}\nsubgraph.stops={}\nsubgraph.longest.ns={}\nsubgraph.settled.ns={}\nsubgraph.unfollowed.handles={}\nsubgraph.unfollowed.calls={}\n",
            answer.rewritten_classes,
            answer.methods,
            state.graph.counts().entered,
            state.stops,
            state.longest.as_nanos(),
            state.settled.as_nanos(),
            self.rounds.handles.load(Relaxed),
            self.rounds.missed.load(Relaxed),
        )
    }

    /// The recording ends: so does the thread.
    pub(crate) fn end(&self) {
        let mut thread = lock(&self.thread);
        if *thread != Thread::None {
            *thread = Thread::Ends;
        }
        self.woken.notify_all();
        let ended = |thread: &mut Thread| *thread != Thread::None;
        drop(self.woken.wait_timeout_while(thread, TO_END, ended));
    }

    /// The recording is over: gives back what takes room.
    pub(crate) fn clear(&self) {
        *lock(&self.state) = State::default();
    }

    /// Waits; false: the recording has ended.
    fn sleep(&self, time: Duration) -> bool {
        let runs = |thread: &mut Thread| *thread == Thread::Runs;
        let (mut thread, _) = self
            .woken
            .wait_timeout_while(lock(&self.thread), time, runs)
            .unwrap_or_else(PoisonError::into_inner);
        if *thread == Thread::Hurries {
            *thread = Thread::Runs;
        }
        *thread == Thread::Runs
    }

    /// What was selected is rewritten without waiting for the end of a pause; false: nobody does it.
    fn hurry(&self) -> bool {
        let mut thread = lock(&self.thread);
        if *thread == Thread::Runs {
            *thread = Thread::Hurries;
            self.woken.notify_all();
        }
        *thread == Thread::Hurries
    }
}
