// The page: its parts, what is shown, and what several views do alike.
"use strict";

/** Contexts on the way from the root that are named. */
const MOST_CRUMBS = 40;

class App {
  constructor(profile) {
    this.state = new State(profile, () => this.update());
    this.finder = new Finder(this.state);
    this.mapper = new Mapper(this.state);
    this.tree = new OpenTree(this);
    this.tabs = new Tabs(this);
    this.search = new SearchLine(this);
    this.side = new SidePanel(this);
    const resources = document.getElementById("resource");
    resources.onchange = () => this.state.go({ resource: resources.value });
    for (const [id, act] of [["mapper-button", () => this.mapping()], ["help-button", () => this.help()], ["theme", () => this.theme()], ["copy", () => this.copy()], ["save", () => this.save()]]) {
      document.getElementById(id).onclick = act;
    }
    this.keys = new Keys(this);
    if (profile.header.about.is_live) this.live = new Live(this);
    takeDropped(this);
    this.adopt(profile);
  }

  /** Shows a document: the first one, or a newer one of the same program, in which all that is shown is found again. */
  adopt(profile) {
    const held = document.activeElement;
    const marked = held?.tagName === "INPUT" ? [held.selectionStart, held.selectionEnd] : undefined;
    const scrolled = [...document.querySelectorAll("#view .body")].map((body) => [body.scrollTop, body.scrollLeft]);
    this.profile = profile;
    this.code = undefined;
    this.state.adopt(profile);
    this.finder.key = this.mapper.text = this.shown = undefined;
    usualColours.clear();
    const { about, refusal, overview } = profile.header;
    document.title = `${about.title} \u2013 instrument`;
    document.getElementById("title").textContent = about.title;
    document.getElementById("title").title = about.files.join(" ");
    const alert = document.getElementById("refusal");
    // What is wrong with the figures stands above every view.
    alert.textContent = [refusal, ...(overview?.wrong ?? [])].filter(Boolean).join("\n");
    alert.hidden = alert.textContent === "";
    document.body.classList.toggle("sides", profile.sides !== undefined);
    this.views = viewsOf(profile);
    this.tabs.show(this.views);
    this.resources();
    this.update();
    document.querySelectorAll("#view .body").forEach((body, i) => scrolled[i] && ([body.scrollTop, body.scrollLeft] = scrolled[i]));
    // Who types goes on, though the field is another one.
    const again = held?.id && !held.isConnected ? document.getElementById(held.id) : undefined;
    again?.focus({ preventScroll: true });
    if (marked?.[0] !== null) marked && again?.setSelectionRange?.(...marked);
  }

  resources() {
    const { profile } = this;
    const choice = document.getElementById("resource");
    choice.replaceChildren();
    profile.resources.forEach((resource, i) => {
      // What nothing was consumed of is no choice.
      if (profile.sides?.ofBefore.has(i)) return;
      const isThere = profile.header.total[i] !== 0 || profile.sides && profile.header.total[profile.sides.before.get(i)] !== 0;
      if (isThere || i === profile.header.first) choice.append(element("option", { value: resource.name }, resource.name));
    });
  }

  update() {
    const { theme, view } = this.state.at;
    if (["light", "dark"].includes(theme)) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    this.live?.update();
    this.mapper.update();
    this.finder.update();
    const known = this.views.find(([key]) => key === view) || this.views[0];
    const place = document.getElementById("view");
    if (this.shown !== known[0] || this.shownResource !== this.state.resource) {
      place.replaceChildren();
      this.gone?.abort();
      this.gone = new AbortController();
      this.view = known[3](this, place);
      this.shown = known[0];
      this.shownResource = this.state.resource;
    }
    this.tabs.update(this.shown);
    document.getElementById("resource").value = this.profile.resources[this.state.resource].name;
    this.search.update();
    this.crumbs();
    this.view.update();
    this.side.update();
    document.getElementById("command").textContent = commandOf(this);
  }

  /** From the root to the selected context. */
  crumbs() {
    const { state, profile } = this;
    const place = document.getElementById("crumbs");
    const path = profile.path(state.selected);
    // Of a deep one the root, and its end.
    const left = Math.max(0, path.length - MOST_CRUMBS);
    const parts = path.filter((_, i) => i === 0 || i > left).map((node) => {
      const name = node === 0 ? "(root)" : short(profile.label(node));
      const crumb = element("button", { class: node === state.root ? "root" : "", title: profile.label(node) }, name);
      crumb.onclick = () => state.go({ selected: node });
      return crumb;
    });
    place.replaceChildren();
    if (left > 0) parts.splice(1, 0, `\u2026 ${count(left)} more \u2026`);
    parts.forEach((crumb, i) => place.append(i ? " \u203a " : "", crumb));
    place.scrollLeft = place.scrollWidth;
  }

  // ---- figures ----

  /** A figure of a context, marked where it cannot be told from nothing. */
  figure(resource, node, isTotal) {
    const value = (isTotal ? this.profile.total(resource) : this.profile.base(resource))[node];
    return `${this.profile.isHidden(resource, node, isTotal) ? "~" : ""}${this.amount(value, resource)}`;
  }

  /** A figure of a resource; of samples, what none of them met is less than a bound, and not nothing. */
  amount(value, resource) {
    const { unit, unmet } = this.profile.resources[resource];
    return value === 0 && unmet > 0 ? `< ${quantity(unmet, unit)}` : quantity(value, unit);
  }

  /** What it may be off by. */
  error(resource, node, isTotal) {
    const { profile } = this;
    const value = (isTotal ? profile.total(resource) : profile.base(resource))[node];
    return errorOf(profile.error(resource, node, isTotal), value, profile.resources[resource].unit);
  }

