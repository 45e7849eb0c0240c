//! `instrument latency`: percentiles are those that a program measures of itself, and the slowest calls say why they were.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use instrument_tests::agent::{self, Outcome, option, run};
use instrument_tests::fleet;
use instrument_tests::fleet_reports;
use instrument_tests::jre;
use instrument_tests::machine::Run;
use instrument_tests::subject;
use serde_json::{Value, json};

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

/// The figures of a method in a table. What too few calls cannot say is no number.
fn row(table: &str, name: &str) -> Result<Vec<f64>> {
    let line = table.lines().find(|line| line.starts_with(&format!("{name}(")));
    let (_, figures) =
        line.with_context(|| format!("no {name}: {table}"))?.split_once(')').context("a name")?;
    Ok(figures.split(',').skip(1).map(|figure| figure.parse().unwrap_or(f64::NAN)).collect())
}

/// Whether percentiles are those that the program has measured.
fn agree(found: &[f64], expected: &[f64]) -> Result<()> {
    for (rank, (ns, own)) in found.iter().zip(expected).enumerate() {
        // What the program measures has the call itself as well, and a wait for a processor between the two: where other programs want it, too, the
        // tenth part of the calls has such waits.
        let least = [0.98, 0.9, 0.0][rank.min(2)];
        ensure!((least..1.006).contains(&(ns / own)), "{found:?} for {expected:?}");
    }
    Ok(())
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
        let order = row(&table, "Slow.order")?;
        assert_eq!((order[0], order[1], order[2]), (3000.0, failed as f64, 0.0), "calls, errors, open");
        agree(&order[4..9], &expected).with_context(|| format!("Java {}", jre.version))?;
        // A call within a call is part of it.
        assert_eq!(row(&table, "Slow.nested")?[0], 30.0);

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
        let document: Value =
            serde_json::from_str(&latency(&profile, &["--json", "--method", "Slow#order", "--slowest"])?)?;
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
        // Of those that are asked for it has the contexts, whose own times are all of the call, and what took longer.
        let (first, second) = (&order["slowest"][0], &order["slowest"][1]);
        let contexts = first["contexts"].as_array().context("contexts")?;
        let sum: f64 = contexts.iter().filter_map(|context| context["ns"].as_f64()).sum();
        ensure!((sum / slowest[0] as f64 - 1.0).abs() < 0.01, "{first}");
        ensure!(first["differences"][0]["function"].is_string() && second["contexts"].is_null(), "{first}");
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
    let itself = format!("--since={}", profile.display());
    for (option, is_in) in [
        ("--percent", "latency"),
        ("--links", "latency"),
        (&*itself, "latency"),
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
    ensure!(output.status.code() == Some(2) && said.contains("`instrument run --record trace`"), "{said}");
    ensure!(said.contains("`instrument run --latency 'Shop#sell'`"), "{said}");
    Ok(())
}

/// Where times of a tree come from.
const TIMINGS: [&str; 3] = ["samples", "auto", "all"];

#[test]
fn a_tree_has_the_percentiles_of_chosen_methods_whatever_else_is_timed() -> Result<()> {
    let classes = tempfile::tempdir()?;
    agent::compile(&["Slow.java"], 8, classes.path())?;
    let path = classes.path().to_str().context("a path")?;
    for (jre, timing) in jre::each(&jre::all()?, &TIMINGS) {
        let options = format!("record=tree,timing={timing},latency=Slow#order:2ms:Slow#nested");
        let outcome = run(&jre, &[&option(&options)?, "-cp", path, "Slow"])?;
        let (failed, expected) = own(&outcome)?;
        let profile = outcome.profile().next().context("no profile")?;
        let table = latency(&profile, &["--csv"])?;
        assert_eq!(table.lines().count(), 3, "only what was chosen: {table}");
        let order = row(&table, "Slow.order")?;
        assert_eq!((order[0], order[1], order[2], order[3]), (3000.0, failed as f64, 0.0, 0.0), "{timing}");
        agree(&order[4..9], &expected).with_context(|| format!("Java {}, {timing}", jre.version))?;
        // Each fiftieth waits longer than that, but for the owner of the lock that was late itself.
        ensure!(order[9] == 2e6 && (50.0..200.0).contains(&order[10]), "{order:?}");
        assert_eq!(row(&table, "Slow.nested")?[0], 30.0);
        let output = subject::call()?.args(["latency", "--slowest"]).arg(&profile).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.code() == Some(2) && said.contains("--record trace"), "{said}");
    }
    Ok(())
}

