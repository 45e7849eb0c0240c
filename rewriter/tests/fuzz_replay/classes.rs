//! Mutants of classes: read, printed, rewritten.

use super::common::rewriting::rewrite;
use super::common::scan::scan;
use super::common::{self, Sample};
use super::replay::{Random, replay};
use instrument_rewriter::class_file::ClassFile;
use std::path::Path;

/// Where the structures of a class begin: constants, members, attributes, code.
pub(crate) fn landmarks(bytes: &[u8]) -> Vec<usize> {
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
            marks.extend((0..attribute.info.len().min(200)).map(|at| attribute.info_offset() + base + at));
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

pub(crate) fn mutate(random: &mut Random, bytes: &mut Vec<u8>, marks: &[usize], other: &[u8]) {
    for _ in 0..=random.below(4) {
        let near = marks[random.below(marks.len())] + random.below(3);
        let at = if random.below(4) == 0 { random.below(bytes.len()) } else { near };
        if at + 4 >= bytes.len() {
            continue;
        }
        let value = random.value(u16::from_be_bytes([bytes[at], bytes[at + 1]]).into());
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

/// The small classes of the golden cases: every structure that is hard to rewrite.
fn golden() -> Vec<Sample> {
    let mut classes = common::seeds();
    common::of_directory(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden"), &mut classes);
    classes.retain(|sample| sample.bytes.len() <= 6000 && ClassFile::parse(&sample.bytes).is_ok());
    assert!(classes.len() > 100, "the golden cases are gone");
    classes
}

fn mutants(seeds: &[Sample]) -> impl FnMut(&mut Random, usize) -> Vec<u8> {
    let marks: Vec<_> = seeds.iter().map(|seed| landmarks(&seed.bytes)).collect();
    move |random, run| {
        let seed = run % seeds.len();
        let mut bytes = seeds[seed].bytes.clone();
        let other = &seeds[random.below(seeds.len())].bytes;
        mutate(random, &mut bytes, &marks[seed], other);
        bytes
    }
}

#[test]
fn mutants_are_read_and_printed() {
    replay("scanned class", 10_000, 3, mutants(&common::seeds()), scan);
}

#[test]
fn mutants_are_rewritten() {
    replay("rewritten class", 20_000, 4, mutants(&golden()), rewrite);
}

#[test]
fn golden_classes_are_rewritten() {
    let golden = golden();
    let rewritten = golden.iter().filter(|class| rewrite(&class.bytes)).count();
    assert!(rewritten * 10 > golden.len() * 9, "{rewritten} of {}", golden.len());
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

/// What is appended to the pool must not become the name of the class.
#[test]
fn a_class_named_by_what_is_appended_is_refused() {
    for mut seed in common::seeds() {
        let class = ClassFile::parse(&seed.bytes).expect("a sound seed");
        let (entry, count) = (class.pool.offset(class.this_class).expect("an entry"), class.pool.count());
        for index in count..count + 12 {
            seed.bytes[entry + 1..entry + 3].copy_from_slice(&index.to_be_bytes());
            assert!(!rewrite(&seed.bytes), "{} named by #{index}", seed.name);
        }
    }
}
