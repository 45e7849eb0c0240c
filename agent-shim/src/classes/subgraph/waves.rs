//! What is rewritten when: the first look, and the waves behind it, on a thread of ours.

use super::{Subgraph, Thread, lock, reflected};
use crate::classes::in_hook::InHook;
use crate::classes::retransform::{class_name, each_loaded, loaded, retransform_all};
use crate::jvmti::{AgentThread, Environment, Global, Jni, Jvmti, Object};
use crate::recording::agent::{AGENT, Agent, Live};
use crate::recording::running::Open;
use crate::talk::{contained, say};
use std::collections::HashSet;
use std::ffi::c_void;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// The shortest time between two looks at what was entered.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// Behind a retransformation this many times what it took; the program stands still for a small part of that.
const PART: u32 = 2;
/// Nothing new was entered for so long: what was only ahead is given back. Twice as long the next time.
const SETTLED: Duration = Duration::from_secs(2);
/// Unless more than this part of the methods would stay.
const PART_THAT_STAYS: f64 = 0.8;
const ACC_PRIVATE: u32 = 0x0002;
const ACC_STATIC: u32 = 0x0008;

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
    } else if !reflected::begin(jni) {
        say(format_args!("calls by reflection are not followed: the runtime cannot ask"));
    }
}

/// Roots that run already count as entered, and so does what they have called by now: what these call is rewritten next.
pub(super) fn follow_running<'a>(
    agent: &Agent,
    subgraph: &Subgraph,
    jvmti: Jvmti<'a>,
    jni: Jni<'a>,
) -> Open<'a> {
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
                    let name = (!class.is_null()).then(|| class_name(jvmti, &class)).flatten();
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
pub(super) fn rewrite_changed(
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
    retransform_all(jvmti, jni, classes);
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
            subgraph.rounds.begin();
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
            subgraph.rounds.end();
            pause = took.map_or(PAUSE, |time| (time * PART).clamp(PAUSE, LONGEST_PAUSE));
        }
        subgraph.rounds.close();
        *lock(&subgraph.thread) = Thread::None;
        subgraph.woken.notify_all();
    });
}

// The main function has this type.
const _: AgentThread = main;
