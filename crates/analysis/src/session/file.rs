//! A profile file: opened, with the names and the other records that lie in it, and what does not fit, in words.

use std::cell::OnceCell;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::error::Error;
use super::libraries::is_of_library;
use super::message::Message;
use super::names::{KnownIdMaps, Names};
use super::selection;
use crate::heap::object_lifetimes::ObjectLifetimes;
use crate::model::Window;
use crate::text::{grouped, plural, quantity};
use crate::trace_index::{self, Indexes, Reading};
use crate::waits::{self, Waits};
use instrument_names::program;
use instrument_trace::{Profile, Thread, ThreadKind, TreeConsumer};

/// Remarks that are printed for each file.
const REMARKS: usize = 10;

/// The clock at the last that a profile tells of.
pub(crate) fn end_clock(profile: &Profile) -> u64 {
    let last = profile.threads.iter().map(|t| t.last_event.max(t.end)).max().unwrap_or(0);
    last.max(profile.beat_clock).max(profile.shutdown_clock)
}

/// A profile that was read. Everything that is read later comes from the same open file, so a profile that is replaced meanwhile stays
/// what it was.
pub struct ProfileFile {
    pub path: PathBuf,
    /// Threads, contexts and figures.
    pub profile: Profile,
    /// What its ids stand for.
    pub names: Names,
    /// Its process is still writing: the figures are of this moment, and may be torn.
    pub is_live: bool,
    file: File,
    /// Read when they are first needed; none: there are none.
    lifetimes: OnceCell<Option<ObjectLifetimes>>,
    /// Set by [`ProfileFile::gather_waits`].
    pub(super) waits: Option<Waits>,
    /// Of its traces, if they were read so.
    indexes: Indexes,
    /// Why these could not be kept.
    not_kept: Option<String>,
}

impl ProfileFile {
    /// Reads a profile; `number`: of the file, from 0, if there are several.
    ///
    /// # Errors
    /// A file that cannot be read, or is no profile of a version that is known.
    pub fn open(path: &Path, number: usize, several: bool) -> Result<ProfileFile, Error> {
        ProfileFile::open_among(path, number, usize::from(several) + 1, Reading::default())
    }

    /// The same of one of so many profiles; `reading`: how its traces are read.
    pub(crate) fn open_among(
        path: &Path,
        number: usize,
        profiles: usize,
        reading: Reading<'_>,
    ) -> Result<ProfileFile, Error> {
        let file = File::open(path).map_err(|error| Error::Open(path.to_owned(), error))?;
        ProfileFile::of(file, path, number, profiles, reading, None)
    }

    /// The same without a name of a method.
    pub(crate) fn unnamed(path: &Path) -> Result<ProfileFile, Error> {
        let file = File::open(path).map_err(|error| Error::Open(path.to_owned(), error))?;
        ProfileFile::read(file, path, 1, Reading::default(), Profile::open)
    }

    /// The same without what threads did.
    pub(crate) fn facts(path: &Path) -> Result<ProfileFile, Error> {
        let file = File::open(path).map_err(|error| Error::Open(path.to_owned(), error))?;
        ProfileFile::read(file, path, 1, Reading::default(), Profile::open_facts)
    }

    /// The same of an open file. Id maps that are known are not read.
    pub(super) fn of(
        file: File,
        path: &Path,
        number: usize,
        profiles: usize,
        reading: Reading<'_>,
        known: Option<&KnownIdMaps>,
    ) -> Result<ProfileFile, Error> {
        let mut read = ProfileFile::read(file, path, profiles, reading, Profile::open)?;
        let several = profiles > 1;
        read.names = match known {
            Some(known) => Names::known(&read.profile, number, several, known),
            None => Names::new(&read.profile, number, several),
        };
        if !read.is_live {
            let wrong = [read.profile.implausible(), read.names.unknown(&read.profile)].concat();
            read.profile.damage.extend(wrong);
        }
        Ok(read)
    }

