//! The clock that the agent gives to the recorder: which one it is, that it shows what the virtual machine's does, and that what goes wrong in
//! a reading of it harms nobody.

use anyhow::{Context, Result, ensure};
use instrument_tests::agent::{self, Outcome, option, run};
use instrument_tests::jre;
use instrument_tests::shared;
use instrument_trace::Profile;
use std::fs;

fn class_path() -> String {
    shared::folder("clock", |folder| {
        agent::compile(&["Program.java", "Moments.java", "Stopped.java"], 8, folder)?;
        Ok(())
    })
    .display()
    .to_string()
}

fn profile(outcome: &Outcome) -> Result<Profile> {
    let mut files = fs::read_dir(outcome.folder.path())?.map(|entry| Ok(entry?.path()));
    let file = files
        .find(|path: &Result<_>| path.as_ref().is_ok_and(|p| p.extension().is_some_and(|e| e == "iprof")));
    Ok(Profile::parse(&fs::read(file.context("a profile")??)?)?)
}

/// As the agent decides it.
fn counter_is_used() -> bool {
    let source = fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    source.is_ok_and(|name| ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page"].contains(&name.trim()))
        && cfg!(target_arch = "x86_64")
        && processor.contains("nonstop_tsc")
}

#[test]
fn the_profile_says_which_clock_it_was_and_how_true() -> Result<()> {
    for (jre, (options, counter)) in jre::each(
        &jre::all()?,
        &[("", counter_is_used()), ("clock=tsc", counter_is_used()), ("clock=monotonic", false)],
    ) {
        let outcome = run(&jre, &["-Xcheck:jni", &option(options)?, "-cp", &class_path(), "Program"])?;
        ensure!(outcome.code == Some(0), "{}", outcome.stderr);
        let told = options == "clock=tsc" && !counter;
        assert_eq!(outcome.stderr.starts_with("instrument: clock=tsc: "), told, "{}", outcome.stderr);
        let profile = profile(&outcome)?;
        let properties = &profile.copies[&1].properties;
        assert_eq!(properties["clock"], if counter { "tsc" } else { "monotonic" }, "{options}");
        assert_eq!(properties.contains_key("clock.error"), counter);
        assert_eq!(properties.contains_key("clock.drift"), counter);
        if counter {
            let error: f64 = properties["clock.error"].parse()?;
            let drift: f64 = properties["clock.drift"].parse()?;
            let ran = (profile.shutdown_clock - profile.start_clock) as f64;
            // Beside the error of its speed, what the system corrects of its own, and a reading that was interrupted.
            ensure!(error > 0.0 && drift.abs() < 1e6 + ran * 1e-3, "{error} ppm, {drift} ns of {ran}");
        }
    }
    Ok(())
}

/// The program prints System.nanoTime() around and within a call.
#[test]
fn both_clocks_show_the_same_moments() -> Result<()> {
    for (jre, flags) in jre::each(&jre::all()?, &[&[][..], &["-Xint"]]) {
        let (agent, path) = (option("timing=all")?, class_path());
        let words = [&[agent.as_str()][..], flags, &["-cp", &path, "Moments"]].concat();
        let outcome = run(&jre, &words)?;
        ensure!(outcome.code == Some(0), "{}", outcome.stderr);
        let moments: Vec<u64> = outcome.stdout.lines().map(str::parse).collect::<Result<_, _>>()?;
        let [before, begin, end, after] = moments[..] else { anyhow::bail!("{}", outcome.stdout) };
        let profile = profile(&outcome)?;
        let main = profile.threads.iter().find(|t| t.name == "main").context("the main thread")?;
        let tree = main.tree.as_ref().context("a tree")?;
        let pause = tree.nodes.iter().find(|node| node.closes.exits == 1).context("a call that ended")?;
        // What the lines through two readings are off by, and what readings out of order are.
        let slack = 100_000;
        ensure!(
            end - begin <= pause.ns + slack && pause.ns <= after - before + slack,
            "{moments:?} {pause:?}"
        );
        // The last event is the exit of the call, or the loading of a class when the program ends.
        ensure!(
            end <= main.last_event + slack && main.last_event <= profile.shutdown_clock + slack,
            "{moments:?} {main:?}"
        );
        let open = main.stack[0].since;
        ensure!(main.start <= open && open <= before + slack, "{moments:?} {open}");
        ensure!(profile.start_clock <= main.start && after <= profile.shutdown_clock + slack);
    }
    Ok(())
}

/// A thread may be stopped in the very reading of the clock; or, where probes are interpreted, between any two stores, so that calls need
/// not balance. (Not as a trace: that does much I/O, and a thread that is stopped within
/// that of the JDK may leave it broken, or run on.)
#[test]
fn stopped_threads_do_no_harm() -> Result<()> {
    for jre in jre::all()?.into_iter().filter(|jre| jre.version < 20) {
        for flags in [&[][..], &["-Xint"], &["-XX:TieredStopAtLevel=1"]] {
            let (agent, path) = (option("")?, class_path());
            let words = [&[agent.as_str()][..], flags, &["-cp", &path, "Stopped", "40"]].concat();
            let outcome = run(&jre, &words)?;
            let case = format!("Java {} {flags:?}: {}", jre.version, outcome.stderr);
            assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), "done\n"), "{case}");
            let profile = profile(&outcome)?;
            assert_eq!(profile.damage, [], "{case}");
            assert_eq!(profile.threads.len(), 41, "{case}");
            let longest = profile.shutdown_clock - profile.start_clock;
            // A call that is not timed is taken for one that is, with what reading the clock adds to it.
            let clock = profile.calibration().map_or(0.0, |calibration| calibration.inner);
            let nodes = profile.threads.iter().filter_map(|t| t.tree.as_ref()).flat_map(|t| &t.nodes);
            for node in nodes {
                // Not every call is timed: one that was interrupted stands for others.
                let error = 3.0 * node.variance.sqrt() + node.entries as f64 * clock;
                ensure!(node.ns as f64 <= longest as f64 + error, "{case}: {node:?}");
            }
        }
    }
    Ok(())
}
