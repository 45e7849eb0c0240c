use super::*;
use crate::code::testing::Assembly;

/// What a method is walked with.
#[derive(Default)]
struct Walked<'t> {
    text: &'t str,
    rows: &'t [&'t str],
    frames: Option<&'t [(&'t str, &'t str)]>,
    is_constructor: bool,
    is_static: bool,
    descriptor: &'t str,
}

impl Walked<'_> {
    /// The constructor calls, each with what it initialises and whether a copy lies beneath and the way to it is
    /// straight; of a constructor also the ranges with `this` initialised.
    fn flow(&self) -> Result<String, Reason> {
        let mut assembly = Assembly::of(self.text);
        let frames = self.frames.map(|frames| assembly.frames(frames));
        let (class, scan, rows) = (assembly.class(), assembly.scan(), assembly.rows(self.rows));
        let flow = Flow::of(&Method {
            pool: &Assembly::pool(&class),
            code: &assembly.code,
            scan: &scan,
            exception_table: ExceptionTable::new(&rows),
            frames: frames.as_deref(),
            is_constructor: self.is_constructor,
            is_static: self.is_static,
            descriptor: self.descriptor.as_bytes(),
        })?;
        let mut shown = Vec::new();
        for call in flow.constructor_calls {
            let receiver = match call.receiver {
                Origin::Other => "?".to_owned(),
                Origin::This => "this".to_owned(),
                Origin::New(pc) => assembly.label(pc as usize),
            };
            let copy = if call.copy_beneath { "+copy" } else { "" };
            let straight = if call.straight { "+straight" } else { "" };
            shown.push(format!("{}={receiver}{copy}{straight}", assembly.label(call.pc as usize)));
        }
        if self.is_constructor {
            let label = |pc: u32| assembly.label(pc as usize);
            shown.extend(
                flow.initialized.iter().map(|(from, to)| format!("{}..{}", label(*from), label(*to))),
            );
        }
        Ok(shown.join(" "))
    }
}

/// Of `static void m(int)`.
fn in_method(text: &str) -> Result<String, Reason> {
    Walked { text, is_static: true, descriptor: "(I)V", ..Walked::default() }.flow()
}

/// Of a constructor with an `int`.
fn in_constructor(text: &str, rows: &[&str]) -> Result<String, Reason> {
    Walked { text, rows, is_constructor: true, descriptor: "(I)V", ..Walked::default() }.flow()
}

fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(in_method(text).as_deref(), Ok(*expected), "{text}");
    }
}

#[test]
fn objects_are_followed_through_the_operand_stack() {
    check(&[
        ("a: new A; dup; i: init; pop; return", "i=a+copy"),
        ("a: new A; i: init; return", "i=a+straight"),
        ("a: new A; b: new A; swap; i: init; j: init; return", "i=a j=b"),
        ("a: new A; b: new A; dup_x1; i: init; j: init; pop; return", "i=b j=a"),
        ("a: new A; b: new A; dup_x1; pop; i: init; j: init; return", "i=a j=b"),
        ("a: new A; b: new A; c: new A; dup_x2; pop; i: init; j: init; k: init; return", "i=b j=a k=c"),
        ("a: new A; b: new A; dup2; i: init; j: init; pop2; return", "i=b j=a"),
        ("a: new A; dup; dup2; i: init; pop2; pop; return", "i=a+copy"),
        ("a: new A; b: new A; c: new A; dup2_x1; pop2; i: init; j: init; k: init; return", "i=a j=c k=b"),
        (
            "a: new A; b: new A; c: new A; d: new A; dup2_x2; pop2; i: init; j: init; k: init; l: init; return",
            "i=b j=a k=d l=c",
        ),
        // Once one copy is initialised, all of them are.
        ("a: new A; dup; dup; i: init; j: init; pop; return", "i=a+copy j=?"),
        ("a: new A; b: new A; dup; i: init; pop; j: init; return", "i=b+copy j=a+straight"),
        ("aconst_null; i: init; aconst_null; aconst_null; j: init; pop; return", "i=? j=?"),
    ]);
}

