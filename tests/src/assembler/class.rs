//! The class around the methods (JVMS 4.1).

use anyhow::{Context, Result, ensure};

use super::code::{Code, attribute};
use super::constants::Constants;
use super::text::{Line, Token, integer, lines};

/// One finished class: the name it gave itself, and its bytes.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// Binary name as in `this_class`, lossy where it is not UTF-8.
    pub name: String,
    /// The class file.
    pub bytes: Vec<u8>,
}

/// Assembles every class of a source text.
///
/// # Errors
/// The first statement that cannot be written, with its line.
pub fn assemble(text: &str) -> Result<Vec<Assembled>> {
    let mut out = Vec::new();
    let mut class: Option<Class> = None;
    for line in lines(text)? {
        let step = || -> Result<()> {
            if class.as_ref().is_none_or(|c| c.method.is_none()) && line.tokens[0].word() == "class" {
                if let Some(done) = class.replace(Class::new(&line)?) {
                    out.push(done.finish()?);
                }
                return Ok(());
            }
            class.as_mut().context("a file starts with `class`")?.statement(&line.tokens)
        };
        let mut step = step;
        step().with_context(|| format!("line {}: {}", line.number, line.tokens[0]))?;
    }
    out.push(class.context("no class in this file")?.finish()?);
    Ok(out)
}

struct Method {
    head: [u16; 3],
    code: Code,
    attributes: Vec<Vec<Token>>,
}

struct Class {
    name: Token,
    flags: u16,
    version: (u16, u16),
    super_name: Option<Vec<u8>>,
    interfaces: Vec<Token>,
    pool: Constants,
    fields: Vec<u8>,
    field_count: u16,
    methods: Vec<u8>,
    method_count: u16,
    method: Option<Method>,
    bootstraps: Vec<Vec<u8>>,
    attributes: Vec<Vec<Token>>,
    fill: Option<u32>,
    truncate: Option<usize>,
    trailing: Vec<u8>,
}

impl Class {
    fn new(line: &Line) -> Result<Self> {
        let (name, flag_words) = line.tokens[1..].split_last().context("class FLAG.. NAME")?;
        Ok(Class {
            name: name.clone(),
            flags: flags(flag_words)?,
            version: (52, 0),
            super_name: Some(b"java/lang/Object".to_vec()),
            interfaces: Vec::new(),
            pool: Constants::new(),
            fields: Vec::new(),
            field_count: 0,
            methods: Vec::new(),
            method_count: 0,
            method: None,
            bootstraps: Vec::new(),
            attributes: Vec::new(),
            fill: None,
            truncate: None,
            trailing: Vec::new(),
        })
    }

    fn statement(&mut self, tokens: &[Token]) -> Result<()> {
        let word = tokens[0].word();
        if let Some(method) = &mut self.method {
            match word {
                "end" => self.end_method()?,
                "method-attribute" => method.attributes.push(tokens[1..].to_vec()),
                _ => method.code.statement(tokens, &mut self.pool)?,
            }
            return Ok(());
        }
        let argument = tokens.get(1).with_context(|| format!("{word}: an operand is missing"))?;
        match word {
            "version" => {
                let (major, minor) = argument.word().split_once('.').unwrap_or((argument.word(), "0"));
                self.version = (major.parse()?, minor.parse()?);
            }
            "extends" => self.super_name = (argument.word() != "none").then(|| argument.bytes.clone()),
            "implements" => self.interfaces.extend_from_slice(&tokens[1..]),
            "source" => {
                let index = self.pool.utf8(&argument.bytes)?;
                let item = Token { bytes: format!("u2:{index}").into_bytes(), quoted: false };
                self.attributes.push(vec![Token { bytes: b"SourceFile".to_vec(), quoted: false }, item]);
            }
            "pool" => self.pool.pad(integer(argument)? as u32)?,
            "fill-pool" => self.fill = Some(integer(argument)? as u32),
            "bootstrap" => self.bootstrap(&tokens[1..])?,
            "attribute" => self.attributes.push(tokens[1..].to_vec()),
            "truncate" => self.truncate = Some(integer(argument)? as usize),
            "trailing" => self.trailing = Code::default().items(&tokens[1..], &mut self.pool)?,
            "field" => {
                let head = self.member_head(&tokens[1..])?;
                self.fields.extend(head.iter().flat_map(|v| v.to_be_bytes()));
                self.fields.extend([0, 0]);
                self.field_count += 1;
            }
            "method" => {
                let head = self.member_head(&tokens[1..])?;
                self.method = Some(Method { head, code: Code::default(), attributes: Vec::new() });
            }
            _ => anyhow::bail!("{word}: no such statement in a class"),
        }
        Ok(())
    }

    fn member_head(&mut self, tokens: &[Token]) -> Result<[u16; 3]> {
        let [words @ .., name, descriptor] = tokens else { anyhow::bail!("FLAG.. NAME DESCRIPTOR") };
        Ok([flags(words)?, self.pool.utf8(&name.bytes)?, self.pool.utf8(&descriptor.bytes)?])
    }

    fn bootstrap(&mut self, tokens: &[Token]) -> Result<()> {
        let parts: Vec<u16> =
            tokens.split(|t| t.word() == ";").map(|part| self.pool.loadable(part)).collect::<Result<_>>()?;
        let mut entry = parts[0].to_be_bytes().to_vec();
        entry.extend((parts.len() as u16 - 1).to_be_bytes());
        parts[1..].iter().for_each(|part| entry.extend(part.to_be_bytes()));
        self.bootstraps.push(entry);
        Ok(())
    }

