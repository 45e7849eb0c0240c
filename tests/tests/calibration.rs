//! What the recorder finds that its probes cost: whatever is recorded and however busy the machine is, the figures come from
//! enough rounds and fit the program's own calls, or the profile says that they are insufficient.

use std::fs::File;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::runtime_support::{Jvm, Run, for_each_clock, jvms};
use anyhow::{Result, ensure};
use instrument_tests::agent::{self, finish};
use instrument_tests::jre::{self, BOTH_COMPILERS};
use instrument_tests::machine::{Jdk, LONGEST_RUN, Run as _};
use instrument_tests::resident;
use instrument_tests::subject;
use instrument_trace::{Calibration, Profile};

const CALLS: u64 = 200_000;

fn tiny(jvm: &Jvm, how: &str, flags: &[&str]) -> Profile {
    let flags = [&["-Dinstrument.timing=all", BOTH_COMPILERS], flags].concat();
    Run::new(jvm, &["tiny", &CALLS.to_string(), how]).class("Modes").jvm_args(&flags).ok().profile()
}

/// The calibration, which must say so if it is insufficient, and must not take more out of the program than there is: method 1 does
/// nothing but call method 2, which does nothing.
fn judged(profile: &Profile) -> Calibration {
    let calibration = profile.calibration().unwrap();
    let (rounds, least) = (calibration.rounds.unwrap(), calibration.least_rounds.unwrap());
    assert!(least >= 20, "{calibration:?}");
    assert_eq!(calibration.is_sufficient(), rounds >= least);
    let tree = profile.threads[0].tree.as_ref().filter(|tree| !tree.sampled);
    if let (true, Some(tree)) = (calibration.is_sufficient(), tree) {
        let outer = tree.nodes.iter().find(|n| n.entries == 1 && n.ns > 0).unwrap();
        let taken_out = (calibration.inner + calibration.outer) * CALLS as f64;
        assert!(taken_out < 1.3 * outer.ns as f64, "{} ns: {calibration:?}", outer.ns);
    }
    calibration
}

/// What is measured, from rounds enough. Where other programs keep the compiler from its work for long, one measurement can have too few,
/// and says so: five in a row have not.
fn sufficient(what: &str, measured: impl Fn() -> Calibration) -> Calibration {
    let mut all = Vec::new();
    for _ in 0..5 {
        let calibration = measured();
        if calibration.is_sufficient() {
            return calibration;
        }
        all.push(calibration);
    }
    panic!("{what}: {all:?}")
}

fn for_each_timed(test: impl Fn(&Jvm)) {
    for_each_clock(|jvm| {
        if jvm.record != Some("counts") {
            test(jvm);
        }
    });
}

/// Time enough for the compiler on any machine.
const PATIENT: &str = "-Dinstrument.calibrate=800";

#[test]
fn roots_pauses_samples_and_short_runs_have_rounds_enough() {
    for_each_timed(|jvm| {
        for (how, flag) in [("root", PATIENT), ("paused", PATIENT), ("all", PATIENT)] {
            let calibration = sufficient(how, || judged(&tiny(jvm, how, &[flag])));
            let cost = |phase: instrument_trace::Phase| phase.inner + phase.outer;
            assert!(calibration.end.is_some_and(|end| cost(end) > 1.0), "{calibration:?}");
            assert!(calibration.start.is_none(), "the first one comes after 5 s");
        }
        if jvm.record == Some("tree") {
            let flags = ["-Dinstrument.timing=every:64", PATIENT];
            sufficient("sampled", || judged(&tiny(jvm, "root", &flags)));
        }
    });
}

/// In 1 ms few calls can be interpreted.
#[test]
fn figures_from_too_few_rounds_are_marked() {
    for_each_timed(|jvm| {
        let flags = ["-Dinstrument.calibrate=1", "-Xint"];
        let profile = Run::new(jvm, &["calls"]).jvm_args(&flags).ok().profile();
        if let Some(calibration) = profile.calibration() {
            assert!(!calibration.is_sufficient() && calibration.rounds.is_some(), "{calibration:?}");
        }
        // On a busy machine not one round may end.
        let compiled = tiny(jvm, "root", &["-Dinstrument.calibrate=1"]);
        if compiled.calibration().is_some() {
            judged(&compiled);
        }
    });
}

#[test]
fn a_loaded_machine_changes_nothing() {
    let over = Arc::new(AtomicBool::new(false));
    let mut loops = Vec::new();
    for _ in 0..2 * std::thread::available_parallelism().unwrap().get() {
        let over = Arc::clone(&over);
        loops.push(std::thread::spawn(move || while !over.load(Ordering::Relaxed) {}));
    }
    for jvm in jvms() {
        judged(&tiny(&jvm.recording("tree"), "root", &[]));
        judged(&tiny(&jvm.recording("tree").under_the_agent(), "all", &[]));
    }
    over.store(true, Ordering::Relaxed);
    for one in loops {
        one.join().unwrap();
    }
}

