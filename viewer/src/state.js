// What is shown. It is always in the address, so that back, forward, bookmarks and links work.
"use strict";

const DEFAULTS = { view: "summary", resource: "", root: "root", selected: "root", sort: "", filter: "", part: "", row: "", refresh: "", lane: "", span: "", window: "", rules: "", isolate: "", code: "" };

class State {
  constructor(profile, changed) {
    this.profile = profile;
    this.changed = changed;
    this.at = { ...DEFAULTS };
    /** Contexts whose children are shown. */
    this.open = new Set([0]);
    for (let i = 1; i < profile.count; i++) if (["process", "thread"].includes(profile.kind(i))) this.open.add(i);
    this.read();
    window.addEventListener("hashchange", () => {
      if (location.hash === this.written) return;
      this.read();
      this.changed();
    });
  }

  read() {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const key of Object.keys(DEFAULTS)) this.at[key] = given.get(key) ?? DEFAULTS[key];
    this.written = location.hash;
    this.root = this.profile.find(this.at.root) ?? 0;
    this.selected = this.profile.find(this.at.selected) ?? 0;
    this.reveal(this.selected);
  }

  /** Opens what leads to a context. */
  reveal(node) {
    for (; node !== 0; node = this.profile.parent[node]) this.open.add(this.profile.parent[node]);
  }

  /** Changes what is shown; small changes replace the entry of the history. */
  go(change, isSmall = false) {
    if ("root" in change) this.root = change.root;
    if ("selected" in change) this.selected = change.selected;
    const text = { ...change };
    if ("root" in change) text.root = this.profile.key(change.root);
    if ("selected" in change) text.selected = this.profile.key(change.selected);
    Object.assign(this.at, text);
    const words = new URLSearchParams();
    for (const [key, value] of Object.entries(this.at)) if (value !== DEFAULTS[key]) words.set(key, value);
    this.written = `#${words}`;
    if (this.written !== location.hash) {
      if (isSmall) location.replace(this.written);
      else location.hash = this.written;
      this.written = location.hash;
    }
    this.changed();
  }

  /** The resource that is shown. */
  get resource() {
    const at = this.profile.resources.findIndex((resource) => resource.name === this.at.resource);
    return at >= 0 ? at : this.profile.header.first;
  }
}
