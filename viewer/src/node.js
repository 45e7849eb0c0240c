// The node window (JaViz, table 1): the selected context, its method over all contexts, who called the method and what it called.
"use strict";

/** Callers and callees that are listed. */
const NEIGHBOURS = 12;

/** Lists of keys and values, each under a heading. */
class NodeFields {
  constructor(place) {
    this.place = place;
    this.list = element("dl");
    place.replaceChildren(this.list);
  }

  heading(text) {
    this.list = element("dl");
    this.place.append(element("h2", {}, text), this.list);
  }

  add(key, text, id) {
    const value = element("dd", id ? { "data-field": id } : {});
    if (text === undefined || text === null) value.append(element("span", { class: "unknown" }, "not known"));
    else if (typeof text === "string") value.append(...breakable(text));
    else value.append(text);
    this.list.append(element("dt", {}, key), value);
  }
}

function drawNode(app) {
  const { profile, selected: node } = app.state;
  const place = document.getElementById("node");
  const fields = new NodeFields(place);
  const f = profile.function(node);
  const isMethod = f.kind === "method";
  nameFields(profile, node, f, fields);
  if (profile.sides) {
    bothSides(app.state, isMethod, fields);
    return;
  }
  const { call } = app.state.at;
  if (isMethod && call) thisCall(app, fields);
  thisContext(app, fields);
  if (isMethod) {
    thisMethod(f, profile.stats.get(f.name), fields);
    if (!call) thisCall(app, fields);
  }
  if (f.contexts > 1) {
    const go = element("button", { id: "next-context" }, `Next of ${count(f.contexts)} contexts`);
    go.onclick = () => app.nextContext();
    place.append(go);
  }
  if (isMethod && profile.header.about.has_code) code(app, place, f.name);
  neighbours(app, place, "Callers of the method", profile.callers[profile.fn[node]]);
  neighbours(app, place, "Callees of the method", profile.callees[profile.fn[node]]);
}

/** Which context it is. */
function nameFields(profile, node, f, fields) {
  const caller = node === 0 ? undefined : profile.parent[node];
  const process = profile.enclosing(node, "process");
  const thread = profile.enclosing(node, "thread");
  const isAbove = ["root", "process"].includes(f.kind);
  fields.add(f.kind === "method" ? "Method" : f.kind, profile.label(node), "method");
  fields.add("Caller", caller === undefined ? "none: the root" : profile.label(caller), "caller");
  fields.add("JVM", process === undefined ? (isAbove ? "all" : profile.header.about.title) : profile.label(process), "jvm");
  fields.add("Thread", thread === undefined ? (isAbove ? "all" : undefined) : profile.label(thread), "thread");
  if (f.file) fields.add("Source", `${f.file}${f.line ? `:${f.line}` : ""}`, "source");
}

/** Before and after, of a comparison. */
function bothSides({ profile, selected: node, resource }, isMethod, fields) {
  const { name, unit } = profile.resources[resource];
  const group = (title, id, of) => {
    fields.heading(title);
    fields.add("Calls", sidesText(of(profile.sides.calls, false), ""), `${id}calls`);
    if (resource !== profile.sides.calls) {
      fields.add(`${name}, self`, sidesText(of(resource, false), unit), `${id}self`);
      fields.add(`${name}, total`, sidesText(of(resource, true), unit), `${id}total`);
    }
  };
  group("This context", "", (r, isTotal) => profile.sides.context(r, node, isTotal));
  if (isMethod) group("This method, over all contexts", "method-", (r, isTotal) => profile.sides.function(r, profile.fn[node], isTotal));
}

function thisCall({ state }, fields) {
  fields.heading("This call");
  const call = /^(\d+)-(\d+)$/.exec(state.at.call);
  const why = state.profile.section("timeline")?.missing === null ? "select a call in the Timeline" : "single calls are recorded with --record trace only";
  const [start, length] = call ? [Number(call[1]), Number(call[2])] : [];
  for (const [key, id, value] of [["Call time", "call", start], ["Return time", "return", start + length], ["Total time", "call-total", length]]) {
    fields.add(key, call ? quantity(value, "ns") : element("span", { class: "unknown" }, why), id);
  }
  if (call) {
    const go = element("button", { id: "call-tree" }, "Call tree of this call");
    go.onclick = () => state.go({ view: "timeline", part: "tree", window: `${start}-${start + Math.max(1, length)}` });
    fields.place.append(go);
  }
}

