//! What the heap profiler knows of objects, where it gives each of them a number (`heap=objects`).

use super::{MethodName, Tracked};
use crate::classes::load_hook::LoadHook;
use crate::heap;
use crate::jvmti::{Jni, Jvmti, StaticMethod, Value};

/// The heap profiler's objects and contexts.
pub(crate) struct ObjectLifetimes<'h> {
    numbers: heap::Numbers,
    hook: &'h LoadHook,
    chain: StaticMethod,
}

impl<'h> ObjectLifetimes<'h> {
    /// None: objects have no numbers.
    pub(crate) fn of(hook: &'h LoadHook, jni: Jni<'_>) -> Option<Self> {
        let numbers = heap::Numbers::of_objects()?;
        let chain = jni.static_method("instrument/runtime/Contexts", "chain", "(I)[I")?;
        Some(ObjectLifetimes { numbers, hook, chain })
    }
}

impl Tracked for ObjectLifetimes<'_> {
    fn environment(&self) -> Jvmti<'static> {
        self.numbers.jvmti
    }

    fn context_of(&self, object: u64) -> u32 {
        i64::try_from(object).ok().and_then(heap::object).map_or(0, |(_, _, context)| context)
    }

    fn chain(&self, jni: Jni<'_>, context: u32) -> Vec<u32> {
        /// Id + 1 of what is deeper than what was recorded.
        const DEEPER: i32 = i32::MAX;
        let chain = jni.call_for_ints(&self.chain, &[Value::Int(context as i32)]).unwrap_or_default();
        chain.into_iter().filter(|id| *id != DEEPER).map(|id| id as u32 - 1).collect()
    }

    fn method(&self, id: u32) -> Option<MethodName> {
        self.hook.method(id, |entry| MethodName {
            class: entry.class.to_vec(),
            name: entry.method.name.to_vec(),
            descriptor: entry.method.descriptor.to_vec(),
            source: entry.source.map(<[u8]>::to_vec),
            line: i32::try_from(entry.method.line).ok().filter(|line| *line > 0),
        })
    }
}
