//! Perfetto traces: a quarter of the size of [`chrome`](super::chrome)'s JSON, because names are written once.
//!
//! The messages are those of perfetto's `protos/perfetto/trace`, as far as they are used: a packet for each event, all
//! in one sequence. A trace is a message of nothing but packets, so they are written one by one.

use super::timeline::{Details, Flow, Thread, Timeline};
use crate::origin::Origins;
use prost::Message;
use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

#[derive(Clone, PartialEq, Message)]
struct Trace {
    #[prost(message, repeated, tag = "1")]
    packet: Vec<TracePacket>,
}

#[derive(Clone, PartialEq, Message)]
struct TracePacket {
    #[prost(message, optional, tag = "6")]
    clock_snapshot: Option<ClockSnapshot>,
    #[prost(uint64, optional, tag = "8")]
    timestamp: Option<u64>,
    #[prost(uint32, tag = "10")]
    trusted_packet_sequence_id: u32,
    #[prost(message, optional, tag = "11")]
    track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    interned_data: Option<InternedData>,
    #[prost(uint32, tag = "13")]
    sequence_flags: u32,
    #[prost(message, optional, tag = "60")]
    track_descriptor: Option<TrackDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
struct TrackEvent {
    #[prost(int32, tag = "9")]
    r#type: i32,
    #[prost(uint64, optional, tag = "10")]
    name_iid: Option<u64>,
    #[prost(uint64, tag = "11")]
    track_uuid: u64,
    #[prost(message, repeated, tag = "4")]
    debug_annotations: Vec<DebugAnnotation>,
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    flow_ids: Vec<u64>,
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    terminating_flow_ids: Vec<u64>,
    #[prost(uint64, optional, tag = "34")]
    source_location_iid: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
struct DebugAnnotation {
    #[prost(string, tag = "10")]
    name: String,
    #[prost(string, tag = "6")]
    string_value: String,
}

#[derive(Clone, PartialEq, Message)]
struct ClockSnapshot {
    #[prost(message, repeated, tag = "1")]
    clocks: Vec<Clock>,
}

#[derive(Clone, PartialEq, Message)]
struct Clock {
    #[prost(uint32, tag = "1")]
    clock_id: u32,
    #[prost(uint64, tag = "2")]
    timestamp: u64,
}

#[derive(Clone, PartialEq, Message)]
struct InternedData {
    #[prost(message, repeated, tag = "2")]
    event_names: Vec<EventName>,
    #[prost(message, repeated, tag = "4")]
    source_locations: Vec<SourceLocation>,
}

#[derive(Clone, PartialEq, Message)]
struct SourceLocation {
    /// That of the name of the method.
    #[prost(uint64, tag = "1")]
    iid: u64,
    #[prost(string, tag = "2")]
    file_name: String,
    #[prost(string, tag = "3")]
    function_name: String,
    #[prost(uint32, tag = "4")]
    line_number: u32,
}

#[derive(Clone, PartialEq, Message)]
struct EventName {
    #[prost(uint64, tag = "1")]
    iid: u64,
    #[prost(string, tag = "2")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct TrackDescriptor {
    #[prost(uint64, tag = "1")]
    uuid: u64,
    #[prost(message, optional, tag = "3")]
    process: Option<ProcessDescriptor>,
    #[prost(message, optional, tag = "4")]
    thread: Option<ThreadDescriptor>,
    #[prost(uint64, optional, tag = "5")]
    parent_uuid: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
struct ProcessDescriptor {
    #[prost(int32, tag = "1")]
    pid: i32,
    #[prost(string, tag = "6")]
    process_name: String,
}

#[derive(Clone, PartialEq, Message)]
struct ThreadDescriptor {
    #[prost(int32, tag = "1")]
    pid: i32,
    #[prost(int32, tag = "2")]
    tid: i32,
    #[prost(string, tag = "5")]
    thread_name: String,
}

const SEQUENCE: u32 = 1;
const STATE_CLEARED: u32 = 1;
const NEEDS_STATE: u32 = 2;
const SLICE_BEGIN: i32 = 1;
const SLICE_END: i32 = 2;
/// The time of day, and the clock that times are of unless something else is said.
const REALTIME: u32 = 1;
const BOOTTIME: u32 = 6;

/// As in [`chrome`](super::chrome).
const FIRST_TID: u32 = 100_000;

/// Writes a timeline as a perfetto trace while it is fed.
#[derive(Debug)]
pub struct Perfetto<W: Write> {
    out: W,
    /// Numbers of the names that were written, from 1.
    names: HashMap<String, u64>,
    processes: HashSet<usize>,
    threads: u32,
    bytes: Vec<u8>,
    origins: Origins,
}

impl<W: Write> Perfetto<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Perfetto<W> {
        let (names, processes, origins) = (HashMap::new(), HashSet::new(), Origins::default());
        Perfetto { out, names, processes, threads: 0, bytes: Vec::new(), origins }
    }

