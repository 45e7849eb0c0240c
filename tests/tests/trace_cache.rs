//! What is kept of a trace: the second command reads it from the cache, and prints the same.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, ensure};
use instrument_testing::{Script, Writer};
use instrument_tests::agent;
use instrument_tests::machine::{Jdk, Run};
use instrument_tests::subject;

/// What was just written may still grow.
fn age(path: &Path) -> Result<()> {
    let hour_ago = SystemTime::now() - Duration::from_secs(3600);
    Ok(fs::OpenOptions::new().append(true).open(path)?.set_modified(hour_ago)?)
}

/// A profile with 4,000 calls of one thread: each of the 2,000 outer ones takes 7 ns, 4 of them below it.
fn profile(folder: &Path) -> Result<PathBuf> {
    let mut writer = Writer::new();
    let call = |s: Script| s.call(1, |s| s.wait(3).call(2, |s| s.wait(4)));
    writer.property("record", "trace").trace("main", &Script::new(1000).times(2000, call), 300);
    let path = folder.join("a.iprof");
    fs::write(&path, writer.finish())?;
    age(&path)?;
    Ok(path)
}

fn timeline(home: &Path, options: &[&str], profile: &Path) -> Result<Command> {
    let mut command = subject::call()?;
    command.env("XDG_CACHE_HOME", home).env_remove("HOME");
    command.arg("timeline").args(options).arg(profile);
    Ok(command)
}

fn ensure_same<T: PartialEq + std::fmt::Debug>(one: &T, other: &T) -> Result<()> {
    ensure!(one == other, "{one:?} {other:?}");
    Ok(())
}

/// Checks that a file is used and not made anew: it stays the same file, and whoever reads it says when.
fn used(index: &Path, by: impl FnOnce() -> Result<()>) -> Result<()> {
    let before = fs::metadata(index)?;
    let aged = before.modified()? - Duration::from_secs(900);
    fs::OpenOptions::new().append(true).open(index)?.set_modified(aged)?;
    by()?;
    let after = fs::metadata(index)?;
    ensure!(after.ino() == before.ino() && after.modified()? > aged, "it was not used");
    Ok(())
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
}

#[test]
fn the_second_command_reads_what_the_first_one_kept() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (home, profile) = (folder.path().join("cache"), profile(folder.path())?);
    let window = ["--from", "0ns", "--to", "7000ns", "--json"];
    let print = |options: &[&str]| -> Result<(Vec<u8>, String)> {
        let output = timeline(&home, &[options, &window].concat(), &profile)?.run_quietly()?;
        Ok((output.stdout, String::from_utf8(output.stderr)?))
    };
    let uncached = print(&["--no-cache"])?;
    ensure!(!home.exists(), "{:?}", files(&home));
    let document: serde_json::Value = serde_json::from_slice(&uncached.0)?;
    ensure!(document["total"].to_string().contains("7000"), "{}", document["total"]);

    let first = print(&[])?;
    let kept = files(&home.join("instrument/traces"));
    let [index] = &kept[..] else { anyhow::bail!("{kept:?}") };
    let second = print(&[])?;
    ensure!(first == uncached && second == first, "{first:?} {second:?}");
    used(index, || ensure_same(&print(&[])?, &first))?;
    ensure!(files(&home.join("instrument/traces")) == kept);

    // A damaged one is made anew.
    let good = fs::read(index)?;
    fs::write(index, &good[..good.len() / 2])?;
    ensure!(print(&[])? == first && fs::read(index)? == good);

    // Another folder; and one that cannot be made is said, and no error.
    let other = folder.path().join("other");
    let options = ["--cache", other.to_str().context("a path")?];
    ensure!(print(&options)? == first && files(&other).len() == 1, "{:?}", files(&other));
    let below = profile.join("below");
    let (printed, said) = print(&["--cache", below.to_str().context("a path")?])?;
    ensure!(printed == first.0 && said.contains("what was read of a trace was not kept in"), "{said}");
    ensure!(said.contains("--no-cache"), "{said}");
    Ok(())
}

/// A program is recorded, and every command prints the same the first time, the second time and without a cache.
#[test]
fn a_recorded_trace_is_read_once() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let classes = agent::compile(&["Orders.java"], 8, folder.path())?;
    let profile = &folder.path().join("orders.iprof");
    let mut run = subject::call()?;
    run.args(["run", "--record", "trace", "--out"]).arg(profile).arg("--agent").arg(agent::library()?);
    run.arg("--").arg(Jdk::default_kit()?.home.join("bin/java")).arg("-cp").arg(classes).arg("Orders");
    let outcome = agent::finish(run)?;
    ensure!(outcome.code == Some(0), "{}", outcome.stderr);
    age(profile)?;
    let (cache, page) = (folder.path().join("cache"), folder.path().join("page.html"));
    let commands = [
        vec!["report", "--json"],
        vec!["xtree", "--json"],
        vec!["xprof", "--csv"],
        vec!["stats", "--json"],
        vec!["threads", "--json"],
        vec!["timeline", "--json"],
        vec!["timeline", "--from", "10ms", "--to", "90ms", "--json"],
        vec!["view", "--html", page.to_str().context("a path")?],
    ];
    let print = |words: &[&str], cached: bool| -> Result<Vec<u8>> {
        let mut command = subject::call()?;
        command.arg("--quiet").args(words);
        match cached {
            true => command.arg("--cache").arg(&cache),
            false => command.arg("--no-cache"),
        };
        let output = command.arg(profile).run_quietly()?;
        let html = if words[0] == "view" { fs::read(&page)? } else { Vec::new() };
        let _ = fs::remove_file(&page);
        Ok([output.stdout, html].concat())
    };
    let expected = commands.iter().map(|words| print(words, false)).collect::<Result<Vec<_>>>()?;
    ensure!(expected.iter().all(|text| text.len() > 300) && !cache.exists());
    for (words, expected) in commands.iter().zip(&expected) {
        ensure!(&print(words, true)? == expected, "{words:?}, the first time");
    }
    let kept = files(&cache);
    let [index] = &kept[..] else { anyhow::bail!("{kept:?}") };
    ensure!(fs::metadata(&cache)?.mode() & 0o777 == 0o700 && fs::metadata(index)?.mode() & 0o777 == 0o600);
    for (words, expected) in commands.iter().zip(&expected) {
        used(index, || {
            ensure!(&print(words, true)? == expected, "{words:?}, the second time");
            Ok(())
        })?;
    }
    // A file that is not the same is read.
    let mut bytes = fs::read(profile)?;
    bytes.extend([0; 8]);
    fs::write(profile, bytes)?;
    age(profile)?;
    ensure!(print(&commands[1], true)? == expected[1] && files(&cache).len() == 2, "{:?}", files(&cache));
    Ok(())
}
