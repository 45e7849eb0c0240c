// Contexts as an icicle: callees lie below their caller.
"use strict";

class FlameView extends IcicleView {
  constructor(app, parent) {
    super(app, parent, ["up", "reset", "root-here"], "Flame graph; the view Tree has the same as a table");
    this.tools.button("fit", "Fit", "The whole width of the root (0)", () => this.fit());
    this.tools.button("flip", "Upside down", "Callees above their caller, as in a flame graph", () => ((this.isFlame = !this.isFlame), this.update()));
    if (this.state.profile.sides) {
      const side = this.tools.button("widths", "Widths: after", "As wide as before, or as after", () => {
        this.isBefore = !this.isBefore;
        side.textContent = `Widths: ${this.isBefore ? "before" : "after"}`;
        this.update();
      });
      this.tools.body.append(element("span", { class: "kind" }, "red: more than before, blue: less, white: the same, hatched: not known to differ;"));
    }
    this.tools.body.append(element("span", { class: "kind" }, "wheel: scroll, with Ctrl zoom; drag: move; double click: root"));
  }

  update() {
    if (this.shown !== undefined && this.shown !== this.state.root) {
      clearTimeout(this.late);
      this.top = 0;
      this.zoomed = undefined;
    }
    this.readZoom();
    this.shown = this.state.root;
    this.tools.update();
    this.reveal();
    this.draw();
  }

  /** Scrolls to the selected context. */
  reveal() {
    const { profile } = this.state;
    const level = profile.depth[this.state.selected] - profile.depth[this.state.root];
    const rows = Math.floor(this.body.clientHeight / LEVEL);
    if (rows > 2 && level >= 0 && (level < this.top || level >= this.top + rows)) this.top = Math.max(0, level - Math.floor(rows / 2));
  }

  tip(node, event) {
    this.app.showTip(node, event);
  }

  click(node) {
    this.state.go({ selected: node }, true);
  }

  doubleClick(node) {
    this.state.go({ root: node, selected: node });
  }

  content() {
    const { profile, root, selected } = this.state;
    const resource = this.isBefore ? profile.sides.before.get(this.state.resource) : this.state.resource;
    const total = profile.total(resource);
    this.levels = [];
    this.deepest = 0;
    if (!(total[root] > 0)) {
      this.say(`nothing of ${profile.resources[resource].name} below this context`);
      return;
    }
    const tree = { root, total: (node) => total[node], children: (node) => this.children(node, resource), node: (node) => node };
    this.levels = this.boxes(tree, (level) => this.y(level), selected);
    this.deepest = this.levels.length - 1;
  }

  /** Sorted children, kept: a frame must not sort. */
  children(node, resource) {
    if (this.sortedOf !== resource) {
      this.sorted = new Map();
      this.sortedOf = resource;
    }
    let list = this.sorted.get(node);
    if (!list) {
      const total = this.state.profile.total(resource);
      list = this.state.profile.sortedChildren(node, this.state.resource);
      if (this.state.profile.sides) list.sort((a, b) => total[b] - total[a]);
      this.sorted.set(node, list);
    }
    return list;
  }

  y(level) {
    const y = (level - this.top) * LEVEL;
    return this.isFlame ? this.height - LEVEL - y : y;
  }

  /** The context under the mouse. */
  hit(event) {
    const y = this.isFlame ? this.body.clientHeight - event.offsetY : event.offsetY;
    return this.at(this.levels, Math.floor(y / LEVEL) + this.top, event);
  }

  picture() {
    return this.whole("flame", () => (this.deepest + 1) * LEVEL);
  }
}
