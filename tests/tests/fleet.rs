//! A dataset of Parquet files: what DuckDB makes of it is what the reports print, to the last digit.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use instrument_analysis::export::parquet::schema::{TABLES, VERSION};
use instrument_tests::agent;
use instrument_tests::fleet::{compiled, export, profiles, rewritten, without_labels};
use instrument_tests::fleet_reports::{ask, compare, report, text};
use instrument_tests::jre;
use instrument_tests::machine::{Run, root};
use instrument_tests::readers;
use instrument_tests::rmi::chain;
use instrument_tests::subject;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Profiles of one program, recorded in several ways, two of them with more to do.
struct Recorded {
    folder: TempDir,
    /// Of the first build and of the second.
    builds: [Vec<PathBuf>; 2],
}

fn recorded() -> &'static Recorded {
    static RECORDED: OnceLock<Recorded> = OnceLock::new();
    RECORDED.get_or_init(|| record().unwrap())
}

fn record() -> Result<Recorded> {
    let folder = tempfile::tempdir()?;
    let path = folder.path();
    let jdk = rewritten(path)?;
    let mut builds = [Vec::new(), Vec::new()];
    let ways: [&[&str]; 3] = [&["record=tree"], &["record=counts"], &["record=trace"]];
    for (build, size) in [(0, "8"), (1, "20")] {
        // The way that has times several times, so that builds can be compared.
        for (run, way) in ways.iter().chain([&ways[0], &ways[0]]).enumerate() {
            let runs = path.join(format!("{build}-{run}"));
            fs::create_dir(&runs)?;
            let mut java = jdk.brief_java();
            java.args(way.iter().map(|option| format!("-Dinstrument.{option}")));
            java.arg("-cp")
                .arg(path.join("rewritten"))
                .args(["Fleet", size])
                .current_dir(&runs)
                .run_quietly()?;
            builds[build].extend(profiles(&runs)?);
        }
        ensure!(builds[build].len() == 5, "{builds:?}");
    }
    Ok(Recorded { folder, builds })
}

#[test]
fn duckdb_finds_what_the_reports_print() -> Result<()> {
    let Recorded { folder, builds } = recorded();
    for (at, profile) in builds.iter().flat_map(|profiles| &profiles[..3]).enumerate() {
        let dataset = folder.path().join(format!("one-{at}"));
        export(std::slice::from_ref(profile), &dataset, &[])?;
        compare(std::slice::from_ref(profile), &dataset, &profile.display().to_string())?;
    }
    // Three processes of one build together.
    let together: Vec<PathBuf> = [0, 3, 4].map(|run| builds[1][run].clone()).to_vec();
    let dataset = folder.path().join("together");
    export(&together, &dataset, &[])?;
    compare(&together, &dataset, "together")?;
    fs::remove_dir_all(dataset.join("method_values"))?;
    compare(&together, &dataset, "together, without sums")
}

/// Which way times have changed, beyond what they may be off by.
fn assert_verdicts(rows: &[Value]) {
    for row in rows {
        let [before, after, error] = ["wall_before", "wall_after", "wall_error"]
            .map(|figure| row[figure].as_f64().unwrap_or(f64::NAN));
        let is = match after - before {
            _ if before.is_nan() || after.is_nan() || error.is_nan() => "not known",
            more if more > error => "slower",
            more if -more > error => "faster",
            _ => "within error",
        };
        assert_eq!(row["wall_is"], is, "{row}");
    }
}

fn arrow_opens_the_tables(dataset: &Path) -> Result<()> {
    let tables = readers::of_dataset("arrow_tables.py", dataset, b"")?;
    assert_eq!(tables.as_object().context("tables")?.len(), TABLES.len());
    for table in TABLES {
        let of = &tables[table.name];
        let columns: Vec<_> = table.columns.iter().map(|column| column.name).collect();
        let found: Vec<_> =
            of["columns"].as_array().context("columns")?.iter().filter_map(Value::as_str).collect();
        assert_eq!(found[..columns.len()], columns, "{}", table.name);
        assert_eq!(found[columns.len()..], ["service", "build", "day"], "{}", table.name);
        assert_eq!(of["schema"], json!([VERSION.to_string()]));
    }
    // Six processes, and two of them once more.
    assert_eq!(tables["processes"]["rows"], 8);
    Ok(())
}

