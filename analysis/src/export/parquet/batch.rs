//! Rows of a table on their way into a file: columns of plain values, which become a group of rows.

use std::cmp::Ordering;
use std::io::Write;
use std::ops::Range;

use bytes::Bytes;
use parquet::column::writer::{
    ColumnCloseResult, ColumnWriter, get_column_writer, get_typed_column_writer_mut,
};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
    FloatType, Int64Type,
};
use parquet::errors::Result;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use rayon::prelude::*;

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

    /// Adds a row: a text for the first column, and the cells of all others.
    pub(super) fn push(&mut self, first: &str, row: &[Cell<'_>]) {
        self.set(0, Cell::Text(first));
        for (at, cell) in row.iter().enumerate() {
            self.set(at + 1, *cell);
        }
        self.rows += 1;
    }

    /// Sets a column of the row that is being added.
    fn set(&mut self, at: usize, cell: Cell<'_>) {
        if cell == Cell::Null {
            return;
        }
        let number = match cell {
            Cell::Text(text) => {
                let last = if let Values::Texts(all) = &self.columns[at].values {
                    all.last().copied()
                } else {
                    None
                };
                self.text(text, last)
            }
            _ => 0,
        };
        let (cells, table) = (&mut self.columns[at], self.table);
        if cells.present.len() < self.rows {
            cells.resize(self.rows);
        }
        cells.present.push(true);
        match (&mut cells.values, cell) {
            (Values::Keys(all), Cell::Key(key)) => all.push(key),
            (Values::Texts(all), Cell::Text(_)) => all.push(number),
            (Values::Ints(all), Cell::Int(value)) => all.push(value),
            (Values::Reals(all), Cell::Real(value)) => all.push(value),
            (Values::Errors(all), Cell::Real(value)) => all.push(rounded_up(value as f32)),
            (Values::Flags(all), Cell::Flag(value)) => all.push(value),
            _ => panic!("{}.{} cannot hold {cell:?}", table.name, table.columns[at].name),
        }
    }

    /// Begins so many rows more, which are filled column by column; the first one has a text.
    pub(super) fn block(&mut self, first: &str, rows: usize) -> Block<'_> {
        let begin = self.rows;
        self.rows += rows;
        let mut block = Block { rows: begin..begin + rows, batch: self };
        block.texts(0, std::iter::repeat_n(Some(first), rows));
        block
    }

    /// The number of a text. `last`: that of the row before, which most texts are.
    fn text(&mut self, text: &str, last: Option<u32>) -> u32 {
        let (texts, numbers) = (&mut self.texts, &mut self.numbers);
        let is_same = |&last: &u32| texts.get(last as usize).is_some_and(|of| of.data() == text.as_bytes());
        let known = last.filter(is_same).or_else(|| numbers.get(text).copied());
        known.unwrap_or_else(|| {
            let number = texts.len() as u32;
            texts.push(ByteArray::from(text));
            numbers.insert(text.to_owned(), number);
            number
        })
    }

    /// Writes the rows as a group, sorted as the table is, and forgets them. The columns are encoded in parallel.
    pub(super) fn write<W: Write + Send>(&mut self, writer: &mut SerializedFileWriter<W>) -> Result<()> {
        let order = self.order();
        let (descriptions, properties) =
            (writer.schema_descr().columns().to_vec(), writer.properties().clone());
        let encoded = self.columns.par_iter().zip(self.table.columns).zip(&descriptions);
        let encoded = encoded.map(|((cells, column), description)| {
            let (table, name) = (self.table.name, column.name);
            assert!(column.optional || cells.is_full(self.rows), "{table}.{name}: a row without a value");
            let order = Order { order: &order, cells, optional: column.optional };
            order.encode(description, &properties, &self.texts)
        });
        let encoded: Vec<_> = encoded.collect::<Result<_>>()?;
        let mut group = writer.next_row_group()?;
        for (bytes, close) in encoded {
            group.append_column(&bytes, close)?;
        }
        group.close()?;
        *self = Batch::new(self.table);
        Ok(())
    }

    /// The rows as they are sorted. Rows that are alike stay in their order.
    fn order(&self) -> Vec<u32> {
        let by = self.table.sorted_by.iter().filter_map(|name| self.table.position(name));
        let by: Vec<&Cells> = by.map(|at| &self.columns[at]).collect();
        let Some(first) = by.first() else { return (0..self.rows as u32).collect() };
        // Few values of the first column are different, and the beginnings of the second one tell nearly all rows of one apart: both lie side
        // by side. The rest is looked up.
        let (ranks, has_ranks) = (first.ranks(self.rows), first.has_ranks());
        let begin = |row: usize| by.get(1).filter(|_| has_ranks).map_or(0, |cells| cells.begin(row));
        let mut rows: Vec<(u32, u64, u32)> =
            ranks.iter().enumerate().map(|(row, &rank)| (rank, begin(row), row as u32)).collect();
        let compared = |a: u32, b: u32| {
            let mut orders = by[usize::from(has_ranks)..]
                .iter()
                .map(|cells| cells.compare(a as usize, b as usize, &self.texts));
            orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        rows.par_sort_unstable_by(|&(rank_a, begin_a, a), &(rank_b, begin_b, b)| {
            rank_a.cmp(&rank_b).then(begin_a.cmp(&begin_b)).then_with(|| compared(a, b).then(a.cmp(&b)))
        });
        rows.into_iter().map(|(.., row)| row).collect()
    }
}

