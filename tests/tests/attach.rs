//! `instrument attach`: programs that run already are recorded, and what cannot be attached to is an error with its cure.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use instrument_tests::agent;
use instrument_tests::jre::{self, BOTH_COMPILERS, Jre};
use instrument_tests::machine::Run;
use instrument_tests::resident::{Program, text};
use instrument_tests::subject::{self, entries_of};
use instrument_trace::Profile;
use rustix::process::{Pid, Signal, getuid, kill_process};

/// Longer than anything takes on a busy machine.
const LONG: Duration = Duration::from_secs(300);
/// A user who is not root.
const NOBODY: u32 = 65534;

fn start(jre: &Jre, flags: &[&str], threads: u32) -> Result<Program> {
    start_as(jre, flags, threads, None)
}

/// As another user, if there is one.
fn start_as(jre: &Jre, flags: &[&str], threads: u32, user: Option<u32>) -> Result<Program> {
    Program::start(jre, flags, &["Attached", &threads.to_string()], user)
}

/// Where two calls are in their methods: 0 without probes; the class of the second one loads when it is first asked for.
fn sites(program: &mut Program) -> Result<Vec<u32>> {
    let said = program.run("site")?;
    said.split(' ').skip(1).map(|word| Ok(word.parse()?)).collect()
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Nothing of an attach may stay in the folder of the program.
fn is_tidy(program: &Program) -> Result<bool> {
    let names = fs::read_dir(program.folder.path())?.map(|entry| Ok(entry?.file_name()));
    let names: Vec<_> = names.collect::<Result<_>>()?;
    Ok(names.iter().all(|name| !name.to_string_lossy().contains("attach")))
}

/// HotSpot has lines about agents that come late (JEP 451), and none about its archive of classes.
fn is_quiet(program: &Program) -> bool {
    program.stderr().lines().all(|line| line.starts_with("WARNING: "))
}

#[test]
fn a_program_that_runs_is_recorded_from_then_on() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        let mut program = start(&jre, &[], 3)?;
        program.run("call 5")?;
        program.run("in")?;
        program.attached(&["--name", "joined"])?;
        program.run("call 1000")?;
        program.run("fail 3")?;
        program.run("in")?;
        // A method that runs when we come is recorded from its next call on.
        writeln!(program.stdin.as_mut().context("a pipe")?, "out")?;
        ensure!(program.line()? == "out");
        program.end()?;
        let methods = program.methods()?;
        let case = format!("Java {}: {methods:?}", jre.version);
        assert_eq!(entries_of(&methods, "Attached.call"), 1, "{case}");
        assert_eq!(entries_of(&methods, "Attached.serve"), 1, "{case}");
        ensure!(entries_of(&methods, "Attached.leaf") > 1000, "{case}");
        ensure!(entries_of(&methods, "Attached.recurse") > 0, "{case}");
        ensure!(methods.iter().all(|m| m.unclosed + m.unmatched == 0), "{case}");
        let aborted: u64 = methods.iter().map(|m| m.aborted).sum();
        ensure!(aborted > 0, "{case}");
        ensure!(is_tidy(&program)?);
    }
    Ok(())
}

#[test]
fn a_program_is_found_by_its_name_and_listed() -> Result<()> {
    let program = start(&jre::newest()?, &["-Dx=y"], 0)?;
    let listed = program.call(&["attach"])?.run_quietly()?;
    ensure!(text(&listed.stdout).contains(&format!("{:>8}  Attached\n", program.pid())), "{listed:?}");
    let nobody = program.call(&["attach", "NoSuchProgram"])?.output()?;
    ensure!(nobody.status.code() == Some(1));
    ensure!(
        text(&nobody.stderr).contains("no Java program of this user is called NoSuchProgram"),
        "{nobody:?}"
    );
    // Another test may run a program of the same name.
    let by_name = program.call(&["attach", "Attached"])?.output()?;
    let said = text(&by_name.stderr);
    ensure!(by_name.status.success() || said.contains("give the process id"), "{said}");
    Ok(())
}

