//! The processes of a dataset as one profile: every report says of it what it says of the profiles themselves.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::{Context, Result, ensure};
use instrument_tests::fleet::{export, rewritten};
use instrument_tests::machine::{Run, root};
use instrument_tests::subject;
use serde_json::Value;

/// Programs of several kinds, each with its profiles: recursion, tasks, exceptions, constructors; trees, counts, traces, estimates.
fn programs(folder: &Path) -> Result<Vec<(String, Vec<PathBuf>)>> {
    let jdk = rewritten(folder)?;
    let mut programs = Vec::new();
    let ways: [(&str, &[&str]); 5] = [
        ("trees", &["record=tree", "timing=all"]),
        ("estimates", &["record=tree", "timing=every:8"]),
        ("counts", &["record=counts"]),
        ("traces", &["record=trace"]),
        ("not calibrated", &["record=tree", "calibrate=0"]),
    ];
    for (name, way) in ways {
        let runs = folder.join(name);
        fs::create_dir(&runs)?;
        let mut profiles = Vec::new();
        for size in ["8", "15", "20"] {
            let profile = runs.join(format!("{size}.iprof"));
            let mut java = jdk.brief_java();
            java.args(way.iter().map(|option| format!("-Dinstrument.{option}")));
            java.arg(format!("-Dinstrument.out={}", profile.display()))
                .arg("-cp")
                .arg(folder.join("rewritten"))
                .args(["Fleet", size])
                .current_dir(&runs)
                .run_quietly()?;
            ensure!(profile.exists(), "{name}: {}", profile.display());
            profiles.push(profile);
        }
        programs.push((name.to_owned(), profiles));
    }
    for kept in fs::read_dir(root().join("crates/trace/tests/profiles"))?.flatten() {
        let name = kept.file_name().to_string_lossy().into_owned();
        // These have contexts of objects that were followed and of waits, and no calls: profiles of sums have neither.
        if !name.contains("heap") && !name.contains("waits") {
            programs.push((name, vec![kept.path()]));
        }
    }
    Ok(programs)
}

fn json(words: &[&str], profiles: &[PathBuf]) -> Result<Value> {
    let output = subject::call()?.args(words).arg("--json").args(profiles).run_quietly()?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Of each resource what was consumed by itself, and with all below.
type Figures<'a> = BTreeMap<String, [&'a Value; 2]>;

/// Figures of a row that both reports have: of times those without the cost of recording, or as measured if these are not known.
fn figures<'a>(row: &'a Value, resources: &'a Value) -> Figures<'a> {
    let names: Vec<_> = resources.as_array().unwrap().iter().map(|of| of["name"].as_str().unwrap()).collect();
    let whole = if names.contains(&"wall") { "wall" } else { "wall-raw" };
    let is_compared = |name: &str| name == whole || ["allocations", "unwinds", "bytecodes"].contains(&name);
    let pairs = names.iter().enumerate().filter(|(_, name)| is_compared(name));
    pairs.map(|(at, name)| ((*name).to_owned(), [&row["base"][at], &row["cum"][at]])).collect()
}

/// Whether anything is known of a row: where threads only waited there are contexts without a call.
fn has_figures(calls: &Value, figures: &Figures<'_>) -> bool {
    *calls != 0 || figures.values().flatten().any(|figure| **figure != 0)
}

/// The rows of xprof that are of no single process or thread.
fn rows(xprof: &Value) -> BTreeMap<(String, String), (&Value, Figures<'_>)> {
    let all = xprof["rows"].as_array().unwrap().iter();
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    all.filter(|row| !["process", "thread"].contains(&row["kind"].as_str().unwrap()))
        .map(|row| {
            ((text(row, "kind"), text(row, "function")), (&row["calls"], figures(row, &xprof["resources"])))
        })
        .filter(|(_, (calls, figures))| has_figures(calls, figures))
        .collect()
}

fn ways(node: &Value, above: &str, resources: &Value, all: &mut BTreeMap<String, String>) {
    let way = if node["kind"] == "root" { String::new() } else { format!("{above} / {}", node["name"]) };
    let figures = figures(node, resources);
    if !way.is_empty() && has_figures(&node["n"], &figures) {
        all.insert(way.clone(), format!("{} {figures:?}", node["n"]));
    }
    for child in node["children"].as_array().unwrap() {
        ways(child, &way, resources, all);
    }
}

