//! What a report is about: profiles, or texts of others, recognised by their content and read into one model.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::exit::usage;
use crate::lookup;
use crate::names::Names;
use crate::talk::Talk;
use crate::window;
use anyhow::{Context, Result};
use instrument_analysis::heap::biographies::Biographies;
use instrument_analysis::load::{self, CallTimes, Loaded, Process};
use instrument_analysis::origin::Origins;
use instrument_analysis::report::text::quantity;
use instrument_analysis::waits::{self, Waits};
use instrument_analysis::window::without_idle;
use instrument_analysis::{Arcflow, Kind, Window, input, replay};
use instrument_names::glob::Glob;
use instrument_trace::{Profile, ThreadKind};

/// The first bytes of every profile.
const MAGIC: &[u8; 8] = b"\x89IPROF\r\n";
/// Remarks that are printed for each file.
const REMARKS: usize = 10;

/// How to read.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub(crate) struct Opts {
    /// Profiles (`*.iprof`), or texts: start and end events, folded stacks, call trees as JSON
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Only threads, or pools of threads, of these names (`*` and `?` stand for others)
    #[arg(long, value_name = "NAME")]
    pub(crate) thread: Vec<String>,
    /// Add up what threads, or processes, did: one level less
    #[arg(long, value_enum, value_name = "LEVEL,..", value_delimiter = ',')]
    pub(crate) merge: Vec<Level>,
    /// Only what happened since this snapshot of the same process (`instrument ctl PID snapshot`); `start`: everything, also after
    /// `instrument ctl PID reset`
    #[arg(long, value_name = "SNAPSHOT")]
    pub(crate) since: Vec<PathBuf>,
    /// Show each thread of a pool, not the pool as one: http-nio-8080-exec-1, not http-nio-8080-exec-*
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub(crate) split: Vec<Split>,
    /// Let started threads and tasks stand below the context that caused them
    #[arg(long)]
    pub(crate) links: bool,
    /// Exit with code 3 if a pattern fits nothing
    #[arg(long)]
    pub(crate) strict: bool,
}

/// A level of consumers above methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Level {
    /// Threads
    Threads,
    /// Processes
    Processes,
}

/// A level of consumers that is told apart only when this is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Split {
    /// Threads
    Threads,
}

/// A profile that was read.
pub(crate) struct ProfileFile {
    pub(crate) path: PathBuf,
    pub(crate) profile: Profile,
    pub(crate) names: Names,
    /// Its biographies of objects, if there are any.
    pub(crate) biographies: Option<Biographies>,
    /// What its threads waited for, if that was recorded.
    pub(crate) waits: Option<Waits>,
    /// Its process is still writing: the figures are of this moment, and may be torn.
    pub(crate) is_live: bool,
}

/// Everything that was read, as one model.
pub(crate) struct Subject {
    pub(crate) model: Arcflow,
    /// Of single calls; empty for texts.
    pub(crate) calls: HashMap<String, CallTimes>,
    /// Calls in contexts, and what recording them cost in ns.
    pub(crate) recorded: f64,
    pub(crate) overhead: f64,
    pub(crate) profiles: Vec<ProfileFile>,
    /// Of patterns that fit nothing, and of a table that will be empty.
    pub(crate) warnings: Vec<String>,
    /// Such a pattern is exit code 3.
    pub(crate) strict: bool,
}

/// Whether a file begins as a profile does.
pub(crate) fn is_profile(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    let read = File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut start));
    read.is_ok() && start == *MAGIC
}

