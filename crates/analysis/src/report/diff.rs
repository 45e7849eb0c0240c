//! diff: what changed between two models, or between the runs of two sides, by method and by context: calls, base and cum, absolute and
//! relative; what is known to differ first, of that the largest change of base.
//!
//! All runs are laid into one tree whose resources are those of each run; then methods are its consumers and contexts its nodes. Contexts are
//! the same if all names on the way to them are; levels that never are (processes, threads) are for the caller to merge. Only resources
//! that all runs have are compared; `calls` is one. What counts as a difference: [`interval`](super::interval), and for times of samples
//! [`samples`]; of the latter, rows that cannot be told apart are not listed.

mod document;
mod samples;
mod sides;
mod text;

use std::collections::BTreeSet;
use std::io::Write;

use serde_json::Value;

use super::interval::{Certainty, Difference, Figure, Verdict};
use super::{Error, Format, Options, Sort, UnknownResource, latency_diff};
use crate::arcs::{Arcs, FunctionId};
use crate::export::timeline::ns_per_unit;
use crate::latency::Latency;
use crate::model::{Arcflow, Kind, NodeId, Resource};
use crate::thread_time::is_sampled;
use crate::uncertainty::{self, Uncertainty};
use samples::{Limit, Sampling};
pub use sides::{Sides, check_comparable, run_of};

/// The resource that is calls.
const CALLS: &str = "calls";

/// Writes the report of the runs before and after; `true`: they differ.
///
/// # Errors
/// A resource that one of the models does not have, or the output failed.
pub fn write(
    out: &mut dyn Write,
    before: &[Arcflow],
    after: &[Arcflow],
    options: &Options<'_>,
) -> Result<bool, Error> {
    write_with(out, before, after, None, options)
}

/// The same, and how long calls took on both sides, but for CSV.
///
/// # Errors
/// As of [`write`].
pub fn write_with(
    out: &mut dyn Write,
    before: &[Arcflow],
    after: &[Arcflow],
    latency: Option<[&Latency; 2]>,
    options: &Options<'_>,
) -> Result<bool, Error> {
    let diff = Diff::new(before, after, options)?;
    let found = diff.found();
    let changes = [&found.changes[0][..], &found.changes[1]];
    match options.format {
        Format::Text => {
            diff.text(out, changes, found.rest)?;
            latency.map_or(Ok(()), |sides| latency_diff::write(out, sides, &after[0], options))?;
        }
        Format::Json => {
            let mut document = diff.document(&found);
            if let Some(sides) = latency {
                document.put("latency", latency_diff::document(sides, options));
            }
            document.print(out)?;
        }
        Format::Csv => diff.table(out, changes)?,
    }
    Ok(found.differs)
}

/// The same as JSON has it.
///
/// # Errors
/// A resource that one of the models does not have.
pub fn document(before: &[Arcflow], after: &[Arcflow], options: &Options<'_>) -> Result<Value, Error> {
    let diff = Diff::new(before, after, options)?;
    Ok(diff.document(&diff.found()).into_value())
}

struct Diff<'a> {
    options: &'a Options<'a>,
    /// Calls, then what all have.
    resources: Vec<Resource>,
    /// Indices of those that are shown.
    shown: Vec<usize>,
    uncertain: Vec<Uncertainty>,
    /// Runs before and after.
    runs: [usize; 2],
    /// Resources of each run, run by run.
    all: Arcflow,
    arcs: Arcs,
    cum: Vec<f64>,
    /// For methods, and for contexts.
    certainty: [Certainty; 2],
    /// The same of times, where they are samples in all runs.
    sampling: Option<(Sampling, [Limit; 2])>,
    /// Runs whose times are samples, if the others' are not.
    differently: Option<usize>,
    /// Whether the times of each run are corrected.
    corrections: Vec<Value>,
}

/// A method or context that is not the same in all runs.
struct Change {
    of: Changed,
    differs: bool,
    /// It does so in a resource that is shown, and not in calls alone.
    is_shown: bool,
    /// What it is sorted by.
    weight: f64,
}

/// Rows that are not listed.
#[derive(Debug, Clone, Copy)]
struct Rest {
    /// What cannot be told to differ; where times are no samples it is listed nevertheless.
    not_told_apart: usize,
    /// What differs in calls alone.
    in_calls: usize,
}

