//! The counts of one run with the times of another one.

use std::path::{Path, PathBuf};

use instrument_analysis::report::{Format, Options, stats};
use instrument_analysis::session::{Request, Session};
use instrument_analysis::twice::{Account, Error, Runs, combine, pairs};
use instrument_names::id_map::gz;
use instrument_testing::{Script, Writer};
use instrument_trace::{Method, Profile, Thread, ThreadSamples};

use crate::common::models::contexts;

const MS: u64 = 1_000_000;
/// Of the recorded run: `sleep` is of calls that recorded methods make.
const RECORDED: &str = "instrument ids 1\nclass a/Shop Shop.java\n1 main ()V 9 1 0000000000000000\n\
    2 work ()V 1 2 0000000000000000\n3 rare ()V 1 4 0000000000000000\nclass java/lang/Thread -\n9 sleep (J)V 0 30000 0000000000000000\n";
/// Of the stacks: others, in another order.
const STACKS: &str = "instrument ids 1\nclass java/util/List -\n1 sort ()V 0 1 0000000000000000\nclass a/Shop -\n\
    2 work ()V 0 1 0000000000000000\n3 lambda ()V 0 1 0000000000000000\n4 main ()V 0 9 0000000000000000\n5 rare ()V 0 1 0000000000000000\n\
    class java/lang/Thread -\n6 sleep (J)V 0 1 0000000000000000\nclass (stacks) -\n7 (walk\\u0020failed) ()V 0 0 0000000000000000\n";

fn of_thread(cpu_ms: u64, in_probes: u64, in_no_call: u64) -> ThreadSamples {
    ThreadSamples { period_ns: MS, cpu_ns: cpu_ms * MS, in_probes, in_no_call, ..ThreadSamples::default() }
}

/// 50 ms in the program, 50 in probes; rare was called, and no sample met it.
fn recorded(dir: &Path) -> PathBuf {
    let mut writer = Writer::new();
    writer.in_pieces(2).id_map(&gz::compress(RECORDED.as_bytes()));
    let script = Script::new(1000).enter(1).times(10, |s| s.call(2, |s| s.samples(5)));
    let script = script.call(3, |s| s).call(9, |s| s.wait(40 * MS)).exit(1);
    writer.samples("main", &script, &[9], &of_thread(100, 50, 0));
    writer.property("command", "shop.jar").property("record", "tree").property("timing", "samples");
    written(dir, "counts.iprof", writer)
}

/// main, 20 samples in it of its own and 4 in a `sleep` that it calls; work through `List.sort` and a lambda; and a `sleep` of the library's own.
fn sampled(dir: &Path, work: u64) -> PathBuf {
    let mut writer = Writer::new();
    writer.in_pieces(2).id_map(&gz::compress(STACKS.as_bytes()));
    let sorted = |s: Script| s.call(3, |s| s.call(2, |s| s.samples(work).call(2, |s| s.samples(1))));
    let script = Script::new(1000).enter(4).samples(20).call(6, |s| s.samples(4));
    let script = script.call(1, |s| sorted(s).call(6, |s| s.samples(2))).exit(4).call(7, |s| s.samples(3));
    writer.samples("main", &script, &[], &of_thread(work + 30 + 5, 0, 5));
    writer.samples("GC Thread#*", &Script::new(1000), &[], &of_thread(7, 0, 7));
    writer.property("command", "shop.jar").property("record", "samples");
    written(dir, "stacks.iprof", writer)
}

fn of_two(counts: &Path, stacks: PathBuf) -> Result<Account, Error> {
    combine(counts, &stacks, Runs::Two)
}

fn written(dir: &Path, name: &str, writer: Writer) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, writer.finish()).unwrap();
    path
}

#[test]
fn a_profile_has_the_counts_of_one_run_and_the_times_of_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let counts = recorded(dir.path());
    let before = Profile::parse(&std::fs::read(&counts).unwrap()).unwrap();
    let account = of_two(&counts, sampled(dir.path(), 30)).unwrap();
    assert_eq!((account.bare_ns, account.outside_ns, account.probes_ns), (65 * MS, 50 * MS, 50 * MS));
    // work by work, and the walk that failed; rare.
    assert_eq!(account.contexts, [3, 2, 1]);

    let session = Session::read(&Request { files: vec![counts.clone()], ..Request::default() }).unwrap();
    let read = Account::read(&session.profiles[0].profile).unwrap();
    assert_eq!((read.bare_ns, read.contexts, read.is_alike()), (65 * MS, [3, 2, 1], false));
    let of = |resource: &str| contexts(&session.model, resource);
    let (running, waiting, probes) = (of("running"), of("waiting"), of("probes"));
    let find = |figures: &std::collections::BTreeMap<String, (u64, f64)>, end: &str| {
        let found: Vec<_> =
            figures.iter().filter(|(path, _)| path.ends_with(end)).map(|(_, of)| *of).collect();
        assert_eq!(found.len(), 1, "{end}: {figures:?}");
        found[0]
    };
    let ms = |n: u64| (n * MS) as f64;
    // What the library and the lambda took is main's, but for what they called; calls are those of the recorded run.
    assert_eq!(find(&running, "main a.Shop.main()V"), (1, ms(20 + 2)));
    assert_eq!(find(&running, "main a.Shop.main()V a.Shop.work()V"), (10, ms(30)));
    assert_eq!(find(&running, "work()V a.Shop.work()V"), (0, ms(1)));
    assert_eq!(find(&running, "main()V a.Shop.rare()V"), (1, 0.0));
    assert_eq!(find(&running, "main()V java.lang.Thread.sleep(J)V"), (1, ms(4)));
    assert_eq!(find(&waiting, "main()V java.lang.Thread.sleep(J)V").1, ms(40));
    assert_eq!(find(&running, "(stacks).(walk failed)()V").1, ms(3));
    assert_eq!(find(&running, " GC Thread#*").1, ms(7));
    assert_eq!(find(&running, " main"), (1, ms(5)));
    assert_eq!(find(&probes, " main").1, ms(50));
    let after = &session.profiles[0].profile;
    let counts = |thread: &Thread| -> Vec<_> {
        thread.methods.iter().map(|(id, of)| (*id, Method { samples: 0, ..*of })).collect()
    };
    assert_eq!(counts(&after.threads[0]), counts(&before.threads[0]), "no count has changed");
    assert!(after.damage.is_empty() && !after.is_cut);
}

