//! What was missed and what was covered, counted as JaCoCo counts it.

use super::{Class, Line, Method, Package, Source};

/// How much of something was missed, and how much covered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counter {
    /// Not executed.
    pub missed: u64,
    /// Executed.
    pub covered: u64,
}

/// The six counters of a method, class, source file, package or report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    pub instructions: Counter,
    /// Ways of conditional branches and switches.
    pub branches: Counter,
    /// Lines of which an instruction was executed.
    pub lines: Counter,
    /// Ways through methods (cyclomatic complexity).
    pub complexity: Counter,
    /// Methods of which an instruction was executed.
    pub methods: Counter,
    /// Classes of which a method was.
    pub classes: Counter,
}

impl Counter {
    fn add(&mut self, other: Counter) {
        self.missed += other.missed;
        self.covered += other.covered;
    }

    /// One thing.
    fn one(is_covered: bool) -> Counter {
        Counter { missed: u64::from(!is_covered), covered: u64::from(is_covered) }
    }
}

impl Line {
    /// The ways of its branches.
    pub fn ways(&self) -> Counter {
        let mut sum = Counter::default();
        for way in self.branches.iter().flat_map(|branch| &branch.ways) {
            sum.add(Counter::one(*way > 0));
        }
        sum
    }

    fn is_covered(&self) -> Counter {
        Counter::one(self.covered > 0)
    }
}

impl Counters {
    /// Adds all of another's.
    pub fn add(&mut self, other: &Counters) {
        let Counters { instructions, branches, lines, complexity, methods, classes } = other;
        self.instructions.add(*instructions);
        self.branches.add(*branches);
        self.lines.add(*lines);
        self.complexity.add(*complexity);
        self.methods.add(*methods);
        self.classes.add(*classes);
    }

    pub fn of_method(method: &Method) -> Counters {
        let mut sum = Counters::default();
        for line in method.parts() {
            sum.instructions.add(Counter { missed: line.missed, covered: line.covered });
            sum.branches.add(line.ways());
            for branch in line.branches.iter().filter(|branch| branch.ways.len() > 1) {
                let (all, covered) =
                    (branch.ways.len() as u64, branch.ways.iter().filter(|way| **way > 0).count() as u64);
                let covered = covered.saturating_sub(1);
                sum.complexity.add(Counter { missed: all - 1 - covered, covered });
            }
        }
        for line in method.lines.values() {
            sum.lines.add(line.is_covered());
        }
        sum.methods = Counter::one(sum.instructions.covered > 0);
        sum.complexity.add(sum.methods);
        sum
    }

    /// Of a class. Several methods may have a line, which counts once.
    pub fn of_class(class: &Class) -> Counters {
        let mut sum = Counters::default();
        class.methods.iter().for_each(|method| sum.add(&Counters::of_method(method)));
        sum.lines = Counter::default();
        class.lines().values().for_each(|line| sum.lines.add(line.is_covered()));
        sum.classes = Counter::one(sum.methods.covered > 0);
        sum
    }

    /// Of a source file. Several classes may have a line, which counts once.
    pub fn of_source(source: &Source<'_>) -> Counters {
        let mut sum = Counters::default();
        source.classes.iter().for_each(|(_, class)| sum.add(&Counters::of_class(class)));
        sum.lines = Counter::default();
        source.lines.values().for_each(|line| sum.lines.add(line.is_covered()));
        sum
    }

    pub fn of_package(package: &Package) -> Counters {
        let mut sum = Counters::default();
        package.sources().values().for_each(|source| sum.add(&Counters::of_source(source)));
        let without = package.classes.values().filter(|class| class.source.is_none());
        without.for_each(|class| sum.add(&Counters::of_class(class)));
        sum
    }
}
