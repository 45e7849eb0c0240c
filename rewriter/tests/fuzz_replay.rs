//! A bounded replay of fuzzing: mutants of small classes, always the same ones. `fuzz/run` looks longer.
//!
//! `FUZZ_REPLAY_RUNS` sets the number of mutants.

mod common;

use common::scan::scan;
use instrument_rewriter::class_file::ClassFile;
use std::time::{Duration, Instant};

/// Values that are at the edge of something.
const INTERESTING: [u32; 14] =
    [0, 1, 2, 3, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

/// Numbers that look random (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Where the structures of a class begin: constants, members, attributes, code.
fn landmarks(bytes: &[u8]) -> Vec<usize> {
    let class = ClassFile::parse(bytes).expect("a sound seed");
    let mut marks = vec![4, 6, 8, class.pool.end(), class.pool.end() + 2, class.pool.end() + 4];
    marks.extend(class.pool.indices().filter_map(|index| class.pool.offset(index)));
    let mut add = |mut attributes: instrument_rewriter::class_file::Attributes<'_>, base: usize| {
        while let Ok(Some(attribute)) = attributes.next() {
            marks.extend([
                attribute.offset + base,
                attribute.offset + base + 2,
                attribute.info_offset() + base,
            ]);
            marks.extend((0..attribute.info.len().min(64)).map(|at| attribute.info_offset() + base + at));
        }
    };
    add(class.attributes(), 0);
    for mut members in [class.fields(), class.methods()] {
        while let Ok(Some(member)) = members.next() {
            add(member.attributes(), 0);
            if let Ok(Some(code)) = member.code(&class.pool) {
                add(code.attributes, code.offset + 6);
            }
        }
    }
    marks
}

fn mutate(random: &mut Random, bytes: &mut Vec<u8>, marks: &[usize], other: &[u8]) {
    for _ in 0..=random.below(4) {
        let near = marks[random.below(marks.len())] + random.below(3);
        let at = if random.below(4) == 0 { random.below(bytes.len()) } else { near };
        if at + 4 >= bytes.len() {
            continue;
        }
        let value = match random.below(3) {
            0 => random.next() as u32,
            1 => INTERESTING[random.below(INTERESTING.len())],
            _ => u32::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]))
                .wrapping_add_signed([1, -1][random.below(2)]),
        };
        match random.below(8) {
            0 | 1 => bytes[at] = value as u8,
            2..=4 => bytes[at..at + 2].copy_from_slice(&(value as u16).to_be_bytes()),
            5 => bytes[at..at + 4].copy_from_slice(&value.to_be_bytes()),
            6 => {
                // Bytes of another class over these: sizes stay, meanings change.
                let from = random.below(other.len());
                let length = random.below(64).min(other.len() - from).min(bytes.len() - at);
                bytes[at..at + length].copy_from_slice(&other[from..from + length]);
            }
            _ => match random.below(8) {
                0 => bytes.truncate(at),
                1 => drop(bytes.drain(at..at + random.below(4))),
                2 => bytes.insert(at, value as u8),
                _ => {
                    let from = marks[random.below(marks.len())];
                    if from + 2 < bytes.len() {
                        bytes.copy_within(from..from + 2, at);
                    }
                }
            },
        }
    }
}

/// The most memory that this process ever used, in bytes, where Linux tells.
fn peak_memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<usize>().ok().map(|kilobytes| kilobytes * 1024)
}

#[test]
fn mutants_of_classes_neither_panic_nor_hang_nor_eat_memory() {
    let runs: usize =
        std::env::var("FUZZ_REPLAY_RUNS").map_or(20_000, |runs| runs.parse().expect("a number"));
    let seeds = common::seeds();
    let marks: Vec<_> = seeds.iter().map(|seed| landmarks(&seed.bytes)).collect();
    let largest = seeds.iter().map(|seed| seed.bytes.len()).max().unwrap_or_default();
    let before = peak_memory();
    let mut random = Random(0x1234_5678_9abc_def1);
    let (mut parsed, mut slowest) = (0, Duration::ZERO);
    for run in 0..runs {
        let seed = run % seeds.len();
        let mut bytes = seeds[seed].bytes.clone();
        let other = &seeds[random.below(seeds.len())].bytes;
        mutate(&mut random, &mut bytes, &marks[seed], other);
        let start = Instant::now();
        match std::panic::catch_unwind(|| scan(&bytes)) {
            Ok(is_class) => parsed += usize::from(is_class),
            Err(_) => {
                let file =
                    std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mutant-{run}.class"));
                std::fs::write(&file, &bytes).expect("writes the mutant");
                panic!("mutant {run} of {} panics; see {}", seeds[seed].name, file.display());
            }
        }
        slowest = slowest.max(start.elapsed());
    }
    println!("{parsed} of {runs} mutants are classes; the slowest took {slowest:?}");
    // Mutants that nobody reads test nothing.
    assert!(parsed * 3 > runs, "only {parsed} of {runs} mutants are classes");
    assert!(slowest < Duration::from_secs(5), "a mutant took {slowest:?}");
    if let (Some(before), Some(after)) = (before, peak_memory()) {
        let limit = (64 << 20) + 20 * largest;
        assert!(after - before < limit, "{} bytes of memory", after - before);
    }
}

#[test]
fn seeds_are_classes() {
    for seed in common::seeds() {
        assert!(scan(&seed.bytes), "{}", seed.name);
        for length in 0..seed.bytes.len() {
            assert!(!scan(&seed.bytes[..length]), "{} cut to {length} bytes", seed.name);
        }
    }
}
