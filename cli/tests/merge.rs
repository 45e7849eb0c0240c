//! `instrument merge`: profiles that a test writes, and what is refused.

use crate::common::Dir;
use instrument_testing::{REMOTE_CALL, Script, Writer};
use instrument_trace::{Link, LinkKind, RemoteCall, RemoteCallKind, Uid};

/// A process that made, or served, a call; `pid` and `nonce` are the same.
fn profile(kind: RemoteCallKind, pid: u64) -> Vec<u8> {
    named(kind, pid, &format!("Program{pid}"))
}

fn named(kind: RemoteCallKind, pid: u64, name: &str) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.word(16, pid).word(24, pid).property("command", name);
    let is_made = kind == RemoteCallKind::Made;
    if is_made {
        writer.tree("main", &Script::new(1000).call(1, |s| s.wait(100)));
        writer.contexts(1, &[(0, Some(1))]);
    } else {
        writer.tree("rmi", &Script::new(1000).enter_link(1).call(5, |s| s.wait(60)).leave_link(1));
        writer.links(&[Link { copy: 1, number: 1, kind: LinkKind::Served, thread: 0, node: 0, clock: 0 }]);
    }
    writer.remote_calls(&[Some(RemoteCall {
        kind,
        connection: 0,
        ordinal: 0,
        return_id: Some(Uid { unique: 5, time: 9, count: 1 }),
        context: u32::from(is_made),
        link: u32::from(!is_made),
        begin: 1000,
        sent: 1001,
        returned: 1059,
        end: 1060,
        ..REMOTE_CALL
    })]);
    writer.finish()
}

fn dir() -> Dir {
    let dir = Dir::new();
    dir.write("client.iprof", profile(RemoteCallKind::Made, 71));
    dir.write("server.iprof", profile(RemoteCallKind::Served, 72));
    dir
}

#[test]
fn control_characters_of_names_reach_no_terminal() {
    let dir = dir();
    dir.write("client.iprof", named(RemoteCallKind::Made, 71, "red\x1b[31m"));
    dir.write("again.iprof", named(RemoteCallKind::Served, 73, "red\x1b[31m"));
    dir.write("alone.iprof", named(RemoteCallKind::Served, 74, "alone\x1b[31m"));
    for line in [
        "merge client.iprof server.iprof alone.iprof",
        "merge --to chrome -o x client.iprof again.iprof alone.iprof",
    ] {
        let run = dir.line(line).expect(0);
        assert!(
            !run.stdout.contains('\x1b') && !run.stderr.contains('\x1b'),
            "{} {}",
            run.stdout,
            run.stderr
        );
        assert!((run.stdout + &run.stderr).contains("\\u001b[31m"));
    }
}

#[test]
fn numbers_and_the_tree_are_printed() {
    let dir = dir();
    let run = dir.line("merge server.iprof client.iprof").expect(0);
    let expected = [
        "remote calls: 1 made, 1 served, 1 matched; unmatched 0 made, 0 served",
        "Program71 (pid 71) -> Program72 (pid 72)",
        "    #1 (file 2)",
        "      Program72 (pid 72)",
        "        #5 (file 1)",
    ];
    for part in expected {
        assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
    }
    let json = dir.line("merge server.iprof client.iprof --json").expect(0).json();
    assert_eq!(json["matching"]["matched"][0]["by_return"], 1);
    assert_eq!(json["xtree"]["total"][0], 100);
    let csv = dir.line("merge server.iprof client.iprof --csv").expect(0).stdout;
    assert!(csv.contains("Program71 (pid 71),made,Program72 (pid 72),by-return,1\n"), "{csv}");
    for report in ["xprof", "xarc", "stats", "xtree", "matching"] {
        for form in ["", " --json", " --csv"] {
            dir.line(&format!("merge server.iprof client.iprof --report {report}{form}")).expect(0);
        }
    }
    let run = dir.line("merge client.iprof server.iprof --report xtree --prune 0 --collapse processes");
    assert!(run.expect(0).stdout.contains("(remote call)"));
    let run = dir.line("merge client.iprof server.iprof --process server.iprof --view server --report xtree");
    assert!(run.expect(0).stdout.contains("for Program71 (pid 71)"));
}

#[test]
fn profiles_without_remote_calls_are_a_warning_with_the_cure() {
    let dir = Dir::new();
    let mut writer = Writer::new();
    writer.word(16, 71).word(24, 71).tree("main", &Script::new(1000).call(1, |s| s.wait(100)));
    dir.write("alone.iprof", writer.finish());
    for more in ["", "--report xtree", "--to perfetto -o out"] {
        dir.line(&format!("merge alone.iprof {more}")).says(0, &["no remote calls: they are recorded with"]);
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let dir = dir();
    dir.write("text", "a;b 3\n");
    dir.write("again.iprof", profile(RemoteCallKind::Made, 71));
    dir.line("merge client.iprof text").says(2, &["text: no profile"]);
    dir.line("merge client.iprof nowhere").says(1, &["cannot read nowhere"]);
    dir.line("merge client.iprof --process other")
        .says(2, &["--process other: neither a process nor a profile that was given; the processes are "]);
    dir.line("merge client.iprof --to xml").says(2, &["invalid value 'xml'"]);
    dir.line("merge client.iprof --view server").says(2, &["say which one with --process"]);
    let head = &profile(RemoteCallKind::Served, 73)[..40];
    dir.write("cut.iprof", head);
    dir.line("merge cut.iprof").says(1, &["cut.iprof"]);
    dir.line("merge cut.iprof cut.iprof").says(1, &["none of the profiles can be read"]);
    let run = dir.line("merge client.iprof cut.iprof").says(0, &["cut.iprof", "left out"]);
    assert!(run.stdout.contains("1 made, 0 served"), "{}", run.stdout);
    dir.line("merge client.iprof cut.iprof --process cut.iprof")
        .says(2, &["--process cut.iprof: left out, for it cannot be read"]);
    let parts = ["again.iprof: of the same process as client.iprof, which has no less; left out"];
    let run = dir.line("merge client.iprof again.iprof server.iprof").says(0, &parts);
    assert!(run.stdout.contains("1 made, 1 served, 1 matched"), "{}", run.stdout);
}

/// Remote calls are not cut: figures of a part of the run with calls of all of it would be wrong.
#[test]
fn a_process_that_was_reset_is_merged_only_as_a_whole() {
    let dir = dir();
    let whole = dir.line("merge client.iprof server.iprof").expect(0).stdout;
    dir.write("server.iprof.reset", profile(RemoteCallKind::Served, 72));
    let said = "server.iprof: its process was reset by `instrument ctl 72 reset`, but remote calls are known from the start only; --since start";
    for more in ["", "--report xprof", "--to otlp -o out"] {
        dir.line(&format!("merge client.iprof server.iprof {more}")).says(2, &[said]);
    }
    assert_eq!(dir.line("merge client.iprof server.iprof --since start").expect(0).stdout, whole);
    dir.line("merge client.iprof server.iprof --since server.iprof.reset")
        .says(2, &["or give --since start"]);
    // That of an older process of this name says nothing.
    dir.write("server.iprof.reset", profile(RemoteCallKind::Served, 70));
    assert_eq!(dir.line("merge client.iprof server.iprof").expect(0).stdout, whole);
}
