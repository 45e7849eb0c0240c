//! `armed`: the agent is in the program from the start on, does nothing, and records whenever that is requested.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::samples::samples;
use anyhow::{Context, Result, ensure};
use instrument_tests::agent;
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::Run;
use instrument_tests::resident::{self, Program, text};
use instrument_tests::subject::{self, entries_of};
use instrument_trace::Profile;
use serde_json::Value;

/// Longer than anything takes on a busy machine.
const LONG: Duration = Duration::from_secs(120);

fn start(jre: &Jre, options: &str, flags: &[&str], threads: u32) -> Result<Program> {
    let option = agent::option(options)?;
    Program::start(jre, &[&[option.as_str()], flags].concat(), &["Attached", &threads.to_string()], None)
}

/// Where two calls are in their methods: 0 without probes; the class of the second one loads when it is first asked for.
fn sites(program: &mut Program) -> Result<Vec<u32>> {
    let said = program.run("site")?;
    said.split(' ').skip(1).map(|word| Ok(word.parse()?)).collect()
}

fn ctl(program: &Program, request: &[&str]) -> Result<String> {
    let call = program.call(&[&["ctl", program.pid().as_str()], request].concat())?.run_quietly();
    Ok(text(&call.with_context(|| program.stderr())?.stdout))
}

fn status(program: &Program) -> Result<Value> {
    Ok(serde_json::from_str(&ctl(program, &["--json", "status"])?)?)
}

fn refused(program: &Program, request: &[&str]) -> Result<String> {
    let output = program.call(&[&["ctl", program.pid().as_str()], request].concat())?.output()?;
    ensure!(output.status.code() == Some(1), "{request:?}: {output:?}");
    Ok(text(&output.stderr))
}

/// Its profiles, by name.
fn profiles(program: &Program) -> Result<Vec<String>> {
    let names = fs::read_dir(program.folder.path())?.map(|entry| Ok(entry?.file_name().into_string()));
    let names: Vec<_> = names.collect::<Result<_>>()?;
    let mut names: Vec<String> = names.into_iter().filter_map(Result::ok).collect();
    names.retain(|name| name.ends_with(".iprof"));
    names.sort();
    Ok(names)
}

/// How many agents are mapped into it.
fn libraries(program: &Program) -> Result<usize> {
    let maps = fs::read_to_string(format!("/proc/{}/maps", program.pid()))?;
    let mut found: Vec<&str> = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..])).collect();
    found.retain(|path| path.contains("libinstrument_agent"));
    found.sort_unstable();
    found.dedup();
    Ok(found.len())
}

#[test]
fn an_armed_program_does_nothing_until_it_is_asked_and_nothing_again_after() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        let case = format!("Java {}", jre.version);
        let mut program = start(&jre, "armed", &[], 3)?;
        program.run("call 1000")?;
        let idle = |program: &mut Program, what: &str| -> Result<()> {
            assert_eq!(sites(program)?, [0, 0], "{case}, {what}");
            let status = status(program)?;
            assert_eq!((&status["armed"], &status["recording"]), (&true.into(), &"off".into()), "{case}");
            // It has printed nothing, that the library comes late (JEP 451) or that classes are not shared included.
            assert_eq!(program.stderr(), "", "{case}, {what}");
            Ok(())
        };
        idle(&mut program, "at first")?;
        assert_eq!(profiles(&program)?, [""; 0], "{case}");
        // The JVM does not show the thread of an agent that answers.
        ensure!(program.run("own")? == "own 0", "{case}");
        ensure!(ctl(&program, &["status"])?.contains("the program is armed"), "{case}");
        let listed = program.call(&["ctl"])?.run_quietly()?;
        ensure!(text(&listed.stdout).contains("armed"), "{case}: {listed:?}");

        for (round, record) in ["tree", "counts", "trace", "tree"].iter().enumerate() {
            let file = format!("{round}.iprof");
            program.attached(&["-o", &file, "--record", record])?;
            program.run(&format!("call {}", 1000 + round))?;
            ensure!(sites(&mut program)?.iter().all(|&at| at > 0), "{case}, round {round}");
            assert_eq!(status(&program)?["recording"], "on", "{case}");
            ensure!(program.refused(&[])?.contains("the agent is loaded already, and records"), "{case}");
            program.stop()?;
            idle(&mut program, &format!("round {round}"))?;
            let before = fs::read(program.at(&file))?;
            program.run("call 1000")?;
            ensure!(fs::read(program.at(&file))? == before, "{case}: it is still written");
            let methods = program.recorded(&file)?;
            assert_eq!(entries_of(&methods, "Attached.call"), 1, "{case}: {methods:?}");
            ensure!(entries_of(&methods, "Attached.leaf") >= 1000, "{case}: {methods:?}");
        }
        assert_eq!(libraries(&program)?, 1, "{case}");
        program.end()?;
        assert_eq!(program.stderr(), "", "{case}");
        assert_eq!(profiles(&program)?.len(), 4, "{case}");
    }
    Ok(())
}

