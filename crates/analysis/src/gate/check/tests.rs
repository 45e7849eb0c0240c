//! Baselines that are learned from programs of a few contexts, and what is said of others.

use super::super::baseline::moved_once;
use super::super::print::{Format, write};
use super::super::run::samples::run;
use super::*;

/// What is said of a run after a baseline was learned from others.
fn said(before: &[&[(&str, u64, u64)]], after: &[(&str, u64, u64)]) -> Vec<String> {
    let runs: Vec<_> = before.iter().map(|contexts| run(contexts)).collect();
    let baseline = Baseline::learn(&runs, 1000).unwrap();
    for run in &runs {
        let outcome = check(Some(&baseline), &[], std::slice::from_ref(run));
        assert!(outcome.passes(), "what was learned passes: {outcome:?}");
    }
    let outcome = check(Some(&baseline), &[], &[run(after)]);
    let mut text = Vec::new();
    write(&mut text, &outcome, "app", Format::Text).unwrap();
    String::from_utf8(text).unwrap().lines().map(str::to_owned).collect()
}

const ORDERS: [(&str, u64, u64); 6] = [
    ("a.Main.main", 1, 0),
    ("a.Main.main > a.OrderService.list", 1, 0),
    ("a.Main.main > a.OrderService.list > a.Connection.prepareStatement", 1, 1),
    ("a.Main.main > a.OrderService.list > a.Connection.prepareStatement > a.Sql.parse", 1, 4),
    ("a.Main.main > a.OrderService.list > a.Item.price", 50, 0),
    ("a.Main.main > a.OrderService.list > a.Item.price > a.Money.of", 50, 50),
];

/// The contexts with others added or in place of those of the same path.
fn with<'a>(more: &[(&'a str, u64, u64)]) -> Vec<(&'a str, u64, u64)> {
    let mut contexts = ORDERS.to_vec();
    contexts.retain(|(path, ..)| more.iter().all(|(other, ..)| other != path));
    contexts.extend(more);
    contexts
}

#[test]
fn the_guilty_context_comes_first() {
    let after = with(&[
        ("a.Main.main > a.OrderService.list > a.Item.price > a.Connection.prepareStatement", 50, 50),
        (
            "a.Main.main > a.OrderService.list > a.Item.price > a.Connection.prepareStatement > a.Sql.parse",
            50,
            200,
        ),
    ]);
    assert_eq!(
        said(&[&ORDERS, &ORDERS, &ORDERS], &after),
        [
            "`OrderService#list` now calls `Connection#prepareStatement` 51 times, was 1; 50 more come from `Item#price`",
            "    N+1: calls grow with the calls of `Item#price`: 1 for each of 50",
            "    in Main#main > OrderService#list > Item#price > Connection#prepareStatement",
            "    1 method below it is called more often, too",
            "failed: 1 finding (6 methods of 6 judged, with 100 % of the calls; learned from 3 runs)",
        ]
    );
}

/// An annotation of a test puts a boundary around it, and its removal takes it away: so does another name of a caller.
#[test]
fn what_was_called_elsewhere_before_was_not_called_never() {
    let before = [
        ("(boundary OrdersTest#lists)", 1, 0),
        ("(boundary OrdersTest#lists) > a.OrderService.list", 1, 0),
        ("(boundary OrdersTest#lists) > a.OrderService.list > a.Connection.prepareStatement", 1, 0),
        ("(boundary OrdersTest#lists) > a.OrderService.list > a.Item.price", 50, 0),
    ];
    let after = [
        ("a.OrderService.list", 1, 0),
        ("a.OrderService.list > a.Connection.prepareStatement", 1, 0),
        ("a.OrderService.list > a.Item.price", 50, 0),
        ("a.OrderService.list > a.Item.price > a.Connection.prepareStatement", 50, 0),
    ];
    let lines = said(&[&before, &before, &before], &after);
    assert_eq!(
        lines[..3],
        [
            "`Connection#prepareStatement` is now called 51 times, was 1; 50 more come from `Item#price`",
            "    N+1: calls grow with the calls of `Item#price`: 1 for each of 50",
            "    in OrderService#list > Item#price > Connection#prepareStatement",
        ]
    );
}

#[test]
fn a_cache_that_is_gone_a_square_and_objects() {
    let after = with(&[("a.Main.main > a.OrderService.list > a.Item.price > a.Sql.parse", 50, 0)]);
    let lines = said(&[&ORDERS, &ORDERS], &after);
    assert_eq!(
        lines[0],
        "`OrderService#list` now calls `Sql#parse` 51 times, was 1; 50 more come from `Item#price`"
    );
    let after = with(&[("a.Main.main > a.OrderService.list > a.Item.price > a.Money.of", 1225, 50)]);
    let lines = said(&[&ORDERS, &ORDERS], &after);
    assert_eq!(lines[0], "`Item#price` now calls `Money#of` 1,225 times, was 50");
    assert_eq!(lines[1], "    quadratic: calls grow with the square of the 50 calls of `Item#price`");
    let after = with(&[("a.Main.main > a.OrderService.list > a.Item.price", 50, 150)]);
    let lines = said(&[&ORDERS, &ORDERS], &after);
    assert_eq!(lines[0], "`Item#price` now makes 150 objects, was 0");
    assert_eq!(lines[1], "    allocations grow with the calls of `Item#price`: 3 for each of 50");
}

