// Remote calls: a map of who calls whom, every remote method, and single outermost calls as a waterfall with client and server side by side.
// What `merge --report services` and `merge --report calls` print.
"use strict";

class RemoteView {
  constructor(app, parent) {
    this.app = app;
    this.state = app.state;
    const { services, calls } = app.profile.section("remote");
    this.services = services;
    this.calls = calls;
    this.parts = new Parts(app, parent, [["services", "Services"], ["calls", `Single calls (${count(calls.rows.length)})`]]);
    this.body = element("div", { class: "column" });
    parent.append(this.body);
  }

  /** A process, an address, or nobody who is known. */
  party(of, side) {
    return of[side] === null || of[side] === undefined ? of[`${side}_address`] ?? "unknown" : this.services.processes[of[side]];
  }

  arrow(of) {
    return `${this.party(of, "client")} \u2192 ${this.party(of, "server")}`;
  }

  update() {
    const part = this.parts.update();
    if (this.shown !== part) {
      this.shown = part;
      this.body.replaceChildren();
      this.drawing = undefined;
      this.spans = undefined;
      if (part === "services") this.map();
      else this.single();
    }
    if (part === "services") this.table.update(this.services.rows, this.services.all);
    else {
      this.table.update(this.calls.rows, this.calls.outermost);
      this.waterfall();
    }
  }

  // ---- services ----

  map() {
    this.drawing = serviceMap(this, (link) => this.state.go({ filter: `(${this.arrow(link)})` }, true));
    this.body.append(element("div", { class: "drawing", role: "group", "aria-label": "Drawing", tabindex: "0" }, this.drawing));
    const of = (key, kind, field) => ({ key, label: key.split(" ").pop(), of: (row) => row[field], text: (row) => (kind === "time" && row[field.startsWith("client") ? "made" : "served"] === 0 ? "-" : text[kind](row[field])) });
    const columns = [
      of("made", "count", "made"),
      of("failed", "count", "failed"),
      of("client", "time", "client_ns"),
      of("client mean", "time", "client_mean_ns"),
      of("client max", "time", "client_max_ns"),
      of("served", "count", "served"),
      of("server", "time", "server_ns"),
      of("server mean", "time", "server_mean_ns"),
      of("server max", "time", "server_max_ns"),
      { key: "kind", kind: "word", of: (row) => row.kind, text: (row) => row.kind },
      { key: "method", kind: "name", of: (row) => row.label, text: (row) => `${row.label} (${this.arrow(row)})` },
    ];
    const key = (row) => `${row.label} ${this.arrow(row)}`;
    this.table = new SortedTable(this.app, this.body, "Remote methods", columns, {
      isSelected: (row) => key(row) === this.state.at.row,
      select: (row) => this.select(row.method, { row: key(row) }),
      open: (row) => this.open(row.method),
    });
  }

  /** The context of a remote method where it was called, or served. */
  node(method) {
    const plain = method.slice(method.lastIndexOf(".", method.indexOf("(")) + 1);
    return this.app.contextOf(`remote ${plain}`) ?? this.app.contextOf(`served ${plain}`) ?? this.app.contextOf(method);
  }

  select(method, change) {
    const node = this.node(method);
    this.state.go({ ...change, ...(node === undefined ? {} : { selected: node }) }, true);
  }

  open(method) {
    const node = this.node(method);
    if (node === undefined) this.app.status("the tree has no context of this method");
    else this.state.go({ selected: node, root: 0, view: "tree" });
  }

  // ---- single calls ----

  single() {
    const first = (of) => of.spans[0];
    const columns = [
      { key: "at", of: (of) => of.at_ns, text: (of) => text.time(of.at_ns) },
      { key: "client", of: (of) => first(of).made?.ns, text: (of) => text.time(first(of).made?.ns) },
      { key: "server", of: (of) => first(of).served?.ns, text: (of) => text.time(first(of).served?.ns) },
      { key: "between", of: (of) => first(of).between_ns, text: (of) => betweenText(first(of).between_ns) },
      { key: "outcome", kind: "word", of: (of) => first(of).outcome, text: (of) => first(of).outcome },
      { key: "call", kind: "name", of: (of) => first(of).label, text: (of) => `${first(of).label} (${this.arrow(first(of))})` },
    ];
    const list = element("div", { class: "column short" });
    this.table = new SortedTable(this.app, list, "Outermost calls", columns, {
      isSelected: (of) => of === this.call,
      select: (of) => this.state.go({ row: String(this.calls.rows.indexOf(of)) }, true),
      open: (of) => this.open(first(of).method),
    });
    const below = element("div", { class: "column" });
    this.scale = element("span", { class: "kind" });
    this.title = element("div", { class: "tools", id: "waterfall-title" });
    below.append(this.title);
    this.spans = new Rows(below, (row, index) => this.fill(row, index), "Calls within the outermost call", [["call", "name call"], [this.scale, "lane"], ["client"], ["server"], ["between"]], "treegrid");
    this.detail = element("div", { class: "detail", tabindex: "0", role: "group", "aria-label": "Details", id: "span-detail" });
    below.append(this.detail);
    this.body.append(list, below);
  }

