//! What threads waited for, from profiles that tests write: sums, the model, the report and the timeline.

use crate::common::notes::Notes;
use instrument_analysis::arcs::Arcs;
use instrument_analysis::export::spans;
use instrument_analysis::export::trace::Trace;
use instrument_analysis::load::{Options, Process, load};
use instrument_analysis::report::monitors::{self, Table};
use instrument_analysis::report::{self, Format};
use instrument_analysis::waits::{self, Monitor, Waits};
use instrument_analysis::{Kind, invariants};
use instrument_testing::{Script, Writer};
use instrument_trace::{JavaThread, Profile, Wait, WaitKind};
use serde_json::Value;

fn thread(number: u32, ordinal: u32, name: &str) -> JavaThread {
    let group = "main".to_owned();
    JavaThread { copy: 1, number, ordinal, start: 1000, name: name.into(), group, ..JavaThread::default() }
}

fn wait(kind: WaitKind, thread: u32, start: u64, end: u64, monitor: u32) -> Wait {
    Wait {
        copy: 1,
        kind,
        thread,
        start,
        end,
        monitor,
        class: 7,
        context: 0,
        owner: 0,
        timeout: 0,
        timed_out: false,
    }
}

/// main waits in method 2 under 1 and 3, and once more to the end; two workers have recorded nothing.
fn file(trace: bool) -> Vec<u8> {
    use WaitKind::{Contended, Waiting};
    let mut writer = Writer::new();
    writer.property("record", if trace { "trace" } else { "tree" }).class_names(&[(7, "com.acme.Foo")]);
    let call = |script: Script| script.call(2, |s| s.wait(100));
    let script = Script::new(1000).enter(1).wait(10);
    let script = call(script).wait(10).call(3, call).wait(10);
    if trace {
        writer.trace("main", &script, 100);
    } else {
        writer.tree("main", &script);
    }
    writer.contexts(1, &[(0, Some(1)), (1, Some(2)), (1, Some(3)), (3, Some(2))]);
    let ended = JavaThread { end: 3000, starter: 1, daemon: true, ..thread(3, 0, "worker") };
    writer.java_threads(&[thread(1, 1, "main"), thread(2, 0, "worker"), ended]);
    writer.waits(&[
        Wait { context: 2, owner: 2, ..wait(Contended, 1, 1020, 1080, 1) },
        Wait { context: 4, timeout: 1, timed_out: true, ..wait(Waiting, 1, 1130, 1150, 2) },
        Wait { context: 2, owner: 3, ..wait(Contended, 1, 1155, 1160, 1) },
        wait(Contended, 2, 1200, 1300, 1),
        // It did not end before its thread did.
        wait(Waiting, 3, 2000, 0, 1),
        wait(WaitKind::Other(9), 2, 1400, 1500, 1),
        // Nor before the process did.
        wait(Waiting, 2, 1500, 0, 2),
        // A thread that is not in the file.
        wait(Contended, 77, 1500, 1510, 0),
    ]);
    writer.clocks(0, 5000);
    writer.finish()
}

fn read(data: &Vec<u8>, wanted: &dyn Fn(&str) -> bool) -> (Profile, Waits) {
    let mut profile = Profile::parse(data).unwrap();
    instrument_analysis::replay::profile(data, &mut profile).unwrap();
    assert_eq!(profile.damage, []);
    let waits = waits::gather(data, &profile, wanted).unwrap().expect("waits");
    (profile, waits)
}

/// Who waited for whom: by number, for names may be those of several threads.
#[test]
fn contended_waits_are_known_by_who_had_the_monitor() {
    let (_, waits) = read(&file(false), &|_| true);
    let mut pairs: Vec<_> = waits.pairs.iter().map(|(&(_, one, other), sum)| (one, other, sum.ns)).collect();
    pairs.sort_unstable();
    assert_eq!(pairs, [(1, 2, 60), (1, 3, 5), (2, 0, 100), (77, 0, 10)]);
    assert_eq!(waits.pairs.values().map(|sum| sum.ns).sum::<u64>(), waits.all.contended.ns);
    let (_, waits) = read(&file(false), &|name| name == "main");
    assert_eq!(waits.pairs.values().map(|sum| sum.ns).sum::<u64>(), 65);
}

