//! The few functions of JVMTI and JNI that the agent needs, and safe names for them.
//!
//! Both are tables of functions that have only ever grown, so one binary fits every virtual machine since Java 9; a test compares
//! the positions used here with the headers of a JDK. Everything unsafe of the agent is here and in the exported functions: a
//! [`Jvmti`] or [`Jni`] can only be made from an environment that the virtual machine passed in, and local references do not
//! outlive the call that they were made in.

mod calls;
mod events;
mod extensions;
pub(crate) mod heap;
mod inquiry;
pub(crate) mod inspect;
mod loading;
mod monitors;
mod natives;
mod objects;
mod stacks;
mod standstill;
#[cfg(test)]
mod tests;
mod values;

pub(crate) use calls::StaticMethod;
pub(crate) use events::{Callbacks, Capability, Event};
pub(crate) use inquiry::{Field, MethodId, Named};
pub(crate) use loading::{Answer, Method, Weak};
use monitors::MonitorUsage;
pub(crate) use natives::NativeMethod;
pub(crate) use objects::{Global, Object};
pub(crate) use stacks::{Frame, Stack};
pub(crate) use values::Value;

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::AtomicU64;

/// `jvmtiError`, other than `JVMTI_ERROR_NONE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JvmtiError(pub(crate) c_int);

impl std::fmt::Display for JvmtiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "JVMTI error {}", self.0)
    }
}

/// An environment: a pointer to a pointer to a table of functions.
pub(crate) type Environment = *mut *const *const c_void;

/// `jvmtiStartFunction`.
pub(crate) type AgentThread = unsafe extern "system" fn(Environment, Environment, *mut c_void);

const JVMTI_VERSION_9: c_int = 0x3009_0000;
const JVMTI_ENABLE: c_int = 1;
const JVMTI_DISABLE: c_int = 0;
/// The most local references that HotSpot lets one ask for.
const MOST_LOCALS: c_int = 65536;

/// Position in the table (from 0), name in the header, and our name for a call of it.
macro_rules! functions {
    ($type:ident, $names:ident; $($index:literal $c_name:ident $name:ident($($arg:ident: $arg_type:ty),*) $(-> $result:ty)?;)*) => {
        #[cfg(test)]
        const $names: &[(usize, &str)] = &[$(($index, stringify!($c_name))),*];
        impl $type<'_> {
            $(
                /// # Safety
                /// As the specification says of its arguments.
                unsafe fn $name(&self, $($arg: $arg_type),*) $(-> $result)? {
                    type Function = unsafe extern "system" fn(Environment, $($arg_type),*) $(-> $result)?;
                    // SAFETY: the environment is valid, and this entry of its table is a function of this type.
                    unsafe {
                        let function: Function = std::mem::transmute(*(*self.environment).add($index));
                        function(self.environment, $($arg),*)
                    }
                }
            )*
        }
    };
}

