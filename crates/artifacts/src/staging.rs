//! Outputs beside their targets until the whole run has succeeded, and the account.

use crate::engine::{Sink, WriteContent};
use crate::input::Job;
use crate::outputs::Outputs;
use crate::settings::Settings;
use crate::tree::{self, Tree};
use crate::unit::{Unit, UnitKind};
use anyhow::{Context, Result};
use instrument_messages::Listener;
use instrument_names::id_map::{ENTRY_NAME, IdMap, gz};
use instrument_rewriter::account::{self, ClassRecord, Outcome, ProbeRecord, Tally};
use instrument_rewriter::reason::Reason;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Bytes that are written to a file at a time.
const BUFFER: usize = 1 << 20;

/// Takes what the engine makes, and stages it.
pub struct Staging<'a> {
    jobs: &'a [Job],
    units: &'a [Unit],
    /// Where each directory is built that is not rewritten in place.
    roots: Vec<Option<PathBuf>>,
    outputs: Outputs,
    report: Option<BufWriter<NamedTempFile>>,
    tally: Tally,
    progress: &'a dyn Fn(u64, &str),
    listener: &'a dyn Listener,
}

impl<'a> Staging<'a> {
    /// `progress` is told of bytes of input that are done, and of which input.
    ///
    /// # Errors
    /// A place for outputs that cannot be written.
    pub fn new(
        jobs: &'a [Job],
        units: &'a [Unit],
        settings: &Settings,
        progress: &'a dyn Fn(u64, &str),
        listener: &'a dyn Listener,
    ) -> Result<Staging<'a>> {
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
        Ok(Staging { jobs, units, roots, outputs, report, tally: Tally::default(), progress, listener })
    }

    /// Accounts for what is in a directory and cannot be rewritten there.
    pub fn record_what_is_not_followed(&mut self, trees: &[Option<Tree>]) -> Result<()> {
        let units = self.units;
        for (unit, tree) in units.iter().zip(trees) {
            let Some(tree) = tree else { continue };
            let special = tree.special.iter().map(|path| (path, Reason::NotAFile));
            let leaving = tree.leaving.iter().map(|path| (path, Reason::Symlink));
            for (path, reason) in special.chain(leaving) {
                self.record(&ClassRecord {
                    input: Some(&unit.label),
                    entry: Some(&tree::entry_name(path)),
                    class: None,
                    outcome: Outcome::Skipped,
                    reason: Some(reason),
                    detail: Some(reason.explanation()),
                    methods: &[],
                })?;
            }
        }
        Ok(())
    }

    /// Accounts for a rule of `--probes`.
    pub fn probe(&mut self, record: &ProbeRecord<'_>) -> Result<()> {
        match &mut self.report {
            Some(report) => account::write_probe(record, report).context("writing the report"),
            None => Ok(()),
        }
    }

    /// Copies what the engine did not see, and closes the account.
    pub fn finish(self, trees: &[Option<Tree>], settings: &Settings) -> Result<(Outputs, Tally)> {
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
        self.report.is_some() || self.listener.wants_details()
    }

    fn record(&mut self, record: &ClassRecord<'_>) -> Result<()> {
        if record.class.is_none() && record.outcome == Outcome::Skipped {
            self.tally.classes.skipped += u64::from(record.reason != Some(Reason::NotAClass));
        }
        let input = record.input.unwrap_or_default();
        let class = record.class.or(record.entry).unwrap_or(input);
        if record.outcome == Outcome::Skipped {
            let reason = record.detail.or(record.reason.map(Reason::as_str)).unwrap_or("no reason given");
            self.listener.detail(format_args!("{}: {class} skipped: {reason}", input));
        }
        for method in record.methods.iter().filter(|method| method.outcome == Outcome::Skipped) {
            let reason = method.detail.or(method.reason.map(Reason::as_str)).unwrap_or("no reason given");
            let (name, descriptor) = (method.name, method.descriptor);
            self.listener.detail(format_args!("{}: {class}#{name}{descriptor} skipped: {reason}", input));
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
        self.listener.note(format_args!("runtime -> {}", job.output.with_file_name(name).display()));
        self.outputs.file(&job.target.with_file_name(name), None, bytes)
    }

    fn note(&self, message: std::fmt::Arguments<'_>) {
        self.listener.note(message);
    }

    fn warn(&self, message: std::fmt::Arguments<'_>) {
        self.listener.warn(message);
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
        (self.progress)(bytes, name);
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
