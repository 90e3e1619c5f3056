"""The reports over statistics (115): what IBM published, and what cannot be divided or added."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from itertools import chain

import pytest

from smfparse.reports import declaration
from smfparse.reports.sections import RECORDED, TOTAL, every
from tests.support.builders import Write
from tests.support.command import in_json, run
from tests.support.corpora import opened_corpus
from tests.support.label_facts import numbered
from tests.support.published import published
from tests.support.real import case
from tests.support.report_runs import Rows, by_qmgr, cells, lines_of, rows_from
from tests.support.report_runs import values as figures
from tests.support.smf import START, block, record

pytestmark = pytest.mark.slow

SECOND, MINUTE = dt.timedelta(seconds=1), dt.timedelta(minutes=1)
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
    of_2010 = {"start": dt.datetime(2010, 9, 29, 15, 17, 18), "system": "MPX1", "qmgr": "QML1"}
    made = record(pool, release="800", seconds=900, **of_2010), record(old)
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


def test_nothing_is_divided_by_nothing(write: Write) -> None:
    """All counters are zero, and the interval has no length: a dash, no zero and no error."""
    ratio = re.compile(r"_average$|per_second$|_percent$|_busy$")
    blocks = {*chain(*DIVIDED.values())}
    with opened_corpus("0", write(*(record(block(each), seconds=0) for each in blocks))) as empty:
        for report in DIVIDED:
            rows = empty.rows(report, TOTAL)
            assert rows, report
            assert {row[key] for row in rows for key in row if ratio.search(key)} <= {None}, report


def test_a_sum_that_no_counter_can_hold_is_absent() -> None:
    """The counters of a damaged record; the others of the interval are shown."""
    most = record(block("QMST", qmstspp=2**63 - 1, qmstput=5))
    more = record(block("QMST", qmstspp=1, qmstput=6), start=START + SECOND)
    (row,) = rows_from("msgm", most, more, sections=TOTAL)
    assert (row["qmstspp"], row["qmstput"]) == (None, 11)


# Queues: a queue manager for each case; goldens have shared, unallocated and partial ones --------

LOCAL = {"qqstqnam": "LQ1001", "qqstpsid": 1, "qqstbpid": 1, "qqstdpth": 4}
TESTER = {
    "qqstqnam": "MP1B.TESTER", "qqstpsid": 4, "qqstbpid": 3, "qqstdpth": 110221, "qqstmage": 33910,
    "qqstdphi": 110221, "qqstputs": 500, "qqstput1": 7,
    "qqstlput": dt.datetime(2025, 2, 22, 14, 35, 54, 383295),
}  # fmt: skip
DEPTHS = ({"qqstdpth": 7}, {"qqstdpth": 9, "qqstmage": 5}, {"qqstflag": "QQSTPART"})
"""Intervals of a queue."""


def records() -> Iterator[bytes]:
    yield record(block("QQST", 84, **LOCAL))
    yield record(block("QQST", 672, **numbered("qstat").fields), qmgr="NUMB")
    late = {"start": dt.datetime(2025, 2, 22, 14, 35), "seconds": 60, "release": "940"}
    yield record(block("QQST", 552, **TESTER), qmgr="TEST", **late)
    for number, fields in enumerate(DEPTHS):
        begin = START + number * MINUTE
        blocks = block("QQST", 552, qqstqnam="Q", **fields)
        yield record(blocks, start=begin, seconds=60, release="940", qmgr="DPTH")
    private = block("QQST", qqstqnam="Q", qqstdpth=1)
    yield record(private, block("QQST", qqstqnam="Q", qqstdpth=2, qqstflag="QQSTDISP"), qmgr="BOTH")


@pytest.fixture(scope="module")
def rows() -> dict[str, Rows]:
    return by_qmgr(rows_from("qstat", *records(), sections=RECORDED))


def test_queue_statistics_are_printed_as_published(rows: dict[str, Rows]) -> None:
    """Those of MQ 9.3.0, and of 2025."""
    assert lines_of("qstat", rows["VTS1"]) == [
        "MVAA,VTS1,2022/06/29,21:13:21,VRM:930,",
        "From 2022/06/29,21:13:20 to 2022/06/29,21:13:21, duration 1 seconds.",
        "= Queue Name LQ1001      COMPLETE RECORD      MVAA,VTS1,2022/06/29,21:13:21,VRM:930,",
        "> Disposition Private Pageset ID 1      Bufferpool ID 1",
        "Current Depth 4",
    ]
    found = lines_of("qstat", rows["TEST"])
    assert found[2] == found[0] == "MVAA,TEST,2025/02/22,14:36:00,VRM:940,"
    assert found[3:20] == published("qstat")
    assert [line for line in found if "Span" in line or "Context" in line] == []


def test_every_label_of_a_queue_is_that_of_its_field(rows: dict[str, Rows]) -> None:
    """As IBM describes the fields; other programs mix up persistent and nonpersistent gets."""
    found, shown = lines_of("qstat", rows["NUMB"]), numbered("qstat").shown
    assert {f"{label:.<43}{number}" for label, number in shown.items()} <= {*found}


def test_a_total_has_the_last_known_depth_and_queues_of_one_name_are_two(
    rows: dict[str, Rows],
) -> None:
    """A partial record does not tell a depth."""
    totals, hours = (
        by_qmgr(rows_from("qstat", *records(), sections=each)) for each in (TOTAL, every("1h"))
    )
    (total,) = totals["DPTH"]
    assert (total["depth"], total["age"], total["record_type"]) == (9, 5, "Full")
    for each in (rows, totals, hours):
        depths = [(row["disposition"], row["depth"]) for row in each["BOTH"]]
        assert depths == [("Private", 1), ("Shared", 2)]


def test_missing_queue_statistics_name_the_trace_and_the_attribute_of_queues() -> None:
    told = declaration.report("QSTATCSV").absent()
    assert "START TRACE(STAT) CLASS(5)" in told
    assert "STATQ(ON)" in told


# Messages and bytes per second, and depth, of each queue and hour ---------------------------------

NOON = START.replace(hour=12, minute=0, second=0)
NAMES = "queue puts gets put_rate get_rate depth highest_depth data"
COUNTS: tuple[dict[str, dict[str, int]], ...] = (
    {
        "PAY.IN": {"qqstputs": 1000, "qqstput1": 800, "qqstgets": 900, "qqstputb": 90_000,
                   "qqstdpth": 900},
        "IDLE": {},
    },
    {
        "PAY.IN": {"qqstputs": 1800, "qqstgets": 2700, "qqstgetb": 360_000, "qqstdphi": 950},
        "LATE": {"qqstputs": 7200},
    },
    {"PAY.IN": {"qqstputs": 900}},
)  # fmt: skip
"""Half hours from 12:00 to 13:30."""
STATISTICS = [
    record(
        *(block("QQST", 504, qqstqnam=name, **each) for name, each in counts.items()),
        start=NOON + number * 30 * MINUTE,
        seconds=1800,
        release="940",
    )
    for number, counts in enumerate(COUNTS)
]


def test_each_queue_has_a_row_an_hour_with_its_rates_over_the_time_of_all_queues() -> None:
    rows = rows_from("queues", *STATISTICS)
    assert [figures(row, NAMES) for row in rows] == [
        ["LATE", 7200, 0, 2.0, 0.0, 0, 0, "QQST"],
        ["PAY.IN", 3600, 3600, 1.0, 1.0, 0, 950, "QQST"],
        ["PAY.IN", 900, 0, 0.5, 0.0, 0, 0, "QQST"],
    ]
    assert figures(rows[1], "put_bytes_per_second got_bytes_per_second") == [25.0, 100.0]


def test_a_selected_queue_has_the_rate_and_the_time_that_it_has_among_all(write: Write) -> None:
    [row] = in_json("report", "queues", write(*STATISTICS), "--queue", "LATE")["rows"]
    assert figures(row, "queue put_rate seconds interval_seconds") == ["LATE", 2, 3600, 3600]


def test_hours_of_class_3_have_the_rates_of_a_public_question() -> None:
    printed = run("report", "queues", case("edge"), "--format", "csv").stdout.splitlines()
    assert printed[0].startswith("z/OS,QM,Date,Time,Queue,Puts per second,Gets per second,Messages")
    assert [line.split(",")[4:6] for line in printed[1:]] == [
        ["EDGE.Q", f"{puts / 3600:.3f}"] for puts in (3000, 7000, 11000)
    ]
