//! `instrument latency --worst`, of a profile whose calls are known.

use crate::common::Dir;
use instrument_names::id_map::gz;
use instrument_testing::{Script, ThreadFacts, Writer};

use instrument_trace::{
    ContextDurations, SampleSource, ThreadSamples, Tree, TreeConsumer, TreeNode, WorstCall,
};
use serde_json::{Value, json};

/// `lock` is of calls of the JDK that block.
const IDS: &str = "instrument ids 1\nclass a/Shop Shop.java\n1 main ([Ljava/lang/String;)V 9 1 0000000000000000\n\
                   2 serve (I)V 1 2 0000000000000000\n3 query ()V 1 3 0000000000000000\n\
                   4 load (Ljava/lang/String;)V 1 4 0000000000000000\nclass a/Pool Pool.java\n\
                   5 get ()La/Pool; 1 3 0000000000000000\nclass java/util/concurrent/locks/ReentrantLock -\n\
                   9 lock ()V 0 30000 0000000000000000\n";
const MS: u64 = 1_000_000;

/// A call of `serve`: loads so much, and waits for a lock, if that takes more than no time.
fn serve(script: Script, loads: u32, lock: u64, samples: u64) -> Script {
    script.call(2, |s| {
        let s = s.wait(MS).samples(samples).call(3, |s| s.times(loads, |s| s.call(4, |s| s)));
        if lock > 0 { s.call(5, |s| s.call(9, |s| s.wait(lock))) } else { s }
    })
}

/// What one of these calls did, as the recorder keeps it.
fn worst(loads: u32, lock: u64, samples: u64, end: u64) -> WorstCall {
    let of = serve(Script::new(0), loads, lock, samples).record_samples(&[2, 9]);
    WorstCall {
        copy: 1,
        thread: 1,
        id: 2,
        ns: MS + lock,
        end: 1000 + end,
        has_failed: false,
        is_part: false,
        is_drawn: false,
        tree: of.tree,
    }
}

/// A call of each kind but the longest, as it was drawn at random: so many that wait for nothing, one that waits a little, one that loads much.
fn drawn(usual: usize) -> Vec<WorstCall> {
    let drawn = |call: WorstCall| WorstCall { is_drawn: true, ..call };
    let usual = (0..usual as u64).map(|i| drawn(worst(2, 0, 0, 2 + i)));
    usual.chain([drawn(worst(2, 2 * MS, 1, 90 * MS)), drawn(worst(500, MS, 1, 150 * MS))]).collect()
}

/// 98 calls that load twice, one of which waits for 2 ms, one that waits for 40 ms, and one that loads 500 times: 100 in all.
fn profile(worst: &[WorstCall]) -> Vec<u8> {
    let calls = |s: Script| {
        let s = serve(s.times(97, |s| serve(s, 2, 0, 0)), 2, 2 * MS, 1);
        serve(serve(s, 3, 40 * MS, 2), 500, MS, 1)
    };
    let mut recorded = Script::new(1000).call(1, calls).record_samples(&[2, 9]);
    let tree: &mut Tree = &mut recorded.tree;
    let is_serve = |node: &TreeNode| node.consumer == TreeConsumer::Method(2);
    let number = tree.nodes.iter().position(is_serve).unwrap() as u32 + 1;
    let mut durations = ContextDurations::default();
    let all = std::iter::repeat_n(MS, 97).chain([3 * MS, 41 * MS, 2 * MS]);
    all.for_each(|ns| durations.returned.add(ns));
    tree.durations.insert(number, durations);
    let mut writer = Writer::new();
    writer.id_map(&gz::compress(IDS.as_bytes()));
    let owner = writer.recorded("main", &ThreadFacts { start: 1000, ..ThreadFacts::default() }, &recorded);
    let source = SampleSource::Perf;
    writer.thread_samples(
        owner,
        &ThreadSamples { period_ns: MS, source, cpu_ns: 4 * MS, ..ThreadSamples::default() },
    );
    for call in worst {
        writer.worst_call(call);
    }
    writer.property("command", "/srv/shop.jar").property("record", "tree").property("timing", "samples");
    writer.property("latency", "Shop#serve").clocks(0, 1000 * MS);
    writer.finish()
}

