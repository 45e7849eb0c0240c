// The line that asks: it opens with /, tells how many hits there are, and has its less used choices behind a menu.
"use strict";

class SearchLine {
  constructor(app) {
    this.app = app;
    this.form = document.getElementById("find");
    this.text = document.getElementById("find-text");
    this.choices = { by: document.getElementById("find-attribute"), order: document.getElementById("find-order"), from: document.getElementById("find-from") };
    for (const [key, { label }] of Object.entries(ATTRIBUTES)) this.choices.by.append(element("option", { value: key }, label));
    for (const [key, choice] of Object.entries(this.choices)) choice.onchange = () => app.state.go({ [key]: choice.value }, true);
    const menu = document.getElementById("find-more");
    menu.addEventListener("focusout", (event) => menu.contains(event.relatedTarget) || (menu.open = false));
    this.text.oninput = () => {
      clearTimeout(this.late);
      this.late = setTimeout(() => this.ask(), TYPED);
    };
    this.form.onsubmit = (event) => (event.preventDefault(), this.next());
    document.getElementById("find-before").onclick = () => this.next(-1);
    document.getElementById("find-close").onclick = () => this.close();
    document.getElementById("find-button").onclick = () => (this.form.hidden ? this.open() : this.close());
  }

  open() {
    this.form.hidden = false;
    this.text.focus();
    this.text.select();
  }

  close() {
    this.form.hidden = true;
    this.text.value = "";
    this.ask();
    document.getElementById("view").focus();
  }

  /** What is written becomes the question. */
  ask() {
    clearTimeout(this.late);
    if (this.text.value !== this.app.state.at.find) this.app.state.go({ find: this.text.value }, true);
  }

  next(step = 1) {
    this.ask();
    // In a timeline single calls are found.
    if (!this.app.view.findCall?.(step)) this.app.finder.next(step);
    this.update();
  }

  update() {
    const { at } = this.app.state;
    if (document.activeElement !== this.text) this.text.value = at.find;
    if (at.find) this.form.hidden = false;
    for (const [key, choice] of Object.entries(this.choices)) choice.value = at[key];
    document.getElementById("find-hits").textContent = this.app.view?.callWords?.() ?? this.app.finder.words();
    document.getElementById("find-button").setAttribute("aria-expanded", String(!this.form.hidden));
  }
}
