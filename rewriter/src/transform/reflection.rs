//! `reflection`: what calls by reflection are about to call, so that it can be rewritten before it is called.
//!
//! In front of a call:
//!
//! | call | code |
//! |---|---|
//! | `Method.invoke` | the method to the top of the stack; `dup`; `ReflectedCalls.calling`; back beneath its operands |
//! | `Constructor.newInstance` | `dup2`; `pop`; `ReflectedCalls.calling` |
//! | `Class.newInstance` | `dup`; `ReflectedCalls.calling` |
//! | `MethodHandle.invoke`, `invokeExact`, `invokeWithArguments` | store what is above the handle; `dup`; `ReflectedCalls.calling`; load it |
//!
//! What is stored is in local variables behind the method's own. The call itself is made as before: whom it lets in
//! depends on its caller.

use super::operands::{Above, parameters};
use super::{MethodSite, Transform, Transforms};
use crate::class_file::ConstantPool;
use crate::class_file::constant_pool::MemberRef;
use crate::class_file::opcode::{DUP, DUP_X2, DUP2, DUP2_X1, INVOKEVIRTUAL, POP, POP2};
use crate::code::Reason;
use crate::code::edits::{Edits, Place, Snippet};
use crate::code::hooks::Hook;

/// The transform; it has no options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reflection;

/// What stands on the stack above what names the target.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Operands {
    /// So many objects, at most two.
    Objects(u16),
    /// The arguments of a method handle.
    Any(Above),
}

/// Whether what a call runs is named by data.
fn is_reflective(method: &MemberRef<'_>) -> bool {
    matches!(
        (method.class, method.name),
        (b"java/lang/reflect/Method", b"invoke")
            | (b"java/lang/reflect/Constructor" | b"java/lang/Class", b"newInstance")
            | (b"java/lang/invoke/MethodHandle", b"invoke" | b"invokeExact" | b"invokeWithArguments")
    )
}

fn operands_of(method: &MemberRef<'_>) -> Option<Operands> {
    if !is_reflective(method) {
        return None;
    }
    Some(match method.class {
        b"java/lang/Class" => Operands::Objects(0),
        b"java/lang/reflect/Constructor" => Operands::Objects(1),
        b"java/lang/reflect/Method" => Operands::Objects(2),
        _ => Operands::Any(Above::of(parameters(method)?)?),
    })
}

impl Transform for Reflection {
    fn concerns(&self, site: &MethodSite<'_>) -> bool {
        site.request.transforms.reflection && !site.calls_of(operands_of).is_empty()
    }

    fn looks_for_calls(&self, of: &Transforms, _: &ConstantPool<'_>) -> bool {
        of.reflection
    }

    fn finds(&self, method: &MemberRef<'_>, _: &Transforms) -> Option<&'static [u8]> {
        is_reflective(method).then_some(&[INVOKEVIRTUAL])
    }

    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
        for (pc, operands) in site.calls_of(operands_of) {
            let count = match operands {
                Operands::Objects(count) => count,
                Operands::Any(above) => {
                    let free =
                        site.code.max_locals.checked_add(edits.counter_slots()).ok_or(Reason::MaxLocals)?;
                    edits.need_locals(above.slots(free)?);
                    above.store(pc, free, edits);
                    let hook = site.call(Hook::Reflecting, Snippet::default().with(&[DUP]))?;
                    edits.insert(pc, Place::Before, hook);
                    above.load(pc, free, edits);
                    edits.need_stack(1);
                    continue;
                }
            };
            let (before, behind, stack): (&[u8], &[u8], u16) = match count {
                0 => (&[DUP], &[], 1),
                1 => (&[DUP2, POP], &[], 2),
                _ => (&[DUP2_X1, POP2, DUP], &[DUP_X2, POP], 2),
            };
            let hook = site.call(Hook::Reflecting, Snippet::default().with(before))?;
            edits.insert(pc, Place::Before, hook.with(behind));
            edits.need_stack(stack);
        }
        Ok(())
    }
}
