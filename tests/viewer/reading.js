// Whether a person can read a page: names in every view, by measure, and by the rules of axe-core.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const { painted, unreadable } = require("./measure.js");

/** What is painted as names, from now on. */
const watchText = (page) => page.evaluate(() => {
  const { fillText } = CanvasRenderingContext2D.prototype;
  window.painted = new Set();
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    window.painted.add(text);
    return fillText.call(this, text, ...rest);
  };
});

/** Texts that are neither a name as a whole, nor without parameters, nor the bare method. */
const torn = (page) => page.evaluate(() => {
  const whole = new Set(instrument.profile.labels.flatMap((label) => {
    const { owner, method } = partsOf(label);
    return [label, short(label), `${owner}${method}`, method];
  }));
  return { painted: window.painted.size, torn: [...window.painted].filter((text) => !whole.has(text) && !text.startsWith("nothing of ")) };
});

module.exports = ({ open, file, tab }) => {
  /** Every view, all levels open, at both sizes, with the panel beside it and without. */
  async function names(browser, [html, folder]) {
    const found = { rows: 0, boxes: 0, deepest: 0 };
    for (const size of [{ width: 1280, height: 720 }, { width: 1920, height: 1080 }]) {
      const page = await open(browser, file(html), size);
      await watchText(page);
      const look = async (what) => {
        const { seen, bad } = await page.evaluate(unreadable);
        assert.deepStrictEqual(bad, [], `${what} at ${size.width}`);
        found.rows += seen;
      };
      for (const view of await page.evaluate(() => instrument.tabs.list.map(([key]) => key))) {
        await tab(page, view);
        await painted(page);
        await look(view);
        for (const part of await page.locator("[data-part]:visible").all()) {
          await part.click();
          await painted(page);
          await look(`${view}, ${await part.textContent()}`);
        }
      }
      await tab(page, "tree");
      await page.evaluate(() => {
        for (let i = 1; i < instrument.profile.count; i++) instrument.state.open.add(i);
        instrument.state.go({ chains: "all" });
      });
      const deepest = await page.evaluate(() => instrument.profile.depth.indexOf(Math.max(...instrument.profile.depth)));
      await page.evaluate((node) => instrument.state.go({ selected: node }), deepest);
      await look("the deepest rows, beside the panel");
      await page.screenshot({ path: path.join(folder, `deep-${size.width}.png`) });
      await page.keyboard.press("i");
      await look("the deepest rows");
      found.deepest = await page.evaluate((node) => instrument.profile.depth[node], deepest);
      await page.evaluate(() => window.painted.clear());
      for (const view of ["flame", "sandwich"]) {
        await tab(page, view);
        await painted(page);
      }
      const boxes = await torn(page);
      assert.deepStrictEqual(boxes.torn, []);
      found.boxes += boxes.painted;
      assert.deepStrictEqual(page.problems, []);
      await page.close();
    }
    return found;
  }

  /** axe-core's serious and critical findings, in every view and part, light and dark. */
  async function access(browser, [html, axe, folder]) {
    const rules = fs.readFileSync(axe, "utf8");
    let views = 0;
    let shown;
    const page = await open(browser, file(html));
    await page.evaluate(rules);
    const check = async (what) => {
      const findings = await page.evaluate(async () => {
        const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
        return violations.filter(({ impact }) => ["serious", "critical"].includes(impact)).map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.target} ${node.any[0]?.message ?? ""}`).join("; ")}`);
      });
      assert.deepStrictEqual(findings, [], what);
      views++;
    };
    for (const theme of ["light", "dark"]) {
      await page.evaluate((theme) => instrument.state.go({ theme, selected: 0, find: "" }), theme);
      const list = (shown = await page.evaluate(() => instrument.views.map(([key]) => key)));
      for (const view of list) {
        await page.evaluate((view) => instrument.go(view), view);
        await painted(page);
        await check(`${view}, ${theme}`);
        await page.screenshot({ path: path.join(folder, `${view}-${theme}.png`) });
        for (const part of await page.locator("[data-part]:visible").all()) {
          await part.click();
          await check(`${view}, ${await part.textContent()}, ${theme}`);
        }
      }
      // With everything that can be opened, and hits.
      await page.evaluate(() => instrument.state.go({ view: "tree", part: "", selected: 3, find: "a", mapper: "1", rules: '[{"attribute":"method","display":"colour"},{"attribute":"kind","display":"shape"}]' }));
      await page.click("#find-more summary");
      await check(`all panels, ${theme}`);
      await page.screenshot({ path: path.join(folder, `panels-${theme}.png`) });
      await page.click("#find-more summary");
      await page.evaluate(() => instrument.state.go({ mapper: "", rules: "" }));
      await page.keyboard.press("?");
      await check(`help, ${theme}`);
      await page.keyboard.press("Escape");
    }
    assert.deepStrictEqual(page.problems, []);
    return { views, shown };
  }

  /** What the landing page says: a sentence with these parts, which is seen without a click, and leads into a view. */
  async function overview(browser, [html, folder, kind, ...parts]) {
    const page = await open(browser, file(html));
    assert.strictEqual(await page.evaluate(() => instrument.shown), "summary");
    assert.strictEqual(await page.locator(".tile").count(), 4);
    assert.match(await page.textContent("#trust"), /calls exact/);
    const fits = (text) => parts.every((part) => {
      const at = text.indexOf(part.trim());
      text = text.slice(at + part.trim().length);
      return at >= 0;
    });
    const lines = await page.locator(".finding").allTextContents();
    const at = lines.findIndex((line) => line.startsWith(`${kind}: `) && fits(line));
    assert.ok(at >= 0, `${kind} ${parts}: ${lines.join("\n")}`);
    const finding = page.locator(".finding").nth(at);
    const box = await finding.boundingBox();
    assert.ok(box.y >= 0 && box.y + box.height < 720, JSON.stringify(box));
    assert.ok((await page.locator("#hot tr").count()) > 1 && (await page.locator("#own-flame canvas").count()) === 1);
    await painted(page);
    await page.screenshot({ path: path.join(folder, `overview-${kind.replace("+", "")}.png`) });
    await finding.locator("button").first().click();
    assert.notStrictEqual(await page.evaluate(() => instrument.shown), "summary");
    await page.goBack();
    assert.ok(await finding.isVisible());
    // A method leads to a row that is there, however deep.
    await page.locator("#hot button").last().click();
    assert.strictEqual(await page.evaluate(() => instrument.shown), "tree");
    assert.ok(await page.locator(".row.selected").isVisible());
    assert.deepStrictEqual(page.problems, []);
    return { clicks: 1 };
  }

  /** Tabs, toolbars, trees and grids by the keys that WAI-ARIA has for them; of each, Tab meets one element. */
  async function roles(browser, [html]) {
    const page = await open(browser, file(html));
    const press = async (...keys) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const focused = () => page.evaluate(() => document.activeElement.dataset.view ?? document.activeElement.dataset.part ?? document.activeElement.getAttribute("role"));
    const stops = (of) => page.evaluate((of) => [...document.querySelectorAll(of)].filter((element) => element.tabIndex === 0).length, of);
    await page.focus("#tab-summary");
    await press("ArrowRight");
    assert.deepStrictEqual([await focused(), await page.evaluate(() => instrument.shown)], ["tree", "tree"]);
    await press("End");
    const last = await focused();
    assert.strictEqual(last, await page.evaluate(() => instrument.tabs.list.at(-1)[0]));
    await press("ArrowRight");
    assert.strictEqual(await focused(), "summary");
    await press("ArrowLeft", "Home", "ArrowRight");
    assert.deepStrictEqual([await focused(), await stops("#tabs [role=tab]")], ["tree", 1]);
    // A tree: the focus is on the selected row, right opens and goes in, left closes and goes out.
    await page.locator(".row").first().click();
    const row = () => page.evaluate(() => [instrument.view.list.nodes.indexOf(instrument.state.selected), document.activeElement.getAttribute("aria-rowindex"), document.activeElement.getAttribute("aria-expanded")]);
    const rows = await page.evaluate(() => instrument.view.list.nodes.length);
    assert.deepStrictEqual(await row(), [0, "1", "true"]);
    await press("End");
    assert.deepStrictEqual((await row()).slice(0, 2), [rows - 1, String(rows)]);
    await press("Home", "ArrowRight");
    assert.deepStrictEqual((await row()).slice(0, 2), [1, "2"]);
    await press("ArrowLeft");
    assert.strictEqual((await row())[2], "false");
    await press("ArrowRight");
    assert.strictEqual((await row())[2], "true");
    await press("ArrowLeft", "ArrowLeft", "PageDown");
    assert.strictEqual((await row())[0], (await page.evaluate(() => instrument.view.list.nodes.length)) - 1);
    await press("PageUp");
    assert.strictEqual((await row())[0], 0);
    assert.strictEqual(await stops("#view [role=row]"), 1);
    // A grid.
    await tab(page, "methods");
    await page.locator(".row").nth(1).click();
    const place = () => page.evaluate(() => instrument.view.rows.selected);
    await press("Home");
    assert.strictEqual(await place(), 0);
    await press("End");
    assert.strictEqual(await place(), await page.evaluate(() => instrument.view.list.length - 1));
    // A toolbar: arrows move the focus, and nothing else.
    await tab(page, "threads");
    if (await page.locator("[role=toolbar] [data-part]").count()) {
      await page.focus("[role=toolbar] [data-part][tabindex='0']");
      const before = await focused();
      await press("ArrowRight");
      assert.notStrictEqual(await focused(), before);
    }
    assert.deepStrictEqual(page.problems, []);
    return { rows };
  }

  return { names, access, overview, roles };
};
