// The landing page: how long, how much, how far it is to be trusted, the program's own code, and what is wrong with it; each leads into its view.
// The sentences are those of `instrument report`.
"use strict";

/** Methods, remote methods that are listed. */
const LISTED = 10;
const SERVED = 3;

/** Where a sentence leads. */
const LEADS = {
  waits: (app, of) => ({ view: "tree", resource: app.profile.resources.find(({ name }) => /^waiting/.test(name))?.name ?? "", selected: app.contextOf(of) ?? 0 }),
  "N+1": (app, of) => ({ view: "statements", selected: app.contextOf(of) ?? 0 }),
  statements: (app, of) => LEADS["N+1"](app, of),
  requests: (app, of) => LEADS["N+1"](app, of),
  files: (app, of) => LEADS["N+1"](app, of),
  locks: () => ({ view: "monitors" }),
  leaks: () => ({ view: "heap", part: "leaks" }),
  errors: (app, of) => ({ view: "tree", resource: "unwinds", selected: app.contextOf(of) ?? 0 }),
};

class SummaryView {
  constructor(app, parent) {
    this.app = app;
    this.body = element("div", { class: "body page", tabindex: "0", role: "region", "aria-label": "Overview" });
    parent.append(this.body);
  }

  update() {
    if (this.of === this.app.profile) return;
    this.of = this.app.profile;
    const { profile } = this.app;
    this.overview = profile.header.overview ?? undefined;
    this.body.replaceChildren();
    if (profile.sides) this.body.append(changedMethods(this.app), howRecorded(profile, true));
    else this.body.append(...this.parts(), howRecorded(profile, false));
  }

  parts() {
    const { app, overview } = this;
    const trust = overview ? [element("p", { id: "trust" }, element("b", {}, "Trust: "), overview.trust)] : [];
    const found = overview?.findings ?? [];
    const columns = element("div", { class: "columns" }, this.methods(), element("section", { id: "findings" }, ...this.findings(found), ...remoteMethods(app)));
    const flame = overview ? [new OwnFlame(app, this.body, overview).part] : [];
    return [tiles(app, overview), ...trust, ...flame, columns];
  }

  /** The ten methods that took most: of own code where that is known. */
  methods() {
    const { app, overview } = this;
    const { profile, resource } = app.state;
    const { unit, name, unmet } = profile.resources[resource];
    // The server has sorted its own by one resource.
    const isOwn = overview?.methods.length > 0 && resource === profile.header.first;
    const waiting = profile.resources.findIndex((of) => of.name === name.replace("running", "waiting"));
    const rows = isOwn ? overview.methods : profile.functions.map((f, i) => [i, f.base]).filter(([i]) => profile.functions[i].kind === "method" && profile.functions[i].contexts > 0).sort((a, b) => b[1][resource] - a[1][resource]);
    const table = element("table", { id: "hot" }, element("tr", {}, ...["method", "calls", `${name}, self`, "%", "per call"].map((text) => element("th", {}, text))));
    for (const [i, sum] of rows.slice(0, LISTED)) {
      const f = profile.functions[i];
      const go = element("button", { title: profile.labels[i] });
      go.append(...nameCell(profile.labels[i]).childNodes);
      go.onclick = () => app.state.go({ selected: app.largest(i), view: "tree" });
      // A call takes what it waits, too.
      const whole = f.cum[resource] + (/^running/.test(name) && waiting >= 0 ? f.cum[waiting] : 0);
      const each = profile.isCounted && f.calls > 0 && (whole > 0 || !unmet) ? quantity(Math.round(whole / f.calls), unit) : "-";
      const cells = [app.callsOf(f), app.amount(sum[resource], resource), percent(sum[resource], profile.header.total[resource]), each];
      table.append(element("tr", {}, element("td", { class: "name" }, go), ...cells.map((text) => element("td", {}, text))));
    }
    const what = isOwn && overview.own_is ? element("p", { class: "kind" }, `own code: ${overview.own_is}`) : "";
    return element("section", {}, element("h2", {}, isOwn ? "Own methods, with the libraries that they call" : "Methods"), what, table, this.link("all methods", { view: "methods" }));
  }

  findings(found) {
    const { app, overview } = this;
    const list = found.map(({ kind, text, of }) => {
      const lead = LEADS[kind]?.(app, of) ?? { view: "tree", selected: app.contextOf(of) ?? 0 };
      const isThere = app.views.some(([key]) => key === lead.view);
      return element("p", { class: "finding" }, element("b", {}, `${kind}: `), isThere ? this.link(text, lead) : text);
    });
    if (overview?.hottest) list.unshift(element("p", { class: "finding" }, element("b", {}, "hottest: "), this.link(overview.hottest, { view: "flame" })));
    return list.length ? [element("h2", {}, "What to look at"), ...list] : [];
  }

  link(text, change) {
    const made = element("button", { class: "link" }, text);
    made.onclick = () => {
      if (change.selected) this.app.state.reveal(change.selected);
      this.app.state.go({ part: "", row: "", sort: "", filter: "", ...change });
    };
    return made;
  }
}

