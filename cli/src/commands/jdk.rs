//! `instrument jdk`: a JDK whose own classes are rewritten, so that it records every program that it runs.
//!
//! 1. Copy the JDK beside its target.
//! 2. Rewrite its module image ([`image`]), and write it into the copy.
//! 3. Let the copy make its archives of shared class data, and pass its start-up test ([`start`]).
//! 4. Append new ids to the shared file, and rename the copy.

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use crate::options::settings::words_but;
use anyhow::{Context, Result};
use instrument_artifacts::id_file::IdFile;
use instrument_artifacts::jdk::image::{self, Wanted};
use instrument_artifacts::jdk::{home, open_image, start};
use instrument_artifacts::outputs::Outputs;
use instrument_control::word::{LibraryCalls, Transform};
use instrument_control::{RECORDING_JDK, selection};
use instrument_messages::number;
use instrument_messages::{Listener, usage};
use instrument_names::id_map::IdMap;
use instrument_rewriter::account::{self, Tally};
use instrument_rewriter::filter::Filter;
use instrument_rewriter::instrumenter::ClassRecord;
use serde_json::json;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// What makes no sense in classes of the JDK, or calls what is not there when they start.
const NOT_HERE: &[Transform] = &[
    Transform::Bytecodes,
    Transform::Lines,
    Transform::RemoteHttp,
    Transform::RemoteGrpc,
    Transform::RemoteJms,
    Transform::ArrayAllocation,
    Transform::ObjectInit,
    Transform::ThreadLinks,
    Transform::Waits,
    Transform::HandOver,
    Transform::Jdbc,
    Transform::Http,
    Transform::Files,
];

const EXAMPLE: &str = "\
Example:
  instrument jdk --java-home /usr/lib/jvm/jdk-21 -o jdk-recorded --include 'java.util.**'
  jdk-recorded/bin/java -jar app.jar
  instrument xtree java-*.iprof";

/// Make a copy of a JDK with its own classes rewritten, which records the programs that it runs
///
/// The copy is started and run as the original: programs need no option, no agent, and need not be rewritten. Their profiles have the JDK's
/// methods that --include names, and the methods of programs that were rewritten above them. Class data sharing stays on. Classes that the
/// recorder itself needs (java.lang, java.nio, jdk.internal and a few more), and methods in whose place the JIT compiler puts code of its own,
/// are left as they are.
///
/// Every program that the copy runs leaves a profile, also javac and other tools of it; INSTRUMENT_RECORD=off in the environment turns that off.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Opts {
    /// Home directory of the JDK, or of a runtime that jlink made; it is not changed
    #[arg(long, value_name = "DIR", env = "JAVA_HOME", hide_env_values = true)]
    java_home: PathBuf,

    /// Where to put the copy; a copy that was made before is replaced
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,

    /// Record the methods that match, such as 'java.util.**'; patterns as for rewrite; repeatable
    #[arg(long, value_name = "PATTERN")]
    include: Vec<String>,

    /// Leave out what matches, even if it is included; repeatable
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<String>,

    /// Rewrite classes of these modules only, such as java.base,java.sql
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    modules: Vec<String>,

    /// What to insert
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = words_but::<Transform>(NOT_HERE), default_value = "method-events")]
    transform: Vec<Transform>,

    /// A file of method ids that is shared with programs that are rewritten; it is created if missing
    ///
    /// Without it the ids of the JDK's methods are larger than any that rewrite gives, so that programs that are rewritten without it run on the
    /// copy as well.
    #[arg(long, value_name = "FILE")]
    ids: Option<PathBuf>,

    /// Write what became of every class and method that is included, and why, as JSON lines
    #[arg(long, value_name = "FILE")]
    account: Option<PathBuf>,

    /// Rewrite with N threads [default: one per processor]
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let takes_patterns = opts.transform.iter().any(|transform| *transform != Transform::Rmi);
    if takes_patterns && opts.include.is_empty() {
        return Err(usage(
            "--include says which classes of the JDK are recorded, such as --include 'java.util.**'; only --transform rmi needs none",
        ));
    }
    let filter = Filter::new(&opts.include, &opts.exclude).map_err(|error| usage(error.to_string()))?;
    let home = opts.java_home.canonicalize().with_context(|| opts.java_home.display().to_string())?;
    let mut image = open_image(&home)?;
    let image_path = home.join(home::IMAGE);
    check_target(&opts.output, &home)?;
    let (mut id_file, mut ids) = match &opts.ids {
        Some(path) => IdFile::open(path, talk).map(|(file, map)| (Some(file), map))?,
        None => (None, IdMap::starting_at(image::FIRST_ID)),
    };
    let transforms = Transform::set(&opts.transform);
    let selection = selection::selection(transforms, LibraryCalls::None, &filter, &[]).to_string();
    let wanted = Wanted { modules: &opts.modules, filter: &filter, transforms, selection };
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(jobs) = opts.jobs {
        pool = pool.num_threads(jobs.get());
    }
    let rewritten = pool.build()?.install(|| image::rewrite(&mut image, &wanted, &mut ids));
    let rewritten = rewritten.with_context(|| image_path.display().to_string())?;
    let methods = rewritten.tally.methods.rewritten;
    if takes_patterns && methods == 0 {
        let (include, exclude) = (opts.include.join(" "), opts.exclude.join(" "));
        return Err(usage(format!(
            "--include {include}{}{exclude} leaves no method of this JDK that can be recorded; classes that the recorder itself needs \
             (java.lang, java.nio, jdk.internal and a few more) cannot be",
            if exclude.is_empty() { "" } else { " --exclude " }
        )));
    }

    let mut outputs = Outputs::default();
    let copy = outputs.tree(&opts.output)?;
    home::copy(&home, &copy)?;
    let to = copy.join(home::IMAGE);
    let write = || -> Result<()> {
        let mut out = BufWriter::with_capacity(1 << 20, File::create(&to)?);
        image.write(rewritten.changes, &mut out)?;
        Ok(out.flush()?)
    };
    write().with_context(|| format!("writing {}", to.display()))?;
    let mark = copy.join(RECORDING_JDK);
    let version = concat!("instrument ", env!("CARGO_PKG_VERSION"), "\n");
    std::fs::write(&mark, version).with_context(|| format!("writing {}", mark.display()))?;
    if let Some(path) = &opts.account {
        outputs.file(path, None, &account_lines(&rewritten.records)?)?;
    }
    let archives =
        start::make_archives(&home, &copy).context("the rewritten JDK has failed its start-up test")?;
    let seen = start::test(&home, &copy, &rewritten.ids, archives > 0)
        .context("the rewritten JDK has failed its start-up test; leave out classes with --exclude")?;
    if let Some(file) = &mut id_file {
        file.append(&ids)?;
    }
    outputs.commit()?;

    say(opts, &rewritten.tally, archives, seen, talk)?;
    Ok(Exit::Done)
}

