//! Single records: where they end, which of two that contradict each other counts, and what stays of those that are not
//! understood.

use instrument_rewriter::archive::{
    Ambiguity, ErrorKind, Limits, NewEntry, Options, create, is_instrumented,
};

use crate::archive::build::{Entry, Zip, class_bytes, deflate, deflated, entry, extra, zip};
use crate::archive::fake::{MARK, Marker, error_of, mark, mark_and_add, run_with};
use crate::archive::inspect::{entries, find};

/// An alignment field with so much padding.
fn alignment(align: u16, padding: usize) -> Vec<u8> {
    extra(0xD935, &[&align.to_le_bytes()[..], &vec![0; padding]].concat())
}

#[test]
fn data_that_was_aligned_is_aligned_again_and_other_data_is_not() {
    for first_len in 300..308 {
        let first = deflated("first.class", class_bytes(1, first_len));
        let front = zip([first.clone()]);
        let first_end = entries(&front)[0].data + entries(&front)[0].central_sizes.1 as usize;
        for (name, is_deflated) in [("b.class", false), ("b.class", true), ("b.txt", false), ("b.txt", true)]
        {
            // The data begin behind 30 bytes, the name and the field; of four paddings one aligns them.
            for padding in 0..4 {
                let second = Entry {
                    local_extra: alignment(4, padding),
                    deflate: is_deflated,
                    ..entry(name, class_bytes(7, 333))
                };
                let was_aligned =
                    (first_end + 30 + name.len() + 6 + padding).is_multiple_of(4) && !is_deflated;
                let (out, _) = mark("x.jar", &zip([first.clone(), second.clone()])).unwrap();
                let seen = entries(&out);
                let now = find(&seen, name);
                let field = now.local_extra.len() - 6;
                assert!(field < 4 && now.local_extra == alignment(4, field), "{:?}", now.local_extra);
                assert!(!was_aligned || now.data.is_multiple_of(4), "{name} {padding}");
                assert!(was_aligned || field == padding, "{name} {padding}");
            }
        }
    }
}

#[test]
fn what_looks_like_a_descriptor_and_is_not_announced_stays() {
    let content = class_bytes(1, 400);
    let numbers = [crc32fast::hash(&content), deflate(&content).len() as u32, 400];
    let gap = numbers.map(u32::to_le_bytes).concat();
    let input = zip([Entry { gap: gap.clone(), ..deflated("a.class", &content) }, entry("text", "text")]);
    let (out, _) = mark("x.jar", &input).unwrap();
    let seen = entries(&out);
    assert_eq!(out[seen[0].data + seen[0].central_sizes.1 as usize..seen[1].start], gap);
}

#[test]
fn the_end_record_is_looked_for_as_far_back_as_a_comment_may_reach() {
    let good = zip([deflated("A.class", class_bytes(1, 300))]);
    for (trailing, is_found) in [(0, true), (1, true), (65_535, true), (65_536, false)] {
        let input = [&good[..], &vec![b' '; trailing]].concat();
        assert_eq!(mark("x.jar", &input).is_ok(), is_found, "{trailing}");
        if !is_found {
            assert_eq!(error_of(&input), "not-an-archive");
        }
    }
    // A signature in the comment is no end record, but other readers may take it for one.
    for (comment, expected) in [
        ([&b"PK\x05\x06"[..], &[0xFF; 18]].concat(), Ambiguity::EndRecord),
        ([&b"PK\x05\x06"[..], &[0; 19]].concat(), Ambiguity::EndRecord),
    ] {
        let input =
            Zip { entries: vec![entry("A.class", class_bytes(1, 60))], comment, ..Zip::default() }.bytes();
        let error = mark("x.jar", &input).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Ambiguous(found) if found == expected), "{error}");
    }
}

