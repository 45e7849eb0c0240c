//! The structure of the sources: no file of a crate imports itself by way of others, no class of the Java runtime names itself by way of
//! others, and its rooms know only those above them that `runtime-java/groups.txt` lets them know. The circles that there are stand, each
//! with its reason, in `docs/src/architecture.md`.

mod sources;

use sources::{Module, circles, imports, tokens};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn crate_files(folder: &Path) -> BTreeMap<Module, String> {
    let mut files = BTreeMap::new();
    for found in walkdir::WalkDir::new(folder).into_iter().filter_map(Result::ok) {
        let path = found.path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let inside = path.strip_prefix(folder).unwrap().with_extension("");
        let mut module: Module = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if module.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
            module.pop();
        }
        // Tests of a module that have a file of their own.
        if module.last().is_none_or(|last| last != "tests") {
            files.insert(module, fs::read_to_string(path).unwrap());
        }
    }
    files
}

/// The folders of the crates by the names of their rooms, but for that of the end-to-end tests.
fn crates() -> BTreeMap<String, PathBuf> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let members = manifest["workspace"]["members"].as_array().unwrap();
    let folders = members.iter().map(|member| member.as_str().unwrap());
    let rooms = folders.map(|folder| (room(folder), root().join(folder)));
    rooms.filter(|(name, _)| name != "tests").collect()
}

/// The last part of a folder: rooms that support the others lie in `crates`.
fn room(folder: &str) -> String {
    folder.rsplit('/').next().unwrap_or(folder).to_owned()
}

/// The rooms that the manifest in a folder lets a crate use; tests may use more.
fn used(folder: &Path) -> BTreeSet<String> {
    let text = |folder: &Path| fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let manifest: toml::Table = text(folder).parse().unwrap();
    let workspace: toml::Table = text(&root()).parse().unwrap();
    let folders = workspace["workspace"]["dependencies"].as_table().unwrap();
    let path_of = |name: &String| Some(room(folders.get(name)?.get("path")?.as_str()?));
    // Those of some systems only, too.
    let systems =
        manifest.get("target").and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::values);
    let systems = systems.filter_map(|system| system.get("dependencies"));
    let tables = manifest.get("dependencies").into_iter().chain(systems).filter_map(toml::Value::as_table);
    tables.flat_map(|table| table.keys().filter_map(path_of).collect::<Vec<_>>()).collect()
}

/// The table of rooms says which others each uses; manifests have the same arrows, and each points to a room that stands above it there.
#[test]
fn arrows_between_rooms_are_those_of_the_architecture_page() {
    let page = fs::read_to_string(root().join("docs/src/architecture.md")).unwrap();
    let mut above: BTreeSet<String> = BTreeSet::new();
    for line in page.lines().filter_map(|line| line.strip_prefix("| uses of `")) {
        let mut cells = line.split(" | ").map(|cell| cell.trim_end_matches(" |"));
        let name = cells.next().unwrap().trim_end_matches('`').to_owned();
        let words = cells.next().unwrap().split(", ").map(|word| word.trim_matches('`').to_owned());
        let said: BTreeSet<String> = words.filter(|word| word != "none").collect();
        assert_eq!(
            said,
            used(&crates()[&name]),
            "the uses of {name}: left in architecture.md, right in its Cargo.toml"
        );
        let back: Vec<_> = said.difference(&above).collect();
        assert!(back.is_empty(), "{name} uses what stands below it: {back:?}");
        assert!(above.insert(name.clone()), "{name} stands there twice");
    }
    assert_eq!(above, crates().into_keys().collect(), "the rooms with a row of uses, and the crates");
}

