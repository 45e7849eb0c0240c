//! Figures of lines: the counters of profiles, and the class files that they were taken from.

use crate::source;
use crate::sources::Sources;
use anyhow::{Context, Result};
use instrument_analysis::coverage::{Branch, Class, Coverage, Line, Method};
use instrument_analysis::session::ProfileFile;
use instrument_analysis::session::names::method_name;
use instrument_messages::{Listener, number, usage};
use instrument_names::mutf8;
use instrument_names::selection::Selection;
use instrument_rewriter::executions;
use instrument_rewriter::filter::{Filter, is_own};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::path::PathBuf;

/// The figures of the classes on a class path, which are as they were before they were rewritten.
///
/// # Errors
/// Profiles without such counts, classes that cannot be read.
pub fn of(profiles: &[PathBuf], class_path: &OsStr, listener: &dyn Listener) -> Result<Coverage> {
    let counted = Counted::read(profiles)?;
    let mut coverage = Coverage::default();
    let mut found = Found::default();
    for path in std::env::split_paths(class_path).filter(|path| !path.as_os_str().is_empty()) {
        let address = path.display().to_string();
        source::classes_of(&address, &|_| true, &mut |class| {
            // What is no class is no class of the program.
            if let Ok(read) = executions::Class::read(class.bytes) {
                add(&read, &counted, &mut coverage, &mut found);
            }
            Ok(())
        })?;
    }
    found.warn(&counted, listener);
    Ok(coverage)
}

/// Where a source file is; if it is not found, its path below its root.
pub fn source_path(sources: &Sources, package: &str, file: &str) -> String {
    let path = if package.is_empty() { file.to_owned() } else { format!("{package}/{file}") };
    sources.find(&path).map_or(path, |at| at.display().to_string())
}

/// What profiles have counted.
#[derive(Default)]
struct Counted {
    /// By the name of the method and the check of its code.
    counters: HashMap<(String, u32), Vec<u64>>,
    /// The methods among them, and how many checks each has.
    methods: HashMap<String, usize>,
    /// Those of the id maps.
    known: HashSet<String>,
    /// What each profile says that it has.
    filters: Vec<Filter>,
    /// Only classes of the id maps were rewritten.
    only_known: bool,
}

impl Counted {
    fn read(files: &[PathBuf]) -> Result<Counted> {
        let mut counted = Counted::default();
        for (index, path) in files.iter().enumerate() {
            let file = ProfileFile::open(path, index, files.len() > 1)?;
            let copies = &file.profile.copies;
            if copies.values().all(|copy| copy.lines.is_empty()) {
                return Err(usage(format!(
                    "{}: it has no counts of lines; record with --transform method-events,lines. They are written when the recording ends: a process that was killed, or still runs, has none",
                    path.display()
                )));
            }
            counted.known.extend(file.names.methods().map(str::to_owned));
            for (&copy, content) in copies {
                for (key, counters) in &content.lines {
                    let method = file.names.method(copy, key.method);
                    let sums = counted.counters.entry((method.clone(), key.check)).or_insert_with(|| {
                        *counted.methods.entry(method).or_default() += 1;
                        vec![0; counters.len()]
                    });
                    for (sum, more) in sums.iter_mut().zip(counters) {
                        *sum = sum.saturating_add(*more);
                    }
                }
                let Some(selection) = content.properties.get("selection") else { continue };
                let selection = Selection::parse(selection);
                let patterns = |key: &'static str| -> Vec<&str> { selection.values(key).collect() };
                let filter = Filter::new(&patterns("include"), &patterns("exclude"));
                counted.filters.push(filter.with_context(|| format!("{}: its selection", path.display()))?);
                counted.only_known |= selection.values(Selection::SUBCLASSES_OF).next().is_some();
            }
        }
        Ok(counted)
    }

    /// Whether a method was to be rewritten in one of the runs.
    fn wants(&self, class: &[u8], method: &executions::Method, name: &str) -> bool {
        let wants = |filter: &Filter| filter.method(class, &method.name, &method.descriptor).is_ok();
        !is_own(class)
            && (!self.only_known || self.known.contains(name))
            && (self.filters.is_empty() || self.filters.iter().any(wants))
    }
}

