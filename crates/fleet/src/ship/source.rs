//! What a file is for the one who ships: a profile that is finished, one that is still written, or one that is not whole.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use instrument_analysis::session::file::maps;
use instrument_trace::{Damage, Profile};

/// What a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// A profile to which nothing is added any more.
    Finished {
        /// The day on which recording began, UTC: `2026-11-24`.
        day: String,
        /// Its program ended it, and was not killed.
        is_ended: bool,
    },
    /// This process still writes to it.
    Live(u64),
    /// It has changed a short time ago and nobody says that it is finished: it may be written or copied at this moment.
    Unsettled,
    /// It is not whole, or no profile, for this reason.
    Damaged(String),
    /// It has neither the name nor the content of a profile.
    Other,
}

/// Looks at an open file. What says by itself that it is finished is; anything else is believed when it has not changed for `settled`.
pub(super) fn look(file: &File, path: &Path, settled: Duration) -> State {
    let is_settled = file
        .metadata()
        .and_then(|about| about.modified())
        .is_ok_and(|modified| SystemTime::now().duration_since(modified).is_ok_and(|age| age >= settled));
    let or_unsettled = |state: State| if is_settled { state } else { State::Unsettled };
    let profile = match Profile::open(file) {
        Ok(profile) => profile,
        Err(instrument_trace::Error::NotAProfile) if path.extension().is_none_or(|end| end != "iprof") => {
            return State::Other;
        }
        Err(error) => return or_unsettled(State::Damaged(error.to_string())),
    };
    let has_ended = profile.has_ended();
    if !has_ended && maps(profile.pid, path) {
        return State::Live(profile.pid);
    }
    if let Some(reason) = damage(&profile) {
        return or_unsettled(State::Damaged(reason));
    }
    let is_ended = has_ended || profile.shutdown_clock > 0;
    let finished = State::Finished { day: day(profile.start_ms), is_ended };
    if is_ended { finished } else { or_unsettled(finished) }
}

fn damage(profile: &Profile) -> Option<String> {
    let all = [&profile.damage[..], &profile.implausible()].concat();
    let first = all.first().map(Damage::to_string);
    let more = all.len().saturating_sub(1);
    match first {
        Some(first) if more > 0 => Some(format!("{first}, and {more} more")),
        Some(first) => Some(first),
        None => profile.is_cut.then(|| "its end is missing".to_owned()),
    }
}

/// A day of the calendar; what no calendar has is 1970-01-01.
fn day(ms: u64) -> String {
    let moment = UNIX_EPOCH.checked_add(Duration::from_millis(ms)).unwrap_or(UNIX_EPOCH);
    // The formatter knows years of four digits.
    let end = UNIX_EPOCH + Duration::from_secs(253_402_300_800);
    let moment = if moment >= end { UNIX_EPOCH } else { moment };
    humantime::format_rfc3339_seconds(moment).to_string()[..10].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_of_the_calendar() {
        assert_eq!(day(0), "1970-01-01");
        assert_eq!(day(1_795_000_000_000), "2026-11-18");
        assert_eq!(day(253_402_300_799_999), "9999-12-31");
        assert_eq!(day(253_402_300_800_000), "1970-01-01");
        assert_eq!(day(u64::MAX), "1970-01-01");
    }
}
