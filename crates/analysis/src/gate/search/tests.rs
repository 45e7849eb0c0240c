//! Contexts that are judged alone.

use crate::gate::samples::{ORDERS, learned, run, said, with};
use crate::gate::{Baseline, check};

#[test]
fn what_moved_is_not_judged_but_contexts_that_did_not_are() {
    let pool = |n: u64| {
        let mut contexts = ORDERS.to_vec();
        contexts.push(("a.Pool.run", n, 0));
        contexts.push(("a.Pool.run > a.Pool.take", 2 * n, 0));
        contexts.push(("a.Main.main > a.Pool.take", 1, 0));
        contexts
    };
    let lines = said(&[&pool(3), &pool(5), &pool(4)], &pool(5));
    assert!(lines[0].starts_with("passed (6 methods of 8"), "{lines:?}");
    // Far beyond what it was: said, not judged.
    let lines = said(&[&pool(3), &pool(5)], &pool(100));
    assert_eq!(lines[0], "2 figures moved before (not judged) and went far beyond it now:");
    assert!(lines.last().unwrap().starts_with("passed"), "{lines:?}");
    let mut after = pool(4);
    after.last_mut().unwrap().1 = 60;
    let lines = said(&[&pool(3), &pool(5)], &after);
    assert_eq!(lines[0], "`Main#main` now calls `Pool#take` 60 times, was 1");
    // By no more than it moves anyway, 7 to 11; and by more, but not in each run.
    after.last_mut().unwrap().1 = 5;
    assert!(said(&[&pool(3), &pool(5)], &after)[0].starts_with("passed"));
    after.last_mut().unwrap().1 = 6;
    let baseline = learned(&[&pool(3), &pool(5)]);
    let findings = |runs: &[_]| check(Some(&baseline), &[], runs).findings.len();
    assert_eq!(findings(&[run(&after), run(&after)]), 1);
    assert_eq!(findings(&[run(&after), run(&pool(4))]), 0);
}

#[test]
fn a_context_that_compares_may_have_a_few_more_beyond_what_its_method_moves() {
    let compared = |here: u64, there: u64| {
        [
            ("a.Main.main", 1, 0),
            ("a.Main.main > a.Key.equals(Ljava/lang/Object;)Z", here, 0),
            ("a.Main.main > a.Table.grow", 1, 0),
            ("a.Main.main > a.Table.grow > a.Key.equals(Ljava/lang/Object;)Z", there, 0),
        ]
    };
    // It moves by 2, and the root of 112 is between 10 and 11.
    let passes =
        |now: u64| said(&[&compared(100, 7), &compared(100, 9)], &compared(now, 8))[0].starts_with("passed");
    assert!(passes(113));
    assert!(!passes(114));
}

/// What was left out may have had calls: it is not said that there was none.
#[test]
fn below_a_place_whose_contexts_were_left_out_it_is_not_known_how_it_was() {
    let orders = [run(&ORDERS), run(&ORDERS)];
    let baseline = Baseline::learn(&orders, 4).unwrap();
    assert_eq!(baseline.levels, Some(3));
    let after = with(&[("a.Main.main > a.OrderService.list > a.Money.of", 50, 0)]);
    let [finding] = &check(Some(&baseline), &[], &[run(&after)]).findings[..] else { panic!() };
    assert_eq!((finding.method.as_str(), finding.before, finding.now.min), ("a.Money.of()V", Some(0), 50));
}
