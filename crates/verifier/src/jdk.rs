//! The classes of a JDK: those of its module image, read when they are requested.

use crate::hierarchy::{ClassPath, Summary};
use crate::image::Image;
use anyhow::{Context, Result};
use instrument_names::mutf8;
use instrument_rewriter::class_file::{ClassFile, version};
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Classes by internal name; none: the JDK has no such class.
type Known = HashMap<Box<[u8]>, Option<Arc<Summary>>>;

/// The classes of a JDK.
#[derive(Debug)]
pub struct Jdk {
    /// Its home directory.
    pub home: PathBuf,
    /// The newest class file version that it loads: that of its own classes.
    pub newest_major: u16,
    image: Mutex<Image<File>>,
    known: RwLock<Known>,
}

impl Jdk {
    /// Opens the image in `lib/modules`.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn open(home: &Path) -> Result<Jdk> {
        let path = home.join("lib/modules");
        let named = || path.display().to_string();
        let mut image = Image::open(File::open(&path).with_context(named)?).with_context(named)?;
        let object =
            image.class("java/lang/Object").and_then(|found| found.context("no class java.lang.Object"));
        let object = object.with_context(named)?;
        let newest_major =
            ClassFile::parse(&object).map_or(version::NEWEST_MAJOR, |class| class.major_version);
        Ok(Jdk { home: home.to_owned(), newest_major, image: Mutex::new(image), known: RwLock::default() })
    }
}

impl ClassPath for Jdk {
    fn find(&self, name: &[u8]) -> Option<Arc<Summary>> {
        if let Some(known) = self.known.read().unwrap_or_else(PoisonError::into_inner).get(name) {
            return known.clone();
        }
        let bytes = self.image.lock().unwrap_or_else(PoisonError::into_inner).class(&mutf8::escape(name));
        let class = bytes.ok().flatten().and_then(|bytes| Summary::parse(&bytes)).map(Arc::new);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.entry(name.into()).or_insert(class).clone()
    }
}
