"""Rows are spread over intervals by time; what is spread is not lost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.summarizing.spreading import Axis, Rows, blocks, rows_of, seconds_of, spread, summed
from tests.support.searching import search

MINUTE = 60_000_000


def axis(*spans: tuple[float, float]) -> Axis:
    """Return an axis of spans in minutes."""
    starts, ends = (np.array(spans) * MINUTE).astype(np.int64).T
    return Axis(starts, ends, np.r_[False, starts[1:] > ends[:-1]])


def rows(starts: Sequence[int], seconds: Sequence[float], objects: str = "") -> Rows:
    """Return rows with an amount of 1 each, of objects of one letter each, else of one object."""
    names = sorted({*(objects or "A")})
    ones = np.ones(len(starts))
    of = np.array([names.index(each) for each in objects or "A" * len(starts)], np.int64)
    return Rows(names, of, np.array(starts, np.int64), np.array(seconds, float), ones, ones)


THREE = axis((0, 1), (1, 2), (2, 3))


def test_a_row_is_spread_over_the_intervals_that_it_covers() -> None:
    """A long one, two of another clock, and two of no length, one of which is outside."""
    for starts, seconds, found in (
        ([0], [120.0], ([0, 0], [0, 1], [0.5, 0.5])),
        ([500_000], [60.0], ([0], [0], [1.0])),
        ([500_000], [120.0], ([0, 0], [0, 1], [59.5 / 119.5, 60 / 119.5])),
        ([MINUTE, 5 * MINUTE], [0.0, 0.0], ([0], [1], [1.0])),
        ([2 * MINUTE], [120.0], ([0], [2], [0.5])),
    ):
        parts = spread(THREE, rows(starts, seconds))
        assert (parts.rows.tolist(), parts.cells.tolist()) == found[:2]
        assert parts.shares.tolist() == pytest.approx(found[2])


def test_wholes_count_rows_that_reach_beyond_all_intervals() -> None:
    some = rows([-2 * MINUTE, 0, 2 * MINUTE, 9 * MINUTE], [180.0, 60.0, 120.0, 60.0], "ABBA")
    sums = summed(THREE, some, spread(THREE, some), "total")
    assert sums.amounts.sum(axis=1).tolist() == pytest.approx([1 / 3, 1.5])
    assert sums.wholes.tolist() == [2.0, 2.0]


SPANS = st.lists(st.tuples(st.integers(0, 170), st.integers(0, 170)), min_size=1)


@search(50)
@given(SPANS)
def test_what_is_inside_counts_once(spans: list[tuple[int, int]]) -> None:
    inside = [(start, min(length, 180 - start)) for start, length in spans]
    some = rows([start * 10**6 for start, _ in inside], [float(length) for _, length in inside])
    parts = spread(THREE, some)
    sums = summed(THREE, some, parts, "total")
    assert sums.amounts.sum() == pytest.approx(len(inside))
    highest = summed(THREE, some, parts, "peak")
    assert {*highest.amounts[highest.filled].tolist()} <= {1.0}
    assert highest.filled.tolist() == sums.filled.tolist()


@search(50)
@given(SPANS)
def test_seconds_of_intervals_count_what_several_rows_cover_once(spans: list[tuple[int, int]]):
    whole = [(start, 20 * (1 + length // 20)) for start, length in spans]
    some = rows([start * 10**6 for start, _ in whole], [float(each) for _, each in whole])
    covered = {second for start, length in whole for second in range(start, start + length)}
    expected = [len(covered & {*range(60 * at, 60 * at + 60)}) for at in range(3)]
    found = seconds_of(THREE, some, spread(THREE, some))
    assert found.tolist() == pytest.approx(expected, abs=1.2 * len(spans))


@search(100)
@given(SPANS, st.integers(1, 6), st.sampled_from(["total", "average", "peak", "trough"]))
def test_sums_of_objects_in_blocks(spans: list[tuple[int, int]], count: int, measure: str) -> None:
    objects = "".join(sorted("ABCDE"[start % 5] for start, _ in spans))
    found = rows([start * 10**6 for start, _ in spans], [float(n) for _, n in spans], objects)
    parts = spread(THREE, found)
    several = [summed(THREE, *each, measure) for each in blocks(found, parts, count)]
    for at, expected in enumerate(summed(THREE, found, parts, measure)):
        assert np.array_equal(np.concatenate([each[at] for each in several]), expected)


def test_rows_come_by_name_in_whatever_order_they_are() -> None:
    columns = {
        "line": ["b", "a", "b", "a"], "system": ["S"] * 4, "qmgr": ["Q2", "Q1", "Q1", "Q1"],
        "object": ["y", "z", "x", "x"], "start": [3, 2, 1, 0], "seconds": [1.0] * 4,
        "amount": [1.0, 2.0, 3.0, 4.0], "per": [1.0, 1.0, None, 1.0],
    }  # fmt: skip
    table = pa.table(columns)
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        found = list(rows_of(table.take(order), "line"))
        assert [(line, manager, each.objects) for line, manager, each in found] == [
            ("a", ("S", "Q1"), ["x", "z"]), ("b", ("S", "Q1"), ["x"]), ("b", ("S", "Q2"), ["y"])
        ]  # fmt: skip
        assert found[0][2].amounts.tolist() == [4.0, 2.0]
    assert not list(rows_of(table.slice(0, 0), "line"))
