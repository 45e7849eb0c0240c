//! Every folder of `golden/`: the class is rewritten, printed, linked and run, on every JDK found.
//! `BLESS=1` writes the printed diffs, the assembled classes and the programs' outputs instead of comparing them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use instrument_tests::corpus::Corpus;
use instrument_tests::golden::{
    Block, CALL, COMBINATIONS, Case, ClassFile, Counts, Ids, Known, Outcome, Passages, Ran, Report,
    Transforms, cases, constant_pool, methods, printed_diff, read_events, rewrite, run_blocks,
};
use instrument_tests::machine::Jdk;

/// A case after one combination of transforms.
struct Rewritten {
    classes: Vec<(ClassFile, Outcome)>,
    ids: Ids,
}

impl Rewritten {
    fn new(case: &Case, transforms: Transforms) -> Result<Rewritten> {
        let mut ids = Ids::default();
        let files = case.class_files()?;
        let known = Known::of(case.regions()?, files.iter().map(|class| &class.bytes[..]));
        let mut classes = Vec::new();
        for class in files {
            let outcome =
                rewrite(&class.bytes, transforms, &known, &mut ids).with_context(|| class.stem.clone())?;
            classes.push((class, outcome));
        }
        Ok(Rewritten { classes, ids })
    }

    fn changed(&self) -> bool {
        self.classes.iter().any(|(class, outcome)| class.bytes != outcome.bytes)
    }
}

fn bless() -> bool {
    std::env::var_os("BLESS").is_some_and(|value| value == "1")
}

/// Collects what is wrong with each case, so that one run shows everything.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn check(&mut self, what: &str, result: Result<()>) {
        if let Err(error) = result {
            self.0.push(format!("{what}: {error:#}"));
        }
    }

    fn report(self) {
        assert!(self.0.is_empty(), "{} faults\n{}", self.0.len(), self.0.join("\n"));
    }
}

/// Compares a text with a file of the case, or writes it; no file stands for an empty text.
fn compare(case: &Case, file: &str, text: &str) -> Result<()> {
    let path = case.folder.join(file);
    let old = fs::read_to_string(&path).unwrap_or_default();
    if old == text {
        return Ok(());
    }
    if bless() {
        let written = if text.is_empty() { fs::remove_file(&path) } else { fs::write(&path, text) };
        return written.with_context(|| path.display().to_string());
    }
    let diff = similar::TextDiff::from_lines(old.as_str(), text).unified_diff().context_radius(1).to_string();
    anyhow::bail!("{file} differs (BLESS=1 accepts it)\n{diff}")
}

#[test]
fn sources_assemble_to_the_committed_classes() {
    let mut faults = Faults::default();
    for case in cases().unwrap().iter().filter(|case| !case.generated) {
        faults.check(&case.name, assembles(case));
    }
    faults.report();
}

#[test]
fn cases_name_classes_and_methods_that_exist() {
    let mut faults = Faults::default();
    for case in cases().unwrap() {
        faults.check(&case.name, names_exist(&case));
    }
    faults.report();
}

fn names_exist(case: &Case) -> Result<()> {
    let classes = case.class_files()?;
    let stems: BTreeSet<_> = classes.iter().map(|class| class.stem.clone()).collect();
    let mut known = BTreeSet::new();
    for class in &classes {
        let found = methods(&class.bytes).unwrap_or_default().into_keys();
        known.extend(found.map(|method| format!("{}.{method}", class.stem)));
    }
    let rejected = case.rejected.keys().filter(|key| !stems.contains(*key));
    let skipped = case.skips.keys().chain(case.allocation_skips.keys());
    let skipped = skipped.filter(|key| !stems.contains(*key) && !known.contains(*key));
    let counted = case.counts.keys().chain(&case.lossy).chain(case.wraps.keys());
    let counted = counted.filter(|key| !known.contains(*key) && !key.starts_with(CALL));
    let unknown: Vec<_> = rejected.chain(skipped).chain(counted).collect();
    ensure!(unknown.is_empty(), "no such class or method: {unknown:?}");
    Ok(())
}

