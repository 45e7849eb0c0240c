//! Remote calls, by remote method invocation (RMI), HTTP and gRPC, and messages by JMS: connections, and the calls made and served over them.

use crate::format::{
    BAD_KEY, FAILED, FORWARDED, KEY_IS_ID, KEY_KNOWN, NO_SUCH_OBJECT, RETURN_KNOWN, SHARED, THREW, UNSENT,
};
use std::net::{IpAddr, Ipv6Addr};

/// Kinds of records of requests by HTTP: whoever knows only remote method invocation takes them for what it does not know.
pub(crate) const HTTP_MADE: u32 = 3;
/// See [`HTTP_MADE`].
pub(crate) const HTTP_SERVED: u32 = 4;
/// The same of calls by gRPC.
pub(crate) const GRPC_MADE: u32 = 5;
/// See [`GRPC_MADE`].
pub(crate) const GRPC_SERVED: u32 = 6;
/// The same of messages by JMS.
pub(crate) const JMS_SENT: u32 = 7;
/// See [`JMS_SENT`].
pub(crate) const JMS_RECEIVED: u32 = 8;
/// Status of a call by gRPC that went well.
const GRPC_OK: u16 = 1;

/// Which end of a connection this process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// It connected: it makes calls.
    Connected,
    /// It accepted: it serves calls.
    Accepted,
    /// A number that this reader does not know.
    Other(u32),
}

/// A connection. Its number has a meaning only within its copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connection {
    /// Copy of the runtime that recorded it.
    pub copy: u32,
    /// Its number, from 1.
    pub number: u32,
    /// Which end this process is.
    pub side: Side,
    /// Which one with these ports and addresses it is, from 1.
    pub incarnation: u32,
    /// Port of this process.
    pub local_port: u16,
    /// Port of the other one.
    pub remote_port: u16,
    /// Address of this process, an IPv4 address as such; unspecified if it is unknown.
    pub local: IpAddr,
    /// Address of the other one.
    pub remote: IpAddr,
    /// Clock when it was made.
    pub clock: u64,
    /// Accepted: how many sockets with these ports and addresses this process has accepted, whatever they carried; of several connections
    /// with them the largest number holds. 0: unknown.
    pub accepted: u32,
}

/// A `java.rmi.server.UID`: names what it belongs to on the host that made it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uid {
    /// Number of the virtual machine that made it.
    pub unique: i32,
    /// When it was made, in ms since 1970.
    pub time: i64,
    /// Which one of that time.
    pub count: i16,
}

/// A `java.rmi.server.ObjID`: names a remote object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjId {
    /// Object number.
    pub number: i64,
    /// Address space; all 0 for the objects that every process knows.
    pub space: Uid,
}

impl ObjId {
    /// The registry.
    pub const REGISTRY: ObjId = ObjId::well_known(0);
    /// The activation system.
    pub const ACTIVATOR: ObjId = ObjId::well_known(1);
    /// The distributed garbage collector.
    pub const DGC: ObjId = ObjId::well_known(2);

    const fn well_known(number: i64) -> ObjId {
        ObjId { number, space: Uid { unique: 0, time: 0, count: 0 } }
    }
}

/// Whether a call was made or served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RemoteCallKind {
    /// By this process, the client.
    Made,
    /// By this process, the server.
    Served,
    /// A kind that this reader does not know.
    Other(u32),
}

/// What both ends of a request by HTTP have read in its `traceparent` header (W3C Trace Context), and in its first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceParent {
    /// The trace id, which other requests may have, too.
    pub trace: u128,
    /// The parent id: whoever sent the request has given it a new one, unless it was passed on as it came.
    pub parent: u64,
}

/// What requests are sent by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    /// HTTP.
    #[default]
    Http,
    /// gRPC.
    Grpc,
    /// A message by JMS: it has no answer, and may have several receivers.
    Jms,
}

impl Protocol {
    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Protocol::Http => "http",
            Protocol::Grpc => "grpc",
            Protocol::Jms => "jms",
        }
    }
}

/// What a record of a request has, by HTTP or by gRPC, that one of remote method invocation has not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Http {
    /// What it was sent by.
    pub protocol: Protocol,
    /// Its key, if there was a header that is valid.
    pub key: Option<TraceParent>,
    /// The key is not of a header, but of the message's id.
    pub is_id: bool,
    /// There was a header, and it is not valid.
    pub has_bad_key: bool,
    /// The connection leads to, or comes from, a proxy.
    pub is_forwarded: bool,
    /// The connection carries several requests at a time, as HTTP/2 does: there is no place on it.
    pub is_shared: bool,
    /// Made: it was not written to a connection: an exception came first, or a cache had the answer.
    pub is_unsent: bool,
    /// Status of the response; of a call by gRPC one more than its status code. 0: unknown.
    pub status: u16,
}

