"""Which clients, from where, and how many at one moment."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from smfparse.reports.sections import Sections
from tests.support.real import case
from tests.support.report_runs import lines_of, of, report_rows, rows_from
from tests.support.report_runs import values as figures
from tests.support.smf import START, block, record, task, task_record, task_token, who

CLIENT = 7
SECONDS = 600
NEAR = pytest.approx


def instance(address: str, started: float, stopped: float | None = None, **more: Any) -> bytes:
    """A QCST of an instance of a channel; times in seconds since the first interval began."""
    start, stop = (
        None if each is None else (START + dt.timedelta(seconds=each)).replace(tzinfo=dt.UTC)
        for each in (started, stopped)
    )
    usual = {
        "qcstchnm": "APP.SVRCONN", "qcstchty": CLIENT, "qcstrqmn": "orders", "qcstnmsg": 10,
        "qcstbyst": 1000, "qcstbyrc": 3000,
    }  # fmt: skip
    return block("QCST", **{**usual, **more}, qcstcnnm=address, qcststrt=start, qcstludt=stop)


def interval(number: int, *instances: bytes, **more: Any) -> bytes:
    """A record of an interval of 10 minutes."""
    start = START + dt.timedelta(seconds=number * SECONDS)
    return record(*instances, start=start, seconds=SECONDS, **more)


TWO_INTERVALS = (
    interval(
        0,
        *(instance("10.0.0.1", *times) for times in ((-100,), (100, 200), (200, 400))),
        *(instance("10.0.0.2", *times) for times in ((150,), (150,), (150, 160))),
    ),
    interval(
        1,
        *(instance("10.0.0.1", -100, 700), instance("10.0.0.2", 150, 800)),
        *(instance("10.0.0.2", 150), instance("10.0.0.3", 700, 701, qcstrqmn="reports")),
    ),
)
"""The second instance of 10.0.0.1 begins as the first one ends; 10.0.0.2 has three that begin in
one step of the clock."""


def clients(names: str, *records: bytes, **asked: Any) -> list[list[Any]]:
    return [figures(row, names) for row in of("client", rows_from("clients", *records, **asked))]


def test_an_instance_is_one_connection_however_many_intervals_it_lasts() -> None:
    names = "address connections most_at_once still_open calls bytes starts starts_per_second"
    assert sorted(clients(names, *TWO_INTERVALS)) == [
        ["10.0.0.1", 3, 2, 0, 40, 16_000, 2, NEAR(2 / 1200)],
        ["10.0.0.2", 3, 3, 1, 50, 20_000, 3, NEAR(3 / 1200)],
        ["10.0.0.3", 1, 1, 0, 10, 4_000, 1, NEAR(1 / 1200)],
    ]


def test_clients_are_put_together_as_by_asks() -> None:
    rows = of("client", rows_from("clients", *TWO_INTERVALS, by="program"))
    assert [figures(row, "address program connections most_at_once") for row in rows] == [
        [None, "orders", 6, 5],
        [None, "reports", 1, 1],
    ]
    text = lines_of("clients", rows, by="program")
    assert not any("Address" in line for line in text if line.startswith("Channel"))


def test_instances_are_a_share_of_the_maxinst_that_is_given() -> None:
    asked = {"maxinst": ["app.svrconn=8", "OTHER.SVRCONN = 1"]}
    rows = of("limit", rows_from("clients", *TWO_INTERVALS, **asked))
    found = [figures(row, "channel most_at_once maxinst maxinst_share") for row in rows]
    assert found == [["APP.SVRCONN", 5, 8, NEAR(62.5)]]
    assert not of("limit", rows_from("clients", *TWO_INTERVALS))


def test_an_interval_has_the_instances_that_were_there_in_it() -> None:
    names, sections = "address connections most_at_once starts", Sections("interval", 600)
    found = clients(names, *TWO_INTERVALS, sections=sections)
    assert sorted(found[:2]) == [["10.0.0.1", 3, 2, 2], ["10.0.0.2", 3, 3, 3]]
    assert sorted(found[2:]) == [
        ["10.0.0.1", 1, 1, 0],
        ["10.0.0.2", 2, 2, 0],
        ["10.0.0.3", 1, 1, 1],
    ]


def test_product_and_version_are_as_people_write_them() -> None:
    given = [("MQJM", "09030021"), ("MQCC", "08000005"), ("MQCC", "odd"), ("", "")]
    instances = (
        instance("10.0.0.1", 10 * number, 10 * number + 5, qcstrpid=product, qcstrver=version)
        for number, (product, version) in enumerate(given)
    )
    assert {*map(tuple, clients("product version", interval(0, *instances, release="946")))} == {
        ("MQJM", "9.3.0.21"), ("MQCC", "8.0.0.5"), ("MQCC", "odd"), (None, None)
    }  # fmt: skip


def test_a_channel_without_its_own_records_has_clients_by_its_tasks() -> None:
    def connection(number: int) -> bytes:
        by = who("CHIN", kind=6, wtidchl="OLD.SVRCONN", wtidchlc=f"10.1.1.{number % 2}")
        return task_record(task(task_token(number)), by=by)

    found = clients("address connections most_at_once calls", *map(connection, range(5)))
    assert found == [["10.1.1.0", 3, 3, None], ["10.1.1.1", 2, 2, None]]


def test_clients_and_partners_of_a_public_question() -> None:
    """By address, application name and version; no two at one moment."""
    rows = of("client", report_rows("clients", case("clients")))
    names = "channel address program product version connections most_at_once calls bytes"
    assert [figures(row, names) for row in rows] == [
        ["APP1.SVRCONN", "10.1.1.7", "LegacyBatch", "MQCC", "8.0.0.5", 26, 1, 312, 858_000],
        ["APP2.SVRCONN", "198.51.100.9", "Portal", "MQCC", "9.4.0.10", 18, 1, 216, 990_000],
        ["APP1.SVRCONN", "10.1.1.6", "OrderSvc", "MQCC", "9.3.0.21", 9, 1, 108, 198_000],
        ["APP1.SVRCONN", "10.1.1.5", "OrderSvc", "MQJM", "9.3.0.21", 5, 1, 60, 55_000],
        ["APP2.SVRCONN", "192.0.2.44", "OldVB", "MQCC", "7.5.0.2", 2, 1, 24, 88_000],
    ]
    rows = of("partner", report_rows("channels", case("clients")))
    assert [figures(row, "channel partner instances bytes") for row in rows] == [
        ["APP1.SVRCONN", "LegacyBatch", 26, 858_000],
        ["APP2.SVRCONN", "Portal", 18, 990_000],
        ["APP1.SVRCONN", "OrderSvc", 14, 253_000],
        ["APP2.SVRCONN", "OldVB", 2, 88_000],
    ]
