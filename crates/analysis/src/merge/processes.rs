//! Profiles of processes that call each other: each process opened once, their calls matched, and what is made of both:
//! the tree over all of them, OpenTelemetry spans, a timeline.

use std::collections::HashSet;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::offsets::Placed;
use super::services::{Services, services};
use super::view::roots;
use super::waterfalls::{Bounds, Query, Waterfall};
use super::{AllStages, Matching, Nesting, Numbers, Offsets, Party, View, fuller_copies, match_calls, tree};
use crate::export;
use crate::export::otlp;
use crate::export::remote::Remote;
use crate::export::spans::ClassNames;
use crate::export::timeline::Timeline;
use crate::export::trace::Trace;
use crate::session::{self, Error, Message, ProfileFile, Request, Session, is_profile, not_a_profile, since};
use crate::trace_index::Reading;

/// Profiles of different processes, with their remote calls matched.
pub struct Processes {
    /// The profiles, one for each process.
    pub files: Vec<ProfileFile>,
    /// What was left out, each with the fuller profile of its process.
    pub copies: Vec<(PathBuf, PathBuf)>,
    /// What the processes are called: no two the same.
    pub labels: Vec<String>,
    /// How many calls were matched, and why others were not.
    pub numbers: Numbers,
    /// What is to be said of the files.
    pub messages: Vec<Message>,
    /// What the calls are read from, several times.
    sources: Vec<File>,
    matching: Matching,
}

/// Matched calls of profiles, borrowed from wherever these are.
#[derive(Clone, Copy)]
pub struct Calls<'a> {
    files: &'a [ProfileFile],
    sources: &'a [File],
    pub(crate) labels: &'a [String],
    matching: &'a Matching,
}

/// What is known of the remote calls of several processes.
pub struct RemoteCalls {
    /// What the processes are called.
    pub labels: Vec<String>,
    /// Where the other side of calls is that were not matched.
    pub addresses: Vec<String>,
    /// All calls, added up.
    pub services: Services,
    /// Some outermost calls, the slowest first.
    pub waterfalls: Vec<Waterfall>,
    /// How many outermost calls there are.
    pub outermost: u64,
    /// How the clocks compare.
    pub offsets: Offsets,
}

impl Processes {
    /// Reads the profiles, each process once, and matches their calls.
    ///
    /// # Errors
    /// No profile that can be read; a file that is none; a window of time, for remote calls are known from the start
    /// only.
    pub fn open(request: &Request) -> Result<Processes, Error> {
        let is_everything = since::is_everything(&request.since);
        if !request.since.is_empty() && !is_everything {
            return Err(Error::Request(
                "--since: remote calls are known from the start only; use it with the reports of one process, or give --since start".into(),
            ));
        }
        if let Some(other) = request.files.iter().find(|path| !is_profile(path)) {
            File::open(other).map_err(|error| Error::Open(other.clone(), error))?;
            return Err(Error::Request(not_a_profile(other)));
        }
        let count = request.files.len();
        let several = count > 1;
        let reading = Reading { cache: request.cache.as_ref(), ..Reading::default() };
        let (mut files, mut messages) = (Vec::new(), Vec::new());
        for (number, path) in request.files.iter().enumerate() {
            match ProfileFile::open_among(path, number, count, reading) {
                Ok(file) => files.push(file),
                Err(error @ Error::Open(..)) => return Err(error),
                // What the others have recorded is reported all the same.
                Err(error) if several => {
                    messages.push(Message::warning(format!("{}; left out", error.chain())));
                }
                Err(error) => return Err(error),
            }
        }
        if files.is_empty() {
            return Err(Error::NoneReadable(messages));
        }
        messages.extend(ProfileFile::not_kept(&files));
        let mut sources = sources(&files)?;
        let fuller = fuller_copies(&parties(&files, &sources)).map_err(Error::Calls)?;
        let mut copies = Vec::new();
        for (file, other) in files.iter().zip(&fuller) {
            let Some(other) = other.map(|other| &files[other].path) else { continue };
            let (name, fuller) = (file.path.display(), other.display());
            messages.push(Message::warning(format!(
                "{name}: of the same process as {fuller}, which has no less; left out"
            )));
            copies.push((file.path.clone(), other.clone()));
        }
        let mut is_kept = fuller.iter().map(Option::is_none);
        files.retain(|_| is_kept.next() == Some(true));
        let mut is_kept = fuller.iter().map(Option::is_none);
        sources.retain(|_| is_kept.next() == Some(true));
        messages.extend(files.iter().flat_map(ProfileFile::messages));
        for file in files.iter().filter(|_| !is_everything) {
            if since::was_reset(file)? {
                let (name, pid) = (file.path.display(), file.profile.pid);
                return Err(Error::Request(format!(
                    "{name}: its process was reset by `instrument ctl {pid} reset`, but remote calls are known from the start only; \
                     --since start merges everything since the start"
                )));
            }
        }
        let matching = match_calls(&parties(&files, &sources)).map_err(Error::Calls)?;
        let numbers = Numbers::of(&matching);
        messages.extend(no_calls(&numbers));
        let labels = labels(&files);
        Ok(Processes { files, copies, labels, numbers, messages, sources, matching })
    }

