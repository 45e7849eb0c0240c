//! Profiles to models: every figure of small programs is known.

use std::slice;

use instrument_analysis::arcs::Arcs;
use instrument_analysis::calibration::HANDLER;
use instrument_analysis::correction::Correction;
use instrument_analysis::load::{Loaded, Options, Process, load};
use instrument_analysis::report::{self, Format};
use instrument_analysis::uncertainty::Uncertainty;
use instrument_analysis::{Arcflow, Kind, NodeId, invariants, replay};
use instrument_testing::{Recorded, Script, ThreadFacts, Writer};
use instrument_trace::{Closes, Link, LinkKind, Profile, Tree, TreeConsumer, TreeNode};

use crate::common::models::{contexts, expect};

fn loaded(data: &[u8], options: &Options<'_>) -> Loaded {
    let mut profile = Profile::parse(data).unwrap();
    replay::profile(&data, &mut profile).unwrap();
    assert_eq!(profile.damage, []);
    let names = |_: u32, id: u32| format!("m{id}");
    let loaded = load(&mut [Process::new(&mut profile, "p".into(), &names)], options);
    let checked = invariants::check(&loaded.model, &Arcs::new(&loaded.model));
    assert_eq!(checked.violations, []);
    loaded
}

/// m1 calls m2 twice (5 and 7 ns, one object each), the second of which throws; then m3 is open.
fn program() -> Script {
    let first = |s: Script| s.wait(5).make(1, 24);
    let script = Script::new(1000).enter(1).wait(10).call(2, first).wait(3);
    script.enter(2).wait(7).make(1, 24).unwind(2).wait(1).enter(3).wait(4)
}

#[test]
fn trees_and_traces_give_the_same_model() {
    let shutdown = program().now + 6;
    for trace in [false, true] {
        let mut writer = Writer::new();
        match trace {
            false => writer.tree("main", &program()),
            true => writer.trace("main", &program(), 3),
        };
        writer.clocks(0, shutdown);
        let model = loaded(&writer.finish(), &Options::default()).model;
        let wall = [("p", 1, 0.0), ("p main", 1, 0.0), ("p main m1", 1, 14.0), ("p main m1 m2", 2, 12.0)];
        // m3 was open when the virtual machine began to shut down, 10 ns after its entry.
        expect(&model, "wall-raw", &[&wall[..], &[("p main m1 m3", 1, 10.0)]].concat());
        let made = [("p", 1, 0.0), ("p main", 1, 0.0), ("p main m1", 1, 0.0), ("p main m1 m2", 2, 2.0)];
        expect(&model, "allocations", &[&made[..], &[("p main m1 m3", 1, 0.0)]].concat());
        assert_eq!(contexts(&model, "bytes")["p main m1 m2"], (2, 48.0));
        assert_eq!(contexts(&model, "unwinds")["p main m1 m2"], (2, 1.0));
        assert_eq!(model.resource("wall"), None, "nothing was calibrated");
    }
}

#[test]
fn open_frames_count_to_the_last_moment_that_is_known() {
    let m3 = |beat: u64, shutdown: u64, end: u64| {
        let mut writer = Writer::new();
        let recorded = program().record();
        let facts = ThreadFacts { start: 1000, end, ..ThreadFacts::default() };
        writer.recorded("main", &facts, &recorded);
        writer.tree("other", &Script::new(1000).enter(9).wait(100).exit(9));
        writer.clocks(beat, shutdown);
        contexts(&loaded(&writer.finish(), &Options::default()).model, "wall-raw")["p main m1 m3"].1
    };
    let entry = program().record().stack[1].since;
    assert_eq!(m3(0, 0, 0), (1100 - entry) as f64, "last event of the process");
    assert_eq!(m3(1200, 0, 0), (1200 - entry) as f64, "beat");
    assert_eq!(m3(1200, 1150, 0), (1150 - entry) as f64, "shutdown");
    assert_eq!(m3(1200, 1150, 1190), 0.0, "the thread ended: its last event is m3's entry");
}

