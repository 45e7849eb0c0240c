// Trees as boxes: each as wide as its share of a resource, callees beside each other, the largest left. Exact calls and figures, no samples. What
// is narrower than half a pixel is drawn together with its neighbours.
"use strict";

const LEVEL = 18;
const LEAST = 0.6;
/** Pixels of a picture that is saved: browsers refuse much more. */
const MOST_HIGH = 16000;
/** The colour of what was searched for: no other box has it. */
const HIT = "#ffd21f";

/** A canvas that is zoomed and moved; those that extend it say what is painted, and what a click does. */
class IcicleView {
  constructor(app, parent, common, label) {
    this.app = app;
    this.state = app.state;
    this.tools = new Toolbar(app, parent, common);
    this.body = element("div", { class: "body" });
    this.canvas = element("canvas", { role: "img", "aria-label": label });
    this.body.style.overflow = "hidden";
    this.body.append(this.canvas);
    parent.append(this.body);
    /** The part of the whole width that is seen. */
    this.from = 0;
    this.to = 1;
    this.top = 0;
    this.events();
    new ResizeObserver(() => this.draw()).observe(this.body);
  }

  fit() {
    this.top = 0;
    this.pan(0, 1);
  }

  events() {
    this.canvas.addEventListener("mousemove", (event) => {
      if (this.drag) {
        const part = ((event.offsetX - this.drag.x) / this.canvas.clientWidth) * (this.drag.to - this.drag.from);
        this.pan(this.drag.from - part, this.drag.to - part);
        return;
      }
      this.tip(this.hit(event), event);
    });
    this.canvas.addEventListener("mouseleave", () => this.app.showTip(undefined));
    this.canvas.addEventListener("mousedown", (event) => (this.drag = { x: event.offsetX, from: this.from, to: this.to }));
    window.addEventListener("mouseup", (event) => {
      const drag = this.drag;
      this.drag = null;
      if (!drag || event.target !== this.canvas || Math.abs(event.offsetX - drag.x) > 3) return;
      const box = this.hit(event);
      // The panel that opens with the first click of two makes the canvas narrower.
      if (event.detail < 2) this.first = box;
      if (box !== undefined) this.click(box);
    }, { signal: this.app.gone.signal });
    this.canvas.addEventListener("dblclick", () => this.first !== undefined && this.doubleClick(this.first));
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (event.ctrlKey) this.zoom(event.deltaY > 0 ? 1.25 : 0.8, event.offsetX / this.canvas.clientWidth);
      else if (event.shiftKey) this.pan(this.from + (event.deltaY / 1000) * (this.to - this.from), this.to + (event.deltaY / 1000) * (this.to - this.from));
      else this.scroll(Math.sign(event.deltaY) * 3);
    }, { passive: false });
  }

  doubleClick() {}

  scroll(levels) {
    this.top = Math.min(Math.max(this.highest || 0, this.top + levels), Math.max(0, (this.deepest || 0) - 3));
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
    this.keep();
  }

  /** Puts what is seen into the address: not for every step of a wheel. */
  keep() {
    // Of this view: another one draws another tree.
    const zoom = this.from <= 0 && this.to >= 1 ? "" : `${this.app.shown}:${this.from.toFixed(7)}-${this.to.toFixed(7)}`;
    clearTimeout(this.late);
    this.late = setTimeout(() => {
      if (this.app.view !== this || zoom === this.state.at.zoom) return;
      this.zoomed = zoom;
      this.state.go({ zoom }, true);
    }, 120);
  }

  /** Takes what is seen from the address. */
  readZoom() {
    const { zoom } = this.state.at;
    if (zoom === this.zoomed) return;
    this.zoomed = zoom;
    const [view, part = ""] = zoom.split(":");
    const [from, to] = (view === this.app.shown ? part : "").split("-").map(Number);
    [this.from, this.to] = from >= 0 && to <= 1 && from < to ? [from, to] : [0, 1];
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  /** Paints what there is to see. */
  paint() {
    const began = performance.now();
    this.paintOn(this.canvas, this.body.clientWidth, this.body.clientHeight);
    this.took = performance.now() - began;
    // Nothing waits to be painted.
    this.frame = undefined;
  }

  /** Empties a canvas, and paints on it. */
  paintOn(canvas, width, height) {
    const scale = window.devicePixelRatio || 1;
    if (canvas.width !== width * scale || canvas.height !== height * scale) {
      canvas.width = width * scale;
      canvas.height = height * scale;
    }
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    this.style = getComputedStyle(document.documentElement);
    context.fillStyle = this.style.getPropertyValue("--back");
    context.fillRect(0, 0, width, height);
    context.font = "11px ui-monospace, monospace";
    context.textBaseline = "middle";
    this.glyph = context.measureText("m").width;
    this.context = context;
    this.width = width;
    this.height = height;
    this.content();
  }

  /** All of it as a picture, and not only what is seen; `height()`: how high it is, once it was painted. */
  whole(name, height) {
    const canvas = element("canvas");
    const width = this.body.clientWidth;
    const kept = [this.from, this.to, this.top];
    [this.from, this.to, this.top] = [0, 1, 0];
    this.paintOn(canvas, width, this.body.clientHeight);
    const [all, most] = [height(), Math.floor(MOST_HIGH / (window.devicePixelRatio || 1))];
    this.paintOn(canvas, width, Math.min(all, most));
    [this.from, this.to, this.top] = kept;
    this.paint();
    const note = all > most ? `: its first ${count(most)} pixels of ${count(all)}` : "";
    return { name: `${name}.png`, url: canvas.toDataURL("image/png"), note };
  }

  /** A line of text instead of boxes. */
  say(text) {
    this.context.fillStyle = this.style.getPropertyValue("--soft");
    this.context.fillText(text, 12, 20);
  }

  /**
   * Paints a tree: `root`, `total(box)`, `children(box)`, the largest first, and `node(box)`, a context that has its label and colour. `y(level)` is
   * where a level begins in the canvas. Gives the boxes that were painted, by level: left, right, box.
   */
  boxes(tree, y, selected) {
    const { context, width, height } = this;
    const whole = tree.total(tree.root);
    const pixels = width / (this.to - this.from);
    const isSeen = (level) => y(level) > -LEVEL && y(level) < height;
    const levels = [];
    // Beginning in pixels, width in pixels.
    const stack = [[tree.root, -this.from * pixels, pixels, 0]];
    while (stack.length) {
      const [box, x, w, level] = stack.pop();
      const place = (levels[level] ??= []);
      if (isSeen(level)) {
        const [left, right] = [Math.max(0, x), Math.min(width, x + w)];
        this.box(tree.node(box), left, right, y(level), tree.node(box) === selected);
        place.push([left, right, box]);
      }
      let at = x;
      let rest = 0;
      for (const child of tree.children(box)) {
        const share = (Math.max(0, tree.total(child)) / whole) * pixels;
        if (share < LEAST) {
          rest += share;
          continue;
        }
        if (at + share > 0 && at < width) stack.push([child, at, share, level + 1]);
        at += share;
      }
      if (rest >= LEAST && at + rest > 0 && at < width && isSeen(level + 1)) {
        context.fillStyle = this.style.getPropertyValue("--rest");
        context.fillRect(Math.max(0, at), y(level + 1), Math.min(rest, width - Math.max(0, at)), LEVEL - 1);
      }
    }
    return levels;
  }

  box(node, left, right, y, isSelected) {
    const { context, glyph } = this;
    const { mapper } = this.app;
    const width = Math.max(LEAST, right - left - (right - left > 2 ? 1 : 0));
    context.globalAlpha = mapper.isDimmed(node) ? 0.25 : 1;
    context.fillStyle = this.app.finder.isHit(node) ? HIT : mapper.colour(node);
    context.fillRect(left, y, width, LEVEL - 1);
    const { sides } = this.state.profile;
    if (sides?.isUnknown(this.state.resource, node)) this.hatch(left, y, width);
    if (isSelected) {
      context.strokeStyle = "#000";
      context.lineWidth = 2;
      context.strokeRect(left + 1, y + 1, Math.max(1, width - 2), LEVEL - 3);
    }
    const text = fitting(this.state.profile.label(node), Math.floor((width - 6) / glyph));
    if (text) {
      context.fillStyle = "#101418";
      context.fillText(text, left + 3, y + LEVEL / 2);
    }
    context.globalAlpha = 1;
  }

  /** What is not known to differ is hatched. */
  hatch(left, y, width) {
    const { context } = this;
    context.strokeStyle = "#8a939c";
    context.lineWidth = 0.7;
    context.beginPath();
    for (let x = left; x < left + width; x += 7) {
      const end = Math.min(x + 7, left + width);
      context.moveTo(x, y + LEVEL - 1);
      context.lineTo(end, y + LEVEL - 1 - (end - x) * (LEVEL - 1) / 7);
    }
    context.stroke();
  }

  /** The box of a level under the mouse. */
  at(levels, level, event) {
    return levels?.[level]?.find(([left, right]) => event.offsetX >= left && event.offsetX < right)?.[2];
  }
}

/** A box with as much of its name as there is room for. */
function boxOf(context, { x, y, w, h }, colour, label, glyph) {
  context.fillStyle = colour;
  context.fillRect(x, y, Math.max(LEAST, w - (w > 2 ? 1 : 0)), h);
  const text = h < 10 ? "" : fitting(label, Math.floor((w - 6) / glyph));
  if (!text) return;
  context.fillStyle = "#101418";
  context.fillText(text, x + 3, y + h / 2);
}
