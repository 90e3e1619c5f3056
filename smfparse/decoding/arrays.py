"""Bytes of fields to Arrow arrays, a column at a time."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from smfparse.layout import (
    BLANK,
    ENCODING,
    LOCAL_TIMESTAMP,
    TIMESTAMP,
    WIDE_DIGITS,
    Hex,
    Kind,
    Mask,
    Raw,
    Shown,
    Text,
    Values,
)

Bytes: TypeAlias = NDArray[np.uint8]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]

_DECIMAL = f"decimal128({WIDE_DIGITS}, 0)"
_HEX_DIGITS = np.frombuffer("".join(f"{byte:02X}" for byte in range(256)).encode(), np.uint16)
_TOP = divmod(10**WIDE_DIGITS, 1 << 64)
_CHARACTERS = bytes(range(256)).decode(ENCODING).encode("latin-1")
"""The character of each EBCDIC byte: all are among the first 256 of Unicode."""
_NO_BLANKS = bytes(range(256)).replace(BLANK, b"\0")
"""Each byte, but a NUL for a blank: numpy's strings end before the NULs at their end."""
_zeros = np.zeros(0, np.int32)
_FEW = 64
"""Rows that mostly tell already whether all are the same."""
WORDS = (1, 2, 4, 8)
"""Widths for which there are numbers."""


@cache
def arrow_type(name: str) -> Any:
    """Return the Arrow type that `Shown.arrow` names."""
    named = {
        TIMESTAMP: pa.timestamp("us", tz="UTC"),
        LOCAL_TIMESTAMP: pa.timestamp("us"),
        _DECIMAL: pa.decimal128(WIDE_DIGITS, 0),
    }
    return named.get(name) or pa.type_for_alias(name)


CODED = pa.dictionary(pa.int32(), pa.string())
"""Type of text columns as they are decoded: each distinct text once."""


def gather(buffer: Bytes, at: Ints, width: int) -> Raw:
    """Copy `width` bytes from each position `at`: shape (positions, width)."""
    windows = np.ndarray((buffer.size - width + 1,), f"V{width}", buffer, strides=(1,))
    return windows[at].view(np.uint8).reshape(-1, width)


def not_zero(buffer: Bytes, at: Ints, width: int) -> NDArray[np.bool_]:
    """Return which of the `width` bytes at positions `at`, that ascend, are not all zero.

    Where they lie close together they are looked at in place: faster than copying them together.
    """
    if not len(at):
        return np.zeros(0, np.bool_)
    start, end = int(at[0]), int(at[-1]) + width
    if 2 * len(at) * width < end - start or (np.diff(at) < width).any():
        copied: NDArray[np.bool_] = gather(buffer, at, width).view(np.bool_)
        found: NDArray[np.bool_] = np.logical_or.reduce(copied, axis=1)
        return found
    edges = np.stack([at - start, at - start + width], axis=1).reshape(-1)[:-1]
    largest: Bytes = np.maximum.reduceat(buffer[start:end], edges)[::2]
    return largest > 0


def both(first: Mask, second: Mask) -> Mask:
    """Return where both masks are true; None is true everywhere."""
    if first is None:
        return second
    return first if second is None else first & second


def shown_array(shown: Shown, values: Values, valid: Mask) -> Any:
    """Return the array of one column of a numeric kind's values; NULL where `valid` is false."""
    if shown.arrow == _DECIMAL:
        return _wide_array(values, valid)
    if shown.vector is None:
        return _word_array(shown, values, valid)
    return array(shown.arrow, shown.vector(values), valid)


def kind_array(kind: Kind, raw: Raw, held: Mask) -> Any:
    """Decode a column of text or opaque bytes; NULL where `held` is false.

    raw   uint8 (rows, width of the kind)
    """
    if isinstance(kind, Text):
        return _text_array(raw, held)
    if isinstance(kind, Hex):
        return _hex_array(raw, held)
    raise TypeError(f"{kind!r} has no column")


def array(arrow: str, values: Values, valid: Mask) -> Any:
    """Return `values` as an Arrow array of the named type, NULL where `valid` is false."""
    rows = len(values)
    if arrow == "bool":
        values = np.packbits(values, bitorder="little")
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(arrow_type(arrow), rows, [_bitmap(valid), data])


