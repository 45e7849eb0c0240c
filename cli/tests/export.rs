//! `instrument export` over the example of the arcflow paper and over what it has to refuse.

use crate::common::Dir;
use instrument_analysis::export::parquet::schema::TABLES;
use instrument_names::id_map::gz;
use instrument_testing::{Script, Writer};
use std::fs;
use std::path::Path;

const AC_TEST: &str = include_str!("../../crates/analysis/tests/data/AC_test.events");

fn ac_test() -> Dir {
    let dir = Dir::new();
    dir.write("ac.events", AC_TEST);
    dir
}

#[test]
fn folded_is_one_line_for_each_context() {
    let expected = "[AC_test_pidtid];Main;A 1\n[AC_test_pidtid];Main;A;B 2\n[AC_test_pidtid];Main;A;B;C 1\n\
        [AC_test_pidtid];Main;B 1\n[AC_test_pidtid];Main;B;A 1\n[AC_test_pidtid];Main;B;A;C 1\n\
        [AC_test_pidtid];Main;B;A;X;E 1\n[AC_test_pidtid];Main;B;A;X;F 1\n[AC_test_pidtid];Main;B;A;X;G 1\n";
    let dir = ac_test();
    let run = dir.line("export ac.events --format folded").expect(0);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), (expected, ""));
    // What was written is read again, and inputs are added up.
    dir.line("export ac.events -f folded -o ac.folded").expect(0);
    assert_eq!(dir.text("ac.folded"), expected);
    let twice = dir.line("export ac.folded ac.folded -f folded").expect(0).stdout;
    assert_eq!(twice, expected.replace(" 2\n", " 4\n").replace(" 1\n", " 2\n"));
}

#[test]
fn the_resource_can_be_chosen() {
    let dir = Dir::new();
    dir.write("x.events", "metrics: wall ns, bytes\n0 0 > a\n5 100 > b\n7 300 < b\n9 300 < a\n");
    let folded = |more: &str| dir.line(&format!("export x.events -f folded {more}")).expect(0).stdout;
    assert_eq!(folded(""), "a 7\na;b 2\n");
    assert_eq!(folded("--resource bytes"), "a 100\na;b 200\n");
    assert_eq!(folded("--resource calls"), "a 1\na;b 1\n");
    let said = "--resource cpu: there is wall, bytes, calls";
    dir.line("export x.events -f folded --resource cpu").says(2, &[said]);
    dir.line("export x.events -f pprof --resource wall -o x").says(2, &["this format holds all figures"]);
}

#[test]
fn what_did_not_fit_is_said() {
    let dir = Dir::new();
    dir.write("x.events", "0 > a\n1 > b\n2 < c\n");
    let run = dir.line("export x.events -f folded").expect(0);
    assert_eq!(run.stderr, "warning: x.events: frames still open at the end: 2, ends that fit no start: 1\n");
    dir.line("-q export x.events -f folded").says(0, &[]);
}

#[test]
fn tau_is_a_directory() {
    let dir = ac_test();
    dir.line("export ac.events -f tau").says(2, &["TAU profiles are a directory: say which with -o"]);
    dir.line("export ac.events -f tau -o tau").expect(0);
    assert_eq!(dir.text("tau/profile.0.0.0").lines().count(), 23);
    // A profile is replaced, anything else is not.
    dir.line("export ac.events -f tau --flat -o tau").expect(0);
    assert_eq!(dir.text("tau/profile.0.0.0").lines().count(), 12);
    dir.write("mine/notes.txt", "mine");
    dir.line("export ac.events -f tau -o mine").says(2, &["mine exists and is not a TAU profile"]);
    dir.line("export ac.events -f folded --flat").says(2, &["--flat goes with --format tau"]);
    assert_eq!(dir.list(), ["ac.events", "mine", "mine/notes.txt", "tau", "tau/profile.0.0.0"]);
}

