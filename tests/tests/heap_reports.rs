//! `instrument heap` and the XML trace, on what the agent recorded of a program whose objects are known.

use std::path::{Path, PathBuf};
use std::process::Command;

use instrument_tests::agent;
use instrument_tests::jre::{self, Jre};
use instrument_tests::jvm;
use instrument_tests::machine::root;
use instrument_tests::subject;
use serde_json::Value;

/// Runs the program with every object followed; returns the folder of the profile, and the profile.
fn recorded(jre: &Jre) -> (agent::Outcome, PathBuf) {
    let classes = tempfile::tempdir().unwrap();
    agent::compile(&["Leak.java"], 8, classes.path()).unwrap();
    let option = agent::option("heap=objects").unwrap();
    let run = agent::run(jre, &[&option, "-cp", classes.path().to_str().unwrap(), "Leak"]).unwrap();
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "220000 2000\n"), "{}", run.stderr);
    let entries = std::fs::read_dir(run.folder.path()).unwrap().flatten().map(|entry| entry.path());
    let profile = entries.into_iter().find(|path| path.extension().is_some_and(|e| e == "iprof")).unwrap();
    (run, profile)
}

fn instrument(arguments: &[&str], profile: &Path) -> Vec<u8> {
    let mut command = Command::new(subject::instrument().unwrap());
    let done = command.args(arguments).arg(profile).output().unwrap();
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    done.stdout
}

fn json(arguments: &[&str], profile: &Path) -> Value {
    serde_json::from_slice(&instrument(arguments, profile)).unwrap()
}

/// Objects and live ones of a class made in a method.
fn made(sites: &Value, class: &str, method: &str) -> (u64, u64) {
    let rows = sites["table"]["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["class"] == class && row["methods"][0] == method);
    let row = row.unwrap_or_else(|| panic!("no {class} in {method}: {sites:#}"));
    (row["objects"].as_u64().unwrap(), row["live"].as_u64().unwrap())
}

#[test]
fn sites_and_leaks_of_a_real_program_are_found() {
    for jre in jre::all().unwrap() {
        let (_run, profile) = recorded(&jre);
        let sites = json(&["heap", "--json", "--by", "site"], &profile);
        assert_eq!(made(&sites, "Leak$Session", "Leak.login()V"), (2000, 2000));
        assert_eq!(made(&sites, "byte[]", "Leak$Session.<init>(I)V"), (2000, 2000));
        assert_eq!(made(&sites, "Leak$Price", "Leak.price(I)LLeak$Price;"), (100, 100));
        let (arrays, live) = made(&sites, "long[]", "Leak.serve(I)J");
        // The last collection comes when the last was made.
        assert_eq!((arrays, live <= 1), (20_000, true), "{live} are live");

        let leaks = json(&["heap", "--json", "--leaks"], &profile);
        let suspects = leaks["leaks"]["suspects"].as_array().unwrap();
        let ours = |suspect: &&Value| suspect["methods"].to_string().contains("Leak");
        let mut found: Vec<_> = suspects.iter().filter(ours).map(|s| s["class"].as_str().unwrap()).collect();
        found.sort_unstable();
        assert_eq!(found, ["Leak$Session", "byte[]"], "{leaks:#}");
        let parts: Vec<_> = suspects.iter().filter(ours).map(|s| (&s["leak"], &s["class"])).collect();
        assert_eq!(parts, [(&1.into(), &"Leak$Session".into()), (&1.into(), &"byte[]".into())], "one leak");

        let collections = json(&["heap", "--json", "--collections"], &profile);
        assert!(collections["collections"].as_array().unwrap().len() >= 20);
        let summary = String::from_utf8(instrument(&["heap"], &profile)).unwrap();
        assert!(
            summary.lines().count() <= 40 && summary.contains("1 leak suspect: objects of 2 kinds"),
            "{summary}"
        );
        assert!(summary.contains("recorded    objects by their constructors"), "{summary}");
        assert!(
            summary.contains("not seen    arrays and clones that classes of the JDK, hidden"),
            "{summary}"
        );
    }
}

/// That nothing was found is no answer where nothing can be found.
#[test]
fn leaks_that_cannot_be_told_have_an_exit_code_of_their_own() {
    let jre = jre::all().unwrap().remove(0);
    let classes = tempfile::tempdir().unwrap();
    agent::compile(&["Tiny.java"], 8, classes.path()).unwrap();
    for (options, reason) in [
        ("heap=counts", "that takes instrument run --heap objects"),
        ("heap=objects", "garbage collections, and at least 8 are needed"),
        ("threads=on", "that takes instrument run --heap objects"),
    ] {
        let option = agent::option(options).unwrap();
        let run = agent::run(&jre, &[&option, "-cp", classes.path().to_str().unwrap(), "Tiny"]).unwrap();
        let entries = std::fs::read_dir(run.folder.path()).unwrap().flatten().map(|entry| entry.path());
        let profile =
            entries.into_iter().find(|path| path.extension().is_some_and(|e| e == "iprof")).unwrap();
        let ask = |arguments: &[&str]| {
            Command::new(subject::instrument().unwrap()).args(arguments).arg(&profile).output().unwrap()
        };
        let done = ask(&["heap", "--leaks"]);
        let text = String::from_utf8_lossy(&done.stdout);
        assert_eq!(done.status.code(), Some(4), "{options}: {text}");
        assert!(text.starts_with("leaks: cannot tell\nnote: ") && text.contains(reason), "{options}: {text}");
        let done = ask(&["heap", "--leaks", "--json"]);
        let report: Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!((done.status.code(), &report["leaks"]["verdict"]), (Some(4), &"undetermined".into()));
        let done = ask(&["heap", "--leaks", "--csv"]);
        assert_eq!(
            (done.status.code(), String::from_utf8_lossy(&done.stderr).contains(reason)),
            (Some(4), true)
        );
        assert_eq!(ask(&["heap"]).status.code(), Some(0), "nobody asked about leaks");
    }
}

#[test]
fn the_trace_of_a_real_program_is_valid() {
    let jre = jre::all().unwrap().pop().unwrap();
    let (run, profile) = recorded(&jre);
    let jdk = jvm::jdks().unwrap().pop().unwrap();
    jvm::compile(&jdk, &[root().join("tests/java/TraceCheck.java")], run.folder.path()).unwrap();
    let file = run.folder.path().join("trace.xml");
    instrument(&["export", "--to", "xml", "-o", file.to_str().unwrap()], &profile);
    let mut check = Command::new(jdk.tool("java"));
    check.arg("-cp").arg(run.folder.path()).arg("TraceCheck").arg(root().join("analysis/schema/trace.xsd"));
    let done = check.arg(&file).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.matches("<objAlloc ").count() > 22_000 && text.matches("<gcFinish ").count() >= 20);
}
