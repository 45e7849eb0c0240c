//! `instrument run --twice` and `attach --twice`: the counts of one run and the times of another one, and what a program sees of it.

use anyhow::{Context, Result, ensure};
use instrument_tests::agent::{self, Outcome, finish};
use instrument_tests::jre;
use instrument_tests::machine::Jdk;
use instrument_tests::resident::{Program, text as text_of};
use instrument_tests::subject::{self, entries_of};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
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

#[test]
fn a_program_that_runs_has_counts_of_a_part_and_times_of_the_one_after() -> Result<()> {
    for jre in jre::all()? {
        let mut program = Program::start(&jre, &[], &["Attached", "2"], None)?;
        // What a first recording leaves open for good.
        program.attached(&["--record", "counts"])?;
        program.stop()?;
        let files = program.files()?;
        let output = program.attach(&["--twice", "6s", "--out", "parts.iprof"])?;
        let stderr = text_of(&output.stderr);
        ensure!(output.status.success(), "{}: {stderr}", jre.version);
        assert_eq!(stderr.matches("nothing is rewritten for 3s").count(), 1, "{stderr}");
        program.has_left(files)?;
        program.run("call 5")?;
        program.end()?;

        let report = program.call(&["report", "--json", "parts.iprof"])?.output()?;
        let report: Value = serde_json::from_slice(&report.stdout)?;
        let two = &report["twice"][0];
        let case = format!("{}: {two}: {stderr}", jre.version);
        // The loop of each thread, which was there before, is in no recorded context: it would leave no context in both.
        ensure!(two["parts_of_one_run"] == true && two["contexts"]["both"].as_u64() > Some(3), "{case}");
        ensure!(two["bare_ns"].as_f64() > Some(1e8) && two["outside_ns"].as_f64() > Some(1e8), "{case}");
        let rows = report["xprof"]["rows"].as_array().context("rows")?;
        let calls = rows.iter().find(|row| row["function"] == "Attached.recurse(I)I").context("recurse")?;
        ensure!(calls["calls"].as_u64() > Some(1000), "{case}: {calls}");
        // It makes an exception, with the stack of the thread.
        ensure!(figure(&report, "Attached$Item.<init>(I)V", "running")? > 2e7, "{case}: {rows:?}");
        // Code that was replaced while it ran has its name.
        let is_unknown = |row: &Value| row["function"].as_str().is_some_and(|name| name.contains("unloaded"));
        ensure!(!rows.iter().any(is_unknown), "{case}: {rows:?}");
    }
    Ok(())
}

#[test]
fn an_interrupt_while_calls_are_counted_leaves_their_profile() -> Result<()> {
    let mut program = Program::start(&jre::newest()?, &[], &["Attached", "1"], None)?;
    let mut attach = program.call(&["attach", &program.pid(), "--twice", "1h", "--out", "counts.iprof"])?;
    let mut child = attach.stderr(Stdio::piped()).spawn()?;
    let mut said = BufReader::new(child.stderr.take().context("a pipe")?);
    let mut line = String::new();
    while !line.contains("is recorded") && said.read_line(&mut line)? > 0 {}
    Command::new("kill").args(["-INT", &child.id().to_string()]).status()?;
    let code = child.wait()?.code();
    said.read_to_string(&mut line)?;
    ensure!(code == Some(0) && line.contains("its end came before stacks were sampled"), "{code:?}: {line}");
    ensure!(!line.contains("nothing is rewritten"), "{line}");
    program.end()?;
    ensure!(entries_of(&program.recorded("counts.iprof")?, "Attached.recurse") > 0);
    Ok(())
}

#[test]
fn what_parts_of_a_run_cannot_tell_is_refused() -> Result<()> {
    let program = Program::start(&jre::newest()?, &[], &["Attached"], None)?;
    for (options, part) in [
        (&["--twice", "3s"][..], "--twice needs 4s at least"),
        (&["--twice", "8s", "--record", "counts"], "leave out --record other than tree"),
        (&["--twice", "8s", "--for", "8s"], "cannot be used with"),
        (&["--twice", "8s", "--budget", "3%"], "cannot be used with"),
        (&["--twice", "8s", "--ctl", "off"], "leave out --for, --twice"),
    ] {
        let output = program.attach(options)?;
        let stderr = text_of(&output.stderr);
        ensure!(output.status.code() == Some(2) && stderr.contains(part), "{options:?}: {stderr}");
    }
    Ok(())
}
