//! The corpus: `tests/corpus.txt` as data, and its jars as checked files in a cache.
//!
//! Jars come from the cache, else through Maven (which reuses its own local repository), and each has to
//! have the pinned SHA-256. The modules of the running JDK are packed into one jar each. The cache is
//! `INSTRUMENT_CORPUS`, or `target/cache/corpus`.

use crate::shared;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use sha2::{Digest, Sha256};

use crate::machine::{self, Jdk, Run};
use crate::maven;

const CATALOGUE: &str = include_str!("../corpus.txt");
const DEPENDENCY_PLUGIN: &str = "3.6.1";

/// When a jar is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// In every run.
    Small,
    /// Only with `INSTRUMENT_CORPUS_FULL=1`.
    Full,
    /// Never for itself: on the class path of others, or a tool.
    Library,
}

/// One row of the catalogue.
#[derive(Clone, Debug)]
pub struct Jar {
    /// Name of the row, and of the file in the cache.
    pub name: String,
    /// Maven coordinates: group, artifact, version, and a classifier that may be empty.
    pub coordinates: [String; 4],
    /// When it is tested.
    pub set: Set,
    /// SHA-256 of the jar in hexadecimal.
    pub sha256: String,
    /// Rows that belong on the class path when its classes are linked.
    pub with: Vec<String>,
    /// First Java version that can load its classes.
    pub java: u32,
}

impl Jar {
    fn parse(line: &str) -> Result<Jar> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, coordinates, set, sha256, options @ ..] = words.as_slice() else {
            bail!("corpus.txt: too few words: {line}");
        };
        let coordinates = match coordinates.split(':').collect::<Vec<_>>()[..] {
            [group, artifact, version] => [group, artifact, version, ""],
            [group, artifact, version, classifier] => [group, artifact, version, classifier],
            _ => bail!("corpus.txt: not group:artifact:version: {coordinates}"),
        };
        let set = match *set {
            "small" => Set::Small,
            "full" => Set::Full,
            "lib" => Set::Library,
            other => bail!("corpus.txt: unknown set {other}"),
        };
        let mut jar = Jar {
            name: name.to_string(),
            coordinates: coordinates.map(String::from),
            set,
            sha256: sha256.to_string(),
            with: Vec::new(),
            java: 8,
        };
        for option in options {
            match option.split_once('=') {
                Some(("with", names)) => jar.with = names.split(',').map(String::from).collect(),
                Some(("java", version)) => jar.java = version.parse().context("corpus.txt: java=")?,
                _ => bail!("corpus.txt: unknown option {option}"),
            }
        }
        Ok(jar)
    }
}

/// The catalogue together with its cache directory.
pub struct Corpus {
    directory: PathBuf,
    jars: Vec<Jar>,
}

impl Corpus {
    /// Reads the catalogue; fetches nothing.
    pub fn open() -> Result<Corpus> {
        let jars = CATALOGUE
            .lines()
            .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
            .map(Jar::parse)
            .collect::<Result<Vec<_>>>()?;
        let directory = match std::env::var_os("INSTRUMENT_CORPUS") {
            Some(directory) => PathBuf::from(directory),
            None => machine::cache().join("corpus"),
        };
        fs::create_dir_all(&directory).with_context(|| directory.display().to_string())?;
        Ok(Corpus { directory, jars })
    }

    /// Whether the whole corpus is requested.
    pub fn full() -> bool {
        std::env::var_os("INSTRUMENT_CORPUS_FULL").is_some_and(|value| value == "1")
    }

    /// The jars that this run tests.
    pub fn selected(&self) -> Vec<&Jar> {
        let wanted = |set| set == Set::Small || (set == Set::Full && Corpus::full());
        self.jars.iter().filter(|jar| wanted(jar.set)).collect()
    }

    /// The row called `name`.
    pub fn jar(&self, name: &str) -> Result<&Jar> {
        self.jars.iter().find(|jar| jar.name == name).with_context(|| format!("corpus.txt has no row {name}"))
    }

    /// The checked file of the row called `name`, fetched when the cache lacks it.
    pub fn path(&self, name: &str) -> Result<PathBuf> {
        self.fetch(&[name])?;
        Ok(self.file(name))
    }

    /// The checked files of the rows that `jar` names in `with`.
    pub fn class_path(&self, jar: &Jar) -> Result<Vec<PathBuf>> {
        let names: Vec<&str> = jar.with.iter().map(String::as_str).collect();
        self.fetch(&names)?;
        Ok(names.iter().map(|name| self.file(name)).collect())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.jar"))
    }

