//! `instrument diff`: what differs between two classes, archives or directories, as resolved text. Profiles are compared by
//! [`crate::commands::diff::profiles`].
//!
//! Entries are compared one by one, so memory holds two of them at a time (and the nested archives around
//! them). Classes are compared in the canonical form of `instrument_rewriter::text`, everything else by
//! its bytes.

pub(crate) mod profiles;

use crate::commands::dump::Chosen;
use crate::io::exit::{Exit, usage};
use crate::io::source::{Input, Tree, is_archive_name, join};
use crate::io::talk::Talk;
use anyhow::{Context, Result};
use instrument_rewriter::class_file::ClassFile;
use instrument_rewriter::text::{self, ChangeKind, PrintOptions, Section, SectionChange};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;

/// Archives in archives are compared entry by entry down to this depth, by their bytes below.
const MAX_NESTING: usize = 4;

/// Compare two classes, archives, directories or profiles; exit code 0: equal, 1: different, 2: wrong usage
///
/// Of profiles, counts that differ are differences; times are, if they differ by more than runs do: give several runs of each side, as
/// `diff A1 A2 A3 -- B1 B2 B3`. With --quiet there is nothing but the exit code
#[derive(Debug, clap::Args)]
pub(crate) struct Opts {
    /// The two class files, archives or directories (also `app.jar!com/acme/Foo.class`), or profiles; of several runs those before
    #[arg(required = true, value_name = "BEFORE AFTER")]
    files: Vec<String>,
    /// Profiles of several runs after: `diff A1 A2 A3 -- B1 B2 B3`
    #[arg(last = true, value_name = "AFTER")]
    after: Vec<String>,
    /// Compare the constant pools, too, with their numbering
    #[arg(long)]
    pool: bool,
    /// Compare everything: indices, offsets, bytes, the order of attributes, the forms of frames
    #[arg(long)]
    raw: bool,
    /// What makes no difference
    #[arg(long, value_name = "WHAT,..", value_delimiter = ',')]
    ignore: Vec<Ignored>,
    /// Compare only the methods that fit PATTERN: `run`, `get*`, `<init>(int)`, `com.acme.Foo.run(int)`; in profiles `com.acme.**#run`
    #[arg(long, value_name = "PATTERN")]
    method: Option<String>,
    /// Lines of context around a difference
    #[arg(long, short = 'U', value_name = "N", default_value_t = 3)]
    context: usize,
    /// Print one line per class that differs, and a summary
    #[arg(long)]
    stat: bool,
    /// Print one JSON object per entry that differs, and a last one with the summary; of profiles, one document
    #[arg(long, conflicts_with = "stat")]
    json: bool,
    #[command(flatten)]
    profiles: profiles::Opts,
}

/// A part of a class that `--ignore` leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Ignored {
    /// Line numbers
    Lines,
    /// Stack map frames
    Frames,
    /// Local variable tables
    Locals,
    /// The constant pool and its numbering, even with --pool
    Pool,
    /// Line numbers, local variable tables, SourceFile, SourceDebugExtension
    Debug,
}

/// Prints to standard output.
///
/// # Errors
/// An input that cannot be read. Two inputs of different kinds (a class and an archive) are wrong usage.
pub(crate) fn run(opts: Opts, talk: &Talk) -> Result<Exit> {
    let (before, after) = opts.sides()?;
    if profiles::applies(before.iter().chain(after)) {
        let method = opts.method.as_deref();
        return profiles::run([before, after], method, opts.json, &opts.profiles, talk);
    }
    let ([before], [after]) = (before, after) else {
        return Err(usage("several runs can be compared of profiles only"));
    };
    let (a, b) = (Input::open(before)?, Input::open(after)?);
    if matches!(a, Input::File(_)) != matches!(b, Input::File(_)) {
        return Err(usage("cannot compare a file with an archive or directory"));
    }
    let mut out = talk.results();
    let outcome = compare(&opts, (before, &a), (after, &b), &mut out).and_then(|summary| {
        out.flush()?;
        Ok(summary)
    });
    match outcome {
        Ok(summary) => Ok(if summary.is_equal() { Exit::Done } else { Exit::Negative }),
        Err(error) => Err(error),
    }
}

impl Opts {
    /// What is compared with what.
    fn sides(&self) -> Result<(&[String], &[String])> {
        match (&self.files[..], &self.after[..]) {
            (files @ [_, _], []) => Ok(files.split_at(1)),
            ([_], []) => {
                Err(usage("compared with what? give two files, or several runs of each side: A1 A2 -- B1 B2"))
            }
            (_, []) => Err(usage("say where the second side begins: A1 A2 A3 -- B1 B2 B3")),
            (files, after) => Ok((files, after)),
        }
    }
}

/// Entries by outcome.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, serde::Serialize)]
struct Summary {
    /// Equal, or different only in what makes no difference.
    equal: usize,
    /// In both, with a difference.
    different: usize,
    /// Only in the first input.
    removed: usize,
    /// Only in the second input.
    added: usize,
}

impl Summary {
    fn is_equal(self) -> bool {
        self.different + self.removed + self.added == 0
    }
}

