// A comparison of runs before and after: what differs, as `instrument diff` says it.
"use strict";

const NOT_KNOWN = 1;
const DIFFERS = 2;
const CALLS = "calls compared";

/** The two sides of a document that `instrument diff --html` has made. */
class Sides {
  constructor(profile, { runs, pairs, verdicts }) {
    this.profile = profile;
    this.runs = runs;
    this.before = new Map(pairs);
    this.ofBefore = new Set(pairs.map(([, before]) => before));
    this.place = new Map(pairs.map(([after], k) => [after, k]));
    this.functions = verdicts;
    this.calls = profile.resources.findIndex(({ name }) => name === CALLS);
  }

  /** The figures of a context, and what is known of their difference. */
  context(resource, node, isTotal) {
    const { profile } = this;
    const of = (r) => (isTotal ? profile.total(r) : profile.base(r))[node];
    const verdict = profile.columns.get(`${profile.resources[resource].name} verdict`)[node];
    return this.found(of(this.before.get(resource)), of(resource), verdict, isTotal);
  }

  /** The same of a method, or another consumer. */
  function(resource, fn, isTotal) {
    const f = this.profile.functions[fn];
    const list = (isTotal ? f.cum : f.base) || [];
    const verdict = this.functions[this.place.get(resource)][fn] ?? 0;
    return this.found(list[this.before.get(resource)] ?? 0, list[resource] ?? 0, verdict, isTotal);
  }

  found(before, after, word, isTotal) {
    return { before, after, change: after - before, verdict: isTotal ? word >> 2 : word & 3 };
  }

  /** Red: more than before, blue: less; the stronger, the larger the part. White: the same. */
  colour(resource, node) {
    const { before, after } = this.context(resource, node, true);
    if (after === before) return "#ffffff";
    const part = Math.abs(after - before) / Math.max(Math.abs(after), Math.abs(before));
    return `hsl(${after > before ? 8 : 212} 80% ${Math.round(92 - 30 * Math.sqrt(part))}%)`;
  }

  /** Whether the change of a context is not known to be one: it is hatched. */
  isUnknown(resource, node) {
    const { before, after, verdict } = this.context(resource, node, true);
    return before !== after && verdict !== DIFFERS;
  }
}

/** A mean as `instrument diff` prints it: of counts with one digit. */
function mean(value, unit) {
  if (unit !== "") return quantity(Math.round(value), unit);
  const rounded = Math.round(value * 10) / 10;
  return Number.isInteger(rounded) ? count(rounded) : quantity(rounded, unit);
}

/** The change, marked if it is not known to be one. */
function changeText({ before, after, change, verdict }, unit) {
  if (before === after) return "";
  return `${verdict === NOT_KNOWN ? "~" : ""}${change > 0 ? "+" : ""}${mean(change, unit)}`;
}

/** Exact calls first: before and after, the change in percent; then times. */
const SIDE_COLUMNS = [["calls", "pair"], ["change", "change"], ["self", "pair"], ["change", "change"], ["total", "pair"], ["change", "change"]];

/** The cells of these columns; `of(resource, isTotal)` is what is known of both sides. */
function comparedCells(sides, unit, of, resource) {
  const calls = of(sides.calls, false);
  const both = (found) => [cell(pairText(found, unit), "pair"), cell(changeText(found, unit), "change")];
  return [cell(pairText(calls, ""), "pair"), cell(partText(calls), "change"), ...both(of(resource, false)), ...both(of(resource, true))];
}

function pairText({ before, after }, unit) {
  return before === after ? mean(after, unit) : `${mean(before, unit)} \u2192 ${mean(after, unit)}`;
}

/** The change as a part of what was before. */
function partText({ before, after, verdict }) {
  if (before === after) return "";
  const mark = verdict === NOT_KNOWN ? "~" : "";
  if (before === 0) return `${mark}new`;
  return `${mark}${after > before ? "+" : ""}${fixed((100 * (after - before)) / before, Math.abs(after - before) < 0.1 * before ? 1 : 0)} %`;
}

/** The figures of both sides in a line. */
function sidesText(found, unit) {
  const change = changeText(found, unit);
  return `${mean(found.before, unit)} \u2192 ${mean(found.after, unit)}${change ? ` (${change})` : ""}`;
}
