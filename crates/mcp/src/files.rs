//! The files that may be asked about, and how a question names them.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use instrument_names::nearest::did_you_mean;
use instrument_names::printable::printable;

use instrument_messages::usage;

/// Files that an error names.
const NAMED: usize = 10;

/// The files that the server was started with.
pub(crate) struct Files(Vec<PathBuf>);

impl Files {
    /// # Errors
    /// A file that cannot be opened, or is a directory.
    pub(crate) fn new(paths: &[PathBuf]) -> Result<Files> {
        for path in paths {
            let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
            if file.metadata().is_ok_and(|about| about.is_dir()) {
                return Err(usage(format!("{}: a directory; name the profiles in it", path.display())));
            }
        }
        Ok(Files(paths.to_vec()))
    }

    pub(crate) fn all(&self) -> &[PathBuf] {
        &self.0
    }

    /// Those of these names: a path as it was given, its last part, or its number, from 1 on. No name: all of them.
    ///
    /// # Errors
    /// A name that no file has, or several.
    pub(crate) fn named(&self, names: &[String]) -> Result<Vec<PathBuf>> {
        if names.is_empty() {
            return Ok(self.0.clone());
        }
        names.iter().map(|name| self.one(name)).collect()
    }

    fn one(&self, name: &str) -> Result<PathBuf> {
        // The path as it is, or as answers show it.
        let is_it = |path: &&PathBuf| path.as_path() == Path::new(name) || shown(path) == name;
        if let Some(path) = self.0.iter().find(is_it) {
            return Ok(path.clone());
        }
        let last = |path: &Path| path.file_name().map(|last| shown(Path::new(last))).unwrap_or_default();
        let found: Vec<_> = self.0.iter().filter(|path| last(path) == name).collect();
        match found[..] {
            [one] => return Ok(one.clone()),
            [] => {}
            [first, second, ..] => {
                let (first, second) = (shown(first), shown(second));
                return Err(usage(format!(
                    "{} files are called `{name}`, such as {first} and {second}",
                    found.len()
                )));
            }
        }
        let numbered = name.parse::<usize>().ok().and_then(|number| self.0.get(number.checked_sub(1)?));
        if let Some(path) = numbered {
            return Ok(path.clone());
        }
        let names: Vec<String> = self.0.iter().map(|path| last(path)).collect();
        let meant = did_you_mean(name, &names);
        Err(usage(format!("there is no file `{}`{meant}; there are {}", printable(name), self.list())))
    }

    /// The first files, with their numbers, and how many more there are.
    pub(crate) fn list(&self) -> String {
        let named = self.0.iter().take(NAMED).enumerate();
        let named: Vec<_> = named.map(|(i, path)| format!("{}: {}", i + 1, shown(path))).collect();
        match self.0.len().saturating_sub(NAMED) {
            0 => named.join(", "),
            more => format!(
                "{} and {more} more, to be named by their numbers up to {}",
                named.join(", "),
                self.0.len()
            ),
        }
    }
}

/// A path as answers show it.
fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_several_names() {
        let files = Files(["a/x.iprof", "b/x.iprof", "b/\u{202e}y.iprof"].map(PathBuf::from).to_vec());
        let of = |name: &str| files.named(&[name.to_owned()]).map_err(|error| error.to_string());
        assert_eq!(of("b/x.iprof"), Ok(vec![files.0[1].clone()]));
        for name in ["b/\u{202e}y.iprof", "\\u202ey.iprof", "3"] {
            assert_eq!(of(name), Ok(vec![files.0[2].clone()]), "{name}");
        }
        assert_eq!(files.named(&[]).unwrap(), files.0);
        assert!(of("x.iprof").unwrap_err().contains("2 files are called `x.iprof`, such as a/x.iprof"));
        let reason = of("/etc/passwd").unwrap_err();
        assert!(reason.contains("no file") && reason.contains("3: b/\\u202ey.iprof"), "{reason}");
        assert!(of("0").is_err() && of("4").is_err());
    }

    #[test]
    fn a_long_list_is_cut() {
        let files = Files((1..=500).map(|i| PathBuf::from(format!("{i}.iprof"))).collect());
        assert!(files.list().ends_with("10: 10.iprof and 490 more, to be named by their numbers up to 500"));
    }
}
