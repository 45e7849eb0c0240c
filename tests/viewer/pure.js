// What the viewer works out without a page: figures as text, names, sums, windows, questions. Run by Node alone: `node tests/viewer/pure.js`.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const sources = path.join(__dirname, "../../viewer/src");
const NAMES = ["figures", "names", "profile", "difference", "state", "rows", "mapper", "open", "find", "tree", "icicle", "sandwich", "methods", "table", "heap", "monitors", "statements", "remote", "window", "lanes", "timeline", "command"];
const context = vm.createContext({ TextEncoder, TextDecoder, URLSearchParams, console, document: { createElement: () => elementOf() } });
for (const name of NAMES) vm.runInContext(fs.readFileSync(path.join(sources, `${name}.js`), "utf8"), context, { filename: `${name}.js` });
/** As much of an element as views touch. */
function elementOf() {
  const made = { style: {}, children: [], classList: { add() {}, toggle() {} }, setAttribute() {}, prepend() {} };
  made.append = (...children) => made.children.push(...children);
  return made;
}
/** What a script has declared. */
const of = (name) => vm.runInContext(name, context);
/** Values of the other context as plain ones. */
const plain = (value) => JSON.parse(JSON.stringify(value));

/** A profile of contexts [parent, function, calls, base] below the root, which is not given. */
function profileOf(functions, contexts, more = {}) {
  const Profile = of("Profile");
  const profile = Object.create(Profile.prototype);
  const all = [[0, 0, 0, 0], ...contexts];
  const column = (k) => Float64Array.from(all.map((row) => row[k]));
  Object.assign(profile, {
    header: { first: 0, arcs: [], about: { files: ["a.iprof"], since: [], own: [] }, ...more },
    resources: [{ name: "wall", unit: "ns" }],
    functions: functions.map((f) => ({ kind: "method", contexts: 1, calls: 1, ...f })),
    labels: functions.map((f) => f.label || f.name),
    count: all.length,
    columns: new Map([["wall", column(3)], ["calls", column(2)]]),
    calls: column(2),
    fn: Int32Array.from(all.map((row) => row[1])),
    parent: Int32Array.from(all.map((row) => row[0])),
    totals: new Map(),
    stats: new Map(),
  });
  profile.link();
  return profile;
}

function figures() {
  const [quantity, percent, plural, fixed] = ["quantity", "percent", "plural", "fixed"].map(of);
  const shown = (value, unit, text) => assert.strictEqual(quantity(value, unit), text);
  shown(0, "ns", "0 ns");
  shown(999, "ns", "999 ns");
  shown(1000, "ns", "1.000 us");
  // What would be rounded to the next unit is of that unit.
  shown(999949, "ns", "999.9 us");
  shown(999950, "ns", "1.000 ms");
  shown(999.95, "ns", "1.000 us");
  shown(999.94, "ns", "999.9 ns");
  shown(99.995e6, "ns", "100.0 ms");
  shown(9.9995e6, "ns", "10.00 ms");
  shown(9.9994e6, "ns", "9.999 ms");
  shown(-1536, "bytes", "-1.500 KiB");
  shown(999, "bytes", "999 B");
  shown(1000, "bytes", "0.977 KiB");
  shown(2.5, "", "2.5");
  shown(1e15, "", "1000000000000000");
  shown(1.5, "ms", "1.500 ms");
  // Halves that a double has exactly go to the even digit.
  assert.deepStrictEqual([0.5, 1.5, 2.5, -2.5].map((value) => fixed(value, 0)), ["0", "2", "2", "-2"]);
  assert.deepStrictEqual([0.125, 0.375, 0.126].map((value) => fixed(value, 2)), ["0.12", "0.38", "0.13"]);
  assert.deepStrictEqual([percent(1, 3), percent(0, 0), percent(0, 3)], ["33.3", "-", "0.0"]);
  assert.deepStrictEqual([0, 1, 2, 1234567].map((n) => plural(n, "call")), ["0 calls", "1 call", "2 calls", "1,234,567 calls"]);
}

