//! The class path of a program, as the command line of its `java` tells.
//!
//! | from | what |
//! |---|---|
//! | `-cp`, `-classpath`, `--class-path`, else `CLASSPATH`, else the working directory | its entries; `lib/*` is the jars in `lib` |
//! | `-jar` | this jar, in place of the class path |
//! | `-p`, `--module-path` | modules: jars, folders, and those in folders |
//! | `Class-Path` in manifests | what jars of the class path name, by the jar's folder |
//! | `@file`, `JDK_JAVA_OPTIONS` | more options |

use crate::jvm::WITH_VALUE;
use anyhow::Result;
use instrument_artifacts::class_path::{Jdk, jdk_on_path, open_jdk};
use instrument_artifacts::source::Input;
use instrument_messages::Listener;
use instrument_names::printable::printable;
use instrument_rewriter::archive;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The JDK of the command, if it is a `java` with a module image.
pub fn jdk_of(java: &OsStr) -> Option<PathBuf> {
    let path = Path::new(java);
    let found = match path.components().count() {
        1 => std::env::split_paths(&std::env::var_os("PATH")?)
            .find_map(|folder| folder.join(path).canonicalize().ok())?,
        _ => path.canonicalize().ok()?,
    };
    let home = found.parent()?.parent()?;
    home.join("lib/modules").is_file().then(|| home.to_owned())
}

/// Where the classes of a program lie whose `java` is given these words; `environment`: the variables. What is not there is left out, as
/// `java` does.
pub fn of_java(words: &[OsString], environment: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let mut given = Given::default();
    let before = environment("JDK_JAVA_OPTIONS").unwrap_or_default();
    let before = words_of(&before.to_string_lossy()).into_iter().map(OsString::from);
    given.read(&before.chain(words.iter().cloned()).collect::<Vec<_>>());
    let path = given.class_path.or_else(|| environment("CLASSPATH").filter(|path| !path.is_empty()));
    let path = match (given.jar, path) {
        (Some(jar), _) => vec![PathBuf::from(jar)],
        (None, Some(path)) => std::env::split_paths(&path).collect(),
        // With a module, nothing is on the class path but what is put there.
        (None, None) if given.is_module => Vec::new(),
        (None, None) => vec![PathBuf::from(".")],
    };
    let mut found = Found::default();
    path.iter().for_each(|entry| found.add_entry(entry));
    for entry in given.module_path.iter().flat_map(std::env::split_paths) {
        found.add_modules(&entry);
    }
    found.paths
}

/// What the options say.
#[derive(Default)]
struct Given {
    class_path: Option<OsString>,
    module_path: Vec<OsString>,
    jar: Option<OsString>,
    is_module: bool,
}

impl Given {
    fn read(&mut self, words: &[OsString]) {
        let mut words: Vec<OsString> = words.iter().rev().cloned().collect();
        let mut expands = true;
        while let Some(word) = words.pop() {
            let text = word.to_string_lossy();
            if let Some(file) = text.strip_prefix('@').filter(|file| expands && !file.starts_with('@')) {
                let inside = std::fs::read_to_string(file).unwrap_or_default();
                words.extend(words_of(&inside).into_iter().rev().map(OsString::from));
                continue;
            }
            let (name, value) = match text.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(OsString::from(value))),
                _ => (&*text, None),
            };
            match name {
                "-cp" | "-classpath" | "--class-path" => self.class_path = value.or_else(|| words.pop()),
                "-p" | "--module-path" => self.module_path.extend(value.or_else(|| words.pop())),
                "--disable-@files" => expands = false,
                "-jar" => {
                    self.jar = words.pop();
                    return;
                }
                "-m" | "--module" => {
                    self.is_module = true;
                    return;
                }
                _ if WITH_VALUE.contains(&name) && value.is_none() => _ = words.pop(),
                _ if !name.starts_with('-') => return,
                _ => {}
            }
        }
    }
}

