//! Times from samples in rewritten programs that run without the agent: a thread of the recorder looks at the others.

use crate::samples::{agrees_within, class_path, profile, samples, weight};
use anyhow::{Context, Result, ensure};
use instrument_tests::agent::{self, Outcome};
use instrument_tests::jre::{self, BOTH_COMPILERS, Jre};
use instrument_tests::{shared, subject};
use instrument_trace::SampleSource;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Looks that come late meet the same place: so many samples are as good as one where the machine has nothing else to do.
const ALIKE: f64 = 4.0;
/// ns of CPU time between two looks, as asked for.
const PERIOD: f64 = 1e6;

/// `Phases`, rewritten.
fn rewritten() -> PathBuf {
    shared::folder("rewritten-phases", |folder| {
        subject::rewrite(Path::new(&class_path()), &folder.join("classes"), &["--timing", "samples"])?;
        Ok(())
    })
    .join("classes")
}

fn phases(mut java: Command, flags: &[&str], scenario: &str) -> Result<Outcome> {
    java.arg(BOTH_COMPILERS).args(flags).arg("-cp").arg(rewritten()).args(["Phases", scenario]);
    let outcome = agent::finish(java)?;
    ensure!(outcome.code == Some(0) && outcome.stderr.is_empty(), "{}", outcome.stderr);
    Ok(outcome)
}

/// Whether samples are where the program says. Looks that come twice as late are half as good.
fn agrees(outcome: &Outcome) -> Result<()> {
    let profile = profile(outcome)?;
    let main = profile.threads.iter().find(|thread| thread.name == "main").context("main")?;
    let (_, each) = weight(main).context("samples of main")?;
    // Looks come late where the thread that looks has to wait for a processor, and never too early.
    ensure!(each > 0.8 * PERIOD, "{each} ns");
    agrees_within(outcome, ALIKE * (each / PERIOD).max(1.0))
}

/// On one processor, and this program, of the virtual machine.
fn alone(jre: &Jre) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", "0"]).arg(jre.java().get_program());
    command
}

#[test]
fn phases_have_the_cpu_time_that_they_measure_themselves() -> Result<()> {
    for (jre, flag) in jre::each(&jre::all()?, &["-XX:+UseSerialGC", "-Xint"]) {
        let outcome = phases(jre.java(), &[flag], "phases")?;
        agrees(&outcome).with_context(|| format!("{} {flag}", jre.version))?;
        let profile = profile(&outcome)?;
        let main = profile.threads.iter().find(|thread| thread.name == "main").context("main")?;
        let of_main = main.samples.context("samples")?;
        ensure!(of_main.source == SampleSource::Thread && of_main.period_ns == 1_000_000);
        ensure!(of_main.unattributed == 0 && of_main.handler_ns > 0, "{of_main:?}");
    }
    Ok(())
}

#[test]
fn one_processor_is_enough() -> Result<()> {
    let jre = jre::newest()?;
    for scenario in ["phases", "asleep", "churn"] {
        agrees(&phases(alone(&jre), &[], scenario)?).context(scenario)?;
    }
    Ok(())
}

#[test]
fn what_sleeps_has_no_samples() -> Result<()> {
    let jre = jre::newest()?;
    for java in [jre.java(), alone(&jre)] {
        let samples = samples(&profile(&phases(java, &[], "asleep")?)?)?;
        for method in ["sleeper", "waiter", "parked"] {
            let found = samples[&format!("Phases.{method}")];
            ensure!(found <= 5, "{method}: {found} samples");
        }
    }
    Ok(())
}

#[test]
fn a_thread_has_no_more_time_than_it_has_run() -> Result<()> {
    let outcome = phases(jre::newest()?.java(), &["-Dinstrument.keep-threads=0"], "churn")?;
    let profile = profile(&outcome)?;
    let (main, others): (Vec<_>, Vec<_>) = profile.threads.iter().partition(|thread| thread.name == "main");
    let cpu = |threads: &[&instrument_trace::Thread]| -> u64 {
        threads.iter().filter_map(|thread| Some(thread.samples?.cpu_ns)).sum()
    };
    // A thousand threads of 1 ms and what they need to begin; what each ran after the last look at it is not known.
    ensure!((100_000_000..4_000_000_000).contains(&cpu(&others)), "{} ns", cpu(&others));
    ensure!(cpu(&main) > 1_000_000_000, "{} ns", cpu(&main));
    Ok(())
}

#[test]
fn what_excludes_samples_is_said() -> Result<()> {
    let jre = jre::newest()?;
    for (flags, said) in [
        (
            ["-Dinstrument.timing=samples", "-Dinstrument.record=counts"],
            "needs the agent where counts are recorded",
        ),
        (["-Dinstrument.timing=samples", "-Dinstrument.cpu=true"], "excludes instrument.cpu=true"),
    ] {
        let mut java = jre.java();
        java.args(flags).arg("-cp").arg(rewritten()).args(["Phases", "phases"]);
        let outcome = agent::finish(java)?;
        ensure!(outcome.code == Some(0) && outcome.stderr.contains(said), "{}", outcome.stderr);
    }
    Ok(())
}
