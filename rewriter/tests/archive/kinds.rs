//! The kinds of archives: where the runtime goes, what is reached, and what is refused.

use instrument_rewriter::archive::{Kind, Layout, Options, Unread};

use crate::archive::build::{class_bytes, deflated, entry, zip};
use crate::archive::fake::{MARK, Marker, mark_and_add, run_with, runtime};
use crate::archive::inspect::{Seen, entries, find};

fn class(name: &str) -> crate::archive::build::Entry {
    deflated(name, class_bytes(name.len() as u32, 300))
}

fn is_marked(seen: &[Seen], name: &str) -> bool {
    find(seen, name).content.ends_with(MARK)
}

fn layout_of(name: &str, input: &[u8]) -> Layout {
    let mut marker = Marker::default();
    run_with(name, input, &mut marker, &Options::default()).unwrap();
    marker.layout.unwrap()
}

#[test]
fn plain_jar() {
    let input = zip([class("a/A.class"), class("META-INF/versions/11/a/A.class")]);
    assert_eq!(layout_of("x.jar", &input), Layout { kind: Kind::Jar, prefix: "", library: None });
    let seen = entries(&mark_and_add("x.jar", &input).unwrap().0);
    assert!(is_marked(&seen, "a/A.class") && is_marked(&seen, "META-INF/versions/11/a/A.class"));
    assert_eq!(find(&seen, "META-INF/instrument/ids").content, runtime()[1].data);
}

#[test]
fn spring_boot_jar() {
    let lib = zip([class("l/L.class")]);
    let input = zip([
        class("org/springframework/boot/loader/JarLauncher.class"),
        class("BOOT-INF/classes/a/A.class"),
        entry("BOOT-INF/lib/l.jar", &lib),
        entry("BOOT-INF/classpath.idx", "- \"BOOT-INF/lib/l.jar\"\n"),
    ]);
    assert_eq!(layout_of("x.jar", &input), Layout { kind: Kind::SpringBoot, prefix: "", library: None });
    let (out, outcome) = mark_and_add("x.jar", &input).unwrap();
    assert_eq!((outcome.kind, outcome.classes), (Some(Kind::SpringBoot), 3));
    assert_eq!((outcome.entries, outcome.copied, outcome.nested_changed), (5, 1, 1));
    let seen = entries(&out);
    assert_eq!(find(&seen, "instrument/runtime/ProfilerRuntime.class").content, runtime()[0].data);
    let lib = find(&seen, "BOOT-INF/lib/l.jar");
    assert_eq!(lib.method, 0);
    assert!(is_marked(&entries(&lib.content), "l/L.class"));
    assert_eq!(entries(&lib.content).len(), 1, "the runtime is added once");
}

#[test]
fn war() {
    let lib = zip([class("l/L.class")]);
    let input = zip([
        class("WEB-INF/classes/a/A.class"),
        deflated("WEB-INF/lib/l.jar", &lib),
        class("applet/Applet.class"),
        entry("download/client.jar", &lib),
        class("org/springframework/boot/loader/WarLauncher.class"),
    ]);
    for name in ["x.war", "noname"] {
        let layout = layout_of(name, &input);
        assert_eq!(layout, Layout { kind: Kind::War, prefix: "WEB-INF/classes/", library: None });
    }
    let (out, outcome) = mark_and_add("x.war", &input).unwrap();
    let seen = entries(&out);
    assert!(is_marked(&seen, "WEB-INF/classes/a/A.class"));
    assert_eq!(find(&seen, "WEB-INF/lib/l.jar").method, 8);
    assert!(is_marked(&entries(&find(&seen, "WEB-INF/lib/l.jar").content), "l/L.class"));
    assert_eq!(seen[2].content, entries(&input)[2].content);
    assert_eq!(seen[3].content, lib);
    let skipped: Vec<_> = outcome.skipped.iter().map(|s| s.at.as_str()).collect();
    assert_eq!(
        skipped,
        [
            "x.war!applet/Applet.class",
            "x.war!download/client.jar",
            "x.war!org/springframework/boot/loader/WarLauncher.class"
        ]
    );
    assert!(outcome.skipped.iter().all(|s| s.reason == Unread::OutsideClassPath));
    find(&seen, "WEB-INF/classes/instrument/runtime/ProfilerRuntime.class");
    find(&seen, "WEB-INF/classes/META-INF/instrument/ids");
}

