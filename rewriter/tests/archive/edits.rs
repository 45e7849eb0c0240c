//! What changes: touched entries, alignment, new entries, zip64, order and threads.

use instrument_rewriter::archive::{Limits, NewEntry, Options, Unread, main_attribute, read_manifest};

use crate::archive::build::{Entry, Zip, class_bytes, deflated, entry, extra, zip};
use crate::archive::fake::{MARK, Marker, mark, mark_and_add, run_with, runtime};
use crate::archive::identity::samples;
use crate::archive::inspect::{Seen, assert_same_header, entries, find, tool, tools_accept, zip_crate_reads};

fn field(extra: &[u8], id: u16) -> Option<&[u8]> {
    let mut rest = extra;
    while rest.len() >= 4 {
        let len = 4 + usize::from(u16::from_le_bytes([rest[2], rest[3]]));
        if rest[..2] == id.to_le_bytes() {
            return Some(&rest[4..len]);
        }
        rest = &rest[len..];
    }
    None
}

#[test]
fn zip64_fields_of_touched_entries_go_and_others_stay() {
    let (_, input) = samples().into_iter().find(|(what, _)| *what == "zip64 everywhere").unwrap();
    let (out, _) = mark("x.jar", &input).unwrap();
    let moved = find(&entries(&out), "a/text.txt").clone();
    assert_eq!(field(&moved.central_extra, 1).map(<[u8]>::len), Some(24));
    assert_eq!(moved.central_sizes.1, u32::MAX);
    let touched = find(&entries(&out), "a/A.class").clone();
    assert_eq!((field(&touched.central_extra, 1), field(&touched.local_extra, 1)), (None, None));
    assert_eq!(touched.central_sizes.2 as usize, touched.content.len());
}

#[test]
fn descriptors_go_and_gaps_stay() {
    let odd = |name: &str, descriptor| Entry {
        descriptor,
        gap: b"<gap>".to_vec(),
        zip64: descriptor.is_some_and(|(width, _)| width == 8),
        ..deflated(name, class_bytes(1, 400))
    };
    let input = zip([
        odd("a.class", Some((4, true))),
        odd("b.class", Some((4, false))),
        odd("c.class", Some((8, true))),
        odd("d.class", Some((8, false))),
        odd("e.class", None),
    ]);
    let (out, _) = mark("x.jar", &input).unwrap();
    let seen = entries(&out);
    for pair in seen.windows(2) {
        let data_end = pair[0].data + pair[0].central_sizes.1 as usize;
        assert_eq!(&out[data_end..pair[1].start], b"<gap>", "{}", pair[0].name());
    }
    zip_crate_reads(&out);
}

/// Pads like zipalign and Commons Compress: data offsets are multiples before, and must be after.
#[test]
fn alignment_survives_for_touched_and_for_moved_entries() {
    for (id, align) in [(0xD935u16, 4u16), (0xA11E, 4096), (0xA11E, 3)] {
        for first_len in 300..316 {
            let mut zip = Zip { prefix: b"#!x\n".to_vec(), absolute: true, ..Zip::default() };
            zip.entries.push(deflated("first.class", class_bytes(1, first_len)));
            let names = ["lib/a.so", "b.class", "text", "lib/c.so"];
            for name in names {
                let at = zip_len_without_directory(&zip) + 30 + name.len() + 6 + 4;
                let pad = (usize::from(align) - at % usize::from(align)) % usize::from(align);
                let flag = if id == 0xA11E { 0x8000 } else { 0 };
                let data = [&(align | flag).to_le_bytes()[..], &vec![0; pad]].concat();
                let local_extra = [extra(0x9999, b""), extra(id, &data)].concat();
                zip.entries.push(Entry { local_extra, ..entry(name, class_bytes(7, 333)) });
            }
            let input = zip.bytes();
            assert!(entries(&input)[1..].iter().all(|e| e.data % usize::from(align) == 0));
            let (out, _) = mark("x.jar", &input).unwrap();
            let seen = entries(&out);
            for (before, after) in entries(&input).iter().zip(&seen) {
                assert_same_header(before, after);
            }
            for e in &seen[1..] {
                assert_eq!(e.data % usize::from(align), 0, "{} {id:x} {align}", e.name());
                let kept = field(&e.local_extra, id).unwrap();
                assert_eq!(kept[..2], field(&entries(&input)[1].local_extra, id).unwrap()[..2]);
                assert!(kept.len() < 2 + usize::from(align));
            }
            assert_eq!(find(&seen, "lib/c.so").content, class_bytes(7, 333));
        }
    }
}

