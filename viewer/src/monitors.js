// What threads waited for: by monitor, who waited for whom, and by thread. What `monitors` prints.
"use strict";

/** Pairs of threads that are drawn. */
const MOST_PAIRS = 14;

class MonitorsView {
  constructor(app, parent) {
    this.app = app;
    this.state = app.state;
    const processes = app.profile.section("monitors");
    const several = processes.length > 1;
    const rows = (list) => processes.flatMap((of) => of[list].map((row) => ({ ...row, process: several ? of.process : "" })));
    this.lists = { monitors: rows("monitors"), pairs: rows("pairs"), threads: rows("threads") };
    this.left = (list) => processes.map((of) => of.left_out[list]).filter((n) => n > 0);
    this.parts = new Parts(app, parent, [["monitors", "Monitors"], ["pairs", "Who waited for whom"], ["threads", "Threads"]]);
    const facts = element("div", { class: "tools", id: "monitor-facts" });
    for (const of of processes) {
      const words = (name, sum) => `${name} ${count(sum.times)} times, ${text.time(sum.total)}`;
      facts.append(element("span", {}, `${several ? `${of.process}: ` : ""}${words("contended", of.contended)}; ${words("waiting", of.waiting)}${of.contended.times ? `; owner known ${count(of.owners_known)} times` : ""}`));
    }
    parent.append(facts);
    this.body = element("div", { class: "column" });
    parent.append(this.body);
  }

  update() {
    const part = this.parts.update();
    if (this.shown !== part) {
      this.shown = part;
      this.body.replaceChildren();
      this.drawing = undefined;
      if (part === "pairs" && this.lists.pairs.length) {
        this.drawing = pairsDrawing(this.lists.pairs.slice(0, MOST_PAIRS));
        this.body.append(element("div", { class: "drawing", role: "group", "aria-label": "Drawing", tabindex: "0" }, this.drawing));
      }
      const acts = {
        isSelected: (row) => this.key(row) === this.state.at.row,
        select: (row) => this.state.go({ row: this.key(row) }, true),
        open: (row) => this.open(row),
      };
      this.table = new SortedTable(this.app, this.body, "Waits", this.columns(part), acts);
      this.detail = element("div", { class: "detail", tabindex: "0", role: "group", "aria-label": "Details", id: "monitor-detail" });
      if (part === "monitors") this.body.append(this.detail);
    }
    const list = this.lists[part];
    const more = this.left(part);
    this.table.update(list, more.length === 1 ? list.length + more[0] : list.length);
    if (part === "monitors") this.parties();
  }

  key(row) {
    switch (this.shown) {
      case "monitors": return `${row.process} ${row.class} ${row.monitor ?? ""}`;
      case "pairs": return `${row.process} ${row.thread} ${row.waited_for}`;
      default: return `${row.process} ${row.number}`;
    }
  }

