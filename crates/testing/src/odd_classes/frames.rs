//! Stack map tables: frames of every kind, with types of every kind, at places that need one and at others.

use super::class::{CODE, Class, Code};
use super::pool::{BEHIND, Pool};
use super::{Odd, VERSIONS};
use crate::changed_classes::Random;

/// So many for each version.
const TABLES: usize = 160;

fn verification_type(pool: &mut Pool, random: &mut Random, out: &mut Vec<u8>) {
    let tag = [7, 7, 7, 0, 1, 2, 3, 4, 5, 6, 8, 9][random.below(12)];
    out.push(tag);
    let index = match tag {
        7 => match random.below(8) {
            0 => BEHIND,
            1 => 0,
            2 => pool.integer(),
            3 => pool.class("java/lang/String"),
            _ => pool.class("java/lang/Object"),
        },
        8 => random.below(10) as u16,
        _ => return,
    };
    out.extend(index.to_be_bytes());
}

/// A frame that leads from the start to `at`, or from the frame before by `at` bytes more than one.
fn frame(pool: &mut Pool, random: &mut Random, at: u8, out: &mut Vec<u8>) {
    match random.below(7) {
        0 | 1 => out.push(at),
        2 => {
            out.push(64 + at);
            verification_type(pool, random, out);
        }
        3 => {
            out.extend([247, 0, at]);
            verification_type(pool, random, out);
        }
        4 => out.extend([[248, 249, 250, 251, 251][random.below(5)], 0, at]),
        5 => {
            let more = random.below(3);
            out.extend([252 + more as u8, 0, at]);
            (0..=more).for_each(|_| verification_type(pool, random, out));
        }
        _ => {
            out.extend([255, 0, at]);
            for most in [3, 2] {
                let types = random.below(most);
                out.extend((types as u16).to_be_bytes());
                (0..types).for_each(|_| verification_type(pool, random, out));
            }
        }
    }
    // A tag that is reserved.
    if random.below(40) == 0 {
        out.push(128 + random.below(119) as u8);
    }
}

/// Tables of code that needs no frame.
const NEEDLESS: [&[u8]; 6] = [&[], &[0], &[0, 0], &[0, 1], &[0, 1, 0], &[0, 0, 0]];

pub(super) fn add(into: &mut Vec<Odd>) {
    let mut random = Random(7);
    for version in VERSIONS {
        for table in NEEDLESS {
            let mut class = Class::new(version);
            let (bytes, frames) = (vec![0x04, 0xac], Some(table.to_vec()));
            class.code = Some(Code { max_stack: 1, bytes, handlers: Vec::new(), frames });
            let what = format!("needless frames in {version}: {table:x?}");
            into.push(Odd { what, bytes: class.finish() });
        }
        for number in 0..TABLES {
            let mut class = Class::new(version);
            let count = 1 + random.below(8) / 6;
            let said = if random.below(12) == 0 { random.below(4) } else { count };
            let mut table = (said as u16).to_be_bytes().to_vec();
            for frames in 0..count {
                // The code needs one at 6; there are instructions at 0, 1, 4 and 5 as well.
                let at = if random.below(5) == 0 { random.below(9) } else { 6 - 6 * frames };
                frame(&mut class.pool, &mut random, at as u8, &mut table);
            }
            class.code = Some(Code {
                max_stack: [2, 2, 2, 1, 0][random.below(5)],
                bytes: CODE.to_vec(),
                handlers: Vec::new(),
                frames: Some(table.clone()),
            });
            let what = format!("frames {number} in {version}: {table:x?}");
            into.push(Odd { what, bytes: class.finish() });
        }
    }
}
