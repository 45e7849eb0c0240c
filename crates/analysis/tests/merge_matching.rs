//! Remote calls of several processes find each other: scripted profiles, random ones with random losses, and files that lie.

use std::collections::BTreeMap;

use crate::common::remote::{Process, call, connection, matched, object, two, uid};
use RemoteCallKind::{Made, Served};
use instrument_analysis::merge::{MatchState, MatchedBy, Party, Peer, Reason, fuller_copies};
use instrument_testing::Writer;
use instrument_trace::{Connection, ObjId, Profile, RemoteCall, RemoteCallKind, Side};
use proptest::prelude::*;

#[test]
fn returns_match_by_their_uid_and_the_rest_by_its_place() {
    let (client, server) = two();
    let (matching, pairs, _) = matched(&[client.file(), server.file()]);
    assert_eq!(pairs, [(1, 1), (2, 2), (3, 3)]);
    assert_eq!(matching.made.match_state(0), MatchState::Matched(MatchedBy::Return));
    assert_eq!(matching.made.match_state(2), MatchState::Matched(MatchedBy::Place));
    // In whatever order they are given, and if both are one process.
    let both = Process {
        connections: [client.connections.clone(), server.connections.clone()].concat(),
        calls: [client.calls.clone(), server.calls.clone()].concat(),
        ..Process::default()
    };
    assert_eq!(matched(&[server.file(), client.file()]).1, pairs);
    assert_eq!(matched(&[both.file()]).1, pairs);
}

#[test]
fn a_disagreement_is_a_contradiction() {
    type Change = fn(&mut RemoteCall);
    let changes: [(usize, Change, &[u32]); 4] = [
        (0, |call| call.object.number = 8, &[2, 3]),
        (1, |call| call.hash = 78, &[1, 3]),
        (2, |call| call.hash = 78, &[1, 2]),
        (2, |call| call.object.number = 8, &[1, 2]),
    ];
    for (at, change, left) in changes {
        let (client, mut server) = two();
        change(&mut server.calls[at]);
        let (matching, pairs, numbers) = matched(&[client.file(), server.file()]);
        assert_eq!(pairs.iter().map(|pair| pair.0).collect::<Vec<_>>(), left);
        assert_eq!(matching.made.match_state(at as u32), MatchState::Unmatched(Reason::Contradiction));
        assert_eq!(matching.served.match_state(at as u32), MatchState::Unmatched(Reason::Contradiction));
        assert_eq!(numbers.unmatched.len(), 2, "{numbers:?}");
    }
    // A server that has no such object reads no method.
    let (client, mut server) = two();
    (server.calls[1].hash, server.calls[1].no_such_object) = (0, true);
    assert_eq!(matched(&[client.file(), server.file()]).1.len(), 3);
}

#[test]
fn places_that_differ_are_reported_and_not_used() {
    let (client, mut server) = two();
    server.calls.iter_mut().for_each(|call| call.ordinal += 1);
    let (matching, pairs, numbers) = matched(&[client.file(), server.file()]);
    assert_eq!((pairs.len(), numbers.misplaced), (2, 2));
    assert_eq!(matching.made.match_state(2), MatchState::Unmatched(Reason::NotDispatched));
}

#[test]
fn reasons_are_what_is_missing() {
    let (mut client, mut server) = two();
    let match_state = |files: &[Vec<u8>], row: u32| matched(files).0.made.match_state(row);
    let why = MatchState::Unmatched;
    assert_eq!(match_state(&[client.file()], 0), why(Reason::PeerNotRecorded));
    assert_eq!(matched(&[server.file()]).0.served.match_state(2), why(Reason::PeerNotRecorded));
    server.calls.pop();
    assert_eq!(match_state(&[client.file(), server.file()], 2), why(Reason::NotDispatched));
    client.calls[2].sent = 0;
    assert_eq!(match_state(&[client.file(), server.file()], 2), why(Reason::InFlight));
    client.calls[2].failed = true;
    assert_eq!(match_state(&[client.file(), server.file()], 2), why(Reason::FailedBeforeSending));
    client.calls[2].connection = 0;
    client.calls[2].failed = false;
    // The program ended before the call had a connection.
    assert_eq!(match_state(&[client.file(), server.file()], 2), why(Reason::InFlight));
    client.calls[2].end = 130;
    assert_eq!(match_state(&[client.file(), server.file()], 2), why(Reason::ConnectionUnknown));
    server.calls.remove(0);
    assert_eq!(match_state(&[client.file(), server.file()], 0), why(Reason::NotRecorded));
    let mut cut = server.file();
    cut.truncate(cut.len() - 64);
    assert_eq!(match_state(&[client.file(), cut], 0), why(Reason::ProfileTruncated));
}

