//! `instrument gate` on real runs: unchanged builds pass, every fault is found with the guilty context on the first line, and runs that cannot
//! be compared are refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::{Context, Result, ensure};
use instrument_tests::agent;
use instrument_tests::machine::{Jdk, Run, java_source};
use instrument_tests::subject;
use tempfile::TempDir;

/// Faults, and what the first line says of each.
const FAULTS: [(&str, &str); 20] = [
    (
        "n+1",
        "`Regressions$OrderService#list` now calls `Regressions$Connection#prepareStatement` 51 times, was 1; 50 more come from `Regressions$Item#total`",
    ),
    (
        "no-pool",
        "`Regressions$OrderService#list` now calls `Regressions$Connections#connect` 51 times, was 1; 50 more come from `Regressions$Connections#open`",
    ),
    ("no-memo", "`Regressions$Item#price` now calls `Regressions$Prices#compute`"),
    ("no-cache", "`Regressions$Settings#get` now calls `Regressions$Settings#parse` 10 times, was 1"),
    ("eager", "`Regressions$Rows#read` now calls `Regressions$"),
    ("boxing", "`Regressions$Report#sum` now calls `Regressions$Box#<init>` 51 times, was 0"),
    ("eager-logging", "`Regressions$Report#log` now calls `Regressions$"),
    ("quadratic", "`Regressions$Report#pairs` now calls `Regressions$Report#same` 2,501 times, was 51"),
    (
        "repeated-parsing",
        "`Regressions$Report#render` now calls `Regressions$Template#parse` 51 times, was 1",
    ),
    ("flush", "`Regressions$Report#render` now calls `Regressions$Output#flush` 51 times, was 1"),
    ("lost-index", "`Regressions$Index#find` now calls `Regressions$Index#isWanted` 1,275 times, was 50"),
    ("retry", "`Regressions$Client#fetch` now calls `Regressions$Client#send` 5 times, was 1"),
    ("in-the-loop", "`Regressions$Search#count` now calls `Regressions$Item#matches` 50 times, was 0"),
    ("exponential", "`Regressions$Search#fibonacci` now calls `Regressions$Search#fibonacci`"),
    ("sorted-again", "`Regressions$Search#sort` now calls `Regressions$Search#lambda$sort$*`"),
    ("copying", "`Regressions$Search#copy` now makes 51 objects, was 1"),
    ("large-buffer", "`Regressions$Search#buffer` now makes 8,208 bytes of objects, was 48"),
    ("listener-leak", "`Regressions$Listeners#fire` now calls `Regressions#lambda$main$*` 10 times, was 4"),
    ("in-the-pool", "`Regressions#work` now calls `Regressions$Settings#parse` 50 times, was 0"),
    ("repeated-close", "`Regressions$OrderService#list` now calls `Regressions$Connection"),
];

struct Shop {
    folder: TempDir,
    jdk: Jdk,
    runs: std::cell::Cell<usize>,
}

