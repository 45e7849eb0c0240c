// What a report begins with: which program, how long, what was recorded, and the methods that took most.
"use strict";

class SummaryView {
  constructor(app, parent) {
    this.app = app;
    this.body = element("div", { class: "body page" });
    parent.append(this.body);
  }

  update() {
    const { profile, resource } = this.app.state;
    const { about, left_out: leftOut } = profile.header;
    const unit = profile.resources[resource].unit;
    const list = element("dl", { id: "facts" });
    for (const [key, value] of about.facts) list.append(element("dt", {}, key), element("dd", {}, value));
    this.body.replaceChildren(element("h2", {}, about.title), list);
    for (const text of about.warnings) this.body.append(element("p", { class: "unknown" }, text));
    if (leftOut) {
      const share = `${(100 * leftOut.share).toPrecision(2)} %`;
      this.body.append(element("p", { id: "left-out" }, `${count(leftOut.contexts)} small contexts are left out of this page: none took more than ${share} of every resource, with all that it called. Those of one caller are one context, (left out). The tables of methods have all figures.`));
    }
    const rows = profile.functions.map((f, i) => i).filter((i) => profile.functions[i].kind === "method" && profile.functions[i].contexts > 0);
    rows.sort((a, b) => profile.functions[b].base[resource] - profile.functions[a].base[resource]);
    const table = element("table", { id: "hot" });
    const head = element("tr");
    for (const text of ["calls", "self", "%", "total", "method"]) head.append(element("th", {}, text));
    table.append(head);
    for (const i of rows.slice(0, 20)) {
      const f = profile.functions[i];
      const go = element("button", {}, profile.labels[i]);
      go.onclick = () => this.app.state.go({ selected: this.app.largest(i), view: "tree" });
      const name = element("td");
      name.append(go);
      const row = element("tr");
      row.append(element("td", {}, count(f.calls)), element("td", {}, `${this.app.mark(f, resource, "base")}${quantity(f.base[resource], unit)}`), element("td", {}, percent(f.base[resource], profile.header.total[resource])), element("td", {}, `${this.app.mark(f, resource, "cum")}${quantity(f.cum[resource], unit)}`), name);
      table.append(row);
    }
    this.body.append(element("h2", {}, `Methods by ${profile.resources[resource].name}, self`), table);
  }
}
