//! The classes of all inputs, and what they declare.

use super::{Own, Resolved};
use crate::class_file::ClassFile;
use crate::code::refusal;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

const ACC_NATIVE: u16 = 0x0100;

/// All classes that are there to be rewritten. Several versions of one class (multi-release jars) all count.
#[derive(Debug, Default)]
pub struct Inputs {
    classes: HashMap<Box<[u8]>, Class>,
}

#[derive(Debug, Default)]
struct Class {
    super_class: Option<Box<[u8]>>,
    interfaces: Vec<Box<[u8]>>,
    /// By a hash of name and descriptor; whether it is native.
    methods: HashMap<u64, bool>,
}

impl Inputs {
    /// Without any class.
    pub fn new() -> Inputs {
        Inputs::default()
    }

    /// Adds a class, unless it will be left as it is.
    pub fn add(&mut self, class: &ClassFile<'_>) {
        // What cannot be read here is not rewritten either.
        let (None, Ok(name), Ok(above)) = (refusal(class), class.name(), class.super_name()) else { return };
        let known = self.classes.entry(name.into()).or_default();
        known.super_class = above.map(Into::into);
        let interfaces = class.interfaces().filter_map(|interface| class.pool.class_name(interface).ok());
        known.interfaces.extend(interfaces.map(Into::into));
        let mut methods = class.methods();
        while let Ok(Some(method)) = methods.next() {
            if let (Ok(name), Ok(descriptor)) = (method.name(&class.pool), method.descriptor(&class.pool)) {
                known.methods.insert(key(name, descriptor), method.access_flags & ACC_NATIVE != 0);
            }
        }
    }

    /// The first class from `class` upwards that declares the method: superclasses first, then their interfaces. A
    /// superclass that is not among the inputs ends the way up. A cycle, which no virtual machine would load, is no
    /// danger.
    fn declaring(&self, class: &[u8], method: u64) -> Option<(&[u8], bool)> {
        let mut interfaces: Vec<&[u8]> = Vec::new();
        let mut seen: HashSet<&[u8]> = HashSet::new();
        let mut next = self.classes.get_key_value(class);
        while let Some((name, known)) = next {
            if !seen.insert(name) {
                break;
            }
            if let Some(&native) = known.methods.get(&method) {
                return Some((name, native));
            }
            interfaces.extend(known.interfaces.iter().map(|name| &**name));
            next = known.super_class.as_ref().and_then(|name| self.classes.get_key_value(name));
        }
        while let Some(interface) = interfaces.pop() {
            let Some((name, known)) = self.classes.get_key_value(interface) else { continue };
            if !seen.insert(name) {
                continue;
            }
            if let Some(&native) = known.methods.get(&method) {
                return Some((name, native));
            }
            interfaces.extend(known.interfaces.iter().map(|name| &**name));
        }
        None
    }
}

impl Own for Inputs {
    fn resolve(&self, class: &[u8], name: &[u8], descriptor: &[u8]) -> Resolved {
        match self.declaring(class, key(name, descriptor)) {
            Some((class, native)) => Resolved::Declared { class: class.into(), native },
            None => Resolved::Elsewhere,
        }
    }
}

fn key(name: &[u8], descriptor: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (name, descriptor).hash(&mut hasher);
    hasher.finish()
}
