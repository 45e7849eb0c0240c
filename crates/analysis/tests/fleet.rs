//! The processes of a dataset as one profile: every figure is the sum over the processes, each once.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use instrument_analysis::fleet::{Chosen, Summed, write_profile};
use instrument_analysis::session::{Error, ProfileFile, Request, Session};
use instrument_analysis::{Kind, NodeId};
use instrument_names::id_map::gz;
use instrument_testing::{Script, ThreadFacts, Writer};
use instrument_trace::{Link, LinkKind, ThreadKind, ThreadSamples};

use crate::parquet::written;

const IDS: &str = "instrument ids 1\nclass a/Shop src/a/Shop.java\n1 main ()V 9 1 0000000000000000\n\
    2 work ()V 1 20 0000000000000000\n3 fail ()V 1 0 0000000000000000\n4 <init> ()V 1 4 0000000000000000\n5 idle ()V 1 7 0000000000000000\n";
const MS: u64 = 1_000_000;
/// 2026-11-24, in ms.
const DAY: u64 = 1_795_478_400_000;

/// A tree with calls of all kinds of ends, objects, a link, and frames that are open; 20 times the work of `size`.
fn tree(size: u64) -> Script {
    let work = |s: Script| s.call(2, |s| s.wait(100 * size).make(1, 24 * size)).call(2, |s| s.wait(7));
    let script = Script::new(1000).make(1, 16).enter(1).wait(5).times(10 * size as u32, work);
    let script = script.enter(3).wait(2).unwind(3).construct(4).wait(1).unwind(4).exit(5);
    script
        .call(2, |s| s.wait(3).call(2, |s| s.wait(50 * size)))
        .enter(3)
        .wait(9 * size)
        .exit(1)
        .enter_link(1)
        .call(2, |s| s.wait(40))
        .enter(2)
        .wait(30)
}

/// A process that began on a day; ended, unless `shutdown` is 0.
fn process(day: u64, shutdown: u64) -> Writer {
    let mut writer = Writer::new();
    writer
        .id_map(&gz::compress(IDS.as_bytes()))
        .word(32, DAY + day * 24 * 3600 * 1000)
        .clocks(90_000_000, shutdown);
    writer.property("name", "shop").property("java.version", "17.0.9").property("timing", "all");
    writer
}

fn of_tree(day: u64, size: u64) -> Writer {
    let mut writer = process(day, 91_000_000);
    writer.tree("main", &tree(size));
    let facts = ThreadFacts { start: 2000, ..ThreadFacts::default() };
    writer.recorded("worker", &facts, &Script::new(2000).call(2, |s| s.wait(60)).call(5, |s| s).record());
    writer.links(&[Link { copy: 1, number: 1, kind: LinkKind::Boundary, thread: 0, node: 0, clock: 0 }]);
    writer.property("boundary.1", "checkout").property("record", "tree");
    writer
}

fn calibrated(mut process: Writer) -> Writer {
    process.calibrated(2.0, 1.0);
    process
}

/// Of a sample every 2 ms.
fn of_samples(size: u64) -> Writer {
    of_samples_worth(size, 1)
}

/// Of a sample every so many times 2 ms.
fn of_samples_worth(size: u64, times: u64) -> Writer {
    let mut writer = process(0, 91_000_000);
    let script = Script::new(1000).samples(3).enter(1).samples(30 * size).call(2, |s| s.samples(50));
    let script = script.call(5, |s| s.wait(40 * MS).samples(2)).exit(1);
    let other = ThreadSamples {
        period_ns: MS,
        cpu_ns: times * (340 + 60 * size) * MS,
        in_probes: 100,
        unattributed: 15,
        ..ThreadSamples::default()
    };
    writer.samples("main", &script, &[5], &other);
    writer.property("record", "tree").property("timing", "samples");
    writer
}

struct Dataset {
    folder: tempfile::TempDir,
    profiles: Vec<PathBuf>,
}

impl Dataset {
    fn new() -> Dataset {
        Dataset { folder: tempfile::tempdir().unwrap(), profiles: Vec::new() }
    }

    /// Exports a process.
    fn add(self, process: Writer, build: &str) -> Dataset {
        self.add_all(vec![process], build)
    }

