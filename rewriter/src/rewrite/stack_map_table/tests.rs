use super::super::testing::{Assembly, Moved, snippet};
use super::*;
use crate::code::edits::{Detour, Place, Snippet, Way};

fn moved(text: &str, insertions: &[(&str, Place, &str)]) -> Moved {
    with_detours(text, insertions, &[])
}

/// Detours: where they lead to, the branch that takes them.
fn with_detours(text: &str, insertions: &[(&str, Place, &str)], detours: &[[&str; 2]]) -> Moved {
    let moved = Moved::of(text, None, |old, edits| {
        for (label, place, text) in insertions {
            let snippet = if text.is_empty() { Snippet::default() } else { snippet(text) };
            edits.insert(old.at(label) as u32, *place, snippet);
        }
        for [label, branch] in detours {
            let way = Way::Branches(vec![old.at(branch) as u32]);
            edits.detours.push(Detour { pc: old.at(label) as u32, way, snippet: snippet("iinc 9 9") });
        }
    });
    moved.unwrap()
}

type Rows<'r> = &'r [(&'r str, &'r str)];

fn write_frames(
    moved: &mut Moved,
    frames: Option<Rows<'_>>,
    appended: Option<AppendedFrames<'_>>,
) -> Result<Vec<u8>, Reason> {
    let info = frames.map(|frames| moved.old.frames(frames));
    let mut out = b"before".to_vec();
    write(info.as_deref(), &moved.old.scan(), &moved.relocation, appended, &mut out)?;
    assert!(out.starts_with(b"before"));
    Ok(out.split_off(6))
}

fn check(moved: &mut Moved, new: &str, frames: Rows<'_>, expected: Rows<'_>) {
    let mut new = moved.check(new);
    assert_eq!(write_frames(moved, Some(frames), None).unwrap(), new.frames(expected), "{frames:?}");
}

#[test]
fn frames_move_to_where_branches_arrive_and_keep_their_form() {
    let text =
        "z: nop; a: new A; b: nop; c: nop; d: pad 66; e: nop; f: pad 63; g: nop; h: nop; i: nop; return";
    let mut moved = moved(
        text,
        &[
            ("z", Place::Before, "pad 2"),
            ("a", Place::Before, "pad 3"),
            ("b", Place::AfterPrevious, "pad 5"),
            ("c", Place::Before, "pad 1"),
            ("g", Place::AfterPrevious, "pad 1"),
            ("i", Place::Before, "nop"),
        ],
    );
    let new = "z: pad 3; x: pad 3; a: new A; pad 5; b: nop; c: pad 2; d: pad 66; e: nop; f: pad 63; pad 1; g: nop; h: nop; \
               i: pad 2; return";
    let frames = &[
        ("z", "same"),
        ("b", "append int new@a #4660"),
        ("c", "stack new@a"),
        ("d", "chop1"),
        ("e", "stack #5"),
        ("f", "same-extended"),
        ("g", "same"),
        ("h", "full long new@a null | double new@a this"),
        ("i", "stack-extended int"),
    ];
    check(&mut moved, new, frames, frames);
}

#[test]
fn what_stands_in_front_of_a_target_gets_its_frame_and_the_target_the_shortest_that_repeats_it() {
    let text = "a: goto t; b: goto t; return; t: nop; u: return";
    let handler = [("t", Place::Pad, ""), ("t", Place::Landing, "iinc 1 1")];
    let mut landing = moved(text, &handler);
    let new = "goto t; goto t; return; p: goto t; l: iinc 1 1; t: nop; u: return";
    for (frame, first, repeated) in [
        ("stack #5", "stack #5", "stack #5"),
        ("stack-extended #5", "stack-extended #5", "stack #5"),
        ("full int long | #5", "full int long | #5", "stack #5"),
    ] {
        check(&mut landing, new, &[("t", frame)], &[("p", first), ("l", repeated), ("t", repeated)]);
    }
    for frame in ["same", "append int", "full int |", "full int | #5 #5"] {
        let result = write_frames(&mut landing, Some(&[("t", frame)]), None);
        assert_eq!(result, Err(Reason::BadStackMap), "{frame}");
    }
    let mut detours = with_detours(text, &[], &[["t", "a"], ["t", "b"]]);
    let new = "goto d; goto e; return; d: iinc 9 9; goto t; e: iinc 9 9; t: nop; u: return";
    for (frame, repeated) in [
        ("same", "same"),
        ("append int", "same"),
        ("full int |", "same"),
        ("full int | #5", "stack #5"),
        ("stack #5", "stack #5"),
        ("full int | #5 int", "full int | #5 int"),
    ] {
        let expected = [("d", frame), ("e", repeated), ("t", repeated), ("u", "same")];
        check(&mut detours, new, &[("t", frame), ("u", "same")], &expected);
    }
    let mut expected = vec![("a", "append int int"), ("d", "chop1"), ("e", "same"), ("t", "same")];
    check(
        &mut detours,
        new.replacen("goto d", "a: goto d", 1).as_str(),
        &[("a", "append int int"), ("t", "chop1")],
        &expected,
    );
    expected[1].1 = "same-extended";
    check(
        &mut detours,
        new.replacen("goto d", "a: goto d", 1).as_str(),
        &[("a", "append int int"), ("t", "same-extended")],
        &expected,
    );
}

