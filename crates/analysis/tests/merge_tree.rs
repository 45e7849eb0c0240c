//! The execution tree over several processes, from profiles that tests write.

use crate::common::trees::{
    Call, MISSING, REMOTE, a_client, column, default, file, lines, link, linked, made, merged, merged_of,
    merged_with, record, serve, served,
};
use instrument_analysis::merge::view::{View, roots};
use instrument_testing::Script;
use instrument_trace::{LinkKind, ObjId, RemoteCall, RemoteCallKind};

#[test]
fn what_was_served_stands_below_its_caller_whatever_the_clocks_say() {
    for start in [1000, 3_600_000_001_000] {
        let script = serve(Script::new(start).wait(5), 1, 80);
        let main = Script::new(start).call(8, |s| s.wait(500));
        let server = file(&[("rmi", script), ("main", main)], &[], &[served(1, 1, start + 5, 80)]);
        let files = [server, a_client(1000, false)];
        let tree = merged(&files, default);
        let expected = [
            "1 P1 1 0",
            "2 main 1 0",
            "3 m1 1 20",
            "4 m2 1 0",
            &format!("5 {REMOTE} 1 20"),
            "6 P0 1 20",
            "7 m5 1 60",
        ];
        assert_eq!(lines(&tree.model), expected, "{start}");
        assert!(tree.remarks.is_empty(), "{:?}", tree.remarks);
        let column = |name| column(&tree, name);
        assert_eq!(
            (column("wall-raw"), column("remote-calls"), column("remote"), column("network")),
            (120.0, 1.0, 100.0, 20.0)
        );
        // All of them: the server has what is left.
        let all = merged(&files, |_| View::default());
        let text = lines(&all.model).join("\n");
        assert!(text.contains("2 main 1 0\n3 m8 1 500"), "{text}");
        assert_eq!(text.matches("m5 1 60").count(), 1, "{text}");
        // The server's own view.
        let own = merged(&files, |_| View { roots: vec![0], is_server: true, internals: false });
        assert_eq!(lines(&own.model), ["1 P0 1 0", "2 main 1 0", "3 m8 1 500", "2 for P1 1 20", "3 m5 1 60"]);
        // Rooted at the server, what it did for others is not its own.
        let root = merged(&files, |_| View { roots: vec![0], ..View::default() });
        assert_eq!(lines(&root.model), ["1 P0 1 0", "2 main 1 0", "3 m8 1 500"]);
    }
}

