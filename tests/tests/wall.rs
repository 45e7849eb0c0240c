//! `sample-event=wall`: threads that wait are sampled where they wait, and nobody wakes them.

use crate::samples::{profile, samples, truth, weight};
use anyhow::{Context, Result, ensure};
use instrument_tests::agent::{self, option, run};
use instrument_tests::jre;
use instrument_tests::machine::{Jdk, Run, root};
use instrument_trace::{Profile, Thread};
use std::process::Command;

fn thread<'p>(profile: &'p Profile, name: &str) -> Result<&'p Thread> {
    profile.threads.iter().find(|thread| thread.name == name).with_context(|| name.to_owned())
}

/// ns of a thread's samples of a method, and what they may be off by: four standard deviations of so many samples, whatever each counts for.
fn met(found: u64, thread: &Thread) -> Result<(f64, f64)> {
    let (all, each) = weight(thread).context("samples")?;
    let as_much = thread.samples.context("samples")?.squares as f64 / all as f64;
    let found = found as f64;
    Ok((found * each, 4.0 * each * (found.max(1.0) * as_much.max(1.0)).sqrt()))
}

#[test]
fn waits_have_the_time_that_they_measure_themselves_and_are_not_interrupted() -> Result<()> {
    let (folder, jdk) = (tempfile::tempdir()?, Jdk::default_kit()?);
    let classes = agent::compile(&["Wall.java"], 8, folder.path())?.display().to_string();
    let include = jdk.home.join("include");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-O1", "-o"]).arg(folder.path().join("libretries.so"));
    cc.arg("-I").arg(&include).arg("-I").arg(include.join("linux"));
    cc.arg(root().join("tests/c/without_retries.c")).run_quietly()?;
    let path = format!("-Djava.library.path={}", folder.path().display());
    for jre in jre::turn(jre::all()?).into_iter().filter(|jre| jre.version >= 11) {
        let option = option("record=samples,sample-event=wall,sample-rate=500")?;
        let outcome = run(&jre, &[&path, &option, "-cp", &classes, "Wall"])?;
        ensure!(outcome.code == Some(0), "{}", outcome.stderr);
        ensure!(outcome.stdout.ends_with("interrupted 0\n"), "{}", outcome.stdout);
        let (profile, truth) = (profile(&outcome)?, truth(&outcome));
        ensure!(profile.sampled_event() == Some("wall"));
        let (samples, main) = (samples(&profile)?, thread(&profile, "main")?);
        for name in ["asleep", "locked", "reading", "working"] {
            let (found, off) = met(samples[&format!("Wall.{name}")], main)?;
            ensure!((found - truth[name]).abs() < off, "{name}: {found} +- {off}, {truth:?}");
        }
        // All of its life is there, and no more.
        let lived = main.samples.context("samples")?.cpu_ns as f64;
        ensure!((truth["main"]..=truth["machine"] + 1e8).contains(&lived), "{lived}, {truth:?}");
        // Threads that begin late and end soon.
        let short = thread(&profile, "short-*")?;
        let (found, off) = met(samples["Wall.asleepForAMoment"], short)?;
        ensure!((found - truth["asleepForAMoment"]).abs() < off, "{found} +- {off}, {truth:?}");
        // A virtual thread that waits is nowhere.
        ensure!(samples.get("Wall.unmounted").copied().unwrap_or(0) < 25, "{samples:?}");
    }
    Ok(())
}
