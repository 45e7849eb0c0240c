//! Times from samples: programs that measure their own CPU time agree with what their profiles say, whatever else they do, and are not
//! harmed.

use anyhow::{Context, Result, ensure};
use instrument_names::id_map::{IdMap, gz};
use instrument_rewriter::class_file::mutf8;
use instrument_tests::agent::{self, Outcome, option, run};
use instrument_tests::jre::{self, BOTH_COMPILERS, Jre};
use instrument_tests::machine::{Jdk, Run, root};
use instrument_trace::{Profile, Thread, ThreadSamples};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

pub(crate) fn class_path() -> String {
    static CLASSES: OnceLock<TempDir> = OnceLock::new();
    let folder = CLASSES.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        agent::compile(&["Phases.java"], 8, folder.path()).unwrap();
        folder
    });
    folder.path().display().to_string()
}

fn phases(jre: &Jre, flags: &[&str], options: &str, scenario: &str) -> Result<Outcome> {
    let (agent, classes) = (option(&format!("timing=samples,{options}"))?, class_path());
    let arguments = [&[BOTH_COMPILERS], flags, &[&agent, "-cp", &classes, "Phases", scenario]].concat();
    let outcome = run(jre, &arguments)?;
    ensure!(outcome.code == Some(0), "{}", outcome.stderr);
    Ok(outcome)
}

pub(crate) fn profile(outcome: &Outcome) -> Result<Profile> {
    let file = outcome.profile().next().context("a profile")?;
    Ok(Profile::parse(&fs::read(file)?)?)
}

pub(crate) fn names(profile: &Profile) -> Result<HashMap<u32, String>> {
    let mut names = HashMap::new();
    for map in &profile.copies[&1].id_maps {
        for entry in IdMap::parse(&gz::decompress(map, 1 << 24)?)?.iter() {
            let [class, method] = [entry.class, entry.method.name].map(mutf8::escape);
            names.insert(entry.id, format!("{class}.{method}"));
        }
    }
    Ok(names)
}

/// Samples by method, of all threads: with those of callees if there are contexts.
pub(crate) fn samples(profile: &Profile) -> Result<BTreeMap<String, u64>> {
    let names = names(profile)?;
    let mut sums = BTreeMap::new();
    for thread in &profile.threads {
        let Some(tree) = &thread.tree else {
            for (id, method) in &thread.methods {
                *sums.entry(names[id].clone()).or_default() += method.samples;
            }
            continue;
        };
        ensure!(tree.has_samples, "{}", thread.name);
        let mut all: Vec<u64> = tree.nodes.iter().map(|node| node.samples).collect();
        for (i, node) in tree.nodes.iter().enumerate().rev() {
            if let Some(caller) = (node.parent as usize).checked_sub(1) {
                all[caller] += all[i];
            }
            if let Some(id) = node.consumer.method() {
                *sums.entry(names[&id].clone()).or_default() += all[i];
            }
        }
    }
    Ok(sums)
}

/// All samples of a thread, and what each stands for in ns.
pub(crate) fn weight(thread: &Thread) -> Option<(u64, f64)> {
    let rest = thread.samples.as_ref()?;
    let contexts: u64 = match &thread.tree {
        Some(tree) => tree.nodes.iter().map(|node| node.samples).sum(),
        None => thread.methods.values().map(|method| method.samples).sum(),
    };
    let all = contexts + rest.in_probes + rest.in_no_call + rest.unattributed;
    (all > 0).then(|| (all, rest.cpu_ns as f64 / all as f64))
}

/// What the program says of itself, in ns.
pub(crate) fn truth(outcome: &Outcome) -> BTreeMap<String, f64> {
    let words = outcome.stdout.lines().filter_map(|line| line.split_once(' '));
    words.filter_map(|(name, ns)| Some((name.to_owned(), ns.parse().ok()?))).collect()
}

/// Each phase has its time within four standard deviations of its number of samples, and not all are off to one side.
pub(crate) fn agrees(outcome: &Outcome) -> Result<()> {
    agrees_within(outcome, 1.0)?;
    has_all_samples(&profile(outcome)?, "main")
}

