//! Outputs appear whole or not at all: everything is written beside its target, and renamed when the whole run has
//! succeeded.
//!
//! What replaces an input is on disk (fsync) before it is renamed. A new output is not: its input is still there, and
//! waiting for the disk takes longer than rewriting.

use anyhow::{Context, Result};
use std::fs::{self, File, Permissions};
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile, TempDir, TempPath};

/// What will appear when [`commit`](Outputs::commit) is called; dropped before that, nothing remains.
#[derive(Debug, Default)]
pub struct Outputs {
    files: Vec<(TempPath, PathBuf)>,
    trees: Vec<(TempDir, PathBuf)>,
    created: Option<PathBuf>,
    /// Whether to wait until everything is on disk.
    durable: bool,
}

impl Outputs {
    /// Outputs that replace their inputs, and therefore wait for the disk.
    #[allow(clippy::field_reassign_with_default, reason = "it has a destructor")]
    pub fn in_place() -> Outputs {
        let mut outputs = Outputs::default();
        outputs.durable = true;
        outputs
    }

    /// Makes sure that a directory for outputs exists.
    pub fn create_directory(&mut self, path: &Path) -> Result<()> {
        if !path.is_dir() {
            fs::create_dir(path).with_context(|| path.display().to_string())?;
            self.created = Some(path.to_owned());
        }
        Ok(())
    }

    /// Stages a file; with the umask's permissions, unless others are given.
    pub fn file(&mut self, target: &Path, permissions: Option<Permissions>, bytes: &[u8]) -> Result<()> {
        let mut temporary = Outputs::open(target)?;
        temporary.write_all(bytes).with_context(|| format!("writing {}", target.display()))?;
        self.stage(target, permissions, temporary)
    }

    /// A temporary file in the directory of `target`, or the nearest one above that exists.
    pub fn open(target: &Path) -> Result<NamedTempFile> {
        let elsewhere = std::env::temp_dir();
        let mut directory = if is_special(target) { &elsewhere } else { directory_of(target) };
        while !directory.exists() && directory != Path::new(".") {
            directory = directory_of(directory);
        }
        let mut builder = Builder::new();
        let prefix = temporary_prefix(target);
        let builder = builder.prefix(&prefix).suffix(".tmp");
        #[cfg(unix)]
        let builder = builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        builder.tempfile_in(directory).with_context(|| format!("writing to {}", directory.display()))
    }

    /// Stages a file from [`open`](Outputs::open) that has been written.
    pub fn stage(
        &mut self,
        target: &Path,
        permissions: Option<Permissions>,
        file: NamedTempFile,
    ) -> Result<()> {
        let finish = || {
            if let Some(permissions) = permissions {
                file.as_file().set_permissions(permissions)?;
            }
            if self.durable { file.as_file().sync_all() } else { Ok(()) }
        };
        finish().with_context(|| format!("writing {}", target.display()))?;
        self.files.push((file.into_temp_path(), target.to_owned()));
        Ok(())
    }

    /// Stages a directory and gives the place where to fill it.
    pub fn tree(&mut self, target: &Path) -> Result<PathBuf> {
        let directory = directory_of(target);
        let temporary = Builder::new().prefix(&temporary_prefix(target)).suffix(".tmp").tempdir_in(directory);
        let temporary = temporary.with_context(|| format!("writing to {}", directory.display()))?;
        let path = temporary.path().to_owned();
        self.trees.push((temporary, target.to_owned()));
        Ok(path)
    }

    /// Lets everything appear, replacing what was there.
    pub fn commit(mut self) -> Result<()> {
        self.created = None;
        let mut directories: Vec<PathBuf> = Vec::new();
        for (file, target) in self.files.drain(..) {
            if is_special(&target) {
                write_into(&file, &target).with_context(|| target.display().to_string())?;
                continue;
            }
            let directory = directory_of(&target);
            fs::create_dir_all(directory).with_context(|| directory.display().to_string())?;
            file.persist(&target).with_context(|| target.display().to_string())?;
            directories.push(directory.to_owned());
        }
        for (tree, target) in self.trees.drain(..) {
            replace_directory(tree, &target).with_context(|| target.display().to_string())?;
            directories.push(directory_of(&target).to_owned());
        }
        directories.sort();
        directories.dedup();
        for directory in directories.iter().filter(|_| self.durable) {
            // A rename lasts when its directory is on disk. Some file systems cannot do that; then there is no more to
            // do.
            let _ = File::open(directory).and_then(|directory| directory.sync_all());
        }
        Ok(())
    }
}

impl Drop for Outputs {
    fn drop(&mut self) {
        self.files.clear();
        self.trees.clear();
        if let Some(directory) = &self.created {
            let _ = fs::remove_dir(directory);
        }
    }
}

/// Whether something is there that is not to be replaced but written to, such as a device or a pipe.
fn is_special(target: &Path) -> bool {
    fs::metadata(target).is_ok_and(|there| !there.is_file() && !there.is_dir())
}

fn write_into(file: &Path, target: &Path) -> std::io::Result<()> {
    let mut to = File::options().write(true).open(target)?;
    std::io::copy(&mut File::open(file)?, &mut to).map(drop)
}

/// Moves an earlier output aside, the new one to its place, and removes the earlier one.
fn replace_directory(new: TempDir, target: &Path) -> std::io::Result<()> {
    let aside = if target.exists() {
        let aside = Builder::new()
            .prefix(&temporary_prefix(target))
            .suffix(".old")
            .tempdir_in(directory_of(target))?;
        fs::rename(target, aside.path().join("old"))?;
        Some(aside)
    } else {
        None
    };
    if let Err(error) = fs::rename(new.path(), target) {
        if let Some(aside) = &aside {
            fs::rename(aside.path().join("old"), target)?;
        }
        return Err(error);
    }
    let _ = new.keep();
    aside.map_or(Ok(()), TempDir::close)
}

fn directory_of(target: &Path) -> &Path {
    target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn temporary_prefix(target: &Path) -> String {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    format!(".{}.", name.chars().take(40).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            directory.read_dir().unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn nothing_appears_before_the_commit_and_nothing_remains_without_it() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("b"), "old").unwrap();
        for commit in [false, true] {
            let mut outputs = Outputs::default();
            outputs.create_directory(&at("new")).unwrap();
            outputs.file(&at("b"), None, b"new").unwrap();
            outputs.file(&at("new/c"), None, b"c").unwrap();
            outputs.file(&at("deep/er/d"), None, b"d").unwrap();
            let tree = outputs.tree(&at("tree")).unwrap();
            fs::write(tree.join("e"), "e").unwrap();
            assert_eq!(fs::read_to_string(at("b")).unwrap(), "old");
            if commit {
                outputs.commit().unwrap();
            } else {
                drop(outputs);
                assert_eq!(names(directory.path()), ["b"]);
            }
        }
        assert_eq!(names(directory.path()), ["b", "deep", "new", "tree"]);
        assert_eq!(fs::read_to_string(at("b")).unwrap(), "new");
        assert_eq!(fs::read_to_string(at("deep/er/d")).unwrap(), "d");
        assert_eq!(names(&at("tree")), ["e"]);
    }

    #[test]
    fn an_earlier_directory_is_replaced_whole() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("out");
        fs::create_dir(&target).unwrap();
        fs::write(target.join("stale"), "").unwrap();
        let mut outputs = Outputs::default();
        let tree = outputs.tree(&target).unwrap();
        fs::write(tree.join("fresh"), "").unwrap();
        outputs.commit().unwrap();
        assert_eq!(names(directory.path()), ["out"]);
        assert_eq!(names(&target), ["fresh"]);
    }
}
