//! The walk over blocks and regions: what is where in the file. Pieces of traces, of which there may be millions, are
//! only noted; every other region is read by its kind.

use std::collections::HashMap;

use crate::bytes::Bytes;
use crate::error::Damage;
use crate::format::*;
use crate::thread::Piece;

/// A region whose kind, owner and length are known; its body may still be cut off.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Region {
    pub(crate) kind: u32,
    pub(crate) owner: u32,
    pub(crate) copy: u32,
    pub(crate) offset: u64,
    /// Length in bytes, header included, cut to the block and to the file.
    pub(crate) length: u64,
}

impl Region {
    /// File offset of the first byte after the region.
    pub(crate) fn end(&self) -> u64 {
        self.offset + self.length
    }
}

/// What a file consists of.
#[derive(Default)]
pub(crate) struct Places {
    /// Every finished region but pieces of traces, in file order.
    pub(crate) regions: Vec<Region>,
    /// Pieces by copy and thread, in file order.
    pub(crate) pieces: HashMap<(u32, u32), Vec<Piece>>,
}

/// `end`: where the recorder says that the last block ends, which it does when the block is there.
pub(crate) fn walk(bytes: &Bytes<'_>, end: u64, damage: &mut Vec<Damage>) -> Places {
    let mut places = Places::default();
    let mut at = FILE_HEADER;
    // Lengths are anyone's: the sums stay at the end of the numbers.
    while at.saturating_add(HEADER) <= bytes.size() {
        if bytes.u32(at) == 0 {
            if at < end {
                let reason = format!("{} bytes are missing here, or are a hole", end - at);
                damage.push(Damage { offset: at, structure: "block", reason });
            }
            break;
        }
        let length = bytes.u64(at + 8);
        if bytes.u32(at) != BLOCK || length == 0 || !length.is_multiple_of(PAGE) {
            damage.push(Damage { offset: at, structure: "block", reason: "not a block header".into() });
            break;
        }
        let end = at.saturating_add(length);
        if end > bytes.size() {
            let reason = format!("the file ends {} bytes before the block does", end - bytes.size());
            damage.push(Damage { offset: at, structure: "block", reason });
        }
        walk_block(bytes, at, end.min(bytes.size()), &mut places, damage);
        at = end;
    }
    if at > FILE_HEADER && at < bytes.size() && bytes.size() - at < HEADER {
        let reason = "the file ends inside its header".into();
        damage.push(Damage { offset: at, structure: "block", reason });
    }
    places
}

fn walk_block(bytes: &Bytes<'_>, block: u64, end: u64, places: &mut Places, damage: &mut Vec<Damage>) {
    let copy = bytes.u32(block + 4);
    let mut at = block + HEADER;
    while at.saturating_add(HEADER) <= end {
        let length = bytes.u64(at + 8);
        let kind = bytes.u32(at);
        if length == 0 && kind == 0 {
            break;
        }
        if length < HEADER || !length.is_multiple_of(HEADER) {
            damage.push(Damage { offset: at, structure: "region", reason: format!("length {length}") });
            break;
        }
        // Where the file is cut, that is said of the block.
        if length > end - at && block_end(bytes, block) == end {
            let reason = "it is longer than its block".into();
            damage.push(Damage { offset: at, structure: "region", reason });
        }
        let region =
            Region { kind, owner: bytes.u32(at + 4), copy, offset: at, length: length.min(end - at) };
        match kind {
            0 => {}
            TRACE => {
                let piece = piece(bytes, &region);
                places.pieces.entry((copy, region.owner)).or_default().push(piece);
            }
            _ => places.regions.push(region),
        }
        at = at.saturating_add(length);
    }
}

fn block_end(bytes: &Bytes<'_>, block: u64) -> u64 {
    block.saturating_add(bytes.u64(block + 8))
}

fn piece(bytes: &Bytes<'_>, region: &Region) -> Piece {
    Piece {
        offset: region.offset + HEADER,
        clock: bytes.u64(region.offset + 24),
        number: u32::try_from(bytes.u64(region.offset + 16)).unwrap_or(u32::MAX),
        // Nobody writes pieces of 4 GiB; what is behind that is not read.
        length: (region.length - HEADER).min(u32::MAX.into()) as u32 & !7,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_up_to_the_end_of_the_numbers_are_taken() {
        let mut data = vec![0; 8192];
        data[4096..4100].copy_from_slice(&BLOCK.to_le_bytes());
        data[4160] = 77;
        for (block, region) in [(0u64.wrapping_sub(PAGE), 64), (PAGE, 0u64.wrapping_sub(HEADER))] {
            data[4104..4112].copy_from_slice(&block.to_le_bytes());
            data[4168..4176].copy_from_slice(&region.to_le_bytes());
            let mut damage = Vec::new();
            let regions = walk(&Bytes::new(&data).unwrap(), 0, &mut damage).regions;
            assert_eq!(regions.len(), 1);
            assert_eq!((regions[0].kind, regions[0].offset, regions[0].end() <= 8192), (77, 4160, true));
            let reason =
                if block > PAGE { "bytes before the block does" } else { "it is longer than its block" };
            assert_eq!(damage.len(), 1, "{damage:?}");
            assert!(damage[0].reason.contains(reason), "{damage:?}");
        }
    }
}
