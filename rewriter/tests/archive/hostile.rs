//! Input that lies: a clear error, never a panic, and no more memory than the input justifies.

use std::time::{Duration, Instant};

use instrument_rewriter::archive::{
    Ambiguity, Class, ErrorKind, Limits, Options, Unread, read_entry, rewrite, visit_classes,
};
use proptest::prelude::*;

use crate::archive::build::{Entry, Zip, class_bytes, deflated, entry, zip};
use crate::archive::fake::{MARK, Marker, error_of, mark, run_with, runtime};
use crate::archive::identity::samples;
use crate::archive::inspect::{entries, find};

fn class() -> Entry {
    deflated("p/A.class", class_bytes(1, 600))
}

fn copy_ambiguous() -> Options {
    Options { copy_ambiguous: true, ..Options::default() }
}

#[test]
fn what_is_no_archive() {
    for input in [&b""[..], b"PK", b"\xCA\xFE\xBA\xBE", &[0; 100], b"PK\x05\x06", &[0x50; 70_000]] {
        assert_eq!(error_of(input), "not-an-archive");
    }
}

#[test]
fn every_truncation_is_an_error() {
    let input = zip([class(), entry("text", "text"), deflated("B.class", class_bytes(2, 300))]);
    for len in 0..input.len() {
        assert_eq!(error_of(&input[..len]), "not-an-archive", "{len}");
    }
}

#[test]
fn a_missing_piece_in_the_middle_is_an_error() {
    let input = zip([class(), entry("text", "text")]);
    let directory = entries(&input).last().map(|e| e.data + e.content.len()).unwrap();
    for at in 0..directory {
        let cut = [&input[..at], &input[at + 1..]].concat();
        let error = mark("x.jar", &cut).expect_err("a byte is missing");
        assert!(matches!(error.kind.code(), "malformed-zip" | "ambiguous-zip"), "{at}: {error}");
    }
}

#[test]
fn corrupt_classes() {
    let bad = |change: fn(&mut Entry)| {
        let mut e = class();
        change(&mut e);
        zip([e])
    };
    assert_eq!(error_of(&bad(|e| e.crc = Some(7))), "bad-crc");
    assert_eq!(error_of(&bad(|e| e.size = Some(599))), "bad-size");
    assert_eq!(error_of(&bad(|e| e.size = Some(601))), "bad-size");
    assert_eq!(error_of(&bad(|e| e.size = Some(60_000_000))), "limit");
    assert_eq!(error_of(&bad(|e| e.size = Some(16_000_000))), "bad-size");
    assert_eq!(error_of(&bad(|e| (e.deflate, e.method) = (false, Some(8)))), "bad-deflate");
    assert_eq!(error_of(&bad(|e| (e.deflate, e.size) = (false, Some(599)))), "bad-size");
    // Nobody looks into what is no class.
    let input = zip([Entry { crc: Some(7), ..deflated("p/A.txt", "text") }, class()]);
    assert!(mark("x.jar", &input).is_ok());
}

#[test]
fn the_first_error_in_archive_order_is_reported() {
    let mut parts: Vec<_> = (0..300).map(|n| deflated(format!("C{n}.class"), class_bytes(n, 500))).collect();
    for n in [40, 41, 200, 299] {
        parts[n].crc = Some(n as u32);
    }
    let input = zip(parts);
    for _ in 0..20 {
        assert_eq!(mark("x.jar", &input).unwrap_err().at, "x.jar!C40.class");
    }
}

#[test]
fn ambiguous_entries_are_refused_or_copied() {
    for (what, bad) in [
        (Ambiguity::Name, Entry { local_name: Some(b"p/X.class".to_vec()), ..class() }),
        (Ambiguity::NulInName, Entry { name: b"p/A.class\0.txt".to_vec(), ..class() }),
        (Ambiguity::NulInName, Entry { name: b"p/A\0.class".to_vec(), ..class() }),
    ] {
        let input = zip([bad, deflated("B.class", class_bytes(2, 300))]);
        let error = mark("x.jar", &input).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Ambiguous(found) if found == what), "{error}");
        assert!(error.at.starts_with("x.jar!p/A"), "{error}");
        let (out, outcome) = run_with("x.jar", &input, &mut Marker::default(), &copy_ambiguous()).unwrap();
        assert_eq!(outcome.skipped[0].reason, Unread::Ambiguous(what));
        assert_eq!(entries(&out)[0], entries(&input)[0]);
        assert!(entries(&out)[1].content.ends_with(MARK));
    }
    let mut input = zip([class()]);
    input[8] = 0; // STORED, says the local header
    let error = mark("x.jar", &input).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Ambiguous(Ambiguity::Method)), "{error}");
}

