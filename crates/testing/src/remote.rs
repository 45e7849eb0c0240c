//! Remote calls and their connections as the words of the file.

use std::net::IpAddr;

use instrument_trace::format::{
    BAD_KEY, FAILED, FORWARDED, KEY_IS_ID, KEY_KNOWN, NO_SUCH_OBJECT, RETURN_KNOWN, SHARED, THREW, UNSENT,
};
use instrument_trace::{Connection, RemoteCall, Uid};

/// The record of a connection, as words.
pub(crate) fn connection(connection: &Connection) -> [u64; 8] {
    let address = |address: IpAddr| {
        let bytes = match address {
            IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
            IpAddr::V6(address) => address.octets(),
        };
        let (low, high) = (u128::from_le_bytes(bytes) as u64, (u128::from_le_bytes(bytes) >> 64) as u64);
        [low, high]
    };
    let ports = u64::from(connection.local_port) | u64::from(connection.remote_port) << 16;
    let ([a, b], [c, d]) = (address(connection.local), address(connection.remote));
    let number = u64::from(connection.number) | u64::from(connection.side.number()) << 32;
    [
        number,
        ports | u64::from(connection.incarnation) << 32,
        a,
        b,
        c,
        d,
        connection.clock,
        u64::from(connection.accepted),
    ]
}

/// The record of a remote call, as words.
pub(crate) fn remote_call(call: &RemoteCall) -> [u64; 16] {
    let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    let rest = |uid: &Uid| u64::from(uid.unique as u32) | u64::from(uid.count as u16) << 32;
    let flag = |set: bool, flag: u16| if set { u64::from(flag) << 48 } else { 0 };
    let flags = flag(call.threw, THREW)
        | flag(call.return_id.is_some(), RETURN_KNOWN)
        | flag(call.no_such_object, NO_SUCH_OBJECT)
        | flag(call.failed, FAILED);
    let return_id = call.return_id.unwrap_or_default();
    let http = call.http.unwrap_or_default();
    let key =
        http.key.map(|key| ((key.trace >> 64) as u64, key.trace as u64, key.parent)).unwrap_or_default();
    let flags = flags | flag(http.key.is_some(), KEY_KNOWN) | flag(http.has_bad_key, BAD_KEY);
    let flags = flags
        | flag(http.is_forwarded, FORWARDED)
        | flag(http.is_shared, SHARED)
        | flag(http.is_unsent, UNSENT);
    let flags = flags | flag(http.is_id, KEY_IS_ID);
    [
        pair(call.kind_number(), call.thread),
        pair(call.connection, call.ordinal),
        call.object.number as u64 | key.0,
        call.object.space.time as u64 | key.1,
        rest(&call.object.space) | flags,
        call.hash as u64,
        pair(call.operation as u32, call.class),
        return_id.time as u64 | key.2,
        rest(&return_id),
        pair(call.context, call.link),
        call.begin,
        call.sent,
        call.returned,
        call.end,
        pair(call.method, call.host),
        u64::from(call.port) | u64::from(http.status) << 16 | u64::from(call.number) << 32,
    ]
}
