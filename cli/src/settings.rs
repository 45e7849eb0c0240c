//! What to rewrite and how: command line over environment over `instrument.toml` over defaults, resolved and checked.
//!
//! A list that is given replaces the whole list of a weaker source. clap puts the environment beneath the command line.

use crate::config::Config;
use crate::exit::usage;
use crate::launcher::Launcher;
use crate::talk::Talk;
use anyhow::Result;
use clap::builder::BoolishValueParser;
use instrument_names::pattern::{MethodQuery, split_list};
use instrument_rewriter::account;
use instrument_rewriter::filter::Filter;
use instrument_rewriter::region::Region;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The options that the environment and the configuration file know as well.
#[derive(Debug, Default, clap::Args)]
#[group(skip)]
pub(crate) struct Opts {
    /// Instrument only what matches; repeatable
    ///
    /// A pattern is CLASS, CLASS#METHOD, CLASS.METHOD or CLASS.METHOD(TYPES), as any output prints it, also with a descriptor for the
    /// types; `*` and `?` stay within a package, `**` does not; packages are written with `.` or `/`, nested classes with `.` or `$`;
    /// several patterns may be joined with `:`. Examples: com.acme.**, com/acme/Foo$*, com.acme.Foo#get*, **#<clinit>,
    /// 'com.acme.Foo.run(int, String)', 'com.acme.Foo#run(I)V'.
    #[arg(long, value_name = "PATTERN", env = "INSTRUMENT_INCLUDE", hide_env_values = true)]
    include: Option<Vec<String>>,

    /// Leave out what matches, even if it is included; repeatable
    #[arg(long, value_name = "PATTERN", env = "INSTRUMENT_EXCLUDE", hide_env_values = true)]
    exclude: Option<Vec<String>>,

    /// Instrument only these classes and their subclasses and implementers in the inputs; on top of --include and --exclude
    #[arg(
        long,
        value_name = "CLASS",
        value_delimiter = ',',
        env = "INSTRUMENT_SUBCLASSES_OF",
        hide_env_values = true
    )]
    subclasses_of: Option<Vec<String>>,

    /// What to insert [default: method-events,thread-links,waits; no waits with --record counts; with --region nothing else]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        env = "INSTRUMENT_TRANSFORM",
        hide_env_values = true
    )]
    transform: Option<Vec<Transform>>,

    /// Record calls of what is not instrumented, such as java.util, where they are made [default: none]
    ///
    /// With all, classes that --include leaves out are instrumented as well, as far as that is possible.
    #[arg(long, value_name = "WHICH", env = "INSTRUMENT_LIBRARY_CALLS", hide_env_values = true)]
    library_calls: Option<LibraryCalls>,

    /// A file of method ids that several builds share; it is created if missing, and only ever appended to
    #[arg(long, value_name = "FILE", env = "INSTRUMENT_IDS", hide_env_values = true)]
    ids: Option<PathBuf>,

    /// Where the classes that the inserted code calls come from [default: embed]
    #[arg(long, value_name = "HOW", env = "INSTRUMENT_RUNTIME", hide_env_values = true)]
    runtime: Option<Runtime>,

    /// What the program records when it runs [default: tree]
    #[arg(long, value_name = "MODE", env = "INSTRUMENT_RECORD", hide_env_values = true)]
    record: Option<Record>,

    /// Which calls of a tree are timed: auto (long calls all, of short ones up to one in 64, so that the clock costs a few percent), all, or sampled:N for one in N after the first 16 of each context; counts are exact in each [default: auto]
    #[arg(long, value_name = "HOW", env = "INSTRUMENT_TIMING", hide_env_values = true)]
    timing: Option<Timing>,

    /// Record only what methods that match, and the threads that they start, do; a pattern as for --include; repeatable
    #[arg(long = "root", value_name = "PATTERN", env = "INSTRUMENT_ROOT", hide_env_values = true)]
    roots: Option<Vec<String>>,

    /// Time a code region: a method or a range of source lines; repeatable
    ///
    /// CLASS#METHOD or CLASS.METHOD(TYPES) is all code of a method, CLASS:LINE or CLASS:FIRST-LAST the code from the first to the
    /// last instruction of these lines. It costs two readings of the clock per passage.
    #[arg(
        long = "region",
        value_name = "REGION",
        value_parser = regions,
        env = "INSTRUMENT_REGION",
        hide_env_values = true
    )]
    regions: Option<Vec<Regions>>,

    /// Write an account of every class and method, rewritten or skipped and why, as JSON lines
    #[arg(
        id = "account",
        long = "account",
        value_name = "FILE",
        env = "INSTRUMENT_ACCOUNT",
        hide_env_values = true
    )]
    report: Option<PathBuf>,

    /// Exit with code 3 if anything that should be rewritten had to be skipped
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
          value_parser = BoolishValueParser::new(), env = "INSTRUMENT_STRICT", hide_env_values = true)]
    strict: Option<bool>,

    /// Remove the signatures of signed archives, which no longer hold once a class has changed
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
          value_parser = BoolishValueParser::new(), env = "INSTRUMENT_STRIP_SIGNATURES", hide_env_values = true)]
    strip_signatures: Option<bool>,

    /// How many threads to use [default: one per processor]
    #[arg(short = 'j', long, value_name = "N", value_parser = threads, env = "INSTRUMENT_THREADS", hide_env_values = true)]
    threads: Option<NonZeroUsize>,

    /// Read these options from a file [default: ./instrument.toml, if there is one]
    #[arg(long, value_name = "FILE", env = "INSTRUMENT_CONFIG", hide_env_values = true)]
    config: Option<PathBuf>,
}

