// Mapper and Key (JaViz, table 2) as one panel: the rules in their order, what they mean, and what a rule that is being written would meet.
"use strict";

/** Draws the panel. The key stays while rules are applied, the rules only while they are edited. */
function drawMapping(app, isEdited) {
  const { state, mapper } = app;
  const place = document.getElementById("mapper");
  document.getElementById("mapper-button").setAttribute("aria-expanded", String(isEdited));
  drawKey(state, mapper);
  place.hidden = !isEdited;
  // What is being written stays.
  if (place.dataset.rules === state.at.rules && place.childElementCount) return;
  place.dataset.rules = state.at.rules;
  const rules = rulesOf(state);
  const apply = () => state.go({ rules: rules.length ? JSON.stringify(rules) : "", isolate: "" });
  const close = element("button", { id: "mapper-close" }, "Close");
  close.onclick = () => state.go({ mapper: "" }, true);
  const head = element("div", { class: "line" }, element("h2", {}, "Mapper"), close);
  const help = element("p", { class: "kind" }, "The first rule that fits decides. Without a value, every value or range of values has a style of its own. Figures may be >= 10 ms.");
  place.replaceChildren(head, help, ...rules.map((rule, i) => ruleLine(rules, i, apply)), newRule(app, rules, apply), storage(state));
}

/** The rules of the address, which anybody may have written. */
function rulesOf(state) {
  try {
    const rules = JSON.parse(state.at.rules || "[]");
    const isText = (value) => value === undefined || typeof value === "string";
    return Array.isArray(rules) ? rules.filter((rule) => rule && Object.hasOwn(ATTRIBUTES, rule.attribute) && isText(rule.value) && isText(rule.display) && isText(rule.style)) : [];
  } catch {
    return [];
  }
}

function ruleLine(rules, i, apply) {
  const rule = rules[i];
  const on = element("input", { type: "checkbox", "aria-label": "Rule is applied" });
  on.checked = rule.on !== false;
  on.onchange = () => ((rule.on = on.checked), apply());
  const up = element("button", { title: "Earlier", "aria-label": "Earlier" }, "\u2191");
  up.disabled = i === 0;
  up.onclick = () => (rules.splice(i - 1, 0, ...rules.splice(i, 1)), apply());
  const remove = element("button", {}, "Remove");
  remove.onclick = () => (rules.splice(i, 1), apply());
  const text = `${ATTRIBUTES[rule.attribute].label} ${rule.value || "(each value)"} \u2192 ${rule.display} ${rule.style || ""}`;
  return element("div", { class: "line" }, on, element("span", { class: "grow" }, text), up, remove);
}

/** The form of a new rule, and what it would meet. */
function newRule(app, rules, apply) {
  const labelled = (label, made) => (made.setAttribute("aria-label", label), made);
  const attribute = labelled("Attribute", select("mapper-attribute", Object.entries(ATTRIBUTES).map(([key, { label }]) => [key, label])));
  const value = element("input", { id: "mapper-value", placeholder: "value; empty: each", size: 16, "aria-label": "Value" });
  const display = labelled("Shown as", select("mapper-display", [["colour", "colour"], ["shape", "shape"], ["size", "size of nodes"], ["width", "width of arcs"]]));
  const style = element("input", { id: "mapper-style", placeholder: "style; empty: chosen", size: 14, "aria-label": "Style" });
  const preview = element("div", { id: "mapper-preview", class: "kind", "aria-live": "polite" });
  const form = element("form", { id: "mapper-form" }, attribute, value, " \u2192 ", display, style, element("button", {}, "Add"), preview);
  const rule = () => ({ attribute: attribute.value, value: value.value, display: display.value, style: style.value });
  const look = () => preview.replaceChildren(...previewOf(app, rule()));
  let late;
  form.oninput = () => {
    value.setCustomValidity("");
    clearTimeout(late);
    late = setTimeout(look, TYPED);
  };
  form.onsubmit = (event) => {
    event.preventDefault();
    if (value.value && !matcher(attribute.value, value.value)) {
      value.setCustomValidity("a number, such as 100 or >= 10 ms");
      value.reportValidity();
      return;
    }
    rules.push(rule());
    apply();
  };
  return form;
}

/** The symbols of a rule, and how many contexts it meets. */
function previewOf(app, rule) {
  const { profile } = app.state;
  if (rule.value && !matcher(rule.attribute, rule.value)) return ["a number is needed, such as >= 10 ms"];
  const plan = app.mapper.plan(rule, app.mapper.rules.length);
  const symbols = plan.entries.slice(0, RANGES).map(([, style]) => symbol(plan.display, style));
  if (!rule.value) return [...symbols, ` ${count(plan.entries.length)} styles`];
  let met = 0;
  for (let i = 1; i < profile.count; i++) if (plan.group(i) !== undefined) met++;
  return [...symbols, ` fits ${count(met)} of ${count(profile.count - 1)} contexts`];
}

function storage(state) {
  const saved = savedRules();
  const keep = element("button", {}, "Save the rules in this browser");
  keep.onclick = () => (savedRules(state.at.rules || "[]"), (load.disabled = !savedRules()));
  const load = element("button", {}, "Load the saved rules");
  load.disabled = !saved;
  load.onclick = () => state.go({ rules: savedRules() || "", isolate: "" });
  return element("div", { class: "line" }, keep, load);
}

/** Storage may be forbidden, as in a page that was opened from a file. */
function savedRules(text) {
  try {
    if (text !== undefined) localStorage.setItem("instrument.rules", text);
    return localStorage.getItem("instrument.rules");
  } catch {
    return null;
  }
}

/** The key: what the applied mappings mean; a click isolates. */
function drawKey(state, mapper) {
  const key = document.getElementById("key");
  key.replaceChildren(element("h2", {}, "Key"));
  key.hidden = mapper.plans.length === 0;
  mapper.plans.forEach((plan, p) => {
    plan.entries.forEach(([text, style], e) => {
      const isChosen = state.at.isolate === `${p}.${e}`;
      const line = element("button", { "aria-pressed": String(isChosen), "data-entry": `${p}.${e}`, title: "only these; once more: all" });
      line.append(symbol(plan.display, style), text);
      line.onclick = () => state.go({ isolate: isChosen ? "" : `${p}.${e}` });
      key.append(line, element("br"));
    });
  });
}

/** A style as a drawing: a colour, a shape, a node of a size, an arc of a width. */
function symbol(display, style) {
  const svg = drawn("svg", { class: "symbol", viewBox: "0 0 20 16", width: 20, height: 16, "aria-hidden": "true" });
  const node = (shape, size, colour = "currentColor") => drawn("path", { d: outline(shape, 10, 8, size), fill: colour });
  const isColour = display === "colour" && CSS.supports("color", style);
  if (display === "width") svg.append(drawn("path", { d: "M1,8H19", stroke: "currentColor", "stroke-width": Number(style) || 1 }));
  else if (display === "size") svg.append(node("circle", 3.5 * Math.sqrt(Number(style) || 1)));
  else svg.append(node(display === "shape" ? style : "square", 5.5, isColour ? style : "currentColor"));
  return svg;
}
