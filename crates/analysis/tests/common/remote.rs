//! Processes that call each other, as profiles of a few calls.

use std::net::{IpAddr, Ipv4Addr};

use RemoteCallKind::{Made, Served};
use instrument_analysis::merge::{Matching, Numbers, Party, match_calls};
use instrument_testing::{REMOTE_CALL, Writer};
use instrument_trace::{Connection, ObjId, Profile, RemoteCall, RemoteCallKind, Side, Uid};

/// A process: what it writes.
#[derive(Clone, Default)]
pub(crate) struct Process {
    pub(crate) connections: Vec<Connection>,
    pub(crate) calls: Vec<RemoteCall>,
    /// The name of its machine, if it says so.
    pub(crate) host: Option<&'static str>,
    /// Names of classes, methods and hosts.
    pub(crate) names: Vec<(u32, &'static str)>,
    /// Start of its recording, in ms since 1970; 0: the first.
    pub(crate) start_ms: u64,
    /// Its recording was paused.
    pub(crate) is_paused: bool,
}

/// Kind of the region that tells when recording was paused.
const PAUSES: u32 = 20;

pub(crate) fn connection(
    number: u32,
    side: Side,
    local_port: u16,
    remote_port: u16,
    incarnation: u32,
) -> Connection {
    let local = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
    Connection {
        copy: 1,
        number,
        side,
        incarnation,
        local_port,
        remote_port,
        local,
        remote: local,
        clock: 5,
        accepted: 0,
    }
}

pub(crate) fn uid(machine: i32, count: i16) -> Uid {
    Uid { unique: machine, time: 1_000, count }
}

/// A call that returned; `serial` is what the test knows it by.
pub(crate) fn call(
    kind: RemoteCallKind,
    connection: u32,
    ordinal: u32,
    object: ObjId,
    serial: u32,
    id: Option<Uid>,
) -> RemoteCall {
    let done = if id.is_some() { 1 } else { 0 };
    RemoteCall {
        kind,
        connection,
        ordinal,
        object,
        return_id: id,
        context: serial,
        begin: 100,
        sent: 110,
        returned: 120 * done,
        end: 130 * done,
        ..REMOTE_CALL
    }
}

pub(crate) fn object(machine: i32, number: i64) -> ObjId {
    ObjId { number, space: uid(machine, 0) }
}

impl Process {
    pub(crate) fn file(&self) -> Vec<u8> {
        let mut writer = Writer::new();
        if self.start_ms != 0 {
            writer.word(32, self.start_ms);
        }
        if let Some(host) = self.host {
            writer.property("host", host);
        }
        if !self.names.is_empty() {
            writer.class_names(&self.names);
        }
        if self.is_paused {
            let pause = [10u64, 20].map(u64::to_le_bytes);
            writer.region(PAUSES, 0, &[], pause.as_flattened());
        }
        let calls: Vec<_> = self.calls.iter().map(|call| Some(*call)).collect();
        // In pieces, so that a cut takes some.
        for part in self.connections.chunks(3) {
            writer.connections(part);
        }
        for part in calls.chunks(3) {
            writer.remote_calls(part);
        }
        writer.finish()
    }
}

/// Serials of the matched, and what became of all calls.
pub(crate) fn matched(files: &[Vec<u8>]) -> (Matching, Vec<(u32, u32)>, Numbers) {
    let profiles: Vec<_> = files.iter().map(|file| Profile::parse(file).unwrap()).collect();
    let parties: Vec<_> =
        profiles.iter().zip(files).map(|(profile, source)| Party { profile, source }).collect();
    let matching = match_calls(&parties).unwrap();
    let mut serials = [Vec::new(), Vec::new()];
    for (profile, file) in profiles.iter().zip(files) {
        let read = |call: &RemoteCall| match call.kind {
            Made => serials[0].push(call.context),
            Served => serials[1].push(call.context),
            RemoteCallKind::Other(_) => {}
        };
        profile.visit_remote_calls(file, read).unwrap();
    }
    let [made, served] = serials;
    let pairs = (0..made.len() as u32).filter_map(|row| {
        let partner = matching.made.partner(row)?;
        assert_eq!(matching.served.partner(partner), Some(row));
        Some((made[row as usize], served[partner as usize]))
    });
    let pairs = pairs.collect();
    let numbers = Numbers::of(&matching);
    let unmatched = |is_made: bool| {
        let sides = numbers.unmatched.iter().filter(|((_, side, ..), _)| *side == is_made);
        sides.map(|(_, calls)| calls).sum::<u64>()
    };
    assert_eq!(numbers.made.iter().sum::<u64>(), numbers.all_matched() + unmatched(true));
    let others = matching.others.len() as u64;
    assert_eq!(numbers.served.iter().sum::<u64>(), numbers.all_matched() + others + unmatched(false));
    (matching, pairs, numbers)
}

/// Three calls, the last of which did not return, over a connection of each.
pub(crate) fn two() -> (Process, Process) {
    let client = Process {
        connections: vec![connection(1, Side::Connected, 5000, 1099, 1)],
        calls: (1..=3)
            .map(|i| call(Made, 1, i, object(2, 9), i, (i < 3).then(|| uid(2, i as i16))))
            .collect(),
        ..Process::default()
    };
    let server = Process {
        connections: vec![connection(7, Side::Accepted, 1099, 5000, 1)],
        calls: (1..=3)
            .map(|i| call(Served, 7, i, object(2, 9), i, (i < 3).then(|| uid(2, i as i16))))
            .collect(),
        ..Process::default()
    };
    (client, server)
}