#[test]
fn frames_that_stand_on_no_instruction_are_refused() {
    let mut moved = moved("a: new A; b: return", &[("b", Place::Before, "nop")]);
    for (frames, is_good) in [
        (&[("b", "stack new@a")][..], true),
        (&[("end", "same")], false),
        (&[("b", "stack new@1")], false),
        (&[("b", "full new@4 |")], false),
    ] {
        let result = write_frames(&mut moved, Some(frames), None);
        assert_eq!(result.err(), (!is_good).then_some(Reason::BadStackMap), "{frames:?}");
        let info = moved.old.frames(frames);
        let scan = moved.old.scan();
        let result = write_in_full(&info, &[], &scan, &moved.relocation, &[], None, &mut Vec::new());
        assert_eq!(result.is_ok(), is_good, "{frames:?}");
    }
    for info in [&[0, 1, 2][..], &[0, 1], &[0], &[0, 1, 200], &[0, 0, 0]] {
        let scan = moved.old.scan();
        let result = write(Some(info), &scan, &moved.relocation, None, &mut Vec::new());
        assert_eq!(result, Err(Reason::BadStackMap), "{info:?}");
        let result = write_in_full(info, &[], &scan, &moved.relocation, &[], None, &mut Vec::new());
        assert_eq!(result, Err(Reason::BadStackMap), "{info:?}");
    }
}

fn handler(locals: &[u8]) -> RegionHandler {
    RegionHandler { snippets: Vec::new(), start: None, ranges: Vec::new(), locals: locals.to_vec() }
}

#[test]
fn handlers_behind_the_code_have_the_locals_that_they_need_and_a_throwable() {
    let new = "a: nop; b: return; h: nop; i: nop; j: nop; k: nop";
    let pcs =
        |labels: &[&str]| labels.iter().map(|label| Assembly::of(new).at(label) as u32).collect::<Vec<_>>();
    let (pcs, throwable) = (pcs(&["h", "i", "j", "k"]), 4660);
    let mut moved = moved("a: nop; b: return", &[]);
    let handlers = [handler(&[]), handler(&[1, 4]), handler(&[1, 4])];
    let of = |moved: &mut Moved, frames, extra: &[Counter]| {
        let appended = AppendedFrames { pcs: &pcs, handlers: &handlers, throwable, extra };
        write_frames(moved, frames, Some(appended))
    };
    let expected =
        [("h", "full | #4660"), ("i", "full int long | #4660"), ("j", "stack #4660"), ("k", "full | #4660")];
    assert_eq!(of(&mut moved, None, &[]).unwrap(), Assembly::of(new).frames(&expected));
    let with_own = [&[("b", "append int")][..], &expected].concat();
    assert_eq!(
        of(&mut moved, Some(&[("b", "append int")]), &[]).unwrap(),
        Assembly::of(new).frames(&with_own)
    );
    // Ours come behind the method's own, of which nothing is known.
    let extra = [
        Counter { index: 3, kept: Kept::Int },
        Counter { index: 4, kept: Kept::Long },
        Counter { index: 7, kept: Kept::Array(258) },
    ];
    let (none, two) =
        ("full top top top int long top #258 | #4660", "full int long int long top #258 | #4660");
    let expected = [("h", none), ("i", two), ("j", "stack #4660"), ("k", none)];
    assert_eq!(of(&mut moved, None, &extra).unwrap(), Assembly::of(new).frames(&expected));
    // A handler's locals take more slots than there are in front.
    let extra = [Counter { index: 2, kept: Kept::Int }];
    assert_eq!(of(&mut moved, None, &extra), Err(Reason::BadStackMap));
}

