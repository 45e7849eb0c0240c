//! Where a leak suspect begins: one object, byte, window or collection less, and it is none.

use instrument_analysis::heap::leaks::{CANDIDATES, Found, Suspect};
use instrument_testing::{Life, Script};

use crate::common::leaking;

/// Looks for leaks after so many collections, 1 ms apart; objects of context 1, of thread 3 those that do not count.
fn found(collections: u32, lives: &[(u32, Life)]) -> Found {
    let mut writer = leaking::collected(collections);
    for name in ["one", "two", "three"] {
        writer.tree(name, &Script::new(1000));
    }
    let all = lives.iter().flat_map(|&(times, life)| (0..times).map(move |_| life));
    writer.objects(1, &all.collect::<Vec<_>>());
    leaking::found(writer, &|_, ordinal| ordinal != 3)
}

/// Objects of 16 bytes of a class that stay, made after so many collections.
fn stay(class: u32, born: u32, times: u32) -> (u32, Life) {
    (times, Life { class, context: 1, bytes: 16, born, ..Life::default() })
}

fn gone(class: u32, born: u32, gone: u32, times: u32) -> (u32, Life) {
    let (_, life) = stay(class, born, times);
    (times, Life { gone: Some(gone), ..life })
}

fn classes(found: &Found) -> Vec<&str> {
    found.suspects.iter().map(|suspect| suspect.class.as_str()).collect()
}

/// Three objects of class 1 with each of 40 collections.
fn a_leak() -> Vec<(u32, Life)> {
    (0..40).map(|born| stay(1, born, 3)).collect()
}

#[test]
fn what_goes_late_is_there_until_then() {
    let mut lives: Vec<_> = (0..40).map(|born| stay(1, born, 4)).collect();
    // Of two a collection is told that found them gone, of one there is no such collection: it went with the last.
    lives.extend([gone(1, 0, 21, 2), gone(1, 0, 50, 1)]);
    let found = found(40, &lives);
    let [suspect] = &found.suspects[..] else { panic!("{found:?}") };
    assert_eq!((suspect.before, suspect.after), ((83, 1328), (160, 2560)));
    assert_eq!((suspect.made, suspect.kept, suspect.growth()), (80, 80, 1232));
}

#[test]
fn six_of_eight_windows_must_grow() {
    // 16 collections: each of the last 8 is a window.
    let growing = |after: &[u32]| {
        let lives: Vec<_> = after.iter().map(|&born| stay(1, born, 10)).collect();
        found(16, &lives)
    };
    assert_eq!(classes(&growing(&[8, 9, 10, 11, 15])), [""; 0]);
    let six = growing(&[8, 9, 10, 11, 12, 15]);
    let [suspect] = &six.suspects[..] else { panic!("{six:?}") };
    assert_eq!((suspect.grew, suspect.windows, suspect.collections), (6, 8, 8));
    assert_eq!((suspect.before, suspect.after), ((0, 0), (60, 960)));
    assert!(suspect.why().contains("more in 6 of 8 windows"), "{}", suspect.why());
    // Six grow, but what was made in one of them does not stay: 10 go with the last collection, and 30 come.
    let fifth = |fifth| {
        let mut lives: Vec<_> = [8, 9, 10, 11].map(|born| stay(1, born, 10)).to_vec();
        lives.extend([fifth, stay(1, 15, 30)]);
        found(16, &lives).suspects.iter().map(|of| (of.grew, of.after.0)).collect::<Vec<_>>()
    };
    assert_eq!((fifth(gone(1, 12, 50, 10)), fifth(stay(1, 12, 10))), (vec![], vec![(6, 80)]));
    // Of four windows three.
    let four = |after: &[u32]| {
        let lives: Vec<_> = after.iter().map(|&born| stay(1, born, 10)).collect();
        found(8, &lives).suspects.iter().map(|of| (of.grew, of.windows)).collect::<Vec<_>>()
    };
    assert_eq!((four(&[4, 7]), four(&[4, 5, 7])), (vec![], vec![(3, 4)]));
}

#[test]
fn the_last_window_must_grow_by_a_quarter_of_the_mean() {
    // The last one by 1 object, so all eight by 32 at most.
    let growing = |first: u32| {
        let mut lives = vec![stay(1, 8, first)];
        lives.extend([9, 10, 11, 12, 15].map(|born| stay(1, born, 1)));
        found(16, &lives).suspects.iter().map(|of| of.after.0 - of.before.0).collect::<Vec<_>>()
    };
    assert_eq!((growing(27), growing(28)), (vec![32], vec![]));
}