/// Rows that are being filled column by column. A column that is left out has no value in them.
pub(super) struct Block<'a> {
    batch: &'a mut Batch,
    rows: Range<usize>,
}

impl Block<'_> {
    pub(super) fn keys(&mut self, at: usize, values: impl Iterator<Item = Option<[u8; 16]>>) {
        match &mut self.batch.columns[at] {
            Cells { values: Values::Keys(all), present } => extend(all, present, &self.rows, values),
            _ => self.wrong(at),
        }
    }

    pub(super) fn ints(&mut self, at: usize, values: impl Iterator<Item = Option<i64>>) {
        match &mut self.batch.columns[at] {
            Cells { values: Values::Ints(all), present } => extend(all, present, &self.rows, values),
            _ => self.wrong(at),
        }
    }

    /// Counts past 2^63 - 1 stay there.
    pub(super) fn counts(&mut self, at: usize, values: impl Iterator<Item = u64>) {
        self.ints(at, values.map(|value| Some(count(value))));
    }

    /// What need not be whole; errors are rounded up.
    pub(super) fn reals(&mut self, at: usize, values: impl Iterator<Item = Option<f64>>) {
        match &mut self.batch.columns[at] {
            Cells { values: Values::Reals(all), present } => extend(all, present, &self.rows, values),
            Cells { values: Values::Errors(all), present } => {
                extend(
                    all,
                    present,
                    &self.rows,
                    values.map(|value| value.map(|value| rounded_up(value as f32))),
                );
            }
            _ => self.wrong(at),
        }
    }

    pub(super) fn flags(&mut self, at: usize, values: impl Iterator<Item = bool>) {
        match &mut self.batch.columns[at] {
            Cells { values: Values::Flags(all), present } => {
                extend(all, present, &self.rows, values.map(Some))
            }
            _ => self.wrong(at),
        }
    }

    pub(super) fn texts<'t>(&mut self, at: usize, values: impl Iterator<Item = Option<&'t str>>) {
        let mut last = None;
        let numbers: Vec<_> = values
            .map(|text| {
                let number = text.map(|text| self.batch.text(text, last));
                last = number.or(last);
                number
            })
            .collect();
        match &mut self.batch.columns[at] {
            Cells { values: Values::Texts(all), present } => {
                extend(all, present, &self.rows, numbers.into_iter())
            }
            _ => self.wrong(at),
        }
    }

    fn wrong(&self, at: usize) {
        let table = self.batch.table;
        panic!("{}.{} is of another type", table.name, table.columns[at].name);
    }
}