#[test]
fn options_of_any_length_and_with_any_character_arrive() -> Result<()> {
    let mut program = start(&jre::newest()?, &[], 0)?;
    let folder = program.at("a b,c'd\"e=f\\g");
    fs::create_dir(&folder)?;
    let many: Vec<String> = (0..400).map(|i| format!("com.acme.module{i}.**")).collect();
    let excluded = many.join(":");
    let out = folder.to_str().context("UTF-8")?;
    program.attached(&[
        "-o",
        out,
        "--exclude",
        &excluded,
        "--exclude",
        "Attached.leaf(int)",
        "--record",
        "counts",
    ])?;
    program.run("call 10")?;
    program.end()?;
    let methods = subject::profile(&folder)?;
    assert_eq!(entries_of(&methods, "Attached.call"), 1, "{methods:?}");
    assert_eq!(entries_of(&methods, "Attached.leaf"), 0, "{methods:?}");
    assert_eq!(entries_of(&methods, "Attached$Item.<init>"), 10, "{methods:?}");
    Ok(())
}

#[test]
fn what_cannot_be_attached_to_is_an_error_with_its_cure() -> Result<()> {
    let jre = jre::newest()?;
    for (flag, reasons) in [
        ("-XX:+DisableAttachMechanism", &["-XX:+DisableAttachMechanism", "start it without this option"][..]),
        ("-XX:-EnableDynamicAgentLoading", &["start it with -XX:+EnableDynamicAgentLoading"]),
    ] {
        let mut program = start(&jre, &[flag], 0)?;
        let said = program.refused(&[])?;
        ensure!(reasons.iter().all(|reason| said.contains(reason)), "{flag}: {said}");
        // It was not harmed, and nothing was printed.
        program.run("call 1")?;
        program.end()?;
        ensure!(is_tidy(&program)? && program.stderr().is_empty(), "{flag}: {}", program.stderr());
    }
    // It catches no SIGQUIT, and listens from the start.
    let mut program = start(&jre, &["-Xrs"], 0)?;
    program.attached(&[])?;
    program.end()?;
    let mut program = start(&jre, &[], 0)?;
    for (options, code, reason) in [
        (&["--early"][..], 2, "--early is about the start of a program"),
        (&["--subclasses-of", "java.lang.Thread"], 2, "--subclasses-of needs the class path of the program"),
        (&["--agent", "/nowhere/agent.so"], 1, "/nowhere/agent.so"),
        (&["--record", "off"], 1, "record=off"),
        (&["--ids", "/dev/null"], 1, "not a regular file"),
        (&["--heap", "counts", "--clock", "monotonic", "--ids", "/dev/null"], 1, "not a regular file"),
        (&["-o", "/nowhere/x.iprof"], 1, "the profile cannot be created"),
    ] {
        let output = program.attach(options)?;
        let said = text(&output.stderr);
        ensure!(output.status.code() == Some(code) && said.contains(reason), "{options:?}: {said}");
    }
    program.run("call 1")?;
    // What was refused leaves nothing to those that are not.
    program.attached(&["-o", "a.iprof", "--heap", "counts"])?;
    program.run("call 1")?;
    program.end()?;
    assert_eq!(entries_of(&program.recorded("a.iprof")?, "Attached.call"), 1);
    // The virtual machine ends well after a refusal, too.
    let mut program = start(&jre, &[], 0)?;
    program.refused(&["-o", "/nowhere/x.iprof"])?;
    program.end()?;
    for (target, reason) in [
        (std::process::id().to_string(), "is not a Java virtual machine"),
        ("999999999".to_owned(), "there is no process 999999999"),
    ] {
        let output = subject::call()?.args(["attach", &target]).output()?;
        ensure!(output.status.code() == Some(1) && text(&output.stderr).contains(reason), "{output:?}");
    }
    Ok(())
}