/// A thread that ended lived to its last event, one that did not to the last moment of the process, in whatever order they stand; one whose
/// start is not known has no lifetime.
#[test]
fn threads_live_to_the_last_moment_that_is_known() {
    let ended = ("ended", 1000, 1190);
    let open = ("open", 1010, 0);
    let unknown = ("unknown", 0, 0);
    let lived = |threads: [(&str, u64, u64); 3], beat, shutdown| {
        let mut writer = Writer::new();
        for (name, start, end) in threads {
            let facts = ThreadFacts { start, end, ..ThreadFacts::default() };
            writer.recorded(name, &facts, &Script::new(1020).enter(9).wait(80).exit(9).record());
        }
        writer.clocks(beat, shutdown);
        let model = loaded(&writer.finish(), &Options { lifetimes: true, ..Options::default() }).model;
        let wall = contexts(&model, "wall-raw");
        // Outside of m9, which takes 80.
        ["ended", "open", "unknown"].map(|name| wall[&format!("p {name}")].1)
    };
    for threads in [[ended, open, unknown], [open, unknown, ended]] {
        assert_eq!(lived(threads, 1300, 0), [20.0, 210.0, 0.0], "beat");
        assert_eq!(lived(threads, 1050, 0), [20.0, 10.0, 0.0], "the last event is later than the beat");
        assert_eq!(lived(threads, 1300, 1200), [20.0, 110.0, 0.0], "shutdown");
        assert_eq!(lived(threads, 1300, 1060), [20.0, 10.0, 0.0], "an event after the shutdown began");
    }
}

/// Every call costs 20 ns inside and 10 outside: what the program itself took comes out exactly.
#[test]
fn calibration_is_taken_out_and_the_measured_figure_stays() {
    let leaf = |s: Script| s.enter(2).wait(5 + 20).exit(2).wait(10);
    let script = Script::new(1000).enter(1).wait(100 + 20).times(7, leaf).exit(1);
    let mut writer = Writer::new();
    writer.tree("main", &script);
    for (key, ns) in [("inner", "20"), ("outer", "10"), ("spread", "1.5")] {
        writer.property(&format!("calibration.{key}"), ns);
    }
    let data = writer.finish();
    let result = loaded(&data, &Options::default());
    let wall = contexts(&result.model, "wall");
    assert_eq!((wall["p main m1"], wall["p main m1 m2"]), ((1, 100.0), (7, 35.0)));
    let raw = contexts(&result.model, "wall-raw");
    assert_eq!((raw["p main m1"].1, raw["p main m1 m2"].1), (190.0, 175.0));
    assert_eq!((result.overhead, &result.model.correction), (240.0, &Correction::Applied));
    assert_eq!(result.remarks, [""; 0]);
    // The first calls of a method may cost ten times as much: all that 7 calls took is in doubt.
    let arcs = Arcs::new(&result.model);
    let of =
        |name: &str| arcs.ids().find(|&id| result.model.name(arcs.function(id).consumer) == name).unwrap();
    let uncertain = Uncertainty::of(&result.model, 0);
    let error = uncertain.base(arcs.self_base(of("m2"))).unwrap();
    assert_eq!((error.noise, error.standard), (175.0, 0.0));
    assert!(error.hides(35.0));
    // Threads have what their methods do not: nothing here but the last call's outer part.
    let options = Options { lifetimes: true, ..Options::default() };
    assert_eq!(contexts(&loaded(&data, &options).model, "wall")["p main"].1, 0.0);
}

/// m1 calls m2 a million times, 20 + 20 ns of probes each; `more` ns that m2 takes, and `long` calls in which another program ran for 4 ms.
fn many(more: u64, long: u64, properties: &[(&str, &str)]) -> Loaded {
    const CALLS: u64 = 1_000_000;
    let closes = |exits| Closes { exits, ..Closes::default() };
    let short = more + 20;
    let interrupted = 4_000_000;
    let leaf = TreeNode {
        entries: CALLS,
        closes: closes(CALLS),
        ns: (CALLS - long) * short + long * interrupted,
        min: short,
        max: if long > 0 { interrupted } else { short },
        sum_squares: (CALLS - long) as f64 * (short as f64).powi(2)
            + long as f64 * (interrupted as f64).powi(2),
        ..TreeNode::new(TreeConsumer::Method(2), 1)
    };
    let caller = TreeNode {
        entries: 1,
        closes: closes(1),
        ns: leaf.ns + CALLS * 20 + 1000,
        min: 1,
        max: 1 << 40,
        ..TreeNode::new(TreeConsumer::Method(1), 0)
    };
    let tree = Tree { nodes: vec![caller, leaf], ..Tree::default() };
    let mut writer = Writer::new();
    writer.recorded("main", &ThreadFacts::default(), &Recorded { tree, ..Recorded::default() });
    writer.calibrated(20.0, 20.0);
    for (key, value) in properties {
        writer.property(&format!("calibration.{key}"), value);
    }
    loaded(&writer.finish(), &Options::default())
}