/// What is injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Transform {
    /// Entry and exit of every method.
    MethodEvents,
    /// Every allocation: each object that a rewritten class makes with `new`, arrays and copies.
    Allocation,
    /// Arrays and copies only.
    ArrayAllocation,
    /// Every object, by the constructor of java.lang.Object (for that class only).
    ObjectInit,
    /// Which call started a thread.
    ThreadLinks,
    /// Calls of the JDK's methods that wait (sleep, wait, join, park, take, get, lock, accept, select, ..), so that reports can tell waiting from running time.
    Waits,
    /// Which call handed a task to an executor or a completable future.
    HandOver,
    /// Remote calls: of stubs and skeletons, and those that reach a method of a remote interface in the inputs; all of them with `instrument run`,
    /// with --launcher-agent, or with `instrument jdk-patch`.
    Rmi,
}

/// Which calls into libraries are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LibraryCalls {
    /// None.
    None,
    /// Calls that instrumented methods make; not what happens beneath.
    TopLevel,
    /// Libraries are instrumented, too; calls of what cannot be.
    All,
}

/// How the output finds the runtime classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Runtime {
    /// They are put into the output.
    Embed,
    /// The user adds them to the class path.
    Classpath,
    /// Nobody adds them here; an agent or the user's own classes are expected at run time.
    None,
}

/// What a run records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Record {
    /// Nothing, in this run; the program runs as it is. For what is rewritten it is the same as tree.
    Off,
    /// Exact counts per method.
    Counts,
    /// Each thread's calling context tree.
    Tree,
    /// Every event.
    Trace,
}

/// Which calls of a tree are timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) enum Timing {
    /// As many as their length allows: long ones all, short ones seldom.
    Auto,
    /// All.
    All,
    /// One in so many, on average.
    Sampled(u32),
}

/// The runtime takes no larger number.
const MOST_SAMPLED: u32 = 1 << 20;

impl FromStr for Timing {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "auto" => return Ok(Self::Auto),
            "all" => return Ok(Self::All),
            _ => {}
        }
        let number = word.strip_prefix("sampled:").and_then(|number| number.parse().ok());
        let number = number.filter(|number| (1..=MOST_SAMPLED).contains(number));
        number.map(Self::Sampled).ok_or_else(|| {
            format!("`{word}` is not `auto`, `all` or `sampled:N` with N from 1 to {MOST_SAMPLED}")
        })
    }
}

impl TryFrom<String> for Timing {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        word.parse()
    }
}

impl From<Timing> for String {
    fn from(timing: Timing) -> String {
        timing.to_string()
    }
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::All => f.write_str("all"),
            Self::Sampled(number) => write!(f, "sampled:{number}"),
        }
    }
}

