// Threads, Heap, Monitors and Remote calls: every row of a view against what the command line prints, and the views as a person uses them.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const { painted } = require("./measure.js");

/** Lines of a text without more blanks than one. */
const lines = (name) => fs.readFileSync(name, "utf8").split("\n").map((line) => line.trim().replace(/\s+/g, " "));

/** The rows of a table of a report that begins with this header: up to an empty line. */
function table(all, header) {
  const from = all.findIndex((line) => line.startsWith(header));
  assert.ok(from >= 0, `${header}: ${all.slice(0, 12).join("\n")}`);
  const rows = all.slice(from + 1);
  const to = rows.findIndex((line) => line === "" || line.startsWith("not shown"));
  return rows.slice(0, to < 0 ? rows.length : to);
}

/** The rows of the shown table as the command line writes them: without bars, thousands together. */
const shown = (page, leftOut = []) => page.evaluate((leftOut) => {
  const { list, columns } = instrument.view.table;
  const wanted = columns.filter(({ kind, key }) => kind !== "bar" && !leftOut.includes(key));
  const words = (row) => wanted.map((column) => column.text(row)).join(" ").replace(/(\d),(?=\d{3})/g, "$1").replaceAll("\u2192", "->");
  return list.map((row) => words(row).trim().replace(/\s+/g, " "));
}, leftOut);

/** What stands in the first rows is what the table says. */
async function firstRow(page) {
  const cells = page.locator(".row").first().locator("[role=gridcell]:not(.bar)");
  const texts = await cells.evaluateAll((all) => all.map((of) => (of.classList.contains("name") ? of.title : of.textContent)));
  const expected = await page.evaluate(() => {
    const { list, shown } = instrument.view.table;
    return shown.filter(({ kind }) => kind !== "bar").map((column) => column.text(list[0]));
  });
  assert.deepStrictEqual(texts, expected);
}

const section = (page, name) => page.evaluate((name) => instrument.profile.section(name), name);
const command = (page) => page.textContent("#command");
const selected = (page) => page.evaluate(() => instrument.profile.label(instrument.state.selected));
const json = (name) => JSON.parse(fs.readFileSync(name, "utf8"));

