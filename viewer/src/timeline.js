// When everything happened: threads as rows on one axis, with their calls where a trace was recorded, waits, collections, remote calls and
// started tasks as arrows. A window that is dragged shows what its row did in it.
"use strict";

/** The narrowest span, ns. */
const NARROWEST = 20;
/** Rows that are pinned. */
const MOST_PINNED = 12;

class TimelineView extends LanesView {
  constructor(app, parent) {
    super(app, parent, [], "Timeline of threads: the tree of a window has what is seen here as a table");
    this.document = this.state.profile.section("timeline");
    this.end = Math.max(1, this.document.end_ns);
    this.list = this.document.rows;
    this.overview = new Map(this.document.picture.rows.map((row) => [row.row, { ...row, names: this.document.picture.names, from: 0, to: this.end }]));
    this.fine = new Map();
    this.arrows = [...this.document.arrows.map(([from, at, to, until, isStart, isKnown]) => ({ from, at, to, until, isKnown, kind: isStart ? "started" : "task" })), ...this.remote()];
    this.offset = 0;
    this.tools.button("fit", "Fit", "All of the time (0)", () => this.fit());
    this.tools.button("zoom-in", "+", "Zoom in (+)", () => this.zoom(0.5));
    this.tools.button("zoom-out", "\u2212", "Zoom out (\u2212)", () => this.zoom(2));
    this.tools.button("enclose", "Window: what is seen", "What the selected row did in the span that is seen (e)", () => this.enclose());
    this.pin = this.tools.button("pin", "Pin", "The selected row stays on top, with all its levels (k); a click on the mark before a name does the same", () => this.togglePin(this.selectedRow));
    this.tools.body.classList.add("one");
    for (const [name, words, colour] of this.kinds()) {
      const swatch = element("i", { class: "swatch", "data-kind": name });
      swatch.style.background = colour;
      this.tools.body.append(element("span", { class: "kind" }, swatch, words));
    }
    this.detail = element("span", { class: "kind", id: "timeline-detail" });
    const notes = this.notes().join(" ");
    this.tools.body.append(element("span", { class: "kind", id: "timeline-notes", title: notes }, notes), this.detail);
    this.pane = new WindowPane(app, parent);
    this.read();
  }

  /** What there is to see, and in which colour. */
  kinds() {
    const { rows, processes } = this.document;
    const has = (is) => rows.some((row) => row.waits.some(([, , kind]) => is(kind)));
    return [
      ["call", "calls", "#8fb8de", rows.some((row) => row.calls)],
      ["contended", "waits for a monitor", "#d1495b", has((kind) => kind % 2 === 1)],
      ["waiting", "Object.wait", "#e9a13b", has((kind) => kind % 2 === 0)],
      ["collection", "collections", "#8a6fc0", processes.some(({ collections }) => collections.length)],
    ].filter(([, , , isThere]) => isThere);
  }

  /** What is missing, and what is not known. */
  notes() {
    const { missing, processes, left_out: left } = this.document;
    const notes = missing ? [`Single calls are not shown: ${missing}.`] : [];
    if (processes.length > 1) {
      for (const { label, uncertainty_ns: ns } of processes) {
        if (ns !== 0 && ns !== null) notes.push(`Moments of ${label} may be off by \u00b1${quantity(ns, "ns")}.`);
      }
    }
    const words = Object.entries(left).filter(([, more]) => more > 0).map(([what, more]) => `${count(more)} ${what}`);
    if (words.length) notes.push(`Left out: ${words.join(", ")}.`);
    return notes;
  }

  /** Remote calls of the section that lists some of them, as arrows between rows. */
  remote() {
    const calls = this.state.profile.section("remote")?.calls;
    const root = this.document.processes[calls?.root ?? 0];
    if (!calls || !root) return [];
    const places = new Map(this.list.map((row, at) => [JSON.stringify([row.process, row.thread]), at]));
    const place = (process, thread) => places.get(JSON.stringify([process, thread]));
    const arrow = (row) => (span) => {
      const [from, to] = [span.made ? place(span.client, span.made.thread) : undefined, span.served ? place(span.server, span.served.thread) : undefined];
      if (from === undefined || to === undefined) return [];
      const moment = (end) => Math.max(0, root.start_ns + row.at_ns + end.begin_ns);
      return [{ from, at: moment(span.made), to, until: moment(span.served), isKnown: true, kind: "remote" }];
    };
    return calls.rows.flatMap((row) => row.spans.flatMap(arrow(row)));
  }

