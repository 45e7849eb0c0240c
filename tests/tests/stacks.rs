//! `--record samples`: whole stacks without any probe. They agree with what programs measure of themselves, survive what is hard for whoever walks
//! stacks, and are profiles like any others.

use crate::samples::{
    agrees, are_met_on_carriers, has_all_samples, names, profile, samples, short_threads_are_added_up, truth,
    weight,
};
use anyhow::{Context, Result, ensure};
use instrument_tests::agent::{self, Outcome, finish, option, run};
use instrument_tests::corpus::Corpus;
use instrument_tests::jre::{self, BOTH_COMPILERS, Jre, each};
use instrument_tests::machine::Jdk;
use instrument_tests::resident::{Program, text};
use instrument_tests::subject;
use instrument_trace::Profile;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn class_path() -> String {
    static CLASSES: OnceLock<TempDir> = OnceLock::new();
    let folder = CLASSES.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        agent::compile(&["Pages.java", "Phases.java", "StackStorm.java"], 8, folder.path()).unwrap();
        folder
    });
    folder.path().display().to_string()
}

fn sampled(jre: &Jre, flags: &[&str], options: &str, program: &[&str]) -> Result<Outcome> {
    let (agent, classes) = (option(&format!("record=samples,{options}"))?, class_path());
    let outcome = run(jre, &[&[BOTH_COMPILERS], flags, &[&agent, "-cp", &classes], program].concat())?;
    ensure!(outcome.code == Some(0), "{}: {}", outcome.stdout, outcome.stderr);
    Ok(outcome)
}

/// All samples; ns of CPU time; of the samples, those whose stack could not be walked.
fn sums(profile: &Profile) -> Result<(u64, u64, u64)> {
    let names = names(profile)?;
    let (mut all, mut cpu, mut failed) = (0, 0, 0);
    for thread in &profile.threads {
        cpu += thread.samples.context("samples of a thread")?.cpu_ns;
        all += weight(thread).map_or(0, |(all, _)| all);
        for node in &thread.tree.as_ref().context("a tree")?.nodes {
            ensure!(node.entries == 0, "a call was counted");
            let name = node.consumer.method().and_then(|id| names.get(&id)).context("a method")?;
            failed += if name.starts_with("(stacks).(walk failed") { node.samples } else { 0 };
        }
    }
    Ok((all, cpu, failed))
}

#[test]
fn phases_have_the_cpu_time_that_they_measure_themselves_without_probes() -> Result<()> {
    let ways = [
        &["-XX:+UseSerialGC"][..],
        &["-XX:+UseParallelGC", "-Xint"],
        &["-XX:TieredStopAtLevel=1"],
        &["-Xcheck:jni"],
    ];
    let machines: Vec<Jre> = jre::all()?.into_iter().filter(|jre| jre.version >= 11).collect();
    for (jre, flags) in each(&machines, &ways) {
        let outcome = sampled(&jre, flags, "sample-rate=1000", &["Phases", "phases"])?;
        agrees(&outcome).with_context(|| format!("{} {flags:?}", jre.version))?;
        let (all, _, failed) = sums(&profile(&outcome)?)?;
        ensure!(20 * failed < all, "{failed} of {all} stacks were not walked");
    }
    Ok(())
}

#[test]
fn storms_of_threads_classes_and_compilers_and_deep_stacks_do_no_harm() -> Result<()> {
    let machines: Vec<Jre> = jre::all()?.into_iter().filter(|jre| jre.version >= 11).collect();
    let storms = [
        ("Z", "unload"),
        ("G1", "threads"),
        ("Serial", "deopt"),
        ("Parallel", "unload"),
        ("G1", "unload"),
        ("Serial", "unload"),
        ("Z", "deopt"),
    ];
    let storms = if Corpus::full() { &storms[..] } else { &storms[..3] };
    for (jre, (collector, scenario)) in each(&machines, storms) {
        let collector = format!("-XX:+Use{collector}GC");
        let outcome = sampled(&jre, &[&collector], "sample-rate=1000", &["StackStorm", scenario])?;
        ensure!(outcome.stdout == "done\n", "{scenario}, {collector}: {}", outcome.stderr);
        let profile = profile(&outcome)?;
        sums(&profile)?;
        has_all_samples(&profile, "main").with_context(|| format!("{scenario}, {collector}"))?;
    }
    for (jre, (flag, scenario)) in each(&machines, &[(None, "churn"), (Some("-Xss512k"), "deep")]) {
        let flags = Vec::from_iter(flag);
        let outcome = sampled(&jre, &flags, "sample-rate=1000", &["Phases", scenario])?;
        agrees(&outcome).with_context(|| format!("{} {scenario}", jre.version))?;
        if scenario == "churn" {
            short_threads_are_added_up(&outcome)?;
        }
    }
    Ok(())
}

