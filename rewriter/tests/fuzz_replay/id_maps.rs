//! Mutants of id maps: read, written, extended.

use super::common::id_maps::round_trip;
use super::replay::{Random, replay};
use instrument_names::id_map::gz;

pub(crate) const SEEDS: [&str; 5] = [
    "instrument ids 1\n",
    "instrument ids 1\nclass com/acme/Foo Foo.java\n1 <init> ()V 3 1 0123456789abcdef\n\
     2 run (I[Ljava/lang/String;)J 4 9 00000000000000ff\nclass Bar -\n3 x ()V 0 0 ffffffffffffffff\n",
    "instrument ids 1\nclass a\\u0020b \\e\n7 \\e \\u002d 7 1009 0000000000000000\nclass a\\u0020b \\u002d\n\
     7 \\e \\u002d 8 9 0000000000000001\n9 \\xff\\ud800 ()V 0 0 0000000000000002\n",
    "instrument ids 1\nclass A A.kt\n2147483647 m ()V 65535 ffffffff aaaaaaaaaaaaaaaa\nclass B B.kt\n12 tor",
    "instrument ids 1\nclass A -\nclass B -\nclass A -\n5 m (J)V 0 1 0000000000000005\nclass B B.java\n\
     6 m (J)V 0 1 0000000000000005\nclass A A.java\n8 m (D)V 0 1 0000000000000006\nclass B -\n",
];

/// Pieces of the grammar, sound or nearly.
const PIECES: [&str; 22] = [
    "class ",
    "class A -\n",
    "class \\e \\e\n",
    "-",
    "\\u002d",
    "\\e",
    "\\u00e9",
    "\\u12",
    "\\xc3",
    "\\",
    " ",
    "  ",
    "\n",
    "\r\n",
    "0",
    "4294967296",
    "2147483648",
    "00000000000000000",
    "\n11 m ()V 1 1 0000000000000000\n",
    "\n10 n ()V 0 0 1111111111111111\n",
    "\t",
    "\0",
];

fn mutant(random: &mut Random, run: usize) -> Vec<u8> {
    let mut text = SEEDS[run % SEEDS.len()].as_bytes().to_vec();
    for _ in 0..random.below(4) {
        let at = random.below(text.len());
        match random.below(6) {
            0 => text[at] = random.next() as u8,
            1 => text.truncate(at),
            2 => {
                let piece = PIECES[random.below(PIECES.len())];
                text.splice(at..at, piece.bytes());
            }
            3 => {
                // A line again, or elsewhere.
                let lines: Vec<Vec<u8>> = text.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
                let line = lines[random.below(lines.len())].clone();
                let before: usize = lines[..=random.below(lines.len())].iter().map(Vec::len).sum();
                text.splice(before..before, line);
            }
            4 => {
                // More methods of one class than are searched one by one.
                let start = random.below(100) as u32 * 10;
                for id in start..start + random.below(80) as u32 {
                    text.extend(format!("{id} m{} ()V 0 0 0000000000000000\n", id % 61).bytes());
                }
            }
            _ => text[at] = text[at].wrapping_add([1, 0xff][random.below(2)]),
        }
        if text.is_empty() {
            break;
        }
    }
    if random.below(50) == 0 { gz::compress(&text) } else { text }
}

#[test]
fn mutants_come_back() {
    replay("id map", 30_000, 4, mutant, round_trip);
}

#[test]
fn seeds_are_id_maps() {
    assert!(SEEDS.iter().all(|text| round_trip(text.as_bytes())));
}
