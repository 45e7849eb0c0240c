//! Classes with one change, the same ones in every run.

use instrument_rewriter::class_file::instruction::Instructions;
use instrument_rewriter::class_file::{
    ClassFile, CodeAttribute, ConstantPool, Member, Tag, find_attribute, opcode,
};

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

/// A class that gets one change.
struct Change<'c, 'r> {
    pool: &'c ConstantPool<'c>,
    methods: Vec<Member<'c>>,
    codes: Vec<CodeAttribute<'c>>,
    bytes: Vec<u8>,
    random: &'r mut Random,
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
    let codes = methods.iter().filter_map(|method| method.code(pool).ok().flatten()).collect();
    let mut change = Change { pool, methods, codes, bytes: original.to_vec(), random };
    let what = match change.random.below(13) {
        0 | 1 => change.opcode(),
        2 => change.operand(),
        3 | 4 => change.constant_of_code(),
        5 => change.table_of_code(true),
        6 => change.table_of_code(false),
        7 => change.limits(),
        8 | 9 => change.index_of_constant(),
        10 => change.exception_table(),
        11 => change.flags(),
        _ => change.byte(),
    }?;
    (change.bytes != original).then_some((what, change.bytes))
}

impl Change<'_, '_> {
    fn same(&self, tag: Tag) -> Vec<u16> {
        self.pool.indices().filter(|&index| self.pool.tag(index) == Some(tag)).collect()
    }

    /// Another opcode of the same length.
    fn opcode(&mut self) -> Option<String> {
        let code = self.random.of(&self.codes)?;
        let at: Vec<_> = Instructions::new(code.code).filter_map(Result::ok).collect();
        let instruction = self.random.of(&at)?;
        let length = opcode::LENGTHS[usize::from(instruction.opcode)];
        let others: Vec<u8> =
            (0..=201).filter(|&op| opcode::LENGTHS[usize::from(op)] == length && length > 0).collect();
        let other = *self.random.of(&others)?;
        self.bytes[code.code_offset + instruction.pc] = other;
        Some(format!(
            "{} becomes {}",
            opcode::NAMES[usize::from(instruction.opcode)],
            opcode::NAMES[usize::from(other)]
        ))
    }

    /// Another operand.
    fn operand(&mut self) -> Option<String> {
        let code = self.random.of(&self.codes)?;
        let at: Vec<_> =
            Instructions::new(code.code).filter_map(Result::ok).filter(|at| at.bytes.len() > 1).collect();
        let instruction = self.random.of(&at)?;
        let operand = 1 + self.random.below(instruction.bytes.len() - 1);
        self.bytes[code.code_offset + instruction.pc + operand] ^= 1 << self.random.below(8);
        Some(format!("operand of {}", opcode::NAMES[usize::from(instruction.opcode)]))
    }

    /// Another constant of the same kind, in code.
    fn constant_of_code(&mut self) -> Option<String> {
        let code = self.random.of(&self.codes)?;
        let at: Vec<_> = (Instructions::new(code.code).filter_map(Result::ok))
            .filter(|at| at.bytes.len() > 2 && (178..=193).contains(&at.opcode) && at.opcode != 188)
            .collect();
        let instruction = self.random.of(&at)?;
        let index = u16::from_be_bytes([*instruction.bytes.get(1)?, *instruction.bytes.get(2)?]);
        let other = *self.random.of(&self.same(self.pool.tag(index)?))?;
        put(&mut self.bytes, code.code_offset + instruction.pc + 1, usize::from(other));
        Some(format!("{} #{index} becomes #{other}", opcode::NAMES[usize::from(instruction.opcode)]))
    }

    /// A byte of the stack map frames, or of another table of the code.
    fn table_of_code(&mut self, of_frames: bool) -> Option<String> {
        let code = self.random.of(&self.codes)?;
        let name: &[u8] =
            if of_frames || self.random.below(3) > 0 { b"StackMapTable" } else { b"LocalVariableTable" };
        let table = find_attribute(code.attributes.clone(), self.pool, name).ok()??;
        let at = 2 + self.random.below(table.info.len().checked_sub(2)?);
        // Offsets of attributes of the code count from the items of the Code attribute.
        *self.bytes.get_mut(code.code_offset - 8 + table.info_offset() + at)? =
            self.random.next_number() as u8 % 16;
        Some(format!("byte {at} of {}", String::from_utf8_lossy(name)))
    }

    /// max_stack or max_locals.
    fn limits(&mut self) -> Option<String> {
        let code = self.random.of(&self.codes)?;
        let (at, old) = match self.random.below(2) {
            0 => (code.code_offset - 8, code.max_stack),
            _ => (code.code_offset - 6, code.max_locals),
        };
        put(&mut self.bytes, at, usize::from(old).wrapping_sub(1 + self.random.below(2)));
        Some(format!("max_stack or max_locals was {old}"))
    }

    /// An index inside a constant.
    fn index_of_constant(&mut self) -> Option<String> {
        let tags = [
            Tag::Class,
            Tag::NameAndType,
            Tag::Methodref,
            Tag::Fieldref,
            Tag::InterfaceMethodref,
            Tag::MethodHandle,
        ];
        let tag = *self.random.of(&tags)?;
        let index = *self.random.of(&self.same(tag))?;
        let at = self.pool.offset(index)?
            + 1
            + if tag == Tag::MethodHandle {
                1
            } else {
                2 * self.random.below(if tag == Tag::Class { 1 } else { 2 })
            };
        let old = u16::from_be_bytes([self.bytes[at], self.bytes[at + 1]]);
        let others = if self.random.below(4) > 0 {
            self.same(self.pool.tag(old)?)
        } else {
            self.pool.indices().collect()
        };
        put(&mut self.bytes, at, usize::from(*self.random.of(&others)?));
        Some(format!("an index in {} #{index}", tag.name()))
    }

    /// The exception table.
    fn exception_table(&mut self) -> Option<String> {
        let tables: Vec<_> = self.codes.iter().filter(|code| !code.exception_table.is_empty()).collect();
        let code = self.random.of(&tables)?;
        let at =
            code.code_offset + code.code.len() + 2 + 2 * self.random.below(4 * code.exception_table.len());
        let value = if self.random.below(2) == 0 {
            self.random.below(code.code.len() + 2)
        } else {
            self.random.below(usize::from(self.pool.count()))
        };
        put(&mut self.bytes, at, value);
        Some("exception table".to_string())
    }

    /// Access flags, this_class, super_class.
    fn flags(&mut self) -> Option<String> {
        let at = match self.random.below(3) {
            0 => self.pool.end() + 2 * self.random.below(3),
            _ => self.random.of(&self.methods)?.span.start,
        };
        let at = at + self.random.below(2);
        self.bytes[at] ^= 1 << self.random.below(8);
        Some(format!("flags at {at}"))
    }

    /// Any byte.
    fn byte(&mut self) -> Option<String> {
        let at = self.random.below(self.bytes.len());
        self.bytes[at] = self.random.next_number() as u8;
        Some(format!("byte {at}"))
    }
}
