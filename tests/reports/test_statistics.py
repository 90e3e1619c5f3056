"""The reports over statistics (115): published samples, and figures computed in another way."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.reports import RECORDED, TOTAL, every
from tests.support.builders import Write
from tests.support.fact_blocks import facts
from tests.support.report_runs import cells, report_lines, report_rows
from tests.support.searching import search
from tests.support.smf import START, block, record, structures

pytestmark = pytest.mark.slow

# --- what IBM published -------------------------------------------------------------------------


def test_the_buffer_pool_csv_is_that_of_mp1b(write: Write) -> None:
    pool = block(
        "QPST",
        qpstpool=2,
        qpstnbuf=40000,
        qpstcbsl=5980,
        qpstgetn=39371,
        qpstgetp=32569,
        qpstrio=116,
        qpsttpw=17400,
        qpstwio=4350,
        qpstimw=0,
    )
    start = dt.datetime(2010, 9, 29, 15, 17, 18)
    made = record(pool, start=start, seconds=900, release="800", system="MPX1", qmgr="QML1")
    header, row = report_lines("BUFFCSV", write(made), form="csv")
    assert header.startswith(
        "MVS,QM,Date,Time,BP,size,lowest free,# get new pg,# get old pg,# read I/Os,# pg writes,"
        "# write I/Os,# sync w"
    )
    assert row.startswith(
        "MPX1,QML1,2010-09-29,15:32:18,2,40000,5980,39371,32569,116,17400,4350,0,"
    )


def test_buffer_pools_are_printed_as_by_the_old_program(write: Write) -> None:
    pool = block(
        "QPST",
        qpstpool=1,
        qpstnbuf=30000,
        qpstcbsl=1418,
        qpstcbs=7784,
        qpstgetp=574372,
        qpstrio=429784,
        qpststw=573058,
        qpsttpw=475436,
        qpstwio=129403,
        qpstdwt=160,
        qpstdmc=271,
        qpststl=927247,
    )
    found = report_lines("buff", write(record(pool)))[2:5]
    for line, published in zip(
        found,
        [
            "> 01 Buffs     30000 Low      1418 Now      7784 Getp     574372 Get",
            "  01 Rio      429784 STW    573058 TPW    475436 WIO      129403 IMW",
            "  01 DWT         160 DMC       271 STL    927247 STLA          0 SOS",
        ],
        strict=True,
    ):
        assert line.startswith(published)


def test_the_io_of_a_buffer_pool_has_the_published_ratio(write: Write) -> None:
    pool = block("QPST", qpsttpw=475436, qpstwio=129403)
    (row,) = cells(report_lines("BUFFIO", write(record(pool)), form="csv"))
    assert row["Pages per write I/O"] == "3.7"


def test_the_message_manager_csv_is_that_of_mp1b(write: Write) -> None:
    made = record(
        block("QMST", qmstput=36070, qmstget=30659),
        start=dt.datetime(2010, 9, 29, 15, 17, 18),
        seconds=900,
        system="MPX1",
        qmgr="QML1",
    )
    header, row = report_lines("MSGMCSV", write(made), form="csv")
    assert header.startswith("MVS,QM,Date,Time,Puts,Put1s,Gets,")
    assert row.startswith("MPX1,QML1,2010-09-29,15:32:18,36070,0,30659,")


def test_only_span_counters_that_counted_are_printed(write: Write) -> None:
    quiet = record(block("QMST", 300))
    busy = record(block("QMST", 300, qmstosps=12, qmstotpu=2_500_000))
    assert report_lines("msgm", write(quiet))[2:] == ["All figures are 0 or absent."]
    assert [" ".join(line.split()) for line in report_lines("msgm", write(busy))[2:]] == [
        "Producer_Spans 12,",
        "Span_Tasks_CPU_Seconds 2.500000,",
    ]


def test_a_coupling_facility_structure_has_the_published_averages(write: Write) -> None:
    made = structures(
        {
            "qeststr": "CSQ_ADMIN",
            "qestcsec": 1000,
            "qestsstc": 267_000,
            "qestcmec": 100,
            "qestmstc": 33_800,
            "qestrmec": 21,
            "qestmnus": 5,
            "qestmlus": 6,
        },
        {"qeststr": "APP1", "qeststrn": 3},
    )
    found = report_lines("cf", write(record(made)))
    assert [each.strip() for each in found[3].split("|")] == [
        *("0", "CSQ_ADMIN", "1000", "267", "0", "100", "338", "21", "0", "5", "6")
    ]
    assert [each.strip() for each in found[4].split("|")] == [
        *("3", "APP1", "0", "-", "-", "0", "-", "-", "0", "0", "0")
    ]
    assert {len(line) for line in found[2:]} == {len(found[2])}


def test_a_structure_that_moves_to_another_slot_stays_one(write: Write) -> None:
    first = structures({"qeststr": "APP1", "qestcsec": 1}, {"qeststr": "APP2", "qestcsec": 10})
    second = structures({"qeststr": "APP2", "qestcsec": 20}, {"qeststr": "APP1", "qestcsec": 2})
    later = START + dt.timedelta(seconds=1)
    path = write(record(first), record(second, start=later))
    found = report_rows("cf", path, sections=TOTAL)
    assert {row["qeststr"]: row["qestcsec"] for row in found} == {"APP1": 3, "APP2": 30}


def test_db2_prints_the_kinds_of_requests_that_there_were(write: Write) -> None:
    made = record(
        block(
            "Q5ST",
            numtask=9,
            acttask=10,
            dhigmax=4,
            readcnt=2,
            scssel=1,
            readtcuw=300,
            readtmxw=200,
            readscuw=240,
            readsmxw=150,
        )
    )
    found = report_lines("db2", write(made))[2:]
    tasks = "Tasks: Servers 9, Active 10, Conns 0, Discs 0, High 4, Abend 0, Requeue 0"
    assert found[0].split() == tasks.split()
    assert [[each.strip() for each in line.split("|")] for line in found[2:]] == [
        ["Object reads", "2", "150", "200", "120", "150"],
        ["SCS selects", "1", "0", "0", "0", "0"],
    ]


# --- storage ------------------------------------------------------------------------------------


def storage(write: Write) -> Path:
    end = START + dt.timedelta(seconds=60)
    late = {"start": end, "seconds": 0}
    return write(
        record(block("QSST", qsstgplf=3), seconds=60),
        record(block("QSRS", qsrsestra=0x1A000000, qsrsesiza=1000, qsrsaval=250), **late),
        record(
            block(
                "QSPH",
                qsphname="SMALL",
                qsphstor=10,
                qsphostor=4,
                qsphflags="QSPHFIXED QSPH64BIT",
            ),
            block("QSPH", qsphname="LARGE", qsphstor=90, qsphflags="QSPHGLOB", qsphdspnm="SPACE"),
            **late,
        ),
        record(block("QSGM", qsgmcsect="CSQSGETM", qsgmoffset=0x1AC, qsgmlvtot=77), **late),
    )


def test_what_is_written_of_storage_at_one_moment_is_one_section(write: Write) -> None:
    found = report_lines("STG", storage(write))
    assert found[0] == "MVAA,VTS1,2022/06/29,21:14:20,VRM:930,"
    assert "duration 60 seconds" in found[1]
    starts = [line.split(maxsplit=2)[:2] for line in found[2:]]
    assert starts[0] == ["Fixed", "pools:"]
    assert starts[-3:] == [[">", "Pool"], [">", "Pool"], [">", "Getmain"]]
    assert len([line for line in found if "VRM" in line]) == 1


@pytest.mark.parametrize("late", [0, 0.05, 0.9])
def test_storage_is_shown_in_the_interval_in_which_smf_took_it(write: Write, late: float) -> None:
    """Records of pools have no interval, and are written as one ends or a moment late."""
    made = []
    for minute in range(2):
        start = START.replace(second=0) + dt.timedelta(minutes=minute)
        end = start + dt.timedelta(seconds=60 + late)
        made += [
            record(block("QSST", qsstgetm=minute), start=start, seconds=60),
            record(block("QSPH", qsphname="POOL", qsphstor=minute), start=end, seconds=0),
        ]
    found = report_rows("stg", write(*made), sections=every("1m"))
    shown = [(row["bucket"].minute, row["line"], row["qsstgetm"], row["qsphstor"]) for row in found]
    assert shown == [
        *((13, "requests", 0, None), (14, "requests", 1, None), (14, "pool", None, 0)),
        (15, "pool", None, 1),
    ]


def test_storage_pools_come_with_the_largest_first(write: Write) -> None:
    found = report_rows("stg", storage(write))
    assert [row["line"] for row in found] == ["requests", "regions", "pool", "pool", "getmain"]
    large, small = found[2:4]
    assert (large["qsphname"], large["attributes"]) == ("LARGE", "Variable Global 31-bit")
    assert (small["qsphname"], small["attributes"]) == ("SMALL", "Fixed Local 64-bit")
    assert (small["growth"], small["data_space"]) == (6, None)
    assert (found[1]["extended_start"], found[1]["extended_free"]) == ("1A000000", 25)
    assert (found[4]["qsgmcsect"], found[4]["caller_offset"]) == ("CSQSGETM", "000001AC")


# --- what is not there, and what cannot be ------------------------------------------------------


@pytest.mark.parametrize(
    ("report", "name"),
    [
        *(("data", "QIST"), ("lock", "QLST"), ("db2", "Q5ST"), ("topic", "QTST"), ("smds", "QESD")),
        *(("buff", "QPST"), ("buffio", "QPST"), ("pset", "QIS1"), ("qstat", "QQST")),
        *(("msgm", "QMST"), ("stg", "QSST"), ("stg", "QSRS"), ("stg", "QSPH"), ("stg", "QSGM")),
    ],
)
def test_nothing_is_divided_by_nothing(write: Write, report: str, name: str) -> None:
    """All counters are zero, and the interval has no length: a dash, no zero and no error."""
    empty = record(block(name), seconds=0)
    for sections in (None, TOTAL):
        for row in report_rows(report, write(empty), sections=sections):
            ratios = [
                key for key in row if key.endswith(("_average", "per_second", "_percent", "_busy"))
            ]
            assert {row[key] for key in ratios} <= {None}, ratios


@pytest.mark.parametrize(("report", "name"), [("msgm", "QMST"), ("buff", "QPST"), ("pset", "QIS1")])
def test_counters_in_full_width_do_not_stop_a_report(write: Write, report: str, name: str) -> None:
    largest = {
        each: 2 ** (8 * int(row["width"]) - (row["kind"] == "int")) - 1
        for each, row in facts()[name].items()
        if row["kind"] in ("int", "uint") and int(row["width"]) >= 4
    }
    made = [record(block(name, **largest), start=START + dt.timedelta(seconds=n)) for n in (0, 1)]
    for sections in (RECORDED, TOTAL, every("1h")):
        assert report_rows(report, write(*made), sections=sections)


def test_a_sum_that_no_counter_can_hold_is_absent(write: Write) -> None:
    """The counters of a damaged record; the others of the interval are shown."""
    most = record(block("QMST", qmstspp=2**63 - 1, qmstput=5))
    more = record(block("QMST", qmstspp=1, qmstput=6), start=START + dt.timedelta(seconds=1))
    (row,) = report_rows("msgm", write(most, more), sections=TOTAL)
    assert (row["qmstspp"], row["qmstput"]) == (None, 11)


COUNTERS = [name for name, row in facts()["QIST"].items() if row["combine"] == "sum"][1:]


@search(12)
@given(
    intervals=st.lists(
        st.dictionaries(st.sampled_from(COUNTERS), st.integers(0, 2**32 - 1)),
        min_size=1,
        max_size=4,
    )
)
def test_counters_of_an_interval_are_the_sums_of_its_records(
    write: Write, intervals: list[dict[str, int]]
) -> None:
    noon = dt.datetime(2024, 1, 1, 12)
    made = [
        record(
            block("QIST", **values), start=noon + dt.timedelta(minutes=20 * number), seconds=1200
        )
        for number, values in enumerate(intervals)
    ]
    path = write(*made)
    hours = report_rows("data", path, sections=every("1h"))
    (total,) = report_rows("data", path, sections=TOTAL)
    assert len(hours) == (len(intervals) + 2) // 3
    for name in COUNTERS:
        sums = [
            sum(values.get(name, 0) for values in intervals[first : first + 3])
            for first in range(0, len(intervals), 3)
        ]
        assert [row[name] for row in hours] == sums
        assert total[name] == sum(sums)
