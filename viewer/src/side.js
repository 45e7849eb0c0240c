// The panel beside the view: what is selected, and the mappings. It is there once something is selected, and as wide as it was drawn.
"use strict";

const NARROW = 200;
const WIDE = 900;

class SidePanel {
  constructor(app) {
    this.app = app;
    this.panel = document.getElementById("side");
    this.edge = document.getElementById("side-edge");
    document.getElementById("side-close").onclick = () => app.state.go({ side: "off", mapper: "" }, true);
    this.edge.addEventListener("pointerdown", (event) => {
      this.edge.setPointerCapture(event.pointerId);
      this.edge.onpointermove = (moved) => this.wide(innerWidth - moved.clientX);
      this.edge.onpointerup = () => {
        this.edge.onpointermove = this.edge.onpointerup = null;
        app.state.go({ side: String(this.width) }, true);
      };
    });
    this.edge.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: 20, ArrowRight: -20 }[event.key];
      if (!by) return;
      event.stopPropagation();
      event.preventDefault();
      this.wide(this.width + by);
      app.state.go({ side: String(this.width) }, true);
    });
  }

  get width() {
    return this.panel.offsetWidth;
  }

  wide(pixels) {
    const width = Math.round(Math.min(WIDE, innerWidth / 2, Math.max(NARROW, pixels)));
    this.panel.style.width = `${width}px`;
    this.edge.setAttribute("aria-valuenow", String(width));
  }

  /** Opens it, or closes it. */
  toggle() {
    this.app.state.go({ side: this.panel.hidden ? "" : "off" }, true);
  }

  update() {
    const { at, selected } = this.app.state;
    const facts = this.app.view.facts?.();
    const isMapping = at.mapper === "1";
    const isOpen = isMapping || (at.side !== "off" && (selected !== 0 || facts !== undefined || this.app.mapper.plans.length > 0));
    this.panel.hidden = this.edge.hidden = !isOpen;
    // Tables leave out what the panel says of the selected row.
    this.panel.parentElement.classList.toggle("beside", isOpen);
    if (Number(at.side) > 0) this.wide(Number(at.side));
    drawMapping(this.app, isMapping);
    if (!isOpen) return;
    this.facts(facts);
    const node = document.getElementById("node");
    node.hidden = selected === 0;
    if (selected === 0) node.replaceChildren();
    else drawNode(this.app);
  }

  /** The selected row of a view that shows no contexts. */
  facts(facts) {
    const place = document.getElementById("facts-of-row");
    place.hidden = facts === undefined;
    place.replaceChildren();
    if (!facts) return;
    const list = element("dl");
    for (const [key, value] of facts.fields) list.append(element("dt", {}, key), element("dd", {}, value));
    place.append(element("h2", {}, ...breakable(facts.title)), list);
  }
}
