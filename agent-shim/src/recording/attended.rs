//! What goes on beside a recording that came into a program which runs, on one thread:
//!
//! - Classes that were loaded and not linked by then are sent through the load hook once they are prepared: before, the virtual machine
//!   might have to link them for us, which fails where something optional is missing. They are taken together, at most every 500 ms.
//! - The recording ends when its time is over, or when whoever asked for it is gone.

use crate::classes::in_hook::InHook;
use crate::classes::retransform::retransform_all;
use crate::jvmti::{Environment, Jni, Jvmti};
use crate::recording::agent::AGENT;
use crate::recording::agent::Agent;
use crate::recording::attendance::{APART, Attended, CHANGED, Thread, is_gone, lock};
use crate::recording::sessions;
use crate::talk::{contained, say};
use std::ffi::c_void;
use std::fs::File;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// Where there is nothing to wait for but a word.
const LONG: Duration = Duration::from_secs(3600);
/// How often it is looked whether somebody is gone.
const LOOK: Duration = Duration::from_millis(500);
/// The longest time that the thread may take to begin.
const TO_START: Duration = Duration::from_secs(2);

/// Begins to attend to a recording. Before objects are recorded: what the thread makes until it is left out would be.
pub(crate) fn begin(agent: &'static Agent, jvmti: Jvmti<'_>, jni: Jni<'_>, asked: Option<File>) {
    let Some(live) = agent.live.get() else { return };
    {
        let mut state = lock();
        state.end = agent.limits.lasts.and_then(|time| Instant::now().checked_add(time));
        state.asked = asked.filter(|_| agent.limits.is_tied);
        state.thread = Thread::Starts;
    }
    let thread = live.recorder.thread(jni);
    if thread.is_none_or(|thread| jvmti.run_agent_thread(&thread, main).is_err()) {
        lock().thread = Thread::None;
        say(format_args!(
            "the recording does not end by itself, and calls of classes that are linked later may be missed: the virtual machine gave no thread for that; end it with `instrument ctl {} stop`",
            std::process::id()
        ));
    }
    let starts = |state: &mut Attended| state.thread == Thread::Starts;
    drop(CHANGED.wait_timeout_while(lock(), TO_START, starts));
}

/// # Safety
/// Called by the virtual machine, as the main function of a thread.
unsafe extern "system" fn main(jvmti: Environment, jni: Environment, _: *mut c_void) {
    contained("a recording that goes on", || {
        // SAFETY: the environments are valid as long as this thread runs.
        let (jvmti, jni) = unsafe { (Jvmti::new(jvmti), Jni::new(jni)) };
        let Some(agent) = AGENT.get() else { return };
        if let Some(live) = agent.live.get() {
            live.recorder.leave_out(jni);
        }
        {
            let mut state = lock();
            if state.thread == Thread::Starts {
                state.thread = Thread::Runs;
            }
            CHANGED.notify_all();
        }
        let is_over = attend(jvmti, jni);
        lock().thread = Thread::None;
        CHANGED.notify_all();
        if is_over {
            let _one_at_a_time = sessions::changing();
            if AGENT.get().is_some_and(|current| std::ptr::eq(current, agent)) {
                sessions::stop(jvmti, jni, &AGENT);
                #[cfg(target_os = "linux")]
                crate::ctl::stop_recording();
            }
        }
    });
}

/// Until the recording ends; true: it is to end.
fn attend(jvmti: Jvmti<'_>, jni: Jni<'_>) -> bool {
    let mut state = lock();
    while state.thread == Thread::Runs {
        let now = Instant::now();
        let is_late = state.end.is_some_and(|end| end <= now);
        if is_late || state.asked.as_ref().is_some_and(is_gone) {
            return true;
        }
        let due = state.taken.and_then(|taken| taken.checked_add(APART)).unwrap_or(now);
        if !state.prepared.is_empty() && due <= now {
            (state.takes, state.taken) = (true, Some(now));
            let classes = std::mem::take(&mut state.prepared);
            drop(state);
            {
                // The end of the recording waits for us.
                let _inside = InHook::enter();
                retransform_all(jvmti, jni, classes);
            }
            state = lock();
            state.takes = false;
            CHANGED.notify_all();
            continue;
        }
        let next = if state.prepared.is_empty() { state.end } else { Some(due) };
        let time = next.map_or(LONG, |next| next.saturating_duration_since(now));
        // Nobody tells when somebody is gone.
        let time = if state.asked.is_some() { time.min(LOOK) } else { time.min(LONG) };
        (state, _) = CHANGED.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner);
    }
    false
}