/// What is known of `Durations`, whose threads end and whose process is halted in a call.
fn check_durations(profile: &Path) -> Result<()> {
    let table = latency(profile, &["--csv"])?;
    let counts = |name: &str| -> Result<[f64; 4]> { Ok(row(&table, name)?[..4].try_into()?) };
    // Calls, errors, open, ends that were not seen.
    assert_eq!(counts("Durations.work")?, [3000.0, 600.0, 0.0, 0.0], "{table}");
    assert_eq!(counts("Durations.nested")?, [40.0, 0.0, 0.0, 0.0], "{table}");
    assert_eq!(counts("Durations.hold")?, [0.0, 0.0, 1.0, 0.0], "{table}");
    // When those failed whose super() did is not known.
    assert_eq!(counts("Durations$Made.<init>")?, [120.0, 0.0, 0.0, 40.0], "{table}");
    Ok(())
}

#[test]
fn every_call_is_in_a_histogram_through_every_door_also_of_threads_that_are_added_up() -> Result<()> {
    let classes = tempfile::tempdir()?;
    agent::compile(&["Durations.java"], 8, classes.path())?;
    let path = classes.path().to_str().context("a path")?;
    let folder = tempfile::tempdir()?;
    let rewritten = folder.path().join("rewritten");
    let patterns = ["Durations#work:1s:Durations#nested", "Durations$Made#<init>,Durations#hold"];
    let given = patterns.map(|pattern| ["--latency", pattern]).concat();
    subject::call()?.arg(path).arg("-o").arg(&rewritten).args(&given).run_quietly()?;
    let rewritten = rewritten.to_str().context("a path")?;
    for (jre, (timing, kept)) in
        jre::each(&jre::all()?, &[("samples", 0), ("auto", 3), ("all", 256), ("all", 0)])
    {
        let latency = patterns.map(|pattern| format!(",latency={}", pattern.replace(',', ":"))).concat();
        let options = option(&format!("timing={timing},keep-threads={kept}{latency}"))?;
        let outcome = run(&jre, &[&options, "-cp", path, "Durations"])?;
        check_durations(&outcome.profile().next().context("no profile")?)
            .with_context(|| format!("agent, {timing}"))?;
        let (timing, kept) =
            (format!("-Dinstrument.timing={timing}"), format!("-Dinstrument.keep-threads={kept}"));
        let outcome = run(&jre, &[&timing, &kept, "-cp", rewritten, "Durations"])?;
        check_durations(&outcome.profile().next().context("no profile")?)
            .with_context(|| format!("rewritten, {timing}"))?;
    }
    Ok(())
}

#[test]
fn what_keeps_no_durations_is_said() -> Result<()> {
    let classes = tempfile::tempdir()?;
    agent::compile(&["Durations.java"], 8, classes.path())?;
    let path = classes.path().to_str().context("a path")?;
    let refused = |arguments: &[&str]| -> Result<String> {
        let mut call = subject::call()?;
        let output =
            call.args(["run"]).args(arguments).args(["--", "java", "-cp", path, "Durations"]).output()?;
        ensure!(output.status.code() == Some(2), "{arguments:?}");
        Ok(String::from_utf8(output.stderr)?)
    };
    for record in ["trace", "counts", "samples"] {
        let said = refused(&["--latency", "Durations#work", "--record", record])?;
        ensure!(said.contains("--latency: "), "{said}");
    }
    ensure!(refused(&["--latency", "a..b"])?.contains("--latency: bad pattern"));
    ensure!(refused(&["--latency", "50ms"])?.contains("follows a pattern"));
    // A method that is not there.
    let folder = tempfile::tempdir()?;
    let run = ["run", "--latency", "Durations#gone", "--", "java", "-cp", path, "Durations"];
    let output = subject::call()?.args(run).current_dir(folder.path()).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(said.contains("--latency") && said.contains("Durations#gone"), "{said}");
    Ok(())
}

