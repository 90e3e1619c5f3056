"""The reports over statistics (115): what IBM published, and what cannot be divided or added."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import pytest

from smfparse.reports import TOTAL, every
from tests.support.report_runs import by_qmgr, cells, lines_of, rows_from
from tests.support.smf import START, block, record

pytestmark = pytest.mark.slow

SECOND, MINUTE = dt.timedelta(seconds=1), dt.timedelta(minutes=1)
MPX1: dict[str, Any] = {
    "start": dt.datetime(2010, 9, 29, 15, 17, 18), "seconds": 900, "system": "MPX1", "qmgr": "QML1"
}  # fmt: skip

PUBLISHED = (
    "> 01 Buffs     30000 Low      1418 Now      7784 Getp     574372 Get",
    "  01 Rio      429784 STW    573058 TPW    475436 WIO      129403 IMW",
    "  01 DWT         160 DMC       271 STL    927247 STLA          0 SOS",
)


def test_buffer_pools_are_printed_as_by_the_old_program_and_their_csv_is_that_of_mp1b() -> None:
    pool = block(
        "QPST", qpstpool=2, qpstnbuf=40000, qpstcbsl=5980, qpstgetn=39371, qpstgetp=32569,
        qpstrio=116, qpsttpw=17400, qpstwio=4350, qpstimw=0,
    )  # fmt: skip
    old = block(
        "QPST", qpstpool=1, qpstnbuf=30000, qpstcbsl=1418, qpstcbs=7784, qpstgetp=574372,
        qpstrio=429784, qpststw=573058, qpsttpw=475436, qpstwio=129403, qpstdwt=160, qpstdmc=271,
        qpststl=927247,
    )  # fmt: skip
    made = record(pool, release="800", **MPX1), record(old)
    rows = rows_from("buff", *made)
    _, row, _ = lines_of("buff", rows, "csv")
    start = "MPX1,QML1,2010-09-29,15:32:18,2,40000,5980,39371,32569,116,17400,4350,0,"
    assert row.startswith(start)
    for line, start in zip(lines_of("buff", rows[1:])[2:5], PUBLISHED, strict=True):
        assert line.startswith(start)
    ratios = cells(lines_of("buffio", rows_from("buffio", *made), "csv"))
    assert [row["Pages per write I/O"] for row in ratios] == ["4.0", "3.7"]


def test_storage_is_shown_in_the_interval_in_which_smf_took_it() -> None:
    """Records of pools have no interval, and are written as one ends or a moment late."""
    lates = {"VTS1": 0, "VTS2": 0.05, "VTS3": 0.9}
    made = []
    for qmgr, late in lates.items():
        for minute in range(2):
            start = START.replace(second=0) + minute * MINUTE
            end = start + (60 + late) * SECOND
            made += [
                record(block("QSST", qsstgetm=minute), start=start, seconds=60, qmgr=qmgr),
                record(block("QSPH", qsphstor=minute), start=end, seconds=0, qmgr=qmgr),
            ]
    rows = by_qmgr(rows_from("stg", *made, sections=every("1m")))
    for qmgr in lates:
        names = ("line", "qsstgetm", "qsphstor")
        assert [(row["bucket"].minute, *(row[name] for name in names)) for row in rows[qmgr]] == [
            *((13, "requests", 0, None), (14, "requests", 1, None), (14, "pool", None, 0)),
            (15, "pool", None, 1),
        ], qmgr


DIVIDED = {
    "data": ["QIST"], "lock": ["QLST"], "db2": ["Q5ST"], "topic": ["QTST"], "smds": ["QESD"],
    "buff": ["QPST"], "buffio": ["QPST"], "pset": ["QIS1"], "qstat": ["QQST"], "msgm": ["QMST"],
    "stg": ["QSST", "QSRS", "QSPH", "QSGM"],
}  # fmt: skip


RATIO = re.compile(r"_average$|per_second$|_percent$|_busy$")


def test_nothing_is_divided_by_nothing() -> None:
    """All counters are zero, and the interval has no length: a dash, no zero and no error."""
    for report, blocks in DIVIDED.items():
        empty = [record(block(name), seconds=0) for name in blocks]
        for row in rows_from(report, *empty, sections=TOTAL):
            assert {row[key] for key in row if RATIO.search(key)} <= {None}, report


def test_a_sum_that_no_counter_can_hold_is_absent() -> None:
    """The counters of a damaged record; the others of the interval are shown."""
    most = record(block("QMST", qmstspp=2**63 - 1, qmstput=5))
    more = record(block("QMST", qmstspp=1, qmstput=6), start=START + SECOND)
    (row,) = rows_from("msgm", most, more, sections=TOTAL)
    assert (row["qmstspp"], row["qmstput"]) == (None, 11)
