"""Runs questions of `instrument fleet --sql`: standard input is a JSON object of scripts, standard output one of their rows."""
import decimal
import json
import sys

import duckdb


def plain(value):
    if isinstance(value, decimal.Decimal):
        return int(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def rows(script):
    connection = duckdb.connect()
    for statement in duckdb.extract_statements(script):
        result = connection.execute(statement)
    names = [column[0] for column in result.description]
    return [dict(zip(names, map(plain, row))) for row in result.fetchall()]


json.dump({name: rows(script) for name, script in json.load(sys.stdin).items()}, sys.stdout)
