//! The files of a table of a dataset, and the columns in them.
//!
//! Columns are taken by name. One that a file does not have, as those of earlier versions, is null in all its rows; those that nobody asks
//! for are not read.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::export::parquet::schema::{Of, Table};
use crate::session::Error;

/// Rows that are read at once.
const AT_ONCE: usize = 1 << 13;

/// The values of a column in some rows.
enum Values {
    Keys(Vec<Option<[u8; 16]>>),
    Texts(Vec<Option<ByteArray>>),
    Ints(Vec<Option<i64>>),
    Reals(Vec<Option<f64>>),
    Flags(Vec<Option<bool>>),
    /// The file does not have it.
    Missing,
}

/// Rows of a table: the columns that were requested, by their index there.
pub(super) struct Rows {
    columns: Vec<Values>,
    /// How many rows there are.
    pub(super) count: usize,
}

impl Rows {
    /// Of whole numbers: row by row, a value for each column.
    #[cfg(test)]
    pub(super) fn of_numbers(rows: &[Vec<i64>]) -> Self {
        let width = rows.first().map_or(0, Vec::len);
        let column = |column: usize| Values::Ints(rows.iter().map(|row| Some(row[column])).collect());
        Rows { columns: (0..width).map(column).collect(), count: rows.len() }
    }

    pub(super) fn key(&self, column: usize, row: usize) -> Option<[u8; 16]> {
        if let Values::Keys(all) = &self.columns[column] { all[row] } else { None }
    }

    pub(super) fn text(&self, column: usize, row: usize) -> Option<&str> {
        let Values::Texts(all) = &self.columns[column] else { return None };
        all[row].as_ref().and_then(|text| std::str::from_utf8(text.data()).ok())
    }

    pub(super) fn int(&self, column: usize, row: usize) -> Option<i64> {
        if let Values::Ints(all) = &self.columns[column] { all[row] } else { None }
    }

    /// A number of things; 0 where there is none.
    pub(super) fn count_of(&self, column: usize, row: usize) -> u64 {
        self.int(column, row).and_then(|count| u64::try_from(count).ok()).unwrap_or(0)
    }

    pub(super) fn real(&self, column: usize, row: usize) -> Option<f64> {
        if let Values::Reals(all) = &self.columns[column] { all[row] } else { None }
    }

    pub(super) fn flag(&self, column: usize, row: usize) -> Option<bool> {
        if let Values::Flags(all) = &self.columns[column] { all[row] } else { None }
    }
}

/// The files of a table below the folder of a dataset, as paths below the folder of the table, in order.
pub(super) fn files(dataset: &Path, table: &Table) -> Result<Vec<PathBuf>, Error> {
    let folder = dataset.join(table.name);
    let (mut found, mut open) = (Vec::new(), vec![folder.clone()]);
    while let Some(path) = open.pop() {
        let entries = path.read_dir().map_err(|error| Error::Open(path.clone(), error))?;
        for entry in entries {
            let path = entry.map_err(|error| Error::Open(path.clone(), error))?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|end| end == "parquet")
                && let Ok(below) = path.strip_prefix(&folder)
            {
                found.push(below.to_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Reads columns of a file of a table, some rows at a time.
pub(super) fn read(
    dataset: &Path,
    table: &'static Table,
    below: &Path,
    columns: &[&str],
    mut each: impl FnMut(&Rows) -> Result<(), Error>,
) -> Result<(), Error> {
    let path = dataset.join(table.name).join(below);
    let file = File::open(&path).map_err(|error| Error::Open(path.clone(), error))?;
    let failed = |error: ParquetError| not_a_table(&path, table, &error.to_string());
    let reader = SerializedFileReader::new(file).map_err(failed)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let places: Vec<_> = columns
        .iter()
        .map(|name| {
            let of = table.position(name).map(|at| table.columns[at].of);
            let at = schema.columns().iter().position(|column| column.path().parts() == [*name]);
            (of.expect("a column of the table"), at)
        })
        .collect();
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(failed)?;
        let mut readers: Vec<_> = places
            .iter()
            .map(|(of, at)| Ok((*of, at.map(|at| group.get_column_reader(at)).transpose().map_err(failed)?)))
            .collect::<Result<_, Error>>()?;
        let mut left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        while left > 0 {
            let count = left.min(AT_ONCE);
            let values = readers.iter_mut().map(|(of, reader)| match reader {
                Some(reader) => column(*of, reader, count).map_err(failed),
                None => Ok(Values::Missing),
            });
            let rows = Rows { columns: values.collect::<Result<_, _>>()?, count };
            each(&rows)?;
            left -= count;
        }
    }
    Ok(())
}

/// A file that is none of the table.
pub(super) fn not_a_table(path: &Path, table: &Table, why: &str) -> Error {
    Error::Io {
        what: format!(
            "{} is no file of the table {} of a dataset; take it away, and export its profiles again",
            path.display(),
            table.name
        ),
        source: io::Error::new(io::ErrorKind::InvalidData, why.to_owned()),
    }
}

/// Reads a number of rows of a column.
fn column(of: Of, reader: &mut ColumnReader, count: usize) -> Result<Values, ParquetError> {
    macro_rules! values {
        ($reader:expr, $value:expr) => {{
            let (mut levels, mut values) = (Vec::new(), Vec::new());
            let (rows, ..) = $reader.read_records(count, Some(&mut levels), None, &mut values)?;
            if rows != count {
                return Err(ParquetError::General(format!("{rows} of {count} rows are there")));
            }
            // Of a column in which nothing is null there are no levels.
            let is_whole = values.len() == count;
            let mut values = values.into_iter();
            (0..count)
                .map(|row| {
                    let is_there = is_whole || levels.get(row) == Some(&1);
                    let next = if is_there { values.next() } else { None };
                    let value: Option<Result<_, ParquetError>> = next.map($value);
                    value.transpose()
                })
                .collect::<Result<Vec<_>, ParquetError>>()?
        }};
    }
    let key = |bytes: &[u8]| {
        bytes.try_into().map_err(|_| ParquetError::General(format!("a key has {} bytes", bytes.len())))
    };
    Ok(match (of, reader) {
        (Of::Key, ColumnReader::FixedLenByteArrayColumnReader(reader)) => {
            Values::Keys(values!(reader, |value: parquet::data_type::FixedLenByteArray| key(value.data())))
        }
        (Of::Key, ColumnReader::ByteArrayColumnReader(reader)) => {
            Values::Keys(values!(reader, |value: ByteArray| key(value.data())))
        }
        (Of::Text, ColumnReader::ByteArrayColumnReader(reader)) => Values::Texts(values!(reader, Ok)),
        (Of::Count | Of::Time | Of::Moment, ColumnReader::Int64ColumnReader(reader)) => {
            Values::Ints(values!(reader, Ok))
        }
        (Of::Real, ColumnReader::DoubleColumnReader(reader)) => Values::Reals(values!(reader, Ok)),
        (Of::Error, ColumnReader::FloatColumnReader(reader)) => {
            Values::Reals(values!(reader, |value: f32| Ok(f64::from(value))))
        }
        (Of::Flag, ColumnReader::BoolColumnReader(reader)) => Values::Flags(values!(reader, Ok)),
        _ => return Err(ParquetError::General("a column has another type than the schema says".into())),
    })
}
