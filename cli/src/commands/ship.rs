//! `instrument ship`: finished profiles from a host to a folder that many hosts write into.
//!
//! [`store`] is that folder, [`source`] what the files of the host are. Files are taken one after the other, as the folders are walked:
//! nothing is queued, so neither memory nor open files grow with what there is to ship.

mod source;
mod store;

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result};
use instrument_analysis::session::file::maps;
use instrument_analysis::text::quantity;
use walkdir::WalkDir;

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use instrument_messages::{Listener, usage};
use source::State;
use store::{Content, Failure, Put, Store};

/// Files whose state is kept between two looks. Past that all of them are looked at again.
const KNOWN: usize = 100_000;
/// A signal is answered after no more than this.
const SOON: Duration = Duration::from_millis(100);

/// Copy finished profiles from this host into a folder, each once, whoever else writes there
///
/// A profile is stored as DAY/SHA256.iprof, by the day on which recording began (UTC) and its bytes: what is there is not copied again, and
/// any number of hosts can write into one folder, such as a network file system or a mounted object store. A name appears when its bytes are
/// on the disk and were read back. Run it again after anything: what is missing is copied. A profile is finished when its program has ended
/// it, or was killed and has changed nothing for a while. What is still written is left for later; what is not whole is left and named, with
/// exit code 1.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Opts {
    /// Folders, with all below them, or profiles
    #[arg(required = true, value_name = "DIR|FILE")]
    inputs: Vec<PathBuf>,
    /// The folder to copy to; it has to be there
    #[arg(long, value_name = "PATH")]
    to: PathBuf,
    /// Go on until a signal ends it: look again and again; on SIGTERM or SIGINT once more, and end
    #[arg(long)]
    watch: bool,
    /// --watch: time between two looks
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = humantime::parse_duration, requires = "watch")]
    interval: Duration,
    /// For how long a profile that nobody ended must not have changed
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = humantime::parse_duration)]
    settled: Duration,
    /// Remove profiles that their programs have ended, once their copies were read back; those of killed programs stay
    #[arg(long)]
    delete: bool,
}

/// What identifies the bytes of a file without reading it.
type Stamp = (u64, Option<SystemTime>);

/// What was found of a file the last time.
enum Seen {
    /// It is done with, as long as it stays as it is.
    Done(Stamp),
    /// This process wrote to it.
    Live(u64),
}

/// What became of the files in one look.
#[derive(Debug, Default)]
struct Tally {
    copied: u64,
    bytes: u64,
    there: u64,
    waiting: u64,
    deleted: u64,
    /// Damaged, or not to be read.
    left: u64,
}

/// Ships until there is nothing left to ship; with `--watch` until a signal comes.
///
/// # Errors
/// No folder to write to; without `--watch` one that cannot be written to.
pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    if let Some(missing) = opts.inputs.iter().find(|path| !path.exists()) {
        return Err(usage(format!("{}: neither a folder nor a profile", missing.display())));
    }
    if opts.interval.is_zero() {
        return Err(usage("--interval: the time between two looks must be more than 0"));
    }
    let is_ending = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    if opts.watch {
        use signal_hook::consts::{SIGINT, SIGTERM};
        for signal in [SIGINT, SIGTERM] {
            // The second one ends us.
            signal_hook::flag::register_conditional_default(signal, is_ending.clone())?;
            signal_hook::flag::register(signal, is_ending.clone())?;
        }
    }
    let mut shipper =
        Shipper { opts, talk, store: Store::open(&opts.to)?, seen: HashMap::new(), tally: Tally::default() };
    if !opts.watch {
        shipper.look()?;
        let tally = &shipper.tally;
        talk.note(format_args!("{}", tally.line()));
        return Ok(if tally.left > 0 { Exit::Negative } else { Exit::Done });
    }
    loop {
        let is_last = is_ending.load(SeqCst);
        let before = shipper.tally.copied + shipper.tally.there;
        if let Err(error) = shipper.look() {
            if is_last {
                return Err(error);
            }
            let every = humantime::format_duration(opts.interval);
            talk.warn(format_args!("{error:#}; trying again in {every}"));
        }
        if is_last {
            talk.note(format_args!("{}", shipper.tally.line()));
            return Ok(Exit::Done);
        }
        if shipper.tally.copied + shipper.tally.there > before {
            talk.detail(format_args!("{}", shipper.tally.line()));
        }
        let start = Instant::now();
        while start.elapsed() < opts.interval && !is_ending.load(SeqCst) {
            std::thread::sleep(SOON.min(opts.interval));
        }
    }
}

struct Shipper<'a> {
    opts: &'a Opts,
    talk: &'a Talk,
    store: Store,
    seen: HashMap<PathBuf, Seen>,
    tally: Tally,
}

impl Shipper<'_> {
    /// Looks at all files once, and ships those that are finished.
    fn look(&mut self) -> Result<()> {
        self.store.check()?;
        self.tally.waiting = 0;
        let opts = self.opts;
        for input in &opts.inputs {
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
                self.talk.detail(format_args!(
                    "{}: process {pid} is still writing; left for later",
                    path.display()
                ));
                self.remember(path, Seen::Live(pid));
            }
            State::Unsettled => {
                self.tally.waiting += 1;
                let settled = humantime::format_duration(self.opts.settled);
                self.talk
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
                self.talk
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
                self.talk.detail(format_args!("{}: shipped, {size}", path.display()));
            }
            Put::There => self.tally.there += 1,
        }
        if deletes && is_as_before(path, stamp) {
            match fs::remove_file(path) {
                Ok(()) => self.tally.deleted += 1,
                Err(error) => {
                    self.talk.warn(format_args!("{}: shipped, but not removed: {error}", path.display()))
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
        self.talk.warn(format_args!("{}: left: {reason}", path.display()));
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
    fn line(&self) -> String {
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