fn compare(
    opts: &Opts,
    before: (&str, &Input),
    after: (&str, &Input),
    out: &mut dyn Write,
) -> Result<Summary> {
    let ignored = |what| opts.ignore.contains(&what);
    let debug = ignored(Ignored::Debug);
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
    let mut report = Report { opts, options, chosen, out, summary: Summary::default() };
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
    opts: &'r Opts,
    options: PrintOptions,
    /// The methods that are compared, if not all are.
    chosen: Option<Chosen>,
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
        for ((name, duplicate), pair) in pairs {
            let mark = if duplicate > 0 { format!(" (duplicate {duplicate})") } else { String::new() };
            let (first, second) = (join(left, before, name) + &mark, join(right, after, name) + &mark);
            let (a, b) = match pair {
                (Some(a), Some(b)) => (a, b),
                (Some(_), None) => {
                    self.summary.removed += 1;
                    self.note("removed", &first, format_args!("only in {left}"))?;
                    continue;
                }
                (None, _) => {
                    self.summary.added += 1;
                    self.note("added", &second, format_args!("only in {right}"))?;
                    continue;
                }
            };
            let bytes_a = before.read(a).with_context(|| left.to_owned())?;
            let bytes_b = after.read(b).with_context(|| right.to_owned())?;
            if bytes_a == bytes_b {
                self.equal(&bytes_a);
            } else if is_archive_name(name) && depth < MAX_NESTING {
                match (Tree::of_archive(bytes_a), Tree::of_archive(bytes_b)) {
                    (Ok(a), Ok(b)) => self.trees(&first, &a, &second, &b, depth + 1)?,
                    _ => self.other(&first, None, "one of them is no readable archive")?,
                }
            } else {
                self.files(&first, &bytes_a, &second, &bytes_b)?;
            }
        }
        Ok(())
    }

    /// Two files have the same bytes.
    fn equal(&mut self, bytes: &[u8]) {
        self.summary.equal += 1;
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

    /// Two classes or two other files.
    fn files(&mut self, left: &str, before: &[u8], right: &str, after: &[u8]) -> Result<()> {
        if before == after {
            self.equal(before);
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
        if changes.is_empty() {
            self.summary.equal += 1;
            return Ok(());
        }
        self.summary.different += 1;
        let added: usize = changes.iter().map(|change| change.added).sum();
        let removed: usize = changes.iter().map(|change| change.removed).sum();
        if self.opts.json {
            let sections: Vec<_> = changes.iter().map(section_json).collect();
            let line = json!({"status": "different", "before": left, "after": right, "added": added,
                "removed": removed, "sections": sections});
            writeln!(self.out, "{line}")?;
        } else if self.opts.stat {
            writeln!(self.out, "{left} | {} sections, +{added} -{removed}", changes.len())?;
        } else {
            writeln!(self.out, "--- {left}\n+++ {right}")?;
            for change in &changes {
                write!(self.out, "{}", change.hunks)?;
            }
        }
        Ok(())
    }

    /// A difference that is not shown line by line.
    fn other(&mut self, left: &str, right: Option<&str>, reason: &str) -> Result<()> {
        self.summary.different += 1;
        match right {
            Some(right) if !self.opts.json && !self.opts.stat => {
                self.note("different", &format!("{left} and {right}"), format_args!("{reason}"))
            }
            _ => self.note("different", left, format_args!("{reason}")),
        }
    }

    fn note(&mut self, status: &str, address: &str, reason: std::fmt::Arguments<'_>) -> Result<()> {
        match self.opts.json {
            true => {
                let line = json!({"status": status, "entry": address, "reason": reason.to_string()});
                writeln!(self.out, "{line}")?;
            }
            false => writeln!(self.out, "{status}: {address}: {reason}")?,
        }
        Ok(())
    }

    fn finish(self) -> Result<Summary> {
        let Summary { equal, different, removed, added } = self.summary;
        if self.opts.json {
            writeln!(self.out, "{}", json!({"summary": self.summary}))?;
        } else if self.opts.stat {
            writeln!(self.out, "{different} different, {removed} removed, {added} added, {equal} equal")?;
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
mod tests {
    use super::*;
    use crate::io::source::samples::{OLD, SEED, archive};
    use clap::Parser;

    #[derive(clap::Parser)]
    struct Command {
        #[command(flatten)]
        opts: Opts,
    }

    /// Compares two archives; further arguments are options.
    fn diff(before: &[(&str, &[u8])], after: &[(&str, &[u8])], options: &[&str]) -> (Summary, String) {
        let directory = tempfile::tempdir().unwrap();
        let paths = ["a.jar", "b.jar"].map(|name| directory.path().join(name).to_str().unwrap().to_owned());
        std::fs::write(&paths[0], archive(before)).unwrap();
        std::fs::write(&paths[1], archive(after)).unwrap();
        let names = ["diff", &paths[0], &paths[1]];
        let opts = Command::parse_from(names.iter().chain(options)).opts;
        let mut out = Vec::new();
        let (before, after) = (Input::open(&opts.files[0]).unwrap(), Input::open(&opts.files[1]).unwrap());
        let summary = compare(&opts, (&opts.files[0], &before), (&opts.files[1], &after), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        (summary, text.replace(&format!("{}/", directory.path().display()), ""))
    }

    /// The small class with `bipush 30000` of its loop changed to another number.
    fn changed() -> Vec<u8> {
        let mut class = OLD.to_vec();
        let at = class.windows(2).position(|pair| pair == 30_000i16.to_be_bytes()).unwrap();
        class[at..at + 2].copy_from_slice(&77i16.to_be_bytes());
        class
    }

    /// The class with another first line number, which no instruction shows.
    fn renumbered() -> Vec<u8> {
        let class = ClassFile::parse(SEED).unwrap();
        let method = class.methods().next().unwrap().unwrap();
        let code = method.code(&class.pool).unwrap().unwrap();
        let lines = instrument_rewriter::class_file::member::find_attribute(
            code.attributes,
            &class.pool,
            b"LineNumberTable",
        );
        // Inside a Code attribute, offsets count from its content.
        let at = code.offset + 6 + lines.unwrap().unwrap().info_offset() + 4;
        let mut changed = SEED.to_vec();
        changed[at] ^= 1;
        changed
    }

    #[test]
    fn equal_archives_in_another_order() {
        let (seed, old) = (("Seed.class", SEED), ("Old.class", OLD));
        let (summary, text) = diff(&[seed, old], &[old, seed], &[]);
        assert_eq!((summary, text.as_str()), (Summary { equal: 2, ..Summary::default() }, ""));
        assert!(summary.is_equal());
    }

    #[test]
    fn shows_what_changed_in_a_nested_archive() {
        let inner = [archive(&[("Old.class", OLD)]), archive(&[("Old.class", &changed())])];
        let (summary, text) = diff(&[("lib/x.jar", &inner[0])], &[("lib/x.jar", &inner[1])], &["-U0"]);
        assert_eq!(summary, Summary { different: 1, ..Summary::default() });
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "--- a.jar!lib/x.jar!Old.class");
        assert_eq!(lines[1], "+++ b.jar!lib/x.jar!Old.class");
        assert!(lines[2].ends_with("@@ method wide:(I)I"), "{text}");
        assert_eq!(lines[3].trim_start_matches(['-', ' ']), "wide iinc 7 30000");
        assert_eq!(lines[4].trim_start_matches(['+', ' ']), "wide iinc 7 77");
        assert_eq!(lines.len(), 5);
    }

    #[test]
    fn entries_of_one_side_and_other_files() {
        let before: [(&str, &[u8]); 3] = [("a", b"1"), ("b", b"1"), ("Old.class", OLD)];
        let after: [(&str, &[u8]); 4] = [("b", b"2"), ("c", b"1"), ("Old.class", OLD), ("Old.class", SEED)];
        let (summary, text) = diff(&before, &after, &[]);
        assert_eq!(summary, Summary { equal: 1, different: 1, removed: 1, added: 2 });
        let expected = "added: b.jar!Old.class (duplicate 1): only in b.jar\n\
            removed: a.jar!a: only in a.jar\n\
            different: a.jar!b and b.jar!b: 1 and 1 bytes, first difference at 0x0\n\
            added: b.jar!c: only in b.jar\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn ignores_what_options_name() {
        let other = renumbered();
        let entries: [&[(&str, &[u8])]; 2] = [&[("Seed.class", SEED)], &[("Seed.class", &other)]];
        let different = |options: &[&str]| diff(entries[0], entries[1], options).0.different;
        assert_eq!(different(&[]), 1);
        assert_eq!(different(&["--ignore", "frames,locals"]), 1);
        assert_eq!(different(&["--ignore", "lines"]), 0);
        assert_eq!(different(&["--ignore=debug"]), 0);
        assert_eq!(different(&["--ignore=debug", "--raw"]), 0);
        assert_eq!(different(&["--method", "<init>"]), 1);
        assert_eq!(different(&["--method", "run"]), 0);
    }

    #[test]
    fn counts_and_json() {
        let other = changed();
        let diff = |options: &[&str]| diff(&[("Old.class", OLD)], &[("Old.class", &other)], options).1;
        let text = diff(&["--stat"]);
        assert_eq!(text, "a.jar!Old.class | 1 sections, +1 -1\n1 different, 0 removed, 0 added, 0 equal\n");
        let text = diff(&["--json"]);
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines[0]["status"], "different");
        assert_eq!(lines[0]["sections"][0]["title"], "method wide:(I)I");
        assert_eq!(lines[1]["summary"]["different"], 1);
    }

    #[test]
    fn a_class_that_cannot_be_parsed_is_compared_by_its_bytes() {
        let (summary, text) = diff(&[("A.class", OLD)], &[("A.class", &OLD[..200])], &[]);
        assert_eq!(summary.different, 1);
        assert!(text.contains("455 and 200 bytes, first difference at 0xc8"), "{text}");
        assert!(text.contains("b.jar!A.class: class file is truncated at offset"), "{text}");
    }
}
