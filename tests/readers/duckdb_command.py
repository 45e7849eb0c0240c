"""The part of DuckDB's command line that `instrument fleet` uses, over the module: SQL from standard input, the last answer as JSON."""
import json
import sys

import duckdb

assert sys.argv[1:] == ["-init", "/dev/null", "-batch", "-bail", "-json", ":memory:"], sys.argv
connection = duckdb.connect()
try:
    for statement in duckdb.extract_statements(sys.stdin.read()):
        result = connection.execute(statement)
except duckdb.Error as error:
    sys.exit(str(error))
names = [column[0] for column in result.description]
print(json.dumps([dict(zip(names, row)) for row in result.fetchall()], default=int))
