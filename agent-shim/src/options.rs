//! The option string of the agent, read and checked: the keys are on the page of [`instrument_control::keys`].
//!
//! Relative paths start from the working directory of the virtual machine.

use crate::heap::Classes;
use instrument_control::keys::{self, For, KEYS};
use instrument_control::latency::Kept;
use instrument_control::selection;
use instrument_control::word::{
    self, Burst, Clock, LibraryCalls, Owners, Record, SampleEvent, SampleRate, SampledEvent, Transform,
    Values,
};
use instrument_names::pattern::{Pattern, split_list};
use instrument_names::selection::Selection;
use instrument_names::word::Word;
use instrument_rewriter::filter::Filter;
use instrument_rewriter::region::Region;
use instrument_rewriter::rewrite::Transforms;
use std::path::PathBuf;
use std::time::Duration;

/// How long the search for holders may take, unless the user says.
const HOLDERS_SECONDS: u64 = 10;
/// The longest standstill for classes that are loaded, unless the user says.
const MAX_PAUSE: Duration = Duration::from_millis(keys::DEFAULT_MAX_PAUSE_MS);
const MAX_HOLDERS_SECONDS: u64 = 86_400;

/// Whether requests to the program are answered, and where.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux says who asks"))]
pub(crate) enum Requests {
    /// In the directory of the user.
    #[default]
    Usual,
    /// Nowhere.
    Off,
    /// At this path.
    At(PathBuf),
}

/// What a recording may do that comes into a program which runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The longest standstill for classes that are loaded.
    pub(crate) max_pause: Duration,
    /// How long it lasts, if nobody ends it before.
    pub(crate) lasts: Option<Duration>,
    /// It ends with whoever asked for it.
    pub(crate) is_tied: bool,
}

/// What the user wants.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) limits: Limits,
    /// For the classes of the program.
    pub(crate) filter: Filter,
    /// Excludes the classes that are not rewritten at all.
    pub(crate) untouched: Filter,
    /// For the classes of the JDK; none: they stay as they are.
    pub(crate) jdk_filter: Option<Filter>,
    pub(crate) transforms: Transforms,
    pub(crate) library_calls: LibraryCalls,
    /// Native methods of the program get wrappers.
    pub(crate) native: bool,
    /// Patterns, one each.
    pub(crate) roots: Vec<String>,
    /// Whose durations are kept.
    pub(crate) latency: Vec<Kept>,
    /// Only what the roots can call is rewritten.
    pub(crate) subgraph: bool,
    pub(crate) regions: Vec<Region>,
    /// What is recorded, as the profile says it; without the roots, which a property may replace.
    pub(crate) selection: Selection,
    /// Rules for calls of the user's own methods.
    pub(crate) probes: Option<PathBuf>,
    pub(crate) ids: Option<PathBuf>,
    pub(crate) report: Option<PathBuf>,
    pub(crate) dump: Option<PathBuf>,
    pub(crate) heap_dump: Option<PathBuf>,
    pub(crate) ctl: Requests,
    /// None: the counter, if it can be had.
    pub(crate) clock: Option<Clock>,
    /// Threads and their waits are recorded.
    pub(crate) threads: Option<Owners>,
    /// Nothing is recorded before somebody asks for it.
    pub(crate) armed: bool,
    /// Classes are rewritten from the first one on.
    pub(crate) early: bool,
    /// The classes whose objects are recorded; none: objects are not.
    pub(crate) heap: Option<Heap>,
    /// Stacks are sampled, so many times in a second where that is CPU time, and nothing is rewritten.
    pub(crate) samples: Option<(u32, SampledEvent)>,
    /// Keys and values for the recorder.
    pub(crate) recorder: Vec<(&'static str, String)>,
}

/// What is to be known of objects.
#[derive(Debug)]
pub(crate) struct Heap {
    pub(crate) classes: Classes,
    /// The include and exclude patterns, as they were given.
    pub(crate) patterns: [Vec<String>; 2],
    /// Each gets a biography.
    pub(crate) biographies: bool,
    /// The virtual machine reports every object; no class is rewritten for it.
    pub(crate) all: bool,
    /// How long the search for who holds leak suspects may take.
    pub(crate) holders: Duration,
}

