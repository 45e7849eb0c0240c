//! Requests by HTTP without a header: which message on which connection they are.

use std::net::{IpAddr, Ipv4Addr};

use crate::common::remote::{Process, connection, matched};
use RemoteCallKind::{Made, Served};
use instrument_analysis::merge::{MatchState, MatchedBy, Reason};
use instrument_testing::REMOTE_CALL;
use instrument_trace::{Connection, Http, ObjId, RemoteCall, RemoteCallKind, Side, TraceParent};

const PORTS: MatchState = MatchState::Matched(MatchedBy::Ports);

fn not(reason: Reason) -> MatchState {
    MatchState::Unmatched(reason)
}

/// The message of this number on the connection 1; `serial` is what the test knows it by.
fn request(kind: RemoteCallKind, ordinal: u32, path: i64, serial: u32) -> RemoteCall {
    RemoteCall {
        kind,
        connection: 1,
        ordinal,
        object: ObjId::default(),
        hash: path,
        http: Some(Http { status: 200, ..Http::default() }),
        context: serial,
        begin: 100,
        end: 130,
        ..REMOTE_CALL
    }
}

fn nowhere(call: RemoteCall) -> RemoteCall {
    RemoteCall { connection: 0, ordinal: 0, ..call }
}

fn keyed(call: RemoteCall, parent: u64) -> RemoteCall {
    let key = Some(TraceParent { trace: 7, parent });
    RemoteCall { http: call.http.map(|http| Http { key, ..http }), ..call }
}

fn client(calls: Vec<RemoteCall>) -> Process {
    Process { connections: vec![connection(1, Side::Connected, 5000, 80, 1)], calls, ..Process::default() }
}

fn server(calls: Vec<RemoteCall>) -> Process {
    Process { connections: vec![connection(1, Side::Accepted, 80, 5000, 1)], calls, ..Process::default() }
}

/// What became of the calls made and of those served, and which are one.
fn outcome(processes: &[Process]) -> (Vec<MatchState>, Vec<MatchState>, Vec<(u32, u32)>) {
    let files: Vec<_> = processes.iter().map(Process::file).collect();
    let (matching, pairs, _) = matched(&files);
    let [made, served] = [&matching.made, &matching.served]
        .map(|rows| (0..rows.len() as u32).map(|row| rows.match_state(row)).collect());
    (made, served, pairs)
}

/// What one end did not record leaves a gap that shifts nothing.
#[test]
fn the_same_number_on_a_connection_is_the_same_request() {
    let (made, served, pairs) = outcome(&[
        client(vec![request(Made, 1, 1, 1), request(Made, 3, 1, 3), request(Made, 4, 1, 4)]),
        server(vec![request(Served, 2, 1, 2), request(Served, 3, 1, 3), request(Served, 4, 1, 4)]),
    ]);
    let lost = not(Reason::NoOtherRecord);
    assert_eq!((made, served), (vec![lost, PORTS, PORTS], vec![lost, PORTS, PORTS]));
    assert_eq!(pairs, [(3, 3), (4, 4)]);
}

/// A connection on which anything does not fit is none.
#[test]
fn one_request_that_differs_speaks_against_the_connection() {
    let contradiction = not(Reason::Contradiction);
    for wrong in [request(Served, 2, 9, 2), request(Served, 1, 1, 2), keyed(request(Served, 2, 1, 2), 5)] {
        let (made, served, pairs) = outcome(&[
            client(vec![request(Made, 1, 1, 1), keyed(request(Made, 2, 1, 2), 4)]),
            server(vec![request(Served, 1, 1, 1), wrong]),
        ]);
        assert_eq!(pairs, []);
        assert_eq!((made[0], served[0]), (contradiction, contradiction), "{wrong:?}");
    }
}

/// Ports are used again: who had them first is not known.
#[test]
fn several_connections_with_the_same_ports_are_ambiguous() {
    let ambiguous = not(Reason::AmbiguousConnection);
    let one = || client(vec![request(Made, 1, 1, 1)]);
    let twice = Process {
        connections: [1, 2].map(|number| connection(number, Side::Accepted, 80, 5000, number)).to_vec(),
        ..server(vec![request(Served, 1, 1, 1)])
    };
    assert_eq!(outcome(&[one(), twice]), (vec![ambiguous], vec![ambiguous], vec![]));
    let (made, ..) = outcome(&[one(), one(), server(vec![request(Served, 1, 1, 1)])]);
    assert_eq!(made, [ambiguous; 2]);
}