function names() {
  const [middleCut, fitting, short, packageOf, classOf] = ["middleCut", "fitting", "short", "packageOf", "classOf"].map(of);
  assert.strictEqual(middleCut("pool-1-thread-12", 16), "pool-1-thread-12");
  assert.strictEqual(middleCut("pool-1-thread-12", 9), "pool\u2026d-12");
  assert.strictEqual(middleCut("pool-1-thread-12", 10), "pool-\u2026d-12");
  assert.strictEqual(short("com.acme.Shop.sell(int)"), "Shop.sell(\u2026)");
  assert.strictEqual(short("com.acme.Shop.sell()"), "Shop.sell()");
  const label = "com.acme.Shop.sell(int)";
  assert.deepStrictEqual([23, 22, 12, 11, 9, 8, 4, 3, 0].map((room) => fitting(label, room)), [label, "Shop.sell(\u2026)", "Shop.sell(\u2026)", "Shop.sell", "Shop.sell", "sell", "sell", "", ""]);
  assert.deepStrictEqual([classOf(label), packageOf(label), packageOf("Shop.sell()")], ["com.acme.Shop", "com.acme", ""]);
}

const FUNCTIONS = [{ name: "(root)", kind: "root" }, { name: "b()" }, { name: "a()" }, { name: "c()" }];
// b calls a twice over, a calls itself, c is beside.
const CONTEXTS = [[0, 1, 1, 10], [1, 2, 4, 20], [2, 2, 2, 5], [1, 3, 3, 25], [0, 2, 1, 7]];

function trees() {
  const profile = profileOf(FUNCTIONS, CONTEXTS);
  assert.deepStrictEqual([...profile.total(0)], [67, 60, 25, 5, 25, 7]);
  // Equal totals by name.
  assert.deepStrictEqual(plain(profile.sortedChildren(1, 0)), [2, 4]);
  assert.deepStrictEqual([...profile.order(false)], [0, 1, 2, 3, 4, 5]);
  assert.deepStrictEqual([...profile.order(true)], [0, 1, 5, 2, 4, 3]);
  assert.deepStrictEqual(plain(profile.path(3)), [0, 1, 2, 3]);
  const key = profile.key(3);
  assert.deepStrictEqual(Object.fromEntries(profile.findAll([key, "root", "0000000000000000"])), { [key]: 3, root: 0 });
}

function merged() {
  const { callees, callers } = of("focusOn")(profileOf(FUNCTIONS, CONTEXTS), 2, 0);
  const rows = (tree) => [...tree.total.keys()].slice(1).map((i) => [tree.fn[i], tree.calls[i], tree.total[i], tree.context[i]]);
  // All of a, the call within one of itself as its callee.
  assert.deepStrictEqual(rows(callees), [[2, 5, 32, 2], [2, 2, 5, 3]]);
  // On behalf of b 25 in 4 calls, and of nobody 7: what is within is not added again.
  assert.deepStrictEqual(rows(callers), [[2, 5, 32, 2], [1, 4, 25, 1]]);
}

function questions() {
  const profile = profileOf(FUNCTIONS, CONTEXTS);
  const Finder = of("Finder");
  const state = { profile, resource: 0, selected: 0, root: 0, at: { find: "a()", by: "method", order: "depth", from: "", view: "tree" }, reveal() {}, go(change) { this.selected = change.selected; } };
  const finder = new Finder(state);
  finder.update();
  assert.deepStrictEqual(plain(finder.found), [2, 3, 5]);
  // 25 and 7 of 67: the one within another is part of it.
  assert.strictEqual(finder.words(), "3 hits, 47.8 % of wall");
  finder.next(-1);
  assert.deepStrictEqual([state.selected, finder.words()], [5, "3 of 3 hits, 47.8 % of wall"]);
  finder.next();
  assert.strictEqual(state.selected, 2);
  const matcher = of("matcher");
  const fits = (text, values) => values.filter((value) => matcher("total", text)(value));
  assert.deepStrictEqual(fits("1 us", [999, 1000, 1001]), [1000, 1001]);
  assert.deepStrictEqual(fits("> 1us", [999, 1000, 1001]), [1001]);
  assert.deepStrictEqual(fits("<= 1 KiB", [1023, 1024, 1025]), [1023, 1024]);
  assert.deepStrictEqual(fits("< 5", [4, 5]), [4]);
  assert.deepStrictEqual(fits("= 5", [4, 5]), [5]);
  assert.strictEqual(matcher("total", "many"), undefined);
  assert.deepStrictEqual(["=a", "A"].map((text) => ["a", "ab", "b"].filter(matcher("method", text))), [["a"], ["a", "ab"]]);
}