function thisContext(app, fields) {
  const { profile, selected: node, resource } = app.state;
  const error = (isTotal) => {
    const text = errorText(profile.error(resource, node, isTotal), profile.resources[resource].unit);
    return text ? ` ${text}` : "";
  };
  fields.heading("This context");
  fields.add(profile.header.occurrences, profile.isCounted ? count(profile.calls[node]) : undefined, "calls");
  profile.resources.forEach((r, i) => {
    const [self, total] = [profile.base(i)[node], profile.total(i)[node]];
    if (i !== resource && self === 0 && total === 0) return;
    if (i !== resource) {
      fields.add(r.name, `${app.amount(self, i)} self, ${app.amount(total, i)} total`, `resource-${r.name}`);
      return;
    }
    fields.add(`${r.name}, self`, `${app.figure(i, node, false)}${error(false)}`, "self");
    fields.add(`${r.name}, total`, `${app.figure(i, node, true)}${error(true)}`, "total");
    if (profile.calls[node] > 0 && (total > 0 || !r.unmet)) fields.add("total per call", quantity(Math.round(total / profile.calls[node]), r.unit), "per-call");
    fields.add("share of the root", `${percent(total, profile.total(i)[0])} %`, "share");
  });
}

/** JaViz, table 1: all calls of a method. */
function thisMethod(f, stats, fields) {
  const time = (value) => (value === null || value === undefined ? undefined : quantity(value >= 100 ? Math.round(value) : value, "ns"));
  fields.heading("This method, over all contexts (as measured)");
  fields.add("Number of calls", count(f.calls), "method-calls");
  fields.add("Total time", time(stats?.total), "method-total");
  fields.add("Minimum time", time(stats?.min), "method-min");
  fields.add("Maximum time", time(stats?.max), "method-max");
  fields.add("Average time", time(stats?.average), "method-average");
  fields.add("Standard deviation", time(stats?.deviation), "method-deviation");
}

/** The bytecode of the method, if it is to be shown: the server finds it on the class path. */
function code(app, place, name) {
  const { state } = app;
  const isShown = state.at.code === "1";
  const toggle = element("button", { id: "code", "aria-pressed": String(isShown) }, "Bytecode");
  toggle.onclick = () => state.go({ code: isShown ? "" : "1" });
  place.append(toggle);
  if (!isShown) return;
  const text = element("pre", { id: "code-text" }, "\u2026");
  place.append(text);
  app.code ??= new Map();
  const show = ({ code }) => (text.textContent = code ?? "This method is in no class of --class-path.");
  const known = app.code.get(name);
  if (known) show(known);
  else asked(`code=${encodeURIComponent(name)}`).then((answer) => show((app.code.set(name, answer), answer)), (error) => (text.textContent = error.message));
}

function neighbours(app, place, title, arcs) {
  const { profile, resource } = app.state;
  if (!arcs.length) return;
  const table = element("table");
  const head = element("tr");
  for (const text of ["calls", "total", "method"]) head.append(element("th", {}, text));
  table.append(head);
  const sorted = [...arcs].sort((a, b) => b.total[resource] - a.total[resource] || b.calls - a.calls);
  for (const arc of sorted.slice(0, NEIGHBOURS)) {
    const row = element("tr");
    const go = element("button", {}, short(profile.labels[arc.fn]));
    go.title = profile.labels[arc.fn];
    go.onclick = () => app.state.go({ selected: app.largest(arc.fn) });
    const name = element("td");
    name.append(go);
    row.append(element("td", {}, count(arc.calls)), element("td", {}, app.amount(arc.total[resource], resource)), name);
    table.append(row);
  }
  place.append(element("h2", {}, title), table);
  if (sorted.length > NEIGHBOURS) place.append(element("p", { class: "kind" }, `and ${count(sorted.length - NEIGHBOURS)} more: instrument xarc prints all`));
}
