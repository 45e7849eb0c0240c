//! `instrument rewrite`, the default command: inputs to outputs, with ids, an account and a summary.
//!
//! 1. Resolve the settings, decide on all outputs, find the files: whatever can be refused is refused before anything is written.
//! 2. Lock and read the shared id file, if there is one.
//! 3. Let the [`engine`] rewrite; its outputs are staged beside their targets.
//! 4. Append the new ids and wait until they are on disk: an output never has ids that the file does not know.
//! 5. Rename the outputs into place, and say what was done.

use crate::io::exit::{Exit, usage};
use crate::io::output::Outputs;
use crate::io::progress::Progress;
use crate::io::talk::Talk;
use crate::options::settings::{self, Settings};
use crate::rewriting::engine::{self, FileKind, InputFile, Sink, Unit, UnitKind, WriteContent};
use crate::rewriting::id_file::IdFile;
use crate::rewriting::input::{self, Job};
use crate::rewriting::launcher::Launcher;
use crate::rewriting::tree::{self, Tree};
use anyhow::{Context, Result};
use instrument_control::word::{Record, Transform};
use instrument_names::id_map::{ENTRY_NAME, IdMap, gz};
use instrument_rewriter::account::{self, ClassRecord, Outcome, Tally};
use serde::Serialize;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Rewrite archives, class files and directories (the default command)
///
/// Without -o, X.jar becomes X-instrumented.jar beside it. Options come from the command line, from INSTRUMENT_* in the environment, from
/// instrument.toml, in this order.
#[derive(Debug, clap::Args)]
pub(crate) struct Opts {
    /// Jars, wars, ears, class files, directories
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    /// Where to write; a directory if there are several inputs
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,

    /// Replace the inputs
    #[arg(long, conflicts_with = "output")]
    in_place: bool,

    /// Leave an input that was instrumented before as it is, and succeed
    ///
    /// With -o it is copied, so that the output is there; else nothing is written for it. With which options it was instrumented is not
    /// compared.
    #[arg(long)]
    if_needed: bool,

    /// Let `java -jar` record all remote calls (--transform rmi) without the native agent, under the JDK in this directory; repeatable
    ///
    /// Stubs are dynamic proxies, which have no class file: only the JDK's own classes can tell of the calls that they make. The jar gets a
    /// Launcher-Agent-Class, which redefines these classes when the program starts. Their new bytes are made now, for exactly the JDKs (9 or
    /// later; 11, 17, 21 and 25 are tested) that are named; under any other the program says that calls are missing. The JVM may print a
    /// warning that it shares less class data. `instrument jdk-patch` does the same for programs that are not started with -jar.
    #[arg(long, value_name = "JAVA_HOME")]
    launcher_agent: Vec<PathBuf>,

    /// Print a summary as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    settings: settings::Opts,
}

/// Bytes that are written to a file at a time.
const BUFFER: usize = 1 << 20;

/// The `--json` summary.
#[derive(Serialize)]
struct Summary<'a> {
    outputs: Vec<OutputSummary>,
    /// Inputs that were instrumented before (`--if-needed`).
    left: Vec<String>,
    #[serde(flatten)]
    tally: &'a Tally,
    ids: IdSummary,
    /// What was in effect, wherever it came from.
    options: &'a Settings,
}

#[derive(Serialize)]
struct OutputSummary {
    input: String,
    output: String,
}

#[derive(Serialize)]
struct IdSummary {
    file: Option<String>,
    new: usize,
    total: usize,
}

/// [`engine::run`], or what a test puts in its place.
type Engine = fn(&[Unit], &Settings, &mut IdMap, &mut dyn Sink) -> Result<Tally>;

pub(crate) fn run(opts: Opts, talk: &Talk) -> Result<Exit> {
    run_with(opts, talk, engine::run)
}

