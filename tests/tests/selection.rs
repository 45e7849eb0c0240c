//! Methods that are excluded and included while the program runs: `instrument ctl PID exclude|include`, and `--budget`, which excludes by
//! itself. What is still recorded stays exact, and the profile says what is not.
#![cfg(target_os = "linux")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use instrument_tests::agent;
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::Run;
use instrument_tests::resident::{Program, text};
use instrument_tests::subject::{self, entries_of};
use instrument_trace::{Change, Profile};
use serde_json::Value;

/// Longer than anything takes on a busy machine.
const LONG: Duration = Duration::from_secs(300);

/// What `instrument ctl PID` answers as JSON.
fn ask(program: &Program, request: &[&str]) -> Result<Value> {
    let pid = program.pid();
    let words = [&["ctl", pid.as_str(), "--json"], request].concat();
    let output = program.call(&words)?.run_quietly()?;
    serde_json::from_slice(&output.stdout).with_context(|| text(&output.stderr))
}

fn profile(path: &Path) -> Result<Profile> {
    Ok(Profile::parse(&std::fs::read(path)?)?)
}

fn is_balanced(jre: &Jre, record: &str, threads: u32) -> Result<()> {
    let case = format!("Java {}, {record}, {threads} threads", jre.version);
    let mut program = Program::start(jre, &["-Xcheck:jni"], &["Attached", &threads.to_string()], None)?;
    program.attached(&["-o", "a.iprof", "--record", record])?;
    program.run("call 5")?;
    // The loop of this method goes on in its old code.
    program.run("in")?;
    let answer = ask(&program, &["exclude", "Attached.leaf(int)", "Attached$Item"])?;
    assert_eq!((&answer["methods"], &answer["classes"]), (&2.into(), &2.into()), "{case}: {answer}");
    program.run("call 1000")?;
    let again = program.call(&["ctl", &program.pid(), "exclude", "Attached.leaf(int)"])?.output()?;
    ensure!(again.status.code() == Some(1) && text(&again.stderr).contains("no method"), "{again:?}");
    let answer = ask(&program, &["include", "**#leaf"])?;
    assert_eq!(answer["methods"], 1, "{case}: {answer}");
    program.run("call 20")?;
    program.run("out")?;
    program.end()?;
    ensure!(program.stderr().is_empty() || !program.stderr().contains("WARNING in native"), "{case}");
    let methods = program.recorded("a.iprof")?;
    if threads == 0 {
        assert_eq!(entries_of(&methods, "Attached.leaf"), 5 + 20, "{case}: {methods:?}");
        assert_eq!(entries_of(&methods, "Attached$Item.<init>"), 5, "{case}: {methods:?}");
    }
    assert_eq!(entries_of(&methods, "Attached.call"), 3, "{case}: {methods:?}");
    let changes = profile(&program.at("a.iprof"))?.selection_changes;
    let seen: Vec<_> = changes.iter().map(|c| (c.change, c.ids.len(), c.patterns.len())).collect();
    // The second request excluded nothing more, and holds for what is loaded later.
    assert_eq!(
        seen,
        [(Change::Excluded, 2, 2), (Change::Excluded, 0, 1), (Change::Included, 1, 1)],
        "{case}"
    );
    ensure!(changes.is_sorted_by_key(|change| change.clock), "{case}: {changes:?}");
    let report = program.call(&["report", "a.iprof"])?.output()?;
    let said = text(&report.stderr);
    ensure!(
        said.contains("2 methods were excluded while the program ran") && said.contains("Attached.leaf(int)"),
        "{case}: {said}"
    );
    Ok(())
}

#[test]
fn methods_are_excluded_and_included_while_they_run() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        for record in ["counts", "tree", "trace"] {
            is_balanced(&jre, record, 0)?;
        }
        is_balanced(&jre, "tree", 3)?;
    }
    Ok(())
}