/// What a file is that is no profile, and what to do about it.
pub(crate) fn not_a_profile(path: &Path) -> String {
    let mut start = Vec::new();
    let file = File::open(path).map(|file| std::io::Read::take(file, 4096));
    let read = file.and_then(|mut file| std::io::Read::read_to_end(&mut file, &mut start));
    let name = path.display();
    let what = match &start[..] {
        _ if path.is_dir() => "a directory; name the profiles in it (*.iprof)".to_owned(),
        _ if read.is_err() || start.is_empty() => {
            "an empty file; its program recorded nothing, or is not yet started".to_owned()
        }
        [b'P', b'K', 3 | 5, ..] => {
            format!("an archive; `instrument run -- java -jar {name}` runs it and writes a profile")
        }
        [0xca, 0xfe, 0xba, 0xbe, ..] => {
            "a class file; `instrument run -- java ..` runs its program and writes a profile".to_owned()
        }
        [0x1f, 0x8b, ..] => format!("packed by gzip; unpack it first: gunzip {name}"),
        start if start.starts_with(b"JAVA PROFILE ") => {
            "a dump of a heap; VisualVM and Eclipse MAT read it".to_owned()
        }
        start if start.starts_with(&MAGIC[..4]) || start.windows(6).take(16).any(|w| w == b"IPROF\n") => {
            "a profile that was damaged on its way, as by a transfer as text; copy it again as binary"
                .to_owned()
        }
        start if start.contains(&0) => {
            "neither a profile (*.iprof) nor a text that is read like one".to_owned()
        }
        _ => "no profile".to_owned(),
    };
    format!("{name}: {what}")
}

/// Whether threads of a name are wanted.
pub(crate) fn thread_filter(opts: &Opts) -> impl Fn(&str) -> bool + use<> {
    thread_patterns(&opts.thread)
}

/// The same of patterns alone.
pub(crate) fn thread_patterns(patterns: &[String]) -> impl Fn(&str) -> bool + use<> {
    let patterns: Vec<_> = patterns.iter().map(|pattern| Glob::of_words(pattern)).collect();
    move |name| patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches_text(name))
}

impl Opts {
    /// Whether each thread is a row of its own.
    pub(crate) fn splits_threads(&self) -> bool {
        self.split.contains(&Split::Threads)
    }

    /// How profiles are loaded.
    fn load<'a>(&self, thread: &'a dyn Fn(&str) -> bool) -> load::Options<'a> {
        let split_threads = self.splits_threads();
        load::Options { links: self.links, split_threads, thread: Some(thread), ..Default::default() }
    }
}

impl ProfileFile {
    /// Reads a profile; `number`: of the file, from 0, if there are several.
    pub(crate) fn open(path: &Path, number: usize, several: bool) -> Result<ProfileFile> {
        let name = || path.display().to_string();
        let file = File::open(path).with_context(|| format!("cannot read {}", name()))?;
        let mut profile = match Profile::open(&file) {
            Err(error @ instrument_trace::Error::Version { .. }) => {
                let cure = "take the version of instrument that recorded it, or a later one";
                return Err(anyhow::Error::new(error).context(format!("{}; {cure}", name())));
            }
            Err(error @ instrument_trace::Error::NoHeader { .. }) => {
                let cure = "it was cut off, as by a full disk or a copy that did not end; copy it again or record it anew";
                return Err(anyhow::Error::new(error).context(format!("{}: {cure}", name())));
            }
            profile => profile.with_context(name)?,
        };
        replay::profile(&file, &mut profile).with_context(name)?;
        let biographies = Biographies::read(&profile, &file).with_context(name)?;
        let is_live = maps(profile.pid, path);
        if is_live {
            // What is open now has been open until now.
            profile.beat_clock = profile.beat_clock.max(now(&profile));
        }
        let names = Names::new(&profile, number, several);
        Ok(ProfileFile { path: path.to_owned(), profile, names, biographies, waits: None, is_live })
    }

    /// Sums up what the threads waited for that are wanted.
    fn gather_waits(&mut self, wanted: &dyn Fn(&str) -> bool) -> Result<()> {
        let name = || self.path.display().to_string();
        let file = File::open(&self.path).with_context(name)?;
        self.waits = waits::gather(&file, &self.profile, wanted).with_context(name)?;
        Ok(())
    }

    /// What does not fit, in words.
    pub(crate) fn remarks(&self) -> Vec<String> {
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
        for thread in profile.threads.iter().filter(|t| t.stopped) {
            remarks.push(format!("recording of thread {:?} stopped early", thread.name));
        }
        for thread in profile.threads.iter().filter(|t| t.in_transition && !self.is_live) {
            remarks.push(format!("thread {:?} ended inside a repair of its stack; not checked", thread.name));
        }
        for (kind, count) in &profile.skipped {
            remarks.push(format!("{count} regions of the unknown kind {kind} were skipped"));
        }
        remarks.extend(self.biographies.iter().flat_map(Biographies::remarks));
        remarks.extend(profile.damage.iter().map(ToString::to_string));
        remarks
    }

