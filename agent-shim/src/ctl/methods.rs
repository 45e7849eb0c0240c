//! What the agent calls of the recorder to answer requests.

use crate::jvmti::{Global, Jni, StaticMethod, Value};

/// The methods of `instrument.runtime.Agent` for requests.
pub(super) struct Methods {
    thread: StaticMethod,
    pub(super) began: StaticMethod,
    pub(super) pause: StaticMethod,
    pub(super) beat: StaticMethod,
    pub(super) status: StaticMethod,
}

impl Methods {
    pub(super) fn find(jni: Jni<'_>) -> Option<Methods> {
        let method = |name, descriptor| jni.static_method("instrument/runtime/Agent", name, descriptor);
        Some(Methods {
            thread: method("thread", "()Ljava/lang/Thread;")?,
            began: method("began", "()V")?,
            pause: method("pause", "(Z)V")?,
            beat: method("beat", "()V")?,
            status: method("status", "()[B")?,
        })
    }

    /// A thread that was not started.
    pub(super) fn thread(&self, jni: Jni<'_>) -> Option<Global> {
        jni.call_for_object(&self.thread)
    }

    /// Pauses or resumes recording.
    pub(super) fn pause(&self, jni: Jni<'_>, on: bool) -> bool {
        jni.call(&self.pause, &[Value::Boolean(on)])
    }
}
