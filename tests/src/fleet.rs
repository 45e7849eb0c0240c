//! The program of the tests of datasets, `fleet/Fleet.java`, and how its profiles become a dataset.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::machine::{Jdk, Run, java_source};
use crate::subject;

/// What CI services and OpenTelemetry put into the environment, which would become labels of the profiles.
const VARIABLES: [&str; 5] =
    ["GITHUB_SHA", "GIT_COMMIT", "CI_COMMIT_SHA", "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"];

/// Compiles the program into the folder `plain` of `folder`, for the newest JDK, which it returns.
///
/// # Errors
/// There is no JDK, or it does not compile.
pub fn compiled(folder: &Path) -> Result<Jdk> {
    let jdk = Jdk::all()?.pop().context("a JDK")?;
    fs::create_dir(folder.join("plain"))?;
    jdk.compile_into(&[java_source("fleet/Fleet.java")], &folder.join("plain"))?;
    Ok(jdk)
}

/// Compiles the program and rewrites it, for calls and allocations, into the folder `rewritten` of `folder`.
///
/// # Errors
/// As [`compiled`], or it is not rewritten.
pub fn rewritten(folder: &Path) -> Result<Jdk> {
    let jdk = compiled(folder)?;
    subject::call()?
        .args(["rewrite", "plain", "-o", "rewritten", "--transform", "method-events,allocation"])
        .current_dir(folder)
        .run_quietly()?;
    Ok(jdk)
}

/// Adds the profiles to the dataset. Their labels are those given, whatever builds this.
///
/// # Errors
/// The export fails.
pub fn export(profiles: &[PathBuf], dataset: &Path, labels: &[&str]) -> Result<()> {
    let labels = labels.iter().flat_map(|label| ["--label", label]);
    let mut export = subject::call()?;
    export.args(["export", "--format", "parquet", "-o"]).arg(dataset).args(labels).args(profiles);
    without_labels(&mut export).run_quietly().map(drop)
}

/// Takes from the command what would give its profiles labels.
pub fn without_labels(command: &mut Command) -> &mut Command {
    for name in VARIABLES {
        command.env_remove(name);
    }
    command
}

/// The profiles in a folder, sorted.
///
/// # Errors
/// The folder can't be read.
pub fn profiles(folder: &Path) -> Result<Vec<PathBuf>> {
    let found = fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    let mut found: Vec<_> = found.filter(|path| path.extension().is_some_and(|end| end == "iprof")).collect();
    found.sort();
    Ok(found)
}
