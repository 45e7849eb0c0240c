//! Methods from text, for the tests of this folder: instructions by their mnemonics, separated by `;`, with labels in
//! front.
//!
//! `goto`, `ifeq` and the like take a label, switches the label of the default and then of the cases, beginning with 0;
//! `new A`, `getfield A.f:J`, `invokestatic A.m:(I)V` take the names, `init` is `invokespecial A.<init>:()V`, `pad 40`
//! is 40 `nop`. Locals above 255 get a `wide`.

use super::code_scan::CodeScan;
use crate::class_file::opcode::{self, Operands};
use crate::class_file::{ConstantPool, descriptor};
use std::collections::BTreeMap;

/// A code array and the constant pool that it names; the label `end` stands behind it.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    pub(crate) code: Vec<u8>,
    labels: BTreeMap<String, usize>,
    entries: Vec<Vec<u8>>,
}

impl Assembly {
    pub(crate) fn of(text: &str) -> Self {
        let mut assembly = Self::default();
        let mut branches = Vec::new();
        for statement in text.split("; ") {
            let mut words: Vec<&str> = statement.split_whitespace().collect();
            while words.first().is_some_and(|word| word.ends_with(':')) {
                let label = words.remove(0).trim_end_matches(':');
                assert_eq!(assembly.labels.insert(label.to_owned(), assembly.code.len()), None, "{label}");
            }
            if words == ["init"] {
                words = vec!["invokespecial", "A.<init>:()V"];
            }
            if let ["pad", count] = words[..] {
                // So many `nop`.
                assembly.code.resize(assembly.code.len() + count.parse::<usize>().expect(count), opcode::NOP);
            } else if let Some((name, operands)) = words.split_first() {
                assembly.instruction(name, operands, &mut branches);
            }
        }
        assembly.labels.insert("end".to_owned(), assembly.code.len());
        for (at, width, from, label) in branches {
            let offset = (assembly.at(&label) as i32 - from as i32).to_be_bytes();
            assembly.code[at..at + width].copy_from_slice(&offset[4 - width..]);
        }
        assembly
    }

    /// `branches`: where an offset is missing, its bytes, the pc that it counts from, and the label.
    fn instruction(
        &mut self,
        name: &str,
        operands: &[&str],
        branches: &mut Vec<(usize, usize, usize, String)>,
    ) {
        let op = opcode::NAMES.iter().position(|known| *known == name).expect(name) as u8;
        let pc = self.code.len();
        let number = |index: usize| operands[index].parse::<i32>().expect(operands[index]);
        self.code.push(op);
        match opcode::OPERANDS[usize::from(op)] {
            Operands::None => {}
            Operands::Byte => self.code.push(number(0) as u8),
            Operands::Short => self.code.extend((number(0) as u16).to_be_bytes()),
            Operands::Local if number(0) > 255 => {
                self.code.splice(pc.., [opcode::WIDE, op]);
                self.code.extend((number(0) as u16).to_be_bytes());
            }
            Operands::Local => self.code.push(number(0) as u8),
            Operands::Increment => self.code.extend([number(0) as u8, number(1) as u8]),
            Operands::Branch2 | Operands::Branch4 => {
                let width = usize::from(opcode::INFO[usize::from(op)].length) - 1;
                branches.push((pc + 1, width, pc, operands[0].to_owned()));
                self.code.resize(pc + 1 + width, 0);
            }
            Operands::TableSwitch | Operands::LookupSwitch => {
                let is_table = op == opcode::TABLESWITCH;
                self.code.resize((pc + 4) & !3, 0);
                let count = operands.len() as i32 - 1;
                for (index, label) in operands.iter().enumerate() {
                    if index > 0 && !is_table {
                        self.code.extend((index as i32 - 1).to_be_bytes());
                    }
                    branches.push((self.code.len(), 4, pc, (*label).to_owned()));
                    self.code.extend([0; 4]);
                    if index == 0 {
                        let bounds = if is_table { &[0, count - 1][..] } else { &[count] };
                        bounds.iter().for_each(|bound| self.code.extend(bound.to_be_bytes()));
                    }
                }
            }
            Operands::Constant1 | Operands::Wide | Operands::Illegal => panic!("{name} is not known here"),
            operand => {
                let index = match operands[0].split_once(':') {
                    Some((member, descriptor)) => self.member(op, member, descriptor),
                    None => self.class_entry(operands[0]),
                };
                self.code.extend(index.to_be_bytes());
                match operand {
                    Operands::InvokeInterface => {
                        let (_, descriptor) = operands[0].split_once(':').expect("a descriptor");
                        let slots = descriptor::method_slots(descriptor.as_bytes()).expect("a descriptor").0;
                        self.code.extend([1 + slots as u8, 0]);
                    }
                    Operands::InvokeDynamic => self.code.extend([0, 0]),
                    Operands::MultiArray => self.code.push(number(1) as u8),
                    _ => {}
                }
            }
        }
    }

    /// The pc of a label.
    pub(crate) fn at(&self, label: &str) -> usize {
        *self.labels.get(label).unwrap_or_else(|| panic!("no label {label}"))
    }

