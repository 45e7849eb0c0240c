// Find next: the next context that fits, depth first or breadth first, from the root or from here; counts the hits.
"use strict";

class Finder {
  constructor(state) {
    this.state = state;
    this.key = "";
  }

  /** Looks for the hits again if the question is another one. Undefined: it cannot be read. */
  hits(attribute, text, isBreadthFirst, isFromHere) {
    const { profile } = this.state;
    const top = isFromHere ? this.top : 0;
    const key = JSON.stringify([attribute, text, isBreadthFirst, top, this.state.resource]);
    if (key === this.key) return this.found;
    const fits = matcher(attribute, text);
    this.key = key;
    this.found = undefined;
    if (!fits || !text.trim()) return undefined;
    const { of } = ATTRIBUTES[attribute];
    // Most attributes are those of the consumer: each is asked once.
    const isOfFunction = ["method", "class", "package", "kind", "file"].includes(attribute);
    const known = new Int8Array(profile.functions.length);
    const found = [];
    const inside = top === 0 ? null : new Uint8Array(profile.count);
    if (inside) {
      inside[top] = 1;
      for (let i = top + 1; i < profile.count; i++) inside[i] = inside[profile.parent[i]];
    }
    for (const node of profile.order(isBreadthFirst)) {
      if (node === 0 || (inside && !inside[node])) continue;
      if (isOfFunction) {
        const fn = profile.fn[node];
        if (known[fn] === 0) known[fn] = fits(of(profile, node)) ? 1 : -1;
        if (known[fn] > 0) found.push(node);
      } else if (fits(of(profile, node, this.state.resource))) {
        found.push(node);
      }
    }
    this.found = found;
    this.at = -1;
    return found;
  }

  /** Selects the next hit, or the one before. */
  next(step = 1) {
    const value = (id) => document.getElementById(id).value;
    const isFromHere = value("find-from") === "here";
    const text = value("find-text");
    const question = JSON.stringify([value("find-attribute"), text, value("find-order"), isFromHere]);
    // Where the search began, as long as it goes on.
    if (question !== this.question) this.top = this.state.selected;
    this.question = question;
    const found = this.hits(value("find-attribute"), text, value("find-order") === "breadth", isFromHere);
    const out = document.getElementById("find-hits");
    if (!found) {
      out.textContent = text.trim() ? "a number is needed, such as >= 10 ms" : "";
      return;
    }
    if (!found.length) {
      out.textContent = "no hit";
      return;
    }
    this.at = (this.at + step + found.length) % found.length;
    const node = found[this.at];
    out.textContent = `${count(this.at + 1)} of ${count(found.length)}`;
    this.state.reveal(node);
    // The views that show contexts stay; others cannot show it.
    const view = ["tree", "graph", "flame", "sandwich"].includes(this.state.at.view) ? this.state.at.view : "tree";
    const { profile } = this.state;
    const isBelow = profile.path(node).includes(this.state.root);
    this.state.go({ selected: node, view, ...(isBelow ? {} : { root: 0 }) }, true);
  }
}
