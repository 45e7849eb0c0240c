//! Rules which options need which others. The command line and the agent's option string spell options differently, and obey
//! the same rules.

use crate::keys;
use crate::word::{LibraryCalls, Record, Transform, Values};
use instrument_names::word::Word;

#[derive(Debug, Clone, Copy)]
pub enum Spelling {
    /// `--name value`
    CommandLine,
    /// `name=value`
    Agent,
}

impl Spelling {
    fn of(self, name: &str, value: Option<&str>) -> String {
        match (self, value) {
            (Spelling::CommandLine, None) => format!("--{name}"),
            (Spelling::CommandLine, Some(value)) => format!("--{name} {value}"),
            (Spelling::Agent, None) => name.to_owned(),
            (Spelling::Agent, Some(value)) => format!("{name}={value}"),
        }
    }
}

/// The options that these rules are about.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    pub transforms: &'a [Transform],
    pub record: Record,
    pub library_calls: LibraryCalls,
    pub native: bool,
    /// Methods too large for what is inserted get a wrapper.
    pub wraps: bool,
}

impl Given<'_> {
    /// # Errors
    /// The first rule that is broken, in one sentence.
    pub fn check(&self, spelling: Spelling) -> Result<(), String> {
        self.check_method_events(spelling)?;
        if self.has(Transform::Bytecodes) && self.record == Record::Trace {
            let option = spelling.of(keys::TRANSFORM, Some("bytecodes"));
            let counts = spelling.of(keys::RECORD, Some("counts"));
            return Err(format!("{option} is for {counts} and tree: a trace has no place for its counts"));
        }
        Ok(())
    }

    fn has(&self, transform: Transform) -> bool {
        self.transforms.contains(&transform)
    }

    /// Options about calls need the transform that records them.
    fn check_method_events(&self, spelling: Spelling) -> Result<(), String> {
        if self.has(Transform::MethodEvents) {
            return Ok(());
        }
        let option = |name, value| spelling.of(name, value);
        let transform = |word| option(keys::TRANSFORM, Some(word));
        let values = Values::WORDS.iter().find(|(_, values, _)| self.has(values.transform()));
        let of_values = match (spelling, values) {
            (Spelling::CommandLine, Some((word, ..))) => option("values", Some(word)),
            (Spelling::Agent, Some((word, ..))) => transform(word),
            (_, None) => String::new(),
        };
        let cure = format!("; add {}", transform("method-events"));
        let (made, calls) = ("calls that methods make which", "calls which");
        let needs = [
            (self.library_calls != LibraryCalls::None, option(keys::LIBRARY_CALLS, None), made, ""),
            (self.native, option(keys::NATIVE, None), calls, ""),
            (self.has(Transform::Waits), transform("waits"), made, ""),
            (values.is_some(), of_values, made, &*cure),
            (self.has(Transform::Bytecodes), transform("bytecodes"), calls, ""),
            (self.wraps, option("large-methods", Some("wrap")), "methods that", ""),
        ];
        match needs.into_iter().find(|&(is_given, ..)| is_given) {
            None => Ok(()),
            Some((_, option, what, cure)) => Err(format!(
                "{option} is about {what} method-events records, and it is not among the transforms{cure}"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_refuse_the_same_in_their_own_words() {
        let given = |transforms| Given {
            transforms,
            record: Record::Trace,
            library_calls: LibraryCalls::None,
            native: false,
            wraps: false,
        };
        let said = |given: Given<'_>| {
            [Spelling::CommandLine, Spelling::Agent].map(|spelling| given.check(spelling).unwrap_err())
        };
        let rest = "is about calls that methods make which method-events records, and it is not among the transforms; add";
        assert_eq!(
            said(given(&[Transform::Jdbc])),
            [
                format!("--values jdbc {rest} --transform method-events"),
                format!("transform=jdbc {rest} transform=method-events")
            ]
        );
        let rest = "and tree: a trace has no place for its counts";
        assert_eq!(
            said(given(&[Transform::MethodEvents, Transform::Bytecodes])),
            [
                format!("--transform bytecodes is for --record counts {rest}"),
                format!("transform=bytecodes is for record=counts {rest}")
            ]
        );
        assert!(said(Given { native: true, ..given(&[]) })[1].starts_with("native is about calls which"));
        assert_eq!(given(&[Transform::MethodEvents, Transform::Waits]).check(Spelling::Agent), Ok(()));
    }
}