  /** The outermost call of the address, or the slowest one. */
  get call() {
    return this.calls.rows[Number(this.state.at.row.split(".")[0]) || 0] ?? this.calls.rows[0];
  }

  waterfall() {
    const { call } = this;
    this.title.replaceChildren();
    if (!call) return;
    const ends = call.spans.flatMap(({ made, served }) => [made, served].filter(Boolean).flatMap((end) => [end.begin_ns, end.begin_ns + (end.ns ?? 0)]));
    this.from = Math.min(...ends);
    this.to = Math.max(...ends, this.from + 1);
    const left = call.left_out ? `; ${count(call.left_out)} more are left out` : "";
    this.title.append(element("span", {}, `${count(call.spans.length)} calls${left}`), legend("rest", "client"), legend("front", "server"));
    const unsure = call.spans.flatMap(({ client, server }) => [client, server]).filter((party) => party !== null && party !== undefined && party !== this.calls.root).map((party) => this.calls.clocks[party].uncertainty_ns);
    if (unsure.length) {
      const most = unsure.includes(null) ? undefined : Math.max(...unsure);
      this.title.append(element("span", { class: "kind" }, most === undefined ? "clocks of other processes are known by the time of day only" : `clocks of other processes are known to \u00b1${text.time(most)}`));
    }
    this.scale.textContent = `${text.time(this.from)} \u2026 ${text.time(this.to)}`;
    this.spans.show(call.spans.length, this.span);
    this.drawDetail();
  }

  fill(row, index) {
    const span = this.call.spans[index];
    row.setAttribute("aria-level", String(span.depth + 1));
    const name = indent(nameCell(span.label, "call"), Math.min(span.depth, 20));
    name.title = `${span.label} (${this.arrow(span)})`;
    row.classList.toggle("hit", this.app.finder.fits(span.label));
    if (span.outcome !== "returned") name.append(element("span", { class: "package" }, span.outcome));
    const lane = element("span", { class: "lane" });
    for (const [end, kind] of [[span.made, "rest"], [span.served, "front"]]) {
      if (!end) continue;
      const bar = element("i", { class: kind });
      bar.style.left = `${(100 * (end.begin_ns - this.from)) / (this.to - this.from)}%`;
      bar.style.width = `${(100 * (end.ns ?? this.to - end.begin_ns)) / (this.to - this.from)}%`;
      lane.append(bar);
    }
    row.append(name, lane, cell(text.time(span.made?.ns)), cell(text.time(span.served?.ns)), betweenCell(span.between_ns));
    row.onclick = () => this.state.go({ row: `${this.calls.rows.indexOf(this.call)}.${index}` }, true);
    row.ondblclick = () => this.open(span.method);
  }

  /** The place of the selected span. */
  get span() {
    const place = Number(this.state.at.row.split(".")[1]);
    return this.call?.spans[place] ? place : 0;
  }

  /** Both ends of the selected call. */
  drawDetail() {
    const span = this.call.spans[this.span];
    const table = element("table");
    const line = (...words) => table.append(element("tr", {}, ...words.map((word, i) => element(i === 0 ? "th" : "td", {}, word))));
    const ends = [span.made, span.served];
    line("", "client", "server");
    line("process", this.party(span, "client"), this.party(span, "server"));
    line("thread", ...ends.map((end) => end?.thread ?? "not known"));
    line("begin", ...ends.map((end) => text.time(end?.begin_ns)));
    line("took", ...ends.map(tookText));
    const go = element("button", {}, "Show in the tree");
    go.disabled = this.node(span.method) === undefined;
    go.onclick = () => this.open(span.method);
    this.detail.replaceChildren(element("section", {}, element("h2", {}, span.label), table), element("section", {}, element("p", {}, `outcome: ${span.outcome}; matched: ${span.matched}`), go));
  }

  facts() {
    if (this.shown === "services") return this.table?.facts();
    const span = this.state.at.row && this.call?.spans[this.span];
    if (!span) return undefined;
    const { made, served } = span;
    const fields = [["client", this.party(span, "client")], ["its thread", made?.thread ?? "not known"], ["call time", text.time(made?.begin_ns)], ["return time", made?.ns === null ? "did not end" : text.time(made && made.begin_ns + made.ns)], ["total time", tookText(made)], ["server", this.party(span, "server")], ["its thread", served?.thread ?? "not known"], ["served in", text.time(served?.ns)], ["outcome", span.outcome], ["matched", span.matched]];
    return { title: span.label, fields };
  }

  step(how) {
    if (this.shown === "services" || !this.call) {
      this.table.step(how);
      return;
    }
    // Left and right go to another outermost call, up and down within it.
    const number = this.calls.rows.indexOf(this.call);
    const [call, span] = { next: [number, this.span + 1], previous: [number, this.span - 1], open: [number + 1, 0], close: [number - 1, 0] }[how] || [];
    if (this.calls.rows[call]?.spans[span]) this.state.go({ row: `${call}.${span}` }, true);
  }

  enter() {
    if (this.shown === "services") this.table.enter();
    else if (this.call) this.open(this.call.spans[this.span].method);
  }

