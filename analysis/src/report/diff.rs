//! diff: what changed between two models, by method and by context: calls, base and cum, absolute and relative, the largest change
//! of base first.
//!
//! Both are laid into one tree whose resources are those of the one and of the other; then methods are its consumers and contexts
//! its nodes. Contexts are the same if all names on the way to them are; levels that never are (processes, threads) are for the caller to
//! merge. Only resources that both have are compared.

use std::io::Write;

use serde_json::{Value, json};

use super::aligned::Aligned;
use super::text::quantity;
use super::{Error, Format, Options, Sort, machine};
use crate::arcs::{Arcs, FunctionId};
use crate::model::{Arcflow, Kind, NodeId, Resource};
use crate::uncertainty::{self, Uncertainty};

/// Frames of a context that are printed, the innermost ones.
const FRAMES: usize = 8;

/// Writes the report; `false`: the two are equal.
///
/// # Errors
/// A resource that one of the models does not have, or the output failed.
pub fn write(
    out: &mut dyn Write,
    before: &Arcflow,
    after: &Arcflow,
    options: &Options<'_>,
) -> Result<bool, Error> {
    let diff = Diff::new(before, after, options)?;
    let (methods, contexts) = (diff.methods(), diff.contexts());
    let top = |changes: &[Change]| changes.len().min(options.top.unwrap_or(usize::MAX));
    let shown = [(&methods[..top(&methods)], methods.len()), (&contexts[..top(&contexts)], contexts.len())];
    match options.format {
        Format::Text => diff.text(out, shown)?,
        Format::Json => diff.document(out, shown)?,
        Format::Csv => diff.table(out, shown)?,
    }
    Ok(!methods.is_empty() || !contexts.is_empty())
}

struct Diff<'a> {
    options: &'a Options<'a>,
    /// Calls, then what both have.
    resources: Vec<Resource>,
    /// Indices of those that are shown.
    shown: Vec<usize>,
    uncertain: Vec<Uncertainty>,
    /// Resources twice: before, after.
    both: Arcflow,
    arcs: Arcs,
    cum: Vec<f64>,
    /// Whether the times of each side are corrected.
    corrections: [Value; 2],
}

/// A method or context that is not what it was.
struct Change {
    of: Changed,
    /// What it is sorted by.
    weight: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Changed {
    Method(FunctionId),
    Context(NodeId),
}

impl<'a> Diff<'a> {
    fn new(before: &Arcflow, after: &Arcflow, options: &'a Options<'a>) -> Result<Diff<'a>, Error> {
        let mut resources = vec![Resource { name: "calls".into(), unit: String::new() }];
        resources.extend(before.resources().iter().filter(|r| after.resources().contains(r)).cloned());
        // What is asked for, from what both have.
        let common = Arcflow::new(resources[1..].to_vec());
        let shown = options.resources(&common)?.into_iter().map(|r| r + 1).collect();
        let uncertain = (0..common.resources().len()).map(|r| Uncertainty::of(&common, r));
        let uncertain = std::iter::once(Uncertainty::default()).chain(uncertain).collect();
        let sides = ["before", "after"];
        let doubled = sides.iter().flat_map(|side| {
            resources
                .iter()
                .map(move |r| Resource { name: format!("{} {side}", r.name), unit: r.unit.clone() })
        });
        let mut both = Arcflow::new(doubled.collect());
        for (side, model) in [before, after].into_iter().enumerate() {
            let offset = side * resources.len();
            let indices: Vec<_> = resources[1..].iter().map(|r| model.resource(&r.name)).collect();
            let mut places = vec![Arcflow::ROOT; model.nodes().len()];
            for (i, node) in model.nodes().iter().enumerate() {
                if i > 0 {
                    let consumer = both.consumer(model.name(node.consumer));
                    places[i] = both.child(places[node.parent.0 as usize], node.kind, consumer);
                }
                let from = model.base(NodeId(i as u32));
                let to = &mut both.base_mut(places[i])[offset..];
                to[0] += node.n as f64;
                for (r, index) in indices.iter().enumerate() {
                    to[r + 1] += index.map_or(0.0, |index| from[index]);
                }
            }
        }
        let (arcs, cum) = (Arcs::new(&both), both.cum());
        let corrections = [before, after].map(|model| model.correction.json().unwrap_or_default());
        Ok(Diff { options, resources, shown, uncertain, both, arcs, cum, corrections })
    }

    /// The resource whose change decides: the first, or calls.
    fn deciding(&self) -> usize {
        match self.options.sort {
            Some(Sort::Calls) => 0,
            _ => self.shown.first().copied().unwrap_or(0),
        }
    }