    /// Slices have the source file and first line of their methods.
    #[must_use]
    pub fn with_origins(self, origins: Origins) -> Perfetto<W> {
        Perfetto { origins, ..self }
    }

    fn write(&mut self, packet: TracePacket) -> io::Result<()> {
        let packet = TracePacket { trusted_packet_sequence_id: SEQUENCE, ..packet };
        self.bytes.clear();
        Trace { packet: vec![packet] }.encode(&mut self.bytes)?;
        self.out.write_all(&self.bytes)
    }

    fn describe(&mut self, track: TrackDescriptor, sequence_flags: u32) -> io::Result<()> {
        let track_descriptor = Some(track);
        self.write(TracePacket { track_descriptor, sequence_flags, ..TracePacket::default() })
    }

    fn event(
        &mut self,
        kind: i32,
        at: u64,
        name: Option<&str>,
        Details { args, flows }: &Details<'_>,
    ) -> io::Result<()> {
        let (name_iid, new) = name.map(|name| self.intern(name)).unzip();
        let annotation = |(name, value): &(&str, String)| DebugAnnotation {
            name: (*name).into(),
            string_value: value.clone(),
        };
        let ids =
            |is_start: bool| flows.iter().filter(move |f| f.is_start == is_start).map(|f| f.id).collect();
        let event = TrackEvent {
            r#type: kind,
            name_iid,
            // Uuids are the numbers of tids and pids, which differ.
            track_uuid: u64::from(FIRST_TID + self.threads - 1),
            debug_annotations: args.iter().map(annotation).collect(),
            flow_ids: ids(true),
            terminating_flow_ids: ids(false),
            source_location_iid: name_iid.filter(|_| name.is_some_and(|name| self.has_file(name))),
        };
        self.write(TracePacket {
            timestamp: Some(at),
            track_event: Some(event),
            interned_data: new.flatten(),
            sequence_flags: NEEDS_STATE,
            ..TracePacket::default()
        })
    }

    /// The number of a name, and what tells it when it is a new one.
    fn intern(&mut self, name: &str) -> (u64, Option<InternedData>) {
        if let Some(&iid) = self.names.get(name) {
            return (iid, None);
        }
        let iid = self.names.len() as u64 + 1;
        self.names.insert(name.into(), iid);
        let location = |(file_name, line_number)| SourceLocation {
            iid,
            file_name,
            function_name: name.into(),
            line_number,
        };
        let source_locations = self.origins.path(name).map(location).into_iter().collect();
        (
            iid,
            Some(InternedData { event_names: vec![EventName { iid, name: name.into() }], source_locations }),
        )
    }

