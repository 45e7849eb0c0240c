//! One pass over a code array that notes what a rewriter must know of it.

use super::Reason;
use crate::class_file::instruction::{length_at, u2};
use crate::class_file::opcode::{self, Class, INFO, Info};

const START: u8 = 1;
const UNREACHED_START: u8 = 2;

/// Somebody who goes along while code is decoded. Told is what is at hand: instruction by instruction, each with `at` first.
pub(crate) trait Follow {
    /// The next instruction begins at `pc`.
    fn at(&mut self, pc: usize);

    /// It takes and puts so many slots, and control goes on behind it.
    fn moves(&mut self, pops: u8, pushes: u8);

    /// It names a constant.
    fn constant(&mut self, index: u16);

    /// It accesses a field or calls a method.
    fn member(&mut self, opcode: u8, index: u16);

    /// It is a branch, a switch, an end of the method, `ret`, or `wide`, and takes so many bytes.
    fn jumps(&mut self, code: &[u8], pc: usize, length: usize, info: Info);
}

/// Nobody.
impl Follow for () {
    fn at(&mut self, _: usize) {}
    fn moves(&mut self, _: u8, _: u8) {}
    fn constant(&mut self, _: u16) {}
    fn member(&mut self, _: u8, _: u16) {}
    fn jumps(&mut self, _: &[u8], _: usize, _: usize, _: Info) {}
}

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
    fn clear(&mut self, length: usize) {
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
        self.marks.resize(length + 1, 0);
    }

    /// Decodes `code`.
    ///
    /// # Errors
    /// [`Reason::BadCode`] if it cannot be decoded.
    pub(crate) fn decode(&mut self, code: &[u8]) -> Result<(), Reason> {
        self.decode_with(code, ()).0
    }

    /// Decodes `code`, and so does `follower`, which is told of all instructions in front of one that cannot be decoded.
    #[inline]
    pub(crate) fn decode_with<F: Follow>(&mut self, code: &[u8], mut follower: F) -> (Result<(), Reason>, F) {
        self.clear(code.len());
        let mut marks = std::mem::take(&mut self.marks);
        let mut pc = 0;
        let mut reached = START;
        let decoded = loop {
            let Some(&op) = code.get(pc) else { break pc == code.len() && pc != 0 };
            marks[pc] = reached;
            reached = START;
            let info = INFO[usize::from(op)];
            // The lengths are constants: a processor decodes the next instruction before it has looked at the table for this one.
            let length = match info.class {
                Class::Plain1 => 1,
                Class::Plain2 => 2,
                Class::Plain3 => 3,
                Class::Member | Class::InvokeSpecial => {
                    let Some(&[_, a, b]) = code[pc..].first_chunk() else { break false };
                    if info.class == Class::InvokeSpecial {
                        self.invoke_specials.push(pc as u32);
                    }
                    follower.at(pc);
                    follower.member(op, u16::from_be_bytes([a, b]));
                    pc += 3;
                    continue;
                }
                Class::LongMember => {
                    let Some(&[_, a, b, _, _]) = code[pc..].first_chunk() else { break false };
                    follower.at(pc);
                    follower.member(op, u16::from_be_bytes([a, b]));
                    pc += 5;
                    continue;
                }
                _ => {
                    let Ok(length) = length_at(code, pc) else { break false };
                    follower.at(pc);
                    if self.note(&code[pc..pc + length], code, pc, info, &mut follower) {
                        reached = UNREACHED_START;
                    }
                    pc += length;
                    continue;
                }
            };
            if code.len() - pc < length {
                break false;
            }
            follower.at(pc);
            follower.moves(info.pops, info.pushes);
            pc += length;
        };
        if decoded {
            marks[pc] = reached;
        }
        self.marks = marks;
        (if decoded { Ok(()) } else { Err(Reason::BadCode) }, follower)
    }

    /// Notes an instruction of one of the rarer classes; whether control never goes on behind it.
    #[inline(always)]
    fn note(&mut self, bytes: &[u8], code: &[u8], pc: usize, info: Info, follower: &mut impl Follow) -> bool {
        let here = pc as u32;
        let list = match info.class {
            Class::New => Some(&mut self.news),
            Class::NewArray | Class::ANewArray | Class::MultiANewArray => Some(&mut self.array_creations),
            Class::Branch => Some(&mut self.branches),
            Class::Return => Some(&mut self.returns),
            Class::Switch => Some(&mut self.switches),
            _ => None,
        };
        list.into_iter().for_each(|list| list.push(here));
        match info.class {
            Class::Constant1 => follower.constant(u16::from(bytes[1])),
            Class::Constant2 | Class::New | Class::ANewArray | Class::MultiANewArray => {
                follower.constant(u2(bytes, 1));
            }
            Class::NewArray => {}
            _ => {
                let executed = if info.class == Class::Wide { bytes[1] } else { bytes[0] };
                self.subroutines |= matches!(executed, opcode::JSR | opcode::JSR_W | opcode::RET);
                follower.jumps(code, pc, bytes.len(), info);
                return opcode::is_end_of_flow(executed);
            }
        }
        match info.class {
            Class::MultiANewArray => follower.moves(bytes[3], 1),
            _ => follower.moves(info.pops, info.pushes),
        }
        false
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
    use super::{CodeScan, Follow, Info, opcode};
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

    /// What a follower was told.
    struct Log(Vec<String>);

    impl Follow for Log {
        fn at(&mut self, pc: usize) {
            self.0.push(format!("{pc}:"));
        }
        fn moves(&mut self, pops: u8, pushes: u8) {
            self.0.push(format!("{pops}-{pushes}"));
        }
        fn constant(&mut self, index: u16) {
            self.0.push(format!("#{index}"));
        }
        fn member(&mut self, opcode: u8, index: u16) {
            self.0.push(format!("{opcode:x}#{index}"));
        }
        fn jumps(&mut self, _: &[u8], _: usize, length: usize, _: Info) {
            self.0.push(format!("+{length}"));
        }
    }

    #[test]
    fn a_follower_is_told_of_all_that_can_be_decoded() {
        use opcode::*;
        let told = |code: &[u8]| {
            let (decoded, log) = CodeScan::default().decode_with(code, Log(Vec::new()));
            (decoded.is_ok(), log.0.join(" "))
        };
        let of = |ok: bool, text: &str| (ok, text.to_owned());
        assert_eq!(told(&[LDC, 9, LDC2_W, 1, 2, POP]), of(true, "0: #9 0-1 2: #258 0-2 5: 1-0"));
        assert_eq!(told(&[NEW, 0, 7, NEWARRAY, 10, ANEWARRAY, 0, 8]), of(true, "0: #7 0-1 3: 1-1 5: #8 1-1"));
        assert_eq!(told(&[MULTIANEWARRAY, 0, 9, 2]), of(true, "0: #9 2-1"));
        assert_eq!(told(&[INVOKESPECIAL, 0, 7, GETFIELD, 0, 8]), of(true, "0: b7#7 3: b4#8"));
        assert_eq!(told(&[IFEQ, 0, 3, WIDE, RET, 1, 0, ATHROW]), of(true, "0: +3 3: +4 7: +1"));
        assert_eq!(told(&[RETURN, SIPUSH, 1]), of(false, "0: +1"));
        assert_eq!(told(&[NOP, 0xfe, NOP]), of(false, "0: 0-0"));
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
