// Names as people read them: the method first, its package behind it, and of a name without enough room the part that tells it from others.
"use strict";

/** Levels that are indented by a whole step, and where the indent ends: the number of the level says the rest. */
const STEPS = 8;
const STEP = 14;
const SMALL_STEP = 4;
const LAST_STEP = 60;

/** Longer names are cut before they are looked at. */
const MOST_READ = 2000;

/** Packages in front of names of classes, wherever they are in a text. */
const PACKAGES = /(?<![\w$.])(?:[a-z_][\w$]*\.)+(?=[A-Z])/g;

/** The parts of a name: `owner` with its dot, `method`, `parameters`, `packages`; of what is no method the text is all in `method`. */
function partsOf(label) {
  const open = label.indexOf("(");
  if (open > 0 && label.includes(")") && !label.slice(0, open).includes(" ")) {
    const type = classOf(label);
    const home = packageOf(label);
    const parameters = label.slice(open, open + MOST_READ).replace(/[\w$]+\./g, "").replaceAll(",", ", ").replaceAll(",  ", ", ");
    return { owner: type ? `${home ? type.slice(home.length + 1) : type}.` : "", method: label.slice(type ? type.length + 1 : 0, open), parameters, packages: home };
  }
  if (/^[\w$]+(\.[\w$]+)+(\[\])*$/.test(label.slice(0, MOST_READ))) {
    const dot = label.lastIndexOf(".");
    return { owner: "", method: label.slice(dot + 1), parameters: "", packages: label.slice(0, dot) };
  }
  const start = label.slice(0, MOST_READ);
  const packages = new Set((start.match(PACKAGES) || []).map((text) => text.slice(0, -1)));
  return { owner: "", method: start.replace(PACKAGES, "") + label.slice(MOST_READ), parameters: "", packages: [...packages].join(" ") };
}

/** A name in a row of a table, `title` in full. The method is the last to be cut. */
function nameCell(label, kind = "") {
  const { owner, method, parameters, packages } = partsOf(label);
  const cell = element("span", { class: `name ${kind}`, role: "gridcell", title: label });
  const part = (name, text) => text && cell.append(element("span", { class: name }, text));
  cell.append(element("span", { class: "call-of" }, element("span", { class: "owner" }, owner), element("b", {}, method)));
  part("parameters", parameters);
  part("package", packages);
  return cell;
}

/** Puts a name in a tree as far in as its level is. Deep ones are told by their number. */
function indent(cell, level, before = [], after = []) {
  const steps = Math.min(level, STEPS);
  const more = Math.min(level, LAST_STEP) - steps;
  cell.style.paddingLeft = `${steps * STEP + more * SMALL_STEP}px`;
  cell.prepend(...before, ...(level > STEPS ? [element("span", { class: "level" }, String(level))] : []), ...after);
  return cell;
}

/** Class and method without packages and parameters. */
function short(label) {
  const { owner, method, parameters } = partsOf(label);
  return parameters ? `${owner}${method}${parameters === "()" ? "()" : "(\u2026)"}` : method;
}

/** What a name may be shortened to, the longest first: a frame asks for thousands. */
const shorter = new Map();

/** As much of a name as there is room for, in characters: without parameters, then the bare method, then nothing. */
function fitting(label, room) {
  if (room < 1) return "";
  if (label.length <= room) return label;
  let texts = shorter.get(label);
  if (!texts) {
    const { owner, method, parameters } = partsOf(label);
    shorter.set(label, (texts = [parameters ? short(label) : "", `${owner}${method}`, method].filter(Boolean)));
  }
  for (const text of texts) if (text.length <= room) return text;
  return "";
}

/** Beginning and end of a name: numbered names differ at their end. */
function middleCut(name, room) {
  if (name.length <= room) return name;
  const end = Math.floor((room - 1) / 2);
  return `${name.slice(0, room - 1 - end)}\u2026${name.slice(name.length - end)}`;
}

/** A name that may be broken at its dots. */
function breakable(label) {
  return String(label).split(/(?<=[.$/(,])/).flatMap((part) => [part, element("wbr")]).slice(0, 2 * MOST_READ);
}

/** The class of a method, with its package. */
function classOf(label) {
  const open = label.indexOf("(");
  const end = label.lastIndexOf(".", open < 0 ? undefined : open);
  return open < 0 || end < 0 ? "" : label.slice(0, end);
}

/** The package of a method. */
function packageOf(label) {
  const name = classOf(label);
  return name.includes(".") ? name.slice(0, name.lastIndexOf(".")) : "";
}
