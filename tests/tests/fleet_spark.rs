//! Datasets in Spark, with the package of `crates/fleet/spark`: its answers are those of DuckDB, which are those of the reports, and its merge is
//! the same, byte for byte, for any number of partitions and workers, also if a worker is killed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use instrument_tests::fleet::{export, profiles, rewritten};
use instrument_tests::fleet_reports::{add_ways, ask, compare as compare_with_reports, ways_of_rows};
use instrument_tests::machine::{Run, root};
use instrument_tests::readers;
use instrument_tests::rmi::chain;
use instrument_tests::subject;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A dataset of several programs, of one of them two builds, three runs each.
struct Recorded {
    folder: TempDir,
    profiles: Vec<PathBuf>,
}

impl Recorded {
    fn dataset(&self) -> PathBuf {
        self.folder.path().join("dataset")
    }
}

fn recorded() -> &'static Recorded {
    static RECORDED: OnceLock<Recorded> = OnceLock::new();
    RECORDED.get_or_init(|| record().unwrap())
}

fn record() -> Result<Recorded> {
    let folder = tempfile::tempdir()?;
    let path = folder.path();
    let jdk = rewritten(path)?;
    let mut recorded = Recorded { folder, profiles: Vec::new() };
    let path = recorded.folder.path();
    for (build, size) in [("1", "8"), ("2", "16")] {
        let runs = path.join(build);
        fs::create_dir(&runs)?;
        for _ in 0..3 {
            let mut java = jdk.java();
            java.args(["-Dinstrument.record=tree", "-Dinstrument.timing=all", "-cp"])
                .arg(path.join("rewritten"));
            java.args(["Fleet", size]).current_dir(&runs).run_quietly()?;
        }
        let profiles = profiles(&runs)?;
        ensure!(profiles.len() == 3, "{profiles:?}");
        export(&profiles, &path.join("dataset"), &["service=it's", &format!("build={build}")])?;
        recorded.profiles.extend(profiles);
    }
    // Recursion, exceptions, constructors, waits, objects and events that do not fit, of programs of the past.
    let kept: Vec<_> =
        fs::read_dir(root().join("crates/trace/tests/profiles"))?.flatten().map(|of| of.path()).collect();
    ensure!(kept.len() >= 9, "{kept:?}");
    export(&kept, &path.join("dataset"), &["service=kept"])?;
    // Once more, and one of them by itself: no process counts twice.
    export(&kept[..1], &path.join("dataset"), &["service=kept"])?;
    Ok(recorded)
}

/// Whole numbers and texts are equal; others to 1e-12, and what figures may be off by, of which datasets have 24 bits, to 1e-6.
fn is_equal(name: &str, a: &Value, b: &Value) -> bool {
    let tolerance = if name.ends_with("_error") { 1e-6 } else { 1e-12 };
    match (a.as_i64(), b.as_i64(), a.as_f64(), b.as_f64()) {
        (Some(a), Some(b), ..) => a == b,
        (_, _, Some(a), Some(b)) => (a - b).abs() <= tolerance * a.abs().max(b.abs()),
        _ => a == b,
    }
}

/// Rows by what tells them apart.
fn by_key<'a>(rows: &'a [Value], keys: &[&str]) -> BTreeMap<Vec<String>, &'a Value> {
    let found: BTreeMap<_, _> =
        rows.iter().map(|row| (keys.iter().map(|key| row[*key].to_string()).collect(), row)).collect();
    assert_eq!(found.len(), rows.len(), "{keys:?} tell rows apart");
    found
}

fn compare(what: &str, spark: &[Value], duckdb: &[Value], keys: &[&str]) {
    let [found, expected] = [spark, duckdb].map(|rows| by_key(rows, keys));
    assert!(expected.len() > 1, "{what}: {expected:?}");
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{what}");
    for (key, expected) in expected {
        for (name, value) in expected.as_object().unwrap() {
            let of = &found[&key][name];
            assert!(is_equal(name, of, value), "{what} {key:?} {name}: {of}, and {value} in DuckDB");
        }
    }
}

/// Questions of DuckDB, those of Spark, and what tells their rows apart.
const QUESTIONS: [(&str, &str, &[&str]); 6] = [
    ("xprof", "xprof", &["function", "kind"]),
    ("xtree", "xtree", &["context"]),
    ("xarc", "xarc", &["of", "of_kind", "role", "other", "other_kind"]),
    ("balance", "balance", &["function"]),
    ("top", "top_methods", &["build", "function"]),
    ("diff", "diff", &["function"]),
];