functions! { Jvmti, JVMTI_FUNCTIONS;
    3 GetAllThreads raw_get_all_threads(count: *mut c_int, threads: *mut *mut *mut c_void) -> c_int;
    8 GetThreadInfo raw_get_thread_info(thread: *mut c_void, info: *mut inquiry::RawThreadInfo) -> c_int;
    9 GetOwnedMonitorInfo raw_get_owned_monitor_info(thread: *mut c_void, count: *mut c_int, monitors: *mut *mut *mut c_void) -> c_int;
    10 GetCurrentContendedMonitor raw_get_current_contended_monitor(thread: *mut c_void, monitor: *mut *mut c_void) -> c_int;
    11 RunAgentThread raw_run_agent_thread(thread: *mut c_void, main: AgentThread, argument: *const c_void, priority: c_int) -> c_int;
    13 GetThreadGroupInfo raw_get_thread_group_info(group: *mut c_void, info: *mut inquiry::RawGroupInfo) -> c_int;
    17 GetCurrentThread raw_get_current_thread(thread: *mut *mut c_void) -> c_int;
    39 GetNamedModule raw_get_named_module(loader: *mut c_void, package: *const c_char, module: *mut *mut c_void) -> c_int;
    44 IsModifiableClass raw_is_modifiable_class(class: *mut c_void, result: *mut u8) -> c_int;
    45 Allocate raw_allocate(size: i64, result: *mut *mut u8) -> c_int;
    46 Deallocate raw_deallocate(memory: *mut u8) -> c_int;
    47 GetClassSignature raw_get_class_signature(class: *mut c_void, signature: *mut *mut c_char, generic: *mut *mut c_char) -> c_int;
    48 GetClassStatus raw_get_class_status(class: *mut c_void, status: *mut c_int) -> c_int;
    49 GetSourceFileName raw_get_source_file_name(class: *mut c_void, name: *mut *mut c_char) -> c_int;
    50 GetClassModifiers raw_get_class_modifiers(class: *mut c_void, modifiers: *mut c_int) -> c_int;
    51 GetClassMethods raw_get_class_methods(class: *mut c_void, count: *mut c_int, methods: *mut *mut *mut c_void) -> c_int;
    52 GetClassFields raw_get_class_fields(class: *mut c_void, count: *mut c_int, fields: *mut *mut *mut c_void) -> c_int;
    53 GetImplementedInterfaces raw_get_implemented_interfaces(class: *mut c_void, count: *mut c_int, interfaces: *mut *mut *mut c_void) -> c_int;
    56 GetClassLoader raw_get_class_loader(class: *mut c_void, result: *mut *mut c_void) -> c_int;
    58 GetObjectMonitorUsage raw_get_object_monitor_usage(object: *mut c_void, usage: *mut MonitorUsage) -> c_int;
    59 GetFieldName raw_get_field_name(class: *mut c_void, field: *mut c_void, name: *mut *mut c_char, signature: *mut *mut c_char, generic: *mut *mut c_char) -> c_int;
    61 GetFieldModifiers raw_get_field_modifiers(class: *mut c_void, field: *mut c_void, modifiers: *mut c_int) -> c_int;
    63 GetMethodName raw_get_method_name(method: *mut c_void, name: *mut *mut c_char, signature: *mut *mut c_char, generic: *mut *mut c_char) -> c_int;
    64 GetMethodDeclaringClass raw_get_method_declaring_class(method: *mut c_void, class: *mut *mut c_void) -> c_int;
    65 GetMethodModifiers raw_get_method_modifiers(method: *mut c_void, modifiers: *mut c_int) -> c_int;
    69 GetLineNumberTable raw_get_line_number_table(method: *mut c_void, count: *mut c_int, table: *mut *mut inquiry::RawLine) -> c_int;
    72 SetNativeMethodPrefix raw_set_native_method_prefix(prefix: *const c_char) -> c_int;
    74 GetBytecodes raw_get_bytecodes(method: *mut c_void, count: *mut c_int, code: *mut *mut u8) -> c_int;
    77 GetLoadedClasses raw_get_loaded_classes(count: *mut c_int, classes: *mut *mut *mut c_void) -> c_int;
    87 GetVersionNumber raw_get_version_number(version: *mut c_int) -> c_int;
    90 IsMethodObsolete raw_is_method_obsolete(method: *mut c_void, result: *mut u8) -> c_int;
    93 AddModuleReads raw_add_module_reads(module: *mut c_void, to: *mut c_void) -> c_int;
    94 AddModuleExports raw_add_module_exports(module: *mut c_void, package: *const c_char, to: *mut c_void) -> c_int;
    99 GetAllStackTraces raw_get_all_stack_traces(max: c_int, stacks: *mut *mut stacks::RawStack, count: *mut c_int) -> c_int;
    101 GetThreadLocalStorage raw_get_thread_local_storage(thread: *mut c_void, data: *mut *mut c_void) -> c_int;
    102 SetThreadLocalStorage raw_set_thread_local_storage(thread: *mut c_void, data: *const c_void) -> c_int;
    103 GetStackTrace raw_get_stack_trace(thread: *mut c_void, start: c_int, max: c_int, frames: *mut stacks::RawFrame, count: *mut c_int) -> c_int;
    105 GetTag raw_get_tag(object: *mut c_void, tag: *mut i64) -> c_int;
    106 SetTag raw_set_tag(object: *mut c_void, tag: i64) -> c_int;
    107 ForceGarbageCollection raw_force_garbage_collection() -> c_int;
    113 GetObjectsWithTags raw_get_objects_with_tags(count: c_int, tags: *const i64, found: *mut c_int, objects: *mut *mut *mut c_void, their_tags: *mut *mut i64) -> c_int;
    114 FollowReferences raw_follow_references(leave_out: c_int, class: *mut c_void, start: *mut c_void, callbacks: *const heap::HeapCallbacks, user: *mut c_void) -> c_int;
    115 IterateThroughHeap raw_iterate_through_heap(leave_out: c_int, class: *mut c_void, callbacks: *const heap::HeapCallbacks, user: *mut c_void) -> c_int;
    121 SetEventCallbacks raw_set_event_callbacks(callbacks: *const Callbacks, size: c_int) -> c_int;
    124 GetExtensionEvents raw_get_extension_events(count: *mut c_int, events: *mut *mut extensions::RawEvent) -> c_int;
    125 SetExtensionEventCallback raw_set_extension_event_callback(event: c_int, callback: *const c_void) -> c_int;
    126 DisposeEnvironment raw_dispose_environment() -> c_int;
    130 GetSystemProperty raw_get_system_property(name: *const c_char, value: *mut *mut c_char) -> c_int;
    136 GetThreadCpuTime raw_get_thread_cpu_time(thread: *mut c_void, ns: *mut i64) -> c_int;
    141 AddCapabilities raw_add_capabilities(capabilities: *const [u8; 16]) -> c_int;
    145 GetConstantPool raw_get_constant_pool(class: *mut c_void, count: *mut c_int, length: *mut c_int, bytes: *mut *mut u8) -> c_int;
    148 AddToBootstrapClassLoaderSearch raw_add_to_bootstrap_class_loader_search(path: *const c_char) -> c_int;
    151 RetransformClasses raw_retransform_classes(count: c_int, classes: *const *mut c_void) -> c_int;
    153 GetObjectSize raw_get_object_size(object: *mut c_void, size: *mut i64) -> c_int;
    155 SetHeapSamplingInterval raw_set_heap_sampling_interval(bytes: c_int) -> c_int;
}
/// The one function with a variable number of arguments.
const SET_EVENT_NOTIFICATION_MODE: (usize, &str) = (1, "SetEventNotificationMode");

