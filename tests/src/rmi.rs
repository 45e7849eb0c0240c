//! Programs that call each other: those of `tests/java/rmi`, on virtual machines of several versions, each with its profile.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use crate::agent;
use crate::jre::{self, Jre};
use crate::machine::{Jdk, Run, root};

/// What these tests ask of the agent.
pub const TRANSFORMS: &str = "transform=method-events:thread-links:rmi";

/// The programs, compiled for the oldest version.
pub fn classes() -> &'static Path {
    static CLASSES: OnceLock<TempDir> = OnceLock::new();
    let folder = CLASSES.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let sources = fs::read_dir(root().join("tests/java/rmi")).unwrap().map(|e| e.unwrap().path());
        let mut javac = Jdk::default_kit().unwrap().tool("javac");
        javac.args(["-nowarn", "-Xlint:-options", "--release", "11", "-d"]).arg(folder.path()).args(sources);
        javac.run_quietly().unwrap();
        folder
    });
    folder.path()
}

/// Virtual machines, oldest first, again and again.
pub fn jre(index: usize) -> Jre {
    static JRES: OnceLock<Vec<Jre>> = OnceLock::new();
    let all = JRES.get_or_init(|| jre::all().unwrap());
    all[index % all.len()].clone()
}

/// A port that nobody listens at. It may be taken before it is used; ports are given round robin, so that takes long.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A call of `java` in a folder; under the agent, with these options and a name for its profile, or without it.
pub fn java(jre: &Jre, options: Option<&str>, name: &str, folder: &Path) -> Result<Command> {
    let mut java = jre.java();
    java.current_dir(folder).arg("-Djava.rmi.server.hostname=127.0.0.1").arg("-cp").arg(classes());
    if let Some(options) = options {
        java.arg(agent::option(options)?).arg(format!("-Dinstrument.name={name}"));
    }
    Ok(java)
}

/// The one profile of a name in a folder.
pub fn profile(folder: &Path, name: &str) -> Result<PathBuf> {
    let files = fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    let is_profile = |path: &PathBuf| {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        file.starts_with(&format!("{name}-")) && file.ends_with(".iprof")
    };
    let mut found: Vec<PathBuf> = files.filter(is_profile).collect();
    ensure!(found.len() == 1, "{name}: {found:?}");
    found.pop().context("a profile")
}

/// A program that says when it is ready, and runs until its standard input is closed.
pub struct Running {
    /// Its process.
    pub child: Child,
    /// What it says.
    pub stdout: BufReader<ChildStdout>,
    stdin: Option<ChildStdin>,
    errors: PathBuf,
}

impl Running {
    /// Starts it and waits until it is ready. What it writes on standard error goes into `NAME.err` in the folder.
    pub fn start(mut java: Command, name: &str, folder: &Path) -> Result<Running> {
        let errors = folder.join(format!("{name}.err"));
        let mut child =
            java.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(&errors)?).spawn()?;
        let stdout = BufReader::new(child.stdout.take().context("a pipe")?);
        let stdin = child.stdin.take();
        let mut running = Running { child, stdout, stdin, errors };
        let line = running.line()?;
        ensure!(line == "ready", "{name}: {line}{}", fs::read_to_string(&running.errors)?);
        Ok(running)
    }

    /// The next line that it says.
    pub fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.stdout.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    /// Ends it. What it wrote, on standard output and on standard error.
    pub fn stop(mut self) -> Result<(String, String)> {
        drop(self.stdin.take());
        let mut said = String::new();
        self.stdout.read_to_string(&mut said)?;
        self.child.wait()?;
        Ok((said, fs::read_to_string(&self.errors)?))
    }

    /// As `kill -9` does.
    pub fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
