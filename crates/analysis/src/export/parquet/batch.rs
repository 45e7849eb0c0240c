//! Rows of a table on their way into a file: columns of plain values, which become a group of rows.

use std::cmp::Ordering;
use std::io::Write;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use parquet::column::writer::{get_column_writer, get_typed_column_writer_mut};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::Result;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use rayon::prelude::*;

use super::chunk::{Encoded, Scratch, encode};
use super::codec::{self, Kind};
use super::column::Column;
use super::encoding::{PAGE, Way, way};
use super::schema::{Of, Table};
use super::sorted::Buckets;
use crate::context_key::ContextKey;
use crate::hash::HashMap;

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

/// The values of a column.
enum Values {
    /// Nearly every row has another one.
    Keys(Column<[u8; 16]>),
    /// Numbers of keys or texts.
    Known(Column<u32>),
    Ints(Column<i64>),
    /// The bits of them.
    Reals(Column<i64>),
    /// The same.
    Errors(Column<u32>),
    Flags(Column<bool>),
}

/// Does the same with the column, whatever it holds.
macro_rules! each {
    ($values:expr, $column:ident => $do:expr) => {
        match $values {
            Values::Keys($column) => $do,
            Values::Known($column) => $do,
            Values::Ints($column) | Values::Reals($column) => $do,
            Values::Errors($column) => $do,
            Values::Flags($column) => $do,
        }
    };
}

/// Texts or keys, each once: columns have their numbers.
#[derive(Default)]
struct Names {
    all: Vec<ByteArray>,
    numbers: HashMap<Box<[u8]>, u32>,
}

impl Names {
    fn number(&mut self, name: &[u8]) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.all.len() as u32;
        self.all.push(ByteArray::from(name.to_vec()));
        self.numbers.insert(name.into(), number);
        number
    }
}

/// Rows that are not written yet.
pub(super) struct Batch {
    table: &'static Table,
    columns: Vec<Values>,
    rows: usize,
    /// Those of all groups.
    texts: Names,
    keys: Names,
    scratch: Mutex<Vec<Scratch>>,
}

impl Batch {
    pub(super) fn new(table: &'static Table) -> Batch {
        let values = |column: &super::schema::Column| match column.of {
            Of::Key if way(table, column) == Way::Plain => Values::Keys(Column::default()),
            Of::Key | Of::Text => Values::Known(Column::default()),
            Of::Count | Of::Time | Of::Moment => Values::Ints(Column::default()),
            Of::Real => Values::Reals(Column::default()),
            Of::Error => Values::Errors(Column::default()),
            Of::Flag => Values::Flags(Column::default()),
        };
        Batch {
            table,
            columns: table.columns.iter().map(values).collect(),
            rows: 0,
            texts: Names::default(),
            keys: Names::default(),
            scratch: Mutex::default(),
        }
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
        let column = &mut self.columns[at];
        each!(column, column => column.pad(self.rows));
        match (column, cell) {
            (_, Cell::Null) => {}
            (Values::Keys(column), Cell::Key(key)) => column.push(Some(key)),
            (Values::Known(column), Cell::Key(key)) => column.push(Some(self.keys.number(&key))),
            (Values::Known(column), Cell::Text(text)) => {
                column.push(Some(self.texts.number(text.as_bytes())));
            }
            (Values::Ints(column), Cell::Int(value)) => column.push(Some(value)),
            (Values::Reals(column), Cell::Real(value)) => column.push(Some(bits(value))),
            (Values::Errors(column), Cell::Real(value)) => column.push(Some(error_bits(value))),
            (Values::Flags(column), Cell::Flag(value)) => column.push(Some(value)),
            _ => self.wrong(at),
        }
    }

    fn wrong(&self, at: usize) -> ! {
        panic!("{}.{} is of another type", self.table.name, self.table.columns[at].name);
    }

    /// The number of a text in columns of this batch.
    pub(super) fn text(&mut self, text: &str) -> u32 {
        self.texts.number(text.as_bytes())
    }

    /// The number of a key in columns of this batch.
    pub(super) fn key(&mut self, key: ContextKey) -> u32 {
        self.keys.number(&key.0)
    }

    /// Makes room for so many rows that will come.
    pub(super) fn expect(&mut self, rows: usize) {
        let all = self.rows + rows;
        self.columns.iter_mut().for_each(|values| each!(values, values => values.expect(all)));
    }

