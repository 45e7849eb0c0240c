//! Threads and what they wait for, on real virtual machines: a program measures its own waits, and the profile agrees.

use instrument_tests::shared;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail, ensure};
use instrument_tests::agent::{self, Outcome, option, run};
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::{Jdk, Run};
use instrument_tests::subject;
use serde_json::Value;

/// The programs, compiled. That of virtual threads only if there is a compiler for it.
fn classes() -> String {
    shared::folder("monitors", |folder| {
        agent::compile(&["Contention.java", "Locks.java"], 8, folder)?;
        if let Some(kit) = Jdk::at_least(21)? {
            let source = instrument_tests::machine::java_source("agent/Virtual.java");
            let mut javac = kit.tool("javac");
            javac.args(["--release", "21", "-d"]).arg(folder).arg(source).run_quietly()?;
        }
        Ok(())
    })
    .display()
    .to_string()
}

fn profile(folder: &Path) -> Result<PathBuf> {
    let mut found = fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    found.find(|path| path.extension().is_some_and(|e| e == "iprof")).context("no profile")
}

/// What `instrument monitors --json` says of the one profile in a folder; its remarks.
fn report(folder: &Path) -> Result<(Value, String)> {
    let output = subject::call()?.args(["monitors", "--json"]).arg(profile(folder)?).run_quietly()?;
    let report: Value = serde_json::from_slice(&output.stdout)?;
    Ok((report["processes"][0].clone(), String::from_utf8_lossy(&output.stderr).into_owned()))
}

/// The figures that a program has printed.
fn said(outcome: &Outcome) -> BTreeMap<&str, u64> {
    let lines = outcome.stdout.lines().filter_map(|line| line.split_once(' '));
    lines.filter_map(|(key, value)| Some((key, value.parse().ok()?))).collect()
}

fn rows<'a>(report: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> {
    report[list].as_array().map(Vec::as_slice).unwrap_or_default().iter()
}

/// The monitors of a class.
fn of_class<'a>(report: &'a Value, class: &'a str) -> Vec<&'a Value> {
    rows(report, "monitors").filter(|row| row["class"] == class).collect()
}

