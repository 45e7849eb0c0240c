//! Waiting and running time of programs that wait in many ways: rewritten jars and the agent on real virtual machines. The programs
//! wait for at least so long, and run so little that no machine is too slow for the bounds.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use instrument_tests::agent;
use instrument_tests::machine::{Jdk, Run, java_source};
use instrument_tests::subject;
use serde_json::Value;
use tempfile::TempDir;

/// ns that each sleep of `Waiting` takes at least, less what its clock may be off by.
const WAIT: f64 = 0.99 * 500e6;

/// A program, its compiled classes, and the virtual machines that it runs on.
struct Program {
    main: &'static str,
    folder: TempDir,
    jdks: Vec<Jdk>,
}

impl Program {
    fn new(main: &'static str, release: u32) -> Result<Program> {
        let folder = tempfile::tempdir()?;
        let source = java_source(&format!("agent/{main}.java"));
        let jdks = [17, 25].map(|version| Jdk::at_least(version.max(release)));
        let mut jdks = jdks.into_iter().flat_map(Result::transpose).collect::<Result<Vec<_>>>()?;
        jdks.dedup_by_key(|jdk| jdk.release().unwrap_or_default());
        if let Some(kit) = jdks.first() {
            let mut javac = kit.tool("javac");
            javac.args(["--release", &release.to_string(), "-d"]).arg(folder.path().join("classes"));
            javac.arg(source).run_quietly()?;
        }
        Ok(Program { main, folder, jdks })
    }

    /// Runs it rewritten, with the options, and gives its profile.
    fn rewritten(&self, jdk: &Jdk, options: &[&str]) -> Result<PathBuf> {
        let output = self.folder.path().join("rewritten");
        if output.exists() {
            fs::remove_dir_all(&output)?;
        }
        subject::rewrite(&self.folder.path().join("classes"), &output, options)?;
        let mut java = jdk.java();
        java.arg("-cp").arg(output);
        self.run(java)
    }

    /// Runs it under the agent.
    fn under_the_agent(&self, jdk: &Jdk, options: &str) -> Result<PathBuf> {
        let mut java = jdk.java();
        java.arg(agent::option(options)?).arg("-cp").arg(self.folder.path().join("classes"));
        self.run(java)
    }

