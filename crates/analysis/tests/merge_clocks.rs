//! By how much the clocks of processes that call each other differ.

use crate::common::machines::{BASE, HOUR, Machine, call, chain, with};
use RemoteCallKind::{Made, Served};
use instrument_analysis::merge::offsets::Placed;
use instrument_analysis::merge::{AllStages, Nesting, Numbers, Offsets, Party, match_calls};
use instrument_analysis::report::{Format, matching};
use instrument_trace::{Profile, RemoteCall, RemoteCallKind};

#[test]
fn calls_bound_the_difference_of_clocks() {
    for (one, other) in [(0, 0), (HOUR as i64, -(HOUR as i64)), (-77, 123_456_789)] {
        let mut machines = chain();
        (machines[1].ahead, machines[2].ahead) = (one, other);
        with(&machines, |remote| {
            let all = &remote.offsets.all;
            assert_eq!((all[0].ns, all[0].uncertainty, all[0].placed), (0, Some(0), Placed::Root));
            // Sent 1,000 ns before it came there, and back 900 ns after it left.
            assert_eq!(
                (all[1].ns, all[1].uncertainty, all[1].placed),
                (one + 50, Some(950), Placed::Calls(0))
            );
            assert_eq!((all[2].ns, all[2].uncertainty), (other + 50, Some(1950)));
            assert_eq!(all[2].placed, Placed::Calls(1));
            assert!(all.iter().all(|offset| !offset.is_drifting));
        });
    }
}

#[test]
fn the_way_with_the_smallest_uncertainty_is_taken() {
    let mut machines = chain();
    // A call from the first to the last that took long on its way, and one that tells more than all others.
    machines[0].calls.push(call(Made, 90, 1, 1, [50_000, 50_100, 80_000, 80_100]));
    machines[2].calls.push(call(Served, 90, 2, 1, [60_000, 60_100, 61_000, 61_100]));
    with(&machines, |remote| assert_eq!(remote.offsets.all[2].placed, Placed::Calls(1)));
    machines[0].calls.push(call(Made, 91, 1, 1, [90_000, 90_010, 90_090, 90_100]));
    machines[2].calls.push(call(Served, 91, 2, 1, [90_020, 90_030, 90_070, 90_080]));
    with(&machines, |remote| {
        let all = &remote.offsets.all;
        assert_eq!((all[2].placed, all[2].uncertainty), (Placed::Calls(0), Some(20)));
        assert_eq!((all[1].placed, all[1].uncertainty), (Placed::Calls(0), Some(950)));
    });
}

#[test]
fn a_damaged_record_says_nothing_of_clocks() {
    let mut machines = chain();
    let damaged = &mut machines[1].calls[0];
    (damaged.returned, damaged.end) = (damaged.returned | 1 << 50, damaged.end | 1 << 50);
    with(&machines, |remote| {
        let offset = remote.offsets.all[1];
        assert_eq!((offset.ns, offset.uncertainty, offset.is_drifting), (50, Some(950), false));
    });
}

#[test]
fn a_profile_that_goes_on_while_it_is_read_is_an_error() {
    let mut machines = chain();
    let before = machines[0].file(1);
    machines[0].calls.pop();
    let fewer = machines[0].file(1);
    for (first, then) in [(&before, &fewer), (&fewer, &before)] {
        let profiles = [first, then].map(|file| Profile::parse(file).unwrap());
        let matching = match_calls(&[Party { profile: &profiles[0], source: first }]).unwrap();
        let parties = [Party { profile: &profiles[1], source: then }];
        let error = Nesting::new(&parties, &matching).unwrap_err();
        assert!(error.to_string().contains("changed while they were read"), "{error}");
        assert!(Offsets::new(&parties, &matching, 0).is_err());
    }
}

#[test]
fn who_calls_nobody_is_placed_by_the_time_of_day() {
    let mut machines = chain();
    let start_ms = machines[0].start_ms + 250;
    machines.push(Machine { ahead: -(HOUR as i64), start_ms, ..Machine::default() });
    with(&machines, |remote| {
        let last = remote.offsets.all[3];
        assert_eq!((last.placed, last.uncertainty), (Placed::Start, None));
        // Its clock was at the base, less an hour, 250 ms after the first one's was at the base.
        let start = remote.offsets.to_root(3, BASE - HOUR);
        assert_eq!(start, i128::from(BASE) + 250_000_000);
        assert_eq!(remote.offsets.time_of_day(start), start_ms * 1_000_000);
    });
}

