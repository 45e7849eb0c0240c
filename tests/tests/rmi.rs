//! Remote calls between real virtual machines of several versions: what the two sides of a call recorded belongs together, and nothing else
//! does.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use instrument_tests::agent;
use instrument_tests::machine::Run;
use instrument_tests::rmi::{
    Recorded, Running, TRANSFORMS, classes, free_port, java, jre, matched, merged, pairs, profile, unmatched,
};
use instrument_tests::subject;
use instrument_trace::{LinkKind, RemoteCall, RemoteCallKind, TreeConsumer};
use serde_json::Value;

/// Calls of `remoteFoo` beneath a row.
fn served(row: &Value) -> u64 {
    let is_one = row["name"].as_str().is_some_and(|name| name.starts_with("BeaconServer.remoteFoo"));
    let own = if is_one { row["n"].as_u64().unwrap_or(0) } else { 0 };
    own + row["children"].as_array().into_iter().flatten().map(served).sum::<u64>()
}

/// Connections that are open from one recording to the next, and numbers of objects, methods and hosts, are those of each recording.
#[test]
fn remote_calls_are_recorded_again_and_again() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let port = free_port().to_string();
    for (record, jre) in [("tree", jre(0)), ("trace", jre(3))] {
        let work = folder.path().join(record);
        fs::create_dir(&work)?;
        let mut servers = Vec::new();
        for (name, next) in [("s2", "end"), ("s1", "s2")] {
            let mut java = java(&jre, None, name, &work)?;
            java.args(["BeaconServer", &port, name, next]);
            servers.push((name, Running::start(java, name, &work)?));
        }
        for round in 0..3 {
            let at = work.join(round.to_string());
            fs::create_dir(&at)?;
            for (name, server) in &servers {
                let mut attach = subject::call()?;
                attach.args(["attach", &server.child.id().to_string(), "--record", record]);
                attach.args(["--transform", "method-events,thread-links,rmi", "--include", "Beacon**", "-o"]);
                attach.arg(at.join(format!("{name}-0.iprof"))).run_quietly()?;
            }
            let client = |recorded: bool, calls: &str| -> Result<()> {
                let options = format!("{TRANSFORMS},record={record}");
                let mut client = java(&jre, recorded.then_some(&options), "client", &at)?;
                client.args(["BeaconClient", &port, "s1", calls]).run_quietly()?;
                Ok(())
            };
            client(true, ["5", "20", "7"][round])?;
            for (_, server) in &servers {
                subject::call()?.args(["ctl", &server.child.id().to_string(), "stop"]).run_quietly()?;
            }
            // Nobody looks.
            client(false, "3")?;
            let files: Vec<_> =
                ["client", "s1", "s2"].iter().map(|name| profile(&at, name)).collect::<Result<_>>()?;
            let merged = merged(&files, &[])?;
            assert_eq!(unmatched(&merged), [], "{record}, round {round}");
            let calls = [5, 20, 7][round];
            // With those to the registry, and of the collector.
            ensure!(matched(&merged)[0] > 3 * calls, "{record}, round {round}: {:?}", matched(&merged));
            assert_eq!(served(&merged["xtree"]["tree"]), 2 * calls, "{record}, round {round}");
        }
        for (name, server) in servers {
            let (_, errors) = server.stop()?;
            ensure!(!errors.contains("instrument:"), "{name}: {errors}");
        }
    }
    Ok(())
}

