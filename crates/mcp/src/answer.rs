//! A report as the answer to a question: text and document, with the command line that prints the same, in at most 8
//! KB.
//!
//! Rows are cut until the answer fits, and no more than that. What is not made of rows, such as a name of 60,000
//! letters, is cut last.

use std::borrow::Cow;

use anyhow::{Context, Result};
use instrument_analysis::text::without_middle;
use instrument_names::printable::{printable, printable_lines};
use serde_json::{Map, Value, json};

/// The most bytes of an answer: of the whole line that holds it.
pub(crate) const LARGEST: usize = 8192;
/// Letters of the reason why there is no answer.
const REASON: usize = 1500;
/// Notes of an answer, and letters of each.
const NOTES: usize = 4;
const NOTE: usize = 300;
/// Letters of a command line that is shown.
const COMMAND: usize = 1000;

/// A report, with so many rows.
pub(crate) struct Report<'a> {
    /// For people.
    pub(crate) text: &'a dyn Fn(&mut Vec<u8>, usize) -> Result<()>,
    /// For programs.
    pub(crate) document: &'a dyn Fn(usize) -> Result<Value>,
}

/// What is to be answered.
pub(crate) struct Asked<'a> {
    /// Rows that are requested.
    pub(crate) rows: usize,
    /// The words of the command line that prints so many rows as text.
    pub(crate) command: &'a dyn Fn(usize) -> Vec<String>,
    /// What is to be said beside the report.
    pub(crate) notes: Vec<String>,
    /// Members of the document that are left out: longer than the answer, and not the answer.
    pub(crate) unneeded: &'static [&'static str],
    /// The rows that a document does not have.
    pub(crate) left_out: fn(&Value) -> u64,
}

/// How many bytes an answer may have.
pub(crate) struct Room(usize);

/// How much is left of what is not made of rows.
#[derive(Debug, Clone, Copy)]
struct Squeeze {
    /// Elements of a list.
    items: usize,
    /// Members of an object.
    members: usize,
    /// Letters of a name.
    letters: usize,
    /// Bytes of the text.
    text: usize,
}

impl Squeeze {
    fn rows(rows: usize) -> Squeeze {
        Squeeze { items: rows.max(3), members: 40, letters: 300, text: LARGEST }
    }
}

/// When one row is still too much.
const SQUEEZES: [Squeeze; 5] = [
    Squeeze { items: 3, members: 40, letters: 160, text: 3500 },
    Squeeze { items: 2, members: 30, letters: 100, text: 2500 },
    Squeeze { items: 1, members: 20, letters: 60, text: 1500 },
    Squeeze { items: 1, members: 12, letters: 30, text: 800 },
    Squeeze { items: 0, members: 6, letters: 16, text: 400 },
];

impl Room {
    /// What a message with so many bytes besides the answer leaves.
    pub(crate) fn beside(envelope: usize) -> Room {
        Room(LARGEST.saturating_sub(envelope))
    }

    /// The answer that says why there is none.
    pub(crate) fn error(error: &anyhow::Error) -> Value {
        let text = clipped(&format!("{error:#}"), REASON);
        json!({"content": [{"type": "text", "text": text}], "isError": true})
    }

    /// The report, with as many of the rows that are asked for as there is room for.
    ///
    /// # Errors
    /// Those of the report.
    pub(crate) fn answer(&self, asked: &Asked<'_>, report: &Report<'_>) -> Result<Value> {
        let attempt = |rows: usize, squeeze: Squeeze| -> Result<(Value, bool)> {
            let answer = asked.answer(rows, squeeze, report)?;
            let fits = answer.to_string().len() <= self.0;
            Ok((answer, fits))
        };
        let (whole, fits) = attempt(asked.rows, Squeeze::rows(asked.rows))?;
        if fits {
            return Ok(whole);
        }
        // The most rows that fit are in `fewest..too_many`, if any do.
        let (mut fewest, mut too_many, mut best) = (1, asked.rows, None);
        while fewest < too_many {
            let rows = fewest + (too_many - fewest) / 2;
            match attempt(rows, Squeeze::rows(rows))? {
                (answer, true) => (fewest, best) = (rows + 1, Some(answer)),
                (_, false) => too_many = rows,
            }
        }
        for squeeze in SQUEEZES {
            match best {
                Some(answer) => return Ok(answer),
                None => best = Some(attempt(1, squeeze)?).filter(|(_, fits)| *fits).map(|(answer, _)| answer),
            }
        }
        best.context("the answer has no room in 8 KB; print it with the command line")
    }
}

