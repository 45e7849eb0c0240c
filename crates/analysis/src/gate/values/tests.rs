//! Texts of statements that are new.

use crate::gate::samples::{Contexts, found, run, said, with};
use crate::gate::{Baseline, check};

#[test]
fn new_statements_are_judged_where_there_are_more_of_them() {
    let list = "a.Main.main > a.OrderService.list";
    let of_list = |text: &str, calls: u64| (format!("{list} > SQL select f({text})"), calls);
    let before = [of_list("a", 1), of_list("b", 3)];
    let run_with = |values: &[(String, u64)]| -> Vec<String> {
        let learned: Vec<_> = before.iter().map(|(path, calls)| (path.as_str(), *calls, 0)).collect();
        let after: Vec<_> = values.iter().map(|(path, calls)| (path.as_str(), *calls, 0)).collect();
        said(&[&with(&learned), &with(&learned)], &with(&after))
    };
    // In the loop, beside those that there were.
    let of_price = (format!("{list} > a.Item.price > SQL select f(c)"), 50);
    let lines = run_with(&[before[0].clone(), before[1].clone(), of_price.clone()]);
    assert_eq!(lines[0], "`Item#price` now calls `SQL select f(c)` 50 times, was 0");
    assert_eq!(lines[1], "    N+1: calls grow with the calls of `Item#price`: 1 for each of 50");
    // In a method that calls itself, each call counts once.
    let levels = |calls: [u64; 2]| {
        let mut contexts = with(&[]);
        let outer = "a.Main.main > a.Tree.level";
        contexts.extend([(outer, 20, 0), ("a.Main.main > a.Tree.level > a.Tree.level", 15, 0)]);
        let values = [
            "a.Main.main > a.Tree.level > SQL select f(p)",
            "a.Main.main > a.Tree.level > a.Tree.level > SQL select f(p)",
        ];
        contexts.extend(
            values
                .into_iter()
                .zip(calls)
                .filter(|(_, calls)| *calls > 0)
                .map(|(path, calls)| (path, calls, 0)),
        );
        contexts
    };
    let lines = said(&[&levels([0, 0]), &levels([0, 0])], &levels([20, 15]));
    assert_eq!(lines[0], "`Tree#level` now calls `SQL select f(p)` 35 times, was 0");
    // Below a method that is new: the nearest one that was there has more.
    let below_new = (format!("{list} > a.New.rows > SQL select f(c)"), 50);
    let lines = run_with(&[before[0].clone(), before[1].clone(), below_new]);
    assert!(lines[0].contains("now calls `SQL select f(c)` 50 times, was 0"), "{lines:?}");
    // Other texts, as many or fewer; and more here, but fewer in the program.
    for values in [
        vec![of_list("a, c", 1), of_list("b", 3)],
        vec![of_list("a", 1), of_list("c", 2)],
        vec![of_list("a", 1), of_list("c", 3)],
        vec![(format!("{list} > a.Item.price > SQL select f(c)"), 2)],
    ] {
        let lines = run_with(&values);
        assert!(lines.iter().any(|line| line.starts_with("passed (")), "{values:?}: {lines:?}");
    }
}

/// Methods that found anything, of a program with these values.
fn found_of(before: &[&Contexts], after: &Contexts) -> Vec<String> {
    let before: Vec<_> = before.iter().map(|values| with(values)).collect();
    let before: Vec<_> = before.iter().map(Vec::as_slice).collect();
    found(&before, &with(after)).into_iter().map(|finding| finding.method).collect()
}

const LIST_A: &str = "a.Main.main > a.OrderService.list > SQL a";
const LIST_C: &str = "a.Main.main > a.OrderService.list > SQL c";
const PRICE_C: &str = "a.Main.main > a.OrderService.list > a.Item.price > SQL c";
const PRICE_D: &str = "a.Main.main > a.OrderService.list > a.Item.price > SQL d";

#[test]
fn a_value_is_compared_with_the_most_that_there_were() {
    // 3 in one run, and 3 now, though in another place.
    assert_eq!(
        found_of(&[&[(LIST_A, 1, 0)], &[(LIST_A, 3, 0)]], &[(LIST_A, 1, 0), (PRICE_C, 2, 0)]),
        [""; 0]
    );
    assert_eq!(
        found_of(&[&[(LIST_A, 1, 0)], &[(LIST_A, 3, 0)]], &[(LIST_A, 1, 0), (PRICE_C, 3, 0)]),
        ["SQL c"]
    );
    // Another text in one place, more in the other.
    assert_eq!(found_of(&[&[(LIST_A, 3, 0)]], &[(LIST_C, 3, 0), (PRICE_D, 5, 0)]), ["SQL d"]);
}

/// What a caller is known to have had may not be all: but where it has no more than that, it has no more than before.
#[test]
fn a_value_in_the_place_of_another_is_none_more_though_contexts_were_left_out() {
    let baseline = Baseline::learn(&[run(&with(&[(LIST_A, 3, 0)]))], 6).unwrap();
    assert_eq!(baseline.levels, Some(3));
    let outcome = check(Some(&baseline), &[], &[run(&with(&[(LIST_C, 3, 0), (PRICE_D, 5, 0)]))]);
    assert_eq!(outcome.findings.into_iter().map(|finding| finding.method).collect::<Vec<_>>(), ["SQL d"]);
}
