//! `instrument run` beyond starting a program: reports when it has ended, roots and regions of classes as they load.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use instrument_tests::agent::{self, finish, option, run};
use instrument_tests::jre;
use instrument_tests::machine::{Jdk, Run};
use instrument_tests::subject;
use tempfile::TempDir;

fn program() -> Result<(TempDir, String)> {
    let folder = tempfile::tempdir()?;
    let path = agent::compile(&["Program.java"], 8, folder.path())?.display().to_string();
    Ok((folder, path))
}

fn instrument_run(options: &[&str], words: &[&str]) -> Result<Command> {
    let java = Jdk::default_kit()?.home.join("bin/java");
    let mut command = subject::call()?;
    command.arg("run").args(options).arg("--agent").arg(agent::library()?).arg("--").arg(java).args(words);
    Ok(command)
}

#[test]
fn a_report_follows_what_the_program_has_printed() -> Result<()> {
    let (_folder, path) = program()?;
    for (report, part) in [
        ("xtree --prune 0", "Program.fibonacci(int)"),
        ("xprof --top 3", "not shown: "),
        ("stats", "Program.main(String[])"),
        ("report --counts", "counts balance for "),
    ] {
        let outcome = finish(instrument_run(&["--report", report], &["-cp", &path, "Program", "exit"])?)?;
        assert_eq!(outcome.code, Some(7), "{report}: {}", outcome.stderr);
        let (first, rest) = outcome.stdout.split_once('\n').unwrap_or_default();
        ensure!(first.ends_with(" 1000") && rest.contains(part), "{report}: {}", outcome.stdout);
    }
    let options = ["--report", "xprof --prune 0", "--report-to", "report.txt"];
    let outcome = finish(instrument_run(&options, &["-cp", &path, "Program"])?)?;
    assert_eq!((outcome.code, outcome.stdout.lines().count()), (Some(0), 1), "{}", outcome.stderr);
    let report = fs::read_to_string(outcome.folder.path().join("report.txt"))?;
    ensure!(report.contains("Program.make(int)"), "{report}");
    // Nothing is written to its profile any more: a byte that changes later is noticed, wherever it is.
    let entries = fs::read_dir(outcome.folder.path())?.filter_map(|entry| Some(entry.ok()?.path()));
    let profile = entries.into_iter().find(|path| path.extension().is_some_and(|end| end == "iprof"));
    let profile = profile.context("a profile")?;
    let reported = |words: &[&str]| -> Result<(String, String)> {
        let output = subject::call()?.args(words).arg(&profile).output()?;
        Ok((String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?))
    };
    let mut data = fs::read(&profile)?;
    ensure!(data[100] == 1, "no checksum");
    let (screen, said) = reported(&["report"])?;
    ensure!(!screen.contains("DAMAGED") && !said.contains("checksum"), "{screen}{said}");
    *data.last_mut().context("bytes")? ^= 1;
    let at = data.len() / 2;
    data[at] ^= 0x10;
    fs::write(&profile, data)?;
    let (screen, _) = reported(&["report"])?;
    ensure!(
        screen.contains("DAMAGED: file: its checksum") && screen.contains("calls are NOT all there"),
        "{screen}"
    );
    let (counts, said) = reported(&["report", "--counts"])?;
    ensure!(
        !counts.contains("counts balance") && said.contains("its checksum is not that"),
        "{counts}{said}"
    );
    let (_, said) = reported(&["-v", "xtree"])?;
    ensure!(!said.contains("self-check passed") && said.contains("its checksum is not that"), "{said}");
    for (words, reason) in [
        (&["--report", "everything"][..], "--report everything: there are report, xprof, "),
        (&["--report", "xtree --deep"], "--report xtree: unexpected argument"),
        (&["--report", "xtree", "--report-to", "/nowhere/x"], "/nowhere/x: No such file"),
        (&["--report-to", "x"], "--report"),
    ] {
        let outcome = finish(instrument_run(words, &["-cp", &path, "Program"])?)?;
        ensure!(outcome.code != Some(0) && outcome.stdout.is_empty(), "{words:?} ran the program");
        ensure!(outcome.stderr.contains(reason), "{words:?}: {}", outcome.stderr);
    }
    Ok(())
}

