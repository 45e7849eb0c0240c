//! Threads, Heap, Monitors and Remote calls in a real browser: what does not hold in a scenario of `tests/viewer/sections.js` fails here.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use instrument_tests::agent;
use instrument_tests::browser::{drive, page, pictures};
use instrument_tests::jre;
use instrument_tests::machine::Run;
use instrument_tests::rmi::{self, Running, TRANSFORMS, free_port};
use instrument_tests::subject;
use serde_json::Value;
use tempfile::TempDir;

/// A recorded run of a program of `tests/java/agent`.
struct Recorded {
    folder: TempDir,
    profile: PathBuf,
}

impl Recorded {
    fn new(program: &[&str], options: &str) -> Result<Recorded> {
        let folder = tempfile::tempdir()?;
        agent::compile(&[&format!("{}.java", program[0])], 8, folder.path())?;
        let profile = folder.path().join("recorded.iprof");
        let jre = jre::all()?.pop().context("a Java")?;
        let mut java = jre.java();
        java.arg(agent::option(&format!("out={},{options}", profile.display()))?);
        java.arg("-cp").arg(folder.path()).args(program);
        let outcome = agent::finish(java)?;
        ensure!(outcome.code == Some(0), "{}", outcome.stderr);
        Ok(Recorded { folder, profile })
    }

    /// What a command prints of it, in a file.
    fn printed(&self, name: &str, arguments: &[&str]) -> Result<PathBuf> {
        printed(self.folder.path(), name, arguments, std::slice::from_ref(&self.profile))
    }

    /// Drives a scenario with the page and what commands print of the profile.
    fn drive(&self, scenario: &str, commands: &[&[&str]]) -> Result<Value> {
        let mut files = vec![page(&self.profile, &self.folder.path().join("page.html"))?];
        for (number, arguments) in commands.iter().enumerate() {
            files.push(self.printed(&number.to_string(), arguments)?);
        }
        files.push(pictures()?);
        drive(scenario, &files.iter().map(PathBuf::as_path).collect::<Vec<_>>())
    }
}

fn printed(folder: &Path, name: &str, arguments: &[&str], profiles: &[PathBuf]) -> Result<PathBuf> {
    let output = subject::call()?.arg("--quiet").args(arguments).args(profiles).run_quietly()?;
    let path = folder.join(name);
    fs::write(&path, output.stdout)?;
    Ok(path)
}

#[test]
fn threads_and_monitors_are_those_of_the_command_line() -> Result<()> {
    let recorded = Recorded::new(&["Contention", "measure"], "threads=on,owners=all,clock=monotonic")?;
    let list = ["threads", "--list", "--width", "0"];
    let found = recorded.drive("threads", &[&list, &["threads", "--list", "--json"]])?;
    ensure!(found["rows"].as_u64() > Some(2), "{found}");
    let monitors = ["monitors", "--width", "0", "--top", "300"];
    let found = recorded.drive("monitors", &[&monitors, &["monitors", "--json"]])?;
    ensure!(found["pairs"].as_u64() > Some(0) && found["monitors"].as_u64() > Some(1), "{found}");
    // Nothing was recorded of the others.
    let found = recorded.drive("absent", &[])?;
    let tabs = found["tabs"].as_array().context("tabs")?;
    ensure!(tabs.contains(&"monitors".into()) && !tabs.contains(&"remote".into()), "{found}");
    Ok(())
}

#[test]
fn the_heap_is_that_of_the_command_line() -> Result<()> {
    let recorded = Recorded::new(&["Leak"], "heap=objects")?;
    let by = |what| ["heap", "--by", what, "--width", "0", "--top", "500"];
    let found = recorded.drive("heap", &[&by("class"), &by("site"), &["heap", "--json", "--top", "500"]])?;
    ensure!(found["suspects"].as_u64() > Some(0) && found["sites"].as_u64() > Some(5), "{found}");
    Ok(())
}

/// The chain of beacons: a client, and three servers each of which calls the next.
#[test]
fn remote_calls_are_those_of_the_command_line() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let port = free_port().to_string();
    let java =
        |name: &str| rmi::java(&rmi::jre(2), Some(&format!("{TRANSFORMS},record=tree")), name, folder.path());
    let mut servers = Vec::new();
    for (name, next) in [("s3", "end"), ("s2", "s3"), ("s1", "s2")] {
        let mut server = java(name)?;
        server.args(["BeaconServer", &port, name, next]);
        servers.push(Running::start(server, name, folder.path())?);
    }
    java("client")?.args(["BeaconClient", &port, "s1", "20"]).run_quietly()?;
    servers.into_iter().try_for_each(|server| server.stop().map(|_| ()))?;
    let names = ["client", "s1", "s2", "s3"];
    let profiles = names.iter().map(|name| rmi::profile(folder.path(), name)).collect::<Result<Vec<_>>>()?;
    let html = folder.path().join("merged.html");
    subject::call()?.args(["--quiet", "merge", "--html"]).arg(&html).args(&profiles).run_quietly()?;
    let report = |name, arguments: &[&str]| {
        printed(folder.path(), name, &[&["merge", "--report"], arguments].concat(), &profiles)
    };
    let files = [
        html,
        report("text", &["services", "--width", "0", "--top", "500"])?,
        report("services", &["services", "--json"])?,
        report("calls", &["calls", "--json"])?,
        pictures()?,
    ];
    let found = drive("remote", &files.each_ref().map(PathBuf::as_path))?;
    ensure!(found["calls"].as_u64() > Some(5) && found["spans"].as_u64() >= Some(3), "{found}");

    // The same profiles as they are, each process for itself, have the same calls.
    let plain = folder.path().join("plain.html");
    subject::call()?.args(["--quiet", "view", "--html"]).arg(&plain).args(&profiles).run_quietly()?;
    let tabs = drive("absent", &[&plain])?["tabs"].clone();
    ensure!(tabs.as_array().is_some_and(|tabs| tabs.contains(&"remote".into())), "{tabs}");
    Ok(())
}
