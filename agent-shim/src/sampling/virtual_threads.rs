//! Virtual threads: a signal meets the carrier, and what it runs is said by HotSpot's events of mounting.
//!
//! A virtual thread that records has a [`Place`], which this environment keeps for it. As long as it is mounted the carrier's samples, and its CPU
//! time, go there. Both events cost as much as two readings of the CPU clock; they come only when a first virtual thread records.

use super::threads::{self, Place};
use crate::jvmti::{Environment, Event, Jvmti};
use crate::talk::contained;
use std::ffi::c_void;
use std::sync::OnceLock;

/// Whether mounts are told.
static EVENTS: OnceLock<bool> = OnceLock::new();

/// Samples the current thread, which is virtual, into this place. False: the virtual machine does not tell when it is mounted.
pub(super) fn begin(jvmti: Jvmti<'static>, place: Place) -> bool {
    let told = *EVENTS.get_or_init(|| {
        let enable = |name, callback| jvmti.enable_extension(name, callback).unwrap_or(false);
        enable(c"com.sun.hotspot.events.VirtualThreadMount", mounted)
            && enable(c"com.sun.hotspot.events.VirtualThreadUnmount", unmounted)
            && jvmti.enable(Event::VirtualThreadEnd).is_ok()
    });
    if !told {
        return false;
    }
    forget(jvmti);
    let kept = Box::into_raw(Box::new(place));
    if jvmti.keep_of_thread(kept as usize).is_err() {
        // SAFETY: it was made above, and nobody else has it.
        drop(unsafe { Box::from_raw(kept) });
        return false;
    }
    threads::go_to(Some(place));
    true
}

/// What is kept of the current thread.
fn place(jvmti: Jvmti<'_>) -> Option<Place> {
    // SAFETY: null, or what `begin` has kept of this thread, which only this thread gives back.
    unsafe { (jvmti.kept_of_thread() as *const Place).as_ref() }.copied()
}

fn forget(jvmti: Jvmti<'_>) {
    let kept = jvmti.kept_of_thread() as *mut Place;
    if !kept.is_null() && jvmti.keep_of_thread(0).is_ok() {
        // SAFETY: `begin` has made it, and nothing refers to it any more.
        drop(unsafe { Box::from_raw(kept) });
    }
}

/// # Safety
/// Called by the virtual machine, in the thread that has been mounted.
unsafe extern "C" fn mounted(jvmti: Environment, _: Environment, _: *mut c_void) {
    contained("the mount of a virtual thread", || {
        // SAFETY: the environment is valid during this call.
        if let Some(place) = place(unsafe { Jvmti::new(jvmti) }) {
            threads::go_to(Some(place));
        }
    });
}

/// # Safety
/// Called by the virtual machine, in the thread that is about to be unmounted.
unsafe extern "C" fn unmounted(jvmti: Environment, _: Environment, _: *mut c_void) {
    contained("the unmount of a virtual thread", || {
        // SAFETY: the environment is valid during this call.
        if place(unsafe { Jvmti::new(jvmti) }).is_some() {
            threads::go_to(None);
        }
    });
}

/// # Safety
/// Called by the virtual machine, in the thread that ends.
pub(super) unsafe extern "system" fn ended(jvmti: Environment, _: Environment, _: *mut c_void) {
    contained("the end of a virtual thread", || {
        // SAFETY: the environment is valid during this call.
        let jvmti = unsafe { Jvmti::new(jvmti) };
        if place(jvmti).is_some() {
            threads::go_to(None);
        }
        forget(jvmti);
    });
}
