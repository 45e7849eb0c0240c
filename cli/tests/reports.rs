//! The reports of profiles and texts: `xprof`, `xtree`, `xarc`, `stats`, `threads`, `report` and `diff`.

use crate::common::{Dir, Run, empty_class};
use instrument_names::id_map::gz;
use instrument_testing::{Script, ThreadFacts, Writer};
use std::path::Path;

/// The example of the arcflow paper, ten seconds in all.
fn example() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/analysis/tests/data/AC_test.events");
    std::fs::read(path).unwrap()
}

/// A process with a thread in which m1 calls m2 `calls` times, `ns` each.
fn profile(calls: u32, ns: u64) -> Vec<u8> {
    let script =
        Script::new(1000).call(1, |s| s.wait(500).times(calls, |s| s.call(2, |s| s.wait(ns)))).wait(1);
    let mut writer = Writer::new();
    writer.tree("main", &script);
    writer.property("command", "/srv/shop.jar --port 80").property("record", "tree");
    writer.calibrated(0.0, 0.0).clocks(0, 5000);
    writer.finish()
}

/// A tree that is deeper than readers of JSON go.
#[test]
fn a_tree_can_be_a_list() {
    let dir = Dir::new();
    let names: Vec<String> = (0..3000).map(|level| format!("m{level}")).collect();
    dir.write("deep", format!("{} 7\nm0;other 2\n", names.join(";")));
    let json = dir.line("xtree --json --flat deep").expect(0).json();
    let contexts = json["contexts"].as_array().unwrap();
    let at = |name: &str| contexts.iter().position(|context| context["name"] == name).unwrap();
    for pair in names.windows(2) {
        assert_eq!(contexts[at(&pair[1])]["parent"], at(&pair[0]), "{pair:?}");
    }
    assert_eq!(contexts[at("other")]["parent"], at("m0"));
    assert!(contexts[0]["parent"].is_null() && json["tree"].is_null());
    dir.line("xtree --flat deep").says(2, &["--json"]);
}

#[track_caller]
fn last_words(run: &Run, words: &[&str]) {
    let found: Vec<_> = run.stdout.lines().map(|line| line.split_whitespace().last().unwrap_or("")).collect();
    assert_eq!(found, words, "{}", run.stdout);
}

#[test]
fn every_report_takes_texts_and_profiles_by_their_content() {
    let dir = Dir::new();
    // Names do not matter.
    dir.write("a", example());
    dir.write("b", profile(3, 100));
    dir.write("c", "main;work 7\nmain;idle 3\n");
    for command in ["report", "xprof", "xtree", "xarc", "stats", "threads"] {
        for (file, word) in [("a", "Main"), ("b", "#1"), ("c", "work")] {
            let run = dir.line(&format!("{command} {file}")).expect(0);
            // Folded stacks without threads have no profile of one.
            let expected = command != "threads" || file != "c";
            assert_eq!(run.stdout.contains(word), expected, "{command} {file}: {}", run.stdout);
            assert_eq!(run.stderr, "", "{command} {file}");
            dir.line(&format!("{command} --json {file}")).expect(0).json();
        }
    }
    dir.write("d", b"PK\x03\x04 is no text");
    dir.line("xprof d").says(1, &["d: an archive; `instrument run"]);
    dir.line("xprof nothing").says(1, &["cannot read nothing"]);
    dir.line("xprof").says(2, &["<FILE>"]);
}

#[test]
fn figures_can_be_absolute_or_percent() {
    let dir = Dir::new();
    dir.write("a", example());
    let run = dir.line("xprof --percent a").expect(0);
    assert!(run.stdout.contains("\n    1     0.0   30.0  X\n"), "{}", run.stdout);
    let run = dir.line("xprof --absolute a").expect(0);
    assert!(run.stdout.contains("\n    1       0 ns    3.000 s  X\n"), "{}", run.stdout);
    dir.line("xprof --absolute --percent a").says(2, &["--percent"]);
    dir.line("xprof --prune 101 a").says(2, &["not a percentage"]);
}

