//! Code regions that are timed and timed no more while a recording goes on: `instrument ctl PID region`.
#![cfg(target_os = "linux")]

use anyhow::{Context, Result, ensure};
use instrument_tests::jre;
use instrument_tests::machine::Run;
use instrument_tests::resident::{Program, text};
use instrument_tests::subject::entries_of;
use instrument_trace::Profile;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

const LEAF: &str = "Attached.leaf(int)";

/// Passages that ended by themselves, and those that an exception left, of each region.
fn passages(program: &Program, file: &str) -> Result<BTreeMap<String, [u64; 2]>> {
    let bytes = fs::read(program.at(file))?;
    let profile = Profile::parse(&bytes)?;
    let mut all = BTreeMap::new();
    for region in &profile.regions {
        let copy = profile.copies.get(&region.copy).context("no copy")?;
        let name = copy.region_name(region.number).context("a region has no name")?;
        let sum: &mut [u64; 2] = all.entry(name.to_owned()).or_default();
        sum[0] += region.passages;
        sum[1] += region.left_otherwise;
    }
    Ok(all)
}

/// Length and CRC-32 of the code of a method of `Attached` that the virtual machine has now.
fn code(program: &Program, method: &str) -> Result<Value> {
    let output = program.call(&["ctl", &program.pid(), "--json", "class", "Attached"])?.run_quietly()?;
    let answer: Value = serde_json::from_slice(&output.stdout)?;
    let methods = answer["classes"][0]["methods"].as_array().context("no methods")?;
    let method = methods.iter().find(|one| one["name"] == method).context("no such method")?;
    ensure!(method["code_bytes"].is_u64() && method["code_crc32"].is_u64(), "{answer}");
    Ok(serde_json::json!([method["code_bytes"], method["code_crc32"]]))
}

/// What `ctl PID region` prints.
fn ask(program: &Program, words: &[&str]) -> Result<String> {
    let output = program.call(&[&["ctl", &program.pid(), "region"], words].concat())?.output()?;
    ensure!(output.status.success(), "{words:?}: {}", text(&output.stderr));
    Ok(text(&output.stdout))
}

#[test]
fn regions_come_and_go_and_passages_are_exact() -> Result<()> {
    for (jre, options) in jre::each(&jre::all()?, &[&[][..], &["--record", "trace"], &["--record", "counts"]])
    {
        let case = format!("Java {} {options:?}", jre.version);
        let mut program = Program::start(&jre, &[], &["Attached"], None)?;
        program.attached(&[&["-o", "a.iprof"], options].concat())?;
        program.run("call 5")?;
        let without = code(&program, "leaf")?;
        let said = ask(&program, &[LEAF, "Attached$Item#<init>"])?;
        ensure!(
                said.starts_with("2 regions are timed from now on: Attached.leaf(int), Attached$Item#<init>; 2 classes were rewritten"),
                "{case}: {said}"
            );
        ensure!(code(&program, "leaf")? != without, "{case}: {without}");
        program.run("call 10")?;
        program.run("fail 1")?;
        let said = ask(&program, &["--remove", LEAF])?;
        ensure!(
            said.starts_with("1 region is timed from now on: Attached$Item#<init>; 1 class was"),
            "{said}"
        );
        assert_eq!(code(&program, "leaf")?, without, "{case}");
        program.run("call 3")?;
        program.run("fail 2")?;
        // Once more: it goes on where it was.
        ask(&program, &[LEAF])?;
        program.run("call 2")?;
        program.stop()?;
        program.run("call 7")?;
        let expected = [
            (LEAF.to_owned(), [10 + 1 + 2, 0]),
            ("Attached$Item#<init>".to_owned(), [10 + 1 + 3 + 1 + 2, 2]),
        ];
        assert_eq!(passages(&program, "a.iprof")?, BTreeMap::from(expected), "{case}: {}", program.stderr());
        // Whatever is recorded, the report has them.
        let json = program.call(&["report", "--json", "a.iprof"])?.run_quietly()?.stdout;
        let json: Value = serde_json::from_slice(&json)?;
        let leaf = json["regions"].as_array().context("no regions")?.iter().find(|one| one["name"] == LEAF);
        ensure!(leaf.is_some_and(|leaf| leaf["passages"] == 13 && leaf["ns"].is_u64()), "{case}: {json}");
        let report = text(&program.call(&["report", "a.iprof"])?.run_quietly()?.stdout);
        ensure!(report.contains("  average  region\n") && report.contains(LEAF), "{case}: {report}");
        let methods = program.recorded("a.iprof")?;
        assert_eq!(entries_of(&methods, "Attached.leaf"), 5 + 10 + 1 + 3 + 1 + 2, "{case}: {methods:?}");
        program.end()?;
    }
    Ok(())
}

#[test]
fn what_cannot_be_timed_is_said_with_its_reason() -> Result<()> {
    let jre = jre::newest()?;
    let mut program = Program::start(&jre, &[], &["Attached"], None)?;
    program.attached(&["-o", "a.iprof"])?;
    let pid = program.pid();
    for (words, reason) in [
        (&["Attached#gone"][..], "Attached#gone: there is no such code"),
        (&["Attached$Late#site"], "is loaded; it is timed when one loads"),
        (&["Attached$Late#site"], "Attached$Late#site is timed already"),
        (&["Attached"], "there is neither a method nor a line"),
        (
            &["--remove", "Attached#leaf"],
            "Attached#leaf is not timed; these are: Attached#gone, Attached$Late#site",
        ),
    ] {
        let output = program.call(&[&["ctl", &pid, "region"][..], words].concat())?.output()?;
        let said = text(&output.stderr);
        ensure!(
            output.status.code() == Some(1) && said.contains(reason),
            "{words:?}: {:?} {said}",
            output.status
        );
    }
    // Its class loads now.
    program.run("site")?;
    program.stop()?;
    let expected = [("Attached$Late#site".to_owned(), [1, 0])];
    assert_eq!(passages(&program, "a.iprof")?, BTreeMap::from(expected), "{}", program.stderr());
    program.attached(&["-o", "b.iprof", "--root", "Attached.call(int)", "--subgraph"])?;
    let output = program.call(&["ctl", &pid, "region", LEAF])?.output()?;
    let said = text(&output.stderr);
    ensure!(!output.status.success() && said.contains("regions and --subgraph do not go together"), "{said}");
    program.stop()?;
    program.end()
}
