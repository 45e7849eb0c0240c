//! Calls by reflection: the recorder [asks](begin) before one is made beneath a root, and what it may run is rewritten by then.
//!
//! The thread of the program waits for the next [round](super::rounds), which comes at once. It waits no longer than the program may stand still
//! (`max-pause`), and all threads together a small part of the time: a program that calls thousands of methods so shall not stand still for each.
//! Calls that did not wait are counted: they may be missing.

use super::{Subgraph, lock};
use crate::jvmti::{Environment, Jni, NativeMethod, Object};
use crate::recording::agent::AGENT;
use crate::talk::contained;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

const CLASS: &str = "instrument/runtime/ReflectedCalls";
const REVEAL: &str = "(Ljava/lang/invoke/MethodHandle;)Ljava/lang/invoke/MethodHandleInfo;";

impl Subgraph {
    /// A method is about to be called by reflection: returns when what that may run is rewritten, or cannot be waited for.
    fn follow(&self, class: &[u8], name: &[u8], descriptor: &[u8], longest: Duration) {
        let (is_behind, start) = {
            let mut state = lock(&self.state);
            let classes = state.graph.reflected(class, name, descriptor);
            state.grow();
            (classes.iter().any(|class| state.changed.contains(class)), state.start)
        };
        let Some(start) = start.filter(|_| is_behind) else { return };
        if !self.rounds.wait(|| self.hurry(), start, longest) {
            self.rounds.missed.fetch_add(1, Relaxed);
        }
    }
}

/// From now on the recorder asks; false: it cannot.
pub(super) fn begin(jni: Jni<'_>) -> bool {
    let Some(begin) = jni.static_method(CLASS, "begin", "([B)V") else { return false };
    // SAFETY: each function takes and returns what the descriptor says.
    let natives = unsafe {
        [
            NativeMethod::new(c"follow", c"([B)V", follow as *const c_void),
            NativeMethod::new(c"reveal", c"(Ljava/lang/Object;)Ljava/lang/Object;", reveal as *const c_void),
        ]
    };
    jni.register_natives(&begin, &natives) && jni.call_with_bytes(&begin, &[])
}

/// `static native void follow(byte[] method)`: class, name and descriptor, each on a line.
///
/// # Safety
/// Called by the virtual machine, with an array.
unsafe extern "system" fn follow(jni: Environment, _: *mut c_void, method: *mut c_void) {
    contained("a call by reflection", || {
        // SAFETY: all of what was passed in is valid during this call.
        let (jni, method) = unsafe { (Jni::new(jni), Object::new(method)) };
        let text = jni.bytes(&method)?;
        let mut lines = text.split(|&byte| byte == b'\n');
        let agent = AGENT.get()?;
        agent.hook.subgraph()?.follow(lines.next()?, lines.next()?, lines.next()?, agent.limits.max_pause);
        Some(())
    });
}

/// `static native Object reveal(Object handle)`: the MethodHandleInfo of a method handle; null: it is made of others.
///
/// The lookup that sees all of them stays out of the program's reach.
///
/// # Safety
/// Called by the virtual machine, with a method handle.
unsafe extern "system" fn reveal(jni: Environment, _: *mut c_void, handle: *mut c_void) -> *mut c_void {
    let revealed = contained("a method handle", || {
        // SAFETY: all of what was passed in is valid during this call.
        let (jni, handle) = unsafe { (Jni::new(jni), Object::new(handle)) };
        let class = jni.find_class("java/lang/invoke/MethodHandles$Lookup")?;
        let reveal = jni.method(&class, "revealDirect", REVEAL)?;
        let lookup = jni.static_object(&class, "IMPL_LOOKUP", "Ljava/lang/invoke/MethodHandles$Lookup;")?;
        let info = jni.revealed(&lookup, &reveal, &handle);
        if info.is_none()
            && let Some(subgraph) = AGENT.get().and_then(|agent| agent.hook.subgraph())
        {
            subgraph.rounds.handles.fetch_add(1, Relaxed);
        }
        Some(info?.into_raw())
    });
    revealed.flatten().unwrap_or(null_mut())
}
