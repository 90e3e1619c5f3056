"""Column buffers that use memory again: never while anybody refers to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from smfparse.decoding.growing import Growing
from smfparse.vectors import not_zero
from tests.support.searching import search


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
