//! `Asked`, a program that requests are sent to while it runs.

use crate::shared;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};
use instrument_trace::Profile;
use serde_json::Value;
use tempfile::TempDir;

use crate::jre::Jre;
use crate::machine::Run;
use crate::{agent, subject};
fn classes() -> PathBuf {
    shared::folder("asked", |folder| {
        agent::compile(&["Asked.java"], 8, folder)?;
        Ok(())
    })
}

/// `Asked`, as it runs.
pub struct Program {
    /// Where it runs, with its socket, its profiles and what it writes to stderr.
    pub folder: TempDir,
    /// The process.
    pub child: Child,
    /// What [`Program::run`] writes to; none: it has been told to end.
    pub stdin: Option<ChildStdin>,
    /// Its answers.
    pub stdout: BufReader<ChildStdout>,
}

impl Program {
    /// Starts it in a folder of its own, with the agent and these options, and flags of the virtual machine.
    pub fn start(jre: &Jre, options: &str, flags: &[&str]) -> Result<Program> {
        Program::start_in(tempfile::tempdir()?, jre, Some(options), flags)
    }

    /// The same in a folder that is there; no `options`: without the agent.
    pub fn start_in(folder: TempDir, jre: &Jre, options: Option<&str>, flags: &[&str]) -> Result<Program> {
        let mut java = jre.brief_java();
        if let Some(options) = options {
            java.arg(agent::option(&format!("name=asked,{options}"))?);
        }
        java.args(flags).arg("-cp").arg(classes()).arg("Asked");
        let stderr = fs::File::create(folder.path().join("stderr"))?;
        let mut child = java
            .current_dir(folder.path())
            .env("XDG_RUNTIME_DIR", folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().context("a pipe")?);
        let mut program = Program { folder, child, stdin, stdout: BufReader::new(stdout) };
        program.read("ready")?;
        Ok(program)
    }

    /// Waits for this line.
    pub fn read(&mut self, line: &str) -> Result<()> {
        let mut read = String::new();
        self.stdout.read_line(&mut read)?;
        ensure!(read.trim_end() == line, "{read:?}, not {line:?}: {}", self.stderr());
        Ok(())
    }

    /// Has it do something.
    pub fn run(&mut self, line: &str) -> Result<()> {
        writeln!(self.stdin.as_mut().context("it has ended")?, "{line}")?;
        self.read(line)
    }

    /// Its id, as a word of a command.
    pub fn pid(&self) -> String {
        self.child.id().to_string()
    }

    /// What it and the agent wrote to stderr.
    pub fn stderr(&self) -> String {
        fs::read_to_string(self.folder.path().join("stderr")).unwrap_or_default()
    }

    /// Where the agent listens.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join(format!("instrument/{}.sock", self.child.id()))
    }

    /// A call of `instrument ctl`.
    pub fn ctl(&self, arguments: &[&str]) -> Result<Command> {
        let mut call = subject::call()?;
        call.env("XDG_RUNTIME_DIR", self.folder.path()).arg("ctl").args(arguments);
        Ok(call)
    }

    /// The answer to a request.
    pub fn ask(&self, request: &[&str]) -> Result<Value> {
        let output = self
            .ctl(&[&[self.pid().as_str(), "--json"], request].concat())?
            .run_quietly()
            .with_context(|| self.stderr())?;
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// The answer as text for people.
    pub fn text(&self, request: &[&str]) -> Result<String> {
        let output = self.ctl(&[&[self.pid().as_str()], request].concat())?.run_quietly()?;
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Why a request is refused.
    pub fn refused(&self, request: &[&str]) -> Result<String> {
        let output = self.ctl(&[&[self.pid().as_str()], request].concat())?.output()?;
        ensure!(output.status.code() == Some(1) && output.stdout.is_empty(), "{request:?}: {output:?}");
        Ok(String::from_utf8(output.stderr)?)
    }

    /// Sends bytes, and gives the whole reply.
    pub fn send(&self, bytes: &[u8]) -> Result<Value> {
        let mut stream = UnixStream::connect(self.socket())?;
        stream.write_all(bytes)?;
        reply(stream)
    }

    /// What it has recorded.
    pub fn profile(&self) -> Result<Profile> {
        let mut entries = fs::read_dir(self.folder.path())?.flatten().map(|entry| entry.path());
        let path =
            entries.find(|path| path.extension().is_some_and(|e| e == "iprof")).context("a profile")?;
        Ok(Profile::parse(&fs::read(path)?)?)
    }

    pub fn profiles(&self) -> Result<Vec<PathBuf>> {
        let entries = fs::read_dir(self.folder.path())?.flatten().map(|entry| entry.path());
        Ok(entries.filter(|path| path.extension().is_some_and(|e| e == "iprof")).collect())
    }

    /// Lets it end; the agent has said nothing.
    pub fn end(&mut self) -> Result<()> {
        self.stdin = None;
        let status = self.child.wait()?;
        ensure!(status.success() && self.stderr().is_empty(), "{status}: {}", self.stderr());
        Ok(())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// All that comes back.
pub fn reply(mut stream: UnixStream) -> Result<Value> {
    let mut text = String::new();
    // What was sent and not read makes an error of the end.
    let _ = stream.read_to_string(&mut text);
    ensure!(text.ends_with('\n') && text.lines().count() == 1, "{text:?}");
    Ok(serde_json::from_str(&text)?)
}
