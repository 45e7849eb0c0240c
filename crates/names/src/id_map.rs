//! Method ids: which number the injected code pushes for which method, kept as text so that it outlives the program.
//!
//! ```text
//! instrument ids 1
//! class <internal name> <source file or ->
//! <id> <method name> <descriptor> <first line or 0> <access flags, hex> <fingerprint, 16 hex digits>
//! ```
//!
//! Fields are separated by one space, lines end in `\n`. Names are escaped to printable ASCII, without loss
//! (`id_map/text.rs`). A method belongs to the last `class` line before it. One whose flags have bit 16
//! ([`LIBRARY_CALL`]) is not a method that was rewritten but one that is called: its id stands for calls of it, as far
//! as they are recorded where they are made; with bit 17 ([`BLOCKING_CALL`]) such a call may block its thread. The same
//! method may be there as both. In a class without a name is what has figures and is no method: its name and its
//! descriptor, which may be empty, are what it is called.
//!
//! The file is append-only: a class may come again with further methods, and a line whose class, name and descriptor
//! are known already replaces what was said of them (line, flags, fingerprint; the source file likewise), never their
//! id. New ids only ever grow, so the file is sorted by id but for such updates.
//!
//! Ids start at 1, so that 0 in zero-filled memory (a profile's unused records) is no method, and an id is never given
//! to another method, even when its own has gone. They are dense within one map; a map of one jar holds that jar's part
//! of a shared one.

pub mod file;
pub mod gz;
mod read;
mod table;
mod text;
mod write;

pub use read::{IdMapError, IdMapErrorKind, read_text};

use std::collections::HashMap;
use table::{Seed, Table};

/// The first line of every id map.
pub const HEADER: &str = "instrument ids 1\n";
/// Where an output archive carries its id map, as a gzip member (see [`gz`]).
pub const ENTRY_NAME: &str = "META-INF/instrument/ids.gz";
/// The largest id: the injected code pushes it as a JVM int.
pub const MAX_ID: u32 = i32::MAX as u32;
/// In the flags of an entry, above those of the class file: it is for calls of a method, recorded where they are made.
pub const LIBRARY_CALL: u32 = 1 << 16;
/// Beside [`LIBRARY_CALL`]: the method blocks its caller; what the call takes itself is waiting
/// (`rewriter::library::blocking`).
pub const BLOCKING_CALL: u32 = 1 << 17;
/// The longest chain of methods that is searched one by one.
const CHAINED: u32 = 32;

/// Ids by method and methods by id.
#[derive(Debug, Default)]
pub struct IdMap {
    /// All names, one after another; a method's descriptor follows its name.
    arena: Vec<u8>,
    classes: Vec<Class>,
    /// Sorted by id.
    methods: Vec<Method>,
    class_table: Table,
    /// The methods of classes with more than [`CHAINED`] methods; those of the others are found along their chain,
    /// which lies in cache when the methods of a class come one after another.
    method_table: Table,
    /// The first id that may be given away, if it is more than 1.
    first: u32,
    seed: Seed,
    /// What has been parsed, and what it said of things that were updated since.
    parsed: Parsed,
}

#[derive(Debug, Default)]
struct Parsed {
    header: bool,
    length: usize,
    torn: usize,
    classes: u32,
    methods: u32,
    sources: HashMap<u32, Option<Span>>,
    facts: HashMap<u32, Facts>,
}

#[derive(Debug, Clone, Copy)]
struct Span {
    at: u32,
    length: u32,
}

#[derive(Debug)]
struct Class {
    name: Span,
    source: Option<Span>,
    method_count: u32,
    /// Index + 1 of its latest method, or 0; the others follow by [`Method::previous`].
    latest: u32,
}

#[derive(Debug)]
struct Method {
    id: u32,
    class: u32,
    /// Index + 1 of the method of the same class before this one, or 0.
    previous: u32,
    hash: u32,
    name: Span,
    descriptor_length: u32,
    facts: Facts,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Facts {
    line: u32,
    flags: u32,
    fingerprint: u64,
}

/// A class of one [`IdMap`], as [`IdMap::begin_class`] gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassIds(u32);

/// What the map keeps of a method. Names are the class file's bytes (Modified UTF-8, JVMS 4.4.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodInfo<'a> {
    /// `name_index` (JVMS 4.6).
    pub name: &'a [u8],
    /// `descriptor_index`.
    pub descriptor: &'a [u8],
    /// The lowest line of its LineNumberTable; 0 when there is none.
    pub line: u32,
    /// `access_flags`; or [`LIBRARY_CALL`], alone or with [`BLOCKING_CALL`].
    pub flags: u32,
    /// A hash of its body, to tell whether it has changed between builds.
    pub fingerprint: u64,
}