#[test]
fn the_cost_in_cpu_time_is_measured_if_that_is_recorded() {
    for_each_timed(|jvm| {
        if jvm.record == Some("tree") {
            let calibration = judged(&tiny(jvm, "all", &["-Dinstrument.cpu=true", PATIENT]));
            let cpu = calibration.cpu.unwrap();
            // Both clocks are read twice in a pair, and the two readings of one have the other's between them or not.
            assert!(cpu.inner > 0.0 && cpu.outer > 0.0, "{calibration:?}");
            let pair = calibration.inner + calibration.outer;
            assert!(
                (cpu.inner + cpu.outer - pair).abs() < 0.1 && cpu.inner > calibration.inner,
                "{calibration:?}"
            );
            assert_eq!(judged(&tiny(jvm, "all", &[])).cpu, None);
        }
    });
}

/// 100 calls of a method that calls a tiny one 2,000 times, the caller being the root: as it loads, and as a rewritten class.
#[test]
fn a_root_has_a_time() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = agent::compile(&["Tiny.java"], 8, folder.path())?;
    let jdk = Jdk::default_kit()?;
    let output = tempfile::tempdir()?;
    let library = agent::library()?;
    judged_root("the agent", || {
        let profile = output.path().join("run.iprof");
        let mut command = subject::call()?;
        command
            .args(["run", "--timing", "auto", "--root", "Tiny#outer", "--out"])
            .arg(&profile)
            .arg("--agent")
            .arg(&library);
        command.arg("--").arg(jdk.home.join("bin/java")).args([PATIENT, "-cp"]).arg(&path).arg("Tiny");
        succeeds(command)?;
        Ok(std::fs::read(&profile)?)
    });

    let rewritten = output.path().join("rewritten");
    let mut command = subject::call()?;
    command.arg(&path).args(["--root", "Tiny#outer", "-o"]).arg(&rewritten);
    succeeds(command)?;
    judged_root("rewritten", || {
        let profile = output.path().join("rewritten.iprof");
        let mut command = Command::new(jdk.home.join("bin/java"));
        command
            .arg(format!("-Dinstrument.out={}", profile.display()))
            .args([PATIENT, "-cp"])
            .arg(&rewritten)
            .arg("Tiny");
        succeeds(command)?;
        Ok(std::fs::read(&profile)?)
    });
    Ok(())
}

fn succeeds(command: Command) -> Result<()> {
    let outcome = finish(command)?;
    ensure!(outcome.code == Some(0), "{}", outcome.stderr);
    Ok(())
}

/// The cost is measured while the program runs, too: the times of a rewritten program that is killed are corrected.
#[test]
fn a_program_that_is_killed_was_calibrated_before() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let rewritten = folder.path().join("rewritten");
    subject::rewrite::<&str>(&resident::classes(), &rewritten, &[])?;
    let (jre, flags) = (jre::newest()?, ["-Dinstrument.out=killed.iprof"]);
    let mut program = resident::Program::start_of(&rewritten, &jre, &flags, &["Attached", "1"], None)?;
    let end = Instant::now() + LONGEST_RUN;
    let calibration = loop {
        let profile = Profile::open(&File::open(program.at("killed.iprof"))?)?;
        if let Some(calibration) = profile.calibration().filter(Calibration::is_sufficient) {
            break calibration;
        }
        ensure!(Instant::now() < end, "the profile has no calibration");
        sleep(Duration::from_millis(100));
    };
    ensure!(calibration.start.is_some() && calibration.end.is_none(), "{calibration:?}");
    program.child.kill()?;
    program.child.wait()?;
    let report = program.call(&["report", "killed.iprof"])?.run_quietly()?;
    ensure!(!String::from_utf8_lossy(&report.stdout).contains("NOT CORRECTED"), "{report:?}");
    Ok(())
}

fn judged_root(what: &str, run: impl Fn() -> Result<Vec<u8>>) {
    sufficient(what, || {
        let profile = Profile::parse(&run().unwrap()).unwrap();
        let calibration = profile.calibration().unwrap();
        let nodes = &profile.threads[0].tree.as_ref().unwrap().nodes;
        let [outer, tiny] = &nodes[..] else { panic!("{nodes:?}") };
        assert_eq!((outer.entries, tiny.entries), (100, CALLS));
        // The program's own calls are 1.5 ns each: what is taken out must be near to what was measured, not a multiple.
        let taken_out = CALLS as f64 * (calibration.inner + calibration.outer);
        assert!(
            !calibration.is_sufficient() || taken_out < 1.3 * outer.ns as f64,
            "{outer:?}: {calibration:?}"
        );
        calibration
    });
}
