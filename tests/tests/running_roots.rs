//! Roots that run when a recording begins: what they call from then on is recorded beneath them, and no more is counted than was seen.
#![cfg(target_os = "linux")]

use anyhow::{Context, Result, ensure};
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::Run;
use instrument_tests::resident::{Program, text};
use instrument_tests::subject::{MethodCounts, entries_of};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

const LOOP: &str = "RunningRoots.loop(*)";
const SERVE: &str = "RunningRoots$Worker.serve()";
const IN_LOOP: &str = "main|(running RunningRoots.loop(Ljava/io/BufferedReader;)V)";

/// Attaches with these options. A tree has its calls timed: the times of open calls are looked at here.
fn attached(program: &Program, options: &[&str]) -> Result<()> {
    let timed: &[&str] = if ["--record", "--timing"].iter().any(|given| options.contains(given)) {
        &[]
    } else {
        &["--timing", "auto"]
    };
    program.attached(&[options, timed].concat())
}

fn start(jre: &Jre) -> Result<Program> {
    let mut program = Program::start(jre, &[], &["RunningRoots"], None)?;
    // It is in its loops.
    program.run("work 1")?;
    Ok(program)
}

/// Calls of the program's own methods, by their names without its class.
fn counts(methods: &[MethodCounts]) -> BTreeMap<&str, u64> {
    let own = methods.iter().filter(|method| method.entries > 0);
    own.filter_map(|method| Some((method.name.strip_prefix("RunningRoots")?.get(1..)?, method.entries)))
        .collect()
}

/// Calls, own ns and all ns of every context of the program's own methods, by its path from the thread on.
fn contexts(program: &Program, file: &str) -> Result<BTreeMap<String, [u64; 3]>> {
    let output =
        program.call(&["xtree", "--json", "--prune", "0", "--resource", "wall-raw", file])?.run_quietly()?;
    let answer: Value = serde_json::from_slice(&output.stdout)?;
    let mut contexts = BTreeMap::new();
    for process in answer["tree"]["children"].as_array().context("no process")? {
        let mut waiting: Vec<(String, &Value)> = vec![(String::new(), process)];
        while let Some((path, node)) = waiting.pop() {
            let figures = [&node["n"], &node["base"][0], &node["cum"][0]].map(|figure| figure.as_u64());
            let figures = [0, 1, 2].map(|i| figures[i].unwrap_or(u64::MAX));
            contexts.insert(path.clone(), figures);
            for child in node["children"].as_array().into_iter().flatten() {
                let name = child["name"].as_str().context("no name")?;
                let path = if path.is_empty() { name.to_owned() } else { format!("{path}|{name}") };
                waiting.push((path, child));
            }
        }
    }
    Ok(contexts)
}

/// What was running has no calls and no time of its own, and the time of what it called.
fn has_no_figures_of_its_own(contexts: &BTreeMap<String, [u64; 3]>, case: &str) -> Result<()> {
    let running = contexts
        .iter()
        .filter(|(path, _)| path.rsplit('|').next().is_some_and(|name| name.starts_with("(running ")));
    let mut some = 0;
    for (path, [calls, own, all]) in running {
        let is_beneath = |below: &str| {
            below
                .strip_prefix(path.as_str())
                .is_some_and(|rest| rest.starts_with('|') && !rest[1..].contains('|'))
        };
        let beneath: u64 =
            contexts.iter().filter(|(below, _)| is_beneath(below)).map(|(_, figures)| figures[2]).sum();
        ensure!((*calls, *own, *all) == (0, 0, beneath), "{case}: {path}: {contexts:?}");
        some += 1;
    }
    ensure!(some > 0, "{case}: {contexts:?}");
    Ok(())
}

