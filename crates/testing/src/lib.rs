//! What tests of several crates need, and no product has: [`Writer`] writes profiles from simple descriptions,
//! [`samples`] are classes and archives, [`odd_classes`] and [`changed_classes`] are right and wrong ones. What a
//! recorder would write for a [`Script`] is found out here by a second, plain implementation of the reading rules.

pub mod changed_classes;
pub mod odd_classes;
mod remote;
pub mod samples;
mod script;
mod writer;

use instrument_trace::{ObjId, RemoteCall, RemoteCallKind, Uid};

pub use script::{Recorded, Script};
pub use writer::{Life, ThreadFacts, Writer};

/// A call made by the first thread, the first on its first connection, that has no UID and no times.
pub const REMOTE_CALL: RemoteCall = RemoteCall {
    copy: 1,
    kind: RemoteCallKind::Made,
    thread: 1,
    connection: 1,
    ordinal: 1,
    object: ObjId { number: 9, space: Uid { unique: 5, time: 3, count: 1 } },
    hash: 77,
    operation: -1,
    return_id: None,
    http: None,
    threw: false,
    no_such_object: false,
    failed: false,
    class: 0,
    method: 0,
    host: 0,
    port: 0,
    number: 0,
    context: 0,
    link: 0,
    begin: 0,
    sent: 0,
    returned: 0,
    end: 0,
};