#[test]
fn stacks_of_virtual_threads_are_those_of_their_carriers() -> Result<()> {
    for jre in jre::all()?.into_iter().filter(|jre| jre.version >= 21) {
        are_met_on_carriers(&sampled(&jre, &[], "sample-rate=1000", &["Phases", "virtual"])?)?;
    }
    Ok(())
}

#[test]
fn an_include_pattern_leaves_its_frames_and_charges_them_with_what_they_called() -> Result<()> {
    let jre = jre::newest()?;
    let whole = samples(&profile(&sampled(&jre, &[], "sample-rate=500", &["StackStorm", "both"])?)?)?;
    let part = "sample-rate=1000,include=StackStorm.left:StackStorm.main";
    let outcome = sampled(&jre, &[], part, &["StackStorm", "halves"])?;
    let (profile, truth) = (profile(&outcome)?, truth(&outcome));
    has_all_samples(&profile, "main")?;
    let part = samples(&profile)?;
    ensure!(whole.contains_key("StackStorm.right") && whole.contains_key("StackStorm.spin"), "{whole:?}");
    let kept: Vec<&str> =
        part.keys().map(String::as_str).filter(|name| !name.starts_with("(stacks).")).collect();
    assert_eq!(kept, ["StackStorm.left", "StackStorm.main"]);
    // What `right` took is charged to `main`, beside what came before: as the program measures itself, within four standard deviations.
    let main = profile.threads.iter().find(|thread| thread.name == "main").context("main")?;
    let (_, each) = weight(main).context("samples of main")?;
    let off = ["left", "main"].map(|name| {
        let expected = truth[name] / each;
        (part[&format!("StackStorm.{name}")] as f64 - expected) / expected.sqrt()
    });
    ensure!(off[0].abs() < 4.0 && off[1] > -4.0, "{part:?} {truth:?}, {each} ns each");
    Ok(())
}

/// A kill loses at most the last second.
#[test]
fn a_program_that_is_killed_keeps_its_stacks() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut java = jre::newest()?.java();
    java.args([
        BOTH_COMPILERS,
        &option("record=samples,out=killed.iprof")?,
        "-cp",
        &class_path(),
        "Phases",
        "endless",
    ]);
    let mut child = java.current_dir(folder.path()).stdout(Stdio::piped()).spawn()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().context("its output")?).read_line(&mut line)?;
    let stat = format!("/proc/{}/stat", child.id());
    let start = Instant::now();
    let mut cpu = 0.0;
    // In ticks of 10 ms (proc(5)): fields 14 and 15.
    while cpu < 4e9 && start.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(100));
        let text = fs::read_to_string(&stat)?;
        let fields = text.rsplit(')').next().unwrap_or_default().split_ascii_whitespace();
        cpu = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() * 1e7;
    }
    child.kill()?;
    child.wait()?;
    let profile = Profile::parse(&fs::read(folder.path().join("killed.iprof"))?)?;
    let (all, known, _) = sums(&profile)?;
    // What the start of the virtual machine took was before.
    ensure!(known as f64 > cpu - 2e9 && all as f64 * 1e7 > cpu - 2e9, "{all} samples, {known} of {cpu} ns");
    Ok(())
}

