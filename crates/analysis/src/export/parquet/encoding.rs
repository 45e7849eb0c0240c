//! How the columns of a file are written. What is chosen was measured (`bench/fleet`): for columns of each kind the
//! smallest of the encodings that the readers of the tests have. `BYTE_STREAM_SPLIT` would save 0.4 bytes of a time; no
//! reader of Spark for it is known that reads columns at a time.

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::Result;
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;

use super::schema::{Column, Of, Table, VERSION};

/// What a higher level saves of the bytes is less than it costs: level 6 a tenth, for three times the time.
pub(super) const ZSTD_LEVEL: i32 = 3;
/// Bytes of a dictionary of numbers: where more are different, few are there twice, and the dictionary takes more than
/// it saves.
const NUMBERS: usize = 1 << 20;
/// Rows of a page.
pub(super) const PAGE: usize = 20_000;

/// Keys of which nearly every row, or every process, has another one.
const UNIQUE: [(&str, &[&str]); 3] = [
    ("values", &["context"]),
    ("contexts", &["context", "stable", "parent", "through"]),
    ("methods", &["method"]),
];

/// Texts that begin as the ones before them: their rows are sorted by name.
const SORTED: [(&str, &[&str]); 1] = [("methods", &["name", "stable_name"])];

fn is_among(list: &[(&str, &[&str])], table: &Table, column: &Column) -> bool {
    list.iter().any(|(name, columns)| *name == table.name && columns.contains(&column.name))
}

/// How the values of a column are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// As they are.
    Plain,
    /// By what differs from the one before (`DELTA_BYTE_ARRAY`).
    Differences,
    /// By their numbers in a dictionary.
    Names,
    /// The same, until the dictionary has so many values; the others as they are.
    Dictionary(usize),
    /// Runs and packed bits.
    Bits,
}

/// How a column is written.
pub(super) fn way(table: &Table, column: &Column) -> Way {
    match column.of {
        Of::Key if is_among(&UNIQUE, table, column) => Way::Plain,
        Of::Text if is_among(&SORTED, table, column) => Way::Differences,
        Of::Key | Of::Text => Way::Names,
        Of::Real => Way::Plain,
        Of::Count | Of::Time | Of::Moment => Way::Dictionary(NUMBERS / size_of::<i64>()),
        Of::Error => Way::Dictionary(NUMBERS / size_of::<f32>()),
        Of::Flag => Way::Bits,
    }
}

/// How the files of a table are written.
pub(super) fn properties(table: &Table) -> Result<WriterProperties> {
    let meta = |key: &str, value: String| KeyValue { key: key.into(), value: Some(value) };
    let sorted = table.sorted_by.iter().filter_map(|name| table.position(name));
    let sorted =
        sorted.map(|at| SortingColumn { column_idx: at as i32, descending: false, nulls_first: true });
    let sorted: Vec<_> = sorted.collect();
    let mut properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
        .set_max_row_group_row_count(None)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_sorting_columns((!sorted.is_empty()).then_some(sorted))
        .set_key_value_metadata(Some(vec![
            meta("instrument.schema", VERSION.to_string()),
            meta("instrument.table", table.name.into()),
        ]));
    for column in table.columns {
        let path = || ColumnPath::from(column.name);
        if way(table, column) == Way::Differences {
            properties = properties
                .set_column_dictionary_enabled(path(), false)
                .set_column_encoding(path(), Encoding::DELTA_BYTE_ARRAY);
        }
    }
    Ok(properties.build())
}

#[cfg(test)]
mod tests {
    use super::super::schema::TABLES;
    use super::*;

    #[test]
    fn each_name_of_the_lists_is_one_of_a_column() {
        let (mut plain, mut differences) = (Vec::new(), Vec::new());
        for table in TABLES {
            for column in table.columns {
                let name = format!("{}.{}", table.name, column.name);
                match way(table, column) {
                    Way::Plain => plain.push(name),
                    Way::Differences => differences.push(name),
                    Way::Names | Way::Dictionary(_) | Way::Bits => {}
                }
            }
        }
        assert_eq!(differences, ["methods.name", "methods.stable_name"]);
        let expected = [
            "processes.probe_inner_ns",
            "processes.probe_outer_ns",
            "methods.method",
            "contexts.context",
            "contexts.stable",
            "contexts.parent",
            "contexts.through",
            "values.context",
            "values.sum_squares",
        ];
        assert_eq!(plain, expected);
    }
}