#[test]
fn builds_compare_and_arrow_opens_the_tables() -> Result<()> {
    let Recorded { folder, builds } = recorded();
    let dataset = folder.path().join("builds");
    for (build, profiles) in ["1", "2"].iter().zip(builds) {
        let timed: Vec<PathBuf> = [0, 3, 4].map(|run| profiles[run].clone()).to_vec();
        export(&timed, &dataset, &["service=it's", &format!("build={build}")])?;
        // Once more, and one of them by itself: no process counts twice.
        export(&timed, &dataset, &["service=it's", &format!("build={build}")])?;
        export(&timed[..1], &dataset, &["service=it's", &format!("build={build}")])?;
    }
    let both: &[&str] = &["--before", "1", "--after", "2", "--service", "it's"];
    let questions: [(&str, &[&str]); 6] = [
        ("diff", both),
        ("callers", both),
        ("growth", both),
        ("never", &[]),
        ("top", &["--top", "3"]),
        ("xprof", &["--build", "1", "--method", "Fleet.fibonacci"]),
    ];
    let answers = ask(&dataset, &questions)?;
    let of = |question: &str, function: &str| -> Vec<Value> {
        let rows = answers[question].iter();
        rows.filter(|row| text(row, "function").starts_with(function)).cloned().collect()
    };
    // fibonacci(8) is 67 calls, fibonacci(20) 21891.
    let fibonacci = &of("diff", "Fleet.fibonacci(")[0];
    assert_eq!(
        [&fibonacci["calls_before"], &fibonacci["calls_after"], &fibonacci["calls_are"]],
        [&json!(67.0), &json!(21891.0), &json!("more")]
    );
    assert_eq!([&fibonacci["processes_before"], &fibonacci["processes_after"]], [&json!(3), &json!(3)]);
    let main = &of("diff", "Fleet.main(")[0];
    assert_eq!([&main["calls_before"], &main["calls_are"]], [&json!(1.0), &json!("same")]);
    assert_verdicts(&answers["diff"]);
    // Lists have 20 items in the place of 8: so many calls of the one for each of the other.
    let item: Vec<_> =
        of("growth", "Fleet.item(").iter().map(|row| (text(row, "caller"), row["growth"].clone())).collect();
    assert_eq!(item, [("Fleet.list(I)Ljava/util/List;".to_owned(), json!(2.5))]);
    assert!(of("growth", "Fleet.list(").is_empty(), "called as often as before");
    let callers: Vec<_> = of("callers", "Fleet.fibonacci(")
        .iter()
        .map(|row| (text(row, "caller"), text(row, "caller_is")))
        .collect();
    assert_eq!(callers, [("Fleet.fibonacci(I)J".to_owned(), "changed".to_owned())]);
    let never: Vec<_> = answers["never"].iter().map(|row| text(row, "function")).collect();
    assert!(
        never.contains(&"Fleet.neverCalled()V".to_owned())
            && !never.iter().any(|name| name.contains("main(")),
        "{never:?}"
    );
    // Three processes of each build, one of which is there twice: then it may count twice.
    let processes = of("never", "Fleet.neverCalled(")[0]["processes_at_most"].as_u64();
    assert!(processes.is_some_and(|at_most| (6..=8).contains(&at_most)), "{processes:?}");
    assert_eq!(answers["top"].len(), 2 * 3);
    assert_eq!((answers["xprof"].len(), &answers["xprof"][0]["calls"]), (1, &json!(3 * 67)));

    arrow_opens_the_tables(&dataset)?;

    // Without the sums, as in exports of version 1, the contexts give the same answers: of one build, and of both.
    for sums in ["method_values/service=it%27s/build=1", "method_values"] {
        fs::remove_dir_all(dataset.join(sums))?;
        let again = ask(&dataset, &questions)?;
        for (question, expected) in &answers {
            assert_same(&again[question], expected, &format!("{question} without {sums}"));
        }
    }
    Ok(())
}