/// A thread has a sample for each period of its CPU time, within four standard deviations of so many: none is lost, and none counts twice. Not
/// where it lives for less than what passes between two looks of the kernel at its timers.
pub(crate) fn has_all_samples(profile: &Profile, name: &str) -> Result<()> {
    let thread = profile.threads.iter().find(|thread| thread.name == name).context("the thread")?;
    let (all, _) = weight(thread).context("samples of the thread")?;
    let ThreadSamples { cpu_ns, period_ns, .. } = thread.samples.context("samples of the thread")?;
    ensure!(period_ns > 0, "{name}: no period");
    let expected = cpu_ns as f64 / period_ns as f64;
    let off = (all as f64 - expected) / expected.sqrt();
    ensure!(off.abs() < 4.0, "{name}: {all} samples in {cpu_ns} ns, one each {period_ns} ns");
    Ok(())
}

/// CPU time of the threads whose names begin so, and how many samples they have.
fn of_threads(profile: &Profile, start: &str) -> (u64, u64) {
    let threads = profile.threads.iter().filter(|thread| thread.name.starts_with(start));
    let of = |thread: &Thread| {
        (thread.samples.map_or(0, |of| of.cpu_ns), weight(thread).map_or(0, |(all, _)| all))
    };
    threads.map(of).fold((0, 0), |(cpu, all), (more_cpu, more)| (cpu + more_cpu, all + more))
}

/// The short threads of `churn` have the CPU time of their work at least, and that of the whole threads at most, but for how they end.
pub(crate) fn short_threads_are_added_up(outcome: &Outcome) -> Result<()> {
    let ((cpu, _), said) = (of_threads(&profile(outcome)?, "Thread-"), truth(outcome));
    ensure!(
        (said["work"]..1.05 * said["threads"]).contains(&(cpu as f64)),
        "{cpu} ns, by themselves {said:?}"
    );
    Ok(())
}

/// The same where so many samples are as good as one.
pub(crate) fn agrees_within(outcome: &Outcome, of: f64) -> Result<()> {
    let profile = profile(outcome)?;
    let (samples, mut truth) = (samples(&profile)?, truth(outcome));
    truth.retain(|name, _| name.starts_with('p'));
    assert_eq!(truth.len(), 10, "{}", outcome.stdout);
    let main = profile.threads.iter().find(|thread| thread.name == "main").context("main")?;
    let (all, each) = weight(main).context("samples of main")?;
    let mut squares = 0.0;
    for (name, ns) in &truth {
        let found = samples[&format!("Phases.{name}")] as f64;
        let expected = ns / each;
        let off = (found - expected) / (of * expected).sqrt();
        ensure!(off.abs() < 4.0, "{name}: {found} of {all} samples of {each} ns, {ns} ns by itself");
        squares += off * off;
    }
    // Of ten squares with a mean of 1 (or less: samples are more even than chance) the sum is above 30 once in a thousand.
    ensure!(squares < 30.0, "{squares}");
    Ok(())
}

#[test]
fn phases_have_the_cpu_time_that_they_measure_themselves() -> Result<()> {
    for (jre, flag) in
        jre::each(&jre::all()?, &["-XX:+UseSerialGC", "-Xint", "-XX:TieredStopAtLevel=1", "-Xcheck:jni"])
    {
        agrees(&phases(&jre, &[flag], "", "phases")?).with_context(|| format!("{} {flag}", jre.version))?;
    }
    Ok(())
}

#[test]
fn short_threads_and_overflowing_stacks_do_no_harm() -> Result<()> {
    for jre in jre::turn(jre::all()?) {
        let outcome = phases(&jre, &[], "", "churn")?;
        agrees(&outcome)?;
        short_threads_are_added_up(&outcome)?;
        agrees(&phases(&jre, &["-Xss512k"], "", "deep")?)?;
    }
    Ok(())
}

/// What is counted is charged to the innermost method that is recorded.
#[test]
fn methods_that_are_counted_have_their_running_time() -> Result<()> {
    let own = "record=counts,exclude=Phases#work:Phases#ofThread";
    for (jre, flag) in
        jre::each(&jre::all()?, &["-XX:+UseSerialGC", "-Xint", "-XX:TieredStopAtLevel=1", "-Xcheck:jni"])
    {
        agrees(&phases(&jre, &[flag], own, "phases")?).with_context(|| format!("{} {flag}", jre.version))?;
    }
    for jre in jre::turn(jre::all()?) {
        agrees(&phases(&jre, &["-Xss512k"], own, "deep")?)?;
        let outcome = phases(&jre, &[], own, "churn")?;
        agrees(&outcome)?;
        short_threads_are_added_up(&outcome)?;
        // Their samples are in the one method that they run: within four standard deviations of nine of ten.
        let profile = profile(&outcome)?;
        let ((_, all), samples) = (of_threads(&profile, "Thread-"), samples(&profile)?);
        let met = samples.iter().filter(|(name, _)| name.contains("lambda$")).map(|(_, of)| of).sum::<u64>();
        let least = 0.9 * all as f64 - 4.0 * (0.09 * all as f64).sqrt();
        ensure!(met > 0 && met as f64 >= least, "{met} of {all}: {samples:?}");
    }
    Ok(())
}