#[test]
#[ignore = "INSTRUMENT_CORPUS_FULL=1 ./x test runs it: it downloads 450 MB and takes four minutes"]
fn spark_answers_as_duckdb_does_and_merges_alike_in_any_number_of_parts() -> Result<()> {
    let recorded = recorded();
    let (dataset, merges) = (recorded.dataset(), recorded.folder.path().join("merges"));
    fs::create_dir(&merges)?;
    let both = json!({"before": "1", "after": "2"});
    let asked = json!({
        "master": "local[2]", "partitions": [1, 2, 4], "merge": merges,
        "ask": {"xprof": {}, "xtree": {}, "xarc": {}, "balance": {}, "top_methods": {"top": 5}, "diff": both},
    });
    let found = readers::ask_spark(&dataset, &asked)?;
    let expected = ask(
        &dataset,
        &[
            ("xprof", &[]),
            ("xtree", &[]),
            ("xarc", &[]),
            ("balance", &[]),
            ("top", &["--top", "5"]),
            ("diff", &["--before", "1", "--after", "2"]),
            ("invariants", &[]),
        ],
    )?;
    for partitions in ["1", "2", "4"] {
        for (of_duckdb, of_spark, keys) in QUESTIONS {
            let rows = found["answers"][partitions][of_spark].as_array().context("rows")?;
            compare(&format!("{of_spark} in {partitions}"), rows, &expected[of_duckdb], keys);
        }
        // A tree comes in the order in which it is printed.
        let order = |rows: &[Value]| rows.iter().map(|row| row["context"].clone()).collect::<Vec<_>>();
        let rows = found["answers"][partitions]["xtree"].as_array().context("rows")?;
        assert_eq!(order(rows), order(&expected["xtree"]), "{partitions}");
        for (_, of_spark, keys) in QUESTIONS {
            let of = |partitions: &str| found["answers"][partitions][of_spark].as_array().unwrap().clone();
            let [rows, alone] = [of(partitions), of("1")];
            assert_eq!(by_key(&rows, keys), by_key(&alone, keys), "{of_spark} in {partitions}");
        }
        assert_eq!(found["merges"][partitions], found["merges"]["1"], "{partitions}");
    }
    assert_eq!(found["merges"]["1"]["files"].as_object().context("files")?.len(), 8, "a file of each table");

    // The merge is a dataset, of which the answers are the same where they are of no single process.
    let merged = ask(&merges.join("2"), &[("xtree", &[]), ("balance", &[]), ("invariants", &[])])?;
    assert_eq!(merged["balance"], expected["balance"]);
    // Profiles that have nothing in common but names without a meaning do not keep all equations.
    assert_eq!(merged["invariants"], expected["invariants"]);
    let [of_merge, of_all] = [&merged["xtree"], &expected["xtree"]].map(|rows| by_key(rows, &["context"]));
    for (key, expected) in of_all {
        for name in ["calls", "wall", "wall_total", "wall_raw", "wall_raw_total", "allocations", "bytes"] {
            assert_eq!(of_merge[&key][name], expected[name], "{name} of {expected}");
        }
    }
    Ok(())
}

#[test]
#[ignore = "INSTRUMENT_CORPUS_FULL=1 ./x test runs it: it downloads 450 MB and takes four minutes"]
fn a_merge_of_spark_is_a_profile_like_any_other() -> Result<()> {
    let recorded = recorded();
    let (trees, out) = (recorded.folder.path().join("trees"), recorded.folder.path().join("one"));
    fs::create_dir(&out)?;
    export(&recorded.profiles, &trees, &["service=shop"])?;
    readers::ask_spark(&trees, &json!({"master": "local[1]", "partitions": [3], "merge": out}))?;
    let mut profiles = Vec::new();
    // Of the dataset that Spark has merged, and of the one that was written.
    for (name, dataset) in [("spark.iprof", &out.join("3")), ("all.iprof", &trees)] {
        let profile = recorded.folder.path().join(name);
        subject::call()?.args(["fleet", "profile"]).arg(dataset).arg("-o").arg(&profile).run_quietly()?;
        profiles.push(profile);
    }
    let report = |words: &[&str], files: &[PathBuf]| -> Result<Value> {
        let output = subject::call()?.args(words).arg("--json").args(files).run_quietly()?;
        Ok(serde_json::from_slice(&output.stdout)?)
    };
    let rows = |xprof: &Value| -> Vec<Value> {
        let rows = xprof["rows"].as_array().unwrap().iter();
        rows.filter(|row| row["kind"] == "method" || row["kind"] == "link").cloned().collect()
    };
    let [of_spark, of_all] = [0, 1].map(|at| report(&["xprof"], &profiles[at..=at]).unwrap());
    assert_eq!(rows(&of_spark), rows(&of_all));
    assert!(rows(&of_spark).len() > 5);
    let counts = report(&["report", "--counts"], &profiles[..1])?;
    assert_eq!(counts["methods"], report(&["report", "--counts"], &recorded.profiles)?["methods"]);
    Ok(())
}