/// Figure and error of m2.
fn of_m2(result: &Loaded) -> (f64, f64) {
    let arcs = Arcs::new(&result.model);
    let m2 = arcs.ids().find(|&id| result.model.name(arcs.function(id).consumer) == "m2").unwrap();
    let error = Uncertainty::of(&result.model, 0).base(arcs.self_base(m2)).unwrap();
    (arcs.self_base(m2)[0], error.total())
}

#[test]
fn errors_hold_what_is_not_known_of_the_probes() {
    // 15 % of 40 ns a call for the place, ten times 40 ns for each of the first 200, and a sixth of all for the exception handler.
    assert_eq!(of_m2(&many(100, 0, &[])), (100e6, 6e6 + 200.0 * 400.0 + 100e6 * HANDLER));
    // Measurements at the start and at the end that are 7 ns apart from what is used.
    let apart = [("end.inner", "24"), ("end.outer", "23"), ("end.spread", "1"), ("end.rounds", "50")];
    assert_eq!(of_m2(&many(100, 0, &apart)), (100e6, 7e6 + 1e6 + 6e6 + 200.0 * 400.0 + 100e6 * HANDLER));
    // The error of a sum is that of its parts: what a call has too much is not in its caller as well.
    let result = many(100, 0, &[]);
    let width = result.model.resources().len();
    let main = &result.model.cum()[2 * width..][..width];
    let cum = Uncertainty::of(&result.model, 0).cum(main).unwrap().total();
    assert_eq!(cum.round(), (6e6 + 200.0 * 400.0 + 6.0 + 400.0 + (100e6 + 980.0) * HANDLER).round());
    // It is printed in percent of the figure.
    let mut out = Vec::new();
    let options = report::Options { show: report::Show::Absolute, ..report::Options::default() };
    report::xprof::write(&mut out, &result.model, &Arcs::new(&result.model), &options).unwrap();
    let text = String::from_utf8(out).unwrap();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let lines: Vec<_> = text.lines().map(words).collect();
    assert_eq!(lines[1], ["calls", "base", "+-", "%", "cum", "+-", "%", "function"], "{text}");
    assert!(lines.contains(&words("1000000 100.0 ms 23 100.0 ms 23 m2")), "{text}");
}

/// Beside other programs a tiny method is charged what those took while it was interrupted: hundreds of ms for nothing. The error
/// must reach down to what it took.
#[test]
fn errors_hold_interruptions() {
    let (charged, error) = of_m2(&many(10, 150, &[]));
    assert!(charged > 600e6, "{charged}");
    assert!(charged - error < 33e6, "{charged} +- {error}");
    // Without any, 10 ns a call are what is left, and 6 of them not known.
    let (charged, error) = of_m2(&many(10, 0, &[]));
    assert_eq!((charged, error), (10e6, 6e6 + 200.0 * 400.0 + 10e6 * HANDLER));
}

