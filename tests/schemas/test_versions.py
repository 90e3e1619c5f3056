"""Every recorded length of every block, all in one file: NULL exactly where the bytes end.

The fact table says where each field lies; nothing here asks the declarations.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from smfparse.errors import DamageLog
from smfparse.inputs.opening import open_inputs
from tests.support import smf
from tests.support.builders import NOTHING, Section, put, qwhs_long, qwhs_short, smf_record, stub

FILL = 0x11
"""A byte that makes every number, duration and text say something."""
MOMENT = bytes.fromhex("E0E0E0E0E0E0E0E0")
"""A TOD clock of 2025."""

PLACES = {name: place for name, place in smf.PLACES.items() if name != "QEST"} | {
    "WTAS": (116, 1, 2),
    "WQST": (116, 1, 3),
}
LENGTHS: dict[str, list[int]] = {
    "QSST": [72, 80], "QJST": [120, 576, 592, 596, 720], "QMST": [48, 72, 104, 300, 328],
    "QIST": [80], "QLST": [32], "Q5ST": [668, 672], "QTST": [96, 100], "QESD": [328, 336],
    "QSPH": [88], "QSGM": [48], "QSRS": [232], "QIS1": [104], "QPST": [104],
    "QQST": [84, 120, 552, 672], "QCCT": [48, 64], "QCT_DSP": [36], "QCT_ADP": [32],
    "QCT_SSL": [48], "QCT_DNS": [48], "QWAC": [96, 176], "QMAC": [48], "WTID": [208],
    "WTAS": [712, 2344], "WQST": [576, 592, 608, 672, 704, 2752, 2792, 2800],
    "QCST": [324, 340],
}  # fmt: skip
VERSION_WORDS = {
    "WTAS": (696, {712: 1, 2344: 8}),
    "WQST": (8, {576: 1, 592: 2, 608: 3, 672: 4, 704: 5, 2752: 6, 2792: 8, 2800: 9}),
}
GROUPED = ("wtasl", "cf", "qjstio")
"""Starts of fields that stand in child tables (wtaslwet, cfcount, qjstiocount, ...)."""
NOT_GROUPED = ("wtaslen", "wtaslatc", "wtaslown", "cfstrucname", "qjstiosqu")


FIELDS = {
    block: [
        row
        for name, row in fields.items()
        if row["kind"] != "pad"
        if name.startswith(NOT_GROUPED) or not name.startswith(GROUPED)
    ]
    for block, fields in smf.facts().items()
}


def _expected(block: str, length: int) -> Iterator[tuple[str, bool]]:
    """Yield each column that a fact names, and whether a block of `length` bytes holds it."""
    word = VERSION_WORDS[block][1][length] if block in VERSION_WORDS else None
    for fact in FIELDS[block]:
        gate = int(fact["since"].split()[1]) if " " in fact["since"] else 0
        for entry in range(int(fact["count"])):
            end = int(fact["offset"]) + (entry + 1) * int(fact["width"])
            held = end <= length and (word is None or word >= gate)
            if block == "QWAC":
                held = length == 176
            suffix = f"_{entry + 1}" if int(fact["count"]) > 1 else ""
            yield fact["field"].lower() + suffix, held


def _block(name: str, length: int) -> bytes:
    data = bytearray([FILL]) * length
    for fact in FIELDS[name]:
        if fact["kind"] == "stck_timestamp" and int(fact["offset"]) + len(MOMENT) <= length:
            data[int(fact["offset"]) : int(fact["offset"]) + len(MOMENT)] = MOMENT
    if not name.startswith(("QCT_", "QWAC")):
        data[:8] = struct.pack(">HH", 0, length) + name.encode("cp500")
    if name in VERSION_WORDS:
        offset, words = VERSION_WORDS[name]
        struct.pack_into(">I", data, offset, words[length])
    return bytes(data)


def _record(name: str, length: int) -> bytes:
    smf_type, subtype, number = PLACES[name]
    sections = [NOTHING] * (number - 1) + [Section([_block(name, length)])]
    area = qwhs_short() if smf_type == 116 and subtype < 10 else qwhs_long()
    if (smf_type, subtype) in smf.STUBS:
        area = stub()
    return smf_record(smf_type, subtype, *sections, area=area)


def test_a_field_is_null_exactly_where_the_block_ends_before_it(tmp_path: Path) -> None:
    """A block has no rows in the table of a group before which it ends."""
    records = (_record(name, at) for name in PLACES for at in LENGTHS[name][::-1])
    inputs = open_inputs([put(tmp_path / "mixed.smf", *records)])
    for name in PLACES:
        rows = inputs.arrow(name.lower()).to_pylist()
        assert len(rows) == len(LENGTHS[name])
        for row, length in zip(rows, reversed(LENGTHS[name]), strict=True):
            held = {each: held for each, held in _expected(name, length) if each in row}
            assert {each: row[each] is not None for each in held} == held, (name, length)
            assert len(held) >= len(FIELDS[name]) - 3  # all but id, length and eye-catcher
    assert inputs.damage.count == 0
    assert inputs.arrow("qjst_io").num_rows == 4 * 4  # not in the block of 120 bytes
    assert inputs.arrow("wtas_cf").num_rows == 40  # in the block of 2344 bytes only
    assert inputs.arrow("wqst_cf").num_rows == 100 * 3  # 2752, 2792, 2800
    latches = inputs.arrow("wtas_latch").to_pylist()
    assert [row["wtaslmax"] is None for row in latches] == [False] * 32 + [True] * 32


def test_the_version_word_gates_fields_that_the_length_would_allow(tmp_path: Path) -> None:
    path, old = tmp_path / "old.smf", bytearray(_block("WQST", 2800))
    struct.pack_into(">I", old, 8, 5)
    section = Section([bytes(old)])
    path.write_bytes(smf_record(116, 1, NOTHING, NOTHING, section, area=qwhs_short()))
    inputs = open_inputs([path])
    (row,) = inputs.arrow("wqst").to_pylist()
    assert row["cbn"] is not None  # version 5
    assert (row["opensun"], row["streamedn"]) == (None, None)  # versions 6 and 9
    assert inputs.arrow("wqst_cf").num_rows == 0


def test_bytes_beyond_the_map_are_counted_and_cost_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "newer.smf"
    path.write_bytes(_record("QIST", 92) + _record("QIST", 80))
    inputs = open_inputs([path])
    inputs.log.count_unknown = True
    rows: list[Any] = inputs.arrow("qist").to_pylist()
    assert rows[0]["qistgetb"] == rows[1]["qistgetb"] == 0x11111111
    assert inputs.log.unknown == {"QIST": 12}
    assert inputs.damage == DamageLog()
