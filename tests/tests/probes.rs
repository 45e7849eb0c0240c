//! Probes of one's own: rules in a file, each kind of place and value, on real JVMs; rules that are wrong; a real jar with broad rules.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::{Context, Result, ensure};
use instrument_tests::corpus::Corpus;
use instrument_tests::machine::{Jdk, java_source};
use instrument_tests::subject::call;
use serde_json::Value;

/// A folder with the victim and its probes, compiled.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Result<Place> {
        let folder = tempfile::tempdir()?;
        let jdk = kits()?.into_iter().next().context("a JDK from 17 on")?;
        let mut javac = jdk.tool("javac");
        javac.args(["--release", "17", "-g", "-XDstringConcat=inline", "-d"]).arg(folder.path().join("app"));
        for name in ["Victim.java", "Probes.java"] {
            javac.arg(java_source("probes").join(name));
        }
        let done = javac.output()?;
        ensure!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        Ok(Place { folder })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the binary here, with rules of this text.
    fn rewrite(&self, rules: &str, options: &[&str]) -> Result<Output> {
        fs::write(self.path("rules.toml"), rules)?;
        let mut command = call()?;
        command
            .current_dir(self.folder.path())
            .args(["app", "-o", "out", "--probes", "rules.toml"])
            .args(options);
        Ok(command.output()?)
    }

    fn run(&self, jdk: &Jdk, classes: &str) -> Result<String> {
        let mut java = jdk.brief_java();
        let done = java.arg("-cp").arg(self.path(classes)).arg("com.acme.Victim").output()?;
        let errors = String::from_utf8_lossy(&done.stderr);
        ensure!(done.status.success(), "Java {}: {errors}", jdk.version);
        Ok(String::from_utf8(done.stdout)?)
    }
}

/// The oldest JDK from 17 on and the newest one.
fn kits() -> Result<Vec<Jdk>> {
    let mut kits: Vec<Jdk> = Jdk::all()?.into_iter().filter(|jdk| jdk.version >= 17).collect();
    if kits.len() > 2 {
        kits.drain(1..kits.len() - 1);
    }
    Ok(kits)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Compares with a file of `tests/java/probes`, or writes it with `BLESS=1`.
fn as_blessed(name: &str, found: &str) -> Result<()> {
    let path = java_source("probes").join(name);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, found)?;
    }
    let expected = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    ensure!(expected == found, "{name} differs: BLESS=1 and git diff show where\n{found}");
    Ok(())
}

fn rules(name: &str) -> Result<String> {
    Ok(fs::read_to_string(java_source("probes").join(name))?)
}

/// What the rules that are right insert, what the program prints then, and what the account says.
#[test]
fn each_rule_calls_its_method_with_what_it_names() -> Result<()> {
    let place = Place::new()?;
    let kits = kits()?;
    let plain = place.run(&kits[0], "app")?;
    let done = place.rewrite(&rules("rules.toml")?, &["--account", "account.jsonl", "--strict"])?;
    ensure!(done.status.success(), "{}", text(&done.stderr));

    let account = fs::read_to_string(place.path("account.jsonl"))?;
    let rows = account.lines().filter(|line| line.starts_with("{\"kind\":\"probe\""));
    as_blessed("account.jsonl", &rows.map(|row| format!("{row}\n")).collect::<String>())?;

    let mut diff = call()?;
    diff.current_dir(place.folder.path()).args(["diff", "app", "out", "--debug", "--ignore", "lines"]);
    let diff = text(&diff.output()?.stdout);
    as_blessed("rules.diff", &diff)?;
    ensure!(!diff.contains("instrument/runtime"), "nothing but what rules name is inserted");
    let recorder = place.path("out/instrument");
    ensure!(!recorder.exists(), "no recorder is needed");

    for jdk in &kits {
        let said = place.run(jdk, "out")?;
        as_blessed("stdout", &said)?;
        let own: String =
            said.lines().filter(|line| !line.starts_with("  #")).map(|line| format!("{line}\n")).collect();
        ensure!(own == plain, "Java {}: what the program prints itself is the same", jdk.version);
    }
    Ok(())
}

/// Probes and the recording of methods in one run: both are there.
#[test]
fn probes_go_together_with_the_recording() -> Result<()> {
    let place = Place::new()?;
    let options = ["--transform", "method-events,bytecodes,allocation,hand-over"];
    let done = place.rewrite(&rules("rules.toml")?, &options)?;
    ensure!(done.status.success(), "{}", text(&done.stderr));
    for jdk in kits()? {
        let mut java = jdk.brief_java();
        java.current_dir(place.folder.path()).args([
            "-Dinstrument.out=profile",
            "-cp",
            "out",
            "com.acme.Victim",
        ]);
        let done = java.output()?;
        ensure!(done.status.success(), "{}", text(&done.stderr));
        as_blessed("stdout", &text(&done.stdout))?;
    }
    Ok(())
}

/// What is recorded is chosen apart from what rules choose.
#[test]
fn methods_that_are_not_recorded_get_calls() -> Result<()> {
    let place = Place::new()?;
    let options =
        ["--transform", "method-events", "--include", "com.acme.Victim$Ledger", "--account", "account.jsonl"];
    let done = place.rewrite(&rules("rules.toml")?, &options)?;
    ensure!(done.status.success(), "{}", text(&done.stderr));
    let account = fs::read_to_string(place.path("account.jsonl"))?;
    let rows = account.lines().filter(|line| line.starts_with("{\"kind\":\"probe\""));
    as_blessed("account.jsonl", &rows.map(|row| format!("{row}\n")).collect::<String>())?;
    let recorded = account
        .lines()
        .filter(|line| line.contains("\"kind\":\"method\"") && line.contains("\"outcome\":\"rewritten\""));
    ensure!(
        recorded.clone().count() == 2 && recorded.clone().all(|line| line.contains("Ledger")),
        "{account}"
    );
    for jdk in kits()? {
        let said = place.run(&jdk, "out")?;
        as_blessed("stdout", &said)?;
    }
    Ok(())
}