/// A remote call as one side saw it. Clocks are those of this process, 0 for what did not come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemoteCall {
    /// Copy of the runtime that recorded it.
    pub copy: u32,
    /// Whether this process made it or served it.
    pub kind: RemoteCallKind,
    /// It is a request by HTTP, a call by gRPC, or a message. Then there is no object, no operation and no UID of a return; connection and ordinal are known of libraries
    /// that count what goes over their connections themselves; `hash` is of the request's method and path, `method` names them as `GET /orders/?` or `shop.Orders/Place`; made, `host` and `port` are those of the address, served, `host` is the client's; and
    /// `sent` and `returned` are 0.
    pub http: Option<Http>,
    /// Ordinal of the thread; 0: unknown.
    pub thread: u32,
    /// Number of the connection; 0: unknown.
    pub connection: u32,
    /// Which call on that connection it is, from 1.
    pub ordinal: u32,
    /// The remote object.
    pub object: ObjId,
    /// Hash of the method, or of the interface if there is an operation number.
    pub hash: i64,
    /// Operation number; -1: none.
    pub operation: i32,
    /// The UID of the return, if it is known: the same on both sides, and of no other call.
    pub return_id: Option<Uid>,
    /// It ended by an exception that the method threw.
    pub threw: bool,
    /// It was not dispatched: there is no such object.
    pub no_such_object: bool,
    /// It failed otherwise.
    pub failed: bool,
    /// Number, in [`crate::Copy::class_names`], of the class of the implementation; 0: unknown.
    pub class: u32,
    /// Number, in [`crate::Copy::class_names`], of the method as `name(descriptor)`; 0: unknown.
    pub method: u32,
    /// Number, in [`crate::Copy::class_names`], of a host. Made: the one that no connection to could be had, 0: there was one. Served: the
    /// client's, where the connection is unknown, else 0.
    pub host: u32,
    /// Made: the port that was asked for there.
    pub port: u16,
    /// Made: that of the call that its thread served meanwhile; served: its own, where several threads serve it. 0: not known.
    pub number: u32,
    /// Context that made it; 0: unknown.
    pub context: u32,
    /// Made: its link in a trace; served: the link frame that it ran under; 0: none.
    pub link: u32,
    /// The beginning: before anything is sent, or when the ObjID has been read.
    pub begin: u64,
    /// Made: the arguments are written. Served: they are read, the method is called.
    pub sent: u64,
    /// Made: the return has begun to come. Served: it begins to be written.
    pub returned: u64,
    /// The end.
    pub end: u64,
}

/// Where records of remote calls are: see [`crate::Profile::visit_remote_calls`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemoteCalls {
    /// Copy of the runtime that recorded them.
    pub copy: u32,
    /// File offset of the first.
    pub offset: u64,
    /// Room for them, in bytes.
    pub length: u64,
}

impl Side {
    /// Its number in the file.
    pub fn number(self) -> u32 {
        match self {
            Side::Connected => 1,
            Side::Accepted => 2,
            Side::Other(number) => number,
        }
    }
}

impl RemoteCall {
    /// The answer to a request says that it failed: of the server that it failed itself (5xx), for who asks also that the request was wrong (4xx), as
    /// OpenTelemetry's conventions for HTTP spans have it.
    pub fn has_error_status(&self) -> bool {
        self.http.is_some_and(|http| match (http.protocol, self.kind) {
            (Protocol::Http, RemoteCallKind::Served) => http.status >= 500,
            (Protocol::Http, _) => http.status >= 400,
            (Protocol::Grpc, _) => http.status > GRPC_OK,
            (Protocol::Jms, _) => false,
        })
    }

    /// When the client had an answer that its server had made: 0: it had none, or whether it had is not known.
    pub fn answered(&self) -> u64 {
        match self.http {
            None => self.returned,
            Some(Http { protocol: Protocol::Http, status, .. }) if status != 0 => self.end,
            // Others a client may give itself.
            Some(Http { protocol: Protocol::Grpc, status: GRPC_OK, .. }) => self.end,
            Some(_) => 0,
        }
    }

    /// It is a message: whoever sends it does not wait for who receives it.
    pub fn is_message(&self) -> bool {
        self.http.is_some_and(|http| http.protocol == Protocol::Jms)
    }

