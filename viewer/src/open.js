// Which contexts are rows of a tree: those that are open, and of a chain in which each called only the next the last one.
"use strict";

/** Contexts that Open level shows at most. */
const MOST_OPEN = 20000;
/** Of a chain: a context took no more than this share of the root itself. */
const SMALL_SELF = 0.001;

class OpenTree {
  constructor(app) {
    this.app = app;
    this.state = app.state;
  }

  /** The context that stands for a chain that begins here: each of it called the next only, as often as it was called. */
  endOfChain(node) {
    const { profile, resource, at, selected } = this.state;
    if (at.chains === "all" || profile.sides) return node;
    const self = profile.base(resource);
    const least = SMALL_SELF * profile.total(resource)[0];
    const goesOn = (i) => profile.start[i + 1] - profile.start[i] === 1 && profile.kind(i) === "method" && Math.abs(self[i]) <= least && i !== selected && !this.app.finder.isHit(i);
    while (goesOn(node)) {
      const [next] = profile.children(node);
      if (profile.kind(next) !== "method" || profile.calls[next] !== profile.calls[node]) break;
      node = next;
    }
    return node;
  }

  /** Rows below the root: contexts, levels, the row of the caller, and of a chain its first context. */
  list() {
    const { profile, state } = this.app;
    const list = { nodes: [], levels: [], parents: [], firsts: [] };
    const stack = [[state.root, state.root, 0, -1]];
    while (stack.length) {
      const [first, node, level, parent] = stack.pop();
      const row = list.nodes.length;
      list.nodes.push(node);
      list.levels.push(level);
      list.parents.push(parent);
      list.firsts.push(first);
      if (node !== state.root && !state.open.has(node)) continue;
      const children = profile.sortedChildren(node, state.resource);
      for (let i = children.length - 1; i >= 0; i--) stack.push([children[i], this.endOfChain(children[i]), level + 1, row]);
    }
    return list;
  }

  /** How many contexts a row stands for. */
  length(list, row) {
    const { depth } = this.app.profile;
    return depth[list.nodes[row]] - depth[list.firsts[row]] + 1;
  }

  toggle(node) {
    const { state, profile } = this.app;
    if (profile.isLeaf(node)) return;
    if (!state.open.delete(node)) this.expand(node);
    state.go({ selected: node }, true);
  }

  /** Opens a context, and with it the chain that it is the end of: where the chain is cut, what was open stays so. */
  expand(node) {
    const { state, profile } = this.app;
    state.open.add(node);
    for (let at = profile.parent[node]; at > 0 && !state.open.has(at) && profile.children(at).length === 1; at = profile.parent[at]) state.open.add(at);
  }

  openLevel() {
    const { profile, state } = this.app;
    const { nodes, levels } = this.list();
    const deepest = levels.reduce((most, level) => Math.max(most, level), 0);
    let more = 0;
    for (let i = 0; i < nodes.length; i++) {
      if (levels[i] !== deepest || profile.isLeaf(nodes[i])) continue;
      more += profile.children(nodes[i]).length;
      if (nodes.length + more > MOST_OPEN) {
        this.app.status(`the next level has more than ${count(MOST_OPEN)} contexts: open single ones`);
        break;
      }
      this.expand(nodes[i]);
    }
    if (more === 0) this.app.status("all levels are open");
    state.go({}, true);
  }

  closeAll() {
    const { state } = this.app;
    state.open = new Set([0, state.root]);
    state.go({ selected: state.root }, true);
  }
}
