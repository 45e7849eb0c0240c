//! Differences between two printed classes, section by section.
//!
//! Two sections are equal when their texts are. Where they are not, the labels of the second text are
//! renamed before its lines are compared, because one inserted label renumbers all that follow:
//!
//! 1. The lines of both texts are aligned with labels left out.
//! 2. A label of the second text gets the name of the label in the first text that stands in front of
//!    the aligned line; if its own line has no partner, the next line that has one decides.
//! 3. Every other label of the second text gets a name that the first text does not use.
//!
//! Renaming is one to one, so it hides nothing.

use super::printer::find_label;
use super::sections;
use similar::{Algorithm, ChangeTag, DiffOp, TextDiff, capture_diff_slices_deadline};
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// Time after which the search for the shortest difference of a section ends with a longer one.
const PATIENCE: Duration = Duration::from_secs(5);

/// What happened to a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// Only the second class has it.
    Added,
    /// Only the first class has it.
    Removed,
    /// Both have it, with different text.
    Changed,
    /// Sections that both have come in another order; the hunks compare the lists of titles.
    Reordered,
}

/// A difference between two printed classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionChange {
    /// The section's title, `method run:()V` for instance.
    pub title: String,
    /// What happened to it.
    pub kind: ChangeKind,
    /// Lines that only the second class has.
    pub added: usize,
    /// Lines that only the first class has.
    pub removed: usize,
    /// The hunks of a unified diff, each with its `@@` line.
    pub hunks: String,
}

/// The text of a section with its title, and the number of the title's line.
struct Part<'t> {
    title: &'t str,
    text: &'t str,
    line: usize,
}

/// Unified diff of two printed classes with three lines of context, without `---` and `+++` lines.
/// Empty if the texts are equal.
pub fn diff(before: &str, after: &str) -> String {
    changes(before, after, 3).into_iter().map(|change| change.hunks).collect()
}

/// The differences of two printed classes, with `context` lines around them: the first class's sections
/// in order, then those that only the second one has.
pub fn changes(before: &str, after: &str, context: usize) -> Vec<SectionChange> {
    if before == after {
        return Vec::new();
    }
    let (before, after) = (parts(before), parts(after));
    let mut partners: HashMap<_, _> = after.iter().map(|(key, part)| (*key, part)).collect();
    let mut changes = Vec::new();
    let mut common = HashSet::new();
    for (key, part) in &before {
        match partners.remove(key) {
            Some(partner) if part.text == partner.text => {
                common.insert(*key);
            }
            Some(partner) => {
                common.insert(*key);
                changes.push(section_change(Some(part), Some(partner), context));
            }
            None => changes.push(section_change(Some(part), None, context)),
        }
    }
    let titles = |all: &[(Key<'_>, Part<'_>)]| -> String {
        all.iter()
            .filter(|(key, _)| common.contains(key))
            .map(|(_, part)| format!("{}\n", part.title))
            .collect()
    };
    for (key, part) in &after {
        if partners.contains_key(key) {
            changes.push(section_change(None, Some(part), context));
        }
    }
    let (first, second) = (titles(&before), titles(&after));
    let list = |text| Part { title: "order of sections", text, line: 1 };
    if order(&before, &common) != order(&after, &common) {
        let change = section_change(Some(&list(&first)), Some(&list(&second)), context);
        changes.push(SectionChange { kind: ChangeKind::Reordered, ..change });
    }
    changes
}

/// A section's title and how many sections of this title stand in front of it. The class may change its
/// name.
type Key<'t> = (&'t str, usize);

fn order<'k, 't>(parts: &'k [(Key<'t>, Part<'t>)], common: &HashSet<Key<'t>>) -> Vec<&'k Key<'t>> {
    parts.iter().map(|(key, _)| key).filter(|key| common.contains(*key)).collect()
}

