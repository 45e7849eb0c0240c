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
//! What is stored is in local variables behind the method's own. The call itself is made as before: whom it lets in depends on its caller.

use super::operands::parameters;
use super::{MethodSite, Transform, Transforms};
use crate::class_file::ConstantPool;
use crate::class_file::constant_pool::MemberRef;
use crate::class_file::opcode::{
    ALOAD, ASTORE, DLOAD, DSTORE, DUP, DUP_X2, DUP2, DUP2_X1, FLOAD, FSTORE, ILOAD, INVOKEVIRTUAL, ISTORE,
    LLOAD, LSTORE, POP, POP2,
};
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
    Any(Vec<Argument>),
}

/// How an argument is stored and loaded, and its slots.
type Argument = (u8, u8, u16);

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
        _ => Operands::Any(arguments(parameters(method)?)?),
    })
}

/// Those of the parameters of a descriptor.
fn arguments(mut parameters: &[u8]) -> Option<Vec<Argument>> {
    let mut arguments = Vec::new();
    while let Some(&first) = parameters.first() {
        let dimensions = parameters.iter().take_while(|&&byte| byte == b'[').count();
        let length = match parameters.get(dimensions)? {
            b'L' => parameters.iter().position(|&byte| byte == b';')? + 1,
            _ => dimensions + 1,
        };
        parameters = &parameters[length..];
        arguments.push(match first {
            b'L' | b'[' => (ASTORE, ALOAD, 1),
            b'J' => (LSTORE, LLOAD, 2),
            b'D' => (DSTORE, DLOAD, 2),
            b'F' => (FSTORE, FLOAD, 1),
            _ => (ISTORE, ILOAD, 1),
        });
    }
    Some(arguments)
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
            let arguments = match operands {
                Operands::Objects(count) => {
                    let (before, behind, stack): (&[u8], &[u8], u16) = match count {
                        0 => (&[DUP], &[], 1),
                        1 => (&[DUP2, POP], &[], 2),
                        _ => (&[DUP2_X1, POP2, DUP], &[DUP_X2, POP], 2),
                    };
                    let hook = site.call(Hook::Reflecting, Snippet::default().with(before))?;
                    edits.insert(pc, Place::Before, hook.with(behind));
                    edits.need_stack(stack);
                    continue;
                }
                Operands::Any(arguments) => arguments,
            };
            let first = site.code.max_locals.checked_add(edits.counter_slots()).ok_or(Reason::MaxLocals)?;
            let mut slots = 0;
            let mut moves = Vec::new();
            for (store, load, size) in arguments {
                let local = first.checked_add(slots).ok_or(Reason::MaxLocals)?;
                let (store, load) =
                    (Snippet::default().with_local(store, local), Snippet::default().with_local(load, local));
                moves.push((store, load));
                slots += size;
            }
            first.checked_add(slots).ok_or(Reason::MaxLocals)?;
            edits.need_locals(slots);
            moves.iter().rev().for_each(|(store, _)| edits.insert(pc, Place::Before, *store));
            let hook = site.call(Hook::Reflecting, Snippet::default().with(&[DUP]))?;
            edits.insert(pc, Place::Before, hook);
            moves.iter().for_each(|(_, load)| edits.insert(pc, Place::Before, *load));
            edits.need_stack(1);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_stored_by_their_types() {
        let object = (ASTORE, ALOAD, 1);
        let expected = [object, (LSTORE, LLOAD, 2), object, (FSTORE, FLOAD, 1), (DSTORE, DLOAD, 2), object];
        assert_eq!(arguments(b"La/B;J[[IFD[La/B;").unwrap(), expected);
        assert_eq!(arguments(b"ZBCSI").unwrap(), [(ISTORE, ILOAD, 1); 5]);
        assert_eq!(arguments(b"[").or(arguments(b"La/B")), None);
    }
}
