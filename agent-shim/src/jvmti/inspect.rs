//! What is asked of classes, fields, methods, threads and tags, and of objects through JNI.

use super::heap::{MethodId, PrimitiveType};
use super::{Jni, Jvmti, JvmtiError, Object, c_string, checked};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr::null_mut;

/// `jvmtiLineNumberEntry`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Line {
    start: i64,
    line: c_int,
}

/// `jvmtiFrameInfo`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Frame {
    method: *mut c_void,
    location: i64,
}

impl Frame {
    /// What runs in it.
    pub(crate) fn method(&self) -> MethodId {
        MethodId(self.method as usize)
    }

    /// The index of the instruction; -1 for a native method.
    pub(crate) fn location(&self) -> i64 {
        self.location
    }
}

/// `jfieldID`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldId(*mut c_void);

/// A field as its class declares it. Texts are in modified UTF-8.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) id: FieldId,
    pub(crate) name: Vec<u8>,
    /// None: a reference.
    pub(crate) primitive: Option<PrimitiveType>,
    pub(crate) is_static: bool,
}

impl Jvmti<'static> {
    /// A further environment of the virtual machine of this thread. It lasts until it is [disposed of](Self::dispose).
    pub(crate) fn another(jni: Jni<'_>) -> Result<Self, JvmtiError> {
        let mut vm = null_mut();
        // SAFETY: the result is the `JavaVM*`.
        unsafe {
            if jni.raw_get_java_vm(&mut vm) != 0 || vm.is_null() {
                return Err(JvmtiError(-1));
            }
            Jvmti::of(vm)
        }
    }

    /// Gives the environment back, and with it all tags that were set through it.
    ///
    /// # Safety
    /// No copy of it is used any more.
    pub(crate) unsafe fn dispose(self) {
        // SAFETY: see above.
        unsafe { self.raw_dispose_environment() };
    }
}

impl<'a> Jvmti<'a> {
    /// The tag of an object, 0 for none.
    pub(crate) fn tag(&self, object: &Object<'_>) -> i64 {
        let mut tag = 0;
        // SAFETY: `object` is a reference; null is an error.
        match checked(unsafe { self.raw_get_tag(object.reference, &mut tag) }) {
            Ok(()) => tag,
            Err(_) => 0,
        }
    }

    /// Sets the tag of an object; 0 takes it away.
    pub(crate) fn set_tag(&self, object: &Object<'_>, tag: i64) -> Result<(), JvmtiError> {
        // SAFETY: `object` is a reference; null is an error.
        checked(unsafe { self.raw_set_tag(object.reference, tag) })
    }

    /// All objects with a tag.
    pub(crate) fn tagged(&self, tag: i64, jni: Jni<'a>) -> Result<Vec<Object<'a>>, JvmtiError> {
        let (mut count, mut objects) = (0, null_mut());
        // SAFETY: one tag; on success there are so many local references in memory that was allocated for us.
        unsafe {
            checked(self.raw_get_objects_with_tags(1, &tag, &mut count, &mut objects, null_mut()))?;
            Ok(self.take_objects(count, objects, jni))
        }
    }

    /// Collects garbage, all of it.
    pub(crate) fn collect_garbage(&self) -> Result<(), JvmtiError> {
        // SAFETY: no pointers.
        checked(unsafe { self.raw_force_garbage_collection() })
    }

    /// `Lcom/acme/Foo;` in modified UTF-8; hidden classes have a dot in theirs.
    pub(crate) fn raw_signature(&self, class: &Object<'_>) -> Option<Vec<u8>> {
        let mut signature = null_mut();
        // SAFETY: `class` is a class; on success the signature is a string that was allocated for us.
        unsafe {
            checked(self.raw_get_class_signature(class.reference, &mut signature, null_mut())).ok()?;
            self.take_bytes(signature)
        }
    }

    /// Whether the class has its fields and superclass already.
    pub(crate) fn is_prepared(&self, class: &Object<'_>) -> bool {
        const PREPARED: c_int = 2;
        let mut status = 0;
        // SAFETY: `class` is a class.
        checked(unsafe { self.raw_get_class_status(class.reference, &mut status) }).is_ok()
            && status & PREPARED != 0
    }

    /// The interfaces that a class names itself.
    pub(crate) fn interfaces(&self, class: &Object<'_>, jni: Jni<'a>) -> Vec<Object<'a>> {
        let (mut count, mut list) = (0, null_mut());
        // SAFETY: on success there are so many local references in memory that was allocated for us.
        unsafe {
            match checked(self.raw_get_implemented_interfaces(class.reference, &mut count, &mut list)) {
                Ok(()) => self.take_objects(count, list, jni),
                Err(_) => Vec::new(),
            }
        }
    }

