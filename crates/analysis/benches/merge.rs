//! How fast remote calls are matched, given their places and exported, and in how much memory: `cargo bench -p instrument-analysis --bench merge`.
//!
//! Ten processes in a ring make a million calls each over a thousand connections; every call is recorded on both sides. Writes 2.6 GB
//! into the folder for temporary files, and removes them.

use std::fs::{self, File};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Instant;

use instrument_analysis::export::otlp;
use instrument_analysis::export::perfetto::Perfetto;
use instrument_analysis::export::remote::Remote;
use instrument_analysis::export::trace::Trace;
use instrument_analysis::load::{Options, Process, load};
use instrument_analysis::merge::tree;
use instrument_analysis::merge::{Nesting, Numbers, Offsets, Party, View, match_calls};
use instrument_testing::{REMOTE_CALL, Writer};
use instrument_trace::{Connection, ObjId, Profile, RemoteCall, RemoteCallKind, Side, Uid};

const PROCESSES: u32 = 10;
const CALLS: u32 = 1_000_000;
const CONNECTIONS: u32 = 1000;

fn main() {
    let folder = std::env::temp_dir().join(format!("merge-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let paths: Vec<_> = (0..PROCESSES).map(|process| folder.join(process.to_string())).collect();
    for (process, path) in (0..).zip(&paths) {
        fs::write(path, data(process)).expect("room for the files");
    }
    // The peak from here on.
    let _ = fs::write("/proc/self/clear_refs", "5");
    let start = Instant::now();
    let files: Vec<_> = paths.iter().map(|path| File::open(path).expect("it was written")).collect();
    let mut profiles: Vec<_> = files.iter().map(|file| Profile::open(file).expect("a profile")).collect();
    let labels: Vec<_> = (0..PROCESSES).map(|process| format!("P{process}")).collect();
    let methods = |_, id| format!("m{id}");
    let mut processes: Vec<_> = (profiles.iter_mut().zip(&labels))
        .map(|(profile, label)| Process::new(profile, label.clone(), &methods))
        .collect();
    let loaded = load(&mut processes, &Options { apart: true, ..Options::default() });
    let parties: Vec<_> =
        profiles.iter().zip(&files).map(|(profile, source)| Party { profile, source }).collect();
    let matching = match_calls(&parties).expect("files that can be read");
    let numbers = Numbers::of(&matching);
    let seconds = start.elapsed().as_secs_f64();
    let matched = numbers.all_matched();
    assert_eq!(matched, u64::from(PROCESSES * CALLS));
    println!("{matched} calls matched in {seconds:.1} s, {:.1} million/s", matched as f64 / seconds / 1e6);
    let start = Instant::now();
    let merged =
        tree(&parties, &matching, &loaded, &labels, &View::default()).expect("files that can be read");
    assert_eq!(merged.stages.values().map(|of| of.calls).sum::<u64>(), matched);
    println!("times and ways of all in {:.1} s", start.elapsed().as_secs_f64());
    drop(merged);
    let start = Instant::now();
    let nesting = Nesting::new(&parties, &matching).expect("files that can be read");
    let offsets = Offsets::new(&parties, &matching, 0).expect("files that can be read");
    println!("what exports need in {:.1} s", start.elapsed().as_secs_f64());
    let (names, matching, nesting, offsets) = (&labels[..], &matching, &nesting, &offsets);
    let remote = Remote { parties: &parties, names, matching, nesting, offsets };
    let start = Instant::now();
    let mut timeline = Perfetto::new(io::sink());
    let origin = remote.origin();
    for (process, (party, process_name)) in parties.iter().zip(names).enumerate() {
        let (source, profile, remote) = (party.source, party.profile, Some(&remote));
        let trace =
            Trace { source, profile, process, process_name, methods: &methods, classes: None, remote };
        trace.add_events(origin, &|_| true, &mut timeline).expect("a sink takes everything");
    }
    println!("a timeline of all in {:.1} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    otlp::write(&remote, names, false, &mut io::sink()).expect("a sink takes everything");
    println!("spans of all in {:.1} s", start.elapsed().as_secs_f64());
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    for line in status.lines().filter(|line| line.starts_with("VmHWM")) {
        println!("{line}");
    }
    let _ = fs::remove_dir_all(&folder);
}

/// The calls that a process makes of the next one, and those that it serves for the one before.
fn data(process: u32) -> Vec<u8> {
    let mut writer = Writer::new();
    for (side, number) in [(Side::Connected, 0), (Side::Accepted, CONNECTIONS)] {
        let all = (1..=CONNECTIONS).map(|at| connection(process, side, number + at));
        writer.connections(&all.collect::<Vec<_>>());
    }
    for (kind, server, first) in
        [(RemoteCallKind::Made, (process + 1) % PROCESSES, 0), (RemoteCallKind::Served, process, CONNECTIONS)]
    {
        let mut part = Vec::with_capacity(4096);
        for call in 0..CALLS {
            part.push(Some(record(kind, server, first + 1 + call % CONNECTIONS, call)));
            if part.len() == 4096 || call + 1 == CALLS {
                writer.remote_calls(&part);
                part.clear();
            }
        }
    }
    writer.finish()
}

fn connection(process: u32, side: Side, number: u32) -> Connection {
    let client = if side == Side::Connected { process } else { (process + PROCESSES - 1) % PROCESSES };
    let of_client = (20_000 + (number - 1) % CONNECTIONS) as u16;
    let of_server = (1099 + (client + 1) % PROCESSES) as u16;
    let (local_port, remote_port) =
        if side == Side::Connected { (of_client, of_server) } else { (of_server, of_client) };
    let local = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
    Connection {
        copy: 1,
        number,
        side,
        incarnation: 1,
        local_port,
        remote_port,
        local,
        remote: local,
        clock: 1,
        accepted: 0,
    }
}

fn record(kind: RemoteCallKind, server: u32, connection: u32, call: u32) -> RemoteCall {
    let clock = 1000 + u64::from(call) * 100;
    let time = 1_700_000_000_000 + i64::from(call / 65_536);
    RemoteCall {
        kind,
        connection,
        ordinal: call / CONNECTIONS + 1,
        object: ObjId {
            number: i64::from(call % 7),
            space: Uid { unique: server as i32, time: 1, count: 0 },
        },
        hash: i64::from(call % 3),
        return_id: Some(Uid { unique: server as i32, time, count: (call % 65_536) as u16 as i16 }),
        begin: clock,
        sent: clock + 10,
        returned: clock + 80,
        end: clock + 90,
        ..REMOTE_CALL
    }
}