fn zip_len_without_directory(zip: &Zip) -> usize {
    let bytes = zip.bytes();
    entries(&bytes).last().map_or(0, |e| e.data + e.central_sizes.1 as usize)
}

#[test]
fn new_entries_come_last_with_the_manifests_date() {
    for (what, input) in samples() {
        let (out, outcome) = mark_and_add("x.jar", &input).expect(what);
        assert_eq!(outcome.added, 2);
        let (before, after) = (entries(&input), entries(&out));
        assert_eq!(before.len() + 2, after.len(), "{what}");
        let last_old = after[..before.len()].iter().map(|e| e.start).max().unwrap_or(0);
        for (added, new) in after[before.len()..].iter().zip(runtime()) {
            assert_eq!((added.name(), &added.content), (new.name.clone(), &new.data));
            let time = if what == "empty" { 0x0021_0000 } else { 0x5A21_6C3F };
            assert_eq!((added.time, added.method, added.flags), (time, 8, 0), "{what}");
            assert!(added.start > last_old || what == "empty");
        }
        assert_eq!(zip_crate_reads(&out), distinct(&after), "{what}");
        if what.contains("plain") || what.contains("prefix") || what.contains("zip64") {
            tools_accept(&input, &out);
        }
    }
}

fn distinct(seen: &[Seen]) -> usize {
    seen.iter().map(|e| &e.name).collect::<std::collections::HashSet<_>>().len()
}

#[test]
fn new_entries_without_a_change_keep_every_entry() {
    let (_, input) = samples().remove(0);
    let mut marker = Marker { wants: |_| false, extra: runtime(), ..Marker::default() };
    let (out, outcome) = run_with("x.jar", &input, &mut marker, &Options::default()).unwrap();
    assert_eq!((outcome.rewritten, outcome.added, outcome.changed), (0, 2, true));
    let end = entries(&input).iter().map(|e| e.data + e.central_sizes.1 as usize).max().unwrap();
    assert_eq!(input[..end], out[..end]);
}

/// APPNOTE 4.3.13: a record behind the central headers, part of the directory.
#[test]
fn a_digital_signature_of_the_directory_stays() {
    let directory_signature = b"PK\x05\x05\x04\x00data".to_vec();
    let parts = vec![deflated("A.class", class_bytes(1, 300)), entry("text", "text")];
    let input =
        Zip { entries: parts, directory_signature: directory_signature.clone(), ..Zip::default() }.bytes();
    let (out, _) = mark_and_add("x.jar", &input).unwrap();
    assert_eq!(entries(&out).len(), 4);
    assert_eq!(out[out.len() - 22 - directory_signature.len()..out.len() - 22], directory_signature);
}

#[test]
fn a_taken_name_is_an_error() {
    let input = zip([entry("a/b.txt", "x")]);
    let extra = vec![NewEntry { name: "a/b.txt".into(), data: vec![1], stored: true }];
    let mut marker = Marker { extra, ..Marker::default() };
    let error = run_with("x.jar", &input, &mut marker, &Options::default()).unwrap_err();
    assert_eq!((error.at.as_str(), error.kind.code()), ("x.jar!a/b.txt", "name-taken"));
}

#[test]
fn names_that_are_not_ascii_are_marked_utf8() {
    let extra = vec![NewEntry { name: "é/x".into(), data: vec![1; 50], stored: true }];
    let mut marker = Marker { extra, ..Marker::default() };
    let (out, _) = run_with("x.jar", &zip([]), &mut marker, &Options::default()).unwrap();
    let added = &entries(&out)[0];
    assert_eq!((added.flags, added.local_flags, added.method), (1 << 11, 1 << 11, 0));
}

#[test]
fn jar_index_stays_valid() {
    let index = "JarIndex-Version: 1.0\n\nx.jar\na\n\nlib.jar\nb\n\n";
    let input = zip([
        entry("META-INF/", ""),
        deflated("META-INF/INDEX.LIST", index),
        deflated("a/A.class", class_bytes(1, 200)),
    ]);
    let (out, outcome) = mark_and_add("x.jar", &input).unwrap();
    assert_eq!((outcome.entries, outcome.copied, outcome.rewritten), (3, 1, 1));
    let with =
        "JarIndex-Version: 1.0\n\nx.jar\na\ninstrument/runtime\nMETA-INF/instrument/ids\n\nlib.jar\nb\n\n";
    let seen = entries(&out);
    assert_eq!(String::from_utf8_lossy(&find(&seen, "META-INF/INDEX.LIST").content), with);
    assert!(find(&seen, "a/A.class").content.ends_with(MARK));
    let (out, _) = mark("x.jar", &input).unwrap();
    assert_eq!(find(&entries(&out), "META-INF/INDEX.LIST").content, index.as_bytes(), "nothing was added");
}

