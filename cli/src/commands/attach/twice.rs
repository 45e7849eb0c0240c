//! `instrument attach --twice`: for the first half of the time calls are counted, then nothing is rewritten and stacks are sampled. The profile of the counts
//! gets the times of the second half.
//!
//! Two parts, and the recorded one first: when classes change, the virtual machine throws compiled code away. What it compiles after that, while the agent is
//! there, tells places within methods that it does not tell of code from before.

use super::target::Target;
use crate::commands::run::agent::Agent;
use crate::commands::run::twice::give_times;
use crate::io::talk::Talk;
use anyhow::Result;
use instrument_analysis::twice::Runs;
use instrument_messages::Listener;
use instrument_processes::ctl;
use instrument_processes::rights::with_rights_of;
use instrument_processes::scratch::Scratch;
use instrument_processes::until::{Recording, Until};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

/// Of both parts together: in a shorter time there are too few samples.
pub(super) const SHORTEST: Duration = Duration::from_secs(4);

/// Samples stacks for so long, or until the program ends or somebody interrupts us, and gives the profile of the recording before these times.
/// `limits`: what the agent keeps to by itself.
///
/// # Errors
/// It cannot begin or end. Then the profile is as it was.
pub(super) fn take_times(
    target: &Target<'_>,
    profile: &Path,
    interrupted: &AtomicBool,
    (time, limits): (Duration, &str),
    talk: &Talk,
) -> Result<()> {
    let Target { process, socket, .. } = *target;
    let is_alive = || process.is_alive();
    if interrupted.load(SeqCst) || !is_alive() {
        let profile = profile.display();
        talk.warn(format_args!(
            "{profile}: its end came before stacks were sampled: the times are those of the recorded part"
        ));
        return Ok(());
    }
    let scratch = Scratch::new(process)?;
    let options = Agent::stacks_alone(&scratch.inside(), socket)?;
    let begun = target.begin(&format!("{options},{limits}"))?;
    let time_text = humantime::format_duration(time);
    talk.note(format_args!(
        "process {}: nothing is rewritten for {time_text}, stacks are sampled",
        process.pid
    ));
    let stacks = scratch.outside(Path::new(&begun.attached.profile));
    let recording = Recording { profile: &stacks, roots: &[], interrupted, is_alive: &is_alive };
    let waited = recording.wait(&Until::Over(time));
    // Whatever becomes of it, the recording ends.
    match ctl::stop(&target.asked()) {
        Err(error) if is_alive() => Err(error),
        _ if waited.is_err() => waited.map(drop),
        // Both files are the program's: they are opened with the rights of its user.
        _ => with_rights_of(process, || {
            give_times(profile, &stacks, Runs::PartsOfOne, talk);
            Ok(())
        }),
    }
}
