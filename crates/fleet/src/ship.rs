//! Finished profiles from a host to a folder that many hosts write into.
//!
//! [`store`] is that folder, [`source`] what the files of the host are. Files are taken one after the other, as the
//! folders are walked: nothing is queued, so neither memory nor open files grow with what there is to ship.

mod source;
mod store;

use anyhow::{Context, Result};
use instrument_analysis::session::file::maps;
use instrument_analysis::text::quantity;
use instrument_messages::Listener;
use source::State;
use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use store::{Content, Failure, Put, Store};
use walkdir::WalkDir;

/// Files whose state is kept between two looks. Past that all of them are looked at again.
const KNOWN: usize = 100_000;

/// What identifies the bytes of a file without reading it.
type Stamp = (u64, Option<SystemTime>);

/// What was found of a file the last time.
enum Seen {
    /// It is done with, as long as it stays as it is.
    Done(Stamp),
    /// This process wrote to it.
    Live(u64),
}

/// Outcome of the files in one look.
#[derive(Debug, Default)]
pub struct Tally {
    pub copied: u64,
    bytes: u64,
    /// Their bytes were there already.
    pub there: u64,
    waiting: u64,
    deleted: u64,
    /// Damaged, or not to be read.
    pub left: u64,
}

/// What is shipped, and how.
#[derive(Debug)]
pub struct Options {
    /// Folders, with all below them, or profiles.
    pub inputs: Vec<PathBuf>,
    /// For how long a profile that nobody ended must not have changed.
    pub settled: Duration,
    /// Profiles that their programs have ended are removed here once their copies were read back.
    pub delete: bool,
    /// There is more than one look: what is known of a file is kept.
    pub watch: bool,
}

/// Ships files, one after the other.
pub struct Shipper<'a> {
    opts: Options,
    listener: &'a dyn Listener,
    store: Store,
    seen: HashMap<PathBuf, Seen>,
    tally: Tally,
}