fn loop_is_recorded(jre: &Jre, options: &[&str]) -> Result<()> {
    let case = format!("Java {} {options:?}", jre.version);
    let mut program = start(jre)?;
    attached(&program, &[&["-o", "a.iprof", "--root", LOOP], options].concat())?;
    for line in ["step 10", "fail 3", "make 4", "work 6", "in", "step 2", "out", "step 1"] {
        program.run(line)?;
    }
    program.stop()?;
    // Nobody listens any more.
    program.run("step 7")?;
    let methods = program.recorded("a.iprof")?;
    let expected = [("leaf", 5 + 3 + 4 + 1 + 1), ("step", 13), ("fail", 3), ("Made.<init>", 4), ("loop", 1)];
    assert_eq!(counts(&methods), BTreeMap::from(expected), "{case}: {}", program.stderr());
    for method in methods.iter().filter(|method| method.name.starts_with("RunningRoots")) {
        let thrown = if method.name.ends_with("fail") { 3 } else { 0 };
        assert_eq!(
            (method.exits, method.unwinds, method.open),
            (method.entries - thrown, thrown, 0),
            "{case}: {method:?}"
        );
    }
    if !options.contains(&"counts") {
        let contexts = contexts(&program, "a.iprof")?;
        has_no_figures_of_its_own(&contexts, &case)?;
        let calls = |path: &str| contexts.get(&format!("{IN_LOOP}{path}")).map(|figures| figures[0]);
        assert_eq!(calls(""), Some(0), "{case}: {contexts:?}");
        assert_eq!(calls("|RunningRoots.step(I)V"), Some(11), "{case}: {contexts:?}");
        assert_eq!(calls("|RunningRoots.fail(I)V|RunningRoots.leaf()V"), Some(3), "{case}: {contexts:?}");
        let anew = "|RunningRoots.loop(Ljava/io/BufferedReader;)V";
        assert_eq!(
            (calls(anew), calls(&format!("{anew}|RunningRoots.step(I)V"))),
            (Some(1), Some(2)),
            "{case}: {contexts:?}"
        );
        ensure!(!contexts.keys().any(|path| path.starts_with("worker")), "{case}: {contexts:?}");
    }
    program.end()
}

#[test]
fn what_a_loop_that_never_returns_calls_is_counted() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        loop_is_recorded(&jre, &[])?;
        loop_is_recorded(&jre, &["--subgraph"])?;
    }
    let jre = jre::newest()?;
    for options in [
        &["--record", "trace"][..],
        &["--record", "counts"],
        &["--record", "counts", "--subgraph"],
        &["--timing", "all", "--cpu"],
    ] {
        loop_is_recorded(&jre, options)?;
    }
    Ok(())
}

#[test]
fn a_root_that_has_returned_is_recorded_again_when_it_is_entered() -> Result<()> {
    for (jre, options) in jre::each(&jre::all()?, &[&[][..], &["--subgraph"], &["--record", "trace"]]) {
        let case = format!("Java {} {options:?}", jre.version);
        let mut program = start(&jre)?;
        attached(&program, &[&["-o", "a.iprof", "--root", SERVE], options].concat())?;
        // The other thread is outside.
        for line in ["work 10", "step 5", "leave", "outside 6", "work 8", "leave", "outside 3"] {
            program.run(line)?;
        }
        program.stop()?;
        let methods = program.recorded("a.iprof")?;
        assert_eq!(entries_of(&methods, "RunningRoots.step"), 10 + 8, "{case}: {methods:?}");
        assert_eq!(entries_of(&methods, "RunningRoots.leaf"), 5 + 4, "{case}: {methods:?}");
        assert_eq!(entries_of(&methods, "RunningRoots$Worker.outside"), 0, "{case}: {methods:?}");
        // It may have begun for the third time by then.
        let served = entries_of(&methods, "RunningRoots$Worker.serve");
        ensure!(served == 1 || served == 2, "{case}: {methods:?}");
        let contexts = contexts(&program, "a.iprof")?;
        has_no_figures_of_its_own(&contexts, &case)?;
        let calls = |path: &str| contexts.get(path).map(|figures| figures[0]);
        assert_eq!(
            calls("worker|(running RunningRoots$Worker.serve()V)|RunningRoots.step(I)V"),
            Some(10),
            "{case}: {contexts:?}"
        );
        assert_eq!(
            calls("worker|RunningRoots$Worker.serve()V|RunningRoots.step(I)V"),
            Some(8),
            "{case}: {contexts:?}"
        );
        program.end()?;
    }
    Ok(())
}

