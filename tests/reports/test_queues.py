"""The report queues: messages and bytes per second, and depth, of each queue and hour."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from smfparse.reports import TOTAL
from tests.support.command import run
from tests.support.real import case
from tests.support.report_runs import Rows, report_rows, rows_from
from tests.support.report_runs import values as figures
from tests.support.smf import START, block, record
from tests.support.traffic import got, put, using

NOON = START.replace(hour=12, minute=0, second=0)
HALF_HOUR = dt.timedelta(minutes=30)


def half_hour(number: int, *queues: bytes, **more: Any) -> bytes:
    """A record of the queue statistics of half an hour, from noon on."""
    start = NOON + number * HALF_HOUR
    return record(*queues, start=start, seconds=HALF_HOUR.seconds, release="940", **more)


def counts(name: str, **values: Any) -> bytes:
    return block("QQST", 504, qqstqnam=name, **values)


STATISTICS = (
    half_hour(
        0,
        counts("PAY.IN", qqstputs=1000, qqstput1=800, qqstgets=900, qqstputb=90_000, qqstdpth=900),
        counts("IDLE"),
    ),
    half_hour(
        1,
        counts("PAY.IN", qqstputs=1800, qqstgets=2700, qqstgetb=360_000, qqstdphi=950),
        counts("LATE", qqstputs=7200),
    ),
    half_hour(2, counts("PAY.IN", qqstputs=900)),
)
"""From 12:00 to 13:30."""


def test_each_queue_has_a_row_an_hour_with_its_rates_over_the_time_of_all_queues() -> None:
    rows = rows_from("queues", *STATISTICS)
    names = "queue puts gets put_rate get_rate depth highest_depth data"
    assert [figures(row, names) for row in rows] == [
        ["LATE", 7200, 0, 2.0, 0.0, 0, 0, "QQST"],
        ["PAY.IN", 3600, 3600, 1.0, 1.0, 0, 950, "QQST"],
        ["PAY.IN", 900, 0, 0.5, 0.0, 0, 0, "QQST"],
    ]
    rates = figures(rows[1], "put_bytes_per_second got_bytes_per_second")
    assert rates == [25.0, 100.0]


def test_the_busiest_come_first_where_a_number_is_asked_for() -> None:
    rows = rows_from("queues", *STATISTICS, sections=TOTAL, top=1)
    assert [figures(row, "queue messages") for row in rows] == [["PAY.IN", 8100]]


def test_class_3_gives_the_messages_of_queues_without_counts() -> None:
    """As before MQ 9.3.1, where the queue statistics have depths alone."""
    depths = record(block("QQST", qqstqnam="PAY.IN", qqstdpth=7), seconds=60, release="930")
    users = using("JOB", put("PAY.IN", 120, size=50), got("PAY.OUT", 60, size=10, maxqdpth=9))
    rows: Rows = rows_from("queues", depths, users, sections=TOTAL)
    names = "queue puts gets put_rate get_rate depth highest_depth data"
    found = {row["queue"]: figures(row, names)[1:] for row in rows}
    assert found == {
        "PAY.IN": [120, 0, 2.0, 0.0, 7, 7, "class 3"],
        "PAY.OUT": [0, 60, 0.0, 1.0, None, 9, "class 3"],
    }


def test_hours_of_class_3_have_the_rates_of_a_public_question() -> None:
    found = {
        f"{row['bucket']:%H:%M}": row["put_rate"] for row in report_rows("queues", case("edge"))
    }
    assert found == {
        hour: pytest.approx(puts / 3600, rel=1e-4)
        for hour, puts in (("09:00", 3000), ("10:00", 7000), ("11:00", 11000))
    }


def test_csv_has_a_line_a_queue_and_hour() -> None:
    printed = run("report", "queues", case("edge"), "--format", "csv").stdout.splitlines()
    assert printed[0].startswith("z/OS,QM,Date,Time,Queue,Puts per second,Gets per second,Messages")
    assert [line.split(",")[4:6] for line in printed[1:]] == [
        ["EDGE.Q", "0.833"],
        ["EDGE.Q", "1.944"],
        ["EDGE.Q", "3.056"],
    ]
