//! When threads ended.

use instrument_trace::{Profile, Thread};

/// When a thread's frames are known to have been open last, and how long it lived.
pub(crate) struct End {
    pub(crate) open: u64,
    pub(crate) lifetime: f64,
}

/// Of every thread.
pub(crate) fn ends(profile: &Profile) -> Vec<End> {
    let last = profile.threads.iter().map(|t| t.last_event).max().unwrap_or(0).max(profile.beat_clock);
    let end = |thread: &Thread| {
        let open = if thread.end != 0 {
            thread.last_event
        } else if profile.shutdown_clock != 0 {
            profile.shutdown_clock.max(thread.last_event)
        } else {
            last
        };
        // `end` is when the end was noticed, which may have been much later.
        let lived = if thread.start == 0 { 0 } else { open.saturating_sub(thread.start) };
        End { open, lifetime: lived as f64 }
    };
    profile.threads.iter().map(end).collect()
}
