//! Classes from labels, and back: generated programs are assembled, and a rewritten method is taken apart,
//! changed, and put together again with everything else still right, so that a seeded fault is the only one.

use super::listing::{decode, op};
use super::model::{Attribute, Class, Code, Method, Pool, Row};
use super::tables::{VerificationType, frames, initial_locals};
use std::collections::BTreeMap;

/// A place in the code; the item in front of which it stands decides.
pub(crate) type Label = usize;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Label(Label),
    Op(Vec<u8>),
    Branch(u8, Label),
    /// Opcode, what is not an offset (low and high, or the keys), default, cases.
    Switch(u8, Vec<i32>, Label, Vec<Label>),
}

/// A verification type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Simple(u8),
    /// A Class entry.
    Object(u16),
    /// The label of the `new`.
    Uninitialized(Label),
}

pub(crate) const INT: Type = Type::Simple(1);
pub(crate) const UNINITIALIZED_THIS: Type = Type::Simple(6);

/// The target of a type annotation (JVMS 4.7.20.1).
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// Target type and place; 0x47 and above carry one more byte.
    Offset(u8, Label),
    Catch(u16),
    Local(Label, Label, u16),
}

/// A code array under construction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    pub(crate) max_stack: u16,
    pub(crate) max_locals: u16,
    pub(crate) items: Vec<Item>,
    labels: usize,
    /// Start, end, handler, catch type.
    pub(crate) rows: Vec<(Label, Label, Label, u16)>,
    /// Label, locals, stack; written as full frames.
    pub(crate) frames: Vec<(Label, Vec<Type>, Vec<Type>)>,
    pub(crate) lines: Vec<(Label, u16)>,
    /// Start, end, name, descriptor, local.
    pub(crate) variables: Vec<(Label, Label, u16, u16, u16)>,
    pub(crate) annotations: Vec<Target>,
}

impl Body {
    pub(crate) fn new(max_stack: u16, max_locals: u16) -> Self {
        Self { max_stack, max_locals, ..Self::default() }
    }

    /// A label that stands nowhere yet.
    pub(crate) fn label(&mut self) -> Label {
        self.labels += 1;
        self.labels - 1
    }

    pub(crate) fn place(&mut self, label: Label) {
        self.items.push(Item::Label(label));
    }

    /// A label that stands here.
    pub(crate) fn here(&mut self) -> Label {
        let label = self.label();
        self.place(label);
        label
    }

    pub(crate) fn op(&mut self, bytes: &[u8]) {
        self.items.push(Item::Op(bytes.to_vec()));
    }

    /// An opcode with a constant-pool index.
    pub(crate) fn op2(&mut self, opcode: u8, index: u16) {
        let [a, b] = index.to_be_bytes();
        self.op(&[opcode, a, b]);
    }

    pub(crate) fn branch(&mut self, opcode: u8, label: Label) {
        self.items.push(Item::Branch(opcode, label));
    }

    pub(crate) fn frame(&mut self, label: Label, locals: &[Type], stack: &[Type]) {
        self.frames.push((label, locals.to_vec(), stack.to_vec()));
    }

    /// Bytes of the items in `from..`, without the padding of switches.
    pub(crate) fn size(&self) -> usize {
        let size = |item: &Item| match item {
            Item::Label(_) => 0,
            Item::Op(bytes) => bytes.len(),
            Item::Branch(op::GOTO_W | op::JSR_W, _) => 5,
            Item::Branch(..) => 3,
            Item::Switch(_, keys, _, cases) => 8 + 4 * (keys.len() + cases.len()),
        };
        self.items.iter().map(size).sum()
    }

