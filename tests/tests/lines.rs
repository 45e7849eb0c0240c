//! Executions of lines and branches, as lcov and as JaCoCo's XML report. What is expected stands in the comments of the victim, where it was
//! derived by hand.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use instrument_tests::agent;
use instrument_tests::corpus::Corpus;
use instrument_tests::jre;
use instrument_tests::machine::{Jdk, Run, java_source};
use instrument_tests::subject;
use tempfile::TempDir;

/// How often a line was executed, and for each of its branches each way; none: never reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Line {
    count: u64,
    branches: Vec<Vec<Option<u64>>>,
}

type Lines = BTreeMap<u32, Line>;

/// What the victim says in its comments: `//= 4 b 2/2 1/1`.
fn expected() -> Result<Lines> {
    let source = fs::read_to_string(java_source("lines/Victim.java"))?;
    let mut lines = Lines::new();
    for (text, number) in source.lines().zip(1..) {
        let Some((_, stated)) = text.split_once("//= ") else { continue };
        let mut words = stated.split_whitespace();
        let count = words.next().context("a count")?.parse()?;
        let ways = |word: &str| -> Result<Vec<Option<u64>>> {
            let counts: Vec<u64> = word.split('/').map(str::parse).collect::<Result<_, _>>()?;
            let reached = counts.iter().any(|&count| count > 0);
            Ok(counts.into_iter().map(|count| reached.then_some(count)).collect())
        };
        let branches = words.filter(|word| *word != "b").map(ways).collect::<Result<_>>()?;
        lines.insert(number, Line { count, branches });
    }
    ensure!(lines.len() > 90, "only {} lines", lines.len());
    Ok(lines)
}

/// How often functions were called, by name.
type Calls = BTreeMap<String, u64>;

/// A tracefile: per source file its lines, and how often functions were called. Sums are checked.
fn lcov(text: &str) -> Result<BTreeMap<String, (Lines, Calls)>> {
    let mut files = BTreeMap::new();
    let (mut name, mut lines, mut calls) = (String::new(), Lines::new(), BTreeMap::new());
    let mut sums: BTreeMap<String, usize> = BTreeMap::new();
    for row in text.lines() {
        let (kind, value) = row.split_once(':').unwrap_or((row, ""));
        match kind {
            "TN" | "FN" => {}
            "SF" => name = value.to_owned(),
            "FNDA" => {
                let (count, function) = value.split_once(',').context("FNDA")?;
                ensure!(calls.insert(function.to_owned(), count.parse()?).is_none(), "{row}: twice");
            }
            "DA" => {
                let (number, count) = value.split_once(',').context("DA")?;
                lines.entry(number.parse()?).or_default().count = count.parse()?;
            }
            "BRDA" => {
                let [line, block, branch, taken] = value.split(',').collect::<Vec<_>>()[..] else {
                    anyhow::bail!("{row}")
                };
                let of: &mut Line = lines.entry(line.parse()?).or_default();
                let block: usize = block.parse()?;
                of.branches.resize(of.branches.len().max(block + 1), Vec::new());
                ensure!(of.branches[block].len() == branch.parse::<usize>()?, "{row}: out of order");
                of.branches[block].push(if taken == "-" { None } else { Some(taken.parse()?) });
            }
            "FNF" | "FNH" | "BRF" | "BRH" | "LF" | "LH" => _ = sums.insert(kind.to_owned(), value.parse()?),
            "end_of_record" => {
                let ways = || lines.values().flat_map(|line| line.branches.iter().flatten());
                for (kind, found) in [
                    ("FNF", calls.len()),
                    ("FNH", calls.values().filter(|&&count| count > 0).count()),
                    ("BRF", ways().count()),
                    ("BRH", ways().filter(|way| way.is_some_and(|count| count > 0)).count()),
                    ("LF", lines.len()),
                    ("LH", lines.values().filter(|line| line.count > 0).count()),
                ] {
                    ensure!(sums.get(kind) == Some(&found), "{kind} of {name}: {sums:?}, not {found}");
                }
                let content = (std::mem::take(&mut lines), std::mem::take(&mut calls));
                ensure!(files.insert(std::mem::take(&mut name), content).is_none(), "a file twice");
            }
            other => anyhow::bail!("{other} is no row of a tracefile"),
        }
    }
    Ok(files)
}

