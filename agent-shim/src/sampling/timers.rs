//! Timers in the CPU time of one thread, which send it a signal.
//!
//! | source | resolution | what may forbid it |
//! |---|---|---|
//! | a perf event of the software clock (`perf_event_open`) | [`period`] | `kernel.perf_event_paranoid`, seccomp, too few descriptors |
//! | a POSIX timer on the thread's CPU clock (`timer_create`) | the kernel's tick, 1 to 10 ms, whatever is asked for | RLIMIT_SIGPENDING |
//!
//! Where another event than CPU time is sampled (`sample-event`), each thread has a perf event of it from the beginning, and no timer.
//!
//! A thread begins with a POSIX timer, which costs nearly nothing. The first signal, after a tick of its CPU time, opens a perf event in its place:
//! to close one takes the kernel some 20 ms, which threads of a few ms must not pay. Events are closed by a thread of ours (`Closing`).
//!
//! A recording takes a quarter of the descriptors, and of the pending signals, that the program may have; threads past that have no timer, and
//! the profile has their CPU time.

use super::sampled::Sampled;
use super::{perf, signals};
use instrument_control::perf_events;
use instrument_control::word::SampleEvent;
use instrument_names::word::Word;
use std::ffi::{c_int, c_long};
use std::mem::zeroed;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};
use std::ptr::{from_ref, null_mut};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};

/// CPU time between two samples of a thread, ns, unless somebody says otherwise. No multiple of a millisecond, in which programs do things.
pub(super) const USUAL_PERIOD: u64 = 997_000;
/// Samples until it is varied.
const SAMPLES_OF_A_PERIOD: usize = 8;
/// Events with larger descriptors are not used.
const MOST_DESCRIPTORS: usize = 1 << 16;

/// The thread of an event, by its descriptor, which is all that its signal tells.
static BY_DESCRIPTOR: [AtomicPtr<Sampled>; MOST_DESCRIPTORS] =
    [const { AtomicPtr::new(null_mut()) }; MOST_DESCRIPTORS];

static PERIOD: AtomicU64 = AtomicU64::new(USUAL_PERIOD);
/// Which of the events is sampled: its place in [`SampleEvent::WORDS`].
static EVENT: AtomicUsize = AtomicUsize::new(0);
/// Perf events work.
static HAS_EVENTS: AtomicBool = AtomicBool::new(false);
/// They cannot see the kernel.
static USER_ONLY: AtomicBool = AtomicBool::new(false);
/// Nor can those of [`EVENT`].
static EVENT_USER_ONLY: AtomicBool = AtomicBool::new(false);
static EVENTS: AtomicUsize = AtomicUsize::new(0);
static TIMERS: AtomicUsize = AtomicUsize::new(0);

/// Numbers in the profile.
const SOURCE_EVENT: u32 = 1;
const SOURCE_TIMER: u32 = 2;
/// Flag in the profile: only user time is met.
const FLAG_USER_ONLY: u32 = 1;
/// Flag in the profile, above the source: somebody else has taken the signal, and samples are missing.
pub(super) const FLAG_TAKEN: u64 = 2 << 32;

/// Finds out which source there is: `perf` or `timer`.
pub(super) fn prepare() -> &'static str {
    for user_only in [false, true] {
        if perf::open(wanted(SampleEvent::Cpu, user_only), 0).is_ok() {
            HAS_EVENTS.store(true, SeqCst);
            USER_ONLY.store(user_only, SeqCst);
            return "perf";
        }
    }
    "timer"
}

/// The event that is sampled. For the signal handler, too.
fn event() -> SampleEvent {
    SampleEvent::WORDS.get(EVENT.load(Relaxed)).map_or(SampleEvent::Cpu, |(_, event, _)| *event)
}

/// Whether CPU time is what is sampled.
pub(super) fn samples_cpu_time() -> bool {
    event() == SampleEvent::Cpu
}

fn wanted(event: SampleEvent, user_only: bool) -> perf::Wanted {
    perf::Wanted { event, period: period(), user_only }
}

/// Whether threads can be sampled by an event, and then in user code only.
///
/// # Errors
/// Why not, and what to do.
pub(super) fn can_sample(event: SampleEvent) -> Result<bool, String> {
    if event == SampleEvent::Cpu {
        return Ok(false);
    }
    let open = |user_only| perf::open(wanted(event, user_only), 0);
    match (open(false), open(true)) {
        (Ok(_), _) => Ok(false),
        (_, Ok(_)) => Ok(true),
        // The first may be refused for want of rights where there is no such counter either.
        (_, Err(error)) => Err(format!("sample-event={}: {}", event.word(), perf_events::refusal(&error))),
    }
}

