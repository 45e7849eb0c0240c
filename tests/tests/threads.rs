//! Threads: each is recorded once, and those of a pool are one row.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use instrument_tests::agent::{self, Outcome, option, run};
use instrument_tests::corpus::Corpus;
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::{Jdk, Run, java_source};
use instrument_tests::resident::Program;
use instrument_tests::{spring, subject};
use instrument_trace::Profile;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

fn profile(outcome: &Outcome) -> Result<Profile> {
    ensure!(outcome.code == Some(0), "{}", outcome.stderr);
    Ok(Profile::open(&File::open(spring::profile(outcome.folder.path())?)?)?)
}

/// Threads of the JDK's cleaners, and of the common pool since Java 19, forget their thread locals after each task.
#[test]
fn a_thread_that_forgets_its_thread_locals_is_one_thread() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = agent::compile(&["Forgetful.java"], 11, folder.path())?.display().to_string();
    for (jre, record) in jre::each(&jre::all()?, &["tree", "counts", "trace"]) {
        // A machine with one processor has no common pool.
        let words = ["-XX:ActiveProcessorCount=4", &option(&format!("record={record}"))?, "-cp", &path];
        let outcome = run(&jre, &[&words[..], &["Forgetful"]].concat())?;
        let profile = profile(&outcome)?;
        let mut counted = outcome.stdout.split_whitespace().map(str::parse);
        let cleaners = counted.next().context("a number of cleaners")??;
        let workers = counted.next().context("a number of workers")??;
        let recorded = |name: &str| profile.threads.iter().filter(|t| t.name.starts_with(name)).count();
        let found: (usize, usize) = (recorded("Cleaner-"), recorded("ForkJoinPool."));
        ensure!(found == (cleaners, workers), "Java {}, {record}: {found:?}", jre.version);
        let methods = outcome.methods()?;
        assert_eq!((methods["Forgetful.clean"].entries, methods["Forgetful.work"].entries), (50, 300));
    }
    Ok(())
}

/// The threads of the tree: names, and how many each row stands for.
fn rows(folder: &Path, options: &[&str]) -> Result<BTreeMap<String, u64>> {
    let mut command = subject::call()?;
    command.args(["xtree", "--json"]).args(options).arg(spring::profile(folder)?);
    let tree: Value = serde_json::from_slice(&command.run_quietly()?.stdout)?;
    let (mut rows, mut nodes) = (BTreeMap::new(), vec![&tree["tree"]]);
    while let Some(node) = nodes.pop() {
        if node["kind"] == "thread" {
            let name = node["name"].as_str().context("a name")?.to_owned();
            *rows.entry(name).or_default() += node["n"].as_u64().context("a number")?;
        }
        nodes.extend(node["children"].as_array().into_iter().flatten());
    }
    Ok(rows)
}

#[test]
fn pools_are_one_row_unless_threads_are_split() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = agent::compile(&["Pools.java"], 11, folder.path())?.display().to_string();
    for jre in jre::ends()? {
        let outcome = run(&jre, &[&option("record=tree")?, "-cp", &path, "Pools"])?;
        ensure!(outcome.code == Some(0), "{}", outcome.stderr);
        let pooled = rows(outcome.folder.path(), &[])?;
        let expected =
            [("ForkJoinPool-1-worker-*", 8), ("main", 1), ("pool-1-thread-*", 200), ("pool-2-thread-*", 200)];
        let expected = expected.map(|(name, threads)| (name.to_owned(), threads)).into();
        assert_eq!(pooled, expected, "Java {}", jre.version);
        let split = rows(outcome.folder.path(), &["--split", "threads"])?;
        ensure!(
            split.len() > 200 && split.contains_key("pool-2-thread-200"),
            "Java {}: {split:?}",
            jre.version
        );
        let one = rows(outcome.folder.path(), &["--thread", "pool-2-thread-17"])?;
        assert_eq!(one, BTreeMap::from([("pool-2-thread-17".to_owned(), 1)]));
    }
    Ok(())
}

