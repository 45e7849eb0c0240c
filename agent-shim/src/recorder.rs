//! The Java side of the agent: `instrument.runtime.Agent`, which lies on the boot path.

use crate::jvmti::{Jni, StaticMethod};
use std::sync::Mutex;

/// The recorder, once its class can be called.
pub(crate) struct Recorder {
    id_map: StaticMethod,
    /// Pieces of the id map that it did not take: the stack of a thread was full.
    refused: Mutex<Vec<Vec<u8>>>,
}

impl Recorder {
    /// Finds the class, and tells it its settings: lines of KEY=VALUE.
    pub(crate) fn find(jni: Jni<'_>, settings: &str) -> Option<Recorder> {
        const CLASS: &str = "instrument/runtime/Agent";
        let id_map = jni.static_method(CLASS, "idMap", "([B)V")?;
        let configure = jni.static_method(CLASS, "configure", "([B)V")?;
        jni.call_with_bytes(&configure, settings.as_bytes()).then_some(())?;
        Some(Recorder { id_map, refused: Mutex::default() })
    }

    /// Hands a piece of the id map over, and what was refused before.
    pub(crate) fn id_map(&self, jni: Jni<'_>, piece: Vec<u8>) {
        let mut pieces = match self.refused.lock() {
            Ok(mut refused) => std::mem::take(&mut *refused),
            Err(_) => Vec::new(),
        };
        pieces.push(piece);
        pieces.retain(|piece| !jni.call_with_bytes(&self.id_map, piece));
        if !pieces.is_empty()
            && let Ok(mut refused) = self.refused.lock()
        {
            refused.append(&mut pieces);
        }
    }

    /// Writes what is left, before the end.
    pub(crate) fn finish(&self, jni: Jni<'_>) {
        self.id_map(jni, Vec::new());
    }
}
