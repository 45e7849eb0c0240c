//! Every class of the golden cases, rewritten without a JVM: the difference is the committed one. `cargo test -p
//! instrument-tests golden::` writes these anew, links and runs the classes as well.

use instrument_rewriter::class_file::ClassFile;
use instrument_rewriter::filter::Filter;
use instrument_rewriter::library::{Boundary, Inputs, recorded_callees};
use instrument_rewriter::region::Region;
use instrument_rewriter::remote_methods::RemoteIndex;
use instrument_rewriter::rewrite::{Choice, ClassRewriter, MethodRef, Outcome, Transforms};
use instrument_rewriter::text::{self, PrintOptions};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const NONE: Transforms = Transforms::NONE;
const METHOD_EVENTS: Transforms = Transforms { method_events: true, ..NONE };
/// By the name of the diff; and whether no file means that nothing changes.
const COMBINATIONS: [(&str, Transforms, bool); 11] = [
    ("method-events", METHOD_EVENTS, true),
    ("allocation", Transforms { allocation: true, ..NONE }, true),
    ("both", Transforms { allocation: true, ..METHOD_EVENTS }, false),
    ("bytecodes", Transforms { bytecodes: true, ..METHOD_EVENTS }, false),
    ("array-allocation", Transforms { array_allocation: true, ..NONE }, true),
    ("thread-links", Transforms { thread_links: true, references: true, ..NONE }, true),
    (
        "hand-over",
        Transforms { hand_over: true, given_tasks: true, references: true, streams: true, ..NONE },
        true,
    ),
    ("rmi", Transforms { rmi: true, ..NONE }, true),
    ("regions", NONE, true),
    ("waits", Transforms { waits: true, ..METHOD_EVENTS }, false),
    ("library-calls", METHOD_EVENTS, false),
];

/// Of a case: regions, by name what is expected of each.
fn regions_of(case: &str) -> BTreeMap<&str, &str> {
    let lines = case.lines().skip_while(|line| *line != "[regions]").skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    lines.filter_map(|line| line.strip_prefix('"')?.split_once("\" = ")).collect()
}

/// By path below the folder, in the order of the paths.
fn class_files(root: &Path, folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            class_files(root, &path, found);
        } else if path.extension().is_some_and(|extension| extension == "class") {
            found.insert(path.strip_prefix(root).unwrap().to_owned(), std::fs::read(&path).unwrap());
        }
    }
}

fn dump(bytes: &[u8]) -> String {
    text::print_class(&ClassFile::parse(bytes).unwrap(), &PrintOptions::canonical())
}

/// The differences of one case.
fn differences(
    classes: &BTreeMap<PathBuf, Vec<u8>>,
    case: &str,
    name: &str,
    transforms: Transforms,
) -> String {
    let (mut index, mut inputs) = (RemoteIndex::default(), Inputs::new());
    for class in classes.values().filter_map(|bytes| ClassFile::parse(bytes).ok()) {
        let _ = index.add(&class);
        inputs.add(&class);
    }
    let remote_methods = index.resolve().map(Arc::new);
    let expected = if name == "regions" { regions_of(case) } else { BTreeMap::new() };
    let regions: Arc<[Region]> = expected.keys().map(|text| Region::parse(text).unwrap()).collect();
    let mut told = BTreeMap::new();
    let boundary = Boundary { own: &inputs, filter: &Filter::default() };
    let boundary = (name == "library-calls").then_some(boundary);
    // By id: calls of methods by name, and methods.
    let (mut printed, mut ids) = (String::new(), Vec::new());
    for (name, bytes) in classes {
        let mut rewriter = ClassRewriter::with_regions(transforms, regions.clone());
        rewriter.leave_invalid();
        rewriter.set_remote_methods(remote_methods.clone());
        let (mut out, first) = (Vec::new(), ids.len());
        if let Ok(class) = ClassFile::parse(bytes) {
            let callees = recorded_callees(&class, boundary.as_ref(), transforms.waits, |_, _| true).unwrap();
            let calls = callees.iter().map(|callee| {
                let name = Some([callee.class, callee.name, callee.descriptor].join(&b' '));
                let known = ids.iter().position(|known| *known == name);
                (callee.index, known.unwrap_or_else(|| next(&mut ids, name)) as u32)
            });
            rewriter.record_library_calls(calls);
        }
        let choose = |_: &MethodRef<'_>| Choice::Rewrite(next(&mut ids, None) as u32);
        let outcome = rewriter.rewrite(bytes, choose, &mut out);
        match outcome {
            Ok(Outcome::Rewritten) => {
                let changes = text::changes(&dump(bytes), &dump(&out), 2).into_iter();
                let hunks: String = changes.map(|change| change.hunks).collect();
                let name = name.with_extension("");
                let name = name.display();
                printed += &format!("--- {name} before\n+++ {name} after\n{hunks}");
            }
            Ok(Outcome::Unchanged) => {}
            // No method has an id.
            _ => ids.truncate(first),
        }
        for report in rewriter.region_reports() {
            told.insert(regions[report.region].name.clone(), report.outcome.clone().err());
        }
    }
    // A count of passages, or why there are none.
    for (region, expected) in expected {
        let reason = expected.strip_prefix('"').map(|text| text.trim_end_matches('"'));
        let found = told.get(region).expect(region).as_ref().map(ToString::to_string);
        assert_eq!(reason.is_some(), found.is_some(), "{region}: {found:?}");
        assert!(found.is_none_or(|found| found.contains(reason.unwrap_or_default())), "{region}");
    }
    printed
}

/// The next id.
fn next(ids: &mut Vec<Option<Vec<u8>>>, name: Option<Vec<u8>>) -> usize {
    ids.push(name);
    ids.len() - 1
}

/// What goes and what comes, without what stands around it.
fn changed_lines(text: &str) -> String {
    text.lines().filter(|line| line.starts_with(['+', '-'])).map(|line| format!("{line}\n")).collect()
}

#[test]
fn classes_are_rewritten_as_committed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden");
    let mut compared = 0;
    for entry in std::fs::read_dir(&root).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(case) = std::fs::read_to_string(folder.join("case.toml")) else { continue };
        let mut classes = BTreeMap::new();
        class_files(&folder, &folder, &mut classes);
        // Classes that an assembler writes come in the order of its sources.
        let is_assembled = case.lines().any(|line| line == "made-by = \"assembler\"");
        if classes.is_empty() || (is_assembled && classes.len() > 1) {
            continue;
        }
        for (name, transforms, is_always_printed) in COMBINATIONS {
            let expected = std::fs::read_to_string(folder.join(format!("{name}.diff")));
            if expected.is_err() && !is_always_printed {
                continue;
            }
            let found = changed_lines(&differences(&classes, &case, name, transforms));
            let expected = changed_lines(&expected.unwrap_or_default());
            let what = folder.file_name().unwrap().display();
            assert!(expected == found, "{what} {name}:\n{}", text::diff(&expected, &found));
            compared += usize::from(!expected.is_empty());
        }
    }
    assert!(compared > 150, "{compared}");
}
