//! Figures added up by thread and context.

use std::collections::BTreeMap;
use std::path::Path;

use super::processes::Processes;
use super::table::{Rows, not_a_table, read};
use crate::export::parquet::schema::{CONTEXTS, METHODS, Table, VALUES};
use crate::hash::HashMap;
use crate::model::Kind;
use crate::session::Error;

/// A key of a context or method.
pub(super) type Key = [u8; 16];

/// The key of no context.
pub(super) const NONE: Key = [0; 16];

/// A context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Context {
    pub(super) parent: Key,
    pub(super) method: Key,
    pub(super) depth: u64,
}

/// A method, or another consumer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Method {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// Name of its source file, without folders.
    pub(super) file: Option<String>,
    pub(super) line: u64,
}

/// What is known of a context in the threads of a name.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Figures {
    pub(super) calls: u64,
    pub(super) exits: u64,
    pub(super) unwinds: u64,
    pub(super) aborted: u64,
    pub(super) unclosed: u64,
    pub(super) unmatched: u64,
    pub(super) open: u64,
    pub(super) timed: u64,
    /// ns of the shortest and of the longest call.
    pub(super) min: Option<u64>,
    pub(super) max: u64,
    pub(super) open_ns: u64,
    pub(super) closed_ns: u64,
    pub(super) sum_squares: f64,
    pub(super) wall_total: u64,
    pub(super) raw_total: u64,
    pub(super) variance_total: f64,
    pub(super) cpu_total: u64,
    pub(super) cpu_raw_total: u64,
    pub(super) allocations: u64,
    pub(super) bytes: u64,
    pub(super) bytecodes: u64,
    /// Where times are samples: their number, ns of CPU time (or events that were sampled in its place), and of probes.
    pub(super) samples: u64,
    pub(super) running: u64,
    pub(super) probes: u64,
}

/// How many rows have a figure that not all processes need to have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Coverage {
    pub(super) rows: u64,
    pub(super) wall: u64,
    pub(super) raw: u64,
    pub(super) cpu: u64,
    pub(super) cpu_raw: u64,
    pub(super) bytes: u64,
    pub(super) bytecodes: u64,
    /// Rows whose times are samples.
    pub(super) samples: u64,
    /// Rows whose calls were not all timed.
    pub(super) estimated: u64,
    /// Rows with waits, or objects that were followed: the profile has none of these.
    pub(super) left_out: u64,
}

/// The threads of a name.
#[derive(Debug, Default)]
pub(super) struct Thread {
    pub(super) threads: u64,
    /// Of the thread itself.
    pub(super) own: Figures,
    /// By context.
    pub(super) contexts: BTreeMap<Key, Figures>,
}

/// All figures of the chosen processes.
#[derive(Debug, Default)]
pub(super) struct Sums {
    pub(super) threads: BTreeMap<String, Thread>,
    pub(super) contexts: HashMap<Key, Context>,
    pub(super) methods: HashMap<Key, Method>,
    pub(super) covered: Coverage,
}

const VALUE_COLUMNS: [&str; 33] = [
    "batch",
    "process",
    "thread",
    "context",
    "calls",
    "exits",
    "unwinds",
    "aborted",
    "unclosed",
    "unmatched",
    "open",
    "timed",
    "min_ns",
    "max_ns",
    "open_ns",
    "closed_ns",
    "sum_squares",
    "wall_total",
    "wall_raw_total",
    "wall_variance_total",
    "cpu_total",
    "cpu_raw_total",
    "allocations",
    "bytes",
    "bytecodes",
    "waiting_raw",
    "waiting",
    "contended",
    "live",
    "samples",
    "running",
    "probes",
    "sampled",
];

impl Sums {
    pub(super) fn read(dataset: &Path, processes: &Processes) -> Result<Sums, Error> {
        let mut sums = Sums::default();
        for file in processes.files(dataset, &METHODS)? {
            let columns = ["method", "name", "kind", "file", "line"];
            read(dataset, &METHODS, &file, &columns, |rows| {
                sums.methods(rows).map_err(wrong(dataset, &METHODS, &file))
            })?;
        }
        for file in processes.files(dataset, &CONTEXTS)? {
            let columns = ["context", "parent", "method", "depth"];
            read(dataset, &CONTEXTS, &file, &columns, |rows| {
                sums.contexts(rows).map_err(wrong(dataset, &CONTEXTS, &file))
            })?;
        }
        for file in processes.files(dataset, &VALUES)? {
            read(dataset, &VALUES, &file, &VALUE_COLUMNS, |rows| {
                sums.values(rows, processes).map_err(wrong(dataset, &VALUES, &file))
            })?;
        }
        Ok(sums)
    }

