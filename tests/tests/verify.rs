//! `instrument verify` and HotSpot: the same verdict on real classes and on classes that were changed at random.
//!
//! `INSTRUMENT_MUTANTS=N` asks for N changed classes for each jar and JDK, `INSTRUMENT_CORPUS_FULL=1` for all jars.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use instrument_testing::changed_classes::{Random, mutate};
use instrument_tests::corpus::Corpus;
use instrument_tests::jre::each;
use instrument_tests::machine::{Jdk, Run};
use instrument_tests::places::{Places, classes_of};
use instrument_verifier::Verdict;

/// Changed classes for each jar and JDK, unless the environment says otherwise.
const MUTANTS: usize = 400;
/// Changed classes for each golden class from before stack map frames.
const OLD_MUTANTS: usize = 60;
/// Jars whose classes are changed: of several compilers, with and without frames and debug tables.
const JARS: [&str; 7] =
    ["guava", "commons-lang3", "kotlinx-coroutines", "ecj", "asm", "xerces-1", "groovy-all"];

/// What HotSpot says: `ok` or an error, by number.
fn hotspot(jdk: &Jdk, mutants: &Path, class_path: &[PathBuf]) -> Result<Vec<String>> {
    let classes = jdk.compile(&["MutantLinkCheck.java"], &[])?;
    let mut java = jdk.brief_java();
    java.args(["-Xss8m", "-cp"]).arg(classes).arg("MutantLinkCheck").arg(mutants).args(class_path);
    let text = String::from_utf8(java.run_quietly()?.stdout)?;
    let results = text.lines().enumerate().map(|(number, line)| {
        let (found, result) =
            line.split_once('\t').with_context(|| format!("MutantLinkCheck said {line:?}"))?;
        ensure!(found == number.to_string(), "MutantLinkCheck said {line:?} instead of {number}");
        Ok(result.to_string())
    });
    results.collect()
}

/// Why the two verdicts do not agree, if they do not.
fn disagreement(bytes: &[u8], ours: &Verdict, theirs: &str) -> Option<String> {
    let is_missing = theirs.starts_with("java.lang.NoClassDefFoundError")
        || theirs.starts_with("java.lang.TypeNotPresentException");
    // A method whose stack map is no stack map refuses a class of version 50, and another one whose map is wrong has it verified without maps.
    // HotSpot goes by the method that comes first in its memory, which differs from run to run.
    let is_version_50 = bytes.get(6..8) == Some(&[0, 50]);
    let is_either =
        is_version_50 && theirs.starts_with("java.lang.ClassFormatError StackMapTable format error");
    match (theirs == "ok", ours.faults.first()) {
        (true, Some(fault)) => Some(format!("false refusal: {fault}")),
        // A class that HotSpot does not find may be one that reflection asked for, after verification.
        (false, None) if !is_missing && !is_either => Some(format!("false acceptance: {theirs}")),
        _ => None,
    }
}

/// A class for both judges.
struct Subject {
    /// What is said of it.
    what: String,
    /// Path of its original.
    name: String,
    bytes: Vec<u8>,
}

/// Writes the classes for `MutantLinkCheck`.
fn pack(subjects: &[Subject], file: &Path) -> Result<()> {
    let mut archive = zip::ZipWriter::new(fs::File::create(file)?);
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (number, subject) in subjects.iter().enumerate() {
        archive.start_file(format!("{number}/{}", subject.name), options)?;
        archive.write_all(&subject.bytes)?;
    }
    archive.finish()?;
    Ok(())
}

/// Why the two do not agree on some class; `INSTRUMENT_KEEP` names a directory for such classes.
fn disagreements(
    subjects: &[Subject],
    theirs: &[String],
    mut ours: impl FnMut(usize) -> Verdict,
) -> Result<Vec<String>> {
    ensure!(theirs.len() == subjects.len(), "{} results for {} classes", theirs.len(), subjects.len());
    let mut faults = Vec::new();
    for (number, (subject, theirs)) in subjects.iter().zip(theirs).enumerate() {
        if let Some(why) = disagreement(&subject.bytes, &ours(number), theirs) {
            if let Some(directory) = std::env::var_os("INSTRUMENT_KEEP") {
                fs::write(Path::new(&directory).join(format!("{number}.class")), &subject.bytes)?;
            }
            faults.push(format!("{number} {}: {}: {why}", subject.name, subject.what));
        }
    }
    Ok(faults)
}

