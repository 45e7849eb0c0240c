//! Rewriting leaves the JVM's judgement on a class as it is: what is refused is refused afterwards, or the account says that the class, or a
//! method of it, was left as it is; what is accepted is accepted afterwards. The judge is `instrument verify`, which agrees with HotSpot
//! (`verify.rs`), so that many changed classes can be looked at.
//!
//! `INSTRUMENT_MUTANTS=N` asks for N changed classes for each jar.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use instrument_names::id_map::IdMap;
use instrument_rewriter::archive::Location;
use instrument_rewriter::filter::Filter;
use instrument_rewriter::instrumenter::{ClassRecord, Instrumenter, Runtime};
use instrument_rewriter::reason::Reason;
use instrument_rewriter::rewrite::Transforms;
use instrument_testing::changed_classes::{Random, mutate};
use instrument_tests::corpus::Corpus;
use instrument_tests::machine::{Jdk, root};
use instrument_tests::places::{Places, classes_of};
use instrument_verifier::{Verdict, Verifier};

/// Changed classes for each jar, unless the environment says otherwise.
const MUTANTS: usize = 300;
/// Changed classes for each golden class.
const GOLDEN_MUTANTS: usize = 6;
/// Jars whose classes are changed: of several compilers, with and without frames and debug tables.
const JARS: [&str; 4] = ["commons-lang3", "kotlinx-coroutines", "xerces-1", "asm"];

/// What is usually inserted, and as much as can be.
pub(crate) const TRANSFORMS: [Transforms; 3] = [
    Transforms { method_events: true, thread_links: true, waits: true, ..Transforms::NONE },
    Transforms { allocation: true, ..Transforms::NONE },
    Transforms::ALL,
];

