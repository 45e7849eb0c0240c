// The document of the page, decoded: crates/analysis/src/page.rs says what is in it.
"use strict";

/** The document that stands in the page. */
async function readDocument(text) {
  const packed = atob(text.trim());
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(inflated).arrayBuffer());
}

/** Column after column. */
class Decoder {
  constructor(bytes, at, contexts) {
    this.bytes = bytes;
    this.at = at;
    this.contexts = contexts;
    this.columns = new Map();
  }

  number() {
    const bytes = this.bytes;
    let byte = bytes[this.at++];
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    let scale = 128;
    do {
      byte = bytes[this.at++];
      value += (byte & 0x7f) * scale;
      scale *= 128;
    } while (byte >= 0x80);
    return value;
  }

  column(plan) {
    const values = new Float64Array(this.contexts);
    const end = this.at + plan.bytes;
    if (plan.encoding === "float") {
      const all = new Uint8Array(values.buffer);
      for (let byte = 0; byte < 8; byte++) {
        for (let i = 0; i < this.contexts; i++) all[8 * i + byte] = this.bytes[this.at++];
      }
    } else if (plan.encoding === "unsigned") {
      for (let i = 0; i < this.contexts; i++) values[i] = this.number();
    } else {
      const parts = (plan.from || []).map((name) => this.columns.get(name));
      for (let i = 0; i < this.contexts; i++) {
        const coded = this.number();
        let value = coded % 2 === 0 ? coded / 2 : -(coded + 1) / 2;
        for (const part of parts) value += part[i];
        values[i] = value;
      }
    }
    if (this.at !== end) throw new Error(`the column ${plan.name} has another length`);
    this.columns.set(plan.name, values);
  }
}

/** A profile: contexts by number, parents before children, 0 is the root. */
class Profile {
  constructor(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const length = view.getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
    if (header.format !== 1) throw new Error(`a document of format ${header.format}, which this page does not know`);
    this.header = header;
    this.resources = header.resources;
    this.functions = header.functions;
    this.count = header.contexts;
    const decoder = new Decoder(bytes, 4 + length, this.count);
    // A column may be the sum of others and a rest: those come first.
    const starts = [];
    let at = 4 + length;
    for (const plan of header.columns) {
      starts.push(at);
      at += plan.bytes;
    }
    const later = (plan) => (plan.from || []).reduce((most, name) => Math.max(most, 1 + later(header.columns.find((c) => c.name === name))), 0);
    const order = header.columns.map((plan, i) => i).sort((a, b) => later(header.columns[a]) - later(header.columns[b]) || a - b);
    for (const i of order) {
      decoder.at = starts[i];
      decoder.column(header.columns[i]);
    }
    const columns = decoder.columns;
    this.columns = columns;
    this.calls = columns.get("calls");
    this.fn = Int32Array.from(columns.get("function"));
    this.parent = Int32Array.from(columns.get("parent"));
    for (let i = 0; i < this.count; i++) this.parent[i] = i - this.parent[i];
    columns.delete("function");
    columns.delete("parent");
    this.totals = new Map();
    this.labels = this.functions.map((f) => f.label || f.name);
    /** Of samples nobody counted calls. */
    this.isCounted = this.functions.some((f) => f.kind === "method" && f.calls > 0);
    this.stats = new Map((header.stats || []).map((row) => [row.function, row]));
    this.sides = header.difference ? new Sides(this, header.difference) : undefined;
    this.link();
    this.arcs();
  }

  /** The document of another report; undefined: nothing of it was recorded. */
  section(name) {
    return this.header.sections?.[name] ?? undefined;
  }

  /** The consumer of a name; undefined: there is none. */
  functionOf(name) {
    this.byName ??= new Map(this.functions.map((f, i) => [f.name, i]).reverse());
    return this.byName.get(name);
  }

  /** A context of the method of a name, whichever; undefined: there is none. */
  anyContext(name) {
    if (!this.contextOfFunction) {
      this.contextOfFunction = new Int32Array(this.functions.length);
      for (let i = this.count - 1; i > 0; i--) this.contextOfFunction[this.fn[i]] = i;
    }
    return this.contextOfFunction[this.functionOf(name) ?? 0] || undefined;
  }

  /** A name as it is shown. */
  labelOf(name) {
    const fn = this.functionOf(name);
    return fn === undefined ? name : this.labels[fn];
  }

  /** Children, first to last as in the document, and depths. */
  link() {
    const { count, parent } = this;
    this.start = new Int32Array(count + 1);
    this.depth = new Int32Array(count);
    for (let i = 1; i < count; i++) {
      this.start[parent[i] + 1]++;
      this.depth[i] = this.depth[parent[i]] + 1;
    }
    for (let i = 0; i < count; i++) this.start[i + 1] += this.start[i];
    const next = this.start.slice(0, count);
    this.child = new Int32Array(Math.max(0, count - 1));
    for (let i = 1; i < count; i++) this.child[next[parent[i]]++] = i;
  }

  arcs() {
    this.callers = this.functions.map(() => []);
    this.callees = this.functions.map(() => []);
    for (const [parent, child, calls, base, parentTotal, childTotal] of this.header.arcs) {
      this.callers[child].push({ fn: parent, calls, base, total: parentTotal });
      this.callees[parent].push({ fn: child, calls, base, total: childTotal });
    }
  }

  base(resource) {
    return this.columns.get(this.resources[resource].name);
  }

