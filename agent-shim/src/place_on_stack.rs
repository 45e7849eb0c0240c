//! Whether a call that began before the recording is open still: the recorder asks when it may be over.

use crate::jvmti::{Environment, Jni, MethodId};
use crate::sessions;
use crate::talk::contained;
use std::ffi::{c_int, c_void};

/// The recorder can ask from now on. False: it cannot.
pub(crate) fn answer(jni: Jni<'_>) -> bool {
    jni.register_place("instrument/runtime/Running", "isThere", is_there)
}

/// So many of the topmost frames are looked at first: the recorder's, a method that is called, and its caller with some between. That costs the
/// same however deep the stack is.
const NEAR: usize = 10;

/// Whether a method is at a place of the current thread's stack, counted from the bottom. `alone`: it is at no other place.
///
/// # Safety
/// Called by the virtual machine, for `Running.isThere`.
unsafe extern "system" fn is_there(
    _: Environment,
    _: *mut c_void,
    place: c_int,
    method: i64,
    alone: u8,
) -> u8 {
    let there = contained("the place of a root", || {
        sessions::known_environment().is_some_and(|jvmti| {
            let is_it = |there: MethodId| there.number() == method;
            let is_near = || jvmti.topmost_methods::<NEAR>().any(is_it);
            alone != 0 && is_near() || jvmti.method_at(place).is_some_and(is_it)
        })
    });
    u8::from(there.unwrap_or(false))
}
