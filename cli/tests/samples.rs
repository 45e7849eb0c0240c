//! Reports of profiles whose times are samples.

use crate::common::Dir;
use instrument_names::id_map::gz;
use instrument_testing::{Script, Writer};
use instrument_trace::{SampleSource, ThreadSamples};

/// `sleep` is of calls of the JDK that block.
const IDS: &str = "instrument ids 1\nclass a/Shop Shop.java\n1 main ([Ljava/lang/String;)V 9 1 0000000000000000\n\
                   2 work ()V 1 2 0000000000000000\n3 get ()I 1 3 0000000000000000\n4 rare ()V 1 4 0000000000000000\n\
                   class java/lang/Thread -\n9 sleep (J)V 0 30000 0000000000000000\n";
const MS: u64 = 1_000_000;

/// main calls work twice, which calls get a thousand times, rare `rare` times, and sleeps for 30 ms; another thread is met by no sample.
fn script(work: u64, get: u64, rare: u32) -> Script {
    let body = |s: Script| {
        let s = s.samples(work / 2).times(999, |s| s.call(3, |s| s)).call(3, |s| s.samples(get / 2));
        s.times(rare, |s| s.call(4, |s| s.call(3, |s| s))).call(9, |s| s.wait(30 * MS))
    };
    Script::new(1000).samples(10).call(1, |s| s.times(2, |s| s.call(2, body)))
}

fn profile(work: u64, get: u64) -> Vec<u8> {
    profile_of(work, get, 1)
}

fn profile_of(work: u64, get: u64, rare: u32) -> Vec<u8> {
    let outside = ThreadSamples { in_probes: 441, unattributed: 5, ..ThreadSamples::default() };
    let samples = ThreadSamples {
        period_ns: MS,
        source: SampleSource::Perf,
        cpu_ns: (10 + work + get + outside.outside()) * MS,
        in_vm: 12,
        handler_ns: 900_000,
        ..outside
    };
    let mut writer = Writer::new();
    writer.id_map(&gz::compress(IDS.as_bytes()));
    writer.samples("main", &script(work, get, rare), &[9], &samples);
    let short = ThreadSamples { period_ns: MS, cpu_ns: 600_000, ..ThreadSamples::default() };
    writer.samples("short", &Script::new(1000).call(4, |s| s), &[9], &short);
    writer.property("command", "/srv/shop.jar").property("record", "tree").property("timing", "samples");
    writer.property("samples.source", "perf").property("samples.period", MS).property("processors", 4);
    writer.clocks(0, 1000 * MS);
    writer.finish()
}

/// Words that belong to times that were measured call by call.
const OF_TIMED: [&str; 5] = ["did not add up", "too short", "~", "taken out", "NOT CORRECTED"];

fn text(dir: &Dir, line: &str) -> String {
    let run = dir.line(line);
    assert_eq!(run.stderr, "", "{line}");
    for word in OF_TIMED {
        assert!(!run.stdout.contains(word), "{line}: {word}: {}", run.stdout);
    }
    run.stdout
}

/// Stacks, as `--sample-event` has them: a stack each 50 page faults of the thread.
fn of_event(event: &str, work: u64) -> Vec<u8> {
    let outside = ThreadSamples { in_no_call: 10, unattributed: 30, ..ThreadSamples::default() };
    let all = work + 20 + outside.outside();
    let samples = ThreadSamples {
        period_ns: 50,
        source: SampleSource::Perf,
        cpu_ns: 50 * all,
        handler_ns: 700_000,
        ..outside
    };
    let stacks = Script::new(1000).times(1, |s| s.enter(1).samples(20).call(2, |s| s.samples(work)).exit(1));
    let mut writer = Writer::new();
    writer.id_map(&gz::compress(IDS.as_bytes()));
    writer.samples("main", &stacks, &[], &samples);
    writer.property("command", "/srv/shop.jar").property("record", "samples").property("processors", 4);
    writer.property("samples.event", event).property("samples.lost", 25).property("samples.without", 3);
    writer.property("samples.user-only", true).property("samples.period", 50);
    writer.clocks(0, 1000 * MS);
    writer.finish()
}

/// Stacks of a thread that works and waits. `weight`: what each sample counts for.
fn of_wall(wait: u64, weight: u64) -> Vec<u8> {
    let all = 100 + 20 + wait;
    let samples = ThreadSamples {
        period_ns: 10 * MS,
        source: SampleSource::Perf,
        cpu_ns: 10 * MS * all,
        squares: weight * all,
        ..ThreadSamples::default()
    };
    let stacks = Script::new(1000).times(1, |s| {
        s.enter(1).samples(20).call(2, |s| s.samples(100)).call(3, |s| s.samples(wait)).exit(1)
    });
    let mut writer = Writer::new();
    writer.id_map(&gz::compress(IDS.as_bytes()));
    writer.samples("main", &stacks, &[], &samples);
    writer.property("command", "/srv/shop.jar").property("record", "samples").property("processors", 4);
    writer.property("samples.event", "wall").property("samples.period", 10 * MS);
    writer.clocks(0, 10 * MS * all);
    writer.finish()
}