    /// Exports processes together.
    fn add_all(mut self, processes: Vec<Writer>, build: &str) -> Dataset {
        let first = self.profiles.len();
        for process in processes {
            let path = self.folder.path().join(format!("{}.iprof", self.profiles.len()));
            fs::write(&path, process.finish()).unwrap();
            self.profiles.push(path);
        }
        written(&self.profiles[first..], &[("service", "shop"), ("build", build)], &self.path());
        self
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("dataset")
    }

    fn sum(&self, chosen: &Chosen) -> Result<(PathBuf, Summed), Error> {
        let path = self.folder.path().join("sum.iprof");
        let summed = write_profile(&self.path(), chosen, File::create(&path).unwrap())?;
        Ok((path, summed))
    }

    fn error(&self, chosen: &Chosen) -> String {
        self.sum(chosen).unwrap_err().to_string()
    }
}

/// Of each way through the program, over all processes and threads, its calls and what it consumed itself.
fn ways(files: &[PathBuf], resources: &[&str]) -> BTreeMap<String, (u64, Vec<u64>)> {
    let session = Session::read(&Request { files: files.to_vec(), ..Request::default() }).unwrap();
    let model = &session.model;
    let columns: Vec<_> =
        resources.iter().map(|name| model.resource(name).unwrap_or_else(|| panic!("no {name}"))).collect();
    let (mut names, mut found) = (vec![String::new()], BTreeMap::new());
    for (i, node) in model.nodes().iter().enumerate().skip(1) {
        let above = &names[node.parent.0 as usize];
        let is_of_program = !matches!(node.kind, Kind::Process | Kind::Thread);
        let name =
            if is_of_program { format!("{above} {}", model.name(node.consumer)) } else { above.clone() };
        let of: &mut (u64, Vec<u64>) = found.entry(name.clone()).or_insert((0, vec![0; columns.len()]));
        of.0 += if is_of_program { node.n } else { 0 };
        let base = model.base(NodeId(i as u32));
        for (sum, column) in of.1.iter_mut().zip(&columns) {
            *sum += base[*column] as u64;
        }
        names.push(name);
    }
    found
}

/// What a file has of each thread: how many there are, and of each context all that is added up.
fn figures(file: &Path) -> BTreeMap<String, (u64, BTreeMap<String, Vec<u64>>)> {
    let file = ProfileFile::open(file, 0, false).unwrap();
    let mut threads: BTreeMap<String, (u64, BTreeMap<String, Vec<u64>>)> = BTreeMap::new();
    for thread in &file.profile.threads {
        let of = threads.entry(thread.name.clone()).or_default();
        of.0 += if let ThreadKind::Ended(threads) = thread.kind { threads } else { 1 };
        let mut paths = vec![String::new()];
        for (node, number) in thread.tree.iter().flat_map(|tree| &tree.nodes).zip(1u32..) {
            let name = node.consumer.method().map_or("link".to_owned(), |id| file.names.method(1, id));
            let made = thread.tree_allocations.iter().filter(|of| of.node == number);
            let (count, bytes) = made.fold((0, 0), |(count, bytes), of| (count + of.count, bytes + of.bytes));
            let closes = node.closes;
            let figures = [
                node.entries,
                closes.exits,
                closes.unwinds,
                closes.aborted,
                closes.unclosed,
                node.unmatched,
                node.open,
                count,
                bytes,
            ];
            paths.push(format!("{} {name}", paths[node.parent as usize]));
            of.1.insert(
                paths[number as usize].clone(),
                [&figures[..], &[node.min, node.max, node.sum_squares as u64]].concat(),
            );
        }
    }
    threads
}

#[test]
fn every_figure_is_the_sum_over_the_processes() {
    let dataset = Dataset::new().add(of_tree(0, 1), "1").add(of_tree(1, 2), "1");
    let (sum, summed) = dataset.sum(&Chosen::default()).unwrap();
    let [one, two, found] = [&dataset.profiles[0], &dataset.profiles[1], &sum].map(|file| figures(file));
    assert_eq!(found.keys().collect::<Vec<_>>(), ["main", "worker"]);
    for (name, (threads, contexts)) in &found {
        assert_eq!(*threads, 2, "{name}");
        assert_eq!(contexts.len(), one[name].1.len());
        for (path, found) in contexts {
            let [one, two] = [&one, &two].map(|of| &of[name].1[path]);
            let last = found.len() - 3;
            let mut expected: Vec<u64> = one.iter().zip(two).map(|(a, b)| a + b).collect();
            (expected[last], expected[last + 1]) =
                (one[last].min(two[last]), one[last + 1].max(two[last + 1]));
            assert_eq!(*found, expected, "{name}: {path}");
        }
    }
    let calls = found.values().flat_map(|(_, contexts)| contexts.values()).map(|figures| figures[0]).sum();
    let contexts = found.values().map(|(_, contexts)| contexts.len() as u64).sum();
    assert_eq!((summed.processes, summed.contexts, summed.calls), (2, contexts, calls));
    let resources = ["wall-raw", "allocations", "unwinds"];
    assert_eq!(ways(&[sum], &resources), ways(&dataset.profiles, &resources));
}

