//! What to rewrite and how: command line over environment over `instrument.toml` over defaults, resolved and checked.
//!
//! A list that is given replaces the whole list of a weaker source. clap puts the environment beneath the command line.

use crate::io::talk::Talk;
use anyhow::Result;
use clap::builder::{BoolishValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use instrument_artifacts::config::Config;
use instrument_artifacts::settings::{LargeMethods, Level, MAX_JOBS, Runtime, Settings};
use instrument_control::latency::Kept;
use instrument_control::word::{LibraryCalls, Record, Remote, Timing, Transform, Values};
use instrument_messages::usage;
use instrument_names::pattern::split_list;
use instrument_names::word::Word;
use instrument_rewriter::filter::Filter;
use instrument_rewriter::region::Region;
use std::num::NonZeroUsize;
use std::path::PathBuf;

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

    /// Record the calls between processes at both ends, so that `instrument merge` makes one tree of them [default: none]
    ///
    /// Beside what --transform inserts.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = words::<Remote>(),
        env = "INSTRUMENT_REMOTE",
        hide_env_values = true
    )]
    remote: Option<Vec<Remote>>,

    /// With --remote http, grpc or jms: give each request and message that has no traceparent header one, so that its other end can be found
    ///
    /// Without it nothing that is sent is changed: calls by gRPC are found if they have such a header already, as OpenTelemetry and
    /// Micrometer send it, requests by HTTP also by their place on the connection, and messages by their ids.
    #[arg(hide_short_help = true, long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true",
          value_parser = BoolishValueParser::new(), env = "INSTRUMENT_PROPAGATE", hide_env_values = true)]
    propagate: Option<bool>,

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
        value_parser = words::<LargeMethods>(),
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
        value_parser = words::<Runtime>(),
        env = "INSTRUMENT_RUNTIME",
        hide_env_values = true
    )]
    runtime: Option<Runtime>,

    /// What the program records when it runs [default: tree]
    #[arg(long, value_name = "MODE", value_parser = words::<Record>(), env = "INSTRUMENT_RECORD", hide_env_values = true)]
    record: Option<Record>,

    /// Where times come from: samples (default), auto, all, or every:N; none
    ///
    /// samples: a timer in the CPU time of each thread says where it runs, a thousand times a second, and whether that is the program or a probe.
    /// No clock is read at calls, but at those that wait. In a rewritten jar by itself, whose default is auto, a thread of the recorder looks at the others instead.
    ///
    /// auto times all long calls and some of the short ones, down to one in 64, so that reading the clock costs a few percent. every:N
    /// times the first 16 calls of each context and then one in N. Counts of calls are exact in each. Only with --record tree.
    ///
    /// With --record counts samples tell the running time of each method, under run and attach only; none leaves them out.
    #[arg(long, value_name = "HOW", env = "INSTRUMENT_TIMING", hide_env_values = true)]
    timing: Option<Timing>,

    /// Record only what these methods call, and the threads that they start; patterns as for --include; repeatable
    #[arg(long = "root", value_name = "PATTERN", env = "INSTRUMENT_ROOT", hide_env_values = true)]
    roots: Option<Vec<String>>,

    /// Keep how long each call of these methods takes, as histograms that `instrument latency` prints: Shop#sell, Shop#sell:50ms; repeatable
    ///
    /// A call counts from its entry to its exit, and it needs two readings of the clock; what it calls needs none. Calls beyond a threshold (ns, us, ms, s) are
    /// counted as well. It goes with --record tree.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "PATTERN[:THRESHOLD]",
        env = "INSTRUMENT_LATENCY",
        hide_env_values = true
    )]
    latency: Option<Vec<String>>,

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

    /// Remove the signatures of signed archives and the hashes of modules, which no longer hold once a class has changed
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
#[cfg(processes)]
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

