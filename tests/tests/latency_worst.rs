//! `instrument latency --worst`: the longest calls are those of the program's own log, and what they and all others did is what it did.

use anyhow::{Context, Result, ensure};
use instrument_analysis::latency::{Did, MOST_WORST, Worst};
use instrument_analysis::session::ProfileFile;
use instrument_tests::agent::{self, Outcome, option, run};
use instrument_tests::jre;
use instrument_tests::machine::Run;
use instrument_tests::subject;

/// Calls of `serve` in `Worst` that ended. The number of each is that of its steps.
const CALLS: u64 = 3000;
const NAME: &str = "Worst.serve(I)V";

/// What the program has logged of its longest calls: ns and steps.
fn own(outcome: &Outcome) -> Result<Vec<(u64, u64)>> {
    let call = |word: &str| -> Result<(u64, u64)> {
        let (ns, steps) = word.split_once(':').context("a call")?;
        Ok((ns.parse()?, steps.parse()?))
    };
    outcome.stdout.split_whitespace().skip(1).map(call).collect()
}

/// Calls of a method, wherever it was called.
fn calls(did: &Did, name: &str) -> u64 {
    did.contexts().iter().filter(|context| context.name == name).map(|context| context.calls).sum()
}

/// The worst calls of a profile are those that were logged, and with the rest they are the whole. The process was halted within a call that makes a step more.
fn check(file: ProfileFile, own: &[(u64, u64)]) -> Result<()> {
    let (step, connection) = ("Worst.step()V", "Worst$Pool.getConnection()V");
    // What the recorder took for itself within a call is in the log alone.
    let own_pauses: u64 = file.profile.threads.iter().map(|thread| thread.pause).sum();
    let files = [file];
    let worst = Worst::kept(&files, &|_| true)?;
    ensure!(worst.len() == 1 && worst[0].method == NAME, "{worst:?}");
    let worst = &worst[0];
    let found: Vec<u64> = worst.calls.iter().map(|call| calls(&call.did, step)).collect();
    assert_eq!(found, own.iter().map(|(_, steps)| *steps).collect::<Vec<_>>());
    assert_eq!(found.len(), MOST_WORST);
    for (call, (ns, steps)) in worst.calls.iter().zip(own) {
        ensure!(call.ns + own_pauses >= *ns && !call.is_part && call.thread == "main", "{call:?} {ns}");
        assert_eq!(call.has_failed, steps % 1000 == 501);
        assert_eq!(calls(&call.did, connection), u64::from(steps % 100 == 0));
        assert_eq!(call.did.contexts()[0].returned, u64::from(!call.has_failed));
    }
    ensure!(worst.is_exact && worst.longest == worst.calls[0].ns);
    // All steps were made by these calls, by the others, or by the one that was open.
    let all: u64 = (1..=CALLS + 1).sum();
    assert_eq!(calls(&worst.rest, step), all - found.iter().sum::<u64>());
    let waited = found.iter().filter(|steps| **steps % 100 == 0).count() as u64;
    assert_eq!(calls(&worst.rest, connection), CALLS / 100 - waited);
    assert_eq!(worst.rest.calls(), CALLS + 1 - MOST_WORST as u64);
    assert_eq!(worst.rest_ended.0, CALLS - MOST_WORST as u64);
    Ok(())
}

#[test]
fn the_worst_calls_are_those_of_the_programs_own_log_and_with_the_rest_they_are_the_whole() -> Result<()> {
    let classes = tempfile::tempdir()?;
    agent::compile(&["Worst.java"], 8, classes.path())?;
    let path = classes.path().to_str().context("a path")?;
    for (seed, (jre, timing)) in jre::each(&jre::all()?, &["samples", "all", "auto"]).into_iter().enumerate()
    {
        let options = option(&format!("timing={timing},latency=Worst#serve"))?;
        let outcome = run(&jre, &[&options, "-cp", path, "Worst", &seed.to_string(), "halt"])?;
        let profile = outcome.profile().next().context("no profile")?;
        check(ProfileFile::open(&profile, 0, false)?, &own(&outcome)?)
            .with_context(|| format!("Java {}, {timing}", jre.version))?;
        if timing == "auto" {
            continue;
        }
        // What made them slow is named at once.
        let output = subject::call()?.args(["latency", "--worst"]).arg(&profile).run_quietly()?;
        let text = String::from_utf8(output.stdout)?;
        let first: Vec<&str> = text.lines().take(5).collect();
        let cause =
            "waits for java.util.concurrent.locks.ReentrantLock.lock() in Worst$Pool.getConnection(); ";
        ensure!(first.iter().any(|line| line.contains(cause)), "{text}");
    }
    Ok(())
}

#[test]
fn a_profile_without_worst_calls_is_refused_with_the_cure() -> Result<()> {
    let classes = tempfile::tempdir()?;
    agent::compile(&["Worst.java"], 8, classes.path())?;
    let path = classes.path().to_str().context("a path")?;
    let outcome =
        run(&jre::newest()?, &[&option("record=tree,latency=Worst#gone")?, "-cp", path, "Worst", "1"])?;
    let profile = outcome.profile().next().context("no profile")?;
    let output = subject::call()?.args(["latency", "--worst"]).arg(&profile).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.code() == Some(2) && said.contains("`instrument run --latency 'Shop#sell'`"),
        "{said}"
    );
    Ok(())
}
