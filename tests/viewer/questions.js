// Five questions, answered by a person who opens the page: every click is counted, and the answer must be seen.
"use strict";
const assert = require("node:assert");
const path = require("node:path");
const { painted } = require("./measure.js");

module.exports = ({ open, file }) => {
  /** A page that counts what is clicked. */
  async function person(browser, html) {
    const page = await open(browser, html.startsWith("http") ? html : file(html));
    let clicks = 0;
    const click = async (what) => {
      clicks++;
      await (typeof what === "string" ? page.locator(what) : what).first().click();
    };
    /** It stands on the screen, not only in the page. */
    const sees = async (what, text) => {
      const found = page.locator(what, { hasText: text }).first();
      await found.waitFor({ state: "visible", timeout: 5000 });
      // A wheel is no click.
      await found.scrollIntoViewIfNeeded();
      const box = await found.boundingBox();
      assert.ok(box && box.x >= 0 && box.y >= 0 && box.x < 1280 && box.y < 720, `${text}: ${JSON.stringify(box)}`);
    };
    const done = async (folder, name) => {
      await painted(page);
      await page.screenshot({ path: path.join(folder, `question-${name}.png`) });
      assert.deepStrictEqual(page.problems, []);
      return { clicks };
    };
    return { page, click, sees, done };
  }

  /** The method that is called most, and who calls it. */
  async function asks_often(browser, [html, folder]) {
    const { page, click, sees, done } = await person(browser, html);
    await click("[data-view=methods]");
    await click("[data-sort=calls]");
    // Only once the rows are in their new order: else the click meets another one.
    await page.locator(".row:not(.head)").first().filter({ hasText: "Database.query" }).waitFor({ timeout: 5000 });
    await click(page.locator(".row", { hasText: "Database.query" }));
    await page.locator("#node tr", { hasText: /^1.?000.*Customer\.nameOf/ }).first().waitFor({ timeout: 5000 });
    await sees("#node tr", "Customer.nameOf");
    const callers = await page.locator("#node table").first().locator("tr").allTextContents();
    // In the order of their times, which on a busy machine may be either.
    for (const caller of [/^1.?000.*Customer\.nameOf/, /^20.*Orders\.list/]) {
      assert.ok(callers.slice(1, 3).some((row) => caller.test(row)), `${caller}: ${JSON.stringify(callers)}`);
    }
    return done(folder, "asks-often");
  }

  /** Who waited for whom, and what that thread did. */
  async function has_the_lock(browser, [html, folder]) {
    const { page, click, sees, done } = await person(browser, html);
    await click("[data-view=monitors]");
    await click("[data-part=pairs]");
    await sees(".row", "waited for backup");
    // On a busy machine it may have left the lock before it could be asked who has it.
    const known = page.locator(".row", { hasNotText: "(unknown)" });
    assert.match(await known.first().textContent(), /worker-\d waited for backup/);
    // What that thread did.
    await click("[data-view=methods]");
    await click(page.locator(".row", { hasText: "Journal.copy" }));
    await sees("[data-field=thread]", "backup");
    return done(folder, "has-the-lock");
  }

  /** The suspect, why it is one, and what holds it. */
  async function fills_memory(browser, [html, folder]) {
    const { click, sees, done } = await person(browser, html);
    await click("[data-view=heap]");
    await click("[data-part=leaks]");
    await sees(".card", "Leak$Session");
    await sees(".card", "SESSIONS");
    return done(folder, "fills-memory");
  }

  /** One outermost call, client and servers side by side: whose time is long and not its callee's. */
  async function is_slow(browser, [html, folder]) {
    const { page, click, sees, done } = await person(browser, html);
    await click("[data-view=remote]");
    await click("[data-part=calls]");
    // The slowest call is shown. What s1 waits for is served by s2, and what s2 waits for is short.
    const served = (level) => page.evaluate((level) => instrument.view.call.spans.find(({ depth, label }) => depth === level && label.includes("remoteFoo")).served.ns, level);
    assert.ok(await served(1) > 3e7 && await served(2) < await served(1) - 3e7, `${await served(1)} ${await served(2)}`);
    await click(page.locator(".row[aria-level='2']", { hasText: "remoteFoo" }));
    await sees("#span-detail", "s2");
    // What s2 does below the call.
    await click("[data-view=methods]");
    await click(page.locator(".row", { hasText: "BeaconServer.query" }));
    await sees("[data-field=jvm]", "s2");
    return done(folder, "is-slow");
  }

  /** The widest box of the start, and why it ran. */
  async function starts(browser, [html, folder]) {
    const { page, click, sees, done } = await person(browser, html);
    await click("[data-view=methods]");
    await click(page.locator(".row"));
    assert.match(await page.textContent("[data-field=method]"), /Currencies\.parse/);
    await click("[data-view=sandwich]");
    await sees("#node tr", "Currencies.load");
    const shown = await page.evaluate(() => { const { profile, selected } = instrument.state; const path = []; for (let at = selected; at; at = profile.parent[at]) path.push(profile.label(at)); return path; });
    assert.ok(shown.some((label) => label.includes("Currencies.<clinit>")), shown.join(" < "));
    return done(folder, "starts");
  }

  /** The code of the selected method, from the server's class path. */
  async function bytecode(browser, [address]) {
    const { page, click } = await person(browser, address);
    await click("[data-view=methods]");
    await click(page.locator(".row", { hasText: "Currencies.parse" }));
    await click("#code");
    await page.waitForFunction(() => document.getElementById("code-text")?.textContent.includes("ireturn") || document.getElementById("code-text")?.textContent.includes("dreturn"));
    const code = await page.textContent("#code-text");
    assert.match(page.url(), /code=1/);
    const others = await page.evaluate(async () => (await asked(`code=${encodeURIComponent("None.such(int)")}`)).code);
    assert.deepStrictEqual(page.problems, []);
    return { code, others };
  }

  return { asks_often, has_the_lock, fills_memory, is_slow, starts, bytecode };
};
