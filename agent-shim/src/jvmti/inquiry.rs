//! What the virtual machine knows of its threads, monitors, classes and objects: asked for when a user wants to know.

use super::{AgentThread, Global, Jni, Jvmti, JvmtiError, Object, c_string, checked};
use std::ffi::{c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr::{null, null_mut};

/// `jvmtiThreadInfo`.
#[repr(C)]
pub(super) struct RawThreadInfo {
    name: *mut c_char,
    priority: c_int,
    is_daemon: u8,
    group: *mut c_void,
    loader: *mut c_void,
}

/// `jvmtiThreadGroupInfo`.
#[repr(C)]
pub(super) struct RawGroupInfo {
    parent: *mut c_void,
    name: *mut c_char,
    priority: c_int,
    is_daemon: u8,
}

/// `jvmtiLineNumberEntry`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawLine {
    start: i64,
    line: c_int,
}

/// A method, as long as its class is there; later, questions about it fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct MethodId(pub(super) *mut c_void);

impl MethodId {
    /// The one of a number; 0 is none. A question about one that is not there any more fails.
    pub(crate) fn from_number(number: usize) -> Option<MethodId> {
        (number != 0).then_some(MethodId(std::ptr::with_exposed_provenance_mut(number)))
    }

    /// As a number, which the recorder keeps.
    pub(crate) fn number(self) -> i64 {
        self.0 as i64
    }
}

/// A method as the class file names it: class, name and descriptor.
pub(crate) type Named = (Vec<u8>, Vec<u8>, Vec<u8>);

impl Jvmti<'_> {
    /// The signature of the class that declares a method, in a callback that was given no JNI environment: its local references go when it
    /// returns.
    ///
    /// # Safety
    /// The method is one that the callback was given.
    pub(crate) unsafe fn declaring_class_of_event(&self, method: *mut c_void) -> Option<Vec<u8>> {
        let (mut class, mut signature) = (null_mut(), null_mut());
        // SAFETY:
        // - See above.
        // - On success the signature is a string that was allocated for us.
        unsafe {
            checked(self.raw_get_method_declaring_class(method, &mut class)).ok()?;
            checked(self.raw_get_class_signature(class, &mut signature, null_mut())).ok()?;
            self.take_string(signature).map(String::into_bytes)
        }
    }
}

/// A field of a class.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field(pub(super) *mut c_void);

// SAFETY: an id, the same for all threads.
unsafe impl Send for Field {}
// SAFETY: as above.
unsafe impl Sync for Field {}

/// What a thread is.
#[derive(Debug)]
pub(crate) struct ThreadInfo {
    pub(crate) name: String,
    pub(crate) priority: i32,
    pub(crate) is_daemon: bool,
    /// Empty: the thread has ended.
    pub(crate) group: String,
}

/// Who has a monitor, and who wants it.
pub(crate) struct MonitorUse<'a> {
    pub(crate) owner: Option<Object<'a>>,
    pub(crate) entries: i32,
    /// Threads that wait to enter or to enter again.
    pub(crate) waiters: Vec<Object<'a>>,
    /// Threads in `Object.wait`.
    pub(crate) notify_waiters: Vec<Object<'a>>,
}

impl<'a> Jvmti<'a> {
    /// The feature version of the virtual machine, as in 17.
    pub(crate) fn feature_version(&self) -> u32 {
        let mut version = 0;
        // SAFETY: the result is written to `version`.
        match checked(unsafe { self.raw_get_version_number(&mut version) }) {
            Ok(()) => (version as u32 >> 16) & 0xfff,
            Err(_) => 0,
        }
    }

    /// Runs a function in a thread, as a daemon.
    pub(crate) fn run_agent_thread(&self, thread: &Global, main: AgentThread) -> Result<(), JvmtiError> {
        const NORMAL: c_int = 5;
        // SAFETY: `thread` is a thread that was not started.
        checked(unsafe { self.raw_run_agent_thread(thread.0, main, null(), NORMAL) })
    }

    /// Whether other code has come into the place of a method's.
    pub(crate) fn is_obsolete(&self, method: MethodId) -> bool {
        let mut result = 0;
        // SAFETY:
        // - It was a method when we were told.
        // - The result is written to `result`.
        checked(unsafe { self.raw_is_method_obsolete(method.0, &mut result) }).is_ok() && result != 0
    }

