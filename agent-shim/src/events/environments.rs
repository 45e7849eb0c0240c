//! The environments of the virtual machine (JVMTI): one for all recordings, and others for what has capabilities, events or tags of its own.

use crate::jvmti::Jvmti;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering::SeqCst};

static ENVIRONMENT: OnceLock<Jvmti<'static>> = OnceLock::new();
/// What [`of_recordings`] was called with.
static MACHINE: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// The environment of all recordings, once there was one, or the program is armed.
pub(crate) fn known() -> Option<Jvmti<'static>> {
    ENVIRONMENT.get().copied()
}

/// The environment of all recordings. Each call of `GetEnv` makes a new one.
pub(crate) fn of_recordings(vm: *mut c_void) -> Result<Jvmti<'static>, String> {
    if let Some(environment) = ENVIRONMENT.get() {
        return Ok(*environment);
    }
    // SAFETY: the virtual machine has passed this to a function of the agent.
    let environment = unsafe { Jvmti::of(vm) }.map_err(|error| error.to_string())?;
    MACHINE.store(vm, SeqCst);
    Ok(*ENVIRONMENT.get_or_init(|| environment))
}

/// The `JavaVM*`; null: no function of the agent was called yet.
pub(crate) fn machine() -> *mut c_void {
    MACHINE.load(SeqCst)
}

/// One more environment. It lasts as long as the process, or until it is disposed of.
pub(crate) fn another() -> Result<Jvmti<'static>, String> {
    let vm = MACHINE.load(SeqCst);
    if vm.is_null() {
        return Err("there is no virtual machine".to_owned());
    }
    // SAFETY: as in `of_recordings`; there is one virtual machine, and it lasts as long as the agent's functions are called.
    unsafe { Jvmti::of(vm) }.map_err(|error| error.to_string())
}
