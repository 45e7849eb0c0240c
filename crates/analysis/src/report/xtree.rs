//! xtree: the model itself, context by context. Indentation is depth; children stand below their caller, the largest first.
//!
//! cum never grows on the way down, so what is cut for its share, or past the N largest contexts, are leaves and branches: the
//! tree stays coherent. What was cut or folded ([`Fold`]) is summed up below it. With a focus, some methods stand on top: who called them is in
//! a tree of its own above, and 100 % is what they drive.

use std::collections::HashMap;
use std::io::Write;

use instrument_names::printable::printable;
use serde_json::{Value, json};

use super::columns::{Columns, Figures};
use super::focus::Focus;
use super::fold::{self, Folded};
use super::rows::unmet;
use super::{Error, Format, Options, Sort, machine};
use crate::model::{Arcflow, Children, Kind, NodeId};
use crate::text::{JOINT, percent, quantity};
use crate::uncertainty::Uncertainty;

/// Methods of a chain that are named; of longer ones the first and the last.
const NAMED: usize = 3;

/// Writes the report.
///
/// # Errors
/// A resource that the model does not have, no method for the focus, or the output failed.
pub fn write(out: &mut dyn Write, model: &Arcflow, options: &Options<'_>) -> Result<(), Error> {
    let shown = options.resources(model)?;
    let Some(select) = options.focus else {
        let folded = folded(model, options);
        let mut tree = Tree::new(model, folded.as_ref(), options, &shown);
        tree.prune();
        return match options.format {
            Format::Text => tree.text(out),
            Format::Json => {
                machine::opening(out, "xtree", model, &shown, tree.cum(Arcflow::ROOT))?;
                tree.members(out)?;
                Ok(writeln!(out, "}}")?)
            }
            Format::Csv => tree.table(out),
        };
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
    let whole = model.cum();
    match options.format {
        Format::Text => {
            for &r in &shown {
                let resource = &model.resources()[r];
                let part = callees.cum(Arcflow::ROOT)[r];
                let [all, some] = [whole[r], part].map(|value| quantity(value, &resource.unit));
                let (name, percent) = (printable(&resource.name), percent(part, whole[r]));
                writeln!(out, "focus: {name} {some}, {percent} % of {all}")?;
            }
            writeln!(out, "\ncallers, the nearest first")?;
            callers.text(out)?;
            writeln!(out, "\ncallees")?;
            callees.text(out)
        }
        Format::Json => {
            machine::opening(out, "xtree", model, &shown, callees.cum(Arcflow::ROOT))?;
            write!(out, ",\"total_of_all\":{}", machine::list(&whole, &shown))?;
            callees.members(out)?;
            write!(out, ",\"callers\":{{\"occurrences\":{}", json!(model.occurrences))?;
            callers.members(out)?;
            Ok(writeln!(out, "}}}}")?)
        }
        Format::Csv => callees.table(out),
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

/// What the walk meets.
enum Step {
    /// A context, its level, and whether it is the last of its caller.
    Down(NodeId, usize, bool),
    Up,
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

    /// Walks over the kept nodes, parents first.
    fn walk(&self, step: &mut dyn FnMut(Step) -> Result<(), Error>) -> Result<(), Error> {
        let mut stack = vec![Some((Arcflow::ROOT, 0, true))];
        while let Some(top) = stack.pop() {
            let Some((id, level, is_last)) = top else {
                step(Step::Up)?;
                continue;
            };
            step(Step::Down(id, level, is_last))?;
            stack.push(None);
            let mut children: Vec<_> =
                self.children.of(id).iter().copied().filter(|c| self.kept[c.0 as usize]).collect();
            // The last one pushed comes first.
            children.sort_by(|&a, &b| self.order(b, a));
            let below = children.into_iter().enumerate();
            stack.extend(below.map(|(position, child)| Some((child, level + 1, position == 0))));
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
        let mut columns = Columns::new(self.model, self.options, self.shown, total, calls, 0);
        if self.is_reversed {
            columns.leave_base_out();
        } else if !columns.heading().is_empty() {
            writeln!(out, "{}", columns.heading())?;
        }
        columns.header(out)?;
        // Levels of the open contexts: what is part of a chain has that of its first.
        let mut levels = vec![0];
        // Of the open contexts, whether each is the last of its caller; one for each level from 1 on.
        let mut last_ones: Vec<bool> = Vec::new();
        let mut chained = 0;
        let mut rest_of_chain = 0;
        self.walk(&mut |step| {
            let Step::Down(id, _, is_last) = step else {
                levels.pop();
                return Ok(());
            };
            let level: usize = levels.last().copied().unwrap_or(0);
            if id == Arcflow::ROOT {
                levels.push(0);
            } else if rest_of_chain > 0 {
                rest_of_chain -= 1;
                levels.push(level);
            } else {
                let chain = self.chain(id);
                rest_of_chain = chain.len() - 1;
                chained += rest_of_chain;
                let mut base = vec![0.0; self.model.resources().len()];
                for (sum, value) in chain.iter().flat_map(|&id| self.model.base(id).iter().enumerate()) {
                    base[sum] += value;
                }
                let node = self.model.node(id);
                let runs = !matches!(node.kind, Kind::Root | Kind::Process);
                let figures = Figures { calls: node.n, runs, base: &base, cum: self.cum(id) };
                last_ones.truncate(level.saturating_sub(1));
                if level > 0 {
                    last_ones.push(is_last);
                }
                let name = self.label(&columns, &chain);
                columns.labelled(out, figures, level, Some(&last_ones), &name)?;
                levels.push(level + 1);
            }
            Ok(())
        })?;
        if let (Some((contexts, _, bound)), Some(&r)) = (self.unmet, self.shown.first()) {
            let unmet = unmet(contexts, bound, &self.model.resources()[r].unit);
            writeln!(out, "{unmet}; --prune 0 shows them")?;
        }
        let (contexts, base) = self.cut();
        let contexts = contexts - self.unmet.map_or(0, |(_, nodes, _)| nodes);
        if contexts > 0 {
            write!(out, "cut: {contexts} contexts")?;
            for &r in self.shown.iter().filter(|_| !self.is_reversed) {
                let resource = &self.model.resources()[r];
                let (all, part) = (quantity(base[r], &resource.unit), percent(base[r], total[r]));
                write!(out, ", {} {all} ({part} %)", printable(&resource.name))?;
            }
            writeln!(out, "{}", self.reasons())?;
        }
        if let Some(Folded { contexts: nested @ 1.., .. }) = self.folded {
            writeln!(
                out,
                "folded: {nested} contexts of methods that called themselves, each into its caller"
            )?;
        }
        if chained > 0 {
            let each = if self.is_reversed { "was called only by" } else { "called only" };
            let base = if self.is_reversed { "" } else { "; base is the sum of theirs" };
            let chains = format!("folded: {chained} contexts into lines `a{JOINT}b`: each {each} the next");
            writeln!(out, "{chains}, and as often{base}")?;
        }
        Ok(())
    }

    /// A context and those that share its line: see [`Fold::chains`](super::fold::Fold::chains).
    fn chain(&self, first: NodeId) -> Vec<NodeId> {
        let mut chain = vec![first];
        let (Some(&r), true) = (self.shown.first(), self.options.fold.chains) else { return chain };
        let least = self.options.prune * self.cum(Arcflow::ROOT)[r];
        let (mut last, is_method) = (first, |id: NodeId| self.model.node(id).kind == Kind::Method);
        loop {
            let mut kept = self.children.of(last).iter().filter(|child| self.kept[child.0 as usize]);
            let (Some(&next), None) = (kept.next(), kept.next()) else { return chain };
            // What the line does not name: its own part, and what was cut.
            let rest = self.cum(last)[r] - self.cum(next)[r];
            let is_link =
                is_method(last) && is_method(next) && self.model.node(last).n == self.model.node(next).n;
            if !is_link || rest < 0.0 || rest > least {
                return chain;
            }
            chain.push(next);
            last = next;
        }
    }

    fn label(&self, columns: &Columns, chain: &[NodeId]) -> String {
        let one = |id: &NodeId| {
            let label = columns.label(self.model.name(self.model.node(*id).consumer));
            match self.folded.and_then(|folded| folded.levels.get(id)) {
                Some(levels) => format!("{label} [recursion, {levels} levels]"),
                None => label,
            }
        };
        match chain {
            [first, .., last] if chain.len() > NAMED => {
                format!("{}{JOINT}\u{2026} {} more{JOINT}{}", one(first), chain.len() - 2, one(last))
            }
            chain => chain.iter().map(one).collect::<Vec<_>>().join(JOINT),
        }
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

    /// A complete call tree, in the form that is also an input: members of an object.
    fn members(&self, out: &mut dyn Write) -> Result<(), Error> {
        let (contexts, base) = self.cut();
        write!(out, ",\"cut\":{}", json!({"contexts": contexts, "base": machine::list(&base, self.shown)}))?;
        let members = machine::Members::new(self.model, self.shown);
        if self.options.flat {
            return self.list(out, &members);
        }
        write!(out, ",\"tree\":")?;
        let mut first = true;
        self.walk(&mut |step| {
            match step {
                Step::Down(id, ..) => {
                    let mut text = Value::Object(self.context(id, &members)).to_string();
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
        })
    }

    /// One after the other, each behind its caller.
    fn list(&self, out: &mut dyn Write, members: &machine::Members<'_>) -> Result<(), Error> {
        write!(out, ",\"contexts\":[")?;
        let mut path: Vec<usize> = Vec::new();
        let mut place = 0;
        self.walk(&mut |step| {
            match step {
                Step::Down(id, ..) => {
                    let mut row = self.context(id, members);
                    row.insert("parent".into(), json!(path.last()));
                    write!(out, "{}{}", if place == 0 { "" } else { ",\n" }, Value::Object(row))?;
                    path.push(place);
                    place += 1;
                }
                Step::Up => drop(path.pop()),
            }
            Ok(())
        })?;
        Ok(write!(out, "]")?)
    }

    /// What is told of a context.
    fn context(&self, id: NodeId, members: &machine::Members<'_>) -> serde_json::Map<String, Value> {
        let node = self.model.node(id);
        let mut row = serde_json::Map::new();
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
        self.walk(&mut |step| {
            match step {
                Step::Down(node, depth, _) => {
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
