//! With `subgraph=on` only what the roots can call is rewritten: a [`CallGraph`] over the classes that are loaded.
//!
//! 1. [`begin`] sends every class of the program through the load hook once, which looks at the bytes and changes nothing; then those that
//!    have selected methods once more, which rewrites these. That makes two stops of the virtual machine.
//! 2. A class that loads later is added, and rewritten as it loads.
//! 3. A thread asks the recorder which methods were entered. What these call is rewritten in waves, each with methods ahead of what was
//!    entered, in proportion to that: one retransformation for all of it, and twice as long a pause behind each.
//! 4. Roots are [added and removed](change) on request.
//! 5. When nothing new was entered for a while, the methods that were only ahead get their own code again.

mod change;

use crate::in_hook::InHook;
use crate::jvmti::{AgentThread, Environment, Global, Jni, Jvmti, Object};
use crate::retransform::{each_loaded, loaded};
use crate::running::Open;
use crate::talk::{contained, say};
use crate::{AGENT, Agent, Live};
pub(crate) use change::{add, remove};
use instrument_control::answer;
use instrument_names::pattern::MethodQuery;
use instrument_rewriter::call_graph::{CallGraph, Counts};
use std::collections::HashSet;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The shortest time between two looks at what was entered.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// Behind a retransformation this many times what it took; the program stands still for a small part of that.
const PART: u32 = 2;
/// So many methods are rewritten ahead of those that were entered, or [`AHEAD_OF_EACH`] for each of these if that is more.
const AHEAD: usize = 512;
const AHEAD_OF_EACH: usize = 2;
/// Nothing new was entered for so long: what was only ahead is given back. Twice as long the next time.
const SETTLED: Duration = Duration::from_secs(2);
/// Unless more than this part of the methods would stay.
const PART_THAT_STAYS: f64 = 0.8;
/// The longest time that the thread is waited for at the end.
const TO_END: Duration = Duration::from_secs(1);

const ACC_PRIVATE: u32 = 0x0002;
const ACC_STATIC: u32 = 0x0008;

/// What can be called, and what is still to be rewritten of that.
pub(crate) struct Subgraph {
    state: Mutex<State>,
    /// The hook looks at classes, and rewrites none.
    looking: AtomicBool,
    /// Held by whoever changes what is to be rewritten, until that is done.
    wave: Mutex<()>,
    thread: Mutex<Thread>,
    woken: Condvar,
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
            reflective: state.graph.reflective(),
        }
    }

    /// The same as properties of the profile.
    pub(crate) fn properties(&self) -> String {
        let answer = self.answer();
        let state = lock(&self.state);
        format!(
            "subgraph.classes={}\nsubgraph.methods={}\nsubgraph.called={}\nsubgraph.stops={}\nsubgraph.longest.ns={}\nsubgraph.settled.ns={}\nsubgraph.reflective={}\n",
            answer.rewritten_classes,
            answer.methods,
            state.graph.counts().entered,
            state.stops,
            state.longest.as_nanos(),
            state.settled.as_nanos(),
            answer.reflective.join(" "),
        )
    }

    /// The recording ends: so does the thread.
    pub(crate) fn end(&self) {
        let mut thread = lock(&self.thread);
        if *thread == Thread::Runs {
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
        let (thread, _) = self
            .woken
            .wait_timeout_while(lock(&self.thread), time, runs)
            .unwrap_or_else(PoisonError::into_inner);
        *thread == Thread::Runs
    }
}

/// Looks at all classes that are loaded, rewrites what the roots can call, and goes on with that.
pub(crate) fn begin(agent: &'static Agent, subgraph: &'static Subgraph, jvmti: Jvmti<'_>, jni: Jni<'_>) {
    let Some(live) = agent.live.get() else { return };
    // From now on the recorder keeps what is entered.
    live.recorder.entered(jni);
    subgraph.looking.store(true, Relaxed);
    let all = loaded(agent, live, jvmti, jni, |_| true);
    rewrite(subgraph, jvmti, jni, all);
    subgraph.looking.store(false, Relaxed);
    learn(subgraph, jvmti, jni);
    {
        let mut state = lock(&subgraph.state);
        state.start = Some(Instant::now());
        state.grow();
        state.hull = state.graph.hull();
    }
    let open = follow_running(agent, subgraph, jvmti, jni);
    rewrite_changed(agent, live, subgraph, jvmti, jni);
    open.tell(agent, live, jvmti, jni);
    *lock(&subgraph.thread) = Thread::Runs;
    let begun =
        (live.recorder.thread(jni)).is_some_and(|thread| jvmti.run_agent_thread(&thread, main).is_ok());
    if !begun {
        *lock(&subgraph.thread) = Thread::None;
        say(format_args!("callbacks are not followed: there is no thread for it"));
    }
}

/// Roots that run already count as entered, and so does what they have called by now: what these call is rewritten next.
fn follow_running<'a>(agent: &Agent, subgraph: &Subgraph, jvmti: Jvmti<'a>, jni: Jni<'a>) -> Open<'a> {
    let open = Open::look(agent, jvmti, jni);
    let methods = open.methods(jvmti, jni);
    if !methods.is_empty() {
        let mut state = lock(&subgraph.state);
        for (class, name, descriptor) in &methods {
            state.graph.entered(class, name, descriptor);
        }
        state.grow();
    }
    open
}

