//! Threads, tags, and who has a monitor.

use super::{Jni, Jvmti, JvmtiError, Object, checked};
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ptr::null_mut;

/// `jvmtiMonitorUsage`.
#[repr(C)]
pub(super) struct MonitorUsage {
    pub(super) owner: *mut c_void,
    pub(super) entry_count: c_int,
    pub(super) waiter_count: c_int,
    pub(super) waiters: *mut *mut c_void,
    pub(super) notify_waiter_count: c_int,
    pub(super) notify_waiters: *mut *mut c_void,
}

impl Default for MonitorUsage {
    fn default() -> Self {
        MonitorUsage {
            owner: null_mut(),
            entry_count: 0,
            waiter_count: 0,
            waiters: null_mut(),
            notify_waiter_count: 0,
            notify_waiters: null_mut(),
        }
    }
}

impl Jni<'_> {
    /// A further environment of the virtual machine, with tags and events of its own. It lasts as long as the process.
    pub(crate) fn new_environment(&self) -> Result<Jvmti<'static>, JvmtiError> {
        let mut vm = null_mut();
        // SAFETY: the result is written to `vm`, which then is a `JavaVM*`.
        unsafe {
            checked(self.raw_get_java_vm(&mut vm))?;
            Jvmti::of(vm)
        }
    }
}

impl<'a> Jni<'a> {
    /// Calls `body` with an environment of its own, whose tags are forgotten afterwards.
    pub(crate) fn in_environment<T>(
        self,
        body: impl for<'e> FnOnce(Jvmti<'e>, Jni<'e>) -> T,
    ) -> Result<T, JvmtiError> {
        struct Environment(Jvmti<'static>);
        impl Drop for Environment {
            fn drop(&mut self) {
                // SAFETY:
                // - It was made below, for this call.
                // - Nobody has a copy of it: what `body` was given is of a lifetime that it cannot know.
                unsafe { self.0.dispose() };
            }
        }
        let own = Environment(self.new_environment()?);
        Ok(body(own.0, self))
    }
}

impl<'a> Jvmti<'a> {
    /// Every platform thread that is alive.
    pub(crate) fn threads(&self, jni: Jni<'a>) -> Result<Vec<Object<'a>>, JvmtiError> {
        let (mut count, mut threads) = (0, null_mut());
        // SAFETY: on success there are so many local references in memory that was allocated for us.
        let threads = unsafe {
            checked(self.raw_get_all_threads(&mut count, &mut threads))?;
            self.take_references(threads, count)
        };
        jni.expect_locals(threads.len());
        Ok(threads)
    }

    /// The thread that has a monitor, if one has. The virtual machine stops all threads to tell.
    pub(crate) fn monitor_owner(
        &self,
        monitor: &Object<'_>,
        jni: Jni<'a>,
    ) -> Result<Option<Object<'a>>, JvmtiError> {
        let mut usage = MonitorUsage::default();
        // SAFETY:
        // - A reference that is not null.
        // - On success both lists are local references in memory that was allocated for us.
        unsafe {
            checked(self.raw_get_object_monitor_usage(monitor.reference, &mut usage))?;
            let waiters = self.take_references(usage.waiters, usage.waiter_count);
            let others = self.take_references(usage.notify_waiters, usage.notify_waiter_count);
            waiters.into_iter().chain(others).for_each(|thread| jni.forget(thread));
        }
        Ok((!usage.owner.is_null()).then_some(Object { reference: usage.owner, scope: PhantomData }))
    }

    /// # Safety
    /// So many local references, valid for `'a`, in memory that was allocated for us; or null.
    pub(super) unsafe fn take_references(&self, list: *mut *mut c_void, count: c_int) -> Vec<Object<'a>> {
        if list.is_null() {
            return Vec::new();
        }
        // SAFETY:
        // - See above.
        // - They are copied before they are freed.
        unsafe {
            let references = std::slice::from_raw_parts(list, usize::try_from(count).unwrap_or(0));
            let objects =
                references.iter().map(|&reference| Object { reference, scope: PhantomData }).collect();
            self.raw_deallocate(list.cast());
            objects
        }
    }
}