/// The lines of the account.
fn account_lines(records: &[(String, ClassRecord)]) -> Result<Vec<u8>> {
    let mut lines = Vec::new();
    for (at, record) in records {
        let (module, entry) = at.split_once('!').unwrap_or((at, ""));
        account::with_record(Some(module), Some(entry), record, |record| {
            account::write_lines(record, &mut lines)
        })?;
    }
    Ok(lines)
}

/// Says what was made: `archives` of shared class data, and what was recorded in the start-up test.
fn say(opts: &Opts, tally: &Tally, archives: usize, seen: usize, talk: &Talk) -> Result<()> {
    let (classes, methods) = (tally.classes.rewritten, tally.methods.rewritten);
    talk.note(format_args!(
        "{} of {} rewritten; {} of shared class data; {} were recorded in the start-up test -> {}",
        number(methods, "method"),
        number(classes, "class"),
        number(archives as u64, "archive"),
        seen,
        opts.output.display()
    ));
    if tally.skipped() > 0 {
        talk.warn(format_args!(
            "skipped: {}, {}; --account FILE says which and why",
            number(tally.classes.skipped, "class"),
            number(tally.methods.skipped, "method")
        ));
    }
    if opts.json {
        let result = json!({
            "output": opts.output.display().to_string(), "classes": classes, "methods": methods,
            "archives": archives, "recorded_in_test": seen,
        });
        writeln!(std::io::stdout().lock(), "{result}")?;
    }
    Ok(())
}

/// A directory is replaced only if it is a JDK that this command made.
fn check_target(target: &Path, home: &Path) -> Result<()> {
    let named = target.display();
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let place = parent.canonicalize().with_context(|| parent.display().to_string())?;
    let place = place.join(target.file_name().unwrap_or_default());
    let there = target.canonicalize();
    let place = there.as_ref().unwrap_or(&place);
    if home.starts_with(place) || place.starts_with(home) {
        return Err(usage(format!(
            "-o {named}: is, holds, or lies in {}, which is the input",
            home.display()
        )));
    }
    let Ok(there) = there else { return Ok(()) };
    let is_empty = there.read_dir().is_ok_and(|mut entries| entries.next().is_none());
    if is_empty || open_image(&there).and_then(|mut image| image::is_rewritten(&mut image)).unwrap_or(false) {
        return Ok(());
    }
    Err(usage(format!("-o {named}: there is something that this command has not made; remove it first")))
}