fn instrument_run(options: &[&str], program: &[&str], folder: &Path) -> Result<Outcome> {
    let mut command = subject::call()?;
    command.current_dir(folder).arg("run").args(["--record", "samples"]).args(options);
    command.arg("--agent").arg(agent::library()?).arg("--").arg(Jdk::default_kit()?.home.join("bin/java"));
    finish({
        command.args(["-cp", &class_path()]).args(program);
        command
    })
}

fn told(words: &[&str], folder: &Path) -> Result<String> {
    let output = subject::call()?.current_dir(folder).args(words).output()?;
    ensure!(output.status.success(), "{words:?}: {}", text(&output.stderr));
    Ok(text(&output.stdout))
}

#[test]
fn reports_and_exports_take_stacks_and_claim_no_calls() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let at = folder.path();
    for name in ["a", "b"] {
        let outcome = instrument_run(
            &["-o", &at.join(format!("{name}.iprof")).display().to_string()],
            &["StackStorm", "both"],
            at,
        )?;
        ensure!(outcome.code == Some(0) && outcome.stdout == "done\n", "{}", outcome.stderr);
    }
    let report = told(&["report", "-v", "a.iprof"], at)?;
    ensure!(report.contains("calls       not counted") && report.contains("StackStorm.left()"), "{report}");
    ensure!(!report.contains("counts balance") && !report.contains("probes took"), "{report}");
    let tree = told(&["xtree", "a.iprof"], at)?;
    let main =
        tree.lines().find(|line| line.ends_with("StackStorm.main(String[])")).context("a row of main")?;
    ensure!(main.trim_start().starts_with("- ") && main.contains(" ms ") || main.contains(" s "), "{main}");
    for (format, part) in [("folded", "StackStorm.left"), ("speedscope", "StackStorm.left"), ("pprof", "")] {
        let file = format!("out.{format}");
        told(&["export", "--format", format, "-o", &file, "a.iprof"], at)?;
        let bytes = fs::read(at.join(&file))?;
        ensure!(!bytes.is_empty() && String::from_utf8_lossy(&bytes).contains(part), "{format}");
    }
    ensure!(!report.contains("overhead") && !report.contains("--keep-threads"), "{report}");
    let sum = told(&["xprof", "--json", "a.iprof", "b.iprof"], at)?;
    ensure!(sum.contains("StackStorm.left"), "{sum}");
    ensure!(told(&["merge", "a.iprof", "b.iprof"], at)?.contains("StackStorm.left"));
    let changes = told(&["diff", "a.iprof", "b.iprof"], at)?;
    ensure!(changes.contains("running "), "{changes}");
    told(&["export", "--format", "parquet", "-o", "set", "a.iprof", "b.iprof"], at)?;
    ensure!(fs::read_dir(at.join("set"))?.count() > 0);
    // There is nothing exact to compare.
    let gate = subject::call()?
        .current_dir(at)
        .args(["gate", "learn", "-o", "x.gate", "a.iprof", "b.iprof"])
        .output()?;
    let said = text(&gate.stderr);
    ensure!(gate.status.code() == Some(4) && said.contains("no calls are counted"), "{said}");
    Ok(())
}

#[test]
fn what_does_not_go_with_stacks_is_refused_with_the_reason() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for (options, part) in [
        (&["--heap", "counts"][..], "--heap"),
        (&["--root", "StackStorm.left"], "--root"),
        (&["--transform", "method-events"], "--transform"),
        (&["--monitors"], "--monitors"),
        (&["--timing", "all"], "--timing"),
        (&["--sample-rate", "0"], "--sample-rate"),
        (&["--sample-event", "faults"], "page-faults"),
        (&["--sample-event", "cycles:10"], "100000"),
        (&["--sample-event", "cpu:10"], "sample rate"),
        (&["--sample-event", "cycles", "--sample-rate", "10"], "--sample-event cycles:N"),
    ] {
        let outcome = instrument_run(options, &["StackStorm", "both"], folder.path())?;
        ensure!(outcome.code == Some(2) && outcome.stderr.contains(part), "{options:?}: {}", outcome.stderr);
    }
    let classes = PathBuf::from(class_path());
    let output = subject::call()?.args(["--record", "samples"]).arg(classes).args(["-o", "x"]).output()?;
    let said = text(&output.stderr);
    ensure!(output.status.code() == Some(2) && said.contains("instrument run --record samples"), "{said}");
    // The agent by itself says it, and the program runs as it is.
    for (options, part) in [
        ("record=samples,heap=counts", "leave out heap"),
        ("sample-rate=5", "record=samples"),
        ("sample-event=cycles", "record=samples"),
        ("record=samples,sample-event=cycles,sample-rate=5", "sample-event=cycles:N"),
        ("record=samples,sample-event=faults", "page-faults"),
    ] {
        let outcome = run(&jre::newest()?, &[&option(options)?, "-cp", &class_path(), "StackStorm", "both"])?;
        ensure!(outcome.stderr.contains(part) && outcome.stdout == "done\n", "{}", outcome.stderr);
        ensure!(outcome.profiles() == 0);
    }
    Ok(())
}

