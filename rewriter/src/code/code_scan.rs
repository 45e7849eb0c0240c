//! One pass over a code array that notes what a rewriter must know of it.

use super::Reason;
use crate::class_file::instruction::length_at;
use crate::class_file::opcode::{self, Class, INFO};

const START: u8 = 1;
const UNREACHED_START: u8 = 2;

/// What the pass found; a buffer that is used for one method after the other.
#[derive(Debug, Default)]
pub(crate) struct CodeScan {
    /// Per byte of code: START on the first byte of an instruction, UNREACHED_START if the instruction in
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
    /// [`Reason::BadCode`] if it cannot be decoded.
    pub(crate) fn decode(&mut self, code: &[u8]) -> Result<(), Reason> {
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
                        reached = UNREACHED_START;
                    }
                    self.subroutines |= matches!(op, opcode::JSR | opcode::JSR_W);
                }
                Class::Return => {
                    self.returns.push(here);
                    reached = UNREACHED_START;
                }
                Class::Throw => reached = UNREACHED_START,
                Class::Ret => {
                    self.subroutines = true;
                    reached = UNREACHED_START;
                }
                Class::New => self.news.push(here),
                Class::NewArray => self.array_creations.push(here),
                Class::InvokeSpecial => self.invoke_specials.push(here),
                Class::Switch => {
                    self.switches.push(here);
                    reached = UNREACHED_START;
                    pc += length_at(code, pc).map_err(|_| Reason::BadCode)?;
                }
                Class::Wide => {
                    if code.get(pc + 1) == Some(&opcode::RET) {
                        self.subroutines = true;
                        reached = UNREACHED_START;
                    }
                    pc += length_at(code, pc).map_err(|_| Reason::BadCode)?;
                }
                Class::Illegal => return Err(Reason::BadCode),
            }
        }
        if pc != code.len() || code.is_empty() {
            return Err(Reason::BadCode);
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
        pc != 0 && self.marks[pc] != UNREACHED_START
    }

    /// The boundaries in order, the end of the code included.
    pub(crate) fn boundaries(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.marks.iter().enumerate().filter(|(_, mark)| **mark != 0).map(|(pc, _)| pc)
    }
}

#[cfg(test)]
mod tests {
    use crate::code::testing::Assembly;

    #[test]
    fn a_scan_notes_what_stands_where_and_what_is_fallen_into() {
        let text = "n: new A; z: newarray 10; s: invokespecial A.m:()V; b: ifeq g; g: goto r; r: return; t: athrow; \
                    w: tableswitch l l; l: lookupswitch m; m: goto_w e; e: ireturn; c: nop";
        let assembly = Assembly::of(text);
        let scan = assembly.scan();
        let labels =
            |pcs: &[u32]| pcs.iter().map(|pc| assembly.label(*pc as usize)).collect::<Vec<_>>().concat();
        assert_eq!(labels(&scan.branches), "bgm");
        assert_eq!((labels(&scan.switches), labels(&scan.returns)), ("wl".to_owned(), "re".to_owned()));
        assert_eq!((labels(&scan.news), labels(&scan.array_creations)), ("n".to_owned(), "z".to_owned()));
        assert_eq!(labels(&scan.invoke_specials), "s");
        assert!(!scan.subroutines);
        let boundaries: Vec<u32> = scan.boundaries().map(|pc| pc as u32).collect();
        assert_eq!(labels(&boundaries), "nzsbgrtwlmecend");
        let fallen: Vec<u32> = boundaries.into_iter().filter(|pc| scan.falls_into(*pc as usize)).collect();
        assert_eq!(labels(&fallen), "zsbgend");
        assert!(scan.is_boundary(assembly.at("end")) && !scan.is_instruction(assembly.at("end")));
        assert!(scan.is_instruction(assembly.at("c")) && !scan.is_boundary(1));
    }

    #[test]
    fn subroutines_are_noted_however_they_are_written() {
        for (text, falls_in) in [
            ("jsr e; e: goto_w f; f: nop", true),
            ("jsr_w e; e: nop; goto e", true),
            ("ret 1; e: goto e", false),
            ("ret 300; e: goto e", false),
        ] {
            let assembly = Assembly::of(text);
            let scan = assembly.scan();
            assert!(scan.subroutines, "{text}");
            assert_eq!(scan.falls_into(assembly.at("e")), falls_in, "{text}");
        }
        let assembly = Assembly::of("astore 300; e: pad 168; goto e");
        let scan = assembly.scan();
        assert!(!scan.subroutines && scan.falls_into(assembly.at("e")));
    }
}