  csv() {
    return this.table.csv(this.shown);
  }

  picture() {
    return this.drawing && savedDrawing(this.drawing, "services");
  }

  command(files) {
    return `instrument merge --report ${this.shown} ${files}`;
  }
}

/** How long a call took at one end, of which nothing may be known. */
function tookText(end) {
  return end?.ns === null ? "did not end" : text.time(end?.ns);
}

/** Processes as boxes, those that call others left of these; arrows with calls and the client's time. */
function serviceMap(view, choose) {
  const { processes, links } = view.services;
  const key = (of, side) => (of[side] === null || of[side] === undefined ? `address ${of[`${side}_address`] ?? "unknown"}` : `process ${of[side]}`);
  const boxes = new Map();
  for (const link of links) for (const side of ["client", "server"]) boxes.set(key(link, side), view.party(link, side));
  processes.forEach((name, i) => boxes.has(`process ${i}`) || boxes.set(`process ${i}`, name));
  // How far right a box is: as many steps as the longest way to it that goes in no circle.
  const column = new Map([...boxes.keys()].map((box) => [box, 0]));
  for (let round = 0; round < boxes.size; round++) {
    for (const link of links) {
      const [from, to] = [column.get(key(link, "client")), column.get(key(link, "server"))];
      if (from + 1 > to && from + 1 < boxes.size) column.set(key(link, "server"), from + 1);
    }
  }
  const steps = [...new Set(column.values())].sort((a, b) => a - b);
  const columns = steps.map((step) => [...boxes.keys()].filter((box) => column.get(box) === step));
  const [boxWidth, boxHeight, gap] = [190, 34, 30];
  const width = Math.max(700, columns.length * boxWidth + (columns.length - 1) * 130);
  const height = Math.max(90, Math.max(...columns.map((list) => list.length)) * (boxHeight + gap) + 20);
  const place = new Map();
  columns.forEach((list, c) => list.forEach((box, r) => {
    const x = columns.length === 1 ? 10 : (c * (width - boxWidth)) / (columns.length - 1);
    place.set(box, [x, 24 + (r + 0.5) * ((height - 24) / list.length) - boxHeight / 2]);
  }));
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Who calls whom" });
  svg.style.maxWidth = `${1.6 * width}px`;
  const most = Math.max(1, ...links.map((link) => link.client_ns || link.server_ns));
  for (const link of links) {
    const [[fx, fy], [tx, ty]] = [place.get(key(link, "client")), place.get(key(link, "server"))];
    const [y1, y2] = [fy + boxHeight / 2, ty + boxHeight / 2];
    const isForward = tx > fx;
    const d = isForward ? `M${fx + boxWidth},${y1}C${fx + boxWidth + 50},${y1} ${tx - 50},${y2} ${tx - 6},${y2}` : `M${fx + boxWidth / 2},${fy}C${fx + boxWidth / 2},${fy - 40} ${tx + boxWidth / 2},${ty - 40} ${tx + boxWidth / 2},${ty}`;
    const time = link.made ? text.time(link.client_ns) : text.time(link.server_ns);
    const words = `${plural(link.made || link.served, "call")}, ${time} in all${link.failed ? `, ${count(link.failed)} failed` : ""}`;
    const group = drawn("g", { class: "link", role: "button", tabindex: "0", "aria-label": `${view.arrow(link)}: ${words}` });
    group.append(drawn("path", { class: "arc", d, "stroke-width": 1 + (5 * (link.client_ns || link.server_ns)) / most }));
    if (isForward) group.append(drawn("path", { class: "mark", d: `M${tx},${y2}l-9,-5v10z` }));
    const [x, y] = isForward ? [(fx + boxWidth + tx) / 2, (y1 + y2) / 2 - 6] : [(fx + tx + boxWidth) / 2, Math.min(fy, ty) - 14];
    group.append(drawn("text", { x, y, "text-anchor": "middle" }, words));
    view.app.tell(group, `${view.arrow(link)}: ${count(link.made)} made, ${count(link.served)} served; client ${text.time(link.client_ns)}, server ${text.time(link.server_ns)}`);
    group.addEventListener("click", () => choose(link));
    group.addEventListener("keydown", (event) => event.key === "Enter" && (event.stopPropagation(), choose(link)));
    svg.append(group);
  }
  for (const [box, name] of boxes) {
    const [x, y] = place.get(box);
    const title = drawn("title", {}, name);
    svg.append(drawn("g", {}, drawn("rect", { class: "box", x, y, width: boxWidth, height: boxHeight, rx: 5 }), drawn("text", { x: x + boxWidth / 2, y: y + 21, "text-anchor": "middle" }, middleCut(name, 26)), title));
  }
  return svg;
}

/** What passed between both ends: of two clocks it may be less than nothing, and is not known then. */
function betweenText(ns) {
  return ns < 0 ? "~0 ns" : text.time(ns);
}

function betweenCell(ns) {
  const made = cell(betweenText(ns));
  if (ns < 0) made.title = `${quantity(ns, "ns")}: the clocks of both processes are not known more exactly`;
  return made;
}
