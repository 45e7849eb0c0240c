//! The constant pool being written (JVMS 4.4): entries in order of first use, each once.

use std::collections::HashMap;

use anyhow::{Context, Result, bail, ensure};

use super::text::{Token, integer};

/// Entries so far; the next index is `count`.
pub(super) struct Constants {
    bytes: Vec<u8>,
    count: u32,
    known: HashMap<Vec<u8>, u16>,
}

impl Constants {
    pub(super) fn new() -> Self {
        Constants { bytes: Vec::new(), count: 1, known: HashMap::new() }
    }

    /// `constant_pool_count` and the entries.
    pub(super) fn finish(&self) -> Result<Vec<u8>> {
        let mut out = u16::try_from(self.count).context("the constant pool is full")?.to_be_bytes().to_vec();
        out.extend(&self.bytes);
        Ok(out)
    }

    /// Adds Integer entries until the next index is `until`.
    pub(super) fn pad(&mut self, until: u32) -> Result<()> {
        let mut value = 0x4000_0000_u32;
        while self.count < until {
            self.entry(3, &value.to_be_bytes())?;
            value += 1;
        }
        ensure!(self.count == until, "the pool is already at {}", self.count);
        Ok(())
    }

    fn entry(&mut self, tag: u8, body: &[u8]) -> Result<u16> {
        let bytes = [&[tag], body].concat();
        if let Some(&index) = self.known.get(&bytes) {
            return Ok(index);
        }
        let index =
            u16::try_from(self.count).ok().filter(|&i| i < u16::MAX).context("the constant pool is full")?;
        self.count += if matches!(tag, 5 | 6) { 2 } else { 1 };
        self.bytes.extend(&bytes);
        self.known.insert(bytes, index);
        Ok(index)
    }

    pub(super) fn utf8(&mut self, text: &[u8]) -> Result<u16> {
        let length = u16::try_from(text.len()).context("a Utf8 constant of more than 65,535 bytes")?;
        self.entry(1, &[&length.to_be_bytes(), text].concat())
    }

    pub(super) fn class(&mut self, name: &[u8]) -> Result<u16> {
        self.named(7, name)
    }

    fn named(&mut self, tag: u8, text: &[u8]) -> Result<u16> {
        let utf8 = self.utf8(text)?;
        self.entry(tag, &utf8.to_be_bytes())
    }

    fn pair(&mut self, tag: u8, first: u16, second: u16) -> Result<u16> {
        self.entry(tag, &[first.to_be_bytes(), second.to_be_bytes()].concat())
    }

    fn name_and_type(&mut self, name: &Token, descriptor: &Token) -> Result<u16> {
        let (name, descriptor) = (self.utf8(&name.bytes)?, self.utf8(&descriptor.bytes)?);
        self.pair(12, name, descriptor)
    }

    /// A Fieldref (9), Methodref (10) or InterfaceMethodref (11) from `OWNER.NAME DESCRIPTOR`.
    pub(super) fn member(&mut self, tag: u8, member: &Token, descriptor: &Token) -> Result<u16> {
        let dot = member
            .bytes
            .iter()
            .rposition(|&b| b == b'.')
            .with_context(|| format!("{member}: no OWNER.NAME"))?;
        let owner = self.class(&member.bytes[..dot])?;
        let name = Token { bytes: member.bytes[dot + 1..].to_vec(), quoted: true };
        let name_and_type = self.name_and_type(&name, descriptor)?;
        self.pair(tag, owner, name_and_type)
    }

    /// A Dynamic (17) or InvokeDynamic (18) constant.
    pub(super) fn dynamic(
        &mut self,
        tag: u8,
        bootstrap: &Token,
        name: &Token,
        descriptor: &Token,
    ) -> Result<u16> {
        let bootstrap = u16::try_from(integer(bootstrap)?)?;
        let name_and_type = self.name_and_type(name, descriptor)?;
        self.pair(tag, bootstrap, name_and_type)
    }

    /// A loadable constant as it stands behind `ldc` or in a bootstrap argument list.
    pub(super) fn loadable(&mut self, tokens: &[Token]) -> Result<u16> {
        let first = tokens.first().context("a constant is missing")?;
        if first.quoted {
            return self.named(8, &first.bytes);
        }
        match (first.word(), tokens.len()) {
            ("class", 2) => self.class(&tokens[1].bytes),
            ("methodtype", 2) => self.named(16, &tokens[1].bytes),
            ("dynamic", 4) => self.dynamic(17, &tokens[1], &tokens[2], &tokens[3]),
            ("handle", 4 | 5) => self.method_handle(tokens),
            (word, 1) => self.number(word),
            _ => bail!("not a constant: {first}"),
        }
    }

    fn method_handle(&mut self, tokens: &[Token]) -> Result<u16> {
        let interface = tokens[2].word() == "interface";
        let rest = &tokens[if interface { 3 } else { 2 }..];
        ensure!(rest.len() == 2, "a handle names OWNER.NAME DESCRIPTOR");
        let kinds = [
            "getfield",
            "getstatic",
            "putfield",
            "putstatic",
            "invokevirtual",
            "invokestatic",
            "invokespecial",
        ];
        let known = kinds.iter().chain(["newinvokespecial", "invokeinterface"].iter());
        let kind =
            known.clone().position(|k| *k == tokens[1].word()).context("no such handle kind")? as u8 + 1;
        let tag = if kind <= 4 {
            9
        } else if interface || kind == 9 {
            11
        } else {
            10
        };
        let member = self.member(tag, &rest[0], &rest[1])?;
        self.entry(15, &[&[kind], &member.to_be_bytes()[..]].concat())
    }

    fn number(&mut self, word: &str) -> Result<u16> {
        let token = Token { bytes: word.as_bytes().to_vec(), quoted: false };
        if let Some(digits) = word.strip_suffix('L') {
            return self.entry(5, &digits.parse::<i64>()?.to_be_bytes());
        }
        if word.contains('.') {
            return match word.strip_suffix('f') {
                Some(digits) => self.entry(4, &digits.parse::<f32>()?.to_be_bytes()),
                None => self.entry(6, &word.trim_end_matches('d').parse::<f64>()?.to_be_bytes()),
            };
        }
        self.entry(3, &(integer(&token)? as i32).to_be_bytes())
    }
}