  columns(part) {
    const sum = (of) => (prefix) => ["times", "total", "mean", "max"].map((figure) => ({
      key: `${prefix}${figure}`,
      label: figure === "times" && prefix ? prefix.trim() : figure,
      kind: figure === "mean" ? "extra" : "",
      of: (row) => of(row)[figure],
      text: (row) => (of(row).times === 0 && figure !== "times" ? "-" : text[figure === "times" ? "count" : "time"](of(row)[figure])),
    }));
    const process = (row) => (row.process ? ` of ${row.process}` : "");
    const name = (key, of) => ({ key, kind: "name", of, text: of });
    if (part === "pairs") return [...sum((row) => row)(""), name("thread waited for thread", (row) => `${row.thread} waited for ${row.waited_for}${process(row)}`)];
    const both = [...sum((row) => row.contended)("contended "), ...sum((row) => row.waiting)("waits ")];
    const where = (row) => (row.where ? ` in ${row.where}` : "");
    if (part === "monitors") return [...both, name("monitor", (row) => `${row.class}${row.monitor ? ` #${row.monitor}` : ""}${where(row)}${process(row)}`)];
    const facts = (row) => [row.group && !row.virtual ? `group ${row.group}` : "", row.virtual ? "virtual" : row.daemon ? "daemon" : "", row.started_by ? `started by ${row.started_by}` : ""].filter(Boolean).join(", ");
    const life = { key: "life", of: (row) => row.life_ns, text: (row) => text.time(row.life_ns) };
    return [...both.filter(({ key }) => /times|total/.test(key)), life, name("thread", (row) => `${row.thread}${facts(row) ? ` (${facts(row)})` : ""}${process(row)}`)];
  }

  /** Who had the selected monitor, and who waited for it. */
  parties() {
    const row = this.lists.monitors.find((of) => this.key(of) === this.state.at.row);
    this.detail.replaceChildren();
    if (!row) {
      this.detail.append(element("p", { class: "unknown" }, "Select a monitor to see who held it, and who waited for it."));
      return;
    }
    for (const [title, key] of [["Held by", "owners"], ["Entered by", "contended_by"], ["Waited in by", "waited_by"]]) {
      const list = row[key];
      if (!list.length) continue;
      const table = element("table");
      const head = element("tr");
      for (const word of ["times", "total", "max", "thread"]) head.append(element("th", {}, word));
      table.append(head);
      for (const of of list) {
        const line = element("tr");
        line.append(...[count(of.times), text.time(of.total), text.time(of.max), `${of.thread}${of.threads > 1 ? ` (${count(of.threads)} threads)` : ""}`].map((word) => element("td", {}, word)));
        table.append(line);
      }
      const more = row[`more_${key}`];
      this.detail.append(element("section", {}, element("h2", {}, title), table, more ? element("p", { class: "kind" }, `and ${count(more)} more`) : ""));
    }
  }

  /** A thread that has recorded something is in the tree; of a monitor the place where threads waited longest for it is not known. */
  open(row) {
    const name = this.shown === "threads" ? row.thread : undefined;
    const { profile } = this.app;
    let best;
    for (let i = 1; i < profile.count && name !== undefined; i++) if (profile.kind(i) === "thread" && profile.function(i).name === name) best ??= i;
    if (best === undefined) this.app.status("no context of its own: the resources contended and object-wait show where threads waited");
    else this.state.go({ selected: best, root: best, view: "tree" });
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
    return this.table.csv(this.shown);
  }

  picture() {
    return this.drawing && savedDrawing(this.drawing, "pairs");
  }

  command(files) {
    return `instrument monitors ${files}`;
  }
}

/** Who waited, left, and for whom, right; the longer, the wider the line between them. */
function pairsDrawing(pairs) {
  const row = 26;
  const names = (key) => [...new Set(pairs.map((pair) => pair[key]))];
  const [left, right] = [names("thread"), names("waited_for")];
  const height = Math.max(left.length, right.length) * row + 30;
  const most = Math.max(1, ...pairs.map((pair) => pair.total));
  const svg = drawn("svg", { viewBox: `0 0 1000 ${height}`, role: "img", "aria-label": "Who waited for whom" });
  const y = (list, name) => 36 + list.indexOf(name) * row;
  for (const pair of pairs) {
    const [from, to] = [y(left, pair.thread), y(right, pair.waited_for)];
    const arc = drawn("path", { class: "arc", d: `M330,${from}C500,${from} 500,${to} 670,${to}`, "stroke-width": 1 + (9 * pair.total) / most });
    arc.append(drawn("title", {}, `${pair.thread} waited for ${pair.waited_for}: ${count(pair.times)} times, ${text.time(pair.total)}`));
    svg.append(arc);
  }
  const label = (x, anchor, at, name) => drawn("text", { x, y: at + 4, "text-anchor": anchor }, middleCut(name, 44));
  svg.append(label(320, "end", 12, "waited"), label(680, "start", 12, "for who had the monitor"));
  for (const name of left) svg.append(label(320, "end", y(left, name), name));
  for (const name of right) svg.append(label(680, "start", y(right, name), name));
  return svg;
}