/// More entries than the end record can count, and archives that only the new entries make so.
#[test]
fn more_than_65535_entries() {
    let many = |count: usize, zip64_end| {
        let mut entries: Vec<_> = (0..count - 1).map(|n| entry(format!("f{n}"), "")).collect();
        entries.insert(count / 2, deflated("A.class", class_bytes(1, 100)));
        Zip { entries, zip64_end, ..Zip::default() }.bytes()
    };
    // The second and third have no zip64 records: the count just fits, and it has wrapped around.
    for (count, zip64_end, zip64_after) in
        [(70_000, true, true), (65_532, false, false), (65_533, false, true), (65_540, false, true)]
    {
        let input = many(count, zip64_end);
        let (out, outcome) = mark_and_add("x.jar", &input).unwrap();
        assert_eq!(outcome.entries as usize, count);
        let after = entries(&out);
        assert_eq!(after.len(), count + 2);
        assert_eq!(out.windows(4).any(|w| w == b"PK\x06\x06"), zip64_after, "{count}");
        assert!(find(&after, "A.class").content.ends_with(MARK));
        assert_eq!(zip_crate_reads(&out), count + 2);
        for command in [&["jar", "tf", "{}"][..], &["zipinfo", "-1", "{}"]] {
            if let Some((good, text)) = tool(&out, command) {
                assert!(good, "{command:?}");
                assert_eq!(text.lines().count(), count + 2, "{command:?}");
            }
        }
    }
}

#[test]
fn unreadable_classes_are_copied_and_named() {
    let input = zip([
        Entry { flags: 1, ..deflated("secret.class", class_bytes(1, 100)) },
        Entry { flags: 1, ..entry("secret.txt", "text") },
        Entry { method: Some(93), ..entry("zstd.class", class_bytes(1, 100)) },
        Entry { method: Some(93), ..entry("zstd.txt", "text") },
        entry("a.class", class_bytes(1, 100)),
    ]);
    let (out, outcome) = mark("x.jar", &input).unwrap();
    let skipped: Vec<_> = outcome.skipped.iter().map(|s| (s.at.as_str(), s.reason.clone())).collect();
    let expected = [("x.jar!secret.class", Unread::Encrypted), ("x.jar!zstd.class", Unread::Method(93))];
    assert_eq!(skipped, expected);
    let (before, after) = (entries(&input), entries(&out));
    assert_eq!(before[..4], after[..4]);
    assert_eq!((outcome.copied, outcome.rewritten), (4, 1));
}

#[test]
fn classes_go_in_the_order_of_the_local_headers() {
    let zip = Zip {
        entries: ["b", "a", "d", "c"].map(|n| deflated(format!("{n}.class"), class_bytes(1, 90))).to_vec(),
        central_order: Some(vec![3, 1, 0, 2]),
        ..Zip::default()
    };
    let input = zip.bytes();
    let mut marker = Marker::default();
    let (out, _) = run_with("x.jar", &input, &mut marker, &Options::default()).unwrap();
    assert_eq!(marker.log, ["x.jar!b.class", "x.jar!a.class", "x.jar!d.class", "x.jar!c.class"]);
    let names: Vec<_> = entries(&out).iter().map(Seen::name).collect();
    assert_eq!(names, ["c.class", "a.class", "b.class", "d.class"]);
}

