"""115 records made by hand from plain numbers, block by block."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

from tests.support.builders import NOTHING, Section, qwhs_long, smf_record, stub
from tests.support.fact_blocks import fact_block

LENGTHS = {
    "QMST": 104,
    "QIST": 80,
    "QLST": 32,
    "Q5ST": 672,
    "QEST": 4104,
    "QTST": 96,
    "QESD": 336,
    "QPST": 104,
    "QIS1": 104,
    "QSST": 72,
    "QSPH": 88,
    "QSGM": 48,
    "QSRS": 232,
    "QQST": 84,
}
"""Length of a block unless told otherwise."""
PLACES = {
    "QSST": (1, 9),
    "QMST": (2, 1),
    "QIST": (2, 2),
    "QLST": (2, 4),
    "Q5ST": (2, 5),
    "QEST": (2, 6),
    "QTST": (2, 7),
    "QESD": (2, 8),
    "QIS1": (201, 1),
    "QPST": (215, 1),
    "QQST": (216, 1),
    "QSPH": (5, 1),
    "QSGM": (6, 1),
    "QSRS": (7, 1),
}
"""Subtype and triplet of a block."""
QEST_HEADER, STRUCTURE = 8, 64
"""Bytes of the header of QEST, and of a structure in it."""
START = dt.datetime(2022, 6, 29, 21, 13, 20)
"""When an interval starts, local time, unless told otherwise."""


def block(name: str, length: int | None = None, **values: Any) -> bytes:
    """A block of a length that it has since long, or of another; values as `fact_block` says."""
    return fact_block(name, length or LENGTHS[name], **values)


def structures(*entries: Mapping[str, Any]) -> bytes:
    """A QEST with structures in its first slots."""
    data = block("QEST")
    for number, values in enumerate(entries):
        at = QEST_HEADER + number * STRUCTURE
        entry = fact_block("QEST", len(data), number * STRUCTURE, **values)
        data = data[:at] + entry[at : at + STRUCTURE] + data[at + STRUCTURE :]
    return data


def record(
    *blocks: bytes,
    start: dt.datetime = START,
    seconds: float = 1,
    release: str = "930",
    system: str = "MVAA",
    qmgr: str = "VTS1",
) -> bytes:
    """A record with blocks of one kind; `start` of the interval is local time, which is UTC."""
    name = blocks[0][4:8].decode("cp500")
    subtype, triplet = PLACES[name]
    end = start + dt.timedelta(seconds=seconds)
    area = stub()
    if subtype not in (5, 6, 7):
        micros = round(seconds * 1e6)
        area = qwhs_long(end.replace(tzinfo=dt.UTC), start, micros, triplets=triplet + 1)
    before = [NOTHING] * (triplet - 1)
    keys = {"system": system, "qmgr": qmgr, "release": release}
    return smf_record(115, subtype, *before, Section(blocks), area=area, local=end, **keys)