fn assembles(case: &Case) -> Result<()> {
    for class in case.assembled()? {
        let path = case.folder.join(format!("{}.class", class.stem));
        if bless() {
            fs::create_dir_all(path.parent().context("a path without a folder")?)?;
            fs::write(&path, &class.bytes)?;
        }
        let committed =
            fs::read(&path).with_context(|| format!("{}.class (BLESS=1 writes it)", class.stem))?;
        ensure!(
            committed == class.bytes,
            "{}.class is not what its source says (BLESS=1 writes it)",
            class.stem
        );
    }
    Ok(())
}

#[test]
fn every_class_is_rewritten_as_its_case_says() {
    let cases = cases().unwrap();
    assert!(cases.len() >= 100, "only {} cases found", cases.len());
    let mut faults = Faults::default();
    for (name, transforms) in COMBINATIONS {
        let rewritten: Vec<_> = cases.iter().map(|case| Rewritten::new(case, transforms)).collect();
        assert!(rewritten.iter().flatten().any(Rewritten::changed), "{name} changes nothing");
        for (case, rewritten) in cases.iter().zip(rewritten) {
            let what = format!("{} {name}", case.name);
            match rewritten {
                Err(error) => faults.check(&what, Err(error)),
                Ok(rewritten) => {
                    faults.check(&what, outcome_is_as_stated(case, transforms, &rewritten));
                    let is_printed = match name {
                        "library-calls" => case.library_calls,
                        _ => !name.starts_with("all") && !transforms.wraps,
                    };
                    // What others printed is not printed again.
                    let is_same = match name {
                        "waits" => !rewritten.ids.0.iter().any(|name| name.starts_with(CALL)),
                        "both" => !case.both,
                        "bytecodes" => !case.bytecodes,
                        _ => false,
                    };
                    if !case.generated && is_printed {
                        faults.check(&what, diff_is_as_printed(case, name, &rewritten, is_same));
                    }
                }
            }
        }
    }
    faults.report();
}

fn diff_is_as_printed(case: &Case, name: &str, rewritten: &Rewritten, is_same: bool) -> Result<()> {
    let mut text = String::new();
    for (class, outcome) in rewritten.classes.iter().filter(|_| !is_same) {
        text +=
            &printed_diff(&class.stem, &class.bytes, &outcome.bytes).with_context(|| class.stem.clone())?;
    }
    compare(case, &format!("{name}.diff"), &text)
}

fn stated_skips(case: &Case, transforms: Transforms) -> BTreeMap<String, String> {
    let mut stated = match (transforms.of.method_events, transforms.of.allocation) {
        (true, _) => case.skips.clone(),
        (_, true) => case.allocation_skips.clone(),
        // They look at few methods: what remains are whole classes, and code that nobody can read.
        _ => {
            let mut skips = case.allocation_skips.clone();
            skips.retain(|key, reason| !key.contains('(') || reason == "bad-code");
            skips
        }
    };
    if transforms.of.rmi {
        stated.extend(case.rmi_skips.clone());
    }
    if transforms.of.bytecodes {
        stated.extend(case.bytecodes_skips.clone());
    }
    if transforms.library {
        stated.extend(case.library_skips.clone());
    }
    stated
}

fn regions_are_as_stated(case: &Case, rewritten: &Rewritten) -> Result<()> {
    let found: BTreeMap<_, _> = rewritten.classes.iter().flat_map(|(_, o)| o.regions.clone()).collect();
    for (name, expected) in &case.regions {
        let outcome = found.get(name).with_context(|| format!("no class has the region {name}"))?;
        let right = match (expected, outcome) {
            (Passages::Timed { .. }, None) => true,
            (Passages::Refused(reason), Some(fault)) => fault.contains(reason.as_str()),
            _ => false,
        };
        ensure!(right, "region {name}: {outcome:?}, but the case says {expected:?}");
    }
    Ok(())
}

