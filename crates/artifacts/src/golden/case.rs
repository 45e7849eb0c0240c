//! One case: its `case.toml`, and the texts that are in its folder.

use anyhow::{Context, Result};
use instrument_messages::usage;
use instrument_rewriter::text::PrintOptions;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The folder of the printed classes, within that of the case.
const EXPECTED: &str = "expected";
/// What the program printed, within the folder of the case.
pub(super) const STDOUT: &str = "stdout";
/// Behind the name of a class file.
const SUFFIX: &str = ".txt";
/// How long a command or program may run, unless the case says otherwise.
const SECONDS: u64 = 120;

/// `case.toml`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct CaseFile {
    /// What the case is about, in one line.
    pub(super) title: String,
    /// Makes the class files: a program and its arguments. `{out}` is an empty directory for them, `{case}` the folder
    /// of the case, `{cases}` the folder of all cases. None: they lie in the folder of the case.
    pub(super) command: Vec<String>,
    /// The class to run, with `--jvm`.
    pub(super) main: Option<String>,
    /// The exit code of the program.
    pub(super) exit_code: i32,
    /// The oldest Java that can load the classes.
    pub(super) jdk: u32,
    /// What is not printed.
    pub(super) ignore: Vec<Ignored>,
    /// How long the command, and the program, may run.
    pub(super) seconds: Option<u64>,
}

/// A part of a class that a case leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Ignored {
    /// Line numbers.
    Lines,
    /// Stack map frames.
    Frames,
    /// Local variable tables.
    Locals,
    /// Line numbers, local variable tables, SourceFile, SourceDebugExtension.
    Debug,
}

/// Where the text of a class is, within the folder of its case.
pub(super) fn text_of(name: &str) -> String {
    format!("{EXPECTED}/{name}{SUFFIX}")
}

/// The name of the class of which a file within the folder of a case is the text.
pub(super) fn class_of(file: &str) -> Option<&str> {
    file.strip_prefix(EXPECTED)?.strip_prefix('/')?.strip_suffix(SUFFIX)
}

/// A folder with a `case.toml`.
#[derive(Debug)]
pub struct Case {
    /// The folder's name.
    pub name: String,
    pub(super) folder: PathBuf,
    pub(super) file: CaseFile,
}

impl Case {
    /// The cases in `directory`, by name; only those that are `named`, if any are.
    ///
    /// # Errors
    /// There is no case, or none of a name, or a `case.toml` cannot be read.
    pub fn all(directory: &Path, named: &[String]) -> Result<Vec<Case>> {
        let mut cases = Vec::new();
        let entries = fs::read_dir(directory).with_context(|| directory.display().to_string())?;
        for entry in entries {
            let folder = entry.with_context(|| directory.display().to_string())?.path();
            let path = folder.join("case.toml");
            if !path.is_file() {
                continue;
            }
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if named.is_empty() || named.contains(&name) {
                let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
                let file = toml::from_str(&text).with_context(|| path.display().to_string())?;
                cases.push(Case { name, folder, file });
            }
        }
        cases.sort_by(|a, b| a.name.cmp(&b.name));
        if let Some(name) = named.iter().find(|name| cases.iter().all(|case| case.name != **name)) {
            return Err(usage(format!("{}: no case {name}", directory.display())));
        }
        if cases.is_empty() {
            return Err(usage(format!(
                "{}: no case; a case is a folder in here with a case.toml",
                directory.display()
            )));
        }
        Ok(cases)
    }

    /// The case in a folder, as if its `case.toml` were empty.
    #[cfg(test)]
    pub(super) fn of(folder: &Path) -> Case {
        Case { name: "case".into(), folder: folder.to_owned(), file: CaseFile::default() }
    }

    /// How its classes are printed: what does not change the meaning of a class does not change the text.
    pub(super) fn print_options(&self) -> PrintOptions {
        let ignored = |what| self.file.ignore.contains(&what);
        let debug = ignored(Ignored::Debug);
        PrintOptions {
            lines: !debug && !ignored(Ignored::Lines),
            locals: !debug && !ignored(Ignored::Locals),
            frames: !ignored(Ignored::Frames),
            source: !debug,
            ..PrintOptions::canonical()
        }
    }

    pub(super) fn limit(&self) -> Duration {
        Duration::from_secs(self.file.seconds.unwrap_or(SECONDS))
    }

    /// The blessed texts, by the name of the class file.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub(super) fn expected(&self) -> Result<BTreeMap<String, String>> {
        let root = self.folder.join(EXPECTED);
        let mut texts = BTreeMap::new();
        if !root.is_dir() {
            return Ok(texts);
        }
        for entry in walkdir::WalkDir::new(&root).sort_by_file_name() {
            let path = entry?.into_path();
            let relative = path.strip_prefix(&root)?.to_string_lossy().replace('\\', "/");
            if let Some(name) = relative.strip_suffix(SUFFIX).filter(|_| path.is_file()) {
                let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
                texts.insert(name.to_owned(), text);
            }
        }
        Ok(texts)
    }

    /// Makes `texts` the blessed ones; how many files changed.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(super) fn bless(&self, texts: &BTreeMap<String, String>) -> Result<usize> {
        let before = self.expected()?;
        let mut changed = 0;
        for (name, text) in texts.iter().filter(|(name, text)| before.get(*name) != Some(*text)) {
            write(&self.folder.join(text_of(name)), text)?;
            changed += 1;
        }
        for name in before.keys().filter(|name| !texts.contains_key(*name)) {
            let path = self.folder.join(text_of(name));
            fs::remove_file(&path).with_context(|| path.display().to_string())?;
            changed += 1;
        }
        Ok(changed)
    }
}

/// Writes a file, and makes its folder.
pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, text))
        .with_context(|| path.display().to_string())
}