#[test]
fn connections_without_returns_pair_by_ports_where_only_one_fits() {
    let silent = || {
        let (mut client, mut server) = two();
        server.connections[0].accepted = 1;
        client.calls.truncate(1);
        server.calls.truncate(1);
        (client.calls[0].return_id, server.calls[0].return_id) = (None, None);
        (client, server)
    };
    let (mut client, server) = silent();
    let (matching, pairs, _) = matched(&[client.file(), server.file()]);
    assert_eq!((pairs, matching.made.match_state(0)), (vec![(1, 1)], MatchState::Matched(MatchedBy::Ports)));
    // Whether or not the client got to the end of its arguments, or of its profile.
    client.calls[0].sent = 0;
    assert_eq!(matched(&[client.file(), server.file()]).1, [(1, 1)]);
    // The server has accepted another one with these ports, or does not know.
    for accepted in [0, 2] {
        let (client, mut server) = silent();
        server.connections[0].accepted = accepted;
        let (matching, pairs, _) = matched(&[client.file(), server.file()]);
        assert_eq!(
            (pairs, matching.made.match_state(0)),
            (vec![], MatchState::Unmatched(Reason::AmbiguousConnection))
        );
    }
    // Every process has a registry.
    let (mut client, mut server) = silent();
    (client.calls[0].object, server.calls[0].object) = (ObjId::REGISTRY, ObjId::REGISTRY);
    assert_eq!(matched(&[client.file(), server.file()]).1, []);
    let (client, server) = silent();
    // Another process used the same port before.
    let (matching, pairs, _) = matched(&[client.file(), client.file(), server.file()]);
    assert_eq!(pairs, []);
    for rows in [&matching.made, &matching.served] {
        assert_eq!(rows.match_state(0), MatchState::Unmatched(Reason::AmbiguousConnection));
    }
    // Used twice: which is which cannot be told, for there may be others at both ends.
    let (mut client, mut server) = silent();
    for (process, side, local, remote) in
        [(&mut client, Side::Connected, 5000, 1099), (&mut server, Side::Accepted, 1099, 5000)]
    {
        let accepted = if side == Side::Accepted { 2 } else { 0 };
        process.connections.push(Connection { accepted, ..connection(8, side, local, remote, 2) });
        let again = RemoteCall { connection: 8, context: 2, ..process.calls[0] };
        process.calls.push(again);
    }
    assert_eq!(matched(&[client.file(), server.file()]).1, []);
    // Whose is the other one is known.
    (client.calls[0].return_id, server.calls[0].return_id) = (Some(uid(2, 1)), Some(uid(2, 1)));
    let (matching, pairs, _) = matched(&[client.file(), server.file()]);
    assert_eq!(
        (pairs, matching.made.match_state(1)),
        (vec![(1, 1), (2, 2)], MatchState::Matched(MatchedBy::Ports))
    );
    // Unless a record of it is lost.
    server.connections[0].accepted = 2;
    server.connections.pop();
    assert_eq!(matched(&[client.file(), server.file()]).1, [(1, 1)]);
    // Not the same object.
    let (client, mut server) = silent();
    server.calls[0].object.number = 1;
    assert_eq!(matched(&[client.file(), server.file()]).1, []);
}

