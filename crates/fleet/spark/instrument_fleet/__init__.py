"""Datasets of `instrument export --format parquet` in Spark.

* :mod:`instrument_fleet.dataset`: the tables of a dataset, each process once;
* :mod:`instrument_fleet.sums`: sums that are the same for any number of partitions and workers;
* :mod:`instrument_fleet.questions`: what `instrument fleet` asks DuckDB;
* :mod:`instrument_fleet.merge`: all processes as one, written as a dataset;
* :mod:`instrument_fleet.write`: files of a dataset.
"""

from .dataset import Chosen, Dataset, session
from .merge import merge

__all__ = ["Chosen", "Dataset", "merge", "session"]
