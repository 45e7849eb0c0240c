//! The Java runtime as a jar for the boot loader: in memory where the system can do that, so that nothing is left behind however the
//! process ends; else in the folder for temporary files.

use instrument_rewriter::archive::{self, NewEntry};
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

/// Makes the jar; the path holds as long as this process lives.
pub(crate) fn create() -> io::Result<PathBuf> {
    let entry = |(name, data): &(&str, &[u8])| NewEntry {
        name: (*name).to_owned(),
        data: data.to_vec(),
        stored: true,
    };
    let jar = archive::create(instrument_runtime::CLASSES.iter().map(entry).collect());
    let jar = jar.map_err(|error| io::Error::other(error.to_string()))?;
    let (mut file, path) = file()?;
    file.write_all(&jar)?;
    // The virtual machine opens it by this path, now and perhaps later.
    std::mem::forget(file);
    Ok(path)
}

#[cfg(target_os = "linux")]
fn file() -> io::Result<(File, PathBuf)> {
    use rustix::fs::{MemfdFlags, memfd_create};
    use std::os::fd::AsRawFd;
    // Children have no use for it.
    let file = File::from(memfd_create("instrument-runtime.jar", MemfdFlags::CLOEXEC)?);
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    Ok((file, path))
}

#[cfg(not(target_os = "linux"))]
fn file() -> io::Result<(File, PathBuf)> {
    Ok(tempfile::Builder::new().prefix("instrument-runtime").suffix(".jar").tempfile()?.keep()?)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_jar_can_be_read_by_its_path() {
        let path = super::create().unwrap();
        let jar = std::fs::read(path).unwrap();
        assert!(jar.starts_with(b"PK") && jar.len() > 10_000);
    }
}
