//! Profiles as they are after a disaster: killed, cut, damaged, missing, given twice, of a clock that is wrong. `merge` completes, says what is
//! missing, and keeps what is there.

use instrument_tests::shared;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use instrument_tests::machine::Run;
use instrument_tests::rmi::{
    Running, TRANSFORMS, classes, count, free_port, java, jre, matched, merge, merged, profile, unmatched,
};
use instrument_tests::subject;
use instrument_trace::Profile;
use serde_json::Value;

const CALLS: u64 = 40;

/// A chain of beacons: a client, the server that it calls, and the one that this calls.
struct Chain {
    /// Client, middle, end.
    files: [PathBuf; 3],
}

/// A server; the one whose next is "end" is the last and has the registry.
fn beacon(port: u16, names: [&str; 2], index: usize, options: &str, folder: &Path) -> Result<Running> {
    let mut server = java(&jre(index), Some(options), names[0], folder)?;
    server.args(["BeaconServer", &port.to_string(), names[0], names[1]]);
    Running::start(server, names[0], folder)
}

fn chain() -> Result<Chain> {
    let folder = shared::folder("merge-disasters", record_chain);
    let of = |name| profile(&folder, name);
    Ok(Chain { files: [of("client")?, of("middle")?, of("last")?] })
}

fn record_chain(folder: &Path) -> Result<()> {
    let port = free_port();
    let options = format!("{TRANSFORMS},record=tree");
    let end = beacon(port, ["last", "end"], 1, &options, folder)?;
    let middle = beacon(port, ["middle", "last"], 2, &options, folder)?;
    let mut client = java(&jre(3), Some(&options), "client", folder)?;
    client.args(["BeaconClient", &port.to_string(), "middle", &CALLS.to_string()]).run_quietly()?;
    middle.stop()?;
    end.stop()?;
    Ok(())
}

/// The calls of a process at one side, of which each was matched or has a reason.
fn side(merged: &Value, process: u64, side: &str) -> Result<[u64; 2]> {
    let matching = &merged["matching"];
    let all = matching["processes"][process as usize][side].as_u64().context("a number")?;
    let key = if side == "made" { "client" } else { "server" };
    let rows = matching["matched"].as_array().context("a list")?;
    let matched = rows.iter().filter(|row| row[key] == process).filter_map(|row| row["calls"].as_u64());
    let matched = matched.sum::<u64>();
    let without: u64 = unmatched(merged)
        .iter()
        .filter(|row| (row.0, row.1.as_str()) == (process, side))
        .map(|row| row.4)
        .sum();
    assert_eq!(all, matched + without, "{matching:#}");
    Ok([matched, without])
}

const CLIENT: [&str; 3] = ["client (pid", "main", "BeaconClient.main"];
const MIDDLE: [&str; 3] = ["remote remoteFoo", "middle (pid", "BeaconServer.remoteFoo"];
const LAST: [&str; 3] = ["remote remoteFoo", "last (pid", "BeaconServer.remoteFoo"];
const S: [&str; 3] = ["remote remoteFoo", "s (pid", "BeaconServer.remoteFoo"];

