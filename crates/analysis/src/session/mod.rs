//! A session: profiles, or texts of others, recognised by their content and read into one model. Reports, exports and checks ask it.
//!
//! | module | |
//! |---|---|
//! | [`file`] | one profile, read from one open file; biographies of objects and waits when they are needed |
//! | [`bursts`] | how long recording was on |
//! | [`names`] | what the ids in a profile stand for |
//! | [`own`] | which methods are the program's own |
//! | [`lookup`] | patterns of methods, classes and threads, compared with the names that there are |
//! | [`since`] | what happened since a snapshot or a reset |
//! | [`selection`] | methods that were excluded while the program ran |
//! | [`kind`] | what a file is, from its first bytes |
//! | [`message`], [`error`] | what is to be said beside the answer, and why there is none |

pub mod bursts;
pub mod error;
pub mod file;
pub mod kind;
mod libraries;
pub mod lookup;
pub mod message;
pub mod names;
pub mod own;
pub mod selection;
pub mod since;

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use crate::beside;
use crate::input;
use crate::load::{self, CallTimes, ContextCalls, Loaded, Process};
use crate::model::{Arcflow, Group, Kind, Window};
use crate::origin::Origins;
use crate::text::quantity;
use crate::trace_index::{Cache, Reading};
use crate::window::without_idle;
use instrument_names::glob::Glob;
use instrument_trace::ThreadKind;

pub use error::Error;
pub use file::ProfileFile;
pub use kind::{is_profile, not_a_profile};
pub use lookup::Methods;
pub use message::Message;
use names::KnownIdMaps;
use own::{Classes, Own};

/// Property of a profile of two runs: `true` if the times may be divided by the calls, `false` if the runs did other work.
pub(crate) const ALIKE: &str = "twice.alike";

/// Which files, and what of them.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Profiles, or texts of other tools.
    pub files: Vec<PathBuf>,
    /// Only threads, or pools of threads, of these names; `*` and `?` stand for others. None: all.
    pub threads: Vec<String>,
    /// Levels of consumers that are left out: threads, processes.
    pub collapse: Vec<Kind>,
    /// Classes or packages take the place of methods.
    pub group: Option<Group>,
    /// Only what happened since these snapshots, or since the start: see [`since::cut`].
    pub since: Vec<PathBuf>,
    /// Only the program's own methods, which these patterns name (none: as the first screen of `report` finds them) and calls with values:
    /// what others consumed is that of the nearest caller that stays.
    pub own: Option<Vec<String>>,
    /// Classes that are the program's own, where no pattern says which methods are.
    pub own_classes: Classes,
    /// Each thread of a pool is a row of its own.
    pub split_threads: bool,
    /// Started threads and tasks stand below the context that started them.
    pub links: bool,
    /// Threads consume what their methods do not.
    pub lifetimes: bool,
    /// What is known of calls is kept for each context.
    pub contexts: bool,
    /// Where what was read of traces is looked for and kept, so that it need not be read again.
    pub cache: Option<Cache>,
    /// Id maps of profiles that were read before, which those of the same build share.
    pub id_maps: Option<KnownIdMaps>,
}

/// Everything that was read, as one model.
pub struct Session {
    pub model: Arcflow,
    /// Times of single calls, by method; empty for texts.
    pub calls: HashMap<String, CallTimes>,
    /// The calls of each context, by index of the node, as far as there are any; empty unless they were asked for, and where contexts were
    /// left out or added up afterwards.
    pub contexts: Vec<ContextCalls>,
    /// Calls in contexts.
    pub recorded: f64,
    /// What recording them cost, in ns.
    pub overhead: f64,
    /// The profiles, without texts.
    pub profiles: Vec<ProfileFile>,
    /// Of patterns that fit nothing, and of a table that will be empty.
    pub warnings: Vec<String>,
    /// What is to be said of the files.
    pub messages: Vec<Message>,
    /// Those of the request.
    pub own_classes: Classes,
}

/// Whether threads of a name fit one of the patterns, or there is none.
pub fn thread_filter(patterns: &[String]) -> impl Fn(&str) -> bool + use<> {
    let patterns: Vec<_> = patterns.iter().map(|pattern| Glob::of_words(pattern)).collect();
    move |name| patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches_text(name))
}

impl Request {
    /// Whether it is about all that happened since the start.
    pub fn is_everything(&self) -> bool {
        self.since.is_empty() || since::is_everything(&self.since)
    }