fn named<'a>(report: &'a Value, name: &'a str) -> Vec<&'a Value> {
    rows(report, "threads").filter(|row| row["name"] == name).collect()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// What is measured from outside contains what was recorded, always, if both read the same clock. Whether it is hardly more: 5 %, or a millisecond for each.
fn agrees(recorded: &Value, measured: u64, times: u64, what: &str) -> bool {
    let recorded = number(recorded);
    assert!(recorded <= measured, "{what}: {recorded} of {measured} ns");
    recorded + (measured / 20).max(1_000_000 * times) >= measured
}

/// Runs until the figures agree. A thread that loses its processor between its own reading of the clock and that of the recorder, or
/// while the virtual machine spins before it calls a monitor contended, measures more by chance; not five times.
fn until_it_agrees(what: &str, mut run: impl FnMut() -> Result<bool>) -> Result<()> {
    for _ in 0..5 {
        if run()? {
            return Ok(());
        }
    }
    bail!("{what}: in none of five runs the figures are what the program has measured, with all owners known")
}

#[test]
fn a_program_agrees_on_what_it_waited() -> Result<()> {
    for (jre, record) in jre::each(&jre::all()?, &["tree", "trace", "counts"]) {
        let case = format!("Java {}, {record}", jre.version);
        until_it_agrees(&case, || measure(&jre, record, &case))?;
    }
    Ok(())
}

/// False: all is as it has to be, but the sums differ from what the program has measured.
fn measure(jre: &Jre, record: &str, case: &str) -> Result<bool> {
    let agent = option(&format!("threads=on,owners=all,clock=monotonic,record={record}"))?;
    let outcome = run(jre, &["-Xcheck:jni", &agent, "-cp", &classes(), "Contention", "measure"])?;
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{case}");
    let measured = said(&outcome);
    let (report, remarks) = report(outcome.folder.path())?;
    assert_eq!(remarks, "", "{case}");

    let [lock] = of_class(&report, "Contention$Lock")[..] else { panic!("{case}: {report}") };
    assert_eq!((&lock["contended"]["times"], &lock["waiting"]["times"]), (&5.into(), &0.into()), "{case}");
    let contended = agrees(&lock["contended"]["total"], measured["contended"], 5, case);
    assert_eq!(lock["contended_by"][0]["thread"], "main", "{case}");
    // An owner is asked for while the wait lasts; the answer may come too late, but it is never a wrong one.
    let owners = || rows(lock, "owners");
    ensure!(owners().all(|row| row["thread"] == "holder" || row["thread"] == "(unknown)"), "{case}: {lock}");
    let known: u64 = owners().filter(|r| r["thread"] == "holder").map(|r| number(&r["times"])).sum();

    let [gate] = of_class(&report, "Contention$Gate")[..] else { panic!("{case}: {report}") };
    // Four time out, three are notified, one is interrupted; those without the monitor never waited.
    assert_eq!(measured["illegal"], 8, "{case}");
    let counts = ["times", "timed_out", "open"].map(|key| number(&gate["waiting"][key]));
    assert_eq!(counts, [8, 4, 0], "{case}");
    let all = measured["timedOut"] + measured["notified"] + measured["interrupted"];
    let waited = agrees(&gate["waiting"]["total"], all, 8, case);
    ensure!(
        rows(&report, "monitors")
            .all(|row| { !row["class"].as_str().unwrap_or_default().starts_with("instrument.") }),
        "{case}: {report}"
    );

    let holders = named(&report, "holder");
    assert_eq!(holders.len(), 5, "{case}");
    for thread in holders {
        assert_eq!((&thread["group"], &thread["group_parent"]), (&"inner".into(), &"outer".into()), "{case}");
        assert_eq!((&thread["daemon"], &thread["started_by"]), (&false.into(), &"main".into()), "{case}");
        let life = number(&thread["end"]) - number(&thread["start"]);
        ensure!(life >= 60_000_000, "{case}: {life}");
    }
    let [main] = named(&report, "main")[..] else { panic!("{case}: {report}") };
    assert_eq!((&main["group"], &main["group_parent"]), (&"main".into(), &"system".into()), "{case}");
    ensure!(number(&main["end"]) > 0, "{case}");
    let notifiers = named(&report, "notifier");
    ensure!(notifiers.len() == 3 && notifiers.iter().all(|t| t["daemon"] == true), "{case}");
    ensure!(named(&report, "instrument").is_empty(), "{case}: a thread of the recorder");
    Ok(contended && waited && known == 5)
}

/// Locks, conditions and semaphores of java.util.concurrent, on which threads park.
#[test]
fn locks_of_java_util_concurrent_are_recorded_like_monitors() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        let case = format!("Java {}", jre.version);
        until_it_agrees(&case, || {
            let agent = option("threads=on,clock=monotonic,calibrate=off")?;
            let outcome = run(&jre, &["-Xcheck:jni", &agent, "-cp", &classes(), "Locks"])?;
            assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{case}");
            let measured = said(&outcome);
            let (report, remarks) = report(outcome.folder.path())?;
            assert_eq!(remarks, "", "{case}");
            let locks = of_class(&report, "java.util.concurrent.locks.ReentrantLock$NonfairSync");
            let [lock] = locks[..] else { panic!("{case}: {report}") };
            assert_eq!(lock["contended_by"][0]["thread"], "main", "{case}");
            let [owner] = rows(lock, "owners").collect::<Vec<_>>()[..] else { panic!("{case}: {lock}") };
            assert_eq!((&owner["thread"], &owner["times"]), (&"holder".into(), &5.into()), "{case}: {lock}");
            let contended = agrees(&lock["contended"]["total"], measured["contended"], 5, &case);
            let conditions =
                of_class(&report, "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject");
            let [condition] = conditions[..] else { panic!("{case}: {report}") };
            assert_eq!(
                (&condition["waiting"]["times"], &condition["contended"]["times"]),
                (&2.into(), &0.into())
            );
            let waited = agrees(&condition["waiting"]["total"], measured["waited"], 2, &case);
            let [semaphore] = of_class(&report, "java.util.concurrent.Semaphore$NonfairSync")[..] else {
                panic!("{case}: {report}")
            };
            assert_eq!(
                (&semaphore["waiting"]["times"], &semaphore["contended"]["times"]),
                (&1.into(), &0.into())
            );
            let acquired = agrees(&semaphore["waiting"]["total"], measured["acquired"], 1, &case);
            let own = |row: &&Value| row["class"].as_str().unwrap_or_default().starts_with("instrument.");
            ensure!(rows(&report, "monitors").find(own).is_none(), "{case}: {report}");
            Ok(contended && waited && acquired)
        })?;
    }
    Ok(())
}

