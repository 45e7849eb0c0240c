//! The dashboard of `crates/fleet/grafana`: its queries are those of `crates/fleet/sql`, and DuckDB answers them.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use instrument_tests::fleet::{export, profiles, rewritten};
use instrument_tests::machine::{Run, root};
use instrument_tests::readers;
use serde_json::{Value, json};

/// What the reader of a dashboard chooses, and with what it begins.
const VARIABLES: [(&str, &str, &str); 6] = [
    ("dataset", "Dataset", "/var/lib/fleet"),
    ("service", "Service (empty: all)", ""),
    ("method", "Methods that contain (empty: all)", ""),
    ("before", "Build before", ""),
    ("after", "Build after", ""),
    ("rows", "Rows", "20"),
];

/// A panel: title, files of `crates/fleet/sql`, whether it compares two builds, the kind of panel.
const PANELS: [(&str, &[&str], bool, &str); 8] = [
    ("Methods that took most, of each build (ns)", &["top_methods"], false, "table"),
    ("Own time and time with all that was called (ns)", &["xprof"], false, "table"),
    ("Calls, and whether each is accounted for", &["balance"], false, "table"),
    ("Calls one by one: shortest, longest, average, deviation (ns)", &["contexts", "stats"], false, "table"),
    ("What changed between the builds", &["diff"], true, "table"),
    ("Methods that others call than before", &["contexts", "callers_changed"], true, "table"),
    ("What one call calls more often than before (N+1)", &["contexts", "n_plus_one"], true, "table"),
    ("Methods that were there and never called", &["never_called"], false, "table"),
];

fn sql(name: &str) -> Result<String> {
    let path = root().join("crates/fleet/sql").join(format!("{name}.sql"));
    fs::read_to_string(&path).with_context(|| path.display().to_string())
}

/// The query of a panel. Grafana puts quoted values in the place of `${NAME:sqlstring}`.
fn query(files: &[&str], compares: bool) -> Result<String> {
    let chosen = |variable: &str, name: &str| {
        format!("SET VARIABLE {variable} = nullif(${{{name}:sqlstring}}, '')::VARCHAR;\n")
    };
    let mut text = String::from("SET VARIABLE dataset = ${dataset:sqlstring};\n");
    text += &chosen("service", "service");
    text += &chosen("pattern", "method");
    text += "SET VARIABLE top = ${rows:sqlstring}::BIGINT;\n";
    for (name, kind) in [("build", "VARCHAR"), ("since", "DATE"), ("until", "DATE")] {
        text += &format!("SET VARIABLE {name} = NULL::{kind};\n");
    }
    for name in ["before", "after"] {
        text +=
            &if compares { chosen(name, name) } else { format!("SET VARIABLE {name} = NULL::VARCHAR;\n") };
    }
    for file in ["dataset"].iter().chain(files) {
        text += &sql(file)?;
    }
    Ok(text)
}

fn dashboard() -> Result<Value> {
    let source = json!({"type": "motherduck-duckdb-datasource", "uid": "${source}"});
    let panel =
        |(at, (title, files, compares, kind)): (usize, (&str, &[&str], bool, &str))| -> Result<Value> {
            let target = json!({
                "refId": "A", "datasource": source, "editorMode": "code", "format": "table", "rawQuery": true,
                "rawSql": query(files, compares)?,
            });
            Ok(json!({
                "id": at + 1, "title": title, "type": kind, "datasource": source, "targets": [target],
                "gridPos": {"h": 10, "w": 12, "x": at % 2 * 12, "y": at / 2 * 10},
            }))
        };
    let panels = PANELS.into_iter().enumerate().map(panel).collect::<Result<Vec<_>>>()?;
    let mut variables = vec![json!({
        "name": "source", "label": "DuckDB", "type": "datasource", "query": "motherduck-duckdb-datasource",
    })];
    variables.extend(VARIABLES.map(|(name, label, value)| {
        json!({
            "name": name, "label": label, "type": "textbox", "query": value,
            "current": {"text": value, "value": value},
        })
    }));
    Ok(json!({
        "title": "Fleet", "uid": "instrument-fleet", "schemaVersion": 39, "tags": ["instrument"], "editable": true,
        "templating": {"list": variables}, "panels": panels,
    }))
}

/// `INSTA_UPDATE=always` writes it.
#[test]
fn the_dashboard_has_the_queries_of_the_folder_sql() -> Result<()> {
    let path = root().join("crates/fleet/grafana/fleet.json");
    let expected = serde_json::to_string_pretty(&dashboard()?)? + "\n";
    if std::env::var("INSTA_UPDATE").is_ok_and(|how| how == "always") {
        fs::write(&path, expected)?;
    } else {
        assert!(
            fs::read_to_string(&path)? == expected,
            "{} is out of date: INSTA_UPDATE=always",
            path.display()
        );
    }
    Ok(())
}

#[test]
fn every_query_of_the_dashboard_has_an_answer() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (path, dataset) = (folder.path(), folder.path().join("data's"));
    let jdk = rewritten(path)?;
    for (build, size) in [("1", "8"), ("2", "20")] {
        fs::create_dir(path.join(build))?;
        for _ in 0..2 {
            let mut java = jdk.brief_java();
            java.arg("-Dinstrument.record=tree").arg("-cp").arg(path.join("rewritten")).args(["Fleet", size]);
            java.current_dir(path.join(build)).run_quietly()?;
        }
        export(&profiles(&path.join(build))?, &dataset, &["service=it's", &format!("build={build}")])?;
    }
    let quoted = |value: &str| format!("'{}'", value.replace('\'', "''"));
    let dataset_text = dataset.to_str().context("a path")?;
    let dashboard: Value =
        serde_json::from_slice(&fs::read(root().join("crates/fleet/grafana/fleet.json"))?)?;
    let mut scripts = BTreeMap::new();
    for panel in dashboard["panels"].as_array().context("panels")? {
        let mut text = panel["targets"][0]["rawSql"].as_str().context("a query")?.to_owned();
        let values = [
            ("dataset", dataset_text),
            ("service", "it's"),
            ("method", ""),
            ("before", "1"),
            ("after", "2"),
            ("rows", "20"),
        ];
        for (name, value) in values {
            text = text.replace(&format!("${{{name}:sqlstring}}"), &quoted(value));
        }
        assert!(!text.contains("${"), "{text}");
        scripts.insert(panel["title"].as_str().context("a title")?.to_owned(), text);
    }
    assert_eq!(scripts.len(), PANELS.len());
    let answers =
        readers::of_dataset("duckdb_questions.py", &dataset, json!(scripts).to_string().as_bytes())?;
    for title in scripts.keys() {
        let rows = answers[title].as_array().with_context(|| format!("rows of {title}"))?;
        assert!(!rows.is_empty() && rows.len() <= 40, "{title}: {rows:?}");
    }
    // fibonacci(20) is 21891 calls, in each of two processes.
    let calls =
        answers[PANELS[2].0].as_array().unwrap().iter().find(|row| row["function"] == "Fleet.fibonacci(I)J");
    assert_eq!(calls.context("fibonacci")?["calls"], 2 * (67 + 21891));
    Ok(())
}