/// Methods, then contexts.
struct Found {
    changes: [Vec<Change>; 2],
    rest: [Rest; 2],
    /// Any of them does.
    differs: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Changed {
    Method(FunctionId),
    Context(NodeId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Base,
    Cum,
}

impl<'a> Diff<'a> {
    fn new(before: &[Arcflow], after: &[Arcflow], options: &'a Options<'a>) -> Result<Diff<'a>, Error> {
        let runs: Vec<&Arcflow> = before.iter().chain(after).collect();
        let events =
            runs.iter().filter_map(|run| Some(run.resources()[run.sampled_resource()?].name.as_str()));
        let events: Vec<&str> = events.collect::<BTreeSet<_>>().into_iter().collect();
        if let [one, other, ..] = events[..] {
            return Err(Error::OtherSamples(one.to_owned(), other.to_owned()));
        }
        let mut resources = vec![Resource { name: CALLS.into(), unit: String::new() }];
        let first = runs.first().map_or(&[][..], |run| run.resources());
        let is_common = |resource: &&Resource| runs.iter().all(|run| run.resources().contains(resource));
        resources.extend(first.iter().filter(is_common).cloned());
        // What is requested, from what all have.
        let common = Arcflow::new(resources[1..].to_vec());
        let shown = shown(options, &common)?;
        let uncertain = (0..common.resources().len()).map(|r| Uncertainty::of(&common, r));
        let uncertain = std::iter::once(Uncertainty::default()).chain(uncertain).collect();
        let of_run = |run: usize| {
            let name =
                move |r: &Resource| Resource { name: format!("{} {run}", r.name), unit: r.unit.clone() };
            resources.iter().map(name)
        };
        let mut all = Arcflow::new((0..runs.len()).flat_map(of_run).collect());
        for (run, model) in runs.iter().enumerate() {
            all.origins.merge(&model.origins);
            let offset = run * resources.len();
            let indices: Vec<_> = resources[1..].iter().map(|r| model.resource(&r.name)).collect();
            let mut places = vec![Arcflow::ROOT; model.nodes().len()];
            for (i, node) in model.nodes().iter().enumerate() {
                if i > 0 {
                    let consumer = all.consumer(model.name(node.consumer));
                    places[i] = all.child(places[node.parent.0 as usize], node.kind, consumer);
                }
                let from = model.base(NodeId(i as u32));
                let to = &mut all.base_mut(places[i])[offset..];
                to[0] += node.n as f64;
                for (r, index) in indices.iter().enumerate() {
                    to[r + 1] += index.map_or(0.0, |index| from[index]);
                }
            }
        }
        let (arcs, cum) = (Arcs::new(&all), all.cum());
        // Calls, and base and cum of each resource; half of the level for methods, half for contexts.
        let figures = 1 + 2 * shown.len();
        let rows = [arcs.functions().len(), all.nodes().len()];
        let certainty = rows.map(|rows| Certainty::of(2 * rows * figures));
        let corrections = runs.iter().map(|run| run.correction.json().unwrap_or_default()).collect();
        let sampled = runs.iter().filter(|run| is_sampled(run)).count();
        let differently = Some(sampled).filter(|&sampled| sampled > 0 && sampled < runs.len());
        let runs = [before.len(), after.len()];
        let mut diff = Diff {
            options,
            resources,
            shown,
            uncertain,
            runs,
            all,
            arcs,
            cum,
            certainty,
            sampling: None,
            differently,
            corrections,
        };
        let sampling = events.first().and_then(|sampled| Sampling::of(&diff, sampled));
        diff.sampling = sampling.map(|sampling| (sampling, diff.limits(&sampling)));
        Ok(diff)
    }

    /// The resource whose change decides: the first, or calls.
    fn deciding(&self) -> usize {
        match self.options.sort {
            Some(Sort::Calls) => 0,
            _ => self.shown.first().copied().unwrap_or(0),
        }
    }

    /// Base or cum, all figures of a run after those of the run before it.
    fn figures(&self, of: Changed, part: Part) -> &[f64] {
        let width = self.all.resources().len();
        match (of, part) {
            (Changed::Method(id), Part::Base) => self.arcs.self_base(id),
            (Changed::Method(id), Part::Cum) => self.arcs.self_cum(id),
            (Changed::Context(id), Part::Base) => self.all.base(id),
            (Changed::Context(id), Part::Cum) => &self.cum[id.0 as usize * width..][..width],
        }
    }

    fn difference(&self, of: Changed, part: Part, r: usize) -> Difference {
        let table = usize::from(matches!(of, Changed::Context(_)));
        if let Some((sampling, limits)) = self.sampling.as_ref().filter(|(sampling, _)| sampling.decides(r)) {
            return sampling.difference(self.figures(of, part), r, self.resources.len(), &limits[table]);
        }
        let certainty = self.certainty[table];
        self.compare(self.figures(of, part), part, r, certainty)
    }

    fn compare(&self, figures: &[f64], part: Part, r: usize, certainty: Certainty) -> Difference {
        let count = self.resources.len();
        let runs: Vec<&[f64]> = figures.chunks(count).collect();
        let (before, after) = runs.split_at(self.runs[0]);
        let values = |side: &[&[f64]]| side.iter().map(|run| run[r]).collect::<Vec<_>>();
        let unit = ns_per_unit(&self.resources[r].unit);
        // What a calibration is off by is off in all runs: only what there is more of in one side counts.
        let noise = |side: &[&[f64]]| {
            let errors = side.iter().filter_map(|run| self.error(run, part, r));
            errors.map(|error| error.noise).sum::<f64>() / side.len() as f64
        };
        // A clock of whole ns errs by one at each call.
        let calls = runs.iter().map(|run| run[0]).fold(0.0, f64::max);
        let least = unit.map_or(0.0, |ns| calls.sqrt() / ns + (noise(after) - noise(before)).abs());
        let figure = Figure { is_measured: unit.is_some(), least };
        certainty.compare(&values(before), &values(after), figure)
    }

    /// What a figure of a run may be off by.
    fn error(&self, run: &[f64], part: Part, r: usize) -> Option<uncertainty::Error> {
        // Calls stand before what accompanies a resource.
        match part {
            Part::Base => self.uncertain[r].base(&run[1..]),
            Part::Cum => self.uncertain[r].cum(&run[1..]),
        }
    }

    fn consumer(&self, of: Changed) -> (Kind, &str) {
        let (kind, consumer) = match of {
            Changed::Method(id) => (self.arcs.function(id).kind, self.arcs.function(id).consumer),
            Changed::Context(id) => (self.all.node(id).kind, self.all.node(id).consumer),
        };
        (kind, self.all.name(consumer))
    }

    fn change(&self, of: Changed) -> Option<Change> {
        let (kind, name) = self.consumer(of);
        if !self.options.wants(kind, name) {
            return None;
        }
        // Of calls there is no cum.
        let with_cum = self.shown.iter().filter(|r| **r > 0).map(|&r| (Part::Cum, r));
        let calls = (!self.only_calls()).then_some(0);
        let parts = self.shown.iter().copied().chain(calls).map(|r| (Part::Base, r)).chain(with_cum);
        let verdicts: Vec<_> = parts.map(|(part, r)| (r, self.difference(of, part, r).verdict)).collect();
        if verdicts.iter().all(|(_, verdict)| *verdict == Verdict::Equal) {
            return None;
        }
        let differs = verdicts.iter().any(|(_, verdict)| *verdict == Verdict::Differs);
        let is_shown =
            verdicts.iter().any(|(r, verdict)| *verdict == Verdict::Differs && self.shown.contains(r));
        let part = if self.options.sort == Some(Sort::Cum) { Part::Cum } else { Part::Base };
        let Difference { before, after, .. } = self.difference(of, part, self.deciding());
        Some(Change { of, differs, is_shown, weight: (after - before).abs() })
    }

    fn only_calls(&self) -> bool {
        self.shown == [0]
    }

    fn methods(&self) -> Vec<Change> {
        self.sorted(self.arcs.ids().filter_map(|id| self.change(Changed::Method(id))).collect())
    }

    fn contexts(&self) -> Vec<Change> {
        let nodes = (1..self.all.nodes().len() as u32).map(NodeId);
        self.sorted(nodes.filter_map(|id| self.change(Changed::Context(id))).collect())
    }

    /// Of times of samples only what is told to differ is listed, unless it was requested by its name: for people, what differs in what they see.
    /// Two runs of the same work differ in the calls of a few methods, too.
    fn take_rest(&self, changes: &mut Vec<Change>) -> Rest {
        let all = changes.len();
        let rest = changes.iter().filter(|change| !change.differs).count();
        if self.sampling.is_none() || self.options.select.is_some() {
            return Rest { not_told_apart: rest, in_calls: 0 };
        }
        let is_text = self.options.format == Format::Text;
        changes.retain(|change| if is_text { change.is_shown } else { change.differs });
        Rest { not_told_apart: rest, in_calls: all - rest - changes.len() }
    }

    fn sorted(&self, mut changes: Vec<Change>) -> Vec<Change> {
        let key = |change: &Change| (self.consumer(change.of).1, change.of);
        if self.options.sort == Some(Sort::Name) {
            changes.sort_by(|a, b| key(a).cmp(&key(b)));
        } else {
            let order =
                |a: &Change, b: &Change| b.weight.total_cmp(&a.weight).then_with(|| key(a).cmp(&key(b)));
            changes.sort_by(|a, b| b.differs.cmp(&a.differs).then_with(|| order(a, b)));
        }
        changes
    }

    /// The names on the way to a context.
    fn path(&self, id: NodeId) -> Vec<&str> {
        let mut path = Vec::new();
        let mut at = id;
        while self.all.node(at).kind != Kind::Root {
            path.push(self.consumer(Changed::Context(at)).1);
            at = self.all.node(at).parent;
        }
        path.reverse();
        path
    }

    fn found(&self) -> Found {
        let mut changes = [self.methods(), self.contexts()];
        let differs = changes.iter().flatten().any(|change| change.differs);
        let rest = changes.each_mut().map(|changes| self.take_rest(changes));
        Found { changes, rest, differs }
    }

    fn top<'c>(&self, changes: &'c [Change]) -> &'c [Change] {
        &changes[..changes.len().min(self.options.top.unwrap_or(usize::MAX))]
    }
}

/// The resources to show: those that are requested, `calls` among them, or the usual ones.
fn shown(options: &Options<'_>, common: &Arcflow) -> Result<Vec<usize>, UnknownResource> {
    let (calls, others): (Vec<_>, Vec<_>) = options.resources.iter().cloned().partition(|name| name == CALLS);
    let mut shown = if calls.is_empty() { Vec::new() } else { vec![0] };
    if calls.is_empty() || !others.is_empty() {
        let options = Options { resources: &others, ..*options };
        shown.extend(options.resources(common)?.into_iter().map(|r| r + 1));
    }
    Ok(shown)
}