    /// A label that stands at `pc`, or the pc.
    pub(crate) fn label(&self, pc: usize) -> String {
        let found = self.labels.iter().find(|label| *label.1 == pc);
        found.map_or_else(|| pc.to_string(), |label| label.0.clone())
    }

    fn entry(&mut self, bytes: Vec<u8>) -> u16 {
        let known = self.entries.iter().position(|entry| *entry == bytes);
        let index = known.unwrap_or_else(|| {
            self.entries.push(bytes);
            self.entries.len() - 1
        });
        1 + index as u16
    }

    fn utf8(&mut self, text: &str) -> u16 {
        self.entry([&[1], &(text.len() as u16).to_be_bytes()[..], text.as_bytes()].concat())
    }

    pub(crate) fn class_entry(&mut self, name: &str) -> u16 {
        let name = self.utf8(name);
        self.entry([&[7], &name.to_be_bytes()[..]].concat())
    }

    fn member(&mut self, op: u8, member: &str, descriptor: &str) -> u16 {
        let (owner, name) = member.split_once('.').unwrap_or(("", member));
        let (name, descriptor) = (self.utf8(name), self.utf8(descriptor));
        let name_and_type = self.entry([&[12], &name.to_be_bytes()[..], &descriptor.to_be_bytes()].concat());
        let tag = match op {
            opcode::INVOKEINTERFACE => 11,
            opcode::INVOKEDYNAMIC => 18,
            opcode::GETSTATIC..=opcode::PUTFIELD => 9,
            _ => 10,
        };
        let first = if tag == 18 { 0 } else { self.class_entry(owner) };
        self.entry([&[tag], &first.to_be_bytes()[..], &name_and_type.to_be_bytes()].concat())
    }

    /// A class file as far as its constant pool.
    pub(crate) fn class(&self) -> Vec<u8> {
        let count = (1 + self.entries.len() as u16).to_be_bytes();
        [&[0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52], &count[..], &self.entries.concat(), &[0; 8]].concat()
    }

    /// The pool of [`class`](Self::class).
    pub(crate) fn pool(class: &[u8]) -> ConstantPool<'_> {
        ConstantPool::parse(class, 8, Vec::new()).expect("a constant pool")
    }

    pub(crate) fn scan(&self) -> CodeScan {
        let mut scan = CodeScan::default();
        scan.decode(&self.code).expect("readable code");
        scan
    }

    /// Rows of an exception table, by labels: `from to handler`, and the index of the catch type if there is one.
    pub(crate) fn rows(&self, rows: &[&str]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for row in rows {
            let mut items = [0; 4];
            for (item, word) in items.iter_mut().zip(row.split(' ')) {
                *item = word.parse().unwrap_or_else(|_| self.at(word) as u16);
            }
            items.iter().for_each(|item| bytes.extend(item.to_be_bytes()));
        }
        bytes
    }

    /// The `info` of a StackMapTable: label, kind of frame (`same same-extended stack stack-extended chop1 append
    /// full`), and verification types: `top int float double long null this A #INDEX new@LABEL`; of a full frame those
    /// of the stack follow behind `|`.
    pub(crate) fn frames(&mut self, frames: &[(&str, &str)]) -> Vec<u8> {
        let mut info = (frames.len() as u16).to_be_bytes().to_vec();
        let mut previous = -1;
        for (label, text) in frames {
            let pc = self.at(label) as i32;
            let delta = (pc - previous - 1) as u16;
            previous = pc;
            let (kind, types) = text.split_once(' ').unwrap_or((text, ""));
            let (locals, stack) = types.split_once('|').unwrap_or((types, ""));
            let [(locals, local_count), (stack, stack_count)] = [locals, stack].map(|types| {
                let types: Vec<Vec<u8>> = types.split_whitespace().map(|name| self.type_of(name)).collect();
                (types.concat(), types.len() as u16)
            });
            let tag = match kind {
                "same" if delta < 64 => delta as u8,
                "same" | "same-extended" => 251,
                "stack" if delta < 64 => 64 + delta as u8,
                "stack" | "stack-extended" => 247,
                "chop1" => 250,
                "chop2" => 249,
                "chop3" => 248,
                "append" => 251 + local_count as u8,
                "full" => 255,
                _ => panic!("no such frame: {kind}"),
            };
            info.push(tag);
            if tag >= 247 {
                info.extend(delta.to_be_bytes());
            }
            match kind {
                "full" => {
                    info.extend([&local_count.to_be_bytes()[..], &locals].concat());
                    info.extend([&stack_count.to_be_bytes()[..], &stack].concat());
                }
                _ => info.extend(locals),
            }
        }
        info
    }

    fn type_of(&mut self, name: &str) -> Vec<u8> {
        let simple = ["top", "int", "float", "double", "long", "null", "this"];
        if let Some(tag) = simple.iter().position(|simple| *simple == name) {
            return vec![tag as u8];
        }
        let (tag, index) = match (name.strip_prefix("new@"), name.strip_prefix('#')) {
            (Some(label), _) => (8, label.parse().unwrap_or_else(|_| self.at(label) as u16)),
            (_, Some(index)) => (7, index.parse().expect(index)),
            _ => (7, self.class_entry(name)),
        };
        [&[tag], &index.to_be_bytes()[..]].concat()
    }
}
