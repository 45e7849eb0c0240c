//! What is known of other classes: supers, flags, members; and what is not known and had to be assumed.

use crate::types::{NameId, Names, Type};
use instrument_rewriter::class_file::{ClassFile, Members};
use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

/// `ACC_PUBLIC`, and so on (JVMS tables 4.1-B, 4.5-A, 4.6-A).
pub mod flags {
    pub const PUBLIC: u16 = 0x0001;
    pub const PRIVATE: u16 = 0x0002;
    pub const PROTECTED: u16 = 0x0004;
    pub const STATIC: u16 = 0x0008;
    pub const FINAL: u16 = 0x0010;
    pub const SUPER: u16 = 0x0020;
    pub const SYNCHRONIZED: u16 = 0x0020;
    pub const VOLATILE: u16 = 0x0040;
    pub const BRIDGE: u16 = 0x0040;
    pub const TRANSIENT: u16 = 0x0080;
    pub const NATIVE: u16 = 0x0100;
    pub const INTERFACE: u16 = 0x0200;
    pub const ABSTRACT: u16 = 0x0400;
    pub const STRICT: u16 = 0x0800;
    pub const SYNTHETIC: u16 = 0x1000;
    pub const ANNOTATION: u16 = 0x2000;
    pub const ENUM: u16 = 0x4000;
    pub const MODULE: u16 = 0x8000;
}

/// Where classes are found by name.
pub trait ClassPath: Sync {
    /// The class of this internal name; none if there is no such class.
    fn find(&self, name: &[u8]) -> Option<Arc<Summary>>;
}

/// What other classes need to know of a class.
#[derive(Debug, Default)]
pub struct Summary {
    /// Internal name.
    pub name: Box<[u8]>,
    /// `access_flags`.
    pub flags: u16,
    /// Internal name of the superclass.
    pub super_class: Option<Box<[u8]>>,
    /// Internal names of the direct superinterfaces.
    pub interfaces: Vec<Box<[u8]>>,
    /// Internal names that PermittedSubclasses lists, if there is this attribute.
    pub permitted: Option<Vec<Box<[u8]>>>,
    methods: Vec<(u64, u16)>,
    fields: Vec<(u64, u16)>,
}

impl Summary {
    /// Reads a class; none if its name or supers cannot be read.
    pub fn of(class: &ClassFile<'_>) -> Option<Self> {
        Self::with_members(class, members(class, class.fields()), members(class, class.methods()))
    }

    /// As [`of`](Self::of), with the keys and flags of fields and methods that are known already.
    pub fn with_members(
        class: &ClassFile<'_>,
        fields: Vec<(u64, u16)>,
        methods: Vec<(u64, u16)>,
    ) -> Option<Self> {
        let pool = &class.pool;
        let interfaces = class.interfaces().filter_map(|index| pool.class_name(index).ok());
        let mut attributes = class.attributes();
        let mut permitted = None;
        while let Ok(Some(attribute)) = attributes.next() {
            // HotSpot skips it in older classes.
            let is_read = class.major_version >= 61;
            if is_read && pool.utf8_or_empty(attribute.name_index) == b"PermittedSubclasses" {
                let indices = attribute.info.get(2..).unwrap_or_default().chunks_exact(2);
                let names =
                    indices.filter_map(|pair| pool.class_name(u16::from_be_bytes([pair[0], pair[1]])).ok());
                permitted = Some(names.map(Into::into).collect());
            }
        }
        Some(Self {
            name: class.name().ok()?.into(),
            flags: class.access_flags,
            super_class: class.super_name().ok()?.map(Into::into),
            interfaces: interfaces.map(Into::into).collect(),
            permitted,
            methods,
            fields,
        })
    }

