//! Perf events of one thread (`perf_event_open`): what they count, and how often they send a signal.

use std::ffi::{c_int, c_long};
use std::io::Error;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use instrument_control::word::SampleEvent;

// linux/perf_event.h.
const PERF_TYPE_HARDWARE: u32 = 0;
const PERF_TYPE_SOFTWARE: u32 = 1;
const PERF_COUNT_HW_CPU_CYCLES: u64 = 0;
const PERF_COUNT_HW_INSTRUCTIONS: u64 = 1;
const PERF_COUNT_HW_CACHE_MISSES: u64 = 3;
const PERF_COUNT_HW_BRANCH_MISSES: u64 = 5;
const PERF_COUNT_SW_CPU_CLOCK: u64 = 0;
const PERF_COUNT_SW_PAGE_FAULTS: u64 = 2;
const PERF_FORMAT_TOTAL_TIME_ENABLED: u64 = 1;
const PERF_FORMAT_TOTAL_TIME_RUNNING: u64 = 2;
const PERF_ATTR_SIZE_VER5: u32 = 112;
const DISABLED: u64 = 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const PERF_FLAG_FD_CLOEXEC: c_long = 1 << 3;
const PERF_EVENT_IOC_ENABLE: u64 = 0x2400;
const PERF_EVENT_IOC_DISABLE: u64 = 0x2401;
const PERF_EVENT_IOC_PERIOD: u64 = 0x4008_2404;

/// `struct perf_event_attr`, its first version with all that HotSpot's Linux has.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    rest: [u32; 15],
}

/// What an event is to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) event: SampleEvent,
    /// Between two signals.
    pub(super) period: u64,
    /// Nothing of what the kernel does for the thread.
    pub(super) user_only: bool,
}

/// Type and number of an event, as the kernel has them.
fn numbers(event: SampleEvent) -> (u32, u64) {
    match event {
        SampleEvent::Cpu | SampleEvent::Wall => (PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK),
        SampleEvent::PageFaults => (PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS),
        SampleEvent::Cycles => (PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES),
        SampleEvent::Instructions => (PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS),
        SampleEvent::CacheMisses => (PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES),
        SampleEvent::BranchMisses => (PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES),
    }
}

/// An event of a thread of this process, 0 being the current one, that does not count yet. For the signal handler, too.
pub(super) fn open(wanted: Wanted, thread: i32) -> Result<OwnedFd, Error> {
    const { assert!(size_of::<Attributes>() == PERF_ATTR_SIZE_VER5 as usize) };
    let (kind, config) = numbers(wanted.event);
    let attributes = Attributes {
        kind,
        size: PERF_ATTR_SIZE_VER5,
        config,
        sample_period: wanted.period,
        read_format: PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
        flags: DISABLED | EXCLUDE_HYPERVISOR | if wanted.user_only { EXCLUDE_KERNEL } else { 0 },
        wakeup_events: 1,
        ..Attributes::default()
    };
    let (any_processor, no_group): (c_int, c_int) = (-1, -1);
    // SAFETY:
    // - The attributes are as long as they say.
    // - On success the result is a descriptor that nobody else has.
    unsafe {
        let result = libc::syscall(
            libc::SYS_perf_event_open,
            &attributes,
            thread,
            any_processor,
            no_group,
            PERF_FLAG_FD_CLOEXEC,
        );
        if result < 0 {
            return Err(Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(result as RawFd))
    }
}

/// Begins to count. False: the kernel refuses.
pub(super) fn enable(event: RawFd) -> bool {
    // SAFETY: the command has no argument; a descriptor that is none is an error.
    unsafe { libc::ioctl(event, PERF_EVENT_IOC_ENABLE as _, 0) == 0 }
}

/// Counts no more.
pub(super) fn disable(event: RawFd) {
    // SAFETY: as above.
    unsafe { libc::ioctl(event, PERF_EVENT_IOC_DISABLE as _, 0) };
}

/// From now on so many between two signals. For the signal handler, too.
pub(super) fn set_period(event: RawFd, period: u64) {
    // SAFETY: the argument is what the command takes.
    unsafe { libc::ioctl(event, PERF_EVENT_IOC_PERIOD as _, &period) };
}

/// How often it has occurred. None: the kernel did not count, or cannot be asked.
pub(super) fn count(event: BorrowedFd<'_>) -> Option<u64> {
    let mut words = [0u64; 3];
    let bytes = size_of_val(&words);
    // SAFETY: the kernel writes into the words, no more than they have.
    let read = unsafe { libc::read(event.as_raw_fd(), words.as_mut_ptr().cast(), bytes) };
    (usize::try_from(read) == Ok(bytes)).then(|| whole(words)).flatten()
}

/// What was counted, for all of the time: where a processor has fewer counters than are wanted, each counts for a part of it.
fn whole([count, enabled, running]: [u64; 3]) -> Option<u64> {
    match running {
        0 if count == 0 && enabled == 0 => Some(0),
        0 => None,
        _ => u64::try_from(u128::from(count) * u128::from(enabled.max(running)) / u128::from(running)).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn what_was_counted_for_a_part_of_the_time_stands_for_all_of_it() {
        for (words, count) in [
            ([1_000, 50, 50], Some(1_000)),
            ([1_000, 100, 25], Some(4_000)),
            ([0, 0, 0], Some(0)),
            ([0, 100, 0], None),
            // The kernel reads the two times one after the other.
            ([1_000, 49, 50], Some(1_000)),
            ([u64::MAX, 2, 1], None),
        ] {
            assert_eq!(whole(words), count, "{words:?}");
        }
    }

    #[test]
    fn page_faults_are_counted() {
        let wanted = Wanted { event: SampleEvent::PageFaults, period: 1 << 40, user_only: true };
        let event = match open(wanted, 0) {
            Ok(event) => event,
            // Only where nobody may count.
            Err(error) => {
                return assert!(
                    matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM | libc::ENOSYS)),
                    "{error}"
                );
            }
        };
        assert_eq!(count(event.as_fd()), Some(0));
        assert!(enable(event.as_raw_fd()));
        let pages = vec![1u8; 64 << 20];
        assert_eq!(pages[pages.len() / 2], 1);
        disable(event.as_raw_fd());
        let counted = count(event.as_fd()).unwrap();
        // Of 4 KiB, or of 2 MiB each.
        assert!((32..20_000).contains(&counted), "{counted}");
    }
}