#[test]
fn what_is_missing_is_named() -> Result<()> {
    let [client, middle, end] = &chain()?.files;
    let whole = merged(&[client.clone(), middle.clone(), end.clone()], &[])?;
    assert_eq!(count(&whole, &[&CLIENT[..], &MIDDLE, &LAST].concat()), Some(CALLS));
    ensure!(unmatched(&whole).iter().all(|row| row.2 == "failed-before-sending"), "{}", whole["matching"]);

    // The client alone: its tree is there, and where its calls went.
    let alone = merged(std::slice::from_ref(client), &[])?;
    assert_eq!(count(&alone, &CLIENT), Some(1));
    assert_eq!(side(&alone, 0, "made")?[0], 0);
    for (_, _, reason, peer, _) in unmatched(&alone) {
        ensure!(reason == "peer-not-recorded" && peer.starts_with("127.0.0.1:"), "{reason} {peer}");
    }
    ensure!(unmatched(&alone).iter().any(|row| row.4 >= CALLS));
    // A server alone, and without the middle of the chain: what nobody is known to have caused is there if all is requested.
    let alone = merged(std::slice::from_ref(end), &["--process", "all"])?;
    ensure!(side(&alone, 0, "served")?[1] >= CALLS, "{}", alone["matching"]);
    assert_eq!(count(&alone, &["last (pid", "(remote calls)", "BeaconServer.remoteFoo"]), Some(CALLS));
    let ends = merged(&[client.clone(), end.clone()], &[])?;
    assert_eq!(count(&ends, &CLIENT), Some(1));
    assert_eq!(count(&ends, &[&CLIENT[..], &MIDDLE[..1]].concat()), Some(CALLS));
    assert_eq!(count(&ends, &[&CLIENT[..], &MIDDLE[..2]].concat()), None);
    let reasons = unmatched(&ends);
    let foo = |process, side: &str| {
        reasons.iter().any(|row| {
            (row.0, row.1.as_str(), row.2.as_str()) == (process, side, "peer-not-recorded") && row.4 >= CALLS
        })
    };
    ensure!(foo(0, "made") && foo(1, "served"), "{reasons:?}");
    Ok(())
}

/// Regions of a profile: kind, file offset, length.
fn regions(file: &[u8]) -> Vec<(u32, usize, usize)> {
    let word = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize;
    let (mut regions, mut block) = (Vec::new(), 4096);
    while block + 64 < file.len() && word(block + 8) > 0 {
        let (mut at, end) = (block + 64, block + word(block + 8));
        while at + 64 <= end && word(at + 8) > 0 {
            regions.push((word(at) as u32, at, word(at + 8)));
            at += word(at + 8);
        }
        block = end;
    }
    regions
}

#[test]
fn a_server_that_was_cut_anywhere() -> Result<()> {
    let [client, middle, end] = &chain()?.files;
    let whole = merged(&[client.clone(), middle.clone(), end.clone()], &[])?;
    let full = side(&whole, 0, "made")?[0];
    let file = fs::read(middle)?;
    let folder = tempfile::tempdir()?;
    let cut = folder.path().join("cut.iprof");
    let records: Vec<usize> = regions(&file).into_iter().filter(|of| of.0 == 19).map(|of| of.1).collect();
    ensure!(!records.is_empty());
    let mut places: Vec<usize> = (1..8).map(|part| 4096 + (file.len() - 4096) * part / 8).collect();
    for record in [0, 1, 2, CALLS as usize, 2 * CALLS as usize] {
        // In the middle of a record, of its flags, and between two.
        places.extend([0, 40, 63, 128].map(|byte| records[0] + 64 + 128 * record + byte));
    }
    let (mut least, mut most) = (u64::MAX, 0);
    for place in places.into_iter().filter(|&place| place < file.len()) {
        fs::write(&cut, &file[..place])?;
        let run = merge(&[client.clone(), cut.clone(), end.clone()], &["--json"])?;
        let errors = String::from_utf8(run.stderr)?;
        assert_eq!(run.status.code(), Some(0), "cut at {place}: {errors}");
        ensure!(errors.contains("cut.iprof: "), "cut at {place}: {errors}");
        let merged: Value = serde_json::from_slice(&run.stdout)?;
        let mut of_client = 0;
        for process in 0..3 {
            of_client = if process == 0 { side(&merged, 0, "made")?[0] } else { of_client };
            side(&merged, process, "made")?;
            side(&merged, process, "served")?;
        }
        (least, most) = (least.min(of_client), most.max(of_client));
        for (process, which, reason, peer, calls) in unmatched(&merged) {
            let fits = matches!(
                reason.as_str(),
                "peer-not-recorded" | "profile-truncated" | "connection-unknown" | "failed-before-sending"
            );
            ensure!(fits, "cut at {place}: {process} {which} {reason} {peer} {calls}");
        }
        assert_eq!(count(&merged, &CLIENT), Some(1), "cut at {place}");
    }
    ensure!(least < 3 && most + 10 > full && most <= full, "{least} to {most} of {full}");
    // What is no profile any more is left out.
    fs::write(&cut, &file[..100])?;
    let run = merge(&[client.clone(), cut.clone()], &["--json"])?;
    let errors = String::from_utf8(run.stderr)?;
    ensure!(errors.contains("cut.iprof") && errors.contains("left out"), "{errors}");
    assert_eq!(run.status.code(), Some(0), "{errors}");
    let merged: Value = serde_json::from_slice(&run.stdout)?;
    assert_eq!(merged["matching"]["processes"].as_array().map(Vec::len), Some(1));
    Ok(())
}