fn compare(jdk: &Jdk, jar: &Path, class_path: &[PathBuf], seed: u64, count: usize) -> Result<Vec<String>> {
    let all: Vec<PathBuf> = [&[jar.to_owned()], class_path].concat();
    let places = Places::new(jdk, &all)?;
    let mut verifier = places.verifier();
    let originals: Vec<_> = classes_of(jar)?.into_iter().collect();
    let mut random = Random(seed);
    let mut mutants = Vec::new();
    while mutants.len() < count {
        let (name, original) = random.of(&originals).context("an empty jar")?;
        let Some((what, bytes)) = mutate(original, &mut random) else { continue };
        mutants.push(Subject { what, name: name.clone(), bytes });
    }
    let work = tempfile::tempdir()?;
    let file = work.path().join("mutants.jar");
    pack(&mutants, &file)?;
    let theirs = hotspot(jdk, &file, &all)?;
    let faults = disagreements(&mutants, &theirs, |number| verifier.verify(&mutants[number].bytes))?;
    let refused = theirs.iter().filter(|theirs| *theirs != "ok").count();
    // A comparison of classes that all are refused, or none, would say little.
    ensure!(refused * 10 > count && refused * 10 < count * 9, "{refused} of {count} refused");
    println!(
        "Java {}: {}: {count} changed classes, {refused} refused by HotSpot, {} disagreements",
        jdk.version,
        jar.display(),
        faults.len()
    );
    Ok(faults)
}

/// The classes of `golden/` that are hard in one way or another; of those from before stack map frames, many changed ones as well.
#[test]
fn golden_classes_have_the_verdict_of_hotspot() -> Result<()> {
    let golden = instrument_tests::machine::root().join("golden");
    let work = tempfile::tempdir()?;
    let (file, folders) = (work.path().join("classes.jar"), work.path().join("folders"));
    fs::create_dir(&folders)?;
    let mut random = Random(50);
    let (mut subjects, mut homes) = (Vec::new(), Vec::new());
    for home in fs::read_dir(golden)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<std::collections::BTreeSet<_>>>()?
    {
        if !home.is_dir() {
            continue;
        }
        for entry in fs::read_dir(&home)?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<std::collections::BTreeSet<_>>>()?
        {
            let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let bytes = if name.ends_with(".class") { fs::read(&entry)? } else { continue };
            if name == "module-info.class" {
                continue;
            }
            let major = bytes.get(6..8).map_or(0, |major| u16::from_be_bytes([major[0], major[1]]));
            let folder = home.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let mut add = |what: String, bytes: Vec<u8>| {
                let what = format!("{folder}: {what}");
                std::os::unix::fs::symlink(&home, folders.join(subjects.len().to_string()))?;
                subjects.push(Subject { what, name: name.clone(), bytes });
                homes.push(home.clone());
                anyhow::Ok(())
            };
            for _ in 0..if (45..=50).contains(&major) { OLD_MUTANTS } else { 0 } {
                if let Some((what, bytes)) = mutate(&bytes, &mut random) {
                    add(what, bytes)?;
                }
            }
            add("as it is".into(), bytes)?;
        }
    }
    pack(&subjects, &file)?;
    let mut faults = Vec::new();
    for jdk in &test_jdks()? {
        let mut places: HashMap<&PathBuf, Places> = HashMap::new();
        for home in &homes {
            if !places.contains_key(home) {
                places.insert(home, Places::of_directory(jdk, home)?);
            }
        }
        let theirs = hotspot(jdk, &file, std::slice::from_ref(&folders))?;
        let found = disagreements(&subjects, &theirs, |number| {
            places[&homes[number]].verifier().verify(&subjects[number].bytes)
        })?;
        println!("Java {}: golden: {} classes, {} disagreements", jdk.version, subjects.len(), found.len());
        faults.extend(found.into_iter().map(|fault| format!("Java {}: {fault}", jdk.version)));
    }
    assert!(faults.is_empty(), "{} disagreements\n{}", faults.len(), faults.join("\n"));
    Ok(())
}

#[test]
fn changed_classes_have_the_verdict_of_hotspot() -> Result<()> {
    let corpus = Corpus::open()?;
    let count = match std::env::var("INSTRUMENT_MUTANTS") {
        Ok(count) => count.parse()?,
        Err(_) => MUTANTS,
    };
    let mut faults = Vec::new();
    let jars: Vec<_> = (1..).zip(JARS).collect();
    for (jdk, (seed, name)) in each(&test_jdks()?, &jars) {
        let class_path = corpus.class_path(corpus.jar(name)?)?;
        faults.extend(compare(&jdk, &corpus.path(name)?, &class_path, seed, count)?);
    }
    assert!(faults.is_empty(), "{} disagreements\n{}", faults.len(), faults.join("\n"));
    Ok(())
}

