// Opens a page in Firefox as it comes from its vendor, by its own protocol (Marionette), and looks at every view. FIREFOX PAGE FOLDER as arguments;
// what does not hold is an exception.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const net = require("node:net");
const os = require("node:os");
const path = require("node:path");
const { spawn } = require("node:child_process");
const { pathToFileURL } = require("node:url");
const { unreadable } = require("./measure.js");

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits for what is not undefined. */
async function until(what, found) {
  for (let i = 0; i < 600; i++) {
    const value = await found();
    if (value !== undefined && value !== null && value !== false) return value;
    await pause(100);
  }
  throw new Error(`in a minute there was no ${what}`);
}

/** A running Firefox that takes commands: messages are `LENGTH:JSON`. */
class Firefox {
  constructor(binary) {
    this.profile = fs.mkdtempSync(path.join(os.tmpdir(), "firefox-"));
    fs.writeFileSync(path.join(this.profile, "user.js"), 'user_pref("marionette.port", 0);\nuser_pref("datareporting.policy.dataSubmissionEnabled", false);\n');
    this.process = spawn(binary, ["--headless", "--no-remote", "--marionette", "--profile", this.profile], { stdio: "ignore" });
    this.answers = new Map();
    this.number = 0;
    this.data = Buffer.alloc(0);
  }

  async connect() {
    const place = path.join(this.profile, "MarionetteActivePort");
    const port = Number(await until("port of Firefox", () => fs.existsSync(place) && fs.readFileSync(place, "utf8").trim()));
    this.socket = net.connect(port, "127.0.0.1");
    this.socket.on("data", (data) => this.receive(data));
    await new Promise((resolve, reject) => this.socket.once("connect", resolve).once("error", reject));
    const { capabilities } = await this.ask("WebDriver:NewSession", {});
    return capabilities.browserVersion;
  }

  receive(data) {
    this.data = Buffer.concat([this.data, data]);
    for (;;) {
      const colon = this.data.indexOf(":");
      const length = Number(this.data.subarray(0, colon));
      if (colon < 0 || this.data.length < colon + 1 + length) return;
      const message = JSON.parse(this.data.subarray(colon + 1, colon + 1 + length));
      this.data = this.data.subarray(colon + 1 + length);
      // The first one says which protocol it speaks.
      if (!Array.isArray(message)) continue;
      const [, number, error, result] = message;
      const [resolve, reject] = this.answers.get(number);
      this.answers.delete(number);
      if (error) reject(new Error(`${error.error}: ${error.message}`));
      else resolve(result);
    }
  }

  ask(command, parameters) {
    const text = JSON.stringify([0, ++this.number, command, parameters]);
    this.socket.write(`${Buffer.byteLength(text)}:${text}`);
    return new Promise((resolve, reject) => this.answers.set(this.number, [resolve, reject]));
  }

  /** What a function gives in the page. */
  async evaluate(work, ...args) {
    const script = `return (${work})(...arguments);`;
    return (await this.ask("WebDriver:ExecuteScript", { script, args, sandbox: null })).value;
  }

  async press(key) {
    const actions = ["keyDown", "keyUp"].map((type) => ({ type, value: key }));
    await this.ask("WebDriver:PerformActions", { actions: [{ type: "key", id: "keyboard", actions }] });
  }

  async screenshot(file) {
    const { value } = await this.ask("WebDriver:TakeScreenshot", { full: false });
    fs.writeFileSync(file, Buffer.from(value, "base64"));
  }

  async end() {
    await this.ask("Marionette:Quit", { flags: ["eForceQuit"] }).catch(() => {});
    this.socket?.destroy();
    this.process.kill();
    await new Promise((resolve) => (this.process.exitCode !== null || this.process.signalCode !== null ? resolve() : this.process.once("exit", resolve)));
    fs.rmSync(this.profile, { recursive: true, force: true });
  }
}

async function look(firefox, page, folder) {
  await firefox.ask("WebDriver:SetWindowRect", { width: 1280, height: 800 });
  await firefox.ask("WebDriver:Navigate", { url: pathToFileURL(path.resolve(page)).href });
  await until("page", () => firefox.evaluate(() => window.instrument !== undefined));
  await firefox.evaluate(() => {
    window.problems = [];
    addEventListener("error", ({ message }) => window.problems.push(message));
    addEventListener("unhandledrejection", ({ reason }) => window.problems.push(String(reason)));
  });
  const views = await firefox.evaluate(() => instrument.views.map(([key]) => key));
  let rows = 0;
  for (const theme of ["light", "dark"]) {
    await firefox.evaluate((theme) => instrument.state.go({ theme }), theme);
    for (const view of views) {
      await firefox.evaluate((view) => instrument.go(view), view);
      await until(`picture of ${view}`, () => firefox.evaluate(() => instrument.view.frame === undefined));
      const { seen, bad } = await firefox.evaluate(unreadable);
      assert.deepStrictEqual(bad, [], view);
      rows += seen;
      await firefox.screenshot(path.join(folder, `firefox-${view}-${theme}.png`));
    }
  }
  // Boxes are painted, and saved whole.
  await firefox.press("3");
  await until("boxes", () => firefox.evaluate(() => instrument.shown === "flame" && instrument.view.frame === undefined));
  const boxes = await firefox.evaluate(() => {
    const { canvas } = instrument.view;
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const colours = new Set();
    for (let i = 0; i < data.length; i += 4) colours.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    return { colours: colours.size, levels: instrument.view.levels.length, saved: instrument.view.picture().url.length };
  });
  assert.ok(boxes.colours > 10 && boxes.levels > 3 && boxes.saved > 5000, JSON.stringify(boxes));
  // Keys move in the tree.
  await firefox.press("2");
  const before = await firefox.evaluate(() => instrument.state.selected);
  await firefox.press("\uE015");
  assert.notStrictEqual(await firefox.evaluate(() => instrument.state.selected), before);
  assert.deepStrictEqual(await firefox.evaluate(() => window.problems), []);
  return { views: views.length, rows, levels: boxes.levels };
}

async function main() {
  const [binary, page, folder] = process.argv.slice(2);
  const firefox = new Firefox(binary);
  try {
    const version = await firefox.connect();
    console.log(JSON.stringify({ version, ...(await look(firefox, page, folder)) }));
  } finally {
    await firefox.end();
  }
}

main().catch((error) => {
  console.error(error.stack);
  process.exit(1);
});
