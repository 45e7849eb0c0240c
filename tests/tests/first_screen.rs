//! What a person should find on the first screen of `report`: five programs, each with one question, and the sentence that answers it.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use instrument_tests::agent;
use instrument_tests::browser::{drive, page, pictures};
use instrument_tests::machine::{Jdk, Run, java_source};
use instrument_tests::subject;
use tempfile::TempDir;

/// Lines and columns of the screen.
const LINES: usize = 30;
const COLUMNS: usize = 100;

/// What the terminal prints of a run, and the page of it.
struct Screens {
    text: String,
    html: PathBuf,
    _folder: TempDir,
}

/// The first screen of a program of `tests/java/screen` that was recorded with these options.
fn screen(program: &str, options: &[&str], words: &[&str]) -> Result<Screens> {
    let folder = TempDir::new()?;
    let profile = record(&folder, program, options, words)?;
    let report = subject::call()?.arg("report").arg(&profile).run_quietly()?;
    let text = String::from_utf8(report.stdout)?;
    ensure!(text.lines().count() <= LINES, "{program}: more than a screen\n{text}");
    ensure!(
        text.lines().all(|line| line.chars().count() <= COLUMNS),
        "{program}: a line is too long\n{text}"
    );
    ensure!(text.contains("\ntrust       calls exact"), "{program}: no word on trust\n{text}");
    ensure!(text.contains(&format!("com.acme.{}", program.to_lowercase())), "{program}: own code\n{text}");
    let html = page(&profile, &folder.path().join("page.html"))?;
    Ok(Screens { text, html, _folder: folder })
}

fn record(folder: &TempDir, program: &str, options: &[&str], words: &[&str]) -> Result<PathBuf> {
    let kit = Jdk::default_kit()?;
    let classes = folder.path().join("classes");
    let mut javac = kit.tool("javac");
    javac.args(["-nowarn", "-Xlint:none", "--release", "11", "-d"]).arg(&classes);
    javac.arg(java_source(&format!("screen/{program}.java"))).run_quietly()?;
    let profile = folder.path().join("a.iprof");
    let mut run = subject::call()?;
    run.arg("run").args(options).arg("--agent").arg(agent::library()?).arg("--out").arg(&profile);
    run.arg("--").arg(kit.home.join("bin/java")).arg("-cp").arg(&classes);
    run.arg(format!("com.acme.{}.{program}", program.to_lowercase())).args(words).run_quietly()?;
    Ok(profile)
}

/// Whether a line has these parts in this order, and what the page says first as well; continued lines are one.
fn says(screens: &Screens, parts: &[&str]) -> Result<()> {
    let text = &screens.text;
    let joined = text.replace("\n            ", " ");
    let has = |line: &str| {
        parts.iter().try_fold(line, |rest, part| rest.split_once(part).map(|(_, rest)| rest)).is_some()
    };
    ensure!(joined.lines().any(has), "no line with {parts:?} in\n{text}");
    let pictures = pictures()?;
    let arguments: Vec<&Path> =
        [screens.html.as_path(), &pictures].into_iter().chain(parts.iter().map(Path::new)).collect();
    let found = drive("overview", &arguments)?;
    ensure!(found["clicks"].as_u64() == Some(1), "{found}");
    Ok(())
}

#[test]
fn why_so_many_statements() -> Result<()> {
    let screens = screen("Orders", &["--values", "jdbc"], &[])?;
    says(
        &screens,
        &["N+1", "SQL select name from item where id = ?", "240 calls", "20 per call of OrderService.list"],
    )
}

#[test]
fn who_waits_for_whom() -> Result<()> {
    let screens = screen("Prices", &["--monitors"], &[])?;
    says(
        &screens,
        &["locks", "PriceBook.price waits ", " for a lock ", "PriceBook", "that thread nightly holds"],
    )
}

#[test]
fn what_fills_the_memory() -> Result<()> {
    let screens = screen("Sessions", &["--heap", "objects"], &[])?;
    says(
        &screens,
        &["leaks", "Session", "made in Sessions.login", "more and more", "held by", "Sessions.OPEN"],
    )
}

#[test]
fn which_server_is_slow() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}/rate/7", listener.local_addr()?);
    let server = std::thread::spawn(move || -> Result<()> {
        for _ in 0..10 {
            let (mut peer, _) = listener.accept()?;
            let mut request = [0; 4096];
            let read = peer.read(&mut request)?;
            ensure!(read > 0, "no request");
            std::thread::sleep(Duration::from_millis(40));
            peer.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")?;
        }
        Ok(())
    });
    let screens = screen("Checkout", &["--values", "http"], &[&address])?;
    server.join().ok().context("the server failed")??;
    says(
        &screens,
        &["requests", "HTTP GET http://127.0.0.1:", "/rate/?", "10 calls", " ms each", "Rates.rate"],
    )
}

#[test]
fn why_it_starts_slowly() -> Result<()> {
    let screens = screen("Start", &[], &[])?;
    says(&screens, &["hottest", "Start.main > Start.serve > ", "Catalog.<clinit>", " % of "])?;
    // Of the program's own methods it is the first.
    let mut rows = screens.text.lines().skip_while(|line| !line.ends_with("  method"));
    let first = rows.nth(1).context("no row")?;
    ensure!(first.contains("Catalog.") && first.trim_start().starts_with(['1', '4']), "{}", screens.text);
    Ok(())
}