/// The compiled victim.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Result<Bench> {
        let folder = tempfile::tempdir()?;
        let mut javac = Jdk::default_kit()?.tool("javac");
        javac.args(["--release", "8", "-Xlint:-options", "-g", "-d"]).arg(folder.path().join("classes"));
        javac.arg(java_source("lines/Victim.java")).run_quietly()?;
        Ok(Bench { folder })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn export(&self, format: &str, profiles: &[&Path]) -> Result<Command> {
        let mut command = subject::call()?;
        command.args(["export", "--format", format, "--class-path"]).arg(self.at("classes")).args(profiles);
        Ok(command)
    }

    /// The lines of the victim in its tracefile.
    fn lines(&self, profiles: &[&Path]) -> Result<(Lines, BTreeMap<String, u64>)> {
        let done = self.export("lcov", profiles)?.run_quietly()?;
        let mut files = lcov(&String::from_utf8(done.stdout)?)?;
        ensure!(files.len() == 1, "{:?}", files.keys());
        files.remove("lines/Victim.java").context("no lines of the victim")
    }

    /// A run of the rewritten victim.
    fn rewritten(&self, java: Command, transform: &str, record: &str, name: &str) -> Result<PathBuf> {
        let (out, profile) = (self.at(&format!("{name}.out")), self.at(&format!("{name}.iprof")));
        subject::rewrite(&self.at("classes"), &out, &["--transform", transform, "--record", record])?;
        let mut java = java;
        java.arg(format!("-Dinstrument.out={}", profile.display()));
        java.arg("-cp").arg(out).arg("lines.Victim").run_quietly()?;
        Ok(profile)
    }
}

fn same(what: &str, expected: &Lines, found: &Lines) -> Result<()> {
    let numbers: std::collections::BTreeSet<&u32> = expected.keys().chain(found.keys()).collect();
    let pairs = numbers.into_iter().map(|number| (number, expected.get(number), found.get(number)));
    let wrong: Vec<String> = pairs.filter(|(_, a, b)| a != b).map(|pair| format!("{pair:?}")).collect();
    ensure!(wrong.is_empty(), "{what}: line, expected, found:\n{}", wrong.join("\n"));
    Ok(())
}

#[test]
fn lines_and_branches_are_executed_as_often_as_was_derived_by_hand() -> Result<()> {
    let (bench, expected) = (Bench::new()?, expected()?);
    let machines = jre::all()?;
    ensure!(machines.len() > 1, "one virtual machine only");
    for machine in machines {
        let version = machine.version;
        for (transform, record) in [
            ("lines", "counts"),
            ("method-events,lines", "tree"),
            ("method-events,lines,bytecodes,allocation", "counts"),
            ("method-events,thread-links,lines", "trace"),
        ] {
            let name = format!("{version}-{record}-{}", transform.len());
            let profile = bench.rewritten(machine.java(), transform, record, &name)?;
            let (lines, calls) = bench.lines(&[&profile])?;
            same(&format!("{name} {transform}"), &expected, &lines)?;
            assert_eq!(calls["lines.Victim.touch()"], 21, "{calls:?}");
            assert_eq!(calls["lines.Victim.toTheStart(int)"], 2, "{calls:?}");
            assert_eq!(calls["lines.Victim.never()"], 0, "{calls:?}");
        }
        let mut java = machine.java();
        java.arg(agent::option("record=tree,include=lines.**,transform=method-events:lines")?);
        java.arg("-cp").arg(bench.at("classes")).arg("lines.Victim");
        let outcome = agent::finish(java)?;
        let profiles: Vec<PathBuf> = outcome.profile().collect();
        ensure!(profiles.len() == 1, "{}", outcome.stderr);
        same(&format!("{version} under the agent"), &expected, &bench.lines(&[&profiles[0]])?.0)?;
    }
    Ok(())
}

#[test]
fn several_profiles_are_added_up_and_sources_are_found() -> Result<()> {
    let (bench, mut expected) = (Bench::new()?, expected()?);
    let java = || Jdk::default_kit().map(Jdk::java);
    let profiles = [("1", "lines"), ("2", "method-events,lines")]
        .map(|(name, transform)| bench.rewritten(java()?, transform, "counts", name));
    let [first, second] = profiles;
    let (first, second) = (first?, second?);
    for line in expected.values_mut() {
        line.count *= 2;
        line.branches.iter_mut().flatten().flatten().for_each(|way| *way *= 2);
    }
    same("two profiles", &expected, &bench.lines(&[&first, &second])?.0)?;

    let sources = bench.at("sources");
    fs::create_dir_all(sources.join("lines"))?;
    fs::copy(java_source("lines/Victim.java"), sources.join("lines/Victim.java"))?;
    let mut command = bench.export("lcov", &[&first])?;
    let done = command.arg("--source-path").arg(&sources).run_quietly()?;
    let text = String::from_utf8(done.stdout)?;
    ensure!(text.contains(&format!("SF:{}\n", sources.join("lines/Victim.java").display())), "{text}");

    // Of what a filter leaves out there is nothing.
    let out = bench.at("filtered");
    let options =
        ["--transform", "lines", "--exclude", "lines.Victim$Unused", "--exclude", "lines.Victim#main"];
    subject::rewrite(&bench.at("classes"), &out, &options)?;
    let profile = bench.at("filtered.iprof");
    let mut java = java()?;
    java.arg(format!("-Dinstrument.out={}", profile.display())).arg("-cp").arg(&out).arg("lines.Victim");
    java.run_quietly()?;
    let (_, calls) = bench.lines(&[&profile])?;
    ensure!(!calls.keys().any(|name| name.contains("Unused") || name.contains("main(")), "{calls:?}");
    assert_eq!(calls["lines.Victim.lambdas(int)"], 1);
    Ok(())
}

