//! `instrument diff --markdown`: what a pull request changes in bytecode, size and API, as a comment on GitHub takes
//! it.
//!
//! A comment has room for 65,536 characters. The table of sizes is always whole; the API gets a third of the room, the
//! methods the rest, in the order of their classes. What did not fit is counted in the last line.

use super::api::{Change, Judgement, Kind, Side, Verdict};
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
            others: Vec::new(),
        }
    }

    /// A file that only one side has, and that is no class.
    pub(super) fn only(&mut self, side: Side, address: &str) {
        let word = if side == Side::Before { "removed" } else { "added" };
        self.others.push(format!("{} {word}", code(&cut(address))));
    }

    /// A class that only one side has, or both with the same bytes.
    pub(super) fn class(&mut self, sides: &[Side], class: &ClassFile<'_>) {
        for side in sides {
            self.count(*side, class);
        }
        match sides {
            [Side::Before] => self.removed.push(name_of(class)),
            [Side::After] => self.added.push(name_of(class)),
            _ => {}
        }
    }

    /// Two versions of a class: how large they are.
    pub(super) fn both(&mut self, before: &ClassFile<'_>, after: &ClassFile<'_>) {
        self.count(Side::Before, before);
        self.count(Side::After, after);
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

    /// The whole page: at most [`LIMIT`] bytes. `api`: where the APIs were compared.
    pub(super) fn text(&self, api: Option<&Judgement>) -> String {
        let has_jdk = api.is_none_or(|api| api.has_jdk);
        let api = api.map(|api| api.changes.as_slice()).unwrap_or_default();
        let mut text = self.head(api, has_jdk);
        let mut left_out = Vec::new();
        let room = LIMIT - END;
        let mut lists = Vec::new();
        for (title, verdict) in [
            ("API: breaks compiled code and sources", Verdict::Binary),
            ("API: breaks sources", Verdict::Source),
            ("API: compatible", Verdict::Compatible),
        ] {
            let rows = api.iter().filter(|change| change.verdict == verdict && !change.is_part);
            lists.push((title, rows.map(row).collect::<Vec<_>>()));
        }
        lists.push(("Removed classes", self.removed.iter().map(|name| code(name)).collect()));
        lists.push(("Added classes", self.added.iter().map(|name| code(name)).collect()));
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

    /// The title, the verdict and the tables.
    fn head(&self, api: &[Change], has_jdk: bool) -> String {
        let [before, after] = &self.sizes;
        let mut text = match (self.changed, self.added.len(), self.removed.len()) {
            (0, 0, 0) => "### Bytecode: no class changed\n".to_owned(),
            (changed, added, removed) => format!(
                "### Bytecode: {} changed, {added} added, {removed} removed\n",
                number(changed as u64, "class")
            ),
        };
        text.push_str(&verdict(api));
        if !has_jdk {
            text.push_str("\nJDK classes not found: exceptions and inherited members of the JDK are not judged. A JDK (Java 9 or later) on the `PATH` has them.\n");
        }
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
                api.iter().filter(fits).count()
            };
            let (added, removed, changed) = (count(false, true), count(true, false), count(true, true));
            let _ = writeln!(text, "| {what} | {added} | {removed} | {changed} |");
        }
        text
    }
}

/// Whether who uses the API has to change or compile anything.
fn verdict(api: &[Change]) -> String {
    let is_row = |change: &&Change| !change.is_part;
    let count = |verdict| api.iter().filter(is_row).filter(|change| change.verdict == verdict).count() as u64;
    let (binary, source) = (count(Verdict::Binary), count(Verdict::Source));
    let changes =
        |count| format!("{} {}", number(count, "change"), if count == 1 { "breaks" } else { "break" });
    match (binary, source, api.len()) {
        (0, 0, 0) => String::new(),
        (0, 0, _) => "\nThe API is compatible: compiled code works, and sources compile.\n".to_owned(),
        (0, source, _) => {
            format!(
                "\nThe API is **binary compatible, not source compatible**: {} sources.\n",
                changes(source)
            )
        }
        (binary, source, _) => format!(
            "\nThe API is **not binary compatible**: {} compiled code and sources, {source} more only sources.\n",
            changes(binary)
        ),
    }
}

/// A change of the API, and why it breaks something.
fn row(change: &Change) -> String {
    let text = |text: &str| code(&cut(text));
    let row = match (&change.before, &change.after) {
        (Some(before), Some(after)) if before == after => text(after),
        (Some(before), Some(after)) => format!("{} was {}", text(after), text(before)),
        (Some(before), None) => text(before),
        (None, after) => format!("{} is new", text(after.as_deref().unwrap_or_default())),
    };
    let reasons = change.reasons.iter().map(|reason| match &reason.name {
        Some(name) => format!("{} {}", reason.what, text(name)),
        None => reason.what.to_owned(),
    });
    let reasons: Vec<_> = reasons.collect();
    if reasons.is_empty() { row } else { format!("{row}: {}", reasons.join(", ")) }
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
