use super::*;
use instrument_rewriter::filter::ClassVerdict;

#[test]
fn nothing_means_the_methods_of_the_program() {
    let options = Options::parse("").unwrap();
    let usual = Transforms {
        method_events: true,
        thread_links: true,
        references: true,
        waits: true,
        ..Transforms::NONE
    };
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
fn only_classes_of_a_file_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("classes");
    std::fs::write(&file, "a.Job\na/Job\na/Work").unwrap();
    let text = |exclude: &str| format!("subclasses={},exclude={exclude}", file.display());
    let options = Options::parse(&text("x.Y")).unwrap();
    assert_eq!(options.filter.class(b"a/Work"), ClassVerdict::All);
    assert!(matches!(options.filter.class(b"a/Other"), ClassVerdict::Skip(_)));
    assert!(options.selection.to_string().contains("subclasses-of=a.Job"), "{}", options.selection);
    let both = Options::parse(&text("a.Work")).unwrap();
    assert!(matches!(both.filter.class(b"a/Work"), ClassVerdict::Skip(_)));
    assert!(Options::parse("subclasses=/nowhere/x").err().unwrap().contains("/nowhere/x"));
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
    let options = Options::parse("include=com.acme.**,exclude=java.util.zip.**,library-calls=all").unwrap();
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
