"""Reads a perfetto trace with perfetto's own messages: number of slices and their ns by context."""

import json
import sys

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as messages

trace = messages.Trace()
with open(sys.argv[1], "rb") as file:
    trace.ParseFromString(file.read())

begin, end = messages.TrackEvent.TYPE_SLICE_BEGIN, messages.TrackEvent.TYPE_SLICE_END
cleared = messages.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
needs = messages.TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
processes, tracks, names, stacks, rows = {}, {}, {}, {}, {}
has_state = False
for packet in trace.packet:
    assert packet.trusted_packet_sequence_id == 1
    if packet.sequence_flags & cleared:
        names, has_state = {}, True
    for name in packet.interned_data.event_names:
        assert name.iid not in names
        names[name.iid] = name.name
    if packet.HasField("track_descriptor"):
        track = packet.track_descriptor
        assert track.uuid not in processes and track.uuid not in tracks
        if track.HasField("process"):
            processes[track.uuid] = track.process
        else:
            process = processes[track.parent_uuid]
            assert process.pid == track.thread.pid
            tracks[track.uuid] = process.process_name.split(" (totals")[0] + "/" + track.thread.thread_name
            stacks[track.uuid] = []
    if packet.HasField("track_event"):
        assert has_state and packet.sequence_flags & needs
        event = packet.track_event
        stack = stacks[event.track_uuid]
        if event.type == begin:
            stack.append((names[event.name_iid], packet.timestamp))
        else:
            assert event.type == end
            path = "/".join([tracks[event.track_uuid]] + [name for name, _ in stack])
            _, start = stack.pop()
            assert packet.timestamp >= start
            row = rows.setdefault(path, [0, 0])
            row[0] += 1
            row[1] += packet.timestamp - start
assert not any(stacks.values()), "slices without an end"
print(json.dumps(rows))
