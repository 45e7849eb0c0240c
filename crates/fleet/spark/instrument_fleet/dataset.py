"""The tables of a dataset. The columns are documented in the book, in the chapter "Fleets"."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import cached_property

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from .sums import known, known_total, real_sum, real_total

NO_CONTEXT = bytes(16)
"""The key of no context: of who called the outermost method, and of the rows of threads and processes."""


COUNTS = ["calls", "exits", "unwinds", "aborted", "unclosed", "unmatched", "open"]
"""Columns that every row has."""

REALS = ["wall_noise", "wall_noise_total", "wall_variance", "wall_variance_total"]
"""Columns of :attr:`Dataset.method_sums` that are not whole numbers."""

RESOURCES = ["wall", "wall_raw", "running", "waiting", "cpu", "allocations", "bytes", "bytecodes"]
"""What questions about methods are about."""

EVENTS = ["sampled", "sampled_total"]
"""Events that were sampled: those of different events make no sum. Files before version 3 of the schema have no such columns."""

SUMS = [*(column for r in RESOURCES for column in (r, f"{r}_total")), *EVENTS, *REALS]
"""Columns of :attr:`Dataset.method_sums`."""


@dataclass(frozen=True)
class Chosen:
    """Which processes are meant; what is None chooses nothing. Days are UTC: `2026-11-24`."""

    service: str | None = None
    build: str | None = None
    since: str | None = None
    until: str | None = None


def session(master: str | None = None, partitions: int | None = None) -> SparkSession:
    """A session with the settings that datasets need; `partitions` is how many parts sums are cut into."""
    builder = (
        SparkSession.builder.appName("instrument-fleet")
        # Services and builds are texts, also those that look like numbers.
        .config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MILLIS")
        # A sum that is too large is an error, and no other number.
        .config("spark.sql.ansi.enabled", "true")
        # Lists of what is not whole: with more groups than this rows are sorted in the place of being hashed. By default 128.
        .config("spark.sql.objectHashAggregate.sortBased.fallbackThreshold", str(1 << 16))
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
    )
    if master is not None:
        builder = builder.master(master)
    if partitions is not None:
        builder = builder.config("spark.sql.shuffle.partitions", str(partitions))
        builder = builder.config("spark.sql.adaptive.coalescePartitions.enabled", "false")
    return builder.getOrCreate()


class Dataset:
    """A dataset, or the chosen processes of one."""

    def __init__(self, spark: SparkSession, path: str, chosen: Chosen = Chosen()) -> None:
        """`path`: a folder, or the address of one that Spark can read, such as `s3a://bucket/fleet`."""
        self.spark = spark
        self.path = path.rstrip("/")
        self.chosen = chosen

    def table(self, name: str) -> DataFrame:
        """All rows of a table, with the columns of its partitions."""
        # Later files may have more columns.
        rows = self.spark.read.option("mergeSchema", "true").parquet(f"{self.path}/{name}")
        later = {"processes": ("string", ["event", "event_unit"]), "values": ("bigint", EVENTS), "method_values": ("bigint", EVENTS)}
        kind, columns = later.get(name, ("string", []))
        return rows.withColumns({c: F.lit(None).cast(kind) for c in columns if c not in rows.columns})

    def _is_chosen(self, has_day: bool = True) -> Column:
        """Whether a partition is chosen; a day that is not known is."""
        chosen, fits = self.chosen, F.lit(True)
        if chosen.service is not None:
            fits = fits & (F.col("service") == chosen.service)
        if chosen.build is not None:
            fits = fits & F.coalesce(F.col("build") == chosen.build, F.lit(False))
        if has_day and chosen.since is not None:
            fits = fits & (F.col("day").isNull() | (F.col("day") >= chosen.since))
        if has_day and chosen.until is not None:
            fits = fits & (F.col("day").isNull() | (F.col("day") <= chosen.until))
        return fits

    @cached_property
    def processes(self) -> DataFrame:
        """Each process once: of several exports of it, as of a live one, the fullest."""
        order = Window.partitionBy("process").orderBy(F.desc("calls"), F.asc("batch"))
        rows = self.table("processes").where(self._is_chosen())
        return rows.withColumn("place", F.row_number().over(order)).where("place = 1").drop("place").cache()

    def check(self, *builds: str) -> None:
        """An answer about no process at all would look like good news."""
        if self.processes.isEmpty():
            raise ValueError(
                "no process of the dataset fits service, build, since and until together: leave one of them out"
            )
        for build in builds:
            if self.processes.where(F.col("build") == build).isEmpty():
                raise ValueError(f"no process of the dataset is of the build {build}")

    def _of_processes(self, rows: DataFrame, key: str = "process") -> DataFrame:
        chosen = self.processes.select(F.col("process").alias(key), "batch")
        return rows.join(F.broadcast(chosen), [key, "batch"], "left_semi")

    @cached_property
    def figures(self) -> DataFrame:
        """The rows of `values`."""
        return self._of_processes(self.table("values").where(self._is_chosen()))

    @cached_property
    def method_sums(self) -> DataFrame:
        """The sums over the contexts of each method of each process, and the rows of threads and processes: the table `method_values`. Exports
        of version 1 of the schema and merges have no such table: of these they are added up here."""
        columns = ["service", "build", "day", "batch", "process", "kind", "method", "thread", "contexts", *COUNTS, *SUMS]
        parts, batches = [], set()
        with contextlib.suppress(AnalysisException):
            rows = self.table("method_values").where(self._is_chosen())
            batches = {row.batch for row in rows.select("batch").distinct().collect()}
            parts.append(self._of_processes(rows).select(*columns))
        others = {row.batch for row in self.processes.select("batch").distinct().collect()} - batches
        if others or not parts:
            of_thread = F.when(F.col("thread").isNull(), "process").otherwise("thread")
            rows = self.figures.where(F.col("batch").isin(*others)).join(self.names.select("method", "kind"), "method", "left")
            rows = rows.withColumn("kind", F.coalesce("kind", of_thread))
            rows = rows.withColumn("thread", F.when(F.col("method").isNull(), F.col("thread")))
            totals = [name for name in SUMS if name.endswith("_total")]
            sums = {name: (known_total if name in totals else known)(name) for name in SUMS if name not in REALS}
            sums |= {name: (real_total if name in totals else real_sum)(name) for name in REALS}
            rows = rows.groupBy("service", "build", "day", "batch", "process", "kind", "method", "thread").agg(
                F.count(F.lit(1)).alias("contexts"),
                *(F.sum(name).alias(name) for name in COUNTS),
                *(sums[name].alias(name) for name in SUMS),
            )
            parts.append(rows.select(*columns))
        return parts[0] if len(parts) == 1 else parts[0].unionByName(parts[1])

    @cached_property
    def methods(self) -> DataFrame:
        """The methods of the exports that have the processes."""
        batches = self.processes.select("batch").distinct()
        rows = self.table("methods").where(self._is_chosen())
        return rows.join(F.broadcast(batches), "batch", "left_semi")

    @cached_property
    def contexts(self) -> DataFrame:
        """Each context once. Whoever writes a context writes the same of it, so it does not matter whose row is taken."""
        columns = ["stable", "parent", "through", "method", "depth"]
        rows = self.table("contexts").where(self._is_chosen(has_day=False))
        return rows.groupBy("context").agg(*(F.min(column).alias(column) for column in columns))

    @cached_property
    def names(self) -> DataFrame:
        """A name for each key of a method."""
        columns = ["name", "stable_name", "kind", "class", "file", "line"]
        return self.methods.groupBy("method").agg(*(F.min(column).alias(column) for column in columns))

    def of_processes(self, name: str) -> DataFrame:
        """The rows of `allocations`, `monitors` or `unmatched`."""
        return self._of_processes(self.table(name))

    @cached_property
    def remote_calls(self) -> DataFrame:
        """A remote call belongs to the process that made it, or to the one that served it if only that is known."""
        rows = self.table("remote_calls").withColumn("home", F.coalesce("client", "server"))
        return self._of_processes(rows, "home").drop("home")

    @cached_property
    def named(self) -> DataFrame:
        """All rows of `values` with the names that reports print, and those of the callers."""
        names = self.names.select("method", F.col("name").alias("n_name"), F.col("kind").alias("n_kind"))
        callers = names.toDF("p_method", "p_name", "p_kind")
        parents = self.contexts.select("context", "parent")
        above = self.contexts.select(F.col("context").alias("parent"), F.col("method").alias("p_method"))
        process = F.concat("program", F.lit(" (pid "), "pid", F.lit(")"))
        processes = self.processes.select("process", "batch", process.alias("process_name"))
        rows = (
            self.figures.join(F.broadcast(processes), ["process", "batch"])
            .join(names, "method", "left")
            .join(parents, "context", "left")
            .join(above, "parent", "left")
            .join(callers, "p_method", "left")
        )
        of_thread = F.when(F.col("thread").isNull(), "process").otherwise("thread")
        has_caller, is_method = F.col("p_name").isNotNull(), F.col("method").isNotNull()
        is_thread = F.col("thread").isNotNull()
        return rows.select(
            "*",
            F.coalesce("n_name", "thread", "process_name").alias("function"),
            F.coalesce("n_kind", of_thread).alias("kind"),
            F.when(has_caller, F.col("p_name"))
            .when(is_method, F.coalesce("thread", "process_name"))
            .when(is_thread, F.col("process_name"))
            .otherwise("(root)")
            .alias("caller"),
            F.when(has_caller, F.col("p_kind"))
            .when(is_method, of_thread)
            .when(is_thread, "process")
            .otherwise("root")
            .alias("caller_kind"),
        )
