//! What to rewrite and how: command line over environment over `instrument.toml` over defaults, resolved and checked.
//!
//! A list that is given replaces the whole list of a weaker source. clap puts the environment beneath the command line.

use crate::io::exit::usage;
use crate::io::talk::Talk;
use crate::options::config::Config;
pub(crate) use crate::options::config::{LargeMethods, Level, Runtime};
use crate::rewriting::launcher::Launcher;
use anyhow::Result;
use clap::builder::{BoolishValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use instrument_control::keys;
use instrument_control::selection;
use instrument_control::word::{LibraryCalls, Record, Timing, Transform, Values};
use instrument_names::pattern::{MethodQuery, split_list};
use instrument_names::selection::Selection;
use instrument_names::word::Word;
use instrument_rewriter::account;
use instrument_rewriter::filter::Filter;
use instrument_rewriter::region::Region;
use instrument_rewriter::transform::own_calls::InsertCalls;
use std::fs::File;
use std::io::Read;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The options that the environment and the configuration file know as well.
#[derive(Debug, Default, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "What is rewritten and recorded")]
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

    /// Instrument only these classes and what extends or implements them; on top of --include and --exclude
    #[arg(
        hide_short_help = true,
        long,
        value_name = "CLASS",
        value_delimiter = ',',
        env = "INSTRUMENT_SUBCLASSES_OF",
        hide_env_values = true
    )]
    subclasses_of: Option<Vec<String>>,

    /// What to insert [default: method-events,thread-links,waits]
    ///
    /// With --record counts the default has no waits; with --region nothing else is inserted by default.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = words::<Transform>(),
        env = "INSTRUMENT_TRANSFORM",
        hide_env_values = true
    )]
    transform: Option<Vec<Transform>>,

    /// Show each value as a call of its own below the method that made the call, such as the text of a statement, the address of a request or the path of a file [default: none]
    ///
    /// Beside what --transform inserts. 1,000 values of a kind are told apart, the others are one; -Dinstrument.most-values=N in the program's own
    /// options changes that.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = words::<Values>(),
        env = "INSTRUMENT_VALUES",
        hide_env_values = true
    )]
    values: Option<Vec<Values>>,

    /// Record calls into libraries that are not instrumented, such as java.util [default: none]
    ///
    /// With all, classes that --include leaves out are instrumented as well, as far as that is possible.
    #[arg(hide_short_help = true, long, value_name = "WHICH", value_parser = words::<LibraryCalls>(), env = "INSTRUMENT_LIBRARY_CALLS", hide_env_values = true)]
    library_calls: Option<LibraryCalls>,

    /// Record calls of the program's native methods
    ///
    /// Under run and attach classes get wrappers as they load, which call the native methods under other names: every call is recorded, of
    /// classes that are loaded from then on. Stack traces have one more line. In rewritten archives calls are recorded where rewritten code
    /// makes them: not those by reflection, by method references, through a supertype that declares the method too, or from native code.
    #[arg(hide_short_help = true, long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
          value_parser = BoolishValueParser::new(), env = "INSTRUMENT_NATIVE", hide_env_values = true)]
    native: Option<bool>,

    /// What becomes of methods that have no room for what is inserted (at most 65,535 bytes) [default: leave]
    ///
    /// wrap adds a private method to the class: it has the code, and a wrapper in the method's place has what is inserted. Constructors and
    /// class initialisers are left. Stack traces have one more line.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "HOW",
        env = "INSTRUMENT_LARGE_METHODS",
        hide_env_values = true
    )]
    large_methods: Option<LargeMethods>,

    /// A file of method ids that several builds share; it is created if missing
    #[arg(hide_short_help = true, long, value_name = "FILE", env = "INSTRUMENT_IDS", hide_env_values = true)]
    ids: Option<PathBuf>,

    /// Where the classes that the inserted code calls come from [default: embed]
    #[arg(
        hide_short_help = true,
        long,
        value_name = "HOW",
        env = "INSTRUMENT_RUNTIME",
        hide_env_values = true
    )]
    runtime: Option<Runtime>,

    /// What the program records when it runs [default: tree]
    #[arg(long, value_name = "MODE", value_parser = words::<Record>(), env = "INSTRUMENT_RECORD", hide_env_values = true)]
    record: Option<Record>,

    /// Which calls are timed: auto, all, or sampled:N (one in N) [default: auto]
    ///
    /// auto times all long calls and some of the short ones, down to one in 64, so that reading the clock costs a few percent. sampled:N
    /// times the first 16 calls of each context and then one in N. Counts of calls are exact in each. Only with --record tree.
    #[arg(long, value_name = "HOW", env = "INSTRUMENT_TIMING", hide_env_values = true)]
    timing: Option<Timing>,

    /// Record only what these methods call, and the threads that they start; patterns as for --include; repeatable
    #[arg(long = "root", value_name = "PATTERN", env = "INSTRUMENT_ROOT", hide_env_values = true)]
    roots: Option<Vec<String>>,

    /// Time a code region: a method or a range of source lines; repeatable
    ///
    /// CLASS#METHOD or CLASS.METHOD(TYPES) is all code of a method, CLASS:LINE or CLASS:FIRST-LAST the code from the first to the
    /// last instruction of these lines. It costs two readings of the clock per passage.
    #[arg(hide_short_help = true,
        long = "region",
        value_name = "REGION",
        value_parser = regions,
        env = "INSTRUMENT_REGION",
        hide_env_values = true
    )]
    regions: Option<Vec<Regions>>,

    /// Write what became of every class and method, and why, as JSON lines
    #[arg(
        id = "account",
        long = "account",
        value_name = "FILE",
        env = "INSTRUMENT_ACCOUNT",
        hide_env_values = true
    )]
    report: Option<PathBuf>,

    /// Exit with code 3 if a class or method had to be skipped
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
          value_parser = BoolishValueParser::new(), env = "INSTRUMENT_STRICT", hide_env_values = true)]
    strict: Option<bool>,

    /// Remove the signatures of signed archives, which no longer hold once a class has changed
    #[arg(hide_short_help = true, long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
          value_parser = BoolishValueParser::new(), env = "INSTRUMENT_STRIP_SIGNATURES", hide_env_values = true)]
    strip_signatures: Option<bool>,

    /// Rewrite with N threads [default: one per processor]
    #[arg(short, long, value_name = "N", value_parser = jobs, env = "INSTRUMENT_JOBS", hide_env_values = true)]
    jobs: Option<NonZeroUsize>,

    /// How hard to compress what was rewritten: 1 is fastest, 12 gives the smallest archives [default: 6]
    #[arg(hide_short_help = true, long, value_name = "N", value_parser = level, env = "INSTRUMENT_LEVEL", hide_env_values = true)]
    level: Option<Level>,

    /// Read these options from a file [default: ./instrument.toml, if there is one]
    #[arg(
        hide_short_help = true,
        long,
        value_name = "FILE",
        env = "INSTRUMENT_CONFIG",
        hide_env_values = true
    )]
    config: Option<PathBuf>,
}

