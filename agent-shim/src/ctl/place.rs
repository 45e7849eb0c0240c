//! Where the socket is: in a directory that belongs to the user alone.

use instrument_control::ctl::{directory_in, directory_of_user, socket_name};
use rustix::process::{getpid, getuid};
use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// A socket that listens; its name in the file system is removed when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) listener: UnixListener,
    path: PathBuf,
    /// Device and inode.
    file: (u64, u64),
}

impl Place {
    /// The socket of this process in the directory of its user.
    ///
    /// # Errors
    /// The directory is not ours alone, or the socket cannot be made.
    pub(super) fn usual() -> Result<Place, String> {
        let directory = directory();
        private(&directory)?;
        Place::at(directory.join(socket_name(std::process::id())))
    }

    /// A socket at this path. What a dead process has left there is replaced. It listens before it has its name, so that nobody takes it
    /// for a dead one.
    ///
    /// # Errors
    /// Something else is there, or the socket cannot be made.
    pub(super) fn at(path: PathBuf) -> Result<Place, String> {
        let named = |error: io::Error| format!("{}: {error}", path.display());
        match fs::symlink_metadata(&path) {
            Ok(there) if !there.file_type().is_socket() => {
                return Err(format!("{}: something that is not a socket is there", path.display()));
            }
            Ok(_) if UnixStream::connect(&path).is_ok() => {
                return Err(format!("{}: another process answers there", path.display()));
            }
            _ => {}
        }
        let mut new = path.clone().into_os_string();
        new.push(format!("-{}", getpid().as_raw_nonzero()));
        let new = PathBuf::from(new);
        let _ = fs::remove_file(&new);
        let listener = UnixListener::bind(&new).map_err(named)?;
        let finish = || {
            fs::set_permissions(&new, Permissions::from_mode(0o600))?;
            let file = identity(&fs::symlink_metadata(&new)?);
            fs::rename(&new, &path)?;
            Ok(file)
        };
        match finish() {
            Ok(file) => Ok(Place { listener, path, file }),
            Err(error) => {
                let _ = fs::remove_file(&new);
                Err(named(error))
            }
        }
    }

    /// Removes the name, if it is still ours.
    pub(super) fn remove(&self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|there| identity(&there) == self.file) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

/// Whoever has changed the user since the login has the variable of another one.
fn directory() -> PathBuf {
    let uid = getuid().as_raw();
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let ours = |path: &PathBuf| path.is_absolute() && path.metadata().is_ok_and(|there| there.uid() == uid);
    match runtime.filter(ours) {
        Some(runtime) => directory_in(&runtime),
        None => directory_of_user(uid),
    }
}

/// Makes the directory if it is not there. It must be ours, and nobody else may look into it.
fn private(directory: &Path) -> Result<(), String> {
    let named = |error: io::Error| format!("{}: {error}", directory.display());
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(named(error)),
        _ => {}
    }
    let there = fs::symlink_metadata(directory).map_err(named)?;
    let reason = if !there.is_dir() {
        "it is not a directory"
    } else if there.uid() != getuid().as_raw() {
        "it belongs to another user"
    } else if there.mode() & 0o077 != 0 {
        "others may use it; its mode should be 0700"
    } else {
        return Ok(());
    };
    Err(format!("{}: {reason}", directory.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_a_directory_of_our_own_will_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        private(&path("new")).unwrap();
        private(&path("new")).unwrap();
        symlink(path("new"), path("link")).unwrap();
        fs::write(path("file"), "").unwrap();
        for (name, mode) in [("open", 0o755), ("group", 0o740), ("entered", 0o710), ("others", 0o701)] {
            DirBuilder::new().create(path(name)).unwrap();
            fs::set_permissions(path(name), Permissions::from_mode(mode)).unwrap();
        }
        for (name, reason) in [
            ("link", "it is not a directory"),
            ("file", "it is not a directory"),
            ("open", "its mode should be 0700"),
            ("none/new", "No such file"),
            ("group", "its mode should be 0700"),
            ("entered", "its mode should be 0700"),
            ("others", "its mode should be 0700"),
        ] {
            let error = private(&path(name)).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn what_a_dead_process_left_is_replaced_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        drop(UnixListener::bind(&path).unwrap());
        let place = Place::at(path.clone()).unwrap();
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        assert!(Place::at(path.clone()).unwrap_err().contains("another process answers there"));
        place.remove();
        assert!(!path.exists());
        fs::write(&path, "something").unwrap();
        place.remove();
        assert!(Place::at(path.clone()).unwrap_err().contains("not a socket"));
        assert_eq!(fs::read(&path).unwrap(), b"something");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