  // ---- state ----

  id(row) {
    const process = this.document.processes[row.process].label;
    return this.document.processes.length > 1 ? `${row.thread} of ${process}` : row.thread;
  }

  /** The selected row: that of the address, or the first with calls. */
  get selectedRow() {
    const { lane } = this.state.at;
    const known = this.list.findIndex((row) => this.id(row) === lane);
    return known >= 0 ? known : Math.max(0, this.list.findIndex((row) => row.calls !== null));
  }

  /** A row on top with all its levels, or in its place again. */
  togglePin(at) {
    const row = this.list[at];
    if (!row) return;
    const name = this.id(row);
    const names = namesOf(this.state.at.pinned);
    const others = names.filter((of) => of !== name);
    const pinned = others.length < names.length ? others : [...names, name].slice(-MOST_PINNED);
    this.state.go({ pinned: pinned.length ? JSON.stringify(pinned) : "", lane: name }, true);
  }

  /** Takes the span from the address. */
  read() {
    const [from, to] = range(this.state.at.span, this.end) ?? [0, this.end];
    this.from = from / this.end;
    this.to = to / this.end;
    this.known = this.state.at.span;
  }

  update() {
    if (this.known !== this.state.at.span) this.read();
    const row = this.list[this.selectedRow];
    this.pin.setAttribute("aria-pressed", String(row !== undefined && namesOf(this.state.at.pinned).includes(this.id(row))));
    const window = range(this.state.at.window, this.end);
    if (window && row?.calls !== null && row) this.ask(row, window);
    else {
      this.asked = undefined;
      this.pane.clear();
    }
    this.pane.update();
    this.reveal();
    this.draw();
  }

  pan(from, to) {
    const least = Math.min(1, NARROWEST / this.end);
    if (to - from < least) to = from + least;
    super.pan(from, to);
  }

  keep() {
    const whole = this.from <= 0 && this.to >= 1;
    const span = whole ? "" : `${Math.round(this.from * this.end)}-${Math.round(this.to * this.end)}`;
    clearTimeout(this.late);
    // Not for every step of a wheel.
    this.late = setTimeout(() => {
      if (this.app.view !== this) return;
      this.known = span;
      this.state.go({ span }, true);
      this.refine();
    }, 120);
  }

  fit() {
    this.pan(0, 1);
  }

  /** Zooms to a span of time. */
  show(from, to) {
    this.pan(from / this.end, to / this.end);
  }

  /** What is seen becomes the window. */
  enclose() {
    this.window(Math.round(this.from * this.end), Math.round(this.to * this.end));
  }

  window(from, to) {
    const row = this.list[this.selectedRow];
    if (!row) return;
    if (row.calls === null) {
      this.app.status(`no calls of ${row.thread} in a trace`);
      return;
    }
    const [first, last] = [Math.max(0, Math.min(from, to)), Math.min(this.end, Math.max(from, to))];
    this.state.go({ lane: this.id(row), window: `${first}-${Math.max(first + 1, last)}` });
  }

  // ---- questions ----

  /** Fills the pane with what a row did in a window. */
  async ask(row, [from, to]) {
    const key = `${row.row} ${from} ${to}`;
    if (this.asked === key) return;
    this.asked = key;
    const { slices, served, processes } = this.document;
    try {
      let [answer, at] = [undefined, { from, to }];
      if (served) {
        answer = await asked(`timeline=${from}-${to}/${row.row}`);
      } else {
        at = slicedWindow(slices, from, to);
        answer = windowOfSlices(slices, row, processes.length > 1 ? processes[row.process].label : undefined, at);
      }
      if (this.asked !== key) return;
      this.answered = at;
      const cut = at.from !== from || at.to !== to ? "; this file has only such parts" : "";
      this.pane.show(answer, `${this.id(row)}: from ${quantity(at.from, "ns")} to ${quantity(at.to, "ns")}, ${quantity(answer.total[0], "ns")} in calls, as measured: the cost of recording is included${cut}`);
    } catch (error) {
      this.app.status(`no answer: ${error.message}`);
    }
    document.getElementById("command").textContent = commandOf(this.app);
    this.draw();
  }

