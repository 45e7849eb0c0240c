//! `--jvm`: the classes of a case are linked with full verification and its program is run.

use super::case::{Case, STDOUT};
use super::program;
use anyhow::{Context, Result, ensure};
use instrument_messages::usage;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiled by the virtual machine that runs it.
const LINK: &str = include_str!("Link.java");
/// The oldest Java that runs a source file.
const OLDEST: u32 = 11;

/// A Java installation.
#[derive(Debug)]
pub struct Jvm {
    java: PathBuf,
    /// 11, 17, ..
    pub(super) version: u32,
}

impl Jvm {
    /// The one in this directory.
    ///
    /// # Errors
    /// There is none, or it is too old.
    pub fn at(home: &Path) -> Result<Jvm> {
        let release = home.join("release");
        let text = fs::read_to_string(&release)
            .map_err(|error| usage(format!("--jvm {}: {}: {error}", home.display(), release.display())))?;
        let version = text.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="));
        let version = version.unwrap_or_default().trim_matches('"').trim_start_matches("1.");
        let version = version.split(['.', '-', '+', '_']).next().and_then(|word| word.parse().ok());
        match version {
            Some(version) if version >= OLDEST => Ok(Jvm { java: home.join("bin/java"), version }),
            Some(version) => {
                Err(usage(format!("--jvm {}: Java {version}; it takes {OLDEST} or later", home.display())))
            }
            None => Err(usage(format!("--jvm {}: no JAVA_VERSION in its file `release`", home.display()))),
        }
    }

    /// Links all classes, and runs the program if the case has one; what it printed.
    ///
    /// # Errors
    /// A class that is refused, or another exit code than that of the case.
    pub(super) fn judge(&self, case: &Case, classes: &Path, names: &[String]) -> Result<Option<String>> {
        let work = tempfile::tempdir()?;
        let (source, list) = (work.path().join("Link.java"), work.path().join("classes"));
        fs::write(&source, LINK)?;
        fs::write(&list, names.join("\n"))?;
        let java = || {
            let mut command = Command::new(&self.java);
            command.args(["-Xverify:all", "-cp"]).arg(classes).current_dir(work.path());
            command
        };
        let linked = program::run(java().arg(&source).arg(&list), case.limit())?;
        ensure!(linked.status.success(), "Java {} refuses a class\n{}", self.version, linked.last_words());
        let Some(main) = &case.file.main else { return Ok(None) };
        let ran = program::run(java().arg(main), case.limit())?;
        let code = ran.status.code().with_context(|| format!("{main} was killed: {}", ran.status))?;
        ensure!(
            code == case.file.exit_code,
            "{main} ends with exit code {code} on Java {}, not {}\n{}",
            self.version,
            case.file.exit_code,
            ran.last_words()
        );
        Ok(Some(ran.stdout))
    }
}

/// The blessed output of the program; none if there is no file.
pub(super) fn expected_output(case: &Case) -> Option<String> {
    fs::read_to_string(case.folder.join(STDOUT)).ok()
}