/// Skips are exactly the stated ones; what is skipped keeps its bytes; with method-events everything else changes.
fn outcome_is_as_stated(case: &Case, transforms: Transforms, rewritten: &Rewritten) -> Result<()> {
    let mut stated = stated_skips(case, transforms);
    if transforms.wraps {
        stated.retain(|method, _| !case.wraps.contains_key(method));
        wrappers_are_as_stated(case, transforms, rewritten)?;
    }
    let mut found = BTreeMap::new();
    for (class, outcome) in &rewritten.classes {
        for skip in &outcome.skips {
            let key =
                skip.method.as_ref().map_or(class.stem.clone(), |method| format!("{}.{method}", class.stem));
            if skip.reason != "no-code" || stated.contains_key(&key) {
                found.insert(key, skip.reason.clone());
            }
        }
    }
    ensure!(found == stated, "skipped {found:?}, but the case says {stated:?}");
    if transforms.regions {
        regions_are_as_stated(case, rewritten)?;
    }
    let mut expected_ids = 0;
    for (class, outcome) in &rewritten.classes {
        if stated.contains_key(&class.stem) {
            ensure!(outcome.bytes == class.bytes, "{} is skipped and changed all the same", class.stem);
            continue;
        }
        let before =
            methods(&class.bytes).with_context(|| format!("{} was expected to be skipped", class.stem))?;
        let mut after =
            methods(&outcome.bytes).with_context(|| format!("{}: the output is no class", class.stem))?;
        let pools = [&class.bytes, &outcome.bytes].map(|bytes| constant_pool(bytes).unwrap_or_default());
        ensure!(pools[1].starts_with(pools[0]), "{}: constant-pool entries were changed", class.stem);
        if transforms.wraps {
            after.retain(|method, _| before.contains_key(method) || !method.contains("$instrument$body"));
        }
        ensure!(before.keys().eq(after.keys()), "{}: the methods are not the same", class.stem);
        for (method, code) in &before {
            let reason = stated.get(&format!("{}.{method}", class.stem));
            let skipped = reason.is_some() || code.is_none();
            // A method that turns out to be beyond rewriting keeps the id it was given.
            expected_ids += usize::from(code.is_some() && reason.is_none_or(|reason| reason != "no-code"));
            if skipped || transforms.of.method_events {
                let same = after[method] == *code;
                ensure!(
                    same == skipped,
                    "{}.{method}: skipped is {skipped}, unchanged is {same}",
                    class.stem
                );
            }
        }
    }
    if transforms.of.method_events {
        let ids: Vec<_> = rewritten.ids.0.iter().filter(|name| !name.starts_with(CALL)).collect();
        let unique: BTreeSet<_> = ids.iter().collect();
        ensure!(unique.len() == ids.len(), "a method has two ids");
        ensure!(unique.len() == expected_ids, "{} ids for {expected_ids} methods", unique.len());
    }
    Ok(())
}

/// Exactly the stated methods get a wrapper, and what has their code is there; unless something is inserted into it, it is the same code.
fn wrappers_are_as_stated(case: &Case, transforms: Transforms, rewritten: &Rewritten) -> Result<()> {
    let has_others = transforms.of.allocation;
    let mut found = BTreeMap::new();
    for (class, outcome) in &rewritten.classes {
        if outcome.wrapped.is_empty() {
            continue;
        }
        let [before, after] = [&class.bytes, &outcome.bytes]
            .map(|bytes| methods(bytes).with_context(|| format!("{}: no class", class.stem)));
        let (before, after) = (before?, after?);
        ensure!(after.len() == before.len() + outcome.wrapped.len(), "{}: a name is there twice", class.stem);
        for (method, bare) in &outcome.wrapped {
            let name = format!("{}.{method}", class.stem);
            let stated =
                case.wraps.get(&name).with_context(|| format!("{name}: a wrapper nobody expects"))?;
            let code = after.get(&stated.body).with_context(|| format!("{name}: no {}", stated.body))?;
            if *bare || !has_others {
                ensure!(*code == before[method], "{name}: the code is not the same");
            }
            ensure!(!has_others || *bare == stated.bare, "{name}: without other transforms: {bare}");
            found.insert(name, ());
        }
    }
    let stated = case.wraps.keys();
    ensure!(found.keys().eq(stated), "wrapped {:?}, but the case says {:?}", found.keys(), case.wraps.keys());
    Ok(())
}

