"""The reports of the channel initiator give what was published for the same numbers."""

from __future__ import annotations

import datetime as dt
from typing import Any

from smfparse.dashboard.declaration import panels, tables
from smfparse.summarizing.figures import lines as summary_lines
from tests.support import smf
from tests.support.published import (
    CHANNEL_INTERVAL,
    EAST,
    SECONDS,
    SENDER,
    channels,
    of_chinit,
    published,
)
from tests.support.report_runs import by_qmgr, cells, lines_of, rows_from

ADAPTERS = [
    (127599, 0.953615, 20.160642), (46790, 0.309678, 9.311210), (13702, 0.065380, 3.891368),
    (2800, 0.027000, 0.758800), (551, 0.006136, 0.092568), *[(0, 0, 0)] * 3,
]  # fmt: skip
"""Requests, and seconds of CPU and elapsed time."""


def test_adapters_are_printed_as_published() -> None:
    tasks = [
        smf.block("QCT_ADP", qctreqn=requests, qctcptm=cpu * 1e6, qcteltm=elapsed * 1e6)
        for requests, cpu, elapsed in ADAPTERS
    ]
    an_hour_later = CHANNEL_INTERVAL + dt.timedelta(hours=1)
    rows = rows_from("adap", of_chinit(*tasks, of="QCT_ADP", start=an_hour_later))
    assert lines_of("adap", rows) == published("adap")
    (row,) = cells(lines_of("adap", rows, "csv"))  # a row an interval; in JSON there is every task
    assert row["Requests"] == "191442"


LIMITS: dict[str, Any] = {
    "qcctnocc": 1, "qcctnoac": 1, "qcctmxcc": 9999, "qcctmxac": 9999, "qcctmxtp": 9999,
    "qcctmxlu": 200, "qcctstus": 436,
}  # fmt: skip


def test_the_channel_initiator_is_printed_as_published_before_and_since_mq_9_3_5() -> None:
    new = smf.block("QCCT", 64, **LIMITS, qcctslim=17_592_186_040_320, qcctstab=77)
    old = smf.block("QCCT", **LIMITS)
    rows = by_qmgr(rows_from("chinit", of_chinit(old), of_chinit(new, release="935", qmgr="MQ35")))
    storage = {
        "MQ20": ["Storage used by Chinit......... 436MB"],
        "MQ35": [
            "31-bit storage used............................ 436 MB",
            "64-bit storage limit...........................16384 PB",
            "64-bit storage used............................  77 MB",
        ],
    }
    for qmgr, lines in storage.items():
        assert lines_of("chinit", rows[qmgr])[2:] == [*published("chinit"), *lines]


def ended(seconds: float) -> dt.datetime:
    return (CHANNEL_INTERVAL + dt.timedelta(seconds=seconds) - EAST).replace(tzinfo=dt.UTC)


def test_channels_are_printed_as_published() -> None:
    """One that ended was active until then; the records of one interval are one section."""
    records = [
        channels(SENDER),
        channels(SENDER | {"qcststrt": ended(10), "qcstludt": ended(15.5)}, qmgr="STOP"),
        # The channel initiator writes several where there are many channels, some a moment later.
        channels(SENDER, qmgr="MANY"),
        channels(SENDER | {"qcstchnm": "MQ89_2"}, seconds=SECONDS + 0.01, qmgr="MANY"),
    ]
    rows = by_qmgr(rows_from("dchs", *records))
    found = {}
    for line in lines_of("dchs", rows["MQ20"])[2:]:
        assert line.startswith("127.0.0.1  MQ89_1  ")
        found[line[19:51].rstrip()] = " ".join(line[51:].split())
    expected = dict(line.split(": ", 1) for line in published("dchs"))
    assert {label: found[label] for label in expected} == expected
    labels = [*found]
    assert labels[:6] == [*expected][:6]
    # A low rate is shown below the line of MP1B.
    assert labels[labels.index("Batches/Second") + 1] == "Batches/s"
    (row,) = cells(lines_of("dchs", rows["MQ20"], "csv"))
    assert (row["Batches/second"], row["Batches/s"], found["Batches/s"]) == ("0", "0.631", "0.631")
    (row,) = rows["STOP"]
    assert (row["active"], row["sent_per_second"]) == (5, 17_200_221 / 5)
    text = lines_of("dchs", rows["MANY"])
    assert sum(line.startswith("From ") for line in text) == 1
    assert not any(line.startswith("Marked") for line in text)
    sums = lines_of("dchssum", by_qmgr(rows_from("dchssum", *records))["MANY"])[1:]
    assert [line.split(",")[5:8] for line in sums] == [
        ["SENDER", "2", "3012"],
        ["total", "2", "3012"],
    ]


def test_a_server_connection_channel_counts_mqi_calls_and_every_heading_says_so() -> None:
    client = SENDER | {"qcstchnm": "WEB.SVRCONN", "qcstchty": 7}
    rows = rows_from("channels", channels(client))
    (row, *_) = cells(lines_of("channels", rows, "csv"))
    counted = str(SENDER["qcstnmsg"])
    assert [name for name, value in row.items() if value == counted] == ["Messages or MQI calls"]
    assert {"Messages or MQI calls per second", "Bytes per message or MQI call"} < row.keys()
    text = lines_of("channels", rows)
    assert any("Msgs/calls are MQI calls of server-connection" in line for line in text)
    assert summary_lines()["channel-messages"].label == "Channel msgs/calls/s"
    for each in (panels()["channel-messages"], tables()["channel-loads"]):
        assert "MQI calls" in each.title
