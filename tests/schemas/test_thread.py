"""The thread cross-reference: transaction, PSB and task number, by connection type.

`facts/thread.csv` has the offsets of IBM's pages "Thread cross-reference data" and "Common MQ SMF
header". There the transaction is at byte 52 of the header area, in which QWHC is behind 36 bytes of
QWHS.
"""

from __future__ import annotations

import csv
import struct
from pathlib import Path
from typing import Any

import pytest

from smfparse.inputs import open_inputs
from tests.support import smf
from tests.support.builders import ebcdic, qwhc_of, qwhs_short, rdw
from tests.support.declared import BLOCKS
from tests.support.paths import FACTS

TYPES = range(1, 9)
"""Connection types of IBM's list."""
COLUMNS = ("transaction", "psb", "cics_task")
AREA = 36
"""Bytes of QWHS before QWHC."""
CODES = {"QWHC": 48, "WTID": 8}
"""Offset of the connection type."""
BLANK, ZERO = ebcdic("", 4), bytes(4)
NUMBERS = {
    b"\x00\x01\x04\x0c": 1040,
    b"\x99\x99\x99\x9f": 9_999_999,
    b"\x00\x00\x00\x0c": None,
    b"\x00\x00\x04\x10": 1040,
    b"\x00\x98\x96\x80": None,
    BLANK: None,
    ZERO: None,
    b"\x12\x3a\x00\x0c": None,
    b"\x00\x98\x96\x7f": 98967,
}
"""Bytes of the task number: packed decimals; what is none is binary, of up to seven digits."""


def _facts() -> list[dict[str, str]]:
    with (FACTS / "thread.csv").open(newline="") as lines:
        return list(csv.DictReader(lines))


FIELDS = _facts()


def block_of(name: str, kind: int, parts: dict[int, bytes]) -> bytes:
    data = bytearray(qwhc_of("JOB") if name == "QWHC" else smf.who("JOB"))
    struct.pack_into(">I", data, CODES[name], kind)
    for offset, value in parts.items():
        data[offset : offset + len(value)] = value
    return bytes(data)


def rows_of(name: str, blocks: list[bytes], path: Path) -> list[dict[str, Any]]:
    """Return what tables have of the blocks, which each are in a record, and parsed alone."""
    if name == "WTID":
        made = [smf.task_record(smf.task(), by=each) for each in blocks]
    else:
        made = [
            smf.connection_record(area=qwhs_short(smf.ENDED, triplets=7, qwhc=each))
            for each in blocks
        ]
    path.write_bytes(rdw(made))
    table = "wtid" if name == "WTID" else "qmac"
    found: list[dict[str, Any]] = open_inputs([path]).arrow(table).select(COLUMNS).to_pylist()
    alone = [BLOCKS[name].rows(BLOCKS[name].parse(each))[0] for each in blocks]
    assert found == [{column: row[column] for column in COLUMNS} for row in alone]
    return found


@pytest.mark.parametrize("name", CODES)
def test_parts_are_where_the_facts_have_them_and_only_of_their_connection_types(
    name: str, tmp_path: Path
) -> None:
    facts = [row for row in FIELDS if row["block"] == name]
    assert [row["column"] for row in facts] == [*COLUMNS]
    for row in facts:
        offset, width = int(row["offset"]), int(row["width"])
        value: Any = "PAY1RPT9"[:width]
        raw = ebcdic(value, width)
        if row["kind"] == "packed":
            value, raw = 1040, bytes.fromhex("0001040C")
        found = rows_of(
            name, [block_of(name, kind, {offset: raw}) for kind in TYPES], tmp_path / "dump.smf"
        )
        expected = [value if str(kind) in row["types"].split() else None for kind in TYPES]
        assert [each[row["column"]] for each in found] == expected, row


def test_the_offsets_of_qwhc_are_those_of_the_area_on_ibms_page() -> None:
    places = {row["column"]: int(row["offset"]) for row in FIELDS if row["block"] == "QWHC"}
    assert {name: AREA + at for name, at in places.items()} == {
        "transaction": 52,
        "psb": 52,
        "cics_task": 56,
    }


def test_a_blank_transaction_and_a_control_region_have_no_value(tmp_path: Path) -> None:
    cases = [(1, ZERO + BLANK + BLANK), (1, bytes(12)), (3, ebcdic("CONTROL", 12)), (4, bytes(12))]
    blocks = [block_of("WTID", kind, {44: raw}) for kind, raw in cases]
    found = rows_of("WTID", blocks, tmp_path / "dump.smf")
    assert found == [dict.fromkeys(COLUMNS)] * 4


def test_a_task_number_is_a_packed_decimal_or_binary(tmp_path: Path) -> None:
    blocks = [block_of("WTID", 1, {52: raw}) for raw in NUMBERS]
    found = rows_of("WTID", blocks, tmp_path / "dump.smf")
    assert [each["cics_task"] for each in found] == [*NUMBERS.values()]
