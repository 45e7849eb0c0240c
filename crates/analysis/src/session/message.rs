//! What is to be said of files beside the answer.

/// How much a message matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Something may be wrong with the answer.
    Warning,
    /// It is said so that the answer is understood.
    Note,
    /// Nobody need do anything about it: said to those who ask for more.
    Detail,
}

/// A message for the person who asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// How much it matters.
    pub weight: Weight,
    /// A sentence without a stop.
    pub text: String,
}

impl Message {
    /// Something that the person should look at.
    pub fn warning(text: String) -> Message {
        Message { weight: Weight::Warning, text }
    }

    /// Something that explains the answer.
    pub fn note(text: String) -> Message {
        Message { weight: Weight::Note, text }
    }

    /// Something that explains the answer, and that nobody need do anything about.
    pub fn detail(text: String) -> Message {
        Message { weight: Weight::Detail, text }
    }
}
