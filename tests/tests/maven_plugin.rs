//! The Maven plugin in builds of fixture projects (`tests/maven`). Only one is built without `INSTRUMENT_CORPUS_FULL=1`: Maven takes its
//! time.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use instrument_tests::corpus::Corpus;
use instrument_tests::maven::Builds;
use instrument_tests::subject;

/// The files below, with their content and time.
fn state(folder: &Path) -> Result<BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)>> {
    let mut state = BTreeMap::new();
    for entry in fs::read_dir(folder)?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            state.append(&mut self::state(&path)?);
        } else {
            state.insert(path.clone(), (fs::read(&path)?, path.metadata()?.modified()?));
        }
    }
    Ok(state)
}

#[test]
fn projects_are_built_with_the_plugin() -> Result<()> {
    let all = ["single", "modules", "parent", "kotlin", "boot", "modular", "jacoco", "forks"];
    let builds = Builds::new(&["maven"], &all)?;
    single(&builds)?;
    if Corpus::full() {
        modules(&builds)?;
        others(&builds)?;
    }
    Ok(())
}

#[test]
fn a_gate_over_tests_says_what_grew() -> Result<()> {
    let builds = Builds::new(&["maven"], &["single"])?;
    builds.succeed("single", &["test"])?;
    let (success, said) = builds.build("single", &["-o", "-q", "instrument:gate"])?;
    let cure = "no gate yet: build three times with -Dinstrument.gateAction=learn -Dinstrument.keep";
    ensure!(!success && said.contains(cure), "{said}");
    // What was recorded before the first build that keeps is no run to learn from.
    for runs in ["1 run -> ", "2 runs -> "] {
        let learn = ["-o", "test", "instrument:gate", "-Dinstrument.gateAction=learn", "-Dinstrument.keep"];
        let said = builds.succeed("single", &learn)?;
        ensure!(said.contains(runs), "{said}");
    }
    let bless = ["-o", "test", "instrument:gate", "instrument:golden", "-Dinstrument.goldenAction=bless"];
    let said = builds.succeed("single", &bless)?;
    ensure!(said.contains("blessed shop: 1 file"), "{said}");
    let text = builds.project("single").join("src/test/golden/shop/expected/Shop.class.txt");
    fs::write(&text, fs::read_to_string(&text)?.replace("imul", "iadd"))?;
    let (success, said) = builds.build("single", &["-o", "-q", "instrument:golden"])?;
    ensure!(!success && said.contains("FAIL shop: 1 file not as blessed -> "), "{said}");
    ensure!(said.contains("[ERROR] +        imul"), "{said}");
    let source = builds.project("single").join("src/test/java/shop/ShopTest.java");
    fs::write(&source, fs::read_to_string(&source)?.replace("i < 7", "i < 70"))?;
    let (success, said) = builds.build("single", &["-o", "-q", "test", "instrument:gate"])?;
    let is_named = said.contains("[ERROR] `ShopTest#prices` now calls `Shop#price` 70 times, was 7");
    ensure!(!success && is_named, "{said}");
    // In the log, and as the reason of the failure: nothing else is there under -q.
    let first = said.lines().find_map(|line| line.split_once("[ERROR] ")).context("no error")?.1;
    let reason = said.lines().find(|line| line.contains("Failed to execute goal")).context("no reason")?;
    ensure!(first.contains("70 times, was 7") && reason.contains(first), "{said}");
    ensure!(said.contains("[ERROR] failed: 2 findings ("), "{said}");
    Ok(())
}

