//! How long recording was on: of the pauses that somebody asked for, and of bursts.

use super::file::{ProfileFile, end_clock};
use instrument_trace::Pause;

/// The time for which recording was on, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recorded<'a> {
    /// The bursts that were requested, `100ms/1000ms`; none: recording was on but for the pauses.
    pub bursts: Option<&'a str>,
    /// ns of the profile's time, or of its window.
    pub elapsed: u64,
    /// ns of it for which recording was paused.
    pub paused: u64,
    /// How many pauses there were.
    pub pauses: usize,
}

impl Recorded<'_> {
    /// ns for which recording was on.
    pub fn on(&self) -> u64 {
        self.elapsed.saturating_sub(self.paused)
    }
}

impl ProfileFile {
    /// How long recording was on; none: all the time.
    pub fn recorded(&self) -> Option<Recorded<'_>> {
        let profile = &self.profile;
        let bursts = self.property("burst");
        if profile.pauses.is_empty() && bursts.is_none() {
            return None;
        }
        // A process that was killed in a pause told of nothing later.
        let last = profile.pauses.iter().map(|pause| pause.start.max(pause.end)).max().unwrap_or(0);
        let end = end_clock(profile).max(last);
        let length = |pause: &Pause| if pause.end == 0 { end } else { pause.end }.saturating_sub(pause.start);
        let begin = if profile.window_clock == 0 { profile.start_clock } else { profile.window_clock };
        Some(Recorded {
            bursts,
            elapsed: end.saturating_sub(begin),
            paused: profile.pauses.iter().map(length).fold(0, u64::saturating_add),
            pauses: profile.pauses.len(),
        })
    }
}
