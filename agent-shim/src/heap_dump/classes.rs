//! The classes: what a walk has to know of them beforehand, and their records.
//!
//! 1. [`Classes::add_new`] tags every class that is loaded and describes it: superclass, interfaces, fields.
//! 2. [`Classes::lay_out`] numbers the fields as a heap walk does. Of class C: first those of all interfaces that C, its superclasses or
//!    its interfaces name, each once; only their number matters. Then those of the superclasses, `java.lang.Object`'s first, then C's
//!    own; static ones count, too. In an instance record it is the other way round, C's own values come first.
//! 3. [`Classes::make_records`] makes the CLASS DUMP records, without values; the walk fills them in.
//!
//! The walk may meet classes that were loaded in the meantime, and such as have no fields to be told yet because they are not prepared.
//! They get an index, what is told of their objects is kept, and steps 1 to 3 are done once more afterwards, for them.
//!
//! A CLASS DUMP has no place for what the instance of `java.lang.Class` refers to (its module, loader data, class values, ..). Such
//! references are written as static fields `<module>`, `<classValueMap>`, .., so that no path is missing.

use super::output::Output;
use super::record::{self, Body, ID_SIZE, Texts};
use super::tags::{self, Tags};
use crate::jvmti::heap::PrimitiveType;
use crate::jvmti::inspect::DeclaredField;
use crate::jvmti::{Jni, Jvmti, Object};
use std::collections::HashMap;

/// No place for a value.
const NOWHERE: u32 = u32::MAX;

/// What the instances of a class are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Not known. Its fields are told only once it is prepared; before, it has no instances, but for some in the JDK's archive.
    Unprepared,
    Objects,
    ObjectArrays,
    PrimitiveArrays,
}

#[derive(Debug)]
pub(super) struct Class {
    pub(super) id: u64,
    pub(super) kind: Kind,
    /// As in descriptors.
    signature: Vec<u8>,
    superclass: Option<usize>,
    interfaces: Vec<usize>,
    /// Those that it declares.
    pub(super) fields: Vec<DeclaredField>,
    /// Bytes of an instance record's values.
    pub(super) instance_size: u32,
    /// Index of the first field of `java.lang.Object`, if it had any.
    first_field: u32,
    /// Where an instance record has the value of each field, from `first_field` on; static ones nowhere.
    places: Vec<u32>,
    /// Where the records have the value of each of its own fields; the others nowhere.
    static_places: Vec<u32>,
    /// Where the record is, once it is made.
    record: Option<usize>,
    /// Whether the walk has been told to visit it.
    pub(super) visited: bool,
}

/// The name of a class by its signature, as class files and HotSpot's own dumps have it: `com/acme/Foo`, `[I`; a hidden class's has a `+`.
pub(super) fn name(signature: &[u8]) -> Vec<u8> {
    let mut name = match signature {
        [b'L', inner @ .., b';'] => inner.to_vec(),
        other => other.to_vec(),
    };
    if let Some(dot) = name.iter().rposition(|byte| *byte == b'.') {
        name[dot] = b'+';
    }
    name
}

impl Class {
    /// See [`name`].
    pub(super) fn name(&self) -> Vec<u8> {
        name(&self.signature)
    }

    /// Where an instance record has the value of a field.
    pub(super) fn place(&self, index: u32) -> Option<usize> {
        let place = *self.places.get(index.checked_sub(self.first_field)? as usize)?;
        (place != NOWHERE).then_some(place as usize)
    }

    /// The names of the instance fields that it declares, with their types, and where their values are.
    pub(super) fn own_places(&self) -> impl Iterator<Item = (&DeclaredField, usize)> {
        let inherited = self.places.len() - self.fields.len();
        let own = self.fields.iter().zip(&self.places[inherited..]);
        own.filter(|(field, _)| !field.is_static).map(|(field, place)| (field, *place as usize))
    }
}

/// The classes, each at its index.
#[derive(Debug, Default)]
pub(super) struct Classes {
    list: Vec<Class>,
    /// The index of `java.lang.Class`, and that of `java.lang.Object`.
    class_class: usize,
    object_class: usize,
    /// Reference fields of `java.lang.Class`.
    mirror_fields: Vec<DeclaredField>,
    /// All CLASS DUMP records, one after another.
    pub(super) records: Vec<u8>,
    /// Values of static fields of classes whose records are not made yet: class, field, value.
    late: Vec<(i64, u32, Vec<u8>)>,
    /// Ids of the names of `mirror_fields`.
    mirror_names: Vec<u64>,
    /// Where the values of `mirror_fields` begin, by class.
    mirror_places: Vec<usize>,
}

fn size_of(field: &DeclaredField) -> usize {
    field.primitive.map_or(ID_SIZE, PrimitiveType::size)
}