/// Who had the ports at another time is somebody else, recorded or not: one request that cannot be speaks against all.
#[test]
fn times_of_day_speak_against_a_connection() {
    let second = 1_000_000_000;
    let later = |process: Process, start_ms, host| Process { start_ms, host, ..process };
    let unanswered = |call: RemoteCall| RemoteCall { http: Some(Http::default()), failed: true, ..call };
    let ambiguous = not(Reason::AmbiguousConnection);
    for (apart, hosts, expected) in [
        (900, ["a", "a"], PORTS),
        (2_000, ["a", "a"], ambiguous),
        (2_000, ["a", "b"], PORTS),
        (700_000, ["a", "b"], ambiguous),
    ] {
        for [from, to] in [[1, 1 + apart], [1 + apart, 1]] {
            let calls = [Made, Served].map(|kind| [1, 2].map(|at| request(kind, at, 1, at)).to_vec());
            let [made, served] = calls;
            let (made, served, pairs) = outcome(&[
                later(client(made), from, Some(hosts[0])),
                later(server(served), to, Some(hosts[1])),
            ]);
            assert_eq!((made, served), (vec![expected; 2], vec![expected; 2]), "{apart} {hosts:?}");
            assert_eq!(pairs.len(), if expected == PORTS { 2 } else { 0 });
        }
    }
    // A server may take its time with what its client has given up, and an open call goes on.
    for (made, begin, expected) in [
        (request(Made, 1, 1, 1), 5 * second, ambiguous),
        (unanswered(request(Made, 1, 1, 1)), 5 * second, PORTS),
        (unanswered(request(Made, 1, 1, 1)), 70 * second, ambiguous),
        (RemoteCall { begin: 5 * second, end: 0, ..request(Made, 1, 1, 1) }, 5 * second, PORTS),
        (RemoteCall { begin: 5 * second, end: 0, ..request(Made, 1, 1, 1) }, 100, ambiguous),
    ] {
        let there = RemoteCall { begin, end: begin + 5, ..request(Served, 1, 1, 1) };
        let files = [later(client(vec![made]), 1, Some("a")), later(server(vec![there]), 1, Some("a"))];
        assert_eq!(outcome(&files).1, [expected], "{made:?} {begin}");
    }
}

#[test]
fn ends_with_other_addresses_and_unknown_ones_are_none() {
    let elsewhere = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 7));
    for remote in [elsewhere, IpAddr::V4(Ipv4Addr::UNSPECIFIED)] {
        let other = Connection { remote, ..connection(1, Side::Accepted, 80, 5000, 1) };
        let other = Process { connections: vec![other], ..server(vec![request(Served, 1, 1, 1)]) };
        let (made, served, pairs) = outcome(&[client(vec![request(Made, 1, 1, 1)]), other]);
        assert_eq!(pairs, []);
        assert_eq!((made, served), (vec![not(Reason::NoOtherRecord)], vec![not(Reason::NoOtherRecord)]));
    }
    // Every machine has its own 127.0.0.1.
    let home = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let at_home = |process: Process, host: Option<&'static str>| {
        let connections = process.connections.iter();
        let connections = connections.map(|&of| Connection { local: home, remote: home, ..of }).collect();
        Process { connections, host, ..process }
    };
    let lost = not(Reason::NoOtherRecord);
    for (hosts, expected) in [
        ([Some("a"), Some("a")], PORTS),
        ([Some("a"), Some("b")], lost),
        ([Some("a"), None], lost),
        ([None, None], lost),
    ] {
        let (made, ..) = outcome(&[
            at_home(client(vec![request(Made, 1, 1, 1)]), hosts[0]),
            at_home(server(vec![request(Served, 1, 1, 1)]), hosts[1]),
        ]);
        assert_eq!(made, [expected], "{hosts:?}");
    }
}

/// A header tells what the place tells; a retry with the same header is found by its place alone.
#[test]
fn headers_and_places_go_together() {
    let (made, served, pairs) = outcome(&[
        client(vec![keyed(request(Made, 1, 1, 1), 4), keyed(request(Made, 2, 1, 2), 4)]),
        server(vec![keyed(request(Served, 1, 1, 1), 4), keyed(request(Served, 2, 1, 2), 4)]),
    ]);
    assert_eq!((made, served, pairs), (vec![PORTS; 2], vec![PORTS; 2], vec![(1, 1), (2, 2)]));
    // The header says that the numbers are wrong.
    let (made, served, _) = outcome(&[
        client(vec![keyed(request(Made, 1, 1, 1), 4), request(Made, 2, 1, 2)]),
        server(vec![keyed(request(Served, 3, 1, 1), 4), request(Served, 2, 1, 2)]),
    ]);
    assert_eq!(made[0].word(), "by header");
    assert_eq!((made[1], served[1]), (not(Reason::Contradiction), not(Reason::Contradiction)));
}

#[test]
fn a_request_without_a_place_says_why() {
    let says =
        |call: RemoteCall, change: fn(Http) -> Http| RemoteCall { http: call.http.map(change), ..call };
    let shared = |http| Http { is_shared: true, ..http };
    let unsent = |http| Http { is_unsent: true, ..http };
    let forwarded = |http| Http { is_forwarded: true, ..http };
    let (made, served, _) = outcome(&[
        client(vec![
            nowhere(request(Made, 0, 1, 1)),
            says(nowhere(request(Made, 0, 1, 2)), shared),
            says(request(Made, 1, 1, 3), forwarded),
            RemoteCall { end: 0, ..request(Made, 2, 1, 4) },
            RemoteCall { failed: true, ..request(Made, 3, 1, 5) },
            request(Made, 4, 2, 6),
            says(nowhere(request(Made, 0, 3, 7)), unsent),
        ]),
        // Not found: its library does not say where it was.
        Process {
            calls: vec![nowhere(request(Served, 0, 2, 6)), request(Served, 5, 3, 8)],
            ..server(Vec::new())
        },
    ]);
    let reasons = [
        Reason::NoKey,
        Reason::SharedConnection,
        Reason::Forwarded,
        Reason::InFlight,
        Reason::Unanswered,
        Reason::NoKey,
        Reason::NotSent,
    ];
    assert_eq!(made, reasons.map(not));
    assert_eq!(served, [not(Reason::NoKey), not(Reason::NoOtherRecord)]);
}
