//! `--native`: calls of a program's native methods, by exported names and registered ones, under the agent and in rewritten jars.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use instrument_rewriter::class_file::ClassFile;
use instrument_rewriter::rewrite::{Reason, natives};
use instrument_tests::agent::{self, Outcome};
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::{Jdk, Run, root};
use instrument_tests::resident::{Program, text};
use instrument_tests::subject;
use serde_json::Value;
use tempfile::TempDir;

/// Native methods of `Natives`: calls under the agent, of these that ended with an exception, and calls that rewritten code makes by a name
/// that leads to the native method.
const CALLS: [(&str, u64, u64, u64); 24] = [
    ("Exported.add(II)I", 3018, 0, 3000),
    ("Exported.add(JJ)J", 1000, 0, 1000),
    ("Exported.greet(Ljava/lang/String;)Ljava/lang/String;", 1, 0, 1),
    ("Exported.secret()I", 2, 0, 2),
    ("Exported.locked(Ljava/lang/Runnable;)V", 3, 0, 3),
    ("Exported.lockedClass(Ljava/lang/Runnable;)V", 1, 0, 1),
    ("Exported.under_score()I", 1, 0, 1),
    ("Exported.größe()I", 1, 0, 1),
    ("Exported.back(Ljava/util/function/IntSupplier;)I", 1, 0, 1),
    ("Exported.again()I", 1, 0, 1),
    ("Exported.fail(Ljava/lang/String;)V", 3, 3, 3),
    ("Exported.spin(J)V", 5, 0, 5),
    ("Exported.missing()V", 1, 1, 1),
    ("Exported.mixed(JD[Ljava/lang/Object;FB)D", 1, 0, 1),
    ("Base.value()I", 4, 0, 6),
    ("Sub.value()I", 3, 0, 1),
    ("Square.area()I", 5, 0, 1),
    ("Counter.next()I", 6, 0, 0),
    ("Registered.twice(I)I", 5, 0, 5),
    ("Registered.twice(Ljava/lang/String;)Ljava/lang/String;", 2, 0, 2),
    ("Registered.locked()Z", 1, 0, 1),
    ("Registered.fail(Ljava/lang/String;)V", 1, 1, 1),
    ("SelfRegistered.registerNatives()V", 1, 0, 1),
    ("SelfRegistered.three(I)I", 4, 0, 4),
];
/// Beside them, so that the table need not be longer: `SelfRegistered.own`, once.
const OWN: &str = "SelfRegistered.own(J)J";
/// `spin` is told to take so long, five times.
const SPIN_NS: f64 = 40e6;

/// The compiled programs, and the libraries.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Result<Bench> {
        let (folder, jdk) = (tempfile::tempdir()?, Jdk::default_kit()?);
        let include = jdk.home.join("include");
        for name in ["exported", "registered"] {
            let mut cc = Command::new("cc");
            cc.args(["-shared", "-fPIC", "-O1", "-o"]).arg(folder.path().join(format!("lib{name}.so")));
            cc.arg("-I").arg(&include).arg("-I").arg(include.join("linux"));
            cc.arg(root().join(format!("tests/c/natives_{name}.c"))).run_quietly()?;
        }
        let mut javac = jdk.tool("javac");
        javac.args(["-nowarn", "-Xlint:-options", "-encoding", "UTF-8", "--release", "8", "-d"]);
        javac.arg(folder.path().join("classes"));
        let sources = ["Exported", "Registered", "Natives", "Later", "Redefined", "Mapped"];
        javac.args(sources.map(|name| root().join(format!("tests/java/native/{name}.java"))));
        javac.run_quietly()?;
        Ok(Bench { folder })
    }

    fn classes(&self) -> PathBuf {
        self.folder.path().join("classes")
    }

    fn libraries(&self) -> String {
        format!("-Djava.library.path={}", self.folder.path().display())
    }

    /// A run of `Natives`, which must succeed.
    fn run(&self, jre: &Jre, flags: &[&str], classes: &Path) -> Result<Outcome> {
        let mut java = jre.java();
        java.args(["-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8"]).args(flags);
        java.arg(self.libraries()).arg("-cp").arg(classes).arg("p_q.Natives");
        let outcome = agent::finish(java)?;
        ensure!(outcome.code == Some(0), "Java {}: {}{}", jre.version, outcome.stdout, outcome.stderr);
        ensure!(outcome.stdout.ends_with("end\n"), "{}", outcome.stdout);
        Ok(outcome)
    }
}

