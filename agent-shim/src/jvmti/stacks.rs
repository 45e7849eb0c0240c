//! What is on the stacks of threads (JVMTI, "Stack Frame").

use super::{Jni, Jvmti, JvmtiError, MethodId, Object, checked};
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ptr::null_mut;

/// `jvmtiFrameInfo`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawFrame {
    method: *mut c_void,
    location: i64,
}

/// `jvmtiStackInfo`.
#[repr(C)]
pub(super) struct RawStack {
    thread: *mut c_void,
    state: c_int,
    frames: *mut RawFrame,
    count: c_int,
}

/// A place in a method.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) method: MethodId,
    /// -1: it is native.
    pub(crate) location: i64,
}

/// What a thread does.
pub(crate) struct Stack<'a> {
    pub(crate) thread: Object<'a>,
    /// Bits of `JVMTI_THREAD_STATE_*`.
    pub(crate) state: u32,
    /// Innermost first.
    pub(crate) frames: Vec<Frame>,
}

impl<'a> Jvmti<'a> {
    /// Every platform thread, with so many of its topmost frames, all at one moment.
    pub(crate) fn all_stacks(&self, most: usize, jni: Jni<'a>) -> Result<Vec<Stack<'a>>, JvmtiError> {
        let (mut stacks, mut count) = (null_mut(), 0);
        let most = c_int::try_from(most).unwrap_or(c_int::MAX);
        // SAFETY: on success there are so many records with a local reference each, and so many frames as each says, in one piece of
        // memory that was allocated for us.
        unsafe {
            checked(self.raw_get_all_stack_traces(most, &mut stacks, &mut count))?;
            let list = match stacks.is_null() {
                true => &[][..],
                false => std::slice::from_raw_parts(stacks, usize::try_from(count).unwrap_or(0)),
            };
            let copy = |stack: &RawStack| {
                let frames = match stack.frames.is_null() {
                    true => &[][..],
                    false => {
                        std::slice::from_raw_parts(stack.frames, usize::try_from(stack.count).unwrap_or(0))
                    }
                };
                Stack {
                    thread: Object { reference: stack.thread, scope: PhantomData },
                    state: stack.state as u32,
                    frames: frames
                        .iter()
                        .map(|frame| Frame { method: MethodId(frame.method), location: frame.location })
                        .collect(),
                }
            };
            let copies: Vec<_> = list.iter().map(copy).collect();
            self.raw_deallocate(stacks.cast());
            jni.expect_locals(copies.len());
            Ok(copies)
        }
    }

    /// The methods on the stack of a thread, innermost first, so many of them at most. None: it has ended.
    pub(crate) fn stack_of(&self, thread: &Object<'_>, most: usize) -> Option<Vec<MethodId>> {
        let (mut frames, mut count) = (vec![RawFrame { method: null_mut(), location: 0 }; most], 0);
        // SAFETY: there is room for as many frames as are asked for.
        let asked = checked(unsafe {
            self.raw_get_stack_trace(thread.reference, 0, most as c_int, frames.as_mut_ptr(), &mut count)
        });
        asked.ok()?;
        frames.truncate(usize::try_from(count).unwrap_or(0));
        Some(frames.into_iter().map(|frame| MethodId(frame.method)).collect())
    }

    /// The method at a place of the current thread's stack, counted from the bottom.
    pub(crate) fn method_at(&self, place: c_int) -> Option<MethodId> {
        let (mut frame, mut count) = (RawFrame { method: null_mut(), location: 0 }, 0);
        let start = place.checked_add(1)?.checked_neg()?;
        // SAFETY:
        // - No thread is the current one.
        // - There is room for the one frame that is asked for.
        checked(unsafe { self.raw_get_stack_trace(null_mut(), start, 1, &mut frame, &mut count) }).ok()?;
        (count == 1).then_some(MethodId(frame.method))
    }

    /// The methods of so many of the topmost frames of the current thread, or of all if there are fewer.
    pub(crate) fn topmost_methods<const MOST: usize>(&self) -> impl Iterator<Item = MethodId> {
        let (mut frames, mut count) = ([RawFrame { method: null_mut(), location: 0 }; MOST], 0);
        // SAFETY:
        // - No thread is the current one.
        // - There is room for as many frames as are asked for.
        let asked = checked(unsafe {
            self.raw_get_stack_trace(null_mut(), 0, MOST as c_int, frames.as_mut_ptr(), &mut count)
        });
        let count = asked.map_or(0, |()| usize::try_from(count).unwrap_or(0).min(MOST));
        frames.into_iter().take(count).map(|frame| MethodId(frame.method))
    }
}
