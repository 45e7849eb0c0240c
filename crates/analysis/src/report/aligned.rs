//! A table whose rows are all there: every column as wide as its widest cell, figures to the right, text to the left, the name last.

use std::io::{self, Write};

use super::Options;
use super::style::Style;
use crate::text::{shown, told_apart};
use instrument_names::printable::printable;

pub(crate) struct Aligned {
    rows: Vec<(Vec<String>, String)>,
    /// How many of the last columns before the name are text.
    text: usize,
}

impl Aligned {
    pub(crate) fn new(headers: Vec<String>, name: &str) -> Aligned {
        Aligned { rows: vec![(headers, shown(name).into_owned())], text: 0 }
    }

    /// The last columns before the name are text.
    pub(crate) fn with_text(self, text: usize) -> Aligned {
        Aligned { text, ..self }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>, name: &str) {
        self.rows.push((cells, shown(name).into_owned()));
    }

    /// A row whose name keeps its descriptor: of methods that differ in nothing else.
    pub(crate) fn exact(&mut self, cells: Vec<String>, name: &str) {
        self.rows.push((cells, printable(name).into_owned()));
    }

    /// As wide and as coloured as the options say.
    pub(crate) fn print_as(&self, out: &mut dyn Write, options: &Options<'_>) -> io::Result<()> {
        self.lines(out, options.width, Style::of(options))
    }

    /// Names are shortened so that lines have at most `width` columns.
    pub(crate) fn print(&self, out: &mut dyn Write, width: Option<usize>) -> io::Result<()> {
        self.lines(out, width, Style::PLAIN)
    }

    fn lines(&self, out: &mut dyn Write, width: Option<usize>, style: Style) -> io::Result<()> {
        let mut widths = vec![0; self.rows[0].0.len()];
        for (cells, _) in &self.rows {
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = cell.chars().count().max(*width);
            }
        }
        let used: usize = widths.iter().map(|width| width + 2).sum();
        let room = width.map(|all| all.saturating_sub(used).max(16));
        let names = self.rows.iter().map(|(_, name)| &**name).collect::<Vec<_>>();
        let names = told_apart(&names, room);
        for (number, ((cells, _), name)) in self.rows.iter().zip(names).enumerate() {
            let mut line = String::new();
            let figures = cells.len() - self.text;
            for (at, (cell, width)) in cells.iter().zip(&widths).enumerate() {
                line += &if at < figures { format!("{cell:>width$}  ") } else { format!("{cell:<width$}  ") };
            }
            line += &name;
            match number {
                0 => writeln!(out, "{}", style.header(line.trim_end()))?,
                _ => writeln!(out, "{}", line.trim_end())?,
            }
        }
        Ok(())
    }
}
