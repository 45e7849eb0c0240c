//! What differs between two classes, archives or directories, as resolved text.
//!
//! Entries are compared one by one, so memory holds two of them at a time (and the nested archives around them).
//! Classes are compared in the canonical form of `instrument_rewriter::text`, everything else by its bytes.

mod api;
mod markdown;

use crate::dump::Chosen;
use crate::source::{Input, Tree, is_archive_name, join};
use anyhow::{Context, Result};
use api::{ONE_SIDED, Side, Sides};
use instrument_names::word::words;
use instrument_rewriter::class_file::ClassFile;
use instrument_rewriter::text::{self, ChangeKind, PrintOptions, Section, SectionChange};
use markdown::Page;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;

/// Archives in archives are compared entry by entry down to this depth, by their bytes below.
const MAX_NESTING: usize = 4;

words! {
    /// A part of a class that makes no difference.
    Ignored {
        Lines = "lines": "Line numbers",
        Frames = "frames": "Stack map frames",
        Locals = "locals": "Local variable tables",
        Pool = "pool": "The constant pool and its numbering, even with --pool",
        Debug = "debug": "Line numbers, local variable tables, SourceFile, SourceDebugExtension",
    }
}

/// How differences are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As text, line by line.
    Text,
    /// A line for each class that differs, and a summary.
    Stat,
    /// A JSON object for each entry that differs, and one for the summary.
    Json,
    /// A page for a comment on a pull request.
    Markdown,
}

/// What is compared, and how that is printed.
#[derive(Debug)]
pub struct Options {
    /// The constant pools, too.
    pub pool: bool,
    /// Everything: indices, offsets, bytes.
    pub raw: bool,
    /// Debugging information, too, which every change of a source moves.
    pub debug: bool,
    /// What makes no difference.
    pub ignore: Vec<Ignored>,
    /// Only the methods that fit this pattern.
    pub method: Option<String>,
    /// Lines of context around a difference.
    pub context: usize,
    /// How it is printed.
    pub form: Form,
}

/// Entries by outcome.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Summary {
    /// Equal, or different only in what makes no difference.
    pub equal: usize,
    /// In both, with a difference.
    pub different: usize,
    /// Only in the first input.
    pub removed: usize,
    /// Only in the second input.
    pub added: usize,
    /// Of those that are equal: how many differ in the debugging information, which was not compared.
    pub debug_only: usize,
}

impl Summary {
    /// Whether there is no difference.
    pub fn is_equal(self) -> bool {
        self.different + self.removed + self.added == 0
    }
}

/// Compares two inputs, given with their addresses, and prints what differs.
///
/// # Errors
/// Inputs of different kinds, an entry that cannot be read, a pattern that fits no method, an output that cannot be
/// written.
pub fn compare(
    opts: &Options,
    before: (&str, &Input),
    after: (&str, &Input),
    out: &mut dyn Write,
) -> Result<Summary> {
    let ignored = |what| opts.ignore.contains(&what);
    let debug = ignored(Ignored::Debug) || !opts.debug && !opts.raw;
    let options = PrintOptions {
        pool: opts.pool && !ignored(Ignored::Pool),
        raw: opts.raw,
        lines: !debug && !ignored(Ignored::Lines),
        locals: !debug && !ignored(Ignored::Locals),
        frames: !ignored(Ignored::Frames),
        source: !debug,
        ..PrintOptions::canonical()
    };
    let chosen = opts.method.as_deref().map(Chosen::new).transpose()?;
    let page = (opts.form == Form::Markdown).then(|| Page::new([before.0, after.0]));
    let has_api = matches!(opts.form, Form::Markdown | Form::Json) && chosen.is_none();
    let api = has_api.then(Sides::default);
    let summary = Summary::default();
    let mut report = Report { opts, options, chosen, page, api, tree: 0, trees: 0, out, summary };
    let names = (before.0, after.0);
    match (before.1, after.1) {
        (Input::Tree(before), Input::Tree(after)) => {
            report.trees(names.0, before, names.1, after, 0)?;
        }
        (Input::File(before), Input::File(after)) => report.files(names.0, before, names.1, after)?,
        _ => anyhow::bail!("cannot compare a file with an archive or directory"),
    }
    report.finish()
}

