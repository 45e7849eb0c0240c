//! Threads, Heap, Monitors, Remote calls and Timeline in a real browser: what does not hold in a scenario of `tests/viewer/sections.js` and
//! `timeline.js` fails here.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use instrument_names::id_map::{IdMap, MethodInfo, gz};
use instrument_tests::agent;
use instrument_tests::browser::{Server, drive, page, pictures};
use instrument_tests::jre;
use instrument_tests::machine::Run;
use instrument_tests::rmi::{self, Running, TRANSFORMS, free_port};
use instrument_tests::subject;
use instrument_trace::testing::{Script, Writer};
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

    // Their timeline has arrows from those who called to those who served.
    let found = drive("untraced", &[&files[0], &files[4], Path::new("remote")])?;
    ensure!(found["arrows"]["remote"].as_u64() > Some(5) && found["seen"].as_u64() > Some(0), "{found}");

    // The same profiles as they are, each process for itself, have the same calls.
    let plain = folder.path().join("plain.html");
    subject::call()?.args(["--quiet", "view", "--html"]).arg(&plain).args(&profiles).run_quietly()?;
    let tabs = drive("absent", &[&plain])?["tabs"].clone();
    ensure!(tabs.as_array().is_some_and(|tabs| tabs.contains(&"remote".into())), "{tabs}");
    Ok(())
}

/// A tree as pairs of a name and its figures, whatever the order of equal ones.
fn plain(node: &Value) -> Value {
    let mut children: Vec<_> = node["children"].as_array().into_iter().flatten().map(plain).collect();
    children.sort_by_key(Value::to_string);
    serde_json::json!([node["name"], node["n"], node["base"], node["cum"], children])
}

/// Compares windows that a page shows with what the commands print that it names; how many contexts they have.
fn same_windows(found: &Value) -> Result<usize> {
    let mut contexts = 0;
    for window in found["windows"].as_array().context("windows")? {
        let command = window["command"].as_str().context("command")?;
        let script = format!("instrument() {{ \"$BIN\" --quiet \"$@\"; }}; {command} --json");
        let mut shell = std::process::Command::new("sh");
        let output = shell.arg("-c").arg(script).env("BIN", subject::instrument()?).run_quietly()?;
        let printed: Value = serde_json::from_slice(&output.stdout)?;
        ensure!(printed["total"] == window["total"], "{command}: {} {}", printed["total"], window["total"]);
        let (ours, theirs) = (plain(&window["tree"]), plain(&printed["tree"]));
        ensure!(ours == theirs, "{command}\n{ours}\n{theirs}");
        contexts += ours.to_string().matches("[\"").count();
    }
    Ok(contexts)
}

/// A window of a page in one file, and of one that a server answers, are what the command prints that stands below it.
#[test]
fn a_window_of_the_timeline_is_that_of_the_command_line() -> Result<()> {
    let options = "threads=on,owners=all,clock=monotonic,record=trace";
    let recorded = Recorded::new(&["Contention", "measure"], options)?;
    let html = page(&recorded.profile, &recorded.folder.path().join("page.html"))?;
    let server = Server::start(&recorded.profile)?;
    for (address, name) in [(&html, "file"), (&server.address, "served")] {
        let found = drive("timeline", &[address, &pictures()?, Path::new(name)])?;
        ensure!(found["rows"].as_u64() > Some(2) && found["waits"].as_u64() > Some(2), "{found}");
        ensure!(found["arrows"].as_u64() > Some(1), "{found}");
        ensure!(same_windows(&found)? > 10, "{found}");
    }
    Ok(())
}

/// Without a trace: lives, waits, who started whom, and what is missing.
#[test]
fn a_timeline_without_a_trace_says_so() -> Result<()> {
    let recorded = Recorded::new(&["Contention", "measure"], "threads=on,owners=all,clock=monotonic")?;
    let html = page(&recorded.profile, &recorded.folder.path().join("page.html"))?;
    let found = drive("untraced", &[&html, &pictures()?, Path::new("tree")])?;
    ensure!(found["rows"].as_u64() > Some(2) && found["waits"].as_u64() > Some(2), "{found}");
    ensure!(found["arrows"]["started"].as_u64() > Some(1), "{found}");
    let outcome = agent::finish({
        let mut command = subject::call()?;
        command.arg("timeline").arg(&recorded.profile);
        command
    })?;
    ensure!(outcome.code == Some(2) && outcome.stderr.contains("--record trace"), "{}", outcome.stderr);
    Ok(())
}

/// Methods and threads of any name are text on the timeline, and questions of strangers are refused.
#[test]
fn a_hostile_timeline_is_text() -> Result<()> {
    let evil = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>";
    let mut map = IdMap::new();
    let class = map.begin_class(b"p/Shop", None)?;
    let endless = "a".repeat(10_000);
    for name in [evil, "\u{202e}gnp.evil\u{202c}", &endless, "__proto__"] {
        let name = name.as_bytes();
        map.assign(class, &MethodInfo { name, descriptor: b"()V", line: 3, flags: 1, fingerprint: 0 })?;
    }
    let mut text = Vec::new();
    map.write_part(vec![1, 2, 3], &mut text);
    let mut writer = Writer::new();
    writer.property("command", evil).property("record", "trace").id_map(&gz::compress(&text));
    let body = |s: Script| s.call(2, |s| s.wait(30)).call(3, |s| s.call(4, |s| s.wait(9))).wait(5);
    let deep = |s: Script| (0..3000).fold(s, |s, _| s.enter(4).wait(2));
    writer.trace(evil, &Script::new(1000).call(1, |s| s.times(50, body)), 40);
    writer.trace("deep", &deep(Script::new(1000)), 100);
    let folder = tempfile::tempdir()?;
    let profile = folder.path().join("hostile.iprof");
    fs::write(&profile, writer.finish())?;
    let found =
        drive("hostile_timeline", &[&page(&profile, &folder.path().join("page.html"))?, &pictures()?])?;
    ensure!(found["names"].as_u64() > Some(4), "{found}");
    Ok(())
}
