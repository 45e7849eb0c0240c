//! Requests by HTTP, calls by gRPC and messages find each other by a key that both ends have read: the `traceparent`
//! header, or of a message the id that its provider gives it.
//!
//! A client gives each request a parent id of its own, but for what repeats or passes on a header as it came: retries,
//! redirects, proxies and careless programs. So a key alone is not enough. Two records are of one request if
//!
//! 1. they have the same key, and the same method and path; of calls by gRPC, the same full name of a method;
//! 2. no third record of either kind has these;
//! 3. they are of two processes, or the request was made before it was served: a process that passes a header on as it
//!    came serves first.
//!
//! A message may have several receivers: all records that have received its id are of the one that has sent it. Of
//! messages without an id, which have a header at most, only two are one: whoever copies a header makes another message
//! of the same trace. They have no method and path.
//!
//! What is left of a key that both sides know is a contradiction where there is one record on either side, and repeated
//! otherwise.

use instrument_trace::{Protocol, RemoteCall, RemoteCallKind, TraceParent};
use rayon::prelude::*;

use super::calls::{MatchState, MatchedBy, Matching, Reason};

/// The key of a record: sorted by key, method and path, and side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Keyed {
    key: TraceParent,
    /// Hash of method and path.
    request: (Protocol, i64),
    is_served: bool,
    row: u32,
    party: usize,
    /// By the clock of its process.
    begin: u64,
    how: MatchedBy,
}

impl Keyed {
    /// Whether this message was sent, and those, of which there are some, were received.
    fn is_of_all(&self, received: &[Keyed]) -> bool {
        let is_message = self.request.0 == Protocol::Jms && self.how == MatchedBy::Id;
        is_message && !received.is_empty() && received.iter().all(|one| self.may_be(one))
    }

    /// Whether this one, which was made, may be the other one, which was served.
    fn may_be(&self, served: &Keyed) -> bool {
        let is_before = self.party != served.party || self.begin < served.begin;
        !self.is_served && served.is_served && is_before && self.how == served.how
    }
}

/// The keys of all requests.
#[derive(Debug, Default)]
pub(crate) struct Keys(Vec<Keyed>);

impl Keys {
    /// Notes a record of a process that has a key.
    pub(crate) fn add(&mut self, party: usize, call: &RemoteCall, row: u32) {
        let is_served = call.kind == RemoteCallKind::Served;
        if let Some((key, protocol)) = call.http.and_then(|http| Some((http.key?, http.protocol))) {
            let request = (protocol, call.hash);
            let is_id = call.http.is_some_and(|http| http.is_id);
            let how = if is_id { MatchedBy::Id } else { MatchedBy::Header };
            self.0.push(Keyed { key, request, is_served, row, party, begin: call.begin, how });
        }
    }

    /// Joins what is the same request.
    pub(crate) fn settle(mut self, matching: &mut Matching) {
        self.0.par_sort_unstable();
        for same in self.0.chunk_by(|a, b| a.key == b.key) {
            let mut left = Vec::new();
            for request in same.chunk_by(|a, b| a.request == b.request) {
                match request {
                    [made, served] if made.may_be(served) => {
                        matching.join(made.row, served.row, made.how);
                    }
                    [made, received @ ..] if made.is_of_all(received) => {
                        matching.join_all(made.row, received.iter().map(|one| one.row), made.how);
                    }
                    others => left.extend_from_slice(others),
                }
            }
            let reason = match same {
                // Whether its other side was recorded is another question.
                [_] => continue,
                [one, other] if one.is_served != other.is_served && one.request != other.request => {
                    Reason::Contradiction
                }
                _ => Reason::RepeatedKey,
            };
            for one in left {
                let rows = if one.is_served { &mut matching.served } else { &mut matching.made };
                rows.match_state[one.row as usize] = MatchState::Unmatched(reason);
            }
        }
    }
}