/// As [`check`], in full, with these parameters and variables of ours.
fn check_in_full(
    moved: &mut Moved,
    new: &str,
    parameters: &[u8],
    extra: &[Counter],
    frames: Rows<'_>,
    expected: Rows<'_>,
) {
    let info = moved.old.frames(frames);
    let mut out = b"before".to_vec();
    let scan = moved.old.scan();
    write_in_full(&info, parameters, &scan, &moved.relocation, extra, None, &mut out).unwrap();
    assert!(out.starts_with(b"before"));
    assert_eq!(out[6..], moved.check(new).frames(expected), "{frames:?}");
}

#[test]
fn a_variable_of_ours_is_in_every_frame() {
    let text = "a: new A; b: goto t; c: nop; d: nop; e: nop; f: nop; t: nop; g: return";
    let insertions = [("a", Place::Before, "nop"), ("t", Place::Pad, ""), ("t", Place::Landing, "iinc 1 1")];
    let mut moved = with_detours(text, &insertions, &[["c", "b"]]);
    let new = "nop; a: new A; b: goto t; x: iinc 9 9; c: nop; d: nop; e: nop; f: nop; goto t; p: goto t; l: iinc 1 1; t: nop; g: return";
    // The branch at `b` leads to `t`, so that no way leads over the detour.
    let extra = [Counter { index: 5, kept: Kept::Int }, Counter { index: 6, kept: Kept::Long }];
    check_in_full(
        &mut moved,
        new,
        &[verification_type::INTEGER, verification_type::LONG],
        &extra,
        &[
            ("c", "same"),
            ("d", "append new@a"),
            ("e", "stack #5"),
            ("f", "chop2"),
            ("t", "full #5 | #6"),
            ("g", "full #5 #6 double | int int"),
        ],
        &[
            ("x", "full int long top top int long |"),
            ("c", "same"),
            ("d", "full int long new@a top int long |"),
            ("e", "stack #5"),
            ("f", "full int top top top top int long |"),
            ("p", "full #5 top top top top int long | #6"),
            ("l", "stack #6"),
            ("t", "stack #6"),
            ("g", "full #5 #6 double top int long | int int"),
        ],
    );
    // One that is not behind the method's own.
    let info = moved.old.frames(&[("c", "append int int int")]);
    for (index, is_good) in [(6, true), (5, false)] {
        let extra = [Counter { index, kept: Kept::Array(1) }];
        let scan = moved.old.scan();
        let parameters = [verification_type::INTEGER, verification_type::LONG];
        let result =
            write_in_full(&info, &parameters, &scan, &moved.relocation, &extra, None, &mut Vec::new());
        assert_eq!(result.err(), (!is_good).then_some(Reason::BadStackMap));
    }
    // More locals go than there are.
    let info = moved.old.frames(&[("c", "chop2")]);
    for (parameters, is_good) in [(&[1, 1][..], true), (&[1], false)] {
        let scan = moved.old.scan();
        let result = write_in_full(&info, parameters, &scan, &moved.relocation, &[], None, &mut Vec::new());
        assert_eq!(result.err(), (!is_good).then_some(Reason::BadStackMap));
    }
}

#[test]
fn a_trampoline_has_the_frame_of_its_target() {
    let text = |t: &str, inserted: &str, target: &str| {
        format!("goto s; {t}s: iload_0; ifeq {target}; pad 32763; x: {inserted}return; l: return")
    };
    let mut moved = Moved::of(&text("", "", "l"), Some(&[]), |old, edits| {
        edits.insert(old.at("x") as u32, Place::Before, snippet("iinc 1 1"));
    })
    .unwrap();
    let new = text("t: goto_w l; ", "iinc 1 1; ", "t");
    check_in_full(
        &mut moved,
        &new,
        &[1],
        &[],
        &[("s", "append long"), ("l", "full #5 | int")],
        &[("t", "full #5 | int"), ("s", "full int long |"), ("l", "full #5 | int")],
    );
    let info = moved.old.frames(&[("s", "same")]);
    let result = write_in_full(&info, &[1], &moved.old.scan(), &moved.relocation, &[], None, &mut Vec::new());
    assert_eq!(result, Err(Reason::BadStackMap));
}

#[test]
fn frames_that_inherit_without_end_are_refused() {
    let mut moved = moved("a: pad 4096; return", &[]);
    let locals = "int ".repeat(4_096);
    let first = moved.old.frames(&[("a", &format!("full {locals}|"))]);
    for (more, is_good) in [(4_095u16, true), (4_096, false)] {
        let info = [&(1 + more).to_be_bytes()[..], &first[2..], &vec![0; usize::from(more)]].concat();
        let scan = moved.old.scan();
        let result = write_in_full(&info, &[], &scan, &moved.relocation, &[], None, &mut Vec::new());
        assert_eq!(result.err(), (!is_good).then_some(Reason::BadStackMap));
    }
}
