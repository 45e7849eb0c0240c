//! How many calls were matched, between whom, and why the others were not.

use std::collections::BTreeMap;

use super::calls::Matching;
use super::calls::{MatchState, MatchedBy, Peer, Reason, Rows};

/// Calls between two parties, by how they were matched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Matched {
    /// By the UID of the return.
    pub by_return: u64,
    /// By the place on a connection that is known.
    pub by_place: u64,
    /// By addresses and ports.
    pub by_ports: u64,
    /// By the header of a request by HTTP.
    pub by_header: u64,
    /// By the id of a message.
    pub by_id: u64,
    /// What else has received messages than the first: it is served, and nothing more was made.
    pub also_received: u64,
}

impl Matched {
    pub fn all(&self) -> u64 {
        self.by_return + self.by_place + self.by_ports + self.by_header + self.by_id
    }
}

/// A call that was not matched: who recorded it, whether it was made there, why it was not matched, and who should have
/// had the other side.
pub type Unmatched = (usize, bool, Reason, Peer);

/// The numbers of a matching; every call is in exactly one of them, once for each side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Calls made, by party.
    pub made: Vec<u64>,
    /// Calls served, by party.
    pub served: Vec<u64>,
    /// See [`Matching::own`].
    pub own: Vec<(u64, u64)>,
    /// See [`Matching::outermost`].
    pub outermost: Vec<u64>,
    /// By client and server.
    pub matched: BTreeMap<(usize, usize), Matched>,
    /// The others.
    pub unmatched: BTreeMap<Unmatched, u64>,
    /// See [`Matching::addresses`].
    pub addresses: Vec<String>,
    /// See [`Matching::misplaced`].
    pub misplaced: u64,
    /// See [`Matching::unknown`].
    pub unknown: u64,
}

impl Numbers {
    /// Counts.
    pub fn of(matching: &Matching) -> Numbers {
        let parties = matching.made.starts.len() - 1;
        let sizes = |rows: &Rows| (0..parties).map(|party| rows.of(party).len() as u64).collect();
        let mut numbers = Numbers {
            made: sizes(&matching.made),
            served: sizes(&matching.served),
            own: matching.own.clone(),
            outermost: matching.outermost.clone(),
            addresses: matching.addresses.clone(),
            misplaced: matching.misplaced,
            unknown: matching.unknown,
            ..Numbers::default()
        };
        for party in 0..parties {
            for (rows, is_made) in [(&matching.made, true), (&matching.served, false)] {
                for row in rows.of(party) {
                    match rows.match_state(row) {
                        MatchState::Matched(how) if is_made => {
                            let server = matching.served.party(rows.partner[row as usize]);
                            let sum = numbers.matched.entry((party, server)).or_default();
                            match how {
                                MatchedBy::Return => sum.by_return += 1,
                                MatchedBy::Place => sum.by_place += 1,
                                MatchedBy::Ports => sum.by_ports += 1,
                                MatchedBy::Header => sum.by_header += 1,
                                MatchedBy::Id => sum.by_id += 1,
                            }
                        }
                        MatchState::Matched(_) => {}
                        MatchState::Unmatched(reason) => {
                            let peer = rows.peer(row);
                            *numbers.unmatched.entry((party, is_made, reason, peer)).or_default() += 1;
                        }
                        MatchState::Open => unreachable!("every call got its match_state"),
                    }
                }
            }
        }
        for &(made, served) in &matching.others {
            let parties = (matching.made.party(made), matching.served.party(served));
            numbers.matched.entry(parties).or_default().also_received += 1;
        }
        numbers
    }

    /// Calls that were served, and not matched.
    pub fn unmatched_served(&self) -> u64 {
        let served = self.unmatched.iter().filter(|((_, is_made, ..), _)| !is_made);
        served.map(|(_, calls)| calls).sum()
    }

    /// Calls that were matched.
    pub fn all_matched(&self) -> u64 {
        self.matched.values().map(Matched::all).sum()
    }
}
