//! Rows of consumers: which, and in which order.

use super::{Format, Options, Sort};
use crate::arcs::{Arcs, FunctionId};
use crate::model::{Arcflow, Kind};
use crate::text::below;
use crate::text::{grouped, quantity};
use crate::uncertainty::Uncertainty;

/// A table has at least this many rows if there are as many functions: those that no sample met fill it.
const FEW: usize = 10;

/// Consumers to print, and what was left out.
pub(crate) struct Rows {
    pub(crate) ids: Vec<FunctionId>,
    /// Below the share that is requested.
    pub(crate) below: usize,
    /// Those without a row that no sample met, nor what they called, in words.
    pub(crate) unmet: Option<String>,
    /// Past the number of rows that is requested.
    pub(crate) past: usize,
}

impl Rows {
    /// The consumers that are wanted, sorted by the figure of `resource`.
    pub(crate) fn new(
        model: &Arcflow,
        arcs: &Arcs,
        options: &Options<'_>,
        resource: Option<usize>,
        sort: Sort,
    ) -> Rows {
        let name = |id: FunctionId| model.name(arcs.function(id).consumer);
        let wanted = |id: &FunctionId| {
            let kind = arcs.function(*id).kind;
            kind != Kind::Root && options.wants(kind, name(*id))
        };
        let mut ids: Vec<_> = arcs.ids().filter(wanted).collect();
        // How much of a share they have is not known.
        let folds = options.format == Format::Text && options.select.is_none();
        let mut unmet = match resource.filter(|_| folds && options.prune > 0.0) {
            Some(r) => take_unmet(model, arcs, r, &mut ids),
            None => Vec::new(),
        };
        let all = ids.len();
        if let Some(r) = resource {
            let least = options.prune * arcs.total()[r];
            ids.retain(|&id| arcs.self_cum(id)[r] >= least);
        }
        let below = all - ids.len();
        // A short program is not an empty table: what was called most is there.
        let calls = |id: FunctionId| arcs.function(id).calls;
        unmet.sort_by(|&(a, _), &(b, _)| calls(b).cmp(&calls(a)).then_with(|| name(a).cmp(name(b))));
        let room = FEW.min(options.top.unwrap_or(FEW)).saturating_sub(ids.len()).min(unmet.len());
        ids.extend(unmet.drain(..room).map(|(id, _)| id));
        let key = |id: FunctionId| match (sort, resource) {
            (Sort::Name, _) => 0.0,
            (Sort::Calls, _) | (_, None) => arcs.function(id).calls as f64,
            (Sort::Base, Some(r)) => arcs.self_base(id)[r],
            (Sort::Cum, Some(r)) => arcs.self_cum(id)[r],
        };
        // Of equal ones, what drives more comes first.
        let cum = |id: FunctionId| match (sort, resource) {
            (Sort::Name, _) | (_, None) => 0.0,
            (_, Some(r)) => arcs.self_cum(id)[r],
        };
        let order = |a, b| key(b).total_cmp(&key(a)).then_with(|| cum(b).total_cmp(&cum(a)));
        ids.sort_by(|&a, &b| order(a, b).then_with(|| name(a).cmp(name(b))));
        let kept = options.top.unwrap_or(usize::MAX).min(ids.len());
        let past = ids.len() - kept;
        ids.truncate(kept);
        let unmet = resource.and_then(|r| {
            let (_, bound) = unmet.first()?;
            let contexts = unmet.iter().map(|&(id, _)| u64::from(arcs.function(id).contexts)).sum();
            Some(self::unmet(contexts, *bound, &model.resources()[r].unit))
        });
        Rows { ids, below, unmet, past }
    }

    /// How many were left out.
    pub(crate) fn left(&self) -> usize {
        self.below + self.past
    }

    /// What was left out, in words; empty if nothing was.
    pub(crate) fn left_out(&self, options: &Options<'_>) -> String {
        let mut parts = Vec::new();
        if self.below > 0 {
            parts.push(format!("{} below {} %", self.below, quantity(100.0 * options.prune, "")));
        }
        if self.past > 0 {
            parts.push(format!("{} past the first {}", self.past, self.ids.len()));
        }
        parts.join(", ")
    }
}

/// Takes out what no sample met, where times are samples, and what each of them is less than.
fn take_unmet(model: &Arcflow, arcs: &Arcs, r: usize, ids: &mut Vec<FunctionId>) -> Vec<(FunctionId, f64)> {
    let uncertain = Uncertainty::of(model, r);
    let bound = |id: FunctionId| {
        uncertain.bound(arcs.self_cum(id)).filter(|_| arcs.function(id).kind != Kind::Process)
    };
    let mut unmet = Vec::new();
    ids.retain(|&id| {
        let bound = bound(id);
        unmet.extend(bound.map(|bound| (id, bound)));
        bound.is_none()
    });
    unmet
}

/// Contexts that no sample met: together they are below the bound of one of them.
pub(crate) fn unmet(contexts: u64, bound: f64, unit: &str) -> String {
    let contexts =
        if contexts == 1 { "1 context".to_owned() } else { format!("{} contexts", grouped(contexts)) };
    format!("{contexts}, together {}: no sample was taken in them", below(bound, unit))
}
