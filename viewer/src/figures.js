// Figures as text, as crates/analysis/src/text.rs writes them: the same digits.
"use strict";

const TIMES = [["ns", 1], ["us", 1e3], ["ms", 1e6], ["s", 1e9]];
const SIZES = [["B", 1], ["KiB", 1024], ["MiB", 1048576], ["GiB", 1073741824], ["TiB", 1099511627776]];

/** Rounded to so many digits behind the point; a half goes to the even digit, as in Rust, where toFixed goes up. */
function fixed(value, digits) {
  const text = value.toFixed(digits);
  const exact = Math.abs(value).toFixed(Math.min(100, digits + 60));
  const point = exact.indexOf(".");
  const rest = exact.slice(point + 1 + digits);
  if (rest[0] !== "5" || !/^50*$/.test(rest)) return text;
  const kept = digits === 0 ? exact.slice(0, point) : exact.slice(0, point + 1 + digits);
  const last = kept[kept.length - 1];
  return Number(last) % 2 === 0 ? (value < 0 ? "-" : "") + kept : text;
}

/** A figure with its unit: times and sizes with four digits in the unit that suits them, others as they are. */
function quantity(value, unit) {
  const steps = unit === "bytes" ? SIZES : TIMES.some(([name]) => name === unit) ? TIMES : null;
  if (!steps) {
    return Number.isInteger(value) ? fixed(value, 0) : fixed(value, 6).replace(/0+$/, "").replace(/\.$/, "");
  }
  const scaled = value * (unit === "bytes" ? 1 : TIMES.find(([name]) => name === unit)[1]);
  const size = Math.abs(scaled);
  let at = steps.length - 1;
  while (at > 0 && size < 0.99995 * steps[at][1]) at--;
  if (at + 1 < steps.length && size >= 999.95 * steps[at][1]) at++;
  const [name, step] = steps[at];
  const shown = scaled / step;
  const x = Math.abs(shown);
  const digits = step === 1 && Number.isInteger(shown) ? 0 : x < 9.9995 ? 3 : x < 99.995 ? 2 : x < 999.95 ? 1 : 0;
  return `${fixed(shown, digits)} ${name}`;
}

/** A part of a whole in percent, without the sign. */
function percent(value, whole) {
  return whole === 0 ? "-" : fixed(100 * value / whole, 1);
}

/** A whole number with its thousands apart, as on the terminal. */
function count(value) {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** `1 call`, `20 calls`. */
function plural(value, word) {
  return `${count(value)} ${word}${value === 1 ? "" : "s"}`;
}
