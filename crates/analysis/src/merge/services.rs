//! Remote calls added up by who made them, who served them, and the method: a map of services.

use std::collections::BTreeMap;

use instrument_trace::{Error, Protocol, RemoteCall, RemoteCallKind, Source};

use super::Party;
use super::calls::{Matching, Peer, full_name, is_internal};
use super::nesting::Nesting;
use crate::hash::HashMap;

/// Figures of calls. Each side's times are of its own clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// Calls that the client recorded.
    pub made: u64,
    /// Calls that the server recorded.
    pub served: u64,
    /// Calls that both did.
    pub matched: u64,
    /// Those that threw or failed, as the client saw them; as the server did where only that is known.
    pub failed: u64,
    /// ns from beginning to end of those that ended, as the client measured them.
    pub client_ns: u64,
    /// The longest of them.
    pub client_max: u64,
    /// The same as the server measured it.
    pub server_ns: u64,
    /// The longest of them.
    pub server_max: u64,
}

/// Who called what of whom.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Service {
    /// Who made the calls.
    pub client: Peer,
    pub server: Peer,
    /// The class of the remote object and the method with its descriptor: `Shop.sell(I)V`, as far as it is known.
    pub method: String,
    /// What it was sent by; none: remote method invocation.
    pub protocol: Option<Protocol>,
}

impl Service {
    /// How it is called.
    pub fn kind(&self) -> &'static str {
        self.protocol.map_or("rmi", Protocol::word)
    }
}

/// All calls.
#[derive(Debug, Clone, Default)]
pub struct Services {
    /// By client, server and method.
    pub all: Vec<(Service, Figures)>,
    /// By client and server.
    pub links: BTreeMap<(Peer, Peer), Figures>,
}

/// What tells calls apart while they are read: labels of the method and, for what has no name, its hash and operation.
type Key = (Peer, Peer, (u32, Option<u32>), Option<(i64, i32)>);

/// Adds all calls up. `internals`: those that the runtime made for itself, too.
///
/// # Errors
/// When a source fails.
pub fn services<S: Source>(
    parties: &[Party<'_, S>],
    matching: &Matching,
    nesting: &Nesting<'_>,
    internals: bool,
) -> Result<Services, Error> {
    let mut sums: HashMap<Key, (Figures, RemoteCall)> = HashMap::default();
    for (number, party) in parties.iter().enumerate() {
        let me = Peer::Party(number);
        party.visit(matching.rows(number), |row, call| {
            if is_internal(call) && !internals {
                return;
            }
            let is_made = call.kind == RemoteCallKind::Made;
            let rows = if is_made { &matching.made } else { &matching.served };
            let partner = rows.partner(row);
            let other = match partner {
                Some(row) if is_made => Peer::Party(matching.served.party(row)),
                Some(row) => Peer::Party(matching.made.party(row)),
                None => rows.peer(row),
            };
            let labels = match (is_made, partner) {
                (true, _) => nesting.labels_of_made(row),
                (false, Some(made)) => nesting.labels_of_made(made),
                (false, None) => nesting.labels_of_served(row),
            };
            let is_named = !nesting.signature_of(labels).1.is_empty();
            let (client, server) = if is_made { (me, other) } else { (other, me) };
            let key = (client, server, labels, (!is_named).then_some((call.hash, call.operation)));
            let (sum, _) = sums.entry(key).or_insert_with(|| (Figures::default(), *call));
            sum.add(call, is_made, partner.is_some());
        })?;
    }
    let mut all: BTreeMap<Service, Figures> = BTreeMap::new();
    let mut links: BTreeMap<(Peer, Peer), Figures> = BTreeMap::new();
    for ((client, server, labels, _), (figures, call)) in sums {
        let method = full_name(nesting.signature_of(labels), &call);
        let protocol = call.http.map(|http| http.protocol);
        all.entry(Service { client, server, method, protocol }).or_default().merge(&figures);
        links.entry((client, server)).or_default().merge(&figures);
    }
    let mut all: Vec<_> = all.into_iter().collect();
    // What took longest first.
    all.sort_by_key(|(_, figures)| {
        std::cmp::Reverse((figures.client_ns.max(figures.server_ns), figures.made))
    });
    Ok(Services { all, links })
}

impl Figures {
    fn add(&mut self, call: &RemoteCall, is_made: bool, is_matched: bool) {
        let ns = if call.end == 0 { 0 } else { call.end.saturating_sub(call.begin) };
        let (calls, sum, max) = if is_made {
            (&mut self.made, &mut self.client_ns, &mut self.client_max)
        } else {
            (&mut self.served, &mut self.server_ns, &mut self.server_max)
        };
        *calls += 1;
        *sum = sum.saturating_add(ns);
        *max = ns.max(*max);
        self.matched += u64::from(is_made && is_matched);
        let has_failed = call.threw || call.failed || call.no_such_object || call.has_error_status();
        self.failed += u64::from(has_failed && (is_made || !is_matched));
    }

    fn merge(&mut self, other: &Figures) {
        self.made += other.made;
        self.served += other.served;
        self.matched += other.matched;
        self.failed += other.failed;
        self.client_ns = self.client_ns.saturating_add(other.client_ns);
        self.client_max = self.client_max.max(other.client_max);
        self.server_ns = self.server_ns.saturating_add(other.server_ns);
        self.server_max = self.server_max.max(other.server_max);
    }
}
