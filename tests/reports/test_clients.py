"""Which clients, from where, and how many at one moment; which channel moved most bytes."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from smfparse.reports import Sections
from tests.support.real import case
from tests.support.report_runs import Rows, lines_of, of, report_rows, rows_from
from tests.support.report_runs import values as figures
from tests.support.smf import START, block, record, task, task_record, task_token, who

CLIENT, SENDER, RECEIVER = 7, 1, 3
SECONDS = 600


def at(seconds: float) -> dt.datetime:
    """Return a moment, UTC, by the seconds since the first interval began."""
    return (START + dt.timedelta(seconds=seconds)).replace(tzinfo=dt.UTC)


def instance(address: str, started: float, stopped: float | None = None, **more: Any) -> bytes:
    """A QCST of an instance of a channel."""
    values = {
        "qcstchnm": "APP.SVRCONN",
        "qcstchty": CLIENT,
        "qcstrqmn": "orders",
        "qcstcnnm": address,
        "qcststrt": at(started),
        "qcstludt": None if stopped is None else at(stopped),
        "qcstnmsg": 10,
        "qcstbyst": 1000,
        "qcstbyrc": 3000,
    }
    return block("QCST", **values | more)


def interval(number: int, *instances: bytes, **more: Any) -> bytes:
    """A record of an interval of 10 minutes."""
    start = START + dt.timedelta(seconds=number * SECONDS)
    return record(*instances, start=start, seconds=SECONDS, **more)


TWO_INTERVALS = (
    interval(
        0,
        instance("10.0.0.1", -100),
        instance("10.0.0.1", 100, 200),
        instance("10.0.0.1", 200, 400),
        instance("10.0.0.2", 150),
        instance("10.0.0.2", 150),
        instance("10.0.0.2", 150, 160),
    ),
    interval(
        1,
        instance("10.0.0.1", -100, 700),
        instance("10.0.0.2", 150, 800),
        instance("10.0.0.2", 150),
        instance("10.0.0.3", 700, 701, qcstrqmn="reports"),
    ),
)
"""The second instance of 10.0.0.1 begins as the first one ends; 10.0.0.2 has three that begin in
one step of the clock."""


def test_an_instance_is_one_connection_however_many_intervals_it_lasts() -> None:
    rows = of("client", rows_from("clients", *TWO_INTERVALS))
    found = {row["address"]: figures(row, "connections most_at_once still_open") for row in rows}
    assert found == {"10.0.0.1": [3, 2, 0], "10.0.0.2": [3, 3, 1], "10.0.0.3": [1, 1, 0]}
    calls = {row["address"]: figures(row, "calls bytes conversations") for row in rows}
    assert calls == {
        "10.0.0.1": [40, 16_000, 0],
        "10.0.0.2": [50, 20_000, 0],
        "10.0.0.3": [10, 4_000, 0],
    }
    starts = {row["address"]: figures(row, "starts starts_per_second") for row in rows}
    assert starts["10.0.0.1"] == [2, pytest.approx(2 / 1200)]


def test_clients_are_put_together_as_by_asks() -> None:
    rows = of("client", rows_from("clients", *TWO_INTERVALS, by="program"))
    assert [figures(row, "address program connections most_at_once") for row in rows] == [
        [None, "orders", 6, 5],
        [None, "reports", 1, 1],
    ]
    text = lines_of("clients", rows, by="program")
    assert not any("Address" in line for line in text if line.startswith("Channel"))


def test_an_interval_has_the_instances_that_were_there_in_it() -> None:
    rows = of("client", rows_from("clients", *TWO_INTERVALS, sections=Sections("interval", 600)))
    found = [figures(row, "address connections most_at_once starts") for row in rows]
    assert sorted(found[:2]) == [["10.0.0.1", 3, 2, 2], ["10.0.0.2", 3, 3, 3]]
    assert sorted(found[2:]) == [
        ["10.0.0.1", 1, 1, 0],
        ["10.0.0.2", 2, 2, 0],
        ["10.0.0.3", 1, 1, 1],
    ]


def test_product_and_version_are_as_people_write_them() -> None:
    of_mq10 = {"release": "946"}
    given = [("MQJM", "09030021"), ("MQCC", "08000005"), ("MQCC", "odd"), ("", "")]
    rows = rows_from(
        "clients",
        interval(
            0,
            *(
                instance("10.0.0.1", 10 * n, 10 * n + 5, qcstrpid=product, qcstrver=version)
                for n, (product, version) in enumerate(given)
            ),
            **of_mq10,
        ),
    )
    found = {(row["product"], row["version"]) for row in of("client", rows)}
    assert found == {("MQJM", "9.3.0.21"), ("MQCC", "8.0.0.5"), ("MQCC", "odd"), (None, None)}


def test_a_channel_without_its_own_records_has_clients_by_its_tasks() -> None:
    def connection(number: int, address: str) -> bytes:
        by = who("CHIN", kind=6, wtidchl="OLD.SVRCONN", wtidchlc=address)
        return task_record(task(task_token(number)), by=by)

    rows = rows_from("clients", *(connection(n, f"10.1.1.{n % 2}") for n in range(5)))
    found = [figures(row, "address connections most_at_once calls") for row in of("client", rows)]
    assert found == [["10.1.1.0", 3, 3, None], ["10.1.1.1", 2, 2, None]]


def test_the_clients_of_a_public_question() -> None:
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


# Channels -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def channels() -> Rows:
    names = {"qcstchnm": "FAR", "qcstchty": RECEIVER, "qcstnbyt": 2000}
    return rows_from(
        "channels",
        *TWO_INTERVALS,
        interval(
            0,
            instance("far", -100, **names, qcstrqmn="QMA"),
            instance("far", 300, **names, qcstrqmn="QMB", qcstnmsg=30),
            instance("near", -100, qcstchnm="NEAR", qcstchty=SENDER, qcstbyst=9e6, qcstnmsg=1),
        ),
        sort="bytes",
    )


def test_channels_are_ranked_by_the_bytes_that_they_carried(channels: Rows) -> None:
    """A sender's go out, a receiver's come in, a client's both; by the 1200 seconds of all."""
    found = [figures(row, "channel bytes bytes_per_second") for row in of("channel", channels)]
    assert found == [
        ["NEAR", 9_000_000, 7500],
        ["APP.SVRCONN", 40_000, pytest.approx(40_000 / 1200)],
        ["FAR", 6000, 5],
    ]


def test_a_channel_of_several_partners_has_a_row_for_each(channels: Rows) -> None:
    found = {row["channel"]: figures(row, "partner partners") for row in of("channel", channels)}
    assert found == {"NEAR": ["orders", 1], "APP.SVRCONN": [None, 2], "FAR": [None, 2]}
    partners = [figures(row, "channel partner messages bytes") for row in of("partner", channels)]
    assert sorted(partners) == [
        ["APP.SVRCONN", "orders", 90, 36_000],
        ["APP.SVRCONN", "reports", 10, 4000],
        ["FAR", "QMA", 10, 3000],
        ["FAR", "QMB", 30, 3000],
    ]


def test_partners_of_a_public_question() -> None:
    rows = of("partner", report_rows("channels", case("clients")))
    assert [figures(row, "channel partner instances") for row in rows] == [
        ["APP1.SVRCONN", "LegacyBatch", 26],
        ["APP2.SVRCONN", "Portal", 18],
        ["APP1.SVRCONN", "OrderSvc", 14],
        ["APP2.SVRCONN", "OldVB", 2],
    ]
