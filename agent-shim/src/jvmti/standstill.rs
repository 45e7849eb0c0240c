//! What is done while no Java code runs: the virtual machine goes through its heap at a safepoint, and calls us from there.

use super::heap::{HeapCallbacks, VISIT_ABORT};
use super::{Jvmti, JvmtiError, Object, checked};
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ptr::null_mut;

/// Objects and bytes of one class.
pub(crate) type Count = (u64, u64);

unsafe extern "system" fn count(
    class_tag: i64,
    size: i64,
    _: *mut i64,
    _: c_int,
    user: *mut c_void,
) -> c_int {
    // SAFETY: what `count_heap` passed in, for as long as it runs.
    let counts = unsafe { &mut *user.cast::<&mut [Count]>() };
    if let Some((objects, bytes)) = usize::try_from(class_tag).ok().and_then(|tag| counts.get_mut(tag)) {
        *objects += 1;
        *bytes += size as u64;
    }
    0
}

unsafe extern "system" fn once<F: FnOnce()>(
    _: c_int,
    _: *const c_void,
    _: i64,
    _: i64,
    _: i64,
    _: *mut i64,
    _: *mut i64,
    _: c_int,
    user: *mut c_void,
) -> c_int {
    // SAFETY: what `at_standstill` passed in, for as long as it runs.
    if let Some(body) = unsafe { &mut *user.cast::<Option<F>>() }.take() {
        crate::talk::contained("a request", body);
    }
    VISIT_ABORT
}

impl Jvmti<'_> {
    /// Counts the objects on the heap, reachable or not, by the tags of their classes, which are places in `counts`.
    pub(crate) fn count_heap(&self, mut counts: &mut [Count]) -> Result<(), JvmtiError> {
        let callbacks = HeapCallbacks::iterating(count);
        // SAFETY: callbacks and counts last as long as this call, and only it uses them.
        checked(unsafe { self.raw_iterate_through_heap(0, null_mut(), &callbacks, (&raw mut counts).cast()) })
    }

    /// Calls `body` while no thread runs Java code, on a thread of the virtual machine. It must not call the virtual machine.
    pub(crate) fn at_standstill<F: FnOnce()>(&self, body: F) -> Result<(), JvmtiError> {
        let callbacks = HeapCallbacks::following(once::<F>);
        let mut thread = null_mut();
        let mut body = Some(body);
        // SAFETY:
        // - Callbacks and body last as long as this call, and only it uses them.
        // - The first reference that is followed, that of the thread to its class, is the last.
        checked(unsafe {
            checked(self.raw_get_current_thread(&mut thread))?;
            let thread: Object<'_> = Object { reference: thread, scope: PhantomData };
            self.raw_follow_references(0, null_mut(), thread.reference, &callbacks, (&raw mut body).cast())
        })
    }
}
