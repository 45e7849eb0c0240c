//! Times of remote calls in a merged tree, each figure known exactly: stages, parts, and what does not fit.

use instrument_analysis::load::{Options, Process, load};
use instrument_analysis::merge::{Merged, Party, Stages, View, match_calls, tree};
use instrument_analysis::{Kind, NodeId};
use instrument_testing::{Script, Writer};
use instrument_trace::{LinkKind, Profile, RemoteCall, RemoteCallKind};

use crate::common::trees::{
    Call, REMOTE, column, default, file, lines, link, linked, made, merged, merged_within, record, serve,
    served, written,
};

/// A client whose methods 1, 2, .. take so long, and make a call each that takes so long.
fn a_client(calls: &[(u64, u64)]) -> Vec<u8> {
    let (mut script, mut records, mut contexts) = (Script::new(1000), Vec::new(), Vec::new());
    for (id, &(wall, ns)) in (1..).zip(calls) {
        let begin = script.now;
        script = script.call(id, |s| s.wait(wall));
        contexts.push((0, Some(id)));
        records.push(made(id as i16, id, begin, ns));
    }
    file(&[("main", script)], &contexts, &records)
}

/// A server of calls 1, 2, .., which take so long, each under a frame of its own; its contexts take as much, or more.
fn a_server(calls: &[(u64, u64)]) -> Vec<u8> {
    let (mut script, mut records) = (Script::new(1000), Vec::new());
    let mut links = Vec::new();
    for (id, &(ns, in_tree)) in (1..).zip(calls) {
        records.push(record(&served(id as i16, id, script.now, ns)));
        script = serve(script, id, in_tree);
        links.push(link(id, LinkKind::Served, 0, 0));
    }
    linked(&[("rmi", script)], &[], &records, &links)
}

#[test]
fn a_caller_gives_what_it_has_and_what_lacks_is_said() {
    let short = |contexts, time| {
        vec![format!(
            "{contexts} contexts have less time than the remote calls that they made, by {time} in all"
        )]
    };
    // Of each call: what the caller has, what the call took there, what it took at the server, and what the server's contexts have.
    for (calls, left, remarks) in [
        (&[(80, 80, 80, 80)][..], &["3 m1 1 0"][..], vec![]),
        (&[(80, 80, 80, 110)], &["3 m1 1 0"], short(1, "30 ns")),
        // The cost of probes is taken out of one side alone: 999 ns say nothing.
        (&[(680, 1679, 80, 80)], &["3 m1 1 0"], vec![]),
        (&[(680, 1680, 80, 80)], &["3 m1 1 0"], short(1, "1.000 us")),
        (
            &[(680, 1780, 80, 80), (70, 70, 70, 95), (50, 40, 30, 30)],
            &["3 m1 1 0", "3 m2 1 0", "3 m3 1 10"],
            short(2, "1.125 us"),
        ),
        (
            &[(70, 70, 70, 95), (60, 60, 60, 77), (680, 1780, 80, 80)],
            &["3 m1 1 0", "3 m2 1 0", "3 m3 1 0"],
            short(3, "1.142 us"),
        ),
    ] {
        let client = a_client(&calls.iter().map(|call| (call.0, call.1)).collect::<Vec<_>>());
        let server = a_server(&calls.iter().map(|call| (call.2, call.3)).collect::<Vec<_>>());
        let merged = merged(&[client, server], default);
        let of_client: Vec<_> =
            lines(&merged.model).into_iter().filter(|line| line.starts_with("3 ")).collect();
        assert_eq!(
            (&of_client[..], &merged.remarks),
            (&left.iter().map(|line| line.to_string()).collect::<Vec<_>>()[..], &remarks)
        );
    }
}