impl Asked<'_> {
    fn answer(&self, rows: usize, squeeze: Squeeze, report: &Report<'_>) -> Result<Value> {
        let mut text = Vec::new();
        (report.text)(&mut text, rows)?;
        let mut report = (report.document)(rows)?;
        if let Some(members) = report.as_object_mut() {
            members.retain(|name, _| !self.unneeded.contains(&name.as_str()));
        }
        let left_out = (self.left_out)(&report);
        squeeze.value(&mut report);
        let command = command_line(&(self.command)(rows));
        let notes = self.notes();
        let text = self.text(&text, squeeze, left_out, rows, &command, &notes);
        let mut content = json!({"command": command, "left_out_rows": left_out, "report": report});
        if !notes.is_empty() {
            content["notes"] = json!(notes);
        }
        Ok(
            json!({"content": [{"type": "text", "text": text}], "structuredContent": content, "isError": false}),
        )
    }

    /// What is to be said beside the report.
    fn notes(&self) -> Vec<String> {
        // Messages for a terminal say so themselves.
        let plain = |note: &String| clipped(note.trim_start_matches("note: "), NOTE);
        let mut notes: Vec<_> = self.notes.iter().take(NOTES).map(plain).collect();
        let more = self.notes.len().saturating_sub(NOTES);
        if more > 0 {
            notes.push(format!("and {more} notes more, which the command prints"));
        }
        notes
    }

    fn text(
        &self,
        report: &[u8],
        squeeze: Squeeze,
        left_out: u64,
        rows: usize,
        command: &str,
        notes: &[String],
    ) -> String {
        let report = String::from_utf8_lossy(report);
        let (kept, lines) = first_lines(&printable_lines(&report), squeeze.text);
        let mut text = kept + "\n";
        if lines > 0 {
            text += &format!("({lines} more lines have no room here)\n");
        }
        for note in notes {
            text += &format!("note: {note}\n");
        }
        if left_out > 0 {
            let why = if rows < self.rows { ": there is room for no more in 8 KB" } else { "" };
            text += &format!(
                "left out: {left_out} rows{why}. To see them: narrow the question, or run the command with a larger --top\n"
            );
        }
        text + &format!("command: {command}")
    }
}

/// The first lines of a text that have no more bytes than that, and how many are left.
fn first_lines(text: &str, most: usize) -> (String, usize) {
    if text.len() <= most {
        return (text.to_owned(), 0);
    }
    let mut kept = String::new();
    let mut lines = text.lines();
    for line in lines.by_ref() {
        if kept.len() + line.len() + 1 > most {
            return (kept, 1 + lines.count());
        }
        kept += line;
        kept.push('\n');
    }
    (kept, 0)
}

impl Squeeze {
    /// Makes everything in a document printable, and cuts what is too long; what was cut from a list is counted beside
    /// it.
    fn value(self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(short) = self.name(text) {
                    *text = short;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => {
                self.members(members);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn members(self, members: &mut Map<String, Value>) {
        let mut left = Map::new();
        let more = members.len().saturating_sub(self.members);
        let whole = std::mem::take(members);
        for (key, mut value) in whole.into_iter().take(self.members) {
            if let Value::Array(items) = &mut value {
                // Figures belong to the resources, which are few.
                let is_figures =
                    items.iter().all(|item| item.is_number() || item.is_null() || item.is_boolean());
                let most = if is_figures || key == "resources" { 16 } else { self.items };
                if items.len() > most {
                    left.insert(format!("{}_cut", self.name(&key)), json!(items.len() - most));
                    items.truncate(most);
                }
            }
            self.value(&mut value);
            members.insert(self.name(&key).into_owned(), value);
        }
        members.append(&mut left);
        if more > 0 {
            members.insert("members_cut".to_owned(), json!(more));
        }
    }

    fn name(self, text: &str) -> Cow<'_, str> {
        // Most names are plain and short.
        if text.len() <= self.letters { printable(text) } else { Cow::Owned(clipped(text, self.letters)) }
    }
}

/// A text of one line, made printable, in at most so many letters.
pub(crate) fn clipped(text: &str, letters: usize) -> String {
    // No letter is shorter when it is escaped, so what is far too long need not be.
    let text = if text.len() > 64 * letters { without_middle(text, letters) } else { text.to_owned() };
    without_middle(&printable(&text), letters)
}

/// The words of a command as a shell takes them, in one line without control characters.
fn command_line(words: &[String]) -> String {
    let line = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let letters = line.chars().count();
    if letters <= COMMAND {
        return line;
    }
    // Half a command would be another one.
    let start: String = line.chars().take(COMMAND).collect();
    format!("{start}\u{2026} (and {} letters more: {} words in all)", letters - COMMAND, words.len())
}

/// A word as a POSIX shell takes it, or bash where it has characters that a line must not have.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-+=.,/:@%".contains(c);
    let safe = printable(word);
    if safe != word {
        let letter = |c: char| match c {
            '\\' | '\'' => format!("\\{c}"),
            c => printable(&c.to_string()).into_owned(),
        };
        format!("$'{}'", word.chars().map(letter).collect::<String>())
    } else if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(rows: usize) -> Asked<'static> {
        Asked {
            rows,
            command: &|rows| vec!["instrument".into(), "xprof".into(), rows.to_string()],
            notes: Vec::new(),
            unneeded: &["noise"],
            left_out: |report| report["left_out"].as_u64().unwrap_or(0),
        }
    }