/// What is said of each rule that is wrong, alone in its file.
#[test]
fn wrong_rules_are_refused_or_named() -> Result<()> {
    let place = Place::new()?;
    let all = rules("wrong.toml")?;
    let mut said = String::new();
    let mut codes: BTreeMap<i32, usize> = BTreeMap::new();
    for rule in all.split("[[probe]]").skip(1) {
        let done = place.rewrite(&format!("[[probe]]{rule}"), &["--strict"])?;
        let errors = text(&done.stderr);
        ensure!(!errors.contains("panicked"), "{errors}");
        let code = done.status.code().context("no signal")?;
        *codes.entry(code).or_default() += 1;
        ensure!(code == 3 || !place.path("out").exists(), "nothing is written: {rule}");
        let relevant = errors.lines().filter(|line| line.contains("rules.toml"));
        said += &format!("exit {code}\n{}\n\n", relevant.collect::<Vec<_>>().join("\n"));
        let _ = fs::remove_dir_all(place.path("out"));
    }
    ensure!(codes == BTreeMap::from([(2, 14), (3, 6)]), "{codes:?}\n{said}");
    insta::assert_snapshot!(said);
    Ok(())
}

/// A class whose interface is not among the inputs: whether it is below another one is not known, and that is said.
#[test]
fn a_super_that_is_not_known_is_a_reason() -> Result<()> {
    const RULE: &str = r#"
        [[probe]]
        name = "collections"
        at = "entry"
        subclasses-of = "java.util.Collection"
        in = "**#toString"
        calls = "com.acme.Probes.below"
        with = ["method"]
    "#;
    let place = Place::new()?;
    fs::remove_file(place.path("app/com/acme/Victim$Priced.class"))?;
    let done = place.rewrite(RULE, &["--strict", "--account", "account.jsonl"])?;
    let errors = text(&done.stderr);
    ensure!(done.status.code() == Some(3), "{errors}");
    let said = "rule 'collections' fits nothing: all places were left (1 super-not-known)";
    ensure!(errors.contains(said), "{errors}");
    let account = fs::read_to_string(place.path("account.jsonl"))?;
    let row = r#""rule":"collections","places":0,"methods":0,"left":{"super-not-known":1}"#;
    ensure!(account.contains(row), "{account}");
    Ok(())
}

/// A real jar with rules that fit everywhere: HotSpot's judgement is the same before and after.
#[test]
fn a_real_jar_with_broad_rules_passes_the_verifier() -> Result<()> {
    const BROAD: &str = r#"
        [[probe]]
        name = "entries"
        at = "entry"
        calls = "x.P.e(Ljava/lang/String;I)V"
        with = ["method", "id"]
        [[probe]]
        name = "objects at returns"
        at = "return"
        calls = "x.P.r(Ljava/lang/Object;)V"
        with = ["this"]
        [[probe]]
        name = "exceptions"
        at = "throw"
        calls = "x.P.t(Ljava/lang/Object;Ljava/lang/Throwable;)V"
        with = ["this", "exception"]
        [[probe]]
        name = "texts"
        at = "after-call"
        of = "java.lang.StringBuilder#append"
        calls = "x.P.a(Ljava/lang/Object;Ljava/lang/StringBuilder;J)V"
        with = ["receiver", "result", { long = 1 }]
        [[probe]]
        name = "objects"
        at = "new"
        of = "**"
        calls = "x.P.n(Ljava/lang/Object;Ljava/lang/String;)V"
        with = ["result", "target"]
        [[probe]]
        name = "arrays"
        at = "new"
        of = "**[]:int[]:char[]"
        calls = "x.P.n(Ljava/lang/Object;Ljava/lang/String;)V"
        with = ["result", "target"]
        [[probe]]
        name = "receivers of fields"
        at = "put"
        of = "**.*"
        calls = "x.P.p(Ljava/lang/Object;)V"
        with = ["receiver"]
    "#;
    let corpus = Corpus::open()?;
    corpus.fetch(&["commons-lang3"])?;
    let jar = corpus.path("commons-lang3")?;
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("broad.toml"), BROAD)?;
    for options in [&[][..], &["--transform", "method-events,bytecodes,allocation"][..]] {
        let out = folder.path().join(format!("out{}.jar", options.len()));
        let mut command = call()?;
        command.current_dir(folder.path()).arg(&jar).arg("-o").arg(&out).args(["--probes", "broad.toml"]);
        command.args(["--account", "account.jsonl"]).args(options);
        let done = command.output()?;
        ensure!(done.status.success(), "{}", text(&done.stderr));
        println!("{}", text(&done.stderr));
        let rows = places(&folder.path().join("account.jsonl"))?;
        ensure!(rows.len() == 7 && rows.values().all(|places| *places > 50), "{rows:?}");
        let judged = call()?.arg("verify").arg(&out).arg("--against").arg(&jar).output()?;
        ensure!(judged.status.success(), "{}", text(&judged.stdout));
    }
    Ok(())
}

/// Places by rule.
fn places(account: &Path) -> Result<BTreeMap<String, u64>> {
    let mut rows = BTreeMap::new();
    for line in fs::read_to_string(account)?.lines() {
        let row: Value = serde_json::from_str(line)?;
        if row["kind"] == "probe" {
            let name = row["rule"].as_str().context("a rule")?.to_owned();
            rows.insert(name, row["places"].as_u64().context("places")?);
        }
    }
    Ok(rows)
}
