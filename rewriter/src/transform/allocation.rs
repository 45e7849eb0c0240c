//! `allocation`: every array and every object that the method's own code creates.
//!
//! | after | code |
//! |---|---|
//! | `newarray`, `anewarray`, `multianewarray` | `dup`; `HeapProxy.ArrayAlloc` |
//! | the constructor call of a `new` | `dup`; `HeapProxy.ObjectAlloc` |
//!
//! The second `dup` is right only if the slot beneath the receiver held the same object, which is what
//! [`Flow`](crate::rewrite::uninitialized::Flow) says. A site whose object is thrown away has no such slot
//! (8 % of the sites in Scala 2.11's library): it is counted as untracked and reported.

use super::hooks::Hook;
use super::{MethodSite, Transform};
use crate::class_file::opcode;
use crate::rewrite::SkipReason;
use crate::rewrite::edits::{Edits, Place, Snippet};
use crate::rewrite::uninitialized::Origin;

/// The transform; it has no options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allocation;

impl Transform for Allocation {
    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), SkipReason> {
        let dup = Snippet::default().with(&[opcode::DUP]);
        if !site.scan.array_creations.is_empty() {
            let hook = site.call(Hook::ArrayAlloc, dup)?;
            edits.need_stack(1);
            for &pc in &site.scan.array_creations {
                let code = site.code.code;
                let length = u32::from(opcode::INFO[usize::from(code[pc as usize])].0);
                edits.insert(pc + length, Place::AfterPrevious, hook);
            }
        }
        if !site.scan.news.is_empty() {
            let sites: Vec<(u32, bool)> = site
                .flow()?
                .constructor_calls
                .iter()
                .filter(|call| matches!(call.receiver, Origin::New(_)))
                .map(|call| (call.pc + 3, call.copy_beneath))
                .collect();
            edits.untracked_sites += sites.iter().filter(|(_, tracked)| !tracked).count() as u32;
            if sites.iter().any(|(_, tracked)| *tracked) {
                let hook = site.call(Hook::ObjectAlloc, dup)?;
                edits.need_stack(1);
                for (pc, _) in sites.iter().filter(|(_, tracked)| *tracked) {
                    edits.insert(*pc, Place::AfterPrevious, hook);
                }
            }
        }
        Ok(())
    }
}
