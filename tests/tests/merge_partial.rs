//! Processes that did not record everything: paused in the middle of calls, only what root methods do, only counts. `merge` copes, and says so.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use instrument_tests::machine::Run;
use instrument_tests::rmi::{
    Running, TRANSFORMS, classes, count, free_port, java, jre, matched, merged, profile, unmatched,
};
use instrument_tests::{agent, subject};
use serde_json::Value;

fn ctl(socket: &Path, what: &str) -> Result<()> {
    subject::call()?.arg("ctl").arg(socket).arg(what).run_quietly().map(|_| ())
}

fn files(folder: &Path) -> Result<[PathBuf; 2]> {
    Ok([profile(folder, "client")?, profile(folder, "server")?])
}

#[test]
fn what_was_paused_is_said_to_be() -> Result<()> {
    for (paused, record, index) in
        [("server", "tree", 0), ("client", "tree", 1), ("server", "trace", 2), ("client", "trace", 3)]
    {
        let folder = tempfile::tempdir()?;
        let folder = folder.path();
        let port = free_port().to_string();
        let socket = |name: &str| folder.join(format!("{name}.sock"));
        let options = |name: &str| format!("{TRANSFORMS},record={record},ctl={}", socket(name).display());
        let mut server = java(&jre(index), Some(&options("server")), "server", folder)?;
        server.args(["BeaconServer", &port, "s", "end"]);
        let server = Running::start(server, "server", folder)?;
        let mut client = java(&jre(index + 1), Some(&options("client")), "client", folder)?;
        client.args(["Caller", &port, "s"]);
        let mut client = Running::start(client, "client", folder)?;
        let mut call = |calls: u32| -> Result<()> {
            client.tell(&calls.to_string())?;
            ensure!(!client.line()?.is_empty());
            Ok(())
        };
        call(10)?;
        ctl(&socket(paused), "pause")?;
        call(7)?;
        ctl(&socket(paused), "resume")?;
        call(20)?;
        // Wherever the calls are.
        client.tell("3000")?;
        for _ in 0..6 {
            ctl(&socket(paused), "pause")?;
            ctl(&socket(paused), "resume")?;
        }
        ensure!(!client.line()?.is_empty());
        let lines = [client.stop()?.1, server.stop()?.1];
        assert_eq!(lines, ["", ""]);
        let merged = merged(&files(folder)?, &[])?;
        let (process, side, peer) = if paused == "server" { (0, "made", "1") } else { (1, "served", "0") };
        let rows = unmatched(&merged);
        let of_pause: u64 = rows
            .iter()
            .filter(|row| {
                (row.0, row.1.as_str(), row.2.as_str(), row.3.as_str()) == (process, side, "paused", peer)
            })
            .map(|row| row.4)
            .sum();
        let others = rows.iter().filter(|row| row.2 != "paused").count();
        assert_eq!(others, 0, "{paused}, {record}: {rows:?}");
        let way = [
            "client (pid",
            "main",
            "Caller.main",
            "Caller.calls",
            "remote remoteFoo",
            "server (pid",
            "BeaconServer.remoteFoo",
        ];
        // The client's own contexts may be paused, too.
        let [by_return, ..] = matched(&merged);
        ensure!(of_pause >= 7 && by_return >= 30, "{paused}, {record}: {rows:?}");
        if paused == "server" {
            let all = count(&merged, &way[..6]).unwrap_or_default();
            assert_eq!(all + of_pause, 3037, "{record}: {rows:?}");
        }
    }
    Ok(())
}

#[test]
fn what_root_methods_leave_out_is_matched_all_the_same() -> Result<()> {
    // The roots, and how often the server's method is in a tree: below what it was called for only if it was called outside of every root.
    for (index, (of_server, of_client, is_in_root)) in [
        (Some("BeaconServer#remoteFoo"), Some("Caller#calls"), true),
        (Some("BeaconServer#main"), Some("Caller#calls"), false),
        (None, Some("Caller#calls"), true),
        (None, Some("Beacon*#nothing"), true),
    ]
    .into_iter()
    .enumerate()
    {
        let folder = tempfile::tempdir()?;
        let folder = folder.path();
        let port = free_port().to_string();
        let run = |root: Option<&str>, index: usize, name: &str| -> Result<_> {
            let mut run = subject::call()?;
            run.current_dir(folder).args(["run", "--transform", "method-events,rmi"]);
            run.args(root.map(|root| ["--root", root]).into_iter().flatten()).arg("--agent");
            run.arg(agent::library()?).arg("--").arg(jre(index).home.join("bin/java"));
            run.arg(format!("-Dinstrument.name={name}")).arg("-Djava.rmi.server.hostname=127.0.0.1");
            run.arg("-cp").arg(classes());
            Ok(run)
        };
        let mut server = run(of_server, index, "server")?;
        server.args(["BeaconServer", &port, "s", "end"]);
        let server = Running::start(server, "server", folder)?;
        let mut client = run(of_client, index + 1, "client")?;
        client.args(["Caller", &port, "s"]);
        let mut client = Running::start(client, "client", folder)?;
        client.tell("12")?;
        ensure!(!client.line()?.is_empty());
        client.stop()?;
        server.stop()?;
        let merged = merged(&files(folder)?, &["--process", "all"])?;
        let [by_return, by_place, by_ports] = matched(&merged);
        ensure!(by_return > 12 && by_place + by_ports == 0, "{of_server:?}: {}", merged["matching"]);
        ensure!(unmatched(&merged).is_empty(), "{of_server:?}: {}", merged["matching"]);
        let tree = &merged["xtree"]["tree"];
        let of_server_alone = entries(tree, "BeaconServer.remoteFoo") - below_client(tree);
        let expected = if !is_in_root {
            (0, 0)
        } else if of_server.is_some() {
            (0, 12)
        } else {
            (12, 0)
        };
        let found = (below_client(tree), of_server_alone);
        // What a client does not record calls from nowhere, and is under its process.
        assert_eq!(found, expected, "{of_server:?}, {of_client:?}: {tree:#}");
    }
    Ok(())
}

/// Calls of the method in a part of a tree.
fn entries(tree: &Value, name: &str) -> u64 {
    let own =
        if tree["name"].as_str().is_some_and(|of| of.starts_with(name)) { tree["n"].as_u64() } else { None };
    let below = tree["children"].as_array().into_iter().flatten().map(|child| entries(child, name));
    own.unwrap_or_default() + below.sum::<u64>()
}

fn below_client(tree: &Value) -> u64 {
    let processes = tree["children"].as_array().into_iter().flatten();
    let client =
        processes.filter(|of| of["name"].as_str().is_some_and(|name| name.starts_with("client (pid")));
    client.map(|client| entries(client, "BeaconServer.remoteFoo")).sum()
}

#[test]
fn counts_have_calls_and_no_contexts() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    let port = free_port().to_string();
    let options = format!("{TRANSFORMS},record=counts");
    let mut server = java(&jre(1), Some(&options), "server", folder)?;
    server.args(["BeaconServer", &port, "s", "end"]);
    let server = Running::start(server, "server", folder)?;
    let mut client = java(&jre(3), Some(&options), "client", folder)?;
    client.args(["BeaconClient", &port, "s", "9"]).run_quietly()?;
    server.stop()?;
    let merged = merged(&files(folder)?, &[])?;
    ensure!(matched(&merged)[0] > 9 && unmatched(&merged).is_empty(), "{}", merged["matching"]);
    Ok(())
}