#[test]
#[ignore = "INSTRUMENT_CORPUS_FULL=1 ./x test runs it: it downloads 450 MB and takes four minutes"]
fn a_cluster_merges_as_one_process_does_also_if_a_worker_is_killed() -> Result<()> {
    let recorded = recorded();
    let (dataset, folder) = (recorded.dataset(), recorded.folder.path());
    let merge = |name: &str, mut asked: Value| -> Result<Value> {
        let merges = folder.join(name);
        fs::create_dir(&merges)?;
        asked["merge"] = json!(merges);
        let found = readers::ask_spark(&dataset, &asked)?;
        Ok(found["merges"]["8"].clone())
    };
    let alone = merge("alone", json!({"master": "local[1]", "partitions": [8]}))?;
    let together = merge("together", json!({"workers": 2, "partitions": [8]}))?;
    let killed = merge("killed", json!({"workers": 2, "partitions": [8], "kill": true}))?;
    assert_eq!(together["files"], alone["files"]);
    assert_eq!(killed["is_killed"], true);
    assert_eq!(killed["files"], alone["files"]);
    assert!(alone["files"].as_object().context("files")?.len() == 8);
    Ok(())
}

/// Exports a chain of programs that call each other as one process into new datasets, and compares with the tree that `merge` prints, which is
/// the answer.
fn merged_chain(profiles: &[PathBuf], datasets: [&Path; 2]) -> Result<BTreeMap<String, [u64; 2]>> {
    let report = ["merge", "--process", "all", "--report", "xtree", "--json"];
    let output = subject::call()?.args(report).args(profiles).run_quietly()?;
    let document: Value = serde_json::from_slice(&output.stdout)?;
    let resources = document["resources"].as_array().context("resources")?;
    let wall = resources.iter().position(|of| of["name"] == "wall-raw").context("wall-raw")?;
    let mut expected = BTreeMap::new();
    add_ways(&document["tree"], "", wall, &mut expected);
    expected.remove("");
    // Of a remote method there is what the server did.
    let served = |way: &&String| way.contains("remote ") && way.split(" / ").last().unwrap().contains('.');
    assert!(expected.keys().filter(served).count() > 1, "{expected:?}");
    for dataset in datasets {
        let mut merge = subject::call()?;
        merge.args(["merge", "--format", "parquet", "--label", "service=beacon", "-o"]).arg(dataset);
        merge.args(profiles).run_quietly()?;
    }
    let answers = ask(datasets[0], &[("xtree", &[]), ("invariants", &[])])?;
    assert_eq!(answers["invariants"], Vec::<Value>::new());
    assert_eq!(ways_of_rows(&answers["xtree"]), expected);
    Ok(expected)
}