#[test]
fn a_chain_of_beacons_is_followed_through_four_machines() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let port = free_port().to_string();
    for record in ["tree", "trace"] {
        let work = folder.path().join(record);
        fs::create_dir(&work)?;
        let options = format!("{TRANSFORMS},record={record}");
        let mut servers = Vec::new();
        for (index, (name, next)) in [("s3", "end"), ("s2", "s3"), ("s1", "s2")].into_iter().enumerate() {
            let mut java = java(&jre(index), Some(&options), name, &work)?;
            java.arg("-Xcheck:jni").args(["BeaconServer", &port, name, next]);
            servers.push(Running::start(java, name, &work)?);
        }
        let mut client = java(&jre(3), Some(&options), "client", &work)?;
        client.arg("-Xverify:all").args(["BeaconClient", &port, "s1", "20"]);
        let said = client.capture()?;
        // A call (depth 3) for each serial, which takes what is left of a division by 7 in each of three servers.
        let sum: i32 = (0..20).map(|serial| 3 * (serial % 7) + 2).sum();
        assert_eq!(String::from_utf8_lossy(&said.stdout), format!("{sum}\n"), "{said:?}");
        for server in servers {
            let (_, errors) = server.stop()?;
            ensure!(!errors.contains("instrument:") && !errors.contains("JNI"), "{errors}");
        }
        let names = ["client", "s1", "s2", "s3"];
        let processes: Vec<Recorded> =
            names.iter().map(|name| Recorded::of(&work, name)).collect::<Result<_>>()?;
        let pairs = pairs(&processes)?;
        for (hop, caller) in processes[..3].iter().enumerate() {
            let beacons = pairs.iter().filter(|pair| {
                (pair[0].0, pair[1].0) == (hop, hop + 1)
                    && caller.method(&caller.calls[pair[0].1]) == "remoteFoo(II)I"
            });
            assert_eq!(beacons.count(), 20, "{record}: hop {hop}");
        }
        let made: usize = processes
            .iter()
            .map(|p| {
                // While programs end, the distributed garbage collector may call one that is gone: that fails.
                let returned = |call: &&RemoteCall| call.end != 0 && !call.failed;
                p.calls.iter().filter(|call| call.kind == RemoteCallKind::Made).filter(returned).count()
            })
            .sum();
        assert_eq!(made, pairs.len(), "{record}: every call that returned was served by one of the four");
        // What a server does for a call is under the frame of a link.
        for process in &processes[1..] {
            for call in process.calls.iter().filter(|call| process.method(call) == "remoteFoo(II)I") {
                let link = process.profile.links.iter().find(|link| link.number == call.link);
                match (call.kind, record) {
                    (RemoteCallKind::Served, _) => {
                        assert_eq!(link.context("a link")?.kind, LinkKind::Served, "{call:?}");
                        assert_eq!(process.text(call, call.class), "BeaconServer");
                    }
                    (_, "trace") => assert_eq!(link.context("a link")?.kind, LinkKind::RemoteCall),
                    _ => assert_eq!(call.link, 0),
                }
                if call.kind == RemoteCallKind::Made {
                    ensure!(call.context != 0, "{call:?}");
                }
            }
        }
        if record == "tree" {
            let profile = &processes[1].profile;
            // The virtual machine's own work has link frames, too.
            let is_served = |number: u32| {
                profile.links.iter().any(|link| link.number == number && link.kind == LinkKind::Served)
            };
            let nodes = profile.threads.iter().filter_map(|thread| thread.tree.as_ref());
            let under_links: u64 = nodes
                .flat_map(|tree| &tree.nodes)
                .filter(|node| matches!(node.consumer, TreeConsumer::Link(number) if is_served(number)))
                .map(|node| node.entries)
                .sum();
            let served = processes[1].calls.iter().filter(|call| call.kind == RemoteCallKind::Served);
            assert_eq!(under_links as usize, served.count());
        }
    }
    Ok(())
}

/// A client and its server in one machine, by a stub and a skeleton that were written by hand.
fn echo(java: &mut Command, calls: u32) -> Result<()> {
    let said = java.args(["EchoImpl", &calls.to_string()]).capture()?;
    let sum: i64 = (0..i64::from(calls)).map(|i| if i % 4 == 3 { -1 } else { i }).sum();
    let expected = format!("unwritable\ntaken\ngone\nEchoImpl_Stub {sum}\n");
    assert_eq!(String::from_utf8_lossy(&said.stdout), expected, "{}", String::from_utf8_lossy(&said.stderr));
    Ok(())
}