#[test]
fn rows_are_sorted_cut_and_chosen() {
    let dir = Dir::new();
    dir.write("a", example());
    let run = dir.line("xprof --sort cum --top 3 a").expect(0);
    last_words(&run, &["names", "function", "AC_test_pidtid", "Main", "A", "3"]);
    assert!(run.stdout.ends_with("not shown: 6 past the first 3\n"), "{}", run.stdout);
    let run = dir.line("xprof --prune 25 --sort name a").expect(0);
    last_words(&run, &["names", "function", "A", "AC_test_pidtid", "B", "Main", "X", "%"]);
    let run = dir.line("xprof --method [AX] --method B a").says(2, &["[AX]"]);
    assert_eq!(run.stdout, "");
    last_words(&dir.line("xprof --method X --method B a").expect(0), &["names", "function", "B", "X"]);
    last_words(
        &dir.line("xtree --depth 2 a").expect(0),
        &["names", "function", "AC_test_pidtid", "Main", "levels"],
    );
    let run = dir.line("xtree --thread nobody a").expect(0);
    last_words(&run, &["names", "function"]);
    let run = dir.line("xtree --collapse threads --top 1 a").expect(0);
    last_words(&run, &["names", "function", "Main", "largest"]);
}

#[test]
fn a_focus_may_be_on_calls_within_others() {
    let dir = Dir::new();
    dir.write("a", "t;a;f;g 3\nt;b;f;g 5\nt;b;g 11\n");
    let of = |options: &str| {
        let tree = dir.line(&format!("xtree --json --focus g {options} a")).expect(0).json();
        (tree["total"][0].as_u64().unwrap(), tree["total_of_all"][0].as_u64().unwrap())
    };
    assert_eq!(of(""), (19, 19));
    assert_eq!(of("--within f"), (8, 19));
    assert_eq!(of("--within b --within f"), (5, 19));
    dir.line("xtree --focus g --within f --within b a").says(2, &["none of its calls is made within"]);
    dir.line("xtree --focus g --within ff a").says(2, &["no method fits --within 'ff'"]);
    dir.line("xtree --within f a").says(2, &["--focus"]);
}

#[test]
fn what_is_left_out_is_counted() {
    let dir = Dir::new();
    dir.write("a", "main;hub;x 5\nmain;hub;y 3\nmain;hub;z 2\n");
    let text = dir.line("xarc --method hub --arcs 1 a").expect(0).stdout;
    assert!(text.contains("  x\n") && text.contains("  (2 more)\n") && !text.contains("  y\n"), "{text}");
    let stanza = dir.line("xarc --method hub --arcs 1 --json a").expect(0).json()["stanzas"][0].clone();
    assert_eq!(stanza["children"].as_array().unwrap().len(), 1);
    assert_eq!((&stanza["children_left_out"], stanza.get("parents_left_out")), (&2.into(), None));
    for (report, rows) in [("xprof", "rows"), ("xarc", "stanzas")] {
        let all = dir.line(&format!("{report} --json a")).expect(0).json();
        let cut = dir.line(&format!("{report} --json --top 2 a")).expect(0).json();
        let length = |document: &serde_json::Value| document[rows].as_array().unwrap().len();
        assert_eq!((length(&all), all.get("left_out")), (5, None), "{report}");
        assert_eq!((length(&cut), &cut["left_out"]), (2, &3.into()), "{report}");
    }
}

#[test]
fn long_names_fit_the_width() {
    let dir = Dir::new();
    let name = format!("com.acme.{}.Shop.price(I)V", "very.".repeat(20));
    dir.write("a", format!("{name};leaf 3\n"));
    let run = dir.line("xtree --width 70 a").expect(0);
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 70), "{}", run.stdout);
    assert!(run.stdout.contains("\u{2026}") && run.stdout.contains("Shop.price("), "{}", run.stdout);
    let whole = name.replace("(I)V", "(int)");
    assert!(dir.line("xtree a").expect(0).stdout.contains(&whole), "a pipe has no width");
    // However deep: levels that find no room are numbered.
    dir.write("deep", format!("{} 3\n", vec![name.as_str(); 60].join(";")));
    let run = dir.line("xtree --width 80 --fold none deep").expect(0);
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{}", run.stdout);
    assert!(run.stdout.contains(" 59: com."), "{}", run.stdout);
}

