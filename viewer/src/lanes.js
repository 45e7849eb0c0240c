// The rows of the timeline: where they are on the canvas, and how they are painted.
"use strict";

/** Pixels: the axis, the names, a row's life, a call of a row and of the selected one. */
const AXIS = 20;
const GUTTER = 190;
const LIFE = 16;
const THIN = 6;
/** Levels of calls that are drawn in a row that is not selected. */
const FEW = 4;
/** Pixels of the mark before a name, which pins the row. */
const PIN = 16;
/** Narrower boxes have no name. */
const NAMED = 20;

/** Threads of the recorder itself. */
const OWN_THREADS = ["instrument ctl"];

/** A box of calls on the canvas. */
class Drawn {
  constructor(x, y, w, h, box, picture) {
    this.x = x;
    this.y = y;
    this.w = w;
    this.h = h;
    this.box = box;
    this.picture = picture;
  }

  get call() {
    const [, start, length, number, calls, busy] = this.box;
    return { name: this.picture.names[number], start, length, calls, busy };
  }
}

/** What is painted of threads; who extends it says what the mouse and the keys do. */
class LanesView extends IcicleView {
  // ---- what is where ----

  x(ns) {
    return GUTTER + ((ns / this.end - this.from) / (this.to - this.from)) * (this.width - GUTTER);
  }

  moment(x) {
    const part = Math.max(0, Math.min(1, (x - GUTTER) / (this.width - GUTTER)));
    return (this.from + part * (this.to - this.from)) * this.end;
  }

  boxes(row) {
    const fine = this.fine.get(row.row);
    const [from, to] = [this.from * this.end, this.to * this.end];
    const covers = fine && fine.from <= from + 1 && fine.to >= to - 1;
    return covers ? fine : this.overview.get(row.row);
  }

  depth(row) {
    const picture = this.overview.get(row.row);
    if (!picture) return 0;
    picture.deepest ??= 1 + picture.boxes.reduce((most, [depth]) => Math.max(most, depth), -1);
    return picture.deepest;
  }

  /** The height of a row, and of each of its levels of calls. */
  lanes(at) {
    const row = this.list[at];
    const isOpen = at === this.selectedRow || this.pinned.has(this.id(row));
    const levels = Math.min(this.depth(row), isOpen ? 40 : FEW);
    return { levels, level: isOpen ? LEVEL : THIN };
  }

  /** The rows as they stand below each other: pinned ones first, and none of the recorder's own threads. */
  get order() {
    if (this.orderOf === this.state.at.pinned) return this.inOrder;
    this.orderOf = this.state.at.pinned;
    this.pinned = new Set(namesOf(this.orderOf));
    const all = this.list.map((_, at) => at).filter((at) => !OWN_THREADS.includes(this.list[at].thread));
    const isPinned = (at) => this.pinned.has(this.id(this.list[at]));
    this.inOrder = [...all.filter(isPinned), ...all.filter((at) => !isPinned(at))];
    return this.inOrder;
  }

  /** Where rows begin, in pixels from the top of the first. */
  heights() {
    const { order } = this;
    const key = `${this.selectedRow} ${this.orderOf}`;
    if (this.layout?.key === key) return this.layout;
    let y = 0;
    const tops = new Map();
    for (const at of order) {
      const { levels, level } = this.lanes(at);
      const top = y;
      y += LIFE + levels * level + 6;
      tops.set(at, { top, bottom: y });
    }
    this.layout = { key, tops, total: y };
    return this.layout;
  }

  seen() {
    const { tops } = this.heights();
    const end = this.offset + (this.height ?? this.body.clientHeight) - AXIS;
    const all = [...tops].map(([at, { top, bottom }]) => ({ at, top, y: AXIS + top - this.offset, bottom }));
    return all.filter((row) => row.bottom > this.offset && row.top < end);
  }