#[test]
fn stubs_and_skeletons_are_recorded_once() -> Result<()> {
    for index in 0..4 {
        let folder = tempfile::tempdir()?;
        let jre = jre(index);
        echo(&mut java(&jre, Some(TRANSFORMS), "both", folder.path())?, 20)?;
        let processes = [Recorded::of(folder.path(), "both")?];
        let pairs = pairs(&processes)?;
        let recorded = &processes[0];
        let of = |kind, method: &str| {
            let calls = recorded.calls.iter();
            let calls = calls.filter(move |c| c.kind == kind && recorded.method(c) == method);
            calls.collect::<Vec<_>>()
        };
        let made = of(RemoteCallKind::Made, "echo(I)I");
        let served = of(RemoteCallKind::Served, "echo(I)I");
        assert_eq!((made.len(), served.len()), (21, 20), "Java {}", jre.version);
        assert_eq!(made.iter().filter(|call| call.threw).count(), 5);
        assert_eq!(served.iter().filter(|call| call.threw).count(), 5);
        ensure!(
            made.iter().chain(&served).all(|call| call.operation == 0 && call.hash == 77 && call.end != 0)
        );
        ensure!(made[20].no_such_object && !made[20].threw, "{:?}", made[20]);
        let takes = of(RemoteCallKind::Made, "take(Ljava/lang/Object;)V");
        let [lost, taken] = takes[..] else { anyhow::bail!("{takes:?}") };
        ensure!(lost.failed && lost.end != 0 && lost.return_id.is_none() && lost.sent == 0, "{lost:?}");
        ensure!(!taken.failed && taken.return_id.is_some(), "{taken:?}");
        // The call of the object that is gone is served, too: nobody knows its method.
        assert_eq!(pairs.len(), 22, "Java {}", jre.version);
        let gone = recorded.calls.iter().filter(|c| c.kind == RemoteCallKind::Served && c.no_such_object);
        assert_eq!(gone.count(), 1);
    }
    Ok(())
}

#[test]
fn a_rewritten_jar_records_what_its_stubs_and_skeletons_do() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let rewritten = folder.path().join("classes");
    instrument_tests::subject::rewrite(&classes(), &rewritten, &["--transform", "method-events,rmi"])?;
    for index in [1, 3] {
        let work = folder.path().join(index.to_string());
        fs::create_dir(&work)?;
        let mut java = jre(index).brief_java();
        java.current_dir(&work).arg("-Dinstrument.name=alone").arg("-cp").arg(&rewritten);
        echo(&mut java, 20)?;
        let recorded = Recorded::of(&work, "alone")?;
        let of = |kind| recorded.calls.iter().filter(move |call| call.kind == kind).collect::<Vec<_>>();
        let (made, served) = (of(RemoteCallKind::Made), of(RemoteCallKind::Served));
        assert_eq!((made.len(), served.len()), (23, 21));
        for call in made.iter().chain(&served) {
            ensure!(call.connection == 0 && call.return_id.is_none() && call.hash == 77 && call.end != 0);
        }
        ensure!(made.iter().all(|call| call.context != 0));
        ensure!(served.iter().all(|call| call.link != 0 && recorded.text(call, call.class) == "EchoImpl"));
        assert_eq!(served.iter().filter(|call| call.threw).count(), 5);
        assert_eq!(
            (made.iter().filter(|c| c.threw).count(), made.iter().filter(|c| c.failed).count()),
            (5, 2)
        );
    }
    Ok(())
}

#[test]
fn a_peer_need_not_be_instrumented() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let port = free_port().to_string();
    for (server, client) in [(Some(TRANSFORMS), None), (None, Some(TRANSFORMS))] {
        let mut java_server = java(&jre(1), server, "server", folder.path())?;
        java_server.args(["BeaconServer", &port, "s", "end"]);
        let running = Running::start(java_server, "server", folder.path())?;
        let mut java_client = java(&jre(3), client, "client", folder.path())?;
        let said = java_client.args(["BeaconClient", &port, "s", "7"]).capture()?;
        assert_eq!((&*said.stdout, &*said.stderr), (&b"21\n"[..], &b""[..]));
        assert_eq!(running.stop()?.1, "");
    }
    for (name, kind) in [("server", RemoteCallKind::Served), ("client", RemoteCallKind::Made)] {
        let recorded = Recorded::of(folder.path(), name)?;
        let beacons = recorded.calls.iter().filter(|call| recorded.method(call) == "remoteFoo(II)I");
        let returned = beacons.filter(|call| call.kind == kind && call.return_id.is_some() && call.end != 0);
        assert_eq!(returned.count(), 7);
    }
    Ok(())
}

