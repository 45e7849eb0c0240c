//! Messages: who received what somebody sent, and the tree of what was done for them.

use crate::common::remote::{Process, matched};
use crate::common::trees::{default, lines, link, made, merged, record, served, written};
use RemoteCallKind::{Made, Served};
use instrument_analysis::merge::{MatchState, MatchedBy, Reason};
use instrument_testing::{REMOTE_CALL, Script};
use instrument_trace::{Http, LinkKind, ObjId, Protocol, RemoteCall, RemoteCallKind, TraceParent};

fn message(call: RemoteCall, key: u64) -> RemoteCall {
    let key = (key != 0).then_some(TraceParent { trace: 7, parent: key });
    let http = Http { protocol: Protocol::Jms, key, is_id: true, ..Http::default() };
    RemoteCall {
        http: Some(http),
        return_id: None,
        connection: 0,
        ordinal: 0,
        object: ObjId::default(),
        hash: 0,
        ..call
    }
}

#[test]
fn all_that_have_received_a_message_are_of_the_one_that_has_sent_it() {
    let of = |kind, key, serial| message(RemoteCall { kind, context: serial, end: 130, ..REMOTE_CALL }, key);
    let sent = vec![
        of(Made, 1, 1),
        of(Made, 2, 2),
        of(Made, 2, 3),
        of(Made, 3, 4),
        RemoteCall { failed: true, ..of(Made, 0, 5) },
    ];
    let received = vec![of(Served, 1, 1), of(Served, 2, 2), of(Served, 1, 1), of(Served, 9, 9)];
    let file = |calls| Process { calls, ..Process::default() }.file();
    let (matching, pairs, numbers) = matched(&[file(sent), file(received)]);
    assert_eq!((pairs, &matching.others[..]), (vec![(1, 1)], &[(0, 2)][..]));
    let id = MatchState::Matched(MatchedBy::Id);
    let not = MatchState::Unmatched;
    let made = [0, 1, 2, 3, 4].map(|row| matching.made.match_state(row));
    let (repeated, none) = (not(Reason::RepeatedKey), not(Reason::NoOtherRecord));
    assert_eq!(made, [id, repeated, repeated, none, not(Reason::Unanswered)]);
    assert_eq!([0, 1, 2, 3].map(|row| matching.served.match_state(row)), [id, repeated, id, none]);
    assert_eq!(matching.served.partner(2), Some(0));
    let of = &numbers.matched[&(0, 1)];
    assert_eq!((of.by_id, of.also_received, numbers.unmatched_served()), (1, 1, 2));
}

/// A program that was not recorded may have copied the header of one message to another.
#[test]
fn of_messages_without_ids_only_two_are_one() {
    let of = |kind, key, serial| {
        let call = message(RemoteCall { kind, context: serial, ..REMOTE_CALL }, key);
        let http = call.http.map(|http| Http { is_id: false, ..http });
        RemoteCall { http, ..call }
    };
    let file = |calls| Process { calls, ..Process::default() }.file();
    let sent = vec![of(Made, 1, 1), of(Made, 2, 2)];
    let received = vec![of(Served, 1, 1), of(Served, 2, 2), of(Served, 2, 2)];
    let (matching, pairs, _) = matched(&[file(sent), file(received)]);
    assert_eq!((pairs, &matching.others[..]), (vec![(1, 1)], &[][..]));
    let repeated = MatchState::Unmatched(Reason::RepeatedKey);
    assert_eq!(matching.made.match_state(1), repeated);
    assert_eq!([1, 2].map(|row| matching.served.match_state(row)), [repeated, repeated]);
}

/// Whoever sends to itself and to another one is a root, whichever of them is the first receiver.
#[test]
fn a_sender_that_receives_its_own_message_is_a_root_in_any_order_of_files() {
    let of = |kind, key, begin| message(RemoteCall { kind, begin, end: begin + 10, ..REMOTE_CALL }, key);
    let file = |calls| Process { calls, ..Process::default() }.file();
    let to_itself = || file(vec![of(Made, 1, 100), of(Served, 1, 200)]);
    let other = || file(vec![of(Served, 1, 100), of(Served, 2, 300)]);
    let second = || file(vec![of(Made, 2, 100)]);
    for (files, first) in [([to_itself(), other(), second()], 0), ([other(), to_itself(), second()], 1)] {
        let (matching, ..) = matched(&files);
        let (mut own, mut outermost) = (vec![(0, 2); 3], vec![0; 3]);
        (own[first], outermost[first]) = ((1, 0), 1);
        (own[2], outermost[2]) = ((1, 0), 1);
        assert_eq!((matching.own, matching.outermost), (own, outermost));
    }
}

/// A method sends a message and goes on.
fn sender() -> Vec<u8> {
    let script = Script::new(1000).call(1, |s| s.wait(60));
    let sent = message(record(&made(1, 1, 1010, 20)), 1);
    written(&[("main", script)], &[(0, Some(1))], &[sent], &[], |_| {})
}

/// Both threads of a process receive it, long after. The second sends another one to a third process, while it has the first.
fn subscribers() -> Vec<u8> {
    let receive =
        |at: u64, method, ns| Script::new(at).enter_link(1).call(method, move |s| s.wait(ns)).leave_link(1);
    let of = |at: u64, thread, number, ns| {
        let call = RemoteCall { thread, number, ..record(&served(1, 1, at, ns)) };
        message(call, 1)
    };
    let next = RemoteCall { thread: 2, number: 12, ..record(&made(3, 1, 9610, 20)) };
    let calls = [of(9000, 1, 11, 100), of(9600, 2, 12, 300), message(next, 2)];
    let threads = [("a", receive(9000, 5, 100)), ("b", receive(9600, 6, 300))];
    written(&threads, &[(0, Some(6))], &calls, &[link(1, LinkKind::Served, 0, 0)], |_| {})
}

/// It receives what the second subscriber sends.
fn last() -> Vec<u8> {
    let script = Script::new(500).enter_link(1).call(8, |s| s.wait(40)).leave_link(1);
    let call = RemoteCall { number: 1, ..record(&served(1, 1, 500, 40)) };
    written(&[("c", script)], &[], &[message(call, 2)], &[link(1, LinkKind::Served, 0, 0)], |_| {})
}

#[test]
fn what_receivers_do_is_below_the_one_that_has_sent_and_takes_nothing_of_its_time() {
    let files = [sender(), subscribers(), last()];
    let tree = merged(&files, default);
    let all = lines(&tree.model);
    // One message was sent, two have received it, and one of these has sent another one.
    let expected = [
        "3 m1 1 40",
        "4 remote method 0000000000000000 1 20",
        "5 P1 2 0",
        "6 m5 1 100",
        "6 m6 1 280",
        "7 remote method 0000000000000000 1 20",
        "8 P2 1 0",
        "9 m8 1 40",
    ];
    for line in expected {
        assert!(all.iter().any(|one| one == line), "{line}: {all:#?}");
    }
    assert!(tree.remarks.is_empty(), "{:?}", tree.remarks);
}
