//! Values as calls of their own (`--values`): the programs of `tests/java/values`, and what their profiles say.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use instrument_names::id_map::{IdMap, gz};
use instrument_rewriter::class_file::mutf8;
use instrument_trace::{Profile, TreeConsumer};
use tempfile::TempDir;

use crate::agent::{self, Outcome};
use crate::corpus::Corpus;
use crate::jre::{self, Jre};
use crate::machine::{Jdk, Run, root};
use crate::subject;

/// Entries, exits, unwinds.
pub type Figures = [u64; 3];

/// Lines `method > value   entries exits unwinds`.
pub fn table(text: &str) -> BTreeMap<String, Figures> {
    let line = |line: &str| {
        let mut words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
        let figures = words.split_off(words.len() - 3);
        let figures: Vec<u64> = figures.iter().map(|word| word.parse().expect("a number")).collect();
        (words.join(" "), figures.try_into().expect("three figures"))
    };
    text.lines().filter(|text| !text.is_empty()).map(line).collect()
}

/// A program of `tests/java/values`.
pub struct Program {
    /// Its main class.
    pub name: &'static str,
    /// Its folder of classes.
    pub classes: PathBuf,
    /// What stands on the class path behind it.
    pub jars: Vec<PathBuf>,
    /// A folder for whatever a test needs.
    pub work: TempDir,
}

impl Program {
    /// Compiles it, with these jars of the corpus; `change` gets its source first.
    pub fn compile(name: &'static str, jars: &[&str], change: impl Fn(String) -> String) -> Result<Program> {
        Self::build(name, jars, change, |_| Ok(Vec::new()))
    }

    /// The same with other classes of that folder.
    pub fn with_others(name: &'static str, jars: &[&str], others: &[&str]) -> Result<Program> {
        Self::build(name, jars, |source| source, |_| Ok(others.iter().map(|other| source(other)).collect()))
    }

    /// The same with classes that pass every call of a connection and its statements on.
    pub fn with_layers(name: &'static str, jars: &[&str]) -> Result<Program> {
        Self::build(
            name,
            jars,
            |source| source,
            |work| {
                let layers = work.join("layers");
                let kit = Jdk::default_kit()?;
                kit.tool("javac").arg("-d").arg(&layers).arg(source("Layers")).run_quietly()?;
                kit.tool("java").arg("-cp").arg(&layers).arg("Layers").arg(&layers).run_quietly()?;
                let passing = ["Connection", "Statement", "PreparedStatement"];
                Ok(passing.map(|name| layers.join(format!("Passing{name}.java"))).into())
            },
        )
    }

    fn build(
        name: &'static str,
        jars: &[&str],
        change: impl Fn(String) -> String,
        more: impl Fn(&Path) -> Result<Vec<PathBuf>>,
    ) -> Result<Program> {
        let corpus = Corpus::open()?;
        corpus.fetch(jars)?;
        let jars = jars.iter().map(|jar| corpus.path(jar)).collect::<Result<Vec<_>>>()?;
        let work = tempfile::tempdir()?;
        let changed = work.path().join(format!("{name}.java"));
        std::fs::write(&changed, change(std::fs::read_to_string(source(name))?))?;
        let classes = work.path().join("classes");
        let mut javac = Jdk::default_kit()?.tool("javac");
        javac.args(["-nowarn", "-Xlint:none", "-encoding", "UTF-8", "--release", "11", "-cp"]);
        javac.arg(std::env::join_paths(&jars)?).arg("-d").arg(&classes).arg(&changed);
        javac.args(more(work.path())?).run_quietly()?;
        Ok(Program { name, classes, jars, work })
    }

    /// Its call with these classes, all of which are verified.
    pub fn java(&self, jre: &Jre, classes: &Path, flags: &[&str], arguments: &[&str]) -> Result<Command> {
        let mut java = jre.brief_java();
        let class_path =
            std::env::join_paths(std::iter::once(classes).chain(self.jars.iter().map(|jar| jar.as_path())))?;
        java.arg("-Xverify:all").args(flags).arg("-cp").arg(class_path).arg(self.name).args(arguments);
        Ok(java)
    }

    /// A run under the agent.
    pub fn run_agent(&self, jre: &Jre, options: &str, arguments: &[&str]) -> Result<Outcome> {
        finish(self.java(jre, &self.classes, &[&agent::option(options)?], arguments)?)
    }

    /// A run of its rewritten classes.
    pub fn run_rewritten(&self, jre: &Jre, options: &[&str], arguments: &[&str]) -> Result<Outcome> {
        let rewritten = self.work.path().join("rewritten");
        if !rewritten.exists() {
            let report = subject::rewrite(&self.classes, &rewritten, options)?;
            let skipped: Vec<_> =
                report.iter().filter(|line| line.outcome == "skipped" && !line.method.is_empty()).collect();
            ensure!(skipped.is_empty(), "{skipped:?}");
        }
        finish(self.java(jre, &rewritten, &[], arguments)?)
    }
}

