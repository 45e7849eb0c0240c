//! The socket of a program that runs: nothing that is sent does harm, and nobody else gets at it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use instrument_tests::asked::{Program, reply};
use instrument_tests::jre;
use instrument_tests::machine::Run;
use instrument_tests::subject;
use serde_json::Value;
#[test]
fn garbage_does_no_harm() -> Result<()> {
    let mut program = Program::start(&jre::newest()?, "", &["-Xcheck:jni"])?;
    for (bytes, reason) in [
        (&b"\n"[..], "not a request: EOF"),
        (b"hello\n", "not a request: expected value"),
        (b"\xff\xfe\x00\n", "not a request: "),
        (b"[1]\n", "not a request: not an object"),
        (b"{\"request\":\"gc\"}\n", "it has no version"),
        (b"{\"v\":2,\"request\":\"gc\"}\n", "version 2 of the protocol; this is version 1"),
        (b"{\"v\":1,\"request\":\"dump\"}\n", "unknown variant `dump`"),
        (b"{\"v\":1,\"request\":\"thread\",\"id\":\"x\"}\n", "invalid type: string"),
        (b"{\"v\":1,\"request\":\"thread\",\"id\":99999999999999999999}\n", "invalid"),
        (b"{\"v\":1,\"request\":\"threads\",\"stacks\":-1}\n", "invalid value"),
        (b"{\"v\":1,\"request\":\"class\"}\n", "a class has a name or an id"),
        (b"{\"v\":1,\"request\":\"snapshot\",\"file\":\"here\"}\n", "a snapshot needs the absolute path"),
    ] {
        let reply = program.send(bytes)?;
        ensure!(reply["error"].as_str().is_some_and(|said| said.contains(reason)), "{reply}, not {reason}");
    }
    let deep = [&b"[".repeat(60_000)[..], b"\n"].concat();
    ensure!(program.send(&deep)?["error"].as_str().is_some_and(|said| said.contains("recursion limit")));
    let huge = vec![b' '; 2 << 20];
    let mut stream = UnixStream::connect(program.socket())?;
    // It is left alone before all of it was sent.
    let _ = stream.write_all(&huge);
    ensure!(reply(stream)?["error"].as_str().is_some_and(|said| said.contains("at most 1048576 bytes")));
    // Gone before the answer; and many at a time, of which each has its turn.
    for _ in 0..20 {
        UnixStream::connect(program.socket())?.write_all(b"{\"v\":1,\"request\":\"threads\"}\n")?;
    }
    let streams: Vec<UnixStream> =
        (0..20).map(|_| UnixStream::connect(program.socket())).collect::<Result<_, _>>()?;
    for mut stream in streams {
        stream.write_all(b"{\"v\":1,\"request\":\"status\"}\n")?;
        assert_eq!(reply(stream)?["ok"]["pid"], program.child.id());
    }
    // Whoever sends nothing is not waited for without end.
    let silent = UnixStream::connect(program.socket())?;
    assert_eq!(program.ask(&["status"])?["pid"], program.child.id());
    assert_eq!(reply(silent)?["error"], "the request did not come in time");
    program.run("call 1")?;
    program.end()
}

#[test]
fn the_socket_is_private_and_goes_with_the_program() -> Result<()> {
    let mut program = Program::start(&jre::newest()?, "", &[])?;
    let mode = |path: &Path| Ok::<u32, std::io::Error>(fs::metadata(path)?.permissions().mode() & 0o777);
    let socket = program.socket();
    let directory = socket.parent().context("a directory")?.to_owned();
    assert_eq!((mode(&directory)?, mode(&socket)?), (0o700, 0o600));
    let list = program.ctl(&["--json"])?.run_quietly()?;
    let list: Value = serde_json::from_slice(&list.stdout)?;
    ensure!(list.as_array().context("a list")?.iter().any(|one| one["pid"] == program.child.id()), "{list}");
    program.end()?;
    ensure!(!socket.exists(), "the socket is left");

    // A directory that others can use is not used.
    let open = tempfile::tempdir()?;
    fs::create_dir(open.path().join("instrument"))?;
    fs::set_permissions(open.path().join("instrument"), fs::Permissions::from_mode(0o755))?;
    let mut program = Program::start_in(open, &jre::newest()?, Some(""), &[])?;
    ensure!(program.stderr().contains("requests to this program are not answered: "), "{}", program.stderr());
    ensure!(program.stderr().contains("others may use it; its mode should be 0700"), "{}", program.stderr());
    let said = program.refused(&["status"])?;
    ensure!(said.contains("runs with the agent but does not answer"), "{said}");
    program.stdin = None;
    ensure!(program.child.wait()?.success());
    Ok(())
}

