"""Rows of any length, distributed over the intervals or slots of a queue manager's time.

A row is about an object in an interval: an amount, and its divisor (per). An interval of an axis
that covers a share of the row's time gets this share of the amount and of the divisor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from smfparse.metrics.calendar import SECOND_US
from smfparse.vectors import Bools, Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

Manager: TypeAlias = tuple[str, str]
"""System and name of a queue manager."""
EXTREMES: Mapping[str, tuple[float, np.ufunc]] = {
    "peak": (-np.inf, np.maximum),
    "trough": (np.inf, np.minimum),
}
"""By measure that is not a sum: the initial value, and the function that combines two values."""
_LEAK, _LEAK_US = 0.02, 2 * SECOND_US
"""Maximum overlap caused by clock differences: share of an interval, and microseconds."""
_NO_ROWS = "SELECT NULL::DOUBLE AS per WHERE FALSE"
"""Query of an empty table with the column `per`, which only averages have."""


class Axis(NamedTuple):
    """Intervals that do not overlap, in the order of time: microseconds since 1970, UTC.

    after_gap  whether the interval begins after the end of the previous interval
    """

    starts: Ints
    ends: Ints
    after_gap: Bools

    @property
    def seconds(self) -> Floats:
        """The length of each interval."""
        found: Floats = (self.ends - self.starts) / SECOND_US
        return found


@dataclass(frozen=True)
class Rows:
    """Rows about the objects of a queue manager, grouped by object.

    objects        names of objects, ascending
    of             index of the object of each row
    starts         start of each row, microseconds since 1970, UTC
    seconds        length of each row
    amounts, pers  amount and divisor of each row; NaN: unknown
    """

    objects: list[str]
    of: Ints
    starts: Ints
    seconds: Floats
    amounts: Floats
    pers: Floats

    @cached_property
    def ends(self) -> Ints:
        """The end of each row; for a row without length, one microsecond after its start."""
        found: Ints = self.starts + np.maximum(
            np.rint(self.seconds * SECOND_US).astype(np.int64), 1
        )
        return found


class Spread(NamedTuple):
    """The parts of rows in intervals.

    rows    index of the row of each part
    cells   index of the interval of each part
    shares  length of the part as a share of its row
    """

    rows: Ints
    cells: Ints
    shares: Floats


class Sums(NamedTuple):
    """The values of objects in each interval: arrays by object and interval.

    amounts  sums of amounts; for a measure in EXTREMES, highest or lowest amounts
    pers     sums of divisors
    filled   whether rows exist
    wholes   sum of amounts over all rows of each object, also outside the intervals
    """

    amounts: Floats
    pers: Floats
    filled: Bools
    wholes: Floats


def rows_query(thing: str, queries: Iterable[tuple[str, str]]) -> str:
    """Return one query for the rows of several queries, for `rows_of`.

    thing    name of the column with the name of a row's query, such as `line`
    queries  name and SQL of each query, with the columns system, qmgr, object, start (UTC),
             seconds, amount and optionally per
    """
    several = (f"SELECT '{name}' AS {thing}, * FROM ({sql})" for name, sql in queries)
    return (
        f"SELECT {thing}, coalesce(system, '') AS system, coalesce(qmgr, '') AS qmgr, "
        "coalesce(object, '') AS object, epoch_us(start) AS start, "
        "coalesce(seconds::DOUBLE, 0) AS seconds, amount::DOUBLE AS amount, per::DOUBLE AS per "
        f"FROM ({' UNION ALL BY NAME '.join([*several, _NO_ROWS])}) "
        "WHERE start IS NOT NULL AND isfinite(amount::DOUBLE)"
    )


def rows_of(table: pa.Table, thing: str) -> Iterator[tuple[str, Manager, Rows]]:
    """Yield the name of a query, a queue manager, and its rows, from the result of `rows_query`.

    The order of rows in the table does not matter. Texts are numbered once for the whole table, and
    memory contains the numbers of one query at a time.
    """
    (names, name_of), (systems, system_of), (qmgrs, qmgr_of), (objects, object_of) = (
        _ranked(table[each]) for each in (thing, "system", "qmgr", "object")
    )
    numbers = table.select(["per", "amount", "seconds", "start"])
    by_name = np.argsort(name_of, kind="stable")
    bounds = np.searchsorted(name_of, np.arange(len(names) + 1), sorter=by_name)
    for name, (begin, end) in zip(names, pairwise(bounds), strict=True):
        which = by_name[begin:end]
        columns = [each.to_numpy() for each in numbers.take(which).columns]
        manager_of = system_of[which] * len(qmgrs) + qmgr_of[which]
        order = np.lexsort([*columns, object_of[which], manager_of])
        pers, amounts, seconds, starts = (each[order] for each in columns)
        managers, firsts = np.unique(manager_of[order], return_index=True)
        for manager, *its in zip(managers, firsts, [*firsts[1:], len(order)], strict=True):
            rows = slice(*its)
            found, of = np.unique(object_of[which[order[rows]]], return_inverse=True)
            yield (
                name,
                (systems[manager // len(qmgrs)], qmgrs[manager % len(qmgrs)]),
                Rows(
                    [objects[each] for each in found],
                    of, starts[rows], seconds[rows], amounts[rows], pers[rows],
                ),
            )  # fmt: skip


def _ranked(texts: pa.ChunkedArray) -> tuple[list[str], Ints]:
    coded = texts.dictionary_encode().unify_dictionaries()
    words = coded.chunk(0).dictionary.to_pylist() if coded.num_chunks else []
    places = {word: place for place, word in enumerate(sorted(words))}
    ranks = np.array([places[word] for word in words], np.int64)
    parts = [ranks[each.indices.to_numpy()] for each in coded.chunks]
    return [*places], np.concatenate(parts) if parts else ranks


def spread(axis: Axis, rows: Rows) -> Spread:
    """Return the parts of rows in intervals.

    A row without length is in the interval that contains its start. Rows outside all intervals are
    omitted. If a part is so short that clock differences can explain it, its share is added to the
    other parts of its row.
    """
    starts, ends = rows.starts, rows.ends
    first = np.searchsorted(axis.ends, starts, "right")
    counts = np.maximum(np.searchsorted(axis.starts, ends, "left") - first, 0)
    which = np.repeat(np.arange(len(starts)), counts)
    cells = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + first[which]
    common = np.minimum(ends[which], axis.ends[cells]) - np.maximum(
        starts[which], axis.starts[cells]
    )
    shares = common / (ends - starts)[which]
    most = np.minimum(_LEAK * (axis.ends - axis.starts)[cells], _LEAK_US)
    is_leak = (shares < _LEAK) & (common < most)
    inside = np.bincount(which, shares, len(starts))
    inside[inside > 1 - _LEAK] = 1
    which, cells, shares = which[~is_leak], cells[~is_leak], shares[~is_leak]
    kept = np.bincount(which, shares, len(starts))
    return Spread(which, cells, shares * inside[which] / kept[which])


def summed(axis: Axis, rows: Rows, parts: Spread, measure: str) -> Sums:
    """Return the values of each object in each interval of an axis, from the parts of rows."""
    shape = len(rows.objects), len(axis.starts)
    places = rows.of[parts.rows] * shape[1] + parts.cells

    def added(values: Floats) -> Floats:
        sums = np.bincount(places, values, shape[0] * shape[1]).astype(np.float64)
        return sums.reshape(shape)

    amounts, pers = rows.amounts[parts.rows], rows.pers[parts.rows]
    wholes = np.bincount(rows.of, rows.amounts, shape[0]).astype(np.float64)
    filled = np.zeros(shape, np.bool_)
    filled.ravel()[places] = True
    if measure in EXTREMES:
        start, of_two = EXTREMES[measure]
        best = np.full(shape[0] * shape[1], start)
        of_two.at(best, places, amounts)
        return Sums(best.reshape(shape), filled.astype(np.float64), filled, wholes)
    found = added(amounts * parts.shares), added(np.nan_to_num(pers) * parts.shares)
    return Sums(*found, filled, wholes)


def blocks(rows: Rows, parts: Spread, count: int) -> Iterator[tuple[Rows, Spread]]:
    """Yield rows and their parts in blocks of `count` objects."""
    of = rows.of[parts.rows]
    for first in range(0, len(rows.objects), count):
        begin, end = np.searchsorted(rows.of, [first, first + count])
        some, its = slice(begin, end), slice(*np.searchsorted(of, [first, first + count]))
        its_rows = Rows(
            rows.objects[first : first + count],
            rows.of[some] - first,
            rows.starts[some],
            rows.seconds[some],
            rows.amounts[some],
            rows.pers[some],
        )
        yield its_rows, Spread(parts.rows[its] - begin, parts.cells[its], parts.shares[its])


def seconds_of(axis: Axis, rows: Rows, parts: Spread) -> Floats:
    """Return the seconds of each interval that are covered by rows of any object."""
    since = np.maximum(rows.starts[parts.rows], axis.starts[parts.cells])
    until = np.minimum(rows.ends[parts.rows], axis.ends[parts.cells])
    order = np.lexsort([until, since, parts.cells])
    since, until, cells = since[order], until[order], parts.cells[order]
    before = np.r_[np.iinfo(np.int64).min, np.maximum.accumulate(until)[:-1]]
    alone = np.maximum(until - np.maximum(since, before), 0)
    found: Floats = np.bincount(cells, alone, len(axis.starts)) / SECOND_US
    return found
