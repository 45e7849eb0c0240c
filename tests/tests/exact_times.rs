//! Times that are known exactly: the recorder runs with a clock that only the program moves on. Random calls are compared with what the program
//! itself kept of them, context by context and figure by figure, in every way to record.

use std::collections::{BTreeMap, BTreeSet};

use crate::runtime_support::{Jvm, Run, for_each_jvm, jvms};
use instrument_analysis::replay;
use instrument_trace::{NO_MIN, Profile, Thread, ThreadKind, TreeConsumer, TreeNode};

/// Figures of a context, in the order in which the program prints them: entries, exits, unwinds, aborted, unclosed, unmatched, open, ns, min, max,
/// ns of open calls, the bits of the sum of squares.
type Figures = [u64; 12];

fn run(jvm: &Jvm, args: &[&str], flags: &[&str]) -> Run {
    Run::new(jvm, args).timed().jvm_args(flags).ok()
}

/// Every virtual machine and way to record; all calls are timed.
fn for_each(test: impl Fn(&Jvm, &[&str])) {
    for_each_jvm(|jvm| test(jvm, &["-Dinstrument.timing=all"]));
}

fn trees(test: impl Fn(&Jvm)) {
    jvms().iter().for_each(|jvm| test(&jvm.recording("tree")));
}

/// The profile; traces have been replayed.
fn profile(run: &Run) -> Profile {
    let data = std::fs::read(run.profile_path()).unwrap();
    let mut profile = Profile::parse(&data).unwrap();
    replay::profile(&&data[..], &mut profile).unwrap();
    assert_eq!((&profile.damage[..], profile.imbalances()), (&[][..], vec![]));
    assert_eq!(profile.threads.iter().map(|thread| thread.dropped).sum::<u64>(), 0);
    profile
}

/// The contexts of a thread by their paths; none is there twice.
fn paths(thread: &Thread) -> Vec<(String, TreeNode)> {
    let mut thread = thread.clone();
    thread.measure_open(thread.last_event);
    let mut paths = vec![String::new()];
    let mut nodes = Vec::new();
    for node in thread.tree.unwrap().nodes {
        let TreeConsumer::Method(id) = node.consumer else { panic!("{node:?}") };
        let parent = &paths[node.parent as usize];
        paths.push(if parent.is_empty() { id.to_string() } else { format!("{parent}/{id}") });
        nodes.push((paths.last().unwrap().clone(), node));
    }
    let different: BTreeSet<_> = nodes.iter().map(|(path, _)| path).collect();
    assert_eq!(different.len(), nodes.len(), "{}", thread.name);
    nodes
}

/// The contexts of all threads together.
fn contexts(profile: &Profile) -> BTreeMap<String, Figures> {
    let mut sum: BTreeMap<String, TreeNode> = BTreeMap::new();
    for (path, node) in profile.threads.iter().flat_map(paths) {
        sum.entry(path).and_modify(|known| known.add(&node)).or_insert(node);
    }
    let figures = |node: TreeNode| {
        let closes = node.closes;
        assert!(node.timed == 0 && node.variance == 0.0);
        [
            node.entries,
            closes.exits,
            closes.unwinds,
            closes.aborted,
            closes.unclosed,
            node.unmatched,
            node.open,
            node.ns,
            node.min,
            node.max,
            node.open_ns,
            node.sum_squares.to_bits(),
        ]
    };
    sum.into_iter().map(|(path, node)| (path, figures(node))).collect()
}

/// What the program printed.
fn printed(run: &Run) -> BTreeMap<String, Figures> {
    let rows = run.stdout.lines().filter(|line| !line.starts_with("made "));
    let rows = rows.filter_map(|line| line.split_once(' '));
    let figures = |row: &str| {
        let numbers: Vec<u64> = row.split(' ').map(|number| number.parse().unwrap()).collect();
        numbers.try_into().unwrap()
    };
    rows.map(|(path, row)| (path.to_owned(), figures(row))).collect()
}

