use super::super::testing::{Assembly, Moved, snippet};
use super::*;
use crate::code::edits::{Detour, Place, RegionHandler, Snippet, Way};

/// The new rows, and the new row of each old one.
fn rows(
    moved: &Moved,
    expected: &str,
    rows: &[&str],
    region_pcs: &[&str],
    unwind: &str,
) -> (Vec<String>, Vec<u16>) {
    let old = moved.old.rows(rows);
    let new = Assembly::of(expected);
    let (mut moved_rows, mut out) = (vec![9], b"before".to_vec());
    let region_pcs: Vec<u32> = region_pcs.iter().map(|label| new.at(label) as u32).collect();
    write(
        ExceptionTable::new(&old),
        &moved.relocation,
        &moved.edits,
        &region_pcs,
        new.at(unwind) as u32,
        &mut moved_rows,
        &mut out,
    )
    .unwrap();
    assert!(out.starts_with(b"before"));
    let table = ExceptionTable::new(&out[8..]);
    assert_eq!(usize::from(u16::from_be_bytes([out[6], out[7]])), table.len());
    let label = |pc: u16| new.label(pc.into());
    let row = |row: crate::class_file::exception_table::ExceptionEntry| {
        let catch = if row.catch_type == 0 { String::new() } else { format!(" {}", row.catch_type) };
        format!("{} {} {}{catch}", label(row.start_pc), label(row.end_pc), label(row.handler_pc))
    };
    (table.iter().map(row).collect(), moved_rows)
}

/// With insertions at labels.
fn with<'e>(insertions: &'e [(&'e str, Place, &'e str)]) -> impl Fn(&Assembly, &mut Edits) + 'e {
    move |old, edits| {
        for (label, place, text) in insertions {
            let snippet = if text.is_empty() { Snippet::default() } else { snippet(text) };
            edits.insert(old.at(label) as u32, *place, snippet);
        }
    }
}

const OLD: &str = "a: nop; b: nop; c: nop; d: return; h: pop; i: return";

#[test]
fn ranges_begin_where_handlers_begin_and_end_in_front_of_what_is_inserted() {
    let moved = Moved::of(
        OLD,
        None,
        with(&[
            ("b", Place::AfterPrevious, "iinc 1 1"),
            ("b", Place::Before, "iinc 1 2"),
            ("c", Place::Before, "iinc 1 3"),
            ("h", Place::Landing, "iinc 1 4"),
        ]),
    )
    .unwrap();
    let new =
        "a: nop; iinc 1 1; e: iinc 1 2; nop; c: iinc 1 3; nop; d: return; h: iinc 1 4; g: pop; i: return";
    moved.check(new);
    let old = ["a b h 5", "a c h 6", "b c h 7", "c d h 8", "d h i 9", "h i h 10", "a i h 11", "h end h 12"];
    let (seen, moved_rows) = rows(&moved, new, &old, &[], "end");
    assert_eq!(
        seen,
        [
            "a e h 5",
            "a c h 6",
            "e c h 7",
            "c d h 8",
            "d h i 9",
            // Around the landing.
            "g i h 10",
            "a h h 11",
            "g i h 11",
            "g end h 12",
        ]
    );
    assert_eq!(moved_rows, [0, 1, 2, 3, 4, 5, 6, 8]);
}

#[test]
fn what_a_handler_begins_with_is_shielded_once_if_it_catches_any() {
    let edit = with(&[("h", Place::Pad, ""), ("h", Place::Landing, "iinc 1 1")]);
    let moved = Moved::of(OLD, None, edit).unwrap();
    let new = "a: nop; b: nop; c: nop; d: return; p: goto t; h: iinc 1 1; t: pop; i: return";
    moved.check(new);
    let (seen, moved_rows) = rows(&moved, new, &["a b h", "b c h 3", "c d h", "a d i"], &[], "end");
    assert_eq!(seen, ["h t p", "a b h", "b c h 3", "c d h", "a d i"]);
    assert_eq!(moved_rows, [1, 2, 3, 4]);
    let (seen, _) = rows(&moved, new, &["a b h 3"], &[], "end");
    assert_eq!(seen, ["a b h 3"]);
    // Nothing is inserted there.
    let plain = Moved::of(OLD, None, with(&[])).unwrap();
    assert_eq!(
        rows(&plain, OLD, &["a b h", "h i h", "a end h 2"], &[], "end").0,
        ["a b h", "h i h", "a end h 2"]
    );
}

