//! `instrument ctl PID root` and `remove`: what a recording with `--subgraph` rewrites changes while it goes on, and counts stay exact.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use instrument_tests::agent;
use instrument_tests::corpus::Corpus;
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::Run;
use instrument_tests::resident::{Program, text};
use instrument_tests::subject::{MethodCounts, entries_of};
use instrument_trace::{Change, Profile};
use serde_json::{Value, json};

const LEFT: &str = "TwoRoots$Left.run(int, boolean)";
const RIGHT: &str = "TwoRoots$Right.run(int)";
const LEFT_CLASSES: [&str; 3] = ["TwoRoots$Left", "TwoRoots$OnlyLeft", "TwoRoots$Deepest"];
const RIGHT_CLASSES: [&str; 2] = ["TwoRoots$Right", "TwoRoots$OnlyRight"];

/// What `instrument ctl PID` answers as JSON.
fn ask(program: &Program, request: &[&str]) -> Result<Value> {
    let output = program.call(&[&["ctl", &program.pid(), "--json"], request].concat())?.run_quietly()?;
    serde_json::from_slice(&output.stdout).with_context(|| text(&output.stderr))
}

/// Length and CRC-32 of the code of each method, as the virtual machine has it.
fn code(program: &Program, classes: &[&str]) -> Result<BTreeMap<String, (u64, u64)>> {
    let mut code = BTreeMap::new();
    for class in classes {
        let answer = ask(program, &["class", class])?;
        for method in answer["classes"][0]["methods"].as_array().context("methods")? {
            let number = |key: &str| method[key].as_u64().context("no code");
            code.insert(
                format!("{class}.{}", method["name"]),
                (number("code_bytes")?, number("code_crc32")?),
            );
        }
    }
    Ok(code)
}

/// Methods with another code than that.
fn differ(program: &Program, classes: &[&str], own: &BTreeMap<String, (u64, u64)>) -> Result<Vec<String>> {
    let now = code(program, classes)?;
    ensure!(now.keys().eq(own.keys()), "{now:?}");
    Ok(now.into_iter().filter(|(name, code)| own[name] != *code).map(|(name, _)| name).collect())
}

/// What was counted of the program's methods; the JDK's are there where they wait.
fn counts(methods: &[MethodCounts]) -> BTreeMap<&str, u64> {
    let counted = methods.iter().filter(|method| method.entries > 0);
    let own = counted.filter(|method| method.name.starts_with("TwoRoots$"));
    own.map(|method| (method.name.trim_start_matches("TwoRoots$"), method.entries)).collect()
}

fn is_exact(jre: &Jre, record: &str) -> Result<()> {
    let case = format!("Java {}, {record}", jre.version);
    let mut program = Program::start(jre, &["-Xcheck:jni"], &["TwoRoots"], None)?;
    // What is not beneath the root has its own code.
    let attach = |program: &Program, root| {
        program.attached(&["-o", "a.iprof", "--record", record, "--root", root, "--subgraph"])
    };
    attach(&program, RIGHT)?;
    let own_left = code(&program, &LEFT_CLASSES)?;
    program.stop()?;
    fs::remove_file(program.at("a.iprof"))?;
    attach(&program, LEFT)?;
    let own_right = code(&program, &RIGHT_CLASSES)?;
    program.run("left 5")?;
    program.run("right 5")?;

    let answer = ask(&program, &["root", RIGHT])?;
    assert_eq!(answer["roots"], json!([LEFT, RIGHT]), "{case}");
    // `run`, `step`, `deep`, `last`, `fail`, `hold`, `both`, and the initialiser of the class that `hold` reads a field of; `run` and `step`
    // came in.
    assert_eq!(answer["subgraph"]["methods"], 10, "{case}: {answer}");
    assert_eq!(answer["subgraph"]["rewritten_classes"], 7, "{case}: {answer}");
    let changed = differ(&program, &RIGHT_CLASSES, &own_right)?;
    assert_eq!(changed.len(), 2, "{case}: {changed:?}");
    for _ in 0..3 {
        program.run("right 6")?;
        program.run("left 4")?;
    }
    program.run("hold 2")?;

    let answer = ask(&program, &["remove", LEFT])?;
    assert_eq!((&answer["roots"], &answer["restored"]), (&json!([RIGHT]), &json!(4)), "{case}: {answer}");
    assert_eq!(answer["subgraph"]["methods"], 3, "{case}: {answer}");
    assert_eq!(differ(&program, &LEFT_CLASSES, &own_left)?, [""; 0], "{case}");
    // The thread that is inside goes on in its old code; what it calls anew has its own.
    program.run("free 2")?;
    program.run("left 9")?;
    program.run("right 7")?;
    let status = ask(&program, &["status"])?;
    assert_eq!(status["roots"], RIGHT, "{case}");
    program.stop()?;

    let methods = program.recorded("a.iprof")?;
    let steps = 5 + 3 * 4 + 2;
    let expected = BTreeMap::from([
        ("Left.run", 5),
        ("OnlyLeft.step", steps),
        ("OnlyLeft.deep", steps),
        ("Deepest.last", steps),
        ("OnlyLeft.fail", 5),
        ("OnlyLeft.hold", 1),
        ("Right.run", 4),
        ("OnlyRight.step", 3 * 6 + 7),
        // Beneath the left one when it was held, too.
        ("Shared.both", 5 + 4),
    ]);
    assert_eq!(counts(&methods), expected, "{case}: {}", program.stderr());
    for method in &methods {
        let thrown = if method.name.ends_with("fail") { method.entries } else { 0 };
        assert_eq!((method.exits, method.unwinds), (method.entries - thrown, thrown), "{case}: {method:?}");
    }
    ensure!(!program.stderr().contains("WARNING in native"), "{case}: {}", program.stderr());

    let profile = Profile::parse(&fs::read(program.at("a.iprof"))?)?;
    let changes: Vec<_> = profile.selection_changes.iter().map(|c| (c.change, c.ids.len())).collect();
    assert_eq!(changes, [(Change::RootsAdded, 1), (Change::RootsRemoved, 1)], "{case}");
    let said = text(&program.call(&["report", "a.iprof"])?.output()?.stderr);
    for part in ["roots were added or removed", "Right.run(int) (added ", "boolean) (removed "] {
        ensure!(said.contains(part), "{case}: {said}");
    }
    program.end()
}