#[test]
fn a_server_that_was_damaged() -> Result<()> {
    let [client, middle, end] = &chain()?.files;
    let file = fs::read(middle)?;
    let folder = tempfile::tempdir()?;
    let damaged = folder.path().join("damaged.iprof");
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut roll = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    let of_kind = |kind: u32| regions(&file).into_iter().filter(move |of| of.0 == kind).collect::<Vec<_>>();
    for round in 0..24 {
        let mut bytes = file.clone();
        // Connections, remote calls, links and trees; or anywhere.
        let targets = of_kind([18, 19, 11, 8][round % 4]);
        for _ in 0..1 + round {
            let (at, length) = match round < 16 {
                true => {
                    let of = targets[roll(targets.len())];
                    (of.1, of.2.min(4096))
                }
                false => (4096, file.len() - 4096),
            };
            bytes[at + roll(length)] = roll(256) as u8;
        }
        fs::write(&damaged, &bytes)?;
        let run = merge(&[client.clone(), damaged.clone(), end.clone()], &["--json"])?;
        assert_eq!(run.status.code(), Some(0), "round {round}: {}", String::from_utf8_lossy(&run.stderr));
        let merged: Value = serde_json::from_slice(&run.stdout)?;
        for process in 0..3 {
            side(&merged, process, "made")?;
            side(&merged, process, "served")?;
        }
        assert_eq!(count(&merged, &CLIENT), Some(1), "round {round}");
    }
    Ok(())
}

#[test]
fn of_two_copies_the_fuller_is_kept() -> Result<()> {
    let [client, middle, end] = &chain()?.files;
    let whole = merged(&[client.clone(), middle.clone(), end.clone()], &[])?;
    let folder = tempfile::tempdir()?;
    let file = fs::read(middle)?;
    let records = regions(&file).into_iter().find(|of| of.0 == 19).context("remote calls")?.1;
    let cut = folder.path().join("cut.iprof");
    fs::write(&cut, &file[..records + 64 + 10 * 128])?;
    for (files, root) in [
        ([client, &cut, middle, end], None),
        ([client, middle, end, &cut], None),
        ([&cut, middle, client, end], Some(&cut)),
    ] {
        let mut run = subject::call()?;
        run.args(["merge", "--json"]).args(files);
        if let Some(root) = root {
            run.arg("--process").arg(root);
        }
        let run = run.run_quietly()?;
        let errors = String::from_utf8(run.stderr)?;
        let expected = format!(
            "{}: of the same process as {}, which has no less; left out",
            cut.display(),
            middle.display()
        );
        // On a busy machine a note may say how clocks and calls fit.
        let warnings = errors.lines().filter(|line| !line.starts_with("note: ")).count();
        ensure!(errors.contains(&expected) && warnings == 1, "{errors}");
        let merged: Value = serde_json::from_slice(&run.stdout)?;
        if root.is_none() {
            assert_eq!(merged, whole);
        } else {
            // The root is the process, whichever of its files was named.
            ensure!(
                count(&merged, &["middle (pid"]).is_some() && count(&merged, &CLIENT).is_none(),
                "{merged:#}"
            );
        }
    }
    Ok(())
}

/// Adds `ns` to every clock of a profile.
fn shift(file: &mut [u8], ns: u64) {
    let mut words = vec![64, 72, 80];
    for (kind, at, length) in regions(file) {
        let word = |offset: usize| u64::from_le_bytes(file[offset..offset + 8].try_into().unwrap());
        let records = |size: usize, clocks: &[usize]| {
            let all = (0..(length - 64) / size).map(|record| at + 64 + record * size);
            all.flat_map(|record| clocks.iter().map(move |clock| record + clock)).collect::<Vec<_>>()
        };
        words.extend(match kind {
            1 => vec![at + 192, at + 200],
            // The second words of the frames.
            8 => (0..word(at + 16) as usize / 2).map(|frame| at + 64 + 16 * frame + 8).collect(),
            11 => records(32, &[24]),
            18 => records(64, &[48]),
            19 => records(128, &[80, 88, 96, 104]),
            20 => records(16, &[0, 8]),
            _ => Vec::new(),
        });
    }
    words.retain(|at| at + 8 <= file.len());
    for at in words {
        let clock = u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
        if clock != 0 {
            file[at..at + 8].copy_from_slice(&(clock + ns).to_le_bytes());
        }
    }
}

