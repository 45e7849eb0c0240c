# Reads OpenTelemetry profiles with the messages that OpenTelemetry publishes: the values of each context, in the order in which the figures come.
import json
import sys
import time

from opentelemetry.proto.collector.profiles.v1development.profiles_service_pb2 import ExportProfilesServiceRequest

request = ExportProfilesServiceRequest()
request.ParseFromString(open(sys.argv[1], "rb").read())
tables = request.dictionary
assert tables.string_table[0] == "" and len(set(tables.string_table)) == len(tables.string_table)
for table in ("mapping", "location", "function", "link", "attribute", "stack"):
    entries = getattr(tables, f"{table}_table")
    assert entries[0].ByteSize() == 0, f"{table}: the first entry is not empty"

figures, rows = [], {}
for resource in request.resource_profiles:
    attributes = {a.key: a.value for a in resource.resource.attributes}
    process = attributes["service.name"].string_value if "service.name" in attributes else "process"
    recorded = "process.pid" in attributes
    if recorded:
        process += f" (pid {attributes['process.pid'].int_value})"
    (scope,) = resource.scope_profiles
    assert scope.scope.name == "instrument" and scope.scope.version
    for profile in scope.profiles:
        # Of a text it is not known.
        since = time.time_ns() - profile.time_unix_nano
        assert 0 < profile.duration_nano < since < 86_400e9 if recorded else profile.time_unix_nano == 0
        figure = tables.string_table[profile.sample_type.type_strindex], tables.string_table[profile.sample_type.unit_strindex]
        if figure not in figures:
            figures.append(figure)
        for sample in profile.samples:
            (attribute,) = [tables.attribute_table[i] for i in sample.attribute_indices]
            assert tables.string_table[attribute.key_strindex] == "thread.name"
            frames = []
            for place in tables.stack_table[sample.stack_index].location_indices:
                (line,) = tables.location_table[place].lines
                frames.append(tables.string_table[tables.function_table[line.function_index].name_strindex])
            path = "/".join([process, attribute.value.string_value, *reversed(frames)])
            (value,) = sample.values
            assert value and figure not in rows.setdefault(path, {}), path
            rows[path][figure] = value
print(json.dumps({path: [row.get(figure, 0) for figure in figures] for path, row in rows.items()}))