fn parts(text: &str) -> Vec<(Key<'_>, Part<'_>)> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut line = 1;
    let mut start = 0;
    let mut parts = Vec::new();
    for section in sections(text) {
        let key = if section.title.starts_with("class ") { "class" } else { section.title };
        let number = seen.entry(key).or_default();
        let end = (start + section.title.len() + 1 + section.body.len()).min(text.len());
        let part = Part { title: section.title, text: &text[start..end], line };
        line += part.text.lines().count();
        start = end;
        parts.push(((key, *number), part));
        *number += 1;
    }
    parts
}

fn section_change(before: Option<&Part<'_>>, after: Option<&Part<'_>>, context: usize) -> SectionChange {
    let (kind, title) = match (before, after) {
        (Some(part), None) => (ChangeKind::Removed, part.title),
        (None, Some(part)) => (ChangeKind::Added, part.title),
        (Some(part), _) => (ChangeKind::Changed, part.title),
        (None, None) => (ChangeKind::Changed, ""),
    };
    let (old, new) = (before.map_or("", |part| part.text), after.map_or("", |part| part.text));
    let new = if kind == ChangeKind::Changed { rename_labels(old, new) } else { new.to_owned() };
    let (old_line, new_line) = (before.map_or(0, |part| part.line), after.map_or(0, |part| part.line));
    let diff = TextDiff::configure().deadline(Instant::now() + PATIENCE).diff_lines(old, &new);
    let mut change =
        SectionChange { title: title.to_owned(), kind, added: 0, removed: 0, hunks: String::new() };
    for group in diff.grouped_ops(context) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let range = |start: usize, end: usize, line: usize| format!("{},{}", start + line, end - start);
        change.hunks.push_str(&format!(
            "@@ -{} +{} @@ {title}\n",
            range(first.old_range().start, last.old_range().end, old_line),
            range(first.new_range().start, last.new_range().end, new_line),
        ));
        for line in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match line.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            change.added += usize::from(line.tag() == ChangeTag::Insert);
            change.removed += usize::from(line.tag() == ChangeTag::Delete);
            change.hunks.push(sign);
            change.hunks.push_str(line.value());
        }
    }
    change
}

/// The lines of a section that define no label, labels masked, and the label in front of each.
struct Masked<'t> {
    lines: Vec<String>,
    labels: Vec<Option<&'t str>>,
}

fn mask(text: &str) -> Masked<'_> {
    let mut masked = Masked { lines: Vec::new(), labels: Vec::new() };
    let mut label = None;
    for line in text.lines() {
        let mut from = 0;
        let mut out = String::new();
        while let Some(found) = find_label(line, from) {
            out.push_str(&line[from..found.start]);
            out.push('L');
            if line[found.end..].starts_with(':') {
                label = Some(&line[found.clone()]);
            }
            from = found.end;
        }
        if from == 0 || !line[from..].starts_with(':') {
            out.push_str(&line[from..]);
            masked.lines.push(out);
            masked.labels.push(label.take());
        }
    }
    // A label at the very end belongs to a line that both texts have.
    masked.lines.push(String::new());
    masked.labels.push(label);
    masked
}

/// Gives the labels of `after` the names that their counterparts have in `before`.
fn rename_labels(before: &str, after: &str) -> String {
    let (old, new) = (mask(before), mask(after));
    if new.labels.iter().all(Option::is_none) {
        return after.to_owned();
    }
    let deadline = Some(Instant::now() + PATIENCE);
    let ops = capture_diff_slices_deadline(Algorithm::Myers, &old.lines, &new.lines, deadline);
    let mut pairs = Vec::new();
    for op in &ops {
        if let DiffOp::Equal { old_index, new_index, len } = *op {
            pairs.extend((0..len).map(|at| (old_index + at, new_index + at)));
        }
    }
    let old_owners = owners(&old.labels, pairs.iter().map(|pair| pair.0));
    let new_owners = owners(&new.labels, pairs.iter().map(|pair| pair.1));
    let mut names: HashMap<&str, String> = HashMap::new();
    let mut taken = HashSet::new();
    for (i, j) in pairs {
        if let (Some(old), Some(new)) = (old_owners[i], new_owners[j])
            && !names.contains_key(new)
            && taken.insert(old)
        {
            names.insert(new, old.to_owned());
        }
    }
    let numbers = old.labels.iter().flatten().filter_map(|label| label[1..].parse::<usize>().ok());
    let mut next = numbers.max().map_or(0, |number| number + 1);
    for label in new.labels.iter().flatten() {
        names.entry(label).or_insert_with(|| {
            next += 1;
            format!("L{}", next - 1)
        });
    }
    replace_labels(after, &names)
}

