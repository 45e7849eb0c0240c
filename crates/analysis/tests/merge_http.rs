//! Requests by HTTP: which is which, and why the others are none.

use crate::common::remote::{Process, matched};
use RemoteCallKind::{Made, Served};
use instrument_analysis::merge::{MatchState, MatchedBy, Peer, Reason};
use instrument_testing::REMOTE_CALL;
use instrument_trace::{Http, ObjId, RemoteCall, RemoteCallKind, TraceParent};
use proptest::prelude::*;

/// A request that was answered; `serial` is what the test knows it by.
fn request(kind: RemoteCallKind, key: u64, path: i64, serial: u32) -> RemoteCall {
    let parent = TraceParent { trace: 7, parent: key };
    RemoteCall {
        kind,
        connection: 0,
        ordinal: 0,
        object: ObjId::default(),
        hash: path,
        http: Some(Http {
            key: (key != 0).then_some(parent),
            has_bad_key: false,
            status: 200,
            ..Http::default()
        }),
        context: serial,
        begin: 100,
        end: 130,
        ..REMOTE_CALL
    }
}

fn process(calls: Vec<RemoteCall>) -> Process {
    Process { calls, names: vec![(4, "shop.example"), (5, "10.0.0.9")], ..Process::default() }
}

type Fates = Vec<MatchState>;

fn made(calls: Vec<RemoteCall>, served: Vec<RemoteCall>) -> (Fates, Fates, Vec<(u32, u32)>) {
    let (matching, pairs, _) = matched(&[process(calls).file(), process(served).file()]);
    let [here, there] = [&matching.made, &matching.served]
        .map(|rows| (0..rows.len() as u32).map(|row| rows.match_state(row)).collect());
    (here, there, pairs)
}

const HEADER: MatchState = MatchState::Matched(MatchedBy::Header);

fn not(reason: Reason) -> MatchState {
    MatchState::Unmatched(reason)
}

#[test]
fn requests_with_a_header_of_their_own_are_matched_in_any_order() {
    let (here, there, pairs) = made(
        vec![request(Made, 3, 1, 1), request(Made, 4, 1, 2)],
        vec![request(Served, 4, 1, 2), request(Served, 3, 1, 1)],
    );
    assert_eq!((here, there, pairs), (vec![HEADER; 2], vec![HEADER; 2], vec![(1, 1), (2, 2)]));
}

/// A retry, and a header that two requests share: neither of them is guessed.
#[test]
fn requests_that_share_a_header_are_matched_by_method_and_path_alone() {
    let repeated = not(Reason::RepeatedKey);
    let one = request(Made, 3, 1, 1);
    let (here, there, pairs) = made(vec![one], vec![request(Served, 3, 1, 1), request(Served, 3, 1, 2)]);
    assert_eq!((here, there, pairs), (vec![repeated], vec![repeated; 2], vec![]));
    let (here, there, pairs) = made(vec![one, request(Made, 3, 1, 2)], vec![request(Served, 3, 1, 1)]);
    assert_eq!((here, there, pairs), (vec![repeated; 2], vec![repeated], vec![]));
    // A redirect: the second hop is of another path.
    let (here, there, pairs) = made(vec![one], vec![request(Served, 3, 2, 2), request(Served, 3, 1, 1)]);
    assert_eq!((here, there, pairs), (vec![HEADER], vec![repeated, HEADER], vec![(1, 1)]));
    // The same trace with another parent is another request.
    let (here, ..) = made(vec![one], vec![request(Served, 2, 1, 1)]);
    assert_eq!(here, [not(Reason::NoOtherRecord)]);
    // It says the same, and is not the same.
    let (here, there, pairs) = made(vec![one], vec![request(Served, 3, 9, 1)]);
    assert_eq!(
        (here, there, pairs),
        (vec![not(Reason::Contradiction)], vec![not(Reason::Contradiction)], vec![])
    );
}

