use super::super::testing::{Assembly, Moved, snippet};
use super::*;
use crate::code::edits::{Detour, Place, Snippet};

impl Moved {
    /// The new pcs at a label: end, pad, landing, target, instruction.
    fn at(&self, label: &str) -> [usize; 5] {
        let (pc, relocation) = (self.old.at(label), &self.relocation);
        [
            relocation.end(pc),
            relocation.pad(pc),
            relocation.landing(pc),
            relocation.target(pc),
            relocation.instruction(pc),
        ]
        .map(|pc| pc as usize)
    }
}

#[test]
fn what_is_inserted_at_a_pc_stands_in_order_and_every_way_leads_to_its_part() {
    let text = "iload_0; b: ifeq t; c: ifne t; nop; f: nop; t: iconst_1; pop; u: return";
    let moved = Moved::of(text, None, |old, edits| {
        edits.first = vec![snippet("bipush 1; pop"), snippet("bipush 2; pop")];
        edits.entry = Some(snippet("bipush 3; pop"));
        let t = old.at("t") as u32;
        edits.insert(t, Place::Before, snippet("iinc 1 4"));
        edits.insert(t, Place::Landing, snippet("iinc 1 3; nop"));
        edits.insert(t, Place::Pad, Snippet::default());
        edits.insert(t, Place::AfterPrevious, snippet("iinc 1 1"));
        edits.insert(t, Place::AfterPrevious, snippet("iinc 1 2"));
        edits.insert(old.at("u") as u32, Place::Before, snippet("iinc 1 5"));
        let ranges = [(old.at("c") as u32, old.at("f") as u32)];
        edits.detours.push(Detour { pc: t, way: Way::Exceptions(ranges[0]), snippet: snippet("iinc 2 2") });
        let branches = vec![old.at("c") as u32];
        edits.detours.push(Detour { pc: t, way: Way::Branches(branches), snippet: snippet("iinc 2 1") });
    });
    let moved = moved.unwrap();
    let new = moved.check(
        "bipush 1; pop; bipush 2; pop; bipush 3; pop; iload_0; b: ifeq t; c: ifne d; nop; f: nop; \
         iinc 1 1; iinc 1 2; e: goto t; p: goto t; d: iinc 2 1; goto t; x: iinc 2 2; iinc 1 3; nop; goto t; \
         l: iinc 1 3; nop; t: iinc 1 4; i: iconst_1; pop; z: iinc 1 5; r: return",
    );
    let expected = |labels: [&str; 5]| labels.map(|label| new.at(label));
    assert_eq!(moved.at("t"), expected(["e", "p", "l", "t", "i"]));
    assert_eq!(moved.at("b"), expected(["b"; 5]));
    assert_eq!(moved.at("f"), expected(["f"; 5]));
    assert_eq!(moved.at("u"), expected(["z", "z", "z", "z", "r"]));
    assert_eq!(moved.at("end"), expected(["end"; 5]));
    let pcs = |labels: &[&str]| labels.iter().map(|label| new.at(label) as u32).collect::<Vec<_>>();
    let (t, range) = (moved.old.at("t"), (moved.old.at("c") as u32, moved.old.at("f") as u32));
    assert_eq!(moved.relocation.detours_at(t).collect::<Vec<_>>(), pcs(&["d", "x"]));
    assert_eq!(moved.relocation.exceptions_to(t).collect::<Vec<_>>(), [(range, new.at("x") as u32)]);
    assert_eq!(moved.relocation.detours_at(moved.old.at("u")).count(), 0);
    // Tables of the source keep what begins with the method; all others do not.
    let relocation = &moved.relocation;
    assert_eq!((relocation.source(0), relocation.landing(0), relocation.source(1)), (0, 9, 10));
    // In any order.
    assert_eq!(
        (relocation.source(t) as usize, relocation.end(1), relocation.target(t) as usize),
        (new.at("l"), 10, new.at("t"))
    );
}

