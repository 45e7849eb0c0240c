//! What is not as blessed, kept beside what is until somebody has judged it: in the folder `pending` of a case, under
//! the same names.

use super::case::{Case, STDOUT, class_of, text_of, write};
use anyhow::{Context, Result};
use instrument_rewriter::text;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The folder, within that of the case.
const PENDING: &str = "pending";

/// A text that is not as blessed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where it lies within the folder of the case, with `/`.
    pub file: String,
    /// What was blessed; none: nothing was.
    pub before: Option<String>,
    /// What is made now; none: it is not made any more.
    pub after: Option<String>,
}

impl Change {
    /// What is not as blessed, of a case that makes `texts`, by the name of the class file, and `printed`.
    pub(super) fn all(
        expected: &BTreeMap<String, String>,
        texts: &BTreeMap<String, String>,
        output: Option<(Option<String>, String)>,
    ) -> Vec<Change> {
        let made = texts.iter().map(|(name, text)| (name, expected.get(name), Some(text)));
        let gone = expected.iter().filter(|(name, _)| !texts.contains_key(*name));
        let gone = gone.map(|(name, text)| (name, Some(text), None));
        let of_classes = made.chain(gone).map(|(name, before, after)| Change {
            file: text_of(name),
            before: before.cloned(),
            after: after.cloned(),
        });
        let printed =
            output.map(|(before, after)| Change { file: STDOUT.into(), before, after: Some(after) });
        of_classes.chain(printed).filter(|change| change.before != change.after).collect()
    }

    /// The difference, with lines of context, for people.
    pub fn text(&self, context: usize) -> String {
        let file = &self.file;
        let Some(name) = class_of(file) else {
            let [before, after] = [&self.before, &self.after].map(|text| text.as_deref().unwrap_or_default());
            return format!("the program printed\n{after}instead of\n{before}");
        };
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => {
                let changes = text::changes(before, after, context).into_iter();
                let hunks: String = changes.map(|change| change.hunks).collect();
                format!("--- {file}\n+++ {name}\n{hunks}")
            }
            (None, _) => format!("+++ {name}: a class that was not made before\n"),
            (Some(_), None) => format!("--- {file}: a class that is not made any more\n"),
        }
    }
}

impl Case {
    /// Keeps these changes, and no others.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(super) fn keep(&self, changes: &[Change]) -> Result<()> {
        let folder = self.folder.join(PENDING);
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(error).with_context(|| folder.display().to_string());
            }
            _ => {}
        }
        let kept = changes.iter().map(|change| (folder.join(&change.file), &change.after));
        // What is not made any more is an empty file: no class has an empty text.
        kept.into_iter().try_for_each(|(path, after)| write(&path, after.as_deref().unwrap_or_default()))
    }

    /// What `check` has kept.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn pending(&self) -> Result<Vec<Change>> {
        let root = self.folder.join(PENDING);
        let mut changes = Vec::new();
        if !root.is_dir() {
            return Ok(changes);
        }
        for entry in walkdir::WalkDir::new(&root).sort_by_file_name() {
            let path = entry?.into_path();
            if path.is_file() {
                let file = path.strip_prefix(&root)?.to_string_lossy().replace('\\', "/");
                let after = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
                let blessed = self.folder.join(&file);
                let before = match fs::read_to_string(&blessed) {
                    Err(error) if error.kind() == ErrorKind::NotFound => None,
                    read => Some(read.with_context(|| blessed.display().to_string())?),
                };
                let after = Some(after).filter(|text| !text.is_empty() || file == STDOUT);
                changes.push(Change { file, before, after });
            }
        }
        Ok(changes)
    }

    /// Takes a pending change as right from now on.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn accept(&self, change: &Change) -> Result<()> {
        let path = self.folder.join(&change.file);
        match &change.after {
            Some(text) => write(&path, text)?,
            None => match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(error).with_context(|| path.display().to_string());
                }
                _ => {}
            },
        }
        self.reject(change)
    }

    /// Forgets a pending change: what was blessed stays right.
    ///
    /// # Errors
    /// A file that cannot be removed.
    pub fn reject(&self, change: &Change) -> Result<()> {
        let root = self.folder.join(PENDING);
        let path = root.join(&change.file);
        fs::remove_file(&path).with_context(|| path.display().to_string())?;
        // Folders that are empty now.
        let above = path.ancestors().skip(1).take_while(|folder| folder.starts_with(&root));
        let folders: Vec<PathBuf> = above.map(Path::to_owned).collect();
        let _ = folders.iter().try_for_each(fs::remove_dir);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_pending_is_accepted_or_rejected_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let case = Case::of(folder.path());
        let texts = |all: &[(&str, &str)]| -> BTreeMap<String, String> {
            all.iter().map(|(name, text)| ((*name).to_owned(), format!("{text}\n"))).collect()
        };
        case.bless(&texts(&[("A.class", "a"), ("p/B.class", "b"), ("p/Old.class", "old")])).unwrap();
        let now = texts(&[("A.class", "a2"), ("p/B.class", "b"), ("New.class", "new")]);
        let output = (Some("one\n".to_owned()), String::new());
        let changes = Change::all(&case.expected().unwrap(), &now, Some(output));
        let files: Vec<_> = changes.iter().map(|change| change.file.as_str()).collect();
        let [a, new, old] = ["A.class", "New.class", "p/Old.class"].map(text_of);
        assert_eq!(files, [&a, &new, &old, STDOUT]);
        case.keep(&changes).unwrap();
        write(&folder.path().join(STDOUT), "one\n").unwrap();

        let pending = case.pending().unwrap();
        let of = |file: &str| pending.iter().find(|change| change.file == file).unwrap();
        assert_eq!(pending.len(), 4);
        assert!(changes.iter().all(|change| pending.contains(change)), "{pending:?}");
        let text = of(&a).text(3);
        assert!(text.contains("\n-a\n") && text.contains("\n+a2\n"), "{text}");
        assert_eq!(of(&new).text(3), "+++ New.class: a class that was not made before\n");
        case.accept(of(&new)).unwrap();
        case.accept(of(&old)).unwrap();
        case.accept(of(STDOUT)).unwrap();
        case.reject(of(&a)).unwrap();
        assert_eq!(case.pending().unwrap(), []);
        assert!(!folder.path().join(PENDING).exists());
        let names: Vec<_> = case.expected().unwrap().into_iter().collect();
        let expected = [("A.class", "a\n"), ("New.class", "new\n"), ("p/B.class", "b\n")];
        assert_eq!(names, expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
        assert_eq!(fs::read_to_string(folder.path().join(STDOUT)).unwrap(), "");
    }
}