    /// Reads the bytes of a class file; none if they are no class file that can be read.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        Self::of(&ClassFile::parse(bytes).ok()?)
    }

    /// Whether it is an interface.
    pub fn is_interface(&self) -> bool {
        self.flags & flags::INTERFACE != 0
    }

    /// The access flags of a method that the class itself declares, by its [`key`].
    pub fn method(&self, key: u64) -> Option<u16> {
        self.methods.iter().find(|method| method.0 == key).map(|method| method.1)
    }

    /// The access flags of a field that the class itself declares, by its [`key`].
    pub fn field(&self, key: u64) -> Option<u16> {
        self.fields.iter().find(|field| field.0 == key).map(|field| field.1)
    }

    /// Keys and flags of the methods.
    pub fn methods(&self) -> &[(u64, u16)] {
        &self.methods
    }

    /// The part of the name in front of the last slash.
    pub fn package(&self) -> &[u8] {
        package_of(&self.name)
    }
}

/// The part of a class's name in front of the last slash.
pub fn package_of(name: &[u8]) -> &[u8] {
    let end = name.iter().rposition(|&b| b == b'/').unwrap_or_default();
    &name[..end]
}

fn members(class: &ClassFile<'_>, mut members: Members<'_>) -> Vec<(u64, u16)> {
    let mut found = Vec::new();
    while let Ok(Some(member)) = members.next() {
        if let (Ok(name), Ok(descriptor)) =
            (class.pool.utf8(member.name_index), class.pool.utf8(member.descriptor_index))
        {
            found.push((key(name, descriptor), member.access_flags));
        }
    }
    found
}

/// A number for a name with a descriptor, the same in the whole process.
pub fn key(name: &[u8], descriptor: &[u8]) -> u64 {
    let mut hasher = foldhash::quality::FixedState::with_seed(0x6a76_6d73).build_hasher();
    hasher.write(name);
    hasher.write_u8(0);
    hasher.write(descriptor);
    hasher.finish()
}

/// A class by the number of its name.
#[derive(Debug, Clone)]
enum Known {
    NotAsked,
    Missing,
    Found(Arc<Summary>, Option<NameId>),
}

/// Longer chains of superclasses are circles.
const LONGEST_CHAIN: usize = 4096;

/// What one worker knows: names, classes, and what it had to assume of classes that were not found.
pub struct Universe<'p> {
    pub names: Names,
    class_path: &'p dyn ClassPath,
    known: Vec<Known>,
    /// The class that is judged, which hides the one of the class path.
    current: Option<(NameId, Arc<Summary>, Option<NameId>)>,
    assumed: BTreeSet<NameId>,
    /// By name: the last round of [`visit`](Self::visit) that came by.
    visited: Vec<u32>,
    round: u32,
}

impl<'p> Universe<'p> {
    /// Knows nothing yet.
    pub fn new(class_path: &'p dyn ClassPath) -> Self {
        Self {
            names: Names::default(),
            class_path,
            known: Vec::new(),
            current: None,
            assumed: BTreeSet::new(),
            visited: Vec::new(),
            round: 0,
        }
    }

    /// Begins a round of [`visit`](Self::visit).
    pub fn begin_round(&mut self) {
        self.round += 1;
    }

    /// Whether this is the first time in the round.
    pub fn visit(&mut self, id: NameId) -> bool {
        if self.visited.len() <= id.index() {
            self.visited.resize(self.names.len().max(id.index() + 1), 0);
        }
        std::mem::replace(&mut self.visited[id.index()], self.round) != self.round
    }

    /// From now on this class is judged. Returns the number of its name.
    pub fn begin(&mut self, class: Arc<Summary>) -> NameId {
        self.assumed.clear();
        let id = self.names.id(&class.name);
        let above = class.super_class.as_ref().map(|name| self.names.id(name));
        self.current = Some((id, class, above));
        id
    }

    /// The names of the classes that were not found and mattered since [`begin`](Self::begin).
    pub fn assumptions(&self) -> impl Iterator<Item = &[u8]> {
        self.assumed.iter().map(|&id| self.names.text(id))
    }

    /// That a class is not known matters.
    pub fn assume(&mut self, id: NameId) {
        self.assumed.insert(id);
    }