/// Number and bytes of the objects that the program says it made, by path and class.
fn printed_objects(run: &Run) -> BTreeMap<(String, String), [u64; 2]> {
    let rows = run.stdout.lines().filter_map(|line| line.strip_prefix("made "));
    let object = |row: &str| {
        let words: Vec<_> = row.split(' ').collect();
        let [path, class, number, bytes] = words[..] else { panic!("{row}") };
        ((path.to_owned(), class.to_owned()), [number.parse().unwrap(), bytes.parse().unwrap()])
    };
    rows.map(object).collect()
}

/// The same in a profile: of the tree, or, without bytes, of the topmost methods.
fn objects(profile: &Profile, tree: bool) -> BTreeMap<(String, String), [u64; 2]> {
    let mut objects: BTreeMap<(String, String), [u64; 2]> = BTreeMap::new();
    let class = |number: u32| profile.copies[&1].class_names[&number].clone();
    let mut add = |path: String, class: String, [number, bytes]: [u64; 2]| {
        let [numbers, sum] = objects.entry((path, class)).or_default();
        (*numbers, *sum) = (*numbers + number, *sum + bytes);
    };
    for thread in &profile.threads {
        if tree {
            let paths = paths(thread);
            for made in &thread.tree_allocations {
                let path = made.node.checked_sub(1).map_or("-", |at| &paths[at as usize].0);
                add(path.to_owned(), class(made.class), [made.count, made.bytes]);
            }
        } else {
            for made in &thread.allocations {
                let path = made.method.map_or("-".to_owned(), |id| id.to_string());
                add(path, class(made.class), [made.count, 0]);
            }
        }
    }
    objects
}

/// The first figures, which are counts, by method.
fn by_method(contexts: &BTreeMap<String, Figures>) -> BTreeMap<u32, [u64; 7]> {
    let mut methods: BTreeMap<u32, [u64; 7]> = BTreeMap::new();
    for (path, figures) in contexts {
        let id = path.rsplit('/').next().unwrap().parse().unwrap();
        let sums = methods.entry(id).or_default();
        sums.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure);
    }
    methods
}

/// A profile has the figures that the program has.
fn assert_agrees(jvm: &Jvm, run: &Run) -> Profile {
    let expected = printed(run);
    assert!(expected.len() > 20, "{} contexts", expected.len());
    let profile = profile(run);
    if jvm.record == Some("counts") {
        let mut methods: BTreeMap<u32, [u64; 7]> = BTreeMap::new();
        for (id, m) in profile.threads.iter().flat_map(|thread| &thread.methods) {
            let c = m.closes;
            let row = [m.entries, c.exits, c.unwinds, c.aborted, c.unclosed, m.unmatched, m.open];
            methods.entry(*id).or_default().iter_mut().zip(row).for_each(|(sum, figure)| *sum += figure);
        }
        assert_eq!(methods, by_method(&expected));
        let mut made: BTreeMap<(String, String), [u64; 2]> = BTreeMap::new();
        for ((path, class), [number, _]) in printed_objects(run) {
            made.entry((path.rsplit('/').next().unwrap().to_owned(), class)).or_default()[0] += number;
        }
        assert_eq!(objects(&profile, false), made);
        return profile;
    }
    let found = contexts(&profile);
    assert!(found.keys().eq(expected.keys()), "{:?}, not {:?}", found.keys(), expected.keys());
    for (path, mut figures) in expected {
        let found = found[&path];
        // A double does not have all the digits of these squares.
        let [squares, expected] = [found[11], figures[11]].map(f64::from_bits);
        assert!((squares - expected).abs() <= expected * 1e-9, "{path}: {squares}, not {expected}");
        figures[11] = found[11];
        assert_eq!(found, figures, "{path}");
    }
    let made = printed_objects(run);
    assert!(made.len() > 100, "{} kinds of objects", made.len());
    let found = objects(&profile, true);
    for (key, figures) in &made {
        assert_eq!(found.get(key), Some(figures), "{key:?}");
    }
    assert_eq!(found.len(), made.len());
    profile
}

#[test]
fn every_figure_of_random_calls_is_exact() {
    for_each(|jvm, flags| {
        for seed in ["1", "2"] {
            assert_agrees(jvm, &run(jvm, &["calls", seed, "20000"], flags));
        }
    });
}

