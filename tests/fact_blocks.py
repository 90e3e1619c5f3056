"""Control blocks made by hand from plain values, at the offsets of the fact table."""

from __future__ import annotations

import csv
import datetime as dt
import struct
from functools import cache
from pathlib import Path
from typing import Any

from tests.builders import ebcdic, stck

_FACTS = Path(__file__).resolve().parent / "facts" / "layouts.csv"


@cache
def _fields(block: str) -> dict[str, tuple[int, int, str]]:
    """Return offset, width and kind of the fields of a block."""
    with _FACTS.open(encoding="utf-8", newline="") as file:
        return {
            row["field"]: (int(row["offset"]), int(row["width"]), row["kind"])
            for row in csv.DictReader(file)
            if row["block"] == block
        }


def fact_block(name: str, length: int, ident: int = 0, **values: Any) -> bytes:
    """Return a block of `length` bytes; all fields that are not named are zero.

    A text is a str, a moment a datetime, a duration its microseconds. Blocks with an eye-catcher
    have `ident` and their length in front of it.
    """
    fields = _fields(name)
    data = bytearray(length)
    if ident:
        struct.pack_into(">HH4s", data, 0, ident, length, ebcdic(name, 4))
    for field, value in values.items():
        offset, width, kind = fields[field]
        data[offset : offset + width] = _packed(value, width, kind)
    return bytes(data)


def _packed(value: Any, width: int, kind: str) -> bytes:
    if isinstance(value, bytes):
        return value
    if kind == "ebcdic":
        return ebcdic(value, width)
    if isinstance(value, dt.datetime):
        return stck(value).to_bytes(8)
    if kind == "stck_duration":
        return round(value * 4096).to_bytes(width)
    return int(value).to_bytes(width, signed=value < 0)
