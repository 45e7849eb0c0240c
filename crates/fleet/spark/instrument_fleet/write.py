"""Files of a dataset, as `instrument export` writes them: their schema is that of the files that were read, and the same rows give the same
bytes."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from hashlib import sha256

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from .dataset import Dataset

NOTHING = "__HIVE_DEFAULT_PARTITION__"
LONGEST = 200
"""Bytes of a folder's name at most."""

ROWS = 1 << 17
"""Rows of a group, so that filters can leave some out."""


def escaped(value: str) -> str:
    """The value of a partition as the name of a folder."""
    parts = (chr(b) if chr(b).isascii() and (chr(b).isalnum() or chr(b) in "._-+") else f"%{b:02X}" for b in value.encode())
    text = "".join(parts)
    if len(text) <= LONGEST:
        return text
    cut = re.sub("%.?$", "", text[: LONGEST - 22])
    return f"{cut}-{sha256(value.encode()).hexdigest()[:16]}"


@dataclass(frozen=True)
class Partition:
    """What processes are kept apart by; the day is UTC."""

    service: str
    build: str | None
    day: str

    def folder(self, table: str) -> str:
        """The folder of a table, below that of the dataset."""
        parts = {"service": self.service, "build": self.build, "day": self.day}
        names = (f"{key}={escaped(value) if value else NOTHING}" for key, value in parts.items())
        return "/".join([table, *names])


def file_system(path: str) -> tuple[pafs.FileSystem, str]:
    """Where a path or address is, and the path there."""
    if "://" in path:
        # What Hadoop calls s3a is s3 elsewhere.
        return pafs.FileSystem.from_uri(re.sub("^s3[an]://", "s3://", path))
    return pafs.LocalFileSystem(), path


class Writer:
    """Writes one partition of a dataset. Spark writes each table, sorted, into a folder beside it; from there it is copied into one file with
    the schema of the dataset that was read. Files appear when all are written; the last are those of the processes."""

    def __init__(self, data: Dataset, out: str, partition: Partition, batch: str) -> None:
        self.data, self.partition, self.batch = data, partition, batch
        self.out = out.rstrip("/")
        self.staging = f"{self.out}/.merging-{uuid.uuid4().hex}"
        self.written: list[tuple[str, str]] = []

    def _schema(self, table: str) -> pa.Schema:
        """The schema of a table: that of the file with most columns, for it is only ever extended."""
        files, path = file_system(f"{self.data.path}/{table}")
        found = files.get_file_info(pafs.FileSelector(path, recursive=True))
        names = sorted(f.path for f in found if f.type == pafs.FileType.File and f.path.endswith(".parquet"))
        schemas = []
        for name in names:
            with files.open_input_file(name) as file:
                schemas.append(pq.read_schema(file))
        return max(schemas, key=len)

    def table(self, table: str, rows: DataFrame, order: list[str]) -> int:
        """Writes a table. The columns that make a row differ from all others are its order. How many rows there are."""
        schema = self._schema(table)
        rows = rows.withColumn("batch", F.lit(self.batch)).select(*schema.names)
        # One file, so that its bytes depend on nothing but the rows.
        part = f"{self.staging}/spark/{table}"
        rows.repartition(1).sortWithinPartitions(*order).write.parquet(part)
        files, path = file_system(part)
        sources = [f.path for f in files.get_file_info(pafs.FileSelector(path)) if f.path.endswith(".parquet")]
        target_files, staged = file_system(f"{self.staging}/{table}.parquet")
        count = 0
        properties = {"compression": "zstd", "compression_level": 3, "version": "2.6"}
        with target_files.open_output_stream(staged) as out, pq.ParquetWriter(out, schema, **properties) as writer:
            for source in sorted(sources):
                with files.open_input_file(source) as file:
                    for batch in pq.ParquetFile(file).iter_batches(batch_size=ROWS, columns=schema.names):
                        rows_read = pa.Table.from_batches([batch]).select(schema.names)
                        columns = [column.cast(field.type) for column, field in zip(rows_read.columns, schema)]
                        writer.write_table(pa.table(columns, schema=schema), row_group_size=ROWS)
                        count += batch.num_rows
        folder = f"{self.out}/{self.partition.folder(table)}"
        self.written.append((f"{self.staging}/{table}.parquet", f"{folder}/{self.batch}.parquet"))
        return count

    def finish(self) -> None:
        """Lets the files appear, in the order in which they were written."""
        for staged, target in self.written:
            files, path = file_system(target)
            files.create_dir(path.rsplit("/", 1)[0], recursive=True)
            files.move(file_system(staged)[1], path)
        files, path = file_system(self.staging)
        files.delete_dir(path)