fn single(builds: &Builds) -> Result<()> {
    let folder = builds.project("single");
    let jar = |name: &str| folder.join("target").join(name);
    builds.succeed("single", &["package", "-Dinstrument.skip"])?;
    let bare = fs::read(jar("single-1.jar"))?;
    ensure!(!jar("instrumented-classes").exists(), "skipped");
    let said = builds.succeed("single", &["verify"])?;
    ensure!(said.contains("single-1.jar -> "), "{said}");
    ensure!(fs::read(jar("single-1.jar"))? == bare, "what is released has changed");
    // The module's classes are its own code, and its tests are not; in the log there is no more than that.
    let report = fs::read_to_string(jar("instrument/report.txt"))?;
    ensure!(
        report.contains("program     tests of single: ShopTest (pid ") && !report.contains("ShopTest."),
        "{report}"
    );
    let log: Vec<&str> = said.lines().skip_while(|line| !line.contains("own code ")).collect();
    let end = log.iter().position(|line| line.contains("---")).unwrap_or(log.len());
    ensure!((2..=10).contains(&end) && log[0].contains("own code    classes of target/classes, "), "{said}");
    ensure!(log[..end].iter().any(|line| line.ends_with("shop.Shop.price(int)")), "{said}");
    for name in ["report.html", "aggregate.txt", "aggregate.html"] {
        ensure!(jar("instrument").join(name).is_file(), "{name}: {said}");
    }
    let output = Command::new("java")
        .arg("-cp")
        .arg(jar("single-1-instrumented.jar"))
        .arg("shop.Shop")
        .current_dir(folder.join("target"))
        .output()?;
    ensure!(output.status.success(), "{output:?}");

    // The second build does nothing, without a network, too.
    let before = state(&jar("instrumented-classes"))?;
    let said = builds.succeed("single", &["-o", "verify"])?;
    ensure!(said.matches("nothing to do: ").count() == 2, "{said}");
    ensure!(state(&jar("instrumented-classes"))? == before, "it was up to date");

    // A change in the program is one to what is made of it.
    let source = folder.join("src/main/java/shop/Shop.java");
    fs::write(&source, fs::read_to_string(&source)?.replace("n * 2", "n + n"))?;
    let said = builds.succeed("single", &["-o", "verify"])?;
    ensure!(!said.contains("nothing to do: "), "{said}");

    // Options that have parameters of their own.
    let options = ["-o", "package", "-Dinstrument.level=1", "-Dinstrument.largeMethods=wrap"];
    let packed = fs::metadata(jar("single-1-instrumented.jar"))?.len();
    let said = builds.succeed("single", &options)?;
    let loose = fs::metadata(jar("single-1-instrumented.jar"))?.len();
    ensure!(loose > packed, "--level 1 compresses as hard: {packed}, then {loose} bytes: {said}");
    let stated = fs::read_to_string(jar("instrument/single-1-instrumented.jar.state"))?;
    ensure!(stated.contains("--large-methods\nwrap\n--level\n1\n"), "{stated}");
    let (success, said) = builds.build("single", &["-o", "package", "-Dinstrument.largeMethods=no"])?;
    ensure!(!success && said.contains("--large-methods"), "{said}");

    // A folder whose name has what argument lines are made of.
    let odd = jar("it's a=b, c");
    builds.succeed("single", &["-o", "test", &format!("-Dinstrument.directory={}", odd.display())])?;
    let profile = |entry: fs::DirEntry| entry.path().extension().is_some_and(|end| end == "iprof");
    ensure!(fs::read_dir(&odd)?.flatten().any(profile), "no profile of the tests in {}", odd.display());

    // What is missing is said, and what to do.
    let missing = "-Dinstrument.executable=/nowhere/instrument";
    let (success, said) = builds.build("single", &["-o", "instrument:instrument", missing])?;
    ensure!(!success && said.contains("instrument.executable: /nowhere/instrument is no file"), "{said}");
    Ok(())
}

fn modules(builds: &Builds) -> Result<()> {
    let said = builds.succeed("modules", &["-T2", "package"])?;
    for name in ["base", "service", "app"] {
        ensure!(said.contains(&format!("{name}-1.jar -> ")), "{name}: {said}");
    }
    let folder = builds.project("modules");
    // One id for one method, over all modules.
    let output = subject::call()?.arg("ids").arg(folder.join("target/instrument.ids")).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let ids: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|word| word.parse::<u32>().is_ok())
        .collect();
    let mut unique = ids.clone();
    unique.sort_unstable();
    unique.dedup();
    ensure!(ids.len() >= 6 && unique.len() == ids.len(), "{text}");
    let said = builds.succeed("modules", &["-o", "-T2", "package"])?;
    ensure!(said.matches("nothing to do: ").count() == 6, "{said}");
    Ok(())
}