def _bitmap(valid: Mask) -> Any:
    return None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))


def coded(indices: Values, words: Any, valid: Mask) -> Any:
    """Return the array of texts `words[indices]`, NULL where `valid` is false; see CODED."""
    return pa.DictionaryArray.from_arrays(array("int32", indices, valid), words, safe=False)


def same(rows: int) -> Values:
    """Return the indices of `rows` texts that are all the first: int32 zeros, always the same ones.

    They are not to be written to.
    """
    global _zeros
    zeros = _zeros  # another thread may put fewer there meanwhile
    if rows > len(zeros):
        zeros = _zeros = np.zeros(rows * 2, np.int32)
    return zeros[:rows]


def distinct(raw: Raw) -> tuple[Values, Raw]:
    """Return for each row of `raw` which distinct one it is, and those in order of appearance."""
    raw = np.ascontiguousarray(raw)
    rows, width = raw.shape
    if rows and _all_same(raw):
        return same(rows), raw[:1]
    kind = pa.from_numpy_dtype(np.dtype(f"u{width}")) if width in WORDS else pa.binary(width)
    found = pa.Array.from_buffers(kind, rows, [None, pa.py_buffer(raw)]).dictionary_encode()
    data = found.dictionary.buffers()[1]
    each = np.frombuffer(data, np.uint8, len(found.dictionary) * width) if data else raw[:0]
    return found.indices.to_numpy(), each.reshape(-1, width)


def _all_same(raw: Raw) -> bool:
    width = raw.shape[1]
    if width in WORDS:
        numbers = raw.view(f"u{width}")[:, 0]
        return bool((numbers == numbers[0]).all())
    return bool((raw[:_FEW] == raw[0]).all() and (raw == raw[0]).all())


def _text_array(raw: Raw, held: Mask) -> Any:
    indices, each = distinct(raw)
    return coded(indices, _spelled(each), held)


def _spelled(raw: Raw) -> Any:
    """Decode EBCDIC texts to UTF-8 without trailing blanks and NULs, as the scalar rule does.

    A character of the upper half of the first 256 of Unicode is two bytes.
    """
    rows, width = raw.shape
    data = raw.tobytes()
    lengths = np.strings.str_len(np.frombuffer(data.translate(_NO_BLANKS), f"S{width}"))
    inside = np.arange(width, dtype=np.int16) < lengths.astype(np.int16)[:, None]
    text = np.frombuffer(data.translate(_CHARACTERS), np.uint8).reshape(rows, width)
    high = text >> 7 != 0
    if high.any():
        inside = np.stack([inside & high, inside], axis=2)
        text = np.stack([0xC0 | text >> 6, np.where(high, 0x80 | text & 0x3F, text)], axis=2)
        lengths = inside.sum(axis=(1, 2))
    offsets = np.append(0, np.cumsum(lengths)).astype(np.int32)
    return pa.StringArray.from_buffers(rows, pa.py_buffer(offsets), pa.py_buffer(text[inside]))


def _word_array(shown: Shown, values: Values, valid: Mask) -> Any:
    indices, each = distinct(values.view(np.uint8).reshape(len(values), values.itemsize))
    codes = each.view(values.dtype)[:, 0].tolist()
    return coded(indices, pa.array([shown.cell(code) for code in codes], pa.string()), valid)


def _hex_array(raw: Raw, held: Mask) -> Any:
    rows, width = raw.shape
    data = pa.py_buffer(_HEX_DIGITS.take(raw))
    offsets = pa.py_buffer(np.arange(rows + 1, dtype=np.int32) * np.int32(2 * width))
    return pa.StringArray.from_buffers(rows, offsets, data, _bitmap(held))


def _wide_array(values: NDArray[np.uint64], valid: Mask) -> Any:
    high, low = values[:, 0], values[:, 1]
    fits = (high < _TOP[0]) | ((high == _TOP[0]) & (low < _TOP[1]))
    little_endian = np.ascontiguousarray(values[:, ::-1])
    return pa.Array.from_buffers(
        arrow_type(_DECIMAL),
        len(values),
        [_bitmap(both(fits, valid)), pa.py_buffer(little_endian)],
    )