#[test]
fn ambiguous_structures_are_refused_or_copied() {
    let good = zip([class(), entry("text", "text")]);
    let overlapping = {
        let mut parts = vec![class(), entry("text", "text")];
        parts[1].offset = Some(0);
        parts[1].name = b"p/A.class".to_vec();
        zip(parts)
    };
    let into_directory = zip([Entry { packed: Some(700), size: Some(700), ..entry("text", [0; 100]) }]);
    let miscounted = {
        let mut bytes = good.clone();
        let at = bytes.len() - 14;
        bytes[at + 2] = 7;
        bytes
    };
    // The offset leads to a directory header that is not the one before the end record.
    let two_directories = {
        let first = zip([class()]);
        let directory = first.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
        let mut zip = Zip { prefix: first.clone(), entries: vec![entry("text", "text")], ..Zip::default() };
        zip.absolute = true;
        let mut bytes = zip.bytes();
        let at = bytes.len() - 6;
        bytes[at..at + 4].copy_from_slice(&(directory as u32).to_le_bytes());
        bytes
    };
    let end_in_comment = Zip { entries: vec![class()], comment: zip([]), ..Zip::default() }.bytes();
    for (what, input) in [
        (Ambiguity::Overlap, overlapping),
        (Ambiguity::Overlap, into_directory),
        (Ambiguity::EntryCount, miscounted),
        (Ambiguity::DirectoryOffset, two_directories),
    ] {
        let error = mark("x.jar", &input).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Ambiguous(found) if found == what), "{what:?}: {error}");
        let (out, outcome) = run_with("x.jar", &input, &mut Marker::default(), &copy_ambiguous()).unwrap();
        assert!(out == input);
        assert_eq!(outcome.skipped[0].reason, Unread::Ambiguous(what));
    }
    // The last end record ends the file and stands for an empty archive: so the JDK reads it.
    let error = mark("x.jar", &end_in_comment).map(|(_, outcome)| outcome);
    assert!(error.is_err() || error.unwrap().entries == 0);
}

