//! `sample-event=wall`: what threads of Java do while they wait. A thread that runs is met by the signals of its timer, as where CPU time is sampled.
//! One that waits gets none: a call that waits would come back too early. Our thread looks at it, at its CPU time first.
//!
//! - It has used none since the last look: it waits where it did, and its stack is the same.
//! - It has run, and sleeps now, as the kernel says: the virtual machine is asked for its stack, which does not wake it.
//! - It has run, and runs: its timer's signals tell where.
//!
//! A look counts for the periods since the last one at that thread. Looks stop after a part of a period, and go on behind the last thread with the
//! next one: of many threads each is looked at less often.
//!
//! How long a thread was ready to run and had no processor is told by the kernel, too: it is a row of its own.

use super::java_threads::{address, distance};
use super::names::Names;
use super::ring::MOST_FRAMES;
use super::tasks::{self, Finder, Task};
use super::{Read, threads, timers};
use crate::jvmti::{Global, Jni, Jvmti, Object};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The row of threads that are ready to run.
const READY: &str = "(ready, and without a processor)";
/// The part of a period that looks take at most.
const MOST: u32 = 50;

/// A thread of Java that is to be looked at.
pub(super) struct Arrived {
    pub(super) serial: u32,
    pub(super) task: i32,
    pub(super) thread: Global,
    /// When, and the CPU time that it had used.
    pub(super) at: Instant,
    pub(super) cpu: i64,
}

static ARRIVED: Mutex<Vec<Arrived>> = Mutex::new(Vec::new());

/// Hands a thread over.
pub(super) fn arrive(arrived: Arrived) {
    ARRIVED.lock().unwrap_or_else(PoisonError::into_inner).push(arrived);
}

