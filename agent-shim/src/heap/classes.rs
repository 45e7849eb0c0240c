//! Which objects are recorded, by the names of their classes as Java writes them: `com.acme.Foo`, `int[]`.
//!
//! A pattern is a glob as for `include`, and `[]` behind it for each dimension of an array. One that ends in `**` takes arrays of any
//! dimensions, too. The recorder's own objects are never recorded.

use instrument_rewriter::filter::{ClassVerdict, Filter};

/// Patterns, compiled.
#[derive(Debug)]
pub(crate) struct Classes {
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
}

#[derive(Debug)]
struct Pattern {
    element: Filter,
    /// None: any number.
    dimensions: Option<usize>,
}

impl Classes {
    /// Compiles lists of patterns, joined with `:`.
    ///
    /// # Errors
    /// The first pattern that cannot be read, with the reason.
    pub(crate) fn new(include: &[String], exclude: &[String]) -> Result<Classes, String> {
        let all = |lists: &[String]| -> Result<Vec<Pattern>, String> {
            lists.iter().flat_map(|list| list.split(':')).map(Pattern::new).collect()
        };
        Ok(Classes { include: all(include)?, exclude: all(exclude)? })
    }

    /// Whether objects of this class (Modified UTF-8) are recorded.
    pub(crate) fn follow(&self, class: &[u8]) -> bool {
        let (element, dimensions) = split(class);
        let element: Vec<u8> = element.iter().map(|&byte| if byte == b'.' { b'/' } else { byte }).collect();
        let any = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(&element, dimensions));
        // Without patterns the filter knows our own classes.
        Filter::default().class(&element) == ClassVerdict::All
            && (self.include.is_empty() || any(&self.include))
            && !any(&self.exclude)
    }
}

impl Pattern {
    fn new(text: &str) -> Result<Pattern, String> {
        if text.contains('#') {
            return Err(format!("heap patterns are about classes, and `{text}` names a method"));
        }
        let (element, dimensions) = split(text.as_bytes());
        let element = &text[..element.len()];
        let any = dimensions == 0 && element.ends_with("**");
        let none: [&str; 0] = [];
        let filter = Filter::new(&[element], &none).map_err(|error| error.to_string())?;
        Ok(Pattern { element: filter, dimensions: (!any).then_some(dimensions) })
    }

    fn matches(&self, element: &[u8], dimensions: usize) -> bool {
        self.dimensions.is_none_or(|wanted| wanted == dimensions)
            && self.element.class(element) == ClassVerdict::All
    }
}

/// The name in front of the `[]`, and how many there are.
fn split(mut name: &[u8]) -> (&[u8], usize) {
    let mut dimensions = 0;
    while let Some(element) = name.strip_suffix(b"[]") {
        (name, dimensions) = (element, dimensions + 1);
    }
    (name, dimensions)
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
        check("", "", &["a.B", "int[]"], &["instrument.runtime.Region", "instrument.runtime.Region[]"]);
        let left = ["int", "int[][]", "a.B[]", "com.acme.X", "com.acmeX", "c.D"];
        let followed = ["com.acme.Foo", "com.acme.b.Foo[][]", "com.acme.X[]", "int[]", "a.B", "c.D[]"];
        check("com.acme.**:int[]:a.B:c.*[]", "com.acme.X", &followed, &left);
        check("", "**", &[], &["a.B", "int[]", "B"]);
        check("", "byte[]", &["byte", "byte[][]"], &["byte[]"]);
    }

    #[test]
    fn wrong_patterns_are_named() {
        for (pattern, reason) in
            [("a.B#c", "are about classes"), ("a..b[]", "bad pattern `a..b`"), ("[]", "no class name")]
        {
            let error = Classes::new(&[pattern.to_owned()], &[]).unwrap_err();
            assert!(error.contains(reason), "{pattern}: {error}");
        }
    }
}
