"""Prints a file of YAML or JSON as JSON (`null` of TOML), if it fits a schema: ci_file.py FILE SCHEMA..

SCHEMA is what check-jsonschema is given: `--builtin-schema vendor.github-workflows`, `--schemafile FILE`, `--check-metaschema`.
"""

import json
import subprocess
import sys

import ruamel.yaml

file, *schema = sys.argv[1:]
check = subprocess.run([sys.executable, "-m", "check_jsonschema", *schema, file], capture_output=True, text=True)
if check.returncode:
    sys.exit(check.stdout + check.stderr)
content = None
with open(file) as text:
    if file.endswith(".yml"):
        # YAML 1.2, in which `on` is a word.
        content = ruamel.yaml.YAML(typ="safe").load(text)
    elif not file.endswith(".toml"):
        content = json.load(text)
json.dump(content, sys.stdout)
