//! xarc: why a consumer consumes. A stanza for each: its parents, itself, its children; lines of `==` between stanzas.
//!
//! What the figures of parents and children mean, with and without recursion, is defined in [`crate::arcs`].

use std::io::Write;

use serde_json::{Value, json};

use super::columns::{Columns, Figures};
use super::document::Document;
use super::rows::Rows;
use super::style::Style;
use super::{Error, Format, Options, Sort, machine};
use crate::arcs::{ArcId, Arcs, FunctionId};
use crate::model::{Arcflow, Kind};

/// Width of the words `parent`, `self`, `child`, and the space after them.
const ROLE: usize = 8;

/// Writes the report.
///
/// # Errors
/// A resource that the model does not have, or the output failed.
pub fn write(out: &mut dyn Write, model: &Arcflow, arcs: &Arcs, options: &Options<'_>) -> Result<(), Error> {
    let report = Report::new(model, arcs, options)?;
    match options.format {
        Format::Text => report.text(out),
        Format::Json => Ok(report.document().print(out)?),
        Format::Csv => report.table(out),
    }
}

/// The same as JSON has it.
///
/// # Errors
/// A resource that the model does not have.
pub fn document(model: &Arcflow, arcs: &Arcs, options: &Options<'_>) -> Result<Value, Error> {
    Ok(Report::new(model, arcs, options)?.document().into_value())
}

struct Report<'a> {
    model: &'a Arcflow,
    arcs: &'a Arcs,
    options: &'a Options<'a>,
    shown: Vec<usize>,
    rows: Rows,
}

/// A line of a stanza.
struct Line<'a> {
    role: &'static str,
    other: FunctionId,
    calls: u64,
    base: &'a [f64],
    cum: &'a [f64],
}