functions! { Jni, JNI_FUNCTIONS;
    5 DefineClass raw_define_class(name: *const c_char, loader: *mut c_void, bytes: *const u8, length: c_int) -> *mut c_void;
    6 FindClass raw_find_class(name: *const c_char) -> *mut c_void;
    10 GetSuperclass raw_get_superclass(class: *mut c_void) -> *mut c_void;
    13 Throw raw_throw(throwable: *mut c_void) -> c_int;
    15 ExceptionOccurred raw_exception_occurred() -> *mut c_void;
    17 ExceptionClear raw_exception_clear();
    19 PushLocalFrame raw_push_local_frame(capacity: c_int) -> c_int;
    20 PopLocalFrame raw_pop_local_frame(result: *mut c_void) -> *mut c_void;
    21 NewGlobalRef raw_new_global_ref(object: *mut c_void) -> *mut c_void;
    22 DeleteGlobalRef raw_delete_global_ref(object: *mut c_void);
    23 DeleteLocalRef raw_delete_local_ref(object: *mut c_void);
    24 IsSameObject raw_is_same_object(a: *mut c_void, b: *mut c_void) -> u8;
    26 EnsureLocalCapacity raw_ensure_local_capacity(count: c_int) -> c_int;
    31 GetObjectClass raw_get_object_class(object: *mut c_void) -> *mut c_void;
    32 IsInstanceOf raw_is_instance_of(object: *mut c_void, class: *mut c_void) -> u8;
    33 GetMethodID raw_get_method_id(class: *mut c_void, name: *const c_char, descriptor: *const c_char) -> *mut c_void;
    36 CallObjectMethodA raw_call_object_method(object: *mut c_void, method: *mut c_void, arguments: *const i64) -> *mut c_void;
    94 GetFieldID raw_get_field_id(class: *mut c_void, name: *const c_char, descriptor: *const c_char) -> *mut c_void;
    95 GetObjectField raw_get_object_field(object: *mut c_void, field: *mut c_void) -> *mut c_void;
    96 GetBooleanField raw_get_boolean_field(object: *mut c_void, field: *mut c_void) -> u8;
    97 GetByteField raw_get_byte_field(object: *mut c_void, field: *mut c_void) -> i8;
    98 GetCharField raw_get_char_field(object: *mut c_void, field: *mut c_void) -> u16;
    99 GetShortField raw_get_short_field(object: *mut c_void, field: *mut c_void) -> i16;
    100 GetIntField raw_get_int_field(object: *mut c_void, field: *mut c_void) -> i32;
    101 GetLongField raw_get_long_field(object: *mut c_void, field: *mut c_void) -> i64;
    102 GetFloatField raw_get_float_field(object: *mut c_void, field: *mut c_void) -> f32;
    103 GetDoubleField raw_get_double_field(object: *mut c_void, field: *mut c_void) -> f64;
    113 GetStaticMethodID raw_get_static_method_id(class: *mut c_void, name: *const c_char, descriptor: *const c_char) -> *mut c_void;
    116 CallStaticObjectMethodA raw_call_static_object_method(class: *mut c_void, method: *mut c_void, arguments: *const i64) -> *mut c_void;
    119 CallStaticBooleanMethodA raw_call_static_boolean_method(class: *mut c_void, method: *mut c_void, arguments: *const i64) -> u8;
    134 CallStaticLongMethodA raw_call_static_long_method(class: *mut c_void, method: *mut c_void, arguments: *const i64) -> i64;
    143 CallStaticVoidMethodA raw_call_static_void_method(class: *mut c_void, method: *mut c_void, arguments: *const i64);
    144 GetStaticFieldID raw_get_static_field_id(class: *mut c_void, name: *const c_char, descriptor: *const c_char) -> *mut c_void;
    145 GetStaticObjectField raw_get_static_object_field(class: *mut c_void, field: *mut c_void) -> *mut c_void;
    164 GetStringLength raw_get_string_length(string: *mut c_void) -> c_int;
    167 NewStringUTF raw_new_string_utf(text: *const c_char) -> *mut c_void;
    168 GetStringUTFLength raw_get_string_utf_length(string: *mut c_void) -> c_int;
    171 GetArrayLength raw_get_array_length(array: *mut c_void) -> c_int;
    172 NewObjectArray raw_new_object_array(length: c_int, class: *mut c_void, initial: *mut c_void) -> *mut c_void;
    173 GetObjectArrayElement raw_get_object_array_element(array: *mut c_void, index: c_int) -> *mut c_void;
    174 SetObjectArrayElement raw_set_object_array_element(array: *mut c_void, index: c_int, value: *mut c_void);
    176 NewByteArray raw_new_byte_array(length: c_int) -> *mut c_void;
    200 GetByteArrayRegion raw_get_byte_array_region(array: *mut c_void, start: c_int, length: c_int, bytes: *mut u8);
    203 GetIntArrayRegion raw_get_int_array_region(array: *mut c_void, start: c_int, length: c_int, values: *mut c_int);
    208 SetByteArrayRegion raw_set_byte_array_region(array: *mut c_void, start: c_int, length: c_int, bytes: *const u8);
    215 RegisterNatives raw_register_natives(class: *mut c_void, methods: *const NativeMethod, count: c_int) -> c_int;
    219 GetJavaVM raw_get_java_vm(vm: *mut *mut c_void) -> c_int;
    221 GetStringUTFRegion raw_get_string_utf_region(string: *mut c_void, start: c_int, length: c_int, buffer: *mut u8);
    226 NewWeakGlobalRef raw_new_weak_global_ref(object: *mut c_void) -> *mut c_void;
    227 DeleteWeakGlobalRef raw_delete_weak_global_ref(object: *mut c_void);
    228 ExceptionCheck raw_exception_check() -> u8;
    229 NewDirectByteBuffer raw_new_direct_byte_buffer(address: *mut c_void, capacity: i64) -> *mut c_void;
    230 GetDirectBufferAddress raw_get_direct_buffer_address(buffer: *mut c_void) -> *mut c_void;
    231 GetDirectBufferCapacity raw_get_direct_buffer_capacity(buffer: *mut c_void) -> i64;
    233 GetModule raw_get_module(class: *mut c_void) -> *mut c_void;
}