fn run_with(opts: Opts, talk: &Talk, engine: Engine) -> Result<Exit> {
    let mut settings = Settings::resolve(opts.settings, talk)?;
    if settings.record == Record::Off {
        // It is said to the program when it runs, and to this command only because both read the same environment.
        talk.note(format_args!("record=off is about a run: the program will record, unless it is started with INSTRUMENT_RECORD=off"));
        settings.record = Record::Tree;
    }
    if !opts.launcher_agent.is_empty() && !settings.transforms.contains(&Transform::Rmi) {
        return Err(usage(
            "--launcher-agent is for remote calls, and rmi is not among the transforms; add --transform method-events,rmi",
        ));
    }
    settings.launcher = Launcher::of(&opts.launcher_agent)?;
    let jobs = input::plan(&opts.inputs, opts.output.as_deref(), opts.in_place, opts.if_needed)?;
    check_side_files(&settings, &jobs)?;
    let (left, jobs): (Vec<_>, Vec<_>) = jobs.into_iter().partition(|job| job.left);
    let (units, trees) = find_files(&jobs)?;

    let (mut id_file, mut ids) = match &settings.ids {
        Some(path) => IdFile::open(path, talk).map(|(file, map)| (Some(file), map))?,
        None => (None, IdMap::new()),
    };
    let known_ids = ids.len();
    if !jobs.is_empty() {
        engine::restrict_to_subclasses(&units, &mut settings)?;
        engine::resolve_roots(&units, &mut settings)?;
    }

    let mut staging = Staging::new(&jobs, &units, &settings, talk)?;
    staging.record_what_is_not_followed(&trees)?;
    let rewritten = engine(&units, &settings, &mut ids, &mut staging)?;
    let (mut outputs, mut tally) = staging.finish(&trees, &settings)?;
    tally.add(&rewritten);
    if let Some(file) = &mut id_file {
        file.append(&ids)?;
    }
    left.iter().try_for_each(|job| copy(job, &mut outputs))?;
    outputs.commit()?;

    for job in &left {
        let copied = if job.in_place() { "" } else { " and copied" };
        talk.note(format_args!("{}: already instrumented; left as it is{copied}", job.input.display()));
    }
    for job in &jobs {
        talk.note(format_args!("{} -> {}", job.input.display(), job.output.display()));
    }
    if !jobs.is_empty() {
        say_what_was_done(&tally, &settings, talk);
    }
    let homeless = |job: &&Job| job.kind == UnitKind::ClassFile && settings.ids.is_none();
    if tally.methods.rewritten > 0
        && let Some(job) = jobs.iter().find(homeless)
    {
        talk.warn(format_args!(
            "{}: a class file cannot contain its id map; --ids FILE keeps it",
            job.input.display()
        ));
    }
    if opts.json {
        let output = |job: &Job| OutputSummary {
            input: job.input.display().to_string(),
            output: job.output.display().to_string(),
        };
        let summary = Summary {
            outputs: jobs.iter().map(output).collect(),
            left: left.iter().map(|job| job.input.display().to_string()).collect(),
            tally: &tally,
            ids: IdSummary {
                file: settings.ids.as_ref().map(|path| path.display().to_string()),
                new: ids.len() - known_ids,
                total: ids.len(),
            },
            options: &settings,
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}", serde_json::to_string(&summary)?)?;
    }
    Ok(if settings.strict && tally.skipped() + tally.unmatched > 0 { Exit::Partial } else { Exit::Done })
}

/// Stages a copy of an input that needs nothing, if its output is to be another file.
fn copy(job: &Job, outputs: &mut Outputs) -> Result<()> {
    if job.in_place() {
        return Ok(());
    }
    if let Some(directory) = job.target.parent() {
        outputs.create_directory(directory)?;
    }
    if job.kind == UnitKind::Directory {
        let root = outputs.tree(&job.target)?;
        return Tree::read(&job.source)?.copy_all(&job.source, &root);
    }
    let read = || -> Result<_> { Ok((fs::read(&job.source)?, job.source.metadata()?.permissions())) };
    let (bytes, permissions) = read().with_context(|| job.input.display().to_string())?;
    outputs.file(&job.target, Some(permissions), &bytes)
}

fn say_what_was_done(tally: &Tally, settings: &Settings, talk: &Talk) {
    let (classes, methods) = (&tally.classes, &tally.methods);
    talk.note(format_args!(
        "{} of {} rewritten; {} unchanged, {} excluded",
        number(methods.rewritten, "method"),
        number(classes.rewritten, "class"),
        number(classes.unchanged, "class"),
        classes.excluded
    ));
    let filters = settings.filters();
    if methods.rewritten == 0 && classes.excluded + methods.excluded > 0 && !filters.is_empty() {
        talk.warn(format_args!("nothing was rewritten: {filters} leaves no method with code"));
    }
    if tally.skipped() > 0 {
        talk.warn(format_args!(
            "skipped: {}, {}; --verbose or --report says which and why",
            number(classes.skipped, "class"),
            number(methods.skipped, "method")
        ));
    }
}