#[test]
fn jmod() {
    let jar = zip([class("l/L.class")]);
    let zipped = zip([
        class("classes/a/A.class"),
        deflated("classes/l.jar", &jar),
        deflated("bin/tool", "#!/bin/sh"),
        class("lib/B.class"),
    ]);
    // The magic of `jmod`, in front of what is a zip otherwise.
    let input = [b"JM\x01\x00", &zipped[..]].concat();
    assert_eq!(layout_of("x.jmod", &input), Layout { kind: Kind::Jmod, prefix: "classes/", library: None });
    let (out, outcome) = mark_and_add("x.jmod", &input).unwrap();
    assert_eq!((outcome.classes, outcome.rewritten, outcome.nested), (1, 1, 0));
    assert!(out.starts_with(b"JM\x01\x00"));
    let seen = entries(&out);
    assert!(is_marked(&seen, "classes/a/A.class") && !is_marked(&seen, "lib/B.class"));
    assert_eq!(find(&seen, "classes/l.jar").content, jar);
    find(&seen, "classes/instrument/runtime/ProfilerRuntime.class");
    find(&seen, "classes/META-INF/instrument/ids");
    let again = mark_and_add("x.jmod", &out).unwrap_err();
    assert_eq!(again.kind.code(), "already-instrumented");
}

#[test]
fn ear() {
    let war = zip([class("WEB-INF/classes/w/W.class")]);
    let ejb = zip([class("e/E.class")]);
    let xml = |library: &str| {
        let text =
            format!("<application><!-- <library-directory>no</library-directory> -->{library}</application>");
        zip([
            deflated("META-INF/application.xml", text),
            entry("w.war", &war),
            deflated("e.jar", &ejb),
            class("unmatched.class"),
        ])
    };
    for (library, folder) in [
        ("", "lib"),
        ("<library-directory> APP-INF/lib/ </library-directory>", "APP-INF/lib"),
        ("<library-directory>../up</library-directory>", "lib"),
        ("<library-directory/>", "lib"),
    ] {
        let input = xml(library);
        let jar = format!("{folder}/instrument-runtime.jar");
        let layout = layout_of("x", &input);
        assert_eq!(layout, Layout { kind: Kind::Ear, prefix: "", library: Some(jar.clone()) });
        let (out, outcome) = mark_and_add("x.ear", &input).unwrap();
        assert_eq!((outcome.classes, outcome.added, outcome.nested_changed), (2, 1, 2));
        let seen = entries(&out);
        assert!(is_marked(&entries(&find(&seen, "w.war").content), "WEB-INF/classes/w/W.class"));
        assert!(is_marked(&entries(&find(&seen, "e.jar").content), "e/E.class"));
        assert!(!is_marked(&seen, "unmatched.class"));
        let added = find(&seen, &jar);
        assert_eq!(added.method, 0);
        let inside: Vec<_> = entries(&added.content).iter().map(Seen::name).collect();
        let expected =
            ["META-INF/MANIFEST.MF", "instrument/runtime/ProfilerRuntime.class", "META-INF/instrument/ids"];
        assert_eq!(inside, expected);
        crate::archive::inspect::zip_crate_reads(&added.content);
    }
}

#[test]
fn instrumented_archives_are_refused_by_name() {
    let once = zip([class("a/A.class")]);
    let boot = zip([class("BOOT-INF/classes/a/A.class")]);
    let war = zip([class("WEB-INF/classes/a/A.class")]);
    let ear = zip([deflated("META-INF/application.xml", "<application/>"), entry("x.war", &war)]);
    for (name, input, at) in [
        ("x.jar", &once, "x.jar"),
        ("x.jar", &boot, "x.jar"),
        ("x.war", &war, "x.war"),
        ("x.ear", &ear, "x.ear!lib/instrument-runtime.jar"),
    ] {
        let (out, _) = mark_and_add(name, input).unwrap();
        let error = mark_and_add(name, &out).unwrap_err();
        assert_eq!((error.at.as_str(), error.kind.code()), (at, "already-instrumented"));
        assert!(error.to_string().contains("META-INF/instrument/ids"), "{error}");
    }
    let (lib, _) = mark_and_add("l.jar", &once).unwrap();
    let app = zip([entry("BOOT-INF/lib/l.jar", &lib)]);
    assert_eq!(mark_and_add("app.jar", &app).unwrap_err().at, "app.jar!BOOT-INF/lib/l.jar");
}
