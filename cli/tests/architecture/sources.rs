//! What files name of each other, and the circles of that, from their text alone.

use std::collections::{BTreeMap, BTreeSet};

/// A file's place in its crate: `["merge", "calls"]`.
pub(super) type Module = Vec<String>;

/// Words and punctuation, without comments and literals.
pub(super) fn tokens(text: &str) -> Vec<String> {
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
pub(super) fn imports(files: &BTreeMap<Module, String>) -> BTreeMap<Module, BTreeSet<Module>> {
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
pub(super) fn circles(imports: &BTreeMap<Module, BTreeSet<Module>>) -> BTreeSet<BTreeSet<Module>> {
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
