// What keys do.
"use strict";

const KEYS = [
  ["1 \u2026 9", "views, in the order of their tabs"],
  ["[ ]", "the view before, the next view"],
  ["g", "Tree: as a table, as a figure"],
  ["\u2191 \u2193", "previous and next row, or caller and callee in Flame and Sandwich"],
  ["\u2192 \u2190", "open and close a context, its neighbours in Flame, or later and earlier in Timeline"],
  ["Home End", "the first row, the last row; Page Up and Page Down: as many rows as are seen"],
  ["Enter", "the selected context becomes the root; the selected row of a table is shown in the tree"],
  ["u", "up one level: the caller of the root becomes the root"],
  ["r", "reset the root"],
  ["l", "open the next level"],
  ["/", "find"],
  ["n, N", "find next, find the one before"],
  ["+ \u2212 0", "zoom in, out, fit"],
  ["w a s d", "zoom and move in Flame, Sandwich and Timeline"],
  ["e", "Timeline: what is seen becomes the window"],
  ["k", "Timeline: pin the selected row, or let it go"],
  ["mouse", "Flame, Sandwich: wheel scrolls, with Ctrl zooms, drag moves. Timeline: drag for a window, Shift and drag moves; pale: several calls beside each other"],
  ["i", "the panel with what is selected: open, closed"],
  ["m", "mapper and key"],
  ["p", "refresh every 5 s, pause: of a program that still runs"],
  ["t", "from now on, or since the start: of a program that still runs"],
  ["c", "copy the command that prints the same"],
  ["x", "save what is seen"],
  ["Alt \u2190", "back: every step is in the history of the browser"],
  ["Esc", "close, or clear the search"],
];

class Keys {
  constructor(app) {
    this.app = app;
    document.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isField = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName);
    if (event.key === "Escape" && isField) {
      event.target.blur();
      if (event.target.id === "find-text") this.app.search.close();
      return;
    }
    // What can be scrolled by itself is.
    if (/^(Arrow|Home|End|Page)/.test(event.key) && event.target.closest?.("#side, #crumbs, .page")) return;
    if (isField || document.querySelector("dialog[open]")) return;
    const act = this.acts()[event.key];
    // A button that has the focus is pressed by Enter.
    if (!act || (event.key === "Enter" && ["BUTTON", "SUMMARY"].includes(event.target.tagName))) return;
    event.preventDefault();
    act();
  }

  acts() {
    const { app } = this;
    const boxes = app.view instanceof IcicleView ? app.view : undefined;
    const acts = {
      "/": () => app.search.open(),
      Escape: () => app.search.close(),
      n: () => app.search.next(),
      N: () => app.search.next(-1),
      g: () => ["tree", "graph"].includes(app.shown) && app.go(app.shown === "tree" ? "graph" : "tree"),
      i: () => app.side.toggle(),
      u: () => app.up(),
      r: () => app.reset(),
      l: () => app.tree.openLevel(),
      m: () => app.mapping(),
      c: () => app.copy(),
      x: () => app.save(),
      p: () => app.live?.pause(),
      t: () => app.live?.since(),
      "?": () => app.help(),
      e: () => app.view.enclose?.(),
      k: () => app.view.togglePin?.(app.view.selectedRow),
      Enter: () => (app.view.enter ? app.view.enter() : app.rootHere()),
      "[": () => app.tabs.beside(app.shown, -1),
      "]": () => app.tabs.beside(app.shown, 1),
      ArrowDown: () => this.step(boxes ? "callee" : "next"),
      ArrowUp: () => this.step(boxes ? "caller" : "previous"),
      ArrowRight: () => this.step(boxes ? "right" : "open"),
      ArrowLeft: () => this.step(boxes ? "left" : "close"),
      Home: () => boxes || this.step("first"),
      End: () => boxes || this.step("last"),
      PageUp: () => boxes || this.step("page before"),
      PageDown: () => boxes || this.step("page after"),
      "+": () => (boxes ? boxes.zoom(0.8) : document.getElementById("wider")?.click()),
      "-": () => (boxes ? boxes.zoom(1.25) : document.getElementById("narrower")?.click()),
      0: () => boxes?.fit(),
      w: () => boxes?.zoom(0.8),
      s: () => boxes?.zoom(1.25),
      a: () => boxes?.pan(boxes.from - 0.1 * (boxes.to - boxes.from), boxes.to - 0.1 * (boxes.to - boxes.from)),
      d: () => boxes?.pan(boxes.from + 0.1 * (boxes.to - boxes.from), boxes.to + 0.1 * (boxes.to - boxes.from)),
    };
    app.tabs.list.forEach(([key], i) => (i < 9 && (acts[String(i + 1)] = () => app.go(key))));
    return acts;
  }

  /** Moves the selection. */
  step(how) {
    const { app } = this;
    if (app.view.step) return app.view.step(how);
    const { profile, state } = app;
    const node = state.selected;
    const list = app.view.list?.nodes ? app.view.list : undefined;
    const at = list?.nodes.indexOf(node) ?? -1;
    const siblings = () => profile.sortedChildren(profile.parent[node], state.resource);
    const go = (target) => target !== undefined && state.go({ selected: target }, true);
    const isOpen = state.open.has(node) && !profile.isLeaf(node);
    if (ROWS_BY[how]) return go(list?.nodes[rowAfter(at, how, list.nodes.length)]);
    switch (how) {
      case "open":
        if (profile.isLeaf(node)) return undefined;
        return isOpen ? go(list?.nodes[at + 1]) : app.tree.toggle(node);
      case "close":
        if (isOpen && node !== state.root) return app.tree.toggle(node);
        return go(list?.nodes[list.parents[at]]);
      case "callee": return go(profile.sortedChildren(node, state.resource)[0]);
      case "caller": return node === state.root ? undefined : go(profile.parent[node]);
      case "right": return node === 0 ? undefined : go(siblings()[siblings().indexOf(node) + 1]);
      case "left": return node === 0 ? undefined : go(siblings()[siblings().indexOf(node) - 1]);
    }
    return undefined;
  }
}