#[test]
fn reports_say_where_threads_were_whether_they_ran_or_waited() {
    let dir = Dir::new();
    dir.write("a.iprof", of_wall(1000, 1));
    dir.write("b.iprof", of_wall(1040, 1));
    dir.write("rough.iprof", of_wall(1000, 9));
    dir.write("cpu.iprof", profile(344, 200));
    let mut all = String::new();
    for line in ["report a.iprof", "report -v a.iprof", "xtree rough.iprof", "diff a.iprof b.iprof"] {
        all += &format!("$ {line}\n{}\n", text(&dir, line));
    }
    insta::assert_snapshot!("samples_of_wall", all);
    let json = dir.line("report -v --json a.iprof").stdout;
    assert!(json.contains(r#""event": "wall""#) && json.contains(r#""period_ns": 10000000"#), "{json}");
    dir.line("xprof a.iprof cpu.iprof").says(2, &["do not measure the same", "samples of wall", "CPU time"]);
}

#[test]
fn reports_say_what_samples_of_an_event_say() {
    let dir = Dir::new();
    dir.write("a.iprof", of_event("page-faults", 1940));
    dir.write("b.iprof", of_event("page-faults", 2940));
    dir.write("c.iprof", of_event("cycles", 1940));
    dir.write("times.iprof", profile(344, 200));
    let mut all = String::new();
    for line in [
        "report a.iprof",
        "report -v a.iprof",
        "xprof a.iprof",
        "xtree a.iprof b.iprof",
        "diff a.iprof b.iprof",
    ] {
        all += &format!("$ {line}\n{}\n", text(&dir, line));
    }
    insta::assert_snapshot!("samples_of_an_event", all);
    let json = dir.line("report -v --json a.iprof").stdout;
    assert!(json.contains(r#""period_events": 50"#) && !json.contains("period_ns"), "{json}");
    for other in ["c.iprof", "times.iprof"] {
        dir.line(&format!("xprof a.iprof {other}"))
            .says(2, &["do not measure the same", "page-faults", "one kind"]);
        dir.line(&format!("diff a.iprof {other}"))
            .says(2, &["do not measure the same: samples of", "page-faults"]);
    }
    dir.line("export --format parquet -o x a.iprof").says(0, &["1 process, 5 contexts"]);
}

#[test]
fn reports_say_what_samples_say() {
    let dir = Dir::new();
    dir.write("a.iprof", profile(344, 200));
    let mut all = String::new();
    for line in [
        "report",
        "report -v",
        "xprof",
        "xprof --sort calls --prune 0",
        "xtree",
        "stats",
        "threads --list",
        "advise --budget 20",
    ] {
        all += &format!("$ {line}\n{}\n", text(&dir, &format!("{line} a.iprof")));
    }
    insta::assert_snapshot!("samples", all);
}

#[test]
fn documents_have_bounds_of_what_no_sample_met() {
    let dir = Dir::new();
    dir.write("a.iprof", profile(344, 200));
    let found = dir.line("xprof --json a.iprof").expect(0).json();
    let names: Vec<_> = found["resources"].as_array().unwrap().iter().map(|r| r["name"].clone()).collect();
    assert_eq!(names[..4], ["running", "waiting", "samples", "probes"]);
    let row = |name: &str| {
        let rows = found["rows"].as_array().unwrap();
        rows.iter().find(|row| row["function"].as_str().unwrap().contains(name)).unwrap().clone()
    };
    let rare = row("rare");
    assert_eq!((&rare["base"][0], &rare["cum"][0]), (&0.into(), &0.into()));
    // 1,000 samples, and 0.6 ms more: Wilson's bound of none is 3.84 of 1,003.84.
    assert_eq!(rare["base_below"][0], 3_830_999);
    assert_eq!(row("work")["base_below"], serde_json::Value::Null);
    let report = dir.line("report --json a.iprof").expect(0).json();
    assert_eq!(report["recording"]["probes_ns"], 441 * MS);
    assert_eq!(report["samplers"][0]["source"], "perf");
    assert_eq!(report["samplers"][0]["samples"], 1000);
    assert_eq!(report["correction"], serde_json::Value::Null);
}

#[test]
fn two_runs_of_samples_are_compared_by_their_numbers() {
    let dir = Dir::new();
    dir.write("a.iprof", profile(346, 200));
    dir.write("b.iprof", profile(330, 212));
    dir.write("c.iprof", profile(346, 400));
    let same = dir.line("diff a.iprof b.iprof").expect(0);
    assert!(same.stdout.contains("0 methods changed"), "{}", same.stdout);
    // Two more calls of rare, of which each calls get: the list is about times.
    dir.write("d.iprof", profile_of(330, 212, 2));
    let calls = dir.line("diff a.iprof d.iprof").expect(1).stdout;
    let words = "0 methods changed\n2 more differ in calls only; --resource calls lists them\n";
    assert!(calls.contains(words), "{calls}");
    let json = dir.line("diff --json a.iprof d.iprof").expect(1).json();
    assert_eq!((&json["methods_changed"], &json["methods_not_told_apart"]), (&2.into(), &2.into()));
    let other = dir.line("diff a.iprof c.iprof").expect(1);
    insta::assert_snapshot!("diff_of_samples", format!("{}\n{}", same.stdout, other.stdout));
}

/// The interval of a part is that of its share of all samples, not of its share of itself.
#[test]
fn what_is_seen_by_itself_is_as_sure_as_in_the_whole() {
    let dir = Dir::new();
    dir.write("a.iprof", profile(344, 200));
    let line = |text: String| text.lines().rfind(|line| line.ends_with("a.Shop.work()")).unwrap().to_owned();
    // 544 of 1,000 samples: +- 1.96 sqrt(0.544 * 0.456 / 1000) / 0.544.
    for report in ["xprof", "xtree --focus **.Shop#work()"] {
        let line = line(text(&dir, &format!("{report} a.iprof")));
        assert!(line.contains(" 544.0 ms   5.7 "), "{report}: {line}");
    }
}

#[test]
fn exports_take_running_time_for_the_weight() {
    let dir = Dir::new();
    dir.write("a.iprof", profile(344, 200));
    let run = dir.line("export --format folded a.iprof").expect(0);
    assert!(run.stdout.contains("a.Shop.work();a.Shop.get() 200000000\n"), "{}", run.stdout);
    for format in ["speedscope", "pprof", "otlp-profiles-v1development", "parquet", "firefox"] {
        dir.line(&format!("export --format {format} -o out.{format} a.iprof")).expect(0);
    }
}

#[test]
fn a_dataset_adds_samples_up() {
    let dir = Dir::new();
    dir.write("a.iprof", profile(344, 200));
    dir.write("b.iprof", profile(200, 120));
    dir.line("export --format parquet -o data a.iprof b.iprof").expect(0);
    dir.line("fleet profile data -o sum.iprof").expect(0);
    let found = dir.line("xprof --json sum.iprof").expect(0).json();
    let figures = |name: &str| {
        let rows = found["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row["function"].as_str().unwrap().contains(name)).unwrap();
        let at = |resource: &str| {
            let all = found["resources"].as_array().unwrap();
            let index = all.iter().position(|r| r["name"] == resource).unwrap();
            row["base"][index].as_f64().unwrap()
        };
        (row["calls"].as_u64().unwrap(), at("running") / MS as f64, at("samples"))
    };
    // Samples of both stand for 1 ms.
    assert_eq!(figures("work"), (4, 544.0, 544.0));
    assert_eq!(figures("get"), (4004, 320.0, 320.0));
    assert_eq!(figures("(not attributed)"), (0, 10.0, 10.0));
    let total = found["total"].as_array().unwrap();
    assert_eq!(total[0], (544 + 320 + 20 + 10) * MS + 2 * 600_000);
    let text = text(&dir, "report sum.iprof");
    assert!(text.contains("probes took 50 % of the CPU"), "{text}");
    let mut timed = Writer::new();
    timed.id_map(&gz::compress(IDS.as_bytes())).property("record", "tree");
    timed.tree("main", &Script::new(1000).call(1, |s| s.wait(500)));
    dir.write("c.iprof", timed.finish());
    dir.line("export --format parquet -o mixed a.iprof c.iprof").expect(0);
    dir.line("fleet profile mixed -o mixed.iprof").says(2, &["samples and those of others are not"]);
}

#[test]
fn exact_figures_are_checked_as_in_any_profile() {
    let dir = Dir::new();
    dir.write("a.iprof", profile(344, 200));
    dir.write("b.iprof", profile(200, 120));
    dir.line("gate learn -o shop.gate a.iprof b.iprof").expect(0);
    dir.line("gate check shop.gate b.iprof").expect(0);
}