#[test]
fn times_are_without_what_recording_cost_where_that_is_known_of_all() {
    let dataset = Dataset::new().add(calibrated(of_tree(0, 1)), "1").add(calibrated(of_tree(0, 3)), "1");
    let (sum, summed) = dataset.sum(&Chosen::default()).unwrap();
    assert_eq!(ways(&[sum], &["wall"]), ways(&dataset.profiles, &["wall"]));
    let said = |summed: &Summed| {
        summed.messages.iter().any(|message| message.text.contains("times are as measured"))
    };
    assert!(!said(&summed), "{summed:?}");
    let dataset = dataset.add(of_tree(0, 2), "1");
    let (sum, summed) = dataset.sum(&Chosen::default()).unwrap();
    assert!(said(&summed), "{summed:?}");
    assert!(
        ProfileFile::open(&sum, 0, false).unwrap().profile.copies[&1]
            .properties
            .keys()
            .all(|key| !key.starts_with("calibration"))
    );
}

#[test]
fn samples_are_added_up() {
    let dataset = Dataset::new().add(of_samples(1), "1").add(of_samples(2), "1");
    let (sum, summed) = dataset.sum(&Chosen::default()).unwrap();
    assert_eq!(summed.messages, []);
    let resources = ["running", "samples"];
    assert_eq!(ways(std::slice::from_ref(&sum), &resources), ways(&dataset.profiles, &resources));
    let of = |file: &Path| ProfileFile::open(file, 0, false).unwrap().profile.threads[0].samples.unwrap();
    let (sum, one) = (of(&sum), of(&dataset.profiles[0]));
    assert_eq!(
        (sum.in_no_call, sum.unattributed, sum.in_probes),
        (2 * one.in_no_call, 2 * one.unattributed, 2 * one.in_probes)
    );
    assert_eq!((sum.cpu_ns, sum.user_only), (860 * MS, false));
}

/// The profile has one worth of samples for a thread: where processes differ, the time in all is right and that of contexts is not.
#[test]
fn samples_of_different_worth_are_said_to_be_in_the_wrong_place() {
    let dataset = Dataset::new().add(of_samples(1), "1").add(of_samples_worth(2, 2), "1");
    let (sum, summed) = dataset.sum(&Chosen::default()).unwrap();
    let [message] = &summed.messages[..] else { panic!("{summed:?}") };
    let running = |files: &[PathBuf]| {
        let ways = ways(files, &["running"]);
        ways.into_iter().map(|(way, (_, figures))| (way, figures[0])).collect::<BTreeMap<_, _>>()
    };
    let (sum, exact) = (running(&[sum]), running(&dataset.profiles));
    let total = |of: &BTreeMap<String, u64>| of.values().sum::<u64>() as f64;
    // But for less than a sample: those in probes are a whole number.
    assert!((total(&sum) / total(&exact) - 1.0).abs() < 1e-3, "{sum:?} {exact:?}");
    let moved: u64 = exact.iter().map(|(way, &ns)| ns.abs_diff(sum[way])).sum();
    let percent = 100.0 * moved as f64 / 2.0 / total(&exact);
    let said = message.text.split(": ").nth(1).and_then(|text| text.split(' ').next()).unwrap();
    assert!(percent > 1.0 && (said.parse::<f64>().unwrap() - percent).abs() < 0.15, "{percent}: {message:?}");
}