/// One method of the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its id.
    pub id: u32,
    /// Internal name of its class.
    pub class: &'a [u8],
    /// SourceFile of its class (JVMS 4.7.10).
    pub source: Option<&'a [u8]>,
    /// The rest.
    pub method: MethodInfo<'a>,
}

/// The map can take no more: [`MAX_ID`] is given away, or its names would exceed 4 GiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the id map is full")]
pub struct IdMapFull;

impl IdMap {
    /// An empty map.
    pub fn new() -> IdMap {
        IdMap::default()
    }

    /// An empty map whose first id is `first`: beside other maps of smaller ids, none of whose numbers it will use.
    pub fn starting_at(first: u32) -> IdMap {
        IdMap { first, ..IdMap::default() }
    }

    /// From now on no id below `first` is given away.
    pub fn go_on_at(&mut self, first: u32) {
        self.first = first;
    }

    /// How many bytes of the text that was parsed are whole lines.
    pub fn valid_len(&self) -> usize {
        self.parsed.length
    }

    /// How many bytes of a torn line followed them.
    pub fn torn_len(&self) -> usize {
        self.parsed.torn
    }

    /// The number of methods.
    pub fn len(&self) -> usize {
        self.methods.len()
    }

    /// Whether there is no method.
    pub fn is_empty(&self) -> bool {
        self.methods.is_empty()
    }

    /// Finds or adds the class and notes its SourceFile, if that is known.
    ///
    /// # Errors
    /// [`IdMapFull`].
    pub fn begin_class(&mut self, name: &[u8], source: Option<&[u8]>) -> Result<ClassIds, IdMapFull> {
        let hash = self.class_hash(name);
        let Some(index) = self.find_class(hash, name) else {
            let index = self.position(self.classes.len())?;
            let name = self.keep(name)?;
            let source = source.map(|source| self.keep(source)).transpose()?;
            self.classes.push(Class { name, source, method_count: 0, latest: 0 });
            self.class_table.insert(hash, index);
            return Ok(ClassIds(index));
        };
        let known = self.classes[index as usize].source;
        if known.map(|span| self.bytes(span)) != source {
            let source = source.map(|source| self.keep(source)).transpose()?;
            self.classes[index as usize].source = source;
            if index < self.parsed.classes {
                self.parsed.sources.entry(index).or_insert(known);
            }
        }
        Ok(ClassIds(index))
    }

    /// The id of a method of `class`: the one it has, or the next one that was never given away. Line, flags and
    /// fingerprint become those given here.
    ///
    /// # Errors
    /// [`IdMapFull`].
    pub fn assign(&mut self, class: ClassIds, method: &MethodInfo<'_>) -> Result<u32, IdMapFull> {
        let facts = Facts { line: method.line, flags: method.flags, fingerprint: method.fingerprint };
        let hash = self.method_hash(class, method.name, method.descriptor);
        if let Some(index) =
            self.find_method(hash, class, method.name, method.descriptor, facts.is_library_call())
        {
            let known = &mut self.methods[index as usize];
            if known.facts != facts {
                if index < self.parsed.methods {
                    self.parsed.facts.entry(index).or_insert(known.facts);
                }
                known.facts = facts;
            }
            return Ok(known.id);
        }
        let id = (self.last_id() + 1).max(self.first);
        if id > MAX_ID {
            return Err(IdMapFull);
        }
        let name = self.keep(method.name)?;
        let descriptor_length = self.keep(method.descriptor)?.length;
        self.add_method(id, class, hash, name, descriptor_length, facts);
        Ok(id)
    }

    /// The id for calls of a method that are recorded where they are made: the one it has, or the next one. `blocks`:
    /// see [`BLOCKING_CALL`].
    ///
    /// # Errors
    /// [`IdMapFull`].
    pub fn assign_library_call(
        &mut self,
        class: &[u8],
        name: &[u8],
        descriptor: &[u8],
        blocks: bool,
    ) -> Result<u32, IdMapFull> {
        let flags = LIBRARY_CALL | if blocks { BLOCKING_CALL } else { 0 };
        let known = self.find_class(self.class_hash(class), class);
        // Its source file, if it is known, stays known.
        let class = known.map_or_else(|| self.begin_class(class, None), |index| Ok(ClassIds(index)))?;
        self.assign(class, &MethodInfo { name, descriptor, line: 0, flags, fingerprint: 0 })
    }