    fn end_method(&mut self) -> Result<()> {
        let Method { head, code, attributes } = self.method.take().context("end without method")?;
        self.methods.extend(head.iter().flat_map(|v| v.to_be_bytes()));
        let count = attributes.len() + usize::from(code.present);
        self.methods.extend((count as u16).to_be_bytes());
        if code.present {
            let body = code.finish(&mut self.pool)?;
            self.methods.extend(attribute(b"Code", &body, &mut self.pool)?);
        }
        for tokens in attributes {
            let body = Code::default().items(&tokens[1..], &mut self.pool)?;
            self.methods.extend(attribute(&tokens[0].bytes, &body, &mut self.pool)?);
        }
        self.method_count += 1;
        Ok(())
    }

    fn finish(mut self) -> Result<Assembled> {
        ensure!(self.method.is_none(), "a method without `end`");
        let this_class = self.pool.class(&self.name.bytes)?;
        let super_class = self.super_name.as_ref().map_or(Ok(0), |name| self.pool.class(name))?;
        let mut body = [self.flags, this_class, super_class, self.interfaces.len() as u16]
            .map(u16::to_be_bytes)
            .concat();
        for interface in &self.interfaces {
            body.extend(self.pool.class(&interface.bytes)?.to_be_bytes());
        }
        body.extend(self.field_count.to_be_bytes());
        body.extend(&self.fields);
        body.extend(self.method_count.to_be_bytes());
        body.extend(&self.methods);
        let count = self.attributes.len() + usize::from(!self.bootstraps.is_empty());
        body.extend((count as u16).to_be_bytes());
        if !self.bootstraps.is_empty() {
            let entries =
                [&(self.bootstraps.len() as u16).to_be_bytes(), &self.bootstraps.concat()[..]].concat();
            body.extend(attribute(b"BootstrapMethods", &entries, &mut self.pool)?);
        }
        for tokens in &self.attributes {
            let items = Code::default().items(&tokens[1..], &mut self.pool)?;
            body.extend(attribute(&tokens[0].bytes, &items, &mut self.pool)?);
        }
        if let Some(until) = self.fill {
            self.pool.pad(until)?;
        }
        let mut bytes = vec![0xca, 0xfe, 0xba, 0xbe];
        bytes.extend([self.version.1.to_be_bytes(), self.version.0.to_be_bytes()].concat());
        bytes.extend(self.pool.finish()?);
        bytes.extend(body);
        bytes.truncate(self.truncate.unwrap_or(usize::MAX));
        bytes.extend(self.trailing);
        Ok(Assembled { name: self.name.to_string(), bytes })
    }
}

/// Access flags by name; `super` and `synchronized` share a bit (JVMS tables 4.1-B, 4.5-A, 4.6-A).
fn flags(words: &[Token]) -> Result<u16> {
    let known = [
        ("public", 1),
        ("private", 2),
        ("protected", 4),
        ("static", 8),
        ("final", 0x10),
        ("super", 0x20),
        ("synchronized", 0x20),
        ("bridge", 0x40),
        ("volatile", 0x40),
        ("varargs", 0x80),
        ("transient", 0x80),
        ("native", 0x100),
        ("interface", 0x200),
        ("abstract", 0x400),
        ("strict", 0x800),
        ("synthetic", 0x1000),
        ("module", 0x8000),
    ];
    words.iter().try_fold(0, |all, word| {
        let flag = known
            .iter()
            .find(|(name, _)| *name == word.word())
            .with_context(|| format!("{word}: no such flag"))?;
        Ok(all | flag.1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::methods;

    fn code(body: &str) -> Vec<u8> {
        let text = format!("class public super A\nmethod static m ()V\nstack 1\nlocals 2\n{body}\nend");
        let class = assemble(&text).unwrap().remove(0);
        assert_eq!(class.name, "A");
        methods(&class.bytes).unwrap().remove("m()V").unwrap().unwrap()
    }

    #[test]
    fn branches_switches_and_wide_forms_are_the_bytes_of_the_specification() {
        let body =
            code("iconst_0\ntableswitch 1 L*2 default D\nL:\nwide iinc 300 -2\nD:\ngoto L\ncatch L D L any");
        let expected = [
            &[0, 1, 0, 2, 0, 0, 0, 33][..],
            &[3, 0xaa, 0, 0, 0, 0, 0, 29, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 23, 0, 0, 0, 23],
            &[0xc4, 0x84, 1, 44, 0xff, 0xfe, 0xa7, 0xff, 0xfa],
            &[0, 1, 0, 24, 0, 30, 0, 24, 0, 0, 0, 0],
        ]
        .concat();
        assert_eq!(body, expected);
    }

    #[test]
    fn errors_name_the_line() {
        let error = assemble("class A\n\nmethod static m ()V\ngoto NOWHERE\nend").unwrap_err();
        assert!(format!("{error:#}").contains("line 5: end: no label NOWHERE"), "{error:#}");
        let error = assemble("class A\nmethod m ()V\nfly\nend").unwrap_err();
        assert!(format!("{error:#}").contains("line 3: fly"), "{error:#}");
    }
}
