//! What is said of runs after others were learned.

use super::*;
use crate::gate::print::Format;
use crate::gate::samples::{Contexts, ORDERS, found, learned, printed, run, said, with};

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
fn of_several_runs_all_must_have_grown() {
    let baseline = Baseline::learn(&[run(&ORDERS), run(&ORDERS)], 1000).unwrap();
    let grown = with(&[("a.Main.main > a.OrderService.list", 2, 0)]);
    let outcome = check(Some(&baseline), &[], &[run(&grown), run(&ORDERS)]);
    assert_eq!((outcome.findings.len(), outcome.unsteady.1), (0, 1));
    let outcome = check(Some(&baseline), &[], &[run(&grown), run(&grown)]);
    assert_eq!((outcome.findings.len(), outcome.unsteady.1), (1, 0));
    let fewer = with(&[("a.Main.main > a.OrderService.list > a.Item.price", 40, 0)]);
    let outcome = check(Some(&baseline), &[], &[run(&fewer), run(&ORDERS)]);
    assert_eq!((outcome.smaller.1, outcome.unsteady.1), (0, 1));
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
        let text = printed(&outcome, format);
        assert!(text.contains(part), "{text}");
    }
}

const LIST: &str = "a.Main.main > a.OrderService.list";

/// `before`, and below `above` a chain of contexts with so many calls each.
fn chained(before: &Contexts, chains: &[(&str, &str, u64)]) -> Vec<Finding> {
    let mut more: Vec<(String, u64)> = Vec::new();
    for (above, chain, calls) in chains {
        let mut path = (*above).to_owned();
        for name in chain.split(" > ") {
            path += &format!(" > {name}");
            more.push((path.clone(), *calls));
        }
    }
    let more = more.iter().map(|(path, calls)| (path.as_str(), *calls, 0));
    let is_new = |context: &(&str, u64, u64)| before.iter().all(|(path, ..)| *path != context.0);
    found(&[before], &[before, &more.filter(is_new).collect::<Vec<_>>()].concat())
}

#[test]
fn a_place_is_one_of_the_three_nearest_callers() {
    for (chain, expected) in [
        ("a.Sql.parse", Some("a.OrderService.list()V")),
        ("a.New.a > a.New.b > a.Sql.parse", Some("a.OrderService.list()V")),
        ("a.New.a > a.New.b > a.New.c > a.Sql.parse", None),
    ] {
        let [finding] = &chained(&ORDERS, &[(LIST, chain, 50)])[..] else { panic!() };
        assert_eq!((finding.method.as_str(), finding.place.as_deref()), ("a.Sql.parse()V", expected));
    }
}

#[test]
fn what_comes_with_a_cause_are_the_other_methods_below_it() {
    let parse = format!("{LIST} > a.Item.price > a.Sql.parse");
    let (inner, money) = (format!("{parse} > a.Sql.parse"), format!("{parse} > a.Money.of"));
    let of = |contexts: &Contexts| found(&[&ORDERS], &with(contexts)).remove(0).consequences;
    assert_eq!(of(&[(&parse, 50, 0), (&inner, 50, 0)]), 0);
    assert_eq!(of(&[(&parse, 50, 0), (&inner, 50, 0), (&money, 7, 0)]), 1);
}

#[test]
fn what_brings_most_calls_with_it_comes_first() {
    let before =
        [("a.Main.main", 1, 0), ("a.Main.main > a.A.often", 1, 0), ("a.Main.main > a.B.heavy", 1, 0)];
    let of = |below: u64| {
        let after = [before[0], ("a.Main.main > a.A.often", 50, 0), ("a.Main.main > a.B.heavy", 10, 0)];
        let after = [&after[..], &[("a.Main.main > a.B.heavy > a.New.call", below, 0)]].concat();
        found(&[&before], &after).into_iter().map(|finding| finding.method).collect::<Vec<_>>()
    };
    assert_eq!(of(1000), ["a.B.heavy()V", "a.A.often()V"]);
    assert_eq!(of(1), ["a.A.often()V", "a.B.heavy()V"]);
}

#[test]
fn one_finding_has_the_calls_of_all_its_places_and_callers() {
    let list = "a.Other.run > a.OrderService.list";
    let before = with(&[("a.Other.run", 1, 0), (list, 2, 0)]);
    let chains = [(LIST, "a.Few.get > a.Sql.parse", 3), (list, "a.Many.get > a.Sql.parse", 40)];
    let [finding] = &chained(&before, &chains)[..] else { panic!() };
    assert_eq!((finding.place.as_deref(), finding.place_calls), (Some("a.OrderService.list()V"), 3));
    assert_eq!((finding.before, finding.now), (Some(1), Range::fixed(44)));
    assert_eq!(finding.from, [("a.Many.get()V".to_owned(), 40), ("a.Few.get()V".to_owned(), 3)]);
}

/// What is new cannot have called it more often than before: it is told of the places that call what is new.
#[test]
fn a_caller_is_the_place_of_what_it_does_in_several_where_it_was_there() {
    let twice = |chain: &str| {
        let before = with(&[
            ("a.Other.run", 1, 0),
            ("a.Main.main > a.Old.get", 5, 0),
            ("a.Other.run > a.Old.get", 7, 0),
        ]);
        let findings = chained(&before, &[("a.Main.main", chain, 5), ("a.Other.run", chain, 7)]).into_iter();
        findings.map(|finding| (finding.place.unwrap(), finding.now.min)).collect::<Vec<_>>()
    };
    assert_eq!(twice("a.Old.get > a.Sql.parse"), [("a.Old.get()V".to_owned(), 12)]);
    assert_eq!(
        twice("a.New.get > a.Sql.parse"),
        [("a.Other.run()V".to_owned(), 7), ("a.Main.main()V".to_owned(), 6)]
    );
}

#[test]
fn the_outermost_of_calls_of_itself_is_no_call_below_it() {
    let tree = |inner: u64| with(&[("a.Tree.level", 20, 0), ("a.Tree.level > a.Tree.level", inner, 0)]);
    let [finding] = &found(&[&tree(15)], &tree(40))[..] else { panic!() };
    assert_eq!(finding.place.as_deref(), Some("a.Tree.level()V"));
    assert_eq!((finding.before, finding.now), (Some(15), Range::fixed(40)));
}

#[test]
fn another_program_and_other_figures_do_not_compare() {
    let baseline = learned(&[&ORDERS]);
    let refused = |contexts: &Contexts| match comparable(&baseline, &run(contexts), "app.gate") {
        Err(Refusal::Conditions { what, .. }) => Some(what),
        _ => None,
    };
    let of_price = [ORDERS[0], ORDERS[1], ORDERS[4]];
    assert_eq!(refused(&ORDERS), None);
    assert_eq!(refused(&of_price), Some("allocations"));
    assert_eq!(refused(&[("b.Other.main", 1, 1)]), Some("the program"));
    // Where the selection says what is counted, none may have been made.
    let mut selected = (baseline.clone(), run(&of_price));
    selected.0.conditions.selection = "transform=allocation".into();
    selected.1.conditions.selection = "transform=allocation".into();
    assert_eq!(comparable(&selected.0, &selected.1, "app.gate"), Ok(()));
}
