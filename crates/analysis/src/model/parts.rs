//! Parts of a model: some of its resources, some of its contexts, and the way down its tree.

use super::{Arcflow, Kind, NodeId};
use instrument_names::pattern::{class_and_method, package};
use instrument_names::signature::value_kind;

/// The package of classes that are in none (JLS 7.4.2).
const UNNAMED: &str = "(unnamed package)";

/// What takes the place of methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Their classes.
    Class,
    /// The packages of their classes.
    Package,
}

impl Group {
    /// The group of a method, by its name; None: its class is not known.
    fn of(self, method: &str) -> Option<&str> {
        // The call of a statement or request is named by that.
        if value_kind(method).is_some() {
            return None;
        }
        let (class, _) = class_and_method(method).filter(|(class, _)| !class.is_empty())?;
        Some(match self {
            Group::Class => class,
            Group::Package => Some(package(class)).filter(|name| !name.is_empty()).unwrap_or(UNNAMED),
        })
    }
}

/// The children of every node, in the order in which they were made.
#[derive(Debug, Clone)]
pub struct Children {
    /// Where a node's children begin; one more at the end.
    starts: Vec<u32>,
    all: Vec<NodeId>,
}

impl Children {
    /// The children of a node.
    pub fn of(&self, node: NodeId) -> &[NodeId] {
        let at = node.0 as usize;
        &self.all[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

impl Arcflow {
    /// The children of every node; takes a walk over all nodes.
    pub fn children(&self) -> Children {
        let mut starts = vec![0u32; self.nodes.len() + 1];
        for node in &self.nodes[1..] {
            starts[node.parent.0 as usize + 1] += 1;
        }
        for i in 0..self.nodes.len() {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut all = vec![Self::ROOT; self.nodes.len() - 1];
        for (i, node) in self.nodes.iter().enumerate().skip(1) {
            let place = &mut next[node.parent.0 as usize];
            all[*place as usize] = NodeId(i as u32);
            *place += 1;
        }
        Children { starts, all }
    }

    /// Index of the resource of this name.
    pub fn resource(&self, name: &str) -> Option<usize> {
        self.resources.iter().position(|r| r.name == name)
    }

    /// The same contexts with these of its resources, in this order.
    #[must_use]
    pub fn with_resources(&self, keep: &[usize]) -> Arcflow {
        let base = (0..self.nodes.len() as u32).flat_map(|i| {
            let base = self.base(NodeId(i));
            keep.iter().map(|&r| base[r])
        });
        Arcflow {
            consumers: self.consumers.clone(),
            occurrences: self.occurrences.clone(),
            origins: self.origins.clone(),
            correction: self.correction.clone(),
            window: self.window,
            has_other_times: self.has_other_times,
            beside: self.beside.clone(),
            whole: self.whole,
            resources: keep.iter().map(|&r| self.resources[r].clone()).collect(),
            names: self.names.clone(),
            by_name: self.by_name.clone(),
            base: base.collect(),
            nodes: self.nodes.clone(),
            children: self.children.clone(),
        }
    }

    /// The contexts that `keep` wants, without those whose caller it did not want.
    #[must_use]
    pub fn with_contexts(&self, mut keep: impl FnMut(NodeId) -> bool) -> Arcflow {
        self.transformed(|id| if keep(id) { Fate::Stay } else { Fate::Leave })
    }

    /// Without the contexts that `keep` does not want: what they consumed is their caller's, and what they called is called by it.
    #[must_use]
    pub fn charged(&self, mut keep: impl FnMut(NodeId) -> bool) -> Arcflow {
        self.transformed(|id| if keep(id) { Fate::Stay } else { Fate::Dissolve })
    }

    /// Without a level of processes or threads: what was beneath them is added up. A started thread that hangs below the
    /// context that started it stays, as a link without its name.
    #[must_use]
    pub fn merged(&self, level: Kind) -> Arcflow {
        self.transformed(|id| {
            let node = self.node(id);
            if node.kind != level {
                Fate::Stay
            } else if matches!(self.node(node.parent).kind, Kind::Root | Kind::Process) {
                Fate::Dissolve
            } else if level == Kind::Process {
                // What a process did for a remote call.
                Fate::Become(Kind::Link, "(remote call)")
            } else {
                Fate::Become(Kind::Link, "(started thread)")
            }
        })
    }

    /// With groups in the place of methods. What a group calls within itself is part of it: its calls are those from outside.
    #[must_use]
    pub fn grouped(&self, by: Group) -> Arcflow {
        let groups: Vec<Option<&str>> = self.names().map(|name| by.of(name)).collect();
        let group = |id: NodeId| {
            let node = self.node(id);
            groups[node.consumer.0 as usize].filter(|_| node.kind == Kind::Method)
        };
        let mut grouped = self.transformed(|id| match group(id) {
            None => Fate::Stay,
            of if of == group(self.node(id).parent) => Fate::Dissolve,
            Some(name) => Fate::Become(Kind::Method, name),
        });
        grouped.consumers = if by == Group::Class { "classes" } else { "packages" }.to_owned();
        grouped
    }

    /// A context with all that is beneath it, as a model of its own; its callers are not in it.
    #[must_use]
    pub fn beneath(&self, top: NodeId, children: &Children) -> Arcflow {
        let mut part = self.emptied();
        let mut stack = vec![(top, Self::ROOT)];
        while let Some((id, above)) = stack.pop() {
            let node = self.node(id);
            let consumer = part.consumer(self.name(node.consumer));
            let place = part.child(above, node.kind, consumer);
            part.meet(place, node.n);
            part.add_base(place, self.base(id));
            stack.extend(children.of(id).iter().map(|&child| (child, place)));
        }
        part
    }

    fn transformed<'m>(&'m self, mut fate: impl FnMut(NodeId) -> Fate<'m>) -> Arcflow {
        let mut part = self.emptied();
        part.meet(Self::ROOT, self.nodes[0].n);
        part.base_mut(Self::ROOT).copy_from_slice(self.base(Self::ROOT));
        let mut places = vec![None; self.nodes.len()];
        places[0] = Some(Self::ROOT);
        for (i, node) in self.nodes.iter().enumerate().skip(1) {
            let id = NodeId(i as u32);
            let Some(parent) = places[node.parent.0 as usize] else { continue };
            let (kind, name) = match fate(id) {
                Fate::Stay => (node.kind, self.name(node.consumer)),
                Fate::Become(kind, name) => (kind, name),
                Fate::Leave => continue,
                Fate::Dissolve => {
                    places[i] = Some(parent);
                    part.add_base(parent, self.base(id));
                    continue;
                }
            };
            let consumer = part.consumer(name);
            let place = part.child(parent, kind, consumer);
            places[i] = Some(place);
            part.meet(place, node.n);
            part.add_base(place, self.base(id));
        }
        part
    }

    pub(crate) fn add_base(&mut self, node: NodeId, more: &[f64]) {
        for (sum, value) in self.base_mut(node).iter_mut().zip(more) {
            *sum += value;
        }
    }
}

/// What becomes of a context.
enum Fate<'m> {
    Stay,
    Become(Kind, &'m str),
    /// It leaves, with all below it.
    Leave,
    /// Its base goes to its caller, and so does what it called.
    Dissolve,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input;

    /// Rows as `parent > name calls base`.
    fn rows(model: &Arcflow) -> Vec<String> {
        let row = |id: NodeId| {
            let node = model.node(id);
            let parent = model.name(model.node(node.parent).consumer);
            format!("{parent} > {} {} {}", model.name(node.consumer), node.n, model.base(id)[0])
        };
        let mut rows: Vec<String> =
            model.ids().filter(|&id| model.node(id).kind == Kind::Method).map(row).collect();
        rows.sort();
        rows
    }

    #[test]
    fn a_group_has_what_its_methods_call_within_it_and_the_calls_from_outside() {
        let text = "metrics: cpu ms\n@ t\n0 > a.X.f()\n1 > a.X.g()\n2 > a.Y.h()\n3 > b.Z.i()\n7 < b.Z.i()\n\
            7 > b.Z.i()\n8 < b.Z.i()\n8 < a.Y.h()\n9 < a.X.g()\n9 > a.Y.h()\n11 < a.Y.h()\n12 < a.X.f()\n\
            12 > Main.main()\n13 > #12\n15 < #12\n15 > SQL select a.b from c\n17 < SQL select a.b from c\n17 < Main.main()\n";
        let model = input::read(text.as_bytes()).unwrap().model;
        let classes = model.grouped(Group::Class);
        let expected = [
            "Main > #12 1 2",
            "Main > SQL select a.b from c 1 2",
            "a.X > a.Y 2 3",
            "a.Y > b.Z 2 5",
            "t > Main 1 1",
            "t > a.X 1 4",
        ];
        assert_eq!(rows(&classes), expected);
        let packages = model.grouped(Group::Package);
        let expected = [
            "(unnamed package) > #12 1 2",
            "(unnamed package) > SQL select a.b from c 1 2",
            "a > b 2 5",
            "t > (unnamed package) 1 1",
            "t > a 1 7",
        ];
        assert_eq!(rows(&packages), expected);
        assert_eq!(model.cum()[0], packages.cum()[0]);
    }
}