/// The time of pauses is in no call, and calls that begin in one are not there.
#[test]
fn every_figure_of_random_calls_with_pauses_is_exact() {
    for_each(|jvm, flags| {
        for seed in ["3", "4"] {
            let profile = assert_agrees(jvm, &run(jvm, &["pauses", seed, "20000"], flags));
            assert!(profile.pauses.len() > 100, "{}", profile.pauses.len());
        }
    });
}

/// Threads that ended, with calls that nobody ended, are in sums, and nothing is lost on the way.
#[test]
fn every_figure_of_ended_threads_is_exact() {
    for_each(|jvm, flags| {
        let flags = [flags, &["-Dinstrument.keep-threads=0"]].concat();
        let profile = assert_agrees(jvm, &run(jvm, &["threads", "5", "100", "200"], &flags));
        let ended = profile.threads.iter().filter_map(|thread| match thread.kind {
            ThreadKind::Ended(number) => Some(number),
            ThreadKind::Thread => None,
        });
        assert!(jvm.record == Some("trace") || ended.sum::<u64>() > 50);
        // Also of the last one, which no other thread has seen end.
        for thread in profile.threads.iter().filter(|thread| thread.kind == ThreadKind::Thread) {
            assert!(thread.end >= thread.start.max(thread.last_event) && thread.start > 0, "{}", thread.name);
        }
    });
}

/// The calls of a method that took longest: ns, whether they failed, and entries, exits and ns of what they called, by path.
type Worst = Vec<(u64, bool, BTreeMap<String, [u64; 3]>)>;

/// All that the program has logged of such calls, the longest first.
fn logged(run: &Run) -> Worst {
    let call = |line: &str| {
        let mut words = line.split(' ');
        let (ns, failed) = (words.next()?.parse().ok()?, words.next()? == "true");
        let figures = |word: &str| {
            let (path, figures) = word.split_once('=').unwrap();
            let figures: Vec<u64> = figures.split(':').map(|figure| figure.parse().unwrap()).collect();
            (path.to_owned(), figures.try_into().unwrap())
        };
        Some((ns, failed, words.map(figures).collect()))
    };
    let mut calls: Worst = run.stdout.lines().filter_map(|line| call(line.strip_prefix("worst ")?)).collect();
    calls.sort_by_key(|call| std::cmp::Reverse(call.0));
    calls
}

/// The same in a profile.
fn kept(calls: &[instrument_trace::WorstCall]) -> Worst {
    let call = |call: &instrument_trace::WorstCall| {
        let mut paths = vec![String::new()];
        let mut figures = BTreeMap::new();
        for (i, node) in call.tree.nodes.iter().enumerate() {
            let TreeConsumer::Method(id) = node.consumer else { panic!("{node:?}") };
            let path = if i == 0 { String::new() } else { format!("{}/{id}", paths[node.parent as usize]) };
            figures.insert(path.clone(), [node.entries, node.closes.exits, node.ns]);
            paths.push(path);
        }
        (call.ns, call.has_failed, figures)
    };
    let mut calls: Worst = calls.iter().map(call).collect();
    calls.sort_by_key(|call| std::cmp::Reverse(call.0));
    calls
}

/// A call is marked if one below it was too deep, and only then, whatever its thread does besides.
#[test]
fn only_calls_with_others_past_the_limit_of_depth_are_marked() {
    trees(|jvm| {
        let options = ["-Dinstrument.timing=all", "-Dinstrument.depth=12"];
        let run = run(jvm, &["worst", "2", "20000", "4"], &options);
        let (logged, profile) = (logged(&run), profile(&run));
        let all = profile.drawn_calls.iter().chain(&profile.worst_calls);
        let (marked, whole): (Vec<_>, Vec<_>) = all.cloned().partition(|call| call.is_part);
        assert!(marked.len() > 5 && whole.len() > 5, "{} {}", marked.len(), whole.len());
        assert!(kept(&whole).iter().all(|call| logged.contains(call)));
        assert!(kept(&marked).iter().all(|call| !logged.contains(call)), "nothing is unknown of these");
    });
}

