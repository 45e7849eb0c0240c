//! What does not change is the input, byte for byte.

use crate::archive::build::{Entry, Zip, class_bytes, deflated, entry, extra, zip};
use crate::archive::fake::{Marker, mark, run_with};
use crate::archive::inspect::{
    assert_same_header, entries, tools_accept, without_class_marks, zip_crate_reads,
};
use instrument_rewriter::archive::Options;

fn plain() -> Vec<Entry> {
    vec![
        entry("META-INF/", ""),
        Entry {
            local_extra: extra(0xCAFE, b""),
            ..deflated("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\r\n\r\n")
        },
        deflated("a/A.class", class_bytes(1, 3000)),
        entry("a/B.class", class_bytes(2, 500)),
        Entry { comment: b"about".to_vec(), ..deflated("a/text.txt", "hello hello hello hello") },
        deflated("META-INF/versions/9/a/A.class", class_bytes(3, 700)),
    ]
}

/// One archive of every odd shape.
pub(crate) fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let plain = plain();
    let with = |change: &dyn Fn(&mut Zip)| {
        let mut zip = Zip { entries: plain.clone(), ..Zip::default() };
        change(&mut zip);
        zip.bytes()
    };
    let each = |change: &dyn Fn(&mut Entry)| with(&|zip| zip.entries.iter_mut().for_each(change));
    vec![
        ("plain", with(&|_| {})),
        ("empty", zip([])),
        ("comment", with(&|zip| zip.comment = b"the archive's comment".to_vec())),
        (
            "prefix, offsets from the zip",
            with(&|zip| zip.prefix = b"#!/bin/sh\nexec java -jar $0\n".to_vec()),
        ),
        (
            "prefix, offsets from the file",
            with(&|zip| {
                zip.prefix = b"#!/bin/sh\nexec java -jar $0\n".to_vec();
                zip.absolute = true;
            }),
        ),
        ("zip64 end", with(&|zip| zip.zip64_end = true)),
        ("zip64 everywhere", {
            with(&|zip| {
                zip.zip64_end = true;
                zip.entries.iter_mut().for_each(|e| e.zip64 = true);
            })
        }),
        ("descriptors", each(&|e| e.descriptor = Some((4, true)))),
        ("descriptors, no signature", each(&|e| e.descriptor = Some((4, false)))),
        (
            "zip64 descriptors",
            each(&|e| {
                e.descriptor = Some((8, true));
                e.zip64 = true;
            }),
        ),
        ("gaps", each(&|e| e.gap = b"left behind".to_vec())),
        ("signing block", with(&|zip| zip.before_directory = vec![7; 4096])),
        ("trailing bytes", with(&|zip| zip.trailing = b"appended".to_vec())),
        ("extras", {
            each(&|e| {
                e.local_extra.extend(extra(0x5455, b"\x01abcd"));
                e.central_extra.extend(extra(0x5455, b"\x01abcd"));
                e.central_extra.extend(extra(0x7875, b"\x01\x04aaaa\x04bbbb"));
            })
        }),
        ("another directory order", with(&|zip| zip.central_order = Some(vec![5, 0, 1, 4, 3, 2]))),
        (
            "duplicates",
            with(&|zip| {
                zip.entries.push(deflated("a/A.class", class_bytes(9, 800)));
                zip.entries.push(entry("META-INF/", ""));
            }),
        ),
        ("class as a directory", with(&|zip| zip.entries.push(deflated("x/D.class/", class_bytes(4, 300))))),
        ("name not UTF-8", with(&|zip| zip.entries.push(deflated(b"\xff\xfe/K.class", class_bytes(5, 300))))),
        ("unsafe names", {
            with(&|zip| {
                for name in ["../up.class", "/root.class", "CON.class", "con.class"] {
                    zip.entries.push(deflated(name, class_bytes(5, 300)));
                }
            })
        }),
        (
            "a symlink",
            with(&|zip| {
                zip.entries.push(Entry { attributes: 0o120777 << 16, ..entry("link", "/etc/passwd") })
            }),
        ),
    ]
}

