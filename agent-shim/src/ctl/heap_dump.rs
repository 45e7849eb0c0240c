//! A dump of the heap as it is now: see [`crate::heap_dump`].

use super::server::Asked;
use crate::heap_dump::{self, Garbage, ObjectLifetimes, Tracked};
use instrument_control::answer::HeapDump;
use std::path::Path;

impl Asked<'_> {
    pub(super) fn heap_dump(self, to: &Path) -> Result<HeapDump, String> {
        if !to.is_absolute() || to.file_name().is_none() {
            return Err("a heap dump needs the absolute path of a file".to_owned());
        }
        if to.exists() && !to.is_file() {
            return Err(format!("{}: it is not a file", to.display()));
        }
        let biographies = self.agent.and_then(|agent| ObjectLifetimes::of(&agent.hook, self.jni));
        let tracked = biographies.as_ref().map(|biographies| biographies as &dyn Tracked);
        let dump = heap_dump::write(self.jni, to, Garbage::Collect, tracked)?;
        Ok(HeapDump {
            file: dump.path,
            objects: dump.objects,
            classes: dump.classes,
            bytes: dump.bytes,
            cut: dump.cut,
        })
    }
}
