// What fits a question: the hits, how much of the resource is in them, and Find next.
"use strict";

/** Attributes of a method: each method is asked once. */
const OF_METHODS = ["method", "class", "package", "kind", "file"];

class Finder {
  constructor(state) {
    this.state = state;
    this.key = "";
  }

  /** Takes the question of the address. */
  update() {
    const { find, by, order, from } = this.state.at;
    const isFromHere = from === "here";
    const question = JSON.stringify([by, find, order, isFromHere]);
    // Where the search began, as long as it goes on.
    if (question !== this.question) this.top = this.state.selected;
    this.question = question;
    this.hits(Object.hasOwn(ATTRIBUTES, by) ? by : "method", find, order === "breadth", isFromHere);
  }

  /** Looks for the hits again if the question is another one. Undefined: it cannot be read. */
  hits(attribute, text, isBreadthFirst, isFromHere) {
    const { profile, resource } = this.state;
    const top = isFromHere ? this.top : 0;
    const key = JSON.stringify([attribute, text, isBreadthFirst, top, resource]);
    if (key === this.key) return this.found;
    this.key = key;
    this.at = -1;
    this.found = this.marks = this.ofFunctions = this.test = undefined;
    const fits = matcher(attribute, text);
    if (!fits || !text.trim()) return undefined;
    const isFigure = ATTRIBUTES[attribute].isFigure;
    this.test = isFigure ? undefined : fits;
    const { of } = ATTRIBUTES[attribute];
    const marks = new Uint8Array(profile.count);
    if (OF_METHODS.includes(attribute)) {
      const found = new Int32Array(profile.functions.length).fill(-1);
      for (let i = 1; i < profile.count; i++) {
        const fn = profile.fn[i];
        if (found[fn] < 0) found[fn] = fits(of(profile, i)) ? 1 : 0;
        marks[i] = found[fn];
      }
      this.ofFunctions = found;
    } else {
      for (let i = 1; i < profile.count; i++) marks[i] = fits(of(profile, i, resource)) ? 1 : 0;
    }
    if (top !== 0) keepBelow(profile, marks, top);
    this.marks = marks;
    this.found = Array.from(profile.order(isBreadthFirst).filter((node) => marks[node] === 1));
    this.sum = sumOf(profile, marks, resource);
    return this.found;
  }

  isHit(node) {
    return this.marks !== undefined && this.marks[node] === 1;
  }

  isHitFunction(fn) {
    return this.ofFunctions !== undefined && this.ofFunctions[fn] === 1;
  }

  /** Whether a name of a row that is no context fits. */
  fits(text) {
    return this.test !== undefined && this.test(text);
  }

  /** Whether a single call fits, by its name and how long it took; undefined: what is asked for is no matter of single calls. */
  ofCalls() {
    const { at, profile } = this.state;
    const by = Object.hasOwn(ATTRIBUTES, at.by) ? at.by : "method";
    const fits = matcher(by, at.find);
    const isOfMethod = OF_METHODS.includes(by);
    if (!fits || !(isOfMethod || by === "took")) return undefined;
    return (name, ns) => (isOfMethod ? fits(ofMethod(profile, by, name)) : fits(ns));
  }

  /** How many hits, and how much is in them. */
  words() {
    const { profile, resource, at } = this.state;
    if (!at.find.trim()) return "";
    if (!this.found) return "a number is needed, such as >= 10 ms";
    if (!this.found.length) return "no hit";
    const all = this.found.length === 1 ? "1 hit" : `${count(this.found.length)} hits`;
    const total = profile.total(resource)[0];
    const share = total > 0 ? `, ${percent(this.sum, total)} % of ${profile.resources[resource].name}` : "";
    return `${this.at < 0 ? "" : `${count(this.at + 1)} of `}${all}${share}`;
  }

  /** Selects the next hit, or the one before. */
  next(step = 1) {
    const { state, found } = this;
    if (!found?.length) return;
    this.at = this.at < 0 && step < 0 ? found.length - 1 : (this.at + step + found.length) % found.length;
    const node = found[this.at];
    state.reveal(node);
    // The views that show contexts stay; others cannot show it.
    const view = ["tree", "graph", "flame", "sandwich"].includes(state.at.view) ? state.at.view : "tree";
    const isBelow = state.profile.path(node).includes(state.root);
    state.go({ selected: node, view, ...(isBelow ? {} : { root: 0 }) }, true);
  }
}

/** Takes away marks that are not below a context. */
function keepBelow(profile, marks, top) {
  const inside = new Uint8Array(profile.count);
  inside[top] = 1;
  marks.fill(0, 0, top + 1);
  for (let i = top + 1; i < profile.count; i++) {
    inside[i] = inside[profile.parent[i]];
    if (!inside[i]) marks[i] = 0;
  }
}

/** What the marked contexts have with all below them; one within another does not count twice. */
function sumOf(profile, marks, resource) {
  const total = profile.total(resource);
  const within = new Uint8Array(profile.count);
  let sum = 0;
  for (let i = 1; i < profile.count; i++) {
    within[i] = within[profile.parent[i]] | marks[i];
    if (marks[i] && !within[profile.parent[i]]) sum += total[i];
  }
  return sum;
}
