//! Drives one archive, and those nested in it, through a [`ClassRewriter`].
//!
//! For an archive:
//! 1. read its structure; refuse what is instrumented already;
//! 2. walk the entries in order of their local headers. Classes gather in a batch; a full batch is inflated and
//!    planned in parallel, admitted in order, rewritten and deflated in parallel, and written in order. A nested
//!    archive first ends the batch before it, then goes through these same steps, its output in memory; several
//!    of them are deflated in parallel;
//! 3. add the new entries (outermost archive only) and write the end.
//!
//! Signatures and the jar index lie before the classes, but whether they must change is known only after the
//! last one. So an archive that has any keeps its edits in memory until then.

use std::borrow::Cow;
use std::io::Write;

use rayon::prelude::*;

use super::codec::{self, Packed};
use super::directory::{Directory, Entry};
use super::error::{ArchiveError, ErrorKind, Unread};
use super::header::{DEFLATED, FLAGS_ENCRYPTED, STORED};
use super::layout::{Kind, Layout, MODULE_CLASSES, Role};
use super::options::{Budget, Options};
use super::pass::Pass;
use super::splice::{self, Edit};
use super::{ClassRewriter, Location, MARKER, NewEntry, additions, index_list, manifest};

/// What was done with an archive and those nested in it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Kind of the outermost archive.
    pub kind: Option<Kind>,
    /// Bytes written.
    pub written: u64,
    /// Whether anything differs from the input.
    pub changed: bool,
    /// Entries in all archives that were looked into.
    pub entries: u64,
    /// Of these, entries whose own bytes were kept.
    pub copied: u64,
    /// Classes that were planned.
    pub classes: u64,
    /// Of these, rewritten.
    pub rewritten: u64,
    /// Nested archives that were looked into.
    pub nested: u64,
    /// Of these, changed.
    pub nested_changed: u64,
    /// Entries added to the outermost archive.
    pub added: u64,
    /// Signature entries that were removed, and manifests that lost digests.
    pub signatures_removed: Vec<String>,
    /// Classes and nested archives that were copied without a look inside.
    pub skipped: Vec<Skipped>,
}

/// A class or nested archive that was copied without a look inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its [`Location`].
    pub at: String,
    /// Why.
    pub reason: Unread,
}

/// Sends every class of `input` through `rewriter` and writes the resulting archive to `out`.
///
/// `name` is what the archive is called in messages; its suffix (`.war`, `.ear`) may tell its [`Kind`]. After an
/// error, what was written to `out` is incomplete. Parallel work runs on the rayon pool that the caller is in.
pub fn rewrite<R: ClassRewriter>(
    name: &str,
    input: &[u8],
    out: &mut dyn Write,
    rewriter: &mut R,
    options: &Options,
) -> Result<Outcome, ArchiveError> {
    let at = Location::root(name);
    let budget = options.limits.budget(input.len());
    let mut engine = Engine { rewriter, options, budget, outcome: Outcome::default() };
    let written = match engine.archive(input, &at, 0, out)? {
        Some(written) => written,
        None => {
            out.write_all(input).map_err(|error| ArchiveError::new(at, error.into()))?;
            input.len() as u64
        }
    };
    Ok(Outcome { written, ..engine.outcome })
}

struct Engine<'r, R> {
    rewriter: &'r mut R,
    options: &'r Options,
    budget: Budget,
    outcome: Outcome,
}

/// Uncompressed bytes of classes in a batch for each thread: what was just read, and what was just freed, is still in
/// the processor's cache.
const BATCH_OF_A_THREAD: usize = 1 << 20;

/// One class of a batch.
struct Job<'a, P> {
    place: usize,
    class: Cow<'a, [u8]>,
    plan: Option<P>,
    packed: Option<Packed>,
}

/// What to do with an ambiguous archive or entry.
fn skip_if_ambiguous(kind: &ErrorKind, options: &Options) -> Option<Unread> {
    match kind {
        ErrorKind::Ambiguous(what) if options.copy_ambiguous => Some(Unread::Ambiguous(*what)),
        _ => None,
    }
}

/// Why an archive may stay as it is although it cannot be read.
fn unreadable_archive(kind: &ErrorKind, depth: u32, options: &Options) -> Option<Unread> {
    skip_if_ambiguous(kind, options).or_else(|| match kind {
        // The program may well carry a file that is merely named like an archive.
        ErrorKind::NotAnArchive | ErrorKind::Malformed { .. } if depth > 0 => {
            Some(Unread::NotAnArchive(kind.to_string()))
        }
        _ => None,
    })
}

