// What threads did in a window of time, as `instrument timeline` prints it: asked of the server, or made of the slices that a page in one file
// has. Slices are whole ns and whole calls, so their sums are exact.
"use strict";

/** A page in one file has windows from slice to slice only: the nearest one that has the whole of what is asked for. */
function slicedWindow(slices, from, to) {
  const { bounds } = slices;
  let first = 0;
  while (first + 2 < bounds.length && bounds[first + 1] <= from) first++;
  let last = bounds.length - 1;
  while (last - 1 > first && bounds[last - 1] >= to) last--;
  return { first, last, from: bounds[first], to: bounds[last] };
}

/** The document of `instrument timeline` for a row, made of slices. */
function windowOfSlices(slices, row, process, window) {
  const { contexts, names, parts } = slices.rows.find((of) => of.row === row.row);
  const calls = new Float64Array(contexts.length + 1);
  const ns = new Float64Array(contexts.length + 1);
  for (let slice = window.first; slice < window.last; slice++) {
    for (const [context, began, own] of parts[slice].sums) {
      calls[context] += began;
      ns[context] += own;
    }
  }
  for (const [context, open] of parts[window.first].open) calls[context] += open;
  const made = (name, n, base) => ({ name, n, base: [base], cum: [base], children: [] });
  const thread = { ...made(row.thread, 1, 0), kind: "thread" };
  const nodes = [thread];
  // Contexts of one name beside each other are one, as in every tree.
  const places = [new Map()];
  contexts.forEach(([above, name], i) => {
    const number = i + 1;
    const known = places[above].get(name);
    const node = known?.node ?? made(names[name], 0, 0);
    node.n += calls[number];
    node.base[0] += ns[number];
    nodes[number] = node;
    places[number] = known?.below ?? new Map();
    if (!known) {
      places[above].set(name, { node, below: places[number] });
      nodes[above].children.push(node);
    }
  });
  // Those in which nothing happened are not part of the window.
  const gather = (node) => {
    for (const child of node.children) gather(child);
    node.children = node.children.filter((child) => child.n > 0 || child.cum[0] > 0);
    node.cum[0] = node.children.reduce((sum, child) => sum + child.cum[0], node.base[0]);
  };
  gather(thread);
  const tree = made("(root)", 0, 0);
  tree.children = process === undefined ? [thread] : [{ ...made(process, 0, 0), children: [thread], cum: thread.cum.slice() }];
  tree.cum = thread.cum.slice();
  return { total: tree.cum, tree };
}

/** The tree of a window as a list, callers before what they called, the largest first: node, level. */
function windowRows(tree) {
  const rows = [];
  const stack = [[tree, -1]];
  while (stack.length) {
    const [node, level] = stack.pop();
    if (level >= 0) rows.push([node, level]);
    const children = [...(node.children || [])].sort((a, b) => b.cum[0] - a.cum[0] || (a.name < b.name ? -1 : 1));
    for (let i = children.length - 1; i >= 0; i--) stack.push([children[i], level + 1]);
  }
  return rows;
}

/** The part below the timeline: what the row did in the window, as a tree and as a flame graph. */
class WindowPane {
  constructor(app, parent) {
    this.app = app;
    this.state = app.state;
    this.box = element("div", { class: "column short window", hidden: "" });
    parent.append(this.box);
    this.parts = new Parts(app, this.box, [["tree", "Tree of the window"], ["flame", "Flame of the window"]]);
    for (const button of this.parts.body.children) button.onclick = () => this.state.go({ part: button.dataset.part }, true);
    this.title = element("span", { id: "window-title" });
    const close = element("button", { id: "window-close", title: "No window" }, "\u00d7");
    close.onclick = () => this.state.go({ window: "" });
    this.parts.body.append(this.title, close);
    this.table = element("div", { class: "column" });
    this.box.append(this.table);
    this.rows = new Rows(this.table, (row, index) => this.fill(row, index), "Contexts of the window", [["context", "name"], ["calls"], ["self"], ["total"], ["%", "share"]]);
    this.flame = element("div", { class: "body" });
    this.canvas = element("canvas", { role: "img", "aria-label": "Flame graph of the window; its tree has the same as a table" });
    this.flame.append(this.canvas);
    this.box.append(this.flame);
    this.canvas.addEventListener("mousemove", (event) => {
      const node = this.at(event);
      this.app.showText(node ? this.words(node) : "", event);
      document.getElementById("tip").hidden = !node;
    });
    this.canvas.addEventListener("mouseleave", () => this.app.showTip(undefined));
    this.canvas.addEventListener("click", (event) => this.select(this.at(event)));
    new ResizeObserver(() => this.answer && this.paint()).observe(this.flame);
  }

