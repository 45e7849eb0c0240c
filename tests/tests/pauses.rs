//! Recording that is paused and resumed while the program runs: what is counted, and for how long, in every way to record.

use std::collections::BTreeMap;

use crate::runtime_support::{Jvm, Run, for_each_jvm};
use instrument_trace::{Method, Profile};

fn run(jvm: &Jvm, args: &[&str]) -> Run {
    Run::new(jvm, args).class("Paused")
}

/// The methods of all threads; the counts balance, and nothing is out of place.
fn methods(profile: &Profile) -> BTreeMap<u32, Method> {
    assert_eq!(profile.damage, []);
    assert_eq!(profile.imbalances(), []);
    assert_eq!(profile.in_flight(), 0);
    let mut sum: BTreeMap<u32, Method> = BTreeMap::new();
    for (&id, method) in profile.threads.iter().flat_map(|thread| &thread.methods) {
        assert_eq!((method.closes.unclosed, method.unmatched), (0, 0), "method {id}: {method:?}");
        sum.entry(id).or_default().add(method);
    }
    sum
}

fn calls(profile: &Profile) -> BTreeMap<u32, (u64, u64)> {
    methods(profile).into_iter().map(|(id, m)| (id, (m.entries, m.closes.exits))).collect()
}

/// Figures that the program printed, by the number that a line begins with.
fn printed(run: &Run) -> BTreeMap<u32, Vec<i64>> {
    let lines = run.stdout.lines().filter(|line| *line != "done");
    let figures = |line: &str| line.split(' ').map(|word| word.parse().unwrap()).collect::<Vec<i64>>();
    lines.map(figures).map(|row| (row[0] as u32, row[1..].to_vec())).collect()
}

#[test]
fn what_began_outside_of_pauses_is_counted_and_nothing_else() {
    for_each_jvm(|jvm| {
        for (seed, beneath) in [("1", "recorded"), ("2", "recorded"), ("3", "muted"), ("4", "nothing")] {
            let run = run(jvm, &["random", seed, beneath]).ok();
            let profile = run.profile();
            assert!(
                profile.pauses.len() > 100 && profile.pauses.iter().rev().skip(1).all(|p| p.end >= p.start)
            );
            let found = methods(&profile);
            let expected = printed(&run);
            assert!(expected.values().all(|row| row[0] > 500 || row[0] == 1), "{expected:?}");
            assert!(found.keys().eq(expected.keys()), "{seed}: {found:?}, not {expected:?}");
            for (id, row) in expected {
                let m = &found[&id];
                // Aborted calls with nobody beneath are found when they have piled up.
                assert!(beneath != "recorded" || m.open == 0, "{seed}: method {id}: {m:?}");
                let actual = [m.entries, m.closes.exits, m.closes.unwinds, m.closes.aborted + m.open];
                assert_eq!(actual.map(|n| n as i64), row[..], "{seed}, on {beneath}: method {id}");
            }
        }
    });
}

#[test]
fn times_are_without_the_pause() {
    for_each_jvm(|jvm| {
        let run = run(jvm, &["times"]).ok();
        let profile = run.profile();
        assert_eq!(calls(&profile), [(1, (1, 1)), (2, (1, 1)), (4, (1, 1))].into());
        if jvm.record == Some("counts") {
            return;
        }
        let bounds = printed(&run);
        let within = |what: u32, ns: u64| {
            let row = &bounds[&what];
            assert!((row[1]..=row[0]).contains(&(ns as i64)), "{what}: {ns} ns is not between {row:?}");
        };
        if let Some(tree) = &profile.threads[0].tree {
            assert_eq!(tree.nodes.len(), 3);
            for node in &tree.nodes[..2] {
                within(node.parent + 1, node.ns);
            }
        }
        let [pause] = profile.pauses[..] else { panic!("{:?}", profile.pauses) };
        within(0, pause.end - pause.start);
        within(0, profile.threads[0].pause);
        // The passage that began before the pause.
        let [region] = &profile.regions[..] else { panic!("{:?}", profile.regions) };
        assert_eq!(region.passages, 1);
        within(5, region.ns);
    });
}

#[test]
fn every_thread_takes_notice() {
    for_each_jvm(|jvm| {
        let profile = run(jvm, &["threads", "2"]).ok().profile();
        let sum = methods(&profile);
        assert_eq!(sum[&1].entries, sum[&1].closes.exits);
        assert!(sum[&1].entries > 10_000 && profile.pauses.len() > 50, "{sum:?}");
        for thread in &profile.threads {
            let all: u64 = profile.pauses.iter().map(|p| p.end.max(p.start) - p.start).sum();
            // In a trace this is also what the recorder took for itself to get at the next piece: on a busy machine, whatever it may be.
            assert!(
                thread.pause <= all + all / 10 || matches!(jvm.record, Some("counts" | "trace")),
                "{} > {all}",
                thread.pause
            );
        }
    });
}

#[test]
fn a_root_that_is_entered_in_a_pause_leads_inside_after_it() {
    for_each_jvm(|jvm| {
        let profile = run(jvm, &["roots"]).ok().profile();
        assert_eq!(calls(&profile), [(2, (2, 2)), (3, (2, 2)), (4, (3, 3))].into());
    });
}

#[test]
fn links_are_left_in_a_pause_and_not_entered() {
    for_each_jvm(|jvm| {
        if jvm.record == Some("trace") {
            return;
        }
        let profile = run(jvm, &["links"]).ok().profile();
        assert_eq!(calls(&profile), [(1, (1, 1)), (2, (1, 1)), (4, (1, 1))].into());
        if let Some(tree) = &profile.threads[0].tree {
            let link = &tree.nodes[1];
            assert_eq!((tree.nodes.len(), link.entries, link.closes.exits), (4, 1, 1), "{tree:?}");
            assert_eq!(tree.nodes[3].parent, 1);
        }
    });
}

#[test]
fn constructors_that_fail_in_a_pause_do_not_pile_up() {
    for_each_jvm(|jvm| {
        let profile = run(jvm, &["failing", "3000000"]).jvm_args(&["-Xmx24m"]).ok().profile();
        assert_eq!(calls(&profile), [(1, (1, 1))].into());
    });
}
