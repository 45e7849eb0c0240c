//! By how much the clocks of processes differ, for display only: calls are matched and trees are made without it.
//!
//! Of a call that both sides recorded, on one clock
//!
//! ```text
//! client.begin <= server.begin, server.returned <= client.returned
//! ```
//!
//! and of a request by HTTP that was answered, whose response may be there before the server is done with it,
//!
//! ```text
//! client.begin <= server.begin <= client.end
//! ```
//!
//! So it bounds the difference of the clocks from both sides. Only these hold for any call: large arguments are read
//! before the client knows that they are written, and a client has its return before the server is done with the call.
//!
//! 1. read the times of the served calls, and then those of the calls made: each narrows what is possible between two
//!    processes;
//! 2. where nothing is left the clocks drift: then the call with the smallest round trip tells;
//! 3. from the root on, the pair with the smallest uncertainty places the next process, its uncertainty added to that
//!    of the other one;
//! 4. a process that no calls connect to others is placed by the time of day at which it was started.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use instrument_trace::{Error, Profile, RemoteCall, RemoteCallKind, Source};

use super::Party;
use super::calls::Matching;

/// How the clock of a process is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placed {
    /// It is the one that all others are compared with.
    Root,
    /// By calls between it and this process, whose clock was known before.
    Calls(usize),
    /// By the times of day at which it and the root were started.
    Start,
}

impl Placed {
    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Placed::Root => "root",
            Placed::Calls(_) => "calls",
            Placed::Start => "start",
        }
    }
}

/// The clock of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offset {
    /// ns by which it is ahead of the root's.
    pub ns: i64,
    /// ns by which that may be wrong, either way; none: the times of day may be wrong by anything.
    pub uncertainty: Option<u64>,
    /// How it is known.
    pub placed: Placed,
    /// On the way to the root there are two clocks that no one difference fits: one is faster than the other.
    pub is_drifting: bool,
}

/// The clocks of all processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offsets {
    /// The party that all are compared with.
    pub root: usize,
    /// By party.
    pub all: Vec<Offset>,
    /// The time of day of the root's clock at 0, in ns since 1970.
    epoch: i128,
}

/// What calls tell of two parties: the second's clock less the first's.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    low: i128,
    high: i128,
    /// Those of the call that leaves the least room: width, low, high.
    closest: Option<(i128, i128, i128)>,
}

/// What is kept of a served call.
#[derive(Debug, Clone, Copy, Default)]
struct Times {
    begin: u64,
    returned: u64,
}

impl Offsets {
    /// Compares the clocks of all parties with that of `root`.
    ///
    /// # Errors
    /// When a source fails.
    ///
    /// # Panics
    /// If there is no party `root`.
    pub fn new<S: Source>(
        parties: &[Party<'_, S>],
        matching: &Matching,
        root: usize,
    ) -> Result<Offsets, Error> {
        let mut served = Vec::with_capacity(matching.served.len());
        for (number, party) in parties.iter().enumerate() {
            party.visit(matching.rows(number), |_, call| {
                if call.kind == RemoteCallKind::Served {
                    let returned = if call.http.is_some() { call.begin } else { call.returned };
                    served.push(Times { begin: call.begin, returned });
                }
            })?;
        }
        let mut pairs: BTreeMap<(usize, usize), Bounds> = BTreeMap::new();
        for (client, party) in parties.iter().enumerate() {
            party.visit(matching.rows(client), |row, call| {
                if call.kind != RemoteCallKind::Made {
                    return;
                }
                let Some(partner) = matching.made.partner(row) else { return };
                let server = matching.served.party(partner);
                if server != client
                    && let Some(times) = served.get(partner as usize)
                {
                    let of = pairs.entry((client.min(server), client.max(server))).or_default();
                    of.add(call, times, client > server);
                }
            })?;
        }
        let profiles: Vec<_> = parties.iter().map(|party| party.profile).collect();
        Ok(place(&profiles, &pairs, root))
    }

    /// A moment of a party on the root's clock.
    pub fn to_root(&self, party: usize, clock: u64) -> i128 {
        i128::from(clock) - i128::from(self.all[party].ns)
    }

    /// A moment on the root's clock, in ns since 1970.
    pub fn time_of_day(&self, root_clock: i128) -> u64 {
        u64::try_from(self.epoch.saturating_add(root_clock).max(0)).unwrap_or(u64::MAX)
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds { low: i128::MIN, high: i128::MAX, closest: None }
    }
}

impl Bounds {
    /// `is_turned`: the client is the second of the two.
    fn add(&mut self, made: &RemoteCall, served: &Times, is_turned: bool) {
        let ahead =
            |there: u64, here: u64| (there != 0 && here != 0).then(|| i128::from(there) - i128::from(here));
        let high = ahead(served.begin, made.begin).unwrap_or(i128::MAX);
        let answered = made.answered();
        let low = ahead(served.returned, answered).unwrap_or(i128::MIN);
        // Times that no clock can have had say nothing.
        if low > high {
            return;
        }
        let (low, high) = if is_turned { (negated(high), negated(low)) } else { (low, high) };
        self.low = self.low.max(low);
        self.high = self.high.min(high);
        if low == i128::MIN || high == i128::MAX {
            return;
        }
        let of_call = (high - low, low, high);
        self.closest = Some(self.closest.map_or(of_call, |closest| closest.min(of_call)));
    }