/// A class that was changed.
pub(crate) struct Subject {
    /// What was done to it.
    pub(crate) what: String,
    /// The class that it was.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// Of each subject the class that it became, none if it stayed the same; and why some were left as they are, or a method of them.
pub(crate) type Rewritten = (Vec<Option<Vec<u8>>>, BTreeMap<usize, BTreeSet<Reason>>);

/// Why the class, or a method that could have been rewritten, was left as it is.
fn reasons(record: &ClassRecord) -> BTreeSet<Reason> {
    let methods = record.methods.iter().filter_map(|method| method.skipped);
    record.skipped.into_iter().chain(methods).filter(|&reason| reason != Reason::NoCode).collect()
}

/// The subjects after rewriting.
pub(crate) fn rewritten(subjects: &[Subject], transforms: Transforms) -> Rewritten {
    let (filter, mut ids, mut named) = (Filter::default(), IdMap::new(), BTreeMap::new());
    let locations: Vec<_> = (0..subjects.len()).map(|number| number.to_string()).collect();
    let classes: Vec<_> = locations
        .iter()
        .zip(subjects)
        .map(|(location, subject)| (Location::root(location), &*subject.bytes))
        .collect();
    let mut number = 0;
    let mut instrumenter = Instrumenter::new(transforms, &filter, &mut ids, Runtime::default());
    // Records come in the order of the classes.
    instrumenter.observe(Box::new(|_, record| {
        let reasons = reasons(record);
        if !reasons.is_empty() {
            named.insert(number, reasons);
        }
        number += 1;
    }));
    let outputs = instrumenter.rewrite_loose(&classes);
    drop(instrumenter);
    (outputs, named)
}

fn first_fault(verdict: &Verdict) -> String {
    verdict.faults.first().map_or("accepted".into(), ToString::to_string)
}

/// Where rewriting has changed the judgement, and how many subjects were refused as they were.
fn changes(
    subjects: &[Subject],
    mut judge: impl FnMut(usize, &[u8]) -> Verdict,
) -> Result<(Vec<String>, usize)> {
    let before: Vec<_> =
        subjects.iter().enumerate().map(|(number, subject)| judge(number, &subject.bytes)).collect();
    let mut changes = Vec::new();
    for transforms in TRANSFORMS {
        let (outputs, named) = rewritten(subjects, transforms);
        ensure!(outputs.len() == subjects.len(), "{} outputs", outputs.len());
        for (number, output) in outputs.iter().enumerate() {
            let Some(bytes) = output else { continue };
            let after = judge(number, bytes);
            let made_valid =
                !before[number].faults.is_empty() && after.faults.is_empty() && !named.contains_key(&number);
            let made_invalid = before[number].faults.is_empty() && !after.faults.is_empty();
            if made_valid || made_invalid {
                if let Some(directory) = std::env::var_os("INSTRUMENT_KEEP") {
                    let directory = Path::new(&directory);
                    fs::write(directory.join(format!("{number}.class")), &subjects[number].bytes)?;
                    fs::write(directory.join(format!("{number}-rewritten.class")), bytes)?;
                }
                let Subject { what, name, .. } = &subjects[number];
                let (before, after) = (first_fault(&before[number]), first_fault(&after));
                changes.push(format!("{number} {name}: {what}: {before}; after {transforms:?}: {after}"));
            }
        }
    }
    Ok((changes, before.iter().filter(|verdict| !verdict.faults.is_empty()).count()))
}

/// A comparison of classes that all are refused, or none, would say little.
fn ensure_both(refused: usize, all: usize) -> Result<()> {
    ensure!(refused * 10 > all && refused * 20 < all * 19, "{refused} of {all} refused");
    Ok(())
}

#[test]
fn a_class_that_is_refused_is_refused_after_rewriting() -> Result<()> {
    let (corpus, jdk) = (Corpus::open()?, newest_jdk()?);
    let count = match std::env::var("INSTRUMENT_MUTANTS") {
        Ok(count) => count.parse()?,
        Err(_) => MUTANTS,
    };
    let mut all_changes = Vec::new();
    for (seed, name) in (100..).zip(JARS) {
        let path = corpus.path(name)?;
        let jars = [std::slice::from_ref(&path), &corpus.class_path(corpus.jar(name)?)?].concat();
        let places = Places::new(&jdk, &jars)?;
        let originals: Vec<_> = classes_of(&path)?.into_iter().collect();
        let mut random = Random(seed);
        let mut subjects = Vec::new();
        while subjects.len() < count {
            let (name, original) = random.of(&originals).context("an empty jar")?;
            let Some((what, bytes)) = mutate(original, &mut random) else { continue };
            subjects.push(Subject { what, name: name.clone(), bytes });
        }
        let mut verifier = places.verifier();
        let (changes, refused) = changes(&subjects, |_, bytes| verifier.verify(bytes))?;
        println!("{name}: {count} changed classes, {refused} refused, {} judged anew", changes.len());
        ensure_both(refused, count)?;
        all_changes.extend(changes);
    }
    assert!(all_changes.is_empty(), "{}\n{}", all_changes.len(), all_changes.join("\n"));
    Ok(())
}

/// The same of the classes in `golden/`, which are of every version and hard in one way or another.
#[test]
fn a_golden_class_that_is_refused_is_refused_after_rewriting() -> Result<()> {
    let (jdk, mut random) = (newest_jdk()?, Random(200));
    let (mut subjects, mut homes) = (Vec::new(), Vec::new());
    let mut entries = walkdir::WalkDir::new(root().join("golden")).sort_by_file_name().into_iter();
    while let Some(entry) = entries.next().transpose()? {
        let path = entry.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.ends_with(".class") || name == "module-info.class" {
            continue;
        }
        let (original, home) = (fs::read(path)?, path.parent().context("no folder")?.to_owned());
        let mut add = |what: String, bytes: Vec<u8>| {
            subjects.push(Subject { what, name: path.display().to_string(), bytes });
            homes.push(home.clone());
        };
        for _ in 0..GOLDEN_MUTANTS {
            if let Some((what, bytes)) = mutate(&original, &mut random) {
                add(what, bytes);
            }
        }
        add("as it is".into(), original);
    }
    let mut places: HashMap<_, _> = HashMap::new();
    for home in &homes {
        if !places.contains_key(home) {
            places.insert(home, Places::of_directory(&jdk, home)?);
        }
    }
    let mut verifiers: HashMap<_, Verifier<'_>> =
        places.iter().map(|(home, places)| (*home, places.verifier())).collect();
    let (changes, refused) = changes(&subjects, |number, bytes| {
        verifiers.get_mut(&homes[number]).map(|verifier| verifier.verify(bytes)).unwrap_or_default()
    })?;
    println!("golden: {} classes, {refused} refused, {} judged anew", subjects.len(), changes.len());
    ensure_both(refused, subjects.len())?;
    assert!(changes.is_empty(), "{}\n{}", changes.len(), changes.join("\n"));
    Ok(())
}

/// Its classes are named, and nothing is run.
fn newest_jdk() -> Result<Jdk> {
    Ok(Jdk::at_least(25)?.unwrap_or(Jdk::default_kit()?.clone()))
}
