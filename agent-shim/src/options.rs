//! The option string: `KEY=VALUE`, joined with commas, as in `-agentpath:libinstrument_agent.so=out=/tmp/,include=com.acme.**`.
//!
//! | key | value |
//! |---|---|
//! | `include`, `exclude` | patterns as the command line takes them, joined with `:`; the keys may be repeated |
//! | `transform` | what to insert: `method-events`, `thread-links`, `hand-over`, `allocation`, joined with `:`; default: the first two |
//! | `ids` | a file of method ids that several builds and runs share; without it ids are given in the order of loading |
//! | `report` | a file for the account of every class and method, as JSON lines |
//! | `dump` | a directory for the classes as they were rewritten |
//! | `heap-dump` | a file for a dump of the heap, as it is when the program ends; `%p` is the process id |
//! | `out`, `name`, `record`, `timing`, .. | for the recorder: system property `instrument.KEY`, unless the program sets that itself |
//!
//! A comma or backslash within a value is written with a backslash before it. (`;` cannot separate patterns: it is part of descriptors.)
//! Relative paths start from the working directory of the virtual machine.
//!
//! The classes of the JDK (the boot and platform loaders') are left alone, unless an include pattern names them: one that begins
//! with a name, as `java.util.**` does and `**` does not.

use instrument_rewriter::filter::Filter;
use instrument_rewriter::rewrite::Transforms;
use std::path::PathBuf;

/// Keys that the recorder knows.
const RECORDER_KEYS: [&str; 11] = [
    "out",
    "name",
    "record",
    "timing",
    "limit",
    "depth",
    "contexts",
    "cpu",
    "sizes",
    "calibrate",
    "snapshot",
];
/// The rest.
const AGENT_KEYS: [&str; 7] = ["include", "exclude", "transform", "ids", "report", "dump", "heap-dump"];
const RECORD: [&str; 4] = ["off", "counts", "tree", "trace"];

/// What the user wants.
#[derive(Debug)]
pub(crate) struct Options {
    /// For the classes of the program.
    pub(crate) filter: Filter,
    /// For the classes of the JDK; none: they stay as they are.
    pub(crate) jdk_filter: Option<Filter>,
    pub(crate) transforms: Transforms,
    pub(crate) ids: Option<PathBuf>,
    pub(crate) report: Option<PathBuf>,
    pub(crate) dump: Option<PathBuf>,
    pub(crate) heap_dump: Option<PathBuf>,
    /// Keys and values for the recorder.
    pub(crate) recorder: Vec<(&'static str, String)>,
}

impl Options {
    /// Reads an option string.
    ///
    /// # Errors
    /// What is wrong with it, in one sentence.
    pub(crate) fn parse(text: &str) -> Result<Options, String> {
        let (mut include, mut exclude): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        let mut transforms = None;
        let (mut ids, mut report, mut dump, mut heap_dump) = (None, None, None, None);
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
                "transform" => transforms = Some(parse_transforms(value)?),
                "ids" => ids = path(),
                "report" => report = path(),
                "dump" => dump = path(),
                "heap-dump" => heap_dump = path(),
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
        let filter = Filter::new(&include, &exclude).map_err(|error| error.to_string())?;
        let named: Vec<&str> =
            include.iter().flat_map(|list| list.split(':')).filter(|p| !p.starts_with(['*', '?'])).collect();
        let excluded: Vec<&str> = exclude.iter().map(String::as_str).collect();
        let jdk_filter = match named.is_empty() {
            true => None,
            false => Some(Filter::new(&named, &excluded).map_err(|error| error.to_string())?),
        };
        let usual = Transforms { method_events: true, thread_links: true, ..Transforms::default() };
        Ok(Options {
            filter,
            jdk_filter,
            transforms: transforms.unwrap_or(usual),
            ids,
            report,
            dump,
            heap_dump,
            recorder,
        })
    }
}

fn parse_transforms(value: &str) -> Result<Transforms, String> {
    let mut transforms = Transforms::default();
    for name in value.split(':') {
        match name {
            "method-events" => transforms.method_events = true,
            "thread-links" => transforms.thread_links = true,
            "hand-over" => transforms.hand_over = true,
            "allocation" => transforms.allocation = true,
            _ => {
                return Err(format!(
                    "transform={name}: there are method-events, thread-links, hand-over and allocation"
                ));
            }
        }
    }
    Ok(transforms)
}

/// At every comma that has no backslash before it.
fn split(text: &str) -> Result<Vec<String>, String> {
    let mut options = Vec::new();
    let mut option = String::new();
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
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
        let usual = Transforms { method_events: true, thread_links: true, ..Transforms::NONE };
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
            ("recrod=tree", "unknown option `recrod`; there are include, "),
            ("include", "option `include` is not KEY=VALUE"),
            ("out=", "option `out` has no value"),
            ("include=a..b", "bad pattern `a..b`"),
            ("record=everything", "record=everything: there are off, counts, tree, trace"),
            ("transform=rmi", "transform=rmi: there are method-events, thread-links, "),
            (r"out=a\b", "a backslash"),
            (r"out=a\", "a backslash"),
        ] {
            let error = Options::parse(text).expect_err(text);
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
