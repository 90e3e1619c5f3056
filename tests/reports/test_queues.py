"""The report queues: messages and bytes per second, and depth, of each queue and hour."""

from __future__ import annotations

import datetime as dt

from smfparse.reports import TOTAL
from tests.support.command import run
from tests.support.real import case
from tests.support.report_runs import rows_from
from tests.support.report_runs import values as figures
from tests.support.smf import START, block, record
from tests.support.traffic import got, put, using

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
        start=NOON + number * dt.timedelta(minutes=30),
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


def test_the_busiest_come_first_where_a_number_is_asked_for() -> None:
    rows = rows_from("queues", *STATISTICS, sections=TOTAL, top=1)
    assert [figures(row, "queue messages") for row in rows] == [["PAY.IN", 8100]]


def test_class_3_gives_the_messages_of_queues_without_counts() -> None:
    """As before MQ 9.3.1, where the queue statistics have depths alone."""
    depths = record(block("QQST", qqstqnam="PAY.IN", qqstdpth=7), seconds=60, release="930")
    users = using("JOB", put("PAY.IN", 120, size=50), got("PAY.OUT", 60, size=10, maxqdpth=9))
    rows = rows_from("queues", depths, users, sections=TOTAL)
    assert sorted(figures(row, NAMES) for row in rows) == [
        ["PAY.IN", 120, 0, 2.0, 0.0, 7, 7, "class 3"],
        ["PAY.OUT", 0, 60, 0.0, 1.0, None, 9, "class 3"],
    ]


def test_hours_of_class_3_have_the_rates_of_a_public_question() -> None:
    printed = run("report", "queues", case("edge"), "--format", "csv").stdout.splitlines()
    assert printed[0].startswith("z/OS,QM,Date,Time,Queue,Puts per second,Gets per second,Messages")
    assert [line.split(",")[4:6] for line in printed[1:]] == [
        ["EDGE.Q", f"{puts / 3600:.3f}"] for puts in (3000, 7000, 11000)
    ]
