//! A process that was read, and its figures as the columns have them.

use super::schema::VALUES;
use crate::context_key::ContextKey;
use crate::load::ContextCalls;
use crate::model::{Arcflow, KINDS, Node, NodeId, Resource};
use crate::session::{Error, Session};
use crate::thread_time::RUNNING;
use crate::uncertainty::{accompanies, companions};

/// A column, and what it has of a context's calls.
type End = (&'static str, fn(&ContextCalls) -> u64);

pub(super) const ENDS: [End; 6] = [
    ("exits", |of| of.counts.closes.exits),
    ("unwinds", |of| of.counts.closes.unwinds),
    ("aborted", |of| of.counts.closes.aborted),
    ("unclosed", |of| of.counts.closes.unclosed),
    ("unmatched", |of| of.counts.unmatched),
    ("open", |of| of.counts.open),
];

/// The column of samples of another event than CPU time.
const SAMPLED: &str = "sampled";

/// Where a figure of the model goes: index of its resource; column; whether callees are included.
pub(super) type Figure = (usize, usize, bool);

/// A process that was read: its model, and what is made of it by itself.
pub(super) struct Process {
    pub(super) session: Session,
    /// Keys by node, by exact names and by stable ones.
    pub(super) contexts: Vec<[ContextKey; 2]>,
    pub(super) through: Vec<Option<NodeId>>,
    /// With callees.
    pub(super) cum: Vec<f64>,
}

impl Process {
    pub(super) fn new(session: Session) -> Process {
        let model = &session.model;
        let (contexts, through) = (ContextKey::exact_of_model(model), through(model));
        Process { contexts, through, cum: model.cum(), session }
    }

    /// The event that was sampled, if it is not CPU time.
    fn event(&self) -> Option<(usize, &Resource)> {
        event(&self.session.model)
    }

    /// The columns that the model has figures for.
    ///
    /// # Errors
    /// A resource that the schema does not know.
    pub(super) fn figures(&self) -> Result<Vec<Figure>, Error> {
        let model = &self.session.model;
        let column = |name: String| {
            let unknown = || {
                Error::Request(format!(
                    "--format parquet has no column for the resource {}",
                    name.replace('_', "-")
                ))
            };
            VALUES.position(&name).ok_or_else(unknown)
        };
        let mut figures = Vec::new();
        let event = self.event().map(|(r, _)| r);
        // Both are told by how calls ended. Events have no time of probes.
        let is_left_out = |name: &str| name == "unwinds" || event.is_some() && name == "probes";
        for (r, resource) in model.resources().iter().enumerate() {
            if !accompanies(resource) && !is_left_out(&resource.name) {
                let name = if event == Some(r) { SAMPLED.into() } else { resource.name.replace('-', "_") };
                figures.push((r, column(name.clone())?, false));
                figures.push((r, column(format!("{name}_total"))?, true));
            }
        }
        let times = [("wall", "wall"), ("wall-raw", "wall"), ("cpu", "cpu"), (RUNNING, RUNNING)];
        let event = self.event().map(|(_, event)| (&*event.name, SAMPLED));
        // Thread time may be that event.
        let times = times.into_iter().filter(|(whole, _)| event.is_none_or(|(event, _)| event != *whole));
        for (whole, name) in times.chain(event) {
            let kinds = ["noise", "noise_total", "variance", "variance_total"];
            for (i, (resource, kind)) in companions(whole, "").into_iter().zip(kinds).enumerate() {
                if let Some(r) = model.resource(&resource.name) {
                    figures.push((r, column(format!("{name}_{kind}"))?, i % 2 == 1));
                }
            }
        }
        Ok(figures)
    }
}

/// The resource of another event than CPU time that was sampled, and where it is.
pub(super) fn event(model: &Arcflow) -> Option<(usize, &Resource)> {
    let r = model.sampled_resource()?;
    Some((r, &model.resources()[r])).filter(|(_, resource)| resource.name != RUNNING)
}

/// By node: of a context within one of the same consumer, the context that the innermost such one called on the way to it.
fn through(model: &Arcflow) -> Vec<Option<NodeId>> {
    let children = model.children();
    let mut through = vec![None; model.nodes().len()];
    // The innermost open context of each consumer, by its place on the path; 0: there is none.
    let mut open = vec![0; model.names().count() * KINDS];
    let slot = |node: &Node| node.consumer.0 as usize * KINDS + node.kind as usize;
    let mut path = vec![(Arcflow::ROOT, 0, 0)];
    while let Some((id, next, before)) = path.last_mut() {
        if let Some(&child) = children.of(*id).get(*next) {
            *next += 1;
            let node = model.node(child);
            let before = std::mem::replace(&mut open[slot(node)], path.len());
            if before != 0 {
                through[child.0 as usize] = Some(path.get(before + 1).map_or(child, |of| of.0));
            }
            path.push((child, 0, before));
        } else {
            open[slot(model.node(*id))] = *before;
            path.pop();
        }
    }
    through
}

/// A figure as the whole number that it is.
pub(super) fn whole(value: f64) -> Option<i64> {
    let whole = value as i64;
    (whole as f64 == value && value.abs() < 9.0e18).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Kind;

    #[test]
    fn a_context_within_one_of_its_method_says_which_way_led_there() {
        let mut model = Arcflow::new(Vec::new());
        // a > b > a > a > c > b, and a > c beside it.
        for path in ["a b a a c b", "a c"] {
            let mut at = Arcflow::ROOT;
            for name in path.split(' ') {
                let consumer = model.consumer(name);
                at = model.child(at, Kind::Method, consumer);
            }
        }
        let names: Vec<_> = model.nodes().iter().map(|node| model.name(node.consumer)).collect();
        assert_eq!(names[1..], ["a", "b", "a", "a", "c", "b", "c"]);
        let through: Vec<_> = through(&model).iter().map(|id| id.map(|id| id.0)).collect();
        // The second a came by the first b; the third was called by the second; the last b came by the second a.
        assert_eq!(through, [None, None, None, Some(2), Some(4), None, Some(3), None]);
    }
}
