//! The threads whose stacks are sampled: all of the process, those of the virtual machine, too, but our own.

use super::super::sampled::Sampled;
use super::super::timers;
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Names of our own threads.
const OWN: [&str; 2] = ["instrument", "instrument ctl"];

/// A thread that lives.
#[derive(Debug)]
struct Live {
    sampled: &'static Sampled,
    about: About,
}

/// What is known of a thread.
#[derive(Debug, Clone)]
pub(super) struct About {
    pub(super) serial: u32,
    /// As Java calls it, if that is known.
    pub(super) name: Option<String>,
    /// As the kernel calls it, which is cut.
    pub(super) short_name: String,
    /// Its JNI environment; 0: it is not known; 1: there is none.
    pub(super) jni: usize,
    /// ns of CPU time that nobody has taken yet, or how often the event that is sampled has occurred.
    pub(super) used: u64,
    /// Periods of samples for which there was no room, and that nobody has taken yet.
    pub(super) lost: u64,
    /// All that was used at the last look.
    pub(super) seen: i64,
    /// When it ended, if it has.
    pub(super) ended: Option<Instant>,
}

#[derive(Debug, Default)]
pub(super) struct Threads {
    is_on: bool,
    live: HashMap<i32, Live>,
    free: Vec<&'static Sampled>,
    ended: Vec<About>,
    last: u32,
    /// How many have no timer and no event: none was left, or the kernel refused.
    without: u64,
}

static THREADS: Mutex<Option<Threads>> = Mutex::new(None);

/// They, for this thread alone. The signal handler uses none of it.
pub(super) fn with<T>(body: impl FnOnce(&mut Threads) -> T) -> T {
    let mut threads: MutexGuard<'_, _> = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    body(threads.get_or_insert_default())
}

impl Threads {
    /// Samples all threads that there are, and those that [`Threads::began`] is told of.
    pub(super) fn begin(&mut self) {
        (self.is_on, self.without) = (true, 0);
        self.look();
    }

    /// Whether a thread has a timer, or an event.
    pub(super) fn has_timer(&self) -> bool {
        self.live.values().any(|live| is_timed(live.sampled))
    }

    /// How many had neither so far, in this recording.
    pub(super) fn without(&self) -> u64 {
        self.without
    }

    /// A thread of Java has begun: the current one. Its number, if it is sampled from now on.
    pub(super) fn began(&mut self, name: String, jni: usize) -> Option<u32> {
        let thread = timers::current_thread();
        let known = self.live.get(&thread).and_then(|live| live.about.name.as_ref());
        if known == Some(&name) {
            return None;
        }
        // The kernel may have given a number again.
        self.end(thread, None).into_iter().for_each(timers::close_later);
        if self.is_on && !OWN.contains(&name.as_str()) {
            self.add(thread, Some(name), jni);
        }
        self.live.get(&thread).map(|live| live.about.serial)
    }

    /// What Java calls a thread that was there already, and its JNI environment. Its number, if it is sampled.
    pub(super) fn know(&mut self, thread: i32, name: String, jni: usize) -> Option<u32> {
        let Live { sampled, about } = self.live.get_mut(&thread)?;
        sampled.jni.store(jni, SeqCst);
        about.name = Some(name);
        Some(about.serial)
    }

    /// The current thread ends.
    pub(super) fn current_ended(&mut self) {
        let cpu = timers::cpu_time();
        self.end(timers::current_thread(), Some(cpu)).into_iter().for_each(timers::close_later);
    }

    /// Finds threads that are new or gone, and the CPU time of all.
    pub(super) fn look(&mut self) {
        // The first thread of Java before those of the virtual machine.
        let tasks: BTreeSet<i32> = tasks().into_iter().collect();
        let gone: Vec<i32> = self.live.keys().filter(|thread| !tasks.contains(thread)).copied().collect();
        for thread in gone {
            self.end(thread, None).into_iter().for_each(timers::close_later);
        }
        if self.is_on {
            for thread in tasks {
                if !self.live.contains_key(&thread) {
                    self.add(thread, None, 0);
                }
            }
        }
        for (thread, Live { sampled, about }) in &mut self.live {
            about.jni = sampled.jni.load(SeqCst);
            if let Some(used) = timers::consumed(sampled, || timers::cpu_time_of(*thread)) {
                about.see(used);
            }
        }
    }

    /// Calls `take` with each thread, those first that have ended. Losses are told once.
    pub(super) fn each(&mut self, mut take: impl FnMut(&mut About)) {
        self.ended.drain(..).for_each(|mut about| take(&mut about));
        for Live { sampled, about } in self.live.values_mut() {
            about.jni = sampled.jni.load(SeqCst);
            about.lost = sampled.lost.swap(0, SeqCst);
            take(about);
        }
    }

    /// No thread is sampled any more, and no handler runs. The events are for the caller to close.
    pub(super) fn end_all(&mut self) -> Vec<timers::Event> {
        self.is_on = false;
        let all: Vec<i32> = self.live.keys().copied().collect();
        all.into_iter().filter_map(|thread| self.end(thread, timers::cpu_time_of(thread))).collect()
    }

    fn add(&mut self, thread: i32, name: Option<String>, jni: usize) {
        let comm = std::fs::read_to_string(format!("/proc/self/task/{thread}/comm"));
        let short_name = match &name {
            Some(_) => String::new(),
            None => comm.unwrap_or_default().trim_end().to_owned(),
        };
        let Some(cpu) = timers::cpu_time_of(thread).filter(|_| !OWN.contains(&short_name.as_str())) else {
            return;
        };
        self.last += 1;
        let sampled = self.free.pop().unwrap_or_else(|| Box::leak(Box::new(Sampled::new())));
        sampled.random.store(thread as usize | 1 << 20, SeqCst);
        sampled.jni.store(jni, SeqCst);
        sampled.began.store(cpu, SeqCst);
        sampled.serial.store(self.last, SeqCst);
        sampled.thread.store(thread, SeqCst);
        timers::start(thread, sampled);
        self.without += u64::from(!is_timed(sampled));
        // An event counts from here on.
        let seen = if timers::samples_cpu_time() { cpu } else { 0 };
        let about = About { serial: self.last, name, short_name, jni, used: 0, lost: 0, seen, ended: None };
        self.live.insert(thread, Live { sampled, about });
    }

    fn end(&mut self, thread: i32, cpu: Option<i64>) -> Option<timers::Event> {
        let Live { sampled, mut about } = self.live.remove(&thread)?;
        if let Some(used) = timers::consumed(sampled, || cpu) {
            about.see(used);
        }
        sampled.leave();
        about.jni = sampled.jni.load(SeqCst);
        about.lost = sampled.lost.swap(0, SeqCst);
        about.ended = Some(Instant::now());
        let event = timers::stop(sampled);
        sampled.thread.store(0, SeqCst);
        self.free.push(sampled);
        self.ended.push(about);
        event
    }
}

impl About {
    fn see(&mut self, used: i64) {
        self.used += (used - self.seen).max(0) as u64;
        self.seen = used;
    }
}

fn is_timed(sampled: &Sampled) -> bool {
    sampled.timer.load(SeqCst) >= 0 || sampled.event.load(SeqCst) >= 0
}

/// The threads of this process.
fn tasks() -> Vec<i32> {
    let entries = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}
