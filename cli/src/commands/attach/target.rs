//! The program that recordings begin and end in.

use anyhow::{Context, Result};
use instrument_control::answer::Attached;
use instrument_control::keys;
use instrument_processes::ctl;
use instrument_processes::hand_over::HandOver;
use instrument_processes::jvm::{Process, path_outside};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How much later than we the agent ends a recording whose time is over.
const GRACE: Duration = Duration::from_secs(5);

pub(super) struct Target<'a> {
    pub(super) process: &'a Process,
    pub(super) library: &'a Path,
    /// Where it is to answer, if that is not the usual place; `off`: nowhere.
    pub(super) socket: Option<&'a str>,
    /// The longest time that it may take to begin.
    pub(super) limit: Duration,
}

/// A recording that has begun. It may end with this.
pub(super) struct Begun<'a> {
    pub(super) attached: Attached,
    _hand_over: Option<HandOver<'a>>,
}

impl<'a> Target<'a> {
    /// Begins a recording with these options of the agent.
    ///
    /// # Errors
    /// The reason why nothing is recorded.
    pub(super) fn begin(&self, options: &str) -> Result<Begun<'a>> {
        let pid = self.process.pid;
        // Where an armed program answers, it was told when it was started: in the usual place, or where this recording is to answer as well.
        let own = self.socket.filter(|path| *path != "off").map(str::to_owned);
        if let Some(target) = [Some(pid.to_string()), own].into_iter().flatten().find(|at| ctl::is_armed(at))
        {
            let refused = || format!("process {pid} is not recorded");
            let attached = ctl::start(&target, options, self.limit).with_context(refused)?;
            return Ok(Begun { attached, _hand_over: None });
        }
        let hand_over = HandOver::new(self.process, self.library, options)?;
        let attached = hand_over.attach(self.limit)?;
        Ok(Begun { attached, _hand_over: Some(hand_over) })
    }

    /// What requests are sent to.
    pub(super) fn asked(&self) -> String {
        self.socket.map_or_else(|| self.process.pid.to_string(), str::to_owned)
    }
}

impl Begun<'_> {
    /// The profile, by a path of ours.
    pub(super) fn profile(&self, process: &Process) -> PathBuf {
        path_outside(process, Path::new(&self.attached.profile))
    }
}

/// What the agent keeps to by itself, whatever becomes of us.
pub(super) fn limits(max_pause: Duration, lasts: Option<Duration>, is_tied: bool) -> String {
    let ms = |time: Duration| time.as_millis().to_string();
    let lasts = lasts.map(|time| (keys::LASTS, ms(time.saturating_add(GRACE))));
    let tied = is_tied.then(|| (keys::TIED, "on".to_owned()));
    keys::join(
        &[Some((keys::MAX_PAUSE, ms(max_pause))), lasts, tied].into_iter().flatten().collect::<Vec<_>>(),
    )
}
