"""Puts all mutants of a crate into a copy of its sources, each behind a switch: one build has them all.

A function that has mutants becomes `{ match crate::mutant_switch::at(FIRST) { 7 => {..}, 9 => {..}, _ => {the body} } }`, FIRST being its lowest
number. What a mutant is comes from `cargo mutants --list --json --diff`. A mutant outside a function, or of a `const fn`, has no such switch.
"""

import collections
import re

SWITCH = """
#[doc(hidden)]
pub mod mutant_switch {
    use std::io::Write;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

    const UNREAD: u32 = u32::MAX;
    const REACHED: u32 = u32::MAX - 1;
    static ACTIVE: AtomicU32 = AtomicU32::new(UNREAD);
    static SEEN: [AtomicBool; 1 << 13] = [const { AtomicBool::new(false) }; 1 << 13];

    #[cold]
    #[inline(never)]
    fn slow(first: u32) -> u32 {
        if ACTIVE.load(Relaxed) == UNREAD {
            let mutant = std::env::var("MUTANT").ok().and_then(|number| number.parse().ok()).unwrap_or(0);
            ACTIVE.store(if std::env::var_os("MUTANTS_REACHED").is_some() { REACHED } else { mutant }, Relaxed);
            return at(first);
        }
        if !SEEN[first as usize].swap(true, Relaxed) {
            let path = std::env::var_os("MUTANTS_REACHED").unwrap();
            let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
            file.write_all(format!("{first}\\n").as_bytes()).unwrap();
        }
        0
    }

    /// The mutant that is active; 0: none.
    #[inline]
    pub fn at(first: u32) -> u32 {
        let active = ACTIVE.load(Relaxed);
        if active >= REACHED { slow(first) } else { active }
    }
}
"""


class Woven:
    """A file with its mutants in it."""

    def __init__(self, text):
        self.text = text
        # (first line, last line, number or None, numbers): of a mutant, or of a function with so many.
        self.ranges = []


def weave(text, mutants):
    """The file with those of its mutants that have no `why_not` yet, which those get that no switch can reach."""
    starts = [0] + [found.end() for found in re.finditer("\n", text)]
    place = lambda at: starts[at["line"] - 1] + at["column"] - 1
    functions = collections.defaultdict(list)
    for mutant in mutants:
        if mutant["function"]:
            span = mutant["function"]["span"]
            functions[place(span["start"]), place(span["end"])].append(mutant)
        else:
            mutant["why_not"] = "outside a function"
    outer = collections.defaultdict(list)
    for span in sorted(functions):
        around = (other for other in functions if other != span and other[0] <= span[0] and span[1] <= other[1])
        outer[min(around, default=span)].extend(functions[span])
    woven, parts, end = Woven(None), [], 0
    line = lambda: 1 + sum(part.count("\n") for part in parts)
    for (start, stop), group in sorted(outer.items()):
        brace = body(text, start, stop)
        if brace is None or re.search(r"\bconst fn\b", text[start:brace]):
            for mutant in group:
                mutant["why_not"] = "a const fn, or without a body"
        live = [mutant for mutant in group if not mutant.get("why_not")]
        if not live:
            continue
        first = min(mutant["number"] for mutant in live)
        parts.append(text[end:brace])
        begin = line()
        parts.append(f"{{ match crate::mutant_switch::at({first}) {{\n")
        for mutant in live:
            mutant["first"] = first
            new = changed(text, mutant["diff"])
            at = line()
            parts.append(f"{mutant['number']} => {new[brace:len(new) - (len(text) - stop)]}\n")
            woven.ranges.append((at, line() - 1, mutant["number"], None))
        parts.append(f"_ => {text[brace:stop]}\n}} }}")
        woven.ranges.append((begin, line(), None, [mutant["number"] for mutant in live]))
        end = stop
    parts.append(text[end:])
    woven.text = "".join(parts)
    return woven


def body(text, start, stop):
    """Where the brace stands that opens the body of the function that starts there; None: there is none."""
    depth, at, in_function = 0, start, False
    while at < stop:
        if text.startswith("//", at):
            at = text.index("\n", at)
        elif text.startswith("/*", at):
            at = text.index("*/", at) + 2
            continue
        character = text[at]
        if character == '"':
            at += 1
            while text[at] != '"':
                at += 2 if text[at] == "\\" else 1
        elif character == "'" and (text[at + 2] == "'" or text[at + 1] == "\\"):
            at = text.index("'", at + 2)
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif re.match(r"fn\b", text[at:at + 3]) and not text[at - 1].isalnum():
            in_function = True
        elif character == "{" and depth == 0 and in_function:
            return at
        at += 1
    return None


def changed(text, diff):
    """The file after a change of one hunk."""
    _, start, count, hunk = re.split(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@.*\n", diff, flags=re.M)
    lines = text.split("\n")
    start, count = int(start) - 1, int(count or 1)
    rows = [row for row in hunk.removesuffix("\n").split("\n") if not row.startswith("\\")]
    old, new = ([row[1:] for row in rows if row[:1] in (" ", sign)] for sign in "-+")
    if old != lines[start:start + count]:
        raise ValueError(f"the change does not fit the file:\n{diff}")
    return "\n".join(lines[:start] + new + lines[start + count:])
