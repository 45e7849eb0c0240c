//! A column of a group of rows as it lies in a file: pages of encoded and compressed values, and what the file says of
//! them.
//!
//! The crate `parquet` has writers of columns, too; they take rows of any nesting and values of any size. These columns
//! are flat, and many have one value only, which is written without a look at each row.

use bytes::Bytes;
use parquet::basic::{BoundaryOrder, Compression, Encoding, EncodingMask, PageType, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriteSpec, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{
    ColumnChunkMetaData, ColumnIndexBuilder, OffsetIndexBuilder, PageEncodingStats,
};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use zstd::bulk::Compressor;

use super::distinct::Distinct;
use super::encoding::{PAGE, ZSTD_LEVEL};
use super::hybrid;

/// The rows of a column in the order in which they are written.
pub(super) enum Rows<'a, T> {
    /// All of so many have the same.
    Same(usize, Option<T>),
    /// Values by row; `present`: whether there is one, empty if there always is.
    Each { order: &'a [u32], values: &'a [T], present: &'a [bool] },
}

/// How values are written.
pub(super) trait Codec<T> {
    /// Adds the values of a page.
    fn page(&mut self, values: &[T], out: &mut Vec<u8>) -> Encoding;

    /// Adds a page of so many values that are the same.
    fn same(&mut self, value: T, count: usize, out: &mut Vec<u8>) -> Encoding;

    /// The dictionary, if pages refer to one, and how many values it has.
    fn dictionary(&self) -> Option<(Vec<u8>, usize)>;

    /// What is said of all values.
    fn statistics(&self, nulls: u64) -> Statistics;

    /// The least and the greatest of some values, for the index of a sorted column.
    fn range(&self, values: &[T]) -> Option<[Vec<u8>; 2]>;
}

/// A column as it lies in the file, and what is said of it.
pub(super) type Encoded = (Bytes, ColumnCloseResult);

/// Memory that is used again for the next column.
pub(super) struct Scratch {
    compressor: Compressor<'static>,
    data: Vec<u8>,
    /// For dictionaries.
    pub(super) distinct: Distinct,
}

impl Scratch {
    pub(super) fn new() -> Result<Scratch> {
        let compressor = Compressor::new(ZSTD_LEVEL).map_err(external)?;
        Ok(Scratch { compressor, data: Vec::new(), distinct: Distinct::default() })
    }
}

fn external(error: std::io::Error) -> ParquetError {
    ParquetError::External(Box::new(error))
}

/// Writes a column. `has_index`: its rows are sorted by it, so what is least and greatest in each page is told.
pub(super) fn encode<T: Copy>(
    rows: &Rows<'_, T>,
    description: &ColumnDescPtr,
    has_index: bool,
    codec: &mut impl Codec<T>,
    scratch: &mut Scratch,
) -> Result<Encoded> {
    let index = has_index.then(|| ColumnIndexBuilder::new(description.physical_type()));
    let mut pages = Pages { is_optional: description.max_def_level() > 0, index, all: Vec::new(), nulls: 0 };
    match *rows {
        Rows::Same(count, value) => {
            scratch.data.clear();
            let levels = pages.same_levels(value.is_some(), count, &mut scratch.data);
            let encoding = value.map_or(Encoding::PLAIN, |value| codec.same(value, count, &mut scratch.data));
            let range = value.filter(|_| has_index).and_then(|value| codec.range(&[value]));
            let nulls = if value.is_some() { 0 } else { count };
            pages.add(Counts { rows: count, nulls, levels }, encoding, range, scratch)?;
        }
        Rows::Each { order, values, present } => {
            let (mut there, mut levels) = (Vec::with_capacity(PAGE), Vec::new());
            for rows in order.chunks(PAGE) {
                there.clear();
                scratch.data.clear();
                let length = if present.is_empty() {
                    there.extend(rows.iter().map(|&row| values[row as usize]));
                    pages.same_levels(true, rows.len(), &mut scratch.data)
                } else {
                    levels.clear();
                    levels.extend(rows.iter().map(|&row| u32::from(present[row as usize])));
                    let filled = rows.iter().filter(|&&row| present[row as usize]);
                    there.extend(filled.map(|&row| values[row as usize]));
                    hybrid::pack(&levels, 1, &mut scratch.data);
                    scratch.data.len()
                };
                let encoding = match &there[..] {
                    [] => Encoding::PLAIN,
                    values => codec.page(values, &mut scratch.data),
                };
                let counts = Counts { rows: rows.len(), nulls: rows.len() - there.len(), levels: length };
                let range = if has_index { codec.range(&there) } else { None };
                pages.add(counts, encoding, range, scratch)?;
            }
        }
    }
    pages.finish(description, codec, scratch)
}

/// Of a page.
struct Counts {
    rows: usize,
    nulls: usize,
    /// Bytes that say which rows have a value.
    levels: usize,
}

/// The pages of a column, without its dictionary.
struct Pages {
    is_optional: bool,
    index: Option<ColumnIndexBuilder>,
    all: Vec<(CompressedPage, usize)>,
    nulls: usize,
}

impl Pages {
    /// Adds that all of so many rows have a value, or none; how many bytes that takes.
    fn same_levels(&self, is_there: bool, rows: usize, out: &mut Vec<u8>) -> usize {
        if self.is_optional {
            hybrid::run(u32::from(is_there), rows, 1, out);
        }
        out.len()
    }

    /// Adds a page of the data that were gathered.
    fn add(
        &mut self,
        counts: Counts,
        encoding: Encoding,
        range: Option<[Vec<u8>; 2]>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Counts { rows, nulls, levels } = counts;
        let (before, data) = scratch.data.split_at(levels);
        let mut bytes = Vec::with_capacity(levels + zstd::zstd_safe::compress_bound(data.len()));
        bytes.extend_from_slice(before);
        let is_compressed = compress(&mut scratch.compressor, data, &mut bytes)?;
        bytes.shrink_to_fit();
        let page = Page::DataPageV2 {
            buf: bytes.into(),
            num_values: rows as u32,
            encoding,
            num_nulls: nulls as u32,
            num_rows: rows as u32,
            def_levels_byte_len: levels as u32,
            rep_levels_byte_len: 0,
            is_compressed,
            statistics: None,
        };
        self.nulls += nulls;
        self.all.push((CompressedPage::new(page, scratch.data.len()), rows));
        if let Some(index) = &mut self.index {
            match range {
                Some([least, greatest]) => index.append(false, least, greatest, nulls as i64, None),
                None => index.append(true, Vec::new(), Vec::new(), nulls as i64, None),
            }
        }
        Ok(())
    }

    /// The column: the dictionary, then the pages.
    fn finish<T>(
        self,
        description: &ColumnDescPtr,
        codec: &impl Codec<T>,
        scratch: &mut Scratch,
    ) -> Result<Encoded> {
        let mut sink = TrackedWrite::new(Vec::new());
        let mut writer = SerializedPageWriter::new(&mut sink);
        let mut written = Written::default();
        let mut dictionary_offset = None;
        if let Some((data, values)) = codec.dictionary() {
            let mut bytes = Vec::with_capacity(zstd::zstd_safe::compress_bound(data.len()));
            // That of a dictionary is always compressed.
            scratch.compressor.compress_to_buffer(&data, &mut bytes).map_err(external)?;
            let page = Page::DictionaryPage {
                buf: bytes.into(),
                num_values: values as u32,
                encoding: Encoding::PLAIN,
                is_sorted: false,
            };
            let spec = writer.write_page(CompressedPage::new(page, data.len()))?;
            dictionary_offset = Some(spec.offset as i64);
            written.add(PageType::DICTIONARY_PAGE, Encoding::PLAIN, &spec);
        }
        let mut offsets = OffsetIndexBuilder::new();
        let (mut data_offset, mut rows) = (None, 0);
        for (page, of_page) in self.all {
            let encoding = page.encoding();
            let spec = writer.write_page(page)?;
            data_offset = data_offset.or(Some(spec.offset as i64));
            offsets.append_row_count(of_page as i64);
            offsets.append_offset_and_size(spec.offset as i64, spec.compressed_size as i32);
            rows += of_page;
            written.add(PageType::DATA_PAGE_V2, encoding, &spec);
        }
        writer.close()?;
        if self.is_optional {
            written.has(Encoding::RLE);
        }
        let metadata = ColumnChunkMetaData::builder(description.clone())
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
            .set_encodings_mask(EncodingMask::new_from_encodings(written.encodings.iter()))
            .set_page_encoding_stats(written.stats)
            .set_total_compressed_size(written.compressed as i64)
            .set_total_uncompressed_size(written.uncompressed as i64)
            .set_num_values(rows as i64)
            .set_data_page_offset(data_offset.unwrap_or(0))
            .set_dictionary_page_offset(dictionary_offset)
            .set_statistics(codec.statistics(self.nulls as u64))
            .build()?;
        let column_index = self.index.map(|mut index| {
            index.set_boundary_order(BoundaryOrder::ASCENDING);
            index.build()
        });
        let close = ColumnCloseResult {
            bytes_written: written.compressed as u64,
            rows_written: rows as u64,
            metadata,
            bloom_filter: None,
            column_index: column_index.transpose()?,
            offset_index: Some(offsets.build()),
        };
        Ok((sink.into_inner()?.into(), close))
    }
}

/// Sizes in bytes, encodings and kinds of the pages that were written.
#[derive(Default)]
struct Written {
    compressed: usize,
    uncompressed: usize,
    encodings: Vec<Encoding>,
    stats: Vec<PageEncodingStats>,
}

impl Written {
    fn add(&mut self, page_type: PageType, encoding: Encoding, spec: &PageWriteSpec) {
        self.compressed += spec.compressed_size;
        self.uncompressed += spec.uncompressed_size;
        self.has(encoding);
        match self.stats.last_mut() {
            Some(last) if (last.page_type, last.encoding) == (page_type, encoding) => last.count += 1,
            _ => self.stats.push(PageEncodingStats { page_type, encoding, count: 1 }),
        }
    }

    fn has(&mut self, encoding: Encoding) {
        if !self.encodings.contains(&encoding) {
            self.encodings.push(encoding);
        }
    }
}

/// Adds the data compressed, or as they are if that is no more; whether they are compressed. There is room for either.
fn compress(compressor: &mut Compressor<'_>, data: &[u8], out: &mut Vec<u8>) -> Result<bool> {
    let begin = out.len();
    out.resize(begin + zstd::zstd_safe::compress_bound(data.len()), 0);
    let length = compressor.compress_to_buffer(data, &mut out[begin..]).map_err(external)?;
    out.truncate(begin + length.min(data.len()));
    if length >= data.len() {
        out[begin..].copy_from_slice(data);
    }
    Ok(length < data.len())
}