/// The root is on the stack several times, with another method between, and an exception leaves the innermost.
#[test]
fn each_call_that_is_open_is_told_from_the_others() -> Result<()> {
    for (jre, options) in jre::each(&jre::all()?, &[&[][..], &["--subgraph"], &["--record", "trace"]]) {
        let case = format!("Java {} {options:?}", jre.version);
        let mut program = start(&jre)?;
        program.run("in")?;
        program.run("dive")?;
        attached(&program, &[&["-o", "a.iprof", "--root", LOOP], options].concat())?;
        for line in ["step 2", "rise", "step 4", "out", "step 6"] {
            program.run(line)?;
        }
        program.stop()?;
        let contexts = contexts(&program, "a.iprof")?;
        has_no_figures_of_its_own(&contexts, &case)?;
        let calls = |path: &str| contexts.get(path).map(|figures| figures[0]);
        let running = "(running RunningRoots.loop(Ljava/io/BufferedReader;)V)";
        let dive = format!("{IN_LOOP}|{running}|(running RunningRoots.dive(Ljava/io/BufferedReader;)V)");
        let step = "RunningRoots.step(I)V";
        assert_eq!(calls(&format!("{dive}|{running}|{step}")), Some(2), "{case}: {contexts:?}");
        assert_eq!(calls(&format!("{dive}|RunningRoots.leaf()V")), Some(1), "{case}: {contexts:?}");
        assert_eq!(calls(&format!("{IN_LOOP}|{running}|{step}")), Some(4), "{case}: {contexts:?}");
        assert_eq!(calls(&format!("{IN_LOOP}|{step}")), Some(6), "{case}: {contexts:?}");
        let methods = program.recorded("a.iprof")?;
        assert_eq!(entries_of(&methods, "RunningRoots.loop"), 0, "{case}: {methods:?}");
        program.end()?;
    }
    Ok(())
}

/// Its launcher has asked the virtual machine for it, which then gives old and new code one name.
#[test]
fn the_main_method_is_such_a_root() -> Result<()> {
    for (jre, options) in jre::each(&jre::all()?, &[&[][..], &["--subgraph"]]) {
        let case = format!("Java {} {options:?}", jre.version);
        let mut program = start(&jre)?;
        attached(&program, &[&["-o", "a.iprof", "--root", "RunningRoots.main(*)"], options].concat())?;
        for line in ["step 10", "in", "step 2", "out", "step 4"] {
            program.run(line)?;
        }
        program.stop()?;
        let contexts = contexts(&program, "a.iprof")?;
        has_no_figures_of_its_own(&contexts, &case)?;
        let beneath = "main|(running RunningRoots.main([Ljava/lang/String;)V)|(running RunningRoots.loop(Ljava/io/BufferedReader;)V)";
        let calls = |path: &str| contexts.get(&format!("{beneath}{path}")).map(|figures| figures[0]);
        assert_eq!(calls("|RunningRoots.step(I)V"), Some(14), "{case}: {contexts:?}");
        let anew = "|RunningRoots.loop(Ljava/io/BufferedReader;)V|RunningRoots.step(I)V";
        assert_eq!(calls(anew), Some(2), "{case}: {contexts:?}");
        program.end()?;
    }
    Ok(())
}

