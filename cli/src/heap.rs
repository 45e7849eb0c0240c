//! `instrument heap`: see `instrument_analysis::report::heap`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use crate::exit::{Exit, usage};
use crate::lookup::{self, Methods};
use crate::subject::{ProfileFile, is_profile, not_a_profile, thread_names, thread_patterns};
use crate::talk::Talk;
use crate::view::Print;
use anyhow::{Context, Result};
use clap::ValueEnum;
use instrument_analysis::heap::Process;
use instrument_analysis::heap::leaks::{self, Found};
use instrument_analysis::heap::table::{By, Filter};
use instrument_analysis::report::heap::{self as report, Heap, Section, View};
use instrument_names::types::ObjectPatterns;
use instrument_trace::ThreadKind;

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
    /// List leak suspects, the parts of one leak together, with the evidence for each; exit code 4 if the profile cannot tell
    #[arg(long)]
    leaks: bool,
    /// Print every collection: when, how long, what it left
    #[arg(long)]
    collections: bool,
    /// Only objects of classes that fit PATTERN, as Java writes them: `com.acme.Foo`, `byte[]`, `com.acme.**` with its arrays
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
    /// Exit with code 3 if a pattern fits nothing
    #[arg(long)]
    strict: bool,
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
    let classes = ObjectPatterns::new(&opts.class).map_err(|error| usage(error.to_string()))?;
    let several = opts.files.len() > 1;
    let mut files = Vec::new();
    for (number, path) in opts.files.iter().enumerate() {
        if path.exists() && !is_profile(path) {
            return Err(usage(not_a_profile(path)));
        }
        let file = ProfileFile::open(path, number, several)?;
        file.say_remarks(talk);
        files.push(file);
    }
    let method_names = files.iter().flat_map(|file| file.names.methods()).collect();
    let class_names = files.iter().flat_map(|file| file.names.classes()).collect();
    let methods = Methods::new("--method", &opts.method, &method_names)?;
    let warnings = [
        lookup::unknown_classes(&classes, &class_names),
        lookup::unknown_threads(&opts.thread, &thread_names(&files)),
        methods.warnings.clone(),
    ];
    let class = |name: &str| classes.matches(name.as_bytes());
    let method = |name: &str| methods.fits(name);
    let filter = Filter {
        class: (!classes.is_empty()).then_some(&class as &dyn Fn(&str) -> bool),
        method: (!methods.is_empty()).then_some(&method as &dyn Fn(&str) -> bool),
    };
    let names: Vec<_> =
        files.iter().map(|file| format!("{} (pid {})", file.program(), file.profile.pid)).collect();
    let wanted = thread_patterns(&opts.thread);
    let threads = |file: &ProfileFile, copy: u32, ordinal: u32| {
        let name = file.profile.threads.iter().find(|thread| {
            thread.kind == ThreadKind::Thread && (thread.copy, thread.ordinal) == (copy, ordinal)
        });
        let name = name.map_or("", |thread| thread.name.as_str());
        wanted(name)
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
    print.with(None, &Methods::default(), |options| report::write(&mut out, &heap, &view, options))?;
    out.flush()?;
    let undetermined = found.as_ref().filter(|found| opts.leaks && found.is_undetermined());
    if let (Some(found), true) = (undetermined, opts.csv) {
        found.undetermined.iter().for_each(|reason| talk.warn(format_args!("leaks: {reason}")));
    }
    let exit = if undetermined.is_some() { Exit::Undetermined } else { Exit::Done };
    Ok(lookup::say(&warnings.concat(), opts.strict, exit, talk))
}

/// Looks for leaks in all files.
fn find(files: &[ProfileFile], processes: &[Process<'_>], filter: &Filter<'_>) -> Result<Found> {
    let mut all = Found::default();
    for (file, process) in files.iter().zip(processes) {
        let name = || file.path.display().to_string();
        let source = File::open(&file.path).with_context(name)?;
        let found = leaks::find(process, &source).with_context(name)?;
        all.suspects.extend(found.suspects);
        let reasons = found.undetermined.into_iter();
        all.undetermined.extend(
            reasons.map(|reason| if files.len() > 1 { format!("{}: {reason}", name()) } else { reason }),
        );
        let remarks = found.remarks.into_iter();
        all.remarks.extend(
            remarks.map(|remark| if files.len() > 1 { format!("{}: {remark}", name()) } else { remark }),
        );
    }
    all.suspects.retain(|suspect| filter.wants(&suspect.class, &suspect.context));
    all.group();
    Ok(all)
}
