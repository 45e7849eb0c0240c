"""Sums that are the same, bit for bit, for any number of partitions and workers.

Counts and times are whole numbers, whose sum does not depend on the order. Numbers that are not whole (what a figure may be off by,
squares of times) are gathered and added from the smallest to the largest.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F


def has_all(figure: str) -> Column:
    """Whether every row has a figure."""
    return F.count(figure) == F.count(F.lit(1))


def known(figure: str) -> Column:
    """The sum of whole numbers, where every row has one. Of processes of which only some have one there is no sum."""
    return F.when(has_all(figure), F.sum(figure))


def same(value: str) -> Column:
    """The value that all rows have; null: they differ, or one has none."""
    is_one = (F.min(value) == F.max(value)) & (F.count(value) == F.count(F.lit(1)))
    return F.when(is_one, F.min(value))


def known_of(figure: str, event: str) -> Column:
    """A sum of events that were sampled, where all rows are of the same event."""
    return F.when(same(event).isNotNull(), known(figure))


def known_total(figure: str) -> Column:
    """The same of totals: what is nested is part of the total of a row above."""
    outer = F.when(F.col("nested"), F.lit(0)).otherwise(F.col(figure))
    return F.when(has_all(figure), F.sum(outer))


def real_sum(figure: Column | str) -> Column:
    """The sum of numbers that are not whole, as far as there are any, always in the same order."""
    column = F.col(figure) if isinstance(figure, str) else figure
    values = F.array_sort(F.collect_list(column.cast("double")))
    added = F.aggregate(values, F.lit(0.0), lambda sum, value: sum + value)
    return F.when(F.count(column) > 0, added)


def real_total(figure: str) -> Column:
    """As :func:`known_total`, of numbers that are not whole."""
    outer = F.when(F.col("nested"), F.lit(0.0)).otherwise(F.col(figure).cast("double"))
    return F.when(has_all(figure), real_sum(outer))


def error_of(noise: Column, variance: Column) -> Column:
    """What a sum may be off by: what is not known of the cost of recording adds up, and so do variances of sampling."""
    error = F.coalesce(noise, F.lit(0.0)) + F.sqrt(F.greatest(F.coalesce(variance, F.lit(0.0)), F.lit(0.0)))
    return F.when(noise.isNotNull() | variance.isNotNull(), error)


def mean(total: Column, count: Column) -> Column:
    """A mean of whole numbers: their sum is exact."""
    return F.when(count > 0, total.cast("double") / count)


def square(figure: Column) -> Column:
    """The square of a whole number, exact."""
    whole = figure.cast("decimal(19,0)")
    return (whole * whole).cast("decimal(38,0)")


def variance(total: Column, squares: Column, count: Column) -> Column:
    """The variance of a sample of whole numbers, of their sum and that of their squares: exact but for the last division."""
    apart = count.cast("decimal(9,0)") * squares - square(total)
    size = count.cast("double") * (count - 1)
    return F.when(count > 1, apart.cast("double") / size)
