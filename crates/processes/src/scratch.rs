//! A folder that a process and we have for the profiles of a moment.

use crate::hand_over::in_a_folder_of;
use crate::jvm::Process;
use crate::rights::{Folder, with_rights_of};
use anyhow::{Context, Result};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// It goes with all that is in it when this is dropped.
pub struct Scratch<'a> {
    process: &'a Process,
    folder: Folder,
    name: String,
}

impl<'a> Scratch<'a> {
    /// Makes one that nobody but the user of the process can enter.
    ///
    /// # Errors
    /// Nothing can be written where the process looks.
    pub fn new(process: &'a Process) -> Result<Scratch<'a>> {
        in_a_folder_of(process, |folder| {
            let make = || {
                let mut made = tempfile::Builder::new();
                // What is usual lets everybody in.
                let own = Permissions::from_mode(0o700);
                let made = made.prefix(".instrument-").permissions(own).tempdir_in(folder.path("."))?;
                let path = made.keep();
                path.file_name()
                    .and_then(|name| name.to_str())
                    .map(str::to_owned)
                    .context("a folder has a name")
            };
            let name =
                with_rights_of(process, make).with_context(|| folder.inside().display().to_string())?;
            Ok(Scratch { process, folder, name })
        })
    }

    /// As the process sees it.
    pub fn inside(&self) -> PathBuf {
        self.folder.inside().join(&self.name)
    }

    /// What the process has written there under this path, as one of ours. It is there after the end of the process, too.
    pub fn outside(&self, written: &Path) -> PathBuf {
        self.folder.path(&self.name).join(written.file_name().unwrap_or_default())
    }
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        let remove = || Ok(std::fs::remove_dir_all(self.folder.path(&self.name))?);
        // What cannot be removed does no harm but take room.
        let _ = with_rights_of(self.process, remove);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_writes_there_can_be_read_and_goes() {
        let process = Process::of(std::process::id()).unwrap();
        let scratch = Scratch::new(&process).unwrap();
        let inside = scratch.inside();
        assert_eq!(std::fs::metadata(&inside).unwrap().permissions().mode() & 0o777, 0o700);
        let file = inside.join("a.iprof");
        std::fs::write(&file, "profile").unwrap();
        assert_eq!(std::fs::read_to_string(scratch.outside(&file)).unwrap(), "profile");
        drop(scratch);
        assert!(!inside.exists());
    }
}
