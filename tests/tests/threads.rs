//! Threads: each is recorded once.

use std::fs::File;

use anyhow::{Context, Result, ensure};
use instrument_tests::agent::{self, Outcome, option, run};
use instrument_tests::{jre, spring};
use instrument_trace::Profile;

fn profile(outcome: &Outcome) -> Result<Profile> {
    ensure!(outcome.code == Some(0), "{}", outcome.stderr);
    Ok(Profile::open(&File::open(spring::profile(outcome.folder.path())?)?)?)
}

/// Threads of the JDK's cleaners, and of the common pool since Java 19, forget their thread locals after each task.
#[test]
fn a_thread_that_forgets_its_thread_locals_is_one_thread() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = agent::compile(&["Forgetful.java"], 11, folder.path())?.display().to_string();
    for jre in jre::all()? {
        for record in ["tree", "counts", "trace"] {
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
    }
    Ok(())
}