/// The words of an argument file: separated by white space, with quotes, and comments behind `#`.
fn words_of(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = text.chars().peekable();
    while let Some(one) = chars.next() {
        match (quote, one) {
            (Some(_), '\\') => word.get_or_insert_default().extend(chars.next().filter(|next| *next != '\n')),
            (Some(open), _) if one == open => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(one),
            (None, '"' | '\'') => {
                quote = Some(one);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => while chars.next_if(|next| *next != '\n').is_some() {},
            (None, _) if one.is_whitespace() => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(one),
        }
    }
    words.extend(word);
    words
}

/// Entries in their order, each once.
#[derive(Default)]
struct Found {
    paths: Vec<PathBuf>,
    seen: HashSet<PathBuf>,
}

impl Found {
    fn add_entry(&mut self, entry: &Path) {
        if entry.file_name() == Some(OsStr::new("*")) {
            let folder = entry.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
            jars_in(folder).iter().for_each(|jar| self.add(jar));
            return;
        }
        self.add(if entry.as_os_str().is_empty() { Path::new(".") } else { entry });
    }

    fn add_modules(&mut self, entry: &Path) {
        if !entry.is_dir() || entry.join("module-info.class").is_file() {
            return self.add(entry);
        }
        jars_in(entry).iter().for_each(|jar| self.add(jar));
        for inside in listed(entry).iter().filter(|inside| inside.join("module-info.class").is_file()) {
            self.add(inside);
        }
    }

    fn add(&mut self, path: &Path) {
        if !path.exists() || !self.seen.insert(path.canonicalize().unwrap_or_else(|_| path.to_owned())) {
            return;
        }
        self.paths.push(path.to_owned());
        if path.is_file() {
            let folder = path.parent().unwrap_or(Path::new(""));
            for name in named_by_manifest(path) {
                self.add(&folder.join(name));
            }
        }
    }
}

fn listed(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn jars_in(folder: &Path) -> Vec<PathBuf> {
    let is_jar = |path: &PathBuf| path.extension().is_some_and(|of| of.eq_ignore_ascii_case("jar"));
    listed(folder).into_iter().filter(is_jar).collect()
}

/// What the manifest of a jar names as its class path: paths, by the jar's folder.
fn named_by_manifest(jar: &Path) -> Vec<PathBuf> {
    let manifest = || {
        let Ok(Input::Tree(tree)) = Input::open(jar.to_str()?) else { return None };
        let is_manifest = |name: &str| name.eq_ignore_ascii_case("META-INF/MANIFEST.MF");
        let entry = tree.entries().iter().find(|entry| is_manifest(&entry.name))?;
        String::from_utf8(tree.read(entry).ok()?).ok()
    };
    class_path_of(&manifest().unwrap_or_default())
}

/// The attribute `Class-Path` of a manifest: URLs of files.
fn class_path_of(manifest: &str) -> Vec<PathBuf> {
    let value = archive::main_attribute(manifest.as_bytes(), "Class-Path");
    let path = |url: &str| {
        let path = url.strip_prefix("file:").unwrap_or(url);
        let path = path.strip_prefix("//").unwrap_or(path);
        PathBuf::from(decoded(path))
    };
    value.unwrap_or_default().split_whitespace().filter(|url| !is_remote(url)).map(path).collect()
}

fn is_remote(url: &str) -> bool {
    url.contains("://") && !url.starts_with("file:")
}

/// Without `%20` and its like.
fn decoded(url: &str) -> String {
    let mut bytes = Vec::with_capacity(url.len());
    let mut rest = url.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let code = behind.get(..2).filter(|_| first == b'%').and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Those of them that can be read, as addresses; and what is said of the others, which `java` says nothing of.
pub fn readable(paths: &[PathBuf]) -> (Vec<String>, Vec<String>) {
    let (mut addresses, mut said) = (Vec::new(), Vec::new());
    for path in paths {
        match (path.to_str(), path.to_str().map(Input::open)) {
            (Some(address), Some(Ok(_))) => addresses.push(address.to_owned()),
            (_, Some(Err(error))) => said.push(format!("{error:#}")),
            _ => said.push(format!("{}: not UTF-8", printable(&path.to_string_lossy()))),
        }
    }
    (addresses, said)
}

/// The class path of a command and of `more`, as addresses, and its JDK. `is_java`: the command is `java` itself. What cannot be read is said,
/// and what that is for (`skipped`).
///
/// # Errors
/// A JDK that cannot be read.
pub fn classes(
    command: &[OsString],
    is_java: bool,
    more: Option<&OsString>,
    (listener, skipped): (&dyn Listener, &str),
) -> Result<(Vec<String>, Option<Arc<Jdk>>)> {
    let variable = |name: &str| std::env::var_os(name);
    let words = command.get(1..).filter(|_| is_java).unwrap_or_default();
    let mut paths = match is_java {
        true => of_java(words, variable),
        false => variable("CLASSPATH").iter().flat_map(std::env::split_paths).collect(),
    };
    paths.retain(|path| path.exists());
    let (mut class_path, unreadable) = readable(&paths);
    for said in unreadable {
        listener.caution(format_args!("{said}; {skipped}"));
    }
    let more = more.into_iter().flat_map(std::env::split_paths);
    class_path.extend(more.map(|path| path.display().to_string()));
    let of_command = command.first().filter(|_| is_java).and_then(|java| jdk_of(java));
    let home = of_command.or_else(|| variable("JAVA_HOME").map(PathBuf::from)).or_else(jdk_on_path);
    let jdk = home.map(|home| open_jdk(&home).map(Arc::new)).transpose()?;
    Ok((class_path, jdk))
}

#[cfg(test)]
mod tests {
    use super::*;
    use instrument_testing::samples::archive as zipped;

    fn given(words: &[&str]) -> Given {
        let mut given = Given::default();
        given.read(&words.iter().map(OsString::from).collect::<Vec<_>>());
        given
    }

    #[test]
    fn options_end_where_the_program_is_named() {
        let of = |words: &[&str]| given(words).class_path.map(|path| path.into_string().unwrap());
        assert_eq!(of(&["-Xmx1g", "-cp", "a:b", "com.acme.Main", "-cp", "c"]).as_deref(), Some("a:b"));
        assert_eq!(
            of(&["--class-path=a", "--add-opens", "java.base/java.lang=ALL-UNNAMED", "M"]).as_deref(),
            Some("a")
        );
        assert_eq!(of(&["-cp", "a", "-classpath", "b", "M"]).as_deref(), Some("b"));
        assert_eq!(of(&["M", "-cp", "a"]), None);
        let jar = given(&["-ea", "-jar", "app.jar", "-cp", "x"]);
        assert_eq!((jar.jar, jar.class_path), (Some("app.jar".into()), None));
        let module = given(&["-p", "mods", "--add-modules", "x", "-m", "a/b.C"]);
        assert_eq!((module.module_path, module.is_module), (vec!["mods".into()], true));
    }

    #[test]
    fn argument_files_have_quotes_and_comments() {
        let words = words_of("-cp \"a b:c\\\\d\" # not this\n-ea 'x'\"y\" -Da=#b\n");
        assert_eq!(words, ["-cp", "a b:c\\d", "-ea", "xy", "-Da=#b"]);
    }

    #[test]
    fn manifests_and_wildcards_lead_to_more() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("lib/classes")).unwrap();
        let manifest = b"Manifest-Version: 1.0\r\nClass-Path: lib/b%20c.jar lib/cla\r\n sses/ http://x/y.jar none.jar app.jar\r\n\r\n";
        std::fs::write(at("app.jar"), zipped(&[("META-INF/MANIFEST.MF", manifest)])).unwrap();
        for name in ["b c.jar", "d.JAR", "e.txt"] {
            std::fs::write(at("lib").join(name), zipped(&[("x.txt", b"x")])).unwrap();
        }
        let names = |words: &[OsString]| {
            let paths = of_java(words, |_| None).into_iter();
            let names =
                paths.map(|path| path.strip_prefix(folder.path()).unwrap().to_str().unwrap().to_owned());
            names.collect::<Vec<_>>()
        };
        assert_eq!(names(&["-jar".into(), at("app.jar").into()]), ["app.jar", "lib/b c.jar", "lib/classes"]);
        assert_eq!(names(&["-cp".into(), at("lib/*").into(), "M".into()]), ["lib/b c.jar", "lib/d.JAR"]);
        assert_eq!(
            names(&["-p".into(), at("lib").into(), "-m".into(), "a".into()]),
            ["lib/b c.jar", "lib/d.JAR"]
        );
    }
}