#[test]
fn another_users_program_is_refused_but_not_to_root() -> Result<()> {
    if !getuid().is_root() {
        // The first process is root's.
        let output = subject::call()?.args(["attach", "1"]).output()?;
        ensure!(text(&output.stderr).contains("belongs to another user (uid 0)"), "{output:?}");
        return Ok(());
    }
    let program = start(&jre::newest()?, &[], 0)?;
    let mut call = subject::call()?;
    call.args(["attach", &program.pid()]).current_dir("/").uid(NOBODY).gid(NOBODY);
    match call.output() {
        Ok(output) => {
            ensure!(output.status.code() == Some(1), "{output:?}");
            ensure!(text(&output.stderr).contains("belongs to another user (uid 0)"), "{output:?}");
        }
        Err(error) => println!("not run: another user cannot run the binary: {error}"),
    }
    for jre in jre::turn(jre::all()?) {
        if !runs_as_nobody(&jre) {
            println!("not run: another user cannot run Java {}", jre.version);
            continue;
        }
        let mut program = start_as(&jre, &[], 0, Some(NOBODY))?;
        program.attached(&[])?;
        program.run("call 10")?;
        program.end()?;
        assert_eq!(entries_of(&program.methods()?, "Attached.leaf"), 10, "Java {}", jre.version);
    }
    Ok(())
}

fn runs_as_nobody(jre: &Jre) -> bool {
    let mut java = jre.java();
    java.arg("-version").uid(NOBODY).gid(NOBODY);
    // Its user must be able to read the agent, too.
    let library = agent::library().unwrap();
    let mut read = Command::new("head");
    read.args(["-c", "1"]).arg(library).uid(NOBODY).gid(NOBODY);
    [java, read].iter_mut().all(|call| call.output().is_ok_and(|output| output.status.success()))
}

#[test]
fn a_program_that_is_stopped_is_given_up() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        let mut program = start(&jre, &[], 1)?;
        signal(&program.child, Signal::STOP);
        // Until the kernel says so.
        let stat = format!("/proc/{}/stat", program.pid());
        let end = Instant::now() + LONG;
        while !fs::read_to_string(&stat)?.contains(") T ") {
            ensure!(Instant::now() < end, "it does not stop");
            std::thread::sleep(Duration::from_millis(5));
        }
        let said = program.refused(&[])?;
        ensure!(said.contains("is stopped, by SIGSTOP or by a debugger; `kill -CONT"), "{said}");
        signal(&program.child, Signal::CONT);
        program.run("call 1")?;
        ensure!(is_tidy(&program)?);
        // It may have taken the late signal for a wish by now.
        program.attached(&[])?;
        program.run("call 7")?;
        program.end()?;
        ensure!(entries_of(&program.methods()?, "Attached.leaf") >= 7, "Java {}", jre.version);
    }
    Ok(())
}

#[test]
fn a_program_that_is_killed_meanwhile_does_no_harm() -> Result<()> {
    let jres = jre::all()?;
    for round in 0..8u64 {
        let mut program = start(&jres[round as usize % jres.len()], &[], 2)?;
        let attach =
            program.call(&["attach", &program.pid()])?.stdin(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        std::thread::sleep(Duration::from_millis(round * 12));
        program.child.kill()?;
        program.child.wait()?;
        let output = attach.wait_with_output()?;
        let said = text(&output.stderr);
        ensure!(matches!(output.status.code(), Some(0 | 1)), "round {round}: {output:?}");
        ensure!(said.contains("process"), "round {round}: {said}");
        if output.status.code() == Some(0) {
            // It may be killed before the first call; the profile can be read all the same.
            let read = program.methods().map_or_else(|error| error.to_string(), |_| String::new());
            ensure!(
                read.is_empty() || read.starts_with("the profile counts no method"),
                "round {round}: {read}"
            );
        }
        ensure!(is_tidy(&program)?);
    }
    Ok(())
}

#[test]
fn who_attaches_may_be_killed() -> Result<()> {
    let jre = jre::newest()?;
    for round in 0..6u64 {
        let mut program = start(&jre, &[], 2)?;
        let mut attach =
            program.call(&["attach", &program.pid()])?.stdin(Stdio::null()).stderr(Stdio::null()).spawn()?;
        std::thread::sleep(Duration::from_millis(round * 40));
        attach.kill()?;
        attach.wait()?;
        program.run("call 10")?;
        if program.at(&format!("Attached-{}.iprof", program.pid())).exists() {
            // The agent has the options: nothing else would remove them.
            assert_eq!(handed_over(&program)?, Vec::<PathBuf>::new(), "{round}");
        }
        program.end()?;
    }
    Ok(())
}

/// The files with options for this program that are left.
fn handed_over(program: &Program) -> Result<Vec<PathBuf>> {
    let mut left = Vec::new();
    for entry in fs::read_dir("/tmp")? {
        let path = entry?.path();
        let is_one =
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".instrument-attach-"));
        let folder = program.folder.path().display().to_string();
        if is_one && fs::read_to_string(&path).is_ok_and(|options| options.contains(&folder)) {
            left.push(path);
        }
    }
    Ok(left)
}

