//! `--latency PATTERN[:THRESHOLD]`: the methods whose calls are timed one by one, and have their durations kept.

use std::fmt;

use instrument_names::pattern::{MethodQuery, split_list};

use crate::word::Record;

/// What a pattern of the option asks for.
#[derive(Debug, Clone)]
pub struct Kept {
    /// As it was given, without the threshold.
    pub text: String,
    pub pattern: MethodQuery,
    /// ns beyond which calls are counted; none: no calls are.
    pub threshold: Option<u64>,
}

impl Kept {
    /// The patterns of a list, with `:` or `,` between: `Shop#sell:50ms`, `com.acme.Cart.*:Shop.buy(int)`. A threshold belongs to the pattern in front of it.
    ///
    /// # Errors
    /// A pattern that cannot be read; a threshold of 0, or in front of all patterns.
    pub fn list(list: &str) -> Result<Vec<Kept>, String> {
        let mut all: Vec<Kept> = Vec::new();
        for part in split_list(list, &[':', ',']) {
            let part = part.trim();
            match (duration(part), all.last_mut()) {
                (Some(0), _) | (Some(_), None) => {
                    return Err(format!(
                        "{list}: a threshold such as 50ms is more than 0, and follows a pattern"
                    ));
                }
                (Some(ns), Some(last)) => last.threshold = Some(ns),
                (None, _) => {
                    let pattern = MethodQuery::new(part).map_err(|error| error.to_string())?;
                    all.push(Kept { text: part.to_owned(), pattern, threshold: None });
                }
            }
        }
        Ok(all)
    }

    /// Whether they go with what is recorded.
    ///
    /// # Errors
    /// A way to record that has no place for them.
    pub fn check(all: &[Kept], record: Record, has_method_events: bool) -> Result<(), String> {
        let reason = match record {
            _ if all.is_empty() => return Ok(()),
            Record::Trace => "a trace has the times of every call already",
            Record::Tree if has_method_events => return Ok(()),
            Record::Tree => {
                "it is about calls which method-events records, and that is not among the transforms"
            }
            _ => "durations are kept by context, which only a tree has",
        };
        Err(format!("{reason}: leave it out, or record a tree of method-events"))
    }
}

/// As [`Kept::list`] reads it, and the recorder.
impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        self.threshold.map_or(Ok(()), |ns| write!(f, ":{ns}ns"))
    }
}

/// `50ms` in ns; none: it is no duration.
fn duration(text: &str) -> Option<u64> {
    let units = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];
    let (number, unit) = units.iter().find_map(|(unit, ns)| Some((text.strip_suffix(unit)?, ns)))?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| number.parse::<u64>().unwrap_or(u64::MAX).saturating_mul(*unit).min(i64::MAX as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(list: &str) -> Vec<String> {
        Kept::list(list).unwrap().iter().map(Kept::to_string).collect()
    }

    #[test]
    fn a_threshold_belongs_to_the_pattern_in_front_of_it() {
        assert_eq!(texts("a.Shop#sell"), ["a.Shop#sell"]);
        assert_eq!(texts("a.Shop#sell:50ms"), ["a.Shop#sell:50000000ns"]);
        assert_eq!(
            texts("Shop.buy(int, long):2s:Cart#*:7us"),
            ["Shop.buy(int, long):2000000000ns", "Cart#*:7000ns"]
        );
        assert_eq!(texts("A#s,B#ms"), ["A#s", "B#ms"]);
        // What it prints is what it reads.
        let canonical = texts("Shop#sell:50ms:Cart#*").join(",");
        assert_eq!(texts(&canonical), ["Shop#sell:50000000ns", "Cart#*"]);
        for bad in ["50ms", "A#b:0ms", "a..b"] {
            assert!(Kept::list(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_a_tree_of_method_events_has_a_place_for_them() {
        let given = Kept::list("Shop#sell").unwrap();
        assert!(Kept::check(&given, Record::Tree, true).is_ok());
        for (record, has_events) in [(Record::Tree, false), (Record::Trace, true), (Record::Counts, true)] {
            assert!(Kept::check(&given, record, has_events).is_err(), "{record:?}");
            assert!(Kept::check(&[], record, has_events).is_ok());
        }
    }
}