/// The probes that count become a part of compiled methods.
#[test]
fn probes_that_count_are_told_from_the_methods_that_have_them() -> Result<()> {
    for (jre, flag) in jre::each(&jre::all()?, &["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]) {
        let bare = run(&jre, &[BOTH_COMPILERS, flag, "-cp", &class_path(), "Phases", "calls"])?;
        let outcome = phases(&jre, &[flag], "record=counts,exclude=Phases#ofThread", "calls")?;
        let profile = profile(&outcome)?;
        has_all_samples(&profile, "main")?;
        let main = profile.threads.iter().find(|thread| thread.name == "main").context("main")?;
        let (all, _) = weight(main).context("samples of main")?;
        let in_probes = main.samples.context("samples of main")?.in_probes as f64 / all as f64;
        // Of the time of a recorded call, so much is what it takes bare, and recording adds the rest. At least half of that is in probes, and not in what
        // they keep compilers from. Of the bare time at least an eighth stays outside of them: a processor does so much at once.
        let of_bare = truth(&outcome)["calls"] / truth(&bare)["calls"];
        let chance = 4.0 * (in_probes * (1.0 - in_probes) / all as f64).sqrt();
        let bounds = (1.0 - of_bare) / 2.0 - chance..1.0 - of_bare / 8.0 + chance;
        ensure!(
            bounds.contains(&in_probes),
            "{} {flag}: {in_probes} of {all}, {of_bare} bare: {bounds:?}",
            jre.version
        );
    }
    Ok(())
}

#[test]
fn counts_alone_have_no_samples() -> Result<()> {
    let agent = option("timing=none,record=counts")?;
    let outcome = run(&jre::newest()?, &[&agent, "-cp", &class_path(), "Phases", "calls"])?;
    ensure!(outcome.code == Some(0) && outcome.stderr.is_empty(), "{}", outcome.stderr);
    let profile = profile(&outcome)?;
    ensure!(profile.threads.iter().all(|thread| thread.samples.is_none()));
    ensure!(samples(&profile)?.values().all(|&samples| samples == 0));
    Ok(())
}

/// The loops of virtual threads are nearly all that the process does; compilers and schedulers have the rest.
pub(crate) fn are_met_on_carriers(outcome: &Outcome) -> Result<()> {
    let (profile, process) = (profile(outcome)?, truth(outcome)["process"]);
    let samples = samples(&profile)?;
    let [once, thrice] = ["once", "thrice"].map(|name| samples[&format!("Phases.{name}")] as f64);
    // A quarter of them, within four standard deviations.
    let off = (once - (once + thrice) / 4.0).abs();
    ensure!(off < 4.0 * ((once + thrice) * 3.0 / 16.0).sqrt(), "{once} and {thrice} samples");
    let mut periods = profile.threads.iter().filter_map(|thread| Some(thread.samples?.period_ns));
    let period = periods.find(|&period| period > 0).context("a period")? as f64;
    let share = (once + thrice) * period / process;
    ensure!((0.65..1.0).contains(&share), "{once} and {thrice} samples, each {period} ns, of {process} ns");
    Ok(())
}

#[test]
fn virtual_threads_are_met_on_their_carriers() -> Result<()> {
    let ways = ["", "record=counts,exclude=Phases#loop"];
    let machines: Vec<Jre> = jre::all()?.into_iter().filter(|jre| jre.version >= 21).collect();
    for (jre, options) in jre::each(&machines, &ways) {
        for flags in [&[][..], &["-Djdk.virtualThreadScheduler.parallelism=1"]] {
            are_met_on_carriers(&phases(&jre, flags, options, "virtual")?)?;
        }
    }
    Ok(())
}

#[test]
fn what_sleeps_has_no_samples() -> Result<()> {
    let outcome = phases(&jre::newest()?, &[], "", "asleep")?;
    agrees(&outcome)?;
    let profile = profile(&outcome)?;
    let period =
        profile.threads.iter().find_map(|thread| thread.samples.filter(|of| of.cpu_ns > 0)?.period_ns.into());
    let (cpu, all) = of_threads(&profile, "Thread-");
    // What they do before they sleep, of the second that they sleep for.
    ensure!(cpu < 20_000_000, "{cpu} ns");
    let expected = cpu as f64 / period.context("a period")? as f64;
    ensure!(all as f64 <= 1.0 + expected + 4.0 * expected.sqrt(), "{all} samples in {cpu} ns");
    let samples = samples(&profile)?;
    let met: u64 =
        ["sleeper", "waiter", "parked"].map(|method| samples[&format!("Phases.{method}")]).iter().sum();
    ensure!(met <= all, "{met} of {all}");
    Ok(())
}

#[test]
fn few_descriptors_and_signals_leave_threads_without_samples_but_with_their_time() -> Result<()> {
    let jre = jre::newest()?;
    for limits in ["ulimit -n 64", "ulimit -n 64; ulimit -i 3"] {
        let java = jre.java();
        let words = [
            option("timing=samples")?,
            "-cp".to_owned(),
            class_path(),
            "Phases".to_owned(),
            "churn".to_owned(),
        ];
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("{limits}; exec \"$0\" \"$@\"")).arg(java.get_program()).args(words);
        let outcome = agent::finish(shell)?;
        ensure!(outcome.code == Some(0), "{limits}: {}", outcome.stderr);
        let profile = profile(&outcome)?;
        let cpu: u64 =
            profile.threads.iter().filter_map(|thread| Some(thread.samples.as_ref()?.cpu_ns)).sum();
        // The ten phases and the short threads, by their own clocks, and how the main thread begins.
        let said = truth(&outcome);
        let phases: f64 = said.iter().filter(|(name, _)| name.starts_with('p')).map(|(_, ns)| ns).sum();
        let all = phases + said["work"]..1.15 * (phases + said["threads"]);
        ensure!(all.contains(&(cpu as f64)), "{limits}: {cpu} ns, by themselves {said:?}");
    }
    Ok(())
}