/// The kernel counts page faults on every machine. What the program reads of `/proc` is the judge.
#[test]
fn another_event_than_cpu_time_is_sampled() -> Result<()> {
    for jre in jre::turn(jre::all()?).into_iter().filter(|jre| jre.version >= 11) {
        // As many faults as pages of 4 KiB, also where the system has large ones for all.
        let flags = ["-Xms600m", "-Xmx600m", "-Xmn500m", "-XX:+UseSerialGC", "-XX:-UseTransparentHugePages"];
        let outcome = sampled(&jre, &flags, "sample-event=page-faults:50", &["Pages"])?;
        let (profile, truth) = (profile(&outcome)?, truth(&outcome));
        ensure!(profile.sampled_event() == Some("page-faults"));
        let main = profile.threads.iter().find(|thread| thread.name == "main").context("main")?;
        let (all, each) = weight(main).context("samples of main")?;
        let samples = samples(&profile)?;
        for name in ["many", "few"] {
            let (found, faults) = (samples[&format!("Pages.{name}")] as f64, truth[name]);
            ensure!(faults > 1_000.0, "{name}: only {faults} faults");
            // Within four standard deviations, and what the thread did before its event was there.
            let off = (found * each - faults).abs();
            ensure!(
                off < 4.0 * each * found.sqrt() + 0.05 * faults,
                "{name}: {found} of {all} samples of {each}, {faults} by itself"
            );
        }
        let counted = main.samples.context("of main")?.cpu_ns as f64;
        ensure!(
            (0.8 * (truth["many"] + truth["few"])..=1.1 * truth["main"]).contains(&counted),
            "{counted} of {truth:?}"
        );
    }
    Ok(())
}

/// As few as there may be: the program is never harmed, and what could not be sampled is said.
#[test]
fn few_signals_and_descriptors_and_the_shortest_period_do_no_harm() -> Result<()> {
    let jre = jre::newest()?;
    let java = jre.java();
    let limited = |limit: &str, period: u32| {
        let mut command = Command::new("prlimit");
        command.arg(limit).arg(java.get_program()).args(java.get_args());
        command.arg(option(&format!("record=samples,sample-event=page-faults:{period}"))?);
        finish({
            command.args(["-Xmx600m", "-cp", &class_path(), "Pages"]);
            command
        })
    };
    for (limit, period, is_sampled) in [
        ("--core=0:0", 1, true),
        ("--sigpending=0:0", 50, false),
        ("--sigpending=24:24", 50, true),
        ("--nofile=48:48", 50, true),
    ] {
        let outcome = limited(limit, period)?;
        let said = &outcome.stderr;
        ensure!(outcome.code == Some(0) && outcome.stdout.contains("few "), "{limit} {period}: {said}");
        if !is_sampled {
            ensure!(said.contains("ulimit -i"), "{said}");
            continue;
        }
        let (profile, truth) = (profile(&outcome)?, truth(&outcome));
        // No thread's CPU time was taken for events.
        let counted: u64 = profile.threads.iter().filter_map(|thread| Some(thread.samples?.cpu_ns)).sum();
        ensure!(counted < 2_000_000 && truth["main"] > 1_000.0, "{limit} {period}: {counted} {truth:?}");
    }
    Ok(())
}

