//! The walk over blocks and regions: what is where in the file.

use crate::bytes::Bytes;
use crate::error::Damage;
use crate::format::*;

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

/// Every finished region, in file order.
pub(crate) fn walk(bytes: &Bytes<'_>, damage: &mut Vec<Damage>) -> Vec<Region> {
    let mut regions = Vec::new();
    let mut at = FILE_HEADER;
    // Lengths are anyone's: the sums stay at the end of the numbers.
    while at.saturating_add(HEADER) <= bytes.len() {
        if bytes.u32(at) == 0 {
            break;
        }
        let length = bytes.u64(at + 8);
        if bytes.u32(at) != BLOCK || length == 0 || !length.is_multiple_of(PAGE) {
            damage.push(Damage { offset: at, structure: "block", reason: "not a block header".into() });
            break;
        }
        let end = at.saturating_add(length);
        if end > bytes.len() {
            let reason = format!("the file ends {} bytes before the block does", end - bytes.len());
            damage.push(Damage { offset: at, structure: "block", reason });
        }
        walk_block(bytes, at, end.min(bytes.len()), &mut regions, damage);
        at = end;
    }
    if at > FILE_HEADER && at < bytes.len() && bytes.len() - at < HEADER {
        let reason = "the file ends inside its header".into();
        damage.push(Damage { offset: at, structure: "block", reason });
    }
    regions
}

fn walk_block(bytes: &Bytes<'_>, block: u64, end: u64, regions: &mut Vec<Region>, damage: &mut Vec<Damage>) {
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
        if kind != 0 {
            let cut = length.min(end - at);
            regions.push(Region { kind, owner: bytes.u32(at + 4), copy, offset: at, length: cut });
        }
        at = at.saturating_add(length);
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
            let regions = walk(&Bytes::new(&data), &mut damage);
            assert_eq!(regions.len(), 1);
            assert_eq!((regions[0].kind, regions[0].offset, regions[0].end() <= 8192), (77, 4160, true));
            assert_eq!(damage.len(), usize::from(block > PAGE), "{damage:?}");
        }
    }
}
