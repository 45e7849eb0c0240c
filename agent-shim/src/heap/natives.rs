//! The native methods of `HeapAgent`. Class and environment are arguments that none has use for.

use super::{COLLECTIONS, KNOWN, NO_ROOM, OBJECTS, WANTS_COLLECTIONS, WANTS_OBJECTS, Writer, heap};
use crate::jvmti::{Jni, Object};
use crate::recording::clock;
use crate::talk::contained;
use std::ffi::c_void;
use std::sync::PoisonError;
use std::sync::atomic::{Ordering::Relaxed, Ordering::Release};

/// `static native boolean follows(String type)`.
pub(super) unsafe extern "system" fn follows(
    jni: *mut *const *const c_void,
    _: *mut c_void,
    name: *mut c_void,
) -> u8 {
    let follows = contained("the patterns of the heap", || {
        // SAFETY: the environment of this call and its argument.
        let (jni, name) = unsafe { (Jni::new(jni), Object::new(name)) };
        let name = jni.text(&name);
        heap().is_none_or(|heap| heap.classes.follow(&name))
    });
    u8::from(follows.unwrap_or(true))
}

/// `static native long size(Object object)`; 0: unknown.
pub(super) unsafe extern "system" fn size(
    _: *mut *const *const c_void,
    _: *mut c_void,
    object: *mut c_void,
) -> i64 {
    // SAFETY: an argument of this call.
    let object = unsafe { Object::new(object) };
    Writer::enter().and_then(|writer| writer.0.jvmti.object_size(&object).ok()).unwrap_or(0)
}

/// `static native int made(Object object, int type, int thread, int context, int units, boolean ask)`.
pub(super) unsafe extern "system" fn made(
    _: *mut *const *const c_void,
    _: *mut c_void,
    object: *mut c_void,
    class: i32,
    thread: i32,
    context: i32,
    units: i32,
    ask: u8,
) -> i32 {
    let Some(writer) = Writer::enter() else { return 0 };
    let heap = writer.0;
    // SAFETY: an argument of this call.
    let object = unsafe { Object::new(object) };
    if ask != 0 && heap.jvmti.tag(&object).is_ok_and(|tag| tag != 0) {
        return KNOWN;
    }
    let wants = |on: bool, bit: i32| if on { bit } else { 0 };
    let room = wants(heap.objects.wants_room(), WANTS_OBJECTS)
        | wants(heap.collections.wants_room(), WANTS_COLLECTIONS);
    let Some(number) = heap.objects.take() else { return room | NO_ROOM };
    if let Some(record) = heap.objects.get(number) {
        let ended = heap.ended.load(Relaxed);
        let pair = |low: u64, high: u64| low & 0xffff_ffff | high << 32;
        record[1].store(pair(context as u64, ended), Relaxed);
        record[2].store(u64::from(units as u32), Relaxed);
        record[3].store(clock::now() as u64, Relaxed);
        // The class makes it a record.
        record[0].store(pair(class as u64, thread as u64), Release);
    }
    // Where there is no memory for the tag the object lives for good, as far as we know.
    let _ = heap.jvmti.set_tag(&object, number as i64);
    room
}

/// `static native boolean room(int kind, ByteBuffer body, long first)`.
pub(super) unsafe extern "system" fn room(
    jni: *mut *const *const c_void,
    _: *mut c_void,
    kind: i32,
    body: *mut c_void,
    first: i64,
) -> u8 {
    let taken = contained("room in the profile", || {
        // SAFETY: the environment of this call and its argument.
        let (jni, body) = unsafe { (Jni::new(jni), Object::new(body)) };
        let (Some(heap), Some(kept)) = (heap(), jni.global(&body)) else { return false };
        heap.bodies.lock().unwrap_or_else(PoisonError::into_inner).push(kept);
        // SAFETY: the buffer is kept until nobody writes to it.
        let Some(body) = (unsafe { jni.words(&body) }) else { return false };
        match kind {
            OBJECTS => heap.objects.add(first as u64, body),
            COLLECTIONS => heap.collections.add(first as u64, body),
            _ => false,
        }
    });
    u8::from(taken.unwrap_or(false))
}
