//! Threads as the kernel has them: whether one sleeps, how long it had to wait for a processor, and which one a thread of Java is.

use super::anchor;
use super::walk;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;

/// A thread of this process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task(i32);

impl Task {
    pub(super) fn new(number: i32) -> Task {
        Task(number)
    }

    pub(super) fn number(self) -> i32 {
        self.0
    }

    /// Whether it neither runs nor is ready to (proc(5), `stat`: the word behind the name, which is in parentheses).
    pub(super) fn sleeps(self) -> bool {
        self.read("stat").is_some_and(|text| sleeps(&text))
    }

    /// ns for which it was ready to run and had no processor; 0 where the kernel does not tell.
    pub(super) fn delay(self) -> u64 {
        self.read("schedstat").and_then(|text| delay(&text)).unwrap_or(0)
    }

    fn read(self, file: &str) -> Option<String> {
        fs::read_to_string(format!("/proc/self/task/{}/{file}", self.0)).ok()
    }
}

fn sleeps(stat: &str) -> bool {
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_ascii_whitespace().next());
    state.is_some_and(|state| state != "R")
}

fn delay(schedstat: &str) -> Option<u64> {
    schedstat.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Finds the kernel's threads.
pub(super) struct Finder {
    /// Reads memory that may be gone by now without harm.
    memory: File,
    /// From a `JavaThread` to the address of its `OSThread`.
    thread: usize,
    /// From there to the number.
    number: usize,
}

/// None: HotSpot does not say where the words are.
pub(super) fn finder() -> Option<Finder> {
    // SAFETY: these are HotSpot's own variables.
    let offset = |class, field| unsafe { anchor::offset(walk::find, class, field) };
    let thread = offset(c"JavaThread", c"_osthread").or_else(|| offset(c"Thread", c"_osthread"))?;
    let number = offset(c"OSThread", c"_thread_id")?;
    Some(Finder { memory: File::open("/proc/self/mem").ok()?, thread, number })
}

impl Finder {
    /// The number of the thread that HotSpot has at an address.
    pub(super) fn task(&self, address: usize) -> Option<i32> {
        let (mut word, mut number) = ([0; 8], [0; 4]);
        self.memory.read_exact_at(&mut word, (address + self.thread) as u64).ok()?;
        let of_system = usize::from_ne_bytes(word).checked_add(self.number)?;
        self.memory.read_exact_at(&mut number, of_system as u64).ok()?;
        Some(i32::from_ne_bytes(number)).filter(|number| *number > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_and_delay_are_read_as_the_kernel_writes_them() {
        for (stat, is_asleep) in [
            ("7 (a b) S 1 2", true),
            ("7 (a) R) D 1", true),
            ("7 (S) R 1", false),
            ("7 (a", false),
            ("", false),
        ] {
            assert_eq!(sleeps(stat), is_asleep, "{stat}");
        }
        assert_eq!(delay("8000 42894 17\n"), Some(42_894));
        assert_eq!(delay("8000"), None);
    }

    #[test]
    fn the_current_thread_runs_and_one_that_sleeps_does_not() {
        assert!(!Task::new(crate::sampling::timers::current_thread()).sleeps());
        let (number, told) = std::sync::mpsc::channel();
        let (end, is_over) = std::sync::mpsc::channel::<()>();
        let sleeper = std::thread::spawn(move || {
            number.send(crate::sampling::timers::current_thread()).unwrap();
            let _ = is_over.recv();
        });
        let task = Task::new(told.recv().unwrap());
        while !task.sleeps() {
            std::thread::yield_now();
        }
        drop(end);
        sleeper.join().unwrap();
        assert!(!task.sleeps() && task.delay() == 0, "it is gone");
    }

    #[test]
    fn a_thread_is_found_by_two_words_of_memory() {
        let of_system = [0u32, 4711];
        let of_java = [0, of_system.as_ptr() as usize];
        let find = Finder { memory: File::open("/proc/self/mem").unwrap(), thread: 8, number: 4 };
        assert_eq!(find.task(of_java.as_ptr() as usize), Some(4711));
        assert_eq!(find.task(0), None, "no such memory");
    }
}
