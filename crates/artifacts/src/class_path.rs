//! Where `verify` finds classes by name: its inputs, `--class-path`, and the module image of a JDK.

use crate::source;
use anyhow::{Context, Result};
use instrument_verifier::hierarchy::{ClassPath, Summary};
use instrument_verifier::jdk::Jdk;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Classes by internal name.
type Classes = HashMap<Box<[u8]>, Arc<Summary>>;

/// Inputs and class path first, then the JDK, from which classes are read when they are asked for.
#[derive(Default)]
pub struct Places {
    classes: Classes,
    jdk: Option<Arc<Jdk>>,
}

impl Places {
    /// No class yet but those of the JDK.
    pub fn new(jdk: Option<Arc<Jdk>>) -> Places {
        Places { classes: Classes::new(), jdk }
    }

    /// Adds a class. The first of a name counts, as in a class path.
    pub fn add(&mut self, class: Arc<Summary>) {
        self.classes.entry(class.name.clone()).or_insert(class);
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
