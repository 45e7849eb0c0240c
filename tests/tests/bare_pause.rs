//! `ctl PID pause --bare`: no probes in a pause, and counts that are as exact as without it.
#![cfg(target_os = "linux")]

use anyhow::{Result, ensure};
use instrument_tests::jre;
use instrument_tests::machine::Run;
use instrument_tests::resident::{Program, text};
use instrument_tests::subject::entries_of;

fn ctl(program: &Program, words: &[&str]) -> Result<String> {
    let output = program.call(&[&["ctl", &program.pid()], words].concat())?.run_quietly()?;
    Ok(text(&output.stdout))
}

/// Other threads, virtual ones among them, call themselves and fail all the time.
#[test]
fn a_program_has_its_own_code_in_a_bare_pause_and_its_calls_are_counted_exactly() -> Result<()> {
    for (jre, record) in jre::each(&jre::all()?, &["counts", "tree", "trace"]) {
        let case = format!("Java {}, {record}", jre.version);
        let mut program = Program::start(&jre, &["-Xcheck:jni"], &["Attached", "1"], None)?;
        let bare = program.run("site")?;
        program.attached(&["-o", "a.iprof", "--record", record])?;
        // What begins before a pause ends in it, and what begins in it ends behind it.
        program.run("in")?;
        for _ in 0..3 {
            let said = ctl(&program, &["pause", "--bare"])?;
            ensure!(said.contains("classes have their own code until it goes on"), "{case}: {said}");
            assert_eq!(program.run("site")?, bare, "{case}");
            program.run("call 1000")?;
            program.run("out")?;
            program.run("in")?;
            let said = ctl(&program, &["resume"])?;
            ensure!(said.contains("classes have their probes again"), "{case}: {said}");
            ensure!(program.run("site")? != bare, "{case}");
            program.run("call 10")?;
            program.run("out")?;
            program.run("in")?;
        }
        ctl(&program, &["pause", "--bare"])?;
        program.stop()?;
        assert_eq!(program.run("site")?, bare, "{case}");
        let methods = program.recorded("a.iprof")?;
        let counts = |name: &str| {
            let all = methods.iter().filter(|method| method.name == name);
            all.map(|method| (method.entries, method.exits)).collect::<Vec<_>>()
        };
        assert_eq!(counts("Attached.call"), [(3, 3)], "{case}");
        assert_eq!(counts("Attached.site"), [(3, 3)], "{case}");
        // The first one, and one behind each pause; the last is open.
        assert_eq!(counts("Attached.serve"), [(4, 3)], "{case}");
        ensure!(entries_of(&methods, "Attached.leaf") >= 30, "{case}: {methods:?}");
        program.run("out")?;
        program.end()?;
    }
    Ok(())
}

#[test]
fn a_bare_pause_and_a_subgraph_do_not_go_together() -> Result<()> {
    let mut program = Program::start(&jre::newest()?, &[], &["Attached", "0"], None)?;
    program.attached(&["-o", "a.iprof", "--root", "Attached.call", "--subgraph"])?;
    let output = program.call(&["ctl", &program.pid(), "pause", "--bare"])?.output()?;
    let said = text(&output.stderr);
    ensure!(!output.status.success() && said.contains("do not go together: pause without --bare"), "{said}");
    // Nothing has happened.
    let said = ctl(&program, &["pause"])?;
    ensure!(said.starts_with("recording is paused; 1 pause so far"), "{said}");
    program.stop()?;
    program.end()
}
