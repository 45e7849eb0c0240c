//! `instrument diff`: what differs between two classes, archives or directories, as resolved text. Profiles are compared by
//! [`crate::commands::diff::profiles`].

pub(crate) mod profiles;

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use crate::options::settings::words;
use anyhow::Result;
use instrument_artifacts::diff::{self, Form, Ignored, compare};
use instrument_artifacts::source::Input;
use instrument_messages::usage;
use std::io::Write;

/// Compare two classes, archives, directories or profiles; exit code 0: equal, 1: different, 2: wrong usage
///
/// Of profiles, counts that differ are differences; times are, if they differ by more than runs do: give several runs of each side, as
/// `diff A1 A2 A3 -- B1 B2 B3`. With --quiet there is nothing but the exit code
#[derive(Debug, clap::Args)]
pub(crate) struct Opts {
    /// The two class files, archives or directories (also `app.jar!com/acme/Foo.class`), or profiles; of several runs those before
    #[arg(required = true, value_name = "BEFORE AFTER")]
    files: Vec<String>,
    /// Profiles of several runs after: `diff A1 A2 A3 -- B1 B2 B3`
    #[arg(last = true, value_name = "AFTER")]
    after: Vec<String>,
    /// Compare the constant pools, too, with their numbering
    #[arg(long)]
    pool: bool,
    /// Compare everything: indices, offsets, bytes, the order of attributes, the forms of frames
    #[arg(long)]
    raw: bool,
    /// Compare debugging information, too, which any change of a source moves: line numbers, local variables, SourceFile
    #[arg(long)]
    debug: bool,
    /// What makes no difference
    #[arg(long, value_name = "WHAT,..", value_delimiter = ',', value_parser = words::<Ignored>())]
    ignore: Vec<Ignored>,
    /// Compare only the methods that fit PATTERN: `run`, `get*`, `<init>(int)`, `com.acme.Foo.run(int)`; in profiles `com.acme.**#run`
    #[arg(long, value_name = "PATTERN")]
    method: Option<String>,
    /// Lines of context around a difference
    #[arg(long, short = 'U', value_name = "N", default_value_t = 3)]
    context: usize,
    /// Print one line per class that differs, and a summary
    #[arg(long)]
    stat: bool,
    /// Print one JSON object per entry that differs and per change of the API, and a last one with the summary; of profiles, one document
    #[arg(long, conflicts_with = "stat")]
    json: bool,
    /// Print Markdown for a comment on a pull request: sizes, what breaks of the public and protected API, and what changed in each method
    #[arg(long, conflicts_with_all = ["stat", "json", "method"])]
    markdown: bool,
    #[command(flatten)]
    profiles: profiles::Opts,
}

/// Prints to standard output.
///
/// # Errors
/// An input that cannot be read. Two inputs of different kinds (a class and an archive) are wrong usage.
pub(crate) fn run(opts: Opts, talk: &Talk) -> Result<Exit> {
    let (before, after) = opts.sides()?;
    if profiles::applies(before.iter().chain(after)) {
        if opts.markdown {
            return Err(usage(
                "--markdown is about bytecode; of profiles, `gate check --format markdown` writes it",
            ));
        }
        let method = opts.method.as_deref();
        return profiles::run([before, after], method, opts.json, &opts.profiles, talk);
    }
    let ([before], [after]) = (before, after) else {
        return Err(usage("several runs can be compared of profiles only"));
    };
    let (a, b) = (Input::open(before)?, Input::open(after)?);
    if matches!(a, Input::File(_)) != matches!(b, Input::File(_)) {
        return Err(usage("cannot compare a file with an archive or directory"));
    }
    let mut out = talk.results();
    let form = match (opts.markdown, opts.json, opts.stat) {
        (true, ..) => Form::Markdown,
        (_, true, _) => Form::Json,
        (_, _, true) => Form::Stat,
        _ => Form::Text,
    };
    let Opts { pool, raw, debug, ignore, method, context, .. } = &opts;
    let options = diff::Options {
        pool: *pool,
        raw: *raw,
        debug: *debug,
        ignore: ignore.clone(),
        method: method.clone(),
        context: *context,
        form,
    };
    let outcome = compare(&options, (before, &a), (after, &b), &mut out).and_then(|summary| {
        out.flush()?;
        Ok(summary)
    });
    match outcome {
        Ok(summary) => Ok(if summary.is_equal() { Exit::Done } else { Exit::Negative }),
        Err(error) => Err(error),
    }
}

impl Opts {
    /// What is compared with what.
    fn sides(&self) -> Result<(&[String], &[String])> {
        match (&self.files[..], &self.after[..]) {
            (files @ [_, _], []) => Ok(files.split_at(1)),
            ([_], []) => {
                Err(usage("compared with what? give two files, or several runs of each side: A1 A2 -- B1 B2"))
            }
            (_, []) => Err(usage("say where the second side begins: A1 A2 A3 -- B1 B2 B3")),
            (files, after) => Ok((files, after)),
        }
    }
}