    /// The fields that a class declares itself, in the order that their indexes have in a heap walk.
    pub(crate) fn fields(&self, class: &Object<'_>) -> Result<Vec<Field>, JvmtiError> {
        const STATIC: c_int = 8;
        let (mut count, mut list) = (0, null_mut());
        // SAFETY: on success there are so many ids in memory that was allocated for us.
        let ids = unsafe {
            checked(self.raw_get_class_fields(class.reference, &mut count, &mut list))?;
            self.take_list(count, list)
        };
        let describe = |id: *mut c_void| {
            let (mut name, mut signature, mut modifiers) = (null_mut(), null_mut(), 0);
            // SAFETY: the id is one of this class; the strings were allocated for us.
            let (name, signature) = unsafe {
                checked(self.raw_get_field_name(class.reference, id, &mut name, &mut signature, null_mut()))?;
                checked(self.raw_get_field_modifiers(class.reference, id, &mut modifiers))?;
                (self.take_bytes(name), self.take_bytes(signature))
            };
            let letter = signature.and_then(|signature| signature.first().copied()).unwrap_or(b'L');
            Ok(Field {
                id: FieldId(id),
                name: name.unwrap_or_default(),
                primitive: PrimitiveType::of(letter),
                is_static: modifiers & STATIC != 0,
            })
        };
        ids.into_iter().map(describe).collect()
    }

    /// The source file of a class.
    pub(crate) fn source_file(&self, class: &Object<'_>) -> Option<Vec<u8>> {
        let mut name = null_mut();
        // SAFETY: `class` is a class; on success the name is a string that was allocated for us.
        unsafe {
            checked(self.raw_get_source_file_name(class.reference, &mut name)).ok()?;
            self.take_bytes(name)
        }
    }

    /// The class, name and descriptor of a method that is on a stack.
    pub(crate) fn method(
        &self,
        method: MethodId,
        _: Jni<'a>,
    ) -> Result<(Object<'a>, Vec<u8>, Vec<u8>), JvmtiError> {
        let (mut class, mut name, mut descriptor) = (null_mut(), null_mut(), null_mut());
        let id = method.0 as *mut c_void;
        // SAFETY: HotSpot answers with an error for a method whose class is gone; the strings were allocated for us.
        unsafe {
            checked(self.raw_get_method_declaring_class(id, &mut class))?;
            let class = Object { reference: class, scope: PhantomData };
            checked(self.raw_get_method_name(id, &mut name, &mut descriptor, null_mut()))?;
            let text = |string| self.take_bytes(string).unwrap_or_default();
            Ok((class, text(name), text(descriptor)))
        }
    }

    /// The source line of an instruction.
    pub(crate) fn line(&self, method: MethodId, location: i64) -> Option<i32> {
        let (mut count, mut table) = (0, null_mut());
        // SAFETY: as above.
        let table: Vec<Line> = unsafe {
            checked(self.raw_get_line_number_table(method.0 as *mut c_void, &mut count, &mut table)).ok()?;
            self.take_list(count, table)
        };
        // Not sorted, and lines may come in several pieces.
        table
            .iter()
            .filter(|entry| entry.start <= location)
            .max_by_key(|entry| entry.start)
            .map(|entry| entry.line)
    }

