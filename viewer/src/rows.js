// Elements, and tables of any length: only the rows that are seen exist.
"use strict";

const ROW = 22;

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
  "open-level": ["Open level", "Show the next level of the tree (l)", (app) => app.openLevel()],
  "close-all": ["Close all", "Show the root and its children", (app) => app.closeAll()],
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
  }
}

/** A list of rows; `fill(row element, index)` writes one. */
class Rows {
  constructor(parent, fill, label) {
    this.fill = fill;
    this.body = element("div", { class: "body", role: "grid", "aria-label": label });
    this.space = element("div");
    this.body.append(this.space);
    parent.append(this.body);
    this.rows = new Map();
    this.length = 0;
    this.body.addEventListener("scroll", () => this.draw(false));
    new ResizeObserver(() => this.draw(false)).observe(this.body);
  }

  show(length) {
    this.length = length;
    this.space.style.height = `${length * ROW}px`;
    this.body.setAttribute("aria-rowcount", String(length));
    this.draw(true);
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
      const row = element("div", { class: "row", role: "row", "aria-rowindex": String(index + 1) });
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

function cell(text, kind = "") {
  return element("span", { class: `cell ${kind}`, role: "gridcell" }, text);
}

/** What a figure may be off by. */
function errorText(error, unit) {
  return error === undefined || error === 0 ? "" : `\u00b1${quantity(error, unit)}`;
}
