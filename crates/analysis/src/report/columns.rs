//! Aligned text: calls (`-`: none were counted), then base and cum of each resource, then the name. Widths follow from the totals, so that rows can be
//! printed one by one.

use std::io::{self, Write};

use super::labels::Labels;
use super::style::{BAR, Style, tree_lines};
use super::{Options, Show};
use crate::model::{Arcflow, Window};
use crate::text::{below, percent, quantity, quantity_width, shortened};
use crate::thread_time::counts_calls;
use crate::uncertainty::{Error, Uncertainty};
use instrument_names::printable::printable;

/// Headers of the first and the last column, as in the paper.
const CALLS: &str = "calls";
const FUNCTION: &str = "function";

/// Levels that are shown by indentation, or fewer where there is no room; deeper ones are numbered.
const INDENTED: usize = 40;
/// Names keep this many columns beside bars; where there are fewer, there are no bars.
const ROOM_BESIDE_BAR: usize = 24;
/// Names are never shortened below this.
const NARROWEST_NAME: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Base,
    Cum,
}

/// What a column says of base or cum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    Figure,
    /// What it may be off by, in percent of it.
    ErrorPercent,
    Percent,
}

struct Column {
    header: String,
    width: usize,
    resource: usize,
    part: Part,
    cell: Cell,
}

/// The figures of a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures<'a> {
    pub(crate) calls: u64,
    /// Whether it can consume anything itself: a process does not.
    pub(crate) runs: bool,
    pub(crate) base: &'a [f64],
    pub(crate) cum: &'a [f64],
}

/// The plan of a table.
pub(crate) struct Columns {
    calls: usize,
    counts_calls: bool,
    columns: Vec<Column>,
    units: Vec<String>,
    uncertain: Vec<Uncertainty>,
    total: Vec<f64>,
    labels: Labels,
    /// Columns left for the name.
    name: Option<usize>,
    /// Names of the resources shown, with their totals.
    heading: String,
    style: Style,
    /// What the bars show, if there are any.
    bar: Option<(usize, Part)>,
}

/// What the columns mean, where that is not what they say.
fn labels(model: &Arcflow) -> impl Iterator<Item = String> {
    let labels = [(CALLS, &model.occurrences, "calls"), (FUNCTION, &model.consumers, "methods")];
    let odd = labels.into_iter().filter(|(_, label, usual)| label != usual);
    odd.map(|(column, label, _)| format!("{column}: {label}"))
}

/// An error in percent of its figure, whole ones from 10 on; `>99`: it may be off by all of it.
pub(super) fn error_percent(error: f64, value: f64) -> String {
    let percent = 100.0 * error / value;
    match percent {
        _ if error == 0.0 => "-".to_owned(),
        percent if percent >= 99.5 || !percent.is_finite() => ">99".to_owned(),
        percent if percent >= 9.95 => format!("{percent:.0}"),
        percent => format!("{percent:.1}"),
    }
}

/// The least error of a total that is printed, as a part of it.
const LEAST_ERROR: f64 = 0.01;

/// A total as rows have it: with `~` in front if it is within its error, and with its error in percent if that is worth speaking of.
/// `figures` are the totals of all resources.
pub(crate) fn total(model: &Arcflow, figures: &[f64], resource: usize) -> String {
    let value = figures[resource];
    let error = Uncertainty::of(model, resource).cum(figures);
    let text = marked(value, &model.resources()[resource].unit, error);
    match error.filter(|error| error.total() > LEAST_ERROR * value) {
        None => text,
        Some(error) => format!("{text} +- {} %", error_percent(error.total(), value)),
    }
}

/// A figure with its unit, and `~` in front if it is within its error.
pub(crate) fn marked(value: f64, unit: &str, error: Option<Error>) -> String {
    let mark = if error.is_some_and(|error| error.hides(value)) { "~" } else { "" };
    format!("{mark}{}", quantity(value, unit))
}

/// The time that the figures are of, where that is not everything.
fn window(model: &Arcflow) -> Option<String> {
    let Window { begin, length } = model.window?;
    let time = |ns: u64| quantity(ns as f64, "ns");
    Some(format!("in {} from {} after the start", time(length), time(begin)))
}

impl Columns {
    /// For the resources `shown`, where everything together is `total`, and no line has more than `calls`. `before` columns are
    /// taken by the caller.
    pub(crate) fn new(
        model: &Arcflow,
        options: &Options<'_>,
        shown: &[usize],
        total: &[f64],
        calls: u64,
        before: usize,
    ) -> Columns {
        let mut columns = Vec::new();
        for &resource in shown {
            let of = &model.resources()[resource];
            for (part, word) in [(Part::Base, "base"), (Part::Cum, "cum")] {
                let word =
                    if shown.len() > 1 { format!("{} {word}", printable(&of.name)) } else { word.to_owned() };
                let uncertain = Uncertainty::of(model, resource);
                for cell in [Cell::Figure, Cell::ErrorPercent, Cell::Percent] {
                    let wanted = match cell {
                        Cell::Figure => options.show != Show::Percent,
                        Cell::ErrorPercent => options.show != Show::Percent && uncertain.is_known(),
                        Cell::Percent => options.show != Show::Absolute,
                    };
                    if !wanted {
                        continue;
                    }
                    let (header, figure) = match cell {
                        // Room for the mark of uncertain figures.
                        Cell::Figure => {
                            let mark = if uncertain.is_of_samples() { 2 } else { 1 };
                            (word.clone(), mark + quantity_width(total[resource], &of.unit))
                        }
                        Cell::ErrorPercent => ("+- %".to_owned(), 4),
                        Cell::Percent => (format!("{word} %"), 5),
                    };
                    let width = figure.max(header.chars().count());
                    columns.push(Column { header, width, resource, part, cell });
                }
            }
        }
        let calls = calls.to_string().len().max(CALLS.len());
        let style = Style::of(options);
        let used = before + calls + 2 + columns.iter().map(|c| c.width + 2).sum::<usize>();
        let room = options.width.is_none_or(|width| width >= used + BAR + 2 + ROOM_BESIDE_BAR);
        let bar = shown.first().filter(|_| style.is_on() && room).map(|&resource| (resource, Part::Cum));
        let used = used + if bar.is_some() { BAR + 2 } else { 0 };
        let heading =
            shown.iter().map(|&r| format!("{} {}", model.resources()[r].name, self::total(model, total, r)));
        Columns {
            calls,
            counts_calls: counts_calls(model),
            columns,
            units: model.resources().iter().map(|r| r.unit.clone()).collect(),
            uncertain: (0..model.resources().len()).map(|r| Uncertainty::of(model, r)).collect(),
            total: total.to_vec(),
            labels: Labels::new(model, options),
            name: options.width.map(|width| width.saturating_sub(used).max(NARROWEST_NAME)),
            heading: printable(
                &heading.chain(labels(model)).chain(window(model)).collect::<Vec<_>>().join(", "),
            )
            .into_owned(),
            style,
            bar,
        }
    }