#[test]
fn exceptions_of_a_region_go_over_its_detour() {
    // Two regions: b..c, and e..f; the handler catches what is thrown in them on a way of its own.
    let old = "a: nop; b: nop; c: nop; e: nop; f: nop; d: return; h: pop; i: return";
    let moved = Moved::of(old, None, |old, edits| {
        let at = |label| old.at(label) as u32;
        for (range, text) in [((at("b"), at("c")), "iinc 2 1"), ((at("e"), at("f")), "iinc 2 2")] {
            edits.detours.push(Detour { pc: at("h"), way: Way::Exceptions(range), snippet: snippet(text) });
        }
        edits.insert(at("b"), Place::Before, snippet("iinc 1 1"));
        edits.insert(at("f"), Place::AfterPrevious, snippet("iinc 1 2"));
        edits.insert(at("h"), Place::Pad, Snippet::default());
        edits.insert(at("h"), Place::Landing, snippet("iinc 1 3"));
    })
    .unwrap();
    let new = "a: nop; s: iinc 1 1; b: nop; c: nop; e: nop; iinc 1 2; f: nop; d: return; p: goto t; \
               x: iinc 2 1; iinc 1 3; goto t; y: iinc 2 2; iinc 1 3; goto t; h: iinc 1 3; t: pop; i: return";
    moved.check(new);
    for (row, expected) in [
        ("a b h", &["x t p", "a s h"][..]),
        // What is inserted in front of the region's first instruction is not of it.
        ("a c h", &["x t p", "a b h", "b c x"]),
        ("b c h", &["x t p", "s b h", "b c x"]),
        ("a e h", &["x t p", "a b h", "b c x", "c e h"]),
        ("c e h", &["x t p", "c e h"]),
        ("a d h", &["x t p", "a b h", "b c x", "c e h", "e f y", "f d h"]),
        ("e f h", &["x t p", "e f y"]),
        ("f d h 3", &["f d h 3"]),
        ("c f h 3", &["c e h 3", "e f y 3"]),
        // A row that covers its own handler leaves out what stands in front of it.
        ("f end h", &["x t p", "f p h", "t end h"]),
        ("e end h", &["x t p", "e f y", "f p h", "t end h"]),
        ("h end h", &["x t p", "t end h"]),
    ] {
        let (seen, moved_rows) = rows(&moved, new, &[row], &[], "end");
        assert_eq!(seen, expected, "{row}");
        let first = expected.iter().position(|row| !row.ends_with('p')).unwrap();
        assert_eq!(moved_rows, [first as u16], "{row}");
    }
    // Rows within a region, or over its border, and of another handler.
    assert_eq!(rows(&moved, new, &["a d i 4", "a b h 5", "a b i"], &[], "end").1, [0, 1, 2]);
    let moved = Moved::of("a: nop; b: nop; c: nop; d: nop; return; h: pop; return", None, |old, edits| {
        let way = Way::Exceptions((old.at("a") as u32, old.at("c") as u32));
        edits.detours.push(Detour { pc: old.at("h") as u32, way, snippet: snippet("iinc 1 1") });
        edits.insert(old.at("b") as u32, Place::Before, snippet("iinc 2 2"));
    })
    .unwrap();
    let new = "a: nop; b: iinc 2 2; nop; c: nop; d: nop; return; x: iinc 1 1; goto t; h: nop; t: pop; return";
    moved.check(new);
    let (seen, _) = rows(&moved, new, &["a b h 1", "b c h 2", "b d h 3", "c d h 4"], &[], "end");
    assert_eq!(seen, ["a b x 1", "b c x 2", "b c x 3", "c d h 3", "c d h 4"]);
}