#[test]
fn recording_ends_and_the_program_is_as_before() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        let case = format!("Java {}", jre.version);
        let mut program = start(&jre, &[], 3)?;
        program.attached(&["-o", "a.iprof"])?;
        program.run("call 1000")?;
        let at = sites(&mut program)?;
        ensure!(at[0] > 0 && at[1] > 0, "{case}: {at:?}");
        program.stop()?;
        assert_eq!(sites(&mut program)?, [0, 0], "{case}");
        // Nobody answers any more, and nothing is recorded.
        let asked = program.call(&["ctl", &program.pid(), "status"])?.output()?;
        ensure!(asked.status.code() == Some(1), "{case}: {asked:?}");
        let before = fs::read(program.at("a.iprof"))?;
        program.run("call 5000")?;
        ensure!(fs::read(program.at("a.iprof"))? == before, "{case}: it is still written");
        let methods = program.recorded("a.iprof")?;
        assert_eq!(entries_of(&methods, "Attached.call"), 1, "{case}: {methods:?}");
        // Its threads were inside when it ended.
        ensure!(methods.iter().map(|m| m.open).sum::<u64>() < 100, "{case}: {methods:?}");
        let report = program.call(&["report", "-v", "a.iprof"])?.run_quietly()?;
        let said = text(&report.stdout) + &text(&report.stderr);
        ensure!(!said.contains("still writing") && said.contains("self-check passed"), "{case}: {said}");
        program.has_left(usize::MAX)?;
        // The next one may have its name.
        program.attached(&["-o", "a.iprof"])?;
        program.run("call 1")?;
        program.run("call 1")?;
        let recording = program.call(&["attach", &program.pid(), "-o", "a.iprof"])?.output()?;
        let said = text(&recording.stderr);
        ensure!(
            recording.status.code() == Some(2) && said.contains("is still recording into"),
            "{case}: {said}"
        );
        program.stop()?;
        let methods = program.recorded("a.iprof")?;
        assert_eq!(entries_of(&methods, "Attached.call"), 2, "{case}: {methods:?}");
        ensure!(!program.at("a-2.iprof").exists(), "{case}");
        ensure!(is_quiet(&program), "{case}: {}", program.stderr());
        program.end()?;
    }
    Ok(())
}

