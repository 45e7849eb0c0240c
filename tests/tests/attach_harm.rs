//! Attaching harms no program: it stands still a few times and shortly, and is not recorded longer than somebody wants it.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use instrument_tests::agent;
use instrument_tests::http::Merged;
use instrument_tests::jre::{self, Jre};
use instrument_tests::resident::{Program, text};
use instrument_tests::subject::entries_of;

/// Longer than anything takes on a busy machine.
const LONG: Duration = Duration::from_secs(120);

/// How often a program stood still for new bytes of classes, as the virtual machine says.
fn stops(program: &Program) -> Result<usize> {
    let log = fs::read_to_string(program.at("safepoints"))?;
    Ok(log.lines().filter(|line| line.contains("RedefineClasses")).count())
}

fn many_loaded(jre: &Jre, folder: &Path) -> Result<Program> {
    let flag = "-Xlog:safepoint=info:file=safepoints";
    Program::start_of(folder, jre, &[flag], &["ManyLoaded", "1500"], None)
}

#[test]
fn a_class_that_cannot_be_linked_holds_nobody_up() -> Result<()> {
    let folder = tempfile::tempdir()?;
    agent::compile(&["ManyLoaded.java"], 11, folder.path())?;
    fs::remove_file(folder.path().join("Missing.class"))?;
    for jre in jre::turn(jre::all()?) {
        let case = format!("Java {}", jre.version);
        let mut program = many_loaded(&jre, folder.path())?;
        let output = program.attach(&["-o", "a.iprof", "--max-pause", "1min"])?;
        let said = text(&output.stderr);
        ensure!(output.status.success(), "{case}: {said}");
        ensure!(said.contains("classes were rewritten, for which it stood still"), "{case}: {said}");
        ensure!(said.contains("; 2 follow within 0.5 s of their first use"), "{case}: {said}");
        program.run("later")?;
        // Who links it waits until it is taken, but not for long.
        std::thread::sleep(Duration::from_millis(600));
        program.run("call")?;
        program.run("later")?;
        program.stop()?;
        let stops = stops(&program)?;
        ensure!((2..=12).contains(&stops), "{case}: {stops} stops");
        let methods = program.recorded("a.iprof")?;
        assert_eq!(entries_of(&methods, "Many0000.call"), 1, "{case}");
        ensure!(entries_of(&methods, "LinkedLater.call") >= 10, "{case}: {methods:?}");
        program.end()?;
    }
    Ok(())
}

#[test]
fn classes_that_no_pattern_includes_are_not_touched() -> Result<()> {
    let folder = tempfile::tempdir()?;
    agent::compile(&["ManyLoaded.java"], 11, folder.path())?;
    let mut program = many_loaded(&jre::newest()?, folder.path())?;
    let output = program.attach(&["-o", "a.iprof", "--include", "Many0001", "--max-pause", "1min"])?;
    let said = text(&output.stderr);
    ensure!(said.contains("1 class was rewritten, for which it stood still"), "{said}");
    program.end()
}

/// Requests are recorded whatever is included: so any class may have to be rewritten, but only those are that name such a call.
#[test]
fn classes_that_make_no_requests_are_not_touched_where_requests_are_recorded() -> Result<()> {
    let folder = tempfile::tempdir()?;
    agent::compile(&["ManyLoaded.java"], 11, folder.path())?;
    let one_request = BTreeMap::from([("no-key", 1)]);
    for jre in jre::turn(jre::all()?) {
        let case = format!("Java {}", jre.version);
        let flag = "-Xlog:redefine+class+load=info:file=redefined";
        let mut program = Program::start_of(folder.path(), &jre, &[flag], &["ManyLoaded", "1500"], None)?;
        let output = program.attach(&["-o", "a-1.iprof", "--include", "Many0001", "--remote", "http"])?;
        let said = text(&output.stderr);
        ensure!(said.contains("\n3 classes were rewritten, for which it stood still"), "{case}: {said}");
        program.run("ask")?;
        program.stop()?;
        let redefined = fs::read_to_string(program.at("redefined"))?.matches("redefined name=").count();
        // There, back, and what of the JDK is taken whatever is included.
        ensure!((3..=16).contains(&redefined), "{case}: {redefined} classes");
        let merged = Merged::of(program.folder.path(), &["a"])?;
        assert_eq!(
            (merged.match_states(), merged.served()),
            (one_request.clone(), one_request.clone()),
            "{case}"
        );
        program.end()?;
    }
    Ok(())
}

/// Nothing of a recording is in the program any more.
fn is_as_before(program: &mut Program, case: &str) -> Result<()> {
    let end = Instant::now() + LONG;
    while program.run("site")? != "site 0 0" {
        ensure!(Instant::now() < end, "{case}: it is recorded");
        std::thread::sleep(Duration::from_millis(50));
    }
    program.has_left(usize::MAX)
}

#[test]
fn a_program_that_would_stand_still_for_too_long_is_not_recorded() -> Result<()> {
    let mut program = Program::start(&jre::newest()?, &[], &["Attached", "0"], None)?;
    let said = program.refused(&["--max-pause", "0s"])?;
    ensure!(said.contains("--max-pause is 0 ms: give a longer one"), "{said}");
    is_as_before(&mut program, "refused")?;
    program.attached(&["-o", "a.iprof"])?;
    program.run("call 1")?;
    program.end()?;
    assert_eq!(entries_of(&program.recorded("a.iprof")?, "Attached.call"), 1);
    Ok(())
}

