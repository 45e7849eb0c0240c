// The timeline, used as a person would. What it shows of windows is given back, to be compared with what the command line prints.
"use strict";
const assert = require("node:assert");
const path = require("node:path");
const { painted } = require("./measure.js");

module.exports = ({ open, file, tab }) => {
  const command = (page) => page.textContent("#command");
  const picture = async (page, folder, name) => {
    await painted(page);
    await page.screenshot({ path: path.join(folder, `${name}.png`) });
  };
  const view = (page, what) => page.evaluate(`instrument.view.${what}`);
  const pane = (page) => page.waitForSelector(".window:not([hidden])");

  /** The place of a row, as text of the list. */
  const rowNamed = (page, name) => page.evaluate((name) => instrument.view.list.findIndex((row) => row.thread === name), name);

  /** Where a moment of a row is on the screen. */
  async function place(page, row, part) {
    const box = await page.locator("#view canvas").first().boundingBox();
    const y = await page.evaluate((row) => instrument.view.seen().find(({ at }) => at === row).y, row);
    const x = await page.evaluate((part) => instrument.view.x(instrument.view.moment(GUTTER + part * (instrument.view.width - GUTTER))), part);
    return [box.x + x, box.y + y + 8];
  }

  async function dragged(page, row, from, to) {
    const [x, y] = await place(page, row, from);
    const [end] = await place(page, row, to);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move((x + end) / 2, y + 2);
    await page.mouse.move(end, y + 2);
    await page.mouse.up();
    await pane(page);
  }

  /** What is shown of the window, and the command that prints the same. */
  const shown = async (page) => ({ tree: await view(page, "pane.answer.tree"), total: await view(page, "pane.answer.total"), command: await command(page) });

  /** A trace: rows, waits, windows by mouse and keyboard, zoom, the address. `html` may be a file or the address of a server. */
  async function timeline(browser, [html, folder, name]) {
    const isServed = html.startsWith("http");
    const page = await open(browser, isServed ? html : file(html));
    await tab(page, "timeline");
    const rows = await view(page, "list");
    const main = await rowNamed(page, "main");
    assert.ok(rows[main].calls > 0);
    await picture(page, folder, `timeline-${name}`);
    const windows = [];
    // By mouse: a part of the time.
    await dragged(page, main, 0.3, 0.62);
    assert.match(page.url(), /window=\d+-\d+/);
    await page.waitForFunction(() => instrument.view.answered);
    windows.push(await shown(page));
    assert.match(await page.textContent("#window-title"), /^main: from .* to .*, .* in calls, as measured/);
    // Every row of the table says the figures of its context.
    const table = await page.locator(".window .row").evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => (cell.classList.contains("name") ? cell.title : cell.textContent)).join(" ")));
    const list = await page.evaluate(() => instrument.view.pane.list.map(([node]) => [instrument.profile.labelOf(node.name), count(node.n), quantity(node.base[0], "ns"), quantity(node.cum[0], "ns"), percent(node.cum[0], instrument.view.pane.answer.total[0])].join(" ")));
    assert.ok(table.length > 1);
    assert.deepStrictEqual(table, list.slice(0, table.length));
    await picture(page, folder, `timeline-window-${name}`);
    await page.click("[data-part=flame]");
    await page.waitForFunction(() => instrument.view.pane.boxes?.length > 1);
    await picture(page, folder, `timeline-flame-${name}`);
    // The address shows the same.
    const hash = new URL(page.url()).hash;
    await page.reload();
    await page.waitForFunction(() => window.instrument && instrument.view.pane.answer);
    assert.strictEqual(new URL(page.url()).hash, hash);
    assert.deepStrictEqual(await shown(page), windows[0]);
    await page.click("[data-part=tree]");
    // By keyboard: zoom in, move, and take what is seen.
    await page.click("#window-close");
    await page.waitForSelector(".window", { state: "hidden" });
    await page.locator("#view").focus();
    for (const key of ["+", "w", "d", "ArrowRight", "ArrowLeft", "s"]) await page.keyboard.press(key);
    await page.waitForFunction(() => /span=\d+-\d+/.test(location.hash));
    const [from, to] = [await view(page, "from"), await view(page, "to")];
    assert.ok(from > 0 && to < 1 && to - from < 0.9, `${from} ${to}`);
    await page.keyboard.press("e");
    await pane(page);
    await page.waitForFunction(() => instrument.view.answered && document.getElementById("command").textContent.includes("--from"));
    windows.push(await shown(page));
    await page.keyboard.press("0");
    await page.waitForFunction(() => !/span=/.test(location.hash));
    assert.deepStrictEqual([await view(page, "from"), await view(page, "to")], [0, 1]);
    await page.keyboard.press("e");
    await page.waitForFunction(() => instrument.view.answered.from === 0);
    await page.waitForFunction(() => instrument.view.pane.title.textContent.includes("from 0 ns"));
    windows.push(await shown(page));
    // Rows by keyboard.
    const before = await view(page, "selectedRow");
    await page.keyboard.press(before + 1 < rows.length ? "ArrowDown" : "ArrowUp");
    assert.notStrictEqual(await view(page, "selectedRow"), before);
    // Wheel: with Ctrl it zooms where the mouse is.
    const [x, y] = await place(page, main, 0.5);
    await page.mouse.move(x, y);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -300);
    await page.keyboard.up("Control");
    await page.waitForFunction(() => instrument.view.to - instrument.view.from < 1);
    // A call says what it is.
    await page.evaluate((row) => instrument.state.go({ lane: instrument.view.id(instrument.view.list[row]) }), main);
    // A finer picture may be on its way.
    await page.waitForFunction(() => instrument.view.frame === undefined && instrument.view.painted.some(({ call, w }) => call.calls === 1 && w > 20));
    const call = await page.evaluate(() => { const found = instrument.view.painted.find(({ call, w }) => call.calls === 1 && w > 20); return found && { x: found.x, y: found.y, w: found.w, h: found.h, call: found.call }; });
    assert.ok(call, "a call that is seen");
    const box = await page.locator("#view canvas").first().boundingBox();
    await page.mouse.move(box.x + call.x + call.w / 2, box.y + call.y + call.h / 2);
    assert.match(await page.textContent("#tip"), /, from .* on, as measured/);
    // Selected it has a time at which it was called, returned, and how long it took.
    await page.mouse.click(box.x + call.x + call.w / 2, box.y + call.y + call.h / 2);
    const fields = await page.locator("[data-field=call], [data-field=return], [data-field=call-total]").allTextContents();
    const times = await page.evaluate(({ start, length }) => [start, start + length, length].map((ns) => quantity(ns, "ns")), call.call);
    assert.deepStrictEqual(fields, times);
    // A pinned row stays on top with all its levels, whichever is selected.
    const last = await page.evaluate(() => instrument.view.order[instrument.view.order.length - 1]);
    await page.evaluate((last) => instrument.state.go({ lane: instrument.view.id(instrument.view.list[last]) }), last);
    await page.keyboard.press("k");
    assert.strictEqual(await page.evaluate(() => instrument.view.order[0]), last);
    assert.match(page.url(), /pinned=/);
    await page.keyboard.press("k");
    // Single calls: found one after the other, by how long they took and by their method; each with its call tree.
    await page.evaluate(() => instrument.state.go({ by: "took", find: ">= 20 us", call: "", view: "timeline" }));
    const single = await page.evaluate(() => instrument.view.singleCalls());
    assert.ok(single.length > 1 && single.every(({ length }) => length >= 20000), JSON.stringify(single));
    assert.match(await page.textContent("#find-hits"), new RegExp(`^${single.length} single calls$`));
    await page.click("#find-next");
    await page.click("#find-next");
    assert.strictEqual(await page.textContent("#find-hits"), `2 of ${single.length} single calls`);
    assert.strictEqual(await page.evaluate(() => instrument.shown), "timeline");
    const took = (ns) => page.evaluate((ns) => quantity(ns, "ns"), ns);
    assert.strictEqual(await page.textContent("[data-field=call-total]"), await took(single[1].length));
    // A rule gives calls that took long a colour of their own.
    await page.evaluate(() => instrument.state.go({ find: "", rules: JSON.stringify([{ attribute: "took", value: ">= 20 us", display: "colour", style: "#123456" }]) }));
    const ruled = await page.evaluate(([one]) => [one.length, 10].map((ns) => instrument.mapper.ofCall(instrument.profile.anyContext(one.name), ns) ?? null), single);
    assert.deepStrictEqual(ruled, ["#123456", null]);
    await painted(page);
    await picture(page, folder, `timeline-single-${name}`);
    await page.evaluate(() => instrument.state.go({ rules: "" }));
    await page.click("#call-tree");
    await page.waitForFunction(({ start }) => instrument.view.answered && location.hash.includes(`window=${start}-`), single[1]);
    assert.ok((await page.evaluate(() => instrument.view.pane.list.map(([node]) => node.name))).includes(single[1].name));
    await page.click("#window-close");
    const frame = await page.evaluate(() => {
      const took = [];
      for (let i = 0; i < 50; i++) {
        instrument.view.paint();
        took.push(instrument.view.took);
      }
      return took.sort((a, b) => a - b)[47];
    });
    assert.deepStrictEqual(page.problems, []);
    const waits = rows.reduce((sum, row) => sum + row.waits.length, 0);
    return { rows: rows.length, waits, arrows: await view(page, "arrows.length"), windows, frame_p95_ms: frame };
  }

  /** How long a server takes to answer what is zoomed and moved to, and the page to find and to paint. `address`: of a server. */
  async function frames(browser, [address]) {
    const page = await open(browser, address, { width: 1920, height: 1080 });
    await tab(page, "timeline");
    await page.waitForFunction(() => instrument.view.document.served);
    const found = await page.evaluate(async () => {
      const { view, finder, profile } = instrument;
      view.selectedRow = view.list.findIndex((row) => row.calls !== null);
      const { row } = view.list[view.selectedRow];
      let seed = 1;
      const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
      const [pictures, windows, painted, finds] = [[], [], [], []];
      const until = async (is) => {
        const began = performance.now();
        while (!is()) {
          if (performance.now() - began > 60000) throw new Error("no answer in a minute");
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
      };
      for (let i = 0; i < 60; i++) {
        const width = Math.max(1000, view.end * 2 ** (-20 * random()));
        const from = random() * (view.end - width);
        view.show(from, from + width);
        clearTimeout(view.late);
        let began = performance.now();
        view.refine();
        await until(() => view.fine.get(row)?.from === Math.round(view.from * view.end) && view.fine.get(row).to === Math.round(view.to * view.end));
        pictures.push(performance.now() - began);
        view.paint();
        painted.push(view.took);
        began = performance.now();
        view.enclose();
        await until(() => view.answered?.from === Math.round(view.from * view.end) && view.answered.to === Math.round(view.to * view.end));
        windows.push(performance.now() - began);
        began = performance.now();
        finder.hits("method", String(i), false, false);
        finds.push(performance.now() - began);
      }
      const p95 = (times) => times.sort((a, b) => a - b)[Math.floor(0.95 * times.length) - 1];
      return { contexts: profile.count, picture_p95_ms: p95(pictures), window_p95_ms: p95(windows), find_p95_ms: p95(finds), frame_p95_ms: p95(painted) };
    });
    assert.deepStrictEqual(page.problems, []);
    return found;
  }

  /** Without a trace there are lives, waits and arrows, and the page says what is missing. */
  async function untraced(browser, [html, folder, name]) {
    const page = await open(browser, file(html));
    await tab(page, "timeline");
    assert.match(await page.textContent("#timeline-notes"), /--record trace/);
    assert.match(await command(page), /^instrument threads --list /);
    await page.keyboard.press("e");
    assert.match(await page.textContent("#status"), /no calls of/);
    assert.ok(await page.isHidden(".window"));
    await picture(page, folder, `timeline-${name}`);
    const rows = await view(page, "list");
    const arrows = await view(page, "arrows");
    assert.deepStrictEqual(page.problems, []);
    const kinds = Object.fromEntries(["started", "task", "remote"].map((kind) => [kind, arrows.filter((arrow) => arrow.kind === kind).length]));
    return { rows: rows.length, waits: rows.reduce((sum, row) => sum + row.waits.length, 0), arrows: kinds, seen: await view(page, "arrowsSeen") };
  }

  /** Names that are markup, endless or of another direction; rubbish in the address. */
  async function hostile_timeline(browser, [html, folder]) {
    const page = await open(browser, file(html));
    await tab(page, "timeline");
    await page.keyboard.press("e");
    await pane(page);
    for (const part of ["tree", "flame"]) {
      await page.click(`[data-part=${part}]`);
      await painted(page);
      const at = await page.locator(".window canvas").boundingBox();
      if (at) await page.mouse.move(at.x + 60, at.y + 30);
    }
    await picture(page, folder, "timeline-hostile");
    const names = await page.evaluate(() => instrument.view.pane.list.map(([node]) => node.name));
    assert.ok(names.some((name) => name.includes("</script><script>")), names.join(" ").slice(0, 300));
    assert.strictEqual(await page.evaluate(() => window.hacked), undefined);
    assert.strictEqual(await page.locator("#view img, #view script").count(), 0);
    const rubbish = ["window=1-0&span=9-2", "window=a-b&span=-", "window=99999999999999999999-1&span=0-99999999999999999999", "lane=__proto__&part=__proto__&window=0-5", "span=5-6&window=5-6"];
    for (const words of rubbish) {
      await page.goto(`${file(html)}#view=timeline&${words}`);
      await page.reload();
      await page.waitForFunction(() => window.instrument);
      await painted(page);
      assert.strictEqual(await page.evaluate(() => instrument.shown), "timeline");
    }
    assert.deepStrictEqual(page.problems, []);
    return { names: names.length };
  }

  return { timeline, frames, untraced, hostile_timeline };
};
