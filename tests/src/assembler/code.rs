//! One method's Code attribute (JVMS 4.7.3) from its statements.
//!
//! 1. Each statement appends bytes; a label used before it is known leaves a fix-up (where, from which pc, how wide).
//! 2. At `end` every label is known: fix-ups are filled in, then the tables that hold pcs are written.

use std::collections::HashMap;

use anyhow::{Context, Result, bail, ensure};

use super::constants::Constants;
use super::opcodes::{Operand, array_type, lookup};
use super::text::{Token, integer};

/// A place in the code that holds an offset: `at`, relative to `from`, in 4 bytes or 2.
struct FixUp {
    at: usize,
    from: usize,
    four: bool,
    label: Token,
}

type Tokens = Vec<Token>;

/// What the statements of one method said so far.
#[derive(Default)]
pub(super) struct Code {
    stack: u16,
    locals: u16,
    bytes: Vec<u8>,
    labels: HashMap<Vec<u8>, usize>,
    fix_ups: Vec<FixUp>,
    frames: Vec<(usize, Tokens)>,
    catches: Vec<Tokens>,
    lines: Vec<(usize, usize, u16)>,
    variables: Vec<Tokens>,
    attributes: Vec<Tokens>,
    /// Whether any statement of a Code attribute was seen.
    pub(super) present: bool,
}

impl Code {
    /// Takes one statement of a method body.
    pub(super) fn statement(&mut self, tokens: &[Token], pool: &mut Constants) -> Result<()> {
        self.present = true;
        let word = tokens[0].word();
        if let Some(label) = word.strip_suffix(':').filter(|_| tokens.len() == 1) {
            let old = self.labels.insert(label.as_bytes().to_vec(), self.bytes.len());
            ensure!(old.is_none(), "label {label} stands twice");
            return Ok(());
        }
        let argument = |at: usize| tokens.get(at).with_context(|| format!("{word}: an operand is missing"));
        match word {
            "stack" => self.stack = integer(argument(1)?)? as u16,
            "locals" => self.locals = integer(argument(1)?)? as u16,
            "frame" => self.frames.push((self.bytes.len(), tokens[1..].to_vec())),
            "catch" => self.catches.push(tokens[1..].to_vec()),
            "line" => {
                let table = tokens.get(2).map_or(Ok(0), integer)? as usize;
                self.lines.push((table, self.bytes.len(), integer(argument(1)?)? as u16));
            }
            "var" | "vartype" => self.variables.push(tokens.to_vec()),
            "attribute" => self.attributes.push(tokens[1..].to_vec()),
            "bytes" => {
                let items = self.items(&tokens[1..], pool)?;
                self.bytes.extend(items);
            }
            _ => self.instruction(tokens, pool)?,
        }
        Ok(())
    }

