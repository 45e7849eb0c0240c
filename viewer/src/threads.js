// Threads and pools of threads: how long they were there, how long they ran and waited, and how often they called. What `threads --list` prints.
"use strict";

class ThreadsView {
  constructor(app, parent) {
    this.app = app;
    this.state = app.state;
    const { profile, resource } = this.state;
    const all = profile.resources;
    const [running, waiting] = ["running", "waiting"].map((part) => all.findIndex(({ name }) => name === part || name === `${part}-raw`));
    const figure = (r) => ({
      key: all[r].name,
      of: (row) => row.cum[r],
      text: (row) => `${app.mark(row, r, "cum")}${app.amount(row.cum[r], r)}`,
    });
    // Without waits that were recorded there is running time alone.
    const parts = [running, waiting].filter((r) => r >= 0);
    const shown = parts.includes(resource) ? parts : [...parts, resource];
    const rows = profile.section("threads")?.rows || [];
    const barOf = (row) => (parts.length ? parts.map((r) => [row.cum[r], r === running ? "front" : "rest"]) : [[row.cum[resource], "front"]]);
    const most = Math.max(...rows.map((row) => barOf(row).reduce((sum, [value]) => sum + value, 0)), 0);
    const columns = [
      { key: "threads", of: (row) => row.threads, text: (row) => count(row.threads) },
      { key: "elapsed", of: (row) => row.elapsed_ns, text: (row) => text.time(row.elapsed_ns) },
      ...shown.map(figure),
      { key: "%", kind: "share", of: (row) => row.cum[resource], text: (row) => percent(row.cum[resource], profile.header.total[resource]) },
      { key: "bar", kind: "bar", of: () => 0, text: (row) => barOf(row).map(([value, name]) => [value / most, name]) },
      { key: "calls", of: (row) => row.calls, text: (row) => count(row.calls) },
      { key: "contexts", of: (row) => row.contexts, text: (row) => count(row.contexts) },
      { key: "thread", kind: "name", of: (row) => row.thread, text: (row) => `${row.thread}${row.groups.length ? ` (group ${row.groups.join(", ")})` : ""}${row.process ? ` of ${row.process}` : ""}` },
    ];
    if (parts.length) parent.append(element("div", { class: "tools kind" }, ...parts.map((r) => (r === running ? legend("front", "running") : legend("rest", "waiting"))), "in recorded methods; elapsed: from the first event to the last moment that is known"));
    this.table = new SortedTable(app, parent, "Threads", columns, {
      isSelected: (row) => this.node(row) === this.state.selected,
      select: (row) => this.node(row) !== undefined && this.state.go({ selected: this.node(row) }, true),
      open: (row) => this.node(row) !== undefined && this.state.go({ selected: this.node(row), root: this.node(row), view: "tree" }),
    });
    this.nodes = new Map();
    for (let i = profile.count - 1; i > 0; i--) {
      if (profile.kind(i) !== "thread") continue;
      const process = profile.enclosing(i, "process");
      this.nodes.set(JSON.stringify([process === undefined ? "" : profile.function(process).name, profile.function(i).name]), i);
    }
  }

  /** The context of a thread, if the page has it. */
  node(row) {
    return this.nodes.get(JSON.stringify([row.process, row.thread]));
  }

  update() {
    const { rows, all } = this.state.profile.section("threads") || { rows: [], all: 0 };
    this.table.update(rows, all);
  }

  facts() {
    return this.table?.facts();
  }

  step(how) {
    this.table.step(how);
  }

  enter() {
    this.table.enter();
  }

  csv() {
    return this.table.csv("threads");
  }

  command(files) {
    return `instrument threads --list ${files}`;
  }
}

/** A sample of a colour and what it stands for. */
function legend(name, words) {
  const swatch = element("i", { class: `swatch ${name}` });
  return element("span", {}, swatch, words);
}