module.exports = ({ open, file, tab }) => {
  const picture = async (page, folder, name) => {
    await painted(page);
    await page.screenshot({ path: path.join(folder, `${name}.png`) });
  };

  /** The view by its tab, in another part of it, in the address, and by keyboard. */
  async function part(page, name) {
    await page.click(`[data-part=${name}]`);
    assert.match(page.url(), new RegExp(`part=${name}`));
    assert.strictEqual(await page.getAttribute(`[data-part=${name}]`, "aria-pressed"), "true");
  }

  /** Threads against `threads --list`, as text and as JSON. */
  async function threads(browser, [html, text, document, folder]) {
    const page = await open(browser, file(html));
    await tab(page, "threads");
    const rows = (await section(page, "threads")).rows;
    assert.deepStrictEqual(rows, json(document).rows);
    assert.deepStrictEqual((await shown(page, ["%", "contexts"])).map((row) => row.replace(/ \(group [^)]*\)/, "")), table(lines(text), "threads elapsed"));
    await firstRow(page);
    assert.match(await command(page), /^instrument threads --list \S/);
    // What calls most first; then the keyboard goes down, and Enter leads to the tree.
    await page.click("[data-sort=calls]");
    const calls = await page.evaluate(() => instrument.view.table.list.map((row) => row.calls));
    assert.deepStrictEqual(calls, [...calls].sort((a, b) => b - a));
    await page.locator(".row").first().click();
    assert.strictEqual(await selected(page), "main");
    await picture(page, folder, "threads");
    await page.fill("#filter", "no thread has this name");
    assert.strictEqual(await page.locator(".row").count(), 0);
    await page.fill("#filter", "");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Enter");
    assert.strictEqual(await page.evaluate(() => instrument.shown), "tree");
    assert.strictEqual(await page.evaluate(() => instrument.profile.label(instrument.state.root)), "main");
    await page.goBack();
    assert.strictEqual(await page.evaluate(() => instrument.shown), "threads");
    assert.deepStrictEqual(page.problems, []);
    return { rows: rows.length };
  }

  /** The heap against `heap --by class`, `--by site`, and the summary as JSON. */
  async function heap(browser, [html, classes, sites, document, folder]) {
    const page = await open(browser, file(html));
    await tab(page, "heap");
    const [ours, theirs] = [await section(page, "heap"), json(document)];
    for (const key of ["classes", "sites", "leaks", "collections", "coverage", "shares"]) assert.deepStrictEqual(ours[key], theirs[key], key);
    assert.deepStrictEqual(await shown(page), table(lines(classes), "objects bytes"));
    await firstRow(page);
    assert.match(await command(page), /^instrument heap --by class \S/);
    await picture(page, folder, "heap");
    await part(page, "sites");
    assert.deepStrictEqual(await shown(page), table(lines(sites), "objects bytes"));
    assert.match(await command(page), /^instrument heap --by site \S/);
    // A site leads to the method that made the objects.
    await page.fill("#filter", "Session in");
    await page.locator(".row").first().click();
    assert.match(await selected(page), /Leak\.login/);
    await page.fill("#filter", "");
    await part(page, "leaks");
    const cards = await page.locator(".card").allTextContents();
    assert.strictEqual(cards.length, theirs.leaks.suspects.length);
    cards.forEach((card, i) => assert.ok(card.includes(theirs.leaks.suspects[i].why), card));
    assert.ok(cards.some((card) => card.includes("Leak$Session") && card.includes("held by")), cards.join("\n"));
    await picture(page, folder, "leaks");
    await part(page, "collections");
    assert.strictEqual(await page.locator(".drawing svg .mark").count(), ours.collections.length);
    assert.ok(await page.locator(".drawing svg .curve").count() === 1);
    await page.keyboard.press("ArrowDown");
    assert.strictEqual(await page.locator(".row.selected").count(), 1);
    await picture(page, folder, "collections");
    const download = page.waitForEvent("download");
    await page.keyboard.press("x");
    assert.match(fs.readFileSync(await (await download).path(), "utf8"), /^<svg/);
    assert.deepStrictEqual(page.problems, []);
    return { classes: ours.classes.rows.length, sites: ours.sites.rows.length, suspects: cards.length };
  }

  /** Monitors against `monitors`. */
  async function monitors(browser, [html, text, document, folder]) {
    const page = await open(browser, file(html));
    await tab(page, "monitors");
    const [[ours], [theirs]] = [await section(page, "monitors"), json(document).processes];
    for (const key of ["monitors", "pairs", "threads", "contended", "waiting", "owners_known"]) assert.deepStrictEqual(ours[key], theirs[key], key);
    const all = lines(text);
    // The page says behind the monitor where threads waited.
    const brief = (row) => [...row.split(" ").slice(0, 8), row.match(/#\d+/)[0]].join(" ");
    assert.deepStrictEqual((await shown(page)).map(brief), table(all, "contended total mean max waits").map(brief));
    await firstRow(page);
    assert.match(await command(page), /^instrument monitors \S/);
    // A person asks: who had the lock, and who waited?
    await page.locator(".row", { hasText: "Contention$Lock" }).first().click();
    const detail = await page.textContent("#monitor-detail");
    assert.match(detail, /Held by.*Entered by.*main/);
    await picture(page, folder, "monitors");
    await part(page, "pairs");
    assert.deepStrictEqual(await shown(page), table(all, "contended total mean max thread waited for thread"));
    assert.ok(await page.locator(".drawing svg path.arc").count() > 0);
    assert.match(await page.textContent(".drawing svg"), /main/);
    await picture(page, folder, "pairs");
    await part(page, "threads");
    const rows = await page.evaluate(() => instrument.view.table.list.length);
    assert.strictEqual(rows, theirs.threads.length);
    await page.locator(".row", { hasText: /main \(/ }).first().dblclick();
    assert.strictEqual(await page.evaluate(() => instrument.shown), "tree");
    assert.strictEqual(await selected(page), "main");
    assert.deepStrictEqual(page.problems, []);
    return { pairs: ours.pairs.length, monitors: ours.monitors.length };
  }

  /** Remote calls against `merge --report services` and `--report calls`. */
  async function remote(browser, [html, text, services, calls, folder]) {
    const page = await open(browser, file(html));
    await tab(page, "remote");
    const ours = await section(page, "remote");
    assert.deepStrictEqual(ours.services, json(services));
    assert.deepStrictEqual(ours.calls, json(calls));
    assert.deepStrictEqual(await shown(page), table(lines(text), "made failed client mean max served server mean max kind method"));
    await firstRow(page);
    assert.match(await command(page), /^instrument merge --report services \S/);
    // Every process has a box, every pair an arrow; a click on one leaves its methods.
    assert.strictEqual(await page.locator(".drawing svg .box").count(), 4);
    assert.strictEqual(await page.locator(".drawing svg .link").count(), ours.services.links.length);
    await picture(page, folder, "services");
    const link = page.locator(".drawing svg .link[aria-label^='client (pid']").first();
    await link.click({ force: true });
    const left = await page.evaluate(() => instrument.view.table.list.map((row) => instrument.view.arrow(row)));
    assert.ok(left.length > 0 && left.length < ours.services.rows.length, left.join("; "));
    await page.fill("#filter", "");
    await part(page, "calls");
    assert.match(await command(page), /^instrument merge --report calls \S/);
    // The slowest call is shown: its calls, each end with its time, and a bar for each of both.
    const spans = ours.calls.rows[0].spans;
    assert.ok(spans.length >= 3, `${spans.length} calls`);
    const rows = page.locator("[aria-label='Calls within the outermost call'] .row");
    assert.strictEqual(await rows.count(), spans.length);
    const [client, server, between] = await rows.first().locator(".cell").allTextContents();
    const figure = (ns) => page.evaluate((ns) => quantity(ns, "ns"), ns);
    assert.deepStrictEqual([client, server, between], [await figure(spans[0].made.ns), await figure(spans[0].served.ns), spans[0].between_ns < 0 ? "~0 ns" : await figure(spans[0].between_ns)]);
    assert.strictEqual(await rows.first().locator(".lane i").count(), 2);
    const box = async (locator) => (await locator.boundingBox()).width;
    assert.ok((await box(rows.first().locator(".lane i").nth(0))) > (await box(rows.nth(spans.length - 1).locator(".lane i").nth(1))), "what is around is wider");
    // Down the chain: the process that served one call makes the next.
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    assert.match(await page.textContent("#span-detail"), /s2 \(pid.*s3 \(pid/);
    await picture(page, folder, "calls");
    const state = new URL(page.url()).hash;
    await page.reload();
    await page.waitForFunction(() => window.instrument);
    assert.strictEqual(new URL(page.url()).hash, state);
    assert.match(await page.textContent("#span-detail"), /s2 \(pid.*s3 \(pid/);
    await page.keyboard.press("Enter");
    assert.strictEqual(await page.evaluate(() => instrument.shown), "tree");
    assert.deepStrictEqual(page.problems, []);
    return { calls: ours.calls.rows.length, spans: spans.length };
  }

  /** What was not recorded has no tab. */
  async function absent(browser, [html]) {
    const page = await open(browser, file(html));
    const tabs = await page.evaluate(() => instrument.views.map(([key]) => key));
    await page.keyboard.press("]");
    assert.strictEqual(await page.evaluate(() => instrument.shown), "tree");
    await page.keyboard.press("[");
    assert.strictEqual(await page.evaluate(() => instrument.shown), "summary");
    assert.deepStrictEqual(page.problems, []);
    return { tabs };
  }

  /** A page of a program that goes on: it stays where it is, and shows more, until it is paused. */
  async function live(browser, [address]) {
    const page = await open(browser, address);
    const calls = () => page.evaluate(() => window.instrument && instrument.profile.calls.reduce((sum, n) => sum + n, 0));
    // What a person has set up survives: a filter, an opened row, the zoom, the theme, and what is scrolled to.
    await tab(page, "flame");
    await page.keyboard.press("+");
    await page.waitForFunction(() => /zoom=/.test(location.hash));
    await page.click("#theme");
    await tab(page, "tree");
    await page.evaluate(() => (instrument.loaded = true));
    await page.keyboard.press("l");
    const opened = await page.evaluate(() => [...document.querySelectorAll(".row .name")].map((name) => name.title));
    const again = await page.evaluate(() => location.hash);
    await page.reload();
    await page.waitForFunction(() => window.instrument);
    assert.deepStrictEqual(await page.evaluate(() => [...document.querySelectorAll(".row .name")].map((name) => name.title)), opened, again);
    await page.evaluate(() => (instrument.loaded = true));
    await tab(page, "methods");
    await page.fill("#filter", "Asked");
    const first = await calls();
    await page.selectOption("#watch", "2");
    await page.waitForFunction((first) => window.instrument && instrument.profile.calls.reduce((sum, n) => sum + n, 0) > first, first, { timeout: 30000 });
    assert.strictEqual(await page.evaluate(() => instrument.shown), "methods");
    assert.strictEqual(await page.inputValue("#watch"), "2");
    // The page is the same one: only its document is new.
    assert.deepStrictEqual(await page.evaluate(() => [instrument.loaded, document.getElementById("filter").value, instrument.state.at.zoom !== "", document.documentElement.dataset.theme, instrument.state.openKeys() !== "", document.activeElement.id]), [true, "Asked", true, "dark", true, "filter"]);
    await page.locator("#view").focus();
    await page.keyboard.press("p");
    assert.strictEqual(await page.inputValue("#watch"), "");
    const paused = await calls();
    await page.waitForTimeout(3000);
    assert.strictEqual(await calls(), paused);
    // From now on, and from the start again.
    const toMoment = (name, isCut) => Promise.all([page.waitForURL((url) => url.search.startsWith("?since=") === isCut), page.getByRole("button", { name }).click()]);
    await page.waitForFunction(() => window.instrument);
    const until = (isLess) => page.waitForFunction(([paused, isLess]) => isLess === instrument.profile.calls.reduce((sum, n) => sum + n, 0) < paused, [paused, isLess]);
    await toMoment("Since now", true);
    await until(true);
    const [cut, shown, command] = [await calls(), await page.evaluate(() => instrument.shown), await page.evaluate(() => commandOf(instrument))];
    await page.waitForTimeout(1000);
    await page.reload();
    await page.waitForFunction(() => window.instrument);
    const grown = await calls();
    await page.keyboard.press("t");
    await page.waitForURL((url) => url.search === "");
    await until(false);
    const whole = await calls();
    assert.deepStrictEqual(page.problems, []);
    return { first, paused, cut, shown, command, grown, whole };
  }

  return { live, threads, heap, monitors, remote, absent };
};
