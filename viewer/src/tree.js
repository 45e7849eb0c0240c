// The tree as a table that is opened level by level.
"use strict";

class TreeView {
  constructor(app, parent) {
    this.app = app;
    this.state = app.state;
    this.tools = new Toolbar(app, parent, ["drawn-as", "open-level", "close-all", "chains", "up", "reset", "root-here"]);
    const { name } = this.state.profile.resources[this.state.resource];
    const columns = this.state.profile.sides ? SIDE_COLUMNS : [[this.state.profile.header.occurrences], ["self"], ["total"], ["%", "share"]];
    this.rows = new Rows(parent, (row, index) => this.fill(row, index), "Tree of contexts", [[`context, ${name}`, "name"], ...columns], "treegrid");
  }

  update() {
    this.list = this.app.tree.list();
    this.tools.update();
    this.rows.show(this.list.nodes.length, this.list.nodes.indexOf(this.state.selected));
  }

  fill(row, index) {
    const { profile, resource } = this.state;
    const node = this.list.nodes[index];
    const level = this.list.levels[index];
    row.dataset.node = String(node);
    row.setAttribute("aria-level", String(level + 1));
    if (this.app.mapper.isDimmed(node)) row.classList.add("dim");
    if (this.app.finder.isHit(node)) row.classList.add("hit");
    row.append(this.name(node, level, index));
    const { sides } = profile;
    if (sides) row.append(...comparedCells(sides, profile.resources[resource].unit, (r, isTotal) => sides.context(r, node, isTotal), resource));
    else {
      row.append(
        cell(this.app.calls(node)),
        figureCell(this.app.figure(resource, node, false), this.app.error(resource, node, false)),
        figureCell(this.app.figure(resource, node, true), this.app.error(resource, node, true)),
        cell(percent(profile.total(resource)[node], profile.total(resource)[this.state.root]), "share"),
      );
    }
    row.onclick = () => this.state.go({ selected: node }, true);
    row.ondblclick = () => this.app.tree.toggle(node);
    if (profile.isLeaf(node)) return;
    row.setAttribute("aria-expanded", String(this.state.open.has(node)));
  }

  name(node, level, index) {
    const { profile } = this.state;
    const isLeaf = profile.isLeaf(node);
    const name = nameCell(profile.label(node), isLeaf ? "leaf" : "");
    const open = element("span", { class: "open", "aria-hidden": "true" }, isLeaf ? "" : this.state.open.has(node) ? "\u25be" : "\u25b8");
    open.onclick = (event) => (event.stopPropagation(), this.app.tree.toggle(node));
    const swatch = element("span", { class: "swatch" });
    swatch.style.background = this.app.mapper.colour(node);
    const chained = [];
    const length = this.app.tree.length(this.list, index);
    if (length > 1) {
      const chain = profile.path(node).slice(-length, -1).map((i) => profile.label(i));
      chained.push(element("span", { class: "chain", title: `${chain.join("\n")}\neach calls only the next` }, `${short(chain[0]).slice(0, 40)} \u203a ${length > 2 ? `${count(length - 2)} more \u203a ` : ""}`));
    }
    const { kind } = profile.function(node);
    if (kind !== "method") name.append(element("span", { class: "package" }, kind));
    return indent(name, level, [open, swatch], chained);
  }

  /** The rows that are open, as CSV. */
  csv() {
    const { profile, resource } = this.state;
    const { sides } = profile;
    const { unit } = profile.resources[resource];
    const head = sides ? ["level", "self_before", "self_after", "total_before", "total_after", "context"] : ["level", "calls", ...figureHeads(unit), "context"];
    const rows = this.list.nodes.map((node, i) => {
      const figures = sides
        ? [false, true].flatMap((isTotal) => sides.context(resource, node, isTotal)).flatMap(({ before, after }) => [before, after])
        : [profile.calls[node], ...[false, true].flatMap((isTotal) => [(isTotal ? profile.total(resource) : profile.base(resource))[node], profile.error(resource, node, isTotal) ?? ""])];
      return [this.list.levels[i], ...figures, profile.label(node)];
    });
    return csvOf("tree", head, rows);
  }
}

/** Columns of figures and of what they may be off by. */
function figureHeads(unit) {
  const of = unit ? `_${unit}` : "";
  return [`self${of}`, `self_error${of}`, `total${of}`, `total_error${of}`];
}

/** Rows as a file of RFC 4180. */
function csvOf(name, head, rows) {
  const lines = [head, ...rows].map((row) => row.map((field) => csvField(String(field))).join(","));
  return { name: `${name}.csv`, type: "text/csv", text: lines.join("\r\n") + "\r\n" };
}

/** A field of RFC 4180; what a spreadsheet would take for a formula is text. */
function csvField(text) {
  const safe = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
