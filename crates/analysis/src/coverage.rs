//! How often lines and branches were executed: figures by package, class, method and line, as tools for coverage take them
//! ([`export::lcov`](crate::export::lcov), [`export::jacoco`](crate::export::jacoco)).

mod counters;

pub use counters::{Counter, Counters};

use std::collections::BTreeMap;

/// Everything that was looked at.
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    /// By internal name, such as `com/acme`.
    pub packages: BTreeMap<String, Package>,
}

#[derive(Debug, Clone, Default)]
pub struct Package {
    /// By internal name, such as `com/acme/Shop`.
    pub classes: BTreeMap<String, Class>,
}

#[derive(Debug, Clone, Default)]
pub struct Class {
    /// Its source file, without directories; none: not known.
    pub source: Option<String>,
    /// Its methods that have code, in the order of the class file.
    pub methods: Vec<Method>,
}

#[derive(Debug, Clone, Default)]
pub struct Method {
    pub name: String,
    pub descriptor: String,
    /// How often it was called.
    pub calls: u64,
    /// By number.
    pub lines: BTreeMap<u16, Line>,
    /// What belongs to no line.
    pub rest: Line,
}

/// A line of a method, of a class or of a source file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// How often it was executed: how often control came to the start of a run of its instructions.
    pub count: u64,
    /// Instructions that were executed.
    pub covered: u64,
    /// Instructions that were not.
    pub missed: u64,
    /// Its conditional branches and switches, in the order of the code.
    pub branches: Vec<Branch>,
}

/// A conditional branch or a switch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Branch {
    /// How often it was executed.
    pub executed: u64,
    /// How often it went each way: first on to what follows, then the jump; of a switch to each of its targets.
    pub ways: Vec<u64>,
}

impl Line {
    /// Adds what another method has of this line.
    pub fn add(&mut self, other: &Line) {
        self.count = self.count.saturating_add(other.count);
        self.covered += other.covered;
        self.missed += other.missed;
        self.branches.extend(other.branches.iter().cloned());
    }
}

/// A source file of a package.
#[derive(Debug, Default)]
pub struct Source<'c> {
    /// The lines of all its methods.
    pub lines: BTreeMap<u16, Line>,
    /// Its classes, by internal name.
    pub classes: Vec<(&'c str, &'c Class)>,
}

impl Package {
    /// Its source files, by name.
    pub fn sources(&self) -> BTreeMap<&str, Source<'_>> {
        let mut sources: BTreeMap<&str, Source<'_>> = BTreeMap::new();
        for (name, class) in &self.classes {
            let Some(file) = &class.source else { continue };
            let source = sources.entry(file).or_default();
            source.classes.push((name, class));
            merge(&mut source.lines, class);
        }
        sources
    }
}

impl Class {
    /// The lines of all its methods.
    pub fn lines(&self) -> BTreeMap<u16, Line> {
        let mut lines = BTreeMap::new();
        merge(&mut lines, self);
        lines
    }
}

fn merge(lines: &mut BTreeMap<u16, Line>, class: &Class) {
    for (number, line) in class.methods.iter().flat_map(|method| &method.lines) {
        lines.entry(*number).or_default().add(line);
    }
}

impl Method {
    /// All its lines, and what belongs to none.
    pub fn parts(&self) -> impl Iterator<Item = &Line> {
        self.lines.values().chain([&self.rest])
    }
}