#[test]
fn clocks_of_different_processes_are_never_compared() -> Result<()> {
    let [client, middle, end] = &chain()?.files;
    let whole = merged(&[client.clone(), middle.clone(), end.clone()], &[])?;
    let folder = tempfile::tempdir()?;
    for (number, of) in [client, middle].into_iter().enumerate() {
        let mut file = fs::read(of)?;
        let before = Profile::parse(&file)?.start_clock;
        shift(&mut file, 3_600_000_000_000);
        assert_eq!(Profile::parse(&file)?.start_clock, before + 3_600_000_000_000);
        let shifted = folder.path().join(format!("shifted-{number}.iprof"));
        fs::write(&shifted, &file)?;
        let mut files = [client.clone(), middle.clone(), end.clone()];
        files[number] = shifted;
        let mut merged = merged(&files, &[])?;
        // By how much each differs from the root's, the client's, is told.
        let offsets = |merged: &Value| -> Vec<i64> {
            let clocks = merged["matching"]["clocks"].as_array().into_iter().flatten();
            clocks.filter_map(|clock| clock["offset_ns"].as_i64()).collect()
        };
        let moved: Vec<i64> =
            offsets(&merged).iter().zip(offsets(&whole)).map(|(now, was)| now - was).collect();
        const HOUR: i64 = 3_600_000_000_000;
        assert_eq!(moved, [[0, -HOUR, -HOUR], [0, HOUR, 0]][number]);
        merged["matching"]["clocks"] = whole["matching"]["clocks"].clone();
        assert_eq!(merged, whole);
    }
    Ok(())
}

#[test]
fn a_kill_in_the_middle_of_a_call() -> Result<()> {
    for (record, kills_client) in [("tree", false), ("trace", true)] {
        let folder = tempfile::tempdir()?;
        let folder = folder.path();
        let port = free_port();
        let options = format!("{TRANSFORMS},record={record}");
        let mut server = beacon(port, ["s", "end"], 3, &options, folder)?;
        let mut client = java(&jre(1), Some(&options), "client", folder)?;
        client.args(["BeaconClient", &port.to_string(), "s", "5", "hang"]);
        let errors = fs::File::create(folder.join("client.err"))?;
        let mut client = client.stdout(std::process::Stdio::null()).stderr(errors).spawn()?;
        assert_eq!(server.line()?, "hangs");
        if kills_client {
            client.kill()?;
        }
        server.kill()?;
        client.wait()?;
        let merged = merged(&[profile(folder, "client")?, profile(folder, "s")?], &[])?;
        let [by_return, by_place, by_ports] = matched(&merged);
        assert_eq!((by_place, by_ports), (1, 0), "{}", merged["matching"]);
        ensure!(by_return > 5 && unmatched(&merged).is_empty(), "{}", merged["matching"]);
        assert_eq!(count(&merged, &[&CLIENT[..], &S].concat()), Some(6), "{record}");
        assert_eq!(count(&merged, &[&CLIENT[..], &S, &["BeaconServer.hang"]].concat()), Some(1), "{record}");
    }
    Ok(())
}