/// The kernel counts page faults on every machine.
#[test]
fn events_that_were_sampled_are_added_up_where_they_are_the_same() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let classes = agent::compile(&["Pages.java"], 8, folder.path())?.display().to_string();
    let option = agent::option("record=samples,sample-event=page-faults:50")?;
    let outcome = agent::run(&jre::newest()?, &["-Xmx600m", &option, "-cp", &classes, "Pages"])?;
    let profile = outcome.profile().next().context("a profile")?;
    let [one, mixed] = ["one", "mixed"].map(|name| folder.path().join(name));
    export(std::slice::from_ref(&profile), &one, &[])?;
    compare(std::slice::from_ref(&profile), &one, "page faults")?;
    export(&[profile, recorded().builds[0][0].clone()], &mixed, &[])?;
    let answers = ask(&mixed, &[("xprof", &[]), ("xtree", &[])])?;
    for (question, rows) in &answers {
        let of = |name: &str| rows.iter().find(|row| text(row, "function").starts_with(name)).cloned();
        let touch = of("Pages.touch(").context("a row of the one")?;
        ensure!(touch["event"] == "page-faults" && touch["sampled"].as_u64() > Some(1_000), "{touch}");
        let other = of("Fleet.main(").context("a row of the other")?;
        ensure!(other["event"].is_null() && other["sampled_total"].is_null(), "{question}: {other}");
    }
    // Both have this one.
    let main = answers["xprof"].iter().find(|row| text(row, "function") == "main").context("a thread")?;
    ensure!(main["calls"] == 2 && main["event"].is_null() && main["sampled_total"].is_null(), "{main}");
    Ok(())
}

/// Rows are the same; what is not whole up to 10^-12, and errors up to what they are rounded by.
fn assert_same(found: &[Value], expected: &[Value], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (a, b) in found.iter().zip(expected) {
        for (column, expected) in b.as_object().unwrap() {
            let numbers = [&a[column], expected].map(|of| if of.is_f64() { of.as_f64() } else { None });
            let is_same = match numbers {
                [Some(found), Some(expected)] => {
                    let room = if column.contains("error") { 0.004 } else { 1e-12 };
                    (found - expected).abs() <= room * expected.abs()
                }
                _ => a[column] == *expected,
            };
            assert!(is_same, "{what}: {column} is {}, and {expected} before: {b}", a[column]);
        }
    }
}

#[test]
fn the_command_of_duckdb_is_run() -> Result<()> {
    let Recorded { folder, builds } = recorded();
    let dataset = folder.path().join("command");
    export(&builds[0][..1], &dataset, &["build=1"])?;
    let duckdb = folder.path().join("duckdb");
    let script = root().join("tests/readers/duckdb_command.py");
    let text = format!(
        "#!/bin/sh\nexec '{}' '{}' \"$@\"\n",
        readers::python_with_duckdb()?.display(),
        script.display()
    );
    fs::write(&duckdb, text)?;
    fs::set_permissions(&duckdb, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    let question = |duckdb: &Path, words: &[&str]| -> Result<std::process::Output> {
        subject::call()?
            .args(["fleet", "--json"])
            .args(words)
            .arg(&dataset)
            .arg("--duckdb")
            .arg(duckdb)
            .capture()
    };
    let ask = |duckdb: &Path| question(duckdb, &["balance"]);
    let output = ask(&duckdb)?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout)?;
    assert!(
        rows.iter().any(|row| row["function"] == "Fleet.fibonacci(I)J" && row["calls"] == 67),
        "{rows:?}"
    );
    let said = |output: &std::process::Output| String::from_utf8_lossy(&output.stderr).into_owned();
    // No violations of no process are no good news.
    for (words, reason) in [
        (
            &["invariants", "--build", "none"][..],
            "no process of the dataset fits service, build, since and until",
        ),
        (&["diff", "--before", "1", "--after", "none"], "of the build after: none"),
        (&["callers", "--before", "none", "--after", "1"], "of the build before: none"),
    ] {
        let output = question(&duckdb, words)?;
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        assert!(said(&output).contains(reason), "{words:?}: {}", said(&output));
    }
    // Without it, the way to it is said; what it says itself is passed on.
    let output = ask(&folder.path().join("none"))?;
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said(&output).contains("there is no such command. Install DuckDB") && said(&output).contains("--sql")
    );
    fs::write(dataset.join("values").join("broken.parquet"), "no parquet")?;
    let output = ask(&duckdb)?;
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said(&output).contains("failed") && said(&output).contains("broken.parquet"),
        "{}",
        said(&output)
    );
    Ok(())
}

