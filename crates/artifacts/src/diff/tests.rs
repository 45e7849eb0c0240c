//! Tests of `diff` of classes.

mod api;

use super::*;
use instrument_testing::samples::{OLD, SEED, archive};

fn options() -> Options {
    Options {
        pool: false,
        raw: false,
        debug: false,
        ignore: Vec::new(),
        method: None,
        context: 3,
        form: Form::Text,
    }
}

/// Compares two archives, with some options changed.
fn diff(
    before: &[(&str, &[u8])],
    after: &[(&str, &[u8])],
    change: impl Fn(&mut Options),
) -> (Summary, String) {
    let directory = tempfile::tempdir().unwrap();
    let paths = ["a.jar", "b.jar"].map(|name| directory.path().join(name).to_str().unwrap().to_owned());
    std::fs::write(&paths[0], archive(before)).unwrap();
    std::fs::write(&paths[1], archive(after)).unwrap();
    let mut options = options();
    change(&mut options);
    let mut out = Vec::new();
    let (before, after) = (Input::open(&paths[0]).unwrap(), Input::open(&paths[1]).unwrap());
    let summary = compare(&options, (&paths[0], &before), (&paths[1], &after), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    (summary, text.replace(&format!("{}/", directory.path().display()), ""))
}

/// The lines of what `--json` printed.
fn lines_of(text: &str) -> Vec<serde_json::Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Each row of the API that `--json` printed: its kind, `C`, `S` or `B` for compatible, sources break, compiled code
/// breaks, too; and why.
fn rows_of(text: &str) -> Vec<String> {
    let lines = lines_of(text);
    let rows = lines.iter().filter(|line| line["kind"].is_string());
    rows.map(|row| {
        let is = |what: &str| row["api"][what].as_bool().unwrap();
        let verdict = match (is("binary_compatible"), is("source_compatible")) {
            (true, true) => 'C',
            (true, false) => 'S',
            _ => 'B',
        };
        let reasons: Vec<_> =
            row["reasons"].as_array().unwrap().iter().map(|reason| reason.as_str().unwrap()).collect();
        format!("{} {verdict} {}", row["kind"].as_str().unwrap(), reasons.join(", ")).trim_end().to_owned()
    })
    .collect()
}

/// The small class with `bipush 30000` of its loop changed to another number.
fn changed() -> Vec<u8> {
    let mut class = OLD.to_vec();
    let at = class.windows(2).position(|pair| pair == 30_000i16.to_be_bytes()).unwrap();
    class[at..at + 2].copy_from_slice(&77i16.to_be_bytes());
    class
}

/// The class with another first line number, which no instruction shows.
fn renumbered() -> Vec<u8> {
    let class = ClassFile::parse(SEED).unwrap();
    let method = class.methods().next().unwrap().unwrap();
    let code = method.code(&class.pool).unwrap().unwrap();
    let lines = instrument_rewriter::class_file::member::find_attribute(
        code.attributes,
        &class.pool,
        b"LineNumberTable",
    );
    // Inside a Code attribute, offsets count from its content.
    let at = code.offset + 6 + lines.unwrap().unwrap().info_offset() + 4;
    let mut changed = SEED.to_vec();
    changed[at] ^= 1;
    changed
}

#[test]
fn equal_archives_in_another_order() {
    let (seed, old) = (("Seed.class", SEED), ("Old.class", OLD));
    let (summary, text) = diff(&[seed, old], &[old, seed], |_| ());
    assert_eq!((summary, text.as_str()), (Summary { equal: 2, ..Summary::default() }, ""));
    assert!(summary.is_equal());
}

#[test]
fn shows_what_changed_in_a_nested_archive() {
    let inner = [archive(&[("Old.class", OLD)]), archive(&[("Old.class", &changed())])];
    let (summary, text) =
        diff(&[("lib/x.jar", &inner[0])], &[("lib/x.jar", &inner[1])], |options| options.context = 0);
    assert_eq!(summary, Summary { different: 1, ..Summary::default() });
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "--- a.jar!lib/x.jar!Old.class");
    assert_eq!(lines[1], "+++ b.jar!lib/x.jar!Old.class");
    assert!(lines[2].ends_with("@@ method wide:(I)I"), "{text}");
    assert_eq!(lines[3].trim_start_matches(['-', ' ']), "wide iinc 7 30000");
    assert_eq!(lines[4].trim_start_matches(['+', ' ']), "wide iinc 7 77");
    assert_eq!(lines.len(), 5);
}

#[test]
fn entries_of_one_side_and_other_files() {
    let before: [(&str, &[u8]); 3] = [("a", b"1"), ("b", b"1"), ("Old.class", OLD)];
    let after: [(&str, &[u8]); 4] = [("b", b"2"), ("c", b"1"), ("Old.class", OLD), ("Old.class", SEED)];
    let (summary, text) = diff(&before, &after, |_| ());
    assert_eq!(summary, Summary { equal: 1, different: 1, removed: 1, added: 2, debug_only: 0 });
    let expected = "added: b.jar!Old.class (duplicate 1): only in b.jar\n\
        removed: a.jar!a: only in a.jar\n\
        different: a.jar!b and b.jar!b: 1 and 1 bytes, first difference at 0x0\n\
        added: b.jar!c: only in b.jar\n";
    assert_eq!(text, expected);
}