#[test]
fn the_worst_calls_stand_beside_the_others() {
    let dir = Dir::new();
    let both = [worst(500, MS, 1, 150 * MS), worst(3, 40 * MS, 2, 140 * MS)];
    dir.write("worst.iprof", profile(&both));
    let run = dir.line("latency --worst=2 worst.iprof").expect(0);
    insta::assert_snapshot!("worst", run.stdout);

    // Of a process that was killed while it wrote one, and whose longest call found no room.
    dir.write("cut.iprof", profile(&[WorstCall { has_failed: true, is_part: true, ..both[0].clone() }]));
    let run = dir.line("latency --worst cut.iprof").expect(0);
    insta::assert_snapshot!("worst_in_part", run.stdout);

    let run = dir.line("latency --worst=0 --method Shop#query worst.iprof").expect(0);
    assert!(run.stdout.contains("no call of such a method has ended"), "{}", run.stdout);
    dir.line("latency --worst=11 worst.iprof").says(2, &["--worst"]);
    dir.line("latency --depth=2 worst.iprof").says(2, &["--depth", "--worst"]);
    dir.line("latency --worst --depth=2 --json worst.iprof").says(2, &["--depth", "as text"]);
    let run = dir.line("latency --worst --depth=2 worst.iprof").expect(0);
    let ends = |name: &str| run.stdout.lines().any(|line| line.ends_with(name));
    assert!(ends("    a.Pool.get()") && !ends("ReentrantLock.lock()"), "{}", run.stdout);
}

#[test]
fn typical_calls_are_those_in_the_middle_of_a_sample() {
    let dir = Dir::new();
    let longest = [worst(3, 40 * MS, 2, 140 * MS)];
    let of = |drawn: Vec<WorstCall>| profile(&[&longest[..], &drawn].concat());
    dir.write("drawn.iprof", of(drawn(48)));
    let run = dir.line("latency --worst drawn.iprof").expect(0);
    insta::assert_snapshot!("worst_beside_typical", run.stdout);
    let run = dir.line("latency --worst --csv drawn.iprof").expect(0);
    insta::assert_snapshot!("worst_csv", run.stdout);
    let run = dir.line("latency --worst --json drawn.iprof").expect(0);
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    let method = &json["methods"][0];
    assert_eq!((&method["function"], &method["is_exact"]), (&json!("a.Shop.serve(I)V"), &json!(true)));
    assert_eq!(method["typical"], json!({"calls": 48, "ns": 48 * MS, "from": MS, "to": MS, "drawn": 50}));
    assert_eq!(method["others"], json!({"calls": 99, "ended": 99, "ns": 102 * MS}));
    assert_eq!((&method["beside"], &method["running_beside"]), (&json!("typical"), &json!("others")));
    let lock = "java.util.concurrent.locks.ReentrantLock.lock()V";
    let waits = json!({
        "verb": "waits for", "function": lock, "caller": "a.Pool.get()La/Pool;",
        "ns": 40 * MS, "beside_ns": 0, "calls": 1, "beside_calls": 0,
    });
    assert_eq!(method["differences"][0], waits);
    let contexts = method["calls"][0]["contexts"].as_array().unwrap();
    let of_lock = contexts.iter().find(|context| context["function"] == lock).unwrap();
    assert_eq!((&of_lock["calls"], &of_lock["waiting"]), (&json!(1), &json!(40 * MS)));
    let caller = &contexts[of_lock["caller"].as_u64().unwrap() as usize];
    assert_eq!(caller["function"], "a.Pool.get()La/Pool;");
    // Some are not there: what is there may be no sample. Nor are calls of two processes one.
    dir.write("few.iprof", of(drawn(40)));
    for line in ["latency --worst few.iprof", "latency --worst drawn.iprof few.iprof"] {
        let run = dir.line(line).expect(0);
        assert!(run.stdout.contains("; the other ") && !run.stdout.contains("typical"), "{}", run.stdout);
    }
}

#[test]
fn calls_that_are_not_in_the_whole_are_said_to_be_more() {
    let dir = Dir::new();
    dir.write("more.iprof", profile(&[worst(600, 50 * MS, 0, 150 * MS)]));
    let run = dir.line("latency --worst=0 more.iprof").expect(0);
    assert!(run.stdout.contains("these calls did more than the figures of all calls have"), "{}", run.stdout);
}
