//! The id map as a gzip member (RFC 1952), the form in which an output carries it.

use libdeflater::{CompressionLvl, Compressor, DecompressionError, Decompressor};

/// An id map that cannot be unpacked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GzError {
    /// Not a whole gzip member, or its checksum is wrong.
    #[error("damaged gzip data")]
    Damaged,
    /// It would unpack to more than the limit.
    #[error("unpacks to {size} bytes, more than the limit of {limit}")]
    TooLarge {
        /// What the trailer says.
        size: usize,
        /// What the caller allows.
        limit: usize,
    },
}

/// Packs `text`. The same text gives the same bytes: there is no time stamp and no file name in it.
pub fn compress(text: &[u8]) -> Vec<u8> {
    // The fastest level: a map is packed on one thread while nothing else is left to do.
    pack(text, 1)
}

/// The form without making it any smaller: for a piece of a map, on whose way a program waits.
pub fn store(text: &[u8]) -> Vec<u8> {
    pack(text, 0)
}

fn pack(text: &[u8], level: i32) -> Vec<u8> {
    let mut compressor = Compressor::new(CompressionLvl::new(level).unwrap_or_default());
    let mut packed = vec![0; compressor.gzip_compress_bound(text.len())];
    let length = compressor.gzip_compress(text, &mut packed).expect("the bound is large enough");
    packed.truncate(length);
    packed.shrink_to_fit();
    packed
}

/// Unpacks what [`compress`] has packed, or any other single gzip member, to at most `limit` bytes.
///
/// # Errors
/// See [`GzError`].
pub fn decompress(packed: &[u8], limit: usize) -> Result<Vec<u8>, GzError> {
    // The member's last four bytes are its unpacked size (RFC 1952 2.3.1). Deflate cannot shrink data to less than
    // 1/1032.
    let trailer = packed.last_chunk::<4>().ok_or(GzError::Damaged)?;
    let size = u32::from_le_bytes(*trailer) as usize;
    if size / 1032 > packed.len() {
        return Err(GzError::Damaged);
    }
    if size > limit {
        return Err(GzError::TooLarge { size, limit });
    }
    let mut text = vec![0; size];
    match Decompressor::new().gzip_decompress(packed, &mut text) {
        Ok(length) if length == size => Ok(text),
        Ok(_) | Err(DecompressionError::BadData | DecompressionError::InsufficientSpace) => {
            Err(GzError::Damaged)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_is_reversible_and_repeatable() {
        let text = b"class com/acme/Foo Foo.java\n".repeat(1000);
        let packed = compress(&text);
        assert_eq!(packed, compress(&text));
        assert_eq!(packed[4..8], [0; 4], "no modification time");
        assert!(packed.len() < text.len() / 20);
        assert_eq!(decompress(&packed, text.len()).unwrap(), text);
        assert_eq!(decompress(&compress(b""), 0).unwrap(), b"");
        assert_eq!(decompress(&store(&text), text.len()).unwrap(), text);
    }

    #[test]
    fn damage_and_bombs_are_errors() {
        let text = b"0123456789".repeat(100);
        let packed = compress(&text);
        assert_eq!(decompress(&packed, 999), Err(GzError::TooLarge { size: 1000, limit: 999 }));
        for cut in 0..packed.len() {
            assert!(decompress(&packed[..cut], 1 << 20).is_err(), "cut at {cut}");
        }
        for at in 0..packed.len() {
            let mut damaged = packed.clone();
            damaged[at] ^= 0x20;
            // Some header bytes (time, operating system) mean nothing; whatever is accepted must be the same text.
            if let Ok(unpacked) = decompress(&damaged, 1 << 20) {
                assert_eq!(unpacked, text, "byte {at}");
            }
        }
        let mut lying = packed;
        let end = lying.len();
        lying[end - 4..].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(decompress(&lying, usize::MAX), Err(GzError::Damaged));
    }
}
