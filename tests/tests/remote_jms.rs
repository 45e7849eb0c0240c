//! Messages by JMS between virtual machines (`--remote jms`): who received what somebody sent, by what both ends have told of every single one.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use instrument_tests::corpus::Corpus;
use instrument_tests::http::{Merged, Programs};
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::Run;
use instrument_tests::values::machines;
use instrument_tests::{rmi, subject};
use instrument_trace::{Protocol, RemoteCall, TraceParent};

const OPTIONS: &str = "transform=method-events:remote-jms,include=Jms*";
const JARS: [&str; 5] = ["activemq-broker", "activemq-client", "jms-api", "hawtbuf", "slf4j-api"];

/// A message as a program has told of it: its id, its nonce and its header.
#[derive(Debug)]
struct Said {
    id: String,
    nonce: String,
    header: String,
}

fn said(output: &str, side: &str) -> Vec<Said> {
    let line = |line: &str| {
        let [told, id, nonce, header] = line.splitn(4, ' ').collect::<Vec<_>>()[..] else { return None };
        let said = Said { id: id.to_owned(), nonce: nonce.to_owned(), header: header.to_owned() };
        (told == side).then_some(said)
    };
    output.lines().filter_map(line).collect()
}

struct Outcome {
    sent: Vec<Said>,
    received: Vec<Said>,
    folder: tempfile::TempDir,
}

fn run(programs: &Programs, jre: &Jre, options: &str, messages: u32) -> Result<Outcome> {
    let folder = tempfile::tempdir()?;
    let at = folder.path();
    let (hop, url) = programs.serve(jre, Some(options), "hop", at, &["JmsHop"])?;
    let port = url.rsplit(':').next().context("a port")?;
    let output = programs
        .java(jre, Some(options), "sender", at)?
        .args(["JmsSender", port, &messages.to_string()])
        .capture()?;
    let mut told = String::from_utf8(output.stdout)?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(told.ends_with("done\n") && !errors.contains("instrument:"), "{told}{errors}");
    let (more, errors) = hop.stop()?;
    ensure!(!errors.contains("instrument:"), "{errors}");
    told.push_str(&more);
    Ok(Outcome { sent: said(&told, "sent"), received: said(&told, "received"), folder })
}

fn programs(folder: &Path) -> Result<Programs> {
    Programs::of(folder, &["jms"], &JARS, |source| source)
}

/// The key of an id, as the recorder makes it.
fn key(id: &str) -> TraceParent {
    let mix = |a: u64, b: u64| {
        let mixed = (a ^ b.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed ^ mixed >> 29
    };
    let units = || id.encode_utf16().map(u64::from);
    let hash = units().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(unit as i32));
    let one = units().fold(hash as u64, |one, unit| (one ^ unit).wrapping_mul(0x0100_0000_01B3));
    let length = units().count() as u64;
    let other = units().fold(length, mix);
    TraceParent { trace: u128::from(mix(one, other)) << 64 | u128::from(mix(other, length)), parent: one }
}

fn key_of(call: &RemoteCall) -> Result<TraceParent> {
    let http = call.http.filter(|http| http.protocol == Protocol::Jms && http.is_id);
    http.and_then(|http| http.key).with_context(|| format!("{call:?}"))
}

/// 0 wrong ones, and every one is there: of listeners and of who asks, of several subscribers, of what is delivered again and what ends as a dead letter,
/// and of what is sent on with the properties of another one.
#[test]
fn messages_are_found_by_their_ids() -> Result<()> {
    let work = tempfile::tempdir()?;
    let programs = programs(work.path())?;
    let messages = if Corpus::full() { 10_000 } else { 300 };
    for (jre, propagates) in jre::each(&machines()?, &[false, true]) {
        let options = if propagates { format!("{OPTIONS},propagate=on") } else { OPTIONS.to_owned() };
        let outcome = run(&programs, &jre, &options, messages)?;
        let merged = Merged::of(outcome.folder.path(), &["sender", "hop"])?;
        let of = |said: &[Said]| -> BTreeMap<TraceParent, Vec<String>> {
            let mut nonces: BTreeMap<TraceParent, Vec<String>> = BTreeMap::new();
            for one in said {
                nonces.entry(key(&one.id)).or_default().push(one.nonce.clone());
            }
            nonces
        };
        let (sent, received) = (of(&outcome.sent), of(&outcome.received));
        assert_eq!(sent.len(), outcome.sent.len(), "no two have the same id");
        let all = messages + messages / 10;
        assert_eq!(sent.len() as u32, all);
        let (mut made, mut kept) = (0, 0);
        for (call, match_state, first) in merged.made() {
            if call.http.is_some_and(|http| !http.is_id) {
                // The program's own method, which is only called so.
                ensure!(first.is_none(), "{call:?}");
                kept += 1;
                continue;
            }
            assert_eq!(match_state.word(), "by id", "{call:?}");
            let (mine, theirs) = (&sent[&key_of(call)?], &received[&key_of(call)?]);
            ensure!(mine.len() == 1 && theirs.iter().all(|nonce| *nonce == mine[0]), "{mine:?} {theirs:?}");
            assert_eq!(first.map(key_of).transpose()?, Some(key_of(call)?));
            made += 1;
        }
        assert_eq!((made, kept), (all, messages / 10));
        let count = outcome.received.len();
        assert_eq!(merged.served(), BTreeMap::from([("by id", count)]));
        // Two subscribers; and what nobody could take comes twice, and once more as a dead letter.
        assert_eq!(count as u32, all + messages / 10 + 2 * (messages / 10));
        // Nothing is added without being asked for.
        let has_header = |one: &&Said| one.header != "null";
        let with = outcome.sent.iter().filter(has_header).count();
        assert_eq!(with as u32, if propagates { all } else { 0 });
    }
    Ok(())
}

/// Whatever was done for a message is below who has sent it, once for each that has received it, and takes nothing of the sender's time.
#[test]
fn what_a_message_causes_is_below_its_sender() -> Result<()> {
    let work = tempfile::tempdir()?;
    let programs = programs(work.path())?;
    let outcome = run(&programs, &jre::newest()?, OPTIONS, 40)?;
    let paths: Vec<_> = ["sender", "hop"]
        .iter()
        .map(|name| rmi::profile(outcome.folder.path(), name))
        .collect::<Result<_>>()?;
    let merged = rmi::merged(&paths, &["--prune", "0", "--collapse", "processes"])?;
    let tree = merged["xtree"]["tree"].to_string();
    for name in ["remote queue work", "JmsHop.work", "remote topic news", "JmsHop.news", "JmsHop.pulled"] {
        ensure!(tree.contains(name), "{name}: {tree}");
    }
    // Two threads have a message at the same time, and each is done with it.
    let output = subject::call()?.args(["xtree", "--prune", "0"]).arg(&paths[1]).capture()?;
    let alone = String::from_utf8(output.stdout)?;
    let served = alone.matches("(remote calls)").count();
    ensure!((1..10).contains(&served), "{served} {alone}");
    let output = subject::call()?.args(["merge", "--report", "services", "--json"]).args(&paths).capture()?;
    let services: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let rows = services["rows"].as_array().context("rows")?;
    let news = rows.iter().find(|row| row["method"] == "topic news").with_context(|| format!("{rows:?}"))?;
    assert_eq!((&news["made"], &news["served"], &news["kind"]), (&4.into(), &8.into(), &"jms".into()));
    Ok(())
}