/// What was open when the recording began is in no recorded context.
#[test]
fn calls_that_the_recording_did_not_see_begin_are_left_out_of_paths() {
    let dir = tempfile::tempdir().unwrap();
    for (runs, of_work) in [(Runs::PartsOfOne, "main a.Shop.work()V"), (Runs::Two, "main()V a.Shop.work()V")]
    {
        let mut writer = Writer::new();
        writer.in_pieces(2).id_map(&gz::compress(RECORDED.as_bytes()));
        let script = Script::new(1000).times(10, |s| s.call(2, |s| s.samples(5).call(3, |s| s)));
        writer.samples("main", &script, &[], &of_thread(50, 0, 0));
        writer.property("command", "shop.jar");
        let counts = written(dir.path(), "counts.iprof", writer);
        let mut writer = Writer::new();
        writer.in_pieces(2).id_map(&gz::compress(STACKS.as_bytes()));
        // main calls itself, work, and what calls rare.
        let inner =
            |s: Script| s.call(2, |s| s.samples(30).call(5, |s| s.samples(6).call(2, |s| s.samples(1))));
        let script = Script::new(1000).enter(4).samples(4).call(4, inner).exit(4);
        writer.samples("main", &script, &[], &of_thread(41, 0, 0));
        writer.property("command", "shop.jar").property("record", "samples");
        let stacks = written(dir.path(), "stacks.iprof", writer);
        let account = combine(&counts, &stacks, runs).unwrap();
        let session = Session::read(&Request { files: vec![counts], ..Request::default() }).unwrap();
        let running = contexts(&session.model, "running");
        let of = |end: &str| running.iter().find(|(path, _)| path.ends_with(end)).map(|(_, of)| *of);
        let ms = |n: u64| (n * MS) as f64;
        let is_part = runs == Runs::PartsOfOne;
        assert_eq!(Account::read(&session.profiles[0].profile).unwrap().are_parts, is_part);
        let calls = if is_part { 10 } else { 0 };
        assert_eq!(of(of_work), Some((calls, ms(30))), "{running:?}");
        assert_eq!(of("work()V a.Shop.rare()V").map(|(_, ns)| ns), Some(ms(6)), "{running:?}");
        assert_eq!(of("rare()V a.Shop.work()V"), Some((0, ms(1))), "{running:?}");
        // What it took itself is its own.
        assert_eq!(of("main a.Shop.main()V"), Some((0, ms(4))), "{running:?}");
        assert_eq!(of("main()V a.Shop.main()V").is_some(), !is_part, "{running:?}");
        assert_eq!(account.contexts, if is_part { [2, 2, 0] } else { [0, 5, 2] });
    }
}

#[test]
fn times_are_not_divided_by_calls_of_other_work() {
    let dir = tempfile::tempdir().unwrap();
    for (work, is_alike) in [(4, false), (15, true), (35, false)] {
        let counts = recorded(dir.path());
        let account = of_two(&counts, sampled(dir.path(), work)).unwrap();
        assert_eq!(account.is_alike(), is_alike, "{account:?}");
        let session = Session::read(&Request { files: vec![counts], ..Request::default() }).unwrap();
        let mut csv = Vec::new();
        let options = Options { format: Format::Csv, ..Options::default() };
        stats::write(&mut csv, &session.model, &session.calls, &options).unwrap();
        let csv = String::from_utf8(csv).unwrap();
        let column = csv.lines().next().unwrap().split(',').position(|name| name == "average").unwrap();
        let row = csv.lines().find(|line| line.starts_with("a.Shop.work()")).unwrap();
        assert_eq!(row.split(',').nth(column).unwrap().is_empty(), !is_alike, "{csv}");
    }
}