    /// How profiles are loaded.
    fn load<'a>(&self, thread: &'a dyn Fn(&str) -> bool) -> load::Options<'a> {
        let (links, split_threads, lifetimes) = (self.links, self.split_threads, self.lifetimes);
        let contexts = self.contexts;
        load::Options {
            links,
            split_threads,
            lifetimes,
            contexts,
            thread: Some(thread),
            ..Default::default()
        }
    }
}

impl Session {
    /// Whether a file is damaged: that its figures agree with each other means nothing then.
    pub fn is_damaged(&self) -> bool {
        self.profiles.iter().any(|file| !file.profile.damage.is_empty())
    }

    /// Whether there are profiles, and all are of counts: then the table of counts is what there is to tell.
    pub fn is_of_counts(&self) -> bool {
        !self.profiles.is_empty() && !self.profiles.iter().any(ProfileFile::has_trees)
    }

    /// Reads all files into one model.
    ///
    /// # Errors
    /// A file that cannot be read or understood; files of which no two figures are comparable.
    pub fn read(request: &Request) -> Result<Session, Error> {
        Session::read_traces(request, None)
    }

    /// The same with indexes of traces, for a [`crate::timeline::Timeline`]. `advance` is told the bytes of traces that were read.
    ///
    /// # Errors
    /// As [`Session::read`].
    pub fn read_indexed(request: &Request, advance: &(dyn Fn(u64) + Sync)) -> Result<Session, Error> {
        Session::read_traces(request, Some(advance))
    }

    fn read_traces(request: &Request, index: Option<&(dyn Fn(u64) + Sync)>) -> Result<Session, Error> {
        let reading = Reading { cache: request.cache.as_ref(), index };
        let mut files = Vec::new();
        for path in &request.files {
            let mut file = File::open(path).map_err(|error| Error::Open(path.clone(), error))?;
            let start = kind::start(&mut file, 8);
            files.push((path, file, start));
        }
        let count = files.iter().filter(|(.., start)| instrument_trace::is_profile(start)).count();
        let (mut profiles, mut texts, mut remarks) = (Vec::new(), Vec::new(), Vec::new());
        for (number, (path, file, start)) in files.into_iter().enumerate() {
            if instrument_trace::is_profile(&start) {
                profiles.push(ProfileFile::of(file, path, number, count, reading, request.id_maps.as_ref())?);
            } else {
                let model = text(path, Cursor::new(start).chain(file), &mut remarks)?;
                texts.push(Text { file: path.display().to_string(), model });
            }
        }
        since::cut(&mut profiles, &request.since)?;
        let wanted = thread_filter(&request.threads);
        let mut messages = Vec::new();
        for profile in &mut profiles {
            profile.gather_waits(&wanted)?;
            profile.lifetimes()?;
            messages.extend(profile.messages());
        }
        messages.extend(ProfileFile::not_kept(&profiles));
        for (profile, Window { begin, length }) in profiles.iter().filter_map(|p| Some((p, p.window()?))) {
            let [begin, length] = [begin, length].map(|ns| quantity(ns as f64, "ns"));
            let name = profile.path.display();
            let text = format!("{name}: the figures are of {length}, from {begin} after the start on");
            messages.push(Message::note(text));
        }
        messages.extend(remarks);
        let own_classes = request.own_classes.clone();
        let mut session = Session { messages, own_classes, ..Session::empty() };
        session.fill(request, profiles, texts)?;
        Ok(session)
    }

    fn fill(
        &mut self,
        request: &Request,
        mut profiles: Vec<ProfileFile>,
        mut texts: Vec<Text>,
    ) -> Result<(), Error> {
        let thread = thread_filter(&request.threads);
        if !request.threads.is_empty() {
            let pools = profiles
                .iter()
                .flat_map(|file| load::pools(&file.profile, &|copy, id| file.names.method(copy, id)));
            let pools: Vec<_> = pools.collect();
            let mut names = thread_names(&profiles);
            names.extend(pools.iter().map(String::as_str));
            for text in &texts {
                let threads = text.model.nodes().iter().filter(|node| node.kind == Kind::Thread);
                names.extend(threads.map(|node| text.model.name(node.consumer)));
            }
            self.warnings = lookup::unknown_threads(&request.threads, &names);
        }
        for Text { model, .. } in &mut texts {
            *model = model.with_contexts(|id| {
                model.node(id).kind != Kind::Thread || thread(model.name(model.node(id).consumer))
            });
        }
        let mut texts = texts.into_iter();
        if profiles.is_empty() {
            let first = texts.next().ok_or_else(|| Error::Request("nothing to report on".to_owned()))?;
            self.model = first.model;
        } else {
            let labels = profiles.iter().map(ProfileFile::label).collect();
            let loaded = load(&mut profiles, labels, &request.load(&thread))?;
            self.messages.extend(loaded.adjusted.iter().cloned().map(Message::detail));
            self.messages
                .extend(loaded.remarks.iter().map(|remark| Message::note(format!("note: {remark}"))));
            self.take(profiles, loaded);
        }
        for text in texts {
            self.add(request, &text)?;
        }
        self.merge_levels(request);
        if let Some(patterns) = &request.own {
            self.keep_own(patterns)?;
        }
        self.group(request);
        self.warn_if_empty();
        Ok(())
    }