#[test]
fn every_class_links_and_runs_as_before() {
    let cases = cases().unwrap();
    let work = tempfile::tempdir().unwrap();
    let mut jdks = Jdk::all().unwrap();
    let judge = compile_judge(&jdks[0], work.path()).unwrap();
    if !Corpus::full() {
        jdks.drain(..jdks.len() - 1);
    }
    let mut variants = vec![("original", Variant::write(&cases, None, work.path()).unwrap())];
    for (name, transforms) in COMBINATIONS {
        variants.push((name, Variant::write(&cases, Some(transforms), work.path()).unwrap()));
    }
    let mut faults = Faults::default();
    for jdk in &jdks {
        let mut originals = None;
        // What is wrong with the original is told once, not again for each variant.
        let mut unsound = BTreeSet::new();
        for (name, variant) in &variants {
            let report =
                variant.report(&cases, jdk, &judge).with_context(|| format!("{name} on {}", jdk.version));
            let report = report.unwrap();
            for case in cases.iter().filter(|case| variant.concerns(case, jdk)) {
                let what = format!("{} {name} on JDK {}", case.name, jdk.version);
                let sound = variant.case_is_sound(case, &report, originals.as_ref());
                if sound.is_err() && originals.is_none() {
                    unsound.insert(case.name.clone());
                }
                if originals.is_none() || !unsound.contains(&case.name) {
                    faults.check(&what, sound);
                }
            }
            originals.get_or_insert(report);
        }
    }
    faults.report();
}

fn compile_judge(jdk: &Jdk, work: &Path) -> Result<PathBuf> {
    let output = work.join("judge");
    fs::create_dir(&output)?;
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("java");
    let files = [
        "Recorder",
        "ProfilerRuntime",
        "HeapProxy",
        "ThreadLinks",
        "HandOver",
        "References",
        "ReflectedCalls",
        "StreamTasks",
        "TaskLinks",
        "Regions",
        "RmiMarkers",
        "Bytecodes",
    ]
    .map(|name| format!("instrument/runtime/{name}.java"));
    let files: Vec<_> =
        files.iter().map(String::as_str).chain(["Harness.java"]).map(|f| sources.join(f)).collect();
    jdk.compile_into(&files, &output)?;
    Ok(output)
}

/// All cases, untouched or after one combination of transforms, on disk.
struct Variant {
    transforms: Option<Transforms>,
    /// By case: class file stem and path.
    files: BTreeMap<String, Vec<(String, PathBuf)>>,
    ids: BTreeMap<String, Ids>,
    changed: BTreeSet<String>,
}

