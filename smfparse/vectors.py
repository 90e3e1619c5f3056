"""Functions for numpy and Arrow arrays: copy, compare and number rows of bytes in a buffer."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Bytes: TypeAlias = NDArray[np.uint8]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]

NUMBER_WIDTHS = (1, 2, 4, 8)
"""Widths in bytes for which numpy has a number type."""
_zeros = np.zeros(0, np.int32)
_FEW = 64
"""Number of first rows that are compared before all rows."""
_DICTIONARY = 1024
"""Maximum number of rows for which a dict is faster than loading the functions of Arrow."""
_FUNCTIONS = "pyarrow.compute"


def strings(texts: Iterable[str]) -> Any:
    """Return texts as an Arrow array, without pa.array, which would load an installed pandas."""
    parts = [each.encode() for each in texts]
    ends = pa.py_buffer(np.cumsum([0, *map(len, parts)], dtype=np.int32))
    return pa.StringArray.from_buffers(len(parts), ends, pa.py_buffer(b"".join(parts)))


def microseconds(times: Any) -> tuple[Ints, Bools]:
    """Return the numbers of an Arrow array of times, and which times are not NULL.

    pyarrow.compute is not used, because it loads slowly.
    """
    valid, data = times.buffers()
    some = slice(times.offset, times.offset + len(times))
    numbers = np.frombuffer(data, np.int64)[some]
    if not times.null_count:
        return numbers, np.ones(len(numbers), np.bool_)
    bits = np.unpackbits(np.frombuffer(valid, np.uint8), bitorder="little")
    return numbers, bits[some].astype(np.bool_)


def gather(buffer: Bytes, at: Ints, width: int) -> Bytes:
    """Copy `width` bytes from each position `at`: shape (positions, width)."""
    windows = np.ndarray((buffer.size - width + 1,), f"V{width}", buffer, strides=(1,))
    return windows[at].view(np.uint8).reshape(-1, width)


def each_of(at: Ints, width: int) -> Ints:
    """Return `width` consecutive positions, beginning with each of `at`: (positions, width)."""
    return at[:, None] + np.arange(width)


def not_zero(buffer: Bytes, at: Ints, width: int) -> Bools:
    """Return for each position whether any of the `width` bytes from it on is not zero.

    at  positions, ascending; if they are close together, bytes are tested without a copy
    """
    if not len(at):
        return np.zeros(0, np.bool_)
    start, end = int(at[0]), int(at[-1]) + width
    if 2 * len(at) * width < end - start or (np.diff(at) < width).any():
        copied: Bools = gather(buffer, at, width).view(np.bool_)
        found: Bools = np.logical_or.reduce(copied, axis=1)
        return found
    edges = np.stack([at - start, at - start + width], axis=1).reshape(-1)[:-1]
    largest: Bytes = np.maximum.reduceat(buffer[start:end], edges)[::2]
    return largest > 0


def both(first: Bools | None, second: Bools | None) -> Bools | None:
    """Return the mask of rows for which both masks are true; None is true for all rows."""
    if first is None:
        return second
    return first if second is None else first & second


def same(rows: int) -> NDArray[np.int32]:
    """Return `rows` zeros: the indexes of distinct values if all rows are equal.

    All callers share one array of zeros: do not write to the result.
    """
    global _zeros
    zeros = _zeros  # another thread may replace _zeros by a shorter array
    if rows > len(zeros):
        zeros = _zeros = np.zeros(rows * 2, np.int32)
    return zeros[:rows]


def distinct(rows: Bytes) -> tuple[NDArray[np.int32], Bytes]:
    """Return for each row the index of its value, and the distinct values in order of appearance.

    rows  uint8 (rows, width)
    """
    rows = np.ascontiguousarray(rows)
    count, width = rows.shape
    if count and _all_same(rows):
        return same(count), rows[:1]
    if count <= _DICTIONARY and _FUNCTIONS not in sys.modules:
        return _distinct_few(rows)
    kind = (
        pa.from_numpy_dtype(np.dtype(f"u{width}")) if width in NUMBER_WIDTHS else pa.binary(width)
    )
    found = pa.Array.from_buffers(kind, count, [None, pa.py_buffer(rows)]).dictionary_encode()
    data = found.dictionary.buffers()[1]
    each = np.frombuffer(data, np.uint8, len(found.dictionary) * width) if data else rows[:0]
    # to_numpy would load an installed pandas
    places: NDArray[np.int32] = np.from_dlpack(found.indices).view(np.int32)
    return places, each.reshape(-1, width)


def _distinct_few(rows: Bytes) -> tuple[NDArray[np.int32], Bytes]:
    """Return the result of `distinct`, without loading the functions of Arrow."""
    places: dict[bytes, int] = {}
    found = [places.setdefault(row.tobytes(), len(places)) for row in rows]
    each = np.frombuffer(b"".join(places), np.uint8).reshape(-1, rows.shape[1])
    return np.array(found, np.int32), each


def _all_same(rows: Bytes) -> bool:
    width = rows.shape[1]
    if width in NUMBER_WIDTHS:
        numbers = rows.view(f"u{width}")[:, 0]
        return bool((numbers == numbers[0]).all())
    return bool((rows[:_FEW] == rows[0]).all() and (rows == rows[0]).all())
