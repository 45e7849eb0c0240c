//! Recordings that begin and end, again and again, in one program under load: its classes have the code again that they had, and nothing
//! grows. 20 of them, or 1,000 with `INSTRUMENT_CORPUS_FULL=1`; the figures are printed (`--nocapture`).
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use instrument_tests::agent;
use instrument_tests::corpus::Corpus;
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::Run;
use instrument_tests::resident::{Program, text};
use instrument_tests::subject::entries_of;
use serde_json::Value;

const MIB: u64 = 1 << 20;

/// What a program takes.
#[derive(Debug, Clone, Copy)]
struct Taken {
    metaspace: u64,
    code_cache: u64,
    threads: u64,
    files: u64,
    /// Resident, but for mapped files: a profile's pages are not the program's.
    resident: u64,
}

impl Taken {
    fn of(program: &mut Program) -> Result<Taken> {
        let said = program.run("memory")?;
        let mut numbers = said.split(' ').skip(1).map(str::parse);
        let mut next = || numbers.next().context("a number").and_then(|number| Ok(number?));
        let (metaspace, code_cache, threads) = (next()?, next()?, next()?);
        let status = fs::read_to_string(format!("/proc/{}/status", program.pid()))?;
        let resident = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).context("RssAnon")?;
        let resident: u64 = resident.split_whitespace().next().context("kB")?.parse()?;
        Ok(Taken { metaspace, code_cache, threads, files: program.files()? as u64, resident: resident << 10 })
    }
}

/// The code of each method of some classes, as the virtual machine has it: length and CRC-32.
fn code(program: &Program, classes: &[&str]) -> Result<BTreeMap<String, (u64, u64)>> {
    let mut code = BTreeMap::new();
    for class in classes {
        let output = program.call(&["ctl", &program.pid(), "--json", "class", class])?.run_quietly()?;
        let answer: Value = serde_json::from_slice(&output.stdout)?;
        for method in answer["classes"][0]["methods"].as_array().context("methods")? {
            let name = format!("{class}.{}{}", method["name"], method["descriptor"]);
            if let (Some(bytes), Some(crc)) = (method["code_bytes"].as_u64(), method["code_crc32"].as_u64()) {
                code.insert(name, (bytes, crc));
            }
        }
    }
    ensure!(code.len() > 15, "{code:?}");
    Ok(code)
}

const CLASSES: [&str; 5] =
    ["Attached", "Attached$Item", "Attached$Special", "java.lang.Object", "java.lang.ClassLoader"];

/// Ways to record that follow each other.
const WAYS: [&[&str]; 5] = [
    &[],
    &["--record", "counts"],
    &["--root", "Attached.call(int)", "--subgraph"],
    &["--record", "trace", "--exclude", "Attached.recurse(int)"],
    &["--transform", "method-events,thread-links,allocation"],
];

fn cycle(program: &mut Program, round: usize) -> Result<()> {
    let profile = program.at("a.iprof");
    let _ = fs::remove_file(&profile);
    program.attached(&[&["-o", "a.iprof"], WAYS[round % WAYS.len()]].concat())?;
    program.run("call 10")?;
    program.stop()?;
    let methods = program.recorded("a.iprof")?;
    ensure!(entries_of(&methods, "Attached.leaf") >= 10, "{methods:?}");
    let said = program.run("site")?;
    ensure!(said == "site 0 0", "{said}");
    Ok(())
}

/// So many recordings of a program, armed or not; what it takes after some of them.
fn cycles(jre: &Jre, is_armed: bool, rounds: usize) -> Result<()> {
    let case = format!("Java {}{}", jre.version, if is_armed { ", armed" } else { "" });
    let option = agent::option("armed")?;
    // All of the heap is resident from the start on.
    let mut flags = vec!["-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC"];
    flags.extend(is_armed.then_some(option.as_str()));
    let mut program = Program::start(jre, &flags, &["Attached", "2"], None)?;
    // The virtual machine tells of methods of classes that are linked.
    program.run("call 1")?;
    program.run("fail 1")?;
    // Classes of the program that are not recorded have their own code while another recording goes on.
    let own_code = |program: &Program| {
        if !is_armed {
            program.attached(&["--include", "Nothing", "-o", "own.iprof"])?;
        }
        let code = code(program, &CLASSES[..if is_armed { CLASSES.len() } else { 3 }]);
        if !is_armed {
            program.stop()?;
            fs::remove_file(program.at("own.iprof"))?;
        }
        code
    };
    let before = own_code(&program)?;
    let (warm, mut first) = (rounds.div_ceil(2).min(50), None);
    for round in 0..rounds {
        cycle(&mut program, round).with_context(|| format!("{case}, round {round}: {}", program.stderr()))?;
        if (round + 1) % warm == 0 {
            let taken = Taken::of(&mut program)?;
            println!("{case}, after {:>4}: {taken:?}", round + 1);
            let first = *first.get_or_insert(taken);
            ensure!(
                taken.threads <= first.threads && taken.files <= first.files,
                "{case}: {first:?} {taken:?}"
            );
        }
    }
    let (first, last) = (first.context("the first")?, Taken::of(&mut program)?);
    let level = |what: &str, first: u64, last: u64, room: u64| {
        ensure!(last <= first + room, "{case}, {what}: {first} bytes after {warm} recordings, then {last}");
        Ok(())
    };
    // HotSpot frees what it had of old versions of classes, but in pieces of which it can use only some again: about 10 KiB a recording are not.
    level("metaspace", first.metaspace, last.metaspace, MIB + (rounds as u64) * (16 << 10))?;
    // What is compiled meanwhile of the program and the JDK is no trace.
    level("code cache", first.code_cache, last.code_cache, 2 * MIB)?;
    level("resident memory", first.resident, last.resident, 16 * MIB)?;
    ensure!(own_code(&program)? == before, "{case}: other code than before");
    program.end()
}

#[test]
fn recordings_leave_nothing_behind() -> Result<()> {
    let rounds = if Corpus::full() { 1000 } else { 20 };
    for jre in if Corpus::full() { jre::all()? } else { vec![jre::newest()?] } {
        cycles(&jre, false, rounds)?;
        if Corpus::full() {
            cycles(&jre, true, rounds)?;
        }
    }
    Ok(())
}

#[test]
fn the_code_of_a_class_that_is_recorded_is_another_one() -> Result<()> {
    let mut program = Program::start(&jre::newest()?, &[&agent::option("armed")?], &["Attached", "0"], None)?;
    program.run("call 1")?;
    program.run("fail 1")?;
    let before = code(&program, &CLASSES[..3])?;
    program.attached(&["-o", "a.iprof"])?;
    let during = code(&program, &CLASSES[..3])?;
    ensure!(before.keys().eq(during.keys()));
    let (name, longer) = during.iter().find(|(name, _)| name.contains("leaf")).context("leaf")?;
    ensure!(longer.0 > before[name].0, "{before:?} {during:?}");
    program.stop()?;
    ensure!(code(&program, &CLASSES[..3])? == before, "{before:?}");
    let listed = program.call(&["ctl"])?.run_quietly()?;
    ensure!(text(&listed.stdout).contains("armed"), "{listed:?}");
    Ok(())
}
