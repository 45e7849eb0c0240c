//! What calls that are more grow with.

use crate::gate::samples::{Contexts, found};

const LOOP: &str = "a.Main.main > a.List.each";
const CALLED: &str = "a.Main.main > a.List.each > a.Item.price";

/// With what the calls of the one method that grew grow: its name, how many come with each, and whether with the
/// square.
fn grows(before: &Contexts, after: &Contexts) -> Option<(String, u64, bool)> {
    let [finding] = &found(&[before], after)[..] else { panic!() };
    finding.growth.as_ref().map(|growth| (growth.with.clone(), growth.each, growth.quadratic))
}

#[test]
fn calls_grow_with_a_caller_or_with_its_square() {
    for (rounds, calls, expected) in [
        // Fewer than three fit by chance.
        (2, 2, None),
        (3, 3, Some((1, false))),
        (3, 9, Some((3, false))),
        // More for each than there are rounds.
        (3, 12, None),
        (50, 150, Some((3, false))),
        (50, 151, None),
        (50, 50 * 49 / 2, Some((0, true))),
        (50, 50 * 49, Some((49, false))),
        (50, 50 * 50, Some((50, false))),
        (50, 50 * 51 / 2, Some((0, true))),
        (50, 50 * 51, None),
    ] {
        let before = [("a.Main.main", 1, 0), (LOOP, rounds, 0), ("a.Other.run > a.Item.price", 1, 0)];
        let with = grows(&before, &[&before[..], &[(CALLED, calls, 0)]].concat());
        let expected = expected.map(|(each, quadratic)| ("a.List.each()V".to_owned(), each, quadratic));
        assert_eq!(with, expected, "{calls} of {rounds}");
    }
}

#[test]
fn calls_grow_with_those_beside_them_that_did_not_grow() {
    let before =
        [("a.Main.main", 1, 0), ("a.Main.main > a.Item.price", 1, 0), ("a.Main.main > a.List.next", 7, 0)];
    let of = |calls: u64| {
        let mut after = before;
        after[1].1 = calls;
        grows(&before, &after)
    };
    let next = |each, quadratic| Some(("a.List.next()V".to_owned(), each, quadratic));
    // As many, as many more, and half of the square.
    assert_eq!([7, 8, 9, 21].map(of), [next(1, false), next(1, false), None, next(0, true)]);
    // Two that came together do not explain each other.
    let after = [before[0], ("a.Main.main > a.Item.price", 5, 0), ("a.Main.main > a.List.next", 5 + 7, 0)];
    let findings = found(&[&before], &after);
    assert_eq!(findings.iter().map(|finding| &finding.growth).collect::<Vec<_>>(), [&None, &None]);
}

#[test]
fn a_statement_is_in_a_loop_where_its_caller_is_called_more_often_than_who_calls_that() {
    for (outer, rounds, expected) in [(1, 3, true), (3, 3, false), (0, 3, true)] {
        let path = |name: &str| if outer == 0 { name.to_owned() } else { format!("a.Main.main > {name}") };
        let (each, statement) = (path("a.List.each"), path("a.List.each > SQL select"));
        let before =
            [("a.Main.main", outer.max(1), 0), (&*each, rounds, 0), ("a.Main.main > SQL select", 1, 0)];
        let after = [&before[..], &[(&*statement, rounds, 0)]].concat();
        let growth = found(&[&before], &after).remove(0).growth.unwrap();
        assert_eq!((growth.with.as_str(), growth.in_loop), ("a.List.each()V", expected), "{outer}");
    }
}