/// A process that passes a header on as it came has served the request before it made one; one that asks itself has made it before.
#[test]
fn a_process_is_not_joined_with_itself_where_it_passes_a_header_on() {
    let at = |call: RemoteCall, begin| RemoteCall { begin, end: begin + 10, ..call };
    for (made, served, expected) in [(120, 100, None), (100, 120, Some((1, 2)))] {
        let calls = vec![at(request(Made, 3, 1, 1), made), at(request(Served, 3, 1, 2), served)];
        let (matching, pairs, _) = matched(&[process(calls).file()]);
        assert_eq!(pairs, Vec::from_iter(expected), "{made} {served}");
        if expected.is_none() {
            assert_eq!(matching.made.match_state(0), not(Reason::RepeatedKey));
            assert_eq!(matching.served.match_state(0), not(Reason::RepeatedKey));
        }
    }
}

#[test]
fn every_other_request_has_its_reason_and_who_it_was_with() {
    let failed = |call: RemoteCall| {
        let http = call.http.map(|http| Http { status: 0, ..http });
        RemoteCall { failed: true, http, host: 4, port: 8080, ..call }
    };
    let bad = |call: RemoteCall| RemoteCall {
        http: Some(Http { has_bad_key: true, status: 200, ..Http::default() }),
        host: 5,
        ..call
    };
    let open = RemoteCall { end: 0, ..request(Made, 6, 1, 3) };
    let calls = vec![
        failed(request(Made, 3, 1, 1)),
        request(Made, 4, 1, 2),
        open,
        request(Made, 0, 1, 4),
        bad(request(Made, 0, 1, 5)),
    ];
    let served = vec![request(Served, 8, 1, 6), request(Served, 0, 1, 7), bad(request(Served, 0, 1, 8))];
    let (matching, pairs, numbers) = matched(&[process(calls).file(), process(served).file()]);
    assert_eq!(pairs, []);
    let expected =
        [Reason::Unanswered, Reason::NoOtherRecord, Reason::InFlight, Reason::NoKey, Reason::BadKey];
    for (row, reason) in (0..).zip(expected) {
        assert_eq!(matching.made.match_state(row), not(reason), "{row}");
    }
    for (row, reason) in (0..).zip([Reason::NoOtherRecord, Reason::NoKey, Reason::BadKey]) {
        assert_eq!(matching.served.match_state(row), not(reason), "{row}");
    }
    let address = |peer: Peer| match peer {
        Peer::Address(at) => numbers.addresses[at].as_str(),
        _ => "?",
    };
    assert_eq!(address(matching.made.peer(0)), "shop.example:8080");
    assert_eq!(address(matching.served.peer(2)), "10.0.0.9");
}

proptest! {
    /// Whatever is retried, redirected or passed on as it came: no request is taken for another one that differs in what both ends know, and
    /// one with a key of its own is always found.
    #[test]
    fn nothing_is_matched_that_could_be_something_else(
        made_here in proptest::collection::vec((1u64..5, 1i64..4), 0..9),
        served_there in proptest::collection::vec((1u64..5, 1i64..4), 0..9),
    ) {
        let of = |kind, all: &[(u64, i64)]| -> Vec<RemoteCall> {
            (1u32..).zip(all).map(|(serial, &(key, path))| request(kind, key, path, serial)).collect()
        };
        let (_, _, pairs) = made(of(Made, &made_here), of(Served, &served_there));
        let pairs: std::collections::BTreeSet<_> = pairs.into_iter().collect();
        for (here, one) in (1u32..).zip(&made_here) {
            for (there, other) in (1u32..).zip(&served_there) {
                let alike = |all: &[(u64, i64)]| all.iter().filter(|&of| of == one).count();
                let is_one = one == other && alike(&made_here) == 1 && alike(&served_there) == 1;
                prop_assert_eq!(pairs.contains(&(here, there)), is_one);
            }
        }
    }
}