#[test]
fn ignores_what_options_name() {
    let other = renumbered();
    let entries: [&[(&str, &[u8])]; 2] = [&[("Seed.class", SEED)], &[("Seed.class", &other)]];
    let different = |ignore: &[Ignored], raw: bool, method: Option<&str>| {
        let change = |options: &mut Options| {
            options.debug = true;
            options.ignore = ignore.to_vec();
            options.raw = raw;
            options.method = method.map(str::to_owned);
        };
        diff(entries[0], entries[1], change).0.different
    };
    assert_eq!(different(&[], false, None), 1);
    assert_eq!(different(&[Ignored::Frames, Ignored::Locals], false, None), 1);
    assert_eq!(different(&[Ignored::Lines], false, None), 0);
    assert_eq!(different(&[Ignored::Debug], false, None), 0);
    assert_eq!(different(&[Ignored::Debug], true, None), 0);
    assert_eq!(different(&[], false, Some("<init>")), 1);
    assert_eq!(different(&[], false, Some("run")), 0);
}

#[test]
fn debugging_information_is_compared_if_asked_for() {
    let other = renumbered();
    let entries: [&[(&str, &[u8])]; 2] = [&[("Seed.class", SEED)], &[("Seed.class", &other)]];
    let (summary, text) = diff(entries[0], entries[1], |options| options.form = Form::Stat);
    assert_eq!(summary, Summary { equal: 1, debug_only: 1, ..Summary::default() });
    assert_eq!(text, "0 different, 0 removed, 0 added, 1 equal, 1 of them but for debugging information\n");
    assert_eq!(diff(entries[0], entries[1], |options| options.debug = true).0.different, 1);
    assert_eq!(diff(entries[0], entries[1], |options| options.raw = true).0.different, 1);
}

#[test]
fn a_method_alone() {
    let before: [(&str, &[u8]); 3] = [("a.txt", b"1"), ("Seed.class", SEED), ("Old.class", OLD)];
    let other = changed();
    let after: [(&str, &[u8]); 3] = [("a.txt", b"2"), ("b.txt", b"1"), ("Old.class", &other)];
    let (summary, text) = diff(&before, &after, |options| options.method = Some("wide".to_owned()));
    assert_eq!(summary, Summary { different: 1, ..Summary::default() });
    assert!(text.starts_with("--- a.jar!Old.class"), "{text}");
    let (summary, text) = diff(&before, &after, |options| options.method = Some("Seed.<init>".to_owned()));
    assert_eq!(summary, Summary { removed: 1, equal: 1, ..Summary::default() });
    assert_eq!(text, "removed: a.jar!Seed.class: only in a.jar\n");
}

#[test]
fn counts_and_json() {
    let other = changed();
    let diff = |form| diff(&[("Old.class", OLD)], &[("Old.class", &other)], |options| options.form = form).1;
    let text = diff(Form::Stat);
    assert_eq!(text, "a.jar!Old.class | 1 sections, +1 -1\n1 different, 0 removed, 0 added, 0 equal\n");
    let text = diff(Form::Json);
    let lines = lines_of(&text);
    assert_eq!(lines[0]["status"], "different");
    assert_eq!(lines[0]["sections"][0]["title"], "method wide:(I)I");
    assert_eq!(lines[1]["summary"]["different"], 1);
}

#[test]
fn a_class_that_cannot_be_parsed_is_compared_by_its_bytes() {
    let (summary, text) = diff(&[("A.class", OLD)], &[("A.class", &OLD[..200])], |_| ());
    assert_eq!(summary.different, 1);
    assert!(text.contains("455 and 200 bytes, first difference at 0xc8"), "{text}");
    assert!(text.contains("b.jar!A.class: class file is truncated at offset"), "{text}");
}

#[test]
fn classes_of_an_archive_that_only_one_side_has_are_judged() {
    let inner = [archive(&[("Old.class", OLD)]), archive(&[("Old.class", &changed())])];
    let json = |before: &[(&str, &[u8])], after: &[(&str, &[u8])]| {
        rows_of(&diff(before, after, |options| options.form = Form::Json).1)
    };
    let lost = json(&[("lib/x.jar", &inner[0])], &[]);
    assert_eq!(lost[0], "class B is gone");
    assert_eq!(json(&[], &[("lib/x.jar", &inner[0])]).len(), lost.len());
    // A new version of a library has another name.
    assert_eq!(json(&[("lib/x-1.jar", &inner[0])], &[("lib/x-2.jar", &inner[1])]), [""; 0]);
    let page = diff(&[], &[("lib/x.jar", &inner[0])], |options| options.form = Form::Markdown).1;
    assert!(page.starts_with("### Bytecode: 0 classes changed, 1 added, 0 removed\n"), "{page}");
    assert!(
        page.contains("| classes | 0 | 1 | +1 |\n") && page.contains("`b.jar!lib/x.jar` added"),
        "{page}"
    );
}

#[test]
fn an_entry_of_one_side_that_cannot_be_read_ends_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.jar").to_str().unwrap().to_owned();
    let mut bytes = archive(&[("broken.txt", b"content-of-it")]);
    let at = bytes.windows(13).position(|part| part == b"content-of-it").unwrap();
    bytes[at] = b'C';
    std::fs::write(&path, bytes).unwrap();
    let empty = tempfile::tempdir().unwrap();
    let (broken, empty) = (Input::open(&path).unwrap(), Input::open(empty.path().to_str().unwrap()).unwrap());
    let mut out = Vec::new();
    let summary = compare(&options(), ("a", &broken), ("b", &empty), &mut out).unwrap();
    assert_eq!(summary, Summary { removed: 1, ..Summary::default() });
    let text = String::from_utf8(out).unwrap();
    assert!(text.starts_with("removed: a!broken.txt: only in a; it cannot be read: "), "{text}");
}
