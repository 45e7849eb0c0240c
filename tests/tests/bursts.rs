//! `--burst`: recording is on in the first part of every period, and paused otherwise; profile and reports say so.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use instrument_tests::agent;
use instrument_tests::jre;
use instrument_tests::machine::Run;
use instrument_tests::resident::{Program, text};
use instrument_tests::subject::{self, entries_of};
use instrument_trace::Profile;
use serde_json::Value;

/// Longer than anything takes on a busy machine.
const LONG: Duration = Duration::from_secs(300);

fn status(program: &Program) -> Result<Value> {
    let output = program.call(&["ctl", &program.pid(), "--json", "status"])?.run_quietly()?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The part of the time for which recording was on, and how often it was paused.
fn share(program: &Program, file: &str) -> Result<(f64, usize)> {
    let profile = Profile::open(&File::open(program.at(file))?)?;
    let end = profile.shutdown_clock;
    ensure!(end > profile.start_clock, "{file}: it did not end");
    let length = |end: u64, start: u64| end.saturating_sub(start) as f64;
    let paused: f64 =
        profile.pauses.iter().map(|p| length(if p.end == 0 { end } else { p.end }, p.start)).sum();
    Ok((1.0 - paused / length(end, profile.start_clock), profile.pauses.len()))
}

/// The part of the time for which recording was on between the first pause and the end of the last that ended: how long it takes to attach, and
/// to stop, on a busy machine is no matter of bursts.
fn share_between_pauses(program: &Program, file: &str) -> Result<f64> {
    let profile = Profile::open(&File::open(program.at(file))?)?;
    let ended: Vec<_> = profile.pauses.iter().filter(|pause| pause.end != 0).collect();
    let [first, .., last] = ended[..] else { anyhow::bail!("{file}: {ended:?}") };
    let paused: u64 = ended.iter().map(|pause| pause.end - pause.start).sum();
    Ok(1.0 - paused as f64 / (last.end - first.start) as f64)
}

fn wait_for_pauses(program: &Program, pauses: u64) -> Result<()> {
    let end = Instant::now() + LONG;
    while status(program)?["pauses"].as_u64().context("pauses")? < pauses {
        ensure!(Instant::now() < end, "there were no {pauses} pauses");
        sleep(Duration::from_millis(100));
    }
    Ok(())
}

#[test]
fn recording_is_on_for_its_part_of_the_time_and_reports_say_so() -> Result<()> {
    for jre in jre::turn(jre::ends()?) {
        let mut program = Program::start(&jre, &[], &["Attached", "2"], None)?;
        for record in ["tree", "counts", "trace"] {
            let case = format!("Java {}, {record}", jre.version);
            let file = format!("{record}.iprof");
            program.attached(&["--burst", "100ms/400ms", "--record", record, "-o", &file])?;
            assert_eq!(status(&program)?["burst"], "100ms/400ms", "{case}");
            wait_for_pauses(&program, 6)?;
            program.run("call 100")?;
            program.stop()?;
            let (on, pauses) = share(&program, &file)?;
            ensure!(on > 0.0 && on < 1.0 && pauses >= 6, "{case}: {on} in {pauses}");
            let between = share_between_pauses(&program, &file)?;
            ensure!((0.02..0.6).contains(&between), "{case}: {between} in {pauses}");
            let methods = program.recorded(&file)?;
            ensure!(entries_of(&methods, "Attached.recurse") > 100, "{case}: {methods:?}");

            let report = program.call(&["report", "-v", &file])?.run_quietly()?;
            ensure!(
                text(&report.stderr).contains("recorded in bursts: counts and times are of "),
                "{case}: {report:?}"
            );
            if record == "counts" {
                continue;
            }
            let said = text(&report.stdout);
            let line = said.lines().find(|line| line.starts_with("bursts ")).context(said.clone())?;
            let says = "100ms/400ms: recording was on for ";
            ensure!(line.contains(says) && line.contains("of that"), "{case}: {line}");
            ensure!(said.contains("self-check passed"), "{case}: {said}");
            for command in ["xprof", "xtree"] {
                let output = program.call(&[command, &file])?.run_quietly()?;
                ensure!(
                    text(&output.stderr).contains("recorded in bursts: "),
                    "{case}, {command}: {output:?}"
                );
            }
        }
        // The next one is not in bursts.
        program.attached(&["--record", "counts", "-o", "whole.iprof"])?;
        sleep(Duration::from_millis(500));
        program.stop()?;
        assert_eq!(share(&program, "whole.iprof")?, (1.0, 0));
        program.end()?;
        assert_eq!(program.stderr().matches("instrument: ").count(), 0, "{}", program.stderr());
    }
    Ok(())
}

/// Nothing can be measured in a pause.
#[test]
fn the_cost_of_probes_is_measured_within_a_burst() -> Result<()> {
    let mut program = Program::start(&jre::newest()?, &[], &["Attached", "1"], None)?;
    program.attached(&["--timing", "auto", "--burst", "50ms/500ms", "-o", "tree.iprof"])?;
    let is_known = || -> Result<bool> {
        let profile = Profile::open(&File::open(program.at("tree.iprof"))?)?;
        Ok(profile.calibration().is_some_and(|calibration| calibration.is_sufficient()))
    };
    let end = Instant::now() + LONG;
    while !is_known()? {
        ensure!(Instant::now() < end, "the profile has no calibration");
        sleep(Duration::from_millis(100));
    }
    program.stop()?;
    let report = program.call(&["report", "tree.iprof"])?.run_quietly()?;
    ensure!(!text(&report.stdout).contains("NOT CORRECTED"), "{report:?}");
    program.end()
}

/// A pause that somebody asks for ends when he says so, and not with the next burst.
#[test]
fn a_pause_is_longer_than_that_between_two_bursts() -> Result<()> {
    let option = agent::option("burst=20ms/40ms,record=counts,name=app")?;
    let mut program = Program::start(&jre::newest()?, &[&option], &["Attached", "1"], None)?;
    let pauses = |program: &Program| status(program)?["pauses"].as_u64().context("pauses");
    let ask = |program: &Program, request: &str, answer: &str| {
        let output = program.call(&["ctl", &program.pid(), request])?.run_quietly()?;
        ensure!(text(&output.stdout).starts_with(answer), "{request}: {output:?}");
        Ok(())
    };
    let before = pauses(&program)?;
    sleep(Duration::from_millis(500));
    ensure!(pauses(&program)? > before, "there are bursts");
    ask(&program, "pause", "recording is paused;")?;
    ask(&program, "pause", "recording is already paused;")?;
    let before = pauses(&program)?;
    program.run("call 100000")?;
    sleep(Duration::from_millis(500));
    assert_eq!((pauses(&program)?, &status(&program)?["recording"]), (before, &"paused".into()));
    ask(&program, "resume", "recording is going on;")?;
    sleep(Duration::from_millis(500));
    ensure!(pauses(&program)? > before, "bursts go on");
    let said = program.call(&["ctl", &program.pid(), "status"])?.run_quietly()?;
    ensure!(text(&said.stdout).contains("on: counts, timing samples, in bursts of 20ms/40ms"), "{said:?}");
    program.end()?;
    let methods = program.methods()?;
    ensure!(entries_of(&methods, "Attached.call") == 0, "{methods:?}");
    ensure!(entries_of(&methods, "Attached.recurse") > 10, "{methods:?}");
    Ok(())
}

#[test]
fn bursts_that_cannot_be_are_refused() -> Result<()> {
    for (burst, reason) in [
        ("1s", "is not ON/PERIOD, such as 100ms/1s"),
        ("1s/1s", "less than its period"),
        ("0ms/1s", "at least 1ms"),
    ] {
        let output = subject::call()?.args(["run", "--burst", burst, "--", "java"]).output()?;
        ensure!(
            output.status.code() == Some(2) && text(&output.stderr).contains(reason),
            "{burst}: {output:?}"
        );
    }
    Ok(())
}
