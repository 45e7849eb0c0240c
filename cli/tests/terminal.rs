//! Text of a recorded program on a terminal: no name, command line or thread may control it or reorder a line, and no format of other
//! tools may lose it.

use crate::common::{Dir, Run};
use instrument_names::id_map::{IdMap, MethodInfo, gz};
use instrument_testing::{Life, REMOTE_CALL, Script, Writer};
use instrument_trace::{JavaThread, RemoteCall, RemoteCallKind, Uid, Wait, WaitKind};

/// Clears the screen, sets the title of the window, does both with C1 characters, reorders, ends the line.
const HOSTILE: &str = "x\x1b[2J\x1b]0;t\x07\u{9b}2J\u{9d}y\u{202e}\u{2066}\u{61c}\n\rz";

fn hostile(what: &str) -> String {
    format!("{what}{HOSTILE}")
}

fn id_map() -> Vec<u8> {
    let mut map = IdMap::new();
    let (name, source) = (hostile("call"), hostile("Shop.java"));
    let class = map.begin_class(hostile("p/Shop").as_bytes(), Some(source.as_bytes())).unwrap();
    for descriptor in [&b"()V"[..], b"(I)V", b"()I"] {
        let info = MethodInfo { name: name.as_bytes(), descriptor, line: 3, flags: 1, fingerprint: 0 };
        map.assign(class, &info).unwrap();
    }
    let mut text = Vec::new();
    map.write_part(vec![1, 2, 3], &mut text);
    gz::compress(&text)
}

/// A process of which every text is hostile.
fn profile(calls: u32) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.property("command", hostile("/srv/shop.jar ")).property("record", "tree");
    for key in ["host", "java.version", "java.vm.name", "user", "os.name"] {
        writer.property(key, hostile(key));
    }
    writer.id_map(&id_map()).class_names(&[(1, &hostile("p.Session")), (7, &hostile("p.Lock"))]);
    writer.contexts(1, &[(0, Some(1)), (1, Some(2))]).collections(1, &[(2000, 2100), (3000, 3100)]);
    writer.objects(1, &[Life { class: 1, thread: 1, context: 2, bytes: 16, clock: 1500, ..Life::default() }]);
    let leaf = |s: Script| s.call(2, |s| s.make(1, 16).wait(300));
    writer.tree(&hostile("main"), &Script::new(1000).call(1, |s| s.wait(100).times(calls, leaf)));
    let thread = |number, name: &str| JavaThread {
        copy: 1,
        number,
        ordinal: u32::from(number == 1),
        start: 1000,
        end: 0,
        starter: 1,
        daemon: false,
        virtual_thread: false,
        name: hostile(name),
        group: hostile("group"),
        group_parent: hostile("system"),
    };
    writer.java_threads(&[thread(1, "main"), thread(2, "other")]);
    writer.waits(&[Wait {
        copy: 1,
        kind: WaitKind::Contended,
        thread: 1,
        start: 1020,
        end: 1080,
        monitor: 1,
        class: 7,
        context: 2,
        owner: 2,
        timeout: 0,
        timed_out: false,
    }]);
    writer.remote_calls(&[Some(RemoteCall {
        kind: RemoteCallKind::Made,
        return_id: Some(Uid { unique: 5, time: 9, count: 1 }),
        context: 1,
        begin: 1000,
        sent: 1001,
        returned: 1059,
        end: 1060,
        ..REMOTE_CALL
    })]);
    writer.clocks(0, 5000);
    writer.finish()
}

fn dir() -> Dir {
    let dir = Dir::new();
    dir.write("a.iprof", profile(3));
    dir.write("b.iprof", profile(4));
    let texts = "metrics: wa\x1b[31mll ns\nprocess: p\x1b[2J\n@ t\u{202e}\n0 > m\x1b]0;x\x07\n5 > n\n6 < n\n9 < m\x1b]0;x\x07\n";
    dir.write("c.events", texts);
    dir
}

/// Characters that a terminal or the order of a line heeds.
fn heeded(text: &str) -> Vec<char> {
    let is = |c: &char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || ('\u{200e}'..='\u{200f}').contains(c)
            || *c == '\u{61c}'
            || ('\u{202a}'..='\u{202e}').contains(c)
            || ('\u{2066}'..='\u{2069}').contains(c)
    };
    text.chars().filter(is).collect()
}

#[track_caller]
fn is_plain(line: &str, run: &Run) {
    for (stream, text) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
        assert_eq!(heeded(text), [], "{line}: {stream}: {text:?}");
    }
}