#[test]
fn a_profile_that_has_no_samples_stays_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let stacks = sampled(dir.path(), 30);
    let mut writer = Writer::new();
    writer.tree("main", &Script::new(1000).call(1, |s| s.wait(10)));
    let timed = written(dir.path(), "timed.iprof", writer);
    let before = std::fs::read(&timed).unwrap();
    let error = of_two(&timed, stacks.clone()).unwrap_err().to_string();
    assert!(error.contains("timed.iprof: its times are no samples"), "{error}");
    let error = of_two(&stacks, timed.clone()).unwrap_err().to_string();
    assert!(error.contains("timed.iprof: no stack was sampled"), "{error}");
    assert_eq!(std::fs::read(&timed).unwrap(), before);
}

/// Which would have been recorded, had it been loaded.
#[test]
fn a_class_that_only_the_first_run_loaded_has_rows() {
    const LATE: &str = "instrument ids 1\nclass a/Shop -\n1 main ()V 0 9 0000000000000000\n\
        class a/Late -\n2 run ()V 0 1 0000000000000000\n3 call ()V 0 101 0000000000000000\n\
        class java/util/List -\n4 sort ()V 0 1 0000000000000000\nclass a/Shop$$Lambda -\n5 run ()V 0 1 0000000000000000\n";
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::new();
    writer.in_pieces(2).id_map(&gz::compress(LATE.as_bytes()));
    let inner = |s: Script| s.samples(7).call(4, |s| s.samples(3)).call(3, |s| s.samples(2));
    let script = Script::new(1000).enter(1).samples(20).call(5, |s| s.samples(1).call(2, inner)).exit(1);
    writer.samples("main", &script, &[], &of_thread(33, 0, 0));
    writer.property("command", "shop.jar").property("record", "samples");
    let stacks = written(dir.path(), "late.iprof", writer);
    for (selection, of_main, of_run) in [
        ("transform=method-events", 21, Some(12)),
        ("transform=method-events include=a.**", 21, Some(12)),
        ("transform=method-events include=**", 21, Some(12)),
        ("transform=method-events no-rewrite=a.Late", 33, None),
        ("transform=method-events include=a.Shop", 33, None),
        ("transform=method-events exclude=a.Late%23run", 33, None),
        ("transform=method-events subclasses-of=a.Shop", 33, None),
    ] {
        let mut writer = Writer::new();
        writer.in_pieces(2).id_map(&gz::compress(RECORDED.as_bytes()));
        let script = Script::new(1000).call(1, |s| s.samples(20));
        writer.samples("main", &script, &[], &of_thread(20, 0, 0));
        writer.property("command", "shop.jar").property("selection", selection);
        let counts = written(dir.path(), "counts.iprof", writer);
        of_two(&counts, stacks.clone()).unwrap();
        let session = Session::read(&Request { files: vec![counts], ..Request::default() }).unwrap();
        let running = contexts(&session.model, "running");
        let find =
            |end: &str| running.iter().find(|(path, _)| path.ends_with(end)).map(|(_, of)| of.1 as u64 / MS);
        let found = (find(" a.Shop.main()V"), find(" a.Late.run()V"), find(" a.Late.call()V"));
        assert_eq!(found, (Some(of_main), of_run, None), "{selection}: {running:?}");
    }
}

#[test]
fn processes_of_two_runs_are_paired_by_their_commands() {
    let dir = tempfile::tempdir().unwrap();
    let of = |name: &str, command: &str| {
        let mut writer = Writer::new();
        writer.property("command", command);
        written(dir.path(), name, writer)
    };
    let (a, b, c) = (of("1.iprof", "a.jar"), of("2.iprof", "b.jar"), of("3.iprof", "a.jar"));
    let (x, y) = (of("4.iprof", "b.jar"), of("5.iprof", "a.jar"));
    let found = pairs(&[x.clone(), y.clone()], &[a.clone(), b.clone(), c.clone()]);
    assert_eq!(found.0, [(a, Some(y)), (b, Some(x)), (c, None)]);
    // The tests of a module have another command in each build.
    let of_tests = |name: &str, module: &str, time: u32| {
        let folder = format!("/src/{module}/target/surefire");
        of(name, &format!("{folder}/surefirebooter-{time}.jar {folder} {time}-jvmRun1"))
    };
    let (shop, core) = (of_tests("6.iprof", "shop", 1), of_tests("7.iprof", "core", 2));
    let (later_core, later_shop) = (of_tests("8.iprof", "core", 3), of_tests("9.iprof", "shop", 4));
    let found = pairs(&[shop.clone(), core.clone()], &[later_core.clone(), later_shop.clone()]);
    assert_eq!(found.0, [(later_core, Some(core)), (later_shop, Some(shop))]);
    // One that cannot be read is named.
    let broken = dir.path().join("broken.iprof");
    std::fs::write(&broken, "no profile").unwrap();
    let (found, errors) = pairs(&[], &[broken, dir.path().join("gone.iprof")]);
    let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
    assert_eq!((found, errors.len()), (Vec::new(), 2));
    assert!(errors[0].contains("broken.iprof") && errors[1].contains("gone.iprof"), "{errors:?}");
}