  /** Asks for a finer picture of what is seen. */
  async refine() {
    if (!this.document.served) return;
    const [from, to] = [Math.round(this.from * this.end), Math.round(this.to * this.end)];
    const rows = this.seen().map(({ at }) => this.list[at]).filter((row) => row.calls !== null).map((row) => row.row);
    const known = rows.every((row) => this.fine.get(row)?.from === from && this.fine.get(row)?.to === to);
    if (!rows.length || known) return;
    const key = (this.refining = `${from}-${to}/${rows.join(".")}/${Math.max(1, Math.round(this.width - GUTTER))}`);
    try {
      const picture = await asked(`timeline=${key}`);
      if (this.refining !== key) return;
      for (const row of picture.rows) this.fine.set(row.row, { ...row, names: picture.names, from, to });
      this.draw();
    } catch (error) {
      this.app.status(`no answer: ${error.message}`);
    }
  }

  command(files) {
    const at = this.answered;
    const row = this.list[this.selectedRow];
    if (this.document.missing) return `instrument threads --list ${files}`;
    if (!this.asked || !at || !row) return `instrument timeline ${files}`;
    // Times of one file count from its own beginning.
    const { processes } = this.document;
    const all = this.state.profile.header.about.files;
    const isOne = processes.length > 1 && all.length === processes.length;
    const first = isOne ? processes[row.process].first_ns : 0;
    const of = isOne ? quoted(all[row.process]) : files;
    return `instrument timeline --thread ${quoted(row.thread)} --from ${Math.max(0, at.from - first)}ns --to ${Math.max(0, at.to - first)}ns ${of}`;
  }

  // ---- single calls ----

  /** The single calls that fit the question of the search, in the order in which they began; undefined: it is about no single calls. */
  singleCalls() {
    const { find, by } = this.state.at;
    const key = `${by} ${find}`;
    if (this.callsOf === key) return this.callsFound;
    this.callsOf = key;
    this.callsFound = undefined;
    const fits = find.trim() ? this.app.finder.ofCalls() : undefined;
    if (!fits || this.document.missing) return undefined;
    const found = [];
    for (const at of this.order) {
      const picture = this.overview.get(this.list[at].row);
      for (const [, start, length, number, calls] of picture?.boxes ?? []) {
        const name = picture.names[number];
        // What the virtual machine does is no call.
        const isMethod = this.state.profile.kind(this.state.profile.anyContext(name) ?? 0) === "method";
        if (calls === 1 && isMethod && fits(name, length)) found.push({ at, start, length, name });
      }
    }
    return (this.callsFound = found.sort((a, b) => a.start - b.start));
  }

  /** The place of the selected call among these, or -1. */
  callAt(calls) {
    const { call } = this.state.at;
    return calls.findIndex(({ at, start, length }) => at === this.selectedRow && call === `${start}-${length}`);
  }

  /** Selects the next single call that fits, or the one before; false: there is none. */
  findCall(step) {
    const calls = this.singleCalls();
    if (!calls?.length) return false;
    const known = this.callAt(calls);
    const { at, start, length, name } = calls[known < 0 && step < 0 ? calls.length - 1 : (known + step + calls.length) % calls.length];
    if (start < this.from * this.end || start + length > this.to * this.end) this.show(start - length, start + 2 * length);
    this.state.go({ lane: this.id(this.list[at]), selected: this.app.contextOf(name) ?? 0, call: `${start}-${length}` }, true);
    return true;
  }

  /** How many single calls fit; undefined: the question is about none. */
  callWords() {
    const calls = this.singleCalls();
    if (!calls?.length) return undefined;
    const known = this.callAt(calls);
    return `${known < 0 ? "" : `${count(known + 1)} of `}${count(calls.length)} single ${calls.length === 1 ? "call" : "calls"}`;
  }

  // ---- mouse and keys ----

