//! `early=on` on real virtual machines: the objects of start-up are there, classes are rewritten as they load, and all else is as without.

use instrument_tests::shared;
use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use instrument_tests::agent::{self, Outcome, finish, option, run};
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::Run;
use instrument_tests::subject;
use serde_json::Value;

/// What the agent says of it, once.
const SAID: &str = "instrument: early=on: class data sharing is off; the program starts more slowly\n";
const LOADER: &str = "-Djava.system.class.loader=Early";
const REDEFINED: &str = "-Xlog:redefine+class+load=info:file=redefined.log";

fn class_path() -> String {
    shared::folder("early", |folder| {
        agent::compile(&["Early.java", "Heap.java", "Program.java"], 8, folder)?;
        Ok(())
    })
    .display()
    .to_string()
}

fn with(jre: &Jre, options: &str, flags: &[&str], arguments: &[&str]) -> Result<Outcome> {
    let (agent, path) = (option(options)?, class_path());
    run(jre, &[&[agent.as_str()][..], flags, &["-cp", &path], arguments].concat())
}

/// The last line of standard output: some virtual machines have warnings before it.
fn said(outcome: &Outcome) -> &str {
    outcome.stdout.lines().last().unwrap_or_default()
}

/// Objects by class and method.
fn made(outcome: &Outcome) -> Result<BTreeMap<(String, String), u64>> {
    let entries = fs::read_dir(outcome.folder.path())?.collect::<Result<Vec<_>, _>>()?;
    let profile =
        entries.iter().map(|entry| entry.path()).find(|p| p.extension().is_some_and(|e| e == "iprof"));
    let profile = profile.with_context(|| format!("no profile: {}", outcome.stderr))?;
    let output = subject::call()?.args(["report", "--allocations", "--json"]).arg(profile).run_quietly()?;
    let report: Value = serde_json::from_slice(&output.stdout)?;
    let mut sum = BTreeMap::new();
    for row in report["allocations"].as_array().context("no allocations")? {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        *sum.entry((text("class"), text("method"))).or_default() +=
            row["count"].as_u64().context("no count")?;
    }
    Ok(sum)
}

fn count(made: &BTreeMap<(String, String), u64>, class: &str, method: &str) -> u64 {
    let wanted = |row: &(&(String, String), &u64)| row.0.0 == class && row.0.1.starts_with(method);
    made.iter().filter(wanted).map(|row| row.1).sum()
}

#[test]
fn objects_of_start_up_are_seen() -> Result<()> {
    for jre in jre::all()? {
        let plain = run(&jre, &[LOADER, "-cp", &class_path(), "Early"])?;
        ensure!(plain.code == Some(0) && said(&plain) == "100 50 Early", "{}", plain.stderr);
        for level in ["counts", "objects"] {
            let case = format!("Java {}, {level}", jre.version);
            let mut kept = Vec::new();
            for early in [false, true] {
                let state = if early { "on" } else { "off" };
                let options = format!("heap={level},early={state},calibrate=off");
                let outcome = with(&jre, &options, &["-Xcheck:jni", REDEFINED, LOADER], &["Early"])?;
                assert_eq!(
                    (outcome.code, said(&outcome)),
                    (Some(0), said(&plain)),
                    "{case}: {}",
                    outcome.stderr
                );
                let expected_stderr = if early { SAID } else { "" };
                // Some say that class data sharing is off for a loader like this one.
                let warning = |line: &&str| line.contains(" Server VM warning: ") && !line.contains("JNI");
                let stderr: String = outcome.stderr.split_inclusive('\n').filter(|l| !warning(l)).collect();
                assert_eq!(stderr, expected_stderr, "{case}, early={state}");
                let redefined = fs::read_to_string(outcome.folder.path().join("redefined.log"))?;
                assert_eq!(redefined.contains("name=java.lang.Object"), !early, "{case}: {redefined}");
                let methods = outcome.methods()?;
                // The class of the loader is there before the agent can be called, and is rewritten then.
                let entries = |name: &str| methods.get(name).map_or(0, |method| method.entries);
                let expected = [1, 10, 51];
                assert_eq!(["Early.main", "Early.after", "Early.within"].map(entries), expected, "{case}");
                let made = made(&outcome)?;
                assert_eq!(count(&made, "Early$Later", ""), 10, "{case}");
                kept.push((
                    count(&made, "Early$Kept", ""),
                    count(&made, "[I", "") >= 1234,
                    count(&made, "java.util.HashMap$Node", "") > 300,
                ));
            }
            assert_eq!(kept, [(0, false, false), (1234, true, true)], "{case}");
        }
    }
    Ok(())
}

#[test]
fn there_is_an_end_to_the_objects_of_start_up() -> Result<()> {
    for jre in jre::ends()? {
        let outcome = with(&jre, "heap=counts,early=on", &[LOADER, "-Dearly.kept=100000"], &["Early"])?;
        ensure!(outcome.code == Some(0), "{}", outcome.stderr);
        ensure!(outcome.stderr.contains("start-up made more than 65536 objects"), "{}", outcome.stderr);
        let kept = count(&made(&outcome)?, "Early$Kept", "");
        ensure!((20_000..65_536).contains(&kept), "Java {}: {kept}", jre.version);
    }
    Ok(())
}

