//! Calls by gRPC between virtual machines (`--remote grpc`): which is which, by what both ends have told of every single one.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use instrument_analysis::merge::MatchState;
use instrument_tests::corpus::Corpus;
use instrument_tests::http::{Merged, Programs, Said, check_nonces, said};
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::Run;
use instrument_tests::values::machines;
use instrument_tests::{rmi, subject};
use instrument_trace::{Protocol, RemoteCall};

/// A hop of the chain, in a profile that has the work of tasks.
const OPTIONS: &str = "transform=method-events:remote-grpc,include=Grpc*:Remote*";
const JARS: [&str; 7] =
    ["grpc-netty-shaded", "grpc-core", "grpc-stub", "grpc-util", "grpc-api", "guava", "perfmark-api"];

/// What the client and its services have said.
struct Outcome {
    makers: Vec<Said>,
    services: Vec<Said>,
    folder: tempfile::TempDir,
}

/// A client of a service, which asks another one.
fn chain(programs: &Programs, jre: &Jre, options: &str, client: &[&str]) -> Result<Outcome> {
    let folder = tempfile::tempdir()?;
    let at = folder.path();
    let port = |url: &str| url.rsplit(':').next().unwrap_or_default().to_owned();
    let (last, url) = programs.serve(jre, Some(options), "s2", at, &["GrpcHop"])?;
    let (first, url) = programs.serve(jre, Some(options), "s1", at, &["GrpcHop", &port(&url)])?;
    let (flags, rest) = client.split_at(client.iter().take_while(|word| word.starts_with('-')).count());
    let mut asker = programs.java(jre, Some(options), "client", at)?;
    let output = asker.args(flags).args(["GrpcAsker", &port(&url)]).args(rest).capture()?;
    let told = String::from_utf8(output.stdout)?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success() && told.ends_with("done\n"), "{told}{errors}");
    ensure!(!errors.contains("instrument:"), "{errors}");
    let (mut services, mut makers) = (Vec::new(), said(&told));
    for service in [first, last] {
        let (told, errors) = service.stop()?;
        ensure!(!errors.contains("instrument:"), "{errors}");
        let (served, made): (Vec<_>, Vec<_>) = said(&told).into_iter().partition(|one| one.side == "served");
        services.extend(served);
        makers.extend(made);
    }
    Ok(Outcome { makers, services, folder })
}

fn programs(folder: &std::path::Path) -> Result<Programs> {
    Programs::of(folder, &["grpc"], &JARS, |source| source)
}

/// The status code of a call; none: it is not known.
fn code(call: &RemoteCall) -> Option<u16> {
    call.http.filter(|http| http.protocol == Protocol::Grpc)?.status.checked_sub(1)
}

/// 0 wrong ones, and each that was answered is there: unary calls and streams of all kinds, refused, broken, too late, cancelled, and for a method that
/// nobody has.
#[test]
fn calls_through_three_processes_are_found_by_their_headers() -> Result<()> {
    let work = tempfile::tempdir()?;
    let programs = programs(work.path())?;
    let calls = if Corpus::full() { 10_000 } else { 300 };
    for (jre, header_of) in jre::each(&machines()?, &["none", "own"]) {
        let propagates = header_of == "none";
        let options = if propagates { format!("{OPTIONS},propagate=on") } else { OPTIONS.to_owned() };
        let property = format!("-Dheader={header_of}");
        let outcome = chain(&programs, &jre, &options, &[&property, &calls.to_string(), "12"])?;
        let merged = Merged::of(outcome.folder.path(), &["client", "s1", "s2"])?;
        let told = check_nonces(&merged, &outcome.makers, &outcome.services)?;
        let mut codes: BTreeMap<u16, u32> = BTreeMap::new();
        for (call, match_state, served) in merged.made() {
            let code = code(call).with_context(|| format!("{call:?}"))?;
            *codes.entry(code).or_default() += 1;
            match match_state {
                MatchState::Matched(_) if code == 0 => {
                    ensure!(served.and_then(self::code) == Some(0), "{call:?} {served:?}");
                }
                MatchState::Matched(_) => {}
                // Those of s1 have no header of their own.
                _ if match_state.word() == "no-key" && !propagates => {}
                // Nobody has the method; or the client has given up before the server has begun.
                _ => ensure!(
                    match_state.word() == "unanswered" && [1, 4, 12].contains(&code),
                    "{code} {match_state:?}: {call:?}"
                ),
            }
        }
        let tenth = calls / 10;
        // What nobody waits for any more has been given up by the service as well.
        let count = |code: u16| codes.get(&code).copied().unwrap_or_default();
        ensure!([2, 9, 12].into_iter().all(|code| count(code) == tenth), "{codes:?}");
        ensure!(count(1) >= tenth && count(4) >= tenth, "{codes:?}");
        let all: u32 = codes.values().sum();
        // Five tenths get so far that the service asks the next one; slow ones may, and nobody waits for these.
        let least = calls + tenth * 5;
        ensure!((least..=least + 2 * tenth).contains(&all), "{codes:?}");
        ensure!(
            told as u32 >= if propagates { least - 3 * tenth } else { calls - 3 * tenth },
            "{told} told of {all}: {codes:?}"
        );
        for word in merged.served().keys() {
            let is_due = *word == "by header" || *word == "no-key" && !propagates;
            ensure!(is_due, "{:?}", merged.served());
        }
    }
    Ok(())
}