/// Three of seven calls are whole: of the others a moment is not known, or is before one that came earlier.
#[test]
fn stages_are_those_of_calls_that_are_known_in_full() {
    type Times = [u64; 4];
    let calls: [(Times, Times); 7] = [
        ([1000, 1010, 1090, 1107], [500, 503, 547, 552]),
        // The server's clock is slower: the network took less than no time.
        ([3000, 3020, 3030, 3035], [700, 707, 736, 738]),
        ([4000, 4000, 4000, 4000], [800, 800, 800, 800]),
        ([5000, 5020, 0, 5035], [900, 907, 936, 938]),
        ([6000, 6020, 6030, 6035], [910, 0, 936, 938]),
        ([7000, 7030, 7020, 7035], [920, 921, 922, 938]),
        ([8000, 8020, 8030, 8035], [930, 935, 933, 938]),
    ];
    let records = |kind: RemoteCallKind| {
        let of = |(id, (made, served)): (i16, &(Times, Times))| {
            let [begin, sent, returned, end] = if kind == RemoteCallKind::Made { *made } else { *served };
            RemoteCall { begin, sent, returned, end, ..record(&Call { kind, ..self::made(id, 0, 0, 1) }) }
        };
        (1..).zip(&calls).map(of).collect::<Vec<_>>()
    };
    let client = linked(&[("main", Script::new(1000))], &[], &records(RemoteCallKind::Made), &[]);
    let server = linked(&[("rmi", Script::new(1000))], &[], &records(RemoteCallKind::Served), &[]);
    let stages = merged(&[client, server], default).stages;
    let expected = Stages {
        calls: 3,
        client: 107 + 35,
        server: 52 + 38,
        marshalling: 10 + 20,
        network: (80 - 47) + (10 - 36),
        unmarshalling: 3 + 7,
        service: 44 + 29,
        returning: 17 + 5,
    };
    assert_eq!(stages.into_iter().collect::<Vec<_>>(), [((0, 1), expected)]);
}

/// A call without an end went on until the last moment that is known of its process.
#[test]
fn a_call_without_an_end_goes_on_until_the_last_known_moment() {
    for (last_event, beat, shutdown) in
        [(1900, 1500, 1700), (1500, 1900, 1700), (1500, 1700, 1900), (1900, 0, 0)]
    {
        let mut writer = Writer::new();
        writer.clocks(beat, shutdown);
        writer.tree("first", &Script::new(1000).call(1, |s| s.wait(last_event - 1000)));
        writer.tree("second", &Script::new(1000).call(1, |s| s.wait(100)));
        writer.contexts(1, &[(0, Some(1))]);
        let open = RemoteCall { end: 0, returned: 0, ..record(&made(1, 1, 1150, 10)) };
        writer.remote_calls(&[Some(open)]);
        let merged = merged(&[writer.finish()], default);
        assert_eq!(column(&merged, "remote"), 750.0, "{last_event} {beat} {shutdown}");
    }
}

/// Calls stand in a file in the order in which they ended or began: what was made within which is known by their times.
#[test]
fn the_order_of_records_says_nothing() {
    let client = a_client(&[(100, 100), (100, 100)]);
    let script = serve(serve(Script::new(1000), 1, 45), 2, 65);
    let first = [served(1, 1, 1000, 45), made(11, 1, 1020, 15)];
    let second = [served(2, 2, 1045, 65), made(12, 1, 1070, 25)];
    let script_of_last = serve(serve(Script::new(1000), 1, 34), 2, 36);
    let last = file(&[("rmi", script_of_last)], &[], &[served(11, 1, 1000, 15), served(12, 2, 1045, 25)]);
    let told = |calls: &[Call]| {
        let middle = file(&[("rmi", script.clone())], &[(0, Some(5))], calls);
        lines(&merged(&[client.clone(), middle, last.clone()], default).model)
    };
    let in_order = told(&[first, second].concat());
    assert_eq!(in_order.iter().filter(|line| line.contains("P2")).count(), 2, "{in_order:?}");
    assert_eq!(told(&[second, first].concat()), in_order);
    let [served_first, made_first] = first;
    let [served_second, made_second] = second;
    assert_eq!(told(&[made_second, served_second, made_first, served_first]), in_order);
}

