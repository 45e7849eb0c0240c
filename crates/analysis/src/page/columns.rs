//! The columns of a page: figures of contexts, packed.

use serde::Serialize;

use super::LEFT_OUT;
use crate::arcs::Arcs;
use crate::model::{Arcflow, Kind, Node, NodeId};
use crate::thread_time::{ThreadTime, whole_of};
use crate::uncertainty::{Error, Uncertainty};

/// A larger error is not a whole number to the page.
const MOST_ERROR: u64 = 1 << 51;

/// A column, as the header has it.
#[derive(Debug, Serialize)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) encoding: &'static str,
    pub(super) bytes: usize,
    /// Of `signed-from`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) from: Vec<String>,
}

#[derive(Default)]
pub(super) struct Columns {
    pub(super) plan: Vec<Column>,
    pub(super) bytes: Vec<u8>,
}

impl Columns {
    pub(super) fn contexts(&mut self, model: &Arcflow, arcs: &Arcs, whole: &Arcflow) {
        // Numbers of consumers are those of the whole model.
        let mut functions = crate::hash::HashMap::default();
        for id in std::iter::once(Arcs::ROOT).chain(arcs.ids()) {
            let function = arcs.function(id);
            functions.insert((function.kind, whole.name(function.consumer)), id.0);
        }
        // The row behind the others.
        functions.entry((Kind::Deeper, LEFT_OUT)).or_insert(arcs.functions().len() as u32);
        let nodes = model.nodes();
        let parent = |(i, node): (usize, &Node)| i as u64 - u64::from(node.parent.0);
        self.unsigned("parent", nodes.iter().enumerate().map(parent));
        let function = |node: &Node| functions[&(node.kind, model.name(node.consumer))];
        self.unsigned("function", nodes.iter().map(|node| u64::from(function(node))));
        self.unsigned("calls", nodes.iter().map(|node| node.n));
    }

    pub(super) fn figures(&mut self, model: &Arcflow, shown: &[usize]) {
        let cum = model.cum();
        let time = ThreadTime::of(model);
        for &r in shown {
            let name = &model.resources()[r].name;
            let base: Vec<f64> = model.ids().map(|id| model.base(id)[r]).collect();
            let is_whole = base.iter().all(|value| value.fract() == 0.0 && value.abs() < 9.0e15);
            // Thread time is the sum of its parts, and as measured it is not much more.
            let parts = match time {
                Some(time) if Some(r) == time.whole => vec![time.running, time.waiting],
                Some(time) if name == "wall-raw" => time.whole.into_iter().collect(),
                _ => Vec::new(),
            };
            if !is_whole {
                self.floats(name, &base);
            } else if parts.is_empty() || !parts.iter().all(|part| shown.contains(part)) {
                self.signed(name, Vec::new(), base.iter().map(|&value| value as i64));
            } else {
                let rest = model.ids().map(|id| {
                    let base = model.base(id);
                    (base[r] - parts.iter().map(|&part| base[part]).sum::<f64>()) as i64
                });
                let from = parts.iter().map(|&part| model.resources()[part].name.clone()).collect();
                self.signed(name, from, rest);
            }
            self.errors(model, r, &cum);
        }
    }

    fn errors(&mut self, model: &Arcflow, r: usize, cum: &[f64]) {
        let uncertain = Uncertainty::of(model, r);
        if !uncertain.is_known() {
            return;
        }
        let name = &model.resources()[r].name;
        let base = |id: NodeId| model.base(id);
        let cum = |id: NodeId| &cum[id.0 as usize * base(id).len()..][..base(id).len()];
        if whole_of(model, name).is_none() {
            let whole = |error: Option<Error>| {
                error.map_or(0, |error| (error.total().round() as u64).min(MOST_ERROR))
            };
            self.unsigned(&format!("{name} error"), model.ids().map(|id| whole(uncertain.base(base(id)))));
            self.unsigned(
                &format!("{name} total error"),
                model.ids().map(|id| whole(uncertain.cum(cum(id)))),
            );
        }
        let hides = |error: Option<Error>, value: f64| u64::from(error.is_some_and(|e| e.hides(value)));
        let hidden = model.ids().map(|id| {
            hides(uncertain.base(base(id)), base(id)[r]) | hides(uncertain.cum(cum(id)), cum(id)[r]) << 1
        });
        self.unsigned(&format!("{name} hidden"), hidden);
    }

    fn column(&mut self, name: &str, encoding: &'static str, from: Vec<String>, start: usize) {
        self.plan.push(Column { name: name.to_owned(), encoding, bytes: self.bytes.len() - start, from });
    }

    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    pub(super) fn unsigned(&mut self, name: &str, values: impl Iterator<Item = u64>) {
        let start = self.bytes.len();
        values.for_each(|value| self.number(value));
        self.column(name, "unsigned", Vec::new(), start);
    }

    fn signed(&mut self, name: &str, from: Vec<String>, values: impl Iterator<Item = i64>) {
        let start = self.bytes.len();
        values.for_each(|value| self.number((value << 1 ^ value >> 63) as u64));
        self.column(name, if from.is_empty() { "signed" } else { "signed-from" }, from, start);
    }

    fn floats(&mut self, name: &str, values: &[f64]) {
        let start = self.bytes.len();
        for byte in 0..8 {
            self.bytes.extend(values.iter().map(|value| value.to_le_bytes()[byte]));
        }
        self.column(name, "float", Vec::new(), start);
    }
}
