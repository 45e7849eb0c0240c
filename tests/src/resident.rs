//! Programs that read lines and do what these say, so that a test can attach to them at a known moment.

use crate::agent;
use crate::jre::Jre;
use crate::machine::{LONGEST_RUN, Run};
use crate::shared;
use crate::subject::{self, MethodCounts};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The folder of `Attached`, `Subgraph`, `TwoRoots` and `RunningRoots`, compiled.
pub fn classes() -> PathBuf {
    shared::folder("resident", |folder| {
        let names = ["Attached.java", "Subgraph.java", "TwoRoots.java", "RunningRoots.java", "Plugins.java"];
        agent::compile(&names, 11, folder)?;
        readable(folder)?;
        Ok(())
    })
}

/// Lets other users read a folder.
fn readable(folder: &Path) -> Result<()> {
    Command::new("chmod").args(["-R", "a+rX"]).arg(folder).run_quietly()?;
    Ok(())
}

/// Such a program as it runs in a folder of its own.
pub struct Program {
    /// Its working directory.
    pub folder: TempDir,
    /// The process.
    pub child: Child,
    /// None: it was told to end.
    pub stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    name: String,
}

impl Program {
    /// Starts a main class; it is ready when this returns. As another user, if there is one.
    pub fn start(jre: &Jre, flags: &[&str], main: &[&str], user: Option<u32>) -> Result<Program> {
        Program::start_of(&classes(), jre, flags, main, user)
    }

    /// As [`start`](Self::start), with classes that are not those of [`classes`].
    pub fn start_of(
        classes: &Path,
        jre: &Jre,
        flags: &[&str],
        main: &[&str],
        user: Option<u32>,
    ) -> Result<Program> {
        let folder = tempfile::tempdir()?;
        let mut java = jre.java();
        if let Some(user) = user {
            chown(folder.path(), Some(user), Some(user))?;
            java.uid(user).gid(user);
        }
        java.args(flags).arg("-cp").arg(classes).args(main);
        let mut child = java
            .current_dir(folder.path())
            .env("XDG_RUNTIME_DIR", folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(folder.path().join("stderr"))?)
            .spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().context("a pipe")?);
        let stdout = BufReader::new(stdout);
        let mut program = Program { folder, child, stdin, stdout, name: main[0].to_owned() };
        let said = program.line()?;
        ensure!(said == "ready", "{said:?}: {}", program.stderr());
        Ok(program)
    }

    /// The next line that it prints.
    pub fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.stdout.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    /// Has it do something; what it says of that.
    pub fn run(&mut self, line: &str) -> Result<String> {
        writeln!(self.stdin.as_mut().context("it has ended")?, "{line}")?;
        let said = self.line()?;
        ensure!(said.starts_with(line), "{said:?}, not {line:?}: {}", self.stderr());
        Ok(said)
    }

    /// What it has printed on standard error.
    pub fn stderr(&self) -> String {
        fs::read_to_string(self.folder.path().join("stderr")).unwrap_or_default()
    }

    /// Its process id.
    pub fn pid(&self) -> String {
        self.child.id().to_string()
    }

    /// A path in its folder.
    pub fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The binary under test, in its folder.
    pub fn call(&self, words: &[&str]) -> Result<Command> {
        let mut call = subject::call()?;
        call.current_dir(self.folder.path()).env("XDG_RUNTIME_DIR", self.folder.path()).args(words);
        Ok(call)
    }

    /// `instrument attach` with these options: how it ended.
    pub fn attach(&self, options: &[&str]) -> Result<Output> {
        // On a busy machine it may stand still for long.
        let patient: &[&str] = if options.contains(&"--max-pause") { &[] } else { &["--max-pause", "1h"] };
        Ok(self.call(&[&["attach", self.pid().as_str()], patient, options].concat())?.output()?)
    }

    /// The same, which must succeed.
    pub fn attached(&self, options: &[&str]) -> Result<()> {
        let output = self.attach(options)?;
        ensure!(output.status.success(), "{}: {}", text(&output.stderr), self.stderr());
        let said = text(&output.stderr);
        ensure!(
            said.starts_with(&format!("process {} ({}) is recorded: /", self.pid(), self.name)),
            "{said}"
        );
        Ok(())
    }

    /// Why it cannot be attached to.
    pub fn refused(&self, options: &[&str]) -> Result<String> {
        let output = self.attach(options)?;
        ensure!(output.status.code() == Some(1) && output.stdout.is_empty(), "{output:?}");
        Ok(text(&output.stderr))
    }

    /// Lets it end by itself.
    pub fn end(&mut self) -> Result<()> {
        self.stdin = None;
        // One for each `in`, and one for `main`.
        let mut said = "out".to_owned();
        while said == "out" {
            said = self.line()?;
        }
        ensure!(said == "end", "{said}: {}", self.stderr());
        ensure!(self.child.wait()?.success(), "{}", self.stderr());
        Ok(())
    }

    /// Ends the recording.
    pub fn stop(&self) -> Result<()> {
        let said = self.call(&["ctl", &self.pid(), "stop"])?.run_quietly().with_context(|| self.stderr())?;
        let said = text(&said.stdout);
        ensure!(said.starts_with("recording has ended: /") && !said.contains("could not"), "{said}");
        Ok(())
    }

    /// How many files it has open.
    pub fn files(&self) -> Result<usize> {
        Ok(fs::read_dir(format!("/proc/{}/fd", self.pid()))?.count())
    }

    /// Waits until no thread and no more than so many open files are left of a recording: the agent may still be closing one.
    ///
    /// # Errors
    /// More stay.
    pub fn has_left(&mut self, files: usize) -> Result<()> {
        let end = Instant::now() + LONGEST_RUN;
        loop {
            let (own, open) = (self.run("own")?, self.files()?);
            if own == "own 0" && open <= files {
                return Ok(());
            }
            ensure!(Instant::now() < end, "{own}, {open} files of {files}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The methods of one recording, which is complete: everything is where it belongs.
    pub fn recorded(&self, file: &str) -> Result<Vec<MethodCounts>> {
        let folder = tempfile::tempdir()?;
        fs::copy(self.at(file), folder.path().join(file))?;
        let methods = subject::profile(folder.path())?;
        ensure!(methods.iter().all(|m| m.unclosed + m.unmatched == 0), "{methods:?}");
        Ok(methods)
    }

    /// The methods of its profiles.
    pub fn methods(&self) -> Result<Vec<MethodCounts>> {
        subject::profile(self.folder.path())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a program has printed.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