#[test]
fn a_focus_has_callees_below_and_callers_above() {
    let dir = Dir::new();
    dir.write("a", "t;a;f;g 3\nt;b;f;f;g 5\nt;b;c;f 7\nt;b;h 85\n");
    let run = dir.line("xtree --focus f --absolute a").expect(0);
    assert!(
        run.stdout.starts_with("focus: samples 15, 15.0 % of 100\n\ncallers, the nearest first\n"),
        "{}",
        run.stdout
    );
    let callers = "f\n7 7 c > b > t\n0 5 b > t\n0 3 a > t\n";
    let words: Vec<String> =
        run.stdout.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert!(words.join("\n").contains(callers), "{}", run.stdout);
    assert!(words.contains(&"7 7 15 f [recursion, 2 levels]".to_owned()), "{}", run.stdout);
    let json = dir.line("xtree --json --focus f a").expect(0).json();
    assert_eq!((&json["total"][0], &json["total_of_all"][0]), (&15.into(), &100.into()));
    assert_eq!(
        json["tree"]["children"][0]["children"].as_array().unwrap().len(),
        2,
        "f and g: nothing is folded"
    );
    assert_eq!(json["callers"]["tree"]["children"][0]["children"].as_array().unwrap().len(), 3);
    let folded = dir.line("xtree --json --focus f --fold recursion a").expect(0).json();
    let f = &folded["tree"]["children"][0];
    assert_eq!((&f["recursion_levels"], &f["cum"][0]), (&2.into(), &15.into()));
    dir.write("tree", dir.line("xtree --json --focus f a").expect(0).stdout);
    last_words(
        &dir.line("xprof --csv tree").expect(0),
        &["function,kind,calls,samples_base,samples_cum", "g,method,8,8,8", "f,method,7,7,15"],
    );
    dir.line("xtree --focus nobody a").says(2, &["no method fits --focus"]);
    dir.line("xtree --focus [f] a").says(2, &["[f]"]);
}

#[test]
fn recursion_and_chains_are_folded_and_counted() {
    let dir = Dir::new();
    dir.write(
        "a",
        "p.A.a();p.B.b();p.C.c();p.D.d();p.E.e();p.E.e() 9\np.A.a();p.B.b();p.C.c();p.D.d();p.F.f() 1\n",
    );
    let run = dir.line("xtree --absolute a").expect(0);
    let lines: Vec<_> = run.stdout.lines().map(str::trim).collect();
    let whole = [
        "p.A.a() > \u{2026} 2 more > p.D.d()",
        "p.E.e() [recursion, 2 levels]",
        "p.F.f()",
        "folded: 1 contexts of methods that called themselves, each into its caller",
        "folded: 3 contexts into lines `a > b`: each called only the next, and as often; base is the sum of theirs",
    ];
    for (line, end) in lines[2..].iter().zip(whole) {
        assert!(line.ends_with(end), "{}", run.stdout);
    }
    assert_eq!(lines.len(), 2 + whole.len(), "{}", run.stdout);
    let plain = dir.line("xtree --fold none a").expect(0);
    assert_eq!(plain.stdout.lines().count(), 2 + 7, "{}", plain.stdout);
}

#[test]
fn own_code_alone_has_what_it_called_in_libraries() {
    let dir = Dir::new();
    dir.write(
        "a",
        "p.Main.main();lib.A.a();p.Shop.sell();lib.B.b() 9\np.Main.main();lib.A.a();SQL select ? 1\n",
    );
    let run = dir.line("xtree --own p.** --absolute a").expect(0);
    last_words(&run, &["frames", "function", "p.Main.main()", "p.Shop.sell()", "?"]);
    let run = dir.line("xprof --own p.** --csv a").expect(0);
    assert!(run.stdout.contains("\np.Shop.sell(),method,0,9,9\n"), "{}", run.stdout);
    assert!(run.stderr.contains("only own code: p.** (--own)"), "{}", run.stderr);
    last_words(
        &dir.line("xprof --own auto --sort name --absolute a").expect(0),
        &["frames", "function", "?", "lib.A.a()", "lib.B.b()", "p.Main.main()", "p.Shop.sell()"],
    );
    dir.line("xarc --own nobody.** --strict a").says(3, &["nobody.**"]);
    dir.line("xprof --own [p] a").says(2, &["[p]"]);
}

/// `p.Shop` calls itself, and seven methods of a library take less: the path ends in the outermost call.
#[test]
fn the_hottest_path_has_all_calls_of_a_method_by_itself_and_libraries_can_be_left_out() {
    let mut ids =
        "instrument ids 1\nclass p/Shop Shop.java\n1 main ([Ljava/lang/String;)V 7 9 0000000000000000\n\
        2 sell (I)V 9 9 0000000000000000\nclass lib/Codec -\n"
            .to_owned();
    (3..13).for_each(|id| ids += &format!("{id} f{id} ()V 0 9 0000000000000000\n"));
    let inner = |s: Script| s.call(2, |s| s.wait(300).call(2, |s| s.wait(100)));
    let script = Script::new(1000).call(1, |s| (3..13).fold(inner(s), |s, id| s.call(id, |s| s.wait(1))));
    let mut writer = Writer::new();
    writer.id_map(&gz::compress(ids.as_bytes())).tree("main", &script);
    writer.property("record", "tree").calibrated(0.0, 0.0).clocks(0, 5000);
    let dir = Dir::new();
    dir.write("a.iprof", writer.finish());
    let screen = dir.line("report a.iprof").expect(0).stdout;
    assert!(screen.contains("\nhottest     Shop.main > Shop.sell (97.6 % of "), "{screen}");
    assert!(screen.contains("\nfaster      --include 'p.**' records own code only"), "{screen}");
    (1..13).for_each(|width| drop(dir.line(&format!("report --width {width} a.iprof")).expect(0)));
    assert_eq!(dir.line("report --own auto a.iprof").expect(0).stdout, screen);
    let wide = dir.line("report --width 0 a.iprof").expect(0).stdout;
    assert!(
        wide.lines()
            .any(|line| line.ends_with("report -v: how it was recorded") && line.starts_with("more ")),
        "{wide}"
    );
}