  /** Scrolls to the selected row. */
  reveal() {
    const { tops } = this.heights();
    const top = tops.get(this.selectedRow)?.top;
    const room = this.body.clientHeight - AXIS;
    if (top === undefined || room < LIFE) return;
    if (top < this.offset) this.offset = top;
    else if (top + 3 * LIFE > this.offset + room) this.offset = top + 3 * LIFE - room;
  }

  rowAt(event) {
    return this.seen().find(({ y, bottom }) => event.offsetY >= Math.max(AXIS, y) && event.offsetY < AXIS + bottom - this.offset)?.at;
  }

  boxAt(event) {
    const box = this.painted?.findLast(({ x, y, w, h }) => event.offsetX >= x && event.offsetX < x + Math.max(2, w) && event.offsetY >= y && event.offsetY < y + h);
    return box?.call;
  }

  /** A row in words. */
  life(row) {
    const calls = row.calls === null ? "no calls in a trace" : `${count(row.calls)} calls`;
    return `${this.id(row)}: from ${quantity(row.begin_ns, "ns")} to ${quantity(row.end_ns, "ns")}${row.ended ? "" : ", its end was not seen"}; ${calls}, ${count(row.waits.length)} waits`;
  }

  words(event) {
    const call = this.boxAt(event);
    const at = this.rowAt(event);
    if (call) {
      const label = this.state.profile.labelOf(call.name);
      if (call.wait) return `${call.wait} ${call.name}: ${quantity(call.length, "ns")}${call.isOpen ? ", its end was not seen" : ""}`;
      if (call.calls > 1) return `${count(call.calls)} calls beside each other, the longest of ${label}: ${quantity(call.busy, "ns")} of ${quantity(call.length, "ns")} in them`;
      return `${label}: ${quantity(call.length, "ns")}, from ${quantity(call.start, "ns")} on, as measured`;
    }
    return at === undefined ? undefined : this.life(this.list[at]);
  }

  // ---- painting ----

  content() {
    const { context, width, height } = this;
    const colour = (name) => this.style.getPropertyValue(`--${name}`).trim();
    this.painted = [];
    const rows = this.seen();
    context.save();
    context.beginPath();
    context.rect(0, AXIS, width, height - AXIS);
    context.clip();
    for (const { at, y } of rows) this.row(at, y, colour);
    this.drawArrows(rows, colour);
    this.drawWindow(colour);
    context.restore();
    this.axis(colour);
    const picture = this.boxes(this.list[this.selectedRow] ?? {});
    const hint = this.document.served || !picture ? "" : "; instrument view FILE shows shorter ones";
    this.detail.textContent = picture ? `calls from ${quantity(picture.resolution_ns, "ns")} on are single boxes${hint}` : "";
    this.detail.title = this.detail.textContent;
    if (!this.wasAsked) {
      this.wasAsked = true;
      this.refine();
    }
  }

  axis(colour) {
    const { context, width } = this;
    context.fillStyle = colour("panel");
    context.fillRect(0, 0, width, AXIS);
    context.fillStyle = colour("soft");
    const span = (this.to - this.from) * this.end;
    const rough = span / Math.max(1, (width - GUTTER) / 110);
    const power = 10 ** Math.floor(Math.log10(Math.max(1, rough)));
    const step = [1, 2, 5, 10].map((of) => of * power).find((of) => of >= rough) ?? 10 * power;
    for (let at = Math.ceil((this.from * this.end) / step) * step; at <= this.to * this.end; at += step) {
      const x = this.x(at);
      context.fillRect(x, AXIS - 5, 1, 5);
      context.fillText(quantity(at, "ns"), x + 3, AXIS / 2);
    }
    context.fillText(quantity(span, "ns"), 8, AXIS / 2);
  }

  /** A rectangle of time, as far as it is seen. */
  bar(from, to, y, h, fill, call) {
    const x = Math.max(GUTTER, this.x(from));
    const right = Math.min(this.width, this.x(to));
    if (right < GUTTER || x > this.width) return;
    const w = Math.max(LEAST, right - x);
    this.context.fillStyle = fill;
    this.context.fillRect(x, y, w, h);
    if (call) this.painted.push({ x, y, w: Math.max(2, w), h, call });
  }

