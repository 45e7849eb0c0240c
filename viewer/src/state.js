// What is shown. It is always in the address, so that back, forward, bookmarks and links work.
"use strict";

const DEFAULTS = {
  view: "summary", resource: "", root: "root", selected: "root", sort: "", filter: "", part: "", row: "", refresh: "", lane: "", span: "", window: "", rules: "", isolate: "", code: "",
  find: "", by: "method", order: "depth", from: "root", opened: "", chains: "", zoom: "", theme: "", side: "", mapper: "", pinned: "", call: "",
};

/** Opened contexts that the address has room for. */
const MOST_KEYS = 200;

class State {
  constructor(profile, changed) {
    this.changed = changed;
    this.at = { ...DEFAULTS };
    this.adopt(profile);
    window.addEventListener("hashchange", () => {
      if (location.hash === this.written) return;
      this.read();
      this.changed();
    });
  }

  /** Another document, such as a newer one: what is shown is found again by the address. */
  adopt(profile) {
    // The address has room for some of the opened contexts only.
    const opened = this.profile ? [...this.open].map((node) => this.profile.key(node)) : [];
    this.profile = profile;
    this.read();
    for (const node of profile.findAll(opened).values()) this.open.add(node);
  }

  read() {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const key of Object.keys(DEFAULTS)) this.at[key] = given.get(key) ?? DEFAULTS[key];
    this.written = location.hash;
    const opened = this.at.opened.split(".").filter(Boolean).slice(0, MOST_KEYS);
    const known = this.profile.findAll([this.at.root, this.at.selected, ...opened]);
    this.root = known.get(this.at.root) ?? 0;
    this.selected = known.get(this.at.selected) ?? 0;
    /** Contexts whose children are shown. */
    this.open = this.firstOpen();
    for (const key of opened) {
      const node = known.get(key);
      if (node !== undefined && !this.open.delete(node)) this.open.add(node);
    }
    this.reveal(this.selected);
  }

  /** Those that are open at first: down to the threads. */
  firstOpen() {
    if (this.firstOf !== this.profile) {
      this.firstOf = this.profile;
      this.first = [0];
      for (let i = 1; i < this.profile.count; i++) if (["process", "thread"].includes(this.profile.kind(i))) this.first.push(i);
    }
    return new Set(this.first);
  }

  /** Which contexts are not as they are at first. */
  openKeys() {
    const first = this.firstOpen();
    const others = [...this.open].filter((node) => !first.has(node)).concat([...first].filter((node) => !this.open.has(node)));
    return others.slice(0, MOST_KEYS).map((node) => this.profile.key(node)).join(".");
  }

  /** Opens what leads to a context. */
  reveal(node) {
    for (; node !== 0; node = this.profile.parent[node]) this.open.add(this.profile.parent[node]);
  }

  /** Changes what is shown; small changes replace the entry of the history. */
  go(change, isSmall = false) {
    // What was zoomed to is a part of another tree.
    const isOther = "root" in change && change.root !== this.root;
    if ("root" in change) this.root = change.root;
    if ("selected" in change) {
      this.selected = change.selected;
      this.reveal(change.selected);
    }
    // Of another context it would be another call.
    const text = { ...("selected" in change ? { call: "" } : {}), ...(isOther ? { zoom: "" } : {}), ...change, opened: this.openKeys() };
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