#[test]
fn resources_are_asked_for_by_name() {
    let dir = Dir::new();
    dir.write("a.iprof", profile(3, 100));
    let run = dir.line("xprof --resource wall,allocations --absolute a.iprof").expect(0);
    let header = run.stdout.lines().nth(1).unwrap().split("  ").filter(|h| !h.is_empty()).map(str::trim);
    let expected =
        ["calls", "wall base", "+- %", "wall cum", "+- %", "allocations base", "allocations cum", "function"];
    assert_eq!(header.collect::<Vec<_>>(), expected);
    dir.line("xprof -r cpu a.iprof")
        .says(2, &["no resource `cpu`", "wall, wall-raw, allocations, bytes, unwinds"]);
    let json = dir.line("xtree --json a.iprof").expect(0).json();
    assert_eq!(json["resources"][0], serde_json::json!({"name": "wall", "unit": "ns"}));
    assert_eq!(json["tree"]["children"][0]["name"], "shop.jar (pid 1)");
    let main = &json["tree"]["children"][0]["children"][0]["children"][0];
    assert_eq!((&main["n"], &main["base"][0], &main["cum"][0]), (&1.into(), &500.into(), &800.into()));
}

#[test]
fn files_are_added_up_if_they_measure_the_same() {
    let dir = Dir::new();
    dir.write("a", example());
    dir.write("b.iprof", profile(3, 100));
    dir.write("cpu.folded", "[main];#1;#2 5\n");
    let run = dir.line("xprof --csv a a").expect(0);
    assert!(run.stdout.contains("\nX,method,2,0,6\n"), "{}", run.stdout);
    let run = dir.line("xprof --csv --resource wall b.iprof b.iprof").expect(0);
    // The two may not have meant the same by 1.
    assert!(run.stdout.contains("\n#1 (file 1),method,1,500,800\n"), "{}", run.stdout);
    dir.line("xprof a b.iprof").says(2, &["a: none of its stacks has a method of the profile"]);
    dir.line("xprof a cpu.folded").says(2, &["do not measure the same", "cpu in s", "samples in"]);
}

#[test]
fn what_others_recorded_of_a_run_are_resources_of_its_contexts() {
    let dir = Dir::new();
    dir.write("b.iprof", profile(3, 100));
    dir.write("cpu.folded", "[main];#1 1\n[main];#1;lib;#2 5\n[gone];#1 2\n");
    let run = dir.line("xprof --csv -r wall,cpu-samples b.iprof cpu.folded").expect(0);
    assert!(run.stdout.contains("\n#2,method,3,300,300,5,5\n"), "{}", run.stdout);
    assert!(
        run.stderr.contains("75.0 % of its samples stand in contexts of the profile, 25.0 % with"),
        "{}",
        run.stderr
    );
    let text = dir.line("xprof b.iprof cpu.folded").expect(0).stdout;
    assert!(text.contains("cpu-samples 8"), "{text}");
    let all = ["xprof b.iprof b.iprof cpu.folded", "xprof --links b.iprof cpu.folded"];
    let said = ["of which of the profiles it tells is not known", "leave out --links"];
    for (line, said) in all.into_iter().zip(said) {
        dir.line(line).says(2, &["cpu.folded: ", said]);
    }
}

