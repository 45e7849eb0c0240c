use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};

use super::super::encoding::properties;
use super::super::schema::Column;
use super::*;

const fn column(name: &'static str, of: Of, optional: bool) -> Column {
    Column { name, of, optional, help: "" }
}

/// With a column of each kind.
static TABLE: Table = Table {
    name: "values",
    help: "",
    sorted_by: &["method", "context"],
    columns: &[
        column("batch", Of::Text, false),
        column("method", Of::Key, true),
        column("context", Of::Key, false),
        column("same", Of::Count, false),
        column("none", Of::Time, true),
        column("many", Of::Count, true),
        column("real", Of::Real, true),
        column("error", Of::Error, true),
        column("flag", Of::Flag, false),
        column("text", Of::Text, true),
    ],
};

/// A row, in the order in which the columns are.
type Expected = (Option<[u8; 16]>, [u8; 16], Option<i64>, Option<f64>, f32, bool, Option<String>);

/// All different, in no order.
fn mixed(i: usize) -> u64 {
    (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn expected(i: usize) -> Expected {
    let key = |of: u64| u128::from(of).rotate_left(64).to_be_bytes();
    let method = (!i.is_multiple_of(7)).then(|| key(i as u64 % 5));
    let many = (!i.is_multiple_of(3)).then(|| mixed(i).cast_signed());
    let real = i.is_multiple_of(2).then_some(i as f64 / 3.0);
    let text = (!i.is_multiple_of(4)).then(|| format!("t{}", i % 4));
    (method, key(mixed(i)), many, real, (i % 100) as f32, i.is_multiple_of(11), text)
}

fn cells(of: &Expected) -> [Cell<'_>; 9] {
    let (method, context, many, real, error, flag, text) = of;
    [
        method.map(Cell::Key).unwrap_or(Cell::Null),
        Cell::Key(*context),
        Cell::Int(-7),
        Cell::Null,
        many.map_or(Cell::Null, Cell::Int),
        real.map_or(Cell::Null, Cell::Real),
        Cell::Real(f64::from(*error)),
        Cell::Flag(*flag),
        text.into(),
    ]
}

impl<'a> From<&'a Option<String>> for Cell<'a> {
    fn from(text: &'a Option<String>) -> Cell<'a> {
        text.as_ref().map_or(Cell::Null, |text| Cell::Text(text))
    }
}

fn add_block(batch: &mut Batch, rows: &[Expected]) {
    batch.expect(rows.len());
    let methods: Vec<_> = rows.iter().map(|of| of.0.map(|key| batch.key(ContextKey(key)))).collect();
    let texts: Vec<_> = rows.iter().map(|of| of.6.as_ref().map(|text| batch.text(text))).collect();
    let mut block = batch.block("b", rows.len());
    block.known(1, methods.into_iter());
    block.keys(2, rows.iter().map(|of| Some(of.1)));
    block.ints(3, rows.iter().map(|_| Some(-7)));
    block.ints(5, rows.iter().map(|of| of.2));
    block.reals(6, rows.iter().map(|of| of.3));
    block.reals(7, rows.iter().map(|of| Some(f64::from(of.4))));
    block.flags(8, rows.iter().map(|of| of.5));
    block.known(9, texts.into_iter());
}

fn assert_row(row: &Row, of: &Expected) {
    let bytes = |key: &[u8; 16]| Field::Bytes(key.to_vec().into());
    let (method, context, many, real, error, flag, text) = of;
    let expected = [
        Field::Str("b".into()),
        method.as_ref().map_or(Field::Null, bytes),
        bytes(context),
        Field::Long(-7),
        Field::Null,
        many.map_or(Field::Null, Field::Long),
        real.map_or(Field::Null, Field::Double),
        Field::Float(*error),
        Field::Bool(*flag),
        text.clone().map_or(Field::Null, Field::Str),
    ];
    let found: Vec<Field> = row.get_column_iter().map(|(_, field)| field.clone()).collect();
    assert_eq!(found, expected);
}

/// Several pages, more different numbers than a dictionary has, and a group after another.
#[test]
fn rows_are_read_as_they_were_written() {
    let properties = properties(&TABLE).unwrap();
    let mut writer =
        SerializedFileWriter::new(Vec::new(), TABLE.schema().unwrap(), properties.into()).unwrap();
    let mut batch = Batch::new(&TABLE);
    let groups = [0..210_000, 210_000..210_010];
    for group in groups.clone() {
        let rows: Vec<Expected> = group.map(expected).collect();
        let (single, others) = rows.split_at(5);
        single.iter().for_each(|row| batch.push("b", &cells(row)));
        others.chunks(1000).for_each(|rows| add_block(&mut batch, rows));
        assert_eq!(batch.rows(), rows.len());
        batch.write(&mut writer).unwrap();
        assert_eq!(batch.rows(), 0);
    }
    let file = bytes::Bytes::from(writer.into_inner().unwrap());
    let reader = SerializedFileReader::new(file).unwrap();
    for (at, group) in groups.into_iter().enumerate() {
        let mut rows: Vec<Expected> = group.map(expected).collect();
        rows.sort_by_key(|of| (of.0, of.1));
        let group = reader.get_row_group(at).unwrap();
        let read: Vec<Row> = group.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(read.len(), rows.len());
        read.iter().zip(&rows).for_each(|(row, of)| assert_row(row, of));
    }
    let column = |at: usize| reader.metadata().row_group(0).column(at);
    let largest = (0..210_000).filter_map(|i| expected(i).2).max().unwrap();
    assert_eq!(column(5).statistics().unwrap().max_bytes_opt(), Some(&largest.to_le_bytes()[..]));
    assert_eq!(column(5).statistics().unwrap().null_count_opt(), Some(70_000));
    assert_eq!(column(4).statistics().unwrap().null_count_opt(), Some(210_000));
    assert!(column(3).compressed_size() < 100 && column(4).compressed_size() < 100);
}

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
