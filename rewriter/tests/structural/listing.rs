//! Instructions (JVMS 6.5): lengths, branch targets, stack effects.

/// One instruction and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Insn<'a> {
    pub(crate) pc: usize,
    pub(crate) bytes: &'a [u8],
}

pub(crate) mod op {
    pub(crate) const DUP: u8 = 0x59;
    pub(crate) const GOTO: u8 = 0xa7;
    pub(crate) const JSR: u8 = 0xa8;
    pub(crate) const RET: u8 = 0xa9;
    pub(crate) const TABLESWITCH: u8 = 0xaa;
    pub(crate) const LOOKUPSWITCH: u8 = 0xab;
    pub(crate) const INVOKESPECIAL: u8 = 0xb7;
    pub(crate) const INVOKESTATIC: u8 = 0xb8;
    pub(crate) const INVOKEDYNAMIC: u8 = 0xba;
    pub(crate) const NEW: u8 = 0xbb;
    pub(crate) const NEWARRAY: u8 = 0xbc;
    pub(crate) const ANEWARRAY: u8 = 0xbd;
    pub(crate) const ATHROW: u8 = 0xbf;
    pub(crate) const WIDE: u8 = 0xc4;
    pub(crate) const MULTIANEWARRAY: u8 = 0xc5;
    pub(crate) const GOTO_W: u8 = 0xc8;
    pub(crate) const JSR_W: u8 = 0xc9;
}

fn word(code: &[u8], at: usize) -> Option<i64> {
    Some(i64::from(i32::from_be_bytes(code.get(at..at + 4)?.try_into().ok()?)))
}

/// Bytes of the instruction at `pc`.
fn length(code: &[u8], pc: usize) -> Option<usize> {
    Some(match code[pc] {
        0x10 | 0x12 | 0x15..=0x19 | 0x36..=0x3a | 0xa9 | 0xbc => 2,
        0x11 | 0x13 | 0x14 | 0x84 | 0x99..=0xa8 | 0xb2..=0xb8 | 0xbb | 0xbd | 0xc0 | 0xc1 | 0xc6 | 0xc7 => 3,
        0xc5 => 4,
        0xb9 | 0xba | 0xc8 | 0xc9 => 5,
        op::WIDE => match *code.get(pc + 1)? {
            0x84 => 6,
            0x15..=0x19 | 0x36..=0x3a | 0xa9 => 4,
            _ => return None,
        },
        op::TABLESWITCH => {
            let words = pc + 4 - pc % 4;
            let (low, high) = (word(code, words + 4)?, word(code, words + 8)?);
            let cases = high - low + 1;
            (1..=65_536).contains(&cases).then_some(words + 12 + 4 * cases as usize - pc)?
        }
        op::LOOKUPSWITCH => {
            let words = pc + 4 - pc % 4;
            let pairs = word(code, words + 4)?;
            (0..=65_536).contains(&pairs).then_some(words + 8 + 8 * pairs as usize - pc)?
        }
        0xca.. => return None,
        _ => 1,
    })
}

/// All instructions.
pub(crate) fn decode(code: &[u8]) -> Result<Vec<Insn<'_>>, String> {
    let mut all = Vec::with_capacity(code.len() / 2);
    let mut pc = 0;
    while pc < code.len() {
        let length = length(code, pc).filter(|length| pc + length <= code.len());
        let length = length.ok_or_else(|| format!("no instruction at pc {pc}"))?;
        all.push(Insn { pc, bytes: &code[pc..pc + length] });
        pc += length;
    }
    Ok(all)
}

impl<'a> Insn<'a> {
    pub(crate) fn op(&self) -> u8 {
        self.bytes[0]
    }

    pub(crate) fn end(&self) -> usize {
        self.pc + self.bytes.len()
    }

    /// The constant-pool index behind the opcode.
    pub(crate) fn index(&self) -> u16 {
        u16::from_be_bytes([self.bytes[1], self.bytes[2]])
    }

    pub(crate) fn is_return(&self) -> bool {
        matches!(self.op(), 0xac..=0xb1)
    }

    pub(crate) fn is_conditional(&self) -> bool {
        matches!(self.op(), 0x99..=0xa6 | 0xc6 | 0xc7)
    }

    pub(crate) fn is_goto(&self) -> bool {
        matches!(self.op(), op::GOTO | op::GOTO_W)
    }

    pub(crate) fn is_jsr(&self) -> bool {
        matches!(self.op(), op::JSR | op::JSR_W)
    }

    pub(crate) fn is_switch(&self) -> bool {
        matches!(self.op(), op::TABLESWITCH | op::LOOKUPSWITCH)
    }

    pub(crate) fn is_branch(&self) -> bool {
        self.is_conditional() || self.is_goto() || self.is_jsr()
    }

    /// Whether control may reach the next instruction; `jsr` counts: its subroutine returns there.
    pub(crate) fn falls_through(&self) -> bool {
        let ret = self.op() == op::RET || (self.op() == op::WIDE && self.bytes[1] == op::RET);
        !(self.is_goto() || self.is_switch() || self.is_return() || self.op() == op::ATHROW || ret)
    }

