//! What only some ways to record have: times, limits, samples, CPU time, bytes, roots, links, clocks.

use std::collections::BTreeMap;

use crate::runtime_support::{Jvm, Run, for_each_clock, for_each_jvm, jvms};
use instrument_trace::{Profile, Thread, ThreadKind, TreeConsumer, TreeNode};

fn run(jvm: &Jvm, args: &[&str]) -> Run {
    Run::new(jvm, args).class("Modes")
}

/// The nodes of the only thread, by their paths.
fn contexts(profile: &Profile) -> BTreeMap<Vec<u32>, TreeNode> {
    assert_eq!(profile.damage, []);
    assert_eq!(profile.imbalances(), []);
    let [thread] = &profile.threads[..] else { panic!("{} threads", profile.threads.len()) };
    let tree = thread.tree.as_ref().unwrap();
    let mut paths = vec![vec![]];
    let mut contexts = BTreeMap::new();
    for node in &tree.nodes {
        let mut path = paths[node.parent as usize].clone();
        path.push(match node.consumer {
            TreeConsumer::Method(id) => id,
            TreeConsumer::Link(link) => 1000 + link,
            TreeConsumer::Deeper => 999,
        });
        paths.push(path.clone());
        assert!(contexts.insert(path, *node).is_none(), "a context is there twice");
    }
    contexts
}

/// The sum of the threads that ended, which are of one pool.
fn ended(profile: &Profile) -> &Thread {
    let sums = profile.threads.iter().filter(|thread| thread.kind != ThreadKind::Thread);
    let sums: Vec<_> = sums.collect();
    let [sum] = sums[..] else { panic!("{} sums", sums.len()) };
    sum
}

fn entries(profile: &Profile) -> BTreeMap<u32, u64> {
    let mut sum = BTreeMap::new();
    for thread in &profile.threads {
        for (&id, method) in &thread.methods {
            *sum.entry(id).or_default() += method.entries;
        }
    }
    sum
}

/// The ways to record that have a clock.
fn for_each_timed(test: impl Fn(&Jvm)) {
    for_each_clock(|jvm| {
        if jvm.record != Some("counts") {
            test(jvm);
        }
    });
}

fn for_each_tree(test: impl Fn(&Jvm)) {
    for_each_clock(|jvm| {
        if jvm.record == Some("tree") {
            test(jvm);
        }
    });
}

#[test]
fn times_are_those_of_the_calls() {
    for_each_tree(|jvm| {
        let profile = run(jvm, &["times"]).ok().profile();
        let contexts = contexts(&profile);
        let paths: Vec<&[u32]> = contexts.keys().map(Vec::as_slice).collect();
        assert_eq!(paths, [&[1][..], &[1, 2], &[1, 2, 3], &[4]]);
        let two = &contexts[&vec![1, 2]];
        assert_eq!((two.entries, two.closes.exits, two.timed), (3, 3, 3));
        assert!(two.min >= 5_000_000 && two.max >= 15_000_000 && two.min < two.max, "{two:?}");
        assert!(two.ns >= 30_000_000 && two.ns >= two.min + two.max, "{two:?}");
        let mean_square = (two.ns as f64 / 3.0).powi(2);
        assert!(two.sum_squares / 3.0 >= mean_square && two.sum_squares / 3.0 < 3.0 * mean_square, "{two:?}");
        assert!(contexts[&vec![1]].ns >= two.ns && two.ns >= contexts[&vec![1, 2, 3]].ns);
        // The open call: its frame says since when.
        let thread = &profile.threads[0];
        assert_eq!(contexts[&vec![4]].ns, 0);
        assert!(profile.start_clock <= thread.start && thread.start <= thread.stack[0].since);
        assert!(thread.stack[0].since + 10_000_000 <= profile.shutdown_clock);
        assert_eq!(thread.last_event, thread.stack[0].since);
    });
}

