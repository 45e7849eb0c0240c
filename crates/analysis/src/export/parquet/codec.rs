//! How the values of each kind of column are written.

use parquet::basic::Encoding;
use parquet::data_type::{ByteArray, FixedLenByteArray};
use parquet::file::statistics::Statistics;

use super::chunk::Codec;
use super::distinct::Distinct;
use super::hybrid::{bits, pack, run};

/// Numbers of a dictionary as a page has them: how many bits each has, then the numbers.
fn indices(numbers: &[u32], values: usize, out: &mut Vec<u8>) -> Encoding {
    let width = bits(values.saturating_sub(1) as u32);
    out.push(width as u8);
    pack(numbers, width, out);
    Encoding::RLE_DICTIONARY
}

/// The same of the one value of a dictionary.
fn same_index(count: usize, out: &mut Vec<u8>) -> Encoding {
    out.push(0);
    run(0, count, 0, out);
    Encoding::RLE_DICTIONARY
}

/// A number of fixed size.
pub(super) trait Number: Copy {
    /// Its bytes.
    const SIZE: usize;

    /// Equal of equal numbers only.
    fn bits(self) -> u64;

    /// Adds numbers as they are.
    fn plain(values: &[Self], out: &mut Vec<u8>);
}

macro_rules! number {
    ($($type:ty)+) => {$(
        impl Number for $type {
            const SIZE: usize = size_of::<$type>();

            fn bits(self) -> u64 {
                u64::from_ne_bytes(i64::from(self).to_ne_bytes())
            }

            fn plain(values: &[Self], out: &mut Vec<u8>) {
                let begin = out.len();
                out.resize(begin + size_of_val(values), 0);
                for (place, value) in out[begin..].chunks_exact_mut(Self::SIZE).zip(values) {
                    place.copy_from_slice(&value.to_le_bytes());
                }
            }
        }
    )+};
}
number!(i64 u32);

/// Numbers behind a dictionary until that is too large, and from then on as they are.
pub(super) struct Numbers {
    distinct: Distinct,
    /// Values of the dictionary at most; none: there is no dictionary.
    most: Option<usize>,
    is_full: bool,
    numbers: Vec<u32>,
    of: Kind,
    range: Option<[i64; 2]>,
}

/// What the numbers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Whole,
    /// The bits of them.
    Double,
    /// The same.
    Float,
}

impl Numbers {
    pub(super) fn new(of: Kind, most: Option<usize>, mut distinct: Distinct) -> Numbers {
        distinct.clear();
        Numbers { distinct, most, is_full: most.is_none(), numbers: Vec::new(), of, range: None }
    }

    /// The memory, for the next column.
    pub(super) fn into_distinct(self) -> Distinct {
        self.distinct
    }

    fn widen<T: Number>(&mut self, values: &[T]) {
        if self.of == Kind::Whole {
            let whole = |value: &T| value.bits() as i64;
            let [least, greatest] = self.range.unwrap_or([i64::MAX, i64::MIN]);
            let least = values.iter().map(whole).fold(least, i64::min);
            self.range = Some([least, values.iter().map(whole).fold(greatest, i64::max)]);
        }
    }
}

impl<T: Number> Codec<T> for Numbers {
    fn page(&mut self, values: &[T], out: &mut Vec<u8>) -> Encoding {
        self.widen(values);
        if self.is_full {
            T::plain(values, out);
            return Encoding::PLAIN;
        }
        self.numbers.clear();
        self.numbers.extend(values.iter().map(|value| self.distinct.number(value.bits())));
        self.is_full = self.most.is_none_or(|most| self.distinct.values().len() >= most);
        indices(&self.numbers, self.distinct.values().len(), out)
    }

    fn same(&mut self, value: T, count: usize, out: &mut Vec<u8>) -> Encoding {
        self.widen(&[value]);
        self.distinct.number(value.bits());
        same_index(count, out)
    }

    fn dictionary(&self) -> Option<(Vec<u8>, usize)> {
        let values = self.distinct.values();
        let mut bytes = Vec::with_capacity(T::SIZE * values.len());
        values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()[..T::SIZE]));
        (!values.is_empty()).then_some((bytes, values.len()))
    }

    fn statistics(&self, nulls: u64) -> Statistics {
        let [least, greatest] = [0, 1].map(|at| self.range.map(|range| range[at]));
        match self.of {
            Kind::Whole => Statistics::int64(least, greatest, None, Some(nulls), false),
            // Nobody looks for an error, or for a sum of squares.
            Kind::Double => Statistics::double(None, None, None, Some(nulls), false),
            Kind::Float => Statistics::float(None, None, None, Some(nulls), false),
        }
    }

    fn range(&self, _: &[T]) -> Option<[Vec<u8>; 2]> {
        None
    }
}

/// Keys of which nearly every row has another one.
#[derive(Default)]
pub(super) struct Keys {
    range: Option<[[u8; 16]; 2]>,
}

impl Codec<[u8; 16]> for Keys {
    fn page(&mut self, values: &[[u8; 16]], out: &mut Vec<u8>) -> Encoding {
        let first = values.first().copied().unwrap_or_default();
        let [least, greatest] = self.range.unwrap_or([first; 2]);
        let least = values.iter().fold(least, |least, &value| least.min(value));
        self.range = Some([least, values.iter().fold(greatest, |greatest, &value| greatest.max(value))]);
        out.extend_from_slice(values.as_flattened());
        Encoding::PLAIN
    }

