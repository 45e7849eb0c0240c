"""Reads the arrows of a perfetto trace with perfetto's own messages: how many go from which slice to which, each by process and name."""

import json
import sys

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as messages

trace = messages.Trace()
with open(sys.argv[1], "rb") as file:
    trace.ParseFromString(file.read())

begin = messages.TrackEvent.TYPE_SLICE_BEGIN
processes, tracks, names, stacks = {}, {}, {}, {}
starts, ends, args = {}, {}, set()
for packet in trace.packet:
    for name in packet.interned_data.event_names:
        names[name.iid] = name.name
    if packet.HasField("track_descriptor"):
        track = packet.track_descriptor
        if track.HasField("process"):
            processes[track.uuid] = track.process.process_name
        else:
            tracks[track.uuid] = processes[track.parent_uuid]
            stacks[track.uuid] = []
    if packet.HasField("track_event"):
        event = packet.track_event
        stack = stacks[event.track_uuid]
        if event.type == begin:
            stack.append(names[event.name_iid])
        slice = tracks[event.track_uuid] + "/" + stack[-1]
        for ids, flows in ((event.flow_ids, starts), (event.terminating_flow_ids, ends)):
            for id in ids:
                assert id not in flows
                flows[id] = slice, packet.timestamp
        if event.debug_annotations:
            found = {a.name: a.string_value for a in event.debug_annotations}
            # A program that ends tells a server that has ended before it that it no longer needs its objects: nobody was met.
            missed = {"peer"} if found.get("matched") == "failed-before-sending" else set()
            args.add(tuple(sorted(found.keys() | missed)))
        if event.type != begin:
            stack.pop()
assert starts.keys() == ends.keys()
assert all({"matched", "method", "object", "outcome", "peer"} <= set(names) for names in args) and args
rows = {}
for id, (slice, at) in starts.items():
    to, then = ends[id]
    assert then >= at
    rows.setdefault(slice + " -> " + to, [0])[0] += 1
print(json.dumps(rows))