/// `1 class`, `2 classes`.
fn number(count: u64, noun: &str) -> String {
    let ending = match (count, noun.ends_with('s')) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{count} {noun}{ending}")
}

/// The account and the id file must not be an input, an output, or each other.
fn check_side_files(settings: &Settings, jobs: &[Job]) -> Result<()> {
    let resolve = |path: &Path| {
        path.canonicalize().or_else(|_| {
            let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            parent.canonicalize().map(|parent| parent.join(path.file_name().unwrap_or_default()))
        })
    };
    let mut taken = Vec::new();
    for (option, path) in [("--ids", &settings.ids), ("--report", &settings.report)] {
        let Some(path) = path else { continue };
        let resolved = resolve(path).with_context(|| format!("{option} {}", path.display()))?;
        if resolved.exists() && !resolved.is_file() {
            return Err(usage(format!("{option} {}: exists and is not a regular file", path.display())));
        }
        for job in jobs {
            let clash = |other: &Path| resolved == other || resolved.starts_with(other);
            if clash(&job.source) || clash(&job.target) {
                let (input, output) = (job.input.display(), job.output.display());
                return Err(usage(format!(
                    "{option} {}: is, or lies in, {input} or {output}",
                    path.display()
                )));
            }
        }
        if taken.contains(&resolved) {
            return Err(usage(format!("{option} {}: --ids and --report are the same file", path.display())));
        }
        taken.push(resolved);
    }
    Ok(())
}

/// The files of each job; the trees of those that are directories.
fn find_files(jobs: &[Job]) -> Result<(Vec<Unit>, Vec<Option<Tree>>)> {
    let mut units = Vec::with_capacity(jobs.len());
    let mut trees = Vec::with_capacity(jobs.len());
    for job in jobs {
        let label = job.input.display().to_string();
        let mut tree = None;
        let files = match job.kind {
            UnitKind::Directory => {
                let found = tree.insert(Tree::read(&job.source).with_context(|| label.clone())?);
                std::mem::take(&mut found.inputs)
            }
            UnitKind::Archive | UnitKind::ClassFile => {
                let kind =
                    if job.kind == UnitKind::Archive { FileKind::Archive } else { FileKind::ClassFile };
                let size = job.source.metadata().with_context(|| label.clone())?.len();
                vec![InputFile { path: job.source.clone(), entry: None, kind, size }]
            }
        };
        units.push(Unit { label, kind: job.kind, files });
        trees.push(tree);
    }
    Ok((units, trees))
}

/// Takes what the engine makes, and stages it.
struct Staging<'a> {
    jobs: &'a [Job],
    units: &'a [Unit],
    /// Where each directory is built that is not rewritten in place.
    roots: Vec<Option<PathBuf>>,
    outputs: Outputs,
    report: Option<BufWriter<NamedTempFile>>,
    tally: Tally,
    progress: Progress,
    talk: &'a Talk,
}

