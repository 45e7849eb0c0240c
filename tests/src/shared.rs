//! What several tests need is made once, also when each test is a process of its own: folders for a run of the tests, and locks.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::machine::target;

/// Held until it is dropped, or its process ends.
#[derive(Debug)]
pub struct Lock(#[allow(dead_code, reason = "closing it releases the lock")] File);

/// Waits until nobody else holds the lock of this name, in this process or in another one with the same target directory.
///
/// # Errors
/// The file of the lock cannot be made.
pub fn lock(name: &str) -> Result<Lock> {
    lock_in(&target().join("tests-locks"), name)
}

fn lock_in(folder: &Path, name: &str) -> Result<Lock> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let file = File::create(folder.join(format!("{name}.lock")))?;
    file.lock()?;
    Ok(Lock(file))
}

/// A folder of this name that `make` has filled, once in a run of the tests: `INSTRUMENT_TESTS_SHARED` says where `tests/run` has them, and is
/// not set in a process that runs many tests by itself. Everybody may read it.
///
/// # Panics
/// It cannot be made.
pub fn folder(name: &str, make: impl FnOnce(&Path) -> Result<()>) -> PathBuf {
    // Not made anew, and not looked at again, by the other tests of this process.
    static MADE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let folder = parent().join(name);
    if MADE.lock().unwrap_or_else(PoisonError::into_inner).contains(&folder) {
        return folder;
    }
    let stamp = parent().join(format!("{name}.made"));
    let _lock = lock_in(parent(), name).unwrap_or_else(|error| panic!("{name}: {error:#}"));
    if !stamp.exists() {
        // Of a process that did not come to its end.
        let _ = fs::remove_dir_all(&folder);
        let made = fs::create_dir_all(&folder).map_err(Into::into).and_then(|()| make(&folder));
        made.and_then(|()| Ok(fs::write(&stamp, "")?)).unwrap_or_else(|error| panic!("{name}: {error:#}"));
    }
    MADE.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.clone());
    folder
}

fn parent() -> &'static Path {
    static OWN: OnceLock<(PathBuf, Option<TempDir>)> = OnceLock::new();
    let (path, _) = OWN.get_or_init(|| match std::env::var_os("INSTRUMENT_TESTS_SHARED") {
        Some(path) => (PathBuf::from(path), None),
        None => {
            let folder = tempfile::tempdir().expect("a temporary folder");
            // Other users run programs that lie in it.
            let _ = fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755));
            (folder.path().to_owned(), Some(folder))
        }
    });
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_made_once_and_whole() {
        let made = |times: &mut u32| {
            let fill = |folder: &Path| {
                *times += 1;
                Ok(fs::write(folder.join("file"), "text")?)
            };
            folder("shared-tests", fill)
        };
        let mut times = 0;
        let first = made(&mut times);
        assert_eq!(first, made(&mut times));
        assert_eq!((times, fs::read_to_string(first.join("file")).unwrap()), (1, "text".to_owned()));
        // What was left half-made is not taken for whole.
        let half = parent().join("shared-half");
        fs::create_dir(&half).unwrap();
        fs::write(half.join("old"), "").unwrap();
        let whole = folder("shared-half", |folder| Ok(fs::write(folder.join("new"), "")?));
        assert_eq!((half.join("old").exists(), whole.join("new").exists()), (false, true));
    }

    #[test]
    fn a_lock_is_one_persons() {
        let folder = tempfile::tempdir().unwrap();
        let held = lock_in(folder.path(), "x").unwrap();
        let file = File::open(folder.path().join("x.lock")).unwrap();
        assert!(file.try_lock().is_err());
        drop(held);
        assert!(file.try_lock().is_ok());
    }
}