#[test]
fn untouched_archives_are_the_input() {
    for (what, input) in samples() {
        let mut marker = Marker { wants: |_| false, ..Marker::default() };
        let (out, outcome) = run_with("x.jar", &input, &mut marker, &Options::default()).expect(what);
        assert!(out == input, "{what}");
        assert_eq!((outcome.rewritten, outcome.changed), (0, false), "{what}");
        assert_eq!(outcome.copied, outcome.entries, "{what}");
        assert!(outcome.skipped.is_empty(), "{what}: {:?}", outcome.skipped);
        assert!(what == "empty" || outcome.classes >= 3, "{what}");
    }
}

#[test]
fn touched_archives_keep_everything_else() {
    for (what, input) in samples() {
        if what == "empty" {
            continue;
        }
        let (out, outcome) = mark("x.jar", &input).expect(what);
        assert_eq!(outcome.rewritten, outcome.classes, "{what}");
        let (before, after) = (entries(&input), entries(&out));
        assert_eq!(before.len(), after.len(), "{what}");
        for (before, after) in before.iter().zip(&after) {
            assert_same_header(before, after);
            without_class_marks(before, after);
        }
        zip_crate_reads(&out);
        tools_accept(&input, &out);
    }
}

#[test]
fn first_bytes_and_end_are_kept() {
    for (what, input) in samples() {
        let (out, _) = mark("x.jar", &input).expect(what);
        let first = entries(&input).iter().map(|e| e.start).min().unwrap_or(0);
        assert_eq!(input[..first], out[..first], "{what}: prefix");
        let end = |bytes: &[u8]| {
            let at = (0..bytes.len() - 3).rev().find(|&at| bytes[at..].starts_with(b"PK\x05\x06")).unwrap();
            bytes[at + 20..].to_vec()
        };
        assert_eq!(end(&input), end(&out), "{what}: comment and what follows");
        let zip64 = |bytes: &[u8]| bytes.windows(4).any(|w| w == b"PK\x06\x06");
        assert_eq!(zip64(&input), zip64(&out), "{what}: zip64 end record");
    }
}

/// The archives in a folder and below.
fn archives_in(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
    for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = file.path();
        let is_archive = path.extension().is_some_and(|e| e == "jar" || e == "war" || e == "ear");
        if path.is_symlink() {
            continue;
        } else if path.is_dir() {
            archives_in(&path, found);
        } else if is_archive {
            found.push(path);
        }
    }
}

/// Every jar installed on this machine (or in the folder `ARCHIVE_JARS`): untouched it is the input, and touched
/// it reads well.
#[test]
fn installed_jars() {
    let folder = std::env::var("ARCHIVE_JARS").unwrap_or("/usr/share/java".into());
    let mut jars = Vec::new();
    archives_in(folder.as_ref(), &mut jars);
    if jars.is_empty() {
        eprintln!("skipped: no jars in {folder}");
        return;
    }
    jars.sort();
    let (mut identical, mut marked, mut classes) = (0, 0, 0);
    for path in &jars {
        let Ok(input) = std::fs::read(path) else { continue };
        let name = path.display().to_string();
        let mut marker = Marker { wants: |_| false, ..Marker::default() };
        let (out, outcome) = run_with(&name, &input, &mut marker, &Options::default()).expect(&name);
        assert!(out == input, "{name}");
        identical += 1;
        classes += outcome.classes;

        let options = Options { level: 1, strip_signatures: true, ..Options::default() };
        let mut marker = Marker::default();
        let (out, outcome) = run_with(&name, &input, &mut marker, &options).expect(&name);
        if !outcome.signatures_removed.is_empty() {
            continue;
        }
        let (before, after) = (entries(&input), entries(&out));
        assert_eq!(before.len(), after.len(), "{name}");
        for (before, after) in before.iter().zip(&after) {
            assert_same_header(before, after);
            if !before.name.ends_with(b".jar") {
                without_class_marks(before, after);
            }
        }
        zip_crate_reads(&out);
        marked += 1;
    }
    eprintln!(
        "{} jars: {identical} identical ({classes} classes), {marked} marked and read back",
        jars.len()
    );
    assert_eq!(identical, jars.len());
}
