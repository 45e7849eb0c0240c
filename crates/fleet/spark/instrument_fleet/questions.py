"""What `instrument fleet` asks DuckDB: the same columns, and the same figures to the last digit. Rows come in no order, but those of
:func:`tree_rows`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from .dataset import EVENTS, NO_CONTEXT, RESOURCES, Dataset
from .sums import error_of, has_all, known, known_of, known_total, mean, real_sum, same, square, variance

def _matching(rows: DataFrame, method: str | None) -> DataFrame:
    return rows if method is None else rows.where(F.contains(F.col("function"), F.lit(method)))


def xprof(data: Dataset, method: str | None = None) -> DataFrame:
    """A flat profile: every method, thread and process with its calls, what it took itself, and all that it drove."""
    process = F.concat("program", F.lit(" (pid "), "pid", F.lit(")"))
    processes = data.processes.select("process", "batch", "event", process.alias("process_name"))
    rows = data.method_sums.join(F.broadcast(processes), ["process", "batch"])
    rows = rows.join(data.names.select("method", "name"), "method", "left")
    rows = rows.withColumn("function", F.coalesce("name", "thread", "process_name"))
    figures = [known(c).alias(c) for r in RESOURCES for c in (r, f"{r}_total")]
    totals = (F.when(has_all(f"wall_{of}_total"), real_sum(f"wall_{of}_total")) for of in ("noise", "variance"))
    return (
        _matching(rows, method)
        .groupBy("function", "kind")
        .agg(
            F.sum("calls").alias("calls"),
            F.sum("contexts").alias("contexts"),
            error_of(real_sum("wall_noise"), real_sum("wall_variance")).alias("wall_error"),
            error_of(*totals).alias("wall_total_error"),
            *figures,
            F.sum(F.col("unwinds") + F.col("aborted") + F.col("unclosed")).alias("unwinds"),
            same("event").alias("event"),
            *(known_of(c, "event").alias(c) for c in EVENTS),
        )
    )


def _of_methods(data: Dataset) -> DataFrame:
    """The sums of methods with their names."""
    rows = data.method_sums.where("kind = 'method'").join(data.names.select("method", "name", "stable_name"), "method")
    return rows.withColumn("function", F.col("name"))


def balance(data: Dataset, method: str | None = None) -> DataFrame:
    """How the calls of each method ended, and whether every call is accounted for."""
    ends = ["exits", "unwinds", "aborted", "unclosed", "unmatched", "open"]
    rows = _matching(_of_methods(data), method).groupBy("function").agg(*(F.sum(c).alias(c) for c in ["calls", *ends]))
    return rows.withColumn("balances", F.expr("calls = exits + unwinds + aborted + unclosed + open"))


def top_methods(data: Dataset, top: int = 20, method: str | None = None) -> DataFrame:
    """The methods that took most of their own, of each build."""
    rows = (
        _matching(_of_methods(data), method)
        .groupBy("build", "function")
        .agg(
            # A process has one row of a method.
            F.count(F.lit(1)).alias("processes"),
            F.sum("calls").alias("calls"),
            known("wall").alias("wall"),
            error_of(real_sum("wall_noise"), real_sum("wall_variance")).alias("wall_error"),
            known("wall_total").alias("wall_total"),
            known("wall_raw").alias("wall_raw"),
            known("wall_raw_total").alias("wall_raw_total"),
        )
    )
    order = Window.partitionBy("build").orderBy(F.coalesce("wall", "wall_raw", "calls").desc(), "function")
    return rows.withColumn("place", F.row_number().over(order)).where(F.col("place") <= top).drop("place")


def xtree(data: Dataset) -> DataFrame:
    """The contexts of all threads of all processes together; :func:`tree_rows` puts them in order."""
    resources = ["wall", "wall_raw", "running", "cpu", "allocations", "bytes"]
    figures = [known(c).alias(c) for r in resources for c in (r, f"{r}_total")]
    names = data.names.select("method", F.col("name").alias("function"), "kind")
    return (
        data.figures.join(data.contexts.select("context", "parent"), "context")
        .join(names, "method")
        .join(F.broadcast(data.processes.select("process", "batch", "event")), ["process", "batch"])
        .groupBy("context", "parent")
        .agg(
            F.min("function").alias("function"),
            F.min("kind").alias("kind"),
            F.sum("calls").alias("calls"),
            error_of(real_sum("wall_noise"), real_sum("wall_variance")).alias("wall_error"),
            error_of(real_sum("wall_noise_total"), real_sum("wall_variance_total")).alias("wall_total_error"),
            *figures,
            same("event").alias("event"),
            *(known_of(c, "event").alias(c) for c in EVENTS),
        )
        .withColumn("weight", F.coalesce("wall_total", "wall_raw_total", "running_total", "sampled_total", "calls"))
    )


def tree_rows(nodes: DataFrame, prune: float = 0.0) -> Iterator[dict[str, Any]]:
    """The rows of a tree: each caller before its callees, the largest first, with depth. Contexts below `prune`, a part of 1, of the whole
    are left out."""
    below: dict[bytes, list[dict[str, Any]]] = {}
    for row in nodes.toLocalIterator():
        node = row.asDict()
        below.setdefault(bytes(node.pop("parent")), []).append(node)
    whole = sum(node["weight"] for node in below.get(NO_CONTEXT, []))
    for callees in below.values():
        callees.sort(key=lambda node: (-node["weight"], node["function"], bytes(node["context"])))
    # The way to the place that is next.
    path = [iter(below.get(NO_CONTEXT, []))]
    while path:
        node = next(path[-1], None)
        if node is None:
            path.pop()
        elif node["weight"] >= prune * whole:
            callees = below.get(bytes(node["context"]), [])
            yield {**node, "depth": len(path), "context": node["context"].hex().upper()}
            path.append(iter(callees))


def xarc(data: Dataset, method: str | None = None) -> DataFrame:
    """Why a consumer consumes: its callers, itself, what it calls. See `crates/fleet/sql/xarc.sql` for what the totals are of."""
    resources = ["wall", "wall_raw", "allocations"]
    pair = ["caller", "caller_kind", "function", "kind"]
    parts = [
        column
        for r in resources
        for column in (
            known(r).alias(r),
            known_total(f"{r}_total").alias(f"parent_{r}"),
            known(f"{r}_total").alias(f"child_{r}"),
        )
    ]
    arcs = data.named.groupBy(*pair).agg(F.sum("calls").alias("calls"), *parts).cache()
    names = data.names.select("method", "name", "kind")
    through = data.contexts.select(F.col("context").alias("through"), F.col("method").alias("t_method"))
    again = (
        data.figures.where("nested")
        .join(data.contexts.select("context", "through"), "context")
        .join(names.toDF("method", "caller", "caller_kind"), "method")
        .join(through, "through")
        .join(names.toDF("t_method", "function", "kind"), "t_method")
        .groupBy(*pair)
        .agg(*(known(f"{r}_total").alias(f"again_{r}") for r in resources))
    )

    def stanza(rows: DataFrame, of: str, role: str, other: str, total: dict[str, Column]) -> DataFrame:
        kinds = {"caller": "caller_kind", "function": "kind"}
        figures = [c for r in resources for c in (F.col(r), total[r].alias(f"{r}_total"))]
        return rows.select(
            F.col(of).alias("of"),
            F.col(kinds[of]).alias("of_kind"),
            F.lit(role).alias("role"),
            F.col(other).alias("other"),
            F.col(kinds[other]).alias("other_kind"),
            "calls",
            *figures,
        )

    of_parent = {r: F.col(f"parent_{r}") for r in resources}
    sums = [F.sum(column).alias(column) for r in resources for column in (r, f"parent_{r}")]
    own = arcs.groupBy("function", "kind").agg(F.sum("calls").alias("calls"), *sums)
    less = {r: F.col(f"child_{r}") - F.coalesce(f"again_{r}", F.lit(0)) for r in resources}
    called = arcs.where("caller_kind <> 'root'").join(again, pair, "left")
    rows = (
        stanza(arcs, "function", "parent", "caller", of_parent)
        .unionByName(stanza(own, "function", "self", "function", of_parent))
        .unionByName(stanza(called, "caller", "child", "function", less))
    )
    return rows if method is None else rows.where(F.contains(F.col("of"), F.lit(method)))


def diff(data: Dataset, before: str, after: str, method: str | None = None) -> DataFrame:
    """What changed between two builds, by method. See `crates/fleet/sql/diff.sql` for what is known and what is within the errors."""
    data.check(before, after)
    of_builds = F.col("build").isin(before, after)
    runs = (
        _of_methods(data)
        .where(of_builds)
        .withColumn("function", F.col("stable_name"))
        .groupBy("process", "function")
        .agg(
            F.sum("calls").alias("calls"),
            known("wall").alias("wall"),
            real_sum("wall_noise").alias("noise"),
            known("wall_total").alias("total"),
            F.when(has_all("wall_noise_total"), real_sum("wall_noise_total")).alias("total_noise"),
            F.lit(True).alias("has_called"),
        )
        .cache()
    )
    processes = data.processes.where(of_builds).select("process", (F.col("build") == after).alias("is_after"))
    # A process that did not call the method is one that called it 0 times.
    has_called = F.col("has_called").isNotNull()
    whole = processes.crossJoin(runs.select("function").distinct()).join(runs, ["process", "function"], "left")
    whole = whole.select(
        "is_after",
        "function",
        F.coalesce("calls", F.lit(0)).alias("calls"),
        *(F.when(has_called, F.col(c)).otherwise(F.lit(0)).alias(c) for c in ("wall", "total")),
        *(F.coalesce(c, F.lit(0.0)).alias(c) for c in ("noise", "total_noise")),
    )
    columns: list[Column] = [F.count(F.lit(1)).alias("all")]
    for side, is_side in (("before", ~F.col("is_after")), ("after", F.col("is_after"))):
        columns.append(F.count(F.when(is_side, F.lit(1))).alias(f"processes_{side}"))
        calls = F.when(is_side, F.col("calls"))
        columns += [F.sum(calls).alias(f"calls_{side}"), F.max(calls).alias(f"most_{side}")]
        columns.append(F.min(calls).alias(f"least_{side}"))
        for time, noise in (("wall", "noise"), ("total", "total_noise")):
            of_side = F.when(is_side, F.col(time))
            columns.append(F.count(of_side).alias(f"{time}_known_{side}"))
            columns.append(F.sum(of_side).alias(f"{time}_{side}"))
            columns.append(F.sum(square(of_side)).alias(f"{time}_squares_{side}"))
            columns.append(real_sum(F.when(is_side, F.col(noise))).alias(f"{noise}_{side}"))
    sides = whole.groupBy("function").agg(*columns)

    def of_time(time: str, noise: str) -> tuple[Column, Column, Column]:
        is_known = F.col(f"{time}_known_before") + F.col(f"{time}_known_after") == F.col("all")
        count = {side: F.col(f"processes_{side}") for side in ("before", "after")}
        means = {side: mean(F.col(f"{time}_{side}"), count[side]) for side in count}
        noises = {side: F.col(f"{noise}_{side}") / count[side] for side in count}
        parts = [
            variance(F.col(f"{time}_{side}"), F.col(f"{time}_squares_{side}"), F.col(f"{time}_known_{side}")) / count[side]
            for side in count
        ]
        error = 3 * F.sqrt(parts[0] + parts[1]) + F.abs(noises["after"] - noises["before"])
        return F.when(is_known, means["before"]), F.when(is_known, means["after"]), error

    def is_other(before_mean: Column, after_mean: Column, error: Column) -> Column:
        return (
            F.when(error.isNull() | before_mean.isNull() | after_mean.isNull(), "not known")
            .when(after_mean - before_mean > error, "slower")
            .when(before_mean - after_mean > error, "faster")
            .otherwise("within error")
        )

    wall, total = of_time("wall", "noise"), of_time("total", "total_noise")
    rows = sides.select(
        "function",
        "processes_before",
        "processes_after",
        mean(F.col("calls_before"), F.col("processes_before")).alias("calls_before"),
        mean(F.col("calls_after"), F.col("processes_after")).alias("calls_after"),
        F.when(F.col("least_after") > F.col("most_before"), "more")
        .when(F.col("most_after") < F.col("least_before"), "fewer")
        .when(
            (F.col("most_before") == F.col("least_before")) & (F.col("most_after") == F.col("least_after")), "same"
        )
        .otherwise("not known")
        .alias("calls_are"),
        *(column.alias(f"wall_{name}") for name, column in zip(("before", "after", "error"), wall)),
        is_other(*wall).alias("wall_is"),
        *(column.alias(f"total_{name}") for name, column in zip(("before", "after", "error"), total)),
        is_other(*total).alias("total_is"),
    )
    return _matching(rows, method)
