//! Programs under the agent: where its library is, how a run is made and what it leaves.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

use crate::jre::Jre;
use crate::machine::{Jdk, LONGEST_RUN, Run, root};
use crate::subject::{self, MethodCounts};

/// The agent's library: `INSTRUMENT_AGENT`, or what lies beside the binary under test.
pub fn library() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("INSTRUMENT_AGENT") {
        return Ok(root().join(path));
    }
    let folder = subject::instrument()?.parent().context("the binary is in a folder")?.to_path_buf();
    let names = ["libinstrument_agent.so", "libinstrument_agent.dylib"];
    let found = names.iter().map(|name| folder.join(name)).find(|path| path.is_file());
    found.with_context(|| {
        format!("no agent in {}: run `cargo build --release` or set INSTRUMENT_AGENT", folder.display())
    })
}

/// What a run said, how it ended, and the folder that it ran in.
pub struct Outcome {
    /// Its working directory.
    pub folder: TempDir,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Exit code; none after a signal.
    pub code: Option<i32>,
}

impl Outcome {
    /// The methods in the profiles that it left, by name; the balance of calls is checked.
    pub fn methods(&self) -> Result<BTreeMap<String, MethodCounts>> {
        let methods = subject::profile(self.folder.path())?;
        let wrong: Vec<_> = methods.iter().filter(|m| m.unclosed + m.unmatched > 0).collect();
        ensure!(wrong.is_empty(), "events out of place: {wrong:?}");
        let mut by_name = BTreeMap::new();
        for method in methods {
            // Overloads are told apart by nothing else here.
            let mut name = method.name.clone();
            while by_name.contains_key(&name) {
                name.push('\'');
            }
            by_name.insert(name, method);
        }
        Ok(by_name)
    }

    /// How many profiles it left.
    pub fn profiles(&self) -> usize {
        self.profile().count()
    }

    /// The profiles that it left.
    pub fn profile(&self) -> impl Iterator<Item = PathBuf> {
        let entries = fs::read_dir(self.folder.path()).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "iprof"))
    }
}

/// The option that loads the agent.
pub fn option(options: &str) -> Result<String> {
    Ok(format!("-agentpath:{}={options}", library()?.display()))
}

/// Runs `java ARGUMENTS` in a folder of its own.
pub fn run(jre: &Jre, arguments: &[&str]) -> Result<Outcome> {
    let mut java = jre.java();
    java.args(arguments);
    finish(java)
}

/// Runs a command in a folder of its own.
pub fn finish(command: Command) -> Result<Outcome> {
    finish_within(command, LONGEST_RUN)
}

/// As [`finish`], for what may wait for ever.
pub fn finish_within(mut command: Command, limit: Duration) -> Result<Outcome> {
    let folder = tempfile::tempdir()?;
    let output = command.current_dir(folder.path()).capture_within(limit)?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok(Outcome {
        folder,
        stdout: text(output.stdout),
        stderr: text(output.stderr),
        code: output.status.code(),
    })
}

/// Compiles files of `tests/java/agent` for Java `release`; returns the folder of their classes.
pub fn compile(names: &[&str], release: u32, into: &Path) -> Result<PathBuf> {
    let kit = Jdk::default_kit()?;
    if kit.version < release {
        bail!("Java {release} is needed to compile {names:?}");
    }
    let mut javac = kit.tool("javac");
    javac.args(["-Xlint:-options", "--release", &release.to_string(), "-d"]).arg(into);
    javac.args(names.iter().map(|name| root().join("tests/java/agent").join(name))).run_quietly()?;
    Ok(into.to_path_buf())
}