#[test]
fn a_call_that_a_kill_ends_is_there() -> Result<()> {
    for record in ["tree", "trace"] {
        let folder = tempfile::tempdir()?;
        let port = free_port().to_string();
        let options = format!("{TRANSFORMS},record={record}");
        let mut server = java(&jre(3), Some(&options), "server", folder.path())?;
        server.args(["BeaconServer", &port, "s", "end"]);
        let mut server = Running::start(server, "server", folder.path())?;
        let mut client = java(&jre(1), Some(&options), "client", folder.path())?;
        let mut client =
            client.args(["BeaconClient", &port, "s", "5", "hang"]).stdout(Stdio::null()).spawn()?;
        assert_eq!(server.line()?, "hangs");
        server.kill()?;
        client.kill()?;
        client.wait()?;
        let processes: Vec<Recorded> =
            ["client", "server"].iter().map(|n| Recorded::of(folder.path(), n)).collect::<Result<_>>()?;
        let returned = pairs(&processes)?;
        let is_beacon = |pair: &&[(usize, usize); 2]| {
            processes[0].method(&processes[0].calls[pair[0].1]) == "remoteFoo(II)I"
        };
        assert_eq!(returned.iter().filter(is_beacon).count(), 5);
        let open = |recorded: &Recorded| -> Result<RemoteCall> {
            let mut open = recorded.calls.iter().filter(|call| recorded.method(call) == "remoteFoo(II)I");
            Ok(*open.find(|call| call.return_id.is_none()).context("the call that was killed")?)
        };
        let (made, served) = (open(&processes[0])?, open(&processes[1])?);
        // The server died first: what its death did to the call may have been recorded.
        ensure!(made.sent != 0 && made.return_id.is_none() && served.sent != 0 && served.returned == 0);
        let (from, to) = (processes[0].connection(&made), processes[1].connection(&served));
        let (from, to) = (from.context("a connection")?, to.context("a connection")?);
        assert_eq!((from.1, from.2, from.3, made.ordinal), (to.2, to.1, to.3, served.ordinal));
        assert_eq!((made.object, made.hash), (served.object, served.hash));
    }
    Ok(())
}

/// What went over each connection, both ways.
fn wire(folder: &Path, options: Option<&str>) -> Result<Vec<Vec<u8>>> {
    let port = free_port();
    let mut server = java(&jre(1), options, "server", folder)?;
    // No collection, which would tell of stubs that are gone.
    let memory = ["-Xms256m", "-Xmn128m"];
    server.args(memory).args(["TroubleServer", &port.to_string()]);
    let server = Running::start(server, "server", folder)?;
    let file = folder.join("wire");
    let mut client = java(&jre(1), options, "client", folder)?;
    client.args(memory).arg("-Djava.rmi.dgc.leaseValue=600000");
    client.args(["Wire", &port.to_string(), "50"]).arg(&file);
    let said = client.run_quietly()?;
    // Those with a remainder of 3 by 4, or of 4 by 5.
    assert_eq!(String::from_utf8_lossy(&said.stdout), "20 thrown\n");
    server.stop()?;
    let data = fs::read(&file)?;
    let mut streams = Vec::new();
    let mut rest = &data[..];
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte == b'\n').context("a length")?;
        let length: usize = std::str::from_utf8(&rest[..end])?.parse()?;
        streams.push(rest[end + 1..end + 1 + length].to_vec());
        rest = &rest[end + 1 + length..];
    }
    Ok(streams)
}