    /// Bars show what consumers consumed themselves.
    pub(crate) fn draw_base(&mut self) {
        self.bar = self.bar.map(|(resource, _)| (resource, Part::Base));
    }

    /// The totals, as the first line of a report.
    pub(crate) fn heading(&self) -> &str {
        &self.heading
    }

    /// The names of the columns.
    pub(crate) fn header(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut line = format!("{CALLS:>0$}", self.calls);
        for column in &self.columns {
            line += &format!("  {:>1$}", column.header, column.width);
        }
        if self.bar.is_some() {
            line += &format!("  {:BAR$}", "");
        }
        writeln!(out, "{}", self.style.header(format!("{line}  {FUNCTION}")))
    }

    /// Leaves out what consumers consumed themselves.
    pub(crate) fn leave_base_out(&mut self) {
        self.columns.retain(|column| column.part == Part::Cum);
    }

    /// A consumer's name as it is shown.
    pub(crate) fn label(&self, name: &str) -> String {
        self.labels.of(name).into_owned()
    }

    /// A line.
    pub(crate) fn line(
        &self,
        out: &mut dyn Write,
        figures: Figures<'_>,
        level: usize,
        name: &str,
    ) -> io::Result<()> {
        self.labelled(out, figures, level, None, &self.labels.of(name))
    }

    /// A line with a name as it is shown. `is_last`: for the tree lines in front of it, see [`tree_lines`]; one for each level.
    pub(crate) fn labelled(
        &self,
        out: &mut dyn Write,
        figures: Figures<'_>,
        level: usize,
        is_last: Option<&[bool]>,
        name: &str,
    ) -> io::Result<()> {
        match self.counts_calls {
            true => write!(out, "{:>1$}", figures.calls, self.calls)?,
            false => write!(out, "{:>1$}", "-", self.calls)?,
        }
        for column in &self.columns {
            let r = column.resource;
            let uncertain = self.uncertain[r];
            let (all, error) = match column.part {
                Part::Base => (figures.base, uncertain.base(figures.base)),
                Part::Cum => (figures.cum, uncertain.cum(figures.cum)),
            };
            let bound = match column.part {
                Part::Base if !figures.runs => None,
                _ => uncertain.bound(all),
            };
            let text = match (column.cell, bound) {
                (Cell::Figure, Some(bound)) => below(bound, &self.units[r]),
                (Cell::Percent, Some(bound)) => format!("<{}", percent(bound, self.total[r])),
                (Cell::Percent, None) => percent(all[r], self.total[r]),
                (Cell::ErrorPercent, _) => error_percent(error.map_or(0.0, Error::total), all[r]),
                (Cell::Figure, None) => marked(all[r], &self.units[r], error),
            };
            let is_hidden = error.is_some_and(|e| e.hides(all[r]));
            let share = all[r] / self.total[r];
            let text = format_args!("{text:>0$}", column.width);
            match column.cell {
                Cell::ErrorPercent => write!(out, "  {text}")?,
                _ => write!(out, "  {}", self.style.figure(share, is_hidden, text))?,
            }
        }
        if let Some((r, part)) = self.bar {
            let of = if part == Part::Base { figures.base } else { figures.cum };
            write!(out, "  {}", self.style.bar(of[r] / self.total[r]))?;
        }
        let deepest =
            self.name.map_or(INDENTED, |room| (room.saturating_sub(NARROWEST_NAME) / 4).min(INDENTED));
        let depth = if level > deepest { format!("{level}: ") } else { String::new() };
        let indent = 2 * level.min(deepest);
        let room = self.name.map(|room| room.saturating_sub(indent + depth.len()).max(NARROWEST_NAME));
        let lines =
            is_last.filter(|is_last| self.style.is_on() && is_last.len() == level && level <= deepest);
        match lines {
            Some(is_last) if level > 0 => write!(out, "  {}", self.style.line(tree_lines(is_last)))?,
            _ => write!(out, "  {:indent$}", "")?,
        }
        writeln!(out, "{depth}{}", shortened(name, room))
    }

    /// How many columns lie before the name, for lines that have no figures.
    pub(crate) fn width(&self) -> usize {
        let bars = if self.bar.is_some() { BAR + 2 } else { 0 };
        self.calls + bars + self.columns.iter().map(|c| c.width + 2).sum::<usize>()
    }
}
