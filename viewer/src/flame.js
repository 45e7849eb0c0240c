// Contexts as an icicle: a context is as wide as its share of the resource, callees lie below their caller, the largest left. Exact calls and
// figures, no samples. What is narrower than half a pixel is drawn together with its neighbours.
"use strict";

const LEVEL = 18;
const LEAST = 0.6;

class FlameView {
  constructor(app, parent) {
    this.app = app;
    this.state = app.state;
    this.tools = new Toolbar(app, parent, ["up", "reset", "root-here"]);
    this.tools.button("fit", "Fit", "The whole width of the root (0)", () => this.fit());
    this.flip = this.tools.button("flip", "Upside down", "Callees above their caller, as in a flame graph", () => ((this.isFlame = !this.isFlame), this.update()));
    this.tools.body.append(element("span", { class: "kind" }, "wheel: scroll, with Ctrl zoom; drag: move; double click: root"));
    this.body = element("div", { class: "body" });
    this.canvas = element("canvas", { role: "img", "aria-label": "Flame graph; the view Tree has the same as a table" });
    this.body.style.overflow = "hidden";
    this.body.append(this.canvas);
    parent.append(this.body);
    /** The part of the root that is seen. */
    this.from = 0;
    this.to = 1;
    this.top = 0;
    this.events();
    new ResizeObserver(() => this.draw()).observe(this.body);
  }

  fit() {
    this.from = 0;
    this.to = 1;
    this.top = 0;
    this.draw();
  }