/// Of four calls of a frame two have records: those have 40 and 80 of 240 ns, one for each call besides, the others half of all.
#[test]
fn calls_without_records_have_their_part_of_a_frame() {
    let script = Script::new(1000).times(4, |s| serve(s, 1, 50));
    let server = file(&[("rmi", script)], &[], &[served(1, 1, 1000, 39), served(2, 1, 1050, 79)]);
    let client = a_client(&[(100, 100), (100, 100)]);
    let of_frame =
        |lines: &[String]| lines.iter().filter(|line| line.contains("m5")).cloned().collect::<Vec<_>>();
    let all = merged(&[client.clone(), server.clone()], |_| View::default());
    let all = lines(&all.model);
    assert_eq!(of_frame(&all), ["6 m5 1 20", "6 m5 1 40", "3 m5 2 60"]);
    assert!(all.contains(&"2 (remote calls) 2 40".to_owned()), "{all:?}");
    // The server's own view has the same parts, and a call of which nothing is known has none of them.
    let own = merged(&[server, client], |_| View { roots: vec![0], is_server: true, internals: false });
    let expected =
        ["1 P0 1 0", "2 (remote calls) 2 40", "3 m5 2 60", "2 for P1 (estimated) 2 40", "3 m5 2 60"];
    assert_eq!(lines(&own.model), expected);
}

/// Two callers of what one frame did: of what that called in turn each has its own.
#[test]
fn calls_of_a_frame_that_is_split_are_each_callers_own() {
    let script = serve(serve(Script::new(1000), 1, 45), 1, 65);
    let calls = [
        served(1, 1, 1000, 45),
        made(11, 1, 1020, 11),
        served(2, 1, 1045, 65),
        made(12, 1, 1070, 17),
        made(13, 1, 1090, 3),
    ];
    let middle = file(&[("rmi", script)], &[(0, Some(5))], &calls);
    let merged = merged(&[a_client(&[(100, 100), (100, 100)]), middle], default);
    let remote: Vec<_> = lines(&merged.model).into_iter().filter(|line| line.contains(REMOTE)).collect();
    let expected = ["4 R 1 55", "7 R 1 11", "4 R 1 35", "7 R 2 20"].map(|line| line.replace('R', REMOTE));
    assert_eq!(remote, expected);
}

/// What is beyond the limit of nodes is told as a total: its time is that of its server, and what it called within is not told.
#[test]
fn beyond_the_limit_what_was_served_is_a_total() {
    let client = a_client(&[(100, 100), (120, 110)]);
    let script = Script::new(1000).enter_link(1).wait(10).call(5, |s| s.wait(60).make(1, 8).make(1, 8));
    let script = script.wait(10).leave_link(1).call(7, |s| s.wait(90));
    let links = [link(1, LinkKind::Served, 0, 0)];
    let calls =
        [served(1, 1, 1000, 80), made(11, 1, 1020, 30), served(2, 0, 1080, 90), made(12, 2, 1100, 50)];
    let calls = calls.map(|call| record(&call));
    let server = linked(&[("rmi", script)], &[(0, Some(5)), (0, Some(7))], &calls, &links);
    let files = [client, server];
    let of = |most| {
        let merged = merged_within(most, &files, default, false, &|_| true);
        // A total is one of all figures.
        assert_eq!(column(&merged, "allocations"), 2.0);
        let figures = ["wall-raw", "remote", "remote-calls"].map(|name| column(&merged, name));
        (lines(&merged.model), figures, merged.remarks)
    };
    let told = |first: &[&str], second: &[&str]| {
        let all = [&["1 P0 1 0", "2 main 1 0", "3 m1 1 0", "4 R 1 20"], first, second].concat();
        all.into_iter().map(|line| line.replace('R', REMOTE)).collect::<Vec<_>>()
    };
    let full = |most, paths| {
        let paths = format!("{paths} call paths to remote calls are shown as totals");
        vec![format!("the tree has its limit of {most} nodes; {paths}")]
    };
    let first = ["5 P1 1 20", "6 m5 1 30", "7 R 1 30"];
    let second = ["3 m2 1 10", "4 R 1 20", "5 P1 1 40", "6 R 1 50"];
    for most in [usize::MAX, 10] {
        assert_eq!(of(most), (told(&first, &second), [220.0, 210.0, 4.0], vec![]));
    }
    // The second remote call is the tenth node, with the root, and the first one the fifth.
    let total = ["3 m2 1 10", "4 R 1 20", "5 P1 1 90"];
    for most in [9, 5] {
        assert_eq!(of(most), (told(&first, &total), [220.0, 210.0, 3.0], full(most, 1)));
    }
    assert_eq!(of(4), (told(&["5 P1 1 80"], &total), [220.0, 210.0, 2.0], full(4, 2)));
}