#[test]
fn a_socket_of_a_killed_program_is_replaced() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("socket").display().to_string();
    let options = format!("ctl={path}");
    let mut killed = Program::start(&jre::newest()?, &options, &[])?;
    let said = killed.ctl(&[&path, "status"])?.run_quietly()?;
    ensure!(String::from_utf8(said.stdout)?.contains(&format!("(pid {})", killed.pid())));
    killed.child.kill()?;
    killed.child.wait()?;
    ensure!(Path::new(&path).exists());
    let mut next = Program::start(&jre::newest()?, &options, &[])?;
    let status = next.ctl(&[&path, "status", "--json"])?.run_quietly()?;
    assert_eq!(serde_json::from_slice::<Value>(&status.stdout)?["pid"], next.child.id());
    // A third one does not take it from the living.
    let mut third = Program::start(&jre::newest()?, &options, &[])?;
    ensure!(third.stderr().contains("another process answers there"), "{}", third.stderr());
    third.stdin = None;
    third.child.wait()?;
    next.end()?;
    ensure!(!Path::new(&path).exists());

    // In the directory of the user, what is dead is not listed, and goes.
    let mut killed = Program::start(&jre::newest()?, "", &[])?;
    killed.child.kill()?;
    killed.child.wait()?;
    ensure!(killed.socket().exists());
    let list = killed.ctl(&["--json"])?.output()?;
    ensure!(!String::from_utf8(list.stdout)?.contains(&format!("\"pid\": {},", killed.pid())));
    ensure!(!killed.socket().exists());
    Ok(())
}

/// A process that is stopped accepts connections and never answers.
#[test]
fn stopped_programs_hold_up_nobody() -> Result<()> {
    let mut program = Program::start(&jre::newest()?, "", &[])?;
    let mut stopped = Program::start(&jre::newest()?, "", &[])?;
    let pid = stopped.pid();
    let signal = |name: &str| Command::new("kill").args([name, &pid]).run_quietly();
    let limit = Duration::from_secs(60);
    signal("-STOP")?;
    // The signal takes a moment to stop all threads.
    let state = || std::fs::read_to_string(format!("/proc/{pid}/stat"));
    let begin = std::time::Instant::now();
    while !state()?.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('T')) {
        ensure!(begin.elapsed() < limit, "it goes on: {}", state()?);
        std::thread::sleep(Duration::from_millis(5));
    }
    // One after the other, with the seconds that each has, they would take longer than the limit.
    for name in std::iter::once(pid.clone()).chain((1..=40).map(|n| (4_000_000_000_u32 + n).to_string())) {
        let beside = program.folder.path().join(format!("instrument/{name}.sock"));
        std::os::unix::fs::symlink(stopped.socket(), beside)?;
    }
    let list = program.ctl(&["--json"])?.capture_within(limit)?;
    let list: Value = serde_json::from_slice(&list.stdout)?;
    // Other programs of this user may be listed as well.
    let own = |row: &&Value| {
        let pid = row["pid"].as_u64().unwrap_or(0);
        pid > 4_000_000_000 || [program.child.id(), stopped.child.id()].map(u64::from).contains(&pid)
    };
    let rows: Vec<&Value> = list.as_array().context("a list")?.iter().filter(own).collect();
    assert_eq!(rows.len(), 42, "{list}");
    let row = |pid: u32| rows.iter().find(|row| row["pid"] == pid).context("a row");
    assert_eq!(row(program.child.id())?["recording"], "on");
    let said = row(stopped.child.id())?["error"].as_str().context("a reason")?;
    ensure!(
        said.starts_with("does not answer: the process is stopped") && said.contains("kill -CONT"),
        "{said}"
    );
    let text = String::from_utf8(stopped.ctl(&[])?.capture_within(limit)?.stdout)?;
    let mut rows = text.lines().map(|line| line.split_whitespace().take(4).collect::<Vec<_>>());
    assert!(rows.any(|words| words == [&pid, "does", "not", "answer"]), "{text}");
    for request in ["status", "threads", "gc"] {
        let output = stopped.ctl(&[&pid, request])?.capture_within(limit)?;
        let said = String::from_utf8(output.stderr)?;
        ensure!(
            output.status.code() == Some(1)
                && said.contains(&format!("process {pid}: does not answer: the process is stopped")),
            "{request}: {said}"
        );
    }
    signal("-CONT")?;
    assert_eq!(stopped.ask(&["status"])?["pid"], stopped.child.id());
    stopped.end()?;
    program.end()
}

