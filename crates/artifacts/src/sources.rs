//! Source files, found by what class files say of them: the package and the name.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::path::{Path, PathBuf};

/// What the folders of sources are called that lie two levels below `src`.
const LANGUAGES: [&str; 4] = ["java", "kotlin", "groovy", "scala"];
/// Folders without sources that may be large.
const OTHERS: [&str; 3] = ["node_modules", "target", "build"];
/// Modules lie no deeper than that.
const DEPTH: usize = 8;
/// What an address keeps as it is (RFC 3986, 2.3), and its slashes.
const PLAIN: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// Where source files are looked for.
#[derive(Debug, Default)]
pub struct Sources {
    roots: Vec<PathBuf>,
    /// Nobody named them: a file that several of them have is none.
    guessed: bool,
}

impl Sources {
    /// These directories; the first that has a file counts.
    pub fn new(roots: Vec<PathBuf>) -> Sources {
        Sources { roots, guessed: false }
    }

    /// The directories that builds usually have below this one: `src/main/java` and its like, in any module, else
    /// `src`, and itself.
    pub fn usual(top: &Path) -> Sources {
        let has_sources = |entry: &walkdir::DirEntry| {
            let name = entry.file_name().to_string_lossy();
            // Another work tree, such as that of what a change began with, has all of them as well.
            let is_other = || entry.path().join(".git").exists();
            entry.depth() == 0
                || entry.file_type().is_dir()
                    && !name.starts_with('.')
                    && !OTHERS.contains(&&*name)
                    && !is_other()
        };
        let folders = walkdir::WalkDir::new(top).max_depth(DEPTH).sort_by_file_name().into_iter();
        let folders = folders.filter_entry(has_sources).filter_map(Result::ok);
        let mut roots = vec![top.to_owned()];
        roots.extend(folders.map(walkdir::DirEntry::into_path).filter(|path| is_root(path)));
        Sources { roots, guessed: true }
    }

    /// The file whose path below its root is this one, such as `com/acme/Shop.java`.
    pub fn find(&self, path: &str) -> Option<PathBuf> {
        // Names of class files may lead anywhere.
        if path.split('/').any(|part| part == ".." || part.is_empty()) {
            return None;
        }
        let mut found = self.roots.iter().map(|root| root.join(path)).filter(|at| at.is_file());
        let first = found.next()?;
        (!self.guessed || found.next().is_none()).then_some(first)
    }
}

/// Whether sources of some package begin here, as far as its name tells.
fn is_root(path: &Path) -> bool {
    let name = |path: Option<&Path>| Some(path?.file_name()?.to_str()?.to_owned());
    let of_language = |name: &str| LANGUAGES.contains(&name);
    match name(Some(path)).as_deref() {
        Some("src") => !std::fs::read_dir(path).is_ok_and(|mut sets| {
            sets.any(|set| {
                set.is_ok_and(|set| LANGUAGES.iter().any(|language| set.path().join(language).is_dir()))
            })
        }),
        Some(language) if of_language(language) => {
            name(path.parent().and_then(Path::parent)).as_deref() == Some("src")
        }
        _ => false,
    }
}

/// The top of the repository that a directory lies in; without one, the directory.
pub fn top(folder: &Path) -> &Path {
    folder.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(folder)
}

/// The address of a file (RFC 3986): relative to a directory if it lies below it.
pub fn address(file: &Path, top: &Path) -> String {
    let relative = file.strip_prefix(top).unwrap_or(file);
    let path = relative.strip_prefix(".").unwrap_or(relative).to_string_lossy().replace('\\', "/");
    let encoded = utf8_percent_encode(&path, &PLAIN).to_string();
    if relative.is_absolute() { format!("file://{encoded}") } else { encoded }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn sources_of_modules_are_found_where_builds_have_them() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        for file in [
            "one/src/main/java/com/acme/Shop.java",
            "two/src/main/kotlin/com/acme/Cart.kt",
            "two/src/test/java/com/acme/Both.java",
            "one/src/test/java/com/acme/Both.java",
            "old/src/com/acme/Ant.java",
            "one/target/src/main/java/com/acme/Made.java",
            "base/.git",
            "base/src/main/java/com/acme/Shop.java",
            "Main.java",
        ] {
            let path = top.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let usual = Sources::usual(top);
        let found = |path: &str| usual.find(path).map(|path| address(&path, top));
        assert_eq!(found("com/acme/Shop.java").unwrap(), "one/src/main/java/com/acme/Shop.java");
        assert_eq!(found("com/acme/Cart.kt").unwrap(), "two/src/main/kotlin/com/acme/Cart.kt");
        assert_eq!(found("com/acme/Ant.java").unwrap(), "old/src/com/acme/Ant.java");
        assert_eq!(found("Main.java").unwrap(), "Main.java");
        for none in
            ["com/acme/Both.java", "com/acme/Made.java", "Shop.java", "../Main.java", "/Main.java", ""]
        {
            assert_eq!(found(none), None, "{none}");
        }
        let roots = ["two/src/test/java", "one/src/test/java"].map(|root| top.join(root)).to_vec();
        let both = Sources::new(roots).find("com/acme/Both.java").unwrap();
        assert_eq!(address(&both, top), "two/src/test/java/com/acme/Both.java");
    }

    #[test]
    fn the_top_of_a_repository_is_where_git_is() {
        let folder = tempfile::tempdir().unwrap();
        let module = folder.path().join("repository/module");
        fs::create_dir_all(&module).unwrap();
        fs::create_dir(folder.path().join("repository/.git")).unwrap();
        assert_eq!(top(&module), folder.path().join("repository"));
        assert_eq!(top(folder.path()), folder.path());
    }

    #[test]
    fn addresses_are_relative_and_encoded() {
        for (file, expected) in [
            ("src/a b/Größe.java", "src/a%20b/Gr%C3%B6%C3%9Fe.java"),
            ("./src/A.java", "src/A.java"),
            ("/work/src/A.java", "src/A.java"),
            ("/else/A.java", "file:///else/A.java"),
        ] {
            assert_eq!(address(Path::new(file), Path::new("/work")), expected);
        }
    }
}