    /// Adds a text: to what measures the same, or as further resources of the contexts of a profile.
    fn add(&mut self, request: &Request, Text { file, model: text }: &Text) -> Result<(), Error> {
        if text.resources() == self.model.resources() {
            self.model.merge(text);
            // Of some calls nothing is known but their sum.
            self.calls.clear();
            self.contexts.clear();
            return Ok(());
        }
        let refused = |why: &str| Err(Error::Request(format!("{file}: {why}")));
        match self.profiles.len() {
            0 => {
                let names = |model: &Arcflow| {
                    let all = model.resources().iter().map(|r| format!("{} in {}", r.name, r.unit));
                    all.collect::<Vec<_>>().join(", ")
                };
                let (one, other) = (names(&self.model), names(text));
                return Err(Error::Request(format!("these files do not measure the same: {one}; {other}")));
            }
            1 => {}
            _ => return refused("of which of the profiles it tells is not known; give it with one of them"),
        }
        if !request.since.is_empty() {
            return refused("it does not say when its stacks were taken; leave out --since");
        }
        if request.links {
            return refused("its threads stand beside each other; leave out --links");
        }
        let beside = beside::add(&self.model, text, file).map_err(Error::Request)?;
        self.messages.extend(beside.remarks.into_iter().map(|text| Message::note(format!("note: {text}"))));
        if beside.is_regrouped {
            self.contexts.clear();
        }
        self.model = beside.model;
        Ok(())
    }

    fn keep_own(&mut self, patterns: &[String]) -> Result<(), Error> {
        let own = Own::new(patterns, &self.own_classes, &self.model, &self.profiles)?;
        self.warnings.extend(own.warnings().iter().cloned());
        self.messages.push(Message::note(format!(
            "only own code: {}; what it called in libraries is part of it",
            own.describe()
        )));
        self.model = own.charged(&self.model);
        self.contexts.clear();
        Ok(())
    }

    /// A table without a row does not say why.
    fn warn_if_empty(&mut self) {
        if self.model.nodes().iter().any(|node| node.kind == Kind::Method) {
            return;
        }
        let has_counts =
            self.profiles.iter().any(|file| file.profile.threads.iter().any(|t| !t.methods.is_empty()));
        let has_lines = || {
            let copies = self.profiles.iter().flat_map(|file| file.profile.copies.values());
            copies.into_iter().any(|copy| !copy.lines.is_empty())
        };
        self.warnings.push(match has_counts {
            false if has_lines() => {
                "only executions of lines were recorded; `instrument export --format lcov --class-path ORIGINAL` writes them".to_owned()
            }
            true => {
                "no contexts and times were recorded (record=counts); `instrument report` prints the counts"
                    .to_owned()
            }
            false if self.warnings.is_empty() => "no call of a method was recorded".to_owned(),
            false => return,
        });
    }

    /// A model that was made of several profiles.
    pub(crate) fn of(request: &Request, loaded: Loaded) -> Session {
        let mut session = Session::empty();
        session.take(Vec::new(), loaded);
        session.merge_levels(request);
        session.group(request);
        session
    }

    fn empty() -> Session {
        Session {
            model: Arcflow::new(Vec::new()),
            calls: HashMap::new(),
            contexts: Vec::new(),
            recorded: 0.0,
            overhead: 0.0,
            profiles: Vec::new(),
            warnings: Vec::new(),
            messages: Vec::new(),
            own_classes: Classes::default(),
        }
    }

