//! The option string: `KEY=VALUE`, joined with commas, as in `-agentpath:libinstrument_agent.so=out=/tmp/,include=com.acme.**`.
//!
//! | key | value |
//! |---|---|
//! | `include`, `exclude` | patterns as the command line takes them, joined with `:`; the keys may be repeated |
//! | `no-rewrite` | classes that are not rewritten at all, patterns as for `exclude`; `include` and `exclude` choose methods whose calls are recorded |
//! | `transform` | what to insert: `method-events`, `thread-links`, `waits`, `hand-over`, `allocation`, `rmi`, joined with `:`; default: the first three |
//! | `library-calls` | `top-level`: calls of what is not rewritten are recorded where they are made; `all`: everything is rewritten but for `exclude`, the JDK's classes, too, and the rest recorded so; `none` (default) |
//! | `root` | records only what methods that match do, and the threads that they start; patterns joined with `:`; may be repeated |
//! | `region` | times a code region, as `--region` does; may be repeated. Without `transform` nothing else is inserted |
//! | `ids` | a file of method ids that several builds and runs share; without it ids are given in the order of loading |
//! | `heap` | `counts`: every object that is made, by class and context; `objects`: also when and by whom each was made, and when it was gone |
//! | `heap-include`, `heap-exclude` | which objects: patterns on their classes, arrays as `int[]`, `com.acme.Foo[]` or `com.acme.**` |
//! | `heap-all` | `on`: every object that the virtual machine makes is recorded, whoever makes it, arrays of JDK classes, reflection and native code included; the virtual machine reports them (JVMTI SampledObjectAlloc), which takes about 0.4 us each |
//! | `early` | `on`: classes are rewritten from the first one on, before the virtual machine is initialised, which turns class data sharing off |
//! | `account` | a file for the account of every class and method, as JSON lines |
//! | `dump` | a directory for the classes as they were rewritten |
//! | `heap-dump` | a file for a dump of the heap, as it is when the program ends; `%p` is the process id |
//! | `ctl` | `off`: requests to the program are not answered; or a path for the socket, else one is in the user's own directory |
//! | `clock` | `tsc`: the processor's counter, where the system tells the time by it (default); `monotonic`: `System.nanoTime()` |
//! | `threads` | `on`: threads and their waits for monitors are recorded |
//! | `keep-threads` | up to this many threads keep rows of their own after they ended; the others are added up by pool (256); of virtual ones 16 at most |
//! | `owners` | whether the virtual machine is asked who has a monitor: `on` (as long as that takes 2 % of the time or less), `all`, `off` |
//! | `out`, `name`, `record`, `timing`, .. | for the recorder: system property `instrument.KEY`, unless the program sets that itself |
//!
//! A comma or backslash within a value is written with a backslash before it; the commas of `X.f(int,int)` need none. (`;` cannot separate patterns: it is part of descriptors.)
//! Relative paths start from the working directory of the virtual machine.
//!
//! The classes of the JDK (the boot and platform loaders') are left alone, unless an include pattern names them: one that begins
//! with a name, as `java.util.**` does and `**` does not.

use crate::clock::Wanted;
use crate::heap::Classes;
use crate::monitors::Owners;
use instrument_names::pattern::{Pattern, split_list};
use instrument_rewriter::filter::Filter;
use instrument_rewriter::library::LibraryCalls;
use instrument_rewriter::region::Region;
use instrument_rewriter::rewrite::Transforms;
use std::path::PathBuf;

/// Keys that the recorder knows.
const RECORDER_KEYS: [&str; 13] = [
    "out",
    "name",
    "record",
    "timing",
    "limit",
    "depth",
    "contexts",
    "keep-threads",
    "cpu",
    "sizes",
    "calibrate",
    "snapshot",
    "heap",
];
/// The rest.
const AGENT_KEYS: [&str; 19] = [
    "include",
    "exclude",
    "no-rewrite",
    "transform",
    "library-calls",
    "root",
    "region",
    "ids",
    "account",
    "dump",
    "heap-dump",
    "ctl",
    "heap-include",
    "heap-exclude",
    "heap-all",
    "clock",
    "threads",
    "owners",
    "early",
];
const HEAP: [&str; 2] = ["counts", "objects"];
const RECORD: [&str; 4] = ["off", "counts", "tree", "trace"];

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