/// A client and its chain of servers.
#[test]
fn remote_calls_are_those_of_merge() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let profiles = chain(folder.path())?;
    let dataset = folder.path().join("dataset");
    export(&profiles, &dataset, &[])?;
    let answers = ask(&dataset, &[("remote", &[]), ("balance", &[]), ("xprof", &[])])?;

    let services = report(&["merge", "--report", "services"], &profiles)?;
    let names = services["processes"].as_array().context("processes")?;
    let rows = services["rows"].as_array().context("rows")?;
    assert!(rows.len() >= 2 && rows.len() == answers["remote"].len(), "{rows:?}");
    for row in rows {
        let [client, server] =
            ["client", "server"].map(|side| names[row[side].as_u64().unwrap() as usize].clone());
        let of = answers["remote"]
            .iter()
            .find(|of| of["client"] == client && of["server"] == server && of["method"] == row["method"]);
        let of = of.with_context(|| format!("{row}"))?;
        let figures = [
            "made",
            "served",
            "matched",
            "failed",
            "client_ns",
            "client_max_ns",
            "server_ns",
            "server_max_ns",
        ];
        for figure in figures {
            assert_eq!(of[figure], row[figure], "{figure}: {row}");
        }
    }
    // The tree over all processes has the calls of each method; only where they stand is new in it.
    let merged = report(&["merge", "--process", "all", "--report", "stats"], &profiles)?;
    let found: BTreeMap<_, _> = answers["balance"].iter().map(|row| (text(row, "function"), row)).collect();
    let rows = merged["rows"].as_array().context("rows")?;
    assert!(rows.len() >= 4, "{rows:?}");
    for row in rows {
        let of = found[&text(row, "function")];
        assert_eq!(
            [&of["calls"], &json!(of["calls"].as_u64().unwrap() - of["open"].as_u64().unwrap())],
            [&row["calls"], &row["ended"]],
            "{row}"
        );
    }
    Ok(())
}

/// Labels that a profile has are those of its process; what the export is given counts more, and its environment less.
#[test]
fn profiles_carry_the_labels_of_their_programs() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path();
    let jdk = compiled(path)?;
    let mut run = subject::call()?;
    run.args([
        "run",
        "--name",
        "till",
        "--label",
        "service=a,b",
        "--label",
        "team=x",
        "--out",
        "run.iprof",
        "--",
    ]);
    run.arg(jdk.home.join("bin/java")).args(["-cp", "plain", "Fleet", "3"]);
    without_labels(&mut run).env("GITHUB_SHA", "c0ffee").current_dir(path).run_quietly()?;
    subject::call()?.args(["rewrite", "plain", "-o", "rewritten"]).current_dir(path).run_quietly()?;
    let mut java = jdk.brief_java();
    java.args([
        "-Dinstrument.labels=service=shop,build=1%2C2",
        "-Dinstrument.out=static.iprof",
        "-cp",
        "rewritten",
    ]);
    java.args(["Fleet", "3"]).current_dir(path).run_quietly()?;

    let partitions = |dataset: &str, labels: &[&str]| -> Result<Vec<String>> {
        let mut export = subject::call()?;
        export
            .args(["export", "--format", "parquet", "run.iprof", "static.iprof", "-o", dataset])
            .args(labels);
        let export = without_labels(&mut export).env("GITHUB_SHA", "beef").env("OTEL_SERVICE_NAME", "other");
        export.current_dir(path).run_quietly()?;
        let mut found = Vec::new();
        for service in fs::read_dir(path.join(dataset).join("processes"))?.flatten() {
            for build in fs::read_dir(service.path())?.flatten() {
                let [service, build] =
                    [&service, &build].map(|entry| entry.file_name().into_string().unwrap());
                found.push(format!("{service} {build}"));
            }
        }
        found.sort();
        Ok(found)
    };
    assert_eq!(partitions("own", &[])?, ["service=a%2Cb build=c0ffee", "service=shop build=1%2C2"]);
    assert_eq!(
        partitions("given", &["--label", "service=z"])?,
        ["service=z build=1%2C2", "service=z build=c0ffee"]
    );
    Ok(())
}
