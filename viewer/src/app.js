// Tabs, keys, menus; what several views do alike.
"use strict";

/** Contexts on the way from the root that are named. */
const MOST_CRUMBS = 40;

const VIEWS = [
  ["summary", "Summary", (app, place) => new SummaryView(app, place)],
  ["tree", "Tree", (app, place) => new TreeView(app, place)],
  ["graph", "Graph", (app, place) => new GraphView(app, place)],
  ["flame", "Flame", (app, place) => new FlameView(app, place)],
  ["sandwich", "Sandwich", (app, place) => new SandwichView(app, place)],
  ["methods", "Methods", (app, place) => new MethodsView(app, place)],
  ["threads", "Threads", (app, place) => new ThreadsView(app, place)],
  ["heap", "Heap", (app, place) => new HeapView(app, place)],
  ["monitors", "Monitors", (app, place) => new MonitorsView(app, place)],
  ["remote", "Remote calls", (app, place) => new RemoteView(app, place)],
  ["timeline", "Timeline", (app, place) => new TimelineView(app, place)],
];

const KEYS = [
  ["1 \u2026 9", "views, in their order"],
  ["[ ]", "the view before, the next view"],
  ["\u2191 \u2193", "previous and next row, or caller and callee in Flame and Sandwich"],
  ["\u2192 \u2190", "open and close a context, its neighbours in Flame, or later and earlier in Timeline"],
  ["Enter", "the selected context becomes the root; the selected row of a table is shown in the tree"],
  ["u", "up one level: the caller of the root becomes the root"],
  ["r", "reset the root"],
  ["l", "open the next level"],
  ["/", "find"],
  ["n, N", "find next, find the one before"],
  ["+ \u2212 0", "zoom in, out, fit"],
  ["w a s d", "zoom and move in Flame, Sandwich and Timeline"],
  ["e", "Timeline: what is seen becomes the window"],
  ["m", "mapper"],
  ["p", "refresh every 5 s, pause: of a program that still runs"],
  ["t", "from now on, or since the start: of a program that still runs"],
  ["c", "copy the command that prints the same"],
  ["x", "save what is seen"],
  ["Alt \u2190", "back: every step is in the history of the browser"],
  ["Esc", "close, or clear the search"],
];

class App {
  constructor(profile) {
    this.profile = profile;
    this.state = new State(profile, () => this.update());
    this.mapper = new Mapper(this.state);
    this.finder = new Finder(this.state);
    const { about, refusal } = profile.header;
    document.title = `${about.title} \u2013 instrument`;
    document.getElementById("title").textContent = about.title;
    document.getElementById("title").title = about.files.join(" ");
    const alert = document.getElementById("refusal");
    alert.textContent = refusal || "";
    alert.hidden = !refusal;
    const tabs = document.getElementById("tabs");
    document.body.classList.toggle("sides", profile.sides !== undefined);
    // A comparison is of all threads and processes together, and what was not recorded has no view.
    this.views = VIEWS.filter(([key]) => {
      if (["heap", "monitors", "remote", "timeline"].includes(key)) return profile.section(key) !== undefined;
      return !profile.sides || !["sandwich", "threads"].includes(key);
    });
    for (const [key, label] of this.views) {
      const tab = element("button", { role: "tab", "data-view": key }, label);
      tab.onclick = () => this.go(key);
      tabs.append(tab, " ");
    }
    const resources = document.getElementById("resource");
    profile.resources.forEach((resource, i) => {
      // What nothing was consumed of is no choice.
      if (profile.sides?.ofBefore.has(i)) return;
      const isThere = profile.header.total[i] !== 0 || profile.sides && profile.header.total[profile.sides.before.get(i)] !== 0;
      if (isThere || i === profile.header.first) resources.append(element("option", { value: resource.name }, resource.name));
    });
    resources.onchange = () => this.state.go({ resource: resources.value });
    const attributes = document.getElementById("find-attribute");
    for (const [key, { label }] of Object.entries(ATTRIBUTES)) attributes.append(element("option", { value: key }, label));
    document.getElementById("find").onsubmit = (event) => (event.preventDefault(), this.finder.next());
    document.getElementById("mapper-button").onclick = () => showMapper(this.state);
    document.getElementById("help-button").onclick = () => this.help();
    document.getElementById("theme").onclick = () => this.theme();
    document.getElementById("copy").onclick = () => this.copy();
    document.getElementById("save").onclick = () => this.save();
    document.addEventListener("keydown", (event) => this.key(event));
    if (about.is_live) this.watch();
    if (about.is_live || sinceMoment() !== null) this.since();
    this.update();
  }

