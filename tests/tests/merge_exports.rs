//! The chain of beacons, written for other tools: what they read is what the merged tree says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use instrument_tests::browser::drive;
use instrument_tests::machine::{Run, root};
use instrument_tests::readers::{self, Rows};
use instrument_tests::rmi::{Running, TRANSFORMS, free_port, java, jre, profile};
use instrument_tests::subject;
use serde_json::Value;

const NAMES: [&str; 4] = ["client", "s1", "s2", "s3"];
const CALLS: f64 = 20.0;

/// Runs the client and its three servers; all read one clock. Returns their profiles.
fn beacons(folder: &Path, record: &str) -> Result<Vec<PathBuf>> {
    let port = free_port().to_string();
    let options = format!("{TRANSFORMS},clock=monotonic,record={record}");
    let mut servers = Vec::new();
    for (index, (name, next)) in [("s3", "end"), ("s2", "s3"), ("s1", "s2")].into_iter().enumerate() {
        let mut java = java(&jre(index), Some(&options), name, folder)?;
        java.args(["BeaconServer", &port, name, next]);
        servers.push(Running::start(java, name, folder)?);
    }
    let mut client = java(&jre(3), Some(&options), "client", folder)?;
    client.args(["BeaconClient", &port, "s1", "20"]).run_quietly()?;
    for server in servers {
        server.stop()?;
    }
    NAMES.iter().map(|name| profile(folder, name)).collect()
}

fn merge(profiles: &[PathBuf], options: &[&str]) -> Result<Vec<u8>> {
    Ok(subject::call()?.arg("merge").args(profiles).args(options).run_quietly()?.stdout)
}

fn written(profiles: &[PathBuf], format: &str, folder: &Path) -> Result<PathBuf> {
    let file = folder.join(format);
    let name = file.display().to_string();
    merge(profiles, &["--to", format, "-o", &name])?;
    Ok(file)
}

fn without_pids(text: &str) -> String {
    let mut parts = text.split(" (pid ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(')').map_or("", |(_, rest)| rest))
}

/// Figures by path, without process ids and the numbers of threads; the first of each row added up.
fn plain(rows: Rows) -> BTreeMap<String, f64> {
    let mut sums = BTreeMap::new();
    for (path, row) in rows {
        let path = without_pids(&path);
        let frames: Vec<_> =
            path.split('/').map(|frame| if frame.starts_with("RMI TCP") { "rmi" } else { frame }).collect();
        *sums.entry(frames.join("/")).or_default() += row[0];
    }
    sums
}

const CALL: &str = "call BeaconServer.remoteFoo";
const SERVE: &str = "serve BeaconServer.remoteFoo";

#[test]
fn perfetto_has_every_call_in_its_place_and_arrows_between_them() -> Result<()> {
    for record in ["tree", "trace"] {
        let folder = tempfile::tempdir()?;
        let profiles = beacons(folder.path(), record)?;
        let file = written(&profiles, "perfetto", folder.path())?;
        let slices = plain(readers::read("perfetto_trace.py", &file)?);
        let is_trace = record == "trace";
        let main = if is_trace { "BeaconClient.main([Ljava/lang/String;)V/" } else { "" };
        let foo = if is_trace { "/(remote call)/BeaconServer.remoteFoo(II)I" } else { "" };
        let mut expected = vec![format!("client/main/{main}{CALL}")];
        for server in ["s1", "s2", "s3"] {
            expected.push(format!("{server}/rmi/{SERVE}{foo}"));
            if server != "s3" {
                expected.push(format!("{server}/rmi/{SERVE}{foo}/{CALL}"));
            }
        }
        for path in expected {
            assert_eq!(slices.get(&path), Some(&CALLS), "{record} {path}: {slices:#?}");
        }
        let flows = plain(readers::read("perfetto_flows.py", &file)?);
        for (client, server) in [("client", "s1"), ("s1", "s2"), ("s2", "s3")] {
            let (call, serve) = (format!("{client}/{CALL}"), format!("{server}/{SERVE}"));
            for flow in [format!("{call} -> {serve}"), format!("{serve} -> {call}")] {
                assert_eq!(flows.get(&flow), Some(&CALLS), "{record} {flow}: {flows:#?}");
            }
        }
        let all: f64 = flows.values().sum();
        assert_eq!(all, 2.0 * calls(&profiles, "matched")? as f64, "{flows:#?}");
    }
    Ok(())
}

/// How many calls were `matched`, or `unmatched`.
fn calls(profiles: &[PathBuf], which: &str) -> Result<u64> {
    let report: Value = serde_json::from_slice(&merge(profiles, &["--report", "matching", "--json"])?)?;
    let rows = report[which].as_array().context("a list")?;
    Ok(rows.iter().filter_map(|row| row["calls"].as_u64()).sum())
}

/// Slices of Chrome's trace nest, and arrows join the right ones.
fn chrome(file: &Path) -> Result<()> {
    let trace: Value = serde_json::from_slice(&fs::read(file)?)?;
    ensure!(trace["otherData"]["unix_ns_at_0"].is_string());
    let mut processes = BTreeMap::new();
    let mut stacks: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    let mut arrows: BTreeMap<u64, [Option<String>; 2]> = BTreeMap::new();
    for event in trace["traceEvents"].as_array().context("events")? {
        let (pid, tid) = (event["pid"].as_u64().context("pid")?, event["tid"].as_u64().context("tid")?);
        let name = event["name"].as_str().unwrap_or_default();
        let stack = stacks.entry(tid).or_default();
        match event["ph"].as_str().context("ph")? {
            "M" if name == "process_name" => {
                let name = event["args"]["name"].as_str().context("a name")?;
                processes.insert(pid, name.split(" (pid").next().unwrap_or_default().to_owned());
            }
            "B" => stack.push(name.to_owned()),
            "E" => drop(stack.pop().context("a slice that ends has begun")?),
            kind @ ("s" | "f") => {
                let end = &mut arrows.entry(event["id"].as_u64().context("id")?).or_default()
                    [usize::from(kind == "f")];
                let slice = stack.last().context("an arrow is in a slice")?;
                ensure!(end.replace(format!("{} {slice}", processes[&pid])).is_none());
            }
            _ => {}
        }
    }
    ensure!(stacks.values().all(Vec::is_empty));
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for (id, [from, to]) in arrows {
        let (from, to) = from.zip(to).with_context(|| format!("arrow {id} has one end"))?;
        *counts.entry(format!("{from} -> {to}")).or_default() += 1;
    }
    for (client, server) in [("client", "s1"), ("s1", "s2"), ("s2", "s3")] {
        let (call, serve) = (format!("{client} {CALL}"), format!("{server} {SERVE}"));
        for arrow in [format!("{call} -> {serve}"), format!("{serve} -> {call}")] {
            assert_eq!(counts.get(&arrow), Some(&20), "{arrow}: {counts:#?}");
        }
    }
    Ok(())
}

/// Spans of OpenTelemetry, all of one request.
fn spans(bytes: &[u8]) -> Result<Vec<(String, Value)>> {
    let request: Value = serde_json::from_slice(bytes)?;
    let mut spans = Vec::new();
    for resource in request["resourceSpans"].as_array().context("resources")? {
        let name = attribute(&resource["resource"], "service.name").context("a name")?;
        for span in resource["scopeSpans"][0]["spans"].as_array().context("spans")? {
            spans.push((name.to_owned(), span.clone()));
        }
    }
    Ok(spans)
}

fn attribute<'a>(of: &'a Value, key: &str) -> Option<&'a str> {
    let found = of["attributes"].as_array()?.iter().find(|attribute| attribute["key"] == key)?;
    found["value"].as_object()?.values().next()?.as_str()
}

