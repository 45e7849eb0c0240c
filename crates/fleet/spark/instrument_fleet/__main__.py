"""`python -m instrument_fleet QUESTION DIR`: questions to a dataset, and `merge`."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

from . import questions
from .dataset import Chosen, Dataset, session
from .merge import merge

QUESTIONS = ["xprof", "xtree", "xarc", "balance", "top", "diff"]


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="instrument-fleet", description=__doc__)
    parser.add_argument("question", choices=[*QUESTIONS, "merge"])
    parser.add_argument("dataset", help="what `instrument export --format parquet` writes: a folder or an address")
    parser.add_argument("--service", help="only processes of this service")
    parser.add_argument("--build", help="only processes of this build")
    parser.add_argument("--since", metavar="YYYY-MM-DD", help="only processes that began on this day or later (UTC)")
    parser.add_argument("--until", metavar="YYYY-MM-DD", help="only processes that began on this day or earlier (UTC)")
    parser.add_argument("--before", metavar="BUILD", help="diff: the build to compare with")
    parser.add_argument("--after", metavar="BUILD", help="diff: the build to look at")
    parser.add_argument("--method", metavar="TEXT", help="only methods whose name contains this text")
    parser.add_argument("--top", metavar="N", type=int, default=20, help="top: rows of each build (default 20)")
    parser.add_argument("-o", "--output", metavar="DIR", help="merge: the dataset to write into")
    parser.add_argument("--profile", metavar="FILE", help="merge: write it as a profile (.iprof), too")
    parser.add_argument("--instrument", metavar="PATH", default="instrument", help="the command instrument, for --profile")
    parser.add_argument("--label", metavar="KEY=VALUE", action="append", default=[], help="merge: a label of the result")
    parser.add_argument("--master", help="Spark's master, such as local[4] or spark://HOST:7077 (default: its own setting)")
    parser.add_argument("--partitions", metavar="N", type=int, help="parts that sums are cut into (default: Spark's)")
    given = parser.parse_args(words)
    if given.question == "diff" and (given.before is None or given.after is None):
        parser.error("diff compares two builds: say which with --before BUILD and --after BUILD")
    if given.question == "merge" and given.output is None:
        parser.error("merge: say where to write it with --output DIR")
    if any("=" not in label for label in given.label):
        parser.error("--label: a label is written KEY=VALUE")
    return given


def answer(data: Dataset, given: argparse.Namespace) -> Iterable[dict[str, Any]]:
    """The rows of the answer."""
    if given.question == "xtree":
        return questions.tree_rows(questions.xtree(data))
    if given.question == "diff":
        rows = questions.diff(data, given.before, given.after, given.method)
    elif given.question == "top":
        rows = questions.top_methods(data, given.top, given.method)
    else:
        rows = getattr(questions, given.question)(data, given.method)
    return (row.asDict() for row in rows.toLocalIterator())


def main(words: list[str] | None = None) -> int:
    """Prints the rows of an answer as JSON, one in a line; of a merge what was written."""
    given = arguments(words)
    spark = session(given.master, given.partitions)
    spark.sparkContext.setLogLevel("ERROR")
    chosen = Chosen(given.service, given.build, given.since, given.until)
    data = Dataset(spark, given.dataset, chosen)
    try:
        data.check()
        if given.question != "merge":
            for row in answer(data, given):
                print(json.dumps(row))
            return 0
        labels = dict(label.split("=", 1) for label in given.label)
        print(json.dumps(vars(merge(data, given.output, labels))))
    except ValueError as error:
        print(f"instrument-fleet: {error}", file=sys.stderr)
        return 1
    finally:
        spark.stop()
    if given.profile is not None:
        command = [given.instrument, "fleet", "profile", given.output, "-o", given.profile]
        return subprocess.run(command, check=False).returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
