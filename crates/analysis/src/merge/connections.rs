//! The connections of all parties, and which two of them are the ends of one.

use std::net::IpAddr;

use instrument_trace::{Connection, Profile, Side, Source};

use super::Party;
use super::calls::NONE;
use crate::hash::HashMap;

/// A connection as one party saw it.
#[derive(Debug, Clone)]
pub(crate) struct End {
    pub(crate) party: usize,
    pub(crate) connection: Connection,
    /// Index of the other end, or [`NONE`].
    pub(crate) other: u32,
    /// Calls tell of several other ends, or of places that do not fit: nothing more is concluded from it.
    pub(crate) is_contradicted: bool,
}

pub(crate) struct Connections {
    pub(crate) ends: Vec<End>,
    by_number: HashMap<(usize, u32, u32), u32>,
    last: ((usize, u32, u32), u32),
    hosts: Vec<Option<String>>,
}

impl Connections {
    pub(crate) fn new<S: Source>(parties: &[Party<'_, S>]) -> Connections {
        let mut all = Connections {
            ends: Vec::new(),
            by_number: HashMap::default(),
            last: ((usize::MAX, 0, 0), NONE),
            hosts: parties.iter().map(|party| host(party.profile)).collect(),
        };
        for (party, of) in parties.iter().enumerate() {
            for &connection in &of.profile.connections {
                let index = all.ends.len() as u32;
                all.by_number.entry((party, connection.copy, connection.number)).or_insert(index);
                let end = End { party, connection, other: NONE, is_contradicted: false };
                all.ends.push(end);
            }
        }
        all
    }

    /// The connection of a number, or [`NONE`].
    pub(crate) fn find(&mut self, party: usize, copy: u32, number: u32) -> u32 {
        let key = (party, copy, number);
        if self.last.0 != key {
            self.last = (key, self.by_number.get(&key).copied().unwrap_or(NONE));
        }
        self.last.1
    }

    /// Notes that a call was made over one and served over the other.
    pub(crate) fn pair(&mut self, made: u32, served: u32) {
        if made == NONE || served == NONE {
            return;
        }
        for (end, other) in [(made, served), (served, made)] {
            let end = &mut self.ends[end as usize];
            if end.other == NONE {
                end.other = other;
            } else if end.other != other {
                end.is_contradicted = true;
            }
        }
    }

    pub(crate) fn contradict(&mut self, connection: u32) {
        self.ends[connection as usize].is_contradicted = true;
    }

    /// The other end, where it is known for sure.
    pub(crate) fn other(&self, connection: u32) -> Option<u32> {
        let end = self.ends.get(connection as usize)?;
        let is_sure =
            end.other != NONE && !end.is_contradicted && !self.ends[end.other as usize].is_contradicted;
        is_sure.then_some(end.other)
    }

    /// Accepted connections by ports and addresses.
    pub(crate) fn accepted(&self) -> HashMap<Ends, Vec<u32>> {
        let mut accepted: HashMap<Ends, Vec<u32>> = HashMap::default();
        for (index, end) in self.ends.iter().enumerate() {
            if end.connection.side == Side::Accepted {
                accepted.entry(end.key()).or_default().push(index as u32);
            }
        }
        accepted
    }

    /// Whether two that carry requests by HTTP are known, and addresses and ports are those of two ends of one.
    pub(crate) fn are_one(&self, connected: u32, accepted: u32) -> bool {
        let end = |index: u32| self.ends.get(index as usize);
        let (Some(from), Some(to)) = (end(connected), end(accepted)) else { return false };
        let is_loopback = from.connection.remote.is_loopback() || to.connection.local.is_loopback();
        self.fits(from, to) && (!is_loopback || self.are_of_one_host(connected, accepted))
    }

    /// Whether the machines of both are known to be one.
    pub(crate) fn are_of_one_host(&self, one: u32, other: u32) -> bool {
        let [one, other] = [one, other].map(|index| self.hosts[self.ends[index as usize].party].as_ref());
        one.is_some() && one == other
    }

    /// Whether addresses and ports are those of two ends of one connection.
    pub(crate) fn fits(&self, connected: &End, accepted: &End) -> bool {
        let (from, to) = (&connected.connection, &accepted.connection);
        let is_same = |a: IpAddr, b: IpAddr| a.is_unspecified() || b.is_unspecified() || a == b;
        let hosts = [connected.party, accepted.party].map(|party| self.hosts[party].as_ref());
        let elsewhere = matches!(hosts, [Some(a), Some(b)] if a != b);
        from.side == Side::Connected
            && to.side == Side::Accepted
            && (from.local_port, from.remote_port) == (to.remote_port, to.local_port)
            && is_same(from.local, to.remote)
            && is_same(from.remote, to.local)
            // Every host has this address.
            && !(elsewhere && (from.remote.is_loopback() || to.local.is_loopback()))
    }
}

/// Party and copy, ports and addresses.
pub(crate) type Ends = (usize, u32, u16, u16, IpAddr, IpAddr);

impl End {
    pub(crate) fn key(&self) -> Ends {
        let of = &self.connection;
        (self.party, of.copy, of.local_port, of.remote_port, of.local, of.remote)
    }
}

fn host(profile: &Profile) -> Option<String> {
    profile.copies.values().find_map(|copy| copy.properties.get("host")).cloned()
}
