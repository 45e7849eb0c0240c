//! Rows of a table on their way into a file: columns of plain values, which become a group of rows.

use std::cmp::Ordering;
use std::io::Write;
use std::iter;

use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
    FloatType, Int64Type,
};
use parquet::errors::Result;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};

use super::schema::{Of, Table};
use crate::context_key::ContextKey;
use crate::model::HashMap;

/// A value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cell<'a> {
    Null,
    Key([u8; 16]),
    Text(&'a str),
    Int(i64),
    Real(f64),
    Flag(bool),
}

/// The values of a column, by row; where there is none, anything.
enum Values {
    Keys(Vec<[u8; 16]>),
    /// Indices of texts.
    Texts(Vec<u32>),
    Ints(Vec<i64>),
    Reals(Vec<f64>),
    Errors(Vec<f32>),
    Flags(Vec<bool>),
}

struct Cells {
    values: Values,
    /// By row, up to the last value: there is one. The values are as many.
    present: Vec<bool>,
}

/// Rows that are not written yet.
pub(super) struct Batch {
    table: &'static Table,
    columns: Vec<Cells>,
    rows: usize,
    texts: Vec<ByteArray>,
    numbers: HashMap<String, u32>,
}

impl Batch {
    pub(super) fn new(table: &'static Table) -> Batch {
        let cells = |of: Of| match of {
            Of::Key => Values::Keys(Vec::new()),
            Of::Text => Values::Texts(Vec::new()),
            Of::Count | Of::Time | Of::Moment => Values::Ints(Vec::new()),
            Of::Real => Values::Reals(Vec::new()),
            Of::Error => Values::Errors(Vec::new()),
            Of::Flag => Values::Flags(Vec::new()),
        };
        let columns =
            table.columns.iter().map(|column| Cells { values: cells(column.of), present: Vec::new() });
        Batch { table, columns: columns.collect(), rows: 0, texts: Vec::new(), numbers: HashMap::default() }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Adds a row: a text for the first column, and a cell for each of the others, of its type.
    pub(super) fn push(&mut self, first: &str, row: &[Cell<'_>]) {
        assert_eq!(1 + row.len(), self.columns.len(), "{}: cells of a row", self.table.name);
        let Batch { table, columns, rows, texts, numbers } = self;
        let row = iter::once(Cell::Text(first)).chain(row.iter().copied());
        for ((cells, cell), column) in columns.iter_mut().zip(row).zip(table.columns) {
            if cell == Cell::Null {
                assert!(column.optional, "{}.{} has no value", table.name, column.name);
                continue;
            }
            if cells.present.len() < *rows {
                cells.resize(*rows);
            }
            cells.present.push(true);
            match (&mut cells.values, cell) {
                (Values::Keys(all), Cell::Key(key)) => all.push(key),
                (Values::Texts(all), Cell::Text(text)) => {
                    all.push(numbers.get(text).copied().unwrap_or_else(|| {
                        texts.push(ByteArray::from(text));
                        numbers.insert(text.to_owned(), texts.len() as u32 - 1);
                        texts.len() as u32 - 1
                    }));
                }
                (Values::Ints(all), Cell::Int(value)) => all.push(value),
                (Values::Reals(all), Cell::Real(value)) => all.push(value),
                (Values::Errors(all), Cell::Real(value)) => all.push(value as f32),
                (Values::Flags(all), Cell::Flag(value)) => all.push(value),
                _ => panic!("{}.{} cannot hold {cell:?}", table.name, column.name),
            }
        }
        *rows += 1;
    }

    /// Writes the rows as a group, sorted as the table is, and forgets them.
    pub(super) fn write<W: Write + Send>(&mut self, writer: &mut SerializedFileWriter<W>) -> Result<()> {
        let order = self.order();
        let mut group = writer.next_row_group()?;
        for (cells, column) in self.columns.iter().zip(self.table.columns) {
            cells.write(&mut group, &order, column.optional, &self.texts)?;
        }
        group.close()?;
        *self = Batch::new(self.table);
        Ok(())
    }

    fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.rows as u32).collect();
        let by = self.table.sorted_by.iter().filter_map(|name| self.table.position(name));
        let by: Vec<&Cells> = by.map(|at| &self.columns[at]).collect();
        if !by.is_empty() {
            // Stable, so rows that are alike stay in their order.
            order.sort_by(|&a, &b| {
                by.iter()
                    .map(|cells| cells.compare(a as usize, b as usize, &self.texts))
                    .find(|o| o.is_ne())
                    .unwrap_or(Ordering::Equal)
            });
        }
        order
    }
}

