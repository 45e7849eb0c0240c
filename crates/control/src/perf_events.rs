//! Why the kernel gives no perf event, in the words of both ends.

use nix::errno::Errno;
use std::io::Error;

/// What `perf_event_open` says when there are too few descriptors: of the process that asks, not of the machine.
pub fn is_of_process(error: &Error) -> bool {
    matches!(errno(error), Errno::EMFILE | Errno::ENFILE)
}

/// Why `perf_event_open` has failed, and what to do.
pub fn refusal(error: &Error) -> String {
    let paranoid = || {
        let text = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
        format!("kernel.perf_event_paranoid is {}", text.trim())
    };
    let reason = match errno(error) {
        Errno::ENOENT | Errno::EOPNOTSUPP | Errno::ENODEV => {
            "this machine has no counter for it, as most virtual machines of a cloud; cpu and page-faults are counted by the kernel itself"
                .to_owned()
        }
        Errno::EACCES | Errno::EPERM => {
            format!("the kernel forbids it ({}; 2 or less is needed: sysctl kernel.perf_event_paranoid=2), or the container does (seccomp)", paranoid())
        }
        Errno::ENOSYS => "the kernel has no perf events, or the container forbids them (seccomp)".to_owned(),
        _ if is_of_process(error) => "there are too few descriptors (ulimit -n)".to_owned(),
        _ => error.to_string(),
    };
    format!("{reason} (perf_event_open: {error})")
}

fn errno(error: &Error) -> Errno {
    Errno::from_raw(error.raw_os_error().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_name_the_reason_and_the_cure() {
        let say = |number: Errno| refusal(&Error::from_raw_os_error(number as i32));
        assert!(say(Errno::ENOENT).starts_with("this machine has no counter"));
        assert!(say(Errno::EACCES).contains("sysctl kernel.perf_event_paranoid=2"));
        assert!(say(Errno::EMFILE).contains("ulimit -n"));
        assert!(say(Errno::EINVAL).contains("Invalid argument"));
    }
}
