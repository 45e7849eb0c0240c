//! Jar bytes to jar bytes: every class of an archive goes through a [`ClassRewriter`], everything else stays.
//!
//! - **Splice.** The output is the input's own bytes around what changed: order, dates, extra fields, comments,
//!   attributes, duplicates, prefix scripts, gaps, data descriptors. If nothing changes, it is the input.
//! - **Kinds.** Jars, wars, ears, Spring Boot jars, and archives nested in them; [`Layout`] says where the
//!   runtime goes so that the class loaders of that kind find it.
//! - **Same bytes for any number of threads.** Classes are looked at and rewritten in parallel (on the rayon
//!   pool that the caller is in), but admitted, where ids are handed out, and written in archive order.
//! - **Hostile input** ends in an [`ArchiveError`]: [`Limits`], checked sizes and CRCs, nothing allocated from
//!   a claim. Where two readers could see two archives, that is an error too.
//!
//! "Archive order" is the order of the local headers; a nested archive takes the place of its entry.
//! ```
//! use instrument_rewriter::archive::{ClassRewriter, Layout, Location, NewEntry, Options, rewrite};
//!
//! /// Touches no class and adds one file.
//! struct AddReadme;
//!
//! impl ClassRewriter for AddReadme {
//!     type Plan = ();
//!     fn plan(&self, _: &Location<'_>, _: &[u8]) {}
//!     fn admit(&mut self, _: &Location<'_>, _: &mut (), _: &[u8]) {}
//!     fn rewrite(&self, _: &Location<'_>, _: &(), _: &[u8], _: &mut Vec<u8>) -> bool {
//!         false
//!     }
//!     fn done(&mut self, _: &Location<'_>, _: (), _: bool) {}
//!     fn extra_entries(&mut self, _: &Layout) -> Vec<NewEntry> {
//!         vec![NewEntry { name: "README".into(), data: b"hello".into(), stored: true }]
//!     }
//! }
//!
//! let empty = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
//! let mut out = Vec::new();
//! let outcome = rewrite("app.jar", empty, &mut out, &mut AddReadme, &Options::default())?;
//! assert_eq!((outcome.added, outcome.classes), (1, 0));
//! assert!(out.windows(5).any(|bytes| bytes == b"hello"));
//! # Ok::<(), instrument_rewriter::archive::ArchiveError>(())
//! ```
//!
//! Sections of PKWARE's APPNOTE.TXT 6.3 are cited where a structure is handled.

mod additions;
mod codec;
mod contents;
mod directory;
mod engine;
mod error;
mod header;
mod index_list;
mod layout;
mod location;
mod manifest;
mod options;
mod pass;
mod read;
mod splice;

pub use additions::create;
pub use contents::{Contents, Listed};
pub use engine::{Outcome, Skipped, rewrite};
pub use error::{Ambiguity, ArchiveError, ErrorKind, Unread};
pub use layout::{Kind, Layout};
pub use location::Location;
pub use manifest::main_attribute;
pub use options::{Limits, Options};
pub use read::{Class, is_instrumented, read_entry, read_manifest, visit_classes, visit_reached_classes};

/// What the archive engine asks of whoever rewrites classes.
///
/// For every class, in this order: [`plan`](Self::plan), [`admit`](Self::admit), [`rewrite`](Self::rewrite),
/// [`done`](Self::done). `plan` and `rewrite` run in parallel, in any order and for several classes at a time;
/// `admit` and `done` on one thread, in archive order. Classes are taken in batches: all of a batch are planned
/// before its first is admitted, and so on, but a later batch is planned only when the one before is done. How
/// classes fall into batches depends on [`Options::batch`]; so the output depends on archive order alone as
/// long as `plan` uses nothing that `admit` or `done` change.
///
/// "Class" means an entry that is named like one (`X.class`, or `X.class/` with data); its bytes may be anything. They
/// are the same slice in the first three calls. No method may fail: what goes wrong with a class is recorded in its
/// plan, and `rewrite` returns false.
pub trait ClassRewriter: Sync {
    /// What is known about one class between the calls.
    type Plan: Send + Sync;

    /// Looks at one class.
    fn plan(&self, at: &Location<'_>, class: &[u8]) -> Self::Plan;

    /// Called for every planned class in archive order. The place to hand out ids.
    fn admit(&mut self, at: &Location<'_>, plan: &mut Self::Plan, class: &[u8]);

    /// Appends the new bytes of the class to `out` (which is empty) and returns true; or returns false, and the
    /// entry stays the input's own bytes.
    fn rewrite(&self, at: &Location<'_>, plan: &Self::Plan, class: &[u8], out: &mut Vec<u8>) -> bool;

    /// Called in archive order after `rewrite`, with what it returned. The place for report lines. The
    /// bytes of the class are gone by now, so that memory holds the old bytes of a batch or the new ones, not both.
    fn done(&mut self, at: &Location<'_>, plan: Self::Plan, rewritten: bool);

    /// New entries for the outermost archive (runtime classes, id map); asked once, after the last class is done.
    fn extra_entries(&mut self, layout: &Layout) -> Vec<NewEntry>;
}

/// An entry to add to the outermost archive.
#[derive(Debug, Clone)]
pub struct NewEntry {
    /// Name from the root of the class path, e.g. `instrument/runtime/HeapProxy.class`; the engine puts
    /// [`Layout::prefix`] before it, or the entry into [`Layout::library`].
    pub name: String,
    /// Uncompressed content.
    pub data: Vec<u8>,
    /// STORED rather than DEFLATED.
    pub stored: bool,
}

/// The folder whose presence says that an archive is already instrumented.
pub const MARKER: &str = "META-INF/instrument/";