/// What objects are recorded says nothing of monitors: each keeps its class.
#[test]
fn monitors_have_their_classes_whatever_objects_are_recorded() -> Result<()> {
    let jre = jre::all()?.pop().context("a virtual machine")?;
    let agent = option("threads=on,heap=counts,heap-include=int[],calibrate=off")?;
    let outcome = run(&jre, &[&agent, "-cp", &classes(), "Contention", "measure"])?;
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    let (report, _) = report(outcome.folder.path())?;
    assert_eq!(of_class(&report, "Contention$Lock").len(), 1, "{report}");
    assert_eq!(of_class(&report, "Contention$Gate").len(), 1, "{report}");
    let nameless: Vec<_> = rows(&report, "monitors")
        .filter(|row| row["class"].as_str().is_none_or(|class| class.starts_with("class #")))
        .collect();
    ensure!(nameless.is_empty(), "{nameless:?}");

    let file = outcome.folder.path().join("trace.xml");
    let mut export = subject::call()?;
    export
        .args(["export", "-f", "xml", "-o"])
        .arg(&file)
        .arg(profile(outcome.folder.path())?)
        .run_quietly()?;
    let text = fs::read_to_string(&file)?;
    let of_monitors =
        || text.lines().filter(|line| line.contains("<monContended") || line.contains("<monWait"));
    ensure!(of_monitors().count() >= 2 * (5 + 8), "{}", of_monitors().count());
    let without: Vec<_> = of_monitors().filter(|line| !line.contains("classIdRef=")).collect();
    ensure!(without.is_empty(), "{without:?}");
    Ok(())
}

#[test]
fn waits_have_contexts() -> Result<()> {
    let jre = jre::all()?.pop().context("a virtual machine")?;
    until_it_agrees("contexts", || {
        let outcome =
            run(&jre, &[&option("threads=on,clock=monotonic")?, "-cp", &classes(), "Contention", "measure"])?;
        let measured = said(&outcome);
        let path = profile(outcome.folder.path())?;
        let mut xtree = subject::call()?;
        let output =
            xtree.args(["xtree", "--json", "-r", "contended,object-wait"]).arg(&path).run_quietly()?;
        let tree: Value = serde_json::from_slice(&output.stdout)?;
        let mut found = BTreeMap::new();
        collect(&tree, &mut Vec::new(), &mut found);
        let main = "main/Contention.main([Ljava/lang/String;)V/Contention.measure()V/";
        let base = |method: &str| {
            let figures = found.iter().find(|(path, _)| path.ends_with(&format!("{main}{method}")));
            figures
                .map(|(_, figures)| *figures)
                .with_context(|| format!("{method} is not in {:?}", found.keys()))
        };
        let [contended, waiting] = base("Contention.enter()J")?;
        let entered = agrees(&(contended as u64).into(), measured["contended"], 5, "contended");
        assert_eq!(waiting, 0.0);
        let [contended, waiting] = base("Contention.pause(J)J/java.lang.Object.wait(J)V")?;
        let all = measured["timedOut"] + measured["notified"] + measured["interrupted"];
        let waited = agrees(&(waiting as u64).into(), all, 8, "waiting");
        assert_eq!(contended, 0.0);
        Ok(entered && waited)
    })?;

    // The same waits are slices of the timelines.
    for record in ["tree", "trace"] {
        let agent = option(&format!("threads=on,record={record}"))?;
        let outcome = run(&jre, &[&agent, "-cp", &classes(), "Contention", "measure"])?;
        let mut export = subject::call()?;
        let output =
            export.args(["export", "-f", "chrome"]).arg(profile(outcome.folder.path())?).run_quietly()?;
        let events: Value = serde_json::from_slice(&output.stdout)?;
        let events = events["traceEvents"].as_array().context("events")?;
        let slices = |name: &str| {
            let is_it =
                |e: &&Value| e["ph"] == "B" && e["name"].as_str().is_some_and(|n| n.starts_with(name));
            events.iter().filter(is_it).count()
        };
        assert_eq!(
            (slices("contended Contention$Lock #"), slices("waiting Contention$Gate #")),
            (5, 8),
            "{record}"
        );
        let phases = |phase: &str| events.iter().filter(|event| event["ph"] == phase).count();
        assert_eq!(phases("B"), phases("E"), "{record}");
    }
    Ok(())
}

