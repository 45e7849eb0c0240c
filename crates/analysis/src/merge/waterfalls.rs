//! Single outermost remote calls, each with the calls that were made within it over all processes: when each began, on
//! the clock of the root, and how long it took at either end, on the clock of the process that measured it. A request
//! by HTTP from outside is an outermost call, too, of which the server's end is known alone.
//!
//! 1. read the calls, and choose among the outermost ones: the slowest of all, and the slowest of each method;
//! 2. read both sides of what is part of one of these; of each so many as there is room for;
//! 3. order them: below each call what was made within it, the earliest first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use instrument_trace::{Error, RemoteCall, RemoteCallKind, Source, ThreadKind};

use super::Party;
use super::calls::{MatchState, Matching, Peer, full_name, is_internal, outcome};
use super::nesting::{Nesting, Root};
use super::offsets::Offsets;
use crate::hash::HashMap;
use crate::load::thread_rows;

/// How many are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// The slowest outermost calls; of as many methods the slowest one besides.
    pub outermost: usize,
    /// Calls of each of them, itself included.
    pub within: usize,
}

/// A call at one end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    pub thread: String,
    /// When it began: ns after the beginning of the outermost call, on the root's clock.
    pub begin: i64,
    /// ns that it took; none: it did not end while it was recorded.
    pub ns: Option<u64>,
}

/// A call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The place, in the list, of the call that it was made within.
    pub parent: Option<usize>,
    /// How many calls it was made within.
    pub depth: usize,
    pub client: Peer,
    pub server: Peer,
    /// The class of the remote object and the method with its descriptor.
    pub method: String,
    /// As the client measured it; none: it came from outside.
    pub made: Option<End>,
    /// As the server did, if that is known.
    pub served: Option<End>,
    /// Whether both sides are known, and how.
    pub match_state: MatchState,
    pub outcome: &'static str,
}

impl Span {
    /// When it began, as far as is known.
    pub fn begin(&self) -> Option<&End> {
        self.made.as_ref().or(self.served.as_ref())
    }

    /// What of the client's ns was not the server's: the network, and what both machines did besides. None: both are
    /// not known.
    pub fn between(&self) -> Option<i64> {
        let server = self.served.as_ref()?.ns?;
        self.made.as_ref()?.ns.map(|client| clamped(i128::from(client) - i128::from(server)))
    }
}

/// An outermost call with what was called within it.
#[derive(Debug, Clone)]
pub struct Waterfall {
    /// When it began: ns after the start of the process that is the root.
    pub at: i64,
    /// It, and what it is made of, each behind the call that it was made within.
    pub spans: Vec<Span>,
    /// Calls within it that there was no room for.
    pub left_out: u64,
}

pub struct Query<'a, S> {
    /// The profiles.
    pub parties: &'a [Party<'a, S>],
    /// Which call is which.
    pub matching: &'a Matching,
    /// What was made within what.
    pub nesting: &'a Nesting<'a>,
    /// How moments compare.
    pub offsets: &'a Offsets,
    /// Calls that the runtime made for itself, too.
    pub internals: bool,
}