/// Ports, object numbers and UIDs are others each time: where runs without the agent differ from each other.
#[test]
fn nothing_is_added_to_the_wire() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let plain: Vec<_> = (0..4).map(|_| wire(folder.path(), None)).collect::<Result<_>>()?;
    let lengths = |streams: &[Vec<u8>]| streams.iter().map(Vec::len).collect::<Vec<_>>();
    let of_plain: Vec<_> = plain.iter().map(|run| lengths(run)).collect();
    // On a busy machine RMI itself now and then sends something more. What the agent sent would be there each time.
    let mut recorded = wire(folder.path(), Some(TRANSFORMS))?;
    for _ in 0..3 {
        if of_plain.contains(&lengths(&recorded)) {
            break;
        }
        recorded = wire(folder.path(), Some(TRANSFORMS))?;
    }
    let plain: Vec<_> = plain.into_iter().filter(|run| lengths(run) == lengths(&recorded)).collect();
    ensure!(plain.len() > 1, "{of_plain:?} without the agent, {:?} with it", lengths(&recorded));
    let (mut same, mut all) = (0, 0);
    for (index, stream) in recorded.iter().enumerate() {
        let differs = |at: usize| plain.iter().any(|run| run[index].get(at) != plain[0][index].get(at));
        for (at, byte) in stream.iter().enumerate() {
            // A byte of a number that changes may be the same a few times; one of those beside it is not.
            let free = (at.saturating_sub(8)..(at + 9).min(stream.len())).any(differs);
            ensure!(free || *byte == plain[0][index][at], "stream {index}, byte {at}: {byte}");
            same += usize::from(!free);
            all += 1;
        }
    }
    // The registry's connection, the server's, and one that it makes to call back.
    assert_eq!(recorded.len(), 6);
    ensure!(all > 20_000 && same > all / 4, "{same} of {all} bytes were compared");
    Ok(())
}

/// The markers are in place whatever else is wanted of the JDK's classes, and also where these were loaded before the agent was ready.
#[test]
fn markers_go_with_every_other_wish() -> Result<()> {
    for (index, options) in [
        "transform=rmi",
        "transform=rmi,record=counts",
        "transform=method-events:rmi,include=sun.rmi.**:java.rmi.**:Beacon*",
        "transform=method-events:allocation:rmi,include=sun.rmi.transport.**#serviceCall:Beacon*,record=trace",
        "transform=method-events:thread-links:rmi,include=Nothing",
    ]
    .into_iter()
    .enumerate()
    {
        let folder = tempfile::tempdir()?;
        let port = free_port().to_string();
        let management = format!("-Dcom.sun.management.jmxremote.port={}", free_port());
        let mut server = java(&jre(index), Some(options), "server", folder.path())?;
        server.args([&management, "-Dcom.sun.management.jmxremote.authenticate=false"]);
        server.args(["-Dcom.sun.management.jmxremote.ssl=false", "-Xcheck:jni", "-Xverify:all"]);
        server.args(["BeaconServer", &port, "s", "end"]);
        let running = Running::start(server, "server", folder.path())?;
        let mut client = java(&jre(index + 1), Some(options), "client", folder.path())?;
        let said = client.args(["BeaconClient", &port, "s", "7"]).capture()?;
        assert_eq!((&*said.stdout, &*said.stderr), (&b"21\n"[..], &b""[..]), "{options}");
        let (_, errors) = running.stop()?;
        ensure!(!errors.contains("instrument:"), "{options}: {errors}");
        let names = ["client", "server"];
        let processes: Vec<Recorded> =
            names.iter().map(|name| Recorded::of(folder.path(), name)).collect::<Result<_>>()?;
        let pairs = pairs(&processes)?;
        let is_beacon = |pair: &&[(usize, usize); 2]| {
            processes[0].method(&processes[0].calls[pair[0].1]) == "remoteFoo(II)I"
        };
        assert_eq!(pairs.iter().filter(is_beacon).count(), 7, "{options}");
        for thread in processes.iter().flat_map(|process| &process.profile.threads) {
            let misfits = thread.methods.values().filter(|m| m.closes.unclosed + m.unmatched > 0);
            assert_eq!(misfits.count(), 0, "{options}: {thread:?}");
        }
    }
    Ok(())
}

#[test]
fn the_command_takes_the_transform() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut run = instrument_tests::subject::call()?;
    run.current_dir(folder.path()).args(["run", "--transform", "method-events,rmi", "--agent"]);
    run.arg(agent::library()?).arg("--").arg(jre(1).home.join("bin/java")).arg("-Dinstrument.name=run");
    echo(run.arg("-cp").arg(classes()), 3)?;
    assert_eq!(pairs(&[Recorded::of(folder.path(), "run")?])?.len(), 5);
    Ok(())
}