impl<'a> Shipper<'a> {
    /// To this folder.
    ///
    /// # Errors
    /// There is no such folder.
    pub fn new(opts: Options, to: &Path, listener: &'a dyn Listener) -> Result<Shipper<'a>> {
        let store = Store::open(to)?;
        Ok(Shipper { opts, listener, store, seen: HashMap::new(), tally: Tally::default() })
    }

    /// Outcome of the files so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Looks at all files once, and ships those that are finished.
    ///
    /// # Errors
    /// The folder cannot be written to.
    pub fn look(&mut self) -> Result<()> {
        self.store.check()?;
        self.tally.waiting = 0;
        for input in self.opts.inputs.clone() {
            let input = &input;
            if fs::metadata(input).is_ok_and(|about| about.is_file()) {
                self.file(input)?;
                continue;
            }
            let mut walk = WalkDir::new(input).into_iter();
            while let Some(entry) = walk.next() {
                let entry = match entry {
                    Ok(entry) => entry,
                    // What is gone meanwhile is nobody's business.
                    Err(error)
                        if error.io_error().is_some_and(|e| e.kind() == std::io::ErrorKind::NotFound) =>
                    {
                        continue;
                    }
                    Err(error) => {
                        self.left(error.path().unwrap_or(input), &error.to_string());
                        continue;
                    }
                };
                if entry.file_type().is_dir() && self.store.is(entry.path()) {
                    walk.skip_current_dir();
                } else if entry.file_type().is_file() && !entry.file_name().to_string_lossy().starts_with('.')
                {
                    self.file(entry.path())?;
                }
            }
        }
        Ok(())
    }

    /// Ships a file if it is finished.
    ///
    /// # Errors
    /// The folder cannot be written to: all others would fail as well.
    fn file(&mut self, path: &Path) -> Result<()> {
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
        let (about, mut file) = match opened {
            Ok(opened) => opened,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => {
                // Without a stamp it would be told again at each look.
                if !self.seen.contains_key(path) {
                    self.left(path, &error.to_string());
                    self.remember(path, Seen::Done((0, None)));
                }
                return Ok(());
            }
        };
        let stamp = stamp(&about);
        match self.seen.get(path) {
            Some(Seen::Done(known)) if *known == stamp => return Ok(()),
            Some(Seen::Live(pid)) if maps(*pid, path) => {
                self.tally.waiting += 1;
                return Ok(());
            }
            _ => {}
        }
        match source::look(&file, path, self.opts.settled) {
            State::Other => self.remember(path, Seen::Done(stamp)),
            State::Live(pid) => {
                self.tally.waiting += 1;
                self.listener.detail(format_args!(
                    "{}: process {pid} is still writing; left for later",
                    path.display()
                ));
                self.remember(path, Seen::Live(pid));
            }
            State::Unsettled => {
                self.tally.waiting += 1;
                let settled = humantime::format_duration(self.opts.settled);
                self.listener
                    .detail(format_args!("{}: changed within {settled}; left for later", path.display()));
            }
            State::Damaged(reason) => {
                self.left(path, &reason);
                self.remember(path, Seen::Done(stamp));
            }
            State::Finished { day, is_ended } => self.ship(path, &mut file, stamp, &day, is_ended)?,
        }
        Ok(())
    }

    fn ship(&mut self, path: &Path, file: &mut File, stamp: Stamp, day: &str, is_ended: bool) -> Result<()> {
        let content = match Content::of(file) {
            Ok(content) => content,
            Err(error) => {
                self.left(path, &error.to_string());
                return Ok(());
            }
        };
        let deletes = self.opts.delete && is_ended;
        let put = match self.store.put(file, &content, day, deletes) {
            Ok(put) => put,
            Err(Failure::Changed) => {
                self.tally.waiting += 1;
                self.listener
                    .detail(format_args!("{}: changed while it was copied; left for later", path.display()));
                return Ok(());
            }
            Err(Failure::Failed(error)) => {
                let done = self.tally.copied;
                let said = format!(
                    "{}: not shipped; {done} were, and running it again ships the rest",
                    path.display()
                );
                return Err(error).context(said);
            }
        };
        match put {
            Put::Copied => {
                self.tally.copied += 1;
                self.tally.bytes += content.length;
                let size = quantity(content.length as f64, "bytes");
                self.listener.detail(format_args!("{}: shipped, {size}", path.display()));
            }
            Put::There => self.tally.there += 1,
        }
        if deletes && is_as_before(path, stamp) {
            match fs::remove_file(path) {
                Ok(()) => self.tally.deleted += 1,
                Err(error) => {
                    self.listener.warn(format_args!("{}: shipped, but not removed: {error}", path.display()))
                }
            }
        } else {
            self.remember(path, Seen::Done(stamp));
        }
        Ok(())
    }

    /// Names a file that stays where it is.
    fn left(&mut self, path: &Path, reason: &str) {
        self.tally.left += 1;
        self.listener.warn(format_args!("{}: left: {reason}", path.display()));
    }

    fn remember(&mut self, path: &Path, seen: Seen) {
        // One look has no use for it.
        if !self.opts.watch {
            return;
        }
        if self.seen.len() >= KNOWN {
            self.seen.clear();
        }
        self.seen.insert(path.to_owned(), seen);
    }
}

fn stamp(about: &Metadata) -> Stamp {
    (about.len(), about.modified().ok())
}

/// Whether a path is still the file that was read, and no link to it.
fn is_as_before(path: &Path, before: Stamp) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_file() && stamp(&about) == before)
}

impl Tally {
    /// In a sentence.
    pub fn line(&self) -> String {
        let Tally { copied, there, waiting, deleted, left, .. } = self;
        let size = quantity(self.bytes as f64, "bytes");
        let noun = if *copied == 1 { "profile" } else { "profiles" };
        let mut line = format!("shipped {copied} {noun}, {size}; {there} were there already");
        let more = [(waiting, "still written"), (deleted, "removed here"), (left, "left, see above")];
        for (count, what) in more.into_iter().filter(|(count, _)| **count > 0) {
            line += &format!("; {count} {what}");
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_counts() {
        let line = |copied, left| Tally { copied, bytes: 2048, left, ..Tally::default() }.line();
        assert_eq!(line(0, 0), "shipped 0 profiles, 2.000 KiB; 0 were there already");
        assert_eq!(line(1, 2), "shipped 1 profile, 2.000 KiB; 0 were there already; 2 left, see above");
    }
}