struct Report<'r> {
    opts: &'r Options,
    options: PrintOptions,
    /// The methods that are compared, if not all are.
    chosen: Option<Chosen>,
    /// What `--markdown` prints in the end.
    page: Option<Page>,
    /// The classes of both sides, where their APIs are compared.
    api: Option<Sides>,
    /// The archive or folder at hand, by its number, and how many there were.
    tree: usize,
    trees: usize,
    out: &'r mut dyn Write,
    summary: Summary,
}

impl Report<'_> {
    /// All entries of both sides, by name.
    fn trees(&mut self, left: &str, before: &Tree, right: &str, after: &Tree, depth: usize) -> Result<()> {
        let mut pairs: BTreeMap<_, (Option<_>, Option<_>)> = BTreeMap::new();
        for entry in before.entries() {
            pairs.entry((&entry.name, entry.duplicate)).or_default().0 = Some(entry);
        }
        for entry in after.entries() {
            pairs.entry((&entry.name, entry.duplicate)).or_default().1 = Some(entry);
        }
        self.trees += 1;
        let around = std::mem::replace(&mut self.tree, self.trees);
        for ((name, duplicate), pair) in pairs {
            let mark = if duplicate > 0 { format!(" (duplicate {duplicate})") } else { String::new() };
            let (first, second) = (join(left, before, name) + &mark, join(right, after, name) + &mark);
            let (a, b) = match pair {
                (Some(a), Some(b)) => (a, b),
                (Some(a), None) => {
                    self.only(Side::Before, &first, left, before.read(a))?;
                    continue;
                }
                (None, Some(b)) => {
                    self.only(Side::After, &second, right, after.read(b))?;
                    continue;
                }
                (None, None) => continue,
            };
            let bytes_a = before.read(a).with_context(|| left.to_owned())?;
            let bytes_b = after.read(b).with_context(|| right.to_owned())?;
            if bytes_a == bytes_b {
                self.equal(&first, &bytes_a);
            } else if is_archive_name(name) && depth < MAX_NESTING {
                match (Tree::of_archive(bytes_a), Tree::of_archive(bytes_b)) {
                    (Ok(a), Ok(b)) => self.trees(&first, &a, &second, &b, depth + 1)?,
                    _ => self.other(&first, None, "one of them is no readable archive")?,
                }
            } else {
                self.files(&first, &bytes_a, &second, &bytes_b)?;
            }
        }
        self.tree = around;
        Ok(())
    }

    /// An entry that only one side has, `input`. One that cannot be read is still one of that side alone.
    fn only(&mut self, side: Side, address: &str, input: &str, read: Result<Vec<u8>>) -> Result<()> {
        let (bytes, fault) = match read {
            Ok(bytes) => (bytes, String::new()),
            Err(error) => (Vec::new(), format!("; it cannot be read: {error:#}")),
        };
        let class = ClassFile::parse(&bytes);
        if let Some(chosen) = &mut self.chosen {
            let Ok(class) = &class else { return Ok(()) };
            let text = text::print_class(class, &self.options);
            let fitting = text::sections(&text).filter(|section| chosen.fits(class, section)).count();
            if fitting == 0 {
                return Ok(());
            }
        }
        self.classes_in(address, &[side], &bytes, 0);
        let (word, count) = match side {
            Side::Before => ("removed", &mut self.summary.removed),
            Side::After => ("added", &mut self.summary.added),
        };
        *count += 1;
        match &mut self.page {
            Some(page) if class.is_err() => page.only(side, address),
            Some(_) => {}
            None => self.note(word, address, format_args!("only in {input}{fault}"))?,
        }
        Ok(())
    }

    /// A class whose API is compared: not the versions of one for some JVMs, which stand in for the class.
    fn of_api(&mut self, address: &str, sides: &[Side], class: &ClassFile<'_>) {
        if let Some(api) = self.api.as_mut().filter(|_| !address.contains("META-INF/versions/")) {
            api.add(sides, self.tree, class);
        }
    }

    /// Two files have the same bytes.
    fn equal(&mut self, address: &str, bytes: &[u8]) {
        self.summary.equal += 1;
        self.classes_in(address, &[Side::Before, Side::After], bytes, 0);
        let Some(chosen) = &mut self.chosen else { return };
        match ClassFile::parse(bytes) {
            Ok(class) => {
                let text = text::print_class(&class, &self.options);
                text::sections(&text).for_each(|section| _ = chosen.fits(&class, &section));
            }
            // There may be classes inside.
            Err(_) if bytes.starts_with(b"PK") => chosen.found = true,
            Err(_) => {}
        }
    }

    /// The classes in a file that one side has, or both with the same bytes: a class, an archive of classes, or
    /// something else. `depth`: archives around it.
    fn classes_in(&mut self, address: &str, sides: &[Side], bytes: &[u8], depth: usize) {
        if self.page.is_none() && self.api.is_none() {
            return;
        }
        if let Ok(class) = ClassFile::parse(bytes) {
            self.of_api(address, sides, &class);
            if let Some(page) = &mut self.page {
                page.class(sides, &class);
            }
        } else if bytes.starts_with(b"PK")
            && depth < MAX_NESTING
            && let Ok(tree) = Tree::of_archive(bytes.to_vec())
        {
            self.trees += 1;
            let number = if sides.len() > 1 { self.trees } else { ONE_SIDED };
            let around = std::mem::replace(&mut self.tree, number);
            let is_wanted = |name: &str| name.ends_with(".class") || is_archive_name(name);
            for entry in tree.entries().iter().filter(|entry| is_wanted(&entry.name)) {
                // An entry that cannot be read has no classes.
                let Ok(bytes) = tree.read(entry) else { continue };
                self.classes_in(&entry.name, sides, &bytes, depth + 1);
            }
            self.tree = around;
        }
    }

    /// Two classes or two other files.
    fn files(&mut self, left: &str, before: &[u8], right: &str, after: &[u8]) -> Result<()> {
        if before == after {
            self.equal(left, before);
            return Ok(());
        }
        let (a, b) = match (ClassFile::parse(before), ClassFile::parse(after)) {
            (Ok(a), Ok(b)) => (a, b),
            (a, b) => {
                let first = before.iter().zip(after).take_while(|(a, b)| a == b).count();
                let mut reason =
                    format!("{} and {} bytes, first difference at {first:#x}", before.len(), after.len());
                for (side, address, bytes) in [(a, left, before), (b, right, after)] {
                    if let Err(error) = side
                        && bytes.starts_with(&[0xca, 0xfe, 0xba, 0xbe])
                    {
                        reason.push_str(&format!("; {address}: {error}"));
                    }
                }
                return self.other(left, Some(right), &reason);
            }
        };
        self.of_api(left, &[Side::Before], &a);
        self.of_api(left, &[Side::After], &b);
        let (old, new) = (text::print_class(&a, &self.options), text::print_class(&b, &self.options));
        if old == new {
            if self.options.raw && self.opts.method.is_none() && self.opts.ignore.is_empty() {
                return self.other(left, Some(right), "the bytes differ, the printed text does not");
            }
            if old.trim_end().ends_with(text::CUT) {
                return self.other(left, Some(right), "the bytes differ, the text is too long to compare");
            }
        }
        let mut changes = text::changes(&old, &new, self.opts.context);
        if let Some(chosen) = &mut self.chosen {
            // Also what did not change is there.
            for section in text::sections(&old) {
                chosen.fits(&a, &section);
            }
            changes.retain(|change| chosen.fits(&b, &Section { title: &change.title, body: "" }));
        }
        if let Some(page) = &mut self.page {
            page.both(&a, &b);
        }
        if changes.is_empty() {
            self.summary.equal += 1;
            if self.chosen.is_none() && self.differs_in_debug(&a, &b) {
                self.summary.debug_only += 1;
            }
            return Ok(());
        }
        self.summary.different += 1;
        if let Some(page) = &mut self.page {
            page.changed(&b, changes);
            return Ok(());
        }
        let added: usize = changes.iter().map(|change| change.added).sum();
        let removed: usize = changes.iter().map(|change| change.removed).sum();
        if self.opts.form == Form::Json {
            let sections: Vec<_> = changes.iter().map(section_json).collect();
            let line = json!({"status": "different", "before": left, "after": right, "added": added,
                "removed": removed, "sections": sections});
            writeln!(self.out, "{line}")?;
        } else if self.opts.form == Form::Stat {
            writeln!(self.out, "{left} | {} sections, +{added} -{removed}", changes.len())?;
        } else {
            writeln!(self.out, "--- {left}\n+++ {right}")?;
            for change in &changes {
                write!(self.out, "{}", change.hunks)?;
            }
        }
        Ok(())
    }

    /// Whether two classes that are equal as they are compared differ in debugging information, which was left out
    /// unasked.
    fn differs_in_debug(&self, before: &ClassFile<'_>, after: &ClassFile<'_>) -> bool {
        if self.options.source || self.opts.ignore.contains(&Ignored::Debug) {
            return false;
        }
        let ignored = |what| self.opts.ignore.contains(&what);
        let (lines, locals) = (!ignored(Ignored::Lines), !ignored(Ignored::Locals));
        let options = PrintOptions { lines, locals, source: true, ..self.options.clone() };
        text::print_class(before, &options) != text::print_class(after, &options)
    }

    /// A difference that is not shown line by line.
    fn other(&mut self, left: &str, right: Option<&str>, reason: &str) -> Result<()> {
        // It is no method.
        if self.chosen.is_some() && !left.ends_with(".class") {
            return Ok(());
        }
        self.summary.different += 1;
        if let Some(page) = &mut self.page {
            page.other(left, reason);
            return Ok(());
        }
        match right {
            Some(right) if self.opts.form == Form::Text => {
                self.note("different", &format!("{left} and {right}"), format_args!("{reason}"))
            }
            _ => self.note("different", left, format_args!("{reason}")),
        }
    }

    fn note(&mut self, status: &str, address: &str, reason: std::fmt::Arguments<'_>) -> Result<()> {
        match self.opts.form == Form::Json {
            true => {
                let line = json!({"status": status, "entry": address, "reason": reason.to_string()});
                writeln!(self.out, "{line}")?;
            }
            false => writeln!(self.out, "{status}: {address}: {reason}")?,
        }
        Ok(())
    }

    fn finish(self) -> Result<Summary> {
        let Summary { equal, different, removed, added, debug_only } = self.summary;
        let api = self.api.map(|api| api.judge());
        if let Some(page) = &self.page {
            self.out.write_all(page.text(api.as_ref()).as_bytes())?;
        } else if self.opts.form == Form::Json {
            let mut last = json!({"summary": self.summary});
            if let Some(api) = api {
                for change in &api.changes {
                    writeln!(self.out, "{}", change.json())?;
                }
                last["api"] = api.json();
            }
            writeln!(self.out, "{last}")?;
        } else if self.opts.form == Form::Stat {
            let hidden = if debug_only > 0 {
                format!(", {debug_only} of them but for debugging information")
            } else {
                String::new()
            };
            writeln!(
                self.out,
                "{different} different, {removed} removed, {added} added, {equal} equal{hidden}"
            )?;
        }
        if let Some(warning) = self.chosen.and_then(Chosen::warning) {
            anyhow::bail!("{warning}");
        }
        Ok(self.summary)
    }
}

fn section_json(change: &SectionChange) -> serde_json::Value {
    let kind = match change.kind {
        ChangeKind::Added => "added",
        ChangeKind::Removed => "removed",
        ChangeKind::Changed => "changed",
        ChangeKind::Reordered => "reordered",
    };
    json!({"title": change.title, "kind": kind, "added": change.added, "removed": change.removed,
        "hunks": change.hunks})
}

#[cfg(test)]
mod tests;