#[test]
fn roots_stay_and_classes_that_load_later_obey() -> Result<()> {
    let jre = jre::newest()?;
    let mut program = Program::start(&jre, &[], &["Attached", "0"], None)?;
    program.attached(&["-o", "a.iprof", "--root", "Attached.call(int)"])?;
    program.run("call 2")?;
    let answer = ask(&program, &["exclude", "Attached.**", "Attached$Special"])?;
    assert_eq!(answer["roots"], 1, "{answer}");
    program.run("call 3")?;
    program.run("fail 3")?;
    program.end()?;
    let methods = program.recorded("a.iprof")?;
    assert_eq!(entries_of(&methods, "Attached.call"), 2, "{methods:?}");
    assert_eq!(entries_of(&methods, "Attached.leaf"), 2, "{methods:?}");
    assert_eq!(entries_of(&methods, "Attached$Special"), 0, "{methods:?}");
    // A gate cannot judge a run of which a part is missing.
    let gate = program.call(&["gate", "learn", "a.iprof", "-o", "a.gate"])?.output()?;
    ensure!(
        gate.status.code() == Some(4) && text(&gate.stderr).contains("excluded or included, or roots added"),
        "{gate:?}"
    );
    Ok(())
}

#[test]
fn a_pattern_that_is_none_is_refused() -> Result<()> {
    let program = Program::start(&jre::newest()?, &[], &["Attached", "0"], None)?;
    program.attached(&["-o", "a.iprof"])?;
    for request in ["exclude", "include"] {
        let bad = program.call(&["ctl", &program.pid(), request, "#leaf"])?.output()?;
        ensure!(!bad.status.success() && text(&bad.stderr).contains("there is no class name"), "{bad:?}");
    }
    Ok(())
}

/// A program of nothing but calls of tiny methods, until it reads something.
fn hot(folder: &Path) -> Result<Command> {
    agent::compile(&["TinyCalls.java"], 8, folder)?;
    let mut run = subject::call()?;
    run.current_dir(folder).args(["run", "--name", "hot", "-o", "hot.iprof"]);
    Ok(run)
}

#[test]
fn a_budget_excludes_what_is_short_and_called_often() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut run = hot(folder.path())?;
    run.args(["--budget", "5%", "--", "java", "-cp", ".", "TinyCalls"]);
    let mut child = run.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let path = folder.path().join("hot.iprof");
    let has_excluded = || {
        let changes = profile(&path).map_or_else(|_| Vec::new(), |profile| profile.selection_changes);
        changes.iter().any(|change| change.change == Change::Excluded && !change.ids.is_empty())
    };
    // Until the cost of the probes is known, which takes its time on a busy machine.
    let end = Instant::now() + LONG;
    while !has_excluded() && Instant::now() < end {
        sleep(Duration::from_millis(100));
    }
    // Long enough to look again.
    sleep(Duration::from_secs(4));
    writeln!(child.stdin.take().context("a pipe")?)?;
    let output = child.wait_with_output()?;
    let said = text(&output.stderr);
    ensure!(output.status.success() && said.contains("excluded in one step"), "{said}");
    // What does the work stays.
    let methods = subject::profile(folder.path())?;
    let done: u64 = text(&output.stdout).trim().parse()?;
    assert_eq!(entries_of(&methods, "TinyCalls.round"), done, "{methods:?}");
    ensure!(entries_of(&methods, "TinyCalls.next") < done * 10_000, "{methods:?}");
    ensure!(methods.iter().all(|m| m.unclosed + m.unmatched == 0), "{methods:?}");
    Ok(())
}

#[test]
fn budgets_that_cannot_be_kept_are_refused_before_the_program_starts() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for (options, reason) in [
        (&["--budget", "x"][..], "in percent"),
        (&["--budget", "3%", "--record", "counts"], "--record tree"),
        (&["--budget", "3%", "--ctl", "off"], "--ctl off"),
    ] {
        let mut run = hot(folder.path())?;
        run.args(options).args(["--", "java", "-cp", ".", "TinyCalls"]);
        let output = run.output()?;
        ensure!(output.status.code() == Some(2) && text(&output.stderr).contains(reason), "{output:?}");
        ensure!(!folder.path().join("hot.iprof").exists());
    }
    Ok(())
}
