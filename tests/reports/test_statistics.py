"""The reports over statistics (115): what IBM published, and what cannot be divided or added."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from smfparse.reports import TOTAL, every
from tests.support.report_runs import cells, lines_of, rows_from
from tests.support.smf import START, block, record

pytestmark = pytest.mark.slow

SECOND, MINUTE = dt.timedelta(seconds=1), dt.timedelta(minutes=1)
MPX1: dict[str, Any] = {
    "start": dt.datetime(2010, 9, 29, 15, 17, 18), "seconds": 900, "system": "MPX1", "qmgr": "QML1"
}  # fmt: skip

# --- what IBM published -------------------------------------------------------------------------


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
    assert row.startswith(
        "MPX1,QML1,2010-09-29,15:32:18,2,40000,5980,39371,32569,116,17400,4350,0,"
    )
    for line, start in zip(lines_of("buff", rows[1:])[2:5], PUBLISHED, strict=True):
        assert line.startswith(start)
    ratios = [
        row["Pages per write I/O"]
        for row in cells(lines_of("buffio", rows_from("buffio", *made), "csv"))
    ]
    assert ratios == ["4.0", "3.7"]


# --- storage ------------------------------------------------------------------------------------


def test_what_is_written_of_storage_at_one_moment_is_one_section_with_the_largest_pools_first() -> (
    None
):
    late: dict[str, Any] = {"start": START + MINUTE, "seconds": 0}
    fixed = "QSPHFIXED QSPH64BIT"
    rows = rows_from(
        "stg",
        record(block("QSST", qsstgplf=3), seconds=60),
        record(block("QSRS", qsrsestra=0x1A000000, qsrsesiza=1000, qsrsaval=250), **late),
        record(
            block("QSPH", qsphname="SMALL", qsphstor=10, qsphostor=4, qsphflags=fixed),
            block("QSPH", qsphname="LARGE", qsphstor=90, qsphflags="QSPHGLOB", qsphdspnm="SPACE"),
            **late,
        ),
        record(block("QSGM", qsgmcsect="CSQSGETM", qsgmoffset=0x1AC, qsgmlvtot=77), **late),
    )
    found = lines_of("stg", rows)
    assert found[0] == "MVAA,VTS1,2022/06/29,21:14:20,VRM:930,"
    assert "duration 60 seconds" in found[1]
    assert len([line for line in found if "VRM" in line]) == 1
    assert [row["line"] for row in rows] == ["requests", "regions", "pool", "pool", "getmain"]
    _, regions, large, small, getmain = rows
    assert (large["qsphname"], large["attributes"]) == ("LARGE", "Variable Global 31-bit")
    assert (small["qsphname"], small["attributes"]) == ("SMALL", "Fixed Local 64-bit")
    assert (small["growth"], small["data_space"]) == (6, None)
    assert (regions["extended_start"], regions["extended_free"]) == ("1A000000", 25)
    assert (getmain["qsgmcsect"], getmain["caller_offset"]) == ("CSQSGETM", "000001AC")


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
    rows = rows_from("stg", *made, sections=every("1m"))
    for qmgr in lates:
        of_qmgr = [row for row in rows if row["qmgr"] == qmgr]
        names = ("line", "qsstgetm", "qsphstor")
        assert [(row["bucket"].minute, *(row[name] for name in names)) for row in of_qmgr] == [
            *((13, "requests", 0, None), (14, "requests", 1, None), (14, "pool", None, 0)),
            (15, "pool", None, 1),
        ], qmgr


# --- what is not there, and what cannot be ------------------------------------------------------

DIVIDED = {
    "data": ["QIST"], "lock": ["QLST"], "db2": ["Q5ST"], "topic": ["QTST"], "smds": ["QESD"],
    "buff": ["QPST"], "buffio": ["QPST"], "pset": ["QIS1"], "qstat": ["QQST"], "msgm": ["QMST"],
    "stg": ["QSST", "QSRS", "QSPH", "QSGM"],
}  # fmt: skip


@pytest.mark.parametrize("report", DIVIDED)
def test_nothing_is_divided_by_nothing(report: str) -> None:
    """All counters are zero, and the interval has no length: a dash, no zero and no error."""
    empty = [record(block(name), seconds=0) for name in DIVIDED[report]]
    for row in rows_from(report, *empty, sections=TOTAL):
        ratios = [
            key for key in row if key.endswith(("_average", "per_second", "_percent", "_busy"))
        ]
        assert {row[key] for key in ratios} <= {None}, ratios


def test_a_sum_that_no_counter_can_hold_is_absent() -> None:
    """The counters of a damaged record; the others of the interval are shown."""
    most = record(block("QMST", qmstspp=2**63 - 1, qmstput=5))
    more = record(block("QMST", qmstspp=1, qmstput=6), start=START + SECOND)
    (row,) = rows_from("msgm", most, more, sections=TOTAL)
    assert (row["qmstspp"], row["qmstput"]) == (None, 11)