impl<'a> Staging<'a> {
    fn new(jobs: &'a [Job], units: &'a [Unit], settings: &Settings, talk: &'a Talk) -> Result<Staging<'a>> {
        let replaces = jobs.iter().any(Job::in_place);
        let mut outputs = if replaces { Outputs::in_place() } else { Outputs::default() };
        let mut roots = Vec::with_capacity(jobs.len());
        for job in jobs {
            if let Some(directory) = job.target.parent() {
                outputs.create_directory(directory)?;
            }
            let builds = job.kind == UnitKind::Directory && !job.in_place();
            roots.push(if builds { Some(outputs.tree(&job.target)?) } else { None });
        }
        let report = settings.report.as_deref().map(Outputs::open).transpose()?.map(BufWriter::new);
        let total = units.iter().flat_map(|unit| &unit.files).map(|file| file.size).sum();
        let progress = Progress::new(total, talk);
        Ok(Staging { jobs, units, roots, outputs, report, tally: Tally::default(), progress, talk })
    }

    /// Accounts for what is in a directory and cannot be rewritten there.
    fn record_what_is_not_followed(&mut self, trees: &[Option<Tree>]) -> Result<()> {
        let units = self.units;
        for (unit, tree) in units.iter().zip(trees) {
            let Some(tree) = tree else { continue };
            let special =
                tree.special.iter().map(|path| (path, "not-a-file", "neither file nor directory; left out"));
            let leaving = tree
                .leaving
                .iter()
                .map(|path| (path, "symlink", "a link out of the directory, kept as it is"));
            for (path, reason, detail) in special.chain(leaving) {
                self.record(&ClassRecord {
                    input: Some(&unit.label),
                    entry: Some(&tree::entry_name(path)),
                    class: None,
                    outcome: Outcome::Skipped,
                    reason: Some(reason),
                    detail: Some(detail),
                    methods: &[],
                })?;
            }
        }
        Ok(())
    }

    /// Copies what the engine did not see, and closes the account.
    fn finish(self, trees: &[Option<Tree>], settings: &Settings) -> Result<(Outputs, Tally)> {
        let mut outputs = self.outputs;
        for ((job, root), tree) in self.jobs.iter().zip(&self.roots).zip(trees) {
            if let (Some(root), Some(tree)) = (root, tree) {
                mark(root).with_context(|| job.output.display().to_string())?;
                tree.copy_rest(&job.source, root)?;
            }
        }
        if let (Some(report), Some(path)) = (self.report, &settings.report) {
            let file = report.into_inner().map_err(|error| error.into_error());
            outputs.stage(path, None, file.with_context(|| path.display().to_string())?)?;
        }
        Ok((outputs, self.tally))
    }
}

impl Sink for Staging<'_> {
    fn wants_records(&self) -> bool {
        self.report.is_some() || self.talk.is_verbose()
    }

    fn record(&mut self, record: &ClassRecord<'_>) -> Result<()> {
        if record.class.is_none() && record.outcome == Outcome::Skipped {
            self.tally.classes.skipped += u64::from(record.reason != Some("not-a-class"));
        }
        let input = record.input.unwrap_or_default();
        let class = record.class.or(record.entry).unwrap_or(input);
        if record.outcome == Outcome::Skipped {
            let reason = record.detail.or(record.reason).unwrap_or("no reason given");
            self.talk.detail(format_args!("{}: {class} skipped: {reason}", input));
        }
        for method in record.methods.iter().filter(|method| method.outcome == Outcome::Skipped) {
            let reason = method.detail.or(method.reason).unwrap_or("no reason given");
            let (name, descriptor) = (method.name, method.descriptor);
            self.talk.detail(format_args!("{}: {class}#{name}{descriptor} skipped: {reason}", input));
        }
        if let Some(report) = &mut self.report {
            account::write_lines(record, report).context("writing the report")?;
        }
        Ok(())
    }