function comparisons() {
  const [changeText, partText, mean, pairText] = ["changeText", "partText", "mean", "pairText"].map(of);
  const sides = (before, after, verdict = 2) => ({ before, after, change: after - before, verdict });
  assert.deepStrictEqual([sides(0, 5), sides(0, 5, 1), sides(5, 5), sides(10, 15, 1), sides(1000, 1001), sides(4, 2)].map(partText), ["new", "~new", "", "~+50 %", "+0.1 %", "-50 %"]);
  assert.deepStrictEqual([sides(5, 5), sides(1000, 3500, 1), sides(3500, 1000)].map((of) => changeText(of, "ns")), ["", "~+2.500 us", "-2.500 us"]);
  assert.deepStrictEqual([mean(2.25, ""), mean(2.04, ""), mean(12345, ""), mean(999.6, "ns")], ["2.3", "2", "12,345", "1.000 us"]);
  assert.strictEqual(pairText(sides(1, 2), ""), "1 \u2192 2");
  const profile = profileOf(FUNCTIONS, CONTEXTS);
  const Sides = of("Sides");
  profile.resources.push({ name: "wall before", unit: "ns" });
  // The base of context 1 is not known to differ, its total does.
  profile.columns.set("wall before", Float64Array.from([0, 20, 20, 5, 5, 7])).set("wall verdict", Float64Array.from([0, 1 | 2 << 2, 0, 0, 2, 0]));
  const both = new Sides(profile, { runs: [1, 1], pairs: [[0, 1]], verdicts: [[]] });
  assert.deepStrictEqual(plain(both.context(0, 1, false)), { before: 20, after: 10, change: -10, verdict: 1 });
  assert.deepStrictEqual(plain(both.context(0, 1, true)), { before: 50, after: 60, change: 10, verdict: 2 });
  assert.deepStrictEqual([1, 2, 5].map((node) => both.isUnknown(0, node)), [false, false, false]);
  assert.ok(both.colour(0, 1).startsWith("hsl(8 ") && both.colour(0, 2) === "#ffffff");
}