#[test]
fn waits_add_up() {
    let (_, waits) = read(&file(false), &|_| true);
    let sum = |sum: waits::Sum| (sum.times, sum.ns, sum.max, sum.open, sum.timed_out);
    assert_eq!(sum(waits.all.contended), (4, 175, 100, 0, 0));
    assert_eq!(sum(waits.all.waiting), (3, 20 + 1000 + 3500, 3500, 2, 1));
    assert_eq!((waits.owned, waits.unknown, waits.end), (2, 1, 5000));
    let monitor = |number| &waits.monitors[&Monitor { copy: 1, class: 7, number }];
    assert_eq!(sum(monitor(1).all.contended), (3, 165, 100, 0, 0));
    assert_eq!(sum(monitor(1).owners[&2]), (1, 60, 60, 0, 0));
    assert_eq!(sum(monitor(1).threads[&1].contended), (2, 65, 60, 0, 0));
    assert_eq!(sum(monitor(2).all.waiting), (2, 3520, 3500, 1, 1));
    assert_eq!(sum(waits.threads[&(1, 3)].waiting), (1, 1000, 1000, 1, 0));
    assert_eq!(waits.contexts[&(1, 1, 2)], (65, 0));
    let (_, main) = read(&file(false), &|name| name == "main");
    assert_eq!((main.all.contended.ns, main.all.waiting.ns), (65, 20));
}

#[test]
fn a_profile_without_threads_has_no_waits() {
    let data = Writer::new().finish();
    let profile = Profile::parse(&data).unwrap();
    assert!(waits::gather(&data, &profile, &|_| true).unwrap().is_none());
}

