//! The Java runtime as a jar for the boot loader: in memory where the system can do that, so that nothing is left behind however the
//! process ends; else in the folder for temporary files.

use instrument_rewriter::archive::{self, NewEntry};
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::OnceLock;

/// Where this process finds its open files by name.
const NAMES: &str = "/proc/self/fd";
/// The jar, if it is a file on disk.
static ON_DISK: OnceLock<PathBuf> = OnceLock::new();

/// Makes the jar; the path holds as long as this process lives.
pub(crate) fn create() -> io::Result<PathBuf> {
    let entry = |(name, data): &(&str, &[u8])| NewEntry {
        name: (*name).to_owned(),
        data: data.to_vec(),
        stored: true,
    };
    let jar = archive::create(instrument_runtime::CLASSES.iter().map(entry).collect());
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
    #[test]
    fn without_proc_it_lies_on_disk_for_a_while() {
        let (_, path) = super::file("/nowhere").unwrap();
        assert!(path.starts_with(std::env::temp_dir()) && path.exists());
        super::remove();
        assert!(!path.exists());
    }

    #[test]
    fn the_jar_can_be_read_by_its_path() {
        let path = super::create().unwrap();
        let jar = std::fs::read(path).unwrap();
        assert!(jar.starts_with(b"PK") && jar.len() > 10_000);
    }
}
