// A table of a report's rows: sorted by the column that is clicked, only rows with a text, one row selected.
"use strict";

/**
 * Columns have a `key`, what they are sorted by (`of`), what they show (`text`) and a `kind`: nothing for figures, `name` for the name, `bar`
 * for a bar, whose `text` gives shares; `label` is what stands above it, if that is not the key. Rows are in the order of the document unless a column was clicked.
 */
class SortedTable {
  constructor(app, parent, label, columns, acts) {
    this.app = app;
    this.state = app.state;
    this.columns = columns;
    this.acts = acts;
    // Many columns leave little room for names.
    const box = element("div", { class: `column${columns.length > 7 ? " many" : ""}` });
    parent.append(box);
    const tools = element("div", { class: "tools" });
    this.filter = element("input", { id: "filter", type: "search", placeholder: "Only names with", size: 32, "aria-label": "Only names with" });
    this.filter.value = this.state.at.filter;
    this.filter.oninput = () => this.state.go({ filter: this.filter.value }, true);
    this.sum = element("span", { class: "kind", id: "rows-shown" });
    tools.append(this.filter, this.sum);
    box.append(tools);
    for (const column of columns) {
      column.button = element("button", { "data-sort": column.key, title: column.key }, column.label ?? column.key);
      column.button.onclick = () => this.state.go({ sort: this.state.at.sort === column.key ? `-${column.key}` : column.key });
    }
    // Names stand first.
    this.shown = [...columns.filter(({ kind }) => kind === "name"), ...columns.filter(({ kind }) => kind !== "name")];
    this.rows = new Rows(box, (row, index) => this.fill(row, index), label, this.shown.map(({ kind, button }) => [kind === "bar" ? "" : button, kind]));
  }

  name(row) {
    return this.columns.find(({ kind }) => kind === "name").text(row);
  }

  /** `all`: how many rows the document is of, if it has not all of them. */
  update(rows, all = rows.length) {
    if (document.activeElement !== this.filter) this.filter.value = this.state.at.filter;
    const words = this.state.at.filter.toLowerCase();
    const list = rows.filter((row) => !words || this.name(row).toLowerCase().includes(words));
    const { sort } = this.state.at;
    const column = this.columns.find(({ key }) => key === sort.replace(/^-/, ""));
    if (column) {
      const keys = new Map(list.map((row) => [row, column.of(row) ?? -1]));
      const order = (a, b) => {
        const [x, y] = [keys.get(a), keys.get(b)];
        return typeof x === "string" ? (x < y ? -1 : x > y ? 1 : 0) : y - x;
      };
      list.sort((a, b) => (sort.startsWith("-") ? -order(a, b) : order(a, b)));
    }
    this.list = list;
    this.sum.textContent = `${count(list.length)} of ${count(rows.length)} rows${all > rows.length ? `; the page has no room for ${count(all - rows.length)} more` : ""}`;
    sortedBy(this.columns, column?.key, sort.startsWith("-"));
    this.rows.show(list.length, list.findIndex((row) => this.acts.isSelected(row)));
  }

  fill(row, index) {
    const of = this.list[index];
    for (const column of this.shown) {
      const shown = column.text(of);
      if (column.kind === "name") {
        row.append(nameCell(shown));
        row.classList.toggle("hit", this.app.finder.fits(shown));
      } else {
        row.append(column.kind === "bar" ? barCell(shown) : cell(shown, column.kind || ""));
      }
    }
    row.onclick = () => this.acts.select(of);
    row.ondblclick = () => this.acts.open?.(of);
  }

  /** The selected row as a list of what its columns say. */
  facts() {
    const row = this.list?.find((of) => this.acts.isSelected(of));
    if (!row) return undefined;
    return { title: this.name(row), fields: this.columns.filter(({ kind }) => kind !== "bar" && kind !== "name").map((column) => [column.key, column.text(row)]) };
  }

  step(how) {
    if (!ROWS_BY[how] || !this.list.length) return;
    const at = this.list.findIndex((row) => this.acts.isSelected(row));
    this.acts.select(this.list[rowAfter(at, how, this.list.length)]);
  }

