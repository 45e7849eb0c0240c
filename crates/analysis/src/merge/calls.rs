//! What is kept of every remote call: millions of them, so columns of a few bytes.

use std::fmt::Write as _;
use std::hash::{BuildHasher, Hash};
use std::io;
use std::ops::Range;

use instrument_trace::{Error, ObjId, Profile, Protocol, RemoteCall, RemoteCallKind, Uid};

/// No row, no connection.
pub const NONE: u32 = u32::MAX;

/// Parties at most; their numbers are below.
pub(crate) const MOST_PARTIES: usize = u16::MAX as usize;

/// Who should have had the other side of a call that was not matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Peer {
    /// One of the parties.
    Party(usize),
    /// Someone at this address: its index in [`super::Matching::addresses`].
    Address(usize),
    /// It is not known.
    Unknown,
}

/// How a call was matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchedBy {
    /// Both returns have the same UID.
    Return,
    /// Its connection is known by other calls, and it has the same place on it.
    Place,
    /// Its connection was found by addresses and ports: the server tells that nobody else ever had them. Of a request by
    /// HTTP: no other profile, and neither end, has another connection with them.
    Ports,
    /// A request by HTTP: both ends have read the same `traceparent`, and the same method and path.
    Header,
    /// A message: both ends know the id that its provider has given it.
    Id,
}

/// Why a call was not matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// No profile given is of the process at the other end.
    PeerNotRecorded,
    /// The other process's profile is not whole: the record may be what is missing.
    ProfileTruncated,
    /// The other process did not record all the time.
    Paused,
    /// The other process's profile is whole, but this call is not in it: recording had not begun.
    NotRecorded,
    /// It was sent, but the other process did not begin with it.
    NotDispatched,
    /// It failed before its arguments were written.
    FailedBeforeSending,
    /// It had no connection yet, or its arguments were still being written, when the recording ended.
    InFlight,
    /// It did not return, and the connection that could be the other end of its own is not the only one, or is not
    /// known to be.
    AmbiguousConnection,
    /// There is a call that it should be, but object, method or the other side of it is not the same.
    Contradiction,
    /// Neither connection nor return is known: only stub and skeleton were recorded.
    ConnectionUnknown,
    /// The other process served this method, but its profile does not say over which connections: the JDK's classes
    /// were not rewritten there.
    PeerConnectionUnknown,
    /// A request by HTTP without a `traceparent` that both ends could know. At one end at least it is not known either
    /// which message on which connection it was.
    NoKey,
    /// The same: a proxy stands between its two ends.
    Forwarded,
    /// The same: its connection carries several requests at a time, as HTTP/2 does.
    SharedConnection,
    /// The request was not written to a connection: an exception came first, or a cache had the answer.
    NotSent,
    /// The `traceparent` of the request is not valid.
    BadKey,
    /// Several requests have the same `traceparent`, and method and path do not tell them apart, or not all of them
    /// were recorded.
    RepeatedKey,
    /// The request ended with an exception, and no profile given has it: whether it arrived is not known.
    Unanswered,
    /// No profile given has the other side: that was not recorded, or not all the time, or something between has
    /// changed the header.
    NoOtherRecord,
}

impl Reason {
    pub const ALL: [Reason; 19] = [
        Reason::PeerNotRecorded,
        Reason::ProfileTruncated,
        Reason::Paused,
        Reason::NotRecorded,
        Reason::NotDispatched,
        Reason::FailedBeforeSending,
        Reason::InFlight,
        Reason::AmbiguousConnection,
        Reason::Contradiction,
        Reason::ConnectionUnknown,
        Reason::PeerConnectionUnknown,
        Reason::NoKey,
        Reason::Forwarded,
        Reason::SharedConnection,
        Reason::NotSent,
        Reason::BadKey,
        Reason::RepeatedKey,
        Reason::Unanswered,
        Reason::NoOtherRecord,
    ];

    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Reason::PeerNotRecorded => "peer-not-recorded",
            Reason::ProfileTruncated => "profile-truncated",
            Reason::Paused => "paused",
            Reason::NotRecorded => "not-recorded",
            Reason::NotDispatched => "not-dispatched",
            Reason::FailedBeforeSending => "failed-before-sending",
            Reason::InFlight => "in-flight",
            Reason::AmbiguousConnection => "ambiguous-connection",
            Reason::Contradiction => "contradiction",
            Reason::ConnectionUnknown => "connection-unknown",
            Reason::PeerConnectionUnknown => "peer-connection-unknown",
            Reason::NoKey => "no-key",
            Reason::Forwarded => "forwarded",
            Reason::SharedConnection => "shared-connection",
            Reason::NotSent => "not-sent",
            Reason::BadKey => "bad-key",
            Reason::RepeatedKey => "repeated-key",
            Reason::Unanswered => "unanswered",
            Reason::NoOtherRecord => "no-other-record",
        }
    }
}

/// Outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchState {
    /// Not decided yet.
    Open,
    /// It has its other side.
    Matched(MatchedBy),
    /// It has none.
    Unmatched(Reason),
}

impl MatchState {
    /// How a call was matched, or why it was not.
    pub fn word(self) -> &'static str {
        match self {
            MatchState::Matched(MatchedBy::Return) => "by return",
            MatchState::Matched(MatchedBy::Place) => "by place",
            MatchState::Matched(MatchedBy::Ports) => "by ports",
            MatchState::Matched(MatchedBy::Header) => "by header",
            MatchState::Matched(MatchedBy::Id) => "by id",
            MatchState::Unmatched(reason) => reason.word(),
            MatchState::Open => "not yet",
        }
    }
}

/// All calls made, or all calls served: by row, in the order of the parties and of their files.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    /// Row at which each party begins; one more at the end.
    pub(crate) starts: Vec<u32>,
    /// Index of the connection, or [`NONE`].
    pub(crate) connection: Vec<u32>,
    /// Place on the connection.
    pub(crate) ordinal: Vec<u32>,
    /// Row of the other side, or [`NONE`].
    pub(crate) partner: Vec<u32>,
    pub(crate) match_state: Vec<MatchState>,
    /// Who is at the other end of a call that was not matched: a party; from [`MOST_PARTIES`] on, an address; or
    /// [`NONE`].
    peer: Vec<u32>,
}

impl Rows {
    pub(crate) fn push(&mut self, connection: u32, ordinal: u32) {
        self.connection.push(connection);
        self.ordinal.push(ordinal);
        self.partner.push(NONE);
        self.match_state.push(MatchState::Open);
        self.peer.push(NONE);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.match_state.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.match_state.is_empty()
    }

    /// The rows of a party.
    pub fn of(&self, party: usize) -> Range<u32> {
        self.starts[party]..self.starts[party + 1]
    }

    /// The party of a row.
    pub fn party(&self, row: u32) -> usize {
        self.starts.partition_point(|&start| start <= row) - 1
    }

    /// Outcome of a row.
    pub fn match_state(&self, row: u32) -> MatchState {
        self.match_state[row as usize]
    }

    /// Who is at the other end of a call that was not matched.
    pub fn peer(&self, row: u32) -> Peer {
        match self.peer[row as usize] {
            NONE => Peer::Unknown,
            party if (party as usize) < MOST_PARTIES => Peer::Party(party as usize),
            address => Peer::Address(address as usize - MOST_PARTIES),
        }
    }

    pub(crate) fn set_peer(&mut self, row: u32, peer: Peer) {
        self.peer[row as usize] = match peer {
            Peer::Party(party) => party as u32,
            Peer::Address(address) => (MOST_PARTIES + address) as u32,
            Peer::Unknown => NONE,
        };
    }

    /// The row of the other side.
    pub fn partner(&self, row: u32) -> Option<u32> {
        Some(self.partner[row as usize]).filter(|&row| row != NONE)
    }
}

/// Gives the calls of a party, when they are read again, the rows that they have.
#[derive(Debug, Clone)]
pub(crate) struct Numbering {
    made: Range<u32>,
    served: Range<u32>,
    /// There are more than there were.
    is_longer: bool,
}

impl Numbering {
    pub(crate) fn new(made: &Rows, served: &Rows, party: usize) -> Numbering {
        Numbering { made: made.of(party), served: served.of(party), is_longer: false }
    }

    /// The row of the next call; none: it has none.
    pub(crate) fn next(&mut self, kind: RemoteCallKind) -> Option<u32> {
        let rows = match kind {
            RemoteCallKind::Made => &mut self.made,
            RemoteCallKind::Served => &mut self.served,
            RemoteCallKind::Other(_) => return None,
        };
        let row = rows.next();
        self.is_longer |= row.is_none();
        row
    }

    /// # Errors
    /// Other calls were read than those that have rows.
    pub(crate) fn finish(self, profile: &Profile) -> Result<(), Error> {
        if self.is_longer || !self.made.is_empty() || !self.served.is_empty() {
            let pid = profile.pid;
            let reason = format!("the remote calls of process {pid} changed while they were read");
            return Err(io::Error::other(reason).into());
        }
        Ok(())
    }
}

/// Hashes of what both sides must agree on; as good as the things themselves to find that they do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Checks {
    pub(crate) object: u32,
    pub(crate) method: u32,
}

#[derive(Default)]
pub(crate) struct Hasher(foldhash::fast::RandomState);