/// Nothing returns over the connection of the call: only the server can tell that nobody else ever had its ports.
#[test]
fn a_silent_connection_is_found_by_its_ports() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    let port = free_port();
    let mut server = beacon(port, ["s", "end"], 1, TRANSFORMS, folder)?;
    let mut client = java(&jre(2), Some(TRANSFORMS), "client", folder)?;
    client.args(["-Dsun.rmi.transport.connectionTimeout=1", "Caller", &port.to_string(), "s"]);
    let mut client = Running::start(client, "client", folder)?;
    // All connections are given up.
    std::thread::sleep(std::time::Duration::from_secs(2));
    client.tell("-1")?;
    assert_eq!(server.line()?, "hangs");
    client.kill()?;
    server.kill()?;
    let merged = merged(&[profile(folder, "client")?, profile(folder, "s")?], &[])?;
    assert_eq!(matched(&merged)[1..], [0, 1], "{}", merged["matching"]);
    ensure!(unmatched(&merged).is_empty(), "{}", merged["matching"]);
    let way = ["client (pid", "main", "Caller.main", "Caller.calls", S[0], S[1], S[2], "BeaconServer.hang"];
    assert_eq!(count(&merged, &way), Some(1));
    Ok(())
}

#[test]
fn a_peer_that_was_not_recorded() -> Result<()> {
    for (index, recorded) in ["client", "server"].into_iter().enumerate() {
        let folder = tempfile::tempdir()?;
        let folder = folder.path();
        let port = free_port();
        let options = |name| (name == recorded).then_some(TRANSFORMS);
        let mut server = java(&jre(index), options("server"), "server", folder)?;
        server.args(["BeaconServer", &port.to_string(), "s", "end"]);
        let server = Running::start(server, "server", folder)?;
        let mut client = java(&jre(index + 2), options("client"), "client", folder)?;
        client.args(["BeaconClient", &port.to_string(), "s", "7"]).run_quietly()?;
        assert_eq!(server.stop()?.1, "");
        let merged = merged(&[profile(folder, recorded)?], &["--process", "all"])?;
        let rows = unmatched(&merged);
        ensure!(
            matched(&merged)[0] <= 2,
            "only what the server tells its own registry: {}",
            merged["matching"]
        );
        let which = ["made", "served"][index];
        let address =
            |peer: &str| if index == 0 { peer.starts_with("127.0.0.1:") } else { peer == "127.0.0.1" };
        let foo = rows.iter().filter(|row| row.1 == which && row.2 == "peer-not-recorded" && address(&row.3));
        ensure!(foo.map(|row| row.4).sum::<u64>() >= 7, "{rows:?}");
    }
    Ok(())
}

/// A server and its client, each rewritten as a jar is: nothing but stubs and skeletons tells.
#[test]
fn stubs_and_skeletons_alone_give_two_trees() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let rewritten = folder.path().join("classes");
    subject::rewrite(&classes(), &rewritten, &["--transform", "method-events,rmi"])?;
    let port = free_port().to_string();
    let java = |index: usize, name: &str| {
        let mut java = jre(index).brief_java();
        java.current_dir(folder.path()).arg(format!("-Dinstrument.name={name}"));
        java.args(["-Djava.rmi.server.hostname=127.0.0.1", "-cp"]).arg(&rewritten);
        java
    };
    let mut server = java(1, "server");
    server.args(["TroubleServer", &port]);
    let server = Running::start(server, "server", folder.path())?;
    let mut client = java(3, "client");
    client.args(["Caller", &port]);
    let mut client = Running::start(client, "client", folder.path())?;
    client.tell("9")?;
    assert_eq!(client.line()?, (0..9).map(|i| 4 * i).sum::<i32>().to_string());
    assert_eq!(client.stop()?.1, "");
    assert_eq!(server.stop()?.1, "");
    let files = [profile(folder.path(), "client")?, profile(folder.path(), "server")?];
    let merged = merged(&files, &["--process", "all"])?;
    let row = |process, side: &str| {
        (process, side.to_owned(), "connection-unknown".to_owned(), "null".to_owned(), 9)
    };
    assert_eq!(unmatched(&merged), [row(0, "made"), row(1, "served")]);
    assert_eq!(count(&merged, &["client (pid", "main", "Caller.main", "Caller.calls"]), Some(1));
    let stub = ["client (pid", "main", "Caller.main", "Caller.calls", "EchoImpl_Stub.echo"];
    assert_eq!(count(&merged, &stub), Some(9));
    assert_eq!(count(&merged, &["server (pid", "(remote calls)", "EchoImpl.echo"]), Some(9));
    Ok(())
}
