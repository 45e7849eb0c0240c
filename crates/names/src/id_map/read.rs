//! An id map from its text, and what can be wrong with one.

use super::text;
use super::{ClassIds, Facts, HEADER, IdMap, IdMapFull, MAX_ID, Span};
use std::io::{self, Read};

/// No line is longer, in bytes: two names of 65,535 bytes (JVMS 4.4.7), each byte escaped to four, and some numbers.
const LONGEST_LINE: usize = 1 << 20;

/// Reads the text of a map to its end, in pieces: a file may claim a length that it does not have the content for (a
/// sparse file).
///
/// # Errors
/// The reader's; [`io::ErrorKind::InvalidData`] for what goes on for a mebibyte without the end of a line, which is no
/// id map. Memory is bounded by twice the text that has lines.
pub fn read_text(mut reader: impl Read) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    loop {
        let start = text.len();
        let count = (&mut reader).take(LONGEST_LINE as u64).read_to_end(&mut text)?;
        if count < LONGEST_LINE {
            return Ok(text);
        }
        if !text[start..].contains(&b'\n') {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not an id map: a line is too long"));
        }
    }
}

/// A text that is no id map.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {kind}")]
pub struct IdMapError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub kind: IdMapErrorKind,
}

/// What can be wrong with a line of an id map.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdMapErrorKind {
    /// The first line is not the header.
    #[error("not an id map: it does not begin with `instrument ids 1`")]
    NotAnIdMap,
    /// The header names another version.
    #[error("id map version {0}; this program reads version 1")]
    Version(String),
    /// Neither a class nor a method line.
    #[error("neither `class NAME SOURCE` nor `ID NAME DESCRIPTOR LINE FLAGS FINGERPRINT`")]
    Malformed,
    /// A field that cannot be read.
    #[error("{field}: {reason}")]
    Field {
        /// Which one.
        field: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// A method line without a class line before it.
    #[error("a method before the first class")]
    MethodBeforeClass,
    /// The id belongs to another method.
    #[error("id {id} already belongs to another method")]
    IdTaken {
        /// The id.
        id: u32,
    },
    /// The method has another id.
    #[error("this method already has id {known}, not {id}")]
    SecondId {
        /// The id on this line.
        id: u32,
        /// The id on the method's first line.
        known: u32,
    },
    /// A new id that is not greater than those before it.
    #[error("new id {id} after id {last}; new ids must grow")]
    OutOfOrder {
        /// The id on this line.
        id: u32,
        /// The largest id so far.
        last: u32,
    },
    /// See [`IdMapFull`].
    #[error("{0}")]
    Full(#[from] IdMapFull),
}

impl IdMap {
    /// Reads a map. Bytes after the last line end are a line that was being appended when the writer died: they are
    /// ignored, and [`valid_len`](IdMap::valid_len) is where the next append must begin. An empty text is an empty map.
    ///
    /// # Errors
    /// The first line that is wrong in any other way. Memory is bounded by a small multiple of the text.
    pub fn parse(text: &[u8]) -> Result<IdMap, IdMapError> {
        let mut map = IdMap::new();
        map.parse_more(text)?;
        Ok(map)
    }

    /// Reads what was appended to the text from [`valid_len`](IdMap::valid_len) on: by others, or by ourselves (see
    /// [`write_new`](IdMap::write_new)), which is how a map learns what of it has been written. What others append
    /// comes before any id of our own is given.
    ///
    /// # Errors
    /// As [`parse`](IdMap::parse); lines are counted from the beginning of `text`.
    pub fn parse_more(&mut self, text: &[u8]) -> Result<(), IdMapError> {
        let whole = text.iter().rposition(|&b| b == b'\n').map_or(0, |end| end + 1);
        self.parsed.torn = text.len() - whole;
        if whole == 0 {
            let torn_header = self.parsed.header || HEADER.as_bytes().starts_with(text);
            return if torn_header {
                Ok(())
            } else {
                Err(IdMapError { line: 1, kind: IdMapErrorKind::NotAnIdMap })
            };
        }
        let mut class = None;
        for (index, line) in text[..whole - 1].split(|&b| b == b'\n').enumerate() {
            let parsed = if self.parsed.header {
                self.parse_line(line, &mut class)
            } else {
                self.parsed.header = true;
                parse_header(line)
            };
            parsed.map_err(|kind| IdMapError { line: index + 1, kind })?;
        }
        self.parsed.length += whole;
        self.parsed.classes = self.classes.len() as u32;
        self.parsed.methods = self.methods.len() as u32;
        self.parsed.sources.clear();
        self.parsed.facts.clear();
        Ok(())
    }

    fn parse_line(&mut self, line: &[u8], class: &mut Option<ClassIds>) -> Result<(), IdMapErrorKind> {
        let mut fields = line.split(|&b| b == b' ');
        let mut field = || fields.next().filter(|field| !field.is_empty()).ok_or(IdMapErrorKind::Malformed);
        let first = field()?;
        // Names are unescaped onto the end of the arena and looked up there; a known one is cut off again.
        let start = self.arena.len();
        let field_error = |field, reason| IdMapErrorKind::Field { field, reason };
        if first == b"class" {
            let (name, source) = (field()?, field()?);
            text::unescape(name, &mut self.arena).map_err(|reason| field_error("class name", reason))?;
            let source_start = self.arena.len();
            if source != b"-" {
                text::unescape(source, &mut self.arena)
                    .map_err(|reason| field_error("source file", reason))?;
            }
            if fields.next().is_some() {
                return Err(IdMapErrorKind::Malformed);
            }
            let tail = self.arena.split_off(start);
            let (name, file) = tail.split_at(source_start - start);
            *class = Some(self.begin_class(name, (source != b"-").then_some(file))?);
            return Ok(());
        }
        if !first[0].is_ascii_digit() {
            return Err(IdMapErrorKind::Malformed);
        }
        let id = decimal(first).map_err(|reason| field_error("id", reason))?;
        if id == 0 || id > MAX_ID {
            return Err(field_error("id", "not within 1..2147483647"));
        }
        let (name, descriptor) = (field()?, field()?);
        let line = decimal(field()?).map_err(|reason| field_error("line", reason))?;
        let flags = text::hex(field()?).map_err(|reason| field_error("flags", reason))?;
        let fingerprint = field()?;
        if fields.next().is_some() {
            return Err(IdMapErrorKind::Malformed);
        }
        let facts = Facts {
            line,
            flags: u32::try_from(flags).map_err(|_| field_error("flags", "more than 32 bits"))?,
            fingerprint: if fingerprint.len() == 16 {
                text::hex(fingerprint).map_err(|reason| field_error("fingerprint", reason))?
            } else {
                return Err(field_error("fingerprint", "not 16 digits"));
            },
        };
        let class = class.ok_or(IdMapErrorKind::MethodBeforeClass)?;
        text::unescape(name, &mut self.arena).map_err(|reason| field_error("method name", reason))?;
        let middle = self.arena.len();
        text::unescape(descriptor, &mut self.arena).map_err(|reason| field_error("descriptor", reason))?;
        let (name, descriptor) = (&self.arena[start..middle], &self.arena[middle..]);
        let hash = self.method_hash(class, name, descriptor);
        let last = self.last_id();
        match self.find_method(hash, class, name, descriptor, facts.is_library_call()) {
            Some(index) => {
                self.arena.truncate(start);
                let method = &mut self.methods[index as usize];
                if method.id != id {
                    return Err(IdMapErrorKind::SecondId { id, known: method.id });
                }
                method.facts = facts;
            }
            None if id <= last && self.index_of(id).is_some() => return Err(IdMapErrorKind::IdTaken { id }),
            None if id <= last => return Err(IdMapErrorKind::OutOfOrder { id, last }),
            None => {
                let span = Span { at: self.position(start)?, length: (middle - start) as u32 };
                let descriptor_length = descriptor.len() as u32;
                self.position(self.arena.len())?;
                self.add_method(id, class, hash, span, descriptor_length, facts);
            }
        }
        Ok(())
    }
}

fn parse_header(line: &[u8]) -> Result<(), IdMapErrorKind> {
    match line.strip_prefix(b"instrument ids ") {
        Some(b"1") => Ok(()),
        Some(version)
            if version.len() <= 10 && version.iter().all(u8::is_ascii_digit) && !version.is_empty() =>
        {
            Err(IdMapErrorKind::Version(String::from_utf8_lossy(version).into_owned()))
        }
        _ => Err(IdMapErrorKind::NotAnIdMap),
    }
}

fn decimal(digits: &[u8]) -> Result<u32, &'static str> {
    let reason = "not a decimal number of 32 bits";
    if digits.is_empty() || digits.len() > 10 {
        return Err(reason);
    }
    let value = digits.iter().try_fold(0u64, |value, digit| {
        digit.is_ascii_digit().then(|| value * 10 + u64::from(digit - b'0')).ok_or(reason)
    })?;
    u32::try_from(value).map_err(|_| reason)
}