/** Three slices of a thread: a calls b; b goes on from the first to the second, and is called again in the third. */
function windows() {
  const [slicedWindow, windowOfSlices, windowRows] = ["slicedWindow", "windowOfSlices", "windowRows"].map(of);
  const row = { row: 7, thread: "main" };
  const parts = [{ sums: [[1, 1, 5], [2, 1, 3]], open: [] }, { sums: [[2, 0, 8]], open: [[1, 1], [2, 1]] }, { sums: [[1, 0, 2], [2, 1, 4]], open: [[1, 1]] }];
  const slices = { bounds: [0, 10, 20, 30], rows: [{ row: 7, contexts: [[0, 0], [1, 1]], names: ["a", "b"], parts }] };
  for (const [from, to, first, last] of [[0, 30, 0, 3], [0, 10, 0, 1], [9, 10, 0, 1], [10, 20, 1, 2], [10, 21, 1, 3], [29, 30, 2, 3]]) {
    assert.deepStrictEqual(plain(slicedWindow(slices, from, to)), { first, last, from: slices.bounds[first], to: slices.bounds[last] }, `${from} to ${to}`);
  }
  const rows = (first, last) => Array.from(windowRows(windowOfSlices(slices, row, undefined, { first, last }).tree), ([node, level]) => [level, node.name, node.n, node.base[0], node.cum[0]]);
  assert.deepStrictEqual(rows(0, 3), [[0, "main", 1, 0, 22], [1, "a", 1, 7, 22], [2, "b", 2, 15, 15]]);
  assert.deepStrictEqual(rows(0, 1), [[0, "main", 1, 0, 8], [1, "a", 1, 5, 8], [2, "b", 1, 3, 3]]);
  assert.deepStrictEqual(rows(1, 2), [[0, "main", 1, 0, 8], [1, "a", 1, 0, 8], [2, "b", 1, 8, 8]]);
  assert.deepStrictEqual(rows(2, 3), [[0, "main", 1, 0, 6], [1, "a", 1, 2, 6], [2, "b", 1, 4, 4]]);
  // Of a call whose beginning was not seen there is time alone.
  slices.rows[0].parts = [{ sums: [[1, 0, 5]], open: [] }];
  assert.deepStrictEqual(rows(0, 1), [[0, "main", 1, 0, 5], [1, "a", 0, 5, 5]]);
}

/** A statement belongs to the nearest own method whose every call makes it again and again. */
function statements() {
  const functions = [{ name: "(root)", kind: "root" }, { name: "a.M.main()", calls: 1 }, { name: "a.M.list()", calls: 3 }, { name: "SQL x", calls: 30 }, { name: "SQL y", calls: 2 }];
  const contexts = [[0, 1, 1, 0], [1, 2, 3, 0], [2, 3, 30, 0], [1, 4, 2, 0]];
  const profile = profileOf(functions, contexts, { overview: { own: [1, 2], values: [3, 4] } });
  profile.stats.set("SQL x", { total: 20.4, average: 0.68, max: 3 });
  const rows = of("statementsOf")(profile).map(({ name, calls, total, caller, each }) => [name, calls, total ?? null, caller, each]);
  // main makes 30 in its call as well; list is nearer with 10.
  assert.deepStrictEqual(plain(rows), [["SQL x", 30, 20, "M.list()", 10], ["SQL y", 2, null, "M.main()", 2]]);
}

function words() {
  const [quoted, suspects, held] = ["quoted", "suspects", "held"].map(of);
  assert.deepStrictEqual(["a-b.iprof", "a b", "it's", "a\nb", "\u202ex"].map((word) => quoted(word)), ["a-b.iprof", "'a b'", "'it'\\''s'", "$'a\\x0ab'", "$'\\u202ex'"]);
  assert.deepStrictEqual([[1, 1], [1, 2], [0, 0], [3, 3]].map(([leaks, kinds]) => suspects({ leaks, suspects: Array(kinds).fill({}) })), ["1 leak suspect", "1 leak suspect: objects of 2 kinds", "0 leak suspects", "3 leak suspects: objects of 3 kinds"]);
  assert.strictEqual(held({ kind: "path", path: ["a", "b"], objects: 3, sampled: 1000 }), "held by a -> b: 3 of 1,000 sampled objects");
  assert.ok(held({ kind: "other", objects: 0, sampled: 0 }).startsWith("holder not found"));
}

/** What a view says, without its page. */
function viewOf(name, more) {
  return Object.assign(Object.create(of(name).prototype), more);
}

