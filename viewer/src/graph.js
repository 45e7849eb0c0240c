// The tree as nodes and arcs (JaViz, figure 2): what is open is drawn, the selected node is a star, a leaf is underlined. Colour, shape and
// size of nodes and width of arcs are those of the mapper.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
/** Pixels of a character of a name, at most. */
const LETTER = 7.6;

class GraphView {
  constructor(app, parent) {
    this.app = app;
    this.state = app.state;
    this.dx = 60;
    this.dy = 22;
    this.tools = new Toolbar(app, parent, ["as-table", "open-level", "close-all", "chains", "up", "reset", "root-here"]);
    const zoom = (x, y) => () => {
      this.dx = Math.min(600, Math.max(20, this.dx * x));
      this.dy = Math.min(120, Math.max(8, this.dy * y));
      this.update();
    };
    this.tools.button("wider", "\u2194+", "Zoom in horizontally (+)", zoom(1.3, 1));
    this.tools.button("narrower", "\u2194\u2212", "Zoom out horizontally (-)", zoom(1 / 1.3, 1));
    this.tools.button("higher", "\u2195+", "Zoom in vertically", zoom(1, 1.3));
    this.tools.button("lower", "\u2195\u2212", "Zoom out vertically", zoom(1, 1 / 1.3));
    this.tools.button("refresh", "Refresh", "Draw again", () => this.update());
    this.body = element("div", { class: "body", role: "group", tabindex: "0", "aria-label": "Tree as a figure" });
    this.svg = document.createElementNS(SVG, "svg");
    this.body.append(this.svg);
    parent.append(this.body);
    this.body.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.body);
  }

  update() {
    this.list = this.app.tree.list();
    this.tools.update();
    const deepest = this.list.levels.reduce((most, level) => Math.max(most, level), 0);
    this.svg.setAttribute("width", String((deepest + 1) * this.dx + 500));
    this.svg.setAttribute("height", String(this.list.nodes.length * this.dy + 20));
    this.rowOf = new Map(this.list.nodes.map((node, row) => [node, row]));
    this.reveal(this.rowOf.get(this.state.selected));
    this.draw();
  }

  words(node) {
    const { profile, resource } = this.state;
    const calls = profile.isCounted ? `${plural(profile.calls[node], profile.header.occurrences.replace(/s$/, ""))}, ` : "";
    return `${short(profile.label(node))}  ${calls}${this.app.amount(profile.total(resource)[node], resource)} total`;
  }

  /** Scrolls to a row, both ways. */
  reveal(row) {
    if (row === undefined) return;
    const { body } = this;
    const [x, y] = this.place(row);
    const right = x + 30 + LETTER * this.words(this.list.nodes[row]).length;
    if (y < body.scrollTop + this.dy || y + this.dy > body.scrollTop + body.clientHeight) body.scrollTop = Math.max(0, y - body.clientHeight / 2);
    if (x < body.scrollLeft + 20 || right > body.scrollLeft + body.clientWidth) body.scrollLeft = Math.max(0, Math.min(x - 40, right - body.clientWidth));
  }

  place(row) {
    return [14 + this.list.levels[row] * this.dx, 14 + row * this.dy];
  }

  /** Only the rows that are seen, and the arcs that lead to them. */
  draw() {
    if (!this.list) return;
    const { profile } = this.state;
    const first = Math.max(0, Math.floor(this.body.scrollTop / this.dy) - 2);
    const last = Math.min(this.list.nodes.length, Math.ceil((this.body.scrollTop + this.body.clientHeight) / this.dy) + 2);
    const parts = [];
    const make = (name, attributes) => {
      const made = document.createElementNS(SVG, name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
      return made;
    };
    for (let row = first; row < last; row++) {
      const node = this.list.nodes[row];
      const [x, y] = this.place(row);
      const above = this.list.parents[row];
      if (above >= 0) {
        const [px, py] = this.place(above);
        const width = Number(this.app.mapper.style(node, "width")) || 1;
        const arc = make("path", { class: "arc", d: `M${px},${py} V${y} H${x}`, "stroke-width": width });
        if (this.app.mapper.isDimmed(node)) arc.setAttribute("opacity", "0.25");
        parts.push(arc);
      }
    }
    for (let row = first; row < last; row++) {
      const node = this.list.nodes[row];
      const [x, y] = this.place(row);
      const group = make("g", { "data-node": node, class: [this.app.mapper.isDimmed(node) ? "dim" : "", this.app.finder.isHit(node) ? "hit" : ""].join(" "), role: "presentation" });
      const size = 5 * Math.sqrt(Number(this.app.mapper.style(node, "size")) || 1);
      const shape = node === this.state.selected ? "star" : this.app.mapper.style(node, "shape") || "circle";
      const drawn = make("path", { d: outline(shape, x, y, node === this.state.selected ? size + 3 : size), stroke: "currentColor", "stroke-width": this.state.open.has(node) || profile.isLeaf(node) ? 1 : 2.5 });
      drawn.style.fill = this.app.mapper.colour(node);
      const text = make("text", { x: x + size + 6, y: y + 4 });
      text.textContent = this.words(node);
      if (profile.isLeaf(node)) text.setAttribute("text-decoration", "underline");
      group.append(drawn, text);
      group.addEventListener("click", () => this.state.go({ selected: node }, true));
      group.addEventListener("dblclick", () => this.app.tree.toggle(node));
      this.app.tip(group, node);
      parts.push(group);
    }
    this.svg.replaceChildren(...parts);
  }

  picture() {
    const copy = this.svg.cloneNode(true);
    copy.setAttribute("xmlns", SVG);
    const style = document.createElementNS(SVG, "style");
    style.textContent = "text{font:12px monospace} .arc{fill:none;stroke:#5b6570} .dim{opacity:.28}";
    copy.prepend(style);
    return { name: "tree.svg", type: "image/svg+xml", text: new XMLSerializer().serializeToString(copy) };
  }
}

function outline(shape, x, y, size) {
  const points = (list) => `M${list.map(([a, b]) => `${x + a * size},${y + b * size}`).join("L")}Z`;
  switch (shape) {
    case "square": return points([[-1, -1], [1, -1], [1, 1], [-1, 1]]);
    case "diamond": return points([[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]]);
    case "triangle": return points([[0, -1.2], [1.2, 1], [-1.2, 1]]);
    case "star": return points([...Array(10).keys()].map((k) => {
      const r = k % 2 ? 0.5 : 1.3;
      const angle = (Math.PI * (k - 2.5)) / 5;
      return [r * Math.cos(angle), r * Math.sin(angle)];
    }));
    default: return `M${x - size},${y}a${size},${size} 0 1,0 ${2 * size},0a${size},${size} 0 1,0 ${-2 * size},0`;
  }
}
