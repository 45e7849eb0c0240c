//! Threads that are interrupted while the profile has to grow: Java closes the file of who is interrupted, so another thread has to do it.
//! With the classes of the JDK rewritten that one meets probes, too.

use std::time::Duration;

use anyhow::Result;
use instrument_tests::agent::{self, finish_within, option};
use instrument_tests::jre;

#[test]
fn an_interrupted_thread_goes_on_and_keeps_its_interrupt() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = agent::compile(&["Interrupted.java"], 8, folder.path())?.display().to_string();
    for jre in jre::all()? {
        for options in ["", "include=java.**:javax.**:sun.**:Interrupted"] {
            let mut java = jre.java();
            java.args([option(options)?.as_str(), "-Xss4m", "-cp", &path, "Interrupted"]);
            let outcome = finish_within(java, Duration::from_secs(600))?;
            let case = format!("Java {}, {options}: {}", jre.version, outcome.stderr);
            assert_eq!(
                (outcome.code, outcome.stdout.as_str()),
                (Some(0), "3000 true\n3000 true\n"),
                "{case}"
            );
            assert_eq!(outcome.stderr, "", "{case}");
            assert_eq!(outcome.methods()?["Interrupted.down"].entries, 6002, "{case}");
        }
    }
    Ok(())
}