#[test]
fn a_goto_around_stands_only_where_control_falls_in() {
    let of = |text: &str, edit: fn(&Assembly, &mut Edits), expected: &str| {
        let moved = Moved::of(text, None, edit).unwrap();
        let new = moved.check(expected);
        let named = |pcs: [usize; 5]| pcs.map(|pc| new.label(pc)).join(" ");
        named(moved.at("t"))
    };
    let land = |old: &Assembly, edits: &mut Edits| {
        edits.insert(old.at("t") as u32, Place::Landing, snippet("iinc 1 1"))
    };
    assert_eq!(of("nop; t: pop; return", land, "nop; e: goto i; l: iinc 1 1; i: pop; return"), "e i l i i");
    assert_eq!(of("return; t: pop; return", land, "return; l: iinc 1 1; i: pop; return"), "l i l i i");
    // Exceptions alone go over a detour: a `nop` is the handler of all others.
    let thrown = |old: &Assembly, edits: &mut Edits| {
        let way = Way::Exceptions((0, 1));
        edits.detours.push(Detour { pc: old.at("t") as u32, way, snippet: snippet("iinc 1 1") });
    };
    assert_eq!(
        of("nop; t: pop; return", thrown, "nop; e: goto i; iinc 1 1; goto i; l: nop; i: pop; return"),
        "e i l i i"
    );
    assert_eq!(
        of("return; t: pop; return", thrown, "return; e: iinc 1 1; goto i; l: nop; i: pop; return"),
        "e i l i i"
    );
    // Branches go over a detour, which falls into the target.
    let branches = |old: &Assembly, edits: &mut Edits| {
        for (pc, text) in [("b", "iinc 1 1"), ("c", "iinc 1 2")] {
            let way = Way::Branches(vec![old.at(pc) as u32]);
            edits.detours.push(Detour { pc: old.at("t") as u32, way, snippet: snippet(text) });
        }
    };
    assert_eq!(
        of(
            "b: goto t; c: goto t; return; t: return",
            branches,
            "goto d; goto g; return; d: iinc 1 1; goto i; g: iinc 1 2; i: return"
        ),
        "d i i i i"
    );
    // The first instruction is fallen into by the entry.
    assert_eq!(
        of(
            "t: nop; b: goto t; c: goto t",
            branches,
            "goto i; d: iinc 1 1; goto i; g: iinc 1 2; i: nop; goto d; goto g"
        )
        .split(' ')
        .next_back(),
        Some("i")
    );
}

#[test]
fn switches_are_padded_anew_and_lead_where_they_did() {
    for length in 0..6 {
        let inserted = ["", "nop", "nop; nop", "iinc 1 1", "iinc 1 1; nop", "iinc 1 1; nop; nop"][length];
        for front in ["", "nop; ", "nop; nop; ", "nop; nop; nop; "] {
            let text = |i: &str, j: &str| {
                format!(
                    "{front}{i}iload_0; tableswitch d a b; a: nop; b: {j}iload_0; lookupswitch a d; d: goto_w e; e: return"
                )
            };
            let moved = Moved::of(&text("s: ", ""), None, |old, edits| {
                edits.insert(old.at("s") as u32, Place::Before, snippet(inserted));
                edits.insert(old.at("b") as u32, Place::Before, snippet(inserted));
            });
            let separated = if inserted.is_empty() { String::new() } else { format!("{inserted}; ") };
            moved.unwrap().check(&text(&separated, &separated));
        }
    }
}

#[test]
fn branches_that_no_longer_reach_get_longer() {
    let insert = |old: &Assembly, edits: &mut Edits| {
        edits.insert(old.at("x") as u32, Place::Before, snippet("iinc 1 1"))
    };
    // `goto` and `jsr`, forwards and backwards; the offsets are 32,767 and -32,768 at most.
    for (name, wide) in [("goto", "goto_w"), ("jsr", "jsr_w")] {
        for (pad, longer, forwards) in
            [(32_761, name, true), (32_762, wide, true), (32_765, name, false), (32_766, wide, false)]
        {
            let text = |name: &str, inserted: &str| match forwards {
                true => format!("{name} l; x: {inserted}pad {pad}; l: return"),
                false => format!("l: nop; x: {inserted}pad {}; {name} l; return", pad - 1),
            };
            Moved::of(&text(name, ""), None, insert).unwrap().check(&text(longer, "iinc 1 1; "));
        }
    }
}

/// A conditional branch that gets too far by what is inserted at `x`: `down` bytes behind the place at `s`, `up` bytes
/// in front of the one at `y`, neither of which control falls into.
fn far_branch(down: usize, up: usize, [s, f, y]: [&str; 3], inserted: &str, target: &str) -> String {
    format!(
        "goto s; {s}s: pad {}; iload_0; b: ifeq {target}; {f}f: pad {}; goto y; {y}y: pad {}; x: {inserted}return; \
         l: return",
        down - 1,
        up - 6,
        32_764 - up
    )
}

#[test]
fn conditional_branches_that_no_longer_reach_go_over_the_nearest_place() {
    const HERE: [&str; 3] = ["t: goto_w l; ", "", ""];
    const BEHIND: [&str; 3] = ["", "goto f; t: goto_w l; ", ""];
    const THERE: [&str; 3] = ["", "", "t: goto_w l; "];
    let insert = |old: &Assembly, edits: &mut Edits| {
        edits.insert(old.at("x") as u32, Place::Before, snippet("iinc 1 1"));
    };
    for (down, up, frames, expected) in [
        (107, 106, Some(&[][..]), THERE),
        (106, 106, Some(&[]), HERE),
        (106, 107, None, HERE),
        (24_000, 24_001, Some(&[]), HERE),
        (24_001, 24_000, Some(&[]), THERE),
        // Out of reach: right behind the branch, where no frame is needed.
        (24_001, 24_001, None, BEHIND),
        // Control falls in where there is a frame, and goes around.
        (24_001, 24_001, Some(&["f"]), BEHIND),
        (106, 107, Some(&["f"]), BEHIND),
    ] {
        let old = far_branch(down, up, [""; 3], "", "l");
        let moved = Moved::of(&old, frames, insert).unwrap();
        let new = moved.check(&far_branch(down, up, expected, "iinc 1 1; ", "t"));
        let [trampoline] = moved.relocation.trampolines() else { panic!("one trampoline") };
        let at = new.at("t") as u32;
        assert_eq!((trampoline.position, trampoline.end()), (at, at + 5));
        assert_eq!(trampoline.target as usize, moved.old.at("l"));
    }
    let old = far_branch(24_001, 24_001, [""; 3], "", "l");
    assert_eq!(Moved::of(&old, Some(&[]), insert).err(), Some(Reason::JumpOverflow));
    // A frame that cannot be read.
    let assembly = Assembly::of(&old);
    let mut edits = Edits::default();
    insert(&assembly, &mut edits);
    let result = Relocation::default().apply(
        &assembly.code,
        &assembly.scan(),
        &edits,
        true,
        Some(&[0, 1, 200]),
        &mut Vec::new(),
    );
    assert_eq!(result, Err(Reason::BadStackMap));
}

