//! Probes of one's own under the agent: the same rules as for rewritten classes, on every JVM; loaders, modules, several processes.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, ensure};
use instrument_tests::agent;
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::{Jdk, Run, java_source};
use instrument_tests::subject::{self, call};
use serde_json::{Value, json};

/// A folder with compiled programs.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// `app`: the victim and its probes; `host`: a program that loads what is in `plugin`.
    fn new() -> Result<Place> {
        let place = Place { folder: tempfile::tempdir()? };
        place.compile("app", &["Victim.java", "Probes.java"])?;
        place
            .compile("host", &["host/Host.java", "host/Base.java", "host/Called.java", "host/Lines.java"])?;
        place.compile("plugin", &["host/Plugin.java"])?;
        Ok(place)
    }

    fn compile(&self, into: &str, names: &[&str]) -> Result<()> {
        let mut javac = Jdk::default_kit()?.tool("javac");
        javac.args(["--release", "11", "-g", "-XDstringConcat=inline", "-d"]).arg(self.path(into));
        javac.args(names.iter().map(|name| java_source("probes").join(name))).run_quietly()?;
        Ok(())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `instrument run OPTIONS -- COMMAND`, here.
    fn run(&self, options: &[&str], command: &[&str]) -> Result<Output> {
        for entry in fs::read_dir(self.folder.path())? {
            let path = entry?.path();
            if path.extension().is_some_and(|of| of == "iprof" || of == "jsonl") {
                fs::remove_file(path)?;
            }
        }
        let mut run = call()?;
        run.current_dir(self.folder.path()).arg("run").args(options).arg("--").args(command);
        Ok(run.output()?)
    }

    /// The same with these rules and an account, for `java -Xverify:all ARGUMENTS`.
    fn java(&self, jre: &Jre, rules: &Path, options: &[&str], arguments: &[&str]) -> Result<Output> {
        let (rules, java) = (rules.display().to_string(), program(jre));
        let options = [&["--probes", &rules, "--account", "account.jsonl"], options].concat();
        self.run(&options, &[&[&*java, "-Xverify:all"], arguments].concat())
    }

    /// The rows of the account that are about rules.
    fn rows(&self) -> Result<String> {
        let account = fs::read_to_string(self.path("account.jsonl"))?;
        let rows = account.lines().filter(|line| line.starts_with("{\"kind\":\"probe\""));
        Ok(rows.map(|row| format!("{row}\n")).collect())
    }
}