    fn read(
        file: File,
        path: &Path,
        profiles: usize,
        reading: Reading<'_>,
        open: fn(&File) -> Result<Profile, instrument_trace::Error>,
    ) -> Result<ProfileFile, Error> {
        let name = path.display();
        let mut profile = open(&file).map_err(|source| {
            let what = match &source {
                instrument_trace::Error::Version { .. } => {
                    format!("{name}; take the version of instrument that recorded it, or a later one")
                }
                instrument_trace::Error::NoHeader { .. } => format!(
                    "{name}: it was cut off, as by a full disk or a copy that did not end; copy it again or record it anew"
                ),
                _ => name.to_string(),
            };
            Error::Profile { what, source }
        })?;
        // A recording may end before its process does, which keeps the file mapped for a while.
        let is_live = !profile.has_ended() && maps(profile.pid, path);
        let (indexes, not_kept) = trace_index::read(&file, &mut profile, profiles, is_live, reading)
            .map_err(Error::profile(path))?;
        if is_live {
            // What is open now has been open until now.
            profile.beat_clock = profile.beat_clock.max(now(&profile));
        }
        let names = Names::default();
        let (path, lifetimes) = (path.to_owned(), OnceCell::new());
        Ok(ProfileFile { path, profile, names, is_live, file, lifetimes, waits: None, indexes, not_kept })
    }

    /// What the profile was read from.
    pub fn source(&self) -> &File {
        &self.file
    }

    /// Indexes of its traces, as far as they were read so.
    pub(crate) fn indexes(&self) -> &Indexes {
        &self.indexes
    }

    /// What can be read several times and has the same each time: of a process that still writes a copy.
    ///
    /// # Errors
    /// A copy that cannot be made.
    pub fn stable_source(&self) -> Result<File, Error> {
        let failed = |source| Error::Io { what: format!("copying {}", self.path.display()), source };
        if !self.is_live {
            return self.file.try_clone().map_err(failed);
        }
        // A file of its own: clones share their position.
        let mut original = File::open(&self.path).map_err(failed)?;
        let mut copy = tempfile::tempfile().map_err(failed)?;
        std::io::copy(&mut original, &mut copy).map_err(failed)?;
        Ok(copy)
    }

