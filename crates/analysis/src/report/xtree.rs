//! xtree: the model itself, context by context. Indentation is depth; children stand below their caller, the largest first.
//!
//! cum never grows on the way down, so what is cut for its share, or past the N largest contexts, are leaves and branches: the
//! tree stays coherent. What was cut or folded ([`Fold`]) is summed up below it. With a focus, some methods stand on top: who called them is in
//! a tree of its own above, and 100 % is what they drive.

mod text;

use std::collections::HashMap;
use std::io::Write;

use serde_json::{Map, Value, json};

use super::document::{Document, Member, Step};
use super::focus::Focus;
use super::fold::{self, Folded};
use super::{Error, Format, Options, Sort, machine};
use crate::model::{Arcflow, Children, Kind, NodeId};
use crate::uncertainty::Uncertainty;

/// Writes the report.
///
/// # Errors
/// A resource that the model does not have, no method for the focus, or the output failed.
pub fn write(out: &mut dyn Write, model: &Arcflow, options: &Options<'_>) -> Result<(), Error> {
    with(model, options, |parts| match (options.format, parts) {
        (Format::Text, Parts::Whole(tree)) => tree.text(out),
        (Format::Text, Parts::Focus { callers, callees }) => text::focused(out, model, &callers, &callees),
        (Format::Csv, Parts::Whole(tree) | Parts::Focus { callees: tree, .. }) => tree.table(out),
        (Format::Json, parts) => Ok(parts.document(model).print(out)?),
    })?
}

/// The same as JSON has it. A tree is as deep as the options say, or as contexts are.
///
/// # Errors
/// A resource that the model does not have, or no method for the focus.
pub fn document(model: &Arcflow, options: &Options<'_>) -> Result<Value, Error> {
    with_document(model, options, |document| document.into_value())
}

/// Hands the document to `then`.
///
/// # Errors
/// A resource that the model does not have, or no method for the focus.
pub(crate) fn with_document<T>(
    model: &Arcflow,
    options: &Options<'_>,
    then: impl FnOnce(Document<'_>) -> T,
) -> Result<T, Error> {
    with(model, options, |parts| then(parts.document(model)))
}

/// What there is to print.
enum Parts<'a> {
    Whole(Tree<'a>),
    /// The callers of some methods, and what these called.
    Focus {
        callers: Tree<'a>,
        callees: Tree<'a>,
    },
}

fn with<T>(model: &Arcflow, options: &Options<'_>, then: impl FnOnce(Parts<'_>) -> T) -> Result<T, Error> {
    let shown = options.resources(model)?;
    let Some(select) = options.focus else {
        let folded = folded(model, options);
        let mut tree = Tree::new(model, folded.as_ref(), options, &shown);
        tree.prune();
        return Ok(then(Parts::Whole(tree)));
    };
    let focus = Focus::new(model, select, options.within).ok_or(Error::NoFocus)?;
    let (below, above) = (folded(&focus.callees, options), folded(&focus.callers, options));
    let mut callees = Tree::new(&focus.callees, below.as_ref(), options, &shown);
    callees.prune();
    // All names are for the methods that lead there: none of these is a selection.
    let plain = Options { select: None, ..*options };
    let mut callers = Tree::new(&focus.callers, above.as_ref(), &plain, &shown);
    callers.is_reversed = true;
    callers.prune();
    Ok(then(Parts::Focus { callers, callees }))
}

impl<'a> Parts<'a> {
    fn document(self, model: &Arcflow) -> Document<'a> {
        let (callees, callers) = match self {
            Parts::Whole(tree) => (tree, None),
            Parts::Focus { callers, callees } => (callees, Some(callers)),
        };
        let mut document = Document::new("xtree", model, callees.shown, callees.cum(Arcflow::ROOT));
        let Some(callers) = callers else {
            callees.members(&mut document);
            return document;
        };
        document.put("total_of_all", machine::list(&model.cum(), callees.shown));
        callees.members(&mut document);
        let mut above = Document::default();
        above.put("occurrences", json!(model.occurrences));
        callers.members(&mut above);
        document.member("callers", Member::Object(above));
        document
    }
}

fn folded(model: &Arcflow, options: &Options<'_>) -> Option<Folded> {
    options.fold.recursion.then(|| fold::recursion(model))
}

struct Tree<'a> {
    model: &'a Arcflow,
    folded: Option<&'a Folded>,
    options: &'a Options<'a>,
    shown: &'a [usize],
    cum: Vec<f64>,
    children: Children,
    /// By node. A node is kept only if its parent is.
    kept: Vec<bool>,
    /// Contexts that no sample met, nor what they called, how many nodes these are, and what all of them are less than.
    unmet: Option<(u64, usize, f64)>,
    /// Children are callers; what a node consumed itself says nothing then.
    is_reversed: bool,
}