    /// The difference, how far off it may be, and whether the clocks drift; none: it has no bound.
    fn settle(&self) -> Option<(i64, u64, bool)> {
        let is_drifting = self.low > self.high;
        let (low, high) = if is_drifting {
            let (_, low, high) = self.closest?;
            (low, high)
        } else if self.low == i128::MIN || self.high == i128::MAX {
            return None;
        } else {
            (self.low, self.high)
        };
        // Rounded down, also below 0: the same for clocks that began at other times.
        let middle = (low + high).div_euclid(2);
        Some((narrowed(middle), u64::try_from(high - middle).unwrap_or(u64::MAX), is_drifting))
    }
}

/// Clocks that differ by centuries are not clocks.
fn narrowed(ns: i128) -> i64 {
    ns.clamp((-i64::MAX).into(), i64::MAX.into()) as i64
}

/// Bounds that are not there stay away.
fn negated(bound: i128) -> i128 {
    match bound {
        i128::MIN => i128::MAX,
        i128::MAX => i128::MIN,
        bound => -bound,
    }
}

fn place(profiles: &[&Profile], pairs: &BTreeMap<(usize, usize), Bounds>, root: usize) -> Offsets {
    let mut edges: Vec<Vec<(u64, usize, i64, bool)>> = vec![Vec::new(); profiles.len()];
    for (&(one, other), bounds) in pairs {
        if let Some((ns, uncertainty, is_drifting)) = bounds.settle() {
            edges[one].push((uncertainty, other, ns, is_drifting));
            edges[other].push((uncertainty, one, -ns, is_drifting));
        }
    }
    let epoch = |party: usize| {
        let profile: &Profile = profiles[party];
        i128::from(profile.start_ms) * 1_000_000 - i128::from(profile.start_clock)
    };
    let mut all: Vec<Option<Offset>> = vec![None; profiles.len()];
    let first = Offset { ns: 0, uncertainty: Some(0), placed: Placed::Root, is_drifting: false };
    let mut next = Some((root, first));
    while let Some((party, offset)) = next {
        let mut reached = BinaryHeap::new();
        let reach = |from: usize, reached: &mut BinaryHeap<_>| {
            let ways = edges[from].iter().enumerate();
            reached.extend(ways.map(|(way, &(uncertainty, to, ..))| Reverse((uncertainty, from, to, way))));
        };
        all[party] = Some(offset);
        reach(party, &mut reached);
        while let Some(Reverse((_, from, to, way))) = reached.pop() {
            let (Some(known), None) = (all[from], all[to]) else { continue };
            let (uncertainty, _, ns, is_drifting) = edges[from][way];
            all[to] = Some(Offset {
                ns: known.ns.saturating_add(ns),
                uncertainty: known.uncertainty.map(|sum| sum.saturating_add(uncertainty)),
                placed: Placed::Calls(from),
                is_drifting: known.is_drifting || is_drifting,
            });
            reach(to, &mut reached);
        }
        next = all.iter().position(Option::is_none).map(|party| {
            // The same time of day is the same moment.
            let ns = narrowed(epoch(root) - epoch(party));
            (party, Offset { ns, uncertainty: None, placed: Placed::Start, is_drifting: false })
        });
    }
    Offsets { root, all: all.into_iter().flatten().collect(), epoch: epoch(root) }
}