/// What the user wants.
#[derive(Debug)]
pub(crate) struct Options {
    /// For the classes of the program.
    pub(crate) filter: Filter,
    /// Excludes the classes that are not rewritten at all.
    pub(crate) untouched: Filter,
    /// For the classes of the JDK; none: they stay as they are.
    pub(crate) jdk_filter: Option<Filter>,
    pub(crate) transforms: Transforms,
    pub(crate) library_calls: LibraryCalls,
    /// Patterns, one each.
    pub(crate) roots: Vec<String>,
    pub(crate) regions: Vec<Region>,
    pub(crate) ids: Option<PathBuf>,
    pub(crate) report: Option<PathBuf>,
    pub(crate) dump: Option<PathBuf>,
    pub(crate) heap_dump: Option<PathBuf>,
    pub(crate) ctl: Requests,
    pub(crate) clock: Wanted,
    /// Threads and their waits are recorded.
    pub(crate) threads: Option<Owners>,
    /// Classes are rewritten from the first one on.
    pub(crate) early: bool,
    /// The classes whose objects are recorded; none: objects are not.
    pub(crate) heap: Option<Heap>,
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
}

/// What `-agentpath:..=help` prints: the table on this page.
pub(crate) fn help() -> String {
    let rows = include_str!("options.rs").lines().filter_map(|line| line.strip_prefix("//! | `"));
    let mut text =
        String::from("Options of the agent: -agentpath:libinstrument_agent.so=KEY=VALUE,KEY=VALUE,..\n\n");
    for row in rows {
        let mut cells = row.trim_end_matches(" |").splitn(2, " | ");
        let (key, value) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        text += &format!("{}\n        {}\n", key.replace('`', ""), value.replace('`', ""));
    }
    text + "\nA comma or backslash within a value is written with a backslash before it. The command instrument run --help explains the same options.\n"
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
        let mut clock = Wanted::default();
        let (mut roots, mut regions): (Vec<String>, Vec<Region>) = (Vec::new(), Vec::new());
        let mut ctl = Requests::default();
        let (mut ids, mut report, mut dump, mut heap_dump) = (None, None, None, None);
        let (mut threads, mut owners) = (false, Owners::On);
        let (mut early, mut heap_all) = (false, false);
        let mut library_calls = LibraryCalls::None;
        let (mut heap_include, mut heap_exclude): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        let mut recorder: Vec<(&'static str, String)> = Vec::new();
        for option in split(text)? {
            let (key, value) =
                option.split_once('=').ok_or_else(|| format!("option `{option}` is not KEY=VALUE"))?;
            if value.is_empty() {
                return Err(format!("option `{key}` has no value"));
            }
            let path = || Some(PathBuf::from(value));
            match key {
                "include" => include.push(value.to_owned()),
                "exclude" => exclude.push(value.to_owned()),
                "no-rewrite" => untouched.push(value.to_owned()),
                "transform" => transforms = Some(parse_transforms(value)?),
                "root" => roots.extend(parse_roots(value)?),
                "region" => {
                    let region = Region::parse(value).map_err(|error| format!("region={value}: {error}"))?;
                    if regions.iter().any(|other| other.number == region.number) {
                        return Err(format!("region={value}: there is one that cannot be told from it"));
                    }
                    regions.push(region);
                }
                "library-calls" => library_calls = choose(key, value, &LibraryCalls::WORDS)?,
                "ids" => ids = path(),
                // What it was called once.
                "account" | "report" => report = path(),
                "dump" => dump = path(),
                "heap-dump" => heap_dump = path(),
                "ctl" if value == "off" => ctl = Requests::Off,
                "ctl" => ctl = Requests::At(PathBuf::from(value)),
                "clock" => {
                    clock = match value {
                        "tsc" => Wanted::Counter,
                        "monotonic" => Wanted::Monotonic,
                        _ => return Err(format!("clock={value}: there are tsc and monotonic")),
                    }
                }
                "threads" => threads = choose(key, value, &[("off", false), ("on", true)])?,
                "early" => early = choose(key, value, &[("off", false), ("on", true)])?,
                "heap-all" => heap_all = choose(key, value, &[("off", false), ("on", true)])?,
                "owners" => {
                    let all = [("on", Owners::On), ("all", Owners::All), ("off", Owners::Off)];
                    owners = choose(key, value, &all)?;
                }
                "heap-include" => heap_include.push(value.to_owned()),
                "heap-exclude" => heap_exclude.push(value.to_owned()),
                "heap" if !HEAP.contains(&value) => {
                    return Err(format!("heap={value}: there are {}", HEAP.join(", ")));
                }
                "record" if !RECORD.contains(&value) => {
                    return Err(format!("record={value}: there are {}", RECORD.join(", ")));
                }
                _ => {
                    let known = RECORDER_KEYS.iter().find(|known| **known == key).ok_or_else(|| {
                        let keys = [&AGENT_KEYS[..], &RECORDER_KEYS[..]].concat().join(", ");
                        format!("unknown option `{key}`; there are {keys}")
                    })?;
                    recorder.retain(|(key, _)| key != known);
                    recorder.push((known, value.to_owned()));
                }
            }
        }
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
        let heap = heap(&recorder, &heap_include, &heap_exclude, heap_all)?;
        if heap_all && early {
            return Err("heap-all=on: the virtual machine reports objects from when it is initialised on; leave out early=on".to_owned());
        }
        // A region costs next to nothing, unless everything around it is recorded.
        let events = regions.is_empty();
        // Without times there is no time to tell apart.
        let counts = recorder.iter().any(|(key, value)| *key == "record" && value == "counts");
        let waits = events && !counts;
        let usual =
            Transforms { method_events: events, thread_links: events, waits, ..Transforms::default() };
        let mut transforms = transforms.unwrap_or(usual);
        if let Some(heap) = &heap {
            if transforms.allocation {
                return Err("heap sees what transform=allocation sees, and more: one of them".to_owned());
            }
            transforms.array_allocation = !heap.all;
        }
        if library_calls != LibraryCalls::None && !transforms.method_events {
            return Err("library-calls is about calls of methods that method-events records, and it is not among the transforms".to_owned());
        }
        if transforms.waits && !transforms.method_events {
            return Err("transform=waits is about calls of methods that method-events records, and it is not among the transforms".to_owned());
        }
        if let Some(pattern) = untouched.iter().find(|pattern| pattern.contains(['#', '('])) {
            return Err(format!("no-rewrite={pattern}: it names a method, and whole classes are left"));
        }
        let untouched = Filter::new(&[], &untouched).map_err(|error| error.to_string())?;
        Ok(Options {
            filter,
            untouched,
            jdk_filter,
            transforms,
            library_calls,
            early,
            heap,
            roots,
            regions,
            ids,
            report,
            dump,
            heap_dump,
            ctl,
            clock,
            threads: threads.then_some(owners),
            recorder,
        })
    }
}