/// Of a method whose durations are kept the longest calls have all that they did, however these end, and nothing else.
#[test]
fn the_worst_of_random_calls_are_exact() {
    trees(|jvm| {
        // Of the one that is called by others and by itself, and of one that is deep, with pauses.
        for (seed, method) in [("1", "1"), ("2", "4"), ("3", "71")] {
            let run = run(jvm, &["worst", seed, "20000", method], &["-Dinstrument.timing=all"]);
            let (logged, profile) = (logged(&run), profile(&run));
            let mut all = profile.drawn_calls.iter().chain(&profile.worst_calls);
            assert!(all.all(|call| !call.is_part));
            let (kept, drawn) = (kept(&profile.worst_calls), kept(&profile.drawn_calls));
            assert!(logged.len() > 30, "{}", logged.len());
            assert_eq!(kept.len(), 10);
            assert_eq!(kept, logged[..10], "seed {seed}");
            assert!(kept.iter().any(|(_, _, did)| did.len() > 5));
            // Those that were drawn are as they were, some of them long and some short.
            assert_eq!(drawn.len(), logged.len().min(50));
            let places: Vec<usize> =
                drawn.iter().map(|call| logged.iter().position(|other| other == call).unwrap()).collect();
            let (least, most) = (places.iter().min().unwrap(), places.iter().max().unwrap());
            assert!(*least < logged.len() / 4 && *most >= logged.len() / 2, "{places:?}");
        }
    });
}

/// CPU time passes half as fast as time.
#[test]
fn cpu_time_is_exact() {
    trees(|jvm| {
        for args in [&["calls", "6", "20000"][..], &["threads", "7", "100", "200"]] {
            // With one compiler alone this takes ten times as long.
            let flags = ["-Dinstrument.cpu=true", "-Dinstrument.keep-threads=0", "-XX:TieredStopAtLevel=4"];
            let profile = assert_agrees(jvm, &run(jvm, args, &flags));
            for (path, node) in profile.threads.iter().flat_map(paths) {
                assert_eq!((node.cpu_ns, node.ns % 2), (node.ns / 2, 0), "{path}: {node:?}");
            }
        }
    });
}

/// The only context of this path.
fn node(profile: &Profile, path: &str) -> TreeNode {
    let nodes = profile.threads.iter().flat_map(paths).filter(|(found, _)| found == path);
    let [(_, node)] = nodes.collect::<Vec<_>>()[..] else { panic!("not one context {path}") };
    node
}

/// A call that is timed stands for those before it that are not: where calls take the same time, the sums are those of all.
#[test]
fn estimates_of_calls_of_one_length_are_exact() {
    trees(|jvm| {
        for (timing, calls, length, least, most) in [
            ("auto", 64_000, 100, 900, 2000),
            ("auto", 64_000, 130, 900, 2000),
            // Long calls are all timed.
            ("auto", 4000, 10_000, 4000, 4000),
            ("auto", 4000, 3000, 1000, 2500),
            ("every:60", 64_000, 100, 900, 1300),
        ] {
            let timing = format!("-Dinstrument.timing={timing}");
            let args = ["sampled", &calls.to_string(), &length.to_string()];
            let node = node(&profile(&run(jvm, &args, &[&timing])), "1/2");
            assert_eq!((node.entries, node.closes.exits), (calls, calls));
            assert!((least..=most).contains(&node.timed), "{timing}, {length} ns: {}", node.timed);
            let all = 16 * 100 + (calls - 16) * length;
            assert_eq!((node.ns, node.min, node.max), (all, 100, length), "{timing}");
            let squares = (16 * 100 * 100 + (calls - 16) * length * length) as f64;
            assert!((node.sum_squares / squares - 1.0).abs() < 1e-6, "{timing}: {node:?}, not {squares}");
        }
    });
}