    /// Base and cum, all figures before, then all after.
    fn figures(&self, of: Changed) -> (&[f64], &[f64]) {
        match of {
            Changed::Method(id) => (self.arcs.self_base(id), self.arcs.self_cum(id)),
            Changed::Context(id) => {
                let width = self.both.resources().len();
                (self.both.base(id), &self.cum[id.0 as usize * width..][..width])
            }
        }
    }

    fn consumer(&self, of: Changed) -> (Kind, &str) {
        let (kind, consumer) = match of {
            Changed::Method(id) => (self.arcs.function(id).kind, self.arcs.function(id).consumer),
            Changed::Context(id) => (self.both.node(id).kind, self.both.node(id).consumer),
        };
        (kind, self.both.name(consumer))
    }

    fn change(&self, of: Changed) -> Option<Change> {
        let (kind, name) = self.consumer(of);
        let (base, cum) = self.figures(of);
        let count = self.resources.len();
        let differs = |figures: &[f64], r: usize| figures[r] != figures[count + r];
        let counted = |r: &usize| *r == 0 || self.shown.contains(r);
        if !(0..count).filter(counted).any(|r| differs(base, r) || differs(cum, r))
            || !self.options.wants(kind, name)
        {
            return None;
        }
        let r = self.deciding();
        let by = if self.options.sort == Some(Sort::Cum) { cum } else { base };
        Some(Change { of, weight: (by[count + r] - by[r]).abs() })
    }

    fn methods(&self) -> Vec<Change> {
        self.sorted(self.arcs.ids().filter_map(|id| self.change(Changed::Method(id))).collect())
    }

    fn contexts(&self) -> Vec<Change> {
        let nodes = (1..self.both.nodes().len() as u32).map(NodeId);
        self.sorted(nodes.filter_map(|id| self.change(Changed::Context(id))).collect())
    }