#[test]
fn why_no_profile_can_be_written_is_told_to_whoever_attaches() -> Result<()> {
    let mut program = Program::start(&jre::newest()?, &[], &["Attached", "0"], None)?;
    let said = program.refused(&["-o", "/proc/a.iprof"])?;
    ensure!(said.contains("the profile cannot be created: java."), "{said}");
    is_as_before(&mut program, "refused")?;
    program.end()
}

#[test]
fn of_two_that_attach_at_once_one_wins_and_the_other_is_told() -> Result<()> {
    let mut program = Program::start(&jre::newest()?, &[], &["Attached", "0"], None)?;
    for round in ["a", "b"] {
        let start = |name: String| -> Result<Child> {
            let words = ["attach", &program.pid(), "--max-pause", "1h", "-o", &name];
            let mut attach = program.call(&words)?;
            Ok(attach.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?)
        };
        let both = [start(format!("{round}1.iprof"))?, start(format!("{round}2.iprof"))?];
        let both = both.map(Child::wait_with_output);
        let (mut won, mut told, mut all) = (0, 0, String::new());
        for output in both {
            let output = output?;
            let said = text(&output.stderr);
            all += &said;
            won += usize::from(output.status.success());
            told += usize::from(
                said.contains("is recorded already") || said.contains("is loaded already, and records"),
            );
        }
        assert_eq!((won, told), (1, 1), "{round}: {all}");
        program.stop()?;
        is_as_before(&mut program, round)?;
    }
    program.end()
}

#[test]
fn a_recording_ends_with_whoever_waits_for_its_end() -> Result<()> {
    let mut program = Program::start(&jre::newest()?, &[], &["Attached", "0"], None)?;
    for round in 0..4u64 {
        let mut attach = program
            .call(&[
                "attach",
                &program.pid(),
                "--max-pause",
                "1h",
                "--for",
                "1h",
                "-o",
                &format!("{round}.iprof"),
            ])?
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        match round {
            // It is recorded by then.
            0 => {
                while program.run("site")? == "site 0 0" {
                    ensure!(attach.try_wait()?.is_none(), "it has ended");
                }
            }
            _ => std::thread::sleep(Duration::from_millis(round * 60)),
        }
        attach.kill()?;
        attach.wait()?;
        // It may have been about to begin.
        std::thread::sleep(Duration::from_millis(300));
        is_as_before(&mut program, &format!("round {round}"))?;
    }
    program.attached(&["-o", "a.iprof"])?;
    program.run("call 7")?;
    program.end()?;
    assert_eq!(entries_of(&program.recorded("a.iprof")?, "Attached.leaf"), 7);
    Ok(())
}

/// Bytes of address space, and mappings of profiles.
fn mapped(program: &Program) -> Result<(u64, usize)> {
    let folder = PathBuf::from(format!("/proc/{}", program.pid()));
    let status = fs::read_to_string(folder.join("status"))?;
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")).context("VmSize")?;
    let size: u64 = size.split_whitespace().next().context("kB")?.parse()?;
    let profiles = fs::read_to_string(folder.join("maps"))?.matches(".iprof").count();
    Ok((size << 10, profiles))
}

/// Without a garbage collection: none has to come.
#[test]
fn a_recording_that_has_ended_is_not_mapped() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        let flags = ["-Xmx256m", "-XX:+UseSerialGC"];
        let mut program = Program::start(&jre, &flags, &["Attached", "1"], None)?;
        let mut first = None;
        for round in 0..8 {
            program.attached(&["-o", "a.iprof"])?;
            program.run("call 10")?;
            ensure!(mapped(&program)?.1 > 0, "it is not recorded");
            program.stop()?;
            let (size, profiles) = mapped(&program)?;
            ensure!(profiles == 0, "Java {}: {profiles} mappings", jre.version);
            fs::remove_file(program.at("a.iprof"))?;
            let first = *first.get_or_insert(size);
            // Other threads of the virtual machine come and go.
            ensure!(size < first + (512 << 20), "Java {}, round {round}: {first}, then {size}", jre.version);
        }
        program.end()?;
    }
    Ok(())
}

/// Clocks of threads that signals come from.
fn sampled_threads(program: &Program) -> Result<usize> {
    let folder = PathBuf::from(format!("/proc/{}", program.pid()));
    let timers = fs::read_to_string(folder.join("timers"))?.matches("ID: ").count();
    let files = fs::read_dir(folder.join("fd"))?.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
    Ok(timers + files.filter(|file| file.to_string_lossy().contains("perf_event")).count())
}

#[test]
fn no_thread_is_sampled_when_nobody_waits_any_more() -> Result<()> {
    let mut program = Program::start(&jre::newest()?, &[], &["Attached", "1"], None)?;
    let mut attach = program
        .call(&["attach", &program.pid(), "--max-pause", "1h", "--for", "1h", "--timing", "samples"])?
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let end = Instant::now() + LONG;
    while sampled_threads(&program)? == 0 {
        ensure!(Instant::now() < end && attach.try_wait()?.is_none(), "{}", program.stderr());
        std::thread::sleep(Duration::from_millis(50));
    }
    attach.kill()?;
    attach.wait()?;
    while sampled_threads(&program)? > 0 {
        ensure!(Instant::now() < end, "threads are sampled: {}", program.stderr());
        std::thread::sleep(Duration::from_millis(50));
    }
    is_as_before(&mut program, "samples")
}

#[test]
fn whoever_begins_a_recording_without_an_end_is_told_how_to_end_it() -> Result<()> {
    let mut program = Program::start(&jre::newest()?, &[], &["Attached", "0"], None)?;
    let said = text(&program.attach(&[])?.stderr);
    ensure!(said.contains(&format!("; `instrument ctl {} stop` ends it", program.pid())), "{said}");
    program.stop()?;
    program.end()
}