impl Shop {
    fn new() -> Result<Option<Shop>> {
        let Some(jdk) = Jdk::at_least(17)? else { return Ok(None) };
        let folder = tempfile::tempdir()?;
        let shop = Shop { folder, jdk, runs: std::cell::Cell::new(0) };
        let source = java_source("agent/Regressions.java");
        shop.jdk
            .tool("javac")
            .args(["--release", "11", "-d"])
            .arg(shop.path("classes"))
            .arg(source)
            .run_quietly()?;
        shop.instrument("out", &["--transform", "method-events,thread-links,hand-over,allocation"])?;
        Ok(Some(shop))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn instrument(&self, output: &str, options: &[&str]) -> Result<()> {
        let mut call = subject::call()?;
        call.arg(self.path("classes")).arg("-o").arg(self.path(output)).args(options).run_quietly()?;
        Ok(())
    }

    /// A profile of a run; `settings` of the recorder.
    fn run(&self, classes: &str, fault: &str, settings: &[&str]) -> Result<PathBuf> {
        self.runs.set(self.runs.get() + 1);
        let profile = self.path(&format!("{}.iprof", self.runs.get()));
        let mut java = self.jdk.brief_java();
        java.args(["-XX:TieredStopAtLevel=1", "-Dinstrument.calibrate=off"]);
        java.args(settings.iter().map(|setting| format!("-Dinstrument.{setting}")));
        java.arg(format!("-Dinstrument.out={}", profile.display()));
        java.arg("-cp").arg(self.path(classes)).args(["Regressions", fault]).run_quietly()?;
        Ok(profile)
    }

    fn gate(&self, action: &str, gate: &Path, profiles: &[PathBuf], options: &[&str]) -> Result<Output> {
        let mut call = subject::call()?;
        call.args(["gate", action]);
        match action {
            "learn" => call.args(profiles).arg("-o").arg(gate),
            _ => call.arg(gate).args(profiles),
        };
        Ok(call.args(options).output()?)
    }

    /// The exit code of a check, and what it prints.
    fn check(&self, gate: &Path, profile: &Path, options: &[&str]) -> Result<(Option<i32>, String)> {
        let output = self.gate("check", gate, &[profile.to_owned()], options)?;
        let text = String::from_utf8(output.stdout)? + &String::from_utf8(output.stderr)?;
        Ok((output.status.code(), text))
    }
}

#[test]
fn every_fault_is_found_and_nothing_else() -> Result<()> {
    let Some(shop) = Shop::new()? else { return Ok(()) };
    let gate = shop.path("shop.gate");
    let runs = (0..4).map(|_| shop.run("out", "", &[])).collect::<Result<Vec<_>>>()?;
    let learned = shop.gate("learn", &gate, &runs, &[])?;
    ensure!(learned.status.success(), "{}", String::from_utf8_lossy(&learned.stderr));
    let text = fs::read_to_string(&gate)?;
    let moved = text.split_once("[moved]").and_then(|(_, rest)| rest.split_once("[contexts]"));
    let moved = moved.context("no list of what moved")?.0;
    ensure!(moved.contains("Regressions.nanoTime()J -- timers"), "{moved}");
    // The same runs in another order: the same text.
    let again = shop.path("again.gate");
    shop.gate("learn", &again, &[&runs[2..], &runs[..2]].concat(), &[])?;
    ensure!(fs::read_to_string(&again)? == text, "the order of runs makes a difference");

    for settings in [&[][..], &["record=trace"][..]] {
        let (code, said) = shop.check(&gate, &shop.run("out", "", settings)?, &[])?;
        ensure!(code == Some(0) && said.contains("passed ("), "{said}");
    }
    let mut wrong = Vec::new();
    for (fault, expected) in FAULTS.iter() {
        let (code, said) = shop.check(&gate, &shop.run("out", fault, &[])?, &[])?;
        let first = said.lines().next().unwrap_or_default();
        if code != Some(1) || !first.starts_with(expected) {
            wrong.push(format!("{fault}: {code:?}, expected {expected}\n{said}"));
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

#[test]
fn what_cannot_be_compared_is_refused_and_new_methods_are_no_finding() -> Result<()> {
    let Some(shop) = Shop::new()? else { return Ok(()) };
    let gate = shop.path("shop.gate");
    let runs = (0..3).map(|_| shop.run("out", "", &[])).collect::<Result<Vec<_>>>()?;
    shop.gate("learn", &gate, &runs, &[])?;
    let refused = |profile: &Path, reason: &str| -> Result<()> {
        let (code, said) = shop.check(&gate, profile, &[])?;
        ensure!(code == Some(4) && said.contains(reason), "{code:?}, expected {reason}: {said}");
        Ok(())
    };
    refused(&shop.run("out", "killed", &[])?, "the program did not shut down")?;
    refused(
        &shop.run("out", "", &["record=counts"])?,
        "what is recorded (record=) differs: `counts` here, `tree` in",
    )?;
    shop.instrument("other", &["--exclude", "**Settings"])?;
    refused(&shop.run("other", "", &[])?, "what is instrumented differs")?;

    // The same program with one method more, compiled again: nothing is different but what is new.
    let source = fs::read_to_string(java_source("agent/Regressions.java"))?;
    let added = "    private static int added(int n) { Runnable one = () -> changed(); return n + 1; }\n\n    public static void main(";
    let source = source.replacen("    public static void main(", added, 1);
    let source = source.replacen("int result = report", "int result = added(0) - 1 + report", 1);
    ensure!(source.contains("added(0) - 1"), "the program has changed");
    fs::write(shop.path("Regressions.java"), source)?;
    let mut javac = shop.jdk.tool("javac");
    javac
        .args(["--release", "11", "-d"])
        .arg(shop.path("classes"))
        .arg(shop.path("Regressions.java"))
        .run_quietly()?;
    shop.instrument("next", &["--transform", "method-events,thread-links,hand-over,allocation"])?;
    let next = shop.run("next", "", &[])?;
    let (code, said) = shop.check(&gate, &next, &[])?;
    ensure!(code == Some(0) && said.contains("1 method not in the baseline"), "{said}");

    // What is right from now on is said once; a budget that is written into the file stays.
    let budget = "[[budget]]\nmethod = '**Connection#prepareStatement'\nunder = 'Regressions$OrderService#list'\ncalls = '<= 1'\n";
    let text = fs::read_to_string(&gate)?;
    fs::write(&gate, format!("{budget}{text}"))?;
    let faulty = shop.run("next", "n+1", &[])?;
    let (code, said) = shop.check(&gate, &faulty, &[])?;
    let budget_line = "`Regressions$OrderService#list` calls `Regressions$Connection#prepareStatement` 51 times; at most 1 is allowed";
    ensure!(code == Some(1) && said.contains(budget_line), "{said}");
    ensure!(shop.gate("bless", &gate, std::slice::from_ref(&faulty), &[])?.status.success());
    let (code, said) = shop.check(&gate, &faulty, &["--format", "markdown"])?;
    ensure!(code == Some(1) && said.starts_with("### Gate `shop` failed: 1 finding\n"), "{said}");
    ensure!(said.contains(budget_line), "{said}");
    fs::write(&gate, fs::read_to_string(&gate)?.replacen("<= 1'", "<= 51'", 1))?;
    let (code, said) = shop.check(&gate, &faulty, &["--format", "json"])?;
    ensure!(code == Some(0) && said.contains("\"passed\": true"), "{said}");

    // Nor is a budget of what nobody counts kept: 0 is no answer.
    let text = fs::read_to_string(&gate)?;
    fs::write(&gate, text.replacen("calls = '<= 51'", "remote = '<= 51'", 1))?;
    let (code, said) = shop.check(&gate, &faulty, &[])?;
    ensure!(code == Some(4) && said.contains("remote calls were not counted in it"), "{said}");
    fs::write(&gate, text)?;

    // A pattern that is misspelt would be a budget that is always kept.
    fs::write(&gate, fs::read_to_string(&gate)?.replacen("prepareStatement'", "prepareStatment'", 1))?;
    let (code, said) = shop.check(&gate, &faulty, &[])?;
    ensure!(
        code == Some(1) && said.contains("no method fits the budget") && said.contains("prepareStatement"),
        "{said}"
    );
    Ok(())
}

/// Both write what they record in the same words, and record the same calls.
#[test]
fn a_rewritten_program_and_one_under_the_agent_compare() -> Result<()> {
    let Some(shop) = Shop::new()? else { return Ok(()) };
    let options = ["--transform", "method-events,thread-links", "--include", "Regressions**:other.**"];
    shop.instrument("same", &options)?;
    let gate = shop.path("shop.gate");
    let runs = (0..3).map(|_| shop.run("same", "", &[])).collect::<Result<Vec<_>>>()?;
    ensure!(shop.gate("learn", &gate, &runs, &[])?.status.success());
    let under_the_agent = |fault: &str, options: &[&str]| -> Result<PathBuf> {
        let profile = shop.path(&format!("agent-{fault}.iprof"));
        let mut call = subject::call()?;
        call.args(["run", "--agent"]).arg(agent::library()?).args(options).arg("--out").arg(&profile);
        call.arg("--").arg(shop.jdk.home.join("bin/java")).arg("-cp").arg(shop.path("classes"));
        call.args(["Regressions", fault]).run_quietly()?;
        Ok(profile)
    };
    let (code, said) = shop.check(&gate, &under_the_agent("", &options)?, &[])?;
    ensure!(code == Some(0) && said.contains("passed ("), "{said}");
    let (code, said) = shop.check(&gate, &under_the_agent("n+1", &options)?, &[])?;
    ensure!(code == Some(1) && said.starts_with(FAULTS[0].1), "{said}");
    let (code, said) = shop.check(&gate, &under_the_agent("", &options[..2])?, &[])?;
    ensure!(code == Some(4) && said.contains("what is instrumented differs"), "{code:?}: {said}");
    Ok(())
}
