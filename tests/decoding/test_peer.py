"""Our decoding of real SMF files against what the C formatter mq-smf-csv prints of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from smfparse.tables import table_names
from tests.support.peer import (
    DEFECTS,
    KNOWN_DEFECTS,
    NO_COUNTERPART,
    PEERS,
    Decoded,
    LeftOut,
    Sheet,
    read_sheet,
)
from tests.support.real import REAL_DATA, needs_real_data

pytestmark = needs_real_data

EXPECTED: dict[tuple[str, str], tuple[int, int]] = {
    ("TEST115", "Q5ST"): (1, 172),
    ("TEST115", "QEST"): (3, 66),
    ("TEST115", "QIST"): (1, 24),
    ("TEST115", "QJST"): (1, 135),
    ("TEST115", "QLST"): (1, 12),
    ("TEST115", "QMST"): (1, 60),
    ("TEST115", "QPST"): (7, 189),
    ("TEST115", "QSST"): (1, 25),
    ("TEST115", "QTST"): (1, 30),
    ("TEST116", "QMAC"): (2, 46),
    ("TEST116", "WQ"): (2, 1_014),
    ("TEST116", "WTAS"): (1, 402),
    ("TEST116", "WTID"): (1, 18),
    ("TESTCHL", "Q5ST"): (16, 2_752),
    ("TESTCHL", "QCCT"): (16, 320),
    ("TESTCHL", "QCST"): (23, 1_265),
    ("TESTCHL", "QCTADP"): (128, 2_304),
    ("TESTCHL", "QCTDSP"): (80, 1_520),
    ("TESTCHL", "QESD"): (16, 1_376),
    ("TESTCHL", "QEST"): (19, 418),
    ("TESTCHL", "QIST"): (16, 384),
    ("TESTCHL", "QJST"): (16, 2_160),
    ("TESTCHL", "QLST"): (16, 192),
    ("TESTCHL", "QMAC"): (45, 1_035),
    ("TESTCHL", "QMST"): (16, 960),
    ("TESTCHL", "QPST"): (384, 10_368),
    ("TESTCHL", "QSST"): (16, 400),
    ("TESTCHL", "QTST"): (16, 480),
    ("TESTCHL", "WQ"): (22, 11_154),
    ("TESTCHL", "WTAS"): (200, 80_400),
    ("TESTCHL", "WTID"): (200, 3_600),
}
"""(SMF file, CSV file): its rows, and how many of its values are compared."""

DECODED = [each for each in EXPECTED if PEERS[each[1]].table in table_names()]
"""Those whose table is in the registry."""


def _folder() -> Path:
    assert REAL_DATA is not None
    return REAL_DATA


@cache
def _decoded(file: str) -> Decoded:
    return Decoded(_folder() / f"{file}.dat")


def _sheet(file: str, name: str) -> Sheet:
    return read_sheet(_folder() / "peer-csv" / file / f"SMF-{name}.csv")


def test_every_csv_file_of_the_formatter_is_expected() -> None:
    found = {
        (path.parent.name, path.stem.removeprefix("SMF-"))
        for path in (_folder() / "peer-csv").glob("*/*.csv")
    }
    assert found == set(EXPECTED)


@pytest.mark.parametrize("file", sorted({file for file, _ in EXPECTED}))
def test_the_real_files_have_no_damage(file: str) -> None:
    assert _decoded(file).damage.count == 0


@pytest.mark.parametrize(("file", "name"), DECODED)
def test_every_value_that_the_formatter_prints_is_ours(file: str, name: str) -> None:
    decoded, sheet = _decoded(file), _sheet(file, name)
    table = PEERS[name].table
    rows = decoded.rows[table]
    assert len(rows) == len(sheet.rows)

    columns = list(sheet.columns())
    compared = 0
    wrong = []
    for number, (ours, theirs) in enumerate(zip(rows, sheet.rows, strict=True), 1):
        for source, at, end in columns:
            like = theirs[at:end]
            cells = source.cells(decoded, table, ours, like)
            compared += len(like)
            if cells != like:
                wrong.append((number, sheet.header[at:end], cells, like))
    assert not wrong
    assert (len(rows), compared) == EXPECTED[file, name]


@pytest.mark.parametrize("left_out", [*DEFECTS, *NO_COUNTERPART], ids=lambda each: each.name)
def test_a_column_left_out_is_one_that_the_formatter_prints(left_out: LeftOut) -> None:
    sheets = [_sheet(file, name) for file, name in EXPECTED if name == left_out.name]
    assert sheets
    for sheet in sheets:
        assert set(left_out.columns) <= set(sheet.header)


def test_every_proven_defect_is_accounted_for() -> None:
    assert list(KNOWN_DEFECTS) == list(range(1, 16))
    left_out = {number for number, text in KNOWN_DEFECTS.items() if text.endswith("left out")}
    assert {each.defect for each in DEFECTS} == left_out


def test_the_name_resolution_blocks_that_the_formatter_loses_are_there() -> None:
    assert len(_decoded("TESTCHL").rows["qct_dns"]) == 16
