//! `allocation`: every array and every object that the method's own code creates.
//!
//! | after | code |
//! |---|---|
//! | `newarray`, `anewarray`, `multianewarray` | `dup`; `HeapProxy.ArrayAlloc` |
//! | the constructor call of a `new` | `dup`; `HeapProxy.ObjectAlloc` |
//!
//! The second `dup` is right only if the slot beneath the receiver held the same object, which is what
//! [`Flow`](crate::rewrite::uninitialized::Flow) says. Where the program throws the object away, as 8 % of
//! the sites in Scala 2.11's library do, there is no such slot; then the `dup` stands right behind the `new`
//! instead, provided that the code runs straight on from there to the constructor call. What remains is
//! counted as untracked and reported.

use super::hooks::Hook;
use super::{MethodSite, Transform};
use crate::class_file::opcode;
use crate::rewrite::SkipReason;
use crate::rewrite::edits::{Edits, Place, Snippet};
use crate::rewrite::uninitialized::{ConstructorCall, Origin};

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
            let calls: Vec<ConstructorCall> = site.flow()?.constructor_calls.clone();
            let mut thrown_away: Vec<(u32, u32)> = Vec::new();
            for call in calls {
                let Origin::New(new) = call.receiver else { continue };
                let behind = call.pc + 3;
                if call.copy_beneath {
                    let hook = site.call(Hook::ObjectAlloc, dup)?;
                    edits.insert(behind, Place::AfterPrevious, hook);
                    edits.need_stack(1);
                } else if call.straight {
                    let hook = site.call(Hook::ObjectAlloc, Snippet::default())?;
                    edits.insert(new + 3, Place::AfterPrevious, dup);
                    edits.insert(behind, Place::AfterPrevious, hook);
                    thrown_away.push((new, call.pc));
                } else {
                    edits.sites.untracked += 1;
                }
            }
            if !thrown_away.is_empty() {
                // A copy lies under the arguments of each, and one probe's argument may come on top.
                edits.need_stack(deepest_nesting(&mut thrown_away) + 1);
            }
        }
        Ok(())
    }
}

/// How many of the ranges (start, end) lie in each other at most.
fn deepest_nesting(ranges: &mut [(u32, u32)]) -> u16 {
    ranges.sort_unstable();
    let mut open: Vec<u32> = Vec::new();
    let mut deepest = 0;
    for &(start, end) in ranges.iter() {
        open.retain(|&other| other > start);
        open.push(end);
        deepest = deepest.max(open.len());
    }
    deepest as u16
}
