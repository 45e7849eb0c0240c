//! Servers that were rewritten on disk, under virtual machines whose own classes are as they are: the methods of remote objects tell what is served.

use instrument_tests::shared;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use instrument_tests::agent;
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::{Jdk, Run};
use instrument_tests::rmi::{Recorded, Running, TRANSFORMS, classes, free_port, java, profile};
use instrument_tests::subject;
use instrument_trace::{RemoteCall, RemoteCallKind, ThreadKind};
use serde_json::Value;

const ROUNDS: usize = 30;
/// Of two threads.
const CALLS: usize = 2 * ROUNDS;

/// The programs in a jar that was rewritten.
fn jar() -> PathBuf {
    let folder = shared::folder("rmi-static", |folder| {
        let (plain, rewritten) = (folder.join("plain.jar"), folder.join("rewritten.jar"));
        let mut jar = Jdk::default_kit()?.tool("jar");
        jar.arg("cf").arg(&plain).arg("-C").arg(classes()).arg(".").run_quietly()?;
        subject::rewrite(&plain, &rewritten, &["--transform", "method-events,thread-links,rmi"])?;
        Ok(())
    });
    folder.join("rewritten.jar")
}

/// `java` with the jar, under the agent with these options or without it.
fn rewritten(jre: &Jre, options: Option<&str>, name: &str, folder: &Path) -> Result<Command> {
    let mut java = jre.brief_java();
    java.current_dir(folder).arg("-Djava.rmi.server.hostname=127.0.0.1").arg("-cp").arg(jar());
    java.arg(format!("-Dinstrument.name={name}"));
    if let Some(options) = options {
        java.arg(agent::option(options)?);
    }
    Ok(java)
}

fn served<'a>(
    recorded: &'a Recorded,
    class: &'a str,
    method: &'a str,
) -> impl Iterator<Item = &'a RemoteCall> {
    recorded.calls.iter().filter(move |call| {
        call.kind == RemoteCallKind::Served
            && recorded.text(call, call.class) == class
            && recorded.method(call) == method
    })
}

/// A server that is called by two threads of a client, which calls it a known number of times.
fn tally(mut server: Command, mut client: Command, port: &str, folder: &Path) -> Result<()> {
    server.args(["TallyServer", port]);
    let server = Running::start(server, "server", folder)?;
    let said = client.args(["TallyClient", port, &ROUNDS.to_string()]).capture()?;
    // add, twice and inherited of each round; 1 for each inherited; the exceptions; the overflow of one round.
    let sum = 2 * ((0..ROUNDS).map(|round| 4 * round + 1 + 1000).sum::<usize>() + 100_000);
    assert_eq!(String::from_utf8_lossy(&said.stdout), format!("{sum}\n"), "{said:?}");
    let (_, errors) = server.stop()?;
    ensure!(!errors.contains("instrument:"), "{errors}");
    Ok(())
}

/// What the two threads of the client did, once each, and nothing of what the server did with its own object.
fn check(recorded: &Recorded, case: &str) -> Result<Vec<RemoteCall>> {
    let expected = [
        ("add(I)I", CALLS, 0),
        ("twice(I)I", CALLS, 0),
        ("inherited(I)I", CALLS, 0),
        ("fail(Ljava/lang/String;)V", CALLS, CALLS),
        ("deep(I)I", 2, 2),
    ];
    let mut all = Vec::new();
    for (method, calls, thrown) in expected {
        let found: Vec<&RemoteCall> = served(recorded, "TallyServer", method).collect();
        assert_eq!(found.len(), calls, "{case}, {method}");
        assert_eq!(found.iter().filter(|call| call.threw).count(), thrown, "{case}, {method}");
        for call in found {
            let clocks: Vec<u64> =
                [call.begin, call.sent, call.returned, call.end].into_iter().filter(|at| *at != 0).collect();
            ensure!(clocks.is_sorted() && call.end != 0 && !call.failed && call.thread != 0, "{call:?}");
            all.push(*call);
        }
    }
    Ok(all)
}