/// The calls after the last one that was timed have their time, too.
#[test]
fn estimates_of_ended_threads_are_exact() {
    trees(|jvm| {
        for (calls, length) in [(1000, 100), (1000, 130), (20, 100)] {
            let args = ["sampled-threads", "100", &calls.to_string(), &length.to_string()];
            let flags = ["-Dinstrument.timing=auto", "-Dinstrument.keep-threads=0"];
            let profile = profile(&run(jvm, &args, &flags));
            let ended = |thread: &&Thread| matches!(thread.kind, ThreadKind::Ended(number) if number > 50);
            let [sum] = profile.threads.iter().filter(ended).collect::<Vec<_>>()[..] else {
                panic!("{:?}", profile.threads)
            };
            let ThreadKind::Ended(threads) = sum.kind else { unreachable!() };
            let (_, node) = paths(sum).into_iter().find(|(path, _)| path == "1/2").unwrap();
            assert_eq!(node.entries, threads * calls);
            assert!(node.timed < node.entries, "{node:?}");
            if length == 100 {
                assert_eq!((node.ns, node.min, node.max), (node.entries * 100, 100, 100));
                // How much calls differ of which none was timed is not known: the most that is likely.
                let squares = (node.entries * 100 * 100) as f64;
                assert!(node.sum_squares >= squares && node.sum_squares <= 2.0 * squares, "{node:?}");
            } else {
                assert!(node.ns > node.entries * 100 && node.ns < node.entries * 130, "{node:?}");
            }
        }
    });
}

/// Contexts with few calls need no times of their own: those of the method's other contexts stand for them.
#[test]
fn a_method_of_many_contexts_is_rarely_timed() {
    trees(|jvm| {
        let profile = profile(&run(jvm, &["contexts", "4000"], &["-Dinstrument.timing=auto"]));
        let nodes: Vec<_> =
            profile.threads.iter().flat_map(paths).filter(|(path, _)| path.ends_with("/2")).collect();
        assert_eq!((nodes.len(), nodes.iter().map(|(_, node)| node.entries).sum::<u64>()), (4000, 6000));
        assert!(nodes.iter().all(|(_, node)| node.ns == 2000 * node.entries));
        let timed: u64 = nodes.iter().map(|(_, node)| node.timed).sum();
        assert!((500..2500).contains(&timed), "{timed} calls were timed");
        let untimed: Vec<_> = nodes.iter().filter(|(_, node)| node.timed == 0).collect();
        assert!(untimed.len() > 1000);
        assert!(untimed.iter().all(|(_, node)| node.min == NO_MIN));
    });
}

/// What an estimate may be off by follows from how much the calls differ that were timed: about n · 100 ns for each that stands for n.
#[test]
fn estimates_are_off_by_as_much_as_they_say() {
    trees(|jvm| {
        let run = run(jvm, &["mixed", "8", "64000"], &["-Dinstrument.timing=auto"]);
        let node = node(&profile(&run), "1/2");
        let sum: f64 =
            run.stdout.lines().find_map(|line| line.strip_prefix("sum ")).unwrap().parse().unwrap();
        let (off, said) = ((node.ns as f64 - sum).abs(), node.variance.sqrt());
        let expected = 100.0 * node.entries as f64 / (node.timed as f64).sqrt();
        assert!(
            off < 4.0 * said && said > 0.5 * expected && said < 2.0 * expected,
            "{off}, {said}, {expected}"
        );
    });
}

/// The same of calls of threads that ended, none of which was timed: of calls of 2 us one in 5 is, on average, so the first may be any of 9.
#[test]
fn estimates_of_ended_threads_are_off_by_as_much_as_they_say() {
    trees(|jvm| {
        let flags = ["-Dinstrument.timing=auto", "-Dinstrument.keep-threads=0"];
        let profile = profile(&run(jvm, &["contexts-ended", "400"], &flags));
        let ended = profile.threads.iter().filter(|thread| matches!(thread.kind, ThreadKind::Ended(_)));
        let nodes = ended.flat_map(paths).filter(|(path, node)| path.ends_with("/2") && node.timed == 0);
        let untimed: Vec<_> = nodes.collect();
        assert!(untimed.len() > 100, "{}", untimed.len());
        for (path, node) in untimed {
            assert_eq!(node.ns, 2000 * node.entries, "{path}");
            let expected = node.entries as f64 * 2000.0 * 2000.0 * 9.0;
            assert!((node.variance - expected).abs() < 1.0, "{path}: {node:?}");
        }
    });
}