/// Threads that ended are added up by pool when there are more than are kept: no call is lost, and only single threads cannot be told apart.
#[test]
fn ended_threads_are_added_up_by_pool() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = agent::compile(&["Pools.java"], 11, folder.path())?.display().to_string();
    let jre = jre::ends()?.pop().context("a virtual machine")?;
    let run_keeping = |threads: &str| {
        let mut run = subject::call()?;
        let out = tempfile::tempdir()?;
        run.current_dir(out.path())
            .args(["run", "--keep-threads", threads, "--agent"])
            .arg(agent::library()?);
        run.arg("--").arg(jre.home.join("bin/java")).args(["-cp", &path, "Pools", "ended"]).run_quietly()?;
        Ok::<_, anyhow::Error>(out)
    };
    let (few, all) = (run_keeping("4")?, run_keeping("1000")?);
    let pools = ["main", "pool-1-thread-*", "pool-2-thread-*", "pool-3-thread-*"].map(str::to_owned);
    let expected: BTreeMap<_, _> = pools.into_iter().zip([1, 100, 100, 100]).collect();
    assert_eq!(rows(few.path(), &[])?, expected);
    assert_eq!(rows(all.path(), &[])?, expected);
    let sum = |folder: &Path| -> Result<BTreeMap<String, u64>> {
        Ok(subject::profile(folder)?.into_iter().map(|method| (method.name, method.entries)).collect())
    };
    assert_eq!(sum(few.path())?, sum(all.path())?);
    let split = rows(few.path(), &["--split", "threads"])?;
    ensure!(split.len() < 20 && split["pool-1-thread-*"] > 90 && split["pool-3-thread-*"] > 80, "{split:?}");
    assert_eq!(rows(all.path(), &["--split", "threads"])?.len(), 301);
    let report = |folder: &Path| -> Result<String> {
        let text =
            subject::call()?.args(["report", "-v"]).arg(spring::profile(folder)?).run_quietly()?.stdout;
        let text = String::from_utf8(text)?;
        Ok(text.lines().find(|line| line.starts_with("threads ")).context("no threads")?.to_owned())
    };
    let said = report(few.path())?;
    ensure!(said.contains(" 301; ") && said.contains("added up by pool: --keep-threads was 4"), "{said}");
    ensure!(report(all.path())?.ends_with(" 301"));
    Ok(())
}

#[test]
fn a_hundred_thousand_virtual_threads_are_few_rows() -> Result<()> {
    let Some(kit) = Jdk::at_least(21)? else {
        println!("not run: no Java 21");
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let mut javac = kit.tool("javac");
    javac.args(["--release", "21", "-d"]).arg(folder.path()).arg(java_source("agent/Spawner.java"));
    javac.run_quietly()?;
    let jre = Jre { home: kit.home.clone(), version: kit.version };
    let path = folder.path().display().to_string();
    // With one carrier a virtual thread that waited for another one inside the recorder would let all others begin and wait as well.
    let carriers = ["-Djdk.virtualThreadScheduler.parallelism=1", ""];
    for carriers in &carriers[..if Corpus::full() { 2 } else { 1 }] {
        let agent = option("")?;
        let options = [agent.as_str(), *carriers, "-cp", &path, "Spawner", "100000"];
        let options: Vec<&str> = options.into_iter().filter(|option| !option.is_empty()).collect();
        let outcome = run(&jre, &options)?;
        ensure!(outcome.stdout.starts_with("100000 "), "{}", outcome.stderr);
        let rows = rows(outcome.folder.path(), &[])?;
        ensure!(rows.len() <= 3 && rows["main"] == 1, "{rows:?}");
        assert_eq!(rows.values().sum::<u64>(), 100_001, "{rows:?}");
        ensure!(rows.contains_key("(threads started by Spawner.spawn)"), "{rows:?}");
        assert_eq!(outcome.methods()?["Spawner.task"].entries, 100_000);
    }
    Ok(())
}

/// The JDK's thread that lets virtual threads run on makes objects: it must not wait for a lock of the recorder that one of these is to get.
#[test]
fn virtual_threads_go_on_when_a_recording_of_their_heap_begins() -> Result<()> {
    let Some(kit) = Jdk::at_least(24)? else {
        println!("not run: no Java 24");
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let mut javac = kit.tool("javac");
    javac.args(["--release", "21", "-d"]).arg(folder.path()).arg(java_source("agent/Sleepers.java"));
    javac.run_quietly()?;
    let jre = Jre { home: kit.home.clone(), version: kit.version };
    for round in 0..3 {
        let mut program = Program::start_of(folder.path(), &jre, &[], &["Sleepers"], None)?;
        let (pid, (done, is_done)) = (Pid::from_child(&program.child), mpsc::channel::<()>());
        // Where it stands still, it does not even read.
        std::thread::spawn(move || {
            if is_done.recv_timeout(Duration::from_secs(60)) == Err(RecvTimeoutError::Timeout) {
                let _ = kill_process(pid, Signal::KILL);
            }
        });
        program.attached(&["--monitors", "--heap", "counts", "-o", "a.iprof"])?;
        program.run("on").with_context(|| format!("round {round}: it stands still"))?;
        drop(done);
        program.end()?;
        let profile = Profile::open(&File::open(program.at("a.iprof"))?)?;
        ensure!(profile.threads.len() > 1, "round {round}: {} threads", profile.threads.len());
    }
    Ok(())
}