/// The outcome: every option has its value.
#[derive(Debug, serde::Serialize)]
pub(crate) struct Settings {
    include: Vec<String>,
    exclude: Vec<String>,
    /// Both, compiled.
    #[serde(skip)]
    pub(crate) filter: Filter,
    pub(crate) subclasses_of: Vec<String>,
    #[serde(rename = "transform")]
    pub(crate) transforms: Vec<Transform>,
    pub(crate) library_calls: LibraryCalls,
    pub(crate) ids: Option<PathBuf>,
    pub(crate) runtime: Runtime,
    pub(crate) record: Record,
    pub(crate) timing: Timing,
    #[serde(rename = "root")]
    pub(crate) roots: Vec<String>,
    /// The same as the recorder reads them, see [`crate::engine::resolve_roots`].
    #[serde(skip)]
    pub(crate) recorded_roots: Vec<String>,
    #[serde(rename = "region", serialize_with = "names")]
    pub(crate) regions: Vec<Region>,
    /// Of `rewrite`; it is not among the options that can be in a file.
    #[serde(rename = "launcher-agent", skip_serializing_if = "Option::is_none")]
    pub(crate) launcher: Option<Launcher>,
    #[serde(rename = "account")]
    pub(crate) report: Option<PathBuf>,
    pub(crate) strict: bool,
    pub(crate) strip_signatures: bool,
    pub(crate) threads: usize,
}

impl Settings {
    /// Reads the configuration file and puts everything together.
    ///
    /// # Errors
    /// A file that cannot be read, a bad pattern, or something that is not available: all wrong usage.
    pub(crate) fn resolve(opts: Opts, talk: &Talk) -> Result<Settings> {
        let config = Config::read(opts.config.as_deref(), talk)?;
        let include = opts.include.or_else(|| config.include()).unwrap_or_default();
        let exclude = opts.exclude.or_else(|| config.exclude()).unwrap_or_default();
        let roots = opts.roots.or_else(|| config.roots()).unwrap_or_default();
        let regions = opts.regions.map(|lists| lists.into_iter().flat_map(|list| list.0).collect());
        let regions = regions.or_else(|| config.regions()).unwrap_or_default();
        let (ids, report) = (config.ids(), config.report());
        let strip_signatures = opts.strip_signatures.or(config.strip_signatures()).unwrap_or(false);
        let record = opts.record.or(config.record).unwrap_or(Record::Tree);
        let usual = match (regions.is_empty(), record) {
            // A region costs next to nothing, unless everything around it is recorded.
            (false, _) => Vec::new(),
            // Without times there is no time to tell apart.
            (true, Record::Counts) => vec![Transform::MethodEvents, Transform::ThreadLinks],
            (true, _) => vec![Transform::MethodEvents, Transform::ThreadLinks, Transform::Waits],
        };
        let library_calls = opts.library_calls.or(config.library_calls).unwrap_or(LibraryCalls::None);
        let of_filter = if library_calls == LibraryCalls::All { &[][..] } else { &include[..] };
        let settings = Settings {
            filter: Filter::new(of_filter, &exclude).map_err(|error| usage(error.to_string()))?,
            include,
            exclude,
            subclasses_of: opts.subclasses_of.or(config.subclasses_of).unwrap_or_default(),
            transforms: opts.transform.or(config.transform).unwrap_or(usual),
            library_calls,
            ids: opts.ids.or(ids),
            runtime: opts.runtime.or(config.runtime).unwrap_or(Runtime::Embed),
            record,
            timing: opts.timing.or(config.timing).unwrap_or(Timing::Auto),
            roots,
            recorded_roots: Vec::new(),
            regions,
            launcher: None,
            report: opts.report.or(report),
            strict: opts.strict.or(config.strict).unwrap_or(false),
            strip_signatures,
            threads: opts.threads.or(config.threads).map_or_else(processors, NonZeroUsize::get),
        };
        settings.check()?;
        Ok(settings)
    }

    /// The include and exclude patterns, as they were given.
    #[cfg(unix)]
    pub(crate) fn patterns(&self) -> (&[String], &[String]) {
        (&self.include, &self.exclude)
    }

