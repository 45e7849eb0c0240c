// The mapper: rules from attributes of contexts to colour, shape, size and width. The first rule that fits decides. A rule without a value
// gives every value, or range of values, a colour of its own.
"use strict";

// Of Okabe and Ito: told apart by the colour-blind.
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a6fb8", "#b3a02c", "#6b7f8c", "#a3596b"];
const SHAPES = ["circle", "square", "diamond", "triangle"];
const RANGES = 6;

/** What can be asked of a context. A figure is a number, all else is text. */
const ATTRIBUTES = {
  method: { label: "method", of: (p, i) => p.label(i) },
  class: { label: "class", of: (p, i) => classOf(p.labels[p.fn[i]]) },
  package: { label: "package", of: (p, i) => packageOf(p.labels[p.fn[i]]) },
  kind: { label: "kind", of: (p, i) => p.kind(i) },
  file: { label: "source file", of: (p, i) => p.function(i).file || "" },
  thread: { label: "thread", of: (p, i) => named(p, i, "thread") },
  process: { label: "JVM (process)", of: (p, i) => named(p, i, "process") },
  calls: { label: "calls", isFigure: true, of: (p, i) => p.calls[i] },
  self: { label: "self", isFigure: true, of: (p, i, r) => p.base(r)[i] },
  total: { label: "total", isFigure: true, of: (p, i, r) => p.total(r)[i] },
  percall: { label: "total per call", isFigure: true, of: (p, i, r) => (p.calls[i] ? p.total(r)[i] / p.calls[i] : 0) },
  took: { label: "time of a single call", isFigure: true, of: (p, i, r, ns) => ns ?? p.stats.get(p.function(i).name)?.max ?? 0 },
  depth: { label: "depth", isFigure: true, of: (p, i) => p.depth[i] },
  children: { label: "callees", isFigure: true, of: (p, i) => p.start[i + 1] - p.start[i] },
};

/** An attribute of the method of a name, whatever its contexts are. */
function ofMethod(profile, attribute, name) {
  if (attribute === "method") return profile.labelOf(name);
  const node = profile.anyContext(name);
  return node === undefined ? "" : ATTRIBUTES[attribute].of(profile, node);
}

function named(profile, node, kind) {
  const above = profile.enclosing(node, kind);
  return above === undefined ? "" : profile.label(above);
}

/** What a query says: text is contained whatever the case is, `=` is the whole text, figures may have >, >=, <, <=. */
function matcher(attribute, text) {
  const query = text.trim();
  if (ATTRIBUTES[attribute].isFigure) {
    const parts = /^(>=|<=|>|<|=)?\s*([\d.]+(?:e\d+)?)\s*(ns|us|ms|s|KiB|MiB|GiB)?$/i.exec(query);
    if (!parts) return undefined;
    const scale = parts[3] ? [...TIMES, ...SIZES].find(([name]) => name.toLowerCase() === parts[3].toLowerCase())[1] : 1;
    const value = Number(parts[2]) * scale;
    const test = { ">": (x) => x > value, "<": (x) => x < value, "<=": (x) => x <= value, "=": (x) => x === value };
    return test[parts[1]] || ((x) => x >= value);
  }
  if (query.startsWith("=")) return (x) => x === query.slice(1).trim();
  const low = query.toLowerCase();
  return (x) => x.toLowerCase().includes(low);
}

class Mapper {
  constructor(state) {
    this.state = state;
    this.update();
  }

  /** Reads the rules of the address. */
  update() {
    const text = this.state.at.rules;
    if (text === this.text && this.resource === this.state.resource) return;
    this.text = text;
    this.resource = this.state.resource;
    this.rules = rulesOf(this.state);
    this.plans = this.rules.filter((rule) => rule.on !== false).map((rule, i) => this.plan(rule, i));
    this.cache = new Map();
  }