    fn sorted(&self, mut changes: Vec<Change>) -> Vec<Change> {
        let key = |change: &Change| (self.consumer(change.of).1, change.of);
        if self.options.sort == Some(Sort::Name) {
            changes.sort_by(|a, b| key(a).cmp(&key(b)));
        } else {
            changes.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| key(a).cmp(&key(b))));
        }
        changes
    }

    /// What stands for it in a line: the name of a method, the innermost frames of a context or all of them.
    fn words(&self, of: Changed, frames: usize) -> String {
        match of {
            Changed::Method(_) => self.consumer(of).1.to_owned(),
            Changed::Context(id) => {
                let path = self.path(id);
                let first = path.len().saturating_sub(frames);
                let above = if first > 0 { "\u{2026} > " } else { "" };
                format!("{above}{}", path[first..].join(" > "))
            }
        }
    }

    /// The names on the way to a context.
    fn path(&self, id: NodeId) -> Vec<&str> {
        let mut path = Vec::new();
        let mut at = id;
        while self.both.node(at).kind != Kind::Root {
            path.push(self.consumer(Changed::Context(at)).1);
            at = self.both.node(at).parent;
        }
        path.reverse();
        path
    }

    fn text(&self, out: &mut dyn Write, shown: [(&[Change], usize); 2]) -> Result<(), Error> {
        let total = &self.cum[..self.both.resources().len()];
        let count = self.resources.len();
        for &r in &self.shown {
            let resource = &self.resources[r];
            let figures = [total[r], total[count + r]].map(|value| quantity(value, &resource.unit));
            let change = relative(total[r], total[count + r]);
            writeln!(out, "{} {} -> {} ({change})", resource.name, figures[0], figures[1])?;
        }
        for ((changes, all), what) in shown.into_iter().zip(["method", "context"]) {
            writeln!(out, "\n{all} {what}s changed")?;
            if changes.is_empty() {
                continue;
            }
            self.lines(out, changes, what)?;
            if all > changes.len() {
                writeln!(out, "not shown: {} past the first {}", all - changes.len(), changes.len())?;
            }
        }
        Ok(())
    }

    fn lines(&self, out: &mut dyn Write, changes: &[Change], what: &str) -> Result<(), Error> {
        let mut headers = vec!["calls".to_owned(), "after".to_owned()];
        for &r in &self.shown {
            let word = match &self.shown[..] {
                [_] => String::new(),
                _ => format!("{} ", self.resources[r].name),
            };
            headers.extend(["base", "after", "change", "%", "cum +-", "%"].map(|header| match header {
                "%" => header.to_owned(),
                _ => format!("{word}{header}"),
            }));
        }
        let mut table = Aligned::new(headers, what);
        for change in changes {
            let count = self.resources.len();
            let (base, cum) = self.figures(change.of);
            let mut cells = vec![quantity(base[0], ""), quantity(base[count], "")];
            for &r in &self.shown {
                let unit = &self.resources[r].unit;
                cells.extend([base[r], base[count + r]].map(|value| quantity(value, unit)));
                cells.extend(self.changed(base, r, Uncertainty::base));
                cells.extend(self.changed(cum, r, Uncertainty::cum));
            }
            table.row(cells, &self.words(change.of, FRAMES));
        }
        Ok(table.print(out, self.options.width)?)
    }

    /// The difference and the percent of it, marked if it cannot be told from none.
    fn changed(
        &self,
        figures: &[f64],
        r: usize,
        error: fn(Uncertainty, &[f64]) -> Option<uncertainty::Error>,
    ) -> [String; 2] {
        let count = self.resources.len();
        let (x, y) = (figures[r], figures[count + r]);
        // What accompanies a resource stands beside it, on each side; calls stand before them.
        let errors = [&figures[1..count], &figures[count + 1..]].map(|side| error(self.uncertain[r], side));
        let doubt = uncertainty::Error::sum(errors.into_iter().flatten());
        let mark = if doubt.hides(y - x) { "~" } else { "" };
        let sign = if y > x { "+" } else { "" };
        [format!("{mark}{sign}{}", quantity(y - x, &self.resources[r].unit)), relative(x, y)]
    }

    fn value(&self, change: &Change) -> serde_json::Map<String, Value> {
        let count = self.resources.len();
        let (base, cum) = self.figures(change.of);
        let mut row = serde_json::Map::new();
        for (side, word) in ["before", "after"].into_iter().enumerate() {
            let shown: Vec<_> = self.shown.iter().map(|r| side * count + r).collect();
            let value = json!({
                "calls": machine::number(base[side * count]),
                "base": machine::list(base, &shown),
                "cum": machine::list(cum, &shown),
            });
            row.insert(word.into(), value);
        }
        row
    }

    fn document(&self, out: &mut dyn Write, shown: [(&[Change], usize); 2]) -> Result<(), Error> {
        let resources = self.shown.iter().map(|&r| {
            let resource = &self.resources[r];
            json!({"name": resource.name, "unit": resource.unit})
        });
        write!(out, "{{\"report\":\"diff\",\"resources\":{}", resources.collect::<Value>())?;
        if self.corrections.iter().any(|correction| !correction.is_null()) {
            write!(out, ",\"correction\":{}", json!(self.corrections))?;
        }
        for ((changes, all), what) in shown.into_iter().zip(["methods", "contexts"]) {
            write!(out, ",\"{what}_changed\":{all},\"{what}\":[")?;
            for (i, change) in changes.iter().enumerate() {
                let mut row = self.value(change);
                let (kind, name) = self.consumer(change.of);
                match change.of {
                    Changed::Method(_) => row.insert("function".into(), json!(name)),
                    Changed::Context(id) => row.insert("context".into(), json!(self.path(id))),
                };
                row.insert("kind".into(), json!(kind.word()));
                write!(out, "{}\n{}", if i > 0 { "," } else { "" }, Value::Object(row))?;
            }
            write!(out, "\n]")?;
        }
        writeln!(out, "}}")?;
        Ok(())
    }

    fn table(&self, out: &mut dyn Write, shown: [(&[Change], usize); 2]) -> Result<(), Error> {
        let count = self.resources.len();
        write!(out, "of,function,kind,calls_before,calls_after")?;
        for &r in &self.shown {
            let name = machine::field(&self.resources[r].name).replace(' ', "_");
            write!(out, ",{name}_base_before,{name}_base_after,{name}_cum_before,{name}_cum_after")?;
        }
        writeln!(out)?;
        for ((changes, _), what) in shown.into_iter().zip(["method", "context"]) {
            for change in changes {
                let (name, kind) = (self.words(change.of, usize::MAX), self.consumer(change.of).0.word());
                let (name, (base, cum)) = (machine::field(&name), self.figures(change.of));
                let number = |value: f64| machine::number(value).to_string();
                write!(out, "{what},{name},{kind},{},{}", number(base[0]), number(base[count]))?;
                for &r in &self.shown {
                    for figures in [base, cum] {
                        write!(out, ",{},{}", number(figures[r]), number(figures[count + r]))?;
                    }
                }
                writeln!(out)?;
            }
        }
        Ok(())
    }
}

/// A change in percent, or in a word.
fn relative(before: f64, after: f64) -> String {
    match (before == 0.0, after == 0.0) {
        _ if before == after => "-".into(),
        (true, false) => "new".into(),
        (false, true) => "gone".into(),
        _ => format!("{:+.1} %", 100.0 * (after - before) / before),
    }
}
