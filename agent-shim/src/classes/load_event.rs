//! The bytes of a class in the event `ClassFileLoadHook`, and the new ones that the virtual machine gets.

use crate::classes::in_hook::INSIDE;
use crate::classes::load_hook;
use crate::jvmti::{Jni, Jvmti, Object};
use crate::talk::contained;
use std::ffi::{CStr, c_char, c_int, c_void};

/// What `ClassFileLoadHook` is called with, but for what nobody asks.
pub(crate) struct Loading {
    pub(crate) jvmti: *mut *const *const c_void,
    /// Null, before the virtual machine runs code.
    pub(crate) jni: *mut *const *const c_void,
    pub(crate) loader: *mut c_void,
    pub(crate) name: *const c_char,
    pub(crate) length: c_int,
    pub(crate) data: *const u8,
    pub(crate) new_length: *mut c_int,
    pub(crate) new_data: *mut *mut u8,
}

impl Loading {
    /// Gives loader, name and bytes of the class to `change`, and what comes back, if it is something, to the virtual machine; whether it was
    /// something. Not if this thread is inside already.
    ///
    /// # Safety
    /// All are what the virtual machine has passed to the event's function, which has not returned yet.
    pub(crate) unsafe fn offer(
        self,
        change: impl FnOnce(Jvmti<'_>, Jni<'_>, &Object<'_>, &[u8], &[u8]) -> Option<Vec<u8>>,
    ) -> bool {
        if self.data.is_null() || self.length <= 0 || INSIDE.replace(true) {
            return false;
        }
        // SAFETY:
        // - `data` points to `length` bytes, which nobody changes during this call.
        // - `jvmti` and `jni` are the environments of this call and this thread; JNI is used only once the virtual machine has it.
        // - `loader` is a local reference of this call, or null.
        let (jvmti, env, loader, class) = unsafe {
            let class = std::slice::from_raw_parts(self.data, self.length as usize);
            (Jvmti::new(self.jvmti), Jni::new(self.jni), Object::new(self.loader), class)
        };
        let name = if self.name.is_null() {
            // Whoever defines the class did not say: it is in the class itself.
            contained("a class", || load_hook::name_of(class)).flatten().unwrap_or_default()
        } else {
            // SAFETY: a C string.
            unsafe { CStr::from_ptr(self.name) }.to_bytes()
        };
        let change = || {
            let out = change(jvmti, env, &loader, name, class)?;
            Some((jvmti.allocate(&out).ok()?, c_int::try_from(out.len()).ok()?))
        };
        let contained = || contained(&String::from_utf8_lossy(name), change);
        let changed = if self.jni.is_null() { contained() } else { env.setting_thrown_aside(contained) };
        let changed = changed.flatten();
        if let Some((bytes, length)) = changed {
            // SAFETY:
            // - Both point to places that the virtual machine lets be written to during this call.
            // - `bytes` came from Allocate, so that the virtual machine can free it.
            unsafe {
                *self.new_data = bytes;
                *self.new_length = length;
            }
        }
        INSIDE.set(false);
        changed.is_some()
    }
}