function errors() {
  const profile = profileOf(FUNCTIONS, CONTEXTS);
  profile.resources.push({ name: "running", unit: "ns", error_of: "wall" });
  profile.columns.set("running", Float64Array.from([0, 10, 0, 0, 0, 0])).set("wall error", Float64Array.from([0, 3, 4, 0, 0, 0]));
  profile.columns.set("wall total error", Float64Array.from([9, 8, 7, 0, 0, 0])).set("wall hidden", Float64Array.from([0, 1, 2, 3, 0, 0]));
  assert.deepStrictEqual([profile.error(0, 2, false), profile.error(0, 2, true)], [4, 7]);
  // A part has the error of the whole, but nothing of it is nothing for sure.
  assert.deepStrictEqual([profile.error(1, 1, false), profile.error(1, 2, false), profile.error(1, 1, true)], [3, undefined, 8]);
  const hidden = (node) => [profile.isHidden(0, node, false), profile.isHidden(0, node, true)];
  assert.deepStrictEqual([0, 1, 2, 3].map(hidden), [[false, false], [true, false], [false, true], [true, true]]);
}

const button = () => ({ closest: () => undefined });
const rows = { selected: -1, show(length) { this.length = length; } };

function methods() {
  const functions = [{ name: "(root)", kind: "root" }, { name: "x.Long.b()", label: "b()", calls: 2, contexts: 5, base: [7], cum: [9] }, { name: "c()", calls: 3, contexts: 1, base: [8], cum: [8] }, { name: "A()", calls: 2, contexts: 4, base: [7], cum: [7] }];
  const profile = profileOf(functions, CONTEXTS, { total: [60], occurrences: "calls" });
  const at = { sort: "", filter: "" };
  const state = { profile, resource: 0, at, selected: 0, go() {} };
  const view = viewOf("MethodsView", { app: {}, state, filter: {}, sum: {}, rows });
  view.columns = [{ key: "name", of: (f, r, i) => profile.labels[i] }, ...view.usual()];
  for (const column of view.columns) column.button = button();
  const list = (sort, filter = "") => {
    Object.assign(at, { sort, filter });
    view.update();
    return plain(view.list);
  };
  assert.deepStrictEqual(list(""), [2, 3, 1]);
  assert.deepStrictEqual(list("-self"), [3, 1, 2]);
  assert.deepStrictEqual(list("contexts"), [1, 3, 2]);
  assert.deepStrictEqual(list("-name"), [2, 1, 3]);
  assert.deepStrictEqual([list("", "long"), view.sum.textContent], [[1], "1 of 3 methods"]);
  list("");
  assert.deepStrictEqual(view.csv().text.split("\r\n").slice(1, 3), ["3,8,,8,,1,c()", "2,7,,7,,4,A()"]);
}

function tables() {
  const columns = [{ key: "size", of: (row) => row.size, text: (row) => String(row.size) }, { key: "name", kind: "name", of: (row) => row.name, text: (row) => row.name }];
  for (const column of columns) column.button = button();
  const at = { sort: "", filter: "" };
  const table = viewOf("SortedTable", { state: { at }, columns, acts: { isSelected: () => false }, filter: {}, sum: {}, rows });
  const all = [{ name: "Beta", size: 5 }, { name: "alpha" }, { name: "Gamma", size: 0 }];
  const list = (sort, filter = "") => {
    Object.assign(at, { sort, filter });
    table.update(all, 10);
    return table.list.map(({ name }) => name);
  };
  // What is not known is less than nothing.
  assert.deepStrictEqual(list("size"), ["Beta", "Gamma", "alpha"]);
  assert.deepStrictEqual(list("-size"), ["alpha", "Gamma", "Beta"]);
  assert.deepStrictEqual(list("name"), ["Beta", "Gamma", "alpha"]);
  assert.deepStrictEqual([list("", "BETA"), table.sum.textContent], [["Beta"], "1 of 3 rows; the page has no room for 7 more"]);
  const waits = viewOf("MonitorsView", {}).columns("monitors");
  const text = (key, row) => waits.find((column) => column.key === key).text(row);
  const row = { class: "java.lang.Object", contended: { times: 0, total: 0 }, waiting: { times: 2, total: 3000 }, process: "" };
  assert.deepStrictEqual(["contended times", "contended total", "waits times", "waits total", "monitor"].map((key) => text(key, row)), ["0", "-", "2", "3.000 us", "java.lang.Object"]);
}

