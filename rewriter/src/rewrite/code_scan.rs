//! One pass over a code array that notes what a rewriter must know of it.

use super::SkipReason;
use crate::class_file::instruction::length_at;
use crate::class_file::opcode::{self, Class, INFO};

const START: u8 = 1;
const UNREACHED: u8 = 2;

/// What the pass found; a buffer that is used for one method after the other.
#[derive(Debug, Default)]
pub(crate) struct CodeScan {
    /// Per byte of code: START on the first byte of an instruction, with UNREACHED if the instruction in
    /// front of it never continues here. The byte behind the last instruction counts as one.
    marks: Vec<u8>,
    /// Two- and four-byte branches, by pc.
    pub(crate) branches: Vec<u32>,
    /// `tableswitch` and `lookupswitch`.
    pub(crate) switches: Vec<u32>,
    /// xRETURN.
    pub(crate) returns: Vec<u32>,
    /// `newarray`, `anewarray`, `multianewarray`.
    pub(crate) array_creations: Vec<u32>,
    /// `new`.
    pub(crate) news: Vec<u32>,
    /// `invokespecial`.
    pub(crate) invoke_specials: Vec<u32>,
    /// Whether `jsr`, `jsr_w` or `ret` occurs.
    pub(crate) subroutines: bool,
}

impl CodeScan {
    /// Decodes `code`.
    ///
    /// # Errors
    /// [`SkipReason::BadCode`] if it cannot be decoded.
    pub(crate) fn decode(&mut self, code: &[u8]) -> Result<(), SkipReason> {
        for list in [
            &mut self.branches,
            &mut self.switches,
            &mut self.returns,
            &mut self.array_creations,
            &mut self.news,
            &mut self.invoke_specials,
        ] {
            list.clear();
        }
        self.subroutines = false;
        self.marks.clear();
        self.marks.resize(code.len() + 1, 0);
        let marks = &mut self.marks[..];
        let mut pc = 0;
        let mut reached = START;
        while pc < code.len() {
            marks[pc] = reached;
            reached = START;
            let op = code[pc];
            let (length, class) = INFO[usize::from(op)];
            let here = pc as u32;
            pc += usize::from(length);
            if class == Class::Plain {
                continue;
            }
            match class {
                Class::Plain => {}
                Class::Branch2 | Class::Branch4 => {
                    self.branches.push(here);
                    if opcode::is_end_of_flow(op) {
                        reached = START | UNREACHED;
                    }
                    self.subroutines |= matches!(op, opcode::JSR | opcode::JSR_W);
                }
                Class::Return => {
                    self.returns.push(here);
                    reached = START | UNREACHED;
                }
                Class::Throw => reached = START | UNREACHED,
                Class::Ret => {
                    self.subroutines = true;
                    reached = START | UNREACHED;
                }
                Class::New => self.news.push(here),
                Class::NewArray => self.array_creations.push(here),
                Class::InvokeSpecial => self.invoke_specials.push(here),
                Class::Switch => {
                    self.switches.push(here);
                    reached = START | UNREACHED;
                    pc += length_at(code, pc).map_err(|_| SkipReason::BadCode)?;
                }
                Class::Wide => {
                    if code.get(pc + 1) == Some(&opcode::RET) {
                        self.subroutines = true;
                        reached = START | UNREACHED;
                    }
                    pc += length_at(code, pc).map_err(|_| SkipReason::BadCode)?;
                }
                Class::Illegal => return Err(SkipReason::BadCode),
            }
        }
        if pc != code.len() || code.is_empty() {
            return Err(SkipReason::BadCode);
        }
        marks[pc] = reached;
        Ok(())
    }

    /// Whether an instruction begins at `pc`, or the code ends there.
    #[inline]
    pub(crate) fn is_boundary(&self, pc: usize) -> bool {
        self.marks.get(pc).is_some_and(|mark| *mark != 0)
    }

    /// Whether an instruction begins at `pc`.
    #[inline]
    pub(crate) fn is_instruction(&self, pc: usize) -> bool {
        self.is_boundary(pc) && pc + 1 < self.marks.len()
    }

    /// Whether the instruction in front of `pc` may continue at `pc`.
    pub(crate) fn falls_into(&self, pc: usize) -> bool {
        pc != 0 && self.marks[pc] & UNREACHED == 0
    }

    /// The boundaries in order, the end of the code included.
    pub(crate) fn boundaries(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.marks.iter().enumerate().filter(|(_, mark)| **mark != 0).map(|(pc, _)| pc)
    }
}