    /// Position of every label, and the length of the code.
    fn positions(&self) -> (Vec<usize>, usize) {
        let mut positions = vec![usize::MAX; self.labels];
        let mut pc = 0;
        for item in &self.items {
            match item {
                Item::Label(label) => positions[*label] = pc,
                Item::Op(bytes) => pc += bytes.len(),
                Item::Branch(op::GOTO_W | op::JSR_W, _) => pc += 5,
                Item::Branch(..) => pc += 3,
                Item::Switch(opcode, keys, _, cases) => {
                    pc = (pc + 4) & !3;
                    let count = usize::from(*opcode == op::LOOKUPSWITCH);
                    pc += 4 * (1 + count + keys.len() + cases.len());
                }
            }
        }
        (positions, pc)
    }

    /// The Code attribute. Attributes whose name `names` does not have are left out.
    ///
    /// # Errors
    /// A branch does not reach its target.
    pub(crate) fn assemble(&self, names: &BTreeMap<&'static str, u16>) -> Result<Code, String> {
        let (at, _) = self.positions();
        let mut code = Vec::new();
        for item in &self.items {
            let pc = code.len();
            let offset = |label: Label| at[label] as i64 - pc as i64;
            match item {
                Item::Label(_) => {}
                Item::Op(bytes) => code.extend(bytes),
                Item::Branch(opcode, label) => {
                    code.push(*opcode);
                    if matches!(*opcode, op::GOTO_W | op::JSR_W) {
                        code.extend((offset(*label) as i32).to_be_bytes());
                    } else {
                        let offset =
                            i16::try_from(offset(*label)).map_err(|_| format!("branch at {pc} too long"))?;
                        code.extend(offset.to_be_bytes());
                    }
                }
                Item::Switch(opcode, keys, default, cases) => {
                    code.push(*opcode);
                    code.resize((pc + 4) & !3, 0);
                    code.extend((offset(*default) as i32).to_be_bytes());
                    if *opcode == op::TABLESWITCH {
                        keys.iter().for_each(|key| code.extend(key.to_be_bytes()));
                        cases.iter().for_each(|case| code.extend((offset(*case) as i32).to_be_bytes()));
                    } else {
                        code.extend((keys.len() as i32).to_be_bytes());
                        for (key, case) in keys.iter().zip(cases) {
                            code.extend(key.to_be_bytes());
                            code.extend((offset(*case) as i32).to_be_bytes());
                        }
                    }
                }
            }
        }
        let rows = self.rows.iter().map(|&(start, end, handler, catch_type)| Row {
            start: at[start],
            end: at[end],
            handler: at[handler],
            catch_type,
        });
        let (max_stack, max_locals) = (self.max_stack, self.max_locals);
        let mut attributes = Vec::new();
        let mut add = |name: &'static str, used: bool, info: Vec<u8>| {
            if let Some(&name) = names.get(name).filter(|_| used) {
                attributes.push(Attribute { name, info });
            }
        };
        add("LineNumberTable", !self.lines.is_empty(), self.line_info(&at));
        add("LocalVariableTable", !self.variables.is_empty(), self.variable_info(&at));
        add("StackMapTable", !self.frames.is_empty(), self.frame_info(&at));
        add("RuntimeVisibleTypeAnnotations", !self.annotations.is_empty(), self.annotation_info(&at, names));
        Ok(Code { max_stack, max_locals, code, rows: rows.collect(), attributes })
    }

    fn line_info(&self, at: &[usize]) -> Vec<u8> {
        let mut info = (self.lines.len() as u16).to_be_bytes().to_vec();
        for &(label, line) in &self.lines {
            info.extend((at[label] as u16).to_be_bytes());
            info.extend(line.to_be_bytes());
        }
        info
    }

    fn variable_info(&self, at: &[usize]) -> Vec<u8> {
        let mut info = (self.variables.len() as u16).to_be_bytes().to_vec();
        for &(start, end, name, descriptor, local) in &self.variables {
            for item in [at[start] as u16, (at[end] - at[start]) as u16, name, descriptor, local] {
                info.extend(item.to_be_bytes());
            }
        }
        info
    }

    fn frame_info(&self, at: &[usize]) -> Vec<u8> {
        let mut sorted: BTreeMap<usize, _> = BTreeMap::new();
        for (label, locals, stack) in &self.frames {
            sorted.insert(at[*label], (locals, stack));
        }
        let mut info = (sorted.len() as u16).to_be_bytes().to_vec();
        let mut next = 0;
        for (pc, (locals, stack)) in sorted {
            info.push(255);
            info.extend(((pc - next) as u16).to_be_bytes());
            next = pc + 1;
            for types in [locals, stack] {
                info.extend((types.len() as u16).to_be_bytes());
                for item in types {
                    match *item {
                        Type::Simple(tag) => info.push(tag),
                        Type::Object(index) => {
                            info.push(7);
                            info.extend(index.to_be_bytes());
                        }
                        Type::Uninitialized(label) => {
                            info.push(8);
                            info.extend((at[label] as u16).to_be_bytes());
                        }
                    }
                }
            }
        }
        info
    }

    fn annotation_info(&self, at: &[usize], names: &BTreeMap<&'static str, u16>) -> Vec<u8> {
        let mut info = (self.annotations.len() as u16).to_be_bytes().to_vec();
        for target in &self.annotations {
            match *target {
                Target::Offset(kind, label) => {
                    info.push(kind);
                    info.extend((at[label] as u16).to_be_bytes());
                    info.extend((kind >= 0x47).then_some(0));
                }
                Target::Catch(row) => {
                    info.push(0x42);
                    info.extend(row.to_be_bytes());
                }
                Target::Local(start, end, local) => {
                    info.extend([0x40, 0, 1]);
                    for item in [at[start] as u16, (at[end] - at[start]) as u16, local] {
                        info.extend(item.to_be_bytes());
                    }
                }
            }
            info.push(0);
            info.extend(names.get("LAnnotation;").copied().unwrap_or(0).to_be_bytes());
            info.extend([0, 0]);
        }
        info
    }

    /// Takes a method of `class` apart. Only the attributes that [`assemble`](Self::assemble) writes survive.
    pub(crate) fn disassemble(class: &Class, method: usize) -> Result<Self, String> {
        let pool = &class.pool;
        let this = &class.methods[method];
        let code = this.attributes.iter().find(|a| pool.utf8(a.name) == b"Code").ok_or("no code")?;
        let code = Code::parse(&code.info)?;
        let insns = decode(&code.code)?;
        let mut body = Self::new(code.max_stack, code.max_locals);
        // One label per instruction, and one for the end.
        let mut label_at = vec![usize::MAX; code.code.len() + 1];
        for insn in &insns {
            label_at[insn.pc] = body.label();
        }
        label_at[code.code.len()] = body.label();
        let label =
            |pc: i64| label_at.get(pc as usize).copied().filter(|label| *label != usize::MAX).ok_or("off");
        for insn in &insns {
            body.items.push(Item::Label(label(insn.pc as i64)?));
            let targets = insn.targets().into_iter().map(label).collect::<Result<Vec<_>, _>>()?;
            body.items.push(if insn.is_branch() {
                Item::Branch(insn.op(), targets[0])
            } else if insn.is_switch() {
                let keys = insn.switch_keys();
                let keys = if insn.op() == op::TABLESWITCH { &keys[..] } else { &keys[1..] };
                let keys = keys.iter().map(|key| *key as i32).collect();
                Item::Switch(insn.op(), keys, targets[0], targets[1..].to_vec())
            } else {
                Item::Op(insn.bytes.to_vec())
            });
        }
        body.items.push(Item::Label(label(code.code.len() as i64)?));
        for row in &code.rows {
            let places = [row.start, row.end, row.handler].map(|pc| label(pc as i64));
            body.rows.push((places[0]?, places[1]?, places[2]?, row.catch_type));
        }
        for attribute in &code.attributes {
            let info = &attribute.info[..];
            let item = |at: usize| u16::from_be_bytes([info[at], info[at + 1]]);
            match pool.utf8(attribute.name) {
                b"LineNumberTable" => {
                    for at in (2..info.len()).step_by(4) {
                        body.lines.push((label(item(at).into())?, item(at + 2)));
                    }
                }
                b"LocalVariableTable" => {
                    for at in (2..info.len()).step_by(10) {
                        let (start, length) = (i64::from(item(at)), i64::from(item(at + 2)));
                        let (start, end) = (label(start)?, label(start + length)?);
                        body.variables.push((start, end, item(at + 4), item(at + 6), item(at + 8)));
                    }
                }
                b"StackMapTable" => body.take_frames(class, this, info, &label)?,
                b"RuntimeVisibleTypeAnnotations" => body.take_annotations(info, &label_at),
                _ => {}
            }
        }
        Ok(body)
    }

    fn take_frames(
        &mut self,
        class: &Class,
        this: &Method,
        info: &[u8],
        label: &dyn Fn(i64) -> Result<usize, &'static str>,
    ) -> Result<(), String> {
        let pool = &class.pool;
        let is_constructor = pool.utf8(this.name) == b"<init>";
        let locals = initial_locals(
            pool.class(class.this_class()),
            pool.utf8(this.descriptor),
            this.flags & 8 != 0,
            is_constructor,
        );
        for frame in frames(info, pool, locals.ok_or("descriptor")?)? {
            let types = |types: &[VerificationType<'_>]| {
                types
                    .iter()
                    .map(|item| {
                        Ok(match *item {
                            VerificationType::Simple(tag) => Type::Simple(tag),
                            VerificationType::Object(name) => Type::Object(class_index(pool, name)),
                            VerificationType::Uninitialized(pc) => Type::Uninitialized(label(pc as i64)?),
                        })
                    })
                    .collect::<Result<Vec<_>, String>>()
            };
            let (locals, stack) = (types(&frame.locals)?, types(&frame.stack)?);
            self.frames.push((label(frame.pc as i64)?, locals, stack));
        }
        Ok(())
    }

    /// Only what [`annotation_info`](Self::annotation_info) writes.
    fn take_annotations(&mut self, info: &[u8], label_at: &[usize]) {
        let item = |at: usize| u16::from_be_bytes([info[at], info[at + 1]]);
        let mut at = 2;
        while at < info.len() {
            let (target, length) = match info[at] {
                0x40 => {
                    let (start, length) = (usize::from(item(at + 3)), usize::from(item(at + 5)));
                    (Target::Local(label_at[start], label_at[start + length], item(at + 7)), 9)
                }
                0x42 => (Target::Catch(item(at + 1)), 3),
                kind => {
                    let label = label_at[usize::from(item(at + 1))];
                    (Target::Offset(kind, label), 3 + usize::from(kind >= 0x47))
                }
            };
            self.annotations.push(target);
            at += length + 5;
        }
    }
}

