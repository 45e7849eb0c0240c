//! Five questions on five programs, each with a fault: a person opens the page and clicks at most five times until the answer is there.
//! `tests/viewer/questions.js` clicks; the book shows its pictures (`docs/src/questions.md`).

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use instrument_tests::browser::{Server, drive, page, pictures};
use instrument_tests::machine::Run;
use instrument_tests::recorded::{Recorded, beacons};
use instrument_tests::subject;

/// Clicks until the answer.
const MOST: u64 = 5;

fn answered(question: &str, page: &Path) -> Result<()> {
    let found = drive(question, &[page, &pictures()?])?;
    let clicks = found["clicks"].as_u64().context("clicks")?;
    ensure!((1..=MOST).contains(&clicks), "{question}: {found}");
    Ok(())
}

fn recorded(program: &str, options: &str) -> Result<(Recorded, PathBuf)> {
    let recorded = Recorded::new(&[program], options)?;
    let html = page(&recorded.profile, &recorded.folder.path().join("page.html"))?;
    Ok((recorded, html))
}

#[test]
fn who_asks_the_database_so_often() -> Result<()> {
    answered("asks_often", &recorded("NPlusOne", "record=tree")?.1)
}

#[test]
fn who_has_the_lock_that_workers_wait_for() -> Result<()> {
    answered("has_the_lock", &recorded("Locked", "threads=on,owners=all,clock=monotonic")?.1)
}

#[test]
fn what_fills_the_memory() -> Result<()> {
    answered("fills_memory", &recorded("Leak", "heap=objects")?.1)
}

#[test]
fn which_server_is_slow() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let profiles = beacons(folder.path(), 30)?;
    let html = folder.path().join("merged.html");
    subject::call()?.args(["--quiet", "merge", "--html"]).arg(&html).args(&profiles).run_quietly()?;
    answered("is_slow", &html)
}

#[test]
fn what_takes_the_time_of_the_start() -> Result<()> {
    answered("starts", &recorded("Starting", "record=tree")?.1)
}

/// The classes are at hand: the page shows what the JVM executes of a method.
#[test]
fn the_bytecode_of_a_method_is_shown() -> Result<()> {
    let recorded = Recorded::new(&["Starting"], "record=tree")?;
    let arguments = ["--class-path".as_ref(), recorded.folder.path().as_os_str()];
    let server = Server::start_with(&recorded.profile, &arguments)?;
    let found = drive("bytecode", &[&server.address])?;
    let dump = subject::call()?
        .args(["dump", "--no-pool", "--method", "Starting$Currencies.parse(int)"])
        .arg(recorded.folder.path().join("Starting$Currencies.class"))
        .run_quietly()?;
    ensure!(found["code"].as_str() == Some(std::str::from_utf8(&dump.stdout)?), "{found}");
    ensure!(found["others"].is_null(), "a method that is in no class: {found}");
    let plain = fs::read_to_string(page(&recorded.profile, &recorded.folder.path().join("page.html"))?)?;
    ensure!(plain.contains("connect-src 'none'"));
    Ok(())
}
