//! JVMS 4.7.3 The Code Attribute: instructions with everything that belongs to their place.

use super::attribute::Owner;
use super::frame::FrameTable;
use super::printer::{Positions, Printer};
use crate::class_file::instruction::{self, Instruction, Instructions, Switch};
use crate::class_file::opcode::{self, NAMES, OPERANDS, Operands};
use crate::class_file::{Attribute, Attributes, CodeAttribute, Member, Tag, descriptor};
use crate::error::ClassError;

/// The element types of `newarray` from 4 on (JVMS table 6.5.newarray-A).
const ELEMENT_TYPES: [&str; 8] = ["boolean", "char", "float", "double", "byte", "short", "int", "long"];

/// A LineNumberTable row.
struct Line {
    pc: usize,
    line: u16,
}

impl<'a> Printer<'_, 'a> {
    /// Prints a Code attribute of `method`. The canonical form prints it twice: the first time finds out
    /// which positions are named, the second one prints these as labels.
    pub(super) fn code(&mut self, attribute: &Attribute<'a>, method: &Member<'a>) -> Result<(), ClassError> {
        let code = CodeAttribute::parse(attribute)?;
        self.boundaries = vec![false; code.code.len() + 1];
        self.boundaries[code.code.len()] = true;
        for instruction in Instructions::new(code.code).map_while(Result::ok) {
            self.boundaries[instruction.pc] = true;
        }
        if self.options.canonical {
            let mark = self.mark();
            self.positions = Positions::Collected(Vec::new());
            self.code_once(attribute, &code, method);
            self.take_back(mark);
            if let Positions::Collected(mut pcs) = std::mem::take(&mut self.positions) {
                pcs.sort_unstable();
                pcs.dedup();
                self.positions = Positions::Labels(pcs);
            }
        }
        self.code_once(attribute, &code, method);
        self.positions = Positions::Offsets;
        self.boundaries = Vec::new();
        Ok(())
    }

    fn code_once(&mut self, attribute: &Attribute<'a>, code: &CodeAttribute<'a>, method: &Member<'a>) {
        self.start("Code ");
        self.put(format_args!("stack={} locals={}", code.max_stack, code.max_locals));
        if self.options.raw {
            self.put(format_args!(" length={}", code.code.len()));
        }
        self.end_at(attribute.offset);
        // The attributes that `CodeAttribute` walks have offsets relative to the Code attribute.
        let attributes = Attributes::new(
            &self.class.bytes[..attribute.end()],
            attribute.info_offset() + code.attributes.position(),
            code.attributes.len() as u16,
        );
        let lines = if self.options.lines { self.line_numbers(attributes.clone()) } else { Vec::new() };
        let mut frames = FrameTable::of(self, attributes.clone(), method);
        self.nested(|p| {
            p.instructions(code, lines, &mut frames);
            for row in code.exception_table.iter() {
                p.start("try ");
                p.range(usize::from(row.start_pc), usize::from(row.end_pc));
                p.text(" -> ");
                p.position(usize::from(row.handler_pc));
                p.text(" ");
                p.class_name_or(row.catch_type, "any");
                p.end();
            }
            frames.faults(p);
            p.attributes(attributes, Owner::Code);
        });
    }

    /// The rows of all LineNumberTables by pc; a malformed table has none (and is printed as bytes).
    fn line_numbers(&self, mut attributes: Attributes<'a>) -> Vec<Line> {
        let mut lines = Vec::new();
        while let Ok(Some(attribute)) = attributes.next() {
            if self.class.pool.utf8_or_empty(attribute.name_index) == b"LineNumberTable" {
                lines.extend(attribute.info.get(2..).unwrap_or_default().chunks_exact(4).map(|row| Line {
                    pc: usize::from(u16::from_be_bytes([row[0], row[1]])),
                    line: u16::from_be_bytes([row[2], row[3]]),
                }));
            }
        }
        lines.sort_by_key(|line| line.pc);
        lines
    }

    fn instructions(&mut self, code: &CodeAttribute<'a>, lines: Vec<Line>, frames: &mut FrameTable<'a>) {
        let mut lines = lines.into_iter().peekable();
        for instruction in Instructions::new(code.code) {
            if self.is_full() {
                return;
            }
            let pc = match &instruction {
                Ok(instruction) => instruction.pc,
                Err(error) => error.pc,
            };
            self.label(pc);
            frames.print_until(self, pc);
            while let Some(line) = lines.next_if(|line| line.pc <= pc) {
                self.line_number(&line, pc);
            }
            match instruction {
                Ok(instruction) => self.instruction(code, &instruction),
                Err(error) => {
                    let rest = &code.code[error.pc..];
                    self.line(format_args!("<{}: {} bytes follow>", error.reason, rest.len()));
                    self.nested(|p| p.hex(rest));
                }
            }
        }
        let end = code.code.len();
        self.label(end);
        frames.print_until(self, usize::MAX);
        for line in lines {
            self.line_number(&line, end);
        }
    }

    /// `L3:`, if something names this position.
    fn label(&mut self, pc: usize) {
        if let Positions::Labels(pcs) = &self.positions
            && let Ok(rank) = pcs.binary_search(&pc)
        {
            self.start("");
            self.put(format_args!("L{rank}:"));
            if self.options.raw {
                self.put(format_args!("  // pc {pc}"));
            }
            self.end();
        }
    }

    fn line_number(&mut self, line: &Line, pc: usize) {
        match line.pc == pc {
            true => self.line(format_args!("line {}", line.line)),
            false => self.line(format_args!("line {} at {}(no-instruction)", line.line, line.pc)),
        }
    }

    fn instruction(&mut self, code: &CodeAttribute<'a>, instruction: &Instruction<'a>) {
        let (op, b, pc) = (instruction.opcode, instruction.bytes, instruction.pc);
        let plain = self.options.canonical && !self.options.raw;
        if self.options.canonical {
            self.start("    ");
        } else {
            self.start("");
            self.put(format_args!("{pc:>5}: "));
        }
        // Which of the two a compiler takes depends on the number that the constant happens to have.
        self.text(NAMES[usize::from(if op == opcode::LDC_W && plain { opcode::LDC } else { op })]);
        let mut dynamic = None;
        match OPERANDS[usize::from(op)] {
            Operands::None | Operands::Illegal => {}
            Operands::Byte if op == opcode::NEWARRAY => match b[1] {
                kind @ 4..=11 => self.put(format_args!(" {}", ELEMENT_TYPES[usize::from(kind - 4)])),
                kind => self.put(format_args!(" <type {kind}>")),
            },
            Operands::Byte => self.put(format_args!(" {}", b[1] as i8)),
            Operands::Short => self.put(format_args!(" {}", instruction::i2(b, 1))),
            Operands::Local => self.put(format_args!(" {}", b[1])),
            Operands::Increment => self.put(format_args!(" {} {}", b[1], b[2] as i8)),
            Operands::Wide => {
                self.put(format_args!(" {} {}", NAMES[usize::from(b[1])], instruction::u2(b, 2)));
                if b[1] == opcode::IINC {
                    self.put(format_args!(" {}", instruction::i2(b, 4)));
                }
            }
            Operands::Branch2 => self.branch(pc, instruction::i2(b, 1)),
            Operands::Branch4 => self.branch(pc, instruction::i4(b, 1)),
            Operands::Constant1 => dynamic = Some(self.loaded(u16::from(b[1]))),
            Operands::Constant2 if matches!(op, opcode::LDC_W | opcode::LDC2_W) => {
                dynamic = Some(self.loaded(instruction::u2(b, 1)));
            }
            Operands::Constant2 => self.operand(op, instruction::u2(b, 1)),
            Operands::InvokeInterface => {
                let index = instruction::u2(b, 1);
                self.operand(op, index);
                let slots = (self.class.pool.referenced_name_and_type(index).ok())
                    .and_then(|(_, d)| descriptor::method_slots(d));
                if slots.is_none_or(|(slots, _)| slots + 1 != u16::from(b[3])) || b[4] != 0 {
                    self.put(format_args!(" <count {} and {}>", b[3], b[4]));
                }
            }
            Operands::InvokeDynamic => {
                let index = instruction::u2(b, 1);
                self.text(" ");
                match self.class.pool.tag(index) {
                    Some(Tag::InvokeDynamic) => match self.class.pool.pair(index, Tag::InvokeDynamic) {
                        Ok((_, name_and_type)) => self.name_and_type(name_and_type),
                        Err(_) => self.bad(index, "InvokeDynamic"),
                    },
                    _ => self.bad(index, "InvokeDynamic"),
                }
                if instruction::u2(b, 3) != 0 {
                    self.put(format_args!(" <{} instead of 0>", instruction::u2(b, 3)));
                }
                dynamic = Some(index);
            }
            Operands::MultiArray => {
                self.text(" ");
                self.class_name(instruction::u2(b, 1));
                self.put(format_args!(" {}", b[3]));
            }
            Operands::TableSwitch | Operands::LookupSwitch => {}
        }
        if self.options.raw {
            self.text("  // ");
            self.hex_words(&b[..b.len().min(16)]);
            self.text(if b.len() > 16 { " .." } else { "" });
        }
        self.end();
        if let Some(index) = dynamic {
            self.nested(|p| p.nested(|p| p.nested(|p| p.nested(|p| p.bootstrap(index, 0)))));
        }
        if matches!(op, opcode::TABLESWITCH | opcode::LOOKUPSWITCH) {
            self.switch(code.code, pc);
        }
    }

    /// What `ldc` loads; hands its index back, for the lines of one that is dynamically computed.
    fn loaded(&mut self, index: u16) -> u16 {
        self.text(" ");
        self.constant(index);
        self.index(index);
        index
    }

    /// A field, a method, or a class.
    fn operand(&mut self, op: u8, index: u16) {
        self.text(" ");
        match op {
            opcode::GETSTATIC..=opcode::INVOKEINTERFACE => {
                let expected = match op {
                    opcode::GETSTATIC..=opcode::PUTFIELD => Tag::Fieldref,
                    opcode::INVOKEINTERFACE => Tag::InterfaceMethodref,
                    _ => Tag::Methodref,
                };
                self.member_ref(index);
                self.index(index);
                if let Some(tag) = self.class.pool.tag(index)
                    && tag != expected
                {
                    self.put(format_args!(" ({})", tag.name()));
                }
            }
            _ => self.class_name(index),
        }
    }

    fn branch(&mut self, pc: usize, offset: i32) {
        self.text(" ");
        self.target(pc, offset);
    }

    fn target(&mut self, pc: usize, offset: i32) {
        match usize::try_from(pc as i64 + i64::from(offset)) {
            Ok(target) => self.position(target),
            Err(_) => self.put(format_args!("{}(no-instruction)", pc as i64 + i64::from(offset))),
        }
    }

    fn switch(&mut self, code: &[u8], pc: usize) {
        let Some(switch) = Switch::at(code, pc) else { return };
        let table = code[pc] == opcode::TABLESWITCH;
        let low = if table { instruction::i4(code, switch.words + 4) } else { 0 };
        for (case, word) in switch.offset_words().enumerate() {
            if self.is_full() {
                return;
            }
            self.start("          ");
            match (case, table) {
                (0, _) => self.text("default"),
                (case, true) => self.put(i64::from(low) + case as i64 - 1),
                (_, false) => self.put(instruction::i4(code, word - 4)),
            }
            self.text(" -> ");
            self.target(pc, instruction::i4(code, word));
            self.end();
        }
    }
}
