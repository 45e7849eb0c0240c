//! `instrument diff --markdown`: what a pull request changes in bytecode, size and API, as a comment on GitHub takes it.
//!
//! A comment has room for 65,536 characters. The table of sizes is always whole; the API gets a third of the room, the methods the rest, in
//! the order of their classes. What did not fit is counted in the last line.

use super::MAX_NESTING;
use super::api::{self, Api, Change, Kind};
use crate::source::{Tree, is_archive_name};
use instrument_messages::number;
use instrument_names::markdown::{block, code, html_code};
use instrument_names::{mutf8, signature};
use instrument_rewriter::class_file::ClassFile;
use instrument_rewriter::text::{ChangeKind, SectionChange};
use std::fmt::Write;

/// The longest comment on GitHub, in characters; this many bytes are never more.
const LIMIT: usize = 65_536;
/// Room for the last line.
const END: usize = 2_000;
/// The longest difference of one method, in bytes.
const LONGEST: usize = 8_000;
/// Differences are kept up to this many bytes: no more than [`LIMIT`] can be printed, and not all of them fit.
const KEPT: usize = 4 * LIMIT;
/// The longest name, in characters.
const NAME: usize = 300;

/// Which of the two inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Before,
    After,
}

/// The classes of one input.
#[derive(Debug, Default, Clone, Copy)]
struct Sizes {
    classes: usize,
    methods: usize,
    /// Bytes of all code arrays.
    code: usize,
    /// Bytes of all class files.
    files: usize,
}

/// What is to be printed.
#[derive(Debug)]
pub(super) struct Page {
    names: [String; 2],
    /// Before and after.
    sizes: [Sizes; 2],
    /// Classes only before, only after, and changed ones.
    removed: Vec<String>,
    added: Vec<String>,
    changed: usize,
    sections: Vec<(String, SectionChange)>,
    kept: usize,
    api: Vec<Change>,
    /// Files that are no classes, or none that can be read: what happened to them.
    others: Vec<String>,
}

impl Page {
    pub(super) fn new(names: [&str; 2]) -> Page {
        Page {
            names: names.map(str::to_owned),
            sizes: [Sizes::default(); 2],
            removed: Vec::new(),
            added: Vec::new(),
            changed: 0,
            sections: Vec::new(),
            kept: 0,
            api: Vec::new(),
            others: Vec::new(),
        }
    }

    /// An entry that only one side has.
    pub(super) fn only(&mut self, side: Side, address: &str, bytes: &[u8]) {
        let Ok(class) = ClassFile::parse(bytes) else {
            let word = if side == Side::Before { "removed" } else { "added" };
            self.others.push(format!("{} {word}", code(&cut(address))));
            return;
        };
        self.count(side, &class);
        let (api, none) = (api_of(&class), Api::new());
        let (before, after) = if side == Side::Before { (&api, &none) } else { (&none, &api) };
        self.api.extend(api::changes(before, after));
        let list = if side == Side::Before { &mut self.removed } else { &mut self.added };
        list.push(name_of(&class));
    }

    /// A file that both have with the same bytes: a class, an archive of classes, or something else. `depth`: archives around it.
    pub(super) fn equal(&mut self, bytes: Vec<u8>, depth: usize) {
        if let Ok(class) = ClassFile::parse(&bytes) {
            self.both(&class, &class);
        } else if bytes.starts_with(b"PK")
            && depth < MAX_NESTING
            && let Ok(tree) = Tree::of_archive(bytes)
        {
            let is_wanted = |name: &str| name.ends_with(".class") || is_archive_name(name);
            let wanted = tree.entries().iter().filter(|entry| is_wanted(&entry.name));
            // An entry that cannot be read is the same on both sides.
            wanted.filter_map(|entry| tree.read(entry).ok()).for_each(|bytes| self.equal(bytes, depth + 1));
        }
    }

    /// Two versions of a class: how large they are, and their APIs.
    pub(super) fn both(&mut self, before: &ClassFile<'_>, after: &ClassFile<'_>) {
        self.count(Side::Before, before);
        self.count(Side::After, after);
        if before.bytes != after.bytes {
            self.api.extend(api::changes(&api_of(before), &api_of(after)));
        }
    }

    /// What changed in a class.
    pub(super) fn changed(&mut self, class: &ClassFile<'_>, changes: Vec<SectionChange>) {
        self.changed += 1;
        let name = name_of(class);
        for mut change in changes {
            self.kept += change.hunks.len();
            if self.kept > KEPT {
                change.hunks.clear();
            }
            self.sections.push((name.clone(), change));
        }
    }

    /// Two files that differ, and are no classes.
    pub(super) fn other(&mut self, address: &str, reason: &str) {
        self.others.push(format!("{} changed: {}", code(&cut(address)), code(&cut(reason))));
    }

    fn count(&mut self, side: Side, class: &ClassFile<'_>) {
        let sizes = &mut self.sizes[side as usize];
        sizes.classes += 1;
        sizes.files += class.bytes.len();
        let mut methods = class.methods();
        while let Ok(Some(method)) = methods.next() {
            sizes.methods += 1;
            if let Ok(Some(code)) = method.code(&class.pool) {
                sizes.code += code.code.len();
            }
        }
    }