    /// The method with this id.
    pub fn lookup(&self, id: u32) -> Option<Entry<'_>> {
        self.index_of(id).map(|index| self.entry(&self.methods[index]))
    }

    /// The id of a method; not that for calls of it.
    pub fn find(&self, class: &[u8], name: &[u8], descriptor: &[u8]) -> Option<u32> {
        let class = ClassIds(self.find_class(self.class_hash(class), class)?);
        let hash = self.method_hash(class, name, descriptor);
        self.find_method(hash, class, name, descriptor, false).map(|index| self.methods[index as usize].id)
    }

    /// All methods, by ascending id.
    pub fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        self.methods.iter().map(|method| self.entry(method))
    }

    fn add_method(
        &mut self,
        id: u32,
        class: ClassIds,
        hash: u32,
        name: Span,
        descriptor_length: u32,
        facts: Facts,
    ) {
        let owner = &mut self.classes[class.0 as usize];
        let previous = owner.latest;
        self.methods.push(Method { id, class: class.0, previous, hash, name, descriptor_length, facts });
        owner.latest = self.methods.len() as u32;
        owner.method_count += 1;
        // The one that makes the chain too long takes the whole chain into the table.
        let mut enter = match owner.method_count {
            0..=CHAINED => 0,
            count if count == CHAINED + 1 => count,
            _ => 1,
        };
        let mut at = owner.latest;
        while enter > 0 {
            let method = &self.methods[at as usize - 1];
            self.method_table.insert(method.hash, at - 1);
            at = method.previous;
            enter -= 1;
        }
    }

    fn last_id(&self) -> u32 {
        self.methods.last().map_or(0, |method| method.id)
    }

    /// Where the method with this id lies; directly, if the ids are dense from 1.
    fn index_of(&self, id: u32) -> Option<usize> {
        let guess = (id as usize).checked_sub(1)?;
        if self.methods.get(guess).is_some_and(|method| method.id == id) {
            return Some(guess);
        }
        self.methods.binary_search_by_key(&id, |method| method.id).ok()
    }

    fn entry(&self, method: &Method) -> Entry<'_> {
        let class = &self.classes[method.class as usize];
        let Facts { line, flags, fingerprint } = method.facts;
        Entry {
            id: method.id,
            class: self.bytes(class.name),
            source: class.source.map(|source| self.bytes(source)),
            method: MethodInfo {
                name: self.bytes(method.name),
                descriptor: self.bytes(method.descriptor()),
                line,
                flags,
                fingerprint,
            },
        }
    }

    fn find_class(&self, hash: u32, name: &[u8]) -> Option<u32> {
        self.class_table.find(hash, |index| self.bytes(self.classes[index as usize].name) == name)
    }

    fn find_method(
        &self,
        hash: u32,
        class: ClassIds,
        name: &[u8],
        descriptor: &[u8],
        is_library_call: bool,
    ) -> Option<u32> {
        let is_it = |index: u32| {
            let method = &self.methods[index as usize];
            method.hash == hash
                && method.class == class.0
                && method.facts.is_library_call() == is_library_call
                && self.bytes(method.name) == name
                && self.bytes(method.descriptor()) == descriptor
        };
        let owner = &self.classes[class.0 as usize];
        if owner.method_count > CHAINED {
            return self.method_table.find(hash, is_it);
        }
        let mut at = owner.latest;
        while let Some(index) = at.checked_sub(1) {
            if is_it(index) {
                return Some(index);
            }
            at = self.methods[index as usize].previous;
        }
        None
    }

    fn class_hash(&self, name: &[u8]) -> u32 {
        self.seed.hash(0, name, &[])
    }

    fn method_hash(&self, class: ClassIds, name: &[u8], descriptor: &[u8]) -> u32 {
        self.seed.hash(class.0, name, descriptor)
    }

    /// Appends `bytes` to the arena.
    fn keep(&mut self, bytes: &[u8]) -> Result<Span, IdMapFull> {
        let at = self.position(self.arena.len())?;
        self.position(self.arena.len() + bytes.len())?;
        self.arena.extend_from_slice(bytes);
        Ok(Span { at, length: bytes.len() as u32 })
    }

    fn position(&self, at: usize) -> Result<u32, IdMapFull> {
        u32::try_from(at).ok().filter(|&at| at < u32::MAX).ok_or(IdMapFull)
    }

    fn bytes(&self, span: Span) -> &[u8] {
        &self.arena[span.at as usize..][..span.length as usize]
    }
}

impl Facts {
    fn is_library_call(&self) -> bool {
        self.flags & LIBRARY_CALL != 0
    }
}

impl MethodInfo<'_> {
    /// Whether the entry is for calls of the method, recorded where they are made.
    pub fn is_library_call(&self) -> bool {
        self.flags & LIBRARY_CALL != 0
    }

    /// Whether it is for such calls of a method that blocks its caller.
    pub fn is_blocking_call(&self) -> bool {
        self.is_library_call() && self.flags & BLOCKING_CALL != 0
    }
}

impl Method {
    fn descriptor(&self) -> Span {
        Span { at: self.name.at + self.name.length, length: self.descriptor_length }
    }
}