const TEXTS_AND_TABLES: &[&str] = &[
    "report",
    "report -v",
    "report --counts",
    "report --counts --per-thread",
    "xprof",
    "xprof --lines",
    "xtree",
    "xtree --fold none",
    "xtree --focus **",
    "xarc",
    "stats",
    "threads",
    "monitors",
    "heap",
    "heap --by context",
    "heap --leaks",
    "merge",
    "report --csv",
    "report --csv --per-thread",
    "report --csv --allocations",
    "report --counts --allocations",
    "xprof --csv",
    "xtree --csv",
    "xarc --csv",
    "stats --csv",
    "threads --csv",
    "monitors --csv",
    "monitors --csv --table threads",
    "heap --csv --by site",
    "heap --csv --leaks",
    "merge --csv",
    "export -f folded",
];

#[test]
fn texts_and_tables_do_not_control_a_terminal() {
    let dir = dir();
    for command in TEXTS_AND_TABLES {
        let line = format!("{command} a.iprof");
        let run = dir.line(&line);
        // 4: what was recorded does not answer it.
        assert!([0, 1, 4].contains(&run.code), "{line}: {}", run.stderr);
        assert!(run.stdout.contains('\n'), "{line}");
        is_plain(&line, &run);
    }
    for line in [
        "diff a.iprof b.iprof",
        "diff --csv a.iprof b.iprof",
        "merge --report matching a.iprof b.iprof",
        "merge a.iprof b.iprof",
    ] {
        let run = dir.line(line);
        assert!(run.code < 2 && !run.stdout.is_empty(), "{line}: {}", run.stderr);
        is_plain(line, &run);
    }
    for command in [
        "xprof",
        "xtree",
        "xtree --focus n",
        "xarc",
        "stats",
        "threads",
        "xprof --csv",
        "diff c.events",
        "export -f folded",
    ] {
        let line = format!("{command} c.events");
        let run = dir.line(&line);
        assert!(run.code < 2, "{line}: {}", run.stderr);
        is_plain(&line, &run);
    }
    // What a name was can be seen.
    let folded = dir.line("export -f folded a.iprof").expect(0).stdout;
    assert!(folded.starts_with("[mainx\\u001b[2J\\u001b]0"), "{folded}");
    let csv = dir.line("threads --csv a.iprof").expect(0).stdout;
    assert!(csv.contains("\\u009b2J\\u009dy\\u202e"), "{csv}");
    assert!(dir.line("export -f tau -o tau a.iprof").expect(0).stdout.is_empty());
    let files: Vec<_> = dir.list().into_iter().filter(|name| name.contains("/profile.")).collect();
    assert!(!files.is_empty());
    for name in files {
        let text = dir.text(&name);
        assert!(text.contains("main") && heeded(&text).is_empty(), "{name}: {text:?}");
    }
    dir.write("map.txt.gz", id_map());
    let listed = dir.line("ids map.txt.gz").expect(0);
    assert_eq!(listed.stdout.lines().count(), 3, "{}", listed.stdout);
    is_plain("ids", &listed);
}

#[test]
fn formats_of_other_tools_keep_the_whole_name() {
    let dir = dir();
    let name = hostile("main");
    /// Whether a text of the document contains it.
    fn has(value: &serde_json::Value, name: &str) -> bool {
        match value {
            serde_json::Value::String(text) => text.contains(name),
            serde_json::Value::Array(all) => all.iter().any(|value| has(value, name)),
            serde_json::Value::Object(all) => {
                all.iter().any(|(key, value)| key.contains(name) || has(value, name))
            }
            _ => false,
        }
    }
    for line in [
        "xtree --json",
        "threads --json",
        "monitors --json",
        "export -f call-tree",
        "export -f speedscope",
        "export -f firefox",
        "export -f chrome",
    ] {
        let run = dir.line(&format!("{line} a.iprof")).expect(0);
        assert!(has(&run.json(), &name), "{line}: {}", run.stdout);
    }
    let otlp = dir.line("export -f otlp a.iprof").expect(0);
    assert!(
        otlp.stdout.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()),
        "{}",
        otlp.stdout
    );
    for format in ["pprof", "perfetto"] {
        dir.line(&format!("export -f {format} -o {format} a.iprof")).expect(0);
        let data = dir.read(format);
        let data =
            if data.starts_with(&[0x1f, 0x8b]) { gz::decompress(&data, 1 << 20).unwrap() } else { data };
        assert!(data.windows(name.len()).any(|part| part == name.as_bytes()), "{format}");
    }
    // XML 1.0 cannot hold controls: they are escaped as in Java, and no reader is confused by a mark.
    let xml = dir.line("export -f xml a.iprof").expect(0).stdout;
    assert!(xml.contains("mainx\\u001B[2J\\u001B]0;t\\u0007\\u009B2J\\u009Dy\u{202e}"), "{xml}");
    assert!(!xml.contains(|c: char| c.is_control() && c != '\n'), "{xml}");
}