    /// The current thread.
    pub(crate) fn current_thread(&self, _: Jni<'a>) -> Option<Object<'a>> {
        let mut reference = null_mut();
        // SAFETY: the result is a local reference.
        checked(unsafe { self.raw_get_current_thread(&mut reference) }).ok()?;
        Some(Object { reference, scope: PhantomData })
    }

    /// Name, group and the like of a thread.
    pub(crate) fn thread_info(&self, thread: &Object<'_>, jni: Jni<'a>) -> Result<ThreadInfo, JvmtiError> {
        let mut info = RawThreadInfo {
            name: null_mut(),
            priority: 0,
            is_daemon: 0,
            group: null_mut(),
            loader: null_mut(),
        };
        let mut group = RawGroupInfo { parent: null_mut(), name: null_mut(), priority: 0, is_daemon: 0 };
        // SAFETY:
        // - `thread` is a thread.
        // - On success names are strings that were allocated for us, the rest are local references or null.
        unsafe {
            checked(self.raw_get_thread_info(thread.reference, &mut info))?;
            let name = self.take_string(info.name).unwrap_or_default();
            let mut group_name = String::new();
            if !info.group.is_null()
                && checked(self.raw_get_thread_group_info(info.group, &mut group)).is_ok()
            {
                group_name = self.take_string(group.name).unwrap_or_default();
            }
            for reference in [info.group, info.loader, group.parent] {
                jni.raw_delete_local_ref(reference);
            }
            Ok(ThreadInfo {
                name,
                priority: info.priority,
                is_daemon: info.is_daemon != 0,
                group: group_name,
            })
        }
    }

    /// ns of CPU time that a thread has used.
    pub(crate) fn cpu_time(&self, thread: &Object<'_>) -> Option<i64> {
        let mut ns = 0;
        // SAFETY:
        // - `thread` is a thread.
        // - The result is written to `ns`.
        checked(unsafe { self.raw_get_thread_cpu_time(thread.reference, &mut ns) }).ok()?;
        Some(ns)
    }

    /// The monitors that a thread has.
    pub(crate) fn owned_monitors(
        &self,
        thread: &Object<'_>,
        _: Jni<'a>,
    ) -> Result<Vec<Object<'a>>, JvmtiError> {
        let (mut count, mut monitors) = (0, null_mut());
        // SAFETY:
        // - `thread` is a thread.
        // - On success there are so many local references in memory that was allocated for us.
        unsafe {
            checked(self.raw_get_owned_monitor_info(thread.reference, &mut count, &mut monitors))?;
            Ok(self.take_references(monitors, count))
        }
    }

