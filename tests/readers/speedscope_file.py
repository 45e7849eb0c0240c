"""Checks a file against speedscope's schema, which lies at $SCHEMA; what each context weighs itself and with all below."""

import json
import os
import sys

import jsonschema

with open(sys.argv[1]) as file:
    profile = json.load(file)
with open(os.environ["SCHEMA"]) as file:
    jsonschema.Draft7Validator(json.load(file)).validate(profile)

frames = [frame["name"] for frame in profile["shared"]["frames"]]
rows = {}


def add(path, own, total):
    row = rows.setdefault(path, [0, 0])
    row[0] += own
    row[1] += total


for thread in profile["profiles"]:
    place = thread["name"].split(": ", 1)
    place = place if len(place) == 2 else ["process"] + place
    if thread["type"] == "sampled":
        assert len(thread["samples"]) == len(thread["weights"])
        for stack, weight in zip(thread["samples"], thread["weights"]):
            path = place + [frames[frame] for frame in stack]
            add("/".join(path), weight, 0)
            for length in range(len(place) + 1, len(path) + 1):
                add("/".join(path[:length]), 0, weight)
        assert abs(sum(thread["weights"]) - thread["endValue"] + thread["startValue"]) < 1e-6
    else:
        stack, last = [], thread["startValue"]
        for event in thread["events"]:
            assert thread["startValue"] <= last <= event["at"] <= thread["endValue"]
            passed, last = event["at"] - last, event["at"]
            for length in range(1, len(stack) + 1):
                path = "/".join(place + [frames[frame] for frame in stack[:length]])
                add(path, passed if length == len(stack) else 0, passed)
            if event["type"] == "O":
                stack.append(event["frame"])
            else:
                assert stack.pop() == event["frame"]
        assert not stack
print(json.dumps(rows))