/// The Class entry called `name`.
pub(crate) fn class_index(pool: &Pool, name: &[u8]) -> u16 {
    (1..pool.count).find(|&index| pool.class(index) == name && pool.entry(index).0 == 7).unwrap_or(0)
}

/// The attribute names that a pool has.
pub(crate) fn attribute_names(pool: &Pool) -> BTreeMap<&'static str, u16> {
    let mut names = BTreeMap::new();
    for known in ATTRIBUTES {
        if let Some(index) = (1..pool.count).find(|&index| pool.utf8(index) == known.as_bytes()) {
            names.insert(known, index);
        }
    }
    names
}

const ATTRIBUTES: [&str; 6] = [
    "Code",
    "LineNumberTable",
    "LocalVariableTable",
    "StackMapTable",
    "RuntimeVisibleTypeAnnotations",
    "LAnnotation;",
];

/// A class under construction: its pool grows as things are requested.
#[derive(Clone, Default)]
pub(crate) struct ClassBuilder {
    major: u16,
    name: String,
    entries: Vec<Vec<u8>>,
    fields: Vec<(u16, u16, u16)>,
    methods: Vec<Method>,
}

impl ClassBuilder {
    /// A public class that extends Object. From version 50 on its methods get frames.
    pub(crate) fn new(name: &str, major: u16) -> Self {
        Self { major, name: name.to_owned(), ..Self::default() }
    }