  row(at, y, colour) {
    const { context } = this;
    const row = this.list[at];
    const { levels, level } = this.lanes(at);
    const isSelected = at === this.selectedRow;
    const isPinned = this.pinned.has(this.id(row));
    if (isSelected) {
      context.fillStyle = colour("select");
      context.fillRect(0, y - 2, this.width, LIFE + levels * level + 5);
    }
    const process = this.document.processes[row.process];
    // A thread that was not there was not stopped.
    for (const [from, to] of process.collections) if (to > row.begin_ns && from < row.end_ns) this.bar(from, to, y, LIFE - 4, "#8a6fc0", { name: "", wait: "collection", start: from, length: to - from });
    // A life whose end was not seen fades.
    this.bar(row.begin_ns, row.end_ns, y + LIFE / 2 - 3, 3, row.ended ? colour("soft") : colour("rest"));
    for (const [from, to, kind, number] of row.waits) {
      const isOpen = kind >= 2;
      context.globalAlpha = isOpen ? 0.5 : 1;
      const wait = kind % 2 ? "contended" : "waiting";
      this.bar(from, to, y + LIFE / 2 - 6, 9, kind % 2 ? "#d1495b" : "#e9a13b", { name: this.document.classes[number], wait, start: from, length: to - from, isOpen });
      context.globalAlpha = 1;
    }
    this.calls(row, y + LIFE - 1, levels, level);
    context.fillStyle = isSelected ? colour("select") : colour("back");
    context.fillRect(0, y - 2, GUTTER - 6, LIFE + levels * level + 5);
    context.fillStyle = row.calls === null ? colour("soft") : colour("front");
    context.fillText(isPinned ? "\u25be" : "\u25b8", 5, y + LIFE / 2 - 1);
    context.fillText(middleCut(this.id(row), Math.floor((GUTTER - PIN - 14) / this.glyph)), PIN, y + LIFE / 2 - 1);
  }

  /** Boxes too narrow for a name are most of those of a large picture: they lie on whole pixels, and each colour is set once. */
  calls(row, top, levels, level) {
    const picture = this.boxes(row);
    if (!picture) return;
    const { context } = this;
    picture.looks ??= picture.names.map((name) => {
      const label = this.state.profile.labelOf(name);
      return { name, label, colour: name.startsWith("(") ? "#9aa5b0" : colourOf(label), one: [], several: [] };
    });
    const { mapper, finder } = this.app;
    const isRuled = mapper.plans.some(({ display }) => display === "colour");
    const isAsked = this.state.at.find.trim() ? finder.ofCalls() : undefined;
    const chosen = this.list[this.selectedRow] === row ? this.state.at.call : "";
    for (const box of picture.boxes) {
      const [depth, start, length, number, calls] = box;
      if (depth >= levels) continue;
      const x = Math.max(GUTTER, this.x(start));
      const right = Math.min(this.width, this.x(start + length));
      if (right < GUTTER || x > this.width) continue;
      const drawn = new Drawn(x, top + depth * level, Math.max(LEAST, right - x), level, box, picture);
      const look = picture.looks[number];
      // Several calls: where each of them is cannot be told here.
      (calls > 1 ? look.several : look.one).push(drawn);
      this.painted.push(drawn);
    }
    for (const { name: method, label, colour: usual, one, several } of picture.looks) {
      if (one.length + several.length === 0) continue;
      const node = isRuled ? this.state.profile.anyContext(method) : undefined;
      /** The colour of one call: what was searched for, what a rule says, or that of its method. */
      const colourOfCall = (ns) => {
        if (isAsked?.(method, ns)) return HIT;
        return (node === undefined ? undefined : mapper.ofCall(node, ns)) ?? usual;
      };
      for (const [alpha, name, boxes] of [[1, label, one], [0.5, "", several]]) {
        context.globalAlpha = alpha;
        let colour = usual;
        context.fillStyle = colour;
        for (const { x, y, w, box } of boxes) {
          // What a rule says of single calls holds for no others.
          if (isRuled || isAsked) context.fillStyle = colour = colourOfCall(box[4] === 1 ? box[2] : NaN);
          if (chosen && box[4] === 1 && chosen === `${box[1]}-${box[2]}`) this.outlined = [x, y, w, level - 1];
          if (w >= NAMED) {
            boxOf(context, { x, y, w, h: level - 1 }, colour, name, this.glyph);
            context.fillStyle = colour;
          } else {
            const left = Math.round(x);
            context.fillRect(left, y, Math.max(1, Math.round(x + w) - left - (w > 2 ? 1 : 0)), level - 1);
          }
        }
        boxes.length = 0;
      }
    }
    context.globalAlpha = 1;
    if (this.outlined) {
      context.strokeStyle = "#000";
      context.lineWidth = 2;
      context.strokeRect(...this.outlined);
      this.outlined = undefined;
    }
  }