/// Adds the values of the rows to those of a column.
fn extend<T: Copy + Default>(
    all: &mut Vec<T>,
    present: &mut Vec<bool>,
    rows: &Range<usize>,
    values: impl Iterator<Item = Option<T>>,
) {
    all.resize(rows.start, T::default());
    present.resize(rows.start, false);
    for value in values {
        present.push(value.is_some());
        all.push(value.unwrap_or_default());
    }
    assert_eq!(all.len(), rows.end, "values of the rows");
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

    /// Whether [`Cells::ranks`] tells values apart.
    fn has_ranks(&self) -> bool {
        matches!(self.values, Values::Keys(_))
    }

    /// By row: which one of the different keys it is, as they are sorted.
    fn ranks(&self, rows: usize) -> Vec<u32> {
        let Values::Keys(all) = &self.values else { return vec![0; rows] };
        let keys = || (0..rows).map(|row| all.get(row).filter(|_| self.is_present(row)));
        let mut ranks: HashMap<[u8; 16], u32> = keys().flatten().map(|key| (*key, 0)).collect();
        let mut sorted: Vec<_> = ranks.iter_mut().collect();
        sorted.sort_unstable_by_key(|(key, _)| **key);
        sorted.into_iter().zip(1..).for_each(|((_, rank), number)| *rank = number);
        keys().map(|key| key.map_or(0, |key| ranks[key])).collect()
    }

    /// How a key begins; equal of others, and no more than that of any larger key.
    fn begin(&self, row: usize) -> u64 {
        let Values::Keys(all) = &self.values else { return 0 };
        let key = all.get(row).filter(|_| self.is_present(row));
        key.map_or(0, |key| u64::from_be_bytes(key[..8].try_into().expect("8 bytes")))
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
    /// The column of a group, as it lies in the file.
    fn encode(
        &self,
        description: &ColumnDescPtr,
        properties: &WriterPropertiesPtr,
        texts: &[ByteArray],
    ) -> Result<(Bytes, ColumnCloseResult)> {
        let mut sink = TrackedWrite::new(Vec::new());
        let pages = Box::new(SerializedPageWriter::new(&mut sink));
        let mut column = get_column_writer(description.clone(), properties.clone(), pages);
        match &self.cells.values {
            Values::Keys(all) => self.write::<FixedLenByteArrayType>(&mut column, |chunk| {
                let bytes: Vec<u8> = chunk.iter().flat_map(|&row| all[row as usize]).collect();
                let bytes = ByteArray::from(bytes);
                (0..chunk.len()).map(|i| FixedLenByteArray::from(bytes.slice(16 * i, 16))).collect()
            }),
            Values::Texts(all) => self.write::<ByteArrayType>(&mut column, |chunk| {
                chunk.iter().map(|&row| texts[all[row as usize] as usize].clone()).collect()
            }),
            Values::Ints(all) => self.write::<Int64Type>(&mut column, |chunk| of_rows(all, chunk)),
            Values::Reals(all) => self.write::<DoubleType>(&mut column, |chunk| of_rows(all, chunk)),
            Values::Errors(all) => self.write::<FloatType>(&mut column, |chunk| of_rows(all, chunk)),
            Values::Flags(all) => self.write::<BoolType>(&mut column, |chunk| of_rows(all, chunk)),
        }?;
        let close = column.close()?;
        Ok((sink.into_inner()?.into(), close))
    }

    fn write<T: DataType>(
        &self,
        column: &mut ColumnWriter<'_>,
        values: impl Fn(&[u32]) -> Vec<T::T>,
    ) -> Result<()> {
        let column = get_typed_column_writer_mut::<T>(column);
        let is_full = self.cells.is_full(self.order.len());
        let (mut there, mut levels) = (Vec::with_capacity(CHUNK), Vec::with_capacity(CHUNK));
        for chunk in self.order.chunks(CHUNK) {
            there.clear();
            levels.clear();
            if is_full {
                levels.resize(chunk.len(), 1);
            } else {
                there.extend(chunk.iter().copied().filter(|&row| self.cells.is_present(row as usize)));
                levels.extend(chunk.iter().map(|&row| i16::from(self.cells.is_present(row as usize))));
            }
            let levels = self.optional.then_some(&*levels);
            column.write_batch(&values(if is_full { chunk } else { &there }), levels, None)?;
        }
        Ok(())
    }
}

fn of_rows<T: Copy>(all: &[T], rows: &[u32]) -> Vec<T> {
    rows.iter().map(|&row| all[row as usize]).collect()
}

/// A count past 2^63 - 1 stays there, as it does in a profile past 2^64 - 1.
pub(super) fn count(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
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

impl From<u64> for Cell<'_> {
    fn from(count: u64) -> Self {
        Cell::Int(self::count(count))
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
