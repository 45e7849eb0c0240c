//! Classes to test with: the committed seeds, and what this machine has.

#![allow(dead_code, reason = "each test crate uses a part")]

pub(crate) mod classes;
pub(crate) mod id_maps;
pub(crate) mod jars;
pub(crate) mod rewriting;
pub(crate) mod scan;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A class and where it was found.
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// The committed seeds of the fuzz targets.
pub(crate) fn seeds() -> Vec<Sample> {
    let mut seeds = Vec::new();
    of_directory(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/class_scan"), &mut seeds);
    assert!(seeds.len() >= 10, "the committed seeds are gone");
    seeds
}

/// The seeds, every class of what `INSTRUMENT_CORPUS` lists (`:` between jars and directories), or
/// without it about `count` classes of the JDK on the PATH and of the jars in /usr/share/java.
pub(crate) fn corpus(count: usize) -> Vec<Sample> {
    let mut corpus = seeds();
    if let Some(paths) = std::env::var_os("INSTRUMENT_CORPUS") {
        for path in std::env::split_paths(&paths) {
            if path.is_dir() { of_directory(&path, &mut corpus) } else { of_jar(&path, &mut corpus) }
        }
        return corpus;
    }
    let mut found = Vec::new();
    if let Some(jdk) = jdk_classes() {
        of_directory(&jdk, &mut found);
    }
    let mut jars: Vec<PathBuf> = std::fs::read_dir("/usr/share/java")
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "jar"))
        .collect();
    jars.sort();
    jars.iter().for_each(|jar| of_jar(jar, &mut found));
    let step = (found.len() / count).max(1);
    corpus.extend(found.into_iter().step_by(step));
    corpus
}

/// Some packages of the JDK's image, extracted once; none: there is no JDK.
fn jdk_classes() -> Option<PathBuf> {
    static EXTRACTED: OnceLock<Option<PathBuf>> = OnceLock::new();
    EXTRACTED.get_or_init(extract_jdk_classes).clone()
}

fn extract_jdk_classes() -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("jdk-classes");
    if !target.exists() {
        let java = Command::new("java").args(["-XshowSettings:properties", "-version"]).output().ok()?;
        let settings = String::from_utf8_lossy(&java.stderr).into_owned();
        let home = settings.lines().find_map(|line| line.trim().strip_prefix("java.home = "))?;
        let fresh = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let classes = fresh.path().join("classes");
        let status = Command::new(Path::new(home).join("bin/jimage"))
            .args([
                "extract",
                "--include",
                "regex:/java.(base|sql|rmi)/(java|jdk/internal/util|module-info).*",
                "--dir",
            ])
            .arg(&classes)
            .arg(Path::new(home).join("lib/modules"))
            .status()
            .ok()?;
        assert!(status.success(), "jimage: {status}");
        // Another test process may have been faster.
        let renamed = std::fs::rename(&classes, &target);
        assert!(renamed.is_ok() || target.exists(), "{renamed:?}");
    }
    Some(target)
}

pub(crate) fn of_directory(path: &Path, samples: &mut Vec<Sample>) {
    let mut entries: Vec<_> =
        std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            of_directory(&entry, samples);
        } else if entry.extension().is_some_and(|e| e == "class") {
            let bytes = std::fs::read(&entry).expect("a readable class file");
            samples.push(Sample { name: entry.display().to_string(), bytes });
        }
    }
}

fn of_jar(path: &Path, samples: &mut Vec<Sample>) {
    let file = std::fs::File::open(path).expect("a readable jar");
    let Ok(mut archive) = zip::ZipArchive::new(file) else { return };
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).expect("an entry");
        let name = String::from_utf8_lossy(entry.name_raw()).into_owned();
        if name.ends_with(".class") {
            let name = format!("{}!{name}", path.display());
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).expect("an entry's bytes");
            samples.push(Sample { name, bytes });
        }
    }
}
