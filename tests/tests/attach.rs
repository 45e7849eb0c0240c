//! `instrument attach`: programs that run already are recorded, and what cannot be attached to is an error with its cure.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use instrument_tests::agent;
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::Run;
use instrument_tests::subject::{self, MethodCounts, entries_of};
use rustix::process::{Pid, Signal, getuid, kill_process};
use tempfile::TempDir;

/// Longer than anything takes on a busy machine.
const LONG: Duration = Duration::from_secs(300);
/// A user who is not root.
const NOBODY: u32 = 65534;

fn classes() -> &'static Path {
    static CLASSES: OnceLock<TempDir> = OnceLock::new();
    let folder = CLASSES.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        agent::compile(&["Attached.java"], 11, folder.path()).unwrap();
        readable(folder.path()).unwrap();
        folder
    });
    folder.path()
}

/// Lets other users read a folder.
fn readable(folder: &Path) -> Result<()> {
    Command::new("chmod").args(["-R", "a+rX"]).arg(folder).run_quietly()?;
    Ok(())
}

fn jres() -> Vec<Jre> {
    jre::all().unwrap()
}

fn jre() -> Jre {
    jres().pop().unwrap()
}

/// `Attached`, as it runs in a folder of its own.
struct Program {
    folder: TempDir,
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Program {
    fn start(jre: &Jre, flags: &[&str], threads: u32) -> Result<Program> {
        Program::start_as(jre, flags, threads, None)
    }

    /// As another user, if there is one.
    fn start_as(jre: &Jre, flags: &[&str], threads: u32, user: Option<u32>) -> Result<Program> {
        let folder = tempfile::tempdir()?;
        let mut java = jre.java();
        if let Some(user) = user {
            chown(folder.path(), Some(user), Some(user))?;
            java.uid(user).gid(user);
        }
        java.args(flags).arg("-cp").arg(classes()).args(["Attached", &threads.to_string()]);
        let mut child = java
            .current_dir(folder.path())
            .env("XDG_RUNTIME_DIR", folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(folder.path().join("stderr"))?)
            .spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().context("a pipe")?);
        let mut program = Program { folder, child, stdin, stdout: BufReader::new(stdout) };
        let said = program.line()?;
        ensure!(said == "ready", "{said:?}: {}", program.stderr());
        Ok(program)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.stdout.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    /// Has it do something; what it says of that.
    fn run(&mut self, line: &str) -> Result<String> {
        writeln!(self.stdin.as_mut().context("it has ended")?, "{line}")?;
        let said = self.line()?;
        ensure!(said.starts_with(line), "{said:?}, not {line:?}: {}", self.stderr());
        Ok(said)
    }

    fn stderr(&self) -> String {
        fs::read_to_string(self.folder.path().join("stderr")).unwrap_or_default()
    }

    fn pid(&self) -> String {
        self.child.id().to_string()
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn call(&self, words: &[&str]) -> Result<Command> {
        let mut call = subject::call()?;
        call.current_dir(self.folder.path()).env("XDG_RUNTIME_DIR", self.folder.path()).args(words);
        Ok(call)
    }

    /// `instrument attach` with these options: how it ended.
    fn attach(&self, options: &[&str]) -> Result<Output> {
        Ok(self.call(&[&["attach", self.pid().as_str()], options].concat())?.output()?)
    }

    fn attached(&self, options: &[&str]) -> Result<()> {
        let output = self.attach(options)?;
        ensure!(output.status.success(), "{}: {}", text(&output.stderr), self.stderr());
        let said = text(&output.stderr);
        ensure!(said.starts_with(&format!("process {} (Attached) is recorded: /", self.pid())), "{said}");
        Ok(())
    }

    /// Why it cannot be attached to.
    fn refused(&self, options: &[&str]) -> Result<String> {
        let output = self.attach(options)?;
        ensure!(output.status.code() == Some(1) && output.stdout.is_empty(), "{output:?}");
        Ok(text(&output.stderr))
    }

    /// Lets it end by itself.
    fn end(&mut self) -> Result<()> {
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

    fn methods(&self) -> Result<Vec<MethodCounts>> {
        subject::profile(self.folder.path())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Nothing of an attach may stay in the folder of the program.
fn is_tidy(program: &Program) -> Result<bool> {
    let names = fs::read_dir(program.folder.path())?.map(|entry| Ok(entry?.file_name()));
    let names: Vec<_> = names.collect::<Result<_>>()?;
    Ok(names.iter().all(|name| !name.to_string_lossy().contains("attach")))
}

#[test]
fn a_program_that_runs_is_recorded_from_then_on() -> Result<()> {
    for jre in jres() {
        let mut program = Program::start(&jre, &[], 3)?;
        program.run("call 5")?;
        program.run("in")?;
        program.attached(&["--name", "joined"])?;
        program.run("call 1000")?;
        program.run("fail 3")?;
        program.run("in")?;
        // A method that runs when we come is recorded from its next call on.
        writeln!(program.stdin.as_mut().context("a pipe")?, "out")?;
        ensure!(program.line()? == "out");
        program.end()?;
        let methods = program.methods()?;
        let case = format!("Java {}: {methods:?}", jre.version);
        assert_eq!(entries_of(&methods, "Attached.call"), 1, "{case}");
        assert_eq!(entries_of(&methods, "Attached.serve"), 1, "{case}");
        ensure!(entries_of(&methods, "Attached.leaf") > 1000, "{case}");
        ensure!(entries_of(&methods, "Attached.recurse") > 0, "{case}");
        ensure!(methods.iter().all(|m| m.unclosed + m.unmatched == 0), "{case}");
        let aborted: u64 = methods.iter().map(|m| m.aborted).sum();
        ensure!(aborted > 0, "{case}");
        ensure!(is_tidy(&program)?);
    }
    Ok(())
}

#[test]
fn a_program_is_found_by_its_name_and_listed() -> Result<()> {
    let program = Program::start(&jre(), &["-Dx=y"], 0)?;
    let listed = program.call(&["attach"])?.run_quietly()?;
    ensure!(text(&listed.stdout).contains(&format!("{:>8}  Attached\n", program.pid())), "{listed:?}");
    let nobody = program.call(&["attach", "NoSuchProgram"])?.output()?;
    ensure!(nobody.status.code() == Some(1));
    ensure!(
        text(&nobody.stderr).contains("no Java program of this user is called NoSuchProgram"),
        "{nobody:?}"
    );
    // Another test may run a program of the same name.
    let by_name = program.call(&["attach", "Attached"])?.output()?;
    let said = text(&by_name.stderr);
    ensure!(by_name.status.success() || said.contains("give the process id"), "{said}");
    Ok(())
}

#[test]
fn options_of_any_length_and_with_any_character_arrive() -> Result<()> {
    let mut program = Program::start(&jre(), &[], 0)?;
    let folder = program.at("a b,c'd\"e=f\\g");
    fs::create_dir(&folder)?;
    let many: Vec<String> = (0..400).map(|i| format!("com.acme.module{i}.**")).collect();
    let excluded = many.join(":");
    let out = folder.to_str().context("UTF-8")?;
    program.attached(&[
        "-o",
        out,
        "--exclude",
        &excluded,
        "--exclude",
        "Attached.leaf(int)",
        "--record",
        "counts",
    ])?;
    program.run("call 10")?;
    program.end()?;
    let methods = subject::profile(&folder)?;
    assert_eq!(entries_of(&methods, "Attached.call"), 1, "{methods:?}");
    assert_eq!(entries_of(&methods, "Attached.leaf"), 0, "{methods:?}");
    assert_eq!(entries_of(&methods, "Attached$Item.<init>"), 10, "{methods:?}");
    Ok(())
}

#[test]
fn what_cannot_be_attached_to_is_an_error_with_its_cure() -> Result<()> {
    let jre = jre();
    for (flag, reasons) in [
        ("-XX:+DisableAttachMechanism", &["-XX:+DisableAttachMechanism", "start it without this option"][..]),
        ("-XX:-EnableDynamicAgentLoading", &["start it with -XX:+EnableDynamicAgentLoading"]),
    ] {
        let mut program = Program::start(&jre, &[flag], 0)?;
        let said = program.refused(&[])?;
        ensure!(reasons.iter().all(|reason| said.contains(reason)), "{flag}: {said}");
        // It was not harmed, and nothing was printed.
        program.run("call 1")?;
        program.end()?;
        ensure!(is_tidy(&program)? && program.stderr().is_empty(), "{flag}: {}", program.stderr());
    }
    // It catches no SIGQUIT, and listens from the start.
    let mut program = Program::start(&jre, &["-Xrs"], 0)?;
    program.attached(&[])?;
    program.end()?;
    let mut program = Program::start(&jre, &[], 0)?;
    for (options, code, reason) in [
        (&["--early"][..], 2, "--early is about the start of a program"),
        (&["--subclasses-of", "java.lang.Thread"], 2, "--subclasses-of needs all classes at once"),
        (&["--agent", "/nowhere/agent.so"], 1, "/nowhere/agent.so"),
        (&["--record", "off"], 1, "record=off"),
        (&["--ids", "/dev/null"], 1, "not a regular file"),
        (&["-o", "/nowhere/x.iprof"], 1, "the profile cannot be created"),
    ] {
        let output = program.attach(options)?;
        let said = text(&output.stderr);
        ensure!(output.status.code() == Some(code) && said.contains(reason), "{options:?}: {said}");
    }
    program.run("call 1")?;
    program.end()?;
    for (target, reason) in [
        (std::process::id().to_string(), "is not a Java virtual machine"),
        ("999999999".to_owned(), "there is no process 999999999"),
    ] {
        let output = subject::call()?.args(["attach", &target]).output()?;
        ensure!(output.status.code() == Some(1) && text(&output.stderr).contains(reason), "{output:?}");
    }
    Ok(())
}

#[test]
fn another_users_program_is_refused_but_not_to_root() -> Result<()> {
    if !getuid().is_root() {
        // The first process is root's.
        let output = subject::call()?.args(["attach", "1"]).output()?;
        ensure!(text(&output.stderr).contains("belongs to another user (uid 0)"), "{output:?}");
        return Ok(());
    }
    let program = Program::start(&jre(), &[], 0)?;
    let mut call = subject::call()?;
    call.args(["attach", &program.pid()]).current_dir("/").uid(NOBODY).gid(NOBODY);
    match call.output() {
        Ok(output) => {
            ensure!(output.status.code() == Some(1), "{output:?}");
            ensure!(text(&output.stderr).contains("belongs to another user (uid 0)"), "{output:?}");
        }
        Err(error) => println!("not run: another user cannot run the binary: {error}"),
    }
    for jre in jres() {
        if !runs_as_nobody(&jre) {
            println!("not run: another user cannot run Java {}", jre.version);
            continue;
        }
        let mut program = Program::start_as(&jre, &[], 0, Some(NOBODY))?;
        program.attached(&[])?;
        program.run("call 10")?;
        program.end()?;
        assert_eq!(entries_of(&program.methods()?, "Attached.leaf"), 10, "Java {}", jre.version);
    }
    Ok(())
}

fn runs_as_nobody(jre: &Jre) -> bool {
    let mut java = jre.java();
    java.arg("-version").uid(NOBODY).gid(NOBODY);
    // Its user must be able to read the agent, too.
    let library = agent::library().unwrap();
    let mut read = Command::new("head");
    read.args(["-c", "1"]).arg(library).uid(NOBODY).gid(NOBODY);
    [java, read].iter_mut().all(|call| call.output().is_ok_and(|output| output.status.success()))
}

#[test]
fn a_program_that_is_stopped_is_given_up() -> Result<()> {
    for jre in jres() {
        let mut program = Program::start(&jre, &[], 1)?;
        signal(&program.child, Signal::STOP);
        // Until the kernel says so.
        let stat = format!("/proc/{}/stat", program.pid());
        let end = Instant::now() + LONG;
        while !fs::read_to_string(&stat)?.contains(") T ") {
            ensure!(Instant::now() < end, "it does not stop");
            std::thread::sleep(Duration::from_millis(5));
        }
        let said = program.refused(&[])?;
        ensure!(said.contains("is stopped, by SIGSTOP or by a debugger; `kill -CONT"), "{said}");
        signal(&program.child, Signal::CONT);
        program.run("call 1")?;
        ensure!(is_tidy(&program)?);
        // It may have taken the late signal for a wish by now.
        program.attached(&[])?;
        program.run("call 7")?;
        program.end()?;
        ensure!(entries_of(&program.methods()?, "Attached.leaf") >= 7, "Java {}", jre.version);
    }
    Ok(())
}

#[test]
fn a_program_that_is_killed_meanwhile_does_no_harm() -> Result<()> {
    let jres = jres();
    for round in 0..8u64 {
        let mut program = Program::start(&jres[round as usize % jres.len()], &[], 2)?;
        let attach =
            program.call(&["attach", &program.pid()])?.stdin(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        std::thread::sleep(Duration::from_millis(round * 12));
        program.child.kill()?;
        program.child.wait()?;
        let output = attach.wait_with_output()?;
        let said = text(&output.stderr);
        ensure!(matches!(output.status.code(), Some(0 | 1)), "round {round}: {output:?}");
        ensure!(said.contains("process"), "round {round}: {said}");
        if output.status.code() == Some(0) {
            program.methods()?;
        }
        ensure!(is_tidy(&program)?);
    }
    Ok(())
}

#[test]
fn who_attaches_may_be_killed() -> Result<()> {
    let jre = jre();
    for round in 0..6u64 {
        let mut program = Program::start(&jre, &[], 2)?;
        let mut attach =
            program.call(&["attach", &program.pid()])?.stdin(Stdio::null()).stderr(Stdio::null()).spawn()?;
        std::thread::sleep(Duration::from_millis(round * 10));
        attach.kill()?;
        attach.wait()?;
        program.run("call 10")?;
        program.end()?;
    }
    Ok(())
}
