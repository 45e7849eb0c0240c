//! `instrument ship` beside programs that are recorded: what still runs is left alone, and shipped when it has ended, however it does.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use instrument_tests::machine::{Jdk, Run};
use instrument_tests::subject;

/// A busy machine may take its time.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program that does what it reads.
struct Program {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Program {
    fn start(jdk: &Jdk, classes: &Path, folder: &Path) -> Result<Program> {
        fs::create_dir(folder)?;
        let mut java = jdk.brief_java();
        java.arg("-cp").arg(classes).arg("Asked").current_dir(folder);
        let mut child = java.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().context("a pipe")?);
        Ok(Program { child, stdin, stdout: BufReader::new(stdout) })
    }

    /// Has it do something; returns when it has.
    fn run(&mut self, line: &str) -> Result<()> {
        writeln!(self.stdin.as_ref().context("it was ended")?, "{line}")?;
        let mut said = String::new();
        while said.trim_end() != line {
            said.clear();
            ensure!(self.stdout.read_line(&mut said)? > 0, "it ended");
        }
        Ok(())
    }
}

fn profiles(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten().flat_map(|entry| {
        let path = entry.path();
        if path.is_dir() { profiles(&path) } else { vec![path] }
    });
    found.filter(|path| path.extension().is_some_and(|end| end == "iprof")).collect()
}

fn until(what: &str, is_so: impl Fn() -> bool) -> Result<()> {
    let start = Instant::now();
    while !is_so() {
        ensure!(start.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

#[test]
fn a_profile_is_shipped_when_its_program_has_ended() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    fs::create_dir(&from)?;
    fs::create_dir(&to)?;
    let jdk = Jdk::default_kit()?;
    let (plain, rewritten) = (jdk.compile(&["agent/Asked.java"], &[])?, folder.path().join("rewritten"));
    subject::call()?.args(["rewrite", "-o"]).arg(&rewritten).arg(&plain).run_quietly()?;
    let mut programs = [
        Program::start(jdk, &rewritten, &from.join("ended"))?,
        Program::start(jdk, &rewritten, &from.join("killed"))?,
    ];
    for program in &mut programs {
        program.run("call 1000")?;
    }
    ensure!(profiles(&from).len() == 2, "{:?}", profiles(&from));
    // They are mapped: whatever the time of the last change is, they are not finished.
    let once = || {
        subject::call().map(|mut ship| {
            ship.arg("ship").arg(&from).arg("--to").arg(&to).args(["--settled", "0s"]);
            ship
        })
    };
    let said = once()?.run_quietly()?.stderr;
    let said = String::from_utf8_lossy(&said);
    ensure!(said.contains("shipped 0 profiles") && said.contains("; 2 still written"), "{said}");
    let mut watch = once()?;
    let mut watch = watch.args(["--watch", "--interval", "50ms"]).stderr(Stdio::piped()).spawn()?;
    std::thread::sleep(Duration::from_millis(500));
    ensure!(profiles(&to).is_empty(), "{:?}", profiles(&to));
    let [ended, killed] = &mut programs;
    ended.run("call 234")?;
    drop(ended.stdin.take());
    ensure!(ended.child.wait()?.success(), "it failed");
    until("the profile of a program that ended", || profiles(&to).len() == 1)?;
    killed.child.kill()?;
    killed.child.wait()?;
    until("the profile of a program that was killed", || profiles(&to).len() == 2)?;
    Command::new("kill").arg(watch.id().to_string()).run_quietly()?;
    ensure!(watch.wait()?.success(), "the watch failed");
    // The bytes are those of the sources, and the calls are all there.
    let bytes = |paths: Vec<PathBuf>| -> Result<Vec<Vec<u8>>> {
        let mut all = paths.iter().map(fs::read).collect::<Result<Vec<_>, _>>()?;
        all.sort();
        Ok(all)
    };
    ensure!(bytes(profiles(&from))? == bytes(profiles(&to))?, "other bytes");
    let report = subject::call()?
        .args(["xprof", "--method", "Asked#leaf", "--csv"])
        .args(profiles(&to))
        .run_quietly()?;
    let report = String::from_utf8(report.stdout)?;
    let row = report.lines().find(|line| line.contains("Asked.leaf")).context("a row")?;
    ensure!(row.contains(",method,2234,"), "{report}");
    Ok(())
}