#[test]
fn past_the_limit_of_depth_calls_are_counted_per_method() {
    for_each_tree(|jvm| {
        let run = Run::new(jvm, &["deep", "3000"]).jvm_args(&["-Dinstrument.depth=10"]).ok();
        let profile = run.profile();
        let contexts = contexts(&profile);
        assert_eq!(contexts.len(), 10 + 1 + 2991);
        assert!(contexts.values().all(|n| n.consumer == TreeConsumer::Deeper || n.entries == 1));
        let (deep, shallow): (Vec<_>, Vec<_>) = contexts.iter().partition(|(path, _)| path[0] == 999);
        assert_eq!(deep.len(), 2992);
        assert!(deep.iter().all(|(path, n)| path.len() <= 2 && n.ns == 0));
        assert!(shallow.iter().all(|(_, n)| n.ns > 0));
        assert_eq!(entries(&profile).len(), 3001);
    });
}

#[test]
fn past_the_limit_of_contexts_calls_are_counted_per_method() {
    for_each_tree(|jvm| {
        let flags = ["-Dinstrument.contexts=50"];
        let profile = Run::new(jvm, &["calls"]).jvm_args(&flags).ok().profile();
        assert!(contexts(&profile).values().all(|n| n.consumer != TreeConsumer::Deeper));
        let profile = Run::new(jvm, &["nest", "1000"]).jvm_args(&flags).ok().profile();
        let contexts = contexts(&profile);
        assert_eq!(contexts.len(), 50 + 1 + 950);
        assert_eq!(contexts.keys().filter(|path| path[0] == 999).count(), 951);
        assert_eq!(entries(&profile).values().sum::<u64>(), 1000);
    });
}

/// Also where calls past the limit, of the same methods, come between them.
#[test]
fn past_the_limit_of_contexts_those_that_have_room_keep_all_their_calls() {
    for_each_tree(|jvm| {
        let profile = run(jvm, &["around", "1000"]).jvm_args(&["-Dinstrument.contexts=2"]).ok().profile();
        let counts: Vec<_> = contexts(&profile).into_iter().map(|(path, n)| (path, n.entries)).collect();
        let expected =
            [(vec![1], 1000), (vec![1, 2], 2000), (vec![999], 0), (vec![999, 2], 1000), (vec![999, 3], 1000)];
        assert_eq!(counts, expected);
    });
}

/// From nine tenths of the contexts on recursion gets none, so that what comes then and is new has its own; counts are exact all the same. Where times are
/// samples, what is called within it is counted where it began.
#[test]
fn recursion_leaves_room_for_what_is_new() {
    for_each_tree(|jvm| {
        for timing in ["samples", "auto"] {
            for ends in [&["recursive", "10"][..], &["recursive", "10", "ends"]] {
                let flags = [&format!("-Dinstrument.timing={timing}"), "-Dinstrument.contexts=500"];
                let profile = run(jvm, ends).jvm_args(&flags).ok().profile();
                let contexts = contexts(&profile);
                let calls = [(1, 1), (10, 1023), (11, 1023), (12, 2046), (20, 1000), (21, 1000)];
                assert_eq!(entries(&profile), BTreeMap::from(calls), "{timing}");
                assert_eq!(contexts[&vec![1, 20]].entries, 1000, "{timing}");
                assert_eq!(contexts[&vec![1, 20, 21]].entries, 1000, "{timing}");
                let deeper = contexts.iter().filter(|(path, _)| path[0] == 999);
                let deeper: u64 = deeper.map(|(_, node)| node.entries).sum();
                let recursive = profile.threads[0].tree.as_ref().unwrap().recursive;
                if timing == "samples" {
                    assert_eq!(deeper, 0);
                    assert!(recursive > 500, "{recursive}");
                } else {
                    assert!(deeper > 1000 && recursive == 0, "{deeper}, {recursive}");
                }
                assert!((450..470).contains(&contexts.len()), "{}", contexts.len());
            }
        }
    });
}

/// A context is 128 bytes, and there are no copies: room for more, names and blocks that are not full make it 160 at most.
#[test]
fn a_profile_is_hardly_larger_than_its_contexts() {
    for_each_tree(|jvm| {
        let run = run(jvm, &["wide", "60000"]).ok();
        assert_eq!(contexts(&run.profile()).len(), 60_001);
        let length = run.profile_len();
        assert!(length < 60_000 * 160, "{length} bytes");
    });
}

