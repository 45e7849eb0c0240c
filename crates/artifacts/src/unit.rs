//! The inputs of the rewriter: archives, class files and directories, as the user named them.

use std::path::{Path, PathBuf};

/// One input as the user named it, with the files of it that may hold classes.
#[derive(Debug)]
pub struct Unit {
    /// For messages and the account.
    pub label: String,
    /// What the user named.
    pub kind: UnitKind,
    /// A directory's class files and archives, sorted by path; otherwise one file.
    pub files: Vec<InputFile>,
}

/// What the user named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitKind {
    /// A jar, war, ear or zip.
    Archive,
    ClassFile,
    /// A directory, the root of a class path.
    Directory,
}

/// One file of a [`Unit`].
#[derive(Debug)]
pub struct InputFile {
    pub path: PathBuf,
    /// Its path within the directory, with `/`; none if the unit is this file.
    pub entry: Option<String>,
    /// How it is read.
    pub kind: FileKind,
    /// Its length in bytes when it was found.
    pub size: u64,
}

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A jar, war, ear or zip.
    Archive,
    ClassFile,
}

impl Unit {
    /// What a file of this unit is called in messages.
    pub(super) fn name_of(&self, file: &InputFile) -> String {
        match &file.entry {
            Some(entry) => format!("{}/{entry}", self.label.trim_end_matches('/')),
            None => self.label.clone(),
        }
    }

    /// What the profiles of the rewritten program are called: `app` for `lib/app.jar`.
    pub(super) fn profile_name(&self) -> String {
        let name = Path::new(&self.label).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let stem = match self.kind {
            UnitKind::Directory => name.as_str(),
            UnitKind::Archive | UnitKind::ClassFile => {
                name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem)
            }
        };
        if stem.is_empty() || stem == "." || stem == ".." { "java".to_owned() } else { stem.to_owned() }
    }
}