    /// Begins so many rows more, which are filled column by column; the first one has a text.
    pub(super) fn block(&mut self, first: &str, rows: usize) -> Block<'_> {
        let begin = self.rows;
        self.rows += rows;
        let first = self.text(first);
        let mut block = Block { rows: begin..begin + rows, batch: self };
        block.all_known(0, first);
        block
    }

    /// Writes the rows as a group, sorted as the table is, and forgets them. The columns are encoded in parallel.
    pub(super) fn write<W: Write + Send>(&mut self, writer: &mut SerializedFileWriter<W>) -> Result<()> {
        for (values, column) in self.columns.iter_mut().zip(self.table.columns) {
            each!(values, values => {
                values.pad(self.rows);
                let (table, name) = (self.table.name, column.name);
                assert!(column.optional || values.is_full(), "{table}.{name}: a row without a value");
            });
        }
        let order = self.order();
        let (descriptions, properties) = (writer.schema_descr().columns(), writer.properties());
        let encoded = (0..self.columns.len()).into_par_iter().map(|at| {
            let pool = || self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
            let kept = pool().pop();
            let mut scratch = kept.map_or_else(Scratch::new, Ok)?;
            let encoded = self.encode(at, &order, &descriptions[at], properties, &mut scratch);
            pool().push(scratch);
            encoded
        });
        let encoded: Vec<_> = encoded.collect::<Result<_>>()?;
        let mut group = writer.next_row_group()?;
        for (bytes, close) in encoded {
            group.append_column(&bytes, close)?;
        }
        group.close()?;
        self.columns.iter_mut().for_each(|values| each!(values, values => values.clear()));
        self.rows = 0;
        Ok(())
    }

    /// A column of the group, as it lies in the file.
    fn encode(
        &self,
        at: usize,
        order: &[u32],
        description: &ColumnDescPtr,
        properties: &WriterPropertiesPtr,
        scratch: &mut Scratch,
    ) -> Result<Encoded> {
        let column = &self.table.columns[at];
        let way = way(self.table, column);
        assert!(way != Way::Differences || !column.optional);
        let has_index = self.table.sorted_by.first() == Some(&column.name);
        let numbers = |of: Kind, scratch: &mut Scratch| {
            let most = if let Way::Dictionary(most) = way { Some(most) } else { None };
            codec::Numbers::new(of, most, std::mem::take(&mut scratch.distinct))
        };
        match &self.columns[at] {
            Values::Keys(values) => {
                encode(&values.rows(order), description, has_index, &mut codec::Keys::default(), scratch)
            }
            Values::Known(values) if way == Way::Differences => {
                differences(values, order, &self.texts.all, description, properties)
            }
            Values::Known(values) => {
                let is_key = column.of == Of::Key;
                let names = if is_key { &self.keys } else { &self.texts };
                let mut codec = codec::Known::new(&names.all, is_key);
                encode(&values.rows(order), description, has_index, &mut codec, scratch)
            }
            Values::Ints(values) => {
                let mut codec = numbers(Kind::Whole, scratch);
                let encoded = encode(&values.rows(order), description, has_index, &mut codec, scratch);
                scratch.distinct = codec.into_distinct();
                encoded
            }
            Values::Reals(values) => {
                let mut codec = numbers(Kind::Double, scratch);
                let encoded = encode(&values.rows(order), description, has_index, &mut codec, scratch);
                scratch.distinct = codec.into_distinct();
                encoded
            }
            Values::Errors(values) => {
                let mut codec = numbers(Kind::Float, scratch);
                let encoded = encode(&values.rows(order), description, has_index, &mut codec, scratch);
                scratch.distinct = codec.into_distinct();
                encoded
            }
            Values::Flags(values) => {
                encode(&values.rows(order), description, has_index, &mut codec::Flags::default(), scratch)
            }
        }
    }

    /// The rows as they are sorted. Rows that are alike stay in their order.
    fn order(&self) -> Vec<u32> {
        let by = self.table.sorted_by.iter().filter_map(|name| self.table.position(name));
        let by: Vec<usize> = by.collect();
        let Some((&first, others)) = by.split_first() else { return (0..self.rows as u32).collect() };
        let mut buckets = Buckets::new(&self.ranks(first));
        let ranks: Vec<Vec<u32>> = others.iter().map(|&at| self.ranks(at)).collect();
        // The first bytes of keys tell nearly all rows of a bucket apart.
        let begin = |row: u32| others.first().map_or(0, |&at| self.begin(at, row));
        let compared = |a: u32, b: u32| {
            let mut orders = others.iter().zip(&ranks).map(|(&at, ranks)| match &self.columns[at] {
                Values::Keys(column) => column.get(a as usize).cmp(&column.get(b as usize)),
                _ => ranks[a as usize].cmp(&ranks[b as usize]),
            });
            orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        buckets.par_sort(begin, compared);
        buckets.rows
    }

    /// By row: which one of the different names it is, as they are sorted; 0: there is none. Nothing of other columns.
    fn ranks(&self, at: usize) -> Vec<u32> {
        let Values::Known(column) = &self.columns[at] else { return Vec::new() };
        let names = if self.table.columns[at].of == Of::Key { &self.keys } else { &self.texts };
        let mut sorted: Vec<u32> = (0..names.all.len() as u32).collect();
        sorted.sort_unstable_by(|&a, &b| names.all[a as usize].data().cmp(names.all[b as usize].data()));
        let mut ranks = vec![0; sorted.len()];
        sorted.into_iter().zip(1..).for_each(|(name, rank)| ranks[name as usize] = rank);
        (0..self.rows).map(|row| column.get(row).map_or(0, |name| ranks[name as usize])).collect()
    }

    /// How a key begins; equal of others, and no more than that of any larger key.
    fn begin(&self, at: usize, row: u32) -> u64 {
        let Values::Keys(column) = &self.columns[at] else { return 0 };
        let key = column.get(row as usize);
        key.map_or(0, |key| u64::from_be_bytes(key[..8].try_into().expect("8 bytes")))
    }
}

