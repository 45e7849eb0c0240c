//! Which of the different values of a column a value is: what a dictionary is made of.

/// The different values, numbered as they came.
#[derive(Default)]
pub(super) struct Distinct {
    values: Vec<u64>,
    /// By hash: number of a value + 1, or 0. A power of two, or none.
    slots: Vec<u32>,
}

/// Slots at the beginning.
const LEAST: usize = 1 << 10;

/// An odd number whose multiples differ in their upper bits (the golden ratio of 2^64).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Distinct {
    pub(super) fn clear(&mut self) {
        self.values.clear();
        self.slots.clear();
        self.slots.resize(LEAST, 0);
    }

    pub(super) fn values(&self) -> &[u64] {
        &self.values
    }

    fn slot(&self, value: u64) -> usize {
        (value.wrapping_mul(SPREAD) >> (u64::BITS - self.slots.len().trailing_zeros())) as usize
    }

    /// The number of a value, which is a new one if it is not known. [`Distinct::clear`] comes first.
    #[inline]
    pub(super) fn number(&mut self, value: u64) -> u32 {
        let mut slot = self.slot(value);
        loop {
            match self.slots[slot] {
                0 => return self.add(slot, value),
                known if self.values[known as usize - 1] == value => return known - 1,
                _ => slot = (slot + 1) & (self.slots.len() - 1),
            }
        }
    }

    fn add(&mut self, slot: usize, value: u64) -> u32 {
        self.values.push(value);
        let number = self.values.len() as u32;
        self.slots[slot] = number;
        if 2 * self.values.len() > self.slots.len() {
            self.grow();
        }
        number - 1
    }

    fn grow(&mut self) {
        let larger = 2 * self.slots.len();
        self.slots.clear();
        self.slots.resize(larger, 0);
        for (i, &value) in self.values.iter().enumerate() {
            let mut slot = self.slot(value);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (larger - 1);
            }
            self.slots[slot] = i as u32 + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_numbers_of_their_order() {
        let mut distinct = Distinct::default();
        for _ in 0..2 {
            distinct.clear();
            assert!(distinct.values().is_empty());
            // More than there are slots at the beginning, 0 among them, each twice.
            for round in 0..2 {
                for i in 0..5000u64 {
                    assert_eq!(distinct.number(i << 40), i as u32, "{round}");
                }
            }
            assert_eq!(distinct.values().len(), 5000);
            assert_eq!(distinct.values()[4999], 4999 << 40);
        }
    }
}
