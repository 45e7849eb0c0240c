//! How patterns of classes and methods go on that somebody has begun to type: `com/ac`, `com/acme/`, `com/acme/Shop`,
//! `com/acme/Shop#sell`.

use crate::source::{Input, Tree};
use instrument_names::mutf8;
use instrument_rewriter::survey::{Survey, SurveyBuffers};
use std::collections::BTreeSet;
use std::path::Path;

/// How archives end that have classes.
const ARCHIVES: [&str; 4] = ["jar", "war", "ear", "zip"];
/// Where the classes of a program begin in archives that are more than its jar.
const ROOTS: [&str; 2] = ["BOOT-INF/classes/", "WEB-INF/classes/"];

/// Files of a directory that is looked at; what has more is no output of a compiler.
const MOST: usize = 20_000;

/// Whether suggestions are looked for in a file or directory: not in one that may hold everything.
pub fn has_classes(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    match path.is_dir() {
        true => {
            path.file_name().is_some() && walkdir::WalkDir::new(path).into_iter().take(MOST).count() < MOST
        }
        false => (extension == "class" || ARCHIVES.contains(&extension)) && path.is_file(),
    }
}

/// What may stand in the place of `typed`, of the classes of archives and directories: packages one by one, classes,
/// and behind `#` the methods of a class. Packages end with `/`, as folders do, unless they were begun with `.`. What
/// cannot be read has nothing to say.
pub fn begun(places: &[String], typed: &str) -> BTreeSet<String> {
    // A list of patterns: the last is being typed.
    let (before, typed) = typed.rfind(':').map_or(("", typed), |at| typed.split_at(at + 1));
    let trees: Vec<Tree> = places.iter().filter_map(|place| tree(place)).collect();
    let found = match typed.split_once('#') {
        Some((class, method)) => methods(&trees, class, method),
        None => classes(&trees, typed),
    };
    found.into_iter().map(|name| format!("{before}{name}")).collect()
}

fn tree(place: &str) -> Option<Tree> {
    match Input::open(place).ok()? {
        Input::Tree(tree) => Some(tree),
        Input::File(_) => None,
    }
}

/// The name of the class in an entry, as patterns have it: nested ones behind a `.`, since `$` means something to
/// shells.
fn class_of(entry: &str) -> Option<String> {
    let path = entry.strip_suffix(".class")?;
    let path = ROOTS.iter().find_map(|root| path.strip_prefix(root)).unwrap_or(path);
    let is_hidden = path.starts_with("META-INF/") || path.ends_with("-info");
    let is_named = path
        .split('$')
        .skip(1)
        .all(|part| !part.is_empty() && !part.starts_with(|c: char| c.is_ascii_digit()));
    let name = path.replace('$', ".");
    (!is_hidden && is_named && is_plain(&name)).then_some(name)
}

/// Whether no shell takes a part of it for its own: scripts put it into the line as it is.
fn is_plain(name: &str) -> bool {
    name.chars().all(|c| c.is_alphanumeric() || "_./-#".contains(c))
}

/// Packages and classes that begin so.
fn classes(trees: &[Tree], typed: &str) -> BTreeSet<String> {
    let has_dots = typed.contains('.') && !typed.contains('/');
    let entries = trees.iter().flat_map(Tree::entries);
    let names = entries.filter_map(|entry| class_of(&entry.name));
    let names = names.map(|name| if has_dots { name.replace('/', ".") } else { name });
    let names: BTreeSet<String> = names.filter(|name| name.starts_with(typed)).collect();
    let separator = if has_dots { '.' } else { '/' };
    let mut at = typed.len();
    loop {
        let step = |name: &String| match name[at..].find(separator) {
            Some(end) => name[..=at + end].to_owned(),
            None => name.clone(),
        };
        let steps: BTreeSet<String> = names.iter().map(step).collect();
        match steps.first() {
            // A package that is alone is no choice.
            Some(only) if steps.len() == 1 && only.len() > at && only.ends_with(separator) => at = only.len(),
            _ => return steps,
        }
    }
}

/// The methods of a class that begin so.
fn methods(trees: &[Tree], class: &str, typed: &str) -> BTreeSet<String> {
    let wanted = class.replace(['/', '$'], ".");
    let mut found = BTreeSet::new();
    for tree in trees {
        let is_wanted = |name: &str| class_of(name).is_some_and(|name| name.replace('/', ".") == wanted);
        let Some(entry) = tree.entries().iter().find(|entry| is_wanted(&entry.name)) else { continue };
        let Ok(bytes) = tree.read(entry) else { continue };
        let Ok(survey) = Survey::of(&bytes, &mut SurveyBuffers::default()) else { continue };
        let names = survey.methods.iter().map(|method| mutf8::escape(method.name(&bytes)));
        let names = names.filter(|name| name.starts_with(typed) && is_plain(name));
        found.extend(names.map(|name| format!("{class}#{name}")));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use instrument_testing::samples::{SEED, archive};

    #[test]
    fn a_pattern_goes_on_part_by_part() {
        let folder = tempfile::tempdir().unwrap();
        let names = [
            "META-INF/versions/9/com/acme/Shop.class",
            "module-info.class",
            "com/acme/shop/Shop.class",
            "com/acme/shop/Shop$Item.class",
            "com/acme/shop/Shop$1.class",
            "com/acme/shop/Cart.class",
            "BOOT-INF/classes/com/acme/bank/Bank.class",
            "com/acme/notes.txt",
            "com/acme/bank/`touch x`.class",
        ];
        let jar = folder.path().join("app.jar");
        std::fs::write(&jar, archive(&names.map(|name| (name, SEED)))).unwrap();
        assert!(has_classes(&jar) && has_classes(folder.path()));
        assert!(!has_classes(&folder.path().join("none.jar")) && !has_classes(Path::new("..")));
        // A name that ends like a package is no endless way.
        let odd = folder.path().join("odd.jar");
        std::fs::write(&odd, archive(&[("a/.class", SEED)])).unwrap();
        assert_eq!(begun(&[odd.display().to_string()], "").into_iter().collect::<Vec<_>>(), ["a/"]);
        let places = [jar.display().to_string(), "none.jar".to_owned()];
        let goes_on = |typed: &str| begun(&places, typed).into_iter().collect::<Vec<_>>();
        assert_eq!(goes_on(""), ["com/acme/bank/", "com/acme/shop/"]);
        assert_eq!(goes_on("com/acme/b"), ["com/acme/bank/Bank"]);
        assert_eq!(
            goes_on("com.acme.s"),
            ["com.acme.shop.Cart", "com.acme.shop.Shop", "com.acme.shop.Shop."]
        );
        assert_eq!(goes_on("com/acme/shop/S"), ["com/acme/shop/Shop", "com/acme/shop/Shop.Item"]);
        assert_eq!(goes_on("a.B:com/acme/b"), ["a.B:com/acme/bank/Bank"]);
        assert_eq!(goes_on("org/"), [""; 0]);
        let methods = goes_on("com.acme.shop.Shop#");
        assert!(methods.len() > 1, "{methods:?}");
        assert!(methods.iter().all(|name| name.starts_with("com.acme.shop.Shop#")), "{methods:?}");
        assert!(!methods.iter().any(|name| name.contains(['<', '$'])), "{methods:?}");
        assert_eq!(goes_on(&methods[0]).first(), methods.first());
        assert_eq!(goes_on("com/acme/shop/Shop.Item#nothing"), [""; 0]);
    }
}
