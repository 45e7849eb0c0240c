//! `threads --list`, who waited for whom in `monitors`, `merge --report services` and `--report calls`.

use crate::common::Dir;
use instrument_testing::{REMOTE_CALL, Script, Writer};
use instrument_trace::{JavaThread, Link, LinkKind, RemoteCall, RemoteCallKind, Uid, Wait, WaitKind};

/// A process with a pool of two threads, and `main`, which waited for one of them.
fn process() -> Vec<u8> {
    let mut writer = Writer::new();
    writer.property("command", "/srv/shop.jar").property("record", "tree").calibrated(0.0, 0.0);
    writer.class_names(&[(7, "com.acme.Lock")]);
    writer.tree("main", &Script::new(1000).call(1, |s| s.wait(100).times(3, |s| s.call(2, |s| s.wait(10)))));
    writer.tree("pool-1", &Script::new(2000).call(2, |s| s.wait(50)));
    writer.tree("pool-2", &Script::new(3000).call(2, |s| s.wait(40)).call(2, |s| s.wait(40)));
    writer.contexts(1, &[(0, Some(1)), (1, Some(2))]);
    let thread = |number: u32, name: &str, group: &str| JavaThread {
        copy: 1,
        number,
        ordinal: number,
        start: 1000,
        name: name.into(),
        group: group.into(),
        ..JavaThread::default()
    };
    writer.java_threads(&[
        thread(1, "main", "main"),
        thread(2, "pool-1", "shop"),
        thread(3, "pool-2", "shop"),
    ]);
    let wait = |thread, owner, start, end| Wait {
        copy: 1,
        kind: WaitKind::Contended,
        thread,
        start,
        end,
        monitor: 1,
        class: 7,
        context: 1,
        owner,
        timeout: 0,
        timed_out: false,
    };
    writer.waits(&[wait(1, 2, 1020, 1080), wait(1, 2, 1085, 1090), wait(3, 1, 3010, 3020)]);
    writer.clocks(0, 5000);
    writer.finish()
}

#[test]
fn threads_are_listed_with_their_life_and_their_calls() {
    let dir = Dir::new();
    dir.write("a.iprof", process());
    let rows = dir.line("threads --list --json a.iprof").expect(0).json()["rows"].clone();
    let of = |name: &str| {
        let row = rows.as_array().unwrap().iter().find(|row| row["thread"] == name);
        let row = row.unwrap_or_else(|| panic!("{name}: {rows:#}"));
        ["threads", "calls", "contexts", "elapsed_ns"].map(|key| row[key].as_u64().unwrap())
    };
    // To the last beat of the process, from the first event of the first thread.
    assert_eq!(of("main"), [1, 4, 2, 4000]);
    // Where one of them waited is a context, too.
    assert_eq!(of("pool-*"), [2, 3, 2, 3000]);
    assert_eq!(rows[1]["groups"], serde_json::json!(["shop"]));
    let text = dir.line("threads --list a.iprof").expect(0).stdout;
    let lines: Vec<Vec<_>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["threads", "elapsed", "running", "waiting", "calls", "thread", "of", "process"]);
    assert_eq!(lines.len(), 3, "{text}");
    // Every thread of a pool alone, the one that calls most first.
    let csv = dir.line("threads --list --split threads --sort calls --csv a.iprof").expect(0).stdout;
    let names: Vec<_> = csv.lines().skip(1).map(|line| line.split(',').nth(1).unwrap()).collect();
    assert_eq!(names, ["main", "pool-2", "pool-1"]);
    let cut = dir.line("threads --list --top 1 a.iprof").expect(0).stdout;
    assert!(cut.ends_with("not shown: 1 past the first 1\n"), "{cut}");
    // Texts have no clock.
    dir.write("b", "main;work 7\n");
    assert!(dir.line("threads --list b").expect(0).stdout.starts_with("threads  elapsed"));
}