#[test]
fn passages_of_regions_are_exact() {
    for_each(|jvm, flags| {
        let profile = profile(&run(jvm, &["regions"], flags));
        let [region] = &profile.regions[..] else { panic!("{:?}", profile.regions) };
        assert_eq!(
            (region.passages, region.ns, region.min, region.max, region.left_otherwise),
            (2, 25, 10, 15, 1)
        );
    });
}

/// A thread knows the context that started it, the last one that was about to, however many threads came and went; a number of a link is
/// that of no other context while there is one that has it.
#[test]
fn threads_know_who_started_them_last() {
    for_each(|jvm, flags| {
        if jvm.record == Some("counts") {
            return;
        }
        let flags = [flags, &["-Dinstrument.keep-threads=0"]].concat();
        let profile = profile(&run(jvm, &["links", "60"], &flags));
        let main = profile.threads.iter().find(|thread| thread.name == "main").unwrap();
        let contexts = paths(main);
        for (name, expected) in [("last", "1"), ("twice", "2")] {
            let thread = profile.threads.iter().find(|thread| thread.name == name);
            let thread = thread.unwrap_or_else(|| panic!("no {name}: {:?}", profile.threads));
            let link = profile.links.iter().find(|link| link.number == thread.link);
            let link = link.unwrap_or_else(|| panic!("{} is not among {:?}", thread.link, profile.links));
            assert_eq!(link.thread, main.ordinal, "{name}");
            assert_eq!(contexts[link.node as usize - 1].0, expected, "{name}: {link:?}");
        }
    });
}

/// Where each reading of the clock takes 10 ns and nothing else takes any, a pair of probes costs two readings, one of which is inside.
#[test]
fn calibration_finds_what_the_readings_of_the_clock_take() {
    for_each(|jvm, flags| {
        if jvm.record == Some("counts") {
            return;
        }
        let flags = [flags, &["-Dinstrument.calibrate=20", "-Dtimed.step=10"]].concat();
        let calibration = profile(&run(jvm, &["sampled", "1000", "100"], &flags)).calibration().unwrap();
        let near = |ns: f64, expected: f64| (ns - expected).abs() < expected / 50.0;
        let (inner, outer) = (calibration.inner, calibration.outer);
        assert!(near(inner, 10.0) && near(outer, 10.0), "{calibration:?}");
        assert!(calibration.clock.is_some_and(|clock| near(clock, 10.0)), "{calibration:?}");
        assert!(calibration.is_sufficient() && calibration.least_rounds >= Some(20), "{calibration:?}");
    });
}

/// Constructors whose super() failed are closed when 64 have piled up and none of them is on the stack; the one that is being entered goes on.
#[test]
fn constructors_that_pile_up_are_closed_together() {
    for_each(|jvm, flags| {
        let profile = profile(&run(jvm, &["failing", "1000"], flags));
        let method = &profile.threads[0].methods[&5];
        assert_eq!((method.entries, method.closes.aborted, method.open), (1000, 960, 40));
    });
}

/// Where there is no room for the sums of ended threads, what was not moved stays where it is: no event is there twice, and none is missing.
#[test]
fn no_event_is_counted_twice_or_lost_where_there_is_no_room() {
    for_each(|jvm, flags| {
        for limit in ["100k", "130k", "160k", "190k"] {
            let limit = format!("-Dinstrument.limit={limit}");
            let flags = [flags, &["-Dinstrument.keep-threads=0", &limit]].concat();
            let run = run(jvm, &["strangers", "300"], &flags);
            let data = std::fs::read(run.profile_path()).unwrap();
            let mut profile = Profile::parse(&data).unwrap();
            replay::profile(&&data[..], &mut profile).unwrap();
            assert_eq!((&profile.damage[..], profile.imbalances()), (&[][..], vec![]));
            let dropped = profile.dropped + profile.threads.iter().map(|thread| thread.dropped).sum::<u64>();
            let methods = profile.threads.iter().flat_map(|thread| thread.methods.values());
            let recorded: u64 = methods.map(|method| method.entries + method.closes.exits).sum();
            println!("{limit}: {recorded} {dropped} {} {}", profile.threads.len(), profile.dropped);
            assert!(dropped > 0, "{limit}");
            assert_eq!(recorded + dropped, 300 * 122, "{limit}");
        }
    });
}
