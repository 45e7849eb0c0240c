//! Getting an entry's bytes out and back in: STORED and DEFLATED, checked against size and CRC.
//!
//! Compressors are kept per thread: setting one up costs more than a small class.

use std::borrow::Cow;
use std::cell::Cell;

use libdeflater::{CompressionLvl, Compressor, DecompressionError, Decompressor};

use super::directory::{Directory, Entry};
use super::error::ErrorKind;
use super::header::{DEFLATED, STORED, Sizes};

/// No deflate stream grows by more than this (258 bytes from 2 bits), so a larger claim is a lie.
const MAX_EXPANSION: u64 = 1032;

/// The longest buffer that a thread keeps: no more than large classes need. A nested archive has one of its own.
const MAX_KEPT: usize = 1 << 20;

/// What one thread keeps between entries.
#[derive(Default)]
struct Scratch {
    inflate: Option<Decompressor>,
    deflate: Option<(i32, Compressor)>,
    /// As long as the longest stream so far may get, up to [`MAX_KEPT`]: it is not made, and cleared, for each entry.
    packed: Vec<u8>,
}

thread_local! {
    // Taken out while in use, so that code which re-enters (work stealing) finds an empty one, not a lock.
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

fn with_scratch<T>(work: impl FnOnce(&mut Scratch) -> T) -> T {
    let mut scratch = SCRATCH.take().unwrap_or_default();
    let result = work(&mut scratch);
    SCRATCH.set(Some(scratch));
    result
}

/// The entry's content: a slice of the archive if STORED, inflated otherwise: as many bytes as its header claims, which
/// the caller has to find acceptable.
pub(super) fn content<'a>(directory: &Directory<'a>, entry: &Entry<'a>) -> Result<Cow<'a, [u8]>, ErrorKind> {
    unpacked(directory.packed(entry), entry.method, entry.sizes)
}

/// The same of data that was found before.
pub(super) fn unpacked(data: &[u8], method: u16, sizes: Sizes) -> Result<Cow<'_, [u8]>, ErrorKind> {
    let Sizes { crc, packed, size } = sizes;
    let bytes = if method == STORED {
        if packed != size {
            return Err(ErrorKind::Size { claimed: size });
        }
        Cow::Borrowed(data)
    } else {
        debug_assert_eq!(method, DEFLATED);
        if size > packed.saturating_mul(MAX_EXPANSION) {
            return Err(ErrorKind::Size { claimed: size });
        }
        Cow::Owned(inflate(data, size as usize)?)
    };
    let actual = crc32fast::hash(&bytes);
    if actual != crc {
        return Err(ErrorKind::Crc { expected: crc, actual });
    }
    Ok(bytes)
}

fn inflate(data: &[u8], size: usize) -> Result<Vec<u8>, ErrorKind> {
    let mut bytes = vec![0; size];
    let result = with_scratch(|scratch| {
        scratch.inflate.get_or_insert_with(Decompressor::new).deflate_decompress(data, &mut bytes)
    });
    match result {
        Ok(len) if len == size => Ok(bytes),
        Ok(_) | Err(DecompressionError::InsufficientSpace) => Err(ErrorKind::Size { claimed: size as u64 }),
        Err(DecompressionError::BadData) => Err(ErrorKind::Inflate),
    }
}

/// An entry's new data.
#[derive(Debug)]
pub(super) struct Packed {
    pub(super) data: Vec<u8>,
    pub(super) sizes: Sizes,
}

/// Packs `content` with `method`, STORED or DEFLATED at `level`.
pub(super) fn pack<'a>(content: impl Into<Cow<'a, [u8]>>, method: u16, level: i32) -> Packed {
    let content = content.into();
    let crc = crc32fast::hash(&content);
    let size = content.len() as u64;
    let data = if method == STORED { content.into_owned() } else { deflate(&content, level) };
    let sizes = Sizes { crc, packed: data.len() as u64, size };
    Packed { data, sizes }
}

fn deflate(content: &[u8], level: i32) -> Vec<u8> {
    with_scratch(|scratch| {
        if scratch.deflate.as_ref().is_none_or(|(set_up, _)| *set_up != level) {
            // CompressionLvl::new refuses levels outside 0..=12; Options::level is clamped to them.
            let lvl = CompressionLvl::new(level).unwrap_or_default();
            scratch.deflate = Some((level, Compressor::new(lvl)));
        }
        let (_, compressor) = scratch.deflate.as_mut().expect("set up above");
        let bound = compressor.deflate_compress_bound(content.len());
        let mut data = std::mem::take(&mut scratch.packed);
        data.resize(bound.max(data.len()), 0);
        let len =
            compressor.deflate_compress(content, &mut data).expect("the buffer has the size of the bound");
        if bound > MAX_KEPT {
            data.truncate(len);
            data.shrink_to_fit();
            return data;
        }
        let packed = data[..len].to_vec();
        scratch.packed = data;
        packed
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_packs_as_it_does_alone() {
        let content: Vec<u8> = (0..20_000u32).map(|n| b"abcdefghij"[(n * n / 7) as usize % 10]).collect();
        let alone = |level| {
            let mut compressor = Compressor::new(CompressionLvl::new(level).unwrap());
            let mut data = vec![0; compressor.deflate_compress_bound(content.len())];
            let len = compressor.deflate_compress(&content, &mut data).unwrap();
            data.truncate(len);
            data
        };
        assert_ne!(alone(1), alone(12));
        for level in [1, 12, 12, 1, 6] {
            let Packed { data, sizes } = pack(content.clone(), DEFLATED, level);
            assert_eq!(data, alone(level), "{level}");
            let crc = crc32fast::hash(&content);
            assert_eq!(sizes, Sizes { crc, packed: data.len() as u64, size: 20_000 });
            assert_eq!(inflate(&data, 20_000).unwrap(), content);
        }
        let large = content.repeat(MAX_KEPT / content.len() + 1);
        let Packed { data, .. } = pack(&large, DEFLATED, 1);
        assert_eq!(inflate(&data, large.len()).unwrap(), large);
        assert_eq!(pack(&content, DEFLATED, 1).data, alone(1));
        let kept = with_scratch(|scratch| scratch.packed.len());
        assert!((20_000..=MAX_KEPT).contains(&kept), "{kept}");
        let Packed { data, sizes } = pack(content.clone(), STORED, 6);
        assert_eq!((data.len(), sizes.packed, sizes.size), (20_000, 20_000, 20_000));
    }
}