#[test]
fn one_frame_for_two_callers_is_split_by_time_and_marked() {
    let script = serve(serve(Script::new(1000).wait(5), 1, 40).wait(5), 1, 120);
    let calls = [served(1, 1, 1005, 40), served(2, 1, 1050, 120)];
    let tree = merged(&[a_client(1000, true), file(&[("rmi", script)], &[], &calls)], default);
    let lines = lines(&tree.model);
    let at = |name: &str| lines.iter().filter(|line| line.contains(name)).cloned().collect::<Vec<_>>();
    assert_eq!(at("P1"), ["6 P1 (estimated) 1 10", "6 P1 (estimated) 1 30"]);
    assert_eq!(at("m5"), ["7 m5 1 30", "7 m5 1 90"]);
    // One of three calls took most of the time.
    let script = serve(serve(serve(Script::new(1000).wait(5), 1, 40).wait(5), 1, 40).wait(5), 1, 120);
    let calls = [served(1, 1, 1005, 40), served(2, 1, 1050, 40), served(3, 1, 1095, 120)];
    let client = Script::new(1000).enter(1).call(2, |s| s.wait(50)).call(2, |s| s.wait(50));
    let client = file(
        &[("main", client.call(3, |s| s.wait(200)).exit(1))],
        &[(0, Some(1)), (1, Some(2)), (1, Some(3))],
        &[made(1, 2, 1000, 50), made(2, 2, 1050, 50), made(3, 3, 1100, 200)],
    );
    let tree = merged(&[client, file(&[("rmi", script)], &[], &calls)], default);
    let lines = self::lines(&tree.model);
    let at = |name: &str| lines.iter().filter(|line| line.contains(name)).cloned().collect::<Vec<_>>();
    assert_eq!(at("m5"), ["7 m5 2 57", "7 m5 1 83"]);
    // A server under two frames, of which one has a part in another call, is one process.
    let script = serve(serve(serve(Script::new(1000).wait(5), 1, 40).wait(5), 2, 40).wait(5), 1, 120);
    let calls = [served(1, 1, 1005, 40), served(2, 2, 1050, 40), served(3, 1, 1095, 120)];
    let client = Script::new(1000).enter(1).call(2, |s| s.wait(50)).call(2, |s| s.wait(50));
    let client = file(
        &[("main", client.call(3, |s| s.wait(200)).exit(1))],
        &[(0, Some(1)), (1, Some(2)), (1, Some(3))],
        &[made(1, 2, 1000, 50), made(2, 2, 1050, 50), made(3, 3, 1100, 200)],
    );
    let tree = merged(&[client, file(&[("rmi", script)], &[], &calls)], default);
    let lines = self::lines(&tree.model);
    let servers: Vec<_> = lines.iter().filter(|line| line.contains("P1")).cloned().collect();
    assert_eq!(servers.len(), 2, "{servers:?}");
    assert!(servers[0].starts_with("6 P1 (estimated) 2 "), "{servers:?}");
    assert!(servers[1].starts_with("6 P1 (estimated) 1 "), "{servers:?}");
    // Two frames need no estimate.
    let script = serve(serve(Script::new(1000).wait(5), 1, 40).wait(5), 2, 120);
    let calls = [served(1, 1, 1005, 40), served(2, 2, 1050, 120)];
    let tree = merged(&[a_client(1000, true), file(&[("rmi", script)], &[], &calls)], default);
    let text = self::lines(&tree.model).join("\n");
    assert!(text.contains("6 P1 1 20\n7 m5 1 20") && text.contains("6 P1 1 20\n7 m5 1 100"), "{text}");
}

/// A calls B, which calls A back, which calls B once more.
#[test]
fn callbacks_have_their_real_depth() {
    let main = Script::new(1000).call(1, |s| s.wait(1000));
    let back = serve(Script::new(1000).wait(100), 1, 600);
    let back = file(
        &[("main", main), ("rmi", back)],
        &[(0, Some(1)), (0, Some(5))],
        &[
            made(1, 1, 1000, 1000),
            Call { thread: 2, ..served(2, 1, 1100, 600) },
            Call { thread: 2, ..made(3, 2, 1200, 400) },
        ],
    );
    let first = serve(Script::new(9000), 1, 900);
    let second = serve(Script::new(9000).wait(300), 1, 200);
    let there = file(
        &[("rmi 1", first), ("rmi 2", second)],
        &[(0, Some(5))],
        &[served(1, 1, 9000, 900), made(2, 1, 9050, 700), Call { thread: 2, ..served(3, 1, 9300, 200) }],
    );
    let tree = merged(&[back, there], |_| View { roots: vec![0], ..View::default() });
    let expected = [
        "1 P0 1 0",
        "2 main 1 0",
        "3 m1 1 0",
        &format!("4 {REMOTE} 1 100"),
        "5 P1 1 20",
        "6 m5 1 180",
        &format!("7 {REMOTE} 1 100"),
        "8 P0 1 20",
        "9 m5 1 180",
        &format!("10 {REMOTE} 1 200"),
        "11 P1 1 20",
        "12 m5 1 180",
    ];
    assert_eq!(lines(&tree.model), expected);
    // Times of calls within calls are not there twice.
    let column = |name| column(&tree, name);
    assert_eq!((column("remote-calls"), column("remote")), (3.0, 1000.0));
}

#[test]
fn what_nobody_is_known_to_have_caused_stays_with_its_server() {
    let script = serve(Script::new(1000).wait(5), 1, 80);
    let server = file(&[("rmi", script)], &[], &[served(1, 1, 1005, 80)]);
    let tree = merged(std::slice::from_ref(&server), |_| View::default());
    assert_eq!(lines(&tree.model), ["1 P0 1 0", "2 (remote calls) 1 20", "3 m5 1 60"]);
    let tree = merged(&[server, a_client(1000, false)], |_| View::default());
    assert_eq!(column(&tree, "wall-raw"), 120.0);
}