/// For each line the label in front of it, or in front of the lines without partner right above it.
fn owners<'t>(labels: &[Option<&'t str>], aligned: impl Iterator<Item = usize>) -> Vec<Option<&'t str>> {
    let mut has_partner = vec![false; labels.len()];
    aligned.for_each(|at| has_partner[at] = true);
    let mut owner = None;
    labels
        .iter()
        .zip(has_partner)
        .map(|(label, aligned)| {
            let current = label.or(owner);
            owner = if aligned { None } else { current };
            current
        })
        .collect()
}

fn replace_labels(text: &str, names: &HashMap<&str, String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    while let Some(found) = find_label(text, from) {
        out.push_str(&text[from..found.start]);
        let label = &text[found.clone()];
        out.push_str(names.get(label).map_or(label, String::as_str));
        from = found.end;
    }
    out.push_str(&text[from..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "class A\n  flags 0x0021\nmethod f:()V\n  Code\n    L0:\n        iload_0\n        ifeq L1\n        goto L0\n    L1:\n        return\n";

    #[test]
    fn equal_texts_have_no_difference() {
        assert_eq!(diff(BEFORE, BEFORE), "");
        assert!(changes(BEFORE, BEFORE, 3).is_empty());
    }

    #[test]
    fn an_inserted_label_changes_no_other_line() {
        let after = "class A\n  flags 0x0021\nmethod f:()V\n  Code\n    L0:\n        nop\n    L1:\n        iload_0\n        ifeq L2\n        goto L1\n    L2:\n        return\n    L3:\n    try L0 .. L3 -> L3 any\n";
        let all = changes(BEFORE, after, 1);
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].added, all[0].removed), (4, 0), "{}", all[0].hunks);
        assert!(all[0].hunks.contains("+    L2:\n+        nop\n     L0:\n"), "{}", all[0].hunks);
    }

    #[test]
    fn another_target_is_a_difference() {
        let after = BEFORE.replace("goto L0", "goto L1");
        assert_eq!(
            diff(BEFORE, &after),
            "@@ -5,6 +5,6 @@ method f:()V\n     L0:\n         iload_0\n         ifeq L1\n-        goto L0\n+        goto L1\n     L1:\n         return\n"
        );
    }

    #[test]
    fn finds_added_removed_and_reordered_sections() {
        let kinds = |before: &str, after: &str| -> Vec<_> {
            changes(before, after, 3).into_iter().map(|change| (change.title, change.kind)).collect()
        };
        let (a, b) = ("method a:()V\n  x\n", "method b:()V\n  x\n");
        assert_eq!(kinds(a, &format!("{a}{b}")), [("method b:()V".into(), ChangeKind::Added)]);
        assert_eq!(kinds(&format!("{a}{b}"), b), [("method a:()V".into(), ChangeKind::Removed)]);
        assert_eq!(
            kinds(&format!("{a}{b}"), &format!("{b}{a}")),
            [("order of sections".into(), ChangeKind::Reordered)]
        );
        assert_eq!(
            kinds(&format!("{a}{a}"), a),
            [("method a:()V".into(), ChangeKind::Removed)],
            "two of one title"
        );
    }

    #[test]
    fn a_class_may_change_its_name() {
        let all = changes("class A\n  flags 1\n", "class B\n  flags 1\n", 3);
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].kind, all[0].added, all[0].removed), (ChangeKind::Changed, 1, 1));
    }
}