/// CPU time is corrected by its own calibration, and is raw without one.
#[test]
fn cpu_time_is_corrected_or_named_raw() {
    let closes = |exits| Closes { exits, ..Closes::default() };
    // m1 calls m2 1000 times: 2 us of its own, 300 of the clock inside and 200 outside.
    let of = |cpu: &[(&str, &str)]| {
        let leaf = TreeNode {
            entries: 1000,
            closes: closes(1000),
            ns: 2_400_000,
            min: 2000,
            max: 3000,
            cpu_ns: 2_300_000,
            ..TreeNode::new(TreeConsumer::Method(2), 1)
        };
        let caller = TreeNode {
            entries: 1,
            closes: closes(1),
            ns: 3_000_000,
            min: 3_000_000,
            max: 3_000_000,
            cpu_ns: 2_300_000 + 200_000 + 50_300,
            ..TreeNode::new(TreeConsumer::Method(1), 0)
        };
        let tree = Tree { cpu: true, nodes: vec![caller, leaf], ..Tree::default() };
        let mut writer = Writer::new();
        writer.recorded("main", &ThreadFacts::default(), &Recorded { tree, ..Recorded::default() });
        writer.calibrated(350.0, 250.0);
        for (key, ns) in cpu {
            writer.property(&format!("calibration.cpu.{key}"), ns);
        }
        loaded(&writer.finish(), &Options::default())
    };
    let raw = of(&[]);
    assert_eq!(raw.model.resource("cpu"), None, "what it costs is not known");
    let figures = contexts(&raw.model, "cpu-raw");
    assert_eq!((figures["p main m1"].1, figures["p main m1 m2"].1), (250_300.0, 2_300_000.0));
    let exact = of(&[("inner", "300"), ("outer", "200")]);
    let figures = contexts(&exact.model, "cpu");
    assert_eq!((figures["p main m1"].1, figures["p main m1 m2"].1), (50_000.0, 2_000_000.0));
    let raw_too = contexts(&exact.model, "cpu-raw");
    assert_eq!(raw_too["p main m1 m2"].1, 2_300_000.0);
    let r = exact.model.resource("cpu").unwrap();
    let m2 = exact.model.base(NodeId(4));
    let error = Uncertainty::of(&exact.model, r).base(m2).unwrap();
    assert_eq!(error.noise, 1000.0 * 75.0 + 200.0 * 5000.0 + 2e6 * HANDLER);
    // cpu is 2.05 ms; wall is 3 ms less 600 us of probes for each of 1000 calls.
    assert_eq!(exact.remarks, [""; 0]);
    // A correction that leaves more CPU time than wall time is said.
    let off = of(&[("inner", "0"), ("outer", "0")]);
    let remark = "cpu of thread main is 2.550 ms, more than its wall of 2.400 ms: one of the two is off by the difference at least";
    assert_eq!(off.remarks, [remark]);
}

/// A loop of calls that took less than the probes cost on the average: 0, and it is said.
#[test]
fn what_is_below_the_noise_is_marked() {
    let leaf = |s: Script| s.enter(2).wait(19).exit(2).wait(10);
    let script = Script::new(1000).enter(1).wait(1000).times(100, leaf).exit(1);
    let mut writer = Writer::new();
    writer.tree("main", &script);
    for (key, ns) in [("inner", "20"), ("outer", "10"), ("spread", "2")] {
        writer.property(&format!("calibration.{key}"), ns);
    }
    let result = loaded(&writer.finish(), &Options::default());
    assert_eq!(contexts(&result.model, "wall")["p main m1 m2"].1, 0.0);
    assert_eq!(result.remarks, [""; 0], "nobody need do anything about it");
    let adjusted = "times of 50.0 % of the paths did not add up (100 ns); adjusted";
    assert_eq!(result.adjusted.as_deref(), Some(adjusted));
    let mut out = Vec::new();
    report::xprof::write(&mut out, &result.model, &Arcs::new(&result.model), &report::Options::default())
        .unwrap();
    let text = String::from_utf8(out).unwrap();
    let line = text.lines().find(|line| line.ends_with("  m2")).unwrap();
    assert!(line.starts_with("  100      ~0 ns"), "{text}");
}

#[test]
fn what_does_not_fit_is_added_up_over_all_threads() {
    let closes = Closes { exits: 1, ..Closes::default() };
    let node = |id, parent, ns| TreeNode {
        entries: 1,
        closes,
        ns,
        min: ns,
        max: ns,
        ..TreeNode::new(TreeConsumer::Method(id), parent)
    };
    let mut writer = Writer::new();
    for (name, missing) in [("main", 50), ("other", 70)] {
        let tree = Tree { nodes: vec![node(1, 0, 100), node(2, 1, 100 + missing)], ..Tree::default() };
        writer.recorded(name, &ThreadFacts::default(), &Recorded { tree, ..Recorded::default() });
    }
    let result = loaded(&writer.finish(), &Options::default());
    let adjusted = "times of 50.0 % of the paths did not add up (120 ns); adjusted";
    assert_eq!(result.adjusted.as_deref(), Some(adjusted));
    // Less than their probes, in each of two threads.
    let leaf = |s: Script| s.enter(2).wait(19).exit(2).wait(10);
    let script = Script::new(1000).enter(1).wait(1000).times(100, leaf).exit(1);
    let mut writer = Writer::new();
    writer.tree("main", &script);
    writer.tree("other", &script);
    for (key, ns) in [("inner", "20"), ("outer", "10"), ("spread", "2")] {
        writer.property(&format!("calibration.{key}"), ns);
    }
    let result = loaded(&writer.finish(), &Options::default());
    let adjusted = "times of 50.0 % of the paths did not add up (200 ns); adjusted";
    assert_eq!(result.adjusted.as_deref(), Some(adjusted));
}

