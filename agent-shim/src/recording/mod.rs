//! One recording: how it begins, what it has, how it ends.

pub(crate) mod agent;
pub(crate) mod armed;
pub(crate) mod attendance;
pub(crate) mod attended;
pub(crate) mod beginning;
pub(crate) mod children;
pub(crate) mod clock;
pub(crate) mod live;
pub(crate) mod mappings;
pub(crate) mod place_on_stack;
pub(crate) mod recorder;
pub(crate) mod running;
pub(crate) mod sessions;
pub(crate) mod start;

use crate::classes::subgraph::Subgraph;
use crate::jvmti::{Jni, Jvmti};
use agent::{AGENT, Agent};
use beginning::Beginning;
use instrument_control::answer::Attached;
use std::fs::File;

/// Begins a recording in a virtual machine that runs. `asked`: the file that whoever asked for it keeps locked as long as it waits.
///
/// # Errors
/// Why there is none. The program is as it was before.
pub(crate) fn record(
    jvmti: Jvmti<'static>,
    jni: Jni<'_>,
    options: &str,
    beginning: Beginning,
    asked: Option<&File>,
) -> Result<Attached, String> {
    let _one_at_a_time = sessions::changing();
    start::start(jvmti, Some(jni), options, beginning)?;
    let agent = AGENT.get().ok_or("the recording is switched off: record=off")?;
    let begun = || {
        let standstill = live::go_live(agent, jvmti, jni, beginning, asked)?;
        let profile = profile(agent, jni).ok_or("it did not begin")?;
        if asked.is_some_and(attendance::is_gone) {
            return Err("the command that asked for it ended before it began".to_owned());
        }
        Ok((standstill, profile))
    };
    let begun = begun();
    if begun.is_err() {
        sessions::stop(jvmti, jni, &AGENT);
        #[cfg(target_os = "linux")]
        crate::ctl::stop_recording();
    }
    let (standstill, profile) = begun?;
    let subgraph = agent.hook.subgraph().map(Subgraph::answer);
    Ok(Attached { profile, unmatched: agent.hook.unfitted(), subgraph, standstill })
}

/// Where the profile is; none: there is none.
fn profile(agent: &Agent, jni: Jni<'_>) -> Option<String> {
    agent.live.get()?.recorder.profile(jni)
}