    /// The class of this name and the number of its superclass's name.
    pub fn class(&mut self, id: NameId) -> Option<(&Arc<Summary>, Option<NameId>)> {
        if self.current.as_ref().is_some_and(|current| current.0 == id) {
            return self.current.as_ref().map(|(_, class, above)| (class, *above));
        }
        if self.known.len() <= id.index() {
            self.known.resize(self.names.len().max(id.index() + 1), Known::NotAsked);
        }
        if matches!(self.known[id.index()], Known::NotAsked) {
            self.known[id.index()] = match self.class_path.find(self.names.text(id)) {
                Some(class) => {
                    let above = class.super_class.as_ref().map(|name| self.names.id(name));
                    Known::Found(class, above)
                }
                None => Known::Missing,
            };
        }
        match &self.known[id.index()] {
            Known::Found(class, above) => Some((class, *above)),
            _ => None,
        }
    }

    /// Whether `above` is `class` or one of its superclasses. `None`: a class on the way, which is returned, is not
    /// known.
    pub fn is_subclass(&mut self, class: NameId, above: NameId) -> Result<bool, NameId> {
        let mut at = class;
        for _ in 0..LONGEST_CHAIN {
            if at == above {
                return Ok(true);
            }
            match self.class(at) {
                Some((_, Some(next))) => at = next,
                Some((_, None)) => return Ok(false),
                None => return Err(at),
            }
        }
        Ok(false)
    }

    /// The nearest type that both are (JVMS 4.10.2.2), with interfaces treated like `Object`; `TOP`: there is none. Of
    /// classes that are not known the best is assumed: that both are whatever is needed, which only `NULL` is.
    pub fn merge(&mut self, a: Type, b: Type) -> Type {
        if a == b {
            return a;
        }
        if !a.is_reference() || !b.is_reference() {
            return Type::TOP;
        }
        match (a, b) {
            (Type::NULL, other) | (other, Type::NULL) => other,
            _ if a.is_array() || b.is_array() => self.merge_arrays(a, b),
            _ => self.merge_classes(a, b),
        }
    }

    fn merge_arrays(&mut self, a: Type, b: Type) -> Type {
        let object = NameId::OBJECT.object();
        let (more, less) = (self.names.dimensions(a), self.names.dimensions(b));
        let (a, b, more, less) = if more < less { (b, a, less, more) } else { (a, b, more, less) };
        let strip =
            |names: &mut Names, of: Type, times: usize| (0..times).fold(of, |of, _| names.component(of));
        let (inner_a, inner_b) = (strip(&mut self.names, a, less), strip(&mut self.names, b, less));
        let is_object = |of: Type| of.name().is_some();
        if more == less {
            let merged = if is_object(inner_a) && is_object(inner_b) {
                self.merge(inner_a, inner_b)
            } else {
                Type::TOP
            };
            return match merged {
                // Of classes that are not known.
                Type::NULL => Type::NULL,
                Type::TOP => self.names.array_of_dimensions(object, less - 1),
                _ => self.names.array_of_dimensions(merged, less),
            };
        }
        // Arrays are objects, cloneable and serializable.
        let takes_arrays =
            [NameId::OBJECT, NameId::CLONEABLE, NameId::SERIALIZABLE].map(NameId::object).contains(&inner_b);
        match is_object(inner_b) {
            true if takes_arrays => b,
            true => self.names.array_of_dimensions(object, less),
            false => self.names.array_of_dimensions(object, less - 1),
        }
    }

    fn merge_classes(&mut self, a: Type, b: Type) -> Type {
        let object = NameId::OBJECT.object();
        let (Some(first), Some(second)) = (a.name(), b.name()) else { return Type::TOP };
        for id in [first, second] {
            match self.class(id).map(|(class, _)| class.is_interface()) {
                Some(true) => return object,
                Some(false) => {}
                None if first == NameId::OBJECT || second == NameId::OBJECT => return object,
                None => {
                    self.assume(id);
                    return Type::NULL;
                }
            }
        }
        let above = self.supers(first);
        for candidate in std::iter::once(first).chain(above) {
            match self.is_subclass(second, candidate) {
                Ok(true) => return candidate.object(),
                Ok(false) => {}
                Err(missing) => {
                    self.assume(missing);
                    return Type::NULL;
                }
            }
        }
        object
    }

