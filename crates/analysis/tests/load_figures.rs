//! Figures that are added up over contexts: times of single calls, and objects by where they were made.

use std::collections::BTreeMap;

use instrument_analysis::heap::object_lifetimes::ObjectLifetimes;
use instrument_analysis::load::{CallTimes, Loaded, Options, Process, load};
use instrument_analysis::model::{Arcflow, NodeId};
use instrument_testing::{Life, Script, Writer};
use instrument_trace::{Link, LinkKind, Profile};

fn loaded(data: &Vec<u8>, options: &Options<'_>) -> Loaded {
    let mut profile = Profile::parse(data).unwrap();
    assert_eq!(profile.damage, []);
    let biographies = ObjectLifetimes::read(&profile, data).unwrap();
    let names = |_: u32, id: u32| format!("m{id}");
    let process =
        Process { biographies: biographies.as_ref(), ..Process::new(&mut profile, "p".into(), &names) };
    load(&mut [process], options)
}

/// The base of a resource by context, where it is not 0.
fn bases(model: &Arcflow, resource: &str) -> BTreeMap<String, f64> {
    let resource = model.resource(resource).unwrap_or_else(|| panic!("no {resource}"));
    let mut paths = vec![String::new()];
    let mut bases = BTreeMap::new();
    for (index, node) in model.nodes().iter().enumerate().skip(1) {
        let path = format!("{} {}", paths[node.parent.0 as usize], model.name(node.consumer));
        let base = model.base(NodeId(index as u32))[resource];
        if base != 0.0 {
            bases.insert(path.trim().to_owned(), base);
        }
        paths.push(path);
    }
    bases
}

#[test]
fn times_of_single_calls_are_added_up_over_contexts() {
    // m2 takes 5 and 9 ns below m1, 7 below m3, and is open there since 4 ns, with 6 more until the end.
    let script = Script::new(1000).enter(1).call(2, |s| s.wait(5)).call(2, |s| s.wait(9));
    let script = script.enter(3).call(2, |s| s.wait(7)).enter(2).wait(4);
    let mut writer = Writer::new();
    writer.tree("main", &script);
    writer.clocks(0, script.now + 6);
    let found = loaded(&writer.finish(), &Options { contexts: true, ..Options::default() });
    let times = &found.calls["m2"];
    let expected = CallTimes {
        calls: 4,
        ended: 3,
        summed: 3,
        ended_ns: 21.0,
        open_ns: 10.0,
        timed: 3,
        closed_ns: 21.0,
        min: 5.0,
        max: 9.0,
        sum_squares: 25.0 + 81.0 + 49.0,
        exact_ns: 31.0,
        variance: 0.0,
        recording_ns: 0.0,
    };
    assert_eq!(times, &expected);
    assert_eq!(times.average(), Some(7.0));
    assert!((times.deviation().unwrap() - (155.0f64 / 3.0 - 49.0).sqrt()).abs() < 1e-9);
    // None of m3 has ended.
    let open = &found.calls["m3"];
    assert_eq!((open.calls, open.ended, open.average(), open.deviation()), (1, 0, None, None));
    // One by one: those below m1, and those below m3.
    let model = &found.model;
    let of = |caller: &str| {
        let is_it = |index: &usize| {
            let node = &model.nodes()[*index];
            model.name(node.consumer) == "m2" && model.name(model.node(node.parent).consumer) == caller
        };
        let calls = &found.contexts[(1..model.nodes().len()).find(is_it).unwrap()];
        let times = calls.times;
        (calls.counts.entries, calls.counts.open, times.ended_ns, times.open_ns, times.min, times.max)
    };
    assert_eq!(of("m1"), (2, 0, 14.0, 0.0, 5.0, 9.0));
    assert_eq!(of("m3"), (2, 1, 7.0, 10.0, 7.0, 7.0));
    // Nobody has asked.
    assert!(loaded(&writer_of(&script), &Options::default()).contexts.is_empty());
}

fn writer_of(script: &Script) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.tree("main", script);
    writer.finish()
}

#[test]
fn objects_stand_where_they_were_made() {
    let mut writer = Writer::new();
    writer.class_names(&[(1, "p.A"), (2, "[I")]).property("record", "tree");
    writer.tree("one", &Script::new(1000).call(5, |s| s.call(6, |s| s.wait(3))));
    writer.collections(1, &[(100, 110), (200, 210)]);
    writer.contexts(1, &[(0, Some(5)), (1, Some(6)), (2, None)]);
    let life = Life { class: 1, thread: 1, context: 1, bytes: 16, clock: 50, ..Life::default() };
    writer.objects(
        1,
        &[
            life,
            // Another class of the same context, one of which is gone.
            Life { class: 2, bytes: 24, ..life },
            Life { class: 2, bytes: 8, gone: Some(1), ..life },
            Life { context: 2, bytes: 32, ..life },
            Life { context: 3, bytes: 40, ..life },
            // Of no context, and by a thread that is not in the profile.
            Life { context: 0, bytes: 56, ..life },
            Life { context: 2, thread: 9, bytes: 48, ..life },
        ],
    );
    let model = loaded(&writer.finish(), &Options::default()).model;
    let is = |resource: &str, expected: [f64; 5]| {
        let places = ["p one", "p one m5", "p one m5 m6", "p one m5 m6 (deeper)", "p m5 m6"];
        let expected: BTreeMap<_, _> = places.map(str::to_owned).into_iter().zip(expected).collect();
        assert_eq!(bases(&model, resource), expected, "{resource}");
    };
    is("live", [1.0, 2.0, 1.0, 1.0, 1.0]);
    is("live-bytes", [56.0, 40.0, 32.0, 40.0, 48.0]);
    is("allocations", [1.0, 3.0, 1.0, 1.0, 1.0]);
    is("bytes", [56.0, 48.0, 32.0, 40.0, 48.0]);
}

#[test]
fn work_for_others_is_named_by_what_it_is() {
    let mut writer = Writer::new();
    writer.property("boundary.3", "checkout").property("running.4", 70);
    let causes = Script::new(1000).call(2, |s| s.make_link(1).make_link(5));
    writer.tree("main", &causes);
    let work = (1..=6).fold(Script::new(1100), |script, link| {
        script.enter_link(link).call(5, |s| s.wait(10)).leave_link(link)
    });
    writer.tree("worker", &work);
    let kinds = [
        (1, LinkKind::Start),
        (2, LinkKind::Served),
        (3, LinkKind::Boundary),
        (4, LinkKind::Running),
        (6, LinkKind::Boundary),
    ];
    let link = |(number, kind)| Link { copy: 1, number, kind, thread: 1, node: 1, clock: 0 };
    writer.links(&kinds.map(link));
    let data = writer.finish();
    let names = |apart| {
        let model = loaded(&data, &Options { apart, ..Options::default() }).model;
        bases(&model, "wall-raw").into_keys().collect::<Vec<_>>()
    };
    let expected = [
        "p worker (boundary checkout) m5",
        "p worker (boundary without a name) m5",
        "p worker (remote calls) m5",
        "p worker (running m70) m5",
        "p worker (started thread of m2) m5",
        "p worker (task) m5",
    ];
    assert_eq!(names(false), expected);
    assert_eq!(names(true)[2], "p worker (remote calls 1.2) m5");
}