#[test]
fn a_wrong_input_leaves_no_output() {
    let dir = ac_test();
    dir.write("bad.events", "0 > a\n1 ~ b\n");
    dir.write("text", "hello\n");
    dir.write("other.folded", "a;b 1\n");
    dir.line("export bad.events -f pprof -o x")
        .says(1, &["bad.events: no profile: line 2: `1 ~ b` is no event"]);
    dir.line("export text -f folded").says(1, &["text: no profile: neither events"]);
    dir.line("export none -f folded").says(1, &["cannot read none"]);
    let said = "do not measure the same";
    dir.line("export ac.events other.folded -f folded").says(2, &[said]);
    assert_eq!(dir.list(), ["ac.events", "bad.events", "other.folded", "text"]);
}

/// A pipe stands for whatever is no file, such as a device: it must not be replaced by one.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_written_to() {
    use std::os::unix::fs::FileTypeExt;
    use std::process::{Command, Stdio};
    let dir = ac_test();
    let pipe = dir.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn().unwrap();
    dir.line("export --format folded ac.events -o pipe").expect(0);
    let read = reader.wait_with_output().unwrap().stdout;
    assert_eq!(
        String::from_utf8(read).unwrap(),
        dir.line("export --format folded ac.events").expect(0).stdout
    );
    assert!(pipe.metadata().unwrap().file_type().is_fifo());
}

/// Two methods that differ in what they return, of which the compiler made one, with their source.
fn shop() -> Vec<u8> {
    let ids = "instrument ids 1\nclass p/q/Shop Shop.java\n1 main ([Ljava/lang/String;)V 7 9 0000000000000000\n\
        2 get ()Ljava/lang/String; 12 1 0000000000000000\n3 get ()Ljava/lang/Object; 5 1041 0000000000000000\n";
    let mut writer = Writer::new();
    writer.id_map(&gz::compress(ids.as_bytes()));
    // Of its life of 1 ms the thread is in methods for 34 us.
    let both = |s: Script| s.wait(1000).call(2, |s| s.wait(9000));
    let script = Script::new(1000).wait(100_000).call(1, |s| s.wait(20_000).call(3, both));
    writer.tree("main", &script.wait(200_000).call(2, |s| s.wait(4000)));
    writer.property("record", "tree").property("command", "Shop");
    writer.calibrated(0.0, 0.0).clocks(0, 1_001_000);
    writer.finish()
}

#[test]
fn methods_have_their_source_and_first_line_wherever_there_is_a_place_for_them() {
    let dir = Dir::new();
    dir.write("a.iprof", shop());
    let name = "p.q.Shop.get()Ljava/lang/String;";
    let run = dir.line("xtree --lines --prune 0 a.iprof").expect(0).stdout;
    assert!(run.contains("  p.q.Shop.get(): Object [bridge] (Shop.java:5)\n"), "{run}");
    assert!(run.contains("  p.q.Shop.get(): String (Shop.java:12)\n"), "{run}");
    assert!(run.contains("  p.q.Shop.main(String[]) (Shop.java:7)\n"), "{run}");
    assert!(!dir.line("xtree a.iprof").expect(0).stdout.contains("Shop.java"));
    for command in ["xprof", "xtree", "xarc", "stats", "diff -r calls a.iprof"] {
        let text = dir.line(&format!("{command} --json a.iprof")).stdout;
        assert!(
            command.starts_with("diff") || text.contains("\"file\":\"p/q/Shop.java\","),
            "{command}: {text}"
        );
        assert!(command.starts_with("diff") || text.contains("\"line\":12"), "{command}: {text}");
    }
    let json = |format: &str| dir.line(&format!("export -f {format} a.iprof")).expect(0).json();
    let frames = json("speedscope")["shared"]["frames"].as_array().unwrap().clone();
    let frame = frames.iter().find(|frame| frame["name"] == name).unwrap();
    assert_eq!((&frame["file"], &frame["line"]), (&"p/q/Shop.java".into(), &12.into()));
    let firefox = &json("firefox")["threads"][0];
    let strings = firefox["stringArray"].as_array().unwrap();
    let function = strings.iter().position(|string| string == name).unwrap();
    let file = firefox["funcTable"]["fileName"][function].as_u64().unwrap() as usize;
    assert_eq!(
        (&strings[file], &firefox["funcTable"]["lineNumber"][function]),
        (&"p/q/Shop.java".into(), &12.into())
    );
    let chrome = json("chrome")["traceEvents"].as_array().unwrap().clone();
    let event = chrome.iter().find(|event| event["name"] == name).unwrap();
    assert_eq!(event["args"], serde_json::json!({"file": "p/q/Shop.java", "line": 12}));
    let tree = json("call-tree").to_string();
    assert!(tree.contains("\"file\":\"p/q/Shop.java\""), "{tree}");
    for (format, out) in [("perfetto", "a.perfetto"), ("pprof", "a.pprof")] {
        dir.line(&format!("export -f {format} -o {out} a.iprof")).expect(0);
        let bytes = std::fs::read(dir.path(out)).unwrap();
        let bytes = if format == "pprof" { gz::decompress(&bytes, 1 << 20).unwrap() } else { bytes };
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.contains("p/q/Shop.java"), "{format}");
    }
}

