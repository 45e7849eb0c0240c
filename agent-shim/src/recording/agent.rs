//! What there is while a recording goes on.

use crate::classes::early::Early;
use crate::classes::load_hook::LoadHook;
use crate::classes::loaders::ClassLoaders;
use crate::classes::other_agents::OtherAgents;
use crate::heap_dump::AtEnd;
use crate::options::{Limits, Requests};
use crate::recording::clock::Pair;
use crate::recording::recorder::Recorder;
use instrument_control::word::Owners;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering::SeqCst};

/// What lasts from the start on.
pub(crate) struct Agent {
    pub(crate) hook: LoadHook,
    /// Classes are rewritten before the virtual machine is initialised.
    pub(crate) early: Option<Early>,
    /// Threads and their waits are recorded.
    pub(crate) threads: Option<Owners>,
    /// Requests to the program are answered.
    pub(crate) ctl: Requests,
    /// What a recording of a program that runs may do.
    pub(crate) limits: Limits,
    /// What the user has told the agent.
    pub(crate) told: String,
    /// What the recorder is told: lines of KEY=VALUE.
    pub(crate) settings: String,
    /// What the recorder's own clock begins with; none: it takes the virtual machine's.
    pub(crate) clock: Option<Pair>,
    /// Stacks are sampled, and nothing else is recorded.
    #[cfg(target_os = "linux")]
    pub(crate) stacks: Option<crate::sampling::stacks::Wanted>,
    /// A dump of the heap that is to be written at the end.
    pub(crate) heap_dump: Option<AtEnd>,
    /// Set when the virtual machine is initialised.
    pub(crate) live: OnceLock<&'static Live>,
}

/// What can be had only of a virtual machine that is initialised.
pub(crate) struct Live {
    pub(crate) recorder: Recorder,
    pub(crate) loaders: ClassLoaders,
    /// None: nothing can be known of them.
    pub(crate) other_agents: Option<OtherAgents>,
}

/// The recording that goes on, if one does.
pub(crate) struct Current(AtomicPtr<Agent>);

impl Current {
    pub(crate) const fn none() -> Current {
        Current(AtomicPtr::new(null_mut()))
    }

    pub(crate) fn get(&self) -> Option<&'static Agent> {
        // SAFETY: null, or what `set` has leaked: nobody frees it.
        unsafe { self.0.load(SeqCst).as_ref() }
    }

    /// False: there is one already.
    pub(crate) fn set(&self, agent: Agent) -> bool {
        let agent = Box::into_raw(Box::new(agent));
        let done = self.0.compare_exchange(null_mut(), agent, SeqCst, SeqCst).is_ok();
        if !done {
            // SAFETY: it came from a box, and nobody else has seen it.
            drop(unsafe { Box::from_raw(agent) });
        }
        done
    }

    /// Ends it. Whoever has it may go on to use it.
    pub(crate) fn take(&self) -> Option<&'static Agent> {
        // SAFETY: as of `get`.
        unsafe { self.0.swap(null_mut(), SeqCst).as_ref() }
    }
}

pub(crate) static AGENT: Current = Current::none();
