//! `parks`: who waits for a lock of `java.util.concurrent`, and for what. For `java.util.concurrent.locks.LockSupport`
//! alone.
//!
//! | where | code |
//! |---|---|
//! | first instruction of a `park` method with a blocker | `aload_0`; `Parks.parking` |
//! | in front of every return of it | `Parks.parked` |
//!
//! `LockSupport` throws nothing from there: a wait whose end does not come ends with the next one of the thread.

use super::{MethodSite, Transform};
use crate::class_file::opcode;
use crate::code::Reason;
use crate::code::edits::{Edits, Place, Snippet};
use crate::code::hooks::Hook;

/// The class that the transform is for.
pub const LOCK_SUPPORT: &[u8] = b"java/util/concurrent/locks/LockSupport";

/// The transform; it has no options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parks;

impl Transform for Parks {
    fn concerns(&self, site: &MethodSite<'_>) -> bool {
        site.request.transforms.parks
            && site.class == LOCK_SUPPORT
            && site.name.starts_with(b"park")
            && site.descriptor.starts_with(b"(Ljava/lang/Object;")
    }

    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
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
