//! A tree seen from some methods: what they called, all their calls merged; and above them who called them, merged in reverse.
//!
//! A call within a call of these methods is part of it, so nothing counts twice: the cum of both trees is what the methods drive.

use super::Select;
use crate::model::{Arcflow, NodeId};

/// Some methods with all below and above them.
pub(crate) struct Focus {
    /// The methods, below the root, and what they called.
    pub(crate) callees: Arcflow,
    /// The methods, below the root, and below each who called it: the nearest first. A caller's cum is what the methods consumed on its behalf.
    pub(crate) callers: Arcflow,
}

impl Focus {
    /// Calls of the methods that `select` takes, as far as they are made within others, the outermost first. None: there is no such call.
    pub(crate) fn new(model: &Arcflow, select: Select<'_>, within: &[Select<'_>]) -> Option<Focus> {
        let mut focus = Focus { callees: model.emptied(), callers: model.emptied() };
        let (cum, width) = (model.cum(), model.resources().len());
        let mut places: Vec<Option<NodeId>> = vec![None; model.nodes().len()];
        // How many of the outer methods stand on the way to a context.
        let mut met = vec![0; model.nodes().len()];
        for (i, node) in model.nodes().iter().enumerate().skip(1) {
            let name = model.name(node.consumer);
            let (inside, outer) = (places[node.parent.0 as usize], met[node.parent.0 as usize]);
            let is_next =
                within.get(outer).is_some_and(|next| node.kind.is_looked_up() && next(node.kind, name));
            met[i] = outer + usize::from(is_next);
            let is_it = || outer == within.len() && node.kind.is_looked_up() && select(node.kind, name);
            if inside.is_none() && !is_it() {
                continue;
            }
            let consumer = focus.callees.consumer(name);
            let place = focus.callees.child(inside.unwrap_or(Arcflow::ROOT), node.kind, consumer);
            places[i] = Some(place);
            focus.callees.meet(place, node.n);
            focus.callees.add_base(place, model.base(NodeId(i as u32)));
            if inside.is_none() {
                focus.add_callers(model, NodeId(i as u32), &cum[i * width..][..width]);
            }
        }
        (focus.callees.nodes().len() > 1).then_some(focus)
    }

    fn add_callers(&mut self, model: &Arcflow, context: NodeId, cum: &[f64]) {
        let calls = model.node(context).n;
        let (mut at, mut place) = (context, Arcflow::ROOT);
        while at != Arcflow::ROOT {
            let node = model.node(at);
            let consumer = self.callers.consumer(model.name(node.consumer));
            place = self.callers.child(place, node.kind, consumer);
            self.callers.meet(place, calls);
            at = node.parent;
        }
        self.callers.add_base(place, cum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arcs::Arcs;
    use crate::input::folded;
    use crate::invariants;
    use crate::model::Kind;

    #[test]
    fn both_trees_have_what_the_methods_drive() {
        let text = "t;a;f;g 3\nt;b;f;f;g 5\nt;b;c;f 7\nt;b;h 11\nt;f;a;f;h 13\n";
        let model = folded::read(text.as_bytes()).unwrap();
        let focus = Focus::new(&model, &|_, name| name == "f", &[]).unwrap();
        let arcs = Arcs::new(&model);
        let f = arcs.ids().find(|&id| model.name(arcs.function(id).consumer) == "f").unwrap();
        for part in [&focus.callees, &focus.callers] {
            assert_eq!(part.cum()[0], arcs.self_cum(f)[0]);
            assert_eq!(invariants::check(part, &Arcs::new(part)).violations, []);
        }
        let lines = |model: &Arcflow| {
            let (cum, mut lines) = (model.cum(), Vec::new());
            for id in model.ids().skip(1) {
                let (mut path, mut at) = (Vec::new(), id);
                while at != Arcflow::ROOT {
                    path.insert(0, model.name(model.node(at).consumer));
                    at = model.node(at).parent;
                }
                lines.push(format!("{} {}", path.join(";"), cum[id.0 as usize]));
            }
            lines.sort();
            lines
        };
        let expected = ["f 28", "f;a 13", "f;a;f 13", "f;a;f;h 13", "f;f 5", "f;f;g 5", "f;g 3"];
        assert_eq!(lines(&focus.callees), expected);
        let expected =
            ["f 28", "f;a 3", "f;a;t 3", "f;b 5", "f;b;t 5", "f;c 7", "f;c;b 7", "f;c;b;t 7", "f;t 13"];
        assert_eq!(lines(&focus.callers), expected);
        assert!(Focus::new(&model, &|_, name| name == "x", &[]).is_none());
        // Calls of g that f makes, and of f within b: what stands between does not matter.
        let within = |outer: &[&str], name: &'static str| {
            let outer: Vec<_> = outer.iter().map(|outer| move |_: Kind, name: &str| name == *outer).collect();
            let outer: Vec<Select<'_>> = outer.iter().map(|select| select as Select<'_>).collect();
            Focus::new(&model, &|_, found| found == name, &outer).map(|focus| focus.callees.cum()[0])
        };
        assert_eq!(within(&["f"], "g"), Some(8.0));
        assert_eq!(within(&["b"], "f"), Some(12.0));
        assert_eq!(within(&["t", "b", "c"], "f"), Some(7.0));
        assert_eq!(within(&["f", "a"], "f"), Some(13.0));
        assert_eq!([within(&["c", "b"], "f"), within(&["g"], "f"), within(&["h"], "h")], [None; 3]);
    }
}
