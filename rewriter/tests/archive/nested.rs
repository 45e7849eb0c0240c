//! Archives in archives.

use instrument_rewriter::archive::{Limits, Options, Unread};

use crate::archive::build::{Entry, class_bytes, deflated, entry, zip};
use crate::archive::fake::{MARK, Marker, error_of, mark, run_with, without_mark};
use crate::archive::inspect::{assert_same_header, entries, find, zip_crate_reads};

/// An archive in an archive, `depth` times, with a class at each level.
fn onion(depth: usize) -> Vec<u8> {
    let mut bytes = zip([deflated(format!("L{depth}.class"), class_bytes(depth as u32, 400))]);
    for level in (0..depth).rev() {
        let nested = if level % 2 == 0 { entry("in.jar", &bytes) } else { deflated("in.jar", &bytes) };
        bytes = zip([
            deflated(format!("L{level}.class"), class_bytes(level as u32, 400)),
            nested,
            deflated(format!("after{level}.class"), class_bytes(9, 200)),
        ]);
    }
    bytes
}

#[test]
fn classes_are_reached_in_archive_order_down_to_the_limit() {
    let input = onion(5);
    let mut marker = Marker::default();
    let (out, outcome) = run_with("x.jar", &input, &mut marker, &Options::default()).unwrap();
    assert_eq!(
        marker.log,
        [
            "x.jar!L0.class",
            "x.jar!in.jar!L1.class",
            "x.jar!in.jar!in.jar!L2.class",
            "x.jar!in.jar!in.jar!in.jar!L3.class",
            "x.jar!in.jar!in.jar!in.jar!after3.class",
            "x.jar!in.jar!in.jar!after2.class",
            "x.jar!in.jar!after1.class",
            "x.jar!after0.class",
        ]
    );
    let [skipped] = &outcome.skipped[..] else { panic!("{:?}", outcome.skipped) };
    assert_eq!(skipped.at, "x.jar!in.jar!in.jar!in.jar!in.jar");
    assert_eq!(skipped.reason, Unread::Depth);
    let (mut before, mut after) = (entries(&input), entries(&out));
    for level in 0..=3 {
        assert_eq!(before.len(), after.len());
        for (before, after) in before.iter().zip(&after) {
            assert_same_header(before, after);
            if before.name.ends_with(b".class") {
                assert_eq!(before.content, without_mark(&after.content));
            }
        }
        let (b, a) = (find(&before, "in.jar").content.clone(), find(&after, "in.jar").content.clone());
        zip_crate_reads(&a);
        if level == 3 {
            assert_eq!(a, b, "the archive that is too deep is the input's own bytes");
            break;
        }
        (before, after) = (entries(&b), entries(&a));
    }

    let limits = Limits { depth: 0, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    let (_, outcome) = run_with("x.jar", &input, &mut Marker::default(), &options).unwrap();
    assert_eq!((outcome.classes, outcome.nested, outcome.skipped.len()), (2, 0, 1));
}

#[test]
fn a_nested_archive_without_a_change_keeps_its_bytes() {
    let lib = zip([deflated("keep/K.class", class_bytes(1, 300))]);
    let input =
        zip([deflated("a.jar", &lib), deflated("A.class", class_bytes(1, 300)), entry("b.jar", &lib)]);
    let mut marker = Marker { wants: |at| !at.contains("keep"), ..Marker::default() };
    let (out, outcome) = run_with("x.jar", &input, &mut marker, &Options::default()).unwrap();
    assert_eq!((outcome.nested, outcome.nested_changed, outcome.rewritten), (2, 0, 1));
    let (before, after) = (entries(&input), entries(&out));
    assert_eq!(input[..before[1].start], out[..after[1].start]);
    assert_eq!(after[2].content, lib);
}

#[test]
fn what_is_only_named_like_an_archive_is_copied_and_named() {
    let cut = &onion(1)[..200];
    let input = zip([
        entry("broken.jar", "no zip at all"),
        deflated("cut.war", cut),
        entry("empty.jar", ""),
        entry("folder.jar/", ""),
        entry("A.class", class_bytes(1, 60)),
    ]);
    let (out, outcome) = mark("x.jar", &input).unwrap();
    let skipped: Vec<_> =
        outcome.skipped.iter().map(|s| (s.at.as_str(), s.reason.reason().as_str())).collect();
    assert_eq!(skipped, [("x.jar!broken.jar", "not-an-archive"), ("x.jar!cut.war", "not-an-archive")]);
    assert_eq!(entries(&input)[..4], entries(&out)[..4]);
    assert!(find(&entries(&out), "A.class").content.ends_with(MARK));
}

#[test]
fn errors_name_the_whole_path() {
    let lib = zip([Entry { crc: Some(1), ..deflated("p/Bad.class", class_bytes(1, 200)) }]);
    let input = zip([entry("WEB-INF/lib/l.jar", zip([deflated("m.jar", &lib)]))]);
    let error = mark("app.war", &input).unwrap_err();
    assert_eq!(error.at, "app.war!WEB-INF/lib/l.jar!m.jar!p/Bad.class");
    assert_eq!(error.kind.code(), "bad-crc");
    assert_eq!(error_of(&zip([Entry { crc: Some(1), ..entry("l.jar", &lib) }])), "bad-crc");
}