/// Profiles whose times are corrected: the times as measured are taken from callers just so.
#[test]
fn times_as_measured_are_taken_from_callers_as_well() {
    let more = |writer: &mut Writer| {
        writer.calibrated(1.0, 2.0);
    };
    let main = Script::new(1000).call(1, |s| s.wait(500)).call(2, |s| s.wait(700));
    let calls = [made(1, 1, 1000, 430), made(2, 2, 1500, 620)].map(|call| record(&call));
    let client = written(&[("main", main)], &[(0, Some(1)), (0, Some(2))], &calls, &[], more);
    let script = serve(serve(Script::new(1000), 1, 400), 2, 600);
    let links = [1, 2].map(|number| link(number, LinkKind::Served, 0, 0));
    let calls = [served(1, 1, 1000, 400), served(2, 2, 1400, 600)].map(|call| record(&call));
    let server = written(&[("rmi", script)], &[], &calls, &links, more);
    let merged = merged(&[client, server], default);
    let all = lines(&merged.model);
    let of_client: Vec<_> = all.iter().filter(|line| line.starts_with("3 ")).collect();
    assert_eq!(of_client, ["3 m1 1 70", "3 m2 1 80"]);
}

/// A method whose calls wait, and one of the same name whose calls do not: of what a remote call leaves, the waiting stays.
#[test]
fn what_is_left_of_a_caller_runs_but_for_its_waiting() {
    let script = Script::new(1000).call(2, |s| s.wait(30)).call(12, |s| s.wait(150));
    let client = file(&[("main", script)], &[(0, Some(12))], &[made(1, 1, 1040, 100)]);
    let files = [client, a_server(&[(80, 80)])];
    let mut profiles: Vec<_> = files.iter().map(|file| Profile::parse(file).unwrap()).collect();
    let names = |_, id: u32| format!("m{}", id % 10);
    let labels = ["P0", "P1"].map(str::to_owned);
    let of =
        |(profile, label)| Process { blocks: Some(&|_, id| id == 2), ..Process::new(profile, label, &names) };
    let mut processes: Vec<_> = profiles.iter_mut().zip(labels.iter().cloned()).map(of).collect();
    let loaded = load(&mut processes, &Options { apart: true, ..Options::default() });
    drop(processes);
    let parties: Vec<_> =
        profiles.iter().zip(&files).map(|(profile, source)| Party { profile, source }).collect();
    let matching = match_calls(&parties).unwrap();
    let Merged { model, .. } = tree(&parties, &matching, &loaded, &labels, &View::default()).unwrap();
    let columns = ["wall-raw", "running-raw", "waiting-raw"].map(|name| model.resource(name).unwrap());
    let caller = model
        .ids()
        .find(|&id| model.node(id).kind == Kind::Method && model.name(model.node(id).consumer) == "m2");
    let figures = |id: NodeId| columns.map(|column| model.base(id)[column]);
    assert_eq!(caller.map(figures), Some([80.0, 50.0, 30.0]));
}