/// The sampler heard of the pause from the recording that has ended.
#[test]
fn a_pause_ends_with_its_recording() -> Result<()> {
    let mut program = start(&jre::newest()?, "armed", &[], 3)?;
    for file in ["paused.iprof", "next.iprof"] {
        program.attached(&["-o", file])?;
        program.run("call 3000000")?;
        ctl(&program, &["pause"])?;
        program.stop()?;
    }
    let bytes = fs::read(program.at("next.iprof"))?;
    let met: u64 = samples(&Profile::parse(&bytes)?)?.values().sum();
    ensure!(met > 20, "{met} samples");
    Ok(())
}

/// The options of the start are those of `ctl PID start`.
#[test]
fn recordings_begin_and_end_on_request_with_the_options_of_the_start() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        let case = format!("Java {}", jre.version);
        let mut program = start(&jre, "armed,name=own,record=counts,exclude=Attached#recurse", &[], 2)?;
        let pid = program.pid();
        let first = format!("own-{pid}.iprof");
        let mut files = usize::MAX;
        for round in 1..=5 {
            for request in ["stop", "pause", "snapshot", "reset"] {
                let words: &[&str] = if request == "snapshot" { &[request, "x.iprof"] } else { &[request] };
                let said = refused(&program, words)?;
                ensure!(said.contains("nothing is recorded: the program is armed"), "{case}: {said}");
            }
            let said = ctl(&program, &["start"])?;
            let file = if round == 1 { first.clone() } else { format!("own-{pid}-{round}.iprof") };
            ensure!(said.ends_with(&format!("/{file}\n")), "{case}: {said}");
            let said = refused(&program, &["start"])?;
            ensure!(said.contains("records"), "{case}: {said}");
            program.run(&format!("call {round}"))?;
            program.stop()?;
            assert_eq!(sites(&mut program)?, [0, 0], "{case}");
            let methods = program.recorded(&file)?;
            assert_eq!(entries_of(&methods, "Attached.call"), 1, "{case}: {methods:?}");
            assert_eq!(entries_of(&methods, "Attached.recurse"), 0, "{case}: {methods:?}");
            // Beside its options, one of `attach` leaves nothing of the first.
            program.has_left(files).context(case.clone())?;
            if round == 2 {
                files = program.files()?;
            }
        }
        // The program ends while it is recorded.
        ctl(&program, &["start"])?;
        program.run("call 7")?;
        program.end()?;
        let methods = program.recorded(&format!("own-{pid}-6.iprof"))?;
        ensure!(entries_of(&methods, "Attached.leaf") >= 7, "{case}: {methods:?}");
        assert_eq!(program.stderr(), "", "{case}");
    }
    Ok(())
}

