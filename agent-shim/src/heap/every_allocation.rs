//! `heap-all=on`: the virtual machine itself reports every object, whoever makes it (JEP 331, `SampledObjectAlloc`), instead of code
//! that is inserted into classes.
//!
//! - The sampling interval is 0. A thread draws its first sample when it is created: [`prepare`] sets the interval before the first thread
//!   is. A thread looks for samples when it gets its next allocation buffer: [`begin`] collects garbage once, which takes all buffers
//!   away. Where the agent is loaded into a program that runs, what each of its threads allocates at first (0.5 MiB on average) is not
//!   seen.
//! - An event comes on the thread that allocates, in the method that does, before any constructor has run: the context is that method.
//! - It may come anywhere in the JDK. So the recorder is called only if this thread is not in here and not in the load hook: what these
//!   allocate is ours.
//! - What the compiler removes (escape analysis) is never allocated, and not reported.

use super::share;
use crate::jvmti::{Capability, Event, Jni, Jvmti, JvmtiError, Object, StaticMethod, Value};
use crate::recording::recorder;
use crate::talk::contained;
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What it needs of the virtual machine: since 11.
pub(super) const CAPABILITY: Capability = Capability::GenerateSampledObjectAllocEvents;

/// `HeapProxy.ObjectAlloc(Object)`; set once events are turned on for the first time.
static ALLOCATED: OnceLock<StaticMethod> = OnceLock::new();

/// Objects that were not recorded because hardly any stack was left.
static MISSED: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Set while this thread is in here. No virtual thread leaves its carrier meanwhile.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Another recording begins, which has missed nothing.
pub(super) fn renew() {
    MISSED.store(0, Relaxed);
}

/// Before there are threads; the capability is there.
pub(super) fn prepare(jvmti: Jvmti<'_>) -> Result<(), JvmtiError> {
    jvmti.sample_objects(0)
}

/// Turns the events on; the recorder has begun.
pub(super) fn begin(jvmti: Jvmti<'_>, jni: Jni<'_>) -> Result<(), String> {
    let allocated = jni
        .static_method("instrument/runtime/HeapProxy", "ObjectAlloc", "(Ljava/lang/Object;)V")
        .ok_or("no HeapProxy.ObjectAlloc")?;
    let _ = ALLOCATED.set(allocated);
    jvmti.enable(Event::SampledObjectAlloc).map_err(|error| error.to_string())?;
    jvmti.force_gc().map_err(|error| format!("no garbage collection: {error}"))
}

/// Objects that were not recorded because hardly any stack was left.
pub(super) fn missed() -> u64 {
    MISSED.load(Relaxed)
}

/// An object was allocated: one of all, or a sample.
///
/// # Safety
/// Called by the virtual machine.
pub(super) unsafe extern "system" fn sampled_object_alloc(
    _: *mut *const *const c_void,
    jni: *mut *const *const c_void,
    thread: *mut c_void,
    object: *mut c_void,
    _class: *mut c_void,
    size: i64,
) {
    let Some(allocated) = ALLOCATED.get().filter(|_| super::reports_all()) else {
        contained("a sample", || share::sampled(size));
        return;
    };
    // A native thread that attaches itself has no Thread object until that is allocated, which is what is reported here.
    if thread.is_null() || object.is_null() || crate::classes::in_hook::is_loading() || INSIDE.replace(true) {
        return;
    }
    if recorder::has_stack() {
        contained("an object", || {
            // SAFETY: the environment and the object are valid during this call.
            let (jni, object) = unsafe { (Jni::new(jni), Object::new(object)) };
            let called = jni.setting_thrown_aside(|| jni.call(allocated, &[Value::Object(&object)]));
            MISSED.fetch_add(u64::from(!called), Relaxed);
        });
    } else {
        MISSED.fetch_add(1, Relaxed);
    }
    INSIDE.set(false);
}
