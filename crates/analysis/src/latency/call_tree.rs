//! What one call did: the tree of its calls, and how it differs from that of another call of the method.

use std::collections::BTreeMap;

use super::Call;
use crate::model::{Arcflow, Kind, NodeId};
use crate::session::{Error, ProfileFile};
use crate::timeline::Timeline;

/// A call with all that was called within.
pub struct CallTree {
    pub call: Call,
    /// Its method below the root, and below it what it called; as measured, in [`crate::timeline::RESOURCE`].
    pub tree: Arcflow,
    /// ns within the call that the thread waited for monitors and in `Object.wait`, as far as waits are recorded.
    pub waited: u64,
}

/// A method that took longer in one call than in another.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The method.
    pub name: String,
    /// ns that it took itself in the one, and in the other.
    pub ns: (f64, f64),
    /// Its calls in the one, and in the other.
    pub calls: (u64, u64),
}

impl CallTree {
    /// Of a call of `method`. None: the trace does not have it any more.
    ///
    /// # Errors
    /// A profile that cannot be read.
    pub fn new(
        timeline: &Timeline,
        files: &[ProfileFile],
        method: &str,
        call: Call,
    ) -> Result<Option<CallTree>, Error> {
        let model = timeline.model(files, &[call.row], (call.from, call.to))?;
        // The callers of the call took no time within it; the outermost call of the method is the call.
        let is_it = |id: &NodeId| {
            let node = model.node(*id);
            node.kind == Kind::Method && model.name(node.consumer) == method
        };
        let Some(top) = model.ids().find(is_it) else { return Ok(None) };
        let tree = model.beneath(top, &model.children());
        let waits = timeline.rows.get(call.row).map_or(&[][..], |row| &row.waits);
        let within = |from: u64, to: u64| to.min(call.to).saturating_sub(from.max(call.from));
        let waited = waits.iter().map(|wait| within(wait.from, wait.to)).sum();
        Ok(Some(CallTree { call, tree, waited }))
    }

    /// What methods took themselves, and their calls.
    fn own(&self) -> BTreeMap<&str, (f64, u64)> {
        let mut own: BTreeMap<&str, (f64, u64)> = BTreeMap::new();
        for id in self.tree.ids().skip(1) {
            let node = self.tree.node(id);
            let sum = own.entry(self.tree.name(node.consumer)).or_default();
            sum.0 += self.tree.base(id)[0];
            sum.1 += node.n;
        }
        own
    }

    /// The methods that took longer here than in another call, the largest difference first; those that make less than a hundredth of the call
    /// are left out.
    pub fn more_than(&self, other: &CallTree) -> Vec<Difference> {
        let (own, others) = (self.own(), other.own());
        let more = own.into_iter().map(|(name, (ns, calls))| {
            let (before, met) = others.get(name).copied().unwrap_or_default();
            Difference { name: name.to_owned(), ns: (ns, before), calls: (calls, met) }
        });
        let least = self.call.ns as f64 / 100.0;
        let mut more: Vec<_> = more.filter(|row| row.ns.0 - row.ns.1 >= least && row.ns.0 > 0.0).collect();
        more.sort_by(|a, b| {
            (b.ns.0 - b.ns.1).total_cmp(&(a.ns.0 - a.ns.1)).then_with(|| a.name.cmp(&b.name))
        });
        more
    }
}
