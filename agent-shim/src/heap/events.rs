//! What the virtual machine tells of objects and collections.

use super::{Writer, heap};
use crate::heap_dump;
use crate::jvmti::{Jni, Object, Value};
use crate::recording::clock;
use crate::talk::contained;
use std::ffi::c_void;
use std::sync::atomic::Ordering::Relaxed;

/// The virtual machine has made an object that no bytecode sees.
///
/// # Safety
/// Called by the virtual machine.
pub(super) unsafe extern "system" fn vm_object_alloc(
    _: *mut *const *const c_void,
    jni: *mut *const *const c_void,
    _thread: *mut c_void,
    object: *mut c_void,
    _class: *mut c_void,
    _size: i64,
) {
    contained("an object of the virtual machine", || {
        // SAFETY: both are valid during this call.
        let (jni, object) = unsafe { (Jni::new(jni), Object::new(object)) };
        if let Some(java) = heap().and_then(|heap| heap.java.get()) {
            jni.setting_thrown_aside(|| jni.call(&java.made, &[Value::Object(&object)]));
        }
    });
}

/// An object that had a tag is gone. Nothing may be called here.
///
/// # Safety
/// Called by the virtual machine.
pub(super) unsafe extern "system" fn object_free(environment: *mut *const *const c_void, tag: i64) {
    let Some(writer) = Writer::of(environment) else { return };
    let heap = writer.0;
    // While the heap is dumped a tag carries more than the number.
    if let Some(record) = heap.objects.get(heap_dump::number(tag)) {
        // Before 17 that is found out within the collection, which is as good as ended.
        record[2].fetch_or((heap.begun.load(Relaxed) + 1) << 32, Relaxed);
    }
}

/// A collection stops the program. Nothing may be called here.
///
/// # Safety
/// Called by the virtual machine.
pub(super) unsafe extern "system" fn garbage_collection_start(environment: *mut *const *const c_void) {
    let Some(writer) = Writer::of(environment) else { return };
    let heap = writer.0;
    heap.begun.fetch_add(1, Relaxed);
    let number = heap.collections.take().unwrap_or(0);
    if let Some(record) = heap.collections.get(number) {
        record[0].store(clock::now() as u64, Relaxed);
    }
    heap.current.store(number, Relaxed);
}

/// It has ended. Nothing may be called here.
///
/// # Safety
/// Called by the virtual machine.
pub(super) unsafe extern "system" fn garbage_collection_finish(environment: *mut *const *const c_void) {
    let Some(writer) = Writer::of(environment) else { return };
    let heap = writer.0;
    if let Some(record) = heap.collections.get(heap.current.swap(0, Relaxed)) {
        record[1].store(clock::now() as u64, Relaxed);
    }
    heap.ended.fetch_add(1, Relaxed);
}