/// Where no agent may come later, and where the JVM takes no request to load one.
#[test]
fn an_armed_program_is_recorded_where_nothing_can_be_attached() -> Result<()> {
    let newest = jre::newest()?;
    for flag in ["-XX:+DisableAttachMechanism", "-XX:-EnableDynamicAgentLoading", "-Xrs"] {
        let mut program = start(&newest, "armed=on", &[flag], 1)?;
        program.attached(&["-o", "a.iprof"])?;
        program.run("call 10")?;
        program.end()?;
        ensure!(entries_of(&program.recorded("a.iprof")?, "Attached.leaf") >= 10, "{flag}");
        assert_eq!(program.stderr(), "", "{flag}");
    }
    // At a path of its own, and nowhere: then the attach protocol is what is left.
    let mut program = start(&newest, "armed,ctl=own.sock", &[], 1)?;
    let socket = program.at("own.sock");
    let path = socket.to_str().context("UTF-8")?;
    let output = program.attach(&["--ctl", path, "--for", "200ms", "-o", "b.iprof"])?;
    ensure!(output.status.success(), "{output:?}");
    ensure!(entries_of(&program.recorded("b.iprof")?, "Attached.recurse") > 0);
    let listed = program.call(&["ctl", path, "status"])?.run_quietly()?;
    ensure!(text(&listed.stdout).contains("the program is armed"), "{listed:?}");
    program.end()?;
    ensure!(!socket.exists());
    let mut program = start(&newest, "armed,ctl=off", &[], 1)?;
    program.attached(&["-o", "c.iprof"])?;
    program.run("call 10")?;
    program.stop()?;
    assert_eq!(sites(&mut program)?, [0, 0]);
    ensure!(entries_of(&program.recorded("c.iprof")?, "Attached.leaf") >= 10);
    program.end()
}

/// All that `attach` can record.
#[test]
fn everything_can_be_recorded_of_an_armed_program() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        let case = format!("Java {}", jre.version);
        let mut program = start(&jre, "armed", &[], 2)?;
        let output = program.attach(&[
            "--for",
            "300ms",
            "--monitors",
            "--heap",
            "objects",
            "-o",
            "a.iprof",
            "--report",
            "xarc",
        ])?;
        ensure!(output.status.success(), "{case}: {output:?} {}", program.stderr());
        ensure!(text(&output.stdout).contains("Attached$Item"), "{case}: {output:?}");
        let threads = program.call(&["threads", "a.iprof"])?.run_quietly()?;
        ensure!(text(&threads.stdout).contains("worker-"), "{case}: {threads:?}");
        ensure!(!text(&threads.stdout).contains("instrument ctl"), "{case}: {threads:?}");
        assert_eq!(sites(&mut program)?, [0, 0], "{case}");

        program.attached(&["-o", "b.iprof", "--root", "Attached.call(int)", "--subgraph"])?;
        program.run("call 50")?;
        program.stop()?;
        assert_eq!(entries_of(&program.recorded("b.iprof")?, "Attached.leaf"), 50, "{case}");
        assert_eq!(sites(&mut program)?, [0, 0], "{case}");
        // Of the JDK, too; the thread that answers uses it as well.
        program.attached(&["-o", "c.iprof", "--include", "java.util.**:Attached**"])?;
        program.run("call 50")?;
        for request in ["status", "threads", "monitors"] {
            ctl(&program, &[request])?;
        }
        program.stop()?;
        let methods = program.recorded("c.iprof")?;
        ensure!(entries_of(&methods, "Attached.leaf") >= 50, "{case}: {methods:?}");
        let threads = program.call(&["threads", "c.iprof"])?.run_quietly()?;
        ensure!(!text(&threads.stdout).contains("instrument ctl"), "{case}: {threads:?}");
        program.end()?;
        assert_eq!(program.stderr(), "", "{case}");
    }
    Ok(())
}

