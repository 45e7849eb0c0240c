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
        // Of a trace that found no more room it is known until then what was open, and not from then on.
        let is_cut = !thread.pieces.is_empty() && thread.stopped;
        let open = if thread.end != 0 || is_cut {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::{self, Limits};
    use instrument_testing::{Script, Writer};
    use instrument_trace::Event;

    /// When the only thread's frames were open last, by the clock of a program that ran until 9,000.
    fn open_until(script: &Script, stopped: bool) -> u64 {
        let mut writer = Writer::new();
        writer.trace("main", script, 100);
        writer.clocks(0, 9000);
        let bytes = writer.finish();
        let mut profile = Profile::parse(&bytes).unwrap();
        profile.threads[0].stopped = stopped;
        replay::thread(&bytes, &mut profile.threads[0], &Limits::default()).unwrap();
        ends(&profile)[0].open
    }

    #[test]
    fn a_trace_without_room_ends_with_its_last_event() {
        let begun = || Script::new(1000).enter(1).wait(500).enter(2).wait(500);
        let dropped = || begun().exit(2).event(Event::Dropped(7));
        assert_eq!(open_until(&begun().exit(2), false), 9000);
        assert_eq!(
            open_until(&dropped(), false),
            9000,
            "what has a number too large is dropped, and the thread goes on"
        );
        assert_eq!(open_until(&dropped(), true), 2000);
    }
}
