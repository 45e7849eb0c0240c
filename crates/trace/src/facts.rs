//! Facts about a process that are properties in the file: how it was recorded, and what recording cost.

use std::collections::{BTreeMap, HashMap};
use std::str::FromStr;

use crate::context::Contexts;
use crate::line::LineKey;

/// What one copy of the runtime wrote for itself. Method ids and class numbers have a meaning only within a copy.
#[derive(Debug, Clone, Default)]
pub struct Copy {
    /// Id maps as they were in the jars: gzip data. Equal ones are given once.
    pub id_maps: Vec<Vec<u8>>,
    /// Class names by class number.
    pub class_names: HashMap<u32, String>,
    /// Chains of callers that objects and waits refer to.
    pub contexts: Contexts,
    /// What the methods have counted whose lines were counted.
    pub lines: BTreeMap<LineKey, Vec<u64>>,
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
    /// Whole stacks, from samples; no calls.
    Samples,
}

impl Copy {
    /// The name of a code region.
    pub fn region_name(&self, number: u32) -> Option<&str> {
        self.properties.get(&format!("region.{number}")).map(String::as_str)
    }

    /// The name of a part of the program, by the number of its link.
    pub fn boundary_name(&self, link: u32) -> Option<&str> {
        self.properties.get(&format!("boundary.{link}")).map(String::as_str)
    }

    /// The id of the method of a call that began before the recording, by the number of its link.
    pub fn running_method(&self, link: u32) -> Option<u32> {
        self.number(&format!("running.{link}"))
    }

    /// What was recorded; `None` if that is not told, or of a kind that this reader does not know.
    pub fn mode(&self) -> Option<Mode> {
        match self.properties.get("record")?.as_str() {
            "counts" => Some(Mode::Counts),
            "tree" => Some(Mode::Tree),
            "trace" => Some(Mode::Trace),
            "samples" => Some(Mode::Samples),
            _ => None,
        }
    }

    /// What the samples of stacks are of, such as `cycles`; `None`: CPU time.
    pub fn sampled_event(&self) -> Option<&str> {
        self.properties.get("samples.event").map(String::as_str)
    }

    /// A property that is a number, such as `limit.depth`.
    pub fn number<N: FromStr>(&self, key: &str) -> Option<N> {
        self.properties.get(key)?.trim().parse().ok()
    }
}