    fn output(&mut self, unit: usize, file: usize, bytes: Option<&[u8]>) -> Result<()> {
        let (job, file) = (&self.jobs[unit], &self.units[unit].files[file]);
        if job.in_place() && bytes.is_none() {
            return Ok(());
        }
        let context = || file.path.display().to_string();
        if let Some(root) = &self.roots[unit] {
            let path = root.join(file.path.strip_prefix(&job.source)?);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).with_context(context)?;
            }
            return match bytes {
                None => tree::copy_file(&file.path, &path),
                Some(bytes) => write_like(&file.path, &path, bytes).with_context(context),
            };
        }
        let target = if job.kind == UnitKind::Directory { &file.path } else { &job.target };
        let permissions = file.path.metadata().with_context(context)?.permissions();
        match bytes {
            Some(bytes) => self.outputs.file(target, Some(permissions), bytes),
            None => {
                let mut copy = Outputs::open(target)?;
                let mut original = fs::File::open(&file.path).with_context(context)?;
                std::io::copy(&mut original, &mut copy).with_context(context)?;
                self.outputs.stage(target, Some(permissions), copy)
            }
        }
    }

    fn archive(&mut self, unit: usize, file: usize, write: WriteContent<'_>) -> Result<()> {
        let (job, file) = (&self.jobs[unit], &self.units[unit].files[file]);
        let context = || file.path.display().to_string();
        let permissions = file.path.metadata().with_context(context)?.permissions();
        if let Some(root) = &self.roots[unit] {
            let path = root.join(file.path.strip_prefix(&job.source)?);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).with_context(context)?;
            }
            let mut out = BufWriter::with_capacity(BUFFER, fs::File::create(&path).with_context(context)?);
            write(&mut out)?;
            out.flush().with_context(context)?;
            return fs::set_permissions(&path, permissions).with_context(context);
        }
        let target = if job.kind == UnitKind::Directory { &file.path } else { &job.target };
        let mut out = BufWriter::with_capacity(BUFFER, Outputs::open(target)?);
        write(&mut out)?;
        let out = out.into_inner().map_err(|error| error.into_error()).with_context(context)?;
        self.outputs.stage(target, Some(permissions), out)
    }

    fn beside(&mut self, unit: usize, name: &str, bytes: &[u8]) -> Result<()> {
        let job = &self.jobs[unit];
        self.talk.note(format_args!("runtime -> {}", job.output.with_file_name(name).display()));
        self.outputs.file(&job.target.with_file_name(name), None, bytes)
    }

    fn note(&self, message: std::fmt::Arguments<'_>) {
        self.talk.note(message);
    }

    fn warn(&self, message: std::fmt::Arguments<'_>) {
        self.talk.warn(message);
    }

    fn extra(&mut self, unit: usize, name: &str, bytes: &[u8]) -> Result<()> {
        let job = &self.jobs[unit];
        match &self.roots[unit] {
            Some(root) => {
                let path = root.join(name);
                let write = || {
                    fs::create_dir_all(path.parent().unwrap_or(root))?;
                    fs::write(&path, bytes)
                };
                write().with_context(|| job.output.join(name).display().to_string())
            }
            None => self.outputs.file(&job.target.join(name), None, bytes),
        }
    }

    fn advance(&mut self, bytes: u64, name: &str) {
        self.progress.advance(bytes, name);
    }
}

/// Gives a directory that has no id map an empty one: a later run tells by it that it may replace the directory.
fn mark(root: &Path) -> std::io::Result<()> {
    let map = root.join(ENTRY_NAME);
    if map.exists() {
        return Ok(());
    }
    let mut text = Vec::new();
    IdMap::new().write_part(Vec::new(), &mut text);
    fs::create_dir_all(map.parent().unwrap_or(root))?;
    fs::write(map, gz::compress(&text))
}

