//! Where a judge finds the classes that a class names: those of jars or of a directory, then those of a JDK.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use instrument_verifier::format::Jvm;
use instrument_verifier::hierarchy::{ClassPath, Summary};
use instrument_verifier::{Verifier, jdk};

use crate::machine::Jdk;

/// The classes of some jars, then those of a JDK.
pub struct Places {
    classes: HashMap<Box<[u8]>, Arc<Summary>>,
    jdk: jdk::Jdk,
}

impl ClassPath for Places {
    fn find(&self, name: &[u8]) -> Option<Arc<Summary>> {
        self.classes.get(name).cloned().or_else(|| self.jdk.find(name))
    }
}

impl Places {
    /// The classes of these jars.
    ///
    /// # Errors
    /// A jar or a JDK that cannot be read.
    pub fn new(jdk: &Jdk, jars: &[PathBuf]) -> Result<Places> {
        let mut classes = HashMap::new();
        for jar in jars {
            for (_, bytes) in classes_of(jar)? {
                if let Some(class) = Summary::parse(&bytes) {
                    classes.entry(class.name.clone()).or_insert(Arc::new(class));
                }
            }
        }
        Ok(Places { classes, jdk: jdk::Jdk::open(&jdk.home)? })
    }

    /// Of class files that are named as their classes.
    ///
    /// # Errors
    /// A directory or a JDK that cannot be read.
    pub fn of_directory(jdk: &Jdk, directory: &Path) -> Result<Places> {
        let mut classes = HashMap::new();
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let class = if path.extension().is_some_and(|e| e == "class") {
                Summary::parse(&fs::read(&path)?)
            } else {
                None
            };
            if let Some(class) = class.filter(|class| *class.name == *stem.as_bytes()) {
                classes.insert(class.name.clone(), Arc::new(class));
            }
        }
        Ok(Places { classes, jdk: jdk::Jdk::open(&jdk.home)? })
    }

    /// A verifier that finds these classes.
    pub fn verifier(&self) -> Verifier<'_> {
        Verifier::new(self, Jvm { newest_major: self.jdk.newest_major, preview: false })
    }
}

/// The classes at the root of a jar's class path, in the order of their names.
///
/// # Errors
/// A jar that cannot be read.
pub fn classes_of(jar: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut archive = zip::ZipArchive::new(fs::File::open(jar)?)?;
    let mut classes = BTreeMap::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index)?;
        let name = entry.name()?.into_owned();
        if name.ends_with(".class") && !name.starts_with("META-INF/") && !name.ends_with("module-info.class")
        {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            classes.insert(name, bytes);
        }
    }
    Ok(classes)
}