fn arrived() -> Vec<Arrived> {
    std::mem::take(&mut ARRIVED.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Samples that wait to be written.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Pending {
    periods: u64,
    squares: u64,
}

impl Pending {
    fn add(&mut self, periods: u64) {
        self.periods += periods;
        self.squares += periods * periods;
    }

    /// Without so many periods, in which it did not wait any more.
    fn less(self, periods: u64) -> Pending {
        let left = self.periods.saturating_sub(periods);
        let squares = u128::from(self.squares) * u128::from(left) / u128::from(self.periods.max(1));
        Pending { periods: left, squares: squares as u64 }
    }
}

struct Looked {
    serial: u32,
    task: Task,
    thread: Global,
    /// Number of the period of the last look, its time, and the CPU time then.
    period: u64,
    at: Instant,
    cpu: i64,
    /// ns that it was ready and had no processor.
    delay: u64,
    /// Where it waits since the last look, as ids, outermost first; none: it does not, or nobody knows.
    path: Option<Vec<u32>>,
    pending: Pending,
    /// ns of its life, without those of CPU time, that nobody has taken yet.
    beside: i64,
}

/// All threads that are looked at.
pub(super) struct Looks {
    began: Instant,
    period: Duration,
    threads: Vec<Looked>,
    next: usize,
    /// ns that threads were ready and had no processor, which no sample stands for yet: what is less than a period goes to who comes next.
    ready: u64,
    /// Samples that were not taken yet.
    samples: Vec<Read>,
}

impl Looks {
    pub(super) fn new(period: u64) -> Looks {
        let (began, period) = (Instant::now(), Duration::from_nanos(period));
        Looks { began, period, threads: Vec::new(), next: 0, ready: 0, samples: Vec::new() }
    }

    /// Looks at the threads.
    pub(super) fn look(&mut self, jvmti: Jvmti<'_>, jni: Jni<'_>, names: &mut Names) {
        let start = Instant::now();
        self.take_arrived(jni, start);
        let now = self.number(start);
        for _ in 0..self.threads.len() {
            self.next = (self.next + 1) % self.threads.len();
            let thread = &mut self.threads[self.next];
            thread.look((now, self.period, &mut self.ready), names, &mut self.samples, |names, thread| {
                let methods = jvmti.stack_of(&jni.object(thread), MOST_FRAMES)?;
                let numbers = methods.iter().map(|method| method.number() as usize);
                Some(super::path(names, jvmti, jni, numbers, methods.len()))
            });
            if start.elapsed() > self.period / MOST {
                break;
            }
        }
    }

    /// The samples so far.
    pub(super) fn take(&mut self) -> Vec<Read> {
        std::mem::take(&mut self.samples)
    }

    /// Where threads have waited until now is in the samples, too. By thread: ns of its life beside its CPU time that nobody has taken yet.
    pub(super) fn catch_up(&mut self) -> HashMap<u32, u64> {
        let Looks { threads, samples, .. } = self;
        let of = |thread: &mut Looked| {
            thread.write(0, samples);
            (thread.serial, thread.take_beside())
        };
        threads.iter_mut().map(of).collect()
    }

    /// The same for a thread that has ended, at a time and with so much CPU time.
    pub(super) fn end(&mut self, jni: Jni<'_>, serial: u32, at: Instant, cpu: i64) -> u64 {
        self.take_arrived(jni, at);
        let Some(place) = self.threads.iter().position(|thread| thread.serial == serial) else { return 0 };
        let mut thread = self.threads.swap_remove(place);
        thread.pass(at, cpu);
        thread.write(0, &mut self.samples);
        jni.forget_global(thread.thread);
        thread.beside.max(0) as u64
    }

    /// No thread is looked at any more.
    pub(super) fn close(self, jni: Jni<'_>) {
        let left = self.threads.into_iter().map(|looked| looked.thread);
        left.chain(arrived().into_iter().map(|arrived| arrived.thread))
            .for_each(|thread| jni.forget_global(thread));
    }

    /// The number of a period.
    fn number(&self, at: Instant) -> u64 {
        let since = at.saturating_duration_since(self.began).as_nanos();
        (since / self.period.as_nanos().max(1)) as u64
    }

    fn take_arrived(&mut self, jni: Jni<'_>, now: Instant) {
        for Arrived { serial, task, thread, at, cpu } in arrived() {
            if self.threads.iter().any(|known| known.serial == serial) {
                // It began while those that there are were handed over.
                jni.forget_global(thread);
                continue;
            }
            let task = Task::new(task);
            let (at, period) = (at.min(now), self.number(at.min(now)));
            let delay = task.delay();
            self.threads.push(Looked {
                serial,
                task,
                thread,
                period,
                at,
                cpu,
                delay,
                path: None,
                pending: Pending::default(),
                beside: 0,
            });
        }
    }
}

impl Looked {
    /// `now`: number and length of the period, and [`Looks::ready`].
    fn look(
        &mut self,
        (now, period, ready): (u64, Duration, &mut u64),
        names: &mut Names,
        samples: &mut Vec<Read>,
        stack: impl FnOnce(&mut Names, &Global) -> Option<Vec<u32>>,
    ) {
        let periods = now.saturating_sub(self.period);
        // It may be gone.
        let Some(cpu) = timers::cpu_time_of(self.task.number()).filter(|_| periods > 0) else { return };
        let has_run = cpu != self.cpu;
        self.period = now;
        self.pass(Instant::now(), cpu);
        if !has_run && self.path.is_some() {
            return self.pending.add(periods);
        }
        let ready = self.ready(period, ready);
        // When it was ready it seemed to wait.
        self.write(ready, samples);
        self.path = None;
        if ready > 0 {
            samples.push(Read::waiting(self.serial, Some(Vec::from_iter(names.row(READY))), ready, ready));
        }
        if !self.task.sleeps() {
            return;
        }
        let path = stack(names, &self.thread);
        // It may have gone on meanwhile: then the stack is another one.
        self.path = path.filter(|_| timers::cpu_time_of(self.task.number()) == Some(cpu));
        match self.path {
            Some(_) => self.pending.add(periods),
            None => samples.push(Read::waiting(self.serial, None, periods, periods * periods)),
        }
    }

    /// Periods for which it was ready since the last time.
    fn ready(&mut self, period: Duration, left: &mut u64) -> u64 {
        let delay = self.task.delay();
        *left += delay.saturating_sub(self.delay);
        self.delay = delay;
        let each = (period.as_nanos() as u64).max(1);
        let periods = *left / each;
        *left %= each;
        periods
    }

    /// Time has passed.
    fn pass(&mut self, at: Instant, cpu: i64) {
        let lived = at.saturating_duration_since(self.at).as_nanos() as i64;
        self.beside += lived - (cpu - self.cpu);
        (self.at, self.cpu) = (at.max(self.at), cpu);
    }

    /// What is below nothing, since clocks are not read at the same moment, is taken later.
    fn take_beside(&mut self) -> u64 {
        let taken = self.beside.max(0);
        self.beside -= taken;
        taken as u64
    }

    /// Writes what waits to be, less so many periods.
    fn write(&mut self, less: u64, samples: &mut Vec<Read>) {
        let Pending { periods, squares } = std::mem::take(&mut self.pending).less(less);
        if let Some(path) = self.path.as_ref().filter(|_| periods > 0) {
            samples.push(Read::waiting(self.serial, Some(path.clone()), periods, squares));
        }
    }
}

/// Hands over the threads that there are already.
///
/// # Errors
/// Nobody knows which of the kernel's they are.
pub(super) fn arrive_all<'a>(jvmti: Jvmti<'a>, jni: Jni<'a>) -> Result<(), String> {
    let find = tasks::finder().zip(distance(jvmti, jni)).ok_or(
        "sample-event=wall: this virtual machine does not tell which of the kernel's threads its own are; sample-event=cpu does not ask",
    )?;
    for thread in jvmti.threads(jni).unwrap_or_default() {
        if let Some(arrived) = arrived_before(jvmti, jni, &thread, &find) {
            arrive(arrived);
        }
        jni.forget(thread);
    }
    Ok(())
}

fn arrived_before<'a>(
    jvmti: Jvmti<'a>,
    jni: Jni<'a>,
    thread: &Object<'a>,
    (find, distance): &(Finder, usize),
) -> Option<Arrived> {
    let address = address(jni, thread)?;
    let task = find.task(address)?;
    let cpu = timers::cpu_time_of(task)?;
    let name = jvmti.thread_info(thread, jni).ok()?.name;
    let serial = threads::with(|threads| threads.know(task, name, address + distance))?;
    Some(Arrived { serial, task, thread: jni.global(thread)?, at: Instant::now(), cpu })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_thread_was_ready_for_is_no_waiting() {
        let mut pending = Pending::default();
        (0..4).for_each(|_| pending.add(2));
        assert_eq!(pending, Pending { periods: 8, squares: 16 });
        assert_eq!(pending.less(2), Pending { periods: 6, squares: 12 });
        assert_eq!(pending.less(9), Pending::default());
        assert_eq!(Pending::default().less(1), Pending::default());
    }
}