/// What servers did stands below the calls of their clients, in a dataset and in Spark as in `merge`.
#[test]
#[ignore = "INSTRUMENT_CORPUS_FULL=1 ./x test runs it: it downloads 450 MB and takes four minutes"]
fn programs_that_call_each_other_are_one_tree() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (both, merges) = (folder.path().join("both"), folder.path().join("merges"));
    fs::create_dir(&merges)?;
    let mut sum: BTreeMap<String, [u64; 2]> = BTreeMap::new();
    for run in ["first", "second"] {
        let profiles = chain(&folder.path().join(run))?;
        let expected = merged_chain(&profiles, [&folder.path().join(format!("{run} dataset")), &both])?;
        for (way, figures) in expected {
            let all = sum.entry(way).or_default();
            (0..2).for_each(|figure| all[figure] += figures[figure]);
        }
    }
    readers::ask_spark(&both, &json!({"master": "local[1]", "partitions": [2], "merge": merges}))?;
    let answers = ask(&merges.join("2"), &[("xtree", &[]), ("invariants", &[])])?;
    assert_eq!(answers["invariants"], Vec::<Value>::new());
    assert_eq!(ways_of_rows(&answers["xtree"]), sum);

    // The profile of it has the same calls.
    let all = folder.path().join("all.iprof");
    subject::call()?.args(["fleet", "profile"]).arg(merges.join("2")).arg("-o").arg(&all).run_quietly()?;
    let report = ["xtree", "--collapse", "threads,processes", "--json"];
    let output = subject::call()?.args(report).arg(&all).run_quietly()?;
    let document: Value = serde_json::from_slice(&output.stdout)?;
    let mut found = BTreeMap::new();
    add_ways(&document["tree"], "", 0, &mut found);
    found.remove("");
    let calls = |ways: &BTreeMap<String, [u64; 2]>| -> BTreeMap<String, u64> {
        ways.iter().map(|(way, figures)| (way.clone(), figures[0])).collect()
    };
    assert_eq!(calls(&found), calls(&sum));
    Ok(())
}

/// Recorded beside the profiles that are given: runs of the program of these tests, which calls itself, and chains of programs that call
/// each other, three profiles each.
const MORE: (usize, usize) = (25, 5);

/// Real profiles of as many programs as are given: DuckDB finds what the reports print, and Spark in 1, 2 and 4 parts what DuckDB finds.
#[test]
#[ignore = "`bench/fleet equal` runs it, on profiles that it has recorded in the folder INSTRUMENT_FLEET_PROFILES"]
fn many_real_profiles_are_the_same_in_duckdb_spark_and_reports() -> Result<()> {
    let given = std::env::var_os("INSTRUMENT_FLEET_PROFILES").context("INSTRUMENT_FLEET_PROFILES")?;
    let mut all = profiles(Path::new(&given))?;
    let folder = tempfile::tempdir()?;
    let [dataset, merges] = ["dataset", "merges"].map(|name| folder.path().join(name));
    fs::create_dir(&merges)?;
    let jdk = rewritten(folder.path())?;
    for run in 0..MORE.0 {
        let mut java = jdk.java();
        java.args(["-Dinstrument.record=tree", "-cp"]).arg(folder.path().join("rewritten"));
        java.args(["Fleet", &(8 + run % 8).to_string()]).current_dir(folder.path()).run_quietly()?;
    }
    all.extend(profiles(folder.path())?);
    // Programs by themselves: not of all of them the same is known, such as waits.
    let program = |path: &PathBuf| {
        path.file_stem().map(|name| name.to_string_lossy().split('-').next().map(str::to_owned))
    };
    for of_program in all.chunk_by(|a, b| program(a) == program(b)) {
        let name = program(&of_program[0]).flatten().context("a name")?;
        let alone = folder.path().join(format!("{name} dataset"));
        export(of_program, &alone, &[])?;
        compare_with_reports(of_program, &alone, &name)?;
        eprintln!("{name}: {} profiles", of_program.len());
    }
    export(&all, &dataset, &["service=many"])?;

    for run in 0..MORE.1 {
        let chain = chain(&folder.path().join(format!("chain-{run}")))?;
        merged_chain(&chain, [&folder.path().join(format!("chain-{run} dataset")), &dataset])?;
        all.extend(chain);
    }
    eprintln!("{} profiles", all.len());
    let asked = json!({
        "master": "local[2]", "partitions": [1, 2, 4], "merge": merges,
        "ask": {"xprof": {}, "xtree": {}, "xarc": {}, "balance": {}, "top_methods": {"top": 5}},
    });
    let found = readers::ask_spark(&dataset, &asked)?;
    let expected = ask(
        &dataset,
        &[("xprof", &[]), ("xtree", &[]), ("xarc", &[]), ("balance", &[]), ("top", &["--top", "5"])],
    )?;
    for partitions in ["1", "2", "4"] {
        for (of_duckdb, of_spark, keys) in QUESTIONS.into_iter().filter(|of| of.0 != "diff") {
            let rows = found["answers"][partitions][of_spark].as_array().context("rows")?;
            compare(&format!("{of_spark} in {partitions}"), rows, &expected[of_duckdb], keys);
        }
        assert_eq!(found["merges"][partitions], found["merges"]["1"], "{partitions}");
        eprintln!("{partitions} partitions: {}", found["seconds"][partitions]);
    }
    Ok(())
}