    /// Its biographies of objects, if there are any.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn lifetimes(&self) -> Result<Option<&ObjectLifetimes>, Error> {
        if self.lifetimes.get().is_none() {
            let read =
                ObjectLifetimes::read(&self.profile, &self.file).map_err(Error::profile(&self.path))?;
            let _ = self.lifetimes.set(read);
        }
        Ok(self.lifetimes.get().and_then(Option::as_ref))
    }

    /// What is loaded into a model; its lifetimes if they were read.
    pub(super) fn parts(&mut self) -> (&mut Profile, &Names, Option<&ObjectLifetimes>, Option<&Waits>) {
        let lifetimes = self.lifetimes.get().and_then(Option::as_ref);
        (&mut self.profile, &self.names, lifetimes, self.waits.as_ref())
    }

    /// From now on none of its objects is known.
    pub(super) fn leave_lifetimes_out(&mut self) {
        self.lifetimes = OnceCell::from(None);
    }

    /// Sums up the waits of the threads whose names are wanted.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn gather_waits(&mut self, wanted: &dyn Fn(&str) -> bool) -> Result<(), Error> {
        let waits = waits::gather(&self.file, &self.profile, wanted).map_err(Error::profile(&self.path))?;
        self.waits = waits;
        Ok(())
    }

    /// What the threads waited for, if that was recorded and gathered.
    pub fn waits(&self) -> Option<&Waits> {
        self.waits.as_ref()
    }

    /// What does not fit, in words.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        let profile = &self.profile;
        if self.is_live {
            remarks.push(format!(
                "process {} is still writing; these are the figures of this moment",
                profile.pid
            ));
        }
        remarks.extend(self.names.remarks.iter().cloned());
        let dropped = self.dropped();
        if dropped > 0 {
            remarks.push(format!("{dropped} events were dropped"));
        }
        remarks.extend(self.past_limits());
        remarks.extend(self.recursion());
        for thread in profile.threads.iter().filter(|t| t.stopped) {
            remarks.push(format!("recording of thread {:?} stopped early", thread.name));
        }
        for thread in profile.threads.iter().filter(|t| t.in_transition && !self.is_live) {
            remarks.push(format!("thread {:?} ended inside a repair of its stack; not checked", thread.name));
        }
        remarks.extend(selection::remark(profile, &self.names));
        remarks.extend(selection::roots_remark(profile));
        for (kind, count) in &profile.skipped {
            remarks.push(format!("{count} regions of the unknown kind {kind} were skipped"));
        }
        remarks.extend(self.lifetimes.get().into_iter().flatten().flat_map(ObjectLifetimes::remarks));
        remarks.extend(profile.damage.iter().map(ToString::to_string));
        remarks
    }

    /// The same as messages: the first of them, and how many more there are.
    pub fn messages(&self) -> Vec<Message> {
        let (remarks, name) = (self.remarks(), self.path.display());
        let first = remarks.iter().take(REMARKS).map(|remark| Message::warning(format!("{name}: {remark}")));
        let more = remarks.len().checked_sub(REMARKS).filter(|&more| more > 0);
        let more = more.map(|more| Message::warning(format!("{name}: and {more} remarks more")));
        let bursts = self.recorded().filter(|recorded| recorded.bursts.is_some()).map(|recorded| {
            let [on, elapsed] = [recorded.on(), recorded.elapsed].map(|ns| quantity(ns as f64, "ns"));
            Message::note(format!(
                "{name}: recorded in bursts: counts and times are of {on} in all, out of {elapsed}"
            ))
        });
        first.chain(more).chain(bursts).collect()
    }

    /// What is to be said once, if what is known of traces could not be kept.
    pub(crate) fn not_kept<'a>(files: impl IntoIterator<Item = &'a ProfileFile>) -> Option<Message> {
        let why = files.into_iter().find_map(|file| file.not_kept.as_deref())?;
        Some(Message::note(format!(
            "what was read of a trace was not kept in {why}; --cache DIR takes another folder, --no-cache none"
        )))
    }

    /// What was called past a limit of depth or of contexts, a sentence for each thread: such calls are counted by method only.
    pub(crate) fn past_limits(&self) -> Vec<String> {
        let of = |thread: &Thread| {
            let tree = thread.tree.as_ref()?;
            let nodes = &tree.nodes;
            let deeper = nodes.iter().position(|node| node.consumer == TreeConsumer::Deeper)?;
            let below = nodes.iter().filter(|node| node.parent as usize == deeper + 1);
            let (methods, calls) =
                below.fold((0, 0u64), |(n, sum), node| (n + 1, sum.saturating_add(node.entries)));
            let contexts = self.most_contexts();
            // Of a thread with fewer contexts it was the depth. Recursion stops before the limit where calls are timed.
            let (limit, what, option) = match nodes.len() as u64 >= contexts - contexts / 10 {
                true => (contexts, "contexts", "contexts"),
                false => (self.limit("limit.depth", 2_000), "open calls", "depth"),
            };
            let time = match tree.has_samples {
                true => "with their time below (deeper)",
                false => "and their time is that of the calls that led to them",
            };
            Some(format!(
                "thread {}: {} calls of {} were made past the limit of {} {what}: they are counted by method only, {time}; -Dinstrument.{option}=N \
                 moves the limit, --include records less",
                thread.name,
                grouped(calls),
                plural(methods, "method"),
                grouped(limit)
            ))
            .filter(|_| calls > 0)
        };
        self.profile.threads.iter().filter_map(of).collect()
    }

    fn limit(&self, key: &str, usual: u64) -> u64 {
        self.property(key).and_then(|n| n.parse().ok()).unwrap_or(usual)
    }

    /// How many contexts a thread may have.
    fn most_contexts(&self) -> u64 {
        self.limit("limit.contexts", 1_000_000)
    }

    /// Recursion that got no contexts, a sentence for each thread: it is counted where it began.
    fn recursion(&self) -> Vec<String> {
        let of = |thread: &Thread| {
            let calls = thread.tree.as_ref().map(|tree| tree.recursive).filter(|&calls| calls > 0)?;
            let limit = grouped(self.most_contexts());
            let calls = grouped(calls);
            Some(format!(
                "thread {}: recursion got no contexts {calls} times, to leave room for others: what is called within it is in the contexts where it began; \
                 the limit is {limit} contexts; -Dinstrument.contexts=N moves it, --include records less",
                thread.name
            ))
        };
        self.profile.threads.iter().filter_map(of).collect()
    }

    /// Events that are not in the figures.
    pub fn dropped(&self) -> u64 {
        self.profile.threads.iter().fold(self.profile.dropped, |sum, t| sum.saturating_add(t.dropped))
    }

    /// Threads whose figures are added up.
    pub fn ended_threads(&self) -> u64 {
        let ended = self.profile.threads.iter().map(|t| match t.kind {
            ThreadKind::Ended(count) => count,
            ThreadKind::Thread => 0,
        });
        ended.fold(0, u64::saturating_add)
    }

    /// The time that its figures are of, if that is not its life.
    pub fn window(&self) -> Option<Window> {
        let profile = &self.profile;
        let begin = Some(profile.window_clock).filter(|clock| *clock != 0)?;
        let end = end_clock(profile);
        Some(Window { begin: begin.saturating_sub(profile.start_clock), length: end.saturating_sub(begin) })
    }

    /// When that of which its figures are began, in ns since 1970, and how many ns it took; none: it does not say.
    pub fn period(&self) -> Option<(u64, u64)> {
        let profile = &self.profile;
        let began = profile.start_clock.max(profile.window_clock);
        let millis = Some(profile.start_ms).filter(|ms| *ms != 0)?;
        let begin = millis.checked_mul(1_000_000)?.checked_add(began - profile.start_clock)?;
        Some((begin, end_clock(profile).saturating_sub(began)))
    }

    /// A property of the process.
    pub fn property(&self, key: &str) -> Option<&str> {
        self.profile.copies.values().find_map(|copy| copy.properties.get(key)).map(String::as_str)
    }

    /// What the process is called: by the user, or else its jar or main class, without directories and arguments.
    pub fn program(&self) -> String {
        if let Some(name) = self.property("name") {
            return name.to_owned();
        }
        let command = self.property("command").unwrap_or_default();
        let first = program::word(command, self.directory()).unwrap_or("process");
        first.rsplit(['/', '\\']).next().unwrap_or(first).to_owned()
    }

    /// The program and its process in one line.
    pub fn line(&self) -> String {
        let command = self.property("command").unwrap_or("unknown");
        let methods = self.names.methods().filter(|name| !is_of_library(name));
        program::line(command, self.directory(), self.profile.pid, methods)
    }

    /// Where it worked; empty: that is not known.
    pub(crate) fn directory(&self) -> &str {
        self.property("directory").unwrap_or_default()
    }

    /// What the process is called, so that it can be told from others.
    pub fn label(&self) -> String {
        format!("{} (pid {})", self.program(), self.profile.pid)
    }

    /// The name of a class, as `Class.getName()` gives it.
    pub fn class(&self, copy: u32, number: u32) -> String {
        self.names.class(copy, number)
    }

    /// Whether there are contexts and times.
    pub fn has_trees(&self) -> bool {
        self.profile.threads.iter().any(|thread| thread.tree.is_some())
    }
}

