//! `instrument report` over the pinned profiles of the format crate.

#[path = "../src/report.rs"]
mod report;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use report::{Options, Sort};

fn profiles() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/profiles")
}

/// As much of the id map format as the report needs.
fn parse_ids(gz: &[u8]) -> Result<HashMap<u32, String>> {
    let size = gz.last_chunk().map_or(0, |n| u32::from_le_bytes(*n)) as usize;
    ensure!(size <= 1 << 20, "too large for a test");
    let mut text = vec![0; size];
    let length = libdeflater::Decompressor::new().gzip_decompress(gz, &mut text)?;
    let text = std::str::from_utf8(&text[..length])?;
    let mut lines = text.lines();
    ensure!(lines.next() == Some("instrument ids 1"), "not an id map");
    let mut class = "";
    let mut names = HashMap::new();
    for line in lines {
        let words = line.split(' ').collect::<Vec<_>>();
        match words[..] {
            ["class", name, _] => class = name,
            [id, method, descriptor, ..] => {
                let name = format!("{}.{method}{descriptor}", class.replace('/', "."));
                names.insert(id.parse().context("an id")?, name);
            }
            _ => ensure!(line.is_empty(), "line {line:?}"),
        }
    }
    Ok(names)
}

fn options(files: &[&str]) -> Options {
    Options {
        files: files.iter().map(|f| profiles().join(f)).collect(),
        sort: Sort::Entries,
        top: None,
        threads: false,
        allocations: false,
        json: false,
        csv: false,
    }
}

/// (law holds, out, err)
fn run(options: &Options) -> (bool, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let holds = report::run(options, &parse_ids, &mut out, &mut err).unwrap();
    (holds, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

#[test]
fn table_is_sorted_by_entries_and_names_the_law() {
    let (holds, out, err) = run(&options(&["v1-calls.iprof"]));
    assert!(holds);
    assert_eq!(err, "");
    let rows = out.lines().map(|l| l.split_whitespace().collect::<Vec<_>>()).collect::<Vec<_>>();
    assert_eq!(rows[0], ["entries", "exits", "unwinds", "orphans", "lost", "stray", "open", "method"]);
    assert_eq!(rows[1], ["2000", "1000", "1000", "0", "0", "0", "0", "Victim.through(I)I"]);
    assert_eq!(rows[2], ["2000", "1000", "1000", "0", "0", "0", "0", "Victim.thrower(I)I"]);
    // No map names it.
    assert_eq!(rows[6], ["1", "1", "0", "0", "0", "0", "0", "#6"]);
    assert!(out.ends_with("\nlaw holds for 6 methods\n"), "{out}");
}

#[test]
fn several_files_add_up_by_name() {
    let mut options = options(&["v1-calls.iprof", "v1-calls.iprof"]);
    options.csv = true;
    let (holds, out, err) = run(&options);
    assert!(holds);
    assert!(out.contains("\nVictim.leaf(I)I,2000,2000,0,0,0,0,0\n"), "{out}");
    // Two unknown ids need not be the same method.
    assert!(out.contains("\n#6 (file 1),1,1,0,0,0,0,0\n#6 (file 2),1,1,0,0,0,0,0\n"), "{out}");
    assert_eq!(err, "law holds for 12 methods\n");
}

#[test]
fn sort_and_top() {
    let mut options = options(&["v1-calls.iprof"]);
    (options.sort, options.top, options.csv) = (Sort::Unwinds, Some(1), true);
    let (_, out, _) = run(&options);
    assert_eq!(out.lines().count(), 2);
    assert!(out.contains(",1000,0,0,0,0"), "{out}");
    options.sort = Sort::Name;
    let (_, out, _) = run(&options);
    assert!(out.ends_with("\n#6,1,1,0,0,0,0,0\n"), "{out}");
}

#[test]
fn threads_have_rows() {
    let mut options = options(&["v1-calls.iprof"]);
    (options.threads, options.csv) = (true, true);
    let (_, out, _) = run(&options);
    assert!(out.contains("\nVictim.leaf(I)I,1 main,1000,1000,0,0,0,0,0\n"), "{out}");
}

#[test]
fn allocations_by_method_and_class() {
    let mut options = options(&["v1-allocations.iprof"]);
    (options.allocations, options.csv) = (true, true);
    let (_, out, _) = run(&options);
    let expected = "class,method,count\n[I,#50,100\njava.util.ArrayList,#50,100\n\
                    java.lang.Object,,1\n[[Ljava.lang.String;,#50,1\njava.lang.Object,#50,1\n";
    assert_eq!(out, expected);
}

#[test]
fn json_has_everything() {
    let mut options = options(&["v1-calls.iprof"]);
    options.json = true;
    let (_, out, _) = run(&options);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["law"]["holds"], true);
    assert_eq!(json["law"]["methods"], 6);
    assert_eq!(json["methods"][0]["entries"], 2000);
    assert_eq!(json["files"][0]["threads"], 1);
    assert_eq!(json["files"][0]["properties"]["record"], "counts");
}

/// The check must be able to fail: one count of the file is changed.
#[test]
fn violations_are_listed() {
    let mut data = std::fs::read(profiles().join("v1-calls.iprof")).unwrap();
    // The record of id 5: [6, 1000 entries, 0 exits, 1000 unwinds, ..].
    let record = [6u64, 1000, 0, 1000].map(u64::to_le_bytes).concat();
    let at = data.windows(32).position(|w| w == record).unwrap();
    data[at + 8] += 1;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("changed.iprof");
    std::fs::write(&path, data).unwrap();
    let mut options = options(&[]);
    options.files = vec![path];
    let (holds, out, _) = run(&options);
    assert!(!holds);
    assert!(out.contains("law VIOLATED 1 times in 6 methods\n"), "{out}");
    assert!(out.contains("Victim.divide(I)I in 1 main: 1001 entries, but 0 exits + 1000 unwinds"), "{out}");
}

#[test]
fn cut_files_are_read_with_a_remark() {
    let data = std::fs::read(profiles().join("v1-calls.iprof")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cut.iprof");
    std::fs::write(&path, &data[..data.len() - 100]).unwrap();
    let mut options = options(&[]);
    options.files = vec![path];
    let (holds, out, err) = run(&options);
    assert!(holds);
    assert!(out.contains("Victim.leaf(I)I"), "{out}");
    assert!(err.contains("block at offset 0x1000: the file ends 100 bytes before the block does"), "{err}");
}
