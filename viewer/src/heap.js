// The heap: what was made by class and site, what is left, what leaks, and what collections took. What `heap` prints.
"use strict";

class HeapView {
  constructor(app, parent) {
    this.app = app;
    this.state = app.state;
    this.heap = app.profile.section("heap");
    this.parts = new Parts(app, parent, [["classes", "Classes"], ["sites", "Sites"], ["leaks", `Leak suspects${this.heap.leaks ? ` (${count(this.heap.leaks.leaks)})` : ""}`], ["collections", `Collections (${count(this.heap.all_collections)})`]]);
    this.notes = element("div", { class: "tools", id: "heap-facts" });
    parent.append(this.notes);
    this.body = element("div", { class: "column" });
    parent.append(this.body);
    const { total, all } = this.heap.classes;
    const size = (bytes) => (bytes === undefined ? "" : `, ${text.size(bytes)}`);
    const facts = [`made: ${count(total.objects)} objects${size(total.bytes)}, of ${count(all)} classes at ${count(this.heap.sites.all)} sites`];
    if (total.live !== undefined) facts.push(`live at the end: ${count(total.live)} objects${size(total.live_bytes)}`, `died: ${count(total.died)} objects`);
    this.notes.append(...facts.map((fact) => element("span", {}, fact)));
    for (const { recorded, not_seen: notSeen } of this.heap.coverage) {
      const note = element("span", { class: "kind", title: `recorded: ${recorded}; not seen: ${notSeen}` }, `recorded: ${recorded}`);
      this.notes.append(note);
    }
  }

  update() {
    const part = this.parts.update();
    if (this.shown !== part) {
      this.shown = part;
      this.body.replaceChildren();
      this.table = undefined;
      this.drawing = undefined;
      ({ classes: () => this.objects("classes"), sites: () => this.objects("sites"), leaks: () => this.leaks(), collections: () => this.collections() })[part]();
    }
    if (part === "collections") this.table?.update(this.heap.collections);
    else if (part !== "leaks") this.table.update(this.heap[part].rows, this.heap[part].all);
  }

  label(row) {
    const methods = (row.methods || []).map((name) => this.app.profile.labelOf(name));
    return methods.length ? `${row.class} in ${methods.join(" < ")}` : row.class;
  }

  objects(part) {
    const { total, followed } = this.heap[part];
    const hasBytes = total.bytes !== undefined;
    const of = (key, kind = "count") => ({ key: key.replace("_", " "), of: (row) => row[key], text: (row) => text[kind](row[key]) });
    const weight = (row) => (hasBytes ? row.bytes : row.objects);
    const columns = [of("objects")];
    if (hasBytes) columns.push(of("bytes", "size"));
    columns.push({ key: "%", kind: "share", of: weight, text: (row) => percent(weight(row), weight(total)) });
    columns.push({ key: "bar", kind: "bar", of: () => 0, text: (row) => [[weight(row) / weight(total), "front"]] });
    if (followed) {
      columns.push(of("live"), of("live_bytes", "size"));
      columns.push({ key: "outlived", of: (row) => row.outlived?.mean, text: (row) => (row.outlived ? fixed(row.outlived.mean, 1) : "-") });
      columns.push({ key: "lived", of: (row) => row.lived_ns?.mean, text: (row) => (row.lived_ns ? text.time(Math.round(row.lived_ns.mean)) : "-") });
    }
    columns.push({ key: part === "sites" ? "class in method" : "class", kind: "name", of: (row) => this.label(row), text: (row) => this.label(row) });
    this.table = new SortedTable(this.app, this.body, "Objects", columns, {
      isSelected: (row) => this.label(row) === this.state.at.row,
      select: (row) => this.select(row),
      open: (row) => this.open(row),
    });
  }

  /** Shows the method that made objects beside the table. */
  select(row) {
    const node = this.app.contextOf(row.methods?.[0]);
    this.state.go({ row: this.label(row), ...(node === undefined ? {} : { selected: node }) }, true);
  }

  open(row) {
    const node = this.app.contextOf(row.methods?.[0]);
    if (node === undefined) this.app.status("a class has no context: its sites have");
    else this.state.go({ selected: node, root: 0, view: "tree" });
  }

  leaks() {
    const { leaks } = this.heap;
    const page = element("div", { class: "body page", id: "leaks", tabindex: "0" });
    this.body.append(page);
    const verdict = { suspects: suspects(leaks), none: "no leak suspects", undetermined: "leaks: cannot tell" }[leaks?.verdict];
    page.append(element("h2", {}, verdict || "leaks were not looked for"));
    for (const reason of leaks?.undetermined || []) page.append(element("p", { class: "unknown" }, reason));
    for (const suspect of leaks?.suspects || []) {
      const card = element("section", { class: "card" });
      const title = element("h2", {}, `+${text.size(suspect.growth_bytes)} ${this.label(suspect)}`);
      card.append(title, element("p", {}, suspect.why));
      const figures = element("dl");
      for (const [key, value] of [["before", `${count(suspect.before.objects)} objects, ${text.size(suspect.before.bytes)}`], ["after", `${count(suspect.after.objects)} objects, ${text.size(suspect.after.bytes)}`], ["kept", `${count(suspect.kept)} of ${count(suspect.made)} made`], ["over", `${count(suspect.collections)} collections`]]) {
        figures.append(element("dt", {}, key), element("dd", {}, value));
      }
      card.append(figures);
      for (const holder of suspect.holders) card.append(element("p", { class: "holder" }, held(holder)));
      if (this.app.contextOf(suspect.methods?.[0]) !== undefined) {
        const go = element("button", {}, "Show in the tree");
        go.onclick = () => this.open(suspect);
        card.append(go);
      }
      page.append(card);
    }
    for (const remark of leaks?.remarks || []) page.append(element("p", { class: "unknown" }, remark));
  }

