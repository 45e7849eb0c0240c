//! Maven: what fetches jars and builds the projects of others' frameworks.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

const ATTEMPTS: u32 = 4;

/// Runs a goal of the project in `directory`; a failed download is tried again.
pub fn run<S: AsRef<str>>(directory: &Path, goal: &str, options: &[S]) -> Result<()> {
    let mut said = String::new();
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            std::thread::sleep(Duration::from_secs(3 << attempt));
        }
        // Without -U, Maven would remember a failure and not try again.
        let output = Command::new("mvn")
            .args(["-q", "-B", "-U", "-f"])
            .arg(directory.join("pom.xml"))
            .arg(goal)
            .args(options.iter().map(AsRef::as_ref))
            .output()
            .context("mvn (Maven) is needed")?;
        if output.status.success() {
            return Ok(());
        }
        said = String::from_utf8_lossy(&output.stdout).into_owned();
    }
    bail!("mvn {goal} failed {ATTEMPTS} times: {said}")
}
