//! `instrument golden`: snapshots of bytecode, for those who write compilers, plugins and rewriters.
//!
//! Prints what is not as blessed, in the order of the cases; `--junit` writes it for a build server.

mod review;

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use anyhow::{Context, Result};
use instrument_analysis::junit::{self, Outcome, Suite};
use instrument_artifacts::golden::case::Case;
use instrument_artifacts::golden::jvm::Jvm;
use instrument_artifacts::golden::{Examined, Job};
use instrument_artifacts::outputs::Outputs;
use instrument_messages::{Listener, number};
use instrument_names::printable::{printable, printable_lines};
use rayon::prelude::*;
use review::Verdict;
use std::io::{Write, stdin};
use std::path::PathBuf;

/// Snapshots of bytecode: cases whose classes must print as they did when they were blessed
///
/// A case is a folder with a `case.toml`. Its command makes class files or archives; its folder `expected` has one text for each class. What
/// does not change the meaning of a class (the order of the constant pool and of attributes) does not change the text.
#[derive(Debug, clap::Args)]
pub(crate) struct Opts {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Compare what the cases make now with what was blessed; exit code 0: the same, 1: not so
    ///
    /// What differs is kept in the folder `pending` of each case for `review`, `accept` and `reject`, unless the variable CI is set.
    Check {
        #[command(flatten)]
        cases: Cases,
        /// Write the outcome as JUnit XML, for a build server
        #[arg(long, value_name = "FILE")]
        junit: Option<PathBuf>,
        /// Lines of context around a difference
        #[arg(long, short = 'U', value_name = "N", default_value_t = 3)]
        context: usize,
    },
    /// Take what the cases make now as right from now on
    Bless {
        #[command(flatten)]
        cases: Cases,
    },
    /// Show what `check` found, one difference after the other, and ask what becomes of it; exit code 0: all is judged, 1: not so
    Review {
        #[command(flatten)]
        chosen: Chosen,
        /// Lines of context around a difference
        #[arg(long, short = 'U', value_name = "N", default_value_t = 3)]
        context: usize,
    },
    /// Take all that `check` found as right from now on; no command is run
    Accept {
        #[command(flatten)]
        chosen: Chosen,
    },
    /// Forget what `check` found: what was blessed stays right
    Reject {
        #[command(flatten)]
        chosen: Chosen,
    },
}

#[derive(Debug, clap::Args)]
struct Chosen {
    /// The folder of the cases
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Only this case; repeatable
    #[arg(long = "case", value_name = "NAME")]
    named: Vec<String>,
}

impl Chosen {
    fn read(&self) -> Result<Vec<Case>> {
        Case::all(&self.directory, &self.named)
    }
}

#[derive(Debug, clap::Args)]
struct Cases {
    /// The folder of the cases. Their commands are run: take cases of people whose programs you would run
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Only this case; repeatable
    #[arg(long = "case", value_name = "NAME")]
    named: Vec<String>,
    /// Link the classes with -Xverify:all on the Java (11 or later) in this directory, and run `main` of the case; repeatable
    #[arg(long = "jvm", value_name = "JAVA_HOME")]
    jvms: Vec<PathBuf>,
}

/// Prints to standard output.
///
/// # Errors
/// Cases or Java installations that are not there or cannot be read.
pub(crate) fn run(opts: Opts, talk: &Talk) -> Result<Exit> {
    let (cases, blesses, junit, context) = match opts.action {
        Action::Check { cases, junit, context } => (cases, false, junit, context),
        Action::Bless { cases } => (cases, true, None, 3),
        Action::Review { chosen, context } => {
            return review::review(&chosen.read()?, context, &mut stdin().lock(), &mut talk.results());
        }
        Action::Accept { chosen } => {
            return review::all(&chosen.read()?, Verdict::Accept, &mut talk.results());
        }
        Action::Reject { chosen } => {
            return review::all(&chosen.read()?, Verdict::Reject, &mut talk.results());
        }
    };
    let shown = cases.directory.display().to_string();
    let directory = cases.directory.canonicalize().with_context(|| shown.clone())?;
    let jvms = cases.jvms.iter().map(|home| Jvm::at(home)).collect::<Result<Vec<_>>>()?;
    let cases = Case::all(&directory, &cases.named)?;
    // What nobody can review is not kept.
    let keeps = std::env::var_os("CI").is_none();
    let job = Job { directory: &directory, jvms: &jvms, blesses, keeps, context };
    let outcomes: Vec<Examined> = cases.par_iter().map(|case| job.examine(case)).collect();

    let mut out = talk.results();
    for (case, examined) in cases.iter().zip(&outcomes) {
        let name = printable(&case.name);
        match &examined.outcome {
            Outcome::Failed { message, text } => {
                writeln!(out, "FAIL {name}: {}\n{}", printable(message), printable_lines(text).trim_end())?;
            }
            _ if examined.written > 0 => {
                writeln!(out, "blessed {name}: {}", number(examined.written as u64, "file"))?;
            }
            _ => writeln!(out, "ok {name}")?,
        }
        if let Some(note) = &examined.note {
            talk.warn(format_args!("{name}: {note}"));
        }
    }
    let failed =
        outcomes.iter().filter(|examined| matches!(examined.outcome, Outcome::Failed { .. })).count();
    writeln!(
        out,
        "{}: {} as blessed, {failed} not",
        number(cases.len() as u64, "case"),
        cases.len() - failed
    )?;
    out.flush()?;
    if let Some(path) = &junit {
        let named = cases.iter().zip(outcomes).map(|(case, examined)| junit::Case {
            class_name: shown.clone(),
            name: case.name.clone(),
            outcome: examined.outcome,
        });
        let suite = Suite { name: "instrument golden".to_owned(), cases: named.collect() };
        let mut document = Vec::new();
        junit::write(&mut document, &suite)?;
        let mut outputs = Outputs::default();
        outputs.file(path, None, &document)?;
        outputs.commit()?;
    }
    Ok(if failed == 0 { Exit::Done } else { Exit::Negative })
}