#[test]
fn every_instruction_moves_the_stack_as_far_as_it_does() {
    // Each leaves the stack as it was, so that the object is on top again.
    for neutral in [
        "iconst_1; lconst_0; l2i; iadd; pop",
        "lconst_0; dup2; ladd; pop2",
        "getstatic A.f:J; putstatic A.f:J",
        "getstatic A.f:I; putstatic A.f:I",
        "aconst_null; getfield A.f:D; pop2",
        "aconst_null; getfield A.f:LA;; pop",
        "aconst_null; lconst_0; putfield A.f:J",
        "aconst_null; iconst_0; putfield A.f:Z",
        "iconst_0; lconst_0; invokestatic A.m:(IJ)D; pop2",
        "aconst_null; iconst_0; lconst_0; invokevirtual A.m:(IJ)LA;; pop",
        "aconst_null; iconst_0; invokespecial A.m:(I)V",
        "aconst_null; lconst_0; invokeinterface A.m:(J)[I; pop",
        "iconst_0; dconst_0; invokedynamic m:(ID)J; pop2",
        "iconst_1; iconst_1; iconst_1; multianewarray [[[I 3; pop",
        "iconst_1; multianewarray [[[I 1; pop",
        "iconst_1; istore 9; iload 9; istore 300; lload 300; lstore 4",
        "lconst_0; dstore_2; fload_2; fstore_2; dload_2; lstore_2",
        "aconst_null; astore 9; aload 9; astore_2",
        "iinc 0 1; nop",
        "iconst_0; newarray 10; arraylength; pop",
    ] {
        let text = format!("a: new A; {neutral}; i: init; return");
        assert_eq!(in_method(&text).as_deref(), Ok("i=a+straight"), "{text}");
        let text = text.replace("i: init", "dup; i: init; pop");
        assert_eq!(in_method(&text).as_deref(), Ok("i=a+copy"), "{text}");
    }
}

#[test]
fn a_stack_without_what_is_taken_from_it_ends_the_walk() {
    for text in [
        "pop; return",
        "dup; return",
        "aconst_null; swap; return",
        "aconst_null; dup_x1; return",
        "aconst_null; aconst_null; dup_x2; return",
        "aconst_null; dup2; return",
        "aconst_null; aconst_null; dup2_x1; return",
        "aconst_null; aconst_null; aconst_null; dup2_x2; return",
        "iconst_0; lstore_1; return",
        "iconst_0; lstore 1; return",
        "astore_1; return",
        "astore 1; return",
        "getfield A.f:I; return",
        "iconst_0; putfield A.f:I; return",
        "iconst_0; putstatic A.f:J; return",
        "init; return",
        "iconst_0; invokestatic A.m:(J)V; return",
        "iconst_0; multianewarray [[I 2; return",
        "iadd; return",
        // What is no descriptor.
        "getstatic A.f:Q; return",
        "invokestatic A.m:(I; return",
    ] {
        assert_eq!(in_method(text), Err(Reason::UnknownReceiver), "{text}");
    }
    for text in ["new A; getstatic A; return", "invokestatic A; return"] {
        assert_eq!(in_method(text), Err(Reason::BadCode), "{text}");
    }
}

