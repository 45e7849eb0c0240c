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
    const left = profile.section("left_out") || [];
    if (left.length) this.body.append(element("p", { id: "rows-left-out" }, `Also left out, for the page has no room: ${left.join(", ")}.`));
    const { sides } = profile;
    const rows = profile.functions.map((f, i) => i).filter((i) => profile.functions[i].kind === "method" && profile.functions[i].contexts > 0);
    const weight = (i) => (sides ? Math.abs(sides.function(resource, i, false).change) : profile.functions[i].base[resource]);
    rows.sort((a, b) => weight(b) - weight(a));
    const table = element("table", { id: "hot" });
    const head = element("tr");
    const heads = sides ? ["calls before", "after", "self before", "after", "change", "total before", "after", "change", "method"] : ["calls", "self", "%", "total", "method"];
    for (const text of heads) head.append(element("th", {}, text));
    table.append(head);
    for (const i of rows.slice(0, 20)) {
      const f = profile.functions[i];
      const go = element("button", {}, profile.labels[i]);
      go.onclick = () => this.app.state.go({ selected: this.app.largest(i), view: "tree" });
      const name = element("td");
      name.append(go);
      const row = element("tr");
      if (sides) {
        const [calls, self, all] = [[sides.calls, false], [resource, false], [resource, true]].map(([r, isTotal]) => sides.function(r, i, isTotal));
        const texts = [mean(calls.before, ""), mean(calls.after, ""), ...[self, all].flatMap((found) => [mean(found.before, unit), mean(found.after, unit), changeText(found, unit)])];
        row.append(...texts.map((text) => element("td", {}, text)), name);
        table.append(row);
        continue;
      }
      row.append(element("td", {}, count(f.calls)), element("td", {}, `${this.app.mark(f, resource, "base")}${quantity(f.base[resource], unit)}`), element("td", {}, percent(f.base[resource], profile.header.total[resource])), element("td", {}, `${this.app.mark(f, resource, "cum")}${quantity(f.cum[resource], unit)}`), name);
      table.append(row);
    }
    this.body.append(element("h2", {}, `Methods by ${sides ? "the change of " : ""}${profile.resources[resource].name}, self`), table);
  }
}
