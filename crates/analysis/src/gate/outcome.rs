//! What a check came to.

use serde::Serialize;

use super::figure::{Figure, Range};
use super::growth::Growth;

/// Something that may not be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What grew, or was limited.
    pub figure: Figure,
    /// The method whose figure it is.
    pub method: String,
    /// Below which method it grew; `None`: in the program as a whole, or it is not known where.
    pub place: Option<String>,
    /// Calls of that method.
    pub place_calls: u64,
    /// The figure below it before; `None`: a budget says what is allowed.
    pub before: Option<u64>,
    /// The figure below it now; the range is that of the runs that were checked where they differ.
    pub now: Range,
    /// What a budget allows, such as `<= 1`.
    pub allowed: Option<String>,
    /// Direct callers that contribute, other than the place, with how much more comes from each; the largest first.
    pub from: Vec<(String, u64)>,
    /// The methods of the context that contributes most, outermost first.
    pub path: Vec<String>,
    /// What it grows with.
    pub growth: Option<Growth>,
    /// How many methods more are called more often because of it, as far as that is known.
    pub consequences: usize,
    /// Calls that came with it, its own and those below it.
    #[serde(skip)]
    pub weight: u64,
}

/// A method's figure that is no finding but worth a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Remark {
    pub method: String,
    pub figure: Figure,
    pub before: Range,
    pub now: Range,
}

/// What a check came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// What fails, the largest first; budgets in their order behind what grew.
    pub findings: Vec<Finding>,
    /// Figures that became smaller; the largest first, and how many there are.
    pub smaller: (Vec<Remark>, usize),
    /// Figures that moved before and are beyond twice what was seen; they are not judged.
    pub beyond: (Vec<Remark>, usize),
    /// Figures that never moved, and grew by no more than the order of tables and sorts explains; they are not judged.
    pub ordering: (Vec<Remark>, usize),
    /// Figures that never moved, and differ among the runs that were checked.
    pub unsteady: (Vec<Remark>, usize),
    /// Methods that were judged, and those whose calls move.
    pub methods: (usize, usize),
    /// Calls of the first, and of both, as they were learned.
    pub stable_calls: (u64, u64),
    /// Methods that are called and are not in the baseline.
    pub new_methods: usize,
    /// Runs that were checked, and runs that the baseline comes from.
    pub runs: (usize, u64),
    /// Budgets that were checked.
    pub budgets: usize,
}

impl Outcome {
    /// Whether nothing fails.
    pub fn passes(&self) -> bool {
        self.findings.is_empty()
    }
}

impl Finding {
    /// That `method` has `now`, and nothing else that is known.
    pub(super) fn new(figure: Figure, method: &str, before: Option<u64>, now: Range) -> Finding {
        Finding {
            figure,
            method: method.to_owned(),
            place: None,
            place_calls: 0,
            before,
            now,
            allowed: None,
            from: Vec::new(),
            path: Vec::new(),
            growth: None,
            consequences: 0,
            weight: 0,
        }
    }
}
