//! Classes with one change, the same ones in every run.

use instrument_rewriter::class_file::instruction::Instructions;
use instrument_rewriter::class_file::{ClassFile, Tag, find_attribute, opcode};

/// Numbers that are the same in every run (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next_number() % end.max(1) as u64) as usize
    }

    pub fn of<'t, T>(&mut self, from: &'t [T]) -> Option<&'t T> {
        if from.is_empty() { None } else { from.get(self.below(from.len())) }
    }
}

fn put(bytes: &mut [u8], at: usize, value: usize) {
    bytes[at..at + 2].copy_from_slice(&(value as u16).to_be_bytes());
}

/// A class with one change; none if the class has nothing that can be changed in this way. Says what was changed.
pub fn mutate(original: &[u8], random: &mut Random) -> Option<(String, Vec<u8>)> {
    let class = ClassFile::parse(original).ok()?;
    let pool = &class.pool;
    let mut methods = Vec::new();
    let mut walk = class.methods();
    while let Ok(Some(method)) = walk.next() {
        methods.push(method);
    }
    let codes: Vec<_> = methods.iter().filter_map(|method| method.code(pool).ok().flatten()).collect();
    let same =
        |tag: Tag| pool.indices().filter(move |&index| pool.tag(index) == Some(tag)).collect::<Vec<u16>>();
    let mut bytes = original.to_vec();
    let kind = random.below(13);
    let what = match kind {
        // Another opcode of the same length.
        0 | 1 => {
            let code = random.of(&codes)?;
            let at: Vec<_> = Instructions::new(code.code).filter_map(Result::ok).collect();
            let instruction = random.of(&at)?;
            let length = opcode::LENGTHS[usize::from(instruction.opcode)];
            let others: Vec<u8> =
                (0..=201).filter(|&op| opcode::LENGTHS[usize::from(op)] == length && length > 0).collect();
            let other = *random.of(&others)?;
            bytes[code.code_offset + instruction.pc] = other;
            format!(
                "{} becomes {}",
                opcode::NAMES[usize::from(instruction.opcode)],
                opcode::NAMES[usize::from(other)]
            )
        }
        // Another operand.
        2 => {
            let code = random.of(&codes)?;
            let at: Vec<_> =
                Instructions::new(code.code).filter_map(Result::ok).filter(|at| at.bytes.len() > 1).collect();
            let instruction = random.of(&at)?;
            let operand = 1 + random.below(instruction.bytes.len() - 1);
            bytes[code.code_offset + instruction.pc + operand] ^= 1 << random.below(8);
            format!("operand of {}", opcode::NAMES[usize::from(instruction.opcode)])
        }
        // Another constant of the same kind, in code.
        3 | 4 => {
            let code = random.of(&codes)?;
            let at: Vec<_> = (Instructions::new(code.code).filter_map(Result::ok))
                .filter(|at| at.bytes.len() > 2 && (178..=193).contains(&at.opcode) && at.opcode != 188)
                .collect();
            let instruction = random.of(&at)?;
            let index = u16::from_be_bytes([*instruction.bytes.get(1)?, *instruction.bytes.get(2)?]);
            let other = *random.of(&same(pool.tag(index)?))?;
            put(&mut bytes, code.code_offset + instruction.pc + 1, usize::from(other));
            format!("{} #{index} becomes #{other}", opcode::NAMES[usize::from(instruction.opcode)])
        }
        // A byte of the stack map frames, or of another table of the code.
        5 | 6 => {
            let code = random.of(&codes)?;
            let name: &[u8] =
                if kind == 5 || random.below(3) > 0 { b"StackMapTable" } else { b"LocalVariableTable" };
            let table = find_attribute(code.attributes.clone(), pool, name).ok()??;
            let at = 2 + random.below(table.info.len().checked_sub(2)?);
            // Offsets of attributes of the code count from the items of the Code attribute.
            *bytes.get_mut(code.code_offset - 8 + table.info_offset() + at)? =
                random.next_number() as u8 % 16;
            format!("byte {at} of {}", String::from_utf8_lossy(name))
        }
        // max_stack or max_locals.
        7 => {
            let code = random.of(&codes)?;
            let (at, old) = match random.below(2) {
                0 => (code.code_offset - 8, code.max_stack),
                _ => (code.code_offset - 6, code.max_locals),
            };
            put(&mut bytes, at, usize::from(old).wrapping_sub(1 + random.below(2)));
            format!("max_stack or max_locals was {old}")
        }
        // An index inside a constant.
        8 | 9 => {
            let tags = [
                Tag::Class,
                Tag::NameAndType,
                Tag::Methodref,
                Tag::Fieldref,
                Tag::InterfaceMethodref,
                Tag::MethodHandle,
            ];
            let tag = *random.of(&tags)?;
            let index = *random.of(&same(tag))?;
            let at = pool.offset(index)?
                + 1
                + if tag == Tag::MethodHandle {
                    1
                } else {
                    2 * random.below(if tag == Tag::Class { 1 } else { 2 })
                };
            let old = u16::from_be_bytes([original[at], original[at + 1]]);
            let others = if random.below(4) > 0 { same(pool.tag(old)?) } else { pool.indices().collect() };
            put(&mut bytes, at, usize::from(*random.of(&others)?));
            format!("an index in {} #{index}", tag.name())
        }
        // The exception table.
        10 => {
            let tables: Vec<_> = codes.iter().filter(|code| !code.exception_table.is_empty()).collect();
            let code = random.of(&tables)?;
            let at =
                code.code_offset + code.code.len() + 2 + 2 * random.below(4 * code.exception_table.len());
            let value = if random.below(2) == 0 {
                random.below(code.code.len() + 2)
            } else {
                random.below(usize::from(pool.count()))
            };
            put(&mut bytes, at, value);
            "exception table".to_string()
        }
        // Access flags, this_class, super_class.
        11 => {
            let at = match random.below(3) {
                0 => pool.end() + 2 * random.below(3),
                _ => random.of(&methods)?.span.start,
            };
            let at = at + random.below(2);
            bytes[at] ^= 1 << random.below(8);
            format!("flags at {at}")
        }
        // Any byte.
        _ => {
            let at = random.below(bytes.len());
            bytes[at] = random.next_number() as u8;
            format!("byte {at}")
        }
    };
    (bytes != original).then_some((what, bytes))
}
