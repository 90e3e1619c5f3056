"""The report qstat: queues as published, and over intervals; a queue manager for each case."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pytest

from smfparse import reports
from smfparse.reports import RECORDED, TOTAL, every
from tests.support.label_facts import numbered
from tests.support.published import published
from tests.support.report_runs import Rows, by_qmgr, cells, lines_of, rows_from
from tests.support.smf import START, block, record

pytestmark = pytest.mark.slow

LOCAL = {"qqstqnam": "LQ1001", "qqstpsid": 1, "qqstbpid": 1, "qqstdpth": 4}
SHARED = {
    "qqstqnam": "SQ1", "qqstflag": "QQSTDISP", "qqstpsid": -1, "qqstbpid": -1, "qqstqsgn": "PERF",
    "qqstcfst": "APPLICATION1",
}  # fmt: skip
TESTER = {
    "qqstqnam": "MP1B.TESTER", "qqstpsid": 4, "qqstbpid": 3, "qqstdpth": 110221, "qqstmage": 33910,
    "qqstdphi": 110221, "qqstputs": 500, "qqstput1": 7,
    "qqstlput": dt.datetime(2025, 2, 22, 14, 35, 54, 383295),
}  # fmt: skip
PARTIAL = {"qqstqnam": "Q", "qqstflag": "QQSTPART", "qqstpsid": 1, "qqstbpid": 1}
DEPTHS = ({"qqstdpth": 7}, {"qqstdpth": 9, "qqstmage": 5}, {"qqstflag": "QQSTPART"})
"""Intervals of a queue."""


def records() -> Iterator[bytes]:
    for qmgr, length, fields in (
        ("VTS1", 84, LOCAL), ("SHR0", 84, SHARED), ("SHR5", 552, SHARED), ("PART", 84, PARTIAL),
        ("NUMB", 672, numbered("qstat").fields),
        ("FREE", 552, {"qqstpsid": -1, "qqstbpid": -1}),
    ):  # fmt: skip
        yield record(block("QQST", length, **fields), qmgr=qmgr)
    start = dt.datetime(2025, 2, 22, 14, 35)
    late = {"start": start, "seconds": 60, "release": "940"}
    yield record(block("QQST", 552, **TESTER), qmgr="TEST", **late)
    for number, fields in enumerate(DEPTHS):
        begin = START + number * dt.timedelta(minutes=1)
        blocks = block("QQST", 552, qqstqnam="Q", **fields)
        yield record(blocks, start=begin, seconds=60, release="940", qmgr="DPTH")
    private = block("QQST", qqstqnam="Q", qqstdpth=1)
    shared = block("QQST", qqstqnam="Q", qqstdpth=2, qqstflag="QQSTDISP")
    yield record(private, shared, qmgr="BOTH")


Found = dict[str, Rows]


@pytest.fixture(scope="module")
def rows() -> Found:
    return by_qmgr(rows_from("qstat", *records(), sections=RECORDED))


def test_queue_statistics_are_printed_as_published(rows: Found) -> None:
    """Those of MQ 9.3.0, and of 2025."""
    assert lines_of("qstat", rows["VTS1"]) == [
        "MVAA,VTS1,2022/06/29,21:13:21,VRM:930,",
        "From 2022/06/29,21:13:20 to 2022/06/29,21:13:21, duration 1 seconds.",
        "= Queue Name LQ1001      COMPLETE RECORD      MVAA,VTS1,2022/06/29,21:13:21,VRM:930,",
        "> Disposition Private Pageset ID 1      Bufferpool ID 1",
        "Current Depth 4",
    ]
    shared = lines_of("qstat", rows["SHR0"])
    assert shared[3] == "> Disposition Shared QSG Name PERF      CF Struct Name APPLICATION1"
    found = lines_of("qstat", rows["TEST"])
    assert found[2] == found[0] == "MVAA,TEST,2025/02/22,14:36:00,VRM:940,"
    assert found[3:20] == published("qstat")
    assert [line for line in found if "Span" in line or "Context" in line] == []


def test_every_label_of_a_queue_is_that_of_its_field(rows: Found) -> None:
    """As IBM describes the fields; other programs mix up persistent and nonpersistent gets."""
    found, shown = lines_of("qstat", rows["NUMB"]), numbered("qstat").shown
    assert {f"{label:.<43}{number}" for label, number in shown.items()} <= {*found}


def test_a_queue_has_a_page_set_or_a_structure_or_is_unallocated(rows: Found) -> None:
    unallocated = "Pageset ID.................................Unallocated"
    assert unallocated in lines_of("qstat", rows["FREE"])
    found = lines_of("qstat", rows["SHR5"])
    assert found[3:7] == [
        "Queue Name.................................SQ1",
        "Disposition................................Shared",
        "QSG Name...................................PERF",
        "CF Struct Name.............................APPLICATION1",
    ]
    assert not [line for line in found if "Unallocated" in line or "Pageset" in line]


def test_a_partial_record_does_not_tell_a_depth_and_queues_of_one_name_are_two(
    rows: Found,
) -> None:
    found = lines_of("qstat", rows["PART"])
    assert "      PARTIAL RECORD      " in found[2]
    assert found[-1] == "Current Depth -"
    (row,) = cells(lines_of("qstat", rows["PART"], "csv"))
    assert (row["RecType"], row["Dpth"]) == ("Partial", "")
    totals, hours = (
        by_qmgr(rows_from("qstat", *records(), sections=each)) for each in (TOTAL, every("1h"))
    )
    (total,) = totals["DPTH"]  # that of the last full record
    assert (total["depth"], total["age"], total["record_type"]) == (9, 5, "Full")
    for each in (rows, totals, hours):
        depths = [(row["disposition"], row["depth"]) for row in each["BOTH"]]
        assert depths == [("Private", 1), ("Shared", 2)]


def test_missing_queue_statistics_name_the_trace_and_the_attribute_of_queues() -> None:
    told = reports.report("QSTATCSV").absent()
    assert "START TRACE(STAT) CLASS(5)" in told
    assert "STATQ(ON)" in told
