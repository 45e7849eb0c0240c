//! Which connections are two ends of one: addresses, hosts, and calls that contradict each other.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::common::remote::{Process, call, connection, matched, object, two, uid};
use RemoteCallKind::{Made, Served};
use instrument_analysis::merge::{MatchState, MatchedBy, Peer, Reason};
use instrument_trace::{Connection, RemoteCall, RemoteCallKind, Side};

const ANY: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn host(last: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, last))
}

/// A call that did not return, over the only connection that there is.
fn silent() -> (Process, Process) {
    let (mut client, mut server) = two();
    server.connections[0].accepted = 1;
    client.calls.truncate(1);
    server.calls.truncate(1);
    (client.calls[0].return_id, server.calls[0].return_id) = (None, None);
    (client, server)
}

/// Whether the call of [`silent`] is found if its ends have these addresses.
fn is_found(addresses: [IpAddr; 4], hosts: [Option<&'static str>; 2]) -> bool {
    let (mut client, mut server) = silent();
    let (made, served) = (&mut client.connections[0], &mut server.connections[0]);
    [made.local, made.remote, served.local, served.remote] = addresses;
    [client.host, server.host] = hosts;
    let (matching, pairs, _) = matched(&[client.file(), server.file()]);
    match matching.made.match_state(0) {
        MatchState::Matched(MatchedBy::Ports) => assert_eq!(pairs, [(1, 1)]),
        // Whose the object is, is known.
        match_state => {
            assert_eq!((match_state, pairs), (MatchState::Unmatched(Reason::NotDispatched), vec![]))
        }
    }
    !matches!(matching.made.match_state(0), MatchState::Unmatched(_))
}

#[test]
fn an_address_fits_itself_and_one_that_is_not_known() {
    // Local and remote of the client, local and remote of the server.
    let same = [host(1), host(2), host(2), host(1)];
    assert!(is_found(same, [None; 2]));
    for place in 0..4 {
        let with = |address| {
            let mut addresses = same;
            addresses[place] = address;
            addresses
        };
        assert!(is_found(with(ANY), [None; 2]), "{place} is not known");
        assert!(is_found(with(IpAddr::V6(Ipv6Addr::UNSPECIFIED)), [None; 2]), "{place} is not known");
        assert!(!is_found(with(host(3)), [None; 2]), "{place} is another one");
    }
}

#[test]
fn ports_are_those_of_the_other_end() {
    for (local, remote) in [(1098, 5000), (1099, 5001)] {
        let (client, mut server) = silent();
        server.connections[0] = Connection { accepted: 1, ..connection(7, Side::Accepted, local, remote, 1) };
        let (matching, pairs, _) = matched(&[client.file(), server.file()]);
        assert_eq!(
            (matching.made.match_state(0), pairs),
            (MatchState::Unmatched(Reason::NotDispatched), vec![])
        );
    }
}

#[test]
fn a_loopback_address_is_of_its_own_host() {
    let loopback = [LOOPBACK; 4];
    for (hosts, found) in [
        ([Some("one"), Some("one")], true),
        ([Some("one"), Some("two")], false),
        // A host that is not known may be the same.
        ([Some("one"), None], true),
        ([None, Some("two")], true),
    ] {
        assert_eq!(is_found(loopback, hosts), found, "{hosts:?}");
        // All other addresses are those of one host.
        assert!(is_found([host(1), host(2), host(2), host(1)], hosts), "{hosts:?}");
    }
    // One end is enough to know.
    assert!(!is_found([host(1), LOOPBACK, ANY, ANY], [Some("one"), Some("two")]));
    assert!(!is_found([ANY, ANY, LOOPBACK, host(1)], [Some("one"), Some("two")]));
}

/// Returns say that a connection of the client has two other ends: a third call has no place on either.
#[test]
fn a_connection_with_two_other_ends_proves_nothing() {
    let (client, mut server) = two();
    let (matching, pairs, _) = matched(&[client.file(), server.file()]);
    assert_eq!((pairs.len(), matching.made.match_state(2)), (3, MatchState::Matched(MatchedBy::Place)));
    server.connections.push(connection(8, Side::Accepted, 1099, 5000, 2));
    server.calls[1].connection = 8;
    let (matching, pairs, _) = matched(&[client.file(), server.file()]);
    assert_eq!(pairs, [(1, 1), (2, 2)]);
    // Who the server is, its object says; the server has the call without its client.
    assert_eq!(matching.made.match_state(2), MatchState::Unmatched(Reason::NotDispatched));
    assert_eq!(matching.made.peer(2), Peer::Party(1));
    assert_eq!(matching.served.match_state(2), MatchState::Unmatched(Reason::PeerNotRecorded));
    // The same where the server's one has two.
    let (mut client, server) = two();
    client.connections.push(connection(2, Side::Connected, 5001, 1099, 2));
    client.calls[1].connection = 2;
    let (matching, pairs, _) = matched(&[client.file(), server.file()]);
    assert_eq!(pairs, [(1, 1), (2, 2)]);
    assert!(
        matches!(matching.made.match_state(2), MatchState::Unmatched(_)),
        "{:?}",
        matching.made.match_state(2)
    );
}

#[test]
fn who_is_at_the_other_end_is_told_by_its_address() {
    let alone = |process: &Process| matched(&[process.file()]).0;
    let (mut client, mut server) = two();
    let (made, served) = (&mut client.connections[0], &mut server.connections[0]);
    (made.remote, served.remote) = (IpAddr::V6(Ipv6Addr::LOCALHOST), host(9));
    let matching = alone(&client);
    assert_eq!((matching.made.peer(0), &*matching.addresses), (Peer::Address(0), &["[::1]:1099".into()][..]));
    // Its port is the client's own business.
    let matching = alone(&server);
    assert_eq!((matching.served.peer(0), &*matching.addresses), (Peer::Address(0), &["10.0.0.9".into()][..]));
    (client.connections[0].remote, server.connections[0].remote) = (ANY, ANY);
    let matching = alone(&client);
    assert_eq!((matching.made.peer(0), matching.addresses.len()), (Peer::Unknown, 0));
    let matching = alone(&server);
    assert_eq!((matching.served.peer(0), matching.addresses.len()), (Peer::Unknown, 0));
}

/// 300 servers that nobody gave a profile of: the first 256 are told apart.
#[test]
fn so_many_addresses_are_told_apart() {
    let mut client = Process::default();
    for number in 1..=300 {
        let server = IpAddr::V4(Ipv4Addr::new(10, 1, (number >> 8) as u8, number as u8));
        let to = connection(number, Side::Connected, 5000, 1099, number);
        client.connections.push(Connection { remote: server, ..to });
        // Twice: an address is listed once.
        for ordinal in 1..=2 {
            client.calls.push(call(Made, number, ordinal, object(2, 9), number, None));
        }
    }
    let matching = matched(&[client.file()]).0;
    assert_eq!(matching.addresses.len(), 256);
    for row in 0..600 {
        let (number, known) = (row / 2, row < 512);
        let peer = if known { Peer::Address(number as usize) } else { Peer::Unknown };
        assert_eq!(matching.made.peer(row), peer, "{row}");
    }
}

/// Connections of which each fits each other: up to 64 are looked at, and are ambiguous for want of a single one that fits; more are
/// ambiguous unseen. A single one of 64 other addresses is found.
#[test]
fn among_many_connections_with_the_same_ports_one_has_to_fit() {
    let among = |others: u8| {
        let (mut client, mut server) = silent();
        (client.connections[0].remote, server.connections[0].local) = (host(200), host(200));
        for other in 0..others {
            let number = 100 + u32::from(other);
            let to = connection(number, Side::Connected, 5000, 1099, number);
            client.connections.push(Connection { remote: host(other), ..to });
            client.calls.push(RemoteCall { connection: number, context: number, ..client.calls[0] });
        }
        let (matching, pairs, _) = matched(&[client.file(), server.file()]);
        (matching.made.match_state(0), pairs.len())
    };
    assert_eq!(among(63), (MatchState::Matched(MatchedBy::Ports), 1));
    assert_eq!(among(64), (MatchState::Unmatched(Reason::AmbiguousConnection), 0));
}

/// A call whose identifier is of an object that another process served, too: who served it is known by the object.
#[test]
fn a_server_is_known_by_what_it_served() {
    let (mut client, server) = two();
    // A second call, over a connection that nobody served anything over.
    client.connections.push(connection(2, Side::Connected, 5002, 1099, 2));
    client.calls.push(call(Made, 2, 1, object(2, 9), 4, None));
    let matching = matched(&[client.file(), server.file()]).0;
    assert_eq!(matching.made.peer(3), Peer::Party(1));
    assert_eq!(matching.made.match_state(3), MatchState::Unmatched(Reason::NotDispatched));
    // It returned: then the server has lost its record.
    client.calls[3].return_id = Some(uid(2, 77));
    let matching = matched(&[client.file(), server.file()]).0;
    assert_eq!(matching.made.match_state(3), MatchState::Unmatched(Reason::NotRecorded));
    // An object of a process that is not there.
    client.calls[3].object = object(3, 9);
    client.calls[3].return_id = None;
    let matching = matched(&[client.file(), server.file()]).0;
    assert_eq!(matching.made.peer(3), Peer::Address(0));
    assert_eq!(matching.made.match_state(3), MatchState::Unmatched(Reason::PeerNotRecorded));
    // What a server refused, for it had no such object, does not make the object its own.
    let (mut client, mut server) = two();
    client.calls.push(call(Made, 1, 9, object(4, 9), 4, None));
    server.calls.push(RemoteCall { no_such_object: true, ..call(Served, 7, 8, object(4, 9), 5, None) });
    client.connections.push(connection(2, Side::Connected, 5002, 1099, 2));
    client.calls.push(call(Made, 2, 1, object(4, 9), 6, None));
    let matching = matched(&[client.file(), server.file()]).0;
    assert_eq!(matching.made.peer(4), Peer::Address(0));
}
