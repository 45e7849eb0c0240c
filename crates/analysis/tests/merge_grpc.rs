//! Calls by gRPC: which is which, and the tree of what several threads of a server did for one.

use crate::common::remote::{Process, matched};
use crate::common::trees::{default, lines, link, made, merged, record, served, written};
use RemoteCallKind::{Made, Served};
use instrument_analysis::merge::{MatchState, MatchedBy, Nesting, Party, Reason, match_calls};
use instrument_testing::{REMOTE_CALL, Script};
use instrument_trace::{Http, LinkKind, ObjId, Profile, Protocol, RemoteCall, RemoteCallKind, TraceParent};

const OK: u16 = 1;
const UNAVAILABLE: u16 = 15;

/// A call as gRPC has it, or as a request by HTTP with the same key.
fn request(call: RemoteCall, protocol: Protocol, key: u64, status: u16) -> RemoteCall {
    let key = Some(TraceParent { trace: 7, parent: key });
    let http = Http { protocol, key, status, ..Http::default() };
    RemoteCall {
        http: Some(http),
        return_id: None,
        connection: 0,
        ordinal: 0,
        object: ObjId::default(),
        hash: 1,
        ..call
    }
}

#[test]
fn calls_are_matched_by_their_header_and_method_and_with_no_request_of_another_kind() {
    let of = |kind, protocol, key, status, serial| {
        request(RemoteCall { kind, context: serial, ..REMOTE_CALL }, protocol, key, status)
    };
    let made = vec![
        of(Made, Protocol::Grpc, 1, OK, 1),
        of(Made, Protocol::Grpc, 2, OK, 2),
        of(Made, Protocol::Grpc, 3, UNAVAILABLE, 3),
        of(Made, Protocol::Grpc, 4, OK, 4),
    ];
    let made = made.into_iter().map(|call| RemoteCall { end: 130, ..call }).collect();
    let served = vec![of(Served, Protocol::Http, 2, 200, 2), of(Served, Protocol::Grpc, 1, OK, 1)];
    let file = |calls| Process { calls, ..Process::default() }.file();
    let (matching, pairs, _) = matched(&[file(made), file(served)]);
    assert_eq!(pairs, [(1, 1)]);
    let expected = [
        MatchState::Matched(MatchedBy::Header),
        MatchState::Unmatched(Reason::Contradiction),
        // Whether it has come to a server is not known.
        MatchState::Unmatched(Reason::Unanswered),
        MatchState::Unmatched(Reason::NoOtherRecord),
    ];
    assert_eq!([0, 1, 2, 3].map(|row| matching.made.match_state(row)), expected);
}

/// Call 1 begins in one thread, and its messages come to another one, which asks for something meanwhile; in between that thread has served call 2.
fn server() -> Vec<u8> {
    let first = Script::new(9000).enter_link(1).call(5, |s| s.wait(10)).leave_link(1);
    let other = |s: Script| s.enter_link(1).call(5, |s| s.wait(30)).leave_link(1);
    let second = other(Script::new(9020).enter_link(1).call(6, |s| s.wait(50)).leave_link(1).wait(10));
    let calls = [
        RemoteCall { number: 11, ..record(&served(1, 1, 9000, 120)) },
        RemoteCall { number: 12, thread: 2, ..record(&served(2, 1, 9020, 50)) },
        RemoteCall { number: 11, thread: 2, ..record(&made(3, 1, 9090, 20)) },
    ];
    let calls: Vec<_> = (1..).zip(calls).map(|(key, call)| request(call, Protocol::Grpc, key, OK)).collect();
    let links = [link(1, LinkKind::Served, 0, 0)];
    written(&[("a", first), ("b", second)], &[(0, Some(5))], &calls, &links, |_| {})
}

fn client() -> Vec<u8> {
    let script = Script::new(1000).call(1, |s| s.wait(500));
    let calls = [made(1, 1, 1000, 150), made(2, 1, 1200, 100)];
    let calls: Vec<_> =
        (1..).zip(&calls).map(|(key, call)| request(record(call), Protocol::Grpc, key, OK)).collect();
    written(&[("main", script)], &[(0, Some(1))], &calls, &[], |_| {})
}

#[test]
fn what_several_threads_did_for_calls_is_below_these() {
    let files = [client(), server()];
    let all = lines(&merged(&files, default).model);
    for line in ["5 P1 2 0", "6 m5 2 20", "6 m6 1 50", "7 remote method 0000000000000001 1 20"] {
        assert!(all.iter().any(|one| one == line), "{line}: {all:#?}");
    }
    assert!(
        !all.iter().any(|line| line.contains("estimated") || line.contains("(remote calls)")),
        "{all:#?}"
    );
    let profiles: Vec<_> = files.iter().map(|file| Profile::parse(file).unwrap()).collect();
    let parties: Vec<_> =
        profiles.iter().zip(&files).map(|(profile, source)| Party { profile, source }).collect();
    let matching = match_calls(&parties).unwrap();
    let nesting = Nesting::new(&parties, &matching).unwrap();
    // By its number: the thread has begun with the other call last.
    assert_eq!((nesting.within(2), nesting.outermost(2)), (Some(0), 0));
}
