//! Threads as Java has them: their names, and where the virtual machine keeps what it knows of them.

use super::threads::About;
use crate::jvmti::{Jni, Jvmti, Object};
use std::collections::HashMap;

/// What a thread is called.
pub(super) fn name_of<'n>(about: &'n About, by_environment: Option<&'n HashMap<usize, String>>) -> &'n str {
    let known = about.name.as_ref().or_else(|| by_environment?.get(&about.jni));
    known.unwrap_or(&about.short_name)
}

/// Where the virtual machine has a thread of Java.
pub(super) fn address(jni: Jni<'_>, thread: &Object<'_>) -> Option<usize> {
    let at = jni.long_field(thread, "java/lang/Thread", "eetop")?;
    usize::try_from(at).ok().filter(|at| *at != 0)
}

/// From there to the thread's JNI environment, which is the same for all.
pub(super) fn distance(jvmti: Jvmti<'_>, jni: Jni<'_>) -> Option<usize> {
    let own = jvmti.current_thread(jni).and_then(|thread| address(jni, &thread))?;
    jni.address().checked_sub(own)
}

/// The names of Java's threads by their JNI environments.
pub(super) fn names_by_environment(jvmti: Jvmti<'_>, jni: Jni<'_>) -> HashMap<usize, String> {
    let Some(distance) = distance(jvmti, jni) else { return HashMap::new() };
    let mut names = HashMap::new();
    for thread in jvmti.threads(jni).unwrap_or_default() {
        if let (Some(at), Ok(info)) = (address(jni, &thread), jvmti.thread_info(&thread, jni)) {
            names.insert(at + distance, info.name);
        }
        jni.forget(thread);
    }
    names
}