#[test]
fn files_do_not_import_each_other_but_where_the_architecture_page_says_why() {
    let page = fs::read_to_string(root().join("docs/src/architecture.md")).unwrap();
    let mut allowed: BTreeSet<(String, BTreeSet<Module>)> = BTreeSet::new();
    for line in page.lines().filter_map(|line| line.strip_prefix("| circle in `")) {
        let mut cells = line.split(" | ");
        let (name, members) = (cells.next().unwrap(), cells.next().unwrap());
        let members = members
            .split(", ")
            .map(|member| member.trim_matches('`').split("::").map(str::to_owned).collect());
        assert!(cells.next().is_some_and(|reason| reason.len() > 20), "a circle without a reason: {line}");
        allowed.insert((name.trim_end_matches('`').to_owned(), members.collect()));
    }
    let mut found = BTreeSet::new();
    // The sources of `runtime-java` are Java.
    for (name, folder) in crates().into_iter().filter(|(name, _)| name != "runtime-java") {
        let files = crate_files(&folder.join("src"));
        assert!(!files.is_empty(), "{name}");
        found.extend(circles(&imports(&files)).into_iter().map(|circle| (name.to_owned(), circle)));
    }
    let named = java_classes().into_iter().map(|(class, (_, named))| (vec![class], module_each(named)));
    found.extend(circles(&named.collect()).into_iter().map(|circle| ("runtime-java".to_owned(), circle)));
    let show = |circles: &BTreeSet<(String, BTreeSet<Module>)>,
                others: &BTreeSet<(String, BTreeSet<Module>)>| {
        let line = |(name, circle): &(String, BTreeSet<Module>)| {
            format!(
                "{name}: {}",
                circle.iter().map(|module| module.join("::")).collect::<Vec<_>>().join(", ")
            )
        };
        circles.difference(others).map(line).collect::<Vec<_>>()
    };
    let none: Vec<String> = Vec::new();
    assert_eq!(
        show(&found, &allowed),
        none,
        "files that import each other: cut the circle, or give its reason in architecture.md"
    );
    assert_eq!(show(&allowed, &found), none, "circles in architecture.md that are no longer there");
}

fn module_each(names: BTreeSet<String>) -> BTreeSet<Module> {
    names.into_iter().map(|name| vec![name]).collect()
}

/// The classes of the Java runtime: the room of each, and the other classes that it names.
fn java_classes() -> BTreeMap<String, (String, BTreeSet<String>)> {
    let source = root().join("runtime-java/src");
    let mut classes = BTreeMap::new();
    for found in walkdir::WalkDir::new(&source).into_iter().filter_map(Result::ok) {
        let path = found.path();
        if path.extension().is_some_and(|e| e == "java")
            && path.parent().is_some_and(|p| p.ends_with("instrument/runtime"))
        {
            let class = path.file_stem().unwrap().to_string_lossy().into_owned();
            let room = path.strip_prefix(&source).unwrap().iter().next().unwrap().to_string_lossy();
            let before =
                classes.insert(class, (room.into_owned(), tokens(&fs::read_to_string(path).unwrap())));
            assert!(before.is_none(), "{} is there twice", path.display());
        }
    }
    assert!(classes.len() > 100, "{} classes", classes.len());
    let named = |class: &String, tokens: &[String]| {
        tokens.iter().filter(|token| *token != class && classes.contains_key(*token)).cloned().collect()
    };
    classes
        .iter()
        .map(|(class, (room, tokens))| (class.clone(), (room.clone(), named(class, tokens))))
        .collect()
}

/// Each room of the list names only rooms that stand above it there, and the classes of its folder those, all of them and no other.
#[test]
fn rooms_of_the_java_runtime_know_only_those_above_them_that_they_may() {
    let list = fs::read_to_string(root().join("runtime-java/groups.txt")).unwrap();
    let mut above: BTreeSet<String> = BTreeSet::new();
    let mut allowed = BTreeSet::new();
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let (room, others) = line.split_once(':').unwrap_or_else(|| panic!("{line}"));
        for other in others.split_whitespace() {
            assert!(above.contains(other), "{room} names {other}, which does not stand above it");
            allowed.insert((room.to_owned(), other.to_owned()));
        }
        assert!(above.insert(room.to_owned()), "{room} stands there twice");
    }
    let classes = java_classes();
    let there: BTreeSet<String> = classes.values().map(|(room, _)| room.clone()).collect();
    assert_eq!(
        above, there,
        "left the rooms of runtime-java/groups.txt, right the folders of runtime-java/src"
    );
    let mut arrows: BTreeMap<(String, String), String> = BTreeMap::new();
    for (class, (from, named)) in &classes {
        for other in named {
            let to = &classes[other].0;
            if from != to {
                arrows
                    .entry((from.clone(), to.clone()))
                    .or_insert_with(|| format!("{from} -> {to}: {class} names {other}"));
            }
        }
    }
    let new: Vec<_> =
        arrows.iter().filter(|(arrow, _)| !allowed.contains(*arrow)).map(|(_, example)| example).collect();
    assert!(new.is_empty(), "arrows between rooms that runtime-java/groups.txt does not have: {new:#?}");
    let unused: Vec<_> = allowed.iter().filter(|arrow| !arrows.contains_key(*arrow)).collect();
    assert!(
        unused.is_empty(),
        "runtime-java/groups.txt has arrows that are no longer needed; delete them: {unused:?}"
    );
}