/** Four tiles: elapsed, running and waiting, threads, calls. */
function tiles(app, overview) {
  const { profile } = app;
  const of = (name) => profile.resources.findIndex((resource) => resource.name === name || resource.name === `${name}-raw`);
  const figure = (r) => quantity(profile.header.total[r], profile.resources[r].unit);
  const [running, waiting] = [of("running"), of("waiting")];
  const tile = (name, value, more, lead) => {
    const made = element("button", { class: "tile" }, element("span", { class: "kind" }, name), element("b", {}, value), element("span", { class: "kind" }, more));
    made.onclick = () => app.go(lead);
    return made;
  };
  const programs = overview?.programs ?? [];
  const elapsed = Math.max(...programs.map(({ elapsed_ns: ns }) => ns ?? 0), 0);
  const threads = programs.length ? programs.reduce((sum, program) => sum + program.threads, 0) : profile.functions.filter(({ kind }) => kind === "thread").length;
  const calls = profile.functions.reduce((sum, f) => sum + (f.kind === "method" ? f.calls : 0), 0);
  const isLive = programs.some((program) => program.is_live);
  const first = profile.header.first;
  const time = running >= 0 ? ["running", figure(running), waiting >= 0 ? `and waiting ${figure(waiting)}, all threads together` : "all threads together"] : [profile.resources[first].name, figure(first), "all threads together"];
  const has = (key) => app.views.some(([view]) => view === key);
  return element("div", { id: "tiles" },
    tile(isLive ? "elapsed so far" : "elapsed", elapsed > 0 ? quantity(elapsed, "ns") : "not known", programs.length === 1 ? programs[0].ran.split(", ")[0].replace(/^.*? from /, "from ") : programs.length ? `${count(programs.length)} programs` : profile.header.about.title, has("timeline") ? "timeline" : "tree"),
    tile(...time, "flame"),
    tile("threads", count(threads), "", has("threads") ? "threads" : "tree"),
    profile.isCounted ? tile(profile.header.occurrences, count(calls), `of ${count(profile.functions.filter((f) => f.kind === "method" && f.contexts > 0).length)} methods`, "methods") : tile("calls", "not counted", "stacks were sampled", "methods"));
}

/** The remote methods that took most of their clients' time. */
function remoteMethods(app) {
  const rows = app.profile.section("remote")?.services.rows ?? [];
  if (!rows.length) return [];
  const time = (row) => row.client_ns ?? row.client?.total ?? row.server_ns ?? 0;
  const sorted = [...rows].sort((a, b) => time(b) - time(a)).slice(0, SERVED);
  const line = (row) => {
    const made = element("button", { class: "link" }, `${app.profile.labelOf(row.method)}: ${count(row.made || row.served)} calls, ${text.time(time(row))} in all`);
    made.onclick = () => app.go("remote");
    return element("p", { class: "finding" }, made);
  };
  return [element("h2", {}, "Remote methods"), ...sorted.map(line)];
}

/** How it was recorded, folded; of a comparison there is not much. */
function howRecorded(profile, isOpen) {
  const { about, left_out: leftOut } = profile.header;
  const list = element("dl", { id: "facts" });
  for (const [key, value] of about.facts) list.append(element("dt", {}, key), element("dd", {}, value));
  const part = element("details", { id: "how" }, element("summary", {}, "How it was recorded"), list);
  part.open = isOpen;
  const outside = element("div");
  for (const text of about.warnings) outside.append(element("p", { class: "unknown" }, text));
  if (leftOut) {
    const share = `${(100 * leftOut.share).toPrecision(2)} %`;
    outside.append(element("p", { id: "left-out" }, `${count(leftOut.contexts)} small contexts are left out of this page: none took more than ${share} of every resource, with all that it called. Those of one caller are one context, (left out). The tables of methods have all figures.`));
  }
  const left = profile.section("left_out") || [];
  if (left.length) outside.append(element("p", { id: "rows-left-out" }, `Also left out, for the page has no room: ${left.join(", ")}.`));
  outside.append(part);
  return outside;
}

/** Methods whose figures changed most. */
function changedMethods(app) {
  const { profile, resource } = app.state;
  const { sides } = profile;
  const { unit, name } = profile.resources[resource];
  const found = (r, i, isTotal) => sides.function(r, i, isTotal);
  const rows = profile.functions.map((f, i) => i).filter((i) => profile.functions[i].kind === "method" && profile.functions[i].contexts > 0);
  rows.sort((a, b) => Math.abs(found(resource, b, false).change) - Math.abs(found(resource, a, false).change));
  const table = element("table", { id: "hot" }, element("tr", {}, ...["method", "calls", "change", "self", "change", "total", "change"].map((text) => element("th", {}, text))));
  for (const i of rows.slice(0, 2 * LISTED)) {
    const go = element("button", { title: profile.labels[i] });
    go.append(...nameCell(profile.labels[i]).childNodes);
    go.onclick = () => app.state.go({ selected: app.largest(i), view: "tree" });
    const cells = comparedCells(sides, unit, (r, isTotal) => found(r, i, isTotal), resource);
    table.append(element("tr", {}, element("td", { class: "name" }, go), ...cells.map((of) => element("td", {}, of.textContent))));
  }
  return element("section", {}, element("h2", {}, `Methods by the change of ${name}, self`), table);
}