    /// The matched calls.
    pub fn calls(&self) -> Calls<'_> {
        let Processes { files, sources, labels, matching, .. } = self;
        Calls { files, sources, labels, matching }
    }

    /// The process of a profile, of a copy of it that was left out, or of this name.
    ///
    /// # Errors
    /// A name that no process has, or several; a file that could not be read.
    pub fn position(&self, request: &Request, path: &Path) -> Result<usize, Error> {
        let of_copy = self.copies.iter().find(|(copy, _)| copy == path).map(|(_, fuller)| fuller.as_path());
        let path = of_copy.unwrap_or(path);
        if let Some(position) = self.files.iter().position(|file| file.path == path) {
            return Ok(position);
        }
        let name = path.to_string_lossy();
        let is_named =
            |label: &str| label == name || label.rsplit_once(" (pid ").is_some_and(|(of, _)| of == name);
        let named: Vec<usize> = (0..self.labels.len()).filter(|&i| is_named(&self.labels[i])).collect();
        let why = match named[..] {
            [position] => return Ok(position),
            _ if request.files.iter().any(|file| file == path) => {
                return Err(Error::Request(format!("--process {name}: left out, for it cannot be read")));
            }
            [] => "neither a process nor a profile that was given",
            _ => "several processes have this name",
        };
        let choices = self.labels.join(", ");
        Err(Error::Request(format!("--process {name}: {why}; the processes are {choices}")))
    }

    /// The execution tree, as a session of one model, and how it was found. `keeps_calls`: the calls of the tree are
    /// all calls of the processes, so that what is known of single calls is true of it.
    ///
    /// # Errors
    /// A profile that cannot be read.
    pub fn tree(
        &mut self,
        request: &Request,
        view: &View,
        keeps_calls: bool,
    ) -> Result<(Session, AllStages), Error> {
        let mut loaded = session::load_apart(&mut self.files, self.labels.clone(), request)?;
        let parties = parties(&self.files, &self.sources);
        let merged = tree(&parties, &self.matching, &loaded, &self.labels, view).map_err(Error::Calls)?;
        let remarks = loaded.remarks.iter().chain(&merged.remarks);
        let messages = remarks.map(|remark| Message::note(format!("note: {remark}"))).collect();
        (loaded.model, loaded.contexts) = (merged.model, merged.contexts);
        if !keeps_calls {
            loaded.calls.clear();
        }
        Ok((Session { messages, ..Session::of(request, loaded) }, merged.stages))
    }
}