  /** The page of a program that goes on can be asked for again; what is shown stays, for it is in the address. */
  watch() {
    const refresh = document.getElementById("watch");
    document.getElementById("live").hidden = false;
    refresh.onchange = () => this.state.go({ refresh: refresh.value }, true);
    this.refresh = () => {
      clearTimeout(this.timer);
      refresh.value = this.state.at.refresh;
      const seconds = Number(refresh.value);
      // Not while somebody writes a rule or a search.
      const isBusy = () => document.querySelector("dialog[open]") || document.activeElement?.tagName === "INPUT";
      const again = () => (isBusy() ? (this.timer = setTimeout(again, 1000)) : location.reload());
      if (seconds > 0) this.timer = setTimeout(again, 1000 * seconds);
    };
  }

  /** The figures can begin anew: the server keeps what happened until then, and the address says from which moment on. */
  since() {
    const button = document.getElementById("since");
    const { since } = this.profile.header.about;
    const isCut = sinceMoment() !== null;
    // That of the command line stays.
    button.hidden = since.length > 0 && !isCut;
    button.textContent = isCut ? "Since the start" : "Since now";
    button.title = isCut ? "show everything since the program was started" : "show only what happens from now on (t)";
    button.onclick = async () => {
      try {
        if (isCut) return location.assign(location.pathname + location.hash);
        const { moment } = await asked("moment");
        location.assign(`${location.pathname}?since=${moment}${location.hash}`);
      } catch (error) {
        this.status(error.message);
      }
    };
  }

  update() {
    this.refresh?.();
    this.mapper.update();
    const { view } = this.state.at;
    const known = this.views.find(([key]) => key === view) || this.views[0];
    const place = document.getElementById("view");
    if (this.shown !== known[0] || this.shownResource !== this.state.resource) {
      place.replaceChildren();
      this.view = known[2](this, place);
      this.shown = known[0];
      this.shownResource = this.state.resource;
    }
    for (const tab of document.querySelectorAll("[role=tab]")) tab.setAttribute("aria-selected", String(tab.dataset.view === known[0]));
    document.getElementById("resource").value = this.profile.resources[this.state.resource].name;
    this.crumbs();
    this.view.update();
    drawNode(this);
    drawKey(this.state, this.mapper);
    document.getElementById("command").textContent = this.command();
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
    return `${this.profile.isHidden(resource, node, isTotal) ? "~" : ""}${quantity(value, this.profile.resources[resource].unit)}`;
  }