/// The base of every context by its path.
fn collect(node: &Value, path: &mut Vec<String>, found: &mut BTreeMap<String, [f64; 2]>) {
    let name = ["function", "name", "consumer"].iter().find_map(|key| node[*key].as_str());
    if let Some(name) = name {
        path.push(name.to_owned());
        if let [contended, waiting] = node["base"].as_array().map(Vec::as_slice).unwrap_or_default() {
            let figures = [contended, waiting].map(|figure| figure.as_f64().unwrap_or_default());
            found.insert(path.join("/"), figures);
        }
    }
    for value in ["children", "roots", "tree", "root", "nodes"] {
        match &node[value] {
            Value::Array(children) => children.iter().for_each(|child| collect(child, path, found)),
            child @ Value::Object(_) => collect(child, path, found),
            _ => {}
        }
    }
    if name.is_some() {
        path.pop();
    }
}

/// A thread that waits, and one that is about to enter, when the process ends in one way or another.
#[test]
fn what_has_not_ended_is_there() -> Result<()> {
    for (jre, how) in jre::each(&jre::all()?, &["killed", "exit"]) {
        let case = format!("Java {}, {how}", jre.version);
        let folder = tempfile::tempdir()?;
        let mut child = jre
            .java()
            .current_dir(folder.path())
            .args([&option("threads=on,owners=all")?, "-cp", &classes(), "Contention", how])
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("a pipe")?).read_line(&mut line)?;
        assert_eq!(line, "ready\n", "{case}");
        if how == "killed" {
            child.kill()?;
        }
        child.wait()?;
        let (report, _) = report(folder.path())?;
        for (class, kind, thread) in
            [("Contention$Lock", "contended", "entering"), ("Contention$Gate", "waiting", "waiting")]
        {
            let [monitor] = of_class(&report, class)[..] else { panic!("{case}: {report}") };
            let sum = &monitor[kind];
            assert_eq!([&sum["times"], &sum["open"]], [1, 1], "{case}");
            let [thread] = named(&report, thread)[..] else { panic!("{case}: {report}") };
            // It may have met others on its way, for a moment.
            let of_thread = &thread[kind];
            assert_eq!([&of_thread["open"], &of_thread["max"]], [&sum["open"], &sum["max"]], "{case}");
            assert_eq!(thread["end"], Value::Null, "{case}");
            ensure!(how == "killed" || number(&sum["total"]) >= 100_000_000, "{case}: {sum}");
        }
        assert_eq!(of_class(&report, "Contention$Lock")[0]["owners"][0]["thread"], "main", "{case}");
    }
    Ok(())
}