/// What `b` serves makes a call that `c` serves for 40 ns.
fn a_last_one() -> Vec<u8> {
    let script = serve(Script::new(1000).wait(5), 1, 40);
    file(&[("rmi", script)], &[], &[served(2, 1, 1005, 40)])
}

#[test]
fn what_was_served_under_no_frame_has_its_calls_all_the_same() {
    let script = Script::new(1000).call(7, |s| s.wait(80));
    let middle = file(&[("rmi", script)], &[(0, Some(7))], &[served(1, 0, 1000, 80), made(2, 1, 1020, 50)]);
    let files = [a_client(1000, false), middle, a_last_one()];
    let tree = merged(&files, default);
    let expected = [
        "1 P0 1 0",
        "2 main 1 0",
        "3 m1 1 20",
        "4 m2 1 0",
        &format!("5 {REMOTE} 1 20"),
        "6 P1 1 30",
        &format!("7 {REMOTE} 1 10"),
        "8 P2 1 20",
        "9 m5 1 20",
    ];
    assert_eq!(lines(&tree.model), expected);
    assert!(tree.remarks.is_empty(), "{:?}", tree.remarks);
    assert_eq!((column(&tree, "wall-raw"), column(&tree, "remote")), (120.0, 100.0));
    // Where its own contexts are told, they tell where the call was made.
    for (view, place) in
        [(View::default(), "6 P1 1 80"), (View { roots: vec![1], ..View::default() }, "2 rmi 1 0")]
    {
        let all = lines(&merged(&files, |_| view).model).join("\n");
        assert!(all.contains(place), "{all}");
        let parts = ["m7 1 30", &format!("4 {REMOTE} 1 10"), "5 P2 1 20", "6 m5 1 20"].join("\n");
        assert!(all.contains(&parts), "{all}");
    }
}

/// Two threads of the second process do the same for the first: what they call has no frames, and calls the last.
#[test]
fn several_ways_to_a_server_without_frames_add_up() {
    let calls = [1, 2].map(|thread| {
        let begin = 1000 * u64::from(thread);
        let served = Call { thread, ..served(thread as i16, thread, begin, 80) };
        [served, Call { thread, ..made(10 + thread as i16, 1, begin + 10, 50) }]
    });
    let script = |link: u32| {
        let script = Script::new(1000 * u64::from(link)).enter_link(link).call(5, |s| s.wait(80));
        script.leave_link(link)
    };
    let second = file(&[("rmi", script(1)), ("rmi", script(2))], &[(0, Some(5))], calls.as_flattened());
    let main = Script::new(1000).call(2, |s| s.wait(200));
    let first = file(&[("main", main)], &[(0, Some(2))], &[made(1, 1, 1000, 100), made(2, 1, 1100, 100)]);
    let calls = [1, 2].map(|thread| {
        let begin = 1000 * u64::from(thread);
        let served = Call { thread, ..served(10 + thread as i16, 0, begin, 40) };
        [served, Call { thread, ..made(20 + thread as i16, 0, begin + 5, 30) }]
    });
    let third = file(&[("rmi", Script::new(1000)), ("rmi", Script::new(1000))], &[], calls.as_flattened());
    let script = serve(serve(Script::new(1000), 1, 25), 1, 25);
    let last = file(&[("rmi", script)], &[], &[served(21, 1, 1000, 25), served(22, 1, 1025, 25)]);
    let tree = merged(&[first, second, third, last], default);
    let expected = [
        "1 P0 1 0",
        "2 main 1 0",
        "3 m2 1 0",
        &format!("4 {REMOTE} 2 40"),
        "5 P1 2 0",
        "6 m5 2 60",
        &format!("7 {REMOTE} 2 20"),
        "8 P2 2 20",
        &format!("9 {REMOTE} 2 10"),
    ];
    assert_eq!(lines(&tree.model)[..expected.len()], expected);
    assert_eq!((column(&tree, "wall-raw"), &tree.remarks[..]), (200.0, &[][..]));
}