    fn entry(&mut self, bytes: Vec<u8>) -> u16 {
        let index = self.entries.iter().position(|known| *known == bytes).unwrap_or_else(|| {
            self.entries.push(bytes);
            self.entries.len() - 1
        });
        index as u16 + 1
    }

    pub(crate) fn utf8(&mut self, text: &str) -> u16 {
        let mut bytes = vec![1];
        bytes.extend((text.len() as u16).to_be_bytes());
        bytes.extend(text.as_bytes());
        self.entry(bytes)
    }

    fn pair(&mut self, tag: u8, a: u16, b: u16) -> u16 {
        let ([a, b], [c, d]) = (a.to_be_bytes(), b.to_be_bytes());
        self.entry(vec![tag, a, b, c, d])
    }

    pub(crate) fn class(&mut self, name: &str) -> u16 {
        let [a, b] = self.utf8(name).to_be_bytes();
        self.entry(vec![7, a, b])
    }

    fn member(&mut self, tag: u8, class: &str, name: &str, descriptor: &str) -> u16 {
        let (class, name, descriptor) = (self.class(class), self.utf8(name), self.utf8(descriptor));
        let name_and_type = self.pair(12, name, descriptor);
        self.pair(tag, class, name_and_type)
    }

    pub(crate) fn method_ref(&mut self, class: &str, name: &str, descriptor: &str) -> u16 {
        self.member(10, class, name, descriptor)
    }

