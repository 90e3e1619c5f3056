"""Blocks at the offsets of the fact table, made fast: where a field is, is worked out once."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from tests.support import smf
from tests.support.builders import ebcdic, stck

Put = Callable[[bytearray, int, Any], None]


@dataclass(frozen=True)
class Field:
    """A field of a block, and its value from one hour to another.

    of  number or name of the pool, page set, queue, channel, job or structure
    """

    block: str
    name: str
    value: float
    since: str = "0:00"
    until: str = "24:00"
    of: Any = None


class Planted:
    """Fields that are planted, by block; `at` gives those of an hour."""

    def __init__(self, fields: Sequence[Field], hour_of: Callable[[str], float]) -> None:
        self._of: dict[str, list[tuple[float, float, Field]]] = {}
        for each in fields:
            span = hour_of(each.since), hour_of(each.until), each
            self._of.setdefault(each.block, []).append(span)

    def at(self, hour: float, block: str, of: Any) -> dict[str, float]:
        """Return the fields of a block of an object in the interval with an hour in the middle."""
        return {
            each.name: each.value
            for since, until, each in self._of.get(block, ())
            if since <= hour < until and each.of in (None, of)
        }


def made(name: str, length: int, values: Mapping[str, Any]) -> bytearray:
    """Return a block; fields that are not named are zero."""
    data = bytearray(_empty(name, length))
    places = _places(name)
    for each, value in values.items():
        at, put = places[each]
        put(data, at, value)
    return data


@cache
def _empty(name: str, length: int) -> bytes:
    return smf.fact_block(name, length)


@cache
def _places(name: str) -> Mapping[str, tuple[int, Put]]:
    return {
        each: (int(row["offset"]), _putter(row["kind"], int(row["width"]), row["bits"]))
        for each, row in smf.facts()[name].items()
    }


def _putter(kind: str, width: int, bits: str) -> Put:
    if kind == "ebcdic":
        return lambda data, at, value: data.__setitem__(slice(at, at + width), ebcdic(value, width))
    if kind in ("bytes", "pad"):
        return lambda data, at, value: data.__setitem__(slice(at, at + len(value)), value)
    if kind == "flags":
        known = {each.split("=")[0]: int(each.split("=")[1], 16) for each in bits.split(";")}

        def flags(data: bytearray, at: int, value: str | float) -> None:
            bits = sum(map(known.get, value.split())) if isinstance(value, str) else int(value)
            data[at : at + width] = bits.to_bytes(width)

        return flags
    pack = struct.Struct({1: ">B", 2: ">H", 4: ">I", 8: ">Q"}[width]).pack_into
    if kind == "stck_duration":
        return lambda data, at, value: pack(data, at, round(value * 4096))
    if kind == "stck_timestamp":
        return lambda data, at, value: pack(data, at, stck(value) if value else 0)
    return lambda data, at, value: pack(data, at, round(value))