#[test]
fn what_is_done_beneath_an_object_or_on_another_way_ends_the_straight_way_to_its_call() {
    check(&[
        ("a: new A; iconst_0; dup; pop; pop; i: init; return", "i=a+straight"),
        ("a: new A; iconst_0; iconst_1; swap; pop2; i: init; return", "i=a+straight"),
        ("a: new A; aconst_null; swap; pop; pop; return", ""),
        ("aconst_null; a: new A; swap; pop; i: init; return", "i=a"),
        ("aconst_null; a: new A; dup_x1; i: init; pop2; return", "i=a"),
        ("a: new A; astore_1; aload_1; i: init; return", "i=a"),
        ("a: new A; b: new A; i: init; j: init; return", "i=b+straight j=a+straight"),
        ("a: new A; b: new A; dup; astore_1; i: init; j: init; return", "i=b j=a+straight"),
        ("a: new A; goto l; l: i: init; return", "i=a"),
        ("a: new A; goto_w l; l: i: init; return", "i=a"),
        // Control may go on elsewhere, or come from there.
        ("a: new A; iconst_0; ifeq l; i: init; return; l: pop; return", "i=a"),
        ("a: new A; iload_0; ifne l; nop; l: i: init; return", "i=a"),
        ("a: new A; iload_0; tableswitch d c; c: nop; i: init; return; d: nop; j: init; return", "i=a j=a"),
        ("iload_0; ifeq l; nop; l: nop; a: new A; i: init; return", "i=a+straight"),
        ("a: new A; jsr s; i: init; return; s: astore_1; ret 1", "i=a"),
        ("a: new A; jsr_w s; i: init; return; s: astore_1; ret 1", "i=a"),
    ]);
}

#[test]
fn objects_are_followed_through_local_variables() {
    for (store, load) in [
        ("astore_0", "aload_0"),
        ("astore_1", "aload_1"),
        ("astore_2", "aload 2"),
        ("astore 3", "aload_3"),
        ("astore 4", "aload 4"),
        ("astore 300", "aload 300"),
    ] {
        let of = |between: &str| {
            let text = format!("a: new A; dup; {store}; {between}{load}; i: init; pop; return");
            in_method(&text).unwrap()
        };
        assert_eq!(of(""), "i=a+copy", "{store}");
        assert_eq!(of("b: new A; astore 7; "), "i=a+copy", "{store}");
        assert_eq!(of(&format!("aconst_null; {store}; ")), "i=?", "{store}");
        assert_eq!(of(&format!("b: new A; {store}; ")), "i=b", "{store}");
    }
    // A number takes one slot, or two; which of the locals 0 to 5 still holds its object.
    for (number, kept) in [
        ("iconst_0; istore_0", "012345".replace('0', "-")),
        ("iconst_0; istore 3", "012-45".to_owned()),
        ("fconst_0; fstore_2", "01-345".to_owned()),
        ("lconst_0; lstore_0", "--2345".to_owned()),
        ("lconst_0; lstore_3", "012--5".to_owned()),
        ("dconst_0; dstore_1", "0--345".to_owned()),
        ("dconst_0; dstore 4", "0123--".to_owned()),
        ("lconst_0; lstore 300", "012345".to_owned()),
        ("fconst_0; fstore 5", "01234-".to_owned()),
        ("aconst_null; astore_1", "0-2345".to_owned()),
    ] {
        let seen: String = (0..6)
            .map(|local| {
                let text = format!("a: new A; astore {local}; {number}; aload {local}; i: init; return");
                if in_method(&text).unwrap() == "i=a" { (b'0' + local) as char } else { '-' }
            })
            .collect();
        assert_eq!(seen, kept, "{number}");
    }
    // What is initialised is so in every local.
    check(&[
        (
            "a: new A; dup; astore_1; dup; astore_2; i: init; aload_1; j: init; aload_2; k: init; return",
            "i=a j=? k=?",
        ),
        ("a: new A; astore_1; b: new A; i: init; aload_1; j: init; return", "i=b+straight j=a"),
    ]);
}