fn program(jre: &Jre) -> String {
    jre.home.join("bin/java").display().to_string()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn source(name: &str) -> PathBuf {
    java_source("probes").join(name)
}

const VICTIM: [&str; 3] = ["-cp", "app", "com.acme.Victim"];

/// Every kind of place and value: what the program prints and what the account says is what rewritten classes print and say.
#[test]
fn rules_do_under_the_agent_what_they_do_in_rewritten_classes() -> Result<()> {
    let place = Place::new()?;
    let expected = fs::read_to_string(source("account.jsonl"))?;
    for jre in jre::turn(jre::all()?) {
        let done = place.java(&jre, &source("rules.toml"), &["--strict"], &VICTIM)?;
        let errors = text(&done.stderr);
        ensure!(done.status.success(), "Java {}: {errors}", jre.version);
        ensure!(text(&done.stdout) == fs::read_to_string(source("stdout"))?, "Java {}", jre.version);
        let rows = place.rows()?;
        let named = format!("\"file\":\"{}\"", source("rules.toml").display());
        ensure!(rows.replace(&named, "\"file\":\"rules.toml\"") == expected, "Java {}: {rows}", jre.version);
        let said = "probe 'an argument that is not kept': 1 place in 1 method; left: 1 argument-assigned";
        ensure!(errors.lines().any(|line| line == said), "{errors}");
        ensure!(errors.lines().filter(|line| line.starts_with("probe '")).count() == 28, "{errors}");
        ensure!(errors.contains("nothing was recorded: --probes alone"), "{errors}");
    }
    Ok(())
}

/// With the recording of methods: its counts are those of a run without rules.
#[test]
fn the_counts_of_methods_are_those_without_rules() -> Result<()> {
    let place = Place::new()?;
    let counts = || -> Result<BTreeMap<String, u64>> {
        let methods = subject::profile(place.folder.path())?;
        ensure!(methods.iter().all(|method| method.unclosed + method.unmatched == 0), "{methods:?}");
        Ok(methods.into_iter().map(|method| (method.name, method.entries)).collect())
    };
    let options = ["--transform", "method-events,thread-links,waits", "--exclude", "com.acme.Probes"];
    for jre in jre::turn(jre::all()?) {
        let java = program(&jre);
        let plain = place.run(&options, &[&[&*java], &VICTIM[..]].concat())?;
        ensure!(plain.status.success(), "{}", text(&plain.stderr));
        let without = counts()?;
        ensure!(without["com.acme.Victim.twice"] == 2 && without.len() > 20, "{without:?}");
        let done = place.java(&jre, &source("rules.toml"), &options, &VICTIM)?;
        ensure!(done.status.success(), "{}", text(&done.stderr));
        ensure!(text(&done.stdout) == fs::read_to_string(source("stdout"))?, "Java {}", jre.version);
        let mut with = counts()?;
        // The called methods print the items that they get.
        let items = with.remove("com.acme.Victim$Item.toString");
        ensure!(items == Some(8) && !without.contains_key("com.acme.Victim$Item.toString"), "{items:?}");
        ensure!(with == without, "Java {}: {with:?}, without rules {without:?}", jre.version);
    }
    Ok(())
}

/// Methods that are not recorded get their calls all the same: those that are left out from the start, and those that are excluded later.
#[test]
fn methods_that_are_not_recorded_get_calls() -> Result<()> {
    const RULE: &str = r#"
        [[probe]]
        name = "steps"
        at = "entry"
        in = "host.Lines"
        not-in = "host.Lines#main:host.Lines#<init>"
        calls = "host.Called.called"
        with = ["method"]
    "#;
    let place = Place::new()?;
    let jre = jre::newest()?;
    let only = ["--transform", "method-events", "--include", "com.acme.Victim$Ledger"];
    let done = place.java(&jre, &source("rules.toml"), &only, &VICTIM)?;
    ensure!(text(&done.stdout) == fs::read_to_string(source("stdout"))?, "{}", text(&done.stderr));
    let methods = subject::profile(place.folder.path())?;
    let counts: BTreeMap<&str, u64> = methods.iter().map(|one| (&*one.name, one.entries)).collect();
    let called: Vec<_> = counts.iter().filter(|(_, count)| **count > 0).collect();
    let expected = [(&"com.acme.Victim$Ledger.<init>", &1), (&"com.acme.Victim$Ledger.enter", &1)];
    ensure!(called == expected, "{counts:?}");

    fs::write(place.path("steps.toml"), RULE)?;
    let mut run = call()?;
    run.current_dir(place.folder.path()).env("XDG_RUNTIME_DIR", place.folder.path());
    run.args(["run", "--probes", "steps.toml", "--transform", "method-events", "-o", "steps.iprof", "--"]);
    run.args([&*program(&jre), "-cp", "host", "host.Lines"]);
    let mut child = run.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut input = child.stdin.take().context("a pipe")?;
    let mut output = BufReader::new(child.stdout.take().context("a pipe")?);
    let mut line = || -> Result<String> {
        let mut line = String::new();
        output.read_line(&mut line)?;
        Ok(line)
    };
    let process = line()?;
    writeln!(input)?;
    ensure!((line()?, line()?) == ("  # host.Lines.step()\n".to_owned(), "step\n".to_owned()));
    let mut ctl = call()?;
    ctl.env("XDG_RUNTIME_DIR", place.folder.path()).args([
        "ctl",
        process.trim(),
        "exclude",
        "host.Lines#step",
    ]);
    ctl.run_quietly()?;
    writeln!(input)?;
    ensure!((line()?, line()?) == ("  # host.Lines.step()\n".to_owned(), "step\n".to_owned()));
    drop(input);
    let errors = text(&child.wait_with_output()?.stderr);
    ensure!(errors.contains("probe 'steps': 1 place in 1 method\n"), "{errors}");
    let profile = tempfile::tempdir()?;
    fs::copy(place.path("steps.iprof"), profile.path().join("steps.iprof"))?;
    let methods = subject::profile(profile.path())?;
    let step = methods.iter().find(|method| method.name == "host.Lines.step").context("a method")?;
    ensure!(step.entries == 1, "one call before it was excluded: {step:?}");
    Ok(())
}

/// The class of the probes is seen by some loaders and not by others; a class that it extends cannot ask for it.
#[test]
fn only_classes_that_find_the_called_one_get_calls() -> Result<()> {
    let place = Place::new()?;
    for jre in jre::turn(jre::all()?) {
        let arguments = ["-cp", "host", "host.Host", "plugin"];
        let done = place.java(&jre, &source("host/rules.toml"), &["--strict"], &arguments)?;
        let (said, errors) = (text(&done.stdout), text(&done.stderr));
        let expected = "  # plugin.Plugin.applyAsInt(int)\nplugin 40\nplugin 40\n  # host.Host.work(int)\n  # host.Host.work(int)\n\
                        [base] base 3\n";
        ensure!(said == expected, "Java {}: {said}{errors}", jre.version);
        // Two rules fit nothing.
        ensure!(done.status.code() == Some(3), "Java {}: {errors}", jre.version);
        let rows = place.rows()?;
        let rows: Vec<Value> = rows.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        let found: Vec<_> = rows.iter().map(|row| (&row["rule"], &row["places"], &row["left"])).collect();
        ensure!(
            found
                == [
                    (&json!("plugins"), &json!(1), &json!({"class-not-visible": 1})),
                    (&json!("the class above"), &json!(0), &json!({"loader-not-asked": 1})),
                    (&json!("a class of the JDK"), &json!(0), &json!({"jdk-class": 1})),
                    (&json!("own"), &json!(1), &json!({})),
                ],
            "Java {}: {found:?}",
            jre.version
        );
        for said in [
            "rule 'a class of the JDK' fits nothing: all places were left (1 jdk-class)",
            "rule 'the class above' fits nothing: all places were left (1 loader-not-asked)",
        ] {
            ensure!(errors.contains(said), "Java {}: {errors}", jre.version);
        }
    }
    Ok(())
}

/// A named module reads no class path, until it has to.
#[test]
fn a_named_module_calls_a_class_of_the_class_path() -> Result<()> {
    const RULE: &str = r#"
        [[probe]]
        name = "module"
        at = "entry"
        in = "agent.module.api.Main#twice"
        calls = "com.acme.Probes.entered"
        with = ["method"]
    "#;
    let place = Place::new()?;
    fs::write(place.path("module.toml"), RULE)?;
    let names = ["module/module-info.java", "module/agent/module/api/Main.java"];
    agent::compile(&names, 11, &place.path("modules"))?;
    for jre in jre::turn(jre::all()?) {
        let main = "agent.module/agent.module.api.Main";
        let arguments = ["-cp", "app", "-p", "modules", "-m", main];
        let done = place.java(&jre, &place.path("module.toml"), &["--strict"], &arguments)?;
        ensure!(done.status.success(), "Java {}: {}", jre.version, text(&done.stderr));
        let call = "  # entered agent.module.api.Main.twice(int)\n";
        let said = text(&done.stdout);
        ensure!(said == call.repeat(10) + "agent.module 90\n", "Java {}: {said}", jre.version);
    }
    Ok(())
}

/// What is wrong is said before the program starts; what fits nothing is said behind it.
#[test]
fn wrong_rules_keep_the_program_from_starting() -> Result<()> {
    let place = Place::new()?;
    let java = program(&jre::newest()?);
    let command = [&[&*java], &VICTIM[..]].concat();
    let plain = Command::new(&java).current_dir(place.folder.path()).args(VICTIM).output()?;
    let all = fs::read_to_string(source("wrong.toml"))?;
    let mut said = String::new();
    let mut codes: BTreeMap<i32, usize> = BTreeMap::new();
    for rule in all.split("[[probe]]").skip(1) {
        fs::write(place.path("rules.toml"), format!("[[probe]]{rule}"))?;
        let done = place.run(&["--probes", "rules.toml", "--strict"], &command)?;
        let errors = text(&done.stderr);
        ensure!(!errors.contains("panicked"), "{errors}");
        let code = done.status.code().context("no signal")?;
        *codes.entry(code).or_default() += 1;
        let expected = if code == 3 { &plain.stdout[..] } else { b"" };
        ensure!(done.stdout == expected, "exit {code}: {rule}{}", text(&done.stdout));
        let relevant = errors.lines().filter(|line| line.contains("rules.toml"));
        said += &format!("exit {code}\n{}\n\n", relevant.collect::<Vec<_>>().join("\n"));
    }
    ensure!(codes == BTreeMap::from([(2, 14), (3, 6)]), "{codes:?}\n{said}");
    insta::assert_snapshot!(said);
    Ok(())
}

/// Options that keep classes from being rewritten as they load.
#[test]
fn options_that_do_not_go_with_rules_are_refused() -> Result<()> {
    let place = Place::new()?;
    let java = program(&jre::newest()?);
    let command = [&[&*java], &VICTIM[..]].concat();
    let rules = source("rules.toml").display().to_string();
    for (option, reason) in [
        (
            "--early",
            "--probes: --early rewrites classes before your methods can be called; leave out --early",
        ),
        ("--armed", "--probes: --armed starts the program without any rewritten class; leave out --armed"),
        ("--record=off", "--probes: --record off leaves the program as it is"),
    ] {
        let done = place.run(&["--probes", &rules, option], &command)?;
        let errors = text(&done.stderr);
        ensure!(done.status.code() == Some(2) && errors.contains(reason), "{option}: {errors}");
        ensure!(done.stdout.is_empty(), "{option}: the program has started");
    }
    // The agent itself.
    let option = agent::option(&format!("probes={rules},early=on"))?;
    let done = Command::new(&java).current_dir(place.folder.path()).arg(option).args(VICTIM).output()?;
    ensure!(text(&done.stderr).contains("leave out early=on"), "{}", text(&done.stderr));
    Ok(())
}

/// A script that starts two virtual machines: its class path is not known, and the places of both are counted.
#[test]
fn places_are_summed_over_the_processes_of_a_script() -> Result<()> {
    const RULE: &str = r#"
        [[probe]]
        name = "ends"
        at = "return"
        in = "com.acme.Victim#twice"
        calls = "com.acme.Probes.returned"
        with = ["method", "result"]
    "#;
    let place = Place::new()?;
    fs::write(place.path("rules.toml"), RULE)?;
    let java = program(&jre::newest()?);
    let script = format!("{java} -cp app com.acme.Victim && {java} -cp app com.acme.Victim");
    let command = ["sh", "-c", &*script];
    let done = place.run(&["--probes", "rules.toml"], &command)?;
    let errors = text(&done.stderr);
    let reason = "class com.acme.Probes is not on the class path of the program, as far as its command tells; put it there, or name where it \
                  lies with --class-path";
    ensure!(done.status.code() == Some(2) && errors.contains(reason), "{errors}");
    let done = place.run(&["--probes", "rules.toml", "--class-path", "app", "--strict"], &command)?;
    let (said, errors) = (text(&done.stdout), text(&done.stderr));
    ensure!(done.status.success(), "{errors}");
    ensure!(errors.contains("probe 'ends': 4 places in 2 methods\n"), "{errors}");
    let calls = said
        .lines()
        .filter(|line| line.starts_with("  # returned long com.acme.Victim.twice(long) "))
        .count();
    ensure!(calls == 4, "{said}");

    // A program that loads another class of its class path.
    let command = [&*java, "-cp", "host:app", "host.Lines"];
    let done = place.run(&["--probes", "rules.toml", "--strict"], &command)?;
    let errors = text(&done.stderr);
    let reason =
        "rule 'ends' fits nothing: it fits 2 places on the class path, and no class with one was loaded";
    ensure!(done.status.code() == Some(3) && errors.contains(reason), "{errors}");
    Ok(())
}
