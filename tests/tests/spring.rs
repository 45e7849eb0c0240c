//! A Spring Boot service under `instrument run`, as a new user starts it: REST, Spring JDBC, an embedded database, 200 requests.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use instrument_tests::jre::{self, Jre};
use instrument_tests::spring::{self, Ended};
use instrument_tests::subject::{self, entries_of};
use instrument_tests::{
    agent,
    machine::{Jdk, Run},
};
use tempfile::TempDir;

const REQUESTS: usize = 200;
/// Lines of a terminal.
const SCREEN: usize = 30;
/// Bytes.
const LARGEST_PROFILE: u64 = 150_000_000;

/// The oldest and the newest virtual machine on which it runs.
fn machines() -> Result<Vec<Jre>> {
    let mut found: Vec<_> = jre::all()?.into_iter().filter(|jre| jre.version >= 17).collect();
    ensure!(!found.is_empty(), "Java 17 or later is needed; this is {}", Jdk::default_kit()?.version);
    found.drain(1..found.len().max(2) - 1);
    Ok(found)
}

/// Runs the service with these options of `instrument run` and words for `java`.
fn serve(jre: &Jre, options: &[&str], words: &[&str]) -> Result<(TempDir, Ended)> {
    let folder = tempfile::tempdir()?;
    let mut command = subject::call()?;
    command.current_dir(folder.path()).arg("run").args(options).arg("--agent").arg(agent::library()?);
    command
        .arg("--")
        .arg(jre.home.join("bin/java"))
        .arg("-XX:TieredStopAtLevel=1")
        .args(words)
        .arg("-jar")
        .arg(spring::jar()?);
    let ended = spring::drive(command, &[], REQUESTS)?;
    ensure!(ended.code == Some(128 + 15), "Java {}: {:?}: {}", jre.version, ended.code, ended.stderr);
    Ok((folder, ended))
}

/// The first screen of the report shows how long it took and where the time went in the program's own methods; the last lines, what is
/// not recorded.
fn check_report(profile: &Path) -> Result<()> {
    let text = String::from_utf8(subject::call()?.arg("report").arg(profile).run_quietly()?.stdout)?;
    // A machine that is too busy for the calibration has its warning first; times are as measured then.
    let is_refused = text.starts_with("TIMES ARE NOT CORRECTED");
    let screen: Vec<&str> = text.lines().skip(if is_refused { 2 } else { 0 }).take(SCREEN).collect();
    for fact in ["ran  ", "time        running ", "trust       calls exact; ", "hottest "] {
        ensure!(screen.iter().any(|line| line.starts_with(fact)), "no {fact}in {screen:#?}");
    }
    ensure!(text.lines().count() <= SCREEN + 2, "more than a screen: {text}");
    let own = screen.iter().skip_while(|line| !line.starts_with("own code    com.acme.shop.** "));
    let own: Vec<_> = own.skip_while(|line| !line.ends_with("  method")).skip(1).take(10).collect();
    let is_there = |method: &str| own.iter().any(|line| line.contains(method));
    ensure!(own.iter().all(|line| line.ends_with(')')), "{screen:#?}");
    // What takes clearly more time itself than the tenth; handlers of requests have little of their own.
    for method in ["ShopService.checksum(", "ItemRepository.", "OrderRepository."] {
        ensure!(is_there(method), "no {method} in {screen:#?}");
    }
    let left = text.lines().find(|line| line.starts_with("left out ")).context("nothing is left out")?;
    ensure!(left.contains("org.springframework.boot.loader.**"), "{left}");
    Ok(())
}

