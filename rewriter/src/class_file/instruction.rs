//! The instructions of a code array (JVMS 6.5), one by one.

use super::opcode::{self, Operands};

/// One instruction: its opcode, its place, and its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Instruction<'a> {
    /// Offset in the code array.
    pub pc: usize,
    /// The opcode.
    pub opcode: u8,
    /// All bytes of the instruction, the opcode first, the padding of a switch included.
    pub bytes: &'a [u8],
}

/// A code array that cannot be decoded: the offset of the instruction and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{reason} at pc {pc}")]
pub struct InstructionError {
    /// Offset of the instruction in the code array.
    pub pc: usize,
    /// What is wrong.
    pub reason: &'static str,
}

/// Walks a code array.
#[derive(Debug, Clone)]
pub struct Instructions<'a> {
    code: &'a [u8],
    pc: usize,
}

impl<'a> Instructions<'a> {
    /// Starts at pc 0.
    pub fn new(code: &'a [u8]) -> Self {
        Self { code, pc: 0 }
    }
}

impl<'a> Iterator for Instructions<'a> {
    type Item = Result<Instruction<'a>, InstructionError>;

    fn next(&mut self) -> Option<Self::Item> {
        let pc = self.pc;
        if pc >= self.code.len() {
            return None;
        }
        match length_at(self.code, pc) {
            Ok(length) => {
                self.pc += length;
                Some(Ok(Instruction { pc, opcode: self.code[pc], bytes: &self.code[pc..pc + length] }))
            }
            Err(error) => {
                self.pc = self.code.len();
                Some(Err(error))
            }
        }
    }
}

/// The length in bytes of the instruction at `pc`.
///
/// # Errors
/// A `pc` behind the code, no such opcode, an instruction that is cut off, or a switch whose counts contradict each
/// other.
pub fn length_at(code: &[u8], pc: usize) -> Result<usize, InstructionError> {
    let error = |reason| InstructionError { pc, reason };
    let &op = code.get(pc).ok_or_else(|| error("no instruction behind the code"))?;
    let length = match opcode::OPERANDS[usize::from(op)] {
        Operands::Illegal => return Err(error("no such opcode")),
        Operands::Wide => match code.get(pc + 1) {
            Some(&opcode::IINC) => 6,
            Some(&widened) if opcode::OPERANDS[usize::from(widened)] == Operands::Local => 4,
            _ => return Err(error("wide in front of an instruction without local variable")),
        },
        Operands::TableSwitch | Operands::LookupSwitch => {
            let switch = Switch::at(code, pc).ok_or_else(|| error("switch with contradicting counts"))?;
            switch.end - pc
        }
        _ => usize::from(opcode::INFO[usize::from(op)].length),
    };
    if pc + length > code.len() { Err(error("instruction is cut off")) } else { Ok(length) }
}

/// A `tableswitch` or `lookupswitch` (JVMS 6.5): where its words stand.
#[derive(Debug, Clone, Copy)]
pub struct Switch {
    /// Offset of the four-byte default, behind the padding.
    pub words: usize,
    /// Offset of the first case offset (of a pair's match for `lookupswitch`).
    pub cases: usize,
    /// The number of cases.
    pub count: usize,
    /// Distance from one case to the next: 4 or 8.
    pub stride: usize,
    /// Offset of the next instruction.
    pub end: usize,
}

impl Switch {
    /// Reads the counts of the switch at `pc`; `None` if they contradict each other or the code array.
    pub fn at(code: &[u8], pc: usize) -> Option<Self> {
        let word = |at: usize| Some(i32::from_be_bytes(code.get(at..at + 4)?.try_into().ok()?));
        let words = (pc + 4) & !3;
        let (cases, count, stride) = if *code.get(pc)? == opcode::TABLESWITCH {
            let (low, high) = (i64::from(word(words + 4)?), i64::from(word(words + 8)?));
            if low > high {
                return None;
            }
            (words + 12, high - low + 1, 4)
        } else {
            (words + 8, i64::from(word(words + 4)?), 8)
        };
        let count = usize::try_from(count).ok()?;
        let end = count.checked_mul(stride)?.checked_add(cases)?;
        (end <= code.len()).then_some(Self { words, cases, count, stride, end })
    }

