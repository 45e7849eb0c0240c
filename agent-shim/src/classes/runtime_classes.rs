//! The Java runtime as classes of the boot loader, where every other loader finds them.
//!
//! Before the virtual machine can define classes they are a jar on the boot path: in memory where the system can do that, so that nothing is
//! left behind however the process ends; else in the folder for temporary files. In a program that runs already they are defined one by one:
//! when a jar comes then, HotSpot gives up its archive of the program's classes, and says so on the program's standard error
//! (`ClassLoaderExt::append_boot_classpath`).

use crate::jvmti::Jni;
use instrument_rewriter::archive::{self, NewEntry};
use instrument_rewriter::class_file::ClassFile;
use instrument_runtime::CLASSES;
use std::collections::HashMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::OnceLock;

/// Where this process finds its open files by name.
const NAMES: &str = "/proc/self/fd";
/// The jar, if it is a file on disk.
static ON_DISK: OnceLock<PathBuf> = OnceLock::new();

/// Defines the classes, unless another library of the same version has done it: an agent that was moved, or another agent of the same build.
///
/// # Errors
/// The recorder of another version is there. The virtual machine keeps its classes, and probes of this version may call what they lack.
pub(crate) fn define(jni: Jni<'_>) -> Result<(), String> {
    let broken =
        || "internal error: the recorder's classes cannot be defined; start the program anew".to_owned();
    let classes = in_order().ok_or_else(broken)?;
    let [(first, of_first), others @ ..] = &classes[..] else { return Err(broken()) };
    let (version, of_version) = version();
    let defined = |name: &str, bytes: &[u8]| jni.define_boot_class(name, bytes).is_some();
    // The first one is of every version. A class that is there already is not defined anew.
    let define = || {
        if !defined(first, of_first) {
            let other = "another version of instrument has recorded this program, and its recorder stays: \
                         attach with that version, or start the program anew";
            return jni.find_class(&version).map(|_| ()).ok_or_else(|| other.to_owned());
        }
        let is_whole =
            others.iter().all(|(name, bytes)| defined(name, bytes)) && defined(&version, &of_version);
        is_whole.then_some(()).ok_or_else(broken)
    };
    jni.in_frame(define).ok_or_else(broken)?
}

/// A class without members whose name says which version of the recorder it stands beside.
fn version() -> (String, Vec<u8>) {
    let mut hasher = DefaultHasher::new();
    CLASSES.hash(&mut hasher);
    let name = format!("instrument/runtime/Version{:016x}", hasher.finish());
    let mut bytes = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52, 0, 5];
    for (index, text) in [(1, &*name), (3, "java/lang/Object")] {
        bytes.extend([1, 0, text.len() as u8]);
        bytes.extend(text.as_bytes());
        bytes.extend([7, 0, index]);
    }
    // Public, final, synthetic; this class and its super class; no interfaces, fields, methods, attributes.
    bytes.extend([0x10, 0x31, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0]);
    (name, bytes)
}

/// The classes, each behind its own super class and interfaces: the loader that defines it asks for those.
fn in_order() -> Option<Vec<(&'static str, &'static [u8])>> {
    let mut left = HashMap::new();
    for &(entry, bytes) in CLASSES {
        left.insert(entry.strip_suffix(".class")?, (bytes, ClassFile::parse(bytes).ok()?));
    }
    let mut sorted = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let mut ready: Vec<&str> = left
            .iter()
            .filter(|(_, (_, class))| {
                let above = class.interfaces().filter_map(|index| class.pool.class_name(index).ok());
                let mut above = above.chain(class.super_name().ok().flatten());
                !above.any(|name| std::str::from_utf8(name).is_ok_and(|name| left.contains_key(name)))
            })
            .map(|(name, _)| *name)
            .collect();
        // None of a circle is ever ready.
        ready.first()?;
        ready.sort_unstable();
        sorted.extend(ready.iter().filter_map(|name| Some((*name, left.remove(name)?.0))));
    }
    Some(sorted)
}

/// Makes the jar; the path holds as long as this process lives.
pub(crate) fn jar() -> io::Result<PathBuf> {
    let entry = |(name, data): &(&str, &[u8])| NewEntry {
        name: (*name).to_owned(),
        data: data.to_vec(),
        stored: true,
    };
    let (name, bytes) = version();
    let version = NewEntry { name: name + ".class", data: bytes, stored: true };
    let jar = archive::create(CLASSES.iter().map(entry).chain([version]).collect());
    let jar = jar.map_err(|error| io::Error::other(error.to_string()))?;
    let (mut file, path) = file(NAMES)?;
    file.write_all(&jar)?;
    // The virtual machine opens it by this path, now and perhaps later.
    std::mem::forget(file);
    Ok(path)
}

/// A file in memory; none where there is no such thing, or no `/proc` to name it by.
#[cfg(target_os = "linux")]
fn in_memory(names: &str) -> Option<(File, PathBuf)> {
    use rustix::fs::{MemfdFlags, memfd_create};
    use std::os::fd::AsRawFd;
    // Children have no use for it.
    let file = File::from(memfd_create("instrument-runtime.jar", MemfdFlags::CLOEXEC).ok()?);
    let path = PathBuf::from(format!("{names}/{}", file.as_raw_fd()));
    path.exists().then_some((file, path))
}

#[cfg(not(target_os = "linux"))]
fn in_memory(_: &str) -> Option<(File, PathBuf)> {
    None
}

fn file(names: &str) -> io::Result<(File, PathBuf)> {
    if let Some(found) = in_memory(names) {
        return Ok(found);
    }
    let file = tempfile::Builder::new().prefix("instrument-runtime").suffix(".jar").tempfile()?;
    let (file, path) = file.keep()?;
    let _ = ON_DISK.set(path.clone());
    Ok((file, path))
}

/// Removes what lies in the folder for temporary files: the virtual machine has opened it long ago.
pub(crate) fn remove() {
    if let Some(path) = ON_DISK.get() {
        let _ = std::fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use instrument_rewriter::class_file::ClassFile;

    #[test]
    fn without_proc_it_lies_on_disk_for_a_while() {
        let (_, path) = super::file("/nowhere").unwrap();
        assert!(path.starts_with(std::env::temp_dir()) && path.exists());
        super::remove();
        assert!(!path.exists());
    }

    #[test]
    fn the_jar_can_be_read_by_its_path() {
        let path = super::jar().unwrap();
        let jar = std::fs::read(path).unwrap();
        assert!(jar.starts_with(b"PK") && jar.len() > 10_000);
    }

    #[test]
    fn what_a_class_extends_comes_before_it() {
        let classes = super::in_order().unwrap();
        assert_eq!(classes.len(), instrument_runtime::CLASSES.len());
        assert_eq!(classes[0].0, "instrument/runtime/Agent");
        let (name, bytes) = super::version();
        let version = ClassFile::parse(&bytes).unwrap();
        assert_eq!(version.name(), Ok(name.as_bytes()));
        assert_eq!(version.super_name(), Ok(Some(&b"java/lang/Object"[..])));
        let place = |wanted: &str| classes.iter().position(|(name, _)| *name == wanted).unwrap();
        let [tree, state] =
            ["TreeState", "ThreadState"].map(|name| place(&format!("instrument/runtime/{name}")));
        assert!(state < tree);
    }
}