#[test]
fn what_the_program_makes_is_counted_as_without() -> Result<()> {
    for (jre, (level, flag)) in
        jre::each(&jre::all()?, &[("counts", "-Xcheck:jni"), ("objects", "-XX:+UseSerialGC")])
    {
        let case = format!("Java {}, {level}", jre.version);
        let mut runs = Vec::new();
        for early in ["off", "on"] {
            let options = format!("heap={level},early={early},calibrate=off");
            let outcome = with(&jre, &options, &[flag], &["Heap"])?;
            ensure!(outcome.code == Some(0), "{case}: {}", outcome.stderr);
            ensure!(!outcome.stderr.contains("WARNING in native"), "{case}: {}", outcome.stderr);
            outcome.methods()?;
            let mut made = made(&outcome)?;
            made.retain(|(class, _), _| {
                class.starts_with("Heap$") && !class.contains("Lambda") && class != "Heap$Endless"
            });
            ensure!(made.len() > 15, "{case}: {made:?}");
            runs.push((outcome.stdout, made));
        }
        assert_eq!(runs[0], runs[1], "{case}");
    }
    Ok(())
}

#[test]
fn classes_of_the_jdk_are_rewritten_as_they_load() -> Result<()> {
    let include = "include=java.**:javax.**:sun.**:jdk.**:Early:Program";
    for jre in jre::all()? {
        for (record, flag) in [("tree", "-Xverify:all"), ("trace", "-Xint"), ("counts", "-Xcheck:jni")] {
            let case = format!("Java {}, {record}", jre.version);
            let plain = run(&jre, &["-cp", &class_path(), "Program"])?;
            let transform = "transform=method-events:thread-links:hand-over";
            let options = format!("early=on,record={record},{include},{transform}");
            let outcome = with(&jre, &options, &[flag, REDEFINED], &["Program"])?;
            assert_eq!(
                (outcome.code, &outcome.stdout),
                (Some(0), &plain.stdout),
                "{case}: {}",
                outcome.stderr
            );
            let stderr = outcome.stderr.lines().filter(|line| line.starts_with("instrument:")).count();
            assert_eq!(stderr, 1, "{case}: {}", outcome.stderr);
            ensure!(!outcome.stderr.contains("WARNING in native"), "{case}: {}", outcome.stderr);
            // No event is out of place, though threads of the virtual machine run before there is a recorder.
            let methods = outcome.methods()?;
            assert_eq!(methods["Program.fibonacci"].entries, 1973, "{case}");
            ensure!(methods["java.util.ArrayList.add"].entries > 0, "{case}");
            let redefined =
                fs::read_to_string(outcome.folder.path().join("redefined.log")).unwrap_or_default();
            ensure!(!redefined.contains("name=java.util.ArrayList,"), "{case}: {redefined}");
        }
        let outcome = with(&jre, include, &[REDEFINED], &["Program"])?;
        let redefined = fs::read_to_string(outcome.folder.path().join("redefined.log"))?;
        ensure!(redefined.contains("name=java.util.ArrayList,"), "the log says nothing: {redefined}");
    }
    Ok(())
}

#[test]
fn whoever_insists_on_class_data_sharing_gets_it() -> Result<()> {
    let mut tried = 0;
    for jre in jre::all()? {
        let plain = run(&jre, &["-Xshare:on", "-cp", &class_path(), "Program"])?;
        if plain.code != Some(0) {
            // It has no archive.
            continue;
        }
        tried += 1;
        let refused = "instrument: early=on: -Xshare:on insists on class data sharing, which it turns off; ";
        let outcome = with(&jre, "early=on", &["-Xshare:on"], &["Program"])?;
        assert_eq!((outcome.code, &outcome.stdout), (Some(0), &plain.stdout), "{}", outcome.stderr);
        ensure!(outcome.stderr.contains(refused) && !outcome.stderr.contains(SAID), "{}", outcome.stderr);
        assert_eq!(outcome.methods()?["Program.fibonacci"].entries, 1973);
        let mut java = jre.java();
        java.env("JAVA_TOOL_OPTIONS", "-Xshare:on").args([
            &option("early=on")?,
            "-cp",
            &class_path(),
            "Program",
        ]);
        let outcome = finish(java)?;
        ensure!(outcome.code == Some(0) && outcome.stderr.contains(refused), "{}", outcome.stderr);
        // The last one counts.
        let outcome = with(&jre, "early=on", &["-Xshare:on", "-Xshare:auto"], &["Program"])?;
        ensure!(outcome.code == Some(0) && outcome.stderr.contains(SAID), "{}", outcome.stderr);
    }
    ensure!(tried > 0, "no virtual machine has an archive");
    Ok(())
}

#[test]
fn run_takes_it() -> Result<()> {
    let jre = jre::all()?.pop().context("a virtual machine")?;
    let mut command = subject::call()?;
    command
        .args(["run", "--early", "--agent"])
        .arg(agent::library()?)
        .arg("--")
        .arg(jre.home.join("bin/java"));
    command.args([LOADER, "-cp", &class_path(), "Early"]);
    let outcome = finish(command)?;
    ensure!(outcome.code == Some(0) && outcome.stderr.contains(SAID), "{}", outcome.stderr);
    assert_eq!(outcome.methods()?["Early.after"].entries, 10);
    Ok(())
}