/// What a word stands for.
fn choose<T: Copy>(key: &str, value: &str, all: &[(&str, T)]) -> Result<T, String> {
    all.iter().find(|(word, _)| *word == value).map(|(_, meaning)| *meaning).ok_or_else(|| {
        let words: Vec<&str> = all.iter().map(|(word, _)| *word).collect();
        format!("{key}={value}: there are {}", words.join(", "))
    })
}

fn heap(
    recorder: &[(&'static str, String)],
    include: &[String],
    exclude: &[String],
    all: bool,
) -> Result<Option<Heap>, String> {
    let Some((_, level)) = recorder.iter().find(|(key, _)| *key == "heap") else {
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
        biographies: level == "objects",
        all,
    }))
}

/// Patterns that are joined with `:`, or with `,` as the recorder's setting takes them.
pub(crate) fn parse_roots(value: &str) -> Result<Vec<String>, String> {
    let pattern = |text: &str| Pattern::new(text).map(|_| text.trim().to_owned());
    let patterns: Result<Vec<String>, _> = split_list(value, &[':', ',']).into_iter().map(pattern).collect();
    patterns.map_err(|error| format!("root={value}: {error}"))
}

fn parse_transforms(value: &str) -> Result<Transforms, String> {
    let mut transforms = Transforms::default();
    for name in value.split(':') {
        match name {
            "method-events" => transforms.method_events = true,
            "thread-links" => transforms.thread_links = true,
            "waits" => transforms.waits = true,
            "hand-over" => transforms.hand_over = true,
            "allocation" => transforms.allocation = true,
            "array-allocation" => transforms.array_allocation = true,
            "rmi" => transforms.rmi = true,
            _ => {
                return Err(format!(
                    "transform={name}: there are method-events, thread-links, waits, hand-over, allocation, array-allocation and rmi"
                ));
            }
        }
    }
    Ok(transforms)
}