  /** base and that of all below, added up in the order of Arcflow::cum: the same to the last bit. */
  total(resource) {
    let sums = this.totals.get(resource);
    if (!sums) {
      sums = this.base(resource).slice();
      for (let i = this.count - 1; i > 0; i--) sums[this.parent[i]] += sums[i];
      this.totals.set(resource, sums);
    }
    return sums;
  }

  /** What a figure of a context may be off by; undefined: it is exact, or nothing is known. */
  error(resource, node, isTotal) {
    const { name, error_of: whole } = this.resources[resource];
    const column = this.columns.get(`${whole || name}${isTotal ? " total" : ""} error`);
    if (!column) return undefined;
    // Nothing of a part is nothing for sure.
    const figure = isTotal ? this.total(resource)[node] : this.base(resource)[node];
    return whole && figure === 0 ? undefined : column[node];
  }

  /** Whether a figure cannot be told from nothing. */
  isHidden(resource, node, isTotal) {
    const column = this.columns.get(`${this.resources[resource].name} hidden`);
    return column !== undefined && (column[node] & (isTotal ? 2 : 1)) !== 0;
  }

  label(node) {
    return this.labels[this.fn[node]];
  }

  function(node) {
    return this.functions[this.fn[node]];
  }

  kind(node) {
    return this.functions[this.fn[node]].kind;
  }

  isLeaf(node) {
    return this.start[node] === this.start[node + 1];
  }

  children(node) {
    return this.child.subarray(this.start[node], this.start[node + 1]);
  }

  /** The largest first, as xtree has them; of a comparison the largest change. */
  sortedChildren(node, resource) {
    const total = this.total(resource);
    const before = this.sides && this.total(this.sides.before.get(resource));
    const weight = (i) => (before ? Math.abs(total[i] - before[i]) : total[i]);
    const name = (i) => this.functions[this.fn[i]].name;
    return Array.from(this.children(node)).sort((a, b) => weight(b) - weight(a) || (name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : 0));
  }

  /** From the root down to a context. */
  path(node) {
    const path = [node];
    while (node !== 0) path.push((node = this.parent[node]));
    return path.reverse();
  }

  /** The nearest context above, or this one, that is of a kind. */
  enclosing(node, kind) {
    for (; node !== 0; node = this.parent[node]) if (this.kind(node) === kind) return node;
    return undefined;
  }

  /** All contexts in the order of a search. */
  order(isBreadthFirst) {
    if (isBreadthFirst) {
      if (!this.byBreadth) {
        const order = new Int32Array(this.count);
        let end = 1;
        for (let at = 0; at < end; at++) for (const child of this.children(order[at])) order[end++] = child;
        this.byBreadth = order;
      }
      return this.byBreadth;
    }
    if (!this.byDepth) {
      const order = new Int32Array(this.count);
      const stack = [0];
      for (let at = 0; stack.length; at++) {
        const node = (order[at] = stack.pop());
        for (let i = this.start[node + 1] - 1; i >= this.start[node]; i--) stack.push(this.child[i]);
      }
      this.byDepth = order;
    }
    return this.byDepth;
  }

  /**
   * A context's key in the address of the page: a hash of the path of kinds and names that leads to it, processes and threads included, the
   * same in every run that has the path.
   */
  keys() {
    if (!this.low) {
      // A process has another number in every run.
      const text = (f) => `${f.kind} ${f.kind === "process" ? f.name.replace(/ \(pid \d+\)$/, "") : f.name}`;
      const own = this.functions.map((f) => hash(text(f), 0x811c9dc5));
      const other = this.functions.map((f) => hash(text(f), 0x1b873593));
      this.low = new Uint32Array(this.count);
      this.high = new Uint32Array(this.count);
      for (let i = 1; i < this.count; i++) {
        this.low[i] = mix(this.low[this.parent[i]], own[this.fn[i]]);
        this.high[i] = mix(this.high[this.parent[i]], other[this.fn[i]]);
      }
    }
    return this;
  }

  key(node) {
    if (node === 0) return "root";
    this.keys();
    return this.high[node].toString(16).padStart(8, "0") + this.low[node].toString(16).padStart(8, "0");
  }

  /** The contexts of keys, those that there are. */
  findAll(keys) {
    const found = new Map(keys.includes("root") ? [["root", 0]] : []);
    const wanted = new Map(keys.filter((key) => /^[0-9a-f]{16}$/.test(key)).map((key) => [parseInt(key.slice(0, 8), 16) * 2 ** 21 + (parseInt(key.slice(8), 16) >>> 11), key]));
    if (!wanted.size) return found;
    this.keys();
    for (let i = 1; i < this.count; i++) {
      // Most contexts are none of these; the whole key decides.
      const key = wanted.get(this.high[i] * 2 ** 21 + (this.low[i] >>> 11));
      if (key !== undefined && !found.has(key) && this.key(i) === key) found.set(key, i);
    }
    return found;
  }
}

/** FNV-1a. */
function hash(text, seed) {
  let h = seed;
  for (const byte of new TextEncoder().encode(text)) h = Math.imul(h ^ byte, 0x01000193);
  return h >>> 0;
}

function mix(above, own) {
  let h = Math.imul(above ^ own, 0x85ebca6b) ^ (above >>> 15);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35) + own;
  return (h ^ (h >>> 16)) >>> 0;
}