    pub(crate) fn say_remarks(&self, talk: &Talk) {
        let remarks = self.remarks();
        for remark in remarks.iter().take(REMARKS) {
            talk.warn(format_args!("{}: {remark}", self.path.display()));
        }
        if remarks.len() > REMARKS {
            talk.warn(format_args!("{}: and {} remarks more", self.path.display(), remarks.len() - REMARKS));
        }
    }

    /// Events that are not in the figures.
    pub(crate) fn dropped(&self) -> u64 {
        self.profile.threads.iter().fold(self.profile.dropped, |sum, t| sum.saturating_add(t.dropped))
    }

    /// Threads whose figures are added up.
    pub(crate) fn ended_threads(&self) -> u64 {
        let ended = self.profile.threads.iter().map(|t| match t.kind {
            ThreadKind::Ended(count) => count,
            ThreadKind::Thread => 0,
        });
        ended.fold(0, u64::saturating_add)
    }

    /// The time that its figures are of, if that is not its life.
    pub(crate) fn window(&self) -> Option<Window> {
        let profile = &self.profile;
        let begin = Some(profile.window_clock).filter(|clock| *clock != 0)?;
        let last = profile.threads.iter().map(|t| t.last_event.max(t.end)).max().unwrap_or(0);
        let end = last.max(profile.beat_clock).max(profile.shutdown_clock);
        Some(Window { begin: begin.saturating_sub(profile.start_clock), length: end.saturating_sub(begin) })
    }

    /// A property of the process.
    pub(crate) fn property(&self, key: &str) -> Option<&str> {
        self.profile.copies.values().find_map(|copy| copy.properties.get(key)).map(String::as_str)
    }

    /// What the process is called: by the user, or else its jar or main class, without directories and arguments.
    pub(crate) fn program(&self) -> String {
        if let Some(name) = self.property("name") {
            return name.to_owned();
        }
        let command = self.property("command").unwrap_or_default();
        let first = command.split_whitespace().next().unwrap_or("process");
        first.rsplit(['/', '\\']).next().unwrap_or(first).to_owned()
    }

    /// What the process is called, so that it can be told from others.
    pub(crate) fn label(&self) -> String {
        format!("{} (pid {})", self.program(), self.profile.pid)
    }

    /// Whether there are contexts and times.
    pub(crate) fn has_trees(&self) -> bool {
        self.profile.threads.iter().any(|thread| thread.tree.is_some())
    }
}

impl Subject {
    /// Reads all files into one model, and says what does not fit. `lifetimes`: threads consume what their methods do not.
    ///
    /// # Errors
    /// A file that cannot be read or understood; files of which no two figures are comparable.
    pub(crate) fn read(opts: &Opts, lifetimes: bool, talk: &Talk) -> Result<Subject> {
        let (profiles, texts): (Vec<_>, Vec<_>) =
            opts.files.iter().enumerate().partition(|(_, path)| is_profile(path));
        let several = profiles.len() > 1;
        let open = |(number, path): (usize, &PathBuf)| ProfileFile::open(path, number, several);
        let mut profiles = profiles.into_iter().map(open).collect::<Result<Vec<_>>>()?;
        window::cut(&mut profiles, &opts.since)?;
        let wanted = thread_filter(opts);
        profiles.iter_mut().try_for_each(|profile| profile.gather_waits(&wanted))?;
        profiles.iter().for_each(|profile| profile.say_remarks(talk));
        for (profile, Window { begin, length }) in profiles.iter().filter_map(|p| Some((p, p.window()?))) {
            let [begin, length] = [begin, length].map(|ns| quantity(ns as f64, "ns"));
            let name = profile.path.display();
            talk.note(format_args!("{name}: the figures are of {length}, from {begin} after the start on"));
        }
        let texts = texts.into_iter().map(|(_, path)| text(path, talk)).collect::<Result<Vec<_>>>()?;
        Subject::new(opts, profiles, texts, lifetimes, talk)
    }