    /// The offset words, the default first: their places in the code array.
    pub fn offset_words(self) -> impl Iterator<Item = usize> {
        let first = self.cases + self.stride - 4;
        std::iter::once(self.words).chain((0..self.count).map(move |case| first + case * self.stride))
    }
}

/// Reads a signed two-byte value.
///
/// # Panics
/// The code ends before.
pub fn i2(code: &[u8], at: usize) -> i32 {
    i32::from(i16::from_be_bytes([code[at], code[at + 1]]))
}

/// Reads a signed four-byte value.
///
/// # Panics
/// The code ends before.
pub fn i4(code: &[u8], at: usize) -> i32 {
    i32::from_be_bytes([code[at], code[at + 1], code[at + 2], code[at + 3]])
}

/// Reads an unsigned two-byte value.
///
/// # Panics
/// The code ends before.
pub fn u2(code: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([code[at], code[at + 1]])
}

/// The targets of the branch or switch at `pc`, as pcs; a target in front of the code is negative. None, where no
/// instruction can be decoded.
pub fn targets(code: &[u8], pc: usize) -> impl Iterator<Item = i64> + '_ {
    let at = pc as i64;
    let op = if length_at(code, pc).is_ok() { code[pc] } else { opcode::NOP };
    let (branch, switch) = match opcode::OPERANDS[usize::from(op)] {
        opcode::Operands::Branch2 => (Some(at + i64::from(i2(code, pc + 1))), None),
        opcode::Operands::Branch4 => (Some(at + i64::from(i4(code, pc + 1))), None),
        opcode::Operands::TableSwitch | opcode::Operands::LookupSwitch => (None, Switch::at(code, pc)),
        _ => (None, None),
    };
    let cases =
        switch.into_iter().flat_map(Switch::offset_words).map(move |word| at + i64::from(i4(code, word)));
    branch.into_iter().chain(cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_switches_at_every_alignment() {
        for padding in 0..4 {
            let mut code = vec![opcode::NOP; padding];
            code.push(opcode::TABLESWITCH);
            code.resize((code.len() + 3) & !3, 0);
            for word in [100i32, -1, 1, 1, 2, 3] {
                code.extend(word.to_be_bytes());
            }
            code.push(opcode::RETURN);
            let pcs: Vec<_> = Instructions::new(&code).map(|i| i.unwrap().pc).collect();
            assert_eq!(pcs.len(), padding + 2);
            assert_eq!(*pcs.last().unwrap(), code.len() - 1);
            let switch = Switch::at(&code, padding).unwrap();
            let words: Vec<_> = switch.offset_words().map(|at| i4(&code, at)).collect();
            assert_eq!(words, [100, 1, 2, 3]);
        }
    }

    #[test]
    fn a_switch_may_have_one_case() {
        let of = |low: i32, high: i32| {
            let words = [9, low, high, 7].map(i32::to_be_bytes).concat();
            Switch::at(&[&[opcode::TABLESWITCH, 0, 0, 0], &words[..]].concat(), 0).map(|switch| switch.count)
        };
        assert_eq!((of(5, 5), of(5, 4), of(5, 6)), (Some(1), None, None));
    }

    #[test]
    fn refuses_hostile_counts() {
        let mut code = vec![opcode::TABLESWITCH, 0, 0, 0];
        for word in [0, i32::MIN, i32::MAX] {
            code.extend(word.to_be_bytes());
        }
        assert!(Instructions::new(&code).next().unwrap().is_err());
        let mut code = vec![opcode::LOOKUPSWITCH, 0, 0, 0];
        for word in [0, -1] {
            code.extend(i32::to_be_bytes(word));
        }
        assert!(Instructions::new(&code).next().unwrap().is_err());
        assert!(Instructions::new(&[0xca]).next().unwrap().is_err());
        assert!(Instructions::new(&[opcode::WIDE, opcode::NOP, 0, 0]).next().unwrap().is_err());
        assert!(Instructions::new(&[opcode::SIPUSH, 0]).next().unwrap().is_err());
    }
}