#[test]
fn where_ways_meet_an_object_is_known_if_both_have_it() {
    check(&[
        // The same object, another one, none; on the stack and in a local.
        ("a: new A; iload_0; ifeq l; nop; l: dup; i: init; pop; return", "i=a+copy"),
        ("iload_0; ifeq m; a: new A; goto l; m: b: new A; l: nop; i: init; return", "i=?"),
        ("a: new A; dup; iload_0; ifeq l; swap; l: nop; i: init; pop; return", "i=a+copy"),
        ("a: new A; aconst_null; iload_0; ifeq l; swap; l: nop; i: init; pop; return", "i=?"),
        ("a: new A; astore_1; iload_0; ifeq l; nop; l: aload_1; i: init; return", "i=a"),
        ("a: new A; astore_1; iload_0; ifeq l; aconst_null; astore_1; l: aload_1; i: init; return", "i=?"),
        (
            "a: new A; astore_1; iload_0; ifeq l; aload_1; astore_2; l: aload_2; i: init; aload_1; j: init; return",
            "i=? j=a",
        ),
        ("a: new A; astore_1; iload_0; ifeq l; aload_1; i: init; l: aload_1; j: init; return", "i=a j=?"),
        // Of a switch every case, and the default.
        (
            "a: new A; astore_1; iload_0; lookupswitch d c; c: nop; aload_1; i: init; return; d: aload_1; j: init; return",
            "i=a j=a",
        ),
        (
            "a: new A; astore_1; iload_0; tableswitch d d c; c: aconst_null; astore_1; d: aload_1; j: init; return",
            "j=?",
        ),
        // A loop: what its end leaves in the local is not what came in, also for a loop in front of it that was walked
        // by then.
        ("a: new A; astore_1; l: aload_1; pop; aconst_null; astore_1; iload_0; ifeq l; return", ""),
        ("a: new A; astore_1; l: aload_1; i: init; iload_0; ifeq l; return", "i=?"),
        (
            "a: new A; astore_1; l: iload_0; ifeq m; nop; m: aload_1; i: init; aconst_null; astore_1; goto l",
            "i=?",
        ),
        // A loop around an object of its own.
        ("l: nop; a: new A; dup; i: init; pop; iload_0; ifeq l; return", "i=a+copy"),
        // Code that nothing leads to is left out, and says nothing of what follows.
        ("a: new A; i: init; return; b: new A; j: init; return", "i=a+straight"),
        ("a: new A; astore_1; goto l; aconst_null; astore_1; l: aload_1; i: init; return", "i=a"),
        // A subroutine returns with the locals that it was called with.
        ("a: new A; astore_1; jsr s; aload_1; i: init; return; s: astore_2; ret 2", "i=a"),
        ("a: new A; astore_1; jsr_w s; aload_1; i: init; return; s: astore_2; ret 300", "i=a"),
        ("jsr s; return; s: astore_2; a: new A; i: init; ret 2", "i=a+straight"),
    ]);
    for text in [
        // The depths differ.
        "iload_0; ifeq l; aconst_null; l: return",
        "l: aconst_null; goto l",
    ] {
        assert_eq!(in_method(text), Err(Reason::UnknownReceiver), "{text}");
    }
}

#[test]
fn handlers_see_the_locals_of_all_of_their_range() {
    let of = |text, rows: &[&str]| {
        Walked { text, rows, is_static: true, descriptor: "(I)V", ..Walked::default() }.flow().unwrap()
    };
    // The object is in the local from `b` on, and gone from `c` on.
    let text = "a: new A; nop; astore_1; b: nop; nop; aconst_null; astore_1; c: nop; nop; d: return; h: pop; aload_1; i: init; return";
    for (from, to, seen) in
        [("b", "c", "i=a"), ("a", "b", "i=?"), ("a", "c", "i=?"), ("b", "d", "i=?"), ("c", "d", "i=?")]
    {
        assert_eq!(of(text, &[&format!("{from} {to} h")]), seen, "{from}..{to}");
    }
    // Two ranges, and one within the other.
    assert_eq!(of(text, &["b c h", "b c h"]), "i=a");
    assert_eq!(of(text, &["b c h", "c d h"]), "i=?");
    // The handler goes on where its range ends: with what both have.
    let text = "a: new A; astore_1; b: nop; c: goto d; h: pop; d: aload_1; i: init; return";
    assert_eq!(of(text, &["b c h"]), "i=a");
    let text = "a: new A; astore_1; b: nop; c: goto d; h: astore_1; d: aload_1; i: init; return";
    assert_eq!(of(text, &["b c h"]), "i=?");
    // On its stack is what was thrown alone.
    let text = "a: new A; b: nop; i: init; c: return; h: nop; j: init; return";
    assert_eq!(of(text, &["b c h"]), "i=a+straight j=?");
}