#[test]
fn growth_must_be_a_thousandth_of_what_is_live() {
    // Six objects of 16 bytes: 96.
    let beside = |bytes: u64| {
        let mut lives: Vec<_> = [8, 9, 10, 11, 12, 15].map(|born| stay(1, born, 1)).to_vec();
        let (_, life) = stay(2, 0, 1);
        lives.push((1, Life { bytes, ..life }));
        found(16, &lives).suspects.len()
    };
    assert_eq!([96_000, 96_999, 97_000, 200_000].map(|live| beside(live - 96)), [1, 1, 0, 0]);
}

#[test]
fn only_what_wanted_threads_made_is_looked_at() {
    let of = |thread: u32| {
        let lives = a_leak().into_iter().map(|(times, life)| (times, Life { thread, ..life }));
        found(40, &lives.collect::<Vec<_>>()).suspects.len()
    };
    assert_eq!([1, 2, 3].map(of), [1, 1, 0]);
    // What others made in the same place is no part of the figures.
    let figures = |lives: &[(u32, Life)]| {
        let Suspect { before, after, made, kept, .. } = found(40, lives).suspects.remove(0);
        (before, after, made, kept)
    };
    let others = a_leak().into_iter().map(|(times, life)| (times, Life { thread: 3, ..life }));
    assert_eq!(figures(&a_leak().into_iter().chain(others).collect::<Vec<_>>()), figures(&a_leak()));
}

#[test]
fn groups_that_are_not_looked_at_are_said_with_the_most_that_they_can_have_grown() {
    let found = |groups: u32| {
        // Four late objects of each, of two threads, so of two groups of figures each; those of the last classes are small.
        let lives = (1..=groups).flat_map(|class| {
            let bytes = if class as usize > CANDIDATES { 24 } else { 40 };
            let (_, life) = stay(class, 20, 2);
            [1, 2].map(|thread| (2, Life { bytes, thread, ..life }))
        });
        // What threads made that do not count is no group.
        let (_, others) = stay(groups + 1, 20, 4);
        let others = (4, Life { thread: 3, ..others });
        found(40, &lives.chain([others]).collect::<Vec<_>>())
    };
    let all = found(CANDIDATES as u32);
    assert_eq!((all.suspects.len(), all.remarks), (0, vec![]));
    let some = found(CANDIDATES as u32 + 2);
    assert_eq!(some.remarks, ["2 groups were not checked; none of them has grown by more than 96 B"]);
}

#[test]
fn old_garbage_is_what_had_outlived_more_collections_than_the_young_do() {
    let says = |born: u32, at: u32| {
        let mut lives = a_leak();
        lives.push(gone(2, born, at, 1));
        let found = found(40, &lives);
        let told =
            found.remarks.iter().find_map(|of| of.strip_prefix("nothing that had outlived more than "));
        told.map(|rest| rest.split(" was").next().unwrap().to_owned())
    };
    assert_eq!(says(5, 21).as_deref(), Some("15 collections"), "21 - 5 - 1");
    assert_eq!(says(4, 21), None);
    // What went before the later half does not count, however old it was.
    assert_eq!(says(0, 20).as_deref(), Some("0 collections"));
    assert_eq!(says(0, 21), None);
}

#[test]
fn nothing_is_remarked_where_there_is_no_suspect() {
    let found = found(40, &[stay(1, 0, 100), gone(2, 25, 26, 7)]);
    assert_eq!(found, Found::default());
    assert_eq!((found.leaks(), found.is_undetermined()), (0, false));
}

#[test]
fn numbers_within_a_fiftieth_are_of_one_leak() {
    // Made with each collection, so twenty times as much growth: 1000 and 980, or 960.
    let leaks = |each: [u32; 2]| {
        let lives = (0..40).flat_map(|born| [stay(1, born, each[0]), stay(2, born, each[1])]);
        let found = found(40, &lives.collect::<Vec<_>>());
        (found.suspects.len(), found.leaks())
    };
    assert_eq!((leaks([50, 50]), leaks([50, 49]), leaks([50, 48])), ((2, 1), (2, 1), (2, 2)));
    // Nearly twice as many are twice as many.
    assert_eq!((leaks([49, 97]), leaks([49, 95])), ((2, 1), (2, 2)));
}

#[test]
fn a_rate_is_told_where_time_is_known() {
    let suspect = Suspect {
        class: "A".into(),
        context: vec![],
        before: (10, 1000),
        after: (30, 4000),
        made: 40,
        kept: 20,
        collections: 12,
        windows: 8,
        grew: 7,
        ns: 0,
        leak: 1,
        holders: vec![],
    };
    let expected = "10 objects became 30 in the last 12 collections (+2.930 KiB), more in 7 of 8 windows, fewer in none; \
                    50 % of the 40 made since are still there";
    assert_eq!(suspect.why(), expected);
    let in_two_seconds = Suspect { ns: 2_000_000_000, ..suspect };
    assert!(in_two_seconds.why().contains("(+2.930 KiB, 1.465 KiB/s)"), "{}", in_two_seconds.why());
}