#[test]
fn the_recorder_of_another_version_is_left_alone() -> Result<()> {
    let agent = agent::library()?;
    let library = fs::read(&agent)?;
    // A word in a class of the recorder makes it another one.
    let (word, other) = (b"cannot create the profile", b"cannot create the Profile");
    let places: Vec<usize> =
        (0..library.len() - word.len()).filter(|&at| library[at..].starts_with(word)).collect();
    ensure!(!places.is_empty());
    for jre in jre::turn(jre::all()?) {
        let case = format!("Java {}", jre.version);
        let mut program = start(&jre, &[], 0)?;
        let mut changed = library.clone();
        places.iter().for_each(|&at| changed[at..at + word.len()].copy_from_slice(other));
        let [copy, older] = ["libcopy.so", "libolder.so"].map(|name| program.at(name));
        fs::write(&copy, &library)?;
        fs::write(&older, &changed)?;
        let [copy, older] = [&copy, &older].map(|path| path.to_string_lossy().into_owned());
        let record = |program: &mut Program, options: &[&str]| -> Result<()> {
            program.attached(&[options, &["-o", "a.iprof"]].concat())?;
            program.run("call 1")?;
            program.stop()?;
            assert_eq!(entries_of(&program.recorded("a.iprof")?, "Attached.call"), 1, "{case}");
            Ok(())
        };
        record(&mut program, &[])?;
        // One of the same version may come from another place.
        record(&mut program, &["--agent", &copy])?;
        let said = program.refused(&["--agent", &older])?;
        ensure!(said.contains("another version of instrument has recorded this program"), "{case}: {said}");
        record(&mut program, &[])?;
        ensure!(is_quiet(&program), "{case}: {}", program.stderr());
        program.end()?;
    }
    Ok(())
}

#[test]
fn recordings_follow_each_other_under_load() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        let mut program = start(&jre, &[BOTH_COMPILERS], 3)?;
        let mut files = usize::MAX;
        for round in 0..20u64 {
            let case = format!("Java {}, round {round}", jre.version);
            let name = format!("{round}.iprof");
            // Other ways to record, and other methods.
            let more: &[&str] = match round % 5 {
                1 => &["--record", "counts"],
                2 => &["--root", "Attached.call(int)"],
                3 => &["--record", "trace", "--exclude", "Attached.recurse(int)"],
                4 => &["--transform", "method-events,thread-links,allocation"],
                _ => &[],
            };
            program.attached(&[&["-o", &name], more].concat()).with_context(|| case.clone())?;
            program.run(&format!("call {}", 100 + round))?;
            ensure!(sites(&mut program)?.iter().all(|&at| at > 0), "{case}");
            program.run("fail 3")?;
            program.stop().with_context(|| case.clone())?;
            assert_eq!(sites(&mut program)?, [0, 0], "{case}");
            let methods = program.recorded(&name).with_context(|| case.clone())?;
            assert_eq!(entries_of(&methods, "Attached.call"), 1, "{case}: {methods:?}");
            let leaves = entries_of(&methods, "Attached.leaf");
            match round % 5 {
                2 => assert_eq!(leaves, 100 + round, "{case}: {methods:?}"),
                _ => ensure!(leaves > 100 + round, "{case}: {methods:?}"),
            }
            assert_eq!(entries_of(&methods, "Attached.recurse") > 0, !matches!(round % 5, 2 | 3), "{case}");
            program.has_left(files).with_context(|| case.clone())?;
            if round == 2 {
                files = program.files()?;
            }
        }
        program.end()?;
    }
    Ok(())
}

#[test]
fn calls_that_were_open_when_a_recording_ended_are_no_part_of_the_next() -> Result<()> {
    for (jre, record) in jre::each(&jre::all()?, &["tree", "trace", "counts"]) {
        let case = format!("Java {}, {record}", jre.version);
        let mut program = start(&jre, &[], 0)?;
        program.attached(&["-o", "a.iprof", "--record", record])?;
        program.run("in")?;
        program.run("in")?;
        program.stop()?;
        let methods = program.recorded("a.iprof")?;
        let serve = methods.iter().find(|m| m.name == "Attached.serve").context("serve")?;
        assert_eq!((serve.entries, serve.open), (2, 2), "{case}: {serve:?}");
        program.attached(&["-o", "b.iprof", "--record", record])?;
        program.run("call 10")?;
        program.run("fail 1")?;
        writeln!(program.stdin.as_mut().context("a pipe")?, "out")?;
        ensure!(program.line()? == "out");
        program.run("call 10")?;
        program.stop()?;
        let methods = program.recorded("b.iprof")?;
        assert_eq!(entries_of(&methods, "Attached.call"), 2, "{case}: {methods:?}");
        assert_eq!(entries_of(&methods, "Attached.serve"), 0, "{case}: {methods:?}");
        assert_eq!(methods.iter().map(|m| m.open).sum::<u64>(), 0, "{case}: {methods:?}");
        program.end()?;
    }
    Ok(())
}