#[test]
fn monitors_say_who_waited_for_whom() {
    let dir = Dir::new();
    dir.write("a.iprof", process());
    let pairs = dir.line("monitors --json a.iprof").expect(0).json()["processes"][0]["pairs"].clone();
    let pair = |row: &serde_json::Value| {
        let names = ["thread", "waited_for"].map(|key| row[key].as_str().unwrap().to_owned());
        (names, row["times"].as_u64().unwrap(), row["total"].as_u64().unwrap())
    };
    let found: Vec<_> = pairs.as_array().unwrap().iter().map(pair).collect();
    let names = |one: &str, other: &str| [one.to_owned(), other.to_owned()];
    assert_eq!(found, [(names("main", "pool-1"), 2, 65), (names("pool-2", "main"), 1, 10)]);
    let text = dir.line("monitors a.iprof").expect(0).stdout;
    assert!(text.contains("main waited for pool-1"), "{text}");
}

fn remote(kind: RemoteCallKind, pid: u64) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.word(16, pid).word(24, pid).property("command", format!("Program{pid}"));
    let is_made = kind == RemoteCallKind::Made;
    if is_made {
        writer.tree("main", &Script::new(1000).call(1, |s| s.wait(100)));
        writer.contexts(1, &[(0, Some(1))]);
    } else {
        writer.tree("rmi", &Script::new(1000).enter_link(1).call(5, |s| s.wait(60)).leave_link(1));
        writer.links(&[Link { copy: 1, number: 1, kind: LinkKind::Served, thread: 0, node: 0, clock: 0 }]);
    }
    writer.class_names(&[(1, "Shop"), (2, "sell(I)V")]);
    writer.remote_calls(&[Some(RemoteCall {
        kind,
        return_id: Some(Uid { unique: 5, time: 9, count: 1 }),
        class: 1,
        method: 2,
        context: u32::from(is_made),
        link: u32::from(!is_made),
        thread: 1,
        begin: 1000,
        sent: 1001,
        returned: 1059,
        end: if is_made { 1060 } else { 1050 },
        ..REMOTE_CALL
    })]);
    writer.finish()
}

#[test]
fn remote_calls_are_added_up_and_shown_one_by_one() {
    let dir = Dir::new();
    dir.write("client.iprof", remote(RemoteCallKind::Made, 71));
    dir.write("server.iprof", remote(RemoteCallKind::Served, 72));
    let both = "client.iprof server.iprof";
    let services = dir.line(&format!("merge --report services --json {both}")).expect(0).json();
    let row = &services["rows"][0];
    assert_eq!(
        (&row["label"], &row["client"], &row["server"]),
        (&"Shop.sell(int)".into(), &0.into(), &1.into())
    );
    let figures =
        ["made", "served", "matched", "failed", "client_ns", "server_ns"].map(|key| row[key].as_u64());
    assert_eq!(figures, [1, 1, 1, 0, 60, 50].map(Some));
    let calls = dir.line(&format!("merge --report calls --json {both}")).expect(0).json();
    let span = &calls["rows"][0]["spans"][0];
    assert_eq!(
        (&span["made"]["ns"], &span["served"]["ns"], &span["between_ns"]),
        (&60.into(), &50.into(), &10.into())
    );
    assert_eq!((&span["made"]["thread"], &span["outcome"]), (&"main".into(), &"returned".into()));
    let arrow = "Shop.sell(int) (Program71 (pid 71) -> Program72 (pid 72))";
    for report in ["services", "calls"] {
        let text = dir.line(&format!("merge --report {report} {both}")).expect(0).stdout;
        assert!(text.contains(arrow), "{report}: {text}");
        let csv = dir.line(&format!("merge --report {report} --csv {both}")).expect(0).stdout;
        let widths: Vec<_> = csv.lines().map(|line| line.split(',').count()).collect();
        assert!(widths.len() > 1 && widths.iter().all(|&width| width == widths[0]), "{csv}");
    }
    // Alone, the server is an address that nobody knows.
    let alone = dir.line("merge --report services client.iprof").expect(0).stdout;
    assert!(alone.contains("Program71 (pid 71) -> unknown"), "{alone}");
    dir.line(&format!("merge --report calls --view server --process server.iprof {both}"))
        .says(2, &["--view is about the tree"]);
}
