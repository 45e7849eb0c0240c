//! The signal that timers send: one that nobody else has, and what becomes of it.

use std::ffi::{c_int, c_void};
use std::mem::zeroed;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering::SeqCst};

/// The signal that timers send.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
/// What is called then.
static HANDLER: AtomicUsize = AtomicUsize::new(0);
/// Somebody else had the signal at some time.
static WAS_TAKEN: AtomicBool = AtomicBool::new(false);

pub(super) type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// The signal. For its handler, too.
pub(super) fn ours() -> c_int {
    SIGNAL.load(SeqCst)
}

/// Takes a real-time signal without a handler: SIGPROF and others belong to other profilers.
pub(super) fn claim(handler: Handler) -> Result<(), String> {
    let signals = (libc::SIGRTMIN() + 4..libc::SIGRTMAX()).rev();
    let free = signals.into_iter().find(|&signal| handler_of(signal) == Some(libc::SIG_DFL));
    let signal = free.ok_or("every real-time signal has a handler already")?;
    // SAFETY:
    // - The action is a zeroed one with fields of this type.
    // - The handler lasts: the library is not unloaded.
    let result = unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigfillset(&mut action.sa_mask);
        // Faults that the virtual machine handles: a walk through a stack may meet one.
        for fault in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP] {
            libc::sigdelset(&mut action.sa_mask, fault);
        }
        libc::sigaction(signal, &action, null_mut())
    };
    if result != 0 {
        return Err(format!("signal {signal}: {}", std::io::Error::last_os_error()));
    }
    HANDLER.store(handler as *const () as usize, SeqCst);
    SIGNAL.store(signal, SeqCst);
    ignore_overflow();
    Ok(())
}

/// Where no more signals may be pending (RLIMIT_SIGPENDING) the kernel sends SIGIO in the place of the signal of an event, and what that does of
/// itself is to end the process. A handler, for what is ignored would be so in child processes, too.
fn ignore_overflow() {
    extern "C" fn nothing(_: c_int) {}
    if handler_of(libc::SIGIO) != Some(libc::SIG_DFL) {
        return;
    }
    // SAFETY:
    // - The action is a zeroed one with fields of this type.
    // - The handler lasts: the library is not unloaded.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = nothing as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGIO, &action, null_mut());
    }
}

/// Whether somebody else has the signal, or had it when this was asked before. It is asked each second: who gives it back has lost us samples, too.
pub(super) fn is_taken() -> bool {
    if handler_of(SIGNAL.load(SeqCst)) != Some(HANDLER.load(SeqCst)) {
        WAS_TAKEN.store(true, SeqCst);
    }
    WAS_TAKEN.load(SeqCst)
}

fn handler_of(signal: c_int) -> Option<usize> {
    // SAFETY: the action is written by the call that asks for it.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        (libc::sigaction(signal, null(), &mut action) == 0).then_some(action.sa_sigaction)
    }
}

/// Whether a thread of this process blocks a signal.
pub(super) fn are_blocked(thread: i32, signal: c_int) -> bool {
    let status = std::fs::read_to_string(format!("/proc/self/task/{thread}/status")).unwrap_or_default();
    let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
    let blocked = blocked.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    blocked.is_none_or(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_blocks_a_signal_is_known() {
        let signal = libc::SIGRTMAX() - 1;
        // SAFETY: it has no arguments.
        let thread = unsafe { libc::syscall(libc::SYS_gettid) as i32 };
        assert!(!are_blocked(thread, signal));
        // SAFETY: the set is initialised, and this thread takes no such signal.
        unsafe {
            let mut set: libc::sigset_t = zeroed();
            libc::sigemptyset(&mut set);
            libc::sigaddset(&mut set, signal);
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, null_mut());
        }
        assert!(are_blocked(thread, signal));
        // One that is gone.
        assert!(are_blocked(i32::MAX, signal));
    }
}
