//! What DuckDB makes of a dataset, compared with what the reports print of its profiles.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::machine::Run;
use crate::{readers, subject};

/// What is compared of each resource, by the columns of the questions.
const RESOURCES: [&str; 9] =
    ["wall", "wall_raw", "running", "waiting", "cpu", "allocations", "bytes", "bytecodes", "sampled"];
/// An event that tests sample, whose figures are `sampled`.
const EVENT: &str = "page-faults";

/// The SQL of a question.
fn sql(question: &str, dataset: &Path, options: &[&str]) -> Result<String> {
    let output =
        subject::call()?.args(["fleet", question]).arg(dataset).arg("--sql").args(options).run_quietly()?;
    Ok(String::from_utf8(output.stdout)?)
}

/// The answers of DuckDB to questions, each with its options.
///
/// # Errors
/// DuckDB cannot be fetched, or what it says.
pub fn ask(dataset: &Path, questions: &[(&str, &[&str])]) -> Result<BTreeMap<String, Vec<Value>>> {
    let scripts =
        questions.iter().map(|(name, options)| Ok(((*name).to_owned(), json!(sql(name, dataset, options)?))));
    let scripts = Value::Object(scripts.collect::<Result<_>>()?);
    let answers = readers::of_dataset("duckdb_questions.py", dataset, scripts.to_string().as_bytes())?;
    Ok(serde_json::from_value(answers)?)
}

