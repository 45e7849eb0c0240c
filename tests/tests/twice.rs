//! `instrument run --twice`: the counts of one run and the times of another one, and what a program sees of it.

use anyhow::{Context, Result, ensure};
use instrument_tests::agent::{self, Outcome, finish};
use instrument_tests::machine::Jdk;
use instrument_tests::subject;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn program() -> Result<(TempDir, String)> {
    let folder = tempfile::tempdir()?;
    let path = agent::compile(&["Twice.java"], 8, folder.path())?.display().to_string();
    Ok((folder, path))
}

fn twice(options: &[&str], words: &[&str]) -> Result<Command> {
    let java = Jdk::default_kit()?.home.join("bin/java");
    let mut command = subject::call()?;
    command.args(["run", "--twice"]).args(options).arg("--agent").arg(agent::library()?);
    command.arg("--").arg(java).args(words);
    Ok(command)
}

/// The row of a method in the table of all methods, by the names of its resources.
fn figure(report: &Value, method: &str, resource: &str) -> Result<f64> {
    let xprof = &report["xprof"];
    let names = xprof["resources"].as_array().context("resources")?;
    let at = names.iter().position(|name| name["name"] == resource).context("no such resource")?;
    let rows = xprof["rows"].as_array().context("rows")?;
    let row = rows.iter().find(|row| row["function"] == method).with_context(|| method.to_owned())?;
    row["base"][at].as_f64().context("a figure")
}

#[test]
fn counts_are_of_one_run_and_times_of_one_without_probes() -> Result<()> {
    let (folder, path) = program()?;
    let ran = folder.path().join("ran").display().to_string();
    let input = "a line\n".repeat(50_000);
    fs::write(folder.path().join("input"), &input)?;
    let words = ["-cp", &path, "Twice", &ran];
    for is_pipe in [true, false] {
        let _ = fs::remove_file(&ran);
        let profile = folder.path().join(format!("twice-{is_pipe}.iprof"));
        let mut command = twice(&["--out", &profile.display().to_string()], &words)?;
        let mut child = if is_pipe {
            command.stdin(Stdio::piped());
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?
        } else {
            command.stdin(fs::File::open(folder.path().join("input"))?);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?
        };
        let to = child.stdin.take();
        let text = input.clone();
        let feeder = thread::spawn(move || to.map(|mut to| to.write_all(text.as_bytes())));
        let output = child.wait_with_output()?;
        let _ = feeder.join();
        let (stdout, stderr) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
        assert_eq!((output.status.code(), &*stdout), (Some(3), "50000 lines, true\n"), "{stderr}");
        assert_eq!(fs::read_to_string(&ran)?, "ran\nran\n");

        let of = |words: &[&str]| -> Result<Outcome> {
            let mut command = subject::call()?;
            command.args(words).arg(&profile);
            finish(command)
        };
        let screen = of(&["report"])?.stdout;
        ensure!(screen.contains("calls are of a recorded run, times of another one"), "{screen}");
        let report: Value = serde_json::from_str(&of(&["report", "--json"])?.stdout)?;
        let calls = report["xprof"]["rows"].as_array().context("rows")?;
        let step = calls.iter().find(|row| row["function"] == "Twice.step()V").context("step")?;
        assert_eq!(step["calls"].as_u64(), Some(20_000_000), "{step}");
        // Without probes the short calls take a small part of the time, whatever probes would make of them.
        let running = |method: &str| figure(&report, method, "running");
        let often = running("Twice.often()V")? + running("Twice.step()V")?;
        let seldom = running("Twice.seldom()V")?;
        ensure!(seldom > 3e8 && often < seldom, "often {often} ns, seldom {seldom} ns");
        let two = &report["twice"][0];
        ensure!(two["bare_ns"].as_f64() > Some(3e8), "{two}");
        ensure!(two["probes_ns"].as_f64() > Some(2e7), "20 million calls have probes: {two}");
        ensure!(two["contexts"]["both"].as_u64() >= Some(2), "{two}");
    }
    Ok(())
}

#[test]
fn an_interrupted_first_run_is_the_last_one() -> Result<()> {
    let (folder, path) = program()?;
    let ran = folder.path().join("ran");
    let profile = folder.path().join("x.iprof");
    let text = |path: &Path| path.display().to_string();
    let mut command = twice(&["--out", &text(&profile)], &["-cp", &path, "Twice", &text(&ran), "sleep"])?;
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let began = Instant::now();
    while !ran.exists() && began.elapsed() < Duration::from_secs(60) {
        thread::sleep(Duration::from_millis(50));
    }
    Command::new("kill").args(["-TERM", &child.id().to_string()]).status()?;
    let output = child.wait_with_output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(143), "{stderr}");
    ensure!(stderr.contains("the first run was interrupted") && !profile.exists(), "{stderr}");
    assert_eq!(fs::read_to_string(&ran)?, "ran\n");
    Ok(())
}

#[test]
fn what_stacks_cannot_tell_is_refused_before_anything_runs() -> Result<()> {
    let (folder, path) = program()?;
    let ran = folder.path().join("ran").display().to_string();
    for (options, part) in [
        (&["--record", "counts"][..], "leave out --record other than tree"),
        (&["--timing", "all"], "leave out --timing other than samples"),
        (&["--values", "jdbc"], "leave out --values"),
        (&["--root", "Twice.often"], "leave out --root"),
        (&["--cpu"], "leave out --cpu"),
        (&["--burst", "10ms/1s"], "leave out --burst"),
        (&["--armed"], "cannot be used with"),
        (&["--budget", "3%"], "cannot be used with"),
    ] {
        let outcome = finish(twice(options, &["-cp", &path, "Twice", &ran])?)?;
        ensure!(outcome.code == Some(2) && outcome.stderr.contains(part), "{options:?}: {}", outcome.stderr);
        ensure!(!Path::new(&ran).exists(), "{options:?} ran the program");
    }
    let other = folder.path().join("other.iprof");
    fs::write(&other, "no profile")?;
    let outcome = finish(twice(&["--out", &other.display().to_string()], &["-cp", &path, "Twice", &ran])?)?;
    ensure!(outcome.code == Some(2) && outcome.stderr.contains("is no profile"), "{}", outcome.stderr);
    ensure!(!Path::new(&ran).exists(), "it ran before --out was refused");
    Ok(())
}
