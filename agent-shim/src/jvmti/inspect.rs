//! What is asked of classes, fields, methods, threads and tags, and of objects through JNI.

use super::heap::PrimitiveType;
use super::inquiry::Field;
use super::{Jni, Jvmti, JvmtiError, MOST_LOCALS, Object, c_string, checked};
use std::ffi::{CStr, c_char, c_int};
use std::marker::PhantomData;
use std::ptr::null_mut;

/// A field as its class declares it. Texts are in modified UTF-8.
#[derive(Debug, Clone)]
pub(crate) struct DeclaredField {
    pub(crate) id: Field,
    pub(crate) name: Vec<u8>,
    /// None: a reference.
    pub(crate) primitive: Option<PrimitiveType>,
    pub(crate) is_static: bool,
}

impl<'a> Jvmti<'a> {
    /// `Lcom/acme/Foo;` in modified UTF-8; hidden classes have a dot in theirs.
    pub(crate) fn raw_signature(&self, class: &Object<'_>) -> Option<Vec<u8>> {
        let mut signature = null_mut();
        // SAFETY:
        // - `class` is a class.
        // - On success the signature is a string that was allocated for us.
        unsafe {
            checked(self.raw_get_class_signature(class.reference, &mut signature, null_mut())).ok()?;
            self.take_bytes(signature)
        }
    }

    /// Whether the class has its fields and superclass already.
    pub(crate) fn is_prepared(&self, class: &Object<'_>) -> bool {
        const PREPARED: u32 = 2;
        self.class_status(class).is_ok_and(|status| status & PREPARED != 0)
    }

    /// The fields that a class declares itself, in the order that their indexes have in a heap walk.
    pub(crate) fn declared_fields(&self, class: &Object<'_>) -> Result<Vec<DeclaredField>, JvmtiError> {
        const STATIC: u32 = 8;
        let describe = |id| {
            let (name, descriptor, modifiers) = self.field(class, id)?;
            let primitive = descriptor.bytes().next().and_then(PrimitiveType::of);
            Ok(DeclaredField { id, name: name.into_bytes(), primitive, is_static: modifiers & STATIC != 0 })
        };
        self.class_fields(class)?.into_iter().map(describe).collect()
    }

    /// The constant pool of a class as its class file has it from `constant_pool_count` on, and four bytes. None: the virtual machine does
    /// not give it.
    pub(crate) fn constant_pool(&self, class: &Object<'_>) -> Option<Vec<u8>> {
        let (mut count, mut length, mut bytes) = (0, 0, null_mut());
        // SAFETY:
        // - `class` is a class.
        // - On success there are so many bytes in memory that was allocated for us.
        let entries = unsafe {
            checked(self.raw_get_constant_pool(class.reference, &mut count, &mut length, &mut bytes)).ok()?;
            self.take_list(bytes, length)
        };
        Some([&u16::try_from(count).ok()?.to_be_bytes()[..], &entries, &[0; 4]].concat())
    }

    /// # Safety
    /// `string` is a C string allocated by the virtual machine for us, or null.
    unsafe fn take_bytes(&self, string: *mut c_char) -> Option<Vec<u8>> {
        if string.is_null() {
            return None;
        }
        // SAFETY:
        // - See above.
        // - It is copied before it is freed.
        unsafe {
            let bytes = CStr::from_ptr(string).to_bytes().to_vec();
            self.raw_deallocate(string.cast());
            Some(bytes)
        }
    }
}

impl<'a> Jni<'a> {
    /// There are so many local references now: lets `-Xcheck:jni` not complain of them. Only what is more than was asked for before
    /// counts.
    pub(super) fn expect_locals(&self, count: usize) {
        let capacity = c_int::try_from(count + 4096).unwrap_or(MOST_LOCALS).min(MOST_LOCALS);
        // SAFETY: no pointers.
        unsafe { self.raw_ensure_local_capacity(capacity) };
    }

    /// The value of an instance field that is a reference. The field is one of the object's class.
    pub(crate) fn object_field(&self, object: &Object<'_>, field: Field) -> Object<'a> {
        // SAFETY: see above.
        let reference = unsafe { self.raw_get_object_field(object.reference, field.0) };
        Object { reference, scope: PhantomData }
    }

    /// The value of an instance field of a primitive type, in memory's order. The field is one of the object's class.
    pub(crate) fn primitive_field(&self, object: &Object<'_>, field: Field, kind: PrimitiveType) -> Vec<u8> {
        let (object, field) = (object.reference, field.0);
        // SAFETY: see above.
        unsafe {
            match kind {
                PrimitiveType::Boolean => vec![self.raw_get_boolean_field(object, field)],
                PrimitiveType::Byte => self.raw_get_byte_field(object, field).to_ne_bytes().to_vec(),
                PrimitiveType::Char => self.raw_get_char_field(object, field).to_ne_bytes().to_vec(),
                PrimitiveType::Short => self.raw_get_short_field(object, field).to_ne_bytes().to_vec(),
                PrimitiveType::Int => self.raw_get_int_field(object, field).to_ne_bytes().to_vec(),
                PrimitiveType::Long => self.raw_get_long_field(object, field).to_ne_bytes().to_vec(),
                PrimitiveType::Float => self.raw_get_float_field(object, field).to_ne_bytes().to_vec(),
                PrimitiveType::Double => self.raw_get_double_field(object, field).to_ne_bytes().to_vec(),
            }
        }
    }

    /// The value of a static field that is a reference.
    pub(crate) fn static_object(
        &self,
        class: &Object<'_>,
        name: &str,
        descriptor: &str,
    ) -> Option<Object<'a>> {
        let (name, descriptor) = (c_string(name.as_bytes()), c_string(descriptor.as_bytes()));
        // SAFETY:
        // - Names are C strings.
        // - The field is checked before it is used.
        unsafe {
            let field = self.raw_get_static_field_id(class.reference, name.as_ptr(), descriptor.as_ptr());
            if self.failed() || field.is_null() {
                return None;
            }
            let reference = self.raw_get_static_object_field(class.reference, field);
            (!reference.is_null()).then_some(Object { reference, scope: PhantomData })
        }
    }

    /// What an array of objects has, but for nulls.
    pub(crate) fn elements(&self, array: &Object<'_>) -> Vec<Object<'a>> {
        // SAFETY: an array of objects, which has so many elements.
        let element = |index| unsafe { self.raw_get_object_array_element(array.reference, index) };
        // SAFETY: an array.
        let length = unsafe { self.raw_get_array_length(array.reference) };
        let objects = (0..length).map(|index| Object { reference: element(index), scope: PhantomData });
        objects.filter(|object| !object.is_null()).collect()
    }

    /// A new `Object[]` of these; none if there is no memory.
    pub(crate) fn object_array(&self, elements: Vec<Object<'a>>) -> Option<Object<'a>> {
        let class = self.find_class("java/lang/Object")?;
        let length = c_int::try_from(elements.len()).ok()?;
        // SAFETY: the array is as long as there are elements, and anything may be an element of it.
        let array = unsafe { self.raw_new_object_array(length, class.reference, null_mut()) };
        let made = !self.failed() && !array.is_null();
        for (index, element) in elements.into_iter().enumerate() {
            if made {
                // SAFETY: as above.
                unsafe { self.raw_set_object_array_element(array, index as c_int, element.reference) };
            }
            self.forget(element);
        }
        self.forget(class);
        made.then_some(Object { reference: array, scope: PhantomData })
    }
}