    /// The monitor that a thread waits to enter, or waits in.
    pub(crate) fn contended_monitor(
        &self,
        thread: &Object<'_>,
        _: Jni<'a>,
    ) -> Result<Option<Object<'a>>, JvmtiError> {
        let mut monitor = null_mut();
        // SAFETY:
        // - `thread` is a thread.
        // - The result is a local reference or null.
        checked(unsafe { self.raw_get_current_contended_monitor(thread.reference, &mut monitor) })?;
        Ok((!monitor.is_null()).then_some(Object { reference: monitor, scope: PhantomData }))
    }

    /// Who has a monitor, and who wants it. The virtual machine stops all threads to tell.
    pub(crate) fn monitor_use(&self, monitor: &Object<'_>, _: Jni<'a>) -> Result<MonitorUse<'a>, JvmtiError> {
        let mut usage = super::MonitorUsage::default();
        // SAFETY:
        // - A reference that is not null.
        // - On success all are local references, both lists in memory that was allocated for us.
        unsafe {
            checked(self.raw_get_object_monitor_usage(monitor.reference, &mut usage))?;
            Ok(MonitorUse {
                owner: (!usage.owner.is_null())
                    .then_some(Object { reference: usage.owner, scope: PhantomData }),
                entries: usage.entry_count,
                waiters: self.take_references(usage.waiters, usage.waiter_count),
                notify_waiters: self.take_references(usage.notify_waiters, usage.notify_waiter_count),
            })
        }
    }

    /// Bits of `JVMTI_CLASS_STATUS_*`.
    pub(crate) fn class_status(&self, class: &Object<'_>) -> Result<u32, JvmtiError> {
        let mut status = 0;
        // SAFETY:
        // - `class` is a class.
        // - The result is written to `status`.
        checked(unsafe { self.raw_get_class_status(class.reference, &mut status) })?;
        Ok(status as u32)
    }

    /// The access flags of a class.
    pub(crate) fn class_modifiers(&self, class: &Object<'_>) -> Result<u32, JvmtiError> {
        let mut modifiers = 0;
        // SAFETY:
        // - `class` is a class.
        // - The result is written to `modifiers`.
        checked(unsafe { self.raw_get_class_modifiers(class.reference, &mut modifiers) })?;
        Ok(modifiers as u32)
    }

    /// The file that a class was compiled from, as it says itself.
    pub(crate) fn class_source(&self, class: &Object<'_>) -> Option<String> {
        let mut name = null_mut();
        // SAFETY:
        // - `class` is a class.
        // - On success the name is a string that was allocated for us.
        unsafe {
            checked(self.raw_get_source_file_name(class.reference, &mut name)).ok()?;
            self.take_string(name)
        }
    }

    /// The interfaces that a class names itself.
    pub(crate) fn class_interfaces(&self, class: &Object<'_>, _: Jni<'a>) -> Vec<Object<'a>> {
        let (mut count, mut interfaces) = (0, null_mut());
        // SAFETY:
        // - `class` is a class.
        // - On success there are so many local references in memory that was allocated for us.
        unsafe {
            match checked(self.raw_get_implemented_interfaces(class.reference, &mut count, &mut interfaces)) {
                Ok(()) => self.take_references(interfaces, count),
                Err(_) => Vec::new(),
            }
        }
    }

    /// The methods that a class declares; an error while it is not linked.
    pub(crate) fn class_methods(&self, class: &Object<'_>) -> Result<Vec<MethodId>, JvmtiError> {
        let (mut count, mut methods) = (0, null_mut());
        // SAFETY:
        // - `class` is a class.
        // - On success there are so many methods in memory that was allocated for us.
        unsafe {
            checked(self.raw_get_class_methods(class.reference, &mut count, &mut methods))?;
            Ok(self.take_list(methods, count).into_iter().map(MethodId).collect())
        }
    }

    /// The fields that a class declares; an error while it is not linked.
    pub(crate) fn class_fields(&self, class: &Object<'_>) -> Result<Vec<Field>, JvmtiError> {
        let (mut count, mut fields) = (0, null_mut());
        // SAFETY:
        // - `class` is a class.
        // - On success there are so many fields in memory that was allocated for us.
        unsafe {
            checked(self.raw_get_class_fields(class.reference, &mut count, &mut fields))?;
            Ok(self.take_list(fields, count).into_iter().map(Field).collect())
        }
    }

    /// Name, descriptor and access flags of a field of a class.
    pub(crate) fn field(
        &self,
        class: &Object<'_>,
        field: Field,
    ) -> Result<(String, String, u32), JvmtiError> {
        let (mut name, mut descriptor, mut modifiers) = (null_mut(), null_mut(), 0);
        // SAFETY:
        // - It is a field of this class.
        // - On success texts are strings that were allocated for us.
        unsafe {
            checked(self.raw_get_field_name(
                class.reference,
                field.0,
                &mut name,
                &mut descriptor,
                null_mut(),
            ))?;
            let (name, descriptor) = (self.take_string(name), self.take_string(descriptor));
            checked(self.raw_get_field_modifiers(class.reference, field.0, &mut modifiers))?;
            Ok((name.unwrap_or_default(), descriptor.unwrap_or_default(), modifiers as u32))
        }
    }

    /// Name, descriptor and access flags of a method.
    pub(crate) fn method(&self, method: MethodId) -> Result<(String, String, u32), JvmtiError> {
        let (mut name, mut descriptor, mut modifiers) = (null_mut(), null_mut(), 0);
        // SAFETY:
        // - It was a method when we were told.
        // - On success texts are strings that were allocated for us.
        unsafe {
            checked(self.raw_get_method_name(method.0, &mut name, &mut descriptor, null_mut()))?;
            let (name, descriptor) = (self.take_string(name), self.take_string(descriptor));
            checked(self.raw_get_method_modifiers(method.0, &mut modifiers))?;
            Ok((name.unwrap_or_default(), descriptor.unwrap_or_default(), modifiers as u32))
        }
    }

    /// The code of a method as it is now; an error if it has none, or the virtual machine does not give it.
    pub(crate) fn code(&self, method: MethodId) -> Result<Vec<u8>, JvmtiError> {
        let (mut count, mut code) = (0, null_mut());
        // SAFETY:
        // - It was a method when we were told.
        // - On success there are so many bytes in memory that was allocated for us.
        unsafe {
            checked(self.raw_get_bytecodes(method.0, &mut count, &mut code))?;
            Ok(self.take_list(code, count))
        }
    }

    /// The class that declares a method.
    pub(crate) fn declaring_class(&self, method: MethodId, _: Jni<'a>) -> Result<Object<'a>, JvmtiError> {
        let mut reference = null_mut();
        // SAFETY:
        // - It was a method when we were told.
        // - The result is a local reference.
        checked(unsafe { self.raw_get_method_declaring_class(method.0, &mut reference) })?;
        Ok(Object { reference, scope: PhantomData })
    }

    /// Where the lines of a method begin: location and line.
    pub(crate) fn lines(&self, method: MethodId) -> Vec<(i64, i32)> {
        let (mut count, mut table) = (0, null_mut());
        // SAFETY:
        // - It was a method when we were told.
        // - On success there are so many entries in memory that was allocated for us.
        unsafe {
            match checked(self.raw_get_line_number_table(method.0, &mut count, &mut table)) {
                Ok(()) => {
                    self.take_list(table, count).into_iter().map(|line| (line.start, line.line)).collect()
                }
                Err(_) => Vec::new(),
            }
        }
    }

    /// Collects garbage; returns when that is done.
    pub(crate) fn force_gc(&self) -> Result<(), JvmtiError> {
        // SAFETY: no pointers.
        checked(unsafe { self.raw_force_garbage_collection() })
    }

    /// # Safety
    /// So many values in memory that was allocated for us; or null.
    pub(super) unsafe fn take_list<T: Copy>(&self, list: *mut T, count: c_int) -> Vec<T> {
        if list.is_null() {
            return Vec::new();
        }
        // SAFETY:
        // - See above.
        // - They are copied before they are freed.
        unsafe {
            let copy = std::slice::from_raw_parts(list, usize::try_from(count).unwrap_or(0)).to_vec();
            self.raw_deallocate(list.cast());
            copy
        }
    }
}

