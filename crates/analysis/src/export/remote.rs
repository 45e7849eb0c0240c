//! Remote calls as parts of a timeline: `call Shop.sell` on the thread that made it, `serve Shop.sell` on the one that
//! served it, and arrows from one to the other and back.
//!
//! 1. read the calls of one process, and of each its times, its thread and where it is in the file: 32 bytes;
//! 2. sort them by thread and time;
//! 3. tell them thread by thread ([`super::trace`] puts them between the events of a trace), each read once more for
//!    what else is known of it.

use super::error::Error;
use super::timeline::Flow;
use crate::hash::HashMap;
use crate::merge::calls::{MatchState, MatchedBy, Peer, full_name, is_grpc, knows_object, outcome};
use crate::merge::{Matching, Nesting, Offsets, Party};
use instrument_trace::{
    Connection, ObjId, Profile, Protocol, RemoteCall, RemoteCallKind, RemoteCallsAt, Source, ThreadKind,
};
use std::collections::BinaryHeap;
use std::net::SocketAddr;

/// The remote calls of several processes, by which exports tell them.
#[derive(Debug, Clone, Copy)]
pub struct Remote<'a, S> {
    /// The profiles.
    pub parties: &'a [Party<'a, S>],
    pub names: &'a [String],
    /// Which call is which.
    pub matching: &'a Matching,
    /// What calls were made within, and their methods.
    pub nesting: &'a Nesting<'a>,
    /// How moments compare.
    pub offsets: &'a Offsets,
}

/// A call as one side recorded it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    /// Index of its thread.
    thread: u32,
    pub(super) begin: u64,
    /// The last known moment, if it has no end.
    pub(super) end: u64,
    place: u64,
    row: u32,
}

/// What is told of a call.
pub(super) struct Slice {
    pub(super) name: String,
    pub(super) args: Vec<(&'static str, String)>,
    pub(super) flows: Vec<Flow>,
    /// The arrow that comes back to it in the end.
    pub(super) back: Option<Flow>,
}

/// The calls of one process, thread by thread.
pub(super) struct Calls<'a, S> {
    remote: &'a Remote<'a, S>,
    party: usize,
    at: RemoteCallsAt<'a>,
    connections: HashMap<(u32, u32), &'a Connection>,
    /// By thread and time.
    spans: Vec<Span>,
    /// Copy and ordinal of each thread, and whether it was told.
    threads: Vec<((u32, u32), bool)>,
    by_ordinal: HashMap<(u32, u32), u32>,
}

impl<'a, S: Source> Remote<'a, S> {
    /// The first moment of all processes, on the root's clock.
    pub fn origin(&self) -> i128 {
        let firsts = self
            .parties
            .iter()
            .enumerate()
            .map(|(number, party)| self.offsets.to_root(number, first_moment(party.profile)));
        firsts.min().unwrap_or_default()
    }

    /// A moment on the root's clock as the clock of a party has it.
    pub fn on_clock(&self, party: usize, root_clock: i128) -> i128 {
        root_clock + i128::from(self.offsets.all[party].ns)
    }

    pub(super) fn of_party(&'a self, party: usize) -> Result<Calls<'a, S>, Error> {
        let Party { profile, source } = self.parties[party];
        let mut calls = Calls {
            remote: self,
            party,
            at: profile.remote_calls_at(source)?,
            connections: connections(profile),
            spans: Vec::new(),
            threads: Vec::new(),
            by_ordinal: HashMap::default(),
        };
        let mut rows = self.matching.rows(party);
        let last = self.nesting.last_moment(party);
        profile.visit_placed_remote_calls(source, |place, call| {
            let Some(row) = rows.next(call.kind) else { return };
            let next = calls.threads.len() as u32;
            // What need not nest in a thread is of none.
            let thread = if is_grpc(call) || call.is_of_threads() { 0 } else { call.thread };
            let key = (call.copy, thread);
            let thread = *calls.by_ordinal.entry(key).or_insert(next);
            if thread == next {
                calls.threads.push((key, false));
            }
            let end = if call.end == 0 { last } else { call.end }.max(call.begin);
            calls.spans.push(Span { thread, begin: call.begin, end, place, row });
        })?;
        rows.finish(profile)?;
        // What lasts longer is around what is shorter.
        calls.spans.sort_unstable_by_key(|span| (span.thread, span.begin, u64::MAX - span.end, span.place));
        Ok(calls)
    }
}

impl<S: Source> Calls<'_, S> {
    /// Those of a thread that has recorded something.
    pub(super) fn of_recorded(&mut self, thread: &instrument_trace::Thread) -> Vec<Span> {
        match self.by_ordinal.get(&(thread.copy, thread.ordinal)) {
            Some(&index) if thread.kind == ThreadKind::Thread && thread.ordinal != 0 => {
                self.threads[index as usize].1 = true;
                self.of_thread(index)
            }
            _ => Vec::new(),
        }
    }

    fn of_thread(&self, index: u32) -> Vec<Span> {
        let from = self.spans.partition_point(|span| span.thread < index);
        let to = self.spans.partition_point(|span| span.thread <= index);
        self.spans[from..to].to_vec()
    }