/// Options of `rewrite` that say nothing about a run.
pub(crate) const WITHOUT_EFFECT: [&str; 6] =
    ["runtime", "strip_signatures", "jobs", "level", "subclasses_of", "large_methods"];

/// The words of an option, from the one list of them.
pub(crate) fn words<T: Word>() -> impl TypedValueParser<Value = T> {
    some_words(|_| true)
}

/// The same without some of them.
pub(crate) fn words_but<T: Word>(others: &'static [T]) -> impl TypedValueParser<Value = T> {
    some_words(move |value| !others.contains(&value))
}

fn some_words<T: Word>(keep: impl Fn(T) -> bool) -> impl TypedValueParser<Value = T> {
    let values = T::WORDS.iter().filter(|(_, value, _)| keep(*value));
    let values = values.map(|(word, _, help)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(values).try_map(|word| T::of(&word))
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
    pub(crate) native: bool,
    pub(crate) large_methods: LargeMethods,
    pub(crate) ids: Option<PathBuf>,
    pub(crate) runtime: Runtime,
    pub(crate) record: Record,
    pub(crate) timing: Timing,
    #[serde(rename = "root")]
    pub(crate) roots: Vec<String>,
    #[serde(rename = "region", serialize_with = "names")]
    pub(crate) regions: Vec<Region>,
    /// Of `rewrite`: calls of the user's own.
    #[serde(skip)]
    pub(crate) own_calls: Option<Arc<dyn InsertCalls>>,
    /// Of `rewrite`; it is not among the options that can be in a file.
    #[serde(rename = "launcher-agent", skip_serializing_if = "Option::is_none")]
    pub(crate) launcher: Option<Launcher>,
    #[serde(rename = "account")]
    pub(crate) report: Option<PathBuf>,
    pub(crate) strict: bool,
    pub(crate) strip_signatures: bool,
    pub(crate) jobs: usize,
    pub(crate) level: Level,
}

impl Settings {
    /// Reads the configuration file and puts everything together. `has_probes`: with calls of the user's own methods, beside which nothing else
    /// is inserted unless it is asked for.
    ///
    /// # Errors
    /// A file that cannot be read, a bad pattern, or something that is not available: all wrong usage.
    pub(crate) fn resolve(opts: Opts, has_probes: bool, talk: &Talk) -> Result<Settings> {
        let config = Config::read(opts.config.as_deref(), talk)?;
        let include = opts.include.or_else(|| config.include()).unwrap_or_default();
        let exclude = opts.exclude.or_else(|| config.exclude()).unwrap_or_default();
        let roots = opts.roots.or_else(|| config.roots()).unwrap_or_default();
        let regions = opts.regions.map(|lists| lists.into_iter().flat_map(|list| list.0).collect());
        let regions = regions.or_else(|| config.regions()).unwrap_or_default();
        let (ids, report) = (config.ids(), config.report());
        let strip_signatures = opts.strip_signatures.or(config.strip_signatures()).unwrap_or(false);
        let record = opts.record.or(config.record).unwrap_or(Record::Tree);
        let usual = Transform::defaults(!regions.is_empty() || has_probes, record).to_vec();
        let library_calls = opts.library_calls.or(config.library_calls).unwrap_or(LibraryCalls::None);
        let of_filter = if library_calls == LibraryCalls::All { &[][..] } else { &include[..] };
        let mut transforms = opts.transform.or(config.transform).unwrap_or(usual);
        for values in opts.values.or(config.values).unwrap_or_default() {
            if !transforms.contains(&values.transform()) {
                transforms.push(values.transform());
            }
        }
        let settings = Settings {
            filter: Filter::new(of_filter, &exclude).map_err(|error| usage(error.to_string()))?,
            include,
            exclude,
            subclasses_of: opts.subclasses_of.or(config.subclasses_of).unwrap_or_default(),
            transforms,
            library_calls,
            native: opts.native.or(config.native).unwrap_or(false),
            large_methods: opts.large_methods.or(config.large_methods).unwrap_or(LargeMethods::Leave),
            ids: opts.ids.or(ids),
            runtime: opts.runtime.or(config.runtime).unwrap_or(Runtime::Embed),
            record,
            timing: opts.timing.or(config.timing).unwrap_or(Timing::Auto),
            roots,
            regions,
            own_calls: None,
            launcher: None,
            report: opts.report.or(report),
            strict: opts.strict.or(config.strict).unwrap_or(false),
            strip_signatures,
            jobs: opts.jobs.or(config.jobs).map_or_else(processors, NonZeroUsize::get),
            level: opts.level.or(config.level).unwrap_or_default(),
        };
        settings.check(has_probes)?;
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

    /// What is inserted where, as programs say it in their profiles: figures are comparable where this is the same.
    pub(crate) fn selection(&self) -> Selection {
        let transforms = Transform::set(&self.transforms);
        let inserted = selection::selection(transforms, self.library_calls, &self.filter, &self.regions);
        let wrap = (self.large_methods == LargeMethods::Wrap).then_some("wrap");
        selection::below(inserted, &self.roots)
            .with("subclasses-of", &self.subclasses_of)
            .with("large-methods", wrap)
            .with(keys::NATIVE, self.native.then_some(selection::NATIVE_AT_CALLS))
    }

    /// Whether the program will record: else only calls of the user's own are inserted, and no recorder is needed.
    pub(crate) fn records(&self) -> bool {
        !self.transforms.is_empty() || !self.regions.is_empty()
    }

    fn check(&self, has_probes: bool) -> Result<()> {
        if !self.records() && !has_probes {
            let words: Vec<&str> = Transform::WORDS.iter().map(|(word, ..)| *word).collect();
            return Err(usage(format!("the list of transforms is empty; there are {}", words.join(", "))));
        }
        if self.library_calls != LibraryCalls::None && !self.transforms.contains(&Transform::MethodEvents) {
            return Err(usage(
                "--library-calls is about calls that methods make which method-events records, and it is not among the transforms",
            ));
        }
        let has = |transform| self.transforms.contains(&transform);
        if self.native && !has(Transform::MethodEvents) {
            return Err(usage(
                "--native is about calls which method-events records, and it is not among the transforms",
            ));
        }
        if has(Transform::Waits) && !has(Transform::MethodEvents) {
            return Err(usage(
                "--transform waits is about calls that methods make which method-events records, and it is not among the transforms",
            ));
        }
        let values = Values::WORDS.iter().find(|(_, values, _)| has(values.transform()));
        if let Some((word, ..)) = values.filter(|_| !has(Transform::MethodEvents)) {
            return Err(usage(format!(
                "--values {word} is about calls that methods make which method-events records, and it is not among the transforms; add --transform method-events"
            )));
        }
        if has(Transform::Bytecodes) && !has(Transform::MethodEvents) {
            return Err(usage(
                "--transform bytecodes is about calls which method-events records, and it is not among the transforms",
            ));
        }
        if self.large_methods == LargeMethods::Wrap && !has(Transform::MethodEvents) {
            return Err(usage(
                "--large-methods wrap is about methods that method-events records, and it is not among the transforms",
            ));
        }
        if self.large_methods == LargeMethods::Wrap && has(Transform::Bytecodes) {
            return Err(usage(
                "--large-methods wrap and --transform bytecodes exclude each other: the wrapper's own instructions would count",
            ));
        }
        if self.large_methods == LargeMethods::Wrap && has(Transform::Lines) {
            return Err(usage(
                "--large-methods wrap and --transform lines exclude each other: a method with a wrapper has no room for the counters of its lines",
            ));
        }
        if has(Transform::Bytecodes) && self.record == Record::Trace {
            return Err(usage(
                "--transform bytecodes is for --record counts and tree: a trace has no place for its counts",
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
        if self.jobs > MAX_JOBS {
            return Err(usage(format!("{} threads are too many; at most {MAX_JOBS}", self.jobs)));
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
const MAX_JOBS: usize = 1024;

fn level(word: &str) -> Result<Level, String> {
    word.parse().map_err(|_| Level::RANGE.to_owned()).and_then(|number: u8| Level::try_from(number))
}

fn jobs(word: &str) -> Result<NonZeroUsize, String> {
    let number = word.parse().ok().filter(|jobs: &NonZeroUsize| jobs.get() <= MAX_JOBS);
    number.ok_or_else(|| format!("not a number from 1 to {MAX_JOBS}"))
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
