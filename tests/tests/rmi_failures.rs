//! Remote calls that fail, each in its own way, between real virtual machines of several versions: what is recorded of them, and what `merge` says.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use instrument_tests::rmi::{
    Recorded, Running, TRANSFORMS, free_port, java, jre, matched, merged, pairs, profile, unmatched,
};
use instrument_trace::{ObjId, RemoteCall, RemoteCallKind};

fn made<'a>(recorded: &'a Recorded, method: &str) -> Vec<&'a RemoteCall> {
    let calls = recorded.calls.iter();
    calls.filter(|call| call.kind == RemoteCallKind::Made && recorded.method(call) == method).collect()
}

const TAKE: &str = "take(Ljava/lang/Object;)V";

#[test]
fn failures_are_distinguished() -> Result<()> {
    for (index, record) in [(0, "tree"), (1, "trace"), (2, "tree"), (3, "trace")] {
        let folder = tempfile::tempdir()?;
        let folder = folder.path();
        let (port, options) = (free_port(), format!("{TRANSFORMS},record={record}"));
        let mut server = java(&jre(index), Some(&options), "server", folder)?;
        server.args(["TroubleServer", &port.to_string()]);
        let server = Running::start(server, "server", folder)?;
        let mut client = java(&jre(index + 1), Some(&options), "client", folder)?;
        client.args(["-Dsun.rmi.transport.tcp.responseTimeout=3000", "TroubleClient", &port.to_string()]);
        let mut client = Running::start(client, "client", folder)?;
        let said: Vec<String> = (0..8).map(|_| client.line()).collect::<Result<_>>()?;
        let expected = [
            "5",
            "0",
            "MarshalException",
            "ServerException",
            "7",
            "NoSuchObjectException",
            "UnmarshalException",
            "done",
        ];
        assert_eq!(said, expected);
        // The server is still at the call that its client has given up.
        std::thread::sleep(Duration::from_millis(2500));
        server.kill()?;
        let (said, errors) = client.stop()?;
        assert_eq!(said, "ConnectException\nConnectException\nConnectException\n");
        assert_eq!(errors, "");

        let processes = [Recorded::of(folder, "client")?, Recorded::of(folder, "server")?];
        pairs(&processes)?;
        let client = &processes[0];
        let takes = made(client, TAKE);
        let [taken, unwritable, unreadable, lost] = takes[..] else { anyhow::bail!("{takes:?}") };
        ensure!(taken.return_id.is_some() && !taken.failed && !taken.threw, "{taken:?}");
        ensure!(unwritable.failed && unwritable.sent == 0 && unwritable.connection != 0, "{unwritable:?}");
        ensure!(unreadable.threw && unreadable.return_id.is_some(), "{unreadable:?}");
        // No connection could be had: where to is known, and the call was made where it was made.
        let echoes = made(client, "echo(I)I");
        let lists = made(client, "list()[Ljava/lang/String;");
        for (call, to) in [(lost, None), (echoes[1], None), (lists[0], Some(port))] {
            ensure!(call.failed && call.sent == 0 && call.end != 0 && call.connection == 0, "{call:?}");
            ensure!(client.text(call, call.host) == "127.0.0.1" && call.port != 0, "{call:?}");
            ensure!(to.is_none_or(|port| call.port == port), "{call:?}");
            ensure!(call.context != 0 && call.begin < call.end, "{call:?}");
        }
        assert_eq!((echoes.len(), lists.len()), (2, 1));
        assert_eq!((lost.object, lost.hash), (taken.object, taken.hash));
        assert_eq!((lists[0].object, lists[0].operation), (ObjId::REGISTRY, 1));
        let leaves = made(client, "leave()I");
        let [left, gone] = leaves[..] else { anyhow::bail!("{leaves:?}") };
        ensure!(left.return_id.is_some() && !left.failed && gone.no_such_object, "{left:?} {gone:?}");
        let slow = made(client, "slow([B)I")[0];
        ensure!(slow.failed && slow.sent != 0 && slow.return_id.is_none() && slow.end != 0, "{slow:?}");

        let merged = merged(&[profile(folder, "client")?, profile(folder, "server")?], &[])?;
        let unmatched = unmatched(&merged);
        // The three without a connection, by where they went, and the one that could not be written.
        let failed: u64 =
            unmatched.iter().filter(|row| row.2 == "failed-before-sending").map(|row| row.4).sum();
        // And what a collector of garbage, if it came just then, had to say to the server that was gone.
        let cleans = processes.iter().flat_map(|process| &process.calls);
        let cleans = cleans.filter(|call| call.object == ObjId::DGC && call.failed && call.sent == 0).count();
        assert_eq!(failed, 4 + cleans as u64, "{unmatched:?}");
        let to_registry =
            (0, "made".to_owned(), "failed-before-sending".to_owned(), format!("127.0.0.1:{port}"), 1);
        ensure!(unmatched.contains(&to_registry), "{unmatched:?}");
        ensure!(unmatched.iter().all(|row| row.2 == "failed-before-sending"), "{unmatched:?}");
        let [_, by_place, by_ports] = matched(&merged);
        assert_eq!(by_place + by_ports, 1, "the slow one: {}", merged["matching"]);
    }
    Ok(())
}

#[test]
fn a_host_that_nobody_knows_is_named() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    let port = free_port().to_string();
    let mut server = java(&jre(1), None, "server", folder)?;
    server.args(["-Djava.rmi.server.hostname=no.such.host.invalid", "TroubleServer", &port]);
    let _server = Running::start(server, "server", folder)?;
    let mut client = java(&jre(3), Some(TRANSFORMS), "client", folder)?;
    client.args(["TroubleClient", &port, "lost"]);
    let mut client = Running::start(client, "client", folder)?;
    assert_eq!(client.line()?, "done");
    let (said, errors) = client.stop()?;
    assert_eq!((said.as_str(), errors.as_str()), ("UnknownHostException\nUnknownHostException\n2\n", ""));
    let client = Recorded::of(folder, "client")?;
    for call in [made(&client, TAKE), made(&client, "echo(I)I")].concat() {
        ensure!(call.failed && call.sent == 0 && call.connection == 0 && call.end != 0, "{call:?}");
        assert_eq!(client.text(call, call.host), "no.such.host.invalid");
    }
    let merged = merged(&[profile(folder, "client")?], &[])?;
    let named = unmatched(&merged);
    let named = named.iter().find(|row| row.3.starts_with("no.such.host.invalid:")).context("the host")?;
    assert_eq!(named.2, "failed-before-sending");
    Ok(())
}