#[test]
fn a_place_has_room_for_2000_trampolines() {
    // All of the branches lead to `l`, and get too far; the place at `s` is the nearest one for all of them.
    let of = |count: usize, other_place: &str| {
        let branches = "iload_0; ifeq l; ".repeat(count);
        let rest = 32_764 - 4 * count - 8_100 - other_place.len().min(1) * 3;
        let text = format!("goto s; s: {branches}pad 8100; {other_place}y: pad {rest}; x: return; l: return");
        Moved::of(&text, Some(&[]), |old, edits| {
            (0..600).for_each(|_| edits.insert(old.at("x") as u32, Place::Before, snippet("pad 15")));
        })
        .map(|moved| {
            let of = |label| {
                let at = moved.old.at(label) as u32;
                moved.relocation.trampolines().iter().filter(|trampoline| trampoline.at == at).count()
            };
            [of("s"), of("y")]
        })
    };
    assert_eq!(of(2_000, ""), Ok([2_000, 0]));
    assert_eq!(of(2_001, "").err(), Some(Reason::JumpOverflow));
    assert_eq!(of(2_001, "goto y; "), Ok([2_000, 1]));
}

#[test]
fn a_branch_may_be_a_place_itself_but_the_first_instruction_is_none() {
    // Nothing but `f` is a place.
    let of = |count: usize, frames: &[&str]| {
        let text = format!(
            "z: nop; {}f: ifeq l; pad {}; x: return; l: return",
            "ifeq l; ".repeat(count),
            32_763 - 3 * count
        );
        Moved::of(&text, Some(frames), |old, edits| {
            (0..600).for_each(|_| edits.insert(old.at("x") as u32, Place::Before, snippet("pad 15")));
        })
        .map(|moved| moved.relocation.trampolines().len())
    };
    assert_eq!(of(5, &["f"]), Ok(6));
    assert_eq!(of(1_999, &["f"]), Ok(2_000));
    assert_eq!(of(2_000, &["f"]), Err(Reason::JumpOverflow));
    assert_eq!(of(5, &["z"]), Err(Reason::JumpOverflow));
}

#[test]
fn what_leads_to_no_instruction_or_gets_too_long_is_refused() {
    // To the end, in front of the code, into an operand: the last byte of the offset.
    for (text, at) in [("goto end; bipush 9; return", 2), ("iload_0; tableswitch end m; m: return", 7)] {
        let assembly = Assembly::of(text);
        for offset in [assembly.code[at], 255, 4] {
            let mut code = assembly.code.clone();
            code[at] = offset;
            let (mut relocation, edits) = (Relocation::default(), Edits::default());
            let result = relocation.apply(&code, &assembly.scan(), &edits, false, None, &mut Vec::new());
            assert_eq!(result, Err(Reason::BadCode), "{text} {offset}");
        }
    }
    for (length, is_left) in [(65_531, false), (65_532, true)] {
        let moved = Moved::of(&format!("pad {length}; x: return"), None, |old, edits| {
            edits.insert(old.at("x") as u32, Place::Before, snippet("iinc 1 1"));
        });
        assert_eq!(moved.err(), is_left.then_some(Reason::MethodTooLarge));
    }
}

#[test]
fn a_trampoline_leads_over_the_detour_of_its_branch() {
    let text = "a: goto s; s: nop; c: iload_0; b: ifeq h; pad 9000; d: nop; pad 23760; x: return; h: return";
    let moved = Moved::of(text, Some(&[]), |old, edits| {
        let way = Way::Branches(vec![old.at("b") as u32]);
        edits.detours.push(Detour { pc: old.at("h") as u32, way, snippet: snippet("iinc 2 1") });
        edits.insert(old.at("x") as u32, Place::Before, snippet("iinc 1 1"));
    })
    .unwrap();
    assert_eq!(moved.relocation.trampolines().len(), 1);
    moved.check(
        "a: goto s; t: goto_w y; s: nop; c: iload_0; b: ifeq t; pad 9000; d: nop; pad 23760; \
         x: iinc 1 1; return; y: iinc 2 1; h: return",
    );
}
