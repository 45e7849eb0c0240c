//! What to rewrite and how, once every option has its value.

use crate::launcher::Launcher;
use anyhow::Result;
use instrument_control::keys;
use instrument_control::latency::Kept;
use instrument_control::rules::{self, Spelling};
use instrument_control::selection;
use instrument_control::word::{LibraryCalls, Record, Timing, Transform};
use instrument_messages::usage;
use instrument_names::pattern::MethodQuery;
use instrument_names::selection::Selection;
use instrument_names::word::{Word, words};
use instrument_rewriter::account;
use instrument_rewriter::filter::Filter;
use instrument_rewriter::region::Region;
use instrument_rewriter::rewrite;
use instrument_rewriter::transform::own_calls::InsertCalls;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

words! {
    /// How the output finds the runtime classes.
    Runtime {
        Embed = "embed": "They are put into the output",
        Classpath = "classpath": "The user adds them to the class path",
        None = "none": "Nobody adds them here; an agent or the user's own classes are expected at run time",
    }
}

/// How hard archives are compressed, in the terms of libdeflate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(try_from = "u8")]
pub struct Level(u8);

impl Level {
    /// What to say of another number.
    pub const RANGE: &str = "a level of compression is 1 to 12";

    /// The numbers that are levels.
    pub fn all() -> impl Iterator<Item = u8> {
        (0..=u8::MAX).filter(|number| Level::try_from(*number).is_ok())
    }

    /// The number.
    pub fn get(self) -> u8 {
        self.0
    }
}

impl TryFrom<u8> for Level {
    type Error = String;

    fn try_from(number: u8) -> Result<Level, String> {
        if (1..=12).contains(&number) { Ok(Level(number)) } else { Err(Level::RANGE.to_owned()) }
    }
}

impl Default for Level {
    /// That of `jar` and of zlib.
    fn default() -> Level {
        Level(6)
    }
}

words! {
    /// What becomes of methods that have no room for what is inserted.
    LargeMethods {
        Leave = "leave": "They stay as they are, and are named with their reason",
        Wrap = "wrap": "A wrapper with what is inserted takes their place, and their code moves into a private method",
    }
}

impl From<LargeMethods> for rewrite::LargeMethods {
    fn from(large_methods: LargeMethods) -> Self {
        match large_methods {
            LargeMethods::Leave => Self::Leave,
            LargeMethods::Wrap => Self::Wrap,
        }
    }
}

/// More than any machine has processors.
pub const MAX_JOBS: usize = 1024;

/// The outcome: every option has its value.
#[derive(Debug, serde::Serialize)]
pub struct Settings {
    /// Patterns of what is rewritten, as they were given; none: everything.
    pub include: Vec<String>,
    /// Patterns of what is left out.
    pub exclude: Vec<String>,
    /// Both, compiled.
    #[serde(skip)]
    pub filter: Filter,
    /// Only these classes and what extends or implements them; empty: all.
    pub subclasses_of: Vec<String>,
    #[serde(rename = "transform")]
    pub transforms: Vec<Transform>,
    /// Whether requests by HTTP get a header that tells both ends which one they are.
    pub propagate: bool,
    /// Which calls into libraries are recorded.
    pub library_calls: LibraryCalls,
    /// Whether calls of native methods are recorded.
    pub native: bool,
    /// What becomes of methods that have no room.
    pub large_methods: LargeMethods,
    /// The file of method ids that several builds share.
    pub ids: Option<PathBuf>,
    /// Where the classes come from that inserted code calls.
    pub runtime: Runtime,
    /// What the program records.
    pub record: Record,
    /// Where the times of a tree come from, if that was requested; else from samples.
    #[serde(serialize_with = "or_samples")]
    pub timing: Option<Timing>,
    /// Only what these methods call is recorded; empty: everything.
    #[serde(rename = "root")]
    pub roots: Vec<String>,
    /// Methods whose durations are kept.
    #[serde(serialize_with = "texts")]
    pub latency: Vec<Kept>,
    /// Code that is timed.
    #[serde(rename = "region", serialize_with = "names")]
    pub regions: Vec<Region>,
    /// Of `rewrite`: calls of the user's own.
    #[serde(skip)]
    pub own_calls: Option<Arc<dyn InsertCalls>>,
    /// Of `rewrite`; it is not among the options that can be in a file.
    #[serde(rename = "launcher-agent", skip_serializing_if = "Option::is_none")]
    pub launcher: Option<Launcher>,
    /// Where the account goes.
    #[serde(rename = "account")]
    pub report: Option<PathBuf>,
    /// Whether anything that is skipped counts as a failure.
    pub strict: bool,
    /// Whether signatures are removed that no longer hold.
    pub strip_signatures: bool,
    /// Threads.
    pub jobs: usize,
    /// How hard archives are compressed.
    pub level: Level,
}

impl Settings {
    /// The include and exclude patterns, as they were given.
    pub fn patterns(&self) -> (&[String], &[String]) {
        (&self.include, &self.exclude)
    }

    /// The options in effect that leave classes or methods out, as one would type them.
    pub fn filters(&self) -> String {
        let options = [
            ("--include", &self.include),
            ("--exclude", &self.exclude),
            ("--subclasses-of", &self.subclasses_of),
        ];
        let given =
            options.iter().flat_map(|(option, values)| values.iter().map(move |v| format!("{option} {v}")));
        given.collect::<Vec<_>>().join(" ")
    }

