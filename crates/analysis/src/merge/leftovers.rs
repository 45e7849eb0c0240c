//! Calls that no return tells of: steps 5 to 7 of [`super::matching`].

use std::collections::BTreeMap;
use std::net::SocketAddr;

use instrument_trace::{Error, Http, Protocol, RemoteCall, RemoteCallKind, Source};

use super::Party;
use super::calls::{
    Checks, Hasher, MatchState, MatchedBy, Matching, NONE, Peer, Reason, is_grpc, is_well_known,
};
use super::connections::Connections;
use crate::hash::HashMap;

/// Connections with the same ports among which the other end is looked for.
const MOST_ALIKE: usize = 64;

/// Addresses of processes that nobody gave a profile of; more are not told apart.
const MOST_ADDRESSES: usize = 256;

/// What is left to know of a call that has no other side so far.
#[derive(Debug, Clone, Copy)]
struct Left {
    row: u32,
    checks: Checks,
    returned: bool,
    no_such_object: bool,
    failed: bool,
    sent: bool,
    /// It had not ended when its profile did.
    is_open: bool,
    /// Number of the virtual machine that the object, or else the return, is of.
    machine: Option<i32>,
    /// No other process has such an object.
    is_own_object: bool,
    /// Where no connection to could be had; of a request by HTTP, where it went to or came from; or [`Peer::Unknown`].
    asked: Peer,
    /// Hash of the method's name and descriptor, if they are known.
    method: Option<u32>,
    /// It is a request by HTTP, or a call by gRPC.
    http: Option<Http>,
    /// Made, by gRPC: it ended with a status that need not come from the server.
    may_be_unanswered: bool,
}

impl Left {
    fn agrees(&self, served: &Left) -> bool {
        self.checks.object == served.checks.object
            && (served.no_such_object || self.checks.method == served.checks.method)
            // Two returns that are known and were not found to be the same are not.
            && !(self.returned && served.returned)
    }
}

/// What is left over of each connection, by place.
type ByPlace = HashMap<u32, BTreeMap<u32, Left>>;

