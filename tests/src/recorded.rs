//! Recorded runs of programs, and what commands print of their profiles.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;

use crate::machine::Run;
use crate::rmi::{self, Running, TRANSFORMS, free_port};
use crate::{agent, browser, jre, subject};

/// A recorded run of a program of `tests/java/agent`.
pub struct Recorded {
    /// Where the program and what is printed lie.
    pub folder: TempDir,
    pub profile: PathBuf,
}

impl Recorded {
    /// Runs `program`, a class and its arguments, under the agent with these options beside `out`.
    ///
    /// # Errors
    /// It does not compile, or ends with another exit code than 0.
    pub fn new(program: &[&str], options: &str) -> Result<Recorded> {
        let folder = tempfile::tempdir()?;
        agent::compile(&[&format!("{}.java", program[0])], 8, folder.path())?;
        let profile = folder.path().join("recorded.iprof");
        let jre = jre::all()?.pop().context("a Java")?;
        let mut java = jre.brief_java();
        java.arg(agent::option(&format!("out={},{options}", profile.display()))?);
        java.arg("-cp").arg(folder.path()).args(program);
        let outcome = agent::finish(java)?;
        ensure!(outcome.code == Some(0), "{}", outcome.stderr);
        Ok(Recorded { folder, profile })
    }

    /// What a command prints of it, in a file.
    ///
    /// # Errors
    /// The command fails.
    pub fn printed(&self, name: &str, arguments: &[&str]) -> Result<PathBuf> {
        printed(self.folder.path(), name, arguments, std::slice::from_ref(&self.profile))
    }

    /// Drives a scenario with the page and what commands print of the profile.
    ///
    /// # Errors
    /// What does not hold there.
    pub fn drive(&self, scenario: &str, commands: &[&[&str]]) -> Result<Value> {
        let mut files = vec![browser::page(&self.profile, &self.folder.path().join("page.html"))?];
        for (number, arguments) in commands.iter().enumerate() {
            files.push(self.printed(&number.to_string(), arguments)?);
        }
        files.push(browser::pictures()?);
        browser::drive(scenario, &files.iter().map(PathBuf::as_path).collect::<Vec<_>>())
    }
}

/// What a command prints of profiles, in a file of this name.
///
/// # Errors
/// The command fails.
pub fn printed(folder: &Path, name: &str, arguments: &[&str], profiles: &[PathBuf]) -> Result<PathBuf> {
    let output = subject::call()?.arg("--quiet").args(arguments).args(profiles).run_quietly()?;
    let path = folder.join(name);
    fs::write(&path, output.stdout)?;
    Ok(path)
}

/// The profiles of a client that calls a chain of three servers 20 times: client, s1, s2, s3. `slow`: ms that each call takes in s2.
///
/// # Errors
/// One of them fails.
pub fn beacons(folder: &Path, slow: u32) -> Result<Vec<PathBuf>> {
    let port = free_port().to_string();
    let java = |name: &str| rmi::java(&rmi::jre(2), Some(&format!("{TRANSFORMS},record=tree")), name, folder);
    let mut servers = Vec::new();
    for (name, next) in [("s3", "end"), ("s2", "s3"), ("s1", "s2")] {
        let mut server = java(name)?;
        server.args(["BeaconServer", &port, name, next]);
        if name == "s2" {
            server.arg(slow.to_string());
        }
        servers.push(Running::start(server, name, folder)?);
    }
    java("client")?.args(["BeaconClient", &port, "s1", "20"]).run_quietly()?;
    servers.into_iter().try_for_each(|server| server.stop().map(|_| ()))?;
    ["client", "s1", "s2", "s3"].iter().map(|name| rmi::profile(folder, name)).collect()
}