    fn has_file(&self, name: &str) -> bool {
        self.origins.get(name).is_some_and(|origin| !origin.file.is_empty())
    }
}

impl<W: Write> Timeline for Perfetto<W> {
    fn thread(&mut self, thread: Thread<'_>) -> io::Result<()> {
        let pid = thread.process as i32 + 1;
        let tid = (FIRST_TID + self.threads) as i32;
        let first = if self.threads == 0 { STATE_CLEARED } else { 0 };
        self.threads += 1;
        let mut flags = first;
        if self.processes.insert(thread.process) {
            let process = ProcessDescriptor { pid, process_name: thread.process_name.into() };
            let track =
                TrackDescriptor { uuid: pid as u64, process: Some(process), ..TrackDescriptor::default() };
            self.describe(track, flags)?;
            flags = 0;
        }
        let descriptor = ThreadDescriptor { pid, tid, thread_name: thread.name.into() };
        let (uuid, parent_uuid) = (tid as u64, Some(pid as u64));
        self.describe(TrackDescriptor { uuid, parent_uuid, thread: Some(descriptor), process: None }, flags)
    }

    fn time_of_day(&mut self, unix_ns: u64) -> io::Result<()> {
        let clock = |clock_id, timestamp| Clock { clock_id, timestamp };
        let clocks = vec![clock(BOOTTIME, 0), clock(REALTIME, unix_ns)];
        self.write(TracePacket { clock_snapshot: Some(ClockSnapshot { clocks }), ..TracePacket::default() })
    }

    fn enter(&mut self, name: &str, at: u64) -> io::Result<()> {
        self.event(SLICE_BEGIN, at, Some(name), &Details::default())
    }

    fn leave(&mut self, at: u64) -> io::Result<()> {
        self.event(SLICE_END, at, None, &Details::default())
    }

    fn enter_with(&mut self, name: &str, at: u64, details: &Details<'_>) -> io::Result<()> {
        self.event(SLICE_BEGIN, at, Some(name), details)
    }

    fn leave_with(&mut self, at: u64, flows: &[Flow]) -> io::Result<()> {
        self.event(SLICE_END, at, None, &Details { args: &[], flows })
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::timeline::tests::{a_remote_call, two_threads};

    #[test]
    fn packets_are_a_trace() {
        let mut bytes = Vec::new();
        two_threads(&mut Perfetto::new(&mut bytes)).unwrap();
        let packets = Trace::decode(&bytes[..]).unwrap().packet;
        let events: Vec<_> = packets
            .iter()
            .filter_map(|packet| {
                let event = packet.track_event.as_ref()?;
                Some((packet.timestamp?, event.track_uuid - 100_000, event.r#type, event.name_iid))
            })
            .collect();
        let expected = [
            (1_000, 0, 1, Some(1)),
            (1_500, 0, 1, Some(2)),
            (4_000, 0, 2, None),
            (4_000, 0, 1, Some(2)),
            (4_001, 0, 2, None),
            (9_000, 0, 2, None),
            (2_000, 1, 1, Some(1)),
            (3_000_000, 1, 2, None),
        ];
        assert_eq!(events, expected);
        assert_eq!(packets.iter().filter(|packet| packet.sequence_flags & STATE_CLEARED != 0).count(), 1);
        assert_eq!(packets.iter().filter(|packet| packet.interned_data.is_some()).count(), 2);
    }

    #[test]
    fn arrows_belong_to_events() {
        let mut bytes = Vec::new();
        a_remote_call(&mut Perfetto::new(&mut bytes)).unwrap();
        let packets = Trace::decode(&bytes[..]).unwrap().packet;
        let clocks = &packets[0].clock_snapshot.as_ref().unwrap().clocks;
        assert_eq!(
            clocks.last().map(|clock| (clock.clock_id, clock.timestamp)),
            Some((1, 1_700_000_000_000_000_000))
        );
        let events: Vec<_> = packets.iter().filter_map(|packet| packet.track_event.as_ref()).collect();
        let flows = |at: usize| (&events[at].flow_ids[..], &events[at].terminating_flow_ids[..]);
        assert_eq!(flows(0), (&[1][..], &[][..]));
        assert_eq!(flows(1), (&[][..], &[2][..]));
        assert_eq!(flows(2), (&[2][..], &[1][..]));
        let args: Vec<_> =
            events[0].debug_annotations.iter().map(|a| (&a.name[..], &a.string_value[..])).collect();
        assert_eq!(args, [("object", "[1, 2]"), ("peer", "\"a\":1")]);
    }
}
