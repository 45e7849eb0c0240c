"""All chosen processes as one: a dataset of the same schema with one process, whose contexts have the sums over all.

A context has the same key in every process, so the merge is one `GROUP BY`. It is associative: a merge of merges is the merge of all.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from .dataset import COUNTS, Dataset
from .sums import has_all, known, real_sum, same
from .write import Partition, Writer

REALS = ["sum_squares", "wall_noise", "wall_noise_total", "wall_variance", "wall_variance_total", "cpu_noise", "cpu_noise_total"]
"""Columns of `values` that are not whole numbers."""

OF_CALLS = ["timed", "open_ns", "closed_ns", "sum_squares"]
"""Columns of `values` that are null where no call was."""


@dataclass(frozen=True)
class Merged:
    """What was written."""

    process: str
    """The key of the one process, in hexadecimal digits."""
    batch: str
    processes: int
    contexts: int
    calls: int


def merge(data: Dataset, out: str, labels: dict[str, str] | None = None) -> Merged:
    """Writes the chosen processes of a dataset as one into another dataset, `out`. The files are the same, byte for byte, for any number of
    partitions and workers. `labels`: such as `service`, `build`; otherwise what all processes have in common."""
    data.check()
    if len(events := data.processes.select("event").distinct().collect()) > 1:
        names = ", ".join(sorted(row.event or "CPU time" for row in events))
        raise ValueError(f"the processes have samples of different events ({names}), which make no sum: choose some of one")
    sources = sorted((bytes(row.process), row.batch) for row in data.processes.select("process", "batch").collect())
    given = labels or {}
    digest = hashlib.sha256(json.dumps(given, sort_keys=True).encode())
    for process, batch in sources:
        digest.update(process + batch.encode() + b"\0")
    batch, key = digest.hexdigest()[:32], digest.digest()[16:]
    process = _process(data, key, given, len(sources)).withColumn("batch", F.lit(batch))
    row = process.first()
    assert row is not None
    partition = Partition(row.service_name, row.build_name, row.start.strftime("%Y-%m-%d"))
    writer = Writer(data, out, partition, batch)
    values = _values(data, key)
    contexts = writer.table("contexts", data.contexts.join(values.select("context"), "context", "left_semi"), ["depth", "context"])
    writer.table("methods", _methods(data), ["kind", "name", "method"])
    writer.table("values", values, ["method", "context", "thread"])
    writer.table("allocations", _allocations(data, key), ["class", "method"])
    writer.table("monitors", _monitors(data, key), ["class"])
    writer.table("remote_calls", _remote_calls(data, key), ["method", "client", "client_address", "server", "server_address"])
    writer.table("unmatched", _unmatched(data, key), ["side", "reason", "peer_address", "peer"])
    # Without it no reader counts the rows of the others.
    writer.table("processes", process, ["process"])
    writer.finish()
    return Merged(key.hex(), batch, len(sources), contexts, row.calls)


def _process(data: Dataset, key: bytes, labels: dict[str, str], count: int) -> DataFrame:
    all_labels = {"merged.processes": str(count), **labels}
    sums = ["threads", "dropped", "in_flight", *COUNTS]
    alike = ["program", "command", "host", "java_version", "record", "timing", "clock", "service_name", "build_name", "event", "event_unit"]
    is_corrected = F.min(F.col("correction") == "applied")
    # Of those that are not corrected the first reason stands for all.
    others = F.when(F.col("correction") != "applied", F.col("correction"))
    reasons = F.when(F.col("correction") != "applied", F.col("correction_reason"))
    row = data.processes.agg(
        *(F.sum(column).alias(column) for column in sums),
        *(same(column).alias(column) for column in alike),
        F.min("start").alias("start"),
        F.max("is_live").alias("is_live"),
        F.min("is_whole").alias("is_whole"),
        F.when(F.count("balances") == F.count(F.lit(1)), F.min("balances")).alias("balances"),
        F.when(is_corrected, "applied").otherwise(F.min(others)).alias("correction"),
        F.min(reasons).alias("correction_reason"),
        known("probes_ns").alias("probes_ns"),
        *(same(column).alias(column) for column in ("probe_inner_ns", "probe_outer_ns")),
    )
    properties = json.dumps({"merged.processes": str(count)})
    return row.select(
        "*",
        F.lit(key).alias("process"),
        F.lit(0).cast("bigint").alias("pid"),
        F.lit(json.dumps(all_labels, sort_keys=True)).alias("labels"),
        F.lit(properties).alias("properties"),
    ).withColumns(
        {
            "service_name": F.coalesce(F.lit(labels.get("service")), "service_name", F.lit("fleet")),
            "build_name": F.coalesce(F.lit(labels.get("build")), "build_name"),
            "program": F.coalesce("program", F.lit(labels.get("service")), "service_name", F.lit("fleet")),
        }
    )


def _values(data: Dataset, key: bytes) -> DataFrame:
    keys = ["batch", "process", "thread", "context", "method", "nested", "service", "build", "day"]
    rest = [c for c in data.figures.columns if c not in [*keys, *COUNTS, *REALS, *OF_CALLS, "min_ns", "max_ns"]]
    return (
        data.figures.groupBy("thread", "context")
        .agg(
            F.min("method").alias("method"),
            F.min("nested").alias("nested"),
            *(F.sum(column).alias(column) for column in COUNTS),
            *(F.sum(column).alias(column) for column in OF_CALLS if column not in REALS),
            F.min("min_ns").alias("min_ns"),
            F.max("max_ns").alias("max_ns"),
            *(real_sum(column).alias(column) for column in REALS if not column.endswith("_total")),
            *(F.when(has_all(column), real_sum(column)).alias(column) for column in REALS if column.endswith("_total")),
            *(known(column).alias(column) for column in rest),
        )
        .withColumn("process", F.lit(key))
    )


def _methods(data: Dataset) -> DataFrame:
    known_by = data.methods.groupBy("method").agg(F.sum("known").alias("known"))
    return data.names.join(known_by, "method")


def _allocations(data: Dataset, key: bytes) -> DataFrame:
    rows = data.of_processes("allocations").groupBy("class", "method")
    figures = (known(column).alias(column) for column in ("bytes", "live", "live_bytes"))
    return rows.agg(F.sum("objects").alias("objects"), *figures).withColumn("process", F.lit(key))


def _monitors(data: Dataset, key: bytes) -> DataFrame:
    rows = data.of_processes("monitors")
    names = ["contended", "waits"]
    sums = [c for n in names for c in (n, f"{n}_ns", f"{n}_open")] + ["waits_timed_out"]
    # The numbers of monitors mean something within a process only.
    rows = rows.groupBy("class").agg(
        *(F.sum(column).alias(column) for column in sums),
        *(F.max(f"{name}_max_ns").alias(f"{name}_max_ns") for name in names),
    )
    return rows.withColumn("process", F.lit(key)).withColumn("number", F.lit(None).cast("bigint"))


def _remote_calls(data: Dataset, key: bytes) -> DataFrame:
    # Whichever of the processes it was, it is this one.
    ends = {end: F.when(F.col(end).isNotNull(), F.lit(key)) for end in ("client", "server")}
    rows = data.remote_calls.withColumns(ends)
    sums = ["made", "served", "matched", "failed", "client_ns", "server_ns"]
    return rows.groupBy("client", "client_address", "server", "server_address", F.col("method")).agg(
        *(F.sum(column).alias(column) for column in sums),
        *(F.max(f"{side}_max_ns").alias(f"{side}_max_ns") for side in ("client", "server")),
    )


def _unmatched(data: Dataset, key: bytes) -> DataFrame:
    rows = data.of_processes("unmatched").withColumn("peer", F.when(F.col("peer").isNotNull(), F.lit(key)))
    rows = rows.groupBy("side", "reason", "peer", "peer_address").agg(F.sum("calls").alias("calls"))
    return rows.withColumn("process", F.lit(key))
