//! Which figures a model has, and where they stand: what decides between two places, or between a figure and none.

use std::collections::BTreeMap;

use instrument_analysis::correction::Correction;
use instrument_analysis::load::{Loaded, Options, Process, load};
use instrument_testing::{Recorded, Script, ThreadFacts, Writer};
use instrument_trace::{
    Allocation, Closes, Link, LinkKind, Profile, ThreadKind, Tree, TreeAllocation, TreeConsumer, TreeNode,
};

use crate::common::models::{contexts, expect};

/// Loads a profile after a change of it.
fn changed(data: &[u8], options: &Options<'_>, change: impl FnOnce(&mut Profile)) -> Loaded {
    let mut profile = Profile::parse(data).unwrap();
    assert_eq!(profile.damage, []);
    change(&mut profile);
    load(&mut [Process::new(&mut profile, "p".into(), &|_, id| format!("m{id}"))], options)
}

/// A call of m1 that takes so many ns, in a thread of its own.
fn one_call(wall: u64, cpu: u64) -> Recorded {
    let node = TreeNode {
        entries: 1,
        closes: Closes { exits: 1, ..Closes::default() },
        ns: wall,
        min: wall,
        max: wall,
        cpu_ns: cpu,
        ..TreeNode::new(TreeConsumer::Method(1), 0)
    };
    Recorded { tree: Tree { cpu: cpu > 0, nodes: vec![node], ..Tree::default() }, ..Recorded::default() }
}

#[test]
fn executed_instructions_are_a_resource_where_they_were_counted() {
    let mut writer = Writer::new();
    writer.tree("main", &Script::new(1000).call(1, |s| s.call(2, |s| s)));
    let of = |counted: u64| {
        let count = |profile: &mut Profile| {
            let thread = &mut profile.threads[0];
            thread.methods.get_mut(&2).unwrap().bytecodes = counted;
            thread.tree.as_mut().unwrap().nodes[1].bytecodes = counted;
        };
        changed(&writer.clone().finish(), &Options::default(), count).model
    };
    assert_eq!(of(0).resource("bytecodes"), None);
    assert_eq!(contexts(&of(1), "bytecodes")["p main m1 m2"], (1, 1.0));
}

#[test]
fn what_has_no_times_needs_no_correction() {
    let mut writer = Writer::new();
    writer.calibrated(10.0, 20.0).recorded("main", &ThreadFacts::default(), &one_call(1000, 0));
    let data = writer.finish();
    let corrected = |with_tree: bool| {
        let counts = |profile: &mut Profile| {
            profile.threads[0].tree.take_if(|_| !with_tree);
        };
        let model = changed(&data, &Options::default(), counts).model;
        (model.resource("wall").is_some(), model.correction)
    };
    assert_eq!(corrected(true), (true, Correction::Applied));
    assert_eq!(corrected(false), (false, Correction::None));
}

#[test]
fn counts_stand_below_their_thread() {
    let mut writer = Writer::new();
    writer.tree("main", &Script::new(1000).call(1, |s| s.call(2, |s| s).enter(2).unwind(2)));
    let counts = |profile: &mut Profile| {
        let thread = &mut profile.threads[0];
        thread.tree = None;
        let made = |method, count| Allocation { method, class: 1, count };
        thread.allocations = vec![made(Some(2), 5), made(Some(2), 7), made(None, 3), made(Some(9), 1)];
    };
    let loaded = changed(&writer.finish(), &Options { contexts: true, ..Options::default() }, counts);
    // Those of a method that was not called are the thread's, as those of none.
    let expected = [("p", 1, 0.0), ("p main", 1, 4.0), ("p main m1", 1, 0.0), ("p main m2", 2, 12.0)];
    expect(&loaded.model, "allocations", &expected);
    assert_eq!(contexts(&loaded.model, "unwinds")["p main m2"], (2, 1.0));
    let (calls, counts) = (&loaded.calls["m2"], &loaded.contexts.last().unwrap().counts);
    assert_eq!((calls.calls, calls.ended, counts.entries, counts.closes.unwinds), (2, 2, 2, 1));
}

