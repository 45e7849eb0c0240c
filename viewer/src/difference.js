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

  /** Red: more than before, blue: less; the stronger, the larger the part. Grey: nothing is known to differ, or only its time does. */
  colour(resource, node) {
    const { before, after, verdict } = this.context(resource, node, true);
    if (after === before) return "#c9ced4";
    const part = Math.abs(after - before) / Math.max(Math.abs(after), Math.abs(before));
    const light = Math.round(84 - 26 * Math.sqrt(part));
    const strength = verdict === DIFFERS ? 75 : 22;
    return `hsl(${after > before ? 12 : 212} ${strength}% ${light}%)`;
  }
}

/** A mean as `instrument diff` prints it: of counts with one digit. */
function mean(value, unit) {
  return quantity(unit === "" ? Math.round(value * 10) / 10 : Math.round(value), unit);
}

/** The change, marked if it is not known to be one. */
function changeText({ before, after, change, verdict }, unit) {
  if (before === after) return "";
  return `${verdict === NOT_KNOWN ? "~" : ""}${change > 0 ? "+" : ""}${mean(change, unit)}`;
}

/** Cells of both sides and their change. */
function sideCells(found, unit) {
  return [cell(mean(found.before, unit)), cell(mean(found.after, unit)), cell(changeText(found, unit))];
}

/** The figures of both sides in a line. */
function sidesText(found, unit) {
  const change = changeText(found, unit);
  return `${mean(found.before, unit)} \u2192 ${mean(found.after, unit)}${change ? ` (${change})` : ""}`;
}