    /// The words of a switch behind the padding.
    pub(crate) fn switch_words(&self) -> Vec<i64> {
        let first = 4 - self.pc % 4;
        self.bytes[first..]
            .chunks_exact(4)
            .map(|b| i64::from(i32::from_be_bytes([b[0], b[1], b[2], b[3]])))
            .collect()
    }

    /// A switch without its offsets: what has to stay equal.
    pub(crate) fn switch_keys(&self) -> Vec<i64> {
        let words = self.switch_words();
        match self.op() {
            op::TABLESWITCH => words[1..3].to_vec(),
            _ => std::iter::once(words[1]).chain(words[2..].iter().step_by(2).copied()).collect(),
        }
    }

    /// Where it may jump, in the order of its operands.
    pub(crate) fn targets(&self) -> Vec<i64> {
        let at = self.pc as i64;
        match self.op() {
            op::TABLESWITCH => {
                let words = self.switch_words();
                std::iter::once(words[0]).chain(words[3..].iter().copied()).map(|w| at + w).collect()
            }
            op::LOOKUPSWITCH => {
                let words = self.switch_words();
                std::iter::once(words[0])
                    .chain(words[2..].iter().skip(1).step_by(2).copied())
                    .map(|w| at + w)
                    .collect()
            }
            _ if self.is_branch() => {
                let b = self.bytes;
                let offset = match b.len() {
                    3 => i64::from(i16::from_be_bytes([b[1], b[2]])),
                    _ => i64::from(i32::from_be_bytes([b[1], b[2], b[3], b[4]])),
                };
                vec![at + offset]
            }
            _ => Vec::new(),
        }
    }
}

/// Slots popped and pushed by instructions whose effect is fixed; the loads, stores and `dup`s of references
/// are the business of `flow`.
pub(crate) fn fixed_effect(opcode: u8) -> (usize, usize) {
    match opcode {
        0x00 | 0x84 | 0xa7 | 0xa9 | 0xb1 | 0xc8 => (0, 0),
        0x09 | 0x0a | 0x0e | 0x0f | 0x14 | 0x16 | 0x18 | 0x1e..=0x21 | 0x26..=0x29 => (0, 2),
        0x01..=0x29 | 0xa8 | 0xc9 => (0, 1),
        0x2f | 0x31 => (2, 2),
        0x2e..=0x35 => (2, 1),
        0x37 | 0x39 | 0x3f..=0x42 | 0x47..=0x4a => (2, 0),
        0x36..=0x4e => (1, 0),
        0x50 | 0x52 => (4, 0),
        0x4f..=0x56 => (3, 0),
        0x57 => (1, 0),
        0x58 => (2, 0),
        0x60..=0x73 => [(2, 1), (4, 2)][usize::from(opcode & 1)],
        0x74..=0x77 => [(1, 1), (2, 2)][usize::from(opcode & 1)],
        0x79 | 0x7b | 0x7d => (3, 2),
        0x78..=0x7d => (2, 1),
        0x7e..=0x83 => [(2, 1), (4, 2)][usize::from(opcode & 1)],
        0x85 | 0x87 | 0x8c | 0x8d => (1, 2),
        0x88 | 0x89 | 0x8e | 0x90 => (2, 1),
        0x8a | 0x8f => (2, 2),
        0x94 | 0x97 | 0x98 => (4, 1),
        0x95 | 0x96 => (2, 1),
        0x9f..=0xa6 => (2, 0),
        0x99..=0x9e | 0xaa | 0xab | 0xac | 0xae | 0xb0 | 0xbf | 0xc2 | 0xc3 | 0xc6 | 0xc7 => (1, 0),
        0xad | 0xaf => (2, 0),
        0x86 | 0x8b | 0x91..=0x93 | 0xbc..=0xbe | 0xc0 | 0xc1 => (1, 1),
        _ => unreachable!("{opcode:#x} has no fixed effect"),
    }
}

/// Slots of the parameters and of the result.
pub(crate) fn descriptor_slots(descriptor: &[u8]) -> Result<(usize, usize), String> {
    let bad = || format!("descriptor {}", String::from_utf8_lossy(descriptor));
    let mut slots = 0;
    let mut at = 1;
    if descriptor.first() != Some(&b'(') {
        return Err(bad());
    }
    while *descriptor.get(at).ok_or_else(bad)? != b')' {
        let (width, length) = field(&descriptor[at..]).ok_or_else(bad)?;
        slots += width;
        at += length;
    }
    match descriptor.get(at + 1).ok_or_else(bad)? {
        b'V' => Ok((slots, 0)),
        _ => Ok((slots, field(&descriptor[at + 1..]).ok_or_else(bad)?.0)),
    }
}

/// Slots and bytes of the field type at the front.
pub(crate) fn field(descriptor: &[u8]) -> Option<(usize, usize)> {
    let dimensions = descriptor.iter().take_while(|b| **b == b'[').count();
    let length = match descriptor.get(dimensions)? {
        b'L' => descriptor.iter().position(|b| *b == b';')? + 1,
        b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' => dimensions + 1,
        _ => return None,
    };
    let wide = dimensions == 0 && matches!(descriptor[0], b'J' | b'D');
    Some((if wide { 2 } else { 1 }, length))
}
