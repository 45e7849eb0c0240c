//! The structure of the sources: no file of a crate imports itself by way of others, no class of the Java runtime names itself by way of
//! others, and its rooms know only those above them that `runtime-java/groups.txt` lets them know. The circles that there are stand, each
//! with its reason, in `docs/src/architecture.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A file's place in its crate: `["merge", "calls"]`.
type Module = Vec<String>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Words and punctuation, without comments and literals.
fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut tokens, mut at) = (Vec::new(), 0);
    while let Some(&c) = chars.get(at) {
        let next = chars.get(at + 1).copied().unwrap_or(' ');
        match c {
            '/' if next == '/' => at += chars[at..].iter().take_while(|c| **c != '\n').count(),
            '/' if next == '*' => {
                at += 2;
                while at < chars.len() && !(chars[at] == '*' && chars.get(at + 1) == Some(&'/')) {
                    at += 1;
                }
                at += 2;
            }
            'r' | 'b' if raw_string(&chars[at..]).is_some() => at += raw_string(&chars[at..]).unwrap_or(1),
            '"' => {
                at += 1;
                while at < chars.len() && chars[at] != '"' {
                    at += if chars[at] == '\\' { 2 } else { 1 };
                }
                at += 1;
            }
            '\'' if next == '\\' => {
                at += 3;
                at += 1 + chars[at.min(chars.len())..].iter().take_while(|c| **c != '\'').count();
            }
            '\'' if chars.get(at + 2) == Some(&'\'') => at += 3,
            ':' if next == ':' => {
                tokens.push("::".to_owned());
                at += 2;
            }
            c if is_word(c) => {
                let word: String = chars[at..].iter().take_while(|c| is_word(**c)).collect();
                at += word.chars().count();
                tokens.push(word);
            }
            c => {
                if !c.is_whitespace() {
                    tokens.push(c.to_string());
                }
                at += 1;
            }
        }
    }
    tokens
}

/// How long a raw string is that begins here.
fn raw_string(chars: &[char]) -> Option<usize> {
    let start = usize::from(chars[0] == 'b');
    let (Some('r'), rest) = (chars.get(start).copied(), chars.get(start + 1..)?) else { return None };
    let hashes = rest.iter().take_while(|c| **c == '#').count();
    if rest.get(hashes) != Some(&'"') {
        return None;
    }
    let body = &rest[hashes + 1..];
    let ends = |at: usize| {
        body[at] == '"' && body[at + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes
    };
    let length = (0..body.len()).find(|&at| ends(at)).unwrap_or(body.len());
    Some(start + 1 + hashes + 1 + length + 1 + hashes)
}

/// What a file of Rust names: paths as they are written, and whether a `pub use` passes them on.
fn paths(tokens: &[String]) -> Vec<(Vec<String>, bool)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let starts = |words: &[&str]| {
            tokens.len() >= at + words.len()
                && words.iter().zip(&tokens[at..]).all(|(word, token)| word == token)
        };
        if starts(&["#", "[", "cfg", "(", "test", ")", "]"]) {
            at = after_item(tokens, at + 7);
        // Not `impl Trait + use<..>`.
        } else if tokens[at] == "use" && tokens.get(at + 1).is_some_and(|token| token != "<") {
            let is_public = at > 0 && (tokens[at - 1] == "pub" || tokens[at - 1] == ")");
            at = use_tree(tokens, at + 1, &[], is_public, &mut found);
        } else if starts_path(tokens, at) {
            let mut path = vec![tokens[at].clone()];
            while tokens.get(at + 1).is_some_and(|token| token == "::")
                && tokens
                    .get(at + 2)
                    .is_some_and(|token| token.starts_with(|c: char| c.is_alphabetic() || c == '_'))
            {
                path.push(tokens[at + 2].clone());
                at += 2;
            }
            found.push((path, false));
            at += 1;
        } else {
            at += 1;
        }
    }
    found
}

fn starts_path(tokens: &[String], at: usize) -> bool {
    tokens[at].starts_with(|c: char| c.is_alphabetic())
        && tokens.get(at + 1).is_some_and(|token| token == "::")
        && (at == 0 || tokens[at - 1] != "::")
}

