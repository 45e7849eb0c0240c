//! A hash table from keys that lie elsewhere to their `u32` index: open addressing, linear probing, no removal.
//!
//! A slot holds 32 bits of the key's hash and the index, so that growing needs no key and a probe touches the key only on a likely hit.

/// Indices by hash.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// `hash << 32 | index + 1`; 0 is free. The length is 0 or a power of two.
    slots: Vec<u64>,
    len: usize,
}

impl Table {
    /// The index with this hash for which `is_key` holds.
    pub(super) fn find(&self, hash: u32, is_key: impl Fn(u32) -> bool) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at] != 0 {
            let index = (self.slots[at] as u32) - 1;
            if (self.slots[at] >> 32) as u32 == hash && is_key(index) {
                return Some(index);
            }
            at = (at + 1) & mask;
        }
        None
    }

    /// Adds an index that is not in the table yet; `index` is less than `u32::MAX`.
    pub(super) fn insert(&mut self, hash: u32, index: u32) {
        if self.len * 2 >= self.slots.len() {
            let larger = vec![0; (self.slots.len() * 2).max(64)];
            for slot in std::mem::replace(&mut self.slots, larger) {
                if slot != 0 {
                    self.place(slot);
                }
            }
        }
        self.place(u64::from(hash) << 32 | u64::from(index + 1));
        self.len += 1;
    }

    fn place(&mut self, slot: u64) {
        let mask = self.slots.len() - 1;
        let mut at = (slot >> 32) as usize & mask;
        while self.slots[at] != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = slot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_inserted_also_when_hashes_collide() {
        let mut table = Table::default();
        assert_eq!(table.find(7, |_| true), None);
        for index in 0..10_000 {
            table.insert(index % 100, index);
        }
        for index in (0..10_000).step_by(97) {
            assert_eq!(table.find(index % 100, |i| i == index), Some(index));
            assert_eq!(table.find(index % 100 + 1, |i| i == index), None);
        }
    }
}
