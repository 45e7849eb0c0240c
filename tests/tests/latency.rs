//! `instrument latency`: percentiles are those that a program measures of itself, and the slowest calls say why they were.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use instrument_tests::agent::{self, Outcome, option, run};
use instrument_tests::jre;
use instrument_tests::machine::Run;
use instrument_tests::subject;
use serde_json::Value;

/// What `Slow` prints of itself: calls that failed, and p50, p90, p99, p99.9 and the longest, in ns.
fn own(outcome: &Outcome) -> Result<(u64, Vec<f64>)> {
    let mut words = outcome.stdout.split_whitespace().skip(1);
    let failed = words.next().context("no figures")?.parse()?;
    Ok((failed, words.map(str::parse).collect::<Result<_, _>>()?))
}

fn latency(profile: &Path, options: &[&str]) -> Result<String> {
    let output = subject::call()?.arg("latency").args(options).arg(profile).run_quietly()?;
    Ok(String::from_utf8(output.stdout)?)
}

/// The calls of both ends of a method in a row of JSON, by bucket.
fn all(row: &Value, key: &str) -> u64 {
    ["returned", "failed"].iter().filter_map(|end| row[end][key].as_u64()).sum()
}

#[test]
fn percentiles_are_those_that_the_program_measures_itself() -> Result<()> {
    let classes = tempfile::tempdir()?;
    agent::compile(&["Slow.java"], 8, classes.path())?;
    let path = classes.path().to_str().context("a path")?;
    for jre in jre::all()? {
        let outcome = run(&jre, &[&option("record=trace,threads=on")?, "-cp", path, "Slow"])?;
        let (failed, expected) = own(&outcome)?;
        let profile = outcome.profile().next().context("no profile")?;

        let table = latency(&profile, &["--csv", "--method", "Slow#order", "--method", "Slow#nested"])?;
        let row = |name: &str| -> Result<Vec<f64>> {
            let line = table.lines().find(|line| line.starts_with(&format!("Slow.{name}(")));
            let (_, figures) =
                line.with_context(|| format!("no {name}: {table}"))?.split_once(')').context("a name")?;
            // What too few calls cannot say is empty.
            Ok(figures.split(',').skip(1).map(|figure| figure.parse().unwrap_or(f64::NAN)).collect())
        };
        let order = row("order")?;
        assert_eq!((order[0], order[1], order[2]), (3000.0, failed as f64, 0.0), "calls, errors, open");
        for (rank, (found, expected)) in order[4..].iter().zip(&expected).enumerate() {
            // What the program measures has the call itself as well, and in the tail a wait for a processor between the two.
            let least = if rank < 2 { 0.98 } else { 0.0 };
            let is_right = (least..1.006).contains(&(found / expected));
            ensure!(is_right, "Java {}: {:?} for {expected:?}", jre.version, &order[4..]);
        }
        // A call within a call is part of it.
        assert_eq!(row("nested")?[0], 30.0);

        // Why: below a slow call that waited stands the method that made it wait.
        let text = latency(&profile, &["--method", "Slow#order", "--slowest=10"])?;
        let calls: Vec<&str> = text.split("\n\n").filter(|part| part.contains(" took ")).collect();
        assert_eq!(calls.len(), 10, "{text}");
        let tells = |part: &&&str| {
            let lines: Vec<&str> = part.lines().collect();
            lines[0].starts_with("Slow.order(")
                && lines[0].contains(" ms of it waiting; ")
                && lines[0].ends_with(", in thread main")
                && lines[1].starts_with("a typical call takes ")
                && lines[3].ends_with("  Slow$Pool.take()")
        };
        ensure!(calls.iter().any(|part| tells(&part)), "{text}");

        // The document has every call, in the buckets of an exponential histogram.
        let document: Value = serde_json::from_str(&latency(&profile, &["--json"])?)?;
        let rows = document["rows"].as_array().context("rows")?;
        let order = rows
            .iter()
            .find(|row| row["function"].as_str().is_some_and(|name| name.starts_with("Slow.order(")));
        let order = order.context("no row")?;
        assert_eq!(all(order, "calls"), 3000);
        let buckets = ["returned", "failed"]
            .iter()
            .flat_map(|end| order[end]["buckets"].as_array().into_iter().flatten());
        assert_eq!(buckets.filter_map(|bucket| bucket[1].as_u64()).sum::<u64>(), 3000);
        let slowest: Vec<u64> = order["slowest"]
            .as_array()
            .context("slowest")?
            .iter()
            .filter_map(|call| call["ns"].as_u64())
            .collect();
        assert_eq!(slowest.len(), 10);
        assert_eq!(order["slowest"][0]["thread"], "main");
        ensure!(slowest.is_sorted_by(|a, b| a >= b), "{slowest:?}");
        assert_eq!(
            Some(slowest[0]),
            ["returned", "failed"].iter().filter_map(|end| order[end]["max"].as_u64()).max()
        );
    }
    Ok(())
}

#[test]
fn what_has_no_answer_is_said() -> Result<()> {
    let classes = tempfile::tempdir()?;
    agent::compile(&["Slow.java"], 8, classes.path())?;
    let path = classes.path().to_str().context("a path")?;
    let outcome = run(&jre::newest()?, &[&option("record=trace")?, "-cp", path, "Slow"])?;
    let profile = outcome.profile().next().context("no profile")?;
    for (option, is_in) in [
        ("--percent", "latency"),
        ("--links", "latency"),
        ("--since=x.iprof", "latency"),
        ("--since=x.iprof", "timeline"),
    ] {
        let output = subject::call()?.args([is_in, option]).arg(&profile).output()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let name = option.split('=').next().unwrap_or(option);
        ensure!(
            output.status.code() == Some(2) && said.contains(&format!("{name} does not ")),
            "{option}: {said}"
        );
    }
    // Called once, and named.
    let text = latency(&profile, &["--method", "Slow#main"])?;
    ensure!(text.contains("    1       0    -    -    -      -  "), "{text}");
    let text = latency(&profile, &["--top=0"])?;
    ensure!(text.contains("not shown: ") && !text.contains("--method"), "{text}");
    Ok(())
}

#[test]
fn a_profile_without_a_trace_is_refused_with_the_cure() -> Result<()> {
    let classes = tempfile::tempdir()?;
    agent::compile(&["Slow.java"], 8, classes.path())?;
    let path = classes.path().to_str().context("a path")?;
    let outcome = run(&jre::newest()?, &[&option("record=tree")?, "-cp", path, "Slow"])?;
    let profile = outcome.profile().next().context("no profile")?;
    let output = subject::call()?.arg("latency").arg(profile).output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(!output.status.success() && said.contains("`instrument run --record trace`"), "{said}");
    Ok(())
}
