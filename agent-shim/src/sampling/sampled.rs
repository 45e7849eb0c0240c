//! What threads that are sampled share with the signal handler.

use super::counts::Counts;
use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering::SeqCst,
};
use std::time::{Duration, Instant};

/// The longest time that a handler which is running is waited for.
const TO_LEAVE: Duration = Duration::from_secs(1);

/// What the handler knows of one thread. It is never freed: a signal may come late.
#[derive(Debug)]
pub(super) struct Sampled {
    /// The thread; 0: none. A signal that reaches another one is not its own.
    pub(super) thread: AtomicI32,
    /// Address of its region of samples; 0: its samples go nowhere.
    pub(super) region: AtomicUsize,
    /// Address that the numbers of its nodes count from; 0: methods are counted.
    pub(super) nodes: AtomicUsize,
    /// Where methods are counted.
    pub(super) counts: Counts,
    /// CPU time of the thread, less what the region has already, when samples began to go there, ns.
    pub(super) began: AtomicI64,
    /// Number of the thread where stacks are sampled, and its JNI environment ([`super::stacks`]); 0: they are not, it is not known.
    pub(super) serial: AtomicU32,
    pub(super) jni: AtomicUsize,
    /// Periods of samples of stacks for which there was no room.
    pub(super) lost: AtomicU64,
    /// A handler uses what is here.
    pub(super) busy: AtomicBool,
    /// State of the jitter, and samples so far.
    pub(super) random: AtomicUsize,
    pub(super) turn: AtomicUsize,
    /// Descriptor of its perf event; -1: none.
    pub(super) event: AtomicI32,
    /// Number of its POSIX timer, which does not run while there is an event; -1: none.
    pub(super) timer: AtomicI32,
}

impl Sampled {
    pub(super) fn new() -> Sampled {
        Sampled {
            thread: AtomicI32::new(0),
            region: AtomicUsize::new(0),
            nodes: AtomicUsize::new(0),
            counts: Counts::default(),
            began: AtomicI64::new(0),
            serial: AtomicU32::new(0),
            jni: AtomicUsize::new(0),
            lost: AtomicU64::new(0),
            busy: AtomicBool::new(false),
            random: AtomicUsize::new(1),
            turn: AtomicUsize::new(0),
            event: AtomicI32::new(-1),
            timer: AtomicI32::new(-1),
        }
    }

    /// Its region belongs to nobody when this returns, and no stack is sampled.
    pub(super) fn leave(&self) {
        self.region.store(0, SeqCst);
        self.serial.store(0, SeqCst);
        let start = Instant::now();
        while self.busy.load(SeqCst) && start.elapsed() < TO_LEAVE {
            std::thread::yield_now();
        }
    }

    #[cfg(test)]
    pub(super) fn test(region: usize, nodes: usize) -> Sampled {
        Sampled { region: AtomicUsize::new(region), nodes: AtomicUsize::new(nodes), ..Sampled::new() }
    }
}