/// Threads that begin from now on are sampled by this event, each time it has occurred so often. Says whether in user code only.
///
/// # Errors
/// Why they cannot be.
pub(super) fn choose(event: SampleEvent, period: u64) -> Result<bool, String> {
    let user_only = can_sample(event)?;
    set_period(period);
    EVENT.store(SampleEvent::WORDS.iter().position(|(_, word, _)| *word == event).unwrap_or(0), SeqCst);
    EVENT_USER_ONLY.store(user_only, SeqCst);
    Ok(user_only)
}

/// As it was before [`choose`].
pub(super) fn choose_cpu_time() {
    EVENT.store(0, SeqCst);
    set_period(USUAL_PERIOD);
}

/// Source and flags of a thread, as the profile has them.
pub(super) fn source(sampled: &Sampled) -> u64 {
    if sampled.event.load(SeqCst) >= 0 {
        let flags = if USER_ONLY.load(Relaxed) { FLAG_USER_ONLY } else { 0 };
        u64::from(SOURCE_EVENT) | u64::from(flags) << 32
    } else if sampled.timer.load(SeqCst) >= 0 {
        u64::from(SOURCE_TIMER)
    } else {
        0
    }
}

/// The same of threads that are sampled, as most are.
pub(super) fn usual_source() -> u64 {
    if !samples_cpu_time() {
        // Its counter sees no more than its samples do.
        return u64::from(SOURCE_EVENT);
    }
    if !HAS_EVENTS.load(SeqCst) {
        return u64::from(SOURCE_TIMER);
    }
    let flags = if USER_ONLY.load(Relaxed) { FLAG_USER_ONLY } else { 0 };
    u64::from(SOURCE_EVENT) | u64::from(flags) << 32
}

/// A perf event that is open until this is dropped, which takes long.
pub(super) struct Event(Option<OwnedFd>);

impl Drop for Event {
    fn drop(&mut self) {
        drop(self.0.take());
        // It has its descriptor until here.
        EVENTS.fetch_sub(1, SeqCst);
    }
}

/// The thread gets no signals any more; the event is to be closed. Its handler uses nothing of it: see `Sampled::leave`.
pub(super) fn stop(sampled: &Sampled) -> Option<Event> {
    let timer = sampled.timer.swap(-1, SeqCst);
    if timer >= 0 {
        // SAFETY: it was made by `start`, and is deleted once.
        unsafe { libc::syscall(libc::SYS_timer_delete, timer) };
        TIMERS.fetch_sub(1, SeqCst);
    }
    stop_event(sampled)
}

fn stop_event(sampled: &Sampled) -> Option<Event> {
    let event = sampled.event.swap(-1, SeqCst);
    let place = BY_DESCRIPTOR.get(usize::try_from(event).ok()?)?;
    place.store(null_mut(), SeqCst);
    // SAFETY: it was opened by `give_event`, and nobody else closes it.
    let event = unsafe { OwnedFd::from_raw_fd(event) };
    perf::disable(event.as_raw_fd());
    Some(Event(Some(event)))
}

/// Closes an event on a thread of ours, which ends when it has nothing to do.
pub(super) fn close_later(event: Event) {
    let mut closing = CLOSING.lock().unwrap_or_else(PoisonError::into_inner);
    closing.events.push(event);
    if !closing.runs {
        let thread =
            std::thread::Builder::new().name("instrument".into()).stack_size(64 << 10).spawn(close_all);
        closing.runs = thread.is_ok();
    }
}

fn close_all() {
    loop {
        let mut closing = CLOSING.lock().unwrap_or_else(PoisonError::into_inner);
        let events = std::mem::take(&mut closing.events);
        if events.is_empty() {
            closing.runs = false;
            return;
        }
        drop(closing);
        drop(events);
    }
}

/// Events that are to be closed.
struct Closing {
    events: Vec<Event>,
    /// A thread does it.
    runs: bool,
}

static CLOSING: Mutex<Closing> = Mutex::new(Closing { events: Vec::new(), runs: false });

/// A perf event in the place of the timer of the current thread, if there may be one more. For the signal handler. False: nothing changed.
pub(super) fn go_to_event(sampled: &'static Sampled) -> bool {
    HAS_EVENTS.load(SeqCst)
        && samples_cpu_time()
        && give_event(current_thread(), sampled, wanted(SampleEvent::Cpu, USER_ONLY.load(SeqCst)))
        && set_timer(sampled.timer.load(SeqCst), 0, 0)
}

