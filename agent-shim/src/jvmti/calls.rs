//! Static methods, and calls of them.

use super::{Global, Jni, Object, c_string};
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ptr::null;

/// A static method of a class that is never unloaded.
#[derive(Debug)]
pub(crate) struct StaticMethod {
    pub(super) class: Global,
    pub(super) id: *mut c_void,
    pub(super) descriptor: &'static str,
}
// SAFETY: method ids are for any thread, as long as their class is there, which the global reference sees to.
unsafe impl Send for StaticMethod {}
// SAFETY: as above.
unsafe impl Sync for StaticMethod {}

impl<'a> Jni<'a> {
    /// A static method of a class that the system loader finds.
    pub(crate) fn static_method(
        &self,
        class: &str,
        name: &str,
        descriptor: &'static str,
    ) -> Option<StaticMethod> {
        let class = self.find_class(class)?;
        let (name, text) = (c_string(name.as_bytes()), c_string(descriptor.as_bytes()));
        // SAFETY:
        // - `class` is a class, the names are C strings.
        // - The result is checked before it is used.
        let id = unsafe { self.raw_get_static_method_id(class.reference, name.as_ptr(), text.as_ptr()) };
        if self.failed() || id.is_null() {
            self.forget(class);
            return None;
        }
        Some(StaticMethod { class: self.promote(class)?, id, descriptor })
    }

    /// Calls a static method without parameters that returns an object; a global reference to it.
    pub(crate) fn call_for_object(&self, method: &StaticMethod) -> Option<Global> {
        if !method.descriptor.starts_with("()L") {
            return None;
        }
        // SAFETY: the method takes nothing and returns an object.
        let reference = unsafe { self.raw_call_static_object_method(method.class.0, method.id, null()) };
        let failed = self.failed();
        self.promote(Object { reference, scope: PhantomData }).filter(|_| !failed)
    }

    /// Calls a static method `([B)V` with these bytes. False: it threw, or there was no memory.
    pub(crate) fn call_with_bytes(&self, method: &StaticMethod, bytes: &[u8]) -> bool {
        let Ok(length) = c_int::try_from(bytes.len()) else { return false };
        if method.descriptor != "([B)V" {
            return false;
        }
        // SAFETY: the array is as long as what is copied into it, and the method takes an array of bytes.
        unsafe {
            let array = self.raw_new_byte_array(length);
            if self.failed() || array.is_null() {
                return false;
            }
            self.raw_set_byte_array_region(array, 0, length, bytes.as_ptr());
            self.raw_call_static_void_method(method.class.0, method.id, &(array as i64));
            let failed = self.failed();
            self.raw_delete_local_ref(array);
            !failed
        }
    }

    /// Calls a static method `()[B`.
    pub(crate) fn call_for_bytes(&self, method: &StaticMethod) -> Option<Vec<u8>> {
        if method.descriptor != "()[B" {
            return None;
        }
        // SAFETY: the method takes nothing and returns an array of bytes.
        let reference = unsafe { self.raw_call_static_object_method(method.class.0, method.id, null()) };
        if self.failed() || reference.is_null() {
            return None;
        }
        let array = Object { reference, scope: PhantomData };
        let bytes = self.bytes(&array);
        self.forget(array);
        bytes
    }

    /// What an array of bytes has, which the object must be.
    pub(crate) fn bytes(&self, array: &Object<'_>) -> Option<Vec<u8>> {
        // SAFETY: an array of bytes, as long as what is copied out of it.
        unsafe {
            let length = self.raw_get_array_length(array.reference);
            let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
            self.raw_get_byte_array_region(array.reference, 0, length, bytes.as_mut_ptr());
            (!self.failed()).then_some(bytes)
        }
    }
}