    pub(crate) fn field_ref(&mut self, class: &str, name: &str, descriptor: &str) -> u16 {
        self.member(9, class, name, descriptor)
    }

    pub(crate) fn static_field(&mut self, name: &str, descriptor: &str) {
        let (name, descriptor) = (self.utf8(name), self.utf8(descriptor));
        self.fields.push((9, name, descriptor));
    }

    /// # Errors
    /// A branch does not reach its target.
    pub(crate) fn method(
        &mut self,
        flags: u16,
        name: &str,
        descriptor: &str,
        body: &Body,
    ) -> Result<(), String> {
        let mut names = BTreeMap::new();
        for known in ATTRIBUTES {
            if known != "StackMapTable" || self.major >= 50 {
                names.insert(known, self.utf8(known));
            }
        }
        let info = body.assemble(&names)?.to_info();
        let (name, descriptor) = (self.utf8(name), self.utf8(descriptor));
        let attributes = vec![Attribute { name: names["Code"], info }];
        self.methods.push(Method { flags, name, descriptor, attributes });
        Ok(())
    }

    pub(crate) fn build(&self) -> Vec<u8> {
        let mut this = self.clone();
        let (class, super_class) = (this.class(&self.name), this.class("java/lang/Object"));
        let mut out = 0xCAFE_BABEu32.to_be_bytes().to_vec();
        let minor = if self.major == 45 { 3 } else { 0 };
        for item in [minor, self.major, this.entries.len() as u16 + 1] {
            out.extend(item.to_be_bytes());
        }
        out.extend(this.entries.concat());
        for item in [0x21, class, super_class, 0, this.fields.len() as u16] {
            out.extend(item.to_be_bytes());
        }
        for (flags, name, descriptor) in &this.fields {
            for item in [*flags, *name, *descriptor, 0] {
                out.extend(item.to_be_bytes());
            }
        }
        // The model writes the rest.
        out.extend([0, 0, 0, 0]);
        let mut class = Class::parse(&out).unwrap_or_else(|error| panic!("{error}"));
        class.methods = this.methods;
        class.to_bytes()
    }
}

/// Replaces the code of a method.
pub(crate) fn replace_code(class: &mut Class, method: usize, code: &Code) {
    let name = attribute_names(&class.pool)["Code"];
    for attribute in class.methods[method].attributes.iter_mut().filter(|a| a.name == name) {
        attribute.info = code.to_info();
    }
}
