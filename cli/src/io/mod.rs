//! Talking to people, exit codes, and files that are read and written.

pub(crate) mod exit;
pub(crate) mod output;
pub(crate) mod progress;
pub(crate) mod source;
pub(crate) mod talk;