/// Requests that need no recording are answered.
#[test]
fn an_armed_program_can_be_asked() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        let mut program = start(&jre, "armed", &[], 1)?;
        let case = format!("Java {}", jre.version);
        // Its other thread may have to wait for a processor first.
        let end = Instant::now() + LONG;
        while !ctl(&program, &["threads", "--stacks"])?.contains("Attached.serve") {
            ensure!(Instant::now() < end, "{case}");
        }
        ensure!(ctl(&program, &["classes", "Attached**"])?.contains("Attached$Item"), "{case}");
        ensure!(ctl(&program, &["class", "Attached"])?.contains("recurse"), "{case}");
        ctl(&program, &["monitors"])?;
        ensure!(ctl(&program, &["heap-dump", "x.hprof"])?.contains("objects of"), "{case}");
        ctl(&program, &["gc"])?;
        program.run("call 1")?;
        program.end()?;
        assert_eq!(profiles(&program)?, [""; 0], "{case}");
        assert_eq!(program.stderr(), "", "{case}");
    }
    Ok(())
}

#[test]
fn whoever_is_not_armed_and_whatever_cannot_be_done_says_so() -> Result<()> {
    let newest = jre::newest()?;
    let mut program = start(&newest, "name=app", &[], 0)?;
    let said = refused(&program, &["start"])?;
    ensure!(said.contains("the program is not armed: `instrument attach"), "{said}");
    program.run("call 1")?;
    program.end()?;
    // What is wrong with the options is said when the program starts.
    for (options, reason) in [
        ("armed,include=a..b", "bad pattern"),
        ("armed,early=on", "early=on is about the start of the program"),
        ("armed=maybe", "armed=maybe: there are off, on"),
    ] {
        let mut program = start(&newest, options, &[], 0)?;
        ensure!(program.stderr().contains(reason), "{options}: {}", program.stderr());
        program.run("call 1")?;
        program.end()?;
    }
    let mut program = start(&newest, "armed", &[], 0)?;
    for (options, code, reason) in [
        (&["-o", "/nowhere/x.iprof"][..], 1, "the profile cannot be created"),
        (&["--record", "off"], 1, "record=off"),
        (&["--early"], 2, "--early is about the start of a program"),
        (&["--ids", "/dev/null"], 1, "not a regular file"),
    ] {
        let output = program.attach(options)?;
        let said = text(&output.stderr);
        ensure!(output.status.code() == Some(code) && said.contains(reason), "{options:?}: {said}");
    }
    assert_eq!(sites(&mut program)?, [0, 0]);
    // Options of any length.
    let many: Vec<String> = (0..4000).map(|i| format!("com.acme.module{i}.**")).collect();
    program.attached(&["-o", "a.iprof", "--exclude", &many.join(":")])?;
    program.run("call 10")?;
    program.end()?;
    assert_eq!(entries_of(&program.recorded("a.iprof")?, "Attached.leaf"), 10);
    Ok(())
}

/// `instrument run --armed` ends as the program does, and warns of nothing.
#[test]
fn a_run_that_is_armed_may_record_nothing() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        let case = format!("Java {}", jre.version);
        let folder = tempfile::tempdir()?;
        let mut run = subject::call()?;
        run.args(["run", "--armed", "--include", "Attached**", "--"]).arg(jre.java().get_program());
        run.arg("-cp").arg(resident::classes()).arg("Attached").current_dir(folder.path());
        run.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = run.spawn()?;
        writeln!(child.stdin.take().context("a pipe")?, "call 10")?;
        let output = child.wait_with_output()?;
        let said = text(&output.stderr);
        ensure!(output.status.success(), "{case}: {output:?}");
        assert_eq!(said, "nothing was recorded: no recording was started while the program ran\n", "{case}");
        assert_eq!(fs::read_dir(folder.path())?.count(), 0, "{case}");
    }
    let early = subject::call()?.args(["run", "--armed", "--early", "--", "java"]).output()?;
    ensure!(early.status.code() == Some(2), "{early:?}");
    Ok(())
}
