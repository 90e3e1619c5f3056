"""Rows of results as Python has them."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.query.results import rows_of

_MOMENTS = st.lists(st.none() | st.datetimes(timezones=st.just(dt.UTC)), max_size=9)
_UTC = pa.timestamp("us", "UTC")


@given(_MOMENTS, _MOMENTS, st.integers(0, 3), st.data())
def test_rows_are_those_that_arrow_gives(
    some: list[dt.datetime | None],
    others: list[dt.datetime | None],
    left_out: int,
    data: st.DataObject,
) -> None:
    chunks = [pa.array(each, _UTC)[left_out:] for each in (some, others)]
    moments = pa.chunked_array(chunks, _UTC)
    count = st.lists(st.none() | st.integers(-9, 9), min_size=len(moments), max_size=len(moments))
    rows = pa.table(
        {"at": moments, "count": data.draw(count), "local": moments.cast("timestamp[us]")}
    )
    found = rows_of(rows)
    assert found == rows.to_pylist()
    assert all(each["at"] is None or each["at"].tzinfo is dt.UTC for each in found)


@pytest.mark.parametrize("beyond", [-(1 << 62), 1 << 62])
def test_moments_that_python_does_not_have_are_refused_as_arrow_does(beyond: int) -> None:
    rows = pa.table({"at": pa.array([0, beyond], pa.int64()).view(_UTC)})
    with pytest.raises(Exception) as expected:  # noqa: PT011 - whatever Arrow raises
        rows.to_pylist()
    with pytest.raises(type(expected.value)):
        rows_of(rows)
