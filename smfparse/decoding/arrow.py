"""Arrow schemas of requested tables and columns, and arrays from the bytes of their fields."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from smfparse.decoding.dictionary import (
    RECORD,
    TABLES,
    columns,
    table_names,
    title,
    with_fingerprints,
)
from smfparse.errors import RequestError
from smfparse.layout.clocks import LOCAL_TIMESTAMP, TIMESTAMP
from smfparse.layout.columns import Part
from smfparse.layout.kinds import (
    BLANK,
    ENCODING,
    WIDE_DIGITS,
    Hex,
    Kind,
    Mask,
    Raw,
    Shown,
    Text,
    Values,
)
from smfparse.vectors import Bools, both, distinct, strings

Wanted: TypeAlias = Mapping[str, frozenset[str] | None]
"""Requested columns of each requested table; None: all columns."""
Batch: TypeAlias = Any
"""A pyarrow.RecordBatch."""

DECIMAL = f"decimal128({WIDE_DIGITS}, 0)"
"""Name of the Arrow type for numbers of more than 64 bits."""
_NOTHING: frozenset[str] = frozenset()


@cache
def arrow_type(name: str) -> Any:
    """Return the Arrow type that `Shown.arrow` names."""
    named = {
        TIMESTAMP: pa.timestamp("us", tz="UTC"),
        LOCAL_TIMESTAMP: pa.timestamp("us"),
        DECIMAL: pa.decimal128(WIDE_DIGITS, 0),
    }
    return named.get(name) or pa.type_for_alias(name)


CODED = pa.dictionary(pa.int32(), pa.string())
"""Arrow type of decoded text columns: each distinct text is stored once."""


def wanted_tables(names: Iterable[str]) -> Wanted:
    """Return `Wanted` for all columns of tables. Raises RequestError for an unknown table."""
    found = [each.lower() for each in names]
    unknown = sorted(set(found) - set(table_names()))
    if unknown:
        raise RequestError(
            f"no table {', '.join(unknown)}; views are read with SQL, as smfparse sql INPUT "
            f'"FROM {unknown[0]}" --format csv --output {unknown[0]}.csv; '
            f"tables are {', '.join(table_names())}"
        )
    return dict.fromkeys(found)


def wanted_columns(table: str, names: Iterable[str]) -> list[str]:
    """Return `names` without repeated names. Raises RequestError for a column not in the table."""
    known = whole_schema(table).names
    found = list(dict.fromkeys(names))
    for each in found:
        if each not in known:
            near = ", ".join(difflib.get_close_matches(each.lower(), known))
            hint = f"near: {near}" if near else f"smfparse describe {table} lists them"
            raise RequestError(f"the table {table} has no column {each}; {hint}")
    return found


@cache
def every_block() -> Wanted:
    """Return `Wanted` that finds all damage: every block is located, and no column is decoded."""
    first = {each.block.name: name for name, each in reversed(TABLES.items())}
    return {RECORD: _NOTHING, **dict.fromkeys(first.values(), _NOTHING)}


def schema(table: str) -> Any:
    """Return the Arrow schema of a table, with description, unit and MQ version of each column."""
    return plain_schema(table)


def whole_schema(table: str) -> Any:
    """Return the schema of a table, including the columns that exist only on request."""
    return plain_schema(table, with_fingerprints(table))


@cache
def coded_schema(table: str, wanted: frozenset[str] | None = None) -> Any:
    """Return the schema of decoded batches: as `plain_schema`, with dictionaries for texts."""
    plain = plain_schema(table, wanted)
    fields = [
        plain.field(each.name).with_type(CODED) if each.coded else plain.field(each.name)
        for each in columns(table, wanted)
    ]
    return pa.schema(fields, metadata=plain.metadata)


SIGNED = {
    pa.uint8(): pa.int32(),
    pa.uint16(): pa.int32(),
    pa.int16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}
"""Signed type for each type that some engines do not support, large enough for all values."""


def signed(schema: Any) -> Any:
    """Return a schema with signed types, for engines without unsigned numbers."""
    fields = [each.with_type(SIGNED.get(each.type, each.type)) for each in schema]
    return pa.schema(fields, metadata=schema.metadata)


@cache
def plain_schema(table: str, wanted: frozenset[str] | None = None) -> Any:
    """Return the schema of columns of a table, in the order of the table.

    wanted  names of the columns; None: all except columns on request
    """
    fields = [
        pa.field(each.name, arrow_type(each.arrow), metadata=each.metadata)
        for each in columns(table, wanted)
    ]
    return pa.schema(fields, metadata={"description": title(table)})


def chosen(tables: Iterable[str], names: Iterable[str]) -> Wanted:
    """Return `Wanted` for columns of tables. Raises RequestError for an unknown name.

    tables  names of tables; empty: all
    names   names of columns; empty: all. Each table is requested with the columns that it has
    """
    wanted = wanted_tables([*tables] or table_names())
    asked = frozenset(names)
    if not asked:
        return wanted
    known = {table: asked & set(whole_schema(table).names) for table in wanted}
    unknown = asked - frozenset().union(*known.values())
    if unknown:
        raise RequestError(
            f"no column {', '.join(sorted(unknown))} in {', '.join(wanted)}; see smfparse describe"
        )
    return {table: names for table, names in known.items() if names}


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
    """Return EBCDIC texts as UTF-8 without trailing blanks and NULs, like `Text.spell`.

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
