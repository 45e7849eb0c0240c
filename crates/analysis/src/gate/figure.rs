//! Exact figures, and what they are in several runs.

use std::fmt;

use serde::Serialize;

/// An exact figure of a context or a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Figure {
    Calls,
    /// Objects and arrays made by the method itself.
    Allocations,
    Bytes,
    /// Bytecodes that the method itself executed.
    Bytecodes,
    /// Remote calls that the method itself made.
    Remote,
}

/// All figures of a context, by [`Figure`].
pub type Figures = [u64; Figure::ALL.len()];

impl Figure {
    /// All of them; the order of [`Figures`].
    pub const ALL: [Figure; 5] =
        [Figure::Calls, Figure::Allocations, Figure::Bytes, Figure::Bytecodes, Figure::Remote];

    /// The word for it: in files, and as the name of the model's resource where there is one.
    pub fn word(self) -> &'static str {
        ["calls", "allocations", "bytes", "bytecodes", "remote"][self as usize]
    }

    /// The figure that a word stands for.
    pub fn from_word(word: &str) -> Option<Figure> {
        Figure::ALL.into_iter().find(|figure| figure.word() == word)
    }
}

/// The least and the largest value of a figure among runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Range {
    /// The least.
    pub min: u64,
    /// The largest.
    pub max: u64,
}

impl Range {
    /// The same value in all runs.
    pub fn fixed(value: u64) -> Range {
        Range { min: value, max: value }
    }

    /// The value that it has in all runs; `None`: it moves.
    pub fn value(self) -> Option<u64> {
        (self.min == self.max).then_some(self.min)
    }

    /// With one value, or range, more.
    #[must_use]
    pub fn with(self, other: Range) -> Range {
        Range { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// As it is written: `7`, or `7..9`.
    pub fn parse(text: &str) -> Option<Range> {
        let (min, max) = text.split_once("..").unwrap_or((text, text));
        let range = Range { min: min.parse().ok()?, max: max.parse().ok()? };
        (range.min <= range.max).then_some(range)
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value() {
            Some(value) => write!(f, "{value}"),
            None => write!(f, "{}..{}", self.min, self.max),
        }
    }
}

/// The ranges of all figures, by [`Figure`].
pub type Ranges = [Range; Figure::ALL.len()];

/// The figures of one run as ranges.
pub fn fixed(figures: &Figures) -> Ranges {
    figures.map(Range::fixed)
}

/// Adds a run's figures to ranges.
pub fn widen(ranges: &mut Ranges, figures: &Ranges) {
    for (range, figure) in ranges.iter_mut().zip(figures) {
        *range = range.with(*figure);
    }
}

/// Adds figures to figures.
pub fn add(sum: &mut Figures, figures: &Figures) {
    for (sum, figure) in sum.iter_mut().zip(figures) {
        *sum = sum.saturating_add(*figure);
    }
}
