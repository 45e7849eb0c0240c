//! Labels of processes: which service and which build they are of.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::session::ProfileFile;

/// Labels of a process: `service` and `build` are partitions, and all are in the table of processes.
pub type Labels = BTreeMap<String, String>;

/// Where the labels of processes come from.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// Labels of all processes, whatever their profiles say.
    pub given: Labels,
    /// Labels of all processes, unless their profiles say something else.
    pub otherwise: Labels,
}

impl Sources {
    /// The labels of the process of a profile.
    pub(super) fn of(&self, file: &ProfileFile) -> Labels {
        let mut labels = self.otherwise.clone();
        labels.extend(read(file.property("labels").unwrap_or_default()));
        labels.extend(self.given.clone());
        labels
    }
}

/// Reads `service=shop,team=a%2Cb`: pairs as in the variable `OTEL_RESOURCE_ATTRIBUTES` (OpenTelemetry, Resource SDK),
/// which profiles have as well. What is no pair or has no name is left out.
pub fn read(text: &str) -> Labels {
    let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
    let pairs = pairs.map(|(key, value)| (decoded(key.trim()), decoded(value.trim())));
    pairs.filter(|(key, _)| !key.is_empty()).collect()
}

/// What of a text is no pair, and is left out by [`read`].
pub(super) fn unread(text: &str) -> impl Iterator<Item = &str> {
    let has_name = |pair: &str| pair.split_once('=').is_some_and(|(key, _)| !key.trim().is_empty());
    text.split(',').map(str::trim).filter(move |pair| !pair.is_empty() && !has_name(pair))
}

/// The text that [`read`] reads.
pub fn text(labels: &Labels) -> String {
    let mut text = String::new();
    for (key, value) in labels {
        let comma = if text.is_empty() { "" } else { "," };
        let _ = write!(text, "{comma}{}={}", encoded(key), encoded(value));
    }
    text
}

fn encoded(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        // Blanks at the ends would be lost, and control characters do not pass everywhere.
        if c.is_whitespace() || c.is_control() || "%,=\\".contains(c) {
            c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| {
                let _ = write!(out, "%{byte:02X}");
            });
        } else {
            out.push(c);
        }
    }
    out
}

/// Without the escapes `%2C`.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|&byte| char::from(byte).to_digit(16));
    let (mut out, mut at) = (Vec::new(), 0);
    while let Some(&byte) = bytes.get(at) {
        match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((16 * high + low) as u8);
                at += 3;
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_pair_is_left_out_and_what_is_no_escape_stays() {
        let labels = read("a=1, b = x%2Cy ,team=%zz%C3%BC%,=x,none,c=,a=2");
        let expected = [("a", "2"), ("b", "x,y"), ("c", ""), ("team", "%zz\u{fc}%")];
        assert_eq!(labels, expected.map(|(key, value)| (key.into(), value.into())).into());
        assert!(read("").is_empty());
        assert_eq!(unread("a=1,=x, none,c=,").collect::<Vec<_>>(), ["=x", "none"]);
    }

    proptest::proptest! {
        #[test]
        fn labels_are_read_as_they_were_written(labels in proptest::collection::btree_map("\\PC{1,9}|[ ,=%\\\\\n\t]{1,4}", "\\PC{0,9}|[ ,=%\\\\\n\t]{0,4}", 0..5)) {
            proptest::prop_assert_eq!(read(&text(&labels)), labels);
        }
    }
}