  plan(rule, index) {
    const { profile } = this.state;
    const attribute = ATTRIBUTES[rule.attribute];
    const display = rule.display || "colour";
    if (rule.value !== undefined && rule.value !== "") {
      const fits = matcher(rule.attribute, rule.value);
      const style = rule.style || (display === "shape" ? SHAPES[1] : display === "colour" ? COLOURS[index % COLOURS.length] : "2");
      return { rule, display, of: (i, ns) => (fits && fits(attribute.of(profile, i, this.resource, ns)) ? style : undefined), entries: [[`${attribute.label} ${rule.value}`, style]], group: (i, ns) => (fits && fits(attribute.of(profile, i, this.resource, ns)) ? 0 : undefined) };
    }
    if (attribute.isFigure) {
      // Ranges of equal ratio: figures of programs span many powers of ten.
      let least = Infinity;
      let most = 0;
      for (let i = 1; i < profile.count; i++) {
        const value = attribute.of(profile, i, this.resource);
        if (value > 0) least = Math.min(least, value);
        most = Math.max(most, value);
      }
      const ratio = most > least ? Math.log(most / least) : 1;
      const unit = rule.attribute === "took" ? "ns" : ["self", "total", "percall"].includes(rule.attribute) ? profile.resources[this.resource].unit : "";
      const group = (i, ns) => {
        const value = attribute.of(profile, i, this.resource, ns);
        return value > 0 && most > 0 ? Math.max(0, Math.min(RANGES - 1, Math.floor((RANGES * Math.log(value / least)) / ratio))) : 0;
      };
      const from = (k) => least * Math.exp((ratio * k) / RANGES);
      const style = (k) => styleOf(display, k, RANGES);
      const entries = [...Array(RANGES).keys()].map((k) => [`${attribute.label} ${k === 0 ? "below " + quantity(Math.round(from(1)), unit) : "from " + quantity(Math.round(from(k)), unit)}`, style(k)]);
      return { rule, display, of: (i, ns) => style(group(i, ns)), group, entries };
    }
    // The most frequent values first; what is past the colours shares the last one.
    const sums = new Map();
    const ofFunction = profile.functions.length;
    const perFunction = ["method", "class", "package", "kind", "file"].includes(rule.attribute);
    const known = perFunction ? new Array(ofFunction) : null;
    const value = (i) => (perFunction ? (known[profile.fn[i]] ??= attribute.of(profile, i)) : attribute.of(profile, i));
    const limit = display === "colour" ? COLOURS.length : display === "shape" ? SHAPES.length : 4;
    const total = profile.base(this.resource);
    for (let i = 1; i < profile.count; i++) {
      const key = value(i);
      sums.set(key, (sums.get(key) || 0) + Math.max(0, total[i]));
    }
    const order = [...sums.keys()].sort((a, b) => sums.get(b) - sums.get(a) || (a < b ? -1 : 1));
    const groups = new Map(order.map((key, k) => [key, Math.min(k, limit - 1)]));
    const group = (i) => groups.get(value(i));
    const entries = order.slice(0, limit).map((key, k) => [k === limit - 1 && order.length > limit ? `${order.length - limit + 1} others` : key || "(none)", styleOf(display, k, limit)]);
    return { rule, display, of: (i) => styleOf(display, group(i), limit), group, entries };
  }

  style(node, display) {
    for (const plan of this.plans) {
      if (plan.display !== display) continue;
      const style = plan.of(node);
      if (style !== undefined) return style;
    }
    return undefined;
  }

  /** The colour of a single call of a context, by the rules on methods and on single calls; `ns`: how long it took, NaN of several calls. Undefined: none fits. */
  ofCall(node, ns) {
    for (const { rule, display, of } of this.plans) {
      const isMeant = rule.attribute === "took" ? !Number.isNaN(ns) : OF_METHODS.includes(rule.attribute);
      const style = display === "colour" && isMeant ? of(node, ns) : undefined;
      if (style !== undefined) return style;
    }
    return undefined;
  }

  /** The colour of a context: by a rule, or by its package. */
  colour(node) {
    let colour = this.cache.get(node);
    if (colour === undefined) {
      const { profile } = this.state;
      const unruled = () => (profile.sides ? profile.sides.colour(this.resource, node) : usual(profile, node));
      colour = this.style(node, "colour") || unruled();
      this.cache.set(node, colour);
    }
    return colour;
  }

  /** Whether a context is not of the entry of the key that was clicked. */
  isDimmed(node) {
    const [plan, entry] = this.state.at.isolate.split(".").map(Number);
    const chosen = this.state.at.isolate && this.plans[plan];
    return chosen ? chosen.group(node) !== entry : false;
  }
}

function styleOf(display, k, of) {
  if (display === "colour") return COLOURS[k % COLOURS.length];
  if (display === "shape") return SHAPES[k % SHAPES.length];
  return String(1 + (3 * k) / Math.max(1, of - 1));
}

const usualColours = new Map();

/** Methods of one package have one hue; what is not a method is grey. */
function usual(profile, node) {
  const fn = profile.fn[node];
  let colour = usualColours.get(fn);
  if (colour === undefined) {
    colour = profile.functions[fn].kind !== "method" ? "#9aa5b0" : colourOf(profile.labels[fn]);
    usualColours.set(fn, colour);
  }
  return colour;
}

/** The colour of a method. */
function colourOf(label) {
  // The golden angle spreads the hues of similar names.
  const hue = Math.round(hash(packageOf(label), 0x811c9dc5) * 137.508) % 360;
  return `hsl(${hue} 50% ${62 + (hash(label, 7) % 10)}%)`;
}