fn profile(dataset: &Path, to: &Path, words: &[&str]) -> Result<Output> {
    subject::call()?.args(["fleet", "profile"]).arg(dataset).arg("-o").arg(to).args(words).capture()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn reports_say_of_the_profile_what_they_say_of_the_profiles() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for (name, profiles) in programs(folder.path())? {
        let dataset = folder.path().join(format!("{name} dataset"));
        export(&profiles, &dataset, &[])?;
        let merged = folder.path().join(format!("{name}.iprof"));
        let output = profile(&dataset, &merged, &[])?;
        assert!(output.status.success(), "{name}: {}", said(&output));
        let merged = std::slice::from_ref(&merged);

        let [expected, found] = [&profiles[..], merged].map(|of| json(&["xprof"], of).unwrap());
        let [expected_rows, found_rows] = [&expected, &found].map(rows);
        assert!(!expected_rows.is_empty(), "{name}");
        assert_eq!(found_rows, expected_rows, "{name}");

        let words = ["xtree", "--collapse", "threads,processes"];
        let [expected, found] = [&profiles[..], merged].map(|of| {
            let (document, mut all) = (json(&words, of).unwrap(), BTreeMap::new());
            ways(&document["tree"], "", &document["resources"], &mut all);
            all
        });
        assert_eq!(found, expected, "{name}");

        let [expected, found] = [&profiles[..], merged].map(|of| json(&["report", "--counts"], of).unwrap());
        assert_eq!(found["methods"], expected["methods"], "{name}");

        let [expected, found] = [&profiles[..], merged].map(|of| json(&["stats"], of).unwrap());
        let [expected, found] = [&expected, &found].map(|of| {
            let rows = of["rows"].as_array().unwrap().iter();
            rows.filter(|row| row["calls"] != 0).collect::<Vec<_>>()
        });
        assert_eq!(expected.len(), found.len(), "{name}");
        let by_name: BTreeMap<_, _> = found.iter().map(|row| (row["function"].as_str(), row)).collect();
        for row in expected {
            let of = by_name[&row["function"].as_str()];
            for figure in ["calls", "ended", "min", "max"] {
                assert_eq!(of[figure], row[figure], "{name} {figure}: {row}");
            }
        }
    }
    Ok(())
}

#[test]
fn the_profile_is_one_for_every_command() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path();
    let programs = programs(path)?;
    let (_, trees) = &programs[0];
    let dataset = path.join("dataset");
    export(&trees[..2], &dataset, &["service=shop", "build=1"])?;
    export(&trees[2..], &dataset, &["service=shop", "build=2"])?;
    // Of a process that was exported twice nothing counts twice.
    export(&trees[..1], &dataset, &["service=shop", "build=1"])?;
    let [first, second, again] = ["1.iprof", "2.iprof", "again.iprof"].map(|name| path.join(name));
    for (file, build) in [(&first, "1"), (&second, "2"), (&again, "1")] {
        let output = profile(&dataset, file, &["--build", build, "--service", "shop"])?;
        assert!(output.status.success(), "{}", said(&output));
    }
    assert_eq!(fs::read(&first)?, fs::read(&again)?, "the same bytes for the same processes");
    let counts = json(&["report", "--counts"], std::slice::from_ref(&first))?;
    let main = counts["methods"]
        .as_array()
        .context("methods")?
        .iter()
        .find(|of| of["name"].as_str().unwrap().contains(".main("));
    assert_eq!(main.context("main")?["entries"], 2);

    let run = |words: &[&str], files: &[&Path]| {
        subject::call()?.args(words).args(files).current_dir(path).capture()
    };
    let view = run(&["view", "--html", "view.html"], &[&first])?;
    assert!(view.status.success(), "{}", said(&view));
    assert!(fs::read_to_string(path.join("view.html"))?.contains("</html>"));
    let pprof = run(&["export", "--format", "pprof", "-o", "1.pb.gz"], &[&first])?;
    assert!(pprof.status.success(), "{}", said(&pprof));
    // A baseline of one build is kept by it, and not by one with more calls.
    let learn = run(&["gate", "learn", "-o", "fleet.gate"], &[&first, &again])?;
    assert!(learn.status.success(), "{}", said(&learn));
    let check = |run: &Path| {
        subject::call()?.args(["gate", "check", "fleet.gate"]).arg(run).current_dir(path).capture()
    };
    let kept = check(&first)?;
    assert!(kept.status.success(), "{}", said(&kept));
    let grown = check(&second)?;
    assert_eq!(grown.status.code(), Some(1), "{}", said(&grown));

    let fails = |dataset: &Path, words: &[&str], reason: &str| -> Result<()> {
        let output = profile(dataset, &path.join("none.iprof"), words)?;
        assert!(!output.status.success() && said(&output).contains(reason), "{words:?}: {}", said(&output));
        assert!(!path.join("none.iprof").exists());
        Ok(())
    };
    fails(
        &dataset,
        &["--build", "3"],
        "no process of the dataset fits service, build, since and until together",
    )?;
    fails(&dataset, &["--until", "2020-01-01"], "no process of the dataset fits")?;
    fails(&dataset, &["--before", "1"], "--before and --after go with diff")?;
    fails(path, &[], "is no dataset")?;
    let (_, counts) = &programs[2];
    export(counts, &dataset, &["service=counted"])?;
    fails(&dataset, &[], "some of the processes have times and others only counts")?;
    let values = dataset.join("values").join("service=shop").join("build=1");
    let day = fs::read_dir(&values)?.next().context("a day")??.path();
    fs::write(day.join("broken.parquet"), "no parquet")?;
    fails(&dataset, &["--build", "1"], "broken.parquet is no file of the table values of a dataset")
}