#[test]
fn the_summary_shows_program_times_and_checks() {
    let dir = Dir::new();
    dir.write("b.iprof", profile(3, 100));
    let screen = dir.line("report b.iprof").expect(0).stdout;
    insta::assert_snapshot!("screen", screen);
    let out = dir.line("report -v b.iprof").expect(0).stdout;
    insta::assert_snapshot!("summary", out);
    let table = dir.line("report --counts b.iprof").expect(0).stdout;
    insta::assert_snapshot!("counts", table);
    let json = dir.line("report --json b.iprof").expect(0).json();
    assert_eq!((&json["balance"]["holds"], &json["invariants"]["hold"]), (&true.into(), &true.into()));
    assert_eq!(json["xprof"]["rows"].as_array().unwrap().len(), 4);
    dir.write("a", example());
    dir.line("report --counts a").says(2, &["only profiles have counts"]);
}

/// Three threads that run 3 us each while 4 us pass: two processors cannot do that, three can.
#[test]
fn more_running_time_than_the_processors_had_is_said() {
    let ids = "instrument ids 1\nclass Shop Shop.java\n1 sell ()V 7 9 0000000000000000\n\
        class java/lang/Thread -\n2 sleep (J)V 0 30000 0000000000000000\n";
    let dir = Dir::new();
    for (processors, is_said) in [("2", true), ("3", false), ("", false)] {
        let mut writer = Writer::new();
        writer.id_map(&gz::compress(ids.as_bytes()));
        for thread in ["a", "b", "c"] {
            writer.tree(thread, &Script::new(1000).call(1, |s| s.wait(3000).call(2, |s| s.wait(500))));
        }
        writer.property("record", "tree").calibrated(0.0, 0.0).clocks(0, 5000);
        if !processors.is_empty() {
            writer.property("processors", processors);
        }
        dir.write("a.iprof", writer.finish());
        let screen = dir.line("report --width 0 a.iprof").expect(0).stdout;
        assert_eq!(screen.contains("more than the 8.000 us of all processors: "), is_said, "{screen}");
        let out = dir.line("report -v a.iprof").expect(0).stdout;
        assert!(out.contains("\nrunning     9.000 us +- 19 %, 85.7 % of thread time"), "{out}");
        let said = "\n            more than the 8.000 us of all processors: threads waited for a processor";
        assert_eq!(out.contains(said), is_said, "{processors}: {out}");
        assert_eq!(out.contains("of all processors"), is_said, "{processors}: {out}");
        let json = dir.line("report --json a.iprof").expect(0).json();
        let there = processors.parse::<u64>().ok().map(|processors| processors * 4000);
        assert_eq!(json["processor_time_ns"].as_u64(), there);
    }
}

/// `java Shop.java` runs a class of the JDK that compiles the file: the program is the file.
#[test]
fn the_source_launcher_is_not_the_program() {
    let dir = Dir::new();
    let mut writer = Writer::new();
    writer.tree("main", &Script::new(1000).call(1, |s| s.wait(500)));
    writer.property("command", "jdk.compiler/com.sun.tools.javac.launcher.Main src/Shop.java --port 80");
    dir.write("a.iprof", writer.finish());
    let out = dir.line("report a.iprof").expect(0).stdout;
    assert!(out.contains("program     src/Shop.java --port 80 (pid 1)"), "{out}");
    assert!(!out.contains("launcher"), "{out}");
}

/// Two contexts, and three calls for which there was no room: loud in every report.
#[test]
fn calls_past_the_limit_of_contexts_are_said_first() {
    let dir = Dir::new();
    let script =
        Script::new(1000).call(1, |s| s.call(2, |s| s.wait(100)).times(3, |s| s.call(3, |s| s.wait(50))));
    let mut writer = Writer::new();
    writer.recorded("main", &ThreadFacts::default(), &script.record_limited(100, 2));
    writer.property("record", "tree").property("limit.contexts", 2).calibrated(0.0, 0.0).clocks(0, 5000);
    dir.write("a.iprof", writer.finish());
    let said = "thread main: 3 calls of 1 method were made past the limit of 2 contexts: they are counted by method only";
    for command in ["report", "report -v", "xprof", "xtree"] {
        let run = dir.line(&format!("{command} a.iprof")).expect(0);
        assert!(run.stderr.contains(said), "{command}: {}", run.stderr);
    }
    let screen = dir.line("report a.iprof").expect(0).stdout.replace("\n            ", " ");
    assert!(
        screen.contains(&format!("\nWRONG       {said}, and their time is that of the calls")),
        "{screen}"
    );
    let mut recorded = script.record_limited(100, 2);
    recorded.tree.has_samples = true;
    let mut writer = Writer::new();
    writer.recorded("main", &ThreadFacts::default(), &recorded);
    writer.property("record", "tree").property("limit.contexts", 2).clocks(0, 5000);
    dir.write("b.iprof", writer.finish());
    let sampled = dir.line("report b.iprof").expect(0).stderr;
    assert!(sampled.contains(&format!("{said}, with their time below (deeper);")), "{sampled}");
}

