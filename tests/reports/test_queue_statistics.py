"""The report qstat: queues as published, and over intervals."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

import pytest

from smfparse import reports
from smfparse.reports import RECORDED, TOTAL, every
from tests.support.builders import Write
from tests.support.fact_blocks import facts
from tests.support.report_runs import cells, report_lines, report_rows
from tests.support.smf import START, block, record

pytestmark = pytest.mark.slow


def test_the_queue_statistics_of_mq_9_3_0_are_printed_as_published(write: Write) -> None:
    queue = block("QQST", qqstqnam="LQ1001", qqstpsid=1, qqstbpid=1, qqstdpth=4)
    assert report_lines("QSTAT", write(record(queue))) == [
        "MVAA,VTS1,2022/06/29,21:13:21,VRM:930,",
        "From 2022/06/29,21:13:20 to 2022/06/29,21:13:21, duration 1 seconds.",
        "= Queue Name LQ1001      COMPLETE RECORD      MVAA,VTS1,2022/06/29,21:13:21,VRM:930,",
        "> Disposition Private Pageset ID 1      Bufferpool ID 1",
        "Current Depth 4",
    ]


def test_a_shared_queue_of_mq_9_3_0_is_printed_as_published(write: Write) -> None:
    shared = block(
        "QQST",
        qqstqnam="SQ1",
        qqstflag="QQSTDISP",
        qqstpsid=-1,
        qqstbpid=-1,
        qqstqsgn="PERF",
        qqstcfst="APPLICATION1",
    )
    found = report_lines("qstat", write(record(shared)))
    assert found[3] == "> Disposition Shared QSG Name PERF      CF Struct Name APPLICATION1"


def test_queues_in_the_first_csv_columns_are_those_of_mp1b(write: Write) -> None:
    queue = block("QQST", qqstqnam="LQ1001", qqstpsid=1, qqstbpid=1, qqstdpth=4)
    header, row = report_lines("QSTATCSV", write(record(queue)), form="csv")
    assert header.startswith(
        "z/OS,QM,Date,Time,Queue,Disp,PSID,BPID,QSG,CF,Dpth,OPPROC,IPPROC,QTIMES,QTIMEL,L"
    )
    assert "cLow,IPProcHigh,IPProcLow,MQOPENs,MQCLOSEs,MQINQs,MQSETs,ExpiredMsgs,RecType" in header
    assert row.startswith("MVAA,VTS1,2022-06-29,21:13:21,LQ1001,Private,1,1,,,4,")
    assert cells([header, row])[0]["RecType"] == "Full"
    names = header.split(",")
    assert len(names) == len(set(names))


TESTER = {
    "qqstqnam": "MP1B.TESTER",
    "qqstpsid": 4,
    "qqstbpid": 3,
    "qqstdpth": 110221,
    "qqstmage": 33910,
    "qqstdphi": 110221,
    "qqstputs": 500,
    "qqstput1": 7,
    "qqstlput": dt.datetime(2025, 2, 22, 14, 35, 54, 383295),
}
PUBLISHED = """\
Queue Name.................................MP1B.TESTER
Disposition................................Private
Pageset ID.................................4
Bufferpool ID..............................3
Current Depth..............................110221
Open Output Count..........................0
Open Input Count...........................0
QTIME Short................................0
QTIME Long.................................0
Last Put Time..............................2025/02/22,14:35:54.383295
Last Get Time..............................
Uncommitted Changes........................No
Oldest Message Age.........................33910
Highest Depth..............................110221
Lowest Depth...............................0
Total Puts.................................507
MQPUTs.....................................500"""


def test_the_queue_statistics_of_2025_are_printed_as_published(write: Write) -> None:
    made = record(
        block("QQST", 552, **TESTER),
        start=dt.datetime(2025, 2, 22, 14, 35),
        seconds=60,
        release="940",
    )
    found = report_lines("qstat", write(made))
    assert found[2] == found[0] == "MVAA,VTS1,2025/02/22,14:36:00,VRM:940,"
    assert "\n".join(found[3:20]) == PUBLISHED
    assert [line for line in found if "Span" in line or "Context" in line] == []


LABELS = {
    "MQPUTs Nonpersistent": "qqstnppt", "MQPUTs Persistent": "qqstppt",
    "MQPUT1s Nonpersistent": "qqstnpp1", "MQPUT1s Persistent": "qqstpp1",
    "MQGETs Nonpersistent": "qqstnpdg", "MQGETs Persistent": "qqstpdg",
    "Browses Nonpersistent": "qqstnpbr", "Browses Persistent": "qqstpbr", "MQPUT Bytes": "qqstputb",
    "MQPUT1 Bytes": "qqstpt1b", "MQGET Bytes": "qqstgetb", "Browse Bytes": "qqstbrwb",
    "Puts To Waiting Getter": "qqstfptc", "Streamed Messages": "qqststrm",
    "Failed MQGETs No Message": "qqstnmag", "Failed Browses No Message": "qqstnmab",
    "MQGETs With Signal": "qqstsagt", "Highest Open Output Count": "qqstophi",
    "Lowest Open Input Count": "qqstiplo", "MQOPENs": "qqstopen", "MQCLOSEs": "qqstclos",
    "MQINQs": "qqstinqr", "MQSETs": "qqstset", "Expired Messages": "qqstexpr",
    "Rolled Back Gets": "qqstrbgt", "Open Output Count": "qqstopct", "QTIME Short": "qqstqtst",
    "QTIME Long": "qqstqtlt", "Highest Depth": "qqstdphi", "Lowest Depth": "qqstdplo",
    "Messages Not Sampled": "qqstosns",
}  # fmt: skip
"""Labels as IBM describes the fields; other programs mix up persistent and nonpersistent gets."""


def test_every_label_of_a_queue_is_that_of_its_field(write: Write) -> None:
    """Each field has a number of its own: its offset."""
    numbers = {name: int(facts()["QQST"][name]["offset"]) for name in LABELS.values()}
    found = report_lines("qstat", write(record(block("QQST", 672, **numbers))))
    for label, name in LABELS.items():
        assert f"{label:.<43}{numbers[name]}" in found


def test_a_queue_without_a_page_set_is_unallocated(write: Write) -> None:
    found = report_lines("qstat", write(record(block("QQST", 552, qqstpsid=-1, qqstbpid=-1))))
    assert "Pageset ID.................................Unallocated" in found


def test_a_shared_queue_of_2025_has_its_structure_in_place_of_a_page_set(write: Write) -> None:
    shared = block(
        "QQST",
        552,
        qqstqnam="SQ1",
        qqstflag="QQSTDISP",
        qqstpsid=-1,
        qqstbpid=-1,
        qqstqsgn="PERF",
        qqstcfst="APPLICATION1",
    )
    found = report_lines("qstat", write(record(shared)))
    assert found[3:7] == [
        "Queue Name.................................SQ1",
        "Disposition................................Shared",
        "QSG Name...................................PERF",
        "CF Struct Name.............................APPLICATION1",
    ]
    assert not [line for line in found if "Unallocated" in line or "Pageset" in line]


def test_a_queue_of_mq_9_3_1_has_no_line_of_later_releases(write: Write) -> None:
    found = report_lines("qstat", write(record(block("QQST", 120, qqstqnam="Q", qqstopct=3))))
    assert "Open Output Count..........................3" in found
    assert found[-2:] == [
        "Oldest Message Age.........................0",
        "Record Type................................Full",
    ]


def test_a_partial_record_does_not_tell_a_depth(write: Write) -> None:
    made = record(block("QQST", qqstqnam="Q", qqstflag="QQSTPART", qqstpsid=1, qqstbpid=1))
    found = report_lines("qstat", write(made))
    assert "      PARTIAL RECORD      " in found[2]
    assert found[-1] == "Current Depth -"
    (row,) = cells(report_lines("qstat", write(made), form="csv"))
    assert (row["RecType"], row["Dpth"]) == ("Partial", "")


def queue_over_intervals(*intervals: Mapping[str, Any]) -> list[bytes]:
    return [
        record(
            block("QQST", 552, qqstqnam="Q", **values),
            start=START + number * dt.timedelta(minutes=1),
            seconds=60,
            release="940",
        )
        for number, values in enumerate(intervals)
    ]


def test_a_queue_over_intervals_has_the_depth_of_its_last_full_record(write: Write) -> None:
    partial = {"qqstflag": "QQSTPART", "qqstdpth": 0}
    path = write(*queue_over_intervals({"qqstdpth": 7}, {"qqstdpth": 9, "qqstmage": 5}, partial))
    (row,) = report_rows("qstat", path, sections=TOTAL)
    assert (row["depth"], row["age"], row["record_type"]) == (9, 5, "Full")


def test_messages_of_a_queue_over_intervals_are_weighted_by_puts(write: Write) -> None:
    path = write(
        *queue_over_intervals(
            {"qqstputs": 30, "qqstmsav": 100, "qqstmsmi": 10},
            {"qqstput1": 10, "qqstmsav": 500, "qqstmsmi": 400},
            {},
        )
    )
    (row,) = report_rows("qstat", path, sections=TOTAL)
    assert row["average"] == (30 * 100 + 10 * 500) / 40
    assert row["smallest"] == 10


def test_a_private_and_a_shared_queue_of_one_name_are_two(write: Write) -> None:
    private = block("QQST", qqstqnam="Q", qqstdpth=1)
    shared = block("QQST", qqstqnam="Q", qqstdpth=2, qqstflag="QQSTDISP")
    for sections in (RECORDED, TOTAL, every("1h")):
        found = report_rows("qstat", write(record(private, shared)), sections=sections)
        assert [(row["disposition"], row["depth"]) for row in found] == [
            ("Private", 1),
            ("Shared", 2),
        ]


def test_missing_queue_statistics_name_what_to_start() -> None:
    """The trace, and the attribute of queues."""
    told = reports.report("QSTATCSV").absent()
    assert "START TRACE(STAT) CLASS(5)" in told
    assert "STATQ(ON)" in told