/// A call that comes in the place of one that was open is a call.
#[test]
fn a_root_that_returns_and_is_called_while_its_class_is_rewritten_is_not_beneath_itself() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        let mut program = Program::start(&jre, &[], &["RunningRoots", "turns"], None)?;
        program.run("step 1")?;
        for round in 0..12 {
            let case = format!("Java {} {round}", jre.version);
            let options = if round % 3 == 2 { &[][..] } else { &["--subgraph"] };
            attached(
                &program,
                &[&["-o", "a.iprof", "--root", "RunningRoots$Turns.turn()"], options].concat(),
            )?;
            program.run("step 1")?;
            program.stop()?;
            let contexts = contexts(&program, "a.iprof")?;
            let turns = contexts.get("turns|RunningRoots$Turns.turn()V").context(case.clone())?;
            ensure!(turns[0] > 1, "{case}: {contexts:?}");
            let running = "turns|(running RunningRoots$Turns.turn()V)|RunningRoots$Turns.turn()V";
            ensure!(!contexts.contains_key(running), "{case}: {contexts:?}");
            let leaves = contexts.get("turns|RunningRoots$Turns.turn()V|RunningRoots.leaf()V");
            let leaves = leaves.context("no leaf")?[0];
            ensure!(leaves.abs_diff(50 * turns[0]) <= 100, "{case}: {contexts:?}");
        }
        program.end()?;
    }
    Ok(())
}

/// Calls that began with probes in an earlier recording run out beneath a root that was there before it.
#[test]
fn one_recording_after_another_has_them() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        after_one_another(&jre, [&[], &["--subgraph"], &[]])?;
        after_one_another(&jre, [&["--subgraph"], &["--subgraph"], &[]])?;
    }
    Ok(())
}

fn after_one_another(jre: &Jre, options: [&[&str]; 3]) -> Result<()> {
    let case = format!("Java {} {options:?}", jre.version);
    let mut program = start(jre)?;
    for (file, options) in ["a.iprof", "b.iprof", "c.iprof"].into_iter().zip(options) {
        attached(&program, &[&["-o", file, "--root", LOOP], options].concat())?;
        program.run("step 3")?;
        // Open when the recording ends: with the probes of this one, beneath those of the one before.
        program.run("in")?;
        program.run("step 5")?;
        program.stop()?;
        program.run("step 9")?;
        let methods = program.recorded(file)?;
        assert_eq!(entries_of(&methods, "RunningRoots.step"), 3 + 5, "{case} {file}: {methods:?}");
        assert_eq!(entries_of(&methods, "RunningRoots.loop"), 1, "{case} {file}: {methods:?}");
    }
    attached(&program, &["-o", "d.iprof", "--root", LOOP])?;
    for line in ["out", "step 2", "fail 2", "out", "step 4", "out", "step 8"] {
        program.run(line)?;
    }
    program.stop()?;
    let methods = program.recorded("d.iprof")?;
    assert_eq!(
        counts(&methods),
        BTreeMap::from([("step", 14), ("leaf", 7 + 2), ("fail", 2)]),
        "{case}: {methods:?}"
    );
    // Calls with the probes of earlier recordings end, and what is open beneath them stays so.
    let contexts = contexts(&program, "d.iprof")?;
    has_no_figures_of_its_own(&contexts, &case)?;
    let steps = contexts.iter().filter(|(path, _)| path.ends_with("|RunningRoots.step(I)V"));
    let steps: Vec<_> = steps.map(|(path, figures)| (path.starts_with(IN_LOOP), figures[0])).collect();
    ensure!(steps.iter().all(|(is_beneath, _)| *is_beneath), "{case}: {contexts:?}");
    assert_eq!(steps.iter().map(|(_, calls)| calls).sum::<u64>(), 14, "{case}: {contexts:?}");
    program.end()
}

