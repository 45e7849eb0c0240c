//! Where `verify` finds classes by name: its inputs, `--class-path`, and the module image of a JDK.

use crate::source;
use anyhow::{Context, Result};
use instrument_verifier::hierarchy::{ClassPath, Summary};
pub use instrument_verifier::jdk::Jdk;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Classes by internal name.
type Classes = HashMap<Box<[u8]>, Arc<Summary>>;

/// Inputs and class path first, then the JDK, from which classes are read when they are requested.
#[derive(Default)]
pub struct Places {
    classes: Classes,
    /// By input: the classes that other inputs before it have as well.
    shared: Vec<Classes>,
    /// The input that each class of `classes` is from, as far as it is from one.
    inputs: HashMap<Box<[u8]>, usize>,
    jdk: Option<Arc<Jdk>>,
}

/// A class that more than one input has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shared {
    /// Its internal name.
    pub name: Box<[u8]>,
    /// The inputs that have it, by their positions, ascending.
    pub inputs: Vec<usize>,
}

/// What one of the inputs finds: its own classes before those of the others.
pub struct View<'a> {
    places: &'a Places,
    input: usize,
}

impl Places {
    /// No class yet but those of the JDK.
    pub fn new(jdk: Option<Arc<Jdk>>) -> Places {
        Places { jdk, ..Places::default() }
    }

    /// Adds a class. The first of a name counts, as in a class path.
    pub fn add(&mut self, class: Arc<Summary>) {
        self.classes.entry(class.name.clone()).or_insert(class);
    }

    /// Adds a class of the input at this position. The first of a name in an input counts.
    pub fn add_of(&mut self, input: usize, class: Arc<Summary>) {
        if *self.inputs.entry(class.name.clone()).or_insert(input) == input {
            return self.add(class);
        }
        if self.shared.len() <= input {
            self.shared.resize_with(input + 1, Classes::new);
        }
        self.shared[input].entry(class.name.clone()).or_insert(class);
    }

    /// What the input at this position finds.
    pub fn of(&self, input: usize) -> View<'_> {
        View { places: self, input }
    }

    /// The classes that more than one input has, by name.
    pub fn shared(&self) -> Vec<Shared> {
        let mut shared: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
        for (input, classes) in self.shared.iter().enumerate() {
            for name in classes.keys() {
                let first = || self.inputs.get(name).copied().into_iter().collect();
                shared.entry(name).or_insert_with(first).push(input);
            }
        }
        let sorted = |mut inputs: Vec<usize>| {
            inputs.sort_unstable();
            inputs
        };
        shared
            .into_iter()
            .map(|(name, inputs)| Shared { name: name.into(), inputs: sorted(inputs) })
            .collect()
    }

    /// The names of the classes that were added.
    pub fn names(&self) -> impl Iterator<Item = &Box<[u8]>> {
        self.classes.keys()
    }

    /// Adds all classes of an archive, directory or class file. What cannot be read as a class is left out.
    pub fn add_all(&mut self, address: &str) -> Result<()> {
        source::classes_of(address, &|_| true, &mut |class| {
            if let Some(class) = Summary::parse(class.bytes) {
                self.add(Arc::new(class));
            }
            Ok(())
        })
    }
}

impl ClassPath for Places {
    fn find(&self, name: &[u8]) -> Option<Arc<Summary>> {
        match self.classes.get(name) {
            Some(class) => Some(class.clone()),
            None => self.jdk.as_ref().and_then(|jdk| jdk.find(name)),
        }
    }
}

impl ClassPath for View<'_> {
    fn find(&self, name: &[u8]) -> Option<Arc<Summary>> {
        let own = self.places.shared.get(self.input).and_then(|classes| classes.get(name));
        own.cloned().or_else(|| self.places.find(name))
    }
}

/// The JDK in this directory.
///
/// # Errors
/// It has no `lib/modules`, or one that cannot be read.
pub fn open_jdk(home: &Path) -> Result<Jdk> {
    let named = || {
        format!("{}: no JDK (Java 9 or later) that can be read; name one with --java-home", home.display())
    };
    Jdk::open(home).with_context(named)
}

/// The JDK whose `java` stands on the path; none if there is none.
pub fn jdk_on_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let java =
        std::env::split_paths(&path).find_map(|directory| directory.join("java").canonicalize().ok())?;
    let home = java.parent()?.parent()?;
    home.join("lib/modules").is_file().then(|| home.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_finds_its_own_classes_before_those_of_others() {
        let class = |name: &str, major| {
            // 1 and 2: the class; 3 and 4: java/lang/Object.
            let text = |text: &str| [&[1, 0, text.len() as u8], text.as_bytes()].concat();
            let bytes = [
                &[0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, major, 0, 5][..],
                &text(name),
                &[7, 0, 1],
                &text("java/lang/Object"),
                &[7, 0, 3, 0, 0x21, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0],
            ]
            .concat();
            Arc::new(Summary::parse(&bytes).unwrap())
        };
        let classes = [class("a/A", 52), class("a/A", 52), class("a/B", 52), class("a/A", 52)];
        let mut places = Places::default();
        for (input, class) in [(1, 0), (2, 1), (2, 2), (1, 3)] {
            places.add_of(input, classes[class].clone());
        }
        let found = |input: usize, name: &[u8]| {
            let found = places.of(input).find(name)?;
            classes.iter().position(|class| Arc::ptr_eq(class, &found))
        };
        assert_eq!((found(1, b"a/A"), found(2, b"a/A"), found(0, b"a/A")), (Some(0), Some(1), Some(0)));
        assert_eq!((found(1, b"a/B"), found(1, b"a/C")), (Some(2), None));
        assert_eq!(places.shared(), [Shared { name: (*b"a/A").into(), inputs: vec![1, 2] }]);
    }
}