/// Calls and those that ended with an exception, by method; where everything is is checked.
fn calls(folder: &Path) -> Result<BTreeMap<String, (u64, u64)>> {
    let methods = subject::profile(folder)?;
    ensure!(methods.iter().all(|m| m.unclosed + m.unmatched + m.aborted == 0), "{methods:?}");
    let report = json(folder, &["report", "--json"])?;
    let mut calls = BTreeMap::new();
    for row in report["methods"].as_array().context("methods")? {
        let name = row["name"].as_str().context("a name")?.trim_start_matches("p_q.").to_owned();
        let count = |key: &str| row[key].as_u64().with_context(|| format!("no {key} in {row}"));
        calls.insert(name, (count("entries")?, count("unwinds")?));
    }
    Ok(calls)
}

/// What a report says of the one profile.
fn json(folder: &Path, command: &[&str]) -> Result<Value> {
    let files = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let profile = files.iter().find(|path| path.extension().is_some_and(|e| e == "iprof"));
    let output = subject::call()?.args(command).arg(profile.context("a profile")?).run_quietly()?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The own time of a method, in ns.
fn own_time(folder: &Path, method: &str) -> Result<f64> {
    let report = json(folder, &["xprof", "--json", "--top", "1000", "--prune", "0"])?;
    // On a machine that is too busy for the calibration times are as measured.
    let resources = report["resources"].as_array().context("resources")?;
    let wall = |name: &str| resources.iter().position(|resource| resource["name"] == *name);
    let wall = wall("wall").or_else(|| wall("wall-raw")).context("no wall")?;
    let rows = report["rows"].as_array().context("rows")?;
    let row = rows.iter().find(|row| row["function"].as_str().is_some_and(|name| name.ends_with(method)));
    let row = row.with_context(|| format!("no {method} in {report}"))?;
    row["base"][wall].as_f64().with_context(|| row.to_string())
}

/// The output as it is with wrappers: each native method has its wrapper above it in stack traces.
fn with_wrappers(bare: &str) -> String {
    let mut lines = Vec::new();
    for line in bare.lines() {
        match line.strip_suffix(" native").and_then(|line| line.trim().rsplit_once('.')) {
            Some((class, method)) => {
                lines.push(format!("  {class}.instrument$native${method} native"));
                lines.push(format!("  {class}.{method}"));
            }
            None => lines.push(line.to_owned()),
        }
    }
    lines.join("\n") + "\n"
}

/// The time is that of the native method: not less than it spins, and not more than the program measures around it.
fn check_time(outcome: &Outcome, what: &str) -> Result<()> {
    let own = own_time(outcome.folder.path(), "Exported.spin(J)V")?;
    let measured = outcome.stderr.lines().find_map(|line| line.strip_prefix("spun "));
    let measured: f64 = measured.with_context(|| outcome.stderr.clone())?.parse()?;
    // What the probes cost is taken out.
    ensure!(own > 5.0 * SPIN_NS * 0.98 && own < measured * 1.02, "{what}: {own} of {measured} ns");
    Ok(())
}

#[test]
fn the_agent_counts_and_times_every_call() -> Result<()> {
    let bench = Bench::new()?;
    let classes = bench.classes();
    let ways = [
        ("record=tree,timing=all", &[][..]),
        ("record=tree", &["-Xint"]),
        ("record=counts", &["-Xcomp"]),
        ("record=trace", &[]),
    ];
    for (jre, (mode, flags)) in jre::each(&jre::all()?, &ways) {
        let bare = bench.run(&jre, &[], &classes)?.stdout;
        let what = format!("Java {} {mode} {flags:?}", jre.version);
        let option = agent::option(&format!("native=on,{mode}"))?;
        let outcome = bench.run(&jre, &[&[option.as_str()], flags].concat(), &classes)?;
        assert_eq!(outcome.stdout, with_wrappers(&bare), "{what}");
        let found = calls(outcome.folder.path())?;
        for (name, calls, thrown, _) in CALLS {
            assert_eq!(found.get(name), Some(&(calls, thrown)), "{what}: {name} in {found:?}");
        }
        assert_eq!(found.get(OWN), Some(&(1, 0)), "{what}");
        assert!(!found.keys().any(|name| name.contains("instrument$native$")), "{what}: {found:?}");
        if mode.contains("timing=all") {
            check_time(&outcome, &what)?;
        }
    }
    Ok(())
}

#[test]
fn a_rewritten_program_counts_and_times_the_calls_that_it_makes() -> Result<()> {
    let bench = Bench::new()?;
    let classes = bench.classes();
    let rewritten = bench.folder.path().join("rewritten");
    let account = subject::rewrite(&classes, &rewritten, &["--native", "--verify", "--strict"])?;
    let natives: Vec<_> = account.iter().filter(|line| line.reason == "native-at-calls").collect();
    // And `own`, and `Mapped.cos`.
    assert_eq!(natives.len(), CALLS.len() + 2, "{account:?}");
    assert!(natives.iter().all(|line| line.outcome == "unchanged"), "{natives:?}");
    let shape = account.iter().find(|line| line.entry.ends_with("Shape.class") && line.method == "area");
    assert_eq!(shape.map(|line| line.reason.as_str()), Some("no-code"));
    let modes = ["-Dinstrument.timing=all", "-Dinstrument.record=counts", "-Dinstrument.record=trace"];
    for (jre, mode) in jre::each(&jre::all()?, &modes) {
        let bare = bench.run(&jre, &[], &classes)?.stdout;
        let what = format!("Java {} {mode}", jre.version);
        let outcome = bench.run(&jre, &[mode], &rewritten)?;
        assert_eq!(outcome.stdout, bare, "{what}");
        let found = calls(outcome.folder.path())?;
        for (name, _, thrown, calls) in CALLS {
            let expected = Some((calls, thrown)).filter(|expected| expected.0 > 0);
            let found_here = found.get(name).copied().filter(|found| found.0 > 0);
            assert_eq!(found_here, expected, "{what}: {name} in {found:?}");
        }
        assert_eq!(found.get(OWN), Some(&(1, 0)), "{what}");
        if mode.contains("timing") {
            check_time(&outcome, &what)?;
        }
    }
    Ok(())
}

#[test]
fn without_the_option_native_methods_are_as_they_were() -> Result<()> {
    let bench = Bench::new()?;
    let classes = bench.classes();
    let jre = jre::newest()?;
    let bare = bench.run(&jre, &[], &classes)?.stdout;
    let outcome = bench.run(&jre, &[&agent::option("record=tree")?], &classes)?;
    assert_eq!(outcome.stdout, bare);
    let found = calls(outcome.folder.path())?;
    assert!(CALLS.iter().all(|(name, ..)| !found.contains_key(*name)), "{found:?}");
    Ok(())
}

/// The account by method, as `outcome reason`.
fn account(path: &Path) -> Result<BTreeMap<String, String>> {
    let mut methods = BTreeMap::new();
    for line in fs::read_to_string(path)?.lines() {
        let line: Value = serde_json::from_str(line)?;
        let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        if line["kind"] == "method" {
            let name = format!("{}.{}{}", text("class"), text("method"), text("descriptor"));
            methods.insert(name, format!("{} {}", text("outcome"), text("reason")).trim_end().to_owned());
        }
    }
    Ok(methods)
}

#[test]
fn the_account_tells_wrappers_from_native_methods_and_what_a_filter_leaves() -> Result<()> {
    let bench = Bench::new()?;
    let jre = jre::newest()?;
    let (option, file) =
        ("native=on,include=p_q.**,exclude=p_q.Exported#add:p_q.Registered,account=account", "account");
    let outcome = bench.run(&jre, &[&agent::option(option)?], &bench.classes())?;
    let methods = account(&outcome.folder.path().join(file))?;
    for (name, expected) in [
        ("p_q/Exported.spin(J)V", Some("rewritten")),
        ("p_q/Exported.instrument$native$spin(J)V", Some("unchanged native-wrapped")),
        ("p_q/Exported.add(II)I", Some("excluded excluded")),
        ("p_q/Exported.instrument$native$add(II)I", None),
        ("p_q/SelfRegistered.registerNatives()V", Some("rewritten")),
        ("p_q/Shape.area()I", Some("unchanged no-code")),
    ] {
        assert_eq!(methods.get(name).map(String::as_str), expected, "{name}: {methods:?}");
    }
    let found = calls(outcome.folder.path())?;
    assert_eq!(found.get("Exported.spin(J)V"), Some(&(5, 0)));
    assert!(!found.keys().any(|name| name.starts_with("Exported.add(") || name.starts_with("Registered.")));
    Ok(())
}

/// A class that is loaded gets no wrapper; one that loads later does, and keeps it when the recording ends.
#[test]
fn a_program_that_runs_is_recorded_from_the_next_class_on() -> Result<()> {
    let bench = Bench::new()?;
    for jre in jre::turn(jre::all()?) {
        let flags = [bench.libraries(), "-Xverify:all".to_owned()];
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        // Its library is there before its class.
        let mut program = Program::start_of(&bench.classes(), &jre, &flags, &["p_q.Later"], None)?;
        for (round, file) in ["one.iprof", "two.iprof"].into_iter().enumerate() {
            let account_file = program.at(&format!("account-{round}"));
            let account_text = account_file.display().to_string();
            let output = program.attach(&["--native", "--out", file, "--account", &account_text])?;
            ensure!(output.status.success(), "{}{}", text(&output.stderr), program.stderr());
            for line in ["early", "late", "late"] {
                program.run(line)?;
            }
            program.stop()?;
            let what = format!("Java {} {file}", jre.version);
            let methods = account(&account_file)?;
            let said = |name: &str| methods.get(name).map(String::as_str);
            assert_eq!(said("p_q/Exported.add(II)I"), Some("skipped native-loaded"), "{what}: {methods:?}");
            assert_eq!(said("p_q/SelfRegistered.three(I)I"), Some("rewritten"), "{what}");
            let recorded = program.recorded(file)?;
            let entries = |name: &str| recorded.iter().find(|m| m.name == name).map(|m| m.entries);
            assert_eq!(entries("p_q.SelfRegistered.three"), Some(2), "{what}: {recorded:?}");
            assert_eq!(entries("p_q.Exported.add"), None, "{what}");
            let report = subject::call()?.args(["report", "-v"]).arg(program.at(file)).run_quietly()?;
            let report = text(&report.stdout);
            ensure!(report.contains("whose native methods are not recorded, the first is p_q."), "{report}");
            // Without probes, and as it was.
            program.run("early")?;
            program.run("late")?;
        }
        program.end()?;
    }
    Ok(())
}

/// Another agent gives a class the bytes of its file again, which has no wrappers.
#[test]
fn a_class_that_is_redefined_keeps_its_wrappers() -> Result<()> {
    let bench = Bench::new()?;
    let (classes, jdk) = (bench.classes(), Jdk::default_kit()?);
    let manifest = bench.folder.path().join("manifest");
    fs::write(&manifest, "Premain-Class: p_q.Redefined\nCan-Redefine-Classes: true\n")?;
    let jar = bench.folder.path().join("agent.jar").display().to_string();
    jdk.tool("jar").args(["cfm", &jar]).arg(&manifest).arg("-C").arg(&classes).arg(".").run_quietly()?;
    for jre in jre::ends()? {
        let mut java = jre.java();
        java.args([agent::option("native=on")?, format!("-javaagent:{jar}"), bench.libraries()]);
        java.args(["-Xverify:all", "-cp", &jar, "p_q.Redefined"]);
        let outcome = agent::finish(java)?;
        assert_eq!(outcome.stdout, "3 3 3 3 3\nredefined\n3 3 3 3 3\n", "{}", outcome.stderr);
        let found = calls(outcome.folder.path())?;
        assert_eq!(found.get("Exported.add(II)I"), Some(&(10, 0)), "Java {}: {found:?}", jre.version);
    }
    Ok(())
}

#[test]
fn what_cannot_have_wrappers_is_left_with_its_reason() -> Result<()> {
    let bench = Bench::new()?;
    let read = |name: &str| fs::read(bench.classes().join(format!("p_q/{name}.class")));
    let (mapped, exported) = (read("Mapped")?, read("Exported")?);
    let mut out = Vec::new();
    assert_eq!(natives::wrap(&mapped, |_, _| true, &mut out), Err(Reason::NativeByReflection));
    assert_eq!(natives::wrap(&mapped, |_, _| false, &mut out), Ok(0));
    assert_eq!(natives::wrap(&exported[..99], |_, _| true, &mut out), Err(Reason::NotAClass));
    assert!(out.is_empty());
    assert_eq!(natives::wrap(&exported, |name, _| name == b"add", &mut out), Ok(2));
    let wrapped = std::mem::take(&mut out);
    assert_eq!(natives::wrap(&wrapped, |_, _| true, &mut out), Err(Reason::AlreadyInstrumented));
    // Whatever is in the file, what comes out is whole, or nothing.
    for at in 0..exported.len() {
        for change in [0x01, 0x80, 0xff] {
            let mut mutant = exported.clone();
            mutant[at] ^= change;
            out.clear();
            if natives::wrap(&mutant, |_, _| true, &mut out).is_ok_and(|wrapped| wrapped > 0) {
                ClassFile::parse(&out).with_context(|| format!("byte {at}"))?;
            } else {
                assert!(out.is_empty(), "byte {at}");
            }
        }
    }
    Ok(())
}

#[test]
fn options_that_do_not_go_together_are_refused() -> Result<()> {
    for (words, part) in [
        (
            &["run", "--native", "--transform", "method-events,bytecodes", "--"][..],
            "exclude each other under the agent",
        ),
        (
            &["run", "--native", "--transform", "allocation", "--"],
            "--native is about calls which method-events",
        ),
    ] {
        let output = subject::call()?.args(words).args(["java", "-version"]).output()?;
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        ensure!(text(&output.stderr).contains(part), "{words:?}: {}", text(&output.stderr));
    }
    Ok(())
}