    /// Makes the cache hold every named row with the right SHA-256: one Maven run for all that are missing.
    pub fn fetch(&self, names: &[&str]) -> Result<()> {
        // Tests run in parallel; only one of them may fetch.
        let _lock = shared::lock("corpus")?;
        let mut missing = Vec::new();
        for name in names {
            let jar = self.jar(name)?;
            let stamp = self.directory.join(format!("{name}.{}", &jar.sha256[..16]));
            if stamp.exists() && self.file(name).exists() {
                continue;
            }
            if self.file(name).exists() && sha256(&self.file(name))? == jar.sha256 {
                fs::write(stamp, "")?;
                continue;
            }
            missing.push(jar);
        }
        if missing.is_empty() {
            return Ok(());
        }
        let work = tempfile::Builder::new().prefix("fetch").tempdir_in(&self.directory)?;
        fs::write(work.path().join("pom.xml"), project(&missing))?;
        let output = format!("-DoutputDirectory={}", work.path().join("jars").display());
        maven::run(work.path(), "dependency:copy", &[output])?;
        for jar in missing {
            let fetched = work.path().join("jars").join(format!("{}.jar", jar.name));
            let actual = sha256(&fetched)?;
            ensure!(
                actual == jar.sha256,
                "{} has SHA-256 {actual}, but corpus.txt pins {}",
                jar.coordinates.join(":"),
                jar.sha256
            );
            fs::rename(&fetched, self.file(&jar.name))?;
            fs::write(self.directory.join(format!("{}.{}", jar.name, &jar.sha256[..16])), "")?;
        }
        Ok(())
    }

    /// One jar per module of `jdk`, sorted by name: the classes and resources of its run-time image.
    pub fn jdk_modules(&self, jdk: &Jdk) -> Result<Vec<PathBuf>> {
        let _lock = shared::lock("jdk-modules")?;
        let directory = self.directory.join(format!("jdk-{}", jdk.release()?));
        if !directory.exists() {
            let work = tempfile::Builder::new().prefix("jdk").tempdir_in(&self.directory)?;
            let tool = machine::java_source("ModuleJars.java");
            jdk.brief_java().arg(tool).arg(work.path()).run_quietly()?;
            fs::rename(work.keep(), &directory)?;
        }
        let mut jars: Vec<PathBuf> = fs::read_dir(&directory)?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<Vec<_>>>()?
            .into_iter()
            .filter(|path| path.extension().is_some_and(|extension| extension == "jar"))
            .collect();
        jars.sort();
        ensure!(jars.len() > 10, "{} holds {} module jars", directory.display(), jars.len());
        Ok(jars)
    }

    /// The jars that the distribution installed, without links to one another; not pinned.
    pub fn distribution_jars() -> Result<Vec<PathBuf>> {
        let directory = Path::new("/usr/share/java");
        if !directory.is_dir() {
            return Ok(Vec::new());
        }
        let mut jars = Vec::new();
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "jar") && path.is_file() {
                jars.push(path.canonicalize()?);
            }
        }
        jars.sort();
        jars.dedup();
        Ok(jars)
    }
}

/// The SHA-256 of a file, in hexadecimal.
pub fn sha256(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| path.display().to_string())?;
    Ok(Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

fn project(jars: &[&Jar]) -> String {
    let mut items = String::new();
    for Jar { name, coordinates: [group, artifact, version, classifier], .. } in jars {
        let _ = writeln!(
            items,
            "<artifactItem><groupId>{group}</groupId><artifactId>{artifact}</artifactId>\
             <version>{version}</version><classifier>{classifier}</classifier><type>jar</type><destFileName>{name}.jar</destFileName></artifactItem>"
        );
    }
    format!(
        "<project><modelVersion>4.0.0</modelVersion><groupId>corpus</groupId><artifactId>corpus</artifactId>\
         <version>1</version><packaging>pom</packaging><build><plugins><plugin>\
         <groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId>\
         <version>{DEPENDENCY_PLUGIN}</version><configuration><artifactItems>{items}</artifactItems>\
         </configuration></plugin></plugins></build></project>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_is_sound() {
        let corpus = Corpus::open().unwrap();
        assert!(corpus.jars.iter().filter(|jar| jar.set != Set::Library).count() >= 30);
        for jar in &corpus.jars {
            assert_eq!(jar.sha256.len(), 64, "{}", jar.name);
            assert_eq!(corpus.jars.iter().filter(|other| other.name == jar.name).count(), 1, "{}", jar.name);
            for name in &jar.with {
                corpus.jar(name).unwrap();
            }
        }
    }

    #[test]
    fn a_wrong_row_is_refused() {
        for row in ["a g:a:1 small", "a g:a small 00", "a g:a:1 huge 00", "a g:a:1 small 00 colour=red"] {
            assert!(Jar::parse(row).is_err(), "{row}");
        }
    }
}
