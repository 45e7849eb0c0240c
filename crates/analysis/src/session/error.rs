//! Why profiles cannot be read, or a request cannot be answered.

use std::io;
use std::path::{Path, PathBuf};

use super::message::Message;
use crate::{export::error as export, input, report};

/// Why there is no answer. The chain of sources says what went wrong below.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request makes no sense for these files: wrong usage, not a fault of a file.
    #[error("{0}")]
    Request(String),
    /// A file cannot be opened.
    #[error("cannot read {}", .0.display())]
    Open(PathBuf, #[source] io::Error),
    /// Bytes of a file cannot be had, or not copied.
    #[error("{what}")]
    Io {
        /// What was done with which file.
        what: String,
        source: io::Error,
    },
    /// A file is no profile that can be read.
    #[error("{what}")]
    Profile {
        /// Its path and, where there is one, the cure.
        what: String,
        /// What is wrong with it.
        source: instrument_trace::Error,
    },
    /// A file is neither a profile nor a text that is read like one.
    #[error("{what}")]
    Text {
        /// What the file seems to be, and what to do about it.
        what: String,
        /// Why it is no such text.
        source: input::Error,
    },
    /// None of several profiles can be read; why is said in the messages.
    #[error("none of the profiles can be read")]
    NoneReadable(Vec<Message>),
    /// Remote calls cannot be read.
    #[error(transparent)]
    Calls(instrument_trace::Error),
    /// An export cannot be written.
    #[error(transparent)]
    Export(export::Error),
    /// The events of a profile cannot be written.
    #[error("{}", .0.display())]
    ExportOf(PathBuf, #[source] export::Error),
    /// An output cannot be written.
    #[error(transparent)]
    Output(#[from] io::Error),
    /// A report cannot be written.
    #[error(transparent)]
    Report(#[from] report::Error),
    /// A file of a request cannot be read.
    #[error("{what}")]
    Of {
        /// The part of the request, with its file.
        what: String,
        source: Box<Error>,
    },
}

impl Error {
    /// The error and what it comes from, as people read it: `cannot read a.iprof: No such file or directory`.
    pub fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut at = std::error::Error::source(self);
        while let Some(error) = at {
            text += &format!(": {error}");
            at = error.source();
        }
        text
    }

    /// Why the medium failed, if it did.
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        match self {
            Error::Open(_, source) | Error::Io { source, .. } | Error::Output(source) => Some(source.kind()),
            Error::Export(source) | Error::ExportOf(_, source) => match source {
                export::Error::Io(error) => Some(error.kind()),
                export::Error::Trace(_) => None,
            },
            Error::Report(error) => error.io_kind(),
            Error::Of { source, .. } => source.io_kind(),
            _ => None,
        }
    }

    /// A trace error with the path of its file.
    pub(crate) fn profile(path: &Path) -> impl FnOnce(instrument_trace::Error) -> Error {
        move |source| Error::Profile { what: path.display().to_string(), source }
    }
}
