"""Control blocks made by hand from plain values, at the offsets of the fact table."""

from __future__ import annotations

import csv
import struct
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from typing import Any

from tests.support.builders import ebcdic, stck
from tests.support.paths import FACTS

_FACTS = FACTS / "layouts.csv"


@cache
def facts() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    """Return the rows of the fact table by block and field."""
    found: dict[str, dict[str, Mapping[str, str]]] = defaultdict(dict)
    with _FACTS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found[row["block"]][row["field"]] = row
    return found


def fact_block(name: str, length: int, shift: int = 0, **values: Any) -> bytes:
    """Return a block of `length` bytes: what a shorter one does not hold is left out.

    Fields that are not named are zero, but length and eye-catcher where the block has them.

    shift   bytes that the fields are behind their own offsets: those of an entry of an array
    values  numbers, texts, microseconds of durations, moments, bits by their names, or bytes; a
            list of them where a field is an array
    """
    data = bytearray(max(length, 4200))
    if _has_eyecatcher(name):
        struct.pack_into(">HH4s", data, 0, 0, length, ebcdic(name, 4))
    for field, value in values.items():
        row = facts()[name][field]
        width = int(row["width"])
        for number, each in enumerate(value if isinstance(value, list) else [value]):
            at = shift + int(row["offset"]) + number * width
            data[at : at + width] = _packed(each, row, width)
    return bytes(data[:length])


def _has_eyecatcher(name: str) -> bool:
    return any(row["kind"] == "ebcdic" and row["offset"] == "4" for row in facts()[name].values())


def _packed(value: Any, row: Mapping[str, str], width: int) -> bytes:
    if isinstance(value, bytes):
        return value
    match row["kind"]:
        case "ebcdic":
            return ebcdic(value, width)
        case "stck_duration":
            return struct.pack(">Q", round(value * 4096))
        case "stck_timestamp":
            return struct.pack(">Q", stck(value) if value else 0)
        case "flags":
            bits = dict(each.split("=") for each in row["bits"].split(";"))
            return sum(int(bits[each], 16) for each in value.split()).to_bytes(width)
        case kind:
            return int(value).to_bytes(width, signed=kind == "int")