impl<'a> Report<'a> {
    fn new(model: &'a Arcflow, arcs: &'a Arcs, options: &'a Options<'a>) -> Result<Report<'a>, Error> {
        let shown = options.resources(model)?;
        let sort = options.sort.unwrap_or(Sort::Cum);
        let rows = Rows::new(model, arcs, options, shown.first().copied(), sort);
        Ok(Report { model, arcs, options, shown, rows })
    }

    fn name(&self, id: FunctionId) -> &'a str {
        self.model.name(self.arcs.function(id).consumer)
    }

    fn own(&self, id: FunctionId) -> Line<'a> {
        let calls = self.arcs.function(id).calls;
        Line { role: "self", other: id, calls, base: self.arcs.self_base(id), cum: self.arcs.self_cum(id) }
    }

    /// The largest first; what matters stands next to self in text.
    fn parents(&self, id: FunctionId) -> Vec<Line<'a>> {
        let line = |&arc: &ArcId| {
            let of = self.arcs.arc(arc);
            let (base, cum) = (self.arcs.base(arc), self.arcs.parent_cum(arc));
            Line { role: "parent", other: of.parent, calls: of.calls, base, cum }
        };
        self.sorted(self.arcs.parents(id).iter().map(line).collect())
    }

    fn children(&self, id: FunctionId) -> Vec<Line<'a>> {
        let line = |&arc: &ArcId| {
            let of = self.arcs.arc(arc);
            let (base, cum) = (self.arcs.base(arc), self.arcs.child_cum(arc));
            Line { role: "child", other: of.child, calls: of.calls, base, cum }
        };
        self.sorted(self.arcs.children(id).iter().map(line).collect())
    }

    fn sorted(&self, mut lines: Vec<Line<'a>>) -> Vec<Line<'a>> {
        let key = |line: &Line<'_>| self.shown.first().map_or(line.calls as f64, |&r| line.cum[r]);
        lines.sort_by(|a, b| {
            key(b).total_cmp(&key(a)).then_with(|| self.name(a.other).cmp(self.name(b.other)))
        });
        lines
    }

    fn text(&self, out: &mut dyn Write) -> Result<(), Error> {
        let calls = self.arcs.ids().map(|id| self.arcs.function(id).calls).max().unwrap_or(0);
        let columns = Columns::new(self.model, self.options, &self.shown, self.arcs.total(), calls, ROLE);
        if !columns.heading().is_empty() {
            writeln!(out, "{}", columns.heading())?;
        }
        write!(out, "{:ROLE$}", "")?;
        columns.header(out)?;
        let wide = "=".repeat(self.options.width.unwrap_or(ROLE + columns.width() + 32));
        let wide = Style::of(self.options).line(wide);
        for &id in &self.rows.ids {
            writeln!(out, "{wide}")?;
            self.lines(out, &columns, self.parents(id))?;
            self.line(out, &columns, &self.own(id))?;
            self.lines(out, &columns, self.children(id))?;
        }
        writeln!(out, "{wide}")?;
        if let Some(unmet) = &self.rows.unmet {
            writeln!(out, "{unmet}")?;
        }
        let left_out = self.rows.left_out(self.options);
        if !left_out.is_empty() {
            writeln!(out, "not shown: {left_out}")?;
        }
        Ok(())
    }

    /// At most how many parents, and how many children, are shown of a consumer.
    fn most(&self) -> usize {
        self.options.arcs.unwrap_or(usize::MAX)
    }

    /// Parents or children: those below the share, or past the number that is requested, are summed up in one line, so that sums can still
    /// be seen.
    fn lines(&self, out: &mut dyn Write, columns: &Columns, lines: Vec<Line<'_>>) -> Result<(), Error> {
        let least = self.shown.first().map_or(0.0, |&r| self.options.prune * self.arcs.total()[r]);
        let is_small = |line: &Line<'_>| self.shown.first().is_some_and(|&r| line.cum[r] < least);
        let (mut small, mut large): (Vec<_>, Vec<_>) = lines.into_iter().partition(is_small);
        if large.len() > self.most() {
            small.splice(..0, large.split_off(self.most()));
        }
        for line in &large {
            self.line(out, columns, line)?;
        }
        match &small[..] {
            [] => Ok(()),
            [line] => self.line(out, columns, line),
            [first, ..] => {
                let sum = |of: fn(&Line<'_>, usize) -> f64| -> Vec<f64> {
                    (0..first.base.len()).map(|r| small.iter().map(|line| of(line, r)).sum()).collect()
                };
                let (base, cum) = (sum(|line, r| line.base[r]), sum(|line, r| line.cum[r]));
                let calls = small.iter().fold(0u64, |sum, line| sum.saturating_add(line.calls));
                write!(out, "{:ROLE$}", first.role)?;
                let figures = Figures { calls, runs: true, base: &base, cum: &cum };
                Ok(columns.line(out, figures, 1, &format!("({} more)", small.len()))?)
            }
        }
    }

    fn line(&self, out: &mut dyn Write, columns: &Columns, line: &Line<'_>) -> Result<(), Error> {
        let role = format!("{:ROLE$}", line.role);
        match line.role {
            "self" => write!(out, "{}", Style::of(self.options).header(role))?,
            _ => write!(out, "{role}")?,
        }
        let runs = !matches!(self.arcs.function(line.other).kind, Kind::Root | Kind::Process);
        let figures = Figures { calls: line.calls, runs, base: line.base, cum: line.cum };
        let level = usize::from(line.role != "self");
        Ok(columns.line(out, figures, level, self.name(line.other))?)
    }

    fn document(mut self) -> Document<'a> {
        let mut document = Document::new("xarc", self.model, &self.shown, self.arcs.total());
        let ids = std::mem::take(&mut self.rows.ids);
        let members = machine::Members::new(self.model, &self.shown);
        let left = self.rows.left();
        document.rows("stanzas", ids.into_iter().map(move |id| self.stanza(id, &members)));
        document.left_out(left);
        document
    }

    fn stanza(&self, id: FunctionId, members: &machine::Members) -> Value {
        let mut stanza = json!({"self": self.value(&self.own(id), members)});
        for (role, lines) in [("parents", self.parents(id)), ("children", self.children(id))] {
            stanza[role] = lines.iter().take(self.most()).map(|line| self.value(line, members)).collect();
            let left = lines.len().saturating_sub(self.most());
            if left > 0 {
                stanza[format!("{role}_left_out")] = json!(left);
            }
        }
        stanza
    }

    fn value(&self, line: &Line<'_>, members: &machine::Members) -> Value {
        let mut row = serde_json::Map::new();
        row.insert("function".into(), json!(self.name(line.other)));
        row.insert("kind".into(), json!(self.arcs.function(line.other).kind.word()));
        machine::origin(self.model, self.name(line.other), Some(&mut row));
        row.insert("calls".into(), json!(line.calls));
        members.put(line.base, line.cum, &mut row);
        Value::Object(row)
    }

    fn table(&self, out: &mut dyn Write) -> Result<(), Error> {
        writeln!(out, "stanza,role,function,kind,calls{}", machine::csv_header(self.model, &self.shown))?;
        for &id in &self.rows.ids {
            let stanza = machine::field(self.name(id));
            let own = std::iter::once(self.own(id));
            let [parents, children] =
                [self.parents(id), self.children(id)].map(|lines| lines.into_iter().take(self.most()));
            for line in parents.chain(own).chain(children) {
                let (name, kind) =
                    (machine::field(self.name(line.other)), self.arcs.function(line.other).kind);
                let figures = machine::csv_figures(&self.shown, line.base, line.cum);
                let (role, kind) = (line.role, kind.word());
                writeln!(out, "{stanza},{role},{name},{kind},{}{figures}", line.calls)?;
            }
        }
        Ok(())
    }
}
