//! Whether a call that began before the recording is open still: the recorder asks when it may be over.

use crate::events::environments;
use crate::jvmti::{Environment, Jni, Jvmti, MethodId};
use crate::talk::contained;
use std::ffi::{c_int, c_void};

/// The recorder can ask from now on. False: it cannot.
pub(crate) fn answer(jni: Jni<'_>) -> bool {
    jni.register_place("instrument/runtime/Running", "isThere", is_there)
}

/// So many of the topmost frames are looked at first: the recorder's, a method that is called, and its caller with some between. That costs the
/// same however deep the stack is.
const NEAR: usize = 10;

/// Whether a method is at a place of the current thread's stack, counted from the bottom. `alone`: it is at no other place. Not `apart`: a call
/// that begins now may have the name of this method, too; the one that is being entered, with the recorder right above it, does not count.
///
/// # Safety
/// Called by the virtual machine, for `Running.isThere`.
unsafe extern "system" fn is_there(
    jni: Environment,
    _: *mut c_void,
    place: c_int,
    method: i64,
    apart: u8,
    alone: u8,
) -> u8 {
    let there = contained("the place of a root", || {
        // SAFETY: the environment is valid during this call.
        let jni = unsafe { Jni::new(jni) };
        environments::known().is_some_and(|jvmti| {
            let is_it = |there: MethodId| there.number() == method;
            let is_near = || jvmti.topmost_methods::<NEAR>().any(is_it);
            alone != 0 && is_near()
                || jvmti.method_at(place).is_some_and(is_it)
                    && (apart != 0 || !calls_the_recorder(place, jvmti, jni))
        })
    });
    u8::from(there.unwrap_or(false))
}

/// Whether the recorder stands right above a place.
fn calls_the_recorder(place: c_int, jvmti: Jvmti<'_>, jni: Jni<'_>) -> bool {
    let above = || {
        let class = jvmti.declaring_class(jvmti.method_at(place.checked_add(1)?)?, jni).ok()?;
        let signature = jvmti.raw_signature(&class);
        jni.forget(class);
        signature
    };
    above().is_some_and(|signature| signature.starts_with(b"Linstrument/runtime/"))
}
