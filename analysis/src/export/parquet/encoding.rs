//! How the columns of a file are written. What is chosen was measured (`bench/fleet`): for columns of each kind the smallest of the encodings
//! that the readers of the tests have. `BYTE_STREAM_SPLIT` would save 0.4 bytes of a time; no reader of Spark for it is known that reads
//! columns at a time.

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::Result;
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;

use super::schema::{Column, Of, Table, VERSION};

/// What a higher level saves of the bytes is less than it costs: level 6 a tenth, for three times the time.
const ZSTD_LEVEL: i32 = 3;
/// Bytes of a dictionary of keys or texts at most.
const DICTIONARY: usize = 32 << 20;
/// The same of numbers: where more are different, few are there twice, and the dictionary takes more than it saves.
const NUMBERS: usize = 1 << 20;

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

/// The encoding of a column; none: a dictionary.
fn encoding(table: &Table, column: &Column) -> Option<Encoding> {
    match column.of {
        Of::Key if is_among(&UNIQUE, table, column) => Some(Encoding::PLAIN),
        Of::Text if is_among(&SORTED, table, column) => Some(Encoding::DELTA_BYTE_ARRAY),
        Of::Real => Some(Encoding::PLAIN),
        Of::Key | Of::Text | Of::Count | Of::Time | Of::Moment | Of::Error | Of::Flag => None,
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
        .set_dictionary_page_size_limit(DICTIONARY)
        .set_max_row_group_row_count(None)
        // The least and the greatest value of each page say something only where rows are sorted.
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_sorting_columns((!sorted.is_empty()).then_some(sorted))
        .set_key_value_metadata(Some(vec![
            meta("instrument.schema", VERSION.to_string()),
            meta("instrument.table", table.name.into()),
        ]));
    for column in table.columns {
        let path = || ColumnPath::from(column.name);
        if let Some(encoding) = encoding(table, column) {
            properties =
                properties.set_column_dictionary_enabled(path(), false).set_column_encoding(path(), encoding);
        } else if matches!(column.of, Of::Count | Of::Time | Of::Moment | Of::Error) {
            properties = properties
                .set_column_dictionary_page_size_limit(path(), NUMBERS)
                .set_column_encoding(path(), Encoding::PLAIN);
        }
        if table.sorted_by.first() == Some(&column.name) {
            properties = properties.set_column_statistics_enabled(path(), EnabledStatistics::Page);
        }
    }
    Ok(properties.build())
}

#[cfg(test)]
mod tests {
    use super::super::schema::TABLES;
    use super::*;

    #[test]
    fn columns_are_written_as_all_readers_read_them() {
        let mut without_dictionary = Vec::new();
        for table in TABLES {
            let properties = properties(table).unwrap();
            for column in table.columns {
                let path = ColumnPath::from(column.name);
                // None: that of the version, behind a dictionary.
                let of = properties.encoding(&path);
                let is_read = [None, Some(Encoding::PLAIN), Some(Encoding::DELTA_BYTE_ARRAY)].contains(&of);
                assert!(is_read, "{}.{}: {of:?}", table.name, column.name);
                if !properties.dictionary_enabled(&path) {
                    without_dictionary.push(format!("{}.{}", table.name, column.name));
                }
            }
        }
        // Each name of the lists is one of a column.
        let expected = [
            "processes.probe_inner_ns",
            "processes.probe_outer_ns",
            "methods.method",
            "methods.name",
            "methods.stable_name",
            "contexts.context",
            "contexts.stable",
            "contexts.parent",
            "contexts.through",
            "values.context",
            "values.sum_squares",
        ];
        assert_eq!(without_dictionary, expected);
    }
}
