// The views, in groups, and their tabs.
"use strict";

/** Key, tab, what the tab stands in, and how a view is made. The graph is another way to draw the tree. */
const VIEWS = [
  ["summary", "Overview", "", (app, place) => new SummaryView(app, place)],
  ["tree", "Tree", "Calls", (app, place) => new TreeView(app, place)],
  ["graph", "", "Calls", (app, place) => new GraphView(app, place)],
  ["flame", "Flame", "Calls", (app, place) => new FlameView(app, place)],
  ["sandwich", "Sandwich", "Calls", (app, place) => new SandwichView(app, place)],
  ["methods", "Methods", "Calls", (app, place) => new MethodsView(app, place)],
  ["threads", "Threads", "", (app, place) => new ThreadsView(app, place)],
  ["heap", "Memory", "", (app, place) => new HeapView(app, place)],
  ["monitors", "Locks", "", (app, place) => new MonitorsView(app, place)],
  ["statements", "Statements", "", (app, place) => new StatementsView(app, place)],
  ["remote", "Remote", "", (app, place) => new RemoteView(app, place)],
  ["timeline", "Timeline", "", (app, place) => new TimelineView(app, place)],
];

/** The views of a profile. A comparison is of all threads and processes together, and what was not recorded has no view. */
function viewsOf(profile) {
  return VIEWS.filter(([key]) => {
    if (["heap", "monitors", "remote", "timeline"].includes(key)) return profile.section(key) !== undefined;
    if (key === "statements") return profile.header.overview?.values.length > 0;
    return !profile.sides || !["sandwich", "threads"].includes(key);
  });
}

class Tabs {
  constructor(app) {
    this.app = app;
    this.place = document.getElementById("tabs");
    this.place.addEventListener("keydown", (event) => this.key(event));
  }

  /** Makes the tabs of a profile. */
  show(views) {
    this.list = views.filter(([, label]) => label);
    this.place.replaceChildren();
    let group = "";
    for (const [key, label, of] of this.list) {
      // A group begins or ends.
      if (of !== group) this.place.append(element("span", { class: "group", role: "presentation", "aria-hidden": "true" }, of ? `${of}:` : "|"));
      group = of;
      const tab = element("button", { role: "tab", "data-view": key, "aria-controls": "view", id: `tab-${key}` }, label);
      tab.onclick = () => this.app.go(key);
      this.place.append(tab);
    }
  }

  update(shown) {
    const known = shown === "graph" ? "tree" : shown;
    for (const tab of this.place.querySelectorAll("[role=tab]")) {
      const isShown = tab.dataset.view === known;
      tab.setAttribute("aria-selected", String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
    }
    document.getElementById("view").setAttribute("aria-labelledby", `tab-${known}`);
  }

  /** The keys of a list of tabs: they move the focus, and show what it is on. */
  key(event) {
    const to = neighbourOf([...this.place.querySelectorAll("[role=tab]")], event);
    if (!to) return;
    this.app.go(to.dataset.view);
    to.focus();
  }

  /** The view before or behind the one that is shown. */
  beside(shown, by) {
    const at = this.list.findIndex(([key]) => key === (shown === "graph" ? "tree" : shown)) + by;
    if (this.list[at]) this.app.go(this.list[at][0]);
  }
}