    /// What is inserted where, as programs say it in their profiles: figures are comparable where this is the same.
    pub fn selection(&self) -> Selection {
        let transforms = Transform::set(&self.transforms);
        let inserted = selection::selection(transforms, self.library_calls, &self.filter, &self.regions);
        let wrap = (self.large_methods == LargeMethods::Wrap).then_some("wrap");
        selection::below(inserted, &self.roots)
            .with(Selection::SUBCLASSES_OF, &self.subclasses_of)
            .with("large-methods", wrap)
            .with(keys::NATIVE, self.native.then_some(selection::NATIVE_AT_CALLS))
    }

    /// Whether the program will record: else only calls of the user's own are inserted, and no recorder is needed.
    pub fn records(&self) -> bool {
        !self.transforms.is_empty() || !self.regions.is_empty()
    }

    /// Whether the options make sense together. `has_probes`: with calls of the user's own methods, beside which
    /// nothing else is inserted unless it is requested.
    ///
    /// # Errors
    /// They do not: wrong usage.
    pub fn check(&self, has_probes: bool) -> Result<()> {
        if !self.records() && !has_probes && self.record != Record::Samples {
            let words: Vec<&str> = Transform::WORDS.iter().map(|(word, ..)| *word).collect();
            return Err(usage(format!("--transform: the list is empty; there are {}", words.join(", "))));
        }
        let given = rules::Given {
            transforms: &self.transforms,
            record: self.record,
            library_calls: self.library_calls,
            native: self.native,
            wraps: self.large_methods == LargeMethods::Wrap,
        };
        given.check(Spelling::CommandLine).map_err(usage)?;
        self.check_exclusions()?;
        self.check_timing()?;
        for root in &self.roots {
            MethodQuery::new(root).map_err(|error| usage(format!("--root: {error}")))?;
        }
        Kept::check(&self.latency, self.record, self.has(Transform::MethodEvents))
            .map_err(|error| usage(format!("--latency: {error}")))?;
        for (position, region) in self.regions.iter().enumerate() {
            if let Some(clash) = self.regions[..position].iter().find_map(|other| region.clash(other)) {
                return Err(usage(format!("--region: {clash}")));
            }
        }
        if let Some(class) = self.subclasses_of.iter().find(|class| !is_class_name(class)) {
            return Err(usage(format!("--subclasses-of takes the names of classes, not `{class}`")));
        }
        if self.jobs > MAX_JOBS {
            return Err(usage(format!("--jobs: {} threads are too many; at most {MAX_JOBS}", self.jobs)));
        }
        if let Some(path) = &self.report
            && !may_replace(path)
        {
            return Err(usage(format!(
                "--account {}: this file exists and is not such an account, and would be lost; remove it, or name another",
                path.display()
            )));
        }
        Ok(())
    }

    fn has(&self, transform: Transform) -> bool {
        self.transforms.contains(&transform)
    }

    /// No two settings exclude each other.
    fn check_exclusions(&self) -> Result<()> {
        let wraps = self.large_methods == LargeMethods::Wrap;
        let clashes = [
            (
                wraps && self.has(Transform::Bytecodes),
                "--large-methods wrap and --transform bytecodes exclude each other: the wrapper's own instructions would count",
            ),
            (
                wraps && self.has(Transform::Lines),
                "--large-methods wrap and --transform lines exclude each other: a method with a wrapper has no room for the counters of its lines",
            ),
            (
                self.library_calls == LibraryCalls::All && !self.subclasses_of.is_empty(),
                "--library-calls all is about all classes, --subclasses-of about some",
            ),
        ];
        let with_headers = [Transform::RemoteHttp, Transform::RemoteGrpc, Transform::RemoteJms];
        if self.propagate && !with_headers.into_iter().any(|one| self.has(one)) {
            return Err(usage(
                "--propagate is for requests by HTTP and gRPC and messages as remote calls, which are not recorded; add --remote http,grpc,jms",
            ));
        }
        let clash = clashes.into_iter().find(|&(is_there, _)| is_there);
        clash.map_or(Ok(()), |(_, reason)| Err(usage(reason)))
    }

    /// The timing fits what is recorded.
    fn check_timing(&self) -> Result<()> {
        let Some(timing) = self.timing else { return Ok(()) };
        let fits = match self.record {
            Record::Tree | Record::Off => timing != Timing::None,
            Record::Counts => [Timing::Samples, Timing::None].contains(&timing),
            Record::Trace | Record::Samples => false,
        };
        let others = if timing == Timing::None { "--record counts" } else { "--record tree" };
        if fits { Ok(()) } else { Err(usage(format!("--timing {timing} is for {others}: leave it out"))) }
    }
}

fn or_samples<S: serde::Serializer>(timing: &Option<Timing>, serializer: S) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&timing.unwrap_or(Timing::Samples), serializer)
}

fn texts<S: serde::Serializer>(kept: &[Kept], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(kept.iter().map(Kept::to_string))
}

fn names<S: serde::Serializer>(regions: &[Region], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(regions.iter().map(|region| &region.name))
}

/// Whether the file may be replaced by an account: it is none that is there, empty, an account, or no regular file
/// (`/dev/stderr`, a pipe).
fn may_replace(path: &Path) -> bool {
    let Ok(there) = path.metadata() else { return true };
    let mut start = Vec::new();
    let begins = |start: &[u8]| start.is_empty() || start.starts_with(account::BEGIN.as_bytes());
    !there.is_file()
        || File::open(path)
            .and_then(|file| file.take(account::BEGIN.len() as u64).read_to_end(&mut start))
            .is_ok_and(|_| begins(&start))
}

/// Whether this may be the name of one class, with `.` or `/` (JVMS 4.2.1).
fn is_class_name(name: &str) -> bool {
    let segment =
        |s: &str| !s.is_empty() && !s.contains(|c: char| ";[*?#:()<>".contains(c) || c.is_whitespace());
    name.split(['.', '/']).all(segment)
}