  /** The mark of a method's figure. */
  mark(f, resource, part) {
    const hidden = f[`${part}_hidden`];
    return hidden && hidden[resource] ? "~" : "";
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

  /** Open contexts below the root, in the order of rows. */
  openList() {
    const { profile, state } = this;
    const [nodes, levels] = [[], []];
    const stack = [[state.root, 0]];
    while (stack.length) {
      const [node, level] = stack.pop();
      nodes.push(node);
      levels.push(level);
      if (node === state.root || state.open.has(node)) {
        const children = profile.sortedChildren(node, state.resource);
        for (let i = children.length - 1; i >= 0; i--) stack.push([children[i], level + 1]);
      }
    }
    return { nodes, levels };
  }

  toggle(node) {
    if (this.profile.isLeaf(node)) return;
    if (!this.state.open.delete(node)) this.state.open.add(node);
    this.state.go({ selected: node }, true);
  }

  openLevel() {
    const { profile, state } = this;
    const { nodes, levels } = this.openList();
    const deepest = levels.reduce((most, level) => Math.max(most, level), 0);
    let more = 0;
    for (let i = 0; i < nodes.length; i++) {
      if (levels[i] !== deepest || profile.isLeaf(nodes[i])) continue;
      more += profile.children(nodes[i]).length;
      if (nodes.length + more > MOST_OPEN) {
        this.status(`the next level has more than ${count(MOST_OPEN)} contexts: open single ones`);
        break;
      }
      state.open.add(nodes[i]);
    }
    if (more === 0) this.status("all levels are open");
    this.update();
  }

  closeAll() {
    this.state.open = new Set([0, this.state.root]);
    this.state.go({ selected: this.state.root }, true);
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
    this.state.go({ view, part: "", row: "" });
  }

  /** The view before or behind the one that is shown. */
  beside(by) {
    const at = this.views.findIndex(([key]) => key === this.shown) + by;
    if (this.views[at]) this.go(this.views[at][0]);
  }

  // ---- talk ----

  /** The command line that prints what is seen. */
  command() {
    const { profile, state } = this;
    const { about } = profile.header;
    const files = [...about.since.map((path) => `--since ${quoted(path)}`), ...about.files.map(quoted)].join(" ");
    if (profile.sides) return this.comparison();
    if (this.view.command) return this.view.command(files);
    const resource = ` --resource ${quoted(profile.resources[state.resource].name)}`;
    const own = about.own.map((pattern) => ` --own ${quoted(pattern)}`).join("");
    const f = profile.function(state.root);
    switch (this.shown) {
      case "summary": return `instrument report${own} ${files}`;
      case "methods": {
        const sort = { total: " --sort cum", calls: " --sort calls", name: " --sort name" }[state.at.sort] || "";
        return `instrument xprof${own}${resource}${sort} --prune 0 ${files}`;
      }
      case "sandwich": {
        const method = this.view.method();
        return method === undefined ? `instrument xtree${own} ${files}` : `instrument xtree${own}${resource} --focus ${quoted(profile.functions[method].name)} --prune 0 ${files}`;
      }
      default: {
        const focus = state.root !== 0 && f.kind === "method" ? ` --focus ${quoted(f.name)}` : "";
        return `instrument xtree${own}${resource}${focus} --prune 0 ${files}`;
      }
    }
  }

  comparison() {
    const { profile, state } = this;
    const { files } = profile.header.about;
    const [before] = profile.sides.runs;
    const sides = files.length === 2 ? [files] : [files.slice(0, before), files.slice(before)];
    const { name } = profile.resources[state.resource];
    const resource = name === CALLS ? "calls" : name;
    return `instrument diff --resource ${quoted(resource)} ${sides.map((side) => side.map(quoted).join(" ")).join(" -- ")}`;
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(this.command());
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
    this.status(`saved ${made.name}`);
  }

  status(text) {
    document.getElementById("status").textContent = text;
  }

  theme() {
    const isDark = getComputedStyle(document.documentElement).colorScheme.includes("dark");
    document.documentElement.dataset.theme = isDark ? "light" : "dark";
    this.update();
  }

  help() {
    const dialog = document.getElementById("help");
    const list = element("dl");
    for (const [keys, text] of KEYS) {
      const key = element("dt");
      key.append(element("kbd", {}, keys));
      list.append(key, element("dd", {}, text));
    }
    const close = element("button", {}, "Close");
    close.onclick = () => dialog.close();
    dialog.replaceChildren(element("h2", {}, "Keys"), list, element("p", {}, "self: what a context took itself. total: the same with all that it called. \u00b1: what the figure may be off by; ~: it cannot be told from nothing."), close);
    dialog.showModal();
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
    const resource = state.resource;
    if (profile.sides) {
      this.showText(`${profile.label(node)}: ${profile.resources[resource].name} ${sidesText(profile.sides.context(resource, node, true), profile.resources[resource].unit)} total`, event);
      return;
    }
    this.showText(`${profile.label(node)}: ${count(profile.calls[node])} calls, ${profile.resources[resource].name} ${this.figure(resource, node, false)} self, ${this.figure(resource, node, true)} total (${percent(profile.total(resource)[node], profile.total(resource)[0])} %)`, event);
  }

  /** A text beside the mouse. */
  showText(text, event) {
    const tip = document.getElementById("tip");
    tip.hidden = false;
    tip.textContent = text;
    tip.style.left = `${Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8)}px`;
  }

  // ---- keys ----

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isField = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName);
    if (event.key === "Escape" && isField) {
      event.target.blur();
      return;
    }
    if (isField || document.querySelector("dialog[open]")) return;
    const act = this.keys()[event.key];
    // A button that has the focus is pressed by Enter.
    if (!act || (event.key === "Enter" && event.target.tagName === "BUTTON")) return;
    event.preventDefault();
    act();
  }

  keys() {
    const boxes = this.view instanceof IcicleView ? this.view : undefined;
    const keys = {
      "/": () => document.getElementById("find-text").focus(),
      n: () => this.finder.next(),
      N: () => this.finder.next(-1),
      u: () => this.up(),
      r: () => this.reset(),
      l: () => this.openLevel(),
      m: () => showMapper(this.state),
      c: () => this.copy(),
      x: () => this.save(),
      p: () => this.refresh && this.state.go({ refresh: this.state.at.refresh ? "" : "5" }, true),
      t: () => document.getElementById("since").click(),
      "?": () => this.help(),
      e: () => this.view.enclose?.(),
      Enter: () => (this.view.enter ? this.view.enter() : this.rootHere()),
      "[": () => this.beside(-1),
      "]": () => this.beside(1),
      ArrowDown: () => this.step(boxes ? "callee" : "next"),
      ArrowUp: () => this.step(boxes ? "caller" : "previous"),
      ArrowRight: () => this.step(boxes ? "right" : "open"),
      ArrowLeft: () => this.step(boxes ? "left" : "close"),
      "+": () => (boxes ? boxes.zoom(0.8) : document.getElementById("wider")?.click()),
      "-": () => (boxes ? boxes.zoom(1.25) : document.getElementById("narrower")?.click()),
      0: () => boxes?.fit(),
      w: () => boxes?.zoom(0.8),
      s: () => boxes?.zoom(1.25),
      a: () => boxes?.pan(boxes.from - 0.1 * (boxes.to - boxes.from), boxes.to - 0.1 * (boxes.to - boxes.from)),
      d: () => boxes?.pan(boxes.from + 0.1 * (boxes.to - boxes.from), boxes.to + 0.1 * (boxes.to - boxes.from)),
    };
    this.views.forEach(([key], i) => (i < 9 && (keys[String(i + 1)] = () => this.go(key))));
    return keys;
  }

  /** Moves the selection. */
  step(how) {
    if (this.view.step) {
      this.view.step(how);
      return undefined;
    }
    const { profile, state } = this;
    const node = state.selected;
    const list = this.view.list?.nodes;
    const siblings = () => profile.sortedChildren(profile.parent[node], state.resource);
    const go = (target) => {
      if (target !== undefined) state.go({ selected: target }, true);
    };
    switch (how) {
      case "next": return go(list?.[list.indexOf(node) + 1]);
      case "previous": return go(list?.[list.indexOf(node) - 1]);
      case "open":
        if (profile.isLeaf(node)) return undefined;
        if (state.open.has(node)) return go(profile.sortedChildren(node, state.resource)[0]);
        return this.toggle(node);
      case "close":
        if (state.open.has(node) && !profile.isLeaf(node) && node !== state.root) return this.toggle(node);
        return node === state.root ? undefined : go(profile.parent[node]);
      case "callee": return go(profile.sortedChildren(node, state.resource)[0]);
      case "caller": return node === state.root ? undefined : go(profile.parent[node]);
      case "right": return node === 0 ? undefined : go(siblings()[siblings().indexOf(node) + 1]);
      case "left": return node === 0 ? undefined : go(siblings()[siblings().indexOf(node) - 1]);
    }
    return undefined;
  }
}

/** A word of a command line. */
function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
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
