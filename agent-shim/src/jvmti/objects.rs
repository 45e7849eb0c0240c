//! References to objects, and what is asked of any object: class, size, tag.

use super::{Jni, Jvmti, JvmtiError, checked};
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::null_mut;

/// A local reference, or null.
pub(crate) struct Object<'a> {
    pub(super) reference: *mut c_void,
    pub(super) scope: PhantomData<&'a ()>,
}

/// A global reference, kept for good unless it is given back.
#[derive(Debug)]
pub(crate) struct Global(pub(super) *mut c_void);
// SAFETY: global references are for any thread (JNI, "Global and Local References").
unsafe impl Send for Global {}
// SAFETY: as above.
unsafe impl Sync for Global {}

impl Object<'_> {
    /// A reference that a callback was given.
    ///
    /// # Safety
    /// `reference` is null or a reference that is valid for the lifetime.
    pub(crate) unsafe fn new(reference: *mut c_void) -> Self {
        Object { reference, scope: PhantomData }
    }

    /// Whether it refers to nothing.
    pub(crate) fn is_null(&self) -> bool {
        self.reference.is_null()
    }

    /// The reference, as a native method returns it.
    pub(crate) fn into_raw(self) -> *mut c_void {
        self.reference
    }
}

impl<'a> Jvmti<'a> {
    /// The tag of an object in this environment; 0: it has none.
    pub(crate) fn tag(&self, object: &Object<'_>) -> Result<i64, JvmtiError> {
        let mut tag = 0;
        // SAFETY: `object` is an object.
        checked(unsafe { self.raw_get_tag(object.reference, &mut tag) }).map(|()| tag)
    }

    /// Gives an object a tag, for as long as it lives.
    pub(crate) fn set_tag(&self, object: &Object<'_>, tag: i64) -> Result<(), JvmtiError> {
        // SAFETY: `object` is an object.
        checked(unsafe { self.raw_set_tag(object.reference, tag) })
    }

    /// Bytes of an object, without what it refers to.
    pub(crate) fn object_size(&self, object: &Object<'_>) -> Result<i64, JvmtiError> {
        let mut size = 0;
        // SAFETY:
        // - A reference that is not null.
        // - The result is written to `size`.
        checked(unsafe { self.raw_get_object_size(object.reference, &mut size) })?;
        Ok(size)
    }

    /// From a thread's next allocation buffer on, `SampledObjectAlloc` comes for one object in so many bytes on average; 0: for every object.
    pub(crate) fn sample_objects(&self, interval: i32) -> Result<(), JvmtiError> {
        // SAFETY:
        // - No pointers (JVMTI, "Set Heap Sampling Interval").
        // - What is negative is refused.
        checked(unsafe { self.raw_set_heap_sampling_interval(interval) })
    }

    /// The objects that have a tag.
    pub(crate) fn objects_with_tag(&self, tag: i64, jni: Jni<'a>) -> Result<Vec<Object<'a>>, JvmtiError> {
        let (mut count, mut objects) = (0, null_mut());
        // SAFETY: on success there are so many local references in memory that was allocated for us.
        let objects = unsafe {
            checked(self.raw_get_objects_with_tags(1, &tag, &mut count, &mut objects, null_mut()))?;
            self.take_references(objects, count)
        };
        jni.expect_locals(objects.len());
        Ok(objects)
    }
}

impl<'a> Jni<'a> {
    /// A buffer of memory at an address, which it does not keep. None: there is an exception, which is pending.
    ///
    /// # Safety
    /// The memory is there as long as anybody has the buffer.
    pub(crate) unsafe fn direct_buffer(&self, address: usize, length: usize) -> Option<Object<'a>> {
        let (memory, length) = (std::ptr::with_exposed_provenance_mut(address), i64::try_from(length).ok()?);
        // SAFETY: the memory is there, see above.
        let reference = unsafe { self.raw_new_direct_byte_buffer(memory, length) };
        (!reference.is_null()).then_some(Object { reference, scope: PhantomData })
    }

    /// The class of an object.
    pub(crate) fn class_of(&self, object: &Object<'_>) -> Object<'a> {
        // SAFETY:
        // - A reference that is not null.
        // - The result is a local reference.
        Object { reference: unsafe { self.raw_get_object_class(object.reference) }, scope: PhantomData }
    }

    /// Whether both are the same object.
    pub(crate) fn is_same(&self, object: &Object<'a>, global: &Global) -> bool {
        // SAFETY: both are references or null.
        unsafe { self.raw_is_same_object(object.reference, global.0) != 0 }
    }

    /// Whether both are the same object.
    pub(crate) fn are_same(&self, one: &Object<'_>, other: &Object<'_>) -> bool {
        // SAFETY: both are references or null.
        unsafe { self.raw_is_same_object(one.reference, other.reference) != 0 }
    }

    /// A global reference to the same object.
    pub(crate) fn global(&self, object: &Object<'a>) -> Option<Global> {
        // SAFETY: a reference or null.
        let global = Global(unsafe { self.raw_new_global_ref(object.reference) });
        (!global.0.is_null()).then_some(global)
    }

    /// Gives a local reference back before the call ends, where there are many.
    pub(crate) fn forget(&self, object: Object<'a>) {
        // SAFETY: nobody has the reference any more.
        unsafe { self.raw_delete_local_ref(object.reference) }
    }

    /// What the global reference refers to.
    pub(crate) fn object<'g>(&self, global: &'g Global) -> Object<'g> {
        Object { reference: global.0, scope: PhantomData }
    }

    /// Gives a global reference back.
    pub(crate) fn forget_global(&self, global: Global) {
        // SAFETY: nobody has the reference any more.
        unsafe { self.raw_delete_global_ref(global.0) }
    }

    /// A global reference in the place of a local one; none: it is null, or there is no memory.
    pub(crate) fn promote(&self, object: Object<'a>) -> Option<Global> {
        let global = self.global(&object);
        self.forget(object);
        global
    }
}
