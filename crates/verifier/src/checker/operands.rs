//! The operands of all instructions, reached or not (JVMS 4.9.1), as the verifier by type inference checks them before
//! it begins.

use super::Checker;
use super::instructions::check_switch;
use super::tables::{local_form, new_array};
use crate::constants::kind;
use crate::fault::{Check, Problem, Rule};
use instrument_rewriter::class_file::instruction::{Instruction, Instructions, Switch, i2, i4, u2};
use instrument_rewriter::class_file::{Tag, opcode as op};

impl<'a> Checker<'_, 'a, '_> {
    pub(super) fn operands(&mut self) -> Check {
        for instruction in Instructions::new(self.code) {
            let instruction = instruction
                .map_err(|error| Problem::new(Rule::BadInstruction, error.reason).at(error.pc as u32))?;
            let checked = self.operand(&instruction);
            checked.map_err(|problem| problem.at(instruction.pc as u32))?;
        }
        Ok(())
    }

    fn operand(&mut self, instruction: &Instruction<'_>) -> Check {
        let Instruction { pc, opcode, bytes } = *instruction;
        let pool = &self.class.pool;
        match opcode {
            op::IFEQ..=op::JSR | op::IFNULL | op::IFNONNULL => self.target(pc, i2(bytes, 1)),
            op::GOTO_W | op::JSR_W => self.target(pc, i4(bytes, 1)),
            op::TABLESWITCH | op::LOOKUPSWITCH => {
                let Some(switch) = Switch::at(self.code, pc) else { return Ok(()) };
                check_switch(self.code, pc, switch, self.class.major_version)?;
                switch.offset_words().try_for_each(|word| self.target(pc, i4(self.code, word)))
            }
            op::RET | op::IINC => self.index(usize::from(bytes[1]), false),
            op::WIDE => {
                let is_wide = local_form(bytes[1]).is_some_and(|(form, _)| takes_two(form));
                self.index(usize::from(u2(bytes, 2)), is_wide)
            }
            op::LDC | op::LDC_W => {
                let index = if opcode == op::LDC { u16::from(bytes[1]) } else { u2(bytes, 1) };
                match pool.tag(index) {
                    Some(Tag::Integer | Tag::Float | Tag::String) => Ok(()),
                    Some(Tag::Class) if self.class.major_version >= 49 => Ok(()),
                    _ => Err(kind(pool, index, "Integer, Float, String")),
                }
            }
            op::LDC2_W => match pool.tag(u2(bytes, 1)) {
                Some(Tag::Long | Tag::Double) => Ok(()),
                _ => Err(kind(pool, u2(bytes, 1), "Long, Double")),
            },
            op::GETSTATIC..=op::PUTFIELD => {
                self.constants.member(pool, u2(bytes, 1), &[Tag::Fieldref], self.universe).map(drop)
            }
            op::INVOKEVIRTUAL..=op::INVOKEINTERFACE => self.callee(pc).map(drop),
            op::INVOKEDYNAMIC => {
                Err(Problem::new(Rule::BadInstruction, "invokedynamic is for class files from version 51 on"))
            }
            op::NEW | op::ANEWARRAY | op::CHECKCAST | op::INSTANCEOF | op::MULTIANEWARRAY => {
                let of = self.constants.class(pool, u2(bytes, 1), self.universe)?;
                let dimensions = self.universe.names.dimensions(of);
                let is_legal = match opcode {
                    op::NEW => !of.is_array(),
                    op::ANEWARRAY => dimensions < 255,
                    op::MULTIANEWARRAY => bytes[3] > 0 && dimensions >= usize::from(bytes[3]),
                    _ => true,
                };
                if is_legal {
                    Ok(())
                } else {
                    Err(Problem::new(Rule::Operand, self.universe.names.words(of)))
                }
            }
            op::NEWARRAY if new_array(bytes[1]).is_none() => {
                Err(Problem::new(Rule::Operand, format!("element type {}", bytes[1])))
            }
            _ => match local_form(opcode) {
                Some((form, index)) => {
                    self.index(index.unwrap_or_else(|| usize::from(bytes[1])), takes_two(form))
                }
                None => Ok(()),
            },
        }
    }

    fn target(&self, pc: usize, distance: i32) -> Check {
        let target = pc as i64 + i64::from(distance);
        let mark = usize::try_from(target).ok().and_then(|target| self.buffers.marks.get(target));
        match mark.is_some_and(|mark| mark.is_instruction()) {
            true => Ok(()),
            false => Err(Problem::new(Rule::BranchTarget, format!("{target}"))),
        }
    }

    fn index(&self, index: usize, takes_two: bool) -> Check {
        let max = self.buffers.frame.locals.len();
        match index + usize::from(takes_two) < max {
            true => Ok(()),
            false => {
                Err(Problem::new(Rule::LocalIndex, format!("local variable {index}, max_locals is {max}")))
            }
        }
    }
}

/// Whether a load or store is one of `long` or `double`.
fn takes_two(form: u8) -> bool {
    matches!(form, op::LLOAD | op::DLOAD | op::LSTORE | op::DSTORE)
}