  update() {
    if (this.shown !== this.state.root) this.fit();
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

  events() {
    this.canvas.addEventListener("mousemove", (event) => {
      if (this.drag) {
        const part = ((event.offsetX - this.drag.x) / this.canvas.clientWidth) * (this.drag.to - this.drag.from);
        this.pan(this.drag.from - part, this.drag.to - part);
        return;
      }
      this.app.showTip(this.hit(event), event);
    });
    this.canvas.addEventListener("mouseleave", () => this.app.showTip(undefined));
    this.canvas.addEventListener("mousedown", (event) => (this.drag = { x: event.offsetX, from: this.from, to: this.to }));
    window.addEventListener("mouseup", (event) => {
      const drag = this.drag;
      this.drag = null;
      if (!drag || event.target !== this.canvas || Math.abs(event.offsetX - drag.x) > 3) return;
      const node = this.hit(event);
      if (node !== undefined) this.state.go({ selected: node }, true);
    });
    this.canvas.addEventListener("dblclick", (event) => {
      const node = this.hit(event);
      if (node !== undefined) this.state.go({ root: node, selected: node });
    });
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (event.ctrlKey) this.zoom(event.deltaY > 0 ? 1.25 : 0.8, event.offsetX / this.canvas.clientWidth);
      else if (event.shiftKey) this.pan(this.from + (event.deltaY / 1000) * (this.to - this.from), this.to + (event.deltaY / 1000) * (this.to - this.from));
      else this.scroll(Math.sign(event.deltaY) * 3);
    }, { passive: false });
  }

  scroll(levels) {
    this.top = Math.min(Math.max(0, this.top + levels), Math.max(0, (this.deepest || 0) - 3));
    this.draw();
  }

  zoom(factor, at = 0.5) {
    const middle = this.from + at * (this.to - this.from);
    const width = Math.min(1, (this.to - this.from) * factor);
    this.pan(middle - at * width, middle + (1 - at) * width);
  }

  pan(from, to) {
    const width = Math.min(1, to - from);
    this.from = Math.min(Math.max(0, from), 1 - width);
    this.to = this.from + width;
    this.draw();
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  paint() {
    const began = performance.now();
    const { profile, root, selected, resource } = this.state;
    const [width, height] = [this.body.clientWidth, this.body.clientHeight];
    const scale = window.devicePixelRatio || 1;
    if (this.canvas.width !== width * scale || this.canvas.height !== height * scale) {
      this.canvas.width = width * scale;
      this.canvas.height = height * scale;
    }
    const context = this.canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    const style = getComputedStyle(document.documentElement);
    context.fillStyle = style.getPropertyValue("--back");
    context.fillRect(0, 0, width, height);
    context.font = "11px ui-monospace, monospace";
    context.textBaseline = "middle";
    const glyph = context.measureText("m").width;
    const rest = style.getPropertyValue("--rest");
    const total = profile.total(resource);
    const whole = total[root];
    this.levels = [];
    this.deepest = 0;
    if (!(whole > 0)) {
      context.fillStyle = style.getPropertyValue("--soft");
      context.fillText(`nothing of ${profile.resources[resource].name} below this context`, 12, 20);
      return;
    }
    const pixels = width / (this.to - this.from);
    // Beginning in pixels, width in pixels.
    const stack = [[root, -this.from * pixels, pixels, 0]];
    const hidden = this.app.mapper;
    while (stack.length) {
      const [node, x, w, level] = stack.pop();
      this.deepest = Math.max(this.deepest, level);
      const y = this.y(level, height);
      if (level >= this.top && y > -LEVEL && y < height) {
        this.box(context, node, Math.max(0, x), Math.min(width, x + w), y, level, glyph, selected, hidden);
      }
      let at = x;
      let left = 0;
      for (const child of this.children(node, resource)) {
        const share = (Math.max(0, total[child]) / whole) * pixels;
        if (share < LEAST) {
          left += share;
          continue;
        }
        if (at + share > 0 && at < width) stack.push([child, at, share, level + 1]);
        at += share;
      }
      if (left >= LEAST && at + left > 0 && at < width && level + 1 >= this.top) {
        context.fillStyle = rest;
        context.fillRect(Math.max(0, at), this.y(level + 1, height), Math.min(left, width - Math.max(0, at)), LEVEL - 1);
      }
    }
    this.took = performance.now() - began;
  }

  /** Sorted children, kept: a frame must not sort. */
  children(node, resource) {
    if (this.sortedOf !== resource) {
      this.sorted = new Map();
      this.sortedOf = resource;
    }
    let list = this.sorted.get(node);
    if (!list) {
      list = this.state.profile.sortedChildren(node, resource);
      this.sorted.set(node, list);
    }
    return list;
  }

  y(level, height) {
    const y = (level - this.top) * LEVEL;
    return this.isFlame ? height - LEVEL - y : y;
  }

  box(context, node, left, right, y, level, glyph, selected, mapper) {
    const width = Math.max(LEAST, right - left - (right - left > 2 ? 1 : 0));
    context.globalAlpha = mapper.isDimmed(node) ? 0.25 : 1;
    context.fillStyle = mapper.colour(node);
    context.fillRect(left, y, width, LEVEL - 1);
    if (node === selected) {
      context.strokeStyle = "#000";
      context.lineWidth = 2;
      context.strokeRect(left + 1, y + 1, Math.max(1, width - 2), LEVEL - 3);
    }
    const room = Math.floor((width - 6) / glyph);
    if (room >= 3) {
      const label = this.state.profile.label(node);
      const text = label.length <= room ? label : short(label).length <= room ? short(label) : `${short(label).slice(0, room - 1)}\u2026`;
      context.fillStyle = "#101418";
      context.fillText(text, left + 3, y + LEVEL / 2);
    }
    context.globalAlpha = 1;
    (this.levels[level] ??= []).push([left, right, node]);
  }

  /** The context under the mouse. */
  hit(event) {
    const y = this.isFlame ? this.body.clientHeight - event.offsetY : event.offsetY;
    const level = Math.floor(y / LEVEL) + this.top;
    return this.levels?.[level]?.find(([left, right]) => event.offsetX >= left && event.offsetX < right)?.[2];
  }

  picture() {
    return { name: "flame.png", url: this.canvas.toDataURL("image/png") };
  }
}
