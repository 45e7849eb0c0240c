//! A rewritten JDK runs for the first time: its archives of shared class data are made, and it has to pass its start-up
//! test.

use super::home;
use anyhow::{Context, Result, bail, ensure};
use instrument_trace::Profile;
use std::collections::HashSet;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Output};

/// The options with which a JDK's archive was made that has this in its name.
const KINDS: [(&str, &str); 2] =
    [("_nocoops", "-XX:-UseCompressedOops"), ("_coh", "-XX:+UseCompactObjectHeaders")];
/// Variables that give options to every java.
const VARIABLES: [&str; 4] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"];
/// Most of the text that java prints which an error repeats.
const MOST_TEXT: usize = 2000;

/// Makes the archives of shared class data that the original has, in the copy.
///
/// # Errors
/// java fails.
pub fn make_archives(original: &Path, copy: &Path) -> Result<usize> {
    let archives = home::archives(original)?;
    for archive in &archives {
        let name = archive.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let options = KINDS.iter().filter(|(part, _)| name.contains(part)).map(|(_, option)| *option);
        let mut java = java(copy);
        // Objects are in the archive only with this collector, which a small machine does not choose.
        java.args(["-Xshare:dump", "-XX:+UseG1GC", "-Xmx128m", "-Dinstrument.record=off"]).args(options);
        java.arg(format!("-XX:SharedArchiveFile={}", copy.join(archive).display()));
        run(&mut java, "an archive of shared class data cannot be made")?;
        ensure!(copy.join(archive).is_file(), "{name}: java -Xshare:dump has not made it");
    }
    Ok(archives.len())
}

/// The start-up test: the copy prints what the original prints, with its classes verified and from its archive, and
/// leaves a profile whose counts balance. Returns how many of the methods with these ids were recorded.
///
/// # Errors
/// It fails.
pub fn test(original: &Path, copy: &Path, ids: &HashSet<u32>, shares: bool) -> Result<usize> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("start.iprof");
    let expected = run(java(original).arg("--list-modules"), "the original JDK does not start")?;
    let mut verified = java(copy);
    verified.args(["-Xverify:all", "-Dinstrument.record=off", "--list-modules"]);
    let found = run(&mut verified, "the rewritten JDK does not start with its classes verified")?;
    same(&expected, &found)?;
    let mut recorded = java(copy);
    recorded.arg(format!("-Dinstrument.out={}", path.display())).arg("--list-modules");
    let found = run(&mut recorded, "the rewritten JDK does not start")?;
    same(&expected, &found)?;
    if shares {
        let what = "the rewritten JDK does not start from its archive of shared class data";
        run(java(copy).args(["-Xshare:on", "-Dinstrument.record=off", "-version"]), what)?;
    }
    let file = File::open(&path).context("the rewritten JDK has left no profile")?;
    let profile = Profile::open(&file).context("the profile of the rewritten JDK")?;
    let wrong = profile.imbalances();
    ensure!(wrong.is_empty(), "the rewritten JDK has recorded counts that do not balance: {wrong:?}");
    let mut recorded = HashSet::new();
    for thread in &profile.threads {
        for (id, counts) in &thread.methods {
            ensure!(
                counts.unmatched == 0 && counts.closes.unclosed == 0,
                "the rewritten JDK has recorded events out of place in the thread {}",
                thread.name
            );
            recorded.extend(Some(*id).filter(|id| counts.entries > 0 && ids.contains(id)));
        }
    }
    Ok(recorded.len())
}

fn same(expected: &Output, found: &Output) -> Result<()> {
    ensure!(
        expected.stdout == found.stdout,
        "java --list-modules of the rewritten JDK prints something else:\n{}",
        text(found)
    );
    Ok(())
}

/// java without any option from outside.
fn java(home: &Path) -> Command {
    let mut java = Command::new(home.join("bin/java"));
    for variable in VARIABLES {
        java.env_remove(variable);
    }
    for (variable, _) in std::env::vars_os() {
        if variable.to_string_lossy().starts_with("INSTRUMENT_") {
            java.env_remove(variable);
        }
    }
    java.current_dir(std::env::temp_dir());
    java
}

fn run(java: &mut Command, what: &str) -> Result<Output> {
    let output = java.output().with_context(|| java.get_program().display().to_string())?;
    if !output.status.success() {
        bail!("{what} ({}):\n{}", output.status, text(&output));
    }
    Ok(output)
}

fn text(output: &Output) -> String {
    let both = [&output.stderr[..], &output.stdout].concat();
    String::from_utf8_lossy(&both).trim().chars().take(MOST_TEXT).collect()
}