  /** The mark of a method's figure. */
  mark(f, resource, part) {
    const hidden = f[`${part}_hidden`];
    return hidden && hidden[resource] ? "~" : "";
  }

  /** How often a context was called; samples are no calls. */
  calls(node) {
    return this.profile.isCounted ? count(this.profile.calls[node]) : "-";
  }

  callsOf(f) {
    return this.profile.isCounted ? count(f.calls) : "-";
  }

  // ---- contexts ----

  /** The context of a consumer that took most. */
  largest(fn) {
    const { profile } = this;
    const total = profile.total(this.state.resource);
    let best = 0;
    for (let i = 1; i < profile.count; i++) if (profile.fn[i] === fn && (best === 0 || total[i] > total[best])) best = i;
    return best;
  }

  /** The context of a name that took most; undefined: there is none. */
  contextOf(name) {
    const fn = this.profile.functionOf(name);
    return (fn === undefined ? 0 : this.largest(fn)) || undefined;
  }

  /** The next context of the same consumer. */
  nextContext() {
    const { profile, state } = this;
    const fn = profile.fn[state.selected];
    for (let k = 1; k <= profile.count; k++) {
      const i = (state.selected + k) % profile.count;
      if (profile.fn[i] === fn) {
        state.reveal(i);
        state.go({ selected: i, ...(profile.path(i).includes(state.root) ? {} : { root: 0 }) });
        return;
      }
    }
  }

  up() {
    const { state, profile } = this;
    if (state.root !== 0) state.go({ root: profile.parent[state.root] });
  }

  reset() {
    this.state.go({ root: 0 });
  }

  rootHere() {
    this.state.go({ root: this.state.selected });
  }

  /** Another view, from its beginning. */
  go(view) {
    this.state.go({ view, part: "", row: "", sort: "", filter: "" });
  }

  // ---- talk ----

  async copy() {
    try {
      await navigator.clipboard.writeText(commandOf(this));
      this.status("copied");
    } catch {
      const range = document.createRange();
      range.selectNodeContents(document.getElementById("command"));
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      this.status("selected: copy it with the keyboard");
    }
  }

  save() {
    const made = this.view.picture?.() || this.view.csv?.();
    if (!made) {
      this.status("this view has nothing to save");
      return;
    }
    const url = made.url || URL.createObjectURL(new Blob([made.text], { type: made.type }));
    element("a", { href: url, download: made.name }).click();
    this.status(`saved ${made.name}${made.note ?? ""}`);
  }

  status(text) {
    document.getElementById("status").textContent = text;
  }

  theme() {
    const isDark = getComputedStyle(document.documentElement).colorScheme.includes("dark");
    this.state.go({ theme: isDark ? "light" : "dark" }, true);
  }

  /** Opens the panel of the mapper, or closes it. */
  mapping() {
    this.state.go({ mapper: this.state.at.mapper ? "" : "1" }, true);
  }

  help() {
    const dialog = document.getElementById("help");
    const list = element("dl");
    for (const [keys, text] of KEYS) list.append(element("dt", {}, element("kbd", {}, keys)), element("dd", {}, text));
    const close = element("button", {}, "Close");
    close.onclick = () => dialog.close();
    dialog.replaceChildren(element("h2", {}, "Keys"), list, element("p", {}, "self: what a context took itself. total: the same with all that it called. A line below a figure shows its error; point at the figure to read it. ~: the error is as large as the figure."), close);
    dialog.showModal();
  }

  /** Says a text while the mouse is over an element. */
  tell(target, words) {
    target.addEventListener("mousemove", (event) => this.showText(words, event));
    target.addEventListener("mouseleave", () => this.showTip(undefined));
  }

  /** Shows what is under the mouse. */
  tip(target, node) {
    target.addEventListener("mousemove", (event) => this.showTip(node, event));
    target.addEventListener("mouseleave", () => this.showTip(undefined));
  }

  showTip(node, event) {
    if (node === undefined) {
      document.getElementById("tip").hidden = true;
      return;
    }
    const { profile, state } = this;
    const { resource } = state;
    const { name, unit } = profile.resources[resource];
    if (profile.sides) {
      const known = profile.sides.isUnknown(resource, node) ? ", not known to differ" : "";
      this.showText(`${profile.label(node)}: ${sidesText(profile.sides.context(profile.sides.calls, node, false), "")} calls, ${name} ${sidesText(profile.sides.context(resource, node, true), unit)} total${known}`, event);
      return;
    }
    const calls = profile.isCounted ? `${count(profile.calls[node])} ${profile.header.occurrences}, ` : "";
    const share = profile.total(resource)[0] === 0 ? "" : ` (${percent(profile.total(resource)[node], profile.total(resource)[0])} %)`;
    this.showText(`${profile.label(node)}: ${calls}${name} ${this.figure(resource, node, false)} self, ${this.figure(resource, node, true)} total${share}`, event);
  }

  /** A text beside the mouse. */
  showText(text, event) {
    const tip = document.getElementById("tip");
    tip.hidden = false;
    tip.textContent = text;
    tip.style.left = `${Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8)}px`;
  }
}

async function start() {
  const place = document.getElementById("document");
  try {
    const profile = new Profile(await readDocument(place.textContent));
    place.remove();
    window.instrument = new App(profile);
  } catch (error) {
    const alert = document.getElementById("refusal");
    alert.hidden = false;
    alert.textContent = `This page cannot be shown: ${error.message}`;
    throw error;
  }
}

start();
