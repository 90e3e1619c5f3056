"""Small tables of plain values look as polars shows them, which shows all others."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import polars as pl
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from smfparse.rendering.rows import plain_table
from smfparse.rendering.shown import aligned_frame, exact
from tests.support.searching import search

MOMENTS = st.datetimes(dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31))
VALUES: dict[Any, st.SearchStrategy[Any]] = {
    pa.int8(): st.integers(-128, 127),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.uint64(): st.integers(0, 2**64 - 1),
    pa.decimal128(38, 0): st.integers(-(10**37), 10**37).map(Decimal),
    pa.float64(): st.one_of(
        st.floats(-1e9, 1e9).filter(lambda value: value == 0 or abs(value) >= 1e-3),
        st.integers(-(10**9), 10**9).map(float),
        st.integers(1, 10**9).map(lambda value: (value + 0.5) / 1e3),
        st.sampled_from([0.0, -0.0, 0.1, 1.25, 1.0000005]),
    ),
    pa.bool_(): st.booleans(),
    pa.string(): st.text(st.characters(min_codepoint=32, max_codepoint=126)),
    pa.date32(): st.dates(),
    pa.timestamp("us"): MOMENTS | MOMENTS.map(lambda value: value.replace(microsecond=0)),
    pa.timestamp("us", tz="UTC"): MOMENTS.map(
        lambda value: value.replace(microsecond=value.microsecond // 1000 * 1000)
    ),
}
"""Types, and values of each that need no polars."""
COLUMNS = st.lists(st.sampled_from([*VALUES]), min_size=1, max_size=4)


def by_polars(*parts: Any) -> list[str]:
    return aligned_frame(pl.concat([exact(pl.DataFrame(part)) for part in parts]))


@search(60)
@given(st.data(), COLUMNS, st.tuples(st.integers(0, 4), st.integers(0, 4)))
def test_tables_look_as_in_polars(data: st.DataObject, kinds: list[Any], counts: tuple[int, int]):
    def part(count: int) -> Any:
        arrays = []
        for kind in kinds:
            values = st.lists(VALUES[kind] | st.none(), min_size=count, max_size=count)
            arrays.append(pa.array(data.draw(values), kind))
        return pa.table(arrays, [f"{number}{kind}" for number, kind in enumerate(kinds)])

    parts = [part(count) for count in counts]
    assert plain_table(parts) == by_polars(*parts)


NOT_PLAIN = [
    *map(pa.array, (["\x1b"], ["ü"], ["x" * 1001], [b"x"], [Decimal("1.5")], [dt.time(1)])),
    *map(pa.array, ([1e-4], [2e9], [float("nan")], [float("inf"), 1.0], range(1001))),
    pa.array([1.5], pa.float32()),
    pa.array([None], pa.null()),
    pa.array([2**62], pa.timestamp("us")),
    pa.array([0], pa.timestamp("us", tz="Europe/Berlin")),
]


def test_polars_shows_values_and_names_that_are_not_plain() -> None:
    for values in NOT_PLAIN:
        assert plain_table([pa.table({"a": values})]) is None, values
    for name in ("", "\x07", "ü"):
        assert plain_table([pa.table({name: [1]})]) is None, name