#[test]
fn a_signal_that_was_taken_and_given_back_leaves_no_times() -> Result<()> {
    let (folder, jdk) = (tempfile::tempdir()?, Jdk::default_kit()?);
    let classes = agent::compile(&["TakeSignal.java"], 8, folder.path())?.display().to_string();
    let include = jdk.home.join("include");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-O1", "-o"]).arg(folder.path().join("libtake.so"));
    cc.arg("-I").arg(&include).arg("-I").arg(include.join("linux")).arg(root().join("tests/c/take_signal.c"));
    cc.run_quietly()?;
    let path = format!("-Djava.library.path={}", folder.path().display());
    for options in ["timing=samples", "record=samples"] {
        let outcome = run(&jre::newest()?, &[&path, &option(options)?, "-cp", &classes, "TakeSignal"])?;
        // Others may have handlers, too.
        let taken = outcome.stdout.strip_suffix(" signals\n").context("an end")?;
        ensure!(taken.parse::<u32>()? > 0, "{options}: {}", outcome.stderr);
        let profile = profile(&outcome)?;
        let main = profile.threads.iter().find(|thread| thread.name == "main").context("main")?;
        let samples = main.samples.context("samples of main")?;
        ensure!(samples.signal_taken, "{options}: {samples:?}");
    }
    Ok(())
}

#[test]
fn a_program_that_is_killed_loses_the_time_of_one_sample() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut java = jre::newest()?.java();
    java.args([
        BOTH_COMPILERS,
        &option("timing=samples,out=killed.iprof")?,
        "-cp",
        &class_path(),
        "Phases",
        "endless",
    ]);
    let mut child = java.current_dir(folder.path()).stdout(Stdio::piped()).spawn()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().context("its output")?).read_line(&mut line)?;
    child.kill()?;
    child.wait()?;
    let profile = Profile::parse(&fs::read(folder.path().join("killed.iprof"))?)?;
    let said: f64 = line.trim().strip_prefix("p100 ").context("its time")?.parse()?;
    let main = profile.threads.iter().find(|thread| thread.name == "main").context("main")?;
    let (_, each) = weight(main).context("samples")?;
    let found = samples(&profile)?["Phases.p100"] as f64 * each;
    ensure!((found - said).abs() < 4.0 * (said * each).sqrt(), "{found} ns of {said}");
    Ok(())
}
