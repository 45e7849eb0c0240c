//! What the virtual machine can tell, what has to be asked for beforehand, and the functions that it calls.

use super::Environment;
use std::ffi::{c_char, c_int, c_void};

/// An enum of numbers, and under a test their names in the header.
macro_rules! numbers {
    ($(#[$doc:meta])* $type:ident $list:ident; $($name:ident = $number:literal $c_name:literal,)*) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(i32)]
        pub(crate) enum $type {
            $($name = $number,)*
        }
        #[cfg(test)]
        pub(super) const $list: &[($type, &str)] = &[$(($type::$name, $c_name)),*];
    };
}

numbers! {
    /// Events (JVMTI, "Event Index").
    Event EVENTS;
    VmInit = 50 "VM_INIT",
    VmDeath = 51 "VM_DEATH",
    ThreadStart = 52 "THREAD_START",
    ThreadEnd = 53 "THREAD_END",
    ClassFileLoadHook = 54 "CLASS_FILE_LOAD_HOOK",
    ClassLoad = 55 "CLASS_LOAD",
    ClassPrepare = 56 "CLASS_PREPARE",
    VmStart = 57 "VM_START",
    CompiledMethodLoad = 68 "COMPILED_METHOD_LOAD",
    CompiledMethodUnload = 69 "COMPILED_METHOD_UNLOAD",
    MonitorWait = 73 "MONITOR_WAIT",
    MonitorWaited = 74 "MONITOR_WAITED",
    MonitorContendedEnter = 75 "MONITOR_CONTENDED_ENTER",
    MonitorContendedEntered = 76 "MONITOR_CONTENDED_ENTERED",
    GarbageCollectionStart = 81 "GARBAGE_COLLECTION_START",
    GarbageCollectionFinish = 82 "GARBAGE_COLLECTION_FINISH",
    ObjectFree = 83 "OBJECT_FREE",
    VmObjectAlloc = 84 "VM_OBJECT_ALLOC",
    SampledObjectAlloc = 86 "SAMPLED_OBJECT_ALLOC",
    // Since 21.
    VirtualThreadEnd = 88 "VIRTUAL_THREAD_END",
}

numbers! {
    /// Bits of `jvmtiCapabilities`.
    Capability CAPABILITIES;
    // Since 21.
    TagObjects = 0 "can_tag_objects",
    GetBytecodes = 3 "can_get_bytecodes",
    GetOwnedMonitorInfo = 5 "can_get_owned_monitor_info",
    GetCurrentContendedMonitor = 6 "can_get_current_contended_monitor",
    GetMonitorInfo = 7 "can_get_monitor_info",
    GetSourceFileName = 11 "can_get_source_file_name",
    GetLineNumbers = 12 "can_get_line_numbers",
    GetThreadCpuTime = 23 "can_get_thread_cpu_time",
    GenerateAllClassHookEvents = 26 "can_generate_all_class_hook_events",
    GenerateCompiledMethodLoadEvents = 27 "can_generate_compiled_method_load_events",
    GenerateMonitorEvents = 28 "can_generate_monitor_events",
    GenerateVmObjectAllocEvents = 29 "can_generate_vm_object_alloc_events",
    GenerateGarbageCollectionEvents = 31 "can_generate_garbage_collection_events",
    GenerateObjectFreeEvents = 32 "can_generate_object_free_events",
    GetConstantPool = 35 "can_get_constant_pool",
    SetNativeMethodPrefix = 36 "can_set_native_method_prefix",
    RetransformClasses = 37 "can_retransform_classes",
    GenerateEarlyVmstart = 41 "can_generate_early_vmstart",
    GenerateEarlyClassHookEvents = 42 "can_generate_early_class_hook_events",
    GenerateSampledObjectAllocEvents = 43 "can_generate_sampled_object_alloc_events",
    SupportVirtualThreads = 44 "can_support_virtual_threads",
}

type ThreadEvent = unsafe extern "system" fn(jvmti: Environment, jni: Environment, thread: *mut c_void);
type MonitorEvent =
    unsafe extern "system" fn(jvmti: Environment, jni: Environment, thread: *mut c_void, object: *mut c_void);
/// `jvmtiEventClassFileLoadHook`.
pub(crate) type ClassFileLoadHook = unsafe extern "system" fn(
    jvmti: Environment,
    jni: Environment,
    redefined: *mut c_void,
    loader: *mut c_void,
    name: *const c_char,
    domain: *mut c_void,
    length: c_int,
    data: *const u8,
    new_length: *mut c_int,
    new_data: *mut *mut u8,
);

/// `jvmtiEventCompiledMethodLoad`.
type CompiledMethodLoad = unsafe extern "system" fn(
    Environment,
    method: *mut c_void,
    size: c_int,
    address: *const c_void,
    map_length: c_int,
    map: *const c_void,
    inlining: *const c_void,
);

type ObjectAllocEvent = unsafe extern "system" fn(
    Environment,
    Environment,
    thread: *mut c_void,
    object: *mut c_void,
    class: *mut c_void,
    size: i64,
);

/// `jvmtiEventCallbacks`, up to the last event in use: the virtual machine is told how long it is.
#[repr(C)]
pub(crate) struct Callbacks {
    pub(crate) vm_init: Option<ThreadEvent>,
    pub(crate) vm_death: Option<unsafe extern "system" fn(Environment, Environment)>,
    pub(crate) thread_start: Option<ThreadEvent>,
    pub(crate) thread_end: Option<ThreadEvent>,
    pub(crate) class_file_load_hook: Option<ClassFileLoadHook>,
    pub(crate) class_load:
        Option<unsafe extern "system" fn(Environment, Environment, thread: *mut c_void, class: *mut c_void)>,
    pub(crate) class_prepare:
        Option<unsafe extern "system" fn(Environment, Environment, thread: *mut c_void, class: *mut c_void)>,
    pub(crate) vm_start: Option<unsafe extern "system" fn(Environment, Environment)>,
    pub(crate) unused_58: [usize; 10],
    pub(crate) compiled_method_load: Option<CompiledMethodLoad>,
    pub(crate) compiled_method_unload:
        Option<unsafe extern "system" fn(Environment, method: *mut c_void, address: *const c_void)>,
    pub(crate) unused_70: [usize; 3],
    pub(crate) monitor_wait: Option<
        unsafe extern "system" fn(Environment, Environment, *mut c_void, object: *mut c_void, timeout: i64),
    >,
    pub(crate) monitor_waited: Option<
        unsafe extern "system" fn(Environment, Environment, *mut c_void, object: *mut c_void, timed_out: u8),
    >,
    pub(crate) monitor_contended_enter: Option<MonitorEvent>,
    pub(crate) monitor_contended_entered: Option<MonitorEvent>,
    pub(crate) unused_77: [usize; 4],
    pub(crate) garbage_collection_start: Option<unsafe extern "system" fn(Environment)>,
    pub(crate) garbage_collection_finish: Option<unsafe extern "system" fn(Environment)>,
    pub(crate) object_free: Option<unsafe extern "system" fn(Environment, tag: i64)>,
    pub(crate) vm_object_alloc: Option<ObjectAllocEvent>,
    pub(crate) unused_85: [usize; 1],
    pub(crate) sampled_object_alloc: Option<ObjectAllocEvent>,
    pub(crate) unused_87: [usize; 1],
    pub(crate) virtual_thread_end: Option<ThreadEvent>,
}

impl Callbacks {
    /// Nobody is called.
    pub(crate) const NONE: Callbacks = Callbacks {
        vm_init: None,
        vm_death: None,
        thread_start: None,
        thread_end: None,
        class_file_load_hook: None,
        class_load: None,
        class_prepare: None,
        vm_start: None,
        unused_58: [0; 10],
        compiled_method_load: None,
        compiled_method_unload: None,
        unused_70: [0; 3],
        monitor_wait: None,
        monitor_waited: None,
        monitor_contended_enter: None,
        monitor_contended_entered: None,
        unused_77: [0; 4],
        garbage_collection_start: None,
        garbage_collection_finish: None,
        object_free: None,
        vm_object_alloc: None,
        unused_85: [0; 1],
        sampled_object_alloc: None,
        unused_87: [0; 1],
        virtual_thread_end: None,
    };
}