#[test]
fn recursion_without_contexts_of_its_own_is_said() {
    let dir = Dir::new();
    let mut recorded = Script::new(1000).call(1, |s| s.call(2, |s| s.wait(100))).record();
    recorded.tree.recursive = 4321;
    let mut writer = Writer::new();
    writer.recorded("main", &ThreadFacts::default(), &recorded);
    writer.property("record", "tree").property("limit.contexts", 2).clocks(0, 5000);
    dir.write("a.iprof", writer.finish());
    let said = dir.line("report a.iprof").expect(0).stderr;
    assert!(
        said.contains("thread main: recursion got no contexts 4,321 times, to leave room for others:"),
        "{said}"
    );
    assert!(said.contains("the limit is 2 contexts;"), "{said}");
}

/// One count of the tree is changed: its context is named.
#[test]
fn counts_that_do_not_balance_are_exit_code_1() {
    let dir = Dir::new();
    let mut data = profile(3, 100);
    let record = [3u64, 3, 300, 100, 100].map(u64::to_le_bytes).concat();
    let at = data.windows(record.len()).position(|w| w == record).unwrap();
    data[at] += 1;
    dir.write("b.iprof", data);
    let run = dir.line("report --width 0 b.iprof").expect(1);
    assert!(run.stdout.contains("\nWRONG       counts do NOT BALANCE: 1 times"), "{}", run.stdout);
    assert!(run.stdout.contains("\ntrust       calls are NOT all there; "), "{}", run.stdout);
    assert!(
        run.stdout.contains("b.iprof: #2 (context 2) in 1 main: 4 entries, but 3 exits"),
        "{}",
        run.stdout
    );
}

#[test]
fn profiles_are_compared() {
    let dir = Dir::new();
    dir.write("a.iprof", profile(3, 100));
    dir.write("b.iprof", profile(5, 100));
    let run = dir.line("diff a.iprof b.iprof").expect(1);
    let start = "wall 800 ns -> 1.000 us (+25.0 %)\n\n1 method changed\n1 differ in time only, marked ~; how much times vary is not known";
    assert!(run.stdout.starts_with(start), "{}", run.stdout);
    let line = run.stdout.lines().find(|line| line.ends_with("  #2")).unwrap();
    let cells: Vec<_> = line.split_whitespace().collect();
    assert_eq!(cells[..10], ["3", "5", "300", "ns", "500", "ns", "~+200", "ns", "+66.7", "%"]);
    assert!(run.stdout.ends_with("  #1\n") || run.stdout.contains("  #1 > #2\n"), "{}", run.stdout);
    assert!(dir.line("diff a.iprof a.iprof").expect(0).stdout.contains("0 methods changed"));
    let json = dir.line("diff --json a.iprof b.iprof").expect(1).json();
    assert_eq!(json["contexts"][0]["context"], serde_json::json!(["#1", "#2"]));
    assert_eq!(json["methods"][0]["after"]["calls"], 5);
    let csv = dir.line("diff --csv -r wall a.iprof b.iprof").expect(1).stdout;
    assert!(csv.contains("\nmethod,#2,method,3,5,300,500,300,500,true\n"), "{csv}");
    dir.write("a", example());
    dir.line("diff a a").expect(0);
    dir.line("diff a.iprof a").says(2, &["do not measure the same"]);
    // Classes are compared as before.
    dir.write("A.class", empty_class("A"));
    dir.line("diff A.class A.class").expect(0);
    dir.line("diff A.class a.iprof").expect(1);
    dir.line("diff A.class -- A.class A.class").says(2, &["several runs can be compared of profiles only"]);
}