  events() {
    const { canvas } = this;
    canvas.addEventListener("mousemove", (event) => {
      if (this.drag?.isMove) {
        const part = ((event.offsetX - this.drag.x) / (this.width - GUTTER)) * (this.drag.to - this.drag.from);
        this.pan(this.drag.from - part, this.drag.to - part);
      } else if (this.drag) {
        this.drag.end = event.offsetX;
        this.draw();
      } else {
        const words = this.words(event);
        this.app.showText(words ?? "", event);
        document.getElementById("tip").hidden = !words;
      }
    });
    canvas.addEventListener("mouseleave", () => this.app.showTip(undefined));
    canvas.addEventListener("mousedown", (event) => {
      if (event.button !== 0) return;
      this.drag = { x: event.offsetX, end: event.offsetX, row: this.rowAt(event), from: this.from, to: this.to, isMove: event.shiftKey };
    });
    window.addEventListener("mouseup", (event) => {
      const { drag } = this;
      this.drag = null;
      if (!drag || this.app.view !== this) return;
      const isClick = Math.abs(drag.end - drag.x) <= 3;
      if (drag.isMove) return;
      if (drag.row !== undefined) this.state.at.lane = this.id(this.list[drag.row]);
      if (!isClick && drag.x >= GUTTER) this.window(Math.round(this.moment(drag.x)), Math.round(this.moment(drag.end)));
      else if (event.target === canvas) this.click(event, drag.row);
    }, { signal: this.app.gone.signal });
    canvas.addEventListener("dblclick", (event) => {
      const box = this.boxAt(event);
      if (box) this.window(box.start, box.start + box.length);
    });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const part = (event.deltaY / 1000) * (this.to - this.from);
      if (event.ctrlKey) this.zoom(event.deltaY > 0 ? 1.25 : 0.8, Math.max(0, (event.offsetX - GUTTER) / (this.width - GUTTER)));
      else if (event.shiftKey) this.pan(this.from + part, this.to + part);
      else this.scrollBy(Math.sign(event.deltaY) * 3 * LIFE);
    }, { passive: false });
  }

  click(event, row) {
    if (row === undefined) return;
    if (event.offsetX < PIN) {
      this.togglePin(row);
      return;
    }
    const box = this.boxAt(event);
    const context = box && this.app.contextOf(box.name);
    this.state.go({ lane: this.id(this.list[row]), ...(context === undefined ? {} : { selected: context, call: box.calls === 1 ? `${box.start}-${box.length}` : "" }) }, true);
  }

  scrollBy(pixels) {
    this.offset = Math.max(0, Math.min(this.offset + pixels, this.heights().total - 3 * LIFE));
    this.draw();
    clearTimeout(this.scrolled);
    this.scrolled = setTimeout(() => this.refine(), 120);
  }

  /** Keys: rows up and down, earlier and later. */
  step(how) {
    const by = { callee: 1, caller: -1 }[how];
    if (by) {
      const { order } = this;
      const at = order[Math.min(order.length - 1, Math.max(0, order.indexOf(this.selectedRow) + by))];
      if (this.list[at]) this.state.go({ lane: this.id(this.list[at]) }, true);
      this.app.status(this.list[at] ? this.life(this.list[at]) : "");
      return;
    }
    const part = { right: 0.1, left: -0.1 }[how] * (this.to - this.from);
    this.pan(this.from + part, this.to + part);
  }

  enter() {
    this.enclose();
  }

  /** The tree of the window, or what is drawn. */
  picture() {
    const isTree = this.pane.answer && !this.pane.table.hidden;
    if (isTree) return this.pane.csv();
    const { offset } = this;
    this.offset = 0;
    const picture = this.whole("timeline", () => AXIS + this.heights().total);
    this.offset = offset;
    this.paint();
    return picture;
  }
}

/** A span of the address: two moments, or undefined. */
function range(text, end) {
  const found = /^(\d{1,16})-(\d{1,16})$/.exec(text);
  if (!found) return undefined;
  const [from, to] = [Math.min(Number(found[1]), end - 1), Math.min(Number(found[2]), end)];
  return to > from ? [from, to] : undefined;
}

/** The number of the moment since which the page shows what happened; null: it is not cut by the server. */
function sinceMoment() {
  return new URLSearchParams(location.search).get("since");
}

/** What the server that the page came from says. */
async function asked(question) {
  const moment = sinceMoment();
  const response = await fetch(`${location.pathname}?${moment === null ? "" : `since=${encodeURIComponent(moment)}&`}${question}`);
  if (!response.ok) throw new Error((await response.text()).slice(0, 200));
  return response.json();
}