#[test]
fn runs_and_copies_are_distinguished() {
    let (client, server) = two();
    let (other, _) = two();
    // The same ports, objects and methods, but other virtual machines: another run.
    let mut foreign = server.clone();
    for call in &mut foreign.calls {
        call.object.space.unique = 3;
        call.return_id = call.return_id.map(|_| uid(3, 1 + call.ordinal as i16));
    }
    assert_eq!(matched(&[client.file(), foreign.file()]).1, []);
    assert_eq!(matched(&[client.file(), foreign.file(), server.file()]).1.len(), 3);
    // The same file twice under two names, which nothing tells: neither is believed.
    let (matching, pairs, _) = matched(&[client.file(), other.file(), server.file()]);
    assert_eq!(matching.made.match_state(0), MatchState::Unmatched(Reason::Contradiction));
    assert!(pairs.is_empty(), "{pairs:?}");
    let (matching, pairs, _) = matched(&[client.file(), server.file(), server.file()]);
    assert_eq!(matching.served.match_state(0), MatchState::Unmatched(Reason::Contradiction));
    assert!(pairs.is_empty(), "{pairs:?}");
    assert_eq!(matched(&[client.file()]).0.made.peer(0), Peer::Address(0));
    assert_eq!(matched(&[client.file()]).0.addresses, ["10.0.0.1:1099"]);
    let nonces = [4u64, 5, 4, 0, 0].map(|nonce| {
        let mut writer = Writer::new();
        writer.word(16, nonce);
        writer.finish()
    });
    assert_eq!(copies(&nonces), [None, None, Some(0), None, None]);
}

fn copies(files: &[Vec<u8>]) -> Vec<Option<usize>> {
    let profiles: Vec<_> = files.iter().map(|file| Profile::parse(file).unwrap()).collect();
    let parties: Vec<_> =
        profiles.iter().zip(files).map(|(profile, source)| Party { profile, source }).collect();
    fuller_copies(&parties).unwrap()
}

#[test]
fn the_fuller_of_two_copies_is_kept() {
    let (client, server) = two();
    let of = |process: &Process, nonce: u64| {
        let mut file = process.file();
        file[16..24].copy_from_slice(&nonce.to_le_bytes());
        file
    };
    let (whole, other) = (of(&server, 7), of(&client, 8));
    let cut = |length: usize| whole[..length].to_vec();
    assert_eq!(copies(&[whole.clone(), cut(whole.len() - 64), other.clone()]), [None, Some(0), None]);
    assert_eq!(copies(&[cut(4200), other.clone(), whole.clone()]), [Some(2), None, None]);
    assert_eq!(
        copies(&[cut(4200), whole.clone(), other, cut(whole.len() - 128)]),
        [Some(1), None, None, Some(1)]
    );
    // Damaged, and no less in it.
    let mut damaged = whole.clone();
    let length = damaged.len();
    damaged.splice(length.., [b'B', b'L', b'O', b'K']);
    damaged.resize(length + 4096, 0xff);
    assert_eq!(copies(&[damaged, whole]), [Some(1), None]);
}

/// A source of random numbers that is the same for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % below
    }
}

/// Processes that call each other and themselves over ports that are used again; some calls do not return. Half of the connections carry
/// nothing that returns. A call that is not dispatched may look just like one of another client, whose profile may be missing, over a
/// connection with the same ports. Some servers were not watched from the beginning.
fn world(dice: &mut Dice) -> Vec<Process> {
    let count = 2 + dice.roll(4) as usize;
    let mut processes = vec![Process::default(); count];
    let mut used: BTreeMap<(usize, Side, u16, u16), u32> = BTreeMap::new();
    // Sockets accepted, and the last connection that is recorded, by server and ports.
    let mut sockets: BTreeMap<(usize, u16), (u32, Option<usize>)> = BTreeMap::new();
    let is_watched: Vec<bool> = (0..count).map(|_| dice.roll(6) > 0).collect();
    let (mut serial, mut counts) = (0, vec![0i16; count]);
    for number in 1..=10 + dice.roll(30) as u32 {
        let (client, server) = (dice.roll(count as u64) as usize, dice.roll(count as u64) as usize);
        let is_silent = dice.roll(2) == 0;
        let returning = if is_silent { 0 } else { 1 + dice.roll(4) as u32 };
        let last = dice.roll(5);
        let port = 5000 + dice.roll(3 + 4 * u64::from(count > 3)) as u16;
        let listens = 1099 + server as u16;
        let (mut made, mut served) = (Vec::new(), Vec::new());
        for ordinal in 1..=returning + 1 {
            serial += 1;
            let object =
                if dice.roll(4) == 0 { ObjId::REGISTRY } else { object(server as i32, dice.roll(3) as i64) };
            let mut here = call(Made, 2 * number, ordinal, object, serial, None);
            let mut there = call(Served, 2 * number + 1, ordinal, object, serial, None);
            (here.hash, there.hash) = (dice.roll(2) as i64, 0);
            there.hash = here.hash;
            let id = uid(server as i32, counts[server]);
            counts[server] += 1;
            if ordinal <= returning {
                (here.return_id, there.return_id) = (Some(id), Some(id));
            } else {
                match last {
                    0 => break,
                    // Not dispatched.
                    1 => {
                        made.push(here);
                        break;
                    }
                    // The client did not hear of the return.
                    2 => there.return_id = Some(id),
                    // Not sent.
                    3 => {
                        (here.sent, here.failed, here.end) = (0, true, 1);
                        made.push(here);
                        break;
                    }
                    _ => {}
                }
            }
            made.push(here);
            served.push(there);
        }
        let (socket, record) = sockets.entry((server, port)).or_default();
        *socket += 1;
        let accepted = if is_watched[server] { *socket } else { 0 };
        if let Some(at) = *record {
            processes[server].connections[at].accepted = accepted;
        }
        for (process, side, local, remote, at, calls) in [
            (client, Side::Connected, port, listens, 2 * number, made),
            (server, Side::Accepted, listens, port, 2 * number + 1, served),
        ] {
            if !calls.is_empty() {
                let incarnation = used.entry((process, side, local, remote)).or_default();
                *incarnation += 1;
                let mut made = connection(at, side, local, remote, *incarnation);
                if side == Side::Accepted {
                    *record = Some(processes[process].connections.len());
                    made.accepted = accepted;
                }
                processes[process].connections.push(made);
                processes[process].calls.extend(calls);
            }
        }
    }
    processes
}