/// Where the machine has no such counter `instrument run` says so, and starts nothing.
#[test]
fn a_counter_that_the_machine_has_not_is_refused_before_the_program_starts() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let outcome = instrument_run(&["--sample-event", "cycles"], &["StackStorm", "both"], folder.path())?;
    let is_refused = outcome.code == Some(2)
        && outcome.stdout.is_empty()
        && outcome.stderr.contains("--sample-event cycles: ")
        && outcome.stderr.contains("perf_event_open");
    ensure!(
        is_refused || outcome.code == Some(0) && outcome.stdout == "done\n",
        "{}{}",
        outcome.stdout,
        outcome.stderr
    );
    Ok(())
}

/// Where the machine has the counter the profile has its events, and otherwise the reason is said and the program runs as it is.
#[test]
fn a_counter_of_the_processor_is_sampled_or_the_reason_said() -> Result<()> {
    let jre = jre::newest()?;
    let outcome = run(
        &jre,
        &[&option("record=samples,sample-event=cycles")?, "-cp", &class_path(), "StackStorm", "both"],
    )?;
    ensure!(outcome.stdout == "done\n", "{}", outcome.stderr);
    if outcome.profiles() == 0 {
        ensure!(
            outcome.stderr.contains("sample-event=cycles: ") && outcome.stderr.contains("perf_event_open"),
            "{}",
            outcome.stderr
        );
    } else {
        let profile = profile(&outcome)?;
        ensure!(profile.sampled_event() == Some("cycles"));
        ensure!(samples(&profile)?["StackStorm.main"] > 0);
    }
    Ok(())
}

#[test]
fn without_timers_the_program_runs_as_it_is() -> Result<()> {
    let java = jre::newest()?.java();
    let words = [
        option("record=samples")?,
        "-cp".to_owned(),
        class_path(),
        "StackStorm".to_owned(),
        "both".to_owned(),
    ];
    let mut limited = Command::new("prlimit");
    limited.arg("--sigpending=3:3").arg(java.get_program()).args(words);
    let outcome = finish(limited)?;
    let said = &outcome.stderr;
    ensure!(outcome.code == Some(0) && outcome.stdout == "done\n", "{said}");
    ensure!(said.contains("timer_create") && said.contains("ulimit -i"), "{said}");
    Ok(())
}

#[test]
fn a_program_that_runs_is_sampled_for_a_while_and_again() -> Result<()> {
    for jre in jre::all()?.into_iter().filter(|jre| jre.version >= 11) {
        let mut program = Program::start(&jre, &[], &["Attached", "3"], None)?;
        let files = program.files()?;
        for (name, options) in [
            ("a", &["--record", "samples"][..]),
            ("b", &[]),
            ("c", &["--record", "samples", "--sample-event", "wall"]),
        ] {
            let file = format!("{name}.iprof");
            program.attached(&[options, &["-o", &file]].concat())?;
            for _ in 0..20 {
                program.run("call 1000")?;
            }
            std::thread::sleep(Duration::from_millis(1200));
            program.stop()?;
            let profile = Profile::parse(&fs::read(program.at(&file))?)?;
            if options.is_empty() {
                ensure!(!program.recorded(&file)?.is_empty());
            } else {
                let (_, cpu, _) = sums(&profile)?;
                ensure!(cpu > 0, "{file}");
                let names: Vec<&str> = profile.threads.iter().map(|thread| &*thread.name).collect();
                ensure!(names.contains(&"worker-*"), "{names:?}");
                // Threads that were there already wait under the names that Java gives them.
                let (is_wall, handler) = (name == "c", names.contains(&"Reference Handler"));
                ensure!(!is_wall || handler && profile.sampled_event() == Some("wall"), "{names:?}");
            }
        }
        let output =
            program.attach(&["--record", "samples", "--for", "1s", "-o", "d.iprof", "--report", "report"])?;
        let said = text(&output.stdout);
        ensure!(output.status.success() && said.contains("not counted"), "{said}{}", text(&output.stderr));
        program.has_left(files + 2)?;
        program.end()?;
    }
    Ok(())
}