/// What a service does for a call is below the call, whichever of its threads did it, and so is what it asks of the next one.
#[test]
fn one_call_is_one_tree() -> Result<()> {
    let work = tempfile::tempdir()?;
    let programs = programs(work.path())?;
    let outcome = chain(&programs, &jre::newest()?, &format!("{OPTIONS},propagate=on"), &["40", "4"])?;
    let paths: Vec<_> = ["client", "s1", "s2"]
        .iter()
        .map(|name| rmi::profile(outcome.folder.path(), name))
        .collect::<Result<_>>()?;
    let merged = rmi::merged(&paths, &["--prune", "0", "--collapse", "processes"])?;
    let tree = merged["xtree"]["tree"].to_string();
    for name in ["remote hop.Hops/Talk", "Talker.onNext", "remote hop.Hops/Ask", "GrpcHop.ask"] {
        ensure!(tree.contains(name), "{name}: {tree}");
    }
    let links = subject::call()?.args(["merge", "--report", "services", "--json"]).args(&paths).capture()?;
    let services: serde_json::Value = serde_json::from_slice(&links.stdout)?;
    let rows = services["rows"].as_array().context("rows")?;
    let row = |method: &str, made: u64| {
        rows.iter()
            .find(|row| row["method"] == method && row["made"] == made)
            .with_context(|| format!("{rows:?}"))
    };
    let talk = row("hop.Hops/Talk", 4)?;
    assert_eq!((&talk["matched"], &talk["failed"], &talk["kind"]), (&4.into(), &0.into(), &"grpc".into()));
    let nowhere = row("hop.Hops/Nowhere", 4)?;
    assert_eq!((&nowhere["matched"], &nowhere["failed"]), (&0.into(), &4.into()), "{nowhere}");
    Ok(())
}

/// Nothing is added without `propagate`, and headers that are not valid stay as they are.
#[test]
fn metadata_is_as_it_was() -> Result<()> {
    let work = tempfile::tempdir()?;
    let programs = programs(work.path())?;
    for (header, options, word, expected) in [
        ("none", OPTIONS.to_owned(), "no-key", None),
        ("rubbish", format!("{OPTIONS},propagate=on"), "bad-key", Some("00-rubbish")),
    ] {
        let property = format!("-Dheader={header}");
        let outcome = chain(&programs, &jre::newest()?, &options, &[&property, "30", "4"])?;
        let served = outcome.services.iter().filter(|one| one.nonce.starts_with('c'));
        ensure!(served.clone().count() >= 24, "{:?}", outcome.services);
        for one in served {
            assert_eq!(one.header.as_deref(), expected, "{one:?}");
        }
        let merged = Merged::of(outcome.folder.path(), &["client", "s1", "s2"])?;
        // Those of the service have no header of the client's.
        let (made, from_service) = (merged.match_states(), merged.made().count() - 30);
        let others = if word == "no-key" { from_service } else { 0 };
        assert_eq!(made.get(word), Some(&(30 + others)), "{made:?}");
    }
    Ok(())
}