    /// Several threads may have served it.
    pub fn is_of_threads(&self) -> bool {
        self.kind == RemoteCallKind::Served && self.number != 0
    }

    /// The number of its kind in the file.
    pub fn kind_number(&self) -> u32 {
        match (self.kind, self.http.map(|http| http.protocol)) {
            (RemoteCallKind::Made, None) => 1,
            (RemoteCallKind::Served, None) => 2,
            (RemoteCallKind::Made, Some(Protocol::Http)) => HTTP_MADE,
            (RemoteCallKind::Served, Some(Protocol::Http)) => HTTP_SERVED,
            (RemoteCallKind::Made, Some(Protocol::Grpc)) => GRPC_MADE,
            (RemoteCallKind::Served, Some(Protocol::Grpc)) => GRPC_SERVED,
            (RemoteCallKind::Made, Some(Protocol::Jms)) => JMS_SENT,
            (RemoteCallKind::Served, Some(Protocol::Jms)) => JMS_RECEIVED,
            (RemoteCallKind::Other(number), _) => number,
        }
    }
}

impl Connection {
    pub(crate) fn decode(copy: u32, words: &[u64; 8]) -> Connection {
        let side = match (words[0] >> 32) as u32 {
            1 => Side::Connected,
            2 => Side::Accepted,
            other => Side::Other(other),
        };
        let address = |at: usize| {
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&words[at].to_le_bytes());
            bytes[8..].copy_from_slice(&words[at + 1].to_le_bytes());
            let address = Ipv6Addr::from(bytes);
            address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4)
        };
        Connection {
            copy,
            number: words[0] as u32,
            side,
            local_port: words[1] as u16,
            remote_port: (words[1] >> 16) as u16,
            incarnation: (words[1] >> 32) as u32,
            local: address(2),
            remote: address(4),
            clock: words[6],
            accepted: words[7] as u32,
        }
    }
}

impl RemoteCall {
    /// `None`: it was not finished.
    pub(crate) fn decode(copy: u32, words: &[u64; 16]) -> Option<RemoteCall> {
        let low = |at: usize| words[at] as u32;
        let high = |at: usize| (words[at] >> 32) as u32;
        let kind = match low(0) {
            0 => return None,
            1 | HTTP_MADE | GRPC_MADE | JMS_SENT => RemoteCallKind::Made,
            2 | HTTP_SERVED | GRPC_SERVED | JMS_RECEIVED => RemoteCallKind::Served,
            other => RemoteCallKind::Other(other),
        };
        let protocol = match low(0) {
            HTTP_MADE | HTTP_SERVED => Some(Protocol::Http),
            GRPC_MADE | GRPC_SERVED => Some(Protocol::Grpc),
            JMS_SENT | JMS_RECEIVED => Some(Protocol::Jms),
            _ => None,
        };
        let uid = |time: usize, rest: usize| Uid {
            time: words[time] as i64,
            unique: low(rest) as i32,
            count: high(rest) as i16,
        };
        let flags = (words[4] >> 48) as u16;
        let http = protocol.map(|protocol| Http {
            protocol,
            key: (flags & KEY_KNOWN != 0).then(|| TraceParent {
                trace: u128::from(words[2]) << 64 | u128::from(words[3]),
                parent: words[7],
            }),
            is_id: flags & KEY_IS_ID != 0,
            has_bad_key: flags & BAD_KEY != 0,
            is_forwarded: flags & FORWARDED != 0,
            is_shared: flags & SHARED != 0,
            is_unsent: flags & UNSENT != 0,
            status: (words[15] >> 16) as u16,
        });
        let object = ObjId { number: words[2] as i64, space: uid(3, 4) };
        Some(RemoteCall {
            copy,
            kind,
            http,
            thread: high(0),
            connection: low(1),
            ordinal: high(1),
            object: if protocol.is_some() { ObjId::default() } else { object },
            hash: words[5] as i64,
            operation: low(6) as i32,
            class: high(6),
            return_id: (flags & RETURN_KNOWN != 0).then(|| uid(7, 8)),
            threw: flags & THREW != 0,
            no_such_object: flags & NO_SUCH_OBJECT != 0,
            failed: flags & FAILED != 0,
            context: low(9),
            link: high(9),
            begin: words[10],
            sent: words[11],
            returned: words[12],
            end: words[13],
            method: low(14),
            host: high(14),
            port: words[15] as u16,
            number: high(15),
        })
    }
}