impl Variant {
    fn write(cases: &[Case], transforms: Option<Transforms>, work: &Path) -> Result<Variant> {
        let root = tempfile::Builder::new().disable_cleanup(true).tempdir_in(work)?;
        let mut variant =
            Variant { transforms, files: BTreeMap::new(), ids: BTreeMap::new(), changed: BTreeSet::new() };
        for case in cases {
            let rewritten = match transforms {
                Some(transforms) => Rewritten::new(case, transforms).with_context(|| case.name.clone())?,
                None => {
                    let keep = |class: ClassFile| {
                        let outcome = Outcome {
                            bytes: class.bytes.clone(),
                            skips: Vec::new(),
                            wrapped: BTreeMap::new(),
                            regions: Vec::new(),
                        };
                        (class, outcome)
                    };
                    Rewritten {
                        classes: case.class_files()?.into_iter().map(keep).collect(),
                        ids: Ids::default(),
                    }
                }
            };
            if rewritten.changed() {
                ensure!(transforms.is_some(), "an original that changed");
                variant.changed.insert(case.name.clone());
            }
            let folder = root.path().join(&case.name);
            fs::create_dir(&folder)?;
            let mut files = Vec::new();
            for (at, (class, outcome)) in rewritten.classes.iter().enumerate() {
                let path = folder.join(format!("{at}.class"));
                fs::write(&path, &outcome.bytes)?;
                files.push((class.stem.clone(), path));
            }
            variant.files.insert(case.name.clone(), files);
            variant.ids.insert(case.name.clone(), rewritten.ids);
        }
        Ok(variant)
    }

    /// Whether the case is to be linked and run here: classes that no transform has touched are tried once, as originals; those without
    /// wrappers are the same as without `wraps`.
    fn concerns(&self, case: &Case, jdk: &Jdk) -> bool {
        let wraps = self.transforms.is_some_and(|transforms| transforms.wraps);
        case.jdk <= jdk.version
            && (self.transforms.is_none() || self.changed.contains(&case.name))
            && (!wraps || !case.wraps.is_empty())
    }

    /// Links and runs all cases that concern this JDK, in one JVM but for those that end it.
    fn report(&self, cases: &[Case], jdk: &Jdk, judge: &Path) -> Result<Report> {
        let block = |case: &Case| {
            let files = self.files[&case.name].iter().map(|(_, path)| path.clone()).collect();
            Block { key: case.name.clone(), main: case.main.clone(), files }
        };
        let known = cases.iter().filter(|case| self.concerns(case, jdk));
        let (alone, together): (Vec<&Case>, Vec<&Case>) = known.partition(|case| case.own_jvm);
        let blocks: Vec<_> = together.into_iter().map(block).collect();
        let mut report = run_blocks(jdk, judge, &blocks, true)?;
        for case in alone {
            let one = run_blocks(jdk, judge, &[block(case)], true).with_context(|| case.name.clone())?;
            report.linked.extend(one.linked);
            report.ran.extend(one.ran);
        }
        Ok(report)
    }

    fn case_is_sound(&self, case: &Case, report: &Report, originals: Option<&Report>) -> Result<()> {
        let mut failed_over = false;
        for (stem, path) in &self.files[&case.name] {
            let linked = &report.linked[&(case.name.clone(), path.clone())];
            let expected = case.rejected.get(stem).map_or("ok", String::as_str);
            ensure!(linked.result == expected, "{stem} links with {}: {}", linked.result, linked.message);
            failed_over |= linked.failed_over;
        }
        if let Some(originals) = originals {
            let before =
                originals.linked.iter().any(|((key, _), linked)| *key == case.name && linked.failed_over);
            ensure!(
                failed_over == before,
                "the old verifier was asked: {failed_over}, for the original: {before}"
            );
        }
        let Some(ran) = report.ran.get(&case.name) else { return Ok(()) };
        ensure!(ran.exit_code == case.exit_code, "exit code {}\n{}", ran.exit_code, ran.stdout);
        match originals.and_then(|originals| originals.ran.get(&case.name)) {
            None => compare(case, "stdout", &ran.stdout)?,
            Some(before) => {
                ensure!(ran.stdout == before.stdout, "printed\n{}instead of\n{}", ran.stdout, before.stdout);
            }
        }
        self.events_are_as_stated(case, ran)
    }