#[test]
fn calls_that_did_not_return_are_found_by_ports_where_that_is_sure() {
    let (mut by_ports, mut ambiguous) = (0, 0);
    for seed in 0..500 {
        let files: Vec<_> = world(&mut Dice(seed)).iter().map(Process::file).collect();
        let (_, _, numbers) = matched(&files);
        by_ports += numbers.matched.values().map(|of| of.by_ports).sum::<u64>();
        let unsure = numbers
            .unmatched
            .iter()
            .filter(|((_, made, why, _), _)| *made && *why == Reason::AmbiguousConnection);
        ambiguous += unsure.map(|(_, calls)| calls).sum::<u64>();
    }
    assert!(by_ports > 100 && ambiguous > 100, "{by_ports} by ports, {ambiguous} ambiguous");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

    #[test]
    fn random_calls_are_never_matched_wrongly(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let processes = world(&mut dice);
        let mut files: Vec<_> = processes.iter().map(Process::file).collect();
        // All there: what returned is matched.
        let (_, pairs, _) = matched(&files);
        for (made, served) in &pairs {
            prop_assert_eq!(made, served);
        }
        let served: std::collections::BTreeSet<_> = processes.iter().flat_map(|p| &p.calls)
            .filter(|call| call.kind == Served).map(|call| call.context).collect();
        let returned = processes.iter().flat_map(|p| &p.calls)
            .filter(|call| call.kind == Made && call.return_id.is_some()).collect::<Vec<_>>();
        for call in &returned {
            prop_assert!(served.contains(&call.context) && pairs.contains(&(call.context, call.context)));
        }
        // Profiles are missing, or cut.
        let whole = files.clone();
        for _ in 0..4 {
            files.clone_from(&whole);
            for _ in 0..1 + dice.roll(3) {
                let at = dice.roll(files.len() as u64) as usize;
                if dice.roll(2) == 0 && files.len() > 1 {
                    files.remove(at);
                } else {
                    let left = 4096 + dice.roll(files[at].len() as u64 - 4096 + 1) as usize;
                    files[at].truncate(left);
                }
            }
            for (made, served) in matched(&files).1 {
                prop_assert_eq!(made, served);
            }
        }
    }

    #[test]
    fn bytes_that_lie_are_taken(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let mut files: Vec<_> = world(&mut dice).iter().map(Process::file).collect();
        for _ in 0..30 {
            let at = dice.roll(files.len() as u64) as usize;
            let file = &mut files[at];
            let place = 4096 + dice.roll(file.len() as u64 - 4096) as usize;
            file[place] = dice.roll(256) as u8;
        }
        matched(&files);
    }
}
