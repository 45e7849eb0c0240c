//! Several real virtual machines, merged: the chain of beacons of the JaViz paper.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use instrument_tests::machine::Run;
use instrument_tests::rmi::{Running, TRANSFORMS, free_port, java, jre, profile};
use instrument_tests::subject;
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
        let (foo, remote) = ("BeaconServer.remoteFoo", "remote remoteFoo");
        let parts = [
            "client (pid",
            "main",
            "BeaconClient.main",
            remote,
            "s1 (pid",
            foo,
            remote,
            "s2 (pid",
            foo,
            remote,
            "s3 (pid",
            foo,
            "BeaconServer.work",
        ];
        assert_eq!(way(&merged["xtree"]["tree"], &parts)[3..], [20; 10], "{record}");
        // Of all processes, or of a tree.
        let names = ["s2", "s3", "client", "s1"];
        let stats = |options: &[&str]| -> Result<Vec<(String, u64)>> {
            let stats = merge(folder.path(), &names, &[&["--report", "stats"], options].concat())?;
            let rows = stats["rows"].as_array().context("rows")?;
            let row = |row: &Value| {
                (row["function"].as_str().unwrap_or_default().to_owned(), row["calls"].as_u64())
            };
            Ok(rows.iter().map(row).map(|(name, calls)| (name, calls.unwrap_or_default())).collect())
        };
        let calls = |rows: &[(String, u64)], name: &str| {
            rows.iter().find(|row| row.0.starts_with(name)).map_or(0, |row| row.1)
        };
        let file = |name: &str| Ok::<_, anyhow::Error>(profile(folder.path(), name)?.display().to_string());
        for (options, expected) in [
            (vec![], [1, 3, 60]),
            (vec!["--process", "all"], [1, 3, 60]),
            (vec!["--process", &file("client")?], [1, 0, 60]),
            (vec!["--process", &file("s1")?], [0, 1, 0]),
        ] {
            let rows = stats(&options)?;
            let found = ["BeaconClient.main", "BeaconServer.main", "BeaconServer.work"]
                .map(|name| calls(&rows, name));
            assert_eq!(found, expected, "{record}: {options:?}");
        }
    }
    Ok(())
}
