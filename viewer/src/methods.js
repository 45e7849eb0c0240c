// Methods irrespective of context: what xprof and stats print, sorted by any column.
"use strict";

class MethodsView {
  constructor(app, parent) {
    this.app = app;
    this.state = app.state;
    const { profile } = this.state;
    this.tools = element("div", { class: "tools" });
    this.filter = element("input", { id: "filter", type: "search", placeholder: "Only names with", size: 40, "aria-label": "Only names with" });
    this.filter.value = this.state.at.filter;
    this.filter.oninput = () => this.state.go({ filter: this.filter.value }, true);
    this.sum = element("span", { class: "kind" });
    this.tools.append(this.filter, this.sum);
    parent.append(this.tools);
    this.columns = [{ key: "name", kind: "name", of: (f, r, i) => profile.labels[i] }, ...(profile.sides ? this.compared() : this.usual())];
    for (const column of this.columns) {
      column.button = element("button", { "data-sort": column.key }, column.label ?? column.key);
      column.button.onclick = () => this.state.go({ sort: this.state.at.sort === column.key ? `-${column.key}` : column.key });
    }
    this.rows = new Rows(parent, (row, index) => this.fill(row, index), "Methods", this.columns.map(({ button, kind }) => [button, kind]));
  }

  usual() {
    const { header } = this.state.profile;
    return [
      { key: "calls", label: header.occurrences, of: (f) => f.calls },
      { key: "self", of: (f, r) => f.base?.[r] ?? 0 },
      { key: "%", kind: "share", of: (f, r) => f.base?.[r] ?? 0 },
      { key: "total", of: (f, r) => f.cum?.[r] ?? 0 },
      { key: "contexts", of: (f) => f.contexts },
    ].map((column) => ({ ...column, total: header.total }));
  }

  /** Columns of a comparison. */
  compared() {
    const { sides } = this.state.profile;
    const found = (r, i, isTotal) => sides.function(r, i, isTotal);
    const pair = (key, label, isTotal, resource) => [
      { key, label, kind: "pair", of: (f, r, i) => found(resource ?? r, i, isTotal).after },
      { key: `${key} change`, label: "change", kind: "change", of: (f, r, i) => Math.abs(found(resource ?? r, i, isTotal).change) },
    ];
    return [...pair("calls", this.state.profile.header.occurrences, false, sides.calls), ...pair("self", "self", false), ...pair("total", "total", true)];
  }

  update() {
    const { profile, resource } = this.state;
    if (document.activeElement !== this.filter) this.filter.value = this.state.at.filter;
    const sort = this.state.at.sort || (profile.sides ? "self change" : "self");
    const isUp = sort.startsWith("-");
    const column = this.columns.find(({ key }) => key === sort.replace(/^-/, "")) || this.columns[1];
    sortedBy(this.columns, column.key, isUp);
    const words = this.state.at.filter.toLowerCase();
    const all = profile.functions.map((f, i) => i).filter((i) => i > 0 && profile.functions[i].contexts > 0 && ["method", "link", "deeper"].includes(profile.functions[i].kind));
    const list = all.filter((i) => !words || profile.labels[i].toLowerCase().includes(words) || profile.functions[i].name.toLowerCase().includes(words));
    const key = new Map(list.map((i) => [i, column.of(profile.functions[i], resource, i)]));
    const name = (i) => profile.functions[i].name;
    const order = (a, b) => {
      const [x, y] = [key.get(a), key.get(b)];
      const by = typeof x === "string" ? (x < y ? -1 : x > y ? 1 : 0) : y - x;
      return (isUp ? -by : by) || (name(a) < name(b) ? -1 : 1);
    };
    this.list = list.sort(order);
    this.sum.textContent = `${count(list.length)} of ${count(all.length)} methods`;
    this.rows.show(this.list.length, this.list.indexOf(profile.fn[this.state.selected]));
  }

  fill(row, index) {
    const { profile, resource } = this.state;
    const i = this.list[index];
    const f = profile.functions[i];
    const { unit } = profile.resources[resource];
    row.dataset.function = String(i);
    if (this.app.finder.isHitFunction(i)) row.classList.add("hit");
    row.append(nameCell(profile.labels[i]));
    if (profile.sides) row.append(...comparedCells(profile.sides, unit, (r, isTotal) => profile.sides.function(r, i, isTotal), resource));
    else {
      const figure = (part) => figureCell(`${this.app.mark(f, resource, part)}${this.app.amount(f[part]?.[resource] ?? 0, resource)}`, errorOf(f[`${part}_error`]?.[resource], f[part]?.[resource], unit));
      row.append(cell(this.app.callsOf(f)), figure("base"), cell(percent(f.base?.[resource] ?? 0, profile.header.total[resource]), "share"), figure("cum"), cell(count(f.contexts)));
    }
    row.onclick = () => this.state.go({ selected: this.app.largest(i) }, true);
    row.ondblclick = () => this.state.go({ selected: this.app.largest(i), view: "tree" });
  }

  /** To the next method, or the one before. */
  step(how) {
    if (!ROWS_BY[how] || !this.list.length) return;
    this.state.go({ selected: this.app.largest(this.list[rowAfter(this.rows.selected, how, this.list.length)]) }, true);
  }

  enter() {
    this.state.go({ view: "tree" });
  }

  csv() {
    const { profile, resource } = this.state;
    const { sides } = profile;
    const head = sides ? ["calls_before", "calls_after", "self_before", "self_after", "total_before", "total_after", "method"] : ["calls", ...figureHeads(profile.resources[resource].unit), "contexts", "method"];
    const row = (i) => {
      const f = profile.functions[i];
      if (sides) return [[sides.calls, false], [resource, false], [resource, true]].flatMap(([r, isTotal]) => [sides.function(r, i, isTotal)]).flatMap(({ before, after }) => [before, after]);
      return [f.calls, ...["base", "cum"].flatMap((part) => [f[part]?.[resource] ?? 0, f[`${part}_error`]?.[resource] ?? ""]), f.contexts];
    };
    return csvOf("methods", head, this.list.map((i) => [...row(i), profile.labels[i]]));
  }
}
