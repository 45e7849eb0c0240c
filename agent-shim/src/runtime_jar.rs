//! The Java runtime as a jar for the boot loader: in memory, so that nothing is left behind however the process ends.

use instrument_rewriter::archive::{self, NewEntry};
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, IntoRawFd};
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
    // Children have no use for it.
    let mut file = File::from(memfd_create("instrument-runtime.jar", MemfdFlags::CLOEXEC)?);
    file.write_all(&jar)?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    // The virtual machine opens it by this path, now and perhaps later.
    let _ = file.into_raw_fd();
    Ok(path)
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
