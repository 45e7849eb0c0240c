//! The dump that is made when the program ends.
//!
//! HotSpot stops the threads of concurrent collectors before it tells agents of its end, and whoever asks such a collector for a
//! collection then waits for ever. Nothing tells which collector there is, but the names of its threads, while they run.

use super::{Garbage, ObjectLifetimes, Tracked, write};
use crate::classes::load_hook::LoadHook;
use crate::jvmti::Jni;
use crate::talk::say;
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Beginnings of the names of the threads that wait for requests: ZGC (also as Java 21 keeps the old one), Shenandoah, CMS.
const DRIVERS: [&str; 4] = ["ZDriver", "XDriver", "Shenandoah", "CMS Main"];

/// A dump to be made at the end.
#[derive(Debug)]
pub(crate) struct AtEnd {
    path: PathBuf,
    garbage: OnceLock<Garbage>,
}

impl AtEnd {
    pub(crate) fn new(path: PathBuf) -> AtEnd {
        AtEnd { path, garbage: OnceLock::new() }
    }

    /// The virtual machine runs.
    pub(crate) fn begin(&self) {
        self.garbage.get_or_init(|| if can_collect_at_end() { Garbage::Collect } else { Garbage::Leave });
    }

    /// It is about to end: writes the dump, and says how that went.
    pub(crate) fn write(&self, jni: Jni<'_>, hook: &LoadHook) {
        let garbage = self.garbage.get().copied().unwrap_or(Garbage::Leave);
        let biographies = ObjectLifetimes::of(hook, jni);
        let tracked = biographies.as_ref().map(|biographies| biographies as &dyn Tracked);
        match write(jni, &self.path, garbage, tracked) {
            Ok(dump) => say(format_args!("{dump}")),
            Err(reason) => say(format_args!("heap-dump={reason}")),
        }
    }
}

/// Whether a collection can be asked for to the end.
fn can_collect_at_end() -> bool {
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return false };
    let names = threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("comm")).ok());
    !names.into_iter().any(|name| DRIVERS.iter().any(|driver| name.starts_with(driver)))
}