    fn take(&mut self, profiles: Vec<ProfileFile>, loaded: Loaded) {
        self.model = loaded.model;
        self.calls = loaded.calls;
        self.contexts = loaded.contexts;
        if profiles.iter().any(|profile| profile.window().is_some()) {
            self.model = without_idle(&self.model);
            self.contexts.clear();
            self.calls.retain(|_, times| times.calls > 0);
        }
        if let [profile] = &profiles[..] {
            self.model.window = profile.window();
        }
        let is_unlike = |profile: &ProfileFile| profile.property(ALIKE) == Some("false");
        self.model.has_other_times = profiles.iter().any(is_unlike);
        self.recorded = loaded.recorded.all();
        self.overhead = loaded.overhead;
        self.profiles = profiles;
    }

    fn group(&mut self, request: &Request) {
        if let Some(group) = request.group {
            self.model = self.model.grouped(group);
            self.contexts.clear();
            self.calls.clear();
        }
    }

    fn merge_levels(&mut self, request: &Request) {
        for &kind in &request.collapse {
            self.model = self.model.merged(kind);
            self.contexts.clear();
        }
    }
}

/// A file that is no profile.
struct Text {
    file: String,
    model: Arcflow,
}

/// The names of all threads that were recorded.
pub fn thread_names(profiles: &[ProfileFile]) -> HashSet<&str> {
    let threads = profiles.iter().flat_map(|file| &file.profile.threads);
    threads.filter(|thread| thread.kind == ThreadKind::Thread).map(|thread| thread.name.as_str()).collect()
}

/// Loads profiles so that they can be merged: what was served under different links is apart.
pub(crate) fn load_apart(
    profiles: &mut [ProfileFile],
    labels: Vec<String>,
    request: &Request,
) -> Result<Loaded, Error> {
    let thread = thread_filter(&request.threads);
    load(profiles, labels, &load::Options { apart: true, ..request.load(&thread) })
}

fn load(
    profiles: &mut [ProfileFile],
    labels: Vec<String>,
    options: &load::Options<'_>,
) -> Result<Loaded, Error> {
    for file in profiles.iter() {
        file.lifetimes()?;
    }
    of_one_event(profiles)?;
    let mut known: Vec<_> = profiles
        .iter_mut()
        .zip(labels)
        .map(|(file, label)| {
            let (profile, names, biographies, waits) = file.parts();
            let methods = move |copy: u32, id: u32| names.method(copy, id);
            let blocks = names.knows_waits().then_some(move |copy: u32, id: u32| names.blocks(copy, id));
            (profile, label, methods, blocks, biographies, waits)
        })
        .collect();
    let mut processes: Vec<_> = known
        .iter_mut()
        .map(|(profile, label, methods, blocks, biographies, waits)| Process {
            biographies: *biographies,
            waits: *waits,
            blocks: blocks.as_ref().map(|blocks| blocks as _),
            ..Process::new(profile, std::mem::take(label), methods)
        })
        .collect();
    let mut loaded = load::load(&mut processes, options);
    // Of several files the last one that knows.
    let origin = |name: &str| profiles.iter().rev().find_map(|file| file.names.origin(name));
    let origins = loaded.model.names().filter_map(|name| Some((name.to_owned(), origin(name)?.clone())));
    loaded.model.origins = Origins::new(origins.collect::<Vec<_>>());
    Ok(loaded)
}

/// Samples of different events cannot be added up.
fn of_one_event(profiles: &[ProfileFile]) -> Result<(), Error> {
    let sampled = || profiles.iter().filter(|file| load::samples::are_in(&file.profile));
    let event = |file: &ProfileFile| file.profile.sampled_event().unwrap_or("CPU time").to_owned();
    let Some(first) = sampled().next() else { return Ok(()) };
    match sampled().find(|file| event(file) != event(first)) {
        Some(other) => Err(Error::Request(format!(
            "these files do not measure the same: {} has samples of {}, {} of {}; give those of one kind",
            first.path.display(),
            event(first),
            other.path.display(),
            event(other)
        ))),
        None => Ok(()),
    }
}

fn text(path: &Path, bytes: impl Read, messages: &mut Vec<Message>) -> Result<Arcflow, Error> {
    let read = input::read(BufReader::with_capacity(1 << 16, bytes))
        .map_err(|source| Error::Text { what: not_a_profile(path), source })?;
    let remarks = read.remarks.to_string();
    if !remarks.is_empty() {
        messages.push(Message::warning(format!("{}: {remarks}", path.display())));
    }
    Ok(read.model)
}
