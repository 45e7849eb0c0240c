"""Opens every table of a dataset with Arrow: rows, names of columns, and the version of the schema."""
import glob
import json
import os
import sys

import pyarrow.dataset
import pyarrow.parquet

tables = {}
for table in sorted(os.listdir(sys.argv[1])):
    path = os.path.join(sys.argv[1], table)
    data = pyarrow.dataset.dataset(path, partitioning="hive").to_table()
    files = glob.glob(os.path.join(path, "**", "*.parquet"), recursive=True)
    metadata = [pyarrow.parquet.read_schema(file).metadata for file in files]
    tables[table] = {
        "rows": data.num_rows,
        "columns": data.column_names,
        "schema": sorted({about[b"instrument.schema"].decode() for about in metadata}),
        "groups": sum(pyarrow.parquet.ParquetFile(file).num_row_groups for file in files),
    }
json.dump(tables, sys.stdout)