/// What came of the class files.
#[derive(Default)]
struct Found {
    /// Counts that belong to code of a class file.
    methods: HashSet<String>,
    /// Methods whose code is another than that which was counted.
    others: BTreeSet<String>,
}

impl Found {
    fn warn(&self, counted: &Counted, listener: &dyn Listener) {
        if let Some(first) = self.others.first() {
            listener.caution(format_args!(
                "{} (such as {first}) had other code when they were recorded; those counts are left out: the class path must be the program as it was before it was rewritten, or as it was run",
                number(self.others.len() as u64, "method")
            ));
        }
        let missing: BTreeSet<&String> = counted
            .methods
            .keys()
            .filter(|m| !self.methods.contains(*m) && !self.others.contains(*m))
            .collect();
        if let Some(first) = missing.first() {
            listener.caution(format_args!(
                "{} (such as {first}) were recorded and are not on the class path",
                number(missing.len() as u64, "method")
            ));
        }
    }
}

/// Adds a class; the first of a name counts, as in a class path.
fn add(read: &executions::Class, counted: &Counted, coverage: &mut Coverage, found: &mut Found) {
    let name = mutf8::escape(&read.name);
    let package = name.rsplit_once('/').map_or("", |(package, _)| package).to_owned();
    let is_there = coverage.packages.get(&package).is_some_and(|known| known.classes.contains_key(&name));
    if is_there {
        return;
    }
    let mut methods = Vec::new();
    for method in &read.methods {
        let full = method_name(&read.name, &method.name, &method.descriptor);
        if !counted.wants(&read.name, method, &full) {
            continue;
        }
        let counters = counted.counters.get(&(full.clone(), method.check));
        let codes = counted.methods.get(&full).copied().unwrap_or(0);
        if codes > usize::from(counters.is_some()) {
            found.others.insert(full.clone());
        }
        if codes > 0 && counters.is_none() {
            continue;
        }
        found.methods.insert(full);
        if !method.is_made_up {
            methods.push(figures(method, counters.map_or(&[], Vec::as_slice)));
        }
    }
    if !methods.is_empty() {
        let class = Class { source: read.source.as_deref().map(mutf8::escape), methods };
        coverage.packages.entry(package).or_default().classes.insert(name, class);
    }
}

/// The figures of a method.
fn figures(method: &executions::Method, counters: &[u64]) -> Method {
    let plan = &method.plan;
    let values: Vec<u64> = plan.counts.iter().map(|count| count.value(counters)).collect();
    let value = |index: u32| values.get(index as usize).copied().unwrap_or(0);
    let mut figures = Method {
        name: mutf8::escape(&method.name),
        descriptor: mutf8::escape(&method.descriptor),
        calls: value(plan.calls),
        ..Method::default()
    };
    let run_of = |pc: u32| method.lines[..method.lines.partition_point(|run| run.start <= pc)].last();
    fn line_of(figures: &mut Method, number: Option<u16>) -> &mut Line {
        match number {
            Some(number) => figures.lines.entry(number).or_default(),
            None => &mut figures.rest,
        }
    }
    // How often the most executed instruction of a line was: where control comes into the middle of its runs only.
    let mut most: HashMap<u16, u64> = HashMap::new();
    for instruction in &plan.instructions {
        let run = run_of(instruction.pc);
        let count = instruction.count.map_or(0, value);
        let line = line_of(&mut figures, run.map(|run| run.line));
        let is_covered = count > 0 && instruction.later.is_none_or(|later| value(later) > 0);
        line.covered += u64::from(is_covered);
        line.missed += u64::from(!is_covered);
        if let Some(run) = run {
            let most = most.entry(run.line).or_default();
            *most = count.max(*most);
            if run.start == instruction.pc {
                line.count = line.count.saturating_add(count);
            }
        }
    }
    for (number, line) in figures.lines.iter_mut().filter(|(_, line)| line.count == 0) {
        line.count = most.get(number).copied().unwrap_or(0);
    }
    for branch in &plan.branches {
        let ways = branch.ways.iter().map(|&way| value(way)).collect();
        let line = line_of(&mut figures, run_of(branch.pc).map(|run| run.line));
        line.branches.push(Branch { executed: value(branch.count), ways });
    }
    figures
}