#[test]
fn waits_are_resources_of_their_contexts() {
    for trace in [false, true] {
        let data = file(trace);
        let (mut profile, waits) = read(&data, &|_| true);
        let names = |_: u32, id: u32| format!("m{id}");
        let process = Process { waits: Some(&waits), ..Process::new(&mut profile, "p".into(), &names) };
        let model = load(&mut [process], &Options::default()).model;
        assert_eq!(invariants::check(&model, &Arcs::new(&model)).violations, []);
        let [contended, waiting] = ["contended", "object-wait"].map(|name| model.resource(name).unwrap());
        let mut found = Vec::new();
        for id in model.ids() {
            let figures = [model.base(id)[contended], model.base(id)[waiting]];
            if figures != [0.0, 0.0] {
                let mut path = Vec::new();
                let mut at = id;
                while model.node(at).kind != Kind::Process {
                    path.insert(0, model.name(model.node(at).consumer));
                    at = model.node(at).parent;
                }
                found.push((path.join("/"), figures[0], figures[1]));
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        let expected = [
            ("(unknown thread)", 10.0, 0.0),
            ("main/m1/m2", 65.0, 0.0),
            ("main/m1/m3/m2", 0.0, 20.0),
            ("worker", 100.0, 4500.0),
        ];
        let expected = expected.map(|(path, contended, waiting)| (path.to_owned(), contended, waiting));
        assert_eq!(found, expected, "trace: {trace}");
    }
}

/// Bases of some resources by context, without those of which all are 0.
fn bases(model: &instrument_analysis::Arcflow, resources: [&str; 3]) -> Vec<(String, [f64; 3])> {
    let indices = resources.map(|name| model.resource(name).unwrap_or_else(|| panic!("no {name}")));
    let mut paths = vec![String::new()];
    let mut found = Vec::new();
    for (id, node) in model.ids().zip(model.nodes()).skip(1) {
        let path = format!("{} {}", paths[node.parent.0 as usize], model.name(node.consumer));
        let figures = indices.map(|r| model.base(id)[r]);
        if figures != [0.0; 3] {
            found.push((path.trim().to_owned(), figures));
        }
        paths.push(path);
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// m1 runs 10 ns, calls m2 (100 ns), which blocks but for m3 (30 ns), which it calls back.
fn blocking() -> Script {
    let callback = |s: Script| s.wait(70).call(3, |s| s.wait(30));
    Script::new(1000).enter(1).wait(10).call(2, callback).wait(5).exit(1)
}

#[test]
fn the_base_of_calls_that_block_is_waiting_and_all_else_is_running() {
    for trace in [false, true] {
        let mut writer = Writer::new();
        match trace {
            false => writer.tree("main", &blocking()),
            true => writer.trace("main", &blocking(), 100),
        };
        let data = writer.finish();
        let mut profile = Profile::parse(&data).unwrap();
        instrument_analysis::replay::profile(&data, &mut profile).unwrap();
        let names = |_: u32, id: u32| format!("m{id}");
        let blocks = |copy: u32, id: u32| (copy, id) == (1, 2);
        let process = Process { blocks: Some(&blocks), ..Process::new(&mut profile, "p".into(), &names) };
        let loaded = load(&mut [process], &Options { lifetimes: true, ..Options::default() });
        let model = loaded.model;
        assert_eq!(invariants::check(&model, &Arcs::new(&model)).violations, []);
        let expected = [
            ("p main m1", [15.0, 15.0, 0.0]),
            ("p main m1 m2", [70.0, 0.0, 70.0]),
            ("p main m1 m2 m3", [30.0, 30.0, 0.0]),
        ];
        let expected = expected.map(|(path, figures)| (path.to_owned(), figures));
        assert_eq!(bases(&model, ["wall-raw", "running-raw", "waiting-raw"]), expected, "trace: {trace}");
        let written = |format, resources: &[String]| {
            let mut out = Vec::new();
            let options = report::Options { format, resources, ..report::Options::default() };
            report::xprof::write(&mut out, &model, &Arcs::new(&model), &options).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert!(written(Format::Text, &[]).contains("running-raw 45 ns\n"), "by default");
        assert!(written(Format::Text, &["wall-raw".into()]).contains("wall-raw 115 ns\n"));
        let json: Value = serde_json::from_str(&written(Format::Json, &[])).unwrap();
        assert_eq!(json["resources"][0]["name"], "wall-raw", "machines get all");
        let mut out = Vec::new();
        report::stats::write(&mut out, &model, &loaded.calls, &report::Options::default()).unwrap();
        let text = String::from_utf8(out).unwrap();
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        let [header, first] = [&rows[0], &rows[1]];
        assert_eq!(header[header.len() - 2..], ["waiting", "function"], "{text}");
        assert_eq!(
            (&first[1..3], &first[first.len() - 3..]),
            (&["115", "ns"][..], &["70", "ns", "m1"][..]),
            "{text}"
        );
        assert_eq!(rows[2].last(), Some(&"m2"), "the rest of its total decides, and then its name\n{text}");
    }
}

/// What monitors say is not added to what calls that block say of the same time, and a thread without methods has no part of it.
#[test]
fn no_wait_counts_twice() {
    let data = file(false);
    let names = |_: u32, id: u32| format!("m{id}");
    let bases_with = |blocks: Option<&dyn Fn(u32, u32) -> bool>| {
        let (mut profile, waits) = read(&data, &|_| true);
        let process =
            Process { waits: Some(&waits), blocks, ..Process::new(&mut profile, "p".into(), &names) };
        let model = load(&mut [process], &Options::default()).model;
        bases(&model, ["wall-raw", "running-raw", "waiting-raw"])
    };
    let expected = |rows: &[(&str, [f64; 3])]| -> Vec<(String, [f64; 3])> {
        rows.iter().map(|(path, figures)| ((*path).to_owned(), *figures)).collect()
    };
    // It was open to the end.
    let m1 = ("p main m1", [3800.0, 3800.0, 0.0]);
    let of_monitors = [("p main m1 m2", [100.0, 35.0, 65.0]), ("p main m1 m3 m2", [100.0, 80.0, 20.0])];
    let of_both = of_monitors.map(|(path, _)| (path, [100.0, 0.0, 100.0]));
    assert_eq!(bases_with(None), expected(&[&[m1], &of_monitors[..]].concat()));
    let found = bases_with(Some(&|_, id| id == 2));
    assert_eq!(found, expected(&[&[m1], &of_both[..]].concat()));
}

fn report(format: Format, table: Table) -> String {
    let (mut profile, waits) = read(&file(false), &|_| true);
    let names = |_: u32, id: u32| format!("m{id}");
    let process = Process { waits: Some(&waits), ..Process::new(&mut profile, "p".into(), &names) };
    let model = load(&mut [process], &Options::default()).model;
    let class = |_: u32, _: u32| "com.acme.Foo".to_owned();
    let threads = waits::names(&profile);
    let process = monitors::Process {
        name: "p",
        profile: &profile,
        waits: &waits,
        threads: &threads,
        class: &class,
        method: &names,
    };
    let mut out = Vec::new();
    let options = report::Options { format, ..report::Options::default() };
    monitors::write(&mut out, &[process], &model, table, &options).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn the_report_names_who_had_what() {
    let text = report(Format::Text, Table::Monitors);
    for line in [
        "contended  4 times, 175 ns",
        "waiting    3 times, 4.520 us, 2 still waiting at the end",
        "owner      known 2 of 4 times",
        "unknown    1 waits of other kinds",
        "        3  165 ns  55 ns  100 ns      1  1.000 us  1.000 us  1.000 us  -      com.acme.Foo #1",
        "  held by     (unknown) once, 100 ns; worker (2 threads) 2 times, 65 ns",
        "  entered by  worker once, 100 ns; main 2 times, 65 ns",
        "        0       -      1  1.000 us  2.000 us          0.0  worker (group main, daemon, started by main)",
    ] {
        assert!(text.lines().any(|l| l == line), "{line}\nis not in\n{text}");
    }
    let json: Value = serde_json::from_str(&report(Format::Json, Table::Monitors)).unwrap();
    let process = &json["processes"][0];
    assert_eq!(process["monitors"][0]["owners"][1]["threads"], 2);
    assert_eq!(process["threads"].as_array().map(Vec::len), Some(3));
    assert_eq!(json["contexts"]["resources"][1]["name"], "object-wait");
    let csv = report(Format::Csv, Table::Threads);
    assert_eq!(
        csv.lines().last(),
        Some("p,3,worker,main,,true,false,1000,3000,main,0,0,0,0,0,1,1000,1000,1,0")
    );
    let csv = report(Format::Csv, Table::Monitors);
    assert_eq!(csv.lines().nth(1), Some("p,1,com.acme.Foo,3,165,100,0,0,1,1000,1000,1,0,"));
}

const WORKERS: &str = "[5 p/worker] 200>contended Foo #1 300< 500>waiting Foo #2 4000<\
    [5 p/worker] 1000>waiting Foo #1 2000<[5 p/(unknown thread)] 500>contended Foo 510<";

#[test]
fn waits_are_slices_of_a_timeline() {
    let classes = |_: u32, _: u32| "Foo".to_owned();
    let data = file(false);
    let (profile, _) = read(&data, &|_| true);
    let mut notes = Notes::default();
    spans::add_waits((&data, &profile), &classes, (5, "p"), 1000, &|_| true, &mut notes).unwrap();
    let main = "[5 p/main] 20>contended Foo #1 80< 130>waiting Foo #2 150< 155>contended Foo #1 160<";
    assert_eq!(notes.0, format!("{main}{WORKERS}"));

    let data = file(true);
    let (profile, _) = read(&data, &|_| true);
    let mut notes = Notes::default();
    let methods = |_: u32, id: u32| format!("m{id}");
    let trace = Trace {
        source: &data,
        profile: &profile,
        process: 5,
        process_name: "p",
        methods: &methods,
        classes: Some(&classes),
        remote: None,
    };
    trace.add_events(1000, &|_| true, &mut notes).unwrap();
    let main = "[5 p/main] 0>m1 10>m2 20>contended Foo #1 80< 110< 120>m3 120>m2 130>waiting Foo #2 150< \
        155>contended Foo #1 160< 220< 220< 220<";
    assert_eq!(notes.0, format!("{main}{WORKERS}"));
}

/// By the row of the thread, which may have another name; those that ended are one row; who recorded nothing has its own name.
#[test]
fn waits_stand_in_the_rows_of_their_threads() {
    let mut writer = Writer::new();
    writer.property("record", "tree").class_names(&[(7, "com.acme.Foo")]);
    let script = Script::new(1000).enter(1).wait(500).exit(1);
    writer.tree("exec-1", &script);
    writer.tree("exec-2", &script);
    writer.ended(3, &script.record());
    let java = [(1, 1, "exec-1"), (2, 2, "exec-2"), (3, 9, "gone"), (4, 0, "silent")];
    writer.java_threads(&java.map(|(number, ordinal, name)| thread(number, ordinal, name)));
    let waits = [(1, 10), (2, 20), (3, 40), (4, 80)];
    writer.waits(&waits.map(|(number, ns)| wait(WaitKind::Contended, number, 1100, 1100 + ns, 1)));
    writer.clocks(0, 5000);
    let data = writer.finish();
    let (mut profile, waits) = read(&data, &|_| true);
    let names = |_: u32, id: u32| format!("m{id}");
    let process = Process { waits: Some(&waits), ..Process::new(&mut profile, "p".into(), &names) };
    let model = load(&mut [process], &Options::default()).model;
    let contended = model.resource("contended").unwrap();
    let waited = model.ids().filter(|&id| model.base(id)[contended] > 0.0);
    let mut waited: Vec<_> =
        waited.map(|id| (model.name(model.node(id).consumer), model.base(id)[contended])).collect();
    waited.sort_by(|a, b| a.0.cmp(b.0));
    assert_eq!(waited, [("(ended threads)", 40.0), ("exec-*", 30.0), ("silent", 80.0)]);
}