    /// The same of files that were read.
    pub(crate) fn new(
        opts: &Opts,
        mut profiles: Vec<ProfileFile>,
        texts: Vec<Arcflow>,
        lifetimes: bool,
        talk: &Talk,
    ) -> Result<Subject> {
        let thread = thread_filter(opts);
        let mut subject = Subject { strict: opts.strict, ..Subject::empty() };
        if !opts.thread.is_empty() {
            let pools = profiles
                .iter()
                .flat_map(|file| load::pools(&file.profile, &|copy, id| file.names.method(copy, id)));
            let pools: Vec<_> = pools.collect();
            let mut names = thread_names(&profiles);
            names.extend(pools.iter().map(String::as_str));
            for text in &texts {
                let threads = text.nodes().iter().filter(|node| node.kind == Kind::Thread);
                names.extend(threads.map(|node| text.name(node.consumer)));
            }
            subject.warnings = lookup::unknown_threads(&opts.thread, &names);
        }
        let mut texts = texts.into_iter().map(|model| {
            model.with_contexts(|id| {
                model.node(id).kind != Kind::Thread || thread(model.name(model.node(id).consumer))
            })
        });
        if profiles.is_empty() {
            subject.model = texts.next().context("nothing to report on")?;
        } else {
            let labels = profiles.iter().map(ProfileFile::label).collect();
            let options = load::Options { lifetimes, ..opts.load(&thread) };
            let loaded = load(&mut profiles, labels, &options);
            loaded.remarks.iter().for_each(|remark| talk.note(format_args!("note: {remark}")));
            subject.take(profiles, loaded);
        }
        for text in texts {
            let names = |model: &Arcflow| {
                let names: Vec<_> =
                    model.resources().iter().map(|r| format!("{} in {}", r.name, r.unit)).collect();
                names.join(", ")
            };
            if text.resources() != subject.model.resources() {
                let (one, other) = (names(&subject.model), names(&text));
                return Err(usage(format!("these files do not measure the same: {one}; {other}")));
            }
            subject.model.merge(&text);
            // Of some calls nothing is known but their sum.
            subject.calls.clear();
        }
        subject.merge_levels(opts);
        subject.warn_if_empty();
        Ok(subject)
    }

    /// A table without a row does not say why.
    fn warn_if_empty(&mut self) {
        if self.model.nodes().iter().any(|node| node.kind == Kind::Method) {
            return;
        }
        let has_counts =
            self.profiles.iter().any(|file| file.profile.threads.iter().any(|t| !t.methods.is_empty()));
        self.warnings.push(match has_counts {
            true => {
                "no contexts and times were recorded (record=counts); `instrument report` prints the counts"
                    .to_owned()
            }
            false if self.warnings.is_empty() => "no call of a method was recorded".to_owned(),
            false => return,
        });
    }

    /// The same of profiles that were loaded.
    pub(crate) fn of(opts: &Opts, profiles: Vec<ProfileFile>, loaded: Loaded) -> Subject {
        let mut subject = Subject::empty();
        subject.take(profiles, loaded);
        subject.merge_levels(opts);
        subject
    }

    fn empty() -> Subject {
        Subject {
            model: Arcflow::new(Vec::new()),
            calls: HashMap::new(),
            recorded: 0.0,
            overhead: 0.0,
            profiles: Vec::new(),
            warnings: Vec::new(),
            strict: false,
        }
    }

    fn take(&mut self, profiles: Vec<ProfileFile>, loaded: Loaded) {
        self.model = loaded.model;
        self.calls = loaded.calls;
        if profiles.iter().any(|profile| profile.window().is_some()) {
            self.model = without_idle(&self.model);
            self.calls.retain(|_, times| times.calls > 0);
        }
        if let [profile] = &profiles[..] {
            self.model.window = profile.window();
        }
        self.recorded = loaded.recorded.all();
        self.overhead = loaded.overhead;
        self.profiles = profiles;
    }

    fn merge_levels(&mut self, opts: &Opts) {
        for level in &opts.merge {
            let kind = if *level == Level::Threads { Kind::Thread } else { Kind::Process };
            self.model = self.model.merged(kind);
        }
    }
}

/// The names of all threads that were recorded.
pub(crate) fn thread_names(profiles: &[ProfileFile]) -> HashSet<&str> {
    let threads = profiles.iter().flat_map(|file| &file.profile.threads);
    threads.filter(|thread| thread.kind == ThreadKind::Thread).map(|thread| thread.name.as_str()).collect()
}

