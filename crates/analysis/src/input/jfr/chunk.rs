//! A chunk of a recording: what its events are made of (metadata), values that they share (constant pools), and the events.
//!
//! Every length is compared with what is there, so that damage is an error and never takes memory or time without end.

use crate::hash::HashMap;
use std::io::{Read, Result};
use std::rc::Rc;

/// In front of every chunk.
pub(in crate::input) const MAGIC: &[u8] = b"FLR\0";
/// Magic, version, size, places of pools and metadata, start and length in ns, start in ticks, ticks a second, features.
const HEADER: usize = 68;
/// Whether whole numbers are packed; HotSpot packs them.
const PACKED: u32 = 1;
const METADATA: u64 = 0;
const POOLS: u64 = 1;
/// Values within values; HotSpot has 6.
const DEEPEST: u32 = 8;
/// Values of an event, or of one that is shared: HotSpot has six for each of 2,048 frames at most.
const MOST: u32 = 1 << 16;
/// Names of the metadata that are read; longer texts say nothing that is.
const LONGEST: usize = 1 << 10;

/// What is wrong, in words.
pub(super) type Parsed<T> = std::result::Result<T, &'static str>;

const CUT: &str = "it ends in the middle of a value";

/// A value; of strings those that are there.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Number(i64),
    Real(f64),
    Text(Option<String>),
    /// In the pool of a class.
    Shared(u64, i64),
    Fields(u64, Vec<Value>),
    List(Vec<Value>),
}

#[derive(Debug, Default)]
struct Class {
    name: Rc<str>,
    fields: Vec<Field>,
}

#[derive(Debug)]
struct Field {
    name: Rc<str>,
    class: u64,
    is_shared: bool,
    is_list: bool,
}

/// A chunk that was read.
pub(super) struct Chunk {
    bytes: Vec<u8>,
    pub(super) ticks_per_second: u64,
    classes: HashMap<u64, Class>,
    /// Where the shared values are.
    pools: HashMap<(u64, i64), usize>,
}

/// Takes values off bytes.
#[derive(Clone, Copy)]
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// How many values may still be taken.
    left: u32,
}

impl<'a> Cursor<'a> {
    fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at, left: MOST }
    }

    fn take(&mut self, length: u64) -> Parsed<&'a [u8]> {
        let rest = self.bytes.get(self.at..).ok_or(CUT)?;
        let length = usize::try_from(length).map_err(|_| CUT)?;
        let taken = rest.get(..length).ok_or(CUT)?;
        self.at += length;
        Ok(taken)
    }

    fn byte(&mut self) -> Parsed<u8> {
        Ok(self.take(1)?[0])
    }

    fn fixed<const N: usize>(&mut self) -> Parsed<[u8; N]> {
        self.take(N as u64)?.try_into().map_err(|_| CUT)
    }

    /// Seven bits a byte, the lowest first; a ninth byte has eight.
    fn number(&mut self) -> Parsed<u64> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let byte = u64::from(self.byte()?);
            if shift == 56 {
                return Ok(number | byte << 56);
            }
            number |= (byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        Ok(number)
    }

    /// How many of something follow; each takes a byte or more.
    fn count(&mut self) -> Parsed<usize> {
        let count = usize::try_from(self.number()?).map_err(|_| CUT)?;
        if count > self.bytes.len().saturating_sub(self.at) { Err(CUT) } else { Ok(count) }
    }

    /// One of the texts of the metadata.
    fn one_of<'t>(&mut self, texts: &'t [Rc<str>]) -> Parsed<&'t Rc<str>> {
        let at = usize::try_from(self.number()?).map_err(|_| CUT)?;
        texts.get(at).ok_or("a name of the metadata is not there")
    }

    fn text(&mut self, string: u64) -> Parsed<Value> {
        let text = match self.byte()? {
            0 => None,
            1 => Some(String::new()),
            2 => return Ok(Value::Shared(string, self.number()?.cast_signed())),
            3 => {
                let length = self.number()?;
                Some(String::from_utf8_lossy(self.take(length)?).into_owned())
            }
            4 => {
                let units = (0..self.count()?).map(|_| Ok(self.number()? as u16));
                Some(String::from_utf16_lossy(&units.collect::<Parsed<Vec<u16>>>()?))
            }
            5 => {
                let length = self.number()?;
                Some(self.take(length)?.iter().map(|&byte| char::from(byte)).collect())
            }
            _ => return Err("a string is written in a way that is not known"),
        };
        Ok(Value::Text(text))
    }
}