#[test]
fn a_method_that_was_there_and_not_called_is_a_finding() {
    let learned = run(&ORDERS).with_instrumented(["a.Item.format()V", "a.Main.help()V"].into_iter());
    let baseline = Baseline::learn(&[learned.clone(), learned], 1000).unwrap();
    let after = with(&[
        ("a.Main.main > a.OrderService.list > a.Item.price > a.Item.format", 50, 0),
        ("a.Main.main > a.OrderService.list > a.Item.price > a.Item.written", 50, 0),
    ]);
    let outcome = check(Some(&baseline), &[], &[run(&after)]);
    let [finding] = &outcome.findings[..] else { panic!("{outcome:?}") };
    assert_eq!((finding.method.as_str(), finding.before, finding.now.min), ("a.Item.format()V", Some(0), 50));
    assert_eq!(outcome.new_methods, 1);
}

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

#[test]
fn what_is_new_or_called_less_or_called_elsewhere_is_no_finding() {
    let mut after = ORDERS.to_vec();
    after.push(("a.Main.main > a.New.thing", 1000, 5));
    after[4].1 = 40;
    after[5] = ("a.Main.main > a.New.thing > a.Money.of", 50, 50);
    let lines = said(&[&ORDERS, &ORDERS], &after);
    assert_eq!(lines[0], "1 figure became smaller; `instrument gate bless` keeps them so:");
    assert_eq!(lines[1], "    `Item#price` calls: 50 before, 40 now");
    assert!(
        lines[2].starts_with("passed (") && lines[2].contains("1 method not in the baseline"),
        "{lines:?}"
    );
}

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
    // By no more than it moves anyway.
    after.last_mut().unwrap().1 = 4;
    assert!(said(&[&pool(3), &pool(5)], &after)[0].starts_with("passed"));
}

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
fn of_several_runs_all_must_have_grown() {
    let baseline = Baseline::learn(&[run(&ORDERS), run(&ORDERS)], 1000).unwrap();
    let grown = with(&[("a.Main.main > a.OrderService.list", 2, 0)]);
    let outcome = check(Some(&baseline), &[], &[run(&grown), run(&ORDERS)]);
    assert_eq!((outcome.findings.len(), outcome.unsteady.1), (0, 1));
    let outcome = check(Some(&baseline), &[], &[run(&grown), run(&grown)]);
    assert_eq!((outcome.findings.len(), outcome.unsteady.1), (1, 0));
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
fn budgets_are_checked_with_and_without_a_baseline() {
    let budget = "[[budget]]\nmethod = 'a.Money#of'\nunder = 'a.OrderService#list'\ncalls = '<= 10'\n";
    let budgets = super::super::budget::parse(budget).unwrap();
    let outcome = check(None, &budgets, &[run(&ORDERS)]);
    for (format, part) in [
        (
            Format::Text,
            "`OrderService#list` calls `Money#of` 50 times; at most 10 are allowed; 50 come from `Item#price`\n",
        ),
        (Format::Markdown, "- **`OrderService#list` calls `Money#of` 50 times; at most 10 are allowed;"),
        (
            Format::Junit,
            "<failure message=\"`OrderService#list` calls `Money#of` 50 times; at most 10 are allowed;",
        ),
        (
            Format::Json,
            "\"sentence\": \"`OrderService#list` calls `Money#of` 50 times; at most 10 are allowed;",
        ),
    ] {
        let mut text = Vec::new();
        write(&mut text, &outcome, "app", format).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains(part), "{text}");
    }
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

/// A tree of the form of a table with hash codes that differ from run to run: some calls of `same` look into an entry, and few of those read on.
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
    let new = table(12, 4, 2, 7);
    baseline.bless(Baseline::learn_more(&[run(&new)], 1000, &before).unwrap());
    assert_eq!(baseline.unsettled, before);
    assert_eq!(baseline.methods["a.In.read()V"].ranges[0], Range::fixed(1000));
    assert!(check(Some(&baseline), &[], &[run(&table(11, 5, 3, 7))]).passes());
    assert!(!check(Some(&baseline), &[], &[run(&table(11, 5, 3, 8))]).passes());
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
fn a_few_comparisons_more_may_be_the_order_of_a_table() {
    const KEY: &str = "a.Main.main > a.Index.add > a.Key.compareTo(La/Key;)I";
    let length = format!("{KEY} > a.Key.length");
    let table = |compared: u64| {
        run(&[
            ("a.Main.main", 1, 0),
            ("a.Main.main > a.Index.add", 1000, 0),
            (KEY, compared, 0),
            (&length, 2 * compared, 0),
        ])
    };
    let runs = [(); 5].map(|()| table(3053));
    let baseline = Baseline::learn(&runs, 1000).unwrap();
    let outcome = check(Some(&baseline), &[], &[table(3054)]);
    assert_eq!((outcome.findings.len(), outcome.ordering.1), (0, 2));
    let mut text = Vec::new();
    write(&mut text, &outcome, "app", Format::Text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("no more than the order of a table explains; not judged:\n    `Key#length` calls: 6,106 before, 6,108 now"), "{text}");
    // The root of 3,109 is 55.8.
    assert!(check(Some(&baseline), &[], &[table(3109)]).passes());
    let outcome = check(Some(&baseline), &[], &[table(3110)]);
    assert_eq!(
        (outcome.findings.len(), outcome.findings[0].method.as_str()),
        (1, "a.Key.compareTo(La/Key;)I")
    );
}