#[test]
fn allocations_of_all_classes_cost_their_context() {
    let script = Script::new(1000).enter(1).wait(1020);
    let script = (0..3).fold(script, |s, _| s.make(1, 24)).make(2, 16).make(2, 16).exit(1);
    let mut writer = Writer::new();
    writer.tree("main", &script);
    for (key, ns) in [("inner", "20"), ("outer", "10"), ("allocation", "100")] {
        writer.property(&format!("calibration.{key}"), ns);
    }
    let result = loaded(&writer.finish(), &Options::default());
    assert_eq!(contexts(&result.model, "wall")["p main m1"].1, 1020.0 - 20.0 - 5.0 * 100.0);
    assert_eq!(contexts(&result.model, "allocations")["p main m1"].1, 5.0);
    assert_eq!(contexts(&result.model, "bytes")["p main m1"].1, 3.0 * 24.0 + 2.0 * 16.0);
    assert_eq!(result.overhead, 30.0 + 500.0);
}

/// main (m1) starts a thread in m2 and hands a task over in m3; the worker runs it.
fn linked() -> Vec<u8> {
    let main =
        Script::new(1000).enter(1).call(2, |s| s.make_link(1)).call(3, |s| s.make_link(2)).wait(50).exit(1);
    let recorded = main.record();
    let node = |link: u32| recorded.links.iter().find(|l| l.0 == link).unwrap().1;
    let link = |number, kind, thread, node| Link { copy: 1, number, kind, thread, node, clock: 0 };
    let links = [link(1, LinkKind::Start, 1, node(1)), link(2, LinkKind::HandOver, 1, node(2))];
    let mut writer = Writer::new();
    let main = writer.tree("main", &main);
    assert_eq!(main, 1);
    let worker = Script::new(1010)
        .enter(4)
        .wait(5)
        .enter_link(2)
        .call(5, |s| s.wait(20))
        .leave_link(2)
        .wait(2)
        .exit(4);
    let recorded = worker.record();
    let facts = ThreadFacts { start: 1010, link: 1, ..ThreadFacts::default() };
    writer.recorded("worker", &facts, &recorded);
    writer.links(&links);
    writer.finish()
}

#[test]
fn links_are_followed_on_demand() {
    let plain = loaded(&linked(), &Options::default()).model;
    let wall = contexts(&plain, "wall-raw");
    assert_eq!(wall["p worker m4"], (1, 7.0));
    assert_eq!(wall["p worker m4 (task of m3) m5"], (1, 20.0));
    let grafted = loaded(&linked(), &Options { links: true, ..Options::default() }).model;
    let wall = contexts(&grafted, "wall-raw");
    assert_eq!(wall["p main m1 m2 worker m4"], (1, 7.0), "the thread stands where it was started");
    assert_eq!(wall["p main m1 m3 (task) m5"], (1, 20.0), "the task where it was handed over");
    assert!(!wall.contains_key("p worker"));
    assert_eq!(grafted.cum()[0], plain.cum()[0], "nothing is lost on the way");
    let merged = contexts(&grafted.merged(Kind::Thread), "wall-raw");
    assert_eq!(merged["p m1 m2 (started thread) m4"], (1, 7.0));
}

#[test]
fn links_that_cause_themselves_are_not_followed() {
    // The context that made link 1 lies in what runs on behalf of link 1.
    let script = Script::new(1000).enter(1).enter_link(1).call(2, |s| s.wait(9)).leave_link(1).exit(1);
    let mut writer = Writer::new();
    writer.tree("main", &script);
    writer.links(&[Link { copy: 1, number: 1, kind: LinkKind::HandOver, thread: 1, node: 3, clock: 0 }]);
    let result = loaded(&writer.finish(), &Options { links: true, ..Options::default() });
    assert_eq!(contexts(&result.model, "wall-raw")["p (task of m2) m2"], (1, 9.0));
    assert_eq!(result.remarks, ["1 links lead back to what they caused; not followed"]);
}

