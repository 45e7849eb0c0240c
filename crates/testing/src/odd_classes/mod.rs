//! Odd classes: every attribute at every place and in every version, constants and frames of every kind, right and
//! wrong. What a virtual machine says of them, it alone knows.

mod attributes;
mod class;
mod constants;
mod frames;
mod pool;

use crate::changed_classes::Random;

/// A class named `Odd`.
pub struct Odd {
    /// What is odd about it.
    pub what: String,
    /// The class file.
    pub bytes: Vec<u8>,
}

/// Those before and behind each step in what HotSpot reads.
const VERSIONS: [u16; 14] = [45, 47, 48, 49, 50, 51, 52, 54, 55, 59, 60, 61, 65, 69];

pub fn all() -> Vec<Odd> {
    let mut all = Vec::new();
    attributes::add(&mut all);
    constants::add(&mut all);
    frames::add(&mut all);
    all
}

/// `count` of them, the same ones for the same seed.
pub fn some(count: usize, seed: u64) -> Vec<Odd> {
    let (mut all, mut random) = (all(), Random(seed));
    (0..count.min(all.len())).map(|_| all.swap_remove(random.below(all.len()))).collect()
}
