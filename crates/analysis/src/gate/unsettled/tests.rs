//! Contexts below those that move.

use super::Unsettled;
use crate::gate::figure::Range;
use crate::gate::samples::{learned, run, with};
use crate::gate::{Baseline, check};

/// A tree of the form of a table with hash codes that differ from run to run: some calls of `same` look into an entry,
/// and few of those read on.
fn table(same: u64, entries: u64, reads: u64, tasks: u64) -> Vec<(&'static str, u64, u64)> {
    let mut contexts = with(&[
        ("a.Main.main > a.Table.same", same, 0),
        ("a.Main.main > a.Table.same > a.Table.entry", entries, 0),
        ("a.Main.main > a.Table.same > a.Table.entry > a.In.read", reads, reads),
        ("a.Main.main > a.In.read", 1000, 0),
        // Threads of a pool: their number moves, that of the tasks does not.
        ("a.Worker.run", same % 3 + 1, 0),
        ("a.Worker.run > a.Task.call", 100, 0),
        ("a.Worker.run > a.Task.call > a.Money.of", tasks, 0),
    ]);
    contexts.retain(|(_, calls, _)| *calls > 0);
    contexts
}

#[test]
fn equal_figures_below_what_moves_may_be_chance() {
    let learned = [run(&table(10, 4, 0, 5)), run(&table(14, 4, 0, 5)), run(&table(11, 4, 0, 5))];
    let baseline = Baseline::learn(&learned, 1000).unwrap();
    let calls = |name: &str| baseline.methods[name].ranges[0];
    assert_eq!(calls("a.In.read()V"), Range::fixed(1000));
    // All of it is below what moves: 4 calls for 10 to 14, of which one might be missing.
    assert_eq!(calls("a.Table.entry()V"), Range { min: 3, max: 5 });
    assert_eq!(calls("a.Task.call()V"), Range::fixed(100));
    assert_eq!(baseline.all_calls, 104 + 14 + 4 + 1000 + 3 + 100 + 5);
    let lines: Vec<_> = baseline.unsettled.lines().map(|(_, name, settled)| (name, settled)).collect();
    assert_eq!(lines, [("a.Table.same()V", false), ("a.Task.call()V", true), ("a.Worker.run()V", false)]);
    let findings = |contexts: &[(&str, u64, u64)]| {
        let outcome = check(Some(&baseline), &[], &[run(contexts)]);
        outcome.findings.into_iter().map(|f| (f.method, f.before, f.now.min)).collect::<Vec<_>>()
    };
    assert_eq!(findings(&table(12, 5, 1, 5)), [], "a read that never was, below what moves");
    assert_eq!(
        findings(&table(12, 4, 0, 6)),
        [("a.Money.of()V".to_owned(), Some(55), 56)],
        "in a task of the pool"
    );
    let mut more = table(12, 4, 1, 5);
    more.iter_mut().find(|(path, ..)| *path == "a.Main.main > a.In.read").unwrap().1 = 1001;
    assert_eq!(findings(&more), [("a.In.read()V".to_owned(), Some(1000), 1001)], "where nothing moves");
}

#[test]
fn blessing_goes_on_knowing_what_is_unsettled() {
    let learned = [run(&table(10, 4, 0, 5)), run(&table(14, 4, 0, 5))];
    let mut baseline = Baseline::learn(&learned, 1000).unwrap();
    let before = baseline.unsettled.clone();
    let new = table(12, 4, 9, 7);
    let learned = Baseline::learn_more(&[run(&new)], 1000, &before).unwrap();
    // The calls that are not judged are among all of them.
    assert_eq!(learned.stable_calls().1, new.iter().map(|(_, calls, _)| calls).sum::<u64>());
    baseline.bless(learned);
    assert_eq!(baseline.unsettled, before);
    assert_eq!(baseline.methods["a.In.read()V"].ranges[0], Range::fixed(1000));
    assert!(check(Some(&baseline), &[], &[run(&table(11, 5, 3, 7))]).passes());
    assert!(!check(Some(&baseline), &[], &[run(&table(11, 5, 3, 8))]).passes());
}

#[test]
fn a_context_is_settled_where_three_of_its_calls_would_have_come_and_gone() {
    let settled = |tasks: u64| {
        let pool =
            |threads: u64| with(&[("a.Worker.run", threads, 0), ("a.Worker.run > a.Task.call", tasks, 0)]);
        learned(&[&pool(1), &pool(2)])
            .unsettled
            .lines()
            .any(|(_, name, settled)| name == "a.Task.call()V" && settled)
    };
    assert_eq!([5, 6].map(settled), [false, true]);
}

#[test]
fn what_moves_later_is_settled_no_more() {
    let lines = |unsettled: &Unsettled| -> Vec<_> {
        unsettled.lines().map(|(_, name, settled)| (name.to_owned(), settled)).collect()
    };
    let pool = |threads: u64, tasks: u64| {
        run(&with(&[("a.Worker.run", threads, 0), ("a.Worker.run > a.Task.call", tasks, 0)]))
    };
    let known = Baseline::learn(&[pool(1, 9), pool(2, 9)], 1000).unwrap().unsettled;
    assert_eq!(lines(&known), [("a.Task.call()V".to_owned(), true), ("a.Worker.run()V".to_owned(), false)]);
    let again = Baseline::learn_more(&[pool(2, 8), pool(2, 8)], 1000, &known).unwrap();
    assert_eq!(again.unsettled, known, "two runs that agree show nothing new");
    let moved = Baseline::learn_more(&[pool(2, 8), pool(2, 9)], 1000, &known).unwrap();
    assert_eq!(lines(&moved.unsettled), [("a.Worker.run()V".to_owned(), false)]);
}