    /// The options in effect that leave classes or methods out, as one would type them.
    pub(crate) fn filters(&self) -> String {
        let options = [
            ("--include", &self.include),
            ("--exclude", &self.exclude),
            ("--subclasses-of", &self.subclasses_of),
        ];
        let given =
            options.iter().flat_map(|(option, values)| values.iter().map(move |v| format!("{option} {v}")));
        given.collect::<Vec<_>>().join(" ")
    }

    fn check(&self) -> Result<()> {
        if self.transforms.is_empty() && self.regions.is_empty() {
            return Err(usage(format!("the list of transforms is empty; there are {TRANSFORMS}")));
        }
        if self.library_calls != LibraryCalls::None && !self.transforms.contains(&Transform::MethodEvents) {
            return Err(usage(
                "--library-calls is about calls that methods make which method-events records, and it is not among the transforms",
            ));
        }
        let has = |transform| self.transforms.contains(&transform);
        if has(Transform::Waits) && !has(Transform::MethodEvents) {
            return Err(usage(
                "--transform waits is about calls that methods make which method-events records, and it is not among the transforms",
            ));
        }
        if self.library_calls == LibraryCalls::All && !self.subclasses_of.is_empty() {
            return Err(usage("--library-calls all is about all classes, --subclasses-of about some"));
        }
        if self.timing != Timing::Auto && ![Record::Tree, Record::Off].contains(&self.record) {
            return Err(usage(format!("--timing {} is for --record tree", self.timing)));
        }
        for root in &self.roots {
            MethodQuery::new(root).map_err(|error| usage(format!("--root: {error}")))?;
        }
        for (position, region) in self.regions.iter().enumerate() {
            let other = self.regions[..position].iter().find(|other| other.number == region.number);
            if let Some(other) = other {
                return Err(usage(format!(
                    "--region {} and {} cannot be told apart",
                    other.name, region.name
                )));
            }
        }
        if let Some(class) = self.subclasses_of.iter().find(|class| !is_class_name(class)) {
            return Err(usage(format!("--subclasses-of takes the names of classes, not `{class}`")));
        }
        if self.threads > MOST_THREADS {
            return Err(usage(format!("{} threads are too many; at most {MOST_THREADS}", self.threads)));
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
}

/// The transforms, for messages.
const TRANSFORMS: &str =
    "method-events, allocation, array-allocation, object-init, thread-links, waits, hand-over and rmi";

/// What one `--region` holds.
#[derive(Debug, Clone)]
struct Regions(Vec<Region>);

fn regions(text: &str) -> Result<Regions, String> {
    let parse = |text: &str| Region::parse(text).map_err(|error| error.to_string());
    split_list(text, &[',']).into_iter().map(parse).collect::<Result<_, _>>().map(Regions)
}

fn names<S: serde::Serializer>(regions: &[Region], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(regions.iter().map(|region| &region.name))
}

/// Whether the file may be replaced by an account: it is none that is there, empty, an account, or no regular file (`/dev/stderr`, a pipe).
fn may_replace(path: &Path) -> bool {
    let Ok(there) = path.metadata() else { return true };
    let mut start = Vec::new();
    let begins = |start: &[u8]| start.is_empty() || start.starts_with(account::BEGIN.as_bytes());
    !there.is_file()
        || File::open(path)
            .and_then(|file| file.take(account::BEGIN.len() as u64).read_to_end(&mut start))
            .is_ok_and(|_| begins(&start))
}

/// More than any machine has processors.
const MOST_THREADS: usize = 1024;

fn threads(word: &str) -> Result<NonZeroUsize, String> {
    let number = word.parse().ok().filter(|threads: &NonZeroUsize| threads.get() <= MOST_THREADS);
    number.ok_or_else(|| format!("not a number from 1 to {MOST_THREADS}"))
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Whether this may be the name of one class, with `.` or `/` (JVMS 4.2.1).
fn is_class_name(name: &str) -> bool {
    let segment =
        |s: &str| !s.is_empty() && !s.contains(|c: char| ";[*?#:()<>".contains(c) || c.is_whitespace());
    name.split(['.', '/']).all(segment)
}
