"""What is declared once and stands for more: cluster and model queues, aliases, agents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from smfparse.errors import RequestError
from smfparse.simulating import read_estate
from tests.simulating.simulated import declared, made

pytestmark = pytest.mark.slow

OPENED = """
    SELECT
        wtidccn, objname, basename, any_value(qtype_text), sum(putn)::BIGINT, sum(getdval)::BIGINT
    FROM wqst JOIN wtid USING (record_no) GROUP BY ALL ORDER BY ALL
"""


def test_what_is_put_to_a_cluster_queue_goes_to_transmission_queues(tmp_path: Path) -> None:
    queues = {"XMIT.A": {}, "XMIT.B": {}, "CLAIMS": {"cluster": {"XMIT.A": 0.75, "XMIT.B": 0.25}}}
    users = {"PUT": {"rate": 4.0, "put": {"CLAIMS": 1}}, "SEND": {"get": ["XMIT.A", "XMIT.B"]}}
    day = made(tmp_path, declared(queues, users))
    counts = {
        (opened, queue, kind): count
        for _, opened, queue, kind, count, _ in day.rows(OPENED)
        if count
    }
    assert counts.keys() == {
        ("CLAIMS", "XMIT.A", "Cluster queue"),
        ("CLAIMS", "XMIT.B", "Cluster queue"),
    }
    share = counts["CLAIMS", "XMIT.A", "Cluster queue"] / sum(counts.values())
    assert share == pytest.approx(0.75, rel=0.001)
    assert day.rows("SELECT DISTINCT qqstqnam FROM qqst WHERE qqstqnam = 'CLAIMS'") == []


def test_each_task_that_opens_a_model_queue_has_a_queue_of_its_own(tmp_path: Path) -> None:
    asker = {"rate": 6.0, "tasks": 3, "put": {"ASK": 1}, "get": ["ANSWER.MODEL"], "by_id": True}
    users = {
        "ASKER": {**asker, "window": "08:00-18:00"},
        "SERVER": {"get": ["ASK"], "put": {"ANSWER.MODEL": 1}},
    }
    queues = {"ASK": {}, "ANSWER.MODEL": {"model": "ANSWER.", "index": "correlid"}}
    day = made(tmp_path, declared(queues, users))
    rows = day.rows(OPENED)
    asked = [
        (opened, queue) for job, opened, queue, *_ in rows if job == "ASKER" and queue != "ASK"
    ]
    assert [opened for opened, _ in asked] == 3 * ["ANSWER.MODEL"]
    names = {queue for _, queue in asked}
    assert len(names) == 3
    assert names == {queue for job, _, queue, *_ in rows if job == "SERVER" and queue != "ASK"}
    assert day.one("SELECT count(*) FROM (SELECT DISTINCT wtasstrt, wtaswtas FROM wtas)") == 4
    assert day.rows("SELECT sum(qistdcre), sum(qistddel) FROM qist") == [(3, 3)]
    put, got = (sum(row[place] for row in rows if row[2] in names) for place in (4, 5))
    assert put == got > 100_000


def test_a_queue_may_be_opened_by_an_alias(tmp_path: Path) -> None:
    users = {"PUT": {"rate": 1.0, "put": {"IN": 1}, "opens": {"IN": "OUT"}}}
    ((_, opened, queue, kind, *_),) = made(tmp_path, declared({"IN": {}}, users)).rows(OPENED)
    assert (opened, queue, kind) == ("OUT", "IN", "Alias queue")


def test_a_channel_over_lu_62_has_the_name_of_an_lu(tmp_path: Path) -> None:
    users = {
        "PUT": {"rate": 2.0, "put": {"OUT": 1}},
        "SEND": {"kind": "channel", "channel": "TO.OLD", "get": ["OUT"]},
    }
    limits = {"tcp_channels": 150, "lu62_channels": 7}
    site = declared({"OUT": {}}, users, channel_initiator=limits)
    channel = {"queue_manager": "QM01", "type": "sender", "lu62": True, "connection": "NET1.OLDLU"}
    site["channels"] = {"TO.OLD": channel}
    day = made(tmp_path, site)
    assert day.rows("SELECT DISTINCT qcctmxtp, qcctmxlu FROM qcct") == [(150, 7)]
    assert day.rows("SELECT DISTINCT qcstcnnm FROM qcst") == [("NET1.OLDLU",)]
    channel["cipher"] = 49200
    with pytest.raises(RequestError, match=r"TO\.OLD: cipher needs TCP/IP"):
        read_estate("kinds", site)


PUT: dict[str, Any] = {"rate": 1.0, "put": {"C": 1}}
CLUSTER = {"C": {"cluster": {"X": 1}}}
MODEL = {"M": {"model": "M."}}
AGENT = {"queue_manager": "QM01"}
REFUSED = {
    "unknown name 'X'": declared(CLUSTER, {"P": PUT}),
    "C is a cluster queue": declared({**CLUSTER, "X": {}}, {"P": {"get": ["C"]}}),
    "puts to X by two names": declared(
        {**CLUSTER, "X": {}}, {"P": {**PUT, "put": {"C": 1, "X": 1}}}
    ),
    "0 applications get": declared(MODEL, {"P": {**PUT, "put": {"M": 1}}}),
    "who opens M stays connected": declared(MODEL, {"P": {"get": ["M"], "stays": 5}}),
    "unknown name 'B'": declared({}, {}) | {"agents": {"A": {**AGENT, "sends_to": "B"}}},
    "did you mean sends_to": declared({}, {}) | {"agents": {"A": {**AGENT, "send_to": "A"}}},
    "did you mean model": declared({"Q": {"models": "A."}}, {}),
}


def test_impossible_queues_are_refused() -> None:
    for reason, site in REFUSED.items():
        with pytest.raises(RequestError, match=reason):
            read_estate("kinds", site)
