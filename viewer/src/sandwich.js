// A method with all its calls merged: above it who called it, below it what it called. The same as `instrument xtree --focus`.
"use strict";

/** A tree of merged contexts: 0 is its root, parents before children. */
class Merged {
  constructor() {
    this.parent = [0];
    this.fn = [-1];
    this.calls = [0];
    this.base = [0];
    /** The context that took most of those that are merged. */
    this.context = [0];
    this.most = [-1];
    this.places = new Map();
    this.below = [[]];
  }

  child(parent, fn) {
    const key = `${parent} ${fn}`;
    let place = this.places.get(key);
    if (place === undefined) {
      place = this.parent.length;
      this.places.set(key, place);
      this.parent.push(parent);
      this.fn.push(fn);
      this.calls.push(0);
      this.base.push(0);
      this.context.push(0);
      this.most.push(-1);
      this.below.push([]);
      this.below[parent].push(place);
    }
    return place;
  }

  meet(place, node, calls, total) {
    this.calls[place] += calls;
    if (total > this.most[place]) [this.most[place], this.context[place]] = [total, node];
  }

  /** Adds up the totals, and sorts as xtree does. */
  finish(name) {
    this.total = this.base.slice();
    for (let i = this.total.length - 1; i > 0; i--) this.total[this.parent[i]] += this.total[i];
    for (const list of this.below) {
      list.sort((a, b) => this.total[b] - this.total[a] || (name(this.fn[a]) < name(this.fn[b]) ? -1 : 1));
    }
    return this;
  }

  /** For IcicleView. */
  get tree() {
    return { root: this.below[0][0], total: (i) => this.total[i], children: (i) => this.below[i], node: (i) => this.context[i] };
  }
}

/**
 * A method's callees and callers, as crates/analysis/src/report/focus.rs merges them: a call within a call of the method is part of it, so nothing
 * counts twice; a caller's total is what the method consumed on its behalf.
 */
function focusOn(profile, fn, resource) {
  const [base, total] = [profile.base(resource), profile.total(resource)];
  const [callees, callers] = [new Merged(), new Merged()];
  const places = new Int32Array(profile.count);
  for (let i = 1; i < profile.count; i++) {
    const within = places[profile.parent[i]];
    if (!within && profile.fn[i] !== fn) continue;
    const place = callees.child(within, profile.fn[i]);
    places[i] = place;
    callees.meet(place, i, profile.calls[i], total[i]);
    callees.base[place] += base[i];
    if (within) continue;
    let above = 0;
    for (let at = i; at !== 0; at = profile.parent[at]) {
      above = callers.child(above, profile.fn[at]);
      callers.meet(above, at, profile.calls[i], total[i]);
    }
    callers.base[above] += total[i];
  }
  const name = (f) => profile.functions[f].name;
  return { callees: callees.finish(name), callers: callers.finish(name) };
}

class SandwichView extends IcicleView {
  constructor(app, parent) {
    super(app, parent, [], "Callers above the method, callees below; instrument xtree --focus prints the same");
    this.tools.button("fit", "Fit", "The whole width of the method (0)", () => this.fit());
    this.title = element("span", { id: "sandwich-title" });
    this.tools.body.append(this.title, element("span", { class: "kind" }, "click: the method of the box; wheel: scroll, with Ctrl zoom; drag: move"));
  }

  /** The method of the selected context, or the one that work such as class loading was done for; if there is none, the method that took most itself. */
  method() {
    const { profile, selected, resource } = this.state;
    for (let node = selected; node !== 0; node = profile.parent[node]) if (profile.kind(node) === "method") return profile.fn[node];
    let best;
    profile.functions.forEach((f, i) => {
      const self = (at) => profile.functions[at].base?.[resource] ?? 0;
      if (f.kind === "method" && f.contexts > 0 && (best === undefined || self(i) > self(best))) best = i;
    });
    return best;
  }

  update() {
    const { profile, resource } = this.state;
    const fn = this.method();
    if (this.fn !== fn) {
      const isFirst = this.fn === undefined;
      this.fn = fn;
      this.focus = fn === undefined ? undefined : focusOn(profile, fn, resource);
      if (!isFirst) this.fit();
    }
    this.readZoom();
    const { callees } = this.focus || {};
    this.title.textContent = callees ? `${short(profile.labels[fn])}: ${count(profile.functions[fn].calls)} calls, total ${this.app.mark(profile.functions[fn], resource, "cum")}${this.app.amount(callees.total[0], resource)}, ${percent(callees.total[0], profile.total(resource)[0])} %` : "";
    this.draw();
  }

  content() {
    const { profile, selected, resource } = this.state;
    this.up = this.down = [];
    this.deepest = this.highest = 0;
    if (!(this.focus?.callees.total[0] > 0)) {
      this.say(`nothing of ${profile.resources[resource].name} in ${this.fn === undefined ? "any method" : profile.labels[this.fn]}`);
      return;
    }
    // The method is in the first row of both; it stays where there is room for its callers.
    this.middle = this.above ?? Math.floor(this.height / LEVEL / 2);
    this.up = this.boxes(this.focus.callers.tree, (level) => this.y(-level), selected);
    this.down = this.boxes(this.focus.callees.tree, (level) => this.y(level), selected);
    this.highest = Math.min(0, this.middle - this.up.length + 1);
    this.deepest = Math.max(0, this.down.length - this.middle + 3);
  }

  y(level) {
    return (this.middle + level - this.top) * LEVEL;
  }

  hit(event) {
    if (!this.focus) return undefined;
    const level = Math.floor(event.offsetY / LEVEL) + this.top - this.middle;
    const [levels, merged] = level < 0 ? [this.up, this.focus.callers] : [this.down, this.focus.callees];
    const box = this.at(levels, Math.abs(level), event);
    return box === undefined ? undefined : { merged, box };
  }

  tip(hit, event) {
    if (!hit) {
      this.app.showTip(undefined);
      return;
    }
    const { profile, resource } = this.state;
    const { merged, box } = hit;
    const { name } = profile.resources[resource];
    const of = merged === this.focus.callers && merged.parent[box] !== 0 ? `, for ${short(profile.labels[this.fn])}` : "";
    this.app.showText(`${profile.label(merged.context[box])}: ${count(merged.calls[box])} calls${of}, ${name} ${this.app.amount(merged.total[box], resource)} total (${percent(merged.total[box], merged.total[0])} %)`, event);
  }

  /** To the method that has most, of the callers or the callees. */
  step(how) {
    const { profile } = this.state;
    const merged = { caller: this.focus?.callers, callee: this.focus?.callees }[how];
    const box = merged?.below[merged.tree.root]?.find((of) => profile.functions[merged.fn[of]].kind === "method");
    if (box !== undefined) this.click({ merged, box });
  }

  click({ merged, box }) {
    this.state.go({ selected: merged.context[box] });
  }

  picture() {
    const picture = this.whole("sandwich", () => {
      this.above = Math.max(0, this.up.length - 1);
      return Math.max(1, this.above + this.down.length) * LEVEL;
    });
    this.above = undefined;
    this.paint();
    return picture;
  }
}