#[test]
fn this_is_initialised_where_every_way_has_called_a_constructor() {
    for (text, rows, expected) in [
        ("aload_0; i: init; a: return", &[][..], "i=this a..end"),
        ("nop; aload_0; dup; i: init; a: pop; return", &[], "i=this+copy a..end"),
        ("aload_0; astore_2; aload_2; i: init; a: aload_0; j: init; return", &[], "i=this j=? a..end"),
        ("a: new A; dup; i: init; pop; aload_0; j: init; c: return", &[], "i=a+copy j=this c..end"),
        // One of two ways, and both.
        ("iload_1; ifeq l; aload_0; i: init; a: nop; l: return", &[], "i=this a..l"),
        (
            "iload_1; ifeq l; aload_0; i: init; a: goto m; l: aload_0; j: init; b: nop; m: return",
            &[],
            "i=this j=this a..l b..end",
        ),
        // Nothing is in local 0 any more, and the object is on the stack.
        (
            "aload_0; aconst_null; astore_0; iload_1; ifeq l; nop; l: nop; i: init; a: return",
            &[],
            "i=this a..end",
        ),
        // A handler around the call and one behind it.
        ("aload_0; a: nop; i: init; b: return; h: pop; c: return", &["a b h"], "i=this b..h"),
        ("aload_0; i: init; a: nop; b: return; h: pop; return", &["a b h"], "i=this a..end"),
        ("aload_0; i: init; a: nop; b: return; h: pop; return", &["i b h"], "i=this a..h"),
        // Code that nothing leads to is not told of.
        ("aload_0; i: init; a: return; b: nop; return", &[], "i=this a..b"),
        // The first instruction is one that is branched to: before the call, and behind it.
        ("s: iload_1; ifeq l; aload_0; i: init; a: return; l: iinc 1 1; goto s", &[], "i=this a..l"),
        ("s: iinc 1 1; aload_0; i: init; a: goto s", &[], "i=?"),
    ] {
        assert_eq!(in_constructor(text, rows).as_deref(), Ok(expected), "{text}");
    }
}

fn with_frames(
    text: &str,
    frames: &[(&str, &str)],
    descriptor: &str,
    is_constructor: bool,
) -> Result<String, Reason> {
    let walked = Walked { text, frames: Some(frames), descriptor, is_constructor, ..Walked::default() };
    Walked { is_static: !is_constructor, ..walked }.flow()
}