#[test]
fn a_recording_of_some_time_ends_by_itself_and_is_reported() -> Result<()> {
    let mut program = start(&jre::newest()?, &[], 2)?;
    let output = program.attach(&["--for", "2s", "-o", "a.iprof", "--report", "report --counts"])?;
    ensure!(output.status.success(), "{output:?}");
    ensure!(text(&output.stdout).contains("Attached.recurse"), "{output:?}");
    ensure!(text(&output.stderr).contains("recording has ended: "), "{output:?}");
    assert_eq!(sites(&mut program)?, [0, 0]);
    // An interrupt ends it earlier.
    let mut attach = program.call(&["attach", &program.pid(), "--for", "1h", "-o", "b.iprof"])?;
    let attach = attach.stdin(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    subject::wait_for_entries(program.folder.path(), &["Attached.recurse"])?;
    let end = Instant::now() + LONG;
    while sites(&mut program)? == [0, 0] {
        ensure!(Instant::now() < end, "it does not begin");
    }
    signal(&attach, Signal::INT);
    let output = attach.wait_with_output()?;
    ensure!(output.status.success() && text(&output.stderr).contains("recording has ended"), "{output:?}");
    assert_eq!(sites(&mut program)?, [0, 0]);
    program.end()?;
    Ok(())
}

/// However often the roots are called meanwhile.
#[test]
fn a_recording_of_some_calls_of_a_root_ends_by_itself() -> Result<()> {
    let mut program = start(&jre::newest()?, &[], 2)?;
    for record in ["tree", "counts"] {
        let profile = format!("{record}.iprof");
        let words =
            ["--root", "Attached.recurse(int)", "--calls", "1000", "--record", record, "-o", &profile];
        let output = program.attach(&words)?;
        ensure!(output.status.success(), "{output:?}");
        ensure!(text(&output.stderr).contains("recording has ended: "), "{output:?}");
        assert_eq!(sites(&mut program)?, [0, 0]);
        let methods = program.recorded(&profile)?;
        let root = methods.iter().find(|m| m.name.contains("Attached.recurse")).context("the root")?;
        ensure!(root.exits >= 1000, "{root:?}");
    }
    let output = program.attach(&["--calls", "1000"])?;
    ensure!(output.status.code() == Some(2) && text(&output.stderr).contains("--root METHOD"), "{output:?}");
    // A root that nothing fits would be waited for: that is said at once.
    let pid = program.pid();
    let mut attach =
        program.call(&["attach", &pid, "--root", "Attached#recurze", "--calls", "1", "-o", "c.iprof"])?;
    let mut attach = attach.stdin(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let mut lines = BufReader::new(attach.stderr.take().context("stderr")?).lines();
    let warning = lines.by_ref().map_while(Result::ok).find(|line| line.contains("Attached#recurze"));
    ensure!(warning.as_ref().is_some_and(|line| line.contains("Ctrl-C")), "{warning:?}");
    signal(&attach, Signal::INT);
    ensure!(lines.map_while(Result::ok).any(|line| line.contains("recording has ended")));
    ensure!(attach.wait()?.success());
    program.end()
}

/// A misspelt pattern records nothing, and says so.
#[test]
fn patterns_that_nothing_fits_are_named() -> Result<()> {
    let mut program = start(&jre::newest()?, &[], 1)?;
    let warned = |output: &Output, patterns: &[&str], code: i32| {
        let said = text(&output.stderr);
        let all = patterns.iter().all(|pattern| said.contains(pattern));
        let count = said.matches("warning: ").count();
        ensure!(output.status.code() == Some(code) && all && count == patterns.len(), "{code}: {said}");
        Ok(())
    };
    let misspelt = ["--include", "Atached", "--root", "Attached#cal", "-o", "a.iprof"];
    warned(&program.attach(&misspelt)?, &["'Atached'", "'Attached#cal'"], 0)?;
    let stopped = program.call(&["ctl", &program.pid(), "stop"])?.output()?;
    warned(&stopped, &["'Atached'", "'Attached#cal'"], 0)?;
    let timed =
        ["--include", "Attached**", "--exclude", "Atached", "-o", "b.iprof", "--for", "100ms", "--strict"];
    warned(&program.attach(&timed)?, &["'Atached'"], 3)?;
    program.end()
}

#[test]
fn what_the_recorder_keeps_is_not_asked_for_in_another_way() -> Result<()> {
    let mut program = start(&jre::newest()?, &[], 2)?;
    program.attached(&["-o", "a.iprof"])?;
    program.run("call 10")?;
    program.stop()?;
    assert_eq!(sites(&mut program)?, [0, 0]);
    program.recorded("a.iprof")?;
    for (options, reason) in [
        (&["--timing", "all"][..], "the first recording of this program had timing=samples"),
        (&["--clock", "monotonic"], "the recorder keeps the clock"),
    ] {
        let said = program.refused(options)?;
        ensure!(said.contains(reason), "{options:?}: {said}");
    }
    // One that could not begin leaves nothing behind.
    ensure!(program.refused(&["-o", "/nowhere/x.iprof"])?.contains("cannot be created"));
    assert_eq!(sites(&mut program)?, [0, 0]);
    program.attached(&["-o", "b.iprof"])?;
    ensure!(program.refused(&[])?.contains("the agent is loaded already, and records"));
    program.run("call 10")?;
    program.stop()?;
    assert_eq!(entries_of(&program.recorded("b.iprof")?, "Attached.call"), 1);
    program.end()
}

/// Each profile has the threads and waits of its time and of no other.
#[test]
fn monitors_are_recorded_again_and_again() -> Result<()> {
    for jre in jre::ends()? {
        let mut program = start(&jre, &[], 2)?;
        for (round, times) in [1, 3, 0, 2].into_iter().enumerate() {
            let (case, file) = (format!("Java {}, round {round}", jre.version), format!("{round}.iprof"));
            program.attached(&["--monitors", "--include", "Attached**", "-o", &file])?;
            for _ in 0..times {
                program.run("contend")?;
            }
            program.stop()?;
            // Between two recordings nobody listens.
            program.run("contend")?;
            let file = program.at(&file);
            let report = subject::call()?.args(["monitors", "--json"]).arg(&file).run_quietly()?;
            let report: serde_json::Value = serde_json::from_slice(&report.stdout)?;
            let rows = report["processes"][0]["monitors"].as_array().context("monitors")?;
            let locks = rows.iter().filter(|row| row["class"] == "Attached$Lock");
            let contended: u64 = locks.map(|row| row["contended"]["times"].as_u64().unwrap_or(0)).sum();
            assert_eq!(contended, times, "{case}: {report}");
            let profile = Profile::open(&fs::File::open(&file)?)?;
            let named = |name: &str| profile.java_threads.iter().filter(|thread| thread.name == name).count();
            assert_eq!((named("worker-1"), named("contender") as u64), (1, times), "{case}");
            assert_eq!(profile.damage, [], "{case}");
        }
        program.end()?;
        ensure!(program.stderr().lines().all(|line| !line.starts_with("instrument: threads")));
    }
    Ok(())
}

#[test]
fn a_program_that_was_started_with_the_agent_can_be_left_and_joined() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        let option = agent::option("name=first")?;
        let mut program = start(&jre, &[&option], 2)?;
        program.run("call 10")?;
        ensure!(sites(&mut program)?[0] > 0);
        program.stop()?;
        assert_eq!(sites(&mut program)?, [0, 0], "Java {}", jre.version);
        program.attached(&["-o", "b.iprof"])?;
        program.run("call 20")?;
        program.end()?;
        assert_eq!(entries_of(&program.recorded("b.iprof")?, "Attached.call"), 1, "Java {}", jre.version);
    }
    Ok(())
}
