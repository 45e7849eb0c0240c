// Elements, and tables of any length: only the rows that are seen exist.
"use strict";

const ROW = 22;
/** Milliseconds after the last letter that was typed. */
const TYPED = 150;

/** An element with attributes and contents; texts are text, whatever is in them. */
function element(name, attributes = {}, ...contents) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...contents);
  return made;
}

function select(id, options) {
  const made = element("select", { id });
  for (const [value, label] of options) made.append(element("option", { value }, label));
  return made;
}

/** Buttons that several views have: text, help, what they do. */
const COMMON = {
  "drawn-as": ["Figure", "The same tree as nodes and arcs", (app) => app.go("graph")],
  "as-table": ["Table", "The same tree as a table", (app) => app.go("tree")],
  "open-level": ["Open level", "Show the next level of the tree (l)", (app) => app.tree.openLevel()],
  "close-all": ["Close all", "Show the root and its children", (app) => app.tree.closeAll()],
  chains: ["Whole chains", "One row for methods each of which calls only the next, or a row for each", (app) => app.state.go({ chains: app.state.at.chains ? "" : "all" }, true)],
  up: ["Up one level", "The caller of the root becomes the root (u)", (app) => app.up()],
  reset: ["Reset root", "Show the whole tree (r)", (app) => app.reset()],
  "root-here": ["Root here", "The selected context becomes the root (Enter)", (app) => app.rootHere()],
};

/** The buttons of a view. */
class Toolbar {
  constructor(app, parent, common) {
    this.app = app;
    this.body = element("div", { class: "tools" });
    parent.append(this.body);
    for (const id of common) {
      const [text, title, act] = COMMON[id];
      const made = this.button(id, text, title, () => act(app));
      if (id === "up") this.up = made;
      if (id === "chains") this.chains = made;
    }
  }

  button(id, text, title, act) {
    const made = element("button", { id, title }, text);
    made.onclick = act;
    this.body.append(made);
    return made;
  }

  update() {
    this.up.disabled = this.app.state.root === 0;
    this.chains?.setAttribute("aria-pressed", String(this.app.state.at.chains === "all"));
  }
}

/** A list of rows below a head of columns `[text or element, kind]`; `fill(row element, index)` writes one. The selected row is kept on screen. */
class Rows {
  constructor(parent, fill, label, columns = [], role = "grid") {
    this.fill = fill;
    this.whole = element("div", { class: "column rows", role, "aria-label": label });
    if (columns.length) {
      this.head = element("div", { class: "head", role: "row" });
      for (const [text, kind = ""] of columns) this.head.append(element("span", { class: `${/^name/.test(kind) ? "" : "cell "}${kind}`, role: "columnheader" }, text));
      this.whole.append(this.head);
    }
    this.body = element("div", { class: "body", role: "rowgroup", tabindex: "-1" });
    this.space = element("div", { role: "presentation" });
    this.body.append(this.space);
    this.whole.append(this.body);
    parent.append(this.whole);
    this.rows = new Map();
    this.length = 0;
    this.selected = -1;
    this.body.addEventListener("scroll", () => this.draw(false));
    new ResizeObserver(() => this.draw(false)).observe(this.body);
  }

  /** So many rows; `selected`: the place of the selected one, or -1. */
  show(length, selected = -1) {
    this.length = length;
    this.space.style.height = `${length * ROW}px`;
    this.whole.setAttribute("aria-rowcount", String(length));
    this.selected = selected;
    if (selected >= 0) this.scrollTo(selected);
    const hasFocus = this.body.contains(document.activeElement);
    this.draw(true);
    // The focus goes with the selection.
    if (hasFocus) (this.rows.get(selected) ?? this.body).focus({ preventScroll: true });
  }

  draw(isNew) {
    if (isNew) {
      for (const row of this.rows.values()) row.remove();
      this.rows.clear();
    }
    const first = Math.max(0, Math.floor(this.body.scrollTop / ROW) - 4);
    const last = Math.min(this.length, Math.ceil((this.body.scrollTop + this.body.clientHeight) / ROW) + 4);
    for (const [index, row] of this.rows) {
      if (index < first || index >= last) {
        row.remove();
        this.rows.delete(index);
      }
    }
    for (let index = first; index < last; index++) {
      if (this.rows.has(index)) continue;
      const isSelected = index === this.selected;
      const isFirst = isSelected || (this.selected < first || this.selected >= last) && index === first;
      const row = element("div", { class: isSelected ? "row selected" : "row", role: "row", tabindex: isFirst ? "0" : "-1", "aria-rowindex": String(index + 1), "aria-selected": String(isSelected) });
      row.style.top = `${index * ROW}px`;
      this.fill(row, index);
      this.body.append(row);
      this.rows.set(index, row);
    }
  }

  scrollTo(index) {
    const top = index * ROW;
    const { scrollTop, clientHeight } = this.body;
    if (top < scrollTop) this.body.scrollTop = top;
    else if (top + ROW > scrollTop + clientHeight) this.body.scrollTop = top + ROW - clientHeight;
  }
}

/** Rows by which a step moves in a list; a page is as many as are seen. */
const ROWS_BY = { next: () => 1, previous: () => -1, first: () => -Infinity, last: () => Infinity, "page before": (seen) => -seen, "page after": (seen) => seen };

/** The place of the row after a step; `at`: of the selected one, or -1. */
function rowAfter(at, how, length) {
  const seen = Math.max(1, Math.floor((document.querySelector("#view .body")?.clientHeight ?? 0) / ROW) - 1);
  return Math.min(length - 1, Math.max(0, (at < 0 && how === "next" ? -1 : Math.max(0, at)) + ROWS_BY[how](seen)));
}

function cell(text, kind = "") {
  return element("span", { class: `cell ${kind}`, role: "gridcell" }, text);
}

/** What a figure may be off by. */
function errorText(error, unit) {
  return error === undefined || error === 0 ? "" : `\u00b1${quantity(error, unit)}`;
}

/** A figure; what it may be off by is said where the mouse is over it, and by a line below it: as long as that part of the figure. */
function figureCell(text, { words, share } = {}) {
  const made = cell(text);
  if (words) {
    made.title = words;
    made.classList.add("unsure");
    made.style.setProperty("--error", `${Math.min(100, 100 * share)}%`);
  }
  return made;
}

/** What a figure may be off by, for a cell. */
function errorOf(error, figure, unit) {
  if (!error) return {};
  return { words: `\u00b1${quantity(error, unit)}`, share: figure > 0 ? error / figure : 1 };
}