    /// Profiles of all ways to record it.
    fn doors(&self, jdk: &Jdk) -> Result<[(&'static str, PathBuf); 4]> {
        Ok([
            ("rewritten", self.rewritten(jdk, &["--timing", "auto"])?),
            ("rewritten, samples", self.rewritten(jdk, &["--timing", "samples"])?),
            ("agent", self.under_the_agent(jdk, "timing=auto")?),
            ("samples", self.under_the_agent(jdk, "")?),
        ])
    }

    fn run(&self, mut java: Command) -> Result<PathBuf> {
        let folder = tempfile::tempdir_in(self.folder.path())?.keep();
        java.arg(self.main).current_dir(&folder).run_quietly()?;
        let mut files = fs::read_dir(&folder)?.flatten().map(|entry| entry.path());
        files.find(|path| path.extension().is_some_and(|e| e == "iprof")).context("no profile")
    }
}

/// What `instrument report --json` says.
fn report(profile: &Path) -> Result<Value> {
    let output = subject::call()?.args(["report", "--json"]).arg(profile).run_quietly()?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// What `instrument report` says.
fn text(profile: &Path) -> Result<String> {
    Ok(String::from_utf8(subject::call()?.args(["report", "-v"]).arg(profile).run_quietly()?.stdout)?)
}

/// The line of the report about thread time, corrected or as measured.
fn is_thread_time(line: &str) -> bool {
    line.starts_with("thread time ") || line.starts_with("wall-raw ")
}

/// A figure of the whole, or of the base of functions whose names begin so.
fn figure(report: &Value, resource: &str, function: Option<&str>) -> Result<f64> {
    let xprof = &report["xprof"];
    let resources = xprof["resources"].as_array().context("no resources")?;
    // Where the correction is not to be trusted, times are as measured.
    let named = |name: &str| resources.iter().position(|r| r["name"] == *name);
    let index = named(resource).or_else(|| named(&format!("{resource}-raw")));
    let index = index.with_context(|| format!("no {resource} in {resources:?}"))?;
    let number = |value: &Value| value[index].as_f64().context("no figure");
    let Some(function) = function else { return number(&xprof["total"]) };
    let rows = xprof["rows"].as_array().context("no rows")?.iter();
    let rows = rows.filter(|row| row["function"].as_str().is_some_and(|name| name.starts_with(function)));
    rows.map(|row| number(&row["base"])).sum()
}

/// What the running time of functions whose names begin so may be off by.
fn error(report: &Value, function: &str) -> f64 {
    let resources = report["xprof"]["resources"].as_array().into_iter().flatten();
    let index = resources.take_while(|resource| resource["name"] != "running").count();
    let rows = report["xprof"]["rows"].as_array().into_iter().flatten();
    let rows = rows.filter(|row| row["function"].as_str().is_some_and(|name| name.starts_with(function)));
    rows.filter_map(|row| row["base_error"][index].as_f64()).sum()
}

/// The whole is the sum of its parts, and `waiting` at least what the program waits for; it runs for less than it waits.
fn is_separated(report: &Value, least: f64, what: &str) -> Result<()> {
    ensure!(report["balance"]["holds"] == true && report["invariants"]["hold"] == true, "{what}: {report}");
    let [running, waiting] = ["running", "waiting"].map(|name| figure(report, name, None));
    let (running, waiting) = (running?, waiting?);
    // The running time of samples is not what the clock leaves.
    if figure(report, "samples", None).is_err() {
        let wall = figure(report, "wall", None)?;
        ensure!(wall == running + waiting, "{what}: {wall} is not {running} + {waiting}");
    }
    ensure!(waiting >= least, "{what}: {waiting} ns waiting, not {least}");
    ensure!(running < waiting, "{what}: {running} ns running, {waiting} ns waiting");
    Ok(())
}

/// Methods of the program: entries, exits and unwinds.
fn counts(report: &Value) -> Result<BTreeMap<String, [u64; 3]>> {
    let rows = report["methods"].as_array().context("no methods")?.iter();
    let of_program = |row: &&Value| row["name"].as_str().is_some_and(|name| name.starts_with("Waiting"));
    // `Waiting$Taker.join` is a method of the JDK.
    let of_program = rows.filter(of_program).filter(|row| row["name"] != "Waiting$Taker.join()V");
    let count = |row: &Value, key: &str| row[key].as_u64().context("no count");
    let row = |row: &Value| {
        let counts = [count(row, "entries")?, count(row, "exits")?, count(row, "unwinds")?];
        Ok((row["name"].to_string(), counts))
    };
    of_program.map(row).collect()
}

#[test]
fn a_program_that_waits_does_not_run() -> Result<()> {
    let program = Program::new("Waiting", 8)?;
    for jdk in &program.jdks {
        let plain = report(&program.rewritten(jdk, &["--transform", "method-events,thread-links"])?)?;
        for (door, profile) in program.doors(jdk)? {
            let what = format!("{door}, Java {}", jdk.release()?);
            let (report, is_sampled) = (report(&profile)?, door.ends_with("samples"));
            // main sleeps three times and waits once; select and park. When the others begin to wait is up to the machine.
            is_separated(&report, 6.0 * WAIT, &what)?;
            for (call, least) in [
                ("java.lang.Thread.sleep(", 3.0),
                ("java.util.concurrent.BlockingQueue.take(", 0.0),
                ("java.net.ServerSocket.accept(", 0.0),
                ("java.util.concurrent.Future.get(", 0.0),
                ("Waiting$Taker.join(", 0.0),
                ("java.nio.channels.Selector.select(", 1.0),
                ("java.util.concurrent.locks.LockSupport.parkNanos(", 1.0),
                ("java.lang.Object.wait(", 1.0),
            ] {
                let [waiting, running] =
                    ["waiting", "running"].map(|name| figure(&report, name, Some(call)).unwrap_or(-1.0));
                let is_enough = waiting > 0.0 && waiting >= least * WAIT;
                // The kernel works, too, where a thread begins to wait. On a busy machine a row may have one sample of few: its error says so.
                let (most, error) = if is_sampled { (0.1 * WAIT, error(&report, call)) } else { (0.0, 0.0) };
                ensure!(
                    is_enough && running - error <= most,
                    "{what}: {call} {waiting} {running} +- {error}"
                );
            }
            ensure!(figure(&report, "waiting", Some("Waiting.main("))? == 0.0, "{what}: main");
            assert_eq!(counts(&report)?, counts(&plain)?, "{what}: the methods are counted as without waits");
            let text = text(&profile)?;
            for fact in ["elapsed", "thread time", "running", "waiting"] {
                if is_sampled && fact == "thread time" {
                    continue;
                }
                let is_it =
                    |line: &str| line.starts_with(fact) || fact == "thread time" && is_thread_time(line);
                ensure!(text.lines().any(is_it), "{what}: no {fact} in {text}");
            }
            // A machine that is too busy for the calibration has its warning, and an empty line, before the facts.
            let lines: Vec<_> = text.lines().collect();
            let headings = lines.windows(2).filter(|pair| pair[0].is_empty()).map(|pair| pair[1]);
            let heading = headings.into_iter().find(|line| !line.starts_with("program "));
            ensure!(heading.is_some_and(|line| line.starts_with("running")), "{what}: {text}");
        }
    }
    Ok(())
}

#[test]
fn what_was_not_recorded_is_said() -> Result<()> {
    let program = Program::new("Waiting", 8)?;
    let jdk = program.jdks.first().context("no JDK")?;
    let profile = program.rewritten(jdk, &["--transform", "method-events"])?;
    let text = text(&profile)?;
    let line = text.lines().find(|line| is_thread_time(line)).unwrap_or_default();
    ensure!(line.ends_with("waits included: none were recorded"), "{text}");
    ensure!(figure(&report(&profile)?, "running", None).is_err(), "nobody knows what ran");
    Ok(())
}

/// The probe of a synchronized method runs when the lock is taken: the wait for it is its caller's, and known where monitors are recorded.
#[test]
fn the_wait_to_enter_a_synchronized_method_is_waiting_of_its_caller() -> Result<()> {
    let program = Program::new("SynchronizedWait", 8)?;
    for jdk in &program.jdks {
        let what = jdk.release()?;
        let report = report(&program.under_the_agent(jdk, "threads=on")?)?;
        let of = |resource, method| figure(&report, resource, Some(method));
        for resource in ["contended", "waiting"] {
            let found = of(resource, "SynchronizedWait.asks(")?;
            ensure!(found >= WAIT, "{what}: {found} ns {resource}");
        }
        ensure!(of("waiting", "SynchronizedWait.answer(")? == 0.0, "{what}: the callee");
    }
    Ok(())
}

#[test]
fn a_thousand_virtual_threads_wait() -> Result<()> {
    let program = Program::new("VirtualWaiting", 21)?;
    if program.jdks.is_empty() {
        println!("not run: no compiler for virtual threads");
    }
    for jdk in &program.jdks {
        for (door, profile) in program.doors(jdk)? {
            is_separated(&report(&profile)?, 1000.0 * 0.99 * 100e6, &format!("{door}, {}", jdk.release()?))?;
        }
    }
    Ok(())
}

/// With probes in the classes of the JDK that run virtual threads, one that has to wake others could wait for one that nobody wakes.
#[test]
fn programs_go_on_where_the_executors_of_virtual_threads_are_included() -> Result<()> {
    let program = Program::new("VirtualExecutor", 21)?;
    if program.jdks.is_empty() {
        println!("not run: no compiler for virtual threads");
    }
    for jdk in &program.jdks {
        let profile = program.under_the_agent(jdk, "include=java.util.concurrent.**:VirtualExecutor")?;
        let counts =
            subject::call()?.args(["report", "--counts", "--width", "0"]).arg(&profile).run_quietly()?;
        let counts = String::from_utf8(counts.stdout)?;
        let line = counts.lines().find(|line| line.contains("VirtualExecutor.work("));
        let what = jdk.release()?;
        ensure!(line.is_some_and(|line| line.trim().starts_with("12000 ")), "{what}: {counts}");
        ensure!(counts.contains("java.util.concurrent."), "{what}: {counts}");
    }
    Ok(())
}
