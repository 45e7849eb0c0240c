//! Comparisons that a table makes more.

use super::*;
use crate::gate::print::Format;
use crate::gate::samples::{printed, run};
use crate::gate::{Baseline, check};

#[test]
fn comparisons_and_what_they_call_have_a_margin() {
    let run = run(&[
        ("a.Main.main", 1, 0),
        ("a.Main.main > a.Key.compareTo(La/Key;)I", 100, 200),
        ("a.Main.main > a.Key.compareTo(La/Key;)I > a.Key.length", 300, 0),
        ("a.Main.main > a.Key.compareTo(La/Key;)I > a.Part.equals(Ljava/lang/Object;)Z", 50, 0),
        ("a.Main.main > a.Set.equals(La/Set;)Z", 100, 0),
        ("a.Main.main > a.Other.run", 1, 0),
        ("a.Main.main > a.Other.run > a.Key.compareTo(La/Key;)I", 44, 0),
    ]);
    let ordering = Ordering::of(&run);
    let margins = ordering.margins(|_| true);
    let calls: Vec<_> = margins.iter().map(|(name, margin)| (*name, margin[0])).collect();
    // The root of 100 + 44; what the 10 comparisons call that may come more.
    let expected = [
        ("a.Key.compareTo(La/Key;)I", 12),
        ("a.Key.length()V", 30),
        ("a.Part.equals(Ljava/lang/Object;)Z", 5),
    ];
    assert_eq!(calls, expected);
    assert_eq!(margins["a.Key.compareTo(La/Key;)I"][Figure::Allocations as usize], 20);
    let inside = |i: usize| run.path(i).iter().any(|name| name == "a.Other.run()V");
    let margins = ordering.margins(inside);
    assert_eq!(
        margins.into_iter().map(|(name, of)| (name, of[0])).collect::<Vec<_>>(),
        [("a.Key.compareTo(La/Key;)I", 7)]
    );
    // Of single contexts, rounded up.
    let compared: Vec<_> =
        (1..run.nodes.len()).filter(|&i| run.name(i).starts_with("a.Key.compareTo")).collect();
    assert_eq!(compared.iter().map(|&i| ordering.margin(i, Figure::Calls)).collect::<Vec<_>>(), [10, 7]);
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
    let text = printed(&outcome, Format::Text);
    assert!(text.contains("no more than the order of a table explains; not judged:\n    `Key#length` calls: 6,106 before, 6,108 now"), "{text}");
    // The root of 3,109 is 55.8.
    assert!(check(Some(&baseline), &[], &[table(3109)]).passes());
    let outcome = check(Some(&baseline), &[], &[table(3110)]);
    assert_eq!(
        (outcome.findings.len(), outcome.findings[0].method.as_str()),
        (1, "a.Key.compareTo(La/Key;)I")
    );
}

/// As where the recorder saw what it called, and not itself.
#[test]
fn a_comparison_that_was_never_called_explains_nothing() {
    let run = run(&[
        ("a.Key.equals(Ljava/lang/Object;)Z", 0, 0),
        ("a.Key.equals(Ljava/lang/Object;)Z > a.Key.length", 3, 0),
    ]);
    assert!(Ordering::of(&run).margins(|_| true).is_empty());
}
