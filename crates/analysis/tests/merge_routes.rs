//! Requests by HTTP in the tree over several processes: by their routes, and from outside.

use crate::common::trees::{default, lines, link, made, merged, record, served, written};
use instrument_analysis::merge::waterfalls::{Bounds, Query};
use instrument_analysis::merge::{Nesting, Offsets, Party, Peer, View, match_calls};
use instrument_testing::Script;
use instrument_trace::{Http, LinkKind, ObjId, Profile, RemoteCall, TraceParent};

const NAMES: [(u32, &str); 4] =
    [(4, "GET /orders/{id}"), (5, "GET /items/{id}"), (6, "GET /items/pen"), (7, "GET /items/ink")];

/// A request with a name, and with a key or without.
fn request(call: RemoteCall, name: u32, key: u64) -> RemoteCall {
    let key = (key != 0).then_some(TraceParent { trace: 7, parent: key });
    let http = Http { key, has_bad_key: false, status: 200, ..Http::default() };
    RemoteCall {
        http: Some(http),
        return_id: None,
        connection: 0,
        object: ObjId::default(),
        hash: 1,
        method: name,
        ..call
    }
}

fn process(threads: &[(&str, Script)], contexts: &[(u32, Option<u32>)], calls: &[RemoteCall]) -> Vec<u8> {
    let links = [link(1, LinkKind::Served, 0, 0)];
    written(threads, contexts, calls, &links, |writer| {
        writer.class_names(&NAMES);
    })
}

/// A container has methods 1 and 2 of a chain of filters on the stack when it hands a request to the same methods; below them is the program's own method 3,
/// which makes a request each for a pen and for ink. `starts`: another thread makes one as well.
fn shop(starts: bool) -> Vec<u8> {
    let asks = |s: Script| s.wait(10).call(3, |s| s.wait(140)).wait(10);
    let within = |s: Script| s.enter_link(1).call(1, |s| s.call(2, asks)).leave_link(1);
    let exec = Script::new(1000).call(1, |s| s.call(2, within));
    let main = Script::new(1000).call(8, |s| s.wait(500));
    let chain = [(0, Some(1)), (1, Some(2)), (2, Some(1)), (3, Some(2)), (4, Some(3)), (0, Some(8))];
    let mut calls = vec![
        request(record(&served(1, 1, 1000, 160)), 4, 0),
        request(record(&made(2, 5, 1015, 60)), 6, 3),
        request(record(&made(3, 5, 1080, 60)), 7, 4),
    ];
    if starts {
        let call = RemoteCall { thread: 2, ..record(&made(4, 6, 1100, 60)) };
        calls.push(request(call, 6, 5));
    }
    process(&[("exec", exec), ("main", main)], &chain, &calls)
}

/// It serves what was asked, both by one route.
fn stock() -> Vec<u8> {
    let serve = |s: Script| s.enter_link(1).call(5, |s| s.wait(20)).leave_link(1);
    let script = serve(serve(Script::new(9000)).wait(100));
    let calls = [served(1, 1, 9000, 20), served(2, 1, 9120, 20)];
    let calls: Vec<_> = (3..).zip(&calls).map(|(key, call)| request(record(call), 5, key)).collect();
    process(&[("exec", script)], &[], &calls)
}

#[test]
fn requests_from_outside_are_the_tree_by_their_routes() {
    let files = [stock(), shop(false)];
    let tree = merged(&files, default);
    let expected = [
        "1 P1 1 0",
        "2 served GET /orders/{id} 1 0",
        "3 m1 1 0",
        "4 m2 1 20",
        "5 m3 1 20",
        "6 remote GET /items/{id} 2 80",
        "7 P0 2 0",
        "8 m5 2 40",
    ];
    assert_eq!(lines(&tree.model), expected);
    assert_eq!(tree.remarks, ["P1: only its work for requests is shown; --process all shows all of it"]);
    // All of it, where all processes are requested.
    let all = lines(&merged(&files, |_| View::default()).model);
    for line in ["2 main 1 0", "3 m8 1 500", "2 served GET /orders/{id} 1 0", "8 m5 2 40"] {
        assert!(all.iter().any(|one| one == line), "{line}: {all:#?}");
    }
}

/// What a process does by itself is as much of its tree as what it does for requests.
#[test]
fn a_process_that_makes_requests_of_its_own_is_told_as_a_whole() {
    let tree = merged(&[stock(), shop(true)], default);
    let all = lines(&tree.model);
    for line in ["2 main 1 0", "3 m8 1 440", "4 remote GET /items/pen 1 60", "2 served GET /orders/{id} 1 0"]
    {
        assert!(all.iter().any(|one| one == line), "{line}: {all:#?}");
    }
    assert!(tree.remarks.is_empty(), "{:?}", tree.remarks);
}

#[test]
fn a_request_that_was_matched_is_called_as_its_server_does() {
    let files = [shop(true), stock()];
    let profiles: Vec<_> = files.iter().map(|file| Profile::parse(file).unwrap()).collect();
    let parties: Vec<_> =
        profiles.iter().zip(&files).map(|(profile, source)| Party { profile, source }).collect();
    let matching = match_calls(&parties).unwrap();
    let nesting = Nesting::new(&parties, &matching).unwrap();
    let names = [0, 1, 2].map(|row| nesting.name_of_made(row).1);
    assert_eq!(names, ["GET /items/{id}", "GET /items/{id}", "GET /items/pen"]);
    assert_eq!(nesting.signature_of_served(1), "GET /items/{id}");
    // What came from outside is an outermost call, and so is what the process asks for by itself.
    let offsets = Offsets::new(&parties, &matching, 0).unwrap();
    let query = Query {
        parties: &parties,
        matching: &matching,
        nesting: &nesting,
        offsets: &offsets,
        internals: false,
    };
    let (all, outermost) = query.waterfalls(Bounds { outermost: 2, within: 10 }).unwrap();
    let told: Vec<Vec<_>> = all
        .iter()
        .map(|of| {
            of.spans.iter().map(|span| (span.parent, span.method.as_str(), span.made.is_some())).collect()
        })
        .collect();
    let item = (Some(0), "GET /items/{id}", true);
    let from_outside = vec![(None, "GET /orders/{id}", false), item, item];
    assert_eq!((told, outermost), (vec![from_outside, vec![(None, "GET /items/pen", true)]], 2));
    let first = &all[0].spans[0];
    assert_eq!((first.client, first.server), (Peer::Unknown, Peer::Party(0)));
    assert_eq!(first.served.as_ref().and_then(|end| end.ns), Some(160));
}
