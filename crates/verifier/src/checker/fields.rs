//! `getstatic`, `putstatic`, `getfield`, `putfield` (JVMS 4.10.1.9, 4.10.1.8).

use super::Checker;
use crate::fault::{Check, Problem, Rule};
use crate::hierarchy::key;
use crate::types::Type;
use instrument_rewriter::class_file::instruction::u2;
use instrument_rewriter::class_file::{Tag, opcode};

impl<'a> Checker<'_, 'a, '_> {
    pub(super) fn field(&mut self, pc: usize) -> Check {
        let op = self.code[pc];
        let field = self.constants.member(
            &self.class.pool,
            u2(self.code, pc + 1),
            &[Tag::Fieldref],
            self.universe,
        )?;
        if field.class.is_array() && matches!(op, opcode::GETFIELD | opcode::PUTFIELD) {
            return Err(Problem::new(Rule::Operand, "the class of the field is an array"));
        }
        let frame = &mut self.buffers.frame;
        let object = match op {
            opcode::GETSTATIC => return frame.push_whole(field.result),
            opcode::PUTSTATIC => return frame.pop_whole(field.result, self.universe).map(drop),
            opcode::GETFIELD => frame.pop(field.class, self.universe)?,
            _ => {
                frame.pop_whole(field.result, self.universe)?;
                // Before this() or super(), the fields that the class itself declares may be set.
                if frame.stack.last() == Some(&Type::UNINITIALIZED_THIS)
                    && field.class == self.this.object()
                    && self.declares_field(field.name, field.descriptor)
                {
                    self.buffers.frame.pop_any()?;
                    return Ok(());
                }
                self.buffers.frame.pop(field.class, self.universe)?
            }
        };
        self.protected_field(object, field.class, field.name, field.descriptor)?;
        if op == opcode::GETFIELD { self.buffers.frame.push_whole(field.result) } else { Ok(()) }
    }

    fn declares_field(&mut self, name: &[u8], descriptor: &[u8]) -> bool {
        let key = key(name, descriptor);
        self.universe.class(self.this).is_some_and(|(class, _)| class.field(key).is_some())
    }

    fn protected_field(&mut self, object: Type, class: Type, name: &[u8], descriptor: &[u8]) -> Check {
        let this = self.this.object();
        let Some(id) = class.name().filter(|id| object != this && self.supers.contains(id)) else {
            return Ok(());
        };
        if self.is_protected_elsewhere(id, name, descriptor, false)
            && !self.universe.is_assignable(this, object, true)
        {
            return Err(self.protected(name, object));
        }
        Ok(())
    }

    #[cold]
    pub(super) fn protected(&self, name: &[u8], object: Type) -> Box<Problem> {
        let names = &self.universe.names;
        Problem::new(Rule::ProtectedAccess, instrument_names::mutf8::escape(name))
            .instead(format!("an object of {}", names.words(self.this.object())), names.words(object))
    }
}
