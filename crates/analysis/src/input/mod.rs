//! What others have recorded, read into the model.
//!
//! | format | |
//! |---|---|
//! | [`events`] | start and end events of consumers, with stamps of one or several metrics |
//! | [`folded`] | stack samples, one stack a line, as async-profiler, perf and others write them |
//! | [`call_tree`] | a complete call tree, as JSON |
//! | [`pprof`] | profiles for pprof, as many services and profilers write them |
//! | [`jfr`] | stacks of a recording of Java Flight Recorder |
//!
//! All of them are read in one pass. What is kept in memory is the model, so it grows with the number of contexts and
//! not with the length of the input; nesting is limited by nothing else.

pub mod call_tree;
mod error;
pub mod events;
pub mod folded;
pub mod jfr;
mod lines;
pub mod pprof;

use crate::Arcflow;
use lines::Lines;
use std::fmt;
use std::io::BufRead;

pub use error::Error;

/// A frame without a name.
const UNKNOWN: &str = "[unknown]";

/// An input that was read.
#[derive(Debug, Clone)]
pub struct Input {
    pub model: Arcflow,
    /// How it was written.
    pub format: Format,
    /// What did not fit.
    pub remarks: Remarks,
}

/// How an input is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// See [`events`].
    Events,
    /// See [`folded`].
    Folded,
    /// See [`call_tree`].
    CallTree,
    /// See [`jfr`].
    Recording,
    /// See [`pprof`].
    Pprof,
}

/// What did not fit in an input of events, in a recording or in a profile for pprof; all 0 for the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Remarks {
    /// Frames that had not ended when the input did.
    pub open: u64,
    /// Frames that were closed because one beneath them ended.
    pub unclosed: u64,
    /// Ends that fit no open frame.
    pub unmatched: u64,
    /// Stamps that were lower than the one before.
    pub backward: u64,
    /// Stacks of which the outermost frames are missing.
    pub cut: u64,
    /// Samples that could not be taken.
    pub lost: u64,
    /// Frames of stacks that have no name.
    pub unknown: u64,
}

impl fmt::Display for Remarks {
    /// Says what is not 0, or nothing at all.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.open, "frames still open at the end"),
            (self.unclosed, "frames without an end of their own"),
            (self.unmatched, "ends that fit no start"),
            (self.backward, "stamps that went backward"),
            (self.cut, "stacks without their outermost frames (JFR's option stackdepth)"),
            (self.lost, "samples that JFR could not take"),
            (self.unknown, "frames without a name, which are [unknown]"),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        for (i, (count, what)) in parts.enumerate() {
            write!(f, "{}{what}: {count}", if i > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

/// Reads an input of any of the formats: a recording and what is packed have their own first bytes, `{` begins a call tree, and the first line that is neither blank nor a comment
/// tells events from folded stacks.
///
/// # Errors
/// What cannot be read, with its line; an input that is empty or in none of the formats.
pub fn read(mut reader: impl BufRead) -> Result<Input, Error> {
    if jfr::begins(reader.fill_buf()?) {
        let (model, remarks) = jfr::read(reader)?;
        return Ok(Input { model, format: Format::Recording, remarks });
    }
    if pprof::begins(reader.fill_buf()?) {
        let (model, remarks) = pprof::read(reader)?;
        return Ok(Input { model, format: Format::Pprof, remarks });
    }
    if lines::first_byte(&mut reader)? == Some(b'{') {
        let model = call_tree::read(reader)?;
        return Ok(Input { model, format: Format::CallTree, remarks: Remarks::default() });
    }
    let mut lines = Lines::new(reader);
    let Some(first) = lines.next()? else { return Err(Error::Empty) };
    let (is_events, is_folded) = (events::begins(first), folded::begins(first));
    lines.repeat();
    if is_events {
        let (model, remarks) = events::read_lines(lines)?;
        Ok(Input { model, format: Format::Events, remarks })
    } else if is_folded {
        let model = folded::read_lines(lines)?;
        Ok(Input { model, format: Format::Folded, remarks: Remarks::default() })
    } else {
        Err(Error::Unknown)
    }
}
