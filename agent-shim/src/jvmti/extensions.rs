//! Events that only HotSpot has ("Extension Mechanism"), and what is kept of a thread.

use super::{Environment, Jvmti, JvmtiError, checked};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;

/// `jvmtiExtensionEventInfo`.
#[repr(C)]
pub(super) struct RawEvent {
    index: c_int,
    id: *mut c_char,
    description: *mut c_char,
    parameter_count: c_int,
    parameters: *mut RawParameter,
}

/// `jvmtiParamInfo`.
#[repr(C)]
struct RawParameter {
    name: *mut c_char,
    kind: c_int,
    base_type: c_int,
    null_ok: u8,
}

/// What such an event calls, if it has a JNI environment and a thread. The type in the header has `...` in the place of both; where HotSpot runs,
/// pointers are passed alike.
pub(crate) type ExtensionCallback =
    unsafe extern "C" fn(jvmti: Environment, jni: Environment, thread: *mut c_void);

impl Jvmti<'_> {
    /// Lets the event of this name come, whose arguments are a JNI environment and a thread. False: the virtual machine has none.
    pub(crate) fn enable_extension(
        &self,
        name: &CStr,
        callback: ExtensionCallback,
    ) -> Result<bool, JvmtiError> {
        let (mut count, mut events) = (0, null_mut());
        // SAFETY: on success there are so many events in memory that was allocated for us, and so is what they point to.
        let index = unsafe {
            checked(self.raw_get_extension_events(&mut count, &mut events))?;
            let mut index = None;
            for i in 0..count.max(0) as usize {
                let event = &*events.add(i);
                if CStr::from_ptr(event.id) == name {
                    index = Some(event.index);
                }
                self.free(event);
            }
            self.raw_deallocate(events.cast());
            index
        };
        let Some(index) = index else { return Ok(false) };
        // SAFETY: the callback takes what this event passes.
        checked(unsafe { self.raw_set_extension_event_callback(index, callback as *const c_void) })?;
        self.notify(super::JVMTI_ENABLE, index)?;
        Ok(true)
    }

    /// # Safety
    /// What the event points to was allocated by the virtual machine for us.
    unsafe fn free(&self, event: &RawEvent) {
        // SAFETY: see above.
        unsafe {
            for i in 0..event.parameter_count.max(0) as usize {
                self.raw_deallocate((*event.parameters.add(i)).name.cast());
            }
            self.raw_deallocate(event.parameters.cast());
            self.raw_deallocate(event.id.cast());
            self.raw_deallocate(event.description.cast());
        }
    }

    /// What this environment keeps of the current thread, virtual or not; 0: nothing.
    pub(crate) fn kept_of_thread(&self) -> usize {
        let mut data = null_mut();
        // SAFETY: null is the current thread.
        match unsafe { self.raw_get_thread_local_storage(null_mut(), &mut data) } {
            0 => data as usize,
            _ => 0,
        }
    }

    /// Keeps this of the current thread; 0: nothing.
    pub(crate) fn keep_of_thread(&self, data: usize) -> Result<(), JvmtiError> {
        // SAFETY: the virtual machine does not look at the data.
        checked(unsafe { self.raw_set_thread_local_storage(null_mut(), data as *const c_void) })
    }
}