pub(crate) fn settle<S: Source>(
    matching: &mut Matching,
    parties: &[Party<'_, S>],
    connections: &mut Connections,
    hasher: &Hasher,
    requests: HashMap<u32, ()>,
) -> Result<(), Error> {
    let mut left = Lefts::read(matching, parties, hasher)?;
    left.by_place(matching, connections);
    let mut ambiguous = by_ports(&left, matching, connections);
    ambiguous.extend(requests);
    left.made.retain(|left| matching.made.partner[left.row as usize] == NONE);
    left.served.retain(|left| matching.served.partner[left.row as usize] == NONE);
    left.give_reasons(matching, parties, connections, &ambiguous);
    matching.addresses = left.addresses.all;
    Ok(())
}

#[derive(Default)]
struct Lefts {
    made: Vec<Left>,
    served: Vec<Left>,
    /// Which party a virtual machine is, by what it served.
    machines: HashMap<i32, usize>,
    /// Methods that were served over connections that are not known.
    served_somehow: HashMap<u32, ()>,
    /// Requests by HTTP without a place and without a key: whether they were made, and the hash of method and path.
    without_place: HashMap<(bool, u32), ()>,
    addresses: Addresses,
}

/// Places that the other side of calls is at.
#[derive(Default)]
struct Addresses {
    all: Vec<String>,
    known: HashMap<String, usize>,
}

impl Addresses {
    fn of(&mut self, address: String) -> Peer {
        let next = self.all.len();
        match self.known.get(&address) {
            Some(&known) => Peer::Address(known),
            None if next >= MOST_ADDRESSES => Peer::Unknown,
            None => {
                self.all.push(address.clone());
                self.known.insert(address, next);
                Peer::Address(next)
            }
        }
    }

    /// Of a call made, where the server listens; of one that was served, the client's host.
    fn of_connection(&mut self, connections: &Connections, connection: u32, is_made: bool) -> Peer {
        let Some(end) = connections.ends.get(connection as usize) else { return Peer::Unknown };
        let of = &end.connection;
        match is_made {
            _ if of.remote.is_unspecified() => Peer::Unknown,
            true => self.of(SocketAddr::new(of.remote, of.remote_port).to_string()),
            false => self.of(of.remote.to_string()),
        }
    }
}

impl Lefts {
    fn read<S: Source>(
        matching: &Matching,
        parties: &[Party<'_, S>],
        hasher: &Hasher,
    ) -> Result<Lefts, Error> {
        let mut lefts = Lefts::default();
        for (number, party) in parties.iter().enumerate() {
            let names =
                |call: &RemoteCall| party.profile.copies.get(&call.copy).map(|copy| &copy.class_names);
            let method = |call: &RemoteCall| {
                names(call).and_then(|names| names.get(&call.method)).map(|text| hasher.method(text))
            };
            let has_no_place = |rows: &super::Rows, row: u32, call: &RemoteCall| {
                let http = call.http.filter(|http| http.key.is_none() && !http.is_shared && !http.is_unsent);
                http.is_some() && rows.connection[row as usize] == NONE
            };
            party.visit(matching.rows(number), |row, call| match call.kind {
                RemoteCallKind::Made => {
                    if has_no_place(&matching.made, row, call) {
                        lefts.without_place.insert((true, hasher.checks(call).method), ());
                    }
                    if matching.made.match_state[row as usize] == MatchState::Open {
                        let host = names(call).and_then(|names| names.get(&call.host));
                        let asked = host.map(|host| lefts.addresses.of(format!("{host}:{}", call.port)));
                        let asked = asked.unwrap_or(Peer::Unknown);
                        let method = method(call);
                        lefts.made.push(Left { asked, method, ..Left::new(row, call, hasher) });
                    }
                }
                RemoteCallKind::Served => {
                    if has_no_place(&matching.served, row, call) {
                        lefts.without_place.insert((false, hasher.checks(call).method), ());
                    }
                    if matching.served.match_state[row as usize] == MatchState::Open {
                        let client = names(call).and_then(|names| names.get(&call.host));
                        let client = client.filter(|_| call.http.is_some());
                        let asked = client.map_or(Peer::Unknown, |host| lefts.addresses.of(host.clone()));
                        lefts.served.push(Left { asked, ..Left::new(row, call, hasher) });
                        if matching.served.connection[row as usize] == NONE
                            && let Some(method) = method(call)
                        {
                            lefts.served_somehow.insert(method, ());
                        }
                    }
                    let machine = call.return_id.map(|uid| uid.unique);
                    let of_object = !call.no_such_object && !is_well_known(&call.object);
                    let machine = machine.or(of_object.then_some(call.object.space.unique));
                    if let Some(machine) = machine {
                        lefts.machines.entry(machine).or_insert(number);
                    }
                }
                RemoteCallKind::Other(_) => {}
            })?;
        }
        Ok(lefts)
    }

    /// Calls on connections whose two ends are known.
    fn by_place(&mut self, matching: &mut Matching, connections: &Connections) {
        let mut served: HashMap<(u32, u32), Left> = HashMap::default();
        for left in self.served.iter().filter(|left| left.http.is_none()) {
            let at = left.row as usize;
            let connection = matching.served.connection[at];
            if connections.other(connection).is_some() {
                served.insert((connection, matching.served.ordinal[at]), *left);
            }
        }
        for made in self.made.iter().filter(|left| left.http.is_none()) {
            let at = made.row as usize;
            let Some(other) = connections.other(matching.made.connection[at]) else { continue };
            let Some(served) = served.get(&(other, matching.made.ordinal[at])) else { continue };
            join_or_contradict(matching, made, served, MatchedBy::Place);
        }
    }

    fn give_reasons<S: Source>(
        &mut self,
        matching: &mut Matching,
        parties: &[Party<'_, S>],
        connections: &Connections,
        ambiguous: &HashMap<u32, ()>,
    ) {
        let incomplete: Vec<bool> = parties.iter().map(Party::is_incomplete).collect();
        for left in &self.made {
            let at = left.row as usize;
            let connection = matching.made.connection[at];
            let other = connections.other(connection).map(|other| connections.ends[other as usize].party);
            let machine = left.machine.and_then(|machine| self.machines.get(&machine).copied());
            let peer = other.or(machine);
            let at_the_other_end = match (peer, left.asked) {
                (Some(peer), _) => Peer::Party(peer),
                (None, Peer::Unknown) => self.addresses.of_connection(connections, connection, true),
                (None, asked) => asked,
            };
            matching.made.set_peer(left.row, at_the_other_end);
            if matching.made.match_state[at] != MatchState::Open {
                continue;
            }
            if let Some(http) = left.http {
                let reason = self.reason_of(left, http, true, connection, ambiguous);
                matching.made.match_state[at] = MatchState::Unmatched(reason);
                continue;
            }
            let reason = match peer {
                _ if left.failed && !left.sent => Reason::FailedBeforeSending,
                // It had begun, and had no connection yet.
                _ if connection == NONE && left.is_open && !left.sent && !left.returned => Reason::InFlight,
                _ if connection == NONE && !left.returned => Reason::ConnectionUnknown,
                _ if ambiguous.contains_key(&connection) => Reason::AmbiguousConnection,
                _ if !left.sent && !left.returned => Reason::InFlight,
                None if left.method.is_some_and(|method| self.served_somehow.contains_key(&method)) => {
                    Reason::PeerConnectionUnknown
                }
                None => Reason::PeerNotRecorded,
                Some(peer) if incomplete[peer] => Reason::ProfileTruncated,
                Some(peer) if parties[peer].was_paused() => Reason::Paused,
                Some(_) if left.returned => Reason::NotRecorded,
                Some(_) => Reason::NotDispatched,
            };
            matching.made.match_state[at] = MatchState::Unmatched(reason);
        }
        for left in &self.served {
            let at = left.row as usize;
            let connection = matching.served.connection[at];
            let peer = connections.other(connection).map(|other| connections.ends[other as usize].party);
            let at_the_other_end = match peer {
                Some(peer) => Peer::Party(peer),
                None if left.http.is_some() => left.asked,
                None => self.addresses.of_connection(connections, connection, false),
            };
            matching.served.set_peer(left.row, at_the_other_end);
            if matching.served.match_state[at] != MatchState::Open {
                continue;
            }
            if let Some(http) = left.http {
                let reason = self.reason_of(left, http, false, connection, ambiguous);
                matching.served.match_state[at] = MatchState::Unmatched(reason);
                continue;
            }
            let reason = match peer {
                _ if connection == NONE => Reason::ConnectionUnknown,
                _ if ambiguous.contains_key(&connection) => Reason::AmbiguousConnection,
                None => Reason::PeerNotRecorded,
                Some(peer) if incomplete[peer] => Reason::ProfileTruncated,
                Some(peer) if parties[peer].was_paused() => Reason::Paused,
                Some(_) => Reason::NotRecorded,
            };
            matching.served.match_state[at] = MatchState::Unmatched(reason);
        }
    }
}

impl Lefts {
    /// Why a request by HTTP has no other side.
    fn reason_of(
        &self,
        left: &Left,
        http: Http,
        is_made: bool,
        connection: u32,
        ambiguous: &HashMap<u32, ()>,
    ) -> Reason {
        let is_keyed = http.key.is_some();
        let may_be_elsewhere = || self.without_place.contains_key(&(!is_made, left.checks.method));
        match http {
            Http { is_unsent: true, .. } => return Reason::NotSent,
            // No provider has given it an id.
            Http { protocol: Protocol::Jms, key: None, .. } if is_made && left.failed => {
                return Reason::Unanswered;
            }
            _ if is_keyed => {}
            Http { is_shared: true, .. } => return Reason::SharedConnection,
            Http { is_forwarded: true, .. } => return Reason::Forwarded,
            Http { has_bad_key: true, .. } if connection == NONE => return Reason::BadKey,
            _ if connection == NONE => return Reason::NoKey,
            _ if ambiguous.contains_key(&connection) => return Reason::AmbiguousConnection,
            _ if may_be_elsewhere() => return Reason::NoKey,
            _ => {}
        }
        match left {
            Left { is_open: true, .. } if is_made => Reason::InFlight,
            Left { failed: true, .. } | Left { may_be_unanswered: true, .. } if is_made => Reason::Unanswered,
            _ => Reason::NoOtherRecord,
        }
    }
}

impl Left {
    fn new(row: u32, call: &RemoteCall, hasher: &Hasher) -> Left {
        let object = (!is_well_known(&call.object)).then_some(call.object.space.unique);
        Left {
            row,
            checks: hasher.checks(call),
            returned: call.return_id.is_some(),
            no_such_object: call.no_such_object,
            failed: call.failed,
            sent: call.sent != 0,
            is_open: call.end == 0,
            machine: call.return_id.map(|uid| uid.unique).or(object),
            is_own_object: object.is_some(),
            asked: Peer::Unknown,
            method: None,
            http: call.http,
            may_be_unanswered: is_grpc(call) && call.has_error_status(),
        }
    }
}

/// Two calls have the same place on the same connection: they are one, or contradict each other.
fn join_or_contradict(matching: &mut Matching, made: &Left, served: &Left, how: MatchedBy) {
    let is_free = matching.served.match_state[served.row as usize] == MatchState::Open;
    if !is_free {
        matching.made.match_state[made.row as usize] = MatchState::Unmatched(Reason::Contradiction);
    } else if made.agrees(served) {
        matching.join(made.row, served.row, how);
    } else {
        matching.made.match_state[made.row as usize] = MatchState::Unmatched(Reason::Contradiction);
        matching.served.match_state[served.row as usize] = MatchState::Unmatched(Reason::Contradiction);
    }
}

/// Connections over which nothing returned. Two are the ends of one if
///
/// 1. their addresses and ports fit, and no call tells of another end of either;
/// 2. they are the only ones left with these ports;
/// 3. the server has accepted no socket with these ports but those that it recorded calls of, whose other ends are all
///    known but for this one: a client whose profile is missing may have had them before or after, and the server has
///    not dispatched what came from here;
/// 4. at least one call has the same place on both and is of an object that this server alone has; all others agree,
///    too.
///
/// What nothing but these could be, and is refused by one of them, is returned: ambiguous.
fn by_ports(left: &Lefts, matching: &mut Matching, connections: &mut Connections) -> HashMap<u32, ()> {
    let collect = |rows: &super::Rows, left: &[Left]| {
        let mut by: ByPlace = HashMap::default();
        let is_open = |left: &&Left| rows.match_state[left.row as usize] == MatchState::Open;
        for left in left.iter().filter(|left| left.http.is_none()).filter(is_open) {
            let connection = rows.connection[left.row as usize];
            let is_free = connections.ends.get(connection as usize).is_some_and(|end| end.other == NONE);
            if is_free {
                by.entry(connection).or_default().insert(rows.ordinal[left.row as usize], *left);
            }
        }
        by
    };
    let (made, served) = (collect(&matching.made, &left.made), collect(&matching.served, &left.served));
    let mut by_ports: BTreeMap<(u16, u16), (Vec<u32>, Vec<u32>)> = BTreeMap::new();
    for &index in made.keys() {
        let of = &connections.ends[index as usize].connection;
        by_ports.entry((of.local_port, of.remote_port)).or_default().0.push(index);
    }
    for &index in served.keys() {
        let of = &connections.ends[index as usize].connection;
        by_ports.entry((of.remote_port, of.local_port)).or_default().1.push(index);
    }
    let accepted = if by_ports.is_empty() { HashMap::default() } else { connections.accepted() };
    let mut ambiguous = HashMap::default();
    let mut pairs = Vec::new();
    for (from, to) in by_ports.into_values() {
        let end = |index: u32| &connections.ends[index as usize];
        if from.len().max(to.len()) > MOST_ALIKE {
            ambiguous.extend(from.iter().chain(&to).map(|&index| (index, ())));
            continue;
        }
        for &client in &from {
            let fitting: Vec<u32> =
                to.iter().copied().filter(|&server| connections.fits(end(client), end(server))).collect();
            let chosen = match fitting[..] {
                [] => continue,
                [server] if from.iter().filter(|&&c| connections.fits(end(c), end(server))).count() == 1 => {
                    Some(server)
                }
                _ => None,
            };
            let is_sole = |server: u32| {
                let alike = accepted.get(&end(server).key()).map_or(&[][..], Vec::as_slice);
                let sockets = alike.iter().map(|&index| end(index).connection.accepted).max();
                sockets.is_some_and(|sockets| sockets as usize == alike.len())
                    && alike.iter().all(|&index| index == server || connections.other(index).is_some())
            };
            let agrees = |server: u32| {
                let (calls, others) = (&made[&client], &served[&server]);
                let common = calls.iter().filter_map(|(place, call)| Some((call, others.get(place)?)));
                let mut is_here = false;
                let agree = common.into_iter().all(|(made, served)| {
                    is_here |= made.is_own_object;
                    made.agrees(served)
                });
                agree && is_here
            };
            match chosen.filter(|&server| is_sole(server) && agrees(server)) {
                Some(server) => pairs.push((client, server)),
                None => {
                    ambiguous.insert(client, ());
                    ambiguous.extend(fitting.iter().map(|&server| (server, ())));
                }
            }
        }
    }
    for (client, server) in pairs {
        ambiguous.remove(&client);
        ambiguous.remove(&server);
        connections.pair(client, server);
        for (place, call) in &made[&client] {
            if let Some(other) = served[&server].get(place) {
                join_or_contradict(matching, call, other, MatchedBy::Ports);
            }
        }
    }
    ambiguous
}
