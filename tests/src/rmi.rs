//! Programs that call each other: those of `tests/java/rmi`, on virtual machines of several versions, each with its profile.

use crate::shared;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use anyhow::{Context, Result, ensure};
use instrument_trace::{Profile, RemoteCall, RemoteCallKind, Side, Uid};
use serde_json::Value;

use crate::agent;
use crate::jre::{self, Jre};
use crate::machine::{Jdk, Run, root};
use crate::subject;

/// What these tests ask of the agent.
pub const TRANSFORMS: &str = "transform=method-events:thread-links:rmi";

/// The programs, compiled for the oldest version.
pub fn classes() -> PathBuf {
    shared::folder("rmi", |folder| {
        let sources = fs::read_dir(root().join("tests/java/rmi"))?.map(|e| e.unwrap().path());
        let mut javac = Jdk::default_kit()?.tool("javac");
        javac.args(["-nowarn", "-Xlint:-options", "--release", "11", "-d"]).arg(folder).args(sources);
        javac.run_quietly()?;
        Ok(())
    })
}

/// Virtual machines, oldest first, again and again.
pub fn jre(index: usize) -> Jre {
    static JRES: OnceLock<Vec<Jre>> = OnceLock::new();
    let all = JRES.get_or_init(|| jre::all().unwrap());
    all[index % all.len()].clone()
}

/// A port that nobody listens at, and 15 more: below those that are given to whoever asks for any.
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let next = std::process::id().wrapping_mul(61).wrapping_add(NEXT.fetch_add(1, Relaxed));
        let port = (10_000 + next % 1_300 * 16) as u16;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// A call of `java` in a folder; under the agent, with these options and a name for its profile, or without it.
pub fn java(jre: &Jre, options: Option<&str>, name: &str, folder: &Path) -> Result<Command> {
    let mut java = jre.brief_java();
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

/// What `instrument merge` makes of profiles.
pub fn merge(files: &[PathBuf], options: &[&str]) -> Result<Output> {
    subject::call()?.arg("merge").args(options).args(files).capture()
}

/// The same as a value, without a warning. Checks that the tree over all processes has every call that was made.
pub fn merged(files: &[PathBuf], options: &[&str]) -> Result<Value> {
    all_are_listed(files, &[])?;
    quietly_merged(files, options)
}

fn quietly_merged(files: &[PathBuf], options: &[&str]) -> Result<Value> {
    let output = merge(files, &[&["--json"], options].concat())?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success() && !said.contains("warning"), "{}: {said}", output.status);
    ensure!(!said.contains("the tree does not have"), "{said}");
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Checks that the tree over all processes has every call that was made.
pub fn all_are_listed(files: &[PathBuf], options: &[&str]) -> Result<()> {
    let merged = quietly_merged(files, &[&["--process", "all"], options].concat())?;
    let processes = merged["matching"]["processes"].as_array().context("processes")?;
    let made = processes.iter().filter_map(|process| process["made"].as_u64()).sum::<u64>();
    let resources = merged["xtree"]["resources"].as_array().context("resources")?;
    let column = resources.iter().position(|of| of["name"] == "remote-calls").context("remote-calls")?;
    let told = &merged["xtree"]["tree"]["cum"][column];
    ensure!(told.as_u64() == Some(made), "{told} of {made} calls are in the tree");
    Ok(())
}

/// Calls of a merge that were not matched: process, side, reason, where the other side is (a process's index or an address), and how many.
pub fn unmatched(merged: &Value) -> Vec<(u64, String, String, String, u64)> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let rows = merged["matching"]["unmatched"].as_array().cloned().unwrap_or_default();
    let row = |row: Value| {
        let peer = if row["peer"].is_null() { &row["address"] } else { &row["peer"] };
        let count = |key: &str| row[key].as_u64().unwrap_or_default();
        (count("process"), text(&row["side"]), text(&row["reason"]), text(peer), count("calls"))
    };
    rows.into_iter().map(row).collect()
}

/// Calls of a merge that were matched: by return, by place, by ports.
pub fn matched(merged: &Value) -> [u64; 3] {
    let rows = merged["matching"]["matched"].as_array().cloned().unwrap_or_default();
    ["by_return", "by_place", "by_ports"].map(|how| rows.iter().filter_map(|row| row[how].as_u64()).sum())
}

/// A program that says when it is ready, and runs until its standard input is closed.
pub struct Running {
    /// Its process.
    pub child: Child,
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