    fn same(&mut self, value: [u8; 16], count: usize, out: &mut Vec<u8>) -> Encoding {
        self.page(&[value], out);
        (1..count).for_each(|_| out.extend_from_slice(&value));
        Encoding::PLAIN
    }

    fn dictionary(&self) -> Option<(Vec<u8>, usize)> {
        None
    }

    fn statistics(&self, nulls: u64) -> Statistics {
        let of = |at: usize| self.range.map(|range| FixedLenByteArray::from(range[at].to_vec()));
        Statistics::fixed_len_byte_array(of(0), of(1), None, Some(nulls), false)
    }

    fn range(&self, values: &[[u8; 16]]) -> Option<[Vec<u8>; 2]> {
        Some([values.iter().min()?.to_vec(), values.iter().max()?.to_vec()])
    }
}

/// Bytes that are known by numbers, which a dictionary has as far as they are used.
pub(super) struct Known<'a> {
    all: &'a [ByteArray],
    /// Whether they are keys, all of one length.
    are_keys: bool,
    /// By number: that in the dictionary + 1, or 0.
    places: Vec<u32>,
    used: Vec<u32>,
    numbers: Vec<u32>,
}

impl<'a> Known<'a> {
    pub(super) fn new(all: &'a [ByteArray], are_keys: bool) -> Known<'a> {
        Known { all, are_keys, places: vec![0; all.len()], used: Vec::new(), numbers: Vec::new() }
    }

    fn place(&mut self, number: u32) -> u32 {
        let place = &mut self.places[number as usize];
        if *place == 0 {
            self.used.push(number);
            *place = self.used.len() as u32;
        }
        *place - 1
    }

    fn bytes(&self, number: u32) -> &[u8] {
        self.all[number as usize].data()
    }
}

/// Longer texts are not told as the least and the greatest.
const LONGEST: usize = 64;

impl Codec<u32> for Known<'_> {
    fn page(&mut self, values: &[u32], out: &mut Vec<u8>) -> Encoding {
        let mut numbers = std::mem::take(&mut self.numbers);
        numbers.clear();
        numbers.extend(values.iter().map(|&value| self.place(value)));
        let encoding = indices(&numbers, self.used.len(), out);
        self.numbers = numbers;
        encoding
    }

    fn same(&mut self, value: u32, count: usize, out: &mut Vec<u8>) -> Encoding {
        self.place(value);
        same_index(count, out)
    }

    fn dictionary(&self) -> Option<(Vec<u8>, usize)> {
        let mut bytes = Vec::new();
        for &number in &self.used {
            let data = self.bytes(number);
            if !self.are_keys {
                bytes.extend_from_slice(&(data.len() as u32).to_le_bytes());
            }
            bytes.extend_from_slice(data);
        }
        (!self.used.is_empty()).then_some((bytes, self.used.len()))
    }

    fn statistics(&self, nulls: u64) -> Statistics {
        let ends = [
            self.used.iter().map(|&number| self.bytes(number)).min(),
            self.used.iter().map(|&number| self.bytes(number)).max(),
        ];
        let [least, greatest] = ends.map(|end| end.filter(|bytes| bytes.len() <= LONGEST));
        if self.are_keys {
            let key = |bytes: &[u8]| FixedLenByteArray::from(bytes.to_vec());
            let [least, greatest] = [least, greatest].map(|end| end.map(key));
            Statistics::fixed_len_byte_array(least, greatest, None, Some(nulls), false)
        } else {
            let [least, greatest] = [least, greatest].map(|end| end.map(|bytes| bytes.to_vec().into()));
            Statistics::byte_array(least, greatest, None, Some(nulls), false)
        }
    }

    fn range(&self, values: &[u32]) -> Option<[Vec<u8>; 2]> {
        let bytes = || values.iter().map(|&value| self.bytes(value));
        Some([bytes().min()?.to_vec(), bytes().max()?.to_vec()])
    }
}

/// Yes or no.
#[derive(Default)]
pub(super) struct Flags {
    range: Option<[bool; 2]>,
}

impl Flags {
    fn add(&mut self, flags: [bool; 2], out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) -> Encoding {
        let [least, greatest] = self.range.unwrap_or(flags);
        self.range = Some([least & flags[0], greatest | flags[1]]);
        // The length comes first.
        let begin = out.len();
        out.extend_from_slice(&[0; 4]);
        write(out);
        let length = (out.len() - begin - 4) as u32;
        out[begin..begin + 4].copy_from_slice(&length.to_le_bytes());
        Encoding::RLE
    }
}

impl Codec<bool> for Flags {
    fn page(&mut self, values: &[bool], out: &mut Vec<u8>) -> Encoding {
        let numbers: Vec<u32> = values.iter().map(|&value| u32::from(value)).collect();
        self.add([!values.contains(&false), values.contains(&true)], out, |out| pack(&numbers, 1, out))
    }

    fn same(&mut self, value: bool, count: usize, out: &mut Vec<u8>) -> Encoding {
        self.add([value; 2], out, |out| run(u32::from(value), count, 1, out))
    }

    fn dictionary(&self) -> Option<(Vec<u8>, usize)> {
        None
    }

    fn statistics(&self, nulls: u64) -> Statistics {
        let [least, greatest] = [0, 1].map(|at| self.range.map(|range| range[at]));
        Statistics::boolean(least, greatest, None, Some(nulls), false)
    }

    fn range(&self, _: &[bool]) -> Option<[Vec<u8>; 2]> {
        None
    }
}
