//! `instrument report` over the pinned profiles of the format crate.

use std::path::{Path, PathBuf};
use std::process::Command;

fn profiles() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/trace/tests/profiles")
}

/// Runs `instrument report`: (counts balance, stdout, stderr).
fn run(arguments: &[&str]) -> (bool, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_instrument"));
    let done = command.arg("report").args(arguments).current_dir(profiles()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (done.status.success(), text(done.stdout), text(done.stderr))
}

#[test]
fn table_is_sorted_by_entries_and_names_the_balance() {
    let (holds, out, err) = run(&["v1-calls.iprof"]);
    assert!(holds);
    assert_eq!(err, "");
    let rows = out.lines().map(|l| l.split_whitespace().collect::<Vec<_>>()).collect::<Vec<_>>();
    assert_eq!(
        rows[0],
        ["entries", "exits", "unwinds", "aborted", "unclosed", "unmatched", "open", "method"]
    );
    assert_eq!(rows[1], ["2000", "1000", "1000", "0", "0", "0", "0", "Victim.through(I)I"]);
    assert_eq!(rows[2], ["2000", "1000", "1000", "0", "0", "0", "0", "Victim.thrower(I)I"]);
    // No map names it.
    assert_eq!(rows[6], ["1", "1", "0", "0", "0", "0", "0", "#6"]);
    assert!(out.ends_with("\ncounts balance for 6 methods\n"), "{out}");
}

#[test]
fn several_files_add_up_by_name() {
    let (holds, out, err) = run(&["v1-calls.iprof", "v1-calls.iprof", "--csv"]);
    assert!(holds);
    assert!(out.contains("\nVictim.leaf(I)I,2000,2000,0,0,0,0,0\n"), "{out}");
    // Two unknown ids need not be the same method.
    assert!(out.contains("\n#6 (file 1),1,1,0,0,0,0,0\n#6 (file 2),1,1,0,0,0,0,0\n"), "{out}");
    assert_eq!(err, "counts balance for 7 methods\n", "as many as there are rows");
}

#[test]
fn sort_and_top() {
    let (_, out, _) = run(&["v1-calls.iprof", "--csv", "--sort", "unwinds", "--top", "1"]);
    assert_eq!(out.lines().count(), 2);
    assert!(out.contains(",1000,0,0,0,0"), "{out}");
    let (_, out, _) = run(&["v1-calls.iprof", "--csv", "--sort", "name", "--top", "1"]);
    assert!(out.ends_with("\n#6,1,1,0,0,0,0,0\n"), "{out}");
}

#[test]
fn threads_have_rows() {
    let (_, out, _) = run(&["v1-calls.iprof", "--csv", "--per-thread", "--split", "threads"]);
    assert!(out.contains("\nVictim.leaf(I)I,1 main,1000,1000,0,0,0,0,0\n"), "{out}");
    let (_, out, _) = run(&["v1-calls.iprof", "--csv", "--per-thread"]);
    assert!(out.contains("\nVictim.leaf(I)I,main,1000,1000,0,0,0,0,0\n"), "{out}");
}

#[test]
fn allocations_by_method_and_class() {
    let (_, out, _) = run(&["v1-allocations.iprof", "--csv", "--allocations"]);
    let expected = "class,method,count\n[I,#50,100\njava.util.ArrayList,#50,100\n\
                    java.lang.Object,,1\n[[Ljava.lang.String;,#50,1\njava.lang.Object,#50,1\n";
    assert_eq!(out, expected);
}

#[test]
fn json_has_everything() {
    let (_, out, _) = run(&["v1-calls.iprof", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["balance"]["holds"], true);
    assert_eq!(json["balance"]["methods"], 6);
    assert_eq!(json["methods"][0]["entries"], 2000);
    assert_eq!(json["files"][0]["threads"], 1);
    assert_eq!(json["files"][0]["properties"]["record"], "counts");
}

/// The check must be able to fail: one count of the file is changed.
#[test]
fn violations_are_listed() {
    for (profile, violation) in [
        ("v1-calls.iprof", "Victim.divide(I)I in 1 main: 1001 entries, but 0 exits + 1000 unwinds"),
        // Exits are counted for the thread.
        ("v6-calls.iprof", "all methods in 1 main: 7002 entries, but 4001 exits + 3000 unwinds"),
    ] {
        let mut data = std::fs::read(profiles().join(profile)).unwrap();
        // The record of id 5: [6, 1000 entries, 0 exits, 1000 unwinds, ..].
        let record = [6u64, 1000, 0, 1000].map(u64::to_le_bytes).concat();
        let at = data.windows(32).position(|w| w == record).unwrap();
        data[at + 8] += 1;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("changed.iprof");
        std::fs::write(&path, data).unwrap();
        let (holds, out, _) = run(&[path.to_str().unwrap()]);
        assert!(!holds);
        assert!(out.contains("counts do NOT BALANCE: 1 times in 6 methods\n"), "{out}");
        assert!(out.contains(violation), "{out}");
    }
}

#[test]
fn cut_files_are_read_with_a_remark() {
    let data = std::fs::read(profiles().join("v1-calls.iprof")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cut.iprof");
    std::fs::write(&path, &data[..data.len() - 100]).unwrap();
    let (holds, out, err) = run(&[path.to_str().unwrap()]);
    assert!(holds);
    assert!(out.contains("Victim.leaf(I)I"), "{out}");
    assert!(err.contains("block at offset 0x1000: the file ends 100 bytes before the block does"), "{err}");
}
