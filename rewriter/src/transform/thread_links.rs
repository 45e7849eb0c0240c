//! `thread-links`: which call started a thread.
//!
//! | where | code |
//! |---|---|
//! | in front of every `invokevirtual`, `invokespecial`, `invokeinterface` of a method `start()V` | `dup`; `ThreadLinks.starting` |
//!
//! Whose `start()` it is cannot be told from the class file: a subclass of Thread may be named, or an interface that one
//! implements. So the runtime looks at the object, and several calls for one thread (`start()` that calls `super.start()`)
//! make one link: the last one's. The receiver is the only value that the call takes, so it is on top of the stack; an
//! uninitialised one cannot be there (JVMS 4.10.1.9: its class type would have to match).

use super::call_sites::Callee;
use super::hooks::Hook;
use super::{MethodSite, Transform};
use crate::class_file::opcode;
use crate::rewrite::SkipReason;
use crate::rewrite::edits::{Edits, Place, Snippet};

/// The transform; it has no options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThreadLinks;

impl Transform for ThreadLinks {
    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), SkipReason> {
        let calls = site.calls;
        for &(pc, _) in calls.iter().filter(|call| call.1 == Callee::Start) {
            let hook = site.call(Hook::Starting, Snippet::default().with(&[opcode::DUP]))?;
            edits.need_stack(1);
            edits.insert(pc, Place::Before, hook);
            edits.sites.starts += 1;
        }
        Ok(())
    }
}
