// Opens a page in Chromium and uses it as a person would. SCENARIO FILE.. as arguments; what does not hold is an exception.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
const { chromium } = require("playwright-core");
const sections = require("./sections.js");
const { painted } = require("./measure.js");
const timeline = require("./timeline.js");
const questions = require("./questions.js");
const reading = require("./reading.js");

async function open(browser, address, size = { width: 1280, height: 720 }) {
  const page = await browser.newPage({ viewport: size });
  page.problems = [];
  page.on("pageerror", (error) => page.problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
  page.on("request", (request) => {
    const url = request.url();
    if (url !== address && !url.startsWith(`${address}#`) && !/^http:.*\/\?(moment|since=\d+|(since=\d+&)?timeline=[0-9./-]+|code=[^&#]*)(#.*)?$/.test(url) && !/^(data|blob):/.test(url)) page.problems.push(`asked for ${url}`);
  });
  page.on("dialog", (dialog) => (page.problems.push(`dialog ${dialog.message()}`), dialog.dismiss()));
  await page.goto(address);
  await page.waitForFunction(() => window.instrument, null, { timeout: 30000 });
  return page;
}

const file = (name) => pathToFileURL(path.resolve(name)).href;
const tab = (page, view) => page.click(`[data-view=${view}]`);
const field = (page, name) => page.textContent(`[data-field="${name}"]`);
const selected = (page) => page.evaluate(() => instrument.profile.label(instrument.state.selected));
const root = (page) => page.evaluate(() => instrument.profile.label(instrument.state.root));
/** Asks for a text, and goes to the first hit. */
async function seek(page, text) {
  if (await page.locator("#find").isHidden()) await page.click("#find-button");
  await page.fill("#find-text", text);
  await page.click("#find-next");
}
/** The row of the tree whose name holds a text. */
const row = (page, text) => page.locator(".row", { hasText: text }).first();

/** Every figure of every context, and the rows of methods, against what the command line prints. */
async function sums(browser, [html, tree, flat]) {
  const page = await open(browser, file(html));
  const expected = JSON.parse(fs.readFileSync(tree, "utf8"));
  // As a text: a chain of calls may be longer than what the protocol takes.
  const text = await page.evaluate(() => {
    const { profile } = instrument;
    const node = (i) => ({
      function: profile.function(i).name,
      calls: profile.calls[i],
      base: profile.resources.map((r, k) => profile.base(k)[i]),
      cum: profile.resources.map((r, k) => profile.total(k)[i]),
      error: profile.resources.map((r, k) => [profile.error(k, i, false) ?? null, profile.error(k, i, true) ?? null]),
      hidden: profile.resources.map((r, k) => [profile.isHidden(k, i, false), profile.isHidden(k, i, true)]),
      children: profile.sortedChildren(i, 0).map(node),
    });
    return JSON.stringify({ resources: profile.resources, tree: node(0) });
  });
  const shown = JSON.parse(text);
  assert.deepStrictEqual(shown.resources.map(({ name, unit }) => ({ name, unit })), expected.resources);
  let contexts = 0;
  const compare = (ours, theirs, way) => {
    contexts++;
    const here = `${way} > ${theirs.name}`;
    assert.strictEqual(ours.function, theirs.name, here);
    assert.strictEqual(ours.calls, theirs.n, here);
    assert.deepStrictEqual(ours.base, theirs.base, here);
    assert.deepStrictEqual(ours.cum, theirs.cum, here);
    shown.resources.forEach((r, k) => {
      assert.strictEqual(ours.error[k][0], theirs.base_error?.[k] ?? null, `${here} ${r.name} error`);
      assert.strictEqual(ours.error[k][1], theirs.cum_error?.[k] ?? null, `${here} ${r.name} total error`);
      assert.strictEqual(ours.hidden[k][0], theirs.base_hidden?.[k] ?? false, `${here} ${r.name} hidden`);
      assert.strictEqual(ours.hidden[k][1], theirs.cum_hidden?.[k] ?? false, `${here} ${r.name} total hidden`);
    });
    const kids = theirs.children || [];
    assert.strictEqual(ours.children.length, kids.length, here);
    // Equal figures may come in any order of equal names: names decide in both.
    ours.children.forEach((child, i) => compare(child, kids[i], here));
  };
  compare(shown.tree, expected.tree, "");
  const rows = JSON.parse(fs.readFileSync(flat, "utf8")).rows;
  const methods = await page.evaluate(() => Object.fromEntries(instrument.profile.functions.filter((f) => f.contexts > 0).map((f) => [`${f.kind} ${f.name}`, [f.calls, f.base, f.cum]])));
  for (const one of rows) assert.deepStrictEqual(methods[`${one.kind} ${one.function}`], [one.calls, one.base, one.cum], one.function);
  assert.deepStrictEqual(page.problems, []);
  return { contexts, methods: rows.length };
}

/** JaViz, table 1: the node window. */
async function table1(browser, [html, statistics]) {
  const page = await open(browser, file(html));
  const stats = JSON.parse(fs.readFileSync(statistics, "utf8")).rows.find((r) => r.function.includes("Orders.list("));
  await tab(page, "methods");
  await page.fill("#filter", "Orders.list");
  await page.locator(".row").first().click();
  const time = (value) => page.evaluate((v) => quantity(v >= 100 ? Math.round(v) : v, "ns"), value);
  assert.match(await field(page, "method"), /^Orders\.list\(int\)$/);
  assert.match(await field(page, "caller"), /^Orders\.serve\(\)$/);
  assert.match(await field(page, "jvm"), /Orders/);
  assert.match(await field(page, "thread"), /^worker$/);
  assert.strictEqual(await field(page, "method-calls"), "20");
  for (const [name, key] of [["total", "total"], ["min", "min"], ["max", "max"], ["average", "average"], ["deviation", "deviation"]]) {
    const expected = stats[key] === null ? "not known" : await time(stats[key]);
    assert.strictEqual(await field(page, `method-${name}`), expected, key);
  }
  // Single calls are in traces only, and the page says so.
  for (const name of ["call", "return", "call-total"]) assert.match(await field(page, name), /trace/);
  assert.match(await field(page, "source"), /^Orders\.java:\d+$/);
  assert.deepStrictEqual(page.problems, []);
  return {};
}

/** Reset root, up one level; zoom, each axis. */
async function rootsAndZoom(page) {
  await page.click("#root-here");
  assert.match(await root(page), /Orders\.serve/);
  assert.ok(!(await page.isDisabled("#up")));
  await page.click("#up");
  assert.strictEqual(await root(page), "worker");
  await page.click("#reset");
  assert.strictEqual(await root(page), "(root)");
  assert.ok(await page.isDisabled("#up"));
  const size = () => page.evaluate(() => [instrument.view.svg.getAttribute("width"), instrument.view.svg.getAttribute("height")].map(Number));
  const [w, h] = await size();
  await page.click("#wider");
  const [w2, h2] = await size();
  assert.ok(w2 > w && h2 === h, `${w} ${h} ${w2} ${h2}`);
  await page.click("#higher");
  const [w3, h3] = await size();
  assert.ok(w3 === w2 && h3 > h2);
  await page.click("#narrower");
  await page.click("#lower");
  assert.ok((await size())[1] < h3);
}

/** Find next: counts, resumes, from the root and from here, both orders. Returns how many contexts fit a method. */
async function findNext(page) {
  const find = async (text, order = "depth", from = "root") => {
    await page.click("#find-more summary");
    await page.selectOption("#find-order", order);
    await page.selectOption("#find-from", from);
    await page.fill("#find-text", text);
    await page.click("#find-next");
    return (await page.textContent("#find-hits")).replace(/ hits?(, [\d.]+ % of \S+)$/, "");
  };
  await page.keyboard.press("/");
  const attribute = async (name) => {
    await page.click("#find-more summary");
    await page.selectOption("#find-attribute", name);
    await page.focus("#find-text");
  };
  const query = await find("orders.query");
  const hits = await page.evaluate(() => Array.from(instrument.profile.fn).filter((f) => instrument.profile.labels[f].includes("Orders.query")).length);
  assert.strictEqual(query, `1 of ${hits}`);
  const first = await page.evaluate(() => instrument.state.selected);
  await page.click("#find-next");
  assert.match(await page.textContent("#find-hits"), new RegExp(`^2 of ${hits} hits, [\\d.]+ % of running$`));
  assert.notStrictEqual(await page.evaluate(() => instrument.state.selected), first);
  assert.strictEqual(await find("orders.query", "breadth"), `1 of ${hits}`);
  const depths = await page.evaluate(() => instrument.finder.found.map((i) => instrument.profile.depth[i]));
  assert.deepStrictEqual(depths, [...depths].sort((a, b) => a - b));
  await find("orders.serve");
  const below = await find("orders.query", "depth", "here");
  assert.strictEqual(below, "1 of 2", "below serve: list > query, price > query");
  await attribute("calls");
  assert.match(await find(">= 1000"), /^1 of \d/);
  assert.match(await find("many"), /number/);
  await attribute("method");
  assert.strictEqual(await find("nowhere"), "no hit");
  return hits;
}

/** Mapper: a rule with a value, and one that gives each value a colour; Key isolates. */
async function mapAndIsolate(page, hits, shot) {
  await page.click("#mapper-button");
  await page.selectOption("#mapper-attribute", "method");
  await page.fill("#mapper-value", "query");
  await page.selectOption("#mapper-display", "shape");
  await page.fill("#mapper-style", "diamond");
  await page.click("#mapper-form button");
  await page.selectOption("#mapper-attribute", "thread");
  await page.fill("#mapper-value", "");
  await page.selectOption("#mapper-display", "colour");
  await page.fill("#mapper-style", "");
  await page.click("#mapper-form button");
  await page.selectOption("#mapper-attribute", "total");
  await page.selectOption("#mapper-display", "width");
  await page.click("#mapper-form button");
  await page.selectOption("#mapper-attribute", "calls");
  await page.selectOption("#mapper-display", "size");
  await page.click("#mapper-form button");
  // What a rule would meet is said before it is added.
  await page.selectOption("#mapper-attribute", "method");
  await page.fill("#mapper-value", "Orders.query");
  await page.waitForFunction((hits) => document.getElementById("mapper-preview").textContent.includes(`fits ${hits} of`), hits);
  await page.click("#mapper-close");
  const style = (text, display) => page.evaluate(([t, d]) => {
    const i = Array.from(instrument.profile.fn).findIndex((f) => instrument.profile.labels[f].includes(t));
    return instrument.mapper.style(i, d);
  }, [text, display]);
  assert.strictEqual(await style("Orders.query", "shape"), "diamond");
  assert.strictEqual(await style("Orders.serve", "shape"), undefined);
  assert.notStrictEqual(await style("Orders.serve", "colour"), await style("Orders.main", "colour"));
  assert.ok(Number(await style("Orders.serve", "width")) > 1);
  assert.ok(Number(await style("Orders.query", "size")) >= 1);
  const key = page.locator("#key button");
  assert.ok((await key.count()) >= 4);
  // Shapes and sizes are drawn.
  assert.strictEqual(await page.locator("#key button .symbol path").count(), await key.count());
  await page.evaluate(() => instrument.tree.closeAll());
  await page.click("#open-level");
  await page.click("#open-level");
  await shot("mapper");
  await page.locator("#key button", { hasText: "worker" }).click();
  const dim = await page.evaluate(() => {
    const of = (t) => Array.from(instrument.profile.fn).findIndex((f) => instrument.profile.labels[f].includes(t));
    return [instrument.mapper.isDimmed(of("Orders.serve")), instrument.mapper.isDimmed(of("Orders.main"))];
  });
  assert.deepStrictEqual(dim, [false, true]);
}

/** JaViz, table 2, with the mouse. */
async function table2(browser, [html, other, folder]) {
  // Load: another page is another file.
  const second = await open(browser, file(other));
  assert.match(await second.title(), /instrument/);
  await second.close();
  const page = await open(browser, file(html));
  await tab(page, "tree");
  await page.click("#drawn-as");
  const shot = (name) => (folder ? page.screenshot({ path: path.join(folder, `${name}.png`) }) : undefined);
  const nodes = () => page.locator("svg g[data-node]").count();
  // At first the root and what is below it down to the threads; the selected node is a star.
  const before = await nodes();
  assert.ok(before >= 3, `${before} nodes`);
  // Open level.
  await page.click("#open-level");
  const after = await nodes();
  assert.ok(after > before, `${after} nodes after ${before}`);
  await shot("graph");
  // A click selects, a double click opens.
  await page.locator("svg g", { hasText: "Orders.serve" }).first().click();
  assert.match(await selected(page), /Orders\.serve/);
  const points = await page.locator(`svg g[data-node="${await page.evaluate(() => instrument.state.selected)}"] path`).getAttribute("d");
  assert.ok((points.match(/L/g) || []).length >= 9, "the selected node is a star");
  // Leaves are underlined.
  await page.locator("svg g", { hasText: "Orders.serve" }).first().dblclick();
  await rootsAndZoom(page);
  // Refresh.
  await page.evaluate(() => instrument.view.svg.replaceChildren());
  assert.strictEqual(await nodes(), 0);
  await page.click("#refresh");
  assert.ok((await nodes()) > 0);
  const hits = await findNext(page);
  await mapAndIsolate(page, hits, shot);
  // All of it is in the address: a second page that is opened with it shows the same.
  const address = page.url();
  const again = await open(browser, file(html));
  await again.goto(address);
  await again.reload();
  await again.waitForFunction(() => window.instrument);
  assert.deepStrictEqual(await again.evaluate(() => [instrument.mapper.plans.length, instrument.state.at.isolate, instrument.shown]), [4, await page.evaluate(() => instrument.state.at.isolate), "graph"]);
  assert.strictEqual(await selected(again), await selected(page));
  // Exit is the browser's own.
  await again.close();
  assert.deepStrictEqual(page.problems, []);
  return { nodes: after };
}

/** All views, and all of it by keyboard. */
async function keyboard(browser, [html, folder]) {
  const page = await open(browser, file(html));
  const shot = (name) => (folder ? page.screenshot({ path: path.join(folder, `${name}.png`) }) : undefined);
  const press = (...keys) => keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());
  for (const [key, view] of [["1", "summary"], ["2", "tree"], ["g", "graph"], ["3", "flame"], ["4", "sandwich"], ["5", "methods"], ["6", "threads"]]) {
    await press(key);
    assert.strictEqual(await page.evaluate(() => instrument.shown), view);
    await painted(page);
    await shot(view);
  }
  assert.match(await page.textContent("#command"), /^instrument threads /);
  await press("2");
  // Down to a method and into it.
  await press("ArrowDown", "ArrowDown");
  const thread = await selected(page);
  assert.ok(["main", "worker"].includes(thread), thread);
  await press("ArrowRight", "Enter");
  assert.notStrictEqual(await root(page), "(root)");
  await press("u", "r");
  assert.strictEqual(await root(page), "(root)");
  await press("l");
  // Find by keyboard.
  await press("/");
  await page.keyboard.type("Orders.price");
  await page.keyboard.press("Enter");
  await press("Escape");
  const found = await selected(page);
  await press("/");
  await page.fill("#find-text", "Item.price");
  await page.keyboard.press("Enter");
  await press("Escape");
  assert.match(await selected(page), /Item\.price/, found);
  assert.ok(await row(page, "Orders$Item.price()").isVisible());
  const crumbs = await page.textContent("#crumbs");
  assert.match(crumbs, /worker .* Orders\.serve\(\) .* Orders\.list/);
  assert.match(await page.textContent("#command"), /^instrument xtree --resource \S+ \S+/);
  await shot("find");
  // Help.
  await press("?");
  assert.ok(await page.locator("#help").isVisible());
  await press("Escape");
  assert.ok(!(await page.locator("#help").isVisible()));
  // The resource changes without loading; the history goes back.
  await page.selectOption("#resource", "wall-raw");
  assert.match(page.url(), /resource=wall-raw/);
  await page.goBack();
  assert.ok(!/resource=/.test(page.url()));
  assert.notStrictEqual(await page.inputValue("#resource"), "wall-raw");
  // Flame: selects by arrows, zooms, tells what is under the mouse.
  await press("3", "ArrowUp");
  await press("w");
  assert.ok(await page.evaluate(() => instrument.view.to - instrument.view.from < 0.9));
  await press("0");
  assert.strictEqual(await page.evaluate(() => instrument.view.to), 1);
  await painted(page);
  await page.mouse.move(200, 200);
  await page.mouse.move(210, 182);
  assert.match(await page.textContent("#tip"), /calls, .* self, .* total/);
  const levels = await page.evaluate(() => instrument.view.levels.flat().length);
  assert.ok(levels > 10, `${levels} boxes`);
  // Methods are sorted by what is clicked.
  await press("5");
  await page.click("[data-sort=calls]");
  const calls = await page.evaluate(() => instrument.view.list.map((i) => instrument.profile.functions[i].calls));
  assert.deepStrictEqual(calls, [...calls].sort((a, b) => b - a));
  // Saving.
  const download = page.waitForEvent("download");
  await press("x");
  const saved = fs.readFileSync(await (await download).path(), "utf8").split("\r\n");
  assert.strictEqual(saved[0], "calls,self_ns,self_error_ns,total_ns,total_error_ns,contexts,method");
  assert.strictEqual(saved.length - 2, calls.length);
  // A picture has all levels, and not only those that are seen.
  for (const [key, height] of [["3", () => (instrument.view.deepest + 1) * LEVEL], ["4", () => (instrument.view.up.length + instrument.view.down.length - 1) * LEVEL]]) {
    await press(key);
    await painted(page);
    const picture = page.waitForEvent("download");
    await press("x");
    const png = fs.readFileSync(await (await picture).path());
    assert.strictEqual(png.toString("latin1", 1, 4), "PNG");
    assert.strictEqual(png.readUInt32BE(20), await page.evaluate(height), key);
    // What is seen is as it was.
    assert.ok(await page.evaluate(() => instrument.view.canvas.height <= innerHeight && instrument.view.frame === undefined));
  }
  // Dark.
  await page.click("#theme");
  await press("3");
  await painted(page);
  await shot("dark");
  assert.deepStrictEqual(page.problems, []);
  return { boxes: levels };
}

/** The merged callers and callees of methods against `xtree --focus --json`, and the view as a person uses it. */
async function sandwich(browser, [html, folder, ...documents]) {
  const page = await open(browser, file(html));
  let boxes = 0;
  for (const path of documents) {
    const expected = JSON.parse(fs.readFileSync(path, "utf8"));
    const method = expected.tree.children[0].name;
    for (let r = 0; r < expected.resources.length; r++) {
      const found = JSON.parse(await page.evaluate(([name, r]) => {
        const { profile } = instrument;
        const fn = profile.functions.findIndex((f) => f.name === name);
        const node = (merged, i) => ({
          name: i === 0 ? "(root)" : profile.functions[merged.fn[i]].name,
          calls: merged.calls[i],
          base: merged.base[i],
          total: merged.total[i],
          children: merged.below[i].map((child) => node(merged, child)),
        });
        const { callees, callers } = focusOn(profile, fn, r);
        return JSON.stringify([node(callees, 0), node(callers, 0)]);
      }, [method, r]));
      // xtree sorts by the first resource that it shows.
      const byName = (list) => [...list].sort((a, b) => (a.name < b.name ? -1 : 1));
      const compare = (ours, theirs, way) => {
        boxes++;
        const here = `${method}, ${expected.resources[r].name}, ${way} > ${theirs.name}`;
        assert.deepStrictEqual([ours.name, ours.calls, ours.base, ours.total], [theirs.name, theirs.n, theirs.base[r], theirs.cum[r]], here);
        const [mine, others] = [byName(ours.children), byName(theirs.children || [])];
        assert.strictEqual(mine.length, others.length, here);
        mine.forEach((child, i) => compare(child, others[i], here));
      };
      compare(found[0], expected.tree, "callees");
      compare(found[1], expected.callers.tree, "callers");
    }
  }
  // Without a method that is selected it shows the one that took most itself.
  await page.keyboard.press("4");
  const shown = () => page.evaluate(() => instrument.profile.labels[instrument.view.fn]);
  const hottest = await page.evaluate(() => {
    const { profile, state } = instrument;
    const self = (f) => f.base?.[state.resource] ?? 0;
    return profile.labels[profile.functions.map((f, i) => i).filter((i) => profile.functions[i].kind === "method").sort((a, b) => self(profile.functions[b]) - self(profile.functions[a]))[0]];
  });
  assert.strictEqual(await shown(), hottest);
  // A search selects, a click on a caller's box goes there, and back returns.
  await seek(page, "Item.price");
  const method = await shown();
  assert.match(method, /Item\.price/);
  assert.match(await page.textContent("#sandwich-title"), /Item\.price.*1,000 calls, total .* %/);
  assert.match(await page.textContent("#command"), /^instrument xtree --resource \S+ --focus 'Orders\$Item\.price\(\)I' --prune 0 /);
  // The boxes that are clicked are those of this method.
  await painted(page);
  await page.screenshot({ path: path.join(folder, "sandwich.png") });
  const canvas = await page.locator("canvas").boundingBox();
  const row = await page.evaluate(() => [instrument.view.middle, instrument.view.up[1][0]]);
  const [middle, [left, right]] = row;
  const at = [canvas.x + (left + right) / 2, canvas.y + (middle - 1) * 18 + 9];
  await page.mouse.move(at[0] + 2, at[1]);
  await page.mouse.move(at[0], at[1]);
  assert.match(await page.textContent("#tip"), /1,000 calls, for .*Item\.price/);
  // What is shown changes with the next picture.
  const instead = async (before) => {
    await page.waitForFunction((before) => instrument.profile.labels[instrument.view.fn] !== before, before, { timeout: 5000 });
    return shown();
  };
  await page.mouse.click(at[0], at[1]);
  const caller = await instead(method);
  await page.goBack();
  assert.strictEqual(await instead(caller), method);
  // By keyboard: up to the caller, down to the callee that took most of it: on a busy machine that may be any of the three.
  await page.keyboard.press("ArrowUp");
  assert.strictEqual(await instead(method), caller);
  await page.keyboard.press("ArrowDown");
  assert.match(await instead(caller), /^Orders(\$Item\.price\(\)|\$Item\.<init>\(int\)|\.query\(int\))$/);
  assert.deepStrictEqual(page.problems, []);
  return { boxes };
}

/** Figures of a page against those that `diff --json` prints; gives the page and what it has. */
async function compared(browser, html, document) {
  const page = await open(browser, file(html));
  const expected = JSON.parse(fs.readFileSync(document, "utf8"));
  const found = JSON.parse(await page.evaluate((names) => {
    const { profile } = instrument;
    const { sides } = profile;
    const resources = names.map((name) => profile.resources.findIndex((r) => r.name === name));
    const row = (of) => {
      const side = (key) => ({ calls: of(sides.calls, false)[key], base: resources.map((r) => of(r, false)[key]), cum: resources.map((r) => of(r, true)[key]) });
      const verdicts = [of(sides.calls, false).verdict, ...resources.flatMap((r) => [of(r, false).verdict, of(r, true).verdict])];
      return { before: side("before"), after: side("after"), worst: Math.max(...verdicts) };
    };
    const path = (i) => profile.path(i).slice(1).map((node) => profile.function(node).name).join("\u0000");
    const contexts = [];
    for (let i = 1; i < profile.count; i++) contexts.push([path(i), row((r, isTotal) => sides.context(r, i, isTotal))]);
    const consumers = profile.functions.map((f, i) => i).filter((i) => profile.functions[i].kind !== "root");
    const methods = consumers.map((i) => [profile.functions[i].name, row((r, isTotal) => sides.function(r, i, isTotal))]);
    return JSON.stringify({ contexts, methods });
  }, expected.resources.map((r) => r.name)));
  const compare = (rows, others, key) => {
    const ours = new Map(rows.filter(([, row]) => row.worst > 0));
    assert.strictEqual(ours.size, others.length, key);
    for (const other of others) {
      const name = Array.isArray(other[key]) ? other[key].join("\u0000") : other[key];
      const row = ours.get(name);
      assert.ok(row, name);
      assert.strictEqual(row.worst === 2, other.differs, name);
      for (const side of ["before", "after"]) {
        const figures = ({ calls, base, cum }) => [calls, ...base, ...cum];
        // A mean of three runs has no last digit: the page adds up means, and diff takes the mean of sums.
        const [mine, theirs] = [figures(row[side]), figures(other[side])];
        mine.forEach((value, k) => assert.ok(Math.abs(value - theirs[k]) <= 1e-12 * Math.abs(theirs[k]), `${name}, ${side} ${k}: ${value}, ${theirs[k]}`));
        assert.strictEqual(mine.length, theirs.length, name);
      }
    }
  };
  compare(found.contexts, expected.contexts, "context");
  compare(found.methods, expected.methods, "function");
  return [page, found];
}

/** The same, and nothing else. */
async function sides(browser, [html, , document]) {
  const [, found] = await compared(browser, html, document);
  return { contexts: found.contexts.length };
}

/** A comparison against `diff --json`: every context and method that is not the same, and that no other is; and the view as a person uses it. */
async function difference(browser, [html, folder, document]) {
  const [page, found] = await compared(browser, html, document);
  // The method that has the largest change stands first, red, and the node window says by how much.
  assert.strictEqual(await page.locator("[role=tab]").count(), 4);
  await page.keyboard.press("4");
  const first = await page.evaluate(() => instrument.profile.labels[instrument.view.list[0]]);
  assert.match(await page.locator(".row").first().textContent(), /\+/);
  await page.locator(".row").first().click();
  assert.match(await field(page, "method-self"), /\d \u2192 .*\(\+/);
  assert.match(await page.textContent("#command"), /^instrument diff --resource \S+ \S+ \S+$/);
  const colour = await page.evaluate(() => instrument.mapper.colour(instrument.state.selected));
  assert.match(colour, /^hsl\(8 80%/);
  for (const [key, view] of [["1", "summary"], ["2", "tree"], ["g", "graph"], ["3", "flame"], ["4", "methods"]]) {
    await page.keyboard.press(key);
    assert.strictEqual(await page.evaluate(() => instrument.shown), view);
    await painted(page);
    await page.screenshot({ path: path.join(folder, `difference-${view}.png`) });
  }
  await page.keyboard.press("3");
  await page.click("#widths");
  assert.strictEqual(await page.textContent("#widths"), "Widths: before");
  assert.deepStrictEqual(page.problems, []);
  return { contexts: found.contexts.length, first };
}

/** Names that are markup, very long, very deep: shown as text, nothing runs, nothing hangs. */
async function hostile(browser, [html]) {
  const page = await open(browser, file(html));
  for (const view of ["summary", "tree", "flame", "methods", "threads"]) {
    await tab(page, view);
    await painted(page);
  }
  await seek(page, "script");
  assert.match(await selected(page), /<\/script><script>/);
  await tab(page, "tree");
  assert.strictEqual(await page.evaluate(() => window.hacked), undefined);
  assert.strictEqual(await page.locator("#view img, #view script, #node img, #node script").count(), 0);
  const deepest = await page.evaluate(() => instrument.profile.depth.reduce((most, depth) => Math.max(most, depth), 0));
  assert.ok(deepest >= 2000, `${deepest} deep`);
  await seek(page, "deep1999");
  assert.strictEqual(await selected(page), "deep1999");
  await tab(page, "flame");
  await painted(page);
  // Rubbish in the address changes nothing.
  await page.goto(`${file(html)}#view=nothing&root=zz&selected=%00&resource=no&rules=%7Bbad&isolate=9.9&sort=__proto__`);
  await page.reload();
  await page.waitForFunction(() => window.instrument);
  assert.strictEqual(await page.evaluate(() => instrument.shown), "summary");
  assert.deepStrictEqual(page.problems, []);
  return { deepest };
}

/** An address of one run shows the same context in a page of another run. */
async function address(browser, [html, other]) {
  const page = await open(browser, file(html));
  await seek(page, "Item.price");
  const hash = new URL(page.url()).hash;
  const again = await open(browser, file(other));
  await again.goto(`${file(other)}${hash}`);
  await again.reload();
  await again.waitForFunction(() => window.instrument);
  assert.match(await selected(page), /Item\.price/);
  assert.strictEqual(await selected(again), await selected(page));
  const keys = await page.evaluate(() => [...Array(instrument.profile.count).keys()].map((i) => instrument.profile.key(i)));
  assert.strictEqual(new Set(keys).size, keys.length);
  return { keys: keys.length };
}

/** A page from the server. */
async function server(browser, [address]) {
  const page = await open(browser, address);
  const calls = async () => page.evaluate(() => instrument.profile.calls.reduce((sum, n) => sum + n, 0));
  const one = await calls();
  assert.ok(one > 0);
  assert.deepStrictEqual(page.problems, []);
  return { calls: one, total: await page.evaluate(() => instrument.profile.total(0)[0]) };
}

/** Files that are dropped on the page of a server: a profile is shown, and what is none is said to be so. */
async function dropped(browser, [address, profile, none]) {
  const page = await open(browser, address);
  const drop = async (name, data) => {
    const transfer = await page.evaluateHandle(([name, data]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([data], name));
      return transfer;
    }, [name, data]);
    await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
    await page.waitForFunction((name) => document.getElementById("status").textContent.includes(name) && !document.getElementById("status").textContent.startsWith("opening"), name);
    return page.textContent("#status");
  };
  const calls = () => page.evaluate(() => instrument.profile.calls.reduce((sum, n) => sum + n, 0));
  assert.strictEqual(await drop("other.folded", fs.readFileSync(profile, "utf8")), "shown: other.folded");
  const shown = await calls();
  assert.match(await page.textContent("#command"), / other\.folded$/);
  // A page that was saved needs no server.
  const saved = await page.content();
  assert.match(await drop("none.iprof", fs.readFileSync(none, "utf8")), /^none\.iprof: .*none\.iprof/);
  assert.match(await drop("page.html", `<!doctype html>${saved.slice(0, 100)}`), /no page of instrument view/);
  assert.strictEqual(await calls(), shown);
  // What the server refused is no mistake of the page.
  const others = page.problems.filter((text) => !/status of 422|\?open=/.test(text));
  assert.deepStrictEqual(others, []);
  return { calls: shown };
}

/** Pictures for the book. */
async function pictures(browser, [html, folder]) {
  const page = await open(browser, file(html));
  for (const view of ["summary", "flame", "tree", "methods"]) {
    await tab(page, view);
    if (view === "flame") await seek(page, "Parser.parse()");
    await painted(page);
    await page.screenshot({ path: path.join(folder, `${view}.png`) });
  }
  await tab(page, "tree");
  await page.click("#drawn-as");
  await painted(page);
  await page.screenshot({ path: path.join(folder, "graph.png") });
  return {};
}

/** Time until the page is there, for a search over all contexts, and for a frame. */
async function speed(browser, [html]) {
  const page = await open(browser, file(html), { width: 1920, height: 1080 });
  const shown = await page.evaluate(() => performance.now());
  const found = await page.evaluate(() => {
    const began = performance.now();
    const hits = instrument.finder.hits("method", "parse", false, false);
    return [performance.now() - began, hits.length];
  });
  await tab(page, "flame");
  await page.waitForTimeout(300);
  const frames = [];
  for (let i = 0; i < 40; i++) {
    await page.evaluate((k) => (k % 2 ? instrument.view.zoom(0.9, 0.3) : instrument.view.pan(instrument.view.from + 0.01, instrument.view.to + 0.01)), i);
    await page.waitForTimeout(30);
    frames.push(await page.evaluate(() => instrument.view.took));
  }
  frames.sort((a, b) => a - b);
  const contexts = await page.evaluate(() => instrument.profile.count);
  return { contexts, shown_ms: shown, find_ms: found[0], hits: found[1], frame_p95_ms: frames[38], bytes: fs.statSync(html).size };
}

async function main() {
  const [scenario, ...args] = process.argv.slice(2);
  const run = { ...sections({ open, file, tab }), ...timeline({ open, file, tab }), ...questions({ open, file }), ...reading({ open, file, tab }), sums, table1, table2, keyboard, sandwich, difference, sides, hostile, server, dropped, address, speed, pictures }[scenario];
  // Containers have little shared memory.
  const options = { args: ["--disable-gpu", "--disable-dev-shm-usage"] };
  if (process.env.CHROMIUM) options.executablePath = process.env.CHROMIUM;
  // Chromium refuses its sandbox to root, and many build machines have none.
  if (process.env.CI || (process.getuid && process.getuid() === 0)) options.args.push("--no-sandbox");
  const browser = await chromium.launch(options);
  try {
    console.log(JSON.stringify(await run(browser, args)));
  } finally {
    await browser.close();
  }
}

main().catch((error) => {
  console.error(error.stack);
  process.exit(1);
});