#[test]
fn other_users_are_refused() -> Result<()> {
    let folder = tempfile::tempdir()?;
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
    let path = folder.path().join("socket").display().to_string();
    let mut program = Program::start(&jre::newest()?, &format!("ctl={path}"), &[])?;
    let binary = folder.path().join("instrument");
    fs::copy(subject::instrument()?, &binary)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o777))?;
    let call = |arguments: &[&str]| {
        Command::new(&binary).args(arguments).uid(65534).gid(65534).current_dir("/").output()
    };
    let Ok(refused) = call(&["ctl", &path, "pause"]) else {
        println!("not checked: only root can be another user");
        return program.end();
    };
    let said = String::from_utf8(refused.stderr)?;
    ensure!(
        refused.status.code() == Some(1) && said.contains("this program belongs to another user"),
        "{said}"
    );
    let said = String::from_utf8(call(&["ctl", &program.pid(), "pause"])?.stderr)?;
    ensure!(said.contains("belongs to another user (uid 0): only that user and root may ask it"), "{said}");
    assert_eq!(
        serde_json::from_slice::<Value>(&program.ctl(&[&path, "status", "--json"])?.run_quietly()?.stdout)?["recording"],
        "on"
    );
    program.end()
}

#[test]
fn a_process_that_cannot_be_reached_is_an_error_with_the_reason() -> Result<()> {
    let jre = jre::newest()?;
    let mut off = Program::start(&jre, "ctl=off", &[])?;
    ensure!(!off.socket().exists());
    ensure!(off.refused(&["status"])?.contains("it may be starting, or have the option ctl=off"));
    off.end()?;
    let mut plain = Program::start_in(tempfile::tempdir()?, &jre, None, &[])?;
    let said = plain.refused(&["status"])?;
    let cure = format!("runs without the agent: `instrument attach {}` brings it now", plain.pid());
    ensure!(said.contains(&cure), "{said}");
    ensure!(said.matches(&format!("process {}", plain.pid())).count() == 1, "{said}");
    let ctl = |arguments: &[&str]| plain.ctl(arguments)?.output().map_err(anyhow::Error::from);
    for (arguments, code, reason) in [
        (&["999999999", "status"][..], 1, "there is no process 999999999"),
        (&["main", "status"], 2, "main: neither a process id nor the path of a socket"),
        (&["status"], 2, "which process?"),
        (&["/nowhere/socket", "status"], 1, "/nowhere/socket: "),
        (&[&std::process::id().to_string(), "status"], 1, "is not a Java virtual machine"),
    ] {
        let output = ctl(arguments)?;
        let said = String::from_utf8(output.stderr)?;
        ensure!(output.status.code() == Some(code) && said.contains(reason), "{arguments:?}: {said}");
    }
    plain.end()
}