fn source(name: &str) -> PathBuf {
    root().join(format!("tests/java/values/{name}.java"))
}

/// Runs it; it must end well, and the recorder say nothing.
pub fn finish(java: Command) -> Result<Outcome> {
    let outcome = agent::finish(java)?;
    ensure!(outcome.code == Some(0), "{:?}: {}{}", outcome.code, outcome.stdout, outcome.stderr);
    ensure!(!outcome.stderr.contains("instrument:"), "{}", outcome.stderr);
    Ok(outcome)
}

/// The virtual machines that have every class whose values are recorded.
pub fn machines() -> Result<Vec<Jre>> {
    Ok(jre::all()?.into_iter().filter(|jre| jre.version >= 11).collect())
}

/// The one profile that a run left, undamaged.
pub fn profile(outcome: &Outcome) -> Result<Profile> {
    let path = outcome.profile().next().context("no profile")?;
    let profile = Profile::parse(&std::fs::read(path)?)?;
    ensure!(profile.damage.is_empty() && profile.imbalances().is_empty(), "{:?}", profile.damage);
    Ok(profile)
}

/// Names of all ids, without classes.
fn names(profile: &Profile) -> Result<HashMap<u32, String>> {
    let mut names = HashMap::new();
    for map in profile.copies.values().flat_map(|copy| &copy.id_maps) {
        let map = IdMap::parse(&gz::decompress(map, 1 << 24)?)?;
        names.extend(map.iter().map(|entry| (entry.id, mutf8::escape(entry.method.name))));
    }
    Ok(names)
}

/// What values are of: of those of one room that are within each other only the outermost one is told of.
fn room(name: &str) -> Option<&'static str> {
    match name.split(' ').next() {
        Some("SQL") => Some("statements"),
        Some("FILE") => Some("files"),
        Some("HTTP") if name.contains("://") => Some("made"),
        Some("HTTP") => Some("served"),
        _ => None,
    }
}

/// Values by the method that has them, of all threads, those of one room outermost only.
pub fn values(profile: &Profile) -> Result<BTreeMap<String, Figures>> {
    calls(profile, |name| room(name).is_some())
}

/// Calls of what has such names by their callers, of all threads; values of one room outermost only.
pub fn calls(profile: &Profile, wanted: impl Fn(&str) -> bool) -> Result<BTreeMap<String, Figures>> {
    let names = names(profile)?;
    let mut found: BTreeMap<String, Figures> = BTreeMap::new();
    for tree in profile.threads.iter().filter_map(|thread| thread.tree.as_ref()) {
        let name = |node: u32| match tree.nodes[node as usize - 1].consumer {
            TreeConsumer::Method(id) => names[&id].as_str(),
            _ => "",
        };
        for (number, node) in (1..).zip(&tree.nodes) {
            if !wanted(name(number)) {
                continue;
            }
            let counts = node.counts();
            let closes = &counts.closes;
            ensure!((closes.aborted, closes.unclosed, counts.unmatched) == (0, 0, 0), "{}", name(number));
            let mut above = node.parent;
            while above != 0 && room(name(number)).is_some() {
                ensure!(room(name(above)) != room(name(number)), "{} within {}", name(number), name(above));
                above = tree.nodes[above as usize - 1].parent;
            }
            let path = format!("{} > {}", name(node.parent), name(number));
            let figures = [counts.entries, closes.exits, closes.unwinds];
            found.entry(path).or_default().iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure);
        }
    }
    Ok(found)
}

/// The same without the methods, in whatever way the run recorded.
pub fn by_value(outcome: &Outcome) -> Result<BTreeMap<String, Figures>> {
    let methods = subject::profile(outcome.folder.path())?.into_iter();
    let values = methods.filter(|method| room(&method.name).is_some());
    Ok(sums(values.map(|method| (method.name, [method.entries, method.exits, method.unwinds]))))
}

/// A table without its methods.
pub fn without_methods(table: BTreeMap<String, Figures>) -> BTreeMap<String, Figures> {
    let value = |path: &str| path.split_once(" > ").expect("a method").1.to_owned();
    sums(table.into_iter().map(|(path, figures)| (value(&path), figures)))
}

/// By what stands in front of the first parenthesis: what follows it is read as parameters there.
fn sums(values: impl Iterator<Item = (String, Figures)>) -> BTreeMap<String, Figures> {
    let mut sums: BTreeMap<String, Figures> = BTreeMap::new();
    for (name, figures) in values {
        let name = name.split('(').next().unwrap_or_default().to_owned();
        sums.entry(name).or_default().iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure);
    }
    sums
}
