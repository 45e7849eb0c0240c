//! Which part of a frame is of which path: what a frame did for several paths is split between them.

use super::calls::NONE;
use super::paths::{Path, Paths};
use super::view::View;
use crate::load::ContextCalls;
use crate::model::Arcflow;

/// A part of what a node has: of its figures and of its calls, each from one share to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) figures: (f64, f64),
    calls: (f64, f64),
}

impl Part {
    pub(super) const ALL: Part = Part { figures: (0.0, 1.0), calls: (0.0, 1.0) };

    pub(super) fn of(self, value: f64) -> f64 {
        share(value, self.figures)
    }

    pub(super) fn of_calls(self, calls: u64) -> u64 {
        share(calls as f64, self.calls) as u64
    }

    /// Of the calls of a context.
    pub(super) fn of_context(self, calls: &ContextCalls) -> ContextCalls {
        if self.is_whole() { *calls } else { calls.part(|n| self.of_calls(n), |value| self.of(value)) }
    }

    fn is_whole(self) -> bool {
        self.is_all() && self.calls.0 <= 0.0 && self.calls.1 >= 1.0
    }

    pub(super) fn is_all(self) -> bool {
        self.figures.0 <= 0.0 && self.figures.1 >= 1.0
    }
}

/// In whole numbers, so that all parts add up to the value.
fn share(value: f64, (from, to): (f64, f64)) -> f64 {
    if from == 0.0 && to == 1.0 { value } else { (value * to).round() - (value * from).round() }
}

/// The part of its frame that each path has, and the part of each frame that none has.
pub(super) fn parts(paths: &Paths, view: &View) -> (Vec<Part>, Vec<Part>) {
    let weight = |path: &Path| path.server_ns as f64 + path.calls as f64;
    let whole: Vec<f64> = paths
        .frames
        .all
        .iter()
        .zip(&paths.served)
        .map(|(frame, served)| {
            let known = served.ns as f64 + served.calls as f64;
            // Calls of the tree that have no record are as those that have.
            let missing = frame.entries.saturating_sub(served.calls) as f64;
            known + if served.calls == 0 { missing } else { known / served.calls as f64 * missing }
        })
        .collect();
    let mut used = vec![0.0; whole.len()];
    let mut calls = vec![0u64; whole.len()];
    let entries = |frame: usize| paths.frames.all[frame].entries.max(paths.served[frame].calls);
    let parts = paths.all.iter().map(|path| {
        let frame = path.way.frame as usize;
        let is_left_out = path.way.site == Arcflow::ROOT && !view.is_server;
        if path.way.frame == NONE || is_left_out {
            return Part::ALL;
        }
        let of_calls = |calls: u64| calls as f64 / entries(frame).max(1) as f64;
        let (from, first) = (used[frame] / whole[frame].max(1.0), of_calls(calls[frame]));
        used[frame] += weight(path);
        calls[frame] += path.calls;
        let is_last = calls[frame] >= entries(frame);
        let to = if is_last { 1.0 } else { (used[frame] / whole[frame].max(1.0)).min(1.0) };
        Part { figures: (from, to), calls: (first, of_calls(calls[frame]).min(1.0)) }
    });
    let parts: Vec<Part> = parts.collect();
    let left = (0..whole.len()).map(|frame| {
        let is_over = calls[frame] >= entries(frame);
        let from = if is_over { 1.0 } else { (used[frame] / whole[frame].max(1.0)).min(1.0) };
        let first = if is_over { 1.0 } else { calls[frame] as f64 / entries(frame) as f64 };
        Part { figures: (from, 1.0), calls: (first, 1.0) }
    });
    (parts, left.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_whole_is_as_it_was() {
        let mut calls = ContextCalls::default();
        // Counts of a profile that was copied while it was written: they need not balance.
        (calls.counts.entries, calls.counts.closes.exits, calls.counts.bytecodes) = (10, 7, (1 << 53) + 1);
        (calls.times.calls, calls.times.ended_ns) = (10, 640.0);
        assert_eq!(Part::ALL.of_context(&calls), calls);
        let (all, first, second) = ((0.0, 1.0), (0.0, 0.25), (0.25, 1.0));
        for (calls_part, calls_of) in [(all, 10), (first, 3), (second, 7)] {
            for (figures, ns) in [(all, 640.0), (first, 160.0), (second, 480.0)] {
                let part = Part { figures, calls: calls_part };
                let of = part.of_context(&calls);
                assert_eq!((of.counts.entries, of.times.ended_ns), (calls_of, ns), "{part:?}");
            }
        }
    }
}
