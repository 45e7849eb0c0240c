// Statements, requests and files that calls were split by: how often, how long, and which of the program's own methods called them.
"use strict";

/** Calls for each call of a method, and in all, from which on a loop is worth a word. */
const LEAST_EACH = 5;
const LEAST_CALLS = 20;

class StatementsView {
  constructor(app, parent) {
    this.app = app;
    this.state = app.state;
    const { profile } = app;
    this.rows = statementsOf(profile);
    const time = (key) => ({ key, of: (row) => row[key], text: (row) => text.time(row[key]) });
    const columns = [
      { key: "calls", of: (row) => row.calls, text: (row) => count(row.calls) },
      time("total"),
      time("per call"),
      time("max"),
      { key: "calls of it in one call", label: "in each", of: (row) => row.each, text: (row) => (row.each ? quantity(Math.round(10 * row.each) / 10, "") : "-") },
      { key: "called by", kind: "word", of: (row) => row.caller, text: (row) => row.caller },
      { key: "statement", kind: "name", of: (row) => row.name, text: (row) => row.name },
    ];
    this.table = new SortedTable(app, parent, "Statements, requests and files", columns, {
      isSelected: (row) => profile.fn[this.state.selected] === row.fn,
      select: (row) => this.state.go({ selected: app.largest(row.fn) }, true),
      open: (row) => {
        const selected = app.largest(row.fn);
        this.state.reveal(selected);
        this.state.go({ selected, view: "tree" });
      },
    });
  }

  update() {
    this.table.update(this.rows);
  }

  step(how) {
    this.table.step(how);
  }

  enter() {
    this.table.enter();
  }

  command(files) {
    return `instrument stats ${files}`;
  }

  csv() {
    return this.table.csv("statements");
  }
}

/** Each with the own method that calls it: that whose every call does so again and again, or the nearest one. The most time first. */
function statementsOf(profile) {
  const { own, values } = profile.header.overview;
  const [isOwn, isValue] = [new Set(own), new Set(values)];
  const above = new Map(values.map((fn) => [fn, new Map()]));
  const nearest = new Map(values.map((fn) => [fn, new Map()]));
  const add = (sums, fn, calls) => sums.set(fn, (sums.get(fn) || 0) + calls);
  for (let i = 1; i < profile.count; i++) {
    const fn = profile.fn[i];
    if (!isValue.has(fn) || profile.calls[i] === 0) continue;
    const met = new Set();
    for (let at = profile.parent[i]; at !== 0; at = profile.parent[at]) if (isOwn.has(profile.fn[at])) met.add(profile.fn[at]);
    for (const caller of met) add(above.get(fn), caller, profile.calls[i]);
    if (met.size) add(nearest.get(fn), [...met][0], profile.calls[i]);
  }
  const round = (value) => (value === null || value === undefined ? undefined : Math.round(value));
  const rows = values.filter((fn) => profile.functions[fn].calls > 0).map((fn) => {
    const f = profile.functions[fn];
    const stats = profile.stats.get(f.name);
    const { caller, each } = callerOf(profile, above.get(fn), nearest.get(fn));
    return { fn, name: profile.labels[fn], calls: f.calls, total: round(stats?.total), "per call": round(stats?.average), max: round(stats?.max), caller: caller === undefined ? "" : short(profile.labels[caller]), each };
  });
  return rows.sort((a, b) => (b.total ?? 0) - (a.total ?? 0) || b.calls - a.calls);
}

/** As crates/analysis/src/report/screen/findings/values.rs chooses it. */
function callerOf(profile, above, nearest) {
  const pair = ([caller, calls]) => ({ caller, calls, each: profile.functions[caller].calls ? calls / profile.functions[caller].calls : undefined });
  const growing = [...above].map(pair).filter(({ calls, each }) => each >= LEAST_EACH && calls >= LEAST_CALLS).sort((a, b) => a.each - b.each);
  return growing[0] ?? [...nearest].map(pair).sort((a, b) => b.calls - a.calls)[0] ?? {};
}
