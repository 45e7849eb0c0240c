// Reads a pprof profile with pprof-format: the values of each context, in the order of the sample types.
const { Profile } = require("pprof-format");
const { gunzipSync } = require("zlib");
const { readFileSync } = require("fs");

const profile = Profile.decode(gunzipSync(readFileSync(process.argv[2])));
const text = (index) => profile.stringTable.strings[Number(index)];
const unique = (items) => new Map(items.map((item) => [Number(item.id), item]));
const functions = unique(profile.function);
const locations = unique(profile.location);
if (functions.size !== profile.function.length || text(0) !== "") throw new Error("not sound");

// Of a text it is not known.
const [began, took] = [profile.timeNanos, profile.durationNanos].map((ns) => Number(ns) / 1e6);
const since = Date.now() - began;
if (began === 0 ? took !== 0 : !(took > 0 && took < since && since < 86400e3)) throw new Error(`${began} ${took}`);

const rows = {};
for (const sample of profile.sample) {
  const labels = Object.fromEntries(sample.label.map((label) => [text(label.key), text(label.str)]));
  const frames = sample.locationId.map((id) => {
    const line = locations.get(Number(id)).line[0];
    return text(functions.get(Number(line.functionId)).name);
  });
  const path = [labels.process ?? "process", labels.thread, ...frames.reverse()].join("/");
  if (sample.value.length !== profile.sampleType.length || path in rows) throw new Error(path);
  rows[path] = sample.value.map(Number);
}
console.log(JSON.stringify(rows));
