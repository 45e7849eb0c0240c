// The page of a program that goes on: it asks for newer figures, and for those since a moment. Nothing that is shown is lost, for the page stays.
"use strict";

class Live {
  constructor(app) {
    this.app = app;
    this.choice = document.getElementById("watch");
    this.button = document.getElementById("since");
    document.getElementById("live").hidden = false;
    this.choice.onchange = () => app.state.go({ refresh: this.choice.value }, true);
    this.button.onclick = () => this.since();
    window.addEventListener("popstate", () => sinceMoment() !== this.moment && this.fetch());
    this.moment = sinceMoment();
  }

  update() {
    this.choice.value = this.app.state.at.refresh;
    const seconds = Number(this.choice.value);
    if (seconds !== this.seconds) {
      this.seconds = seconds;
      this.plan();
    }
    const { since } = this.app.profile.header.about;
    const isCut = sinceMoment() !== null;
    // That of the command line stays.
    this.button.hidden = since.length > 0 && !isCut;
    this.button.textContent = isCut ? "Since the start" : "Since now";
    this.button.title = isCut ? "show everything since the program was started (t)" : "show only what happens from now on (t)";
  }

  /** The next question; none of a program that has ended. */
  plan() {
    clearTimeout(this.timer);
    if (this.seconds > 0 && this.app.profile.header.about.is_live) this.timer = setTimeout(() => this.fetch(), 1000 * this.seconds);
  }

  pause() {
    this.app.state.go({ refresh: this.app.state.at.refresh ? "" : "5" }, true);
  }

  /** The figures begin anew: the server keeps what happened until then, and the address says from which moment on. Or since the start again. */
  async since() {
    if (this.button.hidden) return;
    try {
      const to = sinceMoment() !== null ? location.pathname : `${location.pathname}?since=${(await asked("moment")).moment}`;
      history.pushState(null, "", `${to}${location.hash}`);
      await this.fetch();
    } catch (error) {
      this.app.status(error.message);
    }
  }

  /** Asks for the page again, and shows its document: one question at a time. */
  async fetch() {
    if (this.isAsking) return;
    this.isAsking = true;
    const moment = sinceMoment();
    const shown = this.app.profile;
    try {
      const response = await fetch(`${location.pathname}${location.search}`);
      const text = await response.text();
      if (!response.ok) throw new Error(text.slice(0, 200));
      const profile = await profileOf(text);
      // A file that was dropped meanwhile stays.
      if (sinceMoment() === moment && this.app.profile === shown) {
        this.moment = moment;
        this.app.adopt(profile);
      }
    } catch (error) {
      this.app.status(`no newer figures: ${error.message}`);
    }
    this.isAsking = false;
    // Meanwhile another moment was chosen: this is no answer to it.
    if (sinceMoment() !== moment) await this.fetch();
    else this.plan();
  }
}

/** The profile of a page. */
async function profileOf(page) {
  const found = /<script id="document" type="text\/plain">([^<]*)<\/script>/.exec(page);
  if (!found) throw new Error("it is no page of instrument view");
  return new Profile(await readDocument(found[1]));
}

/** What a dropped file shows: a page by itself; of a profile the server that this page came from makes one. */
async function opened(file) {
  if (/^<!doctype html>/.test(await file.slice(0, 20).text())) return profileOf(await file.text());
  if (!location.protocol.startsWith("http")) throw new Error("this page is a file; instrument view FILE shows a profile");
  const response = await fetch(`${location.pathname}?open=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
  const text = await response.text();
  if (!response.ok) throw new Error(text.trim().slice(0, 300));
  const profile = await profileOf(text);
  // A browser does not say where a file lies.
  profile.header.about.files = [file.name];
  // It is a copy: the server cannot tell what the program did since.
  profile.header.about.is_live = false;
  return profile;
}

/** A page or a profile that is dropped on this page is shown instead. */
function takeDropped(app) {
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", async (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer?.files ?? [];
    if (!file) return;
    try {
      app.status(`opening ${file.name} \u2026`);
      app.adopt(await opened(file));
      // The program of before is not asked any more: its answer would take the place of the file.
      clearTimeout(app.live?.timer);
      app.status(`shown: ${file.name}`);
    } catch (error) {
      app.status(`${file.name}: ${error.message}`);
    }
  });
}