/// In a dataset DuckDB finds the percentiles of a table of `latency`, to the last digit.
fn dataset_has(profiles: &[PathBuf], dataset: &Path, table: &str) -> Result<()> {
    fleet::export(profiles, dataset, &[])?;
    let answers = fleet_reports::ask(dataset, &[("latency", &[])])?;
    assert_eq!(answers["latency"].len(), 2, "{answers:?}");
    for found in &answers["latency"] {
        let name = found["function"].as_str().context("a name")?;
        let figures = row(table, name.split_once('(').context("a name")?.0)?;
        let columns = ["calls", "errors", "p50", "p90", "p99", "p99.9", "max_ns"];
        let found: Vec<_> = columns.iter().map(|column| found[column].as_f64()).collect();
        let expected: Vec<_> = [0, 1, 4, 5, 6, 7, 8].iter().map(|&at| Some(figures[at])).collect();
        assert_eq!(
            found,
            expected.iter().map(|of| of.filter(|ns| !ns.is_nan())).collect::<Vec<_>>(),
            "{name}"
        );
    }
    Ok(())
}

#[test]
fn other_tools_and_other_runs_get_the_histograms() -> Result<()> {
    let classes = tempfile::tempdir()?;
    agent::compile(&["Durations.java"], 8, classes.path())?;
    let path = classes.path().to_str().context("a path")?;
    let options = option("latency=Durations#work:Durations#nested")?;
    let of_run = || run(&jre::newest()?, &[&options, "-cp", path, "Durations"]);
    let (one, other) = (of_run()?, of_run()?);
    let profile = |outcome: &Outcome| outcome.profile().next().context("no profile");
    let (one, other) = (profile(&one)?, profile(&other)?);

    let output =
        subject::call()?.args(["export", "--format", "otlp-metrics"]).arg(&one).arg(&other).run_quietly()?;
    let request: Value = serde_json::from_slice(&output.stdout)?;
    let resources = request["resourceMetrics"].as_array().context("resources")?;
    assert_eq!(resources.len(), 2);
    for resource in resources {
        let metric = &resource["scopeMetrics"][0]["metrics"][0];
        assert_eq!(metric["unit"], "ns");
        let points = metric["exponentialHistogram"]["dataPoints"].as_array().context("points")?;
        let mut calls = Vec::new();
        for point in points {
            let number = |text: &Value| text.as_str().unwrap_or_default().parse::<u64>();
            let positive = &point["positive"];
            let buckets = positive["bucketCounts"].as_array().context("buckets")?;
            let count = buckets.iter().map(number).sum::<Result<u64, _>>()? + number(&point["zeroCount"])?;
            assert_eq!(count, number(&point["count"])?);
            // The longest call is in the last bucket.
            let last = positive["offset"].as_i64().context("offset")? + buckets.len() as i64;
            let most = point["max"].as_f64().context("max")?;
            ensure!(
                ((last - 1) as f64 / 64.0).exp2() < most && most <= (last as f64 / 64.0).exp2(),
                "{point}"
            );
            let has_failed = point["attributes"]
                .as_array()
                .context("attributes")?
                .iter()
                .any(|of| of["key"] == "error.type");
            calls.push((count, has_failed));
        }
        calls.sort_unstable();
        assert_eq!(calls, [(40, false), (600, true), (2400, false)]);
    }
    // Histograms of several processes are one.
    let output = subject::call()?.args(["latency", "--csv"]).arg(&one).arg(&other).run_quietly()?;
    let table = String::from_utf8(output.stdout)?;
    assert_eq!(row(&table, "Durations.work")?[..2], [6000.0, 1200.0]);
    dataset_has(&[one.clone(), other.clone()], &classes.path().join("dataset"), &table)?;
    let output = subject::call()?.arg("diff").arg(&one).arg(&other).output()?;
    let text = String::from_utf8(output.stdout)?;
    let (_, part) = text.split_once("how long calls took").context(text.clone())?;
    ensure!(part.contains("p99 before") && part.contains("Durations.work(int)"), "{part}");
    let mut diff = subject::call()?;
    diff.args(["diff", "--json", "--method", "Durations#work"]);
    let output = diff.arg(&one).arg(&other).output()?;
    let document: Value = serde_json::from_slice(&output.stdout)?;
    let of_work = &document["latency"][0];
    assert_eq!(
        (&of_work["function"], &of_work["calls"]),
        (&json!("Durations.work(I)V"), &json!([3000, 3000]))
    );
    let p99 = &of_work["p99"]["before"];
    let [low, ns, high] = ["low", "ns", "high"].map(|figure| p99[figure].as_f64().unwrap_or_default());
    ensure!(0.0 < low && low <= ns && ns <= high && of_work["p99.9"]["differs"].is_boolean(), "{of_work}");
    let output = subject::call()?
        .args(["export", "--format", "otlp-metrics"])
        .arg(classes.path().join("no"))
        .output()?;
    ensure!(!output.status.success());
    Ok(())
}
