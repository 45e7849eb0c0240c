use super::super::testing::{Moved, snippet};
use super::*;
use crate::code::edits::Place;

/// `nop` from 0 to 7; 3 bytes more in front of each of 2 and 5.
fn moved() -> Moved {
    let text = "pad 2; b: pad 3; e: pad 2; return";
    let moved = Moved::of(text, None, |old, edits| {
        edits.insert(old.at("b") as u32, Place::Before, snippet("iinc 1 1"));
        edits.insert(old.at("e") as u32, Place::Before, snippet("iinc 1 2"));
    });
    moved.unwrap()
}

fn written(annotations: &[&[u8]]) -> Vec<u8> {
    let info = [&(annotations.len() as u16).to_be_bytes()[..], &annotations.concat()].concat();
    let mut out = b"before".to_vec();
    write(&info, &moved().relocation, &[40, 50, 60], &mut out);
    assert!(out.starts_with(b"before"));
    out.split_off(6)
}

/// Behind a target: a path of two steps, type 9, `1 = 'x'`, `2 = {@8(3 = e 4.5), c 6}`, `7 = {}`.
const REST: &[u8] = &[
    2, 0, 0, 3, 1, 0, 9, 0, 3, 0, 1, b's', 0, 99, 0, 2, b'[', 0, 2, b'@', 0, 8, 0, 1, 0, 3, b'e', 0, 4, 0, 5,
    b'c', 0, 6, 0, 7, b'[', 0, 0,
];
/// An annotation whose place is a cast at 6, which moves to 12.
const CAST: [&[u8]; 2] = [&[0x47, 0, 6, 1, 0, 0, 9, 0, 0], &[0x47, 0, 12, 1, 0, 0, 9, 0, 0]];

#[test]
fn targets_move_and_all_else_stays() {
    for (target, expected) in [
        // Variables: ranges 0..2, 2..5 and 5..7, and an empty one.
        (
            &[0x40, 0, 4, 0, 0, 0, 2, 0, 1, 0, 2, 0, 3, 0, 2, 0, 5, 0, 2, 0, 3, 0, 3, 0, 0, 0, 4][..],
            &[0x40, 0, 4, 0, 0, 0, 2, 0, 1, 0, 2, 0, 6, 0, 2, 0, 8, 0, 5, 0, 3, 0, 6, 0, 0, 0, 4][..],
        ),
        (&[0x41, 0, 1, 0, 1, 0, 6, 0, 7], &[0x41, 0, 1, 0, 1, 0, 12, 0, 7]),
        (&[0x41, 0, 0], &[0x41, 0, 0]),
        // A row of the exception table.
        (&[0x42, 0, 0], &[0x42, 0, 40]),
        (&[0x42, 0, 2], &[0x42, 0, 60]),
        // Instructions, and of some an argument.
        (&[0x43, 0, 2], &[0x43, 0, 5]),
        (&[0x44, 0, 1], &[0x44, 0, 1]),
        (&[0x45, 0, 3], &[0x45, 0, 6]),
        (&[0x46, 0, 5], &[0x46, 0, 11]),
        (&[0x47, 0, 5, 1], &[0x47, 0, 11, 1]),
        (&[0x48, 0, 6, 0], &[0x48, 0, 12, 0]),
        (&[0x49, 0, 0, 2], &[0x49, 0, 0, 2]),
        (&[0x4a, 0, 4, 0], &[0x4a, 0, 7, 0]),
        (&[0x4b, 0, 7, 0], &[0x4b, 0, 13, 0]),
        // Those of declarations have no place in the code.
        (&[0x00, 1], &[0x00, 1]),
        (&[0x01, 1], &[0x01, 1]),
        (&[0x16, 1], &[0x16, 1]),
        (&[0x10, 0, 2], &[0x10, 0, 2]),
        (&[0x11, 0, 2], &[0x11, 0, 2]),
        (&[0x12, 0, 2], &[0x12, 0, 2]),
        (&[0x17, 0, 2], &[0x17, 0, 2]),
        (&[0x13], &[0x13]),
        (&[0x14], &[0x14]),
        (&[0x15], &[0x15]),
    ] {
        let [old, new] = [target, expected].map(|target| [target, REST].concat());
        let expected = [&[0, 3][..], CAST[1], &new, CAST[1]].concat();
        assert_eq!(written(&[CAST[0], &old, CAST[0]]), expected, "{target:x?}");
        // What is cut off stays as it was, in all of the table.
        for length in 0..old.len() {
            let cut = [&[0, 2][..], CAST[0], &old[..length]].concat();
            assert_eq!(written(&[CAST[0], &old[..length]]), cut, "{target:x?} {length}");
        }
    }
}

#[test]
fn what_cannot_be_read_stays() {
    let front = [0x47, 0, 6, 1, 0, 0, 9, 0, 1, 0, 1];
    for bad in [
        [&front[..], &[b'?', 0, 0]].concat(),
        // No such target, no such row, a byte too many.
        vec![0x18, 0, 0, 0, 0, 9, 0, 0],
        vec![0x4c, 0, 2, 0, 0, 0, 9, 0, 0],
        vec![0x42, 0, 3, 0, 0, 9, 0, 0],
        [CAST[0], &[0]].concat(),
    ] {
        assert_eq!(written(&[CAST[0], &bad]), [&[0, 2], CAST[0], &bad].concat(), "{bad:x?}");
    }
    for kind in *b"BCDFIJSZsc" {
        let value = [kind, 0, 1];
        let expected = [&[0, 1, 0x47, 0, 12][..], &front[3..], &value].concat();
        assert_eq!(written(&[&[&front[..], &value].concat()]), expected, "{kind}");
    }
}

#[test]
fn values_are_within_values_down_to_a_depth() {
    let [front, new] = [6, 12].map(|pc| [0x47, 0, pc, 1, 0, 0, 9, 0, 1, 0, 1]);
    for (wrapping, most) in [(&[b'[', 0, 1][..], 63), (&[b'@', 0, 7, 0, 1, 0, 1], 63)] {
        for (depth, is_read) in [(most, true), (most + 1, false), (1_000, false)] {
            let value = [&wrapping.repeat(depth)[..], &[b'I', 0, 2]].concat();
            let front = [&front[..], &value].concat();
            let expected = [&[0, 1][..], if is_read { &new } else { &front[..11] }, &value].concat();
            assert_eq!(written(&[&front]), expected, "{wrapping:?} {depth}");
        }
    }
}
