//! Every class of the golden cases, rewritten without a JVM: the difference is the committed one. `cargo test -p instrument-tests golden::` writes
//! these anew, links and runs the classes as well.

use instrument_rewriter::class_file::ClassFile;
use instrument_rewriter::remote_methods::RemoteIndex;
use instrument_rewriter::rewrite::{Choice, ClassRewriter, Outcome, Transforms};
use instrument_rewriter::text::{self, PrintOptions};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const NONE: Transforms = Transforms::NONE;
const METHOD_EVENTS: Transforms = Transforms { method_events: true, ..NONE };
/// By the name of the diff; and whether no file means that nothing changes.
const COMBINATIONS: [(&str, Transforms, bool); 8] = [
    ("method-events", METHOD_EVENTS, true),
    ("allocation", Transforms { allocation: true, ..NONE }, true),
    ("both", Transforms { allocation: true, ..METHOD_EVENTS }, false),
    ("bytecodes", Transforms { bytecodes: true, ..METHOD_EVENTS }, false),
    ("array-allocation", Transforms { array_allocation: true, ..NONE }, true),
    ("thread-links", Transforms { thread_links: true, ..NONE }, true),
    ("hand-over", Transforms { hand_over: true, ..NONE }, true),
    ("rmi", Transforms { rmi: true, ..NONE }, true),
];

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
fn differences(classes: &BTreeMap<PathBuf, Vec<u8>>, transforms: Transforms) -> String {
    let mut index = RemoteIndex::default();
    for class in classes.values().filter_map(|bytes| ClassFile::parse(bytes).ok()) {
        let _ = index.add(&class);
    }
    let remote_methods = index.resolve().map(Arc::new);
    let (mut printed, mut next) = (String::new(), 0);
    for (name, bytes) in classes {
        let mut rewriter = ClassRewriter::new(transforms);
        rewriter.leave_invalid();
        rewriter.set_remote_methods(remote_methods.clone());
        let (mut out, first) = (Vec::new(), next);
        let outcome = rewriter.rewrite(
            bytes,
            |_| {
                next += 1;
                Choice::Rewrite(next - 1)
            },
            &mut out,
        );
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
            _ => next = first,
        }
    }
    printed
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
            let found = changed_lines(&differences(&classes, transforms));
            let expected = changed_lines(&expected.unwrap_or_default());
            let what = folder.file_name().unwrap().display();
            assert!(expected == found, "{what} {name}:\n{}", text::diff(&expected, &found));
            compared += usize::from(!expected.is_empty());
        }
    }
    assert!(compared > 150, "{compared}");
}