    fn instruction(&mut self, tokens: &[Token], pool: &mut Constants) -> Result<()> {
        let name = tokens[0].word();
        let (opcode, operand) = lookup(name).with_context(|| format!("{}: no such statement", tokens[0]))?;
        let argument = |at: usize| tokens.get(at).with_context(|| format!("{name}: an operand is missing"));
        let pc = self.bytes.len();
        self.bytes.push(opcode);
        match operand {
            Operand::None => {}
            Operand::Byte => self.bytes.push(integer(argument(1)?)? as u8),
            Operand::Short => self.u2(integer(argument(1)?)? as u16),
            Operand::Local => self.bytes.push(u8::try_from(integer(argument(1)?)?)?),
            Operand::Iinc => {
                self.bytes.extend([
                    u8::try_from(integer(argument(1)?)?)?,
                    i8::try_from(integer(argument(2)?)?)? as u8,
                ]);
            }
            Operand::Branch => self.offset(pc, false, argument(1)?),
            Operand::WideBranch => self.offset(pc, true, argument(1)?),
            Operand::Constant => self.bytes.push(u8::try_from(pool.loadable(&tokens[1..])?)?),
            Operand::WideConstant => self.u2(pool.loadable(&tokens[1..])?),
            Operand::Class => self.u2(pool.class(&argument(1)?.bytes)?),
            Operand::Field => self.u2(pool.member(9, argument(1)?, argument(2)?)?),
            Operand::Method if argument(1)?.word() == "interface" => {
                self.u2(pool.member(11, argument(2)?, argument(3)?)?);
            }
            Operand::Method => self.u2(pool.member(10, argument(1)?, argument(2)?)?),
            Operand::InterfaceMethod => {
                self.u2(pool.member(11, argument(1)?, argument(2)?)?);
                self.bytes.extend([argument_slots(&argument(2)?.bytes)? + 1, 0]);
            }
            Operand::Dynamic => {
                self.u2(pool.dynamic(18, argument(1)?, argument(2)?, argument(3)?)?);
                self.u2(0);
            }
            Operand::ArrayType => {
                self.bytes.push(array_type(argument(1)?.word()).context("no such array type")?)
            }
            Operand::MultiArray => {
                self.u2(pool.class(&argument(1)?.bytes)?);
                self.bytes.push(u8::try_from(integer(argument(2)?)?)?);
            }
            Operand::Wide => {
                let (opcode, operand) = lookup(argument(1)?.word()).context("wide what?")?;
                self.bytes.push(opcode);
                self.u2(u16::try_from(integer(argument(2)?)?)?);
                if operand == Operand::Iinc {
                    self.u2(i16::try_from(integer(argument(3)?)?)? as u16);
                }
            }
            Operand::TableSwitch | Operand::LookupSwitch => self.switch(pc, operand, &tokens[1..])?,
        }
        Ok(())
    }

    fn switch(&mut self, pc: usize, kind: Operand, tokens: &[Token]) -> Result<()> {
        let default =
            tokens.iter().position(|t| t.word() == "default").context("a switch needs a default")?;
        let target = tokens.get(default + 1).context("default: a label is missing")?;
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.offset(pc, true, target);
        let label = |text: &str| Token { bytes: text.as_bytes().to_vec(), quoted: false };
        if kind == Operand::TableSwitch {
            let low = integer(&tokens[0])? as i32;
            let mut targets = Vec::new();
            for token in &tokens[1..default] {
                let (name, times) = token.word().split_once('*').unwrap_or((token.word(), "1"));
                targets.extend(vec![label(name); times.parse()?]);
            }
            self.bytes.extend(low.to_be_bytes());
            self.bytes.extend(low.wrapping_add(targets.len() as i32 - 1).to_be_bytes());
            targets.iter().for_each(|target| self.offset(pc, true, target));
        } else {
            let mut pairs = Vec::new();
            for token in &tokens[..default] {
                let (keys, name) = token.word().split_once(':').context("lookupswitch KEY:LABEL")?;
                let (first, last) = keys.split_once("..").unwrap_or((keys, keys));
                pairs.extend((first.parse::<i32>()?..=last.parse()?).map(|key| (key, label(name))));
            }
            self.bytes.extend((pairs.len() as u32).to_be_bytes());
            for (key, target) in pairs {
                self.bytes.extend(key.to_be_bytes());
                self.offset(pc, true, &target);
            }
        }
        Ok(())
    }

    fn u2(&mut self, value: u16) {
        self.bytes.extend(value.to_be_bytes());
    }

    fn offset(&mut self, from: usize, four: bool, label: &Token) {
        self.fix_ups.push(FixUp { at: self.bytes.len(), from, four, label: label.clone() });
        self.bytes.extend(vec![0; if four { 4 } else { 2 }]);
    }

    fn pc(&self, label: &[u8]) -> Result<usize> {
        self.labels
            .get(label)
            .copied()
            .with_context(|| format!("no label {}", String::from_utf8_lossy(label)))
    }

    fn pc2(&self, label: &Token) -> Result<u16> {
        u16::try_from(self.pc(&label.bytes)?).context("a pc above 65,535")
    }