/// Requests are called by the routes of their controllers, and each is a part of the tree, with the methods that served it below.
fn check_routes(profile: &Path) -> Result<()> {
    let merged = |report: &str, format: &str| -> Result<String> {
        let words = ["--quiet", "merge", "--prune", "0", format, "--report", report];
        Ok(String::from_utf8(subject::call()?.args(words).arg(profile).run_quietly()?.stdout)?)
    };
    let services: serde_json::Value = serde_json::from_str(&merged("services", "--json")?)?;
    let rows = services["rows"].as_array().context("rows")?;
    let served = rows.iter().map(|row| (row["method"].as_str().unwrap_or(""), row["served"].as_u64()));
    let expected = [("GET /customers/{customer}/receipt", 50), ("GET /items", 50), ("POST /orders", 100)];
    let routes: BTreeMap<_, _> = expected.map(|(route, calls)| (route, Some(calls))).into();
    assert_eq!(served.collect::<BTreeMap<_, _>>(), routes);
    let tree = merged("xtree", "--csv")?;
    // A route is the second level, below the process: id, parent, depth, function, kind, calls.
    let cells: Vec<Vec<&str>> = tree.lines().skip(1).map(|line| line.splitn(7, ',').collect()).collect();
    let mut told: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let mut route = "";
    for row in cells.iter().filter(|row| !["0", "1"].contains(&row[2])) {
        if row[2] == "2" {
            route = row[3].strip_prefix("served ").with_context(|| format!("{row:?}"))?;
            told.insert(route, (row[5].parse()?, 0));
        } else if row[3].starts_with("com.acme.shop.ShopController.") {
            told.entry(route).and_modify(|of| of.1 += row[5].parse::<u64>().unwrap_or(0));
        }
    }
    let expected = expected.map(|(route, calls)| (route, (calls, calls)));
    assert_eq!(told, expected.into());
    Ok(())
}

/// Virtual machines, and whether requests are served by virtual threads; the oldest virtual machine first.
fn cases() -> Result<Vec<(Jre, bool)>> {
    let of = |jre: Jre| {
        let threads: &[bool] = if jre.version >= 21 { &[false, true] } else { &[false] };
        threads.iter().map(move |&is_virtual| (jre.clone(), is_virtual))
    };
    Ok(machines()?.into_iter().flat_map(of).collect())
}

#[test]
fn every_request_is_counted_and_the_first_screen_shows_where_time_went() -> Result<()> {
    check(cases()?.last().context("no virtual machine")?)
}

#[test]
#[ignore = "INSTRUMENT_CORPUS_FULL=1 ./x test runs it: a service is started for each machine, without and with virtual threads"]
fn so_it_is_on_every_virtual_machine_and_without_virtual_threads() -> Result<()> {
    let cases = cases()?;
    cases[..cases.len() - 1].iter().try_for_each(check)
}

fn check((jre, is_virtual): &(Jre, bool)) -> Result<()> {
    let option = format!("-Dspring.threads.virtual.enabled={is_virtual}");
    let (folder, _) = serve(jre, &["--remote", "http"], &[&option])?;
    let profile = spring::profile(folder.path())?;
    let bytes = fs::metadata(&profile)?.len();
    ensure!(bytes <= LARGEST_PROFILE, "Java {}, {option}: {bytes} bytes", jre.version);
    check_report(&profile)?;
    check_routes(&profile)?;
    let methods = subject::profile(folder.path())?;
    let launcher = entries_of(&methods, "org.springframework.boot.loader.");
    ensure!(launcher == 0, "Java {}: {launcher} calls of the launcher", jre.version);
    for (method, calls) in [
        ("ShopController.items", 50),
        ("ShopController.order", 100),
        ("ShopController.receipt", 50),
        ("ShopService.price", 100),
        ("ItemRepository.findAll", 50),
        ("OrderRepository.save", 100),
        ("OrderRepository.findByCustomer", 150),
    ] {
        let name = format!("com.acme.shop.{method}");
        let counted = entries_of(&methods, &name);
        let fits = if method.ends_with("price") { counted >= calls } else { counted == calls };
        ensure!(fits, "Java {}, {option}: {name} {counted} times", jre.version);
    }
    Ok(())
}
