// A small flame graph of the program's own methods: what libraries did is in the own method that called them. Drawn once the page is there.
"use strict";

/** Levels that there is room for, and the share below which a context is not looked into. */
const OWN_LEVELS = 9;
const OWN_LEAST = 0.0005;

class OwnFlame {
  constructor(app, parent, overview) {
    this.app = app;
    this.own = new Uint8Array(app.profile.functions.length);
    for (const fn of overview.own) this.own[fn] = 1;
    this.canvas = element("canvas", { role: "img", "aria-label": "Flame graph of own code; the view Tree has all of it as a table" });
    this.box = element("div", { id: "own-flame" }, this.canvas);
    this.part = element("section", {}, element("h2", {}, `Own code by ${app.profile.resources[app.state.resource].name}`), this.box);
    this.canvas.addEventListener("mousemove", (event) => {
      const hit = this.at(event);
      if (hit) app.showText(this.words(hit), event);
      else app.showTip(undefined);
    });
    this.canvas.addEventListener("mouseleave", () => app.showTip(undefined));
    this.canvas.addEventListener("click", (event) => {
      const hit = this.at(event);
      if (hit) app.state.go({ selected: hit.context, view: "flame" });
    });
    new ResizeObserver(() => this.paint()).observe(this.box);
  }

  words({ context, total }) {
    const { profile, state } = this.app;
    return `${profile.label(context)}: ${this.app.amount(total, state.resource)} total (${percent(total, this.root.total)} %), in all contexts of this place`;
  }

  /** Own methods as a tree: name, total, the context that took most, callees, the largest first. */
  tree() {
    const { profile, state } = this.app;
    const total = profile.total(state.resource);
    const least = OWN_LEAST * total[0];
    const root = { total: total[0], most: 0, context: 0, below: new Map() };
    const stack = [[0, root]];
    while (stack.length) {
      const [node, place] = stack.pop();
      for (const child of profile.children(node)) {
        if (total[child] < least || total[child] <= 0) continue;
        const fn = profile.fn[child];
        let at = place;
        if (this.own[fn]) {
          at = place.below.get(fn);
          if (!at) place.below.set(fn, (at = { total: 0, most: -1, context: child, below: new Map() }));
          at.total += total[child];
          if (total[child] > at.most) [at.most, at.context] = [total[child], child];
        }
        stack.push([child, at]);
      }
    }
    return root;
  }

  paint() {
    const { canvas, box, app } = this;
    if (!box.isConnected || !box.clientWidth) return;
    this.root ??= this.tree();
    const scale = window.devicePixelRatio || 1;
    const width = box.clientWidth;
    const rows = [];
    const stack = [[this.root, 0, width, -1]];
    while (stack.length) {
      const [node, x, w, level] = stack.pop();
      if (level >= 0) (rows[level] ??= []).push({ x, w, context: node.context, total: node.total });
      if (level + 1 >= OWN_LEVELS) continue;
      let at = x;
      for (const child of [...node.below.values()].sort((a, b) => b.total - a.total)) {
        const share = node.total > 0 ? (child.total / node.total) * w : 0;
        if (share >= LEAST) stack.push([child, at, share, level + 1]);
        at += share;
      }
    }
    box.style.height = `${Math.max(1, rows.length) * LEVEL}px`;
    canvas.width = width * scale;
    canvas.height = rows.length * LEVEL * scale;
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.font = "11px ui-monospace, monospace";
    context.textBaseline = "middle";
    const glyph = context.measureText("m").width;
    rows.forEach((row, level) => row.forEach(({ x, w, context: node }) => boxOf(context, { x, y: level * LEVEL, w, h: LEVEL - 1 }, app.mapper.colour(node), app.profile.label(node), glyph)));
    this.rows = rows;
  }

  at(event) {
    return this.rows?.[Math.floor(event.offsetY / LEVEL)]?.find(({ x, w }) => event.offsetX >= x && event.offsetX < x + w);
  }
}
