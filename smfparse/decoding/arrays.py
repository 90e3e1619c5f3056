"""From bytes of fields to Arrow arrays, column by column."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from smfparse.layout.kinds import Kind, Mask, Raw, Shown, Values
from smfparse.layout.members import Part
from smfparse.layout.numbers import WIDE_DIGITS
from smfparse.layout.texts import BLANK, ENCODING, Hex, Text
from smfparse.tables.arrow import DECIMAL, arrow_type
from smfparse.vectors import Bools, both, distinct, strings

_HEX_DIGITS = np.frombuffer("".join(f"{byte:02X}" for byte in range(256)).encode(), np.uint16)
_TOP = divmod(10**WIDE_DIGITS, 1 << 64)
_CHARACTERS = bytes(range(256)).decode(ENCODING).encode("latin-1")
"""Latin-1 character of each EBCDIC byte."""
_NO_BLANKS = bytes(range(256)).replace(BLANK, b"\0")
"""All bytes, with NUL in place of a blank, because numpy ignores NULs at the end of a string."""


def shown_array(shown: Shown, values: Values, valid: Mask) -> Any:
    """Return the array of one column for values of a numeric kind; NULL where `valid` is false."""
    if shown.arrow == DECIMAL:
        return _wide_array(values, valid)
    if shown.vector is None:
        return _word_array(shown, values, valid)
    return array(shown.arrow, shown.vector(values), valid)


def kind_array(kind: Kind, raw: Raw, held: Mask) -> Any:
    """Return the array of a column of text or opaque bytes; NULL where `held` is false.

    raw   uint8 (rows, width of the kind)
    """
    if isinstance(kind, Text):
        return _text_array(raw, held)
    if isinstance(kind, Hex):
        return hex_array(raw, held)
    if isinstance(kind, Part):
        return _part_array(kind, raw, held)
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


def _text_array(raw: Raw, held: Mask) -> Any:
    indices, each = distinct(raw)
    return coded(indices, _spelled(each), held)


def _part_array(kind: Part, raw: Raw, held: Mask) -> Any:
    """Return the array of a part of a field: NULL where the part is missing or blank."""
    found, exists = kind.picked(raw)
    valid = both(exists, held)
    if isinstance(kind.inner, Text):
        named: Bools = np.any(~np.isin(found, (0, BLANK[0])), axis=1)
        return _text_array(found, both(valid, named))
    values, present = kind.inner.values(np.ascontiguousarray(found))
    return array(kind.shown[0].arrow, values, both(valid, present))


def _spelled(raw: Raw) -> Any:
    """Return EBCDIC texts as UTF-8 without trailing blanks and NULs, like the scalar decoder.

    Characters from U+0080 to U+00FF have two bytes in UTF-8.
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
    return coded(indices, strings(map(shown.cell, codes)), valid)


def hex_array(raw: Raw, held: Mask) -> Any:
    """Return opaque bytes, uint8 (rows, width), in hexadecimal; NULL where `held` is false."""
    rows, width = raw.shape
    data = pa.py_buffer(_HEX_DIGITS.take(raw))
    offsets = pa.py_buffer(np.arange(rows + 1, dtype=np.int32) * np.int32(2 * width))
    return pa.StringArray.from_buffers(rows, offsets, data, _bitmap(held))


def _wide_array(values: NDArray[np.uint64], valid: Mask) -> Any:
    high, low = values[:, 0], values[:, 1]
    fits = (high < _TOP[0]) | ((high == _TOP[0]) & (low < _TOP[1]))
    little_endian = np.ascontiguousarray(values[:, ::-1])
    return pa.Array.from_buffers(
        arrow_type(DECIMAL),
        len(values),
        [_bitmap(both(fits, valid)), pa.py_buffer(little_endian)],
    )
