//! What is to be said of files beside the answer.

/// A message for the person who asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Something may be wrong with the answer; else it is said so that the answer is understood.
    pub is_warning: bool,
    /// A sentence without a stop.
    pub text: String,
}

impl Message {
    /// Something that the person should look at.
    pub fn warning(text: String) -> Message {
        Message { is_warning: true, text }
    }

    /// Something that explains the answer.
    pub fn note(text: String) -> Message {
        Message { is_warning: false, text }
    }
}