fn type_of(field: &DeclaredField) -> u8 {
    field.primitive.map_or(record::REFERENCE, record::type_of)
}

impl Classes {
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Gives a class that the walk has met, and that is not known yet, an index and a tag.
    pub(super) fn visit(&mut self, tag: i64, tags: &mut Tags) -> Option<i64> {
        let tag = tags.class(tag, self.list.len())?;
        self.list.push(Class::unknown(tags::id(tag)));
        Some(tag)
    }

    /// Instances of `java.lang.Class` whose class is not loaded, or is so no longer; they have no records.
    pub(super) fn not_loaded(&self) -> Vec<u64> {
        self.list.iter().filter(|class| class.record.is_none()).map(|class| class.id).collect()
    }

    /// The class at an index.
    pub(super) fn at(&self, index: u32) -> Option<&Class> {
        self.list.get(index as usize)
    }

    /// A class and its superclasses.
    pub(super) fn supers(&self, index: u32) -> impl Iterator<Item = &Class> {
        std::iter::successors(self.at(index), |class| self.list.get(class.superclass?))
    }

    /// The field that has this index when an object of the class, or the class itself, is reported: the class that declares it, and its
    /// name.
    pub(super) fn field(&self, class: u32, index: u32) -> Option<(&Class, &[u8])> {
        // Superclasses' fields come first; the interfaces' are before all of them.
        let at = index.checked_sub(self.at(class)?.first_field)? as usize;
        self.supers(class).find_map(|class| {
            let own = at.checked_sub(class.places.len().checked_sub(class.fields.len())?)?;
            class.fields.get(own).map(|field| (class, field.name.as_slice()))
        })
    }

    /// The class with this tag.
    pub(super) fn of(&self, tag: i64) -> Option<&Class> {
        self.list.get(tags::class_index(tag)?)
    }

    /// The class with this tag, to be changed.
    pub(super) fn of_mut(&mut self, tag: i64) -> Option<&mut Class> {
        self.list.get_mut(tags::class_index(tag)?)
    }

    /// The id of the class with this tag, if it has a record.
    pub(super) fn id_of_written(&self, tag: i64) -> Option<u64> {
        self.of(tag).filter(|class| class.record.is_some()).map(|class| class.id)
    }

    /// The id of `java.lang.Object`.
    pub(super) fn object_id(&self) -> u64 {
        self.list[self.object_class].id
    }

    /// `java.lang.Class`.
    pub(super) fn class_class(&self) -> &Class {
        &self.list[self.class_class]
    }

    /// Whether this is the tag of `java.lang.Class`.
    pub(super) fn is_class_class(&self, tag: i64) -> bool {
        tags::class_index(tag) == Some(self.class_class)
    }

