//! `--subgraph` of `instrument attach` and `run`: only what the roots can call is rewritten, and nothing beneath a root is missed.
#![cfg(target_os = "linux")]

use anyhow::{Context, Result, ensure};
use instrument_tests::agent;
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::Run;
use instrument_tests::resident::{Program, text};
use instrument_tests::subject::{self, entries_of};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Longer than anything takes on a busy machine.
const LONG: Duration = Duration::from_secs(120);
const ROOT: &str = "Subgraph.handle(int)";

fn start(jre: &Jre) -> Result<Program> {
    Program::start(jre, &[], &["Subgraph"], None)
}

/// The ids that the methods of a class have, none for those that are not rewritten.
fn ids(program: &Program, class: &str) -> Result<BTreeMap<String, Option<u64>>> {
    let answer = program.call(&["ctl", &program.pid(), "--json", "class", class])?.run_quietly()?;
    let answer: Value = serde_json::from_slice(&answer.stdout)?;
    let methods = answer["classes"][0]["methods"].as_array().context("no methods")?;
    let id = |method: &Value| Some((method["name"].as_str()?.to_owned(), method["id"].as_u64()));
    Ok(methods.iter().filter_map(id).collect())
}

/// Handles a request until this method is rewritten.
fn until_rewritten(program: &mut Program, class: &str, method: &str) -> Result<()> {
    let end = Instant::now() + LONG;
    while ids(program, class)?.get(method).context("no such method")?.is_none() {
        ensure!(Instant::now() < end, "{class}.{method} is not rewritten: {}", program.stderr());
        program.run("handle 2")?;
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Handles requests until all of these methods were entered. What is only near what was entered gets its own code again when nothing new is
/// entered for a while, and a busy machine may take that long between two requests.
fn until_entered(program: &mut Program, methods: &BTreeMap<String, u64>) -> Result<()> {
    let end = Instant::now() + LONG;
    loop {
        program.run("handle 10")?;
        let found = program.methods()?;
        let Some(missing) = methods.keys().find(|name| entries_of(&found, name) == 0) else { return Ok(()) };
        ensure!(Instant::now() < end, "{missing} is not entered: {}", program.stderr());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What is counted of these requests.
fn counts(program: &mut Program) -> Result<BTreeMap<String, u64>> {
    program.call(&["ctl", &program.pid(), "reset"])?.run_quietly()?;
    for line in ["handle 0", "outside 4", "handle 7", "handle 12"] {
        program.run(line)?;
    }
    program.call(&["ctl", &program.pid(), "stop"])?.run_quietly()?;
    let methods = program.methods()?;
    Ok(methods.into_iter().filter(|m| m.entries > 0).map(|m| (m.name, m.entries)).collect())
}

#[test]
fn counts_beneath_the_root_are_those_of_a_run_in_which_everything_is_rewritten() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        let case = format!("Java {}", jre.version);
        let mut program = start(&jre)?;
        program.run("handle 10")?;
        program.attached(&["--root", ROOT])?;
        let expected = counts(&mut program)?;
        for name in
            ["Subgraph$Order.key", "Subgraph$Task.work", "Subgraph$Help.rare", "Subgraph$Circle.factor"]
        {
            ensure!(expected.get(name).is_some_and(|count| *count > 0), "{case}: {name}: {expected:?}");
        }
        ensure!(!expected.keys().any(|name| name.contains("Other")), "{case}: {expected:?}");

        let mut program = start(&jre)?;
        program.run("handle 10")?;
        let output = program.attach(&["--root", ROOT, "--subgraph"])?;
        let said = text(&output.stderr);
        ensure!(output.status.success() && said.contains("of them are callbacks"), "{case}: {said}");
        until_entered(&mut program, &expected)?;
        let other = ids(&program, "Subgraph$Other")?;
        for (method, rewritten) in
            [("count", false), ("step", false), ("describe", false), ("toString", true)]
        {
            ensure!(other[method].is_some() == rewritten, "{case}: {method}: {other:?}");
        }
        assert_eq!(ids(&program, "Subgraph")?["outside"], None, "{case}");
        assert_eq!(counts(&mut program)?, expected, "{case}: {}", program.stderr());
        program.run("handle 3")?;
        program.end()?;
    }
    Ok(())
}

/// Each way names a method of its own, to which nothing else leads: its first call is recorded.
#[test]
fn calls_by_reflection_are_followed() -> Result<()> {
    for jre in jre::all()? {
        let case = format!("Java {}", jre.version);
        let mut program = Program::start(&jre, &[], &["Plugins"], None)?;
        program.attached(&["--root", "Plugins.plug(int)", "--subgraph"])?;
        let expected = [
            "Invoked.work",
            "Deeper.help",
            "Constructed.<init>",
            "Made.<init>",
            "Exact.<init>",
            "Exact.work",
            "Arguments.work",
            "Implemented.<init>",
            "Implemented.work",
        ];
        for round in 1..=2 {
            program.run(&format!("plug {round}"))?;
            let methods = program.methods()?;
            for name in expected {
                let entries = entries_of(&methods, &format!("Plugins${name}"));
                ensure!(
                    entries == round,
                    "{case}: {name}: {entries}, not {round}: {methods:?} {}",
                    program.stderr()
                );
            }
        }
        program.call(&["ctl", &program.pid(), "stop"])?.run_quietly()?;
        // One that is made of another names nothing, which is said.
        assert_eq!(entries_of(&program.methods()?, "Plugins$Mixed.work"), 0, "{case}");
        let report =
            program.call(&["report", "-v", &format!("Plugins-{}.iprof", program.pid())])?.run_quietly()?;
        let left_out = "targets of 2 method handles that combine others";
        ensure!(text(&report.stdout).contains(left_out), "{case}: {}", text(&report.stdout));
        program.run("plug 3")?;
        program.end()?;
    }
    Ok(())
}

/// The same from the start of the program: nothing has to be attached to.
#[test]
fn a_program_can_be_started_so() -> Result<()> {
    for jre in jre::all()? {
        let case = format!("Java {}", jre.version);
        let started = |subgraph: &str| {
            let flag = agent::option(&format!("include=Subgraph*,root={ROOT}{subgraph}"))?;
            Program::start(&jre, &[&flag], &["Subgraph"], None)
        };
        let mut program = started("")?;
        program.run("handle 10")?;
        let expected = counts(&mut program)?;
        ensure!(expected.len() > 10, "{case}: {expected:?}");

        let mut program = started(",subgraph=on")?;
        until_entered(&mut program, &expected)?;
        let other = ids(&program, "Subgraph$Other")?;
        for (method, rewritten) in [("count", false), ("step", false), ("toString", true)] {
            ensure!(other[method].is_some() == rewritten, "{case}: {method}: {other:?}");
        }
        assert_eq!(ids(&program, "Subgraph")?["outside"], None, "{case}");
        assert_eq!(counts(&mut program)?, expected, "{case}: {}", program.stderr());
        program.end()?;
    }
    Ok(())
}

/// Its class, and what that calls of classes that were there, are rewritten as it loads and a moment later.
#[test]
fn what_loads_late_is_followed() -> Result<()> {
    let mut program = start(&jre::newest()?)?;
    program.attached(&["--root", ROOT, "--subgraph"])?;
    ensure!(ids(&program, "Subgraph$Help")?["rare"].is_none());
    program.run("handle 10")?;
    until_rewritten(&mut program, "Subgraph$Help", "rare")?;
    program.run("handle 10")?;
    let methods = program.methods()?;
    assert_eq!(entries_of(&methods, "Subgraph$Later.<clinit>"), 1);
    assert_eq!(entries_of(&methods, "Subgraph$Later.base"), 1);
    assert_eq!(entries_of(&methods, "Subgraph$Later.late"), 2);
    ensure!(entries_of(&methods, "Subgraph$Help.rare") >= 1, "{methods:?}");
    program.end()
}

#[test]
fn what_does_not_go_with_it_is_an_error() -> Result<()> {
    let mut program = start(&jre::newest()?)?;
    for (options, reason) in [
        (&[][..], "give --root METHOD"),
        (&["--root", ROOT, "--record", "trace"], "leave out --record trace, or --subgraph"),
        (&["--root", ROOT, "--heap", "counts"], "leave out --heap, or --subgraph"),
        (&["--root", ROOT, "--native"], "leave out --native, or --subgraph"),
    ] {
        let attached = program.attach(&[&["--subgraph"], options].concat())?;
        let mut run = subject::call()?;
        let run = run.args(["run", "--subgraph"]).args(options).args(["--", "java", "-version"]).output()?;
        for output in [attached, run] {
            let said = text(&output.stderr);
            ensure!(output.status.code() == Some(2) && said.contains(reason), "{options:?}: {said}");
        }
    }
    program.attached(&["--root", ROOT, "--subgraph"])?;
    program.end()
}
