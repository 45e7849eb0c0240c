//! `parks`: who waits for a lock of `java.util.concurrent`, and for what. For `java.util.concurrent.locks.LockSupport` alone.
//!
//! | where | code |
//! |---|---|
//! | first instruction of a `park` method with a blocker | `aload_0`; `Parks.parking` |
//! | in front of every return of it | `Parks.parked` |
//!
//! `LockSupport` throws nothing from there: a wait whose end does not come ends with the next one of the thread.

use super::hooks::Hook;
use super::{MethodSite, Transform};
use crate::class_file::opcode;
use crate::rewrite::SkipReason;
use crate::rewrite::edits::{Edits, Place, Snippet};

/// The class that the transform is for.
pub const LOCK_SUPPORT: &[u8] = b"java/util/concurrent/locks/LockSupport";

/// The transform; it has no options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parks;

/// Whether the transform has anything to do with a method.
pub(crate) fn concerns(class: &[u8], name: &[u8], descriptor: &[u8]) -> bool {
    class == LOCK_SUPPORT && name.starts_with(b"park") && descriptor.starts_with(b"(Ljava/lang/Object;")
}

impl Transform for Parks {
    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), SkipReason> {
        if !concerns(site.class, site.name, site.descriptor) {
            return Ok(());
        }
        let parking = site.call(Hook::Parking, Snippet::default().with(&[opcode::ALOAD_0]))?;
        edits.need_stack(1);
        edits.insert(0, Place::AfterPrevious, parking);
        let parked = site.call(Hook::Parked, Snippet::default())?;
        for &pc in &site.scan.returns {
            edits.insert(pc, Place::Before, parked);
        }
        Ok(())
    }
}
