//! Calls into libraries as the Java runtime records them, in every way to record: how they end, and that nothing is out of place.

use std::collections::BTreeMap;

use crate::runtime_support::{Jvm, Run, for_each_clock, for_each_jvm};
use instrument_trace::{Method, Profile};

/// Entries, exits, unwinds, aborted, open.
type Figures = [u64; 5];

fn run(jvm: &Jvm, args: &[&str]) -> Run {
    Run::new(jvm, args).class("Library")
}

/// Of all threads; the counts balance.
fn methods(profile: &Profile) -> BTreeMap<u32, Method> {
    assert_eq!(profile.damage, []);
    assert_eq!(profile.imbalances(), []);
    let mut sum: BTreeMap<u32, Method> = BTreeMap::new();
    for thread in &profile.threads {
        assert!(!thread.stopped && thread.dropped == 0, "{}: {} dropped", thread.name, thread.dropped);
        for (&id, method) in &thread.methods {
            sum.entry(id).or_default().add(method);
        }
    }
    sum
}

/// The same; nothing is lost or unmatched.
fn figures(profile: &Profile) -> BTreeMap<u32, Figures> {
    let figures = |(id, m): (u32, Method)| {
        assert_eq!((m.closes.unclosed, m.unmatched), (0, 0), "{id}: {m:?}");
        (id, [m.entries, m.closes.exits, m.closes.unwinds, m.closes.aborted, m.open])
    };
    methods(profile).into_iter().map(figures).collect()
}

#[test]
fn whoever_throws_and_whoever_catches_every_call_has_its_end() {
    for_each_clock(|jvm| {
        for (seed, pauses) in
            [("1", "none"), ("2", "none"), ("1", "pauses"), ("2", "pauses"), ("3", "pauses")]
        {
            let run = run(jvm, &["random", seed, pauses]).ok();
            let mut expected = BTreeMap::new();
            for line in run.stdout.lines().filter(|line| *line != "done") {
                let row: Vec<u64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
                expected.insert(row[0] as u32, [row[1], row[2], row[3], row[4], 0]);
            }
            let of_libraries = || expected.iter().filter(|(id, _)| **id >= 20).map(|(_, row)| row);
            assert!(of_libraries().all(|row| row[0] == row[1] + row[2]) && of_libraries().count() > 3);
            assert!(of_libraries().map(|row| row[2]).sum::<u64>() > 500, "{expected:?}");
            assert_eq!(figures(&run.profile()), expected, "{seed} {pauses}");
        }
    });
}

/// Nobody beneath hears of the end of these: it is found when the constructors have piled up. A trace leaves it to its reader.
#[test]
fn calls_above_constructors_that_failed_do_not_pile_up() {
    for_each_jvm(|jvm| {
        let run = run(jvm, &["failing", "10000"]).ok();
        let profile = run.profile();
        let found = figures(&profile);
        for (id, column) in [(10, 3), (20, 2)] {
            assert_eq!(found[&id][0], 10_000);
            assert_eq!(found[&id][column] + found[&id][4], 10_000, "{found:?}");
        }
        assert_eq!(found[&21], [10_000, 10_000, 0, 0, 0]);
        if jvm.record != Some("trace") {
            assert!(profile.threads.iter().all(|thread| thread.stack.len() <= 140), "{found:?}");
            assert!(run.profile_len() < 1 << 20);
        }
    });
}

#[test]
fn an_overflow_of_the_stack_loses_nothing() {
    for_each_jvm(|jvm| {
        for flags in [&["-Xss512k"][..], &["-Xint", "-Xss512k"], &["-XX:TieredStopAtLevel=1", "-Xss512k"]] {
            let profile = run(jvm, &["overflow", "20"]).jvm_args(flags).ok().profile();
            let found = figures(&profile);
            assert!(found[&1][0] > 1000 && found[&20][0] > 1000, "the stack did not overflow: {found:?}");
            for id in [1, 20] {
                assert_eq!(found[&id], [found[&id][0], 0, found[&id][0], 0, 0], "{flags:?} {id}");
            }
        }
    });
}

#[test]
fn calls_that_are_under_way_at_the_end_are_open() {
    for_each_jvm(|jvm| {
        let found = figures(&run(jvm, &["open"]).ok().profile());
        let open = [1, 0, 0, 0, 1];
        assert_eq!(found, [(1, open), (2, open), (20, open), (21, open)].into());
    });
}

#[test]
fn exits_without_an_entry_are_unmatched_and_close_nothing() {
    for_each_jvm(|jvm| {
        let found = methods(&run(jvm, &["misfits"]).ok().profile());
        assert_eq!((found[&1].entries, found[&1].closes.exits, found[&1].unmatched), (1, 1, 0));
        let of_library = &found[&20];
        assert_eq!((of_library.entries, of_library.unmatched), (4, 2));
        assert_eq!(
            (of_library.closes.exits, of_library.closes.unwinds, of_library.closes.unclosed),
            (1, 3, 0)
        );
    });
}

#[test]
fn roots_may_be_beneath_such_calls_or_be_such_calls() {
    for_each_jvm(|jvm| {
        let three = [3, 3, 0, 0, 0];
        let found = figures(&run(jvm, &["roots", "2"]).ok().profile());
        assert_eq!(found, [(2, three), (21, three)].into());
        let found = figures(&run(jvm, &["roots", "20"]).ok().profile());
        assert_eq!(found, [(2, three), (20, [3, 2, 1, 0, 0]), (21, three)].into());
    });
}
