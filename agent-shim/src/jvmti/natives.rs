//! Native methods: classes get ours; and the prefix of the names of theirs.

use super::{Environment, Jni, Jvmti, JvmtiError, StaticMethod, c_string, checked};
use std::ffi::{CStr, c_char, c_int, c_void};

/// `JNINativeMethod`: name, descriptor and function.
#[repr(C)]
pub(crate) struct NativeMethod {
    name: *const c_char,
    descriptor: *const c_char,
    function: *const c_void,
}

impl NativeMethod {
    /// # Safety
    /// The function is one that the virtual machine may call for a method with this descriptor.
    pub(crate) const unsafe fn new(
        name: &'static CStr,
        descriptor: &'static CStr,
        function: *const c_void,
    ) -> Self {
        NativeMethod { name: name.as_ptr(), descriptor: descriptor.as_ptr(), function }
    }
}

impl Jvmti<'_> {
    /// A native method whose name begins so is looked up by what follows, if the class has a method of that name which is not native. It
    /// holds as long as the environment lasts.
    pub(crate) fn set_native_method_prefix(&self, prefix: &str) -> Result<(), JvmtiError> {
        let prefix = c_string(prefix.as_bytes());
        // SAFETY: the prefix is copied.
        checked(unsafe { self.raw_set_native_method_prefix(prefix.as_ptr()) })
    }
}

impl Jni<'_> {
    /// Gives `static native long NAME()` of a class that the system loader finds its code. False: there is no such class or method.
    pub(crate) fn register_clock(
        &self,
        class: &str,
        name: &str,
        function: extern "system" fn(Environment, *mut c_void) -> i64,
    ) -> bool {
        // SAFETY: the function is what a static native method with this descriptor has to be.
        unsafe { self.register(class, name, c"()J", function as *const c_void) }
    }

    /// Registers a static native method that takes an object and returns an int.
    pub(crate) fn register_question(
        &self,
        class: &str,
        name: &str,
        function: unsafe extern "system" fn(Environment, *mut c_void, *mut c_void) -> c_int,
    ) -> bool {
        // SAFETY: as above.
        unsafe { self.register(class, name, c"(Ljava/lang/Object;)I", function as *const c_void) }
    }

    /// Registers what a sampler has: `begin(long, long, boolean)`, `pause(boolean)` and `end()`.
    pub(crate) fn register_sampler(
        &self,
        class: &str,
        begin: extern "system" fn(Environment, *mut c_void, i64, i64, i64, u8, u8),
        pause: extern "system" fn(Environment, *mut c_void, u8),
        end: extern "system" fn(Environment, *mut c_void),
    ) -> bool {
        // SAFETY: as above.
        unsafe {
            self.register(class, "begin", c"(JJJZZ)V", begin as *const c_void)
                && self.register(class, "pause", c"(Z)V", pause as *const c_void)
                && self.register(class, "end", c"()V", end as *const c_void)
        }
    }

    /// Registers what the recorder maps by: `map(byte[], long, long, int)`, which returns a buffer of bytes, and `end(long)`.
    pub(crate) fn register_mappings(
        &self,
        class: &str,
        map: unsafe extern "system" fn(Environment, *mut c_void, *mut c_void, i64, i64, c_int) -> *mut c_void,
        end: unsafe extern "system" fn(Environment, *mut c_void, i64),
    ) -> bool {
        // SAFETY: as above.
        unsafe {
            self.register(class, "map", c"([BJJI)Ljava/nio/ByteBuffer;", map as *const c_void)
                && self.register(class, "end", c"(J)V", end as *const c_void)
        }
    }

    /// Registers a static native method that takes an int, a long and two booleans, and returns a boolean.
    pub(crate) fn register_place(
        &self,
        class: &str,
        name: &str,
        function: unsafe extern "system" fn(Environment, *mut c_void, c_int, i64, u8, u8) -> u8,
    ) -> bool {
        // SAFETY: as above.
        unsafe { self.register(class, name, c"(IJZZ)Z", function as *const c_void) }
    }

    /// # Safety
    /// The function is what a static native method with this descriptor has to be.
    unsafe fn register(&self, class: &str, name: &str, descriptor: &CStr, function: *const c_void) -> bool {
        let Some(class) = self.find_class(class) else { return false };
        let name = c_string(name.as_bytes());
        let method = NativeMethod { name: name.as_ptr(), descriptor: descriptor.as_ptr(), function };
        // SAFETY:
        // - Names are C strings, and the function is what is said above.
        // - It lasts: the library is not unloaded.
        let result = unsafe { self.raw_register_natives(class.reference, &method, 1) };
        let failed = self.failed();
        self.forget(class);
        result == 0 && !failed
    }

    /// The class of a static method gets its native methods.
    pub(crate) fn register_natives(&self, of: &StaticMethod, methods: &[NativeMethod]) -> bool {
        // SAFETY:
        // - The table is as long as it says.
        // - Each entry is sound, see `NativeMethod::new`.
        let result =
            unsafe { self.raw_register_natives(of.class.0, methods.as_ptr(), methods.len() as c_int) };
        !self.failed() && result == 0
    }
}
