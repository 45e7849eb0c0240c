//! Facts about a process that are properties in the file: how it was recorded, and what recording cost.

use std::collections::{BTreeMap, HashMap};
use std::str::FromStr;

use crate::context::Contexts;

/// What one copy of the runtime wrote for itself. Method ids and class numbers have a meaning only within a copy.
#[derive(Debug, Clone, Default)]
pub struct Copy {
    /// Id maps as they were in the jars: gzip data. Equal ones are given once.
    pub id_maps: Vec<Vec<u8>>,
    /// Class names by class number.
    pub class_names: HashMap<u32, String>,
    /// Chains of callers that objects and waits refer to.
    pub contexts: Contexts,
    /// Facts about the process, such as `java.version`.
    pub properties: BTreeMap<String, String>,
}

/// What is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Counts per method.
    Counts,
    /// Calling context trees.
    Tree,
    /// Every event.
    Trace,
}

/// What recording costs, in ns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// Part of the cost of one call's probes that falls into the call's own time.
    pub inner: f64,
    /// Part that falls into its caller's time.
    pub outer: f64,
    /// How much inner + outer differed between rounds: half the distance between the quartiles; 0 if it is not told.
    pub spread: f64,
    /// Cost of one reading of the clock.
    pub clock: Option<f64>,
    /// Like `inner`, for a call that is counted but not timed.
    pub inner_untimed: Option<f64>,
    /// Like `outer`, for a call that is counted but not timed.
    pub outer_untimed: Option<f64>,
    /// Cost of one allocation event.
    pub allocation: Option<f64>,
}

impl Copy {
    /// The name of a code region.
    pub fn region_name(&self, number: u32) -> Option<&str> {
        self.properties.get(&format!("region.{number}")).map(String::as_str)
    }

    /// What was recorded; `None` if that is not told, or of a kind that this reader does not know.
    pub fn mode(&self) -> Option<Mode> {
        match self.properties.get("record")?.as_str() {
            "counts" => Some(Mode::Counts),
            "tree" => Some(Mode::Tree),
            "trace" => Some(Mode::Trace),
            _ => None,
        }
    }

    /// What recording cost; `None` unless both inner and outer are told.
    pub fn calibration(&self) -> Option<Calibration> {
        let ns = |key: &str| self.number(&format!("calibration.{key}")).filter(|ns: &f64| ns.is_finite());
        Some(Calibration {
            inner: ns("inner")?,
            outer: ns("outer")?,
            spread: ns("spread").unwrap_or(0.0),
            clock: ns("clock"),
            inner_untimed: ns("inner.untimed"),
            outer_untimed: ns("outer.untimed"),
            allocation: ns("allocation"),
        })
    }

    /// A property that is a number, such as `limit.depth` or `timing.head`.
    pub fn number<N: FromStr>(&self, key: &str) -> Option<N> {
        self.properties.get(key)?.trim().parse().ok()
    }
}
