//! README and book name only commands and options that exist.

use crate::common::Dir;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, iter};

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let book = fs::read_dir(root.join("docs/src")).unwrap().map(|entry| entry.unwrap().path());
    let pages = book.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    iter::once(root.join("README.md")).chain(pages).collect()
}

/// The long options in a text.
fn options(text: &str) -> BTreeSet<String> {
    let word = |at: usize| {
        let end =
            text[at..].find(|c: char| c != '-' && !c.is_ascii_lowercase()).map_or(text.len(), |n| at + n);
        text[at..end].trim_end_matches('-').to_owned()
    };
    let begins = |at: usize| !text[..at].ends_with(|c: char| c == '-' || c.is_alphanumeric());
    let found = text.match_indices("--").filter(|&(at, _)| begins(at)).map(|(at, _)| word(at));
    found.filter(|option| option.len() > 2).collect()
}

/// The options of every command; those of the default command under the name `rewrite`.
fn commands(dir: &Dir) -> BTreeMap<String, BTreeSet<String>> {
    let help = dir.line("--help").expect(0).stdout;
    let of = |name: &str| {
        let help = dir.line(&format!("help {name}")).expect(0).stdout;
        // With those of its own commands.
        let own = listed(&help)
            .iter()
            .map(|own| dir.line(&format!("help {name} {own}")).expect(0).stdout)
            .collect::<String>();
        options(&(help + &own))
    };
    let names = listed(&help);
    assert!(!names.is_empty(), "a list of commands");
    names.into_iter().map(|name| (name.clone(), of(&name))).collect()
}

/// The commands in a help text.
fn listed(help: &str) -> Vec<String> {
    let list = help.split("Commands:").nth(1).unwrap_or_default();
    let names = list.lines().skip(1).take_while(|line| line.starts_with("  "));
    let names =
        names.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn what_readme_and_book_name_exists() {
    let dir = Dir::new();
    let commands = commands(&dir);
    assert!(commands.len() > 10 && commands["rewrite"].contains("--include"), "{commands:?}");
    let own = options(&dir.line("--help").expect(0).stdout);
    let known: BTreeSet<&String> = commands.values().flatten().chain(&own).collect();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let shown = |what: &str| format!("{}: {what}", page.display());
        for line in text.lines().filter_map(|line| line.strip_prefix("$ instrument ")) {
            // What stands behind `--` is of the program that is run.
            let own = line.split(" -- ").next().unwrap();
            let first = own.split_whitespace().next().unwrap();
            if known.contains(&first.to_owned()) {
                continue;
            }
            let name = if commands.contains_key(first) { first } else { "rewrite" };
            assert!(name == first || first.contains('.'), "{}", shown(line));
            for option in options(own.split('\'').next().unwrap()) {
                assert!(commands[name].contains(&option), "{}", shown(&format!("{option} in {line}")));
            }
        }
        // In the text, as code.
        for code in text.split('`').skip(1).step_by(2).filter(|code| !code.contains('\n')) {
            if code.contains("cargo")
                || code.starts_with("java ")
                || code.starts_with("bench/")
                || code.contains("patch-module")
                || code.contains("module-path")
            {
                continue;
            }
            for option in options(code) {
                assert!(known.contains(&option), "{}", shown(&format!("{option} in `{code}`")));
            }
        }
    }
}

/// Tables and what programs print may be wider.
#[test]
fn no_line_of_prose_in_the_book_is_wider_than_120_columns() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut wide = Vec::new();
    let mut lines = 0;
    for page in pages().into_iter().filter(|page| page.starts_with(root.join("docs"))) {
        let text = fs::read_to_string(&page).unwrap();
        let mut in_code = false;
        for (number, line) in text.lines().enumerate() {
            in_code ^= line.starts_with("```");
            lines += 1;
            if !in_code && !line.starts_with('|') && line.chars().count() > 120 {
                wide.push(format!("{}:{}", page.display(), number + 1));
            }
        }
    }
    assert!(lines > 300, "{lines}");
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

/// `./x bless` writes it.
#[test]
fn the_book_has_the_schema_of_datasets() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src/fleet.md");
    let text = fs::read_to_string(&page).unwrap();
    let (start, rest) = text.split_once("<!-- schema -->\n").unwrap();
    let (schema, end) = rest.split_once("<!-- /schema -->").unwrap();
    let expected = instrument_analysis::export::parquet::schema::markdown();
    if std::env::var("INSTA_UPDATE").is_ok_and(|how| how == "always") {
        fs::write(&page, format!("{start}<!-- schema -->\n{expected}<!-- /schema -->{end}")).unwrap();
    } else {
        assert!(
            schema == expected,
            "the schema in docs/src/fleet.md is not that of the files: run ./x bless"
        );
    }
}
