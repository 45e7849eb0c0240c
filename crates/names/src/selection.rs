//! What of a program is recorded, as one line that profiles carry: figures of two runs compare where these lines are
//! the same.
//!
//! `transform=method-events include=com.acme.** exclude=**.generated.** root=com.acme.Main#main`: keys and values,
//! sorted; a key with several values comes several times. Blanks, `%` and control characters in values are
//! percent-encoded.

use std::collections::BTreeSet;
use std::fmt;

/// What is recorded. [`fmt::Display`] writes the line, [`Selection::parse`] reads it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    entries: BTreeSet<(String, String)>,
}

impl Selection {
    /// What is inserted: a transform for each value.
    pub const TRANSFORM: &'static str = "transform";
    /// Which objects the virtual machine reports, beside what is inserted.
    pub const HEAP: &'static str = "heap";
    /// Only these classes and what extends or implements them.
    pub const SUBCLASSES_OF: &'static str = "subclasses-of";

    /// With these values of a key, in whatever order they were given.
    #[must_use]
    pub fn with<V: AsRef<str>>(mut self, key: &str, values: impl IntoIterator<Item = V>) -> Selection {
        let values = values.into_iter().map(|value| (key.to_owned(), value.as_ref().to_owned()));
        self.entries.extend(values);
        self
    }

    /// Reads a line. What has no `=` is a key without a value.
    pub fn parse(text: &str) -> Selection {
        let entry = |word: &str| {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            (key.to_owned(), decoded(value))
        };
        Selection { entries: text.split_ascii_whitespace().map(entry).collect() }
    }

    /// The values of a key, sorted.
    pub fn values<'s>(&'s self, key: &'s str) -> impl Iterator<Item = &'s str> {
        self.entries.iter().filter(move |(own, _)| own == key).map(|(_, value)| value.as_str())
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (key, value)) in self.entries.iter().enumerate() {
            let blank = if i == 0 { "" } else { " " };
            write!(f, "{blank}{key}={}", encoded(value))?;
        }
        Ok(())
    }
}

fn encoded(value: &str) -> String {
    let encode = |c: char| match c {
        '%' => "%25".to_owned(),
        // All of them are one byte in UTF-8, but for U+0080 to U+009F and blanks of other scripts, which no reader
        // splits at.
        c if c.is_ascii_control() || c == ' ' => format!("%{:02X}", u32::from(c)),
        c => c.to_string(),
    };
    value.chars().map(encode).collect()
}

fn decoded(value: &str) -> String {
    let (mut text, mut rest) = (String::new(), value);
    while let Some((before, after)) = rest.split_once('%') {
        text += before;
        let code = after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code.filter(u8::is_ascii) {
            Some(code) => {
                text.push(char::from(code));
                rest = &after[2..];
            }
            None => {
                text.push('%');
                rest = after;
            }
        }
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_options_is_none() {
        let one = Selection::default().with("include", ["b.**", "a.**"]).with(Selection::TRANSFORM, ["rmi"]);
        let other =
            Selection::default().with(Selection::TRANSFORM, ["rmi"]).with("include", ["a.**", "b.**"]);
        assert_eq!(one.to_string(), "include=a.** include=b.** transform=rmi");
        assert_eq!(one, other);
    }

    #[test]
    fn whatever_a_value_is_it_is_read_as_it_was() {
        let values = ["a b", "50%", "%41", "\n", "ä\u{a0}", ""];
        let selection = Selection::default().with("root", values).with("other", ["x"]);
        let line = selection.to_string();
        assert!(!line.contains('\n') && line.split(' ').count() == values.len() + 1, "{line}");
        let read = Selection::parse(&line);
        assert_eq!(read, selection);
        assert_eq!(read.values("root").collect::<BTreeSet<_>>(), BTreeSet::from(values));
        assert_eq!(Selection::parse("a=%4 b=%zz c").values("b").collect::<Vec<_>>(), ["%zz"]);
    }
}