#[test]
fn threads_are_separated_filtered_and_merged() {
    let mut writer = Writer::new();
    for wait in [10, 20] {
        writer.tree("pool", &Script::new(1000).enter(1).wait(wait).exit(1));
    }
    let node = TreeNode {
        entries: 3,
        closes: Closes { exits: 3, ..Closes::default() },
        ns: 30,
        ..TreeNode::new(TreeConsumer::Method(1), 0)
    };
    let tree = Tree { nodes: vec![node], ..Tree::default() };
    writer.ended(3, &Recorded { tree, ..Recorded::default() });
    let data = writer.finish();
    let split = Options { split_threads: true, ..Options::default() };
    let model = loaded(&data, &split).model;
    let wall = contexts(&model, "wall-raw");
    assert_eq!(wall["p pool #1 m1"], (1, 10.0));
    assert_eq!(wall["p pool #2 m1"], (1, 20.0));
    assert_eq!(wall["p (ended threads) m1"], (3, 30.0));
    assert_eq!(wall["p (ended threads)"].0, 3);
    expect(&model.merged(Kind::Thread).merged(Kind::Process), "wall-raw", &[("m1", 5, 60.0)]);
    let second = |name: &str| name.ends_with("#2");
    let model = loaded(&data, &Options { thread: Some(&second), ..split }).model;
    expect(&model, "wall-raw", &[("p", 1, 0.0), ("p pool #2", 1, 0.0), ("p pool #2 m1", 1, 20.0)]);
}

#[test]
fn threads_of_a_pool_are_one_row() {
    let mut writer = Writer::new();
    let recorded = |wait| Script::new(1000).enter(1).wait(wait).exit(1);
    writer.tree("main", &recorded(1));
    for number in 1..=200 {
        writer.tree(&format!("http-nio-8080-exec-{number}"), &recorded(10));
    }
    writer.tree("http-nio-8080-Poller", &recorded(2));
    for _ in 0..3 {
        writer.tree("", &recorded(5));
    }
    let data = writer.finish();
    let check = |options: &Options<'_>, expected: &[(&str, u64, f64)]| {
        expect(&loaded(&data, options).model, "wall-raw", expected);
    };
    let rows = [
        ("p", 1, 0.0),
        ("p (no name)", 3, 0.0),
        ("p (no name) m1", 3, 15.0),
        ("p http-nio-8080-Poller", 1, 0.0),
        ("p http-nio-8080-Poller m1", 1, 2.0),
        ("p http-nio-8080-exec-*", 200, 0.0),
        ("p http-nio-8080-exec-* m1", 200, 2000.0),
        ("p main", 1, 0.0),
        ("p main m1", 1, 1.0),
    ];
    check(&Options::default(), &rows);
    let split = Options { split_threads: true, ..Options::default() };
    assert_eq!(loaded(&data, &split).model.nodes().len(), 2 + 2 * 205);
    // Of a pool of which one thread is wanted that thread is the row; a pool has a name, too.
    let seventh = |name: &str| name == "http-nio-8080-exec-7";
    let row = [("p", 1, 0.0), ("p http-nio-8080-exec-7", 1, 0.0), ("p http-nio-8080-exec-7 m1", 1, 10.0)];
    check(&Options { thread: Some(&seventh), ..Options::default() }, &row);
    let pool = |name: &str| name == "http-nio-8080-exec-*";
    check(&Options { thread: Some(&pool), ..Options::default() }, &[rows[0], rows[5], rows[6]]);
}