#[test]
fn frames_say_what_is_known_where_ways_meet() {
    // Frames of a static method with these parameters; which locals hold the object that `a` made at `l`.
    let text = |local: usize| format!("a: new A; goto l; l: aload {local}; i: init; return");
    for (descriptor, frames, expected) in [
        ("()V", &[("l", "full new@a |")][..], "a------"),
        ("()V", &[("l", "append new@a")], "a------"),
        ("(I)V", &[("l", "append new@a A new@a")], "-a-a---"),
        ("(J)V", &[("l", "append new@a")], "--a----"),
        ("(D[JLA;)V", &[("l", "append int new@a")], "-----a-"),
        ("(I)V", &[("l", "full long new@a double float new@a |")], "--a---a"),
        ("(I)V", &[("l", "full new@a top null new@a | this")], "a--a---"),
        // Each frame changes what the one in front of it says.
        ("(J)V", &[("g", "append new@a int new@a"), ("l", "same")], "--a-a--"),
        ("(J)V", &[("g", "append new@a int new@a"), ("l", "chop1")], "--a----"),
        ("(J)V", &[("g", "append new@a int new@a"), ("l", "chop3")], "-------"),
        ("(J)V", &[("g", "append new@a int new@a"), ("l", "append new@a")], "--a-aa-"),
        ("(J)V", &[("g", "append new@a int new@a"), ("l", "stack int")], "--a-a--"),
        ("(J)V", &[("g", "append new@a int new@a"), ("l", "full int | int")], "-------"),
    ] {
        let seen: String = (0..7)
            .map(|local| {
                match with_frames(&text(local).replace("goto", "g: goto"), frames, descriptor, false).unwrap()
                {
                    seen if seen == "i=a" => 'a',
                    seen => seen.chars().last().filter(|last| *last == '?').map_or('!', |_| '-'),
                }
            })
            .collect();
        assert_eq!(seen, expected, "{descriptor} {frames:?}");
    }
    // On the stack: a long takes two slots.
    for (frame, expected) in [
        ("full | new@a", "i=a"),
        ("full | int new@a", "i=a"),
        ("full | new@a new@a", "i=a+copy"),
        ("stack new@a", "i=a"),
        ("stack A", "i=?"),
        ("full | this", "i=this"),
    ] {
        assert_eq!(
            with_frames("a: new A; l: init; return", &[("l", frame)], "()V", false)
                .as_deref()
                .map(|seen| seen.replace('l', "i")),
            Ok(expected.to_owned()),
            "{frame}"
        );
    }
    let popped = "a: new A; l: pop2; i: init; return";
    assert_eq!(with_frames(popped, &[("l", "full | new@a long")], "()V", false).as_deref(), Ok("i=a"));
    assert_eq!(with_frames(popped, &[("l", "full | new@a int int")], "()V", false).as_deref(), Ok("i=a"));
    assert_eq!(with_frames(popped, &[("l", "full | long new@a")], "()V", false).as_deref(), Ok("i=?"));
}

/// In a local, or on the stack alone.
#[test]
fn frames_of_constructors_say_where_this_is() {
    let text = "iload_1; ifeq l; aload_0; i: init; a: return; l: nop; m: return";
    for (frame, expected) in [
        ("same", "i=this a..l"),
        ("full A int |", "i=this a..end"),
        ("full this int |", "i=this a..l"),
        ("full A int | this", "i=this a..l"),
        ("full int this |", "i=this a..l"),
        ("chop1", "i=this a..l"),
        ("full |", "i=this a..end"),
    ] {
        assert_eq!(with_frames(text, &[("l", frame)], "(I)V", true).as_deref(), Ok(expected), "{frame}");
    }
    for (descriptor, frames) in [
        ("(I)V", &[("l", "chop3")][..]),
        ("(I)V", &[("a", "same"), ("l", "chop3")]),
        ("(I)V", &[("a", "append int"), ("l", "full |"), ("m", "chop1")]),
    ] {
        assert_eq!(with_frames(text, frames, descriptor, true), Err(Reason::BadStackMap), "{frames:?}");
    }
    for descriptor in ["I)V", "(Q)V"] {
        assert_eq!(with_frames(text, &[], descriptor, true), Err(Reason::BadCode), "{descriptor}");
    }
}

#[test]
fn frames_that_spell_out_too_much_are_refused() {
    // 50 million locals in all, or a million that are not initialised.
    for (item, width, frames) in [("int ", 10_000, 5_000u16), ("new@0 ", 1_000, 1_000)] {
        for (count, expected) in [(frames, None), (frames + 1, Some(Reason::BadStackMap))] {
            let mut assembly = Assembly::of(&format!("a: pad {count}; return"));
            let first = assembly.frames(&[("a", &format!("full {}|", item.repeat(width)))]);
            let others = vec![0; usize::from(count - 1)];
            let info = [&count.to_be_bytes()[..], &first[2..], &others].concat();
            let (class, scan) = (assembly.class(), assembly.scan());
            let flow = Flow::of(&Method {
                pool: &Assembly::pool(&class),
                code: &assembly.code,
                scan: &scan,
                exception_table: ExceptionTable::new(&[]),
                frames: Some(&info),
                is_constructor: false,
                is_static: true,
                descriptor: b"()V",
            });
            assert_eq!(flow.err(), expected, "{item} {count}");
        }
    }
}
