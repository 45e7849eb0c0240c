//! The verdicts on odd and on changed classes, all of them: how many of each kind break which rule, and a digest of
//! what is said of them. That HotSpot says the same is what `odd_classes.rs` and `verify.rs` of the end-to-end tests
//! look at; here a verdict that changes is seen.

mod class_file;

use class_file::Few;
use instrument_testing::changed_classes::{Random, mutate};
use instrument_testing::odd_classes;
use instrument_verifier::format::Jvm;
use instrument_verifier::{Verdict, Verifier};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Changes of each golden class.
const CHANGES: usize = 24;
/// Counts of verdicts by rule, and a digest (FNV-1a) of all that was said.
struct Tally {
    counts: BTreeMap<&'static str, u32>,
    digest: u64,
}

impl Tally {
    fn new() -> Self {
        Self { counts: BTreeMap::new(), digest: 0xcbf2_9ce4_8422_2325 }
    }

    fn add(&mut self, verdict: &Verdict) {
        let rule = verdict.faults.first().map_or("ok", |fault| fault.rule.code());
        *self.counts.entry(rule).or_default() += 1;
        let mut said = verdict.assumptions.join(" ");
        for fault in &verdict.faults {
            let _ = write!(said, "\n{fault}");
        }
        for byte in said.bytes().chain([0]) {
            self.digest = (self.digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn line(&self, of: &str) -> String {
        let counts: Vec<_> = self.counts.iter().map(|(rule, count)| format!("{rule} {count}")).collect();
        format!("{of}: {} ({:08x})\n", counts.join(", "), self.digest >> 32)
    }
}

#[test]
fn verdicts_on_odd_classes_are_those_of_before() {
    let few = Few::new();
    let mut text = String::new();
    for newest_major in [61, 69] {
        let mut verifier = Verifier::new(&few, Jvm { newest_major, preview: false });
        let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
        for odd in odd_classes::all() {
            let kind = odd.what.split([' ', ',', ':']).next().unwrap_or_default().to_owned();
            tallies.entry(kind).or_insert_with(Tally::new).add(&verifier.verify(&odd.bytes));
        }
        let _ = writeln!(text, "newest version: {newest_major}");
        text.extend(tallies.iter().map(|(kind, tally)| tally.line(kind)));
    }
    insta::assert_snapshot!(text);
}

/// The classes of the golden cases.
fn golden() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden");
    let (mut open, mut files) = (vec![root.clone()], Vec::<PathBuf>::new());
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false if path.extension().is_some_and(|of| of == "class") => files.push(path),
                false => {}
            }
        }
    }
    files.sort();
    let named = |path: &PathBuf| path.strip_prefix(&root).unwrap().with_extension("").display().to_string();
    files.iter().map(|path| (named(path), std::fs::read(path).unwrap())).collect()
}

#[test]
fn verdicts_on_golden_classes_and_their_changes_are_those_of_before() {
    let mut text = String::new();
    let mut case = String::new();
    let mut few = Few::new();
    let golden = golden();
    for (name, bytes) in &golden {
        // A case's classes know each other.
        let (folder, _) = name.split_once('/').unwrap();
        if case != folder {
            case = folder.to_owned();
            few = Few::new();
            let beside = golden.iter().filter(|(other, _)| other.starts_with(&format!("{case}/")));
            beside.for_each(|(_, bytes)| few.add(bytes));
        }
        let mut verifier = Verifier::new(&few, Jvm::default());
        let mut tally = Tally::new();
        tally.add(&verifier.verify(bytes));
        // The changes of a class are those of its name, whatever other cases there are.
        let mut random = Random(name.bytes().fold(7, |seed, byte| seed * 31 % 1_000_003 + u64::from(byte)));
        for _ in 0..CHANGES {
            if let Some((_, changed)) = mutate(bytes, &mut random) {
                tally.add(&verifier.verify(&changed));
            }
        }
        text.push_str(&tally.line(name));
    }
    insta::assert_snapshot!(text);
}