#[test]
fn only_what_extends_or_implements_a_class_is_recorded() -> Result<()> {
    let (_folder, path) = program()?;
    // By way of its own superclass.
    let options = ["--subclasses-of", "java.io.Serializable", "--report", "stats"];
    let outcome = finish(instrument_run(&options, &["-cp", &path, "Program"])?)?;
    let methods = outcome.methods()?;
    ensure!(!methods.is_empty(), "{}", outcome.stderr);
    let of = ["Program$Base.", "Program$Item."];
    for name in methods.keys() {
        ensure!(of.iter().any(|class| name.starts_with(class)), "{name}");
    }
    for class in of {
        ensure!(methods.keys().any(|name| name.starts_with(class)), "{class}: {methods:?}");
    }
    for (options, reason) in [
        (&["--subclasses-of", "no.Such"][..], "no class of the class path is, extends or implements no.Such"),
        (&["--subclasses-of", "Program", "--armed"], "leave out --armed"),
        (&["--class-path", "."], "--class-path goes with --probes and --subclasses-of"),
    ] {
        let outcome = finish(instrument_run(options, &["-cp", &path, "Program"])?)?;
        ensure!(outcome.code == Some(2) && outcome.stdout.is_empty(), "{options:?} ran the program");
        ensure!(outcome.stderr.contains(reason), "{options:?}: {}", outcome.stderr);
    }
    Ok(())
}

#[test]
fn a_process_is_called_what_the_user_says() -> Result<()> {
    let (_folder, path) = program()?;
    for (options, word, name) in [
        (&["--name", "till"][..], "-ea", "till"),
        (&[], "-Dinstrument.name=shop", "shop"),
        (&["--name", "till"], "-Dinstrument.name=shop", "shop"),
        (&[], "-ea", "Program"),
    ] {
        let options = [options, &["--report", "xtree --depth 1"]].concat();
        let outcome = finish(instrument_run(&options, &[word, "-cp", &path, "Program"])?)?;
        ensure!(outcome.stderr.starts_with(&format!("profile: {name}-")), "{}", outcome.stderr);
        ensure!(outcome.stdout.contains(&format!("  {name} (pid ")), "{}", outcome.stdout);
    }
    // Nobody has: the profile's file is called after the program, which keeps its whole name.
    let folder = tempfile::tempdir()?;
    let kit = Jdk::default_kit()?;
    fs::write(
        folder.path().join("Till.java"),
        "package com.acme; class Till { public static void main(String[] words) {} }",
    )?;
    kit.tool("javac").current_dir(folder.path()).args(["-d", ".", "Till.java"]).run_quietly()?;
    kit.tool("jar")
        .current_dir(folder.path())
        .args(["cfe", "shop-1.2.jar", "com.acme.Till", "com"])
        .run_quietly()?;
    let jar = folder.path().join("shop-1.2.jar").display().to_string();
    // The JDK's source launcher, which compiles the file and runs it, is not the program.
    let source = folder.path().join("Till.java").display().to_string();
    for (words, name, file, environment) in [
        (["-Dx=y", "-ea", &source], "Till.java", "Till", None),
        (["-cp", &jar, "com.acme.Till"], "com.acme.Till", "Till", None),
        (["-Dx=y", "-jar", &jar], "shop-1.2.jar", "shop-1.2", None),
        (["-cp", &jar, "com.acme.Till"], "till", "till", Some("till")),
    ] {
        let mut command = instrument_run(&["--report", "xtree --prune 0 --width 300"], &words)?;
        command.envs(environment.map(|name| ("INSTRUMENT_NAME", name)));
        let outcome = finish(command)?;
        ensure!(outcome.stderr.starts_with(&format!("profile: {file}-")), "{}", outcome.stderr);
        ensure!(outcome.stdout.contains(&format!("  {name} (pid ")), "{name}: {}", outcome.stdout);
        ensure!(!outcome.stdout.contains("com.sun"), "{name}: {}", outcome.stdout);
    }
    let outcome = finish(instrument_run(&["--name", "a/b"], &["-cp", &path, "Program"])?)?;
    ensure!(outcome.code == Some(2) && outcome.stderr.contains("no name for a file"), "{}", outcome.stderr);
    Ok(())
}