/** b calls c alone, as often as it is called, and takes nothing itself: one row. */
function chains() {
  const contexts = (calls) => [[0, 1, 2, 0], [1, 3, calls, 50], [0, 2, 1, 50]];
  const rowsOf = (calls) => {
    const profile = profileOf(FUNCTIONS, contexts(calls));
    const state = { profile, resource: 0, root: 0, selected: 0, at: { chains: "" }, open: new Set([0]) };
    const tree = viewOf("OpenTree", { state, app: { profile, state, finder: { isHit: () => false } } });
    const list = tree.list();
    return plain(list.nodes.map((node, row) => [node, tree.length(list, row)]));
  };
  const sorted = (calls) => rowsOf(calls).sort((a, b) => a[0] - b[0]);
  assert.deepStrictEqual(sorted(2), [[0, 1], [2, 2], [3, 1]]);
  assert.deepStrictEqual(sorted(3), [[0, 1], [1, 1], [3, 1]]);
  // The address names what was opened, and what was closed that is open at first.
  const profile = profileOf([{ name: "(root)", kind: "root" }, { name: "main", kind: "thread" }, { name: "a()" }], [[0, 1, 1, 0], [1, 2, 1, 5]]);
  const keys = (...open) => viewOf("State", { profile, open: new Set(open) }).openKeys();
  assert.deepStrictEqual([keys(0, 1), keys(0), keys(0, 1, 2)], ["", profile.key(1), profile.key(2)]);
}

function moments() {
  const lanes = viewOf("LanesView", { id: () => "main" });
  const row = { begin_ns: 0, end_ns: 2000, calls: 3, waits: [] };
  assert.strictEqual(lanes.life({ ...row, ended: true }), "main: from 0 ns to 2.000 us; 3 calls, 0 waits");
  assert.strictEqual(lanes.life({ ...row, ended: false, calls: null }), "main: from 0 ns to 2.000 us, its end was not seen; no calls in a trace, 0 waits");
  // The second of two processes began 500 ns later.
  const document = { processes: [{ first_ns: 0 }, { first_ns: 500 }] };
  const view = { document, list: [{ process: 1, thread: "main" }], asked: "x", answered: { from: 600, to: 900 }, state: { profile: { header: { about: { files: ["a", "b"] } } } } };
  const timeline = viewOf("TimelineView", view);
  Object.defineProperty(timeline, "selectedRow", { value: 0 });
  assert.strictEqual(timeline.command("a b"), "instrument timeline --thread main --from 100ns --to 400ns b");
  const [made, served] = [{ begin_ns: 100, ns: 50, thread: "c" }, { begin_ns: 110, ns: 20, thread: "s" }];
  const span = { client: 0, server: 1, made, served, label: "m", outcome: "returned", matched: "uid" };
  const remote = viewOf("RemoteView", { shown: "calls", state: { at: { row: "0.0" } }, calls: { rows: [{ spans: [span] }] }, services: { processes: ["p", "q"] } });
  const fields = Object.fromEntries(remote.facts().fields);
  // From 100 to 150 ns; the server has 110 to 130.
  Object.assign(remote, { from: 100, to: 150, app: { finder: { fits: () => false } } });
  const line = elementOf();
  remote.fill(line, 0);
  assert.deepStrictEqual(line.children[1].children.map(({ style }) => [style.left, style.width]), [["0%", "100%"], ["20%", "40%"]]);
  assert.deepStrictEqual([fields["call time"], fields["return time"], fields["total time"], fields["served in"], fields.server], ["100 ns", "150 ns", "50 ns", "20 ns", "q"]);
}

const all = { figures, names, trees, merged, questions, comparisons, windows, statements, words, errors, methods, tables, chains, moments };
for (const [name, test] of Object.entries(all)) {
  try {
    test();
  } catch (error) {
    console.error(`${name}: ${error.stack}`);
    process.exitCode = 1;
  }
}
console.log(JSON.stringify({ tests: Object.keys(all).length }));
