//! JUnit XML, as build servers read it: one suite of test cases that hold or fail.

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::borrow::Cow;
use std::io::{self, Write};

/// A suite of test cases.
#[derive(Debug, Clone, Default)]
pub struct Suite {
    pub name: String,
    /// Its test cases, in their order.
    pub cases: Vec<Case>,
}

/// A test case.
#[derive(Debug, Clone)]
pub struct Case {
    /// What it belongs to.
    pub class_name: String,
    /// What it is about.
    pub name: String,
    pub outcome: Outcome,
}

/// How a test case ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It holds.
    Passed,
    /// It does not hold: one sentence, and all that there is to say.
    Failed {
        /// One line.
        message: String,
        /// Any number of lines.
        text: String,
    },
}

/// Writes the suite as one document.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut dyn Write, suite: &Suite) -> io::Result<()> {
    let mut writer = Writer::new_with_indent(&mut *out, b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let tests = suite.cases.len().to_string();
    let failures = suite.cases.iter().filter(|case| case.outcome != Outcome::Passed).count().to_string();
    let counts = [("tests", &*tests), ("failures", &*failures), ("errors", "0"), ("skipped", "0")];
    let element = writer.create_element("testsuite").with_attribute(("name", &*allowed(&suite.name)));
    element.with_attributes(counts).write_inner_content(|writer| {
        for case in &suite.cases {
            let (class_name, name) = (allowed(&case.class_name), allowed(&case.name));
            let element = writer.create_element("testcase");
            let element = element.with_attributes([("classname", &*class_name), ("name", &*name)]);
            match &case.outcome {
                Outcome::Passed => _ = element.write_empty()?,
                Outcome::Failed { message, text } => {
                    element.write_inner_content(|writer| {
                        let failure = writer.create_element("failure");
                        let failure = failure.with_attribute(("message", &*allowed(message)));
                        failure.write_text_content(BytesText::new(&allowed(text)))?;
                        Ok(())
                    })?;
                }
            }
        }
        Ok(())
    })?;
    writeln!(out)
}

/// The text without what XML 1.0 cannot hold.
pub(crate) fn allowed(text: &str) -> Cow<'_, str> {
    let is_allowed = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    if text.chars().all(is_allowed) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if is_allowed(c) { c } else { '\u{fffd}' }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_is_written_and_holds_only_what_xml_can_hold() {
        let case =
            |name: &str, outcome| Case { class_name: "a.B".to_owned(), name: name.to_owned(), outcome };
        let failed =
            Outcome::Failed { message: "1 < 2 \u{1}".to_owned(), text: "two\nlines & more".to_owned() };
        let suite =
            Suite { name: "x".to_owned(), cases: vec![case("holds", Outcome::Passed), case("not", failed)] };
        let mut out = Vec::new();
        write(&mut out, &suite).unwrap();
        let text = String::from_utf8(out).unwrap();
        for part in [
            "<testsuite name=\"x\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\">",
            "<testcase classname=\"a.B\" name=\"holds\"/>",
            "<failure message=\"1 &lt; 2 \u{fffd}\">two\nlines &amp; more</failure>",
        ] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
    }
}