impl<R: ClassRewriter> Engine<'_, R> {
    fn skip(&mut self, at: &Location<'_>, reason: Unread) {
        self.outcome.skipped.push(Skipped { at: at.to_string(), reason });
    }

    /// Rewrites one archive. Returns the length of what was written, or `None`, with nothing written, if it
    /// stays as it is.
    fn archive(
        &mut self,
        bytes: &[u8],
        at: &Location<'_>,
        depth: u32,
        out: &mut dyn Write,
    ) -> Result<Option<u64>, ArchiveError> {
        let fail = |kind| ArchiveError::new(at, kind);
        let directory = match Directory::parse(bytes, self.options.limits.entries) {
            Ok(directory) => directory,
            Err(kind) => {
                self.skip(at, unreadable_archive(&kind, depth, self.options).ok_or_else(|| fail(kind))?);
                return Ok(None);
            }
        };
        let kind = Kind::of(at.name(), &directory);
        refuse_instrumented(&directory).map_err(fail)?;
        self.outcome.entries += directory.entries.len() as u64;
        self.outcome.copied += directory.entries.len() as u64;
        if depth == 0 {
            self.outcome.kind = Some(kind);
        } else {
            self.outcome.nested += 1;
        }

        let mut pass = Pass::new(&directory, at, depth, out, self.options);
        self.entries(&mut pass, kind)?;
        if depth > 0 {
            return self.finish(pass, Vec::new(), None);
        }
        let layout = Layout::of(kind, &directory);
        let asked = self.rewriter.extra_entries(&layout);
        let new_entries = additions::place(asked, &layout, &directory, self.options)
            .map_err(|(name, kind)| ArchiveError::new(at.entry(name.as_bytes()), kind))?;
        self.outcome.added += new_entries.len() as u64;
        self.finish(pass, new_entries, Some(&layout))
    }

    /// Takes the entries of an archive one after the other, classes in batches.
    fn entries(&mut self, pass: &mut Pass<'_, '_, '_>, kind: Kind) -> Result<(), ArchiveError> {
        let (directory, at, depth) = (pass.directory, pass.at, pass.depth);
        let mut batch = Vec::new();
        let mut batch_size = 0;
        let most = self.options.batch.min(rayon::current_num_threads() * BATCH_OF_A_THREAD);
        for (place, &index) in directory.order.iter().enumerate() {
            let entry = &directory.entries[index as usize];
            let role = Role::of(entry);
            let entry_at = at.entry(entry.name).shadowed(entry.shadowed);
            if let Some(what) = entry.ambiguity {
                let kind = ErrorKind::Ambiguous(what);
                let Some(reason) = skip_if_ambiguous(&kind, self.options) else {
                    return Err(ArchiveError::new(entry_at, kind));
                };
                self.skip(&entry_at, reason);
                continue;
            }
            if role == Role::Other {
                // A signed archive's manifest loses its digests at the end.
                if depth == 0 && pass.signature.is_none() && self.extends_manifest(entry) {
                    self.batch(pass, std::mem::take(&mut batch))?;
                    batch_size = 0;
                    self.extend_manifest(pass, place)?;
                }
                continue;
            }
            let is_too_deep = role == Role::Archive && depth >= self.options.limits.depth;
            let reason = match kind.reaches(role, entry.name) {
                false => Some(Unread::OutsideClassPath),
                true if is_too_deep => Some(Unread::Depth),
                true => unreadable(entry),
            };
            if let Some(reason) = reason {
                self.skip(&entry_at, reason);
                continue;
            }
            if entry.method != STORED {
                self.budget.spend(entry.sizes.size).map_err(|kind| ArchiveError::new(entry_at, kind))?;
            }
            match role {
                Role::Class => {
                    let size = entry.sizes.size as usize;
                    if batch_size + size > most && !batch.is_empty() {
                        self.batch(pass, std::mem::take(&mut batch))?;
                        batch_size = 0;
                    }
                    batch.push(place);
                    batch_size += size;
                }
                Role::Archive => {
                    self.batch(pass, std::mem::take(&mut batch))?;
                    batch_size = 0;
                    self.nested(pass, place, &entry_at)?;
                }
                Role::Other => {}
            }
        }
        self.batch(pass, batch)
    }

    /// Takes the classes at `places` through all steps.
    fn batch(&mut self, pass: &mut Pass<'_, '_, '_>, places: Vec<usize>) -> Result<(), ArchiveError> {
        if places.is_empty() {
            return Ok(());
        }
        let (directory, at) = (pass.directory, pass.at);
        let entry = |place: usize| &directory.entries[directory.order[place] as usize];
        let location = |place: usize| {
            let entry = entry(place);
            at.entry(entry.name).shadowed(entry.shadowed)
        };
        let level = self.options.level;

        let rewriter = &*self.rewriter;
        let planned: Vec<_> = places
            .into_par_iter()
            .map(|place| {
                let at = location(place);
                let class =
                    codec::content(directory, entry(place)).map_err(|kind| ArchiveError::new(at, kind))?;
                let plan = rewriter.plan(&at, &class);
                Ok(Job { place, class, plan: Some(plan), packed: None })
            })
            .collect();
        // Not collected as a Result above: the first error in archive order is the one to report.
        let mut jobs = planned.into_iter().collect::<Result<Vec<Job<'_, R::Plan>>, ArchiveError>>()?;

        for job in &mut jobs {
            if let Some(plan) = &mut job.plan {
                self.rewriter.admit(&location(job.place), plan, &job.class);
            }
        }

        let rewriter = &*self.rewriter;
        jobs.par_iter_mut().for_each_init(Vec::new, |new, job| {
            let Some(plan) = &job.plan else { return };
            new.clear();
            if rewriter.rewrite(&location(job.place), plan, &job.class, new) {
                job.packed = Some(codec::pack(&*new, entry(job.place).method, level));
            }
            // The inflated bytes are not needed any more, and a batch has many.
            if let Cow::Owned(_) = job.class {
                job.class = Cow::Borrowed(&[]);
            }
        });

        pass.pack(level)?;
        for Job { place, plan, packed, .. } in jobs {
            self.outcome.classes += 1;
            if let Some(plan) = plan {
                self.rewriter.done(&location(place), plan, packed.is_some());
            }
            if let Some(packed) = packed {
                self.outcome.rewritten += 1;
                self.outcome.copied -= 1;
                pass.edit(place, Edit::Replace(packed))?;
            }
        }
        Ok(())
    }

    /// Takes the nested archive at `place` through all steps.
    fn nested(
        &mut self,
        pass: &mut Pass<'_, '_, '_>,
        place: usize,
        at: &Location<'_>,
    ) -> Result<(), ArchiveError> {
        let entry = pass.entry(place);
        let content = codec::content(pass.directory, entry).map_err(|kind| ArchiveError::new(at, kind))?;
        let held = match content {
            Cow::Owned(_) => entry.sizes.size,
            Cow::Borrowed(_) => 0,
        };
        self.budget.held -= held;
        let mut new = Vec::new();
        let changed = self.archive(&content, at, pass.depth + 1, &mut new)?.is_some();
        self.budget.held += held;
        drop(content);
        if changed {
            self.outcome.nested_changed += 1;
            self.outcome.copied -= 1;
            pass.refuse_signed()?;
            pass.unpacked_size += new.len();
            pass.unpacked.push((place, new));
            if pass.unpacked_size > self.options.batch {
                pass.pack(self.options.level)?;
            }
        }
        Ok(())
    }

    /// Settles what depends on whether anything changed, and writes the end of an archive.
    fn finish(
        &mut self,
        mut pass: Pass<'_, '_, '_>,
        new_entries: Vec<NewEntry>,
        layout: Option<&Layout>,
    ) -> Result<Option<u64>, ArchiveError> {
        let (directory, at) = (pass.directory, pass.at);
        let fail = |kind| ArchiveError::new(at, kind);
        pass.pack(self.options.level)?;
        if pass.signature.is_some() && (pass.edited || !new_entries.is_empty()) {
            pass.refuse_signed()?;
            self.strip_signatures(&mut pass)?;
        }
        if layout.is_some() && !self.options.manifest_attributes.is_empty() && !pass.extended {
            return Err(fail(ErrorKind::NoManifest));
        }
        let at_root = layout.is_some_and(|layout| layout.prefix.is_empty());
        if at_root && !new_entries.is_empty() {
            self.extend_index(&mut pass, &new_entries)?;
        }
        let mut additions = Vec::with_capacity(new_entries.len());
        let mut names = Vec::with_capacity(new_entries.len());
        for NewEntry { name, data, stored } in new_entries {
            names.push(name);
            additions.push(splice::pack_addition(data, stored, self.options.level));
        }
        let named = names.iter().zip(&additions).map(|(name, addition)| (name.as_bytes(), addition));
        let Pass { mut splice, held, .. } = pass;
        let mut held = held.unwrap_or_default();
        held.sort_by_key(|(place, _)| *place);
        for (place, edit) in held {
            splice.edit(place, edit).map_err(|error| fail(error.into()))?;
        }
        let written = splice.finish(named, splice::time_for_additions(directory)).map_err(fail)?;
        if layout.is_some() {
            self.outcome.changed = written.is_some();
        }
        Ok(written)
    }

    /// The content of an entry that is neither class nor archive, if it can be read.
    fn read_other<'a>(
        &mut self,
        directory: &Directory<'a>,
        entry: &Entry<'a>,
        at: &Location<'_>,
    ) -> Result<Option<Cow<'a, [u8]>>, ArchiveError> {
        let fail = |kind| ArchiveError::new(at.entry(entry.name), kind);
        if let Some(reason) = unreadable(entry) {
            self.skip(&at.entry(entry.name), reason);
            return Ok(None);
        }
        self.budget.spend(entry.sizes.size).map_err(fail)?;
        codec::content(directory, entry).map(Some).map_err(fail)
    }

    /// Whether this is the manifest, and more is to be in it. Of several the virtual machine reads one.
    fn extends_manifest(&self, entry: &Entry<'_>) -> bool {
        !self.options.manifest_attributes.is_empty() && manifest::is_manifest(entry.name) && !entry.shadowed
    }

    fn extend_manifest(&mut self, pass: &mut Pass<'_, '_, '_>, place: usize) -> Result<(), ArchiveError> {
        let entry = pass.entry(place);
        let Some(before) = self.read_other(pass.directory, entry, pass.at)? else { return Ok(()) };
        let after = manifest::with_attributes(&before, &self.options.manifest_attributes)
            .map_err(|kind| ArchiveError::new(pass.at.entry(entry.name), kind))?;
        pass.extended = true;
        self.outcome.copied -= 1;
        pass.edit(place, Edit::Replace(codec::pack(after, entry.method, self.options.level)))
    }

    fn strip_signatures(&mut self, pass: &mut Pass<'_, '_, '_>) -> Result<(), ArchiveError> {
        let (directory, at) = (pass.directory, pass.at);
        for (place, &index) in directory.order.iter().enumerate() {
            let entry = &directory.entries[index as usize];
            let edit = if manifest::is_signature(entry.name) {
                Edit::Drop
            } else if manifest::is_manifest(entry.name) {
                let Some(before) = self.read_other(directory, entry, at)? else { continue };
                let mut after = manifest::without_digests(&before);
                if pass.depth == 0 && self.extends_manifest(entry) {
                    after = manifest::with_attributes(&after, &self.options.manifest_attributes)
                        .map_err(|kind| ArchiveError::new(at.entry(entry.name), kind))?;
                    pass.extended = true;
                }
                if after == *before {
                    continue;
                }
                Edit::Replace(codec::pack(after, entry.method, self.options.level))
            } else {
                continue;
            };
            self.outcome.signatures_removed.push(at.entry(entry.name).to_string());
            self.outcome.copied -= 1;
            pass.edit(place, edit)?;
        }
        Ok(())
    }

    fn extend_index(&mut self, pass: &mut Pass<'_, '_, '_>, new: &[NewEntry]) -> Result<(), ArchiveError> {
        let directory = pass.directory;
        for (place, &index) in directory.order.iter().enumerate() {
            let entry = &directory.entries[index as usize];
            if entry.name != index_list::NAME {
                continue;
            }
            let Some(before) = self.read_other(directory, entry, pass.at)? else { continue };
            let names = new.iter().map(|entry| entry.name.as_bytes());
            if let Some(after) = index_list::with_packages(&before, names) {
                self.outcome.copied -= 1;
                pass.edit(place, Edit::Replace(codec::pack(after, entry.method, self.options.level)))?;
            }
        }
        Ok(())
    }
}

/// Why the content of an entry cannot be had.
pub(super) fn unreadable(entry: &Entry<'_>) -> Option<Unread> {
    if entry.flags & FLAGS_ENCRYPTED != 0 {
        Some(Unread::Encrypted)
    } else if entry.method != STORED && entry.method != DEFLATED {
        Some(Unread::Method(entry.method))
    } else {
        None
    }
}

/// Refuses an archive that has the marker where one of the layouts puts it.
pub(super) fn refuse_instrumented(directory: &Directory<'_>) -> Result<(), ErrorKind> {
    let marked = |name: &&[u8]| {
        [&b""[..], b"WEB-INF/classes/", b"BOOT-INF/classes/", MODULE_CLASSES.as_bytes()]
            .iter()
            .any(|root| name.strip_prefix(*root).is_some_and(|rest| rest.starts_with(MARKER.as_bytes())))
    };
    match directory.names().find(marked) {
        Some(name) => {
            let entry = String::from_utf8_lossy(name).into_owned();
            Err(ErrorKind::AlreadyInstrumented { entry })
        }
        None => Ok(()),
    }
}