#[test]
fn both_end_records_say_the_same_or_the_smaller_one_leaves_it_open() {
    let parts = vec![deflated("A.class", class_bytes(1, 300)), entry("text", "text")];
    let input = Zip { entries: parts, zip64_end: true, ..Zip::default() }.bytes();
    let end = input.len() - 22;
    let record = end - 20 - 56;
    // Width of the field, its place in the end record, and in the zip64 record.
    for (width, field, wide) in [(2, 10, 32), (4, 12, 40), (4, 16, 48)] {
        let mut same = input.clone();
        same.copy_within(record + wide..record + wide + width, end + field);
        assert!(mark("x.jar", &same).is_ok(), "{field}");
        same[end + field] ^= 1;
        let error = mark("x.jar", &same).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Ambiguous(Ambiguity::EndRecord)), "{field}: {error}");
    }
    // Signature and length of the zip64 record.
    for at in [record, record + 3, record + 4] {
        let mut broken = input.clone();
        broken[at] ^= 1;
        assert_eq!(error_of(&broken), "malformed-zip", "{}", at - record);
    }
    // Shorter than it may be: what is in front of the record makes it whole again.
    let mut short = input.clone();
    short[record + 4] -= 8;
    assert_eq!(error_of(&short), "malformed-zip");
}

#[test]
fn local_headers_lie_in_front_of_the_directory() {
    // An entry without name and data is as short as one can be.
    let shortest = zip([deflated("A.class", class_bytes(1, 300)), entry("", "")]);
    assert_eq!(mark("x.jar", &shortest).unwrap().1.entries, 2);
    let lying = |content: &[u8], back: usize| {
        let mut last = entry("text", content);
        last.offset = Some((30 + 4 + content.len() - back) as u32);
        zip([last])
    };
    for length in 4..30 {
        let content = [&[b'-'; 40][..], b"PK\x03\x04", &vec![0; length - 4]].concat();
        assert_eq!(error_of(&lying(&content, length)), "malformed-zip", "{length}");
    }
}

#[test]
fn entries_are_counted_and_not_believed() {
    let options = |entries| Options { limits: Limits { entries, ..Limits::default() }, ..Options::default() };
    let input = zip((0..11).map(|n| entry(format!("{n}"), "")));
    assert!(run_with("x.jar", &input, &mut Marker::default(), &options(11)).is_ok());
    for (claimed, expected) in [(11, 11), (5, 11), (20, 20)] {
        let mut lying = input.clone();
        let at = lying.len() - 12;
        lying[at] = claimed;
        let error = run_with("x.jar", &lying, &mut Marker::default(), &options(10)).unwrap_err();
        assert_eq!(error.to_string(), format!("x.jar: number of entries is {expected}, the limit is 10"));
    }
}

#[test]
fn a_new_name_has_65535_bytes_at_most() {
    for (length, fits) in [(65_535, true), (65_536, false)] {
        let name = "n".repeat(length);
        let extra = vec![NewEntry { name: name.clone(), data: b"data".to_vec(), stored: true }];
        let mut marker = Marker { extra, ..Marker::default() };
        match run_with("x.jar", &zip([]), &mut marker, &Options::default()) {
            Ok((out, _)) => assert!(fits && find(&entries(&out), &name).content == b"data"),
            Err(error) => assert_eq!((fits, error.kind.code()), (false, "too-large")),
        }
    }
}

#[test]
fn a_new_archive_has_a_manifest_and_what_it_was_made_of() {
    let entry = |name: &str, stored| NewEntry { name: name.into(), data: b"12345678".repeat(9), stored };
    let jar = create(vec![entry("a/A", true), entry("b/B", false)]).unwrap();
    let seen = entries(&jar);
    let shown: Vec<_> = seen.iter().map(|e| (e.name(), e.method, e.time, e.content.len())).collect();
    let expected = [("META-INF/MANIFEST.MF", 8, 25), ("a/A", 0, 72), ("b/B", 8, 72)];
    assert_eq!(shown, expected.map(|(name, method, size)| (name.to_owned(), method, 0x0021_0000, size)));
    let own = create(vec![entry("meta-inf/Manifest.mf", true)]).unwrap();
    assert_eq!(entries(&own).len(), 1);
}

#[test]
fn an_archive_says_whether_it_was_instrumented() {
    let plain = zip([deflated("A.class", class_bytes(1, 300))]);
    let (done, _) = mark_and_add("x.jar", &plain).unwrap();
    let ask = |bytes: &[u8]| is_instrumented("x.jar", bytes, &Limits::default());
    assert!(!ask(&plain).unwrap() && ask(&done).unwrap());
    let error = ask(b"no archive").unwrap_err();
    assert_eq!((error.at.as_str(), error.kind.code()), ("x.jar", "not-an-archive"));
    assert!(find(&entries(&done), "A.class").content.ends_with(MARK));
}