/// A mixed archive with several batches: same bytes for any number of threads and any batch size.
#[test]
fn bytes_do_not_depend_on_threads_or_batches() {
    let lib = |seed: u32| {
        zip((0..40).map(|n| deflated(format!("l{seed}/C{n}.class"), class_bytes(seed * 100 + n, 2000))))
    };
    let mut parts = vec![deflated("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\r\n\r\n")];
    for n in 0..400 {
        let bytes = class_bytes(n, 100 + (n as usize * 37) % 9000);
        let name = format!("p/C{n}.class");
        parts.push(if n % 3 == 0 { entry(name, bytes) } else { deflated(name, bytes) });
        if n % 100 == 50 {
            let name = format!("BOOT-INF/lib/l{n}.jar");
            parts.push(if n % 200 == 50 { entry(name, lib(n)) } else { deflated(name, lib(n)) });
        }
    }
    let input = zip(parts);
    let run = |threads: usize, batch: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut marker = Marker { extra: runtime(), ..Marker::default() };
        let options = Options { batch, ..Options::default() };
        let (out, outcome) = pool.install(|| run_with("x.jar", &input, &mut marker, &options)).unwrap();
        assert_eq!((outcome.classes, outcome.nested, outcome.nested_changed), (560, 4, 4));
        (out, marker.log)
    };
    let expected = run(1, 8 << 20);
    for (threads, batch) in [(1, 8 << 20), (2, 8 << 20), (1, 1), (2, 20_000), (8, 100_000)] {
        assert!(run(threads, batch) == expected, "{threads} threads, batch {batch}");
    }
    assert!(zip_crate_reads(&expected.0) > 400);
}

const MANIFEST: &str =
    "Manifest-Version: 1.0\r\nMain-Class: a.A\r\n\r\nName: a/A.class\r\nSHA-256-Digest: x\r\n\r\n";

/// Wherever the manifest lies, and whatever else changes it.
#[test]
fn the_manifest_of_the_outermost_archive_gets_attributes() {
    let options = Options {
        strip_signatures: true,
        manifest_attributes: vec![("Launcher-Agent-Class", "l.L")],
        root_entries: vec![NewEntry { name: "l/L.class".into(), data: b"agent".to_vec(), stored: true }],
        ..Options::default()
    };
    let nested = zip([deflated("META-INF/MANIFEST.MF", MANIFEST), deflated("B.class", class_bytes(2, 100))]);
    let with = |more: Vec<Entry>| {
        let first = [deflated("a/A.class", class_bytes(1, 500)), deflated("META-INF/MANIFEST.MF", MANIFEST)];
        let last = [deflated("c/C.class", class_bytes(3, 500)), entry("lib/n.jar", nested.clone())];
        zip(first.into_iter().chain(last).chain(more))
    };
    let index = "JarIndex-Version: 1.0\n\nx.jar\na\nc\n";
    for (what, more, has_digest) in [
        ("plain", vec![], true),
        ("signed", vec![entry("META-INF/ME.SF", "")], false),
        ("indexed", vec![entry("META-INF/INDEX.LIST", index)], true),
        ("executable war", vec![entry("WEB-INF/web.xml", "")], true),
    ] {
        let mut marker = Marker { extra: runtime(), ..Marker::default() };
        let (out, outcome) = run_with("x.jar", &with(more), &mut marker, &options).unwrap();
        let seen = entries(&out);
        let manifest = String::from_utf8(find(&seen, "META-INF/MANIFEST.MF").content.clone()).unwrap();
        let main = "Manifest-Version: 1.0\r\nMain-Class: a.A\r\nLauncher-Agent-Class: l.L\r\n\r\n";
        assert!(manifest.starts_with(main), "{what}: {manifest}");
        assert_eq!(manifest.contains("Digest"), has_digest, "{what}");
        assert_eq!(find(&seen, "l/L.class").content, b"agent", "{what}");
        let inner = entries(&find(&seen, "lib/n.jar").content);
        assert_eq!(find(&inner, "META-INF/MANIFEST.MF").content, MANIFEST.as_bytes(), "{what}");
        assert_eq!(read_manifest("x.jar", &out, &Limits::default()).unwrap().unwrap(), manifest.as_bytes());
        assert_eq!(main_attribute(manifest.as_bytes(), "launcher-agent-class").as_deref(), Some("l.L"));
        assert!(outcome.copied < outcome.entries, "{what}");
    }
    let fails = |entries: Vec<Entry>| {
        run_with("x.jar", &zip(entries), &mut Marker::default(), &options).unwrap_err().kind.code()
    };
    assert_eq!(fails(vec![deflated("a/A.class", class_bytes(1, 500))]), "no-manifest");
    let taken = "Manifest-Version: 1.0\nLauncher-Agent-Class: other.L\n";
    assert_eq!(fails(vec![deflated("META-INF/MANIFEST.MF", taken)]), "manifest-attribute");
    let manifest = deflated("META-INF/MANIFEST.MF", MANIFEST);
    assert_eq!(fails(vec![manifest, entry("l/L.class", "")]), "name-taken");
}
