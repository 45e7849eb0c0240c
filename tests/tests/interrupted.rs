//! Threads that are interrupted while the profile has to grow: Java closes the file of who is interrupted, so another thread has to do it.
//! With the classes of the JDK rewritten that one meets probes, too. And threads that are stopped meanwhile.

use std::time::Duration;

use anyhow::Result;
use instrument_tests::agent::{self, finish_within, option};
use instrument_tests::{jre, subject};

#[test]
fn an_interrupted_thread_goes_on_and_keeps_its_interrupt() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = agent::compile(&["Interrupted.java"], 8, folder.path())?.display().to_string();
    for (jre, options) in jre::each(&jre::all()?, &["", "include=java.**:javax.**:sun.**:Interrupted"]) {
        let mut java = jre.java();
        java.args([option(options)?.as_str(), "-Xss4m", "-cp", &path, "Interrupted"]);
        let outcome = finish_within(java, Duration::from_secs(600))?;
        let case = format!("Java {}, {options}: {}", jre.version, outcome.stderr);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), "3000 true\n3000 true\n"), "{case}");
        assert_eq!(outcome.stderr, "", "{case}");
        assert_eq!(outcome.methods()?["Interrupted.down"].entries, 6002, "{case}");
    }
    Ok(())
}

/// The channels of the JDK lose the ThreadDeath of a thread that is stopped in them. It went on for ever then, and others wrote into its pieces of the
/// trace. On Java 17 the thread was stopped while a class of the JDK that channels need was initialised for the recorder: no channel worked from then
/// on. That came in one of ten runs.
#[test]
fn a_thread_that_is_stopped_while_its_trace_grows_ends() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let classes = agent::compile(&["Stopped.java"], 8, folder.path())?;
    let elsewhere = tempfile::tempdir()?;
    let rewritten = elsewhere.path().join("rewritten");
    subject::rewrite::<&str>(&classes, &rewritten, &[])?;
    for jre in jre::all()?.into_iter().filter(|jre| jre.version < 20) {
        let stops = if jre.version < 17 { "40" } else { "200" };
        let mut java = jre.java();
        java.args(["-Dinstrument.record=trace", "-Dinstrument.calibrate=0", "-cp"]).arg(&rewritten);
        java.args(["Stopped", stops]);
        let outcome = finish_within(java, Duration::from_secs(120))?;
        let case = format!("Java {}: {}", jre.version, outcome.stderr);
        assert_eq!(
            (outcome.code, outcome.stdout.as_str(), outcome.stderr.as_str()),
            (Some(0), "done\n", ""),
            "{case}"
        );
        // Calls balance; what was cut off has no end.
        let methods = subject::profile(outcome.folder.path())?;
        let leaf =
            methods.iter().find(|method| method.name.ends_with("Stopped.leaf")).expect("it was called");
        let stops: u64 = stops.parse()?;
        assert!(
            leaf.entries > stops * 20 && leaf.unclosed <= stops && leaf.unmatched == 0,
            "{case}: {leaf:?}"
        );
        let files = std::fs::read_dir(outcome.folder.path())?
            .map(|file| Ok(file?.path()))
            .collect::<Result<Vec<_>>>()?;
        let said = subject::call()?.arg("report").args(files).output()?;
        let said = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(!said.contains("warning"), "{case}: {said}");
    }
    Ok(())
}
