//! Methods whose durations are kept from some moment on, while the program runs: `instrument ctl PID latency`.
#![cfg(target_os = "linux")]

use anyhow::{Result, ensure};
use instrument_analysis::latency::{Latency, Worst};
use instrument_analysis::session::ProfileFile;
use instrument_tests::jre;
use instrument_tests::machine::Run;
use instrument_tests::resident::{Program, text};

const LEAF: &str = "Attached.leaf(I)I";
const CALL: &str = "Attached.call(I)V";

/// Calls with a duration, those without one, and those that took longer than the threshold.
fn calls(latency: &Latency, method: &str) -> (u64, u64, Option<u64>) {
    let of = &latency.methods[method];
    (of.ended(), of.unknown, of.over.map(|(_, over)| over))
}

#[test]
fn every_call_after_the_request_has_a_duration_and_no_call_before_it() -> Result<()> {
    for (jre, timing) in jre::each(&jre::all()?, &["samples", "all", "auto"]) {
        let mut program = Program::start(&jre, &[], &["Attached"], None)?;
        program.attached(&["-o", "a.iprof", "--timing", timing])?;
        let pid = program.pid();
        program.run("call 500")?;
        let said = program.call(&["ctl", &pid, "latency", "Attached#leaf:1ns"])?.run_quietly()?;
        let said = text(&said.stdout);
        ensure!(
            said == "1 method fits; durations are recorded from now on of: Attached#leaf (over 1 ns)\n",
            "{said}"
        );
        program.run("call 10")?;
        // A method that calls one whose durations are kept already.
        program.call(&["ctl", &pid, "latency", "Attached#call"])?.run_quietly()?;
        program.run("call 7")?;
        program.run("call 3")?;
        let so_far = program.call(&["latency", &pid, "--csv"])?.run_quietly()?;
        let so_far = text(&so_far.stdout);
        ensure!(so_far.lines().any(|line| line.starts_with("Attached.leaf(I)I,20,0,0,500,")), "{so_far}");
        program.stop()?;

        let files = [ProfileFile::open(&program.at("a.iprof"), 0, false)?];
        let latency = Latency::kept(&files, &|_| true).expect("durations were kept");
        assert_eq!(calls(&latency, LEAF), (20, 500, Some(20)), "{timing}");
        assert_eq!(calls(&latency, CALL), (2, 2, None), "{timing}");
        let worst = Worst::kept(&files, &|_| true)?;
        let did = &worst.iter().find(|of| of.method == CALL).expect("there are two calls").calls;
        let leaves = did.iter().map(|call| {
            ensure!(!call.is_part, "{timing}: {call:?}");
            Ok(call.did.contexts().iter().filter(|of| of.name == LEAF).map(|of| of.calls).sum::<u64>())
        });
        let mut leaves = leaves.collect::<Result<Vec<_>>>()?;
        leaves.sort_unstable();
        assert_eq!(leaves, [3, 7], "{timing}");
        program.end()?;
    }
    Ok(())
}

#[test]
fn what_cannot_be_kept_is_refused_with_its_reason() -> Result<()> {
    let mut program = Program::start(&jre::newest()?, &[], &["Attached"], None)?;
    let pid = program.pid();
    program.attached(&["-o", "a.iprof"])?;
    let refused = |pattern: &str, reason: &str| -> Result<()> {
        let output = program.call(&["ctl", &pid, "latency", pattern])?.output()?;
        let said = text(&output.stderr) + &text(&output.stdout);
        ensure!(output.status.code() == Some(1) && said.contains(reason), "{pattern}: {said}");
        Ok(())
    };
    refused("50ms", "a threshold such as 50ms is more than 0, and follows a pattern")?;
    refused("Attached#gone", "no method that is recorded so far fits; what is loaded later may")?;
    program.stop()?;
    program.attached(&["-o", "b.iprof", "--record", "counts"])?;
    refused("Attached#leaf", "durations are kept by context, which only a tree has")?;
    program.stop()?;
    program.end()
}
