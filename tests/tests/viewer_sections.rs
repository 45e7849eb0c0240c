//! Threads, Heap, Monitors, Remote calls and Timeline in a real browser: what does not hold in a scenario of `tests/viewer/sections.js` and
//! `timeline.js` fails here.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use instrument_names::id_map::{IdMap, MethodInfo, gz};
use instrument_testing::{Script, Writer};
use instrument_tests::agent;
use instrument_tests::browser::{Server, drive, page, pictures};
use instrument_tests::machine::Run;
use instrument_tests::readers;
use instrument_tests::recorded::{Recorded, beacons, printed};
use instrument_tests::subject;
use serde_json::Value;

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

/// Pages with every view: none has a finding that axe-core takes for serious, nor a name that cannot be read.
#[test]
fn every_view_can_be_read_by_everybody() -> Result<()> {
    let axe = readers::axe_core()?;
    let folder = tempfile::tempdir()?;
    let merged = folder.path().join("merged.html");
    let profiles = beacons(folder.path(), 0)?;
    subject::call()?.args(["--quiet", "merge", "--html"]).arg(&merged).args(&profiles).run_quietly()?;
    let read = |html: &Path, view: &str| -> Result<()> {
        let found = drive("access", &[html, &axe, &pictures()?])?;
        ensure!(found["shown"].as_array().is_some_and(|shown| shown.contains(&view.into())), "{found}");
        drive("names", &[html, &pictures()?]).map(drop)
    };
    read(&merged, "remote")?;
    let programs = [
        (&["Leak"][..], "heap=objects", "heap"),
        (&["Contention", "measure"], "threads=on,owners=all", "monitors"),
    ];
    for (program, options, view) in programs {
        let recorded = Recorded::new(program, options)?;
        read(&page(&recorded.profile, &recorded.folder.path().join("page.html"))?, view)?;
    }
    Ok(())
}

/// The chain of beacons: a client, and three servers each of which calls the next.
#[test]
fn remote_calls_are_those_of_the_command_line() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let profiles = beacons(folder.path(), 0)?;
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
