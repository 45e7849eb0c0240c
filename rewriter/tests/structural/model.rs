//! Class files as owned structures (JVMS 4): read, changed at will, written again.

use std::fmt::Write as _;

/// A cursor; every read may fail.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let slice =
            self.bytes.get(self.at..self.at + length).ok_or_else(|| format!("cut off at {}", self.at))?;
        self.at += length;
        Ok(slice)
    }

    pub(crate) fn u1(&mut self) -> Result<u8, String> {
        Ok(self.take(1)?[0])
    }

    pub(crate) fn u2(&mut self) -> Result<u16, String> {
        let b = self.take(2)?;
        Ok(u16::from_be_bytes([b[0], b[1]]))
    }

    pub(crate) fn u4(&mut self) -> Result<u32, String> {
        let b = self.take(4)?;
        Ok(u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
    }
}

/// The constant pool: its bytes behind the count, and where each entry begins.
#[derive(Clone)]
pub(crate) struct Pool {
    pub(crate) bytes: Vec<u8>,
    pub(crate) count: u16,
    offsets: Vec<usize>,
}

const NONE: usize = usize::MAX;

impl Pool {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, String> {
        let count = cursor.u2()?;
        let start = cursor.at;
        let mut offsets = vec![NONE; usize::from(count).max(1)];
        let mut index = 1;
        while index < usize::from(count) {
            offsets[index] = cursor.at - start;
            let size = match cursor.u1()? {
                1 => usize::from(cursor.u2()?),
                3 | 4 | 9 | 10 | 11 | 12 | 17 | 18 => 4,
                5 | 6 => {
                    index += 1;
                    8
                }
                7 | 8 | 16 | 19 | 20 => 2,
                15 => 3,
                tag => return Err(format!("constant {index} has tag {tag}")),
            };
            cursor.take(size)?;
            index += 1;
        }
        Ok(Self { bytes: cursor.bytes[start..cursor.at].to_vec(), count, offsets })
    }

    /// Tag and the bytes behind it; an empty slice where no entry is.
    pub(crate) fn entry(&self, index: u16) -> (u8, &[u8]) {
        match self.offsets.get(usize::from(index)) {
            Some(&offset) if offset != NONE => (self.bytes[offset], &self.bytes[offset + 1..]),
            _ => (0, &[]),
        }
    }

    pub(crate) fn utf8(&self, index: u16) -> &[u8] {
        match self.entry(index) {
            (1, b) => &b[2..2 + usize::from(u16::from_be_bytes([b[0], b[1]]))],
            _ => b"",
        }
    }

    pub(crate) fn class(&self, index: u16) -> &[u8] {
        match self.entry(index) {
            (7, b) => self.utf8(u16::from_be_bytes([b[0], b[1]])),
            _ => b"",
        }
    }

    /// Name and descriptor of whatever a field or invoke instruction names.
    pub(crate) fn name_and_type(&self, index: u16) -> (&[u8], &[u8]) {
        let (9 | 10 | 11 | 17 | 18, b) = self.entry(index) else { return (b"", b"") };
        match self.entry(u16::from_be_bytes([b[2], b[3]])) {
            (12, b) => {
                (self.utf8(u16::from_be_bytes([b[0], b[1]])), self.utf8(u16::from_be_bytes([b[2], b[3]])))
            }
            _ => (b"", b""),
        }
    }

    /// Class of a Methodref.
    pub(crate) fn method_class(&self, index: u16) -> &[u8] {
        match self.entry(index) {
            (10, b) => self.class(u16::from_be_bytes([b[0], b[1]])),
            _ => b"",
        }
    }

