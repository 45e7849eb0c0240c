//! `instrument merge`: profiles of processes that call each other, as one.

use std::fs::File;
use std::io::{BufWriter, Write};

use crate::exit::{Exit, usage};
use crate::subject::{self, ProfileFile, is_profile};
use crate::talk::Talk;
use crate::view::Print;
use anyhow::{Context, Result};
use instrument_analysis::merge::{Numbers, Party, match_calls, same_process};
use instrument_analysis::report::matching;

/// Merge profiles of programs that call each other by RMI: which call is which
///
/// Takes profiles recorded with `instrument run --transform ..,rmi`. Calls are matched by the UID of their return, by their place on a
/// connection that is known, or by ports that no other connection has; never by clocks. Every call is matched or has a reason why not.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Opts {
    #[command(flatten)]
    subject: subject::Opts,
    #[command(flatten)]
    print: Print,
}

pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let files = open(opts, talk)?;
    let sources =
        files.iter().map(|file| File::open(&file.path).with_context(|| file.path.display().to_string()));
    let sources = sources.collect::<Result<Vec<_>>>()?;
    let parties: Vec<_> =
        files.iter().zip(&sources).map(|(file, source)| Party { profile: &file.profile, source }).collect();
    let numbers = Numbers::of(&match_calls(&parties)?);
    let names: Vec<_> = files.iter().map(ProfileFile::label).collect();
    let mut out = BufWriter::new(std::io::stdout().lock());
    matching::write(&mut out, &names, &numbers, opts.print.format())?;
    out.flush()?;
    Ok(Exit::Done)
}

/// Reads the profiles, each process once.
fn open(opts: &Opts, talk: &Talk) -> Result<Vec<ProfileFile>> {
    if let Some(other) = opts.subject.files.iter().find(|path| !is_profile(path)) {
        File::open(other).with_context(|| format!("cannot read {}", other.display()))?;
        return Err(usage(format!("{}: no profile", other.display())));
    }
    let several = opts.subject.files.len() > 1;
    let open = |(number, path): (usize, &std::path::PathBuf)| ProfileFile::open(path, number, several);
    let files = opts.subject.files.iter().enumerate().map(open).collect::<Result<Vec<_>>>()?;
    let twice = same_process(&files.iter().map(|file| &file.profile).collect::<Vec<_>>());
    for (file, first) in files.iter().zip(&twice) {
        if let Some(first) = first {
            let (name, first) = (file.path.display(), files[*first].path.display());
            talk.warn(format_args!("{name}: of the same process as {first}; left out"));
        }
    }
    let files: Vec<_> =
        files.into_iter().zip(twice).filter(|(_, of)| of.is_none()).map(|(file, _)| file).collect();
    files.iter().for_each(|file| file.say_remarks(talk));
    Ok(files)
}
