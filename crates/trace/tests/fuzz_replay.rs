//! A bounded replay of fuzzing: mutants of profiles, always the same ones. `fuzz/run profile` looks longer.
//!
//! `FUZZ_REPLAY_RUNS` sets the number of mutants.

use crate::common::profiles::read;
use crate::replay::{Random, replay};
use std::path::Path;

/// The profiles that the runtime wrote, each cut to what is in use of its first block.
fn seeds() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/profiles");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("profiles").flatten().map(|e| e.path()).collect();
    files.sort();
    let mut seeds: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).expect("a profile")).collect();
    for seed in &mut seeds {
        let used = seed.iter().rposition(|&byte| byte != 0).expect("something") + 64;
        seed.truncate(used);
    }
    assert!(seeds.len() >= 6, "the profiles are gone");
    seeds
}

/// Words that are not 0 and lie behind the magic: where all structure is.
fn landmarks(seed: &[u8]) -> Vec<usize> {
    (8..seed.len() - 8).step_by(4).filter(|&at| seed[at..at + 4] != [0; 4]).collect()
}

fn mutant(random: &mut Random, seed: &[u8], marks: &[usize], run: usize) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(3) {
        // The first mutants go through the words from the front.
        let at = if random.below(3) == 0 {
            marks[run / 4 % marks.len()]
        } else {
            marks[random.below(marks.len())]
        };
        let word = at & !7;
        match random.below(8) {
            0 | 1 => {
                let value = random.value(bytes[at].into());
                bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            }
            2 => bytes[word..word + 8].copy_from_slice(&(random.next() << 16).to_le_bytes()),
            // Lengths and offsets near the ends of the number space and of the file.
            3 | 4 => {
                let ends = [0u64, 1 << 32, 1 << 63, bytes.len() as u64];
                let near = [0u64, 8, 64, 4096, 4160][random.below(5)];
                let end = ends[random.below(ends.len())];
                let value =
                    if random.below(2) == 0 { end.wrapping_sub(near) } else { end.wrapping_add(near) };
                bytes[word..word + 8].copy_from_slice(&value.to_le_bytes());
            }
            // Another structure's word.
            5 => {
                let from = marks[random.below(marks.len())] & !7;
                bytes.copy_within(from..from + 8, word);
            }
            // A region's head again, elsewhere.
            6 => {
                let from = marks[random.below(marks.len())] & !63;
                let to = marks[random.below(marks.len())] & !63;
                if from.max(to) + 64 <= bytes.len() {
                    bytes.copy_within(from..from + 64, to);
                }
            }
            _ if random.below(4) == 0 => bytes.truncate(4096.max(at)),
            _ => bytes[at] ^= 1 << random.below(8),
        }
        if bytes.len() < seed.len() {
            break;
        }
    }
    bytes
}

#[test]
fn mutants_are_read() {
    let seeds = seeds();
    let marks: Vec<_> = seeds.iter().map(|seed| landmarks(seed)).collect();
    let make = |random: &mut Random, run: usize| {
        let seed = run % seeds.len();
        mutant(random, &seeds[seed], &marks[seed], run)
    };
    replay("profile", 40_000, 3, make, read);
}

#[test]
fn seeds_are_profiles() {
    for seed in seeds() {
        assert!(read(&seed));
        for length in (0..seed.len()).step_by(64) {
            assert_eq!(read(&seed[..length]), length >= 4096, "cut to {length} bytes");
        }
    }
}
