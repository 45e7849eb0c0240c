//! The file of an id map that several processes share: locked while it is used, and only ever appended to.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// Opens or creates the file, and locks it; `locked` waits for the lock, and says whether it was given. The lock is
/// `flock(2)`'s on the open file: who dies gives it back. None: the lock was not given.
///
/// # Errors
/// It cannot be opened or locked; it is not a regular file.
pub fn open_locked(
    path: &Path,
    mut locked: impl FnMut(&File) -> io::Result<bool>,
) -> io::Result<Option<File>> {
    loop {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        if !locked(&file)? {
            return Ok(None);
        }
        // Who held the lock may have removed the file that it had created; then this one has no name any more.
        if same_file(&file, path) {
            return Ok(Some(file));
        }
    }
}

/// Locks the file, for which it waits so long. False: another process has kept it locked.
///
/// # Errors
/// The file system has no locks.
pub fn lock_within(file: &File, limit: Duration) -> io::Result<bool> {
    let end = Instant::now() + limit;
    let mut pause = Duration::from_millis(1);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if Instant::now() >= end => return Ok(false),
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(20));
            }
        }
    }
}

/// Appends `text` after the first `known` bytes, which end with a whole line: a line that a crash left incomplete
/// behind them is overwritten. The file must be locked.
///
/// # Errors
/// The file cannot be written; then part of `text` may be in it, which the next call overwrites.
pub fn append(mut file: &File, known: u64, text: &[u8]) -> io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    if file.metadata()?.len() > known {
        file.set_len(known)?;
    }
    file.seek(SeekFrom::Start(known))?;
    file.write_all(text)
}

#[cfg(unix)]
fn same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn same_file(_: &File, path: &Path) -> bool {
    path.exists()
}