impl<S: Source> Query<'_, S> {
    /// The slowest first, and how many outermost calls there are.
    ///
    /// # Errors
    /// When a source fails.
    pub fn waterfalls(&self, bounds: Bounds) -> Result<(Vec<Waterfall>, u64), Error> {
        let (chosen, all) = self.choose(bounds)?;
        let places: HashMap<Root, usize> = chosen.iter().enumerate().map(|(at, &root)| (root, at)).collect();
        let mut parts: Vec<Parts> = chosen.iter().map(|&root| Parts::new(root)).collect();
        for (number, party) in self.parties.iter().enumerate() {
            let threads = threads(party);
            party.visit(self.matching.rows(number), |row, call| {
                if call.kind != RemoteCallKind::Made || (is_internal(call) && !self.internals) {
                    return;
                }
                let root = self.nesting.root(row);
                let Some(parts) = places.get(&root).map(|&at| &mut parts[at]) else { return };
                if root == Root::Made(row) || parts.others() + 1 < bounds.within {
                    let end = self.end(number, call, &threads);
                    let method = full_name(self.nesting.signature_of(self.nesting.labels_of_made(row)), call);
                    parts.made.insert(row, Known { end, method, outcome: outcome(call), party: number });
                } else {
                    parts.left_out += 1;
                }
            })?;
        }
        for (number, party) in self.parties.iter().enumerate() {
            let threads = threads(party);
            party.visit(self.matching.rows(number), |row, call| {
                if call.kind != RemoteCallKind::Served {
                    return;
                }
                let Some(made) = self.matching.served.partner(row) else {
                    if let Some(&at) = places.get(&Root::Served(row)) {
                        let end = self.end(number, call, &threads);
                        let labels = self.nesting.labels_of_served(row);
                        let method = full_name(self.nesting.signature_of(labels), call);
                        parts[at].first = Some(Known { end, method, outcome: outcome(call), party: number });
                    }
                    return;
                };
                let Some(parts) = places.get(&self.nesting.root(made)).map(|&at| &mut parts[at]) else {
                    return;
                };
                // Of several that have received a message the first is shown.
                if parts.made.contains_key(&made) && self.matching.made.partner(made) == Some(row) {
                    parts.served.insert(made, self.end(number, call, &threads));
                }
            })?;
        }
        Ok((parts.into_iter().filter_map(|parts| self.ordered(parts)).collect(), all))
    }

    /// Outermost calls, the slowest first, and how many there are in all.
    fn choose(&self, bounds: Bounds) -> Result<(Vec<Root>, u64), Error> {
        let mut slowest = BinaryHeap::new();
        let mut by_method: BTreeMap<(u32, Option<u32>), (u64, Reverse<Root>)> = BTreeMap::new();
        let mut all = 0;
        for (number, party) in self.parties.iter().enumerate() {
            let last = self.nesting.last_moment(number);
            party.visit(self.matching.rows(number), |row, call| {
                let (root, labels) = match call.kind {
                    RemoteCallKind::Made if !is_internal(call) || self.internals => {
                        (self.nesting.root(row), self.nesting.labels_of_made(row))
                    }
                    RemoteCallKind::Served if self.nesting.is_from_outside(row) => {
                        (Root::Served(row), self.nesting.labels_of_served(row))
                    }
                    _ => return,
                };
                let is_made = call.kind == RemoteCallKind::Made;
                if is_made && root != Root::Made(row) {
                    return;
                }
                all += 1;
                let end = if call.end == 0 { last } else { call.end };
                let rank = (end.saturating_sub(call.begin), Reverse(root));
                let of_method = by_method.entry(labels).or_insert(rank);
                *of_method = rank.max(*of_method);
                slowest.push(Reverse(rank));
                if slowest.len() > bounds.outermost {
                    slowest.pop();
                }
            })?;
        }
        let mut of_methods: Vec<_> = by_method.into_values().collect();
        of_methods.sort_unstable_by_key(|&rank| Reverse(rank));
        of_methods.truncate(bounds.outermost);
        let mut chosen: Vec<_> = slowest.into_iter().map(|Reverse(rank)| rank).chain(of_methods).collect();
        chosen.sort_unstable_by_key(|&rank| Reverse(rank));
        chosen.dedup();
        Ok((chosen.into_iter().map(|(_, Reverse(root))| root).collect(), all))
    }

    fn end(&self, party: usize, call: &RemoteCall, threads: &HashMap<(u32, u32), String>) -> Moment {
        let thread = threads.get(&(call.copy, call.thread)).cloned();
        Moment {
            thread: thread.unwrap_or_else(|| "(unknown thread)".to_owned()),
            begin: self.offsets.to_root(party, call.begin),
            ns: (call.end != 0).then(|| call.end.saturating_sub(call.begin)),
        }
    }

    /// The call that another one was made within, if it is among these.
    fn above(&self, parts: &Parts, row: u32) -> Option<u32> {
        let mut at = row;
        loop {
            at = self.nesting.within(at).and_then(|served| self.matching.served.partner(served))?;
            if parts.made.contains_key(&at) {
                return Some(at);
            }
        }
    }

    fn ordered(&self, mut parts: Parts) -> Option<Waterfall> {
        let known = match parts.root {
            Root::Made(row) => parts.made.get(&row)?,
            Root::Served(_) => parts.first.as_ref()?,
        };
        let first = known.end.begin;
        let root = i128::from(self.parties[self.offsets.root].profile.start_clock);
        let mut below: BTreeMap<Root, Vec<(i128, u32)>> = BTreeMap::new();
        for (&row, made) in parts.made.iter().filter(|(row, _)| Root::Made(**row) != parts.root) {
            let above = self.above(&parts, row).map_or(parts.root, Root::Made);
            below.entry(above).or_default().push((made.end.begin, row));
        }
        let mut stack = vec![(parts.root, None, 0)];
        let mut spans: Vec<Span> = Vec::new();
        while let Some((at, parent, depth)) = stack.pop() {
            let Some(span) = self.span(&mut parts, at, first) else { continue };
            let place = spans.len();
            spans.push(Span { parent, depth, ..span });
            let mut children = below.remove(&at).unwrap_or_default();
            children.sort_unstable();
            stack
                .extend(children.into_iter().rev().map(|(_, row)| (Root::Made(row), Some(place), depth + 1)));
        }
        Some(Waterfall { at: clamped(first - root), spans, left_out: parts.left_out })
    }

    /// A call, as if it were made within none.
    fn span(&self, parts: &mut Parts, at: Root, first: i128) -> Option<Span> {
        let (rows, row, known) = match at {
            Root::Made(row) => (&self.matching.made, row, parts.made.remove(&row)?),
            Root::Served(row) => (&self.matching.served, row, parts.first.take()?),
        };
        let Known { end, method, outcome, party } = known;
        let end = Some(end.since(first));
        let (client, server, made, served) = match at {
            Root::Served(_) => (rows.peer(row), Peer::Party(party), None, end),
            Root::Made(_) => {
                let partner = rows.partner(row).map(|served| Peer::Party(self.matching.served.party(served)));
                let served = parts.served.remove(&row).map(|end| end.since(first));
                (Peer::Party(party), partner.unwrap_or_else(|| rows.peer(row)), end, served)
            }
        };
        let match_state = rows.match_state(row);
        Some(Span { parent: None, depth: 0, client, server, method, made, served, match_state, outcome })
    }
}