#[test]
fn sampled_calls_are_estimated_with_their_error() {
    let closes = Closes { exits: 108, ..Closes::default() };
    let method = |id, parent| TreeNode::new(TreeConsumer::Method(id), parent);
    let variance = 100.0 * 100.0 * (400.0 / 3.0) / 4.0;
    let callee = TreeNode {
        entries: 108,
        closes,
        ns: 3080,
        timed: 12,
        sum_squares: 100_000.0,
        variance,
        min: 20,
        max: 40,
        ..method(2, 1)
    };
    let caller = TreeNode {
        entries: 1,
        closes: Closes { exits: 1, ..Closes::default() },
        ns: 10_000,
        timed: 1,
        ..method(1, 0)
    };
    let tree = Tree { sampled: true, nodes: vec![caller, callee], ..Tree::default() };
    let mut writer = Writer::new();
    writer.recorded("main", &ThreadFacts::default(), &Recorded { tree, ..Recorded::default() });
    writer.property("timing", "auto");
    let result = loaded(&writer.finish(), &Options::default());
    let wall = contexts(&result.model, "wall-raw");
    assert_eq!((wall["p main m1"].1, wall["p main m1 m2"].1), (10_000.0 - 3080.0, 3080.0));
    let uncertain = Uncertainty::of(&result.model, 0);
    let width = result.model.resources().len();
    let cum = result.model.cum();
    let of = |path: usize| &cum[path * width..][..width];
    let expected = variance.sqrt();
    let near = |error: f64| (error - expected).abs() < 1e-6;
    assert!(near(uncertain.cum(of(4)).unwrap().standard));
    assert_eq!(uncertain.cum(of(3)).unwrap().standard, 0.0, "m1 was timed itself");
    assert!(near(uncertain.base(result.model.base(NodeId(3))).unwrap().standard), "m1's base is not certain");
    let mut out = Vec::new();
    let absolute = report::Options { show: report::Show::Absolute, ..report::Options::default() };
    report::xtree::write(&mut out, &result.model, &absolute).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<Vec<_>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[1], ["calls", "base", "+-", "%", "cum", "+-", "%", "function"]);
    assert_eq!(lines[5], ["108", "3.080", "us", "19", "3.080", "us", "19", "m2"]);
    let calls = &result.calls["m2"];
    assert_eq!((calls.calls, calls.timed, calls.average()), (108, 12, Some(3080.0 / 108.0)));
    assert_eq!(
        (calls.min, calls.max, calls.deviation()),
        (20.0, 40.0, Some((100_000.0 / 108.0 - (3080.0f64 / 108.0).powi(2)).sqrt()))
    );
}

/// Of threads that ended and were added up, the times of sampled calls are estimated as those of a thread that is there.
#[test]
fn sampled_calls_of_ended_threads_are_estimated() {
    let method = |id, parent, entries| TreeNode {
        entries,
        closes: Closes { exits: entries, ..Closes::default() },
        ..TreeNode::new(TreeConsumer::Method(id), parent)
    };
    // Of 2 threads each called m1 once, which called m2 104 times.
    let caller = TreeNode { ns: 20_000, timed: 2, ..method(1, 0, 2) };
    let callee = TreeNode { ns: 5840, timed: 40, variance: 900.0, min: 20, max: 40, ..method(2, 1, 208) };
    let tree = Tree { sampled: true, nodes: vec![caller, callee], ..Tree::default() };
    let mut writer = Writer::new();
    writer.ended(2, &Recorded { tree, ..Recorded::default() });
    writer.property("timing", "auto");
    let result = loaded(&writer.finish(), &Options::default());
    let wall = contexts(&result.model, "wall-raw");
    let m2 = wall["p (ended threads) m1 m2"].1;
    let m1 = wall["p (ended threads) m1"].1;
    assert_eq!((m1 + m2, wall["p (ended threads)"].0), (20_000.0, 2));
    assert_eq!((m2, result.calls["m2"].timed), (5840.0, 40));
    assert_eq!(result.calls["m2"].variance, 900.0);
}