/// Adds what is above the program's classes and not rewritten.
fn learn(subgraph: &Subgraph, jvmti: Jvmti<'_>, jni: Jni<'_>) {
    let unknown = || -> HashSet<Vec<u8>> { lock(&subgraph.state).graph.unknown().into_iter().collect() };
    let mut names = unknown();
    // What could not be found a moment ago is not there now.
    if names.len() == std::mem::take(&mut lock(&subgraph.state).not_found) {
        lock(&subgraph.state).not_found = names.len();
        return;
    }
    // What is added has classes above it, too.
    while !names.is_empty() {
        let mut found = false;
        each_loaded(jvmti, jni, |class, name| {
            if names.contains(name.as_bytes()) {
                // While it is not linked they are not known; nothing can be called then.
                let Ok(methods) = jvmti.class_methods(class) else { return };
                found = true;
                let mut above = jvmti.class_interfaces(class, jni);
                above.push(jni.superclass_of(class));
                let named = |class: Object<'_>| {
                    let name =
                        (!class.is_null()).then(|| crate::retransform::class_name(jvmti, &class)).flatten();
                    jni.forget(class);
                    name.map(String::into_bytes)
                };
                let above: Vec<Vec<u8>> = above.into_iter().filter_map(named).collect();
                let methods: Vec<(String, String, u32)> =
                    methods.into_iter().filter_map(|method| jvmti.method(method).ok()).collect();
                let methods = methods.iter().filter(|(_, _, flags)| flags & (ACC_PRIVATE | ACC_STATIC) == 0);
                let methods = methods.map(|(name, descriptor, _)| (name.as_bytes(), descriptor.as_bytes()));
                lock(&subgraph.state).graph.add_outside(name.as_bytes(), &above, methods);
            }
        });
        names = unknown();
        if !found {
            break;
        }
    }
    lock(&subgraph.state).not_found = names.len();
}

/// Rewrites the classes whose selected methods have changed. How long the virtual machine took; none: there was nothing to do.
fn rewrite_changed(
    agent: &Agent,
    live: &Live,
    subgraph: &Subgraph,
    jvmti: Jvmti<'_>,
    jni: Jni<'_>,
) -> Option<Duration> {
    let changed = std::mem::take(&mut lock(&subgraph.state).changed);
    if changed.is_empty() {
        return None;
    }
    let classes = loaded(agent, live, jvmti, jni, |name| changed.contains(name.as_bytes()));
    Some(rewrite(subgraph, jvmti, jni, classes))
}

/// Sends classes through the hook. How long that took.
fn rewrite(subgraph: &Subgraph, jvmti: Jvmti<'_>, jni: Jni<'_>, classes: Vec<Global>) -> Duration {
    let start = Instant::now();
    crate::retransform::retransform_all(jvmti, jni, classes);
    let time = start.elapsed();
    let mut state = lock(&subgraph.state);
    state.stops += 1;
    state.longest = state.longest.max(time);
    time
}

/// Takes the methods that were entered from the recorder; whether there were any.
pub(crate) fn learn_entered(agent: &Agent, live: &Live, subgraph: &Subgraph, jni: Jni<'_>) -> bool {
    let entered = live.recorder.entered(jni);
    for id in &entered {
        agent.hook.method(*id, |entry| {
            let (class, method) = (entry.class, &entry.method);
            lock(&subgraph.state).graph.entered(class, method.name, method.descriptor);
        });
    }
    !entered.is_empty()
}

/// # Safety
/// Called by the virtual machine, as the main function of a thread.
unsafe extern "system" fn main(jvmti: Environment, jni: Environment, _: *mut c_void) {
    contained("the call subgraph", || {
        // SAFETY: the environments are valid as long as this thread runs.
        let (jvmti, jni) = unsafe { (Jvmti::new(jvmti), Jni::new(jni)) };
        let Some(agent) = AGENT.get() else { return };
        let (Some(live), Some(subgraph)) = (agent.live.get(), agent.hook.subgraph()) else { return };
        live.recorder.leave_out(jni);
        let (mut pause, mut quiet, mut settled) = (PAUSE, Duration::ZERO, SETTLED);
        while subgraph.sleep(pause) {
            // The end of the recording waits for us.
            let _inside = InHook::enter();
            if !AGENT.get().is_some_and(|current| std::ptr::eq(current, agent)) {
                break;
            }
            let _wave = lock(&subgraph.wave);
            let entered = learn_entered(agent, live, subgraph, jni);
            learn(subgraph, jvmti, jni);
            lock(&subgraph.state).grow();
            quiet = if entered { Duration::ZERO } else { quiet + pause };
            if quiet >= settled {
                (quiet, settled) = (Duration::ZERO, settled * 2);
                let mut state = lock(&subgraph.state);
                let given_back = state.graph.shrink(PART_THAT_STAYS);
                state.changed.extend(given_back);
            } else {
                let mut state = lock(&subgraph.state);
                if let (Some(start), false) = (state.start, state.changed.is_empty()) {
                    state.settled = start.elapsed();
                }
            }
            let took = rewrite_changed(agent, live, subgraph, jvmti, jni);
            pause = took.map_or(PAUSE, |time| (time * PART).clamp(PAUSE, LONGEST_PAUSE));
        }
        *lock(&subgraph.thread) = Thread::None;
        subgraph.woken.notify_all();
    });
}

// The main function has this type.
const _: AgentThread = main;