/// Moments on the root's clock.
struct Moment {
    thread: String,
    begin: i128,
    ns: Option<u64>,
}

impl Moment {
    fn since(self, first: i128) -> End {
        End { thread: self.thread, begin: clamped(self.begin - first), ns: self.ns }
    }
}

/// What one end says of a call.
struct Known {
    end: Moment,
    method: String,
    outcome: &'static str,
    party: usize,
}

/// What an outermost call is made of, by rows of calls made.
struct Parts {
    root: Root,
    /// Of a request from outside.
    first: Option<Known>,
    made: HashMap<u32, Known>,
    served: HashMap<u32, Moment>,
    left_out: u64,
}

impl Parts {
    fn new(root: Root) -> Parts {
        Parts { root, first: None, made: HashMap::default(), served: HashMap::default(), left_out: 0 }
    }

    /// Calls within it.
    fn others(&self) -> usize {
        let is_there = matches!(self.root, Root::Made(row) if self.made.contains_key(&row));
        self.made.len() - usize::from(is_there)
    }
}

fn clamped(ns: i128) -> i64 {
    ns.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// Names of threads, by copy and ordinal.
fn threads<S>(party: &Party<'_, S>) -> HashMap<(u32, u32), String> {
    let profile = party.profile;
    let names = profile.threads.iter().zip(thread_rows::single(profile));
    let names = names.filter(|(thread, _)| thread.kind == ThreadKind::Thread);
    names.map(|(thread, name)| ((thread.copy, thread.ordinal), name)).collect()
}