  /** Opens the selected row. */
  enter() {
    const row = this.list.find((of) => this.acts.isSelected(of));
    if (row) this.acts.open?.(row);
  }

  csv(name) {
    const columns = this.columns.filter(({ kind }) => kind !== "bar");
    return csvOf(name, columns.map(({ key }) => key), this.list.map((row) => columns.map((column) => column.of(row) ?? "")));
  }
}

/** Shows by which column a table is sorted. */
function sortedBy(columns, sorted, isUp) {
  for (const { key, label = key, button } of columns) {
    button.textContent = key === sorted ? `${label} ${isUp ? "\u25b4" : "\u25be"}` : label;
    const head = button.closest("[role=columnheader]");
    if (key === sorted) head?.setAttribute("aria-sort", isUp ? "ascending" : "descending");
    else head?.removeAttribute("aria-sort");
  }
}

/** Shares of one bar, each with its class. */
function barCell(shares) {
  const bar = element("span", { class: "cell bar", role: "gridcell" });
  for (const [share, name] of shares) {
    const part = element("i", { class: name });
    part.style.width = `${100 * Math.max(0, Math.min(1, share || 0))}%`;
    bar.append(part);
  }
  return bar;
}

/** The element of a row of them that an arrow, Home or End leads to; undefined: the key is another one. The event is used up then. */
function neighbourOf(elements, event) {
  const at = elements.indexOf(event.target);
  const to = { ArrowRight: (at + 1) % elements.length, ArrowLeft: (at - 1 + elements.length) % elements.length, Home: 0, End: elements.length - 1 }[event.key];
  if (at < 0 || to === undefined) return undefined;
  event.preventDefault();
  event.stopPropagation();
  return elements[to];
}

/** Buttons for the parts of a view; the first one is shown unless the address says otherwise. */
class Parts {
  constructor(app, parent, list) {
    this.state = app.state;
    this.list = list;
    this.body = element("div", { class: "tools", role: "toolbar", "aria-label": "Parts of the view" });
    this.body.addEventListener("keydown", (event) => this.key(event));
    for (const [key, label] of list) {
      const button = element("button", { "data-part": key }, label);
      button.onclick = () => this.state.go({ part: key, row: "", sort: "", filter: "" });
      this.body.append(button);
    }
    parent.append(this.body);
  }

  update() {
    const { part } = this.state.at;
    const shown = this.list.some(([key]) => key === part) ? part : this.list[0][0];
    for (const button of this.body.children) {
      button.setAttribute("aria-pressed", String(button.dataset.part === shown));
      button.tabIndex = button.dataset.part === shown ? 0 : -1;
    }
    return shown;
  }

  /** The keys of a toolbar: they move the focus among its buttons, of which one is met by Tab. */
  key(event) {
    const to = neighbourOf([...this.body.children], event);
    if (to) to.tabIndex = 0;
    to?.focus();
  }
}

/** Figures of a document: nothing is a dash. */
const text = {
  count: (value) => (value === null || value === undefined ? "-" : count(value)),
  time: (value) => (value === null || value === undefined ? "-" : quantity(value, "ns")),
  size: (value) => (value === null || value === undefined ? "-" : quantity(value, "bytes")),
};

/** An element of a drawing. */
function drawn(name, attributes, ...contents) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...contents);
  return made;
}

/** A drawing, to be saved: with the colours that it has here. */
function savedDrawing(svg, name) {
  const copy = svg.cloneNode(true);
  copy.setAttribute("xmlns", SVG);
  const colours = getComputedStyle(document.documentElement);
  const colour = (key) => colours.getPropertyValue(`--${key}`).trim();
  const style = drawn("style", {}, `text{font:12px sans-serif;fill:${colour("front")}} .arc,.axis{fill:none;stroke:${colour("soft")}} .box{fill:${colour("panel")};stroke:${colour("soft")}} .curve{fill:none;stroke:${colour("accent")}} .mark{fill:${colour("bar")}}`);
  copy.prepend(style);
  return { name: `${name}.svg`, type: "image/svg+xml", text: new XMLSerializer().serializeToString(copy) };
}