impl<'a> Jni<'a> {
    /// Calls `body` and gives back what local references it has made.
    pub(crate) fn in_frame<T: 'static>(self, body: impl FnOnce() -> T) -> Option<T> {
        struct Frame<'a>(Jni<'a>);
        impl Drop for Frame<'_> {
            fn drop(&mut self) {
                // SAFETY: the frame was pushed below, and nothing that was made in it is left: `T` outlives it only if it has no references.
                unsafe { self.0.raw_pop_local_frame(null_mut()) };
            }
        }
        // SAFETY: no pointers.
        if unsafe { self.raw_push_local_frame(4096) } != 0 {
            self.failed();
            return None;
        }
        let _frame = Frame(self);
        Some(body())
    }

    /// The superclass; null for `Object` and interfaces.
    pub(crate) fn superclass_of(&self, class: &Object<'_>) -> Object<'a> {
        // SAFETY:
        // - `class` is a class.
        // - The result is a local reference or null.
        Object { reference: unsafe { self.raw_get_superclass(class.reference) }, scope: PhantomData }
    }

    /// The value of a field of type `long` that the class of an object has.
    pub(crate) fn long_field(&self, object: &Object<'_>, class: &str, name: &str) -> Option<i64> {
        let class = self.find_class(class)?;
        let name = c_string(name.as_bytes());
        // SAFETY:
        // - `class` is a class, texts are C strings.
        // - The field is checked before it is used.
        unsafe {
            let field = self.raw_get_field_id(class.reference, name.as_ptr(), c"J".as_ptr());
            self.forget(class);
            if self.failed() || field.is_null() {
                return None;
            }
            Some(self.raw_get_long_field(object.reference, field))
        }
    }
}