#[test]
fn the_profile_says_of_the_processes_what_all_have() {
    let dataset = Dataset::new().add(calibrated(of_tree(1, 1)), "1").add(calibrated(of_tree(0, 2)), "1");
    let whole = Chosen::default();
    let read = |dataset: &Dataset, chosen: &Chosen| {
        let (sum, summed) = dataset.sum(chosen).unwrap();
        (ProfileFile::open(&sum, 0, false).unwrap().profile, summed)
    };
    let (profile, summed) = read(&dataset, &whole);
    assert_eq!((profile.start_ms, profile.dropped), (DAY, 0));
    assert_ne!(profile.shutdown_clock, 0);
    assert_eq!(summed.messages, []);
    let has = |key: &str| profile.copies[&1].properties.get(key).map(String::as_str);
    for (key, value) in [
        ("merged.processes", Some("2")),
        ("name", Some("shop")),
        ("record", Some("tree")),
        ("timing", Some("all")),
        ("java.version", Some("17.0.9")),
        ("boundary.1", Some("checkout")),
        ("labels", Some("build=1,service=shop")),
    ] {
        assert_eq!(has(key), value, "{key}");
    }
    // One that still runs, of another build and with another Java.
    let mut running = calibrated(process(5, 0));
    running.recorded(
        "main",
        &ThreadFacts { dropped: 3, ..ThreadFacts::default() },
        &Script::new(1000).record(),
    );
    running.tree("a name of more than ninety-six bytes, which is as much as there is room for in the region of a thread", &tree(1));
    running.property("record", "tree").property("java.version", "25");
    let dataset = dataset.add(running, "2");
    let (profile, summed) = read(&dataset, &whole);
    assert_eq!((profile.shutdown_clock, profile.threads.len(), profile.dropped), (0, 3, 3));
    let texts: Vec<_> = summed.messages.iter().map(|message| message.text.as_str()).collect();
    let [first, second] = texts[..] else { panic!("{texts:?}") };
    assert!(first.starts_with("1 of 3 processes are not whole"), "{first}");
    assert_eq!(second, "1 names of threads are cut to 96 bytes");
    let properties = &profile.copies[&1].properties;
    assert_eq!((properties.get("java.version"), properties["labels"].as_str()), (None, "service=shop"));
    // Days and builds.
    let processes = |chosen: Chosen| dataset.sum(&chosen).map_or(0, |(_, summed)| summed.processes);
    let days = |since: &str, until: &str| {
        processes(Chosen { since: Some(since.into()), until: Some(until.into()), ..Chosen::default() })
    };
    assert_eq!(
        [
            days("2026-11-24", "2026-11-24"),
            days("2026-11-24", "2026-11-25"),
            days("2026-11-25", "2026-11-29"),
            days("2026-11-26", "2026-11-28")
        ],
        [1, 2, 2, 0]
    );
    let build = |build: &str| processes(Chosen { build: Some(build.into()), ..Chosen::default() });
    assert_eq!(["1", "2", "3"].map(build), [2, 1, 0]);
    assert_eq!(processes(Chosen { service: Some("other".into()), ..Chosen::default() }), 0);
}

#[test]
fn processes_that_make_no_sum_are_refused() {
    let mut counts = process(0, 91_000_000);
    counts.property("record", "counts");
    counts.tree("main", &Script::new(1000));
    let dataset = Dataset::new().add(of_tree(0, 1), "1").add(of_samples(1), "2");
    assert!(dataset.error(&Chosen::default()).contains("are samples and those of others are not"));
    assert!(
        dataset
            .error(&Chosen { build: Some("7".into()), ..Chosen::default() })
            .contains("no process of the dataset fits")
    );
    fs::remove_dir_all(dataset.path().join("contexts")).unwrap();
    fs::create_dir(dataset.path().join("contexts")).unwrap();
    let error = dataset.error(&Chosen { build: Some("1".into()), ..Chosen::default() });
    assert!(error.contains("a context of its values is in no table"), "{error}");
}

#[test]
fn of_several_exports_of_a_process_the_fullest_counts() {
    let export = |size: u64| {
        let mut writer = of_tree(0, size);
        writer.word(16, 77);
        writer
    };
    for sizes in [[1, 3], [3, 1], [3, 3]] {
        let dataset =
            Dataset::new().add_all(vec![export(sizes[0]), of_tree(1, 5)], "1").add(export(sizes[1]), "1");
        let (sum, summed) = dataset.sum(&Chosen::default()).unwrap();
        assert_eq!(summed.processes, 2);
        let full = if sizes[0] == 3 { 0 } else { 2 };
        let full = [full, 1].map(|at: usize| dataset.profiles[at].clone());
        assert_eq!(ways(&[sum], &["wall-raw"]), ways(&full, &["wall-raw"]), "{sizes:?}");
    }
}