#[test]
fn what_is_done_for_threads_that_are_left_out_stays_with_its_server() {
    let files = [
        a_client(1000, false),
        file(
            &[("rmi", serve(Script::new(1000).wait(5), 1, 80))],
            &[(0, Some(5))],
            &[served(1, 1, 1005, 80), made(2, 1, 1020, 50)],
        ),
        a_last_one(),
    ];
    // Only the client's own.
    let tree = merged_of(&files, default, false, &|name| name == "main");
    assert_eq!(column(&tree, "remote"), 100.0);
    assert_eq!(column(&tree, "remote-calls"), 1.0);
    // Only the servers'.
    let tree = merged_of(&files, |_| View::default(), false, &|name| name == "rmi");
    let expected = [
        "1 P0 1 0",
        "1 P1 1 0",
        "2 (remote calls) 1 20",
        "3 m5 1 10",
        &format!("4 {REMOTE} 1 10"),
        "5 P2 1 20",
        "6 m5 1 20",
        "1 P2 1 0",
    ];
    assert_eq!(lines(&tree.model), expected);
    assert_eq!(tree.remarks, [""; 0]);
}

#[test]
fn a_context_that_is_not_below_its_frame_stands_for_it() {
    // As in a trace that has had too many contexts.
    let script = serve(Script::new(1000).wait(5), 1, 80).call(7, |s| s.wait(10));
    let call = RemoteCall { link: 3, ..record(&made(2, 0, 1020, 50)) };
    let node = 3;
    let links = [link(1, LinkKind::Served, 0, 0), link(3, LinkKind::RemoteCall, 1, node)];
    let middle = linked(&[("rmi", script)], &[], &[record(&served(1, 1, 1005, 80)), call], &links);
    let files = [a_client(1000, false), middle, a_last_one()];
    for view in [View { roots: vec![0], ..View::default() }, View::default()] {
        let all = lines(&merged(&files, |_| view).model).join("\n");
        let parts =
            ["6 P1 1 0", &format!("7 {REMOTE} 1 0"), "8 P2 1 20", "9 m5 1 20", "7 m5 1 60"].join("\n");
        assert!(all.contains(&parts), "{all}");
    }
}

#[test]
fn a_task_of_a_served_call_has_its_calls() {
    let script = serve(Script::new(1000).wait(5), 1, 80);
    let task = Script::new(2000).enter_link(3).call(7, |s| s.wait(60)).leave_link(3);
    let links = [link(1, LinkKind::Served, 0, 0), link(3, LinkKind::HandOver, 1, 2)];
    let call = Call { thread: 2, ..made(2, 1, 2005, 50) };
    let calls = [record(&served(1, 1, 1005, 80)), record(&call)];
    let middle = linked(&[("rmi", script), ("pool", task)], &[(0, Some(7))], &calls, &links);
    let files = [a_client(1000, false), middle, a_last_one()];
    for view in [View { roots: vec![0], ..View::default() }, View::default()] {
        let tree = merged_with(&files, |_| view, true);
        let all = lines(&tree.model).join("\n");
        let parts = [
            "7 m5 1 60",
            "8 (task) 1 0",
            "9 m7 1 10",
            &format!("10 {REMOTE} 1 10"),
            "11 P2 1 20",
            "12 m5 1 20",
        ];
        assert!(all.contains(&parts.join("\n")), "{all}");
        assert_eq!(column(&tree, "remote-calls"), 2.0);
    }
    // Tasks are not followed: the pool has it.
    let tree = merged(&files, |_| View::default());
    assert!(lines(&tree.model).join("\n").contains("4 m7 1 10"), "{:#?}", lines(&tree.model));
    assert!(tree.remarks.is_empty(), "{:?}", tree.remarks);
}

#[test]
fn calls_of_threads_without_a_context_are_reported() {
    // A thread with nothing but what it served made one in between; another one is not in the profile.
    let script = serve(Script::new(1000).wait(5), 1, 80);
    let calls = [served(1, 1, 1005, 80), made(2, 0, 1200, 50), Call { thread: 0, ..made(3, 0, 1300, 10) }];
    let middle = file(&[("rmi", script)], &[], &calls);
    let tree = merged(&[a_client(1000, false), middle, a_last_one()], |_| View::default());
    let all = lines(&tree.model);
    assert!(all.contains(&"2 rmi 1 0".into()) && all.contains(&format!("3 {REMOTE} 1 0")), "{all:#?}");
    assert!(all.contains(&format!("2 {REMOTE} 1 0")), "{all:#?}");
    assert_eq!(column(&tree, "remote-calls"), 3.0);
}

