// Methods irrespective of context: what xprof and stats print, sorted by any column.
"use strict";

class MethodsView {
  constructor(app, parent) {
    this.app = app;
    this.state = app.state;
    const { profile } = this.state;
    const tools = element("div", { class: "tools" });
    this.filter = element("input", { id: "filter", type: "search", placeholder: "Only names with", size: 40, "aria-label": "Only names with" });
    this.filter.value = this.state.at.filter;
    this.filter.oninput = () => this.state.go({ filter: this.filter.value }, true);
    this.sum = element("span", { class: "kind" });
    tools.append(this.filter, this.sum);
    parent.append(tools);
    this.columns = [
      { key: "calls", of: (f) => f.calls, text: (f) => count(f.calls) },
      { key: "self", of: (f, r) => f.base?.[r] ?? 0, text: (f, r, unit) => `${this.app.mark(f, r, "base")}${quantity(f.base?.[r] ?? 0, unit)}` },
      { key: "\u00b1", kind: "error", of: (f, r) => f.base_error?.[r] ?? 0, text: (f, r, unit) => errorText(f.base_error?.[r] ?? undefined, unit) },
      { key: "%", kind: "share", of: (f, r) => f.base?.[r] ?? 0, text: (f, r) => percent(f.base?.[r] ?? 0, profile.header.total[r]) },
      { key: "total", of: (f, r) => f.cum?.[r] ?? 0, text: (f, r, unit) => `${this.app.mark(f, r, "cum")}${quantity(f.cum?.[r] ?? 0, unit)}` },
      { key: "\u00b1 ", kind: "error", of: (f, r) => f.cum_error?.[r] ?? 0, text: (f, r, unit) => errorText(f.cum_error?.[r] ?? undefined, unit) },
      { key: "contexts", of: (f) => f.contexts, text: (f) => count(f.contexts) },
      { key: "name", kind: "name", of: (f, r, i) => profile.labels[i] },
    ];
    if (profile.sides) this.columns = this.compared();
    this.head = element("div", { class: "head" });
    for (const column of this.columns) {
      const button = element("button", { "data-sort": column.key.trim() }, column.key);
      button.onclick = () => this.state.go({ sort: this.state.at.sort === column.key ? `-${column.key}` : column.key });
      column.button = button;
      this.head.append(element("span", { class: column.key === "name" ? "name" : `cell ${column.kind || ""}` }, button));
    }
    parent.append(this.head);
    this.rows = new Rows(parent, (row, index) => this.fill(row, index), "Methods");
  }

  /** Columns of a comparison. */
  compared() {
    const { sides, labels } = this.state.profile;
    const side = (key, isTotal, part) => ({
      key,
      of: (f, r, i) => (part === "change" ? Math.abs(sides.function(r, i, isTotal).change) : sides.function(r, i, isTotal)[part]),
      text: (f, r, unit, i) => (part === "change" ? changeText(sides.function(r, i, isTotal), unit) : mean(sides.function(r, i, isTotal)[part], unit)),
    });
    const calls = (key, part) => ({
      key,
      of: (f, r, i) => sides.function(sides.calls, i, false)[part],
      text: (f, r, unit, i) => mean(sides.function(sides.calls, i, false)[part], ""),
    });
    return [
      calls("calls before", "before"),
      calls("calls after", "after"),
      side("self before", false, "before"),
      side("self after", false, "after"),
      side("self change", false, "change"),
      side("total before", true, "before"),
      side("total after", true, "after"),
      side("total change", true, "change"),
      { key: "name", kind: "name", of: (f, r, i) => labels[i] },
    ];
  }

  update() {
    const { profile, resource } = this.state;
    const sort = this.state.at.sort || (profile.sides ? "self change" : "self");
    const isUp = sort.startsWith("-");
    const column = this.columns.find(({ key }) => key === sort.replace(/^-/, "")) || this.columns[1];
    for (const { key, button } of this.columns) button.textContent = key === column.key ? `${key} ${isUp ? "\u25b4" : "\u25be"}` : key;
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
    this.rows.show(this.list.length);
    const at = this.list.indexOf(profile.fn[this.state.selected]);
    if (at >= 0) this.rows.scrollTo(at);
  }

  fill(row, index) {
    const { profile, resource } = this.state;
    const i = this.list[index];
    const f = profile.functions[i];
    const unit = profile.resources[resource].unit;
    row.dataset.function = String(i);
    if (profile.fn[this.state.selected] === i) row.classList.add("selected");
    for (const column of this.columns) {
      if (column.key === "name") {
        const name = element("span", { class: "name" }, profile.labels[i]);
        name.title = profile.labels[i];
        row.append(name);
      } else {
        row.append(cell(column.text(f, resource, unit, i), column.kind || ""));
      }
    }
    row.onclick = () => this.state.go({ selected: this.app.largest(i) }, true);
    row.ondblclick = () => this.state.go({ selected: this.app.largest(i), view: "tree" });
  }

  csv() {
    const { profile, resource } = this.state;
    if (profile.sides) {
      const [{ sides }, lines] = [profile, ["calls_before,calls_after,self_before,self_after,total_before,total_after,method"]];
      for (const i of this.list) {
        const all = [[sides.calls, false], [resource, false], [resource, true]].map(([r, isTotal]) => sides.function(r, i, isTotal));
        lines.push([...all.flatMap(({ before, after }) => [before, after]), csvField(profile.labels[i])].join(","));
      }
      return { name: "methods.csv", type: "text/csv", text: lines.join("\r\n") + "\r\n" };
    }
    const lines = ["calls,self,total,contexts,method"];
    for (const i of this.list) {
      const f = profile.functions[i];
      lines.push([f.calls, f.base?.[resource] ?? 0, f.cum?.[resource] ?? 0, f.contexts, csvField(profile.labels[i])].join(","));
    }
    return { name: "methods.csv", type: "text/csv", text: lines.join("\r\n") + "\r\n" };
  }
}