impl Cells {
    fn resize(&mut self, rows: usize) {
        self.present.resize(rows, false);
        match &mut self.values {
            Values::Keys(all) => all.resize(rows, [0; 16]),
            Values::Texts(all) => all.resize(rows, 0),
            Values::Ints(all) => all.resize(rows, 0),
            Values::Reals(all) => all.resize(rows, 0.0),
            Values::Errors(all) => all.resize(rows, 0.0),
            Values::Flags(all) => all.resize(rows, false),
        }
    }

    fn is_present(&self, row: usize) -> bool {
        self.present.get(row) == Some(&true)
    }

    fn compare(&self, a: usize, b: usize, texts: &[ByteArray]) -> Ordering {
        let is_there = [a, b].map(|row| self.is_present(row));
        if is_there != [true, true] {
            return is_there[0].cmp(&is_there[1]);
        }
        match &self.values {
            Values::Keys(all) => all[a].cmp(&all[b]),
            Values::Texts(all) if all[a] == all[b] => Ordering::Equal,
            Values::Texts(all) => texts[all[a] as usize].data().cmp(texts[all[b] as usize].data()),
            Values::Ints(all) => all[a].cmp(&all[b]),
            Values::Reals(all) => all[a].total_cmp(&all[b]),
            Values::Errors(all) => all[a].total_cmp(&all[b]),
            Values::Flags(all) => all[a].cmp(&all[b]),
        }
    }

    fn write<W: Write + Send>(
        &self,
        group: &mut SerializedRowGroupWriter<'_, W>,
        order: &[u32],
        optional: bool,
        texts: &[ByteArray],
    ) -> Result<()> {
        let order = Order { order, cells: self, optional };
        match &self.values {
            Values::Keys(all) => order.write::<FixedLenByteArrayType, _>(group, |chunk| {
                let bytes: Vec<u8> = chunk.iter().flat_map(|&row| all[row]).collect();
                let bytes = ByteArray::from(bytes);
                (0..chunk.len()).map(|i| FixedLenByteArray::from(bytes.slice(16 * i, 16))).collect()
            }),
            Values::Texts(all) => order.write::<ByteArrayType, _>(group, |c| {
                c.iter().map(|&i| texts[all[i] as usize].clone()).collect()
            }),
            Values::Ints(all) => order.write::<Int64Type, _>(group, |c| c.iter().map(|&i| all[i]).collect()),
            Values::Reals(all) => {
                order.write::<DoubleType, _>(group, |c| c.iter().map(|&i| all[i]).collect())
            }
            Values::Errors(all) => {
                order.write::<FloatType, _>(group, |c| c.iter().map(|&i| all[i]).collect())
            }
            Values::Flags(all) => order.write::<BoolType, _>(group, |c| c.iter().map(|&i| all[i]).collect()),
        }
    }
}

/// Rows that are gathered at a time.
const CHUNK: usize = 1 << 13;

/// The rows of a column in the order in which they are written.
struct Order<'a> {
    order: &'a [u32],
    cells: &'a Cells,
    optional: bool,
}

impl Order<'_> {
    fn write<T: DataType, W: Write + Send>(
        &self,
        group: &mut SerializedRowGroupWriter<'_, W>,
        values: impl Fn(&[usize]) -> Vec<T::T>,
    ) -> Result<()> {
        let Some(mut column) = group.next_column()? else { return Ok(()) };
        for chunk in self.order.chunks(CHUNK) {
            let rows = chunk.iter().map(|&row| row as usize);
            let there: Vec<usize> = rows.clone().filter(|&row| self.cells.is_present(row)).collect();
            let levels: Option<Vec<i16>> =
                self.optional.then(|| rows.map(|row| self.cells.is_present(row).into()).collect());
            column.typed::<T>().write_batch(&values(&there), levels.as_deref(), None)?;
        }
        column.close()
    }
}

impl From<ContextKey> for Cell<'_> {
    fn from(key: ContextKey) -> Self {
        Cell::Key(key.0)
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Cell::Text(text)
    }
}

impl<'a> From<&'a String> for Cell<'a> {
    fn from(text: &'a String) -> Self {
        Cell::Text(text)
    }
}

/// A count past 2^63 - 1 stays there, as it does in a profile past 2^64 - 1.
impl From<u64> for Cell<'_> {
    fn from(count: u64) -> Self {
        Cell::Int(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

impl From<bool> for Cell<'_> {
    fn from(flag: bool) -> Self {
        Cell::Flag(flag)
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Cell::Null, Into::into)
    }
}