  /** Nothing is shown. */
  clear() {
    this.box.hidden = true;
    this.answer = undefined;
  }

  show(answer, title) {
    this.answer = answer;
    this.box.hidden = false;
    this.title.textContent = title;
    this.update();
  }

  update() {
    if (!this.answer) return;
    const part = this.parts.update();
    this.table.hidden = part !== "tree";
    this.flame.hidden = part !== "flame";
    this.list = windowRows(this.answer.tree);
    this.rows.show(this.list.length);
    if (part === "flame") this.paint();
  }

  fill(row, index) {
    const [node, level] = this.list[index];
    const whole = this.answer.total[0];
    row.append(indent(nameCell(this.app.profile.labelOf(node.name)), level), cell(count(node.n)), cell(quantity(node.base[0], "ns")), cell(quantity(node.cum[0], "ns")), cell(percent(node.cum[0], whole), "share"));
    row.title = this.words(node);
    row.onclick = () => this.select(node);
  }

  words(node) {
    return `${this.app.profile.labelOf(node.name)}: ${count(node.n)} calls, ${quantity(node.base[0], "ns")} self, ${quantity(node.cum[0], "ns")} total in the window, as measured`;
  }

  /** Selects the context of the whole run that has the name and took most. */
  select(node) {
    const context = node && this.app.contextOf(node.name);
    if (context !== undefined) this.state.go({ selected: context }, true);
  }

  paint() {
    const { canvas } = this;
    const [width, height] = [this.flame.clientWidth, this.flame.clientHeight];
    const scale = window.devicePixelRatio || 1;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.font = "11px ui-monospace, monospace";
    context.textBaseline = "middle";
    const glyph = context.measureText("m").width;
    this.boxes = [];
    const stack = [[this.answer.tree, 0, width, 0]];
    while (stack.length) {
      const [node, x, w, level] = stack.pop();
      if (level * LEVEL > height) continue;
      this.boxes.push([node, x, w, level]);
      const isMethod = node.name.includes("(") && !node.name.startsWith("(");
      const label = this.app.profile.labelOf(node.name);
      boxOf(context, { x, y: level * LEVEL, w, h: LEVEL - 1 }, isMethod ? colourOf(label) : "#9aa5b0", label, glyph);
      let at = x;
      for (const child of [...(node.children || [])].sort((a, b) => b.cum[0] - a.cum[0])) {
        const share = node.cum[0] > 0 ? (child.cum[0] / node.cum[0]) * w : 0;
        if (share < LEAST) continue;
        stack.push([child, at, share, level + 1]);
        at += share;
      }
    }
  }

  at(event) {
    const level = Math.floor(event.offsetY / LEVEL);
    return this.boxes?.find(([, x, w, of]) => of === level && event.offsetX >= x && event.offsetX < x + w)?.[0];
  }

  csv() {
    const lines = ["level,calls,self_ns,total_ns,context"];
    for (const [node, level] of this.list) lines.push([level, node.n, node.base[0], node.cum[0], csvField(node.name)].join(","));
    return { name: "window.csv", type: "text/csv", text: lines.join("\r\n") + "\r\n" };
  }
}