/// A context on the way of a walk.
#[derive(Clone, Copy)]
struct Visit {
    id: NodeId,
    level: usize,
    /// It is the last of its caller.
    is_last: bool,
}

/// A walk over the kept nodes of a tree, parents first.
struct Walk(Vec<Step<Visit>>);

impl Walk {
    fn new() -> Walk {
        Walk(vec![Step::Down(Visit { id: Arcflow::ROOT, level: 0, is_last: true })])
    }

    fn next(&mut self, tree: &Tree<'_>) -> Option<Step<Visit>> {
        let step = self.0.pop()?;
        if let Step::Down(Visit { id, level, .. }) = step {
            self.0.push(Step::Up);
            let mut children: Vec<_> =
                tree.children.of(id).iter().copied().filter(|c| tree.kept[c.0 as usize]).collect();
            // The last one pushed comes first.
            children.sort_by(|&a, &b| tree.order(b, a));
            let visit = |(position, id)| Visit { id, level: level + 1, is_last: position == 0 };
            self.0.extend(children.into_iter().enumerate().map(visit).map(Step::Down));
        }
        Some(step)
    }
}

impl<'a> Tree<'a> {
    fn new(
        model: &'a Arcflow,
        folded: Option<&'a Folded>,
        options: &'a Options<'a>,
        shown: &'a [usize],
    ) -> Tree<'a> {
        let model = folded.map_or(model, |folded| &folded.model);
        let (cum, children) = (model.cum(), model.children());
        Tree {
            model,
            folded,
            options,
            shown,
            cum,
            children,
            kept: Vec::new(),
            unmet: None,
            is_reversed: false,
        }
    }

    fn cum(&self, id: NodeId) -> &[f64] {
        let width = self.model.resources().len();
        &self.cum[id.0 as usize * width..][..width]
    }

    /// The figure that decides: cum of the first resource, or n.
    fn weight(&self, id: NodeId) -> f64 {
        self.shown.first().map_or(self.model.node(id).n as f64, |&r| self.cum(id)[r])
    }

    fn prune(&mut self) {
        let nodes = self.model.nodes();
        self.kept = vec![true; nodes.len()];
        if self.options.select.is_some() {
            self.select();
        }
        // How much of a share they have is not known.
        self.leave_unmet();
        let whole = if self.shown.is_empty() { 0.0 } else { self.weight(Arcflow::ROOT) };
        let least = self.options.prune * whole;
        let mut depth = vec![0u32; nodes.len()];
        for i in 1..nodes.len() {
            let parent = nodes[i].parent.0 as usize;
            depth[i] = depth[parent] + 1;
            let deep = self.options.depth.is_some_and(|most| depth[i] as usize > most);
            if !self.kept[parent] || deep || (whole > 0.0 && self.weight(NodeId(i as u32)) < least) {
                self.kept[i] = false;
            }
        }
        if let Some(top) = self.options.top {
            self.keep_largest(top);
        }
    }

    /// Leaves out what no sample met, where times are samples, unless everything is asked for (prune 0).
    fn leave_unmet(&mut self) {
        let folds = self.options.prune > 0.0;
        let is_wanted = folds && self.options.format == Format::Text && self.options.select.is_none();
        let Some(&r) = self.shown.first().filter(|_| is_wanted) else { return };
        let uncertain = Uncertainty::of(self.model, r);
        for i in 1..self.kept.len() {
            let id = NodeId(i as u32);
            let cum = self.cum(id);
            let is_nothing = self.shown.iter().all(|&r| cum[r] == 0.0);
            if let (true, true, Some(bound)) = (self.kept[i], is_nothing, uncertain.bound(cum)) {
                let (contexts, nodes, _) = self.unmet.unwrap_or_default();
                let is_context = self.model.node(id).kind != Kind::Thread;
                self.unmet = Some((contexts + u64::from(is_context), nodes + 1, bound));
                self.kept[i] = false;
            }
        }
    }

    /// Keeps the consumers that are wanted, what is above them and what is below them.
    fn select(&mut self) {
        let nodes = self.model.nodes();
        let mut known = HashMap::new();
        let mut wanted: Vec<bool> = nodes
            .iter()
            .map(|node| {
                let ask = || {
                    node.kind != Kind::Root && self.options.wants(node.kind, self.model.name(node.consumer))
                };
                *known.entry((node.kind, node.consumer)).or_insert_with(ask)
            })
            .collect();
        for i in 1..nodes.len() {
            wanted[i] |= wanted[nodes[i].parent.0 as usize];
        }
        for i in (1..nodes.len()).rev() {
            wanted[nodes[i].parent.0 as usize] |= wanted[i];
        }
        // What was marked on the way up marks nothing on the way down: that pass is over.
        self.kept = wanted;
        self.kept[0] = true;
    }

    fn keep_largest(&mut self, top: usize) {
        let mut order: Vec<u32> = (1..self.kept.len() as u32).filter(|&i| self.kept[i as usize]).collect();
        if order.len() <= top {
            return;
        }
        // Of equal ones a parent comes first: its number is lower. Without a cum, n may grow on the way down: then a parent may
        // be cut before its child, and the child goes with it.
        let key = |i: &u32| (self.weight(NodeId(*i)), *i);
        order.sort_unstable_by(|a, b| {
            let ((x, i), (y, j)) = (key(a), key(b));
            y.total_cmp(&x).then(i.cmp(&j))
        });
        for i in &order[top..] {
            self.kept[*i as usize] = false;
        }
        for i in 1..self.kept.len() {
            self.kept[i] &= self.kept[self.model.nodes()[i].parent.0 as usize];
        }
    }

    fn order(&self, a: NodeId, b: NodeId) -> std::cmp::Ordering {
        let figure = |id: NodeId| match (self.options.sort.unwrap_or(Sort::Cum), self.shown.first()) {
            (Sort::Name, _) => 0.0,
            (Sort::Base, Some(&r)) => self.model.base(id)[r],
            (Sort::Cum, Some(&r)) => self.cum(id)[r],
            _ => self.model.node(id).n as f64,
        };
        let name = |id: NodeId| self.model.name(self.model.node(id).consumer);
        figure(b).total_cmp(&figure(a)).then_with(|| name(a).cmp(name(b)))
    }

    /// Contexts that were cut, and their base.
    fn cut(&self) -> (usize, Vec<f64>) {
        let mut base = vec![0.0; self.model.resources().len()];
        let mut contexts = 0;
        for (i, _) in self.kept.iter().enumerate().filter(|(_, kept)| !**kept) {
            contexts += 1;
            for (sum, value) in base.iter_mut().zip(self.model.base(NodeId(i as u32))) {
                *sum += value;
            }
        }
        (contexts, base)
    }

    /// A complete call tree, in the form that is also an input: members of a document.
    fn members(self, document: &mut Document<'a>) {
        let (contexts, base) = self.cut();
        document.put("cut", json!({"contexts": contexts, "base": machine::list(&base, self.shown)}));
        let members = machine::Members::new(self.model, self.shown);
        let mut walk = Walk::new();
        if !self.options.flat {
            let step = move || {
                Some(match walk.next(&self)? {
                    Step::Down(Visit { id, .. }) => Step::Down(self.context(id, &members)),
                    Step::Up => Step::Up,
                })
            };
            return document.member("tree", Member::Tree(Box::new(std::iter::from_fn(step))));
        }
        // One after the other, each behind its caller.
        let mut path: Vec<usize> = Vec::new();
        let mut place = 0;
        let row = move || {
            loop {
                match walk.next(&self)? {
                    Step::Down(Visit { id, .. }) => {
                        let mut row = self.context(id, &members);
                        row.insert("parent".into(), json!(path.last()));
                        path.push(place);
                        place += 1;
                        return Some(Value::Object(row));
                    }
                    Step::Up => drop(path.pop()),
                }
            }
        };
        document.member("contexts", Member::List(Box::new(std::iter::from_fn(row))));
    }

    /// What is told of a context.
    fn context(&self, id: NodeId, members: &machine::Members) -> Map<String, Value> {
        let node = self.model.node(id);
        let mut row = Map::new();
        row.insert("name".into(), json!(self.model.name(node.consumer)));
        row.insert("kind".into(), json!(node.kind.word()));
        if let Some(levels) = self.folded.and_then(|folded| folded.levels.get(&id)) {
            row.insert("recursion_levels".into(), json!(levels));
        }
        machine::origin(self.model, self.model.name(node.consumer), Some(&mut row));
        row.insert("n".into(), json!(node.n));
        members.put(self.model.base(id), self.cum(id), &mut row);
        row
    }

    /// One row for each context, with the row number of its caller.
    fn table(&self, out: &mut dyn Write) -> Result<(), Error> {
        writeln!(out, "id,parent,depth,function,kind,calls{}", machine::csv_header(self.model, self.shown))?;
        let mut path: Vec<usize> = Vec::new();
        let mut id = 0;
        let mut walk = Walk::new();
        while let Some(step) = walk.next(self) {
            match step {
                Step::Down(Visit { id: node, level: depth, .. }) => {
                    let parent = path.last().map(ToString::to_string).unwrap_or_default();
                    let of = self.model.node(node);
                    let name = machine::field(self.model.name(of.consumer));
                    let figures = machine::csv_figures(self.shown, self.model.base(node), self.cum(node));
                    let kind = of.kind.word();
                    writeln!(out, "{id},{parent},{depth},{name},{kind},{}{figures}", of.n)?;
                    path.push(id);
                    id += 1;
                }
                Step::Up => drop(path.pop()),
            }
        }
        Ok(())
    }
}
