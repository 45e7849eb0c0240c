//! Baselines that are learned from several runs, and blessed.

use super::*;
use crate::gate::check;
use crate::gate::samples::{ORDERS, learned, run, said, with};

#[test]
fn an_equal_sum_of_contexts_that_move_is_chance() {
    let values = |cached: u64, read: u64, fixed: u64| {
        let mut contexts = ORDERS.to_vec();
        contexts.push(("a.Main.main > a.Cache.get", 9, 0));
        contexts.push(("a.Main.main > a.Cache.get > a.Value.kind", cached, 0));
        contexts.push(("a.Main.main > a.Value.kind", read, 0));
        contexts.push(("a.Main.main > a.OrderService.list > a.Value.kind", fixed, 0));
        contexts
    };
    let learned = [&values(0, 3, 2)[..], &values(2, 1, 2), &values(3, 0, 2)];
    // Always 5 in all, and never again by right.
    for after in [values(3, 1, 2), values(3, 3, 2)] {
        let lines = said(&learned, &after);
        assert!(lines[0].starts_with("passed (7 methods of 8"), "{lines:?}");
    }
    let lines = said(&learned, &values(3, 30, 2));
    assert_eq!(lines[0], "1 figure moved before (not judged) and went far beyond it now:");
    // The context that stood still is judged alone, by more than the others move together.
    let lines = said(&learned, &values(1, 2, 50));
    assert_eq!(lines[0], "`OrderService#list` now calls `Value#kind` 50 times, was 2");
}

#[test]
fn contexts_that_were_left_out_are_said_without_a_place_that_is_not_known() {
    let baseline = Baseline::learn(&[run(&ORDERS), run(&ORDERS)], 3).unwrap();
    assert_eq!(baseline.levels, Some(2));
    let after = with(&[("a.Main.main > a.OrderService.list > a.Item.price > a.Sql.parse", 50, 0)]);
    let outcome = check(Some(&baseline), &[], &[run(&after)]);
    let [finding] = &outcome.findings[..] else { panic!("{outcome:?}") };
    assert_eq!((finding.place.as_deref(), finding.before, finding.now), (None, Some(1), Range::fixed(51)));
    assert_eq!(finding.path.len(), 4);
}

#[test]
fn blessing_takes_new_figures_and_keeps_what_moves() {
    let moving = |n: u64| with(&[("a.Main.main > a.Pool.take", n, 0)]);
    let mut baseline = Baseline::learn(&[run(&moving(3)), run(&moving(4))], 1000).unwrap();
    let mut after = moving(9);
    after[1].1 = 2;
    assert!(!check(Some(&baseline), &[], &[run(&after)]).passes());
    baseline.bless(Baseline::learn_more(&[run(&after)], 1000, &baseline.unsettled).unwrap());
    assert!(check(Some(&baseline), &[], &[run(&after)]).passes());
    // One run cannot show that it is 9 from now on.
    assert_eq!(baseline.methods["a.Pool.take()V"].ranges[0], Range { min: 3, max: 10 });
    after[1].1 = 3;
    assert!(!check(Some(&baseline), &[], &[run(&after)]).passes());
}

#[test]
fn methods_that_moved_in_one_run_only_are_counted() {
    let take = |n: u64, m: u64| {
        run(&with(&[("a.Main.main > a.Pool.take", n, 0), ("a.Main.main > a.Pool.give", m, 0)]))
    };
    assert_eq!(
        moved_once(&[take(1, 1), take(1, 2), take(1, 3)]),
        0,
        "one never moves, the other always does"
    );
    assert_eq!(moved_once(&[take(1, 1), take(2, 1), take(1, 1), take(1, 1)]), 1);
    assert_eq!(moved_once(&[take(5, 1), take(2, 1), take(2, 9), take(2, 1)]), 2);
    assert_eq!(moved_once(&[take(5, 1), take(5, 1), take(2, 1), take(2, 1)]), 0, "two values, each twice");
    assert_eq!(moved_once(&[take(1, 1), take(2, 1)]), 0, "of two runs it is not known which one moved");
}

#[test]
fn blessing_adds_runs_up_and_keeps_reasons_and_contexts_that_move() {
    let take = "a.Main.main > a.Pool.take";
    let moving = |n: u64| with(&[(take, n, 0), ("a.Main.main > a.Pool.take > a.Pool.wake", 1, 0)]);
    let mut baseline = learned(&[&moving(3), &moving(4)]);
    let reason = baseline.methods["a.Pool.take()V"].reason.clone();
    assert!(reason.is_some());
    baseline.bless(learned(&[&moving(9)]));
    assert_eq!(baseline.runs, 3);
    assert_eq!(baseline.methods["a.Pool.take()V"].reason, reason);
    // What lies below a context that moves is not there.
    let contexts = baseline.contexts.iter().filter(|context| context.name.contains("Pool"));
    let contexts: Vec<_> = contexts.map(|context| (context.name.as_str(), context.ranges[0])).collect();
    assert_eq!(contexts, [("a.Pool.take()V", Range { min: 3, max: 9 })]);
    // What moved goes on moving, in a run without it, too: 9 calls at most, and 2 below them.
    let calls = |contexts: &[(&str, u64, u64)]| contexts.iter().map(|(_, calls, _)| calls).sum::<u64>();
    assert_eq!(baseline.stable_calls(), (calls(&ORDERS), calls(&ORDERS) + 9 + 2));
    baseline.bless(learned(&[&ORDERS]));
    assert_eq!(baseline.methods["a.Pool.take()V"].ranges[0], Range { min: 0, max: 9 });
    assert_eq!(baseline.stable_calls(), (calls(&ORDERS), calls(&ORDERS) + 9 + 2));
}

#[test]
fn a_context_that_a_run_has_not_has_no_calls_there() {
    let more = with(&[("a.Main.main > a.Pool.take", 4, 0)]);
    for runs in [[&ORDERS[..], &more[..]], [&more, &ORDERS]] {
        let baseline = learned(&runs);
        let context = baseline.contexts.iter().find(|context| context.name == "a.Pool.take()V").unwrap();
        assert_eq!(context.ranges[0], Range { min: 0, max: 4 });
    }
}

#[test]
fn what_was_never_called_is_named_as_briefly_as_is_true() {
    let instrumented =
        ["a.Item.price()V", "a.Item.price(I)V", "a.Item.format()V", "a.Unused.a()V", "a.Unused.b()V"];
    let baseline =
        Baseline::learn(&[run(&ORDERS).with_instrumented(instrumented.into_iter())], 1000).unwrap();
    assert_eq!(
        baseline.never.iter().collect::<Vec<_>>(),
        ["a.Item.format", "a.Item.price(I)V", "a.Unused.*"]
    );
    let asked = ["a.Item.price()V", "a.Item.price(I)V", "a.Item.format(J)V", "a.Unused.c()V", "a.Other.a()V"];
    assert_eq!(asked.map(|name| baseline.was_never_called(name)), [false, true, true, true, false]);
}

#[test]
fn as_many_levels_are_kept_as_fit() {
    let levels = |most: usize| {
        let baseline = Baseline::learn(&[run(&ORDERS)], most).unwrap();
        (baseline.levels, baseline.contexts.len() - 1)
    };
    assert_eq!([3, 4, 5, 6].map(levels), [(Some(2), 2), (Some(3), 4), (Some(3), 4), (None, 6)]);
}
