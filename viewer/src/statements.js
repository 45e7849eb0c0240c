// Statements, requests and files that calls were split by: how often, how long, and which of the program's own methods called them.
"use strict";

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

  csv() {
    return this.table.csv("statements");
  }
}

/** Each with the own method that called it most, the most time first. */
function statementsOf(profile) {
  const { own, values } = profile.header.overview;
  const [isOwn, isValue] = [new Set(own), new Set(values)];
  const callers = new Map(values.map((fn) => [fn, new Map()]));
  for (let i = 1; i < profile.count; i++) {
    if (!isValue.has(profile.fn[i])) continue;
    let at = profile.parent[i];
    while (at !== 0 && !isOwn.has(profile.fn[at])) at = profile.parent[at];
    const sums = callers.get(profile.fn[i]);
    if (at !== 0) sums.set(profile.fn[at], (sums.get(profile.fn[at]) || 0) + profile.calls[i]);
  }
  const rows = values.filter((fn) => profile.functions[fn].calls > 0).map((fn) => {
    const f = profile.functions[fn];
    const stats = profile.stats.get(f.name);
    const [caller, calls] = [...callers.get(fn)].sort((a, b) => b[1] - a[1])[0] ?? [];
    const round = (value) => (value === null || value === undefined ? undefined : Math.round(value));
    const each = caller === undefined || !profile.functions[caller].calls ? undefined : calls / profile.functions[caller].calls;
    return { fn, name: profile.labels[fn], calls: f.calls, total: round(stats?.total), "per call": round(stats?.average), max: round(stats?.max), caller: caller === undefined ? "" : short(profile.labels[caller]), each };
  });
  return rows.sort((a, b) => (b.total ?? 0) - (a.total ?? 0) || b.calls - a.calls);
}