/// Threads that record little need little.
#[test]
fn a_thread_needs_little_room() {
    for_each_tree(|jvm| {
        let run = run(jvm, &["threads", "400"]).ok();
        assert_eq!(run.profile().threads.len(), 400);
        let length = run.profile_len();
        assert!(length < 400 * 3500, "{length} bytes");
    });
}

/// Time enough for a calibration on any machine.
const PATIENT: &str = "-Dinstrument.calibrate=1000";

#[test]
fn samples_leave_counts_exact() {
    for_each_tree(|jvm| {
        for timing in ["every:60", "auto"] {
            let flag = format!("-Dinstrument.timing={timing}");
            let flags = [flag.as_str(), PATIENT];
            let profile = run(jvm, &["sampled", "64016"]).jvm_args(&flags).ok().profile();
            let contexts = contexts(&profile);
            let leaf = &contexts[&vec![1, 2]];
            assert_eq!((leaf.entries, leaf.closes.exits), (64_016, 64_016));
            if timing == "auto" {
                // Of 16 calls behind the head each, then fewer and fewer; interpreted ones may all be long.
                assert!(leaf.timed >= 100 && leaf.timed < 64_016, "{}", leaf.timed);
            } else {
                assert!(leaf.timed.abs_diff(64_000 / 60) <= 100, "one in 60: {}", leaf.timed);
            }
            assert!(leaf.ns > 0 && leaf.min <= leaf.max && leaf.sum_squares > 0.0);
            assert!(leaf.variance > 0.0 || timing == "auto", "{leaf:?}");
            assert!(profile.threads[0].tree.as_ref().unwrap().sampled);
            assert_eq!(profile.copies[&1].properties["timing"], timing);
            let calibration = profile.calibration().unwrap();
            assert!(calibration.outer_untimed.is_some_and(|ns| ns > 0.0), "{calibration:?}");
            // Of ended threads the estimates are kept, and how sure they are.
            let run = Run::new(jvm, &["threads", "1000", "100"]).jvm_args(&flags).ok();
            let profile = run.profile();
            assert_eq!(profile.imbalances(), []);
            assert_eq!(entries(&profile)[&1], 100_000);
            let ended = ended(&profile).tree.as_ref().unwrap();
            let node = &ended.nodes[0];
            assert!(ended.sampled && node.ns > 0 && node.cpu_ns == 0, "{node:?}");
            // All of the first 16 calls of each thread; of a short method that is known from other threads, fewer.
            let least = if timing == "auto" { node.entries / 200 } else { 16 * node.entries / 100 };
            assert!(node.timed >= least && node.timed <= node.entries, "{node:?}");
        }
    });
}

/// A call that is timed stands for those around it that are not: the sum is that of all calls, though their lengths differ.
#[test]
fn estimates_are_near_what_all_calls_take() {
    for_each_tree(|jvm| {
        let profile = run(jvm, &["sampled", "64016"]).jvm_args(&["-Dinstrument.timing=auto"]).ok().profile();
        let contexts = contexts(&profile);
        let (caller, leaf) = (&contexts[&vec![1]], &contexts[&vec![1, 2]]);
        let error = leaf.variance.sqrt();
        assert!(leaf.ns as f64 <= caller.ns as f64 + 4.0 * error, "{leaf:?} in {caller:?}");
    });
}

#[test]
fn ended_threads_are_merged_by_path() {
    for_each_tree(|jvm| {
        let profile = Run::new(jvm, &["threads", "2000", "10"]).ok().profile();
        assert_eq!(profile.imbalances(), []);
        let ended = ended(&profile).tree.as_ref().unwrap();
        // leaf; inside > through > thrower
        assert_eq!(ended.nodes.len(), 4);
        for node in &ended.nodes {
            let mean = node.ns as f64 / node.entries as f64;
            // The counter of some processors goes on in steps of 10 ns.
            assert!(
                (node.min > 0 || jvm.agent) && (node.min as f64) < mean && mean < node.max as f64,
                "{node:?}"
            );
            assert!(node.sum_squares / node.entries as f64 >= mean * mean, "{node:?}");
        }
    });
}

