//! Made and served calls find each other.
//!
//! 1. read all calls: a row for each, and a key for each return that a client knows;
//! 2. sort the keys; one that is there twice is a contradiction;
//! 3. read the served calls: the same UID is the same call, if object and method agree;
//! 4. the connections of the calls so matched are the two ends of one;
//! 5. calls that did not return: the same place on such a connection, if object and method agree
//!    ([`super::leftovers`]);
//! 6. connections over which nothing returned: the same ports and addresses, where the server has accepted no other
//!    socket with them;
//! 7. every call that is left gets a reason.
//!
//! Requests by HTTP have ways of their own from step 1 to step 7: see [`super::keys`], and [`super::places`] for those
//! without a key.

use std::io;

use instrument_trace::{Error, RemoteCallKind, Source};
use rayon::prelude::*;

use super::Party;
use super::calls::{
    Hasher, Key, MOST_PARTIES, MatchState, MatchedBy, Matching, NONE, Numbering, Reason, Rows, is_internal,
    is_route,
};
use super::connections::Connections;
use super::keys::Keys;
use super::leftovers;
use super::places::Places;
use super::spans::Spans;
use crate::hash::HashSet;

/// Matches the calls of all parties, which must be of different processes.
///
/// # Errors
/// When a source fails, or there are more calls or parties than numbers for them.
pub fn match_calls<S: Source>(parties: &[Party<'_, S>]) -> Result<Matching, Error> {
    let mut matching = Matching {
        made: Rows::default(),
        served: Rows::default(),
        own: vec![(0, 0); parties.len()],
        within: Vec::new(),
        outermost: Vec::new(),
        others: Vec::new(),
        misplaced: 0,
        unknown: 0,
        addresses: Vec::new(),
    };
    let regions = parties.iter().flat_map(|party| &party.profile.remote_calls);
    have_numbers(parties.len(), regions.map(|region| region.length))?;
    let hasher = Hasher::default();
    let mut connections = Connections::new(parties);
    let mut keys = Vec::new();
    let mut requests = Keys::default();
    let mut places = Places::default();
    let mut are_own = Vec::new();
    let mut are_routes = Vec::new();
    for (number, party) in parties.iter().enumerate() {
        let Matching { made, served, own, unknown, .. } = &mut matching;
        let own = &mut own[number];
        made.starts.push(made.len() as u32);
        served.starts.push(served.len() as u32);
        let mut spans = Spans::default();
        party.profile.visit_remote_calls(party.source, |call| {
            let connection = connections.find(number, call.copy, call.connection);
            let is_own = !is_internal(call);
            match call.kind {
                RemoteCallKind::Made => {
                    own.0 += u64::from(is_own);
                    are_own.push(is_own);
                    requests.add(number, call, made.len() as u32);
                    places.add(party.profile, call, connection, made.len() as u32);
                    if let Some(uid) = &call.return_id {
                        let (time, rest) = Key::of(uid);
                        keys.push(Key { time, rest, row: made.len() as u32, checks: hasher.checks(call) });
                    }
                    made.push(connection, call.ordinal);
                }
                RemoteCallKind::Served => {
                    own.1 += u64::from(is_own);
                    are_routes.push(is_route(call));
                    spans.add(call, served.len() as u32);
                    requests.add(number, call, served.len() as u32);
                    places.add(party.profile, call, connection, served.len() as u32);
                    served.push(connection, call.ordinal);
                }
                RemoteCallKind::Other(_) => *unknown += 1,
            }
        })?;
        matching.find_within(party, spans)?;
    }
    matching.made.starts.push(matching.made.len() as u32);
    matching.served.starts.push(matching.served.len() as u32);
    keys.par_sort_unstable_by_key(|key| (key.uid(), key.row));
    for twice in keys.chunk_by(|a, b| a.uid() == b.uid()).filter(|same| same.len() > 1) {
        for key in twice {
            matching.made.match_state[key.row as usize] = MatchState::Unmatched(Reason::Contradiction);
        }
    }
    matching.by_return(parties, &keys, &hasher)?;
    drop(keys);
    requests.settle(&mut matching);
    matching.pair_connections(&mut connections);
    let ambiguous = places.settle(&mut matching, &mut connections);
    leftovers::settle(&mut matching, parties, &mut connections, &hasher, ambiguous)?;
    matching.leave_out_calls_to_itself(&are_own);
    matching.count_outermost(&are_own, &are_routes);
    Ok(matching)
}

/// Whether there are numbers for all parties, and for the calls of regions of such lengths.
fn have_numbers(parties: usize, mut lengths: impl Iterator<Item = u64>) -> io::Result<()> {
    let calls = lengths.try_fold(0u64, |sum, length| sum.checked_add(length / 128)).unwrap_or(u64::MAX);
    if calls >= u64::from(NONE) || parties >= MOST_PARTIES {
        return Err(io::Error::other(format!("{calls} remote calls of {parties} processes are too many")));
    }
    Ok(())
}

impl Matching {
    fn by_return<S: Source>(
        &mut self,
        parties: &[Party<'_, S>],
        keys: &[Key],
        hasher: &Hasher,
    ) -> Result<(), Error> {
        // Returns come nearly in the order of their UIDs: the next key is not far from the last.
        let mut hint = 0usize;
        for (number, party) in parties.iter().enumerate() {
            party.visit(self.rows(number), |served, call| {
                if call.kind != RemoteCallKind::Served {
                    return;
                }
                let Some(uid) = &call.return_id else { return };
                let wanted = Key::of(uid);
                let at = near(keys, hint, wanted);
                hint = at;
                let Some(key) = keys.get(at).filter(|key| key.uid() == wanted) else { return };
                let checks = hasher.checks(call);
                let agrees = checks.object == key.checks.object
                    && (call.no_such_object || checks.method == key.checks.method);
                let partner = self.made.partner[key.row as usize];
                let is_settled = self.made.match_state[key.row as usize] != MatchState::Open;
                if partner != NONE || is_settled || !agrees {
                    self.part(key.row);
                    self.made.match_state[key.row as usize] = MatchState::Unmatched(Reason::Contradiction);
                    self.served.match_state[served as usize] = MatchState::Unmatched(Reason::Contradiction);
                } else {
                    self.join(key.row, served, MatchedBy::Return);
                }
            })?;
        }
        Ok(())
    }

    /// The rows of a party.
    pub(crate) fn rows(&self, party: usize) -> Numbering {
        Numbering::new(&self.made, &self.served, party)
    }

    pub(crate) fn join(&mut self, made: u32, served: u32, how: MatchedBy) {
        let (m, s) = (made as usize, served as usize);
        (self.made.partner[m], self.made.match_state[m]) = (served, MatchState::Matched(how));
        (self.served.partner[s], self.served.match_state[s]) = (made, MatchState::Matched(how));
    }

    /// The same of a message with all that have received it, the first of which is its partner.
    pub(crate) fn join_all(&mut self, made: u32, mut received: impl Iterator<Item = u32>, how: MatchedBy) {
        if let Some(first) = received.next() {
            self.join(made, first, how);
        }
        for served in received {
            let at = served as usize;
            (self.served.partner[at], self.served.match_state[at]) = (made, MatchState::Matched(how));
            self.others.push((made, served));
        }
    }

    /// Takes a pair apart that should not have been one.
    fn part(&mut self, made: u32) {
        let partner = std::mem::replace(&mut self.made.partner[made as usize], NONE);
        if partner != NONE {
            self.served.partner[partner as usize] = NONE;
            self.served.match_state[partner as usize] = MatchState::Unmatched(Reason::Contradiction);
        }
    }

    fn leave_out_calls_to_itself(&mut self, are_own: &[bool]) {
        for (party, own) in self.own.iter_mut().enumerate() {
            let here = self.made.of(party);
            let clients = self.served.of(party).filter_map(|served| self.served.partner(served));
            let to_itself =
                clients.filter(|made| here.contains(made) && are_own[*made as usize]).count() as u64;
            own.1 = own.1.saturating_sub(to_itself);
        }
    }

    /// What a thread did while it served a call was done within that call.
    fn find_within<S: Source>(&mut self, party: &Party<'_, S>, mut spans: Spans) -> Result<(), Error> {
        let within = &mut self.within;
        if spans.is_empty() {
            within.resize(self.made.len(), NONE);
            return Ok(());
        }
        spans.sort();
        party.profile.visit_remote_calls(party.source, |call| {
            if call.kind == RemoteCallKind::Made {
                within.push(spans.find(call));
            }
        })?;
        // A file that has changed is found out when it is read again.
        within.resize(self.made.len(), NONE);
        Ok(())
    }

    fn count_outermost(&mut self, are_own: &[bool], are_routes: &[bool]) {
        let leaves = |&(made, served): &(u32, u32)| self.made.party(made) != self.served.party(served);
        let elsewhere: HashSet<u32> =
            self.others.iter().filter(|pair| leaves(pair)).map(|pair| pair.0).collect();
        let count = |party: usize| {
            let here = self.served.of(party);
            let is_outermost = |&row: &u32| {
                let within = self.within[row as usize];
                let is_from_outside =
                    |served: u32| are_routes[served as usize] && self.served.partner(served).is_none();
                let is_of_another = self.made.partner(row).is_some_and(|served| !here.contains(&served));
                are_own[row as usize]
                    && (is_of_another || elsewhere.contains(&row))
                    && (within == NONE || is_from_outside(within))
            };
            self.made.of(party).filter(is_outermost).count() as u64
        };
        self.outermost = (0..self.own.len()).map(count).collect();
    }

    fn pair_connections(&mut self, connections: &mut Connections) {
        for made in 0..self.made.len() {
            let served = self.made.partner[made];
            if served == NONE {
                continue;
            }
            let (here, there) = (self.made.connection[made], self.served.connection[served as usize]);
            let is_request = self.made.match_state[made] == MatchState::Matched(MatchedBy::Header);
            if is_request && !connections.are_one(here, there) {
                // A proxy has sent it on.
                continue;
            }
            connections.pair(here, there);
            if here != NONE
                && there != NONE
                && self.made.ordinal[made] != self.served.ordinal[served as usize]
            {
                self.misplaced += 1;
                connections.contradict(here);
            }
        }
    }
}

/// The first key that is not below `wanted`: searched around `hint`, ever wider.
fn near(keys: &[Key], hint: usize, wanted: (i64, u64)) -> usize {
    let (mut low, mut high, mut step) = (hint, hint, 16);
    while low > 0 && keys[low - 1].uid() >= wanted {
        low = low.saturating_sub(step);
        step *= 4;
    }
    step = 16;
    while high < keys.len() && keys[high].uid() < wanted {
        high = (high + step).min(keys.len());
        step *= 4;
    }
    low + keys[low..high].partition_point(|key| key.uid() < wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_numbers_for_so_many_calls_and_processes() {
        let most = u64::from(NONE) - 1;
        let fits = |parties, lengths: &[u64]| have_numbers(parties, lengths.iter().copied()).is_ok();
        assert!(fits(MOST_PARTIES - 1, &[128 * most]));
        assert!(fits(2, &[128 * (most - 3), 0, 3 * 128]));
        assert!(!fits(MOST_PARTIES, &[128]));
        assert!(!fits(2, &[128 * most, 128]));
        assert!(!fits(2, &[u64::MAX; 200]));
        let error = have_numbers(3, [128 * most, 256].into_iter()).unwrap_err();
        assert_eq!(error.to_string(), "4294967296 remote calls of 3 processes are too many");
    }
}