#[test]
fn ten_thousand_threads_wait() -> Result<()> {
    let jre = jre::all()?.remove(0);
    let outcome = run(&jre, &[&option("threads=on")?, "-cp", &classes(), "Contention", "10000"])?;
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{}", outcome.stdout);
    let (report, remarks) = report(outcome.folder.path())?;
    assert_eq!(remarks, "");
    let [gate] = of_class(&report, "Contention$Gate")[..] else { panic!("one gate") };
    assert_eq!([&gate["waiting"]["times"], &gate["waiting"]["open"]], [10_000, 0]);
    assert_eq!(gate["waited_by"][0]["threads"], 10_000);
    let threads = named(&report, "one");
    assert_eq!(threads.len(), 10_000);
    ensure!(threads.iter().all(|thread| thread["waiting"]["times"] == 1 && number(&thread["end"]) > 0));
    Ok(())
}

/// What there is no room for is counted and said, and the program does not notice.
#[test]
fn a_full_file_is_said() -> Result<()> {
    let jre = jre::all()?.remove(0);
    let agent = option("threads=on,limit=300k,record=counts")?;
    let outcome = run(&jre, &[&agent, "-cp", &classes(), "Contention", "2000"])?;
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), "done\n"), "{}", outcome.stderr);
    ensure!(outcome.stderr.contains("is incomplete from here on: the limit of"), "{}", outcome.stderr);
    let (report, remarks) = report(outcome.folder.path())?;
    ensure!(remarks.contains("events were dropped"), "{remarks}");
    ensure!(rows(&report, "threads").count() > 10, "{report}");
    Ok(())
}

#[test]
fn virtual_threads_wait() -> Result<()> {
    if Jdk::at_least(21)?.is_none() {
        println!("not run: no compiler for virtual threads");
        return Ok(());
    }
    for jre in jre::all()?.into_iter().filter(|jre| jre.version >= 21) {
        let case = format!("Java {}", jre.version);
        until_it_agrees(&case, || {
            let agent = option("threads=on,owners=all,clock=monotonic")?;
            let outcome = run(&jre, &["-Xcheck:jni", &agent, "-cp", &classes(), "Virtual"])?;
            assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{case}");
            let measured = said(&outcome);
            let (report, _) = report(outcome.folder.path())?;
            let [lock] = of_class(&report, "Virtual$Lock")[..] else { panic!("{case}: {report}") };
            assert_eq!(lock["contended"]["times"], 3, "{case}");
            let entered = agrees(&lock["contended"]["total"], measured["contended"], 3, &case);
            assert_eq!(lock["contended_by"][0]["thread"], "virtual", "{case}");
            let [gate] = of_class(&report, "Virtual$Gate")[..] else { panic!("{case}: {report}") };
            assert_eq!([&gate["waiting"]["times"], &gate["waiting"]["timed_out"]], [3, 3], "{case}");
            let waited = agrees(&gate["waiting"]["total"], measured["waited"], 3, &case);
            // Of the thousands of others only those are there that waited for something themselves.
            let mut all = rows(&report, "threads").filter(|thread| thread["virtual"] == true);
            ensure!(
                all.all(|t| number(&t["contended"]["times"]) + number(&t["waiting"]["times"]) > 0),
                "{case}: {report}"
            );
            assert_eq!(named(&report, "virtual").len(), 3, "{case}");
            Ok(entered && waited)
        })?;
    }
    Ok(())
}

#[test]
fn without_the_option_nothing_is_recorded_and_that_is_said() -> Result<()> {
    let jre = jre::all()?.remove(0);
    let outcome = run(&jre, &[&option("")?, "-cp", &classes(), "Contention", "10"])?;
    let output = subject::call()?.arg("monitors").arg(profile(outcome.folder.path())?).capture()?;
    assert_eq!(output.status.code(), Some(2));
    ensure!(String::from_utf8_lossy(&output.stderr).contains("threads were not recorded"), "{output:?}");
    Ok(())
}
