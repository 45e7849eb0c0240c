//! A dataset of Parquet files: what DuckDB makes of it is what the reports print, to the last digit.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use instrument_analysis::export::parquet::schema::TABLES;
use instrument_tests::fleet::{compiled, export, profiles, rewritten, without_labels};
use instrument_tests::machine::{Run, root};
use instrument_tests::readers;
use instrument_tests::rmi::{Running, TRANSFORMS, free_port, java, jre, profile};
use instrument_tests::subject;
use serde_json::{Value, json};
use tempfile::TempDir;

/// What is compared of each resource, by the columns of the questions.
const RESOURCES: [&str; 8] =
    ["wall", "wall_raw", "running", "waiting", "cpu", "allocations", "bytes", "bytecodes"];

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
            let mut java = std::process::Command::new(jdk.tool("java"));
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

/// The SQL of a question.
fn sql(question: &str, dataset: &Path, options: &[&str]) -> Result<String> {
    let output =
        subject::call()?.args(["fleet", question]).arg(dataset).arg("--sql").args(options).run_quietly()?;
    Ok(String::from_utf8(output.stdout)?)
}

/// The answers of DuckDB.
fn ask(dataset: &Path, questions: &[(&str, &[&str])]) -> Result<BTreeMap<String, Vec<Value>>> {
    let scripts =
        questions.iter().map(|(name, options)| Ok(((*name).to_owned(), json!(sql(name, dataset, options)?))));
    let scripts = Value::Object(scripts.collect::<Result<_>>()?);
    let answers = readers::of_dataset("duckdb_questions.py", dataset, scripts.to_string().as_bytes())?;
    Ok(serde_json::from_value(answers)?)
}