impl Chunk {
    /// Reads the next chunk; none at the end.
    ///
    /// # Errors
    /// The medium fails. Within: what is wrong with the chunk.
    pub(super) fn read(reader: &mut impl Read) -> Result<Option<Parsed<Chunk>>> {
        let mut bytes = Vec::new();
        reader.take(HEADER as u64).read_to_end(&mut bytes)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let header = (|| {
            let mut header = Cursor::new(&bytes, 0);
            if header.take(4)? != MAGIC {
                return Err("something else follows a chunk");
            }
            let major = u16::from_be_bytes(header.fixed()?);
            let mut longs = [0u64; 7];
            header.at = 8;
            for long in &mut longs {
                *long = u64::from_be_bytes(header.fixed()?);
            }
            let features = u32::from_be_bytes(header.fixed()?);
            if !(1..=2).contains(&major) || features & PACKED == 0 {
                return Err("it is of a version that is not known");
            }
            Ok(longs)
        })();
        let [size, pools, metadata, _, _, _, ticks_per_second] = match header {
            Ok(longs) => longs,
            Err(why) => return Ok(Some(Err(why))),
        };
        if size < HEADER as u64 {
            return Ok(Some(Err("a chunk is not finished; `jcmd PID JFR.dump` writes a whole file")));
        }
        reader.take(size - HEADER as u64).read_to_end(&mut bytes)?;
        if (bytes.len() as u64) < size {
            return Ok(Some(Err("it is cut off")));
        }
        let mut chunk =
            Chunk { bytes, ticks_per_second, classes: HashMap::default(), pools: HashMap::default() };
        let read = chunk.read_metadata(metadata).and_then(|()| chunk.read_pools(pools));
        Ok(Some(read.map(|()| chunk)))
    }