#[test]
fn a_run_without_remote_calls_says_so() -> Result<()> {
    let (_folder, path) = program()?;
    let outcome = finish(instrument_run(&["--transform", "rmi"], &["-cp", &path, "Program"])?)?;
    let note = "no remote calls were recorded: the program made none by RMI, and served none; --transform method-events,rmi records";
    ensure!(outcome.code == Some(0) && outcome.stderr.contains(note), "{}", outcome.stderr);
    Ok(())
}

#[test]
fn a_second_run_replaces_the_profile_of_the_first() -> Result<()> {
    let (_folder, path) = program()?;
    let folder = tempfile::tempdir()?;
    let profile = folder.path().join("shop.iprof");
    let out = profile.display().to_string();
    for _ in 0..2 {
        let words = ["--out", &out, "--limit", "64m", "--report", "report"];
        let outcome = finish(instrument_run(&words, &["-cp", &path, "Program"])?)?;
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let size = fs::metadata(&profile)?.len();
        ensure!(
            size < 64 << 20 && outcome.stderr.contains(&format!("profile: {out}, ")),
            "{}",
            outcome.stderr
        );
    }
    let names: Vec<_> =
        fs::read_dir(folder.path())?.map(|file| Ok(file?.file_name())).collect::<Result<_>>()?;
    assert_eq!(names, ["shop.iprof"]);
    fs::write(&profile, "something else")?;
    let outcome = finish(instrument_run(&["--out", &out], &["-cp", &path, "Program"])?)?;
    ensure!(outcome.code == Some(2) && outcome.stdout.is_empty(), "the program ran: {}", outcome.stderr);
    ensure!(outcome.stderr.contains("is no profile"), "{}", outcome.stderr);
    assert_eq!(fs::read(&profile)?, b"something else");
    Ok(())
}

#[test]
fn a_script_may_change_the_folder() -> Result<()> {
    let (_folder, path) = program()?;
    let java = Jdk::default_kit()?.home.join("bin/java").display().to_string();
    let script = format!("mkdir elsewhere && cd elsewhere && {java} -cp {path} Program");
    for (options, place) in [(&[][..], "profile: Program-"), (&["-o", "new/"], "profile: new/Program-")] {
        let mut command = subject::call()?;
        command.arg("run").args(options).args(["--agent".into(), agent::library()?]);
        let outcome = finish({
            command.args(["--ids", "ids", "--", "sh", "-c", &script]);
            command
        })?;
        ensure!(outcome.code == Some(0) && outcome.stderr.contains(place), "{}", outcome.stderr);
        ensure!(outcome.folder.path().join("ids").exists());
    }
    Ok(())
}

