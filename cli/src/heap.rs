//! `instrument heap`: see `instrument_analysis::report::heap`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use crate::exit::{Exit, usage};
use crate::subject::{ProfileFile, is_profile};
use crate::talk::Talk;
use crate::view::{Print, fits};
use anyhow::{Context, Result};
use clap::ValueEnum;
use instrument_analysis::heap::Process;
use instrument_analysis::heap::leaks::{self, Found};
use instrument_analysis::heap::table::{By, Filter};
use instrument_analysis::report::heap::{self as report, Heap, Section, View};
use instrument_rewriter::filter::MethodQuery;
use instrument_trace::ThreadKind;
use wildmatch::WildMatch;

/// Rows that are printed for people unless --top says otherwise.
const TOP: usize = 20;

/// Print what was allocated, what is left of it, how long the rest lived, and what leaks
///
/// Without options everything on one screen. Where objects were followed (heap=objects), it is known which are live at the end and
/// how many collections the others outlived; where they were counted, how many there were. The same in every context, as a tree:
/// instrument xtree --resource live-bytes.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Opts {
    /// Profiles (`*.iprof`)
    #[arg(required = true, value_name = "PROFILE")]
    files: Vec<PathBuf>,
    /// What the rows are
    #[arg(long, value_enum, value_name = "WHAT")]
    by: Option<Rows>,
    /// Print what is live at the end, most bytes first
    #[arg(long)]
    live: bool,
    /// Print how long objects lived, in collections and in time
    #[arg(long)]
    lifetimes: bool,
    /// Print what grows and grows, and why it is suspected
    #[arg(long)]
    leaks: bool,
    /// Print every collection: when, how long, what it left
    #[arg(long)]
    collections: bool,
    /// Only objects of classes that fit PATTERN, as Java writes them: `com.acme.**`, `byte[]`
    #[arg(long, value_name = "PATTERN")]
    class: Vec<String>,
    /// Only objects made in methods that fit PATTERN: `com.acme.**`, `Shop#price`; by context, and by what these called
    #[arg(long, value_name = "PATTERN")]
    method: Vec<String>,
    /// Only objects made by threads of these names (`*` and `?` stand for others)
    #[arg(long, value_name = "NAME")]
    thread: Vec<String>,
    /// Print only the first N rows [default: 20 for text]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Columns to print in; 0: as many as it takes [default: those of the terminal]
    #[arg(long, value_name = "N")]
    width: Option<usize>,
    /// Print one JSON document
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print a CSV table
    #[arg(long)]
    csv: bool,
}

/// What rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Rows {
    /// Classes
    Class,
    /// Classes, with the methods that made their objects
    Site,
    /// Classes, with the methods that made their objects, and their callers
    Context,
}

impl Opts {
    fn sections(&self) -> Vec<Section> {
        let asked = [
            (self.live, Section::Live),
            (self.lifetimes, Section::Lifetimes),
            (self.by.is_some() && !self.live && !self.lifetimes, Section::Table),
            (self.leaks, Section::Leaks),
            (self.collections, Section::Collections),
        ];
        let sections: Vec<_> = asked.into_iter().filter(|(asked, _)| *asked).map(|(_, s)| s).collect();
        if sections.is_empty() { vec![Section::Summary] } else { sections }
    }
}