/// A project of one more kind: its folder, the jar in it, and how the rewritten one is started in `target`.
struct Kind {
    project: &'static str,
    jar: &'static str,
    start: &'static [&'static str],
}

fn others(builds: &Builds) -> Result<()> {
    for Kind { project, jar, start } in [
        Kind {
            project: "parent",
            jar: "child/target/child-1",
            start: &["-cp", "child-1-instrumented.jar", "child.Main"],
        },
        Kind {
            project: "kotlin",
            jar: "target/kotlin-1",
            start: &["-cp", "kotlin-1-instrumented.jar:lib/*", "kot.MainKt"],
        },
        Kind { project: "boot", jar: "target/boot-1", start: &["-jar", "boot-1-instrumented.jar"] },
        Kind {
            project: "modular",
            jar: "target/modular-1",
            start: &["--module-path", "modular-1-instrumented.jar", "--module", "modular/modular.Main"],
        },
        Kind {
            project: "jacoco",
            jar: "target/jacoco-1",
            start: &["-cp", "jacoco-1-instrumented.jar", "covered.Main"],
        },
        Kind {
            project: "forks",
            jar: "target/forks-1",
            start: &["-cp", "forks-1-instrumented.jar", "forked.Main"],
        },
    ] {
        let folder = builds.project(project);
        let released = folder.join(format!("{jar}.jar"));
        builds.succeed(project, &["package", "-Dinstrument.skip"])?;
        let bare = fs::read(&released)?;
        let said = builds.succeed(project, &["-T2", "verify"])?;
        ensure!(fs::read(&released)? == bare, "{project}: what is released has changed: {said}");
        let target = released.parent().unwrap_or(&folder);
        let output = Command::new("java").args(start).current_dir(target).output()?;
        ensure!(output.stdout == b"twice 42\n", "{project}: {output:?}");
        let instrumented = folder.join(format!("{jar}-instrumented.jar"));
        ensure!(fs::read(&instrumented)? != bare, "{project}");
        let before = state(&target.join("instrumented-classes"))?;
        let said = builds.succeed(project, &["-o", "verify"])?;
        ensure!(said.matches("nothing to do: ").count() == 2, "{project}: {said}");
        ensure!(state(&target.join("instrumented-classes"))? == before, "{project}: it was up to date");
    }
    let target = |project: &str| builds.project(project).join("target");
    let report = |project: &str| fs::read_to_string(target(project).join("instrument/report.txt"));
    // Both agents saw the same test.
    ensure!(fs::metadata(target("jacoco").join("jacoco.exec"))?.len() > 0, "JaCoCo recorded nothing");
    let covered = fs::read_to_string(target("jacoco").join("site/jacoco/jacoco.csv"))?;
    ensure!(covered.contains("covered,Main,"), "{covered}");
    ensure!(report("jacoco")?.contains("Main.twice"), "{}", report("jacoco")?);
    // A JVM for each class of tests: a profile each, and one report over all.
    let profiles = fs::read_dir(target("forks").join("instrument"))?.flatten();
    let profiles = profiles.filter(|entry| entry.path().extension().is_some_and(|e| e == "iprof")).count();
    ensure!(profiles == 3, "{profiles} profiles of 3 JVMs");
    let twice = report("forks")?;
    let calls: u64 = twice
        .lines()
        .filter(|line| line.contains("Main.twice"))
        .filter_map(|line| line.split_whitespace().next()?.parse::<u64>().ok())
        .sum();
    ensure!(calls == 3, "{twice}");
    Ok(())
}
