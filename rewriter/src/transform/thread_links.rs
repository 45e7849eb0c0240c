//! `thread-links`: which call started a thread.
//!
//! | where | code |
//! |---|---|
//! | in front of every `invokevirtual`, `invokespecial`, `invokeinterface` of a method `start()V` | `dup`; `ThreadLinks.starting` |
//!
//! Whose `start()` it is cannot be told from the class file: a subclass of Thread may be named, or an interface that
//! one implements. So the runtime looks at the object, and several calls for one thread (`start()` that calls
//! `super.start()`) make one link: the last one's. The receiver is the only value that the call takes, so it is on top
//! of the stack; an uninitialised one cannot be there (JVMS 4.10.1.9: its class type would have to match).

use super::call_sites::MEMBER;
use super::{MethodSite, Transform, Transforms};
use crate::class_file::constant_pool::MemberRef;
use crate::class_file::well_known::WellKnown;
use crate::class_file::{ConstantPool, opcode};
use crate::code::Reason;
use crate::code::edits::{Edits, Place, Snippet};
use crate::code::hooks::Hook;

/// The transform; it has no options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThreadLinks;

pub(super) fn starts(method: &MemberRef<'_>) -> Option<()> {
    (method.name == b"start" && method.descriptor == b"()V").then_some(())
}

impl Transform for ThreadLinks {
    fn concerns(&self, site: &MethodSite<'_>) -> bool {
        site.request.transforms.thread_links && !site.calls_of(starts).is_empty()
    }

    fn looks_for_calls(&self, of: &Transforms, pool: &ConstantPool<'_>) -> bool {
        of.thread_links && pool.well_known(WellKnown::Start) != 0
    }

    fn finds(&self, method: &MemberRef<'_>, _: &Transforms) -> Option<&'static [u8]> {
        // A static method has no receiver, so it starts nothing.
        starts(method).map(|()| MEMBER)
    }

    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
        for (pc, ()) in site.calls_of(starts) {
            let hook = site.call(Hook::Starting, Snippet::default().with(&[opcode::DUP]))?;
            edits.need_stack(1);
            edits.insert(pc, Place::Before, hook);
            edits.sites.starts += 1;
        }
        Ok(())
    }
}
