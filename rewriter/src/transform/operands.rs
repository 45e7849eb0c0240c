//! Operands of a call that lie above the one that a hook takes: they are stored into new local variables, and loaded
//! again.

use super::MethodSite;
use crate::class_file::constant_pool::MemberRef;
use crate::class_file::opcode::{ALOAD, ASTORE, DLOAD, DSTORE, FLOAD, FSTORE, ILOAD, ISTORE, LLOAD, LSTORE};
use crate::code::Reason;
use crate::code::edits::{Edits, Place, Snippet};

/// Operands, the lowest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Above(Vec<Operand>);

/// A computational type (JVMS table 2.11.1-B), as the instructions know it that store and load it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Operand {
    store: u8,
    load: u8,
    slots: u16,
}

const OBJECT: Operand = Operand { store: ASTORE, load: ALOAD, slots: 1 };

impl Above {
    /// So many objects.
    pub(super) fn objects(count: usize) -> Self {
        Self(vec![OBJECT; count])
    }

    /// Those of the parameters of a descriptor; none: they are no parameters.
    pub(super) fn of(mut parameters: &[u8]) -> Option<Self> {
        let mut above = Vec::new();
        while let Some(&first) = parameters.first() {
            let dimensions = parameters.iter().take_while(|&&byte| byte == b'[').count();
            let length = match parameters.get(dimensions)? {
                b'L' => parameters.iter().position(|&byte| byte == b';')? + 1,
                _ => dimensions + 1,
            };
            parameters = &parameters[length..];
            above.push(match first {
                b'L' | b'[' => OBJECT,
                b'J' => Operand { store: LSTORE, load: LLOAD, slots: 2 },
                b'F' => Operand { store: FSTORE, load: FLOAD, slots: 1 },
                b'D' => Operand { store: DSTORE, load: DLOAD, slots: 2 },
                _ => Operand { store: ISTORE, load: ILOAD, slots: 1 },
            });
        }
        Some(Self(above))
    }

    /// All but the lowest one; none: that is no object.
    pub(super) fn behind_object(mut self) -> Option<Self> {
        (self.0.first() == Some(&OBJECT)).then(|| self.0.remove(0))?;
        Some(self)
    }

    /// The local variables that they take from `first` on.
    ///
    /// # Errors
    /// There are not so many.
    pub(super) fn slots(&self, first: u16) -> Result<u16, Reason> {
        let slots: usize = self.0.iter().map(|operand| usize::from(operand.slots)).sum();
        let slots = u16::try_from(slots).map_err(|_| Reason::MaxLocals)?;
        first.checked_add(slots).ok_or(Reason::MaxLocals).map(|_| slots)
    }

    /// Each with its first local variable.
    fn at(&self, first: u16) -> impl DoubleEndedIterator<Item = (Operand, u16)> {
        let mut next = first;
        let places: Vec<_> = (self.0.iter().map(|&operand| {
            next += operand.slots;
            (operand, next - operand.slots)
        }))
        .collect();
        places.into_iter()
    }

    /// Inserts what takes the operand below them in front of a call.
    ///
    /// # Errors
    /// There are not so many local variables.
    pub(super) fn around(
        &self,
        site: &MethodSite<'_>,
        edits: &mut Edits,
        pc: u32,
        snippet: Snippet,
    ) -> Result<(), Reason> {
        // Another transform may hold the first one behind those that are kept across the call.
        let free = site.code.max_locals.checked_add(edits.counter_slots() + 1).ok_or(Reason::MaxLocals)?;
        edits.need_locals(1 + self.slots(free)?);
        self.store(pc, free, edits);
        edits.insert(pc, Place::Before, snippet);
        self.load(pc, free, edits);
        Ok(())
    }

    /// Puts them into local variables from `first` on, which are [there](Self::slots).
    pub(super) fn store(&self, pc: u32, first: u16, edits: &mut Edits) {
        for (operand, local) in self.at(first).rev() {
            edits.insert(pc, Place::Before, Snippet::default().with_local(operand.store, local));
        }
    }

    /// Takes them back.
    pub(super) fn load(&self, pc: u32, first: u16, edits: &mut Edits) {
        for (operand, local) in self.at(first) {
            edits.insert(pc, Place::Before, Snippet::default().with_local(operand.load, local));
        }
    }
}

/// What stands in the parentheses of its descriptor.
pub(super) fn parameters<'a>(method: &MemberRef<'a>) -> Option<&'a [u8]> {
    let inside = method.descriptor.strip_prefix(b"(")?;
    Some(&inside[..inside.iter().position(|&byte| byte == b')')?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_stored_by_their_types() {
        let stores = |parameters: &[u8]| {
            let above = Above::of(parameters)?;
            assert_eq!(above.slots(0), Ok(above.0.iter().map(|operand| operand.slots).sum()));
            Some(above.at(7).map(|(operand, at)| (operand.store, operand.load, at)).collect::<Vec<_>>())
        };
        let object = |at| (ASTORE, ALOAD, at);
        let expected =
            [object(7), (LSTORE, LLOAD, 8), object(10), (FSTORE, FLOAD, 11), (DSTORE, DLOAD, 12), object(14)];
        assert_eq!(stores(b"La/B;J[[IFD[La/B;").unwrap(), expected);
        assert!(stores(b"ZBCSI").unwrap().iter().all(|&(store, load, _)| (store, load) == (ISTORE, ILOAD)));
        assert_eq!(stores(b"[").or(stores(b"La/B")), None);
        assert_eq!(Above::objects(3).behind_object(), Some(Above::objects(2)));
        assert_eq!(Above::default().behind_object().or(Above::of(b"IL;").unwrap().behind_object()), None);
        assert_eq!(Above::objects(2).slots(u16::MAX - 1), Err(Reason::MaxLocals));
    }
}