#[test]
fn roots_come_and_go_and_counts_are_exact() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        is_exact(&jre, "tree")?;
    }
    is_exact(&jre::newest()?, "counts")
}

/// The recorder tells of each method once; what it told beneath a root that was removed is not forgotten.
#[test]
fn what_a_root_called_is_known_when_it_comes_back() -> Result<()> {
    let armed = agent::option("armed")?;
    let mut program = Program::start(&jre::newest()?, &[&armed], &["TwoRoots"], None)?;
    program.attached(&["-o", "a.iprof", "--root", LEFT, "--subgraph"])?;
    program.run("left 3")?;
    let removed = program.call(&["ctl", &program.pid(), "remove", LEFT])?.run_quietly()?;
    let said = text(&removed.stdout);
    ensure!(said.contains("no root is left") && said.contains("5 classes have their own code"), "{said}");
    program.run("left 20")?;
    let added = program.call(&["ctl", &program.pid(), "root", LEFT, RIGHT])?.run_quietly()?;
    let said = text(&added.stdout);
    ensure!(said.starts_with("2 roots from now on: TwoRoots$Left.run"), "{said}");
    ensure!(text(&added.stderr).contains("methods rewritten: 10, of 7 classes"), "{added:?}");
    program.run("left 4")?;
    // Long enough for what was only ahead to get its own code again.
    sleep(Duration::from_secs(4));
    program.run("left 5")?;
    program.run("right 5")?;
    program.stop()?;
    let methods = program.recorded("a.iprof")?;
    assert_eq!(entries_of(&methods, "TwoRoots$Deepest.last"), 3 + 4 + 5, "{methods:?}");
    assert_eq!(entries_of(&methods, "TwoRoots$OnlyRight.step"), 5, "{methods:?}");
    program.end()
}

#[test]
fn what_cannot_change_is_refused_with_its_cure() -> Result<()> {
    let program = Program::start(&jre::newest()?, &[], &["TwoRoots"], None)?;
    let pid = program.pid();
    let refused = |words: &[&str], reason: &str| {
        let output = program.call(&[&["ctl", pid.as_str()], words].concat())?.output()?;
        let said = text(&output.stderr);
        ensure!(output.status.code() == Some(1) && said.contains(reason), "{words:?}: {said}");
        Ok(())
    };
    program.attached(&["-o", "whole.iprof", "--root", LEFT])?;
    refused(&["root", RIGHT], "this recording has no --subgraph")?;
    refused(&["remove", LEFT], &format!("`instrument attach {pid} --root METHOD --subgraph`"))?;
    program.stop()?;
    program.attached(&["-o", "a.iprof", "--root", LEFT, "--subgraph"])?;
    refused(&["root", LEFT], "is a root already; nothing was changed")?;
    refused(&["root", "#run"], "there is no class name")?;
    refused(&["remove", LEFT, RIGHT], &format!("{RIGHT} is no root; give a root as it was given: {LEFT}"))?;
    assert_eq!(ask(&program, &["status"])?["roots"], LEFT);
    let misspelt = program.call(&["ctl", &pid, "root", "TwoRoots$Rigth.run"])?.output()?;
    let said = text(&misspelt.stderr);
    ensure!(misspelt.status.success() && said.contains("TwoRoots$Rigth.run"), "{misspelt:?}");
    Ok(())
}

/// Resident memory of a program without mapped files, in bytes.
fn resident(program: &mut Program) -> Result<u64> {
    program.run("gc 0")?;
    let status = fs::read_to_string(format!("/proc/{}/status", program.pid()))?;
    let resident = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).context("RssAnon")?;
    Ok(resident.split_whitespace().next().context("kB")?.parse::<u64>()? << 10)
}

#[test]
fn roots_that_come_and_go_take_no_more_memory() -> Result<()> {
    let flags = ["-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC"];
    let mut program = Program::start(&jre::newest()?, &flags, &["TwoRoots", "2"], None)?;
    program.attached(&["-o", "a.iprof", "--root", LEFT, "--subgraph"])?;
    let cycles = if Corpus::full() { 100 } else { 40 };
    let mut after = Vec::new();
    for cycle in 1..=cycles {
        ask(&program, &["root", RIGHT])?;
        let answer = ask(&program, &["remove", RIGHT])?;
        assert_eq!(answer["restored"], 2, "cycle {cycle}: {answer}");
        if cycle % (cycles / 4) == 0 {
            after.push(resident(&mut program)?);
        }
    }
    println!("resident after each quarter of {cycles} cycles: {after:?}");
    ensure!(after[3] <= after[0] + (16 << 20), "{after:?}");
    program.stop()?;
    let methods = program.recorded("a.iprof")?;
    ensure!(entries_of(&methods, "TwoRoots$Right.run") > 0, "{methods:?}");
    program.end()
}