#[test]
fn handlers_behind_the_code_get_their_ranges_and_one_after_the_other() {
    let range = |old: &Assembly, from: &str, to: &str| (old.at(from) as u32, old.at(to) as u32);
    let edit = |old: &Assembly, edits: &mut Edits, covered: bool| {
        edits.insert(old.at("b") as u32, Place::Before, snippet("iinc 1 1"));
        let handler = |start: Option<&str>, ranges: &[(&str, &str)]| RegionHandler {
            snippets: Vec::new(),
            start: start.map(|label| old.at(label) as u32),
            ranges: ranges.iter().map(|(from, to)| range(old, from, to)).collect(),
            locals: Vec::new(),
        };
        edits.region_handlers.push(handler(Some("b"), &[("b", "c"), ("c", "c"), ("d", "h")]));
        edits.region_handlers.push(handler(Some("a"), &[("b", "c")]));
        edits.region_handlers.push(handler(None, &[("a", "d")]));
        edits.region_handlers.push(handler(Some("c"), &[("c", "d")]));
        if covered {
            edits.covered = vec![range(old, "a", "b"), range(old, "c", "c"), range(old, "c", "i")];
        }
    };
    let new = "a: nop; s: iinc 1 1; b: nop; c: nop; d: return; h: pop; i: return; j: nop; k: nop; l: nop; m: nop; n: nop";
    let of = |covered, handlers: &[&str]| {
        let moved = Moved::of(OLD, None, |old, edits| edit(old, edits, covered)).unwrap();
        assert_eq!(covers_anything(&moved.relocation, &moved.edits), covered);
        rows(&moved, new, &["a d h 3"], handlers, "n").0
    };
    let of_regions = ["a d h 3", "b c j", "d h j", "s c k", "a d l", "c d m", "j k l", "k l l"];
    assert_eq!(of(false, &["j", "k", "l", "m"]), of_regions);
    let all = [&of_regions[..], &["a s n", "c i n", "j n n"]].concat();
    assert_eq!(of(true, &["j", "k", "l", "m"]), all);
    let mut edits = Edits::default();
    let moved = Moved::of(OLD, None, |_, _| {}).unwrap();
    edits.covered = vec![(1, 1)];
    assert!(!covers_anything(&moved.relocation, &edits));
}

#[test]
fn ranges_leave_out_trampolines() {
    let text = |t: &str, inserted: &str, target: &str| {
        format!(
            "a: goto s; {t}s: nop; c: iload_0; b: ifeq {target}; pad 9000; d: nop; pad 23760; x: {inserted}return; h: return"
        )
    };
    let moved = Moved::of(&text("", "", "h"), Some(&[]), |old, edits| {
        edits.insert(old.at("x") as u32, Place::Before, snippet("iinc 1 1"));
    })
    .unwrap();
    let new = text("t: goto_w h; ", "iinc 1 1; ", "t");
    moved.check(&new);
    let (seen, moved_rows) = rows(&moved, &new, &["a c h", "s c h", "a s h", "b d h", "a d h"], &[], "x");
    assert_eq!(seen, ["a t h", "s c h", "s c h", "a t h", "b d h", "a t h", "s d h"]);
    assert_eq!(moved_rows, [0, 2, 3, 4, 5]);
}

#[test]
fn rows_that_the_virtual_machine_refuses_are_found() {
    let assembly = Assembly::of("a: nop; b: bipush 7; c: pop; d: return");
    let scan = assembly.scan();
    for (row, is_sound) in [
        ("a b c", true),
        ("c end a", true),
        ("d end d", true),
        ("b b c", false),
        ("c b a", false),
        ("2 c a", false),
        ("a 2 a", false),
        ("a b 2", false),
        ("a b end", false),
        ("a 9 a", false),
        ("end 9 a", false),
    ] {
        for rows in [&[row][..], &["a b c", row]] {
            let found = check(ExceptionTable::new(&assembly.rows(rows)), &scan);
            assert_eq!(found.is_ok(), is_sound, "{row}");
        }
    }
}

#[test]
fn no_table_has_more_than_65535_rows() {
    let moved = Moved::of(OLD, None, |_, _| {}).unwrap();
    for (count, is_full) in [(65_535, false), (65_536, true)] {
        let old = moved.old.rows(&["a b h 1"]).repeat(count);
        let result = write(
            ExceptionTable::new(&old),
            &moved.relocation,
            &moved.edits,
            &[],
            0,
            &mut Vec::new(),
            &mut Vec::new(),
        );
        assert_eq!(result.err(), is_full.then_some(Reason::ExceptionTableFull));
    }
}
