//! Reasons that are said of methods that move.

use super::*;
use crate::gate::Baseline;
use crate::gate::samples::{Contexts, learned, run_in_threads};

/// The reason of `a.M.moves`, called once or twice at the end of each of these paths.
fn reason(paths: &[&str], beside: &Contexts) -> Reason {
    let moving: Vec<_> = paths.iter().map(|path| format!("{path} > a.M.moves")).collect();
    let run = |calls: u64| {
        let above = paths.iter().map(|path| (*path, 1, 0));
        [&above.chain(moving.iter().map(|path| (path.as_str(), calls, 0))).collect::<Vec<_>>(), beside]
            .concat()
    };
    learned(&[&run(1), &run(2)]).methods["a.M.moves()V"].reason.clone().unwrap()
}

#[test]
fn a_reason_is_read_off_path_names_and_what_stands_beside() {
    for (paths, beside, expected) in [
        (&["a.Main.main"][..], "", Reason::Unknown),
        (&["a.B.<clinit>"], "", Reason::ClassInitialisation),
        (&["(class loading) > a.L.load"], "", Reason::ClassInitialisation),
        (&["a.B.finalize"], "", Reason::GarbageCollection),
        (&["a.B.schedule"], "", Reason::Timers),
        (&["a.Main.main"], "a.Main.main > a.System.nanoTime", Reason::Timers),
        (&["a.Main.main"], "a.Main.main > a.M.moves > a.System.nanoTime", Reason::Timers),
        (&["a.B.hashCode"], "", Reason::Hashing),
        (&["a.B.hashCode > a.B.x"], "", Reason::Hashing),
        (&["a.B.hashCode > a.B.x > a.B.y"], "", Reason::Unknown),
        (&["a.Main.main"], "a.Main.main > a.B.equals", Reason::Hashing),
        // One place tells more than another.
        (&["a.A.x", "a.B.hashCode"], "", Reason::Hashing),
        (&["a.A.hashCode", "a.B.x"], "", Reason::Hashing),
    ] {
        let beside: Vec<_> = (!beside.is_empty()).then_some((beside, 1, 0)).into_iter().collect();
        assert_eq!(reason(paths, &beside), expected, "{paths:?} {beside:?}");
    }
}

#[test]
fn what_follows_callers_follows_the_one_with_most_calls() {
    let run = |n: u64| {
        [
            ("a.Few.run", n, 0),
            ("a.Few.run > a.M.moves", n, 0),
            ("a.Many.run", 10 * n, 0),
            ("a.Many.run > a.M.moves", 10 * n, 0),
        ]
    };
    let baseline = learned(&[&run(1), &run(2)]);
    assert_eq!(baseline.methods["a.M.moves()V"].reason, Some(Reason::Follows("a.Many.run()V".into())));
}

#[test]
fn threads_are_the_reason_in_another_one_than_most_or_in_several() {
    let reason = |threads: &[&str]| {
        let run = |calls: u64| {
            let moving = [("a.M.moves", calls, 0)];
            let own = threads.iter().map(|thread| (*thread, &moving[..]));
            run_in_threads(
                &own.chain([("main", &[("a.A.x", 1, 0), ("a.A.y", 1, 0)][..])]).collect::<Vec<_>>(),
            )
        };
        let baseline = Baseline::learn(&[run(1), run(2)], 1000).unwrap();
        baseline.methods["a.M.moves()V"].reason.clone().unwrap()
    };
    assert_eq!(reason(&["main"]), Reason::Unknown);
    assert_eq!(reason(&["worker"]), Reason::Threads);
    assert_eq!(reason(&["main", "worker"]), Reason::Threads);
}
