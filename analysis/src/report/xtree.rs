//! xtree: the model itself, context by context. Indentation is depth; children stand below their caller, the largest first.
//!
//! cum never grows on the way down, so what is cut for its share, or past the N largest contexts, are leaves and branches: the
//! tree stays coherent. What was cut is summed up in one line.

use std::collections::HashMap;
use std::io::Write;

use serde_json::{Value, json};

use super::columns::{Columns, Figures};
use super::text::{percent, quantity};
use super::{Error, Format, Options, Sort, machine};
use crate::model::{Arcflow, Children, Kind, NodeId};

/// Writes the report.
///
/// # Errors
/// A resource that the model does not have, or the output failed.
pub fn write(out: &mut dyn Write, model: &Arcflow, options: &Options<'_>) -> Result<(), Error> {
    let shown = options.resources(model)?;
    let cum = model.cum();
    let mut tree =
        Tree { model, options, shown: &shown, cum: &cum, children: model.children(), kept: Vec::new() };
    tree.prune();
    match options.format {
        Format::Text => tree.text(out),
        Format::Json => tree.document(out),
        Format::Csv => tree.table(out),
    }
}

struct Tree<'a> {
    model: &'a Arcflow,
    options: &'a Options<'a>,
    shown: &'a [usize],
    cum: &'a [f64],
    children: Children,
    /// By node. A node is kept only if its parent is.
    kept: Vec<bool>,
}

/// What the walk meets.
enum Step {
    Down(NodeId, usize),
    Up,
}

impl Tree<'_> {
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

    /// Walks over the kept nodes, parents first.
    fn walk(&self, step: &mut dyn FnMut(Step) -> Result<(), Error>) -> Result<(), Error> {
        let mut stack = vec![Some((Arcflow::ROOT, 0))];
        while let Some(top) = stack.pop() {
            let Some((id, level)) = top else {
                step(Step::Up)?;
                continue;
            };
            step(Step::Down(id, level))?;
            stack.push(None);
            let mut children: Vec<_> =
                self.children.of(id).iter().copied().filter(|c| self.kept[c.0 as usize]).collect();
            // The last one pushed comes first.
            children.sort_by(|&a, &b| self.order(b, a));
            stack.extend(children.into_iter().map(|child| Some((child, level + 1))));
        }
        Ok(())
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

    fn text(&self, out: &mut dyn Write) -> Result<(), Error> {
        let total = self.cum(Arcflow::ROOT);
        let calls = self.model.nodes().iter().map(|node| node.n).max().unwrap_or(0);
        let columns = Columns::new(self.model, self.options, self.shown, total, calls, 0);
        if !columns.heading().is_empty() {
            writeln!(out, "{}", columns.heading())?;
        }
        columns.header(out)?;
        self.walk(&mut |step| {
            if let Step::Down(id, level @ 1..) = step {
                let node = self.model.node(id);
                let figures = Figures { calls: node.n, base: self.model.base(id), cum: self.cum(id) };
                columns.line(out, figures, level - 1, self.model.name(node.consumer))?;
            }
            Ok(())
        })?;
        let (contexts, base) = self.cut();
        if contexts > 0 {
            write!(out, "cut: {contexts} contexts")?;
            for &r in self.shown {
                let resource = &self.model.resources()[r];
                let (all, part) = (quantity(base[r], &resource.unit), percent(base[r], total[r]));
                write!(out, ", {} {all} ({part} %)", resource.name)?;
            }
            writeln!(out, "{}", self.reasons())?;
        }
        Ok(())
    }

    fn reasons(&self) -> String {
        let mut reasons = Vec::new();
        if self.options.prune > 0.0 {
            reasons.push(format!("below {} %", quantity(100.0 * self.options.prune, "")));
        }
        reasons.extend(self.options.depth.map(|depth| format!("deeper than {depth} levels")));
        reasons.extend(self.options.top.map(|top| format!("past the {top} largest")));
        reasons.extend(self.options.select.map(|_| "not asked for".to_owned()));
        if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join(" or ")) }
    }

    /// A complete call tree, in the form that is also an input.
    fn document(&self, out: &mut dyn Write) -> Result<(), Error> {
        machine::opening(out, "xtree", self.model, self.shown, self.cum(Arcflow::ROOT))?;
        let (contexts, base) = self.cut();
        write!(out, ",\"cut\":{}", json!({"contexts": contexts, "base": machine::list(&base, self.shown)}))?;
        write!(out, ",\"tree\":")?;
        let mut first = true;
        self.walk(&mut |step| {
            match step {
                Step::Down(id, _) => {
                    let node = self.model.node(id);
                    let mut row = serde_json::Map::new();
                    row.insert("name".into(), json!(self.model.name(node.consumer)));
                    row.insert("kind".into(), json!(node.kind.word()));
                    row.insert("n".into(), json!(node.n));
                    machine::members(self.model, self.shown, self.model.base(id), self.cum(id), &mut row);
                    let mut text = Value::Object(row).to_string();
                    text.pop();
                    write!(out, "{}{text},\"children\":[", if first { "" } else { ",\n" })?;
                    first = true;
                }
                Step::Up => {
                    write!(out, "]}}")?;
                    first = false;
                }
            }
            Ok(())
        })?;
        writeln!(out, "}}")?;
        Ok(())
    }

    /// One row for each context, with the row number of its caller.
    fn table(&self, out: &mut dyn Write) -> Result<(), Error> {
        writeln!(out, "id,parent,depth,function,kind,calls{}", machine::csv_header(self.model, self.shown))?;
        let mut path: Vec<usize> = Vec::new();
        let mut id = 0;
        self.walk(&mut |step| {
            match step {
                Step::Down(node, depth) => {
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
            Ok(())
        })
    }
}