/// No clock can have seen this.
#[test]
fn calls_that_caused_themselves_are_counted() {
    let file = |made_id, served_id| {
        let script = serve(Script::new(1000).wait(5), 1, 80);
        let calls = [served(served_id, 1, 1005, 80), made(made_id, 1, 1020, 50)];
        file(&[("rmi", script)], &[(0, Some(5))], &calls)
    };
    let tree = merged(&[file(1, 2), file(2, 1)], |_| View::default());
    assert_eq!(tree.remarks, ["1 remote calls seem to have caused themselves", &format!("2{MISSING}")]);
}

#[test]
fn operations_of_one_interface_are_different_methods() {
    let calls =
        [(1, 0), (2, 2)].map(|(id, operation)| RemoteCall { operation, ..record(&made(id, 1, 1000, 10)) });
    let script = Script::new(1000).call(1, |s| s.wait(100));
    let tree = merged(&[linked(&[("main", script)], &[(0, Some(1))], &calls, &[])], default);
    let remote = |operation| format!("4 remote operation {operation} of 000000000000004d 1 10");
    let lines = lines(&tree.model);
    assert!(lines.contains(&remote(0)) && lines.contains(&remote(2)), "{lines:#?}");
}

#[test]
fn the_tree_begins_where_calls_are_no_part_of_others() {
    let script = || Script::new(1000).call(1, |s| s.wait(1000));
    let calls_at = |begin: u64, made_ids: &[i16], served_ids: &[i16], internal: i16| {
        let mut calls: Vec<_> = made_ids.iter().map(|&id| record(&made(id, 1, begin, 20))).collect();
        calls.extend(served_ids.iter().map(|&id| record(&served(id, 0, 1200, 50))));
        // The other one tells its collector.
        let kind = if internal > 0 { RemoteCallKind::Made } else { RemoteCallKind::Served };
        let call = Call { kind, ..made(internal.abs(), 1, 1300, 10) };
        calls.push(RemoteCall { object: ObjId::DGC, ..record(&call) });
        linked(&[("main", script())], &[(0, Some(1))], &calls, &[])
    };
    let calls = |made: &[i16], served: &[i16], internal| calls_at(1100, made, served, internal);
    // A collector's call is none of the program's.
    let (client, server) = (calls(&[1, 2], &[], -3), calls(&[], &[1, 2], 3));
    for (files, root) in [([client.clone(), server.clone()], 0), ([server, client], 1)] {
        merged(&files, |numbers| {
            assert_eq!(roots(numbers), [root]);
            default(numbers)
        });
    }
    // Who calls itself serves nobody.
    let busy = linked(
        &[("main", script())],
        &[(0, Some(1))],
        &[record(&made(1, 1, 1100, 50)), record(&made(7, 1, 1200, 20)), record(&served(7, 0, 1205, 10))],
        &[],
    );
    merged(&[calls(&[], &[1], 3), busy.clone(), calls(&[9], &[], -3)], |numbers| {
        assert_eq!(numbers.own, [(0, 1), (2, 0), (1, 0)]);
        default(numbers)
    });
    // Who calls back while it serves is part of what it serves, however much the client serves of it.
    let within = 1210;
    let (client, server) = (calls(&[1], &[4, 5, 6], -3), calls_at(within, &[4, 5, 6], &[1], 3));
    for (files, root) in [([client.clone(), server.clone()], 0), ([server, client], 1)] {
        merged(&files, |numbers| {
            assert_eq!(roots(numbers), [root]);
            default(numbers)
        });
    }
    // Who calls of its own accord begins as well, and all calls are in the tree.
    let (client, server) = (calls(&[1, 2], &[4], -3), calls(&[4], &[1, 2], 3));
    let both = merged(&[server, client], |numbers| {
        assert_eq!((&numbers.outermost[..], roots(numbers)), (&[1, 2][..], vec![1, 0]));
        default(numbers)
    });
    assert_eq!(column(&both, "remote-calls"), 4.0);
}
