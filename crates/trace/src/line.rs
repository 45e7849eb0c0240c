//! How often methods have passed the counters of their lines.

use std::collections::BTreeMap;

/// Which code was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineKey {
    /// Id of the method.
    pub method: u32,
    /// Says what its code was.
    pub check: u32,
}

/// Adds the records of a region; those in front of a fault as well.
pub(crate) fn read(data: &[u8], lines: &mut BTreeMap<LineKey, Vec<u64>>) -> Result<(), &'static str> {
    let mut rest = data;
    while !rest.is_empty() {
        let Some((head, behind)) = rest.split_at_checked(16) else { return Err("it is cut off") };
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let key = LineKey { method: word(0), check: word(4) };
        let Some((body, behind)) = (word(8) as usize).checked_mul(8).and_then(|n| behind.split_at_checked(n))
        else {
            return Err("a method has more counters than there is room for");
        };
        let counters = body.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
        let sums = lines.entry(key).or_default();
        if sums.is_empty() {
            sums.extend(counters);
        } else if sums.len() == body.len() / 8 {
            sums.iter_mut().zip(counters).for_each(|(sum, more)| *sum = sum.saturating_add(more));
        } else {
            return Err("a method has once more counters and once fewer");
        }
        rest = behind;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(method: u32, check: u32, counters: &[u64]) -> Vec<u8> {
        let head = [method, check, counters.len() as u32, 0].map(u32::to_le_bytes).concat();
        [head, counters.iter().flat_map(|n| n.to_le_bytes()).collect()].concat()
    }

    #[test]
    fn records_of_the_same_code_are_added_up() {
        let data = [record(7, 1, &[1, 2]), record(7, 2, &[5]), record(7, 1, &[10, u64::MAX])].concat();
        let mut lines = BTreeMap::new();
        assert_eq!(read(&data, &mut lines), Ok(()));
        let of = |check| &lines[&LineKey { method: 7, check }][..];
        assert_eq!((of(1), of(2)), (&[11, u64::MAX][..], &[5][..]));
    }

    #[test]
    fn what_is_cut_off_or_lies_is_told() {
        let whole = record(7, 1, &[1, 2]);
        for length in 1..whole.len() {
            assert!(read(&whole[..length], &mut BTreeMap::new()).is_err(), "{length}");
        }
        let mut lies = whole.clone();
        lies[8..12].fill(0xff);
        assert!(read(&lies, &mut BTreeMap::new()).is_err());
        let other = [whole, record(7, 1, &[1])].concat();
        assert!(read(&other, &mut BTreeMap::new()).is_err());
    }
}
