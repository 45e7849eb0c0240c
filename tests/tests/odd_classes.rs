//! Odd classes (attributes by place and version, constants, frames): the same verdict of `instrument verify` and of HotSpot, and rewriting changes
//! none. What HotSpot loads and verifies is rewritten; what it refuses is refused afterwards, or named in the account.
//!
//! `INSTRUMENT_CORPUS_FULL=1` takes all classes, and every virtual machine that there is.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use instrument_rewriter::reason::{Outcome, Reason};
use instrument_rewriter::rewrite::Transforms;
use instrument_testing::odd_classes::{self, Odd};
use instrument_tests::corpus::Corpus;
use instrument_tests::jre::{self, Jre};
use instrument_tests::machine::{Jdk, Run, java_source};
use instrument_verifier::Verifier;
use instrument_verifier::format::Jvm;
use instrument_verifier::jdk;

use super::invalid_classes::{Rewritten, Subject, TRANSFORMS, rewritten};

/// Classes of a usual run.
const USUAL: usize = 1_500;
/// Class file versions are Java versions and this.
const FIRST_MAJOR: u32 = 44;

#[test]
fn odd_classes_have_the_verdict_of_hotspot_before_and_after() -> Result<()> {
    let odd = if Corpus::full() { odd_classes::all() } else { odd_classes::some(USUAL, 11) };
    let work = tempfile::tempdir()?;
    // The oldest virtual machine has no compiler.
    let source = java_source("MutantLinkCheck.java");
    let mut javac = Jdk::default_kit()?.tool("javac");
    javac.args(["--release", "11", "-Xlint:-options", "-d"]).arg(work.path()).arg(source).run_quietly()?;
    let subjects: Vec<_> = odd
        .iter()
        .map(|odd| Subject { what: odd.what.clone(), name: "Odd.class".into(), bytes: odd.bytes.clone() })
        .collect();
    let after: Vec<_> =
        TRANSFORMS.iter().map(|&transforms| (transforms, rewritten(&subjects, transforms))).collect();
    let mut faults = Vec::new();
    let machines = if Corpus::full() { jre::all()? } else { jre::ends()? };
    for (number, jre) in machines.iter().enumerate() {
        // In a usual run each transform is seen by one machine.
        let is_seen = |at: usize| Corpus::full() || at % machines.len() == number;
        let after: Vec<_> =
            after.iter().enumerate().filter(|(at, _)| is_seen(*at)).map(|(_, after)| after).collect();
        let found = compare(jre, &odd, &after, work.path())?;
        faults.extend(found.into_iter().map(|fault| format!("Java {}: {fault}", jre.version)));
    }
    assert!(faults.is_empty(), "{} disagreements\n{}", faults.len(), faults.join("\n"));
    Ok(())
}

fn compare(jre: &Jre, odd: &[Odd], after: &[&(Transforms, Rewritten)], work: &Path) -> Result<Vec<String>> {
    let before = hotspot(jre, odd.iter().map(|odd| &*odd.bytes), work)?;
    let refused = before.iter().filter(|said| !is_ok(said)).count();
    // A comparison of classes that all are refused, or none, would say little.
    ensure!(refused * 10 > odd.len() && refused * 10 < odd.len() * 9, "{refused} of {} refused", odd.len());
    let mut faults = Vec::new();
    // Other classes matter little, and are the same ones in each Java.
    let classes = jdk::Jdk::open(&Jdk::default_kit()?.home)?;
    let newest_major = u16::try_from(FIRST_MAJOR + jre.version)?;
    let mut verifier = Verifier::new(&classes, Jvm { newest_major, preview: false });
    for (odd, said) in odd.iter().zip(&before) {
        let ours = verifier.verify(&odd.bytes).faults;
        if is_ok(said) != ours.is_empty() {
            let ours = ours.first().map_or("ok".into(), ToString::to_string);
            faults.push(format!("{}: verify says {ours}; HotSpot {said}", odd.what));
        }
    }
    for (transforms, (classes, named)) in after {
        let bytes = classes.iter().zip(odd).map(|(after, odd)| after.as_deref().unwrap_or(&odd.bytes));
        for (number, now) in hotspot(jre, bytes, work)?.iter().enumerate() {
            let (said, reasons) = (&before[number], named.get(&number));
            let is_left = reasons.is_some_and(|all| all.iter().any(|&reason| says_refused(reason)));
            let why = match (is_ok(said), is_ok(now)) {
                (true, false) => format!("was accepted, is refused afterwards: {now}"),
                (false, true) if reasons.is_none() => format!("is accepted afterwards, was refused: {said}"),
                (true, true) if is_left => format!("is accepted, and left as it is: {reasons:?}"),
                _ => continue,
            };
            faults.push(format!("{}: {why} ({transforms:?})", odd[number].what));
        }
    }
    println!(
        "Java {}: {} odd classes, {refused} refused by HotSpot, {} disagreements",
        jre.version,
        odd.len(),
        faults.len()
    );
    Ok(faults)
}

/// Whether the JVM should refuse the class.
fn says_refused(reason: Reason) -> bool {
    reason.outcome() == Outcome::Skipped && reason != Reason::BadStackMap
}

fn is_ok(said: &str) -> bool {
    said == "ok"
}

/// What HotSpot says of each.
fn hotspot<'a>(jre: &Jre, classes: impl Iterator<Item = &'a [u8]>, work: &Path) -> Result<Vec<String>> {
    let file = work.join("odd.jar");
    let mut archive = zip::ZipWriter::new(fs::File::create(&file)?);
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (number, class) in classes.enumerate() {
        archive.start_file(format!("{number}/Odd.class"), options)?;
        archive.write_all(class)?;
    }
    archive.finish()?;
    let mut java = jre.brief_java();
    java.arg("-cp").arg(work).arg("MutantLinkCheck").args([&file, work]);
    let text = String::from_utf8(java.run_quietly()?.stdout)?;
    text.lines()
        .map(|line| Ok(line.split_once('\t').with_context(|| format!("it said {line:?}"))?.1.into()))
        .collect()
}
