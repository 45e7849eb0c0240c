//! Requests by HTTP without a key of their own find each other by where they are: the message of a number on a
//! connection.
//!
//! Both ends have that from libraries that count all that goes over a connection, whether it is recorded or not. A
//! connection of HTTP/1.1 carries one request after the other, so the same number is the same request. Two connections
//! are the ends of one if
//!
//! 1. the addresses and ports of both fit, and all of them are known;
//! 2. no other connection of any profile, at either end, has these;
//! 3. every number that both have was at the same time at both, as far as clocks can tell: they make no match, but they
//!    speak against one, for ports are used again, and perhaps by a program that was not recorded;
//! 4. every number that both have is of the same method and path, and of the same key where both have one.
//!
//! What fails 2 or 3 is ambiguous, what fails 4 a contradiction, for all requests of such a connection.

use std::net::IpAddr;

use instrument_trace::{Profile, RemoteCall, RemoteCallKind, Side, TraceParent};

use super::calls::{MatchState, MatchedBy, Matching, NONE, Reason, Rows};
use super::connections::Connections;
use super::paths::last_moment;
use crate::hash::HashMap;

/// ns by which the times of day of two processes may differ, and of two on one machine.
const SLACK: [i64; 2] = [600_000_000_000, 1_000_000_000];
/// ns for which a request may wait for its server after its client has given it up.
const WAITS: u64 = 60_000_000_000;

/// Where a request is, and what both ends must agree on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Placed {
    connection: u32,
    ordinal: u32,
    row: u32,
    /// Hash of method and path.
    request: i64,
    key: Option<TraceParent>,
    /// By the time of day, in ns since 1970.
    begin: i64,
    end: i64,
}

impl Placed {
    fn agrees(&self, other: &Placed) -> bool {
        self.request == other.request && (self.key == other.key || self.key.is_none() || other.key.is_none())
    }

    /// Whether it may have been served there: that began between its own beginning and its end.
    fn may_be(&self, there: &Placed, slack: i64) -> bool {
        there.begin.saturating_add(slack) >= self.begin && there.begin <= self.end.saturating_add(slack)
    }
}

/// The places of all requests that have one.
#[derive(Debug, Default)]
pub(crate) struct Places {
    made: Vec<Placed>,
    served: Vec<Placed>,
}

/// Address and port of the client, and of the server.
type Ports = [(IpAddr, u16); 2];

impl Places {
    /// Notes a record whose connection is known.
    pub(crate) fn add(&mut self, profile: &Profile, call: &RemoteCall, connection: u32, row: u32) {
        if let Some(http) = call.http.filter(|_| connection != NONE) {
            let last = match call.end {
                0 => last_moment(profile).max(call.begin),
                end if http.status == 0 => end.saturating_add(WAITS),
                end => end,
            };
            let placed = Placed {
                connection,
                ordinal: call.ordinal,
                row,
                request: call.hash,
                key: http.key,
                begin: time_of_day(profile, call.begin),
                end: time_of_day(profile, last),
            };
            match call.kind {
                RemoteCallKind::Made => self.made.push(placed),
                RemoteCallKind::Served => self.served.push(placed),
                RemoteCallKind::Other(_) => {}
            }
        }
    }

    /// Joins what is the same request. Returns the connections that may be several.
    pub(crate) fn settle(
        mut self,
        matching: &mut Matching,
        connections: &mut Connections,
    ) -> HashMap<u32, ()> {
        let mut ambiguous = HashMap::default();
        if self.made.is_empty() || self.served.is_empty() {
            return ambiguous;
        }
        self.made.sort_unstable();
        self.served.sort_unstable();
        for (clients, servers) in by_ports(connections).into_values() {
            let ([client], [server]) = (&clients[..], &servers[..]) else {
                if !clients.is_empty() && !servers.is_empty() {
                    let all = clients.into_iter().chain(servers);
                    ambiguous.extend(all.filter(|&index| self.has(index)).map(|index| (index, ())));
                }
                continue;
            };
            let (made, served) = (of(&self.made, *client), of(&self.served, *server));
            if !connections.are_one(*client, *server) || made.is_empty() || served.is_empty() {
                continue;
            }
            let common = common(made, served);
            let slack = SLACK[usize::from(connections.are_of_one_host(*client, *server))];
            if !common.iter().all(|(here, there)| here.may_be(there, slack)) {
                // Somebody else had these ports.
                ambiguous.extend([(*client, ()), (*server, ())]);
                continue;
            }
            connections.pair(*client, *server);
            let is_one = connections.other(*client) == Some(*server)
                && [made, served]
                    .iter()
                    .all(|all| all.windows(2).all(|two| two[0].ordinal != two[1].ordinal))
                && common.iter().all(|(here, there)| {
                    let partner = matching.made.partner(here.row);
                    here.agrees(there) && partner.is_none_or(|partner| partner == there.row)
                });
            for (here, there) in common {
                let is_left = is_left(&matching.made, here.row) && is_left(&matching.served, there.row);
                if is_left && is_one {
                    matching.join(here.row, there.row, MatchedBy::Ports);
                } else if is_left {
                    let reason = MatchState::Unmatched(Reason::Contradiction);
                    matching.made.match_state[here.row as usize] = reason;
                    matching.served.match_state[there.row as usize] = reason;
                }
            }
        }
        ambiguous
    }

    /// Whether a connection carries requests.
    fn has(&self, connection: u32) -> bool {
        !of(&self.made, connection).is_empty() || !of(&self.served, connection).is_empty()
    }
}

/// Whether a request has not found its other side, and its key does not say that it has none.
fn is_left(rows: &Rows, row: u32) -> bool {
    matches!(rows.match_state(row), MatchState::Open | MatchState::Unmatched(Reason::RepeatedKey))
}

fn time_of_day(profile: &Profile, clock: u64) -> i64 {
    let ns = i128::from(profile.start_ms) * 1_000_000 + i128::from(clock) - i128::from(profile.start_clock);
    i64::try_from(ns).unwrap_or(i64::MAX)
}

/// Connections by their ports and addresses: those that clients have made, and those that servers have accepted.
fn by_ports(connections: &Connections) -> HashMap<Ports, (Vec<u32>, Vec<u32>)> {
    let mut all: HashMap<Ports, (Vec<u32>, Vec<u32>)> = HashMap::default();
    for (index, end) in (0..).zip(&connections.ends) {
        let of = &end.connection;
        let (local, remote) = ((of.local, of.local_port), (of.remote, of.remote_port));
        if of.local.is_unspecified() || of.remote.is_unspecified() {
            continue;
        }
        match of.side {
            Side::Connected => all.entry([local, remote]).or_default().0.push(index),
            Side::Accepted => all.entry([remote, local]).or_default().1.push(index),
            Side::Other(_) => {}
        }
    }
    all
}

/// Those of a connection.
fn of(sorted: &[Placed], connection: u32) -> &[Placed] {
    let from = sorted.partition_point(|placed| placed.connection < connection);
    let rest = &sorted[from..];
    &rest[..rest.partition_point(|placed| placed.connection == connection)]
}

/// Those with the same number.
fn common<'a>(made: &'a [Placed], served: &'a [Placed]) -> Vec<(&'a Placed, &'a Placed)> {
    let mut served = served.iter().peekable();
    let mut pairs = Vec::new();
    for here in made {
        while served.next_if(|there| there.ordinal < here.ordinal).is_some() {}
        if let Some(there) = served.next_if(|there| there.ordinal == here.ordinal) {
            pairs.push((here, there));
        }
    }
    pairs
}
