//! Why calls were not matched, and what is known of them all the same: whose they are, and whether the runtime made them for itself.

use std::cell::Cell;
use std::io;

use crate::common::remote::{Process, call, connection, matched, object, two, uid};
use RemoteCallKind::{Made, Other, Served};
use instrument_analysis::merge::calls::{is_internal, knows_object};
use instrument_analysis::merge::view::roots;
use instrument_analysis::merge::{MatchState, MatchedBy, Numbers, Party, Peer, Reason, fuller_copies};
use instrument_testing::{REMOTE_CALL, Writer};
use instrument_trace::{Connection, ObjId, Profile, RemoteCall, RemoteCallKind, Side, Source};

/// The first and the last call of a client and a server whose other record is not there: what is said of them.
fn missing_at(change: impl Fn(&mut Process)) -> [MatchState; 3] {
    let (mut client, mut server) = two();
    // The server has neither a call that returned, nor one that did not.
    server.calls.remove(0);
    server.calls.pop();
    change(&mut server);
    let made = matched(&[client.file(), server.file()]).0.made;
    let made = [made.match_state(0), made.match_state(2)];
    // The same of the client: the server has what the client lost.
    let (_, server) = two();
    client.calls.remove(0);
    change(&mut client);
    let served = matched(&[client.file(), server.file()]).0.served;
    [made[0], made[1], served.match_state(0)]
}

#[test]
fn what_the_other_process_did_not_record_has_its_reason() {
    let reasons = |returned, other, served| [returned, other, served].map(MatchState::Unmatched);
    assert_eq!(missing_at(|_| {}), reasons(Reason::NotRecorded, Reason::NotDispatched, Reason::NotRecorded));
    assert_eq!(
        missing_at(|process| process.is_paused = true),
        reasons(Reason::Paused, Reason::Paused, Reason::Paused)
    );
    // What is lost may be anything; that recording was paused says less.
    let cut = |file: Vec<u8>| file[..file.len() - 8].to_vec();
    for is_paused in [false, true] {
        let (client, mut server) = two();
        server.calls.remove(0);
        server.is_paused = is_paused;
        let made = matched(&[client.file(), cut(server.file())]).0.made;
        assert_eq!(made.match_state(0), MatchState::Unmatched(Reason::ProfileTruncated), "{is_paused}");
        let (mut client, server) = two();
        client.calls.remove(0);
        client.is_paused = is_paused;
        let served = matched(&[cut(client.file()), server.file()]).0.served;
        assert_eq!(served.match_state(0), MatchState::Unmatched(Reason::ProfileTruncated), "{is_paused}");
    }
}

/// One side knows the return, and the other does not: the place on the connection is enough.
#[test]
fn a_return_that_one_side_knows_contradicts_nothing() {
    for at_the_client in [true, false] {
        let (mut client, mut server) = two();
        let side = if at_the_client { &mut client } else { &mut server };
        side.calls[2].return_id = Some(uid(2, 3));
        let (matching, pairs, _) = matched(&[client.file(), server.file()]);
        assert_eq!(
            (pairs.len(), matching.made.match_state(2)),
            (3, MatchState::Matched(MatchedBy::Place)),
            "{at_the_client}"
        );
    }
    // Two different ones are two calls.
    let (mut client, mut server) = two();
    (client.calls[2].return_id, server.calls[2].return_id) = (Some(uid(2, 3)), Some(uid(2, 4)));
    assert_eq!(
        matched(&[client.file(), server.file()]).0.made.match_state(2),
        MatchState::Unmatched(Reason::Contradiction)
    );
}

/// A call that has another place at one end than at the other: then places on that connection say nothing.
#[test]
fn a_place_that_was_wrong_once_is_not_believed() {
    let (client, mut server) = two();
    server.calls[1].ordinal = 9;
    let (matching, pairs, numbers) = matched(&[client.file(), server.file()]);
    assert_eq!((pairs, numbers.misplaced), (vec![(1, 1), (2, 2)], 1));
    assert!(
        matches!(matching.made.match_state(2), MatchState::Unmatched(_)),
        "{:?}",
        matching.made.match_state(2)
    );
    // A call without a connection has no place that could be wrong.
    let (client, mut server) = two();
    (server.calls[1].ordinal, server.calls[1].connection) = (9, 0);
    let (_, pairs, numbers) = matched(&[client.file(), server.file()]);
    assert_eq!((pairs.len(), numbers.misplaced), (3, 0));
}

/// The server recorded stub and skeleton alone: that its method was served there is all that is known.
#[test]
fn a_method_that_was_served_somewhere_is_known_by_its_name() {
    let with_names = |method: u32, connection: u32| {
        let (mut client, mut server) = two();
        client.calls = vec![RemoteCall { method: 2, ..call(Made, 1, 1, object(3, 9), 1, None) }];
        server.calls = vec![RemoteCall { method, ..call(Served, connection, 1, ObjId::default(), 1, None) }];
        // Not the other end of the client's.
        server.connections[0].remote_port = 5001;
        for process in [&mut client, &mut server] {
            process.names = vec![(2, "sell(I)V"), (3, "buy(I)V")];
        }
        matched(&[client.file(), server.file()]).0.made.match_state(0)
    };
    assert_eq!(with_names(2, 0), MatchState::Unmatched(Reason::PeerConnectionUnknown));
    assert_eq!(with_names(3, 0), MatchState::Unmatched(Reason::PeerNotRecorded));
    // It was served for somebody else.
    assert_eq!(with_names(2, 7), MatchState::Unmatched(Reason::PeerNotRecorded));
}