/// At every comma that has no backslash before it and stands in no parentheses.
fn split(text: &str) -> Result<Vec<String>, String> {
    let mut options = Vec::new();
    let mut option = String::new();
    let mut characters = text.chars();
    let mut is_in_parameters = false;
    while let Some(c) = characters.next() {
        match c {
            // A parenthesis in a path need not be closed.
            '(' => {
                is_in_parameters =
                    characters.as_str().split(['=', '(']).next().unwrap_or_default().contains(')');
                option.push(c);
            }
            ')' => {
                is_in_parameters = false;
                option.push(c);
            }
            ',' if is_in_parameters => option.push(c),
            '\\' => match characters.next() {
                Some(c @ (',' | '\\')) => option.push(c),
                _ => return Err("a backslash stands before a comma or another backslash only".to_owned()),
            },
            ',' => options.push(std::mem::take(&mut option)),
            _ => option.push(c),
        }
    }
    options.push(option);
    options.retain(|option| !option.is_empty());
    Ok(options)
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
    fn help_has_every_option_that_the_agent_takes() {
        let help = help();
        for key in AGENT_KEYS {
            let named = help.lines().any(|line| line.split(", ").any(|word| word == key));
            assert!(named, "{key} is not in\n{help}");
        }
        assert!(!help.contains('|') && !help.contains('`'), "{help}");
    }

    #[test]
    fn wrong_options_are_named() {
        for (text, reason) in [
            ("recrod=tree", "unknown option `recrod`; there are include, "),
            ("include", "option `include` is not KEY=VALUE"),
            ("out=", "option `out` has no value"),
            ("include=a..b", "bad pattern `a..b`"),
            ("record=everything", "record=everything: there are off, counts, tree, trace"),
            ("clock=sundial", "clock=sundial: there are tsc and monotonic"),
            ("threads=yes", "threads=yes: there are off, on"),
            ("early=yes", "early=yes: there are off, on"),
            ("owners=1", "owners=1: there are on, all, off"),
            ("library-calls=some", "library-calls=some: there are none, top-level, all"),
            ("library-calls=all,transform=rmi", "method-events"),
            ("transform=rim", "transform=rim: there are method-events, thread-links, "),
            ("heap=all", "heap=all: there are counts, objects"),
            ("heap-include=a.B", "heap-include and heap-exclude go with heap="),
            ("no-rewrite=a.B#c", "whole classes are left"),
            ("heap-all=on", "so does heap-all"),
            ("heap-all=on,heap=counts,early=on", "leave out early=on"),
            ("heap=counts,heap-exclude=a.B#c", "objects are chosen by their classes"),
            ("heap=counts,heap-exclude=a..b", "bad pattern `a..b`"),
            ("heap=counts,transform=allocation", "heap sees what transform=allocation sees"),
            ("root=a..b", "root=a..b: "),
            ("region=Foo", "region=Foo: "),
            ("region=Foo:1,region=Foo:1", "cannot be told"),
            (r"out=a\b", "a backslash"),
            (r"out=a\", "a backslash"),
        ] {
            let error = Options::parse(text).expect_err(text);
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