/// What a command says of profiles, as JSON.
///
/// # Errors
/// It fails.
pub fn report(command: &[&str], profiles: &[PathBuf]) -> Result<Value> {
    let output = subject::call()?.args(command).arg("--json").args(profiles).run_quietly()?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// A text of a row.
///
/// # Panics
/// There is none.
pub fn text(row: &Value, key: &str) -> String {
    row[key].as_str().unwrap_or_else(|| panic!("{key}: {row}")).to_owned()
}

/// A row's calls and, of each resource that a report has, base and cum with what they may be off by.
fn figures(row: &Value, resources: &Value, calls: &str) -> Vec<(String, Value)> {
    let mut figures = vec![("calls".to_owned(), row[calls].clone())];
    for (at, resource) in resources.as_array().unwrap().iter().enumerate() {
        let name = resource["name"].as_str().unwrap();
        let name = if name == EVENT { "sampled".to_owned() } else { name.replace('-', "_") };
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

/// Whole numbers are the same; what may be off by how much is rounded up to 10 bits in datasets, and to whole ns in reports.
fn assert_figures(found: &Value, expected: &[(String, Value)], what: &str) {
    assert!(expected.len() > 1 || what.contains("counts"), "{what}: {expected:?}");
    // A question need not have all columns; an error may be unknown.
    let has = |name: &str| found.get(name).is_some_and(|of| !of.is_null() || !name.contains("error"));
    for (name, expected) in expected.iter().filter(|(name, _)| has(name)) {
        let is_same = match name.contains("error") {
            true => {
                let [a, b] = [&found[name], expected]
                    .map(|value| value.as_f64().unwrap_or_else(|| panic!("{what} {name}: {value}")));
                a >= b - 1.0 - 1e-6 * b && a <= b + 1.0 + 0.002 * b
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
///
/// # Errors
/// DuckDB or a report fails, or one of them does not have what the other has.
///
/// # Panics
/// They do not say the same.
pub fn compare(profiles: &[PathBuf], dataset: &Path, what: &str) -> Result<()> {
    let none: &[&str] = &[];
    let answers =
        ask(dataset, &["xprof", "xtree", "xarc", "stats", "balance", "invariants"].map(|name| (name, none)))?;
    assert_eq!(answers["invariants"], Vec::<Value>::new(), "{what}");

    compare_xprof(&answers["xprof"], profiles, what)?;
    compare_xtree(&answers["xtree"], profiles, what)?;
    compare_xarc(&answers["xarc"], profiles, what)?;
    compare_stats(&answers["stats"], profiles, what)?;
    compare_balance(&answers["balance"], profiles, what)
}

fn compare_xprof(answers: &[Value], profiles: &[PathBuf], what: &str) -> Result<()> {
    let xprof = report(&["xprof"], profiles)?;
    let key = |row: &Value| (text(row, "kind"), text(row, "function"));
    let found: BTreeMap<_, _> = answers.iter().map(|row| (key(row), row)).collect();
    let rows = xprof["rows"].as_array().context("rows")?;
    assert_eq!(found.len(), rows.len(), "{what}");
    for row in rows {
        let name = key(row);
        let of = found.get(&name).with_context(|| format!("{what}: {name:?}"))?;
        assert_figures(of, &figures(row, &xprof["resources"], "calls"), &format!("{what} {name:?}"));
    }
    Ok(())
}

fn compare_xtree(answers: &[Value], profiles: &[PathBuf], what: &str) -> Result<()> {
    let xtree = report(&["xtree", "--collapse", "threads,processes"], profiles)?;
    let mut expected = BTreeMap::new();
    ways(&xtree["tree"], "", &xtree["resources"], &mut expected);
    let (mut path, mut found) = (Vec::new(), BTreeMap::new());
    for row in answers {
        path.truncate(row["depth"].as_u64().context("depth")? as usize - 1);
        path.push(format!(" / {}", text(row, "function")));
        found.insert(path.concat(), row);
    }
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{what}");
    for (way, expected) in &expected {
        assert_figures(found[way], expected, &format!("{what}{way}"));
    }
    Ok(())
}

fn compare_xarc(answers: &[Value], profiles: &[PathBuf], what: &str) -> Result<()> {
    let xarc = report(&["xarc"], profiles)?;
    let key = |row: &Value, role: &str, of: &str| {
        (of.to_owned(), role.to_owned(), text(row, "other"), text(row, "other_kind"))
    };
    let found: BTreeMap<_, _> =
        answers.iter().map(|row| (key(row, &text(row, "role"), &text(row, "of")), row)).collect();
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
    Ok(())
}

fn compare_stats(answers: &[Value], profiles: &[PathBuf], what: &str) -> Result<()> {
    let stats = report(&["stats"], profiles)?;
    let found: BTreeMap<_, _> = answers.iter().map(|row| (text(row, "function"), row)).collect();
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
    Ok(())
}

fn compare_balance(answers: &[Value], profiles: &[PathBuf], what: &str) -> Result<()> {
    let counts = report(&["report", "--counts"], profiles)?;
    let found: BTreeMap<_, _> = answers.iter().map(|row| (text(row, "function"), row)).collect();
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

/// Adds calls and times by the way of methods, without the processes and threads in between, of a tree as reports print it; `wall`: index of
/// the resource.
///
/// # Panics
/// It is no such tree.
pub fn add_ways(node: &Value, above: &str, wall: usize, all: &mut BTreeMap<String, [u64; 2]>) {
    let is_context = ["method", "link", "deeper"].contains(&node["kind"].as_str().unwrap());
    let way =
        if is_context { format!("{above} / {}", node["name"].as_str().unwrap()) } else { above.to_owned() };
    let sums = all.entry(way.clone()).or_default();
    if is_context {
        sums[0] += node["n"].as_u64().unwrap();
    }
    sums[1] += node["base"][wall].as_u64().unwrap();
    for child in node["children"].as_array().unwrap() {
        add_ways(child, &way, wall, all);
    }
}

/// The same of the rows of a tree that DuckDB or Spark has found.
///
/// # Panics
/// They are no such rows.
pub fn ways_of_rows(rows: &[Value]) -> BTreeMap<String, [u64; 2]> {
    let (mut path, mut all) = (Vec::new(), BTreeMap::new());
    for row in rows {
        path.truncate(row["depth"].as_u64().unwrap() as usize - 1);
        path.push(format!(" / {}", row["function"].as_str().unwrap()));
        all.insert(path.concat(), [&row["calls"], &row["wall_raw"]].map(|figure| figure.as_u64().unwrap()));
    }
    all
}