/// Times of one run, or that differ as runs do, are no difference; counts are.
#[test]
fn a_difference_within_the_errors_is_none() {
    let dir = Dir::new();
    for (name, calls, ns) in [
        ("a1", 3, 100),
        ("a2", 3, 101),
        ("a3", 3, 99),
        ("b1", 3, 102),
        ("b2", 3, 98),
        ("b3", 3, 100),
        ("c1", 3, 90_000),
        ("c2", 3, 90_700),
        ("c3", 3, 90_300),
        ("d", 4, 100),
    ] {
        dir.write(name, profile(calls, ns));
    }
    let run = dir.line("diff a1 b1").expect(0);
    assert!(run.stdout.contains("\n0 methods changed\n2 differ in time only, marked ~"), "{}", run.stdout);
    let run = dir.line("diff a1 a2 a3 -- b1 b2 b3").expect(0);
    assert!(
        run.stdout.contains("\n0 methods changed\n2 differ by no more than runs do, marked ~"),
        "{}",
        run.stdout
    );
    let run = dir.line("diff a1 a2 a3 -- c1 c2 c3").expect(1);
    assert!(run.stdout.contains("means of 3 and 3 runs"), "{}", run.stdout);
    assert!(run.stdout.contains("\n2 methods changed\n"), "{}", run.stdout);
    let json = dir.line("diff --json a1 a2 a3 -- c1 c2 c3").expect(1).json();
    assert_eq!((&json["differs"], &json["methods"][0]["function"]), (&true.into(), &"#2".into()));
    assert_eq!(json["methods"][0]["before"]["base"][0], 300);
    assert!(json["methods"][0]["base_interval"][0].as_f64().unwrap() < 200_000.0, "{json}");
    // Counts are exact, also as a resource.
    let run = dir.line("diff -r calls a1 d").expect(1);
    assert!(run.stdout.starts_with("calls 4 -> 5 (+25.0 %)\n\n1 method changed\n"), "{}", run.stdout);
    assert_eq!(dir.line("diff -r calls a1 c1").expect(0).stdout.matches("0 methods changed").count(), 1);
    assert_eq!(dir.line("diff -q a1 d").expect(1).stdout, "");
    assert_eq!(dir.line("diff -q a1 b1").expect(0).stdout, "");
    dir.line("diff a1 a2 a3").says(2, &["say where the second side begins"]);
    dir.line("diff a1").says(2, &["compared with what?"]);
}

/// A calibration of one round, as a root or a busy machine may leave: every report says first that times are as measured.
#[test]
fn a_refused_correction_is_what_a_report_says_first() {
    let dir = Dir::new();
    let leaf = |s: Script| s.call(2, |s| s.wait(30));
    let mut writer = Writer::new();
    writer.tree("main", &Script::new(1000).call(1, |s| s.wait(500).times(50, leaf)));
    writer.property("record", "tree").property("calibration.inner", 35).property("calibration.outer", 161);
    writer.property("calibration.rounds", 1).property("calibration.spread", 0).clocks(0, 9000);
    let data = writer.finish();
    dir.write("a.iprof", &data);
    dir.write("b.iprof", &data);
    let first = "TIMES ARE NOT CORRECTED for the cost of recording: ";
    for command in [
        "report",
        "xprof",
        "xtree",
        "xarc",
        "stats",
        "threads",
        "-q report",
        "-q xprof",
        "-q xtree",
        "merge",
        "-q merge",
    ] {
        let run = dir.line(&format!("{command} a.iprof")).expect(0);
        assert!(run.stdout.starts_with(first), "{command}: {}", run.stdout);
        let line = run.stdout.lines().next().unwrap();
        assert!(line.contains("its calibration has 1 undisturbed round and needs 20"), "{command}: {line}");
        for word in ["of probes", "wall ", "ns a call taken out"] {
            assert!(!run.stdout[line.len()..].contains(word), "{command}: {word}: {}", run.stdout);
        }
    }
    assert!(
        dir.line("report -v a.iprof").expect(0).stdout.contains("\nwall-raw    2.000 us over all threads, ")
    );
    for command in ["report", "xprof", "xtree", "xarc", "stats"] {
        let json = dir.line(&format!("{command} --json a.iprof")).expect(0).json();
        assert_eq!(json["correction"]["state"], "refused", "{command}");
        assert_eq!(json["correction"]["cause"], "too-few-rounds", "{command}");
    }
    // A table has no room for it.
    let run = dir.line("-q xprof --csv a.iprof").expect(0);
    assert!(
        run.stdout.contains("wall-raw_base") && run.stderr.contains(first),
        "{} {}",
        run.stdout,
        run.stderr
    );
    let run = dir.line("-q export -f folded a.iprof -o x").expect(0);
    assert!(run.stderr.contains(first), "{}", run.stderr);
    // What is no time needs no correction.
    for line in ["xprof -r allocations a.iprof", "export -f folded --resource calls a.iprof -o x"] {
        let run = dir.line(line).expect(0);
        assert!(!run.stdout.contains(first) && !run.stderr.contains(first), "{line}");
    }
    let run = dir.line("-q diff a.iprof b.iprof").expect(0);
    assert!(run.stdout.is_empty() && run.stderr.contains(first), "{} {}", run.stdout, run.stderr);
    let run = dir.line("diff a.iprof b.iprof").expect(0);
    assert!(
        run.stdout.starts_with(first) && run.stdout.contains("\nwall-raw 2.000 us -> 2.000 us"),
        "{}",
        run.stdout
    );
}