#[test]
fn cpu_time_is_corrected_whatever_is_known_of_threads_without_it() {
    let mut writer = Writer::new();
    writer.calibrated(10.0, 20.0);
    writer.property("calibration.cpu.inner", 5).property("calibration.cpu.outer", 7);
    writer.recorded("main", &ThreadFacts::default(), &one_call(1000, 500));
    writer.recorded("other", &ThreadFacts::default(), &one_call(1000, 0));
    let data = writer.finish();
    let has_cpu = |sampled: usize| {
        let sample = |profile: &mut Profile| profile.threads[sampled].tree.as_mut().unwrap().sampled = true;
        changed(&data, &Options::default(), sample).model.resource("cpu").is_some()
    };
    // Where only some calls are timed, CPU time is not corrected.
    assert_eq!([has_cpu(0), has_cpu(1)], [false, true]);
}

/// Clocks of wall and CPU time differ by up to a hundredth.
#[test]
fn more_cpu_time_than_there_was_is_remarked() {
    let remarks = |wall: u64, cpu: u64| {
        let mut writer = Writer::new();
        writer.recorded("main", &ThreadFacts::default(), &one_call(wall, cpu));
        changed(&writer.finish(), &Options::default(), |_| {}).remarks
    };
    assert_eq!([990, 1000, 1005, 1010].map(|cpu| remarks(1000, cpu).len()), [0; 4]);
    let remark = "cpu-raw of thread main is 1.011 us, more than its wall-raw of 1.000 us: \
                  one of the two is off by the difference at least";
    assert_eq!(remarks(1000, 1011), [remark]);
}

#[test]
fn what_a_thread_did_outside_is_without_the_probes_of_its_outermost_calls() {
    // It lives for 500 ns, 210 of them in two calls.
    let script = Script::new(1000).call(1, |s| s.wait(100)).wait(290).call(1, |s| s.call(2, |s| s.wait(110)));
    let mut writer = Writer::new();
    let facts = ThreadFacts { start: 1000, end: 2000, ..ThreadFacts::default() };
    writer.calibrated(10.0, 20.0).recorded("main", &facts, &script.record());
    let data = writer.finish();
    let of = |lifetimes| {
        let model = changed(&data, &Options { lifetimes, ..Options::default() }, |_| {}).model;
        ["wall", "wall-raw"].map(|resource| contexts(&model, resource)["p main"].1)
    };
    assert_eq!((of(true), of(false)), ([290.0 - 2.0 * 20.0, 290.0], [0.0, 0.0]));
}

#[test]
fn objects_of_no_context_are_those_of_the_thread() {
    let mut writer = Writer::new();
    writer.tree("main", &Script::new(1000).call(1, |s| s.call(2, |s| s.wait(9))));
    let made = |profile: &mut Profile| {
        let made = |node, count| TreeAllocation { node, class: 1, count, bytes: 8 * count };
        profile.threads[0].tree_allocations = vec![made(0, 2), made(1, 3), made(2, 5), made(3, 7)];
    };
    let model = changed(&writer.finish(), &Options::default(), made).model;
    let expected = |times| {
        [
            ("p", 1, 0.0),
            ("p main", 1, 9.0 * times),
            ("p main m1", 1, 3.0 * times),
            ("p main m1 m2", 1, 5.0 * times),
        ]
    };
    expect(&model, "allocations", &expected(1.0));
    expect(&model, "bytes", &expected(8.0));
}

#[test]
fn work_of_the_virtual_machine_within_the_same_work_is_one() {
    let within = |outer, inner| {
        let script = Script::new(1000).enter(1).enter_link(outer).wait(5);
        script.enter_link(inner).wait(7).leave_link(inner).leave_link(outer).exit(1)
    };
    let mut writer = Writer::new();
    writer.property("boundary.3", "x");
    for (name, outer, inner) in [("load", 1, 1), ("link", 2, 1), ("boundary", 3, 3)] {
        writer.tree(name, &within(outer, inner));
    }
    let kinds = [(1, LinkKind::ClassLoading), (2, LinkKind::DynamicLinking), (3, LinkKind::Boundary)];
    let link = |(number, kind)| Link { copy: 1, number, kind, thread: 1, node: 1, clock: 0 };
    writer.links(&kinds.map(link));
    let model = changed(&writer.finish(), &Options::default(), |_| {}).model;
    let [class_loading, linking] = [kinds[0].1, kinds[1].1].map(|kind| kind.machine_work().unwrap());
    let mut expected = BTreeMap::new();
    let mut add = |path: &str, n, base| expected.insert(path.to_owned(), (n, base));
    add("p", 1, 0.0);
    for name in ["load", "link", "boundary"] {
        add(&format!("p {name}"), 1, 0.0);
        add(&format!("p {name} m1"), 1, 0.0);
    }
    add(&format!("p load m1 {class_loading}"), 1, 12.0);
    add(&format!("p link m1 {linking}"), 1, 5.0);
    add(&format!("p link m1 {linking} {class_loading}"), 1, 7.0);
    add("p boundary m1 (boundary x)", 1, 5.0);
    add("p boundary m1 (boundary x) (boundary x)", 1, 7.0);
    assert_eq!(contexts(&model, "wall-raw"), expected);
}