impl Calls<'_> {
    /// The clocks of all, compared with that of `root`, or of the first.
    ///
    /// # Errors
    /// A profile that cannot be read.
    pub fn offsets(&self, root: Option<usize>) -> Result<Offsets, Error> {
        let parties = parties(self.files, self.sources);
        Offsets::new(&parties, self.matching, root.unwrap_or_default()).map_err(Error::Calls)
    }

    /// Writes all calls as OpenTelemetry spans, at the times of `root`.
    ///
    /// # Errors
    /// A profile or an output that fails.
    pub fn otlp(
        &self,
        root: Option<usize>,
        internals: bool,
        out: &mut dyn Write,
    ) -> Result<Vec<Message>, Error> {
        let programs: Vec<_> = self.files.iter().map(ProfileFile::program).collect();
        self.with(root, |remote| otlp::write(remote, &programs, internals, out).map_err(Error::Export))
    }

    /// The calls added up by client, server and method, and the slowest outermost ones with all that was called within
    /// them, at the times of `root`; how the clocks compare.
    ///
    /// # Errors
    /// A profile that cannot be read.
    pub fn remote(&self, root: Option<usize>, internals: bool, bounds: Bounds) -> Result<RemoteCalls, Error> {
        let offsets = self.offsets(root)?;
        let parties = &parties(self.files, self.sources)[..];
        let matching = self.matching;
        let answer = || {
            let nesting = &Nesting::new(parties, matching)?;
            let services = services(parties, matching, nesting, internals)?;
            let query = Query { parties, matching, nesting, offsets: &offsets, internals };
            Ok((services, query.waterfalls(bounds)?))
        };
        let (services, (waterfalls, outermost)) = answer().map_err(Error::Calls)?;
        let (labels, addresses) = (self.labels.to_vec(), matching.addresses.clone());
        Ok(RemoteCalls { labels, addresses, services, waterfalls, outermost, offsets })
    }

    /// Writes all calls and, where there are traces, everything else to a timeline, by the clock of `root`.
    ///
    /// # Errors
    /// A profile or a timeline that fails.
    pub fn write_events(
        &self,
        root: Option<usize>,
        wanted: &dyn Fn(&str) -> bool,
        timeline: &mut dyn Timeline,
    ) -> Result<Vec<Message>, Error> {
        self.with(root, |remote| {
            let origin = remote.origin();
            timeline
                .time_of_day(remote.offsets.time_of_day(origin))
                .map_err(export::error::Error::from)
                .map_err(Error::Export)?;
            for (process, (file, source)) in self.files.iter().zip(self.sources).enumerate() {
                let methods = |copy, id| file.names.method(copy, id);
                let classes = |copy, number| file.names.class(copy, number);
                let trace = Trace {
                    source,
                    profile: &file.profile,
                    process,
                    process_name: &self.labels[process],
                    methods: &methods,
                    classes: Some(&classes as ClassNames<'_>),
                    remote: Some(remote),
                };
                let written = trace.add_events(remote.on_clock(process, origin), wanted, timeline);
                written.map_err(|error| Error::ExportOf(file.path.clone(), error))?;
            }
            timeline.finish().map_err(export::error::Error::from).map_err(Error::Export)
        })
    }

    fn with(
        &self,
        root: Option<usize>,
        write: impl FnOnce(&Remote<'_, File>) -> Result<(), Error>,
    ) -> Result<Vec<Message>, Error> {
        let offsets = &self.offsets(root)?;
        let mut messages = Vec::new();
        for (offset, name) in offsets.all.iter().zip(self.labels) {
            if offset.is_drifting {
                let text = format!("note: {name}: its clock drifts; times fit best near one call");
                messages.push(Message::note(text));
            } else if offset.placed == Placed::Start {
                let why = "clock offset unknown, as no call was matched; aligned by the time of day";
                messages.push(Message::note(format!("note: {name}: {why}")));
            }
        }
        let parties = &parties(self.files, self.sources)[..];
        let nesting = &Nesting::new(parties, self.matching).map_err(Error::Calls)?;
        write(&Remote { parties, names: self.labels, matching: self.matching, nesting, offsets })?;
        Ok(messages)
    }
}

/// Writes the remote calls of profiles as OpenTelemetry spans, at the times of the client.
///
/// # Errors
/// Two profiles of the same process; a profile or an output that fails.
pub fn otlp(files: &[ProfileFile], out: &mut dyn Write) -> Result<Vec<Message>, Error> {
    with_calls(files, |calls, numbers| {
        let mut messages: Vec<Message> = no_calls(numbers).into_iter().collect();
        messages.extend(calls.otlp(clock_of(numbers), false, out)?);
        Ok(messages)
    })
}

/// What is known of the remote calls of profiles, at the times of the client; none: there are no calls, or two profiles
/// are of one process.
///
/// # Errors
/// A profile that fails.
pub fn remote(files: &[ProfileFile], bounds: Bounds) -> Result<Option<RemoteCalls>, Error> {
    if files.iter().all(|file| file.profile.remote_calls.is_empty()) {
        return Ok(None);
    }
    let found = with_calls(files, |calls, numbers| match no_calls(numbers) {
        Some(_) => Ok(None),
        None => calls.remote(clock_of(numbers), false, bounds).map(Some),
    });
    match found {
        Err(Error::Request(_)) => Ok(None),
        found => found,
    }
}

/// The remote calls of profiles, added up, without those that the runtime makes for itself; and how many were matched.
///
/// # Errors
/// Two profiles of the same process; a profile that fails.
pub(crate) fn services_of(files: &[ProfileFile]) -> Result<(Services, Numbers), Error> {
    with_calls(files, |calls, numbers| {
        let parties = &parties(calls.files, calls.sources)[..];
        let nesting = &Nesting::new(parties, calls.matching).map_err(Error::Calls)?;
        let services = services(parties, calls.matching, nesting, false).map_err(Error::Calls)?;
        Ok((services, numbers.clone()))
    })
}

/// How the clocks of profiles compare: by their remote calls, or else by the time of day; none: they are of one
/// machine, and have one clock, or two are of one process.
///
/// # Errors
/// A profile that fails.
pub fn offsets(files: &[ProfileFile]) -> Result<Option<Offsets>, Error> {
    let hosts: HashSet<_> = files.iter().map(|file| file.property("host")).collect();
    let have_calls = files.iter().any(|file| !file.profile.remote_calls.is_empty());
    if files.len() < 2 || hosts.len() == 1 && !have_calls {
        return Ok(None);
    }
    match with_calls(files, |calls, numbers| calls.offsets(clock_of(numbers)).map(Some)) {
        Err(Error::Request(_)) => Ok(None),
        found => found,
    }
}

/// Matches the calls of profiles. Two of one process are an error.
fn with_calls<T>(
    files: &[ProfileFile],
    then: impl FnOnce(&Calls<'_>, &Numbers) -> Result<T, Error>,
) -> Result<T, Error> {
    let sources = &sources(files)?[..];
    let parties = parties(files, sources);
    let copies = fuller_copies(&parties).map_err(Error::Calls)?;
    if let Some((copy, _)) = files.iter().zip(copies).find(|(_, fuller)| fuller.is_some()) {
        return Err(Error::Request(format!("{}: another one is of the same process", copy.path.display())));
    }
    let matching = &match_calls(&parties).map_err(Error::Calls)?;
    then(&Calls { files, sources, labels: &labels(files), matching }, &Numbers::of(matching))
}

/// The process whose clock the times of all are told by: the first root.
fn clock_of(numbers: &Numbers) -> Option<usize> {
    roots(numbers).first().copied()
}

/// Says so if there is no call.
fn no_calls(numbers: &Numbers) -> Option<Message> {
    let is_empty = numbers.made.iter().chain(&numbers.served).all(|&calls| calls == 0);
    let text = "no remote calls: they are recorded with `instrument run --remote rmi,http,grpc,jms`";
    is_empty.then(|| Message::warning(text.to_owned()))
}

fn sources(files: &[ProfileFile]) -> Result<Vec<File>, Error> {
    files.iter().map(ProfileFile::stable_source).collect()
}

fn parties<'a>(files: &'a [ProfileFile], sources: &'a [File]) -> Vec<Party<'a, File>> {
    files.iter().zip(sources).map(|(file, source)| Party { profile: &file.profile, source }).collect()
}

fn labels(files: &[ProfileFile]) -> Vec<String> {
    let plain: Vec<_> = files.iter().map(ProfileFile::label).collect();
    let unique = plain.iter().enumerate().map(|(at, label)| {
        let is_twice = plain.iter().filter(|other| *other == label).count() > 1;
        if is_twice { format!("{label} (file {})", at + 1) } else { label.clone() }
    });
    unique.collect()
}