/// Texts that begin as the ones before them: few, so the crate's own writer has the time.
fn differences(
    values: &Column<u32>,
    order: &[u32],
    texts: &[ByteArray],
    description: &ColumnDescPtr,
    properties: &WriterPropertiesPtr,
) -> Result<Encoded> {
    let mut sink = TrackedWrite::new(Vec::new());
    let pages = Box::new(SerializedPageWriter::new(&mut sink));
    let mut column = get_column_writer(description.clone(), properties.clone(), pages);
    for rows in order.chunks(PAGE) {
        let text = |&row: &u32| values.get(row as usize).map(|number| texts[number as usize].clone());
        let texts: Vec<ByteArray> = rows.iter().filter_map(text).collect();
        get_typed_column_writer_mut::<ByteArrayType>(&mut column).write_batch(&texts, None, None)?;
    }
    let close = column.close()?;
    Ok((sink.into_inner()?.into(), close))
}

/// Rows that are being filled column by column. A column that is left out has no value in them.
pub(super) struct Block<'a> {
    batch: &'a mut Batch,
    rows: Range<usize>,
}

impl Block<'_> {
    pub(super) fn keys(&mut self, at: usize, values: impl Iterator<Item = Option<[u8; 16]>>) {
        match &mut self.batch.columns[at] {
            Values::Keys(column) => column.fill(&self.rows, values),
            _ => self.batch.wrong(at),
        }
    }

    /// Numbers of texts or keys: [`Batch::text`], [`Batch::key`].
    pub(super) fn known(&mut self, at: usize, values: impl Iterator<Item = Option<u32>>) {
        match &mut self.batch.columns[at] {
            Values::Known(column) => column.fill(&self.rows, values),
            _ => self.batch.wrong(at),
        }
    }

    /// The same of all rows.
    pub(super) fn all_known(&mut self, at: usize, number: u32) {
        let rows = self.rows.len();
        self.known(at, std::iter::repeat_n(Some(number), rows));
    }

    pub(super) fn ints(&mut self, at: usize, values: impl Iterator<Item = Option<i64>>) {
        match &mut self.batch.columns[at] {
            Values::Ints(column) => column.fill(&self.rows, values),
            _ => self.batch.wrong(at),
        }
    }

    /// Counts past 2^63 - 1 stay there.
    pub(super) fn counts(&mut self, at: usize, values: impl Iterator<Item = u64>) {
        self.ints(at, values.map(|value| Some(count(value))));
    }

    /// What need not be whole; errors are rounded up.
    pub(super) fn reals(&mut self, at: usize, values: impl Iterator<Item = Option<f64>>) {
        match &mut self.batch.columns[at] {
            Values::Reals(column) => column.fill(&self.rows, values.map(|value| value.map(bits))),
            Values::Errors(column) => column.fill(&self.rows, values.map(|value| value.map(error_bits))),
            _ => self.batch.wrong(at),
        }
    }

    pub(super) fn flags(&mut self, at: usize, values: impl Iterator<Item = bool>) {
        match &mut self.batch.columns[at] {
            Values::Flags(column) => column.fill(&self.rows, values.map(Some)),
            _ => self.batch.wrong(at),
        }
    }
}

fn bits(value: f64) -> i64 {
    value.to_bits().cast_signed()
}

fn error_bits(value: f64) -> u32 {
    rounded_up(value as f32).to_bits()
}

/// What a figure may be off by with 10 significant bits, and no less than it is: nobody knows it better, and such
/// values repeat.
fn rounded_up(error: f32) -> f32 {
    const LEFT_OUT: u32 = (1 << 14) - 1;
    let rounded = f32::from_bits(error.to_bits().saturating_add(LEFT_OUT) & !LEFT_OUT);
    if rounded.is_finite() { rounded } else { error }
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
mod tests;
