//! Several real virtual machines, merged: the chain of beacons of the JaViz paper, and a storm whose calls have serial numbers.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use instrument_analysis::merge::{Numbers, Party, match_calls};
use instrument_tests::machine::Run;
use instrument_tests::rmi::{Running, TRANSFORMS, free_port, java, jre, profile};
use instrument_tests::subject;
use instrument_trace::{Profile, RemoteCall, RemoteCallKind};
use serde_json::Value;

fn command(index: usize, name: &str, record: &str, folder: &Path) -> Result<Command> {
    java(&jre(index), Some(&format!("{TRANSFORMS},record={record}")), name, folder)
}

fn merge(folder: &Path, names: &[&str], options: &[&str]) -> Result<Value> {
    let mut merge = subject::call()?;
    merge.args(["merge", "--json"]).args(options);
    for name in names {
        merge.arg(profile(folder, name)?);
    }
    Ok(serde_json::from_slice(&merge.capture()?.stdout)?)
}

/// Names and calls down the first child that fits each part, from the root of a tree.
fn way(tree: &Value, parts: &[&str]) -> Vec<u64> {
    let mut at = tree;
    let mut calls = Vec::new();
    for part in parts {
        let children = at["children"].as_array().unwrap_or_else(|| panic!("{part}: {at:#}"));
        let fits = |child: &&Value| child["name"].as_str().is_some_and(|name| name.starts_with(part));
        at = children.iter().find(fits).unwrap_or_else(|| panic!("{part} is not in {children:#?}"));
        calls.push(at["n"].as_u64().unwrap_or_default());
    }
    calls
}

#[test]
fn the_chain_of_beacons_is_one_tree() -> Result<()> {
    for record in ["tree", "trace"] {
        let folder = tempfile::tempdir()?;
        let port = free_port().to_string();
        let mut servers = Vec::new();
        for (index, (name, next)) in [("s3", "end"), ("s2", "s3"), ("s1", "s2")].into_iter().enumerate() {
            let mut java = command(index, name, record, folder.path())?;
            java.args(["BeaconServer", &port, name, next]);
            servers.push(Running::start(java, name, folder.path())?);
        }
        let mut client = command(3, "client", record, folder.path())?;
        client.args(["BeaconClient", &port, "s1", "20"]).run_quietly()?;
        for server in servers {
            server.stop()?;
        }
        let merged = merge(folder.path(), &["s2", "s3", "client", "s1"], &[])?;
        let matching = &merged["matching"];
        let unmatched = matching["unmatched"].as_array().context("a list")?;
        let made_in_vain = unmatched.iter().filter(|of| of["reason"] != "failed-before-sending");
        assert_eq!(made_in_vain.count(), 0, "{record}: {matching:#}");
        let foo = "BeaconServer.remoteFoo";
        let parts = [
            "client (pid",
            "main",
            "BeaconClient.main",
            "s1 (pid",
            foo,
            "s2 (pid",
            foo,
            "s3 (pid",
            foo,
            "BeaconServer.work",
        ];
        assert_eq!(way(&merged["xtree"]["tree"], &parts)[3..], [20; 7], "{record}");
    }
    Ok(())
}

fn calls(profile: &Profile, file: &File) -> Result<[Vec<RemoteCall>; 2]> {
    let (mut made, mut served) = (Vec::new(), Vec::new());
    profile.visit_remote_calls(file, |call| match call.kind {
        RemoteCallKind::Made => made.push(*call),
        _ => served.push(*call),
    })?;
    Ok([made, served])
}

#[test]
fn calls_of_a_storm_are_matched_by_their_serials() -> Result<()> {
    const CALLS: i64 = 40;
    let folder = tempfile::tempdir()?;
    let port = free_port().to_string();
    let start = |name: &str, index: usize, more: &[&str]| {
        let mut java = command(index, name, "tree", folder.path())?;
        java.args(["StormServer", &port, name]).args(more);
        Running::start(java, name, folder.path())
    };
    let servers = [start("a", 1, &["registry"])?, start("b", 3, &[])?];
    let mut clients = Vec::new();
    for (name, index) in [("c0", 0), ("c1", 2)] {
        let mut java = command(index, name, "tree", folder.path())?;
        java.args(["StormClient", &port, &index.to_string(), "3", &CALLS.to_string()]);
        clients.push(java.stdout(Stdio::null()).spawn()?);
    }
    for mut client in clients {
        ensure!(client.wait()?.success());
    }
    let mut cells = BTreeMap::new();
    for server in servers {
        for line in server.stop()?.0.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            cells.insert(words[2].parse::<i64>()?, words[1].parse::<i64>()?);
        }
    }
    let names = ["c0", "c1", "a", "b"];
    let mut files = Vec::new();
    for name in names {
        let source = File::open(profile(folder.path(), name)?)?;
        files.push((Profile::open(&source)?, source));
    }
    let parties: Vec<_> = files.iter().map(|(profile, source)| Party { profile, source }).collect();
    let matching = match_calls(&parties)?;
    let sides = files.iter().map(|(profile, source)| calls(profile, source)).collect::<Result<Vec<_>>>()?;
    let mut right = 0;
    for (client, (profile, _)) in files[..2].iter().enumerate() {
        let of_method = |call: &&(u32, RemoteCall)| {
            let name = profile.copies[&call.1.copy].class_names.get(&call.1.method);
            name.is_some_and(|name| name == "hit(I)I")
        };
        let rows = matching.made.of(client).zip(sides[client][0].iter().copied());
        let mut hits: Vec<_> = rows.collect::<Vec<_>>().iter().filter(of_method).copied().collect();
        hits.sort_by_key(|(_, call)| (call.thread, call.begin));
        let mut next: BTreeMap<u32, i64> = BTreeMap::new();
        for (row, call) in hits {
            let thread = profile.threads.iter().find(|t| t.ordinal == call.thread).context("a thread")?;
            let number: i64 = thread.name.strip_prefix("storm-").context("its name")?.parse()?;
            let k = next.entry(call.thread).or_default();
            let serial = [0, 2][client] * 1_000_000 + number * 10_000 + *k;
            *k += 1;
            let partner = matching.made.partner(row).context("its other side")?;
            let server = matching.served.party(partner);
            let at = (partner - matching.served.of(server).start) as usize;
            assert_eq!(cells.get(&sides[server][1][at].object.number), Some(&serial));
            right += 1;
        }
    }
    assert_eq!(right, 2 * 3 * CALLS);
    let numbers = Numbers::of(&matching);
    let lost: u64 = numbers.unmatched.values().sum();
    ensure!(lost * 10 < numbers.all_matched(), "{numbers:?}");
    Ok(())
}
