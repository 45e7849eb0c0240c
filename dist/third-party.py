#!/usr/bin/env python3
"""Prints what of others is within the binary and the agent: name, version, licence, and the texts that come with it.

What is compiled in is asked of cargo: the normal dependencies of both packages, on this platform, without those of tests and builds.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

PACKAGES = {"instrument", "instrument-agent"}
TEXT = re.compile(r"^(licen[cs]e|copying|notice|unlicense|copyright)", re.IGNORECASE)


def compiled_in(metadata):
    """The packages that are reachable by normal dependencies, those of the workspace left out."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    packages = {package["id"]: package for package in metadata["packages"]}
    open_ids = [id for id in metadata["workspace_members"] if packages[id]["name"] in PACKAGES]
    assert len(open_ids) == len(PACKAGES), open_ids
    seen = set()
    while open_ids:
        id = open_ids.pop()
        if id in seen:
            continue
        seen.add(id)
        for dependency in nodes[id]["deps"]:
            # Macros run when it is compiled, and are not in the result.
            is_macro = any("proc-macro" in target["kind"] for target in packages[dependency["pkg"]]["targets"])
            if not is_macro and any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                open_ids.append(dependency["pkg"])
    found = [packages[id] for id in seen if id not in metadata["workspace_members"]]
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def texts(folder):
    """The licence files of a package; those of sources in C that it brings along lie one folder deeper."""
    files = [path for pattern in ("*", "*/*") for path in folder.glob(pattern)]
    files = [path for path in files if path.is_file() and TEXT.match(path.name) and path.suffix not in (".rs", ".toml", ".json")]
    return sorted(files, key=lambda path: path.relative_to(folder).as_posix())


def main():
    target = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout
    host = re.search(r"^host: (.*)$", target, re.MULTILINE)[1]
    release = re.search(r"^release: (.*)$", target, re.MULTILINE)[1]
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", host]
    packages = compiled_in(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    if len(packages) < 20:
        sys.exit(f"only {len(packages)} dependencies: cargo metadata is read wrongly")

    print("The binary `instrument` and its agent are made with the following libraries.\n")
    print(f"{'name':<28} {'version':<24} licence")
    print(f"{'the Rust standard library':<28} {release:<24} MIT OR Apache-2.0")
    by_text, without = {}, []
    for package in packages:
        licence = package["license"] or f"see {package['license_file']}"
        print(f"{package['name']:<28} {package['version']:<24} {licence}")
        name = f"{package['name']} {package['version']}"
        folder = Path(package["manifest_path"]).parent
        files = texts(folder)
        if not files:
            without.append(name)
        for file in files:
            # Line ends and blanks at the end of lines are no difference.
            text = "\n".join(line.rstrip() for line in file.read_text(errors="replace").splitlines()).strip()
            key = hashlib.sha256(text.encode()).hexdigest()
            by_text.setdefault(key, (text, []))[1].append(f"{name}: {file.relative_to(folder).as_posix()}")
    if without:
        print("\nThese come without a text of their licence: " + ", ".join(without) + ".")
    for text, names in sorted(by_text.values(), key=lambda entry: entry[1][0]):
        print("\n" + "=" * 80)
        print("\n".join(names))
        print("=" * 80 + "\n")
        print(text)


if __name__ == "__main__":
    os.chdir(Path(__file__).resolve().parent.parent)
    main()
