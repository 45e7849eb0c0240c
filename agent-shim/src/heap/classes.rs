//! Which objects are recorded, by the names of their classes as Java writes them; see [`instrument_names::types`]. The recorder's own objects
//! are never recorded.

use instrument_names::types::ObjectPatterns;
use instrument_rewriter::filter::RUNTIME_PACKAGE;

/// Patterns, compiled.
#[derive(Debug)]
pub(crate) struct Classes {
    include: ObjectPatterns,
    exclude: ObjectPatterns,
}

impl Classes {
    /// Compiles lists of patterns, joined with `:`.
    ///
    /// # Errors
    /// The first pattern that cannot be read, with the reason.
    pub(crate) fn new(include: &[String], exclude: &[String]) -> Result<Classes, String> {
        let patterns = |lists| ObjectPatterns::new(lists).map_err(|error| error.to_string());
        Ok(Classes { include: patterns(include)?, exclude: patterns(exclude)? })
    }

    /// Whether objects of this class (Modified UTF-8) are recorded.
    pub(crate) fn follow(&self, class: &[u8]) -> bool {
        let is_own = class.len() > RUNTIME_PACKAGE.len()
            && class.iter().zip(RUNTIME_PACKAGE.as_bytes()).all(|(&a, &b)| a == b || (a, b) == (b'.', b'/'));
        !is_own && (self.include.is_empty() || self.include.matches(class)) && !self.exclude.matches(class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(include: &str, exclude: &str, followed: &[&str], left: &[&str]) {
        let list = |text: &str| if text.is_empty() { Vec::new() } else { vec![text.to_owned()] };
        let classes = Classes::new(&list(include), &list(exclude)).unwrap();
        for (names, expected) in [(followed, true), (left, false)] {
            for name in names {
                assert_eq!(classes.follow(name.as_bytes()), expected, "{name} by {include} but {exclude}");
            }
        }
    }

    #[test]
    fn objects_are_chosen_by_their_classes() {
        check(
            "",
            "",
            &["a.B", "int[]", "instrument.Runtime"],
            &["instrument.runtime.Region", "instrument.runtime.Region[]"],
        );
        let left = ["int", "int[][]", "a.B[]", "com.acme.X", "com.acmeX", "c.D"];
        let followed = ["com.acme.Foo", "com.acme.b.Foo[][]", "com.acme.X[]", "int[]", "a.B", "c.D[]"];
        check("com.acme.**:int[]:a.B:c.*[]", "com.acme.X", &followed, &left);
        check("", "**", &[], &["a.B", "int[]", "B"]);
        check("", "byte[]", &["byte", "byte[][]"], &["byte[]"]);
    }
}