    /// The threads that run; not the virtual ones.
    pub(crate) fn threads(&self, jni: Jni<'a>) -> Result<Vec<Object<'a>>, JvmtiError> {
        let (mut count, mut list) = (0, null_mut());
        // SAFETY: on success there are so many local references in memory that was allocated for us.
        unsafe {
            checked(self.raw_get_all_threads(&mut count, &mut list))?;
            Ok(self.take_objects(count, list, jni))
        }
    }

    /// The topmost frames of a thread, the topmost first.
    pub(crate) fn stack(&self, thread: &Object<'_>, most: usize) -> Vec<Frame> {
        let mut frames = vec![Frame { method: null_mut(), location: -1 }; most];
        let mut count = 0;
        // SAFETY: there is room for so many.
        let got = checked(unsafe {
            self.raw_get_stack_trace(thread.reference, 0, most as c_int, frames.as_mut_ptr(), &mut count)
        });
        frames.truncate(if got.is_ok() { count.max(0) as usize } else { 0 });
        frames
    }

    /// # Safety
    /// `string` is a C string allocated by the virtual machine for us, or null.
    unsafe fn take_bytes(&self, string: *mut c_char) -> Option<Vec<u8>> {
        if string.is_null() {
            return None;
        }
        // SAFETY: see above; it is copied before it is freed.
        unsafe {
            let bytes = CStr::from_ptr(string).to_bytes().to_vec();
            self.raw_deallocate(string.cast());
            Some(bytes)
        }
    }
}

impl<'a> Jni<'a> {
    /// The superclass; null for an interface, `java.lang.Object` and primitive types.
    pub(crate) fn superclass(&self, class: &Object<'_>) -> Object<'a> {
        // SAFETY: `class` is a class.
        let reference = unsafe { self.raw_get_superclass(class.reference) };
        Object { reference, scope: PhantomData }
    }

    /// The value of an instance field that is a reference. The field is one of the object's class.
    pub(crate) fn object_field(&self, object: &Object<'_>, field: FieldId) -> Object<'a> {
        // SAFETY: see above.
        let reference = unsafe { self.raw_get_object_field(object.reference, field.0) };
        Object { reference, scope: PhantomData }
    }

    /// The value of an instance field of a primitive type, in memory's order. The field is one of the object's class.
    pub(crate) fn primitive_field(
        &self,
        object: &Object<'_>,
        field: FieldId,
        kind: PrimitiveType,
    ) -> Vec<u8> {
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

    /// A class of the boot loader's, as `java/lang/Integer`.
    pub(crate) fn boot_class(&self, name: &str) -> Option<Object<'a>> {
        let name = c_string(name.as_bytes());
        // SAFETY: the name is a C string.
        let reference = unsafe { self.raw_find_class(name.as_ptr()) };
        (!self.failed() && !reference.is_null()).then_some(Object { reference, scope: PhantomData })
    }

    /// The value of a static field that is a reference.
    pub(crate) fn static_object(
        &self,
        class: &Object<'_>,
        name: &str,
        descriptor: &str,
    ) -> Option<Object<'a>> {
        let (name, descriptor) = (c_string(name.as_bytes()), c_string(descriptor.as_bytes()));
        // SAFETY: names are C strings; the field is checked before it is used.
        unsafe {
            let field = self.raw_get_static_field_id(class.reference, name.as_ptr(), descriptor.as_ptr());
            if self.failed() || field.is_null() {
                return None;
            }
            let reference = self.raw_get_static_object_field(class.reference, field);
            (!reference.is_null()).then_some(Object { reference, scope: PhantomData })
        }
    }

    /// A new `Object[]` of these; none if there is no memory.
    pub(crate) fn object_array(&self, elements: Vec<Object<'a>>) -> Option<Object<'a>> {
        let class = self.boot_class("java/lang/Object")?;
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