    fn methods(&mut self, rows: &Rows) -> Result<(), &'static str> {
        for row in 0..rows.count {
            let key = rows.key(0, row).ok_or("a method has no key")?;
            if self.methods.contains_key(&key) {
                continue;
            }
            let kind =
                rows.text(2, row).and_then(Kind::from_word).ok_or("a method has no kind that is known")?;
            let name = rows.text(1, row).ok_or("a method has no name")?.to_owned();
            let file = rows.text(3, row).map(|path| path.rsplit('/').next().unwrap_or(path).to_owned());
            self.methods.insert(key, Method { name, kind, file, line: rows.count_of(4, row) });
        }
        Ok(())
    }

    fn contexts(&mut self, rows: &Rows) -> Result<(), &'static str> {
        for row in 0..rows.count {
            let key = |column| rows.key(column, row).ok_or("a context lacks a key");
            let (context, parent, method) = (key(0)?, key(1)?, key(2)?);
            self.contexts.insert(context, Context { parent, method, depth: rows.count_of(3, row) });
        }
        Ok(())
    }

    fn values(&mut self, rows: &Rows, processes: &Processes) -> Result<(), &'static str> {
        for row in 0..rows.count {
            let batch = rows.text(0, row).ok_or("a row has no batch")?;
            let process = rows.key(1, row).ok_or("a row has no process")?;
            let context = rows.key(3, row).ok_or("a row has no context")?;
            // The row of a process has what no thread has: nothing that a profile of sums could hold.
            let Some(thread) = rows.text(2, row).filter(|_| processes.has(&process, batch)) else { continue };
            if !self.threads.contains_key(thread) {
                self.threads.insert(thread.to_owned(), Thread::default());
            }
            let of = self.threads.get_mut(thread).expect("it was put there");
            let figures = if context == NONE {
                of.threads = of.threads.saturating_add(rows.count_of(4, row));
                &mut of.own
            } else {
                of.contexts.entry(context).or_default()
            };
            self.covered.add(rows, row, context != NONE);
            figures.add(rows, row);
        }
        Ok(())
    }
}

fn wrong<'a>(
    dataset: &'a Path,
    table: &'static Table,
    file: &'a Path,
) -> impl FnOnce(&'static str) -> Error + 'a {
    move |why| not_a_table(&dataset.join(table.name).join(file), table, why)
}

impl Coverage {
    fn add(&mut self, rows: &Rows, row: usize, is_context: bool) {
        let has = |column: usize| u64::from(rows.int(column, row).is_some());
        self.rows += 1;
        self.wall += has(17);
        self.raw += has(18);
        self.cpu += has(20);
        self.cpu_raw += has(21);
        self.bytes += has(23);
        self.bytecodes += has(24);
        self.samples += has(29);
        self.left_out += u64::from((25..29).any(|column| rows.int(column, row).is_some()));
        let ended = (5..9).map(|column| rows.count_of(column, row)).sum::<u64>();
        let is_estimated = is_context && rows.int(11, row).is_some_and(|timed| (timed as u64) < ended);
        self.estimated += u64::from(is_estimated);
    }
}

impl Figures {
    fn add(&mut self, rows: &Rows, row: usize) {
        let sum = |sum: &mut u64, column: usize| *sum = sum.saturating_add(rows.count_of(column, row));
        sum(&mut self.calls, 4);
        sum(&mut self.exits, 5);
        sum(&mut self.unwinds, 6);
        sum(&mut self.aborted, 7);
        sum(&mut self.unclosed, 8);
        sum(&mut self.unmatched, 9);
        sum(&mut self.open, 10);
        sum(&mut self.timed, 11);
        sum(&mut self.open_ns, 14);
        sum(&mut self.closed_ns, 15);
        sum(&mut self.wall_total, 17);
        sum(&mut self.raw_total, 18);
        sum(&mut self.cpu_total, 20);
        sum(&mut self.cpu_raw_total, 21);
        sum(&mut self.allocations, 22);
        sum(&mut self.bytes, 23);
        sum(&mut self.bytecodes, 24);
        sum(&mut self.samples, 29);
        // A process has one of them.
        sum(&mut self.running, 30);
        sum(&mut self.running, 32);
        sum(&mut self.probes, 31);
        let ns = |column| rows.int(column, row).and_then(|ns| u64::try_from(ns).ok());
        self.min = [self.min, ns(12)].into_iter().flatten().min();
        self.max = self.max.max(ns(13).unwrap_or(0));
        self.sum_squares += rows.real(16, row).unwrap_or(0.0);
        self.variance_total += rows.real(19, row).unwrap_or(0.0).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_of_two_rows_is_added() {
        let columns = 0..VALUE_COLUMNS.len() as i64;
        // No two columns have the same sum.
        let rows = [columns.clone().map(|column| 1000 + column).collect(), columns.map(|c| 7 * c).collect()];
        let (rows, mut sums) = (Rows::of_numbers(&rows), Figures::default());
        (0..rows.count).for_each(|row| sums.add(&rows, row));
        for (name, found) in [
            ("calls", sums.calls),
            ("exits", sums.exits),
            ("unwinds", sums.unwinds),
            ("aborted", sums.aborted),
            ("unclosed", sums.unclosed),
            ("unmatched", sums.unmatched),
            ("open", sums.open),
            ("timed", sums.timed),
            ("open_ns", sums.open_ns),
            ("closed_ns", sums.closed_ns),
            ("wall_total", sums.wall_total),
            ("wall_raw_total", sums.raw_total),
            ("cpu_total", sums.cpu_total),
            ("cpu_raw_total", sums.cpu_raw_total),
            ("allocations", sums.allocations),
            ("bytes", sums.bytes),
            ("bytecodes", sums.bytecodes),
            ("samples", sums.samples),
            ("probes", sums.probes),
        ] {
            let column = VALUE_COLUMNS.iter().position(|of| *of == name).unwrap() as u64;
            assert_eq!(found, 1000 + 8 * column, "{name}");
        }
        assert_eq!((sums.min, sums.max), (Some(7 * 12), 1000 + 13));
        assert_eq!(sums.running, 2 * 1000 + 8 * (30 + 32), "of running and sampled one is null");
    }
}