/// Per call and over all contexts, nested calls for themselves: as the postprocessor of JaViz.
#[test]
fn statistics_are_of_single_calls() {
    // m1 (30) calls itself (20), which calls m2 (5); then m2 (9) again from outside.
    let inner = |s: Script| s.wait(15).call(2, |s| s.wait(5));
    let script = Script::new(1000).call(1, |s| s.wait(10).call(1, inner)).call(2, |s| s.wait(9));
    let mut writer = Writer::new();
    writer.tree("main", &script);
    let result = loaded(&writer.finish(), &Options::default());
    let csv = report::Options { format: Format::Csv, ..report::Options::default() };
    let mut out = Vec::new();
    report::stats::write(&mut out, &result.model, &result.calls, &csv).unwrap();
    let expected = "function,calls,ended,total,min,max,average,deviation,exact,error,waiting\n\
                    m1,2,2,50,20,30,25,5,,,\nm2,2,2,14,5,9,7,2,,,\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
    let mut out = Vec::new();
    report::stats::write(&mut out, &result.model, &result.calls, &report::Options::default()).unwrap();
    let expected = "calls  total    min    max  average  deviation  function\n    \
                    2  50 ns  20 ns  30 ns    25 ns       5 ns  m1\n    \
                    2  14 ns   5 ns   9 ns     7 ns       2 ns  m2\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn each_thread_has_a_profile_under_its_own_name() {
    let mut writer = Writer::new();
    let main = Script::new(1000).wait(7).call(1, |s| s.wait(20));
    let facts = |start| ThreadFacts { start, ..ThreadFacts::default() };
    writer.recorded("main", &facts(1000), &main.record());
    writer.recorded("worker", &facts(1010), &Script::new(1010).call(2, |s| s.wait(5)).record());
    writer.clocks(0, 1040);
    let model = loaded(&writer.finish(), &Options { lifetimes: true, ..Options::default() }).model;
    let csv = report::Options {
        format: Format::Csv,
        resources: &["wall-raw".into()],
        ..report::Options::default()
    };
    let mut out = Vec::new();
    report::threads::write(&mut out, &model, &csv).unwrap();
    let expected = "process,thread,function,kind,calls,wall-raw_base,wall-raw_cum\n\
                    p,main,main,thread,1,20,40\np,main,m1,method,1,20,20\n\
                    p,worker,worker,thread,1,25,30\np,worker,m2,method,1,5,5\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
    let mut out = Vec::new();
    let options = report::Options { sort: Some(report::Sort::Cum), ..report::Options::default() };
    report::threads::write(&mut out, &model, &options).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.starts_with("thread main of p\nwall-raw 40 ns\n"), "{text}");
    assert!(text.contains("\n\nthread worker of p\nwall-raw 30 ns\n"), "{text}");
    let json = report::Options { format: Format::Json, ..options };
    let mut out = Vec::new();
    report::threads::write(&mut out, &model, &json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(json["threads"][1]["thread"], "worker");
    assert_eq!(json["threads"][1]["profile"]["rows"][0]["cum"][0], 30);
}

#[test]
fn counts_have_methods_without_contexts() {
    let data = include_bytes!("../../trace/tests/profiles/v1-calls.iprof");
    let result = loaded(data.as_slice(), &Options::default());
    assert_eq!(result.model.resource("wall-raw"), None);
    let unwinds = contexts(&result.model, "unwinds");
    assert_eq!(unwinds.len(), 8, "process, thread, six methods");
    assert_eq!(unwinds.values().map(|(n, _)| n).max(), Some(&2000));
}

/// Files that are wrong anywhere are read, added up and printed, or refused; figures still add up.
#[test]
fn no_file_is_too_wrong() {
    let mut small = Writer::new();
    small.tree("main", &program());
    let (tree, trace) = (
        include_bytes!("../../trace/tests/profiles/v1-tree.iprof").as_slice(),
        include_bytes!("../../trace/tests/profiles/v1-trace.iprof").as_slice(),
    );
    let mut random = 7u64;
    let mut below = |end: usize| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) as usize % end
    };
    for data in [linked().as_slice(), &small.finish(), tree, trace] {
        // Most of a file is zeros that nobody reads.
        let used: Vec<usize> = (0..data.len()).filter(|&i| data[i] != 0).collect();
        for round in 0..400 {
            let mut data = data.to_vec();
            for _ in 0..1 + round % 3 {
                data[used[below(used.len())]] = below(256) as u8;
            }
            data.truncate(data.len() - if round % 5 == 0 { below(data.len()) } else { 0 });
            let Ok(mut profile) = Profile::parse(&data) else { continue };
            replay::profile(&data, &mut profile).unwrap();
            let names = |_: u32, id: u32| format!("m{id}");
            let mut processes = [Process::new(&mut profile, "p".into(), &names)];
            let loaded = load(
                &mut processes,
                &Options { links: round % 2 == 0, lifetimes: true, ..Options::default() },
            );
            let arcs = Arcs::new(&loaded.model);
            assert_eq!(invariants::check(&loaded.model, &arcs).violations, []);
            for format in [Format::Text, Format::Json] {
                let options = report::Options { format, ..report::Options::default() };
                let mut out = Vec::new();
                report::xtree::write(&mut out, &loaded.model, &options).unwrap();
                report::xarc::write(&mut out, &loaded.model, &arcs, &options).unwrap();
                report::stats::write(&mut out, &loaded.model, &loaded.calls, &options).unwrap();
                report::threads::write(&mut out, &loaded.model, &options).unwrap();
                report::diff::write(&mut out, slice::from_ref(&loaded.model), &[plain()], &options).unwrap();
            }
        }
    }
}

fn plain() -> Arcflow {
    loaded(&linked(), &Options::default()).model
}
