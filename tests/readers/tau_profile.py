"""Reads a TAU profile with Hatchet: calls, exclusive and inclusive figure of each context."""

import json
import sys

import hatchet

frame = hatchet.GraphFrame.from_tau(sys.argv[1])
data = frame.dataframe.reset_index()
metric = frame.exc_metrics[0]
rows = {}
for row in data.to_dict("records"):
    path = [node.frame["name"] for node in row["node"].path()]
    assert path[0].startswith("THREAD="), path
    place = [str(row.get("rank", 0)), str(row.get("thread", 0))]
    figures = [row["Calls"], row[metric], row[metric + " (inc)"]]
    # Hatchet fills in zeros for what a thread does not have.
    if figures[0] > 0 and len(path) > 1:
        rows["/".join(place + path[1:])] = figures
print(json.dumps(rows))
