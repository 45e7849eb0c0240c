//! `instrument advise`: what the next recording can leave out, and what it will cost.

use crate::common::Dir;
use instrument_names::id_map::gz;
use instrument_testing::{Script, Writer};

const IDS: &str = "instrument ids 1\nclass a/Shop Shop.java\n1 main ([Ljava/lang/String;)V 9 1 0000000000000000\n\
                   2 work ()V 1 2 0000000000000000\n3 get ()I 1 3 0000000000000000\n4 copy ()La/Shop; 1 4 0000000000000000\n\
                   5 copy ()Ljava/lang/Object; 1 4 0000000000000000\n";

/// What the probes of a call cost inside and outside, in ns.
const INNER: u64 = 20;
const OUTER: u64 = 10;

/// A call of a method that takes so long itself.
fn call(script: Script, id: u32, own: u64, body: impl FnOnce(Script) -> Script) -> Script {
    script.call(id, |s| body(s.wait(own + INNER))).wait(OUTER)
}

/// main calls work 100 times, which calls get 50 times and both methods copy once.
fn profile() -> Writer {
    let work = |s: Script| {
        call(s, 2, 10_000, |s| {
            let s = s.times(50, |s| call(s, 3, 5, |s| s));
            call(call(s, 4, 7, |s| s), 5, 9, |s| s)
        })
    };
    let mut writer = Writer::new();
    writer.id_map(&gz::compress(IDS.as_bytes()));
    writer.tree("main", &call(Script::new(1000), 1, 0, |s| s.times(100, work)));
    writer.property("record", "tree").clocks(0, 5000);
    writer
}

fn calibrated() -> Vec<u8> {
    let mut writer = profile();
    writer.calibrated(INNER as f64, OUTER as f64);
    writer.finish()
}

#[test]
fn the_fewest_methods_are_left_out_that_keep_the_budget() {
    let dir = Dir::new();
    dir.write("a.iprof", calibrated());
    let advice = dir.line("advise --json a.iprof").expect(0).json();
    let running = 100 * (10_000 + 50 * 5 + 7 + 9);
    assert_eq!(advice["running_ns"], f64::from(running));
    let recorded = &advice["recorded"];
    assert_eq!(
        (&recorded["calls"], &recorded["contexts"], &recorded["methods"]),
        (&5301.into(), &5.into(), &5.into())
    );
    assert_eq!(recorded["recording_ns"], 5301.0 * 30.0);
    let next = &advice["next"];
    assert_eq!((&next["calls"], &next["contexts"], &next["methods"]), (&301.into(), &4.into(), &4.into()));
    assert_eq!((&next["recording_ns"], &advice["is_within"]), (&(301.0 * 30.0).into(), &true.into()));
    let out = advice["leave_out"].as_array().unwrap();
    assert_eq!(out.len(), 1, "{advice}");
    assert_eq!(
        (&out[0]["pattern"], &out[0]["calls"], &out[0]["own_ns"]),
        (&"a.Shop.get()".into(), &5000.into(), &25_000.0.into())
    );
    let text = dir.line("advise a.iprof").expect(0).stdout;
    for part in [
        "recorded    5,301 calls of 5 methods in 5 contexts\n",
        "leave out   1 method with 5,000 calls, 94.3 % of all\n",
        "            their own time, 25.00 us, 2.4 %, is charged to their callers then\n",
        "next        301 calls of 4 methods in 4 contexts\n",
        " a.Shop.get()\n",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let nothing = dir.line("advise --budget 16 a.iprof").expect(0).stdout;
    assert!(nothing.contains("leave out   nothing: recording is within the budget"), "{nothing}");
}

#[test]
fn what_nobody_calls_stays_and_methods_that_differ_in_what_they_return_are_told_apart() {
    let dir = Dir::new();
    dir.write("a.iprof", calibrated());
    let run = dir.line("advise --budget 0 -o next.toml --csv a.iprof").expect(0);
    let patterns: Vec<_> = run.stdout.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    let copies = ["a.Shop.copy()La/Shop;", "a.Shop.copy()Ljava/lang/Object;"];
    assert_eq!(patterns, ["a.Shop.get()", copies[0], copies[1], "a.Shop.work()"]);
    let file: toml::Table = dir.text("next.toml").parse().unwrap();
    let exclude: Vec<_> = file["exclude"].as_array().unwrap().iter().map(|p| p.as_str().unwrap()).collect();
    assert_eq!(exclude, patterns);
    let text = dir.line("advise --budget 0 --top 1 a.iprof").expect(0).stdout;
    assert!(
        text.contains("that is more than the budget") && text.ends_with("not shown: 3 methods\n"),
        "{text}"
    );
    // The file is one that other commands read.
    dir.jar("a.jar", &[("a/Shop.class", &crate::common::empty_class("a/Shop"))]);
    dir.line("rewrite --config next.toml -o b.jar a.jar").expect(0);
}

#[test]
fn what_recording_took_may_not_be_known() {
    let dir = Dir::new();
    dir.write("a.iprof", profile().finish());
    dir.line("advise a.iprof").says(4, &["it is not known what recording took", "has no calibration"]);
    dir.write("b.folded", "main;work 7\n");
    dir.line("advise b.folded").says(4, &["no times were recorded; record once with --record tree"]);
    for budget in ["-1", "nan", "inf"] {
        dir.write("a.iprof", calibrated());
        dir.run(&["advise", &format!("--budget={budget}"), "a.iprof"]).says(2, &["not a percentage"]);
    }
}
