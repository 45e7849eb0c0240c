//! Directories as inputs: what is in them, and the copy of what is not rewritten.
//!
//! Symbolic links are not followed; the copy has the same links. Nothing is left out but what is neither file,
//! directory nor link.

use crate::unit::{FileKind, InputFile};
use anyhow::{Context, Result};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// The content of a directory, in the order of names; paths are relative to it.
#[derive(Debug, Default)]
pub struct Tree {
    /// All directories below it.
    pub directories: Vec<PathBuf>,
    /// Class files and archives.
    pub inputs: Vec<InputFile>,
    /// All other files.
    pub others: Vec<PathBuf>,
    /// Symbolic links.
    pub links: Vec<PathBuf>,
    /// Those links that lead out of the directory, to something that could hold classes.
    pub leaving: Vec<PathBuf>,
    /// Sockets, pipes, devices.
    pub special: Vec<PathBuf>,
}

impl Tree {
    /// Reads the directory `root`, a canonical path.
    pub fn read(root: &Path) -> Result<Tree> {
        let mut tree = Tree::default();
        for found in WalkDir::new(root).min_depth(1).follow_links(false).sort_by_file_name() {
            let found = found?;
            let relative = found.path().strip_prefix(root)?.to_owned();
            let kind = found.file_type();
            if kind.is_symlink() {
                // A broken link leads nowhere.
                if let Ok(to) = found.path().canonicalize()
                    && !to.starts_with(root)
                    && (to.is_dir() || kind_by_name(&to).is_some())
                {
                    tree.leaving.push(relative.clone());
                }
                tree.links.push(relative);
            } else if kind.is_dir() {
                tree.directories.push(relative);
            } else if !kind.is_file() {
                tree.special.push(relative);
            } else if let Some(kind) = kind_by_name(&relative) {
                let entry = Some(entry_name(&relative));
                tree.inputs.push(InputFile {
                    path: found.path().to_owned(),
                    entry,
                    kind,
                    size: found.metadata()?.len(),
                });
            } else {
                tree.others.push(relative);
            }
        }
        Ok(tree)
    }

    /// Copies everything from `root` to the directory `copy`.
    pub fn copy_all(&self, root: &Path, copy: &Path) -> Result<()> {
        for directory in &self.directories {
            let path = copy.join(directory);
            fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
        }
        for input in &self.inputs {
            copy_file(&input.path, &copy.join(input.path.strip_prefix(root)?))?;
        }
        self.copy_rest(root, copy)
    }

    /// Copies everything but the inputs from `root` to the directory `copy`, and then gives directories their
    /// permissions.
    pub fn copy_rest(&self, root: &Path, copy: &Path) -> Result<()> {
        for directory in &self.directories {
            let path = copy.join(directory);
            fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
        }
        for other in &self.others {
            copy_file(&root.join(other), &copy.join(other))?;
        }
        for link in &self.links {
            let (from, to) = (root.join(link), copy.join(link));
            let name = || from.display().to_string();
            make_link(&fs::read_link(&from).with_context(name)?, &to).with_context(name)?;
        }
        // Last and from below, because a directory may be read-only.
        for directory in self.directories.iter().rev().map(PathBuf::as_path).chain([Path::new("")]) {
            let (from, to) = (root.join(directory), copy.join(directory));
            let permissions = from.metadata().with_context(|| from.display().to_string())?.permissions();
            fs::set_permissions(&to, permissions).with_context(|| to.display().to_string())?;
        }
        Ok(())
    }
}

/// Copies a file with its permissions and modification time.
pub fn copy_file(from: &Path, to: &Path) -> Result<()> {
    let copy = || -> std::io::Result<()> {
        fs::copy(from, to)?;
        let modified = from.metadata()?.modified()?;
        match File::options().write(true).open(to) {
            Ok(file) => file.set_modified(modified),
            // Read-only, as the original: its time does not matter enough.
            Err(_) => Ok(()),
        }
    };
    copy().with_context(|| format!("copying {}", from.display()))
}

fn kind_by_name(path: &Path) -> Option<FileKind> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "class" => Some(FileKind::ClassFile),
        "jar" | "war" | "ear" | "jmod" => Some(FileKind::Archive),
        _ => None,
    }
}

/// A relative path with `/`, as an archive would name it.
pub fn entry_name(path: &Path) -> String {
    path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

#[cfg(unix)]
fn make_link(to: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(to, link)
}

#[cfg(not(unix))]
fn make_link(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(std::io::Error::other("symbolic links cannot be copied on this system"))
}