/// Every class of a jar as it is: the same verdict. Where HotSpot does not find a class, the two are not compared.
#[test]
fn real_classes_have_the_verdict_of_hotspot() -> Result<()> {
    let corpus = Corpus::open()?;
    let mut faults = Vec::new();
    let mut jars = Vec::new();
    for jar in corpus.selected() {
        jars.push((jar.java, corpus.path(&jar.name)?, corpus.class_path(jar)?));
    }
    if Corpus::full() {
        jars.extend(Corpus::distribution_jars()?.into_iter().map(|jar| (8, jar, Vec::new())));
    }
    for (jdk, (java, jar, class_path)) in each(&test_jdks()?, &jars) {
        if java <= jdk.version {
            let found = compare_real(&jdk, &jar, &class_path)?;
            faults.extend(
                found.into_iter().map(|fault| format!("Java {}: {}: {fault}", jdk.version, jar.display())),
            );
        }
    }
    assert!(faults.is_empty(), "{} disagreements\n{}", faults.len(), faults.join("\n"));
    Ok(())
}

fn compare_real(jdk: &Jdk, jar: &Path, class_path: &[PathBuf]) -> Result<Vec<String>> {
    let all: Vec<PathBuf> = [&[jar.to_owned()], class_path].concat();
    let places = Places::new(jdk, &all)?;
    let mut verifier = places.verifier();
    let theirs = linked(jdk, jar, class_path)?;
    let (mut faults, mut compared, mut refused) = (Vec::new(), 0, 0);
    for (name, bytes) in classes_of(jar)? {
        let Some(theirs) = theirs.get(&name) else { continue };
        compared += 1;
        refused += usize::from(theirs != "ok");
        if let Some(why) = disagreement(&bytes, &verifier.verify(&bytes), theirs) {
            faults.push(format!("{name}: {why}"));
        }
    }
    ensure!(compared > 0, "{}: no class was compared", jar.display());
    println!(
        "Java {}: {}: {compared} classes, {refused} refused by HotSpot, {} disagreements",
        jdk.version,
        jar.display(),
        faults.len()
    );
    Ok(faults)
}

/// What linking each class of a jar leads to.
fn linked(jdk: &Jdk, jar: &Path, class_path: &[PathBuf]) -> Result<HashMap<String, String>> {
    let classes = jdk.compile(&["JarLinkCheck.java"], &[])?;
    let mut java = jdk.brief_java();
    java.args(["-Xss8m", "-cp"]).arg(classes).arg("JarLinkCheck").arg(jar).args(class_path);
    let text = String::from_utf8(java.run_quietly()?.stdout)?;
    Ok(text
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(entry, result)| (entry.into(), result.into()))
        .collect())
}

/// All modules of a JDK, whose classes HotSpot loads every day.
#[test]
fn classes_of_the_jdk_have_no_fault() -> Result<()> {
    let corpus = Corpus::open()?;
    for jdk in &test_jdks()? {
        let places = Places::new(jdk, &[])?;
        let mut verifier = places.verifier();
        let (mut faults, mut count) = (Vec::new(), 0);
        for module in corpus.jdk_modules(jdk)? {
            for (_, bytes) in classes_of(&module)? {
                let verdict = verifier.verify(&bytes);
                count += 1;
                faults.extend(verdict.faults.iter().map(ToString::to_string));
                faults.extend(
                    verdict.assumptions.iter().map(|class| format!("{}: no class {class}", verdict.class)),
                );
            }
        }
        println!("Java {}: {count} classes of its modules, {} faults", jdk.version, faults.len());
        ensure!(count > 10_000, "only {count} classes");
        assert!(faults.is_empty(), "Java {}: {} faults\n{}", jdk.version, faults.len(), faults.join("\n"));
    }
    Ok(())
}

/// The default JDK, and one of Java 25 if there is one.
fn test_jdks() -> Result<Vec<Jdk>> {
    let mut jdks = vec![Jdk::default_kit()?.clone()];
    jdks.extend(Jdk::at_least(25)?.filter(|newest| newest.version != jdks[0].version));
    Ok(jdks)
}