/// Writes a new file with the permissions of another.
fn write_like(original: &Path, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    fs::write(path, bytes)?;
    fs::set_permissions(path, original.metadata()?.permissions())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cli, Command};
    use clap::Parser;
    use instrument_names::id_map::MethodInfo;
    use instrument_rewriter::account::MethodRecord;

    /// Appends a byte to every file, gives every file one id, and skips a method.
    fn fake(units: &[Unit], _: &Settings, ids: &mut IdMap, sink: &mut dyn Sink) -> Result<Tally> {
        let mut tally = Tally::default();
        for (unit_index, unit) in units.iter().enumerate() {
            for (index, file) in unit.files.iter().enumerate() {
                let mut bytes = fs::read(&file.path)?;
                let class = ids.begin_class(file.path.file_name().unwrap().as_encoded_bytes(), None)?;
                let run = MethodInfo { name: b"run", descriptor: b"()V", line: 0, flags: 1, fingerprint: 0 };
                let id = ids.assign(class, &run)?;
                let method = |name, outcome, id| MethodRecord {
                    name,
                    descriptor: "()V",
                    outcome,
                    reason: None,
                    detail: None,
                    id,
                };
                let methods =
                    [method("run", Outcome::Rewritten, Some(id)), method("big", Outcome::Skipped, None)];
                sink.record(&ClassRecord {
                    input: Some(&unit.label),
                    entry: file.entry.as_deref(),
                    class: Some("X"),
                    outcome: Outcome::Rewritten,
                    reason: None,
                    detail: None,
                    methods: &methods,
                })?;
                tally.methods.skipped += 1;
                bytes.push(b'!');
                sink.output(unit_index, index, Some(&bytes))?;
            }
            if unit.kind == UnitKind::Directory {
                sink.extra(unit_index, "extra/file", b"extra")?;
            }
        }
        Ok(tally)
    }

    fn fails_at_the_end(
        units: &[Unit],
        settings: &Settings,
        ids: &mut IdMap,
        sink: &mut dyn Sink,
    ) -> Result<Tally> {
        fake(units, settings, ids, sink)?;
        anyhow::bail!("the last class is bad")
    }

    struct Place(tempfile::TempDir);

    impl Place {
        fn new() -> Place {
            let place = Place(tempfile::tempdir().unwrap());
            for (name, text) in [("A.class", "\u{fe}"), ("tree/b/B.class", "B"), ("tree/other", "o")] {
                let path = place.0.path().join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            fs::write(place.0.path().join("A.class"), b"\xca\xfe\xba\xbe").unwrap();
            place
        }

        fn run(&self, line: &str, engine: Engine) -> Result<Exit> {
            let word = |word: &str| match word.strip_prefix('@') {
                Some(name) => self.0.path().join(name).into_os_string(),
                None => word.into(),
            };
            let cli = Cli::try_parse_from(
                ["instrument", "-q", "rewrite"].map(word).into_iter().chain(line.split(' ').map(word)),
            );
            let Ok(Cli { talk, command: Command::Rewrite(opts) }) = cli else { panic!("{line}") };
            run_with(*opts, &Talk::new(&talk), engine)
        }

        fn files(&self) -> Vec<(String, Vec<u8>)> {
            let found = walkdir::WalkDir::new(self.0.path())
                .sort_by_file_name()
                .into_iter()
                .map(|entry| entry.unwrap());
            let name = |path: &Path| path.strip_prefix(self.0.path()).unwrap().display().to_string();
            let read = |path: &Path| if path.is_file() { fs::read(path).unwrap() } else { Vec::new() };
            found.map(|entry| (name(entry.path()), read(entry.path()))).collect()
        }

        fn read(&self, name: &str) -> String {
            String::from_utf8_lossy(&fs::read(self.0.path().join(name)).unwrap()).into_owned()
        }
    }

    #[test]
    fn new_bytes_ids_and_account_arrive_together() {
        let place = Place::new();
        let exit = place.run("@A.class @tree --ids @ids --account @report --strict", fake).unwrap();
        assert_eq!(exit, Exit::Partial, "a method was skipped");
        assert!(place.read("A-instrumented.class").ends_with('!'));
        assert_eq!(place.read("tree-instrumented/b/B.class"), "B!");
        assert_eq!(place.read("tree-instrumented/other"), "o");
        assert_eq!(place.read("tree-instrumented/extra/file"), "extra");
        assert_eq!(place.read("ids").lines().filter(|line| line.contains(" run ()V ")).count(), 2);
        let report = place.read("report");
        assert_eq!(report.lines().count(), 6);
        assert!(report.contains(r#""entry":"b/B.class","class":"X","outcome":"rewritten"}"#), "{report}");
        assert_eq!(place.run("@A.class", fake).unwrap(), Exit::Done, "not strict");
    }

    #[test]
    fn a_second_run_gives_the_same_ids_and_appends_nothing() {
        let place = Place::new();
        place.run("@tree --ids @ids", fake).unwrap();
        let first = place.read("ids");
        fs::remove_dir_all(place.0.path().join("tree-instrumented")).unwrap();
        place.run("@tree --ids @ids", fake).unwrap();
        assert_eq!(place.read("ids"), first);
    }

    #[test]
    fn in_place_rewrites_the_files_of_a_directory() {
        let place = Place::new();
        place.run("@tree @A.class --in-place", fake).unwrap();
        assert_eq!(place.read("tree/b/B.class"), "B!");
        assert_eq!(place.read("tree/other"), "o");
        assert_eq!(place.read("tree/extra/file"), "extra");
        assert_eq!(fs::read(place.0.path().join("A.class")).unwrap(), b"\xca\xfe\xba\xbe!");
    }

    #[test]
    fn a_failed_run_leaves_everything_as_it_was() {
        let place = Place::new();
        let before = place.files();
        for line in [
            "@A.class @tree --ids @ids --account @report",
            "@A.class @tree --in-place --ids @ids",
            "@A.class @tree -o @new",
        ] {
            let error = place.run(line, fails_at_the_end).unwrap_err();
            assert_eq!(error.to_string(), "the last class is bad");
            assert_eq!(place.files(), before, "{line}");
        }
    }
}