    /// An answer about `all` rows of `letters` letters.
    fn answer(all: usize, letters: usize, rows: usize) -> Value {
        let names = |rows: usize| -> Vec<_> {
            (0..rows.min(all)).map(|i| format!("{i}{}", "n".repeat(letters))).collect()
        };
        let text = |out: &mut Vec<u8>, rows: usize| {
            out.extend(names(rows).join("\n").into_bytes());
            Ok(())
        };
        let document = |rows: usize| {
            let names = names(rows);
            Ok(json!({"rows": names, "left_out": all - names.len(), "noise": "n".repeat(10_000)}))
        };
        let report = Report { text: &text, document: &document };
        Room::beside(100).answer(&asked(rows), &report).unwrap()
    }

    #[test]
    fn as_many_rows_as_fit_are_kept() {
        let small = answer(5, 10, 20);
        let content = &small["structuredContent"];
        assert_eq!(
            (content["left_out_rows"].as_u64(), content["command"].as_str()),
            (Some(0), Some("instrument xprof 20"))
        );
        assert_eq!(content["report"].get("noise"), None);
        let large = answer(500, 100, 100);
        let content = &large["structuredContent"];
        let rows = content["report"]["rows"].as_array().unwrap().len();
        assert_eq!(content["left_out_rows"], 500 - rows);
        let size = large.to_string().len() + 100;
        assert!(
            size <= LARGEST && size > LARGEST - 300,
            "{size} bytes, {rows} rows: no more than needed is cut"
        );
        assert_eq!(content["command"], format!("instrument xprof {rows}"));
        let text = large["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(&format!("left out: {} rows: there is room", 500 - rows)), "{text}");
        assert!(text.ends_with(&format!("command: instrument xprof {rows}")), "{text}");
    }

    #[test]
    fn what_is_not_made_of_rows_is_cut_last() {
        let large = answer(3, 60_000, 100);
        assert!(large.to_string().len() + 100 <= LARGEST);
        let content = &large["structuredContent"]["report"];
        assert!(content["rows"][0].as_str().unwrap().contains('\u{2026}'), "{content}");
    }

    #[test]
    fn a_document_is_printable_and_counts_what_is_cut() {
        let mut report = json!({"a\u{1b}": ["x\u{202e}", "y", "z", "\n"], "base": [1, null, 3, 4, 5], "resources": [{}, {}, {}, {}]});
        Squeeze { items: 3, members: 9, letters: 9, text: 0 }.value(&mut report);
        let expected = json!({"a\\u001b": ["x\\u202e", "y", "z"], "base": [1, null, 3, 4, 5], "resources": [{}, {}, {}, {}]});
        assert_eq!((&report["a\\u001b"], &report["a\\u001b_cut"]), (&expected["a\\u001b"], &json!(1)));
        assert_eq!((&report["base"], &report["resources"]), (&expected["base"], &expected["resources"]));
        let mut report: Value = (0..50).map(|i| (i.to_string(), Value::Null)).collect::<Map<_, _>>().into();
        Squeeze::rows(1).value(&mut report);
        assert_eq!((report.as_object().unwrap().len(), &report["members_cut"]), (41, &json!(10)));
    }

    #[test]
    fn a_command_is_quoted() {
        let of =
            |words: &[&str]| command_line(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
        assert_eq!(
            of(&["instrument", "a b", "it's", "", "x*", "--top=3"]),
            r"instrument 'a b' 'it'\''s' '' 'x*' --top=3"
        );
        assert_eq!(of(&["a\u{1b}'\\\u{202e}é"]), r"$'a\u001b\'\\\u202eé'");
        assert!(of(&["x"; 5000]).ends_with("letters more: 5000 words in all)"));
    }
}
