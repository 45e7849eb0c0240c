//! Counts and their balance, printed.

use std::io::Write;

use instrument_names::printable::printable;

use super::{Balance, Report, Request, Row, Sampled};
use crate::report::aligned::Aligned;
use crate::report::columns::error_percent;
use crate::report::{Error, machine::field};
use crate::text::{below, quantity};
use crate::uncertainty::wilson;

/// The last one only where it was counted.
const COLUMNS: [&str; 8] =
    ["entries", "exits", "unwinds", "aborted", "unclosed", "unmatched", "open", "bytecodes"];

impl Report {
    /// The table, or that of the allocations.
    ///
    /// # Errors
    /// The output failed.
    pub fn tables(&self, options: &Request, out: &mut dyn Write) -> Result<(), Error> {
        if options.allocations {
            let mut table = Aligned::new(vec!["count".into(), "class".into()], "method").with_text(1);
            for row in &self.allocations {
                let class = printable(&row.class).into_owned();
                table.exact(vec![row.count.to_string(), class], row.method.as_deref().unwrap_or("-"));
            }
            return Ok(table.print(out, None)?);
        }
        let thread = options.per_thread.then(|| "thread".to_owned());
        let running = self.sampled.map(|_| "running".to_owned());
        let headers = self.columns().map(str::to_owned).chain(running).chain(thread).collect();
        let mut table = Aligned::new(headers, "method").with_text(usize::from(options.per_thread));
        for row in &self.methods {
            let figures = row.figures().map(|figure| figure.to_string());
            let time = |sampled: Sampled| sampled.text(row.samples.unwrap_or(0), row.running_ns.unwrap_or(0));
            let running = self.sampled.map(time);
            table.exact(figures.chain(running).chain(row.thread.clone()).collect(), &row.name);
        }
        Ok(table.print(out, None)?)
    }

    /// The same as CSV.
    ///
    /// # Errors
    /// The output failed.
    pub fn csv(&self, options: &Request, out: &mut dyn Write) -> Result<(), Error> {
        if options.allocations {
            writeln!(out, "class,method,count")?;
            for row in &self.allocations {
                let method = row.method.as_deref().unwrap_or("");
                writeln!(out, "{},{},{}", field(&row.class), field(method), row.count)?;
            }
            return Ok(());
        }
        let thread = if options.per_thread { ",thread" } else { "" };
        let sampled = if self.sampled.is_some() { ",samples,running_ns" } else { "" };
        writeln!(out, "method{thread},{}{sampled}", self.columns().collect::<Vec<_>>().join(","))?;
        for row in &self.methods {
            write!(out, "{}", field(&row.name))?;
            if let Some(thread) = &row.thread {
                write!(out, ",{}", field(thread))?;
            }
            for figure in row.figures().chain(row.samples).chain(row.running_ns) {
                write!(out, ",{figure}")?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    fn columns(&self) -> impl Iterator<Item = &'static str> {
        COLUMNS[..if self.has_bytecodes { 8 } else { 7 }].iter().copied()
    }
}

impl Row {
    fn figures(&self) -> impl Iterator<Item = u64> {
        let counts =
            [self.entries, self.exits, self.unwinds, self.aborted, self.unclosed, self.unmatched, self.open];
        counts.into_iter().chain(self.bytecodes)
    }
}

impl Sampled {
    /// Running time of so many samples, with its error.
    fn text(self, samples: u64, ns: u64) -> String {
        let [low, high] = wilson(samples as f64, self.all as f64);
        if samples == 0 {
            return below((high * self.ns).round(), "ns");
        }
        let error = (high - low) / 2.0 * self.all as f64 / samples as f64;
        format!("{} +- {} %", quantity(ns as f64, "ns"), error_percent(error, 1.0))
    }
}

impl Balance {
    /// Whether it holds, in a line.
    pub fn line(&self) -> String {
        let in_flight = match self.in_flight {
            0 => String::new(),
            1 => "; 1 event was being written when its process ended".into(),
            n => format!("; {n} events were being written when their process ended"),
        };
        if self.live {
            format!("balance not checked of processes that are still writing; {} methods", self.methods)
        } else if self.damaged && self.holds {
            format!("balance not checked of a damaged file; {} methods", self.methods)
        } else if self.holds {
            format!("counts balance for {} methods{in_flight}", self.methods)
        } else {
            format!(
                "counts do NOT BALANCE: {} times in {} methods{in_flight}",
                self.violations.len(),
                self.methods
            )
        }
    }

    /// The line, and all violations, below a table.
    ///
    /// # Errors
    /// The output failed.
    pub fn print(&self, out: &mut dyn Write) -> Result<(), Error> {
        writeln!(out, "\n{}", self.line())?;
        self.violations(out)
    }

    /// What breaks it.
    ///
    /// # Errors
    /// The output failed.
    pub fn violations(&self, out: &mut dyn Write) -> Result<(), Error> {
        for violation in &self.violations {
            writeln!(out, "  {}", printable(violation))?;
        }
        Ok(())
    }
}