/// Has an event send its signals to a thread, if there may be one more. For the signal handler, too.
fn give_event(thread: i32, sampled: &'static Sampled, wanted: perf::Wanted) -> bool {
    let most = quarter_of(libc::RLIMIT_NOFILE).min(quarter_of(libc::RLIMIT_SIGPENDING));
    if EVENTS.load(SeqCst) >= most {
        return false;
    }
    let Ok(event) = perf::open(wanted, thread) else { return false };
    let Some(place) = BY_DESCRIPTOR.get(event.as_raw_fd() as usize) else { return false };
    let descriptor = event.into_raw_fd();
    place.store(from_ref(sampled).cast_mut(), SeqCst);
    sampled.event.store(descriptor, SeqCst);
    EVENTS.fetch_add(1, SeqCst);
    let owner = FOwner { kind: F_OWNER_TID, id: thread };
    // SAFETY: the descriptor is open, and the arguments are those of these commands.
    let is_owned = unsafe {
        libc::fcntl(descriptor, F_SETSIG, signals::ours()) == 0
            && libc::fcntl(descriptor, F_SETOWN_EX, &owner) == 0
            && libc::fcntl(descriptor, libc::F_SETFL, libc::O_ASYNC | libc::O_NONBLOCK) == 0
    };
    let begun = is_owned && perf::enable(descriptor);
    if !begun {
        drop(stop_event(sampled));
    }
    begun
}

/// Sets a timer to go off after so many ns of CPU time, and then each time after so many; 0: never.
fn set_timer(id: c_int, first: u64, then: u64) -> bool {
    let time = |ns: u64| libc::timespec { tv_sec: 0, tv_nsec: ns as c_long };
    let times = libc::itimerspec { it_interval: time(then), it_value: time(first) };
    // SAFETY: the kernel copies the times.
    unsafe { libc::syscall(libc::SYS_timer_settime, id, 0, &times, null_mut::<libc::itimerspec>()) == 0 }
}

/// What lies between two samples of a thread: ns of CPU time, or how often the event has occurred. For the signal handler, too.
pub(super) fn period() -> u64 {
    PERIOD.load(Relaxed)
}

/// The same for timers that begin from now on.
pub(super) fn set_period(ns: u64) {
    PERIOD.store(ns, SeqCst);
}

/// Has a thread of this process get signals, if the process has timers, or descriptors, left for it.
pub(super) fn start(thread: i32, sampled: &'static Sampled) {
    if !samples_cpu_time() {
        // Signals that it does not take would pile up.
        if !signals::are_blocked(thread, signals::ours()) {
            give_event(thread, sampled, wanted(event(), EVENT_USER_ONLY.load(SeqCst)));
        }
        return;
    }
    if TIMERS.load(SeqCst) >= quarter_of(libc::RLIMIT_SIGPENDING) {
        return;
    }
    // SAFETY:
    // - The structure is a zeroed one with fields of this type, which the kernel copies.
    // - `id` is written on success.
    unsafe {
        let mut event: libc::sigevent = zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_notify_thread_id = thread;
        event.sigev_signo = signals::ours();
        event.sigev_value = libc::sigval { sival_ptr: from_ref(sampled).cast_mut().cast() };
        let mut id: c_int = 0;
        if libc::syscall(libc::SYS_timer_create, clock_of(thread), &mut event, &mut id) != 0 {
            return;
        }
        TIMERS.fetch_add(1, SeqCst);
        sampled.timer.store(id, SeqCst);
        // The first one anywhere within a period: threads that begin together are not met together.
        set_timer(id, 1 + (thread as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) % period(), period());
    }
}

/// The thread that a signal is about, and how many periods it stands for. For the signal handler.
///
/// # Safety
/// `info` is what the handler was given.
pub(super) unsafe fn sampled_of(info: *const libc::siginfo_t) -> Option<(&'static Sampled, u64)> {
    // SAFETY: see above; which fields are there is said by the code.
    unsafe {
        if (*info).si_code == libc::SI_TIMER {
            let sampled: *const Sampled = (*info).si_value().sival_ptr.cast();
            let overrun = *info.cast::<c_int>().add(SI_OVERRUN);
            return sampled.as_ref().map(|sampled| (sampled, 1 + overrun.max(0) as u64));
        }
        let descriptor = *info.cast::<c_int>().add(SI_FD);
        let place = BY_DESCRIPTOR.get(usize::try_from(descriptor).ok()?)?;
        place.load(SeqCst).as_ref().map(|sampled| (sampled, 1))
    }
}