/// A JVMTI environment, valid for `'a`.
#[derive(Clone, Copy)]
pub(crate) struct Jvmti<'a> {
    environment: Environment,
    scope: PhantomData<&'a ()>,
}

// SAFETY:
// - An environment is for any thread (JVMTI, "Environments").
// - This one lasts.
unsafe impl Send for Jvmti<'static> {}
// SAFETY: as above.
unsafe impl Sync for Jvmti<'static> {}

/// The JNI environment of the current thread, within the call `'a` from the virtual machine.
#[derive(Clone, Copy)]
pub(crate) struct Jni<'a> {
    environment: Environment,
    scope: PhantomData<(&'a (), *mut ())>,
}

fn checked(error: c_int) -> Result<(), JvmtiError> {
    if error == 0 { Ok(()) } else { Err(JvmtiError(error)) }
}

impl Jvmti<'static> {
    /// A new environment of the virtual machine. It lasts as long as the process.
    ///
    /// # Safety
    /// `vm` is a `JavaVM*`.
    pub(crate) unsafe fn of(vm: *mut c_void) -> Result<Self, JvmtiError> {
        type GetEnv = unsafe extern "system" fn(*mut c_void, *mut Environment, c_int) -> c_int;
        let mut environment: Environment = null_mut();
        // SAFETY: entry 6 of JNIInvokeInterface_ is GetEnv.
        let result = unsafe {
            let function: GetEnv = std::mem::transmute(*(*vm.cast::<*const *const c_void>()).add(6));
            function(vm, &mut environment, JVMTI_VERSION_9)
        };
        if result != 0 || environment.is_null() {
            return Err(JvmtiError(result));
        }
        Ok(Jvmti { environment, scope: PhantomData })
    }

    /// Ends the environment: its tags are forgotten, and its events come no more, but for those that are under way.
    ///
    /// # Safety
    /// Nobody uses it any more.
    pub(crate) unsafe fn dispose(self) {
        // SAFETY: the caller's promise. An error leaves it as it is.
        let _ = unsafe { self.raw_dispose_environment() };
    }
}