/// Behind an item: its `;` or its braces.
fn after_item(tokens: &[String], mut at: usize) -> usize {
    let mut depth = 0;
    while at < tokens.len() {
        match tokens[at].as_str() {
            ";" if depth == 0 => return at + 1,
            "{" | "[" | "(" => depth += 1,
            "}" | "]" | ")" => {
                depth -= 1;
                if depth == 0 && tokens[at] == "}" {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    at
}

fn use_tree(
    tokens: &[String],
    mut at: usize,
    before: &[String],
    is_public: bool,
    found: &mut Vec<(Vec<String>, bool)>,
) -> usize {
    let mut path = before.to_vec();
    while at < tokens.len() {
        match tokens[at].as_str() {
            "{" => {
                at += 1;
                while at < tokens.len() && !["}", ";"].contains(&tokens[at].as_str()) {
                    at = use_tree(tokens, at, &path, is_public, found);
                    at += usize::from(tokens.get(at).is_some_and(|token| token == ","));
                }
                return at + 1;
            }
            "," | "}" | ";" => break,
            "as" => at += 1,
            "::" => {}
            word => path.push(word.to_owned()),
        }
        at += 1;
    }
    found.push((path, is_public));
    at
}

/// Which files of a crate each of its files imports. What a file takes from those above it in its own branch is left out: a module and the
/// files of its folder are one, cut into parts, and it holds what the parts share.
fn imports(files: &BTreeMap<Module, String>) -> BTreeMap<Module, BTreeSet<Module>> {
    let absolute = |module: &Module, path: &[String]| -> Option<Module> {
        let supers = path.iter().take_while(|word| *word == "super").count();
        let mut whole = match path.first()?.as_str() {
            "crate" => path[1..].to_vec(),
            "self" => [module.as_slice(), &path[1..]].concat(),
            "super" => [&module[..module.len().saturating_sub(supers)], &path[supers..]].concat(),
            first => {
                let child = [module.as_slice(), &[first.to_owned()]].concat();
                files.contains_key(&child).then(|| [module.as_slice(), path].concat())?
            }
        };
        whole.retain(|word| word != "self");
        Some(whole)
    };
    let file_of = |path: &[String]| -> Module {
        (0..=path.len())
            .rev()
            .map(|length| path[..length].to_vec())
            .find(|path| files.contains_key(path))
            .unwrap_or_default()
    };
    let named: BTreeMap<&Module, Vec<(Module, bool)>> = files
        .iter()
        .map(|(module, text)| {
            let paths = paths(&tokens(text)).into_iter();
            (module, paths.filter_map(|(path, public)| Some((absolute(module, &path)?, public))).collect())
        })
        .collect();
    let mut passed_on: BTreeMap<Module, Module> = BTreeMap::new();
    for (module, paths) in &named {
        for (path, _) in paths.iter().filter(|(_, public)| *public) {
            let name = path.last().cloned().unwrap_or_default();
            passed_on.insert([module.as_slice(), &[name]].concat(), path.clone());
        }
    }
    let imports = |(module, paths): (&&Module, &Vec<(Module, bool)>)| {
        let of = |(path, _): &(Module, bool)| {
            let file = file_of(path);
            let name = path.get(..=file.len()).map(<[String]>::to_vec);
            name.and_then(|name| passed_on.get(&name)).map_or(file, |path| file_of(path))
        };
        let used = paths.iter().filter(|(_, public)| !public).map(of);
        ((*module).clone(), used.filter(|file| !module.starts_with(file)).collect())
    };
    named.iter().map(imports).collect()
}

/// The files that can be reached from each other.
fn circles(imports: &BTreeMap<Module, BTreeSet<Module>>) -> BTreeSet<BTreeSet<Module>> {
    let reached = |from: &Module| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(module) = open.pop() {
            for next in imports.get(&module).into_iter().flatten() {
                if seen.insert(next.clone()) {
                    open.push(next.clone());
                }
            }
        }
        seen
    };
    let reach: BTreeMap<&Module, BTreeSet<Module>> =
        imports.keys().map(|module| (module, reached(module))).collect();
    let circle = |module: &Module| -> BTreeSet<Module> {
        reach[module]
            .iter()
            .filter(|other| reach.get(other).is_some_and(|back| back.contains(module)))
            .cloned()
            .collect()
    };
    imports.keys().map(circle).filter(|circle| !circle.is_empty()).collect()
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

#[test]
fn circles_are_found() {
    let file = |name: &str, text: &str| (name.split("::").map(str::to_owned).collect(), text.to_owned());
    let found = |files: &[(Module, String)]| circles(&imports(&files.iter().cloned().collect()));
    let one = [
        file("a", "use crate::{b::{B, other}, c};"),
        file("b", "pub use crate::d::D; fn f() { let x = '\"'; crate::c::f() }"),
        file("c", "// use crate::a;\nconst X: &str = \"crate::a\"; #[cfg(test)] mod tests { use crate::a; }"),
        file("d", ""),
    ];
    assert!(found(&one).is_empty(), "{:?}", found(&one));
    for back in [
        "use super::a::A;",
        "fn f<'a>(_: &'a crate::a::A) -> impl X + use<> { g(); }",
        "use crate::b::D as E; use crate::a;",
    ] {
        let mut two = one.to_vec();
        two[2].1 += back;
        assert_eq!(
            found(&two).iter().map(BTreeSet::len).collect::<Vec<_>>(),
            [3],
            "{back}: {:?}",
            found(&two)
        );
    }
    let passed_on = [
        file("a", "pub use self::b::B; mod b;"),
        file("a::b", "use super::X;"),
        file("c", "use crate::a::B;"),
    ];
    assert!(found(&passed_on).is_empty());
    let by_another_name =
        [file("p", "pub use crate::x::X;"), file("x", "use crate::y;"), file("y", "use crate::p::X;")];
    assert_eq!(found(&by_another_name).len(), 1);
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
    let tables = manifest.get("dependencies").and_then(toml::Value::as_table).into_iter();
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