#[test]
fn roots_are_found_as_classes_load() -> Result<()> {
    let (_folder, path) = program()?;
    for jre in jre::turn(jre::all()?) {
        for record in ["tree", "counts", "trace"] {
            let options = format!("record={record},root=Program#make:Program$Late#*,root=No.Such#thing");
            let outcome = run(&jre, &[&option(&options)?, "-cp", &path, "Program", "overflow"])?;
            assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
            let said = "instrument: no method that was loaded matches the root No.Such#thing\n";
            assert_eq!(outcome.stderr, said, "Java {}, {record}", jre.version);
            let methods = outcome.methods()?;
            assert_eq!(methods["Program.make"].entries, 1000, "Java {}, {record}", jre.version);
            assert_eq!(methods["Program$Base.<init>"].entries, 1000);
            assert_eq!(methods["Program$Late.get"].entries, 1);
            for outside in ["Program.main", "Program.fibonacci", "Program.locked", "Program.overflow"] {
                ensure!(!methods.contains_key(outside), "Java {}, {record}: {outside}", jre.version);
            }
        }
        let property = ["-Dinstrument.roots=Program#fibonacci", &option("")?, "-cp", &path, "Program"];
        let methods = run(&jre, &property)?.methods()?;
        assert_eq!((methods.len(), methods["Program.fibonacci"].entries), (1, 1973));
    }
    Ok(())
}

#[test]
fn regions_are_timed_as_classes_load() -> Result<()> {
    let (_folder, path) = program()?;
    let options = [
        "--region",
        "Program#fibonacci",
        "--region",
        "Program#none",
        "--region",
        "No:7",
        "--report",
        "report -v",
    ];
    let outcome = finish(instrument_run(&options, &["-cp", &path, "Program"])?)?;
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let row = outcome.stdout.lines().find(|line| line.ends_with("  Program#fibonacci"));
    ensure!(row.is_some_and(|row| row.trim().starts_with("1973 ")), "{}", outcome.stdout);
    for said in [
        "instrument: region Program#none is not timed: there is no such code\n",
        "instrument: region No:7 was not timed: its class was not loaded\n",
    ] {
        ensure!(outcome.stderr.contains(said), "{}", outcome.stderr);
    }
    ensure!(outcome.stdout.contains("calls       0 in 0 contexts"), "{}", outcome.stdout);
    Ok(())
}

/// What follows the first line of standard output, which is the program's.
fn json_after_a_line(stdout: &str) -> Result<(&str, serde_json::Value)> {
    let (line, json) = stdout.split_once('\n').unwrap_or_default();
    Ok((line, serde_json::from_str(json).with_context(|| stdout.to_owned())?))
}

/// Beside busy threads a loop of tiny calls is charged many times what it takes: the error says so, or nothing is corrected. Where few calls are
/// timed, an interruption may be in none of them.
#[test]
fn errors_hold_a_machine_that_is_busy() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = agent::compile(&["Crowded.java"], 8, folder.path())?.display().to_string();
    let options = ["--exclude", "Crowded$*", "--timing", "all", "--report", "xprof --json"];
    let outcome = finish(instrument_run(&options, &["-cp", &path, "Crowded"])?)?;
    let (line, report) = json_after_a_line(&outcome.stdout)?;
    let (plain, check) = line.split_once(' ').context("two numbers")?;
    assert_eq!(check, "0");
    let plain: f64 = plain.parse()?;
    let state = report["correction"]["state"].as_str().unwrap_or_default();
    let names: Vec<_> = report["resources"].as_array().into_iter().flatten().map(|r| &r["name"]).collect();
    if state == "refused" {
        ensure!(!names.contains(&&"wall".into()), "{report}");
        return Ok(());
    }
    assert_eq!(state, "applied");
    let wall = names.iter().position(|name| **name == "wall").context("no wall")?;
    let mut rows = report["rows"].as_array().into_iter().flatten();
    let row = rows.find(|row| row["function"].as_str().is_some_and(|name| name.starts_with("Crowded.loop(")));
    let row = row.context("no loop")?;
    let figure = |key: &str| row[key][wall].as_f64().unwrap_or(f64::NAN);
    let (charged, error) = (figure("cum"), figure("cum_error"));
    // Both took turns on the same machine; it may have been twice as busy for the one as for the other.
    ensure!(charged - error <= 2.0 * plain, "{charged} +- {error} ns, but {plain} ns without probes");
    Ok(())
}

