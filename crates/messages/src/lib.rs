//! What there is to say to people while something is done, whoever prints it: the command line to a terminal, a server to its client, a test to a list.
//!
//! | item | what it is |
//! |---|---|
//! | [`Listener`] | who takes warnings and notes while something is done |
//! | [`UsageError`] | an error that is the fault of the request, and not of the world |
//! | [`number`] | a count with its noun |

use std::fmt;

/// Who takes what is said while something is done.
pub trait Listener: Sync {
    /// Why something failed; always said.
    fn error(&self, message: fmt::Arguments<'_>);

    /// Something that the user should look at.
    fn warn(&self, message: fmt::Arguments<'_>);

    /// What a result means, where it does not say so itself; said even to those who want no messages.
    fn caution(&self, message: fmt::Arguments<'_>);

    fn note(&self, message: fmt::Arguments<'_>);

    /// What only those want to know who ask for everything.
    fn detail(&self, message: fmt::Arguments<'_>);

    /// Whether [`detail`](Self::detail) is of any use.
    fn wants_details(&self) -> bool;
}

/// An error that is the user's request and not the world's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageError(String);

impl UsageError {
    /// With this text, which says what is wrong with the request.
    pub fn new(message: impl Into<String>) -> UsageError {
        UsageError(message.into())
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// A [`UsageError`] as anyhow's error.
pub fn usage(message: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(UsageError::new(message))
}

/// `1 class`, `2 classes`.
pub fn number(count: u64, noun: &str) -> String {
    let ending = match (count, noun.ends_with('s')) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{count} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn nouns_follow_their_numbers() {
        assert_eq!(number(1, "class"), "1 class");
        assert_eq!(number(0, "class"), "0 classes");
        assert_eq!(number(2, "method"), "2 methods");
    }

    #[test]
    fn a_wrong_request_is_found_behind_what_was_done() {
        let error = Err::<(), _>(usage("no such option")).context("reading the options").unwrap_err();
        assert_eq!(format!("{error:#}"), "reading the options: no such option");
        assert!(error.chain().any(|cause| cause.is::<UsageError>()));
    }
}