    /// Describes the classes that are new, and those that were not prepared before; how many there are.
    pub(super) fn add_new<'a>(
        &mut self,
        jvmti: Jvmti<'a>,
        jni: Jni<'a>,
        tags: &mut Tags,
    ) -> Result<usize, String> {
        let failed = |what: &str, error: crate::jvmti::JvmtiError| format!("{what}: {error}");
        let loaded = jvmti.loaded_classes(jni).map_err(|error| failed("classes", error))?;
        // All have a tag before one refers to another.
        let mut new = Vec::new();
        for class in loaded {
            let tag = jvmti.tag(&class).unwrap_or(0);
            let index = match tags::class_index(tag) {
                Some(index) if !self.is_new(index, || jvmti.is_prepared(&class)) => {
                    jni.forget(class);
                    continue;
                }
                Some(index) => index,
                None => {
                    let index = self.list.len();
                    let tag = tags.class(tag, index).ok_or("there are more classes than can be numbered")?;
                    jvmti.set_tag(&class, tag).map_err(|error| failed("a class", error))?;
                    self.list.push(Class::unknown(tags::id(tag)));
                    index
                }
            };
            new.push((index, class));
        }
        let count = new.len();
        for (index, class) in new {
            let described = self.describe(index, &class, jvmti, jni);
            jni.forget(class);
            described.map_err(|error| failed("a class", error))?;
        }
        Ok(count)
    }

    /// Whether there is more to be told of a class than is known.
    fn is_new(&self, index: usize, is_prepared: impl FnOnce() -> bool) -> bool {
        let Some(class) = self.list.get(index) else { return false };
        class.signature.is_empty() || class.kind == Kind::Unprepared && is_prepared()
    }

    fn describe<'a>(
        &mut self,
        index: usize,
        class: &Object<'a>,
        jvmti: Jvmti<'a>,
        jni: Jni<'a>,
    ) -> Result<(), crate::jvmti::JvmtiError> {
        let signature = jvmti.raw_signature(class).unwrap_or_default();
        let kind = match signature.as_slice() {
            [b'[', b'L' | b'[', ..] => Kind::ObjectArrays,
            [b'[', ..] => Kind::PrimitiveArrays,
            _ if jvmti.is_prepared(class) => Kind::Objects,
            _ => Kind::Unprepared,
        };
        let index_of = |object: Object<'a>| {
            let index =
                if object.is_null() { None } else { tags::class_index(jvmti.tag(&object).unwrap_or(0)) };
            jni.forget(object);
            index
        };
        let superclass = index_of(jni.superclass_of(class));
        let (mut interfaces, mut fields) = (Vec::new(), Vec::new());
        if kind == Kind::Objects {
            interfaces = jvmti.class_interfaces(class, jni).into_iter().filter_map(index_of).collect();
            fields = jvmti.declared_fields(class)?;
        }
        match signature.as_slice() {
            b"Ljava/lang/Class;" => self.class_class = index,
            b"Ljava/lang/Object;" => self.object_class = index,
            _ => {}
        }
        let known = &mut self.list[index];
        let visited = known.visited;
        *known =
            Class { kind, signature, superclass, interfaces, fields, visited, ..Class::unknown(known.id) };
        Ok(())
    }

    /// Numbers the fields; see the top of this file.
    pub(super) fn lay_out(&mut self) {
        let mut interfaces: Vec<Option<Vec<usize>>> = vec![None; self.list.len()];
        let mut done = vec![false; self.list.len()];
        for index in 0..self.list.len() {
            // The chain of superclasses that are still to be done, from the top.
            let mut chain: Vec<usize> = std::iter::successors(Some(index), |&at| self.list[at].superclass)
                .take_while(|&at| !done[at])
                .collect();
            while let Some(at) = chain.pop() {
                let all = self.all_interfaces(at, &mut interfaces);
                let first_field =
                    all.iter().map(|&interface| self.list[interface].fields.len()).sum::<usize>();
                let (class, superclass) =
                    (&self.list[at], self.list[at].superclass.map(|index| &self.list[index]));
                let mut place = 0;
                let mut own = Vec::with_capacity(class.fields.len());
                for field in &class.fields {
                    own.push(if field.is_static { NOWHERE } else { place as u32 });
                    place += if field.is_static { 0 } else { size_of(field) };
                }
                let inherited = superclass.map_or(&[][..], |class| &class.places);
                let moved = |&at: &u32| if at == NOWHERE { NOWHERE } else { at + place as u32 };
                let places: Vec<u32> = inherited.iter().map(moved).chain(own).collect();
                let size = place as u32 + superclass.map_or(0, |class| class.instance_size);
                let class = &mut self.list[at];
                (class.first_field, class.places, class.instance_size) = (first_field as u32, places, size);
                done[at] = true;
            }
        }
    }

    /// The interfaces of a class, its superclasses and interfaces, each once. Its superclass's are known.
    fn all_interfaces(&self, index: usize, known: &mut Vec<Option<Vec<usize>>>) -> Vec<usize> {
        if let Some(all) = &known[index] {
            return all.clone();
        }
        let class = &self.list[index];
        let mut all = match class.superclass {
            Some(superclass) => self.all_interfaces(superclass, known),
            None => Vec::new(),
        };
        for &interface in &class.interfaces {
            all.push(interface);
            all.extend(self.all_interfaces(interface, known));
        }
        all.sort_unstable();
        all.dedup();
        known[index] = Some(all.clone());
        all
    }

    /// Writes LOAD CLASS records, and makes those of the classes themselves, for all that have none and are known by now: first those
    /// that are prepared, at the end all. What is new in `records` is what this adds. A class's serial number is its index + 1.
    pub(super) fn make_records(&mut self, only_prepared: bool, texts: &mut Texts, output: &mut Output) {
        if self.mirror_names.is_empty() {
            // The loader has a place of its own.
            let wanted = |field: &&DeclaredField| {
                !field.is_static && field.primitive.is_none() && field.name != b"classLoader"
            };
            self.mirror_fields = self.class_class().fields.iter().filter(wanted).cloned().collect();
            let name =
                |field: &DeclaredField| texts.id(&[b"<", field.name.as_slice(), b">"].concat(), output);
            self.mirror_names = self.mirror_fields.iter().map(name).collect();
        }
        let mirror_names = self.mirror_names.clone();
        let object = self.list.get(self.object_class).map_or(0, |class| class.id);
        self.mirror_places.resize(self.list.len(), usize::MAX);
        let mut body = Body(std::mem::take(&mut self.records));
        for index in 0..self.list.len() {
            let class = &self.list[index];
            let known = !class.signature.is_empty() && (!only_prepared || class.kind != Kind::Unprepared);
            if !known || class.record.is_some() {
                continue;
            }
            let name = texts.id(&class.name(), output);
            let load = Body::default().u4(index as u32 + 1).u8(class.id).u4(record::NO_TRACE).u8(name);
            output.record(record::LOAD_CLASS, &load.0);
            let record = body.0.len();
            let superclass = match class.superclass {
                Some(index) => self.list[index].id,
                // Interfaces have one for the virtual machine.
                None if class.id != object && class.kind != Kind::Unprepared => object,
                None => 0,
            };
            let (statics, own): (Vec<_>, Vec<_>) = class.fields.iter().partition(|field| field.is_static);
            let mirror_names = if statics.len() + mirror_names.len() > usize::from(u16::MAX) {
                &[][..]
            } else {
                &mirror_names
            };
            body = body.u1(record::CLASS_DUMP).u8(class.id).u4(record::NO_TRACE).u8(superclass);
            body = body.u8(0).u8(0).u8(0).u8(0).u8(0).u4(class.instance_size).u2(0);
            body = body.u2((statics.len() + mirror_names.len()) as u16);
            let mut places = Vec::with_capacity(class.fields.len());
            for field in &class.fields {
                if field.is_static {
                    body = body.u8(texts.id(&field.name, output)).u1(type_of(field));
                    places.push(body.0.len() as u32);
                    body.0.resize(body.0.len() + size_of(field), 0);
                } else {
                    places.push(NOWHERE);
                }
            }
            let mirror_place = body.0.len();
            for name in mirror_names {
                body = body.u8(*name).u1(record::REFERENCE).u8(0);
            }
            body = body.u2(own.len() as u16);
            for field in own {
                body = body.u8(texts.id(&field.name, output)).u1(type_of(field));
            }
            if !mirror_names.is_empty() {
                self.mirror_places[index] = mirror_place;
            }
            let class = &mut self.list[index];
            (class.record, class.static_places) = (Some(record), places);
        }
        self.records = body.0;
        for (tag, field, value) in std::mem::take(&mut self.late) {
            self.set_static(tag, field, &value);
        }
    }

    /// Sets the value of a static field, in memory's order.
    pub(super) fn set_static(&mut self, tag: i64, index: u32, value: &[u8]) {
        let Some(class) = self.of(tag) else { return };
        if class.record.is_none() {
            self.late.push((tag, index, value.to_vec()));
            return;
        }
        let inherited = (class.places.len() - class.fields.len()) as u32 + class.first_field;
        let own = index.checked_sub(inherited).and_then(|own| class.static_places.get(own as usize));
        let Some(&place) = own.filter(|place| **place != NOWHERE) else { return };
        let place = place as usize;
        if let Some(to) = self.records.get_mut(place..place + value.len()) {
            record::copy_value(value, to);
        }
    }

    /// Sets the loader of a class.
    pub(super) fn set_loader(&mut self, tag: i64, id: u64) {
        self.set_reference(tag, 21, id);
    }

    /// Sets the signers of a class.
    pub(super) fn set_signers(&mut self, tag: i64, id: u64) {
        self.set_reference(tag, 29, id);
    }

    /// Sets the protection domain of a class.
    pub(super) fn set_protection_domain(&mut self, tag: i64, id: u64) {
        self.set_reference(tag, 37, id);
    }

    fn set_reference(&mut self, tag: i64, within: usize, id: u64) {
        if let Some(record) = self.of(tag).and_then(|class| class.record) {
            self.records[record + within..][..ID_SIZE].copy_from_slice(&id.to_be_bytes());
        }
    }

    /// The reference fields of `java.lang.Class`.
    pub(super) fn mirror_fields(&self) -> Vec<DeclaredField> {
        self.mirror_fields.clone()
    }

    /// Sets what the instance of `java.lang.Class` refers to, the fields being in the order of [`mirror_fields`](Self::mirror_fields).
    pub(super) fn set_mirror_field(&mut self, index: usize, field: usize, id: u64) {
        let Some(&places) = self.mirror_places.get(index).filter(|place| **place != usize::MAX) else {
            return;
        };
        let place = places + field * (8 + 1 + ID_SIZE) + 9;
        self.records[place..place + ID_SIZE].copy_from_slice(&id.to_be_bytes());
    }

    /// The index of the class that a name is the name of.
    pub(super) fn by_name(&self) -> HashMap<Vec<u8>, usize> {
        self.list.iter().enumerate().map(|(index, class)| (class.name(), index)).collect()
    }
}

impl Class {
    fn unknown(id: u64) -> Class {
        Class {
            id,
            kind: Kind::Unprepared,
            signature: Vec::new(),
            superclass: None,
            interfaces: Vec::new(),
            fields: Vec::new(),
            instance_size: 0,
            first_field: 0,
            places: Vec::new(),
            static_places: Vec::new(),
            record: None,
            visited: false,
        }
    }
}
