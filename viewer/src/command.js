// The command line that prints what is seen.
"use strict";

function commandOf(app) {
  const { profile, state } = app;
  const { about } = profile.header;
  if (profile.sides) return comparison(profile, state.resource);
  const files = [...about.since.map((path) => `--since ${quoted(path)}`), ...about.files.map(quoted)].join(" ");
  if (app.view.command) return app.view.command(files);
  const resource = ` --resource ${quoted(profile.resources[state.resource].name)}`;
  const own = about.own.map((pattern) => ` --own ${quoted(pattern)}`).join("");
  switch (app.shown) {
    case "summary": return `instrument report${own} ${files}`;
    case "methods": {
      const sort = { total: " --sort cum", calls: " --sort calls", name: " --sort name" }[state.at.sort] || "";
      return `instrument xprof${own}${resource}${sort} --prune 0 ${files}`;
    }
    case "sandwich": {
      const method = app.view.method();
      return method === undefined ? `instrument xtree${own} ${files}` : `instrument xtree${own}${resource} --focus ${quoted(profile.functions[method].name)} --prune 0 ${files}`;
    }
    default: {
      const f = profile.function(state.root);
      const focus = state.root !== 0 && f.kind === "method" ? ` --focus ${quoted(f.name)}` : "";
      return `instrument xtree${own}${resource}${focus} --prune 0 ${files}`;
    }
  }
}

function comparison(profile, shown) {
  const { files } = profile.header.about;
  const [before] = profile.sides.runs;
  const sides = files.length === 2 ? [files] : [files.slice(0, before), files.slice(before)];
  const { name } = profile.resources[shown];
  const resource = name === CALLS ? "calls" : name;
  return `instrument diff --resource ${quoted(resource)} ${sides.map((side) => side.map(quoted).join(" ")).join(" -- ")}`;
}

/** A word of a command line. What a terminal or a reader would take for something else is written as its number. */
function quoted(word) {
  if (/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/.test(word)) {
    const code = (character) => (character.codePointAt(0) < 128 ? `\\x${character.codePointAt(0).toString(16).padStart(2, "0")}` : `\\u${character.codePointAt(0).toString(16).padStart(4, "0")}`);
    return `$'${word.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, code)}'`;
  }
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