#[test]
fn cpu_time() {
    for_each_tree(|jvm| {
        let profile = run(jvm, &["cpu"]).jvm_args(&["-Dinstrument.cpu=true"]).ok().profile();
        let contexts = contexts(&profile);
        let [all, busy, idle] = [&[1][..], &[1, 2], &[1, 3]].map(|path| &contexts[path]);
        assert!(busy.cpu_ns > 5_000_000 && busy.cpu_ns <= busy.ns + busy.ns / 100, "{busy:?}");
        assert!(idle.cpu_ns < idle.ns / 2, "{idle:?}");
        assert!(all.cpu_ns >= busy.cpu_ns + idle.cpu_ns);
    });
    for jvm in jvms().iter().filter(|j| j.version >= 21) {
        let run = Run::new(jvm, &["virtual", "1000", "3"]).jvm_args(&["-Dinstrument.cpu=true"]).ok();
        assert_eq!(run.stderr, "instrument: no CPU time is recorded of virtual threads\n");
        assert_eq!(entries(&run.profile())[&1], 4000);
    }
}

#[test]
fn without_java_management_there_is_no_cpu_time() {
    let run =
        run(&jvms()[0], &["cpu"]).jvm_args(&["--limit-modules=java.base", "-Dinstrument.cpu=true"]).ok();
    assert!(run.stderr.starts_with("instrument: no CPU time is recorded: "), "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    assert!(!run.profile().threads[0].tree.as_ref().unwrap().cpu);
}

#[test]
fn bytes_of_arrays_and_objects() {
    for_each_tree(|jvm| {
        let aligned = |n: u64| n.next_multiple_of(8);
        let sum = |header: u64, size: u64| (0..100).map(|i| aligned(header + i * size)).sum::<u64>();
        let expected = |smaller: u64| {
            BTreeMap::from([
                ("[B", sum(16, 1)),
                ("[J", sum(16, 8)),
                ("[Ljava.lang.Object;", sum(16, 4)),
                ("java.lang.Object", 1600),
                ("java.util.ArrayList", 2400),
                ("Modes$Smaller", smaller),
            ])
        };
        // Smaller: header 12, byte and gap 4, long 8, int 4, gap 4.
        for (flags, smaller) in [(&[][..], 0), (&["-Dinstrument.sizes=all"], 3200)] {
            let profile = run(jvm, &["allocations"]).jvm_args(flags).ok().profile();
            let names = &profile.copies[&1].class_names;
            let thread = &profile.threads[0];
            let bytes = thread.tree_allocations.iter().map(|a| (names[&a.class].as_str(), a.bytes)).collect();
            assert_eq!(expected(smaller), bytes, "{flags:?}");
            assert!(thread.tree_allocations.iter().all(|a| a.node == 1 && a.count == 100));
        }
    });
}

/// HotSpot leaves out the look at what can close the gate for as long as the class that looks is not loaded.
#[test]
fn nothing_is_looked_at_that_cannot_change() {
    for_each_jvm(|jvm| {
        for (run, looks) in [(Run::new(jvm, &["calls"]), false), (run(jvm, &["roots"]), true)] {
            let run = run.jvm_args(&["-verbose:class"]).wait();
            assert!(run.stdout.contains("instrument.runtime.Gate$Open"), "{}", run.stdout);
            assert_eq!(run.stdout.contains("instrument.runtime.Gate$Watched"), looks);
        }
    });
}

#[test]
fn only_what_roots_call_is_recorded() {
    for_each_clock(|jvm| {
        let profile = run(jvm, &["roots"]).ok().profile();
        assert_eq!(profile.imbalances(), []);
        let [thread] = &profile.threads[..] else { panic!("{:?}", profile.threads) };
        assert_eq!(entries(&profile), [(2, 12), (3, 11), (4, 1), (5, 1)].into());
        assert_eq!((thread.methods[&2].closes.exits, thread.methods[&2].closes.unwinds), (11, 1));
        if jvm.record != Some("trace") {
            assert_eq!(thread.methods[&4].closes.aborted, 1);
            assert_eq!(thread.stack, []);
            assert!(thread.methods.values().all(|m| m.unmatched == 0));
        }
    });
}

#[test]
fn links_are_contexts() {
    for_each_tree(|jvm| {
        let run = run(jvm, &["links"]).ok();
        assert!(run.stdout.contains("node ") && !run.stdout.contains("node 0\n"), "{}", run.stdout);
        let mut profile = run.profile();
        assert_eq!(profile.imbalances(), []);
        profile.threads.retain(|t| t.name != "main");
        let contexts = contexts(&profile);
        let paths: Vec<&[u32]> = contexts.keys().map(Vec::as_slice).collect();
        assert_eq!(paths, [&[2][..], &[1007], &[1007, 2], &[1007, 3]]);
        assert_eq!(contexts[&vec![2]].entries, 2);
        assert_eq!(contexts[&vec![1007]].closes.exits, 1);
        assert_eq!(contexts[&vec![1007, 3]].closes.unclosed, 1);
    });
}

#[test]
fn a_trace_drops_and_counts_what_it_cannot_number() {
    for jvm in jvms() {
        let profile = run(&jvm.recording("trace"), &["ids"]).ok().profile();
        assert_eq!(entries(&profile), [(1, 1), ((1 << 26) - 1, 1)].into());
        assert_eq!(profile.threads[0].dropped, 4);
    }
}

#[test]
fn the_clock_beats_if_it_is_asked_to() {
    for_each_timed(|jvm| {
        let run = run(jvm, &["beats"]).jvm_args(&["-Dinstrument.snapshot=1"]).wait();
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let profile = run.profile();
        let beats = profile.beat_clock - profile.start_clock;
        assert!(beats > 1_000_000_000, "{beats}");
        // halt() is not a shutdown.
        assert_eq!(profile.shutdown_clock, 0);
        let ended = profile.threads.iter().find(|t| t.methods.contains_key(&1)).unwrap();
        assert!(ended.start < ended.end && ended.end <= profile.beat_clock + 1_000_000_000);
        let main = profile.threads.iter().find(|t| t.name == "main").unwrap();
        assert_eq!(main.end, 0);
    });
}

#[test]
fn calibration_finds_what_a_pair_costs() {
    for_each_timed(|jvm| {
        let profile = Run::new(jvm, &["calls"]).jvm_args(&[PATIENT]).ok().profile();
        let calibration = profile.calibration().unwrap();
        let clock = calibration.clock.unwrap();
        let pair = calibration.inner + calibration.outer;
        // Loose: the machine may be busy. A pair reads the clock twice; but where readings are not compiled in time they are dearer.
        assert!(clock > 1.0 && clock < 10_000.0 && pair > 1.0, "{calibration:?}");
        assert!(jvm.agent || pair > clock, "{calibration:?}");
        assert_eq!(profile.threads.len(), 1, "the trial is seen");
        let off = Run::new(jvm, &["calls"]).jvm_args(&["-Dinstrument.calibrate=off"]).ok().profile();
        assert_eq!(off.calibration(), None);
    });
}

#[test]
fn the_process_id_may_stand_in_the_name() {
    let dir = tempfile::tempdir().unwrap();
    let out = format!("-Dinstrument.out={}/a-%p-b.iprof", dir.path().display());
    Run::new(&jvms()[0], &["calls"]).jvm_args(&[&out]).ok();
    let file = std::fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap();
    let profile = crate::runtime_support::parse(&std::fs::read(file.path()).unwrap());
    assert_eq!(file.file_name().to_str().unwrap(), format!("a-{}-b.iprof", profile.pid));
}

/// With the permissions of a sandbox the program runs as ever; if the runtime alone may write, it does.
#[test]
fn under_a_security_manager() {
    let Some(jvm) = jvms().into_iter().find(|j| j.version < 18) else { return };
    let dir = tempfile::tempdir().unwrap();
    let policy = dir.path().join("policy");
    std::fs::write(&policy, "grant { };\n").unwrap();
    let flag = format!("-Djava.security.policy=={}", policy.display());
    let flags = ["-Djava.security.manager", &flag];
    for args in [["calls"], ["constructors"], ["allocations"]] {
        let run = Run::new(&jvm, &args).jvm_args(&flags).ok();
        assert_eq!(run.stdout, "done\n");
        let errors = run.stderr.lines().filter(|l| !l.starts_with("WARNING")).collect::<Vec<_>>();
        assert!(errors.len() <= 1 && errors.iter().all(|l| l.starts_with("instrument: ")), "{errors:?}");
    }
}
