//! Calls that no return tells of: steps 5 to 7 of [`super::matching`].

use std::collections::BTreeMap;

use instrument_trace::{Error, RemoteCall, RemoteCallKind, Source};

use super::Party;
use super::calls::{Checks, Fate, Hasher, How, NONE, Reason, is_well_known};
use super::connections::Connections;
use super::matching::Matching;
use crate::model::HashMap;

/// Connections with the same ports among which the other end is looked for.
const MOST_ALIKE: usize = 64;

/// What is left to know of a call that has no other side so far.
#[derive(Debug, Clone, Copy)]
struct Left {
    row: u32,
    checks: Checks,
    returned: bool,
    no_such_object: bool,
    failed: bool,
    sent: bool,
    /// Number of the virtual machine that the object, or else the return, is of.
    machine: Option<i32>,
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
) -> Result<(), Error> {
    let mut left = Lefts::read(matching, parties, hasher)?;
    left.by_place(matching, connections);
    let ambiguous = by_ports(&left, matching, parties, connections);
    left.made.retain(|left| matching.made.partner[left.row as usize] == NONE);
    left.served.retain(|left| matching.served.partner[left.row as usize] == NONE);
    left.give_reasons(matching, parties, connections, &ambiguous);
    Ok(())
}

#[derive(Default)]
struct Lefts {
    made: Vec<Left>,
    served: Vec<Left>,
    /// Which party a virtual machine is, by what it served.
    machines: HashMap<i32, usize>,
}

impl Lefts {
    fn read<S: Source>(
        matching: &Matching,
        parties: &[Party<'_, S>],
        hasher: &Hasher,
    ) -> Result<Lefts, Error> {
        let mut lefts = Lefts::default();
        let (mut made, mut served) = (0u32, 0u32);
        for (number, party) in parties.iter().enumerate() {
            party.profile.visit_remote_calls(party.source, |call| match call.kind {
                RemoteCallKind::Made => {
                    if matching.made.fate[made as usize] == Fate::Open {
                        lefts.made.push(Left::new(made, call, hasher));
                    }
                    made += 1;
                }
                RemoteCallKind::Served => {
                    if matching.served.fate[served as usize] == Fate::Open {
                        lefts.served.push(Left::new(served, call, hasher));
                    }
                    served += 1;
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
        for left in &self.served {
            let at = left.row as usize;
            let connection = matching.served.connection[at];
            if connections.other(connection).is_some() {
                served.insert((connection, matching.served.ordinal[at]), *left);
            }
        }
        for made in &self.made {
            let at = made.row as usize;
            let Some(other) = connections.other(matching.made.connection[at]) else { continue };
            let Some(served) = served.get(&(other, matching.made.ordinal[at])) else { continue };
            meet(matching, made, served, How::Place);
        }
    }

    fn give_reasons<S: Source>(
        &self,
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
            if let Some(peer) = peer {
                matching.made.peer[at] = peer as u16;
            }
            if matching.made.fate[at] != Fate::Open {
                continue;
            }
            let reason = match peer {
                _ if left.failed && !left.sent => Reason::FailedBeforeSending,
                _ if connection == NONE && !left.returned => Reason::ConnectionUnknown,
                _ if ambiguous.contains_key(&connection) => Reason::AmbiguousConnection,
                _ if !left.sent && !left.returned => Reason::InFlight,
                None => Reason::PeerNotRecorded,
                Some(peer) if incomplete[peer] => Reason::ProfileTruncated,
                Some(_) if left.returned => Reason::NotRecorded,
                Some(peer) if parties[peer].was_paused() => Reason::NotRecorded,
                Some(_) => Reason::NotDispatched,
            };
            matching.made.fate[at] = Fate::Unmatched(reason);
        }
        for left in &self.served {
            let at = left.row as usize;
            let connection = matching.served.connection[at];
            let peer = connections.other(connection).map(|other| connections.ends[other as usize].party);
            if let Some(peer) = peer {
                matching.served.peer[at] = peer as u16;
            }
            if matching.served.fate[at] != Fate::Open {
                continue;
            }
            let reason = match peer {
                _ if connection == NONE => Reason::ConnectionUnknown,
                _ if ambiguous.contains_key(&connection) => Reason::AmbiguousConnection,
                None => Reason::PeerNotRecorded,
                Some(peer) if incomplete[peer] => Reason::ProfileTruncated,
                Some(_) => Reason::NotRecorded,
            };
            matching.served.fate[at] = Fate::Unmatched(reason);
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
            machine: call.return_id.map(|uid| uid.unique).or(object),
        }
    }
}

/// Two calls have the same place on the same connection: they are one, or contradict each other.
fn meet(matching: &mut Matching, made: &Left, served: &Left, how: How) {
    let is_free = matching.served.fate[served.row as usize] == Fate::Open;
    if !is_free {
        matching.made.fate[made.row as usize] = Fate::Unmatched(Reason::Contradiction);
    } else if made.agrees(served) {
        matching.join(made.row, served.row, how);
    } else {
        matching.made.fate[made.row as usize] = Fate::Unmatched(Reason::Contradiction);
        matching.served.fate[served.row as usize] = Fate::Unmatched(Reason::Contradiction);
    }
}

/// Connections over which nothing returned. Two are the ends of one if
///
/// 1. their addresses and ports fit, and no call tells of another end of either;
/// 2. they are the only ones left with these ports;
/// 3. both profiles are whole: else the connection that is meant may be the one that is missing;
/// 4. at least one call that was sent has the same place on both, and all that have agree in object and method.
///
/// What nothing but these could be, and is refused by one of them, is returned: ambiguous.
fn by_ports<S: Source>(
    left: &Lefts,
    matching: &mut Matching,
    parties: &[Party<'_, S>],
    connections: &mut Connections,
) -> HashMap<u32, ()> {
    let collect = |rows: &super::Rows, left: &[Left]| {
        let mut by: ByPlace = HashMap::default();
        for left in left.iter().filter(|left| rows.fate[left.row as usize] == Fate::Open) {
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
    let incomplete: Vec<bool> = parties.iter().map(Party::is_incomplete).collect();
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
            let whole = |server: u32| !incomplete[end(client).party] && !incomplete[end(server).party];
            let agrees = |server: u32| {
                let (calls, others) = (&made[&client], &served[&server]);
                let common = calls.iter().filter_map(|(place, call)| Some((call, others.get(place)?)));
                let mut is_sent = false;
                let agree = common.into_iter().all(|(made, served)| {
                    is_sent |= made.sent;
                    made.agrees(served)
                });
                agree && is_sent
            };
            match chosen.filter(|&server| whole(server) && agrees(server)) {
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
        connections.pair(client, server, How::Ports);
        for (place, call) in &made[&client] {
            if let Some(other) = served[&server].get(place) {
                meet(matching, call, other, How::Ports);
            }
        }
    }
    ambiguous
}