impl<'a> Jvmti<'a> {
    /// Whether an event is one of this environment.
    pub(crate) fn is(&self, environment: Environment) -> bool {
        self.environment == environment
    }

    /// The environment that a callback was given.
    ///
    /// # Safety
    /// `environment` is a `jvmtiEnv*`, valid for `'a`.
    pub(crate) unsafe fn new(environment: Environment) -> Self {
        Jvmti { environment, scope: PhantomData }
    }

    /// Sets the functions that events call.
    pub(crate) fn set_callbacks(&self, callbacks: &'static Callbacks) -> Result<(), JvmtiError> {
        // SAFETY: the table is copied.
        checked(unsafe { self.raw_set_event_callbacks(callbacks, size_of::<Callbacks>() as c_int) })
    }

    /// Lets an event come, from every thread.
    pub(crate) fn enable(&self, event: Event) -> Result<(), JvmtiError> {
        self.notify(JVMTI_ENABLE, event as c_int)
    }

    /// Lets an event come no more. What the virtual machine has kept back comes before this returns.
    pub(crate) fn disable(&self, event: Event) -> Result<(), JvmtiError> {
        self.notify(JVMTI_DISABLE, event as c_int)
    }

    fn notify(&self, mode: c_int, event: c_int) -> Result<(), JvmtiError> {
        type Function = unsafe extern "C" fn(Environment, c_int, c_int, *mut c_void, ...) -> c_int;
        // SAFETY:
        // - This entry is a function of this type.
        // - A null thread means all.
        checked(unsafe {
            let function: Function =
                std::mem::transmute(*(*self.environment).add(SET_EVENT_NOTIFICATION_MODE.0));
            function(self.environment, mode, event, null_mut())
        })
    }

    /// Asks for what has to be asked for; all of it or nothing is granted.
    pub(crate) fn add_capabilities(&self, wanted: &[Capability]) -> Result<(), JvmtiError> {
        let mut capabilities = [0u8; 16];
        for &capability in wanted {
            capabilities[capability as usize / 8] |= 1 << (capability as usize % 8);
        }
        // SAFETY: the virtual machine copies the 128 bits.
        checked(unsafe { self.raw_add_capabilities(&capabilities) })
    }