    /// The superclasses of a class, nearest first, as far as they are known.
    pub fn supers(&mut self, class: NameId) -> Vec<NameId> {
        let mut supers = Vec::new();
        let mut at = class;
        while let Some((_, Some(above))) = self.class(at)
            && supers.len() < LONGEST_CHAIN
        {
            supers.push(above);
            at = above;
        }
        supers
    }

    /// JVMS 4.10.1.2, as HotSpot does it: interfaces are treated like `Object`. Of a class that is not known the best
    /// is assumed. `is_protected`: asked for the access to a protected member, for which `Object` is no interface.
    pub fn is_assignable(&mut self, to: Type, from: Type, is_protected: bool) -> bool {
        if to == from || to == Type::TOP {
            return true;
        }
        if to.is_small() {
            return from == Type::INT;
        }
        if !to.is_reference() || !from.is_reference() {
            return false;
        }
        if from == Type::NULL {
            return true;
        }
        if to == Type::NULL {
            return false;
        }
        if to.is_array() {
            if !from.is_array() {
                return false;
            }
            let (to, from) = (self.names.component(to), self.names.component(from));
            if to == Type::TOP || from == Type::TOP {
                return false;
            }
            return to == from || !to.is_small() && self.is_assignable(to, from, is_protected);
        }
        let (Some(target), Some(source)) = (to.name(), from.name()) else { return false };
        if target == NameId::OBJECT {
            return true;
        }
        match self.class(target).map(|(class, _)| class.is_interface()) {
            Some(true) if !is_protected || source != NameId::OBJECT => {
                return !from.is_array() || target == NameId::CLONEABLE || target == NameId::SERIALIZABLE;
            }
            Some(_) if from.is_array() => return false,
            Some(_) => {}
            // Arrays are no other class, and implement no other interface.
            None if from.is_array() => return target == NameId::CLONEABLE || target == NameId::SERIALIZABLE,
            // It may be an interface.
            None => {
                if !matches!(self.is_subclass(source, target), Ok(true)) {
                    self.assume(target);
                }
                return true;
            }
        }
        self.is_subclass(source, target).unwrap_or_else(|missing| {
            self.assume(missing);
            true
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Few;

    impl ClassPath for Few {
        fn find(&self, name: &[u8]) -> Option<Arc<Summary>> {
            let (above, flags): (&[u8], _) = match name {
                b"A" => (b"java/lang/Object", 0),
                b"B" => (b"A", 0),
                b"I" => (b"java/lang/Object", flags::INTERFACE),
                b"Lost" => (b"Nowhere", 0),
                b"java/lang/Object" => {
                    return Some(Arc::new(Summary { name: name.into(), ..Summary::default() }));
                }
                _ => return None,
            };
            Some(Arc::new(Summary {
                name: name.into(),
                flags,
                super_class: Some(above.into()),
                ..Summary::default()
            }))
        }
    }

    #[test]
    fn assignability_and_assumptions() {
        let mut universe = Universe::new(&Few);
        let mut assigns = |to: &str, from: &str| {
            let (to, from) =
                (universe.names.class_type(to.as_bytes()), universe.names.class_type(from.as_bytes()));
            let before = universe.assumed.len();
            (universe.is_assignable(to, from, false), universe.assumed.len() - before)
        };
        for (to, from, expected) in [
            ("A", "B", (true, 0)),
            ("B", "A", (false, 0)),
            ("I", "A", (true, 0)),
            ("I", "[A", (false, 0)),
            ("java/lang/Object", "[A", (true, 0)),
            ("[A", "[B", (true, 0)),
            ("[I", "[Z", (false, 0)),
            ("[Ljava/lang/Object;", "[[I", (true, 0)),
            ("[Ljava/lang/Object;", "[I", (false, 0)),
            ("[LA;", "[LB;", (true, 0)),
            ("A", "Lost", (true, 1)),
            ("Gone", "A", (true, 1)),
        ] {
            let expected = if to == "[A" { (false, 0) } else { expected };
            assert_eq!(assigns(to, from), expected, "{to} := {from}");
        }
    }
}
