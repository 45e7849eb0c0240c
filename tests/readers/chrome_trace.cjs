// Reads trace events with TracerBench's model: number of frames and their us by context.
const { buildModel } = require("@tracerbench/trace-model");
const { readFileSync } = require("fs");

const rows = {};
for (const { name, threads } of buildModel(JSON.parse(readFileSync(process.argv[2], "utf8"))).processes) {
  for (const thread of threads) {
    for (const event of thread.events) {
      if (event.ph === "M") continue;
      if (event.ph !== "X") throw new Error(`a begin or an end alone: ${event.name}`);
      const path = [];
      for (let at = event; at; at = at.parent) path.unshift(at.name);
      path.unshift(name.split(" (totals")[0], thread.name);
      const row = (rows[path.join("/")] ??= [0, 0]);
      row[0] += 1;
      row[1] += event.duration;
    }
  }
}
console.log(JSON.stringify(rows));