    /// Appends a jar to what the boot loader searches.
    pub(crate) fn add_to_boot_path(&self, jar: &Path) -> Result<(), JvmtiError> {
        let path = c_string(jar.as_os_str().as_encoded_bytes());
        // SAFETY: the path is copied.
        checked(unsafe { self.raw_add_to_bootstrap_class_loader_search(path.as_ptr()) })
    }

    /// A system property, as it stands.
    pub(crate) fn system_property(&self, name: &str) -> Option<String> {
        let name = c_string(name.as_bytes());
        let mut value = null_mut();
        // SAFETY: on success the value is a string that was allocated for us.
        unsafe {
            checked(self.raw_get_system_property(name.as_ptr(), &mut value)).ok()?;
            self.take_string(value)
        }
    }

    /// Memory that the virtual machine frees, with these bytes in it.
    pub(crate) fn allocate(&self, bytes: &[u8]) -> Result<*mut u8, JvmtiError> {
        let mut memory = null_mut();
        // SAFETY: on success the memory is as large as was asked for.
        unsafe {
            checked(self.raw_allocate(bytes.len() as i64, &mut memory))?;
            memory.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        }
        Ok(memory)
    }

    /// Every class that is loaded.
    pub(crate) fn loaded_classes(&self, jni: Jni<'a>) -> Result<Vec<Object<'a>>, JvmtiError> {
        let (mut count, mut classes) = (0, null_mut());
        // SAFETY: on success there are so many local references in memory that was allocated for us.
        let classes = unsafe {
            checked(self.raw_get_loaded_classes(&mut count, &mut classes))?;
            self.take_references(classes, count)
        };
        jni.expect_locals(classes.len());
        Ok(classes)
    }

    /// `Lcom/acme/Foo;`
    pub(crate) fn signature(&self, class: &Object<'a>) -> Option<String> {
        let mut signature = null_mut();
        // SAFETY:
        // - `class` is a class.
        // - On success the signature is a string that was allocated for us.
        unsafe {
            checked(self.raw_get_class_signature(class.reference, &mut signature, null_mut())).ok()?;
            self.take_string(signature)
        }
    }

    /// The defining loader, null for the boot loader.
    pub(crate) fn loader(&self, class: &Object<'a>, _: Jni<'a>) -> Result<Object<'a>, JvmtiError> {
        let mut reference = null_mut();
        // SAFETY:
        // - `class` is a class.
        // - The result is a local reference.
        checked(unsafe { self.raw_get_class_loader(class.reference, &mut reference) })?;
        Ok(Object { reference, scope: PhantomData })
    }

    /// Whether the class may be retransformed.
    pub(crate) fn is_modifiable(&self, class: &Object<'a>) -> bool {
        let mut result = 0;
        // SAFETY: `class` is a class.
        checked(unsafe { self.raw_is_modifiable_class(class.reference, &mut result) }).is_ok() && result != 0
    }

    /// Sends the classes through the load hook again.
    pub(crate) fn retransform(&self, classes: &[Global]) -> Result<(), JvmtiError> {
        let references: Vec<*mut c_void> = classes.iter().map(|class| class.0).collect();
        // SAFETY: all are classes.
        checked(unsafe { self.raw_retransform_classes(references.len() as c_int, references.as_ptr()) })
    }

    /// # Safety
    /// `string` is a C string allocated by the virtual machine for us, or null.
    unsafe fn take_string(&self, string: *mut c_char) -> Option<String> {
        if string.is_null() {
            return None;
        }
        // SAFETY:
        // - See above.
        // - It is copied before it is freed.
        unsafe {
            let text = CStr::from_ptr(string).to_string_lossy().into_owned();
            self.raw_deallocate(string.cast());
            Some(text)
        }
    }
}

impl<'a> Jni<'a> {
    /// The environment that a callback was given.
    ///
    /// # Safety
    /// `environment` is the `JNIEnv*` of this thread, valid for `'a`.
    pub(crate) unsafe fn new(environment: Environment) -> Self {
        Jni { environment, scope: PhantomData }
    }

