// The tree as a table that is opened level by level.
"use strict";

/** Contexts that Open level shows at most. */
const MOST_OPEN = 20000;

class TreeView {
  constructor(app, parent) {
    this.app = app;
    this.state = app.state;
    this.tools = new Toolbar(app, parent, ["open-level", "close-all", "up", "reset", "root-here"]);
    const { name } = this.state.profile.resources[this.state.resource];
    const head = element("div", { class: "head" });
    const usual = [["calls", ""], ["self", ""], ["\u00b1", "error"], ["total", ""], ["\u00b1", "error"], ["%", "share"]];
    const compared = ["self before", "after", "change", "total before", "after", "change"].map((text) => [text, ""]);
    for (const [text, kind] of this.state.profile.sides ? compared : usual) {
      head.append(element("span", { class: `cell ${kind}` }, text));
    }
    head.append(element("span", { class: "name" }, `context, ${name}`));
    parent.append(head);
    this.rows = new Rows(parent, (row, index) => this.fill(row, index), "Tree of contexts");
  }

  update() {
    this.list = this.app.openList();
    this.tools.update();
    this.rows.show(this.list.nodes.length);
    const at = this.list.nodes.indexOf(this.state.selected);
    if (at >= 0) this.rows.scrollTo(at);
    this.rows.draw(true);
  }

  fill(row, index) {
    const { profile, resource } = this.state;
    const node = this.list.nodes[index];
    const unit = profile.resources[resource].unit;
    const total = profile.total(resource);
    const whole = total[this.state.root];
    const isOpen = this.state.open.has(node);
    row.dataset.node = String(node);
    if (node === this.state.selected) row.classList.add("selected");
    row.setAttribute("aria-selected", String(node === this.state.selected));
    row.setAttribute("aria-level", String(this.list.levels[index] + 1));
    if (this.app.mapper.isDimmed(node)) row.classList.add("dim");
    const { sides } = profile;
    if (sides) row.append(...[false, true].flatMap((isTotal) => sideCells(sides.context(resource, node, isTotal), unit)));
    else row.append(
      cell(count(profile.calls[node])),
      cell(this.app.figure(resource, node, false)),
      cell(errorText(profile.error(resource, node, false), unit), "error"),
      cell(this.app.figure(resource, node, true)),
      cell(errorText(profile.error(resource, node, true), unit), "error"),
      cell(percent(total[node], whole), "share"),
    );
    const name = element("span", { class: "name" });
    name.style.paddingLeft = `${Math.min(this.list.levels[index], 40) * 14}px`;
    const isLeaf = profile.isLeaf(node);
    const open = element("span", { class: "open", "aria-hidden": "true" }, isLeaf ? "" : isOpen ? "\u25be" : "\u25b8");
    open.onclick = (event) => (event.stopPropagation(), this.app.toggle(node));
    const swatch = element("span", { class: "swatch" });
    swatch.style.background = this.app.mapper.colour(node);
    const deep = this.list.levels[index] > 40 ? `${this.list.levels[index]}: ` : "";
    const kind = profile.kind(node) === "method" ? "" : ` ${profile.kind(node)}`;
    const label = element("span", { class: isLeaf ? "leaf" : "" }, deep + profile.label(node));
    name.append(open, swatch, label, element("span", { class: "kind" }, kind));
    name.title = profile.label(node);
    row.append(name);
    row.onclick = () => this.state.go({ selected: node }, true);
    row.ondblclick = () => this.app.toggle(node);
  }

  /** The rows that are open, as CSV. */
  csv() {
    const { profile, resource } = this.state;
    const total = profile.total(resource);
    const { sides } = profile;
    if (sides) {
      const lines = ["level,self_before,self_after,total_before,total_after,context"];
      this.list.nodes.forEach((node, i) => {
        const [self, all] = [false, true].map((isTotal) => sides.context(resource, node, isTotal));
        lines.push([this.list.levels[i], self.before, self.after, all.before, all.after, csvField(profile.label(node))].join(","));
      });
      return { name: "tree.csv", type: "text/csv", text: lines.join("\r\n") + "\r\n" };
    }
    const lines = ["level,calls,self,total,context"];
    this.list.nodes.forEach((node, i) => {
      lines.push([this.list.levels[i], profile.calls[node], profile.base(resource)[node], total[node], csvField(profile.label(node))].join(","));
    });
    return { name: "tree.csv", type: "text/csv", text: lines.join("\r\n") + "\r\n" };
  }
}

/** A field of RFC 4180; what a spreadsheet would take for a formula is text. */
function csvField(text) {
  const safe = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