#[test]
fn a_call_that_began_before_the_recording_has_no_figures() {
    let within = |link| {
        let script = Script::new(1000).enter(1).enter_link(link).wait(50);
        script.call(2, |s| s.wait(7)).leave_link(link).wait(3).exit(1)
    };
    let mut writer = Writer::new();
    writer.property("running.4", 70);
    writer.tree("main", &within(4));
    writer.tree("other", &within(5));
    let link = |number, kind| Link { copy: 1, number, kind, thread: 1, node: 1, clock: 0 };
    writer.links(&[link(4, LinkKind::Running), link(5, LinkKind::HandOver)]);
    let model = changed(&writer.finish(), &Options::default(), |_| {}).model;
    // The time between is that of its caller.
    let expected = [
        ("p", 1, 0.0),
        ("p main", 1, 0.0),
        ("p main m1", 1, 53.0),
        ("p main m1 (running m70)", 0, 0.0),
        ("p main m1 (running m70) m2", 1, 7.0),
        ("p other", 1, 0.0),
        ("p other m1", 1, 3.0),
        ("p other m1 (task of m1)", 1, 50.0),
        ("p other m1 (task of m1) m2", 1, 7.0),
    ];
    expect(&model, "wall-raw", &expected);
}

#[test]
fn what_was_caused_stands_below_its_cause_in_whatever_order_they_are() {
    // The last thread starts the second, which starts the first.
    let starts = |method, link| Script::new(1000).call(method, |s| s.wait(5).make_link(link));
    let mut writer = Writer::new();
    for (name, script, link) in [("a", starts(1, 9), 2), ("b", starts(2, 2), 3), ("c", starts(3, 3), 0)] {
        let facts = ThreadFacts { start: 1000, link, ..ThreadFacts::default() };
        writer.recorded(name, &facts, &script.record());
    }
    let link = |number, thread| Link { copy: 1, number, kind: LinkKind::Start, thread, node: 1, clock: 0 };
    writer.links(&[link(2, 2), link(3, 3)]);
    let options = Options { links: true, ..Options::default() };
    let loaded = changed(&writer.finish(), &options, |_| {});
    let expected = [
        ("p", 1, 0.0),
        ("p c", 1, 0.0),
        ("p c m3", 1, 5.0),
        ("p c m3 b", 1, 0.0),
        ("p c m3 b m2", 1, 5.0),
        ("p c m3 b m2 a", 1, 0.0),
        ("p c m3 b m2 a m1", 1, 5.0),
    ];
    expect(&loaded.model, "wall-raw", &expected);
    assert_eq!(loaded.remarks, [""; 0]);
}

#[test]
fn threads_of_one_name_are_told_apart() {
    let mut writer = Writer::new();
    for name in ["pool", "pool", "pool", "", "alone", "exec-*", ""] {
        writer.tree(name, &Script::new(1000));
    }
    let split = Options { split_threads: true, ..Options::default() };
    let change = |profile: &mut Profile| {
        let threads = &mut profile.threads;
        (threads[1].copy, threads[1].ordinal, threads[2].copy) = (2, 1, 3);
        (threads[5].kind, threads[6].kind) = (ThreadKind::Ended(4), ThreadKind::Ended(2));
    };
    let model = changed(&writer.finish(), &split, change).model;
    let rows = contexts(&model, "allocations").into_iter().filter(|(path, _)| path != "p");
    let rows: Vec<_> = rows.map(|(path, (n, _))| (path, n)).collect();
    let expected = [
        ("p (ended threads)", 2),
        ("p (no name)", 1),
        ("p alone", 1),
        ("p exec-*", 4),
        ("p pool #1", 1),
        ("p pool #1 of copy 2", 1),
        ("p pool #3 of copy 3", 1),
    ];
    assert_eq!(rows, expected.map(|(path, n)| (path.to_owned(), n)));
}
