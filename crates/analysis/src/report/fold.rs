//! What makes a tree deep without telling more: methods that call themselves, and chains in which each calls only the next.

use crate::hash::HashMap;
use crate::model::{Arcflow, Kind, NodeId};

/// What a tree is folded by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fold {
    /// Calls of a method by itself are part of the call that they are in. No figure of a method changes: only the contexts do.
    pub recursion: bool,
    /// Text has one line for methods each of which called only the next, as often as it was called itself, and consumed less than the share
    /// below which contexts are cut.
    pub chains: bool,
}

/// A model without calls of methods by themselves.
pub(crate) struct Folded {
    pub(crate) model: Arcflow,
    /// How many calls of the method were open at most, where it called itself.
    pub(crate) levels: HashMap<NodeId, u32>,
    /// Contexts that are part of others.
    pub(crate) contexts: usize,
}

/// Adds every context whose method is that of its caller to its caller, with all that is below it.
pub(crate) fn recursion(model: &Arcflow) -> Folded {
    let mut folded = Folded { model: model.emptied(), levels: HashMap::default(), contexts: 0 };
    let target = &mut folded.model;
    let mut places = vec![Arcflow::ROOT; model.nodes().len()];
    let mut depths = vec![1u32; model.nodes().len()];
    for (i, node) in model.nodes().iter().enumerate() {
        let above = node.parent.0 as usize;
        let caller = model.node(node.parent);
        let is_same = (node.kind, node.consumer) == (caller.kind, caller.consumer);
        if i > 0 && is_same && node.kind == Kind::Method {
            places[i] = places[above];
            depths[i] = depths[above] + 1;
            let levels = folded.levels.entry(places[i]).or_default();
            *levels = depths[i].max(*levels);
            folded.contexts += 1;
        } else if i > 0 {
            let consumer = target.consumer(model.name(node.consumer));
            places[i] = target.child(places[above], node.kind, consumer);
        }
        target.meet(places[i], node.n);
        target.add_base(places[i], model.base(NodeId(i as u32)));
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arcs::Arcs;
    use crate::input::folded;
    use crate::invariants;

    #[test]
    fn recursion_changes_no_figure_of_a_method() {
        let text = "m;f;f;f;g 3\nm;f;f;h;f 5\nm;f;g 7\nm;f 2\nf;m;m 4\n";
        let model = folded::read(text.as_bytes()).unwrap();
        let folded = recursion(&model);
        assert_eq!(folded.contexts, 3);
        assert_eq!(folded.levels.values().copied().max(), Some(3));
        let figures = |model: &Arcflow| {
            let arcs = Arcs::new(model);
            assert_eq!(invariants::check(model, &arcs).violations, []);
            let mut all: Vec<_> = arcs
                .ids()
                .map(|id| {
                    let function = arcs.function(id);
                    let name = model.name(function.consumer).to_owned();
                    (name, function.calls, arcs.self_base(id).to_vec(), arcs.self_cum(id).to_vec())
                })
                .collect();
            all.sort_by(|a, b| a.0.cmp(&b.0));
            all
        };
        assert_eq!(figures(&folded.model), figures(&model));
        assert!(folded.model.nodes().len() < model.nodes().len());
    }
}
