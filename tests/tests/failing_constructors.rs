//! Constructors whose `super()` or `this()` throws into code that is not recorded: the calls, contexts and times of everything else are as if it did not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::{Run, join};
use instrument_tests::{agent, shared, subject};
use serde_json::Value;

/// The program, and beside it the same with its recorded classes rewritten.
fn programs() -> PathBuf {
    shared::folder("failing-constructors", |folder| {
        let plain =
            agent::compile(&["failing/Parts.java", "failing/Failing.java"], 8, &sub(folder, "plain")?)?;
        let parts = sub(folder, "parts/failing")?;
        for entry in std::fs::read_dir(plain.join("failing"))? {
            let class = entry?.path();
            let name = class.file_name().context("a class")?;
            if name.to_string_lossy().starts_with("Parts") {
                std::fs::copy(&class, parts.join(name))?;
            }
        }
        subject::rewrite::<&str>(&folder.join("parts"), &folder.join("rewritten"), &[])?;
        Ok(())
    })
}

fn sub(folder: &Path, name: &str) -> Result<PathBuf> {
    let path = folder.join(name);
    std::fs::create_dir_all(&path)?;
    Ok(path)
}

/// What it printed and left, with rewritten classes or under the agent.
fn run(jre: &Jre, rewritten: bool, record: &str, arguments: &[&str]) -> Result<agent::Outcome> {
    let folder = programs();
    let (plain, changed) = (folder.join("plain"), folder.join("rewritten"));
    let mut java = jre.java();
    if rewritten {
        java.arg(format!("-Dinstrument.record={record}"));
        java.arg("-cp").arg(join(&[&changed, &plain]));
    } else {
        java.arg(agent::option(&format!("include=failing.Parts*,record={record}"))?).arg("-cp").arg(&plain);
    }
    java.arg("failing.Failing").args(arguments);
    let outcome = agent::finish(java)?;
    ensure!(outcome.code == Some(0), "{}", outcome.stderr);
    ensure!(rewritten || outcome.stderr.is_empty(), "{}", outcome.stderr);
    Ok(outcome)
}

/// Java, way, recording.
fn for_each(records: &[&str], test: impl Fn(&Jre, bool, &str) -> Result<()>) -> Result<()> {
    let ways: Vec<_> = [true, false]
        .iter()
        .flat_map(|&rewritten| records.iter().map(move |record| (rewritten, *record)))
        .collect();
    for (jre, (rewritten, record)) in jre::each(&jre::ends()?, &ways) {
        test(&jre, rewritten, record)
            .with_context(|| format!("Java {}, rewritten {rewritten}, {record}", jre.version))?;
    }
    Ok(())
}

fn tree(outcome: &agent::Outcome) -> Result<Value> {
    let words = ["xtree", "--json", "--prune", "0", "--collapse", "threads,processes"];
    let profile = outcome.profile().next().context("a profile")?;
    let output = subject::call()?.arg("--quiet").args(words).arg(profile).run_quietly()?;
    let mut tree: Value = serde_json::from_slice(&output.stdout)?;
    Ok(tree["tree"].take())
}

fn contexts(node: &Value, path: &str, found: &mut BTreeMap<String, u64>) {
    // The agent tells of the classes that are loaded, too.
    let calls = |node: &&Value| node["kind"] == "method";
    for child in node["children"].as_array().into_iter().flatten().filter(calls) {
        let name = child["name"].as_str().unwrap_or_default();
        let path = if path.is_empty() { name.to_string() } else { format!("{path} {name}") };
        contexts(child, &path, found);
        found.insert(path, child["n"].as_u64().unwrap_or_default());
    }
}

/// Ten thousand failures at random depths, in and behind the arguments of `this()` and `super()`, caught at random.
#[test]
fn contexts_and_counts_are_exact() -> Result<()> {
    for_each(&["tree", "trace", "counts"], |jre, rewritten, record| {
        let outcome = run(jre, rewritten, record, &["10000"])?;
        let mut expected = BTreeMap::new();
        for line in outcome.stdout.lines().filter(|line| !line.starts_with("failures")) {
            let (calls, path) = line.split_once(' ').context("a context")?;
            expected.insert(path.to_string(), calls.parse::<u64>()?);
        }
        ensure!(expected.len() > 10_000, "{}", expected.len());
        let mut found = BTreeMap::new();
        if record == "counts" {
            for (path, calls) in std::mem::take(&mut expected) {
                let name = path.rsplit(' ').next().unwrap_or_default();
                *expected.entry(name.split('(').next().unwrap_or_default().to_string()).or_default() += calls;
            }
            for method in subject::profile(outcome.folder.path())? {
                *found.entry(method.name).or_default() += method.entries;
            }
        } else {
            contexts(&tree(&outcome)?, "", &mut found);
            // Calls that were counted there have been moved to their real callers.
            found.retain(|_, calls| *calls > 0);
        }
        let wrong: Vec<_> =
            expected.iter().filter(|(path, calls)| found.get(*path) != Some(calls)).take(5).collect();
        ensure!(found.len() == expected.len() && wrong.is_empty(), "{wrong:#?}, {}", found.len());
        // Each call ended, and in a way that fits.
        for method in subject::profile(outcome.folder.path())? {
            ensure!(method.unclosed + method.unmatched + method.open == 0, "{method:?}");
        }
        Ok(())
    })
}

/// What happens after a failure is no part of the constructor.
#[test]
fn time_ends_with_the_failure() -> Result<()> {
    for_each(&["tree", "trace"], |jre, rewritten, record| {
        let outcome = run(jre, rewritten, record, &["idle", "1000"])?;
        let tree = tree(&outcome)?;
        // What is in no call, where that is known, stands beside them.
        let calls = tree["children"].as_array().into_iter().flatten();
        let ns: u64 = calls.filter_map(|call| call["cum"][0].as_u64()).sum();
        ensure!(ns < 900_000_000, "{ns} ns, of which none are the 2 s behind failures: {tree}");
        Ok(())
    })
}