/// Loads profiles so that they can be merged: what was served under different links is apart.
pub(crate) fn load_apart(
    mut profiles: Vec<ProfileFile>,
    labels: Vec<String>,
    opts: &Opts,
) -> (Vec<ProfileFile>, Loaded) {
    let thread = thread_filter(opts);
    let options = load::Options { apart: true, ..opts.load(&thread) };
    let loaded = load(&mut profiles, labels, &options);
    (profiles, loaded)
}

fn load(profiles: &mut [ProfileFile], labels: Vec<String>, options: &load::Options<'_>) -> Loaded {
    let methods: Vec<_> = profiles
        .iter_mut()
        .zip(labels)
        .map(|(file, name)| {
            let names = &file.names;
            let methods = move |copy: u32, id: u32| names.method(copy, id);
            let blocks = names.knows_waits().then_some(move |copy: u32, id: u32| names.blocks(copy, id));
            (&mut file.profile, name, methods, blocks, file.biographies.as_ref(), file.waits.as_ref())
        })
        .collect();
    let mut methods = methods;
    let mut processes: Vec<_> = methods
        .iter_mut()
        .map(|(profile, name, methods, blocks, biographies, waits)| Process {
            biographies: *biographies,
            waits: *waits,
            blocks: blocks.as_ref().map(|blocks| blocks as _),
            ..Process::new(profile, std::mem::take(name), methods)
        })
        .collect();
    let mut loaded = load::load(&mut processes, options);
    let origins = profiles.iter().flat_map(|file| file.names.origins());
    loaded.model.origins = Origins::of_model(&loaded.model, origins);
    loaded
}

fn text(path: &Path, talk: &Talk) -> Result<Arcflow> {
    let name = || path.display().to_string();
    let file = File::open(path).with_context(|| format!("cannot read {}", name()))?;
    let read = input::read(BufReader::with_capacity(1 << 16, file)).with_context(|| not_a_profile(path))?;
    let remarks = read.remarks.to_string();
    if !remarks.is_empty() {
        talk.warn(format_args!("{}: {remarks}", name()));
    }
    Ok(read.model)
}

/// The clock of a living process, to the precision of the time at which it was started; 0: it has none.
fn now(profile: &Profile) -> u64 {
    let start = UNIX_EPOCH + Duration::from_millis(profile.start_ms);
    let since = SystemTime::now().duration_since(start).unwrap_or_default();
    if profile.start_clock == 0 { 0 } else { profile.start_clock.saturating_add(since.as_nanos() as u64) }
}

/// Whether a process of this machine has the file mapped, as the recorder has until it ends. Only Linux tells.
pub(crate) fn maps(pid: u64, path: &Path) -> bool {
    let Ok(path) = path.canonicalize() else { return false };
    let Ok(maps) = std::fs::read_to_string(format!("/proc/{pid}/maps")) else { return false };
    pid != 0 && path.to_str().is_some_and(|path| maps.lines().any(|line| line.ends_with(path)))
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

    /// Figures that are being written need not agree; they are no violation.
    #[test]
    fn the_law_is_not_asked_of_a_process_that_still_writes() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/profiles/v1-calls.iprof");
        let mut data = std::fs::read(path).unwrap();
        let record = [6u64, 1000, 0, 1000].map(u64::to_le_bytes).concat();
        let at = data.windows(record.len()).position(|w| w == record).unwrap();
        data[at + 8] += 1;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("torn.iprof");
        std::fs::write(&path, data).unwrap();
        let mut file = ProfileFile::open(&path, 0, false).unwrap();
        let options = crate::counts::Opts {
            sort: crate::counts::Sort::Entries,
            top: None,
            threads: false,
            allocations: false,
        };
        let law = |file: &ProfileFile| crate::counts::gather(std::slice::from_ref(file), &options, false).law;
        assert!(!law(&file).holds);
        file.is_live = true;
        assert!(law(&file).holds);
        assert!(law(&file).line().starts_with("law not checked"));
        assert!(file.remarks()[0].contains("is still writing"), "{:?}", file.remarks());
    }
}