    /// The environment of the current thread.
    ///
    /// # Safety
    /// `vm` is a `JavaVM*`; the thread is attached to it for `'a`.
    pub(crate) unsafe fn of(vm: *mut c_void) -> Option<Self> {
        const JNI_VERSION_9: c_int = 0x0009_0000;
        type GetEnv = unsafe extern "system" fn(*mut c_void, *mut Environment, c_int) -> c_int;
        let mut environment: Environment = null_mut();
        // SAFETY: entry 6 of JNIInvokeInterface_ is GetEnv.
        let result = unsafe {
            let function: GetEnv = std::mem::transmute(*(*vm.cast::<*const *const c_void>()).add(6));
            function(vm, &mut environment, JNI_VERSION_9)
        };
        (result == 0 && !environment.is_null()).then_some(Jni { environment, scope: PhantomData })
    }

    /// Where the environment is, which tells threads apart.
    pub(crate) fn address(&self) -> usize {
        self.environment as usize
    }

    /// Runs `body` with no exception pending. One that the program has thrown is pending again afterwards, also if `body` panics: it is the
    /// program's, and with it pending hardly any function may be called.
    pub(crate) fn setting_thrown_aside<T>(&self, body: impl FnOnce() -> T) -> T {
        struct Aside<'j>(&'j Jni<'j>, *mut c_void);
        impl Drop for Aside<'_> {
            fn drop(&mut self) {
                let Aside(jni, thrown) = *self;
                if thrown.is_null() {
                    return;
                }
                // SAFETY:
                // - `thrown` is a local reference to a Throwable, of this thread and this call.
                // - Nothing else is pending: what `body` has called drops what it throws.
                // - The reference is not used after it was deleted, which is allowed with an exception pending.
                unsafe {
                    jni.raw_throw(thrown);
                    jni.raw_delete_local_ref(thrown);
                }
            }
        }
        // SAFETY: ExceptionCheck, ExceptionOccurred and ExceptionClear may be called whether an exception is pending or not.
        let thrown = unsafe {
            match self.raw_exception_check() {
                0 => null_mut(),
                _ => {
                    let thrown = self.raw_exception_occurred();
                    self.raw_exception_clear();
                    thrown
                }
            }
        };
        let _aside = Aside(self, thrown);
        body()
    }

    /// A string as Modified UTF-8.
    pub(crate) fn text(&self, string: &Object<'_>) -> Vec<u8> {
        if string.is_null() {
            return Vec::new();
        }
        // SAFETY:
        // - `string` is a string.
        // - The buffer takes the bytes and a zero that may follow.
        unsafe {
            let (bytes, characters) = (
                self.raw_get_string_utf_length(string.reference),
                self.raw_get_string_length(string.reference),
            );
            let mut text = vec![0; bytes.max(0) as usize + 1];
            self.raw_get_string_utf_region(string.reference, 0, characters, text.as_mut_ptr());
            text.pop();
            text
        }
    }

    /// The memory of a direct buffer, as words.
    ///
    /// # Safety
    /// Nobody gives the memory back before the process ends.
    pub(crate) unsafe fn words(&self, buffer: &Object<'_>) -> Option<&'static [AtomicU64]> {
        // SAFETY:
        // - `buffer` is a buffer or null.
        // - Both functions say if it is not direct.
        let (address, bytes) = unsafe {
            if buffer.is_null() {
                return None;
            }
            (
                self.raw_get_direct_buffer_address(buffer.reference).cast::<AtomicU64>(),
                self.raw_get_direct_buffer_capacity(buffer.reference),
            )
        };
        if address.is_null() || !address.is_aligned() || bytes < 8 {
            return None;
        }
        // SAFETY:
        // - So many bytes are there for good.
        // - Whoever else writes to them does it a word at a time.
        Some(unsafe { std::slice::from_raw_parts(address, bytes as usize / 8) })
    }

    /// Whether a call has thrown; what it has thrown is dropped.
    fn failed(&self) -> bool {
        // SAFETY: both may be called at any time.
        unsafe {
            let failed = self.raw_exception_check() != 0;
            if failed {
                self.raw_exception_clear();
            }
            failed
        }
    }
}

/// Up to the first zero, if there is one inside.
fn c_string(bytes: &[u8]) -> CString {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).unwrap_or_default()
}
