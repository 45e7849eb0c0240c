//! Inputs to outputs, with ids and an account.
//!
//! 1. Decide on all outputs and find the files: whatever can be refused is refused before anything is written.
//! 2. Lock and read the shared id file, if there is one.
//! 3. Let the [`engine`] rewrite; its outputs are staged beside their targets.
//! 4. Append the new ids and wait until they are on disk: an output never has ids that the file does not know.
//! 5. Rename the outputs into place.

use crate::bound;
use crate::engine::{self, Sink};
use crate::id_file::IdFile;
use crate::input::{self, Job};
use crate::outputs::Outputs;
use crate::probes::{Probes, Subject};
use crate::settings::Settings;
use crate::staging::Staging;
use crate::tree::Tree;
use crate::unit::{FileKind, InputFile, Unit, UnitKind};
use crate::verify::{Judge, Judgement};
use anyhow::{Context, Result};
use instrument_control::run::RuleOutcome;
use instrument_messages::{Listener, usage};
use instrument_names::id_map::IdMap;
use instrument_rewriter::account::{ProbeRecord, Tally};
use std::fs;
use std::path::{Path, PathBuf};

/// What is to be rewritten, and into what.
pub struct Request<'a> {
    /// Archives, class files, directories.
    pub inputs: &'a [PathBuf],
    /// Where outputs go, if not beside the inputs.
    pub output: Option<&'a Path>,
    /// Outputs replace the inputs.
    pub in_place: bool,
    /// What was instrumented before is left as it is.
    pub if_needed: bool,
    /// The outputs are judged as by a JVM.
    pub verify: bool,
    /// The rules of calls of the user's own; outputs with such calls are judged as well.
    pub probes: Option<&'a Path>,
    /// Archives and directories with more classes, for both.
    pub class_path: Vec<String>,
    /// The JDK whose judgement is requested, if not that of the `java` on the path.
    pub java_home: Option<PathBuf>,
    /// The command that a name is most like which is no file.
    pub meant_as: &'a dyn Fn(&str) -> Option<String>,
}

pub struct Rewritten {
    /// Inputs with their outputs.
    pub jobs: Vec<Job>,
    /// Inputs that were left as they are.
    pub left: Vec<Job>,
    /// What became of classes and methods.
    pub tally: Tally,
    /// The ids that were known before.
    pub known_ids: usize,
    /// The ids that are known now.
    pub ids: usize,
    /// Whether an output that holds no id map would need one.
    pub needs_ids: bool,
    /// The judge, and its verdicts on the inputs.
    judged: Option<(Judge, Judgement)>,
}

/// Told of bytes of input that are done, and of which input.
pub type Progress = Box<dyn Fn(u64, &str)>;

/// [`engine::run`], or what a test puts in its place.
pub type Engine = fn(&[Unit], &Settings, &mut IdMap, &mut dyn Sink) -> Result<Tally>;