/// How each clock is known, in the words of the report, in text and JSON.
#[test]
fn how_sure_a_clock_is_stands_in_the_report() {
    let mut machines = chain();
    let start_ms = machines[0].start_ms + 250;
    machines.push(Machine { ahead: -(HOUR as i64), start_ms, ..Machine::default() });
    let rows = |machines: &[Machine]| {
        with(machines, |remote| {
            let numbers = Numbers::of(remote.matching);
            let (mut text, stages) = (Vec::new(), AllStages::default());
            matching::write(&mut text, remote.names, &numbers, &stages, remote.offsets, Format::Text)
                .unwrap();
            let text = String::from_utf8(text).unwrap();
            let clocks = text[text.find("known by").unwrap()..].to_owned();
            let json = matching::json(remote.names, &numbers, &stages, remote.offsets);
            let json = json["clocks"].as_array().unwrap().iter().map(|clock| {
                let word = clock["placed_by"].as_str().unwrap().to_owned();
                (word, clock["drifts"].as_bool().unwrap(), clock["uncertainty_ns"].as_u64())
            });
            (clocks, json.collect::<Vec<_>>())
        })
    };
    let known = |word: &str, drifts, uncertainty| (word.to_owned(), drifts, uncertainty);
    let (text, json) = rows(&machines);
    assert_eq!(json[0], known("root", false, Some(0)));
    assert!(json[1..3].iter().all(|clock| clock.0 == "calls" && !clock.1 && clock.2 > Some(0)), "{json:?}");
    assert_eq!(json[3], known("start", false, None));
    let ends = |text: &str, words: &[&str]| {
        let lines: Vec<_> = text.lines().skip(1).take(words.len()).collect();
        let fits = |(line, words): (&&str, &&str)| {
            line.split_whitespace().collect::<Vec<_>>().join(" ").ends_with(words)
        };
        assert!(lines.len() == words.len() && lines.iter().zip(words).all(fits), "{text}");
    };
    ends(
        &text,
        &["0 ns +-0 ns root P0", "+50 ns +-950 ns calls P1", "+50 ns +-1.950 us calls P2", "? start P3"],
    );
    assert!(!text.contains("drift"), "{text}");
    let late = &mut machines[2].calls[2];
    (late.begin, late.sent, late.returned, late.end) =
        (late.begin + 5000 - 900, late.sent + 5000 - 900, late.returned + 5900, late.end + 5900);
    let (text, json) = rows(&machines);
    assert!(json[2].1 && !json[1].1, "{json:?}");
    ends(&text, &["root P0", "calls P1", "calls (drifts) P2", "start P3"]);
    assert!(text.contains("\nclocks that drift fit at the moment of"), "{text}");
}

/// One call tells how far the server's clock is ahead at least, and another one how far at most; either may be the second process, and either
/// the one that the other is compared with.
#[test]
fn each_bound_may_come_from_another_call() {
    let of = |calls: &[RemoteCall]| Machine {
        threads: vec![("main", None)],
        calls: calls.to_vec(),
        ..Machine::default()
    };
    // What is not known is 0.
    let made = |serial, times| call(Made, serial, 1, 1, times);
    let served = |serial, times| call(Served, serial, 2, 1, times);
    let at_least =
        (made(1, [1000, 1010, 1090, 1100]), RemoteCall { begin: 0, ..served(1, [0, 1020, 1070, 1075]) });
    let at_most =
        (RemoteCall { returned: 0, ..made(2, [2000, 2010, 0, 2100]) }, served(2, [2050, 2060, 2070, 2075]));
    let both = (made(3, [3000, 3010, 3090, 3100]), served(3, [3000, 3020, 3090, 3095]));
    let placed = |calls: &[(RemoteCall, RemoteCall)], is_turned: bool, root: usize| {
        let client = of(&calls.iter().map(|call| call.0).collect::<Vec<_>>());
        let server = of(&calls.iter().map(|call| call.1).collect::<Vec<_>>());
        let machines = if is_turned { [server, client] } else { [client, server] };
        with(&machines, |remote| {
            let offset = Offsets::new(remote.parties, remote.matching, root).unwrap().all[1 - root];
            assert!(!offset.is_drifting);
            match offset.placed {
                Placed::Calls(by) => assert_eq!(by, root),
                placed => assert_eq!((placed, offset.uncertainty), (Placed::Start, None)),
            }
            offset.uncertainty.map(|uncertainty| (offset.ns, uncertainty))
        })
    };
    for (is_turned, root) in [(false, 0), (false, 1), (true, 0), (true, 1)] {
        let of = |calls: &[(RemoteCall, RemoteCall)]| placed(calls, is_turned, root);
        // The server's clock less the client's is from -20 to 50.
        let ahead = if is_turned == (root == 1) { 15 } else { -15 };
        assert_eq!(of(&[at_least, at_most]), Some((ahead, 35)), "{is_turned} {root}");
        // One bound is none.
        assert_eq!((of(&[at_least]), of(&[at_most])), (None, None), "{is_turned} {root}");
        // The call took no time there and back: the clocks are the same.
        assert_eq!(of(&[both]), Some((0, 0)), "{is_turned} {root}");
        assert_eq!(of(&[at_least, both, at_most]), Some((0, 0)), "{is_turned} {root}");
    }
}