/// Twenty calls of the client are twenty traces, each of six spans, one within the other.
fn otlp(bytes: &[u8]) -> Result<()> {
    let all = spans(bytes)?;
    let ids: BTreeSet<&str> = all.iter().filter_map(|(_, span)| span["spanId"].as_str()).collect();
    assert_eq!(ids.len(), all.len());
    let mut traces: BTreeMap<&str, Vec<&(String, Value)>> = BTreeMap::new();
    for of in &all {
        assert_eq!(attribute(&of.1, "rpc.system"), Some("java_rmi"));
        if of.1["name"].as_str().is_some_and(|name| name.starts_with("BeaconServer/remoteFoo(")) {
            traces.entry(of.1["traceId"].as_str().context("an id")?).or_default().push(of);
        }
    }
    assert_eq!(traces.len(), 20);
    let start = |span: &Value| span["startTimeUnixNano"].as_str().and_then(|ns| ns.parse::<u64>().ok());
    for spans in traces.values() {
        let first = spans.iter().find(|(_, span)| span["parentSpanId"].is_null());
        let (name, mut at) = first.map(|(name, span)| (name, span)).context("a root")?;
        let mut way = vec![(name.as_str(), at["kind"].as_u64().context("a kind")?)];
        while let Some((name, next)) = spans.iter().find(|(_, span)| span["parentSpanId"] == at["spanId"]) {
            ensure!(start(at).context("a time")? <= start(next).context("a time")?, "{at} {next}");
            at = next;
            way.push((name, at["kind"].as_u64().context("a kind")?));
        }
        assert_eq!(way, [("client", 3), ("s1", 2), ("s1", 3), ("s2", 2), ("s2", 3), ("s3", 2)]);
        assert_eq!(spans.len(), way.len());
    }
    Ok(())
}