/// Prints the report.
///
/// # Errors
/// A file that is no profile or cannot be read, options that make no sense, an output that fails.
pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let sections = opts.sections();
    if opts.csv && sections.len() > 1 {
        return Err(usage("--csv: one table at a time"));
    }
    let classes = opts.class.iter().map(|pattern| Classes::new(pattern)).collect::<Result<Vec<_>>>()?;
    let methods = opts.method.iter().map(|pattern| MethodQuery::new(pattern));
    let methods = methods.collect::<Result<Vec<_>, _>>().map_err(|error| usage(error.to_string()))?;
    let class = |name: &str| classes.iter().any(|pattern| pattern.fits(name));
    let method = |name: &str| methods.iter().any(|query| fits(query, name));
    let filter = Filter {
        class: (!classes.is_empty()).then_some(&class as &dyn Fn(&str) -> bool),
        method: (!methods.is_empty()).then_some(&method as &dyn Fn(&str) -> bool),
    };

    let several = opts.files.len() > 1;
    let mut files = Vec::new();
    for (number, path) in opts.files.iter().enumerate() {
        if path.exists() && !is_profile(path) {
            return Err(usage(format!("{}: no profile", path.display())));
        }
        let file = ProfileFile::open(path, number, several)?;
        file.say_remarks(talk);
        files.push(file);
    }
    let names: Vec<_> =
        files.iter().map(|file| format!("{} (pid {})", file.program(), file.profile.pid)).collect();
    let patterns: Vec<_> = opts.thread.iter().map(|pattern| WildMatch::new(pattern)).collect();
    let threads = |file: &ProfileFile, copy: u32, ordinal: u32| {
        let name = file.profile.threads.iter().find(|thread| {
            thread.kind == ThreadKind::Thread && (thread.copy, thread.ordinal) == (copy, ordinal)
        });
        let name = name.map_or("", |thread| thread.name.as_str());
        patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(name))
    };
    let threads = &threads;
    let asked: Vec<_> = files
        .iter()
        .map(|file| {
            let methods = move |copy: u32, id: u32| file.names.method(copy, id);
            let classes = move |copy: u32, number: u32| file.names.class(copy, number);
            (file, methods, classes, move |copy: u32, ordinal: u32| threads(file, copy, ordinal))
        })
        .collect();
    let processes: Vec<_> = asked
        .iter()
        .map(|(file, methods, classes, threads)| Process {
            profile: &file.profile,
            biographies: file.biographies.as_ref(),
            methods,
            classes,
            threads,
        })
        .collect();

    let looks = sections.iter().any(|section| matches!(section, Section::Summary | Section::Leaks));
    let found = if looks { Some(find(&files, &processes, &filter)?) } else { None };
    let by = match opts.by {
        Some(Rows::Site) => By::Site,
        Some(Rows::Context) => By::Context,
        Some(Rows::Class) | None => By::Class,
    };
    let is_text = !opts.json && !opts.csv;
    let is_long = !matches!(sections[..], [Section::Summary] | [Section::Collections]);
    let top = opts.top.or((is_text && is_long).then_some(TOP));
    let print = Print { top, width: opts.width, json: opts.json, csv: opts.csv, ..Print::default() };
    let heap = Heap { processes: &processes, names: &names, leaks: found.as_ref() };
    let view = View { sections: &sections, by, filter };
    let mut out = BufWriter::new(std::io::stdout().lock());
    print.with(None, |options| report::write(&mut out, &heap, &view, options))?;
    out.flush()?;
    Ok(Exit::Done)
}

/// Looks for leaks in all files.
fn find(files: &[ProfileFile], processes: &[Process<'_>], filter: &Filter<'_>) -> Result<Found> {
    let mut all = Found::default();
    for (file, process) in files.iter().zip(processes) {
        let name = || file.path.display().to_string();
        let source = File::open(&file.path).with_context(name)?;
        let found = leaks::find(process, &source).with_context(name)?;
        all.suspects.extend(found.suspects);
        let remarks = found.remarks.into_iter();
        all.remarks.extend(
            remarks.map(|remark| if files.len() > 1 { format!("{}: {remark}", name()) } else { remark }),
        );
    }
    all.suspects.retain(|suspect| filter.wants(&suspect.class, &suspect.context));
    all.suspects.sort_by_key(|suspect| std::cmp::Reverse(suspect.growth()));
    Ok(all)
}

/// A pattern of classes as Java writes them: as many `[]` as the class has, behind a pattern of its elements.
struct Classes {
    elements: MethodQuery,
    dimensions: usize,
}

impl Classes {
    fn new(pattern: &str) -> Result<Classes> {
        let (elements, dimensions) = elements(pattern);
        let elements = MethodQuery::new(elements).map_err(|error| usage(error.to_string()))?;
        Ok(Classes { elements, dimensions })
    }

    fn fits(&self, class: &str) -> bool {
        let (class, dimensions) = elements(class);
        dimensions == self.dimensions && self.elements.matches(class.replace('.', "/").as_bytes(), b"", b"")
    }
}

/// A class without its `[]`, and how many there are.
fn elements(class: &str) -> (&str, usize) {
    let elements = class.trim_end_matches("[]");
    (elements, (class.len() - elements.len()) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_classes_know_arrays() {
        let fits = |pattern: &str, class: &str| Classes::new(pattern).unwrap().fits(class);
        assert!(
            fits("com.acme.**", "com.acme.a.B")
                && fits("byte[]", "byte[]")
                && fits("**.Foo[][]", "p.Foo[][]")
        );
        assert!(
            !fits("byte", "byte[]") && !fits("byte[]", "byte[][]") && !fits("com.acme.*", "com.acme.B[]")
        );
        assert!(fits("com.acme.*[]", "com.acme.B[]"));
        assert!(Classes::new("[B").is_err());
    }
}