    /// Free bytes: hex, numbers, pool indices, pcs.
    pub(super) fn items(&self, tokens: &[Token], pool: &mut Constants) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        for token in tokens {
            let (kind, value) = token.word().split_once(':').unwrap_or(("", token.word()));
            let text = Token { bytes: value.as_bytes().to_vec(), quoted: false };
            match kind {
                "u1" => out.push(integer(&text)? as u8),
                "u2" => out.extend((integer(&text)? as u16).to_be_bytes()),
                "u4" => out.extend((integer(&text)? as u32).to_be_bytes()),
                "pc" => out.extend(self.pc2(&text)?.to_be_bytes()),
                "utf8" => out.extend(pool.utf8(&text.bytes)?.to_be_bytes()),
                "class" => out.extend(pool.class(&text.bytes)?.to_be_bytes()),
                _ => {
                    ensure!(value.len().is_multiple_of(2) && value.is_ascii(), "{token}: not hex bytes");
                    for at in (0..value.len()).step_by(2) {
                        out.push(u8::from_str_radix(&value[at..at + 2], 16)?);
                    }
                }
            }
        }
        Ok(out)
    }

    /// The body of the Code attribute, from `max_stack` on.
    pub(super) fn finish(mut self, pool: &mut Constants) -> Result<Vec<u8>> {
        for fix in std::mem::take(&mut self.fix_ups) {
            let delta = self.pc(&fix.label.bytes)? as i64 - fix.from as i64;
            if fix.four {
                self.bytes[fix.at..fix.at + 4].copy_from_slice(&(delta as i32).to_be_bytes());
            } else {
                let short =
                    i16::try_from(delta).with_context(|| format!("{}: the jump is too long", fix.label))?;
                self.bytes[fix.at..fix.at + 2].copy_from_slice(&short.to_be_bytes());
            }
        }
        let mut out = [self.stack.to_be_bytes(), self.locals.to_be_bytes()].concat();
        out.extend((self.bytes.len() as u32).to_be_bytes());
        out.extend(&self.bytes);
        out.extend((self.catches.len() as u16).to_be_bytes());
        for row in &self.catches {
            let [start, end, handler, class] = &row[..] else { bail!("catch START END HANDLER any|CLASS") };
            for label in [start, end, handler] {
                out.extend(self.pc2(label)?.to_be_bytes());
            }
            let class = if class.word() == "any" { 0 } else { pool.class(&class.bytes)? };
            out.extend(class.to_be_bytes());
        }
        let attributes = self.tables(pool)?;
        out.extend((attributes.len() as u16).to_be_bytes());
        for (name, body) in attributes {
            out.extend(attribute(&name, &body, pool)?);
        }
        Ok(out)
    }

    fn tables(&self, pool: &mut Constants) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let mut out = Vec::new();
        for table in 0..=self.lines.iter().map(|line| line.0).max().unwrap_or(0) {
            let rows: Vec<_> = self.lines.iter().filter(|line| line.0 == table).collect();
            if !rows.is_empty() {
                let mut body = (rows.len() as u16).to_be_bytes().to_vec();
                rows.iter().for_each(|row| {
                    body.extend([(row.1 as u16).to_be_bytes(), row.2.to_be_bytes()].concat())
                });
                out.push((b"LineNumberTable".to_vec(), body));
            }
        }
        for (keyword, name) in [("var", "LocalVariableTable"), ("vartype", "LocalVariableTypeTable")] {
            let rows: Vec<_> = self.variables.iter().filter(|row| row[0].word() == keyword).collect();
            if !rows.is_empty() {
                let mut body = (rows.len() as u16).to_be_bytes().to_vec();
                for row in rows {
                    ensure!(row.len() == 6, "{keyword} START END NAME DESCRIPTOR INDEX");
                    let (start, end) = (self.pc2(&row[1])?, self.pc2(&row[2])?);
                    let (name, descriptor) = (pool.utf8(&row[3].bytes)?, pool.utf8(&row[4].bytes)?);
                    for value in [start, end.wrapping_sub(start), name, descriptor, integer(&row[5])? as u16]
                    {
                        body.extend(value.to_be_bytes());
                    }
                }
                out.push((name.into(), body));
            }
        }
        if !self.frames.is_empty() {
            out.push((b"StackMapTable".to_vec(), self.stack_map_table(pool)?));
        }
        for tokens in &self.attributes {
            out.push((tokens[0].bytes.clone(), self.items(&tokens[1..], pool)?));
        }
        Ok(out)
    }

    /// JVMS 4.7.4: each frame stands one after the offset of the frame before it.
    fn stack_map_table(&self, pool: &mut Constants) -> Result<Vec<u8>> {
        let mut out = (self.frames.len() as u16).to_be_bytes().to_vec();
        let mut next = 0;
        for (pc, tokens) in &self.frames {
            let delta = pc.checked_sub(next).context("two frames at one pc, or frames out of order")?;
            next = pc + 1;
            let wide = (delta as u16).to_be_bytes();
            let kind = tokens.first().context("frame: what kind?")?.word();
            let types = &tokens[1..];
            match kind {
                "same" if delta < 64 => out.push(delta as u8),
                "same" => out.extend([&[251], &wide[..]].concat()),
                "same1" if delta < 64 => out.push(64 + delta as u8),
                "same1" => out.extend([&[247], &wide[..]].concat()),
                "chop" => out
                    .extend([&[251 - integer(types.first().context("chop N")?)? as u8], &wide[..]].concat()),
                "append" => out.extend([&[251 + types.len() as u8], &wide[..]].concat()),
                "full" => out.extend([&[255], &wide[..]].concat()),
                _ => bail!("{kind}: no such frame"),
            }
            match kind {
                "same1" | "append" => out.extend(self.types(types, pool)?),
                "full" => {
                    let bar =
                        types.iter().position(|t| t.word() == "|").context("frame full LOCALS | STACK")?;
                    for part in [&types[..bar], &types[bar + 1..]] {
                        out.extend((part.len() as u16).to_be_bytes());
                        out.extend(self.types(part, pool)?);
                    }
                }
                _ => {}
            }
        }
        Ok(out)
    }

    fn types(&self, tokens: &[Token], pool: &mut Constants) -> Result<Vec<u8>> {
        let simple = ["top", "int", "float", "double", "long", "null", "this"];
        let mut out = Vec::new();
        for token in tokens {
            if let Some(tag) = simple.iter().position(|name| *name == token.word()) {
                out.push(tag as u8);
            } else if let Some(label) = token.word().strip_prefix("new:") {
                out.push(8);
                out.extend(u16::try_from(self.pc(label.as_bytes())?)?.to_be_bytes());
            } else {
                out.push(7);
                out.extend(pool.class(&token.bytes)?.to_be_bytes());
            }
        }
        Ok(out)
    }
}

/// `attribute_info` (JVMS 4.7).
pub(super) fn attribute(name: &[u8], body: &[u8], pool: &mut Constants) -> Result<Vec<u8>> {
    let name = pool.utf8(name)?.to_be_bytes();
    Ok([&name[..], &u32::try_from(body.len())?.to_be_bytes(), body].concat())
}

/// Stack slots of a descriptor's parameters.
fn argument_slots(descriptor: &[u8]) -> Result<u8> {
    let (mut slots, mut at) = (0_u8, 1);
    while *descriptor.get(at).context("a descriptor without )")? != b')' {
        let start = at;
        while descriptor[at] == b'[' {
            at += 1;
        }
        if descriptor[at] == b'L' {
            at += descriptor[at..].iter().position(|&b| b == b';').context("a class name without ;")?;
        }
        slots = slots
            .checked_add(if matches!(descriptor[start], b'J' | b'D') { 2 } else { 1 })
            .context("too many")?;
        at += 1;
    }
    Ok(slots)
}
