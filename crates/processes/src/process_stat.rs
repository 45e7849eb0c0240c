//! What Linux says of a process in `/proc/PID/stat`.

use rustix::param::clock_ticks_per_second;

/// Fields of the line that stands behind the name of the program.
const USER_TICKS: usize = 11;
const SYSTEM_TICKS: usize = 12;

/// State and processor time of a process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProcessStat {
    /// A letter: `T` and `t` for one that is stopped or traced, `Z` and `X` for one that has ended.
    pub state: u8,
    /// Processor time of all its threads, in ns; steps of 10 ms.
    pub cpu_ns: f64,
}

impl ProcessStat {
    /// None: there is no such process, or the system has no `/proc`.
    pub fn of(pid: u32) -> Option<ProcessStat> {
        ProcessStat::parse(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    fn parse(stat: &str) -> Option<ProcessStat> {
        // The name of the program, in brackets, may hold anything.
        let (_, rest) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let ticks = |field: usize| fields.get(field)?.parse::<f64>().ok();
        let cpu_ns = (ticks(USER_TICKS)? + ticks(SYSTEM_TICKS)?) * 1e9 / clock_ticks_per_second() as f64;
        Some(ProcessStat { state: *fields.first()?.as_bytes().first()?, cpu_ns })
    }

    /// Whether it has ended, and its parent has not asked for that yet.
    pub fn has_ended(&self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }
}

/// Whether a process is stopped or traced; `false` where that is not known.
pub fn is_stopped(pid: u32) -> bool {
    ProcessStat::of(pid).is_some_and(|stat| matches!(stat.state, b'T' | b't'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_hold_anything() {
        let stat = "7 (a) Z 1 (b) T 1 2 3 4 5 6 7 8 9 10 250 50 13 14";
        let found = ProcessStat::parse(stat).unwrap();
        assert!(found.state == b'T' && !found.has_ended());
        assert_eq!(found.cpu_ns, 300.0 * 1e9 / clock_ticks_per_second() as f64);
        assert_eq!(ProcessStat::parse("7 (a) T 1 2"), None);
        assert!(ProcessStat::of(std::process::id()).unwrap().state.is_ascii_uppercase());
        assert_eq!(ProcessStat::of(0), None);
    }
}
