//! Why an input cannot be read.

use std::io;

/// Why an input cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its bytes cannot be had.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It holds nothing.
    #[error("nothing in it")]
    Empty,
    /// It is in no format that is known.
    #[error(
        "neither events (`12 > name`), nor folded stacks (`a;b;c 12`), nor a call tree (JSON), nor a recording of JFR, nor pprof packed by gzip"
    )]
    Unknown,
    /// A line says nothing that could be understood.
    #[error("line {line}: {reason}")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// It is no JSON, or not of the form of a call tree.
    #[error("call tree: {0}")]
    CallTree(String),
    /// It is packed, and what is in it is no profile for pprof.
    #[error("pprof: {0}")]
    Pprof(String),
    /// A recording is damaged, or has nothing that is read.
    #[error("a recording of JFR: {0}")]
    Recording(String),
}