/// Nobody would miss the tests of a file that is no module of its program.
#[test]
fn every_file_of_tests_is_a_module_of_its_program() {
    for of in ["crates/analysis", "cli", "tests", "crates/trace", "rewriter"] {
        let folder = root().join(of).join("tests");
        let main = fs::read_to_string(folder.join("main.rs")).unwrap();
        let mut files = 0;
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            if path.extension().is_some_and(|extension| extension == "rs") && name != "main" {
                assert!(main.contains(&format!("\nmod {name};\n")), "{of}/tests/main.rs lacks {name}");
                files += 1;
            }
        }
        assert!(files > 0, "{of}");
    }
}

/// The faults that `./x mutants runtime-java` seeds: each changes one place, and its tests exist.
#[test]
fn seeded_faults_fit_the_runtime() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let text = fs::read_to_string(root.join("runtime-java/faults/faults.toml")).unwrap();
    let faults: toml::Table = text.parse().unwrap();
    let faults = faults["fault"].as_array().unwrap();
    assert!(faults.len() >= 40, "{} faults", faults.len());
    for fault in faults {
        let word = |key: &str| fault[key].as_str().unwrap();
        let (name, from, to) = (word("name"), word("from"), word("to"));
        let mut sources =
            walkdir::WalkDir::new(root.join("runtime-java/src")).into_iter().filter_map(Result::ok);
        let file = sources.find(|file| file.file_name() == word("file")).unwrap_or_else(|| panic!("{name}"));
        let file = file.path();
        let source = fs::read_to_string(file).unwrap();
        assert_eq!(source.matches(from).count(), 1, "{name}: {from} in {}", file.display());
        assert_ne!(from, to, "{name}");
        for test in fault["tests"].as_array().unwrap() {
            let mut words = test.as_str().unwrap().split(' ');
            let path = root.join("tests/tests").join(words.next().unwrap()).with_extension("rs");
            let tests = fs::read_to_string(&path).unwrap_or_else(|_| panic!("{name}: {}", path.display()));
            for filter in words {
                assert!(tests.contains(&format!("fn {filter}")), "{name}: {filter} in {}", path.display());
            }
        }
    }
}

/// The sources of a crate or of the page, but for tests.
fn sources(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let files = walkdir::WalkDir::new(folder.join("src")).into_iter().filter_map(Result::ok);
    let is_source = |path: &PathBuf| path.extension().is_some_and(|e| e == "rs" || e == "java" || e == "js");
    files.map(walkdir::DirEntry::into_path).filter(is_source)
}

#[test]
fn long_files_are_those_of_the_architecture_page() {
    let page = fs::read_to_string(root().join("docs/src/architecture.md")).unwrap();
    let table = page.split("## Long files").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let known: Vec<&str> =
        rows.flat_map(|files| files.split('`')).filter(|name| name.contains('.')).collect();
    assert!(known.len() > 3, "{known:?}");
    let folders = crates().into_values().chain([root().join("viewer")]);
    let mut files = 0;
    for path in folders.flat_map(|folder| sources(&folder).collect::<Vec<_>>()) {
        files += 1;
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        let is_known = known.iter().any(|name| path.ends_with(name));
        assert!(
            lines <= 500 || is_known,
            "{} has {lines} lines: cut it into files with a subject each, or give a reason in architecture.md",
            path.display()
        );
    }
    assert!(files > 500, "{files} files");
}