fn report(command: &[&str], profiles: &[PathBuf]) -> Result<Value> {
    let output = subject::call()?.args(command).arg("--json").args(profiles).run_quietly()?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn text(row: &Value, key: &str) -> String {
    row[key].as_str().unwrap_or_else(|| panic!("{key}: {row}")).to_owned()
}

/// A row's calls and, of each resource that a report has, base and cum with what they may be off by.
fn figures(row: &Value, resources: &Value, calls: &str) -> Vec<(String, Value)> {
    let mut figures = vec![("calls".to_owned(), row[calls].clone())];
    for (at, resource) in resources.as_array().unwrap().iter().enumerate() {
        let name = resource["name"].as_str().unwrap().replace('-', "_");
        if RESOURCES.contains(&name.as_str()) {
            figures.push((name.clone(), row["base"][at].clone()));
            figures.push((format!("{name}_total"), row["cum"][at].clone()));
            if name == "wall" {
                figures.push(("wall_error".into(), row["base_error"][at].clone()));
                figures.push(("wall_total_error".into(), row["cum_error"][at].clone()));
            }
        }
    }
    figures
}

/// Whole numbers are the same; what may be off by how much is, to a millionth and to the whole ns that reports print.
fn assert_figures(found: &Value, expected: &[(String, Value)], what: &str) {
    assert!(expected.len() > 1 || what.contains("counts"), "{what}: {expected:?}");
    for (name, expected) in
        expected.iter().filter(|(name, _)| !found[name].is_null() || !name.contains("error"))
    {
        let is_same = match name.contains("error") {
            true => {
                let [a, b] = [&found[name], expected]
                    .map(|value| value.as_f64().unwrap_or_else(|| panic!("{what} {name}: {value}")));
                (a - b).abs() <= 1.0 + 1e-6 * b
            }
            false => found[name] == *expected,
        };
        assert!(is_same, "{what}: {name} is {}, and {expected} in the report", found[name]);
    }
}

/// Rows of xtree by their way, of a document.
fn ways(node: &Value, above: &str, resources: &Value, all: &mut BTreeMap<String, Vec<(String, Value)>>) {
    let way = match node["kind"].as_str() {
        Some("root") => String::new(),
        _ => format!("{above} / {}", text(node, "name")),
    };
    if !way.is_empty() {
        all.insert(way.clone(), figures(node, resources, "n"));
    }
    for child in node["children"].as_array().unwrap() {
        ways(child, &way, resources, all);
    }
}

/// Asks the dataset of one profile, or of several, and compares with the reports.
fn compare(profiles: &[PathBuf], dataset: &Path, what: &str) -> Result<()> {
    let none: &[&str] = &[];
    let answers =
        ask(dataset, &["xprof", "xtree", "xarc", "stats", "balance", "invariants"].map(|name| (name, none)))?;
    assert_eq!(answers["invariants"], Vec::<Value>::new(), "{what}");

    let xprof = report(&["xprof"], profiles)?;
    let key = |row: &Value| (text(row, "kind"), text(row, "function"));
    let found: BTreeMap<_, _> = answers["xprof"].iter().map(|row| (key(row), row)).collect();
    let rows = xprof["rows"].as_array().context("rows")?;
    assert_eq!(found.len(), rows.len(), "{what}");
    for row in rows {
        let name = key(row);
        let of = found.get(&name).with_context(|| format!("{what}: {name:?}"))?;
        assert_figures(of, &figures(row, &xprof["resources"], "calls"), &format!("{what} {name:?}"));
    }

    let xtree = report(&["xtree", "--collapse", "threads,processes"], profiles)?;
    let mut expected = BTreeMap::new();
    ways(&xtree["tree"], "", &xtree["resources"], &mut expected);
    let (mut path, mut found) = (Vec::new(), BTreeMap::new());
    for row in &answers["xtree"] {
        path.truncate(row["depth"].as_u64().context("depth")? as usize - 1);
        path.push(format!(" / {}", text(row, "function")));
        found.insert(path.concat(), row);
    }
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{what}");
    for (way, expected) in &expected {
        assert_figures(found[way], expected, &format!("{what}{way}"));
    }

    let xarc = report(&["xarc"], profiles)?;
    let key = |row: &Value, role: &str, of: &str| {
        (of.to_owned(), role.to_owned(), text(row, "other"), text(row, "other_kind"))
    };
    let found: BTreeMap<_, _> =
        answers["xarc"].iter().map(|row| (key(row, &text(row, "role"), &text(row, "of")), row)).collect();
    let mut lines = 0;
    for stanza in xarc["stanzas"].as_array().context("stanzas")? {
        let of = text(&stanza["self"], "function");
        let own = std::slice::from_ref(&stanza["self"]);
        let [parents, children] =
            ["parents", "children"].map(|key| stanza[key].as_array().unwrap().as_slice());
        for (role, line) in [("self", own), ("parent", parents), ("child", children)]
            .into_iter()
            .flat_map(|(role, rows)| rows.iter().map(move |row| (role, row)))
        {
            lines += 1;
            let name = (of.clone(), role.to_owned(), text(line, "function"), text(line, "kind"));
            let of = found.get(&name).with_context(|| format!("{what}: {name:?}"))?;
            let expected = figures(line, &xarc["resources"], "calls");
            let expected: Vec<_> = expected.into_iter().filter(|(name, _)| !of[name].is_null()).collect();
            assert_figures(of, &expected, &format!("{what} {name:?}"));
        }
    }
    assert_eq!(lines, found.len(), "{what}");

    let stats = report(&["stats"], profiles)?;
    let found: BTreeMap<_, _> = answers["stats"].iter().map(|row| (text(row, "function"), row)).collect();
    for row in stats["rows"].as_array().context("rows")? {
        let of = found[&text(row, "function")];
        for figure in ["calls", "ended", "total", "min", "max"] {
            assert_eq!(of[figure], row[figure], "{what} {figure}: {row}");
        }
        for figure in ["average", "deviation", "exact"].into_iter().filter(|figure| !row[figure].is_null()) {
            let [a, b] = [&of[figure], &row[figure]].map(|value| value.as_f64().unwrap_or(f64::NAN));
            assert!((a - b).abs() <= 1e-12 * b.abs(), "{what} {figure}: {a}, not {b}");
        }
    }

    let counts = report(&["report", "--counts"], profiles)?;
    let found: BTreeMap<_, _> = answers["balance"].iter().map(|row| (text(row, "function"), row)).collect();
    let rows = counts["methods"].as_array().context("methods")?;
    assert!(!rows.is_empty() && rows.len() == found.len(), "{what}");
    for row in rows {
        let of = found[&text(row, "name")];
        assert_eq!(of["balances"], true, "{what}: {of}");
        assert_eq!(of["calls"], row["entries"], "{what}");
        for end in ["exits", "unwinds", "aborted", "unclosed", "unmatched", "open"] {
            assert_eq!(of[end], row[end], "{what} {end}: {row}");
        }
    }
    Ok(())
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
    compare(&together, &dataset, "together")
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
    for row in &answers["diff"] {
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
    assert_eq!(answers["top"].len(), 2 * 3);
    assert_eq!((answers["xprof"].len(), &answers["xprof"][0]["calls"]), (1, &json!(3 * 67)));

    let tables = readers::of_dataset("arrow_tables.py", &dataset, b"")?;
    assert_eq!(tables.as_object().context("tables")?.len(), TABLES.len());
    for table in TABLES {
        let of = &tables[table.name];
        let columns: Vec<_> = table.columns.iter().map(|column| column.name).collect();
        let found: Vec<_> =
            of["columns"].as_array().context("columns")?.iter().filter_map(Value::as_str).collect();
        assert_eq!(found[..columns.len()], columns, "{}", table.name);
        assert_eq!(found[columns.len()..], ["service", "build", "day"], "{}", table.name);
        assert_eq!(of["schema"], json!(["1"]));
    }
    // Six processes, and two of them once more.
    assert_eq!(tables["processes"]["rows"], 8);
    Ok(())
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
    let port = free_port().to_string();
    let options = format!("{TRANSFORMS},clock=monotonic,record=tree");
    let mut servers = Vec::new();
    for (index, (name, next)) in [("s2", "end"), ("s1", "s2")].into_iter().enumerate() {
        let mut java = java(&jre(index), Some(&options), name, folder.path())?;
        java.args(["BeaconServer", &port, name, next]);
        servers.push(Running::start(java, name, folder.path())?);
    }
    let mut client = java(&jre(2), Some(&options), "client", folder.path())?;
    client.args(["BeaconClient", &port, "s1", "20"]).run_quietly()?;
    for server in servers {
        server.stop()?;
    }
    let profiles: Vec<PathBuf> =
        ["client", "s1", "s2"].iter().map(|name| profile(folder.path(), name)).collect::<Result<_>>()?;
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
    run.arg(jdk.tool("java")).args(["-cp", "plain", "Fleet", "3"]);
    without_labels(&mut run).env("GITHUB_SHA", "c0ffee").current_dir(path).run_quietly()?;
    subject::call()?.args(["rewrite", "plain", "-o", "rewritten"]).current_dir(path).run_quietly()?;
    let mut java = std::process::Command::new(jdk.tool("java"));
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