#[test]
fn what_clients_call_is_recorded_once_and_what_the_server_calls_is_not() -> Result<()> {
    for (jre, record) in jre::each(&jre::all()?, &["tree", "trace", "counts"]) {
        let (folder, port) = (tempfile::tempdir()?, free_port().to_string());
        let mut server = rewritten(&jre, None, "server", folder.path())?;
        server.arg(format!("-Dinstrument.record={record}"));
        tally(server, java(&jre, None, "client", folder.path())?, &port, folder.path())?;
        let recorded = Recorded::of(folder.path(), "server")?;
        let case = format!("Java {}, {record}", jre.version);
        for call in check(&recorded, &case)? {
            assert_eq!((call.connection, call.return_id, call.link), (0, None, 0), "{case}: {call:?}");
            assert_eq!(recorded.text(&call, call.host), "127.0.0.1", "{case}");
            let thread = recorded.profile.threads.iter().find(|thread| thread.ordinal == call.thread);
            // Threads that have ended are one.
            ensure!(
                thread.is_none_or(|of| of.kind != ThreadKind::Thread || of.name.starts_with("RMI TCP")),
                "{case}: {call:?}"
            );
        }
        // The registry is the JDK's own.
        let served = recorded.calls.iter().filter(|call| call.kind == RemoteCallKind::Served);
        assert_eq!(served.count(), 4 * CALLS + 2, "{case}");
    }
    Ok(())
}

#[test]
fn the_agent_and_the_methods_tell_of_the_same_call_once() -> Result<()> {
    for (jre, (options, is_told)) in
        jre::each(&jre::ends()?, &[(TRANSFORMS, true), ("transform=method-events", false)])
    {
        let (folder, port) = (tempfile::tempdir()?, free_port().to_string());
        let server = rewritten(&jre, Some(options), "server", folder.path())?;
        tally(server, java(&jre, None, "client", folder.path())?, &port, folder.path())?;
        let recorded = Recorded::of(folder.path(), "server")?;
        let case = format!("Java {}, {options}", jre.version);
        for call in check(&recorded, &case)? {
            let known = (call.connection != 0, call.return_id.is_some(), call.host == 0);
            assert_eq!(known, (is_told, is_told, is_told), "{case}: {call:?}");
        }
    }
    Ok(())
}

#[test]
fn skeletons_and_methods_tell_of_the_same_call_once() -> Result<()> {
    for jre in jre::ends()? {
        let folder = tempfile::tempdir()?;
        let said = rewritten(&jre, None, "both", folder.path())?.args(["EchoImpl", "20"]).capture()?;
        assert_eq!(said.status.code(), Some(0), "{said:?}");
        let recorded = Recorded::of(folder.path(), "both")?;
        let served: Vec<&RemoteCall> =
            recorded.calls.iter().filter(|call| call.kind == RemoteCallKind::Served).collect();
        // 20 of echo and one of take that arrived, all through the skeleton.
        let operations = |number| served.iter().filter(|call| call.operation == number).count();
        assert_eq!((operations(0), operations(-1)), (20, 0), "Java {}: {served:?}", jre.version);
    }
    Ok(())
}

#[test]
fn a_merge_says_why_such_calls_have_no_other_side() -> Result<()> {
    let jre = jre::all()?.pop().context("a virtual machine")?;
    let (folder, port) = (tempfile::tempdir()?, free_port().to_string());
    let server = rewritten(&jre, None, "server", folder.path())?;
    tally(server, java(&jre, Some(TRANSFORMS), "client", folder.path())?, &port, folder.path())?;
    let mut merge = subject::call()?;
    merge.args(["merge", "--json"]);
    for name in ["client", "server"] {
        merge.arg(profile(folder.path(), name)?);
    }
    let merged: Value = serde_json::from_slice(&merge.capture()?.stdout)?;
    let unmatched = merged["matching"]["unmatched"].as_array().context("a list")?;
    let served: Vec<&Value> = unmatched.iter().filter(|row| row["side"] == "served").collect();
    let [row] = served[..] else { anyhow::bail!("{unmatched:#?}") };
    assert_eq!(
        (&row["calls"], &row["reason"]),
        (&(4 * CALLS + 2).into(), &"connection-unknown".into()),
        "{row:#}"
    );
    // The profile of their server is here; it only does not say over which connections they came. The registry is the JDK's own.
    let made = |reason: &str| {
        let rows = unmatched.iter().filter(|row| row["side"] == "made" && row["reason"] == reason);
        rows.filter_map(|row| row["calls"].as_u64()).sum::<u64>()
    };
    assert_eq!(made("peer-connection-unknown"), 4 * CALLS as u64 + 2, "{unmatched:#?}");
    let files = ["client", "server"].map(|name| profile(folder.path(), name));
    let mut text = subject::call()?;
    text.arg("merge").args(files.into_iter().collect::<Result<Vec<_>>>()?);
    let text = String::from_utf8(text.capture()?.stdout)?;
    ensure!(text.contains("--launcher-agent") && text.contains("instrument jdk-patch"), "{text}");
    Ok(())
}
