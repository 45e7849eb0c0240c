use super::super::testing::{Moved, snippet};
use super::*;
use crate::code::edits::Place;

/// 8 instructions, each of one byte; 3 bytes more in front of each of 0, 2 and 5.
fn moved() -> Moved {
    let moved = Moved::of("a: pad 2; b: pad 3; e: pad 2; return", None, |old, edits| {
        for label in ["a", "b", "e"] {
            edits.insert(old.at(label) as u32, Place::Landing, snippet("iinc 1 1"));
        }
    });
    moved.unwrap()
}

fn bytes(items: &[u16]) -> Vec<u8> {
    items.iter().flat_map(|item| item.to_be_bytes()).collect()
}

/// The rows of a table behind their number, or behind `count`.
fn table(rows: &[&[u16]], count: Option<u16>) -> Vec<u8> {
    bytes(&[&[count.unwrap_or(rows.len() as u16)], &rows.concat()[..]].concat())
}

#[test]
fn lines_begin_where_exceptions_arrive_and_the_first_one_with_the_method() {
    let of = |info: &[u8]| {
        let mut out = b"before".to_vec();
        write_line_numbers(info, 8, &moved().relocation, &mut out);
        assert!(out.starts_with(b"before"));
        out.split_off(6)
    };
    let old: [&[u16]; 7] = [&[0, 10], &[5, 14], &[1, 11], &[2, 12], &[4, 13], &[7, 15], &[0, 10]];
    let new: [&[u16]; 7] = [&[0, 10], &[17, 14], &[4, 11], &[8, 12], &[13, 13], &[22, 15], &[0, 10]];
    assert_eq!(of(&table(&old, None)), table(&new, None));
    // Behind the code: nowhere.
    assert_eq!(
        of(&table(&[&[8, 16], &[7, 15], &[9, 9]], None)),
        table(&[&[65_535, 16], &[22, 15], &[65_535, 9]], None)
    );
    for info in [
        vec![],
        vec![0],
        vec![0, 0],
        table(&old, Some(6)),
        table(&old, Some(8)),
        [table(&old, None), vec![0]].concat(),
    ] {
        assert_eq!(of(&info), info);
    }
}

#[test]
fn variables_keep_their_instructions() {
    let of = |info: &[u8]| {
        let mut out = b"before".to_vec();
        write_local_variables(info, 8, 100, &moved().relocation, &mut out);
        assert!(out.starts_with(b"before"));
        out.split_off(6)
    };
    // From, length, name, descriptor, local.
    let old: [&[u16]; 8] = [
        &[0, 2, 9, 8, 7],
        &[2, 3, 6, 5, 4],
        &[5, 3, 99, 99, 3],
        &[0, 8, 1, 2, 3],
        &[1, 0, 1, 2, 3],
        &[2, 0, 1, 2, 3],
        &[7, 1, 1, 2, 3],
        &[1, 2, 1, 2, 3],
    ];
    let new: [&[u16]; 8] = [
        &[0, 5, 9, 8, 7],
        &[8, 6, 6, 5, 4],
        &[17, 6, 99, 99, 3],
        &[0, 23, 1, 2, 3],
        &[4, 0, 1, 2, 3],
        &[8, 0, 1, 2, 3],
        &[22, 1, 1, 2, 3],
        &[4, 8, 1, 2, 3],
    ];
    assert_eq!(of(&table(&old, None)), table(&new, None));
    // Out of the code, or of the constant pool.
    for (row, expected) in [
        ([8, 0, 1, 2, 3], [65_535, 0, 1, 2, 3]),
        ([7, 2, 1, 2, 3], [65_535, 2, 1, 2, 3]),
        ([0, 9, 1, 2, 3], [65_535, 9, 1, 2, 3]),
        ([1, 2, 100, 2, 3], [4, 8, 65_535, 2, 3]),
        ([1, 2, 1, 100, 3], [4, 8, 65_535, 100, 3]),
        ([9, 2, 1, 999, 100], [65_535, 2, 65_535, 999, 100]),
    ] {
        assert_eq!(of(&table(&[&row, old[0]], None)), table(&[&expected, new[0]], None), "{row:?}");
    }
    for info in [
        vec![],
        vec![0],
        vec![0, 0],
        table(&old, Some(7)),
        table(&old, Some(9)),
        [table(&old, None), vec![0]].concat(),
    ] {
        assert_eq!(of(&info), info);
    }
}