#[test]
fn the_report_of_jacoco_is_valid_and_says_the_same() -> Result<()> {
    let (bench, expected) = (Bench::new()?, expected()?);
    let profile = bench.rewritten(Jdk::default_kit()?.java(), "lines", "counts", "jacoco")?;
    let report = bench.at("jacoco.xml");
    bench.export("jacoco", &[&profile])?.arg("-o").arg(&report).run_quietly()?;

    let dtd = Corpus::open()?.path("jacoco-report")?;
    let kit = Jdk::default_kit()?;
    kit.tool("javac")
        .arg("-d")
        .arg(bench.at("tools"))
        .arg(java_source("lines/Validate.java"))
        .run_quietly()?;
    let mut validate = kit.java();
    validate.arg("-cp").arg(bench.at("tools")).arg("Validate").arg(dtd).arg(&report);
    let said = String::from_utf8(validate.run_quietly()?.stdout)?;
    ensure!(said.contains(&format!("{} lines are valid", expected.len())), "{said}");

    let text = fs::read_to_string(&report)?;
    let attribute = |row: &str, name: &str| -> Result<String> {
        let (_, rest) = row.split_once(&format!(" {name}=\"")).with_context(|| format!("{name} in {row}"))?;
        Ok(rest.split_once('"').context("an end")?.0.to_owned())
    };
    let number = |row: &str, name: &str| -> Result<usize> { Ok(attribute(row, name)?.parse()?) };
    let mut found = 0;
    for row in text.lines().map(str::trim).filter(|row| row.starts_with("<line ")) {
        let line = &expected[&(number(row, "nr")? as u32)];
        let ways = || line.branches.iter().flatten();
        let taken = ways().filter(|way| way.is_some_and(|count| count > 0)).count();
        let branches = (number(row, "mb")?, number(row, "cb")?);
        assert_eq!(branches, (ways().count() - taken, taken), "{row}");
        assert_eq!(number(row, "ci")? > 0, line.count > 0, "{row}");
        found += 1;
    }
    assert_eq!(found, expected.len());
    // The last counters are those of the whole report.
    let covered = expected.values().filter(|line| line.count > 0).count();
    let missed = expected.len() - covered;
    let last = |kind: &str| text.lines().rev().find(|row| row.contains(kind)).context("a counter");
    let lines = last("\"LINE\"")?;
    assert_eq!((number(lines, "missed")?, number(lines, "covered")?), (missed, covered));
    let classes = last("\"CLASS\"")?;
    assert_eq!((number(classes, "missed")?, number(classes, "covered")?), (1, 1));
    let methods = last("\"METHOD\"")?;
    // never(), and the two of Unused.
    assert_eq!(number(methods, "missed")?, 3);
    Ok(())
}

#[test]
fn what_cannot_be_told_is_said() -> Result<()> {
    let bench = Bench::new()?;
    let java = || Jdk::default_kit().map(Jdk::java);
    let profile = bench.rewritten(java()?, "lines", "counts", "1")?;
    let none = bench.rewritten(java()?, "method-events", "counts", "none")?;
    let said = |mut command: Command| -> Result<(Option<i32>, String)> {
        let done = command.capture()?;
        Ok((done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned()))
    };
    let (code, text) = said(bench.export("lcov", &[&none])?)?;
    ensure!(
        code == Some(2) && text.contains("no counts of lines; record with --transform"),
        "{code:?} {text}"
    );

    let mut without = subject::call()?;
    without.args(["export", "--format", "jacoco"]).arg(&profile);
    let (code, text) = said(without)?;
    ensure!(code == Some(2) && text.contains("--class-path"), "{code:?} {text}");

    let mut report = subject::call()?;
    report.arg("report").arg(&profile);
    let (code, text) = said(report)?;
    ensure!(
        code == Some(0)
            && text.contains("only executions of lines were recorded; `instrument export --format lcov"),
        "{code:?} {text}"
    );

    // Another program of the same names.
    let source = fs::read_to_string(java_source("lines/Victim.java"))?;
    let other = bench.at("Victim.java");
    fs::write(&other, source.replace("counter++; //= 21", "counter += 2; //= 21"))?;
    let mut javac = Jdk::default_kit()?.tool("javac");
    javac.args(["--release", "8", "-Xlint:-options", "-g", "-d"]).arg(bench.at("other")).arg(&other);
    javac.run_quietly()?;
    let mut command = subject::call()?;
    command.args(["export", "--format", "lcov", "--class-path"]).arg(bench.at("other")).arg(&profile);
    let (code, text) = said(command)?;
    let reason = "1 method (such as lines.Victim.touch()V) had other code when they were recorded";
    ensure!(code == Some(0) && text.contains(reason), "{code:?} {text}");

    let mut refused = subject::call()?;
    refused.arg(bench.at("classes")).arg("-o").arg(bench.at("wrapped"));
    refused.args(["--transform", "method-events,lines", "--large-methods", "wrap"]);
    let (code, text) = said(refused)?;
    ensure!(code == Some(2) && text.contains("exclude each other"), "{code:?} {text}");
    Ok(())
}
