//! Operands of a call that lie above the one that a hook takes.

use crate::class_file::constant_pool::MemberRef;
use crate::class_file::opcode::{ALOAD, ASTORE, ILOAD, ISTORE};
use crate::code::edits::{Edits, Place, Snippet};

/// Operands of one slot each: how many, and which of them are ints, the lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Above {
    pub(super) count: u16,
    pub(super) ints: u16,
}

impl Above {
    /// Those of the parameters of a descriptor; none: there are too many of them, or one has two slots.
    pub(super) fn of(mut parameters: &[u8]) -> Option<Self> {
        let mut above = Self::default();
        while let Some((&first, rest)) = parameters.split_first() {
            let is_object = matches!(first, b'L' | b'[');
            if matches!(first, b'J' | b'D') || above.count == 8 {
                return None;
            }
            let dimensions = parameters.iter().take_while(|&&byte| byte == b'[').count();
            let name = &parameters[dimensions..];
            parameters = match name.first()? {
                b'L' => &name[name.iter().position(|&byte| byte == b';')? + 1..],
                _ if is_object => &name[1..],
                _ => rest,
            };
            above.ints |= u16::from(!is_object) << above.count;
            above.count += 1;
        }
        Some(above)
    }

    /// Their instructions and local variables, from `first` on.
    fn moves(self, object: u8, int: u8, first: u16) -> impl DoubleEndedIterator<Item = Snippet> {
        (0..self.count).map(move |number| {
            let is_int = self.ints >> number & 1 != 0;
            Snippet::default().with_local(if is_int { int } else { object }, first + number)
        })
    }

    /// Puts them into local variables from `first` on.
    pub(super) fn store(self, pc: u32, first: u16, edits: &mut Edits) {
        self.moves(ASTORE, ISTORE, first).rev().for_each(|store| edits.insert(pc, Place::Before, store));
    }

    /// Takes them back.
    pub(super) fn load(self, pc: u32, first: u16, edits: &mut Edits) {
        self.moves(ALOAD, ILOAD, first).for_each(|load| edits.insert(pc, Place::Before, load));
    }
}

/// What stands in the parentheses of its descriptor.
pub(super) fn parameters<'a>(method: &MemberRef<'a>) -> Option<&'a [u8]> {
    let inside = method.descriptor.strip_prefix(b"(")?;
    Some(&inside[..inside.iter().position(|&byte| byte == b')')?])
}