#[test]
fn cpu_time_and_rewriting_are_recorded() -> Result<()> {
    let (_folder, path) = program()?;
    let options = ["--cpu", "--report", "report --json"];
    let outcome = finish(instrument_run(&options, &["-cp", &path, "Program"])?)?;
    let (_, report) = json_after_a_line(&outcome.stdout)?;
    let resources = report["xprof"]["resources"].as_array().cloned().unwrap_or_default();
    let raw = resources.iter().position(|r| r["name"] == "cpu-raw").context("no cpu-raw")?;
    ensure!(report["xprof"]["total"][raw].as_f64() > Some(0.0), "{report}");
    let recording = &report["recording"];
    ensure!(recording["rewriting_ns"].as_u64() > Some(0), "{recording}");
    ensure!(recording["rewriting_classes"].as_u64() > Some(0), "{recording}");
    Ok(())
}

/// As of `rewrite`: a pattern that fits nothing is a warning, and exit code 3 with --strict.
#[test]
fn patterns_that_fit_nothing_are_named() -> Result<()> {
    let (_folder, path) = program()?;
    let run = |options: &[&str]| finish(instrument_run(options, &["-cp", &path, "Program"])?);
    let wrong = ["--include", "Program", "--include", "Program#fibonaci", "--exclude", "com.acme.**"];
    for strict in [false, true] {
        let outcome = run(&[&wrong[..], if strict { &["--strict"] } else { &[] }].concat())?;
        assert_eq!(outcome.code, Some(if strict { 3 } else { 0 }), "{}", outcome.stderr);
        let warning = "fits --include 'Program#fibonaci'; did you mean Program.fibonacci";
        ensure!(outcome.stderr.contains(warning), "{}", outcome.stderr);
        ensure!(outcome.stderr.contains("fits --exclude 'com.acme.**'"), "{}", outcome.stderr);
        ensure!(!outcome.stderr.contains("'Program';"), "{}", outcome.stderr);
    }
    let right = run(&[
        "--include",
        "Program*",
        "--include",
        "java.util.ArrayList",
        "--exclude",
        "**#main",
        "--strict",
    ])?;
    ensure!(right.code == Some(0) && !right.stderr.contains("fits"), "{}", right.stderr);
    Ok(())
}

#[test]
fn child_processes_are_recorded_unless_excluded() -> Result<()> {
    let folder = tempfile::tempdir()?;
    agent::compile(&["Parent.java"], 8, folder.path())?;
    let path = folder.path().display().to_string();
    let java = Jdk::default_kit()?.home.join("bin/java").display().to_string();
    let script = format!("{java} -cp {path} Parent");
    for (words, picked_up) in
        [(&[java.as_str(), "-cp", &path, "Parent"][..], 1), (&["sh", "-c", script.as_str()], 2)]
    {
        for (options, profiles) in [(&[][..], 2), (&["--no-children"], 1)] {
            let mut command = subject::call()?;
            command
                .arg("run")
                .args(options)
                .args(["--agent".into(), agent::library()?])
                .arg("--")
                .args(words);
            let outcome = finish(command)?;
            let case = format!("{options:?} {words:?}: {}", outcome.stderr);
            assert_eq!((outcome.code, outcome.profiles()), (Some(0), profiles), "{case}");
            assert_eq!(outcome.stderr.matches("profile: Parent-").count(), profiles, "{case}");
            // Only the virtual machine says so, of those that did not get the agent from us directly.
            let lines = outcome.stderr.matches("Picked up JAVA_TOOL_OPTIONS").count();
            assert_eq!(lines, picked_up - (2 - profiles), "{case}");
            for profile in outcome.profile() {
                let report = subject::call()?.args(["report", "--json"]).arg(profile).run_quietly()?;
                let report: serde_json::Value = serde_json::from_slice(&report.stdout)?;
                assert_eq!(report["balance"]["holds"], true, "{case}");
            }
        }
    }
    Ok(())
}