  drawArrows(rows, colour) {
    const { context } = this;
    const tops = new Map(rows.map(({ at, y }) => [at, y]));
    const all = this.heights().tops;
    const first = all.get(rows[0]?.at)?.top ?? 0;
    const bottom = (at) => (all.get(at).top < first ? 0 : this.height);
    context.lineWidth = 1;
    this.arrowsSeen = 0;
    for (const { from, at, to, until, isKnown, kind } of this.arrows) {
      if (!all.has(from) || !all.has(to) || !tops.has(from) && !tops.has(to)) continue;
      const [x, end] = [this.x(at), this.x(until)];
      if (Math.max(x, end) < GUTTER || Math.min(x, end) > this.width) continue;
      // More of them are a blot.
      if (++this.arrowsSeen > 2000) break;
      const [y, down] = [from, to].map((row) => (tops.has(row) ? tops.get(row) + LIFE / 2 - 2 : bottom(row)));
      context.strokeStyle = context.fillStyle = kind === "remote" ? colour("accent") : kind === "started" ? "#2a9d5c" : "#7a8a2a";
      // When a thread was asked to start may not be known: then the arrow stands where it began.
      context.setLineDash(isKnown ? [] : [3, 3]);
      context.beginPath();
      context.moveTo(x, y);
      context.bezierCurveTo(x, (y + down) / 2, end, (y + down) / 2, end, down);
      context.stroke();
      context.setLineDash([]);
      const way = down > y ? -5 : 5;
      context.beginPath();
      context.moveTo(end, down);
      context.lineTo(end - 3, down + way);
      context.lineTo(end + 3, down + way);
      context.fill();
    }
  }

  drawWindow(colour) {
    const { context } = this;
    const drawn = this.drag && !this.drag.isMove && Math.abs(this.drag.end - this.drag.x) > 3 ? [this.moment(this.drag.x), this.moment(this.drag.end)].sort((a, b) => a - b) : undefined;
    const shown = this.asked && this.answered ? [this.answered.from, this.answered.to] : undefined;
    for (const [from, to] of [drawn ?? shown].filter(Boolean)) {
      const [x, right] = [Math.max(GUTTER, this.x(from)), Math.min(this.width, this.x(to))];
      if (right < GUTTER || x > this.width) continue;
      context.globalAlpha = 0.18;
      context.fillStyle = colour("accent");
      context.fillRect(x, AXIS, right - x, this.height);
      context.globalAlpha = 1;
      context.fillRect(x, AXIS, 1, this.height);
      context.fillRect(right - 1, AXIS, 1, this.height);
    }
  }
}

/** Names of rows in the address. */
function namesOf(text) {
  try {
    const names = JSON.parse(text || "[]");
    return Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
  } catch {
    return [];
  }
}