impl Hasher {
    fn of(&self, what: impl Hash) -> u32 {
        self.0.hash_one(what) as u32
    }

    pub(crate) fn checks(&self, call: &RemoteCall) -> Checks {
        Checks { object: self.of(call.object), method: self.of((call.hash, call.operation)) }
    }

    /// Of the name and descriptor of a method.
    pub(crate) fn method(&self, text: &str) -> u32 {
        self.of(text)
    }
}

/// The UID of a return with the row of the call made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    pub(crate) time: i64,
    /// `unique` and `count`.
    pub(crate) rest: u64,
    pub(crate) row: u32,
    pub(crate) checks: Checks,
}

impl Key {
    pub(crate) fn of(uid: &Uid) -> (i64, u64) {
        (uid.time, u64::from(uid.unique as u32) << 16 | u64::from(uid.count as u16))
    }

    pub(crate) fn uid(&self) -> (i64, u64) {
        (self.time, self.rest)
    }
}

/// Whether an object is one that every process has: its number says nothing about where it is.
pub fn is_well_known(object: &ObjId) -> bool {
    object.space == Uid::default()
}

/// Whether the object of a call is known: a request by HTTP has none. All 0, it is the registry if the connection is
/// known, or what that would have led to.
pub fn knows_object(call: &RemoteCall) -> bool {
    let is_asked_for = call.kind == RemoteCallKind::Made && call.host != 0;
    call.http.is_none() && (call.connection != 0 || is_asked_for || call.object != ObjId::REGISTRY)
}

/// Whether a call is one that the runtime makes for itself or to find an object: registry, distributed garbage
/// collection, activation. The object must be known.
pub fn is_internal(call: &RemoteCall) -> bool {
    knows_object(call) && [ObjId::REGISTRY, ObjId::ACTIVATOR, ObjId::DGC].contains(&call.object)
}

/// Whether a call is a request by HTTP that was served, and has a name there.
pub(crate) fn is_route(call: &RemoteCall) -> bool {
    call.http.is_some() && call.kind == RemoteCallKind::Served && call.method != 0
}

/// `Shop.sell`, as far as it is known.
pub(crate) fn full_name((service, method): (&str, &str), call: &RemoteCall) -> String {
    let mut name = service.to_owned();
    if !name.is_empty() {
        name.push('.');
    }
    let _ = match (method.is_empty(), call.operation) {
        (false, _) => write!(name, "{method}"),
        (true, _) if call.is_message() => write!(name, "(message)"),
        (true, _) if call.http.is_some() => write!(name, "(request)"),
        (true, ..0) => write!(name, "(method {:016x})", call.hash),
        (true, operation) => write!(name, "(operation {operation})"),
    };
    name
}

/// Whether a call is by gRPC.
pub(crate) fn is_grpc(call: &RemoteCall) -> bool {
    call.http.is_some_and(|http| http.protocol == Protocol::Grpc)
}

/// What gRPC calls the statuses of calls that did not go well, from code 1 on.
const GRPC_STATUSES: [&str; 16] = [
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// What gRPC calls the status of a call that did not go well.
pub(crate) fn grpc_status(call: &RemoteCall) -> Option<&'static str> {
    let http = call.http.filter(|http| http.protocol == Protocol::Grpc)?;
    GRPC_STATUSES.get(usize::from(http.status).checked_sub(2)?).copied()
}

/// How a call ended.
pub(crate) fn outcome(call: &RemoteCall) -> &'static str {
    if call.threw {
        "threw"
    } else if call.no_such_object {
        "no such object"
    } else if call.failed {
        "failed"
    } else if call.end == 0 {
        "open"
    } else if let Some(status) = grpc_status(call) {
        status
    } else if call.has_error_status() {
        "error status"
    } else {
        "returned"
    }
}

/// Which call is which.
#[derive(Debug, Clone)]
pub struct Matching {
    /// Calls made.
    pub made: Rows,
    /// Calls served.
    pub served: Rows,
    /// By party: calls that its program made, and those that it served for others; without those that the runtime makes
    /// for itself.
    pub own: Vec<(u64, u64)>,
    /// By call made: the served call that its thread was busy with, or [`NONE`].
    pub(crate) within: Vec<u32>,
    /// By party: calls that its program made of others, and that are no part of a call which another party made.
    pub outermost: Vec<u64>,
    /// Messages with those that have received them, but the first of each.
    pub others: Vec<(u32, u32)>,
    /// Matched calls that have another place on the connection at one end than at the other.
    pub misplaced: u64,
    /// Calls of kinds that are not known.
    pub unknown: u64,
    /// Where the other side of calls is that were not matched.
    pub addresses: Vec<String>,
}
