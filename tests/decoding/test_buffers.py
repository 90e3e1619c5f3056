"""Column buffers that use memory again: never while anybody refers to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.decoding.growing import Growing
from smfparse.inputs import Log, ReadOptions
from smfparse.inputs.range import Range
from smfparse.limits import Limits
from smfparse.reading import Input
from smfparse.tables import table_names, wanted_tables
from smfparse.vectors import not_zero, same
from tests.support.mixed_records import many, written
from tests.support.searching import search

ALL = wanted_tables(table_names())
SMALL = Limits(chunk_bytes=8192, max_spanned=4096, epoch_bytes=8192, epoch_cells=1 << 14)


@given(
    steps=st.lists(st.tuples(st.integers(0, 400), st.sampled_from(["", "keep", "drop"]))),
)
@search(30)
def test_memory_that_was_taken_keeps_what_is_in_it(steps: list[tuple[int, str]]) -> None:
    growing, kept = Growing("i8", 2), []
    written_since = np.zeros((2, 0), np.int64)
    for number, (rows, take) in enumerate(steps):
        growing.more(rows)[:] = number
        written_since = np.hstack([written_since, np.full((2, rows), number)])
        if take:
            taken = growing.take()
            np.testing.assert_array_equal(taken, written_since)
            if take == "keep":
                kept.append((taken[1, ::2], written_since[1, ::2]))
            del taken
            written_since = written_since[:, :0]
    for view, expected in kept:
        np.testing.assert_array_equal(view, expected)


def address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def filled(growing: Growing, rows: int, value: int) -> Any:
    growing.more(rows)[:] = value
    return growing.take()


def test_memory_is_used_again_when_nobody_refers_to_it() -> None:
    growing = Growing("i8")
    first = address(filled(growing, 1000, 1))
    assert address(filled(growing, 1000, 2)) == first
    taken = filled(growing, 100_000, 3)  # the first one is too small
    assert set(taken.tolist()) == {3}


REFERENCES: list[tuple[Callable[[Any], Any], Callable[[Any], list[int]]]] = [
    (lambda taken: taken, lambda held: held.tolist()),
    (lambda taken: taken[10:20], lambda held: held.tolist()),
    (lambda taken: taken.view("f8"), lambda held: held.view("i8").tolist()),
    (memoryview, lambda held: held.tolist()),
    (pa.py_buffer, lambda held: np.frombuffer(held, "i8").tolist()),
    (pa.array, lambda held: held.to_pylist()),
    (
        lambda taken: pa.Array.from_buffers(pa.int64(), 1000, [None, pa.py_buffer(taken)])[5:],
        lambda held: held.to_pylist(),
    ),
    (lambda taken: pl.Series(pa.array(taken)), lambda held: held.to_list()),
    (
        lambda taken: pl.DataFrame({"a": pa.array(taken)}).slice(3, 4).lazy(),
        lambda held: held.collect()["a"].to_list(),
    ),
    (
        lambda taken: duckdb.connect().from_arrow(pa.table({"a": pa.array(taken)})),
        lambda held: [value for (value,) in held.fetchall()],
    ),
]


def test_memory_is_not_used_again_while_something_refers_to_it() -> None:
    for refer, values in REFERENCES:
        growing = Growing("i8")
        held = refer(filled(growing, 1000, 1))
        for value in range(2, 6):
            filled(growing, 1000, value)
        assert set(values(held)) == {1}, type(held)


def test_taking_nothing_again_and_again_keeps_nothing() -> None:
    growing = Growing("i8")
    for _ in range(10):
        growing.take()
    assert growing._taken == []


@given(
    places=st.lists(st.integers(0, 300), max_size=20),
    width=st.integers(1, 40),
    bits=st.sets(st.integers(0, 339), max_size=6),
    in_order=st.booleans(),
)
@search(60)
def test_bytes_that_are_not_zero_are_found_wherever_blocks_lie(
    places: list[int], width: int, bits: set[int], in_order: bool
) -> None:
    """Blocks that hostile triplets give overlap and need not ascend."""
    buffer = np.zeros(340, np.uint8)
    buffer[list(bits)] = 1
    places = sorted(places) if in_order else places
    expected = [bool(buffer[at : at + width].any()) for at in places]
    assert not_zero(buffer, np.array(places, np.int64), width).tolist() == expected


def test_indices_of_texts_that_are_all_the_same_are_as_many_as_asked() -> None:
    assert [len(same(rows)) for rows in (3, 100_000, 0, 7)] == [3, 100_000, 0, 7]
    assert not same(200_001).any()


@pytest.fixture
def long_file(tmp_path: Path) -> Path:
    """A file that gives many batches of each table."""
    path = tmp_path / "long.smf"
    path.write_bytes(written(many(400, 4))[0])
    return path


def batches(path: Path) -> Iterator[tuple[str, Any]]:
    options = ReadOptions(limits=SMALL)
    return Range(Input(path, str(path), limits=SMALL), ALL, options=options).batches(Log())


@pytest.mark.slow
def test_batches_and_columns_and_slices_that_are_held_stay_as_they_were(long_file: Path) -> None:
    held, alone, columns, frames, slices, expected = [], [], [], [], [], []
    for table, batch in batches(long_file):
        held.append((table, batch))
        alone.append((table, batch.to_pylist()))
    assert [(table, batch.to_pylist()) for table, batch in held] == alone
    assert len(held) > 50
    del held
    for _, batch in batches(long_file):
        expected.append(batch.column("record_no").to_pylist())
        columns.append(batch.column("record_no"))
        frames.append(pl.DataFrame(batch.select(["record_no"])))
        slices.append(batch.slice(batch.num_rows // 2).column("record_no"))
        del batch
    assert [each.to_pylist() for each in columns] == expected
    assert [each["record_no"].to_list() for each in frames] == expected
    assert [each.to_pylist() for each in slices] == [each[len(each) // 2 :] for each in expected]