impl Heap {
    /// Whether the constructor of `java.lang.Object` is rewritten to tell of objects.
    pub(crate) fn rewrites_object(&self) -> bool {
        !self.all
    }
}

impl Options {
    /// Reads an option string.
    ///
    /// # Errors
    /// What is wrong with it, in one sentence.
    pub(crate) fn parse(text: &str) -> Result<Options, String> {
        let (mut include, mut exclude): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        let mut untouched: Vec<String> = Vec::new();
        let mut transforms = None;
        let mut clock = None;
        let (mut roots, mut regions): (Vec<String>, Vec<Region>) = (Vec::new(), Vec::new());
        let mut ctl = Requests::default();
        let (mut ids, mut report, mut dump, mut heap_dump, mut probes) = (None, None, None, None, None);
        let (mut threads, mut owners) = (false, Owners::On);
        let (mut armed, mut early, mut heap_all, mut subgraph) = (false, false, false, false);
        let mut native = false;
        let mut latency: Vec<Kept> = Vec::new();
        let mut limits = Limits { max_pause: MAX_PAUSE, lasts: None, is_tied: false };
        let (mut heap_holders, mut sample_rate, mut sample_event) = (None, None, None);
        let (mut library_calls, mut record) = (LibraryCalls::None, Record::Tree);
        let (mut heap_include, mut heap_exclude): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        let mut recorder: Vec<(&'static str, String)> = Vec::new();
        for option in keys::split(text)? {
            let (key, value) = match option.split_once('=') {
                None if option == keys::ARMED => (keys::ARMED, "on"),
                pair => pair.ok_or_else(|| format!("option `{option}` is not KEY=VALUE"))?,
            };
            if value.is_empty() {
                return Err(format!("option `{key}` has no value"));
            }
            let path = || Some(PathBuf::from(value));
            match key {
                keys::INCLUDE => include.push(value.to_owned()),
                keys::EXCLUDE => exclude.push(value.to_owned()),
                keys::NO_REWRITE => untouched.push(value.to_owned()),
                keys::TRANSFORM => transforms = Some(parse_transforms(value)?),
                keys::ROOT => roots.extend(parse_roots(value)?),
                keys::LATENCY => {
                    latency.extend(Kept::list(value).map_err(|error| format!("{key}={value}: {error}"))?);
                }
                keys::REGION => {
                    let region = Region::parse(value).map_err(|error| format!("region={value}: {error}"))?;
                    if let Some(clash) = regions.iter().find_map(|other| region.clash(other)) {
                        return Err(format!("region={value}: {clash}"));
                    }
                    regions.push(region);
                }
                keys::LIBRARY_CALLS => library_calls = word(key, value)?,
                keys::NATIVE => native = switch(key, value)?,
                keys::MAX_PAUSE => limits.max_pause = milliseconds(key, value)?,
                keys::LASTS => limits.lasts = Some(milliseconds(key, value)?),
                keys::TIED => limits.is_tied = switch(key, value)?,
                keys::IDS => ids = path(),
                keys::PROBES => probes = path(),
                // What it was called once.
                keys::ACCOUNT | "report" => report = path(),
                keys::DUMP => dump = path(),
                keys::HEAP_DUMP => heap_dump = path(),
                keys::CTL if value == "off" => ctl = Requests::Off,
                keys::CTL => ctl = Requests::At(PathBuf::from(value)),
                keys::CLOCK => clock = Some(word(key, value)?),
                keys::THREADS => threads = switch(key, value)?,
                keys::SUBGRAPH => subgraph = switch(key, value)?,
                keys::ARMED => armed = switch(key, value)?,
                keys::EARLY => early = switch(key, value)?,
                keys::HEAP_HOLDERS => {
                    let seconds = value.parse().ok().filter(|seconds| *seconds <= MAX_HOLDERS_SECONDS);
                    heap_holders = Some(seconds.ok_or_else(|| {
                        format!("heap-holders={value}: a number of seconds, {MAX_HOLDERS_SECONDS} at most")
                    })?);
                }
                keys::HEAP_ALL => heap_all = switch(key, value)?,
                keys::OWNERS => owners = word(key, value)?,
                keys::SAMPLE_RATE => {
                    let rate = value.parse().ok().filter(|rate| (1..=SampleRate::MAX).contains(rate));
                    let range = || format!("sample-rate={value}: a number from 1 to {}", SampleRate::MAX);
                    sample_rate = Some(rate.ok_or_else(range)?);
                }
                keys::SAMPLE_EVENT => {
                    sample_event =
                        Some(value.parse().map_err(|reason| format!("sample-event={value}: {reason}"))?);
                }
                keys::HEAP_INCLUDE => heap_include.push(value.to_owned()),
                keys::HEAP_EXCLUDE => heap_exclude.push(value.to_owned()),
                _ => {
                    match key {
                        keys::HEAP => _ = word::<word::Heap>(key, value)?,
                        keys::RECORD => record = word(key, value)?,
                        keys::BURST => {
                            _ = value.parse::<Burst>().map_err(|reason| format!("burst: {reason}"))?;
                        }
                        _ => {}
                    }
                    let of_recorder = KEYS.iter().filter(|key| key.obeyed_by == For::Recorder);
                    let known =
                        of_recorder.map(|key| key.name).find(|known| *known == key).ok_or_else(|| {
                            let keys: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
                            format!("unknown option `{key}`; there are {}", keys.join(", "))
                        })?;
                    // Settings go to the recorder line by line.
                    if value.contains(['\n', '\r']) {
                        let value = value.escape_debug();
                        return Err(format!("{key}={value}: a value with a line break cannot be passed on"));
                    }
                    recorder.retain(|(key, _)| *key != known);
                    recorder.push((known, value.to_owned()));
                }
            }
        }
        let samples = samples(record, sample_rate, sample_event)?;
        if library_calls == LibraryCalls::All {
            include.clear();
        }
        let filter = Filter::new(&include, &exclude).map_err(|error| error.to_string())?;
        let named: Vec<&str> = include
            .iter()
            .flat_map(|list| split_list(list, &[':']))
            .filter(|p| !p.starts_with(['*', '?']))
            .collect();
        let excluded: Vec<&str> = exclude.iter().map(String::as_str).collect();
        let jdk_filter = match named.is_empty() && library_calls != LibraryCalls::All {
            true => None,
            false => Some(Filter::new(&named, &excluded).map_err(|error| error.to_string())?),
        };
        let mut heap = heap(&recorder, &heap_include, &heap_exclude, heap_all)?;
        match (&mut heap, heap_holders) {
            (Some(heap), Some(seconds)) if heap.biographies => heap.holders = Duration::from_secs(seconds),
            (_, Some(_)) => return Err("heap-holders goes with heap=objects".to_owned()),
            (_, None) => {}
        }
        if heap_all && early {
            return Err("heap-all=on: the virtual machine reports objects from when it is initialised on; leave out early=on".to_owned());
        }
        if armed && early {
            return Err(
                "early=on is about the start of the program, and armed records nothing then: one of them"
                    .to_owned(),
            );
        }
        if probes.is_some() && (early || armed || subgraph) {
            return Err("probes: classes are given calls of your methods as they load, once those can be called; leave out early=on, armed=on \
                        and subgraph=on"
                .to_owned());
        }
        let has_others = !regions.is_empty() || probes.is_some();
        let mut transforms =
            transforms.unwrap_or_else(|| Transform::set(Transform::defaults(has_others, record)));
        if let Some(heap) = &heap {
            if transforms.allocation {
                return Err("heap sees what transform=allocation sees, and more: one of them".to_owned());
            }
            transforms.array_allocation = !heap.all;
        }
        if library_calls != LibraryCalls::None && !transforms.method_events {
            return Err("library-calls is about calls of methods that method-events records, and it is not among the transforms".to_owned());
        }
        let inserted = Transform::list(transforms);
        let values = Values::WORDS.iter().find(|(_, values, _)| inserted.contains(&values.transform()));
        if let Some((word, ..)) = values.filter(|_| !transforms.method_events) {
            return Err(format!(
                "transform={word} is about calls which method-events records, and it is not among the transforms"
            ));
        }
        if native && !transforms.method_events {
            return Err(
                "native=on is about calls which method-events records, and it is not among the transforms"
                    .to_owned(),
            );
        }
        if native && transforms.bytecodes {
            return Err(
                "native=on and transform=bytecodes exclude each other: the wrappers' own instructions would count"
                    .to_owned(),
            );
        }
        if transforms.bytecodes && !transforms.method_events {
            return Err("transform=bytecodes is about calls which method-events records, and it is not among the transforms".to_owned());
        }
        if transforms.bytecodes && record == Record::Trace {
            return Err("transform=bytecodes is for record=counts and record=tree: a trace has no place for its counts".to_owned());
        }
        if transforms.waits && !transforms.method_events {
            return Err("transform=waits is about calls of methods that method-events records, and it is not among the transforms".to_owned());
        }
        if record == Record::Samples {
            let refused = [
                (keys::HEAP, heap.is_some()),
                (keys::ROOT, !roots.is_empty()),
                (keys::SUBGRAPH, subgraph),
                (keys::TRANSFORM, transforms != Transform::set(&[])),
                (keys::LIBRARY_CALLS, library_calls != LibraryCalls::None),
                (keys::NATIVE, native),
                (keys::REGION, !regions.is_empty()),
                (keys::PROBES, probes.is_some()),
                (keys::IDS, ids.is_some()),
                (keys::ACCOUNT, report.is_some()),
                (keys::DUMP, dump.is_some()),
                (keys::NO_REWRITE, !untouched.is_empty()),
                (keys::EARLY, early),
                (keys::THREADS, threads),
            ];
            if let Some((key, _)) = refused.iter().find(|(_, is_given)| *is_given) {
                return Err(format!(
                    "record=samples rewrites nothing and records nothing but samples of stacks: leave out {key}, or record=samples"
                ));
            }
        }
        if subgraph {
            if record == Record::Trace {
                return Err("subgraph=on does not go with record=trace".to_owned());
            }
            if heap.is_some()
                || transforms.rmi
                || transforms.remote_http
                || !regions.is_empty()
                || early
                || native
                || library_calls != LibraryCalls::None
            {
                return Err(
                    "subgraph=on rewrites only what the roots can call: it does not go with heap, transform=rmi, transform=remote-http, region, early, native and library-calls"
                        .to_owned(),
                );
            }
        }
        Kept::check(&latency, record, transforms.method_events)
            .map_err(|error| format!("{}: {error}", keys::LATENCY))?;
        if let Some(pattern) = untouched.iter().find(|pattern| pattern.contains(['#', '('])) {
            return Err(format!("no-rewrite={pattern}: it names a method, and whole classes are left"));
        }
        let of_heap = recorder.iter().filter(|(key, _)| *key == keys::HEAP).map(|(_, value)| value);
        let selection = selection::selection(transforms, library_calls, &filter, &regions)
            .with(keys::NO_REWRITE, &untouched)
            .with(keys::SUBGRAPH, subgraph.then_some("on"))
            .with(keys::NATIVE, native.then_some(selection::NATIVE_WRAPPED))
            .with(keys::EARLY, early.then_some("on"))
            .with(keys::HEAP_ALL, heap_all.then_some("on"))
            .with(Selection::HEAP, of_heap)
            .with(keys::HEAP_INCLUDE, &heap_include)
            .with(keys::HEAP_EXCLUDE, &heap_exclude);
        let untouched = Filter::new(&[], &untouched).map_err(|error| error.to_string())?;
        Ok(Options {
            limits,
            filter,
            untouched,
            jdk_filter,
            transforms,
            library_calls,
            native,
            armed,
            early,
            heap,
            roots,
            latency,
            subgraph,
            regions,
            selection,
            probes,
            ids,
            report,
            dump,
            heap_dump,
            ctl,
            clock,
            threads: threads.then_some(owners),
            samples,
            recorder,
        })
    }
}

/// What is sampled, and how often, if that is what is recorded.
fn samples(
    record: Record,
    rate: Option<u32>,
    event: Option<SampledEvent>,
) -> Result<Option<(u32, SampledEvent)>, String> {
    if record != Record::Samples {
        return match (rate, event) {
            (Some(_), _) => Err("sample-rate goes with record=samples".to_owned()),
            (_, Some(_)) => Err("sample-event goes with record=samples".to_owned()),
            _ => Ok(None),
        };
    }
    let event = event.unwrap_or(SampledEvent::CPU);
    if rate.is_some() && event.event != SampleEvent::Cpu {
        return Err(format!(
            "sample-rate is of CPU time: write sample-event={}:N in its place",
            event.event.word()
        ));
    }
    Ok(Some((rate.unwrap_or(SampleRate::USUAL), event)))
}

/// What a word stands for.
fn word<T: Word>(key: &str, value: &str) -> Result<T, String> {
    T::of(value).map_err(|words| format!("{key}={value}: {words}"))
}

fn milliseconds(key: &str, value: &str) -> Result<Duration, String> {
    let ms = value.parse().map_err(|_| format!("{key}={value}: a number of milliseconds"))?;
    Ok(Duration::from_millis(ms))
}

fn switch(key: &str, value: &str) -> Result<bool, String> {
    match value {
        "off" => Ok(false),
        "on" => Ok(true),
        _ => Err(format!("{key}={value}: there are off, on")),
    }
}

fn heap(
    recorder: &[(&'static str, String)],
    include: &[String],
    exclude: &[String],
    all: bool,
) -> Result<Option<Heap>, String> {
    let Some((_, level)) = recorder.iter().find(|(key, _)| *key == keys::HEAP) else {
        return match include.is_empty() && exclude.is_empty() && !all {
            true => Ok(None),
            false => {
                Err("heap-include and heap-exclude go with heap=counts or heap=objects, and so does heap-all"
                    .to_owned())
            }
        };
    };
    let patterns = [include.to_vec(), exclude.to_vec()];
    Ok(Some(Heap {
        classes: Classes::new(include, exclude)?,
        patterns,
        biographies: level == word::Heap::Objects.word(),
        all,
        holders: Duration::from_secs(HOLDERS_SECONDS),
    }))
}

/// Patterns that are joined with `:`, or with `,` as the recorder's setting takes them.
pub(crate) fn parse_roots(value: &str) -> Result<Vec<String>, String> {
    let pattern = |text: &str| Pattern::new(text).map(|_| text.trim().to_owned());
    let patterns: Result<Vec<String>, _> = split_list(value, &[':', ',']).into_iter().map(pattern).collect();
    patterns.map_err(|error| format!("root={value}: {error}"))
}

fn parse_transforms(value: &str) -> Result<Transforms, String> {
    let words: Result<Vec<Transform>, String> =
        value.split(':').map(|name| word(keys::TRANSFORM, name)).collect();
    let list = words?;
    if list.contains(&Transform::ObjectInit) {
        return Err(format!(
            "transform={}: it is for rewritten archives; heap=counts records every object",
            Transform::ObjectInit.word()
        ));
    }
    Ok(Transform::set(&list))
}

#[cfg(test)]
mod tests {
    use super::*;
    use instrument_rewriter::filter::ClassVerdict;

    #[test]
    fn nothing_means_the_methods_of_the_program() {
        let options = Options::parse("").unwrap();
        let usual = Transforms { method_events: true, thread_links: true, waits: true, ..Transforms::NONE };
        assert_eq!(options.transforms, usual);
        assert_eq!(options.filter.class(b"com/acme/Foo"), ClassVerdict::All);
        assert!(options.jdk_filter.is_none() && options.recorder.is_empty());
    }

    #[test]
    fn values_may_hold_commas_and_lists() {
        let options = Options::parse(
            r"out=/tmp/a\,b\\c/,include=com.a.*:com.b.*#f(Ljava/lang/String;),include=c.D,record=counts,record=tree,,transform=allocation:method-events",
        )
        .unwrap();
        assert_eq!(options.recorder, [("out", r"/tmp/a,b\c/".to_owned()), ("record", "tree".to_owned())]);
        assert_eq!(options.filter.class(b"c/D"), ClassVerdict::All);
        assert_eq!(options.filter.class(b"com/b/X"), ClassVerdict::ByMethod);
        assert!(options.transforms.allocation && options.transforms.method_events);
    }

    #[test]
    fn values_for_the_recorder_have_no_line_break() {
        for text in ["out=/tmp/a\nb", "out=/tmp/a\rb", "name=a\n"] {
            let error = Options::parse(text).map(|_| ()).unwrap_err();
            assert!(error.contains("line break") && !error.contains(['\n', '\r']), "{error}");
        }
    }

    #[test]
    fn all_library_calls_means_all_classes_that_are_not_excluded() {
        let options =
            Options::parse("include=com.acme.**,exclude=java.util.zip.**,library-calls=all").unwrap();
        let jdk = options.jdk_filter.unwrap();
        for filter in [&options.filter, &jdk] {
            assert_eq!(filter.class(b"org/Other"), ClassVerdict::All);
            assert!(matches!(filter.class(b"java/util/zip/Inflater"), ClassVerdict::Skip(_)));
        }
        let options = Options::parse("include=com.acme.**,library-calls=top-level").unwrap();
        assert!(matches!(options.filter.class(b"org/Other"), ClassVerdict::Skip(_)));
    }

    #[test]
    fn a_program_is_armed_with_one_word() {
        let armed = |text: &str| Options::parse(text).unwrap().armed;
        assert!(armed("armed") && armed("out=/tmp/,armed,record=counts") && armed("armed=on"));
        assert!(!armed("") && !armed("armed=off"));
    }

    #[test]
    fn threads_are_recorded_if_asked_for() {
        let threads = |text: &str| Options::parse(text).unwrap().threads;
        assert_eq!(threads("owners=all"), None);
        assert_eq!(threads("threads=on"), Some(Owners::On));
        assert_eq!(threads("threads=on,owners=off"), Some(Owners::Off));
    }

    #[test]
    fn only_patterns_that_begin_with_a_name_are_about_the_jdk() {
        assert!(Options::parse("include=**").unwrap().jdk_filter.is_none());
        let options = Options::parse("include=**Service:java.util.**,exclude=java.util.zip.**").unwrap();
        let jdk = options.jdk_filter.unwrap();
        assert_eq!(jdk.class(b"java/util/HashMap"), ClassVerdict::All);
        assert!(matches!(jdk.class(b"java/util/zip/Inflater"), ClassVerdict::Skip(_)));
        assert!(matches!(jdk.class(b"javax/print/PrintService"), ClassVerdict::Skip(_)));
    }

    #[test]
    fn wrong_options_are_named() {
        for (text, reason) in [
            ("recrod=tree", "unknown option `recrod`; there are out, "),
            ("include", "option `include` is not KEY=VALUE"),
            ("out=", "option `out` has no value"),
            ("include=a..b", "bad pattern `a..b`"),
            ("record=everything", "record=everything: there are off, counts, tree, trace"),
            ("burst=1s", "burst: `1s` is not ON/PERIOD"),
            ("burst=2s/1s", "burst: `2s/1s`: a burst takes at least 1ms"),
            ("clock=sundial", "clock=sundial: there are tsc, monotonic"),
            ("threads=yes", "threads=yes: there are off, on"),
            ("early=yes", "early=yes: there are off, on"),
            ("armed=yes", "armed=yes: there are off, on"),
            ("armed,early=on", "early=on is about the start of the program"),
            ("disarmed", "option `disarmed` is not KEY=VALUE"),
            ("owners=1", "owners=1: there are on, all, off"),
            ("library-calls=some", "library-calls=some: there are none, top-level, all"),
            ("library-calls=all,transform=rmi", "method-events"),
            ("transform=rim", "transform=rim: there are method-events, bytecodes, lines, allocation, "),
            ("transform=object-init", "heap=counts records every object"),
            ("heap=all", "heap=all: there are counts, objects"),
            ("heap=counts,heap-holders=5", "heap-holders goes with heap=objects"),
            ("heap-holders=5", "heap-holders goes with heap=objects"),
            ("heap=objects,heap-holders=1e9", "heap-holders=1e9: a number of seconds, 86400 at most"),
            ("heap-include=a.B", "heap-include and heap-exclude go with heap="),
            ("no-rewrite=a.B#c", "whole classes are left"),
            ("heap-all=on", "so does heap-all"),
            ("heap-all=on,heap=counts,early=on", "leave out early=on"),
            ("heap=counts,heap-exclude=a.B#c", "objects are chosen by their classes"),
            ("heap=counts,heap-exclude=a..b", "bad pattern `a..b`"),
            ("heap=counts,transform=allocation", "heap sees what transform=allocation sees"),
            ("root=a..b", "root=a..b: "),
            ("latency=a..b", "latency=a..b: "),
            ("latency=A#b,record=trace", "a trace has the times of every call already"),
            ("region=Foo", "region=Foo: "),
            ("region=Foo:1,region=Foo:1", "Foo:1 is given twice"),
            (r"out=a\b", "a backslash"),
            (r"out=a\", "a backslash"),
        ] {
            let error = Options::parse(text).expect_err(text);
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
