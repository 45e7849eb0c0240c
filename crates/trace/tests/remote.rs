//! Connections and remote calls: what was written is read, and a file that was cut has none that were not there.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use instrument_testing::Writer;
use instrument_trace::{
    Connection, Http, ObjId, Profile, Protocol, RemoteCall, RemoteCallKind, Side, TraceParent, Uid,
};

fn connections() -> Vec<Connection> {
    let first = Connection {
        copy: 1,
        number: 1,
        side: Side::Connected,
        incarnation: 1,
        local_port: 40_001,
        remote_port: 1099,
        local: IpAddr::V4(Ipv4Addr::new(127, 0, 0, 1)),
        remote: IpAddr::V4(Ipv4Addr::new(192, 168, 2, 254)),
        clock: 5000,
        accepted: 0,
    };
    let second = Connection {
        number: 2,
        side: Side::Accepted,
        incarnation: u32::MAX,
        local_port: 65_535,
        remote_port: 1,
        local: IpAddr::V6(Ipv6Addr::LOCALHOST),
        remote: IpAddr::V6("fe80::1:2:3:ffee".parse().unwrap()),
        clock: u64::MAX,
        accepted: 7,
        ..first
    };
    vec![first, second]
}

fn calls() -> Vec<Option<RemoteCall>> {
    let made = RemoteCall {
        copy: 1,
        kind: RemoteCallKind::Made,
        thread: 3,
        connection: 1,
        ordinal: 7,
        object: ObjId { number: -5, space: Uid { unique: i32::MIN, time: -1, count: -32_768 } },
        hash: i64::MIN,
        operation: -1,
        return_id: Some(Uid { unique: -1, time: i64::MAX, count: -1 }),
        http: None,
        threw: true,
        no_such_object: false,
        failed: false,
        class: 0,
        method: 9,
        host: 12,
        port: 65_535,
        number: u32::MAX - 7,
        context: 11,
        link: 0,
        begin: 1,
        sent: 2,
        returned: 3,
        end: 4,
    };
    let served = RemoteCall {
        kind: RemoteCallKind::Served,
        object: ObjId::DGC,
        operation: 1,
        class: 4,
        host: 5,
        context: 0,
        link: 8,
        threw: false,
        failed: true,
        ..made
    };
    let open =
        RemoteCall { return_id: None, returned: 0, end: 0, threw: false, no_such_object: true, ..made };
    let key = Some(TraceParent { trace: u128::MAX - 5, parent: u64::MAX - 1 });
    let asked = RemoteCall {
        connection: 0,
        ordinal: 0,
        object: ObjId::default(),
        return_id: None,
        http: Some(Http { key, has_bad_key: false, status: 503, ..Http::default() }),
        ..made
    };
    let answered = RemoteCall {
        kind: RemoteCallKind::Served,
        http: Some(Http {
            protocol: Protocol::Grpc,
            key: None,
            has_bad_key: true,
            status: 0,
            ..Http::default()
        }),
        ..asked
    };
    vec![Some(made), None, Some(served), Some(open), Some(asked), Some(answered)]
}

fn file() -> Vec<u8> {
    let mut writer = Writer::new();
    writer.connections(&connections()).remote_calls(&calls()).remote_calls(&calls());
    writer.finish()
}

fn read(data: &[u8]) -> Option<(Profile, Vec<RemoteCall>)> {
    let profile = Profile::parse(data).ok()?;
    let mut calls = Vec::new();
    profile.visit_remote_calls(&data, |call| calls.push(*call)).unwrap();
    Some((profile, calls))
}

#[test]
fn what_was_written_is_read() {
    let (profile, read) = read(&file()).unwrap();
    assert_eq!(profile.connections, connections());
    let finished: Vec<RemoteCall> = calls().into_iter().flatten().collect();
    assert_eq!(read, [&finished[..], &finished[..]].concat());
    let data = file();
    let again = profile.remote_calls_at(&data).unwrap();
    let mut places = Vec::new();
    profile
        .visit_placed_remote_calls(&data, |place, call| {
            assert_eq!(again.get(place).unwrap(), Some(*call));
            places.push(place);
        })
        .unwrap();
    for wrong in [0, places[0] - 128, places[0] + 64, places[0] + 128, u64::MAX] {
        assert_eq!(again.get(wrong).unwrap(), None, "{wrong}");
    }
    assert!(profile.skipped.is_empty() && profile.damage.is_empty());
}

#[test]
fn a_cut_file_has_the_first_of_them() {
    let data = file();
    let (_, whole) = read(&data).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for length in 4096..data.len() {
        let (profile, calls) = read(&data[..length]).unwrap();
        assert!(connections().starts_with(&profile.connections), "cut at {length}");
        assert!(whole.starts_with(&calls), "cut at {length}");
        seen.insert((profile.connections.len(), calls.len()));
    }
    let counts: Vec<_> = [(0, 0), (1, 0)].into_iter().chain((0..=10).map(|calls| (2, calls))).collect();
    assert!(seen.into_iter().eq(counts));
}

#[test]
fn any_bit_may_be_wrong() {
    let data = file();
    for at in 4096..data.len().min(4096 + 2048) {
        for bit in 0..8 {
            let mut wrong = data.clone();
            wrong[at] ^= 1 << bit;
            let (profile, calls) = read(&wrong).unwrap();
            // No region reaches behind the file.
            assert!(64 * profile.connections.len() + 128 * calls.len() < wrong.len(), "bit {bit} of {at}");
        }
    }
}