/// Reads the configuration file and puts everything together. `has_probes`: with calls of the user's own methods, beside which nothing else
/// is inserted unless it is asked for.
///
/// # Errors
/// A file that cannot be read, a bad pattern, or something that is not available: all wrong usage.
pub(crate) fn resolve(opts: Opts, has_probes: bool, talk: &Talk) -> Result<Settings> {
    let config = Config::read(opts.config.as_deref(), talk)?;
    let checked = |opts| {
        let settings = combined(opts, &config, has_probes)?;
        settings.check(has_probes).map(|()| settings)
    };
    // What is wrong with the file alone has its place there.
    checked(opts).map_err(|error| match checked(Opts::default()) {
        Err(of_file) if of_file.to_string() == error.to_string() => config.placed(error),
        _ => error,
    })
}

/// The same of a file alone.
///
/// # Errors
/// Those of [`resolve`].
pub(crate) fn of_file(file: Option<PathBuf>, talk: &Talk) -> Result<Settings> {
    resolve(Opts { config: file, ..Opts::default() }, false, talk)
}

fn combined(opts: Opts, config: &Config, has_probes: bool) -> Result<Settings> {
    let include = opts.include.or_else(|| config.include()).unwrap_or_default();
    let exclude = opts.exclude.or_else(|| config.exclude()).unwrap_or_default();
    let roots = opts.roots.or_else(|| config.roots()).unwrap_or_default();
    let latency = opts.latency.or_else(|| config.latency()).unwrap_or_default();
    let latency = latency.iter().map(|list| Kept::list(list)).collect::<Result<Vec<_>, _>>();
    let latency = latency.map_err(|error| usage(format!("--latency: {error}")))?.concat();
    let regions = opts.regions.map(|lists| lists.into_iter().flat_map(|list| list.0).collect());
    let regions = regions.or_else(|| config.regions()).unwrap_or_default();
    let strip_signatures = opts.strip_signatures.or(config.strip_signatures()).unwrap_or(false);
    let record = opts.record.or(config.record).unwrap_or(Record::Tree);
    let usual = Transform::defaults(!regions.is_empty() || has_probes, record).to_vec();
    let library_calls = opts.library_calls.or(config.library_calls).unwrap_or(LibraryCalls::None);
    let of_filter = if library_calls == LibraryCalls::All { &[][..] } else { &include[..] };
    let mut transforms = opts.transform.or_else(|| config.transform.clone()).unwrap_or(usual);
    for values in opts.values.or_else(|| config.values.clone()).unwrap_or_default() {
        if !transforms.contains(&values.transform()) {
            transforms.push(values.transform());
        }
    }
    for remote in opts.remote.or_else(|| config.remote.clone()).unwrap_or_default() {
        if !transforms.contains(&remote.transform()) {
            transforms.push(remote.transform());
        }
    }
    Ok(Settings {
        filter: Filter::new(of_filter, &exclude).map_err(|error| usage(error.to_string()))?,
        include,
        exclude,
        subclasses_of: opts.subclasses_of.or_else(|| config.subclasses_of.clone()).unwrap_or_default(),
        transforms,
        propagate: opts.propagate.or(config.propagate).unwrap_or(false),
        library_calls,
        native: opts.native.or(config.native).unwrap_or(false),
        large_methods: opts.large_methods.or(config.large_methods).unwrap_or(LargeMethods::Leave),
        ids: opts.ids.or_else(|| config.ids()),
        runtime: opts.runtime.or(config.runtime).unwrap_or(Runtime::Embed),
        record,
        timing: opts.timing.or(config.timing),
        roots,
        latency,
        regions,
        own_calls: None,
        launcher: None,
        report: opts.report.or_else(|| config.report()),
        strict: opts.strict.or(config.strict).unwrap_or(false),
        strip_signatures,
        jobs: opts.jobs.or(config.jobs).map_or_else(processors, NonZeroUsize::get),
        level: opts.level.or(config.level).unwrap_or_default(),
    })
}

/// What one `--region` holds.
#[derive(Debug, Clone)]
struct Regions(Vec<Region>);

fn regions(text: &str) -> Result<Regions, String> {
    let parse = |text: &str| Region::parse(text).map_err(|error| error.to_string());
    split_list(text, &[',']).into_iter().map(parse).collect::<Result<_, _>>().map(Regions)
}

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
