//! The tree for people: lines that are indented, chains of calls in one line, and what was cut or folded below them.

use std::io::Write;

use instrument_names::printable::printable;
use instrument_names::signature::value_kind;

use super::{Tree, Visit, Walk};
use crate::model::{Arcflow, Kind, NodeId};
use crate::report::Error;
use crate::report::columns::{Columns, Figures};
use crate::report::document::Step;
use crate::report::fold::Folded;
use crate::report::rows::unmet;
use crate::text::{JOINT, percent, quantity};

/// Methods of a chain that are named; of longer ones the first and the last.
const NAMED: usize = 3;

/// Callers and callees one below the other.
pub(super) fn focused(
    out: &mut dyn Write,
    model: &Arcflow,
    callers: &Tree<'_>,
    callees: &Tree<'_>,
) -> Result<(), Error> {
    let whole = model.cum();
    for &r in callees.shown {
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

impl Tree<'_> {
    pub(super) fn text(&self, out: &mut dyn Write) -> Result<(), Error> {
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
        let mut walk = Walk::new();
        while let Some(step) = walk.next(self) {
            let Step::Down(Visit { id, is_last, .. }) = step else {
                levels.pop();
                continue;
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
        }
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
            if !is_link || rest < 0.0 || rest > least || self.stands_alone(next) {
                return chain;
            }
            chain.push(next);
            last = next;
        }
    }

    /// Whether a context is a statement, a request, a file, or a call between processes: what a reader looks for has a line of its own.
    fn stands_alone(&self, id: NodeId) -> bool {
        let name = self.model.name(self.model.node(id).consumer);
        value_kind(name).is_some() || crate::merge::is_between(name)
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
        reasons.extend(self.options.select.map(|_| "of other methods".to_owned()));
        if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join(" or ")) }
    }
}