#[test]
fn the_first_routine_of_tau_is_the_thread_with_its_life() {
    let dir = Dir::new();
    dir.write("a.iprof", shop());
    dir.line("export -f tau --flat -o tau a.iprof").expect(0);
    let text = dir.text("tau/MULTI__WALL_TIME/profile.0.0.0");
    let rows: Vec<_> = text.lines().skip(2).collect();
    assert_eq!(rows[0], "\"THREAD=main\" 1 2 966 1000 0 GROUP=\"TAU_DEFAULT\"");
    assert!(
        text.contains("\"p.q.Shop.get()Ljava/lang/String; [{p/q/Shop.java} {12,0}]\" 2 0 13 13 0"),
        "{text}"
    );
}

#[test]
fn parquet_adds_to_a_directory() {
    let dir = Dir::new();
    let profile = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/trace/tests/profiles/v1-tree.iprof");
    dir.write("a.iprof", fs::read(profile).unwrap());
    dir.write("data/mine.txt", "mine");
    dir.line("export a.iprof -f parquet").says(2, &["writes a directory of tables: say which with -o"]);
    dir.line("export a.iprof -f parquet -o x --thread main").says(2, &["has all threads"]);
    dir.line("export a.iprof -f parquet -o a.iprof").says(2, &["a.iprof is no directory"]);
    dir.line("export a.iprof -f folded --label a=b").says(2, &["--label goes with --format parquet"]);
    dir.line("export a.iprof -f parquet -o x --label a").says(2, &["a label is written KEY=VALUE"]);
    dir.line("merge a.iprof -f parquet").says(2, &["writes a directory of tables: say which with -o"]);
    assert_eq!(dir.list(), ["a.iprof", "data", "data/mine.txt"]);
    dir.line("export a.iprof -f parquet -o new/data --label service=shop").expect(0);
    dir.line("export a.iprof -f parquet -o data --label service=shop").expect(0);
    let files = |folder: &str| -> Vec<String> {
        let is_file = |name: &String| name.starts_with(folder) && dir.path(name).is_file();
        dir.list().into_iter().filter(is_file).map(|name| name[folder.len()..].to_owned()).collect()
    };
    let first = files("data/");
    // A file of each table, and what was there.
    assert_eq!(first.len(), TABLES.len() + 1, "{first:?}");
    assert!(first.contains(&"mine.txt".to_owned()));
    let written: Vec<_> = first.iter().filter(|name| *name != "mine.txt").cloned().collect();
    assert!(written.iter().all(|name| name.contains("/service=shop/build=")), "{written:?}");
    assert_eq!(files("new/data/"), written);
    let bytes = dir.read(&format!("data/{}", written[0]));
    dir.line("export a.iprof -f parquet -o data --label service=shop").expect(0);
    assert_eq!(files("data/"), first, "the same again is the same");
    assert_eq!(dir.read(&format!("data/{}", written[0])), bytes);
    dir.line("export a.iprof -f parquet -o data --label service=shop --label build=2").expect(0);
    assert_eq!(files("data/").len(), 2 * TABLES.len() + 1);
}