/// A call that got no connection tells where it wanted one.
#[test]
fn who_was_asked_in_vain_is_told_by_name_and_port() {
    let mut client = Process { names: vec![(4, "shop.example"), (5, "bank.example")], ..Process::default() };
    for (serial, (host, port)) in (1..).zip([(4, 1099), (5, 1099), (4, 1098), (4, 1099), (6, 1099)]) {
        let failed = call(Made, 0, 0, object(2, 9), serial, None);
        client.calls.push(RemoteCall { host, port, failed: true, sent: 0, end: 130, ..failed });
    }
    // No name has this number; and a kind of call that is not known is counted.
    client.calls.extend([70, 80].map(|kind| call(Other(kind), 0, 0, object(2, 9), 9, None)));
    let (matching, _, numbers) = matched(&[client.file()]);
    let asked = ["shop.example:1099", "bank.example:1099", "shop.example:1098"];
    assert_eq!((&numbers.addresses[..], numbers.unknown), (&asked.map(str::to_owned)[..], 2));
    let peers: Vec<_> = (0..5).map(|row| matching.made.peer(row)).collect();
    assert_eq!(peers, [0, 1, 2, 0].map(Peer::Address).into_iter().chain([Peer::Unknown]).collect::<Vec<_>>());
    assert_eq!(matching.made.match_state(0), MatchState::Unmatched(Reason::FailedBeforeSending));
    assert_eq!((matching.made.is_empty(), matching.served.is_empty()), (false, true));
}

#[test]
fn a_well_known_object_is_the_runtimes_own_if_it_is_known() {
    // An object that is all 0 may be one that nobody read.
    assert_eq!(ObjId::REGISTRY, ObjId::default());
    let asked = |kind, connection, host| RemoteCall {
        kind,
        connection,
        host,
        object: ObjId::REGISTRY,
        ..REMOTE_CALL
    };
    for (call, is_known) in [
        (asked(Made, 0, 0), false),
        (asked(Made, 0, 4), true),
        (asked(Made, 1, 0), true),
        (asked(Made, 1, 4), true),
        // A server is asked by a connection alone.
        (asked(Served, 0, 4), false),
        (asked(Served, 0, 0), false),
        (asked(Served, 1, 0), true),
    ] {
        assert_eq!((knows_object(&call), is_internal(&call)), (is_known, is_known), "{call:?}");
        let own = RemoteCall { object: object(2, 0), ..call };
        assert_eq!((knows_object(&own), is_internal(&own)), (true, false), "{own:?}");
        for object in [ObjId::DGC, ObjId::ACTIVATOR] {
            let other = RemoteCall { object, ..call };
            assert_eq!((knows_object(&other), is_internal(&other)), (true, true), "{other:?}");
        }
    }
}

/// Where no call is known to be nobody's answer, it is who makes calls and serves least; of processes whose program made none it is one whose runtime did.
#[test]
fn the_tree_begins_with_who_makes_calls() {
    type Of = (u64, u64, u64);
    let of = |processes: &[Of]| {
        roots(&Numbers {
            own: processes.iter().map(|&(made, served, _)| (made, served)).collect(),
            outermost: vec![0; processes.len()],
            made: processes.iter().map(|&(.., with_internal)| with_internal).collect(),
            ..Numbers::default()
        })
    };
    assert!(of(&[]).is_empty());
    assert_eq!(of(&[(0, 0, 0), (0, 5, 3), (0, 4, 2), (0, 4, 9)]), [2]);
    assert_eq!(of(&[(0, 0, 7), (2, 5, 2), (1, 4, 1)]), [2]);
    assert_eq!(of(&[(0, 1, 0), (0, 0, 0)]), [1]);
}

/// Bytes that count how often they are read.
struct Counted(Vec<u8>, Cell<u32>);

impl Source for Counted {
    fn size(&self) -> io::Result<u64> {
        self.0.size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.1.set(self.1.get() + 1);
        self.0.read_at(offset, buffer)
    }
}

/// Of two profiles of a process, that with more remote calls is kept, whatever else is in the other one; a process that is there once is not
/// read for that.
#[test]
fn the_copy_with_more_remote_calls_is_kept() {
    let file = |nonce: u64, calls: usize, beat: u64| {
        let mut writer = Writer::new();
        writer.word(16, nonce).clocks(beat, 0);
        writer.remote_calls(&vec![Some(call(Made, 0, 0, object(2, 9), 1, None)); calls]);
        Counted(writer.finish(), Cell::new(0))
    };
    let sources = [file(7, 1, 9000), file(8, 3, 9000), file(7, 2, 5000)];
    let profiles: Vec<_> = sources.iter().map(|source| Profile::parse(&source.0).unwrap()).collect();
    let parties: Vec<_> =
        profiles.iter().zip(&sources).map(|(profile, source)| Party { profile, source }).collect();
    assert_eq!(fuller_copies(&parties).unwrap(), [Some(2), None, None]);
    let reads: Vec<_> = sources.iter().map(|source| source.1.get() > 0).collect();
    assert_eq!(reads, [true, false, true]);
}

/// The other end of a connection is looked for only where there is one.
#[test]
fn a_connection_of_nobody_has_an_address() {
    let (client, mut server) = two();
    server.connections[0] = Connection { accepted: 1, ..connection(7, Side::Accepted, 1099, 5001, 1) };
    server.calls.iter_mut().for_each(|call| call.return_id = None);
    let matching = matched(&[client.file(), server.file()]).0;
    let match_states: Vec<_> = (0..3).map(|row| matching.served.match_state(row)).collect();
    assert_eq!(match_states, [MatchState::Unmatched(Reason::PeerNotRecorded); 3]);
}