#[test]
fn duplicates_are_all_rewritten_and_marked_as_shadowed() {
    let input = zip([class(), Entry { content: class_bytes(5, 200), ..class() }]);
    let (out, outcome) = mark("x.jar", &input).unwrap();
    assert_eq!(outcome.rewritten, 2);
    assert!(entries(&out).iter().all(|e| e.content.ends_with(MARK)));
    let mut shadowed = Vec::new();
    visit_classes("x.jar", &input, &Limits::default(), &mut |class| {
        shadowed.push(class.at.is_shadowed());
        std::ops::ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(shadowed, [true, false]);
}

#[test]
fn bombs_end_at_a_limit() {
    let zeros = vec![0; 40 << 20];
    assert_eq!(error_of(&zip([deflated("Zeros.class", &zeros)])), "limit");
    assert_eq!(error_of(&zip([deflated("zeros.jar", &zeros)])), "limit");
    assert!(mark("x.jar", &zip([deflated("zeros.bin", &zeros), class()])).is_ok(), "not looked at");

    // Archives of archives, each level ten times as much: the total ends it.
    let mut bomb = zip((0..10).map(|n| deflated(format!("C{n}.class"), vec![0; 1 << 20])));
    for _ in 0..3 {
        bomb = zip((0..10).map(|n| deflated(format!("b{n}.jar"), &bomb)));
    }
    let limits = Limits { total: 64 << 20, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    let error = run_with("x.jar", &bomb, &mut Marker::default(), &options).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Limit { .. }), "{error}");
    assert!(error.to_string().contains("all entries"), "{error}");

    let limits = Limits { entries: 10, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    let input = zip((0..11).map(|n| entry(format!("{n}"), "")));
    let error = run_with("x.jar", &input, &mut Marker::default(), &options).unwrap_err();
    assert_eq!(error.to_string(), "x.jar: number of entries is 11, the limit is 10");
    assert!(visit_classes("x", &input, &limits, &mut |_| std::ops::ControlFlow::Continue(())).is_err());
}

#[test]
fn counts_and_lengths_are_not_believed() {
    let input = zip([class()]);
    let end = input.len() - 22;
    for (field, len) in [(8, 2), (10, 2), (12, 4), (16, 4)] {
        for value in [1u8, 0x7F, 0xFF] {
            let mut bytes = input.clone();
            bytes[end + field..end + field + len].fill(value);
            if bytes != input {
                let result = mark("x.jar", &bytes);
                assert!(result.is_err() || field == 8, "{field} {value}");
            }
        }
    }
    let mut zip64 = Zip { entries: vec![class()], zip64_end: true, ..Zip::default() }.bytes();
    let at = zip64.len() - 22 - 20 - 56;
    for field in [4, 32, 40, 48, 56 + 8] {
        let kept = zip64.clone();
        zip64[at + field..at + field + 8].fill(0xFF);
        assert!(mark("x.jar", &zip64).is_err(), "{field}");
        zip64 = kept;
    }
}

/// What nested archives hold while they are open is no longer there for the classes in them.
#[test]
fn archives_in_archives_share_one_limit() {
    let lib = zip([deflated("A.class", class_bytes(1, 6000)), entry("fill", [0; 6000])]);
    let input = zip([deflated("l.jar", &lib)]);
    let run = |inflated| {
        let limits = Limits { inflated, inflated_per_input_byte: 0, ..Limits::default() };
        let options = Options { limits, ..Options::default() };
        let done = run_with("x.jar", &input, &mut Marker::default(), &options);
        let visit = &mut |_: Class<'_>| std::ops::ControlFlow::Continue(());
        assert_eq!(done.is_ok(), visit_classes("x.jar", &input, &limits, visit).is_ok());
        assert_eq!(done.is_ok(), read_entry("x.jar", &input, &[b"l.jar", b"A.class"], &limits).is_ok());
        done.map(|(_, outcome)| outcome.rewritten).map_err(|error| error.at)
    };
    let lib_len = lib.len() as u64;
    assert_eq!(run(lib_len + 6000), Ok(1));
    assert_eq!(run(lib_len + 5999), Err("x.jar!l.jar!A.class".into()));
    assert_eq!(run(lib_len - 1), Err("x.jar!l.jar".into()));
}

/// Everything one can do with bytes that may be an archive.
fn exercise(bytes: &[u8]) {
    for options in [Options::default(), Options { strip_signatures: true, ..copy_ambiguous() }] {
        let mut marker = Marker { extra: runtime(), ..Marker::default() };
        let mut out = Vec::new();
        let start = Instant::now();
        if let Ok(outcome) = rewrite("x.jar", bytes, &mut out, &mut marker, &options) {
            assert_eq!(outcome.written, out.len() as u64);
            // What we wrote, we can read.
            if !outcome.skipped.iter().any(|s| s.reason.reason().as_str() == "ambiguous-zip") {
                let error = mark("x.jar", &out).expect_err("it has the marker now");
                assert_eq!(error.kind.code(), "already-instrumented", "{error}");
            }
        }
        assert!(out.len() < (64 << 20) + 20 * bytes.len());
        assert!(start.elapsed() < Duration::from_secs(5));
    }
    let _ = visit_classes("x.jar", bytes, &Limits::default(), &mut |_| std::ops::ControlFlow::Continue(()));
    let _ = read_entry("x.jar", bytes, &[b"in.jar", b"a/A.class"], &Limits::default());
}

fn seeds() -> Vec<Vec<u8>> {
    let lib = zip([deflated("a/A.class", class_bytes(1, 120)), entry("META-INF/A.SF", "x")]);
    let app = zip([
        deflated("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\r\n\r\nName: a\r\nX-Digest: y\r\n\r\n"),
        entry("META-INF/INDEX.LIST", "JarIndex-Version: 1.0\n\nx.jar\na\n"),
        entry("in.jar", &lib),
        deflated("in2.jar", &lib),
        deflated("META-INF/application.xml", "<library-directory>l</library-directory>"),
    ]);
    samples().into_iter().map(|(_, bytes)| bytes).chain([app]).collect()
}

/// Per test and run; `PROPTEST_CASES` asks for more.
const CASES: u32 = 1000;

fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(CASES)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_archives_never_panic(
        seed in 0usize..1000,
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0u8..6, any::<u32>()), 1..6),
    ) {
        let seeds = seeds();
        let mut bytes = seeds[seed % seeds.len()].clone();
        for (index, kind, value) in edits {
            if bytes.is_empty() {
                break;
            }
            let at = index.index(bytes.len());
            let tail = bytes.len() - at;
            match kind {
                0 => bytes[at] = value as u8,
                1 => bytes[at] ^= 1 << (value % 8),
                // Interesting numbers in a 16- or 32-bit field.
                2 => bytes[at..].iter_mut().take(2).for_each(|b| *b = 0xFF),
                3 => bytes[at..].iter_mut().take(4).for_each(|b| *b = if value & 1 == 0 { 0xFF } else { 0 }),
                4 => { bytes.drain(at..at + (value as usize % 64).min(tail)); }
                _ => {
                    let piece = bytes[at..at + (value as usize % 64).min(tail)].to_vec();
                    let to = value as usize % bytes.len();
                    bytes.splice(to..to, piece);
                }
            }
        }
        exercise(&bytes);
    }

    #[test]
    fn random_bytes_with_signatures_never_panic(
        pieces in prop::collection::vec(
            prop_oneof![
                Just(b"PK\x01\x02".to_vec()), Just(b"PK\x03\x04".to_vec()), Just(b"PK\x05\x06".to_vec()),
                Just(b"PK\x06\x06".to_vec()), Just(b"PK\x06\x07".to_vec()), Just(vec![0; 18]),
                prop::collection::vec(any::<u8>(), 0..50),
            ],
            0..12,
        ),
    ) {
        exercise(&pieces.concat());
    }
}

/// Every field of every record set to extreme values, one at a time.
#[test]
fn every_byte_of_the_records_may_lie() {
    let input = Zip {
        entries: vec![
            Entry { zip64: true, ..class() },
            Entry { descriptor: Some((4, true)), ..deflated("B.class", class_bytes(3, 80)) },
            entry("in.jar", zip([entry("C.class", class_bytes(4, 60))])),
        ],
        zip64_end: true,
        ..Zip::default()
    }
    .bytes();
    for at in 0..input.len() {
        for value in [0, 1, 0x7F, 0x80, 0xFF] {
            let mut bytes = input.clone();
            bytes[at] = value;
            exercise(&bytes);
        }
    }
    assert!(find(&entries(&mark("x.jar", &input).unwrap().0), "B.class").content.ends_with(MARK));
}
