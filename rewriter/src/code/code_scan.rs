//! One pass over a code array that notes what a rewriter must know of it.

use super::Reason;
use crate::class_file::instruction::length_at;
use crate::class_file::opcode::{self, Class, INFO, Info};

/// In [`CodeScan::marks`].
pub(crate) const START: u8 = 1;
const UNREACHED_START: u8 = 2;

/// Somebody who goes along while code is decoded, instruction by instruction.
pub(crate) trait Follow {
    /// Goes over plain instructions from `pc` on, as far as there is nothing to ask, and marks each place behind one.
    /// Where it stops.
    ///
    /// A loop of its own: the state of both sides has room in the processor's registers then.
    fn plain(&mut self, code: &[u8], pc: usize, marks: &mut [u8]) -> usize;

    /// The instruction at `pc`, where these end, takes and puts as many slots as `info` says, and takes `more`; it
    /// names the constant `index`, if that is not 0. Control goes on behind it.
    fn step(&mut self, pc: usize, info: &Info, more: u8, index: u16);

    /// That at `pc` is a branch, a switch, an end of the method, `ret`, or `wide`, and takes so many bytes.
    fn jumps(&mut self, code: &[u8], pc: usize, length: usize, info: &Info);
}

/// Nobody.
impl Follow for () {
    #[inline(always)]
    fn plain(&mut self, code: &[u8], mut pc: usize, marks: &mut [u8]) -> usize {
        while let Some(op) = code.get(pc) {
            let info = &INFO[usize::from(*op)];
            let behind = pc + usize::from(info.length);
            if info.class != Class::Plain || behind > code.len() {
                break;
            }
            marks[behind] = START;
            pc = behind;
        }
        pc
    }
    #[inline(always)]
    fn step(&mut self, _: usize, _: &Info, _: u8, _: u16) {}
    #[inline(always)]
    fn jumps(&mut self, _: &[u8], _: usize, _: usize, _: &Info) {}
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

    /// Decodes `code`, and so does `follower`, which is told of all instructions in front of one that cannot be
    /// decoded.
    #[inline]
    pub(crate) fn decode_with<F: Follow>(&mut self, code: &[u8], mut follower: F) -> (Result<(), Reason>, F) {
        self.clear(code.len());
        let mut all_marks = std::mem::take(&mut self.marks);
        let marks = &mut all_marks[..=code.len()];
        let mut pc = 0;
        marks[0] = START;
        let decoded = loop {
            pc = follower.plain(code, pc, marks);
            let rest = code.get(pc..).unwrap_or_default();
            let [op, behind @ ..] = rest else { break pc != 0 };
            let info = &INFO[usize::from(*op)];
            let length = match info.length {
                0 => length_at(code, pc).unwrap_or(usize::MAX),
                length => usize::from(length),
            };
            let Some(bytes) = rest.get(..length) else { break false };
            let mut reached = START;
            let executed =
                if info.class == Class::Plain { None } else { self.note(bytes, pc as u32, info.class) };
            if let Some(executed) = executed {
                if opcode::is_end_of_flow(executed) {
                    reached = UNREACHED_START;
                }
                follower.jumps(code, pc, length, info);
            } else {
                let more = if info.class == Class::MultiANewArray { bytes[3] } else { 0 };
                let behind = match *behind {
                    [a, b, ..] => [a, b],
                    [a] => [a, 0],
                    [] => [0, 0],
                };
                follower.step(pc, info, more, info.index(behind));
            }
            pc += length;
            marks[pc] = reached;
        };
        self.marks = all_marks;
        (if decoded { Ok(()) } else { Err(Reason::BadCode) }, follower)
    }

    /// Notes an instruction that is not plain. Its opcode, which is the one that `wide` widens, if control may go
    /// elsewhere, or is not looked at further.
    #[inline(always)]
    fn note(&mut self, bytes: &[u8], pc: u32, class: Class) -> Option<u8> {
        let list = match class {
            Class::InvokeSpecial => &mut self.invoke_specials,
            Class::New => &mut self.news,
            Class::NewArray | Class::ANewArray | Class::MultiANewArray => &mut self.array_creations,
            _ => {
                let executed = if class == Class::Wide { bytes[1] } else { bytes[0] };
                match class {
                    Class::Branch => self.branches.push(pc),
                    Class::Return => self.returns.push(pc),
                    Class::Switch => self.switches.push(pc),
                    _ => {}
                }
                self.subroutines |= matches!(executed, opcode::JSR | opcode::JSR_W | opcode::RET);
                return Some(executed);
            }
        };
        list.push(pc);
        None
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
        fn plain(&mut self, _: &[u8], pc: usize, _: &mut [u8]) -> usize {
            pc
        }
        fn step(&mut self, pc: usize, info: &Info, more: u8, index: u16) {
            let member = if info.member_mask == 0 { "" } else { "m" };
            self.0.push(format!("{pc}: {}-{} {member}#{index}", info.pops + more, info.pushes));
        }
        fn jumps(&mut self, _: &[u8], pc: usize, length: usize, _: &Info) {
            self.0.push(format!("{pc}: +{length}"));
        }
    }

    #[test]
    fn a_follower_is_told_of_all_that_can_be_decoded() {
        use opcode::*;
        let told = |code: &[u8]| {
            let (decoded, log) = CodeScan::default().decode_with(code, Log(Vec::new()));
            (decoded.is_ok(), log.0.join(", "))
        };
        let of = |ok: bool, text: &str| (ok, text.to_owned());
        assert_eq!(told(&[LDC, 9, LDC2_W, 1, 2, POP]), of(true, "0: 0-1 #9, 2: 0-2 #258, 5: 1-0 #0"));
        assert_eq!(told(&[NOP, LDC, 9]), of(true, "0: 0-0 #0, 1: 0-1 #9"));
        assert_eq!(
            told(&[NEW, 0, 7, NEWARRAY, 10, ANEWARRAY, 0, 8]),
            of(true, "0: 0-1 #7, 3: 1-1 #0, 5: 1-1 #8")
        );
        assert_eq!(told(&[MULTIANEWARRAY, 0, 9, 2]), of(true, "0: 2-1 #9"));
        assert_eq!(told(&[INVOKESPECIAL, 0, 7, GETFIELD, 0, 8]), of(true, "0: 1-0 m#7, 3: 1-0 m#8"));
        assert_eq!(told(&[INVOKEINTERFACE, 0, 7, 1, 0, NOP]), of(true, "0: 1-0 m#7, 5: 0-0 #0"));
        assert_eq!(told(&[IFEQ, 0, 3, WIDE, RET, 1, 0, ATHROW]), of(true, "0: +3, 3: +4, 7: +1"));
        assert_eq!(told(&[RETURN, SIPUSH, 1]), of(false, "0: +1"));
        assert_eq!(told(&[RETURN, INVOKEINTERFACE, 0, 7, 1]), of(false, "0: +1"));
        assert_eq!(told(&[RETURN, INVOKESPECIAL, 0]), of(false, "0: +1"));
        assert_eq!(told(&[NOP, 0xfe, NOP]), of(false, "0: 0-0 #0"));
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
