//! Rows of a table on their way into a file: columns of plain values, which become a group of rows.

use std::cmp::Ordering;
use std::io::Write;

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

    /// Adds a row: a text for the first column, and cells of its other columns, each of its type. Those that are left out have no value.
    pub(super) fn push<'a>(&mut self, first: &str, row: impl IntoIterator<Item = (usize, Cell<'a>)>) {
        self.set(0, Cell::Text(first));
        for (at, cell) in row {
            self.set(at, cell);
        }
        self.rows += 1;
    }

    /// Sets a column of the row that is being added.
    fn set(&mut self, at: usize, cell: Cell<'_>) {
        if cell == Cell::Null {
            return;
        }
        let (cells, table) = (&mut self.columns[at], self.table);
        if cells.present.len() < self.rows {
            cells.resize(self.rows);
        }
        cells.present.push(true);
        match (&mut cells.values, cell) {
            (Values::Keys(all), Cell::Key(key)) => all.push(key),
            (Values::Texts(all), Cell::Text(text)) => {
                let (texts, numbers) = (&mut self.texts, &mut self.numbers);
                // Most texts are those of the row before.
                let is_same =
                    |&last: &u32| texts.get(last as usize).is_some_and(|of| of.data() == text.as_bytes());
                let known = all.last().copied().filter(is_same).or_else(|| numbers.get(text).copied());
                all.push(known.unwrap_or_else(|| {
                    let number = texts.len() as u32;
                    texts.push(ByteArray::from(text));
                    numbers.insert(text.to_owned(), number);
                    number
                }));
            }
            (Values::Ints(all), Cell::Int(value)) => all.push(value),
            (Values::Reals(all), Cell::Real(value)) => all.push(value),
            (Values::Errors(all), Cell::Real(value)) => all.push(rounded_up(value as f32)),
            (Values::Flags(all), Cell::Flag(value)) => all.push(value),
            _ => panic!("{}.{} cannot hold {cell:?}", table.name, table.columns[at].name),
        }
    }

    /// Writes the rows as a group, sorted as the table is, and forgets them.
    pub(super) fn write<W: Write + Send>(&mut self, writer: &mut SerializedFileWriter<W>) -> Result<()> {
        let order = self.order();
        let mut group = writer.next_row_group()?;
        for (cells, column) in self.columns.iter().zip(self.table.columns) {
            let (table, name) = (self.table.name, column.name);
            assert!(column.optional || cells.is_full(self.rows), "{table}.{name}: a row without a value");
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

    /// Whether all of so many rows have a value.
    fn is_full(&self, rows: usize) -> bool {
        self.present.len() == rows && !self.present.contains(&false)
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
                let bytes: Vec<u8> = chunk.iter().flat_map(|&row| all[row as usize]).collect();
                let bytes = ByteArray::from(bytes);
                (0..chunk.len()).map(|i| FixedLenByteArray::from(bytes.slice(16 * i, 16))).collect()
            }),
            Values::Texts(all) => order.write::<ByteArrayType, _>(group, |c| {
                c.iter().map(|&row| texts[all[row as usize] as usize].clone()).collect()
            }),
            Values::Ints(all) => {
                order.write::<Int64Type, _>(group, |c| c.iter().map(|&row| all[row as usize]).collect())
            }
            Values::Reals(all) => {
                order.write::<DoubleType, _>(group, |c| c.iter().map(|&row| all[row as usize]).collect())
            }
            Values::Errors(all) => {
                order.write::<FloatType, _>(group, |c| c.iter().map(|&row| all[row as usize]).collect())
            }
            Values::Flags(all) => {
                order.write::<BoolType, _>(group, |c| c.iter().map(|&row| all[row as usize]).collect())
            }
        }
    }
}

/// What a figure may be off by with 10 significant bits, and no less than it is: nobody knows it better, and such values repeat.
fn rounded_up(error: f32) -> f32 {
    const LEFT_OUT: u32 = (1 << 14) - 1;
    let rounded = f32::from_bits(error.to_bits().saturating_add(LEFT_OUT) & !LEFT_OUT);
    if rounded.is_finite() { rounded } else { error }
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
        values: impl Fn(&[u32]) -> Vec<T::T>,
    ) -> Result<()> {
        let Some(mut column) = group.next_column()? else { return Ok(()) };
        let is_full = self.cells.is_full(self.order.len());
        let (mut there, mut levels) = (Vec::with_capacity(CHUNK), Vec::with_capacity(CHUNK));
        for chunk in self.order.chunks(CHUNK) {
            there.clear();
            levels.clear();
            if is_full {
                there.extend_from_slice(chunk);
                levels.resize(chunk.len(), 1);
            } else {
                there.extend(chunk.iter().copied().filter(|&row| self.cells.is_present(row as usize)));
                levels.extend(chunk.iter().map(|&row| i16::from(self.cells.is_present(row as usize))));
            }
            let levels = self.optional.then_some(&*levels);
            column.typed::<T>().write_batch(&values(&there), levels, None)?;
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

#[cfg(test)]
mod tests {
    use super::rounded_up;

    #[test]
    fn errors_are_rounded_up_to_10_bits() {
        for value in [0.0f32, 1.0, 1023.0, 1024.5, 0.1, 1e-30, 3.7e12, 12_345.678] {
            let rounded = rounded_up(value);
            assert!(rounded >= value && rounded <= value * (1.0 + 1.0 / 512.0), "{value}: {rounded}");
            assert_eq!(rounded.to_bits() & 0x3FFF, 0, "{value}");
            assert_eq!(rounded_up(rounded), rounded, "{value}");
        }
        assert_eq!(rounded_up(1023.0), 1023.0);
        assert_eq!(rounded_up(f32::MAX), f32::MAX);
        assert!(rounded_up(f32::NAN).is_nan() && rounded_up(f32::INFINITY).is_infinite());
    }
}
