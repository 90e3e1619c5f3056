"""115 records made by hand from plain numbers, block by block.

Offsets, widths and kinds are those of the fact table in `facts/layouts.csv`; nothing here asks the
package how a block looks.
"""

from __future__ import annotations

import csv
import datetime as dt
import struct
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from smfparse import printing, reports
from smfparse.catalog import Catalog
from smfparse.sections import Sections
from smfparse.tables import open_inputs
from tests.builders import NOTHING, Section, ebcdic, qwhs_long, smf_record, stck, stub

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
STRUCTURE = 64
"""Bytes of a structure in QEST."""
START = dt.datetime(2022, 6, 29, 21, 13, 20)
"""When an interval starts, local time, unless told otherwise."""


@cache
def facts() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    """Return the rows of the fact table by block and field."""
    found: dict[str, dict[str, Mapping[str, str]]] = defaultdict(dict)
    with (Path(__file__).parent / "facts" / "layouts.csv").open(newline="") as lines:
        for row in csv.DictReader(lines):
            found[row["block"]][row["field"]] = row
    return found


def block(name: str, length: int | None = None, **values: Any) -> bytes:
    """A block of `length` bytes: what a shorter one does not hold is left out.

    values  numbers, texts, microseconds of durations, UTC moments, bits by their names; a list of
            them where a field is an array
    """
    length = length or LENGTHS[name]
    data = bytearray(struct.pack(">HH", 0, length) + ebcdic(name, 4)).ljust(4200, b"\0")
    _put(data, name, values, 0)
    return bytes(data[:length])


def structures(*entries: Mapping[str, Any]) -> bytes:
    """A QEST with structures in its first slots."""
    data = bytearray(block("QEST"))
    for number, values in enumerate(entries):
        _put(data, "QEST", values, number * STRUCTURE)
    return bytes(data)


def _put(data: bytearray, name: str, values: Mapping[str, Any], shift: int) -> None:
    for field, value in values.items():
        row = facts()[name][field]
        width = int(row["width"])
        for number, each in enumerate(value if isinstance(value, list) else [value]):
            at = shift + int(row["offset"]) + number * width
            data[at : at + width] = _packed(each, row, width)


def _packed(value: Any, row: Mapping[str, str], width: int) -> bytes:
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


def rows(name: str, *paths: Any, sections: Sections | None = None) -> list[dict[str, Any]]:
    """Run a report over inputs."""
    with Catalog(open_inputs(paths)) as catalog:
        return list(reports.run(reports.report(name), catalog, sections))


def lines(
    name: str, paths: Sequence[Any], form: str = "text", sections: Sections | None = None
) -> list[str]:
    """Return the lines of a report over inputs."""
    found = rows(name, *paths, sections=sections)
    return list(printing.lines(reports.report(name), found, form))
