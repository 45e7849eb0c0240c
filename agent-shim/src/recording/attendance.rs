//! What the thread beside a recording that came into a program which runs has to attend to ([`attended`](crate::recording::attended)).

use crate::jvmti::{Global, Jni, Jvmti, Object};
use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The least time between two retransformations.
pub(crate) const APART: Duration = Duration::from_millis(500);
/// A thread that links a class is kept this long, if the class is taken at once: none of its calls is missed then. No longer, because what
/// takes it may need something that this thread has.
const TO_TAKE: Duration = Duration::from_millis(100);
/// The longest time that the thread may take to end.
const TO_END: Duration = Duration::from_secs(10);

static ATTENDED: Mutex<Attended> = Mutex::new(Attended::NONE);
/// Something of it has changed.
pub(crate) static CHANGED: Condvar = Condvar::new();
/// Whether a class that is prepared may be one of those.
static EXPECTS: AtomicBool = AtomicBool::new(false);

/// It, and how far the thread is.
pub(crate) struct Attended {
    pub(crate) thread: Thread,
    /// Names of the classes that are to be prepared yet.
    expected: BTreeSet<Vec<u8>>,
    /// Those that are.
    pub(crate) prepared: Vec<Global>,
    /// Some of them are being taken.
    pub(crate) takes: bool,
    /// When the last ones were taken.
    pub(crate) taken: Option<Instant>,
    /// When the recording is to end.
    pub(crate) end: Option<Instant>,
    /// The file that whoever asked for the recording keeps locked.
    pub(crate) asked: Option<File>,
}

/// How far the thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thread {
    None,
    Starts,
    Runs,
    Ends,
}

impl Attended {
    const NONE: Attended = Attended {
        thread: Thread::None,
        expected: BTreeSet::new(),
        prepared: Vec::new(),
        takes: false,
        taken: None,
        end: None,
        asked: None,
    };
}

/// It, for this thread alone.
pub(crate) fn lock() -> MutexGuard<'static, Attended> {
    ATTENDED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether whoever keeps a file locked is gone, or has given up.
pub(crate) fn is_gone(asked: &File) -> bool {
    match asked.try_lock() {
        Ok(()) => true,
        // A file system may know no locks.
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => false,
    }
}

/// A class of this name is to be taken once it is prepared.
pub(crate) fn expect(name: &str) {
    lock().expected.insert(name.as_bytes().to_vec());
    EXPECTS.store(true, SeqCst);
}

/// A class was prepared.
pub(crate) fn prepared(jvmti: Jvmti<'_>, jni: Jni<'_>, class: &Object<'_>) {
    if !EXPECTS.load(SeqCst) {
        return;
    }
    let Some(signature) = jvmti.raw_signature(class) else { return };
    let Some(name) = signature.strip_prefix(b"L").and_then(|rest| rest.strip_suffix(b";")) else { return };
    let mut state = lock();
    // Another loader may have one of this name, so it stays expected.
    if !state.expected.contains(name) {
        return;
    }
    state.prepared.extend(jni.global(class));
    CHANGED.notify_all();
    if state.thread == Thread::Runs && state.taken.is_none_or(|taken| taken.elapsed() >= APART) {
        let waits = |state: &mut Attended| {
            (state.takes || !state.prepared.is_empty()) && state.thread == Thread::Runs
        };
        drop(CHANGED.wait_timeout_while(state, TO_TAKE, waits));
    }
}

/// The recording ends.
pub(crate) fn end(jni: Jni<'_>) {
    EXPECTS.store(false, SeqCst);
    let mut state = lock();
    if matches!(state.thread, Thread::Starts | Thread::Runs) {
        state.thread = Thread::Ends;
    }
    CHANGED.notify_all();
    let ends = |state: &mut Attended| state.thread == Thread::Ends;
    let (mut state, _) =
        CHANGED.wait_timeout_while(state, TO_END, ends).unwrap_or_else(PoisonError::into_inner);
    for class in state.prepared.drain(..) {
        jni.forget_global(class);
    }
    state.expected.clear();
    (state.taken, state.end, state.asked) = (None, None, None);
}