    fn events_are_as_stated(&self, case: &Case, ran: &Ran) -> Result<()> {
        let reading = read_events(&ran.events, &self.ids[&case.name])?;
        let Some(transforms) = self.transforms.filter(|_| self.changed.contains(&case.name)) else {
            ensure!(reading.events == 0, "events from code that was not rewritten");
            return Ok(());
        };
        if transforms.of.method_events {
            ensure!(!reading.methods.is_empty(), "no event: rewritten code did not run");
            let of_library = |method: &str| method.starts_with(CALL);
            let left = |method: &str| transforms.of.bytecodes && case.bytecodes_skips.contains_key(method);
            let unwrapped = |method: &str| !transforms.wraps && case.wraps.contains_key(method);
            let known = |method: &str| {
                !left(method) && !unwrapped(method) && (transforms.library || !of_library(method))
            };
            for (method, stated) in case.counts.iter().filter(|(method, _)| known(method)) {
                let found = reading.methods.get(method).copied().unwrap_or_default();
                let lossy = case.lossy.contains(method);
                ensure!(lossy || found == *stated, "{method}: {found:?}, but the case says {stated:?}");
            }
            if transforms.of.waits && !transforms.library && !case.waits.is_empty() {
                let calls = reading.methods.iter().filter(|(method, _)| of_library(method));
                let calls: BTreeMap<_, _> = calls.map(|(method, found)| (method.clone(), *found)).collect();
                ensure!(calls == case.waits, "waits: {calls:?}, but the case says {:?}", case.waits);
            }
            for (method, found) in &reading.methods {
                ensure!(found.add_up(), "{method}: {found:?} does not add up");
                let unexpected = found.unclosed > 0 || (found.open > 0 && !case.counts.contains_key(method));
                ensure!(!unexpected || case.lossy.contains(method), "{method}: {found:?} unclosed or open");
            }
            let unmatched = reading.unmatched.keys().find(|method| !case.lossy.contains(method));
            ensure!(unmatched.is_none(), "unmatched events: {:?}", reading.unmatched);
        } else {
            let none = reading.methods.values().all(|count| *count == Counts::default());
            ensure!(none, "method events without the transform");
        }
        if transforms.of.array_allocation && !transforms.of.allocation {
            // Of objects it sees the copies only.
            for (class, found) in &reading.allocations {
                let stated = case.allocations.get(class).copied();
                let right = match class.starts_with('[') {
                    true => stated.is_none_or(|stated| stated == *found),
                    false => stated.is_some_and(|stated| *found < stated),
                };
                ensure!(right, "{found} allocations of {class}, but the case says {stated:?}");
            }
        } else if transforms.of.allocation {
            for (class, stated) in &case.allocations {
                let found = reading.allocations.get(class).copied().unwrap_or_default();
                ensure!(found == *stated, "{found} allocations of {class}, but the case says {stated}");
            }
        } else {
            ensure!(reading.allocations.is_empty(), "allocation events without the transform");
        }
        if transforms.regions {
            for region in case.regions()? {
                let found = reading.regions.get(&region.number).cloned().unwrap_or_default();
                let expected = match case.regions[&region.name] {
                    Passages::Timed { ended, left, open } => (ended, left, open),
                    Passages::Refused(_) => (0, 0, 0),
                };
                ensure!(found.unmatched == 0, "region {}: {found:?} ends before it begins", region.name);
                let passages = (found.ended, found.left, found.open.values().sum());
                ensure!(passages == expected, "region {}: {passages:?}, not {expected:?}", region.name);
            }
        } else {
            ensure!(reading.regions.is_empty(), "region events without regions");
        }
        for (on, what, stated, found) in [
            (transforms.of.thread_links, "starts", &case.starts, &reading.starts),
            (transforms.of.hand_over, "tasks", &case.tasks, &reading.tasks),
            (transforms.of.reflection, "reflected", &case.reflected, &reading.reflected),
            (transforms.of.rmi, "remote", &case.remote, &reading.remote),
        ] {
            let expected = if on { stated.clone() } else { BTreeMap::new() };
            ensure!(*found == expected, "{what}: {found:?}, but the case says {expected:?}");
        }
        Ok(())
    }
}