    pub(crate) fn integer(&self, index: u16) -> Option<u32> {
        match self.entry(index) {
            (3, b) => Some(u32::from_be_bytes([b[0], b[1], b[2], b[3]])),
            _ => None,
        }
    }
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Attribute {
    pub(crate) name: u16,
    pub(crate) info: Vec<u8>,
}

#[derive(Clone)]
pub(crate) struct Method {
    pub(crate) flags: u16,
    pub(crate) name: u16,
    pub(crate) descriptor: u16,
    pub(crate) attributes: Vec<Attribute>,
}

#[derive(Clone)]
pub(crate) struct Class {
    pub(crate) minor: u16,
    pub(crate) major: u16,
    pub(crate) pool: Pool,
    /// From `access_flags` to the last field.
    pub(crate) middle: Vec<u8>,
    pub(crate) methods: Vec<Method>,
    /// The class attributes with their count.
    pub(crate) tail: Vec<u8>,
}

fn attributes(cursor: &mut Cursor<'_>) -> Result<Vec<Attribute>, String> {
    (0..cursor.u2()?)
        .map(|_| {
            let name = cursor.u2()?;
            let length = cursor.u4()? as usize;
            Ok(Attribute { name, info: cursor.take(length)?.to_vec() })
        })
        .collect()
}

fn put_attributes(attributes: &[Attribute], out: &mut Vec<u8>) {
    out.extend((attributes.len() as u16).to_be_bytes());
    for attribute in attributes {
        out.extend(attribute.name.to_be_bytes());
        out.extend((attribute.info.len() as u32).to_be_bytes());
        out.extend(&attribute.info);
    }
}

impl Class {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let mut c = Cursor::new(bytes);
        if c.u4()? != 0xCAFE_BABE {
            return Err("no class file".into());
        }
        let (minor, major) = (c.u2()?, c.u2()?);
        let pool = Pool::parse(&mut c)?;
        let start = c.at;
        c.take(6)?;
        let interfaces = usize::from(c.u2()?);
        c.take(2 * interfaces)?;
        for _ in 0..c.u2()? {
            c.take(6)?;
            attributes(&mut c)?;
        }
        let middle = bytes[start..c.at].to_vec();
        let methods = (0..c.u2()?)
            .map(|_| {
                let (flags, name, descriptor) = (c.u2()?, c.u2()?, c.u2()?);
                Ok(Method { flags, name, descriptor, attributes: attributes(&mut c)? })
            })
            .collect::<Result<_, String>>()?;
        let start = c.at;
        attributes(&mut c)?;
        if c.at != bytes.len() {
            return Err(format!("{} bytes behind the class", bytes.len() - c.at));
        }
        Ok(Self { minor, major, pool, middle, methods, tail: bytes[start..].to_vec() })
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = 0xCAFE_BABEu32.to_be_bytes().to_vec();
        for item in [self.minor, self.major, self.pool.count] {
            out.extend(item.to_be_bytes());
        }
        out.extend(&self.pool.bytes);
        out.extend(&self.middle);
        out.extend((self.methods.len() as u16).to_be_bytes());
        for method in &self.methods {
            for item in [method.flags, method.name, method.descriptor] {
                out.extend(item.to_be_bytes());
            }
            put_attributes(&method.attributes, &mut out);
        }
        out.extend(&self.tail);
        out
    }

    pub(crate) fn this_class(&self) -> u16 {
        u16::from_be_bytes([self.middle[2], self.middle[3]])
    }

    pub(crate) fn has_super(&self) -> bool {
        self.middle[4..6] != [0, 0]
    }

    /// `name(descriptor)` for messages.
    pub(crate) fn method_name(&self, index: usize) -> String {
        let method = &self.methods[index];
        let mut text = String::new();
        for part in [method.name, method.descriptor] {
            let _ = write!(text, "{}", String::from_utf8_lossy(self.pool.utf8(part)));
        }
        text
    }

    pub(crate) fn method_called(&self, name: &str) -> usize {
        let found = self.methods.iter().position(|m| self.pool.utf8(m.name) == name.as_bytes());
        found.unwrap_or_else(|| panic!("no method {name}"))
    }
}

/// One row of an exception table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Row {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) handler: usize,
    pub(crate) catch_type: u16,
}

/// A Code attribute.
#[derive(Clone)]
pub(crate) struct Code {
    pub(crate) max_stack: u16,
    pub(crate) max_locals: u16,
    pub(crate) code: Vec<u8>,
    pub(crate) rows: Vec<Row>,
    pub(crate) attributes: Vec<Attribute>,
}

impl Code {
    pub(crate) fn parse(info: &[u8]) -> Result<Self, String> {
        let mut c = Cursor::new(info);
        let (max_stack, max_locals) = (c.u2()?, c.u2()?);
        let length = c.u4()? as usize;
        let code = c.take(length)?.to_vec();
        let rows = (0..c.u2()?)
            .map(|_| {
                let (start, end, handler) = (c.u2()?.into(), c.u2()?.into(), c.u2()?.into());
                Ok(Row { start, end, handler, catch_type: c.u2()? })
            })
            .collect::<Result<_, String>>()?;
        let attributes = attributes(&mut c)?;
        if c.at != info.len() {
            return Err("bytes behind the Code attribute".into());
        }
        Ok(Self { max_stack, max_locals, code, rows, attributes })
    }

    pub(crate) fn to_info(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(self.max_stack.to_be_bytes());
        out.extend(self.max_locals.to_be_bytes());
        out.extend((self.code.len() as u32).to_be_bytes());
        out.extend(&self.code);
        out.extend((self.rows.len() as u16).to_be_bytes());
        for row in &self.rows {
            for item in [row.start as u16, row.end as u16, row.handler as u16, row.catch_type] {
                out.extend(item.to_be_bytes());
            }
        }
        put_attributes(&self.attributes, &mut out);
        out
    }
}
