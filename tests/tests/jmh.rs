//! The JMH profiler in a real, short run of JMH (`tests/maven/benchmark`).

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use instrument_tests::maven::Builds;
use instrument_tests::subject;

#[test]
fn calls_and_allocations_of_an_operation_are_exact() -> Result<()> {
    let builds = Builds::new(&["api", "jmh"], &["benchmark"])?;
    builds.succeed("benchmark", &["package"])?;
    let folder = builds.project("benchmark");
    let class_path =
        format!("target/classes:{}", fs::read_to_string(folder.join("target/classpath"))?.trim());
    let profiler = "io.github.instrument.jmh.InstrumentProfiler";
    let run = |options: &str| {
        Command::new("java")
            .args(["-cp", &class_path, "org.openjdk.jmh.Main", "-prof", &format!("{profiler}:{options}")])
            .current_dir(&folder)
            .output()
            .context("java")
    };
    let output = run(&format!("executable={};include=shop.**;top=3", subject::instrument()?.display()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    // Of the table at the end: the name behind a colon, count, score and unit.
    for (figure, score, unit) in [
        ("calls", 15.0, "calls/op"),
        ("allocations", 8.0, "objects/op"),
        ("calls:Orders$Item.<init>", 7.0, "calls/op"),
        ("calls:Orders$Item.price", 7.0, "calls/op"),
        ("calls:Orders.total", 1.0, "calls/op"),
        ("allocations:Orders.total", 8.0, "objects/op"),
    ] {
        let name = format!("Orders.total:instrument.{figure} ");
        let line =
            said.lines().find(|line| line.starts_with(&name)).with_context(|| format!("{figure}: {said}"))?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = words.iter().position(|word| *word == unit).with_context(|| line.to_owned())?;
        let printed = words.iter().take(at).filter_map(|word| word.parse::<f64>().ok()).find(|v| *v == score);
        ensure!(printed.is_some(), "{figure} is not {score}: {line}");
    }

    let output = run("depth=3")?;
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    ensure!(!output.status.success() && said.contains("unknown option depth=3"), "{said}");
    Ok(())
}
