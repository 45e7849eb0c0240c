//! Whether this machine can sample what is asked for, before a program is started for it.

use instrument_control::perf_events::{is_of_process, refusal};
use instrument_control::word::SampleEvent;
use perf_event::Builder;
use perf_event::events::{Event, Hardware, Software};

/// Tries an event on the current thread, which is what each thread of the program will ask for.
///
/// # Errors
/// Why there is none, and what to do.
pub fn can_sample(event: SampleEvent) -> Result<(), String> {
    match event {
        // Where the kernel refuses this there are timers.
        SampleEvent::Cpu | SampleEvent::Wall => Ok(()),
        SampleEvent::Cycles => try_event(Hardware::CPU_CYCLES),
        SampleEvent::Instructions => try_event(Hardware::INSTRUCTIONS),
        SampleEvent::CacheMisses => try_event(Hardware::CACHE_MISSES),
        SampleEvent::BranchMisses => try_event(Hardware::BRANCH_MISSES),
        SampleEvent::PageFaults => try_event(Software::PAGE_FAULTS),
    }
}

/// In user code only, which the kernel allows where it allows any.
fn try_event(event: impl Into<Event>) -> Result<(), String> {
    match Builder::new().kind(event).build() {
        Err(error) if !is_of_process(&error) => Err(refusal(&error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use instrument_names::word::Word;

    #[test]
    fn what_cannot_be_sampled_has_a_reason() {
        assert_eq!(can_sample(SampleEvent::Cpu), Ok(()));
        for (word, event, _) in SampleEvent::WORDS {
            let answer = can_sample(*event);
            assert!(
                answer.is_ok() || answer.as_ref().is_err_and(|why| why.contains("perf_event_open")),
                "{word}: {answer:?}"
            );
        }
    }
}