#[test]
fn a_root_that_is_added_later_is_taken_up_as_well() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        let case = format!("Java {}", jre.version);
        let mut program = start(&jre)?;
        attached(&program, &["-o", "a.iprof", "--root", LOOP, "--subgraph"])?;
        program.run("work 5")?;
        program.call(&["ctl", &program.pid(), "root", SERVE])?.run_quietly()?;
        for line in ["step 7", "work 2", "leave", "outside 4", "work 3"] {
            program.run(line)?;
        }
        program.call(&["ctl", &program.pid(), "remove", LOOP])?.run_quietly()?;
        // What is open goes on to be recorded.
        program.run("step 6")?;
        program.stop()?;
        let contexts = contexts(&program, "a.iprof")?;
        has_no_figures_of_its_own(&contexts, &case)?;
        let calls = |path: &str| contexts.get(path).map(|figures| figures[0]);
        assert_eq!(calls(&format!("{IN_LOOP}|RunningRoots.step(I)V")), Some(7 + 6), "{case}: {contexts:?}");
        let served = "worker|RunningRoots$Worker.serve()V|RunningRoots.step(I)V";
        assert_eq!(calls(served), Some(3), "{case}: {contexts:?}");
        let running = "worker|(running RunningRoots$Worker.serve()V)|RunningRoots.step(I)V";
        assert_eq!(calls(running), Some(2), "{case}: {contexts:?}");
        program.end()?;
    }
    Ok(())
}

#[test]
fn pauses_and_bursts_leave_them_where_they_are() -> Result<()> {
    for record in ["tree", "trace", "counts"] {
        let mut program = start(&jre::newest()?)?;
        attached(&program, &["-o", "a.iprof", "--root", LOOP, "--record", record])?;
        program.run("step 3")?;
        program.call(&["ctl", &program.pid(), "pause"])?.run_quietly()?;
        // A call that begins in the pause, and goes on behind it.
        program.run("step 5")?;
        program.run("in")?;
        program.call(&["ctl", &program.pid(), "resume"])?.run_quietly()?;
        program.run("step 7")?;
        program.run("out")?;
        program.run("step 9")?;
        program.stop()?;
        let methods = program.recorded("a.iprof")?;
        assert_eq!(
            counts(&methods),
            BTreeMap::from([("step", 3 + 7 + 9), ("leaf", 2 + 4 + 5)]),
            "{record}: {methods:?}"
        );
        program.end()?;
    }
    Ok(())
}

/// The virtual machine lists no virtual threads: a root that runs in one is recorded from its next call on.
#[test]
fn a_root_in_a_virtual_thread_is_recorded_when_it_is_entered_again() -> Result<()> {
    for jre in jre::all()?.into_iter().filter(|jre| jre.version >= 21) {
        let mut program = Program::start(&jre, &[], &["RunningRoots", "virtual"], None)?;
        program.run("work 1")?;
        attached(&program, &["-o", "a.iprof", "--root", SERVE])?;
        for line in ["work 10", "leave", "outside 6", "work 8"] {
            program.run(line)?;
        }
        program.stop()?;
        let methods = program.recorded("a.iprof")?;
        assert_eq!(entries_of(&methods, "RunningRoots.step"), 8, "Java {}: {methods:?}", jre.version);
        program.end()?;
    }
    Ok(())
}

#[test]
fn gates_and_diffs_take_it_for_no_call() -> Result<()> {
    let jre = jre::newest()?;
    let mut program = start(&jre)?;
    for file in ["a.iprof", "b.iprof"] {
        attached(&program, &["-o", file, "--root", LOOP])?;
        program.run("step 4")?;
        program.stop()?;
    }
    let gate = program.call(&["gate", "learn", "a.iprof", "b.iprof", "-o", "gate.txt"])?.output()?;
    ensure!(gate.status.success(), "{}", text(&gate.stderr));
    let learned = fs::read_to_string(program.at("gate.txt"))?;
    let is_call = |line: &str| line.contains("(running ") && line.contains("calls=");
    ensure!(learned.contains("calls=4 RunningRoots.step(I)V") && !learned.lines().any(is_call), "{learned}");
    let check = program.call(&["gate", "check", "gate.txt", "b.iprof"])?.output()?;
    ensure!(check.status.success(), "{}{}", text(&check.stdout), text(&check.stderr));
    let diff = program.call(&["diff", "a.iprof", "b.iprof"])?.output()?;
    let said = text(&diff.stdout);
    ensure!(said.contains("0 methods changed") && said.contains("0 contexts changed"), "{said}");
    program.end()
}
