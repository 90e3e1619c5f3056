"""The reports over statistics (115): published samples, and figures computed in another way."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse import reports
from smfparse.inputs import open_inputs
from smfparse.query import Catalog
from smfparse.reports import RECORDED, TOTAL, Sections, every
from smfparse.tables import columns as columns_of
from tests.support.builders import Write
from tests.support.fact_blocks import facts
from tests.support.paths import FIXTURES
from tests.support.real import REAL_DATA
from tests.support.report_runs import cells, report_lines, report_rows
from tests.support.searching import search
from tests.support.smf import START, block, record, structures

pytestmark = pytest.mark.slow

FILES = [FIXTURES / f"{name}.smf" for name in ("qm01-930", "qm60", "qm80", "qm100")]
if REAL_DATA is not None:
    FILES += [REAL_DATA / f"{name}.dat" for name in ("TEST115", "TESTCHL")]


# --- figures, computed by polars from the raw tables ---------------------------------------------


def ratio(above: pl.Expr, below: pl.Expr, times: float = 1) -> pl.Expr:
    below = below.cast(pl.Float64)
    return pl.when(below != 0).then(above.cast(pl.Float64) * times / below)


def c(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.Float64)


SECONDS = c("interval_seconds")


@dataclass(frozen=True)
class Check:
    """How a report's figures come from one table; figures that are fields are added.

    by     columns that tell the rows of a section apart
    kind   column of the report that tells which rows are meant
    where  what it says of these
    plain  whether figures that are fields of the table are shown as they are
    """

    report: str
    table: str
    by: Sequence[str] = ()
    figures: Mapping[str, pl.Expr] = field(default_factory=dict)
    kind: str = ""
    where: str = ""
    plain: bool = True


DB2_REQUESTS = {
    "Object reads": ("read", "readcnt"), "Object lists": ("list", "listcnt"),
    "Object updates": ("updt", "updtcnt"), "Object writes": ("writ", "writcnt"),
    "Object deletes": ("dele", "delecnt"), "SCS selects": ("scss", "scssel"),
    "SCS inserts": ("scsi", "scsins"), "SCS updates": ("scsu", "scsupd"),
    "SCS deletes": ("scsd", "scsdel"), "SSK selects": ("ssks", "ssksel"),
    "SSK inserts": ("sski", "sskins"), "SSK deletes": ("sskd", "sskdel"),
    "LMS selects": ("lmss", "lmssel"), "LMS inserts": ("lmsi", "lmsins"),
    "LMS updates": ("lmsu", "lmsupd"), "LMS deletes": ("lmsd", "lmsdel"),
    "LMS lists": ("lmsl", "lmslis"),
}  # fmt: skip
"""Each kind of request: how the names of its times begin, and its counter."""

PUBLISHES = c("qtstptot_1") + c("qtstptot_2") + c("qtstptot_3")
CHECKS = [
    Check(
        "data",
        "qist",
        figures={
            "from_page_set": ratio(c("qistgetd"), c("qistgetd") + c("qistgetb"), 100),
        },
    ),
    Check("lock", "qlst"),
    Check("db2", "q5st", kind="request", where="Tasks"),
    *(
        Check(
            "db2",
            "q5st",
            figures={
                "calls": c(count),
                "task_average": ratio(c(f"{times}tcuw"), c(count)),
                "task_longest": c(f"{times}tmxw"),
                "db2_average": ratio(c(f"{times}scuw"), c(count)),
                "db2_longest": c(f"{times}smxw"),
            },
            kind="request",
            where=request,
            plain=False,
        )
        for request, (times, count) in DB2_REQUESTS.items()
    ),
    Check(
        "cf",
        "qest",
        ["qeststr"],
        {
            "single_average": ratio(c("qestsstc"), c("qestcsec")),
            "single_redriven": ratio(c("qestrsec"), c("qestcsec"), 100),
            "multiple_average": ratio(c("qestmstc"), c("qestcmec")),
            "multiple_redriven": ratio(c("qestrmec"), c("qestcmec"), 100),
        },
    ),
    Check(
        "topic",
        "qtst",
        figures={
            "publish_average": ratio(c("qtstetto"), PUBLISHES),
            "publish_longest": c("qtstethw"),
        },
    ),
    Check(
        "smds",
        "qesd",
        ["qesdstr"],
        {
            "blocks_used": ratio(c("qesdsmbu"), c("qesdsmbd"), 100),
            "blocks_used_high": ratio(c("qesdsmmu"), c("qesdsmbd"), 100),
            "gets_valid": ratio(c("qesdbfgv"), c("qesdbfgb"), 100),
            "reads_saved": ratio(c("qesdbfrs"), c("qesdbfrr"), 100),
            "pool_wait_average": ratio(c("qesdbfpt"), c("qesdbfwp")),
            "busy_wait_average": ratio(c("qesdbfbt"), c("qesdbfwb")),
            "format_average": ratio(c("qesdioft"), c("qesdiofr")),
            "format_wait": ratio(c("qesdiofw"), c("qesdiofr")),
            "write_average": ratio(c("qesdiowt"), c("qesdiowr")),
            "write_wait": ratio(c("qesdioww"), c("qesdiowr")),
            "read_average": ratio(c("qesdiort"), c("qesdiorr")),
            "read_wait": ratio(c("qesdiorw"), c("qesdiorr")),
            "other_average": ratio(c("qesdioot"), c("qesdioor")),
            "other_wait": ratio(c("qesdioow"), c("qesdioor")),
        },
    ),
    Check(
        "buff",
        "qpst",
        ["qpstpool"],
        {
            "low_percent": ratio(c("qpstcbsl"), c("qpstnbuf"), 100),
            "now_percent": ratio(c("qpstcbs"), c("qpstnbuf"), 100),
            "used_percent": 100 - ratio(c("qpstcbsl"), c("qpstnbuf"), 100),
            "pages_per_write": ratio(c("qpsttpw"), c("qpstwio")),
        },
    ),
    Check(
        "buffio",
        "qpst",
        ["qpstpool"],
        {
            "gets_read": ratio(c("qpstrio"), c("qpstgetp"), 100),
            "pages_per_write": ratio(c("qpsttpw"), c("qpstwio")),
            "updates_written": ratio(c("qpsttpw"), c("qpststw"), 100),
            "mb_written_per_second": ratio(c("qpsttpw") * 4096 / 1048576, SECONDS),
        },
    ),
    Check(
        "msgm",
        "qmst",
        figures={
            "span_cpu_seconds": c("qmstotpu") / 1e6,
            "span_idle_seconds": c("qmstotpw") / 1e6,
            "span_smf_wait_seconds": c("qmstotpd") / 1e6,
        },
    ),
    Check(
        "pset",
        "qis1",
        ["qis1psno"],
        {
            "used": c("qis1topg") - c("qis1unpg"),
            "used_percent": ratio(c("qis1topg") - c("qis1unpg"), c("qis1topg"), 100),
            "deferred_pages": ratio(c("qis1dwpp"), c("qis1dwpn")),
            "deferred_average": ratio(c("qis1dwpt"), c("qis1dwpn")),
            "immediate_pages": ratio(c("qis1imwp"), c("qis1imwn")),
            "immediate_average": ratio(c("qis1imwt"), c("qis1imwn")),
            "read_pages": ratio(c("qis1getp"), c("qis1getn")),
            "read_average": ratio(c("qis1gett"), c("qis1getn")),
            "io_busy": ratio(c("qis1dwpt") + c("qis1imwt") + c("qis1gett"), SECONDS * 1e6, 100),
        },
    ),
    Check(
        "log",
        "qjst",
        figures={
            "hyperlink_one_average": ratio(c("qjsthlsciwttot"), c("qjsthlsciw")),
            "hyperlink_multi_average": ratio(c("qjsthlmciwttot"), c("qjsthlmciw")),
        },
    ),
    Check("stg", "qsst", kind="line", where="requests"),
    Check(
        "stg",
        "qsrs",
        figures={"extended_free": ratio(c("qsrsaval"), c("qsrsesiza"), 100)},
        kind="line",
        where="regions",
    ),
    Check(
        "stg",
        "qsph",
        ["qsphname", "qsphbsize"],
        {"growth": c("qsphstor") - c("qsphostor")},
        kind="line",
        where="pool",
    ),
    Check("stg", "qsgm", ["qsgmcsect"], kind="line", where="getmain"),
    Check(
        "qstat",
        "qqst",
        ["qqstqnam"],
        {
            "depth": c("qqstdpth"),
            "age": c("qqstmage"),
            "total_puts": c("qqstputs") + c("qqstput1"),
            "total_gets": c("qqstgets") + c("qqstbrws"),
        },
    ),
]


def aggregated(frame: pl.DataFrame, table: str, by: Sequence[str]) -> pl.DataFrame:
    """Combine the rows of each queue manager as the fact table says."""
    keys = ["system", "qmgr", *by]
    how = {name: row["combine"] for name, row in facts()[table.upper()].items()}
    combined = [pl.col("interval_seconds").sum()]
    for name in frame.columns:
        rule = how.get(name) or how.get(name.rpartition("_")[0]) or "last"
        if name in keys or name == "interval_seconds":
            continue
        column, there = pl.col(name), pl.col(name).is_not_null().any()
        made = {
            "sum": pl.when(there).then(column.cast(pl.Float64, strict=False).sum()),
            "max": column.max(),
            "min": column.min(),
        }
        combined.append(made.get(rule, column.drop_nulls().last()).alias(name))
    return frame.sort("smf_time").group_by(keys).agg(combined)


def expected(check: Check, path: Path, total: bool) -> pl.DataFrame:
    frame = pl.DataFrame(open_inputs([path]).arrow(check.table))
    keys = ["system", "qmgr", *([] if total else ["smf_time"]), *check.by]
    if total:
        frame = aggregated(frame, check.table, check.by)
    names = {each.name for each in reports.report(check.report).figures}
    same = [name for name in frame.columns if name in names and name not in keys and check.plain]
    made = [expression.alias(name) for name, expression in check.figures.items()]
    return frame.select(*keys, *same, *made).sort(keys)


REPORTS = sorted({each.report for each in CHECKS})


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize("name", REPORTS)
def test_every_figure_is_what_polars_makes_of_the_raw_table(name: str, path: Path) -> None:
    with Catalog(open_inputs([path])) as catalog:
        for total in (False, True):
            rows = reports.run_report(reports.report(name), catalog, TOTAL if total else None)
            check_figures(name, path, total, list(rows))


def check_figures(name: str, path: Path, total: bool, every_row: list[dict[str, Any]]) -> None:
    counted = 0
    for check in (each for each in CHECKS if each.report == name):
        frame = expected(check, path, total)
        keys = ["system", "qmgr", *([] if total else ["smf_time"]), *check.by]
        found = [row for row in every_row if check.where in ("", row.get(check.kind))]
        found.sort(key=lambda row: [row[key] for key in keys])
        counted += len(found)
        assert len(found) == len(frame)
        for row, wanted in zip(found, frame.iter_rows(named=True), strict=True):
            for figure, value in wanted.items():
                shown = pytest.approx(value, rel=1e-9) if isinstance(value, float) else value
                assert row[figure] == shown, figure
    assert counted == len(every_row)


BY_HAND = {
    "data": (block("QIST", qistmput=60, qistmget=35), "puts gets", (6, 3.5)),
    "lock": (block("QLST", qlstgetl=25), "gets", (2.5,)),
    "cf": (structures({"qeststr": "S", "qestcsec": 30, "qestcmec": 5}), "calls", (3.5,)),
    "topic": (block("QTST", qtstptot=[1, 20, 300]), "publishes", (32.1,)),
    "buff": (block("QPST", qpstrio=20, qpstwio=3), "ios", (2.3,)),
    "buffio": (block("QPST", qpstrio=20, qpstwio=3), "reads writes", (2, 0.3)),
    "msgm": (block("QMST", qmstput=30, qmstput1=2, qmstget=45), "puts gets", (3.2, 4.5)),
    "pset": (block("QIS1", qis1dwpn=1, qis1imwn=20, qis1getn=300), "ios", (32.1,)),
}
"""Reports: a block of 10 seconds, and how many of what there were a second."""


@pytest.mark.parametrize("sections", [None, TOTAL], ids=str)
@pytest.mark.parametrize("name", BY_HAND)
def test_counters_per_second_are_worked_out_by_hand(
    write: Write, name: str, sections: Sections | None
) -> None:
    made, figures, expected = BY_HAND[name]
    (row,) = report_rows(name, write(record(made, seconds=10)), sections=sections)
    assert tuple(row[f"{each}_per_second"] for each in figures.split()) == expected


BY_SAMPLE = {
    "db2": {"request"},
    "buff": {"location", "pages"},
    "log": {
        each.name
        for each in reports.report("log").figures
        if not each.name.startswith(("qjst", "hyperlink"))
    },
    "stg": {
        *("line", "attributes", "data_space", "caller_offset"),
        *("region_start", "region_top", "extended_start", "extended_top"),
    },
    "qstat": {
        *("disposition", "queue_sharing_group", "structure", "smallest", "average"),
        *("record_type", "page_set", "buffer_pool", "completeness"),
    },
}
"""Figures that polars does not check: samples show them, those of log in test_log.py."""


@pytest.mark.parametrize("name", REPORTS)
def test_no_figure_is_left_unchecked(name: str) -> None:
    held = set(BY_SAMPLE.get(name, ()))
    held |= {f"{each}_per_second" for each in BY_HAND.get(name, (b"", ""))[1].split()}
    for check in (each for each in CHECKS if each.report == name):
        columns = {each.name for each in columns_of(check.table)} if check.plain else set()
        held |= {*check.figures, *columns}
    assert {each.name for each in reports.report(name).figures} <= held


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
        "MPX1,QML1,2010/09/29,15:32:18,2,40000,5980,39371,32569,116,17400,4350,0,"
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
    assert row.startswith("MPX1,QML1,2010/09/29,15:32:18,36070,0,30659,")


def test_only_span_counters_that_counted_are_printed(write: Write) -> None:
    quiet = record(block("QMST", 300))
    busy = record(block("QMST", 300, qmstosps=12, qmstotpu=2_500_000))
    assert len(report_lines("msgm", write(quiet))) == 9
    assert [" ".join(line.split()) for line in report_lines("msgm", write(busy))[9:]] == [
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
    assert found[1] == "Number of deadlock conditions 0"
    assert [[each.strip() for each in line.split("|")] for line in found[4:]] == [
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
def test_storage_is_shown_in_the_interval_at_whose_end_it_was_written(
    write: Write, late: float
) -> None:
    """Records of pools have no interval, and are written as it ends or a moment late."""
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
        *((13, "requests", 0, None), (13, "pool", None, 0)),
        *((14, "requests", 1, None), (14, "pool", None, 1)),
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
