//! What `instrument diff` says of the APIs of two versions of a library, against japicmp: both judge each class of pairs of real libraries.
//!
//! `tests/compatibility.txt` has the pairs, and each class of which the two say something else, with the reason why ours holds. A usual run
//! takes the pairs that are marked so.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use instrument_tests::corpus::Corpus;
use instrument_tests::machine::{Jdk, Run};
use instrument_tests::subject::call;
use serde_json::Value;

const PAIRS: &str = include_str!("../compatibility.txt");

/// `C`: compatible, `S`: sources break, `B`: compiled code breaks, too.
type Verdicts = BTreeMap<String, char>;

struct Pair {
    before: &'static str,
    after: &'static str,
    is_usual: bool,
    /// japicmp's verdict and ours, by class.
    differences: BTreeMap<&'static str, (char, char)>,
}

/// The pairs; reasons are names of those that the file explains.
fn pairs() -> Result<Vec<Pair>> {
    let mut reasons = BTreeSet::new();
    let mut pairs: Vec<Pair> = Vec::new();
    for line in PAIRS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (&words[..], pairs.last_mut()) {
            (["reason", name, ..], _) => _ = reasons.insert(*name),
            (["pair", before, after, rest @ ..], _) => {
                let is_usual = rest == ["usual"];
                pairs.push(Pair { before, after, is_usual, differences: BTreeMap::new() });
            }
            ([class, japicmp, ours, reason], Some(pair)) => {
                ensure!(reasons.contains(reason), "compatibility.txt: no such reason: {line}");
                let verdict = |word: &str| word.chars().next().context("no verdict");
                pair.differences.insert(class, (verdict(japicmp)?, verdict(ours)?));
            }
            _ => anyhow::bail!("compatibility.txt: {line}"),
        }
    }
    Ok(pairs)
}

fn worse(verdicts: &mut Verdicts, class: String, binary: bool, source: bool) {
    let verdict = if !binary {
        'B'
    } else if !source {
        'S'
    } else {
        'C'
    };
    let rank = |verdict| "CSB".find(verdict);
    let known = verdicts.entry(class).or_insert('C');
    if rank(verdict) > rank(*known) {
        *known = verdict;
    }
}

/// Of each class that japicmp lists: the worst of all changes in it.
fn japicmp(tool: &Path, before: &Path, after: &Path) -> Result<Verdicts> {
    let work = tempfile::tempdir()?;
    let file = work.path().join("out.xml");
    let mut run = Jdk::default_kit()?.brief_java();
    run.arg("-jar").arg(tool).arg("-o").arg(before).arg("-n").arg(after);
    run.args(["-a", "protected", "--ignore-missing-classes", "-x"]).arg(&file).run_quietly()?;
    let text = std::fs::read_to_string(&file)?;
    let attribute = |element: &str, name: &str| -> Option<String> {
        let (_, rest) = element.split_once(&format!(" {name}=\""))?;
        Some(rest.split_once('"')?.0.to_owned())
    };
    let mut verdicts = Verdicts::new();
    let mut class = String::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with("<class ") {
            class = attribute(line, "fullyQualifiedName").context("a class without a name")?;
            worse(&mut verdicts, class.clone(), true, true);
        } else if line.starts_with("<compatibilityChange ") {
            let is = |name| attribute(line, name).as_deref() == Some("true");
            worse(&mut verdicts, class.clone(), is("binaryCompatible"), is("sourceCompatible"));
        }
    }
    ensure!(!verdicts.is_empty(), "japicmp lists nothing");
    Ok(verdicts)
}

fn ours(before: &Path, after: &Path) -> Result<Verdicts> {
    let output = call()?.args(["diff", "--json"]).args([before, after]).capture()?;
    ensure!(output.status.code() == Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let (mut verdicts, mut whole) = (Verdicts::new(), None);
    for line in String::from_utf8(output.stdout)?.lines() {
        let line: Value = serde_json::from_str(line)?;
        let is = |name: &str| line["api"][name].as_bool();
        if let (Some(class), Some(binary), Some(source)) =
            (line["class"].as_str(), is("binary_compatible"), is("source_compatible"))
        {
            worse(&mut verdicts, class.to_owned(), binary, source);
        } else if line.get("summary").is_some() {
            whole = is("binary_compatible").zip(is("source_compatible"));
        }
    }
    let all = |wanted: &[char]| verdicts.values().all(|verdict| wanted.contains(verdict));
    ensure!(whole == Some((all(&['C', 'S']), all(&['C']))), "the last line says {whole:?}");
    Ok(verdicts)
}

#[test]
fn verdicts_are_those_of_japicmp_or_better() -> Result<()> {
    let corpus = Corpus::open()?;
    let tool = corpus.path("japicmp")?;
    let (mut classes, mut wrong) = (0, String::new());
    for pair in pairs()?.iter().filter(|pair| pair.is_usual || Corpus::full()) {
        corpus.fetch(&[pair.before, pair.after])?;
        let (before, after) = (corpus.path(pair.before)?, corpus.path(pair.after)?);
        let (theirs, ours) = (japicmp(&tool, &before, &after)?, ours(&before, &after)?);
        let names: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
        classes += names.len();
        let of = |verdicts: &Verdicts, name: &str| verdicts.get(name).copied().unwrap_or('C');
        let found: BTreeMap<&str, (char, char)> = names
            .iter()
            .map(|name| (name.as_str(), (of(&theirs, name), of(&ours, name))))
            .filter(|(_, (theirs, ours))| theirs != ours)
            .collect();
        for (class, (theirs, ours)) in &found {
            if pair.differences.get(class) != Some(&(*theirs, *ours)) {
                writeln!(wrong, "{} {}: {class} {theirs} {ours}", pair.before, pair.after)?;
            }
        }
        for class in pair.differences.keys().filter(|class| !found.contains_key(*class)) {
            writeln!(wrong, "{} {}: {class}: both say the same now", pair.before, pair.after)?;
        }
    }
    ensure!(wrong.is_empty(), "not explained in compatibility.txt:\n{wrong}");
    ensure!(classes > 200, "{classes} classes were compared");
    println!("{classes} classes");
    Ok(())
}