/// Now and then the next samples come after another time than these did, up to a fifth more or less: what a program does in step with the
/// samples would else be met always or never. To set a period takes the kernel 5 us. For the signal handler.
pub(super) fn vary(sampled: &Sampled) {
    let descriptor = sampled.event.load(Relaxed);
    let turn = sampled.turn.load(Relaxed).wrapping_add(1);
    sampled.turn.store(turn, Relaxed);
    if descriptor < 0 || !turn.is_multiple_of(SAMPLES_OF_A_PERIOD) {
        return;
    }
    let mut random = sampled.random.load(Relaxed) as u64;
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    sampled.random.store(random as usize, Relaxed);
    perf::set_period(descriptor, varied(period(), random));
}

/// Up to a fifth more or less than usual.
fn varied(usual: u64, random: u64) -> u64 {
    usual - usual / 5 + random % (2 * usual / 5).max(1)
}

/// ns of CPU time of the current thread. For the signal handler, too.
pub(super) fn cpu_time() -> i64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID).unwrap_or(0)
}

/// ns of CPU time of a thread of this process; none: it is not there any more.
pub(super) fn cpu_time_of(thread: i32) -> Option<i64> {
    read(clock_of(thread))
}

/// What a thread has had of what is sampled: ns of CPU time, as `cpu` says, or how often the event has occurred. None: nobody can say.
pub(super) fn consumed(sampled: &Sampled, cpu: impl FnOnce() -> Option<i64>) -> Option<i64> {
    if samples_cpu_time() { cpu() } else { occurred(sampled) }
}

/// The event of the current thread does not count what the handler of its signal does, if it is not CPU time. For that handler.
pub(super) fn suspend(sampled: &Sampled, on: bool) {
    let descriptor = sampled.event.load(SeqCst);
    if samples_cpu_time() || descriptor < 0 {
        return;
    }
    match on {
        true => perf::disable(descriptor),
        false => _ = perf::enable(descriptor),
    }
}

/// How often the event that is sampled has occurred in a thread, also in one that is gone. None: CPU time is sampled, or the thread has no event.
fn occurred(sampled: &Sampled) -> Option<i64> {
    let descriptor = sampled.event.load(SeqCst);
    if samples_cpu_time() || descriptor < 0 {
        return None;
    }
    // SAFETY: the event is open until `stop`, which whoever holds the threads calls.
    let count = perf::count(unsafe { BorrowedFd::borrow_raw(descriptor) })?;
    i64::try_from(count).ok()
}

/// linux/posix-timers.h: CPUCLOCK_SCHED of one thread.
fn clock_of(thread: i32) -> libc::clockid_t {
    ((!thread) << 3) | 6
}

fn read(clock: libc::clockid_t) -> Option<i64> {
    // SAFETY: the time is written on success.
    unsafe {
        let mut time: libc::timespec = zeroed();
        (libc::clock_gettime(clock, &mut time) == 0).then(|| time.tv_sec * 1_000_000_000 + time.tv_nsec)
    }
}

/// As the kernel numbers it. For the signal handler, too.
pub(super) fn current_thread() -> i32 {
    // SAFETY: it has no arguments.
    unsafe { libc::syscall(libc::SYS_gettid) as i32 }
}

/// A quarter of what the process may have.
fn quarter_of(resource: libc::__rlimit_resource_t) -> usize {
    // SAFETY: the limit is written on success.
    unsafe {
        let mut limit: libc::rlimit = zeroed();
        match libc::getrlimit(resource, &mut limit) {
            0 => usize::try_from(limit.rlim_cur / 4).unwrap_or(usize::MAX),
            _ => 0,
        }
    }
}

// asm-generic/fcntl.h.
const F_SETSIG: c_int = 10;
const F_SETOWN_EX: c_int = 15;
const F_OWNER_TID: c_int = 0;
// asm-generic/siginfo.h, in steps of four bytes, where a pointer has eight.
const SI_OVERRUN: usize = 5;
const SI_FD: usize = 6;

#[repr(C)]
struct FOwner {
    kind: c_int,
    id: c_int,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_vary_by_a_fifth_and_are_never_none() {
        for usual in [1, 2, 3, 5, 97, 997_000] {
            for random in 0..1_000 {
                let period = varied(usual, random);
                assert!(
                    period >= 1 && period >= usual - usual / 5 && period <= usual + usual / 5,
                    "{usual}: {period}"
                );
            }
        }
    }
}