    /// The names of all other threads, and their calls. What is of no known thread need not nest, and has as many
    /// threads as it takes.
    pub(super) fn others(&self) -> Vec<(String, Vec<Span>)> {
        let mut indices: Vec<_> = (0..self.threads.len()).filter(|&index| !self.threads[index].1).collect();
        indices.sort_by_key(|&index| self.threads[index].0);
        let java = &self.remote.parties[self.party].profile.java_threads;
        let java: HashMap<_, _> =
            java.iter().map(|thread| ((thread.copy, thread.ordinal), &thread.name)).collect();
        let mut others = Vec::new();
        for index in indices {
            let ((copy, ordinal), _) = self.threads[index];
            let spans = self.of_thread(index as u32);
            if ordinal == 0 {
                let lanes = apart(spans).into_iter().zip(1..);
                others.extend(lanes.map(|(spans, number)| (format!("(unknown thread) {number}"), spans)));
            } else {
                let name = java.get(&(copy, ordinal)).map_or("(ended thread)", |name| name);
                others.push((format!("{name} #{ordinal}"), spans));
            }
        }
        others
    }

    pub(super) fn slice(&self, span: &Span) -> Result<Option<Slice>, Error> {
        let call = self.at.get(span.place)?;
        Ok(call.map(|call| self.describe(span, &call)))
    }

    fn describe(&self, span: &Span, call: &RemoteCall) -> Slice {
        let Remote { matching, nesting, names, .. } = self.remote;
        let is_made = call.kind == RemoteCallKind::Made;
        let (rows, others) =
            if is_made { (&matching.made, &matching.served) } else { (&matching.served, &matching.made) };
        let known = if is_made { nesting.name_of_made(span.row) } else { nesting.name_of_served(span.row) };
        let method = full_name(known, call);
        let partner = rows.partner(span.row);
        let peer = partner.map_or_else(|| rows.peer(span.row), |row| Peer::Party(others.party(row)));
        let other = match peer {
            Peer::Party(party) => names.get(party),
            Peer::Address(at) => matching.addresses.get(at),
            Peer::Unknown => None,
        };
        let (word, what) = if is_made { ("call", "server") } else { ("serve", "client") };
        let end = if call.end == 0 { " (no end)" } else { "" };
        let name = format!("{word} {method}{end}");
        let mut args = vec![("method", method)];
        match call.http {
            None => args.push(("object", object(call))),
            Some(http) if http.protocol == Protocol::Http && http.status != 0 => {
                args.push(("status", http.status.to_string()));
            }
            Some(_) => {}
        }
        if let Some(connection) = self.connections.get(&(call.copy, call.connection)) {
            args.push(("peer", SocketAddr::new(connection.remote, connection.remote_port).to_string()));
        }
        args.extend(other.map(|other| (what, other.clone())));
        args.push(("matched", rows.match_state(span.row).word().to_owned()));
        args.push(("outcome", outcome(call).to_owned()));
        if call.end == 0 {
            args.push(("end", "the last known moment".to_owned()));
        }
        let mut slice = Slice { name, args, flows: Vec::new(), back: None };
        // An arrow has one end: the first that has received a message.
        let Some(partner) = partner.filter(|&other| others.partner(other) == Some(span.row)) else {
            return slice;
        };
        // Each pair of calls has two arrows: there and back.
        let there = 2 * u64::from(if is_made { span.row } else { partner }) + 1;
        let returned = call.returned.clamp(span.begin, span.end);
        slice.flows.push(Flow { id: there, is_start: is_made, at: span.begin });
        if rows.match_state(span.row) == MatchState::Matched(MatchedBy::Return) {
            let back = Flow { id: there + 1, is_start: !is_made, at: returned };
            // The frame of the server is there when that of the client is left, whatever the clocks say.
            if is_made { slice.back = Some(back) } else { slice.flows.push(back) }
        }
        slice
    }
}

/// Spans that do not overlap, in as few lists as possible.
fn apart(spans: Vec<Span>) -> Vec<Vec<Span>> {
    let mut lanes: Vec<Vec<Span>> = Vec::new();
    let mut free = BinaryHeap::new();
    for span in spans {
        let lane = match free.peek() {
            Some(&(std::cmp::Reverse(end), lane)) if end <= span.begin => {
                free.pop();
                lane
            }
            _ => {
                lanes.push(Vec::new());
                lanes.len() - 1
            }
        };
        lanes[lane].push(span);
        free.push((std::cmp::Reverse(span.end), lane));
    }
    lanes
}

/// The connections of a profile, by copy and number.
pub(super) fn connections(profile: &Profile) -> HashMap<(u32, u32), &Connection> {
    profile.connections.iter().map(|connection| ((connection.copy, connection.number), connection)).collect()
}

/// The ObjID of a call, as Java writes it.
pub(super) fn object(call: &RemoteCall) -> String {
    let word = match call.object {
        _ if !knows_object(call) => "unknown",
        ObjId::REGISTRY => "registry",
        ObjId::ACTIVATOR => "activator",
        ObjId::DGC => "collector",
        ObjId { number, space } => {
            let hex = |value: i64| {
                let sign = if value < 0 { "-" } else { "" };
                format!("{sign}{:x}", value.unsigned_abs())
            };
            let (unique, time, count) = (hex(space.unique.into()), hex(space.time), hex(space.count.into()));
            return format!("[{unique}:{time}:{count}, {number}]");
        }
    };
    word.to_owned()
}

/// The clock at the beginning, as far as it is known.
fn first_moment(profile: &Profile) -> u64 {
    let threads = profile.threads.iter().map(|thread| thread.start);
    let connections = profile.connections.iter().map(|connection| connection.clock);
    let known = threads.chain(connections).chain([profile.start_clock]).filter(|&clock| clock != 0);
    known.min().unwrap_or_default()
}