/// What recording took, what that leaves out, and for how many methods it cannot tell the time.
#[test]
fn report_says_what_recording_took() {
    let dir = Dir::new();
    // 5000 calls of 5 ns and 50 of 100 us, with 20 + 20 ns of probes each.
    let tiny = |s: Script| s.enter(2).wait(25).exit(2).wait(20);
    let long = |s: Script| s.enter(3).wait(100_020).exit(3).wait(20);
    let script = Script::new(1000).enter(1).wait(5_000_020).times(5000, tiny).times(50, long).exit(1);
    let write = |name: &str, properties: &[(&str, &str)]| {
        let mut writer = Writer::new();
        writer.tree("main", &script);
        writer.property("record", "tree").calibrated(20.0, 20.0).clocks(0, 20_000_000);
        for (key, value) in properties {
            writer.property(key, value);
        }
        dir.write(name, writer.finish());
    };
    write("a.iprof", &[]);
    let out = dir.line("report -v a.iprof").expect(0).stdout;
    // 5051 calls of 40 ns.
    for line in [
        "overhead    at least 202.0 us: 202.0 us of probes (2.0 % of wall-raw)\n",
        "not counted: class loading",
        "thread time 10.03 ms +- 18 % over all threads",
        "too short   1 of 3 methods, 99.0 % of the calls: their own time is less than its error; marked ~\n",
        " ~25.00 us ",
    ] {
        assert!(out.contains(line), "`{line}` is not in {out}");
    }
    write("b.iprof", &[("rewriting.ns", "4000000"), ("rewriting.classes", "12")]);
    let out = dir.line("report -v b.iprof").expect(0).stdout;
    let line = "overhead    at least 4.202 ms: 202.0 us of probes (2.0 % of wall-raw), 4.000 ms of rewriting as 12 classes were loaded\n";
    assert!(out.contains(line), "{out}");
    let json = dir.line("report --json b.iprof").expect(0).json();
    let recording = &json["recording"];
    assert_eq!((&recording["probes_ns"], &recording["rewriting_ns"]), (&202_040.into(), &4_000_000.into()));
    let short = serde_json::json!({"methods": 1, "of_methods": 3, "calls": 5000, "of_calls": 5051});
    assert_eq!(recording["too_short"], short);
    assert_eq!(recording["left_out"].as_array().unwrap().len(), 3);
}

/// Before any program is started.
#[test]
fn cpu_time_that_cannot_be_recorded_is_refused() {
    let dir = Dir::new();
    for (line, reason) in [
        ("run --cpu --record counts -- java X", "--cpu: CPU time is recorded with --record tree"),
        ("run --cpu --record trace -- java X", "--cpu: CPU time is recorded with --record tree"),
        ("run --cpu --timing every:64 -- java X", "leave out --timing every:N, or --cpu"),
        ("run --cpu --timing samples -- java X", "leave out --timing samples, or --cpu"),
        ("run --record counts --timing auto -- java X", "--timing auto is for --record tree"),
    ] {
        dir.line(line).says(2, &[reason]);
    }
    assert_eq!(dir.list(), [""; 0]);
}

/// What to do about a file is said for every kind of file that people give by mistake.
#[test]
fn files_that_are_no_profiles_are_named_with_the_cure() {
    let dir = Dir::new();
    dir.write("empty.iprof", "");
    dir.write("app.jar", b"PK\x03\x04");
    dir.write("Foo.class", [0xca, 0xfe, 0xba, 0xbe, 0, 0]);
    dir.write("app.iprof.gz", [0x1f, 0x8b, 8, 0]);
    dir.write("heap.hprof", "JAVA PROFILE 1.0.2\0");
    dir.write("ascii.iprof", "\u{fffd}IPROF\n\n");
    dir.write("cut.iprof", b"\x89IPROF\r\n");
    dir.write("notes.txt", "something else\n");
    let mut text = String::new();
    for name in [
        "missing.iprof",
        ".",
        "empty.iprof",
        "app.jar",
        "Foo.class",
        "app.iprof.gz",
        "heap.hprof",
        "ascii.iprof",
        "cut.iprof",
        "notes.txt",
    ] {
        text +=
            &format!("$ instrument report {name}\n{}", dir.line(&format!("report {name}")).expect(1).stderr);
    }
    insta::assert_snapshot!("no_profiles", text);
}
