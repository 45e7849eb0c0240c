//! Reading archives without rewriting them: every class in archive order, or one entry by name.

use std::borrow::Cow;
use std::ops::ControlFlow;

use super::codec;
use super::directory::{Directory, Entry};
use super::engine::{refuse_instrumented, unreadable};
use super::error::{ArchiveError, ErrorKind, Unread};
use super::header::STORED;
use super::layout::{Kind, Role};
use super::options::{Budget, Limits};
use super::{Location, Skipped, manifest};

/// A class that [`visit_classes`] came by.
#[derive(Debug)]
pub struct Class<'c> {
    /// Where it lies.
    pub at: Location<'c>,
    /// Its bytes, inflated.
    pub bytes: &'c [u8],
}

/// Calls `visit` for every class of the archive and of those nested in it, in archive order, until it breaks.
///
/// "Class" goes by the name, as in [`ClassRewriter`](super::ClassRewriter). Ambiguous entries are visited as the
/// central directory has them. Returns what was left out; nothing is left out for being outside the class path.
pub fn visit_classes(
    name: &str,
    archive: &[u8],
    limits: &Limits,
    visit: &mut dyn FnMut(Class<'_>) -> ControlFlow<()>,
) -> Result<Vec<Skipped>, ArchiveError> {
    read(name, archive, limits, false, visit)
}

/// As [`visit_classes`], without what the class loaders that the archive is for do not reach: what a rewriter leaves as
/// it is.
pub fn visit_reached_classes(
    name: &str,
    archive: &[u8],
    limits: &Limits,
    visit: &mut dyn FnMut(Class<'_>) -> ControlFlow<()>,
) -> Result<Vec<Skipped>, ArchiveError> {
    read(name, archive, limits, true, visit)
}

/// Whether an archive was instrumented before, that is whether [`rewrite`](super::rewrite) would refuse it for this.
///
/// # Errors
/// It is no archive that can be read.
pub fn is_instrumented(name: &str, archive: &[u8], limits: &Limits) -> Result<bool, ArchiveError> {
    match Directory::parse(archive, limits.entries).and_then(|directory| refuse_instrumented(&directory)) {
        Ok(()) => Ok(false),
        Err(ErrorKind::AlreadyInstrumented { .. }) => Ok(true),
        Err(kind) => Err(ArchiveError::new(Location::root(name), kind)),
    }
}

fn read(
    name: &str,
    archive: &[u8],
    limits: &Limits,
    only_reached: bool,
    visit: &mut dyn FnMut(Class<'_>) -> ControlFlow<()>,
) -> Result<Vec<Skipped>, ArchiveError> {
    let budget = limits.budget(archive.len());
    let mut reader = Reader { limits, only_reached, budget, skipped: Vec::new(), visit };
    // Whether it broke off makes no difference to the caller, who knows.
    let _ = reader.archive(archive, &Location::root(name), 0)?;
    Ok(reader.skipped)
}

/// The content of the entry at `path`: the names of nested archives and at last of the entry, as in
/// [`Location`]. `None` if there is none. Of several entries of one name the last is read, as the JVM does it.
pub fn read_entry(
    name: &str,
    archive: &[u8],
    path: &[&[u8]],
    limits: &Limits,
) -> Result<Option<Vec<u8>>, ArchiveError> {
    let mut budget = limits.budget(archive.len());
    let mut bytes = Cow::Borrowed(archive);
    let mut at = name.to_owned();
    for step in path {
        let fail = |kind| ArchiveError::new(&at, kind);
        let found = {
            let directory = Directory::parse(&bytes, limits.entries).map_err(fail)?;
            let Some(entry) = directory.find(step) else { return Ok(None) };
            let next = Location::root(&at).entry(step).to_string();
            let fail = |kind| ArchiveError::new(&next, kind);
            if unreadable(entry).is_some() {
                let detail = "the entry is encrypted or has an unknown compression method";
                return Err(fail(ErrorKind::Malformed { offset: entry.start as u64, detail }));
            }
            if entry.method != STORED {
                budget.spend(entry.sizes.size).map_err(fail)?;
            }
            let content = codec::content(&directory, entry).map_err(fail)?;
            at = next;
            content.into_owned()
        };
        budget.held = budget.held.saturating_sub(found.len() as u64);
        bytes = Cow::Owned(found);
    }
    Ok(Some(bytes.into_owned()))
}

/// The manifest of an archive. `None` if it has none that can be read.
///
/// # Errors
/// The archive cannot be read, or the manifest reaches a limit.
pub fn read_manifest(name: &str, archive: &[u8], limits: &Limits) -> Result<Option<Vec<u8>>, ArchiveError> {
    let fail = |kind| ArchiveError::new(name, kind);
    let directory = Directory::parse(archive, limits.entries).map_err(fail)?;
    let is_manifest = |entry: &&Entry<'_>| manifest::is_manifest(entry.name) && !entry.shadowed;
    let Some(entry) = directory.entries.iter().find(is_manifest) else { return Ok(None) };
    if unreadable(entry).is_some() {
        return Ok(None);
    }
    let mut budget = limits.budget(archive.len());
    budget.spend(entry.sizes.size).map_err(fail)?;
    let content = codec::content(&directory, entry).map_err(fail)?;
    Ok(Some(content.into_owned()))
}

struct Reader<'r> {
    limits: &'r Limits,
    only_reached: bool,
    budget: Budget,
    skipped: Vec<Skipped>,
    visit: &'r mut dyn FnMut(Class<'_>) -> ControlFlow<()>,
}

impl Reader<'_> {
    fn skip(&mut self, at: &Location<'_>, reason: Unread) {
        self.skipped.push(Skipped { at: at.to_string(), reason });
    }

    fn archive(
        &mut self,
        bytes: &[u8],
        at: &Location<'_>,
        depth: u32,
    ) -> Result<ControlFlow<()>, ArchiveError> {
        let directory = match Directory::parse(bytes, self.limits.entries) {
            Ok(directory) => directory,
            Err(kind @ (ErrorKind::NotAnArchive | ErrorKind::Malformed { .. })) if depth > 0 => {
                self.skip(at, Unread::NotAnArchive(kind.to_string()));
                return Ok(ControlFlow::Continue(()));
            }
            Err(kind) => return Err(ArchiveError::new(at, kind)),
        };
        let kind = Kind::of(at.name(), &directory);
        for &index in &directory.order {
            let entry = &directory.entries[index as usize];
            let entry_at = at.entry(entry.name).shadowed(entry.shadowed);
            let fail = |kind| ArchiveError::new(entry_at, kind);
            let role = Role::of(entry);
            if role == Role::Other {
                continue;
            }
            let reason = if self.only_reached && !kind.reaches(role, entry.name) {
                Some(Unread::OutsideClassPath)
            } else if role == Role::Archive && depth >= self.limits.depth {
                Some(Unread::Depth)
            } else {
                unreadable(entry)
            };
            if let Some(reason) = reason {
                self.skip(&entry_at, reason);
                continue;
            }
            let held = if entry.method == STORED { 0 } else { entry.sizes.size };
            self.budget.spend(held).map_err(fail)?;
            let content = codec::content(&directory, entry).map_err(fail)?;
            let flow = if role == Role::Class {
                (self.visit)(Class { at: entry_at, bytes: &content })
            } else {
                self.budget.held -= held;
                let flow = self.archive(&content, &entry_at, depth + 1)?;
                self.budget.held += held;
                flow
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