    /// The whole page: at most [`LIMIT`] bytes.
    pub(super) fn text(&self) -> String {
        let mut text = self.head();
        let mut left_out = Vec::new();
        let room = LIMIT - END;
        let mut lists =
            vec![("Removed classes", self.removed.iter().map(|name| code(name)).collect::<Vec<_>>())];
        lists.push(("Added classes", self.added.iter().map(|name| code(name)).collect()));
        let of_api =
            |kind: fn(&Change) -> Option<String>| self.api.iter().filter_map(kind).collect::<Vec<_>>();
        lists.push((
            "API: removed",
            of_api(|change| match (&change.before, &change.after) {
                (Some(before), None) => Some(code(&cut(before))),
                _ => None,
            }),
        ));
        lists.push((
            "API: changed",
            of_api(|change| match (&change.before, &change.after) {
                (Some(before), Some(after)) => {
                    Some(format!("{} was {}", code(&cut(after)), code(&cut(before))))
                }
                _ => None,
            }),
        ));
        lists.push((
            "API: added",
            of_api(|change| match (&change.before, &change.after) {
                (None, Some(after)) => Some(code(&cut(after))),
                _ => None,
            }),
        ));
        lists.push(("Other files", self.others.clone()));
        for (title, rows) in lists {
            let missing = list(&mut text, title, &rows, room / 3);
            if missing > 0 {
                left_out.push(format!("{missing} of {} rows of “{title}”", rows.len()));
            }
        }
        let mut missing = 0;
        for (position, (class, change)) in self.sections.iter().enumerate() {
            let block = details(class, change);
            let head = if position == 0 { "\n#### What changed\n\n" } else { "" };
            match block {
                Some(block) if text.len() + head.len() + block.len() <= room => {
                    text.push_str(head);
                    text.push_str(&block);
                }
                _ => missing += 1,
            }
        }
        if missing > 0 {
            left_out.push(format!("{missing} of {}", number(self.sections.len() as u64, "change")));
        }
        if !left_out.is_empty() {
            let [before, after] = self.names.each_ref().map(|name| code(&cut_to(name, 100)));
            let _ = writeln!(
                text,
                "\nLeft out, for a comment has {LIMIT} characters: {}. `instrument diff` of {before} and {after} prints all of it.",
                left_out.join(", ")
            );
        }
        text
    }

    /// The title and the tables.
    fn head(&self) -> String {
        let [before, after] = &self.sizes;
        let mut text = match (self.changed, self.added.len(), self.removed.len()) {
            (0, 0, 0) => "### Bytecode: no class changed\n".to_owned(),
            (changed, added, removed) => format!(
                "### Bytecode: {} changed, {added} added, {removed} removed\n",
                number(changed as u64, "class")
            ),
        };
        text.push_str("\n| | before | after | |\n|---|---:|---:|---:|\n");
        for (what, before, after) in [
            ("classes", before.classes, after.classes),
            ("methods", before.methods, after.methods),
            ("bytes of code", before.code, after.code),
            ("bytes of class files", before.files, after.files),
        ] {
            let change = after as i64 - before as i64;
            let change = if change == 0 { String::new() } else { format!("{change:+}") };
            let _ = writeln!(text, "| {what} | {before} | {after} | {change} |");
        }
        text.push_str("\n| public and protected | added | removed | changed |\n|---|---:|---:|---:|\n");
        for (what, kind) in [("classes", Kind::Class), ("methods", Kind::Method), ("fields", Kind::Field)] {
            let count = |before: bool, after: bool| {
                let fits = |change: &&Change| {
                    change.kind == kind
                        && (change.before.is_some(), change.after.is_some()) == (before, after)
                };
                self.api.iter().filter(fits).count()
            };
            let (added, removed, changed) = (count(false, true), count(true, false), count(true, true));
            let _ = writeln!(text, "| {what} | {added} | {removed} | {changed} |");
        }
        text
    }
}

/// A title and rows, as many as fit into `room`; how many do not.
fn list(text: &mut String, title: &str, rows: &[String], room: usize) -> usize {
    let title = format!("\n#### {title}\n\n");
    let mut printed = 0;
    for row in rows {
        let head = if printed == 0 { title.as_str() } else { "" };
        if text.len() + head.len() + row.len() + 3 > room {
            break;
        }
        let _ = writeln!(text, "{head}- {row}");
        printed += 1;
    }
    rows.len() - printed
}

/// The difference of one method or other part of a class, folded. `None` if it was not kept.
fn details(class: &str, change: &SectionChange) -> Option<String> {
    if change.hunks.is_empty() {
        return None;
    }
    let what = match change.title.strip_prefix("method ").and_then(|method| method.split_once(':')) {
        Some((name, descriptor)) => {
            let name = format!("{class}.{name}{descriptor}");
            signature::readable(&name).unwrap_or(name)
        }
        None if change.title.starts_with("class ") => class.to_owned(),
        None => format!("{class}: {}", change.title),
    };
    let how = match change.kind {
        ChangeKind::Added => "added",
        ChangeKind::Removed => "removed",
        ChangeKind::Changed => "changed",
        ChangeKind::Reordered => "in another order",
    };
    let shown: usize = change
        .hunks
        .split_inclusive('\n')
        .scan(0, |length, line| {
            *length += line.len();
            (*length <= LONGEST).then_some(line.len())
        })
        .sum();
    let rest = change.hunks[shown..].lines().count();
    let rest = if rest > 0 { format!("\n{} more.\n", number(rest as u64, "line")) } else { String::new() };
    let summary = format!("{}: {how}, +{} -{}", html_code(&cut(&what)), change.added, change.removed);
    let lines = block("diff", &change.hunks[..shown]);
    Some(format!("<details><summary>{summary}</summary>\n\n{lines}{rest}\n</details>\n"))
}

/// What other packages can use; nothing of a class that cannot be read that far.
fn api_of(class: &ClassFile<'_>) -> Api {
    api::of(class).unwrap_or_default()
}

fn name_of(class: &ClassFile<'_>) -> String {
    cut(&mutf8::escape(class.name().unwrap_or_default()).replace('/', "."))
}

fn cut(name: &str) -> String {
    cut_to(name, NAME)
}

fn cut_to(name: &str, length: usize) -> String {
    match name.char_indices().nth(length) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}