    /// At an event that is of a type, and ends in front of `end`.
    fn at(&self, place: u64, end: usize, expected: u64) -> Parsed<Cursor<'_>> {
        let at = usize::try_from(place).map_err(|_| CUT)?;
        let mut cursor = Cursor::new(self.bytes.get(..end).ok_or(CUT)?, at);
        cursor.number()?;
        if cursor.number()? != expected {
            Err("metadata or values are not where they should be")
        } else {
            Ok(cursor)
        }
    }

    fn read_metadata(&mut self, place: u64) -> Parsed<()> {
        let mut cursor = self.at(place, self.bytes.len(), METADATA)?;
        for _ in ["start", "duration", "id"] {
            cursor.number()?;
        }
        let texts = (0..cursor.count()?).map(|_| match cursor.text(0)? {
            Value::Text(text) => Ok(text.filter(|text| text.len() <= LONGEST).unwrap_or_default().into()),
            _ => Err("a name of the metadata is not there"),
        });
        let texts: Vec<Rc<str>> = texts.collect::<Parsed<_>>()?;
        let (mut classes, mut class) = (HashMap::default(), None);
        // Elements that are still to come; they stand behind the one that they are within.
        let mut left = 1u64;
        while left > 0 {
            let element = cursor.one_of(&texts)?;
            let mut attributes = HashMap::default();
            for _ in 0..cursor.count()? {
                let (key, value) = (cursor.one_of(&texts)?, cursor.one_of(&texts)?);
                attributes.insert(&**key, value);
            }
            let attribute = |key| attributes.get(key).map(|&text| Rc::clone(text)).unwrap_or_default();
            let id = |key| attribute(key).parse().unwrap_or(u64::MAX);
            match (&**element, class) {
                ("class", _) => {
                    class = Some(id("id"));
                    classes.insert(id("id"), Class { name: attribute("name"), fields: Vec::new() });
                }
                ("field", Some(of)) => {
                    let field = Field {
                        name: attribute("name"),
                        class: id("class"),
                        is_shared: &*attribute("constantPool") == "true",
                        is_list: &*attribute("dimension") == "1",
                    };
                    classes.entry(of).or_default().fields.push(field);
                }
                _ => {}
            }
            left = left - 1 + cursor.count()? as u64;
        }
        self.classes = classes;
        Ok(())
    }

    fn read_pools(&mut self, mut place: u64) -> Parsed<()> {
        let mut end = self.bytes.len();
        loop {
            let mut cursor = self.at(place, end, POOLS)?;
            cursor.number()?;
            cursor.number()?;
            let back = cursor.number()?.cast_signed();
            cursor.byte()?;
            let mut found = Vec::new();
            for _ in 0..cursor.count()? {
                let class = cursor.number()?;
                for _ in 0..cursor.count()? {
                    let key = cursor.number()?.cast_signed();
                    found.push(((class, key), cursor.at));
                    cursor.left = MOST;
                    self.value(&mut cursor, class, 0)?;
                }
            }
            self.pools.extend(found);
            match back {
                0 => return Ok(()),
                // Those before stand in front.
                1.. => return Err("values are not where they should be"),
                _ => {
                    end = usize::try_from(place).map_err(|_| CUT)?;
                    place = place.checked_add_signed(back).ok_or(CUT)?;
                }
            }
        }
    }

    fn value(&self, cursor: &mut Cursor<'_>, class: u64, depth: u32) -> Parsed<Value> {
        let of = self.classes.get(&class).ok_or("a value is of a class that is not known")?;
        if depth > DEEPEST {
            return Err("values stand too deep within each other");
        }
        cursor.left = cursor.left.checked_sub(1).ok_or("a value has too many parts")?;
        Ok(match &*of.name {
            "boolean" | "byte" => Value::Number(i64::from(cursor.byte()?.cast_signed())),
            "char" | "short" | "int" | "long" => Value::Number(cursor.number()?.cast_signed()),
            "float" => Value::Real(f64::from(f32::from_be_bytes(cursor.fixed()?))),
            "double" => Value::Real(f64::from_be_bytes(cursor.fixed()?)),
            "java.lang.String" => cursor.text(class)?,
            // It would take no byte.
            _ if of.fields.is_empty() => return Err("a value has no fields"),
            _ => {
                let fields = of.fields.iter().map(|field| self.field_value(cursor, field, depth));
                Value::Fields(class, fields.collect::<Parsed<_>>()?)
            }
        })
    }

    fn field_value(&self, cursor: &mut Cursor<'_>, field: &Field, depth: u32) -> Parsed<Value> {
        let count = if field.is_list { Some(cursor.count()?) } else { None };
        let mut one = || match field.is_shared {
            true => Ok(Value::Shared(field.class, cursor.number()?.cast_signed())),
            false => self.value(cursor, field.class, depth + 1),
        };
        match count {
            None => one(),
            Some(count) => (0..count).map(|_| one()).collect::<Parsed<_>>().map(Value::List),
        }
    }

    /// Visits the events of the types that `wants` names.
    pub(super) fn visit(
        &self,
        wants: impl Fn(&str) -> Option<usize>,
        mut visit: impl FnMut(usize, &Value),
    ) -> Parsed<()> {
        let wanted: HashMap<u64, usize> =
            self.classes.iter().filter_map(|(&id, class)| Some((id, wants(&class.name)?))).collect();
        let mut at = HEADER;
        while at < self.bytes.len() {
            let mut cursor = Cursor::new(&self.bytes, at);
            let size = usize::try_from(cursor.number()?).map_err(|_| CUT)?;
            if size == 0 || size > self.bytes.len() - at {
                return Err("an event is longer than its chunk");
            }
            cursor.bytes = &self.bytes[..at + size];
            let class = cursor.number()?;
            if let Some(&which) = wanted.get(&class) {
                visit(which, &self.value(&mut cursor, class, 0)?);
            }
            at += size;
        }
        Ok(())
    }

    /// A field of a value, taken from the pool where it is shared; none: it is not there.
    pub(super) fn field(&self, value: &Value, name: &str) -> Option<Value> {
        let Value::Fields(class, values) = value else { return None };
        let at = self.classes.get(class)?.fields.iter().position(|field| &*field.name == name)?;
        self.resolved(values.get(at)?.clone())
    }

    /// The shared value that another one stands for.
    pub(super) fn resolved(&self, value: Value) -> Option<Value> {
        let Value::Shared(class, key) = value else { return Some(value) };
        let at = *self.pools.get(&(class, key))?;
        self.value(&mut Cursor::new(&self.bytes, at), class, 0).ok()
    }

    /// Which shared value a field stands for.
    pub(super) fn key(&self, value: &Value, name: &str) -> Option<i64> {
        let Value::Fields(class, values) = value else { return None };
        let at = self.classes.get(class)?.fields.iter().position(|field| &*field.name == name)?;
        if let Value::Shared(_, key) = values.get(at)? { Some(*key) } else { None }
    }

    /// A text; symbols of HotSpot are values with one.
    pub(super) fn text(&self, value: &Value, name: &str) -> Option<String> {
        match self.field(value, name)? {
            Value::Text(text) => text,
            symbol => match self.field(&symbol, "string")? {
                Value::Text(text) => text,
                _ => None,
            },
        }
    }

    pub(super) fn number(&self, value: &Value, name: &str) -> Option<i64> {
        if let Value::Number(number) = self.field(value, name)? { Some(number) } else { None }
    }
}
