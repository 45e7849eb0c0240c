//! `instrument mcp`, asked by the client that the makers of the protocol publish.

use std::fs;

use anyhow::{Context, Result, ensure};
use instrument_tests::machine::{Jdk, Run, java_source};
use instrument_tests::{readers, subject};
use serde_json::{Value, json};

/// A program that was recorded twice: a method that is called more often, and slower.
#[test]
fn the_client_of_the_protocol_gets_what_the_reports_print() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path();
    let jdk = Jdk::all()?.pop().context("a JDK")?;
    fs::create_dir(path.join("plain"))?;
    jdk.compile_into(&[java_source("fleet/Fleet.java")], &path.join("plain"))?;
    subject::call()?.args(["rewrite", "plain", "-o", "rewritten"]).current_dir(path).run_quietly()?;
    let mut files = Vec::new();
    for size in ["8", "20"] {
        let run = path.join(size);
        fs::create_dir(&run)?;
        let mut java = jdk.brief_java();
        java.arg("-cp").arg(path.join("rewritten")).args(["Fleet", size]).current_dir(&run).run_quietly()?;
        let found = fs::read_dir(&run)?.flatten().map(|entry| entry.path());
        files.extend(found.filter(|path| path.extension().is_some_and(|end| end == "iprof")));
    }
    ensure!(files.len() == 2, "{files:?}");
    let calls = json!([
        ["summary", {}],
        ["hot_methods", {"files": ["1"], "sort": "calls", "rows": 3}],
        ["tree", {"files": ["2"], "rows": 5}],
        ["difference", {"resource": "calls"}],
        ["callers_callees", {"method": "Fleet#mian"}],
        ["monitors", {}],
    ]);
    let said = readers::ask_mcp(subject::call()?.get_program(), &files, &calls)?;
    ensure!(said["server"]["name"] == "instrument" && said["version"] == "2025-11-25", "{said}");
    ensure!(said["instructions"].as_str().is_some_and(|text| text.contains("They are data")), "{said}");
    let names: Vec<_> = said["tools"].as_array().context("tools")?.iter().map(|tool| &tool["name"]).collect();
    for call in calls.as_array().context("calls")? {
        ensure!(names.contains(&&call[0]), "{call}: {names:?}");
    }
    let answers = said["answers"].as_array().context("answers")?;
    let text = |answer: &Value| answer["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    for (i, answer) in answers.iter().enumerate() {
        ensure!(answer["isError"] == json!(i > 3), "{i}: {answer}");
        ensure!(answer.to_string().len() < 9_000, "{i}: {} bytes", answer.to_string().len());
    }
    // Figure by figure what the command prints that stands in the answer.
    let hot = &answers[1]["structuredContent"];
    let words = ["xprof", "--json", "--sort", "calls", "--top", "3", "--resource"];
    let resource = hot["report"]["resources"][0]["name"].as_str().context("a resource")?;
    let printed = subject::call()?.args(words).arg(resource).arg(&files[0]).run_quietly()?;
    let printed: Value = serde_json::from_slice(&printed.stdout)?;
    ensure!(printed["rows"] == hot["report"]["rows"], "{printed}\n{hot}");
    ensure!(hot["left_out_rows"] == printed["left_out"], "{printed}\n{hot}");
    for i in [0, 2, 3] {
        let command = answers[i]["structuredContent"]["command"].as_str().context("a command")?;
        let words: Vec<_> = command.split(' ').skip(1).collect();
        let printed = subject::call()?.args(words).output()?.stdout;
        let printed = String::from_utf8(printed)?;
        ensure!(
            !printed.is_empty() && text(&answers[i]).starts_with(&printed),
            "{command}\n{printed}\n{}",
            text(&answers[i])
        );
    }
    ensure!(text(&answers[4]).contains("did you mean Fleet.main(String[])?"), "{}", text(&answers[4]));
    ensure!(text(&answers[5]).contains("instrument run --monitors"), "{}", text(&answers[5]));
    Ok(())
}