    /// Gives it a line to read.
    pub fn tell(&mut self, line: &str) -> Result<()> {
        Ok(writeln!(self.stdin.as_ref().context("it has ended")?, "{line}")?)
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

/// What one process recorded.
pub struct Recorded {
    /// The whole of it.
    pub profile: Profile,
    pub calls: Vec<RemoteCall>,
}

impl Recorded {
    /// Reads the one profile of a name; nothing of it may be damaged.
    pub fn of(folder: &Path, name: &str) -> Result<Recorded> {
        let file = File::open(profile(folder, name)?)?;
        let profile = Profile::open(&file)?;
        ensure!(profile.damage.is_empty(), "{name}: {:?}", profile.damage);
        ensure!(profile.imbalances().is_empty(), "{name}: {:?}", profile.imbalances());
        let mut calls = Vec::new();
        profile.visit_remote_calls(&file, |call| calls.push(*call))?;
        Ok(Recorded { profile, calls })
    }

    /// A text of the class names.
    pub fn text(&self, call: &RemoteCall, number: u32) -> &str {
        self.profile.copies[&call.copy].class_names.get(&number).map_or("", String::as_str)
    }

    /// The method of a call.
    pub fn method(&self, call: &RemoteCall) -> &str {
        self.text(call, call.method)
    }

    /// Side, local port, remote port, incarnation.
    pub fn connection(&self, call: &RemoteCall) -> Option<(Side, u16, u16, u32)> {
        let connections = &self.profile.connections;
        let found = connections.iter().find(|c| (c.copy, c.number) == (call.copy, call.connection))?;
        Some((found.side, found.local_port, found.remote_port, found.incarnation))
    }
}

/// Checks each record for itself, and every pair that a UID makes. Returns the pairs: process and position of both.
pub fn pairs(processes: &[Recorded]) -> Result<Vec<[(usize, usize); 2]>> {
    let mut by_uid: BTreeMap<Uid, Vec<(usize, usize)>> = BTreeMap::new();
    for (process, recorded) in processes.iter().enumerate() {
        for (at, call) in recorded.calls.iter().enumerate() {
            let clocks = [call.begin, call.sent, call.returned, call.end];
            let passed: Vec<u64> = clocks.into_iter().filter(|clock| *clock != 0).collect();
            ensure!(passed.is_sorted(), "{call:?}");
            // A call may fail before it has a connection; or its process ends: the JDK renews its references until then.
            let connected = call.connection != 0 && call.ordinal != 0;
            let is_cut_off = call.sent == 0 && call.end == 0;
            ensure!(call.thread != 0 && (connected || call.failed || is_cut_off), "{call:?}");
            if let Some(uid) = call.return_id {
                by_uid.entry(uid).or_default().push((process, at));
            }
        }
    }
    let mut pairs = Vec::new();
    for (uid, places) in by_uid {
        let calls: Vec<&RemoteCall> = places.iter().map(|&(p, at)| &processes[p].calls[at]).collect();
        ensure!(calls.len() <= 2, "{uid:?}: {calls:?}");
        let [a, b] = calls[..] else { continue };
        ensure!(a.kind != b.kind, "{a:?} {b:?}");
        let made = usize::from(a.kind == RemoteCallKind::Served);
        let ends = [places[made], places[1 - made]];
        let [client, server] = ends.map(|(process, at)| (&processes[process], &processes[process].calls[at]));
        let (made, served) = (client.1, server.1);
        ensure!(made.object == served.object, "{made:?} {served:?}");
        // A server reads the method of an object that it has.
        let method = |side: (&Recorded, &RemoteCall)| {
            (side.1.hash, side.1.operation, side.0.method(side.1).to_owned())
        };
        ensure!(served.no_such_object || method(client) == method(server), "{made:?} {served:?}");
        ensure!(made.ordinal == served.ordinal, "{made:?} {served:?}");
        // What a client is sent may be about its arguments.
        let threw = served.threw || (served.failed && served.sent == 0);
        ensure!((made.threw, made.no_such_object) == (threw, served.no_such_object), "{made:?} {served:?}");
        let (Some(from), Some(to)) = (client.0.connection(made), server.0.connection(served)) else {
            anyhow::bail!("{made:?} {served:?}: no connection");
        };
        ensure!((from.0, to.0) == (Side::Connected, Side::Accepted), "{from:?} {to:?}");
        // Another process may have used the client's port before.
        ensure!((from.1, from.2) == (to.2, to.1) && from.3 <= to.3, "{from:?} {to:?}");
        pairs.push(ends);
    }
    Ok(pairs)
}

/// How often the way of contexts whose names begin so was gone in the tree of a merge.
pub fn count(merged: &Value, way: &[&str]) -> Option<u64> {
    let mut at = &merged["xtree"]["tree"];
    for part in way {
        let children = at["children"].as_array()?;
        at = children
            .iter()
            .find(|child| child["name"].as_str().is_some_and(|name| name.starts_with(part)))?;
    }
    at["n"].as_u64()
}

/// A client and its chain of servers, once, in a new folder. Their profiles, that of the client first.
///
/// # Errors
/// One of them fails, or leaves no profile.
pub fn chain(folder: &Path) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(folder)?;
    let port = free_port().to_string();
    let options = format!("{TRANSFORMS},clock=monotonic,record=tree");
    let mut servers = Vec::new();
    for (index, (name, next)) in [("s2", "end"), ("s1", "s2")].into_iter().enumerate() {
        let mut java = java(&jre(index), Some(&options), name, folder)?;
        java.args(["BeaconServer", &port, name, next]);
        servers.push(Running::start(java, name, folder)?);
    }
    let mut client = java(&jre(2), Some(&options), "client", folder)?;
    client.args(["BeaconClient", &port, "s1", "20"]).run_quietly()?;
    for server in servers {
        server.stop()?;
    }
    ["client", "s1", "s2"].iter().map(|name| profile(folder, name)).collect()
}