/// The merged tree in a browser has every figure that is printed of it.
fn page(profiles: &[PathBuf], folder: &Path) -> Result<()> {
    let report = |name: &str| -> Result<PathBuf> {
        let file = folder.join(format!("{name}.json"));
        fs::write(&file, merge(profiles, &["--report", name, "--json"])?)?;
        Ok(file)
    };
    let html = folder.join("merged.html");
    merge(profiles, &["--html", &html.display().to_string()])?;
    let found = drive("sums", &[&html, &report("xtree")?, &report("xprof")?])?;
    ensure!(found["contexts"].as_u64() > Some(10), "{found}");
    Ok(())
}

#[test]
fn all_formats_tell_the_same_of_four_machines() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let profiles = beacons(folder.path(), "trace")?;
    chrome(&written(&profiles, "chrome", folder.path())?)?;
    page(&profiles, folder.path())?;
    otlp(&merge(&profiles, &["--to", "otlp"])?)?;
    // With the calls of the registry and the collector it is every call on both sides; a collector's call may come too late for the other.
    let all = spans(&merge(&profiles, &["--to", "otlp", "--internals"])?)?;
    assert_eq!(all.len() as u64, 2 * calls(&profiles, "matched")? + calls(&profiles, "unmatched")?);

    // They all read one clock: no difference is more than what it may be off by.
    let report: Value = serde_json::from_slice(&merge(&profiles, &["--report", "matching", "--json"])?)?;
    let clocks = report["clocks"].as_array().context("clocks")?;
    assert_eq!((clocks.len(), &report["root"]), (4, &Value::from(0)));
    for clock in clocks {
        let (offset, uncertainty) = (clock["offset_ns"].as_i64(), clock["uncertainty_ns"].as_u64());
        let fits = offset.zip(uncertainty).is_some_and(|(ns, most)| ns.unsigned_abs() <= most);
        assert!(fits && clock["drifts"] == false, "{clocks:#?}");
    }

    // The tree is the one that is printed, and one process of it can be told alone.
    let stacks = String::from_utf8(merge(&profiles, &["--to", "folded", "--resource", "remote-calls"])?)?;
    let remote = "remote remoteFoo(int,int)";
    let mut way = format!("client;[main];BeaconClient.main(java.lang.String[]);{remote}");
    for server in ["s1", "s2", "s3"] {
        let line = format!("{way} 20");
        assert!(stacks.lines().any(|stack| without_pids(stack) == line), "{line} is not in {stacks}");
        way += &format!(";{server};BeaconServer.remoteFoo(int,int);{remote}");
    }
    let timeline: Value = serde_json::from_slice(&merge(&profiles, &["--to", "speedscope"])?)?;
    let evented = timeline["profiles"].as_array().context("profiles")?;
    assert!(evented.iter().all(|of| of["type"] == "evented"));
    let client =
        evented.iter().filter(|of| of["name"].as_str().is_some_and(|name| name.starts_with("client (pid")));
    assert!(client.count() > 0);
    let alone = subject::call()?.args(["export", "--to", "otlp"]).arg(&profiles[0]).run_quietly()?.stdout;
    let alone = spans(&alone)?;
    assert_eq!(alone.len(), 20);
    assert!(alone.iter().all(|(_, span)| {
        attribute(span, "instrument.rmi.unmatched") == Some("peer-not-recorded") && span["kind"] == 3
    }));
    Ok(())
}

#[test]
fn what_makes_no_sense_is_refused() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("x.iprof");
    let mut bytes = fs::read(root().join("crates/trace/tests/profiles/v1-trace.iprof"))?;
    // Of a process that can be told from others.
    bytes[16] = 1;
    fs::write(&file, bytes)?;
    for options in [
        &["--to", "xml"][..],
        &["--to", "otlp", "--thread", "main"],
        &["--to", "pprof", "--resource", "wall", "-o", "x"],
        &["--to", "folded", "--resource", "wall,calls"],
        &["--to", "folded", "--json"],
        &["--to", "chrome", "--flat"],
        &["--to", "chrome", "--view", "server", "--process", "FILE"],
        &["-o", "x"],
    ] {
        let options =
            options.iter().map(|option| if *option == "FILE" { file.as_os_str() } else { option.as_ref() });
        let options: Vec<_> = options.collect();
        let done = subject::call()?.arg("merge").arg(&file).args(&options).capture()?;
        assert_eq!(done.status.code(), Some(2), "{options:?}: {}", String::from_utf8_lossy(&done.stderr));
    }
    // Only profiles have remote calls, and each process is told once.
    let text = root().join("crates/analysis/tests/data/AC_test.events");
    for inputs in [vec![text], vec![file.clone(), file]] {
        let done = subject::call()?.args(["export", "--to", "otlp"]).args(&inputs).capture()?;
        assert_eq!(done.status.code(), Some(2), "{inputs:?}: {}", String::from_utf8_lossy(&done.stderr));
    }
    Ok(())
}