/// The clock of a living process, to the precision of the time at which it was started; 0: it has none.
fn now(profile: &Profile) -> u64 {
    let start = UNIX_EPOCH + Duration::from_millis(profile.start_ms);
    let since = SystemTime::now().duration_since(start).unwrap_or_default();
    if profile.start_clock == 0 { 0 } else { profile.start_clock.saturating_add(since.as_nanos() as u64) }
}

/// The number of a file in its file system, as `/proc` writes it.
fn inode(path: &Path) -> std::io::Result<String> {
    #[cfg(unix)]
    return Ok(std::os::unix::fs::MetadataExt::ino(&path.metadata()?).to_string());
    #[cfg(not(unix))]
    return path.metadata().map(|_| String::new());
}

/// Whether a process of this machine has the file mapped, as the recorder has until it ends. Only Linux tells.
pub fn maps(pid: u64, path: &Path) -> bool {
    let Ok(inode) = inode(path) else { return false };
    let Ok(maps) = std::fs::read_to_string(format!("/proc/{pid}/maps")) else { return false };
    // A path would be another one in a container.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let is_it =
        |line: &str| line.split_whitespace().nth(4) == Some(&inode) && line.rsplit('/').next() == Some(name);
    pid != 0 && maps.lines().any(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_that_has_the_file_mapped_is_alive() {
        let program = std::env::current_exe().unwrap();
        let pid = std::process::id().into();
        assert!(maps(pid, &program));
        assert!(!maps(pid, &program.with_file_name("Cargo.toml")));
        assert!(!maps(pid, Path::new(env!("CARGO_MANIFEST_DIR"))));
        assert!(!maps(0, &program), "the process is not known");
    }
}
