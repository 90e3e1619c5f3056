"""The reports of the channel initiator give what was published for the same numbers."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from tests.support import smf
from tests.support.published import CHANNEL_INTERVAL, EAST, SENDER, channels, published
from tests.support.report_runs import cells, lines_of, rows_from

D45_START = dt.datetime(2014, 4, 8, 20, 41, 54, 984_681)
D45_SECONDS = 122.253258


def record(*blocks: bytes, of: str | None = None, **keys: Any) -> bytes:
    """A record of the channel initiator of the published samples."""
    usual = {"start": D45_START, "seconds": D45_SECONDS, "system": "MV45", "qmgr": "MQ20"}
    return smf.record(*blocks, of=of, **({"east": EAST, "release": "800"} | usual | keys))


def task(name: str, requests: int, cpu: float, elapsed: float, **values: Any) -> bytes:
    """A task block; times in seconds."""
    return smf.block(name, qctreqn=requests, qctcptm=cpu * 1e6, qcteltm=elapsed * 1e6, **values)


ADAPTERS = [
    (127599, 0.953615, 20.160642),
    (46790, 0.309678, 9.311210),
    (13702, 0.065380, 3.891368),
    (2800, 0.027000, 0.758800),
    (551, 0.006136, 0.092568),
    *[(0, 0, 0)] * 3,
]


Rows = list[dict[str, Any]]


def of(rows: Rows, qmgr: str) -> Rows:
    return [row for row in rows if row["qmgr"] == qmgr]


# Tasks.


def test_adapters_are_printed_as_published() -> None:
    tasks = [task("QCT_ADP", *each) for each in ADAPTERS]
    rows = rows_from("adap", record(*tasks, of="QCT_ADP"))
    assert lines_of("adap", rows) == published("adap")
    (row,) = cells(lines_of("adap", rows, "csv"))  # a row an interval; in JSON there is every task
    assert row["Requests"] == "191442"


# The channel initiator.

LIMITS: dict[str, Any] = {
    "qcctnocc": 1, "qcctnoac": 1, "qcctmxcc": 9999, "qcctmxac": 9999, "qcctmxtp": 9999,
    "qcctmxlu": 200, "qcctstus": 436,
}  # fmt: skip


def test_the_channel_initiator_is_printed_as_published_before_and_since_mq_9_3_5() -> None:
    new = smf.block("QCCT", 64, **LIMITS, qcctslim=17_592_186_040_320, qcctstab=77)
    rows = rows_from(
        "chinit",
        record(smf.block("QCCT", **LIMITS)),
        record(new, release="935", qmgr="MQ35"),
    )
    assert lines_of("chinit", of(rows, "MQ20"))[2:] == [
        *published("chinit"),
        "Storage used by Chinit......... 436MB",
    ]
    assert lines_of("chinit", of(rows, "MQ35"))[2:] == [
        *published("chinit"),
        "31-bit storage used............................ 436 MB",
        "64-bit storage limit...........................16384 PB",
        "64-bit storage used............................  77 MB",
    ]


# Channels: a queue manager for each case.

STOPPED = {
    "qcststrt": (CHANNEL_INTERVAL + dt.timedelta(seconds=10) - EAST).replace(tzinfo=dt.UTC),
    "qcstludt": (CHANNEL_INTERVAL + dt.timedelta(seconds=15.5) - EAST).replace(tzinfo=dt.UTC),
}


def records() -> list[bytes]:
    return [
        channels(SENDER),
        channels(SENDER | STOPPED, qmgr="STOP"),
        # The channel initiator writes several where there are many channels, some a moment later.
        channels(SENDER, qmgr="MANY"),
        channels(SENDER | {"qcstchnm": "MQ89_2"}, seconds=D45_SECONDS + 0.01, qmgr="MANY"),
    ]


@pytest.fixture(scope="module")
def dchs() -> Rows:
    return rows_from("dchs", *records())


@pytest.fixture(scope="module")
def dchssum() -> Rows:
    return rows_from("dchssum", *records())


def test_a_channel_is_printed_as_published(dchs: Rows) -> None:
    found = {}
    for line in lines_of("dchs", of(dchs, "MQ20"))[2:]:
        assert line.startswith("127.0.0.1  MQ89_1  ")
        label, value = line[19:51].rstrip(), line[51:]
        found[label] = " ".join(value.split())
    expected = dict(line.split(": ", 1) for line in published("dchs"))
    assert {label: found[label] for label in expected} == expected
    assert list(found)[:6] == list(expected)[:6]
    labels = list(found)
    assert labels[labels.index("Batches/Second") + 1] == "Batches/s"
    assert found["Batches/s"] == "0.631"  # a low rate is shown below the line of MP1B
    (row,) = cells(lines_of("dchs", of(dchs, "MQ20"), "csv"))
    assert (row["Batches/second"], row["Batches/s"]) == ("0", "0.631")


def test_a_channel_that_ended_was_active_until_then(dchs: Rows) -> None:
    (row,) = of(dchs, "STOP")
    assert (row["active"], row["sent_per_second"]) == (5, 17_200_221 / 5)


def test_the_records_of_one_interval_are_one_section_without_marks(
    dchs: Rows, dchssum: Rows
) -> None:
    rows = of(dchs, "MANY")
    assert len(rows) == 2
    text = lines_of("dchs", rows)
    assert sum(line.startswith("From ") for line in text) == 1
    assert not any(line.startswith("Marked") for line in text)
    found = lines_of("dchssum", of(dchssum, "MANY"))[1:]
    expected = [["SENDER", "2", "3012"], ["total", "2", "3012"]]
    assert [line.split(",")[5:8] for line in found] == expected