  collections() {
    const rows = this.heap.collections;
    const { every } = this.heap;
    if (!rows.length) {
      this.body.append(element("p", { class: "page unknown" }, "no collections were recorded"));
      return;
    }
    if (every > 1) this.body.append(element("p", { class: "tools kind" }, `every ${count(every)}th of ${count(this.heap.all_collections)} collections`));
    this.drawing = curve(rows);
    this.body.append(element("div", { class: "drawing", role: "group", "aria-label": "Drawing", tabindex: "0" }, this.drawing));
    const of = (key, kind, value) => ({ key, of: value, text: (row) => text[kind](value(row)) });
    const columns = [
      of("number", "count", (row) => row.number),
      of("at", "time", (row) => row.at_ns),
      of("took", "time", (row) => row.pause_ns),
    ];
    if (rows.some((row) => row.left)) {
      for (const key of ["made", "gone", "left"]) {
        columns.push(of(key, "count", (row) => row[key]?.objects), { ...of(`${key} bytes`, "size", (row) => row[key]?.bytes), label: "bytes" });
      }
    }
    columns.push({ key: "process", kind: "name", of: (row) => row.process, text: (row) => row.process });
    const key = (row) => `${row.process} ${row.number}`;
    this.table = new SortedTable(this.app, this.body, "Collections", columns, {
      isSelected: (row) => key(row) === this.state.at.row,
      select: (row) => this.state.go({ row: key(row) }, true),
    });
  }

  facts() {
    return this.table?.facts();
  }

  step(how) {
    this.table?.step(how);
  }

  enter() {
    this.table?.enter();
  }

  csv() {
    return this.table?.csv(this.shown);
  }

  picture() {
    return this.drawing && savedDrawing(this.drawing, "collections");
  }

  command(files) {
    const part = { classes: " --by class", sites: " --by site", leaks: " --leaks", collections: " --collections" }[this.shown];
    return `instrument heap${part} ${files}`;
  }
}

/** How many, as crates/analysis/src/report/heap/leaks.rs says it. */
function suspects(leaks) {
  const parts = leaks?.suspects.length > 1 ? `: objects of ${count(leaks.suspects.length)} kinds` : "";
  return leaks?.leaks === 1 ? `1 leak suspect${parts}` : `${count(leaks?.leaks ?? 0)} leak suspects${parts}`;
}

/** What holds objects, as crates/analysis/src/report/heap/leaks.rs says it. */
function held({ kind, path, objects, sampled }) {
  const by = { path: `held by ${(path || []).join(" -> ")}`, others: "held in other ways", nothing: "held by nothing (garbage that was not collected yet)" }[kind] || "holder not found";
  return `${by}: ${count(objects)} of ${count(sampled)} sampled objects`;
}

/** What was left after each collection over time, and how long each took. */
function curve(rows) {
  const [width, height, edge] = [1000, 180, 24];
  const last = Math.max(1, ...rows.map((row) => row.at_ns));
  const [most, longest] = [Math.max(1, ...rows.map((row) => row.left?.bytes ?? 0)), Math.max(1, ...rows.map((row) => row.pause_ns ?? 0))];
  const x = (ns) => edge + ((width - 2 * edge) * ns) / last;
  const y = (share) => height - edge - (height - 2 * edge) * share;
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Bytes left after each collection, and how long each took" });
  for (const row of rows) {
    const top = y((row.pause_ns ?? 0) / longest / 2);
    svg.append(drawn("rect", { class: "mark", x: x(row.at_ns) - 1, y: top, width: 2, height: Math.max(1, height - edge - top) }));
  }
  // Each process has a curve of its own.
  const processes = new Map();
  for (const row of rows.filter(({ left }) => left)) {
    if (!processes.has(row.process)) processes.set(row.process, []);
    processes.get(row.process).push(`${x(row.at_ns)},${y(row.left.bytes / most)}`);
  }
  for (const points of processes.values()) svg.append(drawn("polyline", { class: "curve", points: points.join(" ") }));
  svg.append(drawn("path", { class: "axis", d: `M${edge},${edge}V${height - edge}H${width - edge}` }));
  const words = processes.size ? `left after each collection, up to ${text.size(most)}; ` : "";
  svg.append(drawn("text", { x: edge + 6, y: 16 }, `${words}bars: how long each took, up to ${text.time(longest)}`));
  svg.append(drawn("text", { x: width - edge, y: height - 6, "text-anchor": "end" }, text.time(last)));
  return svg;
}