/// Rewrites. `progress` is asked once, with the bytes of all inputs.
///
/// # Errors
/// A request that makes no sense, an input that cannot be read or must be refused, an output that cannot be written.
/// There are no outputs then.
pub fn run(
    request: Request<'_>,
    mut settings: Settings,
    engine: Engine,
    progress: &dyn Fn(u64) -> Progress,
    listener: &dyn Listener,
) -> Result<(Rewritten, Settings)> {
    let jobs =
        input::plan(request.inputs, request.output, request.in_place, request.if_needed, request.meant_as)?;
    check_side_files(&settings, &jobs)?;
    let (left, jobs): (Vec<_>, Vec<_>) = jobs.into_iter().partition(|job| job.left);
    let (units, trees) = find_files(&jobs)?;

    let (mut id_file, mut ids) = match &settings.ids {
        Some(path) => IdFile::open(path, listener).map(|(file, map)| (Some(file), map))?,
        None => (None, IdMap::new()),
    };
    let known_ids = ids.len();
    if !jobs.is_empty() {
        engine::restrict_to_subclasses(&units, &mut settings)?;
    }

    // Before an input is replaced.
    let verifies = (request.verify || request.probes.is_some()) && !jobs.is_empty();
    let mut judge = verifies.then(|| Judge::open(request.java_home, listener)).transpose()?;
    let probes = match (request.probes, &mut judge) {
        (Some(file), Some(judge)) => {
            Some(Probes::open(file, Subject::Inputs(&units), &request.class_path, judge.jdk())?)
        }
        _ => None,
    };
    settings.own_calls = probes.as_ref().map(|probes| probes.rules() as _);
    if let Some(judge) = &mut judge {
        judge.class_path = request.class_path;
    }
    let originals = judge.as_ref().map(|judge| judge.all(&names(&jobs, |job| &job.source))).transpose()?;

    let total = units.iter().flat_map(|unit| &unit.files).map(|file| file.size).sum();
    let progress = progress(total);
    let mut staging = Staging::new(&jobs, &units, &settings, &progress, listener)?;
    staging.record_what_is_not_followed(&trees)?;
    let mut rewritten = engine(&units, &settings, &mut ids, &mut staging)?;
    if let Some(probes) = &probes {
        rewritten.unmatched += account_for_probes(probes, &mut staging, listener)?;
    }
    let (mut outputs, mut tally) = staging.finish(&trees, &settings)?;
    tally.add(&rewritten);
    if let Some(file) = &mut id_file {
        file.append(&ids)?;
    }
    left.iter().try_for_each(|job| copy(job, &mut outputs))?;
    outputs.commit()?;
    let needs_ids = settings.records() || probes.as_ref().is_some_and(Probes::pass_ids);
    let judged = judge.zip(originals);
    let done = Rewritten { jobs, left, tally, known_ids, ids: ids.len(), needs_ids, judged };
    Ok((done, settings))
}

impl Rewritten {
    /// Files beside the outputs that do not fit them any more, a sentence for each.
    pub fn remarks(&self) -> Vec<String> {
        bound::remarks(&self.jobs)
    }

    /// Judges the outputs, if that was requested, and says what is wrong with them that is not with their inputs;
    /// returns how much that is.
    ///
    /// # Errors
    /// An output that cannot be read.
    pub fn verify(&self, listener: &dyn Listener) -> Result<usize> {
        match &self.judged {
            Some((judge, originals)) => {
                judge.outputs(&names(&self.jobs, |job| &job.target), &originals.judged, listener)
            }
            None => Ok(0),
        }
    }
}

fn names(jobs: &[Job], path: fn(&Job) -> &PathBuf) -> Vec<String> {
    jobs.iter().map(|job| path(job).display().to_string()).collect()
}

/// Says what became of each rule; returns how many fit nothing.
fn account_for_probes(
    probes: &Probes<'_>,
    staging: &mut Staging<'_>,
    listener: &dyn Listener,
) -> Result<u64> {
    let outcomes = probes.outcomes()?;
    let file = probes.file();
    for RuleOutcome { rule, methods, places, left, .. } in &outcomes {
        staging.probe(&ProbeRecord { file, rule, places: *places, methods: *methods, left })?;
    }
    for warning in probes.say(&outcomes, listener)? {
        listener.warn(format_args!("{warning}"));
    }
    Ok(outcomes.iter().filter(|outcome| outcome.places == 0).count() as u64)
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

/// The account and the id file must not be an input, an output, or each other.
fn check_side_files(settings: &Settings, jobs: &[Job]) -> Result<()> {
    let resolve = |path: &Path| {
        path.canonicalize().or_else(|_| {
            let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            parent.canonicalize().map(|parent| parent.join(path.file_name().unwrap_or_default()))
        })
    };
    let mut taken = Vec::new();
    for (option, path) in [("--ids", &settings.ids), ("--account", &settings.report)] {
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
            return Err(usage(format!("{option} {}: --ids and --account are the same file", path.display())));
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
