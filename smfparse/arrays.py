"""Bytes of fields to Arrow arrays, a column at a time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from smfparse.fields import (
    LOCAL_TIMESTAMP,
    TIMESTAMP,
    WIDE_DIGITS,
    Hex,
    Kind,
    Mask,
    Numeric,
    Part,
    Raw,
    Text,
    Values,
)
from smfparse.framing import Bytes, Ints

_DECIMAL = f"decimal128({WIDE_DIGITS}, 0)"
_HEX_DIGITS = np.array([list(f"{byte:02X}".encode()) for byte in range(256)], np.uint8)
_TOP = divmod(10**WIDE_DIGITS, 1 << 64)


@cache
def arrow_type(name: str) -> Any:
    """Return the Arrow type that `Part.arrow` names."""
    named = {
        TIMESTAMP: pa.timestamp("us", tz="UTC"),
        LOCAL_TIMESTAMP: pa.timestamp("us"),
        _DECIMAL: pa.decimal128(WIDE_DIGITS, 0),
    }
    return named.get(name) or pa.type_for_alias(name)


def gather(buffer: Bytes, at: Ints, width: int) -> Raw:
    """Copy `width` bytes from each position `at`: shape (positions, width)."""
    windows = np.ndarray((buffer.size - width + 1,), f"V{width}", buffer, strides=(1,))
    return windows[at].view(np.uint8).reshape(-1, width)


def both(first: Mask, second: Mask) -> Mask:
    """Return where both masks are true; None is true everywhere."""
    if first is None:
        return second
    return first if second is None else first & second


def settled_arrays(kind: Numeric, parts: Sequence[Part], gathered: Values, held: Mask) -> list[Any]:
    """Settle gathered numbers and return the array of each part; NULL where `held` is false."""
    values, present = kind.settle(gathered)
    valid = both(present, held)
    return [_part_array(part, values, valid) for part in parts]


def kind_array(kind: Kind, raw: Raw, held: Mask) -> Any:
    """Decode a column of text or opaque bytes; NULL where `held` is false.

    raw   uint8 (rows, width of the kind)
    """
    if isinstance(kind, Text):
        return _text_array(kind, raw, held)
    if isinstance(kind, Hex):
        return _hex_array(raw, held)
    raise TypeError(f"{kind!r} has no column")


def _part_array(part: Part, values: Values, valid: Mask) -> Any:
    """Return the Arrow array of one part of a numeric kind's values."""
    if part.arrow == _DECIMAL:
        return _wide_array(values, valid)
    if part.vector is None:
        return _word_array(part, values, valid)
    return array(part.arrow, part.vector(values), valid)


def array(arrow: str, values: Values, valid: Mask) -> Any:
    """Return `values` as an Arrow array of the named type, NULL where `valid` is false."""
    if arrow == "bool":
        return pa.array(values, mask=inverse(valid))
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(arrow_type(arrow), len(values), [_bitmap(valid), data])


def _bitmap(valid: Mask) -> Any:
    return None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))


def _text_array(kind: Text, raw: Raw, held: Mask) -> Any:
    """Decode each distinct value once, by the scalar rule."""
    data = pa.py_buffer(np.ascontiguousarray(raw))
    fixed = pa.Array.from_buffers(pa.binary(kind.width), len(raw), [None, data])
    coded = fixed.dictionary_encode()
    words = pa.array([kind.spell(each) for each in coded.dictionary.to_pylist()], pa.string())
    return words.take(_masked(coded.indices, held))


def _masked(indices: Any, held: Mask) -> Any:
    if held is None:
        return indices
    return pa.array(indices.to_numpy(), mask=inverse(held))


def inverse(held: Mask) -> Mask:
    """Return where values are missing: what Arrow calls a mask."""
    return None if held is None else ~held


def _word_array(part: Part, values: Values, valid: Mask) -> Any:
    codes, indices = np.unique(values, return_inverse=True)
    words = pa.array([part.cell(code) for code in codes.tolist()], pa.string())
    return words.take(_masked(pa.array(indices), valid))


def _hex_array(raw: Raw, held: Mask) -> Any:
    rows, width = raw.shape
    data = pa.py_buffer(_HEX_DIGITS[raw])
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
